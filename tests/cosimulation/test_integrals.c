/* Time integrals of positions in split models: quadratures of the subsystems that own the bodies. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "cosimulate.h"

/* Two free masses on a spring: their common centre moves with constant velocity, x = 0.2 + 0.5 t. */
static const char free_pair[] =
    "yoke: 1\nt_end: 0.5\nbodies:\n"
    "  a: {kind: mass1d, mass: 1, x: 0.2, v: 2.5}\n"
    "  b: {kind: mass1d, mass: 2, x: 0.2, v: -0.5}\n"
    "connections: {c: {kind: spring-damper, between: [a, b], stiffness: 300, damping: 1, free_length: 0}}\n"
    "split: {p: [b], q: [a]}\n"
    "cosimulation: {scheme: implicit, order: 2, step: 1e-3}\n"
    "solvers: {default: {kind: dop853, rtol: 1e-12}}\n"
    "output: {integrals: [a.x, b.x]}\n";

static void f13a_integrals_of_a_free_pair_are_those_of_its_centre(void **state) {
  (void)state;
  cosim        c = cosim_done(free_pair, NULL, 0.0);
  const double a = cosim_value(&c, "a.x.integral"), b = cosim_value(&c, "b.x.integral");
  CHECK_NEAR((a + 2.0 * b) / 3.0, 0.2 * 0.5 + 0.5 * 0.5 * 0.5 * 0.5, 1e-11);
  CHECK_NEAR(a, 0.1625, 0.02); /* and each is one of its own */
  assert_true(fabs(a - b) > 1e-4);
  cosim_close(&c);
}

static double integral_of(const char *path, const char *sets, double t_end, const char *name, bool is_split) {
  cosim        c     = is_split ? cosim_done(path, sets, t_end) : cosim_done_monolithic(path, sets, t_end);
  const double value = cosim_value(&c, name);
  cosim_close(&c);
  return value;
}

static void f13a_integrals_have_the_order_of_the_motion(void **state) {
  double error[2];
  (void)state;
  const double exact = integral_of(free_pair, NULL, 0.0, "b.x.integral", false);
  for (int k = 0; k < 2; ++k) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets, "cosimulation.step=1/%d;cosimulation.start=exact", 400 << k);
    error[k] = fabs(integral_of(free_pair, sets, 0.0, "b.x.integral", true) - exact);
  }
  CHECK_ORDER(error, 2, 3.0, 0.2); /* degree 2 */
}

/* ---- against the whole model ---- */

#define BALL                                                                                                           \
  "yoke: 1\ngravity: [-9.81, 0, 0]\nt_end: 1.2\nbodies:\n"                                                             \
  "  ball: {kind: mass1d, mass: 1, x: 0.5}\n"                                                                          \
  "  bob: {kind: mass1d, mass: 0.5, x: 0.8}\n"                                                                         \
  "connections:\n"                                                                                                     \
  "  spring: {kind: spring-damper, between: [ball, bob], stiffness: 200, damping: 1, free_length: 0.3}\n"              \
  "loads: {push: {kind: expression, on: bob, force: 3*step(t - 0.3021)}}\n"                                            \
  "split: {a: [ball], b: [bob]}\n"                                                                                     \
  "solvers: {default: {kind: dopri5, rtol: 1e-11}}\n"                                                                  \
  "events: {bounce: {when: ball.x, direction: falling, set: {ball.v: -0.9*ball.v}}}\n"                                 \
  "output: {integrals: [bob.x, ball.x]}\n"

typedef struct pair {
  const char *path, *sets, *extra, *name;
  double      t_end, tolerance;
} pair;

#define OF(name) "output.integrals=[\"" name "\"]"
static const pair pairs[] = {
    /* jumps of a load and of velocities: the couplings begin anew, the integrals do not; rejected trials leave no trace */
    {BALL, NULL, "cosimulation={scheme: implicit, order: 2, step: 1e-3}", "ball.x.integral", 0.0, 1e-6},
    {BALL, NULL, "cosimulation={scheme: implicit, step: {rtol: 1e-6}}", "ball.x.integral", 0.0, 1e-5},
    {BALL, NULL, "cosimulation={scheme: explicit, step: {rtol: 1e-6}}", "bob.x.integral", 0.0, 1e-5},
    {"examples/chain-m3.yaml", OF("c.x[2]"), "cosimulation={scheme: explicit, step: {rtol: 1e-5, estimator: cv}}",
     "c.x[2].integral", 0.03, 1e-5},
    {"examples/chain-imp.yaml", OF("c.x[23]") ";parameters.n=50", "split.c=10;cosimulation.step={rtol: 1e-5}",
     "c.x[23].integral", 3e-4, 1e-12},
    {"examples/double-pendulum.yaml", OF("lower.angle"), "cosimulation={order: 2, step: 1e-3}", "lower.angle.integral",
     0.5, 1e-7},
    {"examples/kinematic-two-mass.yaml", OF("co.x"), "cosimulation.couplings.prescribed=F;cosimulation.step=1e-4",
     "co.x.integral", 0.1, 1e-5},
};

static void f13a_integrals_of_split_models_are_those_of_the_whole_model(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i) {
    const pair *p = &pairs[i];
    char        sets[COSIM_TEXT];
    snprintf(sets, sizeof sets, "%s%s%s", p->sets != NULL ? p->sets : "", p->sets != NULL ? ";" : "", p->extra);
    const double whole = integral_of(p->path, p->sets, p->t_end, p->name, false),
                 split = integral_of(p->path, sets, p->t_end, p->name, true);
    if (!(fabs(split - whole) <= p->tolerance && fabs(whole) > 10.0 * p->tolerance))
      fail_msg("%s with %s: %.12g, the whole model has %.12g", p->name, p->extra, split, whole);
  }
}

static void f13a_what_is_no_position_of_a_body_has_no_integral(void **state) {
  static const char *const names[] = {"c.force", "a.v", "b"};
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    char  sets[COSIM_TEXT];
    cosim c;
    snprintf(sets, sizeof sets, "output.integrals=[%s]", names[i]);
    cosim_open(&c, free_pair, sets);
    cosim_expect(&c, YOKE_E_MODEL);
    assert_non_null(strstr(yoke_context_message(c.ctx, 0), "is not a position of a body"));
    cosim_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(f13a_integrals_of_a_free_pair_are_those_of_its_centre),
      cmocka_unit_test(f13a_integrals_have_the_order_of_the_motion),
      cmocka_unit_test(f13a_integrals_of_split_models_are_those_of_the_whole_model),
      cmocka_unit_test(f13a_what_is_no_position_of_a_body_has_no_integral),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
