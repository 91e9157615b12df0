/* The end of a step goes where other inputs would have led, by the tangents of the step (state_shift.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "bench.h"

enum { N_Y = 26, N_DIRECTIONS = 2 };

static const double begins = 0.0, ends = 0.04;

/* Two links in space in a ball joint of their own; two forces on the end of the first. */
static void make_links(bench *b, const char *solver) {
  open_bench(b, solver);
  b->model.gravity[2] = -9.81;
  yoke_body *first    = add_body(b, YOKE_BODY_RIGID);
  first->omega[1]     = 3.0;
  yoke_body *second   = add_body(b, YOKE_BODY_RIGID);
  second->position[0] = -1.0;
  second->omega[2]    = -2.0;
  second->velocity[2] = 1.5;
  second->velocity[1] = 1.0;
  connect(b, YOKE_CONNECTION_ATPOINT, add_frame(b, 0, -0.5, 0, 0), add_frame(b, 1, 0.5, 0, 0));
  const int        port[2]   = {add_frame(b, 0, 0.5, 0.1, 0), add_frame(b, 1, -0.5, 0, 0)};
  const yoke_input inputs[2] = {{YOKE_INPUT_FORCE, port[0], 0, 1.0}, {YOKE_INPUT_FORCE, port[0], 2, 1.0}};
  build(b, 2, port, 2, inputs, true);
  make_task(b);
}

/* Inputs with rates that differ by `size` from those of the step. */
typedef struct push {
  double      t[2], c[4];
  yoke_signal u;
} push;

static void set_push(push *p, double size) {
  *p   = (push){.t = {begins, ends}, .c = {5.0, 100.0 + size, -3.0, 50.0 - 0.7 * size}};
  p->u = (yoke_signal){.n = 2, .n_pieces = 1, .degree = 1, .t = p->t, .c = p->c};
}

static void step_with(bench *b, const push *p, yoke_response *response, double *y) {
  push start;
  set_push(&start, 0.0);
  assert_int_equal(yoke_subsystem_start(b->subsystem, b->scratch, b->state, begins, &start.u, b->ctx), YOKE_OK);
  yoke_step_request request = yoke_step_over(&p->u, begins, ends - begins);
  request.response          = response;
  assert_int_equal(yoke_subsystem_step(b->subsystem, b->scratch, b->state, &p->u, &request, b->ctx), YOKE_OK);
  assert_int_equal(yoke_subsystem_output(b->subsystem, b->scratch, b->state, &p->u, YOKE_SIDE_LEFT, y), YOKE_OK);
}

/* Outputs of a step that was shifted to the inputs of `to`; false: it cannot be. */
static bool shift_to(bench *b, const push *to, double size, double *y) {
  static const int direction[] = {0, 1}, input[] = {0, 1};
  push             from;
  set_push(&from, 0.0);
  const int n_x          = b->subsystem->ops->response->n_x(b->subsystem);
  double    along[4]     = {0.0, 1.0, 0.0, 1.0}, dy[N_DIRECTIONS * 2 * N_Y], off[N_DIRECTIONS * 2 * N_Y],
         *dx             = calloc(3 * (size_t)n_x, sizeof *dx);
  yoke_response response = {.directions = {.n         = N_DIRECTIONS,
                                           .n_entries = N_DIRECTIONS,
                                           .direction = direction,
                                           .input     = input,
                                           .du        = {.n = 2, .n_pieces = 1, .degree = 1, .t = from.t, .c = along}},
                            .dy         = dy,
                            .dx         = dx,
                            .dy_off     = off};
  response.room = aligned_alloc(64, (b->subsystem->ops->response->room(b->subsystem, N_DIRECTIONS) + 63) / 64 * 64);
  assert_true(dx != NULL && response.room != NULL);
  step_with(b, &from, &response, y);
  assert_true(response.is_made);
  for (int k = 0; k < n_x; ++k) dx[2 * n_x + k] = size * (dx[k] - 0.7 * dx[n_x + k]);
  const bool can = response.can_shift;
  if (can) {
    assert_int_equal(
        b->subsystem->ops->response->shift(b->subsystem, b->scratch, b->state, &to->u, dx + (size_t)(2 * n_x)),
        YOKE_OK);
    assert_int_equal(yoke_subsystem_output(b->subsystem, b->scratch, b->state, &to->u, YOKE_SIDE_LEFT, y), YOKE_OK);
  }
  free(dx);
  free(response.room);
  return can;
}

/* Largest difference of positions and velocities of both ports. */
static double distance(const yoke_subsystem *s, const double *a, const double *b) {
  double largest = 0.0;
  for (int p = 0; p < s->n_ports; ++p) {
    const int at = s->ports[p].y_at, n = s->ports[p].shape->n_p + s->ports[p].shape->n_v;
    for (int k = at; k < at + n; ++k) largest = fmax(largest, fabs(a[k] - b[k]));
  }
  return largest;
}

static void a_shift_misses_the_square_of_the_change(void **state) {
  static const char *const solvers[] = {"dopri5", "dop853", "auto"};
  (void)state;
  for (int i = 0; i < 3; ++i) {
    double missed[3], way = 0.0;
    for (int k = 0; k < 3; ++k) {
      const double size = 4000.0 / (1 << k);
      double       plain[2 * N_Y], shifted[2 * N_Y], integrated[2 * N_Y];
      bench        b;
      push         to;
      make_links(&b, solvers[i]);
      assert_true(b.subsystem->ny <= 2 * N_Y);
      set_push(&to, size);
      assert_true(shift_to(&b, &to, size, shifted));
      step_with(&b, &to, NULL, integrated);
      set_push(&to, 0.0);
      step_with(&b, &to, NULL, plain);
      missed[k] = distance(b.subsystem, shifted, integrated);
      way       = distance(b.subsystem, plain, integrated);
      close_bench(&b);
    }
    if (!(missed[1] < 0.3 * missed[0] && missed[2] < 0.3 * missed[1] && missed[2] < 0.03 * way))
      fail_msg("%s: %g, %g, %g of a way of %g", solvers[i], missed[0], missed[1], missed[2], way);
  }
}

/* What a ball joint between the links leaves open, in the frames of both. */
static void joints_of_a_shifted_state_are_closed(void **state) {
  double y[2 * N_Y];
  bench  b;
  push   to;
  (void)state;
  make_links(&b, "dop853");
  set_push(&to, 4000.0);
  assert_true(shift_to(&b, &to, 4000.0, y));
  const yoke_integrator *integrator = yoke_native_integrator(b.subsystem);
  const double          *q          = yoke_integrator_q(integrator, yoke_native_state(b.subsystem, b.state));
  double                 gap        = 0.0;
  for (int i = 0; i < 3; ++i) { /* r1 - A1 e / 2 = r2 + A2 e / 2 */
    double end[2];
    for (int k = 0; k < 2; ++k) {
      const double *r = q + 7 * k, *p = r + 3;
      const double  e[3] = {1.0 - 2.0 * (p[2] * p[2] + p[3] * p[3]), 2.0 * (p[1] * p[2] + p[0] * p[3]),
                            2.0 * (p[1] * p[3] - p[0] * p[2])};
      end[k]             = r[i] + (k == 0 ? -0.5 : 0.5) * e[i];
    }
    gap = fmax(gap, fabs(end[0] - end[1]));
  }
  if (!(gap < 1e-9)) fail_msg("open by %g", gap);
  close_bench(&b);
}

/* History of several steps does not follow. */
static void methods_with_a_past_are_not_shifted(void **state) {
  static const char *const solvers[] = {"abm", "bdf", "radau5"};
  (void)state;
  for (int i = 0; i < 3; ++i) {
    double y[2 * N_Y];
    bench  b;
    push   to;
    make_links(&b, solvers[i]);
    set_push(&to, 1.0);
    assert_false(shift_to(&b, &to, 1.0, y));
    close_bench(&b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_shift_misses_the_square_of_the_change),
      cmocka_unit_test(joints_of_a_shifted_state_are_closed),
      cmocka_unit_test(methods_with_a_past_are_not_shifted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
