/* Newton's method with exact tangents: the residuals of the coupling conditions fall quadratically. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "rig.h"

enum { MOST = 5 };

/* Largest residuals of the first step, of length H, behind 1, 2, ... corrections, each with the matrix of its own pass. */
static void find_residuals(const char *model, const char *sets, double H, double residual[MOST]) {
  for (int n = 1; n <= MOST; ++n) {
    char                 all[COSIM_TEXT];
    yoke_step_statistics statistics;
    rig                  r;
    snprintf(all, sizeof all,
             "cosimulation.scheme=semi-implicit;cosimulation.corrector.renew=pass;cosimulation.joint_tolerance=1e3;"
             "cosimulation.corrections=%d;solvers.default={kind: dop853, rtol: 1e-13, atol: 1e-15};%s",
             n, sets);
    assert_int_equal(rig_open(&r, model, all, "serial", 1, NULL), YOKE_OK);
    assert_int_equal(yoke_graph_try(r.graph, r.plan->t_start + H, &statistics, r.c.ctx), YOKE_OK);
    residual[n - 1] = statistics.residual;
    rig_close(&r);
  }
}

/* e_{n+1} = C e_n^2 until rounding: the order p = log(e_{n+1}/e_n) / log(e_n/e_{n-1}) is 2. */
static void expect_quadratic(const char *model, const char *sets, double H) {
  const double rounding = 1e-10;
  double       e[MOST], order = 0.0;
  find_residuals(model, sets, H, e);
  print_message("%s, H = %g s: residuals", model, H);
  for (int n = 0; n < MOST; ++n) print_message(" %.3e", e[n]);
  for (int n = 1; n + 1 < MOST && e[n + 1] > rounding; ++n) order = log(e[n + 1] / e[n]) / log(e[n] / e[n - 1]);
  print_message(", order %.2f\n", order);
  CHECK_BELOW(e[3], 1e-11); /* with differences 7e-11 and 5e-10 are left, which fall linearly */
  CHECK_BELOW(1.7, order);
}

static void the_double_pendulum_converges_quadratically(void **state) {
  (void)state;
  expect_quadratic("examples/double-pendulum.yaml", "cosimulation.order=2", 0.3);
}

static void the_spatial_four_bar_converges_quadratically(void **state) {
  (void)state;
  expect_quadratic("examples/four-bar-spatial.yaml", "cosimulation.order=2", 0.08);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_double_pendulum_converges_quadratically),
      cmocka_unit_test(the_spatial_four_bar_converges_quadratically),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
