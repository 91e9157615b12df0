/* Kinematic: a rigid joint across a split without stiffness, without iteration (Schneider, Burger, Arnold, Simeon 2017).
 *
 * One side, R, feels the multipliers lambda of the joint. On the other, F, the motion is prescribed: position, velocity and
 * acceleration follow R through the joint, so F keeps s = s' = s'' = 0 with R's extrapolated motion and has no multiplier
 * as a state. After each step the force comes back:
 *   exact        lambda = (W_R + W_F)^-1 (W_R lambda~ + W_F mu - s'')      W: compliance of a side in the rows
 *   reduced      the same with the compliances w of the two coupled bodies alone
 *   approximate  lambda = mu                                               the reaction in F
 * s'' belongs to the accelerations of both sides under lambda~ and mu, so s'' - W_R lambda~ - W_F mu is that of the sides
 * without the joint, as in the full system (11): with exact accelerations all three agree.
 *
 * Channels, in this order: lambda [n], copies of p and v of R's port, beta [n] = grad_R . A_R, copies of what R must know of
 * F's pose to apply lambda (constraint.h), and for outputs `held` the differences (first evaluation - last one) of lambda
 * and beta, [2 n], which enter nobody.
 * For `exact` and `reduced` R shows the acceleration of its *image*: its port moved to the extrapolated copies that F has
 * seen, so that all parts of the formula belong to one motion. */
#include "coupling/constraint.h"
#include "base/memory.h"
#include "coupling/kinematic_stability.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The prescribed side shows the extrapolated motion itself: no powers of H are gained, and no constant scales it. */
static void kinematic_error_rule(const void *object, int degree, yoke_error_rule *out) {
  (void)object;
  *out = (yoke_error_rule){.comparison_degree = degree + 1, .order = {degree + 1, degree + 1}};
}

static const yoke_error_form error_form = {.rule = kinematic_error_rule};

extern const yoke_formulation_ops kinematic_ops;

enum { MAX_DEGREE = YOKE_LAYOUT_MAX_DEGREE };

typedef struct kinematic_settings {
  int                    index;          /* 0: none, as it must be */
  char                   prescribed[64]; /* subsystem; the side is that of the shared settings */
  yoke_kinematic_force   force;
  yoke_kinematic_motion  motion;
  yoke_kinematic_outputs outputs;
  int                    order_force, order_motion; /* degrees of extrapolation */
} kinematic_settings;

static const yoke_setting own_rows[] = {
    {.key       = "index",
     .type      = YOKE_SETTING_INTEGER,
     .min       = 1,
     .max       = 3,
     .otherwise = "none",
     .refused   = "no condition is solved, so there is no index",
     .help      = "",
     YOKE_SETTING_AT(kinematic_settings, index)},
    {.key       = "prescribed",
     .type      = YOKE_SETTING_SUBSYSTEM,
     .otherwise = "the lighter side",
     .help      = "subsystem whose motion follows",
     YOKE_SETTING_AT(kinematic_settings, prescribed)},
    {.key   = "force",
     .type  = YOKE_SETTING_WORD,
     .words = {"exact", "reduced", "approximate"},
     .help  = "how the constraint force is found",
     YOKE_SETTING_AT(kinematic_settings, force)},
    {.key       = "order_force",
     .type      = YOKE_SETTING_INTEGER,
     .max       = MAX_DEGREE,
     .standard  = {-1},
     .otherwise = "order; 2 where the run chooses it",
     .help      = "degree of the extrapolated force",
     YOKE_SETTING_AT(kinematic_settings, order_force)},
    {.key       = "order_motion",
     .type      = YOKE_SETTING_INTEGER,
     .max       = MAX_DEGREE,
     .standard  = {-1},
     .otherwise = "order; 2 where the run chooses it",
     .help      = "degree of the extrapolated motion",
     YOKE_SETTING_AT(kinematic_settings, order_motion)},
    {.key   = "motion",
     .type  = YOKE_SETTING_WORD,
     .words = {"same", "derivative"},
     .help  = "velocities are extrapolated like positions, or are their derivative",
     YOKE_SETTING_AT(kinematic_settings, motion)},
    {.key   = "outputs",
     .type  = YOKE_SETTING_WORD,
     .words = {"parallel", "current", "sequential", "held"},
     .help  = "what the outputs at the end of a step are evaluated with",
     YOKE_SETTING_AT(kinematic_settings, outputs)},
};

static void kinematic_complete(const yoke_coupling_settings *settings, void *own) {
  YOKE_OWN_SETTINGS(kinematic_settings, s, settings);
  if (s.order_force < 0) s.order_force = settings->order;
  if (s.order_motion < 0) s.order_motion = settings->order;
  memcpy(own, &s, sizeof s);
}

typedef struct kinematic {
  yoke_arena                arena;
  const yoke_joint_element *joint;
  yoke_joint_line           line;
  kinematic_settings        settings;
  const yoke_port_shape    *shape[2];
  int                       R, F; /* sides */
  int                       n;    /* rows */
  int                       at_p, at_v, at_beta, at_pose, at_twin, n_channels;
  yoke_channel             *channel; /* [n_channels] */
  int                      *pose;    /* components of F's p that R gets, [at_twin - at_pose] */
} kinematic;

/* ---- is the combination possible? ---- */

static yoke_status kinematic_check(yoke_context *ctx, const yoke_coupling_def *def, const yoke_scheme_traits *scheme,
                                   int order) {
  const yoke_coupling_settings *s = def->settings;
  YOKE_OWN_SETTINGS(kinematic_settings, own, s);
  (void)order;
  if (def->joint == NULL) {
    return yoke_fail(
        ctx, YOKE_E_USAGE,
        "coupling '%s': formulation kinematic needs a rigid joint, this is a force element; use formulation "
        "constitutive",
        def->name);
  }
  if (scheme != NULL && !scheme->extrapolates_only) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "coupling '%s': formulation kinematic extrapolates force and motion and has nothing to correct, "
                     "scheme %s cannot drive it; use scheme explicit, or formulation stabilized-index-2",
                     def->name, scheme->name);
  }
  if (s->decomposition != YOKE_FORCE_FORCE || s->extension != YOKE_EXTENSION_NONE || s->feedthrough) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "coupling '%s': formulation kinematic has one decomposition of its own: `prescribed` names the "
                     "subsystem whose motion follows; leave out decomposition, extension and feedthrough",
                     def->name);
  }
  if (own.index != 0) {
    return yoke_fail(
        ctx, YOKE_E_USAGE,
        "coupling '%s': index is %d, but formulation kinematic has none: no condition is solved; leave out "
        "index, or use formulation baumgarte or weighted",
        def->name, own.index);
  }
  if (s->side != 0 && s->side != 1) {
    return yoke_fail(ctx, YOKE_E_USAGE, "coupling '%s': the prescribed side is %d, expected 0 or 1", def->name,
                     s->side);
  }
  if (own.order_force < 0 || own.order_force > MAX_DEGREE || own.order_motion < 0 || own.order_motion > MAX_DEGREE) {
    return yoke_fail(ctx, YOKE_E_USAGE, "coupling '%s': order_force is %d and order_motion %d, expected 0 to %d",
                     def->name, own.order_force, own.order_motion, MAX_DEGREE);
  }
  return YOKE_OK;
}

/* ---- channels ---- */

static bool needs_image(const kinematic *self) {
  return self->settings.force != YOKE_FORCE_APPROXIMATE;
}

static void add_row_channel(const kinematic *self, int i, const char *what, bool force, yoke_channel *out) {
  *out           = (yoke_channel){.component = self->joint->own[i], .sign = {1.0, 1.0}, .is_force = force};
  const int used = snprintf(out->name, sizeof out->name, "%s ", what);
  yoke_row_label(&self->joint->row[i], out->name + used, sizeof out->name - (size_t)used);
}

static void add_copy(const kinematic *self, int k, bool is_velocity, yoke_channel *out) {
  const yoke_port_shape *shape = self->shape[self->R];
  *out                         = (yoke_channel){.component = k, .sign = {1.0, 1.0}};
  out->enters[self->F]         = is_velocity ? YOKE_ENTRY_COPY_V : YOKE_ENTRY_COPY_P;
  if (needs_image(self)) out->enters[self->R] = is_velocity ? YOKE_ENTRY_IMAGE_V : YOKE_ENTRY_IMAGE_P;
  snprintf(out->name, sizeof out->name, "copy %d %s", self->R + 1, is_velocity ? shape->v[k].name : shape->p[k].name);
}

static void add_pose(const kinematic *self, int i, yoke_channel *out) {
  *out                 = (yoke_channel){.component = self->pose[i], .sign = {1.0, 1.0}};
  out->enters[self->R] = YOKE_ENTRY_COPY_P;
  snprintf(out->name, sizeof out->name, "copy %d %s", self->F + 1, self->shape[self->F]->p[self->pose[i]].name);
}

static void set_channels(kinematic *self) {
  yoke_channel *out = self->channel;
  for (int i = 0; i < self->n; ++i) {
    add_row_channel(self, i, "lambda", true, &out[i]);
    add_row_channel(self, i, "acceleration", false, &out[self->at_beta + i]);
    out[i].enters[self->R]                 = YOKE_ENTRY_LAMBDA;
    out[self->at_beta + i].enters[self->F] = YOKE_ENTRY_PRESCRIBED;
    if (self->n_channels == self->at_twin) continue;
    add_row_channel(self, i, "held lambda", true, &out[self->at_twin + i]);
    add_row_channel(self, i, "held acceleration", false, &out[self->at_twin + self->n + i]);
  }
  for (int k = 0; k < self->at_v - self->at_p; ++k) add_copy(self, k, false, &out[self->at_p + k]);
  for (int k = 0; k < self->at_beta - self->at_v; ++k) add_copy(self, k, true, &out[self->at_v + k]);
  for (int i = 0; i < self->at_twin - self->at_pose; ++i) add_pose(self, i, &out[self->at_pose + i]);
}

static void kinematic_destroy(void *data) {
  kinematic *self = data;
  yoke_arena_free(&self->arena);
  free(self);
}

static yoke_status kinematic_create(yoke_context *ctx, const yoke_coupling_def *def, void **out) {
  YOKE_OWN_SETTINGS(kinematic_settings, own, def->settings);
  kinematic *self = calloc(1, sizeof *self);
  *out            = self;
  if (self == NULL) return yoke_out_of_memory(ctx, "coupling '%s'", def->name);
  const int              F = def->settings->side, R = 1 - F, n = def->joint->n;
  const yoke_port_shape *from = def->shape[R], *to = def->shape[F];
  self->joint    = def->joint;
  self->settings = own;
  self->shape[0] = def->shape[0];
  self->shape[1] = def->shape[1];
  self->F        = F;
  self->R        = R;
  self->n        = n;
  self->at_p     = n;
  self->at_v     = self->at_p + from->n_p;
  self->at_beta  = self->at_v + from->n_v;
  self->at_pose  = self->at_beta + n;
  self->at_twin  = self->at_pose;
  self->pose     = yoke_arena_take(&self->arena, (size_t)to->n_p, sizeof *self->pose);
  for (int k = 0; self->pose != NULL && k < to->n_p; ++k) {
    if (yoke_joint_needs_p(def->joint, def->shape, R, k)) self->pose[self->at_twin++ - self->at_pose] = k;
  }
  self->n_channels = self->at_twin + (own.outputs == YOKE_OUTPUTS_HELD ? 2 * n : 0);
  self->channel    = yoke_arena_take(&self->arena, (size_t)self->n_channels, sizeof *self->channel);
  YOKE_TRY(yoke_arena_check(&self->arena, ctx, "coupling '%s'", def->name));
  set_channels(self);
  yoke_joint_line_set(self->joint, self->shape, &self->line);
  return YOKE_OK;
}

static const yoke_channel *kinematic_channels(const void *data, int *n) {
  const kinematic *self = data;
  *n                    = self->n_channels;
  return self->channel;
}

static bool is_force(const kinematic *self, int channel) {
  return channel < self->n || (channel >= self->at_twin && channel < self->at_twin + self->n);
}

static int kinematic_order(const void *data, int channel) {
  const kinematic *self = data;
  return is_force(self, channel) ? self->settings.order_force : self->settings.order_motion;
}

static void kinematic_layout(const void *data, int channel, int degree, yoke_layout *out) {
  (void)data, (void)channel;
  *out = (yoke_layout){.kind = YOKE_LAYOUT_END, .degree = degree};
}

static int kinematic_extras(const void *data, int side) {
  const kinematic *self = data;
  return YOKE_EXTRA_COMPLIANCE | (self->settings.force == YOKE_FORCE_REDUCED ? YOKE_EXTRA_LOCAL_COMPLIANCE : 0) |
         (side == self->F     ? YOKE_EXTRA_REACTION
          : needs_image(self) ? YOKE_EXTRA_IMAGE
                              : 0);
}

/* ---- motion `derivative` ---- */

static double horner(int n, const double *c, double s) {
  double sum = 0.0;
  for (int j = n - 1; j >= 0; --j) sum = sum * s + c[j];
  return sum;
}

static void differentiate(int n, const double *c, double H, double *out) {
  for (int j = 0; j < n; ++j) out[j] = j + 1 < n ? (double)(j + 1) * c[j + 1] / H : 0.0;
}

/* Component k of v = L(p) p' for positions that are polynomials c[0 .. n_p - 1], as the polynomial through n points of the step;
 * it is smooth, so what is left out is far below the error of the extrapolation. */
static void velocity_of_turn(const yoke_port_shape *shape, int k, double H, int n, const double *const *c,
                             yoke_arena *scratch, double *out) {
  const size_t mark = yoke_arena_mark(scratch);
  double      *p    = yoke_arena_take(scratch, (size_t)shape->n_p, sizeof *p);
  double      *L    = yoke_arena_take(scratch, (size_t)shape->n_v * (size_t)shape->n_p, sizeof *L);
  double      *d    = yoke_arena_take(scratch, (size_t)n, sizeof *d);
  double      *rate = yoke_arena_take(scratch, (size_t)n, sizeof *rate);
  if (rate == NULL) {
    out[0] = (double)NAN;
    return;
  }
  for (int i = 0; i < n; ++i) {
    const double s = (double)i / (double)(n - 1);
    for (int j = 0; j < shape->n_p; ++j) p[j] = horner(n, c[j], s);
    yoke_shape_left_inverse(shape, p, L);
    d[i] = 0.0;
    for (int j = 0; j < shape->n_p; ++j) {
      differentiate(n, c[j], H, rate);
      d[i] += L[k * shape->n_p + j] * horner(n, rate, s);
    }
  }
  for (int j = 1; j < n; ++j) { /* divided differences, then nested multiplication */
    for (int i = n - 1; i >= j; --i) d[i] = (d[i] - d[i - 1]) * (double)(n - 1) / (double)j;
  }
  memset(out, 0, (size_t)n * sizeof *out);
  for (int i = n - 1; i >= 0; --i) {
    const double s = (double)i / (double)(n - 1);
    for (int j = n - 1; j > 0; --j) out[j] = out[j - 1] - out[j] * s;
    out[0] = d[i] - out[0] * s;
  }
  yoke_arena_release(scratch, mark);
}

static bool kinematic_curve(const void *data, int channel, int degree, double H, int n, const double *const *c,
                            double *out, yoke_arena *scratch) {
  const kinematic *self = data;
  const int        k    = channel - self->at_v;
  if (self->settings.motion != YOKE_MOTION_DERIVATIVE || degree == 0 || k < 0 || channel >= self->at_beta) return false;
  const yoke_port_shape *shape = self->shape[self->R];
  const int              along = yoke_shape_coordinate(shape, k);
  if (along >= 0)
    differentiate(n, c[self->at_p + along], H, out);
  else
    velocity_of_turn(shape, k, H, n, c + self->at_p, scratch, out);
  return true;
}

/* ---- rows ---- */

/* The two frames at one instant: V and A = (side 1, side 2), six freedoms each. */
typedef struct frames {
  yoke_link_state link;
  double          A[12];
} frames;

/* p, v, and accelerations a (in six freedoms) of both sides. */
static void frames_set(const kinematic *self, const double *const p[2], const double *const v[2], double a[2][6],
                       frames *out) {
  yoke_pose poses[2];
  for (int s = 0; s < 2; ++s) {
    yoke_shape_pose(self->shape[s], p[s], v[s], &poses[s]);
    memcpy(out->A + 6 * s, a[s], 6 * sizeof *out->A);
  }
  yoke_link_state_for(&self->joint->link, self->joint->n, self->joint->row, poses, &out->link);
}

/* Accelerations that a port shows, by freedom. */
static void port_acceleration(const yoke_port_shape *shape, const double *y, double a[6]) {
  yoke_shape_spread(shape, y + yoke_shape_at_a(shape), a);
}

static const double *extra(const kinematic *self, const double *const y[2], int side, int which) {
  return y[side] + yoke_shape_n_y(self->shape[side]) +
         yoke_port_n_extras(kinematic_extras(self, side) & (which - 1), self->n);
}

/* beta = grad_R . A_R */
static void row_accelerations(const kinematic *self, const double *const y[2], double *beta) {
  const double *const v[2]    = {y[0] + self->shape[0]->n_p, y[1] + self->shape[1]->n_p};
  double              a[2][6] = {{0.0}}, grad[12];
  frames              f;
  port_acceleration(self->shape[self->R], y[self->R], a[self->R]);
  frames_set(self, y, v, a, &f);
  for (int i = 0; i < self->n; ++i) {
    (void)yoke_row_gradient(&self->joint->row[i], &f.link, grad);
    beta[i] = 0.0;
    for (int k = 0; k < 12; ++k) beta[i] += grad[k] * f.A[k];
  }
}

/* s'' of all rows with R at its image, which has moved as `now` says. */
static void free_of_joint(const kinematic *self, const double *const y[2], const double *now, double *second) {
  const double *p[2] = {y[0], y[1]}, *v[2] = {y[0] + self->shape[0]->n_p, y[1] + self->shape[1]->n_p};
  double        a[2][6], grad[12];
  frames        f;
  p[self->R] = now + self->at_p;
  v[self->R] = now + self->at_v;
  port_acceleration(self->shape[self->F], y[self->F], a[self->F]);
  memcpy(a[self->R], extra(self, y, self->R, YOKE_EXTRA_IMAGE), sizeof a[self->R]);
  frames_set(self, p, v, a, &f);
  for (int i = 0; i < self->n; ++i) {
    (void)yoke_row_gradient(&self->joint->row[i], &f.link, grad);
    second[i] = yoke_row_gamma(&self->joint->row[i], &f.link);
    for (int k = 0; k < 12; ++k) second[i] += grad[k] * f.A[k];
  }
}

/* exact: multipliers of all couplings that meet in a subsystem are found together, when F's force is asked for: in the
 * update, and between the two evaluations of `held`. */
static int kinematic_n_force_rows(const void *data, int stage) {
  const kinematic *self = data;
  if (self->settings.force != YOKE_FORCE_EXACT) return 0;
  const bool is_asked = stage == YOKE_STAGE_UPDATE || (stage == 1 && self->settings.outputs == YOKE_OUTPUTS_HELD);
  return is_asked ? self->n : 0;
}

static void kinematic_force_rows(const void *data, const double *const y[2], const double *now, yoke_force_rows *out) {
  const kinematic    *self    = data;
  const double *const v[2]    = {y[0] + self->shape[0]->n_p, y[1] + self->shape[1]->n_p};
  double              a[2][6] = {{0.0}}, grad[12];
  frames              f;
  free_of_joint(self, y, now, out->second);
  frames_set(self, y, v, a, &f);
  for (int i = 0; i < self->n; ++i) {
    (void)yoke_row_gradient(&self->joint->row[i], &f.link, grad);
    out->felt[self->R][i] = now[i];
    out->felt[self->F][i] = extra(self, y, self->F, YOKE_EXTRA_REACTION)[i];
    for (int s = 0; s < 2; ++s) {
      memset(out->L[s][i], 0, sizeof out->L[s][i]);
      for (int k = 0; k < self->shape[s]->n_v; ++k) out->L[s][i][k] = grad[6 * s + self->shape[s]->v[k].freedom];
    }
  }
}

static void kinematic_take_force(const void *data, int stage, const double *now, const double *lambda, double *u) {
  const kinematic *self = data;
  memcpy(u, lambda, (size_t)self->n * sizeof *u);
  for (int i = 0; self->at_twin < self->n_channels && i < self->n; ++i)
    u[self->at_twin + i] = stage == YOKE_STAGE_UPDATE ? now[self->at_twin + i] - lambda[i] : lambda[i];
}

static const yoke_force_finding force_finding = {
    .n_rows = kinematic_n_force_rows, .rows = kinematic_force_rows, .take = kinematic_take_force};

static void find_force(const kinematic *self, const double *const y[2], const double *now, double *lambda) {
  const int n      = self->n,
            which  = self->settings.force == YOKE_FORCE_EXACT ? YOKE_EXTRA_COMPLIANCE : YOKE_EXTRA_LOCAL_COMPLIANCE;
  const double *mu = extra(self, y, self->F, YOKE_EXTRA_REACTION);
  if (self->settings.force == YOKE_FORCE_APPROXIMATE) {
    memcpy(lambda, mu, (size_t)n * sizeof *lambda);
    return;
  }
  const double *W_R = extra(self, y, self->R, which), *W_F = extra(self, y, self->F, which);
  double        S[YOKE_JOINT_MAX_ROWS * YOKE_JOINT_MAX_ROWS], b[YOKE_JOINT_MAX_ROWS], second[YOKE_JOINT_MAX_ROWS];
  free_of_joint(self, y, now, second);
  for (int i = 0; i < n; ++i) {
    b[i] = -second[i];
    for (int j = 0; j < n; ++j) {
      b[i] += W_R[n * i + j] * now[j] + W_F[n * i + j] * mu[j];
      S[n * i + j] = W_R[n * i + j] + W_F[n * i + j];
    }
  }
  yoke_symmetric_solve(n, S, b, lambda);
}

/* ---- explicit form ---- */

static void copy_motion(const kinematic *self, const double *const y[2], double *u) {
  const int n_p = self->at_v - self->at_p, n_v = self->at_beta - self->at_v;
  memcpy(u + self->at_p, y[self->R], (size_t)n_p * sizeof *u);
  memcpy(u + self->at_v, y[self->R] + n_p, (size_t)n_v * sizeof *u);
  for (int i = 0; i < self->at_twin - self->at_pose; ++i) u[self->at_pose + i] = y[self->F][self->pose[i]];
}

static void kinematic_update(const void *data, double t, const double *y1, const double *y2, const double *now,
                             double *u, yoke_arena *scratch) {
  const kinematic    *self = data;
  const double *const y[2] = {y1, y2};
  (void)t, (void)scratch;
  find_force(self, y, now, u);
  copy_motion(self, y, u);
  row_accelerations(self, y, u + self->at_beta);
  for (int i = 0; self->at_twin < self->n_channels && i < self->n; ++i) {
    u[self->at_twin + i]           = now[self->at_twin + i] - u[i];
    u[self->at_twin + self->n + i] = now[self->at_twin + self->n + i] - u[self->at_beta + i];
  }
}

static int kinematic_n_exchanges(const void *data) {
  const kinematic *self = data;
  return self->settings.outputs == YOKE_OUTPUTS_PARALLEL ? 0 : self->settings.outputs == YOKE_OUTPUTS_HELD ? 2 : 1;
}

/* current: F with R's true position and velocity; sequential: with its acceleration, too.
 * held, first: y = C x + D L y~ with the extrapolation y~ of earlier y; second: u = L (C x + D L y). What the second
 * starts from is kept (as a value here, as a difference in the history). */
static void kinematic_exchange(const void *data, int number, double t, const double *y1, const double *y2,
                               const double *now, double *u) {
  const kinematic    *self = data;
  const double *const y[2] = {y1, y2};
  const int           n = self->n, twin = self->at_twin;
  (void)t;
  switch (self->settings.outputs) {
  case YOKE_OUTPUTS_PARALLEL: break;
  case YOKE_OUTPUTS_CURRENT: copy_motion(self, y, u); break;
  case YOKE_OUTPUTS_SEQUENTIAL:
    copy_motion(self, y, u);
    row_accelerations(self, y, u + self->at_beta);
    break;
  case YOKE_OUTPUTS_HELD:
    if (number == 1) {
      find_force(self, y, now, u);
      copy_motion(self, y, u);
      row_accelerations(self, y, u + self->at_beta);
    }
    for (int i = 0; i < n; ++i) {
      if (number == 0) {
        u[i] += now[twin + i];
        u[self->at_beta + i] += now[twin + n + i];
      } else {
        u[twin + i]     = u[i];
        u[twin + n + i] = u[self->at_beta + i];
      }
    }
    break;
  }
}

static const yoke_own_extrapolation extrapolation = {.order       = kinematic_order,
                                                     .curve       = kinematic_curve,
                                                     .n_exchanges = kinematic_n_exchanges,
                                                     .exchange    = kinematic_exchange};

/* ---- conditions: what the explicit form would change ---- */

static int kinematic_n_conditions(const void *data) {
  return ((const kinematic *)data)->n_channels;
}

static void kinematic_residual(const void *data, const yoke_coupling_view *view, double *c) {
  const kinematic *self = data;
  const size_t     mark = yoke_arena_mark(view->scratch);
  double          *u    = yoke_arena_take(view->scratch, (size_t)self->n_channels, sizeof *u);
  if (u != NULL) kinematic_update(self, view->t, view->y[0], view->y[1], view->u, u, view->scratch);
  for (int k = 0; k < self->n_channels; ++k) {
    const double change = u != NULL ? view->u[k] - u[k] : (double)NAN;
    c[k]                = k < self->at_twin ? change : 0.0;
  }
  yoke_arena_release(view->scratch, mark);
}

static yoke_residual_unit kinematic_unit(const void *data, int c) {
  const kinematic *self = data;
  return yoke_channel_unit(&self->channel[c], self->shape, self->joint);
}

/* ---- values at one instant ---- */

static int n_outputs(const kinematic *self, int side) {
  return yoke_shape_n_y(self->shape[side]) + yoke_port_n_extras(kinematic_extras(self, side), self->n);
}

/* The prescribed accelerations are those of R, and F feels what R feels; `held` begins without a difference. */
static int kinematic_instant(const void *data, double t, const double *const y[2], const double *u_now, double *u,
                             int *unknown, double *c, double *dc_du, double *dc_dy1, double *dc_dy2,
                             yoke_arena *scratch) {
  const kinematic  *self     = data;
  double *const     dc_dy[2] = {dc_dy1, dc_dy2};
  const int         n = self->n, n_y[2] = {n_outputs(self, 0), n_outputs(self, 1)};
  const double     *mu   = extra(self, y, self->F, YOKE_EXTRA_REACTION);
  const size_t      mark = yoke_arena_mark(scratch);
  double           *L[2], beta[YOKE_JOINT_MAX_ROWS];
  yoke_joint_frames f;
  (void)t;
  memcpy(u, u_now, (size_t)self->n_channels * sizeof *u);
  copy_motion(self, y, u);
  for (int k = self->at_twin; k < self->n_channels; ++k) u[k] = 0.0;
  memset(dc_du, 0, (size_t)(2 * n) * (size_t)self->n_channels * sizeof *dc_du);
  for (int s = 0; s < 2; ++s) {
    memset(dc_dy[s], 0, (size_t)(2 * n) * (size_t)n_y[s] * sizeof *dc_dy[s]);
    L[s] = yoke_arena_take(scratch, (size_t)self->shape[s]->n_v * (size_t)self->shape[s]->n_p, sizeof *L[s]);
    if (L[s] != NULL) yoke_shape_left_inverse(self->shape[s], y[s], L[s]);
  }
  row_accelerations(self, y, beta);
  yoke_joint_frames_set(self->joint, self->shape, y, &f);
  for (int i = 0; i < n; ++i) {
    const ptrdiff_t by_motion = n + i; /* condition */
    const int       k         = self->at_beta + i;
    unknown[i]                = i;
    unknown[by_motion]        = k;

    c[i]                                                                = mu[i] - u_now[i];
    dc_du[(ptrdiff_t)i * self->n_channels + i]                          = -1.0;
    dc_dy[self->F][(ptrdiff_t)i * n_y[self->F] + (mu + i - y[self->F])] = 1.0;

    c[by_motion]                            = L[0] != NULL && L[1] != NULL ? u_now[k] - beta[i] : (double)NAN;
    dc_du[by_motion * self->n_channels + k] = 1.0;
    yoke_level_slopes slopes;
    yoke_row_share_slopes(&self->joint->row[i], &f, self->R, &slopes);
    for (int s = 0; L[0] != NULL && L[1] != NULL && s < 2; ++s)
      yoke_level_slopes_add(self->shape[s], s, L[s], -1.0, &slopes, dc_dy[s] + by_motion * n_y[s]);
  }
  yoke_arena_release(scratch, mark);
  return 2 * n;
}

static const yoke_instant_form instant_form = {.conditions = kinematic_instant};

/* ---- what is shown ---- */

static int kinematic_n_shown(const void *data) {
  return ((const kinematic *)data)->joint->n_own;
}

static void kinematic_shown(const void *data, double t, const double *u, const double *const y[2],
                            double *const force[2], double *g, yoke_arena *scratch) {
  const kinematic          *self  = data;
  const yoke_joint_element *joint = self->joint;
  const double             *mu    = extra(self, y, self->F, YOKE_EXTRA_REACTION);
  double                    level[YOKE_JOINT_LEVELS][YOKE_JOINT_MAX_ROWS];
  (void)t, (void)scratch;
  yoke_joint_levels(joint, self->shape, y, level);
  memset(g, 0, (size_t)joint->n_own * sizeof *g);
  for (int side = 0; side < 2; ++side) memset(force[side], 0, (size_t)joint->n_own * sizeof *force[side]);
  for (int i = 0; i < joint->n; ++i) {
    g[joint->own[i]]              = level[0][i];
    force[self->R][joint->own[i]] = u[i];
    force[self->F][joint->own[i]] = mu[i];
  }
}

static void kinematic_power(const void *data, double t, const double *u, const double *const y[2], bool with_stored,
                            yoke_wire_power *out, yoke_arena *scratch) {
  const kinematic *self = data;
  *out                  = (yoke_wire_power){.is_true = true};
  if (with_stored) return; /* nothing is */
  const double *mu = extra(self, y, self->F, YOKE_EXTRA_REACTION);
  double force[2][YOKE_JOINT_MAX_ROWS], *const felt[2] = {force[0], force[1]};
  (void)t, (void)scratch;
  for (int i = 0; i < self->joint->n; ++i) {
    force[self->R][self->joint->own[i]] = u[i];
    force[self->F][self->joint->own[i]] = mu[i];
  }
  yoke_joint_power(self->joint, self->shape, y, felt, out->in);
}

static bool kinematic_line_work(const void *data, const yoke_line_step *step, yoke_wire_work *out) {
  const kinematic *self = data;
  *out                  = (yoke_wire_work){0};
  for (int i = 0; self->line.is_such && i < self->n; ++i) {
    const double applied[2] = {step->u[i], step->u[self->n_channels + i]};
    double       reaction[2];
    yoke_line_between(step, self->F, (int)(extra(self, step->to, self->F, YOKE_EXTRA_REACTION) - step->to[self->F]) + i,
                      reaction);
    for (int side = 0; side < 2; ++side)
      out->out[side] += yoke_line_work_of(step, side, self->line.p[side][i], self->line.v[side][i],
                                          self->line.slope[side][i], side == self->R ? applied : reaction);
  }
  return self->line.is_such;
}

static const yoke_shown_form shown_form = {
    .n_rows = kinematic_n_shown, .values = kinematic_shown, .power = kinematic_power, .line_work = kinematic_line_work};

/* ---- guidance ---- */

/* Not zero-stable: errors grow in every step, however small. */
static void kinematic_advise(const void *data, const char *coupling, const char *const subsystem[2], const double *y1,
                             const double *y2, yoke_context *ctx) {
  static const char *const     words[] = {"exact", "reduced", "approximate"};
  const kinematic             *self    = data;
  const double *const          y[2]    = {y1, y2};
  yoke_interface               in      = {.n   = self->n,
                                          .W_R = extra(self, y, self->R, YOKE_EXTRA_COMPLIANCE),
                                          .W_F = extra(self, y, self->F, YOKE_EXTRA_COMPLIANCE)};
  const yoke_kinematic_outputs outputs = self->settings.outputs;
  const int                    r = self->settings.order_force, s = self->settings.order_motion;
  double                       low, high;
  if (self->settings.force == YOKE_FORCE_REDUCED) {
    in.w_R = extra(self, y, self->R, YOKE_EXTRA_LOCAL_COMPLIANCE);
    in.w_F = extra(self, y, self->F, YOKE_EXTRA_LOCAL_COMPLIANCE);
  }
  const double radius = yoke_kinematic_radius(&in, self->settings.force, outputs, r, s);
  if (!(radius >= 1.0) || !yoke_interface_mass_ratio(&in, &low, &high)) return;
  const double needed    = yoke_kinematic_threshold(outputs, r, s);
  const bool   is_simple = self->settings.force == YOKE_FORCE_APPROXIMATE;
  char         limit[48] = "", other[200] = "";
  if (is_simple) snprintf(limit, sizeof limit, ", and a ratio above %.4g is needed", needed);
  if (is_simple && 1.0 / high > needed) snprintf(other, sizeof other, ", or prescribed: %.150s", subsystem[self->R]);
  yoke_warn(
      ctx,
      "coupling '%s': force %s with order_force %d and order_motion %d is not zero-stable: errors grow by a factor "
      "of up to %.4g in every step, however small, because subsystem '%s' weighs only %.4g times as much as the "
      "prescribed '%s' at the joint%s; use force exact%s%s",
      coupling, words[self->settings.force], r, s, radius, subsystem[self->R], low, subsystem[self->F], limit,
      r + s > 0 ? ", a lower order" : "", other);
}

const yoke_formulation_ops kinematic_ops = {
    .name          = "kinematic",
    .summary       = "rigid joints: motion prescribed on one side, constraint force back, no iteration (Schneider)",
    .settings      = {YOKE_SETTING_ROWS(own_rows)},
    .complete      = kinematic_complete,
    .for_joints    = true,
    .check         = kinematic_check,
    .create        = kinematic_create,
    .destroy       = kinematic_destroy,
    .channels      = kinematic_channels,
    .layout        = kinematic_layout,
    .extras        = kinematic_extras,
    .n_conditions  = kinematic_n_conditions,
    .residual      = kinematic_residual,
    .unit          = kinematic_unit,
    .update        = kinematic_update,
    .extrapolation = &extrapolation,
    .forces        = &force_finding,
    .error         = &error_form,
    .instant       = &instant_form,
    .shown         = &shown_form,
    .advise        = kinematic_advise,
};
