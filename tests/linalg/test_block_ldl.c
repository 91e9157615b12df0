/* Block LDL^T against a dense solution of the same matrix. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "linalg/block_ldl.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_NODES = 7, N_EDGES = 9, N_ROWS = 22 };
static const int size[N_NODES]   = {5, 2, 3, 1, 5, 2, 4};
static const int edge_a[N_EDGES] = {0, 1, 2, 3, 4, 5, 6, 2, 1};
static const int edge_b[N_EDGES] = {1, 2, 3, 4, 5, 6, 0, 5, 0}; /* a ring, a chord, a repeated edge */

static double pseudo_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

static int start_of(int node) {
  int start = 0;
  for (int i = 0; i < node; ++i) start += size[i];
  return start;
}

/* Random blocks in `values` and, doubled, in a dense matrix; the diagonal is raised by `shift`. */
static void fill(const yoke_block_ldl *ldl, double shift, double *values, double *dense) {
  uint32_t seed = 7;
  memset(values, 0, yoke_block_ldl_n_values(ldl) * sizeof *values);
  memset(dense, 0, N_ROWS * N_ROWS * sizeof *dense);
  for (int e = 0; e < N_EDGES - 1; ++e) {
    int     row_node;
    double *block    = values + yoke_block_ldl_edge(ldl, e, &row_node);
    int     col_node = row_node == edge_a[e] ? edge_b[e] : edge_a[e];
    for (int i = 0; i < size[row_node]; ++i) {
      for (int j = 0; j < size[col_node]; ++j) {
        const double x = pseudo_random(&seed);
        const int    r = start_of(row_node) + i, c = start_of(col_node) + j;
        block[i * size[col_node] + j] = x;
        dense[r * N_ROWS + c]         = x;
        dense[c * N_ROWS + r]         = x;
      }
    }
  }
  for (int k = 0; k < N_NODES; ++k) {
    double *block = values + yoke_block_ldl_diagonal(ldl, k);
    for (int i = 0; i < size[k]; ++i) {
      for (int j = 0; j <= i; ++j) {
        const double x = pseudo_random(&seed) + (i == j ? shift : 0.0);
        const int    r = start_of(k) + i, c = start_of(k) + j;
        block[i * size[k] + j] = block[j * size[k] + i] = x;
        dense[r * N_ROWS + c] = dense[c * N_ROWS + r] = x;
      }
    }
  }
}

static void solution_satisfies_the_dense_system(void **state) {
  (void)state;
  yoke_block_ldl *ldl = NULL;
  assert_int_equal(yoke_block_ldl_create(NULL, N_NODES, size, N_EDGES, edge_a, edge_b, &ldl), YOKE_OK);
  double *values = calloc(yoke_block_ldl_n_values(ldl), sizeof *values);
  double  dense[N_ROWS * N_ROWS], x[N_ROWS];
  assert_non_null(values);
  fill(ldl, 12.0, values, dense);
  for (int i = 0; i < N_ROWS; ++i) x[i] = sin(1.0 + i);
  assert_int_equal(yoke_block_ldl_factor(ldl, values, 1e-10), YOKE_OK);
  yoke_block_ldl_solve(ldl, values, x);
  for (int i = 0; i < N_ROWS; ++i) {
    double sum = 0.0;
    for (int j = 0; j < N_ROWS; ++j) sum += dense[i * N_ROWS + j] * x[j];
    assert_true(fabs(sum - sin(1.0 + i)) < 1e-13);
  }
  free(values);
  yoke_block_ldl_destroy(&ldl);
}

/* x of the random system, part `first` before the other one; the largest residual. */
static double solve_in_parts(int first, double *x) {
  static const int part[N_NODES] = {0, 0, YOKE_BLOCK_BETWEEN, 1, 1, YOKE_BLOCK_BETWEEN, 0};
  yoke_block_ldl  *ldl           = NULL;
  double           dense[N_ROWS * N_ROWS], largest = 0.0;
  assert_int_equal(yoke_block_ldl_create_in_parts(NULL, N_NODES, size, part, N_EDGES, edge_a, edge_b, &ldl), YOKE_OK);
  double *values = calloc(yoke_block_ldl_n_values(ldl), sizeof *values);
  assert_non_null(values);
  fill(ldl, 12.0, values, dense);
  for (int i = 0; i < N_ROWS; ++i) x[i] = sin(1.0 + i);
  for (int p = 0; p < 2; ++p)
    assert_int_equal(yoke_block_ldl_factor_part(ldl, values, 1e-10, p == 0 ? first : 1 - first), YOKE_OK);
  assert_int_equal(yoke_block_ldl_factor_between(ldl, values, 1e-10), YOKE_OK);
  for (int p = 0; p < 2; ++p) yoke_block_ldl_forward_part(ldl, values, x, p == 0 ? first : 1 - first);
  yoke_block_ldl_solve_between(ldl, values, x);
  for (int p = 0; p < 2; ++p) yoke_block_ldl_backward_part(ldl, values, x, p == 0 ? first : 1 - first);
  for (int i = 0; i < N_ROWS; ++i) {
    double sum = -sin(1.0 + i);
    for (int j = 0; j < N_ROWS; ++j) sum += dense[i * N_ROWS + j] * x[j];
    largest = fmax(largest, fabs(sum));
  }
  free(values);
  yoke_block_ldl_destroy(&ldl);
  return largest;
}

static void parts_give_the_solution_in_any_order_to_the_bit(void **state) {
  (void)state;
  double x[N_ROWS], y[N_ROWS];
  assert_true(solve_in_parts(0, x) < 1e-13);
  assert_true(solve_in_parts(1, y) < 1e-13);
  assert_memory_equal(x, y, sizeof x);
}

static void many_right_hand_sides_are_solved_side_by_side(void **state) {
  (void)state;
  enum { MANY = 7 };
  yoke_block_ldl *ldl = NULL;
  double          dense[N_ROWS * N_ROWS], x[N_ROWS * MANY], one[N_ROWS], again[N_ROWS * 2];
  uint32_t        seed = 4u;
  assert_int_equal(yoke_block_ldl_create(NULL, N_NODES, size, N_EDGES, edge_a, edge_b, &ldl), YOKE_OK);
  double *values = calloc(yoke_block_ldl_n_values(ldl), sizeof *values);
  assert_non_null(values);
  fill(ldl, 12.0, values, dense);
  assert_int_equal(yoke_block_ldl_factor(ldl, values, 1e-10), YOKE_OK);
  for (int i = 0; i < N_ROWS * MANY; ++i) x[i] = pseudo_random(&seed);
  for (int i = 0; i < N_ROWS; ++i) {
    one[i]           = x[i * MANY + 5];
    again[2 * i]     = x[i * MANY + 3];
    again[2 * i + 1] = x[i * MANY + 6];
  }
  yoke_block_ldl_solve_many(ldl, values, MANY, x);
  yoke_block_ldl_solve(ldl, values, one);
  yoke_block_ldl_solve_many(ldl, values, 2, again);
  for (int i = 0; i < N_ROWS; ++i) {
    assert_true(fabs(x[i * MANY + 5] - one[i]) < 1e-14);
    assert_true(x[i * MANY + 3] == again[2 * i] && x[i * MANY + 6] == again[2 * i + 1]); /* the same bits */
  }
  free(values);
  yoke_block_ldl_destroy(&ldl);
}

static void repeated_edges_share_a_block(void **state) {
  (void)state;
  yoke_block_ldl *ldl = NULL;
  assert_int_equal(yoke_block_ldl_create(NULL, N_NODES, size, N_EDGES, edge_a, edge_b, &ldl), YOKE_OK);
  int first, again;
  assert_int_equal(yoke_block_ldl_edge(ldl, 0, &first), yoke_block_ldl_edge(ldl, 8, &again));
  assert_int_equal(first, again);
  yoke_block_ldl_destroy(&ldl);
}

static void indefinite_matrix_is_reported(void **state) {
  (void)state;
  yoke_block_ldl *ldl = NULL;
  assert_int_equal(yoke_block_ldl_create(NULL, N_NODES, size, N_EDGES, edge_a, edge_b, &ldl), YOKE_OK);
  double *values = calloc(yoke_block_ldl_n_values(ldl), sizeof *values);
  double  dense[N_ROWS * N_ROWS];
  assert_non_null(values);
  fill(ldl, 1.5, values, dense);
  assert_int_equal(yoke_block_ldl_factor(ldl, values, 1e-10), YOKE_SINGULAR);
  free(values);
  yoke_block_ldl_destroy(&ldl);
}

static void singular_matrix_is_reported(void **state) {
  (void)state;
  const int       two[2] = {2, 2}, a[1] = {0}, b[1] = {1};
  yoke_block_ldl *ldl = NULL;
  assert_int_equal(yoke_block_ldl_create(NULL, 2, two, 1, a, b, &ldl), YOKE_OK);
  double *values = calloc(yoke_block_ldl_n_values(ldl), sizeof *values);
  assert_non_null(values);
  int row_node;
  for (int k = 0; k < 2; ++k)
    values[yoke_block_ldl_diagonal(ldl, k)] = values[yoke_block_ldl_diagonal(ldl, k) + 3] = 2.0;
  values[yoke_block_ldl_edge(ldl, 0, &row_node)] = 2.0; /* rows 0 and 2 are equal */
  assert_int_equal(yoke_block_ldl_factor(ldl, values, 1e-10), YOKE_SINGULAR);
  free(values);
  yoke_block_ldl_destroy(&ldl);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(solution_satisfies_the_dense_system),
      cmocka_unit_test(parts_give_the_solution_in_any_order_to_the_bit),
      cmocka_unit_test(many_right_hand_sides_are_solved_side_by_side),
      cmocka_unit_test(repeated_edges_share_a_block),
      cmocka_unit_test(indefinite_matrix_is_reported),
      cmocka_unit_test(singular_matrix_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
