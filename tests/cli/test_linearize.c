/* yoke info --modes and --linearize, and the prediction of yoke run, from the shell. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "program.h"

static const double pi = 3.14159265358979323846;

/* Number behind the n-th `"key": ` of a JSON text, counted from 0. */
static double json_number_at(const char *text, const char *key, int n) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\": ", key);
  for (const char *at = text; (at = strstr(at, quoted)) != NULL; at += strlen(quoted)) {
    if (n-- == 0) return atof(at + strlen(quoted));
  }
  return (double)NAN;
}

/* ---- modes ---- */

static void modes_of_two_masses_are_those_of_their_matrix(void **state) {
  fixture *f = *state;
  /* m = 1, 2; c = 1000 all; undamped: w^4 - 3000 w^2 + 1.5e6 = 0 */
  assert_int_equal(yoke(f, "info examples/two-mass.yaml --modes --json --set parameters.d1=0 --set parameters.d2=0 "
                           "--set parameters.dc=0"),
                   0);
  for (int k = 0; k < 2; ++k) {
    const double omega2 = 1500.0 + (k == 0 ? -1.0 : 1.0) * sqrt(1500.0 * 1500.0 - 1.5e6);
    CHECK_NEAR(json_number_at(f->out, "frequency", k), sqrt(omega2) / (2.0 * pi), 1e-9);
    CHECK_NEAR(json_number_at(f->out, "damping", k), 0.0, 1e-12);
  }
  assert_says(f->out, "\"at\": \"equilibrium\"");
}

static void rigid_body_modes_and_frequencies_of_a_top_are_named(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "info examples/heavy-top.yaml --modes"), 0);
  assert_says(f->out, "3 modes");
  assert_says(f->out, "rigid-body");
  assert_says(f->out, "top.turn y 1");
}

#define ROD                                                                                                            \
  "yoke: 1\nname: rod\nparameters: {phi: 1.1}\ngravity: [0, -9.81]\nt_end: 1\nbodies:\n"                               \
  "  rod: {kind: planar, mass: 3, inertia: 1, position: [2*sin(phi), -2*cos(phi)], angle: phi, frames: {top: [0, "     \
  "2]}}\n"                                                                                                             \
  "connections:\n  pin: {kind: revolute, between: [ground, rod.top]}\n"

static void a_start_that_is_not_at_rest_can_be_asked_for(void **state) {
  fixture     *f = *state;
  char         path[128];
  const double k = 3.0 * 9.81 * 2.0 / 13.0;
  write_text(in_folder(f, "rod.yaml", path), ROD);
  assert_int_equal(yoke(f, "info @/rod.yaml --modes --json"), 0);
  CHECK_NEAR(json_number_at(f->out, "frequency", 0), sqrt(k) / (2.0 * pi), 1e-9);
  assert_int_equal(yoke(f, "info @/rod.yaml --modes --at start --json"), 0);
  CHECK_NEAR(json_number_at(f->out, "frequency", 0), sqrt(k * cos(1.1)) / (2.0 * pi), 1e-9);
  assert_says(f->out, "\"at\": \"start\"");
}

static void an_unstable_mode_is_named(void **state) {
  fixture *f = *state;
  char     path[128];
  write_text(in_folder(f, "rod.yaml", path), ROD);
  assert_int_equal(yoke(f, "info @/rod.yaml --modes --set parameters.phi=pi"), 0);
  assert_says(f->out, "growth");
  assert_says(f->out, "decay");
}

/* Positions are tenths: rounding of 1e-17 m in springs of 3e6 N/m is all the force there is. */
static void f52_a_cantilever_at_rest_is_at_rest(void **state) {
  fixture *f = *state;
  char     path[128];
  write_text(in_folder(f, "beam.yaml", path),
             "yoke: 1\nname: cantilever\nparameters: {n: 10, k: 3e6, kr: 1e3, m: 0.1}\nt_end: 1\n"
             "bodies:\n"
             "  s: {kind: planar, count: n, mass: m, inertia: m/12/n^2, position: [(i - 0.5)/n, 0],\n"
             "      frames: {a: [-0.5/n, 0], b: [0.5/n, 0]}}\n"
             "connections:\n"
             "  clamp: {kind: bushing, between: [ground, s[1].a], stiffness: [k, k, kr]}\n"
             "  joint: {kind: bushing, count: n - 1, between: [s[i].b, s[i + 1].a], stiffness: [k, k, kr]}\n"
             "split: {a: [\"s[1]\", \"s[2]\", \"s[3]\", \"s[4]\", \"s[5]\"],\n"
             "        b: [\"s[6]\", \"s[7]\", \"s[8]\", \"s[9]\", \"s[10]\"]}\ncosimulation: {step: 1e-5}\n");
  assert_int_equal(yoke(f, "info @/beam.yaml --modes --json"), 0);
  assert_says(f->out, "\"at\": \"equilibrium\"");
  assert_int_equal(yoke(f, "stability @/beam.yaml"), 0);
}

static void no_rest_state_is_an_error_with_a_remedy(void **state) {
  fixture *f = *state;
  char     path[128];
  write_text(in_folder(f, "stone.yaml", path),
             "yoke: 1\nname: stone\nt_end: 1\ngravity: [0, 0, -9.81]\nbodies:\n  stone: {kind: particle, mass: 1}\n");
  assert_int_equal(yoke(f, "info @/stone.yaml --modes"), 4);
  assert_says(f->err, "no rest state");
  assert_says(f->err, "--at start");
  assert_int_equal(yoke(f, "info @/stone.yaml --modes --at start"), 0);
  assert_int_equal(yoke(f, "info @/stone.yaml --modes --at noon"), 2);
  assert_says(f->err, "start or equilibrium");
}

static void coefficients_that_are_not_finite_are_an_error(void **state) {
  static const char *const questions[] = {"info @/huge.yaml --modes", "info @/huge.yaml --linearize @/huge.csv",
                                          "stability @/huge.yaml"};
  fixture                 *f           = *state;
  char                     path[128];
  write_text(
      in_folder(f, "huge.yaml", path),
      "yoke: 1\nname: huge\nt_end: 1\nbodies:\n  a: {kind: mass1d, mass: 1e-200}\n  b: {kind: mass1d, mass: 1e200}\n"
      "connections:\n  s: {kind: spring-damper, between: [a, b], stiffness: 1e200}\nsplit: {p: [a], q: [b]}\n"
      "cosimulation: {step: 1e-3}\n");
  for (size_t i = 0; i < sizeof questions / sizeof *questions; ++i) {
    assert_int_equal(yoke(f, questions[i]), 5);
    assert_says(f->err, "not finite");
  }
}

/* ---- matrices ---- */

static void matrices_are_written_as_csv_text_and_hdf5(void **state) {
  fixture *f = *state;
  char     path[128];
  assert_int_equal(yoke(f, "info examples/two-mass.yaml --linearize @/m.csv"), 0);
  char *csv = read_text(in_folder(f, "m.csv", path));
  assert_says(csv, "matrix,row,column,value\n");
  assert_says(csv, "A,m1.x,m1.v,1\n");
  assert_says(csv, "A,m1.v,m1.x,-2000\n");
  assert_says(csv, "A,m1.v,m2.v,10\n");
  assert_says(csv, "A,m2.v,m1.x,500\n");
  assert_says(csv, "B,m2.v,m2.force x,0.5\n");
  free(csv);
  assert_int_equal(yoke(f, "info examples/two-mass.yaml --linearize @/m.txt"), 0);
  char *text = read_text(in_folder(f, "m.txt", path));
  assert_says(text, "# A [4, 4], x' by x\n# columns: m1.x, m2.x, m1.v, m2.v\n");
  free(text);
  assert_int_equal(yoke(f, "info examples/two-mass.yaml --linearize @/no/folder.csv"), 7);
  assert_says(f->err, "cannot write");
#ifdef YOKE_WITH_HDF5
  assert_int_equal(yoke(f, "info examples/two-mass.yaml --linearize @/m.h5"), 0);
  char *data = read_text(in_folder(f, "m.h5", path));
  assert_memory_equal(data + 1, "HDF", 3);
  free(data);
#endif
}

/* ---- prediction ---- */

#define UNSTABLE "run examples/four-bar-bushing.yaml --scheme explicit --step 0.02 --t-end 0.2 -q"

static void a_run_with_an_unstable_step_is_warned_of_unless_told_not_to(void **state) {
  fixture *f = *state;
  (void)yoke(f, UNSTABLE);
  assert_says(f->err, "predicted unstable");
  assert_says(f->err, "stable step is about 0.016");
  (void)yoke(f, UNSTABLE " --no-predict");
  assert_null(strstr(f->err, "predicted"));
  assert_int_equal(yoke(f, "run examples/four-bar-bushing.yaml --scheme explicit --step 0.01 --t-end 0.1 -q"), 0);
  assert_null(strstr(f->err, "predicted"));
}

static void a_motion_that_goes_on_has_no_rest_state_to_linearise_about(void **state) {
  static const char *const commands[] = {"info @/driven.yaml --modes", "info @/driven.yaml --linearize @/out.txt"};
  fixture                 *f          = *state;
  char                     path[128], command[160];
  write_text(in_folder(f, "driven.yaml", path),
             "yoke: 1\nname: driven\nt_end: 1\nbodies:\n"
             "  arm: {kind: planar, mass: 1, inertia: 1}\n  bob: {kind: planar, mass: 1, inertia: 1}\n"
             "connections:\n  drive: {kind: revolute, between: [ground, arm], motion: 0.25 + 3*t}\n"
             "  spring: {kind: bushing, between: [arm, bob], stiffness: [100, 100, 10], damping: [1, 1, 0.1]}\n");
  for (int k = 0; k < 2; ++k) {
    assert_int_equal(yoke(f, commands[k]), 4);
    assert_says(f->err,
                "the motion of joint 'drive' goes on at t = 0 s, by 3 per second and 0 per second squared; hold it "
                "where it is, motion: 0.25, or linearise about the start itself (yoke info --at start)");
    snprintf(command, sizeof command, "%s --at start", commands[k]);
    assert_int_equal(yoke(f, command), 0);
    snprintf(command, sizeof command, "%s --set connections.drive.motion=0.25", commands[k]);
    assert_int_equal(yoke(f, command), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(modes_of_two_masses_are_those_of_their_matrix),
      TEST(rigid_body_modes_and_frequencies_of_a_top_are_named),
      TEST(a_start_that_is_not_at_rest_can_be_asked_for),
      TEST(an_unstable_mode_is_named),
      TEST(f52_a_cantilever_at_rest_is_at_rest),
      TEST(no_rest_state_is_an_error_with_a_remedy),
      TEST(a_motion_that_goes_on_has_no_rest_state_to_linearise_about),
      TEST(coefficients_that_are_not_finite_are_an_error),
      TEST(matrices_are_written_as_csv_text_and_hdf5),
      TEST(a_run_with_an_unstable_step_is_warned_of_unless_told_not_to),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
