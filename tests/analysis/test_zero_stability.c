/* Zero-stability of rigid links: the spectral radius of the relative motion for H -> 0 against the method specifications (Li 8.5, Lu 4.8),
 * to all printed digits, and the parameters where it becomes one. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "tags.h"

static double zero_radius(const yoke_test_method *method, double mass_ratio) {
  yoke_test_model model = yoke_test_model_default(YOKE_TWO_MASS_RIGID);
  double          rho;
  model.m[1] = mass_ratio;
  assert_int_equal(yoke_recurrence_zero_radius(NULL, &model, method, &rho), YOKE_OK);
  return rho;
}

typedef struct zero_row {
  char   family;
  int    index;
  double mu;
  double a, b;       /* weights; baumgarte: beta / H and gamma / H^2, 0: from mu */
  double relaxation; /* 0: none */
  double rho[3];     /* by degree; -1: none */
} zero_row;

static const zero_row rows[] = {
    /* Li 8.5 */
    {'B', 3, 1.0, 0, 0, 0, {1.0, 3.732051, 5.343059}},
    {'B', 2, 0.25, 0, 0, 0, {0.0, 1.716515, 2.686141}},
    {'B', 2, 1.0, 0, 0, 0, {0.6, 1.177857, 1.976271}},
    {'B', 2, 5.0, 0, 0, 0, {0.904762, 1.033870, 1.767737}},
    {'B', 1, 0.25, 0, 0, 0, {0.242536, 1.167670, 1.926101}},
    {'B', 1, 1.0, 0, 0, 0, {0.534522, 0.440927, 0.403640}},
    {'B', 1, 5.0, 0, 0, 0, {0.839181, 0.827249, 0.818878}},
    {'W', 2, 1.0, 0.5, 0, 0, {0.333333, 2.535184, 3.833880}},
    {'W', 2, 1.0, 1.0, 0, 0, {0.0, 2.0, 3.147784}},
    {'W', 2, 1.0, 2.5, 0, 0, {0.428571, 1.440395, 2.394065}},
    {'W', 2, 1.0, 5.0, 0, 0, {0.666667, 1.215250, 2.063000}},
    {'W', 1, 1.0, 0.5, 0.25, 0, {0.377964, 1.755929, 2.908288}},
    {'W', 1, 1.0, 1.0, 1.0, 0, {0.577350, 0.577350, 1.132472}},
    {'W', 1, 1.0, 2.5, 5.0, 0, {0.766965, 0.641689, 0.531807}},
    {'2', 1, 1.0, 0, 0, 0, {0.0, 1.0, 1.0}},
    {'1', 1, 1.0, 0, 0, 0, {0.0, 0.0, -1.0}},
    /* Lu 4.8 */
    {'B', 2, 1.0, 0.4, 0, 0, {0.111111, 1.866878, 2.877210}},
    {'B', 2, 1.0, 2.0, 0, 0, {0.6, 1.177857, 1.976271}},
    {'B', 2, 1.0, 40.0, 0, 0, {0.975309, 1.008368, 1.729257}},
    {'B', 1, 1.0, 2.0, 1.0, 0, {0.534522, 0.440927, 0.403640}},
    {'B', 1, 1.0, 20.0, 100.0, 0, {0.910975, 0.907310, 0.904847}},
    {'B', 1, 1.0, 0.4, 0.04, 0, {0.206284, 1.431168, 2.259990}},
    {'W', 3, 1.0, 1.0, 1.0, 0, {1.0, 3.732051, 5.343059}},
    {'W', 1, 1.0, 2.0, 2.0, 0, {0.632456, 0.447214, 0.589119}},
    {'M', 1, 1.0, 0, 0, 1.0, {0.0, 1.0, 1.716515}},
    {'M', 1, 1.0, 0, 0, 0.9, {0.316228, 0.5, 1.301469}},
    {'M', 1, 1.0, 0, 0, 0.7, {0.547723, 0.547723, 0.400000}},
};

static yoke_test_method method_of_row(const zero_row *row, int order) {
  yoke_test_method method = method_of("FF", row->family, order);
  method.index            = row->index;
  method.mu               = row->mu;
  if (row->family == 'B') {
    method.beta  = row->a; /* the model has H = 1 s */
    method.gamma = row->b;
  } else if (row->family == 'W') {
    method.a = row->a;
    method.b = row->b;
  }
  if (row->relaxation > 0.0) method.relaxation = row->relaxation;
  return method;
}

static void radii_of_the_relative_motion_are_the_specified_ones(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    for (int order = 0; order < 3 && rows[i].rho[order] >= 0.0; ++order) {
      const yoke_test_method method = method_of_row(&rows[i], order);
      const double           rho    = zero_radius(&method, 1.0);
      /* A multiple eigenvalue is known to the root of rounding errors only. */
      const double           slack = rows[i].rho[order] == 0.0 || rows[i].rho[order] == 1.0 ? 2e-5 : 6e-7;
      if (!(fabs(rho - rows[i].rho[order]) <= slack)) {
        fail_msg("row %zu, %c index %d degree %d: rho = %.9g, expected %.9g", i, rows[i].family, rows[i].index, order,
                 rho, rows[i].rho[order]);
      }
    }
  }
}

static void masses_do_not_matter(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    for (int order = 0; order < 3 && rows[i].rho[order] >= 0.0; ++order) {
      const yoke_test_method method = method_of_row(&rows[i], order);
      const double           slack  = rows[i].rho[order] == 0.0 || rows[i].rho[order] == 1.0 ? 4e-5
                                      : rows[i].family == 'M' ? 1e-7 /* double eigenvalues */
                                                              : 1e-9;
      CHECK_NEAR(zero_radius(&method, 7.3), zero_radius(&method, 1.0), slack);
    }
  }
}

static void closed_forms_of_degree_0_hold(void **state) {
  (void)state;
  for (int i = 1; i < 40; ++i) {
    yoke_test_method baumgarte = method_of("FF", 'B', 0), second = method_of("FF", 'M', 0);
    baumgarte.index   = 2;
    baumgarte.beta    = 0.07 * i;  /* |(beta - 1/2) / (beta + 1/2)| */
    second.relaxation = 0.025 * i; /* sqrt(1 - r) */
    CHECK_NEAR(zero_radius(&baumgarte, 1.0), fabs((baumgarte.beta - 0.5) / (baumgarte.beta + 0.5)), 1e-12);
    CHECK_NEAR(zero_radius(&second, 1.0), sqrt(1.0 - second.relaxation), 1e-7); /* a double eigenvalue */
  }
}

/* ---- critical parameters ---- */

static yoke_status minus_radius(const void *user, double parameter, double *out) {
  yoke_test_method method = *(const yoke_test_method *)user;
  yoke_test_model  model  = yoke_test_model_default(YOKE_TWO_MASS_RIGID);
  double           rho;
  method.mu = method.a = method.b = parameter;
  const yoke_status status        = yoke_recurrence_zero_radius(NULL, &model, &method, &rho);
  *out                            = -rho;
  return status;
}

/* The parameter from which on the method is zero-stable: upwards, rho falls through 1. */
static double critical(char family, int order) {
  const yoke_test_method method = method_of("FF", family, order);
  const yoke_scan        scan   = {
               .value = minus_radius, .user = &method, .first = 0.01, .last = 1e3, .factor = 1.1, .limit = -1.0};
  double onset;
  assert_int_equal(yoke_scan_onset(NULL, &scan, &onset), YOKE_OK);
  return onset;
}

static void baumgarte_index_1_is_zero_stable_from_the_specified_mu_on(void **state) {
  (void)state;
  CHECK_NEAR(critical('B', 1), 1.0 / sqrt(12.0), 1e-8);
  CHECK_NEAR(critical('B', 2), 0.5, 1e-8);
}

static void weighted_index_1_is_zero_stable_from_the_specified_weights_on(void **state) {
  (void)state;
  CHECK_NEAR(critical('W', 1), 0.5, 1e-8);
  CHECK_NEAR(critical('W', 2), 10.0 / 9.0, 1e-8);
}

static void index_2_and_3_are_never_zero_stable_above_degree_0(void **state) {
  (void)state;
  for (int i = 0; i < 120; ++i) {
    for (int k = 0; k < 4; ++k) {
      yoke_test_method method = method_of("FF", k / 2 == 0 ? 'B' : 'W', 1 + k % 2);
      method.mu = method.a = 0.01 * pow(1.1, i);
      method.index         = 2;
      assert_true(zero_radius(&method, 1.0) > 1.0);
      method.index = 3;
      assert_true(zero_radius(&method, 1.0) > 3.0);
    }
  }
}

/* Weights and Baumgarte parameters are the same thing on a linear model (Lu 4.4): a = 2 beta/H, b = 2 gamma/H^2 with degree 0,
 * 3 beta/H and 6 gamma/H^2 with degree 1. */
static void weighted_is_baumgarte_with_other_parameters(void **state) {
  (void)state;
  for (int order = 0; order < 2; ++order) {
    for (int i = 1; i < 10; ++i) {
      yoke_test_method baumgarte = method_of("FF", 'B', order), weighted = method_of("FF", 'W', order);
      baumgarte.beta  = 0.3 * i;
      baumgarte.gamma = 0.1 * i * i;
      weighted.a      = (order == 0 ? 2.0 : 3.0) * baumgarte.beta;
      weighted.b      = (order == 0 ? 2.0 : 6.0) * baumgarte.gamma;
      CHECK_NEAR(zero_radius(&weighted, 1.0), zero_radius(&baumgarte, 1.0), 1e-11);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(radii_of_the_relative_motion_are_the_specified_ones),
      cmocka_unit_test(masses_do_not_matter),
      cmocka_unit_test(closed_forms_of_degree_0_hold),
      cmocka_unit_test(baumgarte_index_1_is_zero_stable_from_the_specified_mu_on),
      cmocka_unit_test(weighted_index_1_is_zero_stable_from_the_specified_weights_on),
      cmocka_unit_test(index_2_and_3_are_never_zero_stable_above_degree_0),
      cmocka_unit_test(weighted_is_baumgarte_with_other_parameters),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
