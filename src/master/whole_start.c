#include "master/whole_start.h"

#include "linalg/space.h"
#include "master/coupling_redundancy.h"
#include "model/assembly_report.h"
#include <string.h>

void yoke_start_clear(yoke_start *start) {
  yoke_assembly_clear(&start->assembly);
  if (start->equations.ops != NULL) yoke_equations_destroy(&start->equations);
  yoke_arena_free(&start->arena);
  *start = (yoke_start){0};
}

/* Accelerations, and multipliers of all joints at the assembled start: those that keep g'' = 0; of least norm where joints
 * are redundant, but 0 in rows that are not coupled. */
static yoke_status start_multipliers(yoke_context *ctx, yoke_start *out) {
  const yoke_model     *model = out->model;
  const yoke_equations *e     = &out->equations;
  out->a                      = yoke_arena_take(&out->arena, (size_t)e->nv + 1, sizeof *out->a);
  out->lambda =
      yoke_arena_take(&out->arena, YOKE_CONNECTION_MAX_ROWS * (size_t)model->n_connections + 1, sizeof *out->lambda);
  const size_t mark = yoke_arena_mark(&out->arena);
  double *lambda    = yoke_arena_take(&out->arena, (size_t)e->ng + 1, sizeof *lambda), unused[YOKE_CONNECTION_MAX_ROWS];
  yoke_status status = yoke_arena_check(&out->arena, ctx, "%d multipliers", e->ng);
  if (status == YOKE_OK && e->ng > 0) {
    status = yoke_multibody_begin_jumps(out->mb, out->work, model->t_start, out->q, out->v, NULL);
    if (status == YOKE_OK)
      status = e->ops->derivative(e->self, out->work, model->t_start, out->q, out->v, NULL, NULL, out->a, lambda);
    if (status != YOKE_OK) {
      status = yoke_fail(ctx, YOKE_E_MODEL, "model '%s': the forces in its joints at the start cannot be found (%s)",
                         model->name, yoke_status_text(status));
    } else {
      status = yoke_coupling_redundancy_move(out, model->t_start, out->q, lambda);
      if (status != YOKE_OK) status = yoke_out_of_memory(ctx, "%d multipliers", e->ng);
    }
    for (int c = 0; status == YOKE_OK && c < model->n_connections; ++c) {
      if (!yoke_connection_is_joint(model->connections[c].kind) || model->connections[c].flexible) continue;
      yoke_multibody_connection_output(out->mb, out->work, c, model->t_start, out->q, out->v, NULL, lambda,
                                       yoke_start_lambda(out, c), unused);
    }
  }
  yoke_arena_release(&out->arena, mark);
  return status;
}

/* Equations, and q and v: assembled, or as given. */
static yoke_status find_state(yoke_context *ctx, const yoke_places *places, const double *q, const double *v,
                              yoke_start *out) {
  const yoke_model *model  = out->model;
  bool             *is_cut = yoke_arena_take(&out->arena, (size_t)model->n_connections + 1, sizeof *is_cut);
  YOKE_TRY(yoke_arena_check(&out->arena, ctx, "%d connections", model->n_connections));
  for (int c = 0; c < model->n_connections; ++c) is_cut[c] = yoke_is_coupling(model, places, c);
  YOKE_TRY(yoke_assembly_create(ctx, model, NULL, is_cut, &out->equations, &out->mb, &out->assembly));
  if (q == NULL) return yoke_assembly_report(ctx, model, &out->equations, out->mb, &out->assembly);
  memcpy(out->assembly.q, q, (size_t)out->equations.nq * sizeof *q); /* it still tells which rows are redundant */
  memcpy(out->assembly.v, v, (size_t)out->equations.nv * sizeof *v);
  return YOKE_OK;
}

/* Scratch, and where every body's share starts. */
static yoke_status lay_out(yoke_context *ctx, yoke_start *out) {
  const yoke_model *model = out->model;
  const size_t      n     = (size_t)model->n_bodies + 1;
  out->work               = yoke_arena_take(&out->arena, out->equations.work_size + 1, 1);
  out->q_at               = yoke_arena_take(&out->arena, n, sizeof *out->q_at);
  out->v_at               = yoke_arena_take(&out->arena, n, sizeof *out->v_at);
  out->q                  = out->assembly.q;
  out->v                  = out->assembly.v;
  YOKE_TRY(yoke_arena_check(&out->arena, ctx, "the start of %d bodies", model->n_bodies));
  for (int b = 0; b < model->n_bodies; ++b) {
    out->q_at[b] = yoke_multibody_q_offset(out->mb, b);
    out->v_at[b] = yoke_multibody_v_offset(out->mb, b);
  }
  return YOKE_OK;
}

yoke_status yoke_start_create(yoke_context *ctx, const yoke_model *model, const yoke_places *places, const double *q,
                              const double *v, yoke_start *out) {
  *out               = (yoke_start){.model = model};
  yoke_status status = find_state(ctx, places, q, v, out);
  if (status == YOKE_OK) status = lay_out(ctx, out);
  if (status == YOKE_OK) status = yoke_coupling_redundancy_find(ctx, places, out);
  if (status == YOKE_OK) status = start_multipliers(ctx, out);
  if (status != YOKE_OK) yoke_start_clear(out);
  return status;
}

/* Pose from a body's share of q and v: as that of a port but for the angular velocity, which is in body axes. */
static void body_pose(yoke_body_kind kind, const double *q, const double *v, yoke_pose *pose) {
  double p[YOKE_PORT_MAX_P], omega[3];
  memcpy(p, q, (size_t)yoke_body_shape(kind)->n_p * sizeof *p);
  if (kind == YOKE_BODY_RIGID) quaternion_normalise(p + 3);
  yoke_shape_pose(yoke_body_shape(kind), p, v, pose);
  if (kind != YOKE_BODY_RIGID || v == NULL) return;
  vec3_copy(omega, v + 3);
  mat3_apply(pose->w, pose->R, omega);
}

void yoke_start_motion(const yoke_start *start, const yoke_whole_state *at, const yoke_frame *frame, double *p,
                       double *v) {
  const yoke_body       *body  = &start->model->bodies[frame->body];
  const double          *q     = at->q + start->q_at[frame->body] + frame->mass;
  const yoke_port_shape *shape = yoke_body_shape(body->kind);
  yoke_pose              pose;
  double                 arm[3], full[6];
  body_pose(body->kind, q, at->v + start->v_at[frame->body] + frame->mass, &pose);
  mat3_apply(arm, pose.R, frame->origin); /* C = r + R origin, C' = v + w x R origin */
  vec3_add(pose.r, 1.0, arm);
  vec3_add_cross(pose.v, 1.0, pose.w, arm);
  vec3_copy(full, pose.v);
  vec3_copy(full + 3, pose.w);
  for (int k = 0; k < shape->n_v; ++k) v[k] = full[shape->v[k].freedom];
  for (int k = 0; k < shape->n_p; ++k) {
    const int rate = shape->p[k].rate, freedom = rate >= 0 ? shape->v[rate].freedom : -1;
    p[k] = freedom < 0 ? q[k] : freedom < 3 ? pose.r[freedom] : pose.angle;
  }
  if (body->kind == YOKE_BODY_RIGID) quaternion_normalise(p + 3);
}

/* C'' = r'' + alpha x c + w x (w x c), c = R origin, alpha = R omega'. */
void yoke_start_acceleration(const yoke_start *start, const yoke_whole_state *at, const yoke_frame *frame, double *a) {
  const yoke_body       *body  = &start->model->bodies[frame->body];
  const yoke_port_shape *shape = yoke_body_shape(body->kind);
  const int              v_at  = start->v_at[frame->body] + frame->mass;
  const double          *own   = at->a + v_at;
  double                 c[3], wc[3], full[6], alpha[3];
  yoke_pose              pose;
  body_pose(body->kind, at->q + start->q_at[frame->body] + frame->mass, at->v + v_at, &pose);
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
  double q[YOKE_PORT_MAX_P] = {0.0};
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
