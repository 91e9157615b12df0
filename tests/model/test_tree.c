/* Trees of bodies: what comes from the leaves and back is what the rows of all joints together give; likewise what prescribed masses on a line take. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "model/multibody_internal.h"
#include "model/workshop.h"
#include <math.h>
#include <stdio.h>

enum { N_BODIES = 5, MANY = 11, MOST_Q = 7 * MANY, MOST_V = 6 * MANY, MOST_G = 6 * MANY };

/* Kinds whose rows are points and turns. */
static const yoke_connection_kind tree_kinds[] = {
    YOKE_CONNECTION_ATPOINT,  YOKE_CONNECTION_INPLANE,   YOKE_CONNECTION_PERPENDICULAR, YOKE_CONNECTION_SPHERICAL,
    YOKE_CONNECTION_REVOLUTE, YOKE_CONNECTION_UNIVERSAL, YOKE_CONNECTION_CYLINDRICAL,   YOKE_CONNECTION_TRANSLATIONAL,
    YOKE_CONNECTION_PLANAR,   YOKE_CONNECTION_INLINE,    YOKE_CONNECTION_ORIENTATION,   YOKE_CONNECTION_FIXED,
};
enum { N_KINDS = sizeof tree_kinds / sizeof tree_kinds[0] };

/* Body b hangs on parent[b] (-1: the ground, or nothing at all when it floats) by a joint; every second joint names the child first. */
static void make_tree_of(workshop *s, int n, yoke_connection_kind kind, bool floats) {
  static const int parent[MANY] = {-1, 0, 0, 2, 3, 4, 2, 6, 7, 8, 9};
  open_workshop(s);
  vec3_set(s->model.gravity, 0.3, -9.81, 0.7);
  for (int b = 0; b < n; ++b) {
    yoke_body *body = add_body(s, YOKE_BODY_RIGID);
    body->mass      = 1.5 + b;
    for (int i = 0; i < 9; i += 4) body->inertia[i] += 0.1 * b;
    vec3_set(body->position, b, 0.1 * b, -0.2 * b);
  }
  for (int b = floats ? 1 : 0; b < n; ++b) {
    const int on_parent = add_frame(s, parent[b] < 0 ? YOKE_GROUND : parent[b], 0.3 + 0.1 * b, -0.2, 0.5);
    const int on_child  = add_frame(s, b, -0.4, 0.2 + 0.1 * b, 0.1);
    connect(s, kind, b % 2 == 0 ? on_parent : on_child, b % 2 == 0 ? on_child : on_parent);
    joint_axes(s, kind, true, on_parent, on_child);
  }
  s->loads[s->model.n_loads++] = (yoke_load){.name            = load_name,
                                             .kind            = YOKE_LOAD_DRAG,
                                             .frame           = s->model.n_frames - 1,
                                             .drag_linear     = 0.4,
                                             .drag_rotational = 0.2};
}

static void make_tree(workshop *s, yoke_connection_kind kind, bool floats) {
  make_tree_of(s, N_BODIES, kind, floats);
}

/* A place off the constraints, as far as steps leave them and more, moving. */
static void set_near(const workshop *s, uint32_t seed, double size, double *q, double *v) {
  yoke_multibody_initial_guess(s->mb, q, v);
  assert_int_equal(s->equations.ops->project_position(s->equations.self, s->work, 0.0, q), YOKE_OK);
  for (int i = 0; i < s->equations.nq; ++i) q[i] += size * pseudo_random(&seed);
  for (int i = 0; i < s->equations.nv; ++i) v[i] = pseudo_random(&seed);
}

static yoke_status derive(const workshop *s, double t, const double *q, const double *v, double *a, double *lambda) {
  return s->equations.ops->derivative(s->equations.self, s->work, t, q, v, NULL, NULL, a, lambda);
}

static void assert_near(int n, const double *x, const double *y, double tolerance) {
  double size = 1.0;
  for (int i = 0; i < n; ++i) size = fmax(size, fabs(y[i]));
  for (int i = 0; i < n; ++i) {
    if (!(fabs(x[i] - y[i]) <= tolerance * size)) print_error("%d: %.17g and %.17g\n", i, x[i], y[i]);
    assert_true(fabs(x[i] - y[i]) <= tolerance * size);
  }
}

/* Accelerations and multipliers of both ways. */
static void check_agreement(workshop *s, double t) {
  double   q[MOST_Q], v[MOST_V], a[2][MOST_V], lambda[2][MOST_G];
  mb_tree *tree = s->mb->tree;
  assert_non_null(tree);
  for (uint32_t seed = 1; seed < 6; ++seed) {
    set_near(s, seed, 0.1, q, v);
    for (int way = 0; way < 2; ++way) {
      s->mb->tree = way == 0 ? tree : NULL;
      assert_int_equal(derive(s, t, q, v, a[way], lambda[way]), YOKE_OK);
    }
    s->mb->tree = tree;
    assert_near(s->equations.nv, a[0], a[1], 1e-12);
    assert_near(s->equations.ng, lambda[0], lambda[1], 1e-12);
  }
}

static void tree_moves_and_holds_as_its_rows_do(void **state) {
  (void)state;
  for (int k = 0; k < N_KINDS; ++k) {
    for (int floats = 0; floats < 2; ++floats) {
      workshop s;
      make_tree(&s, tree_kinds[k], floats == 1);
      const yoke_multibody_options damped = {.alpha = 3.0, .beta = 5.0};
      compile(&s, &damped);
      check_agreement(&s, 0.0);
      close_workshop(&s);
    }
  }
}

static void tree_without_damping_moves_and_holds_as_its_rows_do(void **state) {
  (void)state;
  for (int k = 0; k < N_KINDS; ++k) {
    for (int floats = 0; floats < 2; ++floats) {
      workshop s;
      make_tree(&s, tree_kinds[k], floats == 1);
      compile(&s, NULL);
      check_agreement(&s, 0.0);
      close_workshop(&s);
    }
  }
}

/* Eight, and three. Damped joints go one by one; by 1e-200 they are damped by nothing. */
static void joints_side_by_side_have_the_bits_of_joints_one_by_one(void **state) {
  (void)state;
  const yoke_multibody_options none = {.alpha = 0.0}, hardly = {.alpha = 1e-200};
  for (int k = 0; k < 2; ++k) {
    double q[MOST_Q], v[MOST_V], a[2][MOST_V], lambda[2][MOST_G];
    for (int way = 0; way < 2; ++way) {
      workshop s;
      make_tree_of(&s, MANY, k == 0 ? YOKE_CONNECTION_REVOLUTE : YOKE_CONNECTION_SPHERICAL, false);
      compile(&s, way == 0 ? &none : &hardly);
      set_near(&s, 1, 0.1, q, v);
      assert_int_equal(derive(&s, 0.0, q, v, a[way], lambda[way]), YOKE_OK);
      if (way == 1) {
        assert_memory_equal(a[0], a[1], (size_t)s.equations.nv * sizeof **a);
        assert_memory_equal(lambda[0], lambda[1], (size_t)s.equations.ng * sizeof **lambda);
      }
      close_workshop(&s);
    }
  }
}

static void joints_of_a_tree_may_differ_and_have_motions(void **state) {
  (void)state;
  workshop s;
  make_tree(&s, YOKE_CONNECTION_REVOLUTE, false);
  s.connections[1].kind   = YOKE_CONNECTION_TRANSLATIONAL;
  s.connections[2].motion = expression(&s, "0.3*sin(2*t)");
  s.connections[3].kind   = YOKE_CONNECTION_SPHERICAL;
  compile(&s, NULL);
  check_agreement(&s, 0.4);
  close_workshop(&s);
}

static void bodies_beside_a_tree_fall_freely(void **state) {
  (void)state;
  workshop s;
  double   q[MOST_Q + 3], v[MOST_V + 3], a[MOST_V + 3];
  make_tree(&s, YOKE_CONNECTION_REVOLUTE, false);
  add_body(&s, YOKE_BODY_PARTICLE);
  compile(&s, NULL);
  assert_non_null(s.mb->tree);
  yoke_multibody_initial_guess(s.mb, q, v);
  assert_int_equal(derive(&s, 0.0, q, v, a, NULL), YOKE_OK);
  for (int i = 0; i < 3; ++i) assert_true(fabs(a[6 * N_BODIES + i] - s.model.gravity[i]) < 1e-14);
  close_workshop(&s);
}

static void projections_of_a_tree_are_those_of_its_rows(void **state) {
  (void)state;
  for (int k = 0; k < N_KINDS; ++k) {
    workshop s;
    double   q[2][MOST_Q], v[2][MOST_V];
    make_tree(&s, tree_kinds[k], false);
    compile(&s, NULL);
    mb_tree *tree = s.mb->tree;
    for (int way = 0; way < 2; ++way) {
      s.mb->tree = way == 0 ? tree : NULL;
      set_near(&s, 7, 1e-4, q[way], v[way]);
      assert_int_equal(s.equations.ops->project_position(s.equations.self, s.work, 0.0, q[way]), YOKE_OK);
      assert_int_equal(s.equations.ops->project_velocity(s.equations.self, s.work, 0.0, q[way], v[way]), YOKE_OK);
    }
    assert_near(s.equations.nq, q[0], q[1], 1e-11);
    assert_near(s.equations.nv, v[0], v[1], 1e-11);
    close_workshop(&s);
  }
}

/* A tree whose first body follows a ghost by all rows of a joint, by accelerations (then inputs are those) or by its motion. */
static void make_guided(workshop *s, yoke_connection_kind kind, yoke_input_kind input, double *u) {
  yoke_input inputs[20];
  yoke_row   rows[6];
  make_tree(s, YOKE_CONNECTION_REVOLUTE, true);
  const int ghost = add_ghost(s, YOKE_BODY_RIGID), body = add_frame(s, 0, -0.3, 0.1, 0.2);
  int       n     = ghost_inputs(0, YOKE_BODY_RIGID, inputs);
  const int joint = s->model.n_connections;
  connect(s, kind, body, ghost);
  for (int i = 0; i < n; ++i) u[i] = 0.1 * (i + 1);
  vec3_set(u + 3, 1.0, 0.02, -0.01); /* nearly as body 0 is turned */
  u[6] = 0.03;
  for (int r = 0; r < yoke_joint_rows(kind, rows); ++r) {
    u[n]        = 0.3 - 0.2 * r;
    inputs[n++] = (yoke_input){input, joint, r, -1.0};
  }
  const yoke_multibody_options options = {.n_inputs = n, .inputs = inputs};
  compile(s, &options);
  assert_non_null(s->mb->tree);
}

static void guided_tree_moves_as_its_rows_do(void **state) {
  (void)state;
  const yoke_connection_kind kinds[4] = {YOKE_CONNECTION_REVOLUTE, YOKE_CONNECTION_TRANSLATIONAL,
                                         YOKE_CONNECTION_SPHERICAL, YOKE_CONNECTION_FIXED};
  for (int k = 0; k < 8; ++k) {
    const yoke_input_kind input = k < 4 ? YOKE_INPUT_ROW_ACCELERATION : YOKE_INPUT_PRESCRIBED;
    workshop              s;
    double                q[2][MOST_Q], v[2][MOST_V], a[2][MOST_V], lambda[2][MOST_G], u[20];
    make_guided(&s, kinds[k % 4], input, u);
    const yoke_equations *e    = &s.equations;
    mb_tree              *tree = s.mb->tree;
    for (int way = 0; way < 2; ++way) {
      s.mb->tree = way == 0 ? tree : NULL;
      set_near(&s, 3, 0.01, q[way], v[way]);
      if (input == YOKE_INPUT_PRESCRIBED)
        assert_int_equal(yoke_multibody_prescribe(s.mb, s.work, 0.0, u, q[way], v[way]), YOKE_OK);
      assert_int_equal(e->ops->derivative(e->self, s.work, 0.0, q[way], v[way], u, NULL, a[way], lambda[way]), YOKE_OK);
    }
    s.mb->tree = tree;
    assert_near(e->nq, q[0], q[1], 1e-11);
    assert_near(e->nv, v[0], v[1], 1e-11);
    assert_near(e->nv, a[0], a[1], 1e-10);
    assert_near(e->ng + e->n_guided, lambda[0], lambda[1], 1e-10);
    close_workshop(&s);
  }
}

/* Two masses on a line, the first at a ghost on side `side` of the joint; `is_held`: the second is joined to it. */
static void make_follower(workshop *s, int side, bool is_held, double *u) {
  yoke_input inputs[3];
  open_workshop(s);
  add_body(s, YOKE_BODY_MASS1D);
  add_body(s, YOKE_BODY_MASS1D)->position[0] = 0.7;
  const int frame = add_frame(s, 0, 0.3, 0, 0), ghost = add_ghost(s, YOKE_BODY_MASS1D);
  connect(s, YOKE_CONNECTION_FIXED, side == 0 ? frame : ghost, side == 0 ? ghost : frame);
  if (is_held) connect(s, YOKE_CONNECTION_FIXED, add_frame(s, 0, 0, 0, 0), add_frame(s, 1, -0.7, 0, 0));
  const int n                          = ghost_inputs(0, YOKE_BODY_MASS1D, inputs);
  inputs[n]                            = (yoke_input){YOKE_INPUT_PRESCRIBED, 0, 0, -1.0};
  const yoke_multibody_options options = {.n_inputs = n + 1, .inputs = inputs};
  compile(s, &options);
  u[0] = 0.9;
  u[1] = -0.4;
  u[2] = 0.2;
}

static void prescribed_masses_on_a_line_are_where_the_least_change_puts_them(void **state) {
  (void)state;
  for (int k = 0; k < 4; ++k) {
    workshop s;
    double   u[3];
    make_follower(&s, k % 2, k >= 2, u);
    struct mb_line *line = s.mb->line;
    assert_non_null(line);
    assert_true(mb_line_follows(s.mb) == (k < 2)); /* what is joined moves along */
    double q[2][2] = {{0.1, -0.6}, {0.1, -0.6}}, v[2][2] = {{2.0, 3.0}, {2.0, 3.0}};
    for (int way = 0; way < 2; ++way) {
      s.mb->line = way == 0 ? line : NULL;
      assert_int_equal(yoke_multibody_prescribe(s.mb, s.work, 0.0, u, q[way], v[way]), YOKE_OK);
    }
    s.mb->line = line;
    for (int i = 0; i < 2; ++i) {
      assert_true(fabs(q[0][i] - q[1][i]) < 1e-15);
      assert_true(fabs(v[0][i] - v[1][i]) < 1e-15);
    }
    assert_true(fabs(q[0][0] + 0.3 - 0.9) < 1e-15 && fabs(v[0][0] + 0.4) < 1e-15);
    u[1] = (double)NAN;
    assert_int_equal(yoke_multibody_prescribe(s.mb, s.work, 0.0, u, q[0], v[0]), YOKE_NON_FINITE);
    close_workshop(&s);
  }
}

/* z axes of a revolute joint across each other: both cosines have the same gradient. */
static void rows_that_depend_on_each_other_are_left_to_the_solver_of_least_norm(void **state) {
  (void)state;
  workshop s;
  double   q[7], v[6] = {0.0}, a[2][6], lambda[2][5];
  open_workshop(&s);
  s.model.gravity[1] = -9.81;
  add_body(&s, YOKE_BODY_RIGID);
  connect(&s, YOKE_CONNECTION_REVOLUTE, add_frame(&s, YOKE_GROUND, 0, 0, 0), add_frame(&s, 0, 0, 1, 0));
  compile(&s, NULL);
  yoke_multibody_initial_guess(s.mb, q, v);
  q[3] = q[4]   = sqrt(0.5);
  mb_tree *tree = s.mb->tree;
  assert_non_null(tree);
  for (int way = 0; way < 2; ++way) {
    s.mb->tree = way == 0 ? tree : NULL;
    assert_int_equal(derive(&s, 0.0, q, v, a[way], lambda[way]), YOKE_OK);
  }
  s.mb->tree = tree;
  assert_memory_equal(a[0], a[1], sizeof a[0]);
  assert_memory_equal(lambda[0], lambda[1], sizeof lambda[0]);
  close_workshop(&s);
}

static void loops_and_other_rows_are_no_trees(void **state) {
  (void)state;
  workshop s;
  make_tree(&s, YOKE_CONNECTION_DISTANCE, false);
  compile(&s, NULL);
  assert_null(s.mb->tree);
  close_workshop(&s);

  make_tree(&s, YOKE_CONNECTION_SPHERICAL, false);
  connect(&s, YOKE_CONNECTION_SPHERICAL, add_frame(&s, YOKE_GROUND, 1, 0, 0), add_frame(&s, 4, 0, 1, 0));
  compile(&s, NULL);
  assert_null(s.mb->tree);
  close_workshop(&s);

  make_tree(&s, YOKE_CONNECTION_REVOLUTE, false);
  for (int b = 0; b < N_BODIES; ++b) s.bodies[b].kind = YOKE_BODY_PLANAR;
  for (int f = 0; f < s.model.n_frames; ++f) {
    s.frames[f].origin[2] = 0.0;
    memset(s.frames[f].axes, 0, sizeof s.frames[f].axes);
    s.frames[f].axes[0] = s.frames[f].axes[4] = s.frames[f].axes[8] = 1.0;
  }
  for (int b = 0; b < N_BODIES; ++b) s.bodies[b].position[2] = 0.0;
  compile(&s, NULL);
  assert_null(s.mb->tree);
  close_workshop(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tree_moves_and_holds_as_its_rows_do),
      cmocka_unit_test(tree_without_damping_moves_and_holds_as_its_rows_do),
      cmocka_unit_test(joints_side_by_side_have_the_bits_of_joints_one_by_one),
      cmocka_unit_test(joints_of_a_tree_may_differ_and_have_motions),
      cmocka_unit_test(bodies_beside_a_tree_fall_freely),
      cmocka_unit_test(projections_of_a_tree_are_those_of_its_rows),
      cmocka_unit_test(guided_tree_moves_as_its_rows_do),
      cmocka_unit_test(prescribed_masses_on_a_line_are_where_the_least_change_puts_them),
      cmocka_unit_test(rows_that_depend_on_each_other_are_left_to_the_solver_of_least_norm),
      cmocka_unit_test(loops_and_other_rows_are_no_trees),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
