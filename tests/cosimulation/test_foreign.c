/* A subsystem that is not native takes part by the wrench on its port: in force elements and joints, beside a native one. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "foreign.h"
#include "rig.h"

/* Subsystem 1 of the examples by the test's own. */
static void replace(rig *r, const foreign_def *def) {
  char name[] = "foreign";
  yoke_subsystem_destroy(&r->subsystems[1]);
  assert_int_equal(foreign_create(r->c.ctx, name, def, &r->subsystems[1]), YOKE_OK);
}

static void second_mass(rig *r) { /* of two-mass and two-mass-rigid */
  const yoke_body *body = &r->c.model->bodies[1];
  replace(r, &(foreign_def){.mass      = body->mass,
                            .stiffness = 1000.0,
                            .damping   = 10.0,
                            .start     = {body->position[0], body->velocity[0]}});
}

static void lower_bar(rig *r) { /* of double-pendulum */
  const double c = sqrt(0.5);
  replace(r, &(foreign_def){.is_bar  = true,
                            .mass    = 1.0,
                            .inertia = 1.0 / 12.0,
                            .arm     = -0.5,
                            .gravity = -9.81,
                            .drag    = 2.0,
                            .start   = {1.5 * c, 0.5 * c, -0.25 * 3.14159265358979323846}});
}

static void open_model(rig *r, const char *model, const char *sets, void (*bend)(rig *)) {
  const yoke_status status = rig_open(r, model, sets, "serial", 1, bend);
  if (status == YOKE_OK) return;
  cosim_print(r->c.ctx);
  fail_msg("%s: %s", sets, yoke_status_name(status));
}

/* Largest difference of the n positions and velocities of both ports after n_steps, foreign against native. */
static double deviation(const char *model, const char *sets, void (*bend)(rig *), int n, int n_steps) {
  rig    native, foreign;
  double worst = 0.0;
  open_model(&native, model, sets, NULL);
  open_model(&foreign, model, sets, bend);
  rig_steps(&native, n_steps);
  rig_steps(&foreign, n_steps);
  for (int s = 0; s < 2; ++s) {
    for (int k = 0; k < n; ++k)
      worst = fmax(worst, fabs(yoke_graph_y(native.graph, s)[k] - yoke_graph_y(foreign.graph, s)[k]));
  }
  rig_close(&native);
  rig_close(&foreign);
  return worst;
}

static void a_wrench_does_what_native_inputs_do(void **state) {
  (void)state;
  static const struct {
    const char *model, *sets;
  } rows[] = {
      {"examples/two-mass.yaml", "cosimulation.scheme=explicit;cosimulation.order=2"},
      {"examples/two-mass.yaml", "cosimulation.scheme=explicit;cosimulation.sequence=gauss-seidel"},
      {"examples/two-mass.yaml", "cosimulation.scheme=explicit;cosimulation.predictor=acceleration"},
      {"examples/two-mass.yaml", "cosimulation.scheme=waveform"},
      {"examples/two-mass.yaml", "cosimulation.scheme=semi-implicit;cosimulation.order=3"},
      {"examples/two-mass.yaml", "cosimulation.scheme=semi-implicit;cosimulation.couplings.extension=i"},
      {"examples/two-mass.yaml", "cosimulation.scheme=implicit;cosimulation.jacobian=broyden"},
      {"examples/two-mass.yaml", "cosimulation.couplings.decomposition=displacement/force"},
      {"examples/two-mass-rigid.yaml", "cosimulation.couplings.formulation=stabilized-index-2"},
      {"examples/two-mass-rigid.yaml", "cosimulation.couplings.formulation=stabilized-index-1;cosimulation.order=0"},
      {"examples/two-mass-rigid.yaml", "cosimulation.couplings.formulation=baumgarte"},
      {"examples/two-mass-rigid.yaml", "cosimulation.couplings.formulation=weighted"},
      {"examples/two-mass-rigid.yaml",
       "cosimulation.couplings.formulation=baumgarte;cosimulation.couplings.decomposition=displacement/force"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    const double off = deviation(rows[i].model, rows[i].sets, second_mass, 2, 50);
    if (!(off < 1e-6)) fail_msg("%s %s: off by %.3g", rows[i].model, rows[i].sets, off);
  }
}

static void a_joint_that_turns_ends_in_a_wrench(void **state) {
  (void)state;
  static const char *const joints[] = {
      "cosimulation.couplings.formulation=stabilized-index-2",
      "cosimulation.couplings.formulation=stabilized-index-2;cosimulation.order=2",
      "cosimulation.couplings.formulation=baumgarte",
      "cosimulation.couplings.formulation=stabilized-index-1",
  };
  for (size_t i = 0; i < sizeof joints / sizeof *joints; ++i) {
    const double off = deviation("examples/double-pendulum.yaml", joints[i], lower_bar, 6, 50);
    if (!(off < 1e-6)) fail_msg("%s: off by %.3g", joints[i], off);
  }
}

/* Two bars, tip and top joined by a light rod, whose direction turns: the gradient of its row is not constant. */
#define ROD                                                                                                            \
  "yoke: 1\n"                                                                                                          \
  "gravity: [0, -9.81]\n"                                                                                              \
  "t_end: 0.2\n"                                                                                                       \
  "bodies:\n"                                                                                                          \
  "  upper: {kind: planar, mass: 1, inertia: 1/12, position: [0.5, 0], frames: {top: [-0.5, 0], tip: [0.5, 0]}}\n"     \
  "  lower: {kind: planar, mass: 1, inertia: 1/12, position: [1.8, 0], angle: 0, velocity: [0, 2],\n"                  \
  "          frames: {top: [-0.5, 0]}}\n"                                                                              \
  "connections:\n"                                                                                                     \
  "  shoulder: {kind: revolute, between: [ground, upper.top]}\n"                                                       \
  "  rod: {kind: distance, between: [upper.tip, lower.top], length: 0.3}\n"                                            \
  "split: {a: [upper], b: [lower]}\n"                                                                                  \
  "cosimulation: {scheme: semi-implicit, order: 1, step: 1e-3}\n"                                                      \
  "solvers: {default: {kind: dop853, rtol: 1e-12, atol: 1e-14}}\n"

static void bar_at_a_rod(rig *r) {
  replace(r, &(foreign_def){.is_bar  = true,
                            .mass    = 1.0,
                            .inertia = 1.0 / 12.0,
                            .arm     = -0.5,
                            .gravity = -9.81,
                            .start   = {1.8, 0.0, 0.0, 0.0, 2.0}});
}

/* Position and angle of the lower port at t = 0.2. */
static void rod_end(const char *sets, int n_steps, void (*bend)(rig *), double end[3]) {
  char all[COSIM_TEXT];
  rig  r;
  snprintf(all, sizeof all, "%s;cosimulation.step=%.17g", sets, 0.2 / n_steps);
  open_model(&r, ROD, all, bend);
  rig_steps(&r, n_steps);
  memcpy(end, yoke_graph_y(r.graph, 1), 3 * sizeof *end);
  rig_close(&r);
}

static double distance(const double a[3], const double b[3]) {
  return fmax(fmax(fabs(a[0] - b[0]), fabs(a[1] - b[1])), fabs(a[2] - b[2]));
}

static void a_row_that_turns_costs_orders_above_k_plus_1(void **state) {
  (void)state;
  static const struct {
    const char *sets;
    double      least; /* order */
  } rows[] = {
      {"cosimulation.couplings.formulation=stabilized-index-2;cosimulation.order=0", 0.95},
      {"cosimulation.couplings.formulation=stabilized-index-2;cosimulation.order=1", 1.9},
      {"cosimulation.couplings.formulation=stabilized-index-2;cosimulation.order=2", 2.9},
      {"cosimulation.couplings.formulation=baumgarte;cosimulation.order=1", 1.9},
      {"cosimulation.couplings.formulation=stabilized-index-1;cosimulation.order=3", 3.8},
  };
  double exact[3];
  rod_end("cosimulation.couplings.formulation=stabilized-index-1;cosimulation.order=3", 800, NULL, exact);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    double end[3], error[2];
    for (int k = 0; k < 2; ++k) {
      rod_end(rows[i].sets, 50 << k, bar_at_a_rod, end);
      error[k] = distance(end, exact);
    }
    CHECK_BELOW(rows[i].least, log2(error[0] / error[1]));
  }
}

static void what_a_wrench_cannot_do_is_refused_with_the_port(void **state) {
  (void)state;
  static const struct {
    const char *model, *sets;
  } rows[] = {
      {"examples/two-mass.yaml", "cosimulation.couplings.decomposition=force/displacement"},
      {"examples/two-mass-rigid.yaml",
       "cosimulation.couplings.formulation=baumgarte;cosimulation.couplings.decomposition=force/displacement"},
      {"examples/two-mass-rigid.yaml", "cosimulation.couplings.formulation=stabilized-index-2-mu;cosimulation.order=0"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    rig r;
    assert_int_equal(rig_open(&r, rows[i].model, rows[i].sets, "serial", 1, second_mass), YOKE_E_MODEL);
    const size_t n = yoke_context_n_messages(r.c.ctx);
    assert_true(n > 0);
    assert_non_null(strstr(yoke_context_message(r.c.ctx, n - 1), "port 'end' of subsystem 'foreign'"));
    rig_close(&r);
  }
}

static void a_joint_without_responses_goes_on_behind_a_restart_with_a_warning(void **state) {
  (void)state;
  rig r;
  open_model(&r, "examples/two-mass-rigid.yaml", "cosimulation.couplings.formulation=baumgarte", second_mass);
  rig_steps(&r, 5);
  const double u = yoke_graph_channel(r.graph, 0, 0);
  assert_int_equal(yoke_graph_restart(r.graph, r.c.ctx), YOKE_OK);
  CHECK_NEAR(yoke_graph_channel(r.graph, 0, 0), u, 0.0);
  const size_t n = yoke_context_n_messages(r.c.ctx);
  assert_true(n > 0);
  assert_non_null(strstr(yoke_context_message(r.c.ctx, n - 1), "subsystem 'foreign' does not show"));
  rig_steps(&r, 5);
  rig_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_wrench_does_what_native_inputs_do),
      cmocka_unit_test(a_joint_that_turns_ends_in_a_wrench),
      cmocka_unit_test(a_row_that_turns_costs_orders_above_k_plus_1),
      cmocka_unit_test(what_a_wrench_cannot_do_is_refused_with_the_port),
      cmocka_unit_test(a_joint_without_responses_goes_on_behind_a_restart_with_a_warning),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
