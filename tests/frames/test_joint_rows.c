/* Rows of joints against finite differences along motions of two free bodies. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "linalg/space.h"
#include "frames/joint_rows.h"
#include <math.h>
#include <string.h>

static const yoke_row rows[] = {
    {YOKE_ROW_POINT, 0, 0},         {YOKE_ROW_POINT, 1, 0},         {YOKE_ROW_POINT, 2, 0},
    {YOKE_ROW_STRETCH, 0, 0},       {YOKE_ROW_INPLANE, 0, 0},       {YOKE_ROW_INPLANE, 1, 1},
    {YOKE_ROW_INPLANE, 2, 2},       {YOKE_ROW_ALONG, 2, 2},         {YOKE_ROW_ALONG, 0, 0},
    {YOKE_ROW_PERPENDICULAR, 0, 2}, {YOKE_ROW_PERPENDICULAR, 1, 2}, {YOKE_ROW_PERPENDICULAR, 0, 1},
    {YOKE_ROW_DISTANCE, 0, 0},      {YOKE_ROW_ANGLE, 0, 0},         {YOKE_ROW_ROTATION, 0, 0},
    {YOKE_ROW_ROTATION, 1, 0},      {YOKE_ROW_ROTATION, 2, 0},      {YOKE_ROW_SLOPE, 0, 0},
    {YOKE_ROW_SLOPE, 1, 1},
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

static double pseudo_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

/* Two bodies: r, p, v, omega (body axes). */
typedef struct two_bodies {
  double r[2][3], p[2][4], v[2][3], omega[2][3];
} two_bodies;

static void poses_of(const two_bodies *b, yoke_pose pose[2]) {
  for (int s = 0; s < 2; ++s) {
    vec3_copy(pose[s].r, b->r[s]);
    quaternion_rotation(pose[s].R, b->p[s]);
    vec3_copy(pose[s].v, b->v[s]);
    mat3_apply(pose[s].w, pose[s].R, b->omega[s]);
  }
}

static void random_setup(uint32_t seed, two_bodies *b, yoke_link *link) {
  memset(link, 0, sizeof *link);
  for (int s = 0; s < 2; ++s) {
    double p[4];
    link->node[s] = s;
    for (int i = 0; i < 3; ++i) {
      b->r[s][i]         = pseudo_random(&seed);
      b->v[s][i]         = pseudo_random(&seed);
      b->omega[s][i]     = pseudo_random(&seed);
      link->origin[s][i] = pseudo_random(&seed);
    }
    for (int i = 0; i < 4; ++i) {
      b->p[s][i] = pseudo_random(&seed);
      p[i]       = pseudo_random(&seed);
    }
    quaternion_normalise(b->p[s]);
    quaternion_rotation(link->axes[s], p);
  }
}

/* Move along direction k of (dr1, dphi1, dr2, dphi2, dv1, R1 domega1, dv2, R2 domega2). */
static void nudge(two_bodies *b, int k, double h) {
  const int side = (k / 6) % 2, part = (k % 6) / 3, i = k % 3;
  double    axis[3] = {0.0, 0.0, 0.0}, R[9], body[3], E[12];
  axis[i]           = h;
  quaternion_rotation(R, b->p[side]);
  mat3_apply_transposed(body, R, axis);
  if (k < 12 && part == 0) b->r[side][i] += h;
  if (k >= 12 && part == 0) b->v[side][i] += h;
  if (k >= 12 && part == 1) vec3_add(b->omega[side], 1.0, body);
  if (k < 12 && part == 1) {
    quaternion_E(E, b->p[side]);
    for (int j = 0; j < 4; ++j) b->p[side][j] += 0.5 * vec3_dot(E + 3 * j, body);
    quaternion_normalise(b->p[side]);
  }
}

static double value_at(const two_bodies *b, const yoke_link *link, const yoke_row *row, double grad[12], double *rate,
                       double *gamma) {
  yoke_pose       pose[2];
  yoke_link_state x;
  poses_of(b, pose);
  yoke_link_state_set(link, pose, &x);
  const double s = yoke_row_gradient(row, &x, grad);
  *rate          = yoke_row_rate(grad, &x);
  *gamma         = yoke_row_gamma(row, &x);
  return s;
}

/* The exact motion with constant v and omega over a time h. */
static void glide(two_bodies *b, double h) {
  for (int s = 0; s < 2; ++s) {
    const double angle = vec3_norm(b->omega[s]) * h,
                 f     = 0.5 * h * (angle == 0.0 ? 1.0 : sin(0.5 * angle) / (0.5 * angle));
    double E[12], p[4];
    vec3_add(b->r[s], h, b->v[s]);
    quaternion_E(E, b->p[s]);
    for (int j = 0; j < 4; ++j) p[j] = cos(0.5 * angle) * b->p[s][j] + f * vec3_dot(E + 3 * j, b->omega[s]);
    memcpy(b->p[s], p, sizeof p);
  }
}

static void rate_and_gamma_are_time_derivatives(void **state) {
  (void)state;
  for (int i = 0; i < N_ROWS; ++i) {
    two_bodies b, plus, minus;
    yoke_link  link;
    double     grad[12], rate, gamma, rp, rm, g;
    random_setup(11u + (uint32_t)i, &b, &link);
    const double h = 1e-5;
    plus = minus = b;
    glide(&plus, h);
    glide(&minus, -h);
    value_at(&b, &link, &rows[i], grad, &rate, &gamma);
    const double sp = value_at(&plus, &link, &rows[i], grad, &rp, &g);
    const double sm = value_at(&minus, &link, &rows[i], grad, &rm, &g);
    assert_true(fabs((sp - sm) / (2.0 * h) - rate) < 1e-8);
    if (rows[i].kind != YOKE_ROW_ROTATION) assert_true(fabs((rp - rm) / (2.0 * h) - gamma) < 1e-8);
  }
}

static void gradient_is_the_derivative_of_the_value(void **state) {
  (void)state;
  for (int i = 0; i < N_ROWS; ++i) {
    two_bodies b;
    yoke_link  link;
    double     grad[12], other[12], rate, gamma;
    random_setup(101u + (uint32_t)i, &b, &link);
    value_at(&b, &link, &rows[i], grad, &rate, &gamma);
    for (int k = 0; k < 12; ++k) {
      two_bodies plus = b, minus = b;
      nudge(&plus, k, 1e-6);
      nudge(&minus, k, -1e-6);
      const double sp = value_at(&plus, &link, &rows[i], other, &rate, &gamma);
      const double sm = value_at(&minus, &link, &rows[i], other, &rate, &gamma);
      assert_true(fabs((sp - sm) / 2e-6 - grad[k]) < 1e-8);
    }
  }
}

static void expect_hessian(const yoke_row *row, uint32_t seed) {
  two_bodies      b;
  yoke_link       link;
  yoke_pose       pose[2];
  yoke_link_state x;
  double          H[144] = {0.0}, gp[12], gm[12], rate, gamma;
  random_setup(seed, &b, &link);
  poses_of(&b, pose);
  yoke_link_state_set(&link, pose, &x);
  yoke_row_hessian_add(row, &x, 1.0, H);
  for (int k = 0; k < 12; ++k) {
    two_bodies plus = b, minus = b;
    nudge(&plus, k, 1e-6);
    nudge(&minus, k, -1e-6);
    value_at(&plus, &link, row, gp, &rate, &gamma);
    value_at(&minus, &link, row, gm, &rate, &gamma);
    for (int r = 0; r < 12; ++r) assert_true(fabs((gp[r] - gm[r]) / 2e-6 - H[12 * r + k]) < 2e-8);
  }
}

static void hessian_is_the_derivative_of_the_gradient(void **state) {
  (void)state;
  for (int i = 0; i < N_ROWS; ++i) expect_hessian(&rows[i], 1001u + (uint32_t)i);
}

static void hessian_of_a_carried_row_is_the_derivative_of_its_direction(void **state) {
  (void)state;
  for (int k = 0; k < 3; ++k) {
    for (int frame = 0; frame < 2; ++frame) {
      expect_hessian(&(yoke_row){YOKE_ROW_CARRIED, k, frame}, 2001u + (uint32_t)k);
      expect_hessian(&(yoke_row){YOKE_ROW_CARRIED_TURN, k, frame}, 3001u + (uint32_t)k);
    }
  }
}

static void small_relative_rotations_have_the_same_hessian(void **state) {
  (void)state;
  for (int k = 0; k < 3; ++k) { /* the series branch of the rotation vector */
    two_bodies      b;
    yoke_link       link;
    yoke_pose       pose[2];
    yoke_link_state x;
    const yoke_row  row    = {YOKE_ROW_ROTATION, k, 0};
    double          H[144] = {0.0}, gp[12], gm[12], rate, gamma;
    random_setup(5u, &b, &link);
    memcpy(b.p[1], b.p[0], sizeof b.p[0]);
    memcpy(link.axes[1], link.axes[0], sizeof link.axes[0]);
    nudge(&b, 3, 0.01);
    poses_of(&b, pose);
    yoke_link_state_set(&link, pose, &x);
    yoke_row_hessian_add(&row, &x, 1.0, H);
    for (int c = 0; c < 12; ++c) {
      two_bodies plus = b, minus = b;
      nudge(&plus, c, 1e-6);
      nudge(&minus, c, -1e-6);
      value_at(&plus, &link, &row, gp, &rate, &gamma);
      value_at(&minus, &link, &row, gm, &rate, &gamma);
      for (int r = 0; r < 12; ++r) assert_true(fabs((gp[r] - gm[r]) / 2e-6 - H[12 * r + c]) < 2e-8);
    }
  }
}

static void gamma_gradient_agrees_with_differences(void **state) {
  (void)state;
  for (int i = 0; i < N_ROWS; ++i) {
    if (rows[i].kind == YOKE_ROW_ROTATION) continue;
    two_bodies      b;
    yoke_link       link;
    yoke_pose       pose[2];
    yoke_link_state x;
    double          d[24], grad[12], rate, gp, gm;
    random_setup(2001u + (uint32_t)i, &b, &link);
    poses_of(&b, pose);
    yoke_link_state_set(&link, pose, &x);
    yoke_rows_second_gradient(1, &rows[i], &x, NULL, &d);
    for (int k = 0; k < 24; ++k) {
      two_bodies plus = b, minus = b;
      nudge(&plus, k, 1e-6);
      nudge(&minus, k, -1e-6);
      value_at(&plus, &link, &rows[i], grad, &rate, &gp);
      value_at(&minus, &link, &rows[i], grad, &rate, &gm);
      assert_true(fabs((gp - gm) / 2e-6 - d[k]) < 1e-7 * (1.0 + fabs(d[k])));
    }
  }
}

static void gamma_is_the_quadratic_form_of_the_hessian(void **state) {
  (void)state;
  for (int i = 0; i < N_ROWS; ++i) {
    if (rows[i].kind == YOKE_ROW_ROTATION) continue;
    two_bodies      b;
    yoke_link       link;
    yoke_pose       pose[2];
    yoke_link_state x;
    double          H[144] = {0.0}, V[12], sum = 0.0;
    random_setup(3001u + (uint32_t)i, &b, &link);
    poses_of(&b, pose);
    yoke_link_state_set(&link, pose, &x);
    yoke_row_hessian_add(&rows[i], &x, 1.0, H);
    for (int s = 0; s < 2; ++s) {
      vec3_copy(V + 6 * s, pose[s].v);
      vec3_copy(V + 6 * s + 3, pose[s].w);
    }
    for (int r = 0; r < 12; ++r) {
      for (int c = 0; c < 12; ++c) sum += V[r] * H[12 * r + c] * V[c];
    }
    assert_true(fabs(sum - yoke_row_gamma(&rows[i], &x)) < 1e-13 * (1.0 + fabs(sum)));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rate_and_gamma_are_time_derivatives),
      cmocka_unit_test(gradient_is_the_derivative_of_the_value),
      cmocka_unit_test(hessian_is_the_derivative_of_the_gradient),
      cmocka_unit_test(hessian_of_a_carried_row_is_the_derivative_of_its_direction),
      cmocka_unit_test(small_relative_rotations_have_the_same_hessian),
      cmocka_unit_test(gamma_gradient_agrees_with_differences),
      cmocka_unit_test(gamma_is_the_quadratic_form_of_the_hessian),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
