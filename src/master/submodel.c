#include "master/submodel.h"
#include "master/coupling_redundancy.h"

#include "base/memory.h"
#include "base/text.h"
#include "linalg/space.h"
#include "model/assembly.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- partition ---- */

static int n_masses(const yoke_body *body) {
  return body->kind == YOKE_BODY_CHAIN ? body->chain->n : 1;
}

void yoke_partition_clear(yoke_partition *partition) {
  yoke_arena_free(&partition->arena);
  *partition = (yoke_partition){0};
}

static int compare_pieces(const void *a, const void *b) {
  const yoke_piece *x = a, *y = b;
  return (x->first > y->first) - (x->first < y->first);
}

/* Pieces of body b cover its masses once each. */
static yoke_status check_pieces(yoke_context *ctx, const yoke_model *model, int b, const yoke_piece *piece, int n) {
  const yoke_body *body = &model->bodies[b];
  int              next = 0;
  if (n == 0) {
    return yoke_fail(ctx, YOKE_E_MODEL, "split: body '%s' is in no subsystem, expected every body in one", body->name);
  }
  for (int k = 0; k < n; ++k) {
    if (piece[k].first < next) {
      return yoke_fail(ctx, YOKE_E_MODEL, "split: body '%s' is in subsystem '%s' and in '%s', expected it in one",
                       body->name, model->parts[piece[k > 0 ? k - 1 : k].place.part].name,
                       model->parts[piece[k].place.part].name);
    }
    if (piece[k].first > next) break;
    next = piece[k].first + piece[k].n;
  }
  if (next != n_masses(body)) {
    return yoke_fail(ctx, YOKE_E_MODEL, "split: mass %d of chain '%s' is in no subsystem, expected every mass in one",
                     next + 1, body->name);
  }
  return YOKE_OK;
}

static yoke_status check_part(yoke_context *ctx, const yoke_model *model, const yoke_split_part *part) {
  if (part->n_bodies == 0 && part->n_masses == 0) {
    return yoke_fail(ctx, YOKE_E_MODEL, "split: subsystem '%s' has no bodies", part->name);
  }
  for (int k = 0; k < part->n_bodies; ++k) {
    if (part->bodies[k] < 0 || part->bodies[k] >= model->n_bodies) {
      return yoke_fail(ctx, YOKE_E_MODEL, "split: subsystem '%s' names body %d, there are %d", part->name,
                       part->bodies[k], model->n_bodies);
    }
  }
  if (part->n_masses == 0) return YOKE_OK;
  const bool is_chain =
      part->chain >= 0 && part->chain < model->n_bodies && model->bodies[part->chain].kind == YOKE_BODY_CHAIN;
  const int n = is_chain ? model->bodies[part->chain].chain->n : 0;
  if (part->first_mass < 0 || part->n_masses < 0 || part->first_mass > n - part->n_masses) {
    return yoke_fail(ctx, YOKE_E_MODEL, "split: subsystem '%s' names masses %d to %d of a chain with %d", part->name,
                     part->first_mass + 1, part->first_mass + part->n_masses, n);
  }
  return YOKE_OK;
}

/* Pieces in the order of parts; with `pieces` NULL they are only counted, in piece_at[body + 1]. */
static void list_pieces(const yoke_model *model, int *piece_at, int *next, yoke_piece *pieces) {
  for (int p = 0; p < model->n_parts; ++p) {
    const yoke_split_part *part = &model->parts[p];
    for (int k = 0; k < part->n_bodies + (part->n_masses > 0); ++k) {
      const bool is_piece = k == part->n_bodies;
      const int  b        = is_piece ? part->chain : part->bodies[k];
      if (pieces == NULL) {
        ++piece_at[b + 1];
        continue;
      }
      pieces[next[b]++] = (yoke_piece){.first = is_piece ? part->first_mass : 0,
                                       .n     = is_piece ? part->n_masses : n_masses(&model->bodies[b]),
                                       .place = {.part = p, .body = k}};
    }
  }
}

yoke_status yoke_partition_create(yoke_context *ctx, const yoke_model *model, yoke_partition *out) {
  const int n = model->n_bodies;
  *out        = (yoke_partition){.model = model};
  if (model->n_parts == 0) return yoke_fail(ctx, YOKE_E_MODEL, "model '%s' has no split", model->name);
  for (int p = 0; p < model->n_parts; ++p) YOKE_TRY(check_part(ctx, model, &model->parts[p]));
  out->piece_at = yoke_arena_take(&out->arena, (size_t)n + 2, sizeof *out->piece_at);
  YOKE_TRY(yoke_arena_check(&out->arena, ctx, "the split of %d bodies", n));
  list_pieces(model, out->piece_at, NULL, NULL);
  for (int b = 0; b < n; ++b) out->piece_at[b + 1] += out->piece_at[b];
  out->pieces         = yoke_arena_take(&out->arena, (size_t)out->piece_at[n] + 1, sizeof *out->pieces);
  const size_t mark   = yoke_arena_mark(&out->arena);
  int         *next   = yoke_arena_copy(&out->arena, out->piece_at, (size_t)n + 1, sizeof *next);
  yoke_status  status = yoke_arena_check(&out->arena, ctx, "the split of %d bodies", n);
  if (status == YOKE_OK) list_pieces(model, out->piece_at, next, out->pieces);
  yoke_arena_release(&out->arena, mark);
  for (int b = 0; b < n && status == YOKE_OK; ++b) {
    yoke_piece *first = out->pieces + out->piece_at[b];
    const int   m     = out->piece_at[b + 1] - out->piece_at[b];
    if (m > 1) qsort(first, (size_t)m, sizeof *first, compare_pieces);
    status = check_pieces(ctx, model, b, first, m);
  }
  if (status != YOKE_OK) yoke_partition_clear(out);
  return status;
}

yoke_place yoke_partition_find(const yoke_partition *partition, int body, int mass) {
  int lo = partition->piece_at[body], hi = partition->piece_at[body + 1];
  while (hi - lo > 1) { /* the last piece that starts at or before the mass */
    const int middle = lo + (hi - lo) / 2;
    if (partition->pieces[middle].first <= mass)
      lo = middle;
    else
      hi = middle;
  }
  yoke_place place = partition->pieces[lo].place;
  place.mass       = mass - partition->pieces[lo].first;
  return place;
}

/* ---- start ---- */

void yoke_start_clear(yoke_start *start) {
  yoke_arena_free(&start->arena);
  *start = (yoke_start){0};
}

/* Accelerations, and multipliers of all joints at the assembled start: those that keep g'' = 0; of least norm where joints
 * are redundant, but 0 in rows that are not coupled. */
static yoke_status start_multipliers(yoke_context *ctx, const yoke_model *model, const yoke_multibody *mb,
                                     const yoke_equations *e, void *work, yoke_start *out) {
  out->a              = yoke_arena_take(&out->arena, (size_t)e->nv + 1, sizeof *out->a);
  out->lambda         = yoke_arena_take(&out->arena, 7 * (size_t)model->n_connections + 1, sizeof *out->lambda);
  const size_t mark   = yoke_arena_mark(&out->arena);
  double      *lambda = yoke_arena_take(&out->arena, (size_t)e->ng + 1, sizeof *lambda), unused[7];
  yoke_status  status = yoke_arena_check(&out->arena, ctx, "%d multipliers", e->ng);
  if (status == YOKE_OK && e->ng > 0) {
    status = e->ops->derivative(e->self, work, model->t_start, out->q, out->v, NULL, NULL, out->a, lambda);
    if (status != YOKE_OK) {
      status = yoke_fail(ctx, YOKE_E_MODEL, "model '%s': the forces in its joints at the start cannot be found (%s)",
                         model->name, yoke_status_text(status));
    } else {
      status = yoke_coupling_redundancy_move(out, mb, work, model->t_start, out->q, lambda);
      if (status != YOKE_OK) status = yoke_out_of_memory(ctx, "%d multipliers", e->ng);
    }
    for (int c = 0; status == YOKE_OK && c < model->n_connections; ++c) {
      if (!yoke_connection_is_joint(model->connections[c].kind) || model->connections[c].flexible) continue;
      yoke_multibody_connection_output(mb, work, c, model->t_start, out->q, out->v, lambda, out->lambda + 7 * c,
                                       unused);
    }
  }
  yoke_arena_release(&out->arena, mark);
  return status;
}

yoke_status yoke_start_create(yoke_context *ctx, const yoke_partition *partition, const double *q, const double *v,
                              yoke_start *out) {
  const yoke_model *model     = partition->model;
  const size_t      n         = (size_t)model->n_bodies + 1;
  yoke_equations    equations = {0};
  yoke_multibody   *mb        = NULL;
  yoke_assembly     assembly  = {0};
  *out                        = (yoke_start){0};
  yoke_status status          = yoke_multibody_create(ctx, model, NULL, &equations, &mb);
  if (status != YOKE_OK) return status;
  void *work = yoke_allocate(equations.work_size + 1, 1);
  out->q_at  = yoke_arena_take(&out->arena, n, sizeof *out->q_at);
  out->v_at  = yoke_arena_take(&out->arena, n, sizeof *out->v_at);
  out->q     = yoke_arena_take(&out->arena, (size_t)equations.nq + 1, sizeof *out->q);
  out->v     = yoke_arena_take(&out->arena, (size_t)equations.nv + 1, sizeof *out->v);
  if (work == NULL || out->arena.has_failed) {
    status = yoke_out_of_memory(ctx, "the start of %d bodies", model->n_bodies);
  } else {
    for (int b = 0; b < model->n_bodies; ++b) {
      out->q_at[b] = yoke_multibody_q_offset(mb, b);
      out->v_at[b] = yoke_multibody_v_offset(mb, b);
    }
    status = yoke_assembly_solve(ctx, model, mb, &equations, work, model->t_start, out->q, out->v, &assembly);
    if (status == YOKE_OK && q != NULL) { /* the assembly still tells which rows are redundant */
      memcpy(out->q, q, (size_t)equations.nq * sizeof *q);
      memcpy(out->v, v, (size_t)equations.nv * sizeof *v);
    }
    if (status == YOKE_OK) status = yoke_coupling_redundancy_find(ctx, mb, work, partition, &assembly, out);
    if (status == YOKE_OK) status = start_multipliers(ctx, model, mb, &equations, work, out);
  }
  yoke_assembly_clear(&assembly);
  free(work);
  yoke_equations_destroy(&equations);
  if (status != YOKE_OK) yoke_start_clear(out);
  return status;
}

/* Pose from a body's share of q and v: as that of a port but for the angular velocity, which is in body axes. */
static void body_pose(yoke_body_kind kind, const double *q, const double *v, yoke_pose *pose) {
  double p[7], omega[3];
  memcpy(p, q, (size_t)yoke_body_shape(kind)->n_p * sizeof *p);
  if (kind == YOKE_BODY_RIGID) quaternion_normalise(p + 3);
  yoke_shape_pose(yoke_body_shape(kind), p, v, pose);
  if (kind != YOKE_BODY_RIGID || v == NULL) return;
  vec3_copy(omega, v + 3);
  mat3_apply(pose->w, pose->R, omega);
}

void yoke_start_motion(const yoke_start *start, const yoke_model *model, const yoke_frame *frame, double p[7],
                       double v[6]) {
  const yoke_body       *body  = &model->bodies[frame->body];
  const double          *q     = start->q + start->q_at[frame->body] + frame->mass;
  const yoke_port_shape *shape = yoke_body_shape(body->kind);
  yoke_pose              pose;
  double                 arm[3], full[6];
  body_pose(body->kind, q, start->v + start->v_at[frame->body] + frame->mass, &pose);
  mat3_apply(arm, pose.R, frame->origin); /* C = r + R origin, C' = v + w x R origin */
  vec3_add(pose.r, 1.0, arm);
  vec3_add_cross(pose.v, 1.0, pose.w, arm);
  memset(p, 0, 7 * sizeof *p);
  memset(v, 0, 6 * sizeof *v);
  vec3_copy(full, pose.v);
  vec3_copy(full + 3, pose.w);
  for (int k = 0; k < shape->n_v; ++k) {
    const int freedom = shape->v[k].freedom;
    v[k]              = full[freedom];
    if (freedom < 3) p[k] = pose.r[freedom];
  }
  if (body->kind == YOKE_BODY_PLANAR) p[2] = pose.angle;
  if (body->kind == YOKE_BODY_RIGID) {
    memcpy(p + 3, q + 3, 4 * sizeof *p);
    quaternion_normalise(p + 3);
  }
}

/* C'' = r'' + alpha x c + w x (w x c), c = R origin, alpha = R omega'. */
void yoke_start_acceleration(const yoke_start *start, const yoke_model *model, const yoke_frame *frame, double a[6]) {
  const yoke_body       *body  = &model->bodies[frame->body];
  const yoke_port_shape *shape = yoke_body_shape(body->kind);
  const int              v_at  = start->v_at[frame->body] + frame->mass;
  const double          *own   = start->a + v_at;
  double                 c[3], wc[3], full[6], alpha[3];
  yoke_pose              pose;
  body_pose(body->kind, start->q + start->q_at[frame->body] + frame->mass, start->v + v_at, &pose);
  yoke_shape_spread(shape, own, full);
  if (body->kind == YOKE_BODY_RIGID) { /* omega' is in body axes */
    mat3_apply(alpha, pose.R, full + 3);
    vec3_copy(full + 3, alpha);
  }
  mat3_apply(c, pose.R, frame->origin);
  vec3_cross(wc, pose.w, c);
  vec3_add_cross(full, 1.0, full + 3, c);
  vec3_add_cross(full, 1.0, pose.w, wc);
  for (int k = 0; k < shape->n_v; ++k) a[k] = full[shape->v[k].freedom];
}

void yoke_drawn_pose(const yoke_model *model, const yoke_frame *frame, yoke_pose *pose) {
  double q[7] = {0.0};
  memset(pose, 0, sizeof *pose);
  pose->R[0] = pose->R[4] = pose->R[8] = 1.0;
  if (frame->body < 0) return;
  const yoke_body *body = &model->bodies[frame->body];
  vec3_copy(q, body->position);
  if (body->kind == YOKE_BODY_PLANAR) q[2] = body->angle;
  if (body->kind == YOKE_BODY_RIGID) memcpy(q + 3, body->orientation, 4 * sizeof *q);
  if (body->kind == YOKE_BODY_CHAIN)
    q[0] = body->chain->x0.each != NULL ? body->chain->x0.each[frame->mass] : body->chain->x0.value;
  body_pose(body->kind, q, NULL, pose);
}

/* ---- bodies ---- */

static void slice(yoke_arena *arena, const yoke_per_mass *whole, int first, int n, yoke_per_mass *out) {
  *out = (yoke_per_mass){.value = whole->value};
  if (whole->each != NULL) out->each = yoke_arena_copy(arena, whole->each + first, (size_t)n, sizeof *out->each);
}

/* Elements first .. first + n; those at a cut are left to the coupling and become zero here. */
static void slice_elements(yoke_arena *arena, const yoke_per_mass *whole, int first, int n, bool cut_left,
                           bool cut_right, yoke_per_mass *out) {
  slice(arena, whole, first, n + 1, out);
  if ((!cut_left && !cut_right) || (out->each == NULL && out->value == 0.0)) return;
  if (out->each == NULL) {
    out->each = yoke_arena_take(arena, (size_t)n + 1, sizeof *out->each);
    for (int i = 0; i <= n && out->each != NULL; ++i) out->each[i] = out->value;
  }
  if (out->each == NULL) return;
  if (cut_left) out->each[0] = 0.0;
  if (cut_right) out->each[n] = 0.0;
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
  const bool left = first > 0, right = first + n < whole->n;
  out->n          = n;
  out->exponent_x = whole->exponent_x;
  out->exponent_v = whole->exponent_v;
  out->x0.each    = yoke_arena_copy(arena, x + first, (size_t)n, sizeof *x);
  out->v0.each    = yoke_arena_copy(arena, v + first, (size_t)n, sizeof *v);
  slice(arena, &whole->mass, first, n, &out->mass);
  slice_elements(arena, &whole->stiffness, first, n, left, right, &out->stiffness);
  slice_elements(arena, &whole->damping, first, n, left, right, &out->damping);
  slice_elements(arena, &whole->stiffness_power, first, n, left, right, &out->stiffness_power);
  slice_elements(arena, &whole->damping_power, first, n, left, right, &out->damping_power);
  slice_loads(arena, whole, first, n, out);
  return out;
}

static void set_start(yoke_body *body, const double *q, const double *v) {
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
    set_start(out, q, v);
  } else {
    out->chain = chain_piece(arena, whole->bodies[b].chain, first, n, q, v);
  }
}

/* ---- creation ---- */

void yoke_submodel_clear(yoke_submodel *s) {
  yoke_model_destroy(&s->model);
  free(s->port_frame);
  free(s->port_request);
  free(s->inputs);
  free(s->integrals);
  *s = (yoke_submodel){0};
}

static bool fill_bodies(const yoke_model *whole, const yoke_start *start, const yoke_split_part *part, yoke_model *m) {
  const int n = part->n_bodies + (part->n_masses > 0);
  m->bodies   = yoke_allocate((size_t)n + 1, sizeof *m->bodies);
  for (int k = 0; k < n && m->bodies != NULL; ++k) {
    const bool is_piece = k == part->n_bodies;
    const int  b        = is_piece ? part->chain : part->bodies[k];
    copy_body(&m->arena, whole, start, b, is_piece ? part->first_mass : 0,
              is_piece ? part->n_masses : n_masses(&whole->bodies[b]), &m->bodies[m->n_bodies++]);
  }
  return m->bodies != NULL && !m->arena.has_failed;
}

yoke_status yoke_submodel_create(yoke_context *ctx, const yoke_partition *partition, const yoke_start *start, int p,
                                 yoke_submodel *out) {
  const yoke_model      *whole = partition->model;
  const yoke_split_part *part  = &whole->parts[p];
  *out                         = (yoke_submodel){.model = yoke_allocate(1, sizeof(yoke_model))};
  yoke_model *m                = out->model;
  if (m == NULL) return yoke_out_of_memory(ctx, "subsystem '%s'", part->name);
  memcpy(m->gravity, whole->gravity, sizeof m->gravity);
  m->t_start = whole->t_start;
  m->t_end   = whole->t_end;
  m->solver  = part->has_solver ? part->solver : whole->solver;
  m->energy  = whole->energy;
  m->name    = yoke_text_copy(part->name);
  if (m->name != NULL && fill_bodies(whole, start, part, m)) return YOKE_OK;
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
  own->motion = yoke_expression_retain(connection->motion);
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

int yoke_submodel_add_port(yoke_submodel *s, int frame, int extras, int n_rows, int *y_at) {
  const size_t n = (size_t)s->n_ports + 1;
  if (!yoke_grow(&s->port_request, &s->capacity_requests, n, sizeof *s->port_request) ||
      !yoke_grow(&s->port_frame, &s->capacity_ports, n, sizeof *s->port_frame))
    return -1;
  s->port_frame[s->n_ports]   = frame;
  s->port_request[s->n_ports] = (yoke_port_request){.extras = extras, .connection = -1};
  *y_at                       = s->ny;
  s->ny += yoke_shape_n_y(yoke_body_shape(s->model->bodies[s->model->frames[frame].body].kind)) +
           yoke_port_n_extras(extras, n_rows);
  return s->n_ports++;
}

yoke_status yoke_submodel_set_variables(yoke_context *ctx, yoke_submodel *s, const yoke_partition *partition,
                                        int part) {
  const yoke_model *whole = partition->model;
  yoke_model       *m     = s->model;
  if (whole->n_variables == 0 || (m->n_loads == 0 && m->n_events == 0)) return YOKE_OK;
  m->variables = yoke_allocate((size_t)whole->n_variables, sizeof *m->variables);
  if (m->variables == NULL) return yoke_out_of_memory(ctx, "subsystem '%s'", m->name);
  m->n_variables = whole->n_variables;
  for (int k = 0; k < m->n_variables; ++k) {
    const yoke_variable *from  = &whole->variables[k];
    const yoke_place     place = yoke_partition_find(partition, from->body, from->mass);
    m->variables[k]            = (yoke_variable){.body = 0};
    if (place.part != part) continue;
    m->variables[k]      = *from;
    m->variables[k].body = place.body;
    m->variables[k].mass = place.mass;
  }
  return YOKE_OK;
}
