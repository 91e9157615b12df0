/* A run: one integrator over the whole model (monolithic), or subsystems over macro steps (split). Samples lie inside steps by dense
 * output (split: by the Hermite polynomial of the macro step), events are met by going back.
 *
 * Invariants:
 *   1. A sample lies at t_start + k every, computed from k; samples never influence the steps.
 *   2. An event that changes the state or stops the run ends the step there: the step is taken back (copy of the
 *      state) and repeated up to the event. Events that only record leave the accepted steps as they are.
 *   3. event_old holds the event functions at the beginning of the next step. A function that fired is 0 until it
 *      leaves the rounding errors around 0 (event_dead), so that a bounce is neither an event on its way up nor lost
 *      on its way down. */
#include "master/simulation.h"
#include "base/cancel.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/model_times.h"
#include "integrate/event_search.h"
#include "integrate/solver_options.h"
#include "master/cosimulation.h"
#include "master/outputs.h"
#include "model/assembly.h"
#include "model/chain_kernel.h"
#include "model/multibody.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_EVENTS_AT_ONE_TIME = 4, /* of one event, each within 1e-9 of the time before the next */
  MAX_REFINEMENTS        = 5  /* of the time of an event: a dense output is less accurate than steps */
};

/* The whole model at a macro point, for samples inside a macro step. */
typedef struct macro_point {
  double  t;
  double *q, *v, *qdot, *a;
} macro_point;

struct yoke_simulation {
  yoke_arena              arena; /* of all arrays */
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
  bool                    has_many;               /* events in one step, and said so */
  double                 *event_old, *event_new, *event_before;
  double                 *event_dead; /* up to this the function counts as 0 */
  double                 *event_time; /* of the crossing in the part of a step under search; infinity: none */
  double                 *event_last; /* when it fired last */
  int                    *event_direction;
  int                    *event_repeats; /* how often in a row at nearly one time */
  bool                    is_fresh;      /* the next step is the first, or the first behind an event */
  yoke_sample             sample;
  yoke_simulation_summary summary;
  yoke_cosimulation      *cosimulation; /* NULL: monolithic; else integrator and state are NULL */
  macro_point             from, to;     /* ends of the last macro step */
};

/* --- creation ------------------------------------------------------------------------------------------------ */

static bool is_one_chain(const yoke_model *model) {
  return model->n_bodies == 1 && model->bodies[0].kind == YOKE_BODY_CHAIN && model->n_connections == 0 &&
         model->n_loads == 0 && model->n_events == 0;
}

static yoke_status compile(yoke_simulation *s, bool is_split, yoke_context *ctx) {
  const yoke_model             *model     = s->model;
  const yoke_integrator_options solver    = yoke_solver_options(&model->solver);
  yoke_variable                *integrals = calloc((size_t)model->output.n_integrals + 1, sizeof *integrals);
  if (integrals == NULL) return yoke_out_of_memory(ctx, "the simulation");
  yoke_status status = YOKE_OK;
  for (int k = 0; k < model->output.n_integrals && status == YOKE_OK; ++k)
    status = yoke_model_integral(ctx, model, k, &integrals[k]);
  /* The work of dampers and loads is integrated along unless the model is a bare chain, whose fast kernel it would slow down, or solved
   * by `exact`, which takes linear equations only. */
  const bool by_itself                 = !is_one_chain(model) && strcmp(model->solver.kind, "exact") != 0;
  s->has_energy                        = !is_split && (model->energy == 1 || (model->energy < 0 && by_itself));
  const yoke_multibody_options options = {.energy      = s->has_energy,
                                          .n_integrals = model->output.n_integrals,
                                          .integrals   = integrals,
                                          .alpha       = solver.alpha,
                                          .beta        = solver.beta};
  if (status == YOKE_OK) status = yoke_multibody_create(ctx, model, &options, &s->equations, &s->mb);
  free(integrals);
  if (status != YOKE_OK || is_split) return status;
  return yoke_integrator_create(ctx, model->solver.kind, &s->equations, &solver, &s->integrator);
}

static void take_point(yoke_arena *arena, const yoke_equations *e, macro_point *point) {
  point->q    = yoke_arena_take(arena, (size_t)e->nq, sizeof(double));
  point->qdot = yoke_arena_take(arena, (size_t)e->nq, sizeof(double));
  point->v    = yoke_arena_take(arena, (size_t)e->nv, sizeof(double));
  point->a    = yoke_arena_take(arena, (size_t)e->nv, sizeof(double));
}

static yoke_status allocate(yoke_simulation *s, yoke_context *ctx) {
  const yoke_equations *e = &s->equations;
  s->work                 = yoke_arena_take(&s->arena, e->work_size, 1);
  s->q                    = yoke_arena_take(&s->arena, (size_t)e->nq, sizeof(double));
  s->v                    = yoke_arena_take(&s->arena, (size_t)e->nv, sizeof(double));
  s->a                    = yoke_arena_take(&s->arena, (size_t)e->nv, sizeof(double));
  s->lambda               = yoke_arena_take(&s->arena, (size_t)e->ng, sizeof(double));
  s->g                    = yoke_arena_take(&s->arena, (size_t)e->ng, sizeof(double));
  s->event_old            = yoke_arena_take(&s->arena, (size_t)e->n_events, sizeof(double));
  s->event_new            = yoke_arena_take(&s->arena, (size_t)e->n_events, sizeof(double));
  s->event_before         = yoke_arena_take(&s->arena, (size_t)e->n_events, sizeof(double));
  s->event_dead           = yoke_arena_take(&s->arena, (size_t)e->n_events, sizeof(double));
  s->event_time           = yoke_arena_take(&s->arena, (size_t)e->n_events, sizeof(double));
  s->event_last           = yoke_arena_take(&s->arena, (size_t)e->n_events, sizeof(double));
  s->event_repeats        = yoke_arena_take(&s->arena, (size_t)e->n_events, sizeof(int));
  s->event_direction      = yoke_arena_take(&s->arena, (size_t)e->n_events, sizeof(int));
  if (s->integrator == NULL) {
    take_point(&s->arena, e, &s->from);
    take_point(&s->arena, e, &s->to);
  }
  bool ok = !s->arena.has_failed;
  for (int k = 0; ok && k < e->n_events; ++k) s->event_direction[k] = s->model->events[k].direction;
  if (s->integrator != NULL) {
    ok = ok && yoke_integrator_state_create(s->integrator, &s->state) == YOKE_OK;
    ok = ok && yoke_integrator_scratch_create(s->integrator, &s->scratch) == YOKE_OK;
    if (e->n_events > 0) ok = ok && yoke_integrator_state_create(s->integrator, &s->backup) == YOKE_OK;
  }
  return ok ? YOKE_OK : yoke_out_of_memory(ctx, "a model with %d positions and %d velocities", e->nq, e->nv);
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
  yoke_note(ctx, "%d constraint row%s from the others and the smallest reaction forces that fit are shown: %s%s",
            s->assembly.n_redundant, s->assembly.n_redundant > 1 ? "s follow" : " follows", text,
            strlen(text) >= 400 ? ", ..." : "");
}

/* The whole model at the present macro point; its rates are needed for samples inside a macro step only. */
static yoke_status set_point(yoke_simulation *s, bool with_rates, macro_point *point) {
  const yoke_equations *e = &s->equations;
  point->t                = yoke_cosimulation_t(s->cosimulation);
  yoke_cosimulation_gather(s->cosimulation, point->q, point->v);
  if (!with_rates) return YOKE_OK;
  return e->ops->derivative(e->self, s->work, point->t, point->q, point->v, NULL, point->qdot, point->a, s->lambda);
}

static yoke_status create(yoke_context *ctx, const yoke_model *model, const yoke_cosimulation_options *split,
                          yoke_simulation **out) {
  *out = NULL;
  YOKE_TRY(yoke_model_check_times(ctx, model));
  yoke_simulation *s = calloc(1, sizeof *s);
  if (s == NULL) return yoke_out_of_memory(ctx, "the simulation");
  s->model           = model;
  yoke_status status = compile(s, split != NULL, ctx);
  if (status == YOKE_OK) status = allocate(s, ctx);
  if (status == YOKE_OK) {
    if (s->mb != NULL) {
      status = yoke_assembly_solve(ctx, model, s->mb, &s->equations, s->work, model->t_start, s->q, s->v, &s->assembly);
      if (status == YOKE_OK) {
        report_redundancy(ctx, s);
        yoke_multibody_retire(s->mb, s->assembly.n_redundant, s->assembly.redundant);
      }
    } else {
      chain_start(model->bodies[0].chain, s->q, s->v);
    }
  }
  if (status == YOKE_OK) {
    status = yoke_outputs_create(ctx, model, s->mb, &s->equations, s->has_energy, model->output.n_select,
                                 model->output.select, &s->outputs);
  }
  if (status == YOKE_OK) {
    s->values = yoke_arena_take(&s->arena, (size_t)s->outputs.n, sizeof(double));
    status    = yoke_arena_check(&s->arena, ctx, "%d outputs", s->outputs.n);
  }
  if (status == YOKE_OK && split != NULL) {
    status = yoke_cosimulation_create(ctx, model, &s->equations, s->mb, split, &s->cosimulation);
    if (status == YOKE_OK) status = set_point(s, false, &s->to);
  } else if (status == YOKE_OK) {
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

yoke_status yoke_simulation_create(yoke_context *ctx, const yoke_model *model, yoke_simulation **out) {
  return create(ctx, model, NULL, out);
}

yoke_status yoke_simulation_create_split(yoke_context *ctx, const yoke_model *model,
                                         const yoke_cosimulation_options *options, yoke_simulation **out) {
  return create(ctx, model, options, out);
}

void yoke_simulation_destroy(yoke_simulation **simulation) {
  yoke_simulation *s = *simulation;
  if (s == NULL) return;
  yoke_cosimulation_destroy(&s->cosimulation);
  yoke_integrator_state_destroy(&s->state);
  yoke_integrator_state_destroy(&s->backup);
  yoke_integrator_scratch_destroy(&s->scratch);
  yoke_integrator_destroy(&s->integrator);
  yoke_outputs_clear(&s->outputs);
  yoke_assembly_clear(&s->assembly);
  if (s->equations.ops != NULL) yoke_equations_destroy(&s->equations);
  yoke_arena_free(&s->arena);
  free(s);
  *simulation = NULL;
}

/* --- samples ------------------------------------------------------------------------------------------------- */

/* Time reached. */
static double now(const yoke_simulation *s) {
  return s->cosimulation != NULL ? yoke_cosimulation_t(s->cosimulation) : s->state->t;
}

/* Cubic Hermite polynomial of values and rates at both ends of the macro step. */
static void hermite(const macro_point *from, const macro_point *to, double t, int n, const double *x0, const double *r0,
                    const double *x1, const double *r1, double *x) {
  const double H = to->t - from->t, s = (t - from->t) / H;
  const double h00 = (1 + 2 * s) * (1 - s) * (1 - s), h10 = s * (1 - s) * (1 - s), h01 = s * s * (3 - 2 * s),
               h11 = s * s * (s - 1);
  for (int i = 0; i < n; ++i) x[i] = h00 * x0[i] + h10 * H * r0[i] + h01 * x1[i] + h11 * H * r1[i];
}

/* q and v at t of the last step. */
static void interpolate(yoke_simulation *s, double t) {
  if (s->cosimulation == NULL) {
    yoke_integrator_interpolate(s->integrator, s->state, t, s->q, s->v);
    return;
  }
  hermite(&s->from, &s->to, t, s->equations.nq, s->from.q, s->from.qdot, s->to.q, s->to.qdot, s->q);
  hermite(&s->from, &s->to, t, s->equations.nv, s->from.v, s->from.a, s->to.v, s->to.a, s->v);
}

/* Fill s->sample at t of the last step. Between the ends of a step the interpolated state is brought onto the constraints. */
static yoke_status take_sample(yoke_simulation *s, double t, bool accelerations) {
  const yoke_equations     *e        = &s->equations;
  const yoke_equations_ops *ops      = e->ops;
  const bool                is_split = s->cosimulation != NULL;
  /* output times and macro points that are the same differ by rounding */
  if (t == now(s) || (is_split && fabs(t - now(s)) <= 1e-9 * yoke_cosimulation_H(s->cosimulation))) {
    if (is_split && s->to.t != now(s)) YOKE_TRY(set_point(s, false, &s->to));
    memcpy(s->q, is_split ? s->to.q : yoke_integrator_q(s->integrator, s->state), (size_t)e->nq * sizeof(double));
    memcpy(s->v, is_split ? s->to.v : yoke_integrator_v(s->integrator, s->state), (size_t)e->nv * sizeof(double));
  } else {
    interpolate(s, t);
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
    if (!isfinite(total)) s->summary.has_energy = false; /* its drift is not known; fmax would drop a NaN */
  }
  if (sink == NULL || sink->sample == NULL) return YOKE_OK;
  if (s->cosimulation != NULL) {
    yoke_counters counters;
    yoke_cosimulation_counters(s->cosimulation, &counters);
    return sink->sample(sink->user, t, s->values, &counters, yoke_cosimulation_H(s->cosimulation),
                        yoke_cosimulation_settings(s->cosimulation)->order);
  }
  return sink->sample(sink->user, t, s->values, &s->state->counters,
                      t - s->state->t_prev > 0.0 ? s->state->t - s->state->t_prev : s->state->h, s->state->order);
}

/* --- events -------------------------------------------------------------------------------------------------- */

static yoke_event_search search_of(const yoke_simulation *s) {
  return (yoke_event_search){.n         = s->equations.n_events,
                             .direction = s->event_direction,
                             .old       = s->event_old,
                             .dead      = s->event_dead,
                             .now       = s->event_new,
                             .before    = s->event_before,
                             .q         = s->q,
                             .v         = s->v,
                             .time      = s->event_time};
}

/* Values at the end of the last step become those at the beginning of the next (invariant 3). */
static void set_event_old(yoke_simulation *s) {
  const yoke_event_search search = search_of(s);
  yoke_event_search_begin(&search, s->integrator, s->state);
}

static void event_values(yoke_simulation *s) {
  yoke_integrator_interpolate(s->integrator, s->state, s->state->t, s->q, s->v);
  s->equations.ops->events(s->equations.self, s->state->t, s->q, s->v, s->event_new);
}

static void note_event(yoke_simulation *s, int k, double t, yoke_context *ctx) {
  ++s->summary.n_events;
  yoke_note(ctx, "event '%s' at t = %.17g s", s->model->events[k].name, t);
}

/* Of the crossings in a part of the last step, those that only record are noted. Returns the earliest other one, or -1. */
static int sort_found(yoke_simulation *s, yoke_context *ctx) {
  int    first  = -1;
  double action = (double)INFINITY;
  for (int k = 0; k < s->equations.n_events; ++k) {
    if (s->model->events[k].action == YOKE_EVENT_RECORD || !(s->event_time[k] < action)) continue;
    action = s->event_time[k];
    first  = k;
  }
  for (int k = 0; k < s->equations.n_events; ++k) {
    const bool is_found = isfinite(s->event_time[k]) && s->event_time[k] <= action;
    if (s->model->events[k].action == YOKE_EVENT_RECORD && is_found) note_event(s, k, s->event_time[k], ctx);
  }
  return first;
}

/* First event of the last step that sets or stops, or -1. event_old is then that of the beginning of its part. */
static int search_step(yoke_simulation *s, yoke_context *ctx) {
  const yoke_event_search search = search_of(s);
  yoke_event_part         part   = yoke_event_first_part(&search, s->integrator, s->state);
  int                     n      = 0;
  while (yoke_event_next_part(s->state, s->is_fresh, &part)) {
    const bool any = yoke_event_search_part(&search, s->integrator, s->state, &part);
    const int  k   = any ? sort_found(s, ctx) : -1;
    if (any && ++n == YOKE_EVENT_MANY && !s->has_many) {
      s->has_many = true;
      yoke_warn(ctx,
                "events happen more than %d times in the solver step from t = %.9g s to %.9g s: some may be missing; "
                "use a smaller solvers.default.max_step",
                YOKE_EVENT_MANY, s->state->t_prev, s->state->t);
    }
    if (k >= 0) return k;
    yoke_event_search_move(&search);
  }
  return -1;
}

/* Back to the beginning of the step and forward to event k, whose time is improved until the steps themselves agree. */
static yoke_status advance_to_event(yoke_simulation *s, int k, yoke_context *ctx) {
  const yoke_event_search search = search_of(s);
  const double            limit = s->state->t, start = s->backup->t;
  double                  t_event = s->event_time[k];
  for (int i = 0; i < MAX_REFINEMENTS; ++i) {
    yoke_integrator_copy(s->integrator, s->state, s->backup);
    YOKE_TRY(yoke_integrator_advance(s->integrator, s->scratch, s->state, &yoke_signal_none, t_event, ctx));
    const double t0 = s->state->t_prev, t1 = s->state->t;
    if (!(t1 > t0)) break;
    event_values(s);
    const bool   is_past = yoke_event_crosses(s->event_direction[k], s->event_old[k], s->event_new[k]);
    const double better  = is_past ? yoke_event_search_locate(&search, s->integrator, s->state, k, t0, t1)
                                   : yoke_event_search_secant(&search, s->integrator, s->state, k);
    if (!(better > start && better <= limit) || fabs(better - t_event) <= 1e-14 * fmax(fabs(t_event), limit - start))
      break;
    if (i + 1 < MAX_REFINEMENTS) t_event = better;
  }
  return YOKE_OK;
}

/* The energy that an event brings in or takes away is counted as work from outside, so that the
 * balance stays. s->q and s->v hold the new state. */
static void account_for_jump(yoke_simulation *s) {
  const yoke_equations     *e   = &s->equations;
  const yoke_equations_ops *ops = e->ops;
  yoke_energy               before, after;
  if (!s->has_energy || ops->energy == NULL) return;
  if (ops->normalise != NULL) ops->normalise(e->self, s->q);
  if (e->ng > 0 && ops->project_position(e->self, s->work, s->state->t, s->q) == YOKE_OK)
    (void)ops->project_velocity(e->self, s->work, s->state->t, s->q, s->v);
  ops->energy(e->self, s->work, s->state->t, yoke_integrator_q(s->integrator, s->state),
              yoke_integrator_v(s->integrator, s->state), &before);
  ops->energy(e->self, s->work, s->state->t, s->q, s->v, &after);
  s->q[yoke_multibody_external_at(s->mb)] += after.kinetic + after.potential - before.kinetic - before.potential;
}

/* s->q and s->v := the state that was reached. */
static void take_state(yoke_simulation *s) {
  if (s->cosimulation != NULL) {
    yoke_cosimulation_gather(s->cosimulation, s->q, s->v);
    return;
  }
  memcpy(s->q, yoke_integrator_q(s->integrator, s->state), (size_t)s->equations.nq * sizeof(double));
  memcpy(s->v, yoke_integrator_v(s->integrator, s->state), (size_t)s->equations.nv * sizeof(double));
}

/* s->q and s->v onto the joints of the whole model. */
static yoke_status project(yoke_simulation *s) {
  const yoke_equations *e = &s->equations;
  if (e->ng + e->n_norms == 0) return YOKE_OK;
  YOKE_TRY(e->ops->project_position(e->self, s->work, now(s), s->q));
  return e->ops->project_velocity(e->self, s->work, now(s), s->q, s->v);
}

/* Assign the event's values: all are read before any is written. */
static yoke_status apply_set(yoke_simulation *s, const yoke_event *event, yoke_context *ctx) {
  const size_t mark      = yoke_arena_mark(&s->arena);
  double      *variables = yoke_arena_take(&s->arena, (size_t)s->model->n_variables + 1, sizeof *variables);
  double      *values    = yoke_arena_take(&s->arena, (size_t)event->n_set, sizeof *values);
  yoke_status  status    = yoke_arena_check(&s->arena, ctx, "event '%s'", event->name);
  if (status == YOKE_OK) {
    take_state(s);
    variables[0] = now(s);
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
  if (status == YOKE_OK && s->cosimulation != NULL) {
    status = project(s);
    if (status == YOKE_OK) status = yoke_cosimulation_assign(s->cosimulation, s->q, s->v, ctx);
    s->to.t = (double)NAN; /* no longer the present state */
  } else if (status == YOKE_OK) {
    account_for_jump(s);
    status = yoke_integrator_reset(s->integrator, s->scratch, s->state, s->q, s->v, &yoke_signal_none, ctx);
  }
  yoke_arena_release(&s->arena, mark);
  return status;
}

/* Event k happens at t, the time the state has reached. */
static yoke_status act(yoke_simulation *s, int k, double t, bool *stop, yoke_context *ctx) {
  const yoke_event *event = &s->model->events[k];
  note_event(s, k, t, ctx);
  if (event->action == YOKE_EVENT_STOP) *stop = true;
  if (event->action != YOKE_EVENT_SET) return YOKE_OK;
  const double near   = s->cosimulation != NULL ? 4e-6 * yoke_cosimulation_H(s->cosimulation) : 0.0;
  const bool   again  = t - s->event_last[k] <= fmax(1e-9 * fmax(fabs(t), 1e-6), near);
  s->event_repeats[k] = again ? s->event_repeats[k] + 1 : 0;
  s->event_last[k]    = t;
  if (s->event_repeats[k] >= MAX_EVENTS_AT_ONE_TIME) {
    return yoke_fail(ctx, YOKE_E_STEP_TOO_SMALL,
                     "event '%s' happens again and again at t = %.9g s; let it end with an event that stops the run",
                     event->name, t);
  }
  return apply_set(s, event, ctx);
}

/* All events that happened at the time the state has reached, in the order of the file. */
static yoke_status fire(yoke_simulation *s, int first, bool *stop, yoke_context *ctx) {
  const double t = s->state->t;
  event_values(s);
  for (int k = 0; k < s->equations.n_events; ++k) { /* decide before the first one changes the state */
    const yoke_event *event = &s->model->events[k];
    const bool        known = event->action == YOKE_EVENT_RECORD && s->event_time[k] <= s->event_time[first];
    const bool        happens =
        k == first || (!known && yoke_event_crosses(event->direction, s->event_old[k], s->event_new[k]));
    s->event_time[k] = k != first && !happens ? (double)INFINITY : s->event_time[k];
    if (!happens) continue;
    s->event_time[k] = t;
    s->event_dead[k] = 2.0 * fabs(s->event_new[k]);
  }
  for (int k = 0; k < s->equations.n_events; ++k) {
    if (s->event_time[k] == t) YOKE_TRY(act(s, k, t, stop, ctx));
  }
  set_event_old(s);
  s->is_fresh = true;
  return YOKE_OK;
}

/* Events of the last macro step: those that only record where they were found, the others now. */
static yoke_status fire_split(yoke_simulation *s, bool *stop, yoke_context *ctx) {
  const yoke_macro_events *events = yoke_cosimulation_events(s->cosimulation);
  for (int i = 0; i < events->n; ++i) {
    if (s->model->events[events->found[i].event].action == YOKE_EVENT_RECORD)
      note_event(s, events->found[i].event, events->found[i].t, ctx);
  }
  for (int k = 0; k < s->model->n_events; ++k) {
    if (yoke_macro_events_acts(events, k)) YOKE_TRY(act(s, k, now(s), stop, ctx));
  }
  return YOKE_OK;
}

/* --- run ----------------------------------------------------------------------------------------------------- */

typedef struct run {
  const yoke_sink *sink;
  double           t_end;
  int64_t          n_samples; /* emitted; the next regular one is at t_start + n_samples every */
  bool             is_behind; /* interrupted before all samples of the last step were emitted */
} run;

/* Samples due in (t_prev, until]. */
static yoke_status emit_due(yoke_simulation *s, run *r, double until, yoke_context *ctx) {
  const double every = s->model->output.every;
  if (every <= 0.0) return emit(s, until, r->sink);
  for (;;) {
    const double t = s->model->t_start + (double)r->n_samples * every;
    if (t > until || t > r->t_end - 1e-9 * every) return YOKE_OK; /* the end has its own sample */
    r->is_behind = yoke_context_is_cancelled(ctx);
    if (r->is_behind) return YOKE_E_INTERRUPTED;
    YOKE_TRY(emit(s, t, r->sink));
    ++r->n_samples;
  }
}

/* One macro step of a split model. The whole model is put together only where a sample needs it. */
static yoke_status step_split(yoke_simulation *s, const run *r, yoke_context *ctx) {
  yoke_step_statistics statistics = {0};
  const double         every = s->model->output.every, t = now(s), H = yoke_cosimulation_H(s->cosimulation);
  const double         due    = s->model->t_start + (double)r->n_samples * every;
  const bool           inside = every > 0.0 && due < t + H * (1.0 - 1e-9); /* a controlled step is at most H */
  if (inside) YOKE_TRY(set_point(s, true, &s->from));
  YOKE_TRY(yoke_cosimulation_step(s->cosimulation, r->t_end, &statistics, ctx));
  if (inside) YOKE_TRY(set_point(s, true, &s->to));
  if (r->sink == NULL || r->sink->macro == NULL) return YOKE_OK;
  return r->sink->macro(r->sink->user, now(s), now(s) - t, statistics.degree, &statistics);
}

/* Where somebody looks into steps: everywhere for events, from the next sample on, or nowhere. */
static double look_from(const yoke_simulation *s, const run *r) {
  const double every = s->model->output.every;
  if (s->equations.n_events > 0) return -(double)INFINITY;
  return every > 0.0 ? s->model->t_start + (double)r->n_samples * every : (double)INFINITY;
}

/* One step and what happens in it. *stop is set by an event that ends the run. */
static yoke_status step_with_events(yoke_simulation *s, run *r, bool *stop, yoke_context *ctx) {
  const bool events = s->equations.n_events > 0;
  if (events) yoke_integrator_copy(s->integrator, s->backup, s->state);
  s->state->t_look = look_from(s, r);
  YOKE_TRY(yoke_integrator_step(s->integrator, s->scratch, s->state, &yoke_signal_none, r->t_end, ctx));
  if (!events) return emit_due(s, r, s->state->t, ctx);
  const int k = search_step(s, ctx);
  s->is_fresh = false;
  if (k < 0) return emit_due(s, r, s->state->t, ctx);
  if (s->integrator->ops->no_copy) {
    return yoke_fail(ctx, YOKE_E_UNSUPPORTED,
                     "event '%s' at t = %.9g s: solver '%s' cannot go back to it, use bdf, radau5 or an explicit one",
                     s->model->events[k].name, s->event_time[k], s->integrator->ops->name);
  }
  YOKE_TRY(advance_to_event(s, k, ctx));
  YOKE_TRY(emit_due(s, r, s->state->t, ctx));
  return fire(s, k, stop, ctx);
}

yoke_status yoke_simulation_run(yoke_simulation *s, double t_end, const yoke_sink *sink,
                                yoke_simulation_summary *summary, yoke_context *ctx) {
  s->summary            = (yoke_simulation_summary){.has_energy = s->has_energy};
  run         r         = {.sink = sink, .t_end = t_end, .n_samples = 1};
  bool        stop      = false;
  double      t_emitted = now(s);
  yoke_status status    = emit(s, now(s), sink);
  if (s->equations.n_events > 0) {
    for (int k = 0; k < s->equations.n_events; ++k) {
      s->event_dead[k] = 0.0;
      s->event_last[k] = -(double)INFINITY;
    }
    if (s->cosimulation == NULL) set_event_old(s);
    s->is_fresh = true;
  }
  while (status == YOKE_OK && !stop && now(s) < t_end) {
    if (s->cosimulation == NULL) {
      status = step_with_events(s, &r, &stop, ctx);
    } else {
      status = step_split(s, &r, ctx);
      if (status == YOKE_OK) status = emit_due(s, &r, now(s), ctx);
      if (status == YOKE_OK && s->model->n_events > 0) status = fire_split(s, &stop, ctx);
    }
    if (status == YOKE_OK && sink != NULL && sink->progress != NULL && !sink->progress(sink->user, now(s)))
      status = YOKE_E_INTERRUPTED;
    if (s->model->output.every <= 0.0) t_emitted = now(s);
  }
  if (status == YOKE_E_INTERRUPTED)
    (void)yoke_fail(ctx, status, "interrupted at t = %.9g s; what was sampled before is kept", now(s));
  if ((status == YOKE_OK || status == YOKE_E_INTERRUPTED) && t_emitted != now(s) && !r.is_behind) {
    const yoke_status last = emit(s, now(s), sink);
    if (status == YOKE_OK) status = last;
  }
  if (status == YOKE_NON_FINITE)
    status = yoke_fail(ctx, YOKE_E_UNSTABLE, "a value is not finite at t = %.9g s", now(s));
  if (status > 0) status = yoke_fail(ctx, YOKE_E_NOT_CONVERGED, "%s at t = %.9g s", yoke_status_text(status), now(s));
  s->summary.t = now(s);
  if (s->cosimulation == NULL) {
    s->summary.counters = s->state->counters;
    s->summary.method   = yoke_integrator_method_at_work(s->integrator, s->state);
  } else {
    yoke_cosimulation_counters(s->cosimulation, &s->summary.counters);
    s->summary.is_split = true;
    s->summary.macro    = yoke_cosimulation_totals(s->cosimulation);
    s->summary.method   = s->model->solver.kind;
  }
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
  const bool needs_energy  = s->outputs.needs_energy;
  s->outputs.needs_energy  = needs_energy || output.kind == YOKE_OUTPUT_ENERGY;
  const yoke_status status = take_sample(s, now(s), output.kind == YOKE_OUTPUT_A || output.kind == YOKE_OUTPUT_FORCE);
  s->outputs.needs_energy  = needs_energy;
  if (status != YOKE_OK)
    return yoke_fail(ctx, YOKE_E_UNSTABLE, "'%s' cannot be evaluated at t = %.9g s: %s", name, now(s),
                     yoke_status_text(status));
  *value = yoke_outputs_value(&s->outputs, &output, &s->sample, s->work);
  return isfinite(*value) ? YOKE_OK : yoke_fail(ctx, YOKE_E_UNSTABLE, "'%s' is not finite at t = %.9g s", name, now(s));
}

const yoke_cosimulation *yoke_simulation_cosimulation(const yoke_simulation *simulation) {
  return simulation->cosimulation;
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
