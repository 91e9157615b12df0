#include "coupling/signal_loops.h"
#include "linalg/lapack.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double gain_of_one = 1e-7; /* gains may be differences of outputs */
static const double rank_limit  = 1e-11;
static const double part_limit  = 1e-6; /* of a signal in a loop */

/* Unknowns that depend on others and have others that depend on them, all of these among themselves: loops, and what lies between loops. */
static void peel(const yoke_pattern *p, const double *J, const bool *is_signal, bool *active, bool *reads,
                 bool *is_read) {
  for (int k = 0; k < p->n_cols; ++k) active[k] = true;
  for (bool changes = true; changes;) {
    changes = false;
    memset(reads, 0, (size_t)p->n_cols * sizeof *reads);
    memset(is_read, 0, (size_t)p->n_cols * sizeof *is_read);
    for (int c = 0; c < p->n_cols; ++c) {
      for (int k = p->col_start[c]; k < p->col_start[c + 1]; ++k) {
        const int  r         = p->row[k];
        const bool is_gained = r == c ? is_signal[c] && J[k] != 1.0 : J[k] != 0.0;
        if (!is_gained || !active[r] || !active[c]) continue;
        reads[r] = is_read[c] = true;
      }
    }
    for (int k = 0; k < p->n_cols; ++k) {
      if (!active[k] || (reads[k] && is_read[k])) continue;
      active[k] = false;
      changes   = true;
    }
  }
}

/* Places of the unknowns in two blocks: signals, and others. */
typedef struct blocks {
  int  n[2];
  int *of[2]; /* [n] unknown */
} blocks;

static int value_at(const yoke_pattern *p, int r, int c) {
  for (int k = p->col_start[c]; k < p->col_start[c + 1]; ++k) {
    if (p->row[k] == r) return k;
  }
  return -1;
}

/* Block of J, column major. */
static void gather(const yoke_pattern *p, const double *J, const blocks *b, int rows, int cols, double *out) {
  for (int c = 0; c < b->n[cols]; ++c) {
    for (int r = 0; r < b->n[rows]; ++r) {
      const int k = value_at(p, b->of[rows][r], b->of[cols][c]);
      *out++      = k < 0 ? 0.0 : J[k];
    }
  }
}

/* S = J_ss - J_so J_oo^-1 J_os: what is left for the signals once the others have followed them. */
static yoke_status reduce(const yoke_pattern *p, const double *J, const blocks *b, yoke_arena *scratch, double *S) {
  const int    n = b->n[0], m = b->n[1];
  const size_t size = (size_t)m * (size_t)m, wide = (size_t)m * (size_t)n, n_work = 70 * ((size_t)m + (size_t)n + 1);
  gather(p, J, b, 0, 0, S);
  if (m == 0) return YOKE_OK;
  double *A = yoke_arena_take(scratch, size, sizeof *A), *B = yoke_arena_take(scratch, wide, sizeof *B),
         *back = yoke_arena_take(scratch, wide, sizeof *back), *work = yoke_arena_take(scratch, n_work, sizeof *work);
  lapack_int *pivot = yoke_arena_take(scratch, (size_t)m, sizeof *pivot), rank = 0;
  if (scratch->has_failed) return YOKE_E_MEMORY;
  gather(p, J, b, 1, 1, A);
  gather(p, J, b, 1, 0, B);
  gather(p, J, b, 0, 1, back);
  if (lapack_dgelsy_work(m, m, n, A, m, B, m, pivot, rank_limit, &rank, work, (lapack_int)n_work) != 0)
    return YOKE_OK; /* judged without the others */
  for (int c = 0; c < n; ++c) {
    for (int r = 0; r < n; ++r) {
      for (int k = 0; k < m; ++k) S[c * n + r] -= back[k * n + r] * B[c * m + k];
    }
  }
  return YOKE_OK;
}

/* Size of component r of eigenvector v, one of a pair where the eigenvalue is complex. */
static double component(const double *vectors, int n, int v, bool is_pair, int r) {
  const double *x = vectors + (ptrdiff_t)v * n;
  return is_pair ? hypot(x[r], x[n + r]) : fabs(x[r]);
}

/* Signals with a share of an eigenvalue 0 of S: product of the components of its left and right vector, which has no unit. */
static yoke_status judge(double *S, const blocks *b, bool *in_loop, yoke_arena *scratch) {
  const int    n      = b->n[0];
  const size_t n_work = 8 * (size_t)n, size = (size_t)n * (size_t)n;
  double *re = yoke_arena_take(scratch, (size_t)n, sizeof *re), *im = yoke_arena_take(scratch, (size_t)n, sizeof *im),
         *left = yoke_arena_take(scratch, size, sizeof *left), *right = yoke_arena_take(scratch, size, sizeof *right),
         *work     = yoke_arena_take(scratch, n_work, sizeof *work);
  bool is_singular = false;
  if (scratch->has_failed) return YOKE_E_MEMORY;
  if (lapack_dgeev_work('V', 'V', n, S, n, re, im, left, n, right, n, work, (lapack_int)n_work) != 0) return YOKE_OK;
  for (int v = 0; v < n; ++v) {
    const bool is_pair = im[v] != 0.0;
    double     sum     = 0.0;
    if (hypot(re[v], im[v]) < gain_of_one) {
      for (int r = 0; r < n; ++r) sum += component(left, n, v, is_pair, r) * component(right, n, v, is_pair, r);
      for (int r = 0; r < n; ++r) {
        const double part = component(left, n, v, is_pair, r) * component(right, n, v, is_pair, r);
        if (part > part_limit * sum) in_loop[b->of[0][r]] = true;
      }
      is_singular = true;
    }
    if (is_pair) ++v;
  }
  return is_singular ? YOKE_SINGULAR : YOKE_OK;
}

yoke_status graph_singular_loop(const yoke_pattern *pattern, const double *values, const bool *is_signal, bool *in_loop,
                                yoke_arena *scratch) {
  const size_t n = (size_t)pattern->n_cols, mark = yoke_arena_mark(scratch);
  bool *active = yoke_arena_take(scratch, n, sizeof *active), *reads = yoke_arena_take(scratch, n, sizeof *reads),
       *is_read = yoke_arena_take(scratch, n, sizeof *is_read);
  blocks b      = {.of = {yoke_arena_take(scratch, n, sizeof(int)), yoke_arena_take(scratch, n, sizeof(int))}};
  if (scratch->has_failed) return YOKE_E_MEMORY;
  memset(in_loop, 0, n * sizeof *in_loop);
  peel(pattern, values, is_signal, active, reads, is_read);
  for (int k = 0; k < pattern->n_cols; ++k) {
    const int block = is_signal[k] ? 0 : 1;
    if (active[k]) b.of[block][b.n[block]++] = k;
  }
  yoke_status status = YOKE_OK;
  if (b.n[0] > 0) {
    double *S = yoke_arena_take(scratch, (size_t)b.n[0] * (size_t)b.n[0], sizeof *S);
    status    = S != NULL ? reduce(pattern, values, &b, scratch, S) : YOKE_E_MEMORY;
    if (status == YOKE_OK) status = judge(S, &b, in_loop, scratch);
  }
  if (!scratch->has_failed) yoke_arena_release(scratch, mark);
  return status;
}

/* Names so far, and one more. */
static void add_name(char *text, size_t size, const char *name) {
  const size_t used = strlen(text);
  snprintf(text + used, size - used, "%s'%s'", used > 0 ? ", " : "", name);
}

yoke_status graph_name_loop(const yoke_graph *g, int n, const int *channel_of, const bool *in_loop, yoke_context *ctx) {
  char couplings[400] = "", subsystems[400] = "";
  for (int k = 0; k < n; ++k) {
    if (in_loop[k]) add_name(couplings, sizeof couplings, g->wires[g->channels[channel_of[k]].wire].wire.name);
  }
  for (int i = 0; i < g->n_subsystems; ++i) {
    bool shows = false;
    for (int k = 0; k < n; ++k)
      shows = shows || (in_loop[k] && g->wires[g->channels[channel_of[k]].wire].wire.subsystem[0] == i);
    if (shows) add_name(subsystems, sizeof subsystems, g->subsystems[i].subsystem->name);
  }
  return yoke_fail(ctx, YOKE_E_MODEL,
                   "signals depend on themselves at t = %.9g s in a loop of gain 1, which leaves their values open: "
                   "couplings %s, subsystems %s; change a gain, or put a delay, a filter or an inertia into the loop",
                   g->block->past_t[0], couplings, subsystems);
}
