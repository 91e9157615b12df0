#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "cosimulation/cosimulate.h"
#include "integrate/toy_run.h"

static const double damping[] = {0, 0.5, 0.8, 0.95};
enum { N_DAMPING = sizeof damping / sizeof damping[0] };

static yoke_integrator_options fixed(double rho_inf, double h) {
  yoke_integrator_options options = toy_options(1e-11);
  options.fixed_step              = h;
  options.rho_inf                 = rho_inf;
  return options;
}

static void genalpha_has_order_2_on_a_nonlinear_ode(void **unused) {
  (void)unused;
  for (int i = 0; i < N_DAMPING; ++i) {
    const yoke_integrator_options coarse = fixed(damping[i], 1.0 / 200), fine = fixed(damping[i], 1.0 / 400);
    const double ratio = toy_run_angle_error("genalpha", &coarse) / toy_run_angle_error("genalpha", &fine);
    assert_near(log2(ratio), 2, 0.05);
  }
}

static void genalpha_has_order_2_in_positions_velocities_accelerations_and_reactions(void **unused) {
  (void)unused;
  for (int i = 0; i < N_DAMPING; ++i) {
    toy_error error[2];
    for (int k = 0; k < 2; ++k) {
      const yoke_integrator_options options = fixed(damping[i], 1.0 / (200 << k));
      yoke_equations                equations;
      toy_run                       run = toy_run_pendulum("genalpha", &equations, &options);
      toy_run_to(&run, 1, &yoke_signal_none);
      error[k] = toy_run_pendulum_error(&run);
      toy_run_close(&run);
    }
    assert_near(log2(error[0].state / error[1].state), 2, 0.05);
    assert_near(log2(error[0].acceleration / error[1].acceleration), 2, 0.1);
    assert_near(log2(error[0].reaction / error[1].reaction), 2, 0.1);
  }
}

static void error_control_follows_the_tolerance(void **unused) {
  (void)unused;
  double last = INFINITY;
  for (int digits = 4; digits <= 8; ++digits) {
    const yoke_integrator_options options = toy_options(pow(10, -digits));
    yoke_equations                equations;
    toy_run                       run = toy_run_pendulum("genalpha", &equations, &options);
    toy_run_to(&run, 1, &yoke_signal_none);
    const double error = toy_run_pendulum_error(&run).state;
    /* local errors of h^3 at tolerance: global error of tolerance^(2/3) */
    assert_true(error < 10 * pow(options.rtol, 2.0 / 3));
    assert_true(error < last / 2);
    last = error;
    toy_run_close(&run);
  }
}

static void positions_and_velocities_stay_on_the_constraints(void **unused) {
  (void)unused;
  const yoke_integrator_options options = fixed(0.8, 0.01);
  yoke_equations                equations;
  toy_run                       run = toy_run_pendulum("genalpha", &equations, &options);
  assert_true(toy_run_drift(&run, 5) < 1e-9);
  toy_run_close(&run);
}

static void index_1_with_projection_has_order_2(void **unused) {
  (void)unused;
  double error[2];
  for (int k = 0; k < 2; ++k) {
    yoke_integrator_options options = fixed(0.8, 1.0 / (200 << k));
    options.form                    = YOKE_DAE_INDEX1;
    options.alpha = options.beta = 0;
    yoke_equations equations;
    toy_run        run = toy_run_pendulum("genalpha", &equations, &options);
    assert_true(toy_run_drift(&run, 1) < 1e-14);
    error[k] = toy_run_pendulum_error(&run).state;
    toy_run_close(&run);
  }
  assert_near(log2(error[0] / error[1]), 2, 0.1);
}

static void save_step_restore_step_gives_the_same_bits(void **unused) {
  (void)unused;
  const yoke_integrator_options variable = toy_options(1e-6), constant = fixed(0.8, 0.01);
  for (int i = 0; i < 2; ++i) {
    yoke_equations equations;
    toy_run        run = toy_run_pendulum("genalpha", &equations, i == 0 ? &variable : &constant);
    for (int part = 0; part < 6; ++part) assert_true(toy_run_repeats(&run, 3, 17, &yoke_signal_none));
    toy_run_close(&run);
  }
}

/* q'' = -k q with h omega = 1e5: after the transient one step multiplies the motion by about rho_inf. */
static void stiff_force(const toy_problem *p, double t, const double *q, const double *v, const double *u, double *f,
                        double *df_dq, double *df_dv) {
  (void)t, (void)v, (void)u;
  f[0] = -p->parameter * q[0];
  if (df_dq != NULL) df_dq[0] = -p->parameter, df_dv[0] = 0;
}

static void high_frequencies_are_damped_by_rho_inf_per_step(void **unused) {
  (void)unused;
  const toy_problem problem = {.n = 1, .force = stiff_force, .parameter = 1e14};
  const double      one = 1, zero = 0;
  yoke_equations    equations;
  toy_fill(&equations, &toy_plain_ops, &problem);
  for (int i = 1; i <= 2; ++i) {
    const yoke_integrator_options options = fixed(damping[i], 0.01);
    toy_run                       run = toy_run_open("genalpha", &equations, &options, &one, &zero, &yoke_signal_none);
    toy_run_to(&run, 0.2, &yoke_signal_none);
    const double before = fabs(run.q[0]);
    toy_run_to(&run, 0.4, &yoke_signal_none);
    /* repeated roots -rho: the amplitude goes like (c + n) rho^n, c unknown */
    const double rate = pow(fabs(run.q[0]) / before, 1.0 / 20);
    assert_true(rate < damping[i] * 1.12);
    assert_true(rate > damping[i] * 0.9);
    toy_run_close(&run);
  }
}

/* Force 1 until t = 0.5, then -3 on two masses with springs: compared with half the step. */
static void a_jump_of_the_input_keeps_the_order(void **unused) {
  (void)unused;
  const double      t[] = {0, 0.5, 1}, c[] = {1, -3}, zero[2] = {0};
  const yoke_signal u = {.n = 1, .n_pieces = 2, .degree = 0, .t = t, .c = c};
  yoke_equations    equations;
  double            q[3];
  toy_linear(&equations);
  for (int k = 0; k < 3; ++k) {
    const yoke_integrator_options options = fixed(0.8, 1.0 / (100 << k));
    toy_run                       run     = toy_run_open("genalpha", &equations, &options, zero, zero, &u);
    toy_run_to(&run, 1, &u);
    q[k] = run.q[1];
    toy_run_close(&run);
  }
  assert_near(log2((q[0] - q[1]) / (q[1] - q[2])), 2, 0.1);
}

static void dense_output_has_the_accuracy_of_the_steps(void **unused) {
  (void)unused;
  const yoke_integrator_options options = fixed(0.8, 0.002);
  yoke_equations                equations;
  toy_run                       run = toy_run_pendulum("genalpha", &equations, &options);
  double                        q[2], v[2], q_exact[2], v_exact[2];
  toy_run_to(&run, 0.5, &yoke_signal_none);
  const double at_end = toy_run_pendulum_error(&run).state, t = 0.4993;
  yoke_integrator_interpolate(run.integrator, run.state, t, q, v);
  toy_pendulum_reference(t, q_exact, v_exact);
  for (int i = 0; i < 2; ++i) {
    assert_near(q[i], q_exact[i], 2 * at_end);
    assert_near(v[i], v_exact[i], 2 * at_end);
  }
  toy_run_close(&run);
}

static void a_reset_state_is_a_new_start(void **unused) {
  (void)unused;
  const yoke_integrator_options options = fixed(0.8, 0.001);
  yoke_equations                equations;
  double                        q[2], v[2];
  toy_run                       run = toy_run_pendulum("genalpha", &equations, &options);
  toy_run_to(&run, 0.7, &yoke_signal_none);
  toy_pendulum_state(acos(0.0), 0, q, v);
  assert_int_equal(yoke_integrator_reset(run.integrator, run.scratch, run.state, q, v, &yoke_signal_none, run.ctx),
                   YOKE_OK);
  toy_run_to(&run, 1.2, &yoke_signal_none);
  toy_pendulum_reference(0.5, q, v);
  for (int i = 0; i < 2; ++i) assert_near(run.q[i], q[i], 2e-5);
  toy_run_close(&run);
}

static void undamped_multipliers_are_refused(void **unused) {
  (void)unused;
  const yoke_integrator_options options = fixed(1, 0.01);
  yoke_equations                equations;
  yoke_context                 *ctx;
  yoke_integrator              *integrator = NULL;
  toy_pendulum(&equations);
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_integrator_create(ctx, "genalpha", &equations, &options, &integrator), YOKE_E_USAGE);
  assert_null(integrator);
  yoke_context_destroy(&ctx);
}

/* x' = xd + alpha (x - x_pred) makes rounding errors of long models, alpha times as large, those of velocities. */
static void short_steps_of_long_models_end_at_their_rounding_errors(void **unused) {
  (void)unused;
  static const char text[] =
      "yoke: 1\n"
      "gravity: [0, -9.81, 0]\n"
      "t_end: 1\n"
      "bodies:\n"
      "  rod: {kind: rigid, count: 40, mass: 1, inertia: [0.001, 0.08, 0.08], position: [i - 0.5, 0, 0],\n"
      "        frames: {l: [-0.5, 0, 0], r: [0.5, 0, 0]}}\n"
      "connections:\n"
      "  top: {kind: revolute, between: [ground, rod[1].l], axis: [0, 0, 1]}\n"
      "  h: {kind: revolute, count: 39, between: [rod[i].r, rod[i + 1].l], axis: [0, 0, 1]}\n"
      "split: {a: [rod[1..20]], b: [rod[21..40]]}\n"
      "solvers: {default: {kind: genalpha, step: 1e-5}}\n"
      "cosimulation: {step: 1e-5}\n";
  static const char *const formulations[] = {"stabilized-index-2", "baumgarte", "projection"};
  for (size_t i = 0; i < sizeof formulations / sizeof *formulations; ++i) {
    char set[100];
    snprintf(set, sizeof set, "cosimulation.couplings.formulation=%s", formulations[i]);
    cosim c = cosim_done(text, set, 1e-4);
    assert_near(cosim_value(&c, "rod[40].y"), -0.5 * 9.81 * 1e-8, 1e-14); /* the others fall with it */
    cosim_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(genalpha_has_order_2_on_a_nonlinear_ode),
      cmocka_unit_test(genalpha_has_order_2_in_positions_velocities_accelerations_and_reactions),
      cmocka_unit_test(error_control_follows_the_tolerance),
      cmocka_unit_test(positions_and_velocities_stay_on_the_constraints),
      cmocka_unit_test(index_1_with_projection_has_order_2),
      cmocka_unit_test(save_step_restore_step_gives_the_same_bits),
      cmocka_unit_test(high_frequencies_are_damped_by_rho_inf_per_step),
      cmocka_unit_test(a_jump_of_the_input_keeps_the_order),
      cmocka_unit_test(dense_output_has_the_accuracy_of_the_steps),
      cmocka_unit_test(a_reset_state_is_a_new_start),
      cmocka_unit_test(undamped_multipliers_are_refused),
      cmocka_unit_test(short_steps_of_long_models_end_at_their_rounding_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
