/* Rods in split models: every formulation for joints and force elements at their ends, against the model as a whole. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "cosimulate.h"

/* A rope that is clamped or hinged to a wall carries a body at its end b, by a joint or a force element, of which it is side 1 or 2. */
#define ROPE(wall, hook) ROPE_BETWEEN(wall, hook, "rope.b, load.eye", "one: [rope], two: [load]")
#define ROPE_SECOND(wall, hook) ROPE_BETWEEN(wall, hook, "load.eye, rope.b", "one: [load], two: [rope]")
#define ROPE_BETWEEN(wall, hook, ends, split)                                                                          \
  "yoke: 1\n"                                                                                                          \
  "gravity: [0, 0, -9.81]\n"                                                                                           \
  "t_end: 0.02\n"                                                                                                      \
  "bodies:\n"                                                                                                          \
  "  rope: {kind: cosserat-rod, elements: 3, length: 0.5, section: {circle: 0.02}, young: 1e6, poisson: 0.4,\n"        \
  "         density: 1100, damping: 2e-3, direction: [1, 0, 0]}\n"                                                     \
  "  load: {kind: rigid, mass: 0.5, inertia: [2e-3, 3e-3, 4e-3], position: [0.6, 0, 0],\n"                             \
  "         frames: {eye: {at: [-0.1, 0, 0], axis: [1, 0, 0]}}}\n"                                                     \
  "frames: {ground.wall: {at: [0, 0, 0], axis: [1, 0, 0]}}\n"                                                          \
  "connections:\n"                                                                                                     \
  "  clamp: {kind: " wall ", between: [ground.wall, rope.a]}\n"                                                        \
  "  hook: {" hook ", between: [" ends "]}\n"                                                                          \
  "loads: {push: {kind: constant, on: load, force: [0, 1, 0], torque: [0.05, 0, 0]}}\n"                                \
  "split: {" split "}\n"                                                                                               \
  "solvers: {default: {kind: radau5, rtol: 1e-10, atol: 1e-12}}\n"                                                     \
  "cosimulation: {step: 5e-4, order: 2}\n"

enum { N_STATES = 18 };

/* Positions, orientations and velocities of the load and of the end of the rope. */
static void states_of(cosim c, double z[N_STATES]) {
  static const char *const names[] = {"x", "y", "z", "q1", "q2", "q3", "vx", "vy", "vz"};
  for (int i = 0; i < N_STATES; ++i) {
    char name[16];
    snprintf(name, sizeof name, "%s.%s", i < 9 ? "load" : "rope.b", names[i % 9]);
    z[i] = cosim_value(&c, name);
  }
  cosim_close(&c);
}

static double error_beside(const char *model, const char *sets, const double whole[N_STATES]) {
  double z[N_STATES], error = 0.0;
  states_of(cosim_done(model, sets, 0.0), z);
  for (int i = 0; i < N_STATES; ++i) error = fmax(error, fabs(z[i] - whole[i]));
  return error;
}

/* From where they are without a split. */
static double error_of(const char *model, const char *sets) {
  double whole[N_STATES];
  states_of(cosim_done_monolithic(model, NULL, 0.0), whole);
  return error_beside(model, sets, whole);
}

typedef struct method {
  const char *formulation, *more;
  double      allowed;
} method;

/* With the rope as side 1. */
static const method methods[] = {
    {"stabilized-index-2", "implicit", 1e-9},
    {"stabilized-index-1;cosimulation.order=1", "implicit", 1e-9},
    {"stabilized-index-2-mu;cosimulation.order=0", "implicit", 1e-5},
    {"baumgarte", "implicit", 1e-8},
    {"baumgarte;cosimulation.couplings.decomposition=force/displacement", "implicit", 1e-8},
    {"baumgarte;cosimulation.couplings.decomposition=displacement/force", "implicit", 1e-6},
    {"weighted", "semi-implicit", 1e-4},
    {"projection", "implicit", 1e-8},
    {"projection;cosimulation.couplings.decomposition=displacement/displacement", "implicit", 1e-6},
    {"kinematic;cosimulation.order=1", "explicit", 1e-3},
};

/* As side 2: what the rope does as a displacement side it does there. */
static const method from_the_other_side[] = {
    {"stabilized-index-2", "implicit", 1e-9},
    {"stabilized-index-1;cosimulation.order=1", "implicit", 1e-9},
    {"stabilized-index-2-mu;cosimulation.order=0", "implicit", 1e-5},
    {"baumgarte", "implicit", 1e-8},
    {"baumgarte;cosimulation.couplings.decomposition=displacement/force", "implicit", 1e-8},
    {"baumgarte;cosimulation.couplings.decomposition=force/displacement", "implicit", 1e-6},
    {"weighted", "semi-implicit", 1e-4},
    {"projection", "implicit", 1e-8},
    {"projection;cosimulation.couplings.decomposition=displacement/displacement", "implicit", 1e-6},
    {"kinematic;cosimulation.order=1", "explicit", 1e-3},
};
enum { N_METHODS = (int)(sizeof methods / sizeof methods[0]) };

static void check_methods(const char *model, const method *list) {
  double whole[N_STATES];
  states_of(cosim_done_monolithic(model, NULL, 0.0), whole);
  for (int m = 0; m < N_METHODS; ++m) {
    char sets[400];
    snprintf(sets, sizeof sets, "cosimulation.scheme=%s;cosimulation.couplings.formulation=%s", list[m].more,
             list[m].formulation);
    const double error = error_beside(model, sets, whole);
    if (!(error <= list[m].allowed)) fail_msg("%s: error %.3g", sets, error);
  }
}

static void every_joint_formulation_takes_the_end_of_a_rod(void **state) {
  (void)state;
  check_methods(ROPE("fixed", "kind: fixed"), methods);
}

static void every_joint_formulation_takes_the_end_of_a_rod_as_side_2(void **state) {
  (void)state;
  check_methods(ROPE_SECOND("fixed", "kind: fixed"), from_the_other_side);
}

static void every_joint_formulation_takes_a_hinge_at_a_rod(void **state) {
  (void)state;
  check_methods(ROPE("fixed", "kind: revolute"), methods);
}

static void every_joint_formulation_takes_a_hinge_at_a_rod_as_side_2(void **state) {
  (void)state;
  check_methods(ROPE_SECOND("fixed", "kind: revolute"), from_the_other_side);
}

static void every_joint_joins_a_body_to_a_rod(void **state) {
  (void)state;
  static const char *const models[] = {
      ROPE("spherical", "kind: fixed"),          ROPE("fixed", "kind: planar"),
      ROPE("fixed", "kind: spherical"),          ROPE("fixed", "kind: revolute"),
      ROPE("fixed", "kind: cylindrical"),        ROPE("fixed", "kind: inline"),
      ROPE("fixed", "kind: translational"),      ROPE("revolute", "kind: fixed"),
      ROPE_SECOND("fixed", "kind: cylindrical"),
  };
  for (size_t m = 0; m < sizeof models / sizeof models[0]; ++m) {
    const double error = error_of(models[m], "cosimulation.scheme=implicit");
    if (!(error <= 1e-9)) fail_msg("model %zu: error %.3g", m, error);
  }
}

static const char *const decompositions[] = {"force/force", "force/displacement", "displacement/force",
                                             "displacement/displacement"};

static void every_decomposition_takes_force_elements_at_a_rod(void **state) {
  (void)state;
  static const char *const models[] = {
      ROPE("fixed", "kind: bushing, stiffness: [1e3, 1e3, 1e3, 5, 5, 5], damping: [5, 5, 5, 0.02, 0.02, 0.02]"),
      ROPE("fixed", "kind: spherical, stiffness: 2e3, damping: 4"),
      ROPE_SECOND("fixed", "kind: bushing, stiffness: [1e3, 1e3, 1e3, 5, 5, 5], damping: [5, 5, 5, 0.02, 0.02, 0.02]"),
  };
  for (size_t m = 0; m < sizeof models / sizeof models[0]; ++m) {
    double whole[N_STATES];
    states_of(cosim_done_monolithic(models[m], NULL, 0.0), whole);
    for (int d = 0; d < 4; ++d) {
      char sets[200];
      snprintf(sets, sizeof sets, "cosimulation.scheme=implicit;cosimulation.couplings.decomposition=%s",
               decompositions[d]);
      const double error = error_beside(models[m], sets, whole);
      if (!(error <= 2e-6)) fail_msg("model %zu, %s: error %.3g", m, sets, error);
    }
  }
}

static void every_jacobian_and_predictor_takes_force_elements_at_a_rod(void **state) {
  (void)state;
  static const char *const jacobians[]  = {"tangent", "finite-difference", "analytic", "broyden"};
  static const char *const predictors[] = {"extrapolation", "least-squares"};
  static const char        model[] =
      ROPE_SECOND("fixed", "kind: bushing, stiffness: [1e3, 1e3, 1e3, 5, 5, 5], damping: [5, 5, 5, 0.02, 0.02, 0.02]");
  double whole[N_STATES];
  states_of(cosim_done_monolithic(model, NULL, 0.0), whole);
  for (int i = 0; i < 16; ++i) {
    char sets[300];
    snprintf(sets, sizeof sets,
             "cosimulation.scheme=implicit;cosimulation.couplings.decomposition=%s;cosimulation.jacobian=%s;"
             "cosimulation.predictor=%s",
             decompositions[i % 2], jacobians[i / 4], predictors[i / 2 % 2]);
    const double error = error_beside(model, sets, whole);
    if (!(error <= 2e-6)) fail_msg("%s: error %.3g", sets, error);
  }
}

static void inner_nodes_and_offset_frames_carry_couplings(void **state) {
  (void)state;
  static const char model[] =
      ROPE("fixed", "kind: spring-damper, stiffness: 500, damping: 1") "outputs: {gap: rope.node[1].z - load.z}\n";
  cosim c = cosim_done(model, "connections.hook.between=[rope.node[2], load.eye];cosimulation.scheme=implicit", 0.0);
  const double z = cosim_value(&c, "gap");
  cosim_close(&c);
  c = cosim_done_monolithic(model, "connections.hook.between=[rope.node[2], load.eye]", 0.0);
  CHECK_NEAR(z, cosim_value(&c, "gap"), 1e-5);
  cosim_close(&c);
}

static void a_rod_is_not_cut(void **state) {
  (void)state;
  cosim c;
  cosim_open(&c, ROPE("fixed", "kind: fixed"),
             "split={one: [rope.a, rope.half], two: [rope.node[1..2], rope.b, load]};cosimulation.scheme=implicit");
  cosim_expect(&c, YOKE_E_MODEL);
  assert_non_null(strstr(yoke_context_message(c.ctx, yoke_context_n_messages(c.ctx) - 1), "keep all nodes of a rod"));
  cosim_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_joint_formulation_takes_the_end_of_a_rod),
      cmocka_unit_test(every_joint_formulation_takes_the_end_of_a_rod_as_side_2),
      cmocka_unit_test(every_joint_formulation_takes_a_hinge_at_a_rod),
      cmocka_unit_test(every_joint_formulation_takes_a_hinge_at_a_rod_as_side_2),
      cmocka_unit_test(every_joint_joins_a_body_to_a_rod),
      cmocka_unit_test(every_decomposition_takes_force_elements_at_a_rod),
      cmocka_unit_test(every_jacobian_and_predictor_takes_force_elements_at_a_rod),
      cmocka_unit_test(inner_nodes_and_offset_frames_carry_couplings),
      cmocka_unit_test(a_rod_is_not_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
