/* Estimates that fit rigid joints: what later steps take back does not count in full, multipliers count by what they do to the motion, and errors at
 * output times stay near the tolerance (F33, F34, F36). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/cosimulate.h"

#define PENDULUM "examples/double-pendulum.yaml"

typedef struct joint_run {
  double            error;     /* of the rates at the end, of their largest */
  double            estimated; /* accumulated */
  yoke_macro_totals macro;
} joint_run;

static joint_run run_pendulum(const char *sets) {
  static const char *const names[] = {"upper.omega", "lower.omega"};
  cosim                    whole   = cosim_done_monolithic(PENDULUM, "solvers.default.rtol=1e-12", 0.8);
  cosim                    c       = cosim_done(PENDULUM, sets, 0.8);
  joint_run                r       = {.macro = c.summary.macro};
  double                   errors[2], size = 0.0;
  for (int k = 0; k < 2; ++k) {
    size    = fmax(size, fabs(cosim_value(&whole, names[k])));
    r.error = fmax(r.error, fabs(cosim_value(&c, names[k]) - cosim_value(&whole, names[k])));
  }
  r.error /= size;
  yoke_error_tally_subsystems(yoke_monitor_tally(yoke_system_monitor(c.system)), 2, errors);
  r.estimated = fmax(errors[0], errors[1]);
  cosim_close(&c);
  cosim_close(&whole);
  return r;
}

#define ROW(formulation, scheme) "cosimulation.couplings.formulation=" formulation ";cosimulation.scheme=" scheme
static const char *const formulations[] = {ROW("baumgarte", "implicit"), ROW("weighted", "semi-implicit"),
                                           ROW("projection", "implicit"), ROW("kinematic", "explicit"),
                                           ROW("stabilized-index-2", "implicit")};
enum {
  N_FORMULATIONS = sizeof formulations / sizeof *formulations,
  N_EASED        = 4
}; /* the first take back later what one step leaves */

static void f33_errors_of_joints_under_control_are_within_the_budget(void **state) {
  static const int64_t most[N_FORMULATIONS] = {1200, 900, 1200, 9000, 1600};
  (void)state;
  for (int i = 0; i < N_FORMULATIONS; ++i) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets, "%s;cosimulation.order=1;cosimulation.step={rtol: 1e-4}", formulations[i]);
    const joint_run r = run_pendulum(sets);
    if (!(r.error < 3e-4) || r.macro.integrations > most[i])
      fail_msg("%s: error %g, %lld integrations", formulations[i], r.error, (long long)r.macro.integrations);
  }
}

/* At the end; inside the run errors are larger, and the estimate is that of the largest. */
static void f33_accumulated_errors_of_joints_have_the_size_of_the_true_ones(void **state) {
  (void)state;
  for (int i = 0; i < N_EASED; ++i) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets, "%s;cosimulation.order=1;cosimulation.step=2e-3", formulations[i]);
    const joint_run r = run_pendulum(sets);
    if (!(r.estimated > 0.3 * r.error && r.estimated < 50.0 * r.error))
      fail_msg("%s: error %g, estimated %g", formulations[i], r.error, r.estimated);
  }
}

static void f34_cv_takes_no_more_integrations_than_md(void **state) {
  (void)state;
  for (int i = 0; i < 2; ++i) {
    char sets[2][COSIM_TEXT];
    for (int k = 0; k < 2; ++k)
      snprintf(sets[k], sizeof sets[k],
               "cosimulation.scheme=implicit;cosimulation.order=auto;cosimulation.step={rtol: %s, estimator: %s}",
               i == 0 ? "1e-4" : "1e-6", k == 0 ? "cv" : "md");
    const joint_run cv = run_pendulum(sets[0]), md = run_pendulum(sets[1]);
    assert_true(cv.macro.integrations <= md.macro.integrations);
    CHECK_BELOW(cv.error, i == 0 ? 1e-4 : 1e-6);
  }
}

static void f36_kinematic_joints_of_order_2_run_at_all_tolerances(void **state) {
  (void)state;
  cosim whole = cosim_done_monolithic("examples/two-mass-rigid.yaml", "solvers.default.rtol=1e-12", 0.2);
  for (int i = 3; i <= 5; ++i) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets, ROW("kinematic", "explicit") ";cosimulation.order=2;cosimulation.step={rtol: 1e-%d}",
             i);
    cosim c = cosim_done("examples/two-mass-rigid.yaml", sets, 0.2);
    CHECK_BELOW(fabs(cosim_value(&c, "m1.v") - cosim_value(&whole, "m1.v")),
                100.0 * pow(10.0, -i)); /* v up to 100 m/s */
    cosim_close(&c);
  }
  cosim_close(&whole);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(f33_errors_of_joints_under_control_are_within_the_budget),
      cmocka_unit_test(f33_accumulated_errors_of_joints_have_the_size_of_the_true_ones),
      cmocka_unit_test(f34_cv_takes_no_more_integrations_than_md),
      cmocka_unit_test(f36_kinematic_joints_of_order_2_run_at_all_tolerances),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
