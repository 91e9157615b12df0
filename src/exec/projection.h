/* Projection: what more workers would do, from the processor times of the tasks as they were measured. Every list of tasks is dealt out once more, the
 * longest first, each to the worker that is free first; what lies between the lists stays as it is. Waking threads, and what they
 * take from each other's memory, is not known to it. */
#ifndef YOKE_EXEC_PROJECTION_H
#define YOKE_EXEC_PROJECTION_H

#include <yoke/context.h>

enum { YOKE_N_PROJECTED = 11 }; /* 1, 2, 4 ... 1024 workers */

typedef struct yoke_projection {
  double  serial;                  /* between lists [s] */
  double  lists[YOKE_N_PROJECTED]; /* [s] with 2^k workers */
  double  longest;                 /* of the longest jobs of all lists [s] */
  /* the present list */
  int     n_jobs;
  size_t  capacity;
  double *jobs;    /* [n_jobs] [s] */
  double *free_at; /* [1024] heap */
} yoke_projection;

yoke_status yoke_projection_create(yoke_context *ctx, yoke_projection **out);
void        yoke_projection_destroy(yoke_projection **projection);

void yoke_projection_serial(yoke_projection *projection, double seconds);
/* One list: tasks of the same job follow each other. A list for which there is no memory counts as serial. */
void yoke_projection_begin(yoke_projection *projection);
void yoke_projection_task(yoke_projection *projection, int job, double seconds);
void yoke_projection_end(yoke_projection *projection);

/* Time of the run with 2^k workers, and along its critical path [s]. */
double yoke_projection_time(const yoke_projection *projection, int k);
double yoke_projection_path(const yoke_projection *projection);

#endif
