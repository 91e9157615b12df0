/* Kept matrix: dc/dw as it was when the last step was accepted, for the steps behind it.
 *
 * The implicit scheme corrects until the conditions hold, whatever matrix it takes, so that a matrix of an earlier step serves as long as it
 * converges well (simplified Newton). Not so under step control: its steps are as long as the accuracy permits, the matrix of one hardly
 * serves the next, and its corrector stops as soon as it may, so that what it leaves depends on the matrix and would enter the estimates.
 * Broyden's method keeps and improves its own.
 * Kept are the factors (references), their tag, Broyden's matrix, and the columns dy/dw that belong to them, which error estimates read; all
 * but the factors lie in the block. A trial works on copies: one that is rejected leaves no trace. Schemes that make a matrix in every step go
 * on with the pivot order of the factors. */
#ifndef YOKE_COUPLING_KEPT_MATRIX_H
#define YOKE_COUPLING_KEPT_MATRIX_H

#include "coupling/graph_internal.h"

/* A trial begins with what is kept; its matrix becomes what is kept; what is kept is of no use any more. */
void graph_matrix_restore(yoke_graph *graph);
void graph_matrix_accept(yoke_graph *graph);
void graph_matrix_drop(yoke_graph *graph);

/* Are columns dy/dw kept with the matrix: for Broyden's method, and for the estimates of steps that begin with an earlier matrix? */
bool graph_keeps_columns(const yoke_graph *graph);

/* Does the matrix fit the trial that was prepared: made for its degree, and for nearly its step? */
bool graph_matrix_fits(const yoke_graph *graph);

/* The step converged after so many corrections. An old matrix whose corrections cost more than a new one is not kept any longer: with an age
 * of a steps it needs about e = k a corrections more than a new one, each an integration of n subsystems, and a new one costs C
 * integrations; the mean over m steps, C/m + n k m/2, is least where n e m = 2 C. Analytic responses cost none: their matrix is always new. */
void graph_matrix_serves(yoke_graph *graph, int corrections);

/* Bytes (graph_pack.c); `factors` [YOKE_COUPLING_MAX_SETS] are taken when all that is unpacked is sound. */
void        graph_matrix_pack(const yoke_graph *graph, yoke_pack *out);
yoke_status graph_matrix_unpack(const yoke_graph *graph, const matrix_tag *tag, yoke_unpack *in, yoke_context *ctx,
                                yoke_factor **factors);
void        graph_matrix_take(yoke_graph *graph, yoke_factor **factors);

#endif
