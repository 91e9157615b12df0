/* Mechanisms in parts: what they give as a whole, and the same bits whoever does which part. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "rig.h"
#include "exec/lockstep.h"
#include "model/multibody_internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yoke/model.h>

enum { MOST = 120 };

#define HEAD "yoke: 1\nt_end: 1\ngravity: [0.3, -9.81, 0.2]\n"
#define ROD(name, x, y, z)                                                                                             \
  "  " name ": {kind: rigid, mass: 1.2, inertia: [0.1, 0.2, 0.3], position: [" #x ", " #y ", " #z "],\n"               \
  "      frames: {low: [-0.5, 0, 0.1], tip: [0.5, 0, 0.1], side: [0, 0.4, 0]}}\n"

/* A branch of different joints that hangs on the ground: cut between b and c, where something else hangs on b too. */
static const char hanging[] =
    HEAD "bodies:\n" ROD("a", 0.5, 0, -0.1) ROD("b", 1.5, 0, -0.1) ROD("c", 2.5, 0, -0.1) ROD("d", 3.5, 0, -0.1)
        ROD("e", 1.5, 0.8, -0.1) "connections:\n"
                                 "  shoulder: {kind: revolute, between: [ground, a.low], axis: [0, 1, 0]}\n"
                                 "  elbow: {kind: revolute, between: [a.tip, b.low], axis: [0, 1, 1]}\n"
                                 "  wrist: {kind: spherical, between: [b.tip, c.low]}\n"
                                 "  slide: {kind: translational, between: [c.tip, d.low], axis: [1, 0, 0]}\n"
                                 "  hook: {kind: cylindrical, between: [b.side, e.side], axis: [0, 1, 0]}\n"
                                 "loads:\n"
                                 "  push: {kind: expression, on: d.tip, force: ['1 + t', 2, 0]}\n"
                                 "split: {up: [a, b, e], down: [c, d]}\n";

/* A tree that flies, with a body that has no joint; the parent of the cut joint is its root. */
static const char flying[] = HEAD "bodies:\n" ROD("a", 0.5, 0, -0.1) ROD("b", 1.5, 0, -0.1) ROD("c", 2.5, 0, -0.1)
    ROD("alone", 0, 5, 0) "connections:\n"
                          "  elbow: {kind: revolute, between: [a.tip, b.low], axis: [0, 1, 1]}\n"
                          "  wrist: {kind: revolute, between: [b.tip, c.low], axis: [0, 0, 1]}\n"
                          "split: {up: [a, alone], down: [b, c]}\n";

/* Two four-bar linkages that share a bar. */
#define BAR(name, x, y, angle)                                                                                         \
  "  " name ": {kind: planar, mass: 1.1, inertia: 0.1, position: [" #x ", " #y "], angle: " #angle ",\n"               \
  "      frames: {low: [-0.5, 0], tip: [0.5, 0]}}\n"
#define LINKAGES(cut, more)                                                                                            \
  HEAD "bodies:\n" BAR("a", 0, 0.5, pi / 2) BAR("b", 0.5, 1, 0) BAR("c", 1, 0.5, pi / 2) BAR("d", 1.5, 1, 0)           \
      BAR("e", 2, 0.5, pi / 2) "connections:\n"                                                                        \
                               "  base1: {kind: revolute, between: [ground, a.low]}\n"                                 \
                               "  base2: {kind: revolute, between: [[1, 0, 0], c.low]}\n"                              \
                               "  base3: {kind: revolute, between: [[2, 0, 0], e.low]}\n"                              \
                               "  left1: {kind: revolute, between: [a.tip, b.low]}\n" cut                              \
                               "  left2: {kind: revolute, between: [c.tip, d.low]}\n"                                  \
                               "  right2: {kind: revolute, between: [d.tip, e.tip]}\n" more                            \
                               "split: {first: [a, b], second: [c, d, e]}\n"
#define PIN "  right1: {kind: revolute, between: [b.tip, c.tip]}\n"
static const char linkages[] = LINKAGES(PIN, "");
static const char turned[]   = LINKAGES("  right1: {kind: revolute, between: [c.tip, b.tip]}\n", "");
/* The cut joint has rows that want the poses of both sides. */
static const char sliding[] =
    LINKAGES("  right1: {kind: translational, between: [b.tip, c.tip], axis: [1, 0.2, 0]}\n", "");
static const char with_spring[] =
    LINKAGES(PIN, "  spring: {kind: spring-damper, between: [a.tip, e.low], stiffness: 10, free_length: 1}\n");

/* Where numbers of positions and velocities in the order of the model, and of rows in that of its connections, are in the equations. */
typedef struct order {
  int q[MOST], v[MOST], row[MOST];
} order;

static order order_of(const rig *r) {
  const yoke_model *model = r->model;
  order             at    = {0};
  int               nq = 0, nv = 0, n = 0;
  for (int b = 0; b < model->n_bodies; ++b) {
    for (int i = 0; i < yoke_body_nq(&model->bodies[b]); ++i) at.q[nq++] = yoke_multibody_q_offset(r->mb, b) + i;
    for (int i = 0; i < yoke_body_nv(&model->bodies[b]); ++i) at.v[nv++] = yoke_multibody_v_offset(r->mb, b) + i;
  }
  for (int c = 0; c < model->n_connections; ++c) {
    const int j = r->mb->connection_joint[c];
    for (int i = 0; j >= 0 && i < r->mb->joints[j].n; ++i) at.row[n++] = r->mb->joints[j].g0 + i;
  }
  return at;
}

static void gather(int n, const int *at, const double *x, double *out) {
  for (int i = 0; i < n; ++i) out[i] = x[at[i]];
}

static void parts_open(rig *r, const char *text, bool in_parts) {
  rig_open(r, text, &(yoke_multibody_options){.in_parts = in_parts});
  assert_true(r->equations.nq <= MOST && r->equations.ng <= MOST);
  assert_int_equal(r->mb->parts != NULL, in_parts);
  const order at = order_of(r);
  for (int i = 0; i < r->equations.nv; ++i) r->v[at.v[i]] = 0.3 + 0.1 * i - 0.02 * i * i;
}

typedef struct answers {
  double q[MOST], v[MOST], qdot[MOST], a[MOST], lambda[MOST];
} answers;

/* Both projections together, then the right-hand side off the constraints; `helpers` with parts, or NULL. */
static void ask(const char *text, bool in_parts, yoke_lockstep *helpers, int *n, answers *out) {
  rig r;
  parts_open(&r, text, in_parts);
  const yoke_equations *e  = &r.equations;
  const order           at = order_of(&r);
  double                qdot[MOST], a[MOST], lambda[MOST];
  memset(out, 0, sizeof *out);
  if (helpers != NULL) assert_true(yoke_multibody_help(r.mb, helpers));
  assert_int_equal(e->ops->project(e->self, r.work, 0.0, r.q, r.v), YOKE_OK);
  gather(e->nq, at.q, r.q, out->q);
  gather(e->nv, at.v, r.v, out->v);
  for (int i = 0; i < e->nq; ++i) r.q[at.q[i]] += 1e-3 * (i % 5 - 2);
  assert_int_equal(e->ops->derivative(e->self, r.work, 0.3, r.q, r.v, NULL, qdot, a, lambda), YOKE_OK);
  gather(e->nq, at.q, qdot, out->qdot);
  gather(e->nv, at.v, a, out->a);
  gather(e->ng, at.row, lambda, out->lambda);
  *n = e->nq;
  rig_close(&r);
}

static void check_near(const double *x, const double *y, int n, double tolerance) {
  for (int i = 0; i < n; ++i) CHECK_NEAR(x[i], y[i], tolerance * (1.0 + fabs(y[i])));
}

static void check(const char *text) {
  answers        whole, parts, helped;
  int            n;
  yoke_lockstep *helpers = NULL;
  ask(text, false, NULL, &n, &whole);
  ask(text, true, NULL, &n, &parts);
  check_near(parts.q, whole.q, n, 1e-13);
  check_near(parts.v, whole.v, n, 1e-12);
  check_near(parts.qdot, whole.qdot, n, 1e-12);
  check_near(parts.a, whole.a, n, 2e-11);
  check_near(parts.lambda, whole.lambda, MOST, 2e-11);
  assert_int_equal(yoke_lockstep_create(NULL, 2, true, &helpers), YOKE_OK);
  ask(text, true, helpers, &n, &helped);
  assert_true(yoke_lockstep_used(helpers).n_shared > 0);
  assert_memory_equal(&helped, &parts, sizeof parts);
  yoke_lockstep_destroy(&helpers);
}

static void hanging_tree_in_parts_moves_as_a_whole(void **state) {
  (void)state;
  check(hanging);
}

static void flying_tree_in_parts_moves_as_a_whole(void **state) {
  (void)state;
  check(flying);
}

static void linkages_with_loops_in_parts_move_as_a_whole(void **state) {
  (void)state;
  check(linkages);
  check(turned);
  check(with_spring);
}

static void cut_joints_that_are_no_pins_wait_for_both_sides(void **state) {
  (void)state;
  check(sliding);
}

/* Whatever the order of the model is. */
static void numbers_of_a_part_stand_side_by_side(void **state) {
  static const char *const texts[] = {hanging, linkages};
  (void)state;
  for (int i = 0; i < 2; ++i) {
    rig r;
    parts_open(&r, texts[i], true);
    for (int part = 0; part < 2; ++part) {
      for (int k = 0; k < MB_SPAN_COUPLING; ++k) assert_int_equal(r.mb->parts->part[part].n_spans[k], 1);
    }
    rig_close(&r);
  }
}

/* Joints of other kinds than trees have, in space: nothing is cut, and it is said why. */
static void mechanism_that_has_no_parts_says_why(void **state) {
  (void)state;
  static const char text[] = HEAD "bodies:\n" ROD("a", 0.5, 0, -0.1)
      ROD("b", 1.5, 0, -0.1) "connections:\n"
                             "  string: {kind: distance, between: [a.tip, b.side]}\n"
                             "split: {up: [a], down: [b]}\n";
  const yoke_multibody_options options = {.in_parts = true};
  rig                          r       = {0};
  assert_int_equal(yoke_context_create(&r.ctx), YOKE_OK);
  assert_int_equal(yoke_model_load_text(r.ctx, "rig.yaml", text, strlen(text), NULL, &r.model), YOKE_OK);
  assert_int_equal(yoke_multibody_create(r.ctx, r.model, &options, &r.equations, &r.mb), YOKE_OK);
  assert_null(r.mb->parts);
  rig_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hanging_tree_in_parts_moves_as_a_whole),
      cmocka_unit_test(flying_tree_in_parts_moves_as_a_whole),
      cmocka_unit_test(linkages_with_loops_in_parts_move_as_a_whole),
      cmocka_unit_test(cut_joints_that_are_no_pins_wait_for_both_sides),
      cmocka_unit_test(numbers_of_a_part_stand_side_by_side),
      cmocka_unit_test(mechanism_that_has_no_parts_says_why),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
