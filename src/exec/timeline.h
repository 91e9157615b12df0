/* Timeline: who worked on what, and when, for a picture. Room is taken once; what comes when it is full is counted only. */
#ifndef YOKE_EXEC_TIMELINE_H
#define YOKE_EXEC_TIMELINE_H

#include <yoke/context.h>
#include <stddef.h>
#include <stdint.h>

typedef enum yoke_span_kind { YOKE_SPAN_STEP, YOKE_SPAN_TASK, YOKE_SPAN_OUTPUT } yoke_span_kind;

typedef struct yoke_span {
  yoke_span_kind kind;
  int    part, variant, worker;     /* tasks: subsystem; -1 main integration, -2 comparison, >= 0 perturbed; worker */
  double begin, saved, solved, end; /* clock [s]; saved and solved of tasks only */
} yoke_span;

typedef struct yoke_timeline {
  double     origin; /* clock at its creation [s] */
  size_t     n, capacity;
  int64_t    n_lost;
  yoke_span *spans; /* [n] */
} yoke_timeline;

yoke_status yoke_timeline_create(yoke_context *ctx, yoke_timeline **out);
void        yoke_timeline_destroy(yoke_timeline **timeline);
void        yoke_timeline_add(yoke_timeline *timeline, yoke_span span);

#endif
