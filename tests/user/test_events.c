/* Events of subsystems whose type a program brings. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "bench.h"

/* ---- events ---- */

static void events_are_noted_and_the_step_goes_on(void **state) {
  (void)state;
  const unsigned *const kinds[] = {&with_events, &with_heap_events, &with_records};
  for (int k = 0; k < 3; ++k) {
    bench  b;
    double y[4];
    open_mass(&b, kinds[k]);
    start(&b, 0.0);
    assert_int_equal(step(&b, b.state, 0.0, 1.0, 0.0), YOKE_OK);
    const yoke_found_events found = b.s->ops->events->found(b.s, b.state);
    assert_int_equal(found.n, 2);
    assert_true(found.until == (double)INFINITY);
    for (int i = 0; i < 2; ++i) {
      assert_int_equal(found.list[i].event, 0);
      CHECK_NEAR(found.list[i].t, passage(i + 1), 1e-10);
    }
    output(&b, b.state, 0.0, y);
    CHECK_NEAR(y[0], exact_x(1.0, 0.0), 1e-10);
    assert_int_equal(step(&b, b.state, 1.0, 1e-3, 0.0), YOKE_OK);
    assert_int_equal(b.s->ops->events->found(b.s, b.state).n, 0);
    close_bench(&b);
  }
}

static void an_event_acts_at_the_time_of_the_state(void **state) {
  (void)state;
  const unsigned *const kinds[] = {&with_events, &with_records};
  for (int k = 0; k < 2; ++k) {
    bench  b;
    held   h;
    double y[2][4];
    open_mass(&b, kinds[k]);
    start(&b, 0.0);
    output(&b, b.state, 0.0, y[0]);
    b.s->ops->events->done(b.s, b.scratch, b.state, 0);
    b.s->ops->events->begin(b.s, b.scratch, b.state, hold(&h, b.s, 0.0));
    assert_int_equal(b.s->ops->events->act(b.s, b.scratch, b.state, 0, hold(&h, b.s, 0.0), b.ctx), YOKE_OK);
    output(&b, b.state, 0.0, y[1]);
    assert_true(y[1][1] == (k == 0 ? -y[0][1] : y[0][1]));
    close_bench(&b);
  }
}

static yoke_status fail_to_act(void *self, void *state, int event, double t, const double *u, yoke_context *ctx) {
  (void)self, (void)state, (void)event, (void)t, (void)u, (void)ctx;
  return YOKE_E_SUBSYSTEM;
}

static void an_event_that_fails_is_named(void **state) {
  (void)state;
  static const yoke_user_events fails = {.size = sizeof fails, .act = fail_to_act};
  yoke_user_type                type  = mass_type(&with_events);
  bench                         b;
  held                          h;
  type.events = &fails;
  assert_int_equal(make(&b, &type, 0, NULL), YOKE_OK);
  start(&b, 0.0);
  assert_int_equal(b.s->ops->events->act(b.s, b.scratch, b.state, 0, hold(&h, b.s, 0.0), b.ctx), YOKE_E_SUBSYSTEM);
  expect_said(b.ctx, "subsystem 'part': type 'mass': event 'passes' at t = 0 s failed: a subsystem failed");
  close_bench(&b);
}

/* The step ends a little before the event, or long before it. */
static void an_event_that_comes_next_is_looked_for_ahead(void **state) {
  (void)state;
  const unsigned *const kinds[] = {&with_events, &with_heap_events};
  for (int k = 0; k < 2; ++k) {
    for (int is_near = 0; is_near < 2; ++is_near) {
      bench        b;
      const double end = is_near ? passage(1) - 1e-5 : 0.3;
      open_mass(&b, kinds[k]);
      start(&b, 0.0);
      assert_int_equal(step(&b, b.state, 0.0, end, 0.0), YOKE_OK);
      assert_int_equal(b.s->ops->events->found(b.s, b.state).n, 0);
      const double ahead = b.s->ops->events->ahead(b.s, b.scratch, b.state, 0);
      if (is_near)
        CHECK_NEAR(ahead, passage(1), 1e-9);
      else
        assert_true(ahead == (double)INFINITY);
      close_bench(&b);
    }
  }
}

static void more_events_than_fit_end_the_list(void **state) {
  (void)state;
  const yoke_user_type     type = sampled_type();
  const yoke_user_argument fast = {"period", NULL, 1e-3};
  bench                    b;
  assert_int_equal(make(&b, &type, 1, &fast), YOKE_OK);
  start(&b, 0.0);
  assert_int_equal(step(&b, b.state, 0.0, 0.1, 0.0), YOKE_OK);
  const yoke_found_events found = b.s->ops->events->found(b.s, b.state);
  assert_int_equal(found.n, YOKE_MAX_FOUND);
  CHECK_NEAR(found.until, 64e-3, 1e-15);
  close_bench(&b);
}

static void a_sampled_controller_holds_its_value(void **state) {
  (void)state;
  const yoke_user_type     type     = sampled_type();
  const yoke_user_argument gains[2] = {{"kp", NULL, 10.0}, {"kd", NULL, 2.0}};
  bench                    b;
  held                     h;
  double                   y[1];
  assert_int_equal(make(&b, &type, 2, gains), YOKE_OK);
  start(&b, 1.0);
  assert_int_equal(step(&b, b.state, 0.0, 1e-3, 3.0), YOKE_OK);
  output(&b, b.state, 3.0, y);
  assert_true(y[0] == -12.0);
  const yoke_found_events found = b.s->ops->events->found(b.s, b.state);
  assert_int_equal(found.n, 1);
  assert_true(found.list[0].t == 1e-3); /* at the end of the step */
  assert_int_equal(b.s->ops->events->act(b.s, b.scratch, b.state, 0, hold(&h, b.s, 3.0), b.ctx), YOKE_OK);
  output(&b, b.state, 3.0, y);
  assert_true(y[0] == -36.0);
  close_bench(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(events_are_noted_and_the_step_goes_on),
      cmocka_unit_test(an_event_acts_at_the_time_of_the_state),
      cmocka_unit_test(an_event_that_fails_is_named),
      cmocka_unit_test(an_event_that_comes_next_is_looked_for_ahead),
      cmocka_unit_test(more_events_than_fit_end_the_list),
      cmocka_unit_test(a_sampled_controller_holds_its_value),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
