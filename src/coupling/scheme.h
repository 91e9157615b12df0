/* Scheme: drives the couplings of all subsystems over one macro step. Knows channels, layouts and conditions only. */
#ifndef YOKE_COUPLING_SCHEME_H
#define YOKE_COUPLING_SCHEME_H

#include "coupling/graph.h"

typedef struct yoke_scheme_ops {
  yoke_scheme_traits traits;            /* name, and what formulations are told */
  const char        *summary;           /* one line for `yoke help schemes` */
  bool               needs_repeat;      /* every subsystem must be able to go back */
  bool               can_sequence;      /* gauss-seidel is possible */
  bool               leaves_conditions; /* `step` leaves those of its last pass, set 0, in graph->c */
  /* Where the settings leave these open: */
  double             relaxation;     /* share of the new value */
  int                max_iterations; /* passes */
  /* One macro step: the nodes w are predicted on entry. On success the trial states hold the result, w the node values they were
   * computed with, y_new the outputs. The last pass was told that it may be (GRAPH_LAST). */
  yoke_status (*step)(yoke_graph *graph, yoke_step_statistics *statistics, yoke_context *ctx);
} yoke_scheme_ops;

int                    yoke_scheme_n(void);
const yoke_scheme_ops *yoke_scheme_at(int i);
const yoke_scheme_ops *yoke_scheme_find(const char *name); /* NULL: none */

#endif
