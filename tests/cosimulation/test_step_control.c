/* Step and order control over whole runs: counts and statements of Kraft 5 and 6, limits, repetition, what is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "rig.h"

#define TIGHT "cosimulation.start=ramp;solvers.default.rtol=1e-12;"

/* ---- counts of Kraft 5 ---- */

typedef struct count_row {
  const char *file, *scheme, *estimator, *order, *step;
  int         steps, failures;
} count_row;

#define NARROW ", initial: 1e-6, safety: 2, ratio: [0.75, 1.25]"
#define MD "rtol: 1e-5, atol: {position: 1e-8, velocity: 1e-5}" NARROW
#define CV "rtol: 1e-3, atol: {coupling: 1}" NARROW
#define FULL "rtol: 1e-4, atol: {position: 1e-7, velocity: 1e-4, coupling: 1}, initial: 1e-6"

static void expect_counts(const count_row *rows, size_t n, double share) {
  for (size_t i = 0; i < n; ++i) {
    char sets[COSIM_TEXT], file[COSIM_TEXT];
    snprintf(file, sizeof file, "examples/%s.yaml", rows[i].file);
    snprintf(sets, sizeof sets,
             TIGHT "cosimulation.scheme=%s;cosimulation.order=%s;cosimulation.step={%s, estimator: %s, budget: 0}",
             rows[i].scheme, rows[i].order, rows[i].step, rows[i].estimator);
    cosim                    c     = cosim_done(file, sets, 0.0);
    const yoke_macro_totals *macro = &c.summary.macro;
    if (fabs((double)(macro->steps - rows[i].steps)) > share * rows[i].steps ||
        fabs((double)(macro->rejected - rows[i].failures)) > fmax(3.0, share * rows[i].failures))
      fail_msg("%s %s %s: %ld steps, %ld rejected, expected %d and %d", rows[i].file, rows[i].scheme, rows[i].estimator,
               (long)macro->steps, (long)macro->rejected, rows[i].steps, rows[i].failures);
    assert_int_equal(macro->rejected, macro->rejected_by[YOKE_REDUCED_BY_ERROR] +
                                          macro->rejected_by[YOKE_REDUCED_BY_CORRECTOR] +
                                          macro->rejected_by[YOKE_REDUCED_BY_NON_FINITE]);
    cosim_close(&c);
  }
}

static void steps_and_failures_of_a_fixed_degree_are_those_of_kraft_5(void **state) {
  static const count_row rows[] = {
      {"chain-m1", "explicit", "md", "2", MD, 170, 5},  {"chain-m1", "explicit", "le", "2", MD, 170, 5},
      {"chain-m1", "explicit", "cv", "2", CV, 179, 3},  {"chain-m1", "implicit", "md", "2", MD, 103, 2},
      {"chain-m1", "implicit", "cv", "2", CV, 179, 3},  {"chain-m2", "explicit", "md", "2", MD, 240, 13},
      {"chain-m2", "explicit", "le", "2", MD, 240, 13}, {"chain-m2", "explicit", "cv", "2", CV, 306, 9},
      {"chain-m2", "implicit", "md", "2", MD, 132, 9},  {"chain-m2", "implicit", "cv", "2", CV, 307, 8},
  };
  (void)state;
  expect_counts(rows, sizeof rows / sizeof *rows, 0.1);
}

static void steps_and_failures_of_order_control_are_those_of_kraft_5(void **state) {
  static const count_row rows[] = {
      {"chain-m2", "explicit", "md", "auto", FULL, 127, 3},
      {"chain-m2", "explicit", "cv", "auto", FULL, 205, 8},
      {"chain-m2", "implicit", "md", "auto", FULL, 87, 0},
      {"chain-m2", "implicit", "cv", "auto", FULL, 206, 7},
      {"chain-m2", "explicit", "md", "{rule: conservative}", FULL, 180, 4},
      {"chain-m2", "implicit", "md", "{rule: conservative}", FULL, 159, 2},
  };
  (void)state;
  expect_counts(rows, sizeof rows / sizeof *rows, 0.15);
}

/* ---- R5, R8 ---- */

typedef struct outcome {
  double steps, rejected, error; /* |x1| against the exact end value of M1 */
} outcome;

static outcome run_m1(const char *scheme, const char *step) {
  char sets[COSIM_TEXT];
  snprintf(sets, sizeof sets, TIGHT "cosimulation.scheme=%s;cosimulation.order=2;cosimulation.step={%s}", scheme, step);
  cosim         c   = cosim_done("examples/chain-m1.yaml", sets, 0.0);
  const outcome out = {.steps    = (double)c.summary.macro.steps,
                       .rejected = (double)c.summary.macro.rejected,
                       .error    = fabs(cosim_value(&c, "c.x[1]") + 1.26974931)};
  cosim_close(&c);
  return out;
}

static void estimators_compare_as_in_kraft_r5(void **state) {
  const outcome md = run_m1("explicit", "estimator: md, " MD), le = run_m1("explicit", "estimator: le, " MD),
                cv          = run_m1("explicit", "estimator: cv, rtol: 1e-5, atol: {coupling: 1e-2}" NARROW);
  const outcome implicit_md = run_m1("implicit", "estimator: md, " MD),
                implicit_cv = run_m1("implicit", "estimator: cv, rtol: 1e-5, atol: {coupling: 1e-2}" NARROW);
  (void)state;
  CHECK_NEAR(le.steps, md.steps, 0.02 * md.steps);
  CHECK_BELOW(implicit_md.steps, 0.8 * md.steps);           /* larger steps */
  CHECK_NEAR(implicit_cv.steps, cv.steps, 0.05 * cv.steps); /* the same estimate ... */
  CHECK_BELOW(implicit_cv.error, 0.5 * cv.error);           /* ... but the corrected values are better */
  CHECK_BELOW(md.steps, 0.7 * cv.steps);                    /* cv is stricter at equal tolerance ... */
  CHECK_BELOW(cv.error, 0.5 * md.error);                    /* ... and more accurate */
}

static void failures_fall_with_the_safety_factor_as_in_kraft_r8(void **state) {
  static const char *const schemes[] = {"explicit", "implicit"};
  (void)state;
  for (int i = 0; i < 2; ++i) {
    double share[2];
    for (int k = 0; k < 2; ++k) {
      char sets[COSIM_TEXT];
      snprintf(sets, sizeof sets,
               "cosimulation.scheme=%s;cosimulation.order=2;cosimulation.step={rtol: 1e-4, estimator: md, budget: 0, "
               "initial: 1e-7, "
               "dead_zone: false, safety: %d}",
               schemes[i], k == 0 ? 1 : 6);
      cosim c  = cosim_done("examples/chain-safe.yaml", sets, 1e-3);
      share[k] = (double)c.summary.macro.rejected / (double)c.summary.macro.steps;
      cosim_close(&c);
    }
    assert_true(share[0] > 0.25 && share[0] < 0.6); /* Kraft: about 45 % */
    CHECK_BELOW(share[1], 0.05);                    /* 1 to 5 % */
  }
}

/* ---- the run obeys ---- */

typedef struct grid {
  double t, smallest, largest;
  int    n;
} grid;

static yoke_status watch_grid(void *user, double t, double H, int order, const yoke_step_statistics *statistics) {
  grid *g     = user;
  g->smallest = g->n == 0 ? H : fmin(g->smallest, H);
  g->largest  = fmax(g->largest, H);
  CHECK_NEAR(t - H, g->t, 1e-15);
  CHECK_BELOW(statistics->error, 1.0);
  assert_int_equal(statistics->degree, order);
  assert_true(order >= 0 && order <= 3);
  g->t = t;
  ++g->n;
  return YOKE_OK;
}

static void accepted_steps_pass_the_test_and_obey_limits_of_step_and_order(void **state) {
  grid            g    = {0};
  const yoke_sink sink = {.user = &g, .macro = watch_grid};
  cosim           c;
  (void)state;
  cosim_open(&c, "examples/chain-m2.yaml",
             "cosimulation.order={min: 0, max: 3};cosimulation.step={rtol: 1e-4, initial: 1e-6, max: 2e-4}");
  cosim_expect(&c, YOKE_OK);
  assert_int_equal(yoke_system_run(c.system, 0.02, &sink, &c.summary, c.ctx), YOKE_OK);
  assert_int_equal(g.n, c.summary.macro.steps);
  CHECK_NEAR(g.t, 0.02, 0.0); /* the end is hit to the bit */
  CHECK_BELOW(g.largest, 2e-4 * (1.0 + 1e-6));
  CHECK_NEAR(c.summary.macro.largest, g.largest, 0.0);
  CHECK_NEAR(c.summary.macro.smallest, g.smallest, 0.0);
  cosim_close(&c);
}

static void a_step_that_falls_below_its_minimum_ends_the_run_and_names_the_coupling(void **state) {
  cosim c;
  (void)state;
  cosim_open(&c, "examples/chain-m2.yaml",
             "cosimulation.order=2;cosimulation.step={rtol: 1e-9, initial: 1e-3, min: 1e-3, max: 1e-3}");
  cosim_run(&c, 0.02, NULL, NULL);
  cosim_expect(&c, YOKE_E_STEP_TOO_SMALL);
  bool named = false;
  for (size_t i = 0; i < yoke_context_n_messages(c.ctx); ++i)
    named = named || strstr(yoke_context_message(c.ctx, i), "coupling 'c.cut[1]'") != NULL;
  assert_true(named);
  cosim_close(&c);
}

/* ---- every scheme and estimator, same bits ---- */

typedef struct variant {
  const char *file, *sets;
  double      t_end;
} variant;

#define STEP(scheme, estimator)                                                                                        \
  "cosimulation.scheme=" scheme ";cosimulation.order=auto;cosimulation.start=ramp;cosimulation.step={rtol: 1e-4, "     \
  "estimator: " estimator "}"
static const variant variants[] = {
    {"chain-conv", STEP("explicit", "md"), 2e-3},
    {"chain-conv", STEP("explicit", "le"), 2e-3},
    {"chain-conv", STEP("explicit", "md") ";cosimulation.predictor=acceleration", 2e-3},
    {"chain-conv", STEP("explicit", "cv") ";cosimulation.predictor=acceleration-relaxed", 2e-3},
    {"chain-conv", STEP("explicit", "cv"), 2e-3},
    {"chain-conv", STEP("semi-implicit", "md"), 2e-3},
    {"chain-conv", STEP("implicit", "cv"), 2e-3},
    {"chain-conv", STEP("implicit", "le"), 2e-3},
    {"chain-conv", STEP("waveform", "cv"), 1e-3},
    {"chain-conv", STEP("waveform", "md"), 1e-3},
    {"double-pendulum", STEP("implicit", "md"), 0.3},
    {"double-pendulum", STEP("semi-implicit", "cv"), 0.05},
    {"slider-crank", STEP("semi-implicit", "md"), 0.2},
    {"four-bar-bushing", STEP("semi-implicit", "md"), 0.01},
    {"four-bar-fixed", STEP("implicit", "md"), 0.05},
    {"chain-m3", STEP("implicit", "md"), 0.01},
};

static void run_variant(const variant *v, const char *exec, int threads, double **state, int *n, int64_t counts[3]) {
  char  file[COSIM_TEXT];
  cosim c;
  snprintf(file, sizeof file, "examples/%s.yaml", v->file);
  cosim_open_with(&c, file, v->sets, exec, threads);
  cosim_run(&c, v->t_end, NULL, NULL);
  if (c.status != YOKE_OK) print_message("%s %s\n", v->file, v->sets);
  cosim_expect(&c, YOKE_OK);
  *n     = yoke_gather_nq(c.gather) + yoke_gather_nv(c.gather);
  *state = calloc((size_t)*n, sizeof **state);
  assert_non_null(*state);
  cosim_gather(&c, *state, *state + yoke_gather_nq(c.gather));
  counts[0] = c.summary.macro.steps;
  counts[1] = c.summary.macro.rejected;
  counts[2] = c.summary.macro.integrations;
  cosim_close(&c);
}

static void controlled_runs_have_the_same_bits_for_any_threads_and_order_of_tasks(void **state) {
  static const struct {
    const char *exec;
    int         threads;
  } others[] = {{"serial", 1}, {"shuffled", 1}, {"eager", 3}};
  (void)state;
  for (size_t i = 0; i < sizeof variants / sizeof *variants; ++i) {
    double *first, *other;
    int     n, m;
    int64_t counts[3], again[3];
    run_variant(&variants[i], "serial", 1, &first, &n, counts);
    for (size_t k = 0; k < sizeof others / sizeof *others; ++k) {
      run_variant(&variants[i], others[k].exec, others[k].threads, &other, &m, again);
      assert_int_equal(n, m);
      assert_memory_equal(counts, again, sizeof counts);
      assert_memory_equal(first, other, (size_t)n * sizeof *first);
      free(other);
    }
    free(first);
  }
}

/* A trial of another length, degree and comparison leaves no trace (invariant 2). */
static void rejected_trials_leave_no_trace(void **state) {
  static const char *const schemes[] = {"explicit", "implicit"};
  (void)state;
  for (int i = 0; i < 2; ++i) {
    char sets[COSIM_TEXT];
    rig  r[2];
    snprintf(sets, sizeof sets, "cosimulation.scheme=%s;cosimulation.order=3;cosimulation.step=1e-5", schemes[i]);
    const yoke_comparison_kind kind = i == 0 ? YOKE_COMPARISON_END : YOKE_COMPARISON_CONSISTENT;
    for (int k = 0; k < 2; ++k) {
      assert_int_equal(rig_open(&r[k], "examples/chain-m2.yaml", sets, "serial", 1, NULL), YOKE_OK);
      assert_int_equal(yoke_graph_control(r[k].graph, true, r[k].c.ctx), YOKE_OK);
      yoke_graph_set_comparison(r[k].graph, kind);
      rig_steps(&r[k], 6);
    }
    yoke_graph_set_degree(r[0].graph, 1);
    assert_int_equal(rig_try(&r[0], yoke_graph_t(r[0].graph) + 7e-5), YOKE_OK);
    yoke_graph_set_degree(r[0].graph, 3);
    for (int k = 0; k < 2; ++k) rig_steps(&r[k], 4);
    rig_expect_same(&r[0], &r[1]);
    for (int k = 0; k < 2; ++k) rig_close(&r[k]);
  }
}

/* ---- joints driven by motion ---- */

/* Formulations that show extrapolated or projected motion: degree, step and estimate fit them as well. */
static void errors_of_kinematic_and_projected_joints_fall_with_the_tolerance(void **state) {
  static const struct {
    const char *sets;
    double      largest; /* error of upper.angle after 0.5 s with rtol 1e-5 */
  } rows[] = {
      {"cosimulation.scheme=explicit;cosimulation.couplings={formulation: kinematic, prescribed: b}", 1e-4},
      {"cosimulation.scheme=semi-implicit;cosimulation.couplings={formulation: projection}", 1e-4},
      {"cosimulation.scheme=semi-implicit;cosimulation.couplings={formulation: projection, decomposition: "
       "force/displacement}",
       1e-4},
  };
  cosim        whole = cosim_done_monolithic("examples/double-pendulum.yaml", "solvers.default.rtol=1e-12", 0.5);
  const double angle = cosim_value(&whole, "upper.angle");
  (void)state;
  cosim_close(&whole);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    double error[2];
    for (int k = 0; k < 2; ++k) {
      char sets[COSIM_TEXT];
      snprintf(sets, sizeof sets, "%s;cosimulation.order=auto;cosimulation.step={rtol: %g}", rows[i].sets,
               k == 0 ? 1e-3 : 1e-5);
      cosim c  = cosim_done("examples/double-pendulum.yaml", sets, 0.5);
      error[k] = fabs(cosim_value(&c, "upper.angle") - angle);
      CHECK_BELOW((double)c.summary.macro.steps, 2000.0);
      cosim_close(&c);
    }
    CHECK_BELOW(error[1], rows[i].largest);
    CHECK_BELOW(error[1], 0.3 * error[0]);
  }
}

/* One correction per step leaves gaps, and gaps excite a mode of the nodes that does not decay: without a new beginning the steps
 * shrink without end while the motion is right. */
static void one_correction_per_step_gets_through_with_a_loose_tolerance(void **state) {
  cosim        whole = cosim_done_monolithic("examples/double-pendulum.yaml", "solvers.default.rtol=1e-12", 2.0);
  const double angle = cosim_value(&whole, "upper.angle");
  (void)state;
  cosim_close(&whole);
  for (int i = 0; i < 2; ++i) {
    char         sets[COSIM_TEXT];
    const double rtol = i == 0 ? 1e-2 : 1e-3;
    snprintf(sets, sizeof sets, "cosimulation.scheme=semi-implicit;cosimulation.step={rtol: %g, estimator: md}", rtol);
    cosim c = cosim_done("examples/double-pendulum.yaml", sets, 2.0);
    CHECK_BELOW((double)c.summary.macro.steps, 1000.0);
    CHECK_BELOW(fabs(cosim_value(&c, "upper.angle") - angle), rtol);
    cosim_close(&c);
  }
}

/* ---- choice ---- */

static const char *const joints_text =
    "yoke: 1\nt_end: 0.2\nbodies:\n"
    "  a: {kind: mass1d, mass: 1, x: 0, v: 10}\n"
    "  b: {kind: mass1d, mass: 2, x: 0, v: 10}\n"
    "connections:\n"
    "  w: {kind: spring-damper, between: [ground, a], stiffness: 1000, free_length: 0}\n"
    "  j: {kind: %s}\n"
    "split: {p: [a], q: [b]}\n";

static void expect_choice(const char *joint, const char *sets, const char *scheme, const char *estimator) {
  char  text[COSIM_TEXT], word[64];
  cosim c;
  snprintf(text, sizeof text, joints_text, joint);
  cosim_open(&c, text, sets);
  cosim_run(&c, 0.0, NULL, NULL);
  cosim_expect(&c, YOKE_OK);
  const yoke_system      *cs     = c.system;
  const yoke_step_choice *choice = yoke_system_choice(cs);
  assert_non_null(choice);
  assert_string_equal(yoke_system_plan(cs)->scheme.scheme, scheme);
  snprintf(word, sizeof word, "estimator %s (", estimator);
  if (strstr(choice->reasons, word) == NULL) fail_msg("'%s' not in '%s'", word, choice->reasons);
  assert_true(c.summary.macro.steps > 5);
  cosim_close(&c);
}

static void a_model_without_step_chooses_scheme_and_estimator(void **state) {
  static const char *const spring = "spring-damper, between: [a, b], stiffness: 100, free_length: 0";
  static const char *const fixed  = "fixed, between: [a, b]";
  (void)state;
  expect_choice(spring, NULL, "semi-implicit", "md");
  expect_choice(fixed, NULL, "implicit", "md");
  expect_choice(fixed, "cosimulation.scheme=semi-implicit", "semi-implicit", "md");
  expect_choice(fixed, "cosimulation.couplings.formulation=weighted", "semi-implicit", "md"); /* has no implicit form */
  expect_choice(spring, "cosimulation.scheme=explicit;cosimulation.sequence=gauss-seidel", "explicit", "cv");
  expect_choice(spring, "cosimulation.scheme=explicit;cosimulation.predictor=acceleration", "explicit", "md");
}

static void what_an_estimator_cannot_do_is_refused_with_a_remedy(void **state) {
  static const char *const sets[] = {
      "cosimulation.scheme=explicit;cosimulation.sequence=gauss-seidel;cosimulation.step={estimator: md}",
      "cosimulation.scheme=explicit;cosimulation.predictor=least-squares;cosimulation.step={estimator: md}",
  };
  (void)state;
  for (size_t i = 0; i < sizeof sets / sizeof *sets; ++i) {
    cosim c;
    cosim_open(&c, "examples/chain-conv.yaml", sets[i]);
    cosim_expect(&c, YOKE_E_MODEL);
    const char *message = yoke_context_message(c.ctx, 0);
    assert_true(strstr(message, "use estimator cv") != NULL);
    cosim_close(&c);
  }
}

/* Two stiff rods: what bdf leaves in the multiplier grows as steps become shorter, and a budget would make them ever shorter (2e5 steps by 1 ms). */
static void solvers_that_take_other_steps_in_every_pass_have_no_budget_at_a_joint(void **state) {
  static const char rods[] =
      "yoke: 1\ngravity: [0, 0, -9.81]\nt_end: 0.5\nbodies:\n"
      "  one: {kind: cosserat-rod, elements: 5, length: 1, section: {circle: 0.01}, young: 1e8, density: 1000,\n"
      "        damping: 1e-3, from: [0, 0, 0], to: [1, 0, 0]}\n"
      "  two: {kind: cosserat-rod, elements: 5, length: 1, section: {circle: 0.01}, young: 1e8, density: 1000,\n"
      "        damping: 1e-3, from: [1, 0, 0], to: [2, 0, 0]}\n"
      "connections:\n"
      "  nail: {kind: spherical, between: [[0, 0, 0], one.a]}\n"
      "  knee: {kind: spherical, between: [one.b, two.a]}\n"
      "split: {a: [one], b: [two]}\n"
      "cosimulation: {step: auto}\nsolvers: {default: {kind: bdf, rtol: 1e-8}}\n";
  (void)state;
  cosim split = cosim_done(rods, NULL, 0.02), whole = cosim_done_monolithic(rods, "solvers.default.kind=radau5", 0.02);
  CHECK_NEAR(cosim_value(&split, "two.b.z"), cosim_value(&whole, "two.b.z"), 1e-7);
  if (split.summary.macro.steps > 150) fail_msg("%lld macro steps", (long long)split.summary.macro.steps);
  cosim_close(&split);
  cosim_close(&whole);
  cosim_open(&split, rods, "solvers.default.rtol=1e-6");
  cosim_expect(&split, YOKE_OK);
  if (strstr(yoke_context_message(split.ctx, 0), "solver 'bdf' of subsystem 'a' takes other steps in every pass") ==
      NULL)
    fail_msg("%s", yoke_context_message(split.ctx, 0));
  cosim_close(&split);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_and_failures_of_a_fixed_degree_are_those_of_kraft_5),
      cmocka_unit_test(steps_and_failures_of_order_control_are_those_of_kraft_5),
      cmocka_unit_test(estimators_compare_as_in_kraft_r5),
      cmocka_unit_test(failures_fall_with_the_safety_factor_as_in_kraft_r8),
      cmocka_unit_test(accepted_steps_pass_the_test_and_obey_limits_of_step_and_order),
      cmocka_unit_test(a_step_that_falls_below_its_minimum_ends_the_run_and_names_the_coupling),
      cmocka_unit_test(controlled_runs_have_the_same_bits_for_any_threads_and_order_of_tasks),
      cmocka_unit_test(rejected_trials_leave_no_trace),
      cmocka_unit_test(errors_of_kinematic_and_projected_joints_fall_with_the_tolerance),
      cmocka_unit_test(one_correction_per_step_gets_through_with_a_loose_tolerance),
      cmocka_unit_test(a_model_without_step_chooses_scheme_and_estimator),
      cmocka_unit_test(what_an_estimator_cannot_do_is_refused_with_a_remedy),
      cmocka_unit_test(solvers_that_take_other_steps_in_every_pass_have_no_budget_at_a_joint),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
