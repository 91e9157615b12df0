/* Snapshots: what a simulation is at one time, as a pack of the system and of what is counted beside it. */
#include "api/simulation.h"

#include "base/given.h"
#include "base/memory.h"
#include "base/pack.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct yoke_snapshot {
  yoke_pack pack;
  yoke_pack next; /* where a later save packs before it takes the place of this one */
};

/* ---- what is counted beside the system ---- */

typedef struct beside {
  double          t;
  bool            has_stopped;
  yoke_step_tally tally;
} beside;

static bool is_sound(const yoke_step_tally *tally) {
  bool is_fine = yoke_is_count(tally->steps) && yoke_is_count(tally->forced);
  for (int i = 0; i < YOKE_N_REJECTIONS; ++i) is_fine = is_fine && yoke_is_count(tally->rejected[i]);
  for (int i = 0; i < YOKE_N_REDUCTIONS; ++i) is_fine = is_fine && yoke_is_count(tally->reduced[i]);
  for (int i = 0; i <= YOKE_ORDER_MAX; ++i) is_fine = is_fine && yoke_is_count(tally->degrees[i]);
  return is_fine;
}

static void pack_beside(const yoke_simulation *s, yoke_pack *out) {
  yoke_pack_tag(out, "simulation");
  yoke_pack_double(out, yoke_simulation_t(s));
  yoke_pack_bool(out, s->has_stopped);
  yoke_pack_block(out, sizeof s->tally, &s->tally);
}

static yoke_status unpack_beside(yoke_context *ctx, yoke_unpack *in, beside *out) {
  yoke_unpack_tag(in, "simulation");
  out->t            = yoke_unpack_double(in);
  out->has_stopped  = yoke_unpack_bool(in);
  const void *tally = yoke_unpack_block(in, sizeof out->tally);
  if (tally != NULL) {
    memcpy(&out->tally, tally, sizeof out->tally);
    if (!is_sound(&out->tally) || !isfinite(out->t))
      yoke_unpack_refuse(in, "no simulation leaves such counts and times");
  }
  return yoke_unpack_check(in, ctx);
}

/* ---- save and restore ---- */

static yoke_status fill(yoke_context *ctx, const yoke_simulation *s, yoke_pack *pack) {
  yoke_pack_begin(pack);
  pack_beside(s, pack);
  YOKE_TRY(yoke_system_pack(s->run.system, pack, ctx));
  return yoke_pack_end(pack, ctx);
}

yoke_status yoke_simulation_save(yoke_context *ctx, const yoke_simulation *s, yoke_snapshot **snapshot) {
  YOKE_TRY(simulation_check_idle(ctx, s));
  yoke_snapshot *own = *snapshot != NULL ? *snapshot : yoke_allocate(1, sizeof *own);
  if (own == NULL) return yoke_out_of_memory(ctx, "a snapshot");
  const yoke_status status = fill(ctx, s, &own->next);
  if (status == YOKE_OK) {
    const yoke_pack before = own->pack;
    own->pack              = own->next;
    own->next              = before;
    *snapshot              = own;
  } else if (*snapshot == NULL) {
    yoke_snapshot_destroy(&own);
  }
  return status;
}

/* Rows of a record follow each other in time. */
static yoke_status check_record(yoke_context *ctx, const yoke_simulation *s, double t) {
  const yoke_recorder *r = s->recorder;
  if (r == NULL || r->n_rows == 0) return YOKE_OK;
  const double last = fmax(r->t_kept, r->t_macro);
  if (t >= last) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_USAGE,
                   "results are recorded up to t = %.9g s: end the record before going back to t = %.9g s", last, t);
}

static yoke_status take(yoke_context *ctx, yoke_simulation *s, yoke_unpack *in, beside *read) {
  YOKE_TRY(unpack_beside(ctx, in, read));
  YOKE_TRY(check_record(ctx, s, read->t));
  YOKE_TRY(yoke_system_unpack(s->run.system, in, ctx));
  return yoke_unpack_end(in, ctx);
}

yoke_status yoke_simulation_restore(yoke_context *ctx, yoke_simulation *s, const yoke_snapshot *snapshot) {
  yoke_unpack in;
  beside      read = {0};
  YOKE_TRY(simulation_check_idle(ctx, s));
  YOKE_TRY(yoke_given(ctx, snapshot, "snapshot"));
  YOKE_TRY(yoke_unpack_begin(&in, snapshot->pack.bytes, snapshot->pack.size, ctx));
  YOKE_TRY(take(ctx, s, &in, &read));
  s->has_stopped = read.has_stopped;
  s->tally       = read.tally;
  s->statistics  = (yoke_step_statistics){0};
  s->status      = YOKE_OK;
  s->n_events    = 0;
  s->t_reported  = yoke_simulation_t(s);
  s->t_sampled   = s->recorder != NULL ? s->recorder->t_kept : (double)NAN;
  yoke_reader_forget(s->reader);
  return YOKE_OK;
}

void yoke_snapshot_destroy(yoke_snapshot **snapshot) {
  if (snapshot == NULL || *snapshot == NULL) return;
  yoke_pack_free(&(*snapshot)->pack);
  yoke_pack_free(&(*snapshot)->next);
  free(*snapshot);
  *snapshot = NULL;
}

/* ---- bytes ---- */

const void *yoke_snapshot_bytes(const yoke_snapshot *snapshot, size_t *size) {
  *size = snapshot->pack.size;
  return snapshot->pack.bytes;
}

yoke_status yoke_snapshot_from_bytes(yoke_context *ctx, const void *bytes, size_t size, yoke_snapshot **out) {
  yoke_unpack in;
  *out = NULL;
  YOKE_TRY(yoke_unpack_begin(&in, bytes, size, ctx));
  yoke_unpack_tag(&in, "simulation");
  YOKE_TRY(yoke_unpack_check(&in, ctx));
  yoke_snapshot *own = yoke_allocate(1, sizeof *own);
  if (own == NULL || !yoke_grow(&own->pack.bytes, &own->pack.capacity, size, 1)) {
    free(own);
    return yoke_out_of_memory(ctx, "a snapshot of %zu bytes", size);
  }
  memcpy(own->pack.bytes, bytes, size);
  own->pack.size = size;
  *out           = own;
  return YOKE_OK;
}
