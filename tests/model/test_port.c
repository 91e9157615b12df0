/* Ports: sizes, poses and tangents. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "linalg/space.h"
#include "model/port.h"
#include <math.h>
#include <string.h>

enum { N_KINDS = 5 };

static const yoke_body_kind kinds[N_KINDS] = {YOKE_BODY_RIGID, YOKE_BODY_PLANAR, YOKE_BODY_PARTICLE, YOKE_BODY_MASS1D,
                                              YOKE_BODY_CHAIN};

static const double some_p[7] = {0.3, -0.4, 1.2, 0.5, -0.1, 0.7, 0.2};
static const double some_v[6] = {0.7, -0.2, 0.4, 1.1, -0.6, 0.9};

/* p of unit Euler parameters. */
static void set_p(yoke_body_kind kind, double p[7]) {
  memcpy(p, some_p, sizeof some_p);
  if (kind == YOKE_BODY_RIGID) quaternion_normalise(p + 3);
}

static void sizes_follow_the_kind(void **state) {
  const int expected[N_KINDS][4] = {{7, 6, 3, 22}, {3, 3, 3, 12}, {3, 3, 3, 12}, {1, 1, 1, 4}, {1, 1, 1, 4}};
  (void)state;
  for (int k = 0; k < N_KINDS; ++k) {
    assert_int_equal(yoke_port_n_p(kinds[k]), expected[k][0]);
    assert_int_equal(yoke_port_n_v(kinds[k]), expected[k][1]);
    assert_int_equal(yoke_port_n_integrals(kinds[k]), expected[k][2]);
    assert_int_equal(yoke_port_n_y(kinds[k]), expected[k][3]);
    assert_true(yoke_port_n_y(kinds[k]) <= YOKE_PORT_MAX_Y);
  }
}

static void every_component_has_a_name(void **state) {
  (void)state;
  for (int k = 0; k < N_KINDS; ++k) {
    for (int i = 0; i < yoke_port_n_p(kinds[k]); ++i) assert_non_null(yoke_port_p_name(kinds[k], i));
    for (int i = 0; i < yoke_port_n_v(kinds[k]); ++i) assert_non_null(yoke_port_v_name(kinds[k], i));
  }
  assert_string_equal(yoke_port_p_name(YOKE_BODY_PLANAR, 2), "angle");
  assert_string_equal(yoke_port_v_name(YOKE_BODY_PLANAR, 2), "omega");
  assert_int_equal(yoke_port_freedom(YOKE_BODY_PLANAR, 2), 5);
}

/* R' = [w]x R and r' = v along p(t) = p + t T v. */
static void tangent_moves_the_pose_as_its_velocities_say(void **state) {
  const double h = 1e-6;
  (void)state;
  for (int k = 0; k < N_KINDS; ++k) {
    const int n_p = yoke_port_n_p(kinds[k]), n_v = yoke_port_n_v(kinds[k]);
    double    p[7], T[42], W[9], WR[9];
    yoke_pose now, side[2];
    set_p(kinds[k], p);
    yoke_port_pose(kinds[k], p, some_v, &now);
    yoke_port_tangent(kinds[k], p, T);
    for (int s = 0; s < 2; ++s) {
      double moved[7];
      for (int i = 0; i < n_p; ++i) {
        double rate = 0.0;
        for (int j = 0; j < n_v; ++j) rate += T[i * n_v + j] * some_v[j];
        moved[i] = p[i] + (s == 0 ? -h : h) * rate;
      }
      yoke_port_pose(kinds[k], moved, NULL, &side[s]);
    }
    mat3_cross(W, now.w);
    mat3_multiply(WR, W, now.R);
    for (int i = 0; i < 3; ++i) assert_true(fabs((side[1].r[i] - side[0].r[i]) / (2 * h) - now.v[i]) < 1e-9);
    for (int i = 0; i < 9; ++i) assert_true(fabs((side[1].R[i] - side[0].R[i]) / (2 * h) - WR[i]) < 1e-9);
  }
}

static void freedoms_that_a_kind_lacks_stay_at_rest(void **state) {
  yoke_pose pose;
  (void)state;
  yoke_port_pose(YOKE_BODY_MASS1D, some_p, some_v, &pose);
  assert_true(pose.r[0] == some_p[0] && pose.r[1] == 0.0 && pose.r[2] == 0.0 && pose.R[0] == 1.0 && pose.R[1] == 0.0);
  assert_true(pose.v[0] == some_v[0] && pose.v[1] == 0.0 && pose.w[2] == 0.0);
  yoke_port_pose(YOKE_BODY_PLANAR, some_p, some_v, &pose);
  assert_true(pose.r[2] == 0.0 && pose.angle == some_p[2] && pose.w[2] == some_v[2] && pose.v[2] == 0.0);
}

static void euler_parameters_are_normalised(void **state) {
  double    p[7], big[7];
  yoke_pose a, b;
  (void)state;
  set_p(YOKE_BODY_RIGID, p);
  memcpy(big, p, sizeof p);
  for (int i = 3; i < 7; ++i) big[i] *= 3.0;
  yoke_port_pose(YOKE_BODY_RIGID, p, NULL, &a);
  yoke_port_pose(YOKE_BODY_RIGID, big, NULL, &b);
  for (int i = 0; i < 9; ++i) assert_true(fabs(a.R[i] - b.R[i]) < 1e-15);
  memset(big, 0, sizeof big);
  yoke_port_pose(YOKE_BODY_RIGID, big, NULL, &b);
  assert_true(b.R[0] == 1.0 && b.R[4] == 1.0 && b.R[8] == 1.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_follow_the_kind),
      cmocka_unit_test(every_component_has_a_name),
      cmocka_unit_test(tangent_moves_the_pose_as_its_velocities_say),
      cmocka_unit_test(freedoms_that_a_kind_lacks_stay_at_rest),
      cmocka_unit_test(euler_parameters_are_normalised),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
