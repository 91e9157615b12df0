/* Samples of a system: numbers that its parts and wires show at output times. */
#include "master/system_internal.h"

#include "base/cancel.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- creation ---- */

yoke_status system_observer_create(yoke_system *s, int n, const yoke_output *list, char *const *name, bool is_main,
                                   yoke_observer **out, yoke_context *ctx) {
  const yoke_plan *plan       = s->plan;
  const size_t     mark       = yoke_arena_mark(&s->arena);
  int64_t         *residual   = yoke_arena_take(&s->arena, (size_t)plan->n_parts + 1, sizeof *residual);
  int             *n_channels = yoke_arena_take(&s->arena, (size_t)plan->n_couplings + 1, sizeof *n_channels);
  yoke_status      status     = yoke_arena_check(&s->arena, ctx, "%d outputs", n);
  for (int p = 0; status == YOKE_OK && p < plan->n_parts; ++p) residual[p] = plan->parts[p].residual;
  for (int w = 0; status == YOKE_OK && w < plan->n_couplings; ++w) n_channels[w] = yoke_graph_n_channels(s->graph, w);
  const yoke_observer_def def = {.n_parts        = plan->n_parts,
                                 .subsystems     = s->subsystems,
                                 .residual       = residual,
                                 .n_wires        = plan->n_couplings,
                                 .wires          = plan->wires,
                                 .n_channels     = n_channels,
                                 .n              = n,
                                 .list           = list,
                                 .name           = name,
                                 .formulas       = &plan->formulas,
                                 .has_account    = s->account != NULL,
                                 .with_energies  = is_main && plan->has_work,
                                 .with_residuals = is_main};
  if (status == YOKE_OK) status = yoke_observer_create(ctx, &def, out);
  yoke_arena_release(&s->arena, mark);
  return status;
}

double **system_observer_room(const yoke_system *s, const yoke_observer *observer, yoke_arena *arena) {
  double **room = yoke_arena_take(arena, (size_t)s->plan->n_parts + 1, sizeof *room);
  for (int p = 0; room != NULL && p < s->plan->n_parts; ++p)
    room[p] = yoke_arena_take(arena, (size_t)yoke_observer_n_handles(observer, p) + 1, sizeof **room);
  return room;
}

static yoke_graph_handles handles_of(const void *observer, int part) {
  return (yoke_graph_handles){yoke_observer_n_handles(observer, part), yoke_observer_handles(observer, part)};
}

static yoke_graph_handles handles_without_energies(const void *observer, int part) {
  return (yoke_graph_handles){yoke_observer_n_without_energies(observer, part), yoke_observer_handles(observer, part)};
}

static bool shows_account(int n, const yoke_output *list) {
  for (int i = 0; i < n; ++i) {
    if (list[i].source == YOKE_OUTPUT_ACCOUNT) return true;
  }
  return false;
}

yoke_status system_samples_create(yoke_system *s, yoke_context *ctx) {
  system_samples *x = &s->samples;
  const size_t    n = (size_t)s->plan->n_parts + 1;
  x->n_done         = 1;
  YOKE_TRY(system_observer_create(s, s->plan->outputs.n, s->plan->outputs.list, s->plan->outputs.name, true,
                                  &x->observer, ctx));
  for (int w = 0; w < s->plan->n_couplings; ++w) x->n_channels += yoke_graph_n_channels(s->graph, w);
  x->handles  = yoke_arena_take(&s->arena, n, sizeof *x->handles);
  x->row      = yoke_arena_take(&s->arena, n, sizeof *x->row);
  x->room     = system_observer_room(s, x->observer, &s->arena);
  x->channels = yoke_arena_take(&s->arena, (size_t)x->n_channels + 1, sizeof *x->channels);
  x->means    = yoke_arena_take(&s->arena, (size_t)x->n_channels + 1, sizeof *x->means);
  x->outputs  = yoke_arena_take(&s->arena, (size_t)s->plan->outputs.n + 1, sizeof *x->outputs);
  YOKE_TRY(yoke_arena_check(&s->arena, ctx, "%d outputs", s->plan->outputs.n));
  for (int p = 0; p < s->plan->n_parts; ++p) x->handles[p] = handles_of(x->observer, p);
  x->shows_account = shows_account(s->plan->outputs.n, s->plan->outputs.list) ||
                     shows_account(s->plan->formulas.n_references, s->plan->formulas.references);
  return YOKE_OK;
}

void system_samples_clear(yoke_system *s) {
  system_samples *x = &s->samples;
  free(x->times);
  yoke_observer_destroy(&x->observer);
}

/* ---- times ---- */

static double time_of(const yoke_system *s, int64_t k) {
  return s->plan->t_start + (double)k * s->plan->every;
}

/* The one at the end of a run is not counted as regular. */
bool system_samples_are_at(const yoke_system *s, int64_t n, double t) {
  if (n < 1 || n > INT64_MAX / 2) return false;
  return s->plan->every <= 0.0 || (time_of(s, n - 1) <= t && time_of(s, n + 1) > t);
}

/* Output times and macro points that are the same differ by rounding. */
static bool is_now(const yoke_system *s, double t) {
  const double now = yoke_graph_t(s->graph);
  return t == now || (!s->plan->step.is_free && fabs(t - now) <= 1e-9 * yoke_system_H(s));
}

/* Free steps: the next sample, which makes the subsystem ready to be looked into; the others of the step are seen there afterwards. */
static yoke_status plan_free(yoke_system *s, yoke_context *ctx) {
  system_samples *x = &s->samples;
  if (!(s->plan->every > 0.0) || x->n_planned == x->n_done) return YOKE_OK;
  const double next = time_of(s, x->n_done);
  x->n_planned      = x->n_done;
  return yoke_graph_observe(s->graph, 1, &next, x->handles, ctx);
}

yoke_status system_plan_samples(yoke_system *s, double t_end, yoke_context *ctx) {
  system_samples *x     = &s->samples;
  const double    every = s->plan->every;
  size_t          n     = 0;
  if (s->plan->step.is_free) return plan_free(s, ctx);
  const double last =
      fmin(yoke_graph_t(s->graph) + yoke_system_H(s) * (1.0 + 1e-6), t_end); /* a short rest is taken along */
  while (every > 0.0 && time_of(s, x->n_done + (int64_t)n) <= last) {
    if (!yoke_grow(&x->times, &x->n_room, n + 1, sizeof *x->times))
      return yoke_out_of_memory(ctx, "%zu output times", n);
    x->times[n] = time_of(s, x->n_done + (int64_t)n);
    ++n;
  }
  return yoke_graph_observe(s->graph, (int)n, x->times, x->handles, ctx);
}

/* ---- values ---- */

/* Means over the last macro step; at the start there is none, and the values themselves stand in. */
static void take_means(yoke_system *s) {
  system_samples *x = &s->samples;
  for (int w = 0, c = 0; w < s->plan->n_couplings; ++w) {
    for (int k = 0; k < yoke_graph_n_channels(s->graph, w); ++k, ++c)
      x->means[c] = s->is_fresh ? yoke_graph_channel(s->graph, w, k) : yoke_graph_mean(s->graph, w, k);
  }
}

yoke_status system_observer_show(yoke_system *s, yoke_observer *observer, double *const *room, double t, double *values,
                                 yoke_totals *totals) {
  system_samples *x    = &s->samples;
  const yoke_side side = s->is_fresh ? YOKE_SIDE_RIGHT : YOKE_SIDE_LEFT;
  if (s->account != NULL && t == yoke_graph_t(s->graph)) YOKE_TRY(yoke_account_balance(s->account, NULL));
  const double *energies = s->account != NULL && !s->is_fresh && t == yoke_graph_t(s->graph)
                               ? yoke_account_energies(s->account) /* it has just looked at them */
                               : NULL;
  for (int p = 0; p < s->plan->n_parts; ++p) x->row[p] = room[p];
  YOKE_TRY(
      yoke_graph_show_all(s->graph, t, side, energies != NULL ? handles_without_energies : handles_of, observer, room));
  for (int w = 0, c = 0; w < s->plan->n_couplings; ++w) {
    for (int k = 0; k < yoke_graph_n_channels(s->graph, w); ++k, ++c) {
      x->channels[c] = side == YOKE_SIDE_LEFT ? yoke_graph_applied(s->graph, w, k) : yoke_graph_channel(s->graph, w, k);
    }
  }
  take_means(s);
  const yoke_sighting at = {.t        = t,
                            .parts    = x->row,
                            .channels = x->channels,
                            .inputs   = yoke_graph_all_held(s->graph),
                            .means    = x->means,
                            .lost     = system_loss_at(s, t),
                            .brought  = s->account != NULL ? yoke_account_brought(s->account) : 0.0,
                            .stored   = energies != NULL ? yoke_account_stored(s->account) : NULL,
                            .energies = energies,
                            .account  = s->account != NULL ? yoke_account_now(s->account) : NULL};
  return yoke_observer_show(observer, &at, values, totals);
}

/* The sample at t, now or (free steps) in the last micro step. */
static yoke_status show_sample(yoke_system *s, double t, yoke_totals *totals) {
  return system_observer_show(s, s->samples.observer, s->samples.room, t, s->samples.outputs, totals);
}

/* Time number i of those observed inside the last step. */
static yoke_status show_observed(yoke_system *s, int i, double t, yoke_totals *totals) {
  system_samples *x = &s->samples;
  for (int p = 0; p < s->plan->n_parts; ++p)
    x->row[p] = yoke_graph_observed(s->graph, p) + (size_t)i * (size_t)x->handles[p].n;
  for (int w = 0, c = 0; w < s->plan->n_couplings; ++w) {
    const int n = yoke_graph_n_channels(s->graph, w);
    if (n == 0) continue;
    memcpy(x->channels + c, yoke_graph_observed_channels(s->graph, w) + (size_t)i * (size_t)n,
           (size_t)n * sizeof *x->channels);
    c += n;
  }
  take_means(s);
  const yoke_sighting at = {.t        = t,
                            .parts    = x->row,
                            .channels = x->channels,
                            .inputs   = yoke_graph_all_held(s->graph),
                            .means    = x->means,
                            .lost     = system_loss_at(s, t),
                            .brought  = s->account != NULL ? yoke_account_brought(s->account) : 0.0,
                            .account  = s->account != NULL ? yoke_account_before(s->account) : NULL};
  return yoke_observer_show(x->observer, &at, x->outputs, totals);
}

/* The summary and the sink get the sample at t. */
static yoke_status pass_on(yoke_system *s, double t, const yoke_totals *totals, const yoke_sink *sink) {
  yoke_system_summary *summary = &s->summary;
  yoke_counters        counters;
  summary->constraint_residual = fmax(summary->constraint_residual, totals->residual);
  if (s->plan->has_work) {
    const double balance = yoke_totals_balance(totals);
    if (t == s->plan->t_start) summary->energy_start = balance;
    const double drift = fabs(balance - summary->energy_start);
    if (drift > summary->energy_drift) summary->energy_drift = drift;
    if (!isfinite(balance)) summary->has_energy = false; /* its drift is not known; fmax would drop a NaN */
  }
  if (sink == NULL || sink->sample == NULL) return YOKE_OK;
  yoke_system_counters(s, &counters);
  return sink->sample(sink->user, t, s->samples.outputs, &counters,
                      s->plan->step.is_free ? counters.h : yoke_system_H(s),
                      s->plan->step.is_free ? counters.order : s->plan->scheme.order);
}

yoke_status system_emit_now(yoke_system *s, const yoke_sink *sink) {
  const double t = yoke_graph_t(s->graph);
  yoke_totals  totals;
  yoke_ledger_begin_output(s->ledger);
  yoke_status status = show_sample(s, t, &totals);
  if (status == YOKE_OK) status = pass_on(s, t, &totals, sink);
  yoke_ledger_end_output(s->ledger);
  return status;
}

/* A regular sample at t, which the last step has reached. */
static yoke_status emit(yoke_system *s, double t, const yoke_sink *sink) {
  const double *times;
  const int     n = yoke_graph_n_observed(s->graph, &times);
  int           i = 0;
  yoke_totals   totals;
  while (i < n && times[i] < t) ++i;
  if (is_now(s, t))
    YOKE_TRY(show_sample(s, yoke_graph_t(s->graph), &totals));
  else if (i < n && times[i] == t)
    YOKE_TRY(show_observed(s, i, t, &totals));
  else
    YOKE_TRY(show_sample(s, t, &totals));
  return pass_on(s, t, &totals, sink);
}

yoke_status system_emit_due(yoke_system *s, double t_end, const yoke_sink *sink, yoke_context *ctx) {
  system_samples *x     = &s->samples;
  const double    every = s->plan->every, now = yoke_graph_t(s->graph);
  if (every <= 0.0) return system_emit_now(s, sink);
  for (;;) {
    const double t = time_of(s, x->n_done);
    if (t > now || t > t_end - 1e-9 * every) return YOKE_OK; /* the end has its own sample */
    x->is_behind = yoke_context_is_cancelled(ctx);
    if (x->is_behind) return YOKE_E_INTERRUPTED;
    yoke_ledger_begin_output(s->ledger);
    const yoke_status status = emit(s, t, sink);
    yoke_ledger_end_output(s->ledger);
    YOKE_TRY(status);
    ++x->n_done;
  }
}

void system_pass_due(yoke_system *s) {
  const double every = s->plan->every, now = yoke_graph_t(s->graph);
  while (every > 0.0 && time_of(s, s->samples.n_done) <= now + 1e-9 * every) ++s->samples.n_done;
}

/* Samples at the present time balance the account, those inside of the next step take it as it is then. */
bool system_samples_need_account(const yoke_system *s) {
  const double now = yoke_graph_t(s->graph);
  int64_t      k   = s->samples.n_done;
  if (!(s->plan->every > 0.0)) return true;
  while (time_of(s, k) < now && !is_now(s, time_of(s, k))) ++k;
  if (is_now(s, time_of(s, k))) return true;
  return s->samples.shows_account && time_of(s, k) < now + yoke_system_H(s) * (1.0 - 1e-9);
}

/* ---- by name ---- */

yoke_status yoke_system_value(yoke_system *s, const char *name, double *value, yoke_context *ctx) {
  yoke_output    output;
  yoke_observer *observer = NULL;
  char *const    names[1] = {(char *)(uintptr_t)name};
  YOKE_TRY(yoke_plan_find_output(ctx, s->plan, name, &output));
  YOKE_TRY(system_observer_create(s, 1, &output, names, false, &observer, ctx));
  yoke_arena  arena  = {0};
  double    **room   = system_observer_room(s, observer, &arena);
  yoke_status status = yoke_arena_check(&arena, ctx, "output '%s'", name);
  if (status == YOKE_OK) status = system_observer_show(s, observer, room, yoke_graph_t(s->graph), value, NULL);
  yoke_arena_free(&arena);
  yoke_observer_destroy(&observer);
  if (status == YOKE_E_MEMORY) return status;
  if (status == YOKE_OK) return YOKE_OK;
  if (status == YOKE_NON_FINITE)
    return yoke_fail(ctx, YOKE_E_UNSTABLE, "'%s' is not finite at t = %.9g s", name, yoke_graph_t(s->graph));
  return yoke_fail(ctx, YOKE_E_UNSTABLE, "'%s' cannot be evaluated at t = %.9g s: %s", name, yoke_graph_t(s->graph),
                   yoke_status_text(status));
}

yoke_status yoke_system_observe(yoke_system *s, int part, int n, const int64_t *handles, double *values) {
  return yoke_graph_show(s->graph, part, yoke_graph_t(s->graph), s->is_fresh ? YOKE_SIDE_RIGHT : YOKE_SIDE_LEFT, n,
                         handles, values, NULL);
}
