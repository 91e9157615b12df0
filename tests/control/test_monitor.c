/* The monitor: it changes no bit of a run, keeps its share of the work, and tells how wrong the run is. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/cosimulate.h"

/* Two masses between walls; a joint in the plane. */
#define SPRINGS                                                                                                        \
  "yoke: 1\n"                                                                                                          \
  "t_end: 2\n"                                                                                                         \
  "bodies: {a: {kind: mass1d, mass: 1, x: 0.1}, b: {kind: mass1d, mass: 2, x: 1}}\n"                                   \
  "connections:\n"                                                                                                     \
  "  wall: {kind: spring-damper, between: [ground, a], stiffness: 90, free_length: 0}\n"                               \
  "  link: {kind: spring-damper, between: [a, b], stiffness: 120, damping: 0.4, free_length: 0.7}\n"                   \
  "split: {left: [a], right: [b]}\n"                                                                                   \
  "cosimulation: {step: 0.02}\n"                                                                                       \
  "solvers: {default: {kind: dopri5, rtol: 1e-9}}\n"
#define PENDULUM                                                                                                       \
  "yoke: 1\n"                                                                                                          \
  "gravity: [0, -9.81, 0]\n"                                                                                           \
  "t_end: 0.6\n"                                                                                                       \
  "bodies:\n"                                                                                                          \
  "  upper: {kind: planar, mass: 1, inertia: 1/12, position: [0.5, 0], frames: {top: [-0.5, 0], tip: [0.5, 0]}}\n"     \
  "  lower: {kind: planar, mass: 1, inertia: 1/12, position: [1.5, 0], frames: {top: [-0.5, 0], tip: [0.5, 0]}}\n"     \
  "connections:\n"                                                                                                     \
  "  hinge: {kind: revolute, between: [ground, upper.top]}\n"                                                          \
  "  knee: {kind: revolute, between: [upper.tip, lower.top]}\n"                                                        \
  "split: {a: [upper], b: [lower]}\n"                                                                                  \
  "cosimulation: {step: 0.02, joint_tolerance: 1}\n"                                                                   \
  "solvers: {default: {kind: dopri5, rtol: 1e-9}}\n"

/* ---- bits ---- */

enum { MAX_POINTS = 2000 };

typedef struct track {
  int    n;
  double t[MAX_POINTS], q[MAX_POINTS][6], v[MAX_POINTS][6];
} track;

static void look(void *user, double t, const double *q, const double *v) {
  track *x = user;
  assert_true(x->n < MAX_POINTS);
  x->t[x->n] = t;
  memcpy(x->q[x->n], q, 2 * sizeof *q);
  memcpy(x->v[x->n++], v, 2 * sizeof *v);
}

/* All macro points; NULL: refused. */
static track *track_of(const char *model, const char *sets, const char *monitor) {
  char   all[COSIM_TEXT];
  cosim  c;
  track *x = calloc(1, sizeof *x);
  assert_non_null(x);
  snprintf(all, sizeof all, "%s;cosimulation.monitor=%s", sets, monitor);
  yoke_status status = cosim_open(&c, model, all);
  if (status != YOKE_OK) {
    free(x);
    x = NULL;
  } else {
    status = cosim_run(&c, 0.0, look, x);
    if (status != YOKE_OK) look(x, (double)status, (const double[6]){0}, (const double[6]){0});
    assert_true((yoke_system_monitor(c.system) != NULL) == (monitor[1] == 'n'));
  }
  cosim_close(&c);
  return x;
}

/* false: refused. */
static bool same_bits(const char *model, const char *sets) {
  track *on = track_of(model, sets, "on"), *off = track_of(model, sets, "off");
  assert_true((on == NULL) == (off == NULL));
  if (on != NULL && (on->n < 2 || memcmp(on, off, sizeof *on) != 0)) fail_msg("%s has other bits with a monitor", sets);
  const bool is_run = on != NULL;
  free(on);
  free(off);
  return is_run;
}

static const char *const schemes[] = {"explicit", "semi-implicit", "implicit", "waveform"};

static void it_changes_no_bit_of_a_run_with_springs(void **state) {
  static const char *const more[] = {"cosimulation.order=0",
                                     "cosimulation.order=2",
                                     "cosimulation.order=1;cosimulation.couplings.decomposition=force/displacement",
                                     "cosimulation.order=2;cosimulation.start=graded",
                                     "cosimulation.order=1;cosimulation.jacobian=broyden",
                                     "cosimulation.order=1;cosimulation.sequence=gauss-seidel",
                                     "cosimulation.order=1;cosimulation.predictor=acceleration",
                                     "cosimulation.order=1;cosimulation.predictor=least-squares",
                                     "cosimulation.step={rtol: 1e-4, estimator: cv}",
                                     "cosimulation.step={rtol: 1e-4, budget: 0}"};
  int                      n      = 0;
  (void)state;
  for (size_t i = 0; i < sizeof schemes / sizeof *schemes; ++i) {
    for (size_t k = 0; k < sizeof more / sizeof *more; ++k) {
      char sets[COSIM_TEXT];
      snprintf(sets, sizeof sets, "cosimulation.scheme=%s;%s", schemes[i], more[k]);
      n += same_bits(SPRINGS, sets);
    }
  }
  assert_true(n >= 27);
}

static void it_changes_no_bit_of_a_run_with_a_joint(void **state) {
  int n = 0;
  (void)state;
  for (int i = 0; yoke_formulation_at(i) != NULL; ++i) {
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; ++k) {
      char sets[COSIM_TEXT];
      if (!yoke_formulation_at(i)->for_joints) continue;
      snprintf(sets, sizeof sets, "cosimulation.scheme=%s;cosimulation.couplings.formulation=%s", schemes[k],
               yoke_formulation_at(i)->name);
      n += same_bits(PENDULUM, sets);
    }
  }
  assert_true(n >= 10);
  assert_true(same_bits(PENDULUM, "cosimulation.scheme=implicit;cosimulation.step={rtol: 1e-4, budget: 0}"));
  assert_true(same_bits(PENDULUM, "cosimulation.scheme=implicit;cosimulation.step={rtol: 1e-4, estimator: cv}"));
}

static void it_changes_no_bit_behind_events_and_jumps(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof schemes / sizeof *schemes; ++k) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets, "cosimulation.scheme=%s", schemes[k]);
    assert_true(same_bits(SPRINGS "events: {bounce: {when: a.x + 0.02, direction: falling, set: {a.v: -0.9*a.v}}}\n"
                                  "loads: {push: {kind: expression, on: b, force: 5*step(t - 0.3021)}}\n",
                          sets));
  }
}

/* ---- work ---- */

static yoke_monitor_facts facts_of(const char *model, const char *sets, yoke_macro_totals *totals) {
  cosim c;
  assert_int_equal(cosim_open(&c, model, sets), YOKE_OK);
  assert_int_equal(cosim_run(&c, 0.0, NULL, NULL), YOKE_OK);
  const yoke_monitor_facts facts = yoke_monitor_facts_get(yoke_system_monitor(c.system));
  *totals                        = c.summary.macro;
  cosim_close(&c);
  return facts;
}

/* ---- work per coupling ---- */

static yoke_formulation_ops        counted_ops;
static const yoke_formulation_ops *plain_ops;
static long                        n_asked;

static void counted_rule(const void *self, int degree, yoke_error_rule *out) {
  ++n_asked;
  plain_ops->error->rule(self, degree, out);
}

/* How often a chain in so many parts asks its couplings for their rules, per coupling and macro step. */
static double rules_per_coupling(const char *sets, int parts) {
  static const yoke_error_form form = {.rule = counted_rule};
  char                         all[COSIM_TEXT];
  cosim                        c;
  snprintf(all, sizeof all, "parameters.n=%d;split.c=%d;t_end=2e-6;output.select=[\"c.x[1]\"];%s", 4 * parts, parts,
           sets);
  assert_int_equal(cosim_load(&c, "examples/chain-load.yaml", all), YOKE_OK);
  assert_int_equal(yoke_plan_create(c.ctx, c.model, &(yoke_plan_options){0}, &c.plan), YOKE_OK);
  plain_ops         = c.plan->wires[0].formulation;
  counted_ops       = *plain_ops;
  counted_ops.error = &form;
  for (int i = 0; i < c.plan->n_couplings; ++i) c.plan->wires[i].formulation = &counted_ops;
  assert_int_equal(yoke_system_create(c.ctx, c.plan, NULL, &c.system), YOKE_OK);
  assert_int_equal(yoke_gather_create(c.ctx, c.model, c.plan, &c.gather), YOKE_OK);
  n_asked = 0;
  assert_int_equal(cosim_run(&c, 0.0, NULL, NULL), YOKE_OK);
  const double asked = (double)n_asked / ((double)c.plan->n_couplings * (double)c.summary.macro.steps);
  cosim_close(&c);
  return asked;
}

static void its_work_per_coupling_does_not_grow_with_their_number(void **state) {
  static const char *const sets[] = {"cosimulation.scheme=explicit", "cosimulation.scheme=semi-implicit"};
  (void)state;
  for (size_t i = 0; i < sizeof sets / sizeof *sets; ++i) {
    const double few = rules_per_coupling(sets[i], 4), many = rules_per_coupling(sets[i], 40);
    if (!(many <= 1.5 * few && many < 3.0)) fail_msg("%s: %g, then %g rules per coupling and step", sets[i], few, many);
  }
}

static void it_is_free_where_a_scheme_corrects_springs(void **state) {
  yoke_macro_totals totals;
  (void)state;
  for (size_t k = 1; k < sizeof schemes / sizeof *schemes; ++k) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets, "cosimulation.scheme=%s", schemes[k]);
    const yoke_monitor_facts facts = facts_of(SPRINGS, sets, &totals);
    assert_int_equal(facts.evaluations, 0);
    assert_int_equal(facts.estimates, totals.steps);
  }
}

static void it_takes_a_twentieth_of_the_right_hand_sides(void **state) {
  static const char *const runs[][2] = {
      {SPRINGS, "t_end=20;cosimulation.scheme=explicit;cosimulation.order=1"},
      {SPRINGS, "t_end=20;cosimulation.scheme=explicit;cosimulation.order=1;cosimulation.sequence=gauss-seidel"},
      {PENDULUM, "t_end=4;cosimulation.scheme=implicit;cosimulation.step=0.01"}};
  (void)state;
  for (size_t i = 0; i < sizeof runs / sizeof *runs; ++i) {
    yoke_macro_totals        totals;
    const yoke_monitor_facts facts = facts_of(runs[i][0], runs[i][1], &totals);
    assert_true(facts.estimates >= 4);
    assert_true((double)(facts.evaluations + facts.integrations) <=
                0.1 * (double)(totals.evaluations + totals.integrations));
  }
}

static void it_looks_at_the_first_three_steps(void **state) {
  yoke_macro_totals totals;
  (void)state;
  const yoke_monitor_facts facts = facts_of(SPRINGS, "t_end=0.06;cosimulation.scheme=explicit", &totals);
  assert_int_equal(totals.steps, 3);
  assert_int_equal(facts.estimates, 3);
}

/* ---- estimates ---- */

/* Largest accumulated error, and the true one of all positions at macro points in units of a's spread. */
static double accumulated(const char *model, const char *sets) {
  cosim  c;
  double errors[2];
  assert_int_equal(cosim_open(&c, model, sets), YOKE_OK);
  assert_int_equal(cosim_run(&c, 0.0, NULL, NULL), YOKE_OK);
  yoke_error_tally_subsystems(yoke_monitor_tally(yoke_system_monitor(c.system)), 2, errors);
  assert_true(fmax(errors[0], errors[1]) ==
              yoke_error_tally_coupling(yoke_monitor_tally(yoke_system_monitor(c.system)), 0));
  cosim_close(&c);
  return fmax(errors[0], errors[1]);
}

static double end_of(const char *model, const char *sets, const char *name, bool is_whole) {
  cosim c;
  assert_int_equal(is_whole ? cosim_open_monolithic(&c, model, sets) : cosim_open(&c, model, sets), YOKE_OK);
  assert_int_equal(cosim_run(&c, 0.0, NULL, NULL), YOKE_OK);
  const double value = cosim_value(&c, name);
  cosim_close(&c);
  return value;
}

/* Estimated / true, the true one at the end, v of about 8 and x of about 1. */
static void estimate_fits_springs(const char *method) {
  char sets[COSIM_TEXT];
  snprintf(sets, sizeof sets, "t_end=1;%s", method);
  const double estimated = accumulated(SPRINGS, sets);
  double       error     = 0.0;
  static const struct {
    const char *name;
    double      spread;
  } values[] = {{"a.x", 0.6}, {"b.x", 0.8}, {"a.v", 6.0}, {"b.v", 6.0}};
  for (size_t i = 0; i < sizeof values / sizeof *values; ++i)
    error = fmax(error,
                 fabs(end_of(SPRINGS, sets, values[i].name, false) - end_of(SPRINGS, "t_end=1", values[i].name, true)) /
                     values[i].spread);
  if (!(estimated > 0.3 * error && estimated < 15.0 * error))
    fail_msg("%s: estimated %g, true %g", method, estimated, error);
}

static void accumulated_errors_have_the_size_of_the_true_ones(void **state) {
  (void)state;
  estimate_fits_springs("cosimulation.scheme=explicit;cosimulation.order=0");
  estimate_fits_springs("cosimulation.scheme=explicit;cosimulation.order=2");
  estimate_fits_springs("cosimulation.scheme=explicit;cosimulation.order=1;cosimulation.sequence=gauss-seidel");
  estimate_fits_springs("cosimulation.scheme=explicit;cosimulation.order=1;cosimulation.predictor=acceleration");
  estimate_fits_springs("cosimulation.scheme=semi-implicit;cosimulation.order=1");
  estimate_fits_springs("cosimulation.scheme=implicit;cosimulation.order=2");
  estimate_fits_springs("cosimulation.scheme=waveform;cosimulation.order=1");
  estimate_fits_springs("cosimulation.scheme=explicit;cosimulation.step={rtol: 1e-4}");
  estimate_fits_springs("cosimulation.scheme=explicit;cosimulation.step={rtol: 1e-4, estimator: cv}");
}

/* Of high orders the first steps, which have no past, are the worst; each uses all values that there are and is judged one step later. */
static void f9_the_start_of_a_run_is_judged_by_the_steps_behind_it(void **state) {
  (void)state;
  estimate_fits_springs("cosimulation.step=0.01;cosimulation.scheme=waveform;cosimulation.order=5;"
                        "cosimulation.sequence=gauss-seidel");
  estimate_fits_springs("cosimulation.step=0.01;cosimulation.scheme=waveform;cosimulation.order=5");
  estimate_fits_springs("cosimulation.step=0.01;cosimulation.scheme=semi-implicit;cosimulation.order=4");
  estimate_fits_springs("cosimulation.step=0.005;cosimulation.scheme=implicit;cosimulation.order=2;"
                        "cosimulation.couplings.decomposition=force/displacement");
}

static void accumulated_errors_fall_with_the_order_of_the_scheme(void **state) {
  double errors[3];
  (void)state;
  for (int k = 0; k < 3; ++k) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets, "cosimulation.scheme=semi-implicit;cosimulation.order=1;cosimulation.step=0.02/%d",
             1 << k);
    errors[k] = accumulated(SPRINGS, sets);
  }
  CHECK_ORDER(errors, 3, 2.0, 0.3);
}

enum { VELOCITIES = 6 };

/* Velocities of both bars at all output times. */
typedef struct samples {
  int    n;
  double value[MAX_POINTS][VELOCITIES];
} samples;

static yoke_status keep_sample(void *user, double t, const double *outputs, const yoke_counters *counters, double h,
                               int order) {
  samples *x = user;
  (void)t, (void)counters, (void)h, (void)order;
  assert_true(x->n < MAX_POINTS);
  memcpy(x->value[x->n++], outputs, sizeof x->value[0]);
  return YOKE_OK;
}

static void sample(const char *sets, bool is_whole, samples *x) {
  cosim           c;
  const yoke_sink sink = {.user = x, .sample = keep_sample};
  x->n                 = 0;
  assert_int_equal(is_whole ? cosim_open_monolithic(&c, PENDULUM, sets) : cosim_open(&c, PENDULUM, sets), YOKE_OK);
  assert_int_equal(yoke_system_run(c.system, c.model->t_end, &sink, NULL, c.ctx), YOKE_OK);
  cosim_close(&c);
}

/* Largest errors of velocities of the pendulum at macro points and between them, every fifth output at a macro point; and what is estimated. */
typedef struct inner_error {
  double at_points, between, estimated;
} inner_error;

static inner_error inner_error_of(const char *method, double H) {
  char        sets[COSIM_TEXT];
  samples     split, whole;
  inner_error e = {0};
  snprintf(sets, sizeof sets,
           "%s;cosimulation.step=%g;output={every: %g, select: [upper.vx, upper.vy, upper.omega, lower.vx, lower.vy, "
           "lower.omega]}",
           method, H, 0.2 * H);
  sample(sets, false, &split);
  sample(sets, true, &whole);
  assert_int_equal(split.n, whole.n);
  for (int k = 0; k < VELOCITIES; ++k) {
    double low = 0.0, high = 0.0;
    for (int i = 0; i < whole.n; ++i) {
      low  = fmin(low, whole.value[i][k]);
      high = fmax(high, whole.value[i][k]);
    }
    for (int i = 0; i < whole.n; ++i) {
      double *one = i % 5 == 0 ? &e.at_points : &e.between;
      *one        = fmax(*one, fabs(split.value[i][k] - whole.value[i][k]) / (high - low));
    }
  }
  e.estimated = accumulated(PENDULUM, sets);
  return e;
}

static void fits_between(const char *method, double H, double least) {
  const inner_error e = inner_error_of(method, H);
  if (!(e.estimated > least * e.between && e.estimated < 5.0 * e.between))
    fail_msg("%s, H = %g: estimated %g, true %g", method, H, e.estimated, e.between);
}

/* Multipliers hold the joint at the ends of steps; between them velocities are off by far more than there. */
static void errors_between_the_ends_of_steps_with_joints_count(void **state) {
  (void)state;
  const inner_error e = inner_error_of("cosimulation.scheme=implicit", 0.05);
  assert_true(e.between > 3.0 * e.at_points);
  fits_between("cosimulation.scheme=implicit", 0.05, 0.5);
}

/* What multipliers do inside a step cancels at its end: so must what is said of it, or long steps are said to be wrong by 50 times too much. */
static void f33_errors_inside_long_steps_cancel_at_their_ends(void **state) {
  (void)state;
  fits_between("cosimulation.scheme=implicit;cosimulation.order=1", 0.1, 0.5);
  fits_between("cosimulation.scheme=implicit;cosimulation.order=2", 0.12, 0.5);
  fits_between(
      "cosimulation.scheme=implicit;cosimulation.couplings.formulation=stabilized-index-1;cosimulation.order=1", 0.12,
      0.5);
}

/* Its multipliers have one node per step: the first step, through two values, is off by most. */
static void f9_the_first_step_of_a_joint_by_projection_counts(void **state) {
  (void)state;
  fits_between("cosimulation.scheme=implicit;cosimulation.couplings.formulation=projection;cosimulation.order=2", 0.01,
               0.3);
}

/* The joint prescribes the motion of the lower bar anew in every step; the spring beside it shows the same motion. */
static void f33_a_spring_beside_a_kinematic_joint_adds_nothing_up(void **state) {
  (void)state;
  fits_between("cosimulation.scheme=explicit;cosimulation.order=1;cosimulation.couplings.formulation=kinematic;"
               "cosimulation.couplings.prescribed=b;connections.aid={kind: torsion-spring, between: [upper, lower], "
               "stiffness: 5, damping: 0.1}",
               0.002, 0.3);
}

/* Error of a.x at the end of a long run, in rtol. */
static double error_over(const char *step) {
  char sets[COSIM_TEXT];
  snprintf(sets, sizeof sets, "t_end=60;connections.link.damping=0;cosimulation.step=%s", step);
  cosim        split = cosim_done(SPRINGS, sets, 0.0), whole = cosim_done_monolithic(SPRINGS, sets, 0.0);
  const double error = fabs(cosim_value(&split, "a.x") - cosim_value(&whole, "a.x"));
  cosim_close(&split);
  cosim_close(&whole);
  return error / 1e-4;
}

static void f9_the_budget_of_a_run_bounds_what_its_steps_add_up_to(void **state) {
  (void)state;
  assert_true(error_over("{rtol: 1e-4, budget: 0}") > 10.0);
  assert_true(error_over("{rtol: 1e-4}") < 3.0);
  assert_true(accumulated(SPRINGS, "t_end=60;connections.link.damping=0;cosimulation.step={rtol: 1e-4}") < 4.0 * 1e-4);
  assert_true(accumulated(SPRINGS, "t_end=60;connections.link.damping=0;cosimulation.step={rtol: 1e-4, budget: 1}") <
              2.0 * 1e-4);
}

/* Over 2 s they add up to less than half of the budget of who names an estimator. */
static void who_names_an_estimator_controls_single_steps(void **state) {
  (void)state;
  assert_true(end_of(SPRINGS, "cosimulation.step={rtol: 1e-4, estimator: md}", "a.x", false) ==
              end_of(SPRINGS, "cosimulation.step={rtol: 1e-4, budget: 0}", "a.x", false));
}

static void f9_who_names_an_estimator_has_a_guard_of_ten_tolerances(void **state) {
  (void)state;
  const double named = error_over("{rtol: 1e-4, estimator: md}");
  assert_true(named < 10.0);
  assert_true(named > error_over("{rtol: 1e-4}"));
}

static void a_subsystem_that_cannot_go_back_is_left_out_and_named(void **state) {
  const yoke_system_options options = {.exec = "serial", .forward = "left"};
  cosim                     c;
  double                    errors[2];
  (void)state;
  cosim_load(&c, SPRINGS, "cosimulation.scheme=explicit");
  assert_int_equal(cosim_start(&c, false, &options), YOKE_OK);
  assert_int_equal(cosim_run(&c, 0.0, NULL, NULL), YOKE_OK);
  const yoke_monitor_facts facts = yoke_monitor_facts_get(yoke_system_monitor(c.system));
  yoke_error_tally_subsystems(yoke_monitor_tally(yoke_system_monitor(c.system)), 2, errors);
  assert_string_equal(facts.blind, "left");
  assert_true(errors[0] == 0.0 && errors[1] > 0.0);
  cosim_close(&c);
}

/* Two masses that meet for a few steps only: before, there is no force, and nothing to estimate. */
static void a_short_contact_is_seen(void **state) {
  static const char contact[] =
      "yoke: 1\nt_end: 0.3\nbodies: {a: {kind: mass1d, mass: 0.4, v: 1.7}, b: {kind: mass1d, mass: 0.9, x: 0.05}}\n"
      "connections:\n"
      "  hold: {kind: spring-damper, between: [ground, b], stiffness: 8, free_length: 0.05}\n"
      "  touch: {kind: spring-damper, between: [a, b], free_length: 0, law: \"13400*min(0, x)\"}\n"
      "split: {p: [a], q: [b]}\ncosimulation: {scheme: explicit, order: 0, step: 0.003}\n";
  (void)state;
  assert_true(accumulated(contact, "cosimulation.sequence=gauss-seidel") > 0.05);
  assert_true(accumulated(contact, "cosimulation.sequence=jacobi") > 0.05);
}

/* Multipliers at the end of a step are those behind a jump of a load: no polynomial leads there. */
static void the_step_before_a_jump_of_a_load_is_not_judged_by_what_comes_behind(void **state) {
  static const char pull[] = "loads: {pull: {kind: expression, on: lower, force: [0, \"30*step(t - 0.3)\"]}}\n";
  static const char tie[] =
      "connections.tie={kind: spring-damper, between: [upper.tip, lower.tip], stiffness: 1, free_length: 1}";
  char   model[COSIM_TEXT], sets[COSIM_TEXT];
  cosim  c;
  double errors[2];
  (void)state;
  snprintf(model, sizeof model, "%s%s", PENDULUM, pull);
  for (int is_tied = 0; is_tied < 2; ++is_tied) { /* a spring beside the joint shows the same motion */
    snprintf(sets, sizeof sets, "cosimulation.step=0.01;cosimulation.scheme=implicit%s%s", is_tied ? ";" : "",
             is_tied ? tie : "");
    assert_int_equal(cosim_open(&c, model, sets), YOKE_OK);
    assert_int_equal(cosim_run(&c, 0.0, NULL, NULL), YOKE_OK);
    yoke_error_tally_subsystems(yoke_monitor_tally(yoke_system_monitor(c.system)), 2, errors);
    cosim_close(&c);
    assert_true(fmax(errors[0], errors[1]) < 1e-4); /* 0.016 with the multipliers behind the jump */
  }
}

/* A mass that meets another and leaves it again: the force has a kink at both ends of the contact, inside of steps. */
#define HAMMER                                                                                                         \
  "yoke: 1\n"                                                                                                          \
  "t_end: 0.16\n"                                                                                                      \
  "bodies: {a: {kind: mass1d, mass: 0.5, v: 1}, b: {kind: mass1d, mass: 2, x: 0.05}}\n"                                \
  "connections:\n"                                                                                                     \
  "  back: {kind: spring-damper, between: [ground, a], stiffness: 30}\n"                                               \
  "  gap: {kind: spring-damper, between: [a, b], law: \"1e4*min(0, x)\"}\n"                                            \
  "split: {left: [a], right: [b]}\n"                                                                                   \
  "cosimulation: {scheme: implicit, order: 3, step: 1e-3}\n"                                                           \
  "solvers: {default: {kind: dopri5, rtol: 1e-10}}\n"

/* Of a.x at the end, in units of its spread. */
static double error_of_hammer(const char *sets) {
  return fabs(end_of(HAMMER, sets, "a.x", false) - end_of(HAMMER, "", "a.x", true)) / 0.053;
}

static void f9_a_contact_that_opens_inside_a_step_counts_in_full(void **state) {
  const double estimated = accumulated(HAMMER, ""), error = error_of_hammer("");
  (void)state;
  if (!(estimated > error && estimated < 5.0 * error)) fail_msg("estimated %g, true %g", estimated, error);
}

static void f9_step_control_shortens_the_steps_in_which_a_contact_opens(void **state) {
  static const char *const tolerances[] = {"3e-4", "1e-4", "3e-5", "1e-5"};
  (void)state;
  for (size_t i = 0; i < sizeof tolerances / sizeof *tolerances; ++i) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets,
             "cosimulation={scheme: semi-implicit, order: {min: 0, max: 5}, step: {rtol: %s, estimator: md}}",
             tolerances[i]);
    const double ratio = error_of_hammer(sets) / strtod(tolerances[i], NULL);
    if (ratio > 3.0) fail_msg("the error is %g times the tolerance %s", ratio, tolerances[i]);
  }
}

/* A mass on a spring that hits a wall again and again. Steps behind an impact are short, and the differences of the force over them larger than those
 * of the next impact over long ones: by the past alone its kink is no break. What degree k misses is what the degrees below miss, which it is
 * seen by. */
static void f9_a_second_impact_counts_in_full(void **state) {
  static const char wall[] =
      "yoke: 1\nt_end: 0.3\n"
      "bodies: {a: {kind: mass1d, mass: 1.74, x: -0.116, v: 1.28}, b: {kind: mass1d, mass: "
      "0.673, x: -0.165, v: 1.43}}\n"
      "connections:\n"
      "  back: {kind: spring-damper, between: [ground, a], stiffness: 2385.6, damping: 38.66}\n"
      "  link: {kind: spring-damper, between: [a, b], stiffness: 775.32, damping: 0.388, damping_power: 0.107}\n"
      "loads: {wall: {kind: contact, on: b, force: -1, slope: 853}}\n"
      "split: {left: [a], right: [b]}\ncosimulation: {step: {rtol: 1e-4, budget: 3}}\n";
  (void)state;
  const double error = fabs(end_of(wall, "", "b.x", false) - end_of(wall, "", "b.x", true)) / 0.17;
  if (error > 1e-4) fail_msg("the error is %g", error); /* 1.3e-4 by the past alone */
}

/* Six steps of 0.9 periods: no polynomial through such values tells anything, and all of what the correction did counts. */
static void f9_steps_that_do_not_resolve_a_mode_are_not_said_to_be_right(void **state) {
  static const char chain[] =
      "yoke: 1\nt_end: 0.0098\n"
      "bodies: {c: {kind: chain, n: 17, mass: 0.25, stiffness: 632000, damping: 7.97, x: {random: [-0.1, 0.1], seed: "
      "96}, "
      "v: {random: [-1, 1], seed: 56}, free: right}}\n"
      "split: {c: 2}\ncosimulation: {scheme: implicit, order: 2, step: 0.00174, couplings: {extension: d}}\n";
  (void)state;
  const double said = accumulated(chain, "cosimulation.jacobian=broyden");
  if (said < 0.02) fail_msg("said to be off by %g", said); /* by 0.7 */
}

/* Behind a contact the degree is 0 and the budget asks for shorter steps: a higher degree is what helps. */
static void f9_the_budget_does_not_keep_the_degree_low(void **state) {
  cosim c;
  (void)state;
  assert_int_equal(cosim_open(&c, HAMMER, "cosimulation={step: {rtol: 1e-4}}"), YOKE_OK);
  assert_int_equal(cosim_run(&c, 0.0, NULL, NULL), YOKE_OK);
  const int64_t steps = yoke_monitor_facts_get(yoke_system_monitor(c.system)).steps;
  if (steps > 150) fail_msg("%lld macro steps", (long long)steps); /* 3100 with degree 0 */
  cosim_close(&c);
}

static void what_rests_has_no_error(void **state) {
  (void)state;
  assert_true(accumulated(SPRINGS, "bodies.a.x=0;bodies.b.x=0.7;cosimulation.scheme=explicit") < 1e-6);
}

/* Two discs on one shaft at 300 rad/s, which no point of the axis, no velocity and no rate of which changes: rounding errors were measured by rounding
 * errors. And three bodies in a row that turn as one: their rates do not change. */
static void what_turns_evenly_has_no_error(void **state) {
  static const char discs[] =
      "yoke: 1\n"
      "t_end: 0.2\n"
      "bodies:\n"
      "  a: {kind: rigid, mass: 1, inertia: [0.1, 0.1, 0.2], omega: [0, 0, 300]}\n"
      "  b: {kind: rigid, mass: 2, inertia: [0.2, 0.2, 0.3], position: [0, 0, 0.3], omega: [0, 0, 300], "
      "frames: {l: [0, 0, -0.3]}}\n"
      "connections:\n"
      "  bearing: {kind: revolute, between: [ground, a]}\n"
      "  flange: {kind: fixed, between: [a, b.l]}\n"
      "split: {p: [a], q: [b]}\n";
  static const char row[] =
      "yoke: 1\n"
      "t_end: 0.3\n"
      "bodies:\n"
      "  hub: {kind: rigid, mass: 1e4, inertia: [1e4, 1e4, 1e4], omega: [0, 0, 2], frames: {r: [1, 0, 0]}}\n"
      "  link: {kind: rigid, mass: 1e-3, inertia: [1e-7, 1e-5, 1e-5], position: [1.1, 0, 0], velocity: [0, 2.2, 0], "
      "omega: [0, 0, 2], frames: {l: [-0.1, 0, 0], r: [0.1, 0, 0]}}\n"
      "  ball: {kind: rigid, mass: 100, inertia: [1, 1, 1], position: [1.3, 0, 0], velocity: [0, 2.6, 0], "
      "omega: [0, 0, 2], frames: {l: [-0.1, 0, 0]}}\n"
      "connections:\n"
      "  j: {kind: revolute, between: [hub.r, link.l], axis: [0, 0, 1]}\n"
      "  k: {kind: spherical, between: [link.r, ball.l]}\n"
      "split: {a: [hub], b: [link, ball]}\n";
  (void)state;
  CHECK_BELOW(accumulated(discs, ""), 5e-3);
  CHECK_BELOW(accumulated(row, ""), 1e-3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_changes_no_bit_of_a_run_with_springs),
      cmocka_unit_test(it_changes_no_bit_of_a_run_with_a_joint),
      cmocka_unit_test(it_changes_no_bit_behind_events_and_jumps),
      cmocka_unit_test(its_work_per_coupling_does_not_grow_with_their_number),
      cmocka_unit_test(it_is_free_where_a_scheme_corrects_springs),
      cmocka_unit_test(it_takes_a_twentieth_of_the_right_hand_sides),
      cmocka_unit_test(it_looks_at_the_first_three_steps),
      cmocka_unit_test(accumulated_errors_have_the_size_of_the_true_ones),
      cmocka_unit_test(f9_the_start_of_a_run_is_judged_by_the_steps_behind_it),
      cmocka_unit_test(accumulated_errors_fall_with_the_order_of_the_scheme),
      cmocka_unit_test(f9_the_budget_of_a_run_bounds_what_its_steps_add_up_to),
      cmocka_unit_test(who_names_an_estimator_controls_single_steps),
      cmocka_unit_test(f9_who_names_an_estimator_has_a_guard_of_ten_tolerances),
      cmocka_unit_test(errors_between_the_ends_of_steps_with_joints_count),
      cmocka_unit_test(f33_errors_inside_long_steps_cancel_at_their_ends),
      cmocka_unit_test(f9_the_first_step_of_a_joint_by_projection_counts),
      cmocka_unit_test(f33_a_spring_beside_a_kinematic_joint_adds_nothing_up),
      cmocka_unit_test(a_subsystem_that_cannot_go_back_is_left_out_and_named),
      cmocka_unit_test(a_short_contact_is_seen),
      cmocka_unit_test(the_step_before_a_jump_of_a_load_is_not_judged_by_what_comes_behind),
      cmocka_unit_test(f9_a_contact_that_opens_inside_a_step_counts_in_full),
      cmocka_unit_test(f9_step_control_shortens_the_steps_in_which_a_contact_opens),
      cmocka_unit_test(f9_a_second_impact_counts_in_full),
      cmocka_unit_test(f9_steps_that_do_not_resolve_a_mode_are_not_said_to_be_right),
      cmocka_unit_test(f9_the_budget_does_not_keep_the_degree_low),
      cmocka_unit_test(what_rests_has_no_error),
      cmocka_unit_test(what_turns_evenly_has_no_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
