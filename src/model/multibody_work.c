/* Works of dampers and loads over a micro step from both of its ends, where their powers depend on nothing but velocities: dampers between masses
 * on a line, drag on bodies at their own frames, and forces that are constant there, which work by F dq. Without poses, and without the
 * motion of freedoms that take no part. */
#include "model/multibody_internal.h"

#include "base/simd.h"
#include "model/ends.h"
#include <math.h>

/* d x'^2, or what a law of the rate takes; x' is that of freedom iv[0] less that of iv[1], whatever its sign. */
typedef struct work_damper {
  const yoke_law *law; /* NULL: linear */
  double          damping;
  int             iq[2], iv[2]; /* -1: ground */
} work_damper;

/* A plane body turns by the freedom behind its translations. */
typedef struct work_drag {
  int    iq, iv, n; /* translations */
  double linear, quadratic, rotational;
} work_drag;

typedef struct work_force {
  int    iq;
  double force; /* or moment */
} work_force;

struct mb_works {
  int          n_dampers, n_drags, n_forces;
  bool         are_linear; /* all dampers, and there is nothing else */
  work_damper *dampers;
  work_drag   *drags;
  work_force  *forces;
};

static bool is_line_end(const yoke_multibody *mb, int node) {
  return node == 0 || mb->nodes[node].kind == YOKE_BODY_MASS1D;
}

static bool take_damper(const yoke_multibody *mb, const yoke_force_element *el, struct mb_works *out) {
  const bool is_on_line =
      el->rod == NULL && el->n == 1 && el->room == NULL &&
      (el->row[0].kind == YOKE_ROW_STRETCH || (el->row[0].kind == YOKE_ROW_POINT && el->row[0].k == 0));
  if (!is_on_line || !is_line_end(mb, el->link.node[0]) || !is_line_end(mb, el->link.node[1])) return false;
  if (el->law != NULL && !yoke_law_is_elastic(el->law)) return false;
  work_damper *damper = &out->dampers[out->n_dampers++];
  damper->damping     = el->law == NULL ? el->damping[0] : el->law->damping;
  damper->law         = el->law != NULL && el->law->damping_power != 0.0 ? el->law : NULL;
  const int first     = el->link.node[0] > 0 ? 0 : 1; /* the ground comes second: signs do not matter */
  for (int side = 0; side < 2; ++side) {
    const int node   = el->link.node[side == 0 ? first : 1 - first];
    damper->iq[side] = node > 0 ? mb->nodes[node].iq : -1;
    damper->iv[side] = node > 0 ? mb->nodes[node].iv : -1;
  }
  return damper->iv[0] >= 0;
}

/* Freedoms of a body whose translations are those of its frame, along the axes; 0: it is no such body. */
static int n_translations(const mb_node *node) {
  switch (node->kind) {
  case YOKE_BODY_MASS1D: return 1;
  case YOKE_BODY_PLANAR: return 2;
  case YOKE_BODY_PARTICLE: return 3;
  case YOKE_BODY_RIGID:
  case YOKE_BODY_CHAIN: break;
  }
  return 0;
}

static bool take_load(const yoke_multibody *mb, const yoke_load_element *el, struct mb_works *out) {
  const yoke_load *load = el->load;
  const mb_node   *node = &mb->nodes[el->node];
  const int        n = n_translations(node), turns = node->kind == YOKE_BODY_PLANAR;
  const bool       is_own_frame = el->origin[0] == 0.0 && el->origin[1] == 0.0 && el->origin[2] == 0.0;
  if (load->kind == YOKE_LOAD_CONTACT) return true; /* it has a potential */
  if (n == 0 || node->nv != n + turns || !is_own_frame) return false;
  if (load->kind == YOKE_LOAD_DRAG) {
    out->drags[out->n_drags++] = (work_drag){.iq         = node->iq,
                                             .iv         = node->iv,
                                             .n          = n,
                                             .linear     = load->drag_linear,
                                             .quadratic  = load->drag_quadratic,
                                             .rotational = turns ? load->drag_rotational : 0.0};
    return true;
  }
  if (load->follower) return false;
  for (int k = 0; k < 3; ++k) {
    if (load->value[k] == NULL) continue;
    if (!yoke_expression_is_constant(load->value[k])) return false;
    const bool is_moment = load->kind == YOKE_LOAD_TORQUE, is_felt = is_moment ? turns && k == 2 : k < n;
    if (!is_felt) continue;
    out->forces[out->n_forces++] =
        (work_force){node->iq + (is_moment ? n : k), yoke_expression_evaluate(load->value[k], NULL, NULL)};
  }
  return true;
}

yoke_status mb_create_works(yoke_multibody *mb, yoke_context *ctx) {
  struct mb_works *works = yoke_arena_take(&mb->arena, 1, sizeof *works);
  if (mb->n_flexibles > 0 || mb->n_chains > 0 || mb->n_formulas > 0) return YOKE_OK;
  if (works != NULL) {
    works->dampers = yoke_arena_take(&mb->arena, (size_t)mb->n_forces + 1, sizeof *works->dampers);
    works->drags   = yoke_arena_take(&mb->arena, (size_t)mb->n_loads + 1, sizeof *works->drags);
    works->forces  = yoke_arena_take(&mb->arena, 3 * (size_t)mb->n_loads + 1, sizeof *works->forces);
  }
  YOKE_TRY(yoke_arena_check(&mb->arena, ctx, "%d springs and %d loads", mb->n_forces, mb->n_loads));
  for (int i = 0; i < mb->n_forces; ++i) {
    const yoke_force_element *el = &mb->forces[i];
    if (yoke_force_element_loses(el) && !mb_is_elsewhere(mb, el) && !take_damper(mb, el, works)) return YOKE_OK;
  }
  for (int i = 0; i < mb->n_loads; ++i) {
    if (!mb_load_is_elsewhere(mb, &mb->loads[i]) && !take_load(mb, &mb->loads[i], works)) return YOKE_OK;
  }
  works->are_linear = works->n_drags == 0 && works->n_forces == 0;
  for (int i = 0; i < works->n_dampers; ++i) works->are_linear = works->are_linear && works->dampers[i].law == NULL;
  mb->works = works;
  return YOKE_OK;
}

/* Of one freedom, or of the first less the second. */
static YOKE_ALWAYS_INLINE double at(const double *list, const int i[2]) {
  return i[1] < 0 ? list[i[0]] : list[i[0]] - list[i[1]];
}

static double integral(double h, double first, double middle, double last) {
  return h * (yoke_ends_weight[0] * (first + last) + yoke_ends_weight[1] * middle);
}

static YOKE_ALWAYS_INLINE yoke_ends_rate rate_in(const work_damper *d, const yoke_ends *x) {
  return yoke_ends_rates(x->h, at(x->q1, d->iq) - at(x->q0, d->iq), at(x->v0, d->iv), at(x->v1, d->iv),
                         at(x->a0, d->iv), at(x->a1, d->iv));
}

static double taken(const work_damper *d, const yoke_ends *x) {
  const yoke_ends_rate v = rate_in(d, x);
  if (d->law == NULL) return d->damping * yoke_ends_square(x->h, v);
  return integral(x->h, yoke_law_power_lost(d->law, 0.0, v.even + v.odd, 0.0, NULL),
                  yoke_law_power_lost(d->law, 0.0, v.middle, 0.0, NULL),
                  yoke_law_power_lost(d->law, 0.0, v.even - v.odd, 0.0, NULL));
}

static yoke_ends_rate rate_of(const work_drag *d, const yoke_ends *x, int k) {
  const int iq = d->iq + k, iv = d->iv + k;
  return yoke_ends_rates(x->h, x->q1[iq] - x->q0[iq], x->v0[iv], x->v1[iv], x->a0[iv], x->a1[iv]);
}

/* |v|^3 at the three points. */
static double cubes(const work_drag *d, const yoke_ends *x) {
  double first = 0.0, middle = 0.0, last = 0.0;
  for (int k = 0; k < d->n; ++k) {
    const yoke_ends_rate v = rate_of(d, x, k);
    first += (v.even + v.odd) * (v.even + v.odd);
    middle += v.middle * v.middle;
    last += (v.even - v.odd) * (v.even - v.odd);
  }
  return integral(x->h, first * sqrt(first), middle * sqrt(middle), last * sqrt(last));
}

static double dragged(const work_drag *d, const yoke_ends *x) {
  double sum = 0.0;
  for (int k = 0; d->linear != 0.0 && k < d->n; ++k) sum += d->linear * yoke_ends_square(x->h, rate_of(d, x, k));
  if (d->rotational != 0.0) sum += d->rotational * yoke_ends_square(x->h, rate_of(d, x, d->n));
  if (d->quadratic != 0.0) sum += d->quadratic * cubes(d, x);
  return sum;
}

static void add_all(const struct mb_works *works, const yoke_ends *ends, double sum[2]) {
  for (int i = 0; i < works->n_dampers; ++i) sum[0] += taken(&works->dampers[i], ends);
  for (int i = 0; i < works->n_drags; ++i) sum[0] += dragged(&works->drags[i], ends);
  for (int i = 0; i < works->n_forces; ++i) {
    const work_force *f = &works->forces[i];
    sum[1] += f->force * (ends->q1[f->iq] - ends->q0[f->iq]);
  }
}

bool mb_work_between(const void *self, const yoke_ends *ends, double sum[2]) {
  const yoke_multibody  *mb    = self;
  const struct mb_works *works = mb->works;
  if (works == NULL || ends == NULL) return works != NULL;
  if (!works->are_linear) {
    add_all(works, ends, sum);
    return true;
  }
  for (int i = 0; i < works->n_dampers; ++i) {
    const work_damper *d = &works->dampers[i];
    sum[0] += d->damping * yoke_ends_square(ends->h, rate_in(d, ends));
  }
  return true;
}
