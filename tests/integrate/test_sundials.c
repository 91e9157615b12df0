#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "integrate/toy_run.h"

#ifdef YOKE_WITH_SUNDIALS

static const char *const oracles[] = {"ida", "cvode"};

static void the_oracles_solve_the_pendulum_to_tolerance(void **unused) {
  (void)unused;
  for (int i = 0; i < 2; ++i) {
    const yoke_integrator_options options = toy_options(1e-9);
    yoke_equations                equations;
    toy_run                       run = toy_run_pendulum(oracles[i], &equations, &options);
    toy_run_to(&run, 1, &yoke_signal_none);
    const toy_error error = toy_run_pendulum_error(&run);
    assert_true(error.state < 1e-7);
    assert_true(error.reaction < 1e-5);
    assert_true(error.acceleration < 1e-5);
    toy_run_close(&run);
  }
}

static void bdf_agrees_with_the_oracles_on_the_pendulum(void **unused) {
  (void)unused;
  const yoke_integrator_options options = toy_options(1e-9);
  yoke_equations                equations;
  toy_run                       own   = toy_run_pendulum("bdf", &equations, &options);
  toy_run                       ida   = toy_run_pendulum("ida", &equations, &options);
  toy_run                       cvode = toy_run_pendulum("cvode", &equations, &options);
  for (int i = 1; i <= 6; ++i) {
    const double t = 0.5 * i;
    toy_run_to(&own, t, &yoke_signal_none);
    toy_run_to(&ida, t, &yoke_signal_none);
    toy_run_to(&cvode, t, &yoke_signal_none);
    for (int j = 0; j < 2; ++j) {
      assert_near(own.q[j], ida.q[j], 1e-6);
      assert_near(own.q[j], cvode.q[j], 1e-6);
      assert_near(own.v[j], ida.v[j], 1e-6);
      assert_near(own.v[j], cvode.v[j], 1e-6);
    }
    assert_near(own.lambda[0], ida.lambda[0], 1e-4);
    assert_near(own.lambda[0], cvode.lambda[0], 1e-4);
  }
  toy_run_close(&own);
  toy_run_close(&ida);
  toy_run_close(&cvode);
}

static void bdf_agrees_with_the_oracles_on_a_stiff_oscillator(void **unused) {
  (void)unused;
  const char *const             names[] = {"bdf", "ida", "cvode"};
  const yoke_integrator_options options = toy_options(1e-9);
  const double                  q = 2, v = -0.66;
  double                        result[3];
  yoke_equations                equations;
  toy_vanderpol(&equations);
  for (int i = 0; i < 3; ++i) {
    toy_run run = toy_run_open(names[i], &equations, &options, &q, &v, &yoke_signal_none);
    toy_run_to(&run, 1, &yoke_signal_none);
    result[i] = run.q[0];
    toy_run_close(&run);
  }
  assert_near(result[0], result[1], 1e-6);
  assert_near(result[0], result[2], 1e-6);
}

static void oracles_pass_a_jump_of_the_input(void **unused) {
  (void)unused;
  const double      t[] = {0, 0.5, 1}, c[] = {1, -3}, zero = 0;
  const yoke_signal u = {.n = 1, .n_pieces = 2, .degree = 0, .t = t, .c = c};
  for (int i = 0; i < 2; ++i) {
    const yoke_integrator_options options = toy_options(1e-9);
    yoke_equations                equations;
    toy_push(&equations);
    toy_run run = toy_run_open(oracles[i], &equations, &options, &zero, &zero, &u);
    toy_run_to(&run, 1, &u);
    assert_near(run.q[0], 0, 1e-6);
    assert_near(run.v[0], -1, 1e-6);
    toy_run_close(&run);
  }
}

static void oracles_interpolate_within_the_last_step(void **unused) {
  (void)unused;
  for (int i = 0; i < 2; ++i) {
    const yoke_integrator_options options = toy_options(1e-8);
    yoke_equations                equations;
    toy_run                       run = toy_run_pendulum(oracles[i], &equations, &options);
    double                        q[2], v[2], q_exact[2], v_exact[2];
    toy_run_to(&run, 0.5, &yoke_signal_none);
    assert_int_equal(yoke_integrator_step(run.integrator, run.scratch, run.state, &yoke_signal_none, 2, run.ctx),
                     YOKE_OK);
    const double t = (run.state->t_prev + run.state->t) / 2;
    yoke_integrator_interpolate(run.integrator, run.state, t, q, v);
    toy_pendulum_reference(t, q_exact, v_exact);
    for (int j = 0; j < 2; ++j) {
      assert_near(q[j], q_exact[j], 1e-6);
      assert_near(v[j], v_exact[j], 1e-6);
    }
    toy_run_close(&run);
  }
}

static void an_oracle_can_be_started_twice(void **unused) {
  (void)unused;
  for (int i = 0; i < 2; ++i) {
    const yoke_integrator_options options = toy_options(1e-9);
    yoke_equations                equations;
    toy_run                       run = toy_run_pendulum(oracles[i], &equations, &options);
    double                        q[2], v[2];
    toy_run_to(&run, 0.3, &yoke_signal_none);
    toy_pendulum_state(acos(0.0), 0, q, v);
    assert_int_equal(yoke_integrator_start(run.integrator, run.scratch, run.state, 0, q, v, &yoke_signal_none, run.ctx),
                     YOKE_OK);
    toy_run_to(&run, 1, &yoke_signal_none);
    assert_true(toy_run_pendulum_error(&run).state < 1e-7);
    toy_run_close(&run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_oracles_solve_the_pendulum_to_tolerance),
      cmocka_unit_test(bdf_agrees_with_the_oracles_on_the_pendulum),
      cmocka_unit_test(bdf_agrees_with_the_oracles_on_a_stiff_oscillator),
      cmocka_unit_test(oracles_pass_a_jump_of_the_input),
      cmocka_unit_test(oracles_interpolate_within_the_last_step),
      cmocka_unit_test(an_oracle_can_be_started_twice),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) {
  return 0;
}

#endif
