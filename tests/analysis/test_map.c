/* Maps and scans: values at the right places, the same bits for any number of threads, poles, failures, interrupts. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "tags.h"

#include <stdlib.h>

enum { N_X = 37, N_Y = 23 };

static yoke_status plane(const void *user, double x, double y, double *out) {
  (void)user;
  *out = 3.0 * x - 2.0 * y;
  return YOKE_OK;
}

static void values_stand_at_their_points_and_the_ends_are_exact(void **state) {
  (void)state;
  const yoke_map map = {.x = {-2.0, 0.7, N_X}, .y = {0.1, 10.3, N_Y}, .value = plane};
  double         values[N_X * N_Y];
  assert_int_equal(yoke_map_run(NULL, &map, values), YOKE_OK);
  for (int j = 0; j < N_Y; ++j) {
    for (int i = 0; i < N_X; ++i) {
      CHECK_NEAR(values[j * N_X + i], 3.0 * (-2.0 + 2.7 * i / (N_X - 1)) - 2.0 * (0.1 + 10.2 * j / (N_Y - 1)), 1e-13);
    }
  }
  assert_true(yoke_axis_value(&map.x, N_X - 1) == 0.7);
  assert_true(yoke_axis_value(&map.y, 0) == 0.1);
  const yoke_axis one = {4.0, 5.0, 1};
  assert_true(yoke_axis_value(&one, 0) == 4.0);
}

static yoke_status stability(const void *user, double re, double im, double *out) {
  *out = radius_at('O', user, re, im, symmetrical);
  return YOKE_OK;
}

static void any_number_of_threads_gives_the_same_bits(void **state) {
  (void)state;
  const yoke_test_method method = method_of("FF", 'O', 2);
  yoke_map map = {.x = {-2.0, 0.0, N_X}, .y = {0.0, 10.0, N_Y}, .value = stability, .user = &method, .n_threads = 1};
  double   one[N_X * N_Y], several[N_X * N_Y];
  assert_int_equal(yoke_map_run(NULL, &map, one), YOKE_OK);
  for (int n = 0; n <= 5; ++n) {
    map.n_threads = n;
    assert_int_equal(yoke_map_run(NULL, &map, several), YOKE_OK);
    assert_memory_equal(one, several, sizeof one);
  }
}

static yoke_status pole(const void *user, double x, double y, double *out) {
  (void)user;
  *out = x;
  return y > 0.5 ? YOKE_SINGULAR : YOKE_OK;
}

static void poles_are_infinite(void **state) {
  (void)state;
  const yoke_map map = {.x = {1.0, 2.0, 2}, .y = {0.0, 1.0, 2}, .value = pole};
  double         values[4];
  assert_int_equal(yoke_map_run(NULL, &map, values), YOKE_OK);
  CHECK_NEAR(values[1], 2.0, 0.0);
  assert_true(isinf(values[2]) && isinf(values[3]));
}

static yoke_status failing(const void *user, double x, double y, double *out) {
  (void)user;
  *out = x;
  return y > 0.5 ? YOKE_E_USAGE : YOKE_OK;
}

static void a_failure_ends_the_map_and_names_the_place(void **state) {
  (void)state;
  const yoke_map map = {.x = {1.0, 2.0, 2}, .y = {0.0, 1.0, 5}, .value = failing};
  double         values[10];
  yoke_context  *ctx = NULL;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_map_run(ctx, &map, values), YOKE_E_USAGE);
  assert_non_null(strstr(yoke_context_message(ctx, 0), "row 3 at 0.75"));
  yoke_context_destroy(&ctx);
}

static bool stop_at_half(void *user, double share) {
  *(double *)user = share;
  return share < 0.5;
}

static void an_interrupted_map_keeps_what_is_done(void **state) {
  (void)state;
  double         reached = 0.0, values[N_X * N_Y];
  const yoke_map map     = {.x             = {0.0, 1.0, N_X},
                            .y             = {0.0, 1.0, N_Y},
                            .value         = plane,
                            .progress      = stop_at_half,
                            .progress_user = &reached,
                            .n_threads     = 2};
  assert_int_equal(yoke_map_run(NULL, &map, values), YOKE_E_INTERRUPTED);
  assert_true(reached >= 0.5 && reached < 1.0);
  int n_done = 0;
  for (int k = 0; k < N_X * N_Y; ++k) n_done += !isnan(values[k]);
  assert_true(n_done >= N_X * N_Y / 2 && n_done < N_X * N_Y);
}

static void impossible_axes_are_refused(void **state) {
  (void)state;
  double   value;
  yoke_map map = {.x = {0.0, 1.0, 0}, .y = {0.0, 1.0, 1}, .value = plane};
  assert_int_equal(yoke_map_run(NULL, &map, &value), YOKE_E_USAGE);
  map.x = (yoke_axis){0.0, INFINITY, 1};
  assert_int_equal(yoke_map_run(NULL, &map, &value), YOKE_E_USAGE);
}

/* ---- scans ---- */

static yoke_status square(const void *user, double x, double *out) {
  (void)user;
  *out = x * x;
  return x > 50.0 ? YOKE_SINGULAR : YOKE_OK;
}

static double onset_of(double first, double last, double step, double factor, double limit) {
  const yoke_scan scan = {square, NULL, first, last, step, factor, limit, 0.0};
  double          onset;
  assert_int_equal(yoke_scan_onset(NULL, &scan, &onset), YOKE_OK);
  return onset;
}

static void onsets_are_found_by_steps_and_by_factors(void **state) {
  (void)state;
  CHECK_NEAR(onset_of(0.0, 10.0, 0.3, 0.0, 2.0), sqrt(2.0), 1e-9);
  CHECK_NEAR(onset_of(1e-3, 10.0, 0.0, 1.7, 2.0), sqrt(2.0), 1e-9);
  assert_true(isinf(onset_of(0.0, 1.0, 0.3, 0.0, 2.0)));
  CHECK_NEAR(onset_of(2.0, 10.0, 0.3, 0.0, 2.0), 2.0, 0.0);
  CHECK_NEAR(onset_of(0.0, 1.42, 0.3, 0.0, 2.0), sqrt(2.0), 1e-9); /* between the last step and the end */
  CHECK_NEAR(onset_of(0.0, 100.0, 3.0, 0.0, 1e9), 50.0, 1e-7);     /* a pole counts as beyond */
}

static void impossible_scans_are_refused(void **state) {
  (void)state;
  double          onset;
  const yoke_scan backwards = {square, NULL, 1.0, 0.0, 0.1, 0.0, 1.0, 0.0},
                  still     = {square, NULL, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0};
  assert_int_equal(yoke_scan_onset(NULL, &backwards, &onset), YOKE_E_USAGE);
  assert_int_equal(yoke_scan_onset(NULL, &still, &onset), YOKE_E_USAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_stand_at_their_points_and_the_ends_are_exact),
      cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
      cmocka_unit_test(poles_are_infinite),
      cmocka_unit_test(a_failure_ends_the_map_and_names_the_place),
      cmocka_unit_test(an_interrupted_map_keeps_what_is_done),
      cmocka_unit_test(impossible_axes_are_refused),
      cmocka_unit_test(onsets_are_found_by_steps_and_by_factors),
      cmocka_unit_test(impossible_scans_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
