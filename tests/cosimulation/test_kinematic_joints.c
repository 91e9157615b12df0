/* Kinematic coupling of bodies: every joint kind in space and in the plane, own joints and closed loops on both sides, several
 * couplings; the ways to the force; which side is prescribed. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#define COSIM_PUBLISHED

#include "../check.h"
#include "joint_models.h"
#include "master/system.h"
#include "wire_outputs.h"

enum { TEXT = 4096 };

/* ---- joints between two bodies on springs ---- */

static const char *const in_space[] = {"a.x", "a.y", "a.z",  "a.q1", "a.q2", "a.q3", "a.vy", "b.x",
                                       "b.y", "b.z", "b.q1", "b.q2", "b.q3", "b.vx", "b.wz", NULL};
static const char *const in_plane[] = {"a.x", "a.y",     "a.angle", "a.vx",    "b.x",
                                       "b.y", "b.angle", "b.vy",    "b.omega", NULL};

static double distance_of(const cosim *a, const cosim *b, const char *const *names) {
  double largest = 0.0;
  for (int i = 0; names[i] != NULL; ++i) {
    const double d = fabs(cosim_value(a, names[i]) - cosim_value(b, names[i]));
    if (!(d <= largest)) largest = d;
  }
  return largest;
}

/* Distance to the monolithic run at the end for two steps H and H/2. */
static void halved_errors(const char *model, const char *sets, double H, const char *const *names, double err[2]) {
  cosim whole = cosim_done_monolithic(model, NULL, 0.0);
  for (int k = 0; k < 2; ++k) {
    char all[COSIM_TEXT];
    snprintf(all, sizeof all, "cosimulation.step=%.17g;%s", H / (1 << k), sets);
    cosim c = cosim_done(model, all, 0.0);
    err[k]  = distance_of(&c, &whole, names);
    cosim_close(&c);
  }
  cosim_close(&whole);
}

/* The model of a joint, coupled by its motion; its first subsystem is "one". */
static void kinematic_model(const joint_case *joint, bool plane, const char *prescribed, char text[TEXT]) {
  joint_model(joint, plane, text);
  const size_t at = strlen(text);
  const int    n =
      snprintf(text + at, TEXT - at,
               "cosimulation: {scheme: explicit, start: exact, couplings: {formulation: kinematic, prescribed: %s}}\n",
               prescribed);
  assert_true(n > 0 && (size_t)n < TEXT - at);
}

static void check_joints(bool plane, const char *sets, double order, double slack) {
  for (int j = 0; j < N_JOINTS; ++j) {
    if (plane && !joints[j].in_plane) continue;
    char   text[TEXT];
    double err[2];
    kinematic_model(&joints[j], plane, "two", text);
    halved_errors(text, sets, 2e-3, plane ? in_plane : in_space, err);
    const double measured = log2(err[0] / err[1]);
    if (!(fabs(measured - order) <= slack))
      fail_msg("%s %s, %s: order %.2f (%.3g, %.3g), expected %.2f", plane ? "planar" : "spatial", joints[j].kind, sets,
               measured, err[0], err[1], order);
  }
}

static void every_joint_in_space_has_the_order_of_its_degrees(void **state) {
  (void)state;
  for (int k = 0; k < 3; ++k) {
    char sets[64];
    snprintf(sets, sizeof sets, "cosimulation.order=%d", k);
    check_joints(false, sets, k + 1.0, 0.5);
  }
}

static void every_joint_in_the_plane_has_the_order_of_its_degrees(void **state) {
  (void)state;
  for (int k = 0; k < 3; ++k) {
    char sets[64];
    snprintf(sets, sizeof sets, "cosimulation.order=%d", k);
    check_joints(true, sets, k + 1.0, 0.5);
  }
}

static void velocities_from_positions_have_the_order_of_the_motion(void **state) {
  (void)state;
  check_joints(false, "cosimulation.order=2;cosimulation.couplings.motion=derivative", 2.0, 0.4);
}

/* Angular velocities are those of the extrapolated orientation, also in fast spatial rotation. */
static void a_fixed_joint_follows_a_fast_rotation_with_derived_velocities(void **state) {
  (void)state;
  char   text[TEXT];
  double err[2];
  kinematic_model(joint_named("fixed"), false, "two", text);
  halved_errors(text, "cosimulation.order=3;cosimulation.couplings.motion=derivative", 2e-3, in_space, err);
  CHECK_ORDER(err, 2, 3.0, 0.4);
}

static void the_other_side_can_be_prescribed_as_well(void **state) {
  (void)state;
  for (int j = 0; j < N_JOINTS; ++j) {
    char   text[TEXT];
    double err[2];
    kinematic_model(&joints[j], false, "one", text);
    halved_errors(text, "cosimulation.order=1", 2e-3, in_space, err);
    CHECK_ORDER(err, 2, 2.0, 0.5);
  }
}

/* ---- own joints, closed loops, several couplings ---- */

/* A pendulum of four links; R is the first two, F the last two. */
static const char links[] =
    "yoke: 1\n"
    "gravity: [0, -9.81]\n"
    "t_end: 0.2\n"
    "bodies:\n"
    "  l: {kind: planar, count: 4, mass: 3/i^2, inertia: 0.25/i^2, position: [i-0.5, 0], omega: 0,\n"
    "      frames: {top: [-0.5, 0], tip: [0.5, 0]}}\n"
    "connections:\n"
    "  pin: {kind: revolute, between: [ground, 'l[1].top']}\n"
    "  j: {kind: revolute, count: 3, between: ['l[i].tip', 'l[i+1].top']}\n"
    "split: {R: ['l[1..2]'], F: ['l[3..4]']}\n"
    "cosimulation: {scheme: explicit, start: exact, couplings: {formulation: kinematic, prescribed: F}}\n"
    "solvers: {default: {kind: dop853, rtol: 1e-12, atol: 1e-13}}\n";

static const char *const link_names[] = {"l[1].x",     "l[1].angle", "l[2].y",     "l[2].angle", "l[3].x", "l[3].y",
                                         "l[3].angle", "l[4].x",     "l[4].angle", "l[4].omega", NULL};

static void both_sides_may_have_joints_of_their_own(void **state) {
  (void)state;
  static const char *const forces[] = {"exact", "reduced", "approximate"};
  for (int f = 0; f < 3; ++f) {
    char   sets[160];
    double err[2];
    snprintf(sets, sizeof sets, "cosimulation.order=%d;cosimulation.couplings.force=%s", 2 - f, forces[f]);
    halved_errors(links, sets, 2e-3, link_names, err);
    CHECK_ORDER(err, 2, 3.0 - f, 0.4);
  }
}

/* Every link in a subsystem of its own: the middle ones are prescribed on one side and feel forces on the other. */
static void a_subsystem_can_be_prescribed_and_feel_forces(void **state) {
  (void)state;
  double err[2];
  halved_errors(links,
                "cosimulation.order=1;split={a: ['l[1]'], R: ['l[2]'], F: ['l[3]'], d: ['l[4]']};"
                "cosimulation.couplings={formulation: kinematic, 'j[1]': {prescribed: R}, 'j[2]': {prescribed: F}, "
                "'j[3]': {prescribed: d}}",
                1e-3, link_names, err);
  CHECK_ORDER(err, 2, 2.0, 0.4);
}

/* Equal links: found one by one, the exact forces of neighbouring joints would feed each other and grow with order 1 and 2. */
static void exact_forces_of_joints_that_share_subsystems_are_found_together(void **state) {
  (void)state;
  static const char *const outputs[] = {"parallel", "current", "sequential", "held"};
  for (int o = 0; o < 4; ++o) {
    for (int k = 1; k < 3; ++k) {
      char   sets[COSIM_TEXT], text[TEXT];
      double err[2];
      snprintf(text, sizeof text, "%s", links);
      char *uneven = strstr(text, "3/i^2"), *inertia = strstr(text, "0.25/i^2");
      assert_true(uneven != NULL && inertia != NULL);
      memcpy(uneven, "3    ", 5);
      memcpy(inertia, "0.25    ", 8);
      snprintf(sets, sizeof sets,
               "cosimulation.order=%d;split={a: ['l[1]'], R: ['l[2]'], F: ['l[3]'], d: ['l[4]']};"
               "cosimulation.couplings={formulation: kinematic, outputs: %s, 'j[1]': {prescribed: R}, "
               "'j[2]': {prescribed: F}, 'j[3]': {prescribed: d}}",
               k, outputs[o]);
      halved_errors(text, sets, 1e-3, link_names, err);
      CHECK_ORDER(err, 2, k + 1.0, 0.4);
    }
  }
}

static void several_couplings_find_their_lighter_sides(void **state) {
  (void)state;
  double err[2];
  halved_errors(links,
                "cosimulation.order=1;split={a: ['l[1]'], R: ['l[2]'], F: ['l[3]'], d: ['l[4]']};"
                "cosimulation.couplings={formulation: kinematic}",
                1e-3, link_names, err);
  CHECK_ORDER(err, 2, 2.0, 0.4);
}

/* A four-bar: the coupler and the rocker close the loop inside F. */
static const char four_bar[] =
    "yoke: 1\n"
    "gravity: [0, -9.81]\n"
    "t_end: 0.2\n"
    "bodies:\n"
    "  crank: {kind: planar, mass: 4, inertia: 0.3, position: [0, 0.5], angle: 90 deg, omega: 2,\n"
    "          frames: {top: [-0.5, 0], tip: [0.5, 0]}}\n"
    "  coupler: {kind: planar, mass: 0.5, inertia: 0.05, position: [1, 1], frames: {top: [-1, 0], tip: [1, 0]}}\n"
    "  rocker: {kind: planar, mass: 0.3, inertia: 0.04, position: [2, 0.5], angle: 90 deg,\n"
    "           frames: {top: [-0.5, 0], tip: [0.5, 0]}}\n"
    "connections:\n"
    "  pin1: {kind: revolute, between: [ground, crank.top]}\n"
    "  elbow: {kind: revolute, between: [crank.tip, coupler.top]}\n"
    "  wrist: {kind: revolute, between: [coupler.tip, rocker.tip]}\n"
    "  pin2: {kind: revolute, between: [[2, 0, 0], rocker.top]}\n"
    "split: {R: [crank], F: [coupler, rocker]}\n"
    "cosimulation: {scheme: explicit, start: exact, couplings: {formulation: kinematic%s}}\n"
    "solvers: {default: {kind: dop853, rtol: 1e-12, atol: 1e-13}}\n";

static const char *const bar_names[] = {"crank.x",   "crank.angle",  "crank.omega",  "coupler.x",
                                        "coupler.y", "rocker.angle", "rocker.omega", NULL};

static void a_loop_that_closes_inside_the_prescribed_side_stays_closed(void **state) {
  (void)state;
  char   text[TEXT];
  double err[2];
  snprintf(text, sizeof text, four_bar, ", prescribed: F");
  halved_errors(text, "cosimulation.order=1", 2e-3, bar_names, err);
  CHECK_ORDER(err, 2, 2.0, 0.3);
  cosim c = cosim_done(text, "cosimulation.order=1;cosimulation.step=2e-3", 0.0);
  CHECK_NEAR(cosim_value(&c, "wrist.g[1]"), 0.0, 1e-12);
  CHECK_NEAR(cosim_value(&c, "pin2.g[2]"), 0.0, 1e-12);
  cosim_close(&c);
}

/* ---- kinds of bodies ---- */

static const char mixed[] =
    "yoke: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "t_end: 0.2\n"
    "bodies:\n"
    "  p: {kind: particle, mass: 0.3, position: [1, 0, 0], velocity: [0, 1, 0]}\n"
    "  b: {kind: rigid, mass: 2, inertia: [0.1, 0.2, 0.25], position: [0.5, 0, 0], omega: [0, 0, 2],\n"
    "      frames: {tip: [0.5, 0, 0], root: [-0.5, 0, 0]}}\n"
    "connections:\n"
    "  w: {kind: spherical, between: [ground, b.root]}\n"
    "  j: {kind: spherical, between: [b.tip, p]}\n"
    "split: {R: [b], F: [p]}\n"
    "cosimulation: {scheme: explicit, start: exact, couplings: {formulation: kinematic, prescribed: F}}\n"
    "solvers: {default: {kind: dop853, rtol: 1e-12, atol: 1e-13}}\n";

static void a_particle_follows_a_rigid_body(void **state) {
  (void)state;
  static const char *const names[] = {"b.x", "b.y", "b.q2", "p.x", "p.y", "p.z", "p.vy", NULL};
  double                   err[2];
  halved_errors(mixed, "cosimulation.order=2", 2e-3, names, err);
  CHECK_ORDER(err, 2, 3.0, 0.3);
}

/* ---- the force ---- */

/* With exact accelerations the three ways to the force agree: the explicit form at the consistent start gives lambda_0. */
static void all_forces_agree_for_exact_accelerations(void **state) {
  (void)state;
  static const char *const forces[] = {"exact", "reduced", "approximate"};
  char                     spatial_fixed[TEXT];
  kinematic_model(joint_named("fixed"), false, "two", spatial_fixed);
  const char *const models[] = {spatial_fixed, links};
  for (int m = 0; m < 2; ++m) {
    for (int f = 0; f < 3; ++f) {
      char  sets[160];
      cosim c;
      snprintf(sets, sizeof sets, "cosimulation.step=1e-3;cosimulation.couplings.force=%s", forces[f]);
      cosim_open(&c, models[m], sets);
      cosim_expect(&c, YOKE_OK);
      const yoke_system        *co    = c.system;
      const yoke_graph         *graph = yoke_system_graph(co);
      const yoke_plan_coupling *k     = &yoke_system_plan(co)->couplings[0];
      const yoke_wire          *wire  = &yoke_system_plan(co)->wires[0];
      const int                 n     = yoke_graph_n_channels(graph, 0);
      double                    now[48], u[48], size = 0.0;
      yoke_arena                scratch = {0};
      for (int i = 0; i < n; ++i) now[i] = yoke_graph_channel(graph, 0, i);
      wire->formulation->update(wire->self, 0.0, wire_outputs(graph, 0, 0), wire_outputs(graph, 0, 1), now, u,
                                &scratch);
      yoke_arena_free(&scratch);
      for (int i = 0; i < k->joint.n; ++i) size = fmax(size, fabs(now[i]));
      assert_true(size > 0.1);
      for (int i = 0; i < n; ++i) CHECK_NEAR(u[i], now[i], 1e-10 * size);
      cosim_close(&c);
    }
  }
}

static void threads_do_not_change_a_bit(void **state) {
  (void)state;
  double x[2];
  for (int k = 0; k < 2; ++k) {
    cosim c;
    cosim_open_with(&c, links, "cosimulation.step=2e-3;cosimulation.couplings.outputs=held",
                    k == 0 ? "serial" : "shuffled", k == 0 ? 1 : 3);
    cosim_run(&c, 0.0, NULL, NULL);
    cosim_expect(&c, YOKE_OK);
    x[k] = cosim_value(&c, "l[4].angle");
    cosim_close(&c);
  }
  assert_memory_equal(&x[0], &x[1], sizeof x[0]);
}

/* ---- which side ---- */

static bool mentions(const cosim *c, const char *text) {
  for (size_t i = 0; i < yoke_context_n_messages(c->ctx); ++i) {
    if (strstr(yoke_context_message(c->ctx, i), text) != NULL) return true;
  }
  return false;
}

static void the_lighter_side_is_prescribed_unless_said_otherwise(void **state) {
  (void)state;
  char  text[TEXT];
  cosim c;
  cosim_open(&c, "examples/kinematic-two-mass.yaml", "cosimulation.couplings.prescribed=R");
  assert_false(mentions(&c, "is prescribed, the better one"));
  assert_int_equal(c.plan->couplings[0].settings.side, 0);
  cosim_close(&c);
  snprintf(text, sizeof text, four_bar, "");
  cosim_open(&c, text, "cosimulation.step=1e-3");
  cosim_expect(&c, YOKE_OK);
  assert_true(mentions(&c, "'elbow': the motion of subsystem 'F' is prescribed"));
  cosim_close(&c);
}

/* The guide is along an axis in the plane, while a port of a planar body has the axes of the body. */
static void the_lighter_side_is_found_at_frames_that_are_turned(void **state) {
  (void)state;
  cosim c;
  cosim_open(&c, "examples/slider-crank.yaml",
             "cosimulation.scheme=explicit;cosimulation.couplings.formulation=kinematic");
  cosim_expect(&c, YOKE_OK);
  /* moments of inertia about the pivots, arms 1 m: 2 sqrt(2)/3 of bar 1, 8/3 of bar 2 */
  assert_true(mentions(&c, "'guide': the motion of subsystem 'a' is prescribed"));
  assert_true(mentions(&c, "2.828"));
  cosim_close(&c);
}

/* What a combination cannot do is said before which side would be the better one. */
static void a_refusal_is_not_preceded_by_a_choice_of_side(void **state) {
  (void)state;
  cosim c;
  cosim_open(&c, "examples/two-mass-rigid.yaml", "cosimulation.couplings.formulation=kinematic");
  assert_int_equal(c.status, YOKE_E_USAGE);
  assert_false(mentions(&c, "is prescribed"));
  cosim_close(&c);
}

static void check_refused(const char *model, const char *sets, const char *first, const char *second) {
  cosim c;
  cosim_open(&c, model, sets);
  if (c.status == YOKE_OK) fail_msg("'%s' is not refused", sets);
  if (!mentions(&c, first) || !mentions(&c, second)) {
    cosim_print(c.ctx);
    fail_msg("'%s': expected a message with '%s' and '%s'", sets, first, second);
  }
  cosim_close(&c);
}

static void a_motion_that_the_prescribed_side_cannot_follow_is_refused(void **state) {
  (void)state;
  char text[TEXT];
  snprintf(text, sizeof text, four_bar, ", prescribed: R");
  check_refused(text, "cosimulation.step=1e-3", "'elbow'", "cannot follow");
  check_refused(text, "cosimulation.step=1e-3", "'elbow'", "let the other side be prescribed");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_joint_in_space_has_the_order_of_its_degrees),
      cmocka_unit_test(every_joint_in_the_plane_has_the_order_of_its_degrees),
      cmocka_unit_test(velocities_from_positions_have_the_order_of_the_motion),
      cmocka_unit_test(a_fixed_joint_follows_a_fast_rotation_with_derived_velocities),
      cmocka_unit_test(the_other_side_can_be_prescribed_as_well),
      cmocka_unit_test(both_sides_may_have_joints_of_their_own),
      cmocka_unit_test(a_subsystem_can_be_prescribed_and_feel_forces),
      cmocka_unit_test(exact_forces_of_joints_that_share_subsystems_are_found_together),
      cmocka_unit_test(several_couplings_find_their_lighter_sides),
      cmocka_unit_test(a_loop_that_closes_inside_the_prescribed_side_stays_closed),
      cmocka_unit_test(a_particle_follows_a_rigid_body),
      cmocka_unit_test(all_forces_agree_for_exact_accelerations),
      cmocka_unit_test(threads_do_not_change_a_bit),
      cmocka_unit_test(the_lighter_side_is_prescribed_unless_said_otherwise),
      cmocka_unit_test(the_lighter_side_is_found_at_frames_that_are_turned),
      cmocka_unit_test(a_refusal_is_not_preceded_by_a_choice_of_side),
      cmocka_unit_test(a_motion_that_the_prescribed_side_cannot_follow_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
