/* Flexible bodies of compiled models: both views of their equations against each other and against differences, tangents, energies, and what
 * the reader refuses. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "rig.h"
#include "../folder.h"
#include "../said.h"
#include "model/multibody.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <yoke/model.h>

enum { MOST = 128 };

/* A cable with joints at all its nodes, one between two of them, clamped to a body in space; a linear body in the plane with inner freedoms. */
static const char web[] =
    "yoke: 1\n"
    "t_end: 1\n"
    "gravity: [0.3, -9.81, 1]\n"
    "bodies:\n"
    "  rope: {kind: ancf-cable, elements: 2, points: [[0, 0, 0], [0.5, 0.1, 0], [0.9, 0, 0.2]], length: 1, mass: 0.7,\n"
    "         axial_stiffness: 300, bending_stiffness: 2, damping: 0.2, axial_damping: 0.01, velocity: [0.1, 0, 0.2]}\n"
    "  ball: {kind: rigid, mass: 1, inertia: [0.02, 0.03, 0.04], position: [1, 0, 0.2], omega: [1, 2, 3],\n"
    "         frames: {hook: {at: [-0.1, 0, 0], axis: [1, 0.2, 0.3]}}}\n"
    "  beam: {kind: linear, mass: {size: 5, symmetric: true, entries: [[1, 1, 2], [2, 2, 1], [3, 3, 0.5], [4, 4, "
    "1.5],\n"
    "         [5, 5, 0.3], [1, 4, 0.3], [2, 3, 0.1], [3, 5, 0.05], [4, 5, 0.2]]}, stiffness: [40, 30, 5, 20, 10],\n"
    "         damping: [0.1, 0.2, 0, 0.1, 0], load: [0, -9.81, 0, 0, 0], x: [0.1, 0, 0.2, 0.1, 0], v: [1, 0, 2, 0, "
    "1],\n"
    "         frames: {tip: {x: 4, y: 1, angle: 3, at: [1.4, 0.2]}, end: {x: 2}}}\n"
    "connections:\n"
    "  pin: {kind: spherical, between: [ground, rope.a]}\n"
    "  hook: {kind: spherical, between: [ball.hook, rope.b]}\n"
    "  clamp: {kind: tangent, between: [rope.slope[3], ball.hook]}\n"
    "  across: {kind: distance, between: [rope.node[1], rope.node[2]]}\n"
    "  rod: {kind: distance, between: [ball, beam.tip]}\n"
    "  hold: {kind: spring-damper, between: [rope.node[2], beam.tip], stiffness: 50, damping: 1}\n"
    "loads:\n"
    "  push: {kind: expression, on: beam.end, force: '3*beam.tip.angle - rope.node[2].vy'}\n";

/* A beam in space with two frames that turn, and what hangs on them. */
static const char frame[] =
    "yoke: 1\n"
    "t_end: 1\n"
    "bodies:\n"
    "  beam: {kind: linear, mass: {size: 13, symmetric: true, entries: [[1, 1, 2], [2, 2, 2], [3, 3, 2], [4, 4, 0.1],\n"
    "         [5, 5, 0.2], [6, 6, 0.15], [7, 7, 1], [8, 8, 1], [9, 9, 1], [10, 10, 0.1], [11, 11, 0.2], [12, 12, "
    "0.3],\n"
    "         [13, 13, 1], [1, 7, 0.4], [2, 6, 0.1], [5, 11, 0.05], [4, 13, 0.1], [10, 13, 0.1]]},\n"
    "         stiffness: {size: 13, symmetric: true, entries: [[1, 1, 40], [2, 2, 30], [3, 3, 50], [4, 4, 4], [5, 5, "
    "3],\n"
    "         [6, 6, 5], [7, 7, 30], [8, 8, 30], [9, 9, 30], [10, 10, 4], [11, 11, 4], [12, 12, 4], [13, 13, 9],\n"
    "         [1, 5, 2], [4, 10, -1], [2, 12, 1], [6, 13, 1]]},\n"
    "         load: [0, -9, 0, 0.1, 0, 0, 0, 0, 0, 0, 0.2, 0, 0],\n"
    "         x: [0, 0, 0, 0.1, 0.2, -0.1, 0, 0, 0, 0.1, 0, 0.1, 0], v: [1, 0, 0, 1, 2, 3, 0, 0, 0, -1, 0, 1, 2],\n"
    "         frames: {a: {x: 1, y: 2, z: 3, rx: 4, ry: 5, rz: 6}, b: {x: 7, y: 8, z: 9, rx: 10, ry: 11, rz: 12, at: "
    "[1, 0, 0]}}}\n"
    "  arm: {kind: rigid, mass: 1, inertia: [0.1, 0.1, 0.1], position: [1.5, 0, 0], frames: {low: [-0.5, 0, 0]}}\n"
    "connections:\n"
    "  hinge: {kind: revolute, between: [beam.b, arm.low]}\n"
    "  hold: {kind: distance, between: [beam.a, arm]}\n"
    "  spring: {kind: bushing, between: [ground, beam.a], stiffness: [20, 30, 40, 2, 3, 4], damping: 0.1}\n";

/* Rows over freedoms of a frame that turns and others, one of them with a value. */
static const char rows[] =
    "yoke: 1\n"
    "t_end: 1\n"
    "bodies:\n"
    "  beam: {kind: linear, mass: {size: 9, symmetric: true, entries: [[1, 1, 2], [2, 2, 2], [3, 3, 2], [4, 4, 0.1],\n"
    "         [5, 5, 0.2], [6, 6, 0.15], [7, 7, 1], [8, 8, 1], [9, 9, 1], [1, 7, 0.4], [2, 6, 0.1], [4, 8, 0.1]]},\n"
    "         stiffness: {size: 9, symmetric: true, entries: [[1, 1, 40], [2, 2, 30], [3, 3, 50], [4, 4, 4], [5, 5, "
    "3],\n"
    "         [6, 6, 5], [7, 7, 30], [8, 8, 30], [9, 9, 30], [1, 5, 2], [4, 9, -1]]}, damping: [1, 1, 1, 0.1, 0.1, "
    "0.1,\n"
    "         0.3, 0.2, 0.1], load: [0, -9, 0, 0.1, 0, 0, 0, 0.5, 0.2], v: [1, 0, 0, 1, 2, 3, -0.5, 2, 0],\n"
    "         constraints: {size: [2, 9], entries: [[1, 1, 1], [1, 7, 2], [2, 4, 0.5], [2, 7, 1], [2, 8, 3], [2, 9, "
    "1]]},\n"
    "         constraint_values: [0, 0], frames: {a: {x: 1, y: 2, z: 3, rx: 4, ry: 5, rz: 6}}}\n"
    "  arm: {kind: rigid, mass: 1, inertia: [0.1, 0.1, 0.1], position: [0.5, 0, 0], frames: {low: [-0.5, 0, 0]}}\n"
    "connections:\n"
    "  hinge: {kind: revolute, between: [beam.a, arm.low]}\n";

static double pseudo_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

/* x of the form near the start; unit norms are left. */
static void scatter(const rig *r, const yoke_dae *dae, double *x) {
  uint32_t seed = 99u;
  memset(x, 0, (size_t)dae->nx * sizeof *x);
  memcpy(x, r->q, (size_t)r->equations.nq * sizeof *x);
  memcpy(x + dae->i_v, r->v, (size_t)r->equations.nv * sizeof *x);
  for (int i = 0; i < dae->nx; ++i) x[i] += 0.05 * pseudo_random(&seed);
}

static void check_jacobian(const char *text, yoke_dae_form form) {
  rig       r;
  yoke_dae *dae = NULL;
  rig_open(&r, text, NULL);
  const yoke_equations *e = &r.equations;
  assert_int_equal(e->ops->dae_create(e->self, r.ctx, form, &dae), YOKE_OK);
  int nx, nnz;
  e->ops->dae_size(e->self, form, &nx, &nnz);
  assert_true(nx == dae->nx && nnz >= dae->pattern->nnz);
  const size_t n = (size_t)dae->nx;
  double      *x = calloc(n, sizeof *x), *J = calloc((size_t)dae->pattern->nnz, sizeof *J), *F[4];
  double       size = 0.0;
  for (int k = 0; k < 4; ++k) F[k] = calloc(n, sizeof *F[k]);
  scatter(&r, dae, x);
  assert_int_equal(e->ops->dae_jacobian(e->self, dae, r.work, 0.0, x, NULL, J), YOKE_OK);
  for (int k = 0; k < dae->pattern->nnz; ++k) size = fmax(size, fabs(J[k]));
  for (int c = 0; c < dae->nx; ++c) {
    const double at = x[c], h = 1e-3, step[4] = {-2.0 * h, -h, h, 2.0 * h};
    for (int k = 0; k < 4; ++k) {
      x[c] = at + step[k];
      assert_int_equal(e->ops->dae_rhs(e->self, dae, r.work, 0.0, x, NULL, F[k]), YOKE_OK);
    }
    x[c] = at;
    for (int i = 0; i < dae->nx; ++i) {
      double J_ic = 0.0;
      for (int k = dae->pattern->col_start[c]; k < dae->pattern->col_start[c + 1]; ++k) {
        if (dae->pattern->row[k] == i) J_ic = J[k];
      }
      assert_true(fabs((8.0 * (F[2][i] - F[1][i]) - (F[3][i] - F[0][i])) / (12.0 * h) - J_ic) < 1e-8 * size);
    }
  }
  for (int k = 0; k < 4; ++k) free(F[k]);
  free(x), free(J);
  yoke_dae_destroy(&dae);
  rig_close(&r);
}

static void jacobians_of_both_forms_are_derivatives(void **state) {
  (void)state;
  check_jacobian(web, YOKE_DAE_GGL);
  check_jacobian(web, YOKE_DAE_INDEX1);
  check_jacobian(frame, YOKE_DAE_GGL);
  check_jacobian(frame, YOKE_DAE_INDEX1);
  check_jacobian(rows, YOKE_DAE_GGL);
  check_jacobian(rows, YOKE_DAE_INDEX1);
}

/* Accelerations and multipliers of the ordinary view meet the implicit one. */
static void check_views(const char *text) {
  rig       r;
  yoke_dae *dae = NULL;
  rig_open(&r, text, NULL);
  const yoke_equations *e = &r.equations;
  double                qdot[MOST], F[6 * MOST], x[6 * MOST] = {0.0}, size = 0.0;
  assert_int_equal(e->ops->project_position(e->self, r.work, 0.0, r.q), YOKE_OK);
  assert_int_equal(e->ops->project_velocity(e->self, r.work, 0.0, r.q, r.v), YOKE_OK);
  assert_int_equal(e->ops->dae_create(e->self, r.ctx, YOKE_DAE_INDEX1, &dae), YOKE_OK);
  memcpy(x, r.q, (size_t)e->nq * sizeof *x);
  memcpy(x + dae->i_v, r.v, (size_t)e->nv * sizeof *x);
  assert_int_equal(e->ops->derivative(e->self, r.work, 0.0, r.q, r.v, NULL, qdot, x + dae->i_a, x + dae->i_lambda),
                   YOKE_OK);
  assert_int_equal(e->ops->dae_rhs(e->self, dae, r.work, 0.0, x, NULL, F), YOKE_OK);
  for (int i = 0; i < e->nv; ++i) size = fmax(size, fabs(x[dae->i_a + i]));
  for (int i = dae->i_a; i < dae->nx; ++i) assert_true(fabs(F[i]) < 1e-10 * size);
  yoke_dae_destroy(&dae);
  rig_close(&r);
}

static void both_views_agree(void **state) {
  (void)state;
  check_views(web);
  check_views(frame);
  check_views(rows);
}

/* M a - G^T lambda = r_a, G a = r_g by the Jacobian of the index-1 form, whose columns of a and lambda are -M, G^T and G. */
static void check_solves(const char *text) {
  enum { N = 3 };
  rig       r;
  yoke_dae *dae = NULL;
  rig_open(&r, text, NULL);
  const yoke_equations *e    = &r.equations;
  uint32_t              seed = 5u;
  double x[6 * MOST] = {0.0}, a[N * MOST], lambda[N * MOST], ra[N * MOST], rg[N * MOST], left[6 * MOST * N] = {0.0};
  assert_int_equal(e->ops->dae_create(e->self, r.ctx, YOKE_DAE_INDEX1, &dae), YOKE_OK);
  double *J      = calloc((size_t)dae->pattern->nnz, sizeof *J);
  void   *factor = aligned_alloc(64, (e->motion_size + 63) / 64 * 64);
  memcpy(x, r.q, (size_t)e->nq * sizeof *x);
  assert_int_equal(e->ops->dae_jacobian(e->self, dae, r.work, 0.0, x, NULL, J), YOKE_OK);
  assert_int_equal(e->ops->motion_factor(e->self, r.work, 0.0, x, x + dae->i_v, NULL, factor), YOKE_OK);
  for (int i = 0; i < N * e->nv; ++i) a[i] = ra[i] = pseudo_random(&seed);
  for (int i = 0; i < N * e->ng; ++i) lambda[i] = rg[i] = pseudo_random(&seed);
  e->ops->motion_solve(e->self, factor, N, a, lambda);
  for (int c = dae->i_a; c < dae->nx; ++c) {
    for (int k = dae->pattern->col_start[c]; k < dae->pattern->col_start[c + 1]; ++k) {
      for (int d = 0; d < N; ++d)
        left[dae->pattern->row[k] * N + d] +=
            J[k] * (c < dae->i_lambda ? a[(c - dae->i_a) * N + d] : lambda[(c - dae->i_lambda) * N + d]);
    }
  }
  for (int i = 0; i < N * e->nv; ++i) assert_true(fabs(left[dae->i_a * N + i] + ra[i]) < 1e-9);
  for (int i = 0; i < N * e->ng; ++i) assert_true(fabs(left[dae->i_lambda * N + i] - rg[i]) < 1e-9);
  free(J), free(factor);
  yoke_dae_destroy(&dae);
  rig_close(&r);
}

static void the_system_of_accelerations_is_solved_for_many(void **state) {
  (void)state;
  check_solves(web);
  check_solves(frame);
  check_solves(rows);
}

/* d(energy)/dt = -dissipated power along the motion: v . dE/dq + a . M v, for a body that nothing holds. */
static void energy_changes_by_what_dampers_take(void **state) {
  (void)state;
  static const char text[] =
      "yoke: 1\n"
      "t_end: 1\n"
      "gravity: [0.3, -9.81, 1]\n"
      "bodies:\n"
      "  rope: {kind: ancf-cable, elements: 2, points: [[0, 0, 0], [0.5, 0.1, 0], [0.9, 0, 0.2]], length: 1, mass: "
      "0.7,\n"
      "         axial_stiffness: 300, bending_stiffness: 2, velocity: [0.1, 0, 0.2]}\n"
      "  beam: {kind: linear, mass: [[2, 0.5], [0.5, 1]], stiffness: [[3, -1], [-1, 2]], load: [1, 2], v: [1, -2]}\n";
  rig r;
  rig_open(&r, text, NULL);
  const yoke_equations *e = &r.equations;
  double                qdot[MOST], a[MOST], q[2][MOST], v[2][MOST];
  const double          h = 1e-4;
  yoke_energy           energy[2];
  assert_int_equal(e->ops->derivative(e->self, r.work, 0.0, r.q, r.v, NULL, qdot, a, NULL), YOKE_OK);
  for (int k = 0; k < 2; ++k) {
    for (int i = 0; i < e->nv; ++i) {
      q[k][i] = r.q[i] + (k == 0 ? -h : h) * r.v[i] + 0.5 * h * h * a[i];
      v[k][i] = r.v[i] + (k == 0 ? -h : h) * a[i];
    }
    e->ops->energy(e->self, r.work, 0.0, q[k], v[k], &energy[k]);
  }
  const double change = energy[1].kinetic + energy[1].potential - energy[0].kinetic - energy[0].potential;
  assert_true(fabs(change) < 1e-6 * fabs(energy[1].kinetic - energy[0].kinetic) + 1e-9);
  rig_close(&r);
}

/* ---- the reader ---- */

static void check_refused_as(yoke_status expected, const char *body, const char *words) {
  char          text[1000];
  yoke_context *ctx;
  yoke_model   *model = NULL;
  snprintf(text, sizeof text, "yoke: 1\nt_end: 1\nbodies:\n  b: {%s}\n", body);
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  yoke_status status = yoke_model_load_text(ctx, "b.yaml", text, strlen(text), NULL, &model);
  if (status == YOKE_OK) {
    yoke_equations  equations;
    yoke_multibody *mb;
    status = yoke_multibody_create(ctx, model, NULL, &equations, &mb);
  }
  assert_int_equal(status, expected);
  expect_said(ctx, words);
  yoke_model_destroy(&model);
  yoke_context_destroy(&ctx);
}

static void check_refused(const char *body, const char *words) {
  check_refused_as(YOKE_E_MODEL, body, words);
}

static void mistakes_of_flexible_bodies_are_named(void **state) {
  (void)state;
  check_refused("kind: linear", "expected the mass matrix");
  check_refused("kind: linear, mass: [[1, 0.5], [0.4, 1]]", "0.5 in row 1, column 2 and 0.4 in row 2, column 1");
  check_refused("kind: linear, mass: [[1, 2], [2, 1]]", "not positive definite in row 2");
  check_refused("kind: linear, mass: [1, 0]", "found 0 on the diagonal in row 2");
  check_refused("kind: linear, mass: [1, 1], stiffness: [1, 2, 3]", "found a matrix of 3 rows, expected 2");
  check_refused("kind: linear, mass: [1, 1], frames: {a: {x: 1}, c: {x: 1}}", "freedom 1 a second time");
  check_refused("kind: linear, mass: [1, 1], frames: {a: {x: 1, y: 2}}", "expected x (a mass on a line)");
  check_refused_as(YOKE_E_IO, "kind: linear, mass: no_such_file.mtx", "no_such_file.mtx");
  check_refused("kind: ancf-cable, elements: 2, from: [0, 0, 0], to: [0, 0, 0], mass: 1, axial_stiffness: 1, "
                "bending_stiffness: 1",
                "found the point 'from', expected another one");
  check_refused("kind: ancf-cable, elements: 2, points: [[0, 0, 0], [1, 0, 0], [1, 0, 0]], mass: 1, axial_stiffness: "
                "1, bending_stiffness: 1",
                "found the same point twice");
  check_refused("kind: ancf-cable, elements: 2, from: [0, 0, 0], to: [1, 0, 0], length: 2, mass: 1, axial_stiffness: "
                "1, bending_stiffness: 1",
                "expected gravity and ends that are not above each other so that the cable can hang; or 'points'");
  check_refused("kind: ancf-cable, elements: 2, points: [[0, 0, 0], [1, 0, 0]], mass: 1, axial_stiffness: 1, "
                "bending_stiffness: 1",
                "found 2 points, expected 3");
  check_refused("kind: ancf-cable, elements: 1, from: [0, 0, 0], to: [1, 0, 0], mass: 1, axial_stiffness: 1",
                "expected E I");
#define RECTANGLE "kind: cosserat-rod, elements: 2, section: {rectangle: [0.1, 0.02]}, young: 1e9, density: 1000, "
  check_refused(RECTANGLE "from: [0, 0, 0], to: [2, 2, 0], normal: [1, 1, 0]", "found the direction of the rod");
  check_refused(RECTANGLE "from: [0, 0, 0], to: [2, 2, 0], normal: [0, 0, 0]", "found a direction of length 0");
}

static bool is_warned_of(const char *matrices) {
  char          text[400];
  yoke_context *ctx;
  yoke_model   *model = NULL;
  snprintf(text, sizeof text, "yoke: 1\nt_end: 1\nbodies: {b: {kind: linear, mass: [1, 1], %s}}\n", matrices);
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_model_load_text(ctx, "b.yaml", text, strlen(text), NULL, &model), YOKE_OK);
  const bool is_said = said(ctx, "not positive semidefinite in row 1");
  yoke_model_destroy(&model);
  yoke_context_destroy(&ctx);
  return is_said;
}

static void matrices_that_make_energy_are_warned_of(void **state) {
  (void)state;
  assert_true(is_warned_of("stiffness: [-1, 1]"));
  assert_true(is_warned_of("damping: [-1, 1]"));
  assert_true(is_warned_of("stiffness: [[1, 2], [2, 1]]"));
  assert_true(is_warned_of("stiffness: [[0, 1], [1, 0]]"));
  assert_false(is_warned_of("stiffness: [[1, -1], [-1, 1]]"));         /* it moves as a whole */
  assert_false(is_warned_of("stiffness: [[3.3333, -10], [-10, 30]]")); /* the same, with few digits */
  assert_false(is_warned_of("stiffness: [[2, -1], [-1, 2]], damping: [0, 0]"));
}

#define ROWS "kind: linear, mass: [1, 2, 3], constraints: "

static void mistakes_of_constraint_rows_are_named(void **state) {
  (void)state;
  check_refused(ROWS "[[1, 0, -1], [2, 0, -2]]", "found row 2, which follows from the others");
  check_refused(ROWS "[[1, 0, -1], [1, 1e-6, -1]]", "found row 2, of which the others leave less");
  check_refused(ROWS "[[0, 0, 0]]", "found row 1 without an entry");
  check_refused(ROWS "[1, 0, -1]", "expected rows [[...], ...]");
  check_refused(ROWS "[[1, 0]]", "found a list of 2, expected a list of 3 numbers");
  check_refused(ROWS "{size: [1, 4], entries: [[1, 1, 1]]}", "found a matrix of 1 rows and 4 columns");
  check_refused(ROWS "{size: [1, 3], entries: [[1, 4, 1]]}", "expected a whole number from 1 to 3");
  check_refused(ROWS "{size: [1, 3], entries: [[1, 2, 1], [1, 2, 1]]}", "found row 1, column 2 twice");
  check_refused(ROWS "{size: [1, 3], entries: [[1, 2, 0], [1, 2, 1], [1, 1, 1]]}", "found row 1, column 2 twice");
  check_refused(ROWS "{size: [1, 3], symmetric: true, entries: [[1, 1, 1], [1, 3, 1]]}",
                "found 1 rows and 3 columns, expected a square matrix");
  check_refused(ROWS "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]", "fewer rows than these");
  /* What frames have taken, the second row, is not what is wrong with the third. */
  check_refused("kind: linear, mass: [1, 2, 3, 4], constraints: [[0, 0, 1, 0], [1, -1, 0, 0], [0, 0, 2, 0]], "
                "frames: {a: {x: 1}, c: {x: 2}}",
                "found row 3, which follows from the others");
  check_refused(ROWS "[[1, -1, 0]], frames: {a: {x: 1}, c: {x: 2}}", "found row 1 over freedoms of frames alone");
  check_refused(ROWS "[[1, -1, 1], [1, 1, 1]], frames: {a: {x: 1}, c: {x: 2}}", "over freedoms of frames alone");
  check_refused(ROWS "[[1, -1, 0]], constraint_values: [1, 2]", "found a list of 2");
  check_refused("kind: linear, mass: [1, 2, 3], constraint_values: [1]", "found values without 'constraints'");
}

static void put(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void matrices_come_from_files(void **state) {
  const fixture *f = *state;
  char           matrix[128], path[128];
  yoke_model    *model = NULL;
  put(in_folder(f, "m.mtx", matrix),
      "%%MatrixMarket matrix coordinate real symmetric\n% mass\n2 2 3\n1 1 2\n2 1 0.5\n2 2 1.25\n");
  put(in_folder(f, "b.yaml", path), "yoke: 1\nt_end: 1\nbodies: {b: {kind: linear, mass: m.mtx}}\n");
  assert_int_equal(yoke_model_load(f->ctx, path, NULL, &model), YOKE_OK);
  const yoke_symmetric *M = &model->flexibles[0].linear->mass;
  assert_true(M->start[2] == 4 && M->value[0] == 2.0 && M->value[1] == 0.5 && M->value[2] == 0.5 &&
              M->value[3] == 1.25);
  assert_non_null(strstr(model->text, "entries")); /* a result repeats without the file */
  yoke_model_destroy(&model);
}

static void constraint_rows_come_from_a_file(void **state) {
  const fixture *f = *state;
  char           matrix[128], path[128];
  yoke_model    *model = NULL;
  put(in_folder(f, "c.mtx", matrix), "%%MatrixMarket matrix coordinate real general\n1 3 2\n1 1 -2\n1 3 4\n");
  put(in_folder(f, "b.yaml", path),
      "yoke: 1\nt_end: 1\nbodies: {b: {kind: linear, mass: [1, 1, 1], constraints: c.mtx}}\n");
  assert_int_equal(yoke_model_load(f->ctx, path, NULL, &model), YOKE_OK);
  const yoke_symmetric *M = &model->flexibles[0].linear->mass; /* x3 = y + x1/2 */
  assert_int_equal(model->n_connections, 1);
  assert_string_equal(model->connections[0].name, "b.constraint[1]");
  assert_int_equal(M->start[3], 5);
  assert_true(M->value[0] == 1.25 && M->value[1] == 0.5 && M->value[2] == 1.0 && M->value[3] == 0.5 &&
              M->value[4] == 1.0);
  yoke_model_destroy(&model);
}

/* A stiffness of two rows that is not what it seems. */
static void expect_bad_matrix(const fixture *f, const char *text, const char *says) {
  char        matrix[128], path[128];
  yoke_model *model = NULL;
  put(in_folder(f, "k.mtx", matrix), text);
  put(in_folder(f, "k.yaml", path), "yoke: 1\nt_end: 1\nbodies: {b: {kind: linear, mass: [1, 1], stiffness: k.mtx}}\n");
  yoke_context_clear(f->ctx);
  assert_int_not_equal(yoke_model_load(f->ctx, path, NULL, &model), YOKE_OK);
  if (!said(f->ctx, says)) fail_msg("nobody says '%s' of '%s'", says, text);
}

#define SYMMETRIC "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n"
#define ARRAY "%%MatrixMarket matrix array real symmetric\n"

static void files_of_matrices_that_would_be_misread_are_refused(void **state) {
  const fixture *f = *state;
  char           path[128], comment[3000], text[4000];
  yoke_model    *model = NULL;
  expect_bad_matrix(f, SYMMETRIC "1 1 5,5\n2 1 -2\n2 2 9\n", "found '1 1 5,5', expected row, column and value");
  expect_bad_matrix(f, SYMMETRIC "1 1 5d1\n2 1 -2\n2 2 9\n", "found '1 1 5d1'");
  expect_bad_matrix(f, SYMMETRIC "1 1 0x5\n2 1 -2\n2 2 9\n", "found '1 1 0x5'");
  expect_bad_matrix(f, SYMMETRIC "1 1 5 7\n2 1 -2\n2 2 9\n", "found '1 1 5 7'");
  expect_bad_matrix(f, SYMMETRIC "1 1.5 5\n2 1 -2\n2 2 9\n", "found '1 1.5 5'");
  expect_bad_matrix(f, SYMMETRIC "2 1 -2\n1 2 -2\n2 2 9\n", "found row 1, column 2 twice");
  expect_bad_matrix(f, SYMMETRIC "1 1 5\n1 1 5\n2 2 9\n", "found row 1, column 1 twice");
  expect_bad_matrix(f, ARRAY "2 2\n1 2 3\n4\n5\n", "found '1 2 3', expected a number");
  expect_bad_matrix(f, ARRAY "2 3\n1\n4\n5\n", "expected a square matrix");
  expect_bad_matrix(f, ARRAY "99999999999999999999 9\n1\n", "found no sizes");
  expect_bad_matrix(f, ARRAY "999999999999 999999999999\n1\n", "expected 1 to 100000");
  memset(comment, 'a', sizeof comment);
  comment[sizeof comment - 1] = '\0';
  snprintf(text, sizeof text, "%s1 1 5%s\n2 1 -2\n2 2 9\n", SYMMETRIC, comment);
  expect_bad_matrix(f, text, "more than 1022 characters");
  /* a comment may be long, words of the header may have capitals */
  snprintf(text, sizeof text, "%%%%MatrixMarket Matrix Coordinate Real Symmetric\n%%%s\n2 2 2\n1 1 5\n2 2 9\n",
           comment);
  put(in_folder(f, "k.mtx", path), text);
  assert_int_equal(yoke_model_load(f->ctx, in_folder(f, "k.yaml", path), NULL, &model), YOKE_OK);
  yoke_model_destroy(&model);
  remove(in_folder(f, "k.mtx", path));
  assert_int_equal(mkfifo(path, 0600), 0); /* nobody writes */
  assert_int_equal(yoke_model_load(f->ctx, in_folder(f, "k.yaml", path), NULL, &model), YOKE_E_IO);
  assert_true(said(f->ctx, "it is no ordinary file"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(jacobians_of_both_forms_are_derivatives),
      cmocka_unit_test(both_views_agree),
      cmocka_unit_test(the_system_of_accelerations_is_solved_for_many),
      cmocka_unit_test(energy_changes_by_what_dampers_take),
      cmocka_unit_test(mistakes_of_flexible_bodies_are_named),
      cmocka_unit_test(matrices_that_make_energy_are_warned_of),
      cmocka_unit_test(mistakes_of_constraint_rows_are_named),
      cmocka_unit_test_setup_teardown(matrices_come_from_files, set_up, tear_down),
      cmocka_unit_test_setup_teardown(constraint_rows_come_from_a_file, set_up, tear_down),
      cmocka_unit_test_setup_teardown(files_of_matrices_that_would_be_misread_are_refused, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
