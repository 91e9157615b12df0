/* The energy account: leaks, works and losses of subsystems and couplings. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../cosimulation/cosimulate.h"
#include "energy_run.h"

static const char oscillator[] = "examples/energy-oscillator.yaml";

/* Largest |leak| of the uncorrected oscillator, case 1. */
static double growth(const char *sets) {
  char all[ENERGY_TEXT];
  snprintf(all, sizeof all, "cosimulation.energy=monitor %s", sets);
  return energy_leak(oscillator, all);
}

/* Gonzalez, table 2, with integer clocks. */
static void leak_of_the_oscillator_is_that_of_the_source(void **state) {
  (void)state;
  energy_check("m2 = 1", growth(""), 10232.4, 1e-3);
  energy_check("m2 = 2", growth("parameters.m2=2"), 7568.5, 1e-3);
  energy_check("k2 = 100", growth("parameters.k2=100"), 9983.2, 1e-3);
}

static void held_forces_leak_more_than_extrapolated_ones(void **state) {
  (void)state;
  energy_check("held", growth("cosimulation.slow_values=constant"), 20267.0, 1e-3);
  energy_check("one step each", growth("parameters.n=1"), 10297.0, 1e-3);
}

static void positions_of_the_oscillator_are_those_of_the_source(void **state) {
  (void)state;
  energy_run run = energy_of(oscillator, "cosimulation.energy=monitor", "m1.x m2.x");
  energy_check("m1.x", run.value[0], -4.4485721, 1e-7);
  energy_check("m2.x", run.value[1], -1.2880863, 1e-7);
  energy_release(&run);
}

/* Works stand on both sides, so that the leaks of all add up to the change of the balance. */
static void leaks_add_up_to_the_balance(void **state) {
  static const char *const models[] = {"examples/two-mass.yaml", "examples/double-pendulum.yaml",
                                       "examples/slider-crank.yaml", "examples/double-pendulum-flexible.yaml"};
  (void)state;
  for (int i = 0; i < 4; ++i) {
    energy_run run = energy_of(models[i],
                               "cosimulation.energy=monitor cosimulation.scheme=explicit cosimulation.step=1e-3 "
                               "t_end=0.2 solvers.default=dop853",
                               "total.leak total.balance");
    double     sum = 0.0;
    assert_non_null(run.summary.subsystem_energies);
    assert_true(run.summary.n_subsystems > 1 && run.summary.n_couplings > 0);
    for (int p = 0; p < run.summary.n_subsystems; ++p) sum += run.summary.subsystem_energies[p].leak;
    for (int k = 0; k < run.summary.n_couplings; ++k) sum += run.summary.coupling_energies[k].leak;
    const double size = fabs(run.summary.energy_start) + fabs(run.value[1]) + 1.0, limit = 1e-12 * size;
    if (!(fabs(run.value[0]) > 10.0 * limit)) fail_msg("%s: a leak of %g J is not counted", models[i], run.value[0]);
    assert_true(fabs(sum - run.value[0]) <= limit);
    assert_true(fabs(run.summary.leak - run.value[0]) <= limit);
    assert_true(fabs(run.value[1] - run.summary.energy_start - run.value[0]) <= limit);
    energy_release(&run);
  }
}

/* Exact solvers and small macro steps: nobody leaks, and works are what subsystems gain. */
static void subsystems_gain_what_goes_through_their_ports(void **state) {
  static const char *const models[] = {"examples/two-mass.yaml", "examples/double-pendulum.yaml"};
  static const char *const sets[]   = {
        "cosimulation.couplings.decomposition=force/force", "cosimulation.couplings.decomposition=force/displacement",
        "cosimulation.couplings.decomposition=displacement/displacement", "cosimulation.scheme=semi-implicit"};
  (void)state;
  for (int i = 0; i < 4; ++i) {
    char all[ENERGY_TEXT];
    snprintf(all, sizeof all,
             "cosimulation.energy=monitor cosimulation.scheme=implicit cosimulation.order=2 cosimulation.step=1e-3 "
             "t_end=0.2 "
             "solvers.default=dop853 solvers.default.rtol=1e-12 %s",
             sets[i]);
    energy_run run = energy_of(models[i / 3], all, "");
    assert_int_equal(run.summary.n_subsystems, 2);
    for (int p = 0; p < 2; ++p) {
      const yoke_energy_share *e = &run.summary.subsystem_energies[p];
      if (!(fabs(e->leak) <= 1e-5 * fabs(e->work[0])))
        fail_msg("%s: subsystem '%s' leaks %g J, work %g J", sets[i], e->name, e->leak, e->work[0]);
      assert_true(fabs(e->work[0]) > 0.0);
    }
    energy_release(&run);
  }
}

/* A light mass and held forces: a run that grows without bounds ends, or tells what it does. */
static void run_that_bears_divergence_tells_its_leak(void **state) {
  (void)state;
  energy_run run = energy_try(oscillator, "cosimulation.energy=monitor parameters.m2=0.01", "");
  assert_int_equal(run.status, YOKE_E_UNSTABLE);
  assert_non_null(strstr(run.warning, "diverges"));
  energy_release(&run);
  run = energy_of(oscillator, "cosimulation.energy=monitor parameters.m2=0.01 cosimulation.divergence=bear", "");
  energy_check("m2 = 0.01", run.summary.leak_largest, 1.64e47, 0.01);
  assert_non_null(strstr(run.warning, "out of nothing"));
  energy_release(&run);
}

static void leak_above_a_tenth_of_the_energy_is_warned_of(void **state) {
  (void)state;
  energy_run run = energy_of(oscillator, "cosimulation.energy=monitor", "");
  assert_non_null(strstr(run.warning, "out of nothing"));
  assert_non_null(strstr(run.warning, "coupling 'coupling'"));
  assert_non_null(strstr(run.warning, "cosimulation.energy correct"));
  energy_release(&run);
  run = energy_of(oscillator, "cosimulation.energy=monitor t_end=0.1", "");
  assert_null(strstr(run.warning, "out of nothing"));
  energy_release(&run);
}

/* The leak of 0.1 s is about 1e-2 of the energy that moves. */
static void the_share_above_which_a_leak_is_warned_of_is_a_setting(void **state) {
  (void)state;
  energy_run run = energy_of(oscillator, "cosimulation.energy=monitor cosimulation.energy_limit=1e-3 t_end=0.1", "");
  assert_non_null(strstr(run.warning, "(the limit is 0.1 %)"));
  energy_release(&run);
  run = energy_of(oscillator, "cosimulation.energy=monitor cosimulation.energy_limit=10", "");
  assert_null(strstr(run.warning, "out of nothing"));
  energy_release(&run);
  run = energy_of(oscillator, "cosimulation.energy=off cosimulation.energy_limit=0.2 t_end=0.1", "");
  assert_non_null(strstr(run.warning, "'cosimulation.energy_limit'"));
  assert_non_null(strstr(run.warning, "here energy is off"));
  energy_release(&run);
}

static bool has_leak(const char *model, const char *sets, const char *print) {
  energy_run run = energy_of(model, sets, print);
  const bool has = run.summary.has_leak;
  if (!has) assert_null(run.summary.coupling_energies);
  energy_release(&run);
  return has;
}

static void split_runs_have_an_account_unless_they_are_told_not_to(void **state) {
  (void)state;
  assert_true(has_leak("examples/two-mass.yaml", "", ""));
  assert_false(has_leak("examples/two-mass.yaml", "cosimulation.energy=off", ""));
}

/* Where it may cost more than a few per cent of a long run. */
static void large_models_have_one_if_they_are_asked(void **state) {
  static const char short_run[] = "t_end=1e-5 cosimulation.step=1e-7 output.select=[\"c.x[1]\"]";
  char              many[ENERGY_TEXT], asked[ENERGY_TEXT], few[ENERGY_TEXT];
  (void)state;
  snprintf(many, sizeof many, "parameters.n=1200 %s", short_run);
  snprintf(asked, sizeof asked, "parameters.n=1200 cosimulation.energy=monitor %s", short_run);
  snprintf(few, sizeof few, "parameters.n=600 %s", short_run);
  assert_false(has_leak("examples/chain-load.yaml", many, ""));
  assert_true(has_leak("examples/chain-load.yaml", asked, ""));
  assert_true(has_leak("examples/chain-load.yaml", few, ""));
}

/* States of controlled steps follow rigid joints by tangents, where no work is counted along the way. */
static void rigid_joints_under_step_control_have_one_where_it_costs_no_integration(void **state) {
  static const char pendulum[] = "examples/double-pendulum.yaml"; /* with drag */
  (void)state;
  assert_true(has_leak(pendulum, "t_end=0.05", ""));
  assert_false(has_leak(pendulum, "t_end=0.05 cosimulation.step=auto", ""));
  assert_true(has_leak(pendulum, "t_end=0.05 cosimulation.step=auto", "total.leak"));
  assert_true(has_leak("examples/slider-crank.yaml", "t_end=0.05 cosimulation.step=auto", "")); /* nothing does work */
}

/* The file of the quarter car selects total.leak: the run goes on without it. */
static void outputs_of_an_account_that_is_off_are_left_out(void **state) {
  (void)state;
  energy_run run = energy_of("examples/quarter-car.yaml", "t_end=0.01 cosimulation.energy=off", "");
  assert_non_null(strstr(run.warning, "'total.leak' is left out"));
  assert_false(run.summary.has_leak);
  energy_release(&run);
  run = energy_of("examples/quarter-car.yaml",
                  "t_end=0.01 cosimulation.energy=off output.select=[body.x,suspension.leak,subsystem.*]", "");
  assert_non_null(strstr(run.warning, "'suspension.leak' is left out"));
  assert_non_null(strstr(run.warning, "'subsystem.*' is left out"));
  energy_release(&run);
}

/* Motions have the same bits with and without: with fixed and controlled steps, explicit, implicit and exact solvers, fused chains. */
static void account_changes_nothing(void **state) {
  static const struct {
    const char *model, *sets, *print;
  } runs[] = {
      {"examples/two-mass.yaml", "t_end=0.05", "m1.x m1.v m2.x m2.v"},
      {"examples/two-mass.yaml", "solvers.default.kind=semi-euler solvers.default.step=1e-4 t_end=0.05",
       "m1.x m1.v m2.x m2.v"},
      {"examples/slider-crank-flexible.yaml", "t_end=0.05", "bar2.angle bar2.omega"},
      {"examples/double-pendulum-flexible.yaml", "solvers.default.kind=radau5 t_end=0.05", "lower.angle lower.omega"},
      {"examples/robot-arm-split.yaml", "solvers.default.kind=bdf t_end=0.05", "fore.angle fore.omega"},
      {"examples/chain-conv.yaml", "t_end=2e-3", "c.x[1] c.v[1]"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof runs / sizeof runs[0]; ++i) {
    char sets[ENERGY_TEXT];
    snprintf(sets, sizeof sets, "%s cosimulation.energy=monitor", runs[i].sets);
    energy_run with = energy_of(runs[i].model, sets, runs[i].print);
    snprintf(sets, sizeof sets, "%s cosimulation.energy=off", runs[i].sets);
    energy_run without = energy_of(runs[i].model, sets, runs[i].print);
    assert_true(with.summary.n_print > 0);
    assert_true(with.summary.has_leak && fabs(with.summary.leak) > 0.0 && !without.summary.has_leak);
    for (int k = 0; k < with.summary.n_print; ++k) {
      assert_true(fabs(with.value[k]) > 0.0);
      assert_memory_equal(&with.value[k], &without.value[k], sizeof(double));
    }
    energy_release(&with);
    energy_release(&without);
  }
}

/* Two damped oscillators that nothing couples, solved exactly but for rounding: what is left of the balance is the error of D. */
static void work_of_dampers_is_of_sixth_order(void **state) {
  double leak[2];
  (void)state;
  for (int i = 0; i < 2; ++i) {
    char sets[ENERGY_TEXT];
    snprintf(sets, sizeof sets,
             "parameters.kc=0 parameters.c1=1 parameters.c2=1 parameters.n=1 parameters.H=%g t_end=1 "
             "cosimulation.energy=monitor solvers.default.kind=dop853 solvers.a.kind=dop853 solvers.b.kind=dop853",
             i == 0 ? 8e-3 : 4e-3);
    energy_run run = energy_of(oscillator, sets, "");
    leak[i]        = fabs(run.summary.leak);
    energy_release(&run);
  }
  assert_true(leak[0] > 1e-6 && leak[0] < 1e-3); /* of 10 kJ, most of which are dissipated */
  assert_true(fabs(log2(leak[0] / leak[1]) - 6.0) < 0.2);
}

/* A law between the wall and the first of two masses that next to nothing couples, by a solver whose errors are far below; leak in units of what is
 * dissipated. */
static double leak_with_law(const char *law) {
  char sets[ENERGY_TEXT];
  snprintf(sets, sizeof sets,
           "connections.wall1={\"kind\":\"spring-damper\",\"between\":[\"m1\",\"ground\"],\"law\":\"%s\"} "
           "cosimulation.energy=monitor parameters.cc=1e-6 parameters.dc=1e-9 cosimulation.order=2 "
           "cosimulation.step=1e-3 solvers.default={\"kind\":\"dop853\",\"rtol\":1e-10} t_end=0.2",
           law);
  energy_run   run  = energy_of("examples/two-mass.yaml", sets, "total.dissipated total.leak");
  const double leak = fabs(run.value[1]) / run.value[0];
  assert_true(run.value[0] > 0.0);
  energy_release(&run);
  return leak;
}

/* Where a micro step ends at the jump, and where a damper sets in behind steps that lose nothing. */
static void powers_that_jump_or_set_in_make_no_leak(void **state) {
  (void)state;
  const double jump = leak_with_law("1000*x+v*(1+30*step(t-0.0737))");
  const double hit  = leak_with_law("1000*exp(200*x)+v*40*exp(200*x)");
  if (!(jump < 1e-6 && hit < 1e-6)) fail_msg("jump %g, hit %g", jump, hit);
}

/* Energies are looked at where outputs ask for it and now and then: leaks add up to the same, whichever points these are. */
static void leaks_do_not_depend_on_balance_points(void **state) {
  static const char *const models[] = {oscillator, "examples/chain-conv.yaml"};
  static const char *const often[] = {"1e-3 t_end=1", "1e-5 t_end=2e-3"}, *const seldom[] = {"0.5 t_end=1",
                                                                                             "1e-3 t_end=2e-3"};
  (void)state;
  for (int i = 0; i < 2; ++i) {
    char sets[ENERGY_TEXT];
    snprintf(sets, sizeof sets, "cosimulation.energy=monitor output.every=%s", often[i]);
    energy_run every = energy_of(models[i], sets, "");
    snprintf(sets, sizeof sets, "cosimulation.energy=monitor output.every=%s", seldom[i]);
    energy_run some = energy_of(models[i], sets, "");
    assert_true(fabs(every.summary.leak) > 0.0 && every.summary.n_couplings > 0);
    energy_check("total", some.summary.leak, every.summary.leak, 1e-9);
    for (int k = 0; k < every.summary.n_couplings; ++k)
      energy_check("coupling", some.summary.coupling_energies[k].leak, every.summary.coupling_energies[k].leak, 1e-6);
    if (i == 0) energy_check("largest", some.summary.leak_largest, every.summary.leak_largest, 0.05);
    energy_release(&every);
    energy_release(&some);
  }
}

/* Two chains that next to nothing couples, solved to rounding: what is left of the balance is the error of D and X, here less than a millionth of the
 * work that `output` tells, which is more than `least`. */
static void check_chains_to_a_millionth(double step, const char *x, const char *more, const char *output,
                                        double least) {
  char sets[ENERGY_TEXT], names[80];
  snprintf(sets, sizeof sets,
           "cosimulation.energy=monitor cosimulation.scheme=explicit solvers.default.kind=dop853 "
           "solvers.default.rtol=1e-12 bodies.c.n=4 bodies.c.mass=1 bodies.c.stiffness=[1e3,1e3,1e-9,1e3,1e3] "
           "bodies.c.damping=[1,1,0,1,1] bodies.c.x=%s cosimulation.step=%g %s",
           x, step, more);
  snprintf(names, sizeof names, "%s total.leak", output);
  energy_run run = energy_of("examples/chain-asym.yaml", sets, names);
  assert_true(fabs(run.value[0]) > least);
  if (!(fabs(run.value[1]) < 1e-6 * fabs(run.value[0])))
    fail_msg("H = %g s: %g J of %g J", step, run.value[1], run.value[0]);
  energy_release(&run);
}

/* One of them driven, with micro steps that are long for the motion, and with such as are short. */
static void work_of_chains_is_counted_to_a_millionth(void **state) {
  static const double steps[] = {2e-2, 5e-3, 1e-3, 2e-4};
  (void)state;
  for (int i = 0; i < 4; ++i) check_chains_to_a_millionth(steps[i], "[5e-2,0,0,3e-2]", "", "total.dissipated", 1e8);
}

/* Under an impulse that is steady between its edges, and of which the mass that it acts on is moved away meanwhile. */
static void work_of_impulses_is_counted_to_a_millionth(void **state) {
  static const double      steps[] = {5e-3, 1e-3};
  static const char *const more[]  = {
       "bodies.c.loads=[{\"on\":4,\"kind\":\"impulse\",\"force\":1e3,\"time\":0.1,\"width\":0.5,\"rise\":3e-3}]",
       ("bodies.c.loads=[{\"on\":4,\"kind\":\"impulse\",\"force\":1e3,\"time\":0.1,\"width\":0.5,\"rise\":3e-3}] "
        "events.e={\"when\":\"t-0.33\",\"set\":{\"c.x[4]\":\"c.x[4]+1\"}}"),
  };
  (void)state;
  for (int i = 0; i < 4; ++i)
    check_chains_to_a_millionth(steps[i / 2], "[0,0,0,0]", more[i % 2], "total.external", 1.0);
}

/* Under narrow pulses of either sign, between which nothing is looked at. */
static void work_of_narrow_pulses_is_counted_to_a_millionth(void **state) {
  static const double steps[] = {5e-3, 1e-3};
  (void)state;
  for (int i = 0; i < 2; ++i) {
    check_chains_to_a_millionth(
        steps[i], "[0,0,0,0]",
        "bodies.c.loads=[{\"on\":4,\"kind\":\"modified-sine\",\"force\":1e3,\"omega\":13,\"phase\":0.3,\"power\":95}]",
        "total.external", 1.0);
  }
}

/* total.leak at samples, of which all lie at macro points or (often) two or three inside of every step of 1 ms. */
typedef struct seen_leaks {
  int    n;
  double t[80], leak[80];
} seen_leaks;

static yoke_status see_leak(void *user, double t, const double *outputs, const yoke_counters *counters, double h,
                            int order) {
  seen_leaks *seen = user;
  (void)counters, (void)h, (void)order;
  assert_true(seen->n < 80);
  seen->t[seen->n]      = t;
  seen->leak[seen->n++] = outputs[0];
  return YOKE_OK;
}

static seen_leaks leaks_at(const char *sets) {
  seen_leaks      seen = {0};
  const yoke_sink sink = {.user = &seen, .sample = see_leak};
  cosim           c;
  assert_int_equal(cosim_open(&c, oscillator, sets), YOKE_OK);
  assert_int_equal(yoke_system_run(c.system, 0.0195, &sink, NULL, c.ctx), YOKE_OK);
  cosim_close(&c);
  return seen;
}

static void samples_inside_of_a_step_show_the_account_where_it_began(void **state) {
  const seen_leaks inside = leaks_at("cosimulation.energy=monitor;output={every: 3e-4, select: [total.leak]}"),
                   macro  = leaks_at("cosimulation.energy=monitor;output={every: 1e-3, select: [total.leak]}");
  (void)state;
  assert_true(inside.n > 60 && macro.n > 19);
  for (int i = 4; i < 65; ++i) {
    const double expected = macro.leak[(int)floor(inside.t[i] * 1e3 + 1e-6)];
    assert_true(fabs(expected) > 1e-3);
    energy_check("leak inside of a step", inside.leak[i], expected, 1e-9);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(leak_of_the_oscillator_is_that_of_the_source),
      cmocka_unit_test(held_forces_leak_more_than_extrapolated_ones),
      cmocka_unit_test(positions_of_the_oscillator_are_those_of_the_source),
      cmocka_unit_test(leaks_add_up_to_the_balance),
      cmocka_unit_test(subsystems_gain_what_goes_through_their_ports),
      cmocka_unit_test(run_that_bears_divergence_tells_its_leak),
      cmocka_unit_test(leak_above_a_tenth_of_the_energy_is_warned_of),
      cmocka_unit_test(the_share_above_which_a_leak_is_warned_of_is_a_setting),
      cmocka_unit_test(split_runs_have_an_account_unless_they_are_told_not_to),
      cmocka_unit_test(large_models_have_one_if_they_are_asked),
      cmocka_unit_test(rigid_joints_under_step_control_have_one_where_it_costs_no_integration),
      cmocka_unit_test(outputs_of_an_account_that_is_off_are_left_out),
      cmocka_unit_test(account_changes_nothing),
      cmocka_unit_test(work_of_dampers_is_of_sixth_order),
      cmocka_unit_test(powers_that_jump_or_set_in_make_no_leak),
      cmocka_unit_test(leaks_do_not_depend_on_balance_points),
      cmocka_unit_test(work_of_chains_is_counted_to_a_millionth),
      cmocka_unit_test(work_of_impulses_is_counted_to_a_millionth),
      cmocka_unit_test(work_of_narrow_pulses_is_counted_to_a_millionth),
      cmocka_unit_test(samples_inside_of_a_step_show_the_account_where_it_began),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
