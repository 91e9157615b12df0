/* Running an integrator on a toy problem in one line. */
#ifndef TESTS_INTEGRATE_INTEGRATE_HELPERS_H
#define TESTS_INTEGRATE_INTEGRATE_HELPERS_H

#include "integrate/integrator.h"
#include "toy_equations.h"
#include <stdio.h>

typedef struct toy_run {
  yoke_equations         equations;
  yoke_integrator       *integrator;
  yoke_integrator_state *state;
  void                  *scratch;
  yoke_context          *ctx;
} toy_run;

static inline void toy_run_end(toy_run *run) {
  yoke_integrator_state_destroy(&run->state);
  yoke_integrator_scratch_destroy(&run->scratch);
  yoke_integrator_destroy(&run->integrator);
  yoke_context_destroy(&run->ctx);
}

static inline yoke_status toy_run_begin(toy_run *run, void (*problem)(yoke_equations *), const char *name,
                                        const yoke_integrator_options *options, const double *q, const double *v,
                                        const yoke_signal *u) {
  memset(run, 0, sizeof *run);
  problem(&run->equations);
  YOKE_TRY(yoke_context_create(&run->ctx));
  YOKE_TRY(yoke_integrator_create(run->ctx, name, &run->equations, options, &run->integrator));
  YOKE_TRY(yoke_integrator_state_create(run->integrator, &run->state));
  YOKE_TRY(yoke_integrator_scratch_create(run->integrator, &run->scratch));
  return yoke_integrator_start(run->integrator, run->scratch, run->state, 0, q, v, u, run->ctx);
}

static inline yoke_status toy_run_to(toy_run *run, const yoke_signal *u, double t) {
  const yoke_status status = yoke_integrator_advance(run->integrator, run->scratch, run->state, u, t, run->ctx);
  for (size_t i = 0; status != YOKE_OK && i < yoke_context_n_messages(run->ctx); ++i) {
    fprintf(stderr, "%s\n", yoke_context_message(run->ctx, i));
  }
  return status;
}

static inline const double *toy_run_q(const toy_run *run) {
  return yoke_integrator_q(run->integrator, run->state);
}
static inline const double *toy_run_v(const toy_run *run) {
  return yoke_integrator_v(run->integrator, run->state);
}

/* Largest difference of the state to q, v. */
static inline double toy_run_error(const toy_run *run, const double *q, const double *v) {
  double error = 0;
  for (int i = 0; i < run->equations.nq; ++i) error = fmax(error, fabs(toy_run_q(run)[i] - q[i]));
  for (int i = 0; i < run->equations.nv; ++i) error = fmax(error, fabs(toy_run_v(run)[i] - v[i]));
  return isfinite(error) ? error : 1e300;
}

static inline yoke_integrator_options toy_options(double rtol) {
  yoke_integrator_options o = yoke_integrator_options_default();
  o.rtol                    = rtol;
  o.atol                    = rtol;
  return o;
}

#endif
