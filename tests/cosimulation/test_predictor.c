/* Predictors by accelerations: their order with turning bodies, their degree and their gain under step control, what they need. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "cosimulate.h"

/* ---- order ---- */

static const char turning[] =
    "yoke: 1\nt_end: 0.2\nbodies:\n"
    "  a: {kind: rigid, mass: 1, inertia: [0.2, 0.3, 0.4], omega: [3, 4, 5], frames: {tip: [0.3, 0, 0]}}\n"
    "  b: {kind: rigid, mass: 2, inertia: [0.5, 0.3, 0.2], position: [0.6, 0, 0], omega: [-2, 1, 3],\n"
    "      frames: {tip: [-0.3, 0, 0]}}\n"
    "connections:\n"
    "  c: {kind: bushing, between: [a.tip, b.tip], stiffness: [300, 300, 300, 10, 20, 15],\n"
    "      damping: [5, 5, 5, 0.5, 0.5, 0.5]}\n"
    "split: {p: [a], q: [b]}\n"
    "solvers: {default: {kind: dop853, rtol: 1e-12, atol: 1e-13}}\n";

static const char *const turns[] = {"a.q1", "a.q2", "a.q3", "b.q1", "b.q2", "b.q3"};
enum { N_TURNS = sizeof turns / sizeof *turns };

static void read_turns(cosim c, double *q) {
  for (int k = 0; k < N_TURNS; ++k) q[k] = cosim_value(&c, turns[k]);
  cosim_close(&c);
}

static void f30_accelerations_of_turning_bodies_keep_the_order_of_degree_3(void **state) {
  double exact[N_TURNS], error[2] = {0.0, 0.0};
  (void)state;
  read_turns(cosim_done_monolithic(turning, NULL, 0.0), exact);
  for (int i = 0; i < 2; ++i) {
    char   sets[COSIM_TEXT];
    double q[N_TURNS];
    snprintf(sets, sizeof sets,
             "cosimulation.predictor=acceleration;cosimulation.order=3;cosimulation.start=exact;cosimulation.step=1/%d",
             200 << i);
    read_turns(cosim_done(turning, sets, 0.0), q);
    for (int k = 0; k < N_TURNS; ++k) error[i] = fmax(error[i], fabs(q[k] - exact[k]));
  }
  CHECK_ORDER(error, 2, 5.0, 0.2);
}

/* ---- step control ---- */

static int64_t steps_of(const char *predictor, const char *more) {
  char  sets[COSIM_TEXT];
  cosim c;
  snprintf(sets, sizeof sets,
           "parameters.n=100;split.c=10;cosimulation.scheme=explicit;cosimulation.predictor=%s;"
           "cosimulation.step={rtol: 1e-4, estimator: cv}%s",
           predictor, more);
  cosim_open(&c, "examples/chain-imp.yaml", sets);
  cosim_run(&c, 2e-4, NULL, NULL);
  cosim_expect(&c, YOKE_OK);
  const int64_t steps = c.summary.macro.steps;
  cosim_close(&c);
  return steps;
}

static void f30_acceleration_predictors_take_fewer_steps_than_extrapolation(void **state) {
  (void)state;
  const int64_t classic = steps_of("extrapolation", "");
  CHECK_BELOW((double)steps_of("acceleration", ""), (double)classic / 1.6);
  CHECK_BELOW((double)steps_of("acceleration-relaxed", ""), (double)classic);
}

static void f30_a_given_degree_of_accelerations_is_the_degree_of_the_run(void **state) {
  cosim c;
  (void)state;
  cosim_open(&c, "examples/chain-m2.yaml",
             "cosimulation.scheme=explicit;cosimulation.predictor=acceleration;cosimulation.order_acceleration=2;"
             "cosimulation.order=auto;cosimulation.step={rtol: 1e-4}");
  cosim_run(&c, 0.02, NULL, NULL);
  cosim_expect(&c, YOKE_OK);
  assert_int_equal(c.summary.macro.degrees[0], 1);
  assert_int_equal(c.summary.macro.degrees[1], 1);
  assert_int_equal(c.summary.macro.degrees[2], c.summary.macro.steps - 2);
  cosim_close(&c);
}

/* ---- scheme ---- */

static void f38_a_predictor_by_accelerations_makes_a_run_explicit(void **state) {
  static const char *const sets[] = {"cosimulation.predictor=acceleration;cosimulation.step=1e-4",
                                     "cosimulation.predictor=acceleration-relaxed"};
  (void)state;
  for (size_t i = 0; i < sizeof sets / sizeof *sets; ++i) {
    cosim c = cosim_done(turning, sets[i], 1e-3);
    assert_string_equal(c.plan->scheme.scheme, "explicit");
    cosim_close(&c);
  }
}

static void f38_a_rigid_joint_with_a_predictor_by_accelerations_is_refused_with_a_remedy(void **state) {
  static const char *const schemes[] = {"", ";cosimulation.scheme=implicit"};
  (void)state;
  for (size_t i = 0; i < sizeof schemes / sizeof *schemes; ++i) {
    char  sets[COSIM_TEXT];
    cosim c;
    snprintf(sets, sizeof sets, "cosimulation.predictor=acceleration%s", schemes[i]);
    cosim_open(&c, "examples/two-mass-rigid.yaml", sets);
    cosim_expect(&c, YOKE_E_MODEL);
    assert_non_null(strstr(yoke_context_message(c.ctx, 0), "predictor extrapolation"));
    cosim_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(f30_accelerations_of_turning_bodies_keep_the_order_of_degree_3),
      cmocka_unit_test(f30_acceleration_predictors_take_fewer_steps_than_extrapolation),
      cmocka_unit_test(f30_a_given_degree_of_accelerations_is_the_degree_of_the_run),
      cmocka_unit_test(f38_a_predictor_by_accelerations_makes_a_run_explicit),
      cmocka_unit_test(f38_a_rigid_joint_with_a_predictor_by_accelerations_is_refused_with_a_remedy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
