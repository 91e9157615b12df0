/* Cable elements against the check values of their specification, finite differences and theory. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "linalg/space.h"
#include "model/cable.h"
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi      = 3.14159265358979323846;
static const double none[3] = {0.0, 0.0, 0.0};

/* gonzalez 5.3 */
static const double bent[12] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.5, 0.3, 0.1, 0.9, 0.4, 0.2};
static const double rest[60] = {0.0};

static yoke_cable cable_of(int n_elements, double length, double radius, double density, double E) {
  const double A = pi * radius * radius;
  return (yoke_cable){.n_elements        = n_elements,
                      .element_length    = length / n_elements,
                      .mass_per_length   = density * A,
                      .axial_stiffness   = E * A,
                      .bending_stiffness = E * A * radius * radius / 4.0,
                      .n_axial           = 5,
                      .n_bending         = 3};
}

static double strain_energy(const yoke_cable *cable, const double *q, const double *v) {
  double kinetic = 0.0, potential = 0.0;
  yoke_cable_energy(cable, none, q, v, &kinetic, &potential);
  return potential;
}

static void energy_of_one_element_is_that_of_the_specification(void **state) {
  (void)state;
  const struct {
    int    axial, bending;
    double U;
  } cases[] = {{5, 3, 25.6316523609}, {3, 5, 25.5079776530}, {5, 5, 25.6317337182}};
  for (int i = 0; i < 3; ++i) {
    yoke_cable cable = cable_of(1, 1.6, 0.02, 7200.0, 2e7);
    cable.n_axial    = cases[i].axial;
    cable.n_bending  = cases[i].bending;
    assert_true(fabs(strain_energy(&cable, bent, rest) - cases[i].U) < 1e-9);
  }
}

static void forces_of_one_element_are_those_of_the_specification(void **state) {
  (void)state;
  const double     Q[12] = {913.22494,  182.39345,  52.16639,  126.775182, 50.5054023,  18.1946585,
                            -913.22494, -182.39345, -52.16639, 127.744896, 0.239165770, -6.35398718};
  const yoke_cable cable = cable_of(1, 1.6, 0.02, 7200.0, 2e7);
  double           f[12], force[3] = {0.0}, moment[3] = {0.0};
  yoke_cable_force(&cable, none, bent, rest, f);
  for (int i = 0; i < 12; ++i) assert_true(fabs(f[i] + Q[i]) < 1e-8 * fmax(1.0, fabs(Q[i])) + 5e-6);
  for (int k = 0; k < 4; ++k) {
    if (k % 2 == 0) vec3_add(force, 1.0, f + 3 * k);
    vec3_add_cross(moment, 1.0, bent + 3 * k, f + 3 * k);
  }
  assert_true(vec3_norm(force) < 1e-10 && vec3_norm(moment) < 1e-10);
}

static double pseudo_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

/* Three elements that are bent, stretched and moving. */
enum { N = 24 };

static yoke_cable scattered(double *q, double *v) {
  yoke_cable cable    = cable_of(3, 1.5, 0.02, 7200.0, 2e6);
  uint32_t   seed     = 7u;
  cable.damping       = 0.3;
  cable.axial_damping = 0.02;
  for (int i = 0; i < N; ++i) {
    q[i] = 0.2 * pseudo_random(&seed);
    v[i] = pseudo_random(&seed);
    if (i % 6 == 0) q[i] += 0.5 * (i / 6);
    if (i % 6 == 3) q[i] += 1.0;
  }
  return cable;
}

static void forces_are_the_gradient_of_the_energy(void **state) {
  (void)state;
  const double gravity[3] = {0.3, -9.81, 0.7};
  double       q[N], v[N], f[N], size = 0.0;
  yoke_cable   cable  = scattered(q, v);
  cable.damping       = 0.0;
  cable.axial_damping = 0.0;
  yoke_cable_force(&cable, gravity, q, v, f);
  for (int i = 0; i < N; ++i) size = fmax(size, fabs(f[i]));
  for (int i = 0; i < N; ++i) {
    double       U[4], kinetic = 0.0;
    const double x = q[i], h = 1e-4, step[4] = {-2.0 * h, -h, h, 2.0 * h};
    for (int k = 0; k < 4; ++k) {
      U[k] = 0.0;
      q[i] = x + step[k];
      yoke_cable_energy(&cable, gravity, q, v, &kinetic, &U[k]);
    }
    q[i] = x;
    assert_true(fabs((8.0 * (U[2] - U[1]) - (U[3] - U[0])) / (12.0 * h) + f[i]) < 1e-8 * size);
  }
}

typedef struct blocks {
  double K[N * N], D[N * N];
} blocks;

static void collect(void *user, bool by_velocity, int row, int column, int size, const double *A) {
  blocks *b = user;
  for (int i = 0; i < size * size; ++i) (by_velocity ? b->D : b->K)[(row + i / size) * N + column + i % size] += A[i];
}

static void jacobians_are_the_derivatives_of_the_forces(void **state) {
  (void)state;
  double           q[N], v[N], size[2] = {0.0, 0.0};
  const yoke_cable cable = scattered(q, v);
  blocks          *b     = calloc(1, sizeof *b);
  yoke_cable_jacobian(&cable, q, v, collect, b);
  for (int i = 0; i < N * N; ++i) {
    size[0] = fmax(size[0], fabs(b->K[i]));
    size[1] = fmax(size[1], fabs(b->D[i]));
  }
  for (int k = 0; k < 2 * N; ++k) {
    double      *x = k < N ? &q[k] : &v[k - N], at = *x, f[4][N];
    const double h = k < N ? 1e-4 : 1e-2, step[4] = {-2.0 * h, -h, h, 2.0 * h}, *J = k < N ? b->K : b->D;
    for (int s = 0; s < 4; ++s) {
      *x = at + step[s];
      yoke_cable_force(&cable, none, q, v, f[s]);
    }
    *x = at;
    for (int i = 0; i < N; ++i) {
      const double slope = (8.0 * (f[2][i] - f[1][i]) - (f[3][i] - f[0][i])) / (12.0 * h);
      assert_true(fabs(J[i * N + k % N] - slope) < 1e-8 * size[k / N]);
    }
  }
  free(b);
}

/* Mass matrix [n, n] of the freedoms. */
typedef struct full_mass {
  double *M;
  int     n;
} full_mass;

static void fill_mass(void *user, int row, int column, double value) {
  const full_mass *m = user;
  for (int k = 0; k < 3; ++k) m->M[(3 * row + k) * m->n + 3 * column + k] += value;
}

typedef struct full_stiffness {
  double *K;
  int     n;
} full_stiffness;

static void fill_stiffness(void *user, bool by_velocity, int row, int column, int size, const double *A) {
  const full_stiffness *s = user;
  for (int i = 0; !by_velocity && i < size * size; ++i) s->K[(row + i / size) * s->n + column + i % size] -= A[i];
}

/* Straight along x, both ends pinned: squares of the angular frequencies, rising; their number. */
static int pinned_frequencies(const yoke_cable *cable, double *w2) {
  const int n = 6 * (cable->n_elements + 1), last = 6 * cable->n_elements;
  double   *M = calloc((size_t)(n * n), sizeof *M), *K = calloc((size_t)(n * n), sizeof *K);
  double   *q = calloc((size_t)n, sizeof *q), *v = calloc((size_t)n, sizeof *v);
  for (int k = 0; k <= cable->n_elements; ++k) {
    q[6 * k]     = k * cable->element_length;
    q[6 * k + 3] = 1.0;
  }
  full_mass      m = {M, n};
  full_stiffness s = {K, n};
  yoke_cable_mass(cable, fill_mass, &m);
  yoke_cable_jacobian(cable, q, v, fill_stiffness, &s);
  int free_of[200], count = 0;
  for (int i = 0; i < n; ++i) {
    if ((i < 3) || (i >= last && i < last + 3)) continue;
    free_of[count++] = i;
  }
  double *A = calloc((size_t)(count * count), sizeof *A), *B = calloc((size_t)(count * count), sizeof *B);
  for (int i = 0; i < count * count; ++i) {
    A[i] = K[free_of[i / count] * n + free_of[i % count]];
    B[i] = M[free_of[i / count] * n + free_of[i % count]];
  }
  assert_int_equal(LAPACKE_dsygv(LAPACK_ROW_MAJOR, 1, 'N', 'U', count, A, count, B, count, w2), 0);
  free(M), free(K), free(q), free(v), free(A), free(B);
  return count;
}

static void frequencies_of_a_pinned_cable_are_those_of_the_specification(void **state) {
  (void)state;
  const yoke_cable cable = cable_of(5, 8.0, 0.02, 7200.0, 2e7);
  double           w2[100], nearest = 0.0;
  const int        n = pinned_frequencies(&cable, w2);
  assert_true(fabs(sqrt(w2[n - 1]) - 213.4781) < 1e-4);
  for (int i = 0; i < n; ++i) {
    if (w2[i] > 0.0 && fabs(sqrt(w2[i]) - 20.69708) < fabs(nearest - 20.69708)) nearest = sqrt(w2[i]);
  }
  assert_true(fabs(nearest - 20.69708) < 1e-5);
}

static void frequencies_of_a_slender_beam_are_those_of_theory(void **state) {
  (void)state;
  const yoke_cable cable = cable_of(10, 1.0, 0.005, 1100.0, 5e6);
  const double     EI = cable.bending_stiffness, m = cable.mass_per_length;
  double           w2[200];
  (void)pinned_frequencies(&cable, w2);
  for (int k = 1; k <= 3; ++k) { /* in two planes */
    const double exact = pow(k * pi, 4.0) * EI / m;
    for (int i = 2 * k - 2; i < 2 * k; ++i) assert_true(fabs(w2[i] / exact - 1.0) < 2e-3);
  }
}

static void a_cable_that_falls_freely_is_not_strained(void **state) {
  (void)state;
  const double     gravity[3] = {0.0, 0.0, -9.81};
  const yoke_cable cable      = cable_of(3, 1.5, 0.02, 7200.0, 2e6);
  double           q[N] = {0.0}, v[N] = {0.0}, f[N], Mg[N] = {0.0}, M[N * N] = {0.0};
  full_mass        m = {M, N};
  for (int k = 0; k < 4; ++k) {
    q[6 * k]     = 0.5 * k;
    q[6 * k + 3] = 1.0;
  }
  yoke_cable_force(&cable, gravity, q, v, f);
  yoke_cable_mass(&cable, fill_mass, &m);
  for (int i = 0; i < N; ++i) {
    for (int k = 0; k < 4; ++k) Mg[i] += M[i * N + 6 * k + 2] * -9.81; /* r'' = g, r_x'' = 0 */
    assert_true(fabs(f[i] - Mg[i]) < 1e-12 * fabs(9.81 * cable.mass_per_length));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(energy_of_one_element_is_that_of_the_specification),
      cmocka_unit_test(forces_of_one_element_are_those_of_the_specification),
      cmocka_unit_test(forces_are_the_gradient_of_the_energy),
      cmocka_unit_test(jacobians_are_the_derivatives_of_the_forces),
      cmocka_unit_test(frequencies_of_a_pinned_cable_are_those_of_the_specification),
      cmocka_unit_test(frequencies_of_a_slender_beam_are_those_of_theory),
      cmocka_unit_test(a_cable_that_falls_freely_is_not_strained),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
