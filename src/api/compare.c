#include "api/compare.h"
#include "base/memory.h"
#include "base/sized.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct yoke_comparison {
  yoke_comparison_facts facts;
  yoke_difference      *differences; /* [n_common] in the order of A */
  char                 *names;       /* storage */
};

/* Last index k with times[k] < t (strict) or <= t; n when there is none. */
static size_t last_before(const double *times, size_t n, double t, bool strict) {
  size_t low = 0, high = n;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (strict ? times[middle] < t : times[middle] <= t) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low > 0 ? low - 1 : n;
}

/* Lagrange's polynomial through points first .. last, as difference from the first: exact for a constant. */
static double through_points(const double *times, const double *values, size_t first, size_t last, double t) {
  double sum = 0.0;
  for (size_t i = first + 1; i <= last; ++i) {
    double weight = 1.0;
    for (size_t j = first; j <= last; ++j) {
      if (j != i) weight *= (t - times[j]) / (times[i] - times[j]);
    }
    sum += weight * (values[i] - values[first]);
  }
  return values[first] + sum;
}

double yoke_curve_value(const double *times, const double *values, size_t n, double t, bool after) {
  size_t k = last_before(times, n, t, false);
  if (k == n) return values[0];
  if (times[k] == t) { /* k is the last of equal times */
    while (!after && k > 0 && times[k - 1] == t) k--;
    return values[k];
  }
  if (k + 1 == n) return values[n - 1];
  /* t lies between points k and k + 1; the neighbours join in unless a jump is between. */
  const size_t first = k > 0 && times[k - 1] < times[k] ? k - 1 : k;
  const size_t last  = k + 2 < n && times[k + 1] < times[k + 2] ? k + 2 : k + 1;
  return through_points(times, values, first, last, t);
}

/* ---- quantities whose sizes are comparable ----
 * A coordinate that rests moves by rounding noise only; measured against its own variation noise would be a difference of
 * 100 %. So the deviation of a quantity counts as at least a share of the largest deviation in its family: 1e-6, and all of
 * it where the quantity is a small difference of large ones by nature (energies, constraint residuals). */

typedef enum family {
  LENGTH,
  VELOCITY,
  ACCELERATION,
  ANGLE,
  RATE,
  ORIENTATION,
  FORCE,
  ENERGY,
  OTHER,
  N_FAMILIES
} family;

typedef struct measure {
  const char *word; /* last part of the name */
  family      family;
  double      share;
} measure;

static measure measure_of(const char *name) {
  static const measure words[] = {
      {"x", LENGTH, 1e-6},       {"y", LENGTH, 1e-6},        {"z", LENGTH, 1e-6},         {"v", VELOCITY, 1e-6},
      {"vx", VELOCITY, 1e-6},    {"vy", VELOCITY, 1e-6},     {"vz", VELOCITY, 1e-6},      {"a", ACCELERATION, 1e-6},
      {"angle", ANGLE, 1e-6},    {"omega", RATE, 1e-6},      {"wx", RATE, 1e-6},          {"wy", RATE, 1e-6},
      {"wz", RATE, 1e-6},        {"q0", ORIENTATION, 1e-6},  {"q1", ORIENTATION, 1e-6},   {"q2", ORIENTATION, 1e-6},
      {"q3", ORIENTATION, 1e-6}, {"force", FORCE, 1e-6},     {"g", LENGTH, 1.0},          {"energy", ENERGY, 1.0},
      {"kinetic", ENERGY, 1.0},  {"potential", ENERGY, 1.0}, {"dissipated", ENERGY, 1.0}, {"external", ENERGY, 1.0},
      {"balance", ENERGY, 1.0},
  };
  const char  *dot    = strrchr(name, '.');
  const char  *word   = dot ? dot + 1 : name;
  const size_t length = strcspn(word, "[");
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
    if (strlen(words[i].word) == length && strncmp(words[i].word, word, length) == 0) return words[i];
  }
  return (measure){"", OTHER, 0.0}; /* shares its scale with nothing */
}

/* What joints leave open: noise, in the unit of lengths. */
static bool is_residual(measure m) {
  return m.family == LENGTH && m.share == 1.0;
}

static bool is_motion(measure m) {
  return !is_residual(m) && (m.family == LENGTH || m.family == VELOCITY || m.family == ANGLE || m.family == RATE ||
                             m.family == ORIENTATION);
}

/* ---- one quantity ---- */

typedef struct curve {
  const double *times;
  size_t        n;
  double       *values; /* [n] */
} curve;

typedef struct sums {
  double square;    /* sum (a - b)^2 */
  double variation; /* sum (b - mean b)^2 */
  double mean;      /* of b */
  double n;
  bool   is_broken; /* a value is finite in one and not in the other */
} sums;

/* Two equal times in a row are the two sides of a jump: the first is the value before it, the second the one behind. */
static bool is_behind_jump(const double *times, size_t k) {
  return k > 0 && times[k - 1] == times[k];
}

static bool is_in_span(double t, double from, double to) {
  return t >= from && t <= to;
}

/* Sums over the times of the coarser curve within [from, to]. The mean is found first: a two-pass variance loses no digits. */
static void compare_curves(const curve *a, const curve *b, double from, double to, yoke_difference *out, sums *s) {
  const curve *grid = a->n <= b->n ? a : b;
  *s                = (sums){0};
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t k = 0; k < grid->n; ++k) {
      const double t = grid->times[k];
      if (!is_in_span(t, from, to)) continue;
      const bool   after = is_behind_jump(grid->times, k);
      const double vb    = grid == b ? b->values[k] : yoke_curve_value(b->times, b->values, b->n, t, after);
      if (pass == 0) {
        s->n += 1.0;
        if (isfinite(vb)) s->mean += vb;
        continue;
      }
      const double va = grid == a ? a->values[k] : yoke_curve_value(a->times, a->values, a->n, t, after);
      if (!isfinite(va) || !isfinite(vb)) {
        const bool same = (isnan(va) && isnan(vb)) || va == vb;
        if (!same && !s->is_broken) out->largest = (double)INFINITY, out->t = t;
        s->is_broken = s->is_broken || !same;
        continue;
      }
      const double difference = fabs(va - vb);
      s->square += difference * difference;
      s->variation += (vb - s->mean) * (vb - s->mean);
      if (difference > out->largest) out->largest = difference, out->t = t;
    }
    if (pass == 0 && s->n > 0.0) s->mean /= s->n;
  }
  out->n_times = (size_t)s->n;
}

/* sqrt(square / variation), the deviation not below `least`; of a constant reference its value is the measure. */
static double nrmse(const sums *s, double least) {
  if (s->is_broken) return (double)NAN;
  if (s->square == 0.0) return 0.0;
  const double deviation = sqrt(s->variation / s->n);
  double       scale     = fmax(deviation, least);
  if (scale <= 1e-9 * fabs(s->mean)) scale = fabs(s->mean);
  if (scale == 0.0) scale = 1.0;
  return sqrt(s->square / s->n) / scale;
}

static bool same_bits(const curve *a, const curve *b) {
  if (a->n != b->n) return false;
  return a->n == 0 || (memcmp(a->times, b->times, a->n * sizeof(double)) == 0 &&
                       memcmp(a->values, b->values, a->n * sizeof(double)) == 0);
}

/* ---- all quantities ---- */

static yoke_status check_times(yoke_context *ctx, const yoke_result *result, int i) {
  size_t        n;
  const double *t = yoke_result_times(result, i, &n);
  for (size_t k = 0; k < n; ++k) {
    if (isfinite(t[k]) && (k == 0 || t[k] >= t[k - 1])) continue;
    return yoke_fail(ctx, YOKE_E_IO, "'%s': time %.9g of row %zu is not finite or lies before the row above it",
                     yoke_result_path(result), t[k], k + 1);
  }
  return YOKE_OK;
}

/* Span that both results cover, from the times of their first common quantity. */
static yoke_status find_span(yoke_context *ctx, yoke_result *a, int i, yoke_result *b, int j,
                             yoke_comparison_facts *out) {
  YOKE_TRY(check_times(ctx, a, i));
  YOKE_TRY(check_times(ctx, b, j));
  size_t        na, nb;
  const double *ta = yoke_result_times(a, i, &na), *tb = yoke_result_times(b, j, &nb);
  if (na == 0 || nb == 0) {
    return yoke_fail(ctx, YOKE_E_DIFFERENT, "'%s' holds no output times", yoke_result_path(na == 0 ? a : b));
  }
  out->t_from          = fmax(ta[0], tb[0]);
  out->t_to            = fmin(ta[na - 1], tb[nb - 1]);
  const double margin  = 1e-9 * (fmax(ta[na - 1], tb[nb - 1]) - fmin(ta[0], tb[0]));
  out->same_span       = fabs(ta[0] - tb[0]) <= margin && fabs(ta[na - 1] - tb[nb - 1]) <= margin;
  out->is_interpolated = na != nb || memcmp(ta, tb, na * sizeof(double)) != 0;
  if (out->same_span) out->t_from -= margin, out->t_to += margin; /* ends that differ by rounding are not left out */
  if (out->t_from <= out->t_to) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_DIFFERENT, "'%s' covers %.9g .. %.9g s, '%s' %.9g .. %.9g s: no time in common",
                   yoke_result_path(a), ta[0], ta[na - 1], yoke_result_path(b), tb[0], tb[nb - 1]);
}

static yoke_status allocate(yoke_context *ctx, yoke_result *a, yoke_result *b, yoke_comparison *comparison) {
  yoke_comparison_facts *out    = &comparison->facts;
  size_t                 length = 1;
  for (int i = 0; i < yoke_result_n_quantities(a); ++i) {
    if (yoke_result_find(b, yoke_result_name(a, i)) < 0) continue;
    out->n_common++;
    length += strlen(yoke_result_name(a, i)) + 1;
  }
  out->n_only_a = yoke_result_n_quantities(a) - out->n_common;
  for (int j = 0; j < yoke_result_n_quantities(b); ++j) {
    out->n_only_b += yoke_result_find(a, yoke_result_name(b, j)) < 0;
  }
  if (out->n_common == 0) {
    return yoke_fail(ctx, YOKE_E_DIFFERENT, "'%s' and '%s' have no quantity in common", yoke_result_path(a),
                     yoke_result_path(b));
  }
  comparison->differences = yoke_allocate((size_t)out->n_common, sizeof *comparison->differences);
  comparison->names       = yoke_allocate(length, 1);
  if (comparison->differences && comparison->names) return YOKE_OK;
  return yoke_out_of_memory(ctx, "the comparison of %d quantities", out->n_common);
}

/* Read the values of quantity i; grows the buffer when this group has more times. */
static yoke_status load(yoke_context *ctx, yoke_result *result, int i, curve *c, size_t *capacity) {
  c->times = yoke_result_times(result, i, &c->n);
  if (c->n > *capacity || !c->values) {
    free(c->values);
    *capacity = 0;
    c->values = yoke_allocate(c->n ? c->n : 1, sizeof(double));
    if (!c->values) return yoke_out_of_memory(ctx, "%zu output times", c->n);
    *capacity = c->n;
  }
  return yoke_result_read(ctx, result, i, c->values);
}

static yoke_status compare_all(yoke_context *ctx, yoke_result *a, yoke_result *b, yoke_comparison *out, sums *s) {
  curve       ca = {0}, cb = {0};
  size_t      room_a = 0, room_b = 0;
  char       *name   = out->names;
  int         k      = 0;
  yoke_status status = YOKE_OK;
  for (int i = 0; i < yoke_result_n_quantities(a) && status == YOKE_OK; ++i) {
    const int j = yoke_result_find(b, yoke_result_name(a, i));
    if (j < 0) continue;
    yoke_difference *difference = &out->differences[k];
    const size_t     size       = strlen(yoke_result_name(a, i)) + 1;
    difference->name            = memcpy(name, yoke_result_name(a, i), size);
    name += size;
    if (k == 0) status = find_span(ctx, a, i, b, j, &out->facts);
    if (status == YOKE_OK) status = load(ctx, a, i, &ca, &room_a);
    if (status == YOKE_OK) status = load(ctx, b, j, &cb, &room_b);
    if (status != YOKE_OK || ca.n == 0 || cb.n == 0) continue;
    difference->t         = fmax(ca.times[0], cb.times[0]);
    difference->same_bits = same_bits(&ca, &cb);
    compare_curves(&ca, &cb, out->facts.t_from, out->facts.t_to, difference, &s[k]);
    k++;
  }
  free(ca.values);
  free(cb.values);
  if (status == YOKE_OK) out->facts.n_common = k;
  return status;
}

/* Errors in the scale of their families, and the verdict on all. */
static void judge(yoke_comparison *c, const sums *s) {
  yoke_comparison_facts *out                           = &c->facts;
  double                 largest_deviation[N_FAMILIES] = {0};
  for (int k = 0; k < out->n_common; ++k) {
    const measure scale            = measure_of(c->differences[k].name);
    double       *family_deviation = &largest_deviation[scale.family];
    if (is_residual(scale)) continue;
    if (s[k].n > 0.0) *family_deviation = fmax(*family_deviation, sqrt(s[k].variation / s[k].n));
  }
  const double length = largest_deviation[LENGTH] > 0.0 ? largest_deviation[LENGTH] : 1.0; /* of residuals */
  out->same_bits      = out->n_only_a == 0 && out->n_only_b == 0;
  for (int k = 0; k < out->n_common; ++k) {
    yoke_difference *difference = &c->differences[k];
    const measure    scale      = measure_of(difference->name);
    difference->nrmse     = nrmse(&s[k], is_residual(scale) ? length : scale.share * largest_deviation[scale.family]);
    difference->is_motion = is_motion(scale);
    out->same_bits        = out->same_bits && difference->same_bits;
    if (isnan(difference->nrmse) || difference->nrmse > out->largest_nrmse) {
      if (!isnan(out->largest_nrmse)) out->largest_nrmse = difference->nrmse;
    }
  }
}

yoke_status yoke_result_compare(yoke_context *ctx, yoke_result *a, yoke_result *b, yoke_comparison **out) {
  *out                    = NULL;
  sums            *s      = NULL;
  yoke_comparison *c      = yoke_allocate(1, sizeof *c);
  yoke_status      status = c != NULL ? allocate(ctx, a, b, c) : yoke_out_of_memory(ctx, "the comparison");
  if (status == YOKE_OK && !(s = yoke_allocate((size_t)c->facts.n_common, sizeof *s))) {
    status = yoke_out_of_memory(ctx, "the comparison of %d quantities", c->facts.n_common);
  }
  if (status == YOKE_OK) status = compare_all(ctx, a, b, c, s);
  if (status == YOKE_OK) judge(c, s);
  free(s);
  if (status == YOKE_OK)
    *out = c;
  else
    yoke_comparison_destroy(&c);
  return status;
}

void yoke_comparison_destroy(yoke_comparison **comparison) {
  if (comparison == NULL || *comparison == NULL) return;
  free((*comparison)->differences);
  free((*comparison)->names);
  free(*comparison);
  *comparison = NULL;
}

yoke_status yoke_comparison_facts_get(yoke_context *ctx, const yoke_comparison *c, yoke_comparison_facts *out) {
  return yoke_sized_show(ctx, out, &c->facts, sizeof c->facts, "yoke_comparison_facts");
}

yoke_status yoke_comparison_get(yoke_context *ctx, const yoke_comparison *c, int i, yoke_difference *out) {
  return yoke_sized_show_item(ctx, out, c->differences, c->facts.n_common, i, sizeof *c->differences,
                              "yoke_difference");
}
