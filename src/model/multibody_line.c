/* Masses on one line with springs and dampers between them and the ground, and nothing else: their energies and powers straight from q and v, and
 * where they are if their motion is prescribed. Solvers and accounts of couplings ask for them at every macro and micro step, which have hardly
 * more to do there than to find two poses in space. */
#include "model/multibody_internal.h"

#include <math.h>

/* x = direction (C1 - C2) - offset,  C = q + origin; the ground has no q. */
typedef struct line_spring {
  const yoke_law *law;          /* NULL: linear */
  int             iq[2], iv[2]; /* -1: ground */
  double          direction, origin[2], offset;
  bool            loses, is_plain;    /* the same and by a constant alone: d x'^2 */
  bool            is_linear;          /* it stores c x^2 / 2 */
  double          stiffness, damping; /* c, d of such ones */
} line_spring;

/* A mass whose energy is counted here. */
typedef struct line_mass {
  int    iq, iv;
  double mass;
} line_mass;

/* A mass that a joint holds at a ghost: q = p - offset. */
typedef struct line_follower {
  const mb_ghost *ghost;
  int             iq, iv;
  double          offset;
} line_follower;

struct mb_line {
  int            n, n_masses;
  line_mass     *masses;    /* [n_masses] */
  line_spring   *springs;   /* [n] those that are counted here */
  line_follower *followers; /* [n_guided]; NULL: prescribed motions have no closed form */
};

static bool is_on_line(const yoke_force_element *el) {
  if (el->rod != NULL || el->n != 1 || el->room != NULL) return false;
  return el->row[0].kind == YOKE_ROW_STRETCH || (el->row[0].kind == YOKE_ROW_POINT && el->row[0].k == 0);
}

static bool is_line(const yoke_multibody *mb) {
  if (mb->n_flexibles > 0 || mb->n_chains > 0 || mb->n_loads > 0 || mb->n_formulas > 0) return false;
  for (int i = 1; i < mb->n_nodes; ++i) {
    if (mb->nodes[i].kind != YOKE_BODY_MASS1D) return false;
  }
  for (int i = 0; i < mb->n_forces; ++i) {
    if (!mb_is_elsewhere(mb, &mb->forces[i]) && !is_on_line(&mb->forces[i])) return false;
  }
  return true;
}

/* Of guided joint k; false: it is no single row along x, or not prescribed. */
static bool set_follower(const yoke_multibody *mb, int k, line_follower *out) {
  const mb_joint *joint = &mb->joints[mb->n_joints + k];
  const int       side = mb->guided[k].side, node = joint->link.node[side];
  const int       ghost      = joint->link.node[1 - side] - mb->n_nodes;
  const bool      is_along_x = joint->n == 1 && joint->row[0].kind == YOKE_ROW_POINT && joint->row[0].k == 0;
  if (!mb->guided[k].is_prescribed || !is_along_x || mb->ghosts[ghost].shape != &yoke_shape_line) return false;
  *out = (line_follower){.ghost  = &mb->ghosts[ghost],
                         .iq     = mb->nodes[node].iq,
                         .iv     = mb->nodes[node].iv,
                         .offset = joint->link.origin[side][0] - joint->link.origin[1 - side][0]};
  return true;
}

/* No joints between them, and a ghost each. */
static yoke_status set_followers(yoke_multibody *mb, yoke_context *ctx, struct mb_line *line) {
  line_follower *list = yoke_arena_take(&mb->arena, (size_t)mb->n_guided + 1, sizeof *list);
  YOKE_TRY(yoke_arena_check(&mb->arena, ctx, "%d prescribed joints", mb->n_guided));
  if (mb->n_guided == 0 || mb->ng > 0) return YOKE_OK;
  for (int k = 0; k < mb->n_guided; ++k) {
    if (!set_follower(mb, k, &list[k])) return YOKE_OK;
    for (int j = 0; j < k; ++j) {
      if (list[j].iq == list[k].iq) return YOKE_OK;
    }
  }
  line->followers = list;
  return YOKE_OK;
}

yoke_status mb_create_line(yoke_multibody *mb, yoke_context *ctx) {
  if (!is_line(mb)) return YOKE_OK;
  struct mb_line *line   = yoke_arena_take(&mb->arena, 1, sizeof *line);
  line_spring    *list   = yoke_arena_take(&mb->arena, (size_t)mb->n_forces + 1, sizeof *list);
  line_mass      *masses = yoke_arena_take(&mb->arena, (size_t)mb->n_nodes, sizeof *masses);
  YOKE_TRY(yoke_arena_check(&mb->arena, ctx, "%d springs", mb->n_forces));
  for (int i = 1; i < mb->n_nodes; ++i) {
    const mb_node *node = &mb->nodes[i];
    if (!node->is_copy) masses[line->n_masses++] = (line_mass){node->iq, node->iv, node->mass};
  }
  for (int i = 0; i < mb->n_forces; ++i) {
    const yoke_force_element *el = &mb->forces[i];
    if (mb_is_elsewhere(mb, el)) continue;
    line_spring *s = &list[line->n++];
    s->law         = el->law;
    s->offset      = el->offset[0];
    s->direction   = el->row[0].kind == YOKE_ROW_STRETCH ? -1.0 : 1.0;
    s->loses       = yoke_force_element_loses(el);
    s->is_plain    = el->law == NULL || (el->law->damping_power == 0.0 && yoke_law_is_elastic(el->law));
    s->is_linear =
        el->law == NULL || (el->law->stiffness_power == 0.0 && el->law->table.n == 0 && el->law->expression == NULL);
    s->stiffness = el->law == NULL ? el->stiffness[0] : el->law->stiffness;
    s->damping   = el->law == NULL ? el->damping[0] : el->law->damping;
    for (int side = 0; side < 2; ++side) {
      const int node  = el->link.node[side];
      s->iq[side]     = node > 0 ? mb->nodes[node].iq : -1;
      s->iv[side]     = node > 0 ? mb->nodes[node].iv : -1;
      s->origin[side] = el->link.origin[side][0];
    }
  }
  line->springs = list;
  line->masses  = masses;
  mb->line      = line;
  return set_followers(mb, ctx, line);
}

bool mb_line_follows(const yoke_multibody *mb) {
  return mb->line != NULL && mb->line->followers != NULL;
}

yoke_status mb_line_prescribe(const yoke_multibody *mb, const double *u, double *q, double *v) {
  double sum = 0.0;
  for (int k = 0; k < mb->n_guided; ++k) {
    const line_follower *f = &mb->line->followers[k];
    double               p[YOKE_PORT_MAX_P], rate[YOKE_PORT_MAX_V];
    mb_ghost_motion(f->ghost, u, p, rate);
    q[f->iq] = p[0] - f->offset;
    v[f->iv] = rate[0];
    sum += fabs(q[f->iq]) + fabs(v[f->iv]);
  }
  return isfinite(sum) ? YOKE_OK : YOKE_NON_FINITE;
}

static double place(const line_spring *s, int side, const double *q) {
  return (s->iq[side] >= 0 ? q[s->iq[side]] : 0.0) + s->origin[side];
}

static double deflection(const line_spring *s, const double *q) {
  return (place(s, 0, q) - place(s, 1, q)) * s->direction - s->offset;
}

static double rate(const line_spring *s, const double *v) {
  const double v1 = s->iv[0] >= 0 ? v[s->iv[0]] : 0.0, v2 = s->iv[1] >= 0 ? v[s->iv[1]] : 0.0;
  return s->direction * v1 - s->direction * v2;
}

void mb_line_energy(const yoke_multibody *mb, const double *q, const double *v, double *kinetic, double *potential) {
  const struct mb_line *line    = mb->line;
  const double          gravity = mb->model->gravity[0];
  double                moved = *kinetic, stored = *potential;
  for (int i = 0; i < line->n_masses; ++i) {
    const line_mass *m = &line->masses[i];
    moved += 0.5 * m->mass * (v[m->iv] * v[m->iv]);
    stored -= m->mass * (gravity * q[m->iq]);
  }
  for (int i = 0; i < line->n; ++i) {
    const line_spring *s = &line->springs[i];
    const double       x = deflection(s, q);
    stored += s->is_linear ? 0.5 * s->stiffness * x * x : yoke_law_potential(s->law, x);
  }
  *kinetic   = moved;
  *potential = stored;
}

void mb_line_powers(const yoke_multibody *mb, double t, const double *q, const double *v, double *dissipated,
                    double *external) {
  *dissipated = *external = 0.0;
  for (int i = 0; i < mb->line->n; ++i) {
    const line_spring *s = &mb->line->springs[i];
    if (!s->loses) continue;
    const double x_rate = rate(s, v);
    *dissipated +=
        !s->is_plain ? yoke_law_power_lost(s->law, deflection(s, q), x_rate, t, NULL) : s->damping * x_rate * x_rate;
  }
}
