#include "frames/switches.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

/* ---- building ---- */

bool yoke_switches_add(yoke_switches *s, double first, double period, bool is_smooth) {
  const bool    repeats = period > 0.0;
  yoke_switch **list    = repeats ? &s->periodic : &s->once;
  int          *n       = repeats ? &s->n_periodic : &s->n_once;
  if (!isfinite(first) || !isfinite(period)) return true; /* never */
  if (!yoke_grow(list, &s->capacity[repeats], (size_t)*n + 1, sizeof **list)) return false;
  (*list)[(*n)++] = (yoke_switch){.first = first, .period = repeats ? period : 0.0, .is_smooth = is_smooth};
  return true;
}

static int compare(const void *a, const void *b) {
  const yoke_switch *p = a, *q = b;
  if (p->first != q->first) return p->first < q->first ? -1 : 1;
  return (int)p->is_smooth - (int)q->is_smooth; /* jumps first: of equal times the first one stays */
}

void yoke_switches_arrange(yoke_switches *s) {
  int n = 0, n_smooth = 0;
  if (s->n_once > 0) qsort(s->once, (size_t)s->n_once, sizeof *s->once, compare);
  for (int i = 0; i < s->n_once; ++i) {
    const yoke_switch *one = &s->once[i];
    if (n > 0 && one->first - s->once[n - 1].first <= 1e-14 * fabs(one->first)) continue;
    n_smooth += one->is_smooth ? 1 : 0;
    s->once[n++] = *one;
  }
  s->n_once = n;
  if (n_smooth <= YOKE_SMOOTH_SWITCHES) return;
  n = 0;
  for (int i = 0; i < s->n_once; ++i) {
    if (!s->once[i].is_smooth) s->once[n++] = s->once[i];
  }
  s->n_once = n;
}

void yoke_switches_clear(yoke_switches *switches) {
  free(switches->once);
  free(switches->periodic);
  *switches = (yoke_switches){0};
}

/* ---- asking ---- */

/* Number of the first one strictly after t; n_once: there is none. */
static int index_after(const yoke_switches *s, double t) {
  int low = 0, high = s->n_once; /* it is in [low, high] */
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (s->once[middle].first > t)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static double next_once(const yoke_switches *s, double t) {
  const int next = index_after(s, t);
  return next < s->n_once ? s->once[next].first : (double)INFINITY;
}

static double next_periodic(const yoke_switch *one, double t) {
  const double k    = floor((t - one->first) / one->period);
  double       next = one->first + k * one->period;
  for (int i = 1; next <= t && i <= 3; ++i) next = one->first + (k + i) * one->period;
  return next > t ? next : (double)INFINITY; /* a period below the resolution of t */
}

double yoke_switches_next(const yoke_switches *s, double t) {
  double next = next_once(s, t);
  for (int i = 0; i < s->n_periodic; ++i) next = fmin(next, next_periodic(&s->periodic[i], t));
  return next;
}

bool yoke_switches_jump_at(const yoke_switches *s, double t) {
  const double rest = 1e-14 * fabs(t);
  for (int i = index_after(s, t + rest) - 1; i >= 0 && t - s->once[i].first <= rest; --i) {
    if (!s->once[i].is_smooth) return true;
  }
  for (int i = 0; i < s->n_periodic; ++i) {
    const double away = remainder(t - s->periodic[i].first, s->periodic[i].period);
    if (fabs(away) <= rest + 1e-14 * fabs(s->periodic[i].first)) return true;
  }
  return false;
}
