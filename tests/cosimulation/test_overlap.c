/* Formulation overlap: order, accuracy and estimate, step control, energies, events, and what it refuses. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "overlapped.h"

#define CHAIN(n, laws, rest)                                                                                           \
  "yoke: 1\nt_end: 1\nbodies:\n  c: {kind: chain, n: " n ", mass: '1 + 0.01*i', stiffness: '100 + i', " laws           \
  "x: 'sin(0.9*i)', v: 'cos(0.4*i)'}\n" rest

static const char linear[]    = CHAIN("40", "", "split: {c: 4}\nsolvers: {default: exact}\n");
static const char nonlinear[] = CHAIN("60", "stiffness_power: 30, damping: 0.3, damping_power: 0.01, ",
                                      "split: {c: 3}\nsolvers: {default: {kind: dopri5, rtol: 1e-10}}\n");

/* ---- accuracy ---- */

static void the_order_without_damping_is_that_of_the_edge_and_two_for_every_body_of_the_halo(void **state) {
  (void)state;
  static const struct { int halo, degree; } cases[] = {{1, 0}, {2, 0}, {2, 1}, {3, 1}, {4, 2}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    double error[2];
    for (int i = 0; i < 2; ++i) {
      char sets[COSIM_TEXT];
      snprintf(sets, sizeof sets,
               OVERLAP "cosimulation.couplings.halo=%d;cosimulation.order=%d;cosimulation.start=exact;"
                       "cosimulation.step=1/%d",
               cases[k].halo, cases[k].degree, 20 << i);
      error[i] = error_of(linear, sets);
    }
    CHECK_ORDER(error, 2, 2.0 * cases[k].halo + cases[k].degree + 1.0, 0.3);
  }
}

static void a_nonlinear_damped_chain_converges_to_the_whole_model_with_both_predictors(void **state) {
  (void)state;
  CHECK_BELOW(error_of(nonlinear, OVERLAP "cosimulation.step=1/20;cosimulation.order=1"), 1e-7);
  CHECK_BELOW(error_of(nonlinear, OVERLAP "cosimulation.step=1/20;cosimulation.order=1;"
                                          "cosimulation.predictor=acceleration"),
              1e-7);
}

static void solvers_of_every_kind_go_on_behind_the_exchange(void **state) {
  (void)state;
  static const char *const solvers[] = {"dop853", "abm", "radau5", "bdf", "auto"};
  for (size_t k = 0; k < sizeof solvers / sizeof *solvers; ++k) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets, OVERLAP "cosimulation.step=1/20;solvers.default.kind=%s;solvers.default.rtol=1e-8",
             solvers[k]);
    CHECK_BELOW(error_of(nonlinear, sets), 1e-4);
  }
}

/* Ten parts of four masses: halos of eight end one mass before the end of the neighbour. */
static void a_halo_ends_within_its_neighbour(void **state) {
  (void)state;
  const double narrow = error_of(linear, OVERLAP "split.c=10;cosimulation.step=1/40;cosimulation.couplings.halo=3"),
               wide   = error_of(linear, OVERLAP "split.c=10;cosimulation.step=1/40;cosimulation.couplings.halo=8");
  CHECK_BELOW(narrow, 1e-6);
  CHECK_NEAR(wide, narrow, 0.0);
}

static void a_cut_may_overlap_beside_one_that_does_not(void **state) {
  (void)state;
  const char *const sets = "cosimulation.scheme=explicit;cosimulation.order=3;cosimulation.start=exact;"
                           "cosimulation.step=1/400;cosimulation.couplings={c.cut[2]: {formulation: overlap}}";
  cosim             c    = cosim_done(linear, sets, 0.0);
  assert_true(c.plan->couplings[1].is_overlap && !c.plan->couplings[0].is_overlap && !c.plan->couplings[2].is_overlap);
  cosim_close(&c);
  CHECK_BELOW(error_of(linear, sets), 1e-5);
}

/* ---- estimate and step control ---- */

static void the_estimated_error_bounds_the_true_one_and_is_not_far_from_it(void **state) {
  (void)state;
  for (int halo = 2; halo <= 6; halo += 2) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets, OVERLAP "cosimulation.couplings.halo=%d;cosimulation.step=1/10", halo);
    cosim                   c = cosim_done(linear, sets, 0.0), whole = cosim_done_monolithic(linear, NULL, 0.0);
    const yoke_error_tally *tally    = yoke_monitor_tally(yoke_system_monitor(c.system));
    double                  estimate = 0.0;
    for (int w = 0; w < 3; ++w) estimate = fmax(estimate, 4.0 * yoke_error_tally_coupling(tally, w)); /* 2 sigma */
    const double error = off(&c, &whole);
    print_message("halo %d: estimated %.3g, true %.3g\n", halo, estimate, error);
    CHECK_BELOW(error, estimate);
    CHECK_BELOW(estimate, 200.0 * error);
    cosim_close(&c);
    cosim_close(&whole);
  }
}

static const char impulses[] = "examples/chain-imp.yaml";
static cosim      run_impulses(const char *sets) {
       char all[COSIM_TEXT];
       snprintf(all, sizeof all, "%s%s",
                "parameters.n=300;split={p: [\"c[1..75]\"], q: [\"c[76..135]\"], r: [\"c[136..300]\"]};t_end=3e-4;"
                     "solvers.default={rtol: 1e-7};",
                sets);
       return cosim_done(impulses, all, 0.0);
}

static void step_control_takes_long_steps_with_errors_below_its_tolerance(void **state) {
  (void)state;
  cosim whole = cosim_done_monolithic(impulses, "parameters.n=300;t_end=3e-4;solvers.default={rtol: 1e-10}", 0.0);
  cosim c     = run_impulses(OVERLAP "cosimulation.step={rtol: 1e-3}"),
        other = run_impulses("cosimulation.predictor=acceleration;cosimulation.step={rtol: 1e-3, estimator: cv}");
  CHECK_BELOW((double)c.summary.macro.steps, (double)other.summary.macro.steps / 3.0);
  CHECK_BELOW(off(&c, &whole), 1e-3 * 1e-1); /* of velocities of 1 m/s */
  cosim_close(&c);
  cosim_close(&other);
  cosim_close(&whole);
}

static void without_a_past_or_a_degree_of_its_own_the_edge_has_degree_1(void **state) {
  (void)state;
  cosim c = run_impulses(OVERLAP "cosimulation.step={rtol: 1e-3}");
  assert_string_equal(c.plan->scheme.scheme, "explicit");
  assert_int_equal(c.plan->step.control.order_min, 1);
  assert_int_equal(c.plan->step.control.order_max, 1);
  cosim_close(&c);
}

static void any_number_of_threads_gives_the_same_bits(void **state) {
  (void)state;
  cosim one;
  cosim_open_with(&one, nonlinear, OVERLAP "cosimulation.step={rtol: 1e-4}", "serial", 1);
  cosim_run(&one, 0.0, NULL, NULL);
  cosim_expect(&one, YOKE_OK);
  for (int threads = 2; threads <= 3; ++threads) {
    cosim c;
    cosim_open_with(&c, nonlinear, OVERLAP "cosimulation.step={rtol: 1e-4}", "threads", threads);
    cosim_run(&c, 0.0, NULL, NULL);
    cosim_expect(&c, YOKE_OK);
    CHECK_NEAR(off(&c, &one), 0.0, 0.0);
    cosim_close(&c);
  }
  cosim_close(&one);
}

/* ---- what belongs to the owner ---- */

static void energies_count_every_mass_and_every_element_once(void **state) {
  (void)state;
  static const char *const names[] = {"total.kinetic", "total.potential", "total.dissipated"};
  const char *const        sets    = "output.select=[\"total.*\"];solvers.default.rtol=1e-9";
  char                     split[COSIM_TEXT];
  snprintf(split, sizeof split, OVERLAP "cosimulation.step=1/50;%s", sets);
  cosim c = cosim_done(nonlinear, split, 0.0), whole = cosim_done_monolithic(nonlinear, sets, 0.0);
  for (int k = 0; k < 3; ++k) {
    const double value = cosim_value(&whole, names[k]);
    CHECK_NEAR(cosim_value(&c, names[k]), value, 1e-7 * fabs(value));
  }
  cosim_close(&c);
  cosim_close(&whole);
}

/* Mass 21 is the first of its part, and a copy of it lies in the halo of the part before. */
static void an_event_that_sets_an_original_sets_its_copies(void **state) {
  (void)state;
  static const char hit[] = CHAIN("60", "damping: 0.3, ",
                                  "split: {c: 3}\nsolvers: {default: {kind: dopri5, rtol: 1e-10}}\n"
                                  "events: {hit: {when: 't - 0.33', set: {'c.v[21]': '-3*c.v[21] + 1'}}}\n");
  CHECK_BELOW(error_of(hit, OVERLAP "cosimulation.step=1/20"), 1e-7);
  CHECK_BELOW(error_of(hit, OVERLAP "cosimulation.step={rtol: 1e-6}"), 1e-5);
}

/* ---- contract and stability ---- */

static yoke_status make_checked(yoke_context *ctx, const void *definition, yoke_subsystem **out) {
  yoke_subsystem *inner = NULL;
  *out                  = NULL;
  YOKE_TRY(yoke_native_part_make(ctx, definition, &inner));
  return yoke_subsystem_check(ctx, inner, out);
}

static void steps_behind_an_exchange_repeat_to_the_bit(void **state) {
  (void)state;
  cosim c, plain = cosim_done(nonlinear, OVERLAP "cosimulation.step=1/20", 0.0);
  cosim_load(&c, nonlinear, OVERLAP "cosimulation.step=1/20");
  assert_int_equal(yoke_plan_create(c.ctx, c.model, NULL, &c.plan), YOKE_OK);
  for (int p = 0; p < c.plan->n_parts; ++p) c.plan->parts[p].make = make_checked;
  assert_int_equal(yoke_system_create(c.ctx, c.plan, NULL, &c.system), YOKE_OK);
  assert_int_equal(yoke_system_run(c.system, 1.0, NULL, &c.summary, c.ctx), YOKE_OK);
  CHECK_NEAR(cosim_value(&c, "c.x[20]"), cosim_value(&plain, "c.x[20]"), 0.0);
  cosim_close(&c);
  cosim_close(&plain);
}

/* A wave crosses two masses of the chain in about 0.2 s. */
static void stability_ends_where_a_wave_crosses_the_halo_in_one_step(void **state) {
  (void)state;
  const char *const models[] = {linear, nonlinear};
  for (int k = 0; k < 2; ++k) {
    const char *const        slow = OVERLAP "cosimulation.couplings.halo=2;cosimulation.order=0;cosimulation.step=0.02",
                      *const fast = OVERLAP "cosimulation.couplings.halo=2;cosimulation.order=0;cosimulation.step=0.8",
                      *const wide = OVERLAP "cosimulation.couplings.halo=8;cosimulation.order=0;cosimulation.step=0.4";
    CHECK_BELOW(stability_of(models[k], slow).rho, 1.0 + 1e-6);
    CHECK_BELOW(stability_of(models[k], wide).rho, 1.0 + 1e-4);
    CHECK_BELOW(2.0, stability_of(models[k], fast).rho);
  }
}

/* ---- refusals ---- */

static void what_cannot_overlap_is_refused_by_name_with_a_remedy(void **state) {
  (void)state;
  expect_refusal(linear, OVERLAP "cosimulation.step=0.1;cosimulation.scheme=implicit",
                 "'c.cut[1]': formulation overlap integrates every step once, scheme is implicit; use scheme explicit");
  expect_refusal(linear, OVERLAP "cosimulation.step=0.1;cosimulation.sequence=gauss-seidel", "use sequence jacobi");
  expect_refusal(linear, OVERLAP "cosimulation.step=0.1;cosimulation.couplings.decomposition=force/displacement",
                 "leave out decomposition, extension and feedthrough");
  expect_refusal(linear, OVERLAP "cosimulation.step=0.1;split={p: [\"c[1..39]\"], q: [\"c[40..40]\"]}",
                 "needs two masses or more on each side, subsystem 'q' has 1");
  expect_refusal("examples/two-mass-rigid.yaml", OVERLAP "cosimulation.scheme=explicit",
                 "formulation 'overlap' is not for rigid joints");
}

/* Mass 12 is the second of its part. */
#define LOADED(force)                                                                                                  \
  CHAIN("40", "",                                                                                                      \
        "loads: {push: {kind: expression, on: 'c[12]', force: '" force "'}}\nsplit: {c: 4}\n"                          \
        "cosimulation: {couplings: {formulation: overlap, halo: 3}, step: 1/50}\n"                                     \
        "solvers: {default: {kind: dop853, rtol: 1e-10}}\n")

static void work_of_a_load_is_counted_once(void **state) {
  (void)state;
  const char *const model = LOADED("100*sin(9*t)"), *const sets = "output.select=[\"total.*\"]";
  cosim        c = cosim_done(model, sets, 0.0), whole = cosim_done_monolithic(model, sets, 0.0);
  const double work = cosim_value(&whole, "total.external");
  assert_true(fabs(work) > 1.0);
  CHECK_NEAR(cosim_value(&c, "total.external"), work, 1e-6 * fabs(work));
  CHECK_BELOW(c.summary.energy_drift, 1e-4);
  cosim_close(&c);
  cosim_close(&whole);
}

static void copies_feel_loads_of_time_and_those_that_read_the_model_are_refused_by_name(void **state) {
  (void)state;
  CHECK_BELOW(error_of(LOADED("100*sin(9*t)"), NULL), 1e-7);
  expect_refusal(LOADED("-10*c.x[12]"), NULL,
                 "load 'push' acts on mass 12 of chain 'c', of which subsystem 'c[1]' holds a copy");
  cosim c = cosim_done(LOADED("-10*c.x[12]"), "cosimulation.couplings.halo=1;t_end=0.1", 0.0);
  cosim_close(&c);
  expect_refusal(CHAIN("40", "",
                       "connections: {tie: {kind: spring-damper, between: [ground, 'c[12]'], stiffness: 10}}\n"
                       "split: {c: 4}\ncosimulation: {couplings: {formulation: overlap}, step: 0.1}\n"),
                 NULL, "connection 'tie' acts on mass 12");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_order_without_damping_is_that_of_the_edge_and_two_for_every_body_of_the_halo),
      cmocka_unit_test(a_nonlinear_damped_chain_converges_to_the_whole_model_with_both_predictors),
      cmocka_unit_test(solvers_of_every_kind_go_on_behind_the_exchange),
      cmocka_unit_test(a_halo_ends_within_its_neighbour),
      cmocka_unit_test(a_cut_may_overlap_beside_one_that_does_not),
      cmocka_unit_test(the_estimated_error_bounds_the_true_one_and_is_not_far_from_it),
      cmocka_unit_test(step_control_takes_long_steps_with_errors_below_its_tolerance),
      cmocka_unit_test(without_a_past_or_a_degree_of_its_own_the_edge_has_degree_1),
      cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
      cmocka_unit_test(energies_count_every_mass_and_every_element_once),
      cmocka_unit_test(an_event_that_sets_an_original_sets_its_copies),
      cmocka_unit_test(steps_behind_an_exchange_repeat_to_the_bit),
      cmocka_unit_test(stability_ends_where_a_wave_crosses_the_halo_in_one_step),
      cmocka_unit_test(what_cannot_overlap_is_refused_by_name_with_a_remedy),
      cmocka_unit_test(work_of_a_load_is_counted_once),
      cmocka_unit_test(copies_feel_loads_of_time_and_those_that_read_the_model_are_refused_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
