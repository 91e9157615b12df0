/* Rows of G that follow from others, in a preferred order, and their multipliers. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "model/redundancy.h"
#include <stdlib.h>
#include <string.h>
#include <yoke/model.h>

/* A door on two hinges on one axis: the rows of either hinge follow from those of the other. */
static const char door[] =
    "yoke: 1\n"
    "t_end: 1\n"
    "bodies:\n"
    "  leaf: {kind: rigid, mass: 1, inertia: [0.2, 0.1, 0.2], position: [0.4, 0.3, 0.1],\n"
    "         frames: {top: {at: [-0.4, 0.5, 0], axis: [0, 1, 0]}, low: {at: [-0.4, -0.5, 0], axis: [0, 1, 0]}}}\n"
    "frames:\n"
    "  ground: {top: {at: [0, 0.8, 0.1], axis: [0, 1, 0]}, low: {at: [0, -0.2, 0.1], axis: [0, 1, 0]}}\n"
    "connections:\n"
    "  upper: {kind: revolute, between: [ground.top, leaf.top]}\n"
    "  lower: {kind: revolute, between: [ground.low, leaf.low]}\n";

enum { N_ROWS = 10, N_FREE = 6 };

typedef struct rig {
  yoke_context   *ctx;
  yoke_model     *model;
  yoke_equations  equations;
  yoke_multibody *mb;
  void           *work;
  double          q[16], v[16];
} rig;

static void rig_open(rig *r) {
  *r = (rig){0};
  assert_int_equal(yoke_context_create(&r->ctx), YOKE_OK);
  assert_int_equal(yoke_model_load_text(r->ctx, "door.yaml", door, strlen(door), NULL, &r->model), YOKE_OK);
  assert_int_equal(yoke_multibody_create(r->ctx, r->model, NULL, &r->equations, &r->mb), YOKE_OK);
  assert_int_equal(r->equations.ng, N_ROWS);
  r->work = malloc(r->equations.work_size);
  assert_non_null(r->work);
  yoke_multibody_initial_guess(r->mb, r->q, r->v);
}

static void rig_close(rig *r) {
  free(r->work);
  yoke_equations_destroy(&r->equations);
  yoke_model_destroy(&r->model);
  yoke_context_destroy(&r->ctx);
}

static void five_of_ten_rows_of_a_door_are_redundant(void **state) {
  (void)state;
  rig r;
  int n, *rows;
  rig_open(&r);
  assert_int_equal(yoke_redundancy_rows(r.mb, r.work, 0.0, r.q, NULL, &n, &rows), YOKE_OK);
  assert_int_equal(n, 5);
  for (int i = 1; i < n; ++i) assert_true(rows[i - 1] < rows[i]);
  free(rows);
  rig_close(&r);
}

static void rows_later_in_the_order_are_the_redundant_ones(void **state) {
  (void)state;
  rig r;
  rig_open(&r);
  for (int last = 0; last < 2; ++last) { /* the hinge whose rows come last */
    int order[N_ROWS], n, *rows;
    for (int i = 0; i < N_ROWS; ++i) order[i] = last == 1 ? i : (i + 5) % N_ROWS;
    assert_int_equal(yoke_redundancy_rows(r.mb, r.work, 0.0, r.q, order, &n, &rows), YOKE_OK);
    assert_int_equal(n, 5);
    for (int i = 0; i < n; ++i) assert_int_equal(rows[i], 5 * last + i);
    free(rows);
  }
  rig_close(&r);
}

static void moved_multipliers_give_the_same_forces(void **state) {
  (void)state;
  rig    r;
  double lambda[N_ROWS], G[N_ROWS * N_FREE], before[N_FREE], after[N_FREE];
  bool   retired[N_ROWS];
  rig_open(&r);
  const yoke_pattern *pattern = yoke_multibody_G_pattern(r.mb);
  assert_true(pattern->nnz <= N_ROWS * N_FREE);
  for (int i = 0; i < N_ROWS; ++i) {
    lambda[i]  = 1.0 + 0.7 * i - 0.1 * i * i;
    retired[i] = i >= 5;
  }
  yoke_multibody_G(r.mb, r.work, 0.0, r.q, G);
  yoke_sparse_multiply_transposed(pattern, G, lambda, before);
  assert_int_equal(yoke_redundancy_move(r.mb, r.work, 0.0, r.q, retired, lambda), YOKE_OK);
  yoke_multibody_G(r.mb, r.work, 0.0, r.q, G);
  yoke_sparse_multiply_transposed(pattern, G, lambda, after);
  for (int i = 5; i < N_ROWS; ++i) assert_true(lambda[i] == 0.0);
  for (int k = 0; k < N_FREE; ++k) CHECK_NEAR(after[k], before[k], 1e-12);
  rig_close(&r);
}

static void a_force_that_no_row_carries_is_met_as_well_as_can_be(void **state) {
  (void)state;
  rig    r;
  bool   retired[N_ROWS] = {false};
  double x[N_ROWS], G[N_ROWS * N_FREE], f[N_FREE] = {0}, met[N_FREE];
  rig_open(&r);
  f[4] = 2.0; /* about the hinges' axis through the centre of mass: free but for its lever */
  f[2] = 1.0;
  assert_int_equal(yoke_redundancy_express(r.mb, r.work, 0.0, r.q, retired, f, x), YOKE_OK);
  yoke_multibody_G(r.mb, r.work, 0.0, r.q, G);
  yoke_sparse_multiply_transposed(yoke_multibody_G_pattern(r.mb), G, x, met);
  /* what is left points along the one free motion: turning about the axis at x = 0 moves the centre, at 0.4 m, along -z */
  double left[N_FREE];
  for (int k = 0; k < N_FREE; ++k) left[k] = f[k] - met[k];
  const double share = (left[4] - 0.4 * left[2]) / 1.16;
  CHECK_NEAR(left[4], share, 1e-12);
  CHECK_NEAR(left[2], -0.4 * share, 1e-12);
  CHECK_NEAR(share, (2.0 - 0.4) / 1.16, 1e-12);
  for (int k = 0; k < N_FREE; ++k) {
    if (k != 2 && k != 4) CHECK_NEAR(left[k], 0.0, 1e-12);
  }
  rig_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(five_of_ten_rows_of_a_door_are_redundant),
      cmocka_unit_test(rows_later_in_the_order_are_the_redundant_ones),
      cmocka_unit_test(moved_multipliers_give_the_same_forces),
      cmocka_unit_test(a_force_that_no_row_carries_is_met_as_well_as_can_be),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
