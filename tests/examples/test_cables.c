/* Cables whose ends follow a mass or a multibody system (Schneider, Burger, Arnold, Simeon 2017, section 6): where they are stable, and how
 * errors fall. verify_cables has all orders and steps. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../said.h"
#include "cosimulation/cables.h"

static const char mass_path[] = "examples/cable-on-mass.yaml", mbs_path[] = "examples/cable-in-mbs.yaml";

/* Of the end vertex, an eighth of the cable, at a tenth below and above the limits of short steps. */
static void every_degree_of_extrapolation_needs_the_mass_that_is_told(void **state) {
  (void)state;
  static const double limit[] = {1.0, 6.464102, 31.639861};
  for (int degree = 0; degree < 3; ++degree) {
    double growth[2];
    for (int side = 0; side < 2; ++side) {
      char sets[COSIM_TEXT];
      snprintf(sets, sizeof sets, "parameters.ratio=%.17g", (side == 0 ? 0.9 : 1.1) * limit[degree] / 8.0);
      const cable_watch w = cable_run(mass_path, 0, 5e-5, degree, degree, sets);
      growth[side]        = cable_growth(&w);
    }
    if (!(growth[0] > 100.0 && growth[1] < 1e-2))
      fail_msg("degree %d: growth %g below the limit, %g above", degree, growth[0], growth[1]);
  }
}

/* The ratio of effective masses at the clamp, and the limit. */
static void the_limit_is_told_before_the_run(void **state) {
  (void)state;
  cosim c;
  cosim_open(&c, mbs_path, "parameters.scale=0.4");
  cosim_expect(&c, YOKE_OK);
  assert_true(
      said(c.ctx, "weighs only 2.2 times as much as the prescribed 'F' at the joint, and a ratio above 2.414 is"));
  cosim_close(&c);
  cosim_open(&c, mbs_path, NULL);
  assert_false(said(c.ctx, "zero-stable"));
  cosim_close(&c);
}

static void check_first_order(const char *path, const char *name) {
  cosim        whole = cosim_done_monolithic(path, NULL, 0.05);
  const double exact = cosim_value(&whole, name);
  double       error[2];
  cosim_close(&whole);
  for (int k = 0; k < 2; ++k) {
    cosim c  = cosim_done(path, k == 0 ? "cosimulation.step=5e-4" : "cosimulation.step=2.5e-4", 0.05);
    error[k] = fabs(cosim_value(&c, name) - exact);
    cosim_close(&c);
  }
  CHECK_ORDER(error, 2, 1.0, 0.15);
}

static void errors_fall_with_the_step(void **state) {
  (void)state;
  check_first_order(mass_path, "mass.z");
  check_first_order(mbs_path, "lower.x");
}

static void exact_forces_and_corrected_joints_know_no_limit(void **state) {
  (void)state;
  static const char *const sets[] = {
      "cosimulation.couplings={formulation: kinematic, prescribed: F, force: exact, order_force: 1, order_motion: 1};"
      "cosimulation.step=2e-4",
      "cosimulation.scheme=implicit;cosimulation.couplings={};solvers.F={kind: radau5, rtol: "
      "1e-8};cosimulation.step=2e-3",
      "cosimulation.scheme=semi-implicit;cosimulation.couplings={};solvers.F={kind: radau5, rtol: 1e-8};"
      "cosimulation.step=2e-3"};
  static const double allowed[] = {1e-5, 1e-8, 1e-8};
  cosim               whole     = cosim_done_monolithic(mbs_path, "parameters.scale=0.02", 0.02);
  for (int k = 0; k < 3; ++k) {
    char all[COSIM_TEXT];
    snprintf(all, sizeof all, "parameters.scale=0.02;%s", sets[k]);
    cosim c = cosim_done(mbs_path, all, 0.02);
    CHECK_NEAR(cosim_value(&c, "lower.x"), cosim_value(&whole, "lower.x"), allowed[k]);
    CHECK_NEAR(cosim_value(&c, "cable.node[2].z"), cosim_value(&whole, "cable.node[2].z"), 1e-2);
    cosim_close(&c);
  }
  cosim_close(&whole);
}

/* A mass of a tenth of the cable, at a step at which linear extrapolation needs 0.808 cables (and diverges at once) and a constant one 0.125. The
 * first step, from multipliers that are not known yet, is the largest error. */
static void implicit_formulations_are_stable_below_the_limits_of_extrapolation(void **state) {
  (void)state;
  static const struct {
    const char *formulation, *scheme;
    int         order;   /* stabilized-index-2-mu is zero-stable with 0 alone, whatever is coupled */
    double      allowed; /* of positions, that move by 12 mm [m] */
  } rows[] = {
      {"stabilized-index-1", "implicit", 1, 1e-8},
      {"stabilized-index-2", "implicit", 1, 1e-6},
      {"stabilized-index-2-mu", "implicit", 0, 1e-7},
      {"baumgarte", "implicit", 1, 5e-7},
      {"projection", "implicit", 1, 5e-6},
      {"weighted", "semi-implicit", 1, 1e-7},
  };
  static const char *const names[] = {"mass.x", "mass.y", "mass.z"};
  static const char        light[] = "parameters.ratio=0.1;cosimulation.step=5e-4";
  cosim                    whole   = cosim_done_monolithic(mass_path, light, 0.05), c;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets,
             "%s;cosimulation.scheme=%s;cosimulation.order=%d;cosimulation.couplings={formulation: %s};"
             "solvers={default: {kind: radau5, rtol: 1e-9}}",
             light, rows[i].scheme, rows[i].order, rows[i].formulation);
    c = cosim_done(mass_path, sets, 0.05);
    for (int k = 0; k < 3; ++k) {
      CHECK_NEAR(cosim_value(&c, names[k]), cosim_value(&whole, names[k]), rows[i].allowed);
    }
    cosim_close(&c);
  }
  cosim_open(&c, mass_path, light);
  assert_int_equal(cosim_run(&c, 0.05, NULL, NULL), YOKE_E_UNSTABLE);
  cosim_close(&c);
  cosim_close(&whole);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_degree_of_extrapolation_needs_the_mass_that_is_told),
      cmocka_unit_test(the_limit_is_told_before_the_run),
      cmocka_unit_test(errors_fall_with_the_step),
      cmocka_unit_test(exact_forces_and_corrected_joints_know_no_limit),
      cmocka_unit_test(implicit_formulations_are_stable_below_the_limits_of_extrapolation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
