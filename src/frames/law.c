#include "frames/frames_ferry.h"

#include "base/pack.h"

#include <math.h>
#include <stddef.h>

/* ---- Tables -------------------------------------------------------------------------------------------------------- */

/* Slope at an inner point from the secants left (d0 over h0) and right (d1 over h1): weighted harmonic mean, 0 at an extremum
 * (Fritsch, Butland 1984). The curve is then monotone wherever the points are. */
static double inner_slope(double h0, double h1, double d0, double d1) {
  if (d0 == 0.0 || d1 == 0.0 || (d0 > 0.0) != (d1 > 0.0)) return 0.0;
  const double w0 = 2.0 * h1 + h0, w1 = h1 + 2.0 * h0;
  return (w0 + w1) / (w0 / d0 + w1 / d1);
}

/* Slope at an end from its secant (d0 over h0) and the next one: three-point formula, limited so that no extremum
 * appears that the points do not have. */
static double end_slope(double h0, double h1, double d0, double d1) {
  const double slope = ((2.0 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
  if (slope == 0.0 || d0 == 0.0 || (slope > 0.0) != (d0 > 0.0)) return 0.0;
  if ((d0 > 0.0) != (d1 > 0.0) && fabs(slope) > 3.0 * fabs(d0)) return 3.0 * d0;
  return slope;
}

/* dy/dx at point i, from its neighbours; n >= 2. */
static double table_slope(const yoke_table *table, int i) {
  const int     n = table->n;
  const double *x = table->x, *y = table->y;
  if (n == 2) return (y[1] - y[0]) / (x[1] - x[0]);
  const int    middle = i == 0 ? 1 : i == n - 1 ? n - 2 : i; /* the secants on both sides of this point are used */
  const double h0 = x[middle] - x[middle - 1], h1 = x[middle + 1] - x[middle];
  const double d0 = (y[middle] - y[middle - 1]) / h0, d1 = (y[middle + 1] - y[middle]) / h1;
  if (i == 0) return end_slope(h0, h1, d0, d1);
  if (i == n - 1) return end_slope(h1, h0, d1, d0);
  return inner_slope(h0, h1, d0, d1);
}

/* The piece k with x[k] <= x < x[k + 1], 0 <= k <= n - 2, for x inside the table. */
static int find_piece(const yoke_table *table, double x) {
  int low = 0, high = table->n - 1;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if (table->x[middle] <= x) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/* y(s) = y0 + s (b + s (c + s a)) on piece k, s = x - x[k]. */
typedef struct piece {
  double y0, b, c, a;
} piece;

static piece make_piece(const yoke_table *table, int k) {
  const double h = table->x[k + 1] - table->x[k], secant = (table->y[k + 1] - table->y[k]) / h;
  const double b = table_slope(table, k), b1 = table_slope(table, k + 1);
  return (piece){table->y[k], b, (3.0 * secant - 2.0 * b - b1) / h, (b + b1 - 2.0 * secant) / (h * h)};
}

double yoke_table_value(const yoke_table *table, double x, double *slope) {
  const int last = table->n - 1;
  if (slope != NULL) *slope = 0.0;
  if (table->n < 1) return 0.0;
  if (table->n == 1) return table->y[0];
  if (x <= table->x[0] || x >= table->x[last]) {
    const int    end = x <= table->x[0] ? 0 : last;
    const double b   = table_slope(table, end);
    if (slope != NULL) *slope = b;
    return table->y[end] + b * (x - table->x[end]);
  }
  const int    k = find_piece(table, x);
  const piece  p = make_piece(table, k);
  const double s = x - table->x[k];
  if (slope != NULL) *slope = p.b + s * (2.0 * p.c + 3.0 * s * p.a);
  return p.y0 + s * (p.b + s * (p.c + s * p.a));
}

/* Integral of piece k over s from 0 to s. */
static double piece_integral(const piece *p, double s) {
  return s * (p->y0 + s * (p->b / 2.0 + s * (p->c / 3.0 + s * p->a / 4.0)));
}

/* Integral from lower to upper >= lower, n >= 2: the straight parts outside, then the pieces touched. */
static double integrate_table(const yoke_table *table, double lower, double upper) {
  const int    last  = table->n - 1;
  const double first = table->x[0], end = table->x[last];
  double       sum = 0.0;
  if (lower < first) {
    const double to = fmin(upper, first), s0 = lower - first, s1 = to - first;
    sum += (s1 - s0) * (table->y[0] + 0.5 * table_slope(table, 0) * (s0 + s1));
  }
  if (upper > first && lower < end) {
    const double from = fmax(lower, first), to = fmin(upper, end);
    for (int k = find_piece(table, from); k < last && table->x[k] < to; ++k) {
      const piece p = make_piece(table, k);
      sum += piece_integral(&p, fmin(to, table->x[k + 1]) - table->x[k]);
      if (from > table->x[k]) sum -= piece_integral(&p, from - table->x[k]);
    }
  }
  if (upper > end) {
    const double from = fmax(lower, end), s0 = from - end, s1 = upper - end;
    sum += (s1 - s0) * (table->y[last] + 0.5 * table_slope(table, last) * (s0 + s1));
  }
  return sum;
}

double yoke_table_integral(const yoke_table *table, double x) {
  if (table->n < 1) return 0.0;
  if (table->n == 1) return table->y[0] * x;
  return x >= 0.0 ? integrate_table(table, 0.0, x) : -integrate_table(table, x, 0.0);
}

/* ---- Force laws ---------------------------------------------------------------------------------------------------- */

/* sgn(x) |x|^e and its derivative e |x|^(e-1), e > 0. For e < 1 the derivative is infinite at 0: 0 is given instead, so that a
 * Jacobian stays finite at rest. */
static double power_law(double x, double e, double *slope) {
  const double r = fabs(x);
  if (r == 0.0) {
    *slope = e == 1.0 ? 1.0 : 0.0;
    return 0.0;
  }
  double p; /* r^(e-1) */
  if (e == 3.0) {
    p = r * r;
  } else if (e == 2.0) {
    p = r;
  } else if (e == 1.0) {
    p = 1.0;
  } else {
    p = pow(r, e - 1.0);
  }
  *slope = isinf(p) && e < 1.0 ? 0.0 : e * p;
  return isinf(p) && e < 1.0 ? copysign(pow(r, e), x) : p * x;
}

void yoke_law_copy(yoke_arena *arena, const yoke_law *law, yoke_law *out) {
  const size_t n  = (size_t)law->table.n;
  *out            = *law;
  out->table.x    = yoke_arena_copy(arena, law->table.x, n, sizeof *out->table.x);
  out->table.y    = yoke_arena_copy(arena, law->table.y, n, sizeof *out->table.y);
  out->expression = yoke_expression_retain(law->expression);
}

void yoke_law_ferry(yoke_ferry *c, yoke_law *law, int most) {
  double *const numbers[] = {&law->stiffness,     &law->damping,    &law->stiffness_power,
                             &law->damping_power, &law->exponent_x, &law->exponent_v};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) yoke_ferry_double(c, numbers[i]);
  law->table.x = yoke_ferry_list(c, law->table.x, &law->table.n, sizeof *law->table.x);
  yoke_ferry_numbers(c, &law->table.y, law->table.n);
  if (yoke_ferry_reads(c) && law->table.y == NULL) law->table.n = 0;
  if (law->table.n > 0) yoke_ferry_doubles(c, (size_t)law->table.n, law->table.x);
  yoke_expression_ferry(c, &law->expression, most);
}

void yoke_law_clear(yoke_law *law) {
  yoke_expression_destroy(&law->expression);
}

/* Value of the expression, with the derivatives by all variables in the room. */
static double evaluate(const yoke_expression *expression, double x, double v, double t, const yoke_law_room *room) {
  double *values = room->values, *gradient = room->gradient;
  values[0]          = x;
  values[1]          = v;
  values[2]          = t;
  const double value = yoke_expression_evaluate(expression, values, gradient);
  int from = yoke_expression_n_variables(expression) - 1; /* derivatives move up to the places of their variables */
  for (int k = 2 + room->n_z; k >= 0; --k) {
    const bool is_read = from >= 0 && yoke_expression_variables(expression)[from] == k;
    gradient[k]        = is_read ? gradient[from--] : 0.0;
  }
  return value;
}

double yoke_law_force(const yoke_law *law, double x, double v, double t, double *dF_dx, double *dF_dv) {
  return yoke_law_force_in(law, x, v, t, NULL, dF_dx, dF_dv);
}

double yoke_law_force_in(const yoke_law *law, double x, double v, double t, const yoke_law_room *room, double *dF_dx,
                         double *dF_dv) {
  double F = law->stiffness * x + law->damping * v, F_x = law->stiffness, F_v = law->damping, slope;
  if (law->stiffness_power != 0.0) {
    F += law->stiffness_power * power_law(x, law->exponent_x, &slope);
    F_x += law->stiffness_power * slope;
  }
  if (law->damping_power != 0.0) {
    F += law->damping_power * power_law(v, law->exponent_v, &slope);
    F_v += law->damping_power * slope;
  }
  if (law->table.n > 0) {
    F += yoke_table_value(&law->table, x, &slope);
    F_x += slope;
  }
  if (law->expression != NULL) {
    double              values[3], gradient[3];
    const yoke_law_room own = {.values = values, .gradient = gradient};
    if (room == NULL) room = &own;
    F += evaluate(law->expression, x, v, t, room);
    F_x += room->gradient[0];
    F_v += room->gradient[1];
  }
  if (dF_dx != NULL) *dF_dx = F_x;
  if (dF_dv != NULL) *dF_dv = F_v;
  return F;
}

/* Gauss-Kronrod pair (7, 15 points) on [-1, 1]: nodes >= 0, Kronrod weights, Gauss weights of every second node. */
static const double kronrod_x[8] = {0.991455371120812639206854697526329, 0.949107912342758524526189684047851,
                                    0.864864423359769072789712788640926, 0.741531185599394439863864773280788,
                                    0.586087235467691130294144691258380, 0.405845151377397166906606412076961,
                                    0.207784955007898467600689403773245, 0.0};
static const double kronrod_w[8] = {0.022935322010529224963732008058970, 0.063092092629978553290700663189204,
                                    0.104790010322250183839876322541518, 0.140653259715525918745189590510238,
                                    0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
                                    0.204432940075298892414161999234649, 0.209482141084727828012999174891714};
static const double gauss_w[4]   = {0.129484966168869693270611432679082, 0.279705391489276667901467771423780,
                                    0.381830050505118944950369775488975, 0.417959183673469387755102040816327};

static double force_at(const yoke_expression *expression, double x) {
  const double variables[3] = {x, 0.0, 0.0};
  return yoke_expression_evaluate(expression, variables, NULL);
}

/* Integral over [a, b], with the difference of the two rules as estimate of its error. */
static double integrate_once(const yoke_expression *expression, double a, double b, double *error) {
  const double middle = 0.5 * (a + b), half = 0.5 * (b - a);
  double       kronrod = 0.0, gauss = 0.0;
  for (int i = 0; i < 8; ++i) {
    double f = force_at(expression, middle + half * kronrod_x[i]);
    if (i < 7) f += force_at(expression, middle - half * kronrod_x[i]);
    kronrod += kronrod_w[i] * f;
    if (i % 2 == 1) gauss += gauss_w[i / 2] * f;
  }
  *error = fabs(half * (kronrod - gauss));
  return half * kronrod;
}

/* Integral of F(x) from 0 to x, halving intervals until the error estimates are below 1e-12 of the first value;
 * at most 40 halvings deep and 400 intervals, after which the estimate is taken as it is (jumps, noise). */
static double integrate_expression(const yoke_expression *expression, double x) {
  enum { MAX_DEPTH = 40, MAX_INTERVALS = 400 };
  double ends[MAX_DEPTH + 1]; /* right ends of the intervals that wait, nearest last */
  int    n_waiting = 0, n_done = 0;
  double a = 0.0, sum = 0.0, error;
  ends[n_waiting++]      = x;
  const double tolerance = 1e-12 * fabs(integrate_once(expression, 0.0, x, &error)) + 1e-300;
  while (n_waiting > 0) {
    const double b     = ends[n_waiting - 1];
    const double part  = integrate_once(expression, a, b, &error);
    const bool   is_ok = !(error > tolerance * fmax((b - a) / x, 1e-3));
    if (is_ok || n_waiting > MAX_DEPTH || ++n_done > MAX_INTERVALS) {
      sum += part;
      a = b;
      --n_waiting;
    } else {
      ends[n_waiting++] = 0.5 * (a + b);
    }
  }
  return sum;
}

bool yoke_law_is_elastic(const yoke_law *law) {
  for (int k = 0; law->expression != NULL && k < yoke_expression_n_variables(law->expression); ++k) {
    if (yoke_expression_variables(law->expression)[k] != 0) return false;
  }
  return true;
}

bool yoke_law_loses(const yoke_law *law) {
  return law->damping != 0.0 || law->damping_power != 0.0 || !yoke_law_is_elastic(law);
}

double yoke_law_power_lost(const yoke_law *law, double x, double v, double t, const yoke_law_room *room) {
  double F = law->damping * v, slope;
  if (law->damping_power != 0.0) F += law->damping_power * power_law(v, law->exponent_v, &slope);
  if (law->expression != NULL && !yoke_law_is_elastic(law)) {
    double              values[3], gradient[3];
    const yoke_law_room own = {.values = values, .gradient = gradient};
    F += evaluate(law->expression, x, v, t, room != NULL ? room : &own);
  }
  return F * v;
}

double yoke_law_potential(const yoke_law *law, double x) {
  double V = 0.5 * law->stiffness * x * x;
  if (law->stiffness_power != 0.0) {
    V += law->stiffness_power * pow(fabs(x), law->exponent_x + 1.0) / (law->exponent_x + 1.0);
  }
  if (law->table.n > 0) V += yoke_table_integral(&law->table, x);
  if (law->expression != NULL && x != 0.0 && yoke_law_is_elastic(law)) V += integrate_expression(law->expression, x);
  return V;
}

uint64_t yoke_law_checksum(uint64_t sum, const yoke_law *law) {
  const size_t n         = (size_t)law->table.n;
  const double numbers[] = {law->stiffness,  law->damping, law->stiffness_power, law->damping_power, law->exponent_x,
                            law->exponent_v, (double)n};
  sum                    = yoke_checksum(sum, numbers, sizeof numbers);
  if (n > 0) sum = yoke_checksum(sum, law->table.x, n * sizeof *law->table.x);
  if (n > 0) sum = yoke_checksum(sum, law->table.y, n * sizeof *law->table.y);
  return yoke_expression_checksum(sum, law->expression);
}
