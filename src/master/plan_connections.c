#include "master/plan_builder.h"

#include "model/force_element_compile.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

int plan_frame_part(const plan_builder *b, int f) {
  const yoke_frame *frame = &b->model->frames[f];
  return frame->body < 0 ? -1 : yoke_place_find(&b->plan->places, frame->body, frame->mass).part;
}

yoke_status plan_map_frames(plan_builder *b) {
  const yoke_model *model = b->model;
  for (int f = 0; f < model->n_frames; ++f) {
    yoke_frame frame = model->frames[f];
    b->frame_map[f]  = -1;
    if (frame.body < 0) continue;
    if (frame.body >= model->n_bodies || frame.mass < 0 ||
        frame.mass >= (model->bodies[frame.body].chain == NULL ? 1 : model->bodies[frame.body].chain->n)) {
      return yoke_fail(b->ctx, YOKE_E_MODEL, "frame '%s': there is no body %d with mass %d", frame.name, frame.body,
                       frame.mass + 1);
    }
    const yoke_place place = yoke_place_find(&b->plan->places, frame.body, frame.mass);
    frame.body             = place.body;
    frame.mass             = place.mass;
    b->frame_map[f]        = yoke_submodel_add_frame(plan_submodel(b, place.part), &frame);
    if (b->frame_map[f] < 0) return plan_no_memory(b);
  }
  return YOKE_OK;
}

/* The connection with a length that was not given filled in, compiled between its two bodies as drawn. */
void plan_compile_connection(const yoke_model *model, int c, yoke_connection *connection, yoke_force_element *el) {
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
        yoke_frame_angle(&model->frames[connection->frame[0]]) - yoke_frame_angle(&model->frames[connection->frame[1]]);
  }
}

static yoke_status add_inner_connection(plan_builder *b, int c, int part) {
  yoke_connection    connection;
  yoke_force_element el;
  plan_compile_connection(b->model, c, &connection, &el);
  for (int side = 0; side < 2; ++side) {
    connection.frame[side] = plan_frame_in(b, part, connection.frame[side]);
    if (connection.frame[side] < 0) return plan_no_memory(b);
  }
  b->connections[c] = (plan_connection){part, yoke_submodel_add_connection(plan_submodel(b, part), &connection)};
  return b->connections[c].own >= 0 ? YOKE_OK : plan_no_memory(b);
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

static yoke_status add_coupling(plan_builder *b, int c, const int part[2]) {
  const yoke_model      *model      = b->model;
  const yoke_connection *connection = &model->connections[c];
  if (connection->motion != NULL) {
    return yoke_fail(b->ctx, YOKE_E_MODEL,
                     "joint '%s' has a prescribed motion and lies between subsystems '%s' and '%s': keep its bodies in "
                     "one subsystem",
                     connection->name, plan_part_name(b, part[0]), plan_part_name(b, part[1]));
  }
  if (connection->kind == YOKE_CONNECTION_ROD_ELEMENT) {
    return yoke_fail(b->ctx, YOKE_E_MODEL,
                     "'%s' lies between subsystems '%s' and '%s': keep all nodes of a rod in one subsystem, the split "
                     "names the rod itself",
                     connection->name, plan_part_name(b, part[0]), plan_part_name(b, part[1]));
  }
  yoke_plan_coupling k = {.connection = c, .chain = -1, .element = -1};
  yoke_connection    filled;
  plan_compile_connection(model, c, &filled, &k.element_law);
  for (int side = 0; side < 2; ++side) {
    k.frame[side] = connection->frame[side];
    k.part[side]  = part[side];
    k.is_foreign  = k.is_foreign || plan_foreign(b, part[side]) != NULL;
    k.shape[side] = yoke_body_shape(model->bodies[model->frames[k.frame[side]].body].kind);
  }
  k.is_joint = yoke_connection_is_joint(connection->kind) && !connection->flexible;
  if (k.is_joint) {
    compile_joint(c, &k.element_law, k.shape, yoke_start_retired(&b->start, c), &k.joint);
    if (k.joint.n == 0) return YOKE_OK; /* nothing that its bodies could feel, or that others do not hold already */
  }
  for (int side = 0; side < 2; ++side)
    memset(k.element_law.link.origin[side], 0, sizeof k.element_law.link.origin[side]);
  k.name                  = yoke_arena_text(&b->plan->arena, connection->name);
  b->connections[c]       = (plan_connection){-1, b->plan->n_couplings};
  yoke_plan_coupling *own = &b->plan->couplings[b->plan->n_couplings++];
  *own                    = k;
  if (k.element_law.law != NULL) {
    yoke_law_copy(&b->plan->arena, k.element_law.law, &own->law);
    own->element_law.law = &own->law;
  }
  YOKE_TRY(plan_take_readings(b, own));
  YOKE_TRY(plan_warn_of_cut_jumps(b, own));
  return b->plan->arena.has_failed ? plan_no_memory(b) : YOKE_OK;
}

static double element_value(const yoke_per_mass *values, int i) {
  return values->each != NULL ? values->each[i] : values->value;
}

yoke_law plan_element_law(const plan_builder *b, int body, int i) {
  const yoke_chain *chain = b->model->bodies[body].chain;
  return (yoke_law){.stiffness       = element_value(&chain->stiffness, i),
                    .damping         = element_value(&chain->damping, i),
                    .stiffness_power = element_value(&chain->stiffness_power, i),
                    .damping_power   = element_value(&chain->damping_power, i),
                    .exponent_x      = chain->exponent_x,
                    .exponent_v      = chain->exponent_v};
}

bool plan_has_cut(const plan_builder *b, int body, int i) {
  const yoke_law law = plan_element_law(b, body, i);
  return law.stiffness != 0.0 || law.damping != 0.0 || law.stiffness_power != 0.0 || law.damping_power != 0.0;
}

void plan_cut_name(const plan_builder *b, int body, int j, char *name, size_t size) {
  snprintf(name, size, "%s.cut[%d]", b->model->bodies[body].name, j);
}

/* Element i of a chain between pieces j - 1 and j. */
static yoke_status add_cut(plan_builder *b, int body, int i, int j, const yoke_piece *left, const yoke_piece *right) {
  if (!plan_has_cut(b, body, i)) return YOKE_OK;
  char name[300];
  plan_cut_name(b, body, j, name, sizeof name);
  yoke_plan_coupling *k = &b->plan->couplings[b->plan->n_couplings++];
  *k                    = (yoke_plan_coupling){.name       = yoke_arena_text(&b->plan->arena, name),
                                               .chain_name = yoke_arena_text(&b->plan->arena, b->model->bodies[body].name),
                                               .connection = -1,
                                               .chain      = body,
                                               .element    = i,
                                               .frame      = {-1, -1},
                                               .part       = {left->place.part, right->place.part},
                                               .shape      = {&yoke_shape_line, &yoke_shape_line},
                                               .law        = plan_element_law(b, body, i)};
  k->element_law        = (yoke_force_element){.connection = -1, .n = 1, .law = &k->law, .link.node = {0, 1}};
  k->element_law.row[0] = (yoke_row){YOKE_ROW_STRETCH, 0, 0};
  for (int side = 0; side < 2; ++side) memcpy(k->element_law.link.axes[side], identity, sizeof identity);
  plan_take_overlap(b, left, right, k);
  return b->plan->arena.has_failed ? plan_no_memory(b) : YOKE_OK;
}

static yoke_status add_cuts(plan_builder *b, int body) {
  const yoke_places *p = &b->plan->places;
  for (int k = p->piece_at[body] + 1; k < p->piece_at[body + 1]; ++k) {
    YOKE_TRY(add_cut(b, body, p->pieces[k].first, k - p->piece_at[body], &p->pieces[k - 1], &p->pieces[k]));
  }
  return YOKE_OK;
}

void plan_connection_parts(const plan_builder *b, int c, int part[2]) {
  for (int side = 0; side < 2; ++side) part[side] = plan_frame_part(b, b->model->connections[c].frame[side]);
  if (part[0] < 0) part[0] = part[1] < 0 ? 0 : part[1];
  if (part[1] < 0) part[1] = part[0];
}

/* Signals that inputs of foreign subsystems may need: one for every quantity that they read, and one more. */
static size_t most_inputs(const yoke_model *model) {
  size_t n = 0;
  for (int i = 0; i < model->n_foreigns; ++i) {
    for (int k = 0; k < model->foreigns[i].n_inputs; ++k)
      n += plan_most_sources(model, model->foreigns[i].inputs[k].value) + 1;
  }
  return n;
}

/* Every connection to its part or to the list of couplings, then the cuts of chains. */
yoke_status plan_sort_connections(plan_builder *b) {
  yoke_plan        *plan  = b->plan;
  const yoke_model *model = b->model;
  const size_t      most  = (size_t)model->n_connections + (size_t)plan->places.piece_at[model->n_bodies] +
                      (size_t)b->n_signals + most_inputs(model) + (size_t)b->n_copies + (size_t)b->n_edges + 1;
  plan->couplings = yoke_arena_take(&plan->arena, most, sizeof *plan->couplings);
  plan->wires     = yoke_arena_take(&plan->arena, most, sizeof *plan->wires);
  b->connections  = yoke_arena_take(&plan->arena, (size_t)model->n_connections + 1, sizeof *b->connections);
  if (plan->arena.has_failed) return plan_no_memory(b);
  for (int c = 0; c < model->n_connections; ++c) {
    b->connections[c] = (plan_connection){-1, -1};
    int part[2];
    plan_connection_parts(b, c, part);
    if (part[0] == part[1] || plan_is_shared(b, c))
      YOKE_TRY(add_inner_connection(b, c, part[0]));
    else
      YOKE_TRY(add_coupling(b, c, part));
    YOKE_TRY(plan_copy_connection(b, c));
  }
  for (int body = 0; body < model->n_bodies; ++body) {
    if (model->bodies[body].kind == YOKE_BODY_CHAIN) YOKE_TRY(add_cuts(b, body));
  }
  return YOKE_OK;
}

/* Where side `side` of a coupling sits in the whole model: body, mass and origin; the axes are those of the body. */
yoke_frame plan_coupling_end(const plan_builder *b, const yoke_plan_coupling *k, int side) {
  yoke_frame frame = {.name = k->name};
  if (k->is_halo) {
    frame.body = k->halo_body[side];
    if (k->frame[side] >= 0) {
      frame.mass = b->model->frames[k->frame[side]].mass;
      memcpy(frame.origin, b->model->frames[k->frame[side]].origin, sizeof frame.origin);
    }
  } else if (k->connection >= 0) {
    frame.body = b->model->frames[k->frame[side]].body;
    frame.mass = b->model->frames[k->frame[side]].mass;
    memcpy(frame.origin, b->model->frames[k->frame[side]].origin, sizeof frame.origin);
  } else {
    frame.body = k->chain;
    frame.mass = k->element - 1 + side;
  }
  memcpy(frame.axes, identity, sizeof identity);
  return frame;
}

/* The same as a frame of its part; -1: no memory. */
int plan_add_end_frame(const plan_builder *b, const yoke_plan_coupling *k, int side) {
  yoke_frame       frame = plan_coupling_end(b, k, side);
  const yoke_place place = yoke_place_find(&b->plan->places, frame.body, frame.mass);
  frame.body             = place.body;
  frame.mass             = place.mass;
  return yoke_submodel_add_frame(plan_submodel(b, k->part[side]), &frame);
}
