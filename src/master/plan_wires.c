#include "master/foreign_part.h"
#include "master/plan_builder.h"

#include <string.h>

/* Port of a foreign part at the end of a coupling: its bodies are its ports, in their order. */
static int foreign_port(const plan_builder *b, const yoke_plan_coupling *k, int side) {
  const yoke_frame end = plan_coupling_end(b, k, side);
  return plan_foreign(b, k->part[side])->port[yoke_place_find(&b->plan->places, end.body, end.mass).body];
}

static int add_port(const plan_builder *b, const yoke_plan_coupling *k, int side, int extras) {
  const int f = plan_add_end_frame(b, k, side);
  return f >= 0 ? yoke_submodel_add_port(plan_submodel(b, k->part[side]), f, extras) : -1;
}

static yoke_status add_ports(plan_builder *b, yoke_plan_coupling *k, yoke_wire *wire) {
  for (int side = 0; side < 2; ++side) {
    const int extras = wire->formulation->extras != NULL ? wire->formulation->extras(wire->self, side) : 0;
    wire->n_y[side] =
        yoke_shape_n_y(k->shape[side]) + yoke_port_n_extras(extras, k->joint.n) + plan_n_readings(k, side);
    k->port[side] = plan_foreign(b, k->part[side]) != NULL ? foreign_port(b, k, side) : add_port(b, k, side, extras);
    if (k->port[side] < 0) return plan_no_memory(b);
    wire->subsystem[side] = k->part[side];
    wire->port[side]      = k->port[side];
    wire->shape[side]     = k->shape[side];
  }
  return YOKE_OK;
}

/* What stands for the other side in a part: indices in the submodel, -1: none. */
typedef struct ghost_end {
  int ghost, connection;
} ghost_end;

/* The frame of the other side as a ghost in the part of side `side`, and the connection between it and the own frame. */
static yoke_status add_ghost(plan_builder *b, const yoke_plan_coupling *k, int side, ghost_end *out) {
  yoke_submodel     *part  = plan_submodel(b, k->part[side]);
  const yoke_frame   other = plan_coupling_end(b, k, 1 - side);
  yoke_connection    connection;
  yoke_force_element el;
  yoke_ghost         ghost = {.name = k->name, .shape = k->shape[1 - side]};
  yoke_start_motion(&b->start, &(yoke_whole_state){b->start.q, b->start.v, b->start.a}, &other, ghost.p, ghost.v);
  out->ghost = yoke_submodel_add_ghost(part, &ghost);
  if (out->ghost < 0) return plan_no_memory(b);
  yoke_frame frame = {.name = k->name, .body = YOKE_FIRST_GHOST - out->ghost};
  memcpy(frame.axes, k->element_law.link.axes[1 - side], sizeof frame.axes);
  const int ghost_frame = yoke_submodel_add_frame(part, &frame);
  if (k->connection >= 0) {
    plan_compile_connection(b->model, k->connection, &connection, &el);
    connection.frame[side] = b->frame_map[k->frame[side]];
    connection.carrier     = k->joint.carrier;
  } else {
    connection =
        (yoke_connection){.name = k->name, .kind = YOKE_CONNECTION_SPRING_DAMPER, .has_length = true, .law = k->law};
    connection.frame[side] = part->port_frame[k->port[side]];
  }
  connection.frame[1 - side] = ghost_frame;
  if (ghost_frame >= 0) out->connection = yoke_submodel_add_connection(part, &connection);
  return out->connection >= 0 ? YOKE_OK : plan_no_memory(b);
}

static yoke_input input_of(const plan_builder *b, const yoke_plan_coupling *k, const yoke_channel *channel, int side,
                           const ghost_end *end) {
  const double sign = channel->sign[side];
  switch (channel->enters[side]) {
  case YOKE_ENTRY_COPY_P: return (yoke_input){YOKE_INPUT_GHOST_P, end->ghost, channel->component, 1.0};
  case YOKE_ENTRY_COPY_V: return (yoke_input){YOKE_INPUT_GHOST_V, end->ghost, channel->component, 1.0};
  case YOKE_ENTRY_LAMBDA: return (yoke_input){YOKE_INPUT_LAMBDA, end->connection, channel->component, 1.0};
  case YOKE_ENTRY_MU: return (yoke_input){YOKE_INPUT_MU, end->connection, channel->component, 1.0};
  case YOKE_ENTRY_ROW_ACCELERATION:
    return (yoke_input){YOKE_INPUT_ROW_ACCELERATION, end->connection, channel->component, sign};
  case YOKE_ENTRY_ROW_ACCELERATION_BARE:
    return (yoke_input){YOKE_INPUT_ROW_ACCELERATION_BARE, end->connection, channel->component, sign};
  case YOKE_ENTRY_PRESCRIBED: return (yoke_input){YOKE_INPUT_PRESCRIBED, end->connection, channel->component, sign};
  case YOKE_ENTRY_IMAGE_P: return (yoke_input){YOKE_INPUT_IMAGE_P, k->port[side], channel->component, 1.0};
  case YOKE_ENTRY_IMAGE_V: return (yoke_input){YOKE_INPUT_IMAGE_V, k->port[side], channel->component, 1.0};
  default:
    return (yoke_input){YOKE_INPUT_FORCE, plan_submodel(b, k->part[side])->port_frame[k->port[side]],
                        k->shape[side]->v[channel->component].freedom, sign};
  }
}

/* Inputs of both sides as the channels ask for them. */
static yoke_status add_inputs(plan_builder *b, const yoke_plan_coupling *k, yoke_wire *wire) {
  int                 n;
  const yoke_channel *channels = wire->formulation->channels(wire->self, &n);
  for (int side = 0; side < 2; ++side) {
    if (plan_foreign(b, k->part[side]) != NULL) continue; /* the graph makes a wrench of the channels */
    ghost_end          end     = {-1, -1};
    yoke_port_request *request = &plan_submodel(b, k->part[side])->port_request[k->port[side]];
    wire->input_at[side]       = yoke_arena_take(&b->plan->arena, (size_t)n, sizeof *wire->input_at[side]);
    if (b->plan->arena.has_failed) return plan_no_memory(b);
    for (int i = 0; i < n; ++i) wire->input_at[side][i] = -1;
    if (request->extras != 0) { /* they belong to the rows of the joint as this side has it */
      YOKE_TRY(add_ghost(b, k, side, &end));
      request->connection = end.connection;
      for (int r = 0; r < k->joint.n; ++r) request->rows |= 1u << k->joint.own[r];
    }
    for (int i = 0; i < n; ++i) {
      const yoke_entry entry = channels[i].enters[side];
      if (entry == YOKE_ENTRY_NONE) continue;
      if (entry != YOKE_ENTRY_FORCE && end.ghost < 0) YOKE_TRY(add_ghost(b, k, side, &end));
      const yoke_input input  = input_of(b, k, &channels[i], side, &end);
      wire->input_at[side][i] = yoke_submodel_add_input(plan_submodel(b, k->part[side]), &input);
      if (wire->input_at[side][i] < 0) return plan_no_memory(b);
    }
  }
  return YOKE_OK;
}

yoke_status plan_connect(plan_builder *b, int coupling) {
  yoke_plan_coupling     *k    = &b->plan->couplings[coupling];
  yoke_wire              *wire = &b->plan->wires[coupling];
  const yoke_coupling_def def  = yoke_plan_coupling_def(b->plan, coupling);
  wire->name                   = k->name;
  wire->formulation            = def.formulation;
  wire->joint                  = def.joint;
  wire->spare_order            = k->spare_order;
  YOKE_TRY(wire->formulation->create(b->ctx, &def, &wire->self));
  if (k->is_overlap) return plan_connect_overlap(b, k, wire);
  YOKE_TRY(add_ports(b, k, wire));
  YOKE_TRY(add_inputs(b, k, wire));
  return plan_set_initial(b, coupling);
}
