/* Four-bar mechanism with a bushing (Li 3.3, 3.6): verdicts of stability and errors. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "cosimulate.h"

static const char *const four_bar     = "examples/four-bar-bushing.yaml";
static const char *const extensions[] = {"none", "d", "i"};

static void stability_verdicts_are_those_of_li_8_1_row_17(void **state) {
  (void)state;
  static const char *const stiffness[] = {"1e4", "1e5", "1e6"};
  for (int c = 0; c < 3; ++c) {
    for (int x = 0; x < 3; ++x) {
      for (int order = 0; order <= 2; ++order) {
        /* 1e4: all stable; 1e5: original unstable for k = 1, 2; 1e6: also I; D and k = 0 always stable */
        const bool unstable = order > 0 && ((x == 0 && c >= 1) || (x == 2 && c == 2));
        char       sets[COSIM_TEXT];
        cosim      run;
        snprintf(sets, sizeof sets,
                 "parameters.c=%s;cosimulation.order=%d;cosimulation.step=5e-3;cosimulation.couplings.extension=%s;"
                 "solvers.default.rtol=1e-8",
                 stiffness[c], order, extensions[x]);
        cosim_open(&run, four_bar, sets);
        const yoke_status status = cosim_run(&run, 0.5, NULL, NULL);
        cosim_close(&run);
        if (status == (unstable ? YOKE_E_UNSTABLE : YOKE_OK)) continue;
        fail_msg("c %s, extension %s, order %d: %s", stiffness[c], extensions[x], order, yoke_status_name(status));
      }
    }
  }
}

/* |error of bar2.angle| at t against the monolithic run. */
static double angle_error(const char *decomposition, const char *extension, int order, const char *step, double t,
                          double reference) {
  char sets[COSIM_TEXT];
  snprintf(sets, sizeof sets,
           "cosimulation.order=%d;cosimulation.step=%s;cosimulation.couplings.decomposition=%s;"
           "cosimulation.couplings.extension=%s;solvers.default.rtol=1e-12;solvers.default.atol=1e-14",
           order, step, decomposition, extension);
  cosim        run   = cosim_done(four_bar, sets, t);
  const double error = fabs(cosim_value(&run, "bar2.angle") - reference);
  cosim_close(&run);
  return error;
}

static double reference_angle(double t) {
  cosim        run   = cosim_done_monolithic(four_bar, "solvers.default.rtol=1e-12;solvers.default.atol=1e-14", t);
  const double angle = cosim_value(&run, "bar2.angle");
  cosim_close(&run);
  return angle;
}

static void the_reference_is_that_of_li_8_7(void **state) {
  (void)state;
  static const char *const names[4]    = {"bar1.angle", "bar2.angle", "bar4.angle", "bar3.angle"};
  static const double      expected[4] = {1.47809842, 0.52383556, 1.65639261, 0.51867437};
  cosim                    run         = cosim_done_monolithic(four_bar, "solvers.default.rtol=1e-11", 0.5);
  for (int k = 0; k < 4; ++k) CHECK_NEAR(cosim_value(&run, names[k]), expected[k], 1e-7);
  cosim_close(&run);
}

/* The last digits of small errors belong to the subsystems' solvers: a factor of two, or 2e-10 rad. */
static void check_factor_two(double error, double printed, const char *what, int order) {
  if ((error <= 2.0 * printed && error >= 0.5 * printed) || fabs(error - printed) <= 2e-10) return;
  fail_msg("%s order %d: error %.3g, printed %.3g", what, order, error, printed);
}

static void errors_of_force_force_at_large_steps_are_those_of_li_8_7(void **state) {
  (void)state;
  static const double printed[3][3] = {{9.3e-5, 1.2e-6, 1.5e-7}, {4.9e-5, 5.1e-7, 5.1e-8}, {5.0e-7, 3.5e-10, 3.6e-10}};
  const double        reference     = reference_angle(0.5);
  for (int x = 0; x < 3; ++x) {
    for (int order = 0; order <= 2; ++order) {
      check_factor_two(angle_error("force/force", extensions[x], order, "5e-3", 0.5, reference), printed[x][order],
                       extensions[x], order);
    }
  }
}

typedef struct error_row {
  const char *decomposition, *extension;
  double      printed[3];
} error_row;

static const error_row error_rows[] = {
    {"force/force", "none", {2.5e-5, 7.6e-8, 1.6e-9}},
    {"force/displacement", "none", {1.0e-3, 1.4e-6, 1.6e-8}},
    {"displacement/displacement", "none", {2.1e-3, 3.1e-6, 3.0e-8}},
    {"force/displacement", "d", {9.7e-4, 1.9e-6, 1.4e-8}},
    {"displacement/displacement", "d", {2.0e-3, 3.7e-6, 4.7e-8}},
    {"force/displacement", "i", {1.0e-4, 7.2e-8, 3.4e-10}},
    {"displacement/displacement", "i", {2.1e-4, 3.8e-7, 9.3e-9}},
};

static void errors_of_all_decompositions_at_small_steps_are_those_of_li_8_7(void **state) {
  (void)state;
  const double reference = reference_angle(0.2);
  for (size_t r = 0; r < sizeof error_rows / sizeof error_rows[0]; ++r) {
    const error_row *row = &error_rows[r];
    for (int order = 0; order <= 2; ++order) {
      check_factor_two(angle_error(row->decomposition, row->extension, order, "1e-3", 0.2, reference),
                       row->printed[order], row->extension, order);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stability_verdicts_are_those_of_li_8_1_row_17),
      cmocka_unit_test(the_reference_is_that_of_li_8_7),
      cmocka_unit_test(errors_of_force_force_at_large_steps_are_those_of_li_8_7),
      cmocka_unit_test(errors_of_all_decompositions_at_small_steps_are_those_of_li_8_7),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
