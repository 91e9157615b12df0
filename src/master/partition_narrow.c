/* Where a chain is cut whose cuts have halos (formulation overlap): narrow pieces around loads.
 *
 * Masses near loads and contacts need the shortest steps, and with halos macro steps are long enough that pieces differ in theirs: a piece of its
 * own, some halos wide, makes that only its masses take them. Cuts lie away from the loads by more than a halo, which integrates what acts on its
 * masses. The stretches between are cut into equal pieces. */
#include "coupling/formulation.h"
#include "master/open_method.h"
#include "master/partition_internal.h"
#include <string.h>

enum { MARGIN = 4 /* halos between a load and the end of its piece */ };

/* Masses first .. end - 1. */
typedef struct stretch {
  int  first, end, n_pieces;
  bool is_narrow;
} stretch;

static const yoke_settings *own_settings(const yoke_model *model, int body) {
  const yoke_cosimulation_def *def = &model->cosimulation;
  const yoke_settings         *own = NULL;
  for (int i = 0; i < def->n_own; ++i) {
    if (strcmp(def->own[i].name, model->bodies[body].name) == 0) own = &def->own[i].given;
  }
  return own;
}

int cut_halo_of(const yoke_model *model, int body) {
  const yoke_settings *const lists[2] = {&model->cosimulation.couplings, own_settings(model, body)};
  yoke_coupling_settings     settings;
  yoke_setting_start(&yoke_coupling_rows, &settings);
  for (int i = 0; i < 2; ++i) {
    if (lists[i] != NULL) yoke_setting_fill(&yoke_coupling_rows, YOKE_COUPLING_PATH, lists[i], &settings);
  }
  const char                 *name = yoke_leaves_halos(model) ? "overlap" : settings.formulation;
  const yoke_formulation_ops *ops  = yoke_formulation_find(name);
  if (ops == NULL || ops->overlap == NULL) return 0;
  yoke_coupling_own(ops, 2, lists, &settings);
  return yoke_overlap_halo(&settings);
}

/* Narrow stretches around the loads, and those between them; loads whose stretches would leave less than another one between them share theirs.
 * list [2 n_loaded + 1]; how many there are. */
static int find_stretches(int n, const bool *is_loaded, int margin, stretch *list) {
  int count = 0, done = 0; /* masses that belong to a stretch */
  for (int i = 0; i < n; ++i) {
    if (!is_loaded[i]) continue;
    const int end = i + 1 + margin < n - 2 * margin ? i + 1 + margin : n;
    if (count > 0 && i - margin < done + 2 * margin) {
      list[count - 1].end = done = end;
      continue;
    }
    const int first = i - margin < done + 2 * margin ? done : i - margin;
    if (first > done) list[count++] = (stretch){.first = done, .end = first, .n_pieces = 1};
    list[count++] = (stretch){.first = first, .end = end, .n_pieces = 1, .is_narrow = true};
    done          = end;
  }
  if (done < n) list[count++] = (stretch){.first = done, .end = n, .n_pieces = 1};
  return count;
}

/* Do the narrow ones together hold less than half of all masses? */
static bool is_worth_it(int n, int count, const stretch *list) {
  int narrow = 0;
  for (int k = 0; k < count; ++k) narrow += list[k].is_narrow ? list[k].end - list[k].first : 0;
  return narrow > 0 && 2 * narrow < n;
}

/* The wide stretch whose pieces are the longest; NULL: none could have more pieces. */
static stretch *longest(int count, stretch *list) {
  stretch *best = NULL;
  for (int k = 0; k < count; ++k) {
    stretch *s = &list[k];
    if (s->is_narrow || s->n_pieces >= s->end - s->first) continue;
    if (best == NULL || (double)(s->end - s->first) * best->n_pieces > (double)(best->end - best->first) * s->n_pieces)
      best = s;
  }
  return best;
}

bool cut_narrow_ends(yoke_arena *arena, int n, const bool *is_loaded, int halo, int n_pieces, int *ends) {
  int n_loaded = 0, at = 0;
  for (int i = 0; i < n; ++i) n_loaded += is_loaded[i];
  if (halo == 0 || n_loaded == 0 || halo > n / MARGIN) return false;
  stretch *list = yoke_arena_take(arena, 2 * (size_t)n_loaded + 1, sizeof *list);
  if (list == NULL) return false;
  const int count = find_stretches(n, is_loaded, MARGIN * halo, list);
  if (count > n_pieces || !is_worth_it(n, count, list)) return false;
  for (int left = n_pieces - count; left > 0; --left) {
    stretch *s = longest(count, list);
    if (s == NULL) return false;
    ++s->n_pieces;
  }
  for (int k = 0; k < count; ++k) {
    const stretch *s = &list[k];
    for (int i = 1; i <= s->n_pieces; ++i)
      ends[at++] = s->first + (int)((long long)i * (s->end - s->first) / s->n_pieces);
  }
  return true;
}
