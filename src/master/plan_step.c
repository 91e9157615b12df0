#include "master/plan_builder.h"

#include "coupling/scheme.h"
#include "integrate/integrator.h"
#include "master/submodel.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool has_joint(const yoke_plan *plan) {
  for (int k = 0; k < plan->n_couplings; ++k) {
    if (plan->couplings[k].is_joint) return true;
  }
  return false;
}

/* Does the formulation of a coupling take this degree without a complaint? */
static bool bears(const yoke_plan *plan, int k, const yoke_scheme_ops *scheme, int order) {
  yoke_context     *quiet = NULL;
  yoke_coupling_def def   = yoke_plan_coupling_def(plan, k);
  def.has_consistent      = plan->step.is_controlled;
  if (yoke_context_create(&quiet) != YOKE_OK) return false;
  const yoke_status status = def.formulation->check(quiet, &def, scheme != NULL ? &scheme->traits : NULL, order);
  const bool        bears  = status == YOKE_OK && yoke_context_n_messages(quiet) == 0;
  yoke_context_destroy(&quiet);
  return bears;
}

/* Copied motions that are held over a step lead or lag in time and feed energy (Kraft 8): degree 0 is for the start only. Joints
 * whose copies have conditions of their own do not count. */
static bool copies_motion(const yoke_plan *plan, int k) {
  const yoke_wire    *wire = &plan->wires[k];
  int                 n;
  const yoke_channel *channels = wire->formulation->channels(wire->self, &n);
  if (plan->couplings[k].is_signal) return false;
  if (wire->formulation->instant != NULL && wire->formulation->instant->for_estimates) return false;
  for (int i = 0; i < n; ++i) {
    if (!channels[i].is_force) return true;
  }
  return false;
}

/* Highest degree of a coupling that fixes its own. */
static int own_order(const yoke_wire *wire) {
  const int n       = plan_n_channels(wire);
  int       highest = 0;
  for (int i = 0; i < n; ++i) {
    const int order = wire->formulation->extrapolation->order(wire->self, i);
    if (order > highest) highest = order;
  }
  return highest;
}

/* Degrees that the file gives. With predictor acceleration the degree of the run is that of the accelerations, which is as good as
 * coupling values of one degree more; a relaxed end value is no better than its accelerations. */
static void given_orders(const yoke_macro_settings *macro, yoke_control_settings *settings) {
  const int            own       = macro->scheme.order_acceleration;
  const yoke_predictor predictor = macro->scheme.predictor;
  settings->order_min            = macro->order >= 0 ? macro->order : macro->control.order_min;
  settings->order_max            = macro->order >= 0 ? macro->order : macro->control.order_max;
  if (predictor == YOKE_PREDICTOR_ACCELERATION && own >= 0) {
    settings->order_min = settings->order_max = own;
  } else if (yoke_predictor_is_motion(predictor) && macro->order < 0) {
    const int most = own >= 0 ? own + 1 : YOKE_ORDER_MAX - 1;
    if (settings->order_max > most) settings->order_max = most;
    if (settings->order_min > most) settings->order_min = most;
  }
}

enum { EDGE_DEGREE = 1 }; /* of forces at the edges of halos, where the run may choose */

static bool is_all_overlap(const yoke_plan *plan) {
  for (int k = 0; k < plan->n_couplings; ++k) {
    if (!plan->couplings[k].is_overlap && !plan->couplings[k].is_halo) return false;
  }
  return plan->n_couplings > 0;
}

/* Limits of the degree: those of the file, lowered to what all formulations support and bear (no warning). */
static void choose_orders(plan_builder *b) {
  const yoke_macro_settings *macro    = &b->macro;
  const yoke_plan           *plan     = b->plan;
  yoke_control_settings     *settings = &b->plan->step.control;
  given_orders(macro, settings);
  if (macro->order < 0 && is_all_overlap(plan)) { /* steps are too long for more to help at the edges of halos */
    settings->order_max = settings->order_min > EDGE_DEGREE ? settings->order_min : EDGE_DEGREE;
    settings->order_min = settings->order_max;
    return;
  }
  for (int k = 0; macro->order < 0 && k < plan->n_couplings; ++k) {
    if (plan->wires[k].formulation->extrapolation != NULL) { /* degrees of its own, fixed when it was made */
      settings->order_min = settings->order_max = own_order(&plan->wires[k]);
      return;
    }
    if (copies_motion(plan, k) && settings->order_min == 0 && settings->order_max > 0) settings->order_min = 1;
    while (settings->order_max > settings->order_min &&
           !bears(plan, k, yoke_scheme_find(plan->scheme.scheme), settings->order_max))
      --settings->order_max;
  }
}

static int order_of(const yoke_macro_settings *macro, const yoke_plan_coupling *coupling) {
  return macro->order >= 0 ? macro->order - coupling->spare_order : macro->control.order_min;
}

/* Scheme, where the file names none: implicit for rigid joints when all formulations take it, since one correction leaves gaps as
 * large as the errors of the method; else the default. */
static void choose_scheme(plan_builder *b) {
  const yoke_macro_settings *macro    = &b->macro;
  const yoke_plan           *plan     = b->plan;
  const yoke_scheme_ops     *implicit = yoke_scheme_find("implicit");
  if (macro->has_scheme || !has_joint(plan) || yoke_predictor_is_motion(plan->scheme.predictor)) return;
  for (int k = 0; k < plan->n_couplings; ++k) {
    const yoke_formulation_ops *ops = plan->wires[k].formulation;
    const bool has_sets = ops->sets != NULL && ops->sets->n(plan->wires[k].self) > 1; /* no common solution */
    if (has_sets || !bears(plan, k, implicit, order_of(macro, &plan->couplings[k]))) return;
  }
  snprintf(b->plan->scheme.scheme, sizeof b->plan->scheme.scheme, "%s", implicit->traits.name);
}

static void explain(plan_builder *b) {
  yoke_plan_step            *step  = &b->plan->step;
  const yoke_macro_settings *macro = &b->macro;
  const int                  low = step->control.order_min, high = step->control.order_max;
  const bool                 is_motion = yoke_predictor_is_motion(b->plan->scheme.predictor);
  if (!macro->has_scheme)
    snprintf(step->scheme_reason, sizeof step->scheme_reason, "scheme %s (%s)", b->plan->scheme.scheme,
             macro->takes_halos   ? "formulation overlap for cuts of long chains"
             : macro->has_overlap ? "formulation overlap"
             : is_motion          ? "predictor by accelerations"
             : has_joint(b->plan) ? "rigid joints"
                                  : "one correction is enough for force elements");
  if (low == high)
    snprintf(step->order_reason, sizeof step->order_reason, "order %d", low);
  else
    snprintf(step->order_reason, sizeof step->order_reason, "order %d to %d%s", low, high,
             macro->order >= 0 || high == macro->control.order_max ? ""
             : is_motion                                           ? " (accelerations)"
                                                                   : " (as the formulations bear)");
}

/* A rigid joint at a subsystem with such a solver: what multipliers show of its steps, positions times m / H^2, is no error that shorter macro steps mend. */
static void find_wanderer(plan_builder *b) {
  static const double fine = 1e-8;
  yoke_plan          *plan = b->plan;
  for (int k = 0; k < plan->n_couplings && !plan->step.wanders; ++k) {
    const yoke_plan_coupling *coupling = &plan->couplings[k];
    for (int side = 0; side < 2 && coupling->is_joint && !plan->step.wanders; ++side) {
      if (plan_foreign(b, coupling->part[side]) != NULL) continue;
      const yoke_solver_def *solver = &plan_submodel(b, coupling->part[side])->model->solver;
      plan->step.wanders            = yoke_integrator_wanders(solver->kind);
      if (plan->step.wanders && solver->rtol > 1.0001 * fine)
        yoke_note(b->ctx,
                  "solver '%s' of subsystem '%s' takes other steps in every pass, which the forces of joint '%s' show: "
                  "with rtol %g macro steps may become very short; use solver auto or radau5, or an rtol of %g",
                  solver->kind, plan_part_name(b, coupling->part[side]), coupling->name, solver->rtol, fine);
    }
  }
}

/* Half-step nodes of degree 1 and 2 carry lambda at the end of a step on to the next one: s = s' = 0 makes it r lambda, r = 1 with exact
 * integrals. Sums of n inputs at starts of micro steps give r = (1 + 3/n) / (1 - 3/n), those at their ends 1/r. So errors of order 1 in s, of the size
 * 1/n too where rows are curved, either grow or stay in lambda with a size that neither n nor H makes smaller; motions feel its means only. */
static double carried_growth(const yoke_plan *plan, const yoke_solver_def *solver) {
  const double n =
      fmax(4.0, ceil(plan->step.H / solver->step - 1e-6)); /* fewer leave conditions singular, which says so */
  return (n + 3.0) / (n - 3.0);
}

static bool carries_end(const yoke_wire *wire, int degree) {
  yoke_layout layout;
  wire->formulation->layout(wire->self, 0, degree, &layout);
  return layout.kind == YOKE_LAYOUT_HALF && layout.degree > 0;
}

static void warn_of_one_end(const plan_builder *b, int coupling, int side, int end) {
  const yoke_plan_coupling *k       = &b->plan->couplings[coupling];
  const yoke_solver_def    *solver  = &plan_submodel(b, k->part[side])->model->solver;
  const double              steps   = (b->model->t_end - b->model->t_start) / b->plan->step.H;
  const double              growth  = end < 0 ? carried_growth(b->plan, solver) : 1.0;
  const char               *name    = plan_part_name(b, k->part[side]);
  static const char         cure[]  = "use formulation projection, order 0, or a solver of higher order";
  static const double       visible = 10.0;
  if (end < 0 && pow(growth, steps) > visible) {
    yoke_warn(
        b->ctx,
        "coupling '%s': solver '%s' of subsystem '%s' has order 1 and reads forces at the start of its steps; with "
        "formulation %s of order %d errors of the forces grow by %.3g in every macro step; %s",
        k->name, solver->kind, name, b->plan->wires[coupling].formulation->name, order_of(&b->macro, k), growth, cure);
  }
  if (end > 0 && k->shape[side]->n_p > 1) { /* a line is not curved */
    yoke_warn(
        b->ctx,
        "coupling '%s': solver '%s' of subsystem '%s' has order 1 and reads forces at the end of its steps; with "
        "formulation %s of order %d errors of the forces at macro points can be as large as the forces, however small "
        "the steps, and may end the run as a divergence; %s",
        k->name, solver->kind, name, b->plan->wires[coupling].formulation->name, order_of(&b->macro, k), cure);
  }
}

/* Rigid joints at solvers that read inputs at one end of their steps only: said once for each of them. */
static void find_one_end(const plan_builder *b) {
  for (int k = 0; k < b->plan->n_couplings; ++k) {
    const yoke_plan_coupling *coupling = &b->plan->couplings[k];
    yoke_wire                *wire     = &b->plan->wires[k];
    for (int side = 0; side < 2 && coupling->is_joint && !wire->carries_one_end; ++side) {
      if (plan_foreign(b, coupling->part[side]) != NULL) continue;
      const int end         = yoke_integrator_reads_end(plan_submodel(b, coupling->part[side])->model->solver.kind);
      wire->carries_one_end = end != 0 && carries_end(wire, order_of(&b->macro, coupling));
      if (wire->carries_one_end) warn_of_one_end(b, k, side, end);
    }
  }
}

void plan_choose_step(plan_builder *b) {
  yoke_scheme_settings *scheme = &b->plan->scheme;
  if (!b->plan->step.is_controlled) {
    find_one_end(b);
    return;
  }
  scheme->start = YOKE_START_RAMP;
  choose_scheme(b);
  choose_orders(b);
  find_wanderer(b);
  scheme->order = b->plan->step.control.order_max;
  explain(b);
}
