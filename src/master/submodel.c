#include "master/submodel.h"
#include "model/flexible.h"

#include "base/memory.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>

/* ---- bodies ---- */

static int n_masses(const yoke_body *body) {
  return body->kind == YOKE_BODY_CHAIN ? body->chain->n : 1;
}

static void slice(yoke_arena *arena, const yoke_per_mass *whole, int first, int n, yoke_per_mass *out) {
  *out = (yoke_per_mass){.value = whole->value};
  if (whole->each != NULL) out->each = yoke_arena_copy(arena, whole->each + first, (size_t)n, sizeof *out->each);
}

static void slice_loads(yoke_arena *arena, const yoke_chain *whole, int first, int n, yoke_chain *out) {
  int from = 0, to;
  while (from < whole->n_loads && whole->loads[from].mass < first) ++from; /* sorted by mass */
  for (to = from; to < whole->n_loads && whole->loads[to].mass < first + n; ++to) {
  }
  out->loads   = yoke_arena_copy(arena, whole->loads + from, (size_t)(to - from), sizeof *out->loads);
  out->n_loads = out->loads != NULL ? to - from : 0;
  for (int i = 0; i < out->n_loads; ++i) out->loads[i].mass -= first;
}

/* Masses first .. first + n - 1 of a chain, starting at x, v. What is missing when memory is, shows in the arena. */
static yoke_chain *chain_piece(yoke_arena *arena, const yoke_chain *whole, int first, int n, const double *x,
                               const double *v) {
  yoke_chain *out = yoke_arena_take(arena, 1, sizeof *out);
  if (out == NULL) return NULL;
  out->n          = n;
  out->exponent_x = whole->exponent_x;
  out->exponent_v = whole->exponent_v;
  out->x0.each    = yoke_arena_copy(arena, x + first, (size_t)n, sizeof *x);
  out->v0.each    = yoke_arena_copy(arena, v + first, (size_t)n, sizeof *v);
  slice(arena, &whole->mass, first, n, &out->mass);
  slice(arena, &whole->stiffness, first, n + 1, &out->stiffness);
  slice(arena, &whole->damping, first, n + 1, &out->damping);
  slice(arena, &whole->stiffness_power, first, n + 1, &out->stiffness_power);
  slice(arena, &whole->damping_power, first, n + 1, &out->damping_power);
  out->is_free[0] = first > 0 || whole->is_free[0]; /* elements at a cut are left to the coupling */
  out->is_free[1] = first + n < whole->n || whole->is_free[1];
  slice_loads(arena, whole, first, n, out);
  return out;
}

void yoke_body_set_start(yoke_body *body, const double *q, const double *v) {
  const int dimensions = body->kind == YOKE_BODY_MASS1D ? 1 : body->kind == YOKE_BODY_PLANAR ? 2 : 3;
  memcpy(body->position, q, (size_t)dimensions * sizeof *q);
  memcpy(body->velocity, v, (size_t)dimensions * sizeof *v);
  if (body->kind == YOKE_BODY_PLANAR) {
    body->angle    = q[2];
    body->omega[2] = v[2];
  }
  if (body->kind == YOKE_BODY_RIGID) {
    memcpy(body->orientation, q + 3, 4 * sizeof *q);
    memcpy(body->omega, v + 3, 3 * sizeof *v);
  }
}

/* Body b of the whole model, or the piece of a chain, into `out`. */
static void copy_body(yoke_arena *arena, const yoke_model *whole, const yoke_start *start, int b, int first, int n,
                      yoke_body *out) {
  const double *q = start->q + start->q_at[b], *v = start->v + start->v_at[b];
  *out       = whole->bodies[b];
  out->name  = yoke_arena_text(arena, whole->bodies[b].name);
  out->chain = NULL;
  if (out->kind != YOKE_BODY_CHAIN) {
    yoke_body_set_start(out, q, v);
  } else {
    out->chain = chain_piece(arena, whole->bodies[b].chain, first, n, q, v);
  }
}

/* ---- creation ---- */

void yoke_submodel_clear(yoke_submodel *s) {
  yoke_model_destroy(&s->model);
  free(s->port_frame);
  free(s->port_request);
  free(s->port_signals);
  free(s->inputs);
  free(s->integrals);
  free(s->halos);
  *s = (yoke_submodel){0};
}

/* The piece of a chain with the masses in its halos. */
static void copy_piece(yoke_arena *arena, const yoke_start *start, const yoke_piece *piece, int b, yoke_body *out) {
  const int *halo = piece->halo;
  copy_body(arena, start->model, start, b, piece->first - halo[0], halo[0] + piece->n + halo[1], out);
  if (out->chain != NULL) memcpy(out->chain->halo, halo, sizeof out->chain->halo);
}

static bool fill_bodies(const yoke_model *whole, const yoke_start *start, const yoke_places *places,
                        const yoke_split_part *part, yoke_model *m) {
  const int n = part->n_bodies + (part->n_masses > 0);
  m->bodies   = yoke_allocate((size_t)n + 1, sizeof *m->bodies);
  for (int k = 0; k < n && m->bodies != NULL; ++k) {
    const bool is_piece = k == part->n_bodies;
    const int  b        = is_piece ? part->chain : part->bodies[k];
    yoke_body *out      = &m->bodies[m->n_bodies++];
    if (is_piece)
      copy_piece(&m->arena, start, yoke_piece_find(places, b, part->first_mass), b, out);
    else
      copy_body(&m->arena, whole, start, b, 0, n_masses(&whole->bodies[b]), out);
  }
  return m->bodies != NULL && !m->arena.has_failed;
}

/* Flexible bodies whose points are in the part; they stand side by side there too. */
static bool fill_flexibles(const yoke_model *whole, const yoke_split_part *part, yoke_model *m) {
  m->flexibles = yoke_allocate((size_t)whole->n_flexibles + 1, sizeof *m->flexibles);
  if (m->flexibles == NULL) return false;
  for (int k = 0; k < part->n_bodies; ++k) {
    const int number = whole->bodies[part->bodies[k]].flexible;
    if (number == 0) continue;
    if (part->bodies[k] == whole->flexibles[number - 1].first_body) {
      yoke_flexible *out = &m->flexibles[m->n_flexibles++];
      yoke_flexible_copy(&m->arena, &whole->flexibles[number - 1], out);
      out->first_body = k;
    }
    m->bodies[k].flexible = m->n_flexibles;
  }
  return !m->arena.has_failed;
}

yoke_status yoke_submodel_create(yoke_context *ctx, const yoke_start *start, const yoke_places *places, int p,
                                 yoke_submodel *out) {
  const yoke_model      *whole = start->model;
  const yoke_split_part *part  = &whole->parts[p];
  *out                         = (yoke_submodel){.model = yoke_allocate(1, sizeof(yoke_model))};
  yoke_model *m                = out->model;
  if (m == NULL) return yoke_out_of_memory(ctx, "subsystem '%s'", part->name);
  m->arena = yoke_arena_of(ctx);
  memcpy(m->gravity, whole->gravity, sizeof m->gravity);
  m->t_start = whole->t_start;
  m->t_end   = whole->t_end;
  m->solver  = part->has_solver ? part->solver : whole->solver;
  m->energy  = whole->energy;
  m->name    = yoke_text_copy(part->name);
  if (m->name != NULL && fill_bodies(whole, start, places, part, m) && fill_flexibles(whole, part, m)) return YOKE_OK;
  yoke_submodel_clear(out);
  return yoke_out_of_memory(ctx, "subsystem '%s'", part->name);
}

/* ---- additions ---- */

/* Appends a copy of *entry, with a copy of the text `name`, to the list of the submodel's model. */
#define ADD_NAMED(list, count, capacity, entry)                                                                        \
  do {                                                                                                                 \
    char *name_ = yoke_arena_text(&s->model->arena, (entry)->name != NULL ? (entry)->name : "");                       \
    if (name_ == NULL || !yoke_grow(&(list), &(capacity), (size_t)(count) + 1, sizeof *(list))) return -1;             \
    (list)[(count)]      = *(entry);                                                                                   \
    (list)[(count)].name = name_;                                                                                      \
    return (count)++;                                                                                                  \
  } while (0)

static int append_connection(yoke_submodel *s, const yoke_connection *connection) {
  ADD_NAMED(s->model->connections, s->model->n_connections, s->capacity_connections, connection);
}

static int append_load(yoke_submodel *s, const yoke_load *load) {
  ADD_NAMED(s->model->loads, s->model->n_loads, s->capacity_loads, load);
}

static int append_event(yoke_submodel *s, const yoke_event *event) {
  ADD_NAMED(s->model->events, s->model->n_events, s->capacity_events, event);
}

int yoke_submodel_add_frame(yoke_submodel *s, const yoke_frame *frame) {
  ADD_NAMED(s->model->frames, s->model->n_frames, s->capacity_frames, frame);
}

int yoke_submodel_add_connection(yoke_submodel *s, const yoke_connection *connection) {
  const int i = append_connection(s, connection);
  if (i < 0) return -1;
  yoke_connection *own = &s->model->connections[i];
  yoke_law_copy(&s->model->arena, &connection->law, &own->law);
  own->motion  = yoke_expression_retain(connection->motion);
  own->formula = yoke_expression_retain(connection->formula);
  if (connection->rod != NULL) own->rod = yoke_arena_copy(&s->model->arena, connection->rod, 1, sizeof *own->rod);
  return s->model->arena.has_failed ? -1 : i;
}

int yoke_submodel_add_ghost(yoke_submodel *s, const yoke_ghost *ghost) {
  ADD_NAMED(s->model->ghosts, s->model->n_ghosts, s->capacity_ghosts, ghost);
}

int yoke_submodel_add_load(yoke_submodel *s, const yoke_load *load) {
  const int i = append_load(s, load);
  for (int k = 0; i >= 0 && k < 3; ++k) s->model->loads[i].value[k] = yoke_expression_retain(load->value[k]);
  return i;
}

int yoke_submodel_add_event(yoke_submodel *s, const yoke_event *event) {
  const size_t      n        = (size_t)event->n_set;
  int              *variable = yoke_arena_copy(&s->model->arena, event->variable, n, sizeof *variable);
  yoke_expression **value    = yoke_arena_take(&s->model->arena, n, sizeof(yoke_expression *));
  const int         i        = s->model->arena.has_failed ? -1 : append_event(s, event);
  if (i < 0) return -1;
  for (int k = 0; k < event->n_set; ++k) value[k] = yoke_expression_retain(event->value[k]);
  yoke_event *own = &s->model->events[i];
  own->when       = yoke_expression_retain(event->when);
  own->variable   = variable;
  own->value      = value;
  return i;
}

int yoke_submodel_add_input(yoke_submodel *s, const yoke_input *input) {
  if (!yoke_grow(&s->inputs, &s->capacity_inputs, (size_t)s->n_inputs + 1, sizeof *s->inputs)) return -1;
  s->inputs[s->n_inputs] = *input;
  return s->n_inputs++;
}

int yoke_submodel_add_integral(yoke_submodel *s, const yoke_variable *position) {
  if (!yoke_grow(&s->integrals, &s->capacity_integrals, (size_t)s->n_integrals + 1, sizeof *s->integrals)) return -1;
  s->integrals[s->n_integrals] = *position;
  return s->n_integrals++;
}

int yoke_submodel_add_copy(yoke_submodel *s, const yoke_start *start, int body) {
  yoke_model *m        = s->model;
  size_t      capacity = (size_t)m->n_bodies; /* as many as there are */
  if (!yoke_grow(&m->bodies, &capacity, (size_t)m->n_bodies + 1, sizeof *m->bodies)) return -1;
  copy_body(&m->arena, start->model, start, body, 0, 1, &m->bodies[m->n_bodies]);
  m->bodies[m->n_bodies].is_copy = true;
  return m->arena.has_failed ? -1 : m->n_bodies++;
}

int yoke_submodel_add_halo(yoke_submodel *s, const yoke_native_halo *halo) {
  if (!yoke_grow(&s->halos, &s->capacity_halos, (size_t)s->n_halos + 1, sizeof *s->halos)) return -1;
  s->halos[s->n_halos] = *halo;
  return s->n_halos++;
}

/* Room for one more port in all lists. */
static bool grow_ports(yoke_submodel *s) {
  const size_t n = (size_t)s->n_ports + 1;
  return yoke_grow(&s->port_request, &s->capacity_requests, n, sizeof *s->port_request) &&
         yoke_grow(&s->port_signals, &s->capacity_signals, n, sizeof *s->port_signals) &&
         yoke_grow(&s->port_frame, &s->capacity_ports, n, sizeof *s->port_frame);
}

int yoke_submodel_add_port(yoke_submodel *s, int frame, int extras) {
  if (!grow_ports(s)) return -1;
  s->port_frame[s->n_ports]   = frame;
  s->port_request[s->n_ports] = (yoke_port_request){.extras = extras, .connection = -1};
  s->port_signals[s->n_ports] = (yoke_native_signals){0};
  return s->n_ports++;
}

bool yoke_submodel_show_signals(yoke_submodel *s, int port, int n, const int64_t *handles) {
  const int64_t *own = yoke_arena_copy(&s->model->arena, handles, (size_t)n, sizeof *own);
  if (own == NULL) return false;
  s->port_signals[port] = (yoke_native_signals){n, own};
  return true;
}

int yoke_submodel_add_signal_port(yoke_submodel *s, int n, const int64_t *handles) {
  const int port = yoke_submodel_add_port(s, -1, 0);
  return port >= 0 && yoke_submodel_show_signals(s, port, n, handles) ? port : -1;
}
