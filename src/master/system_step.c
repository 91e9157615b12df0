/* One accepted step of a system: macro steps on a grid or under control, or one micro step of a system that steps freely. */
#include "master/system_internal.h"

#include <math.h>

/* Motions are judged by the length of the model and the step that left them, forces by the largest of the run: they may pass
 * through zero. */
static void add_residual(yoke_residual_total *total, yoke_residual_kind kind, const yoke_step_statistics *statistics) {
  const double value = statistics->residuals[kind], size = statistics->sizes[kind];
  const bool   is_force = kind == YOKE_RESIDUAL_FORCE || kind == YOKE_RESIDUAL_MOMENT;
  total->largest        = fmax(total->largest, value);
  total->size           = fmax(total->size, size);
  if (is_force)
    total->share = total->size > 0.0 ? total->largest / total->size : 0.0;
  else
    total->share = fmax(total->share, size > 0.0 ? value / size : 0.0);
}

static void count_step(yoke_system *s, double H, bool is_accepted, const yoke_step_statistics *statistics) {
  yoke_macro_totals *totals = &s->totals;
  totals->integrations += statistics->integrations;
  totals->iterations += statistics->iterations;
  totals->matrices += statistics->matrices;
  totals->evaluations += statistics->evaluations;
  totals->jacobians += statistics->jacobians;
  for (int i = 0; i < YOKE_N_REJECTIONS; ++i) {
    totals->rejected += statistics->rejected[i];
    totals->rejected_by[i] += statistics->rejected[i];
  }
  if (!is_accepted) return;
  totals->smallest = totals->steps == 0 ? H : fmin(totals->smallest, H);
  totals->largest  = fmax(totals->largest, H);
  ++totals->steps;
  ++totals->degrees[statistics->degree];
  if (statistics->reduced_by != YOKE_NOT_REDUCED) ++totals->reduced_by[statistics->reduced_by];
  totals->kept += statistics->has_kept ? 1 : 0;
  totals->rate = fmax(totals->rate, statistics->rate); /* ignores NaN */
  totals->forced += statistics->is_forced ? 1 : 0;
  totals->unconverged += statistics->converged ? 0 : 1;
  totals->residual = fmax(totals->residual, statistics->residual);
  for (int k = 0; k < YOKE_N_RESIDUALS; ++k) add_residual(&totals->residuals[k], (yoke_residual_kind)k, statistics);
}

/* A step was accepted whose end was chosen as `kind` (`is_short`: before the planned one): events happen there. */
static yoke_status finish_step(yoke_system *s, yoke_point_kind kind, bool is_short, yoke_step_statistics *statistics,
                               yoke_context *ctx) {
  if (statistics->reduced_by == YOKE_NOT_REDUCED && kind != YOKE_POINT_GRID && is_short)
    statistics->reduced_by = kind == YOKE_POINT_SWITCH ? YOKE_REDUCED_BY_SWITCH : YOKE_REDUCED_BY_END;
  YOKE_TRY(yoke_system_events_accept(&s->events, s->graph, ctx));
  if (kind != YOKE_POINT_SWITCH) return YOKE_OK;
  /* estimators that compare extrapolated inputs do not see what the load will do: short steps again */
  if (s->controller != NULL) yoke_controller_restart(s->controller, yoke_controller_H(s->controller));
  return YOKE_OK;
}

/* In a system that steps freely the solver does all this. */
yoke_status system_cross_jump(yoke_system *s, yoke_context *ctx) {
  const double t = yoke_graph_t(s->graph);
  bool         is_kicked;
  if (s->plan->step.is_free || s->t_crossed == t || !yoke_switches_jump_at(&s->plan->switches, t)) return YOKE_OK;
  if (s->account != NULL) YOKE_TRY(yoke_account_begin_jump(s->account, ctx));
  YOKE_TRY(yoke_graph_kick(s->graph, &is_kicked, ctx));
  if (is_kicked || !s->is_fresh) YOKE_TRY(system_restart(s, ctx));
  if (is_kicked && s->account != NULL) YOKE_TRY(yoke_account_end_jump(s->account, ctx));
  s->t_crossed = t;
  return YOKE_OK;
}

static yoke_status step_controlled(yoke_system *s, double t_end, yoke_step_statistics *statistics, yoke_context *ctx) {
  const double    t = yoke_graph_t(s->graph);
  yoke_point_kind kind;
  const double    H      = yoke_controller_H(s->controller);
  const double    t_stop = yoke_macro_grid_limit(&s->plan->switches, t, H, t_end, &kind);
  yoke_system_events_begin(&s->events);
  yoke_status status = yoke_controller_step(s->controller, t_stop, statistics, ctx);
  if (status == YOKE_OK) {
    if (yoke_graph_t(s->graph) < t_stop) kind = YOKE_POINT_GRID;
    status = finish_step(s, kind, t_stop - t < (1.0 - 1e-6) * H, statistics, ctx);
  }
  count_step(s, yoke_graph_t(s->graph) - t, status == YOKE_OK, statistics);
  return status;
}

double system_end_at_event(yoke_system *s, double t_next, yoke_context *ctx) {
  return yoke_system_events_end(&s->events, s->graph, t_next, ctx);
}

/* Trials to a point of the grid, or to an event before it. */
static yoke_status try_to(yoke_system *s, double *t_next, yoke_step_statistics *statistics, yoke_context *ctx) {
  yoke_step_statistics total = {.reduced_by = YOKE_NOT_REDUCED};
  yoke_system_events_begin(&s->events);
  for (;;) {
    const yoke_status status = yoke_graph_try(s->graph, *t_next, statistics, ctx);
    *t_next                  = yoke_graph_trial_end(s->graph);
    yoke_step_add_work(statistics, &total);
    statistics->reduced_by                      = total.reduced_by;
    statistics->rejected[YOKE_REDUCED_BY_EVENT] = total.rejected[YOKE_REDUCED_BY_EVENT];
    if (status != YOKE_OK || s->plan->n_events == 0) return status;
    const double end = system_end_at_event(s, *t_next, ctx);
    if (s->events.is_stuck) return YOKE_E_UNSUPPORTED;
    if (!(end < *t_next || (end > *t_next && isfinite(end)))) return YOKE_OK;
    *t_next          = end;
    total            = *statistics;
    total.reduced_by = YOKE_REDUCED_BY_EVENT;
    ++total.rejected[YOKE_REDUCED_BY_EVENT];
  }
}

/* A joint came open. More corrections help where they were limited, another start where motions are held over the first step. */
static yoke_status explain_gap(const yoke_system *s, double t, double H, yoke_context *ctx) {
  const yoke_scheme_settings *scheme = yoke_graph_settings(s->graph);
  const yoke_scheme_traits   *traits = yoke_graph_traits(s->graph);
  char                        joint[300];
  const char                 *remedy = "";
  if (traits->corrects_once)
    remedy = scheme->corrections > 0 ? "more cosimulation.corrections, or leave them out, or "
                                     : "scheme implicit where gaps grew over many steps, or ";
  if (traits->extrapolates_only && t <= s->plan->t_start && scheme->start != YOKE_START_EXACT)
    remedy = "cosimulation.start exact, without which motions are held over the first step, or ";
  for (int k = 0; k < s->plan->n_couplings; ++k) {
    if (s->plan->wires[k].carries_one_end)
      remedy = "formulation projection, order 0, a solver of higher order than 1, or ";
  }
  yoke_graph_open_joint(s->graph, joint, sizeof joint);
  return yoke_fail(ctx, YOKE_E_UNSTABLE,
                   "behind the macro step of %.6g s from t = %.9g s %s; use %sa smaller cosimulation.step (try %.2g s) "
                   "(cosimulation.joint_tolerance sets the limit)",
                   H, t, joint, remedy, 0.25 * H);
}

/* The end of a run whose fixed step H from t failed. */
static yoke_status explain(const yoke_system *s, double t, double H, yoke_status status,
                           const yoke_step_statistics *statistics, yoke_context *ctx) {
  const bool                is_short = statistics->iterations >= yoke_graph_settings(s->graph)->max_iterations;
  const yoke_scheme_traits *traits   = yoke_graph_traits(s->graph);
  char                      who[400];
  if (status < 0) return status;
  if (status == YOKE_JOINT_OPEN) return explain_gap(s, t, H, ctx);
  yoke_graph_unsettled(s->graph, who, sizeof who);
  if (status == YOKE_NON_FINITE) {
    return yoke_fail(ctx, YOKE_E_UNSTABLE,
                     "%sthe macro step of %.6g s from t = %.9g s gives values that are not finite; use a smaller step "
                     "(try %.2g s)%s",
                     who, H, t, 0.25 * H,
                     traits->extrapolates_only       ? ", or scheme semi-implicit or implicit"
                     : traits->corrects_to_tolerance ? ""
                                                     : ", or scheme implicit");
  }
  return yoke_fail(ctx, YOKE_E_NOT_CONVERGED,
                   "%sthe macro step of %.6g s from t = %.9g s failed: %s after %d passes; use a smaller step (try "
                   "%.2g s)%s",
                   who, H, t, yoke_status_text(status), statistics->iterations, 0.25 * H,
                   is_short ? ", or more passes (cosimulation.corrector.max_iterations)" : " or another formulation");
}

static yoke_status step_fixed(yoke_system *s, double t_end, yoke_step_statistics *statistics, yoke_context *ctx) {
  const double    t = yoke_graph_t(s->graph);
  yoke_point_kind kind;
  double          t_next = yoke_macro_grid_next(&s->grid, t, t_end, &kind);
  const double    t_grid = t_next;
  yoke_status     status = try_to(s, &t_next, statistics, ctx);
  if (status == YOKE_OK && s->monitor != NULL) status = yoke_monitor_look(s->monitor, NULL, statistics);
  if (status == YOKE_OK) status = yoke_graph_accept(s->graph, ctx);
  if (status == YOKE_OK) {
    yoke_macro_grid_accept(&s->grid, t_next);
    status = finish_step(s, t_next < t_grid ? YOKE_POINT_GRID : kind, t_next - t < (1.0 - 1e-6) * s->plan->step.H,
                         statistics, ctx);
  }
  count_step(s, t_next - t, status == YOKE_OK, statistics);
  if (status == YOKE_OK) return YOKE_OK;
  ++s->totals.rejected;
  return explain(s, t, t_next - t, status, statistics, ctx);
}

/* One micro step of the only subsystem, which knows the switches of its loads itself. */
static yoke_status step_freely(yoke_system *s, double t_end, yoke_step_statistics *statistics, yoke_context *ctx) {
  double t_next = t_end;
  YOKE_TRY(try_to(s, &t_next, statistics, ctx));
  YOKE_TRY(yoke_graph_accept(s->graph, ctx));
  return yoke_system_events_accept(&s->events, s->graph, ctx);
}

static yoke_status take_step(yoke_system *s, double t_end, yoke_step_statistics *statistics, yoke_context *ctx) {
  if (s->plan->step.is_free) return step_freely(s, t_end, statistics, ctx);
  return s->controller != NULL ? step_controlled(s, t_end, statistics, ctx) : step_fixed(s, t_end, statistics, ctx);
}

/* A step was made on the way to t_end. Inside of it solvers look after themselves. */
static yoke_status watch_progress(yoke_system *s, double t_end, const yoke_step_statistics *statistics,
                                  yoke_context *ctx) {
  system_watch   *w    = &s->watch;
  yoke_standstill made = {0};
  ++w->steps;
  for (int i = 0; i < YOKE_N_REJECTIONS; ++i) w->rejected += statistics->rejected[i];
  if (!yoke_progress_stands(&w->progress, yoke_graph_t(s->graph), t_end, w->steps, w->rejected, &made)) return YOKE_OK;
  const char *event = yoke_system_events_last(&s->events);
  return yoke_fail(ctx, YOKE_E_STEP_TOO_SMALL,
                   "the run does not get on: the last %lld steps and %lld rejected ones led from t = %.9g s %.3g s "
                   "further%s%s%s",
                   (long long)made.steps, (long long)made.rejected, yoke_graph_t(s->graph) - made.way, made.way,
                   event != NULL ? "; event '" : "", event != NULL ? event : "",
                   event != NULL ? "' happens again and again there: stop the run by an event with action: stop, or "
                                   "replace the event by a force"
                                 : "; the couplings or the loads are not smooth there");
}

/* The step from t was accepted, on the way to t_end. */
static yoke_status look_at_energy(yoke_system *s, double t, double t_end, yoke_step_statistics *statistics,
                                  yoke_context *ctx) {
  YOKE_TRY(yoke_account_look(s->account, t, s->loss.before, ctx));
  const bool is_due = yoke_account_is_due(s->account, statistics->evaluations);
  const bool is_end = yoke_graph_t(s->graph) >= t_end;
  if (is_due || is_end || s->correction != NULL || s->events.n > 0 || s->events.acting >= 0 ||
      system_samples_need_account(s))
    YOKE_TRY(yoke_account_balance(s->account, ctx));
  if (s->correction != NULL) yoke_correction_count(s->correction, t, s->loss.before);
  statistics->leak = yoke_account_take_leak(s->account);
  return YOKE_OK;
}

/* A step begins: forces from the one before, which began with the outputs that are kept. */
static void set_correction(yoke_system *s) {
  if (s->is_fresh)
    yoke_correction_clear(s->correction);
  else
    yoke_correction_set(s->correction, s->loss.t, s->loss.before);
}

static void log_begin(const yoke_system *s, double t) {
  yoke_log_line line = yoke_log_begin("begin-step", NULL);
  yoke_log_number(&line, "t", t);
  yoke_log_end(&s->log, &line);
}

static void log_matrix(const yoke_system *s) {
  double      took[2];
  const char *way;
  if (!yoke_graph_tell_matrix(s->graph, took, &way)) return;
  yoke_log_line line = yoke_log_begin("matrix", NULL);
  yoke_log_number(&line, "alone", took[0]);
  yoke_log_number(&line, "shared", took[1]);
  yoke_log_word(&line, "way", way);
  yoke_log_end(&s->log, &line);
}

static void log_end(const yoke_system *s, double t, const yoke_step_statistics *statistics, yoke_status status) {
  yoke_log_line line = yoke_log_begin("end-step", NULL);
  yoke_log_number(&line, "t", yoke_graph_t(s->graph));
  yoke_log_number(&line, "H", yoke_graph_t(s->graph) - t);
  yoke_log_count(&line, "order", statistics->degree);
  yoke_log_count(&line, "passes", statistics->iterations);
  yoke_log_word(&line, "status", yoke_status_name(status));
  yoke_log_end(&s->log, &line);
}

yoke_status system_advance(yoke_system *s, double t_end, yoke_step_statistics *statistics, yoke_context *ctx) {
  const double t         = yoke_graph_t(s->graph);
  const bool   is_logged = s->log.write != NULL;
  if (is_logged) log_begin(s, t);
  yoke_ledger_begin_step(s->ledger);
  yoke_status status = system_cross_jump(s, ctx); /* a run that ended there goes on */
  if (s->correction != NULL) set_correction(s);
  system_loss_begin(s);
  if (status == YOKE_OK) status = take_step(s, t_end, statistics, ctx);
  if (s->monitor == NULL) statistics->local_error = (double)NAN;
  statistics->leak = (double)NAN;
  if (status == YOKE_OK && s->account != NULL) status = look_at_energy(s, t, t_end, statistics, ctx);
  if (status == YOKE_OK) status = watch_progress(s, t_end, statistics, ctx);
  if (status != YOKE_OK && status != YOKE_E_INTERRUPTED && s->correction != NULL)
    yoke_note(ctx, "forces of the energy correction act on the couplings: if the run comes to its end with "
                   "cosimulation.energy monitor, use that, guard, or a smaller cosimulation.energy_cap");
  yoke_ledger_end_step(s->ledger);
  if (is_logged) {
    log_matrix(s);
    log_end(s, t, statistics, status);
  }
  if (status == YOKE_OK) s->is_fresh = false;
  s->t_previous = t;
  return status;
}
