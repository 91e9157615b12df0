/* Who makes steps short: words for the message of a run that cannot go on. */
#include "model/multibody_internal.h"

#include <math.h>
#include <stdio.h>

/* Body with the largest acceleration; NULL: nothing moves. */
static const char *fastest_body(const yoke_multibody *mb, const double *a) {
  const char *name = NULL;
  double      most = 0.0;
  for (int b = 0; b < mb->model->n_bodies; ++b) {
    const int begin = mb->body_v[b], end = begin + yoke_body_nv(&mb->model->bodies[b]);
    for (int i = begin; i < end; ++i) {
      if (!(fabs(a[i]) > most)) continue;
      most = fabs(a[i]);
      name = mb->model->bodies[b].name;
    }
  }
  return name;
}

/* Joint with the largest multiplier; NULL: none. */
static const char *strained_joint(const yoke_multibody *mb, const double *lambda) {
  int    row  = -1;
  double most = 0.0;
  for (int g = 0; g < mb->ng; ++g) {
    if (!(fabs(lambda[g]) > most)) continue;
    most = fabs(lambda[g]);
    row  = g;
  }
  return row >= 0 ? mb->model->connections[mb->joints[mb->row_joint[row]].connection].name : NULL;
}

/* Looks whether the branch of a load or law changes when velocities change by +-reach times the accelerations, as they are or all of one sign. */
typedef struct jump_search {
  const yoke_multibody *mb;
  mb_work              *w;
  double                t, reach;
  const double         *q, *v, *u, *a;
} jump_search;

enum { N_PLACES = 5 };

static void go_to(const jump_search *s, int place) {
  const double share = place % 2 == 0 ? s->reach : -s->reach;
  for (int i = 0; i < s->mb->nv; ++i) {
    const double a = place < 2 ? s->a[i] : fabs(s->a[i]);
    s->w->a[i]     = s->v[i] + (place < 4 ? share * a : 0.0);
  }
  mb_poses(s->mb, s->w, s->q, s->w->a, false);
  mb_ghost_poses(s->mb, s->w, s->u);
  if (s->mb->needs_variables) mb_variables(s->mb, s->w, s->t, s->q, s->w->a, s->u);
}

/* Loads, then laws of force elements, then formulas, which are laws too. */
static uint64_t branch(const jump_search *s, int i) {
  const yoke_multibody *mb = s->mb;
  if (i < mb->n_loads) return mb_load_branch(0, mb, s->w, i);
  i -= mb->n_loads;
  return i < mb->n_forces ? mb_law_branch(0, mb, s->w, i, s->t) : mb_formula_branch(0, mb, s->w, i - mb->n_forces);
}

static bool jumps(const jump_search *s, int i) {
  uint64_t first = 0;
  for (int place = 0; place < N_PLACES; ++place) {
    go_to(s, place);
    if (place > 0 && branch(s, i) != first) return true;
    first = branch(s, i);
  }
  return false;
}

static const char *name_of(const yoke_multibody *mb, int i) {
  if (i < mb->n_loads) return mb->loads[i].load->name;
  i -= mb->n_loads;
  const int force = i < mb->n_forces ? i : mb->formulas[i - mb->n_forces].force;
  return mb->model->connections[mb->forces[force].connection].name;
}

void mb_blame(const void *self, void *work, double t, const double *q, const double *v, const double *u,
              const double *a, const double *lambda, double reach, char *text, size_t size) {
  const yoke_multibody *mb = self;
  mb_work               w;
  if (mb->n_loop > 0 && yoke_multibody_check_loop(mb, work, t, q, v, u, text, size) != YOKE_OK) return;
  if (mb->n_loop > 0) mb_feel_at(mb, work, t, q, v, u);
  mb_work_carve(mb, work, &w);
  w.share                 = NULL;
  const jump_search s     = {mb, &w, t, reach, q, v, u, a};
  const char *const joint = mb->has_loops && mb_is_singular(mb, work, t, q) ? strained_joint(mb, lambda) : NULL;
  const char *const body  = fastest_body(mb, a);
  for (int i = 0; mb->can_jump && i < mb->n_loads + mb->n_forces + mb->n_formulas; ++i) {
    if (!jumps(&s, i)) continue;
    (void)snprintf(text, size,
                   "%s '%s' jumps with the velocity and holds it there, as dry friction does at rest; replace the jump "
                   "by a steep smooth function, tanh(v/w) for sign(v) with w below the velocities that matter",
                   i < mb->n_loads ? "load" : "the law of connection", name_of(mb, i));
    return;
  }
  if (joint != NULL)
    (void)snprintf(
        text, size,
        "the position is singular there, joint '%s' bears most; a larger rtol or another solver may pass it, and "
        "lengths that shall be equal must be so to the last digit",
        joint);
  else if (body != NULL)
    (void)snprintf(text, size, "body '%s' is accelerated most; what acts on it is stiff or not smooth", body);
}
