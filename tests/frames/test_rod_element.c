/* Elements of rods: their forces against differences of the energy, derivatives of the forces, and what they lose. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "frames/force_elements.h"
#include "linalg/space.h"
#include <float.h>
#include <math.h>
#include <string.h>

static double pseudo_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

/* The cable of the sources in pieces of 0.1 m, with strains and rates of order 1. */
static yoke_rod_element element(int owner, bool is_damped) {
  yoke_rod_element el = {.owner     = owner,
                         .edge      = 0.1,
                         .bend      = 0.05,
                         .stiffness = {130.9, 120.0, 392.7, 2.5e-3, 3.5e-3, 1.6e-3},
                         .natural   = {0.01, -0.02, 0.03, 0.5, -0.3, 0.2}};
  for (int i = 0; is_damped && i < 6; ++i) el.damping[i] = (0.01 + 0.002 * i) * el.stiffness[i];
  return el;
}

static void random_poses(uint32_t seed, yoke_pose pose[2]) {
  double p[4], turn[4] = {3.0, 0.0, 0.0, 0.0}, A[9];
  memset(pose, 0, 2 * sizeof *pose);
  for (int i = 0; i < 4; ++i) p[i] = pseudo_random(&seed);
  for (int i = 1; i < 4; ++i) turn[i] = pseudo_random(&seed);
  quaternion_rotation(pose[0].R, p);
  quaternion_rotation(A, turn);
  mat3_multiply(pose[1].R, pose[0].R, A);
  for (int i = 0; i < 3; ++i) {
    pose[0].r[i] = pseudo_random(&seed);
    pose[1].r[i] = pose[0].r[i] + 0.1 * pose[0].R[3 * i + 2] + 0.02 * pseudo_random(&seed);
    for (int s = 0; s < 2; ++s) {
      pose[s].v[i] = pseudo_random(&seed);
      pose[s].w[i] = 3.0 * pseudo_random(&seed);
    }
  }
}

/* The pose moved by h in direction k of (dr, dphi), angular velocities fixed in body axes. */
static yoke_pose moved(const yoke_pose *pose, int k, double h) {
  yoke_pose out     = *pose;
  double    turn[4] = {cos(0.5 * h), 0.0, 0.0, 0.0}, A[9];
  if (k < 3) {
    out.r[k] += h;
    return out;
  }
  turn[k - 2] = sin(0.5 * h);
  quaternion_rotation(A, turn);
  mat3_multiply(out.R, A, pose->R);
  mat3_apply(out.w, A, pose->w);
  return out;
}

static yoke_pose sped_up(const yoke_pose *pose, int k, double h) {
  yoke_pose out = *pose;
  (k < 3 ? out.v : out.w)[k % 3] += h;
  return out;
}

static double energy_at(const yoke_rod_element *el, const yoke_pose pose[2]) {
  double energy = 0.0, power = 0.0;
  yoke_rod_element_energy(el, &pose[0], &pose[1], &energy, &power);
  return energy;
}

/* Differences of fourth order of the energy. */
static void forces_are_minus_the_gradient_of_the_energy(void **state) {
  (void)state;
  for (uint32_t trial = 0; trial < 20; ++trial) {
    const yoke_rod_element el = element((int)trial % 2, false);
    yoke_pose              pose[2];
    double                 f[12];
    random_poses(trial + 1u, pose);
    yoke_rod_element_force(&el, &pose[0], &pose[1], f);
    double size = 0.0;
    for (int k = 0; k < 12; ++k) size = fmax(size, fabs(f[k]));
    for (int k = 0; k < 12; ++k) {
      const double h = k % 6 < 3 ? 2e-4 : 2e-3;
      double       E[4];
      for (int i = 0; i < 4; ++i) {
        yoke_pose at[2] = {pose[0], pose[1]};
        at[k / 6]       = moved(&pose[k / 6], k % 6, (i < 2 ? i - 2 : i - 1) * h);
        E[i]            = energy_at(&el, at);
      }
      CHECK_NEAR(-(E[0] - 8.0 * E[1] + 8.0 * E[2] - E[3]) / (12.0 * h), f[k], 1e-8 * size);
    }
  }
}

static void forces_and_moments_are_in_balance(void **state) {
  (void)state;
  const yoke_rod_element el = element(1, true);
  yoke_pose              pose[2];
  double                 f[12], moment[3] = {0.0};
  random_poses(5u, pose);
  yoke_rod_element_force(&el, &pose[0], &pose[1], f);
  for (int s = 0; s < 2; ++s) {
    vec3_add(moment, 1.0, f + 6 * s + 3);
    vec3_add_cross(moment, 1.0, pose[s].r, f + 6 * s);
  }
  for (int i = 0; i < 3; ++i) {
    CHECK_NEAR(f[i] + f[6 + i], 0.0, 1e-13);
    CHECK_NEAR(moment[i], 0.0, 1e-13);
  }
}

/* Differences of eighth order: what they leave out is below rounding, because forces are polynomials in positions and velocities, and sines and
 * cosines of the rotations. Every force and every moment is measured by the largest derivative of its own vector; where that is zero rounding is left. */
static void derivatives_of_the_forces_are_those_of_differences(void **state) {
  (void)state;
  static const double weight[4] = {4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0}, h = 0.03;
  for (uint32_t trial = 0; trial < 20; ++trial) {
    const yoke_rod_element el = element((int)trial % 2, true);
    yoke_pose              pose[2];
    double                 f[12], K[144], D[144];
    random_poses(trial + 1u, pose);
    yoke_rod_element_jacobian(&el, &pose[0], &pose[1], f, K, D);
    for (int c = 0; c < 24; ++c) {
      const int     s         = c / 6 % 2;
      const double *J         = c < 12 ? K : D;
      double        found[12] = {0.0}, size[4] = {0.0}, force = 0.0;
      for (int i = 0; i < 8; ++i) {
        const double step  = (i < 4 ? i + 1 : 3 - i) * h;
        yoke_pose    at[2] = {pose[0], pose[1]};
        double       y[12];
        at[s] = c < 12 ? moved(&pose[s], c % 6, step) : sped_up(&pose[s], c % 6, step);
        yoke_rod_element_force(&el, &at[0], &at[1], y);
        for (int r = 0; r < 12; ++r) found[r] += (i < 4 ? weight[i] : -weight[i - 4]) * y[r] / h;
      }
      for (int r = 0; r < 12; ++r) size[r / 3] = fmax(size[r / 3], fabs(J[12 * r + c % 12]));
      for (int r = 0; r < 12; ++r) force = fmax(force, fabs(f[r]));
      for (int r = 0; r < 12; ++r)
        CHECK_NEAR(found[r], J[12 * r + c % 12], 1e-8 * size[r / 3] + 4.0 * DBL_EPSILON * force / h);
    }
  }
}

/* P = -dE/dt - (power of all forces) */
static void the_power_that_is_lost_is_that_of_the_damping(void **state) {
  (void)state;
  const yoke_rod_element el = element(0, true), elastic = element(0, false);
  yoke_pose              pose[2];
  double                 f[12], g[12], energy = 0.0, lost = 0.0, power = 0.0;
  random_poses(9u, pose);
  yoke_rod_element_force(&el, &pose[0], &pose[1], f);
  yoke_rod_element_force(&elastic, &pose[0], &pose[1], g);
  yoke_rod_element_energy(&el, &pose[0], &pose[1], &energy, &lost);
  for (int k = 0; k < 12; ++k) power += (f[k] - g[k]) * (k % 6 < 3 ? pose[k / 6].v : pose[k / 6].w)[k % 3];
  assert_true(lost > 0.0);
  CHECK_NEAR(-power, lost, 1e-12 * lost);
}

/* In one piece of arc the curvature is (2 / k) sin(angle / 2) about the first axis, the tangent is not stretched. */
static void an_arc_has_its_curvature(void **state) {
  (void)state;
  const double     angle = 0.2;
  yoke_rod_element el    = {.owner = 0, .edge = 0.5, .bend = 0.5, .stiffness = {1, 1, 1, 2, 1, 1}};
  yoke_pose        a = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}}, b = {.r = {0, 0, 0.5}};
  double           force[6], strain[6];
  quaternion_rotation(b.R, (const double[]){cos(0.5 * angle), sin(0.5 * angle), 0.0, 0.0});
  yoke_rod_element_output(&el, &a, &b, force, strain);
  for (int i = 0; i < 6; ++i) CHECK_NEAR(strain[i], i == 3 ? 4.0 * sin(0.5 * angle) : 0.0, 1e-15);
  CHECK_NEAR(force[3], 8.0 * sin(0.5 * angle), 1e-15);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forces_are_minus_the_gradient_of_the_energy),
      cmocka_unit_test(forces_and_moments_are_in_balance),
      cmocka_unit_test(derivatives_of_the_forces_are_those_of_differences),
      cmocka_unit_test(the_power_that_is_lost_is_that_of_the_damping),
      cmocka_unit_test(an_arc_has_its_curvature),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
