/* The example models with a split, run monolithically, against the reference values printed with the methods. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "check.h"
#include "examples/run_model.h"

typedef struct reference {
  const char *name;
  double      value;
} reference;

/* Runs to t_end and compares; the allowed error is `tolerance` times max(1, |value|). */
static void check(const char *path, const char *const *sets, double rtol, double t_end, double tolerance,
                  const reference *list) {
  model_run run = run_file(path, sets, NULL, rtol, t_end);
  for (; list->name != NULL; ++list)
    CHECK_NEAR(run_value(&run, list->name), list->value, tolerance * fmax(1.0, fabs(list->value)));
  run_end(&run);
}

static void two_mass_ends_at_the_exact_values(void **state) {
  static const reference end[] = {
      {"m1.x", 0.01532682}, {"m1.v", -7.45016759}, {"m2.x", 0.03446351}, {"m2.v", -10.35546008}, {NULL, 0}};
  (void)state;
  check("examples/two-mass.yaml", NULL, 0.0, 0.5, 1e-8, end);
}

static void chain_m1_ends_at_the_exact_values(void **state) {
  static const reference end[] = {
      {"c.x[1]", -1.26974931}, {"c.v[1]", -343.7357627}, {"c.x[2]", 1.80818774}, {"c.v[2]", 178.40149552}, {NULL, 0}};
  (void)state;
  check("examples/chain-m1.yaml", NULL, 0.0, 0.05, 1e-8, end);
}

static void chain_m2_ends_at_the_printed_values(void **state) {
  static const reference end[] = {
      {"c.x[1]", 0.26998443}, {"c.x[2]", 1.23158097}, {"c.v[1]", 58.33358833}, {"c.v[2]", 87.41683333}, {NULL, 0}};
  (void)state;
  check("examples/chain-m2.yaml", NULL, 1e-12, 0.02, 1e-8, end);
}

static void chain_m3_follows_the_printed_values_before_the_impact(void **state) {
  static const reference before[] = {
      {"c.x[1]", -0.853627006}, {"c.x[2]", -1.10229190}, {"c.v[1]", 124.046548}, {"c.v[2]", 51.2017462}, {NULL, 0}};
  (void)state;
  check("examples/chain-m3.yaml", NULL, 0.0, 0.01, 1e-8, before);
}

static void chain_m3_follows_the_printed_values_after_the_impacts(void **state) {
  static const reference first[] = {
      {"c.x[1]", -0.393661120}, {"c.x[2]", 0.0562833484}, {"c.v[1]", -119.529238}, {"c.v[2]", -72.8773246}, {NULL, 0}};
  static const reference late[] = {
      {"c.x[1]", -2.52990194}, {"c.x[2]", -2.38987200}, {"c.v[1]", 41.5675143}, {"c.v[2]", 31.9893272}, {NULL, 0}};
  (void)state;
  check("examples/chain-m3.yaml", NULL, 0.0, 0.02, 1e-6, first);
  check("examples/chain-m3.yaml", NULL, 0.0, 0.06, 1e-6, late);
}

static void chain_conv_follows_the_printed_values(void **state) {
  static const reference early[] = {
      {"c.x[1]", 0.00951594}, {"c.x[25]", -1.71340611}, {"c.x[50]", -3.77488851}, {"c.v[50]", 458.265090}, {NULL, 0}};
  static const reference end[] = {
      {"c.x[1]", -0.07186404}, {"c.x[25]", 1.65991712}, {"c.x[50]", -0.15940216}, {NULL, 0}};
  (void)state;
  check("examples/chain-conv.yaml", NULL, 1e-11, 0.04, 1e-7, early);
  check("examples/chain-conv.yaml", NULL, 1e-11, 0.25, 1e-6, end);
}

static void four_bar_with_bushing_follows_the_printed_angles(void **state) {
  static const double    times[]     = {0.25, 0.5, 1.0};
  static const reference angles[][5] = {
      {{"bar1.angle", 1.03810753}, {"bar2.angle", 0.59938543}, {"bar4.angle", 1.48603462}, {"bar3.angle", 0.59646617}},
      {{"bar1.angle", 1.47809842}, {"bar2.angle", 0.52383556}, {"bar4.angle", 1.65639261}, {"bar3.angle", 0.51867437}},
      {{"bar1.angle", 2.04244184}, {"bar2.angle", 0.51369566}, {"bar4.angle", 1.93415516}, {"bar3.angle", 0.50918226}}};
  (void)state;
  for (int i = 0; i < 3; ++i) check("examples/four-bar-bushing.yaml", NULL, 0.0, times[i], 1e-7, angles[i]);
}

static void four_bar_with_a_stiff_bushing_follows_the_printed_angles(void **state) {
  static const char *const sets[]  = {"parameters.c=1e5", NULL};
  static const reference   angle[] = {{"bar1.angle", 1.48525603},
                                      {"bar2.angle", 0.52104885},
                                      {"bar4.angle", 1.66087578},
                                      {"bar3.angle", 0.52099601},
                                      {NULL, 0}};
  (void)state;
  check("examples/four-bar-bushing.yaml", sets, 0.0, 0.5, 1e-7, angle);
}

static void flexible_slider_crank_ends_at_the_printed_angles(void **state) {
  static const reference end[] = {{"bar1.angle", 0.5421529052}, {"bar2.angle", 1.2915436053}, {NULL, 0}};
  (void)state;
  check("examples/slider-crank-flexible.yaml", NULL, 1e-11, 0.5, 1e-9, end);
}

/* Minimal-coordinate equations of the double pendulum (Lu 3.3) by the classical Runge-Kutta method. */
static void pendulum_rates(const double y[8], double f[8]) { /* phi1, x2, y2, phi2 and their rates */
  const double g = 9.81, c = 1e5, d = 1e2, c1 = cos(y[0]), s1 = sin(y[0]), c2 = cos(y[3]), s2 = sin(y[3]);
  const double gap[2]  = {c1 - (y[1] - 0.5 * c2), s1 - (y[2] - 0.5 * s2)};
  const double rate[2] = {-s1 * y[4] - (y[5] + 0.5 * s2 * y[7]), c1 * y[4] - (y[6] - 0.5 * c2 * y[7])};
  const double lx = -c * gap[0] - d * rate[0], ly = -c * gap[1] - d * rate[1];
  for (int i = 0; i < 4; ++i) f[i] = y[4 + i];
  f[4] =
      (-0.5 * g * c1 - 500.0 * (y[0] - 5.0 * acos(-1.0) / 16.0) - 5.0 * y[4] - s1 * lx + c1 * ly) / (1.0 / 12.0 + 0.25);
  f[5] = -lx;
  f[6] = -ly - g;
  f[7] = 6.0 * (c2 * ly - s2 * lx);
}

static void flexible_double_pendulum_follows_its_minimal_coordinates(void **state) {
  const double quarter = acos(-1.0) / 4.0, h = 1e-5;
  double       y[8] = {quarter, 1.5 * cos(quarter), 0.5 * sin(quarter), -quarter, 0, 0, 0, 0};
  (void)state;
  for (int n = 0; n < 30000; ++n) {
    static const double at[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    double              k[8] = {0}, sum[8] = {0}, stage[8];
    for (int s = 0; s < 4; ++s) {
      for (int i = 0; i < 8; ++i) stage[i] = y[i] + h * at[s] * k[i];
      pendulum_rates(stage, k);
      for (int i = 0; i < 8; ++i) sum[i] += weight[s] * k[i];
    }
    for (int i = 0; i < 8; ++i) y[i] += h * sum[i];
  }
  model_run run = run_file("examples/double-pendulum-flexible.yaml", NULL, NULL, 1e-11, 0.3);
  CHECK_NEAR(run_value(&run, "upper.angle"), y[0], 1e-8);
  CHECK_NEAR(run_value(&run, "lower.x"), y[1], 1e-8);
  CHECK_NEAR(run_value(&run, "lower.angle"), y[3], 1e-8);
  run_end(&run);
}

static void rigid_two_mass_ends_at_the_exact_values(void **state) {
  static const reference end[] = {{"m1.x", 0.17215147},
                                  {"m1.v", 17.79221205},
                                  {"m2.x", 0.17215147},
                                  {"joint.g[1]", 0.0},
                                  {"joint.force[1]", 116.69119846},
                                  {NULL, 0}};
  (void)state;
  check("examples/two-mass-rigid.yaml", NULL, 1e-12, 0.5, 1e-8, end);
}

static void nonlinear_two_mass_follows_the_printed_values(void **state) {
  static const double    times[]   = {0.02, 0.05, 0.1, 0.2};
  static const reference list[][4] = {{{"m1.x", 1.91225022}, {"m2.v", 86.9257922}, {"joint.force[1]", 606.886437}},
                                      {{"m1.x", 1.01712247}, {"m2.v", -96.4899328}, {"joint.force[1]", 339.036867}},
                                      {{"m1.x", -3.31081250}, {"m2.v", -51.8878314}, {"joint.force[1]", -1103.60417}},
                                      {{"m1.x", 1.73899216}, {"m2.v", 89.3468398}, {"joint.force[1]", 574.265457}}};
  (void)state;
  for (int i = 0; i < 4; ++i) check("examples/nonlinear-two-mass.yaml", NULL, 0.0, times[i], 1e-7, list[i]);
}

static void double_pendulum_follows_the_printed_angles_and_forces(void **state) {
  static const double    times[]   = {0.1, 0.5, 1.0};
  static const reference list[][5] = {{{"upper.angle", 0.748145955},
                                       {"lower.angle", -0.833934541},
                                       {"knee.force[1]", -1.541235776},
                                       {"knee.force[2]", -0.244596553}},
                                      {{"upper.angle", -0.096864260},
                                       {"lower.angle", -1.277102546},
                                       {"knee.force[1]", 3.325876106},
                                       {"knee.force[2]", 0.312337122}},
                                      {{"upper.angle", -1.914941873},
                                       {"lower.angle", -0.894258577},
                                       {"knee.force[1]", 1.352464713},
                                       {"knee.force[2]", -5.706149717}}};
  static const reference end[]     = {{"upper.angle", -1.961761783}, {"lower.angle", -1.365511616}, {NULL, 0}};
  (void)state;
  for (int i = 0; i < 3; ++i) check("examples/double-pendulum.yaml", NULL, 0.0, times[i], 1e-7, list[i]);
  check("examples/double-pendulum.yaml", NULL, 0.0, 2.0, 1e-7, end);
}

static void slider_crank_ends_at_the_printed_angles_and_force(void **state) {
  static const reference end[] = {
      {"bar1.angle", 0.5437433745}, {"bar2.angle", 1.2909622928}, {"guide.force[1]", 6.74648379}, {NULL, 0}};
  (void)state;
  check("examples/slider-crank.yaml", NULL, 1e-11, 0.5, 1e-8, end);
}

static void classical_slider_crank_follows_the_printed_values(void **state) {
  static const reference end[] = {{"crank.angle", 1.474475189},
                                  {"crank.omega", -0.6412626263},
                                  {"rod.angle", 2.620668006},
                                  {"rod.x", 1.830891006 - 0.867359370}, /* s + cos(rod.angle) */
                                  {NULL, 0}};
  (void)state;
  check("examples/slider-crank-classic.yaml", NULL, 1e-11, 0.3, 1e-8, end);
}

/* Lu 6.5: the four-bar with a moment of 1 N m/s t on bar 1. */
static void four_bar_under_a_growing_moment_ends_at_the_printed_angles(void **state) {
  static const char *const load[] = {"loads={push: {kind: expression, on: bar1, torque: t}}", NULL};
  static const reference   end[]  = {
         {"bar1.angle", 0.35421592}, {"bar2.angle", 0.972048485}, {"bar4.angle", 1.538222617}, {NULL, 0}};
  (void)state;
  check("examples/four-bar-fixed.yaml", load, 1e-11, 0.3, 1e-8, end);
}

static void four_bar_with_fixed_joint_follows_the_printed_angles(void **state) {
  static const double    times[]     = {0.1, 0.25, 0.5, 1.0};
  static const reference angles[][5] = {
      {{"bar1.angle", 0.73487144}, {"bar2.angle", 0.71672797}, {"bar4.angle", 1.44555144}, {"bar1.omega", -1.04004812}},
      {{"bar1.angle", 0.46050072}, {"bar3.angle", 0.88602453}, {"bar4.angle", 1.49029810}, {"bar1.omega", -2.25431022}},
      {{"bar1.angle", -0.02462051},
       {"bar2.angle", 1.34256521},
       {"bar4.angle", 1.84823864},
       {"bar1.omega", -1.86935900}},
      {{"bar1.angle", -2.64908048},
       {"bar2.angle", 0.91525310},
       {"bar4.angle", 2.55167040},
       {"bar1.omega", -7.13623471}}};
  (void)state;
  for (int i = 0; i < 4; ++i) check("examples/four-bar-fixed.yaml", NULL, 0.0, times[i], 1e-7, angles[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_mass_ends_at_the_exact_values),
      cmocka_unit_test(chain_m1_ends_at_the_exact_values),
      cmocka_unit_test(chain_m2_ends_at_the_printed_values),
      cmocka_unit_test(chain_m3_follows_the_printed_values_before_the_impact),
      cmocka_unit_test(chain_m3_follows_the_printed_values_after_the_impacts),
      cmocka_unit_test(chain_conv_follows_the_printed_values),
      cmocka_unit_test(four_bar_with_bushing_follows_the_printed_angles),
      cmocka_unit_test(four_bar_with_a_stiff_bushing_follows_the_printed_angles),
      cmocka_unit_test(flexible_slider_crank_ends_at_the_printed_angles),
      cmocka_unit_test(flexible_double_pendulum_follows_its_minimal_coordinates),
      cmocka_unit_test(rigid_two_mass_ends_at_the_exact_values),
      cmocka_unit_test(nonlinear_two_mass_follows_the_printed_values),
      cmocka_unit_test(double_pendulum_follows_the_printed_angles_and_forces),
      cmocka_unit_test(slider_crank_ends_at_the_printed_angles_and_force),
      cmocka_unit_test(classical_slider_crank_follows_the_printed_values),
      cmocka_unit_test(four_bar_with_fixed_joint_follows_the_printed_angles),
      cmocka_unit_test(four_bar_under_a_growing_moment_ends_at_the_printed_angles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
