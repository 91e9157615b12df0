#include "coupling/newton_ranks.h"

#include "base/clock.h"
#include "coupling/newton_matrix.h"
#include <math.h>
#include <string.h>

enum { ALONE, SHARED, N_WAYS, TRIALS = 3 }; /* of each way; the first one takes its memory and is not timed */

/* A product of rows or factors, and a byte on the way to other ranks, where both are cheap [s]: sizes beyond these bounds are not tried. */
static const double product_takes = 3e-10, byte_takes = 1e-10;

struct newton_ranks {
  int  n_parts;
  int *owner; /* [n_parts] rank that makes a part */
  int *first,
      *wire; /* [n_parts + 2], [n_wires] couplings of part p: wire[first[p]] ...; behind those of all parts the others */
  yoke_part_work work;
  /* which way */
  bool           is_decided, is_told;
  int            way, n_made;   /* n_made: matrices of the trial */
  double         least[N_WAYS]; /* [s] */
};

/* ---- set-up ---- */

static yoke_status list_wires(const yoke_graph *g, newton_ranks *r) {
  for (int i = 0; i < g->n_wires; ++i) ++r->first[yoke_linear_part(g->linear, i) + 1];
  for (int p = 0; p <= r->n_parts; ++p) r->first[p + 1] += r->first[p];
  int at[YOKE_BLOCK_MOST_PARTS + 1];
  memcpy(at, r->first, (size_t)(r->n_parts + 1) * sizeof *at);
  for (int i = 0; i < g->n_wires; ++i) r->wire[at[yoke_linear_part(g->linear, i)]++] = i;
  return YOKE_OK;
}

/* Products of rows and factors of a part. */
static double work_of(const yoke_graph *g, const newton_ranks *r, int part) {
  double work = yoke_linear_part_work(g->linear, part);
  for (int k = r->first[part]; k < r->first[part + 1]; ++k) work += graph_newton_products(g, r->wire[k]);
  return work;
}

/* The longest part first, to the rank with the least work. What a rank gains at most, in products. */
static double deal_parts(const yoke_graph *g, newton_ranks *r, double *of_rank, int n_ranks) {
  double work[YOKE_BLOCK_MOST_PARTS], all = 0.0, longest = 0.0;
  for (int p = 0; p < r->n_parts; ++p) {
    work[p]     = work_of(g, r, p);
    r->owner[p] = -1;
    all += work[p];
  }
  for (int k = 0; k < r->n_parts; ++k) {
    int part = -1, rank = 0;
    for (int p = 0; p < r->n_parts; ++p) {
      if (r->owner[p] < 0 && (part < 0 || work[p] > work[part])) part = p;
    }
    for (int i = 1; i < n_ranks; ++i) {
      if (of_rank[i] < of_rank[rank]) rank = i;
    }
    r->owner[part] = rank;
    of_rank[rank] += work[part];
    longest = fmax(longest, of_rank[rank]);
  }
  return all - longest;
}

/* A rank sees blocks of all others, each as long as the longest. */
static double bytes_of(const yoke_graph *g, const newton_ranks *r, int n_ranks) {
  size_t longest = 0;
  for (int rank = 0; rank < n_ranks; ++rank) {
    size_t own = 0;
    for (int p = 0; p < r->n_parts; ++p) own += r->owner[p] == rank ? yoke_linear_part_size(g->linear, p) : 0;
    if (own > longest) longest = own;
  }
  return (double)longest * n_ranks;
}

yoke_status newton_ranks_create(yoke_graph *g, yoke_context *ctx) {
  const int n_parts = g->linear != NULL ? yoke_linear_n_parts(g->linear) : 0, n_ranks = yoke_relay_n_ranks(g->relay);
  if (n_parts < 2 || n_ranks < 2 || g->n_sets > 1 || g->broyden != NULL) return YOKE_OK;
  const size_t  mark    = yoke_arena_mark(&g->work);
  double       *of_rank = yoke_arena_take(&g->work, (size_t)n_ranks, sizeof *of_rank);
  newton_ranks *r       = yoke_arena_take(&g->arena, 1, sizeof *r);
  int          *owner   = yoke_arena_take(&g->arena, (size_t)n_parts, sizeof *owner);
  int          *first   = yoke_arena_take(&g->arena, (size_t)n_parts + 2, sizeof *first);
  int          *wire    = yoke_arena_take(&g->arena, (size_t)g->n_wires, sizeof *wire);
  YOKE_TRY(yoke_arena_check(&g->work, ctx, "%d ranks", n_ranks));
  YOKE_TRY(yoke_arena_check(&g->arena, ctx, "a Newton matrix of %d conditions on ranks", g->n_c));
  memset(of_rank, 0, (size_t)n_ranks * sizeof *of_rank);
  *r = (newton_ranks){.n_parts = n_parts, .owner = owner, .first = first, .wire = wire, .least = {INFINITY, INFINITY}};
  list_wires(g, r);
  const double gain = product_takes * deal_parts(g, r, of_rank, n_ranks), cost = byte_takes * bytes_of(g, r, n_ranks);
  yoke_arena_release(&g->work, mark);
  if (yoke_exec_is_eager(g->exec)) { /* whatever the sizes */
    r->is_decided = true;
    r->way        = SHARED;
  }
  if (gain > cost || r->is_decided) g->newton_ranks = r;
  return YOKE_OK;
}

/* ---- shared ---- */

static int owner_of(void *user, int part) {
  return ((const yoke_graph *)user)->newton_ranks->owner[part];
}

static void make_part(void *user, int part, int worker) {
  yoke_graph     *g = user;
  newton_ranks   *r = g->newton_ranks;
  yoke_relay_call call;
  yoke_part_piece piece[YOKE_PART_PIECES];
  yoke_status     status = yoke_relay_begin(g->relay, r->owner[part], &call);
  yoke_factor_part_pieces(&r->work, part, piece);
  if (status == YOKE_OK && call.is_own) {
    for (int k = r->first[part]; k < r->first[part + 1]; ++k) graph_newton_add_rows(g, r->wire[k], worker);
    yoke_factor_part(&r->work, part);
    status = r->work.status[part];
  }
  yoke_carry_status(&call, &status);
  for (int k = 0; k < YOKE_PART_PIECES && status == YOKE_OK; ++k) yoke_carry(&call, piece[k].size, piece[k].at);
  r->work.status[part] = yoke_relay_end(&call, status);
}

/* Rows of the couplings between the parts are read by all parts. */
static yoke_status make_shared(yoke_graph *g) {
  newton_ranks *r = g->newton_ranks;
  memset(g->J, 0, (size_t)g->pattern->nnz * sizeof *g->J);
  for (int k = r->first[r->n_parts]; k < r->first[r->n_parts + 1]; ++k) graph_newton_add_rows(g, r->wire[k], 0);
  yoke_status status = yoke_factor_begin_parts(g->linear, g->J, &g->factor[0], &r->work);
  if (status == YOKE_OK) {
    yoke_relay_run(g->relay, g->exec, r->n_parts, owner_of, NULL, make_part, g);
    status = yoke_factor_end_parts(&r->work, &g->factor[0]);
  }
  return status;
}

/* ---- which way ---- */

static yoke_status decide(const yoke_graph *g, newton_ranks *r) {
  int32_t         way = r->least[SHARED] < r->least[ALONE] ? SHARED : ALONE;
  yoke_relay_call call;
  yoke_status     status = yoke_relay_begin(g->relay, 0, &call);
  yoke_carry(&call, sizeof way, &way);
  status        = yoke_relay_end(&call, status);
  r->way        = way == SHARED ? SHARED : ALONE;
  r->is_decided = true;
  return status;
}

bool yoke_graph_tell_matrix(yoke_graph *g, double took[N_WAYS], const char **way) {
  newton_ranks *r = g->newton_ranks;
  if (r == NULL || !r->is_decided || r->is_told) return false;
  memcpy(took, r->least, sizeof r->least);
  *way       = r->way == SHARED ? "shared" : "alone";
  r->is_told = true;
  return true;
}

/* Pivots that are not good enough within blocks are so on all ranks, which then make the matrix as if they were alone. */
yoke_status newton_ranks_make(yoke_graph *g) {
  newton_ranks *r      = g->newton_ranks;
  const int     way    = r->is_decided ? r->way : r->n_made % N_WAYS;
  const double  begin  = yoke_clock_now();
  yoke_status   status = way == SHARED ? make_shared(g) : YOKE_SINGULAR;
  if (status == YOKE_SINGULAR) {
    graph_newton_assemble(g);
    status = graph_newton_factor(g, 0);
  }
  if (r->is_decided) return status;
  if (r->n_made++ >= N_WAYS) r->least[way] = fmin(r->least[way], yoke_clock_now() - begin);
  if (r->n_made == N_WAYS * TRIALS && status >= YOKE_OK) {
    const yoke_status decided = decide(g, r);
    if (decided != YOKE_OK) status = decided;
  }
  return status;
}
