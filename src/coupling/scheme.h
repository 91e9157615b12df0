/* Scheme: drives the couplings of all subsystems over one macro step. Knows channels, layouts and conditions only. */
#ifndef YOKE_COUPLING_SCHEME_H
#define YOKE_COUPLING_SCHEME_H

#include "coupling/graph.h"

typedef struct yoke_scheme_ops {
  yoke_scheme_traits traits;       /* name, and what formulations are told */
  const char        *summary;      /* one line for `yoke help schemes` */
  bool               needs_repeat; /* every subsystem must be able to go back */
  bool               can_sequence; /* gauss-seidel is possible */
  /* Where the settings leave these open: */
  double             relaxation;        /* share of the new value */
  int                max_iterations;    /* passes */
  bool               leaves_conditions; /* `step` does so, for others to read */
  /* One macro step: the nodes w are predicted on entry. On success the trial states hold the result, w the node values they were
   * computed with, y_new the outputs, and with `leaves_conditions` c the conditions, set 0. */
  yoke_status (*step)(yoke_graph *graph, yoke_step_statistics *statistics, yoke_context *ctx);
} yoke_scheme_ops;

int                    yoke_scheme_n(void);
const yoke_scheme_ops *yoke_scheme_at(int i);
const yoke_scheme_ops *yoke_scheme_find(const char *name); /* NULL: none */

#endif
