/* Halo: formulation overlap between bodies with force elements. A subsystem integrates copies of bodies that others own too, those that are at most
 * n_rings force elements away from its own. One coupling for every such body: side 1 owns it, side 2 holds
 *   a copy (ring 1, 2, ...)   no channels; behind every accepted step the copy gets the motion of the original (graph_overlap.c), and how far it was off
 *                             tells the error of the step;
 *   nothing (ring 0)          an element leads from the last ring to it: its motion is extrapolated and moves a ghost.
 * Channels and conditions of ring 0, k = 0 ... (quantities at T_{N+1}):
 *   components of p, then of v, of the body     u_k - y1_k = 0 */
#include "coupling/formulation.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = YOKE_PORT_MAX_P + YOKE_PORT_MAX_V };

typedef struct halo {
  const yoke_halo_def *def;
  int                  n; /* channels */
  yoke_channel         channel[MOST];
} halo;

/* ---- creation ---- */

static void add_channel(halo *self, yoke_entry entry, int component, const char *name) {
  yoke_channel *channel = &self->channel[self->n++];
  *channel = (yoke_channel){.enters = {YOKE_ENTRY_NONE, entry}, .component = component, .sign = {1.0, 1.0}};
  snprintf(channel->name, sizeof channel->name, "edge %s", name);
}

static yoke_status halo_create(yoke_context *ctx, const yoke_coupling_def *def, void **out) {
  const yoke_port_shape *shape = def->shape[0];
  halo                  *self  = yoke_allocate(1, sizeof *self);
  *out                         = self;
  if (self == NULL) return yoke_out_of_memory(ctx, "coupling '%s'", def->name);
  self->def = def->halo;
  if (self->def->ring > 0) return YOKE_OK;
  for (int k = 0; k < shape->n_p; ++k) add_channel(self, YOKE_ENTRY_COPY_P, k, shape->p[k].name);
  for (int k = 0; k < shape->n_v; ++k) add_channel(self, YOKE_ENTRY_COPY_V, k, shape->v[k].name);
  return YOKE_OK;
}

static void halo_destroy(void *self) {
  free(self);
}

static const yoke_channel *halo_channels(const void *object, int *n) {
  const halo *self = object;
  *n               = self->n;
  return self->channel;
}

static void halo_layout(const void *object, int channel, int degree, yoke_layout *out) {
  (void)object, (void)channel;
  *out = (yoke_layout){.kind = YOKE_LAYOUT_END, .degree = degree};
}

static int halo_n_conditions(const void *object) {
  return ((const halo *)object)->n;
}

/* ---- motion of a body behind the halo: p and v of a port stand one behind the other ---- */

static void halo_residual(const void *object, const yoke_coupling_view *view, double *c) {
  const halo *self = object;
  for (int k = 0; k < self->n; ++k) c[k] = view->u[k] - view->y[0][k];
}

static void halo_jacobian(const void *object, const yoke_coupling_view *view, double *dc_du, double *dc_du_dot,
                          double *dc_du_integral, double *dc_dy1, double *dc_dy2) {
  const halo  *self = object;
  const size_t n    = (size_t)self->n;
  memset(dc_du, 0, n * n * sizeof *dc_du);
  memset(dc_du_dot, 0, n * n * sizeof *dc_du_dot);
  memset(dc_du_integral, 0, n * n * sizeof *dc_du_integral);
  memset(dc_dy1, 0, n * (size_t)view->n_y[0] * sizeof *dc_dy1);
  memset(dc_dy2, 0, n * (size_t)view->n_y[1] * sizeof *dc_dy2);
  for (int k = 0; k < self->n; ++k) {
    dc_du[k * self->n + k]       = 1.0;
    dc_dy1[k * view->n_y[0] + k] = -1.0;
  }
}

static void halo_update(const void *object, double t, const double *y1, const double *y2, const double *u_now,
                        double *u, yoke_arena *scratch) {
  const halo *self = object;
  (void)t, (void)y2, (void)u_now, (void)scratch;
  memcpy(u, y1, (size_t)self->n * sizeof *u);
}

static bool halo_feeds_through(const void *object) {
  (void)object;
  return false;
}

static bool halo_is_met_by_update(const void *object) {
  (void)object;
  return true;
}

/* ---- for the graph ---- */

static const yoke_halo_def *halo_def(const void *object) {
  return ((const halo *)object)->def;
}

static const yoke_overlap_form halo_form = {.halo = halo_def};

const yoke_formulation_ops yoke_halo_formulation = {
    .name             = "overlap",
    .settings         = {YOKE_SETTING_ROWS(yoke_overlap_rows)},
    .check            = yoke_overlap_check,
    .create           = halo_create,
    .destroy          = halo_destroy,
    .channels         = halo_channels,
    .layout           = halo_layout,
    .n_conditions     = halo_n_conditions,
    .residual         = halo_residual,
    .jacobian         = halo_jacobian,
    .update           = halo_update,
    .feeds_through    = halo_feeds_through,
    .is_met_by_update = halo_is_met_by_update,
    .overlap          = &halo_form,
};
