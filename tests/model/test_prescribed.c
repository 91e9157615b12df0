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

/* `body` of this name is towed at its frame or node `end` from the origin by a mass or a rigid body. */
#define TOWED(name, end, body, tug, joint)                                                                             \
  "yoke: 1\n"                                                                                                          \
  "gravity: [0, 0, -9.81]\n"                                                                                           \
  "t_end: 0.01\n"                                                                                                      \
  "bodies:\n  tug: {" tug "}\n" body "connections: {pin: {kind: " joint ", between: [tug, " name "." end "]}}\n"       \
  "split: {R: [tug], F: [" name "]}\n"                                                                                 \
  "solvers: {default: bdf}\n"                                                                                          \
  "cosimulation: {scheme: explicit, order: 1, step: 1e-3, couplings: {formulation: kinematic, prescribed: F}}\n"

#define MASS "kind: particle, mass: 1"
#define BLOCK "kind: rigid, mass: 1, inertia: [0.1, 0.2, 0.3]"

static const char cable[] = TOWED("cable", "a",
                                  "  cable: {kind: ancf-cable, elements: 4, mass: 0.1, axial_stiffness: 40,\n"
                                  "          bending_stiffness: 2e-3, damping: 0.1, from: [0, 0, 0], to: [1, 0, 0]}\n",
                                  MASS, "spherical");
/* The node may go around the mass: where the motion puts it depends on where it was. */
static const char swing[] =
    TOWED("swing", "a",
          "  swing: {kind: ancf-cable, elements: 4, mass: 0.1, axial_stiffness: 40,\n"
          "          bending_stiffness: 2e-3, damping: 0.1, from: [0.2, 0.1, 0.2], to: [1.2, 0.1, 0.2]}\n",
          MASS, "distance");
static const char hose[] = TOWED("hose", "a",
                                 "  hose: {kind: cosserat-rod, elements: 3, length: 1, section: {circle: 0.05}, young: "
                                 "1e4, density: 1100, damping: 0.01, direction: [1, 0, 0]}\n",
                                 MASS, "spherical");
static const char arm[]  = TOWED("arm", "a",
                                 "  arm: {kind: cosserat-rod, elements: 3, length: 1, section: {circle: 0.05}, young: "
                                  "1e4, density: 1100, damping: 0.01, direction: [1, 0, 0]}\n",
                                 BLOCK, "fixed");
static const char beam[] =
    TOWED("beam", "tip",
          "  beam: {kind: linear, mass: [[1, 0, 0, 0.2], [0, 1, 0, 0.1], [0, 0, 1, 0], [0.2, 0.1, 0, 0.5]],\n"
          "         stiffness: [[90, 0, 0, -40], [0, 60, 0, 0], [0, 0, 70, 0], [-40, 0, 0, 80]],\n"
          "         frames: {tip: {x: 1, y: 2, z: 3, at: [0, 0, 0]}}}\n",
          MASS, "spherical");

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

/* Largest difference in units of the largest entry; entries that the pattern leaves out are 0. */
static double error_of(const char *text, yoke_dae_form form, bool *is_band) {
  cosim     c;
  yoke_dae *dae  = NULL;
  uint32_t  seed = 7u;
  cosim_open(&c, text, NULL);
  cosim_expect(&c, YOKE_OK);
  const native         *n = c.system->subsystems[1]->self;
  const yoke_equations *e = &n->equations;
  assert_true(n->is_prescribed);
  assert_int_equal(e->ops->dae_create(e->self, c.ctx, form, &dae), YOKE_OK);
  const yoke_pattern *at   = dae->pattern;
  const size_t        size = (size_t)dae->nx;
  void               *work = calloc(1, e->work_size);
  double *x = calloc(size, sizeof *x), *u = calloc((size_t)e->nu, sizeof *u), *J = calloc((size_t)at->nnz, sizeof *J);
  double *dense = calloc(size * size, sizeof *dense), *F[4], largest = 0.0, error = 0.0;
  for (int k = 0; k < 4; ++k) F[k] = calloc(size, sizeof *F[k]);
  scatter_inputs(n, &seed, u);
  memcpy(x, n->q_start, (size_t)e->nq * sizeof *x);
  memcpy(x + dae->i_v, n->v_start, (size_t)e->nv * sizeof *x);
  for (int i = 0; i < dae->nx; ++i) x[i] += 0.02 * pseudo_random(&seed);
  assert_int_equal(e->ops->dae_jacobian(e->self, dae, work, 0.0, x, u, J), YOKE_OK);
  for (int j = 0; j < dae->nx; ++j) {
    for (int k = at->col_start[j]; k < at->col_start[j + 1]; ++k) {
      dense[(size_t)at->row[k] * size + (size_t)j] = J[k];
      largest                                      = fmax(largest, fabs(J[k]));
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
      error          = fmax(error, fabs(d - dense[i * size + (size_t)j]));
    }
  }
  *is_band = dae->inner != NULL;
  for (int k = 0; k < 4; ++k) free(F[k]);
  free(x), free(u), free(J), free(dense), free(work);
  yoke_dae_destroy(&dae);
  cosim_close(&c);
  return error / largest;
}

static void the_jacobian_of_a_prescribed_part_is_the_derivative(void **state) {
  static const struct {
    const char *name, *text;
    bool        is_band;
    double      allowed; /* without a band all of it is one-sided differences */
  } parts[] = {{"cable", cable, true, 1e-9},
               {"cable at a distance", swing, true, 1e-7},
               {"linear body", beam, true, 1e-9},
               {"hose", hose, false, 1e-5},
               {"arm", arm, false, 1e-5}};
  (void)state;
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i) {
    bool         is_band;
    const double error = error_of(parts[i].text, YOKE_DAE_INDEX1, &is_band);
    print_message("%-20s %.1e\n", parts[i].name, error);
    assert_int_equal(is_band, parts[i].is_band);
    if (!(error < parts[i].allowed)) fail_msg("%s: %g", parts[i].name, error);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_jacobian_of_a_prescribed_part_is_the_derivative),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
