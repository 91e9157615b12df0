/* The macro grid: points from the step number, switches besides, the end. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "check.h"
#include "master/macro_grid.h"

/* Points of a run to t_end, at most `most`. */
static int walk(yoke_macro_grid *grid, double t_end, int most, double *t, yoke_point_kind *kind) {
  double now = grid->t_start;
  int    n   = 0;
  while (now < t_end && n < most) {
    now = t[n] = yoke_macro_grid_next(grid, now, t_end, &kind[n]);
    yoke_macro_grid_accept(grid, now);
    ++n;
  }
  return n;
}

static void points_come_from_the_step_number(void **state) {
  (void)state;
  yoke_macro_grid grid = yoke_macro_grid_make(1.0, 0.1, 0.0, NULL);
  double          t[100];
  yoke_point_kind kind[100];
  assert_int_equal(walk(&grid, 3.0, 100, t, kind), 20);
  for (int n = 0; n < 19; ++n) CHECK_NEAR(t[n], 1.0 + (n + 1) * 0.1, 0.0);
  CHECK_NEAR(t[19], 3.0, 0.0);
  assert_int_equal(kind[19], YOKE_POINT_END);
}

static void the_last_step_takes_a_sliver_along(void **state) {
  (void)state;
  static const double share[] = {1e-9, 5e-6, 9e-4, 2e-3};
  static const int    steps[] = {10, 10, 10, 11};
  for (int i = 0; i < 4; ++i) {
    yoke_macro_grid grid = yoke_macro_grid_make(0.0, 0.1, 0.0, NULL);
    const double    end  = 1.0 + 0.1 * share[i];
    double          t[20];
    yoke_point_kind kind[20];
    assert_int_equal(walk(&grid, end, 20, t, kind), steps[i]);
    CHECK_NEAR(t[steps[i] - 1], end, 0.0);
    assert_int_equal(kind[steps[i] - 1], YOKE_POINT_END);
  }
}

static void a_step_that_is_not_accepted_can_be_asked_for_again(void **state) {
  (void)state;
  const yoke_macro_grid grid = yoke_macro_grid_make(0.0, 0.1, 0.0, NULL);
  yoke_point_kind       kind;
  CHECK_NEAR(yoke_macro_grid_next(&grid, 0.0, 1.0, &kind), 0.1, 0.0);
  CHECK_NEAR(yoke_macro_grid_next(&grid, 0.0, 1.0, &kind), 0.1, 0.0);
}

static void switches_are_inserted_and_the_grid_stays(void **state) {
  (void)state;
  yoke_switches s = {0};
  assert_true(yoke_switches_add(&s, 0.25, 0.0, false));
  assert_true(yoke_switches_add(&s, 0.55, 0.0, true));
  yoke_macro_grid     grid       = yoke_macro_grid_make(0.0, 0.1, 0.0, &s);
  static const double expected[] = {0.1, 0.2, 0.25, 0.1 * 3, 0.4, 0.5, 0.55, 0.1 * 6, 0.1 * 7, 0.8, 0.9, 1.0};
  double              t[20];
  yoke_point_kind     kind[20];
  assert_int_equal(walk(&grid, 1.0, 20, t, kind), 12);
  for (int n = 0; n < 12; ++n) CHECK_NEAR(t[n], expected[n], 0.0);
  assert_int_equal(kind[2], YOKE_POINT_SWITCH);
  assert_int_equal(kind[3], YOKE_POINT_GRID);
  yoke_switches_clear(&s);
}

static void a_switch_next_to_a_grid_point_takes_its_place(void **state) {
  (void)state;
  for (int sign = -1; sign <= 1; sign += 2) {
    yoke_switches s = {0};
    assert_true(yoke_switches_add(&s, 0.3 + sign * 1e-8, 0.0, false));
    yoke_macro_grid grid = yoke_macro_grid_make(0.0, 0.1, 0.0, &s);
    double          t[20];
    yoke_point_kind kind[20];
    assert_int_equal(walk(&grid, 1.0, 20, t, kind), 10);
    CHECK_NEAR(t[2], 0.3 + sign * 1e-8, 0.0);
    CHECK_NEAR(t[3], 0.4, 0.0);
    yoke_switches_clear(&s);
  }
}

static void a_step_that_an_event_ended_leaves_the_grid_as_it_is(void **state) {
  (void)state;
  yoke_macro_grid grid = yoke_macro_grid_make(0.0, 0.1, 0.0, NULL);
  yoke_point_kind kind;
  yoke_macro_grid_accept(&grid, 0.1);
  yoke_macro_grid_accept(&grid, 0.1234);
  CHECK_NEAR(yoke_macro_grid_next(&grid, 0.1234, 1.0, &kind), 0.2, 0.0);
}

static void a_graded_start_doubles_its_steps_up_to_two(void **state) {
  (void)state;
  yoke_macro_grid grid = yoke_macro_grid_make(0.0, 0.5, 0.25, NULL);
  double          t[10];
  yoke_point_kind kind[10];
  assert_int_equal(walk(&grid, 2.0, 10, t, kind), 6);
  static const double expected[] = {0.125, 0.375, 0.875, 1.0, 1.5, 2.0};
  for (int n = 0; n < 6; ++n) CHECK_NEAR(t[n], expected[n], 0.0);
}

static void f9_steps_of_any_length_share_a_small_rest_before_a_stop(void **state) {
  (void)state;
  yoke_point_kind kind;
  CHECK_NEAR(yoke_macro_grid_limit(NULL, 0.0, 0.1, 0.104, &kind), 0.052, 1e-15);
  assert_int_equal(kind, YOKE_POINT_GRID);
  CHECK_NEAR(yoke_macro_grid_limit(NULL, 0.052, 0.1, 0.104, &kind), 0.104, 0.0);
  assert_int_equal(kind, YOKE_POINT_END);
  CHECK_NEAR(yoke_macro_grid_limit(NULL, 0.0, 0.1, 0.12, &kind), 0.1, 0.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_come_from_the_step_number),
      cmocka_unit_test(the_last_step_takes_a_sliver_along),
      cmocka_unit_test(a_step_that_is_not_accepted_can_be_asked_for_again),
      cmocka_unit_test(switches_are_inserted_and_the_grid_stays),
      cmocka_unit_test(a_switch_next_to_a_grid_point_takes_its_place),
      cmocka_unit_test(a_step_that_an_event_ended_leaves_the_grid_as_it_is),
      cmocka_unit_test(a_graded_start_doubles_its_steps_up_to_two),
      cmocka_unit_test(f9_steps_of_any_length_share_a_small_rest_before_a_stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
