/* A model at work: life, time and steps of a simulation. */
#include "api/simulation.h"

#include "analysis/prediction.h"
#include "base/comm.h"
#include "base/given.h"
#include "base/sized.h"
#include "base/memory.h"
#include "control/control_settings.h"
#include "master/macro_settings.h"
#include "model/model_ferry.h"
#include "model/model_times.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the system tells ---- */

static bool report(yoke_simulation *s, double t) {
  const yoke_simulation_options *o = &s->options;
  s->t_reported                    = t;
  if (o->progress != NULL && !o->progress(o->progress_user, t, s->model->t_start, s->model->t_end))
    yoke_simulation_cancel(s);
  if (s->cancel.needs_agreement) return !atomic_load_explicit(&s->cancel.is_agreed, memory_order_relaxed);
  return !yoke_cancel_is_wanted(&s->cancel);
}

static bool go_on(void *user) {
  yoke_simulation *s = user;
  return report(s, s->t_reported);
}

static bool follow(void *user, double t) {
  return report(user, t);
}

/* A result that cannot be written ends the run of this rank, which the others have to learn. */
static yoke_status after_writing(const yoke_simulation *s, yoke_status status) {
  yoke_comm *comm = yoke_context_comm(s->ctx);
  if (comm != NULL && (status == YOKE_E_IO || status == YOKE_E_MEMORY))
    yoke_comm_leave(comm, status, yoke_status_text(status));
  return status;
}

static yoke_status take_sample(void *user, double t, const double *outputs, const yoke_counters *counters, double h,
                               int order) {
  yoke_simulation *s = user;
  s->t_sampled       = t;
  if (s->recorder == NULL) return YOKE_OK;
  return after_writing(s, yoke_recorder_sample(s->recorder, s->ctx, t, outputs, counters, h, order));
}

static yoke_status take_macro(void *user, double t, double H, int order, const yoke_step_statistics *statistics) {
  yoke_simulation *s             = user;
  const bool       is_controlled = s->run.plan->step.is_controlled;
  int64_t          rejected[YOKE_N_REJECTIONS];
  for (int i = 0; i < YOKE_N_REJECTIONS; ++i) rejected[i] = statistics->rejected[i];
  yoke_step_tally_add(&s->tally, H, order, is_controlled ? statistics->error : (double)NAN, rejected,
                      (int)statistics->reduced_by, statistics->is_forced);
  if (s->recorder == NULL) return YOKE_OK;
  return after_writing(s, yoke_recorder_macro(s->recorder, s->ctx, t, H, order, statistics));
}

static yoke_event_facts facts_of(const yoke_simulation *s, const simulation_event *event) {
  const yoke_plan_event *planned = &s->run.plan->events[event->event];
  return (yoke_event_facts){.size   = sizeof(yoke_event_facts),
                            .name   = planned->name,
                            .t      = event->t,
                            .effect = planned->stops  ? YOKE_EFFECT_END
                                      : planned->sets ? YOKE_EFFECT_SET
                                                      : YOKE_EFFECT_NONE};
}

static void take_event(void *user, int event, double t) {
  yoke_simulation       *s   = user;
  const simulation_event one = {event, t};
  if ((size_t)s->n_events < s->capacity) s->events[s->n_events++] = one;
  if (s->options.event == NULL) return;
  const yoke_event_facts facts = facts_of(s, &one);
  s->options.event(s->options.event_user, &facts);
}

yoke_sink simulation_sink(yoke_simulation *s) {
  return (yoke_sink){.user = s, .sample = take_sample, .progress = follow, .macro = take_macro, .event = take_event};
}

yoke_status simulation_check_idle(yoke_context *ctx, const yoke_simulation *s) {
  if (!s->is_at_work) return YOKE_OK;
  return yoke_fail(
      ctx, YOKE_E_USAGE,
      "the simulation is in the middle of a step: a function that it calls (progress, event, trace, one of "
      "a subsystem) may cancel it and nothing else; do the rest behind the call that steps");
}

void simulation_enter(yoke_context *ctx, yoke_simulation *s) {
  s->is_at_work = true;
  s->ctx        = ctx;
}

void simulation_leave(yoke_simulation *s) {
  s->is_at_work = false;
  s->ctx        = NULL;
}

/* A model with a split is simulated by all ranks, and they end it together. */
static void join(yoke_context *ctx, yoke_simulation *s) {
  yoke_comm *comm           = yoke_context_comm(ctx);
  s->cancel.needs_agreement = comm != NULL && s->model != NULL && s->model->n_parts > 0 && !s->options.monolithic &&
                              !yoke_macro_is_lockstep(s->model);
  if (s->cancel.needs_agreement) yoke_comm_watch(comm, &s->cancel);
}

/* Where the context is cancelled with the simulation. */
static void enter(yoke_context *ctx, yoke_simulation *s) {
  simulation_enter(ctx, s);
  yoke_context_watch(ctx, &s->cancel);
  join(ctx, s);
}

static void leave(yoke_context *ctx, yoke_simulation *s) {
  yoke_context_watch(ctx, NULL);
  if (s->cancel.needs_agreement) yoke_comm_watch(yoke_context_comm(ctx), NULL);
  simulation_leave(s);
}

/* ---- life ---- */

static yoke_status take_model(yoke_context *ctx, yoke_simulation *s, const yoke_model *model) {
  const yoke_load_options choices = {.size       = sizeof choices,
                                     .n_choices  = s->options.n_choices,
                                     .choices    = s->options.choices,
                                     .monolithic = s->options.monolithic};
  yoke_model             *own     = NULL;
  s->given                        = yoke_model_retain(model);
  const yoke_status status        = yoke_model_choose(ctx, model, &choices, &own);
  s->model                        = own;
  return status;
}

/* The events of a step: every subsystem remembers some, and every event may act once at its end. */
static yoke_status take_room(yoke_context *ctx, yoke_simulation *s) {
  const yoke_plan *plan = s->run.plan;
  s->capacity           = (size_t)plan->n_parts * YOKE_MAX_FOUND + 2 * (size_t)plan->n_events;
  s->events             = yoke_allocate(plan->n_events > 0 ? s->capacity : 1, sizeof *s->events);
  return s->events != NULL ? YOKE_OK : yoke_out_of_memory(ctx, "the events of the model");
}

/* Rank 0 predicts for all. */
static yoke_status predict(yoke_context *ctx, yoke_simulation *s) {
  if (s->options.monolithic || s->options.no_predict || yoke_macro_is_lockstep(s->model)) return YOKE_OK;
  return yoke_context_is_first(ctx) ? yoke_predict_stability(ctx, s->model, &s->growth) : YOKE_OK;
}

static bool is_given(const yoke_simulation *s, const char *key) {
  return yoke_settings_find(&s->model->cosimulation.given, yoke_control_rows.path, key) != NULL;
}

/* Do the steps follow the growth of errors? Who names an estimator wants that control as it was published. */
static bool obeys_growth(const yoke_simulation *s) {
  return !s->model->cosimulation.has_step && !is_given(s, "estimator");
}

/* Is it looked for? Where steps do not follow it, it is for the judgement of the run alone. */
static bool minds_growth(const yoke_simulation *s) {
  if (s->options.at_rest || (!s->model->cosimulation.has_step && is_given(s, "growth"))) return false;
  return obeys_growth(s) || !s->options.no_predict;
}

/* A model with joints was seen that does not get on with 1e-8. */
static double most_obeyed(const yoke_simulation *s, yoke_growth_cause cause) {
  static const double       least = 1e-7;
  yoke_control_settings     control;
  const yoke_setting_value *given = yoke_settings_find(&s->model->cosimulation.given, yoke_control_rows.path, "rtol");
  yoke_setting_start(&yoke_control_rows, &control);
  const double rtol = given != NULL ? given->number[0] : control.tolerances.rtol;
  return cause == YOKE_GROWTH_SPRINGS ? 0.1 * rtol / least : (double)INFINITY; /* yoke_growth_share: 1 / (10 growth) */
}

/* Rank 0 plans, and its plan knows. */
static yoke_status measure_growth(yoke_context *ctx, yoke_simulation *s) {
  const bool        is_split = s->model->n_parts > 0 && !s->options.monolithic && !yoke_macro_is_lockstep(s->model);
  yoke_growth_cause cause;
  if (!is_split || !minds_growth(s) || !yoke_context_is_first(ctx)) return YOKE_OK;
  YOKE_TRY(yoke_growth_find_cause(ctx, s->model, &cause));
  if (cause == YOKE_GROWTH_NONE) return YOKE_OK;
  YOKE_TRY(yoke_growth_measure(ctx, s->model, &s->motion));
  s->motion.factor = yoke_growth_of_steps(s->motion.factor, cause);
  if (!isnan(s->motion.factor) && obeys_growth(s)) s->obeyed = fmin(s->motion.factor, most_obeyed(s, cause));
  return YOKE_OK;
}

/* What rank 0 has predicted and measured: all ranks judge the run by it. Collective. */
static yoke_status share_growths(yoke_context *ctx, yoke_simulation *s) {
  yoke_comm *comm     = s->cancel.needs_agreement ? yoke_context_comm(ctx) : NULL;
  double     found[2] = {s->growth, s->motion.factor};
  size_t     size;
  if (comm == NULL) return YOKE_OK;
  YOKE_TRY(yoke_comm_exchange(comm, YOKE_COMM_SETUP, 1, found, sizeof found));
  const void *first = yoke_comm_block(comm, 0, &size);
  if (size == sizeof found) memcpy(found, first, size);
  s->growth        = found[0];
  s->motion.factor = found[1];
  return YOKE_OK;
}

/* From the assembled start, or from rest. */
static yoke_status start_system(yoke_context *ctx, yoke_simulation *s) {
  const double growth = s->obeyed;
  if (!s->options.at_rest) return yoke_run_system_create(ctx, &s->options, s->model, NULL, growth, &s->run);
  yoke_rest   rest;
  yoke_status status = yoke_rest_find(ctx, s->model, s->options.load_steps, &rest);
  if (status == YOKE_OK) status = yoke_run_system_create(ctx, &s->options, s->model, &rest, growth, &s->run);
  s->rest = rest.facts;
  yoke_rest_clear(&rest);
  return status;
}

/* All ranks simulate the same model. */
static yoke_status begin_together(yoke_context *ctx, const yoke_simulation *s) {
  char digest[YOKE_MODEL_DIGEST];
  yoke_model_digest(s->model, digest);
  return yoke_comm_begin(yoke_context_comm(ctx), digest, ctx);
}

static yoke_status build(yoke_context *ctx, yoke_simulation *s, const yoke_model *model) {
  YOKE_TRY(take_model(ctx, s, model));
  join(ctx, s);
  if (s->cancel.needs_agreement) YOKE_TRY(begin_together(ctx, s));
  YOKE_TRY(yoke_model_check_times(ctx, s->model));
  s->t_reported = s->model->t_start;
  YOKE_TRY(predict(ctx, s));
  YOKE_TRY(measure_growth(ctx, s));
  YOKE_TRY(share_growths(ctx, s));
  YOKE_TRY(start_system(ctx, s));
  YOKE_TRY(take_room(ctx, s));
  return yoke_reader_create(ctx, s->run.system, &s->reader);
}

/* What the options borrow is not looked at again. */
static void drop_borrowed(yoke_simulation_options *o) {
  o->exec         = NULL;
  o->choices      = NULL;
  o->quantities   = NULL;
  o->n_choices    = 0;
  o->n_quantities = 0;
}

yoke_status yoke_simulation_create(yoke_context *ctx, const yoke_model *model, const yoke_simulation_options *options,
                                   yoke_simulation **out) {
  yoke_simulation_options own;
  *out = NULL;
  YOKE_TRY(yoke_sized_take(ctx, options, &own, sizeof own, "yoke_simulation_options"));
  YOKE_TRY(yoke_given(ctx, model, "model"));
  YOKE_TRY(yoke_given_texts(ctx, own.n_quantities, own.quantities, "the name of a quantity"));
  if (own.load_steps < 0) return yoke_fail(ctx, YOKE_E_USAGE, "%d load steps, expected 0 or more", own.load_steps);
  yoke_simulation *s = yoke_allocate(1, sizeof *s);
  if (s == NULL) return yoke_out_of_memory(ctx, "the simulation");
  s->options      = own;
  s->cancel.flag  = own.interrupted;
  s->cancel.go_on = go_on;
  s->cancel.user  = s;
  s->t_sampled    = (double)NAN;
  s->growth       = (double)NAN;
  s->motion       = (yoke_growth){.factor = (double)NAN};
  yoke_step_tally_clear(&s->tally);
  enter(ctx, s);
  const yoke_status status = build(ctx, s, model);
  leave(ctx, s);
  drop_borrowed(&s->options);
  if (status == YOKE_OK)
    *out = s;
  else
    yoke_simulation_destroy(&s);
  if (status == YOKE_E_INTERRUPTED && yoke_context_n_errors(ctx) == 0)
    return yoke_fail(ctx, status, "interrupted while the model was set up");
  return status;
}

static void release_model(const yoke_model *model) {
  yoke_model *own = (yoke_model *)(uintptr_t)model; /* a share */
  yoke_model_destroy(&own);
}

void yoke_simulation_destroy(yoke_simulation **simulation) {
  if (simulation == NULL || *simulation == NULL) return;
  yoke_simulation *s = *simulation;
  if (s->recorder != NULL) (void)yoke_simulation_record_end(NULL, s);
  yoke_reader_destroy(&s->reader);
  yoke_run_system_clear(&s->run);
  yoke_names_clear(&s->names);
  yoke_arena_free(&s->texts);
  free(s->events);
  release_model(s->model);
  release_model(s->given);
  free(s);
  *simulation = NULL;
}

/* ---- time ---- */

double yoke_simulation_t(const yoke_simulation *s) {
  return yoke_system_t(s->run.system);
}

double yoke_simulation_t_start(const yoke_simulation *s) {
  return s->model->t_start;
}

double yoke_simulation_t_end(const yoke_simulation *s) {
  return s->model->t_end;
}

bool yoke_simulation_has_ended(const yoke_simulation *s) {
  return s->has_stopped || yoke_simulation_t(s) >= s->model->t_end;
}

/* ---- cancel ---- */

void yoke_simulation_cancel(yoke_simulation *s) {
  atomic_store_explicit(&s->cancel.is_stopped, true, memory_order_relaxed);
}

void yoke_simulation_clear_cancel(yoke_simulation *s) {
  atomic_store_explicit(&s->cancel.is_stopped, false, memory_order_relaxed);
  atomic_store_explicit(&s->cancel.is_agreed, false, memory_order_relaxed);
}

/* ---- steps ---- */

/* The start, once; a record that holds nothing yet begins with the present time. */
static yoke_status begin(yoke_context *ctx, yoke_simulation *s, const yoke_sink *sink) {
  YOKE_TRY(yoke_system_begin(s->run.system, sink, ctx));
  if (s->recorder == NULL || s->recorder->n_rows > 0 || yoke_system_is_unfinished(s->run.system)) return YOKE_OK;
  return yoke_system_sample(s->run.system, sink, ctx);
}

/* One step to t_stop at most; the end has a sample of its own. */
static yoke_status advance(yoke_context *ctx, yoke_simulation *s, const yoke_sink *sink, double t_stop) {
  bool stop = false;
  if (!yoke_system_is_unfinished(s->run.system)) s->n_events = 0;
  const yoke_status status = yoke_system_step(s->run.system, t_stop, sink, &s->statistics, &stop, ctx);
  yoke_reader_forget(s->reader);
  s->has_stopped = s->has_stopped || stop;
  if (status != YOKE_OK && status != YOKE_E_INTERRUPTED) return status;
  if (!yoke_simulation_has_ended(s) || yoke_system_is_unfinished(s->run.system) || !(s->run.plan->every > 0.0))
    return status;
  const yoke_status last = yoke_system_sample(s->run.system, sink, ctx);
  return status == YOKE_OK ? last : status;
}

/* Steps until t, or only one. */
static yoke_status work(yoke_context *ctx, yoke_simulation *s, double t, bool is_single) {
  const yoke_sink sink = simulation_sink(s);
  yoke_status     status;
  enter(ctx, s);
  status = begin(ctx, s, &sink);
  while (status == YOKE_OK && (yoke_simulation_t(s) < t || yoke_system_is_unfinished(s->run.system)) &&
         !s->has_stopped) {
    status = yoke_context_is_cancelled(ctx) ? yoke_system_interrupt(s->run.system, ctx) : advance(ctx, s, &sink, t);
    if (is_single) break;
  }
  leave(ctx, s);
  s->status = status;
  return status;
}

static void fill(const yoke_simulation *s, yoke_step_facts *out) {
  const yoke_step_statistics *from = &s->statistics;
  const yoke_plan_step       *step = &s->run.plan->step;
  yoke_step_facts             own  = {.t            = yoke_simulation_t(s),
                                      .H            = yoke_system_last_H(s->run.system),
                                      .order        = from->degree,
                                      .iterations   = from->iterations,
                                      .integrations = from->integrations,
                                      .converged    = step->is_free || from->converged,
                                      .residual     = from->residual,
                                      .error        = step->is_controlled ? from->error : (double)NAN,
                                      .n_events     = s->n_events,
                                      .has_ended    = yoke_simulation_has_ended(s)};
  if (step->is_free) {
    yoke_counters counters;
    yoke_system_counters(s->run.system, &counters);
    own.order      = counters.order;
    own.iterations = 0;
  }
  memcpy(own.residuals, from->residuals, sizeof own.residuals);
  for (int i = 0; i < YOKE_N_REJECTED; ++i) own.rejected[i] = from->rejected[i];
  yoke_sized_give(out, &own, sizeof own);
}

yoke_status yoke_simulation_step(yoke_context *ctx, yoke_simulation *s, yoke_step_facts *facts) {
  YOKE_TRY(simulation_check_idle(ctx, s));
  if (facts != NULL) YOKE_TRY(yoke_sized_check(ctx, facts, "yoke_step_facts"));
  if (yoke_simulation_has_ended(s) && !yoke_system_is_unfinished(s->run.system)) {
    return yoke_fail(
        ctx, YOKE_E_USAGE,
        "the simulation has ended at t = %.9g s%s; go back to a state that was saved, or create another one",
        yoke_simulation_t(s), s->has_stopped ? ", by an event" : "");
  }
  YOKE_TRY(work(ctx, s, s->model->t_end, true));
  if (facts != NULL) fill(s, facts);
  return YOKE_OK;
}

yoke_status yoke_simulation_run_to(yoke_context *ctx, yoke_simulation *s, double t) {
  const double now = yoke_simulation_t(s);
  YOKE_TRY(simulation_check_idle(ctx, s));
  if (!(t >= now && t <= s->model->t_end)) {
    return yoke_fail(
        ctx, YOKE_E_USAGE, "the simulation stands at t = %.9g s and ends at %.9g s: it cannot run to %.9g s%s", now,
        s->model->t_end, t, t < now ? "; go back to a state that was saved before" : "; choose a later t_end");
  }
  return work(ctx, s, t, false);
}

yoke_status yoke_simulation_event(yoke_context *ctx, const yoke_simulation *s, int i, yoke_event_facts *out) {
  YOKE_TRY(yoke_sized_check(ctx, out, "yoke_event_facts"));
  if (i < 0 || i >= s->n_events) {
    return yoke_fail(ctx, YOKE_E_USAGE, "there is no event number %d in the last step: it had %d, counted from 0", i,
                     s->n_events);
  }
  const yoke_event_facts own = facts_of(s, &s->events[i]);
  yoke_sized_give(out, &own, sizeof own);
  return YOKE_OK;
}
