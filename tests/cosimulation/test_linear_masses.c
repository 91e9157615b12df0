/* Schneider's linear cases with linear bodies on both sides, whose mass matrices have blocks between coupled and inner freedoms: kinematic
 * coupling by one row and by three grows or decays, step by step, as the recursion of (36), (41), (43) and (54) does. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../said.h"
#include "cosimulate.h"

enum { MOST = 5, MOST_ROWS = 3, MOST_POINTS = 3 };

/* Freedoms of one side, the coupled ones first, and their masses [n, n]. */
typedef struct side {
  int    n;
  double m[MOST * MOST];
} side;

typedef struct sides {
  int  rows;
  side R, F;
} sides;

static const sides one_row    = {1, {2, {2.0, 0.9, 0.9, 1.0}}, {2, {0.5, 0.3, 0.3, 0.5}}},
                   three_rows = {3,
                                 {5, {2.0,  0.2,  -0.1, 0.7, 0.2,  /**/
                                      0.2,  3.0,  0.3,  0.1, -0.8, /**/
                                      -0.1, 0.3,  2.5,  0.5, 0.4,  /**/
                                      0.7,  0.1,  0.5,  1.0, 0.1,  /**/
                                      0.2,  -0.8, 0.4,  0.1, 0.9}},
                                 {4,
                                  {0.6, 0.1, 0.05, 0.3,  /**/
                                   0.1, 0.5, -0.1, -0.1, /**/
                                   0.05, -0.1, 0.7, 0.2, /**/
                                   0.3, -0.1, 0.2, 0.5}}};

static side scaled(const side *s, double scale) {
  side out = *s;
  for (int i = 0; i < s->n * s->n; ++i) out.m[i] *= scale;
  return out;
}

/* ---- the recursion ---- */

/* A^-1 of a positive matrix [n, n], rows in any place of `stride`. */
static void inverse(int n, const double *A, int stride, double *out) {
  double a[MOST * MOST];
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) a[n * i + j] = A[stride * i + j];
    for (int j = 0; j < n; ++j) out[n * i + j] = i == j ? 1.0 : 0.0;
  }
  for (int k = 0; k < n; ++k) {
    const double pivot = a[n * k + k];
    for (int j = 0; j < n; ++j) {
      a[n * k + j] /= pivot;
      out[n * k + j] /= pivot;
    }
    for (int i = 0; i < n; ++i) {
      const double factor = a[n * i + k];
      for (int j = 0; j < n && i != k; ++j) {
        a[n * i + j] -= factor * a[n * k + j];
        out[n * i + j] -= factor * out[n * k + j];
      }
    }
  }
}

/* The block of the coupled freedoms, [rows, rows], of M^-1, or the inverse of that block of M. */
static void compliance(const side *s, int rows, bool is_local, double *out) {
  double all[MOST * MOST];
  if (is_local) {
    inverse(rows, s->m, s->n, out);
    return;
  }
  inverse(s->n, s->m, s->n, all);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < rows; ++j) out[rows * i + j] = all[s->n * i + j];
  }
}

static void multiply(int n, const double *A, const double *B, double *C) {
  for (int i = 0; i < n * n; ++i) {
    C[i] = 0.0;
    for (int k = 0; k < n; ++k) C[i] += A[i / n * n + k] * B[k * n + i % n];
  }
}

/* lambda' = L lambda~ + B beta~, beta' = W lambda~; acceleration beta of R, tilde: extrapolated. */
typedef struct recursion {
  int    n, r, s;
  double L[MOST_ROWS * MOST_ROWS], B[MOST_ROWS * MOST_ROWS], W[MOST_ROWS * MOST_ROWS];
} recursion;

static recursion recursion_of(const sides *c, bool is_reduced, int r, int s) {
  const int n   = c->rows;
  recursion out = {.n = n, .r = r, .s = s};
  double    W_F[9], w_R[9], w_F[9], sum[9], Q[9], M_F[9];
  compliance(&c->R, n, false, out.W);
  compliance(&c->F, n, false, W_F);
  inverse(n, W_F, n, M_F); /* M_co - M_ic M_in^-1 M_ci */
  if (!is_reduced) {       /* (43) */
    for (int i = 0; i < n * n; ++i) out.B[i] = -M_F[i];
    return out;
  }
  compliance(&c->R, n, true, w_R);
  compliance(&c->F, n, true, w_F);
  for (int i = 0; i < n * n; ++i) sum[i] = w_R[i] + w_F[i];
  inverse(n, sum, n, Q);
  multiply(n, w_F, M_F, sum);
  for (int i = 0; i < n * n; ++i) sum[i] = (i % (n + 1) == 0 ? 1.0 : 0.0) - sum[i]; /* w_F M_ic M_in^-1 M_ci, (41a) */
  multiply(n, Q, sum, out.B);
  for (int i = 0; i < n * n; ++i) sum[i] = w_R[i] - out.W[i]; /* w_R M_ic times the inner acceleration of R, (41b) */
  multiply(n, Q, sum, out.L);
  return out;
}

static void extrapolate(int n, int degree, double past[MOST_POINTS][MOST_ROWS], double *out) {
  static const double weight[3][3] = {{1, 0, 0}, {2, -1, 0}, {3, -3, 1}};
  for (int i = 0; i < n; ++i) {
    out[i] = 0.0;
    for (int p = 0; p <= degree; ++p) out[i] += weight[degree][p] * past[p][i];
  }
}

static void push(int n, double past[MOST_POINTS][MOST_ROWS], const double *value) {
  for (int p = MOST_POINTS - 1; p > 0; --p) memcpy(past[p], past[p - 1], sizeof past[p]);
  memcpy(past[0], value, (size_t)n * sizeof *value);
}

/* Mean growth per step. */
static double radius(const recursion *c) {
  enum { STEPS = 6000, FIRST = 1000 };
  const int n                              = c->n;
  double    lambda[MOST_POINTS][MOST_ROWS] = {{1.0, -0.4, 0.3}, {0.2, 0.5, -0.7}, {-0.6, 0.1, 0.9}},
         beta[MOST_POINTS][MOST_ROWS] = {{0.3, 0.8, -0.2}, {-0.5, 0.4, 0.6}, {0.7, -0.9, 0.1}}, sum = 0.0;
  for (int step = 0; step < STEPS; ++step) {
    double L[MOST_ROWS], b[MOST_ROWS], next[MOST_ROWS], a[MOST_ROWS], size = 0.0;
    extrapolate(n, c->r, lambda, L);
    extrapolate(n, c->s, beta, b);
    for (int i = 0; i < n; ++i) {
      next[i] = a[i] = 0.0;
      for (int j = 0; j < n; ++j) {
        next[i] += c->L[n * i + j] * L[j] + c->B[n * i + j] * b[j];
        a[i] += c->W[n * i + j] * L[j];
      }
    }
    push(n, lambda, next);
    push(n, beta, a);
    for (int p = 0; p < MOST_POINTS; ++p) {
      for (int i = 0; i < n; ++i) size = fmax(size, fmax(fabs(lambda[p][i]), fabs(beta[p][i])));
    }
    if (step >= FIRST) sum += log(size);
    for (int p = 0; p < MOST_POINTS; ++p) {
      for (int i = 0; i < n; ++i) {
        lambda[p][i] /= size;
        beta[p][i] /= size;
      }
    }
  }
  return exp(sum / (STEPS - FIRST));
}

static double predicted(const sides *c, double scale, bool is_reduced, int r, int s) {
  const sides     at   = {c->rows, scaled(&c->R, scale), c->F};
  const recursion loop = recursion_of(&at, is_reduced, r, s);
  return radius(&loop);
}

/* Scale of R's masses above which nothing grows. */
static double threshold(const sides *c, bool is_reduced, int r, int s) {
  double low = 1e-3, high = 1e3;
  assert_true(predicted(c, low, is_reduced, r, s) > 1.0 && predicted(c, high, is_reduced, r, s) < 1.0);
  for (int k = 0; k < 30; ++k) {
    const double middle                                            = sqrt(low * high);
    *(predicted(c, middle, is_reduced, r, s) < 1.0 ? &high : &low) = middle;
  }
  return sqrt(low * high);
}

/* ---- the same as a model ---- */

enum { TEXT = 4096 };

static int write_matrix(char *text, size_t size, const side *s) {
  int n = 0;
  for (int i = 0; i < s->n; ++i) {
    for (int j = 0; j < s->n; ++j)
      n += snprintf(text + n, size - (size_t)n, "%s%.17g", j > 0 ? ", " : i > 0 ? "], [" : "[[", s->m[s->n * i + j]);
  }
  return n + snprintf(text + n, size - (size_t)n, "]]");
}

static void write_body(char *text, size_t size, const char *name, const side *s, int rows, const char *start) {
  int n = snprintf(text, size, "  %s: {kind: linear, mass: ", name);
  n += write_matrix(text + n, size - (size_t)n, s);
  n += snprintf(text + n, size - (size_t)n, ",\n      stiffness: [");
  for (int i = 0; i < s->n; ++i) {
    for (int j = 0; j < s->n; ++j)
      n += snprintf(text + n, size - (size_t)n, "%s%g",
                    j > 0   ? ", "
                    : i > 0 ? "], ["
                            : "[",
                    i == j            ? 60.0 + 10.0 * i
                    : abs(i - j) == 1 ? -20.0
                                      : 0.0);
  }
  n += snprintf(text + n, size - (size_t)n, "]], damping: [");
  for (int i = 0; i < s->n; ++i) n += snprintf(text + n, size - (size_t)n, "%s0.1", i > 0 ? ", " : "");
  n += snprintf(text + n, size - (size_t)n, "],\n      %s, frames: {co: {x: 1%s}}}\n", start,
                rows == 3 ? ", y: 2, z: 3" : "");
  assert_true(n < (int)size);
}

/* Springs, dampers and starts are the same whatever the masses are. */
static void write_model(const sides *c, char text[TEXT]) {
  int n = snprintf(text, TEXT, "yoke: 1\nt_end: 1\nbodies:\n");
  write_body(text + n, TEXT - (size_t)n, "r", &c->R, c->rows,
             c->rows == 3 ? "x: [0.1, -0.05, 0.08, 0.03, 0.02], v: [0.5, 0.2, -0.3, -0.4, 0.6]"
                          : "x: [0.1, 0.03], v: [0.5, -0.4]");
  n = (int)strlen(text);
  write_body(text + n, TEXT - (size_t)n, "f", &c->F, c->rows,
             c->rows == 3 ? "x: [0.1, -0.05, 0.08, -0.05], v: [0.5, 0.2, -0.3, -1]" : "x: [0.1, -0.05], v: [0.5, -1]");
  n = (int)strlen(text);
  n += snprintf(text + n, TEXT - (size_t)n,
                "connections: {joint: {kind: %s, between: [r.co, f.co]}}\n"
                "split: {R: [r], F: [f]}\n"
                "cosimulation: {scheme: explicit, step: 1e-5, joint_tolerance: 1, divergence: bear,\n"
                "               couplings: {formulation: kinematic, prescribed: F}}\n"
                "solvers: {default: %s}\n",
                c->rows == 3 ? "spherical" : "fixed",
                c->rows == 3 ? "{kind: dop853, rtol: 1e-12, atol: 1e-14}" : "exact");
  assert_true(n < TEXT);
}

/* ---- growth of runs ---- */

enum { FIRST_STEP = 20, WINDOW = 40, LAST_STEP = 180, N_STEPS = LAST_STEP + WINDOW + 3 };

/* Largest third difference of a multiplier in two windows of steps. */
typedef struct watch {
  const cosim *c;
  int          n, rows;
  double       last[3][MOST_ROWS], window[2];
} watch;

static void look(void *user, double t, const double *q, const double *v) {
  watch    *w     = user;
  const int first = ++w->n - 3;
  (void)t, (void)q, (void)v;
  for (int i = 0; i < w->rows; ++i) {
    const double now = yoke_graph_channel(yoke_system_graph(w->c->system), 0, i), /* lambda comes first */
        third        = fabs(now - 3.0 * (w->last[0][i] - w->last[1][i]) - w->last[2][i]);
    if (first >= FIRST_STEP && first < FIRST_STEP + WINDOW) w->window[0] = fmax(w->window[0], third);
    if (first >= LAST_STEP && first < LAST_STEP + WINDOW) w->window[1] = fmax(w->window[1], third);
    for (int j = 2; j > 0; --j) w->last[j][i] = w->last[j - 1][i];
    w->last[0][i] = now;
  }
}

/* Growth per step; `is_warned`: of a method that is not zero-stable. */
static double observed(const sides *c, double scale, const char *force, int r, int s, bool *is_warned) {
  const sides at = {c->rows, scaled(&c->R, scale), c->F};
  char        text[TEXT], sets[300];
  cosim       run;
  watch       w = {.c = &run, .rows = c->rows};
  write_model(&at, text);
  snprintf(sets, sizeof sets,
           "cosimulation.couplings.force=%s;cosimulation.couplings.order_force=%d;"
           "cosimulation.couplings.order_motion=%d",
           force, r, s);
  cosim_open(&run, text, sets);
  cosim_expect(&run, YOKE_OK);
  *is_warned = said(run.ctx, "zero-stable");
  cosim_run(&run, N_STEPS * 1e-5, look, &w);
  cosim_expect(&run, YOKE_OK);
  cosim_close(&run);
  assert_int_equal(w.n, N_STEPS);
  return pow(w.window[1] / w.window[0], 1.0 / (LAST_STEP - FIRST_STEP));
}

static const int degrees[][2] = {{0, 0}, {0, 1}, {1, 1}, {2, 2}};
enum { N_DEGREES = sizeof degrees / sizeof degrees[0] };

/* A tenth below and above the threshold. */
static void check_growth(const sides *c, const char *force, const double *expected) {
  for (int k = 0; k < N_DEGREES; ++k) {
    const int    r = degrees[k][0], s = degrees[k][1];
    const bool   is_reduced = strcmp(force, "reduced") == 0;
    const double limit      = threshold(c, is_reduced, r, s);
    print_message("%d rows, %s, degrees %d %d: R at %.6g;", c->rows, force, r, s, limit);
    for (int i = 0; i < 2; ++i) {
      bool         is_warned;
      const double scale = (i == 0 ? 0.9 : 1.1) * limit, wanted = predicted(c, scale, is_reduced, r, s),
                   found = observed(c, scale, force, r, s, &is_warned);
      print_message(" %.5f, predicted %.5f;", found, wanted);
      CHECK_NEAR(found, wanted, 5e-3);
      assert_true((found > 1.0) == (i == 0));
      assert_int_equal(is_warned, i == 0);
    }
    print_message("\n");
    if (expected != NULL) CHECK_NEAR(limit, expected[k], 2e-3 * expected[k]);
  }
}

/* Largest eigenvalue of M_F W_R: how many times too light R is in the worst direction, for constant values. */
static double worst_direction(const sides *c) {
  const recursion loop = recursion_of(c, false, 0, 0);
  double          x[3] = {0.6, -0.5, 0.7}, y[3], z[3], size = 0.0;
  for (int step = 0; step < 500; ++step) {
    size = 0.0;
    for (int i = 0; i < loop.n; ++i) {
      y[i] = 0.0;
      for (int j = 0; j < loop.n; ++j) y[i] += loop.W[loop.n * i + j] * x[j];
    }
    for (int i = 0; i < loop.n; ++i) {
      z[i] = 0.0;
      for (int j = 0; j < loop.n; ++j) z[i] -= loop.B[loop.n * i + j] * y[j];
      size = fmax(size, fabs(z[i]));
    }
    for (int i = 0; i < loop.n; ++i) x[i] = z[i] / size;
  }
  return size;
}

static void approximate_growth_is_that_of_the_effective_masses(const sides *c) {
  const double root = 3.0 + 2.0 * sqrt(3.0), ratio[N_DEGREES] = {1.0, 1.0 + sqrt(2.0), root, 31.639861};
  double       expected[N_DEGREES];
  for (int k = 0; k < N_DEGREES; ++k) expected[k] = ratio[k] * worst_direction(c);
  check_growth(c, "approximate", expected);
}

/* (43), (54): limits 1, 2.4142, 6.4641 and 31.64 of the ratio of effective masses. */
static void approximate_forces_of_one_row_grow_as_the_effective_masses_say(void **state) {
  (void)state;
  approximate_growth_is_that_of_the_effective_masses(&one_row);
}

static void approximate_forces_of_three_rows_grow_as_the_worst_direction_says(void **state) {
  (void)state;
  approximate_growth_is_that_of_the_effective_masses(&three_rows);
}

/* (41b): R's inner freedoms alone make reduced forces grow, where b^2/(ac) of its masses (a, b; b, c) is large. */
static void reduced_forces_of_one_row_grow_by_the_inner_masses_of_r(void **state) {
  (void)state;
  const sides c = {1, {2, {2.0, 1.35, 1.35, 1.0}}, {2, {0.5, 0.0, 0.0, 0.5}}};
  check_growth(&c, "reduced", NULL);
}

static void reduced_forces_of_three_rows_grow_by_the_inner_masses_of_both_sides(void **state) {
  (void)state;
  check_growth(&three_rows, "reduced", NULL);
}

/* ---- exact forces ---- */

static double error_at(const char *text, const char *sets, double t) {
  static const char *const names[] = {"r.co.x", "f.co.x", "total.energy"};
  double                   error   = 0.0;
  cosim                    split   = cosim_done(text, sets, t),
        whole                      = cosim_done_monolithic(text, "solvers.default={kind: dop853, rtol: 1e-10}", t);
  for (int i = 0; i < 3; ++i) error = fmax(error, fabs(cosim_value(&split, names[i]) - cosim_value(&whole, names[i])));
  cosim_close(&split);
  cosim_close(&whole);
  return error;
}

/* A hundredth of the lightest R that approximate forces of degree 2 bear. */
static void exact_forces_bear_any_masses_of_r(void **state) {
  (void)state;
  const sides c = {3, scaled(&three_rows.R, 0.13), three_rows.F};
  char        text[TEXT];
  double      error[3];
  write_model(&c, text);
  for (int k = 0; k < 3; ++k) {
    char sets[200];
    snprintf(sets, sizeof sets,
             "cosimulation.step=%g;cosimulation.order=2;cosimulation.start=exact;solvers.default.rtol=1e-10",
             2e-3 / (1 << k));
    error[k] = error_at(text, sets, 0.2);
  }
  print_message("%g %g %g\n", error[0], error[1], error[2]);
  CHECK_ORDER(error, 3, 3.0, 0.2);
}

static void orders_are_kept_with_inner_masses_on_both_sides(void **state) {
  (void)state;
  static const char *const force[] = {"exact", "reduced", "approximate"};
  for (int rows = 1; rows <= 3; rows += 2) {
    const sides *at = rows == 1 ? &one_row : &three_rows;
    const sides  c  = {at->rows, scaled(&at->R, 20.0), at->F};
    char         text[TEXT];
    write_model(&c, text);
    for (int i = 0; i < 3; ++i) {
      double error[2];
      for (int k = 0; k < 2; ++k) {
        char sets[200];
        snprintf(sets, sizeof sets,
                 "cosimulation.couplings.force=%s;cosimulation.order=1;cosimulation.step=%g;"
                 "solvers.default={kind: dop853, rtol: 1e-10}",
                 force[i], 2e-3 / (1 << k));
        error[k] = error_at(text, sets, 0.2);
      }
      print_message("%d %s %g %g\n", rows, force[i], error[0], error[1]);
      CHECK_ORDER(error, 2, 2.0, 0.1);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(approximate_forces_of_one_row_grow_as_the_effective_masses_say),
      cmocka_unit_test(approximate_forces_of_three_rows_grow_as_the_worst_direction_says),
      cmocka_unit_test(reduced_forces_of_one_row_grow_by_the_inner_masses_of_r),
      cmocka_unit_test(reduced_forces_of_three_rows_grow_by_the_inner_masses_of_both_sides),
      cmocka_unit_test(exact_forces_bear_any_masses_of_r),
      cmocka_unit_test(orders_are_kept_with_inner_masses_on_both_sides),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
