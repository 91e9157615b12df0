/* Outputs of the ports of a wire at T_N. */
#ifndef YOKE_TESTS_WIRE_OUTPUTS_H
#define YOKE_TESTS_WIRE_OUTPUTS_H

#include "coupling/graph_internal.h"

static inline const double *wire_outputs(const yoke_graph *graph, int wire, int side) {
  const graph_wire *own = &graph->wires[wire];
  return graph_port(own, side, yoke_graph_y(graph, own->wire.subsystem[side]));
}

#endif
