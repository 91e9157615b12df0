/* What keeps a model from rest: words for the message where no rest state is found. */
#include "model/multibody_internal.h"
#include "base/memory.h"

#include "linalg/space.h"
#include "model/flexible.h"
#include <math.h>
#include <string.h>

/* Velocities along the direction that is asked for, so small that dampers and laws of velocities do nothing. */
static const double slow = 1e-9;

typedef struct search {
  const yoke_multibody *mb;
  mb_work               w;
  double                t, most; /* power of the best so far */
  yoke_driver           best;
} search;

static void offer(search *s, double power, yoke_driver_kind kind, const char *name) {
  if (!(power > s->most)) return;
  s->most = power;
  s->best = (yoke_driver){kind, name};
}

static double power_at(const search *s, int node) {
  const double    *f    = s->w.wrench + 6 * node;
  const yoke_pose *pose = &s->w.pose[node];
  return vec3_dot(f, pose->v) + vec3_dot(f + 3, pose->w);
}

/* g . M v of all places; chains and masses on a line have the first component of g. Linear bodies have no weight. */
static void offer_weight(search *s, const double *v, double *y) {
  const yoke_multibody *mb  = s->mb;
  const yoke_model     *m   = mb->model;
  double                sum = 0.0;
  yoke_multibody_mass_apply(mb, v, y);
  for (int b = 0; b < m->n_bodies; ++b) {
    const yoke_body *body = &m->bodies[b];
    const double    *p    = y + mb->body_v[b];
    if (body->is_direction || (body->flexible > 0 && m->flexibles[body->flexible - 1].linear != NULL)) continue;
    if (body->kind == YOKE_BODY_CHAIN || body->kind == YOKE_BODY_MASS1D) {
      const int n = yoke_body_nv(body);
      for (int i = 0; i < n; ++i) sum += m->gravity[0] * p[i];
    } else {
      sum +=
          m->gravity[0] * p[0] + m->gravity[1] * p[1] + (body->kind == YOKE_BODY_PLANAR ? 0.0 : m->gravity[2] * p[2]);
    }
  }
  offer(s, sum, YOKE_DRIVER_WEIGHT, NULL);
}

static void offer_loads(search *s) {
  for (int i = 0; i < s->mb->n_loads; ++i) {
    const yoke_load_element *el = &s->mb->loads[i];
    memset(s->w.wrench + 6 * el->node, 0, 6 * sizeof *s->w.wrench);
    if (yoke_load_apply(el, s->w.pose, s->w.variables, s->w.wrench) == YOKE_OK)
      offer(s, power_at(s, el->node), YOKE_DRIVER_LOAD, el->load->name);
  }
}

static void offer_forces(search *s) {
  const yoke_multibody *mb = s->mb;
  for (int i = 0; i < mb->n_forces; ++i) {
    const int *node = mb->forces[i].link.node;
    if (mb->forces[i].connection < 0) continue;
    for (int side = 0; side < 2; ++side) memset(s->w.wrench + 6 * node[side], 0, 6 * sizeof *s->w.wrench);
    yoke_force_element_apply(&mb->forces[i], s->w.pose, s->t, s->w.wrench);
    offer(s, power_at(s, node[0]) + power_at(s, node[1]), YOKE_DRIVER_CONNECTION,
          mb->model->connections[mb->forces[i].connection].name);
  }
  for (int i = 0; i < mb->n_formulas; ++i) {
    yoke_link_state state;
    double          grad[12];
    const double    F = mb_formula_row(mb, &mb->formulas[i], &s->w, &state, grad);
    offer(s, -F * yoke_row_rate(grad, &state), YOKE_DRIVER_CONNECTION,
          mb->model->connections[mb->forces[mb->formulas[i].force].connection].name);
  }
}

/* f . v of the inner forces of flexible bodies, without weight, and of the loads of chains. `f` is scratch [nv]. */
static void offer_bodies(search *s, const double *q, const double *v, double *f) {
  static const double   none[3] = {0.0, 0.0, 0.0};
  const yoke_multibody *mb      = s->mb;
  for (int i = 0; i < mb->n_flexibles; ++i) {
    const mb_flexible *body  = &mb->flexibles[i];
    double             power = 0.0;
    yoke_flexible_force(body->given, none, q + body->iq, v + body->iv, f);
    for (int k = 0; k < body->n; ++k) power += f[k] * v[body->iv + k];
    offer(s, power, YOKE_DRIVER_BODY, body->given->name);
  }
  for (int b = 0, c = 0; c < mb->n_chains && b < mb->model->n_bodies; ++b) {
    double lost, external;
    if (mb->model->bodies[b].kind != YOKE_BODY_CHAIN) continue;
    const mb_chain *chain = &mb->chains[c++];
    yoke_chain_kernel_powers(chain->kernel, s->t, q + chain->iq, v + chain->iv, &lost, &external);
    offer(s, external, YOKE_DRIVER_BODY, mb->model->bodies[b].name);
  }
}

yoke_driver yoke_multibody_driver(const yoke_multibody *mb, void *work, double t, const double *q, const double *dv) {
  yoke_arena arena = {0};
  search     s     = {.mb = mb, .t = t};
  double    *v     = yoke_arena_take(&arena, (size_t)mb->nv + 1, sizeof *v);
  double    *f     = yoke_arena_take(&arena, (size_t)mb->nv + 1, sizeof *f);
  double     most  = 0.0;
  for (int i = 0; i < mb->nv; ++i) most = fmax(most, fabs(dv[i]));
  if (arena.has_failed || !(most > 0.0)) {
    yoke_arena_free(&arena);
    return s.best;
  }
  for (int i = 0; i < mb->nv; ++i) v[i] = slow * dv[i] / most;
  offer_weight(&s, v, f);
  if (mb->is_chain_alone) {
    if (s.best.kind == YOKE_DRIVER_NONE) s.best = (yoke_driver){YOKE_DRIVER_BODY, mb->model->bodies[0].name};
  } else {
    mb_work_carve(mb, work, &s.w);
    mb_poses(mb, &s.w, q, v, false);
    if (mb->n_felt > 0) memset(s.w.felt, 0, (size_t)mb->n_felt * sizeof *s.w.felt);
    if (mb->needs_variables) mb_variables(mb, &s.w, t, q, v, NULL);
    offer_loads(&s);
    offer_forces(&s);
    offer_bodies(&s, q, v, f);
  }
  yoke_arena_free(&arena);
  return s.best;
}

int yoke_multibody_moving(const yoke_multibody *mb, double t, double motion[3]) {
  static const double still = 1e-9; /* rad or lengths of the model, per second */
  for (int j = 0; j < mb->n_joints; ++j) {
    const mb_joint *joint = &mb->joints[j];
    if (joint->motion == NULL) continue;
    const bool is_angle =
        joint->row[joint->n - 1].kind == YOKE_ROW_ANGLE || joint->row[joint->n - 1].kind == YOKE_ROW_TURN;
    const double least = still * (is_angle ? 1.0 : mb->length);
    mb_motion(joint, t, &motion[0], &motion[1], &motion[2]);
    if (fabs(motion[1]) > least || fabs(motion[2]) > least) return joint->connection;
  }
  return -1;
}
