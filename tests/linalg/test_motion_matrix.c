/* Matrices of motions, alpha E - J with q' = v (and v' = a), whose first unknowns follow from the later ones, and tridiagonal factors. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "linalg/sparse.h"
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 20, MOST = 3 * N, MOST_ENTRIES = 9 * N * N };

static double uniform(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 33) / 1073741824.0 - 1.0; /* [-1, 1) */
}

/* N masses in a row with forces between neighbours up to `reach`; n_levels 1: unknowns q and v, 2: q, v and a; 0: one band of random entries. */
typedef struct motion {
  int           n, n_levels, reach;
  yoke_pattern *pattern;
  yoke_linear  *linear;
  double        re[MOST_ENTRIES], im[MOST_ENTRIES], work[4 * MOST + 8];
} motion;

static void add(int *row, int *col, int *n, int i, int j) {
  row[*n]     = i;
  col[(*n)++] = j;
}

static void motion_create(motion *m, int n_levels, int reach, yoke_linear_kind kind) {
  int row[MOST_ENTRIES], col[MOST_ENTRIES], n = 0;
  memset(m, 0, sizeof *m);
  m->n        = N * (n_levels + 1);
  m->n_levels = n_levels;
  m->reach    = reach;
  for (int i = 0; i < N * n_levels; ++i) {
    add(row, col, &n, i, i);
    add(row, col, &n, i, N + i);
  }
  for (int i = 0; i < N; ++i) {
    for (int j = i - reach; j <= i + reach; ++j) {
      for (int level = 0; j >= 0 && j < N && level <= (n_levels == 2 ? 1 : n_levels); ++level) {
        add(row, col, &n, N * n_levels + i, N * level + j);
      }
    }
    add(row, col, &n, N * n_levels + i, N * n_levels + i);
  }
  assert_int_equal(yoke_pattern_create(NULL, m->n, m->n, n, row, col, NULL, &m->pattern), YOKE_OK);
  assert_int_equal(yoke_linear_create_motion(NULL, m->pattern, NULL, kind, N, n_levels, &m->linear), YOKE_OK);
  assert_true(yoke_linear_work_size(m->linear) <= sizeof m->work / sizeof *m->work);
}

static void motion_destroy(motion *m) {
  yoke_linear_destroy(&m->linear);
  yoke_pattern_destroy(&m->pattern);
}

/* alpha = 2 + i: rows of q and v; masses, stiffnesses and dampings anywhere in [-1, 1): pivots on the diagonal would not do. */
static void motion_fill(motion *m, uint64_t seed) {
  for (int j = 0; j < m->n; ++j) {
    for (int k = m->pattern->col_start[j]; k < m->pattern->col_start[j + 1]; ++k) {
      const int  i         = m->pattern->row[k];
      const bool is_motion = i < N * m->n_levels;
      m->re[k]             = !is_motion ? uniform(&seed) : i == j ? 2.0 : -1.0;
      m->im[k]             = is_motion ? (i == j ? 1.0 : 0.0) : i == j ? uniform(&seed) : 0.0;
    }
  }
}

/* By LAPACK, of the dense matrix; pairs. */
static void reference(const motion *m, bool is_complex, const double *re, const double *im, double *x) {
  lapack_complex_double *a = calloc((size_t)m->n * (size_t)m->n, sizeof *a);
  lapack_int             pivot[MOST];
  assert_non_null(a);
  for (int j = 0; j < m->n; ++j) {
    for (int k = m->pattern->col_start[j]; k < m->pattern->col_start[j + 1]; ++k) {
      double *entry = (double *)&a[j * m->n + m->pattern->row[k]];
      entry[0]      = m->re[k];
      entry[1]      = is_complex ? m->im[k] : 0.0;
    }
    x[2 * j]     = re[j];
    x[2 * j + 1] = is_complex ? im[j] : 0.0;
  }
  assert_int_equal(LAPACKE_zgesv(LAPACK_COL_MAJOR, m->n, 1, a, m->n, pivot, (lapack_complex_double *)x, m->n), 0);
  free(a);
}

static void right_side(uint64_t seed, int n, double *re, double *im) {
  for (int i = 0; i < n; ++i) {
    re[i] = uniform(&seed);
    im[i] = uniform(&seed);
  }
}

static void check(int n_levels, int reach, yoke_linear_kind kind, bool is_complex) {
  static motion m;
  yoke_factor  *factor = NULL, *shared = NULL;
  motion_create(&m, n_levels, reach, kind);
  for (uint64_t trial = 1; trial < 5;
       ++trial) { /* with the pivot order of the one before; a shared factor is copied for that */
    double re[MOST], im[MOST], x[2 * MOST], scale = 0.0;
    motion_fill(&m, trial);
    right_side(50 + trial, m.n, re, im);
    reference(&m, is_complex, re, im, x);
    if (trial == 3) shared = yoke_factor_retain(factor);
    assert_int_equal(yoke_factor_make(m.linear, m.re, is_complex ? m.im : NULL, &factor), YOKE_OK);
    yoke_factor_solve(factor, re, is_complex ? im : NULL, m.work);
    for (int i = 0; i < 2 * m.n; ++i) scale = fmax(scale, fabs(x[i]));
    for (int i = 0; i < m.n; ++i) {
      assert_true(fabs(re[i] - x[2 * i]) <= 1e-10 * scale);
      if (is_complex) assert_true(fabs(im[i] - x[2 * i + 1]) <= 1e-10 * scale);
    }
  }
  yoke_factor_release(&shared);
  yoke_factor_release(&factor);
  motion_destroy(&m);
}

static void condensed_factors_agree_with_those_of_the_dense_matrix(void **unused) {
  (void)unused;
  for (int kind = YOKE_LINEAR_KLU; kind <= YOKE_LINEAR_BANDED; ++kind) {
    for (int n_levels = 1; n_levels <= 2; ++n_levels) {
      for (int reach = 1; reach <= 2; ++reach) {
        check(n_levels, reach, (yoke_linear_kind)kind, false);
        check(n_levels, reach, (yoke_linear_kind)kind, true);
      }
    }
  }
}

static void tridiagonal_factors_agree_with_those_of_the_dense_matrix(void **unused) {
  (void)unused;
  check(0, 1, YOKE_LINEAR_KLU, false);
  check(0, 1, YOKE_LINEAR_KLU, true);
}

static void factor_of_a_shared_one_leaves_it_as_it_is(void **unused) {
  (void)unused;
  static motion m;
  yoke_factor  *factor = NULL;
  double        x[MOST], y[MOST], unused_im[MOST];
  motion_create(&m, 1, 2, YOKE_LINEAR_KLU);
  motion_fill(&m, 1);
  assert_int_equal(yoke_factor_make(m.linear, m.re, NULL, &factor), YOKE_OK);
  right_side(3, m.n, x, unused_im);
  memcpy(y, x, sizeof y);
  yoke_factor_solve(factor, x, NULL, m.work);
  yoke_factor *shared = yoke_factor_retain(factor);
  motion_fill(&m, 2);
  assert_int_equal(yoke_factor_make(m.linear, m.re, NULL, &factor), YOKE_OK);
  yoke_factor_solve(shared, y, NULL, m.work);
  assert_memory_equal(x, y, (size_t)m.n * sizeof *x);
  yoke_factor_release(&shared);
  yoke_factor_release(&factor);
  motion_destroy(&m);
}

static void singular_matrices_are_told(void **unused) {
  (void)unused;
  static motion m;
  for (int n_levels = 0; n_levels <= 1; ++n_levels) {
    yoke_factor *factor = NULL;
    motion_create(&m, n_levels, 1, YOKE_LINEAR_KLU);
    motion_fill(&m, 1);
    for (int j = 0; j < m.n; ++j) { /* the last row is empty */
      for (int k = m.pattern->col_start[j]; k < m.pattern->col_start[j + 1]; ++k) {
        if (m.pattern->row[k] == m.n - 1) m.re[k] = 0.0;
      }
    }
    assert_int_equal(yoke_factor_make(m.linear, m.re, NULL, &factor), YOKE_SINGULAR);
    assert_null(factor);
    motion_destroy(&m);
  }
}

static void packed_factors_solve_with_the_same_bits(void **unused) {
  (void)unused;
  static motion here, there;
  for (int variant = 0; variant < 6; ++variant) {
    const bool   is_complex = variant % 2 == 1;
    yoke_factor *factor = NULL, *other = NULL;
    yoke_pack    pack = {0};
    yoke_unpack  in;
    double       x[2 * MOST], y[2 * MOST];
    motion_create(&here, variant / 2, 1 + (variant == 3), YOKE_LINEAR_KLU);
    motion_create(&there, variant / 2, 1 + (variant == 3), YOKE_LINEAR_KLU);
    motion_fill(&here, 1);
    assert_int_equal(yoke_factor_make(here.linear, here.re, is_complex ? here.im : NULL, &factor), YOKE_OK);
    yoke_pack_begin(&pack);
    yoke_factor_pack(factor, &pack);
    assert_int_equal(yoke_pack_end(&pack, NULL), YOKE_OK);
    assert_int_equal(yoke_unpack_begin(&in, pack.bytes, pack.size, NULL), YOKE_OK);
    assert_int_equal(yoke_factor_unpack(there.linear, &in, NULL, &other), YOKE_OK);
    assert_int_equal(yoke_unpack_end(&in, NULL), YOKE_OK);
    right_side(7, here.n, x, x + MOST);
    memcpy(y, x, sizeof y);
    yoke_factor_solve(factor, x, is_complex ? x + MOST : NULL, here.work);
    yoke_factor_solve(other, y, is_complex ? y + MOST : NULL, there.work);
    assert_memory_equal(x, y, sizeof x);
    yoke_pack_free(&pack);
    yoke_factor_release(&factor);
    yoke_factor_release(&other);
    motion_destroy(&here);
    motion_destroy(&there);
  }
}

/* Two masses; the first row of q has a further entry, as where joints correct positions: nothing is condensed. */
static void other_rows_of_positions_are_left_to_the_sparse_factors(void **unused) {
  (void)unused;
  const int     row[] = {0, 0, 0, 1, 1, 2, 2, 3, 3}, col[] = {0, 2, 1, 1, 3, 0, 2, 1, 3};
  const double  want[4] = {1, 2, 3, 4};
  yoke_pattern *p       = NULL;
  yoke_linear  *linear  = NULL;
  yoke_factor  *factor  = NULL;
  double        a[9], x[4] = {0}, work[40];
  assert_int_equal(yoke_pattern_create(NULL, 4, 4, 9, row, col, NULL, &p), YOKE_OK);
  assert_int_equal(yoke_linear_create_motion(NULL, p, NULL, YOKE_LINEAR_KLU, 2, 1, &linear), YOKE_OK);
  for (int j = 0; j < 4; ++j) {
    for (int k = p->col_start[j]; k < p->col_start[j + 1]; ++k) {
      a[k] = 1.0 + 0.3 * k * k;
      x[p->row[k]] += a[k] * want[j];
    }
  }
  assert_int_equal(yoke_factor_make(linear, a, NULL, &factor), YOKE_OK);
  yoke_factor_solve(factor, x, NULL, work);
  for (int i = 0; i < 4; ++i) assert_true(fabs(x[i] - want[i]) < 1e-12);
  yoke_factor_release(&factor);
  yoke_linear_destroy(&linear);
  yoke_pattern_destroy(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(condensed_factors_agree_with_those_of_the_dense_matrix),
      cmocka_unit_test(tridiagonal_factors_agree_with_those_of_the_dense_matrix),
      cmocka_unit_test(factor_of_a_shared_one_leaves_it_as_it_is),
      cmocka_unit_test(singular_matrices_are_told),
      cmocka_unit_test(packed_factors_solve_with_the_same_bits),
      cmocka_unit_test(other_rows_of_positions_are_left_to_the_sparse_factors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
