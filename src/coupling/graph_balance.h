/* Balance: values of the history and outputs of the accepted states that belong to each other. */
#ifndef YOKE_COUPLING_GRAPH_BALANCE_H
#define YOKE_COUPLING_GRAPH_BALANCE_H

#include "coupling/graph_instant.h"

/* By their laws; wires that are given keep their values. */
yoke_status graph_balance(yoke_graph *graph, double t, yoke_side limit, yoke_context *ctx);

/* By conditions at T_N, of the wires that take part in `instant`, which are given then; the others as above. */
yoke_status graph_balance_instant(yoke_graph *graph, graph_instant *instant, yoke_side limit, yoke_context *ctx);

#endif
