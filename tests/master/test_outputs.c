/* Outputs come from their owners: subsystems inside macro steps, couplings as they were applied. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/cosimulate.h"
#include "../subsystem/oscillator.h"

enum { MAX_ROWS = 4000 };

/* Samples of a few outputs. */
typedef struct record {
  const cosim *c;
  int          n_names, n;
  int          place[8];
  double       t[MAX_ROWS], value[8][MAX_ROWS];
} record;

static yoke_status keep(void *user, double t, const double *outputs, const yoke_counters *counters, double h,
                        int order) {
  (void)counters, (void)h, (void)order;
  record *r = user;
  assert_true(r->n < MAX_ROWS);
  r->t[r->n] = t;
  for (int k = 0; k < r->n_names; ++k) r->value[k][r->n] = outputs[r->place[k]];
  ++r->n;
  return YOKE_OK;
}

/* Run `c`, which is open, and keep the outputs with these names, parted by blanks. */
static void run_and_keep(cosim *c, const char *names, record *r) {
  char text[300];
  cosim_expect(c, YOKE_OK);
  *r = (record){.c = c};
  snprintf(text, sizeof text, "%s", names);
  for (char *name = strtok(text, " "); name != NULL; name = strtok(NULL, " ")) {
    int i = 0;
    while (i < c->plan->outputs.n && strcmp(c->plan->outputs.name[i], name) != 0) ++i;
    if (i == c->plan->outputs.n) fail_msg("no output '%s'", name);
    r->place[r->n_names++] = i;
  }
  const yoke_sink sink = {.user = r, .sample = keep};
  c->status            = yoke_system_run(c->system, c->model->t_end, &sink, &c->summary, c->ctx);
  cosim_expect(c, YOKE_OK);
}

static record of_split, of_whole;

/* Largest difference of output k between the two records, relative to its largest value. */
static double difference(int k) {
  double most = 0.0, size = 1e-300;
  assert_int_equal(of_split.n, of_whole.n);
  for (int i = 0; i < of_split.n; ++i) {
    CHECK_NEAR(of_split.t[i], of_whole.t[i], 1e-12);
    most = fmax(most, fabs(of_split.value[k][i] - of_whole.value[k][i]));
    size = fmax(size, fabs(of_whole.value[k][i]));
  }
  return most / size;
}

static void run_both(const char *model, const char *sets, const char *names) {
  cosim c;
  cosim_open(&c, model, sets);
  run_and_keep(&c, names, &of_split);
  cosim_close(&c);
  cosim_open_monolithic(&c, model, sets);
  run_and_keep(&c, names, &of_whole);
  cosim_close(&c);
}

/* ---- F1 ---- */

#define FAST_MODE                                                                                                      \
  "yoke: 1\nt_end: 0.5\nbodies:\n"                                                                                     \
  "  f: {kind: mass1d, mass: 1, x: 0.01}\n  a: {kind: mass1d, mass: 1, x: 0.1}\n  b: {kind: mass1d, mass: 1}\n"        \
  "connections:\n"                                                                                                     \
  "  sf: {kind: spring-damper, between: [ground, f], stiffness: 1e4, free_length: 0}\n"                                \
  "  sa: {kind: spring-damper, between: [ground, a], stiffness: 10, free_length: 0}\n"                                 \
  "  ab: {kind: spring-damper, between: [a, b], stiffness: 10, free_length: 0}\n"                                      \
  "split: {p: [f, a], q: [b]}\noutput: {every: 0.003}\nsolvers: {default: {kind: dop853, rtol: 1e-10}}\n"

static void f1_a_fast_mode_inside_macro_steps_is_shown_to_the_solvers_tolerance(void **state) {
  (void)state;
  run_both(FAST_MODE "cosimulation: {step: {rtol: 1e-5}}\n", NULL, "f.x f.v a.x");
  CHECK_BELOW(difference(0), 1e-7);
  CHECK_BELOW(difference(1), 1e-7);
  CHECK_BELOW(difference(2), 1e-3); /* the coupling's own error */
  run_both(FAST_MODE "cosimulation: {step: 0.05}\n", NULL, "f.x f.v");
  CHECK_BELOW(difference(0), 1e-7);
}

static void f1_nothing_moves_before_a_load_jumps(void **state) {
  (void)state;
  cosim c;
  cosim_open(&c,
             "yoke: 1\nt_end: 0.06\nbodies: {a: {kind: mass1d, mass: 1}, b: {kind: mass1d, mass: 1}}\n"
             "connections: {s: {kind: spring-damper, between: [a, b], stiffness: 100, free_length: 0}}\n"
             "loads: {push: {kind: expression, on: a, force: 10*step(t - 0.0512)}}\n"
             "split: {p: [a], q: [b]}\ncosimulation: {step: 4e-3, order: 2}\noutput: {every: 1e-3}\n",
             NULL);
  run_and_keep(&c, "a.x a.v b.v", &of_split);
  for (int i = 0; i < of_split.n && of_split.t[i] <= 0.0512; ++i) {
    for (int k = 0; k < 3; ++k) CHECK_NEAR(of_split.value[k][i], 0.0, 0.0);
  }
  assert_true(of_split.value[1][of_split.n - 1] > 0.05);
  cosim_close(&c);
}

static void f1_samples_follow_the_tolerance_of_step_control(void **state) {
  (void)state;
  double error[2];
  for (int i = 0; i < 2; ++i) {
    char sets[300];
    snprintf(sets, sizeof sets,
             "cosimulation.scheme=implicit;cosimulation.order=auto;cosimulation.step={rtol: %g};"
             "solvers.default.rtol=1e-11;output.every=0.001",
             i == 0 ? 1e-4 : 1e-7);
    run_both("examples/nonlinear-two-mass.yaml", sets, "m1.v");
    error[i] = difference(0);
  }
  CHECK_BELOW(error[1],
              0.05 * error[0]); /* what the subsystems do inside their steps; it was the same for 1e-4 and 1e-6 */
}

/* ---- F2 ---- */

/* Two masses joined rigidly with a method whose multiplier swings: what is shown is what was applied. */
static void f2_the_force_of_a_coupling_is_the_one_it_applied(void **state) {
  (void)state;
  cosim c;
  cosim_open(&c, "examples/double-pendulum.yaml",
             "t_end=0.05;output.every=0;cosimulation.couplings.formulation=projection");
  for (int k = 0; k < 50; ++k) {
    yoke_step_statistics statistics;
    bool                 stop;
    cosim_expect(&c, YOKE_OK);
    c.status = yoke_system_step(c.system, 0.05, NULL, &statistics, &stop, c.ctx);
    cosim_expect(&c, YOKE_OK);
    for (int row = 0; row < 2; ++row) {
      char name[40];
      snprintf(name, sizeof name, "knee.force[%d]", row + 1);
      CHECK_NEAR(cosim_value(&c, name), yoke_graph_applied(yoke_system_graph(c.system), 0, row), 0.0);
    }
  }
  cosim_close(&c);
}

/* Rigid joints and flexible ones show multipliers, force elements forces: sign and size are those of the model as a whole. */
static void the_force_of_a_coupling_has_the_sign_that_it_has_in_the_whole_model(void **state) {
  (void)state;
  const struct {
    const char *model, *names;
  } couplings[] = {{"examples/two-mass.yaml", "coupling.force[1]"},
                   {"examples/double-pendulum.yaml", "knee.force[1] knee.force[2]"},
                   {"examples/double-pendulum-flexible.yaml", "knee.force[1] knee.force[2]"}};
  for (size_t i = 0; i < sizeof couplings / sizeof couplings[0]; ++i) {
    run_both(couplings[i].model, "t_end=0.1;output.every=0.02;output.select=[\"*\"];cosimulation.step=1e-3",
             couplings[i].names);
    for (int k = 0; k < of_split.n_names; ++k) CHECK_BELOW(difference(k), 0.02);
  }
}

static void f2_the_mean_force_over_a_step_is_shown_where_values_have_inner_nodes(void **state) {
  (void)state;
  cosim  c;
  double mean = 0.0, size = 0.0, ends = 0.0;
  cosim_open(&c, "examples/double-pendulum.yaml",
             "t_end=0.05;cosimulation.order=1;cosimulation.couplings.formulation=stabilized-index-2");
  for (int k = 0; k < 50; ++k) {
    const double         before = cosim_value(&c, "knee.force[1]");
    yoke_step_statistics statistics;
    bool                 stop;
    c.status = yoke_system_step(c.system, 0.05, NULL, &statistics, &stop, c.ctx);
    cosim_expect(&c, YOKE_OK);
    ends = 0.5 * (before + cosim_value(&c, "knee.force[1]"));
    mean = cosim_value(&c, "knee.force_mean[1]");
    size = fmax(size, fabs(mean));
    if (k > 3) CHECK_NEAR(mean, ends, 1e-3 * size);
  }
  double value;
  assert_int_equal(yoke_system_value(c.system, "shoulder.force_mean[1]", &value, c.ctx),
                   YOKE_E_USAGE); /* no coupling */
  cosim_close(&c);
}

static void f2_the_mismatch_of_a_coupling_is_shown_where_a_pattern_asks_for_it(void **state) {
  (void)state;
  cosim c;
  cosim_open(&c, "examples/two-mass.yaml", "t_end=0.01");
  cosim_expect(&c, YOKE_OK);
  for (int i = 0; i < c.plan->outputs.n; ++i) assert_null(strstr(c.plan->outputs.name[i], "mismatch"));
  cosim_close(&c);
  cosim_open(
      &c, "examples/two-mass.yaml",
      "t_end=0.1;output.select=[\"*.mismatch*\", \"*.force*\"];"
      "cosimulation.couplings.decomposition=force/displacement;cosimulation.scheme=explicit;cosimulation.order=0");
  cosim_run(&c, 0.0, NULL, NULL);
  cosim_expect(&c, YOKE_OK);
  char name[100] = "";
  for (int i = 0; i < c.plan->outputs.n; ++i) {
    if (strstr(c.plan->outputs.name[i], "mismatch") != NULL) snprintf(name, sizeof name, "%s", c.plan->outputs.name[i]);
  }
  assert_true(name[0] != '\0');
  assert_true(fabs(cosim_value(&c, name)) > 1e-6); /* copies lag: both sides feel different forces */
  cosim_close(&c);
}

/* ---- energies ---- */

#define DAMPED                                                                                                         \
  "yoke: 1\nt_end: 1\nbodies:\n  a: {kind: mass1d, mass: 1, x: 0.1}\n  b: {kind: mass1d, mass: 2, v: 0.5}\n"           \
  "connections:\n  ga: {kind: spring-damper, between: [ground, a], stiffness: 20, damping: 0.2, free_length: 0}\n"     \
  "  ab: {kind: spring-damper, between: [a, b], stiffness: 30, damping: 0.5, free_length: 0}\n"                        \
  "loads: {push: {kind: expression, on: a, force: sin(3*t)}}\n"                                                        \
  "split: {p: [a], q: [b]}\nsolvers: {default: {kind: dop853, rtol: 1e-11}}\n"                                         \
  "output: {every: 0.013, select: [total.balance, total.dissipated, total.external, total.energy]}\n"

/* Largest drift of the balance of a split run. */
static double drift(const char *model, const char *sets) {
  cosim c;
  cosim_open(&c, model, sets);
  cosim_expect(&c, YOKE_OK);
  if (!c.plan->has_work) fail_msg("nobody asked for work: %s", sets);
  cosim_run(&c, 0.0, NULL, NULL);
  cosim_expect(&c, YOKE_OK);
  assert_true(c.summary.has_energy);
  const double out = c.summary.energy_drift;
  cosim_close(&c);
  return out;
}

/* Falls at least with the first power of H, down to the noise of the solvers. */
static void expect_conserved(const char *model, const char *sets, double H, double noise) {
  char   text[COSIM_TEXT];
  double at[2];
  for (int k = 0; k < 2; ++k) {
    snprintf(text, sizeof text, "%s;cosimulation.step=%.17g", sets, k == 0 ? H : H / 4);
    at[k] = drift(model, text);
  }
  if (!(at[1] <= fmax(0.4 * at[0], noise)))
    fail_msg("%s: drift %g J at H = %g s, %g J at a quarter", sets, at[0], H, at[1]);
}

static void the_balance_of_force_elements_is_conserved_to_the_coupling_error(void **state) {
  (void)state;
  static const char *const decompositions[] = {"force/force", "force/displacement", "displacement/force",
                                               "displacement/displacement"};
  for (int d = 0; d < 4; ++d) {
    char sets[200];
    snprintf(sets, sizeof sets, "cosimulation.order=1;cosimulation.couplings.decomposition=%s", decompositions[d]);
    expect_conserved(DAMPED, sets, 0.02, 1e-9);
  }
}

static void the_balance_of_every_joint_formulation_is_conserved_to_the_coupling_error(void **state) {
  (void)state;
  for (int i = 0; yoke_formulation_at(i) != NULL; ++i) {
    const yoke_formulation_ops *ops = yoke_formulation_at(i);
    char                        sets[400];
    if (!ops->for_joints) continue;
    const bool is_kinematic = ops->extrapolation != NULL;
    snprintf(sets, sizeof sets,
             "t_end=0.1;output.every=0.0037;output.select=[\"total.*\"];cosimulation.order=%d;%s"
             "cosimulation.couplings.formulation=%s;solvers.default.rtol=1e-10",
             is_kinematic ? 1 : 0, is_kinematic ? "cosimulation.scheme=explicit;cosimulation.start=exact;" : "",
             ops->name);
    expect_conserved("examples/double-pendulum.yaml", sets, 4e-3, 1e-8);
  }
}

static void energies_of_a_split_run_are_those_of_the_whole_model(void **state) {
  (void)state;
  run_both(DAMPED "cosimulation: {scheme: implicit, order: 3, step: 1e-3}\n", NULL,
           "total.energy total.dissipated total.external");
  for (int k = 0; k < 3; ++k) CHECK_BELOW(difference(k), 1e-7);
}

/* ---- one path ---- */

static void a_plan_and_its_system_need_the_model_no_more(void **state) {
  (void)state;
  static const struct {
    const char *path;
    bool        is_whole;
  } cases[] = {{"examples/double-pendulum.yaml", true},
               {"examples/double-pendulum.yaml", false},
               {"examples/bouncing-contact.yaml", false},
               {"examples/bouncing-contact.yaml", true}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    double end[2];
    for (int without = 0; without < 2; ++without) {
      const yoke_plan_options planned = {.is_whole = cases[i].is_whole};
      cosim                   c;
      assert_int_equal(cosim_load(&c, cases[i].path, "t_end=0.02"), YOKE_OK);
      assert_int_equal(yoke_plan_create(c.ctx, c.model, &planned, &c.plan), YOKE_OK);
      if (without) yoke_model_destroy(&c.model);
      assert_int_equal(yoke_system_create(c.ctx, c.plan, NULL, &c.system), YOKE_OK);
      assert_int_equal(yoke_system_run(c.system, c.plan->t_end, NULL, &c.summary, c.ctx), YOKE_OK);
      assert_int_equal(yoke_system_value(c.system, c.plan->outputs.name[0], &end[without], c.ctx), YOKE_OK);
      cosim_close(&c);
    }
    assert_memory_equal(&end[0], &end[1], sizeof end[0]);
  }
}

/* ---- foreign parts ---- */

/* A plan of the damped pair whose second part is no native one. */
static void plan_foreign(cosim *c, const char *sets, const osc_def *def) {
  assert_int_equal(cosim_load(c, DAMPED "cosimulation: {scheme: implicit, order: 3, step: 2e-3}\n", sets), YOKE_OK);
  assert_int_equal(yoke_plan_create(c->ctx, c->model, NULL, &c->plan), YOKE_OK);
  yoke_plan_replace_part(c->plan, 1, def, osc_make);
  yoke_model_destroy(&c->model);
}

static osc_def second_mass(unsigned can) {
  return (osc_def){.name = "q", .n = 1, .mass = {2.0}, .v = {0.5}, .n_spare = 2, .n_ports = 1, .h = 1e-3, .can = can};
}

static void a_part_of_a_plan_can_be_replaced_by_a_subsystem_that_is_not_native(void **state) {
  (void)state;
  const osc_def def = second_mass(OSC_ALL & ~OSC_EVENTS);
  cosim         c;
  double        x[2], v, whole;
  plan_foreign(&c, "output.select=[a.x, b.x, total.energy]", &def);
  assert_int_equal(c.plan->outputs.n, 2); /* b.x is gone with its part */
  assert_int_equal(yoke_plan_add_output(c.ctx, c.plan, 1, yoke_output_handle(2), "b.x", "m"), YOKE_OK);
  assert_int_equal(yoke_system_create(c.ctx, c.plan, NULL, &c.system), YOKE_OK);
  assert_int_equal(yoke_system_run(c.system, 1.0, NULL, &c.summary, c.ctx), YOKE_OK);
  assert_int_equal(yoke_system_value(c.system, "a.x", &x[0], c.ctx), YOKE_OK);
  assert_int_equal(yoke_system_value(c.system, "b.x", &x[1], c.ctx), YOKE_OK);
  assert_int_equal(yoke_system_value(c.system, "total.energy", &v, c.ctx), YOKE_OK);
  cosim_close(&c);
  c     = cosim_done_monolithic(DAMPED, "output.select=[\"*\"]", 0.0);
  whole = cosim_value(&c, "a.x");
  CHECK_NEAR(x[0], whole, 1e-7);
  CHECK_NEAR(x[1], cosim_value(&c, "b.x"), 1e-7);
  CHECK_NEAR(v, cosim_value(&c, "total.energy"), 1e-6);
  cosim_close(&c);
}

static void the_past_of_an_exact_start_reaches_the_ports_wherever_their_outputs_are(void **state) {
  (void)state;
  double x[2];
  for (int i = 0; i < 2; ++i) {
    osc_def def = second_mass(OSC_ALL & ~OSC_EVENTS);
    cosim   c;
    def.n_spare = 2 * i;
    plan_foreign(
        &c,
        "cosimulation.start=exact;cosimulation.scheme=explicit;cosimulation.predictor=acceleration;output.select=[a.x]",
        &def);
    assert_int_equal(yoke_system_create(c.ctx, c.plan, NULL, &c.system), YOKE_OK);
    assert_int_equal(yoke_system_run(c.system, 0.02, NULL, &c.summary, c.ctx), YOKE_OK);
    assert_int_equal(yoke_system_value(c.system, "a.x", &x[i], c.ctx), YOKE_OK);
    cosim_close(&c);
  }
  assert_memory_equal(&x[0], &x[1], sizeof x[0]);
}

static void energies_do_not_exist_where_a_subsystem_reports_none_and_asking_says_why(void **state) {
  (void)state;
  const osc_def def = second_mass(OSC_ALL & ~OSC_EVENTS & ~OSC_ENERGY);
  cosim         c;
  plan_foreign(&c, "output.select=[a.x, total.energy]", &def);
  assert_int_equal(yoke_system_create(c.ctx, c.plan, NULL, &c.system), YOKE_E_MODEL);
  const char *said = yoke_context_message(c.ctx, 0);
  assert_non_null(strstr(said, "'total.energy'"));
  assert_non_null(strstr(said, "subsystem 'q'"));
  cosim_close(&c);
  plan_foreign(&c, "output.select=[a.x]", &def);
  assert_int_equal(yoke_system_create(c.ctx, c.plan, NULL, &c.system), YOKE_OK);
  assert_int_equal(yoke_system_run(c.system, 0.1, NULL, &c.summary, c.ctx), YOKE_OK);
  cosim_close(&c);
}

static void work_that_is_switched_off_is_told_so(void **state) {
  (void)state;
  cosim  c;
  double value;
  cosim_open(&c, "examples/two-mass.yaml", "cosimulation.energy=off");
  cosim_expect(&c, YOKE_OK);
  assert_int_equal(yoke_system_value(c.system, "total.balance", &value, c.ctx), YOKE_E_USAGE);
  assert_non_null(
      strstr(yoke_context_message(c.ctx, yoke_context_n_messages(c.ctx) - 1), "use cosimulation.energy monitor"));
  cosim_close(&c);
}

/* The reference of `yoke compare` is the same file as a whole. */
static void what_only_couplings_show_may_be_selected_in_a_model_that_runs_as_a_whole(void **state) {
  (void)state;
  cosim c = cosim_done_monolithic(DAMPED, "output.select=[a.x, \"ab.mismatch*\", \"ab.force_mean[1]\"]", 0.0);
  assert_int_equal(c.plan->outputs.n, 1);
  cosim_close(&c);
  assert_int_equal(cosim_open_monolithic(&c, DAMPED, "output.select=[\"ba.mismatch*\"]"), YOKE_E_MODEL);
  cosim_close(&c);
}

static void work_that_is_asked_for_is_integrated_along_in_a_bare_chain_too(void **state) {
  (void)state;
  cosim c = cosim_done_monolithic("yoke: 1\nt_end: 0.1\nbodies:\n"
                                  "  c: {kind: chain, n: 4, mass: 1, stiffness: 100, damping: 1, x: 0.1*i}\n"
                                  "split: {c: 2}\noutput: {select: [total.balance, total.energy, total.dissipated]}\n",
                                  NULL, 0.0);
  assert_true(cosim_value(&c, "total.dissipated") > 0.0);
  CHECK_NEAR(cosim_value(&c, "total.energy") + cosim_value(&c, "total.dissipated"), cosim_value(&c, "total.balance"),
             1e-12);
  cosim_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(f1_a_fast_mode_inside_macro_steps_is_shown_to_the_solvers_tolerance),
      cmocka_unit_test(f1_nothing_moves_before_a_load_jumps),
      cmocka_unit_test(f1_samples_follow_the_tolerance_of_step_control),
      cmocka_unit_test(f2_the_force_of_a_coupling_is_the_one_it_applied),
      cmocka_unit_test(the_force_of_a_coupling_has_the_sign_that_it_has_in_the_whole_model),
      cmocka_unit_test(f2_the_mean_force_over_a_step_is_shown_where_values_have_inner_nodes),
      cmocka_unit_test(f2_the_mismatch_of_a_coupling_is_shown_where_a_pattern_asks_for_it),
      cmocka_unit_test(the_balance_of_force_elements_is_conserved_to_the_coupling_error),
      cmocka_unit_test(the_balance_of_every_joint_formulation_is_conserved_to_the_coupling_error),
      cmocka_unit_test(energies_of_a_split_run_are_those_of_the_whole_model),
      cmocka_unit_test(a_plan_and_its_system_need_the_model_no_more),
      cmocka_unit_test(a_part_of_a_plan_can_be_replaced_by_a_subsystem_that_is_not_native),
      cmocka_unit_test(work_that_is_switched_off_is_told_so),
      cmocka_unit_test(the_past_of_an_exact_start_reaches_the_ports_wherever_their_outputs_are),
      cmocka_unit_test(energies_do_not_exist_where_a_subsystem_reports_none_and_asking_says_why),
      cmocka_unit_test(what_only_couplings_show_may_be_selected_in_a_model_that_runs_as_a_whole),
      cmocka_unit_test(work_that_is_asked_for_is_integrated_along_in_a_bare_chain_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
