#include "master/split.h"

#include "base/memory.h"
#include "coupling/constraint.h"
#include "coupling/scheme.h"
#include "master/lighter_side.h"
#include "master/macro_settings.h"
#include "model/force_element_compile.h"
#include "model/model_length.h"
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

/* ---- settings ---- */

yoke_status yoke_split_settings(yoke_context *ctx, const yoke_model *model, yoke_scheme_settings *settings,
                                double *step) {
  yoke_macro_settings macro;
  yoke_macro_settings_read(model, &macro);
  *settings        = macro.scheme;
  *step            = macro.step;
  settings->length = yoke_model_length(model);
  if (settings->joint_tolerance == 0.0) settings->joint_tolerance = 1e-3 * settings->length;
  if (macro.order < 0 && macro.step > 0.0) {
    return yoke_fail(ctx, YOKE_E_MODEL,
                     "cosimulation.order: found an order that is chosen during the run, expected a number from 0 to 5 "
                     "with the fixed macro step %g s; use cosimulation.step auto",
                     macro.step);
  }
  return YOKE_OK;
}

/* What was given for one coupling beside what was given for all: below its own name, else below the chain it cuts. NULL: nothing. */
static const yoke_settings *find_own(const yoke_split *split, const yoke_split_coupling *coupling) {
  const yoke_cosimulation_def *c     = &split->model->cosimulation;
  const char                  *chain = coupling->chain >= 0 ? split->model->bodies[coupling->chain].name : NULL;
  const yoke_settings         *found = NULL;
  for (int k = 0; k < c->n_own && chain != NULL; ++k) {
    if (strcmp(c->own[k].name, chain) == 0) found = &c->own[k].given;
  }
  for (int k = 0; k < c->n_own; ++k) {
    if (strcmp(c->own[k].name, coupling->name) == 0) found = &c->own[k].given;
  }
  return found;
}

/* Degree of couplings that fix their own where the run would choose: order control cannot change it. */
enum { OWN_DEGREE = 2 };

static int own_degree(const yoke_macro_settings *macro) {
  if (macro->order >= 0) return macro->order;
  return macro->control.order_max < OWN_DEGREE ? macro->control.order_max : OWN_DEGREE;
}

/* A formulation for all couplings is meant for those of its kind, when there are any; the others keep their own. */
static const char *formulation_of(const yoke_split *split, const yoke_split_coupling *coupling, const char *given) {
  const yoke_setting_value *for_all =
      yoke_settings_find(&split->model->cosimulation.couplings, YOKE_COUPLING_PATH, "formulation");
  const char *plain = coupling->is_joint ? "stabilized-index-2" : "constitutive";
  if (given[0] == '\0') return plain;
  const yoke_formulation_ops *ops = yoke_formulation_find(given);
  if (ops == NULL || ops->for_joints == coupling->is_joint || for_all == NULL || strcmp(given, for_all->text) != 0)
    return given;
  for (int k = 0; k < split->n_couplings; ++k) {
    if (split->couplings[k].is_joint == ops->for_joints) return plain;
  }
  return given;
}

static yoke_status set_coupling(yoke_context *ctx, const yoke_split *split, const yoke_macro_settings *macro,
                                yoke_split_coupling *coupling) {
  yoke_coupling_settings    *s        = &coupling->settings;
  const yoke_settings *const lists[2] = {&split->model->cosimulation.couplings, find_own(split, coupling)};
  yoke_setting_start(&yoke_coupling_rows, s);
  for (int i = 0; i < 2; ++i) {
    if (lists[i] != NULL) yoke_setting_fill(&yoke_coupling_rows, YOKE_COUPLING_PATH, lists[i], s);
  }
  char given[sizeof s->formulation];
  memcpy(given, s->formulation, sizeof given);
  snprintf(s->formulation, sizeof s->formulation, "%s", formulation_of(split, coupling, given));
  s->step                         = macro->step;
  s->order                        = own_degree(macro);
  s->relaxation                   = macro->relaxation;
  const yoke_formulation_ops *ops = yoke_formulation_find(s->formulation);
  if (ops == NULL || ops->for_joints != coupling->is_joint) {
    return yoke_fail(ctx, YOKE_E_MODEL,
                     "coupling '%s': formulation '%s' is not for %s; use formulation %s (yoke help formulations lists "
                     "all)",
                     coupling->name, s->formulation,
                     coupling->is_joint ? "rigid joints" : "force elements and flexible joints",
                     coupling->is_joint ? "stabilized-index-2, or another one for rigid joints" : "constitutive");
  }
  yoke_coupling_own(ops, 2, lists, s);
  return YOKE_OK;
}

/* ---- building ---- */

/* What is needed only while a split is built. */
typedef struct builder {
  yoke_context *ctx;
  yoke_split   *split;
  int          *frame_map; /* [n_frames] frame of the part's submodel; -1: ground */
  const double *q, *v;     /* start of the whole model; NULL: assembled */
} builder;

static yoke_status no_memory(const builder *b) {
  return yoke_out_of_memory(b->ctx, "the split of model '%s'", b->split->model->name);
}

static const char *part_name(const builder *b, int part) {
  return b->split->model->parts[part].name;
}

/* Part of a frame's body; the ground: -1, it is in every part. */
static int frame_part(const builder *b, int f) {
  const yoke_frame *frame = &b->split->model->frames[f];
  return frame->body < 0 ? -1 : yoke_partition_find(&b->split->partition, frame->body, frame->mass).part;
}

static yoke_status map_frames(builder *b) {
  const yoke_model *model = b->split->model;
  for (int f = 0; f < model->n_frames; ++f) {
    yoke_frame frame = model->frames[f];
    b->frame_map[f]  = -1;
    if (frame.body < 0) continue;
    if (frame.body >= model->n_bodies || frame.mass < 0 ||
        frame.mass >= (model->bodies[frame.body].chain == NULL ? 1 : model->bodies[frame.body].chain->n)) {
      return yoke_fail(b->ctx, YOKE_E_MODEL, "frame '%s': there is no body %d with mass %d", frame.name, frame.body,
                       frame.mass + 1);
    }
    const yoke_place place = yoke_partition_find(&b->split->partition, frame.body, frame.mass);
    frame.body             = place.body;
    frame.mass             = place.mass;
    b->frame_map[f]        = yoke_submodel_add_frame(&b->split->parts[place.part], &frame);
    if (b->frame_map[f] < 0) return no_memory(b);
  }
  return YOKE_OK;
}

/* Frame of the submodel for frame f of the model; a frame of the ground is added for this use. */
static int frame_in_part(builder *b, int part, int f) {
  if (b->frame_map[f] >= 0) return b->frame_map[f];
  return yoke_submodel_add_frame(&b->split->parts[part], &b->split->model->frames[f]);
}

/* Angle of a frame's x axis in its body's plane. */
static double frame_angle(const yoke_frame *frame) {
  return atan2(frame->axes[3], frame->axes[0]);
}

/* The connection with a length that was not given filled in, compiled between its two bodies as drawn. */
static void compile_connection(const yoke_model *model, int c, yoke_connection *connection, yoke_force_element *el) {
  static const int node[2] = {0, 1};
  yoke_pose        drawn[2];
  *connection = model->connections[c];
  for (int side = 0; side < 2; ++side) yoke_drawn_pose(model, &model->frames[connection->frame[side]], &drawn[side]);
  yoke_force_element_compile(model, c, node, drawn, el);
  connection->has_initial = connection->has_initial_rate = false; /* the assembly is done */
  if (connection->has_length || el->n == 0) return;
  connection->has_length = true;
  connection->length     = el->offset[0];
  if (el->row[0].kind == YOKE_ROW_TURN) { /* its offset counts between the bodies, the length between the frames */
    connection->length -=
        frame_angle(&model->frames[connection->frame[0]]) - frame_angle(&model->frames[connection->frame[1]]);
  }
}

static yoke_status add_inner_connection(builder *b, int c, int part) {
  yoke_connection    connection;
  yoke_force_element el;
  compile_connection(b->split->model, c, &connection, &el);
  for (int side = 0; side < 2; ++side) {
    connection.frame[side] = frame_in_part(b, part, connection.frame[side]);
    if (connection.frame[side] < 0) return no_memory(b);
  }
  return yoke_submodel_add_connection(&b->split->parts[part], &connection) >= 0 ? YOKE_OK : no_memory(b);
}

/* ---- couplings ---- */

/* Rows of a rigid joint that have an effect on its two bodies and do not follow from other joints (`retired`), between the
 * frames of its ports. */
static void compile_joint(int c, const yoke_force_element *el, const yoke_port_shape *const shape[2],
                          const bool *retired, yoke_joint_element *joint) {
  *joint = (yoke_joint_element){.link = el->link, .connection = c, .n_own = el->n};
  for (int i = 0; i < el->n; ++i) {
    if (retired[i] || yoke_row_is_idle(&el->row[i], &el->link, shape)) continue;
    joint->row[joint->n]      = el->row[i];
    joint->own[joint->n]      = i;
    joint->offset[joint->n++] = el->offset[i];
  }
  for (int side = 0; side < 2; ++side) memset(joint->link.origin[side], 0, sizeof joint->link.origin[side]);
}

static yoke_status add_coupling(builder *b, int c, const int part[2]) {
  const yoke_model      *model      = b->split->model;
  const yoke_connection *connection = &model->connections[c];
  if (connection->motion != NULL) {
    return yoke_fail(b->ctx, YOKE_E_MODEL,
                     "joint '%s' has a prescribed motion and lies between subsystems '%s' and '%s': keep its bodies in "
                     "one subsystem",
                     connection->name, part_name(b, part[0]), part_name(b, part[1]));
  }
  yoke_split_coupling k = {.connection = c, .chain = -1, .element = -1};
  yoke_connection     filled;
  compile_connection(model, c, &filled, &k.element_law);
  for (int side = 0; side < 2; ++side) {
    k.frame[side] = connection->frame[side];
    k.part[side]  = part[side];
    k.shape[side] = yoke_body_shape(model->bodies[model->frames[k.frame[side]].body].kind);
  }
  k.is_joint = yoke_connection_is_joint(connection->kind) && !connection->flexible;
  if (k.is_joint) {
    compile_joint(c, &k.element_law, k.shape, b->split->start.retired + (ptrdiff_t)7 * c, &k.joint);
    if (k.joint.n == 0) return YOKE_OK; /* nothing that its bodies could feel, or that others do not hold already */
  }
  for (int side = 0; side < 2; ++side)
    memset(k.element_law.link.origin[side], 0, sizeof k.element_law.link.origin[side]);
  k.name                   = yoke_arena_text(&b->split->arena, connection->name);
  yoke_split_coupling *own = &b->split->couplings[b->split->n_couplings++];
  *own                     = k;
  if (k.element_law.law != NULL) {
    yoke_law_copy(&b->split->arena, k.element_law.law, &own->law);
    own->element_law.law = &own->law;
  }
  return b->split->arena.has_failed ? no_memory(b) : YOKE_OK;
}

static double element_value(const yoke_per_mass *values, int i) {
  return values->each != NULL ? values->each[i] : values->value;
}

/* Element i of a chain between pieces j - 1 and j. */
static yoke_status add_cut(builder *b, int body, int i, int j, const yoke_place *left, const yoke_place *right) {
  const yoke_chain *chain = b->split->model->bodies[body].chain;
  const yoke_law    law   = {.stiffness       = element_value(&chain->stiffness, i),
                             .damping         = element_value(&chain->damping, i),
                             .stiffness_power = element_value(&chain->stiffness_power, i),
                             .damping_power   = element_value(&chain->damping_power, i),
                             .exponent_x      = chain->exponent_x,
                             .exponent_v      = chain->exponent_v};
  if (law.stiffness == 0.0 && law.damping == 0.0 && law.stiffness_power == 0.0 && law.damping_power == 0.0)
    return YOKE_OK;
  char name[300];
  snprintf(name, sizeof name, "%s.cut[%d]", b->split->model->bodies[body].name, j);
  yoke_split_coupling *k = &b->split->couplings[b->split->n_couplings++];
  *k                     = (yoke_split_coupling){.name       = yoke_arena_text(&b->split->arena, name),
                                                 .connection = -1,
                                                 .chain      = body,
                                                 .element    = i,
                                                 .frame      = {-1, -1},
                                                 .part       = {left->part, right->part},
                                                 .shape      = {&yoke_shape_line, &yoke_shape_line},
                                                 .law        = law};
  k->element_law         = (yoke_force_element){.connection = -1, .n = 1, .law = &k->law, .link.node = {0, 1}};
  k->element_law.row[0]  = (yoke_row){YOKE_ROW_STRETCH, 0, 0};
  for (int side = 0; side < 2; ++side) memcpy(k->element_law.link.axes[side], identity, sizeof identity);
  return b->split->arena.has_failed ? no_memory(b) : YOKE_OK;
}

static yoke_status add_cuts(builder *b, int body) {
  const yoke_partition *p = &b->split->partition;
  for (int k = p->piece_at[body] + 1; k < p->piece_at[body + 1]; ++k) {
    YOKE_TRY(add_cut(b, body, p->pieces[k].first, k - p->piece_at[body], &p->pieces[k - 1].place, &p->pieces[k].place));
  }
  return YOKE_OK;
}

/* Every connection to its part or to the list of couplings, then the cuts of chains. */
static yoke_status sort_connections(builder *b) {
  yoke_split       *split = b->split;
  const yoke_model *model = split->model;
  const size_t      most  = (size_t)model->n_connections + (size_t)split->partition.piece_at[model->n_bodies] + 1;
  split->couplings        = yoke_arena_take(&split->arena, most, sizeof *split->couplings);
  split->wires            = yoke_arena_take(&split->arena, most, sizeof *split->wires);
  if (split->arena.has_failed) return no_memory(b);
  for (int c = 0; c < model->n_connections; ++c) {
    const int *frame = model->connections[c].frame;
    int        part[2];
    for (int side = 0; side < 2; ++side) part[side] = frame_part(b, frame[side]);
    if (part[0] < 0) part[0] = part[1] < 0 ? 0 : part[1];
    if (part[1] < 0) part[1] = part[0];
    if (part[0] == part[1])
      YOKE_TRY(add_inner_connection(b, c, part[0]));
    else
      YOKE_TRY(add_coupling(b, c, part));
  }
  for (int body = 0; body < model->n_bodies; ++body) {
    if (model->bodies[body].kind == YOKE_BODY_CHAIN) YOKE_TRY(add_cuts(b, body));
  }
  return YOKE_OK;
}

/* Where side `side` of a coupling sits in the whole model: body, mass and origin; the axes are those of the body. */
static yoke_frame coupling_end(const builder *b, const yoke_split_coupling *k, int side) {
  yoke_frame frame = {.name = k->name};
  if (k->connection >= 0) {
    frame.body = b->split->model->frames[k->frame[side]].body;
    frame.mass = b->split->model->frames[k->frame[side]].mass;
    memcpy(frame.origin, b->split->model->frames[k->frame[side]].origin, sizeof frame.origin);
  } else {
    frame.body = k->chain;
    frame.mass = k->element - 1 + side;
  }
  memcpy(frame.axes, identity, sizeof identity);
  return frame;
}

/* The same as a frame of its part; -1: no memory. */
static int add_end_frame(const builder *b, const yoke_split_coupling *k, int side) {
  yoke_frame       frame = coupling_end(b, k, side);
  const yoke_place place = yoke_partition_find(&b->split->partition, frame.body, frame.mass);
  frame.body             = place.body;
  frame.mass             = place.mass;
  return yoke_submodel_add_frame(&b->split->parts[k->part[side]], &frame);
}

static yoke_status add_ports(builder *b, yoke_split_coupling *k, yoke_wire *wire) {
  for (int side = 0; side < 2; ++side) {
    yoke_submodel *part = &b->split->parts[k->part[side]];
    const int      f    = add_end_frame(b, k, side);
    if (f < 0) return no_memory(b);
    const int extras = wire->formulation->extras != NULL ? wire->formulation->extras(wire->self, side) : 0;
    wire->n_y[side]  = yoke_shape_n_y(k->shape[side]) + yoke_port_n_extras(extras, k->joint.n);
    k->port[side]    = yoke_submodel_add_port(part, f, extras, k->joint.n, &wire->y_at[side]);
    if (k->port[side] < 0) return no_memory(b);
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
static yoke_status add_ghost(builder *b, const yoke_split_coupling *k, int side, ghost_end *out) {
  yoke_submodel     *part  = &b->split->parts[k->part[side]];
  const yoke_frame   other = coupling_end(b, k, 1 - side);
  yoke_connection    connection;
  yoke_force_element el;
  yoke_ghost         ghost = {.name = k->name, .shape = k->shape[1 - side]};
  yoke_start_motion(&b->split->start, b->split->model, &other, ghost.p, ghost.v);
  out->ghost = yoke_submodel_add_ghost(part, &ghost);
  if (out->ghost < 0) return no_memory(b);
  yoke_frame frame = {.name = k->name, .body = YOKE_FIRST_GHOST - out->ghost};
  memcpy(frame.axes, k->element_law.link.axes[1 - side], sizeof frame.axes);
  const int ghost_frame = yoke_submodel_add_frame(part, &frame);
  if (k->connection >= 0) {
    compile_connection(b->split->model, k->connection, &connection, &el);
    connection.frame[side] = b->frame_map[k->frame[side]];
  } else {
    connection =
        (yoke_connection){.name = k->name, .kind = YOKE_CONNECTION_SPRING_DAMPER, .has_length = true, .law = k->law};
    connection.frame[side] = part->port_frame[k->port[side]];
  }
  connection.frame[1 - side] = ghost_frame;
  if (ghost_frame >= 0) out->connection = yoke_submodel_add_connection(part, &connection);
  return out->connection >= 0 ? YOKE_OK : no_memory(b);
}

static yoke_input input_of(const yoke_split *split, const yoke_split_coupling *k, const yoke_channel *channel, int side,
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
    return (yoke_input){YOKE_INPUT_FORCE, split->parts[k->part[side]].port_frame[k->port[side]],
                        k->shape[side]->v[channel->component].freedom, sign};
  }
}

/* Inputs of both sides as the channels ask for them. */
static yoke_status add_inputs(builder *b, const yoke_split_coupling *k, yoke_wire *wire) {
  int                 n;
  const yoke_channel *channels = wire->formulation->channels(wire->self, &n);
  for (int side = 0; side < 2; ++side) {
    ghost_end          end     = {-1, -1};
    yoke_port_request *request = &b->split->parts[k->part[side]].port_request[k->port[side]];
    wire->input_at[side]       = yoke_arena_take(&b->split->arena, (size_t)n, sizeof *wire->input_at[side]);
    if (b->split->arena.has_failed) return no_memory(b);
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
      const yoke_input input  = input_of(b->split, k, &channels[i], side, &end);
      wire->input_at[side][i] = yoke_submodel_add_input(&b->split->parts[k->part[side]], &input);
      if (wire->input_at[side][i] < 0) return no_memory(b);
    }
  }
  return YOKE_OK;
}

/* Value of one channel as side `side` gets it, or `unknown`. */
static double channel_value(const yoke_split_coupling *k, const yoke_channel *channel, int side, const double *lambda,
                            const double *const y[2], double unknown) {
  const int    at = channel->component, other = 1 - side;
  const double sign = channel->sign[side];
  switch (channel->enters[side]) {
  case YOKE_ENTRY_LAMBDA: return lambda[at];
  case YOKE_ENTRY_COPY_P: return y[other][at];
  case YOKE_ENTRY_COPY_V: return y[other][k->shape[other]->n_p + at];
  case YOKE_ENTRY_PRESCRIBED:
  case YOKE_ENTRY_ROW_ACCELERATION: return -yoke_joint_row_share(&k->joint, k->shape, y, at, side, true) / sign;
  case YOKE_ENTRY_ROW_ACCELERATION_BARE: return -yoke_joint_row_share(&k->joint, k->shape, y, at, side, false) / sign;
  case YOKE_ENTRY_MU:      /* 0 */
  case YOKE_ENTRY_IMAGE_P: /* known through the copies */
  case YOKE_ENTRY_IMAGE_V:
  case YOKE_ENTRY_FORCE:
  case YOKE_ENTRY_NONE: break;
  }
  return unknown;
}

void yoke_split_joint_values(const yoke_split *split, int i_coupling, const double *lambda, const double *const y[2],
                             double *u) {
  const yoke_wire    *wire = &split->wires[i_coupling];
  int                 n;
  const yoke_channel *channels = wire->formulation->channels(wire->self, &n);
  for (int i = 0; i < n; ++i) {
    u[i] = 0.0;
    for (int side = 0; side < 2; ++side) {
      u[i] = channel_value(&split->couplings[i_coupling], &channels[i], side, lambda, y, u[i]);
    }
  }
}

/* Values of the channels of a joint at the start: multipliers of the whole model, its motion and accelerations. */
static yoke_status set_initial(builder *b, yoke_split_coupling *k, yoke_wire *wire) {
  const yoke_split *split = b->split;
  int               n;
  (void)wire->formulation->channels(wire->self, &n);
  double out[2][YOKE_PORT_MAX_Y];
  if (!k->is_joint) return YOKE_OK;
  k->initial = yoke_arena_take(&b->split->arena, (size_t)n + 1, sizeof *k->initial);
  if (b->split->arena.has_failed) return no_memory(b);
  for (int side = 0; side < 2; ++side) {
    const yoke_frame end = coupling_end(b, k, side);
    const int        n_p = k->shape[side]->n_p, n_v = k->shape[side]->n_v;
    double           p[7], v[6], a[6];
    yoke_start_motion(&split->start, split->model, &end, p, v);
    yoke_start_acceleration(&split->start, split->model, &end, a);
    memcpy(out[side], p, (size_t)n_p * sizeof *p);
    memcpy(out[side] + n_p, v, (size_t)n_v * sizeof *v);
    memcpy(out[side] + n_p + n_v, a, (size_t)n_v * sizeof *a);
  }
  const double *const y[2] = {out[0], out[1]};
  yoke_split_joint_values(split, (int)(k - split->couplings), split->start.lambda + 7 * k->connection, y, k->initial);
  wire->initial = k->initial;
  return YOKE_OK;
}

/* The setting that names a side of the coupling; NULL: the formulation has none. */
static const yoke_setting *side_row(const yoke_setting_table *table) {
  for (int i = 0; i < table->n; ++i) {
    if (table->rows[i].type == YOKE_SETTING_SUBSYSTEM) return &table->rows[i];
  }
  return NULL;
}

/* The side that a formulation lets the user name: as given, else the lighter one. */
static yoke_status set_side(builder *b, yoke_split_coupling *k) {
  const yoke_split   *split = b->split;
  const yoke_setting *row   = side_row(&yoke_formulation_find(k->settings.formulation)->settings);
  double              ratio;
  if (row == NULL) return YOKE_OK;
  char *given = (char *)k->settings.own + row->at;
  for (int side = 0; side < 2; ++side) {
    k->settings.side = side;
    if (strcmp(given, part_name(b, k->part[side])) == 0) return YOKE_OK;
  }
  if (given[0] != '\0') {
    return yoke_fail(b->ctx, YOKE_E_MODEL,
                     "coupling '%s': %s is '%s', expected '%s' or '%s', which it joins; a coupling has its own "
                     "below its name (cosimulation.couplings.%s.%s)",
                     k->name, row->key, given, part_name(b, k->part[0]), part_name(b, k->part[1]), k->name, row->key);
  }
  yoke_joint_end end[2];
  for (int side = 0; side < 2; ++side) {
    const yoke_frame frame = coupling_end(b, k, side);
    end[side]              = (yoke_joint_end){
                     .submodel = split->parts[k->part[side]].model, .frame = add_end_frame(b, k, side), .shape = k->shape[side]};
    if (end[side].frame < 0) return no_memory(b);
    yoke_start_motion(&split->start, split->model, &frame, end[side].p, end[side].v);
  }
  const yoke_status status = yoke_lighter_side(b->ctx, &k->joint, end, &k->settings.side, &ratio);
  if (status != YOKE_OK) {
    return yoke_fail(b->ctx, status, "coupling '%s': name the side whose motion follows (%s: '%s' or '%s')", k->name,
                     row->key, part_name(b, k->part[0]), part_name(b, k->part[1]));
  }
  const int side = k->settings.side;
  snprintf(given, row->size, "%s", part_name(b, k->part[side]));
  yoke_warn(b->ctx,
            "coupling '%s': the motion of subsystem '%s' is prescribed, the better one of the two sides: '%s' weighs "
            "at least %.4g times as much in every direction of the joint; name it to choose (%s: %s)",
            k->name, part_name(b, k->part[side]), part_name(b, k->part[1 - side]), ratio, row->key,
            part_name(b, k->part[side]));
  return YOKE_OK;
}

static yoke_coupling_def coupling_def(const yoke_split_coupling *k) {
  return (yoke_coupling_def){.name        = k->name,
                             .formulation = yoke_formulation_find(k->settings.formulation),
                             .joint       = k->is_joint ? &k->joint : NULL,
                             .element     = k->is_joint ? NULL : &k->element_law,
                             .shape       = {k->shape[0], k->shape[1]},
                             .settings    = &k->settings};
}

yoke_coupling_def yoke_split_coupling_def(const yoke_split *split, int coupling) {
  return coupling_def(&split->couplings[coupling]);
}

/* Is the formulation possible with these settings? */
static yoke_status check_formulation(builder *b, const yoke_macro_settings *macro, const yoke_split_coupling *k) {
  const yoke_coupling_def def    = coupling_def(k);
  const yoke_scheme_ops  *scheme = yoke_scheme_find(macro->scheme.scheme);
  const int               order  = macro->order < 0 ? macro->control.order_min : macro->order;
  return def.formulation->check(b->ctx, &def, scheme != NULL ? &scheme->traits : NULL, order);
}

static yoke_status connect(builder *b, yoke_split_coupling *k, yoke_wire *wire) {
  const yoke_coupling_def def = coupling_def(k);
  wire->name                  = k->name;
  wire->formulation           = def.formulation;
  wire->joint                 = def.joint;
  YOKE_TRY(wire->formulation->create(b->ctx, &def, &wire->self));
  YOKE_TRY(add_ports(b, k, wire));
  YOKE_TRY(add_inputs(b, k, wire));
  return set_initial(b, k, wire);
}

/* ---- loads and events ---- */

static void state_name(const yoke_model *model, int variable, char *text, size_t size) {
  const yoke_variable *v = &model->variables[variable - 1];
  char                 component[64];
  if (!yoke_body_component_name(&model->bodies[v->body], v->is_velocity, v->mass + v->component, component,
                                sizeof component))
    component[0] = '\0';
  snprintf(text, size, "%s.%s", model->bodies[v->body].name, component);
}

/* Part of a variable; *part < 0 takes it over, a different one is a mistake. */
static yoke_status agree(const builder *b, const char *what, const char *name, int variable, int *part) {
  const yoke_model    *model = b->split->model;
  const yoke_variable *v     = &model->variables[variable - 1];
  const int            own   = yoke_partition_find(&b->split->partition, v->body, v->mass).part;
  if (*part < 0) *part = own;
  if (own == *part) return YOKE_OK;
  char state[200];
  state_name(model, variable, state, sizeof state);
  return yoke_fail(b->ctx, YOKE_E_MODEL,
                   "%s '%s' of subsystem '%s' uses '%s' of subsystem '%s': keep these bodies in one subsystem", what,
                   name, part_name(b, *part), state, part_name(b, own));
}

static yoke_status agree_expression(const builder *b, const char *what, const char *name, const yoke_expression *e,
                                    int *part) {
  for (int k = 0; e != NULL && k < yoke_expression_n_variables(e); ++k) {
    const int variable = yoke_expression_variables(e)[k];
    if (variable > 0) YOKE_TRY(agree(b, what, name, variable, part));
  }
  return YOKE_OK;
}

static yoke_status sort_loads(builder *b) {
  const yoke_model *model = b->split->model;
  for (int i = 0; i < model->n_loads; ++i) {
    yoke_load load = model->loads[i];
    int       part = frame_part(b, load.frame);
    if (part < 0) continue; /* on the ground: no effect */
    for (int k = 0; k < 3; ++k) YOKE_TRY(agree_expression(b, "load", load.name, load.value[k], &part));
    load.frame = b->frame_map[load.frame];
    if (yoke_submodel_add_load(&b->split->parts[part], &load) < 0) return no_memory(b);
  }
  return YOKE_OK;
}

static yoke_status sort_events(builder *b) {
  const yoke_model *model = b->split->model;
  b->split->events        = yoke_arena_take(&b->split->arena, (size_t)model->n_events + 1, sizeof *b->split->events);
  if (b->split->arena.has_failed) return no_memory(b);
  for (int i = 0; i < model->n_events; ++i) {
    const yoke_event *event = &model->events[i];
    int               part  = -1;
    for (int k = 0; k < event->n_set; ++k) YOKE_TRY(agree(b, "event", event->name, event->variable[k], &part));
    YOKE_TRY(agree_expression(b, "event", event->name, event->when, &part));
    for (int k = 0; k < event->n_set; ++k) YOKE_TRY(agree_expression(b, "event", event->name, event->value[k], &part));
    if (part < 0) part = 0; /* of time alone: any subsystem sees it */
    b->split->events[i] = (yoke_split_event){part, yoke_submodel_add_event(&b->split->parts[part], event)};
    if (b->split->events[i].own < 0) return no_memory(b);
  }
  return YOKE_OK;
}

/* An integral of a position is a quadrature of the subsystem that owns the body. */
static yoke_status sort_integrals(builder *b) {
  yoke_split *s = b->split;
  s->integrals  = yoke_arena_take(&s->arena, (size_t)s->model->output.n_integrals + 1, sizeof *s->integrals);
  if (s->arena.has_failed) return no_memory(b);
  for (int k = 0; k < s->model->output.n_integrals; ++k) {
    yoke_variable position;
    YOKE_TRY(yoke_model_integral(b->ctx, s->model, k, &position));
    const yoke_place place = yoke_partition_find(&s->partition, position.body, position.mass);
    position.body          = place.body;
    position.mass          = place.mass;
    s->integrals[k] = (yoke_split_integral){place.part, yoke_submodel_add_integral(&s->parts[place.part], &position)};
    if (s->integrals[k].own < 0) return no_memory(b);
  }
  return YOKE_OK;
}

/* ---- creation ---- */

void yoke_split_destroy(yoke_split **split) {
  if (split == NULL || *split == NULL) return;
  yoke_split *s = *split;
  for (int k = 0; k < s->n_couplings; ++k) {
    if (s->wires[k].self != NULL) s->wires[k].formulation->destroy(s->wires[k].self);
    yoke_law_clear(&s->couplings[k].law);
  }
  for (int p = 0; s->parts != NULL && p < s->n_parts; ++p) yoke_submodel_clear(&s->parts[p]);
  yoke_partition_clear(&s->partition);
  yoke_start_clear(&s->start);
  yoke_arena_free(&s->arena);
  free(s);
  *split = NULL;
}

static yoke_status build(builder *b) {
  yoke_split *s = b->split;
  YOKE_TRY(yoke_partition_create(b->ctx, s->model, &s->partition));
  YOKE_TRY(yoke_start_create(b->ctx, &s->partition, b->q, b->v, &s->start));
  s->parts     = yoke_arena_take(&s->arena, (size_t)s->model->n_parts + 1, sizeof *s->parts);
  b->frame_map = yoke_allocate((size_t)s->model->n_frames + 1, sizeof *b->frame_map);
  if (s->arena.has_failed || b->frame_map == NULL) return no_memory(b);
  s->n_parts = s->model->n_parts;
  for (int p = 0; p < s->n_parts; ++p)
    YOKE_TRY(yoke_submodel_create(b->ctx, &s->partition, &s->start, p, &s->parts[p]));
  YOKE_TRY(map_frames(b));
  YOKE_TRY(sort_connections(b));
  yoke_macro_settings macro;
  yoke_macro_settings_read(s->model, &macro);
  for (int k = 0; k < s->n_couplings; ++k) YOKE_TRY(set_coupling(b->ctx, s, &macro, &s->couplings[k]));
  for (int k = 0; k < s->n_couplings; ++k) YOKE_TRY(check_formulation(b, &macro, &s->couplings[k]));
  for (int k = 0; k < s->n_couplings; ++k) YOKE_TRY(set_side(b, &s->couplings[k])); /* while no part has ghosts */
  for (int k = 0; k < s->n_couplings; ++k) YOKE_TRY(connect(b, &s->couplings[k], &s->wires[k]));
  YOKE_TRY(sort_loads(b));
  YOKE_TRY(sort_events(b));
  for (int p = 0; p < s->n_parts; ++p) YOKE_TRY(yoke_submodel_set_variables(b->ctx, &s->parts[p], &s->partition, p));
  return sort_integrals(b);
}

yoke_status yoke_split_create(yoke_context *ctx, const yoke_model *model, yoke_split **out) {
  return yoke_split_create_at(ctx, model, NULL, NULL, out);
}

yoke_status yoke_split_create_at(yoke_context *ctx, const yoke_model *model, const double *q, const double *v,
                                 yoke_split **out) {
  builder b = {.ctx = ctx, .split = yoke_allocate(1, sizeof *b.split), .q = q, .v = v};
  *out      = NULL;
  if (b.split == NULL) return yoke_out_of_memory(ctx, "the split of model '%s'", model->name);
  b.split->model           = model;
  const yoke_status status = build(&b);
  free(b.frame_map);
  if (status == YOKE_OK)
    *out = b.split;
  else
    yoke_split_destroy(&b.split);
  return status;
}

/* Integrals of positions are outputs for conditions on integrals only; without them chains keep their fast equations. */
static bool needs_integrals(const yoke_split *split, int part) {
  for (int k = 0; k < split->n_couplings; ++k) {
    const yoke_split_coupling *c = &split->couplings[k];
    if (c->settings.extension == YOKE_EXTENSION_I && (c->part[0] == part || c->part[1] == part)) return true;
  }
  return false;
}

yoke_native_def yoke_split_native(const yoke_split *split, int part) {
  const yoke_submodel *s = &split->parts[part];
  return (yoke_native_def){.name         = split->model->parts[part].name,
                           .model        = s->model,
                           .n_ports      = s->n_ports,
                           .port_frame   = s->port_frame,
                           .port_request = s->port_request,
                           .n_inputs     = s->n_inputs,
                           .inputs       = s->inputs,
                           .n_integrals  = s->n_integrals,
                           .integrals    = s->integrals,
                           .no_integrals = !needs_integrals(split, part)};
}

yoke_place yoke_split_place(const yoke_split *split, int body, int mass) {
  return yoke_partition_find(&split->partition, body, mass);
}
