#include "master/cosimulation.h"

#include "base/memory.h"
#include "master/coupling_redundancy.h"
#include "master/macro_grid.h"
#include "master/plan_builder.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct yoke_cosimulation {
  yoke_arena            arena; /* of all arrays */
  const yoke_model     *model;
  const yoke_equations *equations; /* of the whole model */
  const yoke_multibody *mb;
  yoke_plan            *plan;
  yoke_subsystem      **subsystems;
  yoke_exec            *exec;
  yoke_graph           *graph;
  yoke_controller      *controller; /* NULL: fixed step */
  yoke_step_choice      choice;
  double                t_start;
  yoke_macro_grid       grid;
  yoke_macro_events     events;
  yoke_macro_totals     totals;
  yoke_log              log;
  double               *part_q, *part_v; /* of one part, for events that set states */
  /* component i of the whole q (v) is component index[i] of part[i] */
  int                  *q_part, *q_index, *v_part, *v_index;
};

/* ---- creation ---- */

static yoke_status map_states(yoke_cosimulation *c, const yoke_multibody *mb, yoke_context *ctx) {
  const yoke_model *model = c->model;
  const size_t      nq = (size_t)c->equations->nq, nv = (size_t)c->equations->nv;
  c->q_part  = yoke_arena_take(&c->arena, nq, sizeof(int));
  c->q_index = yoke_arena_take(&c->arena, nq, sizeof(int));
  c->v_part  = yoke_arena_take(&c->arena, nv, sizeof(int));
  c->v_index = yoke_arena_take(&c->arena, nv, sizeof(int));
  YOKE_TRY(yoke_arena_check(&c->arena, ctx, "the co-simulation"));
  for (size_t i = 0; i < nq; ++i) c->q_part[i] = -1; /* the work of the whole model has no counterpart */
  for (int b = 0; b < model->n_bodies; ++b) {
    const yoke_body *body     = &model->bodies[b];
    const int        n_masses = body->kind == YOKE_BODY_CHAIN ? body->chain->n : 1;
    const int        q_at     = mb != NULL ? yoke_multibody_q_offset(mb, b) : 0,
              v_at            = mb != NULL ? yoke_multibody_v_offset(mb, b) : 0;
    const int dq = yoke_body_nq(body) / n_masses, dv = yoke_body_nv(body) / n_masses;
    for (int m = 0; m < n_masses; ++m) {
      const yoke_place      place = yoke_place_find(&c->plan->places, b, m);
      const yoke_multibody *part  = yoke_native_multibody(c->subsystems[place.part]);
      for (int k = 0; k < dq; ++k) {
        c->q_part[q_at + m * dq + k] = place.part;
        c->q_index[q_at + m * dq + k] =
            (part != NULL ? yoke_multibody_q_offset(part, place.body) : 0) + place.mass * dq + k;
      }
      for (int k = 0; k < dv; ++k) {
        c->v_part[v_at + m * dv + k] = place.part;
        c->v_index[v_at + m * dv + k] =
            (part != NULL ? yoke_multibody_v_offset(part, place.body) : 0) + place.mass * dv + k;
      }
    }
  }
  for (int k = 0; k < model->output.n_integrals; ++k) {
    const yoke_plan_integral integral = c->plan->integrals[k];
    const int                at       = yoke_multibody_integral_at(mb, k);
    c->q_part[at]                     = integral.part;
    c->q_index[at] = yoke_multibody_integral_at(yoke_native_multibody(c->subsystems[integral.part]), integral.own);
  }
  return YOKE_OK;
}

static yoke_status create_subsystems(yoke_cosimulation *c, const yoke_cosimulation_options *options,
                                     yoke_context *ctx) {
  c->subsystems = yoke_arena_take(&c->arena, (size_t)c->plan->n_parts, sizeof *c->subsystems);
  YOKE_TRY(yoke_arena_check(&c->arena, ctx, "the co-simulation"));
  for (int i = 0; i < c->plan->n_parts; ++i) {
    const yoke_plan_part *part = &c->plan->parts[i];
    YOKE_TRY(part->make(ctx, part->definition, &c->subsystems[i]));
    if (options->forward != NULL && strcmp(options->forward, part->name) == 0)
      YOKE_TRY(yoke_subsystem_forward(ctx, c->subsystems[i], &c->subsystems[i]));
    if (options->log.write != NULL)
      YOKE_TRY(yoke_subsystem_traced(ctx, c->subsystems[i], options->log, &c->subsystems[i]));
    if (options->check) YOKE_TRY(yoke_subsystem_check(ctx, c->subsystems[i], &c->subsystems[i]));
  }
  return YOKE_OK;
}

/* ---- start with an exact past ---- */

/* Points of the plan's past, the newest first. */
static yoke_status add_past(yoke_cosimulation *c, yoke_context *ctx) {
  const size_t   mark = yoke_arena_mark(&c->arena);
  const double **list = yoke_arena_take(&c->arena, (size_t)c->plan->n_couplings + 1, sizeof *list);
  YOKE_TRY(yoke_arena_check(&c->arena, ctx, "an exact start"));
  for (int i = 0; i < c->plan->n_past; ++i) {
    const yoke_plan_point *point = &c->plan->past[i];
    const double          *u     = point->u;
    for (int k = 0; k < c->plan->n_couplings; ++k) {
      list[k] = c->plan->wires[k].joint != NULL ? u : NULL;
      if (list[k] != NULL) u += yoke_graph_n_channels(c->graph, k);
    }
    yoke_graph_add_past(c->graph, point->t, point->y, list);
  }
  yoke_arena_release(&c->arena, mark);
  return YOKE_OK;
}

/* Shortest step of the graded start as a share of H. A multiplier that holds a gap g = 0 over a step h carries the rounding
 * of positions divided by h^2, so joints do not bear steps as short as force elements do. */
static double graded_share(const yoke_cosimulation *c) {
  for (int k = 0; k < c->plan->n_couplings; ++k) {
    if (c->plan->couplings[k].is_joint) return 1.0 / 32.0;
  }
  return 1e-5;
}

/* Room for events that set states. */
static yoke_status allocate_parts(yoke_cosimulation *c, yoke_context *ctx) {
  size_t nq = 1, nv = 1;
  if (c->model->n_events == 0) return YOKE_OK;
  for (int p = 0; p < c->plan->n_parts; ++p) {
    const yoke_equations *part = yoke_native_equations(c->subsystems[p]);
    nq                         = (size_t)part->nq > nq ? (size_t)part->nq : nq;
    nv                         = (size_t)part->nv > nv ? (size_t)part->nv : nv;
  }
  c->part_q = yoke_arena_take(&c->arena, nq, sizeof(double));
  c->part_v = yoke_arena_take(&c->arena, nv, sizeof(double));
  return yoke_arena_check(&c->arena, ctx, "the co-simulation");
}

static double end_at_event(void *user, double t_next, yoke_context *ctx) {
  yoke_cosimulation *c = user;
  return yoke_macro_events_end(&c->events, c->graph, t_next, ctx);
}

static yoke_status create_control(yoke_cosimulation *c, yoke_context *ctx) {
  YOKE_TRY(yoke_step_choose(ctx, c->plan, c->graph, &c->choice));
  YOKE_TRY(yoke_controller_create(ctx, c->graph, &c->choice.settings, &c->controller));
  if (c->model->n_events > 0) yoke_controller_watch(c->controller, end_at_event, c);
  return YOKE_OK;
}

yoke_status yoke_cosimulation_create(yoke_context *ctx, const yoke_model *model, const yoke_equations *equations,
                                     const yoke_multibody *mb, const yoke_cosimulation_options *options,
                                     yoke_cosimulation **out) {
  *out                 = NULL;
  yoke_cosimulation *c = yoke_allocate(1, sizeof *c);
  if (c == NULL) return yoke_out_of_memory(ctx, "the co-simulation");
  c->model           = model;
  c->equations       = equations;
  c->mb              = mb;
  c->t_start         = model->t_start;
  c->log             = options->log;
  yoke_status status = yoke_plan_create(ctx, model, NULL, &c->plan);
  if (status == YOKE_OK) status = yoke_macro_events_create(ctx, c->plan, &c->events);
  if (status == YOKE_OK) status = create_subsystems(c, options, ctx);
  if (status == YOKE_OK) status = map_states(c, mb, ctx);
  if (status == YOKE_OK) status = allocate_parts(c, ctx);
  if (status == YOKE_OK) status = yoke_exec_create(ctx, options->exec, options->threads, &c->exec);
  if (status == YOKE_OK) {
    status = yoke_graph_create(ctx, c->plan->n_parts, c->subsystems, c->plan->n_couplings, c->plan->wires,
                               &c->plan->scheme, c->exec, &c->graph);
  }
  if (status == YOKE_OK && c->plan->step.is_controlled) status = create_control(c, ctx);
  if (status == YOKE_OK) status = yoke_graph_start(c->graph, c->t_start, ctx);
  if (status == YOKE_OK) status = add_past(c, ctx);
  if (status == YOKE_OK) {
    const double share = c->plan->scheme.start == YOKE_START_GRADED ? graded_share(c) : 0.0;
    c->grid            = yoke_macro_grid_make(c->t_start, c->plan->step.H, share, &c->plan->switches);
  }
  if (status != YOKE_OK) {
    yoke_cosimulation_destroy(&c);
    return status;
  }
  *out = c;
  return YOKE_OK;
}

void yoke_cosimulation_destroy(yoke_cosimulation **cosimulation) {
  yoke_cosimulation *c = *cosimulation;
  if (c == NULL) return;
  yoke_controller_destroy(&c->controller);
  if (c->graph != NULL) yoke_graph_destroy(&c->graph);
  for (int i = 0; c->subsystems != NULL && i < c->plan->n_parts; ++i) yoke_subsystem_destroy(&c->subsystems[i]);
  yoke_exec_destroy(&c->exec);
  yoke_plan_destroy(&c->plan);
  yoke_macro_events_clear(&c->events);
  yoke_arena_free(&c->arena);
  free(c);
  *cosimulation = NULL;
}

/* ---- restart ---- */

/* New values for the couplings right behind the present time: multipliers jump with loads and velocities. */
static yoke_status restart(yoke_cosimulation *c, yoke_context *ctx) {
  const yoke_status status = yoke_graph_restart(c->graph, ctx);
  if (status == YOKE_OK || status == YOKE_E_MEMORY) return status;
  return yoke_fail(ctx, status > 0 ? YOKE_E_UNSTABLE : status, "the couplings cannot begin anew at t = %.9g s",
                   yoke_graph_t(c->graph));
}

yoke_status yoke_cosimulation_assign(yoke_cosimulation *c, const double *q, const double *v, yoke_context *ctx) {
  for (int p = 0; p < c->plan->n_parts; ++p) {
    const yoke_subsystem        *s     = c->subsystems[p];
    const yoke_integrator       *own   = yoke_native_integrator(s);
    const yoke_integrator_state *state = yoke_native_state(s, yoke_graph_state(c->graph, p));
    /* quadratures stay */
    memcpy(c->part_q, yoke_integrator_q(own, state), (size_t)own->equations->nq * sizeof *c->part_q);
    for (int i = 0; i < c->equations->nq; ++i) {
      if (c->q_part[i] == p) c->part_q[c->q_index[i]] = q[i];
    }
    for (int i = 0; i < c->equations->nv; ++i) {
      if (c->v_part[i] == p) c->part_v[c->v_index[i]] = v[i];
    }
    YOKE_TRY(yoke_graph_assign(c->graph, p, c->part_q, c->part_v, ctx));
  }
  YOKE_TRY(yoke_graph_refresh(c->graph, ctx));
  if (c->controller != NULL) yoke_controller_restart(c->controller, yoke_controller_H(c->controller));
  return restart(c, ctx);
}

/* Behind a jump of a load the couplings go on from the right-hand limit. */
static yoke_status restart_at_jump(yoke_cosimulation *c, yoke_context *ctx) {
  if (!yoke_switches_jump_at(&c->plan->switches, yoke_graph_t(c->graph))) return YOKE_OK;
  return restart(c, ctx);
}

/* ---- steps ---- */

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

static void count_step(yoke_cosimulation *c, double H, bool is_accepted, const yoke_step_statistics *statistics) {
  yoke_macro_totals *totals = &c->totals;
  totals->integrations += statistics->integrations;
  totals->iterations += statistics->iterations;
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
  totals->forced += statistics->is_forced ? 1 : 0;
  totals->unconverged += statistics->converged ? 0 : 1;
  totals->residual = fmax(totals->residual, statistics->residual);
  for (int k = 0; k < YOKE_N_RESIDUALS; ++k) add_residual(&totals->residuals[k], (yoke_residual_kind)k, statistics);
}

/* A step was accepted whose end was chosen as `kind` (`is_short`: before the planned one): events and jumps of loads happen there. */
static yoke_status finish_step(yoke_cosimulation *c, yoke_point_kind kind, bool is_short,
                               yoke_step_statistics *statistics, yoke_context *ctx) {
  if (statistics->reduced_by == YOKE_NOT_REDUCED && kind != YOKE_POINT_GRID && is_short)
    statistics->reduced_by = kind == YOKE_POINT_SWITCH ? YOKE_REDUCED_BY_SWITCH : YOKE_REDUCED_BY_END;
  YOKE_TRY(yoke_macro_events_accept(&c->events, c->graph, ctx));
  if (kind != YOKE_POINT_SWITCH) return YOKE_OK;
  /* estimators that compare extrapolated inputs do not see what the load will do: short steps again */
  if (c->controller != NULL) yoke_controller_restart(c->controller, yoke_controller_H(c->controller));
  return restart_at_jump(c, ctx);
}

static yoke_status step_controlled(yoke_cosimulation *c, double t_end, yoke_step_statistics *statistics,
                                   yoke_context *ctx) {
  const double    t = yoke_graph_t(c->graph);
  yoke_point_kind kind;
  const double    H      = yoke_controller_H(c->controller);
  const double    t_stop = yoke_macro_grid_limit(&c->plan->switches, t, H, t_end, &kind);
  yoke_macro_events_begin(&c->events);
  yoke_status status = yoke_controller_step(c->controller, t_stop, statistics, ctx);
  if (status == YOKE_OK) {
    if (yoke_graph_t(c->graph) < t_stop) kind = YOKE_POINT_GRID;
    status = finish_step(c, kind, t_stop - t < (1.0 - 1e-6) * H, statistics, ctx);
  }
  count_step(c, yoke_graph_t(c->graph) - t, status == YOKE_OK, statistics);
  return status;
}

/* Trials to a point of the grid, or to an event before it. */
static yoke_status try_fixed(yoke_cosimulation *c, double *t_next, yoke_step_statistics *statistics,
                             yoke_context *ctx) {
  yoke_step_statistics total = {.reduced_by = YOKE_NOT_REDUCED};
  yoke_macro_events_begin(&c->events);
  for (;;) {
    const yoke_status status = yoke_graph_try(c->graph, *t_next, statistics, ctx);
    statistics->iterations += total.iterations;
    statistics->integrations += total.integrations;
    statistics->reduced_by                      = total.reduced_by;
    statistics->rejected[YOKE_REDUCED_BY_EVENT] = total.rejected[YOKE_REDUCED_BY_EVENT];
    if (status != YOKE_OK || c->model->n_events == 0) return status;
    const double end = end_at_event(c, *t_next, ctx);
    if (!(end < *t_next || (end > *t_next && isfinite(end)))) return YOKE_OK;
    *t_next          = end;
    total            = *statistics;
    total.reduced_by = YOKE_REDUCED_BY_EVENT;
    ++total.rejected[YOKE_REDUCED_BY_EVENT];
  }
}

/* A joint came open. More corrections help where they were limited, another start where motions are held over the first step. */
static yoke_status explain_gap(const yoke_cosimulation *c, double t, double H, yoke_context *ctx) {
  const yoke_scheme_settings *s = yoke_graph_settings(c->graph);
  char                        joint[300];
  const char                 *remedy = "a smaller cosimulation.step";
  if (strcmp(s->scheme, "semi-implicit") == 0)
    remedy = s->corrections > 0 ? "more cosimulation.corrections, or leave them out, or a smaller cosimulation.step"
                                : "a smaller cosimulation.step, or scheme implicit where gaps grew over many steps";
  if (strcmp(s->scheme, "explicit") == 0 && t <= c->t_start && s->start != YOKE_START_EXACT)
    remedy =
        "cosimulation.start exact, without which motions are held over the first step, or a smaller cosimulation.step";
  yoke_graph_open_joint(c->graph, joint, sizeof joint);
  return yoke_fail(
      ctx, YOKE_E_UNSTABLE,
      "behind the macro step of %.6g s from t = %.9g s %s; use %s (cosimulation.joint_tolerance sets the limit)", H, t,
      joint, remedy);
}

/* The end of a run whose fixed step H from t failed. */
static yoke_status explain(const yoke_cosimulation *c, double t, double H, yoke_status status,
                           const yoke_step_statistics *statistics, yoke_context *ctx) {
  const bool is_short = statistics->iterations >= yoke_graph_settings(c->graph)->max_iterations;
  char       who[400];
  if (status < 0) return status;
  if (status == YOKE_JOINT_OPEN) return explain_gap(c, t, H, ctx);
  yoke_graph_unsettled(c->graph, who, sizeof who);
  if (status == YOKE_NON_FINITE) {
    return yoke_fail(ctx, YOKE_E_UNSTABLE,
                     "%sthe macro step of %.6g s from t = %.9g s gives values that are not finite; use a smaller step "
                     "or scheme semi-implicit or implicit",
                     who, H, t);
  }
  return yoke_fail(ctx, YOKE_E_NOT_CONVERGED,
                   "%sthe macro step of %.6g s from t = %.9g s failed: %s after %d passes; use a smaller step%s", who,
                   H, t, yoke_status_text(status), statistics->iterations,
                   is_short ? ", or more passes (cosimulation.corrector.max_iterations)" : " or another formulation");
}

static yoke_status take_step(yoke_cosimulation *c, double t_end, yoke_step_statistics *statistics, yoke_context *ctx) {
  if (c->controller != NULL) return step_controlled(c, t_end, statistics, ctx);
  const double    t = yoke_graph_t(c->graph);
  yoke_point_kind kind;
  double          t_next = yoke_macro_grid_next(&c->grid, t, t_end, &kind);
  const double    t_grid = t_next;
  yoke_status     status = try_fixed(c, &t_next, statistics, ctx);
  if (status == YOKE_OK) status = yoke_graph_accept(c->graph, ctx);
  if (status == YOKE_OK) {
    yoke_macro_grid_accept(&c->grid, t_next);
    status = finish_step(c, t_next < t_grid ? YOKE_POINT_GRID : kind, t_next - t < (1.0 - 1e-6) * c->plan->step.H,
                         statistics, ctx);
  }
  count_step(c, t_next - t, status == YOKE_OK, statistics);
  if (status == YOKE_OK) return YOKE_OK;
  ++c->totals.rejected;
  return explain(c, t, t_next - t, status, statistics, ctx);
}

static void log_begin(const yoke_cosimulation *c, double t) {
  yoke_log_line line = yoke_log_begin("begin-step", NULL);
  yoke_log_number(&line, "t", t);
  yoke_log_end(&c->log, &line);
}

static void log_end(const yoke_cosimulation *c, double t, const yoke_step_statistics *statistics, yoke_status status) {
  yoke_log_line line = yoke_log_begin("end-step", NULL);
  yoke_log_number(&line, "t", yoke_graph_t(c->graph));
  yoke_log_number(&line, "H", yoke_graph_t(c->graph) - t);
  yoke_log_count(&line, "order", statistics->degree);
  yoke_log_count(&line, "passes", statistics->iterations);
  yoke_log_word(&line, "status", yoke_status_name(status));
  yoke_log_end(&c->log, &line);
}

yoke_status yoke_cosimulation_step(yoke_cosimulation *c, double t_end, yoke_step_statistics *statistics,
                                   yoke_context *ctx) {
  const double t         = yoke_graph_t(c->graph);
  const bool   is_logged = c->log.write != NULL;
  if (is_logged) log_begin(c, t);
  const yoke_status status = take_step(c, t_end, statistics, ctx);
  if (is_logged) log_end(c, t, statistics, status);
  return status;
}

/* ---- questions ---- */

double yoke_cosimulation_t(const yoke_cosimulation *cosimulation) {
  return yoke_graph_t(cosimulation->graph);
}

double yoke_cosimulation_H(const yoke_cosimulation *cosimulation) {
  return cosimulation->controller != NULL ? yoke_controller_H(cosimulation->controller) : cosimulation->plan->step.H;
}

const yoke_step_choice *yoke_cosimulation_choice(const yoke_cosimulation *cosimulation) {
  return cosimulation->controller != NULL ? &cosimulation->choice : NULL;
}

void yoke_cosimulation_gather(const yoke_cosimulation *c, double *q, double *v) {
  for (int i = 0; i < c->equations->nq; ++i) {
    if (c->q_part[i] < 0) {
      q[i] = 0.0;
      continue;
    }
    const yoke_subsystem *s = c->subsystems[c->q_part[i]];
    q[i]                    = yoke_integrator_q(yoke_native_integrator(s),
                                                yoke_native_state(s, yoke_graph_state(c->graph, c->q_part[i])))[c->q_index[i]];
  }
  for (int i = 0; i < c->equations->nv; ++i) {
    const yoke_subsystem *s = c->subsystems[c->v_part[i]];
    v[i]                    = yoke_integrator_v(yoke_native_integrator(s),
                                                yoke_native_state(s, yoke_graph_state(c->graph, c->v_part[i])))[c->v_index[i]];
  }
}

void yoke_cosimulation_part_counters(const yoke_cosimulation *c, int part, yoke_counters *out) {
  yoke_subsystem_counters(c->subsystems[part], yoke_graph_state(c->graph, part), out);
}

void yoke_cosimulation_counters(const yoke_cosimulation *c, yoke_counters *out) {
  *out = (yoke_counters){0};
  for (int i = 0; i < c->plan->n_parts; ++i) {
    yoke_counters one;
    yoke_cosimulation_part_counters(c, i, &one);
    out->steps += one.steps;
    out->rejected += one.rejected;
    out->evaluations += one.evaluations;
    out->jacobians += one.jacobians;
    out->factorings += one.factorings;
    out->iterations += one.iterations;
  }
}

yoke_macro_totals yoke_cosimulation_totals(const yoke_cosimulation *cosimulation) {
  return cosimulation->totals;
}

const yoke_macro_events *yoke_cosimulation_events(const yoke_cosimulation *cosimulation) {
  return &cosimulation->events;
}

const yoke_scheme_settings *yoke_cosimulation_settings(const yoke_cosimulation *cosimulation) {
  return &cosimulation->plan->scheme;
}

const yoke_plan *yoke_cosimulation_plan(const yoke_cosimulation *cosimulation) {
  return cosimulation->plan;
}

const yoke_controller *yoke_cosimulation_controller(const yoke_cosimulation *cosimulation) {
  return cosimulation->controller;
}

const yoke_graph *yoke_cosimulation_graph(const yoke_cosimulation *cosimulation) {
  return cosimulation->graph;
}
