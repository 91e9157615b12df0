/* Amplification matrix of the engine: one macro step of a graph as a linear map.
 *
 * Y = (x of subsystem 0, x of subsystem 1, ..., memory of the graph) holds all that a step at full degree reads. A step of the graph,
 * with its scheme, its predictor, perturbed integrations and final values, is Y_{N+1} = S(Y_N); column i of the matrix is
 *   linear      (S(Y0 + e_i) - S(Y0))                                  exact up to rounding, since S is affine
 *   otherwise   (S(Y0 + eps_i e_i) - S(Y0 - eps_i e_i)) / (2 eps_i)    with Y0 at rest, S(Y0) = Y0.
 * Numbers of Y that depend on others (an output on the state, a channel on the outputs) add eigenvalues 0 only: an eigenvector to any
 * other eigenvalue lies in the image of S, where they fit. */
#ifndef YOKE_ANALYSIS_AMPLIFICATION_H
#define YOKE_ANALYSIS_AMPLIFICATION_H

#include "coupling/graph.h"

typedef struct yoke_amplification yoke_amplification;

/* Keeps graph and subsystems (those of the graph, in its order), which must be able to show their states as vectors. The graph has been
 * started: its accepted states and channel values are Y0. Gives. */
yoke_status yoke_amplification_create(yoke_context *ctx, yoke_graph *graph, int n_subsystems,
                                      yoke_subsystem *const *subsystems, bool is_linear, yoke_amplification **out);
void        yoke_amplification_destroy(yoke_amplification **amplification);

int yoke_amplification_n(const yoke_amplification *amplification);              /* rows of Y */
int yoke_amplification_x_at(const yoke_amplification *amplification, int part); /* where x of a subsystem starts */
int yoke_amplification_memory_at(const yoke_amplification *amplification);      /* where the memory starts */

/* A unit of Y_i moves bodies by about rate H^power within a step: eps_i is then as large as moves them by as much as an eps of a
 * position does. Without it a multiplier, which moves a body by H^2/(2 m) only, drowns in the rounding of positions. Not for a model whose
 * couplings have laws, which may bend at small velocities or forces; of no effect on a linear model. */
void yoke_amplification_set_reach(yoke_amplification *amplification, int i, double rate, int power);

/* The matrix [n, n], row major, for steps of H [s]. A step that fails gives its status (> 0: recoverable in a run). */
yoke_status yoke_amplification_matrix(yoke_amplification *amplification, double H, double *matrix, yoke_context *ctx);

#endif
