#include "master/plan_builder.h"

#include "coupling/constraint.h"
#include <string.h>

/* Value of one channel as side `side` gets it, or `unknown`. */
static double channel_value(const yoke_plan_coupling *k, const yoke_channel *channel, int side, const double *lambda,
                            const double *const y[2], double unknown) {
  const int    at = channel->component, other = 1 - side;
  const double sign = channel->sign[side];
  switch (channel->enters[side]) {
  case YOKE_ENTRY_LAMBDA: return lambda[at];
  case YOKE_ENTRY_COPY_P: return y[other][at];
  case YOKE_ENTRY_COPY_V: return y[other][yoke_shape_at_v(k->shape[other]) + at];
  case YOKE_ENTRY_PRESCRIBED:
  case YOKE_ENTRY_ROW_ACCELERATION: return -yoke_joint_row_share(&k->joint, k->shape, y, at, side, true) / sign;
  case YOKE_ENTRY_ROW_ACCELERATION_BARE: return -yoke_joint_row_share(&k->joint, k->shape, y, at, side, false) / sign;
  case YOKE_ENTRY_MU:      /* 0 */
  case YOKE_ENTRY_IMAGE_P: /* known through the copies */
  case YOKE_ENTRY_IMAGE_V:
  case YOKE_ENTRY_FORCE:
  case YOKE_ENTRY_SIGNAL:
  case YOKE_ENTRY_NONE: break;
  }
  return unknown;
}

void plan_joint_values(const yoke_plan *plan, int coupling, const double *lambda, const double *const y[2], double *u) {
  const yoke_wire          *wire = &plan->wires[coupling];
  int                       n;
  const yoke_channel       *channels                 = wire->formulation->channels(wire->self, &n);
  const yoke_plan_coupling *k                        = &plan->couplings[coupling];
  double                    own[YOKE_JOINT_MAX_ROWS] = {0.0}; /* lambda as the channels have it */
  memcpy(own, lambda, (size_t)k->joint.n_own * sizeof *own);
  yoke_joint_turn_force(&k->joint, k->shape, y, true, own);
  for (int i = 0; i < n; ++i) {
    u[i] = 0.0;
    for (int side = 0; side < 2; ++side) {
      u[i] = channel_value(k, &channels[i], side, own, y, u[i]);
    }
  }
}

void plan_port_outputs(const plan_builder *b, int coupling, int side, const yoke_whole_state *at, double *y) {
  const yoke_plan_coupling *k = &b->plan->couplings[coupling];
  const int n_ports = k->is_overlap ? yoke_overlap_n_ports(k->overlap.held[side], k->overlap.held[1 - side]) : 1;
  for (int port = 0; port < n_ports; ++port, y += yoke_shape_n_y(k->shape[side])) {
    yoke_frame end = plan_coupling_end(b, k, side);
    if (k->is_overlap) end.mass = plan_overlap_mass(k, side, port);
    yoke_start_motion(&b->start, at, &end, y, y + yoke_shape_at_v(k->shape[side]));
    yoke_start_acceleration(&b->start, at, &end, y + yoke_shape_at_a(k->shape[side]));
  }
}

yoke_status plan_set_initial(plan_builder *b, int coupling) {
  const yoke_whole_state at   = {b->start.q, b->start.v, b->start.a};
  yoke_plan_coupling    *k    = &b->plan->couplings[coupling];
  yoke_wire             *wire = &b->plan->wires[coupling];
  const int              n    = plan_n_channels(wire);
  double                 out[2][YOKE_PORT_MAX_Y];
  if (!k->is_joint || b->plan->n_foreigns > 0)
    return YOKE_OK; /* forces of foreign subsystems are known when they start */
  k->initial = yoke_arena_take(&b->plan->arena, (size_t)n + 1, sizeof *k->initial);
  if (b->plan->arena.has_failed) return plan_no_memory(b);
  for (int side = 0; side < 2; ++side) plan_port_outputs(b, coupling, side, &at, out[side]);
  const double *const y[2] = {out[0], out[1]};
  plan_joint_values(b->plan, coupling, yoke_start_lambda(&b->start, k->connection), y, k->initial);
  wire->initial = k->initial;
  return YOKE_OK;
}

int plan_n_channels(const yoke_wire *wire) {
  int n;
  (void)wire->formulation->channels(wire->self, &n);
  return n;
}
