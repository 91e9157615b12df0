/* Consistent starts from rough guesses, redundant constraints, and mechanisms that live on them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "check.h"
#include "examples/run_model.h"

static const double pi = 3.14159265358979323846;

/* Load and assemble, without a run. */
static yoke_status assemble(model_run *run, const char *text, const char *const *sets) {
  yoke_load_options options = {.size = sizeof options, .sets = sets};
  while (sets != NULL && sets[options.n_sets] != NULL) ++options.n_sets;
  *run = (model_run){0};
  assert_int_equal(yoke_context_create(&run->ctx), YOKE_OK);
  yoke_status status = yoke_model_load_text(run->ctx, "test.yaml", text, strlen(text), &options, &run->model);
  if (status != YOKE_OK) print_messages(run->ctx);
  assert_int_equal(status, YOKE_OK);
  return run_start(run);
}

static void assemble_well(model_run *run, const char *text, const char *const *sets) {
  const yoke_status status = assemble(run, text, sets);
  if (status != YOKE_OK) print_messages(run->ctx);
  assert_int_equal(status, YOKE_OK);
}

static bool message_has(const model_run *run, const char *part) {
  for (size_t i = 0; i < yoke_context_n_messages(run->ctx); ++i) {
    if (strstr(yoke_context_message(run->ctx, i), part) != NULL) return true;
  }
  return false;
}

static double largest_g(const model_run *run, const char *joint, int n) {
  double largest = 0.0;
  char   name[64];
  for (int k = 1; k <= n; ++k) {
    snprintf(name, sizeof name, "%s.g[%d]", joint, k);
    largest = fmax(largest, fabs(run_value(run, name)));
  }
  return largest;
}

/* --- guesses ---------------------------------------------------------------------------------------------------- */

/* A four-bar linkage in space. Every body but the crank is drawn about 0.1 m and 0.2 rad away from where it fits. */
static const char rough[] =
    "yoke: 1\n"
    "assemble: true\n"
    "gravity: [0, -9.81, 0]\n"
    "t_end: 1\n"
    "bodies:\n"
    "  crank: {kind: rigid, mass: 1, inertia: [0.1, 0.01, 0.1], position: [0, 0.5, 0],\n"
    "          omega: [0, 0, 1], velocity: [-0.5, 0, 0], keep: true,\n"
    "          frames: {foot: [0, -0.5, 0], tip: [0, 0.5, 0]}}\n"
    "  coupler: {kind: rigid, mass: 2, inertia: [0.02, 0.7, 0.7], position: [1.1, 1.4, 0.1],\n"
    "            orientation: [0.2, -0.2, 0.3], frames: {left: [-1, 0, 0], right: [1, 0, 0]}}\n"
    "  rocker: {kind: rigid, mass: 1.5, inertia: [0.3, 0.02, 0.3], position: [1.9, 0.8, -0.1],\n"
    "           orientation: [-0.2, 0.1, 0.2], frames: {foot: [0, -0.8, 0], tip: [0, 0.8, 0]}}\n"
    "connections:\n"
    "  a: {kind: revolute, between: [ground, crank.foot]}\n"
    "  b: {kind: spherical, between: [crank.tip, coupler.left]}\n"
    "  c: {kind: spherical, between: [coupler.right, rocker.tip]}\n"
    "  d: {kind: revolute, between: [[2, 0, 0], rocker.foot]}\n";

static void rough_guess_is_closed_and_kept_bodies_stand_still(void **state) {
  (void)state;
  static const struct {
    const char *name;
    double      value;
  } kept[] = {{"crank.x", 0},  {"crank.y", 0.5}, {"crank.z", 0},     {"crank.q0", 1}, {"crank.q1", 0},
              {"crank.q2", 0}, {"crank.q3", 0},  {"crank.vx", -0.5}, {"crank.vy", 0}, {"crank.wz", 1}};
  model_run run;
  assemble_well(&run, rough, NULL);
  CHECK_BELOW(largest_g(&run, "a", 5), 1e-12);
  CHECK_BELOW(largest_g(&run, "b", 3), 1e-12);
  CHECK_BELOW(largest_g(&run, "c", 3), 1e-12);
  CHECK_BELOW(largest_g(&run, "d", 5), 1e-12);
  for (size_t i = 0; i < sizeof kept / sizeof kept[0]; ++i)
    CHECK_NEAR(run_value(&run, kept[i].name), kept[i].value, 1e-15);
  /* the guess is a neighbour of the result */
  CHECK_NEAR(run_value(&run, "coupler.x"), 1.1, 0.3);
  CHECK_NEAR(run_value(&run, "coupler.y"), 1.4, 0.3);
  run_end(&run);
}

static void kept_bodies_move_when_they_must(void **state) {
  (void)state;
  static const char *const sets[] = {"bodies.rocker.keep=true", NULL};
  model_run                run;
  assemble_well(&run, rough, sets);
  CHECK_BELOW(largest_g(&run, "d", 5), 1e-12);
  assert_true(message_has(&run, "keep"));
  run_end(&run);
}

/* Angles beyond half a turn are met too: 200 deg is -160 deg. */
static const char arms[] =
    "yoke: 1\n"
    "t_end: 1\n"
    "bodies:\n"
    "  upper: {kind: rigid, mass: 1, inertia: [0.01, 0.1, 0.1], position: [0.5, 0.1, 0.1],\n"
    "          frames: {left: [-0.5, 0, 0], right: [0.5, 0, 0]}}\n"
    "  lower: {kind: rigid, mass: 1, inertia: [0.01, 0.1, 0.1], position: [1.4, 0.1, 0],\n"
    "          frames: {left: [-0.5, 0, 0]}}\n"
    "  slide: {kind: rigid, mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 0.1, 2]}\n"
    "connections:\n"
    "  shoulder: {kind: revolute, between: [ground, upper.left], initial: 30 deg, initial_rate: 2}\n"
    "  elbow: {kind: revolute, between: [upper.right, lower.left], initial: 200 deg, initial_rate: -3}\n"
    "  rail: {kind: translational, between: [ground, slide], initial: 1.5, initial_rate: 0.7}\n";

static void initial_coordinates_and_rates_are_met(void **state) {
  (void)state;
  const double a = pi / 6, b = pi / 6 + 200 * pi / 180;
  model_run    run;
  assemble_well(&run, arms, NULL);
  CHECK_NEAR(run_value(&run, "upper.x"), 0.5 * cos(a), 1e-12);
  CHECK_NEAR(run_value(&run, "upper.y"), 0.5 * sin(a), 1e-12);
  CHECK_NEAR(run_value(&run, "lower.x"), cos(a) + 0.5 * cos(b), 1e-12);
  CHECK_NEAR(run_value(&run, "lower.y"), sin(a) + 0.5 * sin(b), 1e-12);
  CHECK_NEAR(run_value(&run, "upper.wz"), 2.0, 1e-12);
  CHECK_NEAR(run_value(&run, "lower.wz"), -1.0, 1e-12);
  CHECK_NEAR(run_value(&run, "lower.vx"), -2.0 * sin(a) + 0.5 * sin(b), 1e-12);
  CHECK_NEAR(run_value(&run, "lower.vy"), 2.0 * cos(a) - 0.5 * cos(b), 1e-12);
  CHECK_NEAR(run_value(&run, "slide.z"), 1.5, 1e-12);
  CHECK_NEAR(run_value(&run, "slide.vz"), 0.7, 1e-12);
  run_end(&run);
}

/* --- impossible wishes --------------------------------------------------------------------------------------- */

/* Two rods of 1 m between points that are 3 m apart. */
static const char too_short[] =
    "yoke: 1\n"
    "t_end: 1\n"
    "bodies:\n"
    "  left: {kind: planar, mass: 1, inertia: 0.1, position: [0.5, 0.1], frames: {a: [-0.5, 0], b: [0.5, 0]}}\n"
    "  right: {kind: planar, mass: 1, inertia: 0.1, position: [2.5, 0.1], frames: {a: [-0.5, 0], b: [0.5, 0]}}\n"
    "connections:\n"
    "  hinge_west: {kind: revolute, between: [ground, left.a]}\n"
    "  hinge_middle: {kind: revolute, between: [left.b, right.a]}\n"
    "  hinge_east: {kind: revolute, between: [right.b, [3, 0, 0]]}\n";

static void impossible_assembly_names_a_joint(void **state) {
  (void)state;
  model_run run;
  assert_int_equal(assemble(&run, too_short, NULL), YOKE_E_MODEL);
  assert_true(message_has(&run, "cannot be assembled"));
  assert_true(message_has(&run, "hinge_west") || message_has(&run, "hinge_middle") || message_has(&run, "hinge_east"));
  run_end(&run);
}

static void contradicting_rates_name_a_joint(void **state) {
  (void)state;
  static const char model[] =
      "yoke: 1\n"
      "t_end: 1\n"
      "bodies:\n"
      "  rod: {kind: planar, mass: 1, inertia: 0.1, position: [0.5, 0], frames: {a: [-0.5, 0]}}\n"
      "connections:\n"
      "  pin: {kind: revolute, between: [ground, rod.a], initial_rate: 1}\n"
      "  nail: {kind: revolute, between: [ground, rod.a], initial_rate: 2}\n";
  model_run run;
  assert_int_equal(assemble(&run, model, NULL), YOKE_E_MODEL);
  assert_true(message_has(&run, "no velocities fit"));
  assert_true(message_has(&run, "pin") || message_has(&run, "nail"));
  run_end(&run);
}

/* --- how far the start was moved (F13) ----------------------------------------------------------------------------- */

/* A rod on a hinge, drawn `x` metres beside it. */
#define ROD_BESIDE(x, more)                                                                                            \
  "yoke: 1\n"                                                                                                          \
  "t_end: 1\n"                                                                                                         \
  "bodies:\n"                                                                                                          \
  "  rod: {kind: planar, mass: 1, inertia: 0.1, position: [" x ", 0], frames: {top: [-0.5, 0]}" more "}\n"             \
  "connections:\n"                                                                                                     \
  "  hinge: {kind: revolute, between: [ground, rod.top]}\n"

static void f13_bodies_that_moved_are_noted_with_the_distance(void **state) {
  (void)state;
  model_run run;
  assemble_well(&run, ROD_BESIDE("0.501", ""), NULL);
  assert_true(message_has(&run, "the assembly moved 'rod' by 0.001 m"));
  CHECK_NEAR(run_value(&run, "rod.x"), 0.5, 1e-15);
  run_end(&run);
}

static void f13_nothing_is_noted_of_rounding(void **state) {
  (void)state;
  model_run run;
  assemble_well(&run, ROD_BESIDE("0.5000001", ""), NULL);
  assert_false(message_has(&run, "moved"));
  run_end(&run);
}

static void f13_bodies_far_from_their_joints_are_refused(void **state) {
  (void)state;
  model_run run;
  assert_int_equal(assemble(&run, ROD_BESIDE("1", ""), NULL), YOKE_E_MODEL);
  assert_true(message_has(&run, "would move 'rod' by 0.5 m"));
  assert_true(message_has(&run, "assemble: true"));
  run_end(&run);
}

static void f13_bodies_far_from_their_joints_are_assembled_on_request(void **state) {
  (void)state;
  static const char *const sets[] = {"assemble=true", NULL};
  model_run                run;
  assemble_well(&run, ROD_BESIDE("1", ""), sets);
  assert_true(message_has(&run, "the assembly moved 'rod' by 0.5 m"));
  CHECK_NEAR(run_value(&run, "rod.x"), 0.5, 1e-12);
  run_end(&run);
}

/* The rotation alone does not fit: the rod turns with I / (I + m/4) of it, and the note says how to keep it. */
static void f13_given_velocities_that_do_not_fit_are_noted_with_a_remedy(void **state) {
  (void)state;
  model_run run;
  assemble_well(&run, ROD_BESIDE("0.5", ", omega: 2"), NULL);
  CHECK_NEAR(run_value(&run, "rod.omega"), 2.0 * 0.1 / 0.35, 1e-12);
  assert_true(message_has(&run, "changed the velocities of 'rod' by 1.43 rad/s"));
  assert_true(message_has(&run, "initial_rate"));
  run_end(&run);
}

static void f13_rounded_velocities_are_noted_without_a_remedy(void **state) {
  (void)state;
  model_run run;
  assemble_well(&run, ROD_BESIDE("0.5", ", omega: 2, velocity: [0, 1.001]"), NULL);
  assert_true(message_has(&run, "the assembly changed the velocities of 'rod' by"));
  assert_false(message_has(&run, "initial_rate"));
  run_end(&run);
}

static void f13_bodies_at_rest_follow_a_rate_without_a_note(void **state) {
  (void)state;
  static const char *const sets[] = {"connections.hinge.initial_rate=2", NULL};
  model_run                run;
  assemble_well(&run, ROD_BESIDE("0.5", ""), sets);
  assert_int_equal(yoke_context_n_messages(run.ctx), 0);
  CHECK_NEAR(run_value(&run, "rod.vy"), 1.0, 1e-12);
  run_end(&run);
}

/* `other` wants the end of the rod 0.3 m above the hinge that `hinge` wants it at; `spring` has no part in it. */
static void f13_joints_that_contradict_each_other_are_named_with_their_gaps(void **state) {
  (void)state;
  static const char model[] =
      "yoke: 1\n"
      "t_end: 1\n"
      "bodies:\n"
      "  rod: {kind: planar, mass: 1, inertia: 0.1, position: [0.5, 0], frames: {top: [-0.5, 0], tip: [0.5, 0]}}\n"
      "  next: {kind: planar, mass: 1, inertia: 0.1, position: [1.5, 0], frames: {top: [-0.5, 0]}}\n"
      "connections:\n"
      "  knee: {kind: revolute, between: [rod.tip, next.top]}\n"
      "  hinge: {kind: revolute, between: [ground, rod.top]}\n"
      "  other: {kind: revolute, between: [[0, 0.3, 0], rod.top]}\n";
  model_run run;
  assert_int_equal(assemble(&run, model, NULL), YOKE_E_MODEL);
  assert_true(message_has(&run, "'hinge' by 0.15 m"));
  assert_true(message_has(&run, "'other' by 0.15 m"));
  assert_true(message_has(&run, "contradict each other"));
  assert_false(message_has(&run, "'knee'"));
  run_end(&run);
}

/* --- any masses, any digits (F18, F19) ------------------------------------------------------------------------------ */

static void f18_velocities_change_least_in_the_norm_of_the_masses(void **state) {
  (void)state;
  static const char model[] = "yoke: 1\n"
                              "t_end: 1\n"
                              "bodies:\n"
                              "  disc: {kind: planar, mass: 4.88e6, inertia: 4.8e12, position: [9.05, 0], omega: "
                              "6.013, frames: {hub: [-9.05, 0]}}\n"
                              "connections:\n"
                              "  hinge: {kind: revolute, between: [ground, disc.hub]}\n";
  const double      I = 4.8e12, e = 9.05, m = 4.88e6;
  model_run         run;
  assemble_well(&run, model, NULL);
  CHECK_NEAR(run_value(&run, "disc.omega"), 6.013 * I / (I + m * e * e), 1e-9);
  run_end(&run);
}

/* Inertia with products: the change of velocities is M^-1 G^T kappa, so M dv does no work along the free motion, a turn about the hinge. */
static void f18_norm_of_the_masses_has_products_of_inertia(void **state) {
  (void)state;
  static const char model[] =
      "yoke: 1\n"
      "assemble: true\n"
      "t_end: 1\n"
      "bodies:\n"
      "  rod: {kind: rigid, mass: 2, inertia: [3, 4, 5, 0.5, -0.7, 0.9], position: [0.5, 0, 0], omega: [1, 2, 3],\n"
      "        frames: {top: [-0.5, 0, 0]}}\n"
      "connections:\n"
      "  hinge: {kind: revolute, between: [ground, rod.top]}\n";
  model_run run;
  assemble_well(&run, model, NULL);
  const double *J       = run.model->bodies[0].inertia;
  const double  given[] = {1, 2, 3};
  double        work    = 2.0 * 0.5 * run_value(&run, "rod.vy"); /* free motion: omega_z = 1, v_y = 0.5 */
  const char   *name[]  = {"rod.wx", "rod.wy", "rod.wz"};
  for (int k = 0; k < 3; ++k) work += J[6 + k] * (run_value(&run, name[k]) - given[k]);
  CHECK_NEAR(work, 0.0, 1e-12);
  run_end(&run);
}

/* A shaft with two cardan joints between bearings on parallel axes moves, although counting forbids it; the place of the second bearing
 * is written with `digits` decimals. */
static void write_cardan_shaft(char *text, size_t size, int digits, double density) {
  const double s = sin(20 * pi / 180), c = cos(20 * pi / 180), m = 1e-3 * density;
  snprintf(
      text, size,
      "yoke: 1\n"
      "t_end: 1\n"
      "bodies:\n"
      "  one: {kind: rigid, mass: %g, inertia: [%g, %g, %g], position: [0, 0, -0.5], omega: [0, 0, 1], keep: true,\n"
      "        frames: {bearing: [0, 0, -0.4], fork: {at: [0, 0, 0.5], axis: [1, 0, 0]}}}\n"
      "  two: {kind: rigid, mass: 3, inertia: [0.3, 0.3, 0.01], position: [%.*f, 0, %.*f], orientation: [0, 20 deg, "
      "0],\n"
      "        frames: {a: {at: [0, 0, -0.5], axis: [0, 1, 0]}, b: {at: [0, 0, 0.5], axis: [0, 1, 0]}}}\n"
      "  three: {kind: rigid, mass: 3, inertia: [0.3, 0.3, 0.01], position: [%.*f, 0, %.*f],\n"
      "          frames: {fork: {at: [0, 0, -0.5], axis: [1, 0, 0]}, bearing: [0, 0, 0.4]}}\n"
      "connections:\n"
      "  b1: {kind: revolute, between: [[0, 0, -0.9], one.bearing]}\n"
      "  u1: {kind: universal, between: [one.fork, two.a]}\n"
      "  u2: {kind: universal, between: [two.b, three.fork]}\n"
      "  b2: {kind: revolute, between: [[%.*f, 0, %.*f], three.bearing]}\n",
      m, 0.1 * m, 0.1 * m, 0.003 * m, digits, s / 2, digits, c / 2, digits, s, digits, c + 0.5, digits, s, digits,
      c + 0.9);
}

static void f19_overconstrained_mechanisms_run_with_any_number_of_digits(void **state) {
  (void)state;
  char text[2000];
  write_cardan_shaft(text, sizeof text, 17, 3000);
  model_run exact = run_text(text, NULL, "dop853", 1e-10, 0.0);
  for (int digits = 7; digits <= 15; ++digits) {
    write_cardan_shaft(text, sizeof text, digits, 3000);
    model_run run = run_text(text, NULL, "dop853", 1e-10, 0.0);
    CHECK_NEAR(run_value(&run, "three.wz"), run_value(&exact, "three.wz"), 1e-9 + pow(0.1, digits));
    CHECK_BELOW(largest_g(&run, "b2", 5), 10 * pow(0.1, digits) + 1e-12);
    assert_true(message_has(&run, "1 constraint row follows"));
    run_end(&run);
  }
  run_end(&exact);
}

static void f19_rows_that_follow_up_to_typed_digits_are_named(void **state) {
  (void)state;
  char text[2000];
  write_cardan_shaft(text, sizeof text, 8, 3000);
  model_run run;
  assemble_well(&run, text, NULL);
  assert_true(message_has(&run, "but for the digits that were typed"));
  assert_true(message_has(&run, "'b2: perpendicular xz'"));
  run_end(&run);
}

static void f19_implicit_solvers_run_with_eight_digits_too(void **state) {
  (void)state;
  char text[2000];
  write_cardan_shaft(text, sizeof text, 8, 3000);
  model_run a = run_text(text, NULL, "radau5", 1e-8, 0.0), b = run_text(text, NULL, "bdf", 1e-8, 0.0);
  CHECK_NEAR(run_value(&a, "three.wz"), run_value(&b, "three.wz"), 1e-7);
  run_end(&a);
  run_end(&b);
}

static void f19_all_solvers_run_with_eight_ten_and_twelve_digits(void **state) {
  (void)state;
  static const char *const solvers[] = {"auto", "dopri5", "dop853", "abm", "radau5", "bdf"};
  char                     text[2000];
  write_cardan_shaft(text, sizeof text, 17, 3000);
  model_run exact = run_text(text, NULL, "dop853", 1e-10, 0.0);
  for (int digits = 8; digits <= 12; digits += 2) {
    for (size_t s = 0; s < sizeof solvers / sizeof *solvers; ++s) {
      write_cardan_shaft(text, sizeof text, digits, 3000);
      model_run run = run_text(text, NULL, solvers[s], 1e-8, 0.0);
      CHECK_NEAR(run_value(&run, "three.wz"), run_value(&exact, "three.wz"), 1e-6);
      run_end(&run);
    }
  }
  run_end(&exact);
}

/* A parallelogram; the pivot on the right and the end of the coupler are off by `pivot` and `end`. Where all bars lie on one line it would turn back. */
static void write_parallelogram(char *text, size_t size, double pivot, double end) {
  snprintf(text, size,
           "yoke: 1\n"
           "gravity: [0, -9.81, 0]\n"
           "t_end: 3\n"
           "bodies:\n"
           "  left: {kind: planar, mass: 1, inertia: 0.1, position: [0, 0.5], angle: pi/2, velocity: [0.5, 0], "
           "omega: -1, frames: {a: [-0.5, 0], b: [0.5, 0]}}\n"
           "  right: {kind: planar, mass: 1, inertia: 0.1, position: [1.5, 0.5], angle: pi/2, velocity: [0.5, 0], "
           "omega: -1, frames: {a: [-0.5, 0], b: [0.5, 0]}}\n"
           "  coupler: {kind: planar, mass: 1, inertia: 0.1, position: [0.75, 1], velocity: [1, 0], "
           "frames: {a: [-0.75, 0], b: [%.17g, 0]}}\n"
           "connections:\n"
           "  a1: {kind: revolute, between: [ground, left.a]}\n"
           "  a2: {kind: revolute, between: [[%.17g, 0, 0], right.a]}\n"
           "  b1: {kind: revolute, between: [left.b, coupler.a]}\n"
           "  b2: {kind: revolute, between: [coupler.b, right.b]}\n",
           0.75 + end, 1.5 + pivot);
}

static void f19_parallelograms_that_are_off_by_a_digit_pass_singular_positions(void **state) {
  (void)state;
  static const char *const solvers[] = {"auto", "dopri5", "dop853", "abm", "radau5", "bdf"};
  static const double      off[][2]  = {{1e-13, 0.0}, {1e-12, 0.0}, {-1e-11, 0.0}, {0.0, 1e-12}, {0.0, -1e-13}};
  char                     text[2000];
  write_parallelogram(text, sizeof text, 0.0, 0.0);
  model_run exact = run_text(text, NULL, "dop853", 1e-11, 0.0);
  for (size_t k = 0; k < sizeof off / sizeof *off; ++k) {
    for (size_t s = 0; s < sizeof solvers / sizeof *solvers; ++s) {
      write_parallelogram(text, sizeof text, off[k][0], off[k][1]);
      model_run run = run_text(text, NULL, solvers[s], 1e-8, 0.0);
      CHECK_NEAR(run_value(&run, "left.angle"), run_value(&exact, "left.angle"), 1e-4);
      CHECK_NEAR(run_value(&run, "right.angle"), run_value(&run, "left.angle"), 1e-6);
      assert_true(message_has(&run, "taken for digits that were not typed"));
      assert_true(message_has(&run, off[k][0] != 0.0 ? "'a2' is the one" : "'b2' is the one"));
      run_end(&run);
    }
  }
  run_end(&exact);
}

/* Bodies that stand where ten digits put them are moved, frames are not: lengths stay equal. */
static void f19_bodies_that_are_off_by_a_digit_are_moved(void **state) {
  (void)state;
  static const char *const off[] = {"bodies.right.position=[1.5000000000001, 0.5]", NULL};
  char                     text[2000];
  write_parallelogram(text, sizeof text, 0.0, 0.0);
  model_run run = run_text(text, off, "dop853", 1e-8, 0.0);
  CHECK_NEAR(run_value(&run, "right.angle"), run_value(&run, "left.angle"), 1e-6);
  assert_false(message_has(&run, "not typed"));
  run_end(&run);
}

static void f13_densities_do_not_decide_whether_a_mechanism_closes(void **state) {
  (void)state;
  char text[2000];
  for (double density = 0.3; density < 1e8; density *= 97) {
    model_run run;
    write_cardan_shaft(text, sizeof text, 8, density);
    assemble_well(&run, text, NULL);
    run_end(&run);
  }
}

/* With three decimals the joints contradict each other by more than rounding explains. */
static void f19_gaps_beyond_typed_digits_are_refused(void **state) {
  (void)state;
  char      text[2000];
  model_run run;
  write_cardan_shaft(text, sizeof text, 3, 3000);
  assert_int_equal(assemble(&run, text, NULL), YOKE_E_MODEL);
  assert_true(message_has(&run, "contradict each other"));
  run_end(&run);
}

/* Three equal bars hold a coupler; as one of them is longer by 1e-9, its last row is left out. Where all bars lie on one line the mechanism
 * may leave as an antiparallelogram, which the third bar would forbid. */
static void f19_rows_that_are_left_out_may_not_open(void **state) {
  (void)state;
  static const char model[] = "yoke: 1\n"
                              "gravity: [0, -9.81, 0]\n"
                              "t_end: 2\n"
                              "parameters: {c: 0.7*cos(1.1), s: 0.7*sin(1.1)}\n"
                              "bodies:\n"
                              "  one: {kind: planar, mass: 1, inertia: 0.04, position: [c/2, s/2], angle: 1.1, frames: "
                              "{a: [-0.35, 0], b: [0.35, 0]}}\n"
                              "  two: {kind: planar, mass: 1, inertia: 0.04, position: [0.8 + c/2, s/2], angle: 1.1,\n"
                              "        frames: {a: [-0.35, 0], b: [0.350000001, 0]}}\n"
                              "  three: {kind: planar, mass: 1, inertia: 0.04, position: [2 + c/2, s/2], angle: 1.1,\n"
                              "          frames: {a: [-0.35, 0], b: [0.349999999, 0]}}\n"
                              "  coupler: {kind: planar, mass: 2, inertia: 0.1, position: [1 + c, s], frames: {a: [-1, "
                              "0], b: [-0.2, 0], d: [1, 0]}}\n"
                              "connections:\n"
                              "  a1: {kind: revolute, between: [ground, one.a]}\n"
                              "  a2: {kind: revolute, between: [[0.8, 0, 0], two.a]}\n"
                              "  a3: {kind: revolute, between: [[2, 0, 0], three.a]}\n"
                              "  b1: {kind: revolute, between: [one.b, coupler.a]}\n"
                              "  b2: {kind: revolute, between: [two.b, coupler.b]}\n"
                              "  b3: {kind: revolute, between: [three.b, coupler.d]}\n";
  model_run         run;
  assemble_well(&run, model, NULL);
  assert_int_equal(yoke_system_run(run.system, 2.0, NULL, &run.summary, run.ctx), YOKE_E_UNSTABLE);
  assert_true(message_has(&run, "the mechanism passed a singular position"));
  assert_true(message_has(&run, "joint 'b3'"));
  run_end(&run);
}

static void f60_models_that_cannot_move_are_told(void **state) {
  (void)state;
  static const char *const sets[] = {"connections.hinge.kind=fixed", NULL};
  model_run                run;
  assemble_well(&run, ROD_BESIDE("0.5", ""), NULL);
  assert_false(message_has(&run, "cannot move"));
  run_end(&run);
  assemble_well(&run, ROD_BESIDE("0.5", ""), sets);
  assert_true(message_has(&run, "cannot move: its bodies have 3 freedoms, and its joints hold all of them"));
  run_end(&run);
}

/* --- redundant rows ---------------------------------------------------------------------------------------------- */

#define PARALLELOGRAM(kind, inertia, crank_rate, zero)                                                                 \
  "yoke: 1\n"                                                                                                          \
  "gravity: [0, -9.81, 0]\n"                                                                                           \
  "t_end: 2\n"                                                                                                         \
  "bodies:\n"                                                                                                          \
  "  crank: {kind: " kind ", mass: 1, inertia: " inertia ", position: [0, 0.5" zero "], omega: " crank_rate ",\n"      \
  "          velocity: [-1, 0" zero "], frames: {foot: [0, -0.5" zero "], tip: [0, 0.5" zero "]}}\n"                   \
  "  coupler: {kind: " kind ", mass: 2, inertia: " inertia ", position: [1, 1" zero "], velocity: [-2, 0" zero "],\n"  \
  "            frames: {left: [-1, 0" zero "], right: [1, 0" zero "]}}\n"                                              \
  "  rocker: {kind: " kind ", mass: 1.5, inertia: " inertia ", position: [2, 0.5" zero "], omega: " crank_rate ",\n"   \
  "           velocity: [-1, 0" zero "], frames: {foot: [0, -0.5" zero "], tip: [0, 0.5" zero "]}}\n"                  \
  "connections:\n"                                                                                                     \
  "  a: {kind: revolute, between: [ground, crank.foot]}\n"                                                             \
  "  b: {kind: revolute, between: [crank.tip, coupler.left]}\n"                                                        \
  "  c: {kind: revolute, between: [coupler.right, rocker.tip]}\n"                                                      \
  "  d: {kind: revolute, between: [rocker.foot, [2, 0, 0]]}\n"

static const char parallelogram_in_space[] = PARALLELOGRAM("rigid", "[0.1, 0.1, 0.2]", "[0, 0, 2]", ", 0");
static const char parallelogram_in_plane[] = PARALLELOGRAM("planar", "0.2", "2", "");

static void redundant_rows_are_counted_and_named(void **state) {
  (void)state;
  model_run run;
  assemble_well(&run, parallelogram_in_space, NULL);
  const yoke_plan_facts facts = yoke_native_part_facts(run.plan, yoke_system_subsystem(run.system, 0));
  assert_int_equal(facts.ng, 20);
  assert_int_equal(facts.n_redundant, 3);
  assert_int_equal(facts.n_freedoms, 1);
  assert_true(message_has(&run, "3 constraint rows follow"));
  assert_true(message_has(&run, "'d: "));
  run_end(&run);
}

/* The same linkage without redundant rows is the reference. */
static void redundant_rows_do_not_change_the_motion(void **state) {
  (void)state;
  static const char *const solvers[] = {"auto", "dop853", "radau5", "bdf"};
  model_run                plane     = run_text(parallelogram_in_plane, NULL, "dop853", 1e-12, 0.4);
  for (size_t s = 0; s < sizeof solvers / sizeof solvers[0]; ++s) {
    model_run run = run_text(parallelogram_in_space, NULL, solvers[s], 1e-10, 0.4);
    CHECK_NEAR(run_value(&run, "coupler.x"), run_value(&plane, "coupler.x"), 1e-8);
    CHECK_NEAR(run_value(&run, "coupler.y"), run_value(&plane, "coupler.y"), 1e-8);
    CHECK_NEAR(run_value(&run, "rocker.wz"), run_value(&plane, "rocker.omega"), 1e-7);
    CHECK_NEAR(run_value(&run, "a.force[1]"), run_value(&plane, "a.force[1]"), 1e-5);
    CHECK_NEAR(run_value(&run, "d.force[2]"), run_value(&plane, "d.force[2]"), 1e-5);
    CHECK_BELOW(run.summary.constraint_residual, 1e-9);
    run_end(&run);
  }
  run_end(&plane);
}

/* All bars on one line: for an instant one row follows from the others, and a moment later it does not. */
static void rows_that_depend_for_an_instant_only_are_not_redundant(void **state) {
  (void)state;
  static const char model[] =
      "yoke: 1\n"
      "t_end: 1\n"
      "bodies:\n"
      "  crank: {kind: planar, mass: 1, inertia: 0.1, position: [0.5, 0], frames: {a: [-0.5, 0], b: [0.5, 0]}}\n"
      "  coupler: {kind: planar, mass: 1, inertia: 0.1, position: [2, 0], frames: {a: [-1, 0], b: [1, 0]}}\n"
      "  rocker: {kind: planar, mass: 1, inertia: 0.1, position: [2.5, 0], frames: {a: [-0.5, 0], b: [0.5, 0]}}\n"
      "connections:\n"
      "  a: {kind: revolute, between: [ground, crank.a]}\n"
      "  b: {kind: revolute, between: [crank.b, coupler.a]}\n"
      "  c: {kind: revolute, between: [coupler.b, rocker.b]}\n"
      "  d: {kind: revolute, between: [rocker.a, [2, 0, 0]]}\n";
  model_run run;
  assemble_well(&run, model, NULL);
  const yoke_plan_facts facts = yoke_native_part_facts(run.plan, yoke_system_subsystem(run.system, 0));
  assert_int_equal(facts.n_redundant, 0);
  assert_int_equal(facts.n_freedoms, 1);
  run_end(&run);
}

/* --- Bricard's mechanism ------------------------------------------------------------------------------------------ */

static void bricard_moves_although_counting_forbids_it(void **state) {
  (void)state;
  static const char *const solvers[] = {"auto", "dop853", "radau5", "bdf"};
  for (size_t s = 0; s < sizeof solvers / sizeof solvers[0]; ++s) {
    model_run             run   = run_file("examples/bricard.yaml", NULL, solvers[s], 0.0, 0.0);
    const yoke_plan_facts facts = yoke_native_part_facts(run.plan, yoke_system_subsystem(run.system, 0));
    assert_int_equal(facts.n_redundant, 1);
    assert_int_equal(facts.n_freedoms, 1);
    CHECK_BELOW(run.summary.energy_drift, 1e-6 * fabs(run.summary.energy_start));
    CHECK_BELOW(run.summary.constraint_residual, 1e-9);
    CHECK_NEAR(run_value(&run, "bar_3.x"), 0.9998654756, 1e-7); /* rtol 1e-11 by dop853, radau5 and bdf */
    run_end(&run);
  }
}

static void bricard_converges_to_the_same_motion(void **state) {
  (void)state;
  static const char *const solvers[] = {"dop853", "radau5", "bdf"};
  double                   y[3];
  for (int s = 0; s < 3; ++s) {
    model_run run = run_file("examples/bricard.yaml", NULL, solvers[s], 1e-11, 5.0);
    y[s]          = run_value(&run, "bar_3.y");
    run_end(&run);
  }
  CHECK_NEAR(y[1], y[0], 1e-8);
  CHECK_NEAR(y[2], y[0], 1e-8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rough_guess_is_closed_and_kept_bodies_stand_still),
      cmocka_unit_test(kept_bodies_move_when_they_must),
      cmocka_unit_test(initial_coordinates_and_rates_are_met),
      cmocka_unit_test(impossible_assembly_names_a_joint),
      cmocka_unit_test(contradicting_rates_name_a_joint),
      cmocka_unit_test(f13_bodies_that_moved_are_noted_with_the_distance),
      cmocka_unit_test(f13_nothing_is_noted_of_rounding),
      cmocka_unit_test(f13_bodies_far_from_their_joints_are_refused),
      cmocka_unit_test(f13_bodies_far_from_their_joints_are_assembled_on_request),
      cmocka_unit_test(f13_given_velocities_that_do_not_fit_are_noted_with_a_remedy),
      cmocka_unit_test(f13_rounded_velocities_are_noted_without_a_remedy),
      cmocka_unit_test(f13_bodies_at_rest_follow_a_rate_without_a_note),
      cmocka_unit_test(f13_joints_that_contradict_each_other_are_named_with_their_gaps),
      cmocka_unit_test(f13_densities_do_not_decide_whether_a_mechanism_closes),
      cmocka_unit_test(f18_velocities_change_least_in_the_norm_of_the_masses),
      cmocka_unit_test(f18_norm_of_the_masses_has_products_of_inertia),
      cmocka_unit_test(f19_overconstrained_mechanisms_run_with_any_number_of_digits),
      cmocka_unit_test(f19_rows_that_follow_up_to_typed_digits_are_named),
      cmocka_unit_test(f19_implicit_solvers_run_with_eight_digits_too),
      cmocka_unit_test(f19_all_solvers_run_with_eight_ten_and_twelve_digits),
      cmocka_unit_test(f19_parallelograms_that_are_off_by_a_digit_pass_singular_positions),
      cmocka_unit_test(f19_bodies_that_are_off_by_a_digit_are_moved),
      cmocka_unit_test(f19_gaps_beyond_typed_digits_are_refused),
      cmocka_unit_test(f19_rows_that_are_left_out_may_not_open),
      cmocka_unit_test(f60_models_that_cannot_move_are_told),
      cmocka_unit_test(redundant_rows_are_counted_and_named),
      cmocka_unit_test(redundant_rows_do_not_change_the_motion),
      cmocka_unit_test(rows_that_depend_for_an_instant_only_are_not_redundant),
      cmocka_unit_test(bricard_moves_although_counting_forbids_it),
      cmocka_unit_test(bricard_converges_to_the_same_motion),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
