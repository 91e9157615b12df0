#include "model/model_switches.h"

#include "base/memory.h"

/* F/2 (tanh((t - time)/rise) - tanh((t - time - width)/rise)): both edges, or where they overlap the whole. */
static bool add_impulse(yoke_switches *s, const yoke_chain_load *load) {
  const double half = YOKE_EDGE_OF_TANH * load->rise, end = load->time + load->width;
  bool         ok = yoke_switches_add(s, load->time - half, 0.0, true) && yoke_switches_add(s, end + half, 0.0, true);
  if (load->width > 2.0 * half)
    ok = ok && yoke_switches_add(s, load->time + half, 0.0, true) && yoke_switches_add(s, end - half, 0.0, true);
  return ok;
}

static bool add_chain(yoke_switches *s, const yoke_chain *chain) {
  const yoke_chain_load *before = NULL; /* the same impulse usually acts on many masses */
  for (int k = 0; k < chain->n_loads; ++k) {
    const yoke_chain_load *load = &chain->loads[k];
    if (load->kind != YOKE_CHAIN_IMPULSE) continue;
    const bool is_same =
        before != NULL && before->time == load->time && before->width == load->width && before->rise == load->rise;
    if (!is_same && !add_impulse(s, load)) return false;
    before = load;
  }
  return true;
}

static bool is_of_time(const yoke_expression *expression) {
  return yoke_expression_n_variables(expression) == 1 && yoke_expression_variables(expression)[0] == 0;
}

static bool collect(yoke_switches *s, const yoke_model *model, bool with_events) {
  bool ok = true;
  for (int b = 0; ok && b < model->n_bodies; ++b) {
    if (model->bodies[b].chain != NULL) ok = add_chain(s, model->bodies[b].chain);
  }
  for (int k = 0; ok && k < model->n_loads; ++k) {
    for (int i = 0; ok && i < 3; ++i) {
      if (model->loads[k].value[i] != NULL) ok = yoke_switches_add_expression(s, model->loads[k].value[i], 0);
    }
  }
  for (int k = 0; ok && k < model->n_connections; ++k) {
    const yoke_connection *c = &model->connections[k];
    if (c->motion != NULL) ok = yoke_switches_add_expression(s, c->motion, 0);
    if (ok && c->formula != NULL) ok = yoke_switches_add_expression(s, c->formula, 0);
    if (ok && c->law.expression != NULL) ok = yoke_switches_add_expression(s, c->law.expression, 2);
  }
  for (int k = 0; ok && with_events && k < model->n_events; ++k) {
    if (is_of_time(model->events[k].when)) ok = yoke_switches_add_zeros(s, model->events[k].when, 0);
  }
  return ok;
}

yoke_status yoke_model_switches(yoke_context *ctx, const yoke_model *model, bool with_events, yoke_switches *out) {
  *out = (yoke_switches){.t_from = model->t_start, .t_to = model->t_end};
  if (!collect(out, model, with_events))
    return yoke_out_of_memory(ctx, "the switching times of model '%s'", model->name);
  yoke_switches_arrange(out);
  return YOKE_OK;
}
