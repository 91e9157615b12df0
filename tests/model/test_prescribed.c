/* Parts whose end is prescribed: the Jacobian of their implicit view against differences of its right-hand side, away from where the motion puts
 * them and with accelerations and multipliers of any size. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/cosimulate.h"
#include "master/system_internal.h"
#include "native/native_internal.h"

/* `body` of this name is towed at its frame or node `end` from the origin by a mass or a rigid body; connections `more` hold `others` to it. */
#define TOWED_WITH(name, end, body, tug, joint, more, others)                                                          \
  "yoke: 1\n"                                                                                                          \
  "gravity: [0, 0, -9.81]\n"                                                                                           \
  "t_end: 0.01\n"                                                                                                      \
  "bodies:\n  tug: {" tug "}\n" body "connections:\n  pin: {kind: " joint ", between: [tug, " name "." end "]}\n" more \
  "split: {R: [tug], F: [" name others "]}\n"                                                                          \
  "solvers: {default: bdf}\n"                                                                                          \
  "cosimulation: {scheme: explicit, order: 1, step: 1e-3, couplings: {formulation: kinematic, prescribed: F}}\n"
#define TOWED(name, end, body, tug, joint) TOWED_WITH(name, end, body, tug, joint, "", "")

#define MASS "kind: particle, mass: 1"
#define BLOCK "kind: rigid, mass: 1, inertia: [0.1, 0.2, 0.3]"
#define CABLE "kind: ancf-cable, elements: 4, mass: 0.1, axial_stiffness: 40, bending_stiffness: 2e-3"
#define ROD                                                                                                            \
  "kind: cosserat-rod, elements: 3, length: 1, section: {circle: 0.05}, young: 1e4, density: 1100, damping: 0.01, "    \
  "direction: [1, 0, 0]"

static const char cable[] =
    TOWED("cable", "a", "  cable: {" CABLE ", damping: 0.1, axial_damping: 0.01, from: [0, 0, 0], to: [1, 0, 0]}\n",
          MASS, "spherical");
/* The node may go around the mass: where the motion puts it depends on where it was. */
static const char swing[] = TOWED(
    "swing", "a", "  swing: {" CABLE ", damping: 0.1, from: [0.2, 0.1, 0.2], to: [1.2, 0.1, 0.2]}\n", MASS, "distance");
static const char hose[] = TOWED("hose", "a", "  hose: {" ROD "}\n", MASS, "spherical");
static const char arm[]  = TOWED("arm", "a", "  arm: {" ROD "}\n", BLOCK, "fixed");
static const char stay[] = TOWED("stay", "a", "  stay: {" ROD ", from: [0.2, 0.1, 0.2]}\n", MASS, "distance");
static const char whip[] =
    TOWED_WITH("whip", "a",
               "  whip: {" ROD "}\n"
               "  bob: {kind: rigid, mass: 0.3, inertia: [1e-3, 2e-3, 2e-3], position: [1, 0, -0.1],\n"
               "        frames: {eye: [0, 0, 0.1]}}\n",
               MASS, "spherical", "  hinge: {kind: spherical, between: [whip.b, bob.eye]}\n", ", bob");
static const char beam[] =
    TOWED("beam", "tip",
          "  beam: {kind: linear, mass: [[1, 0, 0, 0.2], [0, 1, 0, 0.1], [0, 0, 1, 0], [0.2, 0.1, 0, 0.5]],\n"
          "         stiffness: [[90, 0, 0, -40], [0, 60, 0, 0], [0, 0, 70, 0], [-40, 0, 0, 80]],\n"
          "         frames: {tip: {x: 1, y: 2, z: 3, at: [0, 0, 0]}}}\n",
          MASS, "spherical");
static const char bars[] =
    TOWED_WITH("link", "a",
               "  link: {" BLOCK ", position: [0.5, 0, 0], frames: {a: [-0.5, 0, 0], b: [0.5, 0, 0]}}\n"
               "  tail: {" BLOCK ", position: [1.5, 0, 0], frames: {a: [-0.5, 0, 0]}}\n",
               MASS, "spherical", "  hinge: {kind: spherical, between: [link.b, tail.a]}\n", ", tail");

static double pseudo_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

/* Motion near that of a tug at the origin. */
static void scatter_inputs(const native *n, uint32_t *seed, double *u) {
  int n_p = 0;
  for (int i = 0; i < n->equations.nu; ++i) {
    u[i] = 0.05 * pseudo_random(seed);
    if (n->input_kind[i] == YOKE_INPUT_GHOST_P && n_p++ == 3) u[i] += 1.0; /* x y z, then the orientation */
  }
}

/* Largest difference in units of the largest entry of its row (rows of what is held are 0); entries that the pattern leaves out are 0. */
static double error_of(const char *text, bool *is_band) {
  cosim     c;
  yoke_dae *dae  = NULL;
  uint32_t  seed = 7u;
  cosim_open(&c, text, NULL);
  cosim_expect(&c, YOKE_OK);
  const native         *n = c.system->subsystems[1]->self;
  const yoke_equations *e = &n->equations;
  assert_true(n->is_prescribed);
  assert_int_equal(e->ops->dae_create(e->self, c.ctx, YOKE_DAE_INDEX1, &dae), YOKE_OK);
  const yoke_pattern *at   = dae->pattern;
  const size_t        size = (size_t)dae->nx;
  void               *work = calloc(1, e->work_size);
  double *x = calloc(size, sizeof *x), *u = calloc((size_t)e->nu, sizeof *u), *J = calloc((size_t)at->nnz, sizeof *J);
  double *dense = calloc(size * size, sizeof *dense), *largest = calloc(size, sizeof *largest), *F[4], error = 0.0;
  for (int k = 0; k < 4; ++k) F[k] = calloc(size, sizeof *F[k]);
  scatter_inputs(n, &seed, u);
  memcpy(x, n->q_start, (size_t)e->nq * sizeof *x);
  memcpy(x + dae->i_v, n->v_start, (size_t)e->nv * sizeof *x);
  for (int i = 0; i < dae->nx; ++i) x[i] += (i < dae->i_v ? 0.01 : 1.0) * pseudo_random(&seed);
  assert_int_equal(e->ops->dae_jacobian(e->self, dae, work, 0.0, x, u, J), YOKE_OK);
  for (int j = 0; j < dae->nx; ++j) {
    for (int k = at->col_start[j]; k < at->col_start[j + 1]; ++k) {
      dense[(size_t)at->row[k] * size + (size_t)j] = J[k];
      largest[at->row[k]]                          = fmax(largest[at->row[k]], fabs(J[k]));
    }
  }
  for (int j = 0; j < dae->nx; ++j) {
    const double kept = x[j], h = 1e-3, step[4] = {-2.0 * h, -h, h, 2.0 * h};
    for (int k = 0; k < 4; ++k) {
      x[j] = kept + step[k];
      assert_int_equal(e->ops->dae_rhs(e->self, dae, work, 0.0, x, u, F[k]), YOKE_OK);
    }
    x[j] = kept;
    for (size_t i = 0; i < size; ++i) {
      const double d = (8.0 * (F[2][i] - F[1][i]) - (F[3][i] - F[0][i])) / (12.0 * h);
      error          = fmax(error, fabs(d - dense[i * size + (size_t)j]) / fmax(largest[i], 0.1));
    }
  }
  *is_band = dae->inner != NULL;
  for (int k = 0; k < 4; ++k) free(F[k]);
  free(x), free(u), free(J), free(dense), free(largest), free(work);
  yoke_dae_destroy(&dae);
  cosim_close(&c);
  return error;
}

static void check_all(size_t n, const char *const *texts, bool is_band, double allowed) {
  for (size_t i = 0; i < n; ++i) {
    bool         has_inner;
    const double error = error_of(texts[i], &has_inner);
    print_message("%zu: %.1e\n", i, error);
    assert_int_equal(has_inner, is_band);
    if (!(error < allowed)) fail_msg("part %zu: %g", i, error);
  }
}

static void the_jacobian_of_prescribed_points_is_the_derivative(void **state) {
  const char *const parts[] = {cable, swing, hose, arm, stay, whip, beam};
  (void)state;
  check_all(sizeof parts / sizeof parts[0], parts, true, 1e-6);
}

/* All of it is one-sided differences. */
static void the_jacobian_of_prescribed_bodies_is_near_the_derivative(void **state) {
  const char *const parts[] = {bars};
  (void)state;
  check_all(sizeof parts / sizeof parts[0], parts, false, 1e-4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_jacobian_of_prescribed_points_is_the_derivative),
      cmocka_unit_test(the_jacobian_of_prescribed_bodies_is_near_the_derivative),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
