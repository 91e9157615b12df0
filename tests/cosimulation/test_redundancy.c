/* Couplings that repeat what other joints say: their rows are found, named and left out, and the motion is that of the whole. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "cosimulate.h"
#include "coupling/scheme.h"
#include "master/system.h"

/* A planar four-bar of rigid bodies with spatial hinges, 4 x 5 rows for 3 x 6 - 1 freedoms: three rows too many. */
static const char loop[] = "yoke: 1\n"
                           "gravity: [0, -9.81, 0]\n"
                           "t_end: 0.2\n"
                           "bodies:\n"
                           "  crank: {kind: rigid, mass: 1, inertia: [0.1, 0.02, 0.1], position: [0, 0.5, 0],\n"
                           "          frames: {low: [0, -0.5, 0], high: [0, 0.5, 0]}}\n"
                           "  rod: {kind: rigid, mass: 2, inertia: [0.05, 0.6, 0.7], position: [1, 1.25, 0],\n"
                           "        frames: {left: [-1, -0.25, 0], right: [1, 0.25, 0]}}\n"
                           "  rocker: {kind: rigid, mass: 1.5, inertia: [0.3, 0.03, 0.3], position: [2, 0.75, 0],\n"
                           "           frames: {low: [0, -0.75, 0], high: [0, 0.75, 0]}}\n"
                           "connections:\n"
                           "  base: {kind: revolute, between: [ground, crank.low]}\n"
                           "  knee: {kind: revolute, between: [crank.high, rod.left]}\n"
                           "  elbow: {kind: revolute, between: [rod.right, rocker.high]}\n"
                           "  stand: {kind: revolute, between: [[2, 0, 0], rocker.low]}\n"
                           "loads: {push: {kind: constant, on: crank, force: [3, 0, 0]}}\n"
                           "split: {one: [crank], two: [rod, rocker]}\n"
                           "cosimulation: {scheme: implicit, order: 1, step: 2e-3}\n"
                           "solvers: {default: {kind: dop853, rtol: 1e-11, atol: 1e-12}}\n";

/* A door on two hinges on one axis, between a wall that rocks and the leaf. */
static const char door[] =
    "yoke: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "t_end: 0.1\n"
    "bodies:\n"
    "  wall: {kind: rigid, mass: 3, inertia: [0.5, 0.4, 0.6], position: [0, 0, 0],\n"
    "         frames: {top: {at: [0.2, 0.5, 0], axis: [0, 1, 0]}, low: {at: [0.2, %s, 0], axis: [0, 1, 0]}}}\n"
    "  leaf: {kind: rigid, mass: 1, inertia: [0.2, 0.1, 0.2], position: [0.6, 0, 0], omega: [0, 2, 0],\n"
    "         frames: {top: {at: [-0.4, 0.5, 0], axis: [0, 1, 0]}, low: {at: [-0.4, -0.5, 0], axis: [0, 1, 0]}}}\n"
    "connections:\n"
    "  rock: {kind: bushing, between: [ground, wall], stiffness: [300, 400, 300, 20, 30, 25], damping: 1}\n"
    "  upper: {kind: revolute, between: [wall.top, leaf.top]}\n"
    "  lower: {kind: revolute, between: [wall.low, leaf.low]}\n"
    "split: {one: [wall], two: [leaf]}\n"
    "cosimulation: {scheme: implicit, order: 1, step: 2e-3}\n"
    "solvers: {default: {kind: dop853, rtol: 1e-11, atol: 1e-12}}\n";

enum { MODEL_TEXT = 4096 };

static int joint_rows(const cosim *c, const char *name) {
  const yoke_plan *plan = c->plan;
  for (int k = 0; k < plan->n_couplings; ++k) {
    if (strcmp(plan->couplings[k].name, name) == 0) return plan->couplings[k].joint.n;
  }
  return 0;
}

static bool says(const cosim *c, const char *words) {
  for (size_t i = 0; i < yoke_context_n_messages(c->ctx); ++i) {
    if (strstr(yoke_context_message(c->ctx, i), words) != NULL) return true;
  }
  return false;
}

/* Largest difference of the named values between the split run with `sets` and the whole. */
static double split_error(const char *model, const char *sets, const char *const *names) {
  cosim  whole   = cosim_done_monolithic(model, NULL, 0.0);
  cosim  c       = cosim_done(model, sets, 0.0);
  double largest = 0.0;
  for (int i = 0; names[i] != NULL; ++i)
    largest = fmax(largest, fabs(cosim_value(&c, names[i]) - cosim_value(&whole, names[i])));
  cosim_close(&whole);
  cosim_close(&c);
  return largest;
}

static const char *const loop_names[] = {"crank.x", "rod.x", "rod.y", "rod.wz", "rocker.q3", "rocker.wz", NULL};

static void a_planar_loop_of_spatial_hinges_keeps_two_rows_at_its_cut(void **state) {
  (void)state;
  cosim c;
  cosim_open(&c, loop, NULL);
  cosim_expect(&c, YOKE_OK);
  assert_int_equal(joint_rows(&c, "knee"), 2);
  assert_true(says(&c, "coupling 'knee': rows atpoint z, perpendicular xz, perpendicular yz follow"));
  cosim_close(&c);
  CHECK_BELOW(split_error(loop, NULL, loop_names), 1e-8);
}

/* Every formulation, decomposition and scheme that is not refused, at order 0, which is of order 1 with a displacement side and
 * when it is explicit. */
static int run_all_ways(const yoke_formulation_ops *ops, const char *split) {
  static const char *const decompositions[] = {"force/force", "force/displacement", "displacement/force",
                                               "displacement/displacement"};
  int                      n                = 0;
  for (int way = 0; way < 4 * yoke_scheme_n(); ++way) {
    const char *scheme = yoke_scheme_at(way / 4)->traits.name;
    char        sets[COSIM_TEXT];
    cosim       c;
    snprintf(sets, sizeof sets,
             "cosimulation.couplings={formulation: %s, decomposition: %s};cosimulation.scheme=%s;cosimulation.order=0;"
             "split=%s",
             ops->name, decompositions[way % 4], scheme, split);
    const yoke_status status = cosim_open(&c, loop, sets);
    cosim_close(&c);
    if (status != YOKE_OK) continue;
    const bool is_first_order = way % 4 != 0 || strcmp(scheme, "explicit") == 0;
    CHECK_BELOW(split_error(loop, sets, loop_names), is_first_order ? 2e-2 : 1e-6);
    ++n;
  }
  return n;
}

static void every_formulation_runs_through_redundant_cuts(void **state) {
  (void)state;
  for (int f = 0; f < yoke_formulation_n(); ++f) {
    if (!yoke_formulation_at(f)->for_joints) continue;
    int n = run_all_ways(yoke_formulation_at(f), "{one: [crank], two: [rod, rocker]}");
    n += run_all_ways(yoke_formulation_at(f), "{one: [crank], two: [rod], three: [rocker]}");
    if (n == 0) fail_msg("formulation %s does not run", yoke_formulation_at(f)->name);
  }
}

/* The start's multipliers are of least norm; what the retired rows carried has moved to the others, so that the first step is
 * as good as all others. */
static void the_order_is_kept_from_the_start_on(void **state) {
  (void)state;
  static const char *const starts[] = {"ramp", "exact"};
  for (int s = 0; s < 2; ++s) {
    double err[2];
    for (int i = 0; i < 2; ++i) {
      char sets[COSIM_TEXT];
      snprintf(sets, sizeof sets,
               "cosimulation.start=%s;cosimulation.step=%g;cosimulation.couplings.formulation=baumgarte", starts[s],
               ldexp(5e-3, -i));
      err[i] = split_error(loop, sets, loop_names);
    }
    CHECK_BELOW(1.8, log2(err[0] / err[1]));
  }
}

static void a_joint_beside_another_couples_nothing(void **state) {
  (void)state;
  static const char *const names[] = {"leaf.x", "leaf.z", "leaf.q2", "leaf.wy", "wall.q1", "wall.vx", NULL};
  char                     model[MODEL_TEXT];
  snprintf(model, sizeof model, door, "-0.5");
  cosim c;
  cosim_open(&c, model, NULL);
  cosim_expect(&c, YOKE_OK);
  assert_int_equal(joint_rows(&c, "upper"), 5);
  assert_int_equal(joint_rows(&c, "lower"), 0);
  assert_true(says(&c, "coupling 'lower': rows"));
  assert_true(says(&c, "'upper'"));
  cosim_close(&c);
  CHECK_BELOW(split_error(model, NULL, names), 1e-8);
}

static void joints_that_contradict_each_other_are_refused_with_a_name(void **state) {
  (void)state;
  char model[MODEL_TEXT];
  snprintf(model, sizeof model, door, "-0.4");
  cosim c;
  assert_int_equal(cosim_open(&c, model, NULL), YOKE_E_MODEL);
  assert_true(says(&c, "upper") || says(&c, "lower"));
  cosim_close(&c);
}

/* Six hinges whose special directions make one row follow from 29 others, in two and in three parts. */
static void bricards_ring_loses_one_row_and_follows_the_whole(void **state) {
  (void)state;
  static const char *const splits[] = {"split={a: [bar_1, bar_2], b: [bar_3, bar_4, bar_5]}",
                                       "split={a: [bar_1], b: [bar_2, bar_3], c: [bar_4, bar_5]}"};
  static const int         rows[]   = {4, 9};
  for (int i = 0; i < 2; ++i) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets, "%s;cosimulation={scheme: implicit, order: 1, step: 2e-3};solvers.default.rtol=1e-10",
             splits[i]);
    cosim whole = cosim_done_monolithic("examples/bricard.yaml", "solvers.default.rtol=1e-11", 0.2);
    cosim c     = cosim_done("examples/bricard.yaml", sets, 0.2);
    int   n     = 0;
    for (int k = 1; k <= 4; ++k) {
      char name[24];
      snprintf(name, sizeof name, "hinge_%d", k);
      n += joint_rows(&c, name);
    }
    assert_int_equal(n, rows[i]);
    CHECK_NEAR(cosim_value(&c, "bar_3.x"), cosim_value(&whole, "bar_3.x"), 1e-8);
    CHECK_NEAR(cosim_value(&c, "bar_3.y"), cosim_value(&whole, "bar_3.y"), 1e-8);
    cosim_close(&whole);
    cosim_close(&c);
  }
}

/* Two bodies that hold to the ground by themselves: a weld between them says nothing new. */
static void a_weld_between_parts_that_cannot_move_couples_nothing(void **state) {
  (void)state;
  static const char model[] =
      "yoke: 1\n"
      "t_end: 0.01\n"
      "bodies:\n"
      "  a: {kind: rigid, mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}\n"
      "  b: {kind: rigid, mass: 1, inertia: [1, 1, 1], position: [1, 0, 0], frames: {w: [-1, 0, 0], e: [1, 0, 0]}}\n"
      "  c: {kind: rigid, mass: 1, inertia: [1, 1, 1], position: [2, 0, 0], omega: [0, 0, 1]}\n"
      "connections:\n"
      "  hold_a: {kind: fixed, between: [ground, a]}\n"
      "  hold_b: {kind: fixed, between: [[1, 0, 0], b]}\n"
      "  weld: {kind: fixed, between: [a, b.w]}\n"
      "  turn: {kind: revolute, between: [b.e, c]}\n"
      "split: {one: [a], two: [b, c]}\n"
      "cosimulation: {step: 1e-3}\n";
  cosim c = cosim_done(model, NULL, 0.0);
  assert_int_equal(joint_rows(&c, "weld"), 0);
  CHECK_NEAR(cosim_value(&c, "c.wz"), 1.0, 1e-9);
  cosim_close(&c);
}

/* All bars of the parallelograms in one line: some rows follow from others there, but nowhere else. */
static void a_singular_start_retires_nothing(void **state) {
  (void)state;
  static const char model[] =
      "yoke: 1\n"
      "t_end: 0.01\n"
      "bodies:\n"
      "  crank: {kind: planar, mass: 1, inertia: 0.1, position: [0.5, 0], frames: {low: [-0.5, 0], high: [0.5, 0]}}\n"
      "  rod: {kind: planar, mass: 1, inertia: 0.1, position: [2, 0], frames: {left: [-1, 0], right: [1, 0]}}\n"
      "  rocker: {kind: planar, mass: 1, inertia: 0.1, position: [2.5, 0], frames: {low: [-0.5, 0], high: [0.5, 0]}}\n"
      "connections:\n"
      "  base: {kind: revolute, between: [ground, crank.low]}\n"
      "  knee: {kind: revolute, between: [crank.high, rod.left]}\n"
      "  elbow: {kind: revolute, between: [rod.right, rocker.high]}\n"
      "  stand: {kind: revolute, between: [[2, 0], rocker.low]}\n"
      "split: {one: [crank], two: [rod, rocker]}\n"
      "cosimulation: {step: 1e-3}\n";
  cosim c;
  cosim_open(&c, model, NULL);
  cosim_expect(&c, YOKE_OK);
  assert_int_equal(joint_rows(&c, "knee"), 2);
  assert_false(says(&c, "left out"));
  cosim_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_planar_loop_of_spatial_hinges_keeps_two_rows_at_its_cut),
      cmocka_unit_test(every_formulation_runs_through_redundant_cuts),
      cmocka_unit_test(the_order_is_kept_from_the_start_on),
      cmocka_unit_test(a_joint_beside_another_couples_nothing),
      cmocka_unit_test(joints_that_contradict_each_other_are_refused_with_a_name),
      cmocka_unit_test(bricards_ring_loses_one_row_and_follows_the_whole),
      cmocka_unit_test(a_weld_between_parts_that_cannot_move_couples_nothing),
      cmocka_unit_test(a_singular_start_retires_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
