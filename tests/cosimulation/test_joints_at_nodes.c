/* Joints at ends and inner nodes of rods and at nodes of cables: order of runs as a whole, the same joints cut, and halos at the end of a rod. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../said.h"
#include "cosimulate.h"

/* A ball of 0.5 kg, x m from the wall, on what hangs there. */
#define MODEL(body, wall, x, joint, part)                                                                              \
  "yoke: 1\n"                                                                                                          \
  "gravity: [0, 0, -9.81]\n"                                                                                           \
  "t_end: 0.03\n"                                                                                                      \
  "bodies:\n" body "  ball: {kind: rigid, mass: 0.5, inertia: [2e-3, 3e-3, 4e-3], position: [" x ", 0, 0],\n"          \
  "         frames: {eye: {at: [-0.1, 0, 0], axis: [1, 0, 0]}}}\n"                                                     \
  "frames: {ground.wall: {at: [0, 0, 0], axis: [1, 0, 0]}}\n"                                                          \
  "connections:\n" wall joint "loads: {push: {kind: constant, on: ball, force: [0, 3, 0], torque: [0.05, 0, 0.02]}}\n" \
  "split: {one: [" part "], two: [ball]}\n"
#define ROD                                                                                                            \
  "  rod: {kind: cosserat-rod, elements: 4, length: 0.5, section: {circle: 0.02}, young: 1e6, poisson: 0.4,\n"         \
  "        density: 1100, damping: 5e-3, direction: [1, 0, 0]}\n"
#define CABLE                                                                                                          \
  "  rope: {kind: ancf-cable, elements: 2, from: [0, 0, 0], to: [0.5, 0, 0], mass: 0.3, axial_stiffness: 60,\n"        \
  "         bending_stiffness: 0.2, damping: 2, axial_damping: 0.01}\n"
#define ON_ROD(x, joint) MODEL(ROD, "  clamp: {kind: fixed, between: [ground.wall, rod.a]}\n", x, joint, "rod")
#define ON_CABLE(x, joint) MODEL(CABLE, "  pin: {kind: spherical, between: [ground, rope.a]}\n", x, joint, "rope")

#define END_OF_ROD(kind) ON_ROD("0.6", "  j: {kind: " kind ", between: [rod.b, ball.eye]}\n")
#define NODE_AS_SIDE_2(kind) ON_ROD("0.35", "  j: {kind: " kind ", between: [ball.eye, 'rod.node[2]']}\n")
#define NODE_OF_ROD(kind) ON_ROD("0.35", "  j: {kind: " kind ", between: ['rod.node[2]', ball.eye]}\n")
#define ABOUT_Y(node, x) ON_ROD(x, "  j: {kind: revolute, between: [" node ", ball.eye], axis: [0, 1, 0]}\n")
#define POINT_OF_CABLE(node, x, more) ON_CABLE(x, "  j: {kind: spherical, between: [" node ", ball.eye]}\n" more)

static const char *const models[] = {
    END_OF_ROD("fixed"),
    END_OF_ROD("spherical"),
    ABOUT_Y("rod.b", "0.6"),
    NODE_OF_ROD("fixed"),
    NODE_OF_ROD("spherical"),
    ABOUT_Y("'rod.node[2]'", "0.35"),
    POINT_OF_CABLE("rope.b", "0.6", ""),
    POINT_OF_CABLE("rope.b", "0.6", "  t: {kind: tangent, between: ['rope.slope[3]', ball.eye]}\n"),
    POINT_OF_CABLE("'rope.node[2]'", "0.35", ""),
};
enum { N_MODELS = (int)(sizeof models / sizeof models[0]), INNER = 3 };
static const char exact[] = "solvers={default: {kind: radau5, rtol: 1e-10}}";

static void place_of_ball(const char *model, const char *sets, bool is_whole, double r[3]) {
  static const char *const names[] = {"ball.x", "ball.y", "ball.z"};
  cosim                    c       = is_whole ? cosim_done_monolithic(model, sets, 0.0) : cosim_done(model, sets, 0.0);
  for (int k = 0; k < 3; ++k) r[k] = cosim_value(&c, names[k]);
  cosim_close(&c);
}

static double distance(const double a[3], const double b[3]) {
  return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

static void check_order(const char *solver) {
  for (int i = 0; i < N_MODELS; ++i) {
    double whole[3], error[2];
    place_of_ball(models[i], exact, true, whole);
    for (int k = 0; k < 2; ++k) {
      char   sets[100];
      double r[3];
      snprintf(sets, sizeof sets, "solvers={default: {kind: %s, step: %g}}", solver, 5e-4 / (k + 1));
      place_of_ball(models[i], sets, true, r);
      error[k] = distance(r, whole);
    }
    const double order = log2(error[0] / error[1]);
    if (!(fabs(order - 2.0) < 0.15)) fail_msg("model %d: errors %g, %g, order %g", i, error[0], error[1], order);
  }
}

static void newmark_has_order_two_at_all_of_them(void **state) {
  (void)state;
  check_order("newmark-al");
}

static void generalized_alpha_has_order_two_at_all_of_them(void **state) {
  (void)state;
  check_order("genalpha");
}

#define BRIEF "t_end=0.01;"

/* At the tolerance of the solvers of the parts; every formulation at an inner node. */
static void a_cut_at_any_node_agrees_with_the_whole(void **state) {
  (void)state;
  static const char *const formulations[] = {"stabilized-index-2", "stabilized-index-1", "baumgarte"};
  for (int i = 0; i < N_MODELS; ++i) {
    double whole[3], r[3];
    place_of_ball(models[i], BRIEF, true, whole);
    for (int f = 0; f < (i == INNER ? 3 : 1); ++f) {
      char sets[400];
      snprintf(sets, sizeof sets,
               BRIEF "cosimulation={scheme: implicit, order: 1, step: 1e-3, couplings: {formulation: %s}};"
                     "solvers={default: {kind: radau5, rtol: 1e-9}}",
               formulations[f]);
      place_of_ball(models[i], sets, false, r);
      if (!(distance(r, whole) < 5e-8)) fail_msg("model %d, %s: off by %g", i, formulations[f], distance(r, whole));
    }
  }
}

/* From either side: within what the method leaves at this step; most iterate to the solvers' tolerance. */
static void every_formulation_agrees_with_the_whole_at_an_inner_node(void **state) {
  (void)state;
  static const char *const sides[]     = {NODE_OF_ROD("fixed"), NODE_AS_SIDE_2("fixed")};
  static const char *const displaced[] = {"displacement/force",
                                          "force/displacement"}; /* the rod is the displacement side */
  static const struct {
    const char *scheme, *formulation;
    double      allowed;
  } methods[] = {
      {"implicit, order: 1", "stabilized-index-2", 5e-8},
      {"implicit, order: 1", "stabilized-index-1", 5e-8},
      {"implicit, order: 0", "stabilized-index-2-mu", 5e-6},
      {"implicit, order: 1", "baumgarte", 5e-8},
      {"semi-implicit, order: 1", "weighted", 1e-7},
      {"implicit, order: 1", "projection", 5e-7},
      {"implicit, order: 1", NULL, 1e-7},
  };
  for (int side = 0; side < 2; ++side) {
    double whole[3], r[3];
    place_of_ball(sides[side], BRIEF, true, whole);
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; ++m) {
      char sets[400], formulation[100];
      snprintf(formulation, sizeof formulation, "%s%s",
               methods[m].formulation != NULL ? methods[m].formulation : "baumgarte, decomposition: ",
               methods[m].formulation != NULL ? "" : displaced[side]);
      snprintf(sets, sizeof sets,
               BRIEF "cosimulation={scheme: %s, step: 1e-3, couplings: {formulation: %s}};"
                     "solvers={default: {kind: radau5, rtol: 1e-9}}",
               methods[m].scheme, formulation);
      place_of_ball(sides[side], sets, false, r);
      if (!(distance(r, whole) <= methods[m].allowed))
        fail_msg("side %d, %s: off by %g", side + 1, formulation, distance(r, whole));
    }
  }
}

/* Kinematic coupling extrapolates: order 2 with values of degree 1. */
static void kinematic_coupling_at_an_inner_node_has_its_order(void **state) {
  (void)state;
  static const char *const sides[] = {NODE_OF_ROD("fixed"), NODE_AS_SIDE_2("fixed")};
  for (int side = 0; side < 2; ++side) {
    double whole[3], error[2], r[3];
    place_of_ball(sides[side], BRIEF, true, whole);
    for (int k = 0; k < 2; ++k) {
      char sets[300];
      snprintf(sets, sizeof sets,
               BRIEF "cosimulation={scheme: explicit, order: 1, step: %g, joint_tolerance: 1, couplings: {formulation: "
                     "kinematic, prescribed: one}};solvers={default: {kind: radau5, rtol: 1e-10}}",
               2e-4 / (k + 1));
      place_of_ball(sides[side], sets, false, r);
      error[k] = distance(r, whole);
    }
    CHECK_ORDER(error, 2, 2.0, 0.2);
  }
}

/* ---- halos ---- */

#define BUSHING(node, x)                                                                                               \
  ON_ROD(x, "  j: {kind: bushing, between: [" node ", ball.eye], stiffness: [400, 400, 400, 4, 4, 4],\n"               \
            "      damping: [2, 2, 2, 0.02, 0.02, 0.02]}\n")
#define HALO "cosimulation={scheme: explicit, step: %g, couplings: {formulation: overlap, halo: 2}};%s"

/* Two rings are two nodes of the rod; errors fall with order 3 at least. */
static void halos_reach_into_a_rod_from_its_end_and_from_inside(void **state) {
  (void)state;
  static const char *const bushed[] = {BUSHING("rod.b", "0.6"), BUSHING("'rod.node[2]'", "0.35")};
  for (int i = 0; i < 2; ++i) {
    double whole[3], error[2], r[3];
    place_of_ball(bushed[i], exact, true, whole);
    for (int k = 0; k < 2; ++k) {
      char sets[300];
      snprintf(sets, sizeof sets, HALO, 5e-4 / (k + 1), exact);
      place_of_ball(bushed[i], sets, false, r);
      error[k] = distance(r, whole);
    }
    assert_true(error[0] < 1e-6);
    assert_true(log2(error[0] / error[1]) > 2.5 || error[1] < 1e-11);
  }
}

static void expect_refusal(const char *model, const char *sets, const char *part) {
  cosim c;
  assert_int_equal(cosim_open(&c, model, sets), YOKE_E_MODEL);
  expect_said(c.ctx, part);
  cosim_close(&c);
}

/* A point of a cable cannot be copied without the others: the other side had nothing there, and its ball fell freely. */
static void halos_at_rigid_joints_and_at_cables_are_refused(void **state) {
  (void)state;
  char sets[300];
  snprintf(sets, sizeof sets, HALO, 1e-3, exact);
  expect_refusal(END_OF_ROD("fixed"), sets,
                 "formulation 'overlap' is not for rigid joints; use formulation stabilized-index-2");
  expect_refusal(
      ON_CABLE("0.6", "  j: {kind: spherical, between: [rope.b, ball.eye], stiffness: 300}\n"), sets,
      "connection 'j': formulation 'overlap' copies bodies, and 'rope.node[3]' is a point of a linear body "
      "or cable, which moves with all others of it; cut the model elsewhere, or use formulation constitutive");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(newmark_has_order_two_at_all_of_them),
      cmocka_unit_test(generalized_alpha_has_order_two_at_all_of_them),
      cmocka_unit_test(a_cut_at_any_node_agrees_with_the_whole),
      cmocka_unit_test(every_formulation_agrees_with_the_whole_at_an_inner_node),
      cmocka_unit_test(kinematic_coupling_at_an_inner_node_has_its_order),
      cmocka_unit_test(halos_reach_into_a_rod_from_its_end_and_from_inside),
      cmocka_unit_test(halos_at_rigid_joints_and_at_cables_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
