/* A chain cut by index: near equal lengths, or with halos narrow pieces around loads, at the best element nearby. */
#include "base/memory.h"
#include "master/partition_internal.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct chain_cutter {
  yoke_arena        arena;
  const yoke_chain *chain;
  int               body;
  int              *held;      /* [n + 1] > 0: element i must not be cut (running sum of the bonds across it) */
  bool             *is_loaded; /* [n] */
  double            spread;    /* typical deflection of an element at the start [m] */
} chain_cutter;

static void hold_masses(void *user, int body_a, int mass_a, int body_b, int mass_b) {
  chain_cutter *c = user;
  if (body_a != c->body || body_b != c->body || mass_a == mass_b) return;
  /* elements low + 1 .. high lie between the two masses */
  const int low = mass_a < mass_b ? mass_a : mass_b, high = mass_a < mass_b ? mass_b : mass_a;
  c->held[low + 1]++;
  if (high + 1 <= c->chain->n) c->held[high + 1]--;
}

static cut_element measure(const chain_cutter *c, int i) {
  cut_element e = {.connection = -1, .body = {c->body, c->body}, .mass = {i - 1, i}};
  cut_measure_element(c->chain, i, c->spread, &e);
  e.is_loaded = c->is_loaded[i - 1] || c->is_loaded[i];
  return e;
}

static double start_of(const yoke_chain *chain, int i) {
  return chain->x0.each != NULL ? chain->x0.each[i] : chain->x0.value;
}

static bool create_cutter(const yoke_model *model, int body, chain_cutter *c) {
  const yoke_chain *chain = model->bodies[body].chain;
  *c                      = (chain_cutter){.body = body, .chain = chain};
  c->held                 = yoke_arena_take(&c->arena, (size_t)chain->n + 1, sizeof *c->held);
  c->is_loaded            = yoke_arena_take(&c->arena, (size_t)chain->n, sizeof *c->is_loaded);
  if (c->arena.has_failed) return false;
  double sum = 0.0;
  for (int i = 1; i < chain->n; ++i) {
    const double dx = start_of(chain, i) - start_of(chain, i - 1);
    sum += dx * dx;
  }
  c->spread = chain->n > 1 ? sqrt(sum / (chain->n - 1)) : 0.0;
  cut_visit_bonds(model, false, hold_masses, c);
  for (int i = 1; i <= chain->n; ++i) c->held[i] += c->held[i - 1];
  for (int i = 0; i < chain->n_loads; ++i) c->is_loaded[chain->loads[i].mass] = true;
  for (int i = 0; i < model->n_loads; ++i) {
    const yoke_frame *frame = &model->frames[model->loads[i].frame];
    if (frame->body == body && cut_is_strong(&model->loads[i])) c->is_loaded[frame->mass] = true;
  }
  return true;
}

/* The best element i with after < i < before, at most `reach` from `target`; 0: all are held together. A farther one must be better by
 * more than the imbalance it brings. */
static int best_element(const chain_cutter *c, int target, int reach, int after, int before, double omega_max) {
  int    best  = 0;
  double least = (double)INFINITY;
  for (int d = 0; d <= 2 * reach; ++d) {
    const int i = target + (d % 2 == 1 ? (d + 1) / 2 : -(d / 2));
    if (i <= after || i >= before || c->held[i] > 0) continue;
    const cut_element e = measure(c, i);
    const double cost   = cut_badness(&e, omega_max) * (1.0 + 0.5 * abs(i - target) / (double)(reach > 0 ? reach : 1));
    if (cost < least * (1.0 - 1e-9)) {
      least = cost;
      best  = i;
    }
  }
  return best;
}

static char *element_name(const char *chain, int i) {
  const size_t size = strlen(chain) + 40;
  char        *name = yoke_allocate(size, 1);
  if (name != NULL) snprintf(name, size, "%s.element[%d]", chain, i + 1);
  return name;
}

/* `ends`: where pieces are to end, about; NULL: they have equal lengths. */
static yoke_status cut_pieces(yoke_context *ctx, const chain_cutter *c, const char *name, const int *ends,
                              int first_part, int n_pieces, yoke_assignment *out, yoke_proposal *facts) {
  const int    n     = c->chain->n;
  const int    equal = n / (4 * n_pieces) > 0 ? n / (4 * n_pieces) : (n > n_pieces ? 1 : 0);
  const int    reach = ends != NULL ? 1 : equal;
  const double omega = facts->frequency_range[1];
  for (int k = 0, after = 0; k < n_pieces; ++k) {
    const int target = ends != NULL ? ends[k] : (int)((long long)(k + 1) * n / n_pieces);
    const int before = n - (n_pieces - k - 2);
    int       end    = n; /* the pieces still to come need a mass each */
    if (k + 1 < n_pieces) {
      end = best_element(c, target, reach, after, before, omega);
      if (end == 0) end = best_element(c, target, n, after, before, omega);
    }
    if (end <= after)
      return yoke_fail(ctx, YOKE_E_USAGE, "chain '%s' of %d masses cannot be cut into %d pieces", name, n, n_pieces);
    const int part[2] = {first_part + k, first_part + k + 1};
    if (end < n) {
      const cut_element e = measure(c, end);
      YOKE_TRY(cut_take(ctx, &e, element_name(name, end), "element", part, facts));
    }
    out->pieces[part[0]]           = (yoke_chain_piece){c->body, after, end - after};
    facts->parts[part[0]].is_piece = true;
    facts->parts[part[0]].n_bodies = facts->parts[part[0]].cost = end - after;
    after                                                       = end;
  }
  return YOKE_OK;
}

yoke_status cut_chain(yoke_context *ctx, const yoke_model *model, int body, int first_part, int n_pieces,
                      yoke_assignment *out, yoke_proposal *facts) {
  chain_cutter c;
  yoke_status  status = create_cutter(model, body, &c) ? YOKE_OK : yoke_out_of_memory(ctx, "the proposal of a split");
  for (int i = 1; status == YOKE_OK && i < c.chain->n; ++i) {
    if (c.held[i] > 0) continue;
    const cut_element e = measure(&c, i);
    cut_note(&e, facts);
    ++facts->n_groups;
  }
  ++facts->n_groups;
  int       *ends = status == YOKE_OK ? yoke_arena_take(&c.arena, (size_t)n_pieces, sizeof *ends) : NULL;
  const bool is_narrow =
      ends != NULL && cut_narrow_ends(&c.arena, c.chain->n, c.is_loaded, cut_halo_of(model, body), n_pieces, ends);
  if (status == YOKE_OK) status = yoke_arena_check(&c.arena, ctx, "the proposal of a split");
  if (status == YOKE_OK)
    status = cut_pieces(ctx, &c, model->bodies[body].name, is_narrow ? ends : NULL, first_part, n_pieces, out, facts);
  yoke_arena_free(&c.arena);
  return status;
}
