/* Is the work of dampers and loads integrated along in a run? */
#include "master/plan_directory.h"

#include "base/text.h"
#include <stdio.h>
#include <string.h>

bool plan_names_total(const char *pattern, int first) {
  for (int k = first; k <= YOKE_TOTAL_LEAK; ++k) {
    char name[40];
    snprintf(name, sizeof name, "total.%s",
             yoke_quantity_name(yoke_quantity_at(YOKE_OF_TOTAL, YOKE_LEVEL_ENERGY, k), k));
    if (yoke_text_matches(pattern, name)) return true;
  }
  return false;
}

/* Leaks and works of subsystems and couplings: "*.leak", "knee.work[1]", "subsystem.a.*". */
static bool asks_for_account(const char *name) {
  const char *dot = strrchr(name, '.'), *word = dot != NULL ? dot + 1 : name;
  return strncmp(name, "subsystem.", 10) == 0 || strcmp(word, "leak") == 0 || strncmp(word, "work", 4) == 0;
}

/* Patterns for everything do not ask. */
static bool asks_for_work(const char *name) {
  return asks_for_account(name) || (strncmp(name, "total", 5) == 0 && plan_names_total(name, YOKE_TOTAL_DISSIPATED));
}

bool plan_left_out_with_work(const plan_builder *b, const char *name) {
  return !b->plan->has_work && b->model->energy == 0 && asks_for_work(name);
}

bool yoke_plan_has_account(const yoke_plan *plan) {
  return plan->has_work && !plan->lacks_energy && !plan->step.is_free && plan->n_couplings > 0;
}

static bool is_asked_for(const yoke_model *model, const yoke_plan_options *options) {
  bool is_asked = false;
  for (int i = 0; i < model->output.n_select; ++i) is_asked = is_asked || asks_for_work(model->output.select[i]);
  for (int i = 0; i < model->n_references; ++i) is_asked = is_asked || asks_for_work(model->references[i].name);
  for (int i = 0; i < options->n_print; ++i) is_asked = is_asked || asks_for_work(options->print[i]);
  return is_asked;
}

/* Those of single couplings are meant, or of subsystems, which halos do not tell. */
static bool asks_for_shares(const char *name) {
  return asks_for_account(name) && strcmp(name, "total.leak") != 0;
}

const char *plan_asked_share(const yoke_model *model, const yoke_plan_options *options) {
  for (int i = 0; i < model->output.n_select; ++i) {
    if (asks_for_shares(model->output.select[i])) return model->output.select[i];
  }
  for (int i = 0; i < model->n_references; ++i) {
    if (asks_for_shares(model->references[i].name)) return model->references[i].name;
  }
  for (int i = 0; i < options->n_print; ++i) {
    if (asks_for_shares(options->print[i])) return options->print[i];
  }
  return NULL;
}

static bool may_have_account(const yoke_plan *plan, const char *name) {
  const char *dot = strrchr(name, '.');
  if (strncmp(name, "subsystem.", 10) == 0 || strchr(name, '*') != NULL) return true;
  for (int k = 0; dot != NULL && k < plan->n_couplings; ++k) {
    const char *cut = plan->couplings[k].chain_name != NULL ? plan->couplings[k].name : "";
    if (strlen(cut) == (size_t)(dot - name) && strncmp(cut, name, (size_t)(dot - name)) == 0) return true;
  }
  for (int i = 0; dot != NULL && i < plan->directory->n_connections; ++i) {
    const char *connection = plan->directory->connections[i].name;
    if (strlen(connection) == (size_t)(dot - name) && strncmp(connection, name, (size_t)(dot - name)) == 0) return true;
  }
  return false;
}

bool plan_is_lost_to_halos(const yoke_plan *plan, const char *name) {
  return asks_for_shares(name) && yoke_plan_has_halos(plan) && may_have_account(plan, name);
}

bool yoke_plan_has_halos(const yoke_plan *plan) {
  for (int k = 0; k < plan->n_couplings; ++k) {
    if (plan->couplings[k].is_overlap || plan->couplings[k].is_halo) return true;
  }
  return false;
}

/* Does a coupling have a word of its own that takes the account? */
static bool corrects_any(const yoke_model *model) {
  const yoke_cosimulation_def *c = &model->cosimulation;
  for (int k = -1; k < c->n_own; ++k) {
    const yoke_settings      *given = k < 0 ? &c->couplings : &c->own[k].given;
    const yoke_setting_value *word  = yoke_settings_find(given, YOKE_COUPLING_PATH, "energy");
    if (word != NULL && strcmp(word->text, "monitor") != 0) return true;
  }
  return false;
}

static bool has_joint(const yoke_plan *plan) {
  for (int k = 0; k < plan->n_couplings; ++k) {
    if (plan->wires[k].joint != NULL) return true;
  }
  return false;
}

/* Would work be counted along the way, so that states of controlled steps can no more follow their joints by tangents (coupling/state_shift.h)
 * and are integrated twice? */
static bool hinders_shifts(const plan_builder *b) {
  const yoke_plan_step *step = &b->plan->step;
  return step->is_controlled && step->control.shift != YOKE_SHIFT_OFF && has_joint(b->plan) &&
         yoke_multibody_has_powers(b->start.mb);
}

/* Freedoms and chain loads up to which a run that nobody asked has the account: it costs a few per cent where masses are few, up to a fifth in nets
 * of damped springs, and more than the run where many loads have times of their own (docs/methods/energy.md). */
enum { MOST_FREEDOMS = 1000, MOST_LOADS = 60 };

static bool is_small(const plan_builder *b) {
  int n_loads = 0;
  for (int k = 0; k < b->model->n_bodies; ++k) {
    const yoke_chain *chain = b->model->bodies[k].chain;
    for (int i = 0; chain != NULL && i < chain->n_loads; ++i) n_loads += chain->loads[i].kind != YOKE_CHAIN_CONTACT;
  }
  return b->plan->facts.nv <= MOST_FREEDOMS && n_loads <= MOST_LOADS;
}

/* A run as a whole integrates work along unless it is solved by `exact`, which takes linear equations only; a bare chain, whose fast kernel it
 * would slow down, only where somebody asks for it. A split model that is small has the account, but where that takes integrations. */
bool plan_needs_work(const plan_builder *b, const yoke_plan_options *options) {
  const yoke_model *model = b->model;
  if (!options->is_whole && corrects_any(model)) return true;
  if (model->energy >= 0) return model->energy == 1;
  const bool is_asked = is_asked_for(model, options);
  if (!options->is_whole) return is_asked || (!options->is_study && is_small(b) && !hinders_shifts(b));
  const bool is_one_chain = model->n_bodies == 1 && model->bodies[0].kind == YOKE_BODY_CHAIN &&
                            model->n_connections == 0 && model->n_loads == 0 && model->n_events == 0;
  return (!is_one_chain || is_asked) && strcmp(model->solver.kind, "exact") != 0;
}
