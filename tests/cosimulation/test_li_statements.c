/* Statements 18 to 36 of Li (specification, 8.1) about constraint coupling, in the time domain. Which test proves which:
 *
 *   18, 19, 24, 25, 26   radii at (-0.2, 1.5): radii_of_baumgarte_and_weighted_couplings_are_those_of_li; for Lambda -> 0:
 *                        test_zero_stability.c
 *   18 (mass ratio)      the_ratio_of_masses_alone_changes_nothing
 *   27, 28               orders and errors of Baumgarte: coupling/test_constraint_order.c, with the engine:
 *                        baumgarte_has_the_orders_of_statements_27_and_28
 *   29                   weighted: coupling/test_weighted.c, with the engine: weighted_has_the_orders_of_statement_29
 *   31                   the_double_pendulum_is_stable_but_for_weighted_of_degree_2
 *   32, 33               radii at five points: radii_of_stabilised_couplings_are_those_of_li
 *   34                   stabilised: coupling/test_constraint_order.c, with the engine: stabilised_have_the_orders_of_statement_34
 *   35                   the_nonlinear_masses_hold_their_levels; orders: test_constraints.c
 *   36                   the_four_bar_holds_its_levels; degrees 1 to 3 with bounds of the specification: test_constraints.c
 * 20 to 23 and 30 are about projection and force/displacement. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#define COSIM_PUBLISHED

#include "../check.h"
#include "levels.h"
#include <lapacke.h>

#define B(more) "{formulation: baumgarte, " more "}"
#define W(more) "{formulation: weighted, " more "}"
#define S2 "{formulation: stabilized-index-2}"
#define S1 "{formulation: stabilized-index-1}"

/* ---- spectral radii from runs ---- */

/* Two masses of Li's M2; a short push in the first step excites all modes. */
static const char masses[] =
    "yoke: 1\n"
    "t_end: 0.3\n"
    "parameters: {m2: 1, c1: 1, c2: 1, d1: 1, d2: 1}\n"
    "bodies: {a: {kind: mass1d, mass: 1, x: 1}, b: {kind: mass1d, mass: m2, x: 1}}\n"
    "connections:\n"
    "  wall1: {kind: spring-damper, between: [ground, a], stiffness: c1, damping: d1, free_length: 0}\n"
    "  joint: {kind: fixed, between: [a, b]}\n"
    "  wall2: {kind: spring-damper, between: [b, ground], stiffness: c2, damping: d2, free_length: 0}\n"
    "loads: {push: {kind: expression, on: a, force: 3e4*exp(-((t - 0.004)/8e-4)^2)}}\n"
    "split: {s1: [a], s2: [b]}\n"
    "cosimulation: {scheme: semi-implicit, step: 0.01}\n"
    "solvers: {default: {kind: dop853, rtol: 1e-11, atol: 1e-13}}\n";

enum { MAX_STEPS = 32, MAX_STATES = 7 };
static const double H = 0.01;

typedef struct trajectory {
  const cosim *c;
  int          n;
  double       z[MAX_STEPS][5]; /* x1, H v1, x2, H v2, H^2 lambda */
} trajectory;

static void record(void *user, double t, const double *q, const double *v) {
  (void)t;
  trajectory *y = user;
  if (y->n == MAX_STEPS) return;
  const double lambda = yoke_graph_channel(yoke_system_graph(y->c->system), 0, 0);
  const double z[5]   = {q[0], H * v[0], q[1], H * v[1], H * H * lambda};
  memcpy(y->z[y->n++], z, sizeof z);
}

/* Spectral radius of M in Y_{N+1} = M Y_N, Y the states and the k newest multipliers: least squares over the run, every step
 * divided by its size. The first step belongs to the push; from the second on the degree is the full one. */
static double radius(const trajectory *y, int k) {
  const int n = 4 + k, first = k > 1 ? k - 1 : 0;
  double    A[MAX_STEPS * MAX_STATES] = {0.0}, X[MAX_STEPS * MAX_STATES] = {0.0}, M[MAX_STATES * MAX_STATES],
                       sigma[MAX_STATES], re[MAX_STATES], im[MAX_STATES], largest = 0.0;
  int rows = 0, rank;
  for (int i = first; i + 1 < y->n && rows < 3 * n; ++i, ++rows) {
    double size = 0.0;
    for (int j = 0; j < 4; ++j) size += fabs(y->z[i][j]);
    if (!(size > 1e-8)) break;
    for (int j = 0; j < n; ++j) {
      A[rows * n + j] = (j < 4 ? y->z[i][j] : y->z[i - (j - 4)][4]) / size;
      X[rows * n + j] = (j < 4 ? y->z[i + 1][j] : y->z[i + 1 - (j - 4)][4]) / size;
    }
  }
  if (rows < n) return NAN;
  assert_int_equal(LAPACKE_dgelss(LAPACK_ROW_MAJOR, rows, n, n, A, n, X, n, sigma, 1e-11, &rank), 0);
  for (int r = 0; r < n; ++r) { /* Y^T M^T = Y+^T */
    for (int c = 0; c < n; ++c) M[c * n + r] = X[r * n + c];
  }
  assert_int_equal(LAPACKE_dgeev(LAPACK_ROW_MAJOR, 'N', 'N', n, M, n, re, im, NULL, 1, NULL, 1), 0);
  for (int j = 0; j < n; ++j) largest = fmax(largest, hypot(re[j], im[j]));
  return largest;
}

typedef struct point {
  double mass, real, imaginary; /* ratios of subsystem 2 to 1: masses, real and imaginary parts of the eigenvalues */
  double Lr, Li;                /* dimensionless eigenvalue of subsystem 1 */
} point;

static double run_radius(const char *couplings, int degree, const point *p) {
  char         sets[COSIM_TEXT];
  cosim        c;
  trajectory   y  = {.c = &c};
  const double r2 = p->real * p->Lr, i2 = p->imaginary * p->Li;
  snprintf(
      sets, sizeof sets,
      "cosimulation.couplings=%s;cosimulation.order=%d;parameters.m2=%.17g;parameters.c1=%.17g;parameters.c2=%.17g;"
      "parameters.d1=%.17g;parameters.d2=%.17g",
      couplings, degree, p->mass, (p->Lr * p->Lr + p->Li * p->Li) / (H * H), p->mass * (r2 * r2 + i2 * i2) / (H * H),
      -2.0 * p->Lr / H, -2.0 * p->mass * r2 / H);
  cosim_open(&c, masses, sets);
  cosim_expect(&c, YOKE_OK);
  cosim_run(&c, 0.0, record, &y);
  cosim_close(&c);
  return radius(&y, strstr(couplings, "stabilized") != NULL && degree > 1 ? 1 : degree);
}

typedef struct radius_row {
  const char *couplings;
  int         degree;
  double      printed[5];
} radius_row;

static int count_wrong(const radius_row *row, const point *points, int n_points) {
  int n_wrong = 0;
  for (int i = 0; i < n_points; ++i) {
    const double found = run_radius(row->couplings, row->degree, &points[i]);
    if (fabs(found - row->printed[i]) <= 1e-4 * row->printed[i]) continue;
    ++n_wrong;
    print_message("%s degree %d, point %d: %.6f, printed %.6f\n", row->couplings, row->degree, i, found,
                  row->printed[i]);
  }
  return n_wrong;
}

static const point constraint_points[5] = {
    {1, 1, 1, -0.2, 1.5}, {10, 1, 1, -0.2, 1.5}, {1, 10, 1, -0.2, 1.5}, {1, 1, 10, -0.2, 1.5}, {2, 2, 2, -0.2, 1.5}};

static const radius_row index_1_rows[] = {
    {B("mu: 1"), 0, {0.818730753, 0.818730753, 0.719033677, 1.13998217, 0.797892815}},
    {B("mu: 1"), 1, {0.818730753, 0.818730753, 0.513045412, 0.841070586, 0.520390754}},
    {B("mu: 1"), 2, {0.818730753, 0.818730753, 0.445905515, 0.873061885, 0.629497918}},
    {W("a: 1, b: 1"), 0, {4.89973458, 4.89973458, 1.13088673, 0.981870775, 0.923158981}},
    {W("a: 1, b: 1"), 1, {0.818730753, 0.818730753, 0.634308824, 0.873570572, 0.626252753}},
    {W("a: 1, b: 1"), 2, {0.818730753, 0.818730753, 0.633231243, 0.973683028, 0.773443698}},
};

typedef struct parameter_row {
  const char *couplings;
  double      printed[3]; /* degree 0, 1, 2 at the last of the points */
} parameter_row;

static const parameter_row parameter_rows[] = {
    {B("index: 2, mu: 0.25"), {0.529750013, 0.861188126, 1.47014905}},
    {B("index: 2, mu: 1"), {0.649513611, 0.799011797, 0.868621183}},
    {B("index: 2, mu: 5"), {0.871551155, 0.9048468, 0.904841416}},
    {B("index: 1, mu: 0.25"), {0.635954024, 0.796386442, 0.913213511}},
    {B("index: 1, mu: 5"), {2.06139686, 0.876885416, 0.825560472}},
    {B("index: 3"), {0.765220979, 2.22636391, 3.44904387}},
    {W("index: 2, a: 0.5"), {0.490059324, 1.25098521, 2.29071712}},
    {W("index: 2, a: 1"), {0.605706574, 0.860291572, 1.7535386}},
    {W("index: 2, a: 2.5"), {0.649851505, 0.829093649, 1.12456182}},
    {W("index: 2, a: 5"), {0.711826998, 0.799231683, 0.889441783}},
    {W("index: 1, a: 0.5, b: 0.25"), {0.795238293, 0.779688702, 1.49819069}},
    {W("index: 1, a: 2.5, b: 5"), {1.06476315, 0.683857487, 0.612198309}},
};

static void radii_of_baumgarte_and_weighted_couplings_are_those_of_li(void **state) {
  (void)state;
  int n_wrong = 0;
  for (size_t i = 0; i < sizeof index_1_rows / sizeof index_1_rows[0]; ++i)
    n_wrong += count_wrong(&index_1_rows[i], constraint_points, 5);
  for (size_t i = 0; i < sizeof parameter_rows / sizeof parameter_rows[0]; ++i) {
    for (int k = 0; k < 3; ++k) {
      const radius_row row = {parameter_rows[i].couplings, k, {parameter_rows[i].printed[k]}};
      n_wrong += count_wrong(&row, &constraint_points[4], 1);
    }
  }
  assert_int_equal(n_wrong, 0);
}

static void the_ratio_of_masses_alone_changes_nothing(void **state) {
  (void)state;
  for (int k = 0; k < 3; ++k) {
    const point  equal = {1, 1, 1, -0.3, 1.1}, light = {0.01, 1, 1, -0.3, 1.1}, heavy = {30, 1, 1, -0.3, 1.1};
    const double r = run_radius(B("mu: 0.4"), k, &equal);
    CHECK_NEAR(run_radius(B("mu: 0.4"), k, &light), r, 1e-5);
    CHECK_NEAR(run_radius(B("mu: 0.4"), k, &heavy), r, 1e-5);
  }
}

static const point stabilised_points[5] = {
    {1, 1, 1, -0.1, 9.8}, {1, 1, 1, -1, 5}, {10, 10, 10, -0.1, 9.8}, {10, 10, 10, -0.02, 0.3}, {1, 1, 1, 0, 3}};

static const radius_row stabilised_rows[] = {
    {S2, 0, {0.904837418, 0.367879441, 0.368969246, 0.830037683, 1}},
    {S2, 1, {1.37147838, 0.482190247, 1.37433762, 0.977085654, 1}},
    {S2, 2, {0.904837418, 0.530940726, 0.545901455, 0.981762245, 1}},
    {S1, 0, {0.904837418, 0.367879441, 0.406926869, 0.831256418, 1}},
    {S1, 1, {0.904837418, 0.367879441, 0.376731558, 0.832404237, 1}},
    {S1, 3, {0.904837418, 0.367879441, 0.371135562, 0.831998077, 1}},
};

static void radii_of_stabilised_couplings_are_those_of_li(void **state) {
  (void)state;
  int n_wrong = 0;
  for (size_t i = 0; i < sizeof stabilised_rows / sizeof stabilised_rows[0]; ++i)
    n_wrong += count_wrong(&stabilised_rows[i], stabilised_points, 5);
  assert_int_equal(n_wrong, 0);
}

/* ---- orders, with the engine ---- */

/* Errors of Li 4.64 over 1 s, two masses of 1 and 2 kg on springs of 1000 N/m and dampers of 10 N s/m, x = 1 at the start: root of
 * the sum of squares over both masses, over the variation of the exact values; positions and velocities apart. */
typedef struct sums {
  double n, off[2], exact[2], square[2];
} sums;

static void add_errors(void *user, double t, const double *q, const double *v) {
  sums        *s     = user;
  const double decay = 10.0 / 3.0, omega = sqrt(2000.0 / 3.0 - decay * decay), at = exp(-decay * t);
  const double x = at * (cos(omega * t) + decay / omega * sin(omega * t));
  const double w = -at * (omega + decay * decay / omega) * sin(omega * t);
  s->n += 1.0;
  for (int i = 0; i < 2; ++i) {
    s->off[0] += (q[i] - x) * (q[i] - x);
    s->off[1] += (v[i] - w) * (v[i] - w);
  }
  s->exact[0] += x;
  s->exact[1] += w;
  s->square[0] += x * x;
  s->square[1] += w * w;
}

/* Position and velocity errors. */
static void two_mass_errors(const char *couplings, int degree, int n_steps, double error[2]) {
  char  sets[COSIM_TEXT];
  sums  s = {0};
  cosim c;
  snprintf(sets, sizeof sets,
           "parameters.x=1;parameters.v=0;cosimulation.couplings=%s;cosimulation.order=%d;cosimulation.step=1/%d",
           couplings, degree, n_steps);
  cosim_open(&c, "examples/two-mass-rigid.yaml", sets);
  cosim_run(&c, 1.0, add_errors, &s);
  cosim_expect(&c, YOKE_OK);
  cosim_close(&c);
  for (int k = 0; k < 2; ++k) error[k] = sqrt(s.off[k] / (s.square[k] - s.exact[k] * s.exact[k] / s.n));
}

typedef struct order_row {
  const char *couplings;
  int         degree;
  double      printed[2],
      order[2]; /* positions and velocities: errors at H = 1/800 s, orders from 1/400 s (NAN: it changes with H) */
} order_row;

static void check_orders(const order_row *rows, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    double error[2][2];
    for (int h = 0; h < 2; ++h) two_mass_errors(rows[i].couplings, rows[i].degree, 400 << h, error[h]);
    for (int k = 0; k < 2; ++k) {
      CHECK_NEAR(error[1][k] / rows[i].printed[k], 1.0, 0.01);
      if (!isnan(rows[i].order[k])) CHECK_NEAR(log2(error[0][k] / error[1][k]), rows[i].order[k], 0.1);
    }
  }
}

static void baumgarte_has_the_orders_of_statements_27_and_28(void **state) {
  (void)state;
  static const order_row rows[] = {
      {B("index: 1, beta: 0.01, gamma: 2.5e-5"), 0, {2.047e-4, 2.196e-4}, {1.06, 1.08}},
      {B("index: 1, beta: 0.01, gamma: 2.5e-5"), 1, {9.524e-7, 1.244e-6}, {2.00, 2.00}},
      {B("index: 1, beta: 0.01, gamma: 2.5e-5"), 2, {2.679e-8, 1.869e-7}, {2.98, 2.98}},
      {B("index: 1, beta: 5e-4, gamma: 6.25e-8"), 0, {1.284e-6, 5.080e-5}, {NAN, 2.00}},
      {B("index: 2, beta: 5e-4"), 0, {8.029e-7, 5.073e-5}, {2.00, 2.00}},
      {B("index: 2, beta: 2e-3"), 0, {3.207e-6, 5.107e-5}, {2.00, 2.00}},
      {B("index: 2, beta: 0.01"), 0, {1.553e-5, 5.255e-5}, {2.00, 2.00}},
      {B("index: 3"), 0, {2.349e-9, 5.425e-5}, {4.00, 2.00}},
  };
  check_orders(rows, sizeof rows / sizeof rows[0]);
}

static void weighted_has_the_orders_of_statement_29(void **state) {
  (void)state;
  static const order_row rows[] = {
      {W("a: 1, b: 1"), 0, {7.066e-6, 5.223e-5}, {3.01, 2.03}},
      {W("a: 1, b: 1"), 1, {9.872e-9, 3.979e-8}, {4.01, 3.52}},
      {W("a: 2.5, b: 5"), 2, {3.421e-9, 1.293e-7}, {4.51, 3.50}},
  };
  check_orders(rows, sizeof rows / sizeof rows[0]);
}

static void stabilised_have_the_orders_of_statement_34(void **state) {
  (void)state;
  static const order_row rows[] = {
      {S2, 0, {5.242e-10, 4.957e-10}, {3.99, 3.99}}, {S2, 1, {1.225e-10, 6.626e-11}, {3.99, 3.96}},
      {S2, 2, {1.891e-10, 1.546e-10}, {4.02, 4.02}}, {S1, 0, {7.931e-8, 7.476e-8}, {3.00, 3.00}},
      {S1, 1, {7.739e-11, 7.525e-11}, {4.00, 4.00}},
  };
  check_orders(rows, sizeof rows / sizeof rows[0]);
}

/* ---- nonlinear models ---- */

/* H = 1e-3 s over 0.15 s: errors of the angles below 1e-7; the true multiplier is at most 1.84 N. */
static void the_double_pendulum_is_stable_but_for_weighted_of_degree_2(void **state) {
  (void)state;
  static const char *const couplings[] = {B("mu: 1"), W("a: 1, b: 1")};
  cosim                    whole       = cosim_done_monolithic("examples/double-pendulum.yaml", NULL, 0.15);
  for (int f = 0; f < 2; ++f) {
    for (int k = 0; k < 3; ++k) {
      char  sets[COSIM_TEXT];
      cosim c;
      snprintf(sets, sizeof sets, "cosimulation.couplings=%s;cosimulation.order=%d", couplings[f], k);
      cosim_open(&c, "examples/double-pendulum.yaml", sets);
      cosim_run(&c, 0.15, NULL, NULL);
      if (f == 1 && k == 2) {
        const yoke_graph *graph = yoke_system_graph(c.system);
        assert_true(c.status == YOKE_E_UNSTABLE || fabs(yoke_graph_channel(graph, 0, 0)) > 20.0);
      } else {
        cosim_expect(&c, YOKE_OK);
        CHECK_NEAR(cosim_value(&c, "upper.angle"), cosim_value(&whole, "upper.angle"), 1e-7);
        CHECK_NEAR(cosim_value(&c, "lower.angle"), cosim_value(&whole, "lower.angle"), 1e-7);
      }
      cosim_close(&c);
    }
  }
  cosim_close(&whole);
}

/* Levels at all macro points with one correction: s and s' below `bound`, of index 1 s'' too. */
static void check_levels(const char *file, double t_end, const double bound[YOKE_JOINT_LEVELS]) {
  static const struct {
    const char *couplings;
    int         degree, n_levels;
  } rows[] = {{S2, 0, 2}, {S2, 1, 2}, {S2, 2, 2}, {S1, 0, 3}, {S1, 1, 3}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    char   sets[COSIM_TEXT];
    cosim  c;
    levels l = {.c = &c};
    snprintf(sets, sizeof sets, "cosimulation.couplings=%s;cosimulation.order=%d", rows[i].couplings, rows[i].degree);
    cosim_open(&c, file, sets);
    cosim_run(&c, t_end, look_at_levels, &l);
    cosim_expect(&c, YOKE_OK);
    for (int k = 0; k < rows[i].n_levels; ++k) CHECK_BELOW(l.largest[k], bound[k]);
    cosim_close(&c);
  }
}

static void the_nonlinear_masses_hold_their_levels(void **state) {
  (void)state;
  static const double bound[YOKE_JOINT_LEVELS] = {1e-9, 1e-9, 1e-5}; /* accelerations reach 29000 m/s^2 */
  check_levels("examples/nonlinear-two-mass.yaml", 0.1, bound);
}

static void the_four_bar_holds_its_levels(void **state) {
  (void)state;
  static const double bound[YOKE_JOINT_LEVELS] = {1e-9, 1e-9, 1e-7};
  check_levels("examples/four-bar-fixed.yaml", 0.1, bound);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(radii_of_baumgarte_and_weighted_couplings_are_those_of_li),
      cmocka_unit_test(the_ratio_of_masses_alone_changes_nothing),
      cmocka_unit_test(radii_of_stabilised_couplings_are_those_of_li),
      cmocka_unit_test(baumgarte_has_the_orders_of_statements_27_and_28),
      cmocka_unit_test(weighted_has_the_orders_of_statement_29),
      cmocka_unit_test(stabilised_have_the_orders_of_statement_34),
      cmocka_unit_test(the_double_pendulum_is_stable_but_for_weighted_of_degree_2),
      cmocka_unit_test(the_nonlinear_masses_hold_their_levels),
      cmocka_unit_test(the_four_bar_holds_its_levels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
