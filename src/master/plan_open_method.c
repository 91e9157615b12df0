/* What couples the cuts of chains where a run leaves its method open: halos (formulation overlap), where they can.
 *
 * The element at the cut then belongs to both sides, whose solvers bear what a coupling by extrapolated or corrected forces pays for with short steps, stiff dampers above
 * all: over the chains of bench/cluster and examples runs take 0.02 to 0.21 of the right-hand sides (docs/defaults.md). Who names a scheme, an estimator, a degree or
 * anything else of the method, or a fixed step, has what the name stands for. */
#include "master/open_method.h"

#include "control/control_settings.h"
#include "coupling/formulation.h"
#include "master/plan_directory.h"

#include <string.h>

/* Pieces hold a halo for each side at least. */
static int least_masses(void) {
  return 2 * (int)yoke_overlap_rows[0].standard[0];
}

/* Keys of the run that say nothing of the method. */
static bool is_neutral(const yoke_setting_value *value) {
  const char *key = value->row->key;
  if (strcmp(value->path, yoke_control_rows.path) == 0) return strcmp(key, "estimator") != 0;
  if (strcmp(value->path, yoke_control_atol_rows.path) == 0) return true;
  if (strcmp(key, "step") == 0) return true; /* auto: a number is looked at before */
  return yoke_setting_is_among(key, "monitor divergence joint_tolerance energy_limit energy_cap") ||
         (strcmp(key, "lockstep") == 0 && value->number[0] == 0.0) ||
         (strcmp(key, "energy") == 0 && yoke_setting_is_among(value->text, "off monitor"));
}

static bool names_nothing(const yoke_model *model) {
  const yoke_cosimulation_def *c = &model->cosimulation;
  if (c->has_step || c->couplings.n > 0 || c->n_own > 0) return false;
  for (int i = 0; i < c->given.n; ++i) {
    if (!is_neutral(&c->given.values[i])) return false;
  }
  for (int i = 0; i < model->n_parts; ++i) {
    if (model->parts[i].given.n > 0) return false;
  }
  return true;
}

/* Nothing but chains, and what acts on their masses by time and motion alone. */
static bool is_chains(const yoke_model *model) {
  if (model->n_connections > 0 || model->n_loads > 0 || model->n_events > 0 || model->n_foreigns > 0) return false;
  for (int body = 0; body < model->n_bodies; ++body) {
    if (model->bodies[body].chain == NULL) return false;
  }
  return true;
}

static bool has_long_pieces(const plan_builder *b) {
  const yoke_places *p = &b->plan->places;
  for (int k = 0; k < p->piece_at[b->model->n_bodies]; ++k) {
    if (p->pieces[k].n < least_masses()) return false;
  }
  return true;
}

bool yoke_leaves_halos(const yoke_model *model) {
  return names_nothing(model) && is_chains(model);
}

bool plan_takes_halos(const plan_builder *b, const yoke_plan_options *options) {
  return yoke_leaves_halos(b->model) && has_long_pieces(b) && !plan_asks_for_shares(b->model, options);
}
