#include "master/plan_builder.h"

#include <stdlib.h>

static int n_masses(const yoke_body *body) {
  return body->kind == YOKE_BODY_CHAIN ? body->chain->n : 1;
}

void yoke_places_clear(yoke_places *places) {
  yoke_arena_free(&places->arena);
  *places = (yoke_places){0};
}

static int compare_pieces(const void *a, const void *b) {
  const yoke_piece *x = a, *y = b;
  return (x->first > y->first) - (x->first < y->first);
}

/* Pieces of body b cover its masses once each. */
static yoke_status check_pieces(yoke_context *ctx, const yoke_model *model, int b, const yoke_piece *piece, int n) {
  const yoke_body *body = &model->bodies[b];
  int              next = 0;
  if (n == 0) {
    return yoke_fail(ctx, YOKE_E_MODEL, "split: body '%s' is in no subsystem, expected every body in one", body->name);
  }
  for (int k = 0; k < n; ++k) {
    if (piece[k].first < next) {
      return yoke_fail(ctx, YOKE_E_MODEL, "split: body '%s' is in subsystem '%s' and in '%s', expected it in one",
                       body->name, model->parts[piece[k > 0 ? k - 1 : k].place.part].name,
                       model->parts[piece[k].place.part].name);
    }
    if (piece[k].first > next) break;
    next = piece[k].first + piece[k].n;
  }
  if (next != n_masses(body)) {
    return yoke_fail(ctx, YOKE_E_MODEL, "split: mass %d of chain '%s' is in no subsystem, expected every mass in one",
                     next + 1, body->name);
  }
  return YOKE_OK;
}

static yoke_status check_part(yoke_context *ctx, const yoke_model *model, const yoke_split_part *part) {
  if (part->n_bodies == 0 && part->n_masses == 0 && !part->is_foreign) {
    return yoke_fail(ctx, YOKE_E_MODEL, "split: subsystem '%s' has no bodies", part->name);
  }
  for (int k = 0; k < part->n_bodies; ++k) {
    if (part->bodies[k] < 0 || part->bodies[k] >= model->n_bodies) {
      return yoke_fail(ctx, YOKE_E_MODEL, "split: subsystem '%s' names body %d, there are %d", part->name,
                       part->bodies[k], model->n_bodies);
    }
  }
  if (part->n_masses == 0) return YOKE_OK;
  const bool is_chain =
      part->chain >= 0 && part->chain < model->n_bodies && model->bodies[part->chain].kind == YOKE_BODY_CHAIN;
  const int n = is_chain ? model->bodies[part->chain].chain->n : 0;
  if (part->first_mass < 0 || part->n_masses < 0 || part->first_mass > n - part->n_masses) {
    return yoke_fail(ctx, YOKE_E_MODEL, "split: subsystem '%s' names masses %d to %d of a chain with %d", part->name,
                     part->first_mass + 1, part->first_mass + part->n_masses, n);
  }
  return YOKE_OK;
}

/* Pieces in the order of parts; with `pieces` NULL they are only counted, in piece_at[body + 1]. */
static void list_pieces(const yoke_model *model, int *piece_at, int *next, yoke_piece *pieces) {
  for (int p = 0; p < model->n_parts; ++p) {
    const yoke_split_part *part = &model->parts[p];
    for (int k = 0; k < part->n_bodies + (part->n_masses > 0); ++k) {
      const bool is_piece = k == part->n_bodies;
      const int  b        = is_piece ? part->chain : part->bodies[k];
      if (pieces == NULL) {
        ++piece_at[b + 1];
        continue;
      }
      pieces[next[b]++] = (yoke_piece){.first = is_piece ? part->first_mass : 0,
                                       .n     = is_piece ? part->n_masses : n_masses(&model->bodies[b]),
                                       .place = {.part = p, .body = k}};
    }
  }
}

yoke_status yoke_places_create(yoke_context *ctx, const yoke_model *model, yoke_places *out) {
  const int n = model->n_bodies;
  *out        = (yoke_places){.n_bodies = n};
  if (model->n_parts == 0) return yoke_fail(ctx, YOKE_E_MODEL, "model '%s' has no split", model->name);
  for (int p = 0; p < model->n_parts; ++p) YOKE_TRY(check_part(ctx, model, &model->parts[p]));
  out->piece_at = yoke_arena_take(&out->arena, (size_t)n + 2, sizeof *out->piece_at);
  YOKE_TRY(yoke_arena_check(&out->arena, ctx, "the split of %d bodies", n));
  list_pieces(model, out->piece_at, NULL, NULL);
  for (int b = 0; b < n; ++b) out->piece_at[b + 1] += out->piece_at[b];
  out->pieces         = yoke_arena_take(&out->arena, (size_t)out->piece_at[n] + 1, sizeof *out->pieces);
  const size_t mark   = yoke_arena_mark(&out->arena);
  int         *next   = yoke_arena_copy(&out->arena, out->piece_at, (size_t)n + 1, sizeof *next);
  yoke_status  status = yoke_arena_check(&out->arena, ctx, "the split of %d bodies", n);
  if (status == YOKE_OK) list_pieces(model, out->piece_at, next, out->pieces);
  yoke_arena_release(&out->arena, mark);
  for (int b = 0; b < n && status == YOKE_OK; ++b) {
    yoke_piece *first = out->pieces + out->piece_at[b];
    const int   m     = out->piece_at[b + 1] - out->piece_at[b];
    if (m > 1) qsort(first, (size_t)m, sizeof *first, compare_pieces);
    status = check_pieces(ctx, model, b, first, m);
  }
  if (status != YOKE_OK) yoke_places_clear(out);
  return status;
}

const yoke_piece *yoke_piece_find(const yoke_places *places, int body, int mass) {
  int lo = places->piece_at[body], hi = places->piece_at[body + 1];
  while (hi - lo > 1) { /* the last piece that starts at or before the mass */
    const int middle = lo + (hi - lo) / 2;
    if (places->pieces[middle].first <= mass)
      lo = middle;
    else
      hi = middle;
  }
  return &places->pieces[lo];
}

yoke_place yoke_place_find(const yoke_places *places, int body, int mass) {
  const yoke_piece *piece = yoke_piece_find(places, body, mass);
  yoke_place        place = piece->place;
  place.mass += mass - piece->first;
  return place;
}
