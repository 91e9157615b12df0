/* Stages of a step, fused: sums, accelerations and the error, block by block (invariants of chain_kernel.c).
 *
 * Several threads: each has a range of blocks and does not wait for the others. What a range needs of its neighbours in stage k, the two masses
 * beside a border, follows from the n - k masses on either side in the stages before: both ranges compute these few masses again, to the
 * same bits. Errors are summed in the order of blocks. */
#include "model/chain_loops.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { BLOCK = YOKE_CHAIN_BLOCK, ROOM = YOKE_CHAIN_ROOM, MOST_TERMS = 32 /* of a stage that is shared by threads */ };
_Static_assert((int)YOKE_CHAIN_BLOCK == (int)YOKE_LOCKSTEP_GRAIN, "ranges are whole blocks");

/* Terms that are 0 in all sums are left out. Those beyond YOKE_CHAIN_TERMS start at stage index `rest`. */
typedef struct stage_plan {
  const yoke_stage *stage;
  yoke_chain_sum    sum;
  int               rest;
} stage_plan;

/* Terms that are not there are never read, but point somewhere. */
static void clear_plan(stage_plan *plan, const double *q) {
  for (int k = 0; k < YOKE_CHAIN_TERMS; ++k) plan->sum.A[k] = q;
}

static void plan_stage(stage_plan *plan, const yoke_stage *stage) {
  yoke_chain_sum *sum       = &plan->sum;
  const double    h         = stage->h;
  const bool      has_error = stage->e != NULL;
  int             n = 0, j = 0;
  plan->stage = stage;
  sum->hc     = h * stage->c;
  for (; j < stage->s && n < YOKE_CHAIN_TERMS; ++j) {
    const double a = stage->a[j], abar = stage->abar[j];
    if (has_error) {
      const double e = stage->e[j], ebar = stage->ebar[j];
      if (a == 0.0 && abar == 0.0 && e == 0.0 && ebar == 0.0) continue;
      sum->ex[n] = h * h * ebar;
      sum->ev[n] = h * e;
    } else if (a == 0.0 && abar == 0.0) {
      continue;
    }
    sum->x[n]   = h * h * abar;
    sum->v[n]   = h * a;
    sum->A[n++] = stage->A[j];
  }
  sum->n_terms = n;
  plan->rest   = j;
}

static void add_term(int n, double coefficient, const double *A, double *sum) {
  for (int i = 0; i < n; ++i) sum[i] += coefficient * A[i];
}

/* X, V and, when EX is not NULL, error sums of masses i0 .. i0 + n - 1. */
static void stage_sums(const stage_plan *plan, int i0, int n, double *X, double *V, double *EX, double *EV) {
  const yoke_stage *stage = plan->stage;
  const double      h     = stage->h;
  if (EX != NULL) {
    yoke_chain_loop_sum_error(&plan->sum, i0, n, stage->q + i0, stage->v + i0, X, V, EX, EV);
  } else {
    yoke_chain_loop_sum(&plan->sum, i0, n, stage->q + i0, stage->v + i0, X, V);
  }
  for (int j = plan->rest; j < stage->s; ++j) {
    add_term(n, h * h * stage->abar[j], stage->A[j] + i0, X);
    add_term(n, h * stage->a[j], stage->A[j] + i0, V);
    if (EX == NULL) continue;
    add_term(n, h * h * stage->ebar[j], stage->A[j] + i0, EX);
    add_term(n, h * stage->e[j], stage->A[j] + i0, EV);
  }
}

/* ---- borders ---- */

/* The masses left and right of a border in every stage. */
typedef struct border {
  double X[YOKE_CHAIN_SWEEP][2], V[YOKE_CHAIN_SWEEP][2];
} border;

/* Masses around a border, in arrays of their own. */
typedef struct surroundings {
  double        q[2 * YOKE_CHAIN_SWEEP], v[2 * YOKE_CHAIN_SWEEP];
  double        A[MOST_TERMS][2 * YOKE_CHAIN_SWEEP], out[YOKE_CHAIN_SWEEP][2 * YOKE_CHAIN_SWEEP];
  const double *list[MOST_TERMS];
} surroundings;

/* Terms of stage k: what stages before it gave, or a copy. */
static void list_terms(surroundings *s, const yoke_stage *stages, int k, int i0, size_t size) {
  for (int j = 0; j < stages[k].s; ++j) {
    int before = k - 1;
    while (before >= 0 && stages[before].out != stages[k].A[j]) --before;
    s->list[j] = before >= 0 ? s->out[before] : memcpy(s->A[j], stages[k].A[j] + i0, size);
  }
}

/* Border between masses b - 1 and b, at least n_stages masses from the ends of the chain. Stage k is known for the masses from b - (n_stages - k)
 * to b + (n_stages - k) - 1, its accelerations for all of these but the first and the last. */
static yoke_status run_border(const yoke_chain_kernel *kernel, double gx, int n_stages, const yoke_stage *stages, int b,
                              border *out) {
  surroundings          s;
  stage_plan            plan;
  yoke_chain_evaluation ev;
  double                X[2 * YOKE_CHAIN_SWEEP], V[2 * YOKE_CHAIN_SWEEP];
  const int             i0   = b - n_stages;
  const size_t          size = 2 * (size_t)n_stages * sizeof(double);
  memcpy(s.q, stages[0].q + i0, size);
  memcpy(s.v, stages[0].v + i0, size);
  clear_plan(&plan, s.q);
  for (int k = 0; k < n_stages; ++k) {
    yoke_stage stage = stages[k];
    const int  half  = n_stages - k; /* masses on either side */
    list_terms(&s, stages, k, i0, size);
    stage.q = s.q;
    stage.v = s.v;
    stage.A = s.list;
    plan_stage(&plan, &stage);
    stage_sums(&plan, k, 2 * half, X, V, NULL, NULL);
    memcpy(out->X[k], X + half - 1, sizeof out->X[k]);
    memcpy(out->V[k], V + half - 1, sizeof out->V[k]);
    if (half == 1) break;
    yoke_chain_begin(&ev, kernel, stage.t, gx, stage.u, false);
    yoke_chain_go_to(&ev, b - half + 1, X, V);
    YOKE_TRY(yoke_chain_evaluate_block(&ev, b - half + 1, b + half - 1, X + 1, V + 1, s.out[k] + k + 1));
  }
  return YOKE_OK;
}

/* ---- sweeps ---- */

/* A stage in progress. */
typedef struct stage_run {
  stage_plan            plan;
  yoke_chain_evaluation evaluation;
  double                ex, ev; /* coefficients of the error's last term */
  double                total;  /* error so far */
} stage_run;

static void stage_begin(stage_run *run, const yoke_chain_kernel *kernel, double gx, const yoke_stage *stage) {
  plan_stage(&run->plan, stage);
  yoke_chain_begin(&run->evaluation, kernel, stage->t, gx, stage->u, false);
  run->ex    = stage->e != NULL ? stage->h * stage->h * stage->ebar[stage->s] : 0.0;
  run->ev    = stage->e != NULL ? stage->h * stage->e[stage->s] : 0.0;
  run->total = 0.0;
}

/* Masses [i0, i1), the next ones in index order. Reads mass i1 of A too, unless X_behind and V_behind tell what it gives: then it belongs to
 * another thread. *sum (may be NULL): error of the block. */
static yoke_status stage_block(stage_run *run, int i0, int i1, const double *X_behind, const double *V_behind,
                               double *sum) {
  const yoke_stage   *stage = run->plan.stage;
  const int           n     = i1 - i0;
  const bool          ends  = i1 == run->evaluation.kernel->n;
  _Alignas(64) double x_buffer[ROOM], v_buffer[ROOM], EX[ROOM], EV[ROOM];
  /* X[n], V[n]: the first mass of the next block, whose own block repeats it to the bit. */
  double             *X = stage->X_out != NULL && X_behind == NULL ? stage->X_out + i0 : x_buffer;
  double             *V = stage->V_out != NULL && X_behind == NULL ? stage->V_out + i0 : v_buffer;
  double             *a = stage->out + i0;
  stage_sums(&run->plan, i0, n, X, V, stage->e != NULL ? EX : NULL, EV);
  if (X_behind != NULL) {
    X[n] = *X_behind;
    V[n] = *V_behind;
    if (stage->X_out != NULL) memcpy(stage->X_out + i0, X, (size_t)n * sizeof *X);
    if (stage->V_out != NULL) memcpy(stage->V_out + i0, V, (size_t)n * sizeof *V);
  } else if (!ends) {
    stage_sums(&run->plan, i1, 1, X + n, V + n, NULL, NULL);
  }
  YOKE_TRY(yoke_chain_evaluate_block(&run->evaluation, i0, i1, X, V, a));
  if (stage->e == NULL) return YOKE_OK;
  const double error = yoke_chain_loop_error(n, run->ex, run->ev, stage->atol, stage->rtol, EX, EV, a, stage->q + i0,
                                             stage->v + i0, X, V);
  run->total += error;
  if (sum != NULL) *sum = error;
  return isfinite(run->total) ? YOKE_OK : YOKE_NON_FINITE;
}

/* A sweep in progress. */
typedef struct sweep {
  const yoke_chain_kernel *kernel;
  double                   gx;
  int                      n_stages;
  const yoke_stage        *stages;
  double                  *sums;  /* [n_blocks] errors of blocks; NULL: nobody helps */
  double                   total; /* where nobody helps: error */
  atomic_bool              has_failed;
} sweep;

/* A short chain: stage by stage. */
static yoke_status sweep_one_block(sweep *s) {
  stage_run run;
  clear_plan(&run.plan, s->stages[0].q);
  for (int k = 0; k < s->n_stages; ++k) {
    stage_begin(&run, s->kernel, s->gx, &s->stages[k]);
    YOKE_TRY(stage_block(&run, 0, s->kernel->n, NULL, NULL, NULL));
  }
  s->total = run.total;
  return YOKE_OK;
}

/* Stage k needs of the stages before it the masses of its block and the first mass of the next block. So while stage 0
 * works on block m, stage k can work on block m - k: one sweep through memory serves all stages, and what they share
 * stays in the second-level cache (about n_stages + 1 blocks of all arrays). */
static yoke_status sweep_range(sweep *s, yoke_range range) {
  const yoke_chain_kernel *kernel = s->kernel;
  const bool               begins = range.begin == 0, ends = range.end == kernel->n;
  const int                first = range.begin / BLOCK, n_blocks = (range.end - range.begin - 1) / BLOCK + 1;
  stage_run                run[YOKE_CHAIN_SWEEP];
  border                   left, right;
  if (!begins) YOKE_TRY(run_border(kernel, s->gx, s->n_stages, s->stages, range.begin, &left));
  if (!ends) YOKE_TRY(run_border(kernel, s->gx, s->n_stages, s->stages, range.end, &right));
  for (int k = 0; k < s->n_stages; ++k) {
    clear_plan(&run[k].plan, s->stages[k].q);
    stage_begin(&run[k], kernel, s->gx, &s->stages[k]);
    if (!begins) yoke_chain_go_to(&run[k].evaluation, range.begin, left.X[k], left.V[k]);
  }
  for (int m = 0; m < n_blocks + s->n_stages - 1; ++m) {
    for (int k = 0; k < s->n_stages; ++k) {
      const int block = m - k;
      if (block < 0 || block >= n_blocks) continue;
      const int  i0        = range.begin + block * BLOCK;
      const bool is_border = !ends && block == n_blocks - 1;
      YOKE_TRY(stage_block(&run[k], i0, yoke_chain_block_end(kernel, i0), is_border ? &right.X[k][1] : NULL,
                           is_border ? &right.V[k][1] : NULL, s->sums != NULL ? s->sums + first + block : NULL));
    }
  }
  if (s->sums == NULL && s->n_stages > 0) s->total = run[s->n_stages - 1].total;
  return YOKE_OK;
}

static void sweep_part(void *user, int i, int n) {
  sweep *s = user;
  if (sweep_range(s, yoke_lockstep_range(s->kernel->n, i, n)) != YOKE_OK)
    atomic_store_explicit(&s->has_failed, true,
                          memory_order_relaxed); /* nothing else can happen than a value that is not finite */
}

/* In the order of blocks: the same for any number of ranges. */
static double sum_up(const sweep *s, int n_blocks) {
  double total = 0.0;
  for (int i = 0; i < n_blocks; ++i) total += s->sums[i];
  return total;
}

yoke_status yoke_chain_sweep(const yoke_chain_kernel *kernel, double gx, yoke_lockstep *helpers, double *sums,
                             int n_stages, const yoke_stage *stages, double *error_sum) {
  if (n_stages == 0) return YOKE_OK;
  const yoke_stage *last     = &stages[n_stages - 1];
  const int         n_blocks = (kernel->n - 1) / BLOCK + 1;
  const bool helps = helpers != NULL && sums != NULL && n_blocks >= YOKE_CHAIN_SHARED_BLOCKS && last->s <= MOST_TERMS;
  sweep      s     = {.kernel = kernel, .gx = gx, .n_stages = n_stages, .stages = stages};
  if (helps) {
    s.sums = sums;
    yoke_lockstep_run(helpers, n_blocks / 2, (double)kernel->n * n_stages, sweep_part, &s);
    if (atomic_load_explicit(&s.has_failed, memory_order_relaxed)) return YOKE_NON_FINITE;
    if (last->e != NULL) s.total = sum_up(&s, n_blocks);
  } else {
    YOKE_TRY(n_blocks == 1 ? sweep_one_block(&s) : sweep_range(&s, (yoke_range){0, kernel->n}));
  }
  if (last->e == NULL) return YOKE_OK;
  if (error_sum != NULL) *error_sum = s.total;
  return isfinite(s.total) ? YOKE_OK : YOKE_NON_FINITE;
}
