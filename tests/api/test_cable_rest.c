/* Cables at rest against check values and theory. Uses include/yoke only. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include <yoke/yoke.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A number of a model of n elements at rest. */
static double value_at_rest(const char *model_text, int n, const char *name) {
  yoke_context           *ctx;
  yoke_model             *model;
  yoke_simulation        *simulation;
  char                    set[40];
  const char             *sets[1] = {set}, *names[1] = {name};
  const yoke_load_options load = {.size = sizeof load, .n_sets = 1, .sets = sets};
  int                     handle;
  double                  y;
  snprintf(set, sizeof set, "parameters.n=%d", n);
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_model_load_text(ctx, "beam.yaml", model_text, strlen(model_text), &load, &model), YOKE_OK);
  const yoke_simulation_options options = {.size = sizeof options, .monolithic = true, .at_rest = true};
  const yoke_status             status  = yoke_simulation_create(ctx, model, &options, &simulation);
  if (status != YOKE_OK) print_message("%s\n", yoke_context_message(ctx, 0));
  assert_int_equal(status, YOKE_OK);
  assert_int_equal(yoke_simulation_find(ctx, simulation, 1, names, &handle), YOKE_OK);
  assert_int_equal(yoke_simulation_get(ctx, simulation, 1, &handle, &y), YOKE_OK);
  yoke_simulation_destroy(&simulation);
  yoke_model_destroy(&model);
  yoke_context_destroy(&ctx);
  return y;
}

static double tip_at_rest(const char *model_text, int n) {
  char name[40];
  snprintf(name, sizeof name, "beam.node[%d].y", n + 1);
  return value_at_rest(model_text, n, name);
}

/* Benchmark B9: the whole slope is held at the clamp. */
#define BENCHMARK                                                                                                      \
  "yoke: 1\n"                                                                                                          \
  "parameters: {n: 1, L: 2, E: 2.07e11, w: 0.1, EI: E*w^4/12}\n"                                                       \
  "t_end: 1\n"                                                                                                         \
  "bodies:\n"                                                                                                          \
  "  beam: {kind: ancf-cable, elements: n, from: [0, 0, 0], to: [L, 0, 0], mass: 7850*w^2*L,\n"                        \
  "         axial_stiffness: E*w^2, bending_stiffness: EI}\n"                                                          \
  "connections:\n"                                                                                                     \
  "  pin: {kind: spherical, between: [beam.a, ground]}\n"                                                              \
  "  clamp: {kind: %s}\n"                                                                                              \
  "loads: {tip: {kind: constant, on: beam.b, force: [0, -3*EI/L^2, 0]}}\n"
#define BY_SLOPE "spherical, between: [beam.slope[1], [1, 0, 0]]"
#define BY_DIRECTION "tangent, between: [beam.slope[1], ground], axis: [1, 0, 0]"
static void large_deflections_are_those_of_the_benchmark(void **state) {
  (void)state;
  char text[1000];
  snprintf(text, sizeof text, BENCHMARK, BY_SLOPE);
  const double tip[5] = {-0.9762697, -1.1681490, -1.2052138, -1.2082139, -1.2083581};
  for (int k = 0; k < 5; ++k) assert_true(fabs(tip_at_rest(text, 1 << k) - tip[k]) < 1e-6);
}

/* Orders of what the tip moves from n to 2 n and to 4 n elements, n = `first`, 2 first, ... */
static void find_orders(const char *clamp, const char *axis, int first, int n_orders, double *order) {
  char   text[1000];
  double z[8];
  snprintf(text, sizeof text, BENCHMARK, clamp);
  assert_true(n_orders <= 6);
  for (int k = 0; k < n_orders + 2; ++k) {
    char name[40];
    snprintf(name, sizeof name, "beam.b.%s", axis);
    z[k] = value_at_rest(text, first << k, name);
  }
  for (int k = 0; k < n_orders; ++k) order[k] = log2((z[k + 1] - z[k]) / (z[k + 2] - z[k + 1]));
}

/* Orders of 4, 8, 16 elements and so on: above 4, to which they fall with more elements. */
static void the_tip_converges_with_order_5_where_the_direction_is_held(void **state) {
  (void)state;
  static const char *const axes[]         = {"x", "y"};
  static const double      expected[2][3] = {{5.30, 5.30, 4.80}, {5.33, 5.47, 5.13}};
  for (int i = 0; i < 2; ++i) {
    double order[3];
    find_orders(BY_DIRECTION, axes[i], 4, 3, order);
    for (int k = 0; k < 3; ++k) CHECK_NEAR(order[k], expected[i][k], 0.05);
  }
}

/* The energy makes a bent cable longer, by 2 EI/EA kappa^2 here. Where the whole slope is held its length is 1 at the clamp alone: one element
 * bears the jump, whose share falls with its length. Below 16 elements that does not show. */
static void the_tip_converges_with_order_1_in_the_end_where_the_whole_slope_is_held(void **state) {
  (void)state;
  static const double expected[4] = {3.63, 4.38, 2.68, 1.33};
  double              order[4], last;
  find_orders(BY_SLOPE, "y", 2, 4, order);
  for (int k = 0; k < 4; ++k) CHECK_NEAR(order[k], expected[k], 0.05);
  find_orders(BY_SLOPE, "y", 32, 1, &last);
  CHECK_NEAR(last, 1.0, 0.1);
}

/* gonzalez 5.3 with the whole slope held; Euler and Bernoulli, F L^3 / (3 E I), with its direction held alone. */
static void small_deflections_are_those_of_theory(void **state) {
  (void)state;
  static const char text[] =
      "yoke: 1\n"
      "parameters: {n: 1, L: 1, E: 5e6, r: 0.005, EI: E*pi*r^4/4}\n"
      "t_end: 1\n"
      "bodies:\n"
      "  beam: {kind: ancf-cable, elements: n, from: [0, 0, 0], to: [L, 0, 0], mass: 1100*pi*r^2*L,\n"
      "         axial_stiffness: E*pi*r^2, bending_stiffness: EI}\n"
      "connections:\n"
      "  pin: {kind: spherical, between: [beam.a, ground]}\n"
      "  clamp: {kind: %s}\n"
      "loads: {tip: {kind: constant, on: beam.b, force: [0, 1e-5, 0]}}\n";
  char held[1000], along[1000];
  snprintf(held, sizeof held, text, BY_SLOPE);
  snprintf(along, sizeof along, text, BY_DIRECTION);
  assert_true(fabs(tip_at_rest(held, 4) - 1.35811911e-3) < 1e-11);
  assert_true(fabs(tip_at_rest(along, 4) / 1.35812218e-3 - 1.0) < 1e-5);
}

/* A slender cantilever under a load that bends it by a third of its length. */
static void rods_and_cables_agree(void **state) {
  (void)state;
  static const char text[] =
      "yoke: 1\n"
      "parameters: {n: 1, E: 5e6, r: 0.005, EI: E*pi*r^4/4}\n"
      "t_end: 1\n"
      "bodies:\n"
      "  beam: {kind: ancf-cable, elements: n, from: [0, 0, 0], to: [1, 0, 0], mass: 1100*pi*r^2,\n"
      "         axial_stiffness: E*pi*r^2, bending_stiffness: EI}\n"
      "  rod: {kind: cosserat-rod, elements: 2*n, length: 1, section: {circle: r}, young: E, poisson: 0.5, density: "
      "1100,\n"
      "        from: [0, 0, 0], to: [1, 0, 0], normal: [0, 0, -1]}\n"
      "connections:\n"
      "  pin: {kind: spherical, between: [beam.a, ground]}\n"
      "  clamp: {kind: tangent, between: [beam.slope[1], ground], axis: [1, 0, 0]}\n"
      "  fix: {kind: fixed, between: [rod.a, ground.f]}\n"
      "frames: {ground: {f: {orientation: {axis: [0, 1, 0], angle: pi/2}}}}\n"
      "loads:\n"
      "  on_beam: {kind: constant, on: beam.b, force: [0, EI, 0]}\n"
      "  on_rod: {kind: constant, on: rod.b, force: [0, EI, 0], torque: [0, 0, 0]}\n";
  const double cable[2] = {1.0 - value_at_rest(text, 12, "beam.node[13].x"),
                           value_at_rest(text, 12, "beam.node[13].y")},
               rod[2]   = {1.0 - value_at_rest(text, 12, "rod.b.x"), value_at_rest(text, 12, "rod.b.y")};
  print_message("tip moves by %.6f, %.6f (cable) and %.6f, %.6f (rod)\n", cable[0], cable[1], rod[0], rod[1]);
  assert_true(cable[0] > 0.04 && cable[1] > 0.25);
  for (int k = 0; k < 2; ++k) /* how far the tip moves, along and across */
    if (!(fabs(rod[k] / cable[k] - 1.0) < 5e-3)) fail_msg("%c: rod %g, cable %g", 'x' + k, rod[k], cable[k]);
}

/* Sag of a catenary of length 2 over a span of 1: (cosh x - 1)/(2 x), sinh x = 2 x. Compressed into a straight line it comes to rest elsewhere. */
static void a_cable_longer_than_its_span_hangs(void **state) {
  (void)state;
  static const char text[] = "yoke: 1\n"
                             "parameters: {n: 1}\n"
                             "gravity: [0, 0, -9.81]\n"
                             "t_end: 1\n"
                             "bodies:\n"
                             "  rope: {kind: ancf-cable, elements: n, length: 2, from: [0, 0, 0], to: [1, 0, 0], mass: "
                             "1, axial_stiffness: 1e4,\n"
                             "         bending_stiffness: 1e-5}\n"
                             "connections:\n"
                             "  left: {kind: spherical, between: [ground, rope.a]}\n"
                             "  right: {kind: spherical, between: [[1, 0, 0], rope.b]}\n";
  assert_true(fabs(value_at_rest(text, 20, "rope.node[11].z") + 0.7963884) < 1e-3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(large_deflections_are_those_of_the_benchmark),
      cmocka_unit_test(the_tip_converges_with_order_5_where_the_direction_is_held),
      cmocka_unit_test(the_tip_converges_with_order_1_in_the_end_where_the_whole_slope_is_held),
      cmocka_unit_test(small_deflections_are_those_of_theory),
      cmocka_unit_test(rods_and_cables_agree),
      cmocka_unit_test(a_cable_longer_than_its_span_hangs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
