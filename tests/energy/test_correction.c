/* Correction of the energy that couplings bring out of nothing. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include "energy_run.h"
#include <stdlib.h>
#include <unistd.h>

static const char oscillator[] = "examples/energy-oscillator.yaml", haptic[] = "examples/haptic.yaml",
                  quarter_car[] = "examples/quarter-car.yaml";

/* Stored energy at the end, as the subsystems tell it [J]. */
static double energy_at_end(const char *model, const char *sets) {
  energy_run run = energy_of(model, sets, "");
  double     sum = 0.0;
  for (int p = 0; p < run.summary.n_subsystems; ++p) sum += run.summary.subsystem_energies[p].energy;
  for (int k = 0; k < run.summary.n_couplings; ++k) sum += run.summary.coupling_energies[k].energy;
  energy_release(&run);
  return sum;
}

/* Gonzalez, table 2, corrected; and ours. */
static void correction_leaves_a_fiftieth_of_the_leak(void **state) {
  static const struct {
    const char *set;
    double      corrected;
  } rows[] = {{"parameters.m2=0.1", 56.8},
              {"parameters.m2=1", 20.2},
              {"parameters.m2=2", 16.1},
              {"cosimulation.slow_values=constant", 25.4}};
  (void)state;
  for (int i = 0; i < 4; ++i) {
    char sets[ENERGY_TEXT];
    snprintf(sets, sizeof sets, "%s cosimulation.energy=monitor", rows[i].set);
    const double without = energy_leak(oscillator, sets), with = energy_leak(oscillator, rows[i].set);
    snprintf(sets, sizeof sets, "%s cosimulation.energy=guard", rows[i].set);
    const double guarded = energy_leak(oscillator, sets);
    energy_check(rows[i].set, with, rows[i].corrected, 0.25);
    assert_true(with < without / 50.0);
    assert_true(guarded < without / 50.0);
  }
}

/* Case 2: what is held grows, what is extrapolated decays too slowly, both end where the exact motion does (1328.7 J) when corrected. */
static void damped_oscillator_decays_as_it_should(void **state) {
  static const char damped[] =
      "parameters.c1=0.1 parameters.c2=0.1 parameters.cc=0.1 parameters.H=2e-3 parameters.n=20";
  char sets[ENERGY_TEXT];
  (void)state;
  snprintf(sets, sizeof sets, "%s cosimulation.energy=monitor", damped);
  energy_check("extrapolated", energy_at_end(oscillator, sets), 5532.7, 0.01);
  snprintf(sets, sizeof sets, "%s cosimulation.energy=monitor cosimulation.slow_values=constant", damped);
  energy_check("held", energy_at_end(oscillator, sets), 14197.0, 0.01);
  energy_check("corrected", energy_at_end(oscillator, damped), 1327.0, 0.01);
  snprintf(sets, sizeof sets, "%s cosimulation.slow_values=constant", damped);
  energy_check("held, corrected", energy_at_end(oscillator, sets), 1324.0, 0.01);
}

/* Case 3. */
static void strong_damping_needs_no_correction(void **state) {
  static const char damped[] =
      "parameters.c1=1 parameters.c2=1 parameters.cc=1 parameters.H=2e-3 parameters.n=20 cosimulation.energy=monitor";
  char sets[ENERGY_TEXT];
  (void)state;
  energy_check("extrapolated", energy_at_end(oscillator, damped), 7.4179e-5, 0.01);
  snprintf(sets, sizeof sets, "%s cosimulation.slow_values=constant", damped);
  energy_check("held", energy_at_end(oscillator, sets), 9.0323e-5, 0.01);
}

/* Amplitude of the second mass in the second before t, in units of that of the exact motion (Gonzalez, figures 12 and 13). */
static double swing(const char *damping, double t, const char *more) {
  char sets[ENERGY_TEXT];
  snprintf(sets, sizeof sets, "parameters.c1=%s parameters.c2=%s parameters.cc=%s parameters.H=2e-3 parameters.n=20 %s",
           damping, damping, damping, more);
  const double split = energy_swing(oscillator, sets, false, "m2.x", t - 1.0, t);
  strcat(sets,
         " solvers.default.kind=dop853 solvers.default.step=H"); /* of the model as a whole: exact to nine digits */
  return split / energy_swing(oscillator, sets, true, "m2.x", t - 1.0, t);
}

/* Case 2: held forces make it 3.3 to 3.6 times as large, extrapolated ones 2.1 to 2.3; the source reads 4 and 2.4 off its figures. */
static void amplitudes_of_weak_damping_are_those_of_the_figures(void **state) {
  (void)state;
  energy_check("held", swing("0.1", 10.0, "cosimulation.energy=monitor cosimulation.slow_values=constant"), 3.45, 0.05);
  energy_check("extrapolated", swing("0.1", 10.0, "cosimulation.energy=monitor"), 2.2, 0.05);
  energy_check("held, corrected", swing("0.1", 10.0, "cosimulation.slow_values=constant"), 1.0, 0.02);
  energy_check("corrected", swing("0.1", 10.0, ""), 1.0, 0.02);
}

/* Case 3: all are stable and alike. */
static void amplitudes_of_strong_damping_are_alike(void **state) {
  (void)state;
  energy_check("held", swing("1", 2.0, "cosimulation.energy=monitor cosimulation.slow_values=constant"), 1.0, 0.25);
  energy_check("extrapolated", swing("1", 2.0, "cosimulation.energy=monitor"), 1.0, 0.1);
  energy_check("corrected", swing("1", 2.0, ""), 1.0, 0.1);
}

/* The device and the virtual mass: 1/2 k d0^2 = 0.5 J at the start. */
static void haptic_device_shakes_itself_up(void **state) {
  (void)state;
  energy_run now  = energy_of(haptic, "cosimulation.energy=monitor t_end=2", "total.energy");
  energy_run held = energy_of(
      haptic,
      "cosimulation.energy=monitor t_end=2 cosimulation.couplings.feedthrough=true cosimulation.final_update=false",
      "total.energy");
  energy_check("force for the new position", now.value[0] / 0.5, 52.456, 1e-3);
  energy_check("force for the position before", held.value[0] / 0.5, 2052.5, 1e-3);
  energy_release(&now);
  energy_release(&held);
}

static void passivity_controller_keeps_the_device_calm(void **state) {
  static const char *const modes[] = {"", "cosimulation.couplings.feedthrough=true cosimulation.final_update=false"};
  (void)state;
  for (int i = 0; i < 2; ++i) {
    energy_run run = energy_of(haptic, modes[i], "total.energy");
    assert_true(run.value[0] < 1.15 * 0.5);
    assert_true(run.summary.energy_drift < 0.15 * 0.5); /* at all output times, which are the macro points */
    assert_true(run.summary.leak_corrected < 0.0);
    energy_release(&run);
  }
}

/* Largest difference of a quantity to the model as a whole, and the accumulated leak. */
typedef struct car_run {
  double body, wheel, leak, largest;
} car_run;

static car_run drive(const char *energy, const char *order) {
  char                   set[64];
  const char            *sets[] = {set, order};
  yoke_run_summary       split = {.size = sizeof split}, whole = {.size = sizeof whole};
  yoke_comparison       *comparison = NULL;
  yoke_context          *ctx;
  const yoke_run_options options = {
      .size = sizeof options, .model = quarter_car, .n_sets = 2, .sets = sets, .no_predict = true, .threads = 1};
  yoke_difference d   = {.size = sizeof d};
  car_run         out = {0};
  snprintf(set, sizeof set, "cosimulation.energy=%s", energy);
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_run_compare(ctx, &options, &split, &whole, &comparison), YOKE_OK);
  for (int i = 0; yoke_comparison_get(ctx, comparison, i, &d) == YOKE_OK; ++i) {
    if (strcmp(d.name, "body.x") == 0) out.body = d.largest;
    if (strcmp(d.name, "wheel.x") == 0) out.wheel = d.largest;
  }
  out.leak    = fabs(split.leak);
  out.largest = split.leak_largest;
  assert_true(out.body > 0.0 && out.wheel > 0.0 && out.leak > 0.0);
  yoke_comparison_destroy(&comparison);
  yoke_run_summary_release(&split);
  yoke_run_summary_release(&whole);
  yoke_context_destroy(&ctx);
  return out;
}

static void quarter_car_leaks_a_twentieth_and_is_no_worse(void **state) {
  (void)state;
  const car_run without = drive("monitor", "cosimulation.order=0"), with = drive("correct", "cosimulation.order=0"),
                linear = drive("correct", "cosimulation.order=1");
  assert_true(with.leak < 0.05 * without.leak);
  assert_true(with.body <= without.body);
  assert_true(with.wheel <= without.wheel);
  /* at all times: what a step brings in is taken out in the next one, so that it must be little */
  assert_true(linear.leak < 0.05 * without.leak && linear.largest < 0.05 * without.largest);
  assert_true(linear.body <= with.body && linear.wheel <= with.wheel);
}

static void coupling_has_a_word_of_its_own(void **state) {
  (void)state;
  energy_run a = energy_of(oscillator, "t_end=0.5 cosimulation.couplings.coupling.energy=monitor", "m1.x m2.x");
  energy_run b = energy_of(oscillator, "t_end=0.5 cosimulation.energy=monitor", "m1.x m2.x");
  energy_run c = energy_of(
      oscillator, "t_end=0.5 cosimulation.energy=off cosimulation.couplings.coupling.energy=correct", "m1.x m2.x");
  energy_run d = energy_of(oscillator, "t_end=0.5", "m1.x m2.x");
  assert_memory_equal(a.value, b.value, 2 * sizeof(double));
  assert_memory_equal(c.value, d.value, 2 * sizeof(double));
  assert_true(a.value[0] != d.value[0]);
  energy_release(&a);
  energy_release(&b);
  energy_release(&c);
  energy_release(&d);
}

static void smaller_cap_corrects_less(void **state) {
  (void)state;
  const double small = energy_leak(oscillator, "parameters.m2=10 cosimulation.energy_cap=0.01"),
               large = energy_leak(oscillator, "parameters.m2=10");
  energy_check("cap 0.01", small, 393.0, 0.1);
  energy_check("cap 0.25", large, 237.1, 0.1);
}

static void expect_refusal(const char *model, const char *sets, const char *text) {
  energy_run run = energy_try(model, sets, "");
  assert_int_equal(run.status, YOKE_E_MODEL);
  if (strstr(run.warning, text) == NULL) fail_msg("%s: '%s' is not in '%s'", sets, text, run.warning);
  energy_release(&run);
}

static void what_cannot_be_corrected_is_refused_by_name(void **state) {
  (void)state;
  expect_refusal(quarter_car, "cosimulation.energy=passivity", "coupling 'suspension': its energy cannot be corrected");
  expect_refusal(quarter_car, "cosimulation.couplings.decomposition=displacement/displacement",
                 "a decomposition with a force side");
  expect_refusal("examples/double-pendulum.yaml", "cosimulation.couplings.knee.energy=correct", "coupling 'knee'");
}

static void joints_are_accounted_for_and_not_corrected(void **state) {
  (void)state;
  energy_run run = energy_of("examples/double-pendulum.yaml", "t_end=0.1 cosimulation.energy=correct", "");
  assert_non_null(strstr(run.warning, "coupling 'knee' is a rigid joint"));
  assert_true(run.summary.has_leak);
  assert_true(run.summary.leak_corrected == 0.0);
  energy_release(&run);
}

/* Bushings in the plane, forces and moments, both signs. */
static void planar_bodies_are_corrected_too(void **state) {
  static const char sets[] =
      "cosimulation.scheme=explicit cosimulation.order=0 cosimulation.step=5e-4 t_end=0.5 solvers.default=dop853";
  char all[ENERGY_TEXT];
  (void)state;
  snprintf(all, sizeof all, "%s cosimulation.energy=monitor", sets);
  const double without = energy_leak("examples/double-pendulum-flexible.yaml", all);
  snprintf(all, sizeof all, "%s cosimulation.energy=correct", sets);
  const double with = energy_leak("examples/double-pendulum-flexible.yaml", all);
  if (!(with < 0.2 * without)) fail_msg("%g J with the correction, %g J without", with, without);
}

/* A joint whose multipliers are extrapolated, in space, with a flexible body behind it. */
static void extrapolated_forces_of_joints_are_corrected(void **state) {
  static const char cable[] = "examples/pendulum-cable.yaml",
                    sets[]  = "t_end=2 cosimulation.step=4e-3 cosimulation.energy=";
  char all[ENERGY_TEXT];
  (void)state;
  snprintf(all, sizeof all, "%smonitor", sets);
  const double without = energy_leak(cable, all);
  snprintf(all, sizeof all, "%scorrect", sets);
  const double with = energy_leak(cable, all);
  if (!(with < 0.2 * without)) fail_msg("%g J with the correction, %g J without", with, without);
}

static energy_run energy_of_text(const char *text, const char *sets, const char *print) {
  char      path[] = P_tmpdir "/yoke-correction-XXXXXX";
  const int file   = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, text, strlen(text)), (int)strlen(text));
  close(file);
  const energy_run run = energy_of(path, sets, print);
  remove(path);
  return run;
}

/* A quarter car comes to rest on its springs: the cap, a share of the weight, is no reason to push it. */
static const char at_rest[] = "yoke: 1\nt_end: 20\nbodies:\n"
                              "  body: {kind: mass1d, mass: 400}\n"
                              "  wheel: {kind: mass1d, mass: 40}\n"
                              "connections:\n"
                              "  tyre: {kind: spring-damper, between: [ground, wheel], stiffness: 150e3, damping: 200, "
                              "free_length: 0}\n"
                              "  suspension: {kind: spring-damper, between: [wheel, body], stiffness: 15e3, damping: "
                              "1e3, free_length: 0}\n"
                              "loads:\n"
                              "  weight: {kind: constant, on: body, force: -3924}\n"
                              "  own: {kind: constant, on: wheel, force: -392.4}\n"
                              "split: {a: [body], b: [wheel]}\n"
                              "cosimulation: {scheme: explicit, order: 1, step: 1e-3, energy: correct}\n";

static void what_comes_to_rest_under_its_weight_stays_there(void **state) {
  (void)state;
  energy_run run = energy_of_text(at_rest, "", "body.a wheel.a");
  assert_true(fabs(run.value[0]) < 1e-6 && fabs(run.value[1]) < 1e-6);
  assert_true(run.summary.leak_largest < 1e-4); /* 0.0085 J with monitor */
  energy_release(&run);
}

/* Waves in a prestressed row reach the cuts one after the other: a port that has hardly moved yet is not pushed for what leaks elsewhere. */
#define ROW(count, springs, last, first, split)                                                                        \
  "yoke: 1\nt_end: 0.2\nbodies:\n"                                                                                     \
  "  p: {kind: particle, count: " count ", mass: 1, position: [i, 0, 0]}\n"                                            \
  "connections:\n"                                                                                                     \
  "  first: {kind: spring-damper, between: [ground, \"p[1]\"], stiffness: 1e4, damping: 1, free_length: " first "}\n"  \
  "  s: {kind: spring-damper, count: " springs ", between: [\"p[i]\", \"p[i+1]\"], stiffness: 1e4, damping: 1, "       \
  "free_length: 0.95}\n"                                                                                               \
  "loads:\n"                                                                                                           \
  "  pull: {kind: expression, on: \"p[" last "]\", force: [\"10*sin(30*t)\", 0, \"5*sin(30*t)\"]}\n"                   \
  "split: " split "\n"                                                                                                 \
  "cosimulation: {step: auto, energy: guard}\n"
static const char row[] = ROW("30", "29", "30", "0.9", "{a: [\"p[1..10]\"], b: [\"p[11..20]\"], c: [\"p[21..30]\"]}"),
                  long_row[] =
                      ROW("60", "59", "60", "0.95", "{a: [\"p[1..20]\"], b: [\"p[21..40]\"], c: [\"p[41..60]\"]}");

static void ports_that_hardly_move_are_left_alone(void **state) {
  (void)state;
  energy_run guarded = energy_of_text(row, "", "p[30].x"),
             plain   = energy_of_text(row, "cosimulation.energy=monitor", "p[30].x");
  assert_float_equal(guarded.value[0], plain.value[0], 1e-5);
  assert_true(guarded.summary.leak_largest < 10.0 * plain.summary.leak_largest);
  energy_release(&guarded);
  energy_release(&plain);
}

/* The cap is a share of the static force of 500 N, far beyond what moves a port: forces that work as they are meant to leave steps as they are. */
static void prestressed_rows_are_not_shaken(void **state) {
  (void)state;
  energy_run corrected = energy_of_text(long_row, "cosimulation.energy=correct", "p[60].x"),
             plain     = energy_of_text(long_row, "cosimulation.energy=monitor", "p[60].x");
  assert_float_equal(corrected.value[0], plain.value[0], 1e-4);
  assert_true(corrected.summary.leak_largest < plain.summary.leak_largest);
  assert_true(corrected.summary.macro_steps < 2 * plain.summary.macro_steps);
  energy_release(&corrected);
  energy_release(&plain);
}

/* The balance is kept, 6 of 20 kJ were taken out, and with substeps nobody estimates the motion. */
static void corrections_that_do_much_are_warned_of(void **state) {
  (void)state;
  energy_run much = energy_of(oscillator, "", ""), little = energy_of(quarter_car, "", "");
  assert_non_null(strstr(much.warning, "the energy correction did -6.04e+03 J"));
  assert_non_null(strstr(much.summary.error_limits, "(substeps) are not estimated"));
  assert_null(strstr(little.warning, "the energy correction did"));
  energy_release(&much);
  energy_release(&little);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_comes_to_rest_under_its_weight_stays_there),
      cmocka_unit_test(ports_that_hardly_move_are_left_alone),
      cmocka_unit_test(prestressed_rows_are_not_shaken),
      cmocka_unit_test(correction_leaves_a_fiftieth_of_the_leak),
      cmocka_unit_test(damped_oscillator_decays_as_it_should),
      cmocka_unit_test(strong_damping_needs_no_correction),
      cmocka_unit_test(amplitudes_of_weak_damping_are_those_of_the_figures),
      cmocka_unit_test(amplitudes_of_strong_damping_are_alike),
      cmocka_unit_test(haptic_device_shakes_itself_up),
      cmocka_unit_test(passivity_controller_keeps_the_device_calm),
      cmocka_unit_test(quarter_car_leaks_a_twentieth_and_is_no_worse),
      cmocka_unit_test(corrections_that_do_much_are_warned_of),
      cmocka_unit_test(coupling_has_a_word_of_its_own),
      cmocka_unit_test(smaller_cap_corrects_less),
      cmocka_unit_test(what_cannot_be_corrected_is_refused_by_name),
      cmocka_unit_test(joints_are_accounted_for_and_not_corrected),
      cmocka_unit_test(planar_bodies_are_corrected_too),
      cmocka_unit_test(extrapolated_forces_of_joints_are_corrected),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
