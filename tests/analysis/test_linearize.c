/* Rest states and linearisation: closed forms, and differences of the equations themselves along motions that fit the joints. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/cosimulate.h"
#include "analysis/equilibrium.h"
#include "analysis/linearize.h"
#include "analysis/spectrum.h"

typedef struct bench {
  cosim              c;
  yoke_whole_model   whole;
  yoke_linearization l;
} bench;

static void bench_open(bench *b, const char *path, const char *sets) {
  *b = (bench){0};
  if (cosim_load(&b->c, path, sets) != YOKE_OK ||
      yoke_whole_model_create(b->c.ctx, b->c.model, 0, NULL, &b->whole) != YOKE_OK) {
    cosim_print(b->c.ctx);
    fail_msg("%s", path);
  }
}

static void bench_rest(bench *b) {
  if (yoke_equilibrium_find(b->c.ctx, &b->whole, NULL, NULL) == YOKE_OK) return;
  cosim_print(b->c.ctx);
  fail_msg("no rest state");
}

static void bench_linearize(bench *b) {
  const yoke_linearize_def def = {.model     = b->c.model,
                                  .equations = &b->whole.equations,
                                  .mb        = b->whole.mb,
                                  .t         = b->c.model->t_start,
                                  .q         = b->whole.q,
                                  .v         = b->whole.v};
  yoke_linearization_clear(&b->l);
  if (yoke_linearize(b->c.ctx, &def, &b->l) == YOKE_OK) return;
  cosim_print(b->c.ctx);
  fail_msg("not linearised");
}

static void bench_close(bench *b) {
  yoke_linearization_clear(&b->l);
  yoke_whole_model_clear(&b->whole);
  cosim_close(&b->c);
}

/* Sorted |Im| of all eigenvalues, one per pair; n is returned. */
static int frequencies(const bench *b, double *omega, double *damping) {
  double    re[128], im[128];
  const int n     = b->l.n_x;
  int       count = 0;
  assert_true(n <= 128);
  assert_int_equal(yoke_eigenvalues(n, b->l.A, re, im), YOKE_OK);
  for (int i = 0; i < n; ++i) {
    if (im[i] <= 0.0) continue;
    int at = count++;
    for (; at > 0 && omega[at - 1] > im[i]; --at) {
      omega[at]   = omega[at - 1];
      damping[at] = damping[at - 1];
    }
    omega[at]   = im[i];
    damping[at] = re[i];
  }
  return count;
}

/* ---- closed forms ---- */

static void two_masses_have_their_matrix(void **state) {
  (void)state;
  bench b;
  bench_open(&b, "examples/two-mass.yaml", NULL);
  bench_linearize(&b);
  assert_int_equal(b.l.n_x, 4);
  const double A[16] = {0, 0, 1, 0, 0, 0, 0, 1, -2000, 1000, -20, 10, 500, -1000, 5, -10};
  for (int i = 0; i < 16; ++i) CHECK_NEAR(b.l.A[i], A[i], 1e-10);
  bench_close(&b);
}

static void rigidly_joined_masses_are_one_oscillator(void **state) {
  (void)state;
  bench  b;
  double omega[8], damping[8];
  bench_open(&b, "examples/two-mass-rigid.yaml", NULL);
  bench_linearize(&b);
  assert_int_equal(b.l.n_x, 2);
  assert_int_equal(frequencies(&b, omega, damping), 1);
  CHECK_NEAR(damping[0], -20.0 / 6.0, 1e-10); /* m = 3, c = 2000, d = 20 */
  CHECK_NEAR(omega[0], sqrt(2000.0 / 3.0 - 100.0 / 9.0), 1e-10);
  bench_close(&b);
}

static const char pendulum[] =
    "yoke: 1\nname: pendulum\nparameters: {l: 2, m: 3, J: 1, phi: 1.1}\ngravity: [0, -9.81, 0]\nt_end: 1\n"
    "bodies:\n  rod: {kind: planar, mass: m, inertia: J, position: [l*sin(phi), -l*cos(phi)], angle: phi, frames: "
    "{top: [0, l]}}\n"
    "connections:\n  pin: {kind: revolute, between: [ground, rod.top]}\n";

static void pendulum_swings_about_its_lowest_point(void **state) {
  (void)state;
  bench  b;
  double omega[8], damping[8];
  bench_open(&b, pendulum, NULL);
  bench_rest(&b);
  CHECK_NEAR(b.whole.q[0], 0.0, 1e-9);
  CHECK_NEAR(b.whole.q[1], -2.0, 1e-9);
  bench_linearize(&b);
  assert_int_equal(b.l.n_freedoms, 1);
  assert_int_equal(b.l.coordinate[0], 2); /* the angle */
  assert_int_equal(frequencies(&b, omega, damping), 1);
  CHECK_NEAR(omega[0], sqrt(3.0 * 9.81 * 2.0 / (1.0 + 3.0 * 4.0)), 1e-9);
  bench_close(&b);
}

/* Newton's method alone would climb to the crest next to the start. */
static void pendulum_near_the_top_comes_to_rest_at_the_bottom(void **state) {
  (void)state;
  static const char *const starts[] = {"parameters.phi=3.1", "parameters.phi=-3", "parameters.phi=2",
                                       "parameters.phi=pi/2"};
  for (size_t i = 0; i < sizeof starts / sizeof *starts; ++i) {
    bench b;
    bench_open(&b, pendulum, starts[i]);
    bench_rest(&b);
    CHECK_NEAR(b.whole.q[1], -2.0, 1e-9);
    bench_close(&b);
  }
}

static void pendulum_upright_falls_at_its_own_rate(void **state) {
  (void)state;
  bench  b;
  double re[2], im[2];
  bench_open(&b, pendulum, "parameters.phi=pi");
  bench_rest(&b); /* a start at rest is kept */
  CHECK_NEAR(b.whole.q[1], 2.0, 1e-9);
  bench_linearize(&b);
  assert_int_equal(yoke_eigenvalues(2, b.l.A, re, im), YOKE_OK);
  CHECK_NEAR(fmax(re[0], re[1]), sqrt(3.0 * 9.81 * 2.0 / 13.0), 1e-9);
  bench_close(&b);
}

/* phi'' = -(m g l / I) sin phi: linear at any angle, moving or not, with coefficient cos phi. */
static void pendulum_is_linearised_in_motion(void **state) {
  (void)state;
  bench b;
  bench_open(&b, pendulum, NULL);
  b.whole.v[2]            = 3.0;
  const yoke_equations *e = &b.whole.equations;
  b.whole.v[0]            = 3.0 * 2.0 * cos(1.1);
  b.whole.v[1]            = 3.0 * 2.0 * sin(1.1);
  assert_int_equal(e->ops->project_velocity(e->self, b.whole.work, 0.0, b.whole.q, b.whole.v), YOKE_OK);
  CHECK_NEAR(b.whole.v[2], 3.0, 1e-9);
  bench_linearize(&b);
  const double k = 3.0 * 9.81 * 2.0 / 13.0;
  CHECK_NEAR(b.l.A[0], 0.0, 1e-12);
  CHECK_NEAR(b.l.A[1], 1.0, 1e-12);
  CHECK_NEAR(b.l.A[2], -k * cos(1.1), 1e-9);
  CHECK_NEAR(b.l.A[3], 0.0, 1e-9);
  CHECK_NEAR(b.l.f0[0], 3.0, 1e-9);
  CHECK_NEAR(b.l.f0[1], -k * sin(1.1), 1e-9);
  bench_close(&b);
}

/* Two equal rods (m = 1, l = 1, J = 1/12): det(K - w^2 M) = 0 with M = [4/3, 1/2; 1/2, 1/3], K = g [3/2, 0; 0, 1/2]. */
static void double_pendulum_has_its_two_frequencies(void **state) {
  (void)state;
  bench  b;
  double omega[8], damping[8];
  bench_open(&b, "examples/double-pendulum.yaml", NULL);
  for (int i = 0; i < b.c.model->n_loads; ++i) {
    b.c.model->loads[i].drag_linear = b.c.model->loads[i].drag_quadratic = b.c.model->loads[i].drag_rotational = 0.0;
  }
  bench_rest(&b);
  bench_linearize(&b);
  assert_int_equal(frequencies(&b, omega, damping), 2);
  const double g = 9.81, a = 4.0 / 9.0 - 0.25, k = -(1.5 / 3.0 + 0.5 * 4.0 / 3.0) * g, c = 0.75 * g * g;
  for (int s = 0; s < 2; ++s)
    CHECK_NEAR(omega[s] * omega[s], (-k + (s == 0 ? -1.0 : 1.0) * sqrt(k * k - 4.0 * a * c)) / (2.0 * a), 1e-7);
  bench_close(&b);
}

/* n masses between walls: 2 sqrt(c/m) sin(k pi / (2 (n + 1))). */
static void chain_has_its_frequencies(void **state) {
  (void)state;
  bench  b;
  double omega[64], damping[64];
  bench_open(
      &b, "yoke: 1\nname: chain\nt_end: 1\nbodies:\n  c: {kind: chain, n: 12, mass: 2, stiffness: 800, damping: 0}\n",
      NULL);
  bench_rest(&b);
  bench_linearize(&b);
  assert_int_equal(frequencies(&b, omega, damping), 12);
  for (int k = 1; k <= 12; ++k) CHECK_NEAR(omega[k - 1], 2.0 * sqrt(400.0) * sin(k * M_PI / 26.0), 1e-9);
  bench_close(&b);
}

/* ---- differences of the equations ---- */

static double noise(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

/* Tangent from q0 to q: differences of coordinates, for rigid bodies twice the vector part of conj(p0) p. */
static void tangent_to(const bench *b, const double *q0, const double *q, double *d) {
  for (int k = 0; k < b->c.model->n_bodies; ++k) {
    const yoke_body *body = &b->c.model->bodies[k];
    const int        iq = yoke_multibody_q_offset(b->whole.mb, k), iv = yoke_multibody_v_offset(b->whole.mb, k);
    const int        n = body->kind == YOKE_BODY_RIGID ? 3 : yoke_body_nv(body);
    for (int i = 0; i < n; ++i) d[iv + i] = q[iq + i] - q0[iq + i];
    if (body->kind != YOKE_BODY_RIGID) continue;
    const double *p = q0 + iq + 3, *r = q + iq + 3;
    d[iv + 3] = 2.0 * (p[0] * r[1] - p[1] * r[0] - p[2] * r[3] + p[3] * r[2]);
    d[iv + 4] = 2.0 * (p[0] * r[2] + p[1] * r[3] - p[2] * r[0] - p[3] * r[1]);
    d[iv + 5] = 2.0 * (p[0] * r[3] - p[1] * r[2] + p[2] * r[1] - p[3] * r[0]);
  }
}

/* A state near the point along x = h (dxi, deta), back on the constraints; its x, and the independent accelerations there. */
static void sample(bench *b, double h, const double *direction, double *x, double *rate) {
  const yoke_equations *e  = &b->whole.equations;
  const size_t          nf = (size_t)b->l.n_freedoms, nv = (size_t)e->nv;
  double                q[256], v[256], a[256], move[256], d[256];
  assert_true(e->nq <= 256);
  memcpy(q, b->whole.q, (size_t)e->nq * sizeof *q);
  for (size_t i = 0; i < nv; ++i) {
    move[i] = 0.0;
    v[i]    = b->whole.v[i];
    for (size_t j = 0; j < nf; ++j) {
      move[i] += h * b->l.N[i * nf + j] * direction[j];
      v[i] += h * b->l.N[i * nf + j] * direction[nf + j];
    }
  }
  yoke_multibody_move(b->whole.mb, q, move);
  if (e->ng > 0) {
    assert_int_equal(e->ops->project_position(e->self, b->whole.work, 0.0, q), YOKE_OK);
    assert_int_equal(e->ops->project_velocity(e->self, b->whole.work, 0.0, q, v), YOKE_OK);
  }
  assert_int_equal(e->ops->derivative(e->self, b->whole.work, 0.0, q, v, NULL, NULL, a, NULL), YOKE_OK);
  tangent_to(b, b->whole.q, q, d);
  for (size_t j = 0; j < nf; ++j) {
    const int k = b->l.coordinate[j];
    x[j]        = d[k];
    x[nf + j]   = v[k] - b->whole.v[k];
    rate[j]     = a[k];
  }
}

/* The linear part of the accelerations along random directions against differences of the equations, at a random motion. */
static void check_accelerations(const char *path, bool moving, double tolerance) {
  bench    b;
  uint32_t seed = 7;
  bench_open(&b, path, NULL);
  const yoke_equations *e = &b.whole.equations;
  for (int i = 0; i < e->nv; ++i) b.whole.v[i] = moving ? noise(&seed) : 0.0;
  if (e->ng > 0 && moving)
    assert_int_equal(e->ops->project_velocity(e->self, b.whole.work, 0.0, b.whole.q, b.whole.v), YOKE_OK);
  bench_linearize(&b);
  const int n = b.l.n_x, nf = b.l.n_freedoms;
  double    x[2][256], rate[2][128], direction[256];
  for (int trial = 0; trial < 3; ++trial) {
    double size = 0.0, off = 0.0;
    for (int j = 0; j < n; ++j) direction[j] = noise(&seed);
    for (int s = 0; s < 2; ++s) sample(&b, s == 0 ? 1e-5 : -1e-5, direction, x[s], rate[s]);
    for (int i = 0; i < nf; ++i) {
      const double found = (rate[0][i] - rate[1][i]) / 2e-5;
      double       sum   = 0.0;
      for (int j = 0; j < n; ++j) sum += b.l.A[(size_t)(nf + i) * (size_t)n + (size_t)j] * (x[0][j] - x[1][j]) / 2e-5;
      size = fmax(size, fabs(found));
      off  = fmax(off, fabs(found - sum));
    }
    if (!(off <= tolerance * fmax(size, 1.0)))
      fail_msg("%s%s: off by %.3g of %.3g", path, moving ? ", moving" : "", off, size);
  }
  bench_close(&b);
}

static void accelerations_follow_the_equations(void **state) {
  (void)state;
  static const char *const files[] = {"pendulum",
                                      "double-pendulum",
                                      "four-bar-fixed",
                                      "four-bar-bushing",
                                      "n-four-bar",
                                      "slider-crank",
                                      "squeezer",
                                      "heavy-top",
                                      "bricard",
                                      "two-mass-rigid",
                                      "pendulum-chain",
                                      "double-pendulum-flexible",
                                      "slider-crank-flexible"};
  for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
    char path[128];
    snprintf(path, sizeof path, "examples/%s.yaml", files[i]);
    check_accelerations(path, false, 1e-5);
    check_accelerations(path, true, 1e-5);
  }
}

/* Loads and a law that read accelerations and forces of joints. */
#define FELT                                                                                                           \
  "yoke: 1\n"                                                                                                          \
  "t_end: 1\n"                                                                                                         \
  "gravity: [0, -9.81, 0]\n"                                                                                           \
  "bodies:\n"                                                                                                          \
  "  upper: {kind: planar, mass: 1, inertia: 0.1, position: [0.5, 0], frames: {root: [-0.5, 0], tip: [0.5, 0]}}\n"     \
  "  lower: {kind: planar, mass: 1, inertia: 0.1, position: [1.5, 0], frames: {root: [-0.5, 0], tip: [0.5, 0]}}\n"     \
  "connections:\n"                                                                                                     \
  "  hinge: {kind: revolute, between: [upper.root, ground]}\n"                                                         \
  "  knee: {kind: revolute, between: [lower.root, upper.tip]}\n"                                                       \
  "  twist: {kind: torsion-spring, between: [upper, lower], law: '2*x + 0.1*v + 0.03*lower.tip.ay'}\n"                 \
  "loads:\n"                                                                                                           \
  "  a: {kind: expression, on: upper, torque: '0.1*hinge.force[2] + 0.02*knee.force[1]*upper.omega'}\n"                \
  "  b: {kind: expression, on: lower.tip, force: ['-0.1*lower.tip.ax', '0.05*sin(lower.alpha)']}\n"

static void loads_that_read_accelerations_and_forces_of_joints_are_linearised(void **state) {
  bench b;
  (void)state;
  check_accelerations(FELT, false, 1e-5);
  check_accelerations(FELT, true, 1e-5);
  bench_open(&b, FELT, NULL);
  bench_rest(&b);
  bench_close(&b);
}

/* ---- rest states ---- */

static void a_falling_body_has_no_rest_state(void **state) {
  (void)state;
  bench b;
  bench_open(&b,
             "yoke: 1\nname: stone\nt_end: 1\ngravity: [0, 0, -9.81]\nbodies:\n  stone: {kind: particle, mass: 1}\n",
             NULL);
  assert_int_equal(yoke_equilibrium_find(b.c.ctx, &b.whole, NULL, NULL), YOKE_E_NOT_CONVERGED);
  assert_non_null(strstr(yoke_context_message(b.c.ctx, 0), "stone.vz"));
  bench_close(&b);
}

static void rest_states_of_examples_do_not_accelerate(void **state) {
  (void)state;
  static const char *const files[] = {"pendulum", "double-pendulum", "four-bar-fixed", "four-bar-bushing",
                                      "two-mass", "pendulum-chain",  "slider-crank",   "double-pendulum-flexible",
                                      "heavy-top"};
  for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
    char   path[128];
    double a[256];
    bench  b;
    snprintf(path, sizeof path, "examples/%s.yaml", files[i]);
    bench_open(&b, path, NULL);
    bench_rest(&b);
    const yoke_equations *e = &b.whole.equations;
    assert_int_equal(e->ops->derivative(e->self, b.whole.work, 0.0, b.whole.q, b.whole.v, NULL, NULL, a, NULL),
                     YOKE_OK);
    for (int k = 0; k < e->nv; ++k) {
      if (!(fabs(a[k]) < 1e-8)) fail_msg("%s: a[%d] = %g", path, k, a[k]);
    }
    bench_close(&b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_masses_have_their_matrix),
      cmocka_unit_test(rigidly_joined_masses_are_one_oscillator),
      cmocka_unit_test(pendulum_swings_about_its_lowest_point),
      cmocka_unit_test(pendulum_near_the_top_comes_to_rest_at_the_bottom),
      cmocka_unit_test(pendulum_upright_falls_at_its_own_rate),
      cmocka_unit_test(pendulum_is_linearised_in_motion),
      cmocka_unit_test(double_pendulum_has_its_two_frequencies),
      cmocka_unit_test(chain_has_its_frequencies),
      cmocka_unit_test(accelerations_follow_the_equations),
      cmocka_unit_test(loads_that_read_accelerations_and_forces_of_joints_are_linearised),
      cmocka_unit_test(a_falling_body_has_no_rest_state),
      cmocka_unit_test(rest_states_of_examples_do_not_accelerate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
