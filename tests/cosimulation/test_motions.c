/* Prescribed motions: their accelerations, where these jump, and where their rates do. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "cosimulate.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static const char *const solvers[] = {"auto", "dopri5", "abm", "radau5", "bdf"};

static const char shaker[] = "yoke: 1\n"
                             "t_end: 1e-4\n"
                             "bodies: {table: {kind: planar, mass: 2, inertia: 1}}\n"
                             "connections:\n"
                             "  drive: {kind: translational, between: [ground, table], axis: [1, 0, 0],\n"
                             "          motion: 1e-6*sin(1e5*t)}\n";

static void a_fast_motion_has_its_acceleration(void **state) {
  (void)state;
  for (size_t k = 0; k < COUNT(solvers); ++k) {
    char sets[100];
    snprintf(sets, sizeof sets, "solvers.default={kind: %s, rtol: 1e-9}", solvers[k]);
    cosim c = cosim_done_monolithic(shaker, sets, 0.0);
    CHECK_NEAR(cosim_value(&c, "table.ax"), -1e4 * sin(10.0), 1e-7);
    cosim_close(&c);
  }
}

/* A cart that is driven, and a rod that hangs on it. */
#define CART(MOTION)                                                                                                   \
  "yoke: 1\n"                                                                                                          \
  "t_end: 1\n"                                                                                                         \
  "bodies:\n"                                                                                                          \
  "  cart: {kind: planar, mass: 2, inertia: 1}\n"                                                                      \
  "  rod: {kind: planar, mass: 1, inertia: 0.1, position: [0, -0.5], frames: {top: [0, 0.5]}}\n"                       \
  "connections:\n"                                                                                                     \
  "  drive: {kind: translational, between: [ground, cart], axis: [1, 0, 0], motion: '" MOTION "'}\n"                   \
  "  hinge: {kind: revolute, between: [cart, rod.top]}\n"                                                              \
  "split: {a: [cart], b: [rod]}\n"

static void joints_feel_an_acceleration_that_jumps_from_there_on(void **state) {
  (void)state;
  static const char model[] = CART("max(0, t - 0.5)^2");
  static const char whole[] = "solvers.default.rtol=1e-10";
  static const char split[] = "solvers.default.rtol=1e-10;cosimulation.step=2e-3";
  cosim             a = cosim_done_monolithic(model, whole, 0.0), b = cosim_done(model, split, 0.0);
  CHECK_NEAR(cosim_value(&b, "rod.angle"), cosim_value(&a, "rod.angle"), 1e-8);
  CHECK_NEAR(cosim_value(&b, "hinge.force[1]"), cosim_value(&a, "hinge.force[1]"), 1e-4);
  cosim_close(&a);
  cosim_close(&b);
}

/* The cart goes from rest to 1 m/s at 0.5 s: the impulse on the top of the rod, a = 0.5 m above its centre of mass, gives it the angular velocity
 * m a / (I + m a^2), with which it goes on turning about the cart. */
static void expect_kick(const char *model, const char *sets, bool as_a_whole, double limit) {
  const double omega = -0.5 / 0.35, angle = 0.5 * omega;
  cosim        c = as_a_whole ? cosim_done_monolithic(model, sets, 0.0) : cosim_done(model, sets, 0.0);
  CHECK_NEAR(cosim_value(&c, "rod.omega"), omega, limit);
  CHECK_NEAR(cosim_value(&c, "rod.angle"), angle, limit);
  CHECK_NEAR(cosim_value(&c, "rod.x"), 0.5 + 0.5 * sin(angle), limit);
  CHECK_NEAR(cosim_value(&c, "total.balance"), 0.0, limit);
  cosim_close(&c);
}

static void a_rate_that_jumps_kicks_what_hangs_on_it(void **state) {
  (void)state;
  for (size_t k = 0; k < COUNT(solvers); ++k) {
    char sets[100];
    snprintf(sets, sizeof sets, "solvers.default={kind: %s, rtol: 1e-9}", solvers[k]);
    expect_kick(CART("max(0, t - 0.5)"), sets, true, 1e-6);
    expect_kick(CART("(t - 0.5)*step(t - 0.5)"), sets, true, 1e-6);
  }
}

static void a_rate_that_jumps_kicks_across_the_split(void **state) {
  (void)state;
  static const char *const methods[] = {
      "cosimulation.energy=monitor", "cosimulation={step: 5e-3, energy: monitor}",
      "cosimulation={step: 5e-3, energy: monitor, scheme: implicit, order: 2}",
      "cosimulation={step: 5e-3, energy: monitor, couplings: {formulation: projection}}"};
  for (size_t k = 0; k < COUNT(methods); ++k) expect_kick(CART("max(0, t - 0.5)"), methods[k], false, 2e-3);
}

/* Behind the kick the cart is where its motion says, whatever pulls at it: Newton's method needs one iteration, in which the multiplier that does the
 * work follows from that of the prediction. */
static void work_of_a_motion_is_counted_with_the_multipliers_of_the_stages(void **state) {
  static const char *const kinds[] = {"dop853", "radau5"};
  (void)state;
  for (size_t k = 0; k < COUNT(kinds); ++k) {
    char sets[200];
    snprintf(sets, sizeof sets, "solvers.default={kind: %s, rtol: 1e-10};cosimulation={step: 2e-3, energy: monitor}",
             kinds[k]);
    cosim c = cosim_done(CART("max(0, t - 0.5)"), sets, 0.0);
    assert_true(cosim_value(&c, "total.external") > 1.0);
    CHECK_NEAR(cosim_value(&c, "total.leak"), 0.0, 1e-9);
    cosim_close(&c);
  }
}

/* A cart that is driven to and fro with a rod that swings on it, and a mass that next to nothing couples: what is left of the balance is the error of the
 * solver, and that of the work of the motion, which follows from multipliers. */
static const char driven[] =
    "yoke: 1\n"
    "t_end: 1\n"
    "gravity: [0, -9.81]\n"
    "bodies:\n"
    "  cart: {kind: planar, mass: 2, inertia: 1}\n"
    "  rod: {kind: planar, mass: 1, inertia: 0.1, position: [0, -0.5], frames: {top: [0, 0.5]}}\n"
    "  m: {kind: planar, mass: 1, inertia: 1, position: [1, 0]}\n"
    "connections:\n"
    "  drive: {kind: translational, between: [ground, cart], axis: [1, 0, 0], motion: 0.3*(1 - cos(9*t))}\n"
    "  hinge: {kind: revolute, between: [cart, rod.top]}\n"
    "  rail: {kind: translational, between: [ground, m], axis: [1, 0, 0]}\n"
    "  thread: {kind: spring-damper, between: [rod, m], stiffness: 1e-9, damping: 0, free_length: 1}\n"
    "split: {a: [cart, rod], b: [m]}\n"
    "cosimulation: {step: 4e-2, energy: monitor}\n";

static void work_of_a_motion_has_the_order_of_the_solver(void **state) {
  static const struct {
    const char *kind;
    double      order, slack;
  } list[] = {
      {"radau5", 5.0, 0.1}, {"genalpha", 2.0, 0.15}, {"newmark-al", 2.0, 0.1}, {"lin-implicit-euler", 1.0, 0.1}};
  (void)state;
  for (size_t k = 0; k < COUNT(list); ++k) {
    double leak[2];
    for (int i = 0; i < 2; ++i) {
      char sets[100];
      snprintf(sets, sizeof sets, "solvers.default={kind: %s, step: %g}", list[k].kind, i == 0 ? 1e-2 : 5e-3);
      cosim c = cosim_done(driven, sets, 0.0);
      assert_true(cosim_value(&c, "total.external") > 1.4);
      leak[i] = fabs(cosim_value(&c, "total.leak"));
      cosim_close(&c);
    }
    CHECK_ORDER(leak, 2, list[k].order, list[k].slack);
  }
}

/* A ramp, which begins and ends with a kick, written as a minimum of a maximum and as a sum: the former was 14 % off without a word. */
static void a_ramp_kicks_at_both_ends_however_it_is_written(void **state) {
  static const char *const quantities[] = {"rod.angle", "rod.omega", "rod.x"};
  (void)state;
  for (int split = 0; split < 2; ++split) {
    const char *sets = "solvers.default.rtol=1e-9";
    cosim       a    = split ? cosim_done(CART("min(0.05, max(0, t - 0.5))"), sets, 0.0)
                             : cosim_done_monolithic(CART("min(0.05, max(0, t - 0.5))"), sets, 0.0);
    cosim       b    = cosim_done_monolithic(CART("max(0, t - 0.5) - max(0, t - 0.55)"), sets, 0.0);
    for (size_t k = 0; k < COUNT(quantities); ++k)
      CHECK_NEAR(cosim_value(&a, quantities[k]), cosim_value(&b, quantities[k]), split ? 1e-4 : 1e-8);
    cosim_close(&a);
    cosim_close(&b);
  }
}

/* A kink whose time no straight line tells: neither the whole model nor its parts were kicked, without a word. */
static void a_kink_of_a_curved_motion_kicks(void **state) {
  (void)state;
  for (int split = 0; split < 2; ++split) {
    cosim a = split ? cosim_done(CART("max(0, t^2 - 0.25)"), NULL, 0.0)
                    : cosim_done_monolithic(CART("max(0, t^2 - 0.25)"), NULL, 0.0);
    cosim b = cosim_done_monolithic(CART("(t^2 - 0.25)*step(t - 0.5)"), NULL, 0.0);
    CHECK_NEAR(cosim_value(&a, "rod.omega"), cosim_value(&b, "rod.omega"), split ? 1e-3 : 1e-6);
    CHECK_NEAR(cosim_value(&a, "rod.angle"), cosim_value(&b, "rod.angle"), split ? 1e-4 : 1e-6);
    cosim_close(&a);
    cosim_close(&b);
  }
}

static void a_rate_that_jumps_at_the_start_is_that_behind_it(void **state) {
  (void)state;
  cosim a = cosim_done_monolithic(CART("abs(t)"), NULL, 0.0), b = cosim_done(CART("abs(t)"), NULL, 0.0);
  CHECK_NEAR(cosim_value(&a, "cart.vx"), 1.0, 1e-12);
  CHECK_NEAR(cosim_value(&b, "rod.x"), cosim_value(&a, "rod.x"), 1e-4);
  cosim_close(&a);
  cosim_close(&b);
}

/* The velocity of the cart at the regular sample that falls on the kick at 0.5 s. */
static yoke_status keep_sample(void *user, double t, const double *outputs, const yoke_counters *counters, double h,
                               int order) {
  (void)counters, (void)h, (void)order;
  if (fabs(t - 0.5) < 1e-12) *(double *)user = outputs[0];
  return YOKE_OK;
}

static void samples_at_a_kick_show_what_was_before(void **state) {
  (void)state;
  static const char *const methods[] = {"output={every: 0.25, select: [cart.vx]}",
                                        "output={every: 0.25, select: [cart.vx]};cosimulation.step=5e-3"};
  for (size_t k = 0; k <= COUNT(methods); ++k) { /* the last one: as a whole */
    cosim           c;
    double          vx   = NAN;
    const yoke_sink sink = {.user = &vx, .sample = keep_sample};
    if (k < COUNT(methods))
      cosim_open(&c, CART("max(0, t - 0.5)"), methods[k]);
    else
      cosim_open_monolithic(&c, CART("max(0, t - 0.5)"), methods[0]);
    assert_int_equal(yoke_system_run(c.system, 1.0, &sink, NULL, c.ctx), YOKE_OK);
    CHECK_NEAR(vx, 0.0, 1e-12);
    CHECK_NEAR(cosim_value(&c, "cart.vx"), 1.0, 1e-9);
    cosim_close(&c);
  }
}

static void a_run_that_was_stopped_at_a_kick_goes_on_with_it(void **state) {
  (void)state;
  static const char *const methods[] = {NULL, "cosimulation.step=5e-3"};
  for (size_t k = 0; k < COUNT(methods); ++k) {
    cosim c;
    cosim_open(&c, CART("max(0, t - 0.5)"), methods[k]);
    assert_int_equal(cosim_run(&c, 0.5, NULL, NULL), YOKE_OK);
    CHECK_NEAR(cosim_value(&c, "rod.omega"), 0.0, 1e-9);
    assert_int_equal(cosim_run(&c, 1.0, NULL, NULL), YOKE_OK);
    CHECK_NEAR(cosim_value(&c, "rod.angle"), -0.25 / 0.35, 2e-3);
    cosim_close(&c);
  }
}

/* Its rate behind the start, 2.7 sin(3 DBL_MIN), is less than the smallest numbers hold to their last digit. */
static void a_motion_sets_out_from_rest(void **state) {
  (void)state;
  static const char model[] =
      "yoke: 1\n"
      "t_end: 1\n"
      "bodies: {table: {kind: rigid, mass: 10, inertia: [1, 1, 1], position: [0, 0, 2]}}\n"
      "connections:\n"
      "  rail: {kind: translational, between: [[0, 0, 2], table], axis: [1, 0, 0], motion: 0.3*(1 - cos(3*t))}\n";
  cosim c = cosim_done_monolithic(model, NULL, 0.0);
  CHECK_NEAR(cosim_value(&c, "table.vx"), 0.9 * sin(3.0), 1e-7);
  cosim_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_fast_motion_has_its_acceleration),
      cmocka_unit_test(joints_feel_an_acceleration_that_jumps_from_there_on),
      cmocka_unit_test(a_rate_that_jumps_kicks_what_hangs_on_it),
      cmocka_unit_test(a_rate_that_jumps_kicks_across_the_split),
      cmocka_unit_test(work_of_a_motion_is_counted_with_the_multipliers_of_the_stages),
      cmocka_unit_test(work_of_a_motion_has_the_order_of_the_solver),
      cmocka_unit_test(a_ramp_kicks_at_both_ends_however_it_is_written),
      cmocka_unit_test(a_kink_of_a_curved_motion_kicks),
      cmocka_unit_test(a_rate_that_jumps_at_the_start_is_that_behind_it),
      cmocka_unit_test(samples_at_a_kick_show_what_was_before),
      cmocka_unit_test(a_run_that_was_stopped_at_a_kick_goes_on_with_it),
      cmocka_unit_test(a_motion_sets_out_from_rest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
