/* What the campaign makes of a run: its error, its warnings, its verdict, and the limits of all. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "child.h"
#include "compare.h"
#include "tally.h"

#include <unistd.h>

/* ---- warnings ---- */

static outcome read_json(const char *json) {
  outcome o = {0};
  outcome_read(json, &o);
  return o;
}

static void keys_without_effect_are_no_warnings_of_the_result(void **state) {
  (void)state;
  const outcome o = read_json("{\"warnings\": [\"m.yaml:1: key 'order' has no effect: ...\"]}");
  assert_false(o.warned);
}

static void a_warning_is_read_with_its_strength(void **state) {
  (void)state;
  const outcome plain  = read_json("{\"warnings\": [\"key 'a' has no effect\", \"the \\\"step\\\" is too long\"]}");
  const outcome strong = read_json("{\"warnings\": [\"one\", \"error 20 %: do not use this result\"]}");
  assert_true(plain.warned && !plain.warned_strongly);
  assert_string_equal(plain.message, "the \"step\" is too long");
  assert_true(strong.warned_strongly);
}

static void an_estimate_is_read_where_there_is_one(void **state) {
  (void)state;
  assert_true(isnan(read_json("{\"warnings\": []}").accumulated_error));
  assert_true(isnan(read_json("{\"accumulated_error\": null}").accumulated_error));
  CHECK_NEAR(read_json("{\"accumulated_error\": 0.25}").accumulated_error, 0.25, 0.0);
}

static void a_run_without_end_is_stopped(void **state) {
  (void)state;
  char    folder[] = P_tmpdir "/yoke-campaign-XXXXXX", path[100];
  outcome o;
  assert_non_null(mkdtemp(folder));
  assert_true(child_run("/usr/bin/cksum", folder, "/dev/zero", 1.0, &o));
  assert_true(o.out_of_time);
  for (int i = 0; i < 2; ++i) {
    snprintf(path, sizeof path, "%s/%s", folder, i == 0 ? "out" : "err");
    (void)remove(path);
  }
  assert_int_equal(rmdir(folder), 0);
}

/* ---- errors ---- */

static difference compared(const char *run, const char *reference, double length, double time, bool jumps) {
  csv_table        a = csv_parse(strdup(run)), b = csv_parse(strdup(reference));
  const difference d = compare_tables(&a, &b, length, time, jumps);
  csv_release(&a);
  csv_release(&b);
  return d;
}

static void the_error_is_in_units_of_the_spread(void **state) {
  (void)state;
  const difference d = compared("time,b1.x,b1.v\n0,0,1\n1,4.2,1\n", "time,b1.x,b1.v\n0,0,1\n1,4,1\n", 1.0, 1.0, false);
  CHECK_NEAR(d.error, 0.05, 1e-12);
  assert_string_equal(d.quantity, "b1.x");
  CHECK_NEAR(d.time, 1.0, 0.0);
}

static void a_run_of_another_size_is_compared_in_its_own_units(void **state) {
  (void)state;
  const char reference[] = "time,b1.x,b1.omega\n0,0,2\n1,4,3\n";
  CHECK_NEAR(compared("time,b1.x,b1.omega\n0,0,20\n0.1,0.04,30\n", reference, 0.01, 0.1, false).error, 0.0, 1e-12);
}

static void euler_parameters_of_the_other_sign_are_the_same_orientation(void **state) {
  (void)state;
  const char reference[] = "time,b1.q0,b1.q1,b1.q2,b1.q3\n0,1,0,0,0\n1,0.6,0.8,0,0\n";
  const char run[]       = "time,b1.q0,b1.q1,b1.q2,b1.q3\n0,-1,0,0,0\n1,-0.6,-0.8,0,0\n";
  CHECK_NEAR(compared(run, reference, 1.0, 1.0, false).error, 0.0, 1e-12);
}

static void an_impact_one_sample_late_is_no_error_where_there_are_impacts(void **state) {
  (void)state;
  const char reference[] = "time,b1.v\n0,-1\n1,-1\n2,1\n3,1\n", run[] = "time,b1.v\n0,-1\n1,-1\n2,-1\n3,1\n";
  CHECK_NEAR(compared(run, reference, 1.0, 1.0, true).error, 0.0, 0.0);
  CHECK_NEAR(compared(run, reference, 1.0, 1.0, false).error, 1.0, 0.0);
}

static void a_result_with_other_times_is_wrong(void **state) {
  (void)state;
  assert_true(isinf(compared("time,b1.x\n0,0\n", "time,b1.x\n0,0\n1,1\n", 1.0, 1.0, false).error));
}

/* ---- limits ---- */

/* A thousand controlled runs that are right, but for what the caller changes. */
static tally thousand_runs(void) {
  tally t = {0};
  for (int i = 0; i < 1000; ++i) {
    tally_add(&t, &(record){.seed      = i,
                            .kind      = METHOD_CONTROLLED,
                            .verdict   = VERDICT_RIGHT,
                            .rtol      = 1e-4,
                            .error     = 5e-5,
                            .estimated = 1e-4});
  }
  return t;
}

static bool kept(tally *t) {
  FILE *nowhere = fopen("/dev/null", "w");
  assert_non_null(nowhere);
  const bool yes = tally_report(nowhere, t, 3);
  (void)fclose(nowhere);
  tally_release(t);
  return yes;
}

static void runs_that_are_right_keep_all_limits(void **state) {
  (void)state;
  tally t = thousand_runs();
  assert_true(kept(&t));
}

static void two_silent_runs_with_fixed_steps_in_a_thousand_are_allowed_three_are_not(void **state) {
  (void)state;
  for (int silent = 2; silent <= 3; ++silent) {
    tally t = thousand_runs();
    for (int i = 0; i < silent; ++i) {
      t.records[i].kind    = METHOD_FIXED;
      t.records[i].verdict = VERDICT_SILENT;
    }
    assert_int_equal(kept(&t), silent == 2);
  }
}

static void no_silent_run_under_control_is_allowed(void **state) {
  (void)state;
  tally t              = thousand_runs();
  t.records[0].verdict = VERDICT_SILENT;
  assert_false(kept(&t));
}

static void warnings_without_cause_are_limited(void **state) {
  (void)state;
  for (int warned = 100; warned <= 101; ++warned) {
    tally t = thousand_runs();
    for (int i = 0; i < warned; ++i) t.records[i].warned = true;
    assert_int_equal(kept(&t), warned == 100);
  }
  tally t = thousand_runs();
  for (int i = 0; i < 21; ++i) t.records[i].verdict = VERDICT_FALSE_ALARM;
  assert_false(kept(&t));
}

static void estimates_that_are_too_small_are_limited(void **state) {
  (void)state;
  for (int small = 100; small <= 101; ++small) {
    tally t = thousand_runs();
    for (int i = 0; i < small; ++i) t.records[i].estimated = 0.2 * t.records[i].error;
    assert_int_equal(kept(&t), small == 100);
  }
}

static void errors_under_control_follow_the_tolerance(void **state) {
  (void)state;
  tally t = thousand_runs();
  for (int i = 0; i < 11; ++i)
    t.records[i].error = 31.0 * t.records[i].rtol, t.records[i].estimated = t.records[i].error;
  assert_false(kept(&t));
  t = thousand_runs();
  for (int i = 0; i < 501; ++i) t.records[i].error = 0.05 * t.records[i].rtol;
  assert_false(kept(&t));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keys_without_effect_are_no_warnings_of_the_result),
      cmocka_unit_test(a_warning_is_read_with_its_strength),
      cmocka_unit_test(an_estimate_is_read_where_there_is_one),
      cmocka_unit_test(a_run_without_end_is_stopped),
      cmocka_unit_test(the_error_is_in_units_of_the_spread),
      cmocka_unit_test(a_run_of_another_size_is_compared_in_its_own_units),
      cmocka_unit_test(euler_parameters_of_the_other_sign_are_the_same_orientation),
      cmocka_unit_test(an_impact_one_sample_late_is_no_error_where_there_are_impacts),
      cmocka_unit_test(a_result_with_other_times_is_wrong),
      cmocka_unit_test(runs_that_are_right_keep_all_limits),
      cmocka_unit_test(two_silent_runs_with_fixed_steps_in_a_thousand_are_allowed_three_are_not),
      cmocka_unit_test(no_silent_run_under_control_is_allowed),
      cmocka_unit_test(warnings_without_cause_are_limited),
      cmocka_unit_test(estimates_that_are_too_small_are_limited),
      cmocka_unit_test(errors_under_control_follow_the_tolerance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
