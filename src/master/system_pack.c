/* A system as bytes, between steps: the fingerprint of what it is, then all that the next steps, samples and the summary read. Reading
 * changes nothing before all that may fail has been read. */
#include "master/system_internal.h"

#include "control/control_settings.h"
#include "master/fingerprint.h"
#include <math.h>
#include <string.h>

/* ---- what must be the same ---- */

static void put_subsystem(const yoke_subsystem *s, yoke_pack *out) {
  const yoke_subsystem *bare = yoke_subsystem_bare(s);
  yoke_fingerprint_text(out, bare->ops->kind, "the kind of subsystem '%s'", s->name);
  const int sizes[3] = {s->nu, s->ny, s->n_ports};
  yoke_fingerprint_sum(out, yoke_checksum(YOKE_CHECKSUM_START, sizes, sizeof sizes),
                       "the number of inputs, outputs and ports of subsystem '%s'", s->name);
}

static void take_fingerprint(const yoke_system *s, yoke_pack *out) {
  yoke_plan_fingerprint(s->plan, out);
  if (s->controller != NULL) {
    const yoke_control_settings *control = yoke_controller_settings(s->controller);
    yoke_fingerprint_settings(out, &yoke_control_rows, yoke_control_rows.path, control);
    yoke_fingerprint_settings(out, &yoke_control_atol_rows, yoke_control_atol_rows.path, control);
    yoke_fingerprint_settings(out, &yoke_order_rows, yoke_order_rows.path, control);
  }
  for (int p = 0; p < s->plan->n_parts; ++p) put_subsystem(s->subsystems[p], out);
}

static yoke_status pack_fingerprint(const yoke_system *s, yoke_pack *out, yoke_context *ctx) {
  yoke_pack own = {0};
  take_fingerprint(s, &own);
  const bool has_failed = own.has_failed;
  yoke_pack_int64(out, (int64_t)own.size);
  yoke_pack_block(out, own.size, own.bytes);
  yoke_pack_free(&own);
  return has_failed ? yoke_out_of_memory(ctx, "what a packed state belongs to") : YOKE_OK;
}

static yoke_status check_fingerprint(const yoke_system *s, yoke_unpack *in, yoke_context *ctx) {
  const int64_t size   = yoke_unpack_int64(in);
  const void   *packed = yoke_unpack_block(in, (size_t)size);
  yoke_pack     own    = {0};
  YOKE_TRY(yoke_unpack_check(in, ctx));
  take_fingerprint(s, &own);
  const yoke_status status = own.has_failed ? yoke_out_of_memory(ctx, "what a packed state belongs to")
                                            : yoke_fingerprint_compare(packed, (size_t)size, &own, ctx);
  yoke_pack_free(&own);
  return status;
}

/* ---- what a system knows beside its graph and its controller ---- */

typedef struct memory {
  int64_t     grid_n, grid_n_graded, n_done;
  double      t, t_previous, t_crossed, loss_t, loss_sum, energy_start, energy_drift, constraint_residual;
  int         n_events, n_late;
  bool        is_fresh, has_begun, has_energy;
  const void *totals, *watch, *last, *repeats, *before; /* in the bytes */
} memory;

typedef struct memory_sizes {
  size_t last, repeats, before;
} memory_sizes;

static memory_sizes sizes_of(const yoke_system *s) {
  const size_t n    = (size_t)s->plan->n_events;
  memory_sizes size = {.last = n * sizeof *s->events.last, .repeats = n * sizeof *s->events.repeats};
  for (int p = 0; s->loss.is_wanted && p < s->plan->n_parts; ++p)
    size.before += (size_t)s->subsystems[p]->ny * sizeof *s->loss.before;
  return size;
}

static void pack_memory(const yoke_system *s, yoke_pack *out) {
  const memory_sizes size = sizes_of(s);
  yoke_pack_int64(out, s->grid.n);
  yoke_pack_int64(out, s->grid.n_graded);
  yoke_pack_int64(out, s->samples.n_done);
  yoke_pack_double(out, yoke_graph_t(s->graph));
  yoke_pack_double(out, s->t_previous);
  yoke_pack_double(out, s->t_crossed);
  yoke_pack_double(out, s->loss.t);
  yoke_pack_double(out, s->loss.sum);
  yoke_pack_double(out, s->summary.energy_start);
  yoke_pack_double(out, s->summary.energy_drift);
  yoke_pack_double(out, s->summary.constraint_residual);
  yoke_pack_int32(out, s->summary.n_events);
  yoke_pack_int32(out, s->events.n_late);
  yoke_pack_bool(out, s->is_fresh);
  yoke_pack_bool(out, s->has_begun);
  yoke_pack_bool(out, s->summary.has_energy);
  yoke_pack_block(out, sizeof s->totals, &s->totals);
  yoke_pack_block(out, sizeof s->watch, &s->watch);
  yoke_pack_block(out, size.last, s->events.last);
  yoke_pack_block(out, size.repeats, s->events.repeats);
  yoke_pack_block(out, size.before, s->loss.before);
}

static bool all_are_counts(int n, const void *ints) {
  for (int i = 0; i < n; ++i) {
    int x;
    memcpy(&x, (const char *)ints + (size_t)i * sizeof x, sizeof x);
    if (!yoke_is_count(x)) return false;
  }
  return true;
}

/* Counts that belong to the time? */
static bool is_sound(const yoke_system *s, const memory *m) {
  yoke_macro_grid grid = s->grid;
  grid.n               = m->grid_n;
  grid.n_graded        = m->grid_n_graded;
  if (!isfinite(m->t) || !(m->t >= s->plan->t_start) || !(m->t_previous <= m->t)) return false;
  if (s->controller == NULL && !s->plan->step.is_free && !yoke_macro_grid_is_at(&grid, m->t)) return false;
  return yoke_is_count(m->n_events) && yoke_is_count(m->n_late) && all_are_counts(s->plan->n_events, m->repeats) &&
         system_samples_are_at(s, m->n_done, m->t);
}

static yoke_status unpack_memory(const yoke_system *s, yoke_unpack *in, yoke_context *ctx, memory *m) {
  const memory_sizes size = sizes_of(s);
  m->grid_n               = yoke_unpack_int64(in);
  m->grid_n_graded        = yoke_unpack_int64(in);
  m->n_done               = yoke_unpack_int64(in);
  m->t                    = yoke_unpack_double(in);
  m->t_previous           = yoke_unpack_double(in);
  m->t_crossed            = yoke_unpack_double(in);
  m->loss_t               = yoke_unpack_double(in);
  m->loss_sum             = yoke_unpack_double(in);
  m->energy_start         = yoke_unpack_double(in);
  m->energy_drift         = yoke_unpack_double(in);
  m->constraint_residual  = yoke_unpack_double(in);
  m->n_events             = yoke_unpack_int32(in);
  m->n_late               = yoke_unpack_int32(in);
  m->is_fresh             = yoke_unpack_bool(in);
  m->has_begun            = yoke_unpack_bool(in);
  m->has_energy           = yoke_unpack_bool(in);
  m->totals               = yoke_unpack_block(in, sizeof s->totals);
  m->watch                = yoke_unpack_block(in, sizeof s->watch);
  m->last                 = yoke_unpack_block(in, size.last);
  m->repeats              = yoke_unpack_block(in, size.repeats);
  m->before               = yoke_unpack_block(in, size.before);
  if (in->failure == NULL && !is_sound(s, m)) yoke_unpack_refuse(in, "no system leaves such counts and times");
  return yoke_unpack_check(in, ctx);
}

static void take_memory(yoke_system *s, const memory *m) {
  const memory_sizes size        = sizes_of(s);
  s->grid.n                      = m->grid_n;
  s->grid.n_graded               = m->grid_n_graded;
  s->samples.n_done              = m->n_done;
  s->t_previous                  = m->t_previous;
  s->t_crossed                   = m->t_crossed;
  s->loss.t                      = m->loss_t;
  s->loss.sum                    = m->loss_sum;
  s->summary.energy_start        = m->energy_start;
  s->summary.energy_drift        = m->energy_drift;
  s->summary.constraint_residual = m->constraint_residual;
  s->summary.n_events            = m->n_events;
  s->events.n_late               = m->n_late;
  s->is_fresh                    = m->is_fresh;
  s->has_begun                   = m->has_begun;
  s->summary.has_energy          = m->has_energy;
  memcpy(&s->totals, m->totals, sizeof s->totals);
  memcpy(&s->watch, m->watch, sizeof s->watch);
  memcpy(s->events.last, m->last, size.last);
  memcpy(s->events.repeats, m->repeats, size.repeats);
  if (size.before > 0) memcpy(s->loss.before, m->before, size.before);
  yoke_system_events_begin(&s->events);
}

/* ---- the system ---- */

static void pack_watchers(const yoke_system *s, yoke_pack *out) {
  if (s->account != NULL) yoke_account_pack(s->account, out);
  if (s->monitor != NULL) yoke_monitor_pack(s->monitor, out);
  if (s->controller != NULL) yoke_controller_pack(s->controller, out);
}

yoke_status yoke_system_pack(const yoke_system *s, yoke_pack *out, yoke_context *ctx) {
  if (s->is_unfinished)
    return yoke_fail(ctx, YOKE_E_UNSUPPORTED,
                     "the step that ended at t = %.9g s was interrupted before its samples and events were dealt with: "
                     "the system cannot be packed there",
                     yoke_graph_t(s->graph));
  yoke_pack_tag(out, "system");
  YOKE_TRY(pack_fingerprint(s, out, ctx));
  pack_memory(s, out);
  pack_watchers(s, out);
  return yoke_graph_pack(s->graph, out, ctx);
}

static yoke_status unpack_watchers(yoke_system *s, yoke_unpack *in, yoke_context *ctx) {
  if (s->account != NULL) YOKE_TRY(yoke_account_unpack(s->account, in, ctx));
  if (s->monitor != NULL) YOKE_TRY(yoke_monitor_unpack(s->monitor, in, ctx));
  return s->controller != NULL ? yoke_controller_unpack(s->controller, in, ctx) : YOKE_OK;
}

/* Monitor and controller, then graph; after a failure all are as before. */
static yoke_status unpack_steps(yoke_system *s, double t, yoke_unpack *in, yoke_context *ctx) {
  yoke_pack before = {0};
  pack_watchers(s, &before);
  yoke_status status = before.has_failed ? yoke_out_of_memory(ctx, "step control") : unpack_watchers(s, in, ctx);
  if (status == YOKE_OK) status = yoke_graph_unpack(s->graph, t, in, ctx);
  if (status != YOKE_OK && !before.has_failed) {
    yoke_unpack back = {.bytes = before.bytes, .size = before.size};
    (void)unpack_watchers(s, &back, ctx);
  }
  yoke_pack_free(&before);
  return status;
}

yoke_status yoke_system_unpack(yoke_system *s, yoke_unpack *in, yoke_context *ctx) {
  memory m = {0};
  yoke_unpack_tag(in, "system");
  YOKE_TRY(check_fingerprint(s, in, ctx));
  YOKE_TRY(unpack_memory(s, in, ctx, &m));
  YOKE_TRY(unpack_steps(s, m.t, in, ctx));
  take_memory(s, &m);
  s->is_unfinished = s->is_broken = false;
  return YOKE_OK;
}

/* Between steps: all but the states, which have one owner each, and matrices, whose corrections are agreed on. */
yoke_status system_agree(yoke_system *s, yoke_context *ctx) {
  yoke_pack *own = &s->agreed;
  if (!yoke_graph_may_differ(s->graph)) return YOKE_OK;
  own->size = 0;
  pack_watchers(s, own);
  if (own->has_failed) return yoke_out_of_memory(ctx, "what ranks agree on");
  YOKE_TRY(yoke_graph_agree(s->graph, "step", YOKE_OK, own->size, own->bytes));
  yoke_unpack in = {.bytes = own->bytes, .size = own->size};
  YOKE_TRY(unpack_watchers(s, &in, ctx));
  return yoke_graph_agree_block(s->graph, "history");
}

yoke_status yoke_system_save(const yoke_system *s, yoke_pack *out, yoke_context *ctx) {
  yoke_pack_begin(out);
  YOKE_TRY(yoke_system_pack(s, out, ctx));
  return yoke_pack_end(out, ctx);
}

yoke_status yoke_system_restore(yoke_system *s, const void *bytes, size_t size, yoke_context *ctx) {
  yoke_unpack in;
  YOKE_TRY(yoke_unpack_begin(&in, bytes, size, ctx));
  YOKE_TRY(yoke_system_unpack(s, &in, ctx));
  return yoke_unpack_end(&in, ctx);
}
