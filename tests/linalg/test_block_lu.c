/* Block LU: solutions against LAPACK, parts in any order, what is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "linalg/block_lu.h"
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct blocks {
  int            n, n_rows;
  int           *first_row;
  yoke_pattern  *pattern;
  yoke_block_lu *lu;
  double        *a, *values, *x, *b, *work;
  int           *pivots;
} blocks;

static double uniform(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 33) / 1073741824.0 - 1.0; /* [-1, 1) */
}

/* Block i knows block neighbour(i); sizes from size(i). */
static blocks make(int n, int (*size)(int i), int (*neighbour)(int i)) {
  blocks b    = {.n = n};
  b.first_row = calloc((size_t)n + 1, sizeof(int));
  for (int i = 0; i < n; ++i) b.first_row[i + 1] = b.first_row[i] + size(i);
  b.n_rows         = b.first_row[n];
  const size_t all = (size_t)b.n_rows * (size_t)b.n_rows;
  int         *row = calloc(all, sizeof(int)), *col = calloc(all, sizeof(int)), n_entries = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      if (i != j && neighbour(i) != j && neighbour(j) != i) continue;
      for (int r = b.first_row[i]; r < b.first_row[i + 1]; ++r) {
        for (int c = b.first_row[j]; c < b.first_row[j + 1]; ++c, ++n_entries) row[n_entries] = r, col[n_entries] = c;
      }
    }
  }
  assert_int_equal(yoke_pattern_create(NULL, b.n_rows, b.n_rows, n_entries, row, col, NULL, &b.pattern), YOKE_OK);
  assert_int_equal(yoke_block_lu_create(NULL, b.pattern, n, b.first_row, 0.0, &b.lu), YOKE_OK);
  free(row);
  free(col);
  b.a      = calloc((size_t)b.pattern->nnz, sizeof(double));
  b.values = calloc(yoke_block_lu_n_values(b.lu), sizeof(double));
  b.x      = calloc((size_t)b.n_rows, sizeof(double));
  b.b      = calloc((size_t)b.n_rows, sizeof(double));
  b.work   = calloc(2 * (size_t)b.n_rows, sizeof(double));
  b.pivots = calloc((size_t)b.n_rows, sizeof(int));
  return b;
}

static void unmake(blocks *b) {
  yoke_block_lu_destroy(&b->lu);
  yoke_pattern_destroy(&b->pattern);
  free(b->first_row);
  free(b->a);
  free(b->values);
  free(b->x);
  free(b->b);
  free(b->work);
  free(b->pivots);
}

/* Random, the blocks of the diagonal larger, rows of very different sizes. */
static void fill(blocks *b, uint64_t seed) {
  for (int j = 0, block = 0; j < b->n_rows; ++j) {
    while (j >= b->first_row[block + 1]) ++block;
    for (int k = b->pattern->col_start[j]; k < b->pattern->col_start[j + 1]; ++k) {
      const int  r   = b->pattern->row[k];
      const bool own = r >= b->first_row[block] && r < b->first_row[block + 1];
      b->a[k]        = (own ? 4.0 : 1.0) * uniform(&seed) * pow(10.0, r % 7 - 3);
    }
  }
  for (int i = 0; i < b->n_rows; ++i) b->b[i] = uniform(&seed);
}

static yoke_status factor(blocks *b, bool is_reversed) {
  const int   n      = yoke_block_lu_n_parts(b->lu);
  yoke_status status = yoke_block_lu_begin(b->lu, b->a, b->values);
  for (int p = 0; p < n && status == YOKE_OK; ++p)
    status = yoke_block_lu_factor_part(b->lu, b->a, b->values, b->pivots, is_reversed ? n - 1 - p : p);
  return status == YOKE_OK ? yoke_block_lu_factor_top(b->lu, b->a, b->values, b->pivots) : status;
}

static void solve(blocks *b) {
  memcpy(b->x, b->b, (size_t)b->n_rows * sizeof(double));
  yoke_block_lu_solve(b->lu, b->values, b->pivots, b->x, b->work);
}

/* Largest difference from the solution of LAPACK, relative. */
static double difference(const blocks *b) {
  const size_t n = (size_t)b->n_rows;
  double      *A = calloc(n * n, sizeof *A), *x = calloc(n, sizeof *x), most = 0.0, size = 0.0;
  lapack_int  *pivot = calloc(n, sizeof *pivot);
  for (size_t j = 0; j < n; ++j) {
    for (int k = b->pattern->col_start[j]; k < b->pattern->col_start[j + 1]; ++k)
      A[j * n + (size_t)b->pattern->row[k]] = b->a[k] * pow(10.0, 3 - b->pattern->row[k] % 7);
  }
  for (size_t i = 0; i < n; ++i) x[i] = b->b[i] * pow(10.0, 3 - (int)(i % 7));
  assert_int_equal(LAPACKE_dgesv(LAPACK_COL_MAJOR, b->n_rows, 1, A, b->n_rows, pivot, x, b->n_rows), 0);
  for (size_t i = 0; i < n; ++i) {
    most = fmax(most, fabs(b->x[i] - x[i]));
    size = fmax(size, fabs(x[i]));
  }
  free(A);
  free(x);
  free(pivot);
  return most / size;
}

static int thirteen(int i) {
  (void)i;
  return 13;
}
static int uneven(int i) {
  return i % 5 == 3 ? 0 : 1 + (7 * i) % 19;
}
static int next(int i) {
  return i + 1;
}
static int parent(int i) {
  return (i - 1) / 2;
}
static int far(int i) {
  return (3 * i + 1) % 23;
}
static int nobody(int i) {
  (void)i;
  return -1;
}

typedef struct kind {
  int n;
  int (*size)(int i);
  int (*neighbour)(int i);
} kind;
static const kind kinds[] = {{1, thirteen, nobody}, {2, thirteen, next},    {24, thirteen, next},
                             {25, uneven, next},    {31, thirteen, parent}, {30, uneven, parent},
                             {23, thirteen, far},   {23, uneven, far},      {9, uneven, nobody}};
enum { N_KINDS = (int)(sizeof kinds / sizeof *kinds) };

static void solutions_agree_with_lapack(void **state) {
  (void)state;
  for (int i = 0; i < N_KINDS; ++i) {
    blocks b = make(kinds[i].n, kinds[i].size, kinds[i].neighbour);
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      fill(&b, seed);
      assert_int_equal(factor(&b, false), YOKE_OK);
      solve(&b);
      assert_true(difference(&b) < 1e-9);
    }
    unmake(&b);
  }
}

static void parts_in_any_order_give_the_same_bits(void **state) {
  (void)state;
  for (int i = 0; i < N_KINDS; ++i) {
    blocks b = make(kinds[i].n, kinds[i].size, kinds[i].neighbour);
    fill(&b, 5);
    assert_int_equal(factor(&b, false), YOKE_OK);
    solve(&b);
    double *x = calloc((size_t)b.n_rows, sizeof *x);
    memcpy(x, b.x, (size_t)b.n_rows * sizeof *x);
    memset(b.values, 255, yoke_block_lu_n_values(b.lu) * sizeof *b.values);
    assert_int_equal(factor(&b, true), YOKE_OK);
    solve(&b);
    assert_memory_equal(x, b.x, (size_t)b.n_rows * sizeof *x);
    free(x);
    unmake(&b);
  }
}

/* A part writes its span and nothing else. */
static void parts_write_their_spans_alone(void **state) {
  (void)state;
  blocks       b = make(31, thirteen, parent);
  const size_t n = yoke_block_lu_n_values(b.lu), scales = yoke_block_lu_scales(b.lu);
  double      *before = calloc(n, sizeof *before);
  fill(&b, 2);
  assert_int_equal(yoke_block_lu_begin(b.lu, b.a, b.values), YOKE_OK);
  for (int p = 0; p < yoke_block_lu_n_parts(b.lu); ++p) {
    const yoke_block_span span = yoke_block_lu_span(b.lu, p);
    memcpy(before, b.values, n * sizeof *before);
    assert_int_equal(yoke_block_lu_factor_part(b.lu, b.a, b.values, b.pivots, p), YOKE_OK);
    for (size_t i = 0; i < n; ++i) {
      const bool is_own =
          (i >= span.value_begin && i < span.value_end) || (i >= scales + span.row_begin && i < scales + span.row_end);
      if (!is_own) assert_memory_equal(&before[i], &b.values[i], sizeof(double));
    }
  }
  free(before);
  unmake(&b);
}

/* The work of a worker with a chain is half of the whole; a tree of degree two falls into more. */
static void chains_have_two_parts_and_trees_more(void **state) {
  (void)state;
  blocks       chain = make(101, thirteen, next), tree = make(63, thirteen, parent);
  const double all = yoke_block_lu_work(chain.lu, -1);
  assert_int_equal(yoke_block_lu_n_parts(chain.lu), 2);
  for (int p = 0; p < 2; ++p) assert_true(fabs(yoke_block_lu_work(chain.lu, p) / all - 0.5) < 0.02);
  assert_true(yoke_block_lu_n_parts(tree.lu) >= 4);
  double longest = 0.0;
  for (int p = 0; p < yoke_block_lu_n_parts(tree.lu); ++p) longest = fmax(longest, yoke_block_lu_work(tree.lu, p));
  assert_true(longest < 0.3 * yoke_block_lu_work(tree.lu, -1));
  unmake(&chain);
  unmake(&tree);
}

/* Nothing is filled in a chain and in a tree: products are those of blocks with at most one neighbour behind them. */
static void work_grows_with_the_number_of_blocks(void **state) {
  (void)state;
  blocks b = make(40, thirteen, next), c = make(80, thirteen, next), t = make(63, thirteen, parent);
  assert_true(fabs(yoke_block_lu_work(c.lu, -1) - 40.0 * 13.0 * 26.0 * 26.0 - yoke_block_lu_work(b.lu, -1)) < 1.0);
  assert_true(fabs(yoke_block_lu_work(t.lu, -1) - 62.0 * 13.0 * 26.0 * 26.0 - 13.0 * 13.0 * 13.0) < 1.0);
  unmake(&b);
  unmake(&c);
  unmake(&t);
}

/* Are there factors by blocks of three rows, of which `knows` says who knows whom? The matrix is 1 + 1/(1 + row + column), and 100 on the diagonal. */
static bool has_blocks(int n, bool (*knows)(int i, int j)) {
  enum { SIZE = 3 };
  const int     n_rows = SIZE * n;
  const size_t  all    = (size_t)n_rows * (size_t)n_rows;
  int          *row = calloc(all, sizeof *row), *col = calloc(all, sizeof *col), n_entries = 0;
  int          *first  = calloc((size_t)n + 1, sizeof *first);
  yoke_pattern *p      = NULL;
  yoke_linear  *linear = NULL;
  yoke_factor  *factor = NULL;
  for (int i = 0; i <= n; ++i) first[i] = SIZE * i;
  for (int r = 0; r < n_rows; ++r) {
    for (int c = 0; c < n_rows; ++c) {
      if (r / SIZE != c / SIZE && !knows(r / SIZE, c / SIZE)) continue;
      row[n_entries]   = r;
      col[n_entries++] = c;
    }
  }
  assert_int_equal(yoke_pattern_create(NULL, n_rows, n_rows, n_entries, row, col, NULL, &p), YOKE_OK);
  assert_int_equal(yoke_linear_create_blocks(NULL, p, n, first, &linear), YOKE_OK);
  double *a = calloc((size_t)p->nnz, sizeof *a), *x = calloc((size_t)n_rows, sizeof *x),
         *work = calloc(yoke_linear_work_size(linear), sizeof *work);
  for (int j = 0; j < n_rows; ++j) {
    for (int k = p->col_start[j]; k < p->col_start[j + 1]; ++k) {
      a[k] = 1.0 + 1.0 / (1.0 + j + p->row[k]) + (p->row[k] == j ? 100.0 : 0.0);
      x[p->row[k]] += a[k]; /* of a solution of ones */
    }
  }
  const bool has = yoke_linear_n_parts(linear) > 0;
  assert_int_equal(yoke_factor_make(linear, a, NULL, &factor), YOKE_OK);
  yoke_factor_solve(factor, x, NULL, work);
  for (int i = 0; i < n_rows; ++i) assert_true(fabs(x[i] - 1.0) < 1e-10);
  yoke_factor_release(&factor);
  yoke_linear_destroy(&linear);
  yoke_pattern_destroy(&p);
  free(row);
  free(col);
  free(first);
  free(a);
  free(x);
  free(work);
  return has;
}

static bool all_know_each_other(int i, int j) {
  (void)i, (void)j;
  return true;
}
static bool know_in_a_row(int i, int j) {
  return abs(i - j) == 1;
}
static bool know_in_a_net(int i, int j) { /* sixteen wide */
  return abs(i - j) == 16 || (abs(i - j) == 1 && i / 16 == j / 16);
}

/* Around a subsystem with hundreds of couplings the targets of updates, one for every three blocks, would take the more memory the more there are. */
static void blocks_that_take_far_more_memory_than_klu_are_left_to_it(void **state) {
  (void)state;
  assert_true(has_blocks(240, know_in_a_row));
  assert_true(has_blocks(240, know_in_a_net));
  assert_true(has_blocks(60, all_know_each_other));
  assert_false(has_blocks(240, all_know_each_other));
}

static void what_cannot_be_factored_is_told(void **state) {
  (void)state;
  blocks b = make(24, thirteen, next);
  fill(&b, 1);
  for (int k = b.pattern->col_start[40]; k < b.pattern->col_start[41]; ++k) b.a[k] = 0.0; /* a column of zeros */
  assert_int_equal(factor(&b, false), YOKE_SINGULAR);
  fill(&b, 1);
  b.a[b.pattern->nnz / 2] = (double)NAN;
  assert_int_equal(factor(&b, false), YOKE_NON_FINITE);
  fill(&b, 1);
  for (int r = 26; r < 39; ++r) { /* a block with a diagonal of nothing but rounding */
    for (int j = 26; j < 39; ++j) {
      for (int k = b.pattern->col_start[j]; k < b.pattern->col_start[j + 1]; ++k) {
        if (b.pattern->row[k] >= 26 && b.pattern->row[k] < 39) b.a[k] *= 1e-9;
      }
    }
  }
  for (int j = 0; j < 26; ++j) { /* and nobody before it who knows it */
    for (int k = b.pattern->col_start[j]; k < b.pattern->col_start[j + 1]; ++k) {
      if (b.pattern->row[k] >= 26) b.a[k] = 0.0;
    }
  }
  assert_int_equal(factor(&b, false), YOKE_SINGULAR);
  unmake(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(solutions_agree_with_lapack),
      cmocka_unit_test(parts_in_any_order_give_the_same_bits),
      cmocka_unit_test(parts_write_their_spans_alone),
      cmocka_unit_test(chains_have_two_parts_and_trees_more),
      cmocka_unit_test(work_grows_with_the_number_of_blocks),
      cmocka_unit_test(blocks_that_take_far_more_memory_than_klu_are_left_to_it),
      cmocka_unit_test(what_cannot_be_factored_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
