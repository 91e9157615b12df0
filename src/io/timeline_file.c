#include "io/timeline_file.h"

#include "base/output_file.h"
#include <math.h>
#include <stdio.h>

/* Names are letters, digits, '_' and brackets; whatever else a text holds would need escapes. */
static void put_text(FILE *file, const char *text) {
  putc('"', file);
  for (const char *c = text; *c; ++c) putc(*c < ' ' || *c > '~' || *c == '"' || *c == '\\' ? '_' : *c, file);
  putc('"', file);
}

/* Microseconds with three digits, a point in every locale. */
static void put_time(FILE *file, const char *key, double seconds) {
  const long long ns = llround(1e9 * fmax(seconds, 0.0));
  fprintf(file, ", \"%s\": %lld.%03lld", key, ns / 1000, ns % 1000);
}

static void put_name(FILE *file, const char *what, int tid, const char *name) {
  fprintf(file, "  {\"ph\": \"M\", \"pid\": 1, \"tid\": %d, \"name\": \"%s\", \"args\": {\"name\": ", tid, what);
  put_text(file, name);
  fputs("}},\n", file);
}

static const char *variant_of(const yoke_span *span) {
  return span->variant == -1 ? "main" : span->variant == -2 ? "comparison" : "perturbed";
}

static void put_span(FILE *file, const yoke_timeline_def *def, const yoke_span *span) {
  const bool  is_task = span->kind == YOKE_SPAN_TASK;
  const char *name    = is_task                          ? def->plan->parts[span->part].name
                        : span->kind == YOKE_SPAN_OUTPUT ? "output"
                        : def->plan->step.is_free        ? "step"
                                                         : "macro step";
  fputs("  {\"ph\": \"X\", \"pid\": 1, \"name\": ", file);
  put_text(file, name);
  fprintf(file, ", \"cat\": \"%s\", \"tid\": %d", is_task ? "task" : "run", is_task ? span->worker : 0);
  put_time(file, "ts", span->begin - def->timeline->origin);
  put_time(file, "dur", span->end - span->begin);
  if (is_task) {
    fprintf(file, ", \"args\": {\"integration\": \"%s\"", variant_of(span));
    put_time(file, "save us", span->saved - span->begin);
    put_time(file, "solver us", span->solved - span->saved);
    put_time(file, "exchange us", span->end - span->solved);
    putc('}', file);
  }
  putc('}', file);
}

static void put_timeline(FILE *file, const void *user) {
  const yoke_timeline_def *def       = user;
  const yoke_timeline     *t         = def->timeline;
  int                      n_workers = 1;
  for (size_t i = 0; i < t->n; ++i) {
    if (t->spans[i].kind == YOKE_SPAN_TASK && t->spans[i].worker >= n_workers) n_workers = t->spans[i].worker + 1;
  }
  fprintf(file, "{\"displayTimeUnit\": \"ms\", \"otherData\": {\"spans left out\": %lld}, \"traceEvents\": [\n",
          (long long)t->n_lost);
  for (int w = 0; w < n_workers; ++w) {
    char name[40];
    snprintf(name, sizeof name, w == 0 ? "master and worker 0" : "worker %d", w);
    put_name(file, "thread_name", w, name);
  }
  put_name(file, "process_name", 0, def->name != NULL && def->name[0] != '\0' ? def->name : "yoke");
  for (size_t i = 0; i < t->n; ++i) {
    put_span(file, def, &t->spans[i]);
    fputs(i + 1 < t->n ? ",\n" : "\n", file);
  }
  if (t->n == 0) fputs("  {\"ph\": \"i\", \"pid\": 1, \"tid\": 0, \"ts\": 0, \"name\": \"nothing was timed\"}\n", file);
  fputs("]}\n", file);
}

yoke_status yoke_timeline_write(yoke_context *ctx, yoke_output_file *out, const yoke_timeline_def *def) {
  return yoke_output_file_put(ctx, out, put_timeline, def);
}
