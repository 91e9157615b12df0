/* Modes and matrices of a model file. Public part: yoke/linearize.h. */
#include <yoke/linearize.h>

#include "analysis/equilibrium.h"
#include "analysis/modes.h"
#include "api/output_check.h"
#include "api/run.h"
#include "base/given.h"
#include "base/memory.h"
#include "base/sized.h"
#include "io/matrix_file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VELOCITIES = 500, NAME = 72 };

typedef struct linear_model {
  yoke_model        *model;
  yoke_whole_model   whole;
  yoke_linearization l;
} linear_model;

static void clear(linear_model *m) {
  yoke_linearization_clear(&m->l);
  yoke_whole_model_clear(&m->whole);
  yoke_model_destroy(&m->model);
}

/* y = (q, v) of all bodies. */
static yoke_status show_state(void *user, const yoke_linear_point *point, double *y) {
  const yoke_equations *e = user;
  memcpy(y, point->q, (size_t)e->nq * sizeof *y);
  memcpy(y + e->nq, point->v, (size_t)e->nv * sizeof *y);
  return YOKE_OK;
}

/* `path` of the matrices; NULL: none are wanted. */
static yoke_status open_model(yoke_context *ctx, const yoke_run_options *options, yoke_linearize_at at,
                              const char *path, linear_model *m) {
  const bool            with_matrices = path != NULL;
  const yoke_output_use output        = {"the file of matrices", path};
  yoke_run_options      own;
  *m = (linear_model){0};
  YOKE_TRY(yoke_run_options_take(ctx, options, &own));
  YOKE_TRY(yoke_run_load(ctx, &own, &m->model));
  YOKE_TRY(yoke_output_check(ctx, m->model, 1, &output));
  YOKE_TRY(yoke_whole_model_create(ctx, m->model, 0, NULL, &m->whole));
  yoke_equations *e = &m->whole.equations;
  if (e->nv > MAX_VELOCITIES) {
    return yoke_fail(ctx, YOKE_E_USAGE, "model '%s' has %d velocities; modes and matrices are computed for at most %d",
                     m->model->name, e->nv, MAX_VELOCITIES);
  }
  static const yoke_equilibrium_options rest = {
      .remedy    = "start nearer to one, or linearise about the start itself (yoke info --at start)",
      .otherwise = ", or linearise about the start itself (yoke info --at start)"};
  if (at == YOKE_AT_EQUILIBRIUM) {
    YOKE_TRY(yoke_equilibrium_check_motions(ctx, &m->whole, rest.otherwise));
    YOKE_TRY(yoke_equilibrium_find(ctx, &m->whole, &rest, NULL));
  }
  const yoke_linearize_def def = {.model       = m->model,
                                  .equations   = e,
                                  .mb          = m->whole.mb,
                                  .t           = m->model->t_start,
                                  .q           = m->whole.q,
                                  .v           = m->whole.v,
                                  .with_forces = with_matrices,
                                  .ny          = with_matrices ? e->nq + e->nv : 0,
                                  .output      = show_state,
                                  .user        = e};
  return yoke_linearize(ctx, &def, &m->l);
}

/* ---- modes ---- */

struct yoke_modes {
  int        n_freedoms, n;
  yoke_mode *modes; /* [n] */
};

const char *yoke_mode_kind_name(yoke_mode_kind kind) {
  static const char *const names[] = {"rigid-body", "oscillation", "decay", "growth", "flutter"};
  return (int)kind >= 0 && (size_t)kind < sizeof names / sizeof *names ? names[kind] : "";
}

static yoke_mode_kind kind_of(yoke_eigenmode_kind kind) {
  switch (kind) {
  case YOKE_EIGENMODE_RIGID: return YOKE_MODE_RIGID;
  case YOKE_EIGENMODE_OSCILLATION: return YOKE_MODE_OSCILLATION;
  case YOKE_EIGENMODE_DECAY: return YOKE_MODE_DECAY;
  case YOKE_EIGENMODE_GROWTH: return YOKE_MODE_GROWTH;
  case YOKE_EIGENMODE_FLUTTER: break;
  }
  return YOKE_MODE_FLUTTER;
}

_Static_assert((int)YOKE_MODE_SHAPE == (int)YOKE_EIGENMODE_SHAPE, "motions of a mode");
_Static_assert(sizeof((yoke_mode_motion){0}.name) == YOKE_EIGENMODE_NAME, "room for the name of a motion");

static yoke_mode mode_of(const yoke_eigenmode *from) {
  yoke_mode to = {.kind      = kind_of(from->kind),
                  .re        = from->re,
                  .im        = from->im,
                  .frequency = from->frequency,
                  .damping   = from->damping,
                  .n_shape   = from->n_shape};
  for (int i = 0; i < from->n_shape; ++i) {
    memcpy(to.shape[i].name, from->shape[i].name, sizeof to.shape[i].name);
    to.shape[i].amplitude = from->shape[i].amplitude;
    to.shape[i].phase     = from->shape[i].phase;
  }
  return to;
}

static yoke_status take_modes(yoke_context *ctx, const yoke_eigenmodes *from, yoke_modes **out) {
  yoke_modes *to = yoke_allocate(1, sizeof *to);
  if (to != NULL) to->modes = yoke_allocate((size_t)from->n + 1, sizeof *to->modes);
  *out = to;
  if (to == NULL || to->modes == NULL) {
    yoke_modes_destroy(out);
    return yoke_out_of_memory(ctx, "%d modes", from->n);
  }
  to->n_freedoms = from->n_freedoms;
  to->n          = from->n;
  for (int i = 0; i < from->n; ++i) to->modes[i] = mode_of(&from->modes[i]);
  return YOKE_OK;
}

yoke_status yoke_modes_compute(yoke_context *ctx, const yoke_run_options *options, yoke_linearize_at at,
                               yoke_modes **out) {
  linear_model    m;
  yoke_eigenmodes found = {0};
  *out                  = NULL;
  yoke_status status    = open_model(ctx, options, at, NULL, &m);
  if (status == YOKE_OK) status = yoke_eigenmodes_of(ctx, m.model, m.whole.mb, &m.l, &found);
  if (status == YOKE_OK) status = take_modes(ctx, &found, out);
  yoke_eigenmodes_release(&found);
  clear(&m);
  return status;
}

void yoke_modes_destroy(yoke_modes **modes) {
  if (modes == NULL || *modes == NULL) return;
  free((*modes)->modes);
  free(*modes);
  *modes = NULL;
}

int yoke_modes_n(const yoke_modes *modes) {
  return modes->n;
}

int yoke_modes_n_freedoms(const yoke_modes *modes) {
  return modes->n_freedoms;
}

yoke_status yoke_modes_get(yoke_context *ctx, const yoke_modes *modes, int i, yoke_mode *out) {
  return yoke_sized_show_item(ctx, out, modes->modes, modes->n, i, sizeof *modes->modes, "yoke_mode");
}

/* ---- matrices ---- */

static char *name_at(char *names, int i) {
  return names + (size_t)i * NAME;
}

/* "upper.force x", "upper.moment z": freedoms of inertial axes, moments of rigid bodies about body axes. */
static void force_name(const linear_model *m, int i, char *name) {
  int              component;
  bool             is_rotation;
  const int        b    = yoke_multibody_freedom_body(m->model, m->whole.mb, i, &component, &is_rotation);
  const yoke_body *body = &m->model->bodies[b];
  if (body->kind == YOKE_BODY_CHAIN) {
    snprintf(name, NAME, "%s.force[%d]", body->name, component + 1);
  } else {
    const char axis = is_rotation && body->kind == YOKE_BODY_PLANAR ? 'z' : "xyz"[component % 3];
    snprintf(name, NAME, "%s.%s %c", body->name, is_rotation ? "moment" : "force", axis);
  }
}

static void position_names(const linear_model *m, char *names) {
  for (int b = 0; b < m->model->n_bodies; ++b) {
    const yoke_body *body = &m->model->bodies[b];
    for (int i = 0; i < yoke_body_nq(body); ++i) {
      char part[40] = "";
      (void)yoke_body_component_name(body, false, i, part, sizeof part);
      snprintf(name_at(names, yoke_multibody_q_offset(m->whole.mb, b) + i), NAME, "%s.%s", body->name, part);
    }
  }
}

static yoke_status write_matrices(yoke_context *ctx, const linear_model *m, yoke_linearize_at at, const char *path) {
  const yoke_linearization *l   = &m->l;
  const int                 n_x = l->n_x, nu = l->nu, ny = l->ny, nq = m->whole.equations.nq;
  char                     *names = yoke_allocate((size_t)n_x + (size_t)nu + (size_t)ny + 1, NAME);
  if (names == NULL) return yoke_out_of_memory(ctx, "the names of %d states", n_x);
  char *const inputs = name_at(names, n_x), *const outputs = name_at(inputs, nu);
  for (int i = 0; i < n_x; ++i)
    yoke_multibody_freedom_name(m->model, m->whole.mb, l->coordinate[i % l->n_freedoms], i >= l->n_freedoms,
                                name_at(names, i), NAME);
  for (int i = 0; i < nu; ++i) force_name(m, i, name_at(inputs, i));
  position_names(m, outputs);
  for (int i = nq; i < ny; ++i)
    yoke_multibody_freedom_name(m->model, m->whole.mb, i - nq, true, name_at(outputs, i), NAME);
  const yoke_matrix_item items[] = {
      {"A", n_x, n_x, l->A, names, names, "x' by x"},        {"B", n_x, nu, l->B, names, inputs, "x' by u"},
      {"C", ny, n_x, l->C, outputs, names, "y by x"},        {"D", ny, nu, l->D, outputs, inputs, "y by u"},
      {"f0", n_x, 1, l->f0, names, NULL, "x' at the point"}, {"y0", ny, 1, l->y0, outputs, NULL, "y at the point"}};
  const yoke_matrix_file file   = {.path       = path,
                                   .model      = m->model->name,
                                   .about      = at == YOKE_AT_EQUILIBRIUM ? "equilibrium" : "start",
                                   .name_width = NAME,
                                   .n_items    = (int)(sizeof items / sizeof *items),
                                   .items      = items};
  const yoke_status      status = yoke_matrix_file_write(ctx, &file);
  free(names);
  return status;
}

yoke_status yoke_linearize_write(yoke_context *ctx, const yoke_run_options *options, yoke_linearize_at at,
                                 const char *path) {
  linear_model m;
  YOKE_TRY(yoke_given(ctx, path, "path of the matrices"));
  yoke_status status = open_model(ctx, options, at, path, &m);
  if (status == YOKE_OK) status = write_matrices(ctx, &m, at, path);
  clear(&m);
  return status;
}
