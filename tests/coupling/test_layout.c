/* Layouts: nodes, pieces, end derivative and integral (Li 4.1), on grids of any spacing. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "coupling/layout.h"

enum { N_PAST = 5 };

/* Past of a polynomial sum c_k s^k on a non-equidistant grid. */
static const double past_times[N_PAST] = {0.0, -0.7, -1.9, -2.4, -3.8};

static double polynomial(const double *c, int degree, double s) {
  double value = 0.0;
  for (int k = degree; k >= 0; --k) value = value * s + c[k];
  return value;
}

static double polynomial_derivative(const double *c, int degree, double s) {
  double value = 0.0;
  for (int k = degree; k > 0; --k) value = value * s + (double)k * c[k];
  return value;
}

static double polynomial_integral(const double *c, int degree) {
  double value = 0.0;
  for (int k = 0; k <= degree; ++k) value += c[k] / (double)(k + 1);
  return value;
}

static const double coefficients[] = {0.7, -1.3, 2.1, 0.4, -0.9, 0.3};

typedef struct sample {
  double past[N_PAST], w[YOKE_LAYOUT_MAX_NODES];
} sample;

static yoke_past sample_polynomial(const yoke_layout *layout, int degree, sample *x) {
  for (int i = 0; i < N_PAST; ++i) x->past[i] = polynomial(coefficients, degree, past_times[i]);
  for (int j = 0; j < yoke_layout_n_nodes(layout); ++j) {
    x->w[j] = polynomial(coefficients, degree, yoke_layout_node(layout, j));
  }
  return (yoke_past){N_PAST, past_times, x->past};
}

static yoke_layout half(int degree) {
  return (yoke_layout){.kind = YOKE_LAYOUT_HALF, .degree = degree, .inner = {0.5, 0.0}};
}

static yoke_layout third(int degree) {
  return (yoke_layout){.kind = YOKE_LAYOUT_THIRD, .degree = degree, .inner = {1.0 / 3.0, 2.0 / 3.0}};
}

static void every_layout_has_the_nodes_pieces_and_past_of_its_table(void **state) {
  (void)state;
  const struct {
    yoke_layout layout;
    int         nodes, pieces, past;
  } table[] = {
      {{.kind = YOKE_LAYOUT_END, .degree = 0}, 1, 1, 0},
      {{.kind = YOKE_LAYOUT_END, .degree = 1}, 1, 1, 1},
      {{.kind = YOKE_LAYOUT_END, .degree = 5}, 1, 1, 5},
      {half(0), 2, 2, 0},
      {half(1), 2, 2, 1},
      {half(2), 2, 1, 1},
      {half(3), 2, 1, 2},
      {half(4), 2, 1, 3},
      {third(0), 3, 3, 0},
      {third(1), 3, 3, 1},
      {third(3), 3, 1, 1},
  };
  for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
    const yoke_layout *layout = &table[i].layout;
    assert_int_equal(yoke_layout_n_nodes(layout), table[i].nodes);
    assert_int_equal(yoke_layout_n_pieces(layout), table[i].pieces);
    assert_int_equal(yoke_layout_n_past(layout), table[i].past);
    assert_true(yoke_layout_node(layout, table[i].nodes - 1) == 1.0);
    assert_true(yoke_layout_break(layout, table[i].pieces - 1) == 1.0);
  }
}

static void end_layout_reproduces_polynomials_of_its_degree_on_uneven_grids(void **state) {
  (void)state;
  for (int k = 0; k <= YOKE_LAYOUT_MAX_DEGREE; ++k) {
    const yoke_layout layout = {.kind = YOKE_LAYOUT_END, .degree = k};
    sample            x;
    const yoke_past   past = sample_polynomial(&layout, k, &x);
    double            c[YOKE_LAYOUT_MAX_DEGREE + 1];
    yoke_layout_piece(&layout, &past, x.w, 0, c);
    for (int i = 0; i <= YOKE_LAYOUT_MAX_DEGREE; ++i) CHECK_NEAR(c[i], i <= k ? coefficients[i] : 0.0, 1e-13);
    CHECK_NEAR(yoke_layout_measure(&layout, &past, x.w).end_derivative, polynomial_derivative(coefficients, k, 1.0),
               1e-12);
    CHECK_NEAR(yoke_layout_measure(&layout, &past, x.w).integral, polynomial_integral(coefficients, k), 1e-13);
  }
}

static void half_step_polynomials_and_third_step_cubic_are_exact(void **state) {
  (void)state;
  const yoke_layout layouts[] = {
      half(2), half(3), half(4), third(3), {.kind = YOKE_LAYOUT_THIRD, .degree = 3, .inner = {0.2, 0.85}}};
  for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; ++i) {
    const int       degree = layouts[i].degree;
    sample          x;
    const yoke_past past = sample_polynomial(&layouts[i], degree, &x);
    CHECK_NEAR(yoke_layout_measure(&layouts[i], &past, x.w).end_derivative,
               polynomial_derivative(coefficients, degree, 1.0), 1e-13);
    CHECK_NEAR(yoke_layout_measure(&layouts[i], &past, x.w).integral, polynomial_integral(coefficients, degree), 1e-14);
  }
}

static void half_step_end_derivative_and_integral_have_the_weights_of_li(void **state) {
  (void)state;
  const double    u0 = 0.3, w[2] = {-0.8, 1.7}, s0 = 0.0;
  const yoke_past past          = {1, &s0, &u0};
  const double    derivative[3] = {2.0 * (w[1] - w[0]), 2.0 * (w[1] - w[0]), 3.0 * w[1] - 4.0 * w[0] + u0};
  const double    integral[3]   = {0.5 * (w[0] + w[1]), 0.25 * u0 + 0.5 * w[0] + 0.25 * w[1],
                                   (u0 + 4.0 * w[0] + w[1]) / 6.0};
  for (int k = 0; k <= 2; ++k) {
    const yoke_layout layout = half(k);
    CHECK_NEAR(yoke_layout_measure(&layout, &past, w).end_derivative, derivative[k], 1e-14);
    CHECK_NEAR(yoke_layout_measure(&layout, &past, w).integral, integral[k], 1e-15);
  }
}

static void end_layout_of_degree_0_holds_the_new_value_and_has_no_slope(void **state) {
  (void)state;
  const yoke_layout layout = {.kind = YOKE_LAYOUT_END, .degree = 0};
  const yoke_past   past   = {0, NULL, NULL};
  const double      w      = 4.2;
  double            c[YOKE_LAYOUT_MAX_DEGREE + 1];
  yoke_layout_piece(&layout, &past, &w, 0, c);
  assert_true(c[0] == 4.2 && c[1] == 0.0);
  assert_true(yoke_layout_measure(&layout, &past, &w).end_derivative == 0.0);
}

static void piecewise_linear_layouts_join_their_nodes(void **state) {
  (void)state;
  const yoke_layout layouts[] = {half(1), third(1)};
  const double      u0 = -0.4, w[3] = {1.1, 0.2, -2.0}, s0 = 0.0;
  const yoke_past   past = {1, &s0, &u0};
  for (int i = 0; i < 2; ++i) {
    double start = 0.0, left = u0;
    for (int p = 0; p < yoke_layout_n_pieces(&layouts[i]); ++p) {
      double       c[YOKE_LAYOUT_MAX_DEGREE + 1];
      const double end = yoke_layout_break(&layouts[i], p);
      yoke_layout_piece(&layouts[i], &past, w, p, c);
      CHECK_NEAR(c[0], left, 1e-15);
      CHECK_NEAR(c[0] + c[1] * (end - start), w[p], 1e-15);
      start = end;
      left  = w[p];
    }
  }
}

static void derivatives_by_node_values_are_the_changes_they_cause(void **state) {
  (void)state;
  const yoke_layout layouts[] = {{.kind = YOKE_LAYOUT_END, .degree = 0},
                                 {.kind = YOKE_LAYOUT_END, .degree = 4},
                                 half(0),
                                 half(1),
                                 half(2),
                                 half(4),
                                 third(0),
                                 third(1),
                                 third(3)};
  for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; ++i) {
    sample                     x;
    yoke_layout_measures       by_w[YOKE_LAYOUT_MAX_NODES];
    const yoke_past            past   = sample_polynomial(&layouts[i], 3, &x);
    const yoke_layout_measures before = yoke_layout_measure(&layouts[i], &past, x.w);
    yoke_layout_slopes(&layouts[i], &past, by_w);
    for (int j = 0; j < yoke_layout_n_nodes(&layouts[i]); ++j) {
      x.w[j] += 1.0; /* linear: any increment is exact */
      const yoke_layout_measures after = yoke_layout_measure(&layouts[i], &past, x.w);
      CHECK_NEAR(after.end_derivative - before.end_derivative, by_w[j].end_derivative, 1e-12);
      CHECK_NEAR(after.integral - before.integral, by_w[j].integral, 1e-12);
      x.w[j] -= 1.0;
    }
  }
}

static void end_piece_has_the_bits_of_the_piece_of_an_end_layout(void **state) {
  (void)state;
  for (int degree = 0; degree <= YOKE_LAYOUT_MAX_DEGREE; ++degree) {
    const yoke_layout layout = {.kind = YOKE_LAYOUT_END, .degree = degree};
    sample            x;
    const yoke_past   past = sample_polynomial(&layout, YOKE_LAYOUT_MAX_DEGREE, &x);
    double            c[YOKE_LAYOUT_MAX_DEGREE + 1], expected[YOKE_LAYOUT_MAX_DEGREE + 1];
    yoke_layout_piece(&layout, &past, x.w, 0, expected);
    yoke_layout_end_piece(degree, past.s, past.u, x.w[0], c);
    assert_memory_equal(c, expected, ((size_t)degree + 1) * sizeof *c);
  }
}

static void lagrange_weights_extrapolate_polynomials(void **state) {
  (void)state;
  double weight[N_PAST], value = 0.0;
  yoke_lagrange_weights(N_PAST, past_times, 1.0, weight);
  for (int i = 0; i < N_PAST; ++i) value += weight[i] * polynomial(coefficients, N_PAST - 1, past_times[i]);
  CHECK_NEAR(value, polynomial(coefficients, N_PAST - 1, 1.0), 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_layout_has_the_nodes_pieces_and_past_of_its_table),
      cmocka_unit_test(end_layout_reproduces_polynomials_of_its_degree_on_uneven_grids),
      cmocka_unit_test(half_step_polynomials_and_third_step_cubic_are_exact),
      cmocka_unit_test(half_step_end_derivative_and_integral_have_the_weights_of_li),
      cmocka_unit_test(end_layout_of_degree_0_holds_the_new_value_and_has_no_slope),
      cmocka_unit_test(piecewise_linear_layouts_join_their_nodes),
      cmocka_unit_test(derivatives_by_node_values_are_the_changes_they_cause),
      cmocka_unit_test(end_piece_has_the_bits_of_the_piece_of_an_end_layout),
      cmocka_unit_test(lagrange_weights_extrapolate_polynomials),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
