#include "master/macro_settings.h"

#include "coupling/scheme.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const yoke_setting macro_rows[] = {
    {.key       = "energy",
     .type      = YOKE_SETTING_WORD,
     .words     = {"monitor", "correct", "guard", "passivity", "off"},
     .otherwise = "monitor; off as a whole for a single chain and for solver exact, with a split above 1000 "
                  "freedoms or 60 loads of chains but contacts, and under step control with rigid joints where dampers "
                  "or loads act",
     .option    = "energy",
     .value     = "WORD",
     .help      = "work of loads and dampers is counted, for total.balance, the energy drift and the leak of "
                  "couplings; the other words correct it"},
    {.key       = "energy_cap",
     .type      = YOKE_SETTING_POSITIVE,
     .otherwise = "1/4; passivity and rigid joints: 1",
     .with      = "energy",
     .of        = "correct guard passivity",
     .help      = "largest correcting force in units of the coupling force"},
    {.key      = "energy_limit",
     .type     = YOKE_SETTING_POSITIVE,
     .standard = {0.1},
     .with     = "energy",
     .of       = "monitor correct guard passivity",
     .help     = "share of the energy that moves above which a leak is warned of"},
    {.key      = "substeps",
     .type     = YOKE_SETTING_OTHER,
     .expected = "{NAME: a number, ...}",
     .with     = "scheme",
     .of       = "explicit",
     .help     = "short for subsystems.NAME.substeps"},
    {.key  = "lockstep",
     .type = YOKE_SETTING_BOOLEAN,
     .help = "subsystems take the same steps of one solver and meet at every evaluation: no macro steps, exact forces"},
};

const yoke_setting_table yoke_macro_rows = {.path = "cosimulation", YOKE_SETTING_ROWS(macro_rows)};

bool yoke_macro_is_lockstep(const yoke_model *model) {
  const yoke_setting_value *given    = yoke_settings_find(&model->cosimulation.given, yoke_macro_rows.path, "lockstep");
  const bool                is_named = given != NULL ? given->number[0] != 0.0 : model->cosimulation.is_lockstep;
  return is_named && model->n_parts > 1;
}

double yoke_macro_energy_limit(const yoke_model *model) {
  const yoke_setting_value *given =
      yoke_settings_find(&model->cosimulation.given, yoke_macro_rows.path, "energy_limit");
  return given != NULL ? given->number[0] : yoke_setting_find(&yoke_macro_rows, "energy_limit")->standard[0];
}

const yoke_setting *yoke_shared_setting(const char *key) {
  const yoke_setting *row = yoke_setting_find(&yoke_scheme_rows, key);
  return row != NULL && row->is_shared ? row : NULL;
}

static void fill_shared(const yoke_settings *couplings, yoke_scheme_settings *scheme) {
  for (int i = 0; i < couplings->n; ++i) {
    const yoke_setting *row = yoke_shared_setting(couplings->values[i].row->key);
    if (row != NULL) yoke_setting_store(row, &couplings->values[i], scheme);
  }
}

static bool is_overlap(const yoke_settings *given) {
  const yoke_setting_value   *value = yoke_settings_find(given, YOKE_COUPLING_PATH, "formulation");
  const yoke_formulation_ops *ops   = value != NULL ? yoke_formulation_find(value->text) : NULL;
  return ops != NULL && ops->overlap != NULL;
}

/* Is a formulation that overlaps given for all couplings, or for one? */
static bool names_overlap(const yoke_cosimulation_def *c) {
  for (int k = 0; k < c->n_own; ++k) {
    if (is_overlap(&c->own[k].given)) return true;
  }
  return is_overlap(&c->couplings);
}

/* Do subsystems take several steps in a macro step? */
static bool names_substeps(const yoke_model *model) {
  for (int i = 0; i < model->n_parts; ++i) {
    const yoke_setting_value *value = yoke_settings_find(&model->parts[i].given, YOKE_SUBSYSTEM_PATH, "substeps");
    if (value != NULL && value->number[0] > 1.0) return true;
  }
  return false;
}

/* What couplings do that say nothing else. */
static void read_energy(const yoke_cosimulation_def *c, yoke_macro_settings *out) {
  const yoke_setting_value *word = yoke_settings_find(&c->given, yoke_macro_rows.path, "energy");
  const yoke_setting_value *cap  = yoke_settings_find(&c->given, yoke_macro_rows.path, "energy_cap");
  yoke_coupling_settings    own  = {.energy = YOKE_ENERGY_OPEN};
  if (word != NULL && strcmp(word->text, "off") != 0)
    yoke_setting_store(yoke_setting_find(&yoke_coupling_rows, "energy"), word, &own);
  out->energy     = own.energy;
  out->energy_cap = cap != NULL ? cap->number[0] : 0.0;
}

/* Errors of steps add up in long runs, and with halos there is no budget (step_choice.c). They fall with the tenth power of the step, so that a tenth of them costs few
 * steps more. Measured: without it a chain under pulses is off by 9.6 rtol after a thousand steps, with it by 0.8. */
static const double share_with_halos = 0.1;

void yoke_macro_settings_read(const yoke_model *model, double growth, bool takes_halos, yoke_macro_settings *out) {
  const yoke_cosimulation_def *c = &model->cosimulation;
  yoke_scheme_settings        *s = &out->scheme;
  *out = (yoke_macro_settings){.has_step = c->has_step, .step = c->step, .takes_halos = takes_halos};
  yoke_setting_start(&yoke_scheme_rows, s);
  yoke_setting_start(&yoke_corrector_rows, s);
  yoke_setting_start(&yoke_control_rows, &out->control);
  yoke_setting_start(&yoke_order_rows, &out->control);
  fill_shared(&c->couplings, s);
  yoke_setting_fill(&yoke_scheme_rows, yoke_scheme_rows.path, &c->given, s);
  yoke_setting_fill(&yoke_corrector_rows, yoke_corrector_rows.path, &c->given, s);
  yoke_setting_fill(&yoke_control_rows, yoke_control_rows.path, &c->given, &out->control);
  yoke_setting_fill(&yoke_control_atol_rows, yoke_control_atol_rows.path, &c->given, &out->control);
  yoke_setting_fill(&yoke_order_rows, yoke_order_rows.path, &c->given, &out->control);

  const yoke_setting_value *relaxation = yoke_settings_find(&c->given, yoke_scheme_rows.path, "relaxation");
  bool                      has_order  = yoke_settings_find(&c->given, yoke_scheme_rows.path, "order") != NULL;
  for (int i = 0; i < yoke_order_rows.n; ++i)
    has_order = has_order || yoke_settings_find(&c->given, yoke_order_rows.path, yoke_order_rows.rows[i].key) != NULL;
  s->names_jacobian = yoke_settings_find(&c->given, yoke_scheme_rows.path, "jacobian") != NULL;
  read_energy(c, out);
  out->relaxation        = relaxation != NULL ? relaxation->number[0] : 0.0;
  out->has_scheme        = s->scheme[0] != '\0';
  out->has_overlap       = takes_halos || names_overlap(c);
  const bool is_explicit = out->has_overlap || yoke_predictor_is_motion(s->predictor) || names_substeps(model);
  if (!out->has_scheme) /* halos, predictors by accelerations and substeps are explicit */
    snprintf(s->scheme, sizeof s->scheme, "%s", is_explicit ? "explicit" : yoke_scheme_at(0)->traits.name);
  if (s->order < 0 && !has_order && c->has_step) s->order = 1; /* not given */
  out->order = s->order;
  if (s->order < 0) s->order = out->control.order_max;
  if (yoke_setting_is_open(yoke_setting_find(&yoke_control_rows, "growth"), &out->control))
    out->control.growth = fmax(1.0, growth);
  if (yoke_setting_is_open(yoke_setting_find(&yoke_control_rows, "share"), &out->control))
    out->control.share = takes_halos ? share_with_halos : 1.0;
  yoke_scheme_settings_complete(
      s, out->order, c->has_step ? 0.0 : yoke_growth_share(out->control.growth) * out->control.tolerances.rtol);
}
