/* Recurrences: what is defined, parameters, identities between methods, and radii of models in physical units (Lu 6.2, 6.3, R9 to R22). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "analysis/spectrum.h"
#include "tags.h"

/* Points spread over the maps. */
enum { N_POINTS = 40 };

static yoke_test_model model_at(yoke_test_model_kind kind, int i) {
  const yoke_test_ratios r = {-0.03 * (1 + i % 7), 0.2 * (1 + i % 11),  0.5 + 0.3 * (i % 5), 1.0 + 0.2 * (i % 3),
                              0.7 + 0.4 * (i % 4), 1.0 + 0.1 * (i % 6), 0.8 + 0.3 * (i % 5)};
  return yoke_test_model_from_ratios(kind, &r);
}

static double radius(const yoke_test_model *model, const yoke_test_method *method) {
  double rho;
  assert_int_equal(yoke_recurrence_radius(NULL, model, method, &rho), YOKE_OK);
  return rho;
}

/* ---- parameters ---- */

static void ratios_give_the_eigenvalues_they_name(void **state) {
  (void)state;
  const yoke_test_ratios r     = {-0.3, 2.0, 4.0, 1.5, 0.5, 3.0, 2.5};
  const yoke_test_model  model = yoke_test_model_from_ratios(YOKE_TWO_MASS, &r);
  const double           m[3]  = {model.m[0], model.m[1], 2.0 * model.m[0] * model.m[1] / (model.m[0] + model.m[1])};
  const double           c[3] = {model.c[0], model.c[1], model.cc}, d[3] = {model.d[0], model.d[1], model.dc};
  const double           re[3] = {-0.3, -0.45, -0.9}, im[3] = {2.0, 1.0, 5.0};
  CHECK_NEAR(model.m[1], 4.0, 0.0);
  for (int i = 0; i < 3; ++i) {
    CHECK_NEAR(-d[i] / (2.0 * m[i]), re[i], 1e-14);
    CHECK_NEAR(sqrt(c[i] / m[i] - 0.25 * d[i] * d[i] / (m[i] * m[i])), im[i], 1e-13);
  }
}

/* Other units of mass and time, the same method: nothing changes. Baumgarte's beta and gamma are times. */
static void units_do_not_matter(void **state) {
  (void)state;
  const double mass = 37.0, time = 2.5e-3;
  for (int i = 0; i < N_POINTS; ++i) {
    static const char families[] = "EODIBWP21M";
    const char        family     = families[i % 10];
    yoke_test_method  method     = method_of("FF", family, i % 2);
    yoke_test_model   model = model_at(kind_of(family), i), scaled = model;
    method.beta      = 1.7;
    method.gamma     = 0.6;
    const double rho = radius(&model, &method);
    scaled.H *= time;
    scaled.cc *= mass / (time * time);
    scaled.dc *= mass / time;
    for (int s = 0; s < 2; ++s) {
      scaled.m[s] *= mass;
      scaled.c[s] *= mass / (time * time);
      scaled.d[s] *= mass / time;
    }
    method.beta *= time;
    method.gamma *= time * time;
    CHECK_NEAR(radius(&scaled, &method), rho, 1e-10 * rho);
  }
}

static yoke_test_model swapped(yoke_test_model model) {
  const yoke_test_model old = model;
  for (int s = 0; s < 2; ++s) {
    model.m[s] = old.m[1 - s];
    model.c[s] = old.c[1 - s];
    model.d[s] = old.d[1 - s];
  }
  return model;
}

static void displacement_force_is_force_displacement_seen_from_the_other_side(void **state) {
  (void)state;
  static const char families[] = "EODIBWP";
  for (int i = 0; i < 7 * N_POINTS; ++i) {
    const char             family = families[i % 7];
    const yoke_test_method fd = method_of("FD", family, i % 3), df = method_of("DF", family, i % 3);
    const yoke_test_model  model = model_at(kind_of(family), i), other = swapped(model);
    const double           rho = radius(&model, &fd);
    CHECK_NEAR(radius(&other, &df), rho, 1e-9 * rho);
  }
}

/* ---- identities ---- */

static void integral_extension_of_degree_0_is_derivative_extension_of_degree_1(void **state) {
  (void)state;
  const yoke_test_method d = method_of("FF", 'D', 1), i = method_of("FF", 'I', 0);
  for (int k = 0; k < N_POINTS; ++k) {
    const yoke_test_model model = model_at(YOKE_TWO_MASS, k);
    const double          rho   = radius(&model, &d);
    CHECK_NEAR(radius(&model, &i), rho, 1e-9 * rho);
  }
}

static void index_3_is_the_same_for_baumgarte_and_weights(void **state) {
  (void)state;
  for (int k = 0; k < N_POINTS; ++k) {
    const char           *decomposition = k % 2 == 0 ? "FF" : "FD";
    yoke_test_method      b = method_of(decomposition, 'B', k % 3), w = method_of(decomposition, 'W', k % 3);
    const yoke_test_model model = model_at(YOKE_TWO_MASS_RIGID, k);
    b.index = w.index = 3;
    const double rho  = radius(&model, &b);
    CHECK_NEAR(radius(&model, &w), rho, 1e-9 * rho);
  }
}

static void inner_nodes_matter_unless_one_polynomial_goes_through_all(void **state) {
  (void)state;
  for (int k = 0; k < 3; ++k) {
    const int        order  = k == 2 ? 3 : k;
    yoke_test_method method = method_of("FF", '1', order);
    const double     thirds = radius_at('1', &method, -0.1, 9.8, unsymmetrical);
    method.nodes[0]         = 0.25;
    method.nodes[1]         = 0.7;
    const double other      = radius_at('1', &method, -0.1, 9.8, unsymmetrical);
    assert_true(order == 3 ? fabs(other - thirds) < 1e-9 : fabs(other - thirds) > 1e-3);
  }
}

static void schemes_that_solve_the_conditions_are_one_method(void **state) {
  (void)state;
  for (int k = 0; k < N_POINTS; ++k) {
    yoke_test_method      method = method_of(k % 2 == 0 ? "FD" : "DD", 'O', k % 4);
    const yoke_test_model model  = model_at(YOKE_TWO_MASS, k);
    const double          rho    = radius(&model, &method);
    method.scheme                = "implicit";
    CHECK_NEAR(radius(&model, &method), rho, 0.0);
    method.scheme       = "waveform";
    method.gauss_seidel = true;
    CHECK_NEAR(radius(&model, &method), rho, 0.0);
  }
}

/* A law evaluated with copies that are consistent is the law; with those in force it is not. */
static void feedthrough_matters_without_final_update_only(void **state) {
  (void)state;
  for (int k = 0; k < N_POINTS; ++k) {
    yoke_test_method      method = method_of(k % 2 == 0 ? "FD" : "DF", 'E', k % 3);
    const yoke_test_model model  = model_at(YOKE_TWO_MASS, k);
    const double          rho    = radius(&model, &method);
    method.feedthrough           = true;
    CHECK_NEAR(radius(&model, &method), rho, 0.0);
    method.final_update = false;
    assert_true(fabs(radius(&model, &method) - rho) > 1e-9);
  }
}

/* ---- what is defined ---- */

static void undefined_combinations_are_refused_with_a_reason(void **state) {
  (void)state;
  struct {
    yoke_test_model_kind kind;
    yoke_test_method     method;
    const char          *reason;
  } cases[24];
  int n = 0;
#define REFUSED(model_kind, first, change, text)                                                                       \
  do {                                                                                                                 \
    yoke_test_method method = first;                                                                                   \
    change;                                                                                                            \
    cases[n].kind     = model_kind;                                                                                    \
    cases[n].method   = method;                                                                                        \
    cases[n++].reason = text;                                                                                          \
  } while (0)
  REFUSED(YOKE_TWO_MASS, method_of("FF", 'E', 6), (void)0, "order is 6, expected 0 to 5");
  REFUSED(YOKE_TWO_MASS, method_of("FF", 'O', -1), (void)0, "order is -1, expected 0 to 5");
  REFUSED(YOKE_TWO_MASS, method_of("DD", 'I', 3), (void)0, "order is 3, expected 0 to 2 with an extension");
  REFUSED(YOKE_TWO_MASS, method_of("FF", 'D', 1), method.scheme = "explicit", "extension d has conditions");
  REFUSED(YOKE_TWO_MASS, method_of("FF", 'O', 1), method.gauss_seidel = true, "corrects both sides at once");
  REFUSED(YOKE_TWO_MASS, method_of("FF", 'O', 1), method.feedthrough = true, "feedthrough goes with");
  REFUSED(YOKE_TWO_MASS, method_of("FF", 'O', 1), method.scheme = "leapfrog", "no scheme 'leapfrog'");
  REFUSED(YOKE_TWO_MASS, method_of("FF", 'O', 1), method.formulation = "glue", "no formulation 'glue'");
  REFUSED(YOKE_TWO_MASS, method_of("FF", 'B', 1), (void)0,
          "baumgarte is for test model two-mass-rigid, not for two-mass");
  REFUSED(YOKE_TWO_MASS, method_of("FF", 'E', 1), (method.predictor = YOKE_PREDICTOR_LEAST_SQUARES, method.samples = 2),
          "samples is 2, expected 3 to 16");
  REFUSED(YOKE_TWO_MASS, method_of("FF", 'E', 1),
          (method.predictor = YOKE_PREDICTOR_ACCELERATION, method.order_acceleration = 9), "order_acceleration is 9");
  REFUSED(YOKE_TWO_MASS_RIGID, method_of("FF", 'B', 1), method.scheme = "explicit", "has no explicit form");
  REFUSED(YOKE_TWO_MASS_RIGID, method_of("FF", 'B', 1), method.index = 4, "index is 4, expected 1, 2 or 3");
  REFUSED(YOKE_TWO_MASS_RIGID, method_of("DD", 'W', 1), (void)0, "cannot drive both sides");
  REFUSED(YOKE_TWO_MASS_RIGID, method_of("FF", 'W', 1), method.a = -1.0, "weights a and b are -1 and 1");
  REFUSED(YOKE_TWO_MASS_RIGID, method_of("FD", '2', 1), (void)0, "force/force only");
  REFUSED(YOKE_TWO_MASS_RIGID, method_of("FF", '2', 3), (void)0, "order is 3, expected 0 to 2");
  REFUSED(YOKE_TWO_MASS_RIGID, method_of("FF", '1', 2), (void)0, "order is 2, expected 0, 1 or 3");
  REFUSED(YOKE_TWO_MASS_RIGID, method_of("FF", '1', 1), method.nodes[1] = 0.2, "nodes are");
  REFUSED(YOKE_TWO_MASS_RIGID, method_of("FF", 'M', 1), method.relaxation = 0.0, "relaxation is 0");
  REFUSED(YOKE_TWO_MASS_RIGID, method_of("FF", 'B', 1), method.extension = YOKE_EXTENSION_D, "belong to formulation");
  REFUSED(YOKE_KINEMATIC_TWO_MASS, yoke_test_method_default(), (void)0, "kinematic is explicit");
  REFUSED(YOKE_KINEMATIC_TWO_MASS, method_of("FF", 'E', 1), method.order_motion = 7, "order_motion 7");
  REFUSED((yoke_test_model_kind)9, method_of("FF", 'E', 1), (void)0, "no test model 9");
  for (int i = 0; i < n; ++i) {
    yoke_context *ctx = NULL;
    assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
    assert_int_equal(yoke_recurrence_check(ctx, cases[i].kind, &cases[i].method), YOKE_E_USAGE);
    if (strstr(yoke_context_message(ctx, 0), cases[i].reason) == NULL) {
      fail_msg("case %d: '%s' does not say '%s'", i, yoke_context_message(ctx, 0), cases[i].reason);
    }
    yoke_context_destroy(&ctx);
  }
}

static void impossible_models_are_refused(void **state) {
  (void)state;
  const yoke_test_method method = yoke_test_method_default();
  yoke_test_model        model  = yoke_test_model_default(YOKE_TWO_MASS);
  double                 rho;
  model.m[1] = 0.0;
  assert_int_equal(yoke_recurrence_radius(NULL, &model, &method, &rho), YOKE_E_USAGE);
  model   = yoke_test_model_default(YOKE_TWO_MASS);
  model.H = -1.0;
  assert_int_equal(yoke_recurrence_radius(NULL, &model, &method, &rho), YOKE_E_USAGE);
  model      = yoke_test_model_default(YOKE_TWO_MASS);
  model.c[0] = NAN;
  assert_int_equal(yoke_recurrence_radius(NULL, &model, &method, &rho), YOKE_E_USAGE);
}

static void extreme_parameters_give_a_number_or_infinity(void **state) {
  (void)state;
  static const char families[] = "EODIBWP21M";
  for (const char *family = families; *family != '\0'; ++family) {
    for (int e = -300; e <= 300; e += 50) {
      for (int k = 0; k < 3; ++k) {
        const yoke_test_method method = method_of("FF", *family, k == 2 && *family == '1' ? 3 : k);
        yoke_test_model        model  = yoke_test_model_default(kind_of(*family));
        model.c[0]                    = pow(10.0, e);
        model.d[1]                    = pow(10.0, -e / 2);
        const double rho              = radius(&model, &method);
        assert_true(rho >= 0.0); /* not NaN */
      }
    }
  }
}

/* Side 2 free, side 1 without damping, degree 0: g'' responds to the force with -(cos(omega) + 1), which vanishes at omega = pi. */
static void near_a_pole_the_radius_is_huge_or_infinite(void **state) {
  (void)state;
  const yoke_test_method method = method_of("FF", 'P', 0);
  for (int i = -2; i <= 2; ++i) {
    const double    omega = 3.14159265358979323846 + 1e-6 * i;
    yoke_test_model model = yoke_test_model_default(YOKE_TWO_MASS_RIGID);
    model.c[0]            = omega * omega;
    model.c[1]            = 0.0;
    assert_true(radius(&model, &method) > 1e5);
  }
}

/* ---- models in physical units (Lu) ---- */

static yoke_test_model lu_model(yoke_test_model_kind kind, double c, double d, double H) {
  yoke_test_model model = yoke_test_model_default(kind);
  model.H               = H;
  model.m[1]            = 2.0;
  model.c[0] = model.c[1] = model.cc = c;
  model.d[0] = model.d[1] = model.dc = d;
  return model;
}

static void radii_of_coupling_laws_in_physical_units_are_the_specified_ones(void **state) {
  (void)state;
  static const struct {
    double c, d;
    double implicit[3][3]; /* FF, FD, DD by degree */
    double explicit[3];    /* FF */
  } rows[] = {
      {1e3,
       10,
       {{0.98410953, 0.98427736, 0.98427577},
        {0.98635363, 0.98425253, 0.98427305},
        {0.98754352, 0.98423922, 0.98427159}},
       {0.98444, 0.98427, 0.98427}},
      {1e5,
       10,
       {{0.96619464, 0.98447798, 1.09029340},
        {1.23396842, 0.98185422, 1.08321094},
        {1.46373920, 0.98046234, 1.00167299}},
       {1.53223, 1.83062, 2.08566}},
      {1e5,
       100,
       {{0.83680116, 0.85510823, 0.85509638},
        {1.01300972, 0.83337171, 0.82838109},
        {1.09762914, 0.82205976, 0.81252552}},
       {1.16881, 1.40130, 2.60454}},
  };
  static const char *const decompositions[] = {"FF", "FD", "DD"};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    const yoke_test_model model = lu_model(YOKE_TWO_MASS, rows[i].c, rows[i].d, 5e-3);
    for (int k = 0; k < 3; ++k) {
      for (int d = 0; d < 3; ++d) {
        const yoke_test_method method = method_of(decompositions[d], 'O', k);
        CHECK_NEAR(radius(&model, &method), rows[i].implicit[d][k], 5e-8);
      }
      const yoke_test_method method = method_of("FF", 'E', k);
      CHECK_NEAR(radius(&model, &method), rows[i].explicit[k], 6e-6);
    }
  }
}

static void radii_of_rigid_links_in_physical_units_are_the_specified_ones(void **state) {
  (void)state;
  static const struct {
    char   family;
    int    index;
    double beta, gamma, a, b;
    double rho[2]; /* c = 1e3 and 1e5, d = 10 */
  } rows[] = {
      {'B', 1, 2e-1, 1e-2, 1, 1, {0.983687, 4.463326}}, {'B', 2, 2e-1, 0, 1, 1, {0.983464, 0.982510}},
      {'B', 3, 0, 0, 1, 1, {0.986193, 0.984561}},       {'W', 1, 0, 0, 1, 1, {0.983467, 1.499086}},
      {'W', 2, 0, 0, 1, 0, {0.983471, 0.976330}},       {'M', 1, 0, 0, 1, 1, {0.983466, 0.982899}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    for (int k = 0; k < 2; ++k) {
      const yoke_test_model model  = lu_model(YOKE_TWO_MASS_RIGID, k == 0 ? 1e3 : 1e5, 10.0, 5e-3);
      yoke_test_method      method = method_of("FF", rows[i].family, 0);
      method.index                 = rows[i].index;
      method.beta                  = rows[i].beta;
      method.gamma                 = rows[i].gamma;
      method.a                     = rows[i].a;
      method.b                     = rows[i].b;
      CHECK_NEAR(radius(&model, &method), rows[i].rho[k], 6e-7);
    }
  }
}

static void the_second_multiplier_stays_stable_for_springs_and_dampers_of_any_decade(void **state) {
  (void)state;
  const yoke_test_method method = method_of("FF", 'M', 0);
  for (int i = 2; i <= 6; ++i) {
    for (int k = 0; k <= 5; ++k) {
      const yoke_test_model model = lu_model(YOKE_TWO_MASS_RIGID, pow(10.0, i), pow(10.0, k), 5e-3);
      CHECK_BELOW(radius(&model, &method), 1.0);
    }
  }
}

/* Between the decades lies a narrow band without enough damping; the number is from an evaluation with 40 digits. */
static void the_second_multiplier_has_a_narrow_unstable_band(void **state) {
  (void)state;
  const yoke_test_method method = method_of("FF", 'M', 0);
  const yoke_test_model  model  = lu_model(YOKE_TWO_MASS_RIGID, pow(10.0, 5.75), 1.0, 5e-3);
  CHECK_NEAR(radius(&model, &method), 1.07477, 6e-6);
}

/* Strongly different subsystems (Lu R15). */
static void the_second_multiplier_stays_stable_for_large_steps(void **state) {
  (void)state;
  static const double H[3] = {5e-4, 5e-3, 1e-2}, expected[3] = {0.99986, 0.99844, 0.99412};
  for (int i = 0; i < 3; ++i) {
    const yoke_test_method method = method_of("FF", 'M', 0);
    yoke_test_model        model  = lu_model(YOKE_TWO_MASS_RIGID, 1000.0, 3.0, H[i]);
    model.m[1]                    = 10.0;
    model.c[0]                    = 1e5;
    CHECK_NEAR(radius(&model, &method), expected[i], 6e-6);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ratios_give_the_eigenvalues_they_name),
      cmocka_unit_test(units_do_not_matter),
      cmocka_unit_test(displacement_force_is_force_displacement_seen_from_the_other_side),
      cmocka_unit_test(integral_extension_of_degree_0_is_derivative_extension_of_degree_1),
      cmocka_unit_test(index_3_is_the_same_for_baumgarte_and_weights),
      cmocka_unit_test(inner_nodes_matter_unless_one_polynomial_goes_through_all),
      cmocka_unit_test(schemes_that_solve_the_conditions_are_one_method),
      cmocka_unit_test(feedthrough_matters_without_final_update_only),
      cmocka_unit_test(undefined_combinations_are_refused_with_a_reason),
      cmocka_unit_test(impossible_models_are_refused),
      cmocka_unit_test(extreme_parameters_give_a_number_or_infinity),
      cmocka_unit_test(near_a_pole_the_radius_is_huge_or_infinite),
      cmocka_unit_test(radii_of_coupling_laws_in_physical_units_are_the_specified_ones),
      cmocka_unit_test(radii_of_rigid_links_in_physical_units_are_the_specified_ones),
      cmocka_unit_test(the_second_multiplier_stays_stable_for_springs_and_dampers_of_any_decade),
      cmocka_unit_test(the_second_multiplier_has_a_narrow_unstable_band),
      cmocka_unit_test(the_second_multiplier_stays_stable_for_large_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
