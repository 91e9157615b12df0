#include "master/idle_settings.h"

#include "master/macro_settings.h"
#include <stdio.h>
#include <string.h>

static bool corrects_energy(const yoke_plan *plan) {
  for (int k = 0; k < plan->n_couplings; ++k) {
    if (yoke_energy_acts(plan->couplings[k].settings.energy)) return true;
  }
  return false;
}

/* What the setting `with` of a row of the run is: a word of the scheme, or one of the things that no row holds. */
static void word_of(const yoke_plan *plan, const char *with, char *word, size_t size) {
  const yoke_setting *row = yoke_setting_find(&yoke_scheme_rows, with);
  word[0]                 = '\0';
  if (strcmp(with, "split") == 0)
    snprintf(word, size, "%d subsystems", plan->n_parts);
  else if (strcmp(with, "step") == 0)
    snprintf(word, size, "%s", plan->step.is_controlled ? "auto" : "fixed");
  else if (strcmp(with, "substeps") == 0)
    snprintf(word, size, "%s", yoke_scheme_has_substeps(&plan->scheme, plan->n_parts) ? "given" : "none");
  else if (strcmp(with, "energy") == 0)
    snprintf(word, size, "%s", corrects_energy(plan) ? "correct" : yoke_plan_has_account(plan) ? "monitor" : "off");
  else if (row != NULL)
    yoke_setting_text(row, &plan->scheme, word, size);
}

static bool is_met(const yoke_plan *plan, const yoke_setting *row) {
  char word[YOKE_SETTING_TEXT];
  if (row->with == NULL) return true;
  word_of(plan, row->with, word, sizeof word);
  return yoke_setting_is_among(word, row->of);
}

bool yoke_run_setting_is_read(const yoke_plan *plan, const yoke_setting *row) {
  if (!is_met(plan, row)) return false;
  if (row->without == NULL) return true;
  for (int i = 0; i < yoke_scheme_rows.n; ++i) {
    const yoke_setting *other = &yoke_scheme_rows.rows[i];
    if (!yoke_setting_is_among(other->key, row->without)) continue;
    if (!is_met(plan, other) || yoke_setting_is_open(other, &plan->scheme)) return true;
  }
  return false;
}

/* What the couplings that a name stands for (NULL: all) make of a key. */
typedef struct coupling_use {
  bool                        is_coupling; /* there are some */
  bool                        is_own;      /* the formulation of one has it ... */
  bool                        is_read;     /* ... and reads it */
  const yoke_formulation_ops *formulation; /* one that has it */
} coupling_use;

static bool is_meant(const yoke_plan_coupling *k, const char *name) {
  if (name == NULL || strcmp(name, k->name) == 0) return true;
  return k->chain_name != NULL && strcmp(k->chain_name, name) == 0;
}

static coupling_use use_of(const yoke_plan *plan, const char *name, const char *key) {
  coupling_use use = {.is_coupling = name == NULL};
  for (int i = 0; i < plan->n_couplings; ++i) {
    const yoke_plan_coupling   *k   = &plan->couplings[i];
    const yoke_formulation_ops *ops = plan->wires[i].formulation;
    const yoke_setting         *row = yoke_setting_find(&ops->settings, key);
    if (!is_meant(k, name)) continue;
    use.is_coupling = true;
    if (row == NULL) continue;
    use.is_own      = true;
    use.is_read     = use.is_read || yoke_setting_is_read(&ops->settings, row, k->settings.own);
    use.formulation = ops;
  }
  return use;
}

/* "only formulation a, b and scheme waveform read it" */
static void readers_of(const char *key, const yoke_setting *shared, char *text, size_t size) {
  int  n              = 0;
  char condition[200] = "";
  snprintf(text, size, "only ");
  for (int i = 0; yoke_formulation_at(i) != NULL; ++i) {
    const yoke_formulation_ops *ops = yoke_formulation_at(i);
    const size_t                at  = strlen(text);
    const yoke_setting         *row = yoke_setting_find(&ops->settings, key);
    if (row != NULL && row->refused == NULL)
      snprintf(text + at, size - at, "%s%s", n++ > 0 ? ", " : "formulation ", ops->name);
  }
  if (shared != NULL) yoke_setting_condition_text(shared, condition, sizeof condition);
  const size_t at = strlen(text);
  snprintf(text + at, size - at, "%s%s %s it", n > 0 && condition[0] != '\0' ? " and " : "", condition,
           n + (condition[0] != '\0') == 1 ? "reads" : "read");
}

/* A setting of the run: read under its own condition, or by a formulation that takes it over. */
static bool run_reads(const yoke_plan *plan, const yoke_setting_value *value, char *reason, size_t size) {
  const yoke_setting *row = value->row;
  char                word[YOKE_SETTING_TEXT], condition[200];
  if (yoke_run_setting_is_read(plan, row)) return true;
  if (row->is_shared && use_of(plan, NULL, row->key).is_own) return true;
  word_of(plan, row->with, word, sizeof word);
  yoke_setting_condition_text(row, condition, sizeof condition);
  const int n = snprintf(reason, size, "it belongs to %s", condition);
  if (!is_met(plan, row)) snprintf(reason + n, size - (size_t)n, ", and here %s is %s", row->with, word);
  return false;
}

static bool coupling_reads(const yoke_plan *plan, const char *name, const yoke_setting_value *value, char *reason,
                           size_t size) {
  const char         *key    = value->row->key;
  const yoke_setting *shared = name == NULL ? yoke_shared_setting(key) : NULL;
  const coupling_use  use    = use_of(plan, name, key);
  char                condition[200];
  if (!use.is_coupling) {
    snprintf(reason, size, "'%.64s' lies within one subsystem and is no coupling", name != NULL ? name : "");
    return false;
  }
  if (use.is_read || yoke_setting_find(&yoke_coupling_rows, key) != NULL) return true;
  if (shared != NULL && yoke_run_setting_is_read(plan, shared)) return true;
  if (!use.is_own) {
    readers_of(key, shared, reason, size);
    return false;
  }
  yoke_setting_condition_text(yoke_setting_find(&use.formulation->settings, key), condition, sizeof condition);
  snprintf(reason, size, "with formulation %s it belongs to %s", use.formulation->name, condition);
  return false;
}

void yoke_idle_settings(const yoke_model *model, const yoke_plan *plan, yoke_idle_found *found, void *user) {
  const yoke_cosimulation_def *def = &model->cosimulation;
  char                         key[2 * YOKE_SETTING_PATH + 64], reason[400];
  const yoke_setting_value    *lockstep = yoke_settings_find(&def->given, yoke_macro_rows.path, "lockstep");
  if (lockstep != NULL && lockstep->number[0] != 0.0 && model->n_parts < 2) {
    snprintf(key, sizeof key, "%s.%s", lockstep->path, lockstep->row->key);
    found(user, lockstep, key, "subsystems meet in lockstep, and the model has no split into two or more");
  }
  if (plan->step.is_free) return;
  for (int i = 0; i < def->given.n; ++i) {
    const yoke_setting_value *value = &def->given.values[i];
    if (run_reads(plan, value, reason, sizeof reason)) continue;
    snprintf(key, sizeof key, "%s.%s", value->path, value->row->key);
    found(user, value, key, reason);
  }
  for (int p = 0; p < model->n_parts; ++p) {
    const yoke_split_part *part = &model->parts[p];
    for (int i = 0; i < part->given.n; ++i) {
      const yoke_setting_value *value = &part->given.values[i];
      if (run_reads(plan, value, reason, sizeof reason)) continue;
      snprintf(key, sizeof key, "%s.%.64s.%s", value->path, part->name, value->row->key);
      found(user, value, key, reason);
    }
  }
  for (int own = -1; own < def->n_own; ++own) {
    const yoke_settings *given = own < 0 ? &def->couplings : &def->own[own].given;
    const char          *name  = own < 0 ? NULL : def->own[own].name;
    for (int i = 0; i < given->n; ++i) {
      const yoke_setting_value *value = &given->values[i];
      if (coupling_reads(plan, name, value, reason, sizeof reason)) continue;
      snprintf(key, sizeof key, "%s%s%.64s.%s", value->path, name != NULL ? "." : "", name != NULL ? name : "",
               value->row->key);
      found(user, value, key, reason);
    }
  }
}
