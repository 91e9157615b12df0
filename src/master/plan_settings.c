#include "master/plan_builder.h"

#include "coupling/scheme.h"
#include "master/lighter_side.h"
#include "model/model_length.h"
#include <stdio.h>
#include <string.h>

/* A fixed step ends with the run. */
static void limit_step(const plan_builder *b) {
  const double span = b->model->t_end - b->model->t_start;
  double      *H    = &b->plan->step.H;
  if (!(*H > span)) return;
  yoke_warn(b->ctx, "cosimulation.step: %.6g s is longer than the run, which is one macro step of %.6g s", *H, span);
  *H = span;
}

/* What was given for single subsystems. */
static yoke_status set_subsystems(const plan_builder *b) {
  const yoke_model *m        = b->model;
  bool              is_given = false;
  for (int i = 0; i < m->n_parts; ++i) is_given = is_given || m->parts[i].given.n > 0;
  if (!is_given) return YOKE_OK;
  yoke_own_settings *own = yoke_arena_take(&b->plan->arena, (size_t)m->n_parts, sizeof *own);
  b->plan->scheme.own    = own;
  if (own == NULL) return plan_no_memory(b);
  for (int i = 0; i < m->n_parts; ++i) {
    own[i].has_jacobian = yoke_settings_find(&m->parts[i].given, YOKE_SUBSYSTEM_PATH, "jacobian") != NULL;
    yoke_setting_start(&yoke_subsystem_rows, &own[i]);
    yoke_setting_fill(&yoke_subsystem_rows, YOKE_SUBSYSTEM_PATH, &m->parts[i].given, &own[i]);
  }
  return YOKE_OK;
}

/* Steps of a subsystem inside of macro steps are for fixed ones: errors of exchanges inside are not estimated. */
static yoke_status check_substeps(const plan_builder *b) {
  yoke_plan *plan = b->plan;
  for (int i = 0; plan->scheme.own != NULL && i < b->model->n_parts; ++i) {
    const int n = plan->scheme.own[i].substeps;
    if (n == 1) continue;
    if (plan->step.is_controlled)
      return yoke_fail(b->ctx, YOKE_E_MODEL,
                       "cosimulation.subsystems.%s.substeps: found %d, but step control does not estimate errors "
                       "inside of a macro step; give a fixed cosimulation.step, or leave out the substeps",
                       b->model->parts[i].name, n);
    plan->scheme.monitor = false;
  }
  return YOKE_OK;
}

yoke_status plan_read_settings(plan_builder *b, bool takes_halos) {
  yoke_plan *plan = b->plan;
  yoke_macro_settings_read(b->model, b->growth, takes_halos, &b->macro);
  plan->scheme                 = b->macro.scheme;
  const yoke_model_sizes sizes = yoke_model_sizes_of(b->model);
  plan->scheme.length          = sizes.length;
  plan->scheme.time            = sizes.time;
  plan->scheme.force           = sizes.force;
  plan->step.H                 = b->macro.step;
  plan->step.is_controlled     = !b->macro.has_step;
  plan->step.control           = b->macro.control;
  if (plan->scheme.joint_tolerance == 0.0) plan->scheme.joint_tolerance = 1e-3 * plan->scheme.length;
  if (b->macro.order < 0 && !plan->step.is_controlled) {
    return yoke_fail(b->ctx, YOKE_E_MODEL,
                     "cosimulation.order: found an order that is chosen during the run, expected a number from 0 to 5 "
                     "with the fixed macro step %g s; use cosimulation.step auto",
                     b->macro.step);
  }
  limit_step(b);
  YOKE_TRY(set_subsystems(b));
  return check_substeps(b);
}

/* What was given for one coupling beside what was given for all: below its own name, else below the chain it cuts. NULL: nothing. */
static const yoke_settings *find_own(const plan_builder *b, const yoke_plan_coupling *coupling) {
  const yoke_cosimulation_def *c     = &b->model->cosimulation;
  const yoke_settings         *found = NULL;
  for (int k = 0; k < c->n_own && coupling->chain_name != NULL; ++k) {
    if (strcmp(c->own[k].name, coupling->chain_name) == 0) found = &c->own[k].given;
  }
  for (int k = 0; k < c->n_own; ++k) {
    if (strcmp(c->own[k].name, coupling->name) == 0) found = &c->own[k].given;
  }
  return found;
}

/* Degree of couplings that fix their own where the run would choose: order control cannot change it. */
enum { OWN_DEGREE = 2 };

static int own_degree(const yoke_macro_settings *macro) {
  if (macro->order >= 0) return macro->order;
  return macro->control.order_max < OWN_DEGREE ? macro->control.order_max : OWN_DEGREE;
}

/* A formulation for all couplings is meant for those of its kind, when there are any; the others keep their own. Multipliers have no
 * explicit form, so the explicit scheme gets the one formulation of rigid joints that it can drive, where no side is foreign. */
static const char *formulation_of(const plan_builder *b, const yoke_plan_coupling *coupling, const char *given) {
  const yoke_setting_value *for_all =
      yoke_settings_find(&b->model->cosimulation.couplings, YOKE_COUPLING_PATH, "formulation");
  const yoke_scheme_ops *scheme = yoke_scheme_find(b->macro.scheme.scheme);
  const bool             is_explicit =
      scheme != NULL && scheme->traits.extrapolates_only && !yoke_predictor_is_motion(b->macro.scheme.predictor);
  const char *plain = b->macro.takes_halos                   ? "overlap"
                      : !coupling->is_joint                  ? "constitutive"
                      : is_explicit && !coupling->is_foreign ? "kinematic"
                                                             : "stabilized-index-2";
  if (given[0] == '\0') return plain;
  const yoke_formulation_ops *ops = yoke_formulation_find(given);
  if (ops == NULL || ops->for_joints == coupling->is_joint || for_all == NULL || strcmp(given, for_all->text) != 0)
    return given;
  if (b->n_copies > 0 && ops->overlap != NULL) return plain;
  for (int k = 0; k < b->plan->n_couplings; ++k) {
    if (b->plan->couplings[k].is_joint == ops->for_joints) return plain;
  }
  return given;
}

/* Of a coupling that says nothing else what the run says; multipliers that follow from conditions are not corrected. Reactions of joints come
 * near zero again and again, where a small share of them corrects nothing: pendulum and cable stay bounded over steps of 5 ms with 1, not with
 * 1/2. */
static void complete_energy(const yoke_macro_settings *macro, bool is_joint, bool is_solved,
                            yoke_coupling_settings *s) {
  if (s->energy == YOKE_ENERGY_OPEN && yoke_energy_acts(macro->energy) && !is_solved) s->energy = macro->energy;
  if (!yoke_energy_acts(s->energy)) return;
  if (s->energy_cap == 0.0) s->energy_cap = macro->energy_cap;
  if (s->energy_cap == 0.0) s->energy_cap = is_joint || s->energy == YOKE_ENERGY_PASSIVITY ? 1.0 : 0.25;
}

void plan_coupling_settings(const plan_builder *b, yoke_plan_coupling *coupling) {
  const yoke_macro_settings *macro    = &b->macro;
  yoke_coupling_settings    *s        = &coupling->settings;
  const yoke_settings *const lists[2] = {&b->model->cosimulation.couplings, find_own(b, coupling)};
  yoke_setting_start(&yoke_coupling_rows, s);
  for (int i = 0; i < 2; ++i) {
    if (lists[i] != NULL) yoke_setting_fill(&yoke_coupling_rows, YOKE_COUPLING_PATH, lists[i], s);
  }
  char given[sizeof s->formulation];
  memcpy(given, s->formulation, sizeof given);
  snprintf(s->formulation, sizeof s->formulation, "%s", formulation_of(b, coupling, given));
  s->step                         = macro->step;
  s->length                       = b->plan->scheme.length;
  s->time                         = b->plan->scheme.time;
  s->order                        = own_degree(macro);
  s->relaxation                   = macro->relaxation;
  const yoke_formulation_ops *ops = yoke_formulation_find(s->formulation);
  if (ops != NULL) yoke_coupling_own(ops, 2, lists, s);
  const bool is_solved = coupling->is_joint && (ops == NULL || ops->extrapolation == NULL);
  const bool is_inside = ops != NULL && ops->overlap != NULL; /* of the subsystems, which account for it */
  complete_energy(macro, coupling->is_joint, is_solved || is_inside, s);
}

static yoke_status set_coupling(const plan_builder *b, yoke_plan_coupling *coupling) {
  yoke_coupling_settings *s = &coupling->settings;
  plan_coupling_settings(b, coupling);
  if (coupling->is_joint && yoke_energy_acts(b->macro.energy) && s->energy == YOKE_ENERGY_OPEN)
    yoke_note(
        b->ctx,
        "coupling '%s' is a rigid joint whose force is solved for: its energy is accounted for and not corrected; "
        "formulation kinematic is",
        coupling->name);
  const yoke_formulation_ops *ops = yoke_formulation_find(s->formulation);
  if (ops == NULL || ops->for_joints != coupling->is_joint || ops->for_signals) {
    return yoke_fail(b->ctx, YOKE_E_MODEL,
                     "coupling '%s': formulation '%s' is not for %s; use formulation %s (yoke help formulations lists "
                     "all)",
                     coupling->name, s->formulation,
                     coupling->is_joint ? "rigid joints" : "force elements and flexible joints",
                     coupling->is_joint ? "stabilized-index-2, or another one for rigid joints" : "constitutive");
  }
  return YOKE_OK;
}

yoke_coupling_def yoke_plan_coupling_def(const yoke_plan *plan, int coupling) {
  const yoke_plan_coupling *k = &plan->couplings[coupling];
  return (yoke_coupling_def){.name = k->name,
                             .formulation =
                                 k->is_halo ? &yoke_halo_formulation : yoke_formulation_find(k->settings.formulation),
                             .joint          = k->is_joint ? &k->joint : NULL,
                             .element        = k->is_joint || k->is_signal ? NULL : &k->element_law,
                             .n_read         = k->n_read,
                             .read           = k->read,
                             .signal         = k->is_signal ? &k->signal : NULL,
                             .overlap        = k->is_overlap ? &k->overlap : NULL,
                             .halo           = k->is_halo ? &k->halo : NULL,
                             .shape          = {k->shape[0], k->shape[1]},
                             .feels_wrenches = k->is_foreign,
                             .settings       = &k->settings};
}

/* Does the formulation of coupling k take this degree? */
static bool takes(const yoke_plan *plan, int k, const yoke_scheme_ops *scheme, int order) {
  const yoke_coupling_def def = yoke_plan_coupling_def(plan, k);
  return def.formulation->check(NULL, &def, scheme != NULL ? &scheme->traits : NULL, order) == YOKE_OK;
}

/* Order of the run as far as the formulation has it. Where other couplings take it, one that does not keeps the highest that it has (F38). */
static int highest_order(const plan_builder *b, int coupling, const yoke_scheme_ops *scheme, int order) {
  bool is_taken = false;
  if (takes(b->plan, coupling, scheme, order)) return order;
  for (int k = 0; k < b->plan->n_couplings && !is_taken; ++k) is_taken = takes(b->plan, k, scheme, order);
  for (int lower = order - 1; is_taken && lower >= 0; --lower) {
    if (takes(b->plan, coupling, scheme, lower)) return lower;
  }
  return order;
}

/* Is the formulation possible with these settings? */
static yoke_status check_formulation(const plan_builder *b, int coupling) {
  yoke_plan_coupling     *k      = &b->plan->couplings[coupling];
  const yoke_coupling_def def    = yoke_plan_coupling_def(b->plan, coupling);
  const yoke_scheme_ops  *scheme = yoke_scheme_find(b->macro.scheme.scheme);
  const int               order  = b->macro.order < 0 ? b->macro.control.order_min : b->macro.order;
  const int               own    = b->macro.order < 0 ? order : highest_order(b, coupling, scheme, order);
  if (own < order) {
    k->spare_order = order - own;
    yoke_note(b->ctx, "coupling '%s' has order %d, the highest that formulation %s has here; others have order %d",
              k->name, own, def.formulation->name, order);
  }
  return def.formulation->check(b->ctx, &def, scheme != NULL ? &scheme->traits : NULL, own);
}

yoke_status plan_set_signal(plan_builder *b, int coupling) {
  yoke_coupling_settings *s = &b->plan->couplings[coupling].settings;
  yoke_setting_start(&yoke_coupling_rows, s);
  for (int i = 0; yoke_formulation_at(i) != NULL; ++i) {
    if (yoke_formulation_at(i)->for_signals)
      snprintf(s->formulation, sizeof s->formulation, "%s", yoke_formulation_at(i)->name);
  }
  s->step       = b->macro.step;
  s->order      = own_degree(&b->macro);
  s->relaxation = b->macro.relaxation;
  plan_choose_decomposition(b, &b->plan->couplings[coupling]);
  return check_formulation(b, coupling);
}

yoke_status plan_set_halo(plan_builder *b, int coupling) {
  yoke_plan_coupling     *k = &b->plan->couplings[coupling];
  yoke_coupling_settings *s = &k->settings;
  plan_coupling_settings(b, k);
  snprintf(s->formulation, sizeof s->formulation, "%s", yoke_halo_formulation.name);
  if (s->decomposition == YOKE_DECOMPOSITION_OPEN) s->decomposition = YOKE_FORCE_FORCE;
  yoke_setting_start(&yoke_halo_formulation.settings, s->own);
  yoke_setting_store(yoke_setting_find(&yoke_halo_formulation.settings, "halo"),
                     &(yoke_setting_value){.number = {k->halo.n_rings}}, s->own);
  return check_formulation(b, coupling);
}

/* The setting that names a side of the coupling; NULL: the formulation has none. */
static const yoke_setting *side_row(const yoke_setting_table *table) {
  for (int i = 0; i < table->n; ++i) {
    if (table->rows[i].type == YOKE_SETTING_SUBSYSTEM) return &table->rows[i];
  }
  return NULL;
}

yoke_status plan_joint_end(plan_builder *b, const yoke_plan_coupling *k, int side, yoke_joint_end *out) {
  const yoke_whole_state at    = {b->start.q, b->start.v, b->start.a};
  const yoke_frame       frame = plan_coupling_end(b, k, side);
  *out                         = (yoke_joint_end){.submodel = plan_submodel(b, k->part[side])->model,
                                                  .frame    = plan_add_end_frame(b, k, side),
                                                  .shape    = k->shape[side]};
  if (out->frame < 0) return plan_no_memory(b);
  yoke_start_motion(&b->start, &at, &frame, out->p, out->v);
  return YOKE_OK;
}

/* The side that a formulation lets the user name: as given, else the lighter one. */
static yoke_status set_side(plan_builder *b, yoke_plan_coupling *k) {
  const yoke_setting *row = side_row(&yoke_formulation_find(k->settings.formulation)->settings);
  double              ratio;
  if (row == NULL) return YOKE_OK;
  char *given = (char *)k->settings.own + row->at;
  for (int side = 0; side < 2; ++side) {
    k->settings.side = side;
    if (strcmp(given, plan_part_name(b, k->part[side])) == 0) return YOKE_OK;
  }
  if (given[0] != '\0') {
    return yoke_fail(b->ctx, YOKE_E_MODEL,
                     "coupling '%s': %s is '%s', expected '%s' or '%s', which it joins; a coupling has its own "
                     "below its name (cosimulation.couplings.%s.%s)",
                     k->name, row->key, given, plan_part_name(b, k->part[0]), plan_part_name(b, k->part[1]), k->name,
                     row->key);
  }
  for (int side = 0; side < 2; ++side) { /* what is not native cannot follow */
    k->settings.side = side;
    if (plan_foreign(b, k->part[1 - side]) == NULL) continue;
    snprintf(given, row->size, "%s", plan_part_name(b, k->part[side]));
    return YOKE_OK;
  }
  yoke_joint_end end[2];
  for (int side = 0; side < 2; ++side) YOKE_TRY(plan_joint_end(b, k, side, &end[side]));
  const yoke_status status = yoke_lighter_side(b->ctx, &k->joint, end, &k->settings.side, &ratio);
  if (status != YOKE_OK) {
    return yoke_fail(b->ctx, status, "coupling '%s': name the side whose motion follows (%s: '%s' or '%s')", k->name,
                     row->key, plan_part_name(b, k->part[0]), plan_part_name(b, k->part[1]));
  }
  const int side = k->settings.side;
  snprintf(given, row->size, "%s", plan_part_name(b, k->part[side]));
  yoke_warn(b->ctx,
            "coupling '%s': the motion of subsystem '%s' is prescribed, the better one of the two sides: '%s' weighs "
            "at least %.4g times as much in every direction of the joint; name it to choose (%s: %s)",
            k->name, plan_part_name(b, k->part[side]), plan_part_name(b, k->part[1 - side]), ratio, row->key,
            plan_part_name(b, k->part[side]));
  return YOKE_OK;
}

yoke_status plan_set_couplings(plan_builder *b) {
  const int n = b->plan->n_couplings;
  for (int k = 0; k < n; ++k) YOKE_TRY(set_coupling(b, &b->plan->couplings[k]));
  for (int k = 0; k < n; ++k) plan_choose_decomposition(b, &b->plan->couplings[k]);
  for (int k = 0; k < n; ++k) YOKE_TRY(check_formulation(b, k));
  for (int k = 0; k < n; ++k) YOKE_TRY(set_side(b, &b->plan->couplings[k]));
  for (int k = 0; k < n; ++k) YOKE_TRY(plan_choose_carrier(b, &b->plan->couplings[k]));
  return YOKE_OK;
}
