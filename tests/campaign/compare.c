#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include "compare.h"

#include <stdio.h>

typedef enum sort { POSITION, VELOCITY, ANGLE, RATE, N_KINDS } sort;

/* The kind of a column; N_KINDS: not compared. */
static sort kind_of(const char *name) {
  static const struct {
    const char *suffix;
    sort        kind;
  } kinds[] = {{"x", POSITION},  {"y", POSITION},  {"z", POSITION}, {"v", VELOCITY}, {"vx", VELOCITY}, {"vy", VELOCITY},
               {"vz", VELOCITY}, {"angle", ANGLE}, {"q0", ANGLE},   {"q1", ANGLE},   {"q2", ANGLE},    {"q3", ANGLE},
               {"omega", RATE},  {"wx", RATE},     {"wy", RATE},    {"wz", RATE}};
  const char *dot = strrchr(name, '.');
  if (dot == NULL) return N_KINDS;
  const size_t n = strcspn(dot + 1, "[");
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
    if (strlen(kinds[k].suffix) == n && strncmp(dot + 1, kinds[k].suffix, n) == 0) return kinds[k].kind;
  }
  return N_KINDS;
}

static double at(const csv_table *t, long row, int column) {
  return t->values[row * t->n_columns + column];
}

static double spread_of(const csv_table *t, int column) {
  double low = at(t, 0, column), high = low;
  for (long i = 1; i < t->n_rows; ++i) {
    low  = fmin(low, at(t, i, column));
    high = fmax(high, at(t, i, column));
  }
  return high - low;
}

/* Column k is Euler parameter 0 ... 3 of an orientation whose four columns stand side by side; -1: it is not. */
static int parameter_of(const csv_table *t, int k) {
  const char  *name = t->names[k];
  const size_t n    = strlen(name);
  const int    i    = n > 3 && name[n - 3] == '.' && name[n - 2] == 'q' ? name[n - 1] - '0' : -1;
  return i >= 0 && k >= i && k - i + 3 < t->n_columns ? i : -1;
}

/* -1 where the Euler parameters that begin at these columns have other signs, which is the same orientation. */
static double sign_of(const csv_table *run, int first, const csv_table *reference, int reference_first, long row) {
  double dot = 0.0;
  for (int k = 0; k < 4; ++k) dot += at(run, row, first + k) * at(reference, row, reference_first + k);
  return dot < 0.0 ? -1.0 : 1.0;
}

static bool same_times(const csv_table *run, const csv_table *reference, double time) {
  if (run->n_rows != reference->n_rows || run->n_rows == 0) return false;
  const double span = csv_end(reference, 0) - at(reference, 0, 0);
  for (long i = 0; i < run->n_rows; ++i) {
    if (!(fabs(at(run, i, 0) / time - at(reference, i, 0)) <= 1e-9 * span)) return false;
  }
  return true;
}

/* How far a value is from the reference in this row. */
static double distance(double value, const csv_table *reference, long row, int column, double spread, bool jumps) {
  const double here  = at(reference, row, column);
  double       error = fabs(value - here);
  if (!jumps) return error;
  for (int side = -1; side <= 1; side += 2) {
    const long next = row + side;
    if (next < 0 || next >= reference->n_rows) continue;
    const double there = at(reference, next, column);
    if (fabs(there - here) < 0.1 * spread) continue;
    error = fmin(error, fmax(fmin(here, there) - value, fmax(value - fmax(here, there), 0.0)));
  }
  return error;
}

difference compare_tables(const csv_table *run, const csv_table *reference, double length, double time, bool jumps) {
  const double unit[N_KINDS]    = {length, length / time, 1.0, 1.0 / time};
  double       largest[N_KINDS] = {0.0};
  difference   d                = {0.0, 0.0, "none"};
  if (!same_times(run, reference, time)) return (difference){(double)INFINITY, 0.0, "times"};
  for (int k = 1; k < reference->n_columns; ++k) {
    const sort kind = kind_of(reference->names[k]);
    if (kind < N_KINDS) largest[kind] = fmax(largest[kind], spread_of(reference, k));
  }
  for (int k = 1; k < reference->n_columns; ++k) {
    const char *name   = reference->names[k];
    const sort  kind   = kind_of(name);
    const int   column = csv_column(run, name), i_parameter = parameter_of(reference, k);
    if (kind == N_KINDS || column < 0) continue;
    const double spread = fmax(fmax(spread_of(reference, k), 0.05 * largest[kind]), 1e-9);
    for (long i = 0; i < reference->n_rows; ++i) {
      const double sign  = i_parameter < 0 ? 1.0 : sign_of(run, column - i_parameter, reference, k - i_parameter, i);
      const double error = distance(sign * at(run, i, column) / unit[kind], reference, i, k, spread, jumps) / spread;
      if (error <= d.error) continue;
      d = (difference){isfinite(error) ? error : (double)INFINITY, at(reference, i, 0), ""};
      snprintf(d.quantity, sizeof d.quantity, "%s", name);
    }
  }
  return d;
}
