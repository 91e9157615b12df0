/* What can be seen of a native subsystem inside a macro step, and that a look changes nothing. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "bench.h"
#include <stdlib.h>

enum { N_TIMES = 5, MOST_HANDLES = 16 };

static const double share[N_TIMES] = {0.03, 0.21, 0.5, 0.77, 1.0}; /* of the macro step */

/* A request over H from t that observes at `share`. */
typedef struct look {
  double            times[N_TIMES], values[N_TIMES * MOST_HANDLES];
  yoke_step_request request;
} look;

static void set_look(look *l, const yoke_signal *u, double t, double H, int n_handles, const int64_t *handles) {
  l->request = yoke_step_over(u, t, H);
  for (int i = 0; i < N_TIMES; ++i) l->times[i] = share[i] < 1.0 ? t + share[i] * H : l->request.t_end;
  l->request.n_times   = N_TIMES;
  l->request.times     = l->times;
  l->request.n_handles = n_handles;
  l->request.handles   = handles;
  l->request.values    = l->values;
}

static const char *const kinds[] = {"exact", "dopri5", "dop853", "radau5", "bdf", "abm", "auto"};
enum { N_KINDS = (int)(sizeof kinds / sizeof kinds[0]) };

static void values_inside_a_step_are_those_of_the_equations(void **state) {
  const double  H          = 0.2;
  const int64_t handles[7] = {yoke_native_handle(YOKE_NATIVE_Q, 0, 0),
                              yoke_native_handle(YOKE_NATIVE_V, 0, 0),
                              yoke_native_handle(YOKE_NATIVE_A, 0, 0),
                              yoke_output_handle(0),
                              yoke_output_handle(1),
                              yoke_output_handle(2),
                              yoke_output_handle(3)};
  (void)state;
  for (int k = 0; k < N_KINDS; ++k) {
    bench b;
    wave  w;
    look  l;
    make_half(&b, &ghost_half, kinds[k], false);
    make_task(&b);
    set_wave(&w, 2, 0.3, H, shape[0]);
    assert_int_equal(yoke_subsystem_start(b.subsystem, b.scratch, b.state, 0.3, &w.u, b.ctx), YOKE_OK);
    set_look(&l, &w.u, 0.3, H, 7, handles);
    assert_int_equal(yoke_subsystem_step(b.subsystem, b.scratch, b.state, &w.u, &l.request, b.ctx), YOKE_OK);
    assert_int_equal(l.request.n_observed, N_TIMES);
    for (int i = 0; i < N_TIMES; ++i) {
      wave   part = w;
      double z[3] = {ghost_half.x, ghost_half.v, 0.0}, rate[3];
      part.t[1]   = l.times[i];
      part.u.t    = part.t;
      part.u.c    = part.c;
      half_solve(&ghost_half, &part, z);
      half_rate(&ghost_half, &part, l.times[i], z, rate);
      const double expected[7] = {z[0], z[1], rate[1], z[0], z[1], rate[1], z[2]};
      for (int j = 0; j < 7; ++j) {
        const double value = l.values[7 * i + j];
        if (fabs(value - expected[j]) <= 2e-7 * (1.0 + fabs(expected[j]))) continue;
        fail_msg("%s, t = %g, quantity %d: %.15g, by hand %.15g", kinds[k], l.times[i], j, value, expected[j]);
      }
    }
    close_bench(&b);
  }
}

/* Two macro steps of a pendulum under changing inputs; with a look or without: states, steps and outputs have the same bits. */
static void a_look_changes_no_bit_of_the_motion(void **state) {
  const double  u[2][6]    = {{1.7, 3.0, 0.0, -0.4, 0.0, 2.0}, {2.0, -1.0, 0.0, 0.3, 0.0, 0.0}};
  const int64_t handles[4] = {yoke_native_handle(YOKE_NATIVE_Q, 0, 2), yoke_native_handle(YOKE_NATIVE_FORCE, 0, 1),
                              yoke_native_handle(YOKE_NATIVE_ENERGY, YOKE_ENERGY_KINETIC, 0), yoke_output_handle(1)};
  (void)state;
  for (int k = 1; k < N_KINDS; ++k) {
    double        y[2][12], q[2][6];
    yoke_counters counters[2];
    for (int is_seen = 0; is_seen < 2; ++is_seen) {
      bench b;
      (void)make_pendulum(&b, YOKE_BODY_PLANAR, kinds[k]);
      for (int n = 0; n < 2; ++n) {
        wave w;
        look l;
        set_wave(&w, 2, 0.2 * n, 0.2, u[n]);
        if (n == 0) assert_int_equal(yoke_subsystem_start(b.subsystem, b.scratch, b.state, 0.0, &w.u, b.ctx), YOKE_OK);
        set_look(&l, &w.u, 0.2 * n, 0.2, 4, handles);
        if (!is_seen) l.request.n_times = 0;
        assert_int_equal(yoke_subsystem_step(b.subsystem, b.scratch, b.state, &w.u, &l.request, b.ctx), YOKE_OK);
        yoke_subsystem_accept(b.subsystem, b.state);
        if (n == 1)
          assert_int_equal(yoke_subsystem_output(b.subsystem, b.scratch, b.state, &w.u, YOKE_SIDE_LEFT, y[is_seen]),
                           YOKE_OK);
      }
      const yoke_integrator_state *head       = yoke_native_state(b.subsystem, b.state);
      const yoke_integrator       *integrator = yoke_native_integrator(b.subsystem);
      memcpy(q[is_seen], yoke_integrator_q(integrator, head), 3 * sizeof(double));
      memcpy(q[is_seen] + 3, yoke_integrator_v(integrator, head), 3 * sizeof(double));
      yoke_subsystem_counters(b.subsystem, b.state, &counters[is_seen]);
      close_bench(&b);
    }
    assert_memory_equal(y[0], y[1], sizeof y[0]);
    assert_memory_equal(q[0], q[1], sizeof q[0]);
    assert_int_equal(counters[0].steps, counters[1].steps);
    assert_int_equal(counters[0].rejected, counters[1].rejected);
  }
}

/* Values at inner times are those of steps that end there, and lie on the own joints. */
static void values_inside_a_step_are_those_of_steps_that_end_there(void **state) {
  const double  u[6] = {1.7, 3.0, 0.0, -0.4, 0.0, 2.0}, H = 0.4;
  const int64_t handles[7] = {
      yoke_native_handle(YOKE_NATIVE_Q, 0, 0),       yoke_native_handle(YOKE_NATIVE_V, 0, 2),
      yoke_native_handle(YOKE_NATIVE_A, 0, 2),       yoke_native_handle(YOKE_NATIVE_FORCE, 0, 0),
      yoke_native_handle(YOKE_NATIVE_FORCE, 0, 1),   yoke_native_handle(YOKE_NATIVE_G, 0, 0),
      yoke_native_handle(YOKE_NATIVE_RESIDUAL, 0, 0)};
  (void)state;
  for (int k = 2; k < N_KINDS; ++k) {
    bench b;
    wave  w;
    look  l;
    void *other = NULL;
    (void)make_pendulum(&b, YOKE_BODY_PLANAR, kinds[k]);
    set_wave(&w, 2, 0.0, H, u);
    assert_int_equal(yoke_subsystem_start(b.subsystem, b.scratch, b.state, 0.0, &w.u, b.ctx), YOKE_OK);
    assert_int_equal(yoke_subsystem_state_create(b.subsystem, &other), YOKE_OK);
    assert_int_equal(yoke_subsystem_copy(b.subsystem, other, b.state), YOKE_OK);
    set_look(&l, &w.u, 0.0, H, 7, handles);
    assert_int_equal(yoke_subsystem_step(b.subsystem, b.scratch, b.state, &w.u, &l.request, b.ctx), YOKE_OK);
    for (int i = 0; i < N_TIMES; ++i) {
      double            values[7];
      const double      from    = i > 0 ? l.times[i - 1] : 0.0;
      yoke_step_request request = yoke_step_over(NULL, from, l.times[i] - from);
      request.t_end             = l.times[i];
      assert_int_equal(yoke_subsystem_step(b.subsystem, b.scratch, other, &w.u, &request, b.ctx), YOKE_OK);
      yoke_subsystem_accept(b.subsystem, other);
      assert_int_equal(b.subsystem->ops->observe->at(b.subsystem, b.scratch, other, &w.u, l.times[i], YOKE_SIDE_LEFT, 7,
                                                     handles, values),
                       YOKE_OK);
      for (int j = 0; j < 7; ++j) {
        if (fabs(l.values[7 * i + j] - values[j]) <= 1e-6 * (1.0 + fabs(values[j]))) continue;
        fail_msg("%s, t = %g, quantity %d: %.15g, by a step %.15g", kinds[k], l.times[i], j, l.values[7 * i + j],
                 values[j]);
      }
      assert_true(l.values[7 * i + 6] < 1e-9);
    }
    yoke_subsystem_state_destroy(b.subsystem, &other);
    close_bench(&b);
  }
}

/* The spring to the ghost belongs to the wire: stored are m v^2 / 2 and c x^2 / 2 of the wall's spring, lost is its damper's d v^2. */
static void energy_with_a_ghost_spring_is_that_of_the_own_elements(void **state) {
  const half *h = &ghost_half;
  bench       b;
  wave        w;
  look        l;
  int64_t     handles[YOKE_N_ENERGIES + 2];
  double      lost = 0.0;
  (void)state;
  make_half_with(&b, h, "dop853", false, true);
  make_task(&b);
  set_wave(&w, 2, 0.0, 0.2, shape[0]);
  b.subsystem->ops->energy->handles(b.subsystem, handles);
  handles[4] = yoke_native_handle(YOKE_NATIVE_Q, 0, 0);
  handles[5] = yoke_native_handle(YOKE_NATIVE_V, 0, 0);
  assert_int_equal(yoke_subsystem_start(b.subsystem, b.scratch, b.state, 0.0, &w.u, b.ctx), YOKE_OK);
  set_look(&l, &w.u, 0.0, 0.2, 6, handles);
  assert_int_equal(yoke_subsystem_step(b.subsystem, b.scratch, b.state, &w.u, &l.request, b.ctx), YOKE_OK);
  for (int n = 0; n < 40; ++n) { /* midpoints of the damper's power, by hand */
    wave   part = w;
    double z[3] = {h->x, h->v, 0.0};
    part.t[1]   = (n + 0.5) * 5e-3;
    part.u.t    = part.t;
    part.u.c    = part.c;
    half_solve(h, &part, z);
    lost += 5e-3 * h->d * z[1] * z[1];
  }
  for (int i = 0; i < N_TIMES; ++i) {
    const double *value = l.values + 6 * i, x = value[4], v = value[5];
    assert_true(fabs(value[YOKE_ENERGY_KINETIC] - 0.5 * h->m * v * v) < 1e-12);
    assert_true(fabs(value[YOKE_ENERGY_POTENTIAL] - 0.5 * h->c * x * x) < 1e-12);
    assert_true(value[YOKE_ENERGY_EXTERNAL] == 0.0);
  }
  assert_true(lost > 1e-2 && fabs(l.values[6 * (N_TIMES - 1) + YOKE_ENERGY_DISSIPATED] - lost) < 1e-3 * lost);
  close_bench(&b);
}

static void energies_that_are_not_integrated_have_no_handle(void **state) {
  bench   b;
  int64_t handles[YOKE_N_ENERGIES];
  (void)state;
  make_half(&b, &force_half, "dopri5", false);
  b.subsystem->ops->energy->handles(b.subsystem, handles);
  assert_true(handles[YOKE_ENERGY_KINETIC] >= 0 && handles[YOKE_ENERGY_POTENTIAL] >= 0);
  assert_true(handles[YOKE_ENERGY_DISSIPATED] == YOKE_NO_HANDLE && handles[YOKE_ENERGY_EXTERNAL] == YOKE_NO_HANDLE);
  close_bench(&b);
}

static void a_step_that_may_stop_anywhere_is_one_micro_step(void **state) {
  bench   b;
  wave    w;
  look    l;
  int64_t handle = yoke_native_handle(YOKE_NATIVE_Q, 0, 0);
  double  t      = 0.0;
  int     n      = 0;
  (void)state;
  make_half(&b, &force_half, "dopri5", false);
  make_task(&b);
  set_wave(&w, 1, 0.0, 0.5, shape[0]);
  assert_int_equal(yoke_subsystem_start(b.subsystem, b.scratch, b.state, 0.0, &w.u, b.ctx), YOKE_OK);
  for (int seen = 0; t < 0.5; ++n) {
    yoke_counters before, after;
    set_look(&l, &w.u, 0.0, 0.5, 1, &handle);
    l.request.t             = t;
    l.request.stop_anywhere = true;
    l.request.times += seen;
    l.request.n_times -= seen;
    yoke_subsystem_counters(b.subsystem, b.state, &before);
    assert_int_equal(yoke_subsystem_step(b.subsystem, b.scratch, b.state, &w.u, &l.request, b.ctx), YOKE_OK);
    yoke_subsystem_counters(b.subsystem, b.state, &after);
    assert_int_equal(after.steps - before.steps, 1);
    assert_true(l.request.t_reached > t && l.request.t_reached == yoke_native_state(b.subsystem, b.state)->t);
    t = l.request.t_reached;
    seen += l.request.n_observed;
    assert_true(seen == 0 || l.times[seen - 1] <= t);
    assert_true(seen == N_TIMES || l.times[seen] > t);
  }
  assert_true(n > 5 && t == 0.5);
  close_bench(&b);
}

/* The solver hears of it: accelerations are computed anew, nothing else changes where nothing jumps. */
static void a_step_that_begins_anew_evaluates_at_its_start(void **state) {
  double  y[2][4];
  int64_t evaluations[2];
  (void)state;
  for (int is_new = 0; is_new < 2; ++is_new) {
    bench         b;
    wave          w;
    yoke_counters counters;
    make_half(&b, &force_half, "dopri5", false);
    make_task(&b);
    set_wave(&w, 1, 0.0, 0.1, shape[0]);
    assert_int_equal(yoke_subsystem_start(b.subsystem, b.scratch, b.state, 0.0, &w.u, b.ctx), YOKE_OK);
    yoke_step_request request = yoke_step_over(&w.u, 0.0, 0.1);
    request.begins_anew       = is_new;
    assert_int_equal(yoke_subsystem_step(b.subsystem, b.scratch, b.state, &w.u, &request, b.ctx), YOKE_OK);
    assert_int_equal(yoke_subsystem_output(b.subsystem, b.scratch, b.state, &w.u, YOKE_SIDE_LEFT, y[is_new]), YOKE_OK);
    yoke_subsystem_counters(b.subsystem, b.state, &counters);
    evaluations[is_new] = counters.evaluations;
    close_bench(&b);
  }
  assert_memory_equal(y[0], y[1], sizeof y[0]);
  assert_true(evaluations[1] > evaluations[0]);
}

/* Told before the step that somebody will look: the last micro step can be looked into behind it, with the same bits as during the step. */
static void the_last_micro_step_can_be_looked_into_behind_the_step(void **state) {
  const int64_t handles[2] = {yoke_native_handle(YOKE_NATIVE_Q, 0, 0), yoke_output_handle(2)};
  (void)state;
  for (int k = 0; k < N_KINDS; ++k) {
    bench  b;
    wave   w;
    double during[2], behind[2], t_inside = 0.0;
    for (int pass = 0; pass < 3; ++pass) { /* where the last micro step is; during the step; behind it */
      make_half(&b, &force_half, kinds[k], false);
      make_task(&b);
      set_wave(&w, 1, 0.0, 0.2, shape[0]);
      assert_int_equal(yoke_subsystem_start(b.subsystem, b.scratch, b.state, 0.0, &w.u, b.ctx), YOKE_OK);
      yoke_step_request request = yoke_step_over(&w.u, 0.0, 0.2);
      request.t_look            = pass == 2 ? t_inside : request.t_look;
      request.n_times           = pass == 1;
      request.times             = &t_inside;
      request.n_handles         = 2;
      request.handles           = handles;
      request.values            = during;
      assert_int_equal(yoke_subsystem_step(b.subsystem, b.scratch, b.state, &w.u, &request, b.ctx), YOKE_OK);
      const yoke_integrator_state *head = yoke_native_state(b.subsystem, b.state);
      if (pass == 0) t_inside = head->t_prev + 0.4 * (head->t - head->t_prev);
      if (pass == 2)
        assert_int_equal(b.subsystem->ops->observe->at(b.subsystem, b.scratch, b.state, &w.u, t_inside, YOKE_SIDE_LEFT,
                                                       2, handles, behind),
                         YOKE_OK);
      close_bench(&b);
    }
    assert_memory_equal(during, behind, sizeof during);
  }
}

/* At a jump of the force by -5 N the acceleration of the output jumps by 5 N / m; positions and velocities do not. */
static void outputs_have_a_left_and_a_right_limit(void **state) {
  const double      t[3] = {0.0, 0.1, 0.2}, c[2] = {7.0, 2.0};
  const yoke_signal u = {.n = 1, .n_pieces = 2, .degree = 0, .t = t, .c = c};
  bench             b;
  double            y[2][4];
  (void)state;
  make_half(&b, &force_half, "dopri5", false);
  make_task(&b);
  assert_int_equal(yoke_subsystem_start(b.subsystem, b.scratch, b.state, 0.0, &u, b.ctx), YOKE_OK);
  assert_int_equal(step_over(b.subsystem, b.scratch, b.state, &u, 0.0, 0.1, b.ctx), YOKE_OK);
  for (int side = 0; side < 2; ++side)
    assert_int_equal(yoke_subsystem_output(b.subsystem, b.scratch, b.state, &u,
                                           side == 0 ? YOKE_SIDE_LEFT : YOKE_SIDE_RIGHT, y[side]),
                     YOKE_OK);
  assert_true(fabs(y[1][2] - y[0][2] - 5.0 / force_half.m) < 1e-12); /* the input acts with factor -1 */
  for (int k = 0; k < 4; ++k) assert_true(k == 2 || y[0][k] == y[1][k]);
  close_bench(&b);
}

static void write_nothing(void *user, const char *line) {
  (void)user, (void)line;
}

/* Through `traced` and `checked`: the same values, energies too. */
static void wrappers_pass_observations_on(void **state) {
  double values[2][3 * N_TIMES];
  (void)state;
  for (int is_wrapped = 0; is_wrapped < 2; ++is_wrapped) {
    bench   b;
    wave    w;
    look    l;
    int64_t energies[YOKE_N_ENERGIES], handles[3] = {yoke_output_handle(0), yoke_native_handle(YOKE_NATIVE_V, 0, 0)};
    make_half(&b, &ghost_half, "dopri5", false);
    if (is_wrapped) {
      assert_int_equal(yoke_subsystem_traced(b.ctx, b.subsystem, (yoke_log){write_nothing, NULL}, &b.subsystem),
                       YOKE_OK);
      assert_int_equal(yoke_subsystem_check(b.ctx, b.subsystem, &b.subsystem), YOKE_OK);
    }
    make_task(&b);
    b.subsystem->ops->energy->handles(b.subsystem, energies);
    handles[2] = energies[YOKE_ENERGY_KINETIC];
    for (int n = 0; n < 8; ++n) { /* one of them is repeated by `checked` */
      set_wave(&w, 2, 0.1 * n, 0.1, shape[n % 2]);
      if (n == 0) assert_int_equal(yoke_subsystem_start(b.subsystem, b.scratch, b.state, 0.0, &w.u, b.ctx), YOKE_OK);
      set_look(&l, &w.u, 0.1 * n, 0.1, 3, handles);
      l.request.t_end = w.t[1] = 0.1 * (n + 1);
      l.times[N_TIMES - 1]     = l.request.t_end;
      assert_int_equal(yoke_subsystem_step(b.subsystem, b.scratch, b.state, &w.u, &l.request, b.ctx), YOKE_OK);
      yoke_subsystem_accept(b.subsystem, b.state);
    }
    memcpy(values[is_wrapped], l.values, sizeof values[0]);
    close_bench(&b);
  }
  assert_memory_equal(values[0], values[1], sizeof values[0]);
}

static void checked_refuses_times_outside_the_step(void **state) {
  const int64_t handle = yoke_output_handle(0);
  bench         b;
  wave          w;
  look          l;
  (void)state;
  make_half(&b, &force_half, "dopri5", false);
  assert_int_equal(yoke_subsystem_check(b.ctx, b.subsystem, &b.subsystem), YOKE_OK);
  make_task(&b);
  set_wave(&w, 1, 0.0, 0.1, shape[0]);
  assert_int_equal(yoke_subsystem_start(b.subsystem, b.scratch, b.state, 0.0, &w.u, b.ctx), YOKE_OK);
  set_look(&l, &w.u, 0.0, 0.1, 1, &handle);
  l.times[3] = 0.11;
  assert_int_equal(yoke_subsystem_step(b.subsystem, b.scratch, b.state, &w.u, &l.request, b.ctx), YOKE_E_INTERNAL);
  assert_non_null(strstr(yoke_context_message(b.ctx, 0), "time 3 to observe is 0.11"));
  close_bench(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_inside_a_step_are_those_of_the_equations),
      cmocka_unit_test(a_look_changes_no_bit_of_the_motion),
      cmocka_unit_test(values_inside_a_step_are_those_of_steps_that_end_there),
      cmocka_unit_test(energy_with_a_ghost_spring_is_that_of_the_own_elements),
      cmocka_unit_test(energies_that_are_not_integrated_have_no_handle),
      cmocka_unit_test(a_step_that_may_stop_anywhere_is_one_micro_step),
      cmocka_unit_test(a_step_that_begins_anew_evaluates_at_its_start),
      cmocka_unit_test(the_last_micro_step_can_be_looked_into_behind_the_step),
      cmocka_unit_test(outputs_have_a_left_and_a_right_limit),
      cmocka_unit_test(wrappers_pass_observations_on),
      cmocka_unit_test(checked_refuses_times_outside_the_step),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
