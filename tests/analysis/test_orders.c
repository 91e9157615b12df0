/* Every recurrence has among its eigenvalues those of the exact motion, exp(s H), up to the order of the method: log(eigenvalue) / H
 * tends to s like H^p. The exact s come from the uncut model, so that this proves the recurrences without any stored number. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "analysis/spectrum.h"
#include "tags.h"

#include <stdio.h>

enum { MAX_EXACT = 4 };

static yoke_test_model uneven_model(yoke_test_model_kind kind) {
  yoke_test_model model = yoke_test_model_default(kind);
  model.m[1]            = 2.0;
  model.c[0]            = 1000.0;
  model.c[1]            = 1300.0;
  model.d[0]            = 10.0;
  model.d[1]            = 14.0;
  model.cc              = 1000.0;
  model.dc              = 10.0;
  return model;
}

/* Eigenvalues of the uncut model. */
static int exact_eigenvalues(const yoke_test_model *t, double *re, double *im) {
  if (t->kind == YOKE_TWO_MASS_RIGID) {
    const double m    = t->m[0] + t->m[1];
    const double A[4] = {0.0, 1.0, -(t->c[0] + t->c[1]) / m, -(t->d[0] + t->d[1]) / m};
    assert_int_equal(yoke_eigenvalues(2, A, re, im), YOKE_OK);
    return 2;
  }
  const bool   kinematic = t->kind == YOKE_KINEMATIC_TWO_MASS;
  const double m1 = kinematic ? t->m_R + t->m_Fco : t->m[0], m2 = kinematic ? t->m_Fin : t->m[1];
  const double c1 = kinematic ? t->c_R : t->c[0], d1 = kinematic ? t->d_R : t->d[0];
  const double c2 = kinematic ? t->c_F : t->c[1], d2 = kinematic ? t->d_F : t->d[1];
  const double c = kinematic ? t->c_F : t->cc, d = kinematic ? t->d_F : t->dc;
  const double A[16] = {0.0, 1.0, 0.0, 0.0, -(c1 + c) / m1, -(d1 + d) / m1, c / m1,         d / m1,
                        0.0, 0.0, 0.0, 1.0, c / m2,         d / m2,         -(c2 + c) / m2, -(d2 + d) / m2};
  assert_int_equal(yoke_eigenvalues(4, A, re, im), YOKE_OK);
  return 4;
}

/* Largest distance of an exact eigenvalue to the nearest of the recurrence. */
static double frequency_error(yoke_test_model model, const yoke_test_method *method, double H) {
  static double M[YOKE_RECURRENCE_MAX * YOKE_RECURRENCE_MAX];
  double        re[YOKE_RECURRENCE_MAX], im[YOKE_RECURRENCE_MAX], s_re[MAX_EXACT], s_im[MAX_EXACT], worst = 0.0;
  int           n;
  model.H = H;
  assert_int_equal(yoke_recurrence_build(NULL, &model, method, M, &n), YOKE_OK);
  assert_int_equal(yoke_eigenvalues(n, M, re, im), YOKE_OK);
  const int n_exact = exact_eigenvalues(&model, s_re, s_im);
  for (int i = 0; i < n_exact; ++i) {
    double nearest = INFINITY;
    for (int k = 0; k < n; ++k) {
      const double size = hypot(re[k], im[k]);
      if (size == 0.0) continue;
      nearest = fmin(nearest, hypot(log(size) / H - s_re[i], atan2(im[k], re[k]) / H - s_im[i]));
    }
    worst = fmax(worst, nearest);
  }
  return worst;
}

static void check_order(const char *name, const yoke_test_model *model, const yoke_test_method *method, double H,
                        int expected) {
  const double coarse = frequency_error(*model, method, H), fine = frequency_error(*model, method, 0.5 * H);
  const double order = log2(coarse / fine);
  if (!(fabs(order - expected) <= 0.3)) {
    fail_msg("%s degree %d: order %.2f, expected %d (errors %.3g, %.3g)", name, method->order, order, expected, coarse,
             fine);
  }
}

/* ---- all formulations ---- */

static int order_of(const char *decomposition, char family, int k) {
  static const int integral[] = {2, 4, 4}, half[] = {4, 6, 4}, third[] = {3, 4, 0, 6}, second[] = {2, 4, 4};
  const bool       forced = strcmp(decomposition, "FF") == 0;
  switch (family) {
  case 'I': return forced ? integral[k] : k + 1;
  case 'B':
  case 'W': return forced ? k + 3 : k + 1;
  case 'P': return forced ? k + 2 : k + 1;
  case '2': return half[k];
  case '1': return third[k];
  case 'M': return second[k];
  default: return k + 1;
  }
}

static void every_formulation_has_its_order(void **state) {
  (void)state;
  static const char *const decompositions[] = {"FF", "FD", "DF", "DD"};
  static const char        families[]       = "EODIBWP21M";
  int                      n                = 0;
  for (size_t d = 0; d < 4; ++d) {
    for (const char *family = families; *family != '\0'; ++family) {
      for (int k = 0; k <= 5; ++k) {
        const yoke_test_method method = method_of(decompositions[d], *family, k);
        const yoke_test_model  model  = uneven_model(kind_of(*family));
        char                   name[8];
        if (yoke_recurrence_check(NULL, model.kind, &method) != YOKE_OK) continue;
        snprintf(name, sizeof name, "%s-%c", decompositions[d], *family);
        check_order(name, &model, &method, 8e-3, order_of(decompositions[d], *family, k));
        ++n;
      }
    }
  }
  assert_int_equal(n, 4 * (6 + 6 + 3 + 3) + 3 * (6 + 6 + 6) + 6 + 3 + 3 + 3); /* nothing was left out */
}

/* ---- explicit variants (Kraft R9; global orders) ---- */

static void gauss_seidel_keeps_the_order(void **state) {
  (void)state;
  static const char *const decompositions[] = {"FF", "FD", "DF", "DD"};
  for (size_t d = 0; d < 4; ++d) {
    for (int k = 0; k <= 5; ++k) {
      yoke_test_method      method = method_of(decompositions[d], 'E', k);
      const yoke_test_model model  = uneven_model(YOKE_TWO_MASS);
      method.gauss_seidel          = true;
      /* Displacement/displacement of degree 0: one side sees the other late, the other one early; the errors cancel. */
      check_order(decompositions[d], &model, &method, 4e-3, d == 3 && k == 0 ? 2 : k + 1);
    }
  }
}

static void least_squares_keep_the_order(void **state) {
  (void)state;
  for (int k = 0; k <= 3; ++k) {
    yoke_test_method      method = method_of("FF", 'E', k);
    const yoke_test_model model  = uneven_model(YOKE_TWO_MASS);
    method.predictor             = YOKE_PREDICTOR_LEAST_SQUARES;
    method.samples               = k + 3;
    check_order("least squares", &model, &method, 1e-3, k + 1);
  }
}

static void acceleration_predictors_have_their_orders(void **state) {
  (void)state;
  static const struct {
    int    order_acceleration, order;
    double weight; /* 0: acc */
    int    expected;
  } rows[] = {{0, 0, 0, 2},   {1, 0, 0, 3},         {2, 0, 0, 4},   {0, 0, 1.0 / 6.0, 1},
              {0, 0, 0.5, 2}, {0, 1, 1.0 / 6.0, 2}, {0, 1, 0.5, 2}, {1, 0, 1.0 / 6.0, 1},
              {1, 0, 0.5, 2}, {1, 1, 1.0 / 6.0, 3}, {1, 1, 0.5, 2}};
  static const char *const decompositions[] = {"FF", "FD", "DF", "DD"};
  for (size_t i = 0; i < 4 * 2 * sizeof rows / sizeof *rows; ++i) {
    const size_t          r      = i / 8;
    yoke_test_method      method = method_of(decompositions[i % 4], 'E', rows[r].order);
    const yoke_test_model model  = uneven_model(YOKE_TWO_MASS);
    method.predictor = rows[r].weight > 0.0 ? YOKE_PREDICTOR_ACCELERATION_RELAXED : YOKE_PREDICTOR_ACCELERATION;
    method.order_acceleration  = rows[r].order_acceleration;
    method.acceleration_weight = rows[r].weight;
    method.update              = i / 4 % 2 == 0;
    check_order(decompositions[i % 4], &model, &method, 5e-4, rows[r].expected);
  }
}

/* ---- kinematic ---- */

static void kinematic_coupling_has_the_lower_of_both_orders(void **state) {
  (void)state;
  for (int i = 0; i < 2 * 4 * 9; ++i) {
    yoke_test_method      method = yoke_test_method_default();
    const yoke_test_model model  = yoke_test_model_default(YOKE_KINEMATIC_TWO_MASS);
    method.scheme                = "explicit";
    method.force                 = i % 2 == 0 ? YOKE_TEST_FORCE_EXACT : YOKE_TEST_FORCE_APPROXIMATE;
    method.outputs               = (yoke_test_outputs)(i / 2 % 4);
    method.order_force           = i / 8 % 3;
    method.order_motion          = i / 24;
    const int lower              = method.order_force < method.order_motion ? method.order_force : method.order_motion;
    check_order("kinematic", &model, &method, 2e-3, lower + 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_formulation_has_its_order),
      cmocka_unit_test(gauss_seidel_keeps_the_order),
      cmocka_unit_test(least_squares_keep_the_order),
      cmocka_unit_test(acceleration_predictors_have_their_orders),
      cmocka_unit_test(kinematic_coupling_has_the_lower_of_both_orders),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
