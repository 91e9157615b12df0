/* Overlap at cuts of chains (between other bodies: halo.c): each side also integrates a halo, copies of the other side's bodies next to the cut (cuts of chains).
 *
 * The element at the cut lies inside both sides, so nothing is extrapolated there. What is extrapolated is the force at the outer edge of a
 * halo, of the element between its last body B and the next one C, from the motions of their originals. Behind every accepted step the motions
 * of the originals replace those of the copies (graph_overlap.c), and the error of the edge, which has to come through the whole halo, begins anew.
 * How far copies are off from their originals before that tells the error of the step: it fades from body to body on its way, so that the
 * nearest own body is off by about e_1 (e_1 / e_2), e_1 and e_2 the errors of the copies of the other side's nearest and second body.
 *
 * Outputs of side s, port by port: its nearest body and the next ones that the other side holds too, held[s] in all, B the last of
 * them; then C; then copies of the other side's nearest bodies, two where it holds as many.
 * Channels and conditions, k = 0, 1 (quantities at T_{N+1}):
 *   force on the last body of the halo that side k holds     u_k - F(x_C - x_B, v_C - v_B) = 0,  B and C of side 1 - k */
#include "coupling/formulation.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEGREE = YOKE_LAYOUT_MAX_DEGREE, N_CHANNELS = 2, NARROW = 8 };

typedef struct overlap_settings {
  int halo;
} overlap_settings;

const yoke_setting yoke_overlap_rows[YOKE_OVERLAP_N_ROWS] = {
    {.key      = "halo",
     .type     = YOKE_SETTING_INTEGER,
     .min      = 1,
     .max      = 1000,
     .standard = {NARROW},
     .help     = "bodies of the other side that each side integrates too",
     YOKE_SETTING_AT(overlap_settings, halo)},
};

typedef struct overlap {
  const yoke_force_element *element; /* at the cut */
  const yoke_overlap_def   *def;
  const yoke_port_shape    *shape;
  yoke_channel              channel[N_CHANNELS];
} overlap;

int yoke_overlap_halo(const yoke_coupling_settings *settings) {
  YOKE_OWN_SETTINGS(overlap_settings, own, settings);
  return own.halo;
}

/* ---- creation ---- */

yoke_status yoke_overlap_check(yoke_context *ctx, const yoke_coupling_def *def, const yoke_scheme_traits *scheme,
                               int order) {
  const yoke_coupling_settings *settings = def->settings;
  if (def->overlap == NULL && def->halo == NULL)
    return yoke_fail(
        ctx, YOKE_E_USAGE,
        "coupling '%s': formulation overlap copies bodies of native subsystems, which it does not join; use "
        "formulation constitutive for it (cosimulation.couplings.%s.formulation)",
        def->name, def->name);
  if (scheme != NULL && !scheme->extrapolates_only)
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "coupling '%s': formulation overlap integrates every step once, scheme is %s; use scheme explicit",
                     def->name, scheme->name);
  if (settings->decomposition != YOKE_FORCE_FORCE || settings->extension != YOKE_EXTENSION_NONE ||
      settings->feedthrough)
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "coupling '%s': formulation overlap holds the element in both sides; leave out decomposition, "
                     "extension and feedthrough",
                     def->name);
  if (yoke_energy_acts(settings->energy))
    return yoke_fail(
        ctx, YOKE_E_USAGE,
        "coupling '%s': formulation overlap holds the element in both sides, where there is no work of the "
        "coupling that could be corrected; leave out energy, or use formulation constitutive",
        def->name);
  if (order < 0 || order > MAX_DEGREE)
    return yoke_fail(ctx, YOKE_E_USAGE, "coupling '%s': order is %d, expected 0 to %d", def->name, order, MAX_DEGREE);
  return YOKE_OK;
}

static yoke_status overlap_create(yoke_context *ctx, const yoke_coupling_def *def, void **out) {
  overlap *self = yoke_allocate(1, sizeof *self);
  *out          = self;
  if (self == NULL) return yoke_out_of_memory(ctx, "coupling '%s'", def->name);
  self->element = def->element;
  self->def     = def->overlap;
  self->shape   = def->shape[0];
  for (int k = 0; k < N_CHANNELS; ++k) {
    yoke_channel *channel = &self->channel[k];
    *channel              = (yoke_channel){.sign = {1.0, 1.0}, .is_force = true};
    channel->enters[k]    = YOKE_ENTRY_FORCE;
    snprintf(channel->name, sizeof channel->name, "edge force on %d", k + 1);
  }
  return YOKE_OK;
}

static void overlap_destroy(void *self) {
  free(self);
}

static const yoke_channel *overlap_channels(const void *object, int *n) {
  const overlap *self = object;
  *n                  = N_CHANNELS;
  return self->channel;
}

static void overlap_layout(const void *object, int channel, int degree, yoke_layout *out) {
  (void)object, (void)channel;
  *out = (yoke_layout){.kind = YOKE_LAYOUT_END, .degree = degree};
}

static int overlap_n_conditions(const void *object) {
  (void)object;
  return N_CHANNELS;
}

/* ---- the edge ---- */

/* Force on B of side `from`, y its outputs; the force is odd in the deflection, so that both directions of the chain have one formula. */
static double edge_force(const overlap *self, int from, double t, const double *y, double *F_x, double *F_v) {
  const int     n_y = yoke_shape_n_y(self->shape), at_v = yoke_shape_at_v(self->shape);
  const double *C = y + (ptrdiff_t)self->def->held[from] * n_y, *B = C - n_y;
  return yoke_law_force(&self->def->edge[from], C[0] - B[0], C[at_v] - B[at_v], t, F_x, F_v);
}

static void overlap_residual(const void *object, const yoke_coupling_view *view, double *c) {
  for (int k = 0; k < N_CHANNELS; ++k)
    c[k] = view->u[k] - edge_force(object, 1 - k, view->t, view->y[1 - k], NULL, NULL);
}

static void overlap_jacobian(const void *object, const yoke_coupling_view *view, double *dc_du, double *dc_du_dot,
                             double *dc_du_integral, double *dc_dy1, double *dc_dy2) {
  const overlap *self  = object;
  const size_t   block = (size_t)N_CHANNELS * N_CHANNELS * sizeof(double);
  double *const  dy[2] = {dc_dy1, dc_dy2};
  memset(dc_du, 0, block);
  memset(dc_du_dot, 0, block);
  memset(dc_du_integral, 0, block);
  for (int s = 0; s < 2; ++s) memset(dy[s], 0, (size_t)N_CHANNELS * (size_t)view->n_y[s] * sizeof(double));
  for (int k = 0; k < N_CHANNELS; ++k) {
    const int from = 1 - k, n_y = yoke_shape_n_y(self->shape), at_v = yoke_shape_at_v(self->shape);
    double    F_x, F_v, *C = dy[from] + (ptrdiff_t)k * view->n_y[from] + (ptrdiff_t)self->def->held[from] * n_y;
    (void)edge_force(self, from, view->t, view->y[from], &F_x, &F_v);
    dc_du[k * N_CHANNELS + k] = 1.0;
    C[0]                      = -F_x;
    C[at_v]                   = -F_v;
    C[-n_y]                   = F_x;
    C[at_v - n_y]             = F_v;
  }
}

static void overlap_update(const void *object, double t, const double *y1, const double *y2, const double *u_now,
                           double *u, yoke_arena *scratch) {
  (void)u_now, (void)scratch;
  u[0] = edge_force(object, 1, t, y2, NULL, NULL);
  u[1] = edge_force(object, 0, t, y1, NULL, NULL);
}

static bool overlap_feeds_through(const void *object) {
  (void)object;
  return false;
}

static bool overlap_is_met_by_update(const void *object) {
  (void)object;
  return true;
}

/* ---- what is shown: the element at the cut ---- */

static int overlap_n_shown(const void *object) {
  return ((const overlap *)object)->element->n;
}

static const double *copy_of_other(const overlap *self, int side, const double *y) {
  return y + (ptrdiff_t)(self->def->held[side] + 1) * yoke_shape_n_y(self->shape);
}

static void set_poses(const overlap *self, const double *const y[2], yoke_pose poses[2]) {
  for (int s = 0; s < 2; ++s) yoke_shape_pose(self->shape, y[s], y[s] + yoke_shape_at_v(self->shape), &poses[s]);
}

/* Each side feels its own element, between its nearest body and the copy of the other's. */
static void overlap_shown(const void *object, double t, const double *u, const double *const y[2],
                          double *const force[2], double *g, yoke_arena *scratch) {
  const overlap *self = object;
  (void)u, (void)scratch;
  for (int s = 0; s < 2; ++s) {
    const double *own[2] = {y[s], y[s]};
    yoke_pose     poses[2];
    own[1 - s] = copy_of_other(self, s, y[s]);
    set_poses(self, own, poses);
    yoke_force_element_output(self->element, poses, t, force[s], g);
  }
  yoke_pose poses[2];
  double    true_force[6];
  set_poses(self, y, poses);
  yoke_force_element_output(self->element, poses, t, true_force, g);
}

/* The energy of the element is that of the side which owns the mass on its left. */
static const yoke_shown_form shown_form = {.n_rows = overlap_n_shown, .values = overlap_shown};

/* ---- for the graph ---- */

static int overlap_n_held(const void *object, int side) {
  return ((const overlap *)object)->def->held[side];
}

static const yoke_overlap_form overlap_form = {.n_held = overlap_n_held};

extern const yoke_formulation_ops overlap_ops;

const yoke_formulation_ops overlap_ops = {
    .name     = "overlap",
    .summary  = "cuts of chains and force elements, explicit: both sides integrate a halo of the other's bodies; few, "
                "long macro steps",
    .settings = {YOKE_SETTING_ROWS(yoke_overlap_rows)},
    .check    = yoke_overlap_check,
    .create   = overlap_create,
    .destroy  = overlap_destroy,
    .channels = overlap_channels,
    .layout   = overlap_layout,
    .n_conditions     = overlap_n_conditions,
    .residual         = overlap_residual,
    .jacobian         = overlap_jacobian,
    .update           = overlap_update,
    .feeds_through    = overlap_feeds_through,
    .is_met_by_update = overlap_is_met_by_update,
    .shown            = &shown_form,
    .overlap          = &overlap_form,
};
