/* What couples the cuts of chains where a run leaves its method open: halos (formulation overlap), where they can.
 *
 * The element at the cut then belongs to both sides, whose solvers bear what a coupling by extrapolated or corrected forces pays for with short steps, stiff dampers above
 * all: over the chains of bench/cluster and examples runs take 0.005 to 0.21 of the right-hand sides (docs/defaults.md). Who names a scheme, an estimator, a degree or
 * anything else of the method, or a fixed step, has what the name stands for. */
#include "master/open_method.h"

#include "control/control_settings.h"
#include "coupling/formulation.h"
#include "master/macro_settings.h"
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

/* bdf begins anew where copies get the motion of their originals, at every macro point, with steps of first order that leave up to its tolerance behind: copies and
 * originals then differ by that whatever the macro step, and short steps make it more. With 1e-6 and step.rtol 1e-4 chains with soft and stiff dampers are off by less
 * than 0.3 rtol, with 1e-5 by 1.1 to 4.2 (docs/methods/overlap.md). Methods of one step, and abm, do not mind. */
static const double bdf_share = 0.01;

/* The solver of a subsystem that is bdf with too large a tolerance; NULL: none. */
static const yoke_solver_def *loose_bdf(const yoke_model *model, const char **part) {
  yoke_macro_settings macro;
  yoke_macro_settings_read(model, 1.0, false, &macro);
  for (int i = 0; i < model->n_parts; ++i) {
    const yoke_solver_def *solver = model->parts[i].has_solver ? &model->parts[i].solver : &model->solver;
    *part                         = model->parts[i].name;
    if (strcmp(solver->kind, "bdf") == 0 && solver->rtol > 1.0001 * bdf_share * macro.control.tolerances.rtol)
      return solver;
  }
  return NULL;
}

bool yoke_leaves_halos(const yoke_model *model) {
  const char *part;
  return names_nothing(model) && is_chains(model) && loose_bdf(model, &part) == NULL;
}

bool plan_takes_halos(const plan_builder *b, const yoke_plan_options *options) {
  const char *part;
  if (!names_nothing(b->model) || !is_chains(b->model) || !has_long_pieces(b)) return false;
  const yoke_solver_def *bdf = loose_bdf(b->model, &part);
  if (bdf != NULL) {
    yoke_note(b->ctx,
              "cuts of chains have forces: halos (formulation overlap) take solver bdf with an rtol of at most %g of "
              "cosimulation.step.rtol, and subsystem '%s' has %g; a smaller one, or another solver, is quicker",
              bdf_share, part, bdf->rtol);
    return false;
  }
  const char *asked = plan_asked_share(b->model, options);
  if (asked == NULL) return true;
  yoke_note(b->ctx,
            "cuts of chains have forces: '%s' asks for energies of single subsystems or couplings, which halos "
            "(formulation overlap) do not tell; leave it out for the quicker halos, or name the formulation",
            asked);
  return false;
}
