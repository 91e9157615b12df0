/* Semi-implicit and implicit: predict, integrate, correct the nodes by Newton, integrate again; once or until the conditions hold.
 *
 *   pass 0   predictor, with responses or perturbed integrations beside it: y, dy/dw; not where a matrix is kept (kept_matrix.h)
 *   correct  (dc/dw) delta = -c,  w += delta
 *   pass j   from the states at T_N again (invariant 1)
 * Semi-implicit accepts after one correction, unless a level of a joint that the formulation holds is still open (joint_gap.h). For
 * conditions that are linear in w one correction is the implicit solution.
 * Couplings with weighted sets of conditions have one correction per set and take their mean (correction.h). */
#include "coupling/convergence.h"
#include "coupling/correction.h"
#include "coupling/joint_gap.h"
#include "coupling/kept_matrix.h"
#include "coupling/rounding.h"
#include "coupling/state_shift.h"

#include <math.h>
#include <string.h>

extern const yoke_scheme_ops semi_implicit_ops, implicit_ops;

static const double slow_rate = 0.2; /* a Newton matrix that converges slower than this is made anew */

/* Corrections behind the second that a matrix of an earlier step may still need; else it is made anew at once. */
enum { MOST_FURTHER = 4 };

static yoke_status correct_nodes(yoke_graph *g, yoke_context *ctx) {
  YOKE_TRY(graph_correct(g, ctx));
  for (int i = 0; i < g->n_w; ++i) g->w[i] += g->delta[i];
  return YOKE_OK;
}

static bool is_copy(const yoke_channel *channel) {
  for (int side = 0; side < 2; ++side) {
    if (channel->enters[side] == YOKE_ENTRY_COPY_P || channel->enters[side] == YOKE_ENTRY_COPY_V) return true;
  }
  return false;
}

/* w := share w + (1 - share) u_N at the end nodes of couplings that ask for it (Lu 186); delta follows. Copies of motions are
 * not blended: there is no mode of theirs to damp, and the share of old poses would be an error of order H. */
static void relax_nodes(yoke_graph *g) {
  for (int i = 0; i < g->n_wires; ++i) {
    const graph_wire      *wire  = &g->wires[i];
    const yoke_joint_form *joint = wire->wire.formulation->joint;
    const double share = joint != NULL && joint->relaxation != NULL ? joint->relaxation(wire->wire.self) : 1.0;
    for (int k = wire->first; share != 1.0 && k < wire->first + wire->n_channels; ++k) {
      const graph_channel *channel = &g->channels[k];
      if (is_copy(&channel->info)) continue;
      const int    end    = channel->w_at + channel->n_nodes - 1;
      const double change = (1.0 - share) * (channel->kept->past[0] - g->w[end]);
      g->w[end] += change;
      g->delta[end] += change;
    }
  }
}

static yoke_status make_matrix(yoke_graph *g, yoke_step_statistics *statistics, yoke_context *ctx) {
  ++statistics->matrices;
  statistics->rate = (double)NAN;
  return graph_make_matrix(g, ctx);
}

static bool renews_always(const yoke_graph *g) {
  return g->settings.renewal == YOKE_RENEWAL_PASS;
}

/* With the matrix of an earlier step, if it serves. */
static yoke_status first_pass(yoke_graph *g, yoke_step_statistics *statistics, yoke_context *ctx) {
  g->is_kept = statistics->has_kept = graph_matrix_fits(g);
  YOKE_TRY(graph_pass(g, g->is_kept ? 0 : GRAPH_COLUMNS, statistics, ctx)); /* a correction follows */
  graph_residual(g, 0);
  return g->is_kept ? YOKE_OK : make_matrix(g, statistics, ctx);
}

/* The second correction with a matrix tells how well it converges. */
static void measure_rate(double rate, yoke_step_statistics *statistics) {
  if (isnan(statistics->rate)) statistics->rate = rate;
}

/* After a corrected pass: improve Broyden's matrix with what the correction did. `c_old` are the conditions before it.
 * From corrections near rounding there is nothing to learn but rounding: conditions on positions respond by delta H^2 only. */
static void learn(yoke_graph *g, const double *c_old) {
  if (g->settings.jacobian != YOKE_JACOBIAN_BROYDEN) return;
  if (!graph_is_stalled(g, graph_weighted_norm(g, g->delta))) graph_broyden_improve(g, c_old, g->delta);
}

/* dc/dw at the present nodes. */
static yoke_status renew_matrix(yoke_graph *g, yoke_step_statistics *statistics, yoke_context *ctx) {
  YOKE_TRY(graph_pass(g, GRAPH_COLUMNS | GRAPH_LAST, statistics, ctx));
  graph_residual(g, 0);
  return make_matrix(g, statistics, ctx);
}

/* Is a correction by a matrix from earlier steps beyond belief? It changes a value by more than the largest so far. */
static bool is_wild(const yoke_graph *g, double norm) {
  return !(norm * g->settings.rtol <= 1.0);
}

/* Broyden's method, and a matrix that is rough: the size of the correction that the conditions still ask for, which a matrix that is exact would
 * make vanish. The matrix costs no integrations, so there is no reason to stop before the noise of the solvers. */
static yoke_status measure_rest(yoke_graph *g, double *rest, yoke_context *ctx) {
  YOKE_TRY(graph_correct(g, ctx));
  *rest = graph_weighted_norm(g, g->delta);
  return YOKE_OK;
}

/* One correction; more, at most max_iterations, where a level that a formulation holds is still open, or where Broyden's matrix or a rough one
 * leaves a rest. A matrix that helps little is made anew; a correction that only grows is taken back, and the step stands as it
 * is: its gaps are judged at the end of the trial. */
static yoke_status correct_until_closed(yoke_graph *g, yoke_step_statistics *statistics, yoke_context *ctx) {
  double previous = (double)INFINITY; /* size of the last correction that counts */
  YOKE_TRY(first_pass(g, statistics, ctx));
  bool is_fresh = !g->is_kept;
  for (int number = 1; number <= g->settings.max_iterations; ++number) {
    memcpy(g->c_before, g->c, (size_t)g->n_c * sizeof *g->c);
    memcpy(g->w_before, g->w, (size_t)g->n_w * sizeof *g->w);
    YOKE_TRY(correct_nodes(g, ctx));
    relax_nodes(g);
    const double norm  = graph_weighted_norm(g, g->delta);
    const bool   grows = !(norm <= 2.0 * previous) || (number == 1 && !is_fresh && is_wild(g, norm));
    if (grows) {
      memcpy(g->w, g->w_before, (size_t)g->n_w * sizeof *g->w);
      if (is_fresh && number > 1) return YOKE_OK; /* not after the first pass, which is never the last */
      YOKE_TRY(renew_matrix(g, statistics, ctx));
      is_fresh = true;
      continue;
    }
    ++statistics->iterations;
    YOKE_TRY(graph_pass(g, GRAPH_LAST, statistics, ctx));
    graph_residual(g, 0);
    learn(g, g->c_before);
    double     rest = 0.0, rate = norm / previous;
    const bool is_measured = g->broyden != NULL || g->is_rough;
    if (is_measured) {
      YOKE_TRY(measure_rest(g, &rest, ctx));
      rate = rest / norm;
    }
    if (isfinite(previous) || is_measured) measure_rate(rate, statistics);
    const bool is_enough = number > 1 || !g->is_rough; /* the rest of the first one grows, however small it is */
    if (is_enough && graph_levels_are_met(g) && graph_is_stalled(g, rest)) return YOKE_OK;
    is_fresh = (rate > slow_rate || renews_always(g)) && number < g->settings.max_iterations;
    if (is_fresh) YOKE_TRY(renew_matrix(g, statistics, ctx));
    previous = norm;
  }
  return YOKE_OK;
}

/* The published scheme, exactly so many corrections with one matrix (or with the matrix of each pass). */
static yoke_status correct_times(yoke_graph *g, int n, yoke_step_statistics *statistics, yoke_context *ctx) {
  YOKE_TRY(first_pass(g, statistics, ctx));
  for (int number = 1; number <= n; ++number) {
    memcpy(g->c_before, g->c, (size_t)g->n_c * sizeof *g->c);
    YOKE_TRY(correct_nodes(g, ctx));
    relax_nodes(g);
    ++statistics->iterations;
    const bool renew = renews_always(g) && number < n;
    YOKE_TRY(graph_pass(g, (renew ? GRAPH_COLUMNS : 0) | (number == n ? GRAPH_LAST : 0), statistics, ctx));
    graph_residual(g, 0);
    learn(g, g->c_before);
    if (renew) YOKE_TRY(make_matrix(g, statistics, ctx));
  }
  return YOKE_OK;
}

static yoke_status semi_implicit_step(yoke_graph *g, yoke_step_statistics *statistics, yoke_context *ctx) {
  const int n = g->settings.corrections;
  YOKE_TRY(n > 0 ? correct_times(g, n, statistics, ctx) : correct_until_closed(g, statistics, ctx));
  statistics->converged = graph_levels_are_met(g);
  return YOKE_OK;
}

/* Corrections shrink by `rate` and the last one was `norm`: will MOST_FURTHER do? */
static bool takes_long(const yoke_graph *g, double rate, double norm) {
  double left = rate / (1.0 - rate) * norm;
  for (int i = 0; i < MOST_FURTHER; ++i) left *= rate;
  return !(rate < 1.0 && left < g->settings.tau);
}

/* Corrections that have reached the rounding of the unknowns stay what they are, in shorter steps they are larger: the step stands. */
static yoke_status look_for_rounding(yoke_graph *g, yoke_verdict *verdict, yoke_context *ctx) {
  bool is_rounding = false;
  YOKE_TRY(graph_is_rounding(g, &is_rounding, ctx));
  if (is_rounding) *verdict = YOKE_VERDICT_CONVERGED;
  return YOKE_OK;
}

/* May a step stand although its multipliers are not corrected to the last? Under step control, where those of the next step do not go on from
 * them: what they are off by is felt through the gap that they leave, which the next step closes. */
static bool may_stand(const yoke_graph *g) {
  return g->has_joints && g->response_tolerance > 0.0;
}

/* Does it, since the next correction of quickly converging ones would be small? In units of the corrector's tolerance, which is far below what
 * the motion can feel of a multiplier. */
static bool stands(const yoke_graph *g, double previous, double norm) {
  static const double small = 10.0, quick = 0.1;
  return may_stand(g) && norm < small && norm < quick * previous;
}

/* How far what the history keeps of the step, phi(y), is from its nodes, in the norm of the corrector. A stiff law makes much of little. */
static double distance_of_values(const yoke_graph *g) {
  double *distance = g->w_before;
  memset(distance, 0, (size_t)g->n_w * sizeof *distance);
  for (int i = 0; i < g->n_wires && g->settings.final_update; ++i) {
    const graph_wire *wire = &g->wires[i];
    double           *u    = wire->lent->u;
    if (wire->wire.formulation->update == NULL) continue;
    graph_update(g, wire, g->t_next, graph_port(wire, 0, g->subsystems[wire->wire.subsystem[0]].y_new),
                 graph_port(wire, 1, g->subsystems[wire->wire.subsystem[1]].y_new), u);
    for (int k = 0; k < wire->n_channels; ++k) {
      const graph_channel *channel = &g->channels[wire->first + k];
      const int            last    = channel->w_at + channel->n_nodes - 1;
      distance[last]               = u[k] - g->w[last];
    }
  }
  return graph_weighted_norm(g, distance);
}

/* Under step control: are the nodes that were integrated with good enough, so that they need not follow their next correction? Corrections
 * shrink by R = norm / previous, and all that are left, norm (1 + R + R^2 + ...), pass the test that a corrected step has to pass
 * (convergence.h), as do the values that later steps are predicted from. Fixed steps go on: the integration behind the last correction makes
 * them better still. */
static bool is_met(const yoke_graph *g, double previous, double norm) {
  static const double share = 0.01;
  if (!g->is_controlled || !(norm < previous && norm / (1.0 - norm / previous) < share * g->settings.tau)) return false;
  return distance_of_values(g) < share * g->settings.tau;
}

/* Behind the first correction, which was `norm`: the states follow it, and what it leaves, by their tangents. *is_done: they are the result, and no
 * integration with the corrected nodes is needed; else of all this nothing but the correction itself is left. */
static yoke_status shift_states(yoke_graph *g, double norm, bool *is_done, yoke_step_statistics *statistics,
                                yoke_context *ctx) {
  enum { MOST_SHIFTS = 3 };
  yoke_status status = YOKE_OK;
  *is_done           = false;
  if (!may_stand(g) || !graph_can_shift(g)) return YOKE_OK;
  memcpy(g->w_before, g->w, (size_t)g->n_w * sizeof *g->w);
  for (int n = 1; n <= MOST_SHIFTS && status == YOKE_OK && !*is_done; ++n) {
    status = graph_shift(g, statistics);
    if (status != YOKE_OK || !(graph_shift_miss(g) <= 1.0)) break;
    graph_residual(g, 0);
    YOKE_TRY(graph_correct(g, ctx));
    const double after = graph_weighted_norm(g, g->delta);
    *is_done           = graph_is_nothing(g, after) || stands(g, norm, after);
    if (*is_done || !(after < norm)) break;
    for (int i = 0; i < g->n_w; ++i) g->w[i] += g->delta[i];
    norm = after;
  }
  if (*is_done) status = graph_shift_observe(g, statistics, ctx);
  if (*is_done && status == YOKE_OK) return YOKE_OK;
  *is_done = false;
  memcpy(g->w, g->w_before, (size_t)g->n_w * sizeof *g->w);
  return status < 0 ? status : YOKE_OK;
}

/* Newton from the predicted nodes until the conditions hold. With the matrix of an earlier step corrections shrink by a rate that hardly
 * changes. One that is no good, or reaches the noise of the solvers before the test is met, fails: the new one of a second chance converges
 * so quickly that noise is no matter. */
static yoke_status iterate(yoke_graph *g, yoke_step_statistics *statistics, yoke_context *ctx) {
  yoke_convergence convergence = {0};
  double           norm        = 0.0;
  YOKE_TRY(first_pass(g, statistics, ctx));
  for (int pass = 1; pass <= g->settings.max_iterations; ++pass) {
    memcpy(g->c_before, g->c, (size_t)g->n_c * sizeof *g->c);
    YOKE_TRY(graph_correct(g, ctx));
    const double previous = norm;
    norm                  = graph_weighted_norm(g, g->delta);
    if (pass > 1 && (stands(g, previous, norm) || is_met(g, previous, norm))) {
      measure_rate(norm / previous, statistics);
      return YOKE_OK;
    }
    for (int i = 0; i < g->n_w; ++i) g->w[i] += g->delta[i];
    ++statistics->iterations;
    bool is_done = false;
    if (pass == 1) YOKE_TRY(shift_states(g, norm, &is_done, statistics, ctx));
    if (is_done) return YOKE_OK;
    yoke_verdict verdict = graph_judge(g, &convergence, norm);
    if (verdict != YOKE_VERDICT_CONVERGED && pass > 1) YOKE_TRY(look_for_rounding(g, &verdict, ctx));
    const bool is_old  = g->is_kept && g->broyden == NULL;
    const bool goes_on = verdict == YOKE_VERDICT_GO_ON && pass > 1;
    const bool is_slow = goes_on && convergence.rate > slow_rate;
    if (verdict == YOKE_VERDICT_DIVERGED && !graph_joints_are_closed(g)) return YOKE_NOT_CONVERGED;
    if (is_old && (is_wild(g, norm) || (is_slow && pass > 2))) return YOKE_NOT_CONVERGED;
    if (pass > 1) measure_rate(norm / previous, statistics);
    const bool renew = is_slow || (verdict == YOKE_VERDICT_GO_ON && renews_always(g)) ||
                       (is_old && goes_on && pass == 2 && takes_long(g, convergence.rate, norm));
    const bool last =
        verdict == YOKE_VERDICT_CONVERGED || pass == g->settings.max_iterations || may_stand(g) || g->is_controlled;
    YOKE_TRY(graph_pass(g, (renew ? GRAPH_COLUMNS : 0) | (last ? GRAPH_LAST : 0), statistics, ctx));
    graph_residual(g, 0);
    learn(g, g->c_before);
    if (verdict == YOKE_VERDICT_CONVERGED) {
      graph_matrix_serves(g, pass);
      return YOKE_OK;
    }
    if (renew) YOKE_TRY(make_matrix(g, statistics, ctx));
  }
  statistics->converged = false;
  return graph_is_stalled(g, norm) || graph_joints_are_closed(g) ? YOKE_OK : YOKE_NOT_CONVERGED;
}

/* A step that fails with a matrix from earlier steps gets a second chance: it is made anew. */
static yoke_status implicit_step(yoke_graph *g, yoke_step_statistics *statistics, yoke_context *ctx) {
  const yoke_status status = iterate(g, statistics, ctx);
  if (!statistics->has_kept || (status == YOKE_OK && statistics->converged) || status < 0) return status;
  memcpy(g->w, g->w_predicted, (size_t)g->n_w * sizeof *g->w);
  g->made.is_made       = false;
  statistics->converged = true;
  return iterate(g, statistics, ctx);
}

const yoke_scheme_ops semi_implicit_ops = {
    .traits            = {.name = "semi-implicit", .corrects_once = true},
    .summary           = "predict, one Newton correction of the coupling values, integrate again; stable and cheap",
    .needs_repeat      = true,
    .leaves_conditions = true,
    .relaxation        = 1.0,
    .max_iterations    = 10,
    .step              = semi_implicit_step,
};

const yoke_scheme_ops implicit_ops = {
    .traits            = {.name = "implicit", .corrects_to_tolerance = true},
    .summary           = "corrected until the coupling conditions hold to tolerance; for strongly nonlinear couplings",
    .needs_repeat      = true,
    .leaves_conditions = true,
    .relaxation        = 1.0,
    .max_iterations    = 10,
    .step              = implicit_step,
};
