/* Blocks of states that act on each other, read off the pattern of the implicit view: what they leave out has no effect. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/cosimulate.h"
#include "analysis/equilibrium.h"
#include "master/system_internal.h"
#include "model/dependence.h"
#include "native/native_internal.h"

#define ROD                                                                                                            \
  "yoke: 1\n"                                                                                                          \
  "gravity: [0, 0, -9.81]\n"                                                                                           \
  "t_end: 1\n"                                                                                                         \
  "bodies:\n"                                                                                                          \
  "  rod: {kind: cosserat-rod, elements: 10, length: 1, section: {circle: 0.005}, young: 5e6, density: 1100,\n"        \
  "        damping: 0.01, direction: [1, 0, 0]}\n"

#define CABLE                                                                                                          \
  "yoke: 1\n"                                                                                                          \
  "t_end: 1\n"                                                                                                         \
  "bodies:\n"                                                                                                          \
  "  cable: {kind: ancf-cable, elements: 6, length: 1, mass: 0.1, axial_stiffness: 400,\n"                             \
  "          bending_stiffness: 2e-3, from: [0, 0, 0], to: [1, 0, 0]}\n"

typedef struct subject {
  cosim                  c;
  yoke_whole_model       whole;
  yoke_dae              *dae;
  yoke_arena             arena;
  yoke_dependence_blocks blocks;
} subject;

static void open_subject(subject *s, const char *text) {
  *s = (subject){0};
  if (cosim_load(&s->c, text, NULL) != YOKE_OK ||
      yoke_whole_model_create(s->c.ctx, s->c.model, 0, NULL, &s->whole) != YOKE_OK) {
    cosim_print(s->c.ctx);
    fail_msg("no model");
  }
  const yoke_equations *e = &s->whole.equations;
  assert_int_equal(e->ops->dae_create(e->self, s->c.ctx, YOKE_DAE_INDEX1, &s->dae), YOKE_OK);
  assert_int_equal(yoke_dependence_blocks_set(s->c.ctx, s->dae, e->nq - e->n_quadratures, e->nv, &s->arena, &s->blocks),
                   YOKE_OK);
}

static void close_subject(subject *s) {
  yoke_dependence_blocks_forget(&s->blocks);
  yoke_arena_free(&s->arena);
  yoke_dae_destroy(&s->dae);
  yoke_whole_model_clear(&s->whole);
  cosim_close(&s->c);
}

static bool acts(const yoke_dependence_blocks *b, int from, int on) {
  for (int k = b->acts_on->col_start[from]; k < b->acts_on->col_start[from + 1]; ++k) {
    if (b->acts_on->row[k] == on) return true;
  }
  return false;
}

/* Every state is in one block, and moves rates of no other block than those that its own acts on, not by a bit. */
static void check_effects(const subject *s) {
  const yoke_equations         *e  = &s->whole.equations;
  const yoke_dependence_blocks *b  = &s->blocks;
  const int                     nx = e->nq + e->nv;
  double                       *x = calloc(3 * (size_t)nx, sizeof *x), *F0 = x + nx, *F1 = F0 + nx;
  int                          *block = calloc((size_t)nx, sizeof *block), n_members = 0;
  assert_true(x != NULL && block != NULL);
  memcpy(x, s->whole.q, (size_t)e->nq * sizeof *x);
  for (int i = 0; i < nx; ++i) x[i] += 0.01 * sin(1.0 + 7.0 * i);
  for (int j = 0; j < b->n; ++j) {
    for (int k = b->start[j]; k < b->start[j + 1]; ++k) block[b->member[k]] = j, ++n_members;
  }
  assert_int_equal(n_members, nx - e->n_quadratures);
  assert_int_equal(e->ops->derivative(e->self, s->whole.work, 0.0, x, x + e->nq, NULL, F0, F0 + e->nq, NULL), YOKE_OK);
  for (int j = 0; j < nx; ++j) {
    if (j >= e->nq - e->n_quadratures && j < e->nq) continue;
    const double before = x[j];
    x[j] += 1e-3;
    assert_int_equal(e->ops->derivative(e->self, s->whole.work, 0.0, x, x + e->nq, NULL, F1, F1 + e->nq, NULL),
                     YOKE_OK);
    x[j] = before;
    for (int i = 0; i < nx; ++i) {
      if ((i < e->nq - e->n_quadratures || i >= e->nq) && !acts(b, block[j], block[i])) assert_true(F1[i] == F0[i]);
    }
  }
  free(x);
  free(block);
}

/* No two blocks of a colour act on the same one. */
static void check_colours(const yoke_dependence_blocks *b) {
  for (int c = 0; c < b->n_colours; ++c) {
    for (int k = b->colour_start[c]; k < b->colour_start[c + 1]; ++k) {
      for (int l = b->colour_start[c]; l < k; ++l) {
        for (int i = 0; i < b->n; ++i) assert_false(acts(b, b->coloured[k], i) && acts(b, b->coloured[l], i));
      }
    }
  }
}

/* Three translations and the rotation of each node; three nodes in a row have different colours. */
static void a_rod_falls_into_its_nodes(void **state) {
  (void)state;
  subject s;
  open_subject(&s, ROD "frames: {ground.wall: {at: [0, 0, 0], axis: [1, 0, 0]}}\n"
                       "connections: {clamp: {kind: fixed, between: [ground.wall, rod.a]}}\n");
  assert_int_equal(s.blocks.n, 12 * 4);
  assert_int_equal(s.blocks.n_colours, 12);
  int n = 0; /* differences that a Jacobian takes */
  for (int c = 0; c < 12; ++c) {
    int most = 0;
    for (int k = s.blocks.colour_start[c]; k < s.blocks.colour_start[c + 1]; ++k) {
      const int size = yoke_block_size(&s.blocks, s.blocks.coloured[k]);
      most           = size > most ? size : most;
    }
    n += most;
  }
  assert_int_equal(n, 3 * (7 + 6));
  check_effects(&s);
  check_colours(&s.blocks);
  close_subject(&s);
}

/* A ball hinged to an inner node is one block with it; a spring and a load that reads a body act across. */
static void joints_join_and_forces_act_across(void **state) {
  (void)state;
  subject s;
  open_subject(&s, ROD "  ball: {kind: rigid, mass: 0.1, inertia: [1e-4, 1e-4, 1e-4], position: [0.5, 0, -0.1],\n"
                       "         frames: {eye: [0, 0, 0.1]}}\n"
                       "  far: {kind: particle, mass: 1, position: [0.2, 0, 1]}\n"
                       "connections:\n"
                       "  pin: {kind: spherical, between: [\"rod.node[5]\", ball.eye]}\n"
                       "  spring: {kind: spring-damper, between: [\"rod.node[2]\", far], stiffness: 10}\n"
                       "loads: {pull: {kind: expression, on: rod.b, force: ['far.x', 0, 0]}}\n");
  assert_int_equal(s.blocks.n, 12 * 4 + 4 + 3 - 6); /* the ball and the place of the node */
  check_effects(&s);
  check_colours(&s.blocks);
  close_subject(&s);
}

/* Its mass matrix joins all nodes, direction by direction; stretching joins these. */
static void a_cable_is_a_block_for_each_direction(void **state) {
  (void)state;
  subject s;
  open_subject(&s, CABLE);
  assert_int_equal(s.blocks.n, 3);
  assert_int_equal(s.blocks.n_colours, 3);
  check_effects(&s);
  close_subject(&s);
}

#define TOWED(body)                                                                                                    \
  "yoke: 1\n"                                                                                                          \
  "t_end: 0.01\n"                                                                                                      \
  "parameters: {n: 50}\n"                                                                                              \
  "bodies:\n"                                                                                                          \
  "  mass: {kind: particle, mass: 1}\n"                                                                                \
  "  cable: {" body ", elements: n}\n"                                                                                 \
  "connections: {pin: {kind: spherical, between: [mass, cable.a]}}\n"                                                  \
  "split: {R: [mass], F: [cable]}\n"                                                                                   \
  "solvers: {default: bdf}\n"                                                                                          \
  "cosimulation: {scheme: explicit, order: 1, step: 1e-3, couplings: {formulation: kinematic, prescribed: F}}\n"

/* Places of the Jacobian of a body whose end is prescribed. */
static int n_places(const char *text, const char *sets) {
  cosim     c;
  yoke_dae *dae = NULL;
  cosim_open(&c, text, sets);
  cosim_expect(&c, YOKE_OK);
  const native *n = c.system->subsystems[1]->self;
  assert_true(n->is_prescribed);
  assert_int_equal(n->equations.ops->dae_create(n->equations.self, c.ctx, YOKE_DAE_GGL, &dae), YOKE_OK);
  const int nnz = dae->pattern->nnz;
  yoke_dae_destroy(&dae);
  cosim_close(&c);
  return nnz;
}

static void the_jacobian_where_an_end_is_prescribed_grows_with_the_elements(void **state) {
  static const char *const bodies[] = {
      TOWED("kind: ancf-cable, mass: 0.1, axial_stiffness: 400, bending_stiffness: 2e-3, from: [0, 0, 0], to: [1, 0, "
            "0]"),
      TOWED("kind: cosserat-rod, length: 1, section: {circle: 0.005}, young: 5e6, density: 1100, damping: 0.01, "
            "direction: [1, 0, 0]"),
  };
  (void)state;
  for (int i = 0; i < 2; ++i) {
    const int few = n_places(bodies[i], "parameters.n=50"), many = n_places(bodies[i], "parameters.n=100");
    if (many > 2.05 * few) fail_msg("body %d: %d and %d places", i, few, many);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_rod_falls_into_its_nodes),
      cmocka_unit_test(joints_join_and_forces_act_across),
      cmocka_unit_test(a_cable_is_a_block_for_each_direction),
      cmocka_unit_test(the_jacobian_where_an_end_is_prescribed_grows_with_the_elements),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
