#include <yoke/signal.h>

#include <math.h>
#include <stddef.h>

static const double none_times[2] = {0.0, 1.0};

const yoke_signal yoke_signal_none = {.n = 0, .n_pieces = 1, .degree = 0, .t = none_times, .c = NULL};

/* Piece that holds `time`; at a break point the one that ends (left) or starts (right) there. */
static int piece_at(const yoke_signal *signal, double time, yoke_side side) {
  int p = 0;
  while (p + 1 < signal->n_pieces && (side == YOKE_SIDE_LEFT ? time > signal->t[p + 1] : time >= signal->t[p + 1])) ++p;
  return p;
}

static double horner(const double *c, int degree, double s) {
  double value = c[degree];
  for (int k = degree - 1; k >= 0; --k) value = value * s + c[k];
  return value;
}

/* The same on the derivative's coefficients k! / (k - d)! c_k. */
static double horner_derivative(const double *c, int degree, int derivative, double s) {
  double value = 0.0;
  for (int k = degree; k >= derivative; --k) {
    double factor = 1.0;
    for (int j = 0; j < derivative; ++j) factor *= (double)(k - j);
    value = value * s + factor * c[k];
  }
  return value;
}

void yoke_signal_value(const yoke_signal *signal, double time, yoke_side side, int derivative, double *u) {
  const int     p = piece_at(signal, time, side), n = signal->n, degree = signal->degree;
  const size_t  width = (size_t)degree + 1;
  const double  s     = time - signal->t[p];
  const double *c     = signal->c + (size_t)p * (size_t)n * width;
  if (derivative == 0 && degree == 1) { /* most */
    for (int i = 0; i < n; ++i) u[i] = c[2 * i + 1] * s + c[2 * i];
  } else if (derivative == 0) {
    for (int i = 0; i < n; ++i, c += width) u[i] = horner(c, degree, s);
  } else {
    for (int i = 0; i < n; ++i, c += width) u[i] = horner_derivative(c, degree, derivative, s);
  }
}

/* Integral over part of one piece, from s0 to s1 after its start: sum_k c_k s^{k+1} / (k + 1), by Horner. */
static double piece_integral(const double *c, int degree, double s0, double s1) {
  double low = 0.0, high = 0.0;
  for (int k = degree; k >= 0; --k) {
    low  = (low + c[k] / (double)(k + 1)) * s0;
    high = (high + c[k] / (double)(k + 1)) * s1;
  }
  return high - low;
}

void yoke_signal_integral(const yoke_signal *signal, double from, double to, double *integral) {
  for (int i = 0; i < signal->n; ++i) integral[i] = 0.0;
  const int first = piece_at(signal, from, YOKE_SIDE_RIGHT);
  const int last  = piece_at(signal, to, YOKE_SIDE_LEFT);
  for (int p = first; p <= last; ++p) {
    const double a = p == first ? from : signal->t[p];
    const double b = p == last ? to : signal->t[p + 1];
    for (int i = 0; i < signal->n; ++i) {
      const double *c = signal->c + ((size_t)p * (size_t)signal->n + (size_t)i) * (size_t)(signal->degree + 1);
      integral[i] += piece_integral(c, signal->degree, a - signal->t[p], b - signal->t[p]);
    }
  }
}

double yoke_signal_next_break(const yoke_signal *signal, double time) {
  for (int p = 1; p < signal->n_pieces; ++p) {
    if (signal->t[p] > time) return signal->t[p];
  }
  return INFINITY;
}
