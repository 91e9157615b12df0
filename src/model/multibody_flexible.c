/* Flexible bodies of a compiled model. Their nodes move like those of other bodies, but share one constant mass matrix M, which is not block
 * diagonal: a wrench on one node accelerates all others. Joints, ports and rows at ghosts see it through the columns of M^-1 that
 * belong to nodes which they touch, X = M^-1 B^T, whose rows at other such nodes are the compliance B M^-1 B^T. */
#include "model/multibody_internal.h"

#include "base/memory.h"
#include "linalg/space.h"
#include <string.h>

static const double pivot_limit = 1e-13; /* of M, relative to its diagonal */

/* ---- creation ---- */

typedef struct band_fill {
  yoke_band *band;
  int        width;
} band_fill;

static void widen(void *user, int row, int column, double value) {
  band_fill *fill = user;
  (void)value;
  if (row - column > fill->width) fill->width = row - column;
}

static void fill_band(void *user, int row, int column, double value) {
  const band_fill *fill = user;
  if (column <= row) *yoke_band_at(fill->band, row, column) += value;
}

static yoke_status factor_mass(yoke_multibody *mb, yoke_context *ctx, mb_flexible *f) {
  band_fill fill = {.band = &f->band};
  f->stride      = yoke_flexible_stride(f->given);
  yoke_flexible_mass(f->given, widen, &fill);
  f->band.n     = f->n / f->stride;
  f->band.width = fill.width;
  f->band.L     = yoke_arena_take(&mb->arena, yoke_band_size(f->band.n, f->band.width), sizeof *f->band.L);
  YOKE_TRY(yoke_arena_check(&mb->arena, ctx, "the mass matrix of '%s'", f->given->name));
  yoke_flexible_mass(f->given, fill_band, &fill);
  const int row = yoke_band_factor(&f->band, pivot_limit);
  if (row < 0) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_MODEL,
                   "flexible body '%s': its mass matrix is not positive definite in row %d; every freedom needs mass "
                   "of its own: leave out freedoms without it, or reduce the model to the others",
                   f->given->name, f->stride * row + 1);
}

yoke_status mb_build_flexibles(yoke_multibody *mb, yoke_context *ctx) {
  const yoke_model *model = mb->model;
  mb->flexibles           = yoke_arena_take(&mb->arena, (size_t)model->n_flexibles + 1, sizeof *mb->flexibles);
  YOKE_TRY(yoke_arena_check(&mb->arena, ctx, "%d flexible bodies", model->n_flexibles));
  for (int i = 0; i < model->n_flexibles; ++i) {
    const yoke_flexible *given = &model->flexibles[i];
    mb_flexible         *f     = &mb->flexibles[mb->n_flexibles++];
    *f                         = (mb_flexible){.given      = given,
                                               .n          = given->n,
                                               .iq         = mb->body_q[given->first_body],
                                               .iv         = mb->body_v[given->first_body],
                                               .first_node = mb->body_node[given->first_body],
                                               .n_nodes    = given->n_bodies};
    for (int k = 0; k < f->n_nodes; ++k) {
      mb_node *node  = &mb->nodes[f->first_node + k];
      node->flexible = i + 1;
      node->at       = node->iv - f->iv;
      node->column   = -1;
    }
    YOKE_TRY(factor_mass(mb, ctx, f));
  }
  return YOKE_OK;
}

/* Nodes that joints, rows at ghosts or ports touch; column 0 until they are counted. */
static void touch(yoke_multibody *mb, int node) {
  if (node < mb->n_nodes && mb->nodes[node].flexible > 0) mb->nodes[node].column = 0;
}

static void touch_link(yoke_multibody *mb, const yoke_link *link) {
  for (int side = 0; side < 2; ++side) touch(mb, link->node[side]);
}

/* Entries of M between freedoms first ... first + n - 1. */
typedef struct own_block {
  int    first, n, stride;
  double M[36];
} own_block;

static void fill_own(void *user, int row, int column, double value) {
  own_block *b = user;
  for (int k = 0; k < b->stride; ++k) {
    const int i = row * b->stride + k - b->first, j = column * b->stride + k - b->first;
    if (i >= 0 && i < b->n && j >= 0 && j < b->n) b->M[i * b->n + j] += value;
  }
}

static void set_local(const mb_flexible *f, const mb_node *node) {
  for (int c = 0; c < node->nv; ++c) {
    own_block b    = {.first = node->at, .n = node->nv, .stride = f->stride};
    double   *unit = f->local + 6 * (node->column + c);
    unit[c]        = 1.0;
    yoke_flexible_mass(f->given, fill_own, &b);
    (void)mb_eliminate(b.n, b.M, unit, 0.0); /* M is positive definite, and so are its blocks */
  }
}

yoke_status mb_build_interface(yoke_multibody *mb, yoke_context *ctx) {
  for (int j = 0; j < mb->n_joints + mb->n_guided; ++j) touch_link(mb, &mb->joints[j].link);
  for (int i = 0; i < mb->n_driven; ++i) touch_link(mb, &mb->driven[i].link);
  for (int k = 0; k < mb->n_ports; ++k) touch(mb, mb->ports[k].node);
  for (int i = 0; i < mb->n_flexibles; ++i) {
    mb_flexible *f = &mb->flexibles[i];
    for (int k = f->first_node; k < f->first_node + f->n_nodes; ++k) {
      if (mb->nodes[k].column < 0) continue;
      mb->nodes[k].column = f->n_columns;
      f->n_columns += mb->nodes[k].nv;
    }
    f->first_push = mb->n_push;
    mb->n_push += f->n_columns;
    f->X     = yoke_arena_take(&mb->arena, (size_t)f->n_columns * (size_t)f->n, sizeof *f->X);
    f->local = yoke_arena_take(&mb->arena, 6 * (size_t)f->n_columns, sizeof *f->local);
    YOKE_TRY(yoke_arena_check(&mb->arena, ctx, "flexible body '%s'", f->given->name));
    for (int k = f->first_node; k < f->first_node + f->n_nodes; ++k) {
      const mb_node *node = &mb->nodes[k];
      for (int c = 0; node->column >= 0 && c < node->nv; ++c) {
        double *x       = f->X + (ptrdiff_t)(node->column + c) * f->n;
        x[node->at + c] = 1.0;
        yoke_band_solve(&f->band, f->stride, x);
      }
      if (node->column >= 0) set_local(f, node);
    }
  }
  return YOKE_OK;
}

/* ---- compliance ---- */

double mb_flexible_compliance(const yoke_multibody *mb, const mb_node *a, int k, const mb_node *b, int l) {
  const mb_flexible *f = &mb->flexibles[a->flexible - 1];
  return f->X[(ptrdiff_t)(b->column + l) * f->n + a->at + k];
}

/* Accelerations [nv] of a node in its own coordinates as a six-vector in inertial axes. */
static void spread_node(const mb_work *w, const mb_node *node, int index, const double *a, double y[6]) {
  double own[6] = {0.0};
  for (int k = 0; k < node->nv; ++k) own[node->freedom[k]] = a[k];
  vec3_copy(y, own);
  mat3_apply(y + 3, w->pose[index].R, own + 3);
}

void mb_flexible_response(const yoke_multibody *mb, const mb_work *w, int from, const double wrench[6], int to,
                          double y[6]) {
  const mb_node *a = &mb->nodes[to], *b = &mb->nodes[from];
  double         own[6] = {0.0}, f[6];
  if (w->is_alone) {
    memset(y, 0, 6 * sizeof *y);
    if (from == to) mb_flexible_alone(mb, w, to, wrench, y);
    return;
  }
  mb_kept_row(b, w->pose[from].R, wrench, f);
  for (int k = 0; k < a->nv; ++k) {
    for (int l = 0; l < b->nv; ++l) own[k] += mb_flexible_compliance(mb, a, k, b, l) * f[l];
  }
  spread_node(w, a, to, own, y);
}

void mb_flexible_alone(const yoke_multibody *mb, const mb_work *w, int node, const double wrench[6], double y[6]) {
  const mb_node *own   = &mb->nodes[node];
  const double  *local = mb->flexibles[own->flexible - 1].local + 6 * own->column;
  double         f[6], a[6] = {0.0};
  mb_kept_row(own, w->pose[node].R, wrench, f);
  for (int k = 0; k < own->nv; ++k) {
    for (int l = 0; l < own->nv; ++l) a[k] += local[6 * l + k] * f[l];
  }
  spread_node(w, own, node, a, y);
}

void mb_push_begin(const yoke_multibody *mb, const mb_work *w) {
  memset(w->push, 0, (size_t)mb->n_push * sizeof *w->push);
}

void mb_push_node(const yoke_multibody *mb, const mb_work *w, int node, double s, const double wrench[6]) {
  const mb_node     *from = &mb->nodes[node];
  const mb_flexible *f    = &mb->flexibles[from->flexible - 1];
  double             own[6];
  mb_kept_row(from, w->pose[node].R, wrench, own);
  for (int l = 0; l < from->nv; ++l) w->push[f->first_push + from->column + l] += s * own[l];
  for (int i = f->first_node; i < f->first_node + f->n_nodes; ++i) {
    double y[6];
    if (mb->nodes[i].column < 0) continue; /* nobody looks at it before mb_push_write */
    mb_flexible_response(mb, w, node, wrench, i, y);
    for (int k = 0; k < 6; ++k) w->acceleration[6 * i + k] += s * y[k];
  }
}

void mb_push_write(const yoke_multibody *mb, const mb_work *w, double *a) {
  for (int i = 1; w->is_alone && i < mb->n_nodes; ++i) {
    const mb_node *node = &mb->nodes[i];
    if (node->flexible > 0) mb_kept_row(node, w->pose[i].R, w->acceleration + 6 * i, a + node->iv);
  }
  for (int i = 0; !w->is_alone && i < mb->n_flexibles; ++i) {
    const mb_flexible *f = &mb->flexibles[i];
    for (int c = 0; c < f->n_columns; ++c) {
      const double  s = w->push[f->first_push + c];
      const double *X = f->X + (ptrdiff_t)c * f->n;
      for (int r = 0; s != 0.0 && r < f->n; ++r) a[f->iv + r] += s * X[r];
    }
  }
}

/* ---- forces and masses ---- */

void mb_flexible_forces(const yoke_multibody *mb, const double *q, const double *v, double *out) {
  for (int i = 0; i < mb->n_flexibles; ++i) {
    const mb_flexible *f = &mb->flexibles[i];
    yoke_flexible_force(f->given, mb->model->gravity, q + f->iq, v + f->iv, out + f->iv);
  }
}

void mb_flexible_accelerate(const yoke_multibody *mb, const mb_work *w, double *a) {
  for (int i = 0; i < mb->n_flexibles; ++i) {
    const mb_flexible *f = &mb->flexibles[i];
    for (int k = f->first_node; k < f->first_node + f->n_nodes; ++k) {
      const mb_node *node = &mb->nodes[k];
      double         own[6];
      mb_kept_row(node, w->pose[k].R, w->wrench + 6 * k, own);
      for (int c = 0; c < node->nv; ++c) a[node->iv + c] += own[c];
    }
    yoke_band_solve(&f->band, f->stride, a + f->iv);
    for (int k = f->first_node; k < f->first_node + f->n_nodes; ++k) {
      const mb_node *node = &mb->nodes[k];
      spread_node(w, node, k, a + node->iv, w->acceleration + 6 * k);
    }
  }
  mb_push_begin(mb, w);
}

typedef struct product {
  const double *x;
  double       *y;
  int           stride;
} product;

static void add_product(void *user, int row, int column, double value) {
  const product *p = user;
  for (int k = 0; k < p->stride; ++k) p->y[row * p->stride + k] += value * p->x[column * p->stride + k];
}

void mb_flexible_mass_apply(const yoke_multibody *mb, const double *x, double *y) {
  for (int i = 0; i < mb->n_flexibles; ++i) {
    const mb_flexible *f = &mb->flexibles[i];
    product            p = {x + f->iv, y + f->iv, f->stride};
    memset(p.y, 0, (size_t)f->n * sizeof *y);
    yoke_flexible_mass(f->given, add_product, &p);
  }
}
