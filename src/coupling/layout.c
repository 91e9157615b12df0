#include "coupling/layout.h"

#include "base/simd.h"
#include <stdbool.h>
#include <string.h>

enum { N_COEFFICIENTS = YOKE_LAYOUT_MAX_DEGREE + 1 };

int yoke_layout_n_nodes(const yoke_layout *layout) {
  return layout->kind == YOKE_LAYOUT_END ? 1 : layout->kind == YOKE_LAYOUT_HALF ? 2 : 3;
}

double yoke_layout_node(const yoke_layout *layout, int j) {
  return j == yoke_layout_n_nodes(layout) - 1 ? 1.0 : layout->inner[j];
}

/* Degrees 0 and 1 of the layouts with inner nodes are piecewise, all else is one polynomial. */
static bool is_piecewise(const yoke_layout *layout) {
  return layout->kind != YOKE_LAYOUT_END && layout->degree < 2;
}

int yoke_layout_n_pieces(const yoke_layout *layout) {
  return is_piecewise(layout) ? yoke_layout_n_nodes(layout) : 1;
}

double yoke_layout_break(const yoke_layout *layout, int p) {
  return is_piecewise(layout) ? yoke_layout_node(layout, p) : 1.0;
}

int yoke_layout_n_past(const yoke_layout *layout) {
  if (layout->kind == YOKE_LAYOUT_END) return layout->degree;
  if (layout->kind == YOKE_LAYOUT_HALF && layout->degree > 2) return layout->degree - 1;
  return layout->degree > 0 ? 1 : 0;
}

/* n is a constant where this is unrolled. */
static YOKE_ALWAYS_INLINE void lagrange_weights(int n, const double *s, double at, double *weight) {
  for (int i = 0; i < n; ++i) {
    double product = 1.0;
    for (int j = 0; j < n; ++j) {
      if (j != i) product *= (at - s[j]) / (s[i] - s[j]);
    }
    weight[i] = product;
  }
}

void yoke_lagrange_weights(int n, const double *s, double at, double *weight) {
  if (n == 3) /* as most couplings of order 2 ask for in every step */
    lagrange_weights(3, s, at, weight);
  else
    lagrange_weights(n, s, at, weight);
}

/* Power coefficients about `origin` of the polynomial through (s_i, u_i), in place: Newton's divided differences, then nested
 * multiplication by (x + origin - s_i) in x = s - origin. */
static void interpolate(int n, const double *s, const double *u, double origin, double *c) {
  for (int i = 0; i < N_COEFFICIENTS; ++i) c[i] = i < n ? u[i] : 0.0;
  for (int k = 1; k < n; ++k) {
    for (int i = n - 1; i >= k; --i) c[i] = (c[i] - c[i - 1]) / (s[i] - s[i - k]);
  }
  for (int i = n - 2; i >= 0; --i) { /* c_i ... := c_{i+1} ... (x + origin - s_i) + difference_i */
    for (int k = i; k < n - 1; ++k) c[k] += (origin - s[i]) * c[k + 1];
  }
}

/* Nodes of piece p: unknown ones first (from the last to the first), then the past. */
static int piece_nodes(const yoke_layout *layout, const yoke_past *past, const double *w, int p, double *s, double *u) {
  const int n_nodes = yoke_layout_n_nodes(layout);
  int       n       = 0;
  if (is_piecewise(layout)) {
    s[n]   = yoke_layout_node(layout, p);
    u[n++] = w[p];
    if (layout->degree == 1) {
      s[n]   = p > 0 ? yoke_layout_node(layout, p - 1) : past->s[0];
      u[n++] = p > 0 ? w[p - 1] : past->u[0];
    }
    return n;
  }
  for (int j = n_nodes - 1; j >= 0; --j) {
    s[n]   = yoke_layout_node(layout, j);
    u[n++] = w[j];
  }
  for (int i = 0; i < yoke_layout_n_past(layout); ++i) {
    s[n]   = past->s[i];
    u[n++] = past->u[i];
  }
  return n;
}

void yoke_layout_piece(const yoke_layout *layout, const yoke_past *past, const double *w, int p, double *c) {
  double    s[N_COEFFICIENTS], u[N_COEFFICIENTS];
  const int n = piece_nodes(layout, past, w, p, s, u);
  interpolate(n, s, u, p > 0 ? yoke_layout_break(layout, p - 1) : 0.0, c);
}

/* As `interpolate` through 1, s[0], s[1], ... about 0. */
void yoke_layout_end_piece(int degree, const double *s, const double *u, double w, double *c) {
  c[0] = w;
  if (degree == 1) { /* most */
    c[1] = (u[0] - w) / (s[0] - 1.0);
    c[0] -= c[1];
    return;
  }
  for (int i = 0; i < degree; ++i) c[i + 1] = u[i];
  for (int k = 1; k <= degree; ++k) {
    for (int i = degree; i >= k; --i) c[i] = (c[i] - c[i - 1]) / (s[i - 1] - (i > k ? s[i - k - 1] : 1.0));
  }
  for (int i = degree - 1; i >= 0; --i) {
    const double at = i > 0 ? s[i - 1] : 1.0;
    for (int k = i; k < degree; ++k) c[k] += (0.0 - at) * c[k + 1];
  }
}

yoke_layout_measures yoke_layout_measure(const yoke_layout *layout, const yoke_past *past, const double *w) {
  const int            n = yoke_layout_n_nodes(layout), n_pieces = yoke_layout_n_pieces(layout);
  yoke_layout_measures out = {0.0, 0.0};
  double               c[N_COEFFICIENTS];
  for (int p = 0; p < n_pieces; ++p) {
    const double length = yoke_layout_break(layout, p) - (p > 0 ? yoke_layout_break(layout, p - 1) : 0.0);
    double       power  = length;
    yoke_layout_piece(layout, past, w, p, c);
    for (int k = 0; k <= layout->degree; ++k, power *= length) out.integral += c[k] * power / (double)(k + 1);
  }
  if (is_piecewise(layout)) {
    out.end_derivative = (w[n - 1] - w[n - 2]) / (1.0 - yoke_layout_node(layout, n - 2));
    return out;
  }
  for (int k = 1; k <= layout->degree; ++k) out.end_derivative += (double)k * c[k];
  return out;
}

void yoke_layout_slopes(const yoke_layout *layout, const yoke_past *past, yoke_layout_measures *by_w) {
  const double    zeros[N_COEFFICIENTS] = {0};
  const yoke_past silent                = {.n = past->n, .s = past->s, .u = zeros};
  for (int j = 0; j < yoke_layout_n_nodes(layout); ++j) {
    double unit[YOKE_LAYOUT_MAX_NODES] = {0};
    unit[j]                            = 1.0;
    by_w[j]                            = yoke_layout_measure(layout, &silent, unit);
  }
}
