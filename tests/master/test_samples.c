/* Samples between the ends of steps: of macro steps, and of the steps of a monolithic run. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/cosimulate.h"
#include "base/cancel.h"

/* ---- samples between macro points ---- */

/* Forces that rise with time make positions cubic and velocities quadratic: nothing is lost between macro points. The link is slack. */
#define RISING                                                                                                         \
  "yoke: 1\n"                                                                                                          \
  "t_end: 0.5\n"                                                                                                       \
  "bodies:\n"                                                                                                          \
  "  m1: {kind: mass1d, mass: 1, x: 0.3, v: -2}\n"                                                                     \
  "  m2: {kind: mass1d, mass: 2, x: -0.1, v: 1}\n"                                                                     \
  "connections:\n"                                                                                                     \
  "  link: {kind: spring-damper, between: [m1, m2], stiffness: 0, damping: 0, free_length: 0}\n"                       \
  "loads:\n"                                                                                                           \
  "  f1: {kind: expression, on: m1, force: 5 + 60*t}\n"                                                                \
  "  f2: {kind: expression, on: m2, force: -8 + 36*t}\n"                                                               \
  "split: {a: [m1], b: [m2]}\n"                                                                                        \
  "cosimulation: {scheme: explicit, order: 0, step: 0.1}\n"                                                            \
  "solvers: {default: {kind: dop853, rtol: 1e-12, atol: 1e-14}}\n"                                                     \
  "output: {every: 0.0125, select: [m1.x, m1.v, m2.x, m2.v]}\n"

static yoke_status check_sample(void *user, double t, const double *outputs, const yoke_counters *counters, double h,
                                int order) {
  int *n = user;
  (void)counters, (void)h, (void)order;
  CHECK_NEAR(outputs[0], 0.3 - 2.0 * t + 2.5 * t * t + 10.0 * t * t * t, 1e-12);
  CHECK_NEAR(outputs[1], -2.0 + 5.0 * t + 30.0 * t * t, 1e-12);
  CHECK_NEAR(outputs[2], -0.1 + t - 2.0 * t * t + 3.0 * t * t * t, 1e-12);
  CHECK_NEAR(outputs[3], 1.0 - 4.0 * t + 9.0 * t * t, 1e-12);
  ++*n;
  return YOKE_OK;
}

static void samples_between_macro_points_hit_a_cubic_motion(void **state) {
  (void)state;
  int             n    = 0;
  const yoke_sink sink = {.user = &n, .sample = check_sample};
  cosim           c;
  cosim_open(&c, RISING, NULL);
  cosim_expect(&c, YOKE_OK);
  c.status = yoke_system_run(c.system, c.model->t_end, &sink, &c.summary, c.ctx);
  cosim_expect(&c, YOKE_OK);
  assert_int_equal(n, 41);
  cosim_close(&c);
}

/* ---- samples of a monolithic run ---- */

static yoke_status count_sample(void *user, double t, const double *outputs, const yoke_counters *counters, double h,
                                int order) {
  int *n = user;
  (void)counters, (void)h, (void)order;
  CHECK_NEAR(hypot(outputs[0], outputs[1]), 1.0, 1e-12);                                 /* on the circle */
  CHECK_NEAR(outputs[0] * outputs[2] + outputs[1] * outputs[3], 0.0, 1e-12 + 1e-12 * t); /* along it */
  ++*n;
  return YOKE_OK;
}

/* Steps of a loose tolerance are long: a plain interpolation would leave the circle by 1e-4. */
static void samples_inside_steps_lie_on_the_joints(void **state) {
  (void)state;
  static const char *const solvers[] = {"dopri5", "dop853", "abm"};
  for (size_t k = 0; k < sizeof solvers / sizeof *solvers; ++k) {
    char            sets[200];
    int             n    = 0;
    const yoke_sink sink = {.user = &n, .sample = count_sample};
    cosim           c;
    snprintf(sets, sizeof sets,
             "t_end=1;solvers.default={kind: %s, rtol: 1e-3, atol: 1e-5};output={every: 0.01, "
             "select: [bob.x, bob.y, bob.vx, bob.vy]}",
             solvers[k]);
    cosim_open_monolithic(&c, "examples/pendulum.yaml", sets);
    cosim_expect(&c, YOKE_OK);
    c.status = yoke_system_run(c.system, c.model->t_end, &sink, &c.summary, c.ctx);
    cosim_expect(&c, YOKE_OK);
    assert_int_equal(n, 101);
    assert_true(c.summary.counters.steps < 100);
    cosim_close(&c);
  }
}

/* Nobody looks between the steps: the steps themselves do. */
static void a_run_without_a_sink_ends_when_its_context_is_cancelled(void **state) {
  (void)state;
  const volatile sig_atomic_t flag   = 1;
  yoke_cancel                 cancel = {.flag = &flag};
  for (int whole = 0; whole < 2; ++whole) {
    cosim c;
    cosim_load(&c, "examples/double-pendulum.yaml", "t_end=1e6");
    assert_int_equal(cosim_start(&c, whole == 1, NULL), YOKE_OK);
    yoke_context_watch(c.ctx, &cancel);
    assert_int_equal(yoke_system_run(c.system, 1e6, NULL, NULL, c.ctx), YOKE_E_INTERRUPTED);
    assert_true(yoke_system_t(c.system) == 0.0);
    yoke_context_watch(c.ctx, NULL);
    cosim_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(samples_between_macro_points_hit_a_cubic_motion),
      cmocka_unit_test(samples_inside_steps_lie_on_the_joints),
      cmocka_unit_test(a_run_without_a_sink_ends_when_its_context_is_cancelled),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
