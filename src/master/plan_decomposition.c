/* Who feels the force of a cut element, and who holds it: the decomposition of couplings that name none.
 *
 * force/force has the fewest channels and, over the models of tests/campaign, the fewest right-hand sides. A side that is far lighter than the other,
 * though, answers an error df of the force by df / m. Where it follows the heavy side's motion instead, which moves slowly, it holds the element itself.
 * Measured: worth it from a ratio of about 100. Runs that fix their step, scheme or estimator have force/force, as published. */
#include "master/plan_builder.h"

#include "control/control_settings.h"

#include <math.h>

static const double far_lighter = 100.0;

/* A body that a joint of its part holds is as heavy as the rest makes it: not known here. */
static bool is_held(const plan_builder *b, int body) {
  const yoke_model *m = b->model;
  for (int c = 0; c < m->n_connections; ++c) {
    if (!yoke_connection_is_joint(m->connections[c].kind) || m->connections[c].flexible || b->connections[c].part < 0)
      continue;
    for (int end = 0; end < 2; ++end) {
      if (m->frames[m->connections[c].frame[end]].body == body) return true;
    }
  }
  return false;
}

static bool turns_only(const yoke_force_element *element) {
  for (int i = 0; i < element->n; ++i) {
    const yoke_row_kind kind = element->row[i].kind;
    if (kind != YOKE_ROW_TURN && kind != YOKE_ROW_ANGLE && kind != YOKE_ROW_ROTATION && kind != YOKE_ROW_PERPENDICULAR)
      return false;
  }
  return true;
}

static double mass_of(const yoke_body *body, int mass) {
  if (body->chain == NULL) return body->mass;
  return body->chain->mass.each != NULL ? body->chain->mass.each[mass] : body->chain->mass.value;
}

/* Mass of a side, or its moment of inertia for elements that only turn; 0: not known. */
static double weight_of(const plan_builder *b, const yoke_plan_coupling *k, int side) {
  const yoke_frame end   = plan_coupling_end(b, k, side);
  const bool       turns = turns_only(&k->element_law);
  if (plan_foreign(b, k->part[side]) != NULL || is_held(b, end.body)) return 0.0;
  const yoke_body *body = &b->model->bodies[end.body];
  if (!turns) return mass_of(body, end.mass);
  return fmax(fmax(body->inertia[0], body->inertia[4]), body->inertia[8]);
}

bool plan_leaves_method_open(const plan_builder *b) {
  const yoke_setting *estimator = yoke_setting_find(&yoke_control_rows, "estimator");
  return b->plan->step.is_controlled && !b->macro.has_scheme && b->macro.order != 0 &&
         yoke_setting_is_open(estimator, &b->macro.control);
}

void plan_choose_decomposition(const plan_builder *b, yoke_plan_coupling *k) {
  yoke_coupling_settings *s = &k->settings;
  if (s->decomposition != YOKE_DECOMPOSITION_OPEN) return;
  s->decomposition = YOKE_FORCE_FORCE; /* of halos, too: both sides hold the element */
  if (!plan_leaves_method_open(b) || k->is_overlap || k->is_halo || k->n_read > 0 || k->is_joint || k->is_signal ||
      s->feedthrough || s->extension != YOKE_EXTENSION_NONE)
    return;
  const double weight[2] = {weight_of(b, k, 0), weight_of(b, k, 1)};
  if (!(weight[0] > 0.0 && weight[1] > 0.0)) return;
  if (weight[0] >= far_lighter * weight[1]) s->decomposition = YOKE_FORCE_DISPLACEMENT;
  if (weight[1] >= far_lighter * weight[0]) s->decomposition = YOKE_DISPLACEMENT_FORCE;
}
