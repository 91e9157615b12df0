/* What tests of formulation overlap share: the distance from the whole model, and refusals, the spectral radius. */
#ifndef YOKE_TESTS_OVERLAPPED_H
#define YOKE_TESTS_OVERLAPPED_H

#include "../check.h"
#include "../said.h"
#include "analysis/stability.h"
#include "cosimulate.h"

#define OVERLAP "cosimulation.couplings.formulation=overlap;"

/* Largest difference of positions and velocities at the end. */
static inline double off(const cosim *a, const cosim *b) {
  enum { MOST = 1000 };
  double    q[2][MOST] = {{0}}, v[2][MOST] = {{0}}, most = 0.0;
  const int n = yoke_gather_nv(a->gather);
  assert_true(n <= MOST && n == yoke_gather_nv(b->gather));
  cosim_gather(a, q[0], v[0]);
  cosim_gather(b, q[1], v[1]);
  for (int i = 0; i < n; ++i) most = fmax(most, fmax(fabs(q[0][i] - q[1][i]), 0.1 * fabs(v[0][i] - v[1][i])));
  return most;
}

static inline double error_of(const char *model, const char *sets) {
  cosim        split = cosim_done(model, sets, 0.0), whole = cosim_done_monolithic(model, NULL, 0.0);
  const double error = off(&split, &whole);
  cosim_close(&split);
  cosim_close(&whole);
  return error;
}

/* At the macro step of the model. */
static inline yoke_stability_point stability_of(const char *model, const char *sets) {
  cosim                c;
  yoke_stability      *s     = NULL;
  yoke_stability_point point = {0};
  cosim_load(&c, model, sets);
  if (c.status == YOKE_OK) c.status = yoke_stability_create(c.ctx, c.model, 0, &s);
  if (c.status == YOKE_OK) c.status = yoke_stability_at(s, 0.0, &point, c.ctx);
  cosim_expect(&c, YOKE_OK);
  yoke_stability_destroy(&s);
  cosim_close(&c);
  return point;
}

static inline void expect_refusal(const char *model, const char *sets, const char *says) {
  cosim c;
  cosim_open(&c, model, sets);
  if (c.status == YOKE_OK) fail_msg("not refused, but should: %s", says);
  if (!said(c.ctx, says)) {
    cosim_print(c.ctx);
    fail_msg("nobody says '%s'", says);
  }
  cosim_close(&c);
}

#endif
