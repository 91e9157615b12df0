/* Port shapes: every shape of the list agrees with itself. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "frames/port.h"
#include "linalg/space.h"
#include <string.h>

enum { N_TRIALS = 20 };

static double pseudo_random(uint32_t *seed) { /* in (-1, 1) */
  *seed = *seed * 1664525u + 1013904223u;
  return ((double)(*seed >> 8) + 0.5) / 8388608.0 - 1.0;
}

/* Some p whose orientation has norm 1, and some v. */
static void set_motion(const yoke_port_shape *shape, uint32_t *seed, double *p, double *v) {
  double norm = 0.0;
  for (int k = 0; k < shape->n_p; ++k) {
    p[k] = pseudo_random(seed);
    if (shape->p[k].rate < 0) norm += p[k] * p[k];
  }
  for (int k = 0; k < shape->n_p; ++k) {
    if (shape->p[k].rate < 0) p[k] /= sqrt(norm);
  }
  for (int k = 0; k < shape->n_v; ++k) v[k] = pseudo_random(seed);
}

/* ---- every shape of the list ---- */

typedef void fact(const yoke_port_shape *shape, const double *p, const double *v);

static void for_every_shape(fact *holds) {
  uint32_t seed = 4711u;
  for (int i = 0; i < yoke_shape_list_n(); ++i) {
    for (int trial = 0; trial < N_TRIALS; ++trial) {
      double p[YOKE_PORT_MAX_P], v[YOKE_PORT_MAX_V];
      set_motion(yoke_shape_list_at(i), &seed, p, v);
      holds(yoke_shape_list_at(i), p, v);
    }
  }
}

static void check_left_inverse(const yoke_port_shape *shape, const double *p, const double *v) {
  const int n_p = shape->n_p, n_v = shape->n_v;
  double    T[YOKE_PORT_MAX_P * YOKE_PORT_MAX_V], L[YOKE_PORT_MAX_P * YOKE_PORT_MAX_V];
  (void)v;
  yoke_shape_tangent(shape, p, T);
  yoke_shape_left_inverse(shape, p, L);
  for (int i = 0; i < n_v; ++i) {
    for (int j = 0; j < n_v; ++j) {
      double sum = 0.0;
      for (int k = 0; k < n_p; ++k) sum += L[i * n_p + k] * T[k * n_v + j];
      CHECK_NEAR(sum, i == j ? 1.0 : 0.0, 1e-15);
    }
  }
}

static void left_inverse_undoes_the_tangent(void **state) {
  (void)state;
  for_every_shape(check_left_inverse);
}

/* p + h T v, and its pose. */
static void pose_ahead(const yoke_port_shape *shape, const double *p, const double *v, double h, yoke_pose *pose) {
  double T[YOKE_PORT_MAX_P * YOKE_PORT_MAX_V], moved[YOKE_PORT_MAX_P];
  yoke_shape_tangent(shape, p, T);
  for (int i = 0; i < shape->n_p; ++i) {
    moved[i] = p[i];
    for (int j = 0; j < shape->n_v; ++j) moved[i] += h * T[i * shape->n_v + j] * v[j];
  }
  yoke_shape_pose(shape, moved, NULL, pose);
}

/* R' = [w]x R and r' = v. */
static void check_tangent(const yoke_port_shape *shape, const double *p, const double *v) {
  const double h = 1e-6;
  double       W[9], WR[9];
  yoke_pose    now, side[2];
  yoke_shape_pose(shape, p, v, &now);
  for (int s = 0; s < 2; ++s) pose_ahead(shape, p, v, s == 0 ? -h : h, &side[s]);
  mat3_cross(W, now.w);
  mat3_multiply(WR, W, now.R);
  for (int i = 0; i < 3; ++i) CHECK_NEAR((side[1].r[i] - side[0].r[i]) / (2 * h), now.v[i], 1e-9);
  for (int i = 0; i < 9; ++i) CHECK_NEAR((side[1].R[i] - side[0].R[i]) / (2 * h), WR[i], 1e-9);
}

static void tangent_moves_the_pose_as_its_velocities_say(void **state) {
  (void)state;
  for_every_shape(check_tangent);
}

/* Velocities of the pose are v by freedom, the others rest; positions that are coordinates of the origin are where they are. */
static void check_freedoms(const yoke_port_shape *shape, const double *p, const double *v) {
  yoke_pose pose;
  double    all[6];
  yoke_shape_pose(shape, p, v, &pose);
  memcpy(all, pose.v, sizeof pose.v);
  memcpy(all + 3, pose.w, sizeof pose.w);
  for (int f = 0; f < 6; ++f) {
    const int k = yoke_shape_component(shape, f);
    assert_true(k < 0 ? all[f] == 0.0 : all[f] == v[k]);
    assert_true((yoke_shape_freedoms(shape) >> f & 1u) == (k >= 0 ? 1u : 0u));
    const int i = k >= 0 && !yoke_freedom_turns(f) ? yoke_shape_coordinate(shape, k) : -1;
    if (!yoke_freedom_turns(f)) assert_true(pose.r[f] == (i >= 0 ? p[i] : 0.0));
  }
}

static void freedoms_that_a_shape_lacks_stay_at_rest(void **state) {
  (void)state;
  for_every_shape(check_freedoms);
}

/* A tangent that comes from L dp moves the pose as dp does, also when dp changes the norm of the orientation. */
static void check_pose_and_back(const yoke_port_shape *shape, const double *p, const double *v) {
  const double h = 1e-6;
  double       L[YOKE_PORT_MAX_P * YOKE_PORT_MAX_V], moved[YOKE_PORT_MAX_P], dp[YOKE_PORT_MAX_P], d[YOKE_PORT_MAX_V];
  yoke_pose    straight, by_tangent;
  uint32_t     seed = 99u;
  (void)v;
  yoke_shape_left_inverse(shape, p, L);
  for (int k = 0; k < shape->n_p; ++k) {
    dp[k]    = pseudo_random(&seed);
    moved[k] = p[k] + h * dp[k];
  }
  for (int i = 0; i < shape->n_v; ++i) {
    d[i] = 0.0;
    for (int k = 0; k < shape->n_p; ++k) d[i] += L[i * shape->n_p + k] * dp[k];
  }
  yoke_shape_pose(shape, moved, NULL, &straight);
  pose_ahead(shape, p, d, h, &by_tangent);
  for (int i = 0; i < 3; ++i) CHECK_NEAR(straight.r[i], by_tangent.r[i], 1e-15);
  for (int i = 0; i < 9; ++i) CHECK_NEAR(straight.R[i], by_tangent.R[i], 1e-11); /* O(h^2) */
}

static void positions_lead_to_the_tangent_and_back(void **state) {
  (void)state;
  for_every_shape(check_pose_and_back);
}

static void every_component_is_described_in_full(void **state) {
  (void)state;
  for (int i = 0; i < yoke_shape_list_n(); ++i) {
    const yoke_port_shape *shape = yoke_shape_list_at(i);
    assert_ptr_equal(yoke_shape_find(shape->name), shape);
    assert_true(shape->n_p <= YOKE_PORT_MAX_P && shape->n_v <= YOKE_PORT_MAX_V &&
                yoke_shape_n_y(shape) <= YOKE_PORT_MAX_Y);
    for (int k = 0; k < shape->n_p; ++k) {
      const yoke_shape_p *p = &shape->p[k];
      assert_true(p->name != NULL && p->unit != NULL && (p->freedoms & ~yoke_shape_freedoms(shape)) == 0u);
      if (p->rate >= 0) assert_int_equal(p->freedoms, 1u << shape->v[p->rate].freedom);
    }
    for (int k = 0; k < shape->n_v; ++k) {
      const yoke_shape_v *v = &shape->v[k];
      assert_true(v->name != NULL && v->unit != NULL && v->a_name != NULL && v->a_unit != NULL);
      assert_true(v->freedom >= 0 && v->freedom < 6 && yoke_shape_component(shape, v->freedom) == k);
    }
    for (int k = 0; k < shape->n_integrals; ++k) {
      assert_true(shape->p[shape->integral_of[k]].rate >= 0);
      assert_int_equal(yoke_shape_integral(shape, shape->integral_of[k]), k);
    }
    assert_true((yoke_shape_n_turned(shape) > 0) == (shape->tangent != NULL && shape->left_inverse != NULL));
  }
}

/* ---- the four that bodies have, and the one of plain numbers ---- */

static void sizes_and_names_are_those_of_the_table(void **state) {
  static const struct {
    const char *name;
    int         n_p, n_v, n_integrals, n_y;
  } expected[] = {{"line", 1, 1, 1, 4},
                  {"plane", 3, 3, 3, 12},
                  {"point", 3, 3, 3, 12},
                  {"frame", 7, 6, 3, 22},
                  {"signal", 0, 0, 0, 0}};
  (void)state;
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; ++i) {
    const yoke_port_shape *shape = yoke_shape_find(expected[i].name);
    assert_non_null(shape);
    assert_int_equal(shape->n_p, expected[i].n_p);
    assert_int_equal(shape->n_v, expected[i].n_v);
    assert_int_equal(shape->n_integrals, expected[i].n_integrals);
    assert_int_equal(yoke_shape_n_y(shape), expected[i].n_y);
  }
  assert_null(yoke_shape_find("planar"));
  assert_string_equal(yoke_shape_plane.p[2].name, "angle");
  assert_string_equal(yoke_shape_plane.v[2].unit, "rad/s");
  assert_int_equal(yoke_shape_component(&yoke_shape_plane, 5), 2);
}

static void orientations_are_told_from_origins(void **state) {
  (void)state;
  assert_true(yoke_shape_p_turns(&yoke_shape_frame, 3) && !yoke_shape_p_turns(&yoke_shape_frame, 2));
  assert_true(yoke_shape_p_turns(&yoke_shape_plane, 2) && !yoke_shape_p_turns(&yoke_shape_point, 2));
  assert_true(yoke_shape_can_turn(&yoke_shape_plane) && !yoke_shape_can_turn(&yoke_shape_line));
  assert_int_equal(yoke_shape_n_turned(&yoke_shape_frame), 4);
  assert_int_equal(yoke_shape_n_turned(&yoke_shape_plane), 0);
}

static void an_angle_in_the_plane_counts_full_turns(void **state) {
  const double p[3] = {0.3, -0.4, 20.0};
  yoke_pose    pose;
  (void)state;
  yoke_shape_pose(&yoke_shape_plane, p, NULL, &pose);
  assert_true(pose.angle == 20.0 && pose.r[2] == 0.0);
}

static void euler_parameters_are_normalised(void **state) {
  const double p[7] = {0.3, -0.4, 1.2, 0.5, -0.1, 0.7, 0.2};
  double       big[7];
  yoke_pose    a, b;
  (void)state;
  memcpy(big, p, sizeof p);
  for (int i = 3; i < 7; ++i) big[i] *= 3.0;
  yoke_shape_pose(&yoke_shape_frame, p, NULL, &a);
  yoke_shape_pose(&yoke_shape_frame, big, NULL, &b);
  for (int i = 0; i < 9; ++i) CHECK_NEAR(a.R[i], b.R[i], 1e-15);
  memset(big, 0, sizeof big);
  yoke_shape_pose(&yoke_shape_frame, big, NULL, &b);
  assert_true(b.R[0] == 1.0 && b.R[4] == 1.0 && b.R[8] == 1.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(left_inverse_undoes_the_tangent),
      cmocka_unit_test(tangent_moves_the_pose_as_its_velocities_say),
      cmocka_unit_test(freedoms_that_a_shape_lacks_stay_at_rest),
      cmocka_unit_test(positions_lead_to_the_tangent_and_back),
      cmocka_unit_test(every_component_is_described_in_full),
      cmocka_unit_test(sizes_and_names_are_those_of_the_table),
      cmocka_unit_test(orientations_are_told_from_origins),
      cmocka_unit_test(an_angle_in_the_plane_counts_full_turns),
      cmocka_unit_test(euler_parameters_are_normalised),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
