#include "analysis/stability.h"

#include "analysis/amplification.h"
#include "analysis/equilibrium.h"
#include "analysis/linearize.h"
#include "analysis/spectrum.h"
#include "analysis/stand_in.h"
#include "base/cancel.h"
#include "base/memory.h"
#include "base/text.h"
#include "master/macro_settings.h"
#include "master/native_part.h"
#include "model/model_length.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STATES = 2000, SCAN_POINTS = 61, MAX_BISECTIONS = 60 };

struct yoke_stability {
  yoke_arena           arena;
  yoke_model           fixed; /* the caller's, with a fixed step: what is judged is what a run has then */
  const yoke_model    *model; /* &fixed */
  yoke_scheme_settings settings;
  double               H; /* of the model; 0: it names none */
  bool                 is_linearized;
  yoke_plan           *plan;
  yoke_subsystem     **native; /* [n_parts] of the plan, at the rest state; solver `exact` when the model is linear */
  yoke_subsystem     **linear; /* [n_parts] stand-ins; all NULL when the model is linear */
  yoke_linearization  *parts;  /* [n_parts] what they are made of */
  yoke_exec           *exec;
  yoke_graph          *graph;
  yoke_amplification  *amplification;
  double              *matrix, *size; /* [n, n], [n] */
  double               growth, fastest, slack;
};

/* A rigid-body motion is an eigenvalue 1 twice with one eigenvector, known to the root of rounding only. Multipliers of a joint that
 * holds a body without freedom of its own have an eigenvalue 1 too, known as well as differences of the joint's gradients. */
static const double rigid_share = 1e-7, rigid_slack = 1e-6, joint_slack = 1e-7;

/* ---- eigenvalues that do not depend on H ---- */

/* Largest magnitude of the eigenvalues of A [n, n]; of the whole model also the largest real part, and whether it has rigid-body
 * motions. */
static yoke_status take_spectrum(yoke_stability *s, int n, const double *A, bool is_whole, yoke_context *ctx) {
  double     *re     = yoke_allocate(2 * (size_t)n + 1, sizeof *re);
  yoke_status status = re != NULL ? yoke_eigenvalues(n, A, re, re + n) : YOKE_E_MEMORY;
  double      most   = 0.0;
  int         n_zero = 0;
  for (int i = 0; status == YOKE_OK && i < n; ++i) most = fmax(most, hypot(re[i], re[n + i]));
  for (int i = 0; status == YOKE_OK && is_whole && i < n; ++i) {
    const bool is_zero = hypot(re[i], re[n + i]) <= rigid_share * most;
    n_zero += is_zero;
    s->growth = fmax(s->growth, is_zero ? 0.0 : re[i]);
  }
  s->fastest = fmax(s->fastest, most);
  if (n_zero > 1) s->slack = rigid_slack;
  free(re);
  return status == YOKE_OK ? YOKE_OK
                           : yoke_fail(ctx, status < 0 ? status : YOKE_E_UNSTABLE,
                                       "model '%s': its eigenvalues cannot be computed (%s)", s->model->name,
                                       yoke_status_text(status));
}

/* The whole model linearised about its state. Gives. */
static yoke_status linearize_whole(const yoke_stability *s, const yoke_whole_model *whole, yoke_linearization *l,
                                   yoke_context *ctx) {
  const yoke_linearize_def def = {.model     = s->model,
                                  .equations = &whole->equations,
                                  .mb        = whole->mb,
                                  .t         = s->model->t_start,
                                  .q         = whole->q,
                                  .v         = whole->v};
  return yoke_linearize(ctx, &def, l);
}

static yoke_status whole_spectrum(yoke_stability *s, const yoke_whole_model *whole, yoke_context *ctx) {
  yoke_linearization l;
  YOKE_TRY(linearize_whole(s, whole, &l, ctx));
  const yoke_status status = take_spectrum(s, l.n_x, l.A, true, ctx);
  yoke_linearization_clear(&l);
  return status;
}

/* ---- linear models ---- */

static void drop_natives(yoke_stability *s) {
  for (int i = 0; s->native != NULL && s->plan != NULL && i < s->plan->n_parts; ++i)
    yoke_subsystem_destroy(&s->native[i]);
}

static bool laws_are_linear(const yoke_plan *plan) {
  for (int k = 0; k < plan->n_couplings; ++k) {
    const yoke_plan_coupling *c = &plan->couplings[k];
    for (int side = 0; side < 2; ++side) {
      if (yoke_shape_freedoms(c->shape[side]) != YOKE_FREEDOM_TRANSLATION_X)
        return false; /* all others have orientations or directions */
    }
    /* elements that bodies in halos carry lie in the subsystems */
    if (!c->is_joint && !c->is_halo && !yoke_force_element_is_linear(&c->element_law)) return false;
  }
  return true;
}

/* Natives with exact solvers; *is_linear is false when one of them or a law is not linear. */
static yoke_status try_linear(yoke_stability *s, bool *is_linear, yoke_context *ctx) {
  yoke_context *quiet = NULL;
  *is_linear          = laws_are_linear(s->plan);
  YOKE_TRY(yoke_context_create(&quiet));
  yoke_status status = YOKE_OK;
  for (int i = 0; *is_linear && status == YOKE_OK && i < s->plan->n_parts; ++i) {
    yoke_solver_def *solver = &s->plan->native[i].submodel.model->solver;
    snprintf(solver->kind, sizeof solver->kind, "exact");
    solver->step = solver->max_step = 0.0;
    status                          = s->plan->parts[i].make(quiet, s->plan->parts[i].definition, &s->native[i]);
    if (status == YOKE_E_UNSUPPORTED || status == YOKE_E_MODEL) {
      *is_linear = false;
      status     = YOKE_OK;
    }
  }
  yoke_context_destroy(&quiet);
  if (!*is_linear || status != YOKE_OK) drop_natives(s);
  return status == YOKE_OK ? YOKE_OK : yoke_fail(ctx, status, "the subsystems cannot be built");
}

static yoke_status allocate_parts(yoke_stability *s, yoke_context *ctx) {
  const size_t n = (size_t)s->plan->n_parts + 1;
  s->native      = yoke_arena_take(&s->arena, n, sizeof *s->native);
  s->linear      = yoke_arena_take(&s->arena, n, sizeof *s->linear);
  s->parts       = yoke_arena_take(&s->arena, n, sizeof *s->parts);
  return yoke_arena_check(&s->arena, ctx, "the analysis of stability");
}

/* ---- models that are linearised ---- */

/* Inputs of part i at the start of the graph. */
static void inputs_of(const yoke_plan *plan, const yoke_graph *graph, int part, double *u) {
  for (int w = 0; w < plan->n_couplings; ++w) {
    const yoke_wire *wire = &plan->wires[w];
    for (int side = 0; side < 2; ++side) {
      if (wire->subsystem[side] != part) continue;
      for (int k = 0; k < yoke_graph_n_channels(graph, w); ++k) {
        if (wire->input_at[side][k] >= 0) u[wire->input_at[side][k]] = yoke_graph_channel(graph, w, k);
      }
    }
  }
}

static yoke_status linear_part(yoke_stability *s, const yoke_graph *graph, int i, yoke_context *ctx) {
  double *u = yoke_allocate((size_t)s->native[i]->nu + 1, sizeof *u);
  if (u == NULL) return yoke_out_of_memory(ctx, "subsystem '%s'", s->native[i]->name);
  inputs_of(s->plan, graph, i, u);
  yoke_status status = yoke_stand_in_create(ctx, s->native[i], &s->plan->native[i].submodel, yoke_graph_state(graph, i),
                                            u, &s->parts[i], &s->linear[i]);
  free(u);
  if (status == YOKE_OK) status = take_spectrum(s, s->parts[i].n_x, s->parts[i].A, false, ctx);
  return status;
}

/* Natives at the rest state, started in a graph of their own so that inputs and multipliers fit; then their stand-ins. */
static yoke_status linearize_parts(yoke_stability *s, yoke_context *ctx) {
  yoke_graph *graph = NULL;
  for (int i = 0; i < s->plan->n_parts; ++i) {
    YOKE_TRY(s->plan->parts[i].make(ctx, s->plan->parts[i].definition, &s->native[i]));
  }
  yoke_status status = yoke_graph_create(ctx, s->plan->n_parts, s->native, s->plan->n_couplings, s->plan->wires,
                                         &s->settings, s->exec, &graph);
  if (status == YOKE_OK) status = yoke_graph_start(graph, s->model->t_start, ctx);
  for (int i = 0; status == YOKE_OK && i < s->plan->n_parts; ++i) status = linear_part(s, graph, i, ctx);
  yoke_graph_destroy(&graph);
  return status;
}

/* ---- sizes of differences ---- */

static const yoke_channel *channels_of(const yoke_stability *s, int wire) {
  int n;
  return s->plan->wires[wire].formulation->channels(s->plan->wires[wire].self, &n);
}

/* Acceleration per unit of channel k of coupling w, where it acts most. */
static double mobility(const yoke_stability *s, int w, int k) {
  const yoke_wire *wire = &s->plan->wires[w];
  double           most = 0.0;
  for (int side = 0; side < 2; ++side) {
    const int part = wire->subsystem[side], input = wire->input_at[side][k];
    if (part < 0 || input < 0) continue;
    const yoke_linearization *l = &s->parts[part];
    for (int i = l->n_x / 2; i < l->n_x; ++i) most = fmax(most, fabs(l->B[(size_t)i * (size_t)l->nu + (size_t)input]));
  }
  return most;
}

/* Rigid joints only: multipliers grow with 1/H^2 of what they correct. */
static void set_reaches(yoke_stability *s) {
  const int n = yoke_amplification_n(s->amplification), memory_at = yoke_amplification_memory_at(s->amplification);
  if (!s->is_linearized) return;
  for (int w = 0; w < s->plan->n_couplings; ++w) {
    if (!s->plan->couplings[w].is_joint) return;
  }
  s->slack = fmax(s->slack, joint_slack);
  for (int p = 0; p < s->plan->n_parts; ++p) {
    const int from = yoke_amplification_x_at(s->amplification, p),
              to   = yoke_amplification_x_at(s->amplification, p + 1);
    for (int j = from + (to - from) / 2; j < to; ++j) yoke_amplification_set_reach(s->amplification, j, 1.0, 1);
  }
  for (int i = memory_at; i < n; ++i) {
    const yoke_memory_place place = yoke_graph_memory_place(s->graph, i - memory_at);
    if (place.wire < 0) continue;
    const yoke_channel *list = channels_of(s, place.wire);
    if (list[place.channel].is_force)
      yoke_amplification_set_reach(s->amplification, i, 0.5 * mobility(s, place.wire, place.channel), 2);
  }
}

/* ---- creation ---- */

/* The plan again, now at the rest state; its warnings are known already. */
static yoke_status plan_at_rest(yoke_stability *s, const yoke_whole_model *whole, yoke_context *ctx) {
  yoke_context *quiet = NULL;
  YOKE_TRY(yoke_context_create(&quiet));
  yoke_plan_destroy(&s->plan);
  const yoke_status status =
      yoke_plan_create(quiet, s->model, &(yoke_plan_options){.is_study = true, .q = whole->q, .v = whole->v}, &s->plan);
  if (status != YOKE_OK) {
    (void)yoke_fail(ctx, status, "model '%s' cannot be split at its rest state: %s", s->model->name,
                    yoke_context_n_messages(quiet) > 0 ? yoke_context_message(quiet, 0) : yoke_status_text(status));
  }
  yoke_context_destroy(&quiet);
  return status;
}

/* Is A the same at the start and well away from it? Then any state serves: a model that is linear but for loads that change with time,
 * as a free chain that is hit. Failures count as no. */
static bool is_same_everywhere(const yoke_stability *s, yoke_whole_model *whole) {
  const int          nv = whole->equations.nv;
  yoke_linearization here, there;
  if (whole->equations.ng > 0 || whole->equations.nq - whole->equations.n_quadratures != nv) return false;
  double *before = yoke_allocate(2 * (size_t)nv + 1, sizeof *before);
  if (before == NULL || linearize_whole(s, whole, &here, NULL) != YOKE_OK) {
    free(before);
    return false;
  }
  for (int i = 0; i < nv; ++i) {
    before[i]      = whole->q[i];
    before[nv + i] = whole->v[i];
    whole->q[i] += 0.1 * (i % 3 - 1) * (1.0 + fabs(whole->q[i]));
    whole->v[i] += 0.1 * (i % 5 - 2) * (1.0 + fabs(whole->v[i]));
  }
  bool is_same = linearize_whole(s, whole, &there, NULL) == YOKE_OK;
  if (is_same) {
    const size_t n    = (size_t)here.n_x * (size_t)here.n_x;
    double       most = 0.0;
    is_same           = there.n_x == here.n_x;
    for (size_t i = 0; is_same && i < n; ++i) most = fmax(most, fabs(here.A[i]));
    for (size_t i = 0; is_same && i < n; ++i) is_same = fabs(there.A[i] - here.A[i]) <= 1e-12 * most;
    yoke_linearization_clear(&there);
  }
  yoke_linearization_clear(&here);
  memcpy(whole->q, before, (size_t)nv * sizeof *before);
  memcpy(whole->v, before + nv, (size_t)nv * sizeof *before);
  free(before);
  return is_same;
}

/* `whole` at its rest state; without one left at its start, where that makes no difference. */
static yoke_status find_state(const yoke_stability *s, yoke_whole_model *whole, yoke_context *ctx) {
  yoke_context *own = NULL;
  YOKE_TRY(yoke_context_create(&own));
  yoke_status status = yoke_equilibrium_find(own, whole, NULL, NULL);
  if (status == YOKE_E_NOT_CONVERGED && is_same_everywhere(s, whole)) status = YOKE_OK;
  if (status != YOKE_OK)
    (void)yoke_fail(ctx, status, "%s",
                    yoke_context_n_messages(own) > 0 ? yoke_context_message(own, 0) : yoke_status_text(status));
  yoke_context_destroy(&own);
  return status;
}

/* Numbers that are no motions and forces of ports have no place in the linear subsystems. */
static yoke_status refuse_signals(const yoke_stability *s, yoke_context *ctx) {
  const yoke_plan *plan = s->plan;
  for (int k = 0; k < plan->n_couplings; ++k) {
    if (plan->couplings[k].is_signal)
      return yoke_fail(ctx, YOKE_E_UNSUPPORTED,
                       "model '%s': the stability of signals between subsystems ('%s') is not computed; compare runs "
                       "with smaller and smaller steps (yoke converge)",
                       s->model->name, plan->couplings[k].name);
    if (plan->couplings[k].n_read > 0)
      return yoke_fail(ctx, YOKE_E_UNSUPPORTED,
                       "model '%s': the stability of a law between subsystems that reads the model ('%s') is not "
                       "computed; compare runs with smaller and smaller steps (yoke converge)",
                       s->model->name, plan->couplings[k].name);
  }
  if (plan->n_held == 0) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_UNSUPPORTED,
                   "model '%s': the stability of models with inputs ('%s') is not computed; write parameters in their "
                   "place",
                   s->model->name, plan->inputs[plan->held[0].number].name);
}

/* The split of the model with subsystems that are linear and solved exactly. */
static yoke_status build_parts(yoke_stability *s, yoke_whole_model *whole, yoke_context *ctx) {
  bool is_linear;
  YOKE_TRY(yoke_plan_create(ctx, s->model, &(yoke_plan_options){.is_study = true}, &s->plan));
  YOKE_TRY(refuse_signals(s, ctx));
  YOKE_TRY(allocate_parts(s, ctx));
  YOKE_TRY(try_linear(s, &is_linear, ctx));
  s->is_linearized = !is_linear;
  if (is_linear) return whole_spectrum(s, whole, ctx);
  YOKE_TRY(find_state(s, whole, ctx));
  YOKE_TRY(plan_at_rest(s, whole, ctx));
  YOKE_TRY(linearize_parts(s, ctx));
  return whole_spectrum(s, whole, ctx);
}

static yoke_status build(yoke_stability *s, int max_states, yoke_context *ctx) {
  yoke_whole_model    whole;
  yoke_macro_settings macro;
  yoke_macro_settings_read(s->model, 1.0, false, &macro);
  if (macro.order < 0)
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "model '%s': the order is chosen during the run; say for which one stability is asked (--order N)",
                     s->model->name);
  s->H                         = macro.step;
  s->settings                  = macro.scheme;
  const yoke_model_sizes sizes = yoke_model_sizes_of(s->model);
  s->settings.length           = sizes.length;
  s->settings.time             = sizes.time;
  s->settings.force            = sizes.force;
  s->settings.bears_any_size   = true;
  s->settings.has_linear_parts = true;
  /* The map is linear: one correction solves it, with a matrix that is exact. */
  if (s->settings.jacobian != YOKE_JACOBIAN_ANALYTIC) s->settings.corrections = 1;
  s->settings.joint_tolerance = 0.0; /* it is probed with states that are far off */
  YOKE_TRY(yoke_exec_create(ctx, "serial", 1, &s->exec));
  YOKE_TRY(yoke_whole_model_create(ctx, s->model, 0, NULL, &whole));
  yoke_status status = YOKE_OK;
  if (2 * whole.equations.nv > max_states) {
    status = yoke_fail(ctx, YOKE_E_USAGE,
                       "model '%s' has %d velocities; its stability is computed for at most %d: ask for a smaller "
                       "model of the same kind",
                       s->model->name, whole.equations.nv, max_states / 2);
  }
  if (status == YOKE_OK) status = build_parts(s, &whole, ctx);
  yoke_whole_model_clear(&whole);
  YOKE_TRY(status);
  s->settings.own = s->plan->scheme.own;
  if (yoke_scheme_has_substeps(&s->settings, s->plan->n_parts))
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "model '%s': the stability of macro steps with substeps is not computed; leave out "
                     "cosimulation.substeps",
                     s->model->name);
  yoke_subsystem *const *subsystems = s->is_linearized ? s->linear : s->native;
  YOKE_TRY(yoke_graph_create(ctx, s->plan->n_parts, subsystems, s->plan->n_couplings, s->plan->wires, &s->settings,
                             s->exec, &s->graph));
  YOKE_TRY(yoke_graph_start(s->graph, s->model->t_start, ctx));
  YOKE_TRY(
      yoke_amplification_create(ctx, s->graph, s->plan->n_parts, subsystems, !s->is_linearized, &s->amplification));
  set_reaches(s);
  const size_t n = (size_t)yoke_amplification_n(s->amplification);
  if (n > (size_t)max_states) {
    return yoke_fail(ctx, YOKE_E_USAGE, "model '%s': the amplification matrix has %zu rows, at most %d are computed",
                     s->model->name, n, max_states);
  }
  s->matrix = yoke_arena_take(&s->arena, n * n + 1, sizeof *s->matrix);
  s->size   = yoke_arena_take(&s->arena, n + 1, sizeof *s->size);
  return yoke_arena_check(&s->arena, ctx, "a matrix of %zu rows", n);
}

yoke_status yoke_stability_create(yoke_context *ctx, const yoke_model *model, int max_states, yoke_stability **out) {
  *out = NULL;
  if (model->n_parts == 0) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "model '%s' has no split, so there is no coupling whose stability could be asked for",
                     model->name);
  }
  yoke_stability *s = yoke_allocate(1, sizeof *s);
  if (s == NULL) return yoke_out_of_memory(ctx, "the analysis of stability");
  s->fixed  = *model;
  s->model  = &s->fixed;
  s->growth = -DBL_MAX;
  if (!model->cosimulation
           .has_step) { /* a step control's own method, halos of long chains say, would not be that of any fixed step */
    s->fixed.cosimulation.has_step = true;
    s->fixed.cosimulation.step     = 0.0;
  }
  const yoke_status status = build(s, max_states > 0 ? max_states : MAX_STATES, ctx);
  if (status != YOKE_OK) yoke_stability_destroy(&s);
  *out = s;
  return status;
}

void yoke_stability_destroy(yoke_stability **stability) {
  yoke_stability *s = *stability;
  if (s == NULL) return;
  yoke_amplification_destroy(&s->amplification);
  yoke_graph_destroy(&s->graph);
  drop_natives(s);
  for (int i = 0; s->parts != NULL && s->plan != NULL && i < s->plan->n_parts; ++i) {
    yoke_subsystem_destroy(&s->linear[i]);
    yoke_linearization_clear(&s->parts[i]);
  }
  yoke_exec_destroy(&s->exec);
  yoke_plan_destroy(&s->plan);
  yoke_arena_free(&s->arena);
  free(s);
  *stability = NULL;
}

/* ---- facts ---- */

void yoke_stability_method(const yoke_stability *s, char *text, size_t size) {
  const yoke_plan *plan = s->plan;
  int              used = snprintf(text, size, "scheme %s, order %d", s->settings.scheme, s->settings.order);
  for (int k = 0; k < plan->n_couplings && used >= 0 && (size_t)used < size; ++k) {
    const char *name     = plan->couplings[k].settings.formulation;
    bool        is_named = false;
    for (int i = 0; i < k; ++i) is_named = is_named || strcmp(name, plan->couplings[i].settings.formulation) == 0;
    if (is_named) continue;
    used += snprintf(text + used, size - (size_t)used, "%s%s", k == 0 ? ", formulation " : " and ", name);
  }
}

bool yoke_stability_is_linearized(const yoke_stability *stability) {
  return stability->is_linearized;
}

double yoke_stability_fastest(const yoke_stability *stability) {
  return stability->fastest;
}

double yoke_stability_growth(const yoke_stability *stability) {
  return stability->growth;
}

/* ---- what goes unstable ---- */

/* 0: force, 1: position, 2: velocity and all others. */
static int class_of(const yoke_channel *channel) {
  if (channel->is_force) return 0;
  return channel->enters[0] == YOKE_ENTRY_COPY_P || channel->enters[1] == YOKE_ENTRY_COPY_P ? 1 : 2;
}

/* Units of channels differ: each is compared with the largest of its class, and a coupling counts by the sum over the classes. */
static void name_coupling(const yoke_stability *s, yoke_stability_point *out) {
  const int memory_at = yoke_amplification_memory_at(s->amplification), n = yoke_amplification_n(s->amplification);
  double    largest[3] = {0.0}, best = 0.0;
  for (int pass = 0; pass < 2; ++pass) {
    for (int w = 0, k = memory_at; w < s->plan->n_couplings; ++w) {
      double              share[3] = {0.0}, most = 0.0;
      int                 strongest = 0;
      const yoke_channel *list      = channels_of(s, w);
      for (; k < n; ++k) {
        const yoke_memory_place place = yoke_graph_memory_place(s->graph, k - memory_at);
        if (place.wire != w) break;
        const int class = class_of(&list[place.channel]);
        if (pass == 0) {
          largest[class] = fmax(largest[class], s->size[k]);
          continue;
        }
        const double value = largest[class] > 0.0 ? s->size[k] / largest[class] : 0.0;
        share[class]       = fmax(share[class], value);
        if (value > most) {
          most      = value;
          strongest = place.channel;
        }
      }
      const double sum = share[0] + share[1] + share[2];
      if (pass == 0 || !(sum > best * (1.0 + 1e-9))) continue;
      best = sum;
      snprintf(out->coupling, sizeof out->coupling, "%s", s->plan->couplings[w].name);
      snprintf(out->channel, sizeof out->channel, "%.39s", list[strongest].name);
    }
  }
}

/* Component of v that entry j of a part's x belongs to. */
static int freedom_of(const yoke_stability *s, int part, int j) {
  if (s->is_linearized) return s->parts[part].coordinate[j % s->parts[part].n_freedoms];
  return j % yoke_native_equations(s->native[part])->nv;
}

/* Number in its chain of the first mass of a piece, with its halo, which is body `body` of part `part`. */
static int first_mass(const yoke_places *places, int part, int body) {
  for (int k = 0; k < places->piece_at[places->n_bodies]; ++k) {
    const yoke_piece *piece = &places->pieces[k];
    if (piece->place.part == part && piece->place.body == body) return piece->first - piece->halo[0];
  }
  return 0;
}

/* The body whose independent velocity carries most kinetic energy in the dominant mode. */
static yoke_status name_body(const yoke_stability *s, yoke_stability_point *out) {
  double best = 0.0;
  for (int p = 0; p < s->plan->n_parts; ++p) {
    const yoke_multibody *mb    = yoke_native_multibody(s->native[p]);
    const yoke_model     *model = s->plan->native[p].submodel.model;
    const int             nv    = yoke_native_equations(s->native[p])->nv;
    const int             from  = yoke_amplification_x_at(s->amplification, p),
              to                = yoke_amplification_x_at(s->amplification, p + 1);
    if (mb == NULL) continue;
    double *unit = yoke_allocate(2 * (size_t)nv + 1, sizeof *unit);
    if (unit == NULL) return YOKE_E_MEMORY;
    for (int j = from + (to - from) / 2; j < to; ++j) {
      const int k = freedom_of(s, p, j - from);
      unit[k]     = 1.0;
      yoke_multibody_mass_apply(mb, unit, unit + nv);
      const double energy = unit[nv + k] * s->size[j] * s->size[j];
      unit[k]             = 0.0;
      if (!(energy > best * (1.0 + 1e-9))) continue;
      int       component;
      bool      is_rotation;
      const int body = yoke_multibody_freedom_body(model, mb, k, &component, &is_rotation);
      best           = energy;
      if (body >= 0 && model->bodies[body].kind == YOKE_BODY_CHAIN) {
        snprintf(out->body, sizeof out->body, "%s[%d]", model->bodies[body].name,
                 first_mass(&s->plan->places, p, body) + component + 1);
      } else if (body >= 0) {
        snprintf(out->body, sizeof out->body, "%s", model->bodies[body].name);
      }
    }
    free(unit);
  }
  return YOKE_OK;
}

/* ---- points ---- */

yoke_status yoke_stability_at(yoke_stability *s, double H, yoke_stability_point *out, yoke_context *ctx) {
  if (H <= 0.0) H = s->H;
  *out = (yoke_stability_point){.H = H, .n = yoke_amplification_n(s->amplification)};
  if (!isfinite(H)) return yoke_fail(ctx, YOKE_E_USAGE, "macro step %g s: expected a finite number", H);
  out->model          = exp(H * s->growth);
  out->slack          = s->slack;
  yoke_context *quiet = NULL; /* why a step fails is no error of the analysis */
  YOKE_TRY(yoke_context_create(&quiet));
  yoke_context_watch_with(quiet, ctx, true);
  yoke_status status = yoke_amplification_matrix(s->amplification, H, s->matrix, quiet);
  yoke_context_destroy(&quiet);
  if (status == YOKE_E_INTERRUPTED) return yoke_fail(ctx, status, "interrupted");
  if (status == YOKE_OK) status = yoke_dominant_mode(out->n, s->matrix, &out->rho, &out->re, &out->im, s->size);
  if (status == YOKE_OK && out->rho > 0.0) {
    name_coupling(s, out);
    status = name_body(s, out);
  }
  if (status == YOKE_E_MEMORY) return yoke_out_of_memory(ctx, "the amplification matrix at H = %.6g s", H);
  if (status == YOKE_E_INTERNAL)
    return yoke_fail(ctx, status, "the amplification matrix at H = %.6g s cannot be computed", H);
  if (status != YOKE_OK) {
    out->rho = out->re = (double)INFINITY;
    return YOKE_OK;
  }
  return YOKE_OK;
}

bool yoke_stability_is_stable(const yoke_stability_point *point, double tolerance) {
  return point->rho <= fmax(1.0, point->model) * (1.0 + fmax(point->slack, tolerance > 0.0 ? tolerance : 1e-9));
}

/* ---- limit ---- */

yoke_status yoke_stability_limit(yoke_stability *s, const yoke_stability_search *given,
                                 yoke_stability_limit_result *out, yoke_context *ctx) {
  yoke_stability_search search = given != NULL ? *given : (yoke_stability_search){0};
  const double          unit   = s->fastest > 0.0 ? 1.0 / s->fastest : s->H;
  if (!(search.from > 0.0)) search.from = 1e-3 * unit;
  if (!(search.to > search.from)) search.to = fmax(1e2 * unit, 10.0 * search.from);
  if (search.n < 2) search.n = SCAN_POINTS;
  if (!(search.accuracy > 0.0)) search.accuracy = 1e-6;
  *out                = (yoke_stability_limit_result){.is_none = true, .H = search.to};
  const double factor = log(search.to / search.from) / (double)(search.n - 1);
  double       stable = 0.0, unstable = 0.0;
  for (int i = 0; i < search.n; ++i) {
    yoke_stability_point point;
    const double         H = i + 1 < search.n ? search.from * exp(factor * (double)i) : search.to;
    YOKE_TRY(yoke_stability_at(s, H, &point, ctx));
    ++out->n_matrices;
    const bool is_stable = yoke_stability_is_stable(&point, search.tolerance);
    if (search.progress != NULL && !search.progress(search.user, i + 1, search.n))
      return yoke_fail(ctx, YOKE_E_INTERRUPTED, "interrupted while the stable step was searched");
    if (out->is_none && is_stable) {
      stable = H;
    } else if (out->is_none) {
      out->is_none = false;
      unstable     = H;
      out->above   = point;
    } else if (is_stable) {
      out->next = H;
      break;
    }
  }
  if (out->is_none) return YOKE_OK;
  out->is_zero = stable == 0.0;
  for (int i = 0; stable > 0.0 && i < MAX_BISECTIONS && unstable - stable > search.accuracy * stable; ++i) {
    yoke_stability_point point;
    YOKE_TRY(yoke_stability_at(s, 0.5 * (stable + unstable), &point, ctx));
    ++out->n_matrices;
    if (yoke_stability_is_stable(&point, search.tolerance)) {
      stable = point.H;
    } else {
      unstable   = point.H;
      out->above = point;
    }
  }
  out->H = stable;
  return YOKE_OK;
}
