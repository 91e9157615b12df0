/* When is a corrector iteration done? (Kraft 2.31-2.33)
 *   R / (1 - R) |delta^j| < tau,   R = |delta^j| / |delta^{j-1}|,
 * in the weighted norm |delta| = sqrt(mean((delta_i / (atol + rtol |u_i|))^2)). One pass alone is enough only when |delta^1| < 1e-4 tau. */
#ifndef YOKE_COUPLING_CONVERGENCE_H
#define YOKE_COUPLING_CONVERGENCE_H

#include "coupling/graph_internal.h"

typedef enum yoke_verdict { YOKE_VERDICT_GO_ON, YOKE_VERDICT_CONVERGED, YOKE_VERDICT_DIVERGED } yoke_verdict;

typedef struct yoke_convergence {
  double previous; /* |delta^{j-1}|, 0 before the first */
  double rate;     /* R, 1 before the second */
  double first;    /* |delta^1| */
  int    n_grown;  /* passes in a row in which |delta| has doubled */
} yoke_convergence;

double graph_weighted_norm(const yoke_graph *graph, const double *delta);

/* So far below the tolerance that one pass is enough. */
bool graph_is_nothing(const yoke_graph *graph, double norm);

yoke_verdict graph_judge(const yoke_graph *graph, yoke_convergence *convergence, double norm);

/* After the last pass allowed: changes below 1e-6 of the values are the noise of the subsystems' solvers, the step stands. */
bool graph_is_stalled(const yoke_graph *graph, double norm);

#endif
