/* Energy of couplings: tables 2 and 3 of Gonzalez, Arbatani, Mohtat and Kovecses with integer clocks, and what their correction leaves. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/cosimulate.h"
#include "../energy/energy_run.h"

static const char oscillator[] = "examples/energy-oscillator.yaml";

typedef struct table_row {
  const char *set;
  double      uncorrected, corrected; /* largest |E - E(0)| over 10 s [J] */
} table_row;

static const table_row rows[] = {
    {"parameters.m2=0.01", 1.64e47, 202.5}, {"parameters.m2=0.1", 1.372e7, 56.8}, {"parameters.m2=1", 10232.4, 20.2},
    {"parameters.m2=2", 7568.5, 16.1},      {"parameters.m2=5", 5797.4, 1.9},     {"parameters.m2=10", 2894.7, 237.1},
    {"parameters.m2=100", 5160.4, 97.2},    {"parameters.k2=0.1", 6092.5, 4.1},   {"parameters.k2=1", 6135.1, 4.1},
    {"parameters.k2=10", 6475.3, 4.2},      {"parameters.k2=100", 9983.2, 6.3},   {"parameters.k2=500", 11330.0, 9.7},
    {"parameters.k2=2000", 9504.5, 46.3},   {"parameters.k2=1e4", 8926.0, 89.3},  {"parameters.k2=1e5", 9588.4, 207.9},
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

static double leak_of(const char *energy, const char *set) {
  char all[ENERGY_TEXT];
  snprintf(all, sizeof all, "cosimulation.energy=%s %s", energy, set);
  return energy_leak(oscillator, all);
}

/* The lightest mass leaves all that a mechanism can do, which ends a run that shall not bear it. */
static void uncorrected_tables_are_those_of_the_source(void **state) {
  (void)state;
  for (int i = 0; i < N_ROWS; ++i)
    energy_check(rows[i].set, leak_of("monitor cosimulation.divergence=bear", rows[i].set), rows[i].uncorrected, 0.01);
}

static void corrected_tables_are_those_of_the_source(void **state) {
  (void)state;
  for (int i = 0; i < N_ROWS; ++i) energy_check(rows[i].set, leak_of("correct", rows[i].set), rows[i].corrected, 0.25);
}

/* Section 4.1: equal steps of both, and 2 ms. */
static void other_steps_leak_as_in_the_source(void **state) {
  static const struct {
    const char *set;
    double      uncorrected, corrected;
  } steps[] = {
      {"parameters.n=1", 10297.0, 163.0},
      {"parameters.H=5e-4 parameters.n=1", 3896.5, 70.0},
      {"parameters.H=1e-4 parameters.n=1", 633.59, 8.9},
      {"parameters.H=2e-3 parameters.n=20", 37891.0, 56.4},
      {"parameters.H=2e-3 parameters.n=20 cosimulation.slow_values=constant", 1.1538e5, 66.1},
  };
  (void)state;
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; ++i) {
    energy_check(steps[i].set, leak_of("monitor", steps[i].set), steps[i].uncorrected, 0.01);
    energy_check(steps[i].set, leak_of("correct", steps[i].set), steps[i].corrected, 0.25);
  }
}

/* A heavy second mass, figure 16: a smaller cap corrects less. */
static void smaller_caps_correct_less(void **state) {
  static const double cap[] = {0.25, 0.1, 0.05, 0.01}, leak[] = {237.1, 306.0, 345.0, 393.0};
  (void)state;
  for (int i = 0; i < 4; ++i) {
    char set[80];
    snprintf(set, sizeof set, "parameters.m2=10 cosimulation.energy_cap=%g", cap[i]);
    energy_check(set, leak_of("correct", set), leak[i], 0.05);
  }
}

/* Pendulum and cable over 20 s: the joint's force is extrapolated, and its energy corrected. */
static void pendulum_and_cable_keep_their_energy(void **state) {
  static const char cable[] = "examples/pendulum-cable.yaml";
  (void)state;
  assert_true(energy_leak(cable, "cosimulation.step=1e-3 cosimulation.energy=monitor") > 2000.0);
  assert_true(energy_leak(cable, "cosimulation.step=1e-3 cosimulation.energy=correct") < 200.0);
  assert_true(energy_leak(cable, "cosimulation.step=2e-3 cosimulation.energy=monitor") > 8000.0);
  assert_true(energy_leak(cable, "cosimulation.step=2e-3 cosimulation.energy=correct") < 400.0);
  assert_true(energy_leak(cable, "cosimulation.step=5e-3 cosimulation.energy=correct") < 1000.0);
  energy_run run = energy_try(cable, "cosimulation.step=5e-3 cosimulation.energy=monitor", "");
  assert_int_equal(run.status, YOKE_E_UNSTABLE);
  energy_release(&run);
}

/* Works of the correction in single steps [J]. */
typedef struct guard_watch {
  const cosim *c;
  int          n_rises;
  double       last, brought;
} guard_watch;

static void look_at_guard(void *user, double t, const double *q, const double *v) {
  guard_watch *w   = user;
  const double now = cosim_value(w->c, "a.corrected");
  (void)t, (void)q, (void)v;
  w->n_rises += now > w->last;
  w->brought += fmax(0.0, now - w->last);
  w->last = now;
}

/* The motion of the cable is rough: it turns within a step where it did not seem to. */
static void guard_brings_in_next_to_nothing_where_motion_turns(void **state) {
  static const struct {
    const char *sets;
    double      share_of_steps, share; /* of what is taken out */
  } runs[] = {{"cosimulation.step=2e-3;cosimulation.energy=guard", 5e-3, 1e-3},
              {"cosimulation.step=5e-3;cosimulation.energy=guard", 3e-2, 1e-2}};
  (void)state;
  for (int i = 0; i < 2; ++i) {
    cosim       c;
    guard_watch w = {.c = &c};
    cosim_open(&c, "examples/pendulum-cable.yaml", runs[i].sets);
    cosim_run(&c, 20.0, look_at_guard, &w);
    cosim_expect(&c, YOKE_OK);
    print_message("%s: %d rises, %g J of %g J\n", runs[i].sets, w.n_rises, w.brought, w.last);
    assert_true(w.last < -1000.0);
    CHECK_BELOW((double)w.n_rises, runs[i].share_of_steps * (double)c.summary.macro.steps);
    CHECK_BELOW(w.brought, -runs[i].share * w.last);
    cosim_close(&c);
  }
}

/* 3000 macro steps each. The accumulated leak at the end falls by 95 % and more with the correction alone; its largest value on the way, which
 * is what one step brings in before the next one takes it out, by 93.5 % with held forces and by 99 % with `order: 1`. Positions are in
 * energy_correction. */
static void quarter_car_leaks_a_twentieth(void **state) {
  static const char *const sets[3] = {"cosimulation.energy=monitor cosimulation.order=0",
                                      "cosimulation.energy=correct cosimulation.order=0",
                                      "cosimulation.energy=correct cosimulation.order=1"};
  double                   end[3], largest[3];
  (void)state;
  for (int i = 0; i < 3; ++i) {
    energy_run run = energy_of("examples/quarter-car.yaml", sets[i], "");
    assert_int_equal(run.summary.macro_steps, 3000);
    end[i]     = fabs(run.summary.leak);
    largest[i] = run.summary.leak_largest;
    energy_release(&run);
  }
  energy_check("held, not corrected", end[0], 6.12, 0.01);
  assert_true(end[1] < 1e-5 * end[0] && end[2] < 1e-5 * end[0]);
  assert_true(largest[1] < 0.07 * largest[0]);
  assert_true(largest[2] < 0.01 * largest[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(uncorrected_tables_are_those_of_the_source),
      cmocka_unit_test(corrected_tables_are_those_of_the_source),
      cmocka_unit_test(other_steps_leak_as_in_the_source),
      cmocka_unit_test(smaller_caps_correct_less),
      cmocka_unit_test(pendulum_and_cable_keep_their_energy),
      cmocka_unit_test(guard_brings_in_next_to_nothing_where_motion_turns),
      cmocka_unit_test(quarter_car_leaks_a_twentieth),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
