#include "exec/projection.h"

#include "base/memory.h"
#include <math.h>
#include <stdlib.h>

enum { MOST_WORKERS = 1 << (YOKE_N_PROJECTED - 1) };

yoke_status yoke_projection_create(yoke_context *ctx, yoke_projection **out) {
  yoke_projection *p = yoke_allocate(1, sizeof *p);
  *out               = p;
  if (p != NULL) p->free_at = yoke_allocate(MOST_WORKERS, sizeof *p->free_at);
  if (p != NULL && p->free_at != NULL) return YOKE_OK;
  yoke_projection_destroy(out);
  return yoke_out_of_memory(ctx, "the projection");
}

void yoke_projection_destroy(yoke_projection **projection) {
  if (*projection == NULL) return;
  free((*projection)->jobs);
  free((*projection)->free_at);
  free(*projection);
  *projection = NULL;
}

void yoke_projection_serial(yoke_projection *p, double seconds) {
  p->serial += seconds;
}

void yoke_projection_begin(yoke_projection *p) {
  p->n_jobs = 0;
}

void yoke_projection_task(yoke_projection *p, int job, double seconds) {
  if (!yoke_grow(&p->jobs, &p->capacity, (size_t)job + 1, sizeof *p->jobs)) {
    p->serial += seconds;
    return;
  }
  for (; p->n_jobs <= job; ++p->n_jobs) p->jobs[p->n_jobs] = 0.0;
  p->jobs[job] += seconds;
}

static int descending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x < y) - (x > y);
}

/* The worker that is free first works for `seconds` more; the heap has the least at its root. */
static double occupy_first(double *heap, int n, double seconds) {
  const double end = heap[0] + seconds;
  int          i   = 0;
  for (int child = 1; child < n; child = 2 * i + 1) {
    if (child + 1 < n && heap[child + 1] < heap[child]) ++child;
    if (heap[child] >= end) break;
    heap[i] = heap[child];
    i       = child;
  }
  heap[i] = end;
  return end;
}

static double makespan(yoke_projection *p, int n_workers) {
  double end = 0.0;
  for (int w = 0; w < n_workers; ++w) p->free_at[w] = 0.0;
  for (int i = 0; i < p->n_jobs; ++i) end = fmax(end, occupy_first(p->free_at, n_workers, p->jobs[i]));
  return end;
}

void yoke_projection_end(yoke_projection *p) {
  if (p->n_jobs == 0) return;
  qsort(p->jobs, (size_t)p->n_jobs, sizeof *p->jobs, descending);
  for (int k = 0; k < YOKE_N_PROJECTED; ++k) p->lists[k] += 1 << k < p->n_jobs ? makespan(p, 1 << k) : p->jobs[0];
  p->longest += p->jobs[0];
}

double yoke_projection_time(const yoke_projection *p, int k) {
  return p->serial + p->lists[k];
}

double yoke_projection_path(const yoke_projection *p) {
  return p->serial + p->longest;
}
