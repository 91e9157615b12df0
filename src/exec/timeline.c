#include "exec/timeline.h"

#include "base/clock.h"
#include "base/memory.h"
#include <stdlib.h>

enum { MOST_SPANS = 100000 }; /* about 20 MB of text; viewers bear that */

yoke_status yoke_timeline_create(yoke_context *ctx, yoke_timeline **out) {
  yoke_timeline *t = yoke_allocate(1, sizeof *t);
  *out             = t;
  if (t != NULL) t->spans = yoke_allocate(MOST_SPANS, sizeof *t->spans);
  if (t == NULL || t->spans == NULL) {
    yoke_timeline_destroy(out);
    return yoke_out_of_memory(ctx, "the timeline");
  }
  t->capacity = MOST_SPANS;
  t->origin   = yoke_clock_now();
  return YOKE_OK;
}

void yoke_timeline_destroy(yoke_timeline **timeline) {
  if (*timeline == NULL) return;
  free((*timeline)->spans);
  free(*timeline);
  *timeline = NULL;
}

void yoke_timeline_add(yoke_timeline *t, yoke_span span) {
  if (t->n < t->capacity)
    t->spans[t->n++] = span;
  else
    ++t->n_lost;
}
