#include "frames/expression_roots.h"

#include "base/assert.h"
#include <math.h>

typedef struct search {
  yoke_switches *list;
  yoke_operand   x, y;
  bool           is_whole;
  int            variable;
  int            first; /* of the list */
  bool           has_memory;
} search;

static const double at_start =
    1e-12; /* of the run: a function that is 0 where it begins, and leaves, has no root there */

static double value_of(const search *s, yoke_operand operand, double t) {
  double values[YOKE_ROOT_VARIABLES] = {0.0};
  values[s->variable]                = t;
  return yoke_program_evaluate(operand.program, operand.n, values, 0, NULL);
}

/* What changes at a root: a sign, where 0 counts as positive, or a whole part. What is no number is a level of its own. */
static double level(const search *s, double t) {
  const double x = value_of(s, s->x, t), y = s->y.n > 0 ? value_of(s, s->y, t) : s->is_whole ? 1.0 : 0.0;
  const double f = s->is_whole ? floor(x / y) : x - y;
  if (!isfinite(f)) return (double)INFINITY;
  return s->is_whole ? f : f >= 0.0 ? 1.0 : 0.0;
}

static bool is_full(const search *s) {
  return !s->has_memory || s->list->n_once - s->first > YOKE_ROOT_SAMPLES;
}

/* Halves until neighbouring numbers: the first time behind each change between a and b, where the levels are `low` and `high`. */
static void locate(search *s, double a, double low, double b, double high) {
  while (low != high && !is_full(s)) {
    const double middle   = a + 0.5 * (b - a);
    const bool   is_start = b - s->list->t_from <= at_start * (s->list->t_to - s->list->t_from);
    if (is_start) return;
    if (middle <= a || middle >= b) {
      s->has_memory = yoke_switches_add(s->list, b, 0.0, false);
      return;
    }
    const double at = level(s, middle);
    if (at != low && at != high) locate(s, a, low, middle, at); /* at most as deep as there are halves */
    if (at == high) {
      b = middle;
    } else {
      a   = middle;
      low = at;
    }
  }
}

bool yoke_switches_add_roots(yoke_switches *list, yoke_operand x, yoke_operand y, bool is_whole, int variable) {
  static const double golden = 0.6180339887498949;
  const double        span   = list->t_to - list->t_from;
  search              s      = {.list       = list,
                                .x          = x,
                                .y          = y,
                                .is_whole   = is_whole,
                                .variable   = variable,
                                .first      = list->n_once,
                                .has_memory = true};
  YOKE_ASSERT(variable >= 0 && variable < YOKE_ROOT_VARIABLES);
  if (!(span > 0.0) || !isfinite(span)) return true;
  double a = list->t_from, low = level(&s, a);
  for (int k = 0; k <= YOKE_ROOT_SAMPLES && !is_full(&s); ++k) {
    const double turn = (double)k * k * golden; /* equal distances would take a fast oscillation for none */
    const double b    = k == YOKE_ROOT_SAMPLES
                            ? list->t_to
                            : list->t_from + span * (k + 0.2 + 0.6 * (turn - floor(turn))) / YOKE_ROOT_SAMPLES;
    const double high = level(&s, b);
    locate(&s, a, low, b, high);
    a   = b;
    low = high;
  }
  if (list->n_once - s.first > YOKE_ROOT_SAMPLES) list->n_once = s.first;
  return s.has_memory;
}
