/* Wire loss: energy lost in the element that a coupling holds, over a part of a macro step.
 *
 * The power follows from the true motions of both ports. Between macro points these are Hermite polynomials: positions by values and rates,
 * velocities by values and accelerations at both ends. */
#ifndef YOKE_ENERGY_WIRE_LOSS_H
#define YOKE_ENERGY_WIRE_LOSS_H

#include "coupling/graph.h"

/* Motion of a port over a step H that leads from outputs `from` to outputs `to`, all kept, as are the numbers of `room`. */
typedef struct yoke_wire_path {
  const yoke_port_shape *shape;
  double                 H;
  const double          *from, *to;
  double                *rate[2]; /* [n_p] p' at both ends */
} yoke_wire_path;

static inline size_t yoke_wire_path_room(const yoke_port_shape *shape) {
  return (size_t)shape->n_p * ((size_t)shape->n_v + 2) + 1;
}
void yoke_wire_path_begin(yoke_wire_path *path, const yoke_port_shape *shape, double H, const double *from,
                          const double *to, double *room);
/* p and v at local time s into y; accelerations stay as they are. */
void yoke_wire_path_at(const yoke_wire_path *path, double s, double *y);

/* Outputs of the two ports of a wire at a macro point. */
typedef struct yoke_wire_point {
  double        t;
  const double *y[2];
} yoke_wire_point;

/* [J] from from->t to t <= to->t; 0 for couplings without an element. Scratch is taken and released. */
double yoke_wire_loss(const yoke_wire *wire, const yoke_wire_point *from, const yoke_wire_point *to, double t,
                      yoke_arena *scratch);

#endif
