#include "model/assembly.h"
#include "model/assembly_rows.h"
#include "model/redundancy.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ITERATIONS = 60, MAX_HALVINGS = 12, VELOCITY_SWEEPS = 3 };
static const double kept_weight = 1e-6;  /* kept bodies that have to move: share of their mobility */
static const double probe_step  = 1e-2;  /* distance of a second position [rad, or lengths of the model] */
static const double tolerance   = 1e-12; /* gaps of a closed mechanism, in units */
static const double rough       = 1e4;   /* times this where Newton's method gets no nearer: last digits */
static const double typed_digits =
    5e-6; /* gap, and distance of a row from others, that rounding of the input explains */
static const double exact_digits =
    5e-14; /* ... that rounding in the machine explains: gaps, which projections close to 1e-13 */
static const double exact_row      = 1e-12; /* ... and distances of rows */
static const double rate_limit     = 1e-15; /* of the fastest rate: velocities that fit */
static const double rate_tolerance = 1e-7;  /* of the fastest rate: velocities that do not fit */
static const double rate_rest      = 1e-9;  /* units over the run: rest, whose tolerance moves nothing */

typedef struct search {
  yoke_assembly_rows rows;
  yoke_context      *ctx;
  const bool        *is_cut;
  double            *guess; /* [nq] */
  double             gap;   /* largest of the last position, in units */
  bool               may_leave_out;
  bool               is_independent; /* no row follows from others */
} search;

static double limit_of(const search *s) {
  return tolerance * s->rows.size;
}

static double largest_of(int n, const double *x, const double *unit) {
  double largest = 0.0;
  for (int i = 0; i < n; ++i) largest = fmax(largest, fabs(x[i]) / unit[i]);
  return largest;
}

/* ---- positions ---- */

/* Damped Newton: a step is bounded by the size of the mechanism and halved until the gaps fall. rows.r and `gap` are left at
 * the result, the best position found. YOKE_NOT_CONVERGED: they are above the limit. */
static yoke_status close_positions(search *s, double *q, const double *v) {
  yoke_assembly_rows *p  = &s->rows;
  const int           nq = p->equations->nq, nv = p->equations->nv;
  const size_t        mark   = yoke_arena_mark(&p->arena);
  double             *trial  = yoke_arena_take(&p->arena, (size_t)nq, sizeof *trial);
  double             *step   = yoke_arena_take(&p->arena, (size_t)nv, sizeof *step);
  yoke_status         status = YOKE_OK;
  if (p->arena.has_failed) return YOKE_E_MEMORY;
  s->gap = yoke_assembly_residual(p, YOKE_ASSEMBLY_POSITIONS, q, v);
  for (int i = 0; i < MAX_ITERATIONS && s->gap > limit_of(s); ++i) {
    const double now = yoke_assembly_distance(p);
    yoke_assembly_fill(p, YOKE_ASSEMBLY_POSITIONS, q, v);
    status = yoke_assembly_step(p);
    if (status != YOKE_OK) break;
    double share = fmin(1.0, p->size / fmax(largest_of(nv, p->d, p->unit), 1e-300)), after = now;
    for (int k = 0; k < MAX_HALVINGS; ++k, share *= 0.5) {
      for (int j = 0; j < nv; ++j) step[j] = share * p->d[j];
      memcpy(trial, q, (size_t)nq * sizeof *trial);
      yoke_multibody_move(p->mb, trial, step);
      after = isfinite(yoke_assembly_residual(p, YOKE_ASSEMBLY_POSITIONS, trial, v)) ? yoke_assembly_distance(p)
                                                                                     : (double)INFINITY;
      if (after < now * (1.0 - 0.1 * share)) break;
    }
    if (!(after < now)) break; /* the last digits, or a dead end */
    memcpy(q, trial, (size_t)nq * sizeof *q);
    s->gap = yoke_assembly_residual(p, YOKE_ASSEMBLY_POSITIONS, q, v);
  }
  yoke_arena_release(&p->arena, mark);
  if (status == YOKE_E_MEMORY) return status;
  s->gap = yoke_assembly_residual(p, YOKE_ASSEMBLY_POSITIONS, q, v);
  return s->gap <= limit_of(s) ? YOKE_OK : YOKE_NOT_CONVERGED;
}

/* Another position q2 of the mechanism near q: a small step along a pseudo-random direction without its part that
 * violates the constraints, then closed again. A mechanism that cannot move stays. */
static yoke_status probe_position(search *s, const double *q, const double *v, double *q2) {
  yoke_assembly_rows *p    = &s->rows;
  const int           nv   = p->equations->nv;
  const size_t        mark = yoke_arena_mark(&p->arena);
  double             *step = yoke_arena_take(&p->arena, (size_t)nv, sizeof *step);
  if (p->arena.has_failed) return YOKE_E_MEMORY;
  uint32_t seed = 1u;
  for (int i = 0; i < nv; ++i) {
    seed    = seed * 1664525u + 1013904223u;
    step[i] = p->unit[i] * ((double)(seed >> 8) / 8388608.0 - 1.0);
  }
  memcpy(q2, q, (size_t)p->equations->nq * sizeof *q2);
  (void)yoke_assembly_weigh(p, YOKE_ASSEMBLY_POSITIONS, 1.0);
  p->is_free = true;
  yoke_assembly_fill(p, YOKE_ASSEMBLY_POSITIONS, q, v);
  yoke_status status = YOKE_OK;
  for (int sweep = 0; sweep < 2 && status == YOKE_OK; ++sweep) { /* twice: the solve is regularised */
    for (int r = 0; r < p->n_rows; ++r) {
      p->r[r] = 0.0;
      for (int k = p->row_start[r]; k < p->row_start[r + 1]; ++k) p->r[r] += p->value[k] * step[p->column[k]];
    }
    status = yoke_assembly_step(p);
    for (int i = 0; i < nv; ++i) step[i] += p->d[i];
  }
  const double size = largest_of(nv, step, p->unit);
  if (status == YOKE_OK && size > 1e-6) {
    for (int i = 0; i < nv; ++i) step[i] *= probe_step / size;
    yoke_multibody_move(p->mb, q2, step);
    status = close_positions(s, q2, v);
    if (status == YOKE_NOT_CONVERGED && s->gap <= rough * limit_of(s)) status = YOKE_OK;
  }
  p->is_free = false;
  yoke_arena_release(&p->arena, mark);
  return status;
}

/* ---- rows that follow from others ---- */

/* All rows: prescribed motions, then those that are not cut, then cut ones; behind each other as in the model. */
static int *preferred_order(const search *s) {
  const yoke_multibody *mb    = s->rows.mb;
  const int             ng    = s->rows.equations->ng;
  int                  *order = yoke_allocate((size_t)ng + 1, sizeof *order), n = 0;
  for (int group = 0; group < 3 && order != NULL; ++group) {
    for (int r = 0; r < ng; ++r) {
      const bool is_cut = s->is_cut != NULL && s->is_cut[yoke_multibody_row_connection(mb, r)];
      if (group == (yoke_multibody_row_is_motion(mb, r) ? 0 : is_cut ? 2 : 1)) order[n++] = r;
    }
  }
  return order;
}

/* Rows that follow from others at q take no part from now on, others do. Returns how many do not, -1: no memory. */
static int put_out(search *s, const double *q, const int *order, double distance) {
  yoke_assembly_rows *p    = &s->rows;
  int                *rows = NULL, n = 0;
  memset(p->is_out, 0, (size_t)p->n_rows * sizeof *p->is_out);
  if (yoke_redundancy_rows(p->mb, p->work, p->t, q, order, distance, &n, &rows) != YOKE_OK) return -1;
  for (int i = 0; i < n; ++i) p->is_out[rows[i]] = true;
  free(rows);
  return n;
}

/* Largest gap of the rows that are out, at q. */
static double gap_outside(search *s, const double *q, const double *v) {
  yoke_assembly_rows *p       = &s->rows;
  double              largest = 0.0;
  p->equations->ops->constraint(p->equations->self, p->work, p->t, q, v, p->r, NULL);
  for (int r = 0; r < p->equations->ng; ++r) {
    if (p->is_out[r]) largest = fmax(largest, fabs(p->r[r]) / p->row_unit[r]);
  }
  return largest;
}

/* Rows that are out become those that the equations leave out. */
static yoke_status leave_out(const search *s, yoke_assembly *out) {
  const yoke_multibody *mb = s->rows.mb;
  out->left_out = yoke_allocate((size_t)s->rows.model->n_connections * YOKE_CONNECTION_MAX_ROWS + 1, sizeof(bool));
  if (out->left_out == NULL) return YOKE_E_MEMORY;
  for (int r = 0; r < s->rows.equations->ng; ++r) {
    if (!s->rows.is_out[r]) continue;
    const ptrdiff_t first = (ptrdiff_t)YOKE_CONNECTION_MAX_ROWS * yoke_multibody_row_connection(mb, r);
    out->left_out[first + yoke_multibody_row_own(mb, r)] = true;
  }
  return YOKE_OK;
}

/* Do rows follow from others near q, but for rounding of what was typed? Then they are to be left out, and q is the position nearest to the
 * guess without them. Else all take part. */
static yoke_status judge_rows(search *s, double kept, double *q, const double *v, yoke_assembly *out) {
  yoke_assembly_rows *p      = &s->rows;
  const size_t        mark   = yoke_arena_mark(&p->arena);
  const size_t        nq     = (size_t)p->equations->nq;
  double             *probe  = yoke_arena_take(&p->arena, nq, sizeof *probe);
  double             *closed = yoke_arena_copy(&p->arena, s->guess, nq, sizeof *closed);
  int                *order = preferred_order(s), *exact = NULL, n = -1, n_exact = 0;
  yoke_status         status = p->arena.has_failed || order == NULL ? YOKE_E_MEMORY : YOKE_OK;
  if (status == YOKE_OK) n = put_out(s, q, order, typed_digits);
  if (n > 0) {
    status = probe_position(s, q, v, probe);
    if (status == YOKE_OK) n = put_out(s, probe, order, typed_digits);
  }
  s->is_independent = n == 0;
  if (n < 0) status = YOKE_E_MEMORY;
  if (n > 0 && status == YOKE_OK) {
    (void)yoke_assembly_weigh(p, YOKE_ASSEMBLY_POSITIONS, kept);
    status = close_positions(s, closed, v);
  }
  if (n > 0 && status == YOKE_OK) {
    const double gap    = fmax(gap_outside(s, closed, v), gap_outside(s, probe, v));
    status              = yoke_redundancy_rows(p->mb, p->work, p->t, probe, order, exact_row, &n_exact, &exact);
    const bool is_exact = gap <= exact_digits * p->size && n_exact == n;
    if (status == YOKE_OK && !is_exact && gap <= typed_digits) {
      memcpy(q, closed, nq * sizeof *q);
      status = leave_out(s, out);
    }
  }
  if (out->left_out == NULL) memset(p->is_out, 0, (size_t)p->n_rows * sizeof *p->is_out);
  free(exact);
  free(order);
  yoke_arena_release(&p->arena, mark);
  return status == YOKE_E_MEMORY ? status : YOKE_OK;
}

/* Rows that follow from the others at q and also at another position; when no second position is found, no row counts. */
static yoke_status find_redundancy(search *s, const double *q, const double *v, yoke_assembly *out) {
  yoke_assembly_rows *p = &s->rows;
  if (s->is_independent) return YOKE_OK;
  YOKE_TRY(yoke_redundancy_rows(p->mb, p->work, p->t, q, NULL, YOKE_REDUNDANCY_DISTANCE, &out->n_redundant,
                                &out->redundant));
  if (out->n_redundant == 0) return YOKE_OK;
  out->probe = malloc(((size_t)p->equations->nq + 1) * sizeof *out->probe);
  if (out->probe == NULL) return YOKE_E_MEMORY;
  const yoke_status status = probe_position(s, q, v, out->probe);
  free(out->redundant);
  out->redundant   = NULL;
  out->n_redundant = 0;
  if (status == YOKE_OK)
    return yoke_redundancy_rows(p->mb, p->work, p->t, out->probe, NULL, YOKE_REDUNDANCY_DISTANCE, &out->n_redundant,
                                &out->redundant);
  return status != YOKE_E_MEMORY ? YOKE_OK : status;
}

/* ---- the start ---- */

static yoke_status fail_open(search *s) {
  char      text[600];
  const int n = yoke_assembly_name_gaps(&s->rows, YOKE_ASSEMBLY_POSITIONS, text, sizeof text);
  return yoke_fail(s->ctx, YOKE_E_MODEL,
                   "the mechanism cannot be assembled from the given start: still open %s %s%s; check lengths, frames "
                   "and the starting positions%s",
                   n > 1 ? "are" : "is", n > 0 ? text : "a joint", n > 1 ? ", which contradict each other" : "",
                   strstr(text, " rad") != NULL
                       ? "; of a gap in rad the axes of both ends, or write axis: [x, y, z] at the joint: both ends "
                         "then have axes that agree at the start"
                       : "");
}

/* Closes the joints, kept bodies with this share of their mobility. */
static yoke_status attempt(search *s, double kept, double *q, const double *v, yoke_assembly *out) {
  (void)yoke_assembly_weigh(&s->rows, YOKE_ASSEMBLY_POSITIONS, kept);
  memcpy(q, s->guess, (size_t)s->rows.equations->nq * sizeof *q);
  if (close_positions(s, q, v) == YOKE_E_MEMORY) return YOKE_E_MEMORY;
  if (s->may_leave_out && yoke_multibody_has_loops(s->rows.mb)) {
    YOKE_TRY(judge_rows(s, kept, q, v, out));
    s->gap = yoke_assembly_residual(&s->rows, YOKE_ASSEMBLY_POSITIONS, q, v);
  }
  return s->gap <= rough * limit_of(s) ? YOKE_OK : YOKE_NOT_CONVERGED;
}

/* Kept bodies stand still unless the joints cannot be closed without them. */
static yoke_status solve_positions(search *s, double *q, const double *v, yoke_assembly *out) {
  const bool  any_kept = yoke_assembly_weigh(&s->rows, YOKE_ASSEMBLY_POSITIONS, 0.0);
  yoke_status status   = attempt(s, 0.0, q, v, out);
  if (status == YOKE_NOT_CONVERGED && any_kept) {
    status = attempt(s, kept_weight, q, v, out);
    if (status == YOKE_OK) yoke_note(s->ctx, "the joints cannot be closed without moving bodies marked `keep`");
  }
  return status == YOKE_NOT_CONVERGED ? fail_open(s) : status;
}

/* Linear: one step, then refinement. s->gap receives the largest rest. Fails with YOKE_E_MEMORY only. */
static yoke_status correct_velocities(search *s, const double *q, double *v, double limit) {
  s->gap = yoke_assembly_residual(&s->rows, YOKE_ASSEMBLY_VELOCITIES, q, v);
  for (int i = 0; i < VELOCITY_SWEEPS && s->gap > limit; ++i) {
    yoke_assembly_fill(&s->rows, YOKE_ASSEMBLY_VELOCITIES, q, v);
    const yoke_status status = yoke_assembly_step(&s->rows);
    if (status == YOKE_E_MEMORY) return status;
    if (status != YOKE_OK) break;
    for (int j = 0; j < s->rows.equations->nv; ++j) v[j] += s->rows.d[j];
    s->gap = yoke_assembly_residual(&s->rows, YOKE_ASSEMBLY_VELOCITIES, q, v);
  }
  return YOKE_OK;
}

/* Rates are judged against the fastest one: that of a body, or the one by which a joint is violated (a motion or `initial_rate` on a
 * mechanism at rest). Where nothing moves, such as a motion that sets out with sin(t) from t = DBL_MIN, it is a rate of rest. */
static yoke_status solve_velocities(search *s, const double *q, double *v) {
  const double span     = s->rows.model->t_end - s->rows.model->t_start;
  const double fastest  = fmax(largest_of(s->rows.equations->nv, v, s->rows.unit),
                               yoke_assembly_residual(&s->rows, YOKE_ASSEMBLY_VELOCITIES, q, v));
  const double scale    = span > 0.0 ? fmax(fastest, rate_rest / span) : fastest;
  const bool   any_kept = yoke_assembly_weigh(&s->rows, YOKE_ASSEMBLY_VELOCITIES, 0.0);
  YOKE_TRY(correct_velocities(s, q, v, rate_limit * scale));
  if (!(s->gap <= rate_tolerance * scale) && any_kept) {
    (void)yoke_assembly_weigh(&s->rows, YOKE_ASSEMBLY_VELOCITIES, kept_weight);
    YOKE_TRY(correct_velocities(s, q, v, rate_limit * scale));
    if (s->gap <= rate_tolerance * scale)
      yoke_note(s->ctx, "no velocities fit all joints unless bodies marked `keep` change theirs");
  }
  if (s->gap <= rate_tolerance * scale) return YOKE_OK;
  char text[600];
  (void)yoke_assembly_name_gaps(&s->rows, YOKE_ASSEMBLY_VELOCITIES, text, sizeof text);
  return yoke_fail(s->ctx, YOKE_E_MODEL,
                   "no velocities fit all joints: violated are %s; check `initial_rate`, `motion` "
                   "and bodies marked `keep`",
                   text);
}

/* Motions whose rates jump at the start have those behind it. */
static double start_of_motions(const yoke_model *model, const yoke_equations *e) {
  return e->n_motions > 0 ? model->t_start + fmax(2e-14 * fabs(model->t_start), DBL_MIN) : model->t_start;
}

/* The start of compiled equations. out->left_out becomes set: they are to be compiled again without these rows. */
static yoke_status solve(yoke_context *ctx, const yoke_model *model, const bool *is_cut, const yoke_multibody *mb,
                         const yoke_equations *e, void *work, yoke_assembly *out) {
  search s = {.ctx = ctx, .is_cut = is_cut, .may_leave_out = out->left_out == NULL};
  yoke_multibody_initial_guess(mb, out->q, out->v);
  YOKE_TRY(yoke_assembly_rows_create(ctx, model, mb, e, work, start_of_motions(model, e), out->q, out->v, &s.rows));
  yoke_status status = YOKE_OK;
  if (s.rows.n_rows > 0) {
    s.guess = yoke_arena_copy(&s.rows.arena, out->q, (size_t)e->nq, sizeof *s.guess);
    status  = s.rows.arena.has_failed ? YOKE_E_MEMORY : YOKE_OK;
    if (status == YOKE_OK) status = solve_positions(&s, out->q, out->v, out);
    const bool is_done = !s.may_leave_out || out->left_out == NULL;
    if (status == YOKE_OK && is_done) status = solve_velocities(&s, out->q, out->v);
    if (status == YOKE_OK && is_done && e->ng > 0) status = find_redundancy(&s, out->q, out->v, out);
  }
  yoke_assembly_rows_clear(&s.rows);
  return status == YOKE_E_MEMORY ? yoke_out_of_memory(ctx, "the assembly of %d constraints", e->ng) : status;
}

static void forget_start(yoke_assembly *assembly) {
  free(assembly->q);
  free(assembly->v);
  assembly->q = assembly->v = NULL;
}

/* Loads and laws that read accelerations and forces of joints fit to them at the start. */
static yoke_status check_loop(yoke_context *ctx, const yoke_model *model, const yoke_multibody *mb, void *work,
                              const yoke_assembly *assembly) {
  char text[1000] = "";
  if (assembly->n_redundant > 0 &&
      yoke_multibody_loop_is_vague(mb, work, model->t_start, assembly->q, text, sizeof text))
    return yoke_fail(
        ctx, YOKE_E_MODEL,
        "%s, which is not unique, since rows of its joints follow from others: hold the bodies by joints with "
        "fewer rows; 'outputs' and 'events' read the smallest forces that fit",
        text);
  const yoke_status status =
      yoke_multibody_check_loop(mb, work, model->t_start, assembly->q, assembly->v, NULL, text, sizeof text);
  return status == YOKE_OK ? YOKE_OK : yoke_fail(ctx, status, "%s", text);
}

/* Compiles without the rows that are left out, and finds the start. */
static yoke_status compile(yoke_context *ctx, const yoke_model *model, const yoke_multibody_options *options,
                           const bool *is_cut, yoke_equations *equations, yoke_multibody **mb, yoke_assembly *out) {
  yoke_multibody_options own = *options;
  own.left_out               = out->left_out;
  YOKE_TRY(yoke_multibody_create(ctx, model, &own, equations, mb));
  void *work         = yoke_allocate(1, equations->work_size + 1);
  out->q             = yoke_allocate((size_t)equations->nq + 1, sizeof *out->q);
  out->v             = yoke_allocate((size_t)equations->nv + 1, sizeof *out->v);
  yoke_status status = work == NULL || out->q == NULL || out->v == NULL
                           ? yoke_out_of_memory(ctx, "the start of %d bodies", model->n_bodies)
                           : solve(ctx, model, is_cut, *mb, equations, work, out);
  if (status == YOKE_OK) status = check_loop(ctx, model, *mb, work, out);
  free(work);
  if (status != YOKE_OK) yoke_equations_destroy(equations);
  return status;
}

yoke_status yoke_assembly_create(yoke_context *ctx, const yoke_model *model, const yoke_multibody_options *options,
                                 const bool *is_cut, yoke_equations *equations, yoke_multibody **mb,
                                 yoke_assembly *out) {
  static const yoke_multibody_options plain = {0};
  if (options == NULL) options = &plain;
  *out               = (yoke_assembly){0};
  yoke_status status = compile(ctx, model, options, is_cut, equations, mb, out);
  if (status == YOKE_OK && out->left_out != NULL) {
    yoke_equations_destroy(equations);
    forget_start(out);
    status = compile(ctx, model, options, is_cut, equations, mb, out);
  }
  if (status != YOKE_OK) yoke_assembly_clear(out);
  return status;
}

void yoke_assembly_clear(yoke_assembly *assembly) {
  forget_start(assembly);
  free(assembly->redundant);
  free(assembly->probe);
  free(assembly->left_out);
  *assembly = (yoke_assembly){0};
}
