/* Split models as a user meets them: run, compare, split, results. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "program.h"
#include <yoke/yoke.h>
#include <math.h>

#define MODEL "examples/two-mass.yaml"

/* Values that --print wrote, in order. */
static void printed(const fixture *f, int n, double *values) {
  const char *line = f->out;
  for (int i = 0; i < n; ++i) {
    const char *space = strchr(line, ' ');
    assert_non_null(space);
    values[i] = strtod(space, NULL);
    line      = strchr(space, '\n') + 1;
  }
}

static void assert_relative(const double *values, const double *expected, int n, double tolerance) {
  for (int i = 0; i < n; ++i) {
    if (fabs(values[i] - expected[i]) <= tolerance * fabs(expected[i])) continue;
    print_error("value %d is %.10g, expected %.10g\n", i, values[i], expected[i]);
    fail();
  }
}

/* ---- run ---- */

/* Lu 6.1: end values x1, v1, x2, v2 of the semi-implicit scheme at H = 1e-3. */
static void split_run_of_two_masses_gives_the_published_end_values(void **state) {
  static const struct {
    const char *decomposition;
    int         order;
    double      expected[4];
  } cases[] = {
      {"force/force", 0, {1.6682857e-02, -7.4933774e+00, 3.6087716e-02, -1.0330753e+01}},
      {"force/force", 1, {1.5318511e-02, -7.4506006e+00, 3.4469149e-02, -1.0355859e+01}},
      {"force/force", 2, {1.5326595e-02, -7.4501586e+00, 3.4463344e-02, -1.0355472e+01}},
      {"force/displacement", 1, {1.5263905e-02, -7.4495840e+00, 3.4394391e-02, -1.0354346e+01}},
      {"displacement/displacement", 2, {1.5327216e-02, -7.4501429e+00, 3.4463987e-02, -1.0355434e+01}},
  };
  fixture *f = *state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char   call[300];
    double values[4];
    snprintf(call, sizeof call, "run " MODEL " -q --print m1.x,m1.v,m2.x,m2.v --order %d --decomposition %s",
             cases[i].order, cases[i].decomposition);
    assert_int_equal(yoke(f, call), 0);
    printed(f, 4, values);
    assert_relative(values, cases[i].expected, 4, 1e-6);
  }
}

static void monolithic_run_ignores_the_split_and_is_exact(void **state) {
  static const double exact[4] = {0.01532682, -7.45016759, 0.03446351, -10.35546008};
  fixture            *f        = *state;
  double              values[4];
  assert_int_equal(yoke(f, "run " MODEL " -q --monolithic --print m1.x,m1.v,m2.x,m2.v"), 0);
  printed(f, 4, values);
  assert_relative(values, exact, 4, 1e-6);
}

static void a_split_that_does_not_fit_is_a_warning_of_a_monolithic_run_alone(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run " MODEL " -q --t-end 0.05 --monolithic -o @/whole.csv"), 0);
  assert_int_equal(yoke(f, "run " MODEL " -q --t-end 0.05 --monolithic --set 'split={a: [m1]}' -o @/unfit.csv"), 0);
  assert_says(f->err, "found body 'm2' in no subsystem");
  assert_says(f->err, "the split does not fit");
  assert_int_equal(yoke(f, "compare @/whole.csv @/unfit.csv --exact"), 0);
  assert_int_equal(yoke(f, "check " MODEL " --monolithic --set 'split={a: [m1]}'"), 0);
  assert_int_equal(yoke(f, "check " MODEL " --set 'split={a: [m1]}'"), 3);
  assert_int_equal(yoke(f, "run " MODEL " -q --set 'split={a: [m1]}'"), 3);
  assert_int_equal(yoke(f, "compare " MODEL " --set 'split={a: [m1]}'"), 3);
  assert_says(f->err, "found body 'm2' in no subsystem");
}

static void options_of_the_cosimulation_override_keys_like_set_does(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run " MODEL " -q --t-end 0.05 --scheme explicit --sequence gauss-seidel --order 2 "
                           "--step 5e-4 --start ramp-low --decomposition force/displacement --csv @/a.csv"),
                   0);
  assert_int_equal(
      yoke(f,
           "run " MODEL " -q --t-end 0.05 --set cosimulation.scheme=explicit --set "
           "cosimulation.sequence=gauss-seidel --set cosimulation.order=2 --set cosimulation.step=5e-4 --set "
           "cosimulation.start=ramp-low --set cosimulation.couplings.decomposition=force/displacement --csv @/b.csv"),
      0);
  assert_int_equal(yoke(f, "compare @/a.csv @/b.csv --exact"), 0);
  assert_int_equal(yoke(f, "run " MODEL " -q --t-end 0.05 --scheme implicit --extension d --formulation constitutive "
                           "--jacobian analytic --predictor least-squares"),
                   0);
}

static void threads_and_exec_do_not_change_a_bit(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run " MODEL " -q --t-end 0.05 --csv @/a.csv --threads 1"), 0);
  assert_int_equal(yoke(f, "run " MODEL " -q --t-end 0.05 --csv @/b.csv --threads 2 --exec eager"), 0);
  assert_int_equal(yoke(f, "compare @/a.csv @/b.csv --exact"), 0);
  assert_int_equal(yoke(f, "run " MODEL " -q --t-end 0.05 --csv @/c.csv --exec shuffled"), 0);
  assert_int_equal(yoke(f, "compare @/a.csv @/c.csv --exact"), 0);
  assert_int_equal(yoke(f, "run " MODEL " -q --t-end 0.05 --csv @/d.csv --check"), 0);
  assert_int_equal(yoke(f, "compare @/a.csv @/d.csv --exact"), 0);
}

static void summary_and_json_tell_the_macro_steps(void **state) {
  static const char *const parts[] = {"\"split\": true",
                                      "\"subsystems\": 2",
                                      "\"couplings\": 1",
                                      "\"scheme\": \"implicit\"",
                                      "\"order\": 1",
                                      "\"step\": 0.001",
                                      "\"iterations\": ",
                                      "\"macro_steps\": 50,",
                                      "\"rejected_macro_steps\"",
                                      "\"residual\": ",
                                      "\"integrations\": ",
                                      "\"matrices\": 1,",
                                      "\"kept_matrices\": 49,",
                                      "\"rate\": "};
  fixture                 *f       = *state;
  assert_int_equal(yoke(f, "run " MODEL " --t-end 0.05"), 0);
  assert_says(f->out, "2 subsystems, 1 coupling");
  assert_says(f->out, "semi-implicit, jacobi, order 1, macro step 0.001 s");
  assert_says(f->out, "50, 0 rejected, 1 corrector passes per step");
  assert_says(f->out, "corrector    50 matrices made, 0 steps begun with an earlier one\n");
  assert_int_equal(yoke(f, "run " MODEL " --t-end 0.05 --json --scheme implicit"), 0);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) assert_says(f->out, parts[i]);
}

static void residuals_are_told_by_kind_with_unit_and_verdict(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run examples/double-pendulum.yaml --t-end 0.05 --step 1e-3"), 0);
  assert_says(f->out, "residuals    position ");
  assert_says(f->out, " m (held), velocity ");
  assert_says(f->out, " m/s (held), acceleration ");
  assert_says(f->out, "0 steps not converged");
  assert_int_equal(yoke(f, "run " MODEL " --t-end 0.05 --scheme explicit --order 0 --json"), 0);
  assert_says(f->out, "\"residuals\": {\n    \"force\": {");
  assert_says(f->out, "\"unit\": \"N\"");
  assert_says(f->out, "\"verdict\": \"large\"");
}

static void steps_that_do_not_hold_their_conditions_are_warned_of(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run examples/double-pendulum.yaml --t-end 1 --step 0.05 --set cosimulation.corrections=1 "
                           "--set 'cosimulation.joint_tolerance=1 m'"),
                   0);
  assert_says(f->err, "of 20 macro steps were accepted although the conditions of their couplings do not hold");
}

static void step_control_tells_what_it_chose_and_why_steps_are_short(void **state) {
  static const char *const lines[]   = {"chosen       estimator cv", "step sizes   ", "degrees      ",
                                        "rejected     error ", "shortened    error "};
  static const char *const members[] = {"\"control\": \"estimator cv",
                                        "\"smallest_step\": ",
                                        "\"mean_step\": ",
                                        "\"largest_step\": ",
                                        "\"largest_error\": ",
                                        "\"rejected_by\": {",
                                        "\"non-finite\": ",
                                        "\"reduced_by\": {",
                                        "\"switch\": 0",
                                        "\"degrees\": [",
                                        "\"forced_steps\": 0"};
  fixture                 *f         = *state;
  assert_int_equal(
      yoke(f, "run examples/bouncing-contact.yaml --t-end 0.3 --step auto --estimator cv --order auto --csv @/a.csv"),
      0);
  for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i) assert_says(f->out, lines[i]);
#ifdef YOKE_WITH_HDF5
  assert_int_equal(
      yoke(f, "run examples/bouncing-contact.yaml --t-end 0.3 --step auto --estimator cv --order auto -o @/a.h5"), 0);
  assert_int_equal(yoke(f, "info @/a.h5"), 0);
  assert_says(f->out, "chosen         estimator cv");
  assert_says(f->out, "rejected       error ");
  assert_int_equal(yoke(f, "info @/a.h5 --json"), 0);
  for (size_t i = 0; i < sizeof members / sizeof *members; ++i) assert_says(f->out, members[i]);
#endif
  assert_int_equal(
      yoke(f, "run examples/bouncing-contact.yaml --t-end 0.3 --step auto --estimator cv --order auto --json"), 0);
  for (size_t i = 0; i < sizeof members / sizeof *members; ++i) assert_says(f->out, members[i]);
}

#ifdef YOKE_WITH_HDF5
static void energies_that_info_tells_of_a_result_are_those_of_the_run(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run examples/two-mass.yaml --energy monitor --t-end 0.05 -o @/a.h5 --json"), 0);
  const char *begin = strstr(f->out, "\"subsystem_energies\": {"), *end = strstr(f->out, "\"corrected\": ");
  assert_non_null(begin);
  assert_non_null(end);
  char *told = strndup(begin, (size_t)(end - begin));
  assert_non_null(told);
  assert_int_equal(yoke(f, "info @/a.h5 --json"), 0);
  assert_says(f->out, told);
  free(told);
  assert_int_equal(yoke(f, "info @/a.h5"), 0);
  assert_says(f->out, "energies       a  stored ");
  assert_says(f->out, "               coupling  stored ");
  assert_int_equal(yoke(f, "run examples/two-mass.yaml --energy off --t-end 0.05 -o @/b.h5"), 0);
  assert_int_equal(yoke(f, "info @/b.h5"), 0);
  assert_null(strstr(f->out, "energies"));
}
#endif

static void diverging_run_exits_with_5_and_names_the_coupling_the_time_and_a_remedy(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run " MODEL " --scheme explicit --set parameters.cc=1e5 --step 5e-3 --csv @/a.csv"), 5);
  assert_says(f->err, "'coupling'");
  assert_says(f->err, "t = ");
  assert_says(f->err, "semi-implicit");
  assert_string_equal(f->out, "");
  assert_int_equal(yoke(f, "run examples/chain-m1.yaml --scheme explicit --step 2e-2 --t-end 10 --json"), 5);
  assert_says(f->err, "'c.cut[1]'");
  assert_says(f->out, "\"exit_code\": 5");
  assert_int_equal(yoke(f, "compare " MODEL " --scheme explicit --set parameters.cc=1e5 --step 5e-3"), 5);
}

static void step_that_does_not_converge_exits_with_4(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run " MODEL " --scheme implicit --set cosimulation.corrector.max_iterations=1"), 4);
  assert_says(f->err, "did not converge");
}

static void combination_that_makes_no_sense_is_refused_before_the_run(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run " MODEL " --sequence gauss-seidel --csv @/a.csv"), 3);
  assert_says(f->err, "one after another");
}

static void unknown_words_exit_with_2_and_the_nearest_word(void **state) {
  static const struct {
    const char *options, *says;
  } cases[] = {
      {"--scheme explici", "'explicit'"},
      {"--formulation constitutiv", "'constitutive'"},
      {"--sequence jacoby", "'jacobi'"},
      {"--order 7", "'7'"},
      {"--start rampe", "'ramp'"},
      {"--decomposition force/forze", "'force/force'"},
      {"--extension x", "none, d, i"},
      {"--jacobian broiden", "'broyden'"},
      {"--predictor exrapolation", "'extrapol"},
      {"--exec treads", "'threads'"},
  };
  fixture *f = *state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char call[200];
    snprintf(call, sizeof call, "run " MODEL " %s", cases[i].options);
    assert_int_equal(yoke(f, call), 2);
    assert_says(f->err, cases[i].says);
  }
}

static void options_without_a_split_are_warned_of(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run examples/pendulum.yaml -q --t-end 0.01 --scheme explicit"), 0);
  assert_says(f->err, "no split");
}

static void trace_writes_one_line_per_call(void **state) {
  fixture *f = *state;
  char     path[128];
  assert_int_equal(yoke(f, "run " MODEL " -q --t-end 2e-3 --trace"), 0);
  assert_says(f->err, "step a t = 0, H = 0.001, status = YOKE_OK\n");
  assert_says(f->err, "accept b");
  assert_says(f->err, "begin-step t = 0\n");
  assert_says(f->err, "end-step t = 0.001, H = 0.001, order = 1, passes = 1, status = YOKE_OK\n");
  assert_int_equal(yoke(f, "run " MODEL " -q --t-end 2e-3 --trace=@/trace"), 0);
  assert_string_equal(f->err, "");
  char *text = read_text(in_folder(f, "trace", path));
  assert_says(text, "step b t = 0.001, H = 0.001");
  free(text);
  assert_int_equal(yoke(f, "run " MODEL " -q --t-end 2e-3 --trace @/again"), 0);
  assert_int_equal(access(in_folder(f, "again", path), R_OK), 0);
  assert_int_equal(yoke(f, "run " MODEL " -q --t-end 2e-3 --trace=@/none/trace"), 7);
}

/* ---- compare, info, help ---- */

static void compare_of_a_model_judges_its_cosimulation_by_its_monolithic_run(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "compare " MODEL " --tol 1e-3"), 0);
  assert_says(f->out, "co-simulation: semi-implicit");
  assert_says(f->out, "3.0043e-04"); /* Lu 6.1: max |x1 - ref|, force/force k = 1 */
  assert_int_equal(yoke(f, "compare " MODEL " --tol 1e-5"), 1);
  assert_says(f->out, "different");
  assert_int_equal(yoke(f, "compare " MODEL " --tol 1e-5 --order 2"), 0);
  assert_int_equal(yoke(f, "compare " MODEL " --tol 1e-3 --json --set output.every=0"), 0);
  assert_says(f->out, "\"is_interpolated\": false");
  assert_int_equal(yoke(f, "compare examples/pendulum.yaml"), 2);
  assert_says(f->err, "no split");
}

/* Output times k 1e-3 and macro points 10 k 1e-4 differ by rounding. */
static void outputs_at_macro_points_do_not_depend_on_rounding_of_their_times(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "compare " MODEL " --step 1e-4 --tol 1e-5"), 0);
}

static void info_lists_subsystems_and_couplings(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "info " MODEL), 0);
  assert_says(f->out, "coupling  spring-damper, a to b, constitutive force/force, 1 channel: force x");
  assert_int_equal(yoke(f, "info " MODEL " --json"), 0);
  assert_says(f->out, "\"side1\": \"a\"");
  assert_int_equal(yoke(f, "info " MODEL " --monolithic"), 0);
  assert_null(strstr(f->out, "force/force"));
}

static void help_lists_every_scheme_and_formulation(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "help schemes"), 0);
  for (int i = 0; i < yoke_n_schemes(); ++i) assert_says(f->out, yoke_scheme_name(i));
  assert_int_equal(yoke(f, "help formulations"), 0);
  for (int i = 0; i < yoke_n_formulations(); ++i) {
    assert_says(f->out, yoke_formulation_name(i));
    assert_says(f->out, yoke_formulation_summary(i));
  }
}

static void help_and_options_come_from_the_table_of_settings(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "help settings"), 0);
  char *all = strdup(f->out);
  assert_int_equal(yoke(f, "help run"), 0);
  for (int i = 0; i < yoke_n_settings(); ++i) {
    yoke_setting_facts facts = {.size = sizeof facts};
    char               option[200];
    (void)yoke_setting_describe(i, &facts);
    assert_says(all, facts.path);
    if (facts.option == NULL) continue;
    snprintf(option, sizeof option, "--%s %s", facts.option, facts.value);
    assert_says(f->out, option);
    snprintf(option, sizeof option, "(key %s)", facts.path);
    assert_says(f->out, option);
  }
  free(all);
  assert_int_equal(yoke(f, "help settings baumgarte"), 0);
  assert_says(f->out, "cosimulation.couplings.gamma\n");
  assert_null(strstr(f->out, "couplings.nodes"));
  assert_int_equal(yoke(f, "help settings bdf"), 0);
  assert_says(f->out, "solvers.default.max_order\n");
  assert_null(strstr(f->out, "rho_inf"));
  assert_int_equal(yoke(f, "help settings --order"), 0);
  assert_says(f->out, "cosimulation.order  --order K\n");
  assert_int_equal(yoke(f, "help settings bta"), 2);
  assert_says(f->err, "did you mean 'beta'?");
}

/* `beta` is read by one of the methods, `nodes` by none. */
static void converge_tells_of_keys_that_no_method_reads(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "converge examples/two-mass-rigid.yaml --steps 0.001 --no-local --t-end 0.02 --order 0 "
                           "--formulation baumgarte,weighted --set cosimulation.couplings.beta=0.002 "
                           "--set cosimulation.couplings.nodes=[0.3,0.4]"),
                   0);
  assert_says(f->err, "'cosimulation.couplings.nodes' has no effect in any of the runs");
  assert_null(strstr(f->err, "beta"));
}

#define RODS "--set parameters.N=4 --set cosimulation.lockstep=true "
static void info_tells_of_lockstep_and_a_run_without_a_split_that_it_is_idle(void **state) {
  fixture *f = *state;
  assert_int_equal(
      yoke(f, "info examples/pendulum-chain.yaml " RODS "--set 'split={a: [\"rod[1..2]\"], b: [\"rod[3..4]\"]}'"), 0);
  assert_says(f->out, "lockstep, one solver, step control: that of the solver\n");
  assert_says(f->out, "exact forces at every evaluation\n");
  assert_int_equal(yoke(f, "check examples/pendulum-chain.yaml " RODS), 0);
  assert_says(f->err, "'cosimulation.lockstep' has no effect");
}

static void every_formulation_has_a_page_with_equations_order_stability_cost_and_use(void **state) {
  static const char *const sections[] = {"## Equations\n", "## Order\n", "## Stability\n", "## Cost\n",
                                         "## When to use"};
  (void)state;
  for (int i = 0; i < yoke_n_formulations(); ++i) {
    char path[200];
    snprintf(path, sizeof path, "docs/methods/%s.md", yoke_formulation_name(i));
    char *page = read_text(path);
    for (size_t k = 0; k < sizeof sections / sizeof *sections; ++k) assert_says(page, sections[k]);
    free(page);
  }
}

static void info_tells_the_settings_that_a_run_would_read(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "info examples/double-pendulum.yaml --set cosimulation.step=auto"), 0);
  assert_says(f->out, "step: {rtol: 0.0001, estimator: md, initial: ");
  assert_says(f->out, "\"knee\": {formulation: stabilized-index-2, decomposition: force/force");
  assert_int_equal(yoke(f, "info examples/double-pendulum.yaml --monolithic --json"), 0);
  assert_says(f->out, "\"settings\": \"t_start: 0\\n");
}

#ifdef YOKE_WITH_HDF5
static void result_holds_the_numbers_of_the_formulation(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run examples/two-mass-rigid.yaml -q --t-end 0.01 --formulation weighted -o @/a.h5 "
                           "--set cosimulation.couplings.a=2 --set cosimulation.couplings.index=1"),
                   0);
  assert_int_equal(yoke(f, "info @/a.h5"), 0);
  assert_says(
      f->out,
      "{formulation: weighted, decomposition: force/force, extension: none, feedthrough: false, index: 1, a: 2, b: 1}");
}

static void result_of_a_split_run_repeats_it_and_compares_with_a_monolithic_one(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run " MODEL " -q --t-end 0.05 --order 2 -o @/a.h5 --csv @/a.csv"), 0);
  assert_int_equal(yoke(f, "compare @/a.h5 @/a.csv --exact"), 0);
  assert_int_equal(yoke(f, "info @/a.h5"), 0);
  assert_says(f->out, "50 macro steps, 2 subsystems, 1 coupling channel");
  assert_int_equal(yoke(f, "info @/a.h5 --model >@/again.yaml"), 0);
  assert_int_equal(yoke(f, "run @/again.yaml -q -o @/b.h5"), 0);
  assert_int_equal(yoke(f, "compare @/a.h5 @/b.h5 --exact"), 0);
  assert_int_equal(yoke(f, "run " MODEL " -q --t-end 0.05 --monolithic -o @/m.h5"), 0);
  assert_int_equal(yoke(f, "compare @/a.h5 @/m.h5 --tol 1e-4"), 0);
  assert_int_equal(yoke(f, "compare @/a.h5 @/m.h5 --exact"), 1);
}
#endif

/* ---- split ---- */

/* Six bars in a row: pairs with a rigid hinge, pairs joined by flexible points of which the second is the softest. */
static const char *const row_of_bars =
    "yoke: 1\n"
    "name: row # keep this comment\n"
    "gravity: [0, -9.81]\n"
    "t_end: 0.02\n"
    "bodies:\n"
    "  bar: {count: 6, kind: planar, mass: 1, inertia: 0.1, position: [i - 0.5, 0], frames: {a: [-0.5, 0], b: [0.5, "
    "0]}}\n"
    "connections:\n"
    "  pivot: {kind: revolute, between: [ground, bar[1].a]}\n"
    "  hinge1: {kind: revolute, between: [bar[1].b, bar[2].a]}\n"
    "  soft1: {kind: atpoint, between: [bar[2].b, bar[3].a], stiffness: [2e3, 2e3, 0], damping: [1, 1, 0]}\n"
    "  hinge2: {kind: revolute, between: [bar[3].b, bar[4].a]}\n"
    "  soft2: {kind: atpoint, between: [bar[4].b, bar[5].a], stiffness: [1e3, 1e3, 0], damping: [1, 1, 0]}\n"
    "  hinge3: {kind: revolute, between: [bar[5].b, bar[6].a]}\n"
    "split:\n"
    "  old: [bar[1..3]]\n"
    "\n"
    "  other: [bar[4..6]]\n"
    "# about the coupling\n"
    "cosimulation: {step: 1e-3, order: 1}\n"
    "output: {every: 1e-3, select: ['bar*.y']}\n";

static void write_row(const fixture *f) {
  char path[128];
  write_text(in_folder(f, "row.yaml", path), row_of_bars);
}

#ifdef YOKE_WITH_METIS
static void proposed_split_cuts_no_rigid_joint_and_runs(void **state) {
  fixture *f = *state;
  char     path[128];
  write_row(f);
  assert_int_equal(yoke(f, "run @/row.yaml -q"), 0); /* its own split cuts hinge2: a constraint coupling */
  assert_int_equal(yoke(f, "split @/row.yaml -n 3"), 0);
  assert_string_equal(f->out, "split:\n  part1: [\"bar[1..2]\"]\n  part2: [\"bar[3..4]\"]\n  part3: [\"bar[5..6]\"]\n");
  assert_says(f->err, "soft1 (atpoint)");
  assert_says(f->err, "stiffness 2000");
  assert_null(strstr(f->err, "hinge"));
  assert_int_equal(yoke(f, "split @/row.yaml -n 3 -o @/new.yaml"), 0);
  char *text = read_text(in_folder(f, "new.yaml", path));
  assert_says(text, "# keep this comment");
  assert_says(text, "]\n# about the coupling\n");
  assert_null(strstr(text, "other"));
  free(text);
  assert_int_equal(yoke(f, "compare @/new.yaml --tol 1e-3"), 0);
  assert_int_equal(yoke(f, "split @/row.yaml -n 7"), 2);
  assert_says(f->err, "6 groups");
}

/* Three pairs of bars with rigid hinges: four parts cut one of them, and the run that has no settings is right. */
static void proposed_split_cuts_rigid_joints_where_it_must(void **state) {
  fixture *f = *state;
  write_row(f);
  assert_int_equal(yoke(f, "split @/row.yaml -n 4 -o @/new.yaml --set 'cosimulation={}'"), 0);
  assert_says(f->err, "(atpoint) between part");
  assert_says(f->err, ": rigid, mass ratio 1\n");
  assert_says(f->err,
              "joints   1 rigid joint is cut, since 4 parts need it: coupled by formulation stabilized-index-2");
  assert_says(f->err, "verdict  good for parts that must be apart");
  assert_int_equal(yoke(f, "compare @/new.yaml --tol 1e-3"), 0);
  assert_int_equal(yoke(f, "split examples/n-four-bar.yaml -n 2 -q"), 0);
}

static void proposed_split_cuts_the_softer_element(void **state) {
  fixture *f = *state;
  write_row(f);
  assert_int_equal(yoke(f, "split @/row.yaml -n 2"), 0);
  assert_says(f->err, "soft2");
  assert_null(strstr(f->err, "soft1"));
  assert_int_equal(yoke(f, "split @/row.yaml -n 2 --set 'connections.soft2.stiffness=[4e3, 4e3, 0]'"), 0);
  assert_says(f->err, "soft1");
  assert_null(strstr(f->err, "soft2"));
}
#else
static void split_of_bodies_is_refused_by_a_build_without_metis(void **state) {
  fixture *f = *state;
  write_row(f);
  assert_int_equal(yoke(f, "split @/row.yaml -n 2"), 2);
  assert_says(f->err, "METIS");
}
#endif

static void chain_is_split_in_equal_parts_unless_an_element_nearby_is_better(void **state) {
  fixture *f = *state;
  char     path[128];
  assert_int_equal(yoke(f, "split examples/chain-conv.yaml -n 5"), 0);
  assert_string_equal(f->out, "split: {c: 5}\n");
  write_text(
      in_folder(f, "chain.yaml", path),
      "yoke: 1\nt_end: 0.01\n"
      "bodies:\n  c: {kind: chain, n: 8, mass: 1, stiffness: [1e3, 1e3, 1e3, 1e3, 1e3, 10, 1e3, 1e3, 1e3], x: 0.01*i}\n"
      "cosimulation: {step: 1e-3}\n");
  assert_int_equal(yoke(f, "split @/chain.yaml -n 2 -o @/new.yaml"), 0);
  assert_says(f->err, "c.element[6] (element) between part1 and part2: stiffness 10");
  assert_int_equal(yoke(f, "run @/new.yaml"), 0);
  assert_says(f->out, "2 subsystems, 1 coupling");
  assert_int_equal(yoke(f, "split @/chain.yaml -n 9"), 2);
}

static void large_chain_beside_bodies_gets_parts_of_its_own(void **state) {
  fixture *f = *state;
  char     path[128];
  write_text(in_folder(f, "mixed.yaml", path),
             "yoke: 1\nt_end: 0.01\n"
             "bodies:\n  b: {kind: mass1d, mass: 1, v: 1}\n  c: {kind: chain, n: 60, mass: 1, stiffness: 1e3}\n"
             "connections:\n  s: {kind: spring-damper, between: [b, \"c[1]\"], stiffness: 100, damping: 1}\n"
             "cosimulation: {step: 1e-3}\n");
  assert_int_equal(yoke(f, "split @/mixed.yaml -n 3 -o @/new.yaml"), 0);
  assert_says(f->err, "c.element[31] (element) between part1 and part2");
  assert_says(f->err, "s (spring-damper) between part3 and part1");
  assert_int_equal(yoke(f, "compare @/new.yaml --tol 1e-3"), 0);
}

static void split_refuses_wrong_usage(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "split " MODEL), 2);
  assert_int_equal(yoke(f, "split " MODEL " -n 1"), 2);
  assert_int_equal(yoke(f, "split " MODEL " -n x"), 2);
  assert_int_equal(yoke(f, "split -n 2"), 2);
  assert_int_equal(yoke(f, "split @/none.yaml -n 2"), 7);
}

/* The model is read for both runs, and once more to find their times. */
static void what_a_model_file_is_warned_of_is_said_once(void **state) {
  fixture *f = *state;
  char     path[128];
  write_text(in_folder(f, "m.yaml", path),
             "yoke: 1\nparameters: {step: 1 m}\nt_end: 0.01\nbodies: {a: {kind: mass1d, mass: 1}, b: {kind: mass1d, "
             "mass: 1}}\nconnections: {s: {kind: spring-damper, between: [a, b], stiffness: 100, free_length: 0}}\n"
             "loads: {p: {kind: expression, on: a, force: 5*step}}\nsplit: {l: [a], r: [b]}\n");
  assert_true(yoke(f, "compare @/m.yaml") <= 1);
  const char *first = strstr(f->err, "expected a force");
  assert_non_null(first);
  assert_null(strstr(first + 1, "expected a force"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(split_run_of_two_masses_gives_the_published_end_values),
      TEST(monolithic_run_ignores_the_split_and_is_exact),
      TEST(a_split_that_does_not_fit_is_a_warning_of_a_monolithic_run_alone),
      TEST(options_of_the_cosimulation_override_keys_like_set_does),
      TEST(threads_and_exec_do_not_change_a_bit),
      TEST(summary_and_json_tell_the_macro_steps),
      TEST(residuals_are_told_by_kind_with_unit_and_verdict),
      TEST(steps_that_do_not_hold_their_conditions_are_warned_of),
      TEST(step_control_tells_what_it_chose_and_why_steps_are_short),
#ifdef YOKE_WITH_HDF5
      TEST(energies_that_info_tells_of_a_result_are_those_of_the_run),
#endif
      TEST(diverging_run_exits_with_5_and_names_the_coupling_the_time_and_a_remedy),
      TEST(step_that_does_not_converge_exits_with_4),
      TEST(combination_that_makes_no_sense_is_refused_before_the_run),
      TEST(unknown_words_exit_with_2_and_the_nearest_word),
      TEST(options_without_a_split_are_warned_of),
      TEST(trace_writes_one_line_per_call),
      TEST(compare_of_a_model_judges_its_cosimulation_by_its_monolithic_run),
      TEST(outputs_at_macro_points_do_not_depend_on_rounding_of_their_times),
      TEST(info_lists_subsystems_and_couplings),
      TEST(help_lists_every_scheme_and_formulation),
      TEST(help_and_options_come_from_the_table_of_settings),
      TEST(converge_tells_of_keys_that_no_method_reads),
      TEST(info_tells_of_lockstep_and_a_run_without_a_split_that_it_is_idle),
      TEST(what_a_model_file_is_warned_of_is_said_once),
      TEST(info_tells_the_settings_that_a_run_would_read),
      TEST(every_formulation_has_a_page_with_equations_order_stability_cost_and_use),
#ifdef YOKE_WITH_HDF5
      TEST(result_holds_the_numbers_of_the_formulation),
      TEST(result_of_a_split_run_repeats_it_and_compares_with_a_monolithic_one),
#endif
#ifdef YOKE_WITH_METIS
      TEST(proposed_split_cuts_no_rigid_joint_and_runs),
      TEST(proposed_split_cuts_rigid_joints_where_it_must),
      TEST(proposed_split_cuts_the_softer_element),
#else
      TEST(split_of_bodies_is_refused_by_a_build_without_metis),
#endif
      TEST(chain_is_split_in_equal_parts_unless_an_element_nearby_is_better),
      TEST(large_chain_beside_bodies_gets_parts_of_its_own),
      TEST(split_refuses_wrong_usage),
  };
  return cmocka_run_group_tests_name("cosimulation", tests, NULL, NULL);
}
