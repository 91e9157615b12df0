#include "master/system_internal.h"

#include "base/cancel.h"
#include "subsystem/ranked.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- creation ---- */

/* Parts whose memory may lie together are read one after another in every macro step. */
static yoke_status make_subsystem(yoke_system *s, const yoke_plan_part *part, yoke_context *ctx, yoke_subsystem **out) {
  yoke_pool_open(part->is_pooled ? s->pool : NULL, ctx);
  const yoke_status status = part->make(ctx, part->definition, out);
  yoke_pool_close(s->pool, ctx);
  return status;
}

static int n_events_of(const yoke_plan *plan, int part) {
  int n = 0;
  for (int k = 0; k < plan->n_events; ++k) n += plan->events[k].part == part;
  return n;
}

/* The others of a rank are shadows of what lives elsewhere. */
static yoke_status rank_subsystem(yoke_system *s, int i, yoke_context *ctx) {
  const yoke_ranked_def def = {
      .name = s->plan->parts[i].name, .owner = s->owner[i], .n_events = n_events_of(s->plan, i)};
  return yoke_subsystem_ranked(ctx, s->relay, &def, s->subsystems[i], &s->subsystems[i]);
}

/* Parts are placed, and those of this rank made. */
static yoke_status make_subsystems(yoke_system *s, yoke_comm *comm, yoke_context *ctx) {
  const size_t n = (size_t)s->plan->n_parts + 1;
  s->subsystems  = yoke_arena_take(&s->arena, n, sizeof *s->subsystems);
  s->owner       = comm != NULL ? yoke_arena_take(&s->arena, n, sizeof *s->owner) : NULL;
  YOKE_TRY(yoke_arena_check(&s->arena, ctx, "the subsystems"));
  YOKE_TRY(yoke_pool_create(ctx, &s->pool));
  if (comm != NULL) {
    YOKE_TRY(yoke_relay_create(ctx, comm, &s->relay));
    yoke_plan_place(s->plan, yoke_comm_size(comm), s->owner);
  }
  for (int i = 0; i < s->plan->n_parts; ++i) {
    if (comm == NULL || s->owner[i] == yoke_comm_rank(comm))
      YOKE_TRY(make_subsystem(s, &s->plan->parts[i], ctx, &s->subsystems[i]));
  }
  return YOKE_OK;
}

static yoke_status create_subsystems(yoke_system *s, const yoke_system_options *options, yoke_context *ctx) {
  YOKE_TRY(make_subsystems(s, options->comm, ctx));
  for (int i = 0; i < s->plan->n_parts; ++i) {
    const yoke_plan_part *part = &s->plan->parts[i];
    if (s->relay != NULL) YOKE_TRY(rank_subsystem(s, i, ctx));
    if (options->forward != NULL && strcmp(options->forward, part->name) == 0)
      YOKE_TRY(yoke_subsystem_forward(ctx, s->subsystems[i], &s->subsystems[i]));
    if (options->log.write != NULL)
      YOKE_TRY(yoke_subsystem_traced(ctx, s->subsystems[i], options->log, &s->subsystems[i]));
    if (options->check) YOKE_TRY(yoke_subsystem_check(ctx, s->subsystems[i], &s->subsystems[i]));
  }
  return YOKE_OK;
}

/* Points of the plan's past, the newest first. */
static yoke_status add_past(yoke_system *s, yoke_context *ctx) {
  const size_t   mark = yoke_arena_mark(&s->arena);
  const double **list = yoke_arena_take(&s->arena, (size_t)s->plan->n_couplings + 1, sizeof *list);
  YOKE_TRY(yoke_arena_check(&s->arena, ctx, "an exact start"));
  for (int i = 0; i < s->plan->n_past; ++i) {
    const yoke_plan_point *point = &s->plan->past[i];
    const double          *u     = point->u;
    for (int k = 0; k < s->plan->n_couplings; ++k) {
      list[k] = s->plan->wires[k].joint != NULL ? u : NULL;
      if (list[k] != NULL) u += yoke_graph_n_channels(s->graph, k);
    }
    yoke_graph_add_past(s->graph, point->t, point->y, list);
  }
  yoke_arena_release(&s->arena, mark);
  return YOKE_OK;
}

/* Shortest step of the graded start as a share of H. A multiplier that holds a gap g = 0 over a step h carries the rounding
 * of positions divided by h^2, so joints do not bear steps as short as force elements do. */
static double graded_share(const yoke_plan *plan) {
  if (plan->scheme.start != YOKE_START_GRADED) return 0.0;
  for (int k = 0; k < plan->n_couplings; ++k) {
    if (plan->wires[k].joint != NULL) return 1.0 / 32.0;
  }
  return 1e-5;
}

static double end_at_event(void *user, double t_next, yoke_context *ctx) {
  return system_end_at_event(user, t_next, ctx);
}

static yoke_status create_control(yoke_system *s, yoke_context *ctx) {
  if (!s->plan->step.is_controlled) return YOKE_OK;
  YOKE_TRY(yoke_step_choose(ctx, s->plan, s->graph, &s->choice));
  YOKE_TRY(yoke_controller_create(ctx, s->graph, &s->choice.settings, &s->controller));
  if (s->plan->n_events > 0) yoke_controller_watch(s->controller, end_at_event, s);
  return YOKE_OK;
}

static yoke_status create_monitor(yoke_system *s, yoke_context *ctx) {
  if (s->plan->step.is_free || !s->plan->scheme.monitor) return YOKE_OK;
  YOKE_TRY(yoke_monitor_create(ctx, s->graph, &s->monitor));
  if (s->controller != NULL) yoke_controller_monitor(s->controller, s->monitor, s->plan->t_end);
  return YOKE_OK;
}

/* Parts that took the place of planned ones may not account for their energies. */
static bool accounts_for_all(const yoke_system *s) {
  for (int p = 0; p < s->plan->n_parts; ++p) {
    const yoke_subsystem_ops *ops = s->subsystems[p]->ops;
    int64_t                   handles[YOKE_N_ENERGIES];
    if (ops->energy == NULL || ops->observe == NULL) return false;
    ops->energy->handles(s->subsystems[p], handles);
    for (int k = 0; k < YOKE_N_ENERGIES; ++k) {
      if (handles[k] == YOKE_NO_HANDLE) return false;
    }
  }
  return yoke_plan_has_account(s->plan);
}

static yoke_status create_correction(yoke_system *s, const yoke_account_def *of, yoke_context *ctx) {
  const size_t          mark  = yoke_arena_mark(&s->arena);
  yoke_correction_rule *rules = yoke_arena_take(&s->arena, (size_t)s->plan->n_couplings + 1, sizeof *rules);
  YOKE_TRY(yoke_arena_check(&s->arena, ctx, "the correction of energies"));
  for (int w = 0; w < s->plan->n_couplings; ++w) {
    const yoke_plan_coupling *k = &s->plan->couplings[w];
    rules[w] = (yoke_correction_rule){k->is_signal ? YOKE_ENERGY_OPEN : k->settings.energy, k->settings.energy_cap};
  }
  const yoke_correction_def def = {
      .account = s->account, .of = of, .rules = rules, .first_number = s->plan->n_inputs + s->plan->n_constants};
  const yoke_status status = yoke_correction_create(ctx, &def, &s->correction);
  yoke_arena_release(&s->arena, mark);
  return status;
}

static yoke_status create_account(yoke_system *s, yoke_context *ctx) {
  const yoke_account_def def = {.graph      = s->graph,
                                .n_parts    = s->plan->n_parts,
                                .subsystems = s->subsystems,
                                .n_wires    = s->plan->n_couplings,
                                .wires      = s->plan->wires};
  if (!accounts_for_all(s)) return YOKE_OK;
  YOKE_TRY(yoke_account_create(ctx, &def, &s->account));
  return create_correction(s, &def, ctx);
}

/* Values of the plan's inputs and constants, and of corrections behind them, enter the subsystems. */
static yoke_status hold_inputs(yoke_system *s, yoke_context *ctx) {
  const yoke_plan       *plan      = s->plan;
  int                    n_entries = 0;
  const yoke_held_entry *entries   = s->correction != NULL ? yoke_correction_entries(s->correction, &n_entries) : NULL;
  const int              n_given   = plan->n_inputs + plan->n_constants;
  const int              n         = n_given + (s->correction != NULL ? yoke_correction_n_values(s->correction) : 0);
  const size_t           mark      = yoke_arena_mark(&s->arena);
  double                *values    = yoke_arena_take(&s->arena, (size_t)n, sizeof *values);
  yoke_held_entry       *all       = yoke_arena_take(&s->arena, (size_t)plan->n_held + (size_t)n_entries, sizeof *all);
  YOKE_TRY(yoke_arena_check(&s->arena, ctx, "%d inputs", n));
  for (int i = 0; i < n; ++i) values[i] = i < n_given ? plan->inputs[i].value : 0.0;
  for (int i = 0; i < plan->n_held; ++i) all[i] = plan->held[i];
  for (int i = 0; i < n_entries; ++i) all[plan->n_held + i] = entries[i];
  const yoke_status status = yoke_graph_hold(s->graph, n, values, plan->n_held + n_entries, all, ctx);
  yoke_arena_release(&s->arena, mark);
  return status;
}

static yoke_status build(yoke_system *s, const yoke_system_options *options, yoke_context *ctx) {
  const yoke_plan *plan = s->plan;
  int              n_tasks;
  YOKE_TRY(yoke_system_events_create(ctx, plan, &s->events));
  YOKE_TRY(create_subsystems(s, options, ctx));
  YOKE_TRY(system_helpers_create(s, options, &n_tasks, ctx));
  YOKE_TRY(
      yoke_exec_create(ctx, plan->step.is_free ? "serial" : options->exec, plan->step.is_free ? 1 : n_tasks, &s->exec));
  YOKE_TRY(yoke_graph_create(ctx, plan->n_parts, s->subsystems, plan->n_couplings, plan->wires, &plan->scheme, s->exec,
                             &s->graph));
  YOKE_TRY(yoke_ledger_create(ctx, plan->n_parts, options->profile, &s->ledger));
  yoke_graph_keep_ledger(s->graph, s->ledger);
  if (s->relay != NULL) YOKE_TRY(yoke_graph_spread(s->graph, s->relay, s->owner, ctx));
  YOKE_TRY(create_account(s, ctx));
  YOKE_TRY(hold_inputs(s, ctx));
  YOKE_TRY(create_control(s, ctx));
  YOKE_TRY(create_monitor(s, ctx));
  YOKE_TRY(yoke_context_go_on(ctx));
  YOKE_TRY(yoke_graph_start(s->graph, plan->t_start, ctx));
  YOKE_TRY(add_past(s, ctx));
  if (s->account != NULL) YOKE_TRY(yoke_account_start(s->account, ctx));
  s->grid             = yoke_macro_grid_make(plan->t_start, plan->step.H, graded_share(plan), &plan->switches);
  s->is_fresh         = true;
  s->summary          = (yoke_system_summary){.has_energy = plan->has_work};
  s->t_previous       = plan->t_start;
  s->t_crossed        = plan->t_start;
  s->watch.progress.t = plan->t_start;
  YOKE_TRY(system_loss_create(s, ctx));
  YOKE_TRY(yoke_context_go_on(ctx));
  return system_samples_create(s, ctx);
}

yoke_status yoke_system_create(yoke_context *ctx, const yoke_plan *plan, const yoke_system_options *options,
                               yoke_system **out) {
  static const yoke_system_options standard = {0};
  *out                                      = NULL;
  yoke_system *s                            = yoke_allocate(1, sizeof *s);
  if (s == NULL) return yoke_out_of_memory(ctx, "the system");
  s->arena = yoke_arena_of(ctx);
  if (options == NULL) options = &standard;
  s->plan                  = plan;
  s->log                   = options->log;
  const yoke_status status = build(s, options, ctx);
  if (status == YOKE_OK)
    *out = s;
  else
    yoke_system_destroy(&s);
  return status;
}

void yoke_system_destroy(yoke_system **system) {
  yoke_system *s = *system;
  if (s == NULL) return;
  system_samples_clear(s);
  yoke_controller_destroy(&s->controller);
  yoke_monitor_destroy(&s->monitor);
  yoke_correction_destroy(&s->correction);
  yoke_account_destroy(&s->account);
  if (s->graph != NULL) yoke_graph_destroy(&s->graph);
  for (int i = 0; s->subsystems != NULL && i < s->plan->n_parts; ++i) yoke_subsystem_destroy(&s->subsystems[i]);
  yoke_pool_destroy(&s->pool);
  system_helpers_clear(s);
  yoke_exec_destroy(&s->exec);
  yoke_ledger_destroy(&s->ledger);
  yoke_relay_destroy(&s->relay);
  yoke_pack_free(&s->agreed);
  yoke_system_events_clear(&s->events);
  yoke_arena_free(&s->loss.scratch);
  yoke_arena_free(&s->arena);
  free(s);
  *system = NULL;
}

/* ---- events ---- */

static void note_event(yoke_system *s, int k, double t, const yoke_sink *sink, yoke_context *ctx) {
  ++s->summary.n_events;
  if (!s->plan->events[k].is_quiet) yoke_note(ctx, "event '%s' at t = %.17g s", s->plan->events[k].name, t);
  if (sink != NULL && sink->event != NULL) sink->event(sink->user, k, t);
}

/* Event k happens at the present time. */
static yoke_status act(yoke_system *s, int k, const yoke_sink *sink, bool *stop, bool *sets, yoke_context *ctx) {
  const yoke_plan_event *event = &s->plan->events[k];
  const double           t     = yoke_graph_t(s->graph);
  note_event(s, k, t, sink, ctx);
  if (event->stops) *stop = true;
  if (!event->sets) return YOKE_OK;
  YOKE_TRY(yoke_system_events_count(&s->events, k, t, s->plan->step.is_free ? 0.0 : 4e-6 * yoke_system_H(s), ctx));
  *sets = true;
  return yoke_graph_act(s->graph, event->part, event->own, ctx);
}

yoke_status system_restart(yoke_system *s, yoke_context *ctx) {
  if (s->monitor != NULL) yoke_monitor_restart(s->monitor);
  const yoke_status status = yoke_graph_restart(s->graph, ctx);
  if (status == YOKE_OK || status == YOKE_E_MEMORY) return status;
  return yoke_fail(ctx, status > 0 ? YOKE_E_UNSTABLE : status, "the couplings cannot begin anew at t = %.9g s",
                   yoke_graph_t(s->graph));
}

/* States or inputs have jumped at the present time. */
static yoke_status begin_anew(yoke_system *s, yoke_context *ctx) {
  if (s->controller != NULL) yoke_controller_restart(s->controller, yoke_controller_H(s->controller));
  s->is_fresh = true;
  YOKE_TRY(system_restart(s, ctx));
  return s->account != NULL ? yoke_account_end_jump(s->account, ctx) : YOKE_OK;
}

static yoke_status refuse_broken(const yoke_system *s, yoke_context *ctx) {
  return yoke_fail(ctx, YOKE_E_UNSUPPORTED,
                   "what happened at t = %.9g s failed half-way: the run cannot go on from there; go back to a state "
                   "that was saved before",
                   yoke_graph_t(s->graph));
}

/* Does an event of the last step set states? */
static bool sets_any(const yoke_system *s) {
  for (int k = 0; k < s->plan->n_events; ++k) {
    if (s->plan->events[k].sets && yoke_system_events_acts(&s->events, k)) return true;
  }
  return false;
}

/* Events of the last step: those that only record where they were found, the others now, in the order of the file. */
static yoke_status fire(yoke_system *s, const yoke_sink *sink, bool *stop, yoke_context *ctx) {
  const yoke_system_events *events = &s->events;
  bool                      sets   = false;
  for (int i = 0; i < events->n; ++i) {
    const yoke_plan_event *event = &s->plan->events[events->found[i].event];
    if (!event->sets && !event->stops) note_event(s, events->found[i].event, events->found[i].t, sink, ctx);
  }
  if (s->account != NULL && sets_any(s)) YOKE_TRY(yoke_account_begin_jump(s->account, ctx));
  for (int k = 0; k < s->plan->n_events; ++k) {
    if (yoke_system_events_acts(events, k)) YOKE_TRY(act(s, k, sink, stop, &sets, ctx));
  }
  if (!sets) return YOKE_OK;
  YOKE_TRY(yoke_graph_reset_joints(s->graph, ctx));
  YOKE_TRY(begin_anew(s, ctx));
  yoke_graph_begin_events(s->graph);
  return YOKE_OK;
}

/* ---- inputs ---- */

static yoke_status check_inputs(const yoke_system *s, int n, const int *inputs, const double *values,
                                yoke_context *ctx) {
  for (int i = 0; i < n; ++i) {
    if (inputs[i] < 0 || inputs[i] >= s->plan->n_inputs)
      return yoke_fail(ctx, YOKE_E_USAGE, "there is no input number %d: the model has %d, counted from 0", inputs[i],
                       s->plan->n_inputs);
    if (!isfinite(values[i]))
      return yoke_fail(ctx, YOKE_E_USAGE, "input '%s' cannot be %g: a finite number is needed",
                       s->plan->inputs[inputs[i]].name, values[i]);
  }
  if (s->is_unfinished)
    return yoke_fail(ctx, YOKE_E_UNSUPPORTED,
                     "the step that ended at t = %.9g s was interrupted before its samples and events were dealt with: "
                     "inputs cannot be set there",
                     yoke_graph_t(s->graph));
  return s->is_broken ? refuse_broken(s, ctx) : YOKE_OK;
}

yoke_status yoke_system_set_inputs(yoke_system *s, int n, const int *inputs, const double *values, yoke_context *ctx) {
  bool changes = false;
  YOKE_TRY(check_inputs(s, n, inputs, values, ctx));
  if (s->account != NULL) YOKE_TRY(yoke_account_begin_jump(s->account, ctx));
  for (int i = 0; i < n; ++i) {
    changes = changes || yoke_graph_held(s->graph, inputs[i]) != values[i];
    yoke_graph_set_held(s->graph, inputs[i], values[i]);
  }
  if (!changes) return YOKE_OK;
  ++s->n_sets;
  const yoke_status status = begin_anew(s, ctx);
  s->is_broken             = status != YOKE_OK;
  return status;
}

double yoke_system_input(const yoke_system *s, int input) {
  return yoke_graph_held(s->graph, input);
}

/* ---- run ---- */

/* What a status inside a run means to the caller. */
static yoke_status conclude(const yoke_system *s, yoke_status status, yoke_context *ctx) {
  const double t = yoke_graph_t(s->graph);
  if (status == YOKE_E_INTERRUPTED)
    return yoke_fail(ctx, status, "interrupted at t = %.9g s; what was sampled before is kept", t);
  if (status == YOKE_E_MEMORY) return yoke_out_of_memory(ctx, "the run at t = %.9g s", t);
  if (status == YOKE_NON_FINITE) {
    double      t_seen;
    const char *culprit = yoke_observer_take_culprit(s->samples.observer, &t_seen);
    if (culprit == NULL) return yoke_fail(ctx, YOKE_E_UNSTABLE, "a value is not finite at t = %.9g s", t);
    return yoke_fail(ctx, YOKE_E_UNSTABLE, "output '%s' is not finite at t = %.9g s", culprit, t_seen);
  }
  if (status > 0) return yoke_fail(ctx, YOKE_E_NOT_CONVERGED, "%s at t = %.9g s", yoke_status_text(status), t);
  return status;
}

/* One accepted step without its samples and events. */
static yoke_status take_step(yoke_system *s, double t_stop, double t_end, const yoke_sink *sink,
                             yoke_step_statistics *statistics, yoke_context *ctx) {
  const double t = yoke_graph_t(s->graph);
  *statistics    = (yoke_step_statistics){0};
  YOKE_TRY(system_agree(s, ctx));
  YOKE_TRY(system_plan_samples(s, t_end, ctx));
  yoke_status status = system_advance(s, t_stop, statistics, ctx);
  s->is_unfinished   = yoke_graph_t(s->graph) != t;
  YOKE_TRY(status);
  if (sink == NULL || sink->macro == NULL || s->plan->step.is_free) return YOKE_OK;
  yoke_ledger_begin_output(s->ledger);
  status = sink->macro(sink->user, yoke_graph_t(s->graph), yoke_graph_t(s->graph) - t, statistics->degree, statistics);
  yoke_ledger_end_output(s->ledger);
  return status;
}

/* One step to t_stop at most, its samples and its events, in a run that ends at t_end, or what an interrupted step left to be done. */
static yoke_status step_with(yoke_system *s, double t_stop, double t_end, const yoke_sink *sink,
                             yoke_step_statistics *statistics, bool *stop, yoke_context *ctx) {
  if (s->is_broken) return refuse_broken(s, ctx);
  s->samples.is_behind = false;
  if (!s->is_unfinished) YOKE_TRY(take_step(s, t_stop, t_end, sink, statistics, ctx));
  YOKE_TRY(system_emit_due(s, t_end, sink, ctx));
  s->is_broken = true;
  if (s->plan->n_events > 0) YOKE_TRY(fire(s, sink, stop, ctx));
  if (!*stop && yoke_graph_t(s->graph) < t_end) YOKE_TRY(system_cross_jump(s, ctx));
  s->is_broken     = false;
  s->is_unfinished = false;
  if (sink == NULL || sink->progress == NULL || sink->progress(sink->user, yoke_graph_t(s->graph))) return YOKE_OK;
  return YOKE_E_INTERRUPTED;
}

yoke_status yoke_system_begin(yoke_system *s, const yoke_sink *sink, yoke_context *ctx) {
  if (s->has_begun) return YOKE_OK;
  s->has_begun = true;
  return yoke_system_sample(s, sink, ctx);
}

yoke_status yoke_system_step(yoke_system *s, double t_stop, const yoke_sink *sink, yoke_step_statistics *statistics,
                             bool *stop, yoke_context *ctx) {
  *stop = false;
  return conclude(s, step_with(s, t_stop, fmax(t_stop, s->plan->t_end), sink, statistics, stop, ctx), ctx);
}

yoke_status yoke_system_interrupt(const yoke_system *s, yoke_context *ctx) {
  return conclude(s, YOKE_E_INTERRUPTED, ctx);
}

yoke_status yoke_system_sample(yoke_system *s, const yoke_sink *sink, yoke_context *ctx) {
  return conclude(s, system_emit_now(s, sink), ctx);
}

void yoke_system_summarise(yoke_system *s, yoke_system_summary *summary) {
  s->summary.t = yoke_graph_t(s->graph);
  yoke_system_counters(s, &s->summary.counters);
  s->summary.has_macro_steps = !s->plan->step.is_free;
  s->summary.macro           = s->totals;
  s->summary.method          = s->plan->step.is_free ? s->summary.counters.method : s->plan->solver;
  *summary                   = s->summary;
}

yoke_status yoke_system_run(yoke_system *s, double t_end, const yoke_sink *sink, yoke_system_summary *summary,
                            yoke_context *ctx) {
  const double         t_begin    = yoke_graph_t(s->graph);
  bool                 stop       = false;
  yoke_step_statistics statistics = {0};
  yoke_status          status     = yoke_system_begin(s, sink, ctx);
  while (status == YOKE_OK && !stop && yoke_graph_t(s->graph) < t_end)
    status = conclude(s, step_with(s, t_end, t_end, sink, &statistics, &stop, ctx), ctx);
  const bool is_sampled = s->plan->every <= 0.0 || yoke_graph_t(s->graph) == t_begin;
  if (status == YOKE_OK && !is_sampled) {
    status = yoke_system_sample(s, sink, ctx);
    system_pass_due(s); /* a run that goes on has had the regular sample of this time */
  }
  if (status == YOKE_E_INTERRUPTED && !is_sampled && !s->samples.is_behind) (void)system_emit_now(s, sink);
  if (summary != NULL) yoke_system_summarise(s, summary);
  return status;
}

/* ---- questions ---- */

double yoke_system_t(const yoke_system *system) {
  return yoke_graph_t(system->graph);
}

double yoke_system_last_H(const yoke_system *system) {
  return yoke_graph_t(system->graph) - system->t_previous;
}

bool yoke_system_is_unfinished(const yoke_system *system) {
  return system->is_unfinished;
}

double yoke_system_H(const yoke_system *system) {
  if (system->plan->step.is_free) return yoke_system_last_H(system);
  return system->controller != NULL ? yoke_controller_H(system->controller) : system->plan->step.H;
}

const yoke_step_choice *yoke_system_choice(const yoke_system *system) {
  return system->controller != NULL ? &system->choice : NULL;
}

void yoke_system_part_counters(const yoke_system *s, int part, yoke_counters *out) {
  yoke_subsystem_counters(s->subsystems[part], yoke_graph_state(s->graph, part), out);
}

void yoke_system_counters(const yoke_system *s, yoke_counters *out) {
  *out = (yoke_counters){0};
  for (int i = 0; i < s->plan->n_parts; ++i) {
    yoke_counters one;
    yoke_system_part_counters(s, i, &one);
    out->steps += one.steps;
    out->rejected += one.rejected;
    out->evaluations += one.evaluations;
    out->jacobians += one.jacobians;
    out->factorings += one.factorings;
    out->iterations += one.iterations;
    out->h      = one.h; /* of the last subsystem */
    out->order  = one.order;
    out->method = one.method;
  }
}

const yoke_ledger *yoke_system_ledger(const yoke_system *system) {
  return system->ledger;
}

static void scale(yoke_part_times *part, double factor) {
  part->solver *= factor;
  part->save *= factor;
  part->exchange *= factor;
  part->idle *= factor;
}

/* They travel in seconds of the run, whatever each rank has timed. Ranks that do not work together any more learn it from what they do next. */
void yoke_system_share_times(yoke_system *s, double factor) {
  if (s->relay == NULL) return;
  const int        n     = s->plan->n_parts;
  yoke_part_times *parts = s->ledger->parts;
  for (int i = 0; i < n; ++i) scale(&parts[i], factor);
  yoke_relay_share(s->relay, s->owner, n, sizeof *parts, parts);
  for (int i = 0; i < n; ++i) scale(&parts[i], factor > 0.0 ? 1.0 / factor : 0.0);
}

yoke_exec_use yoke_system_exec_use(const yoke_system *system) {
  return yoke_exec_used(system->exec);
}

int yoke_system_n_workers(const yoke_system *system) {
  return yoke_exec_n_workers(system->exec);
}

const yoke_plan *yoke_system_plan(const yoke_system *system) {
  return system->plan;
}

const yoke_subsystem *yoke_system_subsystem(const yoke_system *system, int part) {
  return system->subsystems[part];
}

const yoke_controller *yoke_system_controller(const yoke_system *system) {
  return system->controller;
}

const yoke_monitor *yoke_system_monitor(const yoke_system *system) {
  return system->monitor;
}

const yoke_graph *yoke_system_graph(const yoke_system *system) {
  return system->graph;
}

const yoke_account *yoke_system_account(const yoke_system *system) {
  return system->account;
}
