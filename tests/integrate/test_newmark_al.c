/* newmark-al: order 2 with and without joints, constraints on all levels, energy, repetition to the bit. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "check.h"
#include "said.h"
#include "cosimulation/cosimulate.h"
#include "integrate/toy_run.h"

static yoke_integrator_options fixed(double h) {
  yoke_integrator_options options = toy_options(1e-8);
  options.fixed_step              = h;
  return options;
}

static void order_is_2_on_a_nonlinear_equation(void **unused) {
  (void)unused;
  double error[3];
  for (int k = 0; k < 3; ++k) {
    const yoke_integrator_options options = fixed(1.0 / (200 << k));
    error[k]                              = toy_run_angle_error("newmark-al", &options);
  }
  CHECK_ORDER(error, 3, 2.0, 0.05);
}

static void order_is_2_in_positions_velocities_accelerations_and_reactions(void **unused) {
  (void)unused;
  toy_error error[2];
  for (int k = 0; k < 2; ++k) {
    const yoke_integrator_options options = fixed(1.0 / (200 << k));
    yoke_equations                equations;
    toy_run                       run = toy_run_pendulum("newmark-al", &equations, &options);
    toy_run_to(&run, 1, &yoke_signal_none);
    error[k] = toy_run_pendulum_error(&run);
    toy_run_close(&run);
  }
  CHECK_NEAR(log2(error[0].state / error[1].state), 2.0, 0.05);
  CHECK_NEAR(log2(error[0].acceleration / error[1].acceleration), 2.0, 0.1);
  CHECK_NEAR(log2(error[0].reaction / error[1].reaction), 2.0, 0.1);
}

static void positions_and_velocities_stay_on_the_constraints(void **unused) {
  (void)unused;
  const yoke_integrator_options options = fixed(0.01);
  yoke_equations                equations;
  toy_run                       run = toy_run_pendulum("newmark-al", &equations, &options);
  CHECK_BELOW(toy_run_drift(&run, 5), 1e-12);
  toy_run_close(&run);
}

static void steps_repeat_to_the_bit(void **unused) {
  (void)unused;
  const yoke_integrator_options options = fixed(0.01);
  yoke_equations                equations;
  toy_run                       run = toy_run_pendulum("newmark-al", &equations, &options);
  toy_run_to(&run, 0.055, &yoke_signal_none);
  assert_true(toy_run_repeats(&run, 1.0, 10, &yoke_signal_none));
  toy_run_close(&run);
}

static void a_fixed_step_is_asked_for(void **unused) {
  (void)unused;
  const yoke_integrator_options options = toy_options(1e-8);
  yoke_equations                equations;
  yoke_integrator              *integrator = NULL;
  yoke_context                 *ctx        = NULL;
  toy_pendulum(&equations);
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_integrator_create(ctx, "newmark-al", &equations, &options, &integrator), YOKE_E_USAGE);
  assert_non_null(strstr(yoke_context_message(ctx, 0), "give it a fixed step (key step)"));
  yoke_context_destroy(&ctx);
}

/* ---- models ---- */

/* Difference to dop853 at t_end. */
static double model_error(const char *path, double h, double t_end, const char *name) {
  char sets[COSIM_TEXT];
  snprintf(sets, sizeof sets, "solvers.default={kind: newmark-al, step: %.17g}", h);
  cosim c            = cosim_done_monolithic(path, sets, t_end),
        exact        = cosim_done_monolithic(path, "solvers.default={kind: dop853, rtol: 1e-12}", t_end);
  const double error = fabs(cosim_value(&c, name) - cosim_value(&exact, name));
  cosim_close(&c);
  cosim_close(&exact);
  return error;
}

/* Euler parameters; redundant rows in a loop; a planar loop; springs and dampers. */
static void mechanisms_converge_with_order_2(void **unused) {
  (void)unused;
  static const struct {
    const char *path;
    double      h, t_end;
    const char *name;
  } rows[] = {{"examples/heavy-top.yaml", 1e-3, 0.05, "top.x"},
              {"examples/bricard.yaml", 1e-2, 0.2, "bar_3.y"},
              {"examples/slider-crank.yaml", 2e-3, 0.1, "bar2.x"},
              {"examples/double-pendulum.yaml", 2e-3, 0.2, "lower.y"},
              {"examples/two-mass.yaml", 1e-3, 0.1, "m2.x"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    double error[2];
    for (int k = 0; k < 2; ++k)
      error[k] = model_error(rows[i].path, rows[i].h / (double)(1 << k), rows[i].t_end, rows[i].name);
    const double order = log2(error[0] / error[1]);
    if (!(fabs(order - 2.0) < 0.15)) fail_msg("%s: errors %g %g, order %g", rows[i].path, error[0], error[1], order);
  }
}

/* The trapezoidal rule damps nothing: what projections take away is far below the error of the motion. */
static void energy_of_a_pendulum_stays(void **unused) {
  (void)unused;
  cosim c =
      cosim_done_monolithic("examples/double-pendulum.yaml", "solvers.default={kind: newmark-al, step: 2e-3}", 0.002);
  const double start = cosim_value(&c, "total.balance");
  cosim_close(&c);
  double change[2];
  for (int k = 0; k < 2; ++k) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets, "solvers.default={kind: newmark-al, step: %g}", 2e-3 / (1 << k));
    c         = cosim_done_monolithic("examples/double-pendulum.yaml", sets, 5.0);
    change[k] = fabs(cosim_value(&c, "total.balance") - start);
    cosim_close(&c);
  }
  CHECK_BELOW(change[0], 1e-3 * fabs(start));
  CHECK_BELOW(change[1], change[0] / 3.0);
}

static void subsystems_that_feel_forces_take_it(void **unused) {
  (void)unused;
  static const char sets[] = "solvers.R={kind: newmark-al, step: 1e-4};cosimulation.step=1e-3";
  cosim             c      = cosim_done("examples/kinematic-two-mass.yaml", sets, 0.5),
        plain              = cosim_done("examples/kinematic-two-mass.yaml", "cosimulation.step=1e-3", 0.5);
  CHECK_NEAR(cosim_value(&c, "in.x"), cosim_value(&plain, "in.x"), 1e-6);
  CHECK_NEAR(cosim_value(&c, "r.x"), cosim_value(&plain, "r.x"), 1e-6);
  cosim_close(&c);
  cosim_close(&plain);
}

/* Increments have no size of q to be measured by at the start. */
static void models_that_start_at_rest_in_the_origin_are_solved(void **unused) {
  (void)unused;
  static const struct {
    const char *bodies, *name;
  } rows[] = {{"bodies: {a: {kind: mass1d, mass: 1}, b: {kind: mass1d, mass: 1}}\n"
               "connections: {s: {kind: spring-damper, between: [a, b], stiffness: 1e4}}\n"
               "loads: {f: {kind: constant, on: a, force: 1}}\n",
               "b.x"},
              {"bodies: {a: {kind: planar, mass: 1, inertia: 1, frames: {top: [1, 0]}}}\n"
               "connections: {hinge: {kind: revolute, between: [[1, 0, 0], a.top]}}\n",
               "a.y"},
              {"bodies: {a: {kind: particle, mass: 1}}\n"
               "connections: {bar: {kind: distance, between: [[1, 0, 0], a]}}\n",
               "a.x"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    char   model[1000];
    double error[2];
    snprintf(model, sizeof model, "yoke: 1\nt_end: 1\ngravity: [0, -9.81, 0]\n%s", rows[i].bodies);
    for (int k = 0; k < 2; ++k) error[k] = model_error(model, 1e-3 / (1 << k), 0.1, rows[i].name);
    const double order = log2(error[0] / error[1]);
    if (!(fabs(order - 2.0) < 0.15)) fail_msg("%s: errors %g %g, order %g", rows[i].name, error[0], error[1], order);
  }
}

/* (m + 0.5) a = -c x: x = cos(w t). */
static void loads_that_read_accelerations_are_part_of_the_step(void **unused) {
  (void)unused;
  static const char model[] = "yoke: 1\n"
                              "t_end: 1\n"
                              "bodies: {m: {kind: mass1d, mass: 1, x: 1}}\n"
                              "connections: {s: {kind: spring-damper, between: [ground, m], stiffness: 6}}\n"
                              "loads: {added: {kind: expression, on: m, force: -0.5*m.a}}\n";
  double            error[2];
  for (int k = 0; k < 2; ++k) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets, "solvers.default={kind: newmark-al, step: %.17g}", 0.01 / (1 << k));
    cosim c  = cosim_done_monolithic(model, sets, 0.0);
    error[k] = fabs(cosim_value(&c, "m.x") - cos(2.0));
    cosim_close(&c);
  }
  CHECK_ORDER(error, 2, 2.0, 0.05);
}

static void loads_that_read_accelerations_of_joints_are_refused_with_a_remedy(void **unused) {
  (void)unused;
  cosim c;
  cosim_open_monolithic(&c, "examples/double-pendulum.yaml",
                        "solvers.default={kind: newmark-al, step: 1e-2};"
                        "loads.drag1={kind: expression, on: upper, force: [-0.1*upper.ax, 0]}");
  assert_int_equal(c.status, YOKE_E_UNSUPPORTED);
  assert_true(said(c.ctx, "use genalpha or radau5"));
  cosim_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(order_is_2_on_a_nonlinear_equation),
      cmocka_unit_test(order_is_2_in_positions_velocities_accelerations_and_reactions),
      cmocka_unit_test(positions_and_velocities_stay_on_the_constraints),
      cmocka_unit_test(steps_repeat_to_the_bit),
      cmocka_unit_test(a_fixed_step_is_asked_for),
      cmocka_unit_test(mechanisms_converge_with_order_2),
      cmocka_unit_test(energy_of_a_pendulum_stays),
      cmocka_unit_test(subsystems_that_feel_forces_take_it),
      cmocka_unit_test(models_that_start_at_rest_in_the_origin_are_solved),
      cmocka_unit_test(loads_that_read_accelerations_are_part_of_the_step),
      cmocka_unit_test(loads_that_read_accelerations_of_joints_are_refused_with_a_remedy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
