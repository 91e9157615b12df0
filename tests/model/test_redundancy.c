/* Rows of G that follow from others, in a preferred order, and their multipliers. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "rig.h"
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

static void door_open(rig *r) {
  rig_open(r, door, NULL);
  assert_int_equal(r->equations.ng, N_ROWS);
}

static void five_of_ten_rows_of_a_door_are_redundant(void **state) {
  (void)state;
  rig r;
  int n, *rows;
  door_open(&r);
  assert_int_equal(yoke_redundancy_rows(r.mb, r.work, 0.0, r.q, NULL, YOKE_REDUNDANCY_DISTANCE, &n, &rows), YOKE_OK);
  assert_int_equal(n, 5);
  for (int i = 1; i < n; ++i) assert_true(rows[i - 1] < rows[i]);
  free(rows);
  rig_close(&r);
}

static void rows_later_in_the_order_are_the_redundant_ones(void **state) {
  (void)state;
  rig r;
  door_open(&r);
  for (int last = 0; last < 2; ++last) { /* the hinge whose rows come last */
    int order[N_ROWS], n, *rows;
    for (int i = 0; i < N_ROWS; ++i) order[i] = last == 1 ? i : (i + 5) % N_ROWS;
    assert_int_equal(yoke_redundancy_rows(r.mb, r.work, 0.0, r.q, order, YOKE_REDUNDANCY_DISTANCE, &n, &rows), YOKE_OK);
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
  door_open(&r);
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
  door_open(&r);
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

/* ---- singular or only badly conditioned? ---- */

/* Is the model singular where it is drawn, and how well do its accelerations meet g'' = 0 (`gap`, of those without joints)? */
static bool is_singular_as_drawn(const char *text, double *gap) {
  rig r = {0};
  assert_int_equal(yoke_context_create(&r.ctx), YOKE_OK);
  assert_int_equal(yoke_model_load_text(r.ctx, "test.yaml", text, strlen(text), NULL, &r.model), YOKE_OK);
  assert_int_equal(yoke_multibody_create(r.ctx, r.model, NULL, &r.equations, &r.mb), YOKE_OK);
  const yoke_equations *e = &r.equations;
  double               *q = calloc((size_t)(e->nq + 2 * e->nv + 2 * e->ng), sizeof *q), *v = q + e->nq, *a = v + e->nv;
  double               *gd = a + e->nv;
  r.work                   = malloc(e->work_size);
  assert_true(q != NULL && r.work != NULL);
  yoke_multibody_initial_guess(r.mb, q, v);
  const bool is_singular = e->ops->is_singular(e->self, r.work, 0.0, q);
  assert_int_equal(e->ops->derivative(e->self, r.work, 0.0, q, v, NULL, NULL, a, NULL), YOKE_OK);
  e->ops->constraint(e->self, r.work, 0.0, q, a, NULL, gd); /* at rest g'' = G a */
  *gap = 0.0;
  for (int i = 0; i < e->ng; ++i) *gap = fmax(*gap, fabs(gd[i]) / 9.81);
  free(q);
  rig_close(&r);
  return is_singular;
}

#define RODS(n)                                                                                                        \
  "yoke: 1\n"                                                                                                          \
  "t_end: 1\n"                                                                                                         \
  "gravity: [0, -9.81, 0]\n"                                                                                           \
  "bodies:\n"                                                                                                          \
  "  rod: {kind: rigid, count: " n ", mass: 1, inertia: [0.001, 0.1, 0.1], position: [i - 0.5, 0, 0],\n"               \
  "        frames: {left: [-0.5, 0, 0], right: [0.5, 0, 0]}}\n"                                                        \
  "connections:\n"                                                                                                     \
  "  support: {kind: revolute, between: [ground, rod[1].left]}\n"                                                      \
  "  hinge: {kind: revolute, count: " n " - 1, between: [rod[i].right, rod[i + 1].left]}\n"

/* Speed, item 6: the smallest pivot falls with the length cubed, but no row of a tree follows from others. */
static void speed_item_6_a_long_chain_is_not_taken_for_singular(void **state) {
  (void)state;
  double gap;
  assert_false(is_singular_as_drawn(RODS("100"), &gap));
  CHECK_BELOW(gap, 1e-11);
  assert_false(is_singular_as_drawn(RODS("2000"), &gap));
  CHECK_BELOW(gap, 1e-8);
}

static void a_straight_chain_between_two_supports_is_singular(void **state) {
  (void)state;
  double gap;
  assert_true(is_singular_as_drawn(RODS("4") "  end: {kind: revolute, between: [rod[4].right, [4, 0, 0]]}\n", &gap));
  CHECK_BELOW(gap, 1e-9);
}

/* A mass on a line is held by the line as by a joint: when crank and rod, equally long, stand upright above each other, the
 * line follows from the hinges. */
static void kinds_with_fewer_freedoms_close_loops(void **state) {
  (void)state;
  double gap;
  assert_true(is_singular_as_drawn("yoke: 1\n"
                                   "t_end: 1\n"
                                   "bodies:\n"
                                   "  crank: {kind: planar, mass: 1, inertia: 1/12, position: [0, 0.5], angle: pi/2,\n"
                                   "          frames: {left: [-0.5, 0], right: [0.5, 0]}}\n"
                                   "  rod: {kind: planar, mass: 1, inertia: 1/12, position: [0, 0.5], angle: -pi/2,\n"
                                   "        frames: {left: [-0.5, 0], right: [0.5, 0]}}\n"
                                   "  slider: {kind: mass1d, mass: 1}\n"
                                   "connections:\n"
                                   "  support: {kind: revolute, between: [ground, crank.left]}\n"
                                   "  pin: {kind: revolute, between: [crank.right, rod.left]}\n"
                                   "  end: {kind: spherical, between: [rod.right, slider]}\n",
                                   &gap));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(five_of_ten_rows_of_a_door_are_redundant),
      cmocka_unit_test(rows_later_in_the_order_are_the_redundant_ones),
      cmocka_unit_test(moved_multipliers_give_the_same_forces),
      cmocka_unit_test(speed_item_6_a_long_chain_is_not_taken_for_singular),
      cmocka_unit_test(a_straight_chain_between_two_supports_is_singular),
      cmocka_unit_test(kinds_with_fewer_freedoms_close_loops),
      cmocka_unit_test(a_force_that_no_row_carries_is_met_as_well_as_can_be),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
