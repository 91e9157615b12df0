/* The monolithic run: one integrator over the whole model, samples by dense output, events by rollback.
 *
 * Invariants:
 *   1. A sample lies at t_start + k every, computed from k; samples never influence the steps.
 *   2. An event that changes the state ends the step there: the step is taken back (copy of the state) and repeated
 *      up to the event. Events that only record or stop leave the accepted steps as they are. */
#include "master/simulation.h"
#include "base/text.h"
#include "master/outputs.h"
#include "model/assembly.h"
#include "model/chain_kernel.h"
#include "model/multibody.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_EVENTS_AT_ONE_TIME = 100, MAX_BISECTIONS = 200 };

struct yoke_simulation {
  const yoke_model       *model;
  yoke_equations          equations;
  yoke_multibody         *mb; /* NULL: one chain; owned by equations */
  yoke_integrator        *integrator;
  yoke_integrator_state  *state, *backup; /* backup only with events */
  void                   *scratch;        /* of the integrator; its first bytes serve the equations too */
  void                   *work;           /* of the equations */
  yoke_outputs            outputs;
  yoke_assembly           assembly;
  bool                    has_energy;
  double                 *q, *v, *a, *lambda, *g; /* at a sample */
  double                 *values;                 /* selected outputs */
  double                 *event_old, *event_new;
  yoke_sample             sample;
  yoke_simulation_summary summary;
};

/* --- creation ------------------------------------------------------------------------------------------------ */

static yoke_integrator_options integrator_options(const yoke_solver_def *def) {
  yoke_integrator_options o = yoke_integrator_options_default();
  o.rtol                    = def->rtol;
  o.atol                    = def->atol > 0.0 ? def->atol : 1e-2 * def->rtol; /* not given: follows rtol */
  o.fixed_step              = def->step;
  o.max_step                = def->max_step;
  o.max_order               = def->max_order;
  o.rho_inf                 = def->rho_inf;
  o.linear                  = strcmp(def->linear, "dense") == 0    ? YOKE_LINEAR_DENSE
                              : strcmp(def->linear, "banded") == 0 ? YOKE_LINEAR_BANDED
                                                                   : YOKE_LINEAR_KLU;
  o.form = strcmp(def->constraints, "ggl") == 0 || def->constraints[0] == '\0' ? YOKE_DAE_GGL : YOKE_DAE_INDEX1;
  if (strcmp(def->constraints, "baumgarte") == 0) {
    o.alpha = def->baumgarte_alpha;
    o.beta  = def->baumgarte_beta;
  }
  return o;
}

static bool is_one_chain(const yoke_model *model) {
  return model->n_bodies == 1 && model->bodies[0].kind == YOKE_BODY_CHAIN && model->n_connections == 0 &&
         model->n_loads == 0 && model->n_events == 0;
}

static yoke_status compile(yoke_simulation *s, yoke_context *ctx) {
  const yoke_model       *model     = s->model;
  yoke_integrator_options solver    = integrator_options(&model->solver);
  yoke_variable          *integrals = calloc((size_t)model->output.n_integrals + 1, sizeof *integrals);
  /* Dense output costs work in every step: only where samples or events lie inside steps. */
  solver.dense =
      model->n_events > 0 || (model->output.every > 0.0 && model->output.every < model->t_end - model->t_start);
  if (integrals == NULL) return yoke_fail(ctx, YOKE_E_MEMORY, "out of memory");
  yoke_status status = YOKE_OK;
  for (int k = 0; k < model->output.n_integrals && status == YOKE_OK; ++k) {
    const char *name = model->output.integrals[k];
    const char *dot  = strrchr(name, '.');
    char        body_name[256];
    int         b = -1;
    if (dot != NULL) {
      snprintf(body_name, sizeof body_name, "%.*s", (int)(dot - name), name);
      b = yoke_model_find_body(model, body_name);
    }
    if (b < 0 || !yoke_body_component_find(&model->bodies[b], dot + 1, &integrals[k]) || integrals[k].is_velocity) {
      status =
          yoke_fail(ctx, YOKE_E_MODEL,
                    "output.integrals: '%s' is not a position of a body (expected body.quantity, e.g. upper.x)", name);
    }
    integrals[k].body = b;
  }
  /* The work of dampers and loads is integrated along unless the model is a bare chain, whose fast kernel it would slow down. */
  s->has_energy                        = model->energy == 1 || (model->energy < 0 && !is_one_chain(model));
  const yoke_multibody_options options = {.energy      = s->has_energy,
                                          .n_integrals = model->output.n_integrals,
                                          .integrals   = integrals,
                                          .alpha       = solver.alpha,
                                          .beta        = solver.beta};
  if (status == YOKE_OK) status = yoke_multibody_create(ctx, model, &options, &s->equations, &s->mb);
  free(integrals);
  if (status != YOKE_OK) return status;
  return yoke_integrator_create(ctx, model->solver.kind, &s->equations, &solver, &s->integrator);
}

static yoke_status allocate(yoke_simulation *s, yoke_context *ctx) {
  const yoke_equations *e = &s->equations;
  s->work                 = yoke_allocate(e->work_size, 1);
  s->q                    = yoke_allocate((size_t)e->nq, sizeof(double));
  s->v                    = yoke_allocate((size_t)e->nv, sizeof(double));
  s->a                    = yoke_allocate((size_t)e->nv, sizeof(double));
  s->lambda               = yoke_allocate((size_t)e->ng, sizeof(double));
  s->g                    = yoke_allocate((size_t)e->ng, sizeof(double));
  s->event_old            = yoke_allocate((size_t)e->n_events, sizeof(double));
  s->event_new            = yoke_allocate((size_t)e->n_events, sizeof(double));
  bool ok = s->work != NULL && s->q != NULL && s->v != NULL && s->a != NULL && s->lambda != NULL && s->g != NULL &&
            s->event_old != NULL && s->event_new != NULL;
  ok = ok && yoke_integrator_state_create(s->integrator, &s->state) == YOKE_OK;
  ok = ok && yoke_integrator_scratch_create(s->integrator, &s->scratch) == YOKE_OK;
  if (e->n_events > 0) ok = ok && yoke_integrator_state_create(s->integrator, &s->backup) == YOKE_OK;
  return ok ? YOKE_OK
            : yoke_fail(ctx, YOKE_E_MEMORY, "out of memory: the model has %d positions and %d velocities", e->nq,
                        e->nv);
}

static void chain_start(const yoke_chain *chain, double *q, double *v) {
  for (int i = 0; i < chain->n; ++i) {
    q[i] = chain->x0.each != NULL ? chain->x0.each[i] : chain->x0.value;
    v[i] = chain->v0.each != NULL ? chain->v0.each[i] : chain->v0.value;
  }
}

static void report_redundancy(yoke_context *ctx, const yoke_simulation *s) {
  if (s->assembly.n_redundant == 0) return;
  char text[600] = "", label[120];
  for (int k = 0; k < s->assembly.n_redundant && strlen(text) < 400; ++k) {
    yoke_multibody_row_label(s->mb, s->assembly.redundant[k], label, sizeof label);
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s'%s'", k > 0 ? ", " : "", label);
  }
  yoke_note(ctx, "%d constraint row%s follow from the others and get the smallest reaction forces that fit: %s%s",
            s->assembly.n_redundant, s->assembly.n_redundant > 1 ? "s" : "", text, strlen(text) >= 400 ? ", ..." : "");
}

yoke_status yoke_simulation_create(yoke_context *ctx, const yoke_model *model, yoke_simulation **out) {
  *out               = NULL;
  yoke_simulation *s = calloc(1, sizeof *s);
  if (s == NULL) return yoke_fail(ctx, YOKE_E_MEMORY, "out of memory");
  s->model           = model;
  yoke_status status = compile(s, ctx);
  if (status == YOKE_OK) status = allocate(s, ctx);
  if (status == YOKE_OK) {
    if (s->mb != NULL) {
      status = yoke_assembly_solve(ctx, model, s->mb, &s->equations, s->work, model->t_start, s->q, s->v, &s->assembly);
      if (status == YOKE_OK) report_redundancy(ctx, s);
    } else {
      chain_start(model->bodies[0].chain, s->q, s->v);
    }
  }
  if (status == YOKE_OK) {
    status = yoke_outputs_create(ctx, model, s->mb, &s->equations, s->has_energy, model->output.n_select,
                                 model->output.select, &s->outputs);
  }
  if (status == YOKE_OK) {
    s->values = yoke_allocate((size_t)s->outputs.n, sizeof(double));
    if (s->values == NULL) status = yoke_fail(ctx, YOKE_E_MEMORY, "out of memory for %d outputs", s->outputs.n);
  }
  if (status == YOKE_OK) {
    status =
        yoke_integrator_start(s->integrator, s->scratch, s->state, model->t_start, s->q, s->v, &yoke_signal_none, ctx);
  }
  if (status != YOKE_OK) {
    yoke_simulation_destroy(&s);
    return status;
  }
  *out = s;
  return YOKE_OK;
}

void yoke_simulation_destroy(yoke_simulation **simulation) {
  yoke_simulation *s = *simulation;
  if (s == NULL) return;
  yoke_integrator_state_destroy(&s->state);
  yoke_integrator_state_destroy(&s->backup);
  yoke_integrator_scratch_destroy(&s->scratch);
  yoke_integrator_destroy(&s->integrator);
  yoke_outputs_clear(&s->outputs);
  yoke_assembly_clear(&s->assembly);
  if (s->equations.ops != NULL) yoke_equations_destroy(&s->equations);
  free(s->work);
  free(s->q);
  free(s->v);
  free(s->a);
  free(s->lambda);
  free(s->g);
  free(s->values);
  free(s->event_old);
  free(s->event_new);
  free(s);
  *simulation = NULL;
}

/* --- samples ------------------------------------------------------------------------------------------------- */

/* Fill s->sample at t of the last step. Between the ends of a step the interpolated state is brought onto the constraints. */
static yoke_status take_sample(yoke_simulation *s, double t, bool accelerations) {
  const yoke_equations     *e    = &s->equations;
  const yoke_equations_ops *ops  = e->ops;
  const bool                edge = t == s->state->t;
  if (edge) {
    memcpy(s->q, yoke_integrator_q(s->integrator, s->state), (size_t)e->nq * sizeof(double));
    memcpy(s->v, yoke_integrator_v(s->integrator, s->state), (size_t)e->nv * sizeof(double));
  } else {
    yoke_integrator_interpolate(s->integrator, s->state, t, s->q, s->v);
    if (ops->normalise != NULL) ops->normalise(e->self, s->q);
    if (e->ng > 0 && ops->project_position(e->self, s->work, t, s->q) == YOKE_OK) {
      (void)ops->project_velocity(e->self, s->work, t, s->q, s->v);
    }
  }
  for (int i = 0; i < e->nq; ++i) {
    if (!isfinite(s->q[i])) return YOKE_NON_FINITE;
  }
  for (int i = 0; i < e->nv; ++i) {
    if (!isfinite(s->v[i])) return YOKE_NON_FINITE;
  }
  s->sample = (yoke_sample){.t = t, .q = s->q, .v = s->v, .a = s->a, .lambda = s->lambda};
  if (accelerations) YOKE_TRY(ops->derivative(e->self, s->work, t, s->q, s->v, NULL, NULL, s->a, s->lambda));
  if (ops->energy != NULL && (s->has_energy || s->outputs.needs_energy)) {
    ops->energy(e->self, s->work, t, s->q, s->v, &s->sample.energy);
  }
  return YOKE_OK;
}

static yoke_status emit(yoke_simulation *s, double t, const yoke_sink *sink) {
  YOKE_TRY(take_sample(s, t, s->outputs.needs_acceleration));
  const yoke_equations *e = &s->equations;
  for (int i = 0; i < s->outputs.n; ++i) {
    s->values[i] = yoke_outputs_value(&s->outputs, &s->outputs.list[i], &s->sample, s->work);
    if (!isfinite(s->values[i])) return YOKE_NON_FINITE;
  }
  if (e->ng > 0) {
    e->ops->constraint(e->self, s->work, t, s->q, s->v, s->g, NULL);
    for (int i = 0; i < e->ng; ++i)
      s->summary.constraint_residual = fmax(s->summary.constraint_residual, fabs(s->g[i]));
  }
  if (s->has_energy) {
    const double total = yoke_energy_balance(&s->sample.energy);
    if (t == s->model->t_start) s->summary.energy_start = total;
    s->summary.energy_drift = fmax(s->summary.energy_drift, fabs(total - s->summary.energy_start));
  }
  if (sink == NULL || sink->sample == NULL) return YOKE_OK;
  return sink->sample(sink->user, t, s->values, &s->state->counters,
                      t - s->state->t_prev > 0.0 ? s->state->t - s->state->t_prev : s->state->h, s->state->order);
}

/* --- events -------------------------------------------------------------------------------------------------- */

static bool crosses(const yoke_event *event, double before, double after) {
  const bool rising = before < 0.0 && after >= 0.0, falling = before > 0.0 && after <= 0.0;
  return (rising && event->direction >= 0) || (falling && event->direction <= 0);
}

static void event_values(yoke_simulation *s, double t, double *value) {
  yoke_integrator_interpolate(s->integrator, s->state, t, s->q, s->v);
  s->equations.ops->events(s->equations.self, t, s->q, s->v, value);
}

/* Bisection on the dense output down to neighbouring numbers: the first time the event function has its new sign. */
static double locate(yoke_simulation *s, int k, double before, double from, double to, double *values) {
  for (int i = 0; i < MAX_BISECTIONS; ++i) {
    const double middle = from + 0.5 * (to - from);
    if (middle <= from || middle >= to) break;
    event_values(s, middle, values);
    if (crosses(&s->model->events[k], before, values[k])) {
      to = middle;
    } else {
      from = middle;
    }
  }
  return to;
}

/* Earliest event in the last step, or -1. */
static int first_event(yoke_simulation *s, double *t_event) {
  int     first    = -1;
  double  earliest = INFINITY;
  double  values[64];
  double *scratch = s->equations.n_events <= 64 ? values : s->event_new; /* event_new is computed again below */
  for (int k = 0; k < s->equations.n_events; ++k) {
    if (!crosses(&s->model->events[k], s->event_old[k], s->event_new[k])) continue;
    const double t = locate(s, k, s->event_old[k], s->state->t_prev, s->state->t, scratch);
    if (t < earliest) {
      earliest = t;
      first    = k;
    }
  }
  *t_event = earliest;
  return first;
}

/* Assign the event's values: all are read before any is written. */
static yoke_status apply_set(yoke_simulation *s, const yoke_event *event, yoke_context *ctx) {
  const yoke_equations *e         = &s->equations;
  double               *variables = malloc(((size_t)s->model->n_variables + 1) * sizeof *variables);
  double               *values    = malloc(((size_t)event->n_set + 1) * sizeof *values);
  yoke_status status = variables != NULL && values != NULL ? YOKE_OK : yoke_fail(ctx, YOKE_E_MEMORY, "out of memory");
  if (status == YOKE_OK) {
    memcpy(s->q, yoke_integrator_q(s->integrator, s->state), (size_t)e->nq * sizeof(double));
    memcpy(s->v, yoke_integrator_v(s->integrator, s->state), (size_t)e->nv * sizeof(double));
    variables[0] = s->state->t;
    for (int k = 0; k < s->model->n_variables; ++k) {
      const yoke_variable *x = &s->model->variables[k];
      variables[k + 1]       = x->is_velocity ? s->v[yoke_multibody_v_offset(s->mb, x->body) + x->mass + x->component]
                                              : s->q[yoke_multibody_q_offset(s->mb, x->body) + x->mass + x->component];
    }
    for (int k = 0; k < event->n_set; ++k) values[k] = yoke_expression_evaluate(event->value[k], variables, NULL);
    for (int k = 0; k < event->n_set; ++k) {
      const yoke_variable *x = &s->model->variables[event->variable[k] - 1];
      if (!isfinite(values[k]))
        status = yoke_fail(ctx, YOKE_E_UNSTABLE, "event '%s' sets a value that is not finite", event->name);
      if (x->is_velocity) {
        s->v[yoke_multibody_v_offset(s->mb, x->body) + x->mass + x->component] = values[k];
      } else {
        s->q[yoke_multibody_q_offset(s->mb, x->body) + x->mass + x->component] = values[k];
      }
    }
  }
  if (status == YOKE_OK)
    status = yoke_integrator_reset(s->integrator, s->scratch, s->state, s->q, s->v, &yoke_signal_none, ctx);
  free(variables);
  free(values);
  return status;
}

/* --- run ----------------------------------------------------------------------------------------------------- */

typedef struct run {
  const yoke_sink *sink;
  double           t_end;
  int64_t          n_samples; /* emitted; the next regular one is at t_start + n_samples every */
  double           last_event;
  int              n_at_one_time;
} run;

/* Samples due in (t_prev, until]. */
static yoke_status emit_due(yoke_simulation *s, run *r, double until) {
  const double every = s->model->output.every;
  if (every <= 0.0) return emit(s, until, r->sink);
  for (;;) {
    const double t = s->model->t_start + (double)r->n_samples * every;
    if (t > until || t > r->t_end - 1e-9 * every) return YOKE_OK; /* the end has its own sample */
    YOKE_TRY(emit(s, t, r->sink));
    ++r->n_samples;
  }
}

/* One step and what happens in it. *stop is set by an event that ends the run. */
static yoke_status step_with_events(yoke_simulation *s, run *r, bool *stop, yoke_context *ctx) {
  const yoke_signal *none   = &yoke_signal_none;
  const bool         events = s->equations.n_events > 0;
  if (events) {
    memcpy(s->q, yoke_integrator_q(s->integrator, s->state), (size_t)s->equations.nq * sizeof(double));
    memcpy(s->v, yoke_integrator_v(s->integrator, s->state), (size_t)s->equations.nv * sizeof(double));
    s->equations.ops->events(s->equations.self, s->state->t, s->q, s->v, s->event_old);
    yoke_integrator_copy(s->integrator, s->backup, s->state);
  }
  YOKE_TRY(yoke_integrator_step(s->integrator, s->scratch, s->state, none, r->t_end, ctx));
  if (!events) return emit_due(s, r, s->state->t);

  event_values(s, s->state->t, s->event_new);
  double    t_event = INFINITY;
  const int k       = first_event(s, &t_event);
  if (k < 0) return emit_due(s, r, s->state->t);
  const yoke_event *event = &s->model->events[k];
  ++s->summary.n_events;
  yoke_note(ctx, "event '%s' at t = %.17g s", event->name, t_event);
  if (event->action == YOKE_EVENT_RECORD) return emit_due(s, r, s->state->t);

  yoke_integrator_copy(s->integrator, s->state, s->backup);
  YOKE_TRY(yoke_integrator_advance(s->integrator, s->scratch, s->state, none, t_event, ctx));
  YOKE_TRY(emit_due(s, r, s->state->t));
  if (event->action == YOKE_EVENT_STOP) {
    *stop = true;
    return YOKE_OK;
  }
  r->n_at_one_time = t_event - r->last_event <= 1e-9 * fmax(fabs(t_event), 1e-6) ? r->n_at_one_time + 1 : 0;
  r->last_event    = t_event;
  if (r->n_at_one_time > MAX_EVENTS_AT_ONE_TIME) {
    return yoke_fail(ctx, YOKE_E_STEP_TOO_SMALL,
                     "event '%s' happens again and again at t = %.9g s; let it end with an event that stops the run",
                     event->name, t_event);
  }
  return apply_set(s, event, ctx);
}

yoke_status yoke_simulation_run(yoke_simulation *s, double t_end, const yoke_sink *sink,
                                yoke_simulation_summary *summary, yoke_context *ctx) {
  s->summary            = (yoke_simulation_summary){.has_energy = s->has_energy};
  run         r         = {.sink = sink, .t_end = t_end, .n_samples = 1, .last_event = -(double)INFINITY};
  bool        stop      = false;
  double      t_emitted = s->state->t;
  yoke_status status    = emit(s, s->state->t, sink);
  while (status == YOKE_OK && !stop && s->state->t < t_end) {
    status = step_with_events(s, &r, &stop, ctx);
    if (status == YOKE_OK && sink != NULL && sink->progress != NULL && !sink->progress(sink->user, s->state->t)) {
      status =
          yoke_fail(ctx, YOKE_E_INTERRUPTED, "interrupted at t = %.9g s; everything up to there is kept", s->state->t);
    }
    if (s->model->output.every <= 0.0) t_emitted = s->state->t;
  }
  if ((status == YOKE_OK || status == YOKE_E_INTERRUPTED) && t_emitted != s->state->t) {
    const yoke_status last = emit(s, s->state->t, sink);
    if (status == YOKE_OK) status = last;
  }
  if (status == YOKE_NON_FINITE)
    status = yoke_fail(ctx, YOKE_E_UNSTABLE, "a value is not finite at t = %.9g s", s->state->t);
  if (status > 0)
    status = yoke_fail(ctx, YOKE_E_NOT_CONVERGED, "%s at t = %.9g s", yoke_status_text(status), s->state->t);
  s->summary.t        = s->state->t;
  s->summary.counters = s->state->counters;
  s->summary.method   = yoke_integrator_method_at_work(s->integrator, s->state);
  if (summary != NULL) *summary = s->summary;
  return status;
}

/* --- questions ----------------------------------------------------------------------------------------------- */

int yoke_simulation_n_outputs(const yoke_simulation *simulation) {
  return simulation->outputs.n;
}

const char *yoke_simulation_output_name(const yoke_simulation *simulation, int i) {
  return simulation->outputs.name[i];
}

const char *yoke_simulation_output_unit(const yoke_simulation *simulation, int i) {
  return simulation->outputs.unit[i];
}

yoke_status yoke_simulation_value(yoke_simulation *s, const char *name, double *value, yoke_context *ctx) {
  yoke_output output;
  YOKE_TRY(yoke_outputs_find(ctx, &s->outputs, name, &output));
  const bool needs_energy = s->outputs.needs_energy;
  s->outputs.needs_energy = needs_energy || output.kind == YOKE_OUTPUT_ENERGY;
  const yoke_status status =
      take_sample(s, s->state->t, output.kind == YOKE_OUTPUT_A || output.kind == YOKE_OUTPUT_FORCE);
  s->outputs.needs_energy = needs_energy;
  if (status != YOKE_OK)
    return yoke_fail(ctx, YOKE_E_UNSTABLE, "'%s' cannot be evaluated at t = %.9g s: %s", name, s->state->t,
                     yoke_status_text(status));
  *value = yoke_outputs_value(&s->outputs, &output, &s->sample, s->work);
  return isfinite(*value) ? YOKE_OK
                          : yoke_fail(ctx, YOKE_E_UNSTABLE, "'%s' is not finite at t = %.9g s", name, s->state->t);
}

void yoke_simulation_facts_get(const yoke_simulation *s, yoke_simulation_facts *out) {
  const int64_t n_all = yoke_outputs_count_all(&s->outputs);
  *out                = (yoke_simulation_facts){
                     .n_bodies      = s->model->n_bodies,
                     .n_connections = s->model->n_connections,
                     .nq            = s->equations.nq - s->equations.n_quadratures,
                     .nv            = s->equations.nv,
                     .ng            = s->equations.ng,
                     .n_redundant   = s->assembly.n_redundant,
                     .n_freedoms    = s->equations.nv - s->equations.ng + s->assembly.n_redundant,
                     .n_outputs_all = n_all < INT32_MAX ? (int)n_all : INT32_MAX,
  };
}
