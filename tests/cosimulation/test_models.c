/* Example models with elastic couplings against their monolithic references, and couplings of different kind in one model. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "cosimulate.h"

enum { MAX_POINTS = 4096 };

/* One coordinate at the macro points. */
typedef struct track {
  int    i_q, n;
  double t[MAX_POINTS], value[MAX_POINTS];
} track;

static void record(void *user, double t, const double *q, const double *v) {
  (void)v;
  track *k = user;
  assert_true(k->n < MAX_POINTS);
  k->t[k->n]       = t;
  k->value[k->n++] = q[k->i_q];
}

static track *track_run(const char *path, const char *sets, double t_end, int i_q) {
  track *k = calloc(1, sizeof *k);
  cosim  c;
  assert_non_null(k);
  k->i_q = i_q;
  cosim_open(&c, path, sets);
  cosim_run(&c, t_end, record, k);
  cosim_expect(&c, YOKE_OK);
  cosim_close(&c);
  return k;
}

/* The monolithic model at the same times: an integrator run from point to point. */
static double largest_error(const char *path, const track *k, const char *name, const char *sets) {
  cosim  c;
  double largest = 0.0;
  assert_int_equal(cosim_open_monolithic(&c, path, sets), YOKE_OK);
  for (int i = 0; i < k->n; ++i) {
    assert_int_equal(cosim_run(&c, k->t[i], NULL, NULL), YOKE_OK);
    largest = fmax(largest, fabs(cosim_value(&c, name) - k->value[i]));
  }
  cosim_close(&c);
  return largest;
}

static const char *const tight = "solvers.default.rtol=1e-11;solvers.default.atol=1e-13";

/* Largest error of coordinate i_q (output `name`) at the macro points. */
static double model_error(const char *path, int order, double step, double t_end, int i_q, const char *name,
                          const char *more) {
  char sets[COSIM_TEXT];
  snprintf(sets, sizeof sets, "%s;cosimulation.order=%d;cosimulation.step=%.17g%s%s", tight, order, step,
           more != NULL ? ";" : "", more != NULL ? more : "");
  track       *k     = track_run(path, sets, t_end, i_q);
  const double error = largest_error(path, k, name, tight);
  free(k);
  return error;
}

static void double_pendulum_has_the_errors_of_lu_6_4(void **state) {
  (void)state;
  static const double printed[3] = {1.099e-4, 9.79e-6, 2.05e-6};
  for (int order = 0; order <= 2; ++order) {
    const double error =
        model_error("examples/double-pendulum-flexible.yaml", order, 1e-3, 0.04, 2, "upper.angle", NULL);
    CHECK_NEAR(error / printed[order], 1.0, 0.02);
  }
}

static void double_pendulum_converges_with_order_k_plus_1(void **state) {
  (void)state;
  static const char *const more[] = {NULL, "cosimulation.couplings.decomposition=force/displacement",
                                     "cosimulation.couplings.decomposition=displacement/displacement",
                                     "cosimulation.couplings.extension=d"};
  for (int m = 0; m < 4; ++m) {
    for (int order = 0; order <= 2; ++order) {
      double error[2];
      for (int k = 0; k < 2; ++k) {
        error[k] = model_error("examples/double-pendulum-flexible.yaml", order, 2.5e-4 / (1 << k), 0.04, 2,
                               "upper.angle", more[m]);
      }
      CHECK_ORDER(error, 2, order + 1.0, 0.2);
    }
  }
}

static void slider_crank_converges_with_order_k_plus_1(void **state) {
  (void)state;
  static const char *const more[] = {NULL, "cosimulation.couplings.decomposition=force/displacement",
                                     "cosimulation.couplings.decomposition=displacement/displacement",
                                     "cosimulation.couplings.extension=d"};
  for (int m = 0; m < 4; ++m) {
    for (int order = 0; order <= 2; ++order) {
      double error[2];
      for (int k = 0; k < 2; ++k) {
        error[k] =
            model_error("examples/slider-crank-flexible.yaml", order, 2e-3 / (1 << k), 0.5, 2, "bar1.angle", more[m]);
      }
      CHECK_ORDER(error, 2, order + 1.0, 0.2);
    }
  }
}

static void slider_crank_reference_is_that_of_lu_6_5(void **state) {
  (void)state;
  cosim c = cosim_done_monolithic("examples/slider-crank-flexible.yaml", tight, 0.5);
  CHECK_NEAR(cosim_value(&c, "bar1.angle"), 0.5421529052, 1e-8);
  CHECK_NEAR(cosim_value(&c, "bar2.angle"), 1.2915436053, 1e-8);
  cosim_close(&c);
}

/* Kinetic energy, weight and spring of the guide [J]; nothing else holds energy. */
static double slider_crank_energy(const cosim *c) {
  static const char *const bodies[2] = {"bar1", "bar2"};
  const double             mass[2] = {sqrt(2.0), 2.0}, inertia[2] = {sqrt(2.0) / 6.0, 2.0 / 3.0};
  double                   energy = 0.5 * 1e3 * pow(cosim_value(c, "guide.g[1]"), 2.0);
  for (int b = 0; b < 2; ++b) {
    static const char *const quantities[] = {"vx", "vy", "omega", "y"};
    double                   value[4];
    for (int k = 0; k < 4; ++k) {
      char name[32];
      snprintf(name, sizeof name, "%s.%s", bodies[b], quantities[k]);
      value[k] = cosim_value(c, name);
    }
    energy += 0.5 * mass[b] * (value[0] * value[0] + value[1] * value[1]) + 0.5 * inertia[b] * value[2] * value[2] +
              9.81 * mass[b] * value[3];
  }
  return energy;
}

static void slider_crank_loses_the_energy_of_lu_r5(void **state) {
  (void)state; /* k = 0 over 0.5 s: numerical dissipation of order H; two digits are printed */
  static const double H[3] = {2e-3, 1e-3, 5e-4}, printed[3] = {-8.8e-3, -5.0e-3, -2.7e-3};
  cosim               c      = cosim_done_monolithic("examples/slider-crank-flexible.yaml", tight, 0.5);
  const double        energy = slider_crank_energy(&c);
  cosim_close(&c);
  for (int k = 0; k < 3; ++k) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets, "%s;cosimulation.order=0;cosimulation.step=%g", tight, H[k]);
    c = cosim_done("examples/slider-crank-flexible.yaml", sets, 0.5);
    CHECK_NEAR((slider_crank_energy(&c) - energy) / printed[k], 1.0, 0.02);
    cosim_close(&c);
  }
}

/* ---- mixed ---- */

static const char *const three_masses =
    "yoke: 1\n"
    "name: three masses\n"
    "t_end: 0.2\n"
    "bodies:\n"
    "  a: {kind: mass1d, mass: 1, x: 1}\n"
    "  b: {kind: mass1d, mass: 2, v: 20}\n"
    "  c: {kind: mass1d, mass: 1.5, x: -0.5}\n"
    "connections:\n"
    "  wall1: {kind: spring-damper, between: [ground, a], stiffness: 1000, damping: 5}\n"
    "  left: {kind: spring-damper, between: [a, b], stiffness: 800, damping: 8}\n"
    "  right: {kind: spring-damper, between: [b, c], stiffness: 1200, damping: 6}\n"
    "  wall2: {kind: spring-damper, between: [c, ground], stiffness: 900, damping: 4}\n"
    "split: {s1: [a], s2: [b], s3: [c]}\n"
    "cosimulation:\n"
    "  scheme: implicit\n"
    "  step: 1e-3\n"
    "  energy: off\n"
    "  couplings:\n"
    "    left: {decomposition: force/force}\n"
    "    right: {decomposition: displacement/displacement}\n"
    "solvers: {default: exact}\n"
    "output: {every: 1e-2}\n";

static void couplings_of_different_kind_in_one_model_keep_the_order(void **state) {
  (void)state;
  static const char *const pairs[][2] = {{"none", "none"}, {"d", "none"}, {"none", "d"},
                                         {"d", "i"},       {"i", "d"},    {"i", "none"}};
  static const char *const schemes[]  = {"semi-implicit", "implicit"};
  cosim                    reference  = cosim_done_monolithic(three_masses, NULL, 0.2);
  const double             x          = cosim_value(&reference, "c.x");
  cosim_close(&reference);
  for (int s = 0; s < 2; ++s) {
    for (size_t p = 0; p < sizeof pairs / sizeof pairs[0]; ++p) {
      for (int order = 0; order <= 2; ++order) {
        double error[2];
        for (int k = 0; k < 2; ++k) {
          char sets[COSIM_TEXT];
          snprintf(sets, sizeof sets,
                   "cosimulation.scheme=%s;cosimulation.order=%d;cosimulation.step=%.17g;"
                   "cosimulation.couplings.left.extension=%s;cosimulation.couplings.right.extension=%s",
                   schemes[s], order, 5e-4 / (1 << k), pairs[p][0], pairs[p][1]);
          cosim c  = cosim_done(three_masses, sets, 0.2);
          error[k] = fabs(cosim_value(&c, "c.x") - x);
          cosim_close(&c);
        }
        CHECK_ORDER(error, 2, order + 1.0, 0.2);
      }
    }
  }
}

static void explicit_and_waveform_couplings_of_different_kind_keep_the_order(void **state) {
  (void)state;
  static const char *const schemes[]   = {"explicit", "waveform"};
  static const char *const sequences[] = {"jacobi", "gauss-seidel"};
  cosim                    reference   = cosim_done_monolithic(three_masses, NULL, 0.2);
  const double             x           = cosim_value(&reference, "c.x");
  cosim_close(&reference);
  for (int s = 0; s < 4; ++s) {
    for (int order = 0; order <= 3; ++order) {
      double error[2];
      for (int k = 0; k < 2; ++k) {
        char sets[COSIM_TEXT];
        snprintf(sets, sizeof sets,
                 "cosimulation.scheme=%s;cosimulation.sequence=%s;cosimulation.order=%d;cosimulation.step=%.17g;"
                 "cosimulation.start=exact",
                 schemes[s % 2], sequences[s / 2], order, 5e-4 / (1 << k));
        cosim c  = cosim_done(three_masses, sets, 0.2);
        error[k] = fabs(cosim_value(&c, "c.x") - x);
        cosim_close(&c);
      }
      const double observed = log2(error[0] / error[1]);
      if (fabs(observed - order - 1.0) <= 0.2 || (s >= 2 && observed > order + 1.0)) continue;
      fail_msg("%s %s order %d: observed %.2f", schemes[s % 2], sequences[s / 2], order, observed);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(double_pendulum_has_the_errors_of_lu_6_4),
      cmocka_unit_test(double_pendulum_converges_with_order_k_plus_1),
      cmocka_unit_test(slider_crank_reference_is_that_of_lu_6_5),
      cmocka_unit_test(slider_crank_converges_with_order_k_plus_1),
      cmocka_unit_test(slider_crank_loses_the_energy_of_lu_r5),
      cmocka_unit_test(couplings_of_different_kind_in_one_model_keep_the_order),
      cmocka_unit_test(explicit_and_waveform_couplings_of_different_kind_keep_the_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
