/* Kinematic coupling: spectral radii, critical steps and zero-stability against the method specification (Schneider 5.2). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "tags.h"

static yoke_test_method kinematic(yoke_test_force force, int order, yoke_test_outputs outputs) {
  yoke_test_method method = yoke_test_method_default();
  method.scheme           = "explicit";
  method.force            = force;
  method.order            = order;
  method.outputs          = outputs;
  return method;
}

static double radius(const yoke_test_model *model, const yoke_test_method *method) {
  double rho;
  assert_int_equal(yoke_recurrence_radius(NULL, model, method, &rho), YOKE_OK);
  return rho;
}

static void radii_of_table_1_are_the_specified_ones(void **state) {
  (void)state;
  static const double   expected[2][3] = {{0.99900014, 0.99907200, 0.99907199}, {0.99895622, 0.99907197, 1.41087351}};
  const yoke_test_model model          = yoke_test_model_default(YOKE_KINEMATIC_TWO_MASS);
  for (int force = 0; force < 2; ++force) {
    for (int order = 0; order < 3; ++order) {
      const yoke_test_method method =
          kinematic(force == 0 ? YOKE_TEST_FORCE_EXACT : YOKE_TEST_FORCE_APPROXIMATE, order, YOKE_TEST_OUTPUTS_HELD);
      CHECK_NEAR(radius(&model, &method), expected[force][order], 6e-9);
    }
  }
}

/* ---- zero-stability ---- */

static double zero_radius(double mass_ratio, const yoke_test_method *method) {
  yoke_test_model model = yoke_test_model_default(YOKE_KINEMATIC_TWO_MASS);
  double          rho;
  model.m_R = mass_ratio * model.m_Fco;
  assert_int_equal(yoke_recurrence_zero_radius(NULL, &model, method, &rho), YOKE_OK);
  return rho;
}

static void radii_for_small_steps_are_the_specified_ones(void **state) {
  (void)state;
  static const double ratio[2]       = {10.0, 5.0},
                      expected[2][3] = {{0.316228, 0.851755, 1.410785}, {0.447214, 1.102368, 1.776491}};
  for (int k = 0; k < 2; ++k) {
    for (int order = 0; order < 3; ++order) {
      for (int held = 0; held < 2; ++held) { /* both forms have the same zero-stability */
        const yoke_test_method method =
            kinematic(YOKE_TEST_FORCE_APPROXIMATE, order, held ? YOKE_TEST_OUTPUTS_HELD : YOKE_TEST_OUTPUTS_PARALLEL);
        CHECK_NEAR(zero_radius(ratio[k], &method), expected[k][order], 6e-7);
      }
    }
  }
}

static yoke_status minus_zero_radius(const void *user, double mass_ratio, double *out) {
  *out = -zero_radius(mass_ratio, user);
  return YOKE_OK;
}

static double threshold(const yoke_test_method *method) {
  const yoke_scan scan = {
      .value = minus_zero_radius, .user = method, .first = 0.1, .last = 1e3, .factor = 1.3, .limit = -1.0};
  double onset;
  assert_int_equal(yoke_scan_onset(NULL, &scan, &onset), YOKE_OK);
  return onset;
}

static void approximate_force_needs_the_specified_mass_ratio(void **state) {
  (void)state;
  const double expected[3] = {1.0, 3.0 + 2.0 * sqrt(3.0), 31.639861};
  for (int order = 0; order < 3; ++order) {
    const yoke_test_method method = kinematic(YOKE_TEST_FORCE_APPROXIMATE, order, YOKE_TEST_OUTPUTS_PARALLEL);
    CHECK_NEAR(threshold(&method), expected[order], 1e-6);
  }
}

/* The root c of 4 c^3 - 6 c^2 + 3 = 0 in [-1, 1] gives the threshold of degree 2 in closed form. */
static void the_threshold_of_degree_2_is_an_algebraic_number(void **state) {
  (void)state;
  double low = -1.0, high = 1.0;
  for (int i = 0; i < 200; ++i) {
    const double c                                              = 0.5 * (low + high);
    *(4.0 * c * c * c - 6.0 * c * c + 3.0 < 0.0 ? &low : &high) = c;
  }
  const yoke_test_method method = kinematic(YOKE_TEST_FORCE_APPROXIMATE, 2, YOKE_TEST_OUTPUTS_PARALLEL);
  CHECK_NEAR(threshold(&method), 13.0 - 24.0 * low + 12.0 * low * low, 1e-7);
}

static void sequential_outputs_lower_the_thresholds(void **state) {
  (void)state;
  static const double expected[3] = {1.0, 3.0, 7.0};
  for (int order = 0; order < 3; ++order) {
    const yoke_test_method method = kinematic(YOKE_TEST_FORCE_APPROXIMATE, order, YOKE_TEST_OUTPUTS_SEQUENTIAL);
    CHECK_NEAR(threshold(&method), expected[order], 1e-7);
  }
}

static void exact_and_reduced_forces_are_zero_stable_for_all_masses_and_degrees(void **state) {
  (void)state;
  for (int force = 0; force < 2; ++force) {
    for (int order = 0; order <= 5; ++order) {
      for (int i = -6; i <= 6; ++i) {
        const yoke_test_method method =
            kinematic(force == 0 ? YOKE_TEST_FORCE_EXACT : YOKE_TEST_FORCE_REDUCED, order, YOKE_TEST_OUTPUTS_PARALLEL);
        CHECK_BELOW(zero_radius(pow(10.0, 0.5 * i), &method), 0.1);
      }
    }
  }
}

/* ---- critical steps ---- */

typedef struct step_scan {
  yoke_test_model         model;
  const yoke_test_method *method;
} step_scan;

static yoke_status radius_of_step(const void *user, double H, double *rho) {
  step_scan scan = *(const step_scan *)user;
  scan.model.H   = H;
  return yoke_recurrence_radius(NULL, &scan.model, scan.method, rho);
}

/* First h with rho >= 1, upwards from 1e-4; 0: already there. */
static double critical_step(const yoke_test_model *model, const yoke_test_method *method) {
  const step_scan s    = {*model, method};
  const yoke_scan scan = {
      .value = radius_of_step, .user = &s, .first = 1e-4, .last = 2.0, .factor = 1.01, .limit = 1.0, .tolerance = 1e-7};
  double onset;
  assert_int_equal(yoke_scan_onset(NULL, &scan, &onset), YOKE_OK);
  return onset == scan.first ? 0.0 : onset;
}

typedef struct critical_row {
  yoke_test_force   force;
  double            mass_ratio;
  yoke_test_outputs outputs;
  double            h[3]; /* by degree */
} critical_row;

static const critical_row critical_rows[] = {
    {YOKE_TEST_FORCE_EXACT, 0.5, YOKE_TEST_OUTPUTS_HELD, {0.14871, 0.084269, 0.049641}},
    {YOKE_TEST_FORCE_EXACT, 1.1, YOKE_TEST_OUTPUTS_HELD, {0.028511, 0.05675, 0.070061}},
    {YOKE_TEST_FORCE_EXACT, 10, YOKE_TEST_OUTPUTS_HELD, {0.28213, 0.084938, 0.1024}},
    {YOKE_TEST_FORCE_APPROXIMATE, 0.9, YOKE_TEST_OUTPUTS_HELD, {0, 0, 0}},
    {YOKE_TEST_FORCE_APPROXIMATE, 1.1, YOKE_TEST_OUTPUTS_HELD, {0.020403, 0, 0}},
    {YOKE_TEST_FORCE_APPROXIMATE, 6.3, YOKE_TEST_OUTPUTS_HELD, {0.07021, 0, 0}},
    {YOKE_TEST_FORCE_APPROXIMATE, 6.6, YOKE_TEST_OUTPUTS_HELD, {0.073923, 0.080563, 0}},
    {YOKE_TEST_FORCE_APPROXIMATE, 10, YOKE_TEST_OUTPUTS_HELD, {0.2772, 0.092495, 0}},
    {YOKE_TEST_FORCE_APPROXIMATE, 33, YOKE_TEST_OUTPUTS_HELD, {0.3337, 0.27395, 0.1285}},
    {YOKE_TEST_FORCE_EXACT, 0.5, YOKE_TEST_OUTPUTS_PARALLEL, {0.13114, 0.082386, 0.035089}},
    {YOKE_TEST_FORCE_EXACT, 1.1, YOKE_TEST_OUTPUTS_PARALLEL, {0.053195, 0.11336, 0.053523}},
    {YOKE_TEST_FORCE_EXACT, 10, YOKE_TEST_OUTPUTS_PARALLEL, {0.033447, 0.081916, 0.097014}},
    {YOKE_TEST_FORCE_APPROXIMATE, 0.9, YOKE_TEST_OUTPUTS_PARALLEL, {0, 0, 0}},
    {YOKE_TEST_FORCE_APPROXIMATE, 1.1, YOKE_TEST_OUTPUTS_PARALLEL, {0.078609, 0, 0}},
    {YOKE_TEST_FORCE_APPROXIMATE, 10, YOKE_TEST_OUTPUTS_PARALLEL, {0.035618, 0.09649, 0}},
    {YOKE_TEST_FORCE_APPROXIMATE, 33, YOKE_TEST_OUTPUTS_PARALLEL, {0.024315, 0.14435, 0.1318}},
};

static void critical_steps_are_the_specified_ones(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof critical_rows / sizeof *critical_rows; ++i) {
    const critical_row *r = &critical_rows[i];
    for (int order = 0; order < 3; ++order) {
      const yoke_test_method method = kinematic(r->force, order, r->outputs);
      yoke_test_model        model  = yoke_test_model_default(YOKE_KINEMATIC_TWO_MASS);
      model.m_R                     = r->mass_ratio * model.m_Fco;
      const double h                = critical_step(&model, &method);
      if (!(fabs(h - r->h[order]) <= 1e-4 * r->h[order])) {
        fail_msg("row %zu, mass ratio %g, degree %d: h = %.8g, expected %.8g", i, r->mass_ratio, order, h, r->h[order]);
      }
    }
  }
}

static void springs_and_dampers_shift_the_critical_step_as_specified(void **state) {
  (void)state;
  static const struct {
    char   what[4];
    int    n;
    double value[4], h[4];
  } trends[] = {
      {"c_R", 3, {10, 100, 1000}, {0.0959, 0.0925, 0.0611}},
      {"d_R", 3, {0, 1, 10}, {0.0917, 0.0925, 0.0997}},
      {"c_F", 3, {5, 50, 500}, {0.410, 0.0925, 0.0194}},
      {"d_F", 4, {0, 0.01, 0.1, 1}, {0.0207, 0.0423, 0.0925, 0.295}},
  };
  const yoke_test_method method = kinematic(YOKE_TEST_FORCE_APPROXIMATE, 1, YOKE_TEST_OUTPUTS_HELD);
  for (size_t i = 0; i < sizeof trends / sizeof *trends; ++i) {
    for (int k = 0; k < trends[i].n; ++k) {
      yoke_test_model model = yoke_test_model_default(YOKE_KINEMATIC_TWO_MASS);
      *(i == 0 ? &model.c_R : i == 1 ? &model.d_R : i == 2 ? &model.c_F : &model.d_F) = trends[i].value[k];
      const double h                                                                  = critical_step(&model, &method);
      if (!(fabs(h - trends[i].h[k]) <= 0.006 * trends[i].h[k])) { /* three digits are given */
        fail_msg("%s = %g: h = %.8g, expected %.8g", trends[i].what, trends[i].value[k], h, trends[i].h[k]);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(radii_of_table_1_are_the_specified_ones),
      cmocka_unit_test(radii_for_small_steps_are_the_specified_ones),
      cmocka_unit_test(approximate_force_needs_the_specified_mass_ratio),
      cmocka_unit_test(the_threshold_of_degree_2_is_an_algebraic_number),
      cmocka_unit_test(sequential_outputs_lower_the_thresholds),
      cmocka_unit_test(exact_and_reduced_forces_are_zero_stable_for_all_masses_and_degrees),
      cmocka_unit_test(critical_steps_are_the_specified_ones),
      cmocka_unit_test(springs_and_dampers_shift_the_critical_step_as_specified),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
