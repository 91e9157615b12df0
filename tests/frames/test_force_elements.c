/* Springs, torsion springs and bushings: signs, safe points, power. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "frames/force_elements.h"
#include "linalg/space.h"
#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static void identity_axes(double A[9]) {
  memset(A, 0, 9 * sizeof *A);
  A[0] = A[4] = A[8] = 1.0;
}

static yoke_pose pose_at(double x, double y, double z) {
  yoke_pose pose = {.r = {x, y, z}};
  identity_axes(pose.R);
  return pose;
}

static yoke_force_element element(yoke_row_kind kind, const yoke_law *law) {
  yoke_force_element el = {.link = {.node = {0, 1}}, .n = 1, .law = law};
  el.row[0].kind        = kind;
  identity_axes(el.link.axes[0]);
  identity_axes(el.link.axes[1]);
  return el;
}

static double pseudo_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

static void random_poses(uint32_t seed, yoke_pose pose[2]) {
  for (int s = 0; s < 2; ++s) {
    double p[4];
    memset(&pose[s], 0, sizeof pose[s]);
    for (int i = 0; i < 3; ++i) {
      pose[s].r[i] = pseudo_random(&seed);
      pose[s].v[i] = pseudo_random(&seed);
      pose[s].w[i] = pseudo_random(&seed);
    }
    for (int i = 0; i < 4; ++i) p[i] = pseudo_random(&seed);
    quaternion_rotation(pose[s].R, p);
  }
}

/* The pose after a short time h with constant velocities (to second order in h). */
static yoke_pose glide(const yoke_pose *pose, double h) {
  yoke_pose    moved = *pose;
  double       p[4], rate[4], body[3];
  const double w[3] = {pose->w[0], pose->w[1], pose->w[2]};
  vec3_add(moved.r, h, pose->v);
  quaternion_of_rotation(p, pose->R);
  mat3_apply_transposed(body, pose->R, w);
  quaternion_rate(rate, p, body);
  for (int i = 0; i < 4; ++i) p[i] += h * rate[i];
  quaternion_rotation(moved.R, p);
  moved.angle += h * pose->w[2];
  return moved;
}

static double power_of(const double wrench[12], const yoke_pose pose[2]) {
  double power = 0.0;
  for (int s = 0; s < 2; ++s) power += vec3_dot(wrench + 6 * s, pose[s].v) + vec3_dot(wrench + 6 * s + 3, pose[s].w);
  return power;
}

static void stretched_line_spring_pulls_side_1_forward(void **state) {
  (void)state;
  const yoke_law     law        = {.stiffness = 10.0, .exponent_x = 3.0, .exponent_v = 3.0};
  yoke_force_element el         = element(YOKE_ROW_STRETCH, &law);
  const yoke_pose    pose[2]    = {pose_at(0, 0, 0), pose_at(1.5, 0, 0)};
  double             wrench[12] = {0.0};
  el.offset[0]                  = 1.0;
  yoke_force_element_apply(&el, pose, 0.0, wrench);
  CHECK_NEAR(wrench[0], 5.0, 1e-15);
  CHECK_NEAR(wrench[6], -5.0, 1e-15);
}

static void compressed_line_spring_stays_signed_past_zero(void **state) {
  (void)state;
  const yoke_law     law        = {.stiffness = 10.0, .exponent_x = 3.0, .exponent_v = 3.0};
  yoke_force_element el         = element(YOKE_ROW_STRETCH, &law);
  const yoke_pose    pose[2]    = {pose_at(0.2, 0, 0), pose_at(-0.3, 0, 0)}; /* the masses have passed each other */
  double             wrench[12] = {0.0};
  el.offset[0]                  = 1.0;
  yoke_force_element_apply(&el, pose, 0.0, wrench);
  CHECK_NEAR(wrench[0], -15.0, 1e-14);
}

static void spring_of_zero_length_gives_no_force(void **state) {
  (void)state;
  const yoke_law     law        = {.stiffness = 10.0, .damping = 1.0, .exponent_x = 3.0, .exponent_v = 3.0};
  yoke_force_element el         = element(YOKE_ROW_DISTANCE, &law);
  const yoke_pose    pose[2]    = {pose_at(1, 2, 3), pose_at(1, 2, 3)};
  double             wrench[12] = {0.0}, f[12], K[144], D[144];
  yoke_force_element_apply(&el, pose, 0.0, wrench);
  yoke_force_element_jacobian(&el, pose, 0.0, f, K, D);
  for (int i = 0; i < 12; ++i) assert_true(wrench[i] == 0.0);
  for (int i = 0; i < 144; ++i) assert_true(isfinite(K[i]) && isfinite(D[i]));
}

static void planar_torsion_spring_counts_full_turns(void **state) {
  (void)state;
  const yoke_law     law        = {.stiffness = 2.0, .exponent_x = 3.0, .exponent_v = 3.0};
  yoke_force_element el         = element(YOKE_ROW_TURN, &law);
  yoke_pose          pose[2]    = {pose_at(0, 0, 0), pose_at(0, 0, 0)};
  double             wrench[12] = {0.0};
  pose[1].angle                 = 5.0 * pi;
  yoke_force_element_apply(&el, pose, 0.0, wrench);
  CHECK_NEAR(wrench[11], -10.0 * pi, 1e-13);
  CHECK_NEAR(wrench[5], 10.0 * pi, 1e-13);
}

static void bushing_moment_grows_with_the_angle(void **state) {
  (void)state;
  for (int k = 0; k < 3; ++k) {
    yoke_force_element el      = element(YOKE_ROW_ROTATION, NULL);
    yoke_pose          pose[2] = {pose_at(0, 0, 0), pose_at(0, 0, 0)};
    double             p[4] = {cos(1.2), 0.0, 0.0, 0.0}, wrench[12] = {0.0}, potential = 0.0, lost = 0.0;
    p[1 + k]        = sin(1.2); /* a turn of 2.4 rad about axis k */
    el.row[0].k     = k;
    el.stiffness[0] = 3.0;
    quaternion_rotation(pose[1].R, p);
    yoke_force_element_apply(&el, pose, 0.0, wrench);
    CHECK_NEAR(wrench[9 + k], -3.0 * 2.4, 1e-13);
    yoke_force_element_energy(&el, pose, 0.0, &potential, &lost);
    CHECK_NEAR(potential, 0.5 * 3.0 * 2.4 * 2.4, 1e-13);
    assert_true(lost == 0.0);
  }
}

/* Power of the force = -(rate of stored energy) - (power lost), for every row kind. */
static void power_is_stored_or_lost(void **state) {
  (void)state;
  const yoke_law      law     = {.stiffness       = 5.0,
                                 .damping         = 0.7,
                                 .stiffness_power = 2.0,
                                 .damping_power   = 0.4,
                                 .exponent_x      = 3.0,
                                 .exponent_v      = 3.0};
  const yoke_row_kind kinds[] = {YOKE_ROW_POINT,         YOKE_ROW_STRETCH,  YOKE_ROW_INPLANE, YOKE_ROW_ALONG,
                                 YOKE_ROW_PERPENDICULAR, YOKE_ROW_DISTANCE, YOKE_ROW_ANGLE,   YOKE_ROW_ROTATION};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
    yoke_force_element el = element(kinds[i], &law);
    yoke_pose          pose[2];
    double             wrench[12] = {0.0}, energy[2] = {0.0, 0.0}, lost = 0.0, unused = 0.0;
    random_poses(40u + (uint32_t)i, pose);
    vec3_set(el.link.origin[0], 0.3, -0.1, 0.2);
    vec3_set(el.link.origin[1], -0.2, 0.4, 0.1);
    el.row[0].k = el.row[0].l = 1;
    yoke_force_element_apply(&el, pose, 0.0, wrench);
    yoke_force_element_energy(&el, pose, 0.0, &unused, &lost);
    for (int side = 0; side < 2; ++side) {
      const double    h        = side == 0 ? 1e-6 : -1e-6;
      const yoke_pose moved[2] = {glide(&pose[0], h), glide(&pose[1], h)};
      double          ignored  = 0.0;
      yoke_force_element_energy(&el, moved, 0.0, &energy[side], &ignored);
    }
    CHECK_NEAR(power_of(wrench, pose), -(energy[0] - energy[1]) / 2e-6 - lost, 1e-7);
    assert_true(lost > 0.0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stretched_line_spring_pulls_side_1_forward),
      cmocka_unit_test(compressed_line_spring_stays_signed_past_zero),
      cmocka_unit_test(spring_of_zero_length_gives_no_force),
      cmocka_unit_test(planar_torsion_spring_counts_full_turns),
      cmocka_unit_test(bushing_moment_grows_with_the_angle),
      cmocka_unit_test(power_is_stored_or_lost),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
