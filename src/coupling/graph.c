/* Creation of a graph, its start, and the acceptance of steps. */
#include "coupling/comparison.h"
#include "coupling/correction.h"
#include "coupling/joint_forces.h"
#include "coupling/joint_gap.h"
#include "coupling/residuals.h"
#include "coupling/state_reset.h"

#include "base/assert.h"
#include "base/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  START_ITERATIONS = 20,
  GROWING_STEPS    = 20, /* jumps beyond all values so far that make a divergence ... */
  QUIET_STEPS      = 10, /* ... unless so many steps lie between two of them */
  START_STEPS      = 20  /* which show what is usual in this run */
};
static const double impact_growth    = 1e5;  /* from one jump to the next: no divergence grows like this */
static const double beyond_mechanics = 1e12; /* times what is usual, at least 1 N or 1 m */

/* ---- creation ---- */

/* Sets of conditions, and what each solve counts in the mean. Couplings without sets follow the first that has the most. */
static void share_sets(yoke_graph *g) {
  const graph_wire *most = NULL;
  g->n_sets              = 1;
  for (int i = 0; i < g->n_wires; ++i) {
    graph_wire                 *wire = &g->wires[i];
    const yoke_formulation_ops *ops  = wire->wire.formulation;
    double                      sum  = 0.0;
    wire->n_sets                     = ops->n_sets != NULL ? ops->n_sets(wire->wire.self) : 1;
    for (int set = 0; set < wire->n_sets; ++set) {
      wire->share[set] = ops->n_sets != NULL ? ops->set_weight(wire->wire.self, set) : 1.0;
      sum += wire->share[set];
    }
    for (int set = 0; set < wire->n_sets; ++set) wire->share[set] /= sum;
    if (wire->n_sets > g->n_sets) most = wire;
    if (most == wire) g->n_sets = wire->n_sets;
  }
  for (int i = 0; most != NULL && i < g->n_wires; ++i) {
    graph_wire *wire = &g->wires[i];
    if (wire->wire.formulation->n_sets == NULL) memcpy(wire->share, most->share, sizeof wire->share);
  }
}

/* Channels, conditions and unknowns of all wires at the full degree. */
static yoke_status build_wires(yoke_graph *g, yoke_context *ctx, const yoke_wire *wires) {
  int n = 0;
  for (int i = 0; i < g->n_wires; ++i) {
    yoke_channel list[YOKE_COUPLING_MAX_CHANNELS];
    n += wires[i].formulation->channels(wires[i].self, list);
  }
  g->channels = yoke_arena_take(&g->arena, (size_t)n, sizeof *g->channels);
  YOKE_TRY(yoke_arena_check(&g->arena, ctx, "%d channels", n));
  for (int i = 0; i < g->n_wires; ++i) {
    graph_wire  *wire = &g->wires[i];
    yoke_channel list[YOKE_COUPLING_MAX_CHANNELS];
    wire->wire       = wires[i];
    wire->first      = g->n_channels;
    wire->n_channels = wires[i].formulation->channels(wires[i].self, list);
    wire->c_at       = g->n_c;
    wire->n_c        = wires[i].formulation->n_conditions(wires[i].self);
    for (int k = 0; k < wire->n_channels; ++k) {
      graph_channel *channel = &g->channels[g->n_channels++];
      channel->info          = list[k];
      channel->wire          = i;
      channel->order         = wires[i].formulation->order != NULL ? wires[i].formulation->order(wires[i].self, k) : -1;
      wires[i].formulation->layout(wires[i].self, k, g->settings.order, &channel->layout);
      channel->n_nodes = yoke_layout_n_nodes(&channel->layout);
      channel->w_at    = g->n_w;
      g->n_w += channel->n_nodes;
    }
    g->n_c += wire->n_c;
    for (int side = 0; side < 2; ++side) {
      wire->n_y[side] = wires[i].n_y[side] > 0 ? wires[i].n_y[side] : yoke_port_n_y(wires[i].kind[side]);
    }
    const size_t per_channel = (size_t)wire->n_c * (size_t)wire->n_channels;
    wire->dc_du              = yoke_arena_take(&g->arena, per_channel, sizeof(double));
    wire->dc_du_dot          = yoke_arena_take(&g->arena, per_channel, sizeof(double));
    wire->dc_du_integral     = yoke_arena_take(&g->arena, per_channel, sizeof(double));
    wire->dc_dy[0]           = yoke_arena_take(&g->arena, (size_t)wire->n_c * (size_t)wire->n_y[0], sizeof(double));
    wire->dc_dy[1]           = yoke_arena_take(&g->arena, (size_t)wire->n_c * (size_t)wire->n_y[1], sizeof(double));
  }
  YOKE_ASSERT(g->n_w == g->n_c); /* unknown nodes and conditions */
  share_sets(g);
  return yoke_arena_check(&g->arena, ctx, "%d couplings", g->n_wires);
}

/* Which channel feeds which input, and which unknowns enter a subsystem. */
static yoke_status wire_subsystem(yoke_graph *g, yoke_context *ctx, int i) {
  graph_subsystem *s  = &g->subsystems[i];
  const int        nu = s->subsystem->nu;
  s->input_channel    = yoke_arena_take(&g->arena, (size_t)nu, sizeof(int));
  int n_columns       = 0;
  YOKE_TRY(yoke_arena_check(&g->arena, ctx, "subsystem '%s'", s->subsystem->name));
  for (int k = 0; k < nu; ++k) s->input_channel[k] = -1;
  for (int w = 0; w < g->n_wires; ++w) {
    for (int k = 0; k < g->wires[w].n_channels; ++k) {
      bool enters = false;
      for (int side = 0; side < 2; ++side) {
        const int input = g->wires[w].wire.input_at[side][k];
        if (g->wires[w].wire.subsystem[side] != i || input < 0) continue;
        YOKE_ASSERT(input < nu);
        s->input_channel[input] = g->wires[w].first + k;
        enters                  = true;
      }
      if (enters) n_columns += g->channels[g->wires[w].first + k].n_nodes;
    }
  }
  s->column_channel = yoke_arena_take(&g->arena, (size_t)n_columns, sizeof(int));
  s->column_node    = yoke_arena_take(&g->arena, (size_t)n_columns, sizeof(int));
  s->column         = yoke_arena_take(&g->arena, (size_t)n_columns, sizeof(int));
  s->dy             = yoke_arena_take(&g->arena, (size_t)n_columns * (size_t)s->subsystem->ny, sizeof(double));
  YOKE_TRY(yoke_arena_check(&g->arena, ctx, "subsystem '%s'", s->subsystem->name));
  for (int c = 0; c < g->n_channels; ++c) {
    const graph_wire *wire   = &g->wires[g->channels[c].wire];
    const int         k      = c - wire->first;
    bool              enters = false;
    for (int side = 0; side < 2; ++side) {
      enters = enters || (wire->wire.subsystem[side] == i && wire->wire.input_at[side][k] >= 0);
    }
    for (int node = 0; enters && node < g->channels[c].n_nodes; ++node) {
      s->column_channel[s->n_columns] = c;
      s->column_node[s->n_columns]    = node;
      s->column[s->n_columns++]       = g->channels[c].w_at + node;
    }
  }
  return YOKE_OK;
}

/* Inputs of a subsystem are cut at the inner nodes of all channels that enter: their positions must fit into one signal. */
static yoke_status check_breaks(const yoke_graph *g, yoke_context *ctx, const graph_subsystem *s) {
  double at[GRAPH_MAX_BREAKS];
  int    n = 0;
  for (int c = 0; c < s->n_columns; ++c) {
    const graph_channel *channel = &g->channels[s->column_channel[c]];
    const double         node    = yoke_layout_node(&channel->layout, s->column_node[c]);
    bool                 is_new  = node < 1.0;
    for (int k = 0; k < n; ++k) is_new = is_new && at[k] != node;
    if (!is_new) continue;
    if (n == GRAPH_MAX_BREAKS - 1) {
      return yoke_fail(
          ctx, YOKE_E_MODEL,
          "subsystem '%s': its couplings have more than %d different inner nodes; give several of them the "
          "same nodes",
          s->subsystem->name, GRAPH_MAX_BREAKS - 1);
    }
    at[n++] = node;
  }
  return YOKE_OK;
}

static yoke_status build_subsystems(yoke_graph *g, yoke_context *ctx, yoke_subsystem *const *subsystems) {
  const int n_workers = yoke_exec_n_workers(g->exec);
  size_t    scratch = 64, most_u = 1, most_y = 1;
  int       n_tasks = 0;
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s = &g->subsystems[i];
    s->subsystem       = subsystems[i];
    YOKE_TRY(wire_subsystem(g, ctx, i));
    YOKE_TRY(check_breaks(g, ctx, s));
    const size_t ny = (size_t)s->subsystem->ny;
    s->y            = yoke_arena_take(&g->arena, ny, sizeof(double));
    s->y_new        = yoke_arena_take(&g->arena, ny, sizeof(double));
    s->y_predicted  = yoke_arena_take(&g->arena, ny, sizeof(double));
    s->past_y       = yoke_arena_take(&g->arena, ny * GRAPH_PAST, sizeof(double));
    s->da_du        = yoke_arena_take(&g->arena, ny * (size_t)s->subsystem->nu, sizeof(double));
    s->variant      = yoke_arena_take(&g->arena, (size_t)n_workers, sizeof *s->variant);
    bool ok         = !g->arena.has_failed && yoke_context_create(&s->ctx) == YOKE_OK;
    ok              = ok && yoke_subsystem_state_create(s->subsystem, &s->accepted) == YOKE_OK;
    if (s->subsystem->ops->copy != NULL) ok = ok && yoke_subsystem_state_create(s->subsystem, &s->trial) == YOKE_OK;
    for (int k = 0; ok && g->scheme->needs_repeat && k < n_workers; ++k) {
      ok = yoke_subsystem_state_create(s->subsystem, &s->variant[k]) == YOKE_OK;
    }
    if (!ok) return yoke_out_of_memory(ctx, "the states of subsystem '%s'", s->subsystem->name);
    if (s->subsystem->scratch_size > scratch) scratch = s->subsystem->scratch_size;
    if ((size_t)s->subsystem->nu > most_u) most_u = (size_t)s->subsystem->nu;
    if (ny > most_y) most_y = ny;
    n_tasks += 2 + s->n_columns; /* main, comparison, perturbed */
  }
  g->tasks      = yoke_arena_take(&g->arena, (size_t)n_tasks, sizeof *g->tasks);
  g->scratch    = yoke_arena_take(&g->arena, (size_t)n_workers, sizeof *g->scratch);
  g->signal_c   = yoke_arena_take(&g->arena, (size_t)n_workers, sizeof *g->signal_c);
  g->variant_y  = yoke_arena_take(&g->arena, (size_t)n_workers, sizeof *g->variant_y);
  g->worker_ctx = yoke_arena_take(&g->arena, (size_t)n_workers, sizeof *g->worker_ctx);
  bool ok       = !g->arena.has_failed;
  for (int k = 0; ok && k < n_workers; ++k) {
    g->scratch[k]   = yoke_arena_take(&g->arena, scratch, 1);
    g->signal_c[k]  = yoke_arena_take(&g->arena, most_u * GRAPH_MAX_BREAKS * (GRAPH_SIGNAL_DEGREE + 1), sizeof(double));
    g->variant_y[k] = yoke_arena_take(&g->arena, most_y, sizeof(double));
    ok              = !g->arena.has_failed && yoke_context_create(&g->worker_ctx[k]) == YOKE_OK;
  }
  return ok ? YOKE_OK : yoke_out_of_memory(ctx, "%d workers", n_workers);
}

/* Newton matrix: conditions of a wire against its own unknowns and all that enter its two subsystems. */
static yoke_status build_matrix(yoke_graph *g, yoke_context *ctx) {
  size_t n = 0;
  for (int i = 0; i < g->n_wires; ++i) {
    const graph_wire *wire = &g->wires[i];
    size_t            own  = 0;
    for (int k = 0; k < wire->n_channels; ++k) own += (size_t)g->channels[wire->first + k].n_nodes;
    n += (size_t)wire->n_c * (own + (size_t)g->subsystems[wire->wire.subsystem[0]].n_columns +
                              (size_t)g->subsystems[wire->wire.subsystem[1]].n_columns);
  }
  yoke_arena  scratch = {0};
  int        *row     = yoke_arena_take(&scratch, n, sizeof *row);
  int        *col     = yoke_arena_take(&scratch, n, sizeof *col);
  int        *slot    = yoke_arena_take(&scratch, n, sizeof *slot);
  yoke_status status  = yoke_arena_check(&scratch, ctx, "a Newton matrix of %d conditions", g->n_c);
  for (int pass = 0; pass < 2 && status == YOKE_OK; ++pass) { /* 0: count and build the pattern; 1: hand out slots */
    size_t at = 0;
    for (int i = 0; i < g->n_wires; ++i) {
      graph_wire *wire      = &g->wires[i];
      const int   first_w   = wire->n_channels > 0 ? g->channels[wire->first].w_at : 0;
      const int   n_own     = wire->n_c; /* unknowns of a coupling are as many as its conditions */
      const int   counts[3] = {n_own, g->subsystems[wire->wire.subsystem[0]].n_columns,
                               g->subsystems[wire->wire.subsystem[1]].n_columns};
      for (int part = 0; part < 3; ++part) {
        int **place = part == 0 ? &wire->slot_own : &wire->slot_side[part - 1];
        if (pass == 1) {
          *place = yoke_arena_take(&g->arena, (size_t)wire->n_c * (size_t)counts[part], sizeof **place);
          if (*place == NULL) status = yoke_out_of_memory(ctx, "the couplings");
        }
        for (int r = 0; r < wire->n_c && status == YOKE_OK; ++r) {
          for (int k = 0; k < counts[part]; ++k, ++at) {
            row[at] = wire->c_at + r;
            col[at] = part == 0 ? first_w + k : g->subsystems[wire->wire.subsystem[part - 1]].column[k];
            if (pass == 1) (*place)[r * counts[part] + k] = slot[at];
          }
        }
      }
    }
    if (pass == 0 && status == YOKE_OK) {
      status = yoke_pattern_create(ctx, g->n_c, g->n_w, (int)at, row, col, slot, &g->pattern);
      if (status == YOKE_OK && g->n_c > 0) status = yoke_linear_create(ctx, g->pattern, YOKE_LINEAR_KLU, &g->linear);
    }
  }
  yoke_arena_free(&scratch);
  return status;
}

static yoke_status allocate_unknowns(yoke_graph *g, yoke_context *ctx) {
  const size_t n    = (size_t)g->n_w;
  g->w              = yoke_arena_take(&g->arena, n, sizeof(double));
  g->w_predicted    = yoke_arena_take(&g->arena, n, sizeof(double));
  g->w_before       = yoke_arena_take(&g->arena, n, sizeof(double));
  g->c              = yoke_arena_take(&g->arena, n, sizeof(double));
  g->delta          = yoke_arena_take(&g->arena, n, sizeof(double));
  g->delta_previous = yoke_arena_take(&g->arena, n, sizeof(double));
  g->delta_set      = yoke_arena_take(&g->arena, n, sizeof(double));
  g->units          = yoke_arena_take(&g->arena, n, sizeof *g->units);
  const size_t nnz  = (size_t)(g->pattern != NULL ? g->pattern->nnz : 0);
  g->J              = yoke_arena_take(&g->arena, (size_t)g->n_sets * nnz, sizeof(double));
  g->linear_work = yoke_arena_take(&g->arena, g->linear != NULL ? yoke_linear_work_size(g->linear) : 1, sizeof(double));
  if (g->settings.jacobian == YOKE_JACOBIAN_BROYDEN)
    g->broyden = yoke_arena_take(&g->arena, 3 * n * n + n, sizeof(double));
  YOKE_TRY(yoke_arena_check(&g->arena, ctx, "%d coupling unknowns", g->n_w));
  graph_units_set(g);
  return YOKE_OK;
}

/* Multipliers with half-step nodes keep a mode of factor -1 or 1 (degree 1, 2) that an approximate matrix, corrected only
 * once, makes grow: the analytic responses leave out stiffness and damping of the subsystems. */
static void warn_of_rough_matrix(const yoke_graph *g, yoke_context *ctx) {
  if (g->settings.jacobian != YOKE_JACOBIAN_ANALYTIC || strcmp(g->settings.scheme, "semi-implicit") != 0) return;
  for (int c = 0; c < g->n_channels; ++c) {
    const graph_channel *channel = &g->channels[c];
    const bool           is_multiplier =
        channel->info.enters[0] == YOKE_ENTRY_LAMBDA || channel->info.enters[1] == YOKE_ENTRY_LAMBDA;
    if (!is_multiplier || channel->layout.kind != YOKE_LAYOUT_HALF || channel->layout.degree == 0) continue;
    yoke_warn(ctx,
              "coupling '%s': one correction with jacobian analytic, which neglects stiffness and damping, can make "
              "multipliers of order %d grow; use order 0, scheme implicit, or jacobian broyden or finite-difference",
              g->wires[channel->wire].wire.name, channel->layout.degree);
    return;
  }
}

/* A second multiplier moves bodies without accelerating them: analytic responses, of accelerations, do not see it. */
static yoke_status check_motions(const yoke_graph *g, yoke_context *ctx) {
  if (g->settings.jacobian != YOKE_JACOBIAN_ANALYTIC) return YOKE_OK;
  for (int c = 0; c < g->n_channels; ++c) {
    const yoke_entry *enters = g->channels[c].info.enters;
    if (enters[0] != YOKE_ENTRY_MU && enters[1] != YOKE_ENTRY_MU) continue;
    return yoke_fail(ctx, YOKE_E_MODEL,
                     "coupling '%s': jacobian analytic knows responses of accelerations only, and the multipliers mu "
                     "have none; use jacobian finite-difference or broyden",
                     g->wires[g->channels[c].wire].wire.name);
  }
  return YOKE_OK;
}

/* Couplings whose channels have degrees of their own extrapolate all subsystems' inputs beforehand. */
static yoke_status check_own_orders(const yoke_graph *g, yoke_context *ctx) {
  const yoke_scheme_settings *s = &g->settings;
  for (int i = 0; i < g->n_wires; ++i) {
    const yoke_wire *wire = &g->wires[i].wire;
    if (wire->formulation->order == NULL) continue;
    if (s->gauss_seidel) {
      return yoke_fail(ctx, YOKE_E_MODEL,
                       "coupling '%s': formulation '%s' gives all subsystems their inputs beforehand, so they cannot "
                       "run one after another; use sequence jacobi",
                       wire->name, wire->formulation->name);
    }
    if (s->predictor != YOKE_PREDICTOR_EXTRAPOLATION) {
      return yoke_fail(ctx, YOKE_E_MODEL,
                       "coupling '%s': formulation '%s' extrapolates force and motion with degrees of its own; use "
                       "predictor extrapolation",
                       wire->name, wire->formulation->name);
    }
  }
  return YOKE_OK;
}

static yoke_status check_settings(const yoke_graph *g, yoke_context *ctx) {
  const yoke_scheme_settings *s = &g->settings;
  YOKE_TRY(check_own_orders(g, ctx));
  warn_of_rough_matrix(g, ctx);
  YOKE_TRY(check_motions(g, ctx));
  if (s->gauss_seidel && !g->scheme->can_sequence) {
    return yoke_fail(ctx, YOKE_E_MODEL,
                     "scheme '%s' corrects all subsystems at once and cannot run them one after another: use "
                     "sequence jacobi, or scheme explicit or waveform",
                     s->scheme);
  }
  if (yoke_predictor_is_motion(s->predictor) && strcmp(s->scheme, "explicit") != 0) {
    return yoke_fail(
        ctx, YOKE_E_MODEL,
        "the acceleration predictors are explicit methods, scheme is %s: use scheme explicit, or none, or predictor "
        "extrapolation",
        s->scheme);
  }
  if (s->predictor == YOKE_PREDICTOR_LEAST_SQUARES && (s->samples < s->order + 2 || s->samples > GRAPH_PAST)) {
    return yoke_fail(ctx, YOKE_E_MODEL, "least-squares predictor: samples is %d, expected %d to %d for order %d",
                     s->samples, s->order + 2, GRAPH_PAST, s->order);
  }
  if (s->predictor == YOKE_PREDICTOR_ACCELERATION && s->gauss_seidel) {
    return yoke_fail(
        ctx, YOKE_E_MODEL,
        "the acceleration predictor gives all subsystems their inputs beforehand, so they cannot run one after "
        "another: use sequence jacobi, or predictor acceleration-relaxed");
  }
  for (int i = 0; i < g->n_wires; ++i) {
    if (yoke_predictor_is_motion(s->predictor) && g->wires[i].wire.formulation->update == NULL) {
      return yoke_fail(ctx, YOKE_E_MODEL,
                       "coupling '%s': formulation '%s' has no explicit form, which predictors by accelerations need; "
                       "use predictor extrapolation with scheme semi-implicit or implicit",
                       g->wires[i].wire.name, g->wires[i].wire.formulation->name);
    }
    if (g->scheme->needs_explicit_form && g->wires[i].wire.formulation->update == NULL) {
      return yoke_fail(
          ctx, YOKE_E_MODEL,
          "coupling '%s': formulation '%s' has no explicit form, which scheme '%s' needs; use semi-implicit "
          "or implicit",
          g->wires[i].wire.name, g->wires[i].wire.formulation->name, s->scheme);
    }
    if (g->wires[i].n_sets > 1 && s->jacobian == YOKE_JACOBIAN_BROYDEN) {
      return yoke_fail(ctx, YOKE_E_MODEL,
                       "coupling '%s': formulation '%s' corrects with %d matrices from one set of perturbed "
                       "integrations, broyden keeps one; use jacobian finite-difference or analytic",
                       g->wires[i].wire.name, g->wires[i].wire.formulation->name, g->wires[i].n_sets);
    }
    if (g->wires[i].n_sets > 1 && strcmp(s->scheme, "implicit") == 0) {
      return yoke_fail(ctx, YOKE_E_MODEL,
                       "coupling '%s': formulation '%s' has %d sets of conditions without a common solution, so "
                       "corrections do not converge; use scheme semi-implicit",
                       g->wires[i].wire.name, g->wires[i].wire.formulation->name, g->wires[i].n_sets);
    }
  }
  for (int i = 0; i < g->n_subsystems; ++i) {
    if (g->scheme->needs_repeat && g->subsystems[i].subsystem->ops->copy == NULL) {
      return yoke_fail(ctx, YOKE_E_MODEL, "subsystem '%s' cannot go back, which scheme '%s' needs; use scheme explicit",
                       g->subsystems[i].subsystem->name, s->scheme);
    }
    if (s->jacobian == YOKE_JACOBIAN_ANALYTIC && g->subsystems[i].subsystem->ops->compliance == NULL) {
      return yoke_fail(ctx, YOKE_E_MODEL, "subsystem '%s' gives no analytic response; use jacobian finite-difference",
                       g->subsystems[i].subsystem->name);
    }
  }
  return YOKE_OK;
}

yoke_status yoke_graph_create(yoke_context *ctx, int n_subsystems, yoke_subsystem *const *subsystems, int n_wires,
                              const yoke_wire *wires, const yoke_scheme_settings *settings, yoke_exec *exec,
                              yoke_graph **out) {
  *out          = NULL;
  yoke_graph *g = yoke_allocate(1, sizeof *g);
  if (g == NULL) return yoke_out_of_memory(ctx, "the couplings");
  g->settings        = *settings;
  g->wanted          = settings->order;
  g->exec            = exec;
  g->scheme          = yoke_scheme_find(settings->scheme);
  g->n_subsystems    = n_subsystems;
  g->n_wires         = n_wires;
  g->subsystems      = yoke_arena_take(&g->arena, (size_t)n_subsystems, sizeof *g->subsystems);
  g->wires           = yoke_arena_take(&g->arena, (size_t)n_wires, sizeof *g->wires);
  yoke_status status = yoke_arena_check(&g->arena, ctx, "the couplings");
  if (status == YOKE_OK && g->scheme == NULL)
    status = yoke_fail(ctx, YOKE_E_MODEL, "there is no scheme '%s'", settings->scheme);
  if (status == YOKE_OK) status = build_wires(g, ctx, wires);
  if (status == YOKE_OK) status = build_subsystems(g, ctx, subsystems);
  if (status == YOKE_OK) status = check_settings(g, ctx);
  if (status == YOKE_OK && g->scheme->needs_repeat) status = build_matrix(g, ctx);
  if (status == YOKE_OK) status = allocate_unknowns(g, ctx);
  if (status == YOKE_OK) status = yoke_state_reset_create(ctx, g, &g->reset);
  if (status == YOKE_OK) status = yoke_joint_forces_create(ctx, g, &g->forces);
  if (status != YOKE_OK) {
    yoke_graph_destroy(&g);
    return status;
  }
  *out = g;
  return YOKE_OK;
}

static void destroy_subsystem(graph_subsystem *s, int n_workers) {
  if (s->subsystem != NULL) {
    yoke_subsystem_state_destroy(s->subsystem, &s->accepted);
    yoke_subsystem_state_destroy(s->subsystem, &s->trial);
    yoke_subsystem_state_destroy(s->subsystem, &s->compared);
    for (int k = 0; s->variant != NULL && k < n_workers; ++k)
      yoke_subsystem_state_destroy(s->subsystem, &s->variant[k]);
  }
  yoke_context_destroy(&s->ctx);
}

void yoke_graph_destroy(yoke_graph **graph) {
  yoke_graph *g = *graph;
  if (g == NULL) return;
  const int n_workers = yoke_exec_n_workers(g->exec);
  graph_consistent_destroy(g);
  for (int i = 0; g->subsystems != NULL && i < g->n_subsystems; ++i) destroy_subsystem(&g->subsystems[i], n_workers);
  for (int k = 0; g->worker_ctx != NULL && k < n_workers; ++k) yoke_context_destroy(&g->worker_ctx[k]);
  for (int set = 0; set < YOKE_COUPLING_MAX_SETS; ++set) yoke_factor_release(&g->factor[set]);
  yoke_linear_destroy(&g->linear);
  yoke_pattern_destroy(&g->pattern);
  yoke_state_reset_destroy(&g->reset);
  yoke_joint_forces_destroy(&g->forces);
  yoke_arena_free(&g->arena);
  free(g);
  *graph = NULL;
}

/* ---- start ---- */

void graph_update(const yoke_graph *g, const graph_wire *wire, double t, const double *y1, const double *y2,
                  double *u) {
  double now[YOKE_COUPLING_MAX_CHANNELS];
  for (int k = 0; k < wire->n_channels; ++k) {
    const graph_channel *channel = &g->channels[wire->first + k];
    now[k]                       = g->H > 0.0 ? g->w[channel->w_at + channel->n_nodes - 1] : channel->past[0];
  }
  wire->wire.formulation->update(wire->wire.self, t, y1, y2, now, u);
}

void graph_settle(const graph_wire *wire, double t, const double *y1, const double *y2, int rounds, double *u) {
  double now[YOKE_COUPLING_MAX_CHANNELS];
  for (int round = 0; round < rounds; ++round) {
    memcpy(now, u, (size_t)wire->n_channels * sizeof *now);
    wire->wire.formulation->update(wire->wire.self, t, y1, y2, now, u);
  }
}

/* Constant inputs of one subsystem from the newest values of the history. */
void graph_held_signal(const yoke_graph *g, int i, double t, double *times, double *c, yoke_signal *out) {
  const graph_subsystem *s = &g->subsystems[i];
  for (int k = 0; k < s->subsystem->nu; ++k)
    c[k] = s->input_channel[k] >= 0 ? g->channels[s->input_channel[k]].past[0] : 0.0;
  times[0] = t;
  times[1] = t + 1.0;
  *out     = (yoke_signal){.n = s->subsystem->nu, .n_pieces = 1, .degree = 0, .t = times, .c = c};
}

yoke_status graph_outputs_with_history(yoke_graph *g, double t) {
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s = &g->subsystems[i];
    double           times[2];
    yoke_signal      signal;
    graph_held_signal(g, i, t, times, g->signal_c[0], &signal);
    YOKE_TRY(yoke_subsystem_output(s->subsystem, g->scratch[0], s->accepted, &signal, s->y));
  }
  return YOKE_OK;
}

/* Channel values that the wires give themselves (multipliers of the whole model, copies of its motion). */
static void set_initial(yoke_graph *g) {
  for (int c = 0; c < g->n_channels; ++c) {
    graph_channel *channel           = &g->channels[c];
    const double  *initial           = g->wires[channel->wire].wire.initial;
    g->wires[channel->wire].is_given = initial != NULL;
    if (initial == NULL) continue;
    channel->past[0] = initial[c - g->wires[channel->wire].first];
    channel->largest = fabs(channel->past[0]);
  }
}

/* Positions and velocities do not depend on the inputs, accelerations do: two rounds settle forces, a third what depends on accelerations. */
yoke_status graph_balance(yoke_graph *g, double t, yoke_context *ctx) {
  for (int round = 0; round < START_ITERATIONS; ++round) {
    double      change = 0.0;
    yoke_status status = graph_outputs_with_history(g, t);
    if (status != YOKE_OK) return yoke_fail(ctx, YOKE_E_UNSTABLE, "outputs at t = %.9g s are not finite", t);
    for (int w = 0; w < g->n_wires; ++w) {
      const graph_wire *wire = &g->wires[w];
      double            u[YOKE_COUPLING_MAX_CHANNELS];
      if (wire->is_given || wire->wire.formulation->update == NULL) continue;
      graph_update(g, wire, t, graph_port(wire, 0, g->subsystems[wire->wire.subsystem[0]].y),
                   graph_port(wire, 1, g->subsystems[wire->wire.subsystem[1]].y), u);
      for (int k = 0; k < wire->n_channels; ++k) {
        graph_channel *channel = &g->channels[wire->first + k];
        change                 = fmax(change, fabs(u[k] - channel->past[0]) / fmax(fabs(u[k]), 1e-12));
        channel->past[0]       = u[k];
        channel->largest       = fabs(u[k]);
      }
    }
    if (change < 1e-14) break;
  }
  return graph_outputs_with_history(g, t);
}

yoke_status yoke_graph_start(yoke_graph *g, double t, yoke_context *ctx) {
  g->n_past    = 1;
  g->past_t[0] = t;
  g->H         = 0.0;
  set_initial(g);
  for (int i = 0; i < g->n_subsystems; ++i) {
    double      times[2];
    yoke_signal signal;
    graph_held_signal(g, i, t, times, g->signal_c[0], &signal);
    YOKE_TRY(
        yoke_subsystem_start(g->subsystems[i].subsystem, g->scratch[0], g->subsystems[i].accepted, t, &signal, ctx));
  }
  YOKE_TRY(graph_balance(g, t, ctx));
  for (int i = 0; i < g->n_subsystems; ++i) { /* start again, now with the inputs of the first step's left end */
    double      times[2];
    yoke_signal signal;
    graph_held_signal(g, i, t, times, g->signal_c[0], &signal);
    YOKE_TRY(
        yoke_subsystem_start(g->subsystems[i].subsystem, g->scratch[0], g->subsystems[i].accepted, t, &signal, ctx));
    memcpy(g->subsystems[i].past_y, g->subsystems[i].y, (size_t)g->subsystems[i].subsystem->ny * sizeof(double));
  }
  for (int w = 0; w < g->n_wires; ++w) {
    const graph_wire *wire = &g->wires[w];
    if (wire->wire.formulation->advise == NULL) continue;
    const char *const names[2] = {g->subsystems[wire->wire.subsystem[0]].subsystem->name,
                                  g->subsystems[wire->wire.subsystem[1]].subsystem->name};
    wire->wire.formulation->advise(wire->wire.self, wire->wire.name, names,
                                   graph_port(wire, 0, g->subsystems[wire->wire.subsystem[0]].y),
                                   graph_port(wire, 1, g->subsystems[wire->wire.subsystem[1]].y), ctx);
  }
  graph_consistent_start(g);
  return YOKE_OK;
}

void yoke_graph_add_past(yoke_graph *g, double t, const double *y, const double *const *given) {
  if (g->n_past == GRAPH_PAST) return;
  const int n  = g->n_past++;
  g->past_t[n] = t;
  int at       = 0;
  for (int i = 0; i < g->n_subsystems; ++i) {
    const int ny = g->subsystems[i].subsystem->ny;
    memcpy(g->subsystems[i].past_y + (size_t)n * (size_t)ny, y + at, (size_t)ny * sizeof(double));
    at += ny;
  }
  for (int w = 0; w < g->n_wires; ++w) {
    const graph_wire *wire = &g->wires[w];
    double            u[YOKE_COUPLING_MAX_CHANNELS];
    const double     *port[2];
    for (int side = 0; side < 2; ++side) {
      const graph_subsystem *s = &g->subsystems[wire->wire.subsystem[side]];
      port[side]               = graph_port(wire, side, s->past_y + (size_t)n * (size_t)s->subsystem->ny);
    }
    for (int k = 0; k < wire->n_channels; ++k)
      u[k] = given[w] != NULL ? given[w][k] : g->channels[wire->first + k].past[0];
    if (given[w] == NULL && wire->wire.formulation->update != NULL)
      graph_settle(wire, t, port[0], port[1], GRAPH_CONSISTENT, u);
    for (int k = 0; k < wire->n_channels; ++k) g->channels[wire->first + k].past[n] = u[k];
  }
  graph_consistent_start(g);
}

/* ---- steps ---- */

/* Channel values at t_next that the present outputs belong to, into `value`. */
static void set_end_values(yoke_graph *g) {
  for (int c = 0; c < g->n_channels; ++c) {
    graph_channel *channel = &g->channels[c];
    channel->value         = g->w[channel->w_at + channel->n_nodes - 1];
  }
}

/* Does exchange `number` of a coupling change an input of this subsystem? */
static bool is_exchanged(const yoke_graph *g, const graph_subsystem *s, int number) {
  for (int k = 0; k < s->subsystem->nu; ++k) {
    if (s->input_channel[k] < 0) continue;
    const yoke_wire *wire = &g->wires[g->channels[s->input_channel[k]].wire].wire;
    if (wire->formulation->n_exchanges != NULL && number < wire->formulation->n_exchanges(wire->self)) return true;
  }
  return false;
}

/* Outputs of the trial states with the values of the channels: of subsystems that take part in exchange `number`, -1: of all. */
static yoke_status outputs_with_values(yoke_graph *g, int number) {
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s = &g->subsystems[i];
    if (number >= 0 && !is_exchanged(g, s, number)) continue;
    double      *c        = g->signal_c[0];
    const double times[2] = {g->past_t[0], g->t_next};
    for (int k = 0; k < s->subsystem->nu; ++k)
      c[k] = s->input_channel[k] >= 0 ? g->channels[s->input_channel[k]].value : 0.0;
    const yoke_signal signal = {.n = s->subsystem->nu, .n_pieces = 1, .degree = 0, .t = times, .c = c};
    YOKE_TRY(yoke_subsystem_output(s->subsystem, g->scratch[0], s->trial != NULL ? s->trial : s->accepted, &signal,
                                   s->y_new));
  }
  return YOKE_OK;
}

/* Multipliers that were found together go into the values u of a coupling. */
static void take_force(const yoke_graph *g, const graph_wire *wire, int number, const double *now, double *u) {
  const yoke_formulation_ops *ops    = wire->wire.formulation;
  const double               *lambda = yoke_joint_forces_of(g->forces, (int)(wire - g->wires));
  if (lambda == NULL || ops->force_rows(wire->wire.self, number, NULL, NULL, NULL) == 0) return;
  ops->take_force(wire->wire.self, number, now, lambda, u);
}

yoke_status graph_exchange(yoke_graph *g) {
  int most = 0;
  set_end_values(g);
  for (int w = 0; w < g->n_wires; ++w) {
    const yoke_wire *wire = &g->wires[w].wire;
    const int        n    = wire->formulation->n_exchanges != NULL ? wire->formulation->n_exchanges(wire->self) : 0;
    if (n > most) most = n;
  }
  for (int number = 0; number < most; ++number) {
    if (g->forces != NULL) YOKE_TRY(yoke_joint_forces_find(g->forces, g, number));
    for (int w = 0; w < g->n_wires; ++w) {
      const graph_wire           *wire = &g->wires[w];
      const yoke_formulation_ops *ops  = wire->wire.formulation;
      double                      now[YOKE_COUPLING_MAX_CHANNELS], u[YOKE_COUPLING_MAX_CHANNELS];
      if (ops->n_exchanges == NULL || number >= ops->n_exchanges(wire->wire.self)) continue;
      for (int k = 0; k < wire->n_channels; ++k) now[k] = u[k] = g->channels[wire->first + k].value;
      ops->exchange(wire->wire.self, number, g->t_next,
                    graph_port(wire, 0, g->subsystems[wire->wire.subsystem[0]].y_new),
                    graph_port(wire, 1, g->subsystems[wire->wire.subsystem[1]].y_new), now, u);
      take_force(g, wire, number, now, u);
      for (int k = 0; k < wire->n_channels; ++k) g->channels[wire->first + k].value = u[k];
    }
    YOKE_TRY(outputs_with_values(g, number));
  }
  return YOKE_OK;
}

/* What may help a coupling that diverges. */
static const char *remedy(const yoke_graph *g, const graph_channel *channel) {
  if (channel->order >= 0) return "a smaller macro step, a lower order, or force exact"; /* no other scheme drives it */
  if (g->scheme->needs_explicit_form) return "a smaller macro step, a lower order, or scheme semi-implicit";
  if (strcmp(g->settings.scheme, "implicit") == 0) return "a smaller macro step, a lower order, or another formulation";
  return "a smaller macro step, a lower order, or scheme implicit";
}

/* A step that failed while a coupling was growing beyond all bounds failed because of that. */
static yoke_status explain_failure(const yoke_graph *g, yoke_status status, yoke_context *ctx) {
  const graph_channel *worst = NULL;
  for (int c = 0; c < g->n_channels; ++c) {
    if (g->channels[c].n_growing >= 3 && (worst == NULL || g->channels[c].n_growing > worst->n_growing))
      worst = &g->channels[c];
  }
  if (worst == NULL || g->is_controlled || status == YOKE_E_MEMORY || status == YOKE_E_INTERNAL ||
      status == YOKE_E_INTERRUPTED || status == YOKE_JOINT_OPEN) /* which has a message of its own */
    return status;
  return yoke_fail(ctx, YOKE_E_UNSTABLE,
                   "the co-simulation diverges: coupling '%s' (%s) has jumped beyond its largest value %d times, last "
                   "by %.3g, when the step "
                   "from t = %.9g s failed; use %s",
                   g->wires[worst->wire].wire.name, worst->info.name, worst->n_growing, fabs(worst->jump), g->past_t[0],
                   remedy(g, worst));
}

/* A subsystem that cannot go back can be stepped once only. */
static yoke_status can_try(const yoke_graph *g, yoke_context *ctx) {
  for (int i = 0; i < g->n_subsystems; ++i) {
    if (!g->subsystems[i].is_ahead) continue;
    return yoke_fail(ctx, YOKE_E_SUBSYSTEM, "subsystem '%s' cannot go back to t = %.9g s, where the step was rejected",
                     g->subsystems[i].subsystem->name, g->past_t[0]);
  }
  return YOKE_OK;
}

/* Values of a coupling at T_{N+1} for the history. Explicit: u = phi(y, u), which without final update is one evaluation with the
 * predicted values in place of u (Kraft 4.1, simplified update). Else: the same, or without final update the corrected nodes. */
static void final_values(yoke_graph *g, const graph_wire *wire) {
  double     u[YOKE_COUPLING_MAX_CHANNELS];
  const bool is_explicit = !g->scheme->needs_repeat;
  const bool is_once     = !g->settings.final_update || wire->wire.formulation->n_exchanges != NULL;
  for (int k = 0; k < wire->n_channels; ++k) u[k] = g->channels[wire->first + k].value;
  if (wire->wire.formulation->update != NULL && (is_explicit || g->settings.final_update)) {
    graph_settle(wire, g->t_next, graph_port(wire, 0, g->subsystems[wire->wire.subsystem[0]].y_new),
                 graph_port(wire, 1, g->subsystems[wire->wire.subsystem[1]].y_new), is_once ? 1 : GRAPH_CONSISTENT, u);
    double now[YOKE_COUPLING_MAX_CHANNELS];
    for (int k = 0; k < wire->n_channels; ++k) now[k] = g->channels[wire->first + k].value;
    take_force(g, wire, -1, now, u);
  }
  for (int k = 0; k < wire->n_channels; ++k) g->channels[wire->first + k].value = u[k];
}

/* Values for the history, which step control looks at before it accepts, and the comparison that needs the result. */
static yoke_status finish_trial(yoke_graph *g, yoke_step_statistics *statistics, yoke_context *ctx) {
  if (g->forces != NULL) YOKE_TRY(yoke_joint_forces_find(g->forces, g, -1));
  for (int w = 0; w < g->n_wires; ++w) final_values(g, &g->wires[w]);
  if (g->settings.update && yoke_predictor_is_motion(g->settings.predictor))
    YOKE_TRY(outputs_with_values(g, -1)); /* accelerations that belong to the final coupling values */
  if (g->comparison != YOKE_COMPARISON_CONSISTENT && g->comparison != YOKE_COMPARISON_VALUES) return YOKE_OK;
  return graph_compare_behind(g, statistics, ctx);
}

yoke_status yoke_graph_try(yoke_graph *g, double t_next, yoke_step_statistics *statistics, yoke_context *ctx) {
  *statistics       = (yoke_step_statistics){.converged = true};
  g->trial_ready    = false;
  g->is_compared    = false;
  g->n_passes       = 0;
  g->has_consistent = false;
  g->pass_ctx       = ctx;
  YOKE_TRY(can_try(g, ctx));
  if (g->broyden != NULL) { /* what a rejected step has learned is forgotten */
    const size_t n = (size_t)g->n_c;
    memcpy(g->broyden, g->broyden + n * n, n * n * sizeof *g->broyden);
    g->made = g->made_accepted;
  }
  graph_prepare(g, t_next);
  statistics->degree = g->degree;
  graph_predict(g);
  yoke_status status = g->scheme->step(g, statistics, ctx);
  if (status == YOKE_OK) status = graph_exchange(g);
  if (status == YOKE_OK) status = graph_remainder(g, &statistics->residual, ctx);
  if (status != YOKE_E_INTERRUPTED && !isfinite(statistics->residual)) status = YOKE_NON_FINITE;
  graph_residuals_by_kind(g, statistics);
  if (status == YOKE_OK && g->reset != NULL) status = yoke_state_reset_run(g->reset, g, ctx);
  if (status == YOKE_OK) status = graph_check_gaps(g, statistics);
  if (status == YOKE_OK) status = finish_trial(g, statistics, ctx);
  if (status != YOKE_OK) return explain_failure(g, status, ctx);
  g->trial_ready = true;
  return YOKE_OK;
}

/* Divergence shows as jumps |accepted - predicted| larger than any value so far, again and again, each larger than the one before, with
 * changing sign. A single large jump (an impact) does not come again. The first signs of a wave that arrives at a coupling at rest grow for
 * many steps too, but with one sign and far below the values of other couplings; an undamped start from rest shows such jumps for some
 * time, but they hardly grow. */
/* A motion that moves nothing by more than what counts as met (joint_gap.h) diverges from nothing yet. */
static bool is_negligible(const yoke_graph *g, const graph_channel *channel, double jump) {
  const double L = g->settings.length, turn = channel->unit.is_turn ? L : 1.0;
  return !channel->info.is_force && L > 0.0 && fabs(jump) * turn <= 1e-6 * graph_residual_size(g, channel->unit.kind);
}

static yoke_status watch(yoke_graph *g, graph_channel *channel, double jump, double value, yoke_context *ctx) {
  const bool is_force = channel->info.is_force;
  const bool exceeds  = fabs(jump) > channel->largest && fabs(jump) > fabs(channel->jump) &&
                       fabs(jump) > 1e-9 * g->largest[is_force] && !is_negligible(g, channel, jump);
  if (exceeds) {
    /* an impact behind a time of rest jumps far beyond the rounding errors before it, which are no part of it */
    if (fabs(jump) > impact_growth * fabs(channel->jump)) channel->n_growing = channel->n_flips = 0;
    if (channel->n_growing == 0) channel->first_jump = fabs(jump);
    channel->n_flips += channel->n_growing > 0 && (jump > 0.0) != (channel->jump > 0.0) ? 1 : 0;
    ++channel->n_growing;
    channel->jump    = jump;
    channel->n_quiet = 0;
  } else if (++channel->n_quiet > QUIET_STEPS) {
    channel->n_growing = channel->n_flips = 0;
    channel->jump                         = 0.0;
  }
  const bool   flips    = channel->n_flips >= 3;
  const double growth   = fabs(jump) / channel->first_jump; /* since the first of them */
  const bool   explodes = channel->n_growing >= 5 && flips && growth > 1e4;
  const bool   grows    = channel->n_growing >= GROWING_STEPS && flips && growth > 1e2;
  /* Forces and accelerations that are fed back by extrapolation alone run far ahead of the motion, which decides there. */
  const bool   is_ahead = channel->order >= 0 && channel->info.enters[0] != YOKE_ENTRY_COPY_P &&
                        channel->info.enters[1] != YOKE_ENTRY_COPY_P;
  const bool diverges =
      exceeds && (is_ahead ? growth > 1e8 : explodes || grows || channel->n_growing >= 10 * GROWING_STEPS);
  /* A slow growing oscillation never jumps beyond its largest value, but leaves all that a mechanism can do in the end. */
  const bool is_beyond =
      g->n_accepted >= START_STEPS && fabs(value) > beyond_mechanics * fmax(1.0, g->start_size[is_force]);
  channel->largest     = fmax(channel->largest, fabs(value));
  g->largest[is_force] = fmax(g->largest[is_force], fabs(value));
  if (g->n_accepted < START_STEPS) g->start_size[is_force] = fmax(g->start_size[is_force], fabs(value));
  if (is_beyond && isfinite(value)) {
    return yoke_fail(ctx, YOKE_E_UNSTABLE,
                     "the co-simulation diverges: coupling '%s' (%s) has grown to %.3g at t = %.9g s; use %s",
                     g->wires[channel->wire].wire.name, channel->info.name, fabs(value), g->t_next, remedy(g, channel));
  }
  if ((!diverges || g->is_controlled) && isfinite(value)) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_UNSTABLE,
                   "the co-simulation diverges: coupling '%s' (%s) jumps by %.3g at t = %.9g s, more than its largest "
                   "value before, as it did %d times until now; use %s",
                   g->wires[channel->wire].wire.name, channel->info.name, fabs(jump), g->t_next, channel->n_growing,
                   remedy(g, channel));
}

/* A port that moves a million times the length of the model in one step, or gains as much speed as that takes, belongs to no
 * mechanism: this needs no past, so that short runs are watched too. */
static yoke_status watch_motion(const yoke_graph *g, const graph_wire *wire, yoke_context *ctx) {
  const double L = g->settings.length, limit = 1e6 * L;
  for (int side = 0; L > 0.0 && side < 2; ++side) {
    const graph_subsystem *s    = &g->subsystems[wire->wire.subsystem[side]];
    const yoke_body_kind   kind = wire->wire.kind[side];
    const double          *y = graph_port(wire, side, s->y), *y_new = graph_port(wire, side, s->y_new);
    const int              n_p = yoke_port_n_p(kind), n_v = yoke_port_n_v(kind);
    for (int k = 0; k < n_p + n_v; ++k) {
      const bool   is_turn = k < n_p ? yoke_port_p_turns(kind, k) : yoke_port_freedom(kind, k - n_p) >= 3;
      const double change  = fabs(y_new[k] - y[k]) * (is_turn ? L : 1.0) * (k < n_p ? 1.0 : g->H);
      if (change <= limit) continue;
      const char *name = k < n_p ? yoke_port_p_name(kind, k) : yoke_port_v_name(kind, k - n_p);
      return yoke_fail(
          ctx, YOKE_E_UNSTABLE,
          "the co-simulation diverges: %s of subsystem '%s' at coupling '%s' goes from %.3g to %.3g in the "
          "macro step of %.3g s to t = %.9g s, in a model of %.3g m; use %s",
          name, s->subsystem->name, wire->wire.name, y[k], y_new[k], g->H, g->t_next, L,
          remedy(g, &g->channels[wire->first]));
    }
  }
  return YOKE_OK;
}

static void shift(double *list, int n) {
  memmove(list + 1, list, (size_t)(n - 1) * sizeof *list);
}

yoke_status yoke_graph_accept(yoke_graph *g, yoke_context *ctx) {
  if (!g->trial_ready) return yoke_fail(ctx, YOKE_E_INTERNAL, "there is no trial step to accept");
  g->trial_ready = false;
  for (int w = 0; w < g->n_wires; ++w) YOKE_TRY(watch_motion(g, &g->wires[w], ctx));
  for (int c = 0; c < g->n_channels; ++c) {
    graph_channel *channel = &g->channels[c];
    const double   jump    = channel->value - g->w_predicted[channel->w_at + channel->n_nodes - 1];
    if (channel->info.enters[0] == YOKE_ENTRY_NONE && channel->info.enters[1] == YOKE_ENTRY_NONE) continue;
    YOKE_TRY(watch(g, channel, jump, channel->value, ctx));
    channel->correction = fabs(jump);
  }
  for (int c = 0; c < g->n_channels; ++c) {
    graph_channel *channel = &g->channels[c];
    channel->n_inner       = channel->n_nodes - 1;
    for (int j = 0; j < channel->n_inner; ++j) {
      channel->inner[j]   = g->w[channel->w_at + j];
      channel->inner_t[j] = g->past_t[0] + g->H * yoke_layout_node(&channel->layout, j);
    }
    shift(channel->past, GRAPH_PAST);
    channel->past[0] = channel->value;
  }
  if (g->has_consistent) graph_consistent_accept(g);
  if (g->broyden != NULL) {
    const size_t n = (size_t)g->n_c;
    memcpy(g->broyden + n * n, g->broyden, n * n * sizeof *g->broyden);
    g->made_accepted = g->made;
  }
  shift(g->past_t, GRAPH_PAST);
  g->past_t[0] = g->t_next;
  if (g->n_past < GRAPH_PAST) ++g->n_past;
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s    = &g->subsystems[i];
    void            *swap = s->accepted;
    if (s->trial != NULL) {
      s->accepted = s->trial;
      s->trial    = swap;
    }
    s->is_ahead = false;
    if (s->subsystem->ops->accept != NULL) s->subsystem->ops->accept(s->subsystem, s->accepted);
    memcpy(s->y, s->y_new, (size_t)s->subsystem->ny * sizeof(double));
  }
  g->H = 0.0;
  for (int i = 0; i < g->n_subsystems; ++i) {
    graph_subsystem *s  = &g->subsystems[i];
    const size_t     ny = (size_t)s->subsystem->ny;
    memmove(s->past_y + ny, s->past_y, (GRAPH_PAST - 1) * ny * sizeof(double));
    memcpy(s->past_y, s->y, ny * sizeof(double));
  }
  ++g->n_accepted;
  return YOKE_OK;
}

/* ---- questions ---- */

int yoke_graph_depth(const yoke_graph *graph) {
  int order = graph->settings.order;
  for (int c = 0; c < graph->n_channels; ++c) {
    if (graph->channels[c].order > order) order = graph->channels[c].order;
  }
  return order + 1;
}

double yoke_graph_t(const yoke_graph *graph) {
  return graph->past_t[0];
}

const yoke_scheme_settings *yoke_graph_settings(const yoke_graph *graph) {
  return &graph->settings;
}

const void *yoke_graph_state(const yoke_graph *graph, int subsystem) {
  return graph->subsystems[subsystem].accepted;
}

const double *yoke_graph_y(const yoke_graph *graph, int subsystem) {
  return graph->subsystems[subsystem].y;
}

int yoke_graph_n_channels(const yoke_graph *graph, int wire) {
  return graph->wires[wire].n_channels;
}

const char *yoke_graph_channel_name(const yoke_graph *graph, int wire, int channel) {
  return graph->channels[graph->wires[wire].first + channel].info.name;
}

double yoke_graph_channel(const yoke_graph *graph, int wire, int channel) {
  return graph->channels[graph->wires[wire].first + channel].past[0];
}
