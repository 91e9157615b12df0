/* Values inside the steps of subsystems whose type a program brings. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "bench.h"

/* ---- observation ---- */

/* Values of handles at `times` of a step of the swinging mass from 0 over H. */
static void look_inside(bench *b, double H, double force, int n_times, const double *times, int n_handles,
                        const int64_t *handles, double *values) {
  held               h;
  const yoke_signal *u = hold(&h, b->s, force);
  start(b, force);
  yoke_step_request request = yoke_step_over(NULL, 0.0, H);
  request.n_times           = n_times;
  request.times             = times;
  request.n_handles         = n_handles;
  request.handles           = handles;
  request.values            = values;
  assert_int_equal(yoke_subsystem_step(b->s, b->scratch, b->state, u, &request, b->ctx), YOKE_OK);
  assert_int_equal(request.n_observed, n_times);
}

static void values_inside_a_step_are_interpolated_by_cubics(void **state) {
  (void)state;
  const int64_t handles[] = {yoke_output_handle(0), yoke_output_handle(3)};
  double        error[2]  = {0.0, 0.0};
  for (int half = 0; half < 2; ++half) {
    const double H = half ? 0.01 : 0.02, times[] = {0.25 * H, 0.5 * H, H};
    double       values[6];
    bench        b;
    open_mass(&b, &with_repeat);
    look_inside(&b, H, 5.0, 3, times, 2, handles, values);
    for (int i = 0; i < 3; ++i) {
      error[half] = fmax(error[half], fabs(values[2 * i] - exact_x(times[i], 5.0)));
      assert_true(values[2 * i + 1] == 0.0); /* an integral */
    }
    CHECK_NEAR(values[4], exact_x(H, 5.0), 1e-11);
    close_bench(&b);
  }
  CHECK_ORDER(error, 2, 4.0, 0.2);
}

static void looking_does_not_change_the_step(void **state) {
  (void)state;
  const int64_t handle  = yoke_output_handle(0);
  const double  times[] = {3e-3, 7e-3};
  bench         b;
  double        values[2], y[2][4];
  open_mass(&b, &with_all);
  look_inside(&b, 1e-2, 1.0, 2, times, 1, &handle, values);
  output(&b, b.state, 1.0, y[0]);
  look_inside(&b, 1e-2, 1.0, 0, NULL, 0, NULL, NULL);
  output(&b, b.state, 1.0, y[1]);
  assert_memory_equal(y[0], y[1], sizeof y[0]);
  close_bench(&b);
}

/* Position and velocity from the events on: pieces of a step have ends of their own. */
static void a_step_with_events_is_interpolated_piece_by_piece(void **state) {
  (void)state;
  const int64_t handle = yoke_output_handle(0);
  double        times[3], values[3];
  bench         b;
  open_mass(&b, &with_records);
  for (int i = 0; i < 3; ++i) times[i] = passage(1) + 1e-3 * (double)(i - 1); /* around the event */
  look_inside(&b, passage(1) + 1e-2, 0.0, 3, times, 1, &handle, values);
  CHECK_NEAR(values[1], 0.0, 1e-9);
  CHECK_NEAR(values[2], exact_x(times[2], 0.0), 1e-9); /* the piece behind it is short */
  close_bench(&b);
}

static void energies_have_handles_and_are_interpolated_by_lines(void **state) {
  (void)state;
  const double times[] = {0.25e-2, 1e-2};
  int64_t      handles[YOKE_N_ENERGIES];
  double       values[8], ends[2][4];
  bench        b;
  held         h;
  open_mass(&b, &with_energy);
  b.s->ops->energy->handles(b.s, handles);
  start(&b, 0.0);
  assert_int_equal(
      b.s->ops->observe->at(b.s, b.scratch, b.state, hold(&h, b.s, 0.0), 0.0, YOKE_SIDE_LEFT, 4, handles, ends[0]),
      YOKE_OK);
  CHECK_NEAR(ends[0][YOKE_ENERGY_KINETIC], 9.0, 1e-14);
  CHECK_NEAR(ends[0][YOKE_ENERGY_POTENTIAL], 0.5, 1e-14);
  look_inside(&b, 1e-2, 0.0, 2, times, 4, handles, values);
  assert_int_equal(
      b.s->ops->observe->at(b.s, b.scratch, b.state, hold(&h, b.s, 0.0), 1e-2, YOKE_SIDE_LEFT, 4, handles, ends[1]),
      YOKE_OK);
  for (int k = 0; k < 4; ++k) {
    CHECK_NEAR(values[k], 0.75 * ends[0][k] + 0.25 * ends[1][k], 1e-14);
    CHECK_NEAR(values[4 + k], ends[1][k], 1e-14);
  }
  close_bench(&b);
}

static void a_type_that_shows_values_inside_is_asked(void **state) {
  (void)state;
  const double  times[]   = {0.25e-2, 1e-2};
  const int64_t handles[] = {yoke_output_handle(0), 0};
  double        values[4];
  bench         b;
  open_mass(&b, &with_inside);
  look_inside(&b, 1e-2, 0.0, 2, times, 2, handles, values);
  CHECK_NEAR(values[0], 1000.0025, 1e-12);
  CHECK_NEAR(values[2], exact_x(1e-2, 0.0), 1e-11); /* the end is its output */
  assert_true(values[1] < 9.0 && values[1] > values[3]);
  close_bench(&b);
}

static void values_are_seen_inside_the_last_step_where_that_was_said_before(void **state) {
  (void)state;
  const int64_t handle = yoke_output_handle(0);
  double        value;
  bench         b;
  held          h;
  open_mass(&b, &with_repeat);
  start(&b, 0.0);
  yoke_step_request request = yoke_step_over(NULL, 0.0, 1e-2);
  request.t_look            = 0.0;
  const yoke_signal *u      = hold(&h, b.s, 0.0);
  assert_int_equal(yoke_subsystem_step(b.s, b.scratch, b.state, u, &request, b.ctx), YOKE_OK);
  assert_int_equal(b.s->ops->observe->at(b.s, b.scratch, b.state, u, 4e-3, YOKE_SIDE_LEFT, 1, &handle, &value),
                   YOKE_OK);
  CHECK_NEAR(value, exact_x(4e-3, 0.0), 1e-7);
  close_bench(&b);
}

/* A frame that turns about a skew axis; its y is 3 t. */
static yoke_status top_create(yoke_context *ctx, void *user, const char *name, int n_arguments,
                              const yoke_user_argument *arguments, yoke_user_instance *out) {
  static const yoke_user_port port = {"head", "frame"};
  (void)ctx, (void)user, (void)name, (void)n_arguments, (void)arguments;
  out->n_ports = 1;
  out->ports   = &port;
  return YOKE_OK;
}

static yoke_status top_output(void *self, const void *state, double t, const double *u, double *y) {
  static const double axis[3] = {0.6, 0.0, 0.8};
  (void)self, (void)state, (void)u;
  memset(y, 0, 19 * sizeof *y);
  y[1] = 3.0 * t;
  y[3] = cos(5.0 * t);
  y[8] = 3.0;
  for (int k = 0; k < 3; ++k) y[4 + k] = axis[k] * sin(5.0 * t);
  for (int k = 0; k < 3; ++k) y[10 + k] = 10.0 * axis[k];
  return YOKE_OK;
}

static void orientations_inside_a_step_are_unit_ones(void **state) {
  (void)state;
  yoke_user_type type = gain_type();
  int64_t        handles[7];
  const double   t = 0.3e-1;
  double         values[7], y[19], norm = 0.0;
  bench          b;
  type.name    = "top";
  type.create  = top_create;
  type.output  = top_output;
  type.instant = NULL;
  type.destroy = NULL;
  for (int k = 0; k < 7; ++k) handles[k] = yoke_output_handle(k);
  assert_int_equal(make(&b, &type, 0, NULL), YOKE_OK);
  look_inside(&b, 0.1, 0.0, 1, &t, 7, handles, values);
  (void)top_output(NULL, NULL, t, NULL, y);
  for (int k = 0; k < 7; ++k) CHECK_NEAR(values[k], y[k], 1e-4);
  for (int k = 3; k < 7; ++k) norm += values[k] * values[k];
  CHECK_NEAR(norm, 1.0, 1e-15);
  close_bench(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_inside_a_step_are_interpolated_by_cubics),
      cmocka_unit_test(looking_does_not_change_the_step),
      cmocka_unit_test(a_step_with_events_is_interpolated_piece_by_piece),
      cmocka_unit_test(energies_have_handles_and_are_interpolated_by_lines),
      cmocka_unit_test(a_type_that_shows_values_inside_is_asked),
      cmocka_unit_test(values_are_seen_inside_the_last_step_where_that_was_said_before),
      cmocka_unit_test(orientations_inside_a_step_are_unit_ones),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
