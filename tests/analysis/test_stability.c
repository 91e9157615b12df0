/* Stability of models: linearised subsystems against closed forms, limits, names of what goes unstable, the prediction before a run. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/cosimulate.h"
#include "analysis/map.h"
#include "analysis/prediction.h"
#include "analysis/recurrence.h"
#include "analysis/stability.h"

typedef struct bench {
  cosim           c;
  yoke_stability *s;
} bench;

static void bench_open(bench *b, const char *path, const char *sets) {
  *b = (bench){0};
  if (cosim_load(&b->c, path, sets) == YOKE_OK) b->c.status = yoke_stability_create(b->c.ctx, b->c.model, 0, &b->s);
  if (b->c.status == YOKE_OK) return;
  cosim_print(b->c.ctx);
  fail_msg("%s: %s", sets, yoke_status_name(b->c.status));
}

static void bench_close(bench *b) {
  yoke_stability_destroy(&b->s);
  cosim_close(&b->c);
}

static double radius(bench *b, double H) {
  yoke_stability_point point;
  assert_int_equal(yoke_stability_at(b->s, H, &point, b->c.ctx), YOKE_OK);
  return point.rho;
}

static yoke_stability_limit_result limit_of(bench *b) {
  yoke_stability_limit_result limit;
  assert_int_equal(yoke_stability_limit(b->s, NULL, &limit, b->c.ctx), YOKE_OK);
  return limit;
}

/* ---- linearised models ---- */

/* The linear two-mass oscillator as two particles in space: along x the same equations, across free or held as softly as wanted, damped. */
#define PARTICLES                                                                                                      \
  "yoke: 1\nname: particles\nt_end: 1\nbodies:\n"                                                                      \
  "  p1: {kind: particle, mass: 1}\n  p2: {kind: particle, mass: 2.5, position: [1, 0, 0]}\n"                          \
  "connections:\n"                                                                                                     \
  "  w1: {kind: atpoint, between: [[0, 0, 0], p1], stiffness: [900, 3, 3], damping: [0.7, 4, 4]}\n"                    \
  "  w2: {kind: atpoint, between: [p2, [1, 0, 0]], stiffness: [1300, 6, 6], damping: [1.1, 8, 8]}\n"                   \
  "  link: {kind: spring-damper, between: [p1, p2], stiffness: 700, damping: 0.5, free_length: 1}\n"                   \
  "split: {a: [p1], b: [p2]}\ncosimulation: {scheme: explicit, order: 1, step: 0.06}\n"

static yoke_test_model masses(double H) {
  yoke_test_model m = yoke_test_model_default(YOKE_TWO_MASS);
  m.H               = H;
  m.m[1]            = 2.5;
  m.c[0]            = 900.0;
  m.c[1]            = 1300.0;
  m.d[0]            = 0.7;
  m.d[1]            = 1.1;
  m.cc              = 700.0;
  m.dc              = 0.5;
  return m;
}

static void linearised_particles_have_the_radii_of_the_two_masses(void **state) {
  (void)state;
  static const struct {
    const char        *sets, *scheme;
    yoke_decomposition decomposition;
    int                order;
  } cases[] = {
      {"cosimulation.scheme=explicit;cosimulation.order=1", "explicit", YOKE_FORCE_FORCE, 1},
      {"cosimulation.scheme=explicit;cosimulation.order=2", "explicit", YOKE_FORCE_FORCE, 2},
      {"cosimulation.scheme=explicit;cosimulation.couplings.decomposition=force/displacement", "explicit",
       YOKE_FORCE_DISPLACEMENT, 1},
      {"cosimulation.scheme=semi-implicit;cosimulation.couplings.decomposition=force/displacement", "semi-implicit",
       YOKE_FORCE_DISPLACEMENT, 1},
      {"cosimulation.scheme=semi-implicit;cosimulation.couplings.decomposition=displacement/"
       "displacement;cosimulation.order=2",
       "semi-implicit", YOKE_DISPLACEMENT_DISPLACEMENT, 2},
  };
  int n_compared = 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    bench b;
    bench_open(&b, PARTICLES, cases[i].sets);
    assert_true(yoke_stability_is_linearized(b.s));
    yoke_test_method k = yoke_test_method_default();
    k.scheme           = cases[i].scheme;
    k.decomposition    = cases[i].decomposition;
    k.order            = cases[i].order;
    for (int n = 0; n < 3; ++n) {
      const double          H = 0.12 + 0.09 * n;
      const yoke_test_model m = masses(H);
      double                rho;
      assert_int_equal(yoke_recurrence_radius(NULL, &m, &k, &rho), YOKE_OK);
      if (rho < 0.93) continue; /* the soft motions across decay slower than that */
      CHECK_NEAR(radius(&b, H), rho, 1e-6 * rho);
      ++n_compared;
    }
    bench_close(&b);
  }
  assert_true(n_compared >= 10);
}

/* At small steps the radius is that of the model itself. */
static void small_steps_have_the_decay_of_the_model(void **state) {
  (void)state;
  static const char *const files[] = {"examples/double-pendulum.yaml", "examples/four-bar-bushing.yaml",
                                      "examples/double-pendulum-flexible.yaml"};
  for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
    bench b;
    bench_open(&b, files[i], i == 0 ? "cosimulation.couplings.formulation=baumgarte" : NULL);
    const double H = 1e-3 / yoke_stability_fastest(b.s);
    CHECK_NEAR(log(radius(&b, H)) / H, yoke_stability_growth(b.s), 1e-4 * fmax(1.0, fabs(yoke_stability_growth(b.s))));
    bench_close(&b);
  }
}

/* Limits that the time domain confirms (tests/verify/verify_stability.c). */
static void limits_of_the_double_pendulum_are_kept(void **state) {
  (void)state;
  static const struct {
    const char *formulation;
    double      H;
  } cases[] = {{"baumgarte", 0.26070},
               {"weighted", 0.17256},
               {"stabilized-index-2", 0.79725},
               {"stabilized-index-2-mu", 0.50098}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char  sets[128];
    bench b;
    snprintf(sets, sizeof sets, "cosimulation.order=0;cosimulation.couplings.formulation=%s", cases[i].formulation);
    bench_open(&b, "examples/double-pendulum.yaml", sets);
    const yoke_stability_search search = {.tolerance = 1e-7, .n = 121};
    yoke_stability_limit_result limit;
    assert_int_equal(yoke_stability_limit(b.s, &search, &limit, b.c.ctx), YOKE_OK);
    CHECK_NEAR(limit.H, cases[i].H, 1e-4 * cases[i].H);
    assert_string_equal(limit.above.coupling, "knee");
    bench_close(&b);
  }
}

/* ---- limits ---- */

static yoke_status explicit_radius(const void *user, double H, double *out) {
  const yoke_test_model m = masses(H);
  return yoke_recurrence_radius(NULL, &m, user, out);
}

static void limit_is_that_of_the_recurrence(void **state) {
  (void)state;
  yoke_test_method k   = yoke_test_method_default();
  k.scheme             = "explicit";
  k.order              = 1;
  const yoke_scan scan = {
      .value = explicit_radius, .user = &k, .first = 1e-4, .last = 1.0, .factor = 1.05, .limit = 1.0 + 1e-9};
  double onset;
  bench  b;
  assert_int_equal(yoke_scan_onset(NULL, &scan, &onset), YOKE_OK);
  bench_open(
      &b, "examples/two-mass.yaml",
      "parameters.m2=2.5;parameters.c1=900;parameters.c2=1300;parameters.d1=0.7;parameters.d2=1.1;parameters.cc=700;"
      "parameters.dc=0.5;cosimulation.scheme=explicit;cosimulation.order=1");
  const yoke_stability_limit_result limit = limit_of(&b);
  CHECK_NEAR(limit.H, onset, 2e-6 * onset);
  assert_false(limit.is_none || limit.is_zero);
  bench_close(&b);
}

static void a_method_without_limit_says_so(void **state) {
  (void)state;
  bench b;
  bench_open(&b, "examples/two-mass.yaml", "cosimulation.couplings.extension=d;cosimulation.order=2");
  const yoke_stability_limit_result limit = limit_of(&b);
  assert_true(limit.is_none || limit.H > 10.0 / yoke_stability_fastest(b.s));
  bench_close(&b);
}

/* ---- eigenvalues 1 that are not the method's ---- */

static yoke_status free_pair_radius(const void *user, double H, double *rho) {
  yoke_test_model m = yoke_test_model_default(YOKE_TWO_MASS);
  m.m[0] = m.m[1] = 1.0;
  m.c[0] = m.c[1] = m.d[0] = m.d[1] = 0.0;
  m.cc                              = 100.0;
  m.dc                              = 1.0;
  m.H                               = H;
  return yoke_recurrence_radius(NULL, &m, user, rho);
}

/* Nothing holds the pair; the load makes it a model that is linearised. */
static void a_rigid_body_motion_sets_no_limit(void **state) {
  (void)state;
  yoke_test_method k   = yoke_test_method_default();
  k.order              = 1;
  const yoke_scan scan = {
      .value = free_pair_radius, .user = &k, .first = 1e-3, .last = 10.0, .factor = 1.05, .limit = 1.0 + 1e-6};
  double onset;
  bench  b;
  assert_int_equal(yoke_scan_onset(NULL, &scan, &onset), YOKE_OK);
  bench_open(&b,
             "yoke: 1\nname: free pair\nt_end: 1\nbodies:\n  a: {kind: mass1d, mass: 1}\n  b: {kind: mass1d, mass: 1}\n"
             "connections:\n  s: {kind: spring-damper, between: [a, b], stiffness: 100, damping: 1}\n"
             "loads:\n  f: {kind: expression, on: a, force: \"5*sin(3*t)\"}\n"
             "split: {p: [a], q: [b]}\ncosimulation: {scheme: semi-implicit, order: 1, step: 1e-3}\n",
             NULL);
  assert_true(yoke_stability_is_linearized(b.s));
  CHECK_NEAR(limit_of(&b).H, onset, 1e-5 * onset);
  bench_close(&b);
}

/* A constant force pushes it away for ever, but its equations are the same everywhere. */
static void a_linear_model_needs_no_rest_state(void **state) {
  (void)state;
  static const char *const text =
      "yoke: 1\nname: pushed pair\nt_end: 1\nbodies:\n  a: {kind: mass1d, mass: 1}\n  b: {kind: mass1d, mass: 1}\n"
      "connections:\n  s: {kind: spring-damper, between: [a, b], stiffness: 100, damping: 1}\n"
      "loads:\n  f: {kind: expression, on: a, force: 5*cos(3*t)}\n"
      "split: {p: [a], q: [b]}\ncosimulation: {scheme: semi-implicit, order: 1, step: 1e-3}\n";
  bench b;
  bench_open(&b, text, NULL);
  const double pushed = radius(&b, 0.3);
  bench_close(&b);
  bench_open(&b, text, "loads.f.force=0*t");
  CHECK_NEAR(radius(&b, 0.3), pushed, 1e-8);
  assert_true(pushed > 1.01);
  bench_close(&b);
}

/* The crank follows its motion and has no freedom, so the multipliers at the pin have eigenvalues 1, beside the pendulum's. */
static void a_prescribed_motion_sets_no_limit(void **state) {
  (void)state;
  bench b;
  bench_open(
      &b,
      "yoke: 1\nname: driven crank\ngravity: [0, -9.81, 0]\nt_end: 1\nbodies:\n"
      "  crank: {kind: planar, mass: 1, inertia: 0.1, frames: {o: [-0.5, 0], tip: [0.5, 0]}, position: [0.5, 0]}\n"
      "  rod: {kind: planar, mass: 1, inertia: 0.1, frames: {o: [-0.5, 0]}, position: [1.5, 0]}\n"
      "connections:\n  drive: {kind: revolute, between: [ground, crank.o], motion: 2*t}\n"
      "  pin: {kind: revolute, between: [crank.tip, rod.o]}\nsplit: {p: [crank], q: [rod]}\n"
      "cosimulation: {scheme: semi-implicit, order: 1, step: 1e-3}\n",
      NULL);
  for (double H = 1e-4; H < 0.2; H *= 10.0) {
    yoke_stability_point point;
    assert_int_equal(yoke_stability_at(b.s, H, &point, b.c.ctx), YOKE_OK);
    CHECK_NEAR(point.rho, 1.0, 1e-8);
  }
  assert_true(limit_of(&b).is_none);
  bench_close(&b);
}

static void a_method_that_is_never_stable_says_so(void **state) {
  (void)state;
  bench b;
  bench_open(&b, "examples/two-mass-rigid.yaml",
             "cosimulation.couplings={formulation: weighted, a: 1, b: 1};cosimulation.order=2");
  const yoke_stability_limit_result limit = limit_of(&b);
  assert_true(limit.is_zero);
  CHECK_NEAR(limit.H, 0.0, 0.0);
  CHECK_BELOW(1.1, limit.above.rho);
  bench_close(&b);
}

/* ---- names ---- */

#define THREE_COUPLINGS                                                                                                \
  "yoke: 1\nname: four masses\nt_end: 1\nparameters: {k1: 1e3, k2: 1e3, k3: 1e3}\nbodies:\n"                           \
  "  m: {kind: mass1d, count: 4, mass: 1}\nconnections:\n  wall: {kind: spring-damper, count: 4, between: [ground, "   \
  "m[i]], "                                                                                                            \
  "stiffness: 100, damping: 1}\n  one: {kind: spring-damper, between: [m[1], m[2]], stiffness: k1, damping: 1}\n"      \
  "  two: {kind: spring-damper, between: [m[2], m[3]], stiffness: k2, damping: 1}\n"                                   \
  "  three: {kind: spring-damper, between: [m[3], m[4]], stiffness: k3, damping: 1}\n"                                 \
  "split: {a: [m[1]], b: [m[2]], c: [m[3]], d: [m[4]]}\ncosimulation: {scheme: explicit, order: 1, step: 1e-3}\n"

static void the_stiff_coupling_is_named(void **state) {
  (void)state;
  static const char *const names[] = {"one", "two", "three"};
  for (int i = 0; i < 3; ++i) {
    char  sets[64];
    bench b;
    snprintf(sets, sizeof sets, "parameters.k%d=1e5", i + 1);
    bench_open(&b, THREE_COUPLINGS, sets);
    const yoke_stability_limit_result limit = limit_of(&b);
    assert_string_equal(limit.above.coupling, names[i]);
    assert_string_equal(limit.above.channel, "force x");
    assert_true(limit.above.body[0] == 'm' && (limit.above.body[2] == '1' + i || limit.above.body[2] == '2' + i));
    bench_close(&b);
  }
}

static void masses_of_a_cut_chain_keep_their_numbers(void **state) {
  (void)state;
  bench b;
  bench_open(
      &b,
      "yoke: 1\nname: chain\nt_end: 1\nbodies:\n  c: {kind: chain, n: 6, mass: [1, 1, 1, 1, 1, 1e-3], stiffness: 1e3, "
      "damping: 1e-1}\nsplit: {c: 2}\ncosimulation: {scheme: explicit, order: 1, step: 1e-3}\n",
      NULL);
  yoke_stability_point point;
  assert_int_equal(yoke_stability_at(b.s, 1.0, &point, b.c.ctx), YOKE_OK);
  assert_string_equal(point.coupling, "c.cut[1]");
  assert_true(strcmp(point.body, "c[3]") == 0 || strcmp(point.body, "c[4]") == 0);
  bench_close(&b);
}

/* ---- models that leave their step, and with it more of their method, to step control ---- */

/* Under step control four pieces of sixteen masses have halos, with a fixed step they have not. */
#define LONG_CHAIN                                                                                                     \
  "yoke: 1\nname: long\nt_end: 0.02\nbodies:\n  c: {kind: chain, n: 64, mass: 1, stiffness: 1000, damping: 20, "       \
  "x: 'sin(0.9*i)'}\nsplit: {c: 4}\n"

static double limit_with(const char *model, const char *sets, const char *method) {
  char  text[192];
  bench b;
  bench_open(&b, model, sets);
  yoke_stability_method(b.s, text, sizeof text);
  assert_string_equal(text, method);
  const double H = limit_of(&b).H;
  bench_close(&b);
  return H;
}

static void a_model_without_a_step_has_the_limit_of_its_runs_with_one(void **state) {
  (void)state;
  static const char forces[] = "scheme semi-implicit, order 1, formulation constitutive";
  static const char halos[]  = "scheme explicit, order 1, formulation overlap";
  static const char joint[]  = "scheme semi-implicit, order 1, formulation stabilized-index-2";
  static const struct {
    const char *model, *open, *fixed, *method;
  } cases[] = {
      {LONG_CHAIN, NULL, "cosimulation={step: 1e-3}", forces},
      {LONG_CHAIN, "cosimulation={step: auto}", "cosimulation={step: 0.1}", forces},
      {LONG_CHAIN, "cosimulation.couplings.formulation=overlap",
       "cosimulation={step: 1e-3, couplings: {formulation: overlap}}", halos},
      {"examples/two-mass.yaml", "cosimulation={}", "cosimulation={step: 1e-3}", forces},
      {"examples/double-pendulum.yaml", "cosimulation={}", "cosimulation={step: 1e-3}", joint},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const double open  = limit_with(cases[i].model, cases[i].open, cases[i].method);
    const double fixed = limit_with(cases[i].model, cases[i].fixed, cases[i].method);
    assert_true(fixed > 0.0);
    CHECK_NEAR(open, fixed, 1e-12 * fixed);
  }
}

/* ---- refusals ---- */

static void expect_refusal(const char *model, yoke_status expected, const char *part) {
  cosim           c;
  yoke_stability *s = NULL;
  assert_int_equal(cosim_load(&c, model, NULL), YOKE_OK);
  assert_int_equal(yoke_stability_create(c.ctx, c.model, 100, &s), expected);
  assert_null(s);
  assert_true(yoke_context_n_messages(c.ctx) > 0);
  if (strstr(yoke_context_message(c.ctx, yoke_context_n_messages(c.ctx) - 1), part) == NULL) {
    cosim_print(c.ctx);
    fail_msg("'%s' is missing", part);
  }
  cosim_close(&c);
}

static void what_cannot_be_analysed_is_refused_with_a_reason(void **state) {
  (void)state;
  expect_refusal("examples/pendulum.yaml", YOKE_E_USAGE, "no split");
  expect_refusal(
      "yoke: 1\nname: stones\nt_end: 1\ngravity: [0, 0, -9.81]\nbodies:\n  a: {kind: particle, mass: 1}\n"
      "  b: {kind: particle, mass: 1, position: [1, 0, 0]}\nconnections:\n  s: {kind: spring-damper, between: [a, b], "
      "stiffness: 10}\nsplit: {p: [a], q: [b]}\ncosimulation: {step: 1e-3}\n",
      YOKE_E_NOT_CONVERGED, "no rest state");
  expect_refusal("examples/chain-rod.yaml", YOKE_E_USAGE, "at most");
  expect_refusal(LONG_CHAIN "cosimulation: {order: auto}\n", YOKE_E_USAGE, "say for which one");
  expect_refusal("yoke: 1\nname: short\nt_end: 1\nbodies:\n  c: {kind: chain, n: 8, mass: 1, stiffness: 1000}\n"
                 "split: {c: 2}\ncosimulation: {couplings: {formulation: overlap}, scheme: implicit, order: 1}\n",
                 YOKE_E_USAGE, "use scheme explicit");
}

/* ---- prediction ---- */

static size_t n_predicted(const char *model, const char *sets, char *text, size_t size) {
  cosim c;
  if (cosim_load(&c, model, sets) != YOKE_OK) cosim_print(c.ctx);
  assert_int_equal(c.status, YOKE_OK);
  yoke_context_clear(c.ctx);
  double growth;
  assert_int_equal(yoke_predict_stability(c.ctx, c.model, &growth), YOKE_OK);
  const size_t n = yoke_context_n_messages(c.ctx);
  snprintf(text, size, "%s", n > 0 ? yoke_context_message(c.ctx, 0) : "");
  if (n > 0) assert_int_equal(yoke_context_message_severity(c.ctx, 0), YOKE_SEVERITY_WARNING);
  cosim_close(&c);
  return n;
}

static void an_unstable_step_is_predicted_with_the_stable_one(void **state) {
  (void)state;
  char         text[512];
  const char  *at;
  const size_t n = n_predicted("examples/four-bar-bushing.yaml", "cosimulation.scheme=explicit;cosimulation.step=0.02",
                               text, sizeof text);
  assert_int_equal(n, 1);
  assert_non_null(strstr(text, "coupling 'bushing_angle'"));
  at = strstr(text, "stable step is about ");
  assert_non_null(at);
  CHECK_NEAR(atof(at + strlen("stable step is about ")), 0.016512, 2e-4);
}

static void stable_steps_unstable_models_and_slow_growth_are_not_warned_of(void **state) {
  (void)state;
  char text[512];
  static const struct {
    const char *model, *sets;
  } cases[] = {
      {"examples/four-bar-bushing.yaml", "cosimulation.scheme=explicit;cosimulation.step=0.015"},
      {"examples/two-mass.yaml", NULL},
      {"examples/four-bar-fixed.yaml", NULL}, /* undamped: 1 up to rounding */
      {"examples/double-pendulum-flexible.yaml", NULL},
      {"examples/chain-rod.yaml", NULL}, /* too large */
      {"examples/four-bar-bushing.yaml", /* grows by half a percent over the run: nobody would see it */
       "cosimulation.couplings.decomposition=force/displacement;cosimulation.order=0;cosimulation.step=6e-4;t_end=0.1"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    if (n_predicted(cases[i].model, cases[i].sets, text, sizeof text) != 0)
      fail_msg("%s %s: %s", cases[i].model, cases[i].sets, text);
  }
}

static void remedies_of_methods_that_are_never_stable_are_not_in_use_already(void **state) {
  (void)state;
  char              text[512];
  static const char never[] = "cosimulation.couplings.formulation=stabilized-index-2-mu;cosimulation.order=2;"
                              "cosimulation.step=0.01;cosimulation.scheme=";
  for (int i = 0; i < 2; ++i) {
    char sets[256];
    snprintf(sets, sizeof sets, "%s%s", never, i == 0 ? "semi-implicit" : "implicit");
    assert_int_equal(n_predicted("examples/two-mass-rigid.yaml", sets, text, sizeof text), 1);
    assert_non_null(
        strstr(text, "no smaller step was found to be stable; use a lower order or another formulation (yoke"));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(linearised_particles_have_the_radii_of_the_two_masses),
      cmocka_unit_test(small_steps_have_the_decay_of_the_model),
      cmocka_unit_test(limits_of_the_double_pendulum_are_kept),
      cmocka_unit_test(limit_is_that_of_the_recurrence),
      cmocka_unit_test(a_method_without_limit_says_so),
      cmocka_unit_test(a_rigid_body_motion_sets_no_limit),
      cmocka_unit_test(a_linear_model_needs_no_rest_state),
      cmocka_unit_test(a_prescribed_motion_sets_no_limit),
      cmocka_unit_test(a_method_that_is_never_stable_says_so),
      cmocka_unit_test(the_stiff_coupling_is_named),
      cmocka_unit_test(masses_of_a_cut_chain_keep_their_numbers),
      cmocka_unit_test(a_model_without_a_step_has_the_limit_of_its_runs_with_one),
      cmocka_unit_test(what_cannot_be_analysed_is_refused_with_a_reason),
      cmocka_unit_test(an_unstable_step_is_predicted_with_the_stable_one),
      cmocka_unit_test(remedies_of_methods_that_are_never_stable_are_not_in_use_already),
      cmocka_unit_test(stable_steps_unstable_models_and_slow_growth_are_not_warned_of),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
