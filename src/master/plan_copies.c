/* Copies of bodies: formulation overlap between bodies with force elements (coupling/halo.c).
 *
 * A part with a cut of this formulation holds copies of all bodies that are at most `halo` force elements away through such a cut: ring 1, 2, ...
 * Rigid joints have no place at the edge of a halo, so that bodies which they join are in one ring. Connections and loads between bodies that a part
 * has act in it; one that leads out of the halo ends at a ghost. Whoever owns the body of its first end counts the energy of a connection, and
 * shows it; the cut itself is no coupling any more. */
#include "master/foreign_part.h"
#include "master/plan_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

/* ---- which bodies ---- */

static bool is_rigid(const yoke_connection *connection) {
  return yoke_connection_is_joint(connection->kind) && !connection->flexible;
}

static int body_of(const plan_builder *b, int connection, int side) {
  return b->model->frames[b->model->connections[connection].frame[side]].body;
}

static int part_of(const plan_builder *b, int body) {
  return yoke_place_find(&b->plan->places, body, 0).part;
}

/* Rings of the halo that a cut asks for; 0: it is no cut, or has another formulation. */
static int rings_of(const plan_builder *b, int c) {
  yoke_connection *connection = &b->model->connections[c];
  int              part[2];
  plan_connection_parts(b, c, part);
  if (part[0] == part[1] || is_rigid(connection)) return 0;
  for (int side = 0; side < 2; ++side) {
    if (plan_foreign(b, part[side]) != NULL) return 0;
    if (b->model->bodies[body_of(b, c, side)].kind == YOKE_BODY_CHAIN) return 0;
  }
  yoke_plan_coupling cut = {.name = connection->name};
  plan_coupling_settings(b, &cut);
  const yoke_formulation_ops *ops = yoke_formulation_find(cut.settings.formulation);
  return ops != NULL && ops->overlap != NULL ? yoke_overlap_halo(&cut.settings) : 0;
}

bool plan_is_shared(const plan_builder *b, int c) {
  return b->rings != NULL && b->rings[c] > 0;
}

static int compare_copies(const void *a, const void *c) {
  const plan_copy *x = a, *y = c;
  if (x->part != y->part) return (x->part > y->part) - (x->part < y->part);
  return (x->body > y->body) - (x->body < y->body);
}

static const plan_copy *find_copy(const plan_builder *b, int part, int body) {
  const plan_copy wanted = {.part = part, .body = body};
  if (b->n_copies == 0) return NULL;
  return bsearch(&wanted, b->copies, (size_t)b->n_copies, sizeof wanted, compare_copies);
}

/* The search from one part outwards. */
typedef struct search {
  plan_builder *b;
  int           part, n_rings;
  const int    *first, *list; /* connections of body k: list[first[k]] ... list[first[k + 1] - 1] */
  int          *ring;         /* [n_bodies] 0: not reached */
  int          *queue, n;     /* bodies in the order in which they were reached */
} search;

static yoke_status refuse(const search *s, const char *kind, const char *name, const char *why) {
  return yoke_fail(
      s->b->ctx, YOKE_E_MODEL,
      "%s '%s' %s, within the halo of subsystem '%s' (formulation overlap); cut the model elsewhere, use a "
      "smaller cosimulation.couplings.halo, or formulation constitutive",
      kind, name, why, plan_part_name(s->b, s->part));
}

/* Can it be copied? Others end the halo. */
static bool has_copies(const search *s, int body) {
  const yoke_body *own = &s->b->model->bodies[body];
  return own->kind != YOKE_BODY_CHAIN && own->flexible == 0 && plan_foreign(s->b, part_of(s->b, body)) == NULL;
}

/* The body and all that rigid joints fix to it. */
static yoke_status reach(search *s, int body, int ring) {
  int next = s->n;
  if (s->ring[body] > 0) return YOKE_OK;
  s->ring[body]    = ring;
  s->queue[s->n++] = body;
  for (; next < s->n; ++next) {
    for (int k = s->first[s->queue[next]]; k < s->first[s->queue[next] + 1]; ++k) {
      const yoke_connection *connection = &s->b->model->connections[s->list[k]];
      int                    part[2];
      if (!is_rigid(connection)) continue;
      plan_connection_parts(s->b, s->list[k], part);
      if (part[0] != part[1]) return refuse(s, "joint", connection->name, "lies between two subsystems");
      for (int side = 0; side < 2; ++side) {
        const int other = body_of(s->b, s->list[k], side);
        if (other < 0 || s->ring[other] > 0) continue;
        if (!has_copies(s, other))
          return refuse(s, "joint", connection->name, "ends at a chain, or at a point of a linear body or cable");
        s->ring[other]   = ring;
        s->queue[s->n++] = other;
      }
    }
  }
  return YOKE_OK;
}

/* The first body behind a cut. */
static yoke_status check_cut(const search *s, const yoke_connection *cut, int body) {
  if (s->b->model->bodies[body].flexible == 0) return YOKE_OK;
  return yoke_fail(s->b->ctx, YOKE_E_MODEL,
                   "connection '%s': formulation 'overlap' copies bodies, and '%s' is a point of a linear body or "
                   "cable, which moves with all others of it; cut the model elsewhere, or use formulation constitutive",
                   cut->name, s->b->model->bodies[body].name);
}

/* All that the element between a body that is reached and another one leads to. */
static yoke_status follow(search *s, int c, int from, int ring) {
  const yoke_connection *connection = &s->b->model->connections[c];
  for (int side = 0; side < 2; ++side) {
    const int other = body_of(s->b, c, side);
    if (other < 0 || other == from || part_of(s->b, other) == s->part) continue;
    if (connection->formula != NULL) return refuse(s, "connection", connection->name, "reads the model");
    if (from < 0) YOKE_TRY(check_cut(s, connection, other));
    if (has_copies(s, other)) YOKE_TRY(reach(s, other, ring));
  }
  return YOKE_OK;
}

static yoke_status search_part(search *s) {
  plan_builder *b = s->b;
  memset(s->ring, 0, (size_t)b->model->n_bodies * sizeof *s->ring);
  s->n = s->n_rings = 0;
  for (int c = 0; c < b->model->n_connections; ++c) {
    int part[2];
    plan_connection_parts(b, c, part);
    if (!plan_is_shared(b, c) || (part[0] != s->part && part[1] != s->part)) continue;
    if (b->rings[c] > s->n_rings) s->n_rings = b->rings[c];
    YOKE_TRY(follow(s, c, -1, 1));
  }
  for (int i = 0; i < s->n; ++i) {
    const int body = s->queue[i];
    if (s->ring[body] >= s->n_rings) continue;
    for (int k = s->first[body]; k < s->first[body + 1]; ++k) {
      if (!is_rigid(&b->model->connections[s->list[k]])) YOKE_TRY(follow(s, s->list[k], body, s->ring[body] + 1));
    }
  }
  for (int i = 0; i < s->n; ++i) {
    if (!yoke_grow(&b->copies, &b->capacity_copies, (size_t)b->n_copies + 1, sizeof *b->copies))
      return plan_no_memory(b);
    b->copies[b->n_copies++] = (plan_copy){
        .part = s->part, .body = s->queue[i], .ring = s->ring[s->queue[i]], .n_rings = s->n_rings, .own = -1};
  }
  return YOKE_OK;
}

/* Connections by body. */
static void list_connections(const yoke_model *model, int *first, int *list) {
  for (int pass = 0; pass < 2; ++pass) { /* 0: first[k + 2] counts; 1: first[k + 1] is where the next one goes */
    for (int c = 0; c < model->n_connections; ++c) {
      for (int side = 0; side < 2; ++side) {
        const int body = model->frames[model->connections[c].frame[side]].body;
        if (body < 0) continue;
        if (pass == 0)
          ++first[body + 2];
        else
          list[first[body + 1]++] = c;
      }
    }
    for (int k = 0; pass == 0 && k < model->n_bodies; ++k) first[k + 2] += first[k + 1];
  }
}

/* Copies have the loads of their bodies that read nothing but the time. */
static yoke_status check_loads(const plan_builder *b) {
  for (int i = 0; i < b->model->n_loads; ++i) {
    const yoke_load *load = &b->model->loads[i];
    const int        body = b->model->frames[load->frame].body;
    for (int k = 0; plan_load_reads_model(load) && k < b->n_copies; ++k) {
      const search at = {.b = (plan_builder *)(uintptr_t)b, .part = b->copies[k].part};
      if (b->copies[k].body == body) return refuse(&at, "load", load->name, "reads the model");
    }
  }
  return YOKE_OK;
}

/* Elements that lead out of the halos. */
static int count_edges(const plan_builder *b) {
  int n = 0;
  for (int c = 0; c < b->model->n_connections; ++c) {
    for (int p = 0; p < b->model->n_parts; ++p) n += plan_edge_side(b, c, p) >= 0;
  }
  return n;
}

yoke_status plan_find_copies(plan_builder *b) {
  const yoke_model *model = b->model;
  const size_t      n     = (size_t)model->n_bodies;
  bool              any   = false;
  if (!b->macro.has_overlap || model->n_connections == 0) return YOKE_OK;
  b->rings = yoke_arena_take(&b->plan->arena, (size_t)model->n_connections, sizeof *b->rings);
  for (int c = 0; b->rings != NULL && c < model->n_connections; ++c) {
    b->rings[c] = rings_of(b, c);
    any         = any || b->rings[c] > 0;
  }
  if (!any) return b->rings == NULL ? plan_no_memory(b) : YOKE_OK;
  yoke_arena  room   = {0};
  int        *first  = yoke_arena_take(&room, n + 2, sizeof *first);
  int        *list   = yoke_arena_take(&room, 2 * (size_t)model->n_connections, sizeof *list);
  search      s      = {.b     = b,
                        .first = first,
                        .list  = list,
                        .ring  = yoke_arena_take(&room, n, sizeof *s.ring),
                        .queue = yoke_arena_take(&room, n, sizeof *s.queue)};
  yoke_status status = room.has_failed ? plan_no_memory(b) : YOKE_OK;
  if (status == YOKE_OK) list_connections(model, first, list);
  for (s.part = 0; status == YOKE_OK && s.part < model->n_parts; ++s.part) status = search_part(&s);
  yoke_arena_free(&room);
  YOKE_TRY(status);
  qsort(b->copies, (size_t)b->n_copies, sizeof *b->copies, compare_copies);
  b->n_edges = count_edges(b);
  return check_loads(b);
}

/* ---- what the parts have of them ---- */

yoke_status plan_add_copies(plan_builder *b) {
  for (int k = 0; k < b->n_copies; ++k) {
    plan_copy *copy = &b->copies[k];
    copy->own       = yoke_submodel_add_copy(plan_submodel(b, copy->part), &b->start, copy->body);
    if (copy->own < 0) return plan_no_memory(b);
  }
  return YOKE_OK;
}

/* What a part has of an end of a connection. */
typedef enum end { END_OWN, END_COPY, END_OUT } end;

static end end_in(const plan_builder *b, int part, int body) {
  if (body < 0 || part_of(b, body) == part) return END_OWN; /* the ground is everywhere */
  return find_copy(b, part, body) != NULL ? END_COPY : END_OUT;
}

int plan_edge_side(const plan_builder *b, int c, int part) {
  const end ends[2] = {end_in(b, part, body_of(b, c, 0)), end_in(b, part, body_of(b, c, 1))};
  for (int side = 0; side < 2; ++side) {
    if (ends[side] == END_OUT && ends[1 - side] == END_COPY) return side;
  }
  return -1;
}

int plan_frame_in(plan_builder *b, int part, int f) {
  yoke_frame frame = b->model->frames[f];
  if (frame.body >= 0 && plan_frame_part(b, f) == part) return b->frame_map[f];
  if (frame.body >= 0) frame.body = find_copy(b, part, frame.body)->own;
  return yoke_submodel_add_frame(plan_submodel(b, part), &frame);
}

yoke_status plan_copy_connection(plan_builder *b, int c) {
  int part[2];
  plan_connection_parts(b, c, part);
  for (int p = 0; b->n_copies > 0 && p < b->model->n_parts; ++p) {
    const end ends[2] = {end_in(b, p, body_of(b, c, 0)), end_in(b, p, body_of(b, c, 1))};
    if (p == part[0] || ends[0] == END_OUT || ends[1] == END_OUT) continue;
    if (ends[0] == END_OWN && ends[1] == END_OWN) continue;
    yoke_connection    connection;
    yoke_force_element element;
    plan_compile_connection(b->model, c, &connection, &element);
    connection.is_copy = true;
    for (int side = 0; side < 2; ++side) {
      connection.frame[side] = plan_frame_in(b, p, connection.frame[side]);
      if (connection.frame[side] < 0) return plan_no_memory(b);
    }
    if (yoke_submodel_add_connection(plan_submodel(b, p), &connection) < 0) return plan_no_memory(b);
  }
  return YOKE_OK;
}

yoke_status plan_copy_body_load(plan_builder *b, int i) {
  yoke_load load = b->model->loads[i];
  load.is_copy   = true;
  for (int k = 0; k < b->n_copies; ++k) {
    if (b->copies[k].body != b->model->frames[load.frame].body) continue;
    yoke_load own = load;
    own.frame     = plan_frame_in(b, b->copies[k].part, load.frame);
    if (own.frame < 0 || yoke_submodel_add_load(plan_submodel(b, b->copies[k].part), &own) < 0)
      return plan_no_memory(b);
  }
  return YOKE_OK;
}

/* ---- wires ---- */

/* A port at the own frame of a body of a submodel; -1: no memory. */
static int add_body_port(const plan_builder *b, int part, int body, const char *name) {
  yoke_frame frame = {.name = (char *)(uintptr_t)name, .body = body};
  memcpy(frame.axes, identity, sizeof identity);
  const int f = yoke_submodel_add_frame(plan_submodel(b, part), &frame);
  return f >= 0 ? yoke_submodel_add_port(plan_submodel(b, part), f, 0) : -1;
}

/* One more coupling: a body of part[0], shown at port[0], in the halo of part[1]. */
static yoke_status add_wire(plan_builder *b, const char *what, const yoke_plan_coupling *from, int *out) {
  yoke_plan          *plan = b->plan;
  yoke_plan_coupling *k    = &plan->couplings[plan->n_couplings];
  yoke_wire          *wire = &plan->wires[plan->n_couplings];
  char                name[400];
  *out = plan->n_couplings++;
  snprintf(name, sizeof name, "%s in %s", what, plan_part_name(b, from->part[1]));
  *k         = *from;
  k->name    = yoke_arena_text(&plan->arena, name);
  k->is_halo = true;
  k->chain = k->element = -1;
  *wire                 = (yoke_wire){.name      = k->name,
                                      .subsystem = {k->part[0], k->part[1]},
                                      .port      = {k->port[0], k->port[1]},
                                      .shape     = {k->shape[0], k->shape[1]}};
  for (int side = 0; side < 2; ++side) wire->n_y[side] = yoke_shape_n_y(k->shape[side]);
  if (plan->arena.has_failed || k->port[0] < 0 || k->port[1] < 0) return plan_no_memory(b);
  YOKE_TRY(plan_set_halo(b, *out));
  const yoke_coupling_def def = yoke_plan_coupling_def(plan, *out);
  wire->formulation           = def.formulation;
  YOKE_TRY(wire->formulation->create(b->ctx, &def, &wire->self));
  const int n = plan_n_channels(wire);
  for (int side = 0; side < 2; ++side) {
    wire->input_at[side] = yoke_arena_take(&plan->arena, (size_t)n + 1, sizeof *wire->input_at[side]);
    for (int i = 0; wire->input_at[side] != NULL && i < n; ++i) wire->input_at[side][i] = -1;
  }
  return plan->arena.has_failed ? plan_no_memory(b) : YOKE_OK;
}

/* The original shows its motion, and its copy too. */
static yoke_status connect_copy(plan_builder *b, plan_copy *copy) {
  const yoke_place       place = yoke_place_find(&b->plan->places, copy->body, 0);
  const char            *name  = b->model->bodies[copy->body].name;
  const yoke_port_shape *shape = yoke_body_shape(b->model->bodies[copy->body].kind);
  int                    wire;
  copy->port                    = add_body_port(b, copy->part, copy->own, name);
  const yoke_plan_coupling from = {.connection = -1,
                                   .frame      = {-1, -1},
                                   .part       = {place.part, copy->part},
                                   .port       = {add_body_port(b, place.part, place.body, name), copy->port},
                                   .shape      = {shape, shape},
                                   .halo       = {.ring = copy->ring, .n_rings = copy->n_rings},
                                   .halo_body  = {copy->body, copy->body}};
  YOKE_TRY(add_wire(b, name, &from, &wire));
  b->plan->wires[wire].halo[1] =
      yoke_submodel_add_halo(plan_submodel(b, copy->part), &(yoke_native_halo){.body = copy->own, .step = 1, .n = 1});
  return b->plan->wires[wire].halo[1] >= 0 ? YOKE_OK : plan_no_memory(b);
}

/* The ghost that stands for the end of an element outside of a halo, and the element. */
static yoke_status add_edge(plan_builder *b, int c, int part, int out, int wire) {
  yoke_submodel     *own   = plan_submodel(b, part);
  const yoke_frame  *frame = &b->model->frames[b->model->connections[c].frame[out]];
  yoke_connection    connection;
  yoke_force_element element;
  yoke_ghost         ghost = {.name = b->plan->couplings[wire].name, .shape = b->plan->couplings[wire].shape[0]};
  plan_compile_connection(b->model, c, &connection, &element);
  yoke_frame place = *frame;
  memcpy(place.axes, identity, sizeof identity);
  yoke_start_motion(&b->start, &(yoke_whole_state){b->start.q, b->start.v, b->start.a}, &place, ghost.p, ghost.v);
  const int g = yoke_submodel_add_ghost(own, &ghost);
  if (g < 0) return plan_no_memory(b);
  yoke_frame behind = {.name = ghost.name, .body = YOKE_FIRST_GHOST - g};
  memcpy(behind.axes, element.link.axes[out], sizeof behind.axes);
  connection.is_copy        = true;
  connection.frame[out]     = yoke_submodel_add_frame(own, &behind);
  connection.frame[1 - out] = plan_frame_in(b, part, connection.frame[1 - out]);
  if (connection.frame[0] < 0 || connection.frame[1] < 0 || yoke_submodel_add_connection(own, &connection) < 0)
    return plan_no_memory(b);
  int                 n;
  const yoke_wire    *w        = &b->plan->wires[wire];
  const yoke_channel *channels = w->formulation->channels(w->self, &n);
  for (int i = 0; i < n; ++i) {
    const yoke_input input = {channels[i].enters[1] == YOKE_ENTRY_COPY_P ? YOKE_INPUT_GHOST_P : YOKE_INPUT_GHOST_V, g,
                              channels[i].component, 1.0};
    w->input_at[1][i]      = yoke_submodel_add_input(own, &input);
    if (w->input_at[1][i] < 0) return plan_no_memory(b);
  }
  return YOKE_OK;
}

/* The body behind the halo shows its motion at the element's end. */
static yoke_status connect_edge(plan_builder *b, int c, int part, int out) {
  const yoke_connection *connection = &b->model->connections[c];
  const yoke_frame      *frame      = &b->model->frames[connection->frame[out]];
  const yoke_place       place      = yoke_place_find(&b->plan->places, frame->body, frame->mass);
  const plan_copy       *inner      = find_copy(b, part, body_of(b, c, 1 - out));
  yoke_frame             shown      = *frame;
  int                    wire;
  if (plan_foreign(b, place.part) != NULL)
    return refuse(&(search){.b = b, .part = part}, "connection", connection->name,
                  "ends at a subsystem that is not native");
  shown.body = place.body;
  shown.mass = place.mass;
  memcpy(shown.axes, identity, sizeof identity);
  const int                f    = yoke_submodel_add_frame(plan_submodel(b, place.part), &shown);
  const yoke_plan_coupling from = {
      .connection = -1,
      .frame      = {connection->frame[out], -1},
      .part       = {place.part, part},
      .port       = {f >= 0 ? yoke_submodel_add_port(plan_submodel(b, place.part), f, 0) : -1, inner->port},
      .shape      = {yoke_body_shape(b->model->bodies[frame->body].kind),
                     yoke_body_shape(b->model->bodies[inner->body].kind)},
      .halo       = {.ring = 0, .n_rings = inner->n_rings},
      .halo_body  = {frame->body, inner->body}};
  YOKE_TRY(add_wire(b, connection->name, &from, &wire));
  return add_edge(b, c, part, out, wire);
}

yoke_status plan_connect_copies(plan_builder *b) {
  for (int k = 0; k < b->n_copies; ++k) YOKE_TRY(connect_copy(b, &b->copies[k]));
  for (int c = 0; b->n_edges > 0 && c < b->model->n_connections; ++c) {
    for (int p = 0; p < b->model->n_parts; ++p) {
      const int out = plan_edge_side(b, c, p);
      if (out >= 0) YOKE_TRY(connect_edge(b, c, p, out));
    }
  }
  return YOKE_OK;
}
