#include "plot/thin.h"

#include <math.h>

void yoke_thin_end(yoke_thin *t) {
  if (!t->is_open) return;
  t->is_open = false;
  t->put(t->user, t->first.x, t->first.y);
  const bool is_low_first = t->lowest.at < t->highest.at;
  for (int k = 0; k < 2; ++k) {
    const bool is_low = (k == 0) == is_low_first;
    const int  at     = is_low ? t->lowest.at : t->highest.at;
    if (at == 0 || at == t->n - 1 || (k == 1 && t->lowest.at == t->highest.at)) continue;
    t->put(t->user, is_low ? t->lowest.x : t->highest.x, is_low ? t->lowest.y : t->highest.y);
  }
  if (t->n > 1) t->put(t->user, t->last.x, t->last.y);
}

void yoke_thin_add(yoke_thin *t, double x, double y) {
  const double column = floor(x / t->width);
  if (t->is_open && column != t->column) yoke_thin_end(t);
  if (!t->is_open) {
    t->is_open  = true;
    t->column   = column;
    t->n        = 0;
    t->first.at = t->lowest.at = t->highest.at = 0;
    t->first.x = t->lowest.x = t->highest.x = x;
    t->first.y = t->lowest.y = t->highest.y = y;
  }
  if (y < t->lowest.y) t->lowest.at = t->n, t->lowest.x = x, t->lowest.y = y;
  if (y > t->highest.y) t->highest.at = t->n, t->highest.x = x, t->highest.y = y;
  t->last.at = t->n++;
  t->last.x  = x;
  t->last.y  = y;
}
