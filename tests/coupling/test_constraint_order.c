/* Constraint coupling on the linear two-mass oscillator with a rigid link and exact subsystems: errors and orders of Li
 * (4.5, 4.9), end values of Lu (3.1). The conditions are linear here, so that one solve per macro step is the exact
 * (semi-)implicit step. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "own_settings.h"
#include "coupling/formulation.h"
#include <string.h>

enum { MAX_W = 3, N_PAST = 3, N_TERMS = 18, N_Y = 4 /* x, v, a, integral of x */ };

static const double mass[2] = {1.0, 2.0}, c_wall = 1000.0, d_wall = 10.0;

static const yoke_joint_element rigid_link = {
    .link = {.node = {0, 1}, .axes = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}},
    .n    = 1,
    .row  = {{YOKE_ROW_STRETCH, 0, 0}}, /* s = x2 - x1 */
};

typedef struct run {
  const yoke_formulation_ops *ops;
  void                       *self;
  yoke_layout                 layout; /* of the one multiplier */
  double                      H;
  double                      past_s[N_PAST], past_u[N_PAST]; /* newest first */
  int                         n_past;
  double                      y_old[2][N_Y];
} run;

/* y over `length` under the force b(t), powers of the time in the piece, by the power series of x and v: exact to
 * rounding. */
static void advance(double m, const double *b, double length, double y[N_Y]) {
  double x = y[0], v = y[1], power = 1.0, end_x = 0.0, end_v = 0.0, force = 0.0;
  for (int k = 0; k < N_TERMS; ++k) {
    const double push = k <= YOKE_LAYOUT_MAX_DEGREE ? b[k] : 0.0;
    end_x += x * power;
    end_v += v * power;
    force += push * power;
    const double next_v = (-c_wall * x - d_wall * v + push) / m / (double)(k + 1);
    x                   = v / (double)(k + 1);
    v                   = next_v;
    power *= length;
  }
  y[0] = end_x;
  y[1] = end_v;
  y[2] = (-c_wall * end_x - d_wall * end_v + force) / m;
}

/* Outputs at the end of the step for the nodes w of the multiplier. */
static void integrate(const run *r, const double *w, double y[2][N_Y]) {
  const yoke_past past = {r->n_past, r->past_s, r->past_u};
  memcpy(y, r->y_old, sizeof r->y_old);
  for (int p = 0; p < yoke_layout_n_pieces(&r->layout); ++p) {
    const double length = yoke_layout_break(&r->layout, p) - (p > 0 ? yoke_layout_break(&r->layout, p - 1) : 0.0);
    double       c[YOKE_LAYOUT_MAX_DEGREE + 1];
    yoke_layout_piece(&r->layout, &past, w, p, c);
    for (int s = 0; s < 2; ++s) {
      double b[YOKE_LAYOUT_MAX_DEGREE + 1], scale = s == 0 ? -1.0 : 1.0; /* gradient of the row; from s to time */
      for (int k = 0; k <= YOKE_LAYOUT_MAX_DEGREE; ++k, scale /= r->H) b[k] = scale * c[k];
      advance(mass[s], b, length * r->H, y[s]);
    }
  }
}

static void conditions(const run *r, const double *w, double y[2][N_Y], double *c) {
  const yoke_past past = {r->n_past, r->past_s, r->past_u};
  integrate(r, w, y);
  const double u                   = w[yoke_layout_n_nodes(&r->layout) - 1],
               u_dot               = yoke_layout_measure(&r->layout, &past, w).end_derivative / r->H,
               u_integral          = yoke_layout_measure(&r->layout, &past, w).integral * r->H;
  yoke_arena               scratch = {0};
  const yoke_coupling_view view    = {.H          = r->H,
                                      .u          = &u,
                                      .u_dot      = &u_dot,
                                      .u_integral = &u_integral,
                                      .y          = {y[0], y[1]},
                                      .y_old      = {r->y_old[0], r->y_old[1]},
                                      .scratch    = &scratch};
  r->ops->residual(r->self, &view, c);
  yoke_arena_free(&scratch);
}

/* Gauss with column pivots; A [n, n] and b are used up. */
static void solve(int n, double A[MAX_W][MAX_W], double *b) {
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int i = k + 1; i < n; ++i) {
      if (fabs(A[i][k]) > fabs(A[pivot][k])) pivot = i;
    }
    for (int j = 0; j < n; ++j) {
      const double swap = A[k][j];
      A[k][j]           = A[pivot][j];
      A[pivot][j]       = swap;
    }
    const double swap = b[k];
    b[k]              = b[pivot];
    b[pivot]          = swap;
    for (int i = k + 1; i < n; ++i) {
      const double factor = A[i][k] / A[k][k];
      for (int j = k; j < n; ++j) A[i][j] -= factor * A[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (int k = n - 1; k >= 0; --k) {
    for (int j = k + 1; j < n; ++j) b[k] -= A[k][j] * b[j];
    b[k] /= A[k][k];
  }
}

static void step(run *r) {
  const double shift    = 1000.0;
  const int    n        = yoke_layout_n_nodes(&r->layout);
  double       w[MAX_W] = {0.0}, c0[MAX_W], c1[MAX_W], A[MAX_W][MAX_W], y[2][N_Y];
  for (int j = 0; j < n; ++j) w[j] = r->past_u[0];
  conditions(r, w, y, c0);
  for (int pass = 0; pass < 3; ++pass) { /* the later passes remove rounding */
    for (int j = 0; j < n; ++j) {
      const double kept = w[j];
      w[j]              = kept + shift;
      conditions(r, w, y, c1);
      w[j] = kept;
      for (int i = 0; i < n; ++i) A[i][j] = (c1[i] - c0[i]) / shift;
    }
    solve(n, A, c0);
    for (int j = 0; j < n; ++j) w[j] -= c0[j];
    conditions(r, w, y, c0);
  }
  memcpy(r->y_old, y, sizeof y);
  for (int k = N_PAST - 1; k > 0; --k) r->past_u[k] = r->past_u[k - 1];
  r->past_u[0] = w[n - 1];
  if (r->n_past < N_PAST) ++r->n_past;
}

/* lambda in the sign of the row (minus that of Li and Lu) for the common motion x, v. */
static double exact_lambda(double x, double v) {
  return -mass[0] * mass[1] / (mass[0] + mass[1]) *
         ((c_wall / mass[0] - c_wall / mass[1]) * x + (d_wall / mass[0] - d_wall / mass[1]) * v);
}

static void begin(run *r, const yoke_coupling_settings *settings, int n_steps_per_second, double x, double v) {
  const yoke_coupling_def def = {.name        = "c",
                                 .formulation = yoke_formulation_find(settings->formulation),
                                 .joint       = &rigid_link,
                                 .shape       = {&yoke_shape_line, &yoke_shape_line},
                                 .settings    = settings};
  int                     n;
  memset(r, 0, sizeof *r);
  r->ops = def.formulation;
  assert_non_null(r->ops);
  assert_int_equal(r->ops->create(NULL, &def, &r->self), YOKE_OK);
  assert_non_null(r->ops->channels(r->self, &n));
  assert_int_equal(n, 1);
  r->H = 1.0 / n_steps_per_second;
  for (int s = 0; s < 2; ++s) {
    r->y_old[s][0] = x;
    r->y_old[s][1] = v;
  }
  r->past_u[0] = exact_lambda(x, v);
  r->n_past    = 1;
  for (int k = 0; k < N_PAST; ++k) r->past_s[k] = -k;
}

/* Full degree as soon as the history allows it. */
static void macro_step(run *r, int degree) {
  int k = degree;
  do r->ops->layout(r->self, 0, k--, &r->layout);
  while (yoke_layout_n_past(&r->layout) > r->n_past);
  assert_int_equal(r->ops->n_conditions(r->self), yoke_layout_n_nodes(&r->layout));
  step(r);
}

/* Exact step of the one oscillator of mass m1 + m2, z = (x, v). */
static void exact_step(double H, double z[2]) {
  double x = z[0], v = z[1], power = 1.0, end[2] = {0.0};
  for (int k = 0; k < N_TERMS; ++k, power *= H) {
    end[0] += x * power;
    end[1] += v * power;
    const double next_v = (-2.0 * c_wall * x - 2.0 * d_wall * v) / (mass[0] + mass[1]) / (double)(k + 1);
    x                   = v / (double)(k + 1);
    v                   = next_v;
  }
  memcpy(z, end, sizeof end);
}

/* Global errors of position [0] and velocity [1], normalised as in Li 3.34, over one second from x = 1 at rest; and the
 * largest |x2 - x1|, |v2 - v1|, |a2 - a1| at macro points. */
static void global_errors(const yoke_coupling_settings *settings, int degree, int n_steps, double error[2],
                          double drift[3]) {
  run r;
  begin(&r, settings, n_steps, 1.0, 0.0);
  double z[2] = {1.0, 0.0}, defect[2] = {0.0}, sum[2] = {0.0}, squares[2] = {0.0};
  drift[0] = drift[1] = drift[2] = 0.0;
  for (int N = 0; N < n_steps; ++N) {
    macro_step(&r, degree);
    exact_step(r.H, z);
    for (int q = 0; q < 2; ++q) {
      for (int s = 0; s < 2; ++s) defect[q] += pow(r.y_old[s][q] - z[q], 2.0);
      sum[q] += z[q];
      squares[q] += z[q] * z[q];
    }
    for (int l = 0; l < 3; ++l) drift[l] = fmax(drift[l], fabs(r.y_old[1][l] - r.y_old[0][l]));
  }
  for (int q = 0; q < 2; ++q) error[q] = sqrt(defect[q] / (squares[q] - sum[q] * sum[q] / n_steps));
  r.ops->destroy(r.self);
}

static yoke_coupling_settings baumgarte(int index, double beta, double gamma) {
  yoke_coupling_settings settings = own_start("baumgarte");
  own_set(&settings, "index", index);
  own_set(&settings, "beta", beta);
  own_set(&settings, "gamma", gamma);
  return settings;
}

typedef struct row {
  int    index;
  double mu; /* s */
  int    degree;
  double position, velocity; /* at H = 1/800 s; 0: unstable */
  double order[2];           /* from 1/800 to 1/1600 */
} row;

static const row baumgarte_rows[] = {
    {1, 0.00025, 0, 1.284e-06, 5.080e-05, {1.54, 2.00}},
    {1, 0.00025, 1, 0.0, 0.0, {0.0, 0.0}},
    {1, 0.00025, 2, 0.0, 0.0, {0.0, 0.0}},
    {2, 0.00025, 0, 8.029e-07, 5.073e-05, {2.00, 2.00}},
    {2, 0.00025, 1, 0.0, 0.0, {0.0, 0.0}},
    {2, 0.00025, 2, 0.0, 0.0, {0.0, 0.0}},
    {1, 0.001, 0, 1.090e-05, 5.314e-05, {1.23, 1.91}},
    {1, 0.001, 1, 3.878e-08, 8.103e-08, {1.99, 2.02}},
    {1, 0.001, 2, 2.045e-09, 8.979e-08, {3.00, 3.13}},
    {2, 0.001, 0, 3.207e-06, 5.107e-05, {2.00, 2.00}},
    {2, 0.001, 1, 0.0, 0.0, {0.0, 0.0}},
    {2, 0.001, 2, 0.0, 0.0, {0.0, 0.0}},
    {1, 0.005, 0, 2.047e-04, 2.196e-04, {1.06, 1.08}},
    {1, 0.005, 1, 9.524e-07, 1.244e-06, {2.00, 2.00}},
    {1, 0.005, 2, 2.679e-08, 1.869e-07, {2.98, 2.98}},
    {2, 0.005, 0, 1.553e-05, 5.255e-05, {2.00, 2.00}},
    {2, 0.005, 1, 0.0, 0.0, {0.0, 0.0}},
    {2, 0.005, 2, 0.0, 0.0, {0.0, 0.0}},
    {3, 0.0, 0, 2.349e-09, 5.425e-05, {4.00, 2.00}},
    {3, 0.0, 1, 0.0, 0.0, {0.0, 0.0}},
    {3, 0.0, 2, 0.0, 0.0, {0.0, 0.0}},
};

static void baumgarte_has_the_errors_and_orders_of_li(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof baumgarte_rows / sizeof baumgarte_rows[0]; ++i) {
    const row                   *x        = &baumgarte_rows[i];
    const yoke_coupling_settings settings = baumgarte(x->index, 2.0 * x->mu, x->mu * x->mu);
    double                       coarse[2], fine[2], drift[3];
    global_errors(&settings, x->degree, 800, coarse, drift);
    if (x->position == 0.0) {
      assert_false(coarse[0] < 1e3); /* also NaN */
      continue;
    }
    global_errors(&settings, x->degree, 1600, fine, drift);
    CHECK_NEAR(coarse[0] / x->position, 1.0, 0.01);
    CHECK_NEAR(coarse[1] / x->velocity, 1.0, 0.01);
    for (int q = 0; q < 2; ++q) CHECK_NEAR(log2(coarse[q] / fine[q]), x->order[q], 0.1);
  }
}

static void mu_stands_for_beta_and_gamma_in_steps(void **state) {
  (void)state;
  const yoke_coupling_settings by_values = baumgarte(1, 2.0 * 0.001, 0.001 * 0.001); /* H = 1/800 s */
  yoke_coupling_settings       by_mu     = own_start("baumgarte");
  own_set(&by_mu, "mu", 0.8);
  double a[2], b[2], drift[3];
  global_errors(&by_mu, 1, 800, a, drift);
  global_errors(&by_values, 1, 800, b, drift);
  CHECK_NEAR(a[0] / b[0], 1.0, 1e-5);
}

typedef struct stabilized_row {
  const char *formulation;
  int         degree;
  double      position, velocity; /* at H = 1/800 s */
  double      order;
  double      drift[3]; /* bounds of |g|, |g'|, |g''| */
} stabilized_row;

static const stabilized_row stabilized_rows[] = {
    {"stabilized-index-2", 0, 5.242e-10, 4.957e-10, 4.0, {1e-13, 1e-11, HUGE_VAL}},
    {"stabilized-index-2", 1, 1.225e-10, 6.626e-11, 4.0, {1e-13, 1e-11, HUGE_VAL}},
    {"stabilized-index-2", 2, 1.891e-10, 1.546e-10, 4.0, {1e-13, 1e-11, HUGE_VAL}},
    {"stabilized-index-1", 0, 7.931e-08, 7.476e-08, 3.0, {1e-13, 1e-11, 1e-8}},
    {"stabilized-index-1", 1, 7.739e-11, 7.525e-11, 4.0, {1e-13, 1e-11, 1e-8}},
};

static void stabilized_formulations_have_the_errors_and_orders_of_li(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof stabilized_rows / sizeof stabilized_rows[0]; ++i) {
    const stabilized_row        *x        = &stabilized_rows[i];
    const yoke_coupling_settings settings = own_start(x->formulation);
    double                       coarse[2], fine[2], drift[3];
    global_errors(&settings, x->degree, 400, coarse, drift);
    global_errors(&settings, x->degree, 800, fine, drift);
    CHECK_NEAR(fine[0] / x->position, 1.0, 0.01);
    CHECK_NEAR(fine[1] / x->velocity, 1.0, 0.01);
    for (int q = 0; q < 2; ++q) CHECK_NEAR(log2(coarse[q] / fine[q]), x->order, 0.1);
    for (int l = 0; l < 3; ++l) CHECK_BELOW(drift[l], x->drift[l]);
  }
}

static void cubic_multipliers_and_other_nodes_keep_order_four(void **state) {
  (void)state;
  for (int degree = 1; degree <= 3; degree += 2) {
    yoke_coupling_settings settings = own_start("stabilized-index-1");
    double                 error[2][2], drift[3];
    own_set2(&settings, "nodes", 0.25, 0.6);
    global_errors(&settings, degree, 100, error[0], drift);
    global_errors(&settings, degree, 200, error[1], drift);
    for (int q = 0; q < 2; ++q) assert_true(log2(error[0][q] / error[1][q]) > 3.8);
    CHECK_BELOW(error[1][0], 1e-6);
  }
}

typedef struct end_row {
  int    index;
  double beta, gamma;
  int    degree;
  double end[5]; /* x1, v1, x2 - x1, v2 - v1, lambda */
} end_row;

static const end_row end_rows[] = {
    {1, 2e-3, 1e-6, 0, {1.72149991e-01, 1.77916011e+01, -5.376442e-06, 7.501735e-04, 114.103896}},
    {1, 2e-3, 1e-6, 1, {1.72151454e-01, 1.77922123e+01, 1.336417e-08, 3.329059e-07, 116.700540}},
    {1, 2e-1, 1e-2, 0, {1.76510079e-01, 1.79059629e+01, 4.611021e-03, -1.823397e-01, 115.470234}},
    {2, 2e-3, 0.0, 0, {1.72151097e-01, 1.77917373e+01, -1.341505e-06, 6.707526e-04, 114.105063}},
    {3, 0.0, 0.0, 0, {1.72151474e-01, 1.77924291e+01, 0.0, -3.255869e-04, 115.400144}},
};

static void baumgarte_ends_where_lu_ends(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof end_rows / sizeof end_rows[0]; ++i) {
    const end_row               *x        = &end_rows[i];
    const yoke_coupling_settings settings = baumgarte(x->index, x->beta, x->gamma);
    run                          r;
    begin(&r, &settings, 1000, 0.0, 100.0);
    for (int N = 0; N < 500; ++N) macro_step(&r, x->degree);
    const double *y1 = r.y_old[0], *y2 = r.y_old[1];
    const double  end[5] = {y1[0], y1[1], y2[0] - y1[0], y2[1] - y1[1], -r.past_u[0]};
    /* Index 3: v2 - v1 changes sign in every step without decay and gathers rounding. */
    const double  relative = x->index == 3 ? 1e-4 : 1e-6;
    for (int k = 0; k < 5; ++k) CHECK_NEAR(end[k], x->end[k], relative * fabs(x->end[k]) + 1e-12);
    r.ops->destroy(r.self);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(baumgarte_has_the_errors_and_orders_of_li),
      cmocka_unit_test(mu_stands_for_beta_and_gamma_in_steps),
      cmocka_unit_test(stabilized_formulations_have_the_errors_and_orders_of_li),
      cmocka_unit_test(cubic_multipliers_and_other_nodes_keep_order_four),
      cmocka_unit_test(baumgarte_ends_where_lu_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
