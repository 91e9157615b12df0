/* Check values of the sources for constitutive coupling: Li 8.6, Lu 6.1, Kraft 5 (two-mass models, exact subsystems). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "two_mass.h"

/* ---- Li 8.6 ---- */

typedef struct li_row {
  const char *decomposition, *extension, *scheme;
  int         order;
  double      error[4];  /* H = 1/800 s: global position, velocity; local position, velocity */
  double      orders[4]; /* observed from 1/800 to 1/1600 */
} li_row;

#define FF "force/force"
#define FD "force/displacement"
#define DD "displacement/displacement"
static const li_row li_rows[] = {
    {FF, "none", "semi-implicit", 0, {2.709e-02, 3.516e-02, 5.907e-05, 1.875e-03}, {0.99, 0.98, 2.99, 1.98}},
    {FF, "none", "semi-implicit", 1, {2.346e-04, 3.238e-04, 3.987e-07, 1.684e-05}, {2.00, 2.00, 3.99, 2.99}},
    {FF, "none", "semi-implicit", 2, {6.898e-06, 1.292e-05, 8.391e-08, 3.545e-06}, {2.99, 2.99, 4.48, 3.47}},
    {FF, "none", "semi-implicit", 3, {3.989e-07, 5.148e-07, 5.662e-10, 2.678e-08}, {4.00, 4.00, 5.99, 4.99}},
    {FF, "none", "explicit", 0, {2.840e-02, 3.775e-02, 3.018e-05, 1.912e-03}, {1.02, 1.03, 3.00, 1.99}},
    {FF, "none", "explicit", 1, {1.175e-03, 1.645e-03, 1.209e-06, 8.569e-05}, {2.00, 2.01, 4.00, 3.00}},
    {FF, "none", "explicit", 2, {9.694e-05, 1.343e-04, 9.241e-08, 6.990e-06}, {3.02, 3.02, 5.01, 4.01}},
    {FF, "none", "explicit", 3, {5.237e-06, 6.831e-06, 4.482e-09, 3.555e-07}, {3.99, 4.00, 5.99, 4.99}},
    {FD, "none", "semi-implicit", 0, {3.393e-02, 3.531e-02, 5.022e-05, 1.615e-03}, {1.01, 0.99, 2.98, 1.98}},
    {FD, "none", "semi-implicit", 1, {2.666e-04, 3.009e-04, 2.935e-07, 1.269e-05}, {2.00, 2.00, 4.00, 2.99}},
    {FD, "none", "semi-implicit", 2, {6.870e-06, 1.085e-05, 6.749e-08, 2.895e-06}, {3.00, 2.99, 4.48, 3.47}},
    {FD, "none", "semi-implicit", 3, {3.835e-07, 4.445e-07, 3.828e-10, 1.872e-08}, {4.00, 4.00, 6.00, 4.99}},
    {FD, "none", "explicit", 0, {3.375e-02, 3.621e-02, 2.596e-05, 1.658e-03}, {1.00, 1.01, 3.01, 2.00}},
    {FD, "none", "explicit", 1, {1.331e-03, 1.519e-03, 8.940e-07, 6.483e-05}, {2.00, 2.01, 4.01, 3.00}},
    {FD, "none", "explicit", 2, {8.427e-05, 1.093e-04, 6.600e-08, 5.128e-06}, {3.02, 3.02, 5.01, 4.01}},
    {FD, "none", "explicit", 3, {5.033e-06, 5.879e-06, 3.036e-09, 2.488e-07}, {3.99, 4.00, 6.00, 4.99}},
    {DD, "none", "semi-implicit", 0, {6.571e-02, 5.418e-02, 4.335e-05, 1.366e-03}, {1.03, 1.03, 2.99, 1.98}},
    {DD, "none", "semi-implicit", 1, {3.665e-04, 3.297e-04, 2.382e-07, 1.004e-05}, {2.00, 2.00, 4.00, 2.99}},
    {DD, "none", "semi-implicit", 2, {7.724e-06, 9.295e-06, 5.278e-08, 2.179e-06}, {3.00, 2.99, 4.48, 3.47}},
    {DD, "none", "semi-implicit", 3, {2.551e-07, 2.861e-07, 2.860e-10, 1.355e-08}, {4.00, 4.00, 6.00, 4.99}},
    {DD, "none", "explicit", 0, {6.085e-02, 5.040e-02, 2.221e-05, 1.385e-03}, {0.98, 0.98, 3.00, 1.99}},
    {DD, "none", "explicit", 1, {1.848e-03, 1.671e-03, 7.262e-07, 5.123e-05}, {2.01, 2.01, 4.01, 3.00}},
    {DD, "none", "explicit", 2, {8.709e-05, 8.794e-05, 5.043e-08, 3.781e-06}, {3.01, 3.01, 5.01, 4.01}},
    {DD, "none", "explicit", 3, {3.369e-06, 3.806e-06, 2.276e-09, 1.803e-07}, {4.00, 4.01, 6.00, 4.99}},
    {FF, "d", "semi-implicit", 0, {1.624e-02, 1.927e-02, 2.082e-05, 8.261e-04}, {1.00, 0.99, 2.99, 1.98}},
    {FF, "d", "semi-implicit", 1, {1.257e-04, 1.594e-04, 1.486e-07, 6.862e-06}, {2.00, 1.99, 3.99, 2.98}},
    {FF, "d", "semi-implicit", 2, {3.295e-06, 4.116e-06, 4.617e-09, 1.770e-07}, {3.00, 3.00, 5.00, 3.99}},
    {FF, "i", "semi-implicit", 0, {1.430e-04, 2.270e-04, 5.934e-06, 4.057e-06}, {2.00, 1.99, 2.99, 3.03}},
    {FF, "i", "semi-implicit", 1, {1.481e-08, 2.479e-08, 7.612e-10, 5.996e-10}, {4.01, 4.00, 4.99, 5.02}},
    {FF, "i", "semi-implicit", 2, {1.825e-08, 2.827e-08, 7.680e-10, 5.251e-10}, {4.01, 4.00, 4.99, 5.03}},
    {FD, "d", "semi-implicit", 0, {4.135e-02, 3.381e-02, 2.887e-05, 1.085e-03}, {1.01, 1.00, 2.99, 1.98}},
    {FD, "d", "semi-implicit", 1, {3.501e-04, 3.437e-04, 2.323e-07, 1.131e-05}, {2.00, 2.00, 4.00, 3.00}},
    {FD, "d", "semi-implicit", 2, {1.276e-05, 1.211e-05, 5.416e-08, 2.671e-06}, {2.99, 2.99, 4.50, 3.50}},
    {FD, "i", "semi-implicit", 0, {1.226e-02, 1.134e-02, 1.255e-05, 4.321e-04}, {0.99, 0.99, 3.00, 2.00}},
    {FD, "i", "semi-implicit", 1, {2.051e-04, 1.680e-04, 9.414e-08, 4.767e-06}, {2.00, 2.00, 3.99, 3.00}},
    {FD, "i", "semi-implicit", 2, {4.483e-06, 4.515e-06, 1.072e-08, 5.445e-07}, {3.01, 3.00, 4.54, 3.54}},
    {DD, "d", "semi-implicit", 0, {6.268e-02, 4.692e-02, 2.695e-05, 1.006e-03}, {1.03, 1.03, 2.99, 1.99}},
    {DD, "d", "semi-implicit", 1, {3.604e-04, 3.162e-04, 2.175e-07, 1.075e-05}, {2.00, 2.00, 4.00, 3.00}},
    {DD, "d", "semi-implicit", 2, {9.972e-06, 1.133e-05, 5.161e-08, 2.574e-06}, {3.00, 3.00, 4.50, 3.50}},
    {DD, "i", "semi-implicit", 0, {1.440e-02, 1.267e-02, 1.254e-05, 4.487e-04}, {0.99, 0.99, 2.99, 1.99}},
    {DD, "i", "semi-implicit", 1, {1.787e-04, 1.493e-04, 9.972e-08, 4.955e-06}, {2.00, 2.00, 3.99, 2.99}},
    {DD, "i", "semi-implicit", 2, {4.093e-06, 4.441e-06, 1.129e-08, 5.638e-07}, {3.01, 3.00, 4.54, 3.54}},
};
enum { N_LI_ROWS = (int)(sizeof li_rows / sizeof li_rows[0]) };

static void li_errors(const li_row *row, int n_steps, double out[4]) {
  char           sets[COSIM_TEXT];
  const bool     exact_past = strcmp(row->scheme, "explicit") == 0 || row->order == 3;
  const two_mass m          = two_mass_li(strcmp(row->extension, "none") == 0 ? 1.0 : 2.0);
  snprintf(sets, sizeof sets,
           "cosimulation.scheme=%s;cosimulation.order=%d;cosimulation.start=%s;cosimulation.step=1/%d;"
           "cosimulation.couplings.decomposition=%s;cosimulation.couplings.extension=%s",
           row->scheme, row->order, exact_past ? "exact" : "ramp", n_steps, row->decomposition, row->extension);
  two_mass_errors e;
  assert_int_equal(two_mass_run(&m, sets, 1.0, &e), YOKE_OK);
  assert_int_equal(e.steps, n_steps);
  memcpy(out, e.global, sizeof e.global);
  memcpy(out + 2, e.local, sizeof e.local);
}

static void errors_and_orders_of_every_variant_are_those_of_li_8_6(void **state) {
  (void)state;
  static const char *const names[4] = {"global position", "global velocity", "local position", "local velocity"};
  for (int i = 0; i < N_LI_ROWS; ++i) {
    const li_row *row = &li_rows[i];
    double        coarse[4], fine[4];
    li_errors(row, 800, coarse);
    li_errors(row, 1600, fine);
    for (int e = 0; e < 4; ++e) {
      const double order = log2(coarse[e] / fine[e]);
      if (fabs(coarse[e] / row->error[e] - 1.0) <= 0.01 && fabs(order - row->orders[e]) <= 0.1) continue;
      fail_msg("%s extension %s %s order %d, %s: error %.4g order %.3f, printed %.4g %.2f", row->decomposition,
               row->extension, row->scheme, row->order, names[e], coarse[e], order, row->error[e], row->orders[e]);
    }
  }
}

/* ---- Lu 6.1 ---- */

typedef struct lu_row {
  const char *decomposition;
  int         order;
  double      end[4];  /* x1, v1, x2, v2 at 0.5 s, H = 1e-3 s */
  double      largest; /* max |x1 - exact| */
} lu_row;

static const lu_row lu_rows[] = {
    {FF, 0, {1.6682857e-02, -7.4933774e+00, 3.6087716e-02, -1.0330753e+01}, 2.7536e-2},
    {FF, 1, {1.5318511e-02, -7.4506006e+00, 3.4469149e-02, -1.0355859e+01}, 3.0043e-4},
    {FF, 2, {1.5326595e-02, -7.4501586e+00, 3.4463344e-02, -1.0355472e+01}, 9.3876e-6},
    {FD, 0, {1.1818635e-02, -7.8195467e+00, 2.8068530e-02, -1.0774624e+01}, 2.3912e-2},
    {FD, 1, {1.5263905e-02, -7.4495840e+00, 3.4394391e-02, -1.0354346e+01}, 2.8511e-4},
    {FD, 2, {1.5327074e-02, -7.4501371e+00, 3.4464057e-02, -1.0355441e+01}, 9.5756e-6},
    {DD, 0, {8.5597805e-03, -8.0143267e+00, 2.7742490e-02, -1.1105375e+01}, 2.9153e-2},
    {DD, 1, {1.5234887e-02, -7.4493879e+00, 3.4342759e-02, -1.0354559e+01}, 1.5508e-4},
    {DD, 2, {1.5327216e-02, -7.4501429e+00, 3.4463987e-02, -1.0355434e+01}, 3.7259e-6},
};

static void semi_implicit_end_values_and_largest_errors_are_those_of_lu_6_1(void **state) {
  (void)state;
  const two_mass m = two_mass_lu();
  for (size_t i = 0; i < sizeof lu_rows / sizeof lu_rows[0]; ++i) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets, "cosimulation.order=%d;cosimulation.couplings.decomposition=%s", lu_rows[i].order,
             lu_rows[i].decomposition);
    two_mass_errors e;
    assert_int_equal(two_mass_run(&m, sets, 0.5, &e), YOKE_OK);
    for (int k = 0; k < 4; ++k) CHECK_NEAR(e.z[k] / lu_rows[i].end[k], 1.0, 1e-6);
    CHECK_NEAR(e.largest / lu_rows[i].largest, 1.0, 0.02);
  }
}

/* ---- Kraft 5 ---- */

typedef struct kraft_row {
  const char *scheme, *decomposition;
  int         order;
  double      end[4]; /* x1, v1, x2, v2 at 0.05 s */
  double      tolerance;
} kraft_row;

static const kraft_row kraft_rows[] = {
    {"explicit", FF, 0, {-1.297563885, -350.8379477718, 1.8723510968, 188.3644320747}, 1e-9},
    {"explicit", FF, 2, {-1.269935251, -343.6043957852, 1.8096814879, 178.5202049893}, 1e-9},
    {"implicit", FF, 0, {-1.2401924985, -337.328592179, 1.7434002338, 168.9747057777}, 1e-9},
    {"implicit", FF, 2, {-1.2693955721, -343.8037504491, 1.8065747613, 178.2480940058}, 1e-7},
    {"explicit", FD, 1, {-1.2729119998, -343.2449552748, 1.8098735487, 178.5118347131}, 1e-9},
    {"implicit", FD, 2, {-1.2693692653, -343.7953288221, 1.8075573628, 178.3489254082}, 1e-9},
    {"explicit", DD, 2, {-1.2699500699, -343.69256116, 1.8087969844, 178.437071129}, 1e-9},
    {"implicit", DD, 1, {-1.2694394595, -343.7886195699, 1.8073835478, 178.326266784}, 1e-9},
};

static void end_values_of_the_chain_m1_are_those_of_kraft_5(void **state) {
  (void)state;
  static const char *const names[4] = {"c.x[1]", "c.v[1]", "c.x[2]", "c.v[2]"};
  for (size_t i = 0; i < sizeof kraft_rows / sizeof kraft_rows[0]; ++i) {
    const kraft_row *row = &kraft_rows[i];
    char             sets[COSIM_TEXT];
    snprintf(sets, sizeof sets,
             "cosimulation.scheme=%s;cosimulation.order=%d;cosimulation.start=ramp-low;"
             "cosimulation.couplings.decomposition=%s",
             row->scheme, row->order, row->decomposition);
    cosim c = cosim_done("examples/chain-m1.yaml", sets, 0.0);
    for (int k = 0; k < 4; ++k) CHECK_NEAR(cosim_value(&c, names[k]) / row->end[k], 1.0, row->tolerance);
    cosim_close(&c);
  }
}

/* Kraft M1 as two masses on the two-mass file, so that the start can be the exact state at any time. */
static two_mass kraft_m1(double t) {
  two_mass m = {.m = {2.0, 1.0}, .c = {1e5, 5e3, 1e3}, .z = {-2.0, 1e2, 0.0, -2e2}};
  two_mass_exact(&m, t, m.z);
  return m;
}

static void one_step_from_an_exact_history_has_the_errors_of_kraft_5(void **state) {
  (void)state;
  static const struct {
    const char *scheme;
    double      x1, v1;
  } rows[]         = {{"explicit", 2.2619e-7, 1.6084e-3}, {"implicit", 4.2383e-8, 1.8154e-4}};
  const two_mass m = kraft_m1(0.005);
  for (size_t i = 0; i < 2; ++i) {
    char            sets[COSIM_TEXT];
    two_mass_errors e;
    snprintf(sets, sizeof sets,
             "cosimulation.scheme=%s;cosimulation.order=2;cosimulation.start=exact;cosimulation.step=5e-4",
             rows[i].scheme);
    assert_int_equal(two_mass_run(&m, sets, 5e-4, &e), YOKE_OK);
    assert_int_equal(e.steps, 1);
    CHECK_NEAR(e.end[0] / rows[i].x1, 1.0, 1e-4);
    CHECK_NEAR(e.end[1] / rows[i].v1, 1.0, 1e-4);
  }
}

/* Steps at the start have lower degrees: without a past the global order is 2 with scheme explicit, 3 with the others. */
static void f10_the_order_that_a_start_by_a_ramp_leaves_is_that_of_the_page(void **state) {
  static const struct {
    const char *scheme, *start;
    int         order;
    double      expected;
  } rows[] = {{"explicit", "ramp", 1, 2.0},      {"explicit", "ramp", 2, 2.0},      {"explicit", "ramp", 3, 2.0},
              {"explicit", "exact", 2, 3.0},     {"explicit", "exact", 3, 4.0},     {"semi-implicit", "ramp", 2, 3.0},
              {"semi-implicit", "ramp", 3, 3.0}, {"semi-implicit", "exact", 3, 4.0}};
  const two_mass m = two_mass_li(1.0);
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    double errors[2];
    for (int k = 0; k < 2; ++k) {
      char            sets[COSIM_TEXT];
      two_mass_errors e;
      snprintf(sets, sizeof sets, "cosimulation={scheme: %s, order: %d, start: %s, step: 1/%d}", rows[i].scheme,
               rows[i].order, rows[i].start, 1600 << k);
      assert_int_equal(two_mass_run(&m, sets, 1.0, &e), YOKE_OK);
      errors[k] = e.global[0];
    }
    const double order = log2(errors[0] / errors[1]);
    if (!(fabs(order - rows[i].expected) <= 0.1))
      fail_msg("%s, order %d, start %s: %.3f, expected %g", rows[i].scheme, rows[i].order, rows[i].start, order,
               rows[i].expected);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_and_orders_of_every_variant_are_those_of_li_8_6),
      cmocka_unit_test(semi_implicit_end_values_and_largest_errors_are_those_of_lu_6_1),
      cmocka_unit_test(end_values_of_the_chain_m1_are_those_of_kraft_5),
      cmocka_unit_test(one_step_from_an_exact_history_has_the_errors_of_kraft_5),
      cmocka_unit_test(f10_the_order_that_a_start_by_a_ramp_leaves_is_that_of_the_page),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
