/* Sparse QR: rank and least squares against LAPACK, and its cost. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "linalg/sparse_qr.h"
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_ROWS = 40, N_COLS = 30 };

static uint32_t seed;

static double next_random(void) { /* in (-1, 1) */
  seed = seed * 1664525u + 1013904223u;
  return (double)(seed >> 8) / (double)(1u << 23) - 1.0;
}

/* Every third entry, at random; rows marked in `is_sum` are each a sum of two rows before them. */
static void random_matrix(double G[N_ROWS][N_COLS], const bool *is_sum) {
  for (int r = 0; r < N_ROWS; ++r) {
    double length = 0.0;
    for (int c = 0; c < N_COLS; ++c) {
      G[r][c] = next_random() > 0.3 ? next_random() : 0.0;
      if (is_sum[r]) G[r][c] = G[r / 2][c] - 0.5 * G[r / 3][c];
      length = hypot(length, G[r][c]);
    }
    for (int c = 0; c < N_COLS; ++c) G[r][c] /= length;
  }
}

static yoke_pattern *compress(double G[N_ROWS][N_COLS], double *g) {
  int           row[N_ROWS * N_COLS], column[N_ROWS * N_COLS], slot[N_ROWS * N_COLS], n = 0;
  yoke_pattern *pattern = NULL;
  for (int r = 0; r < N_ROWS; ++r) {
    for (int c = 0; c < N_COLS; ++c) {
      if (G[r][c] == 0.0) continue;
      row[n]      = r;
      column[n++] = c;
    }
  }
  assert_int_equal(yoke_pattern_create(NULL, N_ROWS, N_COLS, n, row, column, slot, &pattern), YOKE_OK);
  for (int k = 0; k < n; ++k) g[slot[k]] = G[row[k]][column[k]];
  return pattern;
}

static void rows_that_follow_from_earlier_ones_are_found_in_any_order(void **state) {
  (void)state;
  double G[N_ROWS][N_COLS], g[N_ROWS * N_COLS];
  for (seed = 1; seed < 2000000000u; seed = 2 * seed + 1) {
    bool is_sum[N_ROWS] = {false}, follows[N_ROWS];
    int  order[N_ROWS];
    for (int r = 6; r < N_ROWS; ++r) is_sum[r] = r % 3 == 0;
    const uint32_t next = seed;
    random_matrix(G, is_sum);
    yoke_pattern *pattern = compress(G, g);
    for (int r = 0; r < N_ROWS; ++r) order[r] = r;
    assert_int_equal(yoke_sparse_qr(pattern, g, N_ROWS, order, 1e-9, NULL, NULL, follows), YOKE_OK);
    /* the first N_COLS rows that are no sums span the space: what comes behind follows */
    int rank = 0;
    for (int r = 0; r < N_ROWS; ++r) {
      assert_int_equal(follows[r], is_sum[r] || rank == N_COLS);
      rank += !follows[r];
    }
    assert_int_equal(yoke_sparse_qr_order(pattern, order), YOKE_OK);
    assert_int_equal(yoke_sparse_qr(pattern, g, N_ROWS, order, 1e-9, NULL, NULL, follows), YOKE_OK);
    for (int r = 0; r < N_ROWS; ++r) rank -= !follows[r];
    assert_int_equal(rank, 0);
    yoke_pattern_destroy(&pattern);
    seed = next;
  }
}

static void least_squares_agree_with_lapack(void **state) {
  (void)state;
  double G[N_ROWS][N_COLS], g[N_ROWS * N_COLS], f[N_COLS], right[N_COLS], x[N_ROWS], dense[N_ROWS * N_COLS];
  enum { N_KEPT = 20 };
  bool none[N_ROWS] = {false};
  int  order[N_KEPT];
  seed = 7;
  random_matrix(G, none);
  for (int c = 0; c < N_COLS; ++c) f[c] = right[c] = next_random();
  yoke_pattern *pattern = compress(G, g);
  for (int i = 0; i < N_KEPT; ++i) order[i] = (7 * i + 3) % N_ROWS;
  assert_int_equal(yoke_sparse_qr(pattern, g, N_KEPT, order, 1e-9, f, x, NULL), YOKE_OK);
  for (int i = 0; i < N_KEPT; ++i) memcpy(dense + i * N_COLS, G[order[i]], sizeof G[0]); /* columns of A */
  assert_int_equal(LAPACKE_dgels(LAPACK_COL_MAJOR, 'N', N_COLS, N_KEPT, 1, dense, N_COLS, right, N_COLS), 0);
  for (int i = 0; i < N_KEPT; ++i) CHECK_NEAR(x[i], right[i], 1e-12);
  yoke_pattern_destroy(&pattern);
}

/* Row r couples columns r and r + 1; the last row repeats the sum of all. A dense factor would take 80 GB. */
static void a_hundred_thousand_rows_of_a_chain_cost_what_they_hold(void **state) {
  (void)state;
  enum { N = 100000 };
  int    *row = malloc((2 * N + 2) * sizeof *row), *column = malloc((2 * N + 2) * sizeof *column);
  double *g       = malloc((2 * N + 2) * sizeof *g);
  int    *slot    = malloc((2 * N + 2) * sizeof *slot);
  int    *order   = malloc((N + 1) * sizeof *order);
  bool   *follows = malloc((N + 1) * sizeof *follows);
  assert_true(row != NULL && column != NULL && g != NULL && slot != NULL && order != NULL && follows != NULL);
  for (int k = 0; k <= N; ++k) {
    row[2 * k] = row[2 * k + 1] = k;
    column[2 * k]               = k < N ? k : 0;
    column[2 * k + 1]           = k < N ? k + 1 : N;
  }
  yoke_pattern *pattern = NULL;
  assert_int_equal(yoke_pattern_create(NULL, N + 1, N + 1, 2 * N + 2, row, column, slot, &pattern), YOKE_OK);
  for (int k = 0; k <= 2 * N + 1; ++k) g[slot[k]] = (k % 2 == 0 ? 1.0 : -1.0) / sqrt(2.0);
  for (int r = 0; r <= N; ++r) order[r] = r;
  for (int sorted = 0; sorted < 2; ++sorted) {
    int n = 0;
    if (sorted) assert_int_equal(yoke_sparse_qr_order(pattern, order), YOKE_OK);
    assert_int_equal(yoke_sparse_qr(pattern, g, N + 1, order, 1e-9, NULL, NULL, follows), YOKE_OK);
    for (int r = 0; r <= N; ++r) n += follows[r];
    assert_int_equal(n, 1);
    assert_true(follows[N]);
  }
  yoke_pattern_destroy(&pattern);
  free(row);
  free(column);
  free(g);
  free(slot);
  free(order);
  free(follows);
}

/* A hub with three freedoms; leaves with three each, held by the hub (general directions) and by the ground: the hub and all
 * leaves are fixed by three rows each, all others follow. */
static void a_hub_with_many_leaves_keeps_as_many_rows_as_there_are_freedoms(void **state) {
  (void)state;
  enum { N_LEAVES = 200, N_G = 6 * N_LEAVES, N_FREE = 3 + 3 * N_LEAVES, MOST = 7 * 3 * N_LEAVES };
  static int    row[MOST], column[MOST], slot[MOST], order[N_G];
  static double value[MOST], g[MOST];
  static bool   follows[N_G];
  int           n = 0;
  seed            = 11;
  for (int leaf = 0; leaf < N_LEAVES; ++leaf) {
    for (int k = 0; k < 3; ++k) {
      const int joint = 6 * leaf + k;
      for (int c = 0; c < 6; ++c) {
        row[n]     = joint;
        column[n]  = c < 3 ? c : 3 + 3 * leaf + c - 3;
        value[n++] = 0.4 * next_random();
      }
      row[n]     = joint + 3;
      column[n]  = 3 + 3 * leaf + k;
      value[n++] = 1.0;
    }
  }
  yoke_pattern *pattern = NULL;
  assert_int_equal(yoke_pattern_create(NULL, N_G, N_FREE, n, row, column, slot, &pattern), YOKE_OK);
  for (int k = 0; k < n; ++k) g[slot[k]] = value[k];
  for (int r = 0; r < N_G; ++r) order[r] = r;
  for (int sorted = 0; sorted < 2; ++sorted) {
    int rank = 0;
    if (sorted) assert_int_equal(yoke_sparse_qr_order(pattern, order), YOKE_OK);
    assert_int_equal(yoke_sparse_qr(pattern, g, N_G, order, 1e-9, NULL, NULL, follows), YOKE_OK);
    for (int r = 0; r < N_G; ++r) rank += !follows[r];
    assert_int_equal(rank, N_FREE);
  }
  yoke_pattern_destroy(&pattern);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_that_follow_from_earlier_ones_are_found_in_any_order),
      cmocka_unit_test(least_squares_agree_with_lapack),
      cmocka_unit_test(a_hundred_thousand_rows_of_a_chain_cost_what_they_hold),
      cmocka_unit_test(a_hub_with_many_leaves_keeps_as_many_rows_as_there_are_freedoms),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
