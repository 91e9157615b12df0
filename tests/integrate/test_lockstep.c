/* Threads inside of the steps of a chain: the same bits for any number of them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "integrate/integrator.h"
#include "model/chain_kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_MOST = 5000, N_INPUTS = 6, N_LOADS = 12 };

typedef enum chain_law { CUBIC, LINEAR, ANY_POWER, N_LAWS } chain_law;

/* Loads and inputs lie on both sides of places where ranges may begin, and within reach of the stages of a step. */
static yoke_chain make_chain(int n, chain_law law, bool is_uniform, yoke_chain_load *loads, double *each) {
  static const int offset[N_LOADS] = {-7, -2, -1, 0, 1, 6, -1, 0, 0, -5, 3, 2};
  yoke_chain       c               = {.n               = n,
                                      .mass            = {.value = 0.7},
                                      .stiffness       = {.value = 30.0},
                                      .damping         = {.value = 0.4},
                                      .stiffness_power = {.value = law == LINEAR ? 0.0 : 50.0},
                                      .damping_power   = {.value = law == LINEAR ? 0.0 : 0.3},
                                      .exponent_x      = law == ANY_POWER ? 2.5 : 3,
                                      .exponent_v      = 3};
  for (int i = 0; !is_uniform && i <= n; ++i) each[i] = 30.0 + 5.0 * sin(0.3 * i);
  if (!is_uniform) c.stiffness.each = each;
  for (int k = 0; k < N_LOADS; ++k) {
    const int border = k % 2 ? n / 1024 * 512 : 1024;
    loads[k]         = (yoke_chain_load){.kind      = k % 3 == 0   ? YOKE_CHAIN_HARMONIC
                                                      : k % 3 == 1 ? YOKE_CHAIN_IMPULSE
                                                                   : YOKE_CHAIN_CONTACT,
                                         .mass      = border + offset[k],
                                         .amplitude = k % 3 == 2 ? -0.3 : 2.0,
                                         .slope     = 2.0,
                                         .omega     = 3.0 + k / 6,
                                         .time      = 0.01,
                                         .width     = 0.1,
                                         .rise      = 0.02};
  }
  c.loads   = loads;
  c.n_loads = N_LOADS;
  return c;
}

typedef struct outcome {
  double      t, values[4 * N_MOST]; /* q, v inside of the last step, then at its end */
  yoke_counts counters;
} outcome;

/* 20 steps or so, under a polynomial on every input. `n_threads` 1: nobody helps. */
static void run(const char *method, const yoke_chain *chain, int n_threads, outcome *out) {
  static double           q[N_MOST], v[N_MOST];
  const int               n = chain->n, at[N_INPUTS] = {0, 1023, 1024, 1025, n / 1024 * 512, n - 1};
  const double            times[2] = {0, 1};
  double                  coefficients[3 * N_INPUTS];
  yoke_integrator_options o   = yoke_integrator_options_default();
  yoke_context           *ctx = NULL;
  yoke_equations          equations;
  yoke_integrator        *integrator = NULL;
  yoke_integrator_state  *state      = NULL;
  yoke_lockstep          *helpers    = NULL;
  void                   *scratch    = NULL;
  for (int i = 0; i < 3 * N_INPUTS; ++i) coefficients[i] = 0.1 * (i - 5);
  const yoke_signal u = {.n = N_INPUTS, .n_pieces = 1, .degree = 2, .t = times, .c = coefficients};
  for (int i = 0; i < n; ++i) q[i] = 0.1 * sin(0.1 * i), v[i] = 0.1 * cos(0.2 * i);
  o.rtol = 1e-6;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_chain_equations_create(ctx, chain, 0.2, N_INPUTS, at, NULL, &equations), YOKE_OK);
  if (n_threads > 1) assert_int_equal(yoke_lockstep_create(ctx, n_threads, true, &helpers), YOKE_OK);
  equations.helpers = helpers;
  assert_int_equal(yoke_integrator_create(ctx, method, &equations, &o, &integrator), YOKE_OK);
  assert_int_equal(yoke_integrator_state_create(integrator, &state), YOKE_OK);
  assert_int_equal(yoke_integrator_scratch_create(integrator, &scratch), YOKE_OK);
  assert_int_equal(yoke_integrator_start(integrator, scratch, state, 0, q, v, &u, ctx), YOKE_OK);
  assert_int_equal(yoke_integrator_advance(integrator, scratch, state, &u, 0.2, ctx), YOKE_OK);
  memset(out, 0, sizeof *out);
  out->t        = state->t;
  out->counters = state->counters;
  yoke_integrator_interpolate(integrator, state, 0.5 * (state->t_prev + state->t), out->values, out->values + n);
  memcpy(out->values + 2 * n, yoke_integrator_q(integrator, state), (size_t)n * sizeof(double));
  memcpy(out->values + 3 * n, yoke_integrator_v(integrator, state), (size_t)n * sizeof(double));
  if (helpers != NULL) assert_true(yoke_lockstep_used(helpers).n_shared > 0);
  yoke_integrator_state_destroy(&state);
  yoke_integrator_scratch_destroy(&scratch);
  yoke_integrator_destroy(&integrator);
  yoke_equations_destroy(&equations);
  yoke_lockstep_destroy(&helpers);
  yoke_context_destroy(&ctx);
}

static void check(const char *method, int n, chain_law law, bool is_uniform) {
  static const int n_threads[] = {2, 3, 8};
  static outcome   alone, helped;
  static double    each[N_MOST + 1];
  yoke_chain_load  loads[N_LOADS];
  const yoke_chain chain = make_chain(n, law, is_uniform, loads, each);
  run(method, &chain, 1, &alone);
  for (int k = 0; k < 3; ++k) {
    run(method, &chain, n_threads[k], &helped);
    assert_memory_equal(&helped, &alone, sizeof alone);
  }
}

static void threads_inside_of_dopri5_change_no_bit(void **state) {
  (void)state;
  for (int law = 0; law < N_LAWS; ++law) {
    check("dopri5", 2048, law, true);
    check("dopri5", 2049, law, false); /* the last block has one mass */
    check("dopri5", N_MOST, law, law != CUBIC);
  }
}

static void threads_inside_of_dop853_change_no_bit(void **state) {
  (void)state;
  check("dop853", 2600, CUBIC, false);
}

static void threads_inside_of_auto_change_no_bit(void **state) {
  (void)state;
  check("auto", 2600, CUBIC, true);
}

/* A mass in the range of another thread overflows. */
static void an_overflow_in_any_range_rejects_the_step(void **state) {
  (void)state;
  static outcome  alone, helped;
  yoke_chain_load loads[N_LOADS];
  yoke_chain      chain = make_chain(4096, CUBIC, true, loads, NULL);
  chain.n_loads         = 1;
  loads[0]              = (yoke_chain_load){.kind = YOKE_CHAIN_CONTACT, .mass = 4020, .amplitude = -1e-3, .slope = 1e6};
  run("dopri5", &chain, 1, &alone);
  run("dopri5", &chain, 4, &helped);
  assert_true(alone.counters.rejected > 0);
  assert_memory_equal(&helped, &alone, sizeof alone);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_inside_of_dopri5_change_no_bit),
      cmocka_unit_test(threads_inside_of_dop853_change_no_bit),
      cmocka_unit_test(threads_inside_of_auto_change_no_bit),
      cmocka_unit_test(an_overflow_in_any_range_rejects_the_step),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
