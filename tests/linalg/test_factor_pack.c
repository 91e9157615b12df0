/* Factors as bytes: they solve and refactor with the same bits as those they were packed from. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "linalg/sparse.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 30, N_MOST = N * N };

/* Five single rows, a block of ten and a block of fifteen rows with entries above them (KLU orders such blocks), or a band. */
typedef struct matrix {
  yoke_pattern *pattern;
  yoke_linear  *linear;
  double        re[N_MOST], im[N_MOST], work[4 * N + 8];
} matrix;

static double uniform(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 33) / 1073741824.0 - 1.0;
}

static int block_of(int i) {
  return i < 5 ? i : i < 15 ? 5 : 6;
}

static void matrix_create(matrix *m, yoke_linear_kind kind) {
  int      row[N_MOST], col[N_MOST], n = 0;
  uint64_t seed = 5;
  for (int j = 0; j < N; ++j) {
    for (int i = 0; i < N; ++i) {
      const bool is_near = abs(i - j) <= 3 && block_of(i) == block_of(j);
      const bool is_off  = block_of(i) < block_of(j) && uniform(&seed) > (kind == YOKE_LINEAR_BANDED ? 2 : 0.7);
      if (!is_near && !is_off) continue;
      row[n]   = i;
      col[n++] = j;
    }
  }
  assert_int_equal(yoke_pattern_create(NULL, N, N, n, row, col, NULL, &m->pattern), YOKE_OK);
  assert_int_equal(yoke_linear_create(NULL, m->pattern, kind, &m->linear), YOKE_OK);
}

static void matrix_fill(matrix *m, uint64_t seed) {
  for (int k = 0; k < m->pattern->nnz; ++k) {
    m->re[k] = uniform(&seed);
    m->im[k] = uniform(&seed);
  }
}

static void matrix_destroy(matrix *m) {
  yoke_linear_destroy(&m->linear);
  yoke_pattern_destroy(&m->pattern);
}

static void solve(matrix *m, const yoke_factor *factor, bool is_complex, double x[2 * N]) {
  for (int i = 0; i < 2 * N; ++i) x[i] = 1.0 / (i + 1);
  yoke_factor_solve(factor, x, is_complex ? x + N : NULL, m->work);
}

/* In mid-life: the second matrix uses the pivot order of the first. */
static yoke_factor *aged_factor(matrix *m, bool is_complex) {
  yoke_factor *factor = NULL;
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    matrix_fill(m, seed);
    for (int k = 0; seed == 2 && k < m->pattern->nnz; ++k) m->re[k] *= 1 + 1e-3 * k;
    assert_int_equal(yoke_factor_make(m->linear, m->re, is_complex ? m->im : NULL, &factor), YOKE_OK);
  }
  return factor;
}

static yoke_pack pack_factor(const yoke_factor *factor) {
  yoke_pack pack = {0};
  yoke_pack_begin(&pack);
  yoke_factor_pack(factor, &pack);
  assert_int_equal(yoke_pack_end(&pack, NULL), YOKE_OK);
  return pack;
}

static yoke_status unpack_factor(const yoke_linear *linear, const yoke_pack *pack, yoke_context *ctx,
                                 yoke_factor **out) {
  yoke_unpack in;
  *out = NULL;
  YOKE_TRY(yoke_unpack_begin(&in, pack->bytes, pack->size, ctx));
  YOKE_TRY(yoke_factor_unpack(linear, &in, ctx, out));
  return yoke_unpack_end(&in, ctx);
}

static void check_same_life(yoke_linear_kind kind, bool is_complex) {
  matrix       here = {0}, there = {0};
  double       x[2 * N], y[2 * N];
  yoke_factor *other = NULL;
  matrix_create(&here, kind);
  matrix_create(&there, kind);
  yoke_factor *factor = aged_factor(&here, is_complex);
  yoke_pack    pack   = pack_factor(factor);
  assert_int_equal(unpack_factor(there.linear, &pack, NULL, &other), YOKE_OK);
  assert_ptr_equal(yoke_factor_linear(other), there.linear);
  for (uint64_t age = 0; age < 3; ++age) { /* solve, then hand on the pivot order; a shared factor is copied for that */
    yoke_factor *shared = age == 1 ? yoke_factor_retain(other) : NULL;
    solve(&here, factor, is_complex, x);
    solve(&there, other, is_complex, y);
    assert_memory_equal(x, y, (is_complex ? 2 : 1) * N * sizeof *x);
    matrix_fill(&here, 7 + age);
    matrix_fill(&there, 7 + age);
    assert_int_equal(yoke_factor_make(here.linear, here.re, is_complex ? here.im : NULL, &factor), YOKE_OK);
    assert_int_equal(yoke_factor_make(there.linear, there.re, is_complex ? there.im : NULL, &other), YOKE_OK);
    yoke_factor_release(&shared);
  }
  yoke_pack_free(&pack);
  yoke_factor_release(&factor);
  yoke_factor_release(&other);
  matrix_destroy(&here);
  matrix_destroy(&there);
}

static void unpacked_factors_of_every_kind_solve_and_refactor_with_the_same_bits(void **unused) {
  (void)unused;
  for (int kind = YOKE_LINEAR_KLU; kind <= YOKE_LINEAR_BANDED; ++kind) {
    check_same_life((yoke_linear_kind)kind, false);
    check_same_life((yoke_linear_kind)kind, true);
  }
}

static void packing_an_unpacked_factor_gives_the_same_bytes(void **unused) {
  (void)unused;
  matrix       m     = {0};
  yoke_factor *other = NULL;
  matrix_create(&m, YOKE_LINEAR_KLU);
  yoke_factor *factor = aged_factor(&m, true);
  yoke_pack    first  = pack_factor(factor);
  assert_int_equal(unpack_factor(m.linear, &first, NULL, &other), YOKE_OK);
  yoke_pack second = pack_factor(other);
  assert_int_equal(first.size, second.size);
  assert_memory_equal(first.bytes, second.bytes, first.size);
  yoke_pack_free(&first);
  yoke_pack_free(&second);
  yoke_factor_release(&factor);
  yoke_factor_release(&other);
  matrix_destroy(&m);
}

static void a_factor_of_another_matrix_is_refused_with_a_message(void **unused) {
  (void)unused;
  matrix        m = {0}, banded = {0};
  yoke_factor  *other = NULL;
  yoke_context *ctx   = NULL;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  matrix_create(&m, YOKE_LINEAR_KLU);
  matrix_create(&banded, YOKE_LINEAR_BANDED);
  yoke_factor *factor = aged_factor(&m, false);
  yoke_pack    pack   = pack_factor(factor);
  assert_int_equal(unpack_factor(banded.linear, &pack, ctx, &other), YOKE_E_USAGE);
  assert_null(other);
  assert_non_null(strstr(yoke_context_message(ctx, 0), "its matrix is not that of this model"));
  yoke_pack_free(&pack);
  yoke_factor_release(&factor);
  matrix_destroy(&m);
  matrix_destroy(&banded);
  yoke_context_destroy(&ctx);
}

/* Past the checksum: either refused, or used without reading or writing outside (which the sanitizer would see). */
static void check_damage(yoke_linear_kind kind, bool is_complex) {
  matrix      m = {0};
  yoke_unpack begin;
  double      x[2 * N];
  int         n_refused = 0;
  matrix_create(&m, kind);
  yoke_factor *factor = aged_factor(&m, is_complex);
  yoke_pack    pack   = pack_factor(factor);
  assert_int_equal(yoke_unpack_begin(&begin, pack.bytes, pack.size, NULL), YOKE_OK);
  for (size_t at = begin.at; at < begin.size; ++at) {
    const unsigned char old = pack.bytes[at];
    yoke_unpack         in  = begin;
    yoke_factor        *bad = NULL;
    pack.bytes[at] ^= (unsigned char)(1u << at % 8);
    if (yoke_factor_unpack(m.linear, &in, NULL, &bad) == YOKE_OK) {
      solve(&m, bad, is_complex, x);
      (void)yoke_factor_make(m.linear, m.re, is_complex ? m.im : NULL, &bad);
    } else {
      assert_null(bad);
      ++n_refused;
    }
    yoke_factor_release(&bad);
    pack.bytes[at] = old;
  }
  assert_true(n_refused > 100);
  yoke_pack_free(&pack);
  yoke_factor_release(&factor);
  matrix_destroy(&m);
}

static void damaged_factors_are_refused_or_stay_within_their_memory(void **unused) {
  (void)unused;
  check_damage(YOKE_LINEAR_KLU, false);
  check_damage(YOKE_LINEAR_KLU, true);
  check_damage(YOKE_LINEAR_DENSE, false);
}

/* Three blocks of five, one of ten, one of five, each with the next: by blocks, in mid-life. */
static yoke_factor *factor_by_blocks(matrix *m, uint64_t seed) {
  yoke_part_work work;
  yoke_factor   *factor = NULL;
  matrix_fill(m, seed);
  for (int i = 0; i < N; ++i) {
    for (int k = m->pattern->col_start[i]; k < m->pattern->col_start[i + 1]; ++k) {
      if (m->pattern->row[k] == i) m->re[k] += 8.0;
    }
  }
  assert_int_equal(yoke_factor_begin_parts(m->linear, m->re, &factor, &work), YOKE_OK);
  for (int p = 0; p < yoke_linear_n_parts(m->linear); ++p) yoke_factor_part(&work, p);
  assert_int_equal(yoke_factor_end_parts(&work, &factor), YOKE_OK);
  return factor;
}

static void blocks_create(matrix *m) {
  static const int first[] = {0, 5, 10, 15, 25, 30};
  int              row[N_MOST], col[N_MOST], n = 0;
  for (int i = 0; i < 5; ++i) {
    for (int j = i > 0 ? i - 1 : 0; j < 5 && j <= i + 1; ++j) {
      for (int r = first[i]; r < first[i + 1]; ++r) {
        for (int c = first[j]; c < first[j + 1]; ++c, ++n) row[n] = r, col[n] = c;
      }
    }
  }
  assert_int_equal(yoke_pattern_create(NULL, N, N, n, row, col, NULL, &m->pattern), YOKE_OK);
  assert_int_equal(yoke_linear_create_blocks(NULL, m->pattern, 5, first, &m->linear), YOKE_OK);
}

static void unpacked_factors_by_blocks_solve_with_the_same_bits(void **unused) {
  (void)unused;
  matrix       here = {0}, there = {0};
  double       x[2 * N], y[2 * N];
  yoke_factor *other = NULL;
  blocks_create(&here);
  blocks_create(&there);
  yoke_factor *factor = factor_by_blocks(&here, 3);
  yoke_pack    pack   = pack_factor(factor);
  assert_int_equal(unpack_factor(there.linear, &pack, NULL, &other), YOKE_OK);
  solve(&here, factor, false, x);
  solve(&there, other, false, y);
  assert_memory_equal(x, y, N * sizeof *x);
  yoke_pack_free(&pack);
  yoke_factor_release(&factor);
  yoke_factor_release(&other);
  matrix_destroy(&here);
  matrix_destroy(&there);
}

static void blocks_and_klu_solve_the_same_matrix(void **unused) {
  (void)unused;
  matrix m = {0};
  double x[2 * N], y[2 * N];
  blocks_create(&m);
  yoke_factor *factor = factor_by_blocks(&m, 9);
  solve(&m, factor, false, x);
  assert_int_equal(yoke_factor_make(m.linear, m.re, NULL, &factor), YOKE_OK);
  solve(&m, factor, false, y);
  for (int i = 0; i < N; ++i) assert_true(fabs(x[i] - y[i]) < 1e-13);
  yoke_factor_release(&factor);
  matrix_destroy(&m);
}

/* The diagonal blocks of a saddle: there is a pivot for every row, but not in its own block. */
static void where_blocks_have_no_pivots_klu_finds_some(void **unused) {
  (void)unused;
  matrix         m = {0};
  double         x[2 * N];
  yoke_part_work work;
  blocks_create(&m);
  yoke_factor *factor = factor_by_blocks(&m, 4);
  for (int j = 0; j < 10; ++j) { /* blocks 0 and 1 of five rows: nothing but each other */
    for (int k = m.pattern->col_start[j]; k < m.pattern->col_start[j + 1]; ++k)
      m.re[k] = m.pattern->row[k] == (j + 5) % 10 ? 1.0 : 0.0;
  }
  yoke_status status = yoke_factor_begin_parts(m.linear, m.re, &factor, &work);
  if (status == YOKE_OK) {
    for (int p = 0; p < yoke_linear_n_parts(m.linear); ++p) yoke_factor_part(&work, p);
    status = yoke_factor_end_parts(&work, &factor);
  }
  assert_int_equal(status, YOKE_SINGULAR);
  assert_null(factor);
  assert_int_equal(yoke_factor_make(m.linear, m.re, NULL, &factor), YOKE_OK);
  solve(&m, factor, false, x);
  yoke_factor_release(&factor);
  matrix_destroy(&m);
}

static void damaged_factors_by_blocks_stay_within_their_memory(void **unused) {
  (void)unused;
  matrix      m = {0};
  yoke_unpack begin;
  double      x[2 * N];
  int         n_refused = 0;
  blocks_create(&m);
  yoke_factor *factor = factor_by_blocks(&m, 2);
  yoke_pack    pack   = pack_factor(factor);
  assert_int_equal(yoke_unpack_begin(&begin, pack.bytes, pack.size, NULL), YOKE_OK);
  for (size_t at = begin.at; at < begin.size; ++at) {
    const unsigned char old = pack.bytes[at];
    yoke_unpack         in  = begin;
    yoke_factor        *bad = NULL;
    pack.bytes[at] ^= (unsigned char)(1u << at % 8);
    if (yoke_factor_unpack(m.linear, &in, NULL, &bad) == YOKE_OK) {
      solve(&m, bad, false, x);
      (void)yoke_factor_make(m.linear, m.re, NULL, &bad);
    } else {
      ++n_refused;
    }
    yoke_factor_release(&bad);
    pack.bytes[at] = old;
  }
  assert_true(n_refused > 100);
  yoke_pack_free(&pack);
  yoke_factor_release(&factor);
  matrix_destroy(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unpacked_factors_of_every_kind_solve_and_refactor_with_the_same_bits),
      cmocka_unit_test(packing_an_unpacked_factor_gives_the_same_bytes),
      cmocka_unit_test(a_factor_of_another_matrix_is_refused_with_a_message),
      cmocka_unit_test(damaged_factors_are_refused_or_stay_within_their_memory),
      cmocka_unit_test(unpacked_factors_by_blocks_solve_with_the_same_bits),
      cmocka_unit_test(blocks_and_klu_solve_the_same_matrix),
      cmocka_unit_test(where_blocks_have_no_pivots_klu_finds_some),
      cmocka_unit_test(damaged_factors_by_blocks_stay_within_their_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
