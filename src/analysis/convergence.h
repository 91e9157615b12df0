/* Convergence: the error of one co-simulation against the whole model.
 *
 * Normalised root mean square over the macro points N = 1 ... n (Li 3.34), positions and velocities each for themselves:
 *   e^2 = sum_i [ sum_N (x_i(T_N) - r_i(T_N))^2 / sum_N (r_i(T_N) - mean r_i)^2 ]
 * global: the reference r starts with the model; local (Li 3.35): it starts anew at every T_{N-1} from the co-simulation's state.
 * A component i that rests is measured by 1e-6 of the largest deviation among all positions (velocities). */
#ifndef YOKE_ANALYSIS_CONVERGENCE_H
#define YOKE_ANALYSIS_CONVERGENCE_H

#include "analysis/reference.h"
#include "master/system.h"

enum {
  YOKE_DEVIATION_GLOBAL_POSITION,
  YOKE_DEVIATION_GLOBAL_VELOCITY,
  YOKE_DEVIATION_LOCAL_POSITION,
  YOKE_DEVIATION_LOCAL_VELOCITY,
  YOKE_N_DEVIATIONS
};
const char *yoke_deviation_name(int kind); /* "global position" */

typedef struct yoke_error_request {
  const yoke_model *model;                /* that the plan was made of */
  yoke_reference   *global, *local;       /* local NULL: without local errors */
  bool (*progress)(void *user, double t); /* NULL: none; false stops */
  void *user;
} yoke_error_request;

/* Runs `system`, fresh and of a split model, to the end. error[YOKE_N_DEVIATIONS]; NaN unless YOKE_OK. */
yoke_status yoke_convergence_measure(yoke_context *ctx, yoke_system *system, const yoke_error_request *request,
                                     double *error, int64_t *n_steps);

#endif
