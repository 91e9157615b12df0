/* Sparse patterns, products and LU factors of all kinds. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "linalg/sparse.h"
#include <lapacke.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { N = 60, N_TRIPLETS = 60 * 7 };

static uint64_t next_random(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return *seed >> 33;
}

static double uniform(uint64_t *seed) {
  return (double)next_random(seed) / 1073741824.0 - 1.0; /* [-1, 1) */
}

typedef struct fixture {
  yoke_pattern *pattern;
  yoke_linear  *linear;
  double       *re, *im, *work;
} fixture;

/* A band of random entries and a diagonal: `wide` adds entries anywhere. */
static fixture fixture_create(yoke_linear_kind kind, bool wide) {
  fixture  f    = {0};
  uint64_t seed = 7;
  int      row[N_TRIPLETS], col[N_TRIPLETS];
  for (int i = 0; i < N_TRIPLETS; ++i) {
    col[i] = i % N;
    row[i] = i < N ? i : (wide ? (int)(next_random(&seed) % N) : (col[i] + (int)(next_random(&seed) % 5) + N - 2) % N);
    if (!wide && abs(row[i] - col[i]) > 2) row[i] = col[i];
  }
  assert_int_equal(yoke_pattern_create(NULL, N, N, N_TRIPLETS, row, col, NULL, &f.pattern), YOKE_OK);
  assert_int_equal(yoke_linear_create(NULL, f.pattern, kind, &f.linear), YOKE_OK);
  f.re   = calloc((size_t)f.pattern->nnz, sizeof(double));
  f.im   = calloc((size_t)f.pattern->nnz, sizeof(double));
  f.work = calloc(yoke_linear_work_size(f.linear), sizeof(double));
  assert_true(f.re != NULL && f.im != NULL && f.work != NULL);
  return f;
}

static void fixture_destroy(fixture *f) {
  yoke_linear_destroy(&f->linear);
  yoke_pattern_destroy(&f->pattern);
  free(f->re);
  free(f->im);
  free(f->work);
}

static void fill_random(fixture *f, uint64_t seed) {
  for (int k = 0; k < f->pattern->nnz; ++k) {
    f->re[k] = uniform(&seed);
    f->im[k] = uniform(&seed);
  }
}

/* Solution by LAPACK of the dense matrix; pairs (re, im). */
static void dense_reference(const fixture *f, bool is_complex, const double *b_re, const double *b_im, double *x) {
  lapack_complex_double *a = calloc((size_t)N * N, sizeof *a);
  lapack_int             pivot[N];
  assert_non_null(a);
  for (int j = 0; j < N; ++j) {
    for (int k = f->pattern->col_start[j]; k < f->pattern->col_start[j + 1]; ++k) {
      double *entry = (double *)&a[j * N + f->pattern->row[k]];
      entry[0]      = f->re[k];
      entry[1]      = is_complex ? f->im[k] : 0.0;
    }
    x[2 * j]     = b_re[j];
    x[2 * j + 1] = is_complex ? b_im[j] : 0.0;
  }
  assert_int_equal(LAPACKE_zgesv(LAPACK_COL_MAJOR, N, 1, a, N, pivot, (lapack_complex_double *)x, N), 0);
  free(a);
}

static void check_against_dense(yoke_linear_kind kind, bool is_complex, bool wide) {
  fixture      f      = fixture_create(kind, wide);
  yoke_factor *factor = NULL;
  double       re[N], im[N], b_re[N], b_im[N], x[2 * N];
  for (uint64_t trial = 1; trial < 5; ++trial) { /* the second trial on tries the old pivot order */
    fill_random(&f, trial);
    uint64_t seed = 99 + trial;
    for (int i = 0; i < N; ++i) {
      re[i] = b_re[i] = uniform(&seed);
      im[i] = b_im[i] = uniform(&seed);
    }
    assert_int_equal(yoke_factor_make(f.linear, f.re, is_complex ? f.im : NULL, &factor), YOKE_OK);
    yoke_factor_solve(factor, re, is_complex ? im : NULL, f.work);
    dense_reference(&f, is_complex, b_re, b_im, x);
    double scale = 0.0;
    for (int i = 0; i < 2 * N; ++i) scale = fmax(scale, fabs(x[i]));
    for (int i = 0; i < N; ++i) {
      assert_true(fabs(re[i] - x[2 * i]) <= 1e-9 * scale);
      if (is_complex) assert_true(fabs(im[i] - x[2 * i + 1]) <= 1e-9 * scale);
    }
  }
  yoke_factor_release(&factor);
  fixture_destroy(&f);
}

static void pattern_is_sorted_and_slots_point_to_entries(void **unused) {
  (void)unused;
  const int     row[] = {2, 0, 2, 1, 0, 2}, col[] = {1, 0, 1, 2, 2, 0};
  int           slot[6];
  yoke_pattern *p = NULL;
  assert_int_equal(yoke_pattern_create(NULL, 3, 3, 6, row, col, slot, &p), YOKE_OK);
  assert_int_equal(p->nnz, 5);
  assert_int_equal(slot[0], slot[2]);
  for (int i = 0; i < 6; ++i) {
    assert_int_equal(p->row[slot[i]], row[i]);
    assert_true(p->col_start[col[i]] <= slot[i] && slot[i] < p->col_start[col[i] + 1]);
  }
  assert_true(p->row[p->col_start[2]] < p->row[p->col_start[2] + 1]);
  yoke_pattern_destroy(&p);
  assert_null(p);
}

static void pattern_refuses_entries_outside(void **unused) {
  (void)unused;
  const int     row[] = {0, 3}, col[] = {0, 0};
  yoke_pattern *p = NULL;
  assert_int_equal(yoke_pattern_create(NULL, 3, 3, 2, row, col, NULL, &p), YOKE_E_INTERNAL);
  assert_null(p);
}

static void empty_matrix_is_factored_and_solved(void **unused) {
  (void)unused;
  for (int kind = YOKE_LINEAR_KLU; kind <= YOKE_LINEAR_BANDED; ++kind) {
    yoke_pattern *p      = NULL;
    yoke_linear  *linear = NULL;
    yoke_factor  *factor = NULL;
    assert_int_equal(yoke_pattern_create(NULL, 0, 0, 0, NULL, NULL, NULL, &p), YOKE_OK);
    assert_int_equal(yoke_linear_create(NULL, p, (yoke_linear_kind)kind, &linear), YOKE_OK);
    double none[8] = {0};
    assert_int_equal(yoke_factor_make(linear, none, NULL, &factor), YOKE_OK);
    yoke_factor_solve(factor, none, NULL, none);
    yoke_factor_release(&factor);
    yoke_linear_destroy(&linear);
    yoke_pattern_destroy(&p);
  }
}

static void products_agree_with_their_definition(void **unused) {
  (void)unused;
  const int     row[] = {0, 1, 1}, col[] = {0, 0, 2};
  yoke_pattern *p = NULL;
  assert_int_equal(yoke_pattern_create(NULL, 2, 3, 3, row, col, NULL, &p), YOKE_OK);
  const double a[] = {2, 3, 5}, x[] = {1, 10, 100}, z[] = {1, 10};
  double       y[2], w[3];
  yoke_sparse_multiply(p, a, x, y);
  assert_true(y[0] == 2 && y[1] == 503);
  yoke_sparse_multiply_transposed(p, a, z, w);
  assert_true(w[0] == 32 && w[1] == 0 && w[2] == 50);
  yoke_pattern_destroy(&p);
}

static void klu_agrees_with_dense_lapack(void **unused) {
  (void)unused;
  check_against_dense(YOKE_LINEAR_KLU, false, true);
}

static void complex_klu_agrees_with_dense_lapack(void **unused) {
  (void)unused;
  check_against_dense(YOKE_LINEAR_KLU, true, true);
}

static void dense_agrees_with_dense_lapack(void **unused) {
  (void)unused;
  check_against_dense(YOKE_LINEAR_DENSE, false, true);
  check_against_dense(YOKE_LINEAR_DENSE, true, true);
}

static void banded_agrees_with_dense_lapack(void **unused) {
  (void)unused;
  check_against_dense(YOKE_LINEAR_BANDED, false, false);
  check_against_dense(YOKE_LINEAR_BANDED, true, false);
}

/* A chain of masses held by constraints: rows (mass, multiplier) with (m, -G^T; -G, -1e-14). With the multipliers marked
 * the solution agrees with the dense one, also when the constraints turn and a fresh pivot order would differ. */
static void marked_multipliers_are_solved_like_dense_ones(void **unused) {
  (void)unused;
  enum { n_bodies = 12, n_free = 2 * n_bodies, n = n_free + n_bodies };
  int     row[n * 10], col[n * 10], n_entries = 0;
  uint8_t is_weak[n];
  for (int i = 0; i < n; ++i) {
    is_weak[i]     = i >= n_free;
    row[n_entries] = i, col[n_entries++] = i;
  }
  for (int k = 0; k < n_bodies; ++k) {
    for (int e = 0; e < (k > 0 ? 4 : 2); ++e) { /* two coordinates of body k, then of body k - 1 */
      const int i    = 2 * (k - e / 2) + e % 2;
      row[n_entries] = n_free + k, col[n_entries++] = i;
      row[n_entries] = i, col[n_entries++] = n_free + k;
    }
  }
  int           slot[n * 10];
  yoke_pattern *p         = NULL;
  yoke_linear  *linear[2] = {NULL, NULL};
  yoke_factor  *factor[2] = {NULL, NULL};
  assert_int_equal(yoke_pattern_create(NULL, n, n, n_entries, row, col, slot, &p), YOKE_OK);
  assert_int_equal(yoke_linear_create_saddle(NULL, p, is_weak, YOKE_LINEAR_KLU, &linear[0]), YOKE_OK);
  assert_int_equal(yoke_linear_create_saddle(NULL, p, is_weak, YOKE_LINEAR_DENSE, &linear[1]), YOKE_OK);
  for (int turn = 0; turn <= 8; ++turn) {
    double a[n * 10] = {0}, x[2][n], work[8 * n];
    for (int i = 0; i < n_entries; ++i) {
      const int    multiplier = row[i] > col[i] ? row[i] : col[i], other = row[i] > col[i] ? col[i] : row[i];
      const double angle = 0.3 * (multiplier - n_free) + turn * acos(-1.0) / 8;
      a[slot[i]]         = multiplier == other
                               ? (multiplier < n_free ? 100.0 : -1e-14)
                               : (other / 2 == multiplier - n_free ? -1 : 1) * (other % 2 == 0 ? cos(angle) : sin(angle));
    }
    for (int kind = 0; kind < 2; ++kind) {
      assert_int_equal(yoke_factor_make(linear[kind], a, NULL, &factor[kind]), YOKE_OK);
      for (int i = 0; i < n; ++i) x[kind][i] = 1 + i % 5;
      yoke_factor_solve(factor[kind], x[kind], NULL, work);
    }
    double scale = 0;
    for (int i = 0; i < n; ++i) scale = fmax(scale, fabs(x[1][i]));
    for (int i = 0; i < n; ++i) assert_true(fabs(x[0][i] - x[1][i]) <= 1e-11 * scale);
  }
  for (int kind = 0; kind < 2; ++kind) {
    yoke_factor_release(&factor[kind]);
    yoke_linear_destroy(&linear[kind]);
  }
  yoke_pattern_destroy(&p);
}

static void band_that_is_too_wide_is_refused_with_a_message(void **unused) {
  (void)unused;
  yoke_context *ctx = NULL;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  int row[2 * N], col[2 * N];
  for (int i = 0; i < N; ++i) { /* an arrow: no ordering makes its band narrow */
    row[i] = i, col[i] = 0;
    row[N + i] = 0, col[N + i] = i;
  }
  yoke_pattern *p      = NULL;
  yoke_linear  *linear = NULL;
  assert_int_equal(yoke_pattern_create(ctx, N, N, 2 * N, row, col, NULL, &p), YOKE_OK);
  assert_int_equal(yoke_linear_create(ctx, p, YOKE_LINEAR_BANDED, &linear), YOKE_E_USAGE);
  assert_non_null(strstr(yoke_context_message(ctx, 0), "wider than useful"));
  assert_null(linear);
  yoke_pattern_destroy(&p);
  yoke_context_destroy(&ctx);
}

static void band_is_found_behind_a_shuffled_order(void **unused) {
  (void)unused;
  enum { n = 200 }; /* a chain in the order (q, v): rows i and n/2 + i belong together */
  int row[4 * n], col[4 * n], n_entries = 0;
  for (int i = 0; i < n; ++i) {
    const int mass = i % (n / 2);
    row[n_entries] = i, col[n_entries++] = i;
    row[n_entries] = mass, col[n_entries++] = n / 2 + mass;
    if (mass + 1 < n / 2) row[n_entries] = n / 2 + mass, col[n_entries++] = i + 1;
    if (mass > 0) row[n_entries] = n / 2 + mass, col[n_entries++] = i - 1;
  }
  yoke_pattern *p      = NULL;
  yoke_linear  *linear = NULL;
  assert_int_equal(yoke_pattern_create(NULL, n, n, n_entries, row, col, NULL, &p), YOKE_OK);
  assert_int_equal(yoke_linear_create(NULL, p, YOKE_LINEAR_BANDED, &linear), YOKE_OK);
  yoke_linear_destroy(&linear);
  yoke_pattern_destroy(&p);
}

/* Factor A, then B with the pivot order of A, while A is shared or not: same bits of the solution. */
static void shared_factor_gives_the_same_bits_as_an_unshared_one(void **unused) {
  (void)unused;
  for (int kind = YOKE_LINEAR_KLU; kind <= YOKE_LINEAR_BANDED; ++kind) {
    for (int is_complex = 0; is_complex < 2; ++is_complex) {
      fixture f = fixture_create((yoke_linear_kind)kind, kind != YOKE_LINEAR_BANDED);
      double  re[2][N], im[2][N], keep_re[2][N], keep_im[2][N];
      for (int shared = 0; shared < 2; ++shared) {
        yoke_factor *factor = NULL;
        fill_random(&f, 1);
        assert_int_equal(yoke_factor_make(f.linear, f.re, is_complex ? f.im : NULL, &factor), YOKE_OK);
        yoke_factor *kept = shared ? yoke_factor_retain(factor) : NULL;
        for (int k = 0; k < f.pattern->nnz; ++k) f.re[k] *= 1.0 + 0.01 * (k % 3); /* near: the pivots stay sound */
        uint64_t seed = 5;
        for (int i = 0; i < N; ++i) {
          keep_re[shared][i] = re[shared][i] = uniform(&seed);
          keep_im[shared][i] = im[shared][i] = uniform(&seed);
        }
        if (shared) yoke_factor_solve(kept, keep_re[0], is_complex ? keep_im[0] : NULL, f.work);
        assert_int_equal(yoke_factor_make(f.linear, f.re, is_complex ? f.im : NULL, &factor), YOKE_OK);
        if (shared) { /* the kept factor is untouched */
          assert_ptr_not_equal(kept, factor);
          yoke_factor_solve(kept, keep_re[1], is_complex ? keep_im[1] : NULL, f.work);
          assert_memory_equal(keep_re[0], keep_re[1], sizeof keep_re[0]);
        }
        yoke_factor_solve(factor, re[shared], is_complex ? im[shared] : NULL, f.work);
        yoke_factor_release(&factor);
        yoke_factor_release(&kept);
      }
      assert_memory_equal(re[0], re[1], sizeof re[0]);
      assert_memory_equal(im[0], im[1], sizeof im[0]);
      fixture_destroy(&f);
    }
  }
}

static void repeated_factoring_of_an_unshared_factor_keeps_the_object(void **unused) {
  (void)unused;
  fixture      f      = fixture_create(YOKE_LINEAR_KLU, true);
  yoke_factor *factor = NULL;
  fill_random(&f, 3);
  assert_int_equal(yoke_factor_make(f.linear, f.re, NULL, &factor), YOKE_OK);
  const yoke_factor *first = factor;
  assert_int_equal(yoke_factor_make(f.linear, f.re, NULL, &factor), YOKE_OK);
  assert_ptr_equal(first, factor);
  yoke_factor_release(&factor);
  fixture_destroy(&f);
}

static void unsound_pivots_are_chosen_anew(void **unused) {
  (void)unused;
  const int     row[] = {0, 1, 0, 1}, col[] = {0, 0, 1, 1};
  yoke_pattern *p      = NULL;
  yoke_linear  *linear = NULL;
  yoke_factor  *factor = NULL;
  assert_int_equal(yoke_pattern_create(NULL, 2, 2, 4, row, col, NULL, &p), YOKE_OK);
  assert_int_equal(yoke_linear_create(NULL, p, YOKE_LINEAR_KLU, &linear), YOKE_OK);
  const double good[] = {1, 0.5, 0.5, 1}, flipped[] = {1e-15, 1, 1, 1e-15}; /* old pivots would lose all digits */
  double       x[2] = {1, 2}, work[16];
  assert_int_equal(yoke_factor_make(linear, good, NULL, &factor), YOKE_OK);
  assert_int_equal(yoke_factor_make(linear, flipped, NULL, &factor), YOKE_OK);
  yoke_factor_solve(factor, x, NULL, work);
  assert_true(fabs(x[0] - 2) < 1e-13 && fabs(x[1] - 1) < 1e-13);
  yoke_factor_release(&factor);
  yoke_linear_destroy(&linear);
  yoke_pattern_destroy(&p);
}

static void singular_matrix_is_reported_and_the_reference_dropped(void **unused) {
  (void)unused;
  for (int kind = YOKE_LINEAR_KLU; kind <= YOKE_LINEAR_BANDED; ++kind) {
    for (int is_complex = 0; is_complex < 2; ++is_complex) {
      fixture      f      = fixture_create((yoke_linear_kind)kind, false);
      yoke_factor *factor = NULL;
      fill_random(&f, 4);
      assert_int_equal(yoke_factor_make(f.linear, f.re, is_complex ? f.im : NULL, &factor), YOKE_OK);
      for (int k = f.pattern->col_start[9]; k < f.pattern->col_start[10]; ++k) f.re[k] = f.im[k] = 0.0;
      assert_int_equal(yoke_factor_make(f.linear, f.re, is_complex ? f.im : NULL, &factor), YOKE_SINGULAR);
      assert_null(factor);
      fixture_destroy(&f);
    }
  }
}

static void structurally_singular_matrix_is_singular(void **unused) {
  (void)unused;
  const int    row[] = {0, 1}, col[] = {0, 0};
  const double a[] = {1, 1};
  for (int kind = YOKE_LINEAR_KLU; kind <= YOKE_LINEAR_BANDED; ++kind) {
    yoke_pattern *p      = NULL;
    yoke_linear  *linear = NULL;
    yoke_factor  *factor = NULL;
    assert_int_equal(yoke_pattern_create(NULL, 2, 2, 2, row, col, NULL, &p), YOKE_OK);
    assert_int_equal(yoke_linear_create(NULL, p, (yoke_linear_kind)kind, &linear), YOKE_OK);
    assert_int_equal(yoke_factor_make(linear, a, NULL, &factor), YOKE_SINGULAR);
    yoke_linear_destroy(&linear);
    yoke_pattern_destroy(&p);
  }
}

static void values_that_are_not_finite_are_reported(void **unused) {
  (void)unused;
  fixture      f      = fixture_create(YOKE_LINEAR_KLU, true);
  yoke_factor *factor = NULL;
  fill_random(&f, 4);
  f.im[3] = INFINITY;
  assert_int_equal(yoke_factor_make(f.linear, f.re, f.im, &factor), YOKE_NON_FINITE);
  f.re[3] = NAN;
  assert_int_equal(yoke_factor_make(f.linear, f.re, NULL, &factor), YOKE_NON_FINITE);
  assert_null(factor);
  fixture_destroy(&f);
}

/* ---- threads ---- */

typedef struct solver_thread {
  const fixture *f;
  yoke_factor   *factor;
  double         x[N];
} solver_thread;

static void *solve_often(void *argument) {
  solver_thread *task = argument;
  double        *work = calloc(yoke_linear_work_size(task->f->linear), sizeof *work);
  if (work == NULL) return NULL;
  for (int repeat = 0; repeat < 200; ++repeat) {
    yoke_factor *mine  = yoke_factor_retain(task->factor);
    double       im[N] = {0};
    for (int i = 0; i < N; ++i) task->x[i] = (double)(i + 1);
    yoke_factor_solve(mine, task->x, im, work);
    yoke_factor_make(task->f->linear, task->f->re, task->f->im, &mine);
    yoke_factor_release(&mine);
  }
  free(work);
  return NULL;
}

static void threads_solve_with_one_factor_side_by_side(void **unused) {
  (void)unused;
  fixture      f      = fixture_create(YOKE_LINEAR_KLU, true);
  yoke_factor *factor = NULL;
  fill_random(&f, 8);
  assert_int_equal(yoke_factor_make(f.linear, f.re, f.im, &factor), YOKE_OK);
  solver_thread task[4];
  pthread_t     thread[4];
  for (int i = 0; i < 4; ++i) {
    task[i] = (solver_thread){.f = &f, .factor = factor};
    assert_int_equal(pthread_create(&thread[i], NULL, solve_often, &task[i]), 0);
  }
  for (int i = 0; i < 4; ++i) pthread_join(thread[i], NULL);
  for (int i = 1; i < 4; ++i) assert_memory_equal(task[0].x, task[i].x, sizeof task[0].x);
  yoke_factor_release(&factor);
  fixture_destroy(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pattern_is_sorted_and_slots_point_to_entries),
      cmocka_unit_test(pattern_refuses_entries_outside),
      cmocka_unit_test(empty_matrix_is_factored_and_solved),
      cmocka_unit_test(products_agree_with_their_definition),
      cmocka_unit_test(klu_agrees_with_dense_lapack),
      cmocka_unit_test(complex_klu_agrees_with_dense_lapack),
      cmocka_unit_test(dense_agrees_with_dense_lapack),
      cmocka_unit_test(banded_agrees_with_dense_lapack),
      cmocka_unit_test(marked_multipliers_are_solved_like_dense_ones),
      cmocka_unit_test(band_that_is_too_wide_is_refused_with_a_message),
      cmocka_unit_test(band_is_found_behind_a_shuffled_order),
      cmocka_unit_test(shared_factor_gives_the_same_bits_as_an_unshared_one),
      cmocka_unit_test(repeated_factoring_of_an_unshared_factor_keeps_the_object),
      cmocka_unit_test(unsound_pivots_are_chosen_anew),
      cmocka_unit_test(singular_matrix_is_reported_and_the_reference_dropped),
      cmocka_unit_test(structurally_singular_matrix_is_singular),
      cmocka_unit_test(values_that_are_not_finite_are_reported),
      cmocka_unit_test(threads_solve_with_one_factor_side_by_side),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
