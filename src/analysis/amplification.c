#include "analysis/amplification.h"

#include "base/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Shares of unity by which a model that is not linear is moved about its rest state: rounding 1e-16 / 1e-5 and what is left of the
 * curvature, 1e-5 squared, are in balance. */
static const double nudge = 1e-5;

struct yoke_amplification {
  yoke_arena             arena;
  yoke_graph            *graph;
  int                    n_subsystems;
  yoke_subsystem *const *subsystems;
  bool                   is_linear;
  int                    n, n_x, n_memory;
  int                   *x_at;    /* [n_subsystems + 1] */
  void                 **rest;    /* [n_subsystems] states from which every step starts */
  void                  *scratch; /* largest of all subsystems */
  double                 t_rest;
  double                *Y0, *Y, *plus, *minus; /* [n] */
  double                *rate;                  /* [n] */
  int                   *power;                 /* [n] */
};

void yoke_amplification_set_reach(yoke_amplification *a, int i, double rate, int power) {
  a->rate[i]  = rate;
  a->power[i] = power;
}

int yoke_amplification_n(const yoke_amplification *a) {
  return a->n;
}

int yoke_amplification_x_at(const yoke_amplification *a, int part) {
  return a->x_at[part];
}

int yoke_amplification_memory_at(const yoke_amplification *a) {
  return a->n_x;
}

/* ---- one step ---- */

static void read_state(const yoke_amplification *a, double *Y) {
  for (int i = 0; i < a->n_subsystems; ++i) {
    const yoke_subsystem *s = a->subsystems[i];
    s->ops->linear->get_x(s, yoke_graph_state(a->graph, i), Y + a->x_at[i]);
  }
  yoke_graph_memory_get(a->graph, Y + a->n_x);
}

static yoke_status write_state(const yoke_amplification *a, double H, const double *Y) {
  for (int i = 0; i < a->n_subsystems; ++i) {
    const yoke_subsystem *s     = a->subsystems[i];
    void                 *state = yoke_graph_state_edit(a->graph, i);
    YOKE_TRY(yoke_subsystem_copy(s, state, a->rest[i]));
    YOKE_TRY(s->ops->linear->set_x(s, a->scratch, state, Y + a->x_at[i]));
  }
  return yoke_graph_memory_set(a->graph, a->t_rest, H, Y + a->n_x);
}

/* out = S(Y) */
static yoke_status step(const yoke_amplification *a, double H, const double *Y, double *out, yoke_context *ctx) {
  yoke_step_statistics statistics;
  YOKE_TRY(write_state(a, H, Y));
  YOKE_TRY(yoke_graph_try(a->graph, a->t_rest + H, &statistics, ctx));
  YOKE_TRY(yoke_graph_accept(a->graph, ctx));
  read_state(a, out);
  return YOKE_OK;
}

static yoke_status keep_rest(yoke_amplification *a, double t) {
  for (int i = 0; i < a->n_subsystems; ++i)
    YOKE_TRY(yoke_subsystem_copy(a->subsystems[i], a->rest[i], yoke_graph_state(a->graph, i)));
  a->t_rest = t;
  return YOKE_OK;
}

/* States keep what an exact step of their length costs (matrix exponentials): one step is made first, and the states after it, put
 * back to where they were, are those that all others start from. Its many perturbed integrations begin with what one without them left. */
static yoke_status warm_up(yoke_amplification *a, double H, yoke_context *ctx) {
  YOKE_TRY(write_state(a, H, a->Y0));
  YOKE_TRY(yoke_graph_rehearse(a->graph, a->t_rest + H, ctx));
  YOKE_TRY(keep_rest(a, a->t_rest + H));
  YOKE_TRY(step(a, H, a->Y0, a->Y, ctx));
  return keep_rest(a, yoke_graph_t(a->graph));
}

/* ---- the matrix ---- */

static double size_of_nudge(const yoke_amplification *a, double H, int i) {
  const double value = fabs(a->Y0[i]);
  if (a->is_linear) return fmax(1.0, ldexp(1.0, ilogb(value + 1.0))); /* a power of 2, the size of the value itself */
  const double reach = a->rate[i] * pow(H, a->power[i]);              /* 0: not known */
  return nudge * fmax(fmax(1.0, value), reach > 0.0 && isfinite(1.0 / reach) ? 1.0 / reach : 0.0);
}

static yoke_status column(yoke_amplification *a, double H, int i, double *matrix, yoke_context *ctx) {
  const double size = size_of_nudge(a, H, i);
  memcpy(a->Y, a->Y0, (size_t)a->n * sizeof *a->Y);
  a->Y[i]            = a->Y0[i] + size;
  const double above = a->Y[i] - a->Y0[i];
  YOKE_TRY(step(a, H, a->Y, a->plus, ctx));
  double below = 0.0; /* `minus` holds S(Y0) when the map is affine */
  if (!a->is_linear) {
    a->Y[i] = a->Y0[i] - size;
    below   = a->Y0[i] - a->Y[i];
    YOKE_TRY(step(a, H, a->Y, a->minus, ctx));
  }
  for (int r = 0; r < a->n; ++r) {
    const double entry                           = (a->plus[r] - a->minus[r]) / (above + below);
    matrix[(size_t)r * (size_t)a->n + (size_t)i] = entry;
    if (!isfinite(entry)) return YOKE_NON_FINITE;
  }
  return YOKE_OK;
}

yoke_status yoke_amplification_matrix(yoke_amplification *a, double H, double *matrix, yoke_context *ctx) {
  YOKE_TRY(warm_up(a, H, ctx));
  if (a->is_linear) YOKE_TRY(step(a, H, a->Y0, a->minus, ctx));
  for (int i = 0; i < a->n; ++i) YOKE_TRY(column(a, H, i, matrix, ctx));
  return YOKE_OK;
}

/* ---- creation ---- */

static yoke_status measure(yoke_amplification *a, yoke_context *ctx, size_t *scratch) {
  *scratch = 64;
  for (int i = 0; i < a->n_subsystems; ++i) {
    const yoke_subsystem *s = a->subsystems[i];
    const int             n = s->ops->linear != NULL && s->ops->repeat != NULL ? s->ops->linear->n_x(s) : -1;
    if (n < 0) {
      return yoke_fail(ctx, YOKE_E_UNSUPPORTED,
                       "subsystem '%s' does not show its state as independent coordinates, so the amplification of a "
                       "macro step cannot be computed",
                       s->name);
    }
    a->x_at[i + 1] = a->x_at[i] + n;
    if (s->scratch_size > *scratch) *scratch = s->scratch_size;
  }
  a->n_x      = a->x_at[a->n_subsystems];
  a->n_memory = yoke_graph_memory_size(a->graph);
  a->n        = a->n_x + a->n_memory;
  return YOKE_OK;
}

static yoke_status build(yoke_amplification *a, yoke_context *ctx) {
  size_t scratch;
  a->x_at = yoke_arena_take(&a->arena, (size_t)a->n_subsystems + 1, sizeof *a->x_at);
  a->rest = yoke_arena_take(&a->arena, (size_t)a->n_subsystems + 1, sizeof *a->rest);
  YOKE_TRY(yoke_arena_check(&a->arena, ctx, "the amplification matrix"));
  YOKE_TRY(measure(a, ctx, &scratch));
  const size_t n = (size_t)a->n + 1;
  a->scratch     = yoke_arena_take(&a->arena, scratch, 1);
  a->Y0          = yoke_arena_take(&a->arena, n, sizeof *a->Y0);
  a->Y           = yoke_arena_take(&a->arena, n, sizeof *a->Y);
  a->plus        = yoke_arena_take(&a->arena, n, sizeof *a->plus);
  a->minus       = yoke_arena_take(&a->arena, n, sizeof *a->minus);
  a->rate        = yoke_arena_take(&a->arena, n, sizeof *a->rate);
  a->power       = yoke_arena_take(&a->arena, n, sizeof *a->power);
  bool ok        = !a->arena.has_failed;
  for (int i = 0; ok && i < a->n_subsystems; ++i) {
    ok = yoke_subsystem_state_create(a->subsystems[i], &a->rest[i]) == YOKE_OK;
    if (ok) YOKE_TRY(yoke_subsystem_copy(a->subsystems[i], a->rest[i], yoke_graph_state(a->graph, i)));
  }
  if (!ok) return yoke_out_of_memory(ctx, "an amplification matrix of %d rows", a->n);
  a->t_rest = yoke_graph_t(a->graph);
  read_state(a, a->Y0);
  return YOKE_OK;
}

yoke_status yoke_amplification_create(yoke_context *ctx, yoke_graph *graph, int n_subsystems,
                                      yoke_subsystem *const *subsystems, bool is_linear, yoke_amplification **out) {
  *out                  = NULL;
  yoke_amplification *a = yoke_allocate(1, sizeof *a);
  if (a == NULL) return yoke_out_of_memory(ctx, "the amplification matrix");
  a->graph           = graph;
  a->n_subsystems    = n_subsystems;
  a->subsystems      = subsystems;
  a->is_linear       = is_linear;
  yoke_status status = build(a, ctx);
  if (status != YOKE_OK) yoke_amplification_destroy(&a);
  *out = a;
  return status;
}

void yoke_amplification_destroy(yoke_amplification **amplification) {
  yoke_amplification *a = *amplification;
  if (a == NULL) return;
  for (int i = 0; a->rest != NULL && i < a->n_subsystems; ++i)
    yoke_subsystem_state_destroy(a->subsystems[i], &a->rest[i]);
  yoke_arena_free(&a->arena);
  free(a);
  *amplification = NULL;
}
