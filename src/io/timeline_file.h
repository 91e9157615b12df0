/* Timeline file: the spans of a timeline as JSON of trace events, which the viewers of browsers read (chrome://tracing, ui.perfetto.dev). */
#ifndef YOKE_IO_TIMELINE_FILE_H
#define YOKE_IO_TIMELINE_FILE_H

#include "base/output_file.h"
#include "exec/timeline.h"
#include "master/plan.h"

typedef struct yoke_timeline_def {
  const yoke_plan     *plan; /* names of the subsystems */
  const char          *name; /* of the model; NULL: none */
  const yoke_timeline *timeline;
} yoke_timeline_def;

/* Replaces an earlier file when all is written. */
yoke_status yoke_timeline_write(yoke_context *ctx, yoke_output_file *out, const yoke_timeline_def *def);

#endif
