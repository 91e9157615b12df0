/* Steps of subsystems whose type a program brings: with every ability and without, what they tell, and their response. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "bench.h"
#include "base/cancel.h"

/* ---- steps ---- */

static void a_mass_moves_as_its_equation_says(void **state) {
  (void)state;
  const unsigned *const kinds[] = {&with_nothing, &with_repeat, &on_heap, &with_all};
  for (int k = 0; k < 4; ++k) {
    bench         b;
    double        y[4];
    yoke_counters counters;
    open_mass(&b, kinds[k]);
    start(&b, 5.0);
    output(&b, b.state, 5.0, y);
    assert_true(y[0] == 0.1 && y[1] == 3.0 && y[3] == 0.0);
    CHECK_NEAR(y[2], (5.0 - 10.0 - 3.0) / 2.0, 1e-15);
    for (int i = 0; i < 20; ++i) {
      assert_int_equal(step(&b, b.state, 1e-2 * i, 1e-2 * (i + 1) - 1e-2 * i, 5.0), YOKE_OK);
      yoke_subsystem_accept(b.s, b.state);
    }
    output(&b, b.state, 5.0, y);
    CHECK_NEAR(y[0], exact_x(0.2, 5.0), 1e-11);
    yoke_subsystem_counters(b.s, b.state, &counters);
    assert_int_equal(counters.steps, 20);
    assert_int_equal(counters.evaluations, 0);
    CHECK_NEAR(counters.h, 1e-2, 1e-15);
    close_bench(&b);
  }
}

static void a_step_must_start_where_the_state_is(void **state) {
  (void)state;
  bench b;
  open_mass(&b, &with_repeat);
  start(&b, 0.0);
  assert_int_equal(step(&b, b.state, 0.5, 1e-3, 0.0), YOKE_E_USAGE);
  expect_said(b.ctx, "a step starts at t = 0.5 s but its state is at 0 s");
  close_bench(&b);
}

static void copies_of_a_state_go_on_with_the_same_bits(void **state) {
  (void)state;
  const unsigned *const kinds[] = {&with_repeat, &on_heap, &with_all};
  for (int k = 0; k < 3; ++k) {
    bench  b;
    void  *copy;
    double y[2][4];
    open_mass(&b, kinds[k]);
    start(&b, 1.0);
    assert_int_equal(step(&b, b.state, 0.0, 1e-2, 1.0), YOKE_OK);
    assert_int_equal(yoke_subsystem_state_create(b.s, &copy), YOKE_OK);
    for (int again = 0; again < 2; ++again) { /* onto a zeroed block, and onto a state */
      assert_int_equal(yoke_subsystem_copy(b.s, copy, b.state), YOKE_OK);
      assert_int_equal(step(&b, copy, 1e-2, 1e-2, 2.0), YOKE_OK);
      output(&b, copy, 2.0, y[again]);
    }
    assert_memory_equal(y[0], y[1], sizeof y[0]);
    assert_int_equal(step(&b, b.state, 1e-2, 1e-2, 2.0), YOKE_OK);
    output(&b, b.state, 2.0, y[1]);
    assert_memory_equal(y[0], y[1], sizeof y[0]);
    yoke_subsystem_state_release(b.s, copy); /* a released block is like a new one */
    held h;
    assert_int_equal(yoke_subsystem_start(b.s, b.scratch, copy, 0.0, hold(&h, b.s, 0.0), b.ctx), YOKE_OK);
    yoke_subsystem_state_destroy(b.s, &copy);
    close_bench(&b);
  }
}

static void an_ability_that_a_type_lacks_is_not_offered(void **state) {
  (void)state;
  bench b;
  open_mass(&b, &with_nothing);
  assert_null(b.s->ops->repeat);
  assert_null(b.s->ops->instant);
  assert_null(b.s->ops->response);
  assert_null(b.s->ops->events);
  assert_null(b.s->ops->energy);
  assert_null(b.s->ops->pack);
  assert_null(b.s->ops->reset);
  assert_null(b.s->ops->linear);
  assert_non_null(b.s->ops->observe);
  close_bench(&b);
  open_mass(&b, &with_all);
  assert_non_null(b.s->ops->repeat);
  assert_int_equal(b.s->ops->repeat->most_states, 0);
  assert_non_null(b.s->ops->instant);
  assert_non_null(b.s->ops->response);
  assert_non_null(b.s->ops->events);
  assert_non_null(b.s->ops->energy);
  assert_non_null(b.s->ops->pack);
  close_bench(&b);
}

static void most_states_are_told(void **state) {
  (void)state;
  static const yoke_user_repeat one  = {.size = sizeof one, .most_states = 1};
  yoke_user_type                type = gain_type();
  bench                         b;
  type.repeat = &one;
  assert_int_equal(make(&b, &type, 0, NULL), YOKE_OK);
  assert_int_equal(b.s->ops->repeat->most_states, 1);
  start(&b, 0.0); /* without a state */
  assert_int_equal(step(&b, b.state, 0.0, 1.0, 0.0), YOKE_OK);
  close_bench(&b);
}

/* ---- codes, and what a step tells ---- */

typedef struct told {
  yoke_status status;
  double      t_reached;
  int         event;
  bool        speaks;
} told;

static yoke_status told_create(yoke_context *ctx, void *user, const char *name, int n_arguments,
                               const yoke_user_argument *arguments, yoke_user_instance *out) {
  static const char *const events[] = {"first", "second"};
  (void)ctx, (void)name, (void)n_arguments, (void)arguments;
  out->self     = user;
  out->n_events = 2;
  out->events   = events;
  return YOKE_OK;
}

static yoke_status told_start(void *self, void *state, double t, const double *u, yoke_context *ctx) {
  (void)state, (void)t, (void)u, (void)ctx;
  return ((const told *)self)->status;
}

static yoke_status told_step(void *self, void *state, const yoke_signal *u, yoke_user_step *step_now,
                             yoke_context *ctx) {
  const told *x = self;
  (void)state, (void)u;
  step_now->t_reached = x->t_reached;
  step_now->event     = x->event;
  if (x->speaks) (void)yoke_fail(ctx, x->status, "the valve is stuck");
  return x->status;
}

static yoke_user_type told_type(told *x) {
  static const yoke_user_events events = {.size = sizeof events};
  yoke_user_type                type   = gain_type();
  type.name                            = "told";
  type.user                            = x;
  type.create                          = told_create;
  type.start                           = told_start;
  type.step                            = told_step;
  type.destroy                         = NULL;
  type.instant                         = NULL;
  type.events                          = &events;
  return type;
}

static void codes_become_those_that_a_subsystem_may_give(void **state) {
  (void)state;
  static const struct {
    int         given;
    yoke_status told;
  } rows[] = {{1, YOKE_NOT_CONVERGED},  {2, YOKE_NON_FINITE},    {3, YOKE_SINGULAR},       {4, YOKE_NOT_CONVERGED},
              {99, YOKE_NOT_CONVERGED}, {-7, YOKE_E_SUBSYSTEM},  {-9, YOKE_E_MEMORY},      {-2, YOKE_E_SUBSYSTEM},
              {-10, YOKE_E_SUBSYSTEM},  {-11, YOKE_E_SUBSYSTEM}, {-1000, YOKE_E_SUBSYSTEM}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    told                 x    = {.t_reached = 1.0, .event = -1};
    const yoke_user_type type = told_type(&x);
    bench                b;
    held                 h;
    assert_int_equal(make(&b, &type, 0, NULL), YOKE_OK);
    start(&b, 0.0);
    x.status = (yoke_status)rows[i].given;
    assert_int_equal(step(&b, b.state, 0.0, 1.0, 0.0), rows[i].told);
    expect_said(b.ctx, "subsystem 'part': type 'told': the step of 1 s from t = 0 s failed: ");
    assert_int_equal(yoke_subsystem_start(b.s, b.scratch, b.state, 0.0, hold(&h, b.s, 0.0), b.ctx), rows[i].told);
    expect_said(b.ctx, "subsystem 'part' (type 'told') cannot start at t = 0 s");
    close_bench(&b);
  }
}

static void what_a_step_says_itself_is_not_said_twice(void **state) {
  (void)state;
  told                 x    = {.t_reached = 1.0, .event = -1};
  const yoke_user_type type = told_type(&x);
  bench                b;
  assert_int_equal(make(&b, &type, 0, NULL), YOKE_OK);
  start(&b, 0.0);
  x.status = YOKE_E_SUBSYSTEM;
  x.speaks = true;
  assert_int_equal(step(&b, b.state, 0.0, 1.0, 0.0), YOKE_E_SUBSYSTEM);
  assert_int_equal(yoke_context_n_messages(b.ctx), 1);
  expect_said(b.ctx, "the valve is stuck");
  close_bench(&b);
}

static void a_step_that_tells_nonsense_is_refused(void **state) {
  (void)state;
  static const struct {
    double      t_reached;
    int         event;
    const char *text;
  } rows[] = {{0.0, 0, "says that it ended at t = 0 s"},
              {-1.0, 0, "says that it ended at t = -1 s"},
              {1.5, 0, "says that it ended at t = 1.5 s"},
              {(double)NAN, 0, "says that it ended at t = nan s"},
              {0.5, -1, "ended at t = 0.5 s and names no event"},
              {1.0, 2, "tells of event 2, it has 2"},
              {1.0, -2, "tells of event -2, it has 2"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    told                 x    = {.t_reached = rows[i].t_reached, .event = rows[i].event};
    const yoke_user_type type = told_type(&x);
    bench                b;
    assert_int_equal(make(&b, &type, 0, NULL), YOKE_OK);
    start(&b, 0.0);
    assert_int_equal(step(&b, b.state, 0.0, 1.0, 0.0), YOKE_E_SUBSYSTEM);
    expect_said(b.ctx, rows[i].text);
    expect_said(b.ctx, "subsystem 'part': type 'told'");
    close_bench(&b);
  }
}

/* ---- response of a step ---- */

/* The next event is as near as a number can be. */
static yoke_status hasty_step(void *self, void *state, const yoke_signal *u, yoke_user_step *now, yoke_context *ctx) {
  (void)self, (void)state, (void)u, (void)ctx;
  now->t_reached = nextafter(now->t, now->t_end);
  now->event     = 0;
  return YOKE_OK;
}

static void events_that_follow_each_other_at_once_are_refused(void **state) {
  (void)state;
  told           x    = {.event = -1};
  yoke_user_type type = told_type(&x);
  bench          b;
  type.step = hasty_step;
  assert_int_equal(make(&b, &type, 0, NULL), YOKE_OK);
  start(&b, 0.0);
  assert_int_equal(step(&b, b.state, 0.0, 1.0, 0.0), YOKE_E_SUBSYSTEM);
  expect_said(b.ctx, "its step to t = 1 s has more than 1000000 events");
  close_bench(&b);
}

static void a_step_with_many_events_is_cancelled_between_them(void **state) {
  (void)state;
  told           x      = {.event = -1};
  yoke_user_type type   = told_type(&x);
  yoke_cancel    cancel = {.is_stopped = true};
  bench          b;
  type.step = hasty_step;
  assert_int_equal(make(&b, &type, 0, NULL), YOKE_OK);
  start(&b, 0.0);
  yoke_context_watch(b.ctx, &cancel);
  assert_int_equal(step(&b, b.state, 0.0, 1.0, 0.0), YOKE_E_INTERRUPTED);
  close_bench(&b);
}

static void the_response_of_a_step_is_that_of_the_type(void **state) {
  (void)state;
  const unsigned *const kinds[] = {&with_response, &with_heap_response};
  for (int k = 0; k < 2; ++k) {
    bench             b;
    double            times[2] = {0.0, 1e-2}, c[2] = {1.0, 50.0}, along[2] = {1.0, 30.0}, dy[4], y[2][4];
    const int         zero     = 0;
    yoke_response     response = {.directions = {.n = 1, .n_entries = 1, .direction = &zero, .input = &zero}, .dy = dy};
    const yoke_signal u        = {.n = 1, .n_pieces = 1, .degree = 1, .t = times, .c = c};
    open_mass(&b, kinds[k]);
    assert_true(b.s->ops->response->room(b.s, 0) == 0);
    const size_t room = b.s->ops->response->room(b.s, 1);
    response.room     = aligned_alloc(64, (room + 63) / 64 * 64);
    memset(response.room, 0xa5, room);
    response.directions.du = (yoke_signal){.n = 1, .n_pieces = 1, .degree = 1, .t = times, .c = along};
    for (int changed = 0; changed < 2; ++changed) {
      yoke_step_request request = yoke_step_over(&u, 0.0, 1e-2);
      start(&b, 1.0);
      if (changed == 0) request.response = &response;
      if (changed == 1) c[0] += along[0], c[1] += along[1];
      assert_int_equal(yoke_subsystem_step(b.s, b.scratch, b.state, &u, &request, b.ctx), YOKE_OK);
      assert_int_equal(yoke_subsystem_output(b.s, b.scratch, b.state, &u, YOKE_SIDE_LEFT, y[changed]), YOKE_OK);
    }
    assert_true(response.is_made);
    for (int i = 0; i < 3; ++i) CHECK_NEAR(dy[i], y[1][i] - y[0][i], 1e-12);
    assert_true(dy[3] == 0.0);
    free(response.room);
    close_bench(&b);
  }
}

static yoke_status refuse_response(void *self, const void *from, const void *to, const yoke_signal *u,
                                   const yoke_user_step *step_done, const yoke_user_directions *directions,
                                   double *dy) {
  (void)self, (void)from, (void)to, (void)u, (void)step_done, (void)directions, (void)dy;
  return YOKE_E_UNSUPPORTED;
}

static void a_step_may_have_no_response(void **state) {
  (void)state;
  static const yoke_user_response refuses = {.size = sizeof refuses, .response = refuse_response};
  static const unsigned           able    = MASS_REPEAT | MASS_RESPONSE | MASS_EVENTS | MASS_RECORDS;
  for (int passes = 0; passes < 2; ++passes) { /* refused by the type; a step with an event */
    yoke_user_type type = mass_type(&able);
    bench          b;
    held           h;
    double         room[64], dy[4];
    yoke_response  response = {.room = room, .dy = dy};
    if (passes == 0) type.response = &refuses;
    assert_int_equal(make(&b, &type, N_SWINGING, swinging), YOKE_OK);
    start(&b, 0.0);
    assert_true(b.s->ops->response->room(b.s, 1) < sizeof room);
    yoke_step_request request = yoke_step_over(NULL, 0.0, passes == 0 ? 1e-2 : 0.6);
    request.response          = &response;
    assert_int_equal(yoke_subsystem_step(b.s, b.scratch, b.state, hold(&h, b.s, 0.0), &request, b.ctx), YOKE_OK);
    assert_int_equal(b.s->ops->events->found(b.s, b.state).n, passes);
    assert_false(response.is_made);
    close_bench(&b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_mass_moves_as_its_equation_says),
      cmocka_unit_test(a_step_must_start_where_the_state_is),
      cmocka_unit_test(copies_of_a_state_go_on_with_the_same_bits),
      cmocka_unit_test(an_ability_that_a_type_lacks_is_not_offered),
      cmocka_unit_test(most_states_are_told),
      cmocka_unit_test(codes_become_those_that_a_subsystem_may_give),
      cmocka_unit_test(what_a_step_says_itself_is_not_said_twice),
      cmocka_unit_test(a_step_that_tells_nonsense_is_refused),
      cmocka_unit_test(events_that_follow_each_other_at_once_are_refused),
      cmocka_unit_test(a_step_with_many_events_is_cancelled_between_them),
      cmocka_unit_test(the_response_of_a_step_is_that_of_the_type),
      cmocka_unit_test(a_step_may_have_no_response),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
