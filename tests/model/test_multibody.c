/* The multibody kernel: exact accelerations, conservation, projections, Jacobians against differences. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/memory.h"
#include "linalg/space.h"
#include "model/joint_kinds.h"
#include "model/multibody.h"
#include "model/workshop.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static yoke_status derive(workshop *s, double t, const double *q, const double *v, double *qdot, double *a,
                          double *lambda) {
  return s->equations.ops->derivative(s->equations.self, s->work, t, q, v, NULL, qdot, a, lambda);
}

/* ---- facts ---- */

static void free_rigid_body_keeps_energy_and_angular_momentum(void **state) {
  (void)state;
  workshop s;
  open_workshop(&s);
  add_body(&s, YOKE_BODY_RIGID);
  compile(&s, NULL);
  const double q[7] = {0, 0, 0, 0.5, 0.5, -0.5, 0.5}, v[6] = {0.1, 0.2, 0.3, 1.0, -2.0, 0.7};
  double       qdot[7], a[6], Jw[3], Ja[3], turn[3];
  assert_int_equal(derive(&s, 0.0, q, v, qdot, a, NULL), YOKE_OK);
  mat3_apply(Jw, s.bodies[0].inertia, v + 3);
  mat3_apply(Ja, s.bodies[0].inertia, a + 3);
  assert_true(fabs(vec3_dot(v + 3, Ja)) < 1e-14); /* d/dt (omega.J omega)/2 */
  vec3_cross(turn, v + 3, Jw);                    /* R (J omega' + omega x J omega) = 0 */
  for (int i = 0; i < 3; ++i) {
    assert_true(fabs(Ja[i] + turn[i]) < 1e-14);
    assert_true(a[i] == 0.0 && qdot[i] == v[i]);
  }
  assert_true(fabs(q[3] * qdot[3] + q[4] * qdot[4] + q[5] * qdot[5] + q[6] * qdot[6]) < 1e-15);
  close_workshop(&s);
}

/* A bar of length 2 l hinged at its end: theta'' = -m g l sin(theta) / (J + m l^2), theta from the hanging position. */
static void make_pendulum(workshop *s, yoke_body_kind kind, double theta, double rate) {
  open_workshop(s);
  s->model.gravity[1] = -9.81;
  yoke_body *bar      = add_body(s, kind);
  memset(bar->inertia, 0, sizeof bar->inertia);
  bar->inertia[0] = bar->inertia[4] = bar->inertia[8] = 0.5;
  vec3_set(bar->position, sin(theta), -cos(theta), 0.0);
  bar->angle          = theta;
  bar->orientation[0] = cos(theta / 2.0);
  bar->orientation[3] = sin(theta / 2.0);
  vec3_set(bar->velocity, rate * cos(theta), rate * sin(theta), 0.0);
  bar->omega[2]    = rate;
  const int ground = add_frame(s, YOKE_GROUND, 0, 0, 0), top = add_frame(s, 0, 0, 1, 0);
  connect(s, YOKE_CONNECTION_REVOLUTE, top, ground);
}

static void pendulum_acceleration_is_exact(void **state) {
  (void)state;
  const yoke_body_kind kinds[2] = {YOKE_BODY_PLANAR, YOKE_BODY_RIGID};
  for (int k = 0; k < 2; ++k) {
    workshop s;
    double   q[7], v[6], a[6], lambda[5];
    make_pendulum(&s, kinds[k], 0.7, 1.3);
    compile(&s, NULL);
    assert_int_equal(s.equations.ng, k == 0 ? 2 : 5);
    yoke_multibody_initial_guess(s.mb, q, v);
    assert_int_equal(derive(&s, 0.0, q, v, NULL, a, lambda), YOKE_OK);
    const double alpha = -1.5 * 9.81 * sin(0.7) / (0.5 + 1.5);
    assert_true(fabs(a[s.equations.nv - 1] - alpha) < 1e-13);
    close_workshop(&s);
  }
}

static void hanging_pendulum_is_held_by_its_weight(void **state) {
  (void)state;
  workshop s;
  double   q[7], v[6], a[6], lambda[5], force[YOKE_CONNECTION_MAX_ROWS], g[YOKE_CONNECTION_MAX_ROWS];
  make_pendulum(&s, YOKE_BODY_RIGID, 0.0, 0.0);
  compile(&s, NULL);
  yoke_multibody_initial_guess(s.mb, q, v);
  assert_int_equal(derive(&s, 0.0, q, v, NULL, a, lambda), YOKE_OK);
  assert_true(fabs(lambda[1] - 1.5 * 9.81) < 1e-13); /* side 1 is the bar: +lambda */
  assert_true(fabs(lambda[0]) < 1e-14);
  assert_int_equal(yoke_multibody_connection_output(s.mb, s.work, 0, 0.0, q, v, NULL, lambda, force, g), 5);
  assert_true(fabs(force[1] - 1.5 * 9.81) < 1e-13 && fabs(g[1]) < 1e-15);
  close_workshop(&s);
}

static void projection_lands_on_the_constraints(void **state) {
  (void)state;
  workshop s;
  double   q[7], v[6], g[5], gd[5];
  make_pendulum(&s, YOKE_BODY_RIGID, 0.7, 1.3);
  compile(&s, NULL);
  yoke_multibody_initial_guess(s.mb, q, v);
  for (int i = 0; i < 7; ++i) q[i] += 0.02 * (i + 1);
  for (int i = 0; i < 6; ++i) v[i] += 0.1 * (i - 2);
  assert_int_equal(s.equations.ops->project_position(s.equations.self, s.work, 0.0, q), YOKE_OK);
  assert_int_equal(s.equations.ops->project_velocity(s.equations.self, s.work, 0.0, q, v), YOKE_OK);
  s.equations.ops->constraint(s.equations.self, s.work, 0.0, q, v, g, gd);
  for (int i = 0; i < 5; ++i) assert_true(fabs(g[i]) < 2e-13 && fabs(gd[i]) < 1e-13);
  assert_true(fabs(quaternion_norm2(q + 3) - 1.0) < 1e-15);
  close_workshop(&s);
}

static void impossible_row_names_the_joint(void **state) {
  (void)state;
  workshop s;
  open_workshop(&s);
  add_body(&s, YOKE_BODY_PLANAR);
  const int ground = add_frame(&s, YOKE_GROUND, 0, 0, 0.3), end = add_frame(&s, 0, 0, 1, 0);
  connect(&s, YOKE_CONNECTION_REVOLUTE, end, ground);
  assert_int_equal(try_compile(&s, NULL), YOKE_E_MODEL);
  assert_non_null(strstr(yoke_context_message(s.ctx, 0), "knee"));
  close_workshop(&s);
}

/* Two equal cranks (bodies 0, 1) and a coupler (body 2): the coupler's middle moves on a circle about (1, 0), so a distance
 * between them repeats what the cranks do. */
static void make_parallelogram(workshop *s, bool redundant) {
  const double angle = 0.9, rate = 1.1;
  open_workshop(s);
  s->model.gravity[1] = -9.81;
  for (int i = 0; i < 3; ++i) {
    yoke_body   *body = add_body(s, YOKE_BODY_PLANAR);
    const double r = i == 2 ? 1.0 : 0.5, base = i == 2 ? 1.0 : 2.0 * i;
    vec3_set(body->position, base + r * cos(angle), r * sin(angle), 0.0);
    vec3_set(body->velocity, -rate * r * sin(angle), rate * r * cos(angle), 0.0);
    body->angle    = i == 2 ? 0.0 : angle;
    body->omega[2] = i == 2 ? 0.0 : rate;
  }
  for (int i = 0; i < 2; ++i) {
    connect(s, YOKE_CONNECTION_REVOLUTE, add_frame(s, i, -0.5, 0, 0), add_frame(s, YOKE_GROUND, 2.0 * i, 0, 0));
    connect(s, YOKE_CONNECTION_REVOLUTE, add_frame(s, i, 0.5, 0, 0), add_frame(s, 2, 2.0 * i - 1.0, 0, 0));
  }
  if (redundant) connect(s, YOKE_CONNECTION_DISTANCE, add_frame(s, 2, 0, 0, 0), add_frame(s, YOKE_GROUND, 1.0, 0, 0));
  compile(s, NULL);
}

static void redundant_parallelogram_has_finite_multipliers(void **state) {
  (void)state;
  double a[2][9], norm[2] = {0.0, 0.0};
  for (int redundant = 0; redundant < 2; ++redundant) {
    workshop s;
    double   q[9], v[9], lambda[9];
    make_parallelogram(&s, redundant == 1);
    assert_int_equal(s.equations.ng, 8 + redundant);
    yoke_multibody_initial_guess(s.mb, q, v);
    assert_int_equal(derive(&s, 0.0, q, v, NULL, a[redundant], lambda), YOKE_OK);
    for (int i = 0; i < s.equations.ng; ++i) norm[redundant] += lambda[i] * lambda[i];
    close_workshop(&s);
  }
  assert_true(norm[1] < norm[0] * 1.5);
  for (int i = 0; i < 9; ++i) assert_true(fabs(a[0][i] - a[1][i]) < 1e-10 * (1.0 + fabs(a[0][i])));
}

static void redundant_parallelogram_can_be_projected(void **state) {
  (void)state;
  workshop s;
  double   q[9], v[9], g[9], gd[9];
  make_parallelogram(&s, true);
  yoke_multibody_initial_guess(s.mb, q, v);
  for (int i = 0; i < 9; ++i) q[i] += 1e-3 * sin(1.0 + i), v[i] += 0.01 * cos(2.0 * i);
  assert_int_equal(s.equations.ops->project_position(s.equations.self, s.work, 0.0, q), YOKE_OK);
  assert_int_equal(s.equations.ops->project_velocity(s.equations.self, s.work, 0.0, q, v), YOKE_OK);
  s.equations.ops->constraint(s.equations.self, s.work, 0.0, q, v, g, gd);
  for (int i = 0; i < 9; ++i) assert_true(fabs(g[i]) < 1e-12 && fabs(gd[i]) < 1e-10);
  close_workshop(&s);
}

/* Every hinge of a hanging chain written `copies` times; accelerations of the 3 n freedoms. */
static void long_chain_acceleration(int n, int copies, double *a) {
  yoke_model      model = {.name          = model_name,
                           .gravity       = {0.0, -9.81, 0.0},
                           .n_bodies      = n,
                           .n_frames      = 2 * n + 1,
                           .n_connections = copies * n};
  yoke_equations  equations;
  yoke_multibody *mb = NULL;
  model.bodies       = calloc((size_t)n, sizeof *model.bodies);
  model.frames       = calloc(2 * (size_t)n + 1, sizeof *model.frames);
  model.connections  = calloc((size_t)(copies * n), sizeof *model.connections);
  double *q = calloc(3 * (size_t)n, sizeof *q), *v = calloc(3 * (size_t)n, sizeof *v);
  assert_true(model.bodies != NULL && model.frames != NULL && model.connections != NULL && q != NULL && v != NULL);
  for (int i = 0; i < n; ++i) {
    model.bodies[i] =
        (yoke_body){.name = body_name, .kind = YOKE_BODY_PLANAR, .mass = 1.0, .position = {i + 0.5, 0.0, 0.0}};
    model.bodies[i].inertia[8] = 0.1;
    for (int k = 0; k < copies; ++k) {
      model.connections[copies * i + k] =
          (yoke_connection){.name = joint_name, .kind = YOKE_CONNECTION_REVOLUTE, .frame = {2 * i + 1, 2 * i}};
    }
  }
  for (int f = 0; f <= 2 * n; ++f) { /* frame 0 on the ground, then left and right end of every bar */
    model.frames[f].name = frame_name;
    model.frames[f].body = (f + 1) / 2 - 1;
    if (f > 0) model.frames[f].origin[0] = f % 2 == 1 ? -0.5 : 0.5;
    model.frames[f].axes[0] = model.frames[f].axes[4] = model.frames[f].axes[8] = 1.0;
  }
  assert_int_equal(yoke_multibody_create(NULL, &model, NULL, &equations, &mb), YOKE_OK);
  assert_int_equal(equations.ng, 2 * copies * n);
  void *work = yoke_allocate(1, equations.work_size);
  assert_non_null(work);
  yoke_multibody_initial_guess(mb, q, v);
  assert_int_equal(equations.ops->derivative(equations.self, work, 0.0, q, v, NULL, NULL, a, NULL), YOKE_OK);
  yoke_equations_destroy(&equations);
  free(work);
  free(q);
  free(v);
  free(model.bodies);
  free(model.frames);
  free(model.connections);
}

static void repeated_joints_of_a_long_chain_change_nothing(void **state) {
  (void)state;
  enum { N = 160 }; /* 640 rows: more than the dense minimum-norm solve takes */
  double once[3 * N], twice[3 * N];
  long_chain_acceleration(N, 1, once);
  long_chain_acceleration(N, 2, twice);
  for (int i = 0; i < 3 * N; ++i) assert_true(fabs(once[i] - twice[i]) < 1e-6 * (1.0 + fabs(once[i])));
}

static void prescribed_angle_gives_the_prescribed_acceleration(void **state) {
  (void)state;
  workshop s;
  double   q[7], v[6], a[6], lambda[6];
  make_pendulum(&s, YOKE_BODY_RIGID, 0.0, 0.0);
  s.connections[0].frame[0] = 0; /* side 1 is the ground: the coordinate is the bar's angle */
  s.connections[0].frame[1] = 1;
  s.connections[0].motion   = expression(&s, "0.3*sin(2*t) + 3");
  compile(&s, NULL);
  assert_int_equal(s.equations.ng, 6);
  yoke_multibody_initial_guess(s.mb, q, v);
  const double t = 0.4, angle = 0.3 * sin(0.8) + 3.0, rate = 0.6 * cos(0.8), second = -1.2 * sin(0.8);
  q[3] = cos(angle / 2.0 + 0.05);
  q[6] = sin(angle / 2.0 + 0.05);
  assert_int_equal(s.equations.ops->project_position(s.equations.self, s.work, t, q), YOKE_OK);
  assert_int_equal(s.equations.ops->project_velocity(s.equations.self, s.work, t, q, v), YOKE_OK);
  assert_int_equal(derive(&s, t, q, v, NULL, a, lambda), YOKE_OK);
  assert_true(fabs(q[3] - cos(angle / 2.0)) < 1e-12);
  assert_true(fabs(v[5] - rate) < 1e-12);
  assert_true(fabs(a[5] - second) < 1e-10);
  close_workshop(&s);
}

static void power_balance_holds_with_every_kind_of_force(void **state) {
  (void)state;
  workshop s;
  double   q[16], v[12], qdot[16], a[12], lambda[6];
  open_workshop(&s);
  vec3_set(s.model.gravity, 0.3, -9.81, 0.2);
  for (int i = 0; i < 2; ++i) {
    yoke_body *body = add_body(&s, YOKE_BODY_RIGID);
    uint32_t   seed = 77u + (uint32_t)i;
    for (int k = 0; k < 4; ++k) body->orientation[k] = pseudo_random(&seed);
    for (int k = 0; k < 3; ++k) {
      body->position[k] = pseudo_random(&seed);
      body->velocity[k] = pseudo_random(&seed);
      body->omega[k]    = pseudo_random(&seed);
    }
  }
  const int a1 = add_frame(&s, 0, 0.1, 0.2, -0.3), b1 = add_frame(&s, 1, -0.4, 0.1, 0.2),
            ground            = add_frame(&s, YOKE_GROUND, 0.2, 0.1, 0);
  yoke_connection *spring     = connect(&s, YOKE_CONNECTION_SPRING_DAMPER, a1, b1);
  spring->law.stiffness       = 100.0;
  spring->law.damping         = 3.0;
  spring->law.stiffness_power = 50.0;
  yoke_connection *bushing    = connect(&s, YOKE_CONNECTION_BUSHING, b1, ground);
  for (int i = 0; i < 6; ++i) bushing->stiffness[i] = 10.0 + i, bushing->damping[i] = 0.5 + 0.1 * i;
  connect(&s, YOKE_CONNECTION_SPHERICAL, a1, ground);
  yoke_load *load            = &s.loads[s.model.n_loads++];
  *load                      = (yoke_load){.name = load_name, .kind = YOKE_LOAD_FORCE, .frame = b1, .follower = true};
  load->value[0]             = expression(&s, "2 + sin(t)");
  s.loads[s.model.n_loads++] = (yoke_load){.name            = load_name,
                                           .kind            = YOKE_LOAD_DRAG,
                                           .frame           = b1,
                                           .drag_linear     = 0.4,
                                           .drag_quadratic  = 0.3,
                                           .drag_rotational = 0.2};
  s.loads[s.model.n_loads++] = (yoke_load){.name      = load_name,
                                           .kind      = YOKE_LOAD_CONTACT,
                                           .frame     = a1,
                                           .amplitude = -2.0,
                                           .slope     = 3.0,
                                           .direction = {0.6, 0.8, 0.0}};
  const yoke_multibody_options options = {.energy = true};
  compile(&s, &options);
  assert_int_equal(s.equations.n_quadratures, 2);
  yoke_multibody_initial_guess(s.mb, q, v);
  assert_int_equal(s.equations.ops->project_position(s.equations.self, s.work, 0.3, q), YOKE_OK);
  assert_int_equal(s.equations.ops->project_velocity(s.equations.self, s.work, 0.3, q, v), YOKE_OK);
  assert_int_equal(derive(&s, 0.3, q, v, qdot, a, lambda), YOKE_OK);
  double E[2];
  for (int side = 0; side < 2; ++side) {
    double       qh[16], vh[12];
    const double h = side == 0 ? 1e-6 : -1e-6;
    yoke_energy  e;
    for (int i = 0; i < 16; ++i) qh[i] = q[i] + h * qdot[i];
    for (int i = 0; i < 12; ++i) vh[i] = v[i] + h * a[i];
    s.equations.ops->energy(s.equations.self, s.work, 0.3 + h, qh, vh, &e);
    E[side] = e.kinetic + e.potential + e.dissipated - e.external;
  }
  assert_true(fabs(E[0] - E[1]) / 2e-6 < 1e-7);
  assert_true(qdot[14] > 0.0);
  close_workshop(&s);
}

/* GGL with mu = nu = 0: q' and M v' are those of the ordinary view. */
static void implicit_view_agrees_with_the_ordinary_one(void **state) {
  (void)state;
  workshop  s;
  double    x[7 + 6 + 5 + 5 + 1] = {0.0}, F[24], qdot[7], a[6], Ma[6];
  yoke_dae *dae                  = NULL;
  make_pendulum(&s, YOKE_BODY_RIGID, 0.7, 1.3);
  compile(&s, NULL);
  yoke_multibody_initial_guess(s.mb, x, x + 7);
  assert_int_equal(derive(&s, 0.0, x, x + 7, qdot, a, x + 13), YOKE_OK);
  assert_int_equal(s.equations.ops->dae_create(s.equations.self, s.ctx, YOKE_DAE_GGL, &dae), YOKE_OK);
  assert_int_equal(dae->nx, 24);
  assert_int_equal(s.equations.ops->dae_rhs(s.equations.self, dae, s.work, 0.0, x, NULL, F), YOKE_OK);
  yoke_multibody_mass_apply(s.mb, a, Ma);
  for (int i = 0; i < 7; ++i) assert_true(fabs(F[i] - qdot[i]) < 1e-15);
  for (int i = 0; i < 6; ++i) assert_true(fabs(F[7 + i] - Ma[i]) < 1e-13);
  for (int i = 13; i < 24; ++i) assert_true(fabs(F[i]) < 1e-14);
  yoke_dae_destroy(&dae);
  close_workshop(&s);
}

/* ---- Jacobians ---- */

static void random_state(const workshop *s, const yoke_dae *dae, uint32_t seed, double *x) {
  for (int i = 0; i < dae->nx; ++i) x[i] = pseudo_random(&seed);
  for (int b = 0; b < s->model.n_bodies; ++b) {
    if (s->bodies[b].kind != YOKE_BODY_RIGID) continue;
    double *p = x + yoke_multibody_q_offset(s->mb, b) + 3;
    quaternion_normalise(p);
    for (int i = 0; i < 4; ++i) p[i] *= 1.1; /* derivatives must be right off the unit sphere too */
  }
}

static void check_jacobian(workshop *s, yoke_dae_form form, const double *u) {
  const yoke_equations_ops *ops = s->equations.ops;
  yoke_dae                 *dae = NULL;
  assert_int_equal(ops->dae_create(s->equations.self, s->ctx, form, &dae), YOKE_OK);
  int nx = 0, nnz = 0; /* told without making it */
  ops->dae_size(s->equations.self, form, &nx, &nnz);
  assert_int_equal(nx, dae->nx);
  assert_true(nnz >= dae->pattern->nnz);
  const int n = dae->nx;
  double   *x = calloc((size_t)(4 * n + dae->pattern->nnz), sizeof *x), *plus = x + n, *Fp = x + 2 * n, *Fm = x + 3 * n,
         *J = x + 4 * n;
  assert_non_null(x);
  random_state(s, dae, 31u, x);
  assert_int_equal(ops->dae_jacobian(s->equations.self, dae, s->work, 0.37, x, u, J), YOKE_OK);
  for (int c = 0; c < n; ++c) {
    memcpy(plus, x, (size_t)n * sizeof *x);
    plus[c] = x[c] + 1e-6;
    assert_int_equal(ops->dae_rhs(s->equations.self, dae, s->work, 0.37, plus, u, Fp), YOKE_OK);
    plus[c] = x[c] - 1e-6;
    assert_int_equal(ops->dae_rhs(s->equations.self, dae, s->work, 0.37, plus, u, Fm), YOKE_OK);
    for (int r = 0; r < n; ++r) {
      if (dae->component[r] == YOKE_COMPONENT_INTEGRAL || dae->component[r] == YOKE_COMPONENT_QUADRATURE)
        continue; /* no row */
      const double difference = (Fp[r] - Fm[r]) / 2e-6, exact = entry(dae->pattern, J, r, c);
      if (!(fabs(difference - exact) < 2e-7 * (1.0 + fabs(exact)))) {
        fail_msg("form %d row %d column %d: %.10g, differences give %.10g", (int)form, r, c, exact, difference);
      }
    }
  }
  free(x);
  yoke_dae_destroy(&dae);
}

/* One connection between two bodies (kind -1: the ground). Random frames, or frames in which every pair of kinds fits. */
static bool build_pair(workshop *s, yoke_connection_kind kind, int kind1, int kind2, bool aligned, bool flexible,
                       bool driven) {
  const int kinds[2] = {kind1, kind2};
  int       frame[2];
  uint32_t  seed = 5u;
  open_workshop(s);
  vec3_set(s->model.gravity, 1.0, 2.0, 3.0);
  for (int i = 0; i < 2; ++i) {
    int body = YOKE_GROUND;
    if (kinds[i] >= 0) {
      body                                               = s->model.n_bodies;
      add_body(s, (yoke_body_kind)kinds[i])->position[0] = 1.0 + i;
    }
    const double x = pseudo_random(&seed), y = pseudo_random(&seed), z = pseudo_random(&seed);
    frame[i] = add_frame(s, body, x, aligned ? 0.0 : y, aligned ? 0.0 : z);
    double p[4];
    for (int k = 0; k < 4; ++k) p[k] = pseudo_random(&seed);
    if (!aligned) quaternion_rotation(s->frames[frame[i]].axes, p);
    if (aligned && i == 1 && (kind == YOKE_CONNECTION_UNIVERSAL || kind == YOKE_CONNECTION_PERPENDICULAR)) {
      const double quarter[9] = {0, 0, 1, 0, 1, 0, -1, 0, 0}; /* z2 along x */
      memcpy(s->frames[frame[i]].axes, quarter, sizeof quarter);
    }
  }
  yoke_connection *c = connect(s, kind, frame[0], frame[1]);
  for (int i = 0; i < 6; ++i) {
    c->stiffness[i] = 3.0 + i;
    c->damping[i]   = 0.5 + 0.2 * i;
  }
  c->flexible            = flexible;
  c->law.stiffness       = 7.0;
  c->law.damping         = 0.6;
  c->law.stiffness_power = 2.0;
  c->law.damping_power   = 0.3;
  c->length              = 0.4;
  c->has_length          = kind != YOKE_CONNECTION_DISTANCE;
  if (driven) c->motion = expression(s, "0.2 + 0.5*sin(3*t)");
  const yoke_multibody_options options = {.alpha = 0.7, .beta = 1.9, .energy = flexible};
  return try_compile(s, &options) == YOKE_OK;
}

static int check_all_pairs(bool aligned, bool flexible, bool driven) {
  int n_checked = 0;
  for (size_t k = 0; k < sizeof all_connections / sizeof all_connections[0]; ++k) {
    const yoke_connection_kind kind = all_connections[k];
    const bool has_coordinate       = kind == YOKE_CONNECTION_REVOLUTE || kind == YOKE_CONNECTION_CYLINDRICAL ||
                                kind == YOKE_CONNECTION_TRANSLATIONAL;
    if (driven && !has_coordinate) continue;
    for (int kind1 = -1; kind1 <= YOKE_BODY_MASS1D; ++kind1) {
      for (int kind2 = kind1 < 0 ? 0 : -1; kind2 <= YOKE_BODY_MASS1D; ++kind2) {
        workshop s;
        if (build_pair(&s, kind, kind1, kind2, aligned, flexible, driven)) {
          check_jacobian(&s, YOKE_DAE_GGL, NULL);
          check_jacobian(&s, YOKE_DAE_INDEX1, NULL);
          ++n_checked;
        } else if (aligned && !driven) {
          fail_msg("%s between kinds %d and %d: %s", yoke_connection_kind_name(kind), kind1, kind2,
                   yoke_context_message(s.ctx, 0));
        }
        close_workshop(&s);
      }
    }
  }
  return n_checked;
}

static void jacobian_of_every_connection_between_every_pair_of_kinds(void **state) {
  (void)state;
  assert_int_equal(check_all_pairs(true, false, false), 16 * 24);
}

static void jacobian_holds_for_skew_frames(void **state) {
  (void)state;
  assert_true(check_all_pairs(false, false, false) > 200);
}

static void jacobian_of_every_flexible_joint(void **state) {
  (void)state;
  assert_true(check_all_pairs(false, true, false) == 16 * 24);
}

static void jacobian_of_prescribed_motions(void **state) {
  (void)state;
  assert_true(check_all_pairs(true, false, true) > 20);
}

static void jacobian_of_loads_and_inputs(void **state) {
  (void)state;
  for (int kind = 0; kind <= YOKE_BODY_MASS1D; ++kind) {
    workshop s;
    open_workshop(&s);
    add_body(&s, (yoke_body_kind)kind);
    add_body(&s, YOKE_BODY_RIGID);
    s.variables[0]      = (yoke_variable){.body = 0, .component = 0};
    s.variables[1]      = (yoke_variable){.body = 1, .is_velocity = true, .component = 4};
    s.variables[2]      = (yoke_variable){.body = 1, .component = 5};
    s.model.n_variables = 3;
    const int    frame  = add_frame(&s, 0, 0.3, -0.2, 0.5);
    const double p[4]   = {0.3, 0.5, -0.2, 0.7};
    quaternion_rotation(s.frames[frame].axes, p);
    for (int i = 0; i < 4; ++i) {
      yoke_load *load = &s.loads[s.model.n_loads++];
      *load           = (yoke_load){.name     = load_name,
                                    .kind     = i < 2 ? YOKE_LOAD_FORCE : YOKE_LOAD_TORQUE,
                                    .frame    = frame,
                                    .follower = i % 2 == 1};
      load->value[0]  = expression(&s, "k1*k2 + sin(t)");
      load->value[2]  = expression(&s, "k3^2 - 2");
    }
    s.loads[s.model.n_loads++]             = (yoke_load){.name            = load_name,
                                                         .kind            = YOKE_LOAD_DRAG,
                                                         .frame           = frame,
                                                         .drag_linear     = 0.4,
                                                         .drag_quadratic  = 0.3,
                                                         .drag_rotational = 0.2};
    s.loads[s.model.n_loads++]             = (yoke_load){.name      = load_name,
                                                         .kind      = YOKE_LOAD_CONTACT,
                                                         .frame     = frame,
                                                         .amplitude = -2.0,
                                                         .slope     = 1.5,
                                                         .direction = {0.6, 0.0, 0.8}};
    const yoke_input             inputs[2] = {{YOKE_INPUT_FORCE, frame, 1, 1.0}, {YOKE_INPUT_FORCE, frame, 5, -1.0}};
    const yoke_multibody_options options   = {.n_inputs = 2, .inputs = inputs};
    const double                 u[2]      = {1.7, -0.4};
    compile(&s, &options);
    check_jacobian(&s, YOKE_DAE_GGL, u);
    check_jacobian(&s, YOKE_DAE_INDEX1, u);
    close_workshop(&s);
  }
}

static void contact_far_inside_the_wall_is_not_finite(void **state) {
  (void)state;
  workshop s;
  open_workshop(&s);
  add_body(&s, YOKE_BODY_MASS1D)->position[0] = 10.0;
  s.loads[s.model.n_loads++]                  = (yoke_load){.name      = load_name,
                                                            .kind      = YOKE_LOAD_CONTACT,
                                                            .frame     = add_frame(&s, 0, 0, 0, 0),
                                                            .amplitude = -1.0,
                                                            .slope     = 1e3,
                                                            .direction = {1.0, 0.0, 0.0}};
  compile(&s, NULL);
  double q[1], v[1], a[1];
  yoke_multibody_initial_guess(s.mb, q, v);
  assert_int_equal(derive(&s, 0.0, q, v, NULL, a, NULL), YOKE_NON_FINITE);
  close_workshop(&s);
}

/* ---- one-dimensional models ---- */

static void two_masses_are_linear(void **state) {
  (void)state;
  workshop s;
  double   A[16], B[4], b[4];
  open_workshop(&s);
  s.model.gravity[0]                   = 2.0;
  add_body(&s, YOKE_BODY_MASS1D)->mass = 1.0;
  add_body(&s, YOKE_BODY_MASS1D)->mass = 2.0;
  const int        f[3] = {add_frame(&s, YOKE_GROUND, 0, 0, 0), add_frame(&s, 0, 0, 0, 0), add_frame(&s, 1, 0, 0, 0)};
  yoke_connection *c1   = connect(&s, YOKE_CONNECTION_SPRING_DAMPER, f[0], f[1]),
                  *c2   = connect(&s, YOKE_CONNECTION_SPRING_DAMPER, f[1], f[2]);
  c1->law.stiffness     = 100.0;
  c1->has_length = c2->has_length      = true;
  c2->law.stiffness                    = 30.0;
  c2->law.damping                      = 0.5;
  c2->length                           = 0.1;
  const yoke_input             input   = {YOKE_INPUT_FORCE, f[2], 0, 1.0};
  const yoke_multibody_options options = {.n_inputs = 1, .inputs = &input};
  compile(&s, &options);
  assert_true(s.equations.is_second_order);
  assert_int_equal(s.equations.ops->linear(s.equations.self, s.work, A, B, b), YOKE_OK);
  const double expected[16] = {0, 0, 1, 0, 0, 0, 0, 1, -130, 30, -0.5, 0.5, 15, -15, 0.25, -0.25};
  for (int i = 0; i < 16; ++i) assert_true(fabs(A[i] - expected[i]) < 1e-12);
  assert_true(fabs(B[3] - 0.5) < 1e-14 && B[0] == 0.0 && B[2] == 0.0);
  assert_true(fabs(b[2] - (2.0 - 3.0)) < 1e-14 && fabs(b[3] - (2.0 + 1.5)) < 1e-14);
  close_workshop(&s);
}

static void chain_mass_tied_to_a_particle_has_exact_jacobian(void **state) {
  (void)state;
  workshop   s;
  yoke_chain chain = small_chain();
  open_workshop(&s);
  yoke_body *body = add_body(&s, YOKE_BODY_CHAIN);
  body->chain     = &chain;
  add_body(&s, YOKE_BODY_PARTICLE);
  const int on_chain = add_frame(&s, 0, 0, 0, 0), other = add_frame(&s, 0, 0, 0, 0),
            on_particle   = add_frame(&s, 1, 0, 0, 0);
  s.frames[on_chain].mass = 2;
  s.frames[other].mass    = 4;
  connect(&s, YOKE_CONNECTION_SPHERICAL, on_chain, on_particle);
  connect(&s, YOKE_CONNECTION_SPRING_DAMPER, other, on_particle)->law.stiffness = 4.0;
  const yoke_multibody_options options                                          = {.energy = true};
  compile(&s, &options);
  check_jacobian(&s, YOKE_DAE_GGL, NULL);
  check_jacobian(&s, YOKE_DAE_INDEX1, NULL);
  double q[10] = {0.01, 0.02, 0.0, 0.03, 0.01}, v[8] = {0.1}, a[8], lambda[3];
  assert_int_equal(derive(&s, 0.0, q, v, NULL, a, lambda), YOKE_OK);
  assert_true(fabs(a[2] - a[5]) < 1e-13); /* they move together */
  close_workshop(&s);
}

static void chain_alone_gets_its_own_equations(void **state) {
  (void)state;
  workshop   s;
  yoke_chain chain = small_chain();
  open_workshop(&s);
  add_body(&s, YOKE_BODY_CHAIN)->chain = &chain;
  compile(&s, NULL);
  assert_string_equal(s.equations.ops->kind, "chain");
  double q[5], v[5];
  yoke_multibody_initial_guess(s.mb, q, v);
  assert_true(q[4] == 0.01 && v[0] == 0.0);
  close_workshop(&s);
}

static void integrals_are_quadratures_of_positions(void **state) {
  (void)state;
  workshop            s;
  const yoke_variable wanted = {.body = 0, .component = 1};
  double              q[4], v[3], qdot[4], a[3];
  open_workshop(&s);
  add_body(&s, YOKE_BODY_PARTICLE)->position[1] = 4.0;
  const yoke_multibody_options options          = {.n_integrals = 1, .integrals = &wanted};
  compile(&s, &options);
  assert_int_equal(s.equations.nq, 4);
  yoke_multibody_initial_guess(s.mb, q, v);
  assert_int_equal(derive(&s, 0.0, q, v, qdot, a, NULL), YOKE_OK);
  assert_true(qdot[3] == 4.0);
  close_workshop(&s);
}

static void events_read_the_state(void **state) {
  (void)state;
  workshop s;
  double   q[3] = {1.0, 2.0, 3.0}, v[3] = {0.0, -5.0, 0.0}, value[1];
  open_workshop(&s);
  add_body(&s, YOKE_BODY_PARTICLE);
  s.variables[0]      = (yoke_variable){.body = 0, .is_velocity = true, .component = 1};
  s.model.n_variables = 1;
  s.events[0].when    = expression(&s, "k1 + 2*t");
  s.model.n_events    = 1;
  compile(&s, NULL);
  s.equations.ops->events(s.equations.self, s.work, 3.0, q, v, NULL, value);
  assert_true(value[0] == 1.0);
  close_workshop(&s);
}

static void joint_coordinate_counts_from_frame_1(void **state) {
  (void)state;
  workshop s;
  double   q[7], v[6], coordinate, rate, value[12];
  int      column[12];
  make_pendulum(&s, YOKE_BODY_RIGID, 0.7, 1.3);
  compile(&s, NULL);
  yoke_multibody_initial_guess(s.mb, q, v);
  assert_int_equal(yoke_multibody_joint_coordinate(s.mb, s.work, 0, q, v, &coordinate, &rate, column, value), 6);
  assert_true(fabs(coordinate + 0.7) < 1e-15); /* the ground, frame 2, against the bar */
  assert_true(fabs(rate + 1.3) < 1e-15);
  assert_true(column[5] == 5 && fabs(value[5] + 1.0) < 1e-15);
  close_workshop(&s);
}

/* ---- ports and ghosts ---- */

static void set_random(const workshop *s, uint32_t seed, double *q, double *v) {
  for (int i = 0; i < s->equations.nq; ++i) q[i] = pseudo_random(&seed);
  for (int i = 0; i < s->equations.nv; ++i) v[i] = pseudo_random(&seed);
  for (int b = 0; b < s->model.n_bodies; ++b) {
    if (s->bodies[b].kind == YOKE_BODY_RIGID) quaternion_normalise(q + yoke_multibody_q_offset(s->mb, b) + 3);
  }
}

/* Body 0 of the whole accelerates like the only body of the part, where a ghost stands for body 1. */
static void check_ghost(yoke_connection_kind kind, yoke_body_kind kind1, yoke_body_kind kind2, int ghost_side) {
  workshop   whole, part;
  double     q[14], v[12], a[12], a_part[6], y[YOKE_PORT_MAX_Y];
  yoke_input inputs[13];
  open_workshop(&whole);
  add_body(&whole, kind1);
  add_body(&whole, kind2);
  const int f1 = off_centre_frame(&whole, 0, kind1, 1.0), f2 = off_centre_frame(&whole, 1, kind2, -0.7);
  set_flexible(connect(&whole, kind, ghost_side == 1 ? f1 : f2, ghost_side == 1 ? f2 : f1));
  const yoke_multibody_options port = {.n_ports = 1, .port_frame = &f2};
  compile(&whole, &port);
  set_random(&whole, 77u, q, v);
  assert_int_equal(derive(&whole, 0.2, q, v, NULL, a, NULL), YOKE_OK);
  yoke_multibody_port(whole.mb, whole.work, 0, q, v, a, y);

  open_workshop(&part);
  add_body(&part, kind1);
  const int g1 = off_centre_frame(&part, 0, kind1, 1.0), g2 = add_ghost(&part, kind2);
  set_flexible(connect(&part, kind, ghost_side == 1 ? g1 : g2, ghost_side == 1 ? g2 : g1));
  const yoke_multibody_options options = {.n_inputs = ghost_inputs(0, kind2, inputs), .inputs = inputs};
  compile(&part, &options);
  assert_int_equal(part.equations.ops->derivative(part.equations.self, part.work, 0.2, q, v, y, NULL, a_part, NULL),
                   YOKE_OK);
  for (int i = 0; i < part.equations.nv; ++i) {
    if (fabs(a[i] - a_part[i]) < 1e-12 * (1.0 + fabs(a[i]))) continue;
    fail_msg("%s between kinds %d and %d, freedom %d: %.15g, with a ghost %.15g", yoke_connection_kind_name(kind),
             (int)kind1, (int)kind2, i, a[i], a_part[i]);
  }
  check_jacobian(&part, YOKE_DAE_GGL, y);
  check_jacobian(&part, YOKE_DAE_INDEX1, y);
  close_workshop(&part);
  close_workshop(&whole);
}

static void ghost_acts_as_the_body_it_stands_for(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof all_connections / sizeof all_connections[0]; ++k) {
    for (int kind1 = 0; kind1 <= YOKE_BODY_MASS1D; ++kind1) {
      for (int kind2 = 0; kind2 <= YOKE_BODY_MASS1D; ++kind2) {
        check_ghost(all_connections[k], (yoke_body_kind)kind1, (yoke_body_kind)kind2, 1);
        check_ghost(all_connections[k], (yoke_body_kind)kind1, (yoke_body_kind)kind2, 0);
      }
    }
  }
}

static void ghost_without_inputs_stays_where_the_model_put_it(void **state) {
  (void)state;
  workshop     s;
  const double q[1] = {0.5}, v[1] = {0.1}, u[1] = {2.0};
  double       a[1];
  open_workshop(&s);
  add_body(&s, YOKE_BODY_MASS1D)->mass = 2.0;
  const int body = add_frame(&s, 0, 0, 0, 0), ghost = add_ghost(&s, YOKE_BODY_MASS1D);
  s.ghosts[0].p[0]                     = 1.5;
  s.ghosts[0].v[0]                     = -0.3;
  yoke_connection *c                   = connect(&s, YOKE_CONNECTION_SPRING_DAMPER, body, ghost);
  c->law.stiffness                     = 10.0;
  c->law.damping                       = 4.0;
  c->has_length                        = true;
  const yoke_input             input   = {YOKE_INPUT_GHOST_P, 0, 0, 1.0};
  const yoke_multibody_options options = {.n_inputs = 1, .inputs = &input};
  compile(&s, &options);
  assert_int_equal(s.equations.ops->derivative(s.equations.self, s.work, 0.0, q, v, u, NULL, a, NULL), YOKE_OK);
  assert_true(fabs(a[0] - (10.0 * (2.0 - 0.5) + 4.0 * (-0.3 - 0.1)) / 2.0) < 1e-14);
  close_workshop(&s);
}

static void rigid_joint_at_a_ghost_is_refused(void **state) {
  (void)state;
  workshop s;
  open_workshop(&s);
  add_body(&s, YOKE_BODY_RIGID);
  connect(&s, YOKE_CONNECTION_REVOLUTE, add_frame(&s, 0, 0, 0, 0), add_ghost(&s, YOKE_BODY_RIGID));
  assert_int_equal(try_compile(&s, NULL), YOKE_E_MODEL);
  assert_non_null(strstr(yoke_context_message(s.ctx, 0), "knee"));
  assert_non_null(strstr(yoke_context_message(s.ctx, 0), "revolute"));
  close_workshop(&s);
}

/* ---- joints driven by multipliers ---- */

/* q' of the part under second multipliers mu is that of v + mu G, G from the whole. u has room for them behind its n. */
static void check_second_multipliers(workshop *whole, workshop *part, int n, const yoke_input *inputs, double *u,
                                     const double *q, const double *v) {
  const yoke_pattern *pattern = yoke_multibody_G_pattern(whole->mb);
  const int           nv = part->equations.nv, nq = part->equations.nq;
  yoke_input          more[32];
  double              G[200], moved[6], qdot[2][7], a[6];
  int                 m = n;
  assert_true(pattern->nnz <= 200);
  yoke_multibody_G(whole->mb, whole->work, 0.2, q, G);
  memcpy(more, inputs, (size_t)n * sizeof *more);
  memcpy(moved, v, (size_t)nv * sizeof *moved);
  for (int i = 0, row = 0; i < n; ++i) {
    if (inputs[i].kind != YOKE_INPUT_LAMBDA) continue;
    u[m]         = 0.3 + 0.1 * row;
    more[m]      = inputs[i];
    more[m].kind = YOKE_INPUT_MU;
    for (int c = 0; c < nv; ++c) moved[c] += u[m] * entry(pattern, G, row, c);
    ++m;
    ++row;
  }
  const yoke_equations *e = &part->equations;
  assert_int_equal(e->ops->derivative(e->self, part->work, 0.2, q, moved, u, qdot[0], a, NULL), YOKE_OK);
  yoke_equations_destroy(&part->equations);
  free(part->work);
  const yoke_multibody_options options = {.n_inputs = m, .inputs = more};
  compile(part, &options);
  assert_false(e->is_second_order);
  assert_int_equal(e->ops->derivative(e->self, part->work, 0.2, q, v, u, qdot[1], a, NULL), YOKE_OK);
  for (int i = 0; i < nq; ++i) assert_true(fabs(qdot[0][i] - qdot[1][i]) < 1e-12 * (1.0 + fabs(qdot[0][i])));
  check_jacobian(part, YOKE_DAE_GGL, u);
  check_jacobian(part, YOKE_DAE_INDEX1, u);
}

/* Body 0 of the whole accelerates like the only body of the part under the multipliers of the whole. False: the joint does nothing. */
static bool check_driven(yoke_connection_kind kind, yoke_body_kind kind1, yoke_body_kind kind2, int ghost_side) {
  const bool           skew     = kind1 == YOKE_BODY_RIGID && kind2 == YOKE_BODY_RIGID;
  const yoke_body_kind kinds[2] = {ghost_side == 1 ? kind1 : kind2, ghost_side == 1 ? kind2 : kind1};
  workshop             whole, part;
  double q[14], v[12], a[12], lambda[6], a_part[6], y[YOKE_PORT_MAX_Y], u[32], force[YOKE_CONNECTION_MAX_ROWS],
      g[YOKE_CONNECTION_MAX_ROWS];
  yoke_input inputs[20];
  open_workshop(&whole);
  vec3_set(whole.model.gravity, 1.0, 2.0, 3.0);
  add_body(&whole, kind1)->position[0] = 1.0;
  add_body(&whole, kind2)->position[0] = 3.0;
  const int f1 = add_frame(&whole, 0, 0.3, 0, 0), f2 = add_frame(&whole, 1, -0.7, 0, 0);
  const int port_frame = add_frame(&whole, 1, -0.7, 0, 0);
  joint_axes(&whole, kind, skew, f1, f2);
  connect(&whole, kind, ghost_side == 1 ? f1 : f2, ghost_side == 1 ? f2 : f1);
  const yoke_multibody_options port = {.n_ports = 1, .port_frame = &port_frame};
  compile(&whole, &port);
  const bool acts = whole.equations.ng > 0;
  if (acts) {
    set_random(&whole, 77u, q, v);
    assert_int_equal(derive(&whole, 0.2, q, v, NULL, a, lambda), YOKE_OK);
    yoke_multibody_port(whole.mb, whole.work, 0, q, v, a, y);
    yoke_multibody_connection_output(whole.mb, whole.work, 0, 0.2, q, v, NULL, lambda, force, g);
    open_workshop(&part);
    vec3_set(part.model.gravity, 1.0, 2.0, 3.0);
    add_body(&part, kind1);
    const int g1 = add_frame(&part, 0, 0.3, 0, 0), g2 = add_ghost(&part, kind2);
    joint_axes(&part, kind, skew, g1, g2);
    connect(&part, kind, ghost_side == 1 ? g1 : g2, ghost_side == 1 ? g2 : g1);
    int n = ghost_inputs(0, kind2, inputs);
    memcpy(u, y, (size_t)n * sizeof *u);
    const int n_lambda = lambda_inputs(&part, kinds, inputs + n);
    assert_int_equal(n_lambda, whole.equations.ng);
    for (int i = 0; i < n_lambda; ++i) u[n + i] = force[inputs[n + i].component];
    const yoke_multibody_options options = {.n_inputs = n + n_lambda, .inputs = inputs};
    compile(&part, &options);
    assert_int_equal(part.equations.ng, 0);
    assert_int_equal(part.equations.ops->derivative(part.equations.self, part.work, 0.2, q, v, u, NULL, a_part, NULL),
                     YOKE_OK);
    for (int i = 0; i < part.equations.nv; ++i) {
      if (fabs(a[i] - a_part[i]) < 1e-11 * (1.0 + fabs(a[i]))) continue;
      fail_msg("%s between kinds %d and %d, freedom %d: %.15g, driven %.15g", yoke_connection_kind_name(kind),
               (int)kind1, (int)kind2, i, a[i], a_part[i]);
    }
    check_jacobian(&part, YOKE_DAE_GGL, u);
    check_jacobian(&part, YOKE_DAE_INDEX1, u);
    check_second_multipliers(&whole, &part, n + n_lambda, inputs, u, q, v);
    close_workshop(&part);
  }
  close_workshop(&whole);
  return acts;
}

static void joint_under_its_multipliers_acts_as_the_joint_itself(void **state) {
  int n = 0;
  (void)state;
  for (size_t k = 0; all_connections[k] != YOKE_CONNECTION_SPRING_DAMPER; ++k) {
    for (int kind1 = 0; kind1 <= YOKE_BODY_MASS1D; ++kind1) {
      for (int kind2 = 0; kind2 <= YOKE_BODY_MASS1D; ++kind2) {
        for (int side = 0; side < 2; ++side) {
          n += check_driven(all_connections[k], (yoke_body_kind)kind1, (yoke_body_kind)kind2, side);
        }
      }
    }
  }
  assert_true(n > 300);
}

/* ---- guided rows ---- */

enum { MOST_GUIDED = 6 };

/* grad . A of the share of one side in row r of joint 0, from the outputs y of the frames at its two ends. */
static double side_share(const workshop *part, int r, int side, const yoke_body_kind kind[2],
                         const double *const y[2]) {
  const yoke_connection *c    = &part->connections[0];
  yoke_link              link = {.node = {0, 1}};
  yoke_pose              poses[2];
  yoke_link_state        state;
  yoke_row               rows[6];
  double                 grad[12], sum = 0.0;
  for (int s = 0; s < 2; ++s) {
    memcpy(link.axes[s], part->frames[c->frame[s]].axes, sizeof link.axes[s]);
    yoke_shape_pose(yoke_body_shape(kind[s]), y[s], NULL, &poses[s]);
  }
  yoke_link_state_set(&link, poses, &state);
  yoke_joint_rows(c->kind, rows);
  yoke_row_gradient(&rows[r], &state, grad);
  const yoke_port_shape *shape = yoke_body_shape(kind[side]);
  for (int k = 0; k < shape->n_v; ++k) {
    sum += grad[6 * side + shape->v[k].freedom] * y[side][yoke_shape_at_a(shape) + k];
  }
  return sum;
}

/* Two bodies and, on the first, a third one in a joint of its own. */
static void add_guided_model(workshop *s, yoke_connection_kind kind, yoke_body_kind kind1, yoke_body_kind kind2,
                             int ghost_side, bool is_part, bool has_own) {
  const bool skew = kind1 == YOKE_BODY_RIGID && kind2 == YOKE_BODY_RIGID;
  open_workshop(s);
  vec3_set(s->model.gravity, 1.0, 2.0, 3.0);
  add_body(s, kind1)->position[0] = 1.0;
  if (has_own) add_body(s, kind1)->position[0] = 0.5;
  if (!is_part) add_body(s, kind2)->position[0] = 3.0;
  const int f1 = add_frame(s, 0, 0.3, 0, 0);
  const int f2 = is_part ? add_ghost(s, kind2) : add_frame(s, has_own ? 2 : 1, -0.7, 0, 0);
  joint_axes(s, kind, skew, f1, f2);
  connect(s, kind, ghost_side == 1 ? f1 : f2, ghost_side == 1 ? f2 : f1);
  if (has_own) connect(s, YOKE_CONNECTION_REVOLUTE, add_frame(s, 0, -0.2, 0, 0), add_frame(s, 1, 0.3, 0, 0));
}

typedef enum guided_outcome { GUIDED_IDLE, GUIDED_STUCK, GUIDED_EQUAL } guided_outcome;

/* The part whose rows are guided by the accelerations of the other side moves and is loaded as in the whole. */
static guided_outcome check_guided(yoke_connection_kind kind, yoke_body_kind kind1, yoke_body_kind kind2,
                                   int ghost_side, bool has_own, bool bare) {
  const yoke_body_kind kinds[2] = {ghost_side == 1 ? kind1 : kind2, ghost_side == 1 ? kind2 : kind1};
  workshop             whole, part;
  double               q[21], v[18], a[18], lambda[12], a_part[12], mu[12], y[2][YOKE_PORT_MAX_Y], u[32],
      force[YOKE_CONNECTION_MAX_ROWS], g[YOKE_CONNECTION_MAX_ROWS];
  yoke_input     inputs[20];
  char           label[32];
  int            side;
  guided_outcome outcome = GUIDED_IDLE;
  add_guided_model(&whole, kind, kind1, kind2, ghost_side, false, has_own);
  const int ports[2] = {add_frame(&whole, ghost_side == 1 ? 0 : has_own + 1, ghost_side == 1 ? 0.3 : -0.7, 0, 0),
                        add_frame(&whole, ghost_side == 0 ? 0 : has_own + 1, ghost_side == 0 ? 0.3 : -0.7, 0, 0)};
  const yoke_multibody_options port = {.n_ports = 2, .port_frame = ports};
  compile(&whole, &port);
  add_guided_model(&part, kind, kind1, kind2, ghost_side, true, has_own);
  int       n      = ghost_inputs(0, kind2, inputs);
  const int n_rows = lambda_inputs(&part, kinds, inputs + n);
  for (int i = 0; i < n_rows; ++i) {
    inputs[n + i].kind   = bare ? YOKE_INPUT_ROW_ACCELERATION_BARE : YOKE_INPUT_ROW_ACCELERATION;
    inputs[n + i].factor = ghost_side == 1 ? 1.0 : -1.0;
  }
  if (n_rows > 0) {
    const yoke_multibody_options options = {.n_inputs = n + n_rows, .inputs = inputs};
    compile(&part, &options);
    assert_int_equal(part.equations.n_guided, n_rows);
    assert_int_equal(part.equations.ng + n_rows, whole.equations.ng);
    set_random(&whole, 77u, q, v);
    outcome = GUIDED_STUCK;
    if (yoke_multibody_stuck_guide(part.mb, part.work, 0.2, q, label, sizeof label, &side) < 0) {
      outcome = GUIDED_EQUAL;
      assert_int_equal(derive(&whole, 0.2, q, v, NULL, a, lambda), YOKE_OK);
      for (int k = 0; k < 2; ++k) yoke_multibody_port(whole.mb, whole.work, k, q, v, a, y[k]);
      yoke_multibody_connection_output(whole.mb, whole.work, 0, 0.2, q, v, NULL, lambda, force, g);
      memcpy(u, y[ghost_side], (size_t)n * sizeof *u);
      const double *const ends[2] = {y[0], y[1]};
      for (int i = 0; i < n_rows; ++i) { /* what the other side has of s'', or what this side has to be given */
        const int row = inputs[n + i].component;
        u[n + i]      = inputs[n + i].factor * (bare ? -side_share(&part, row, 1 - ghost_side, kinds, ends)
                                                     : side_share(&part, row, ghost_side, kinds, ends));
      }
      assert_int_equal(part.equations.ops->derivative(part.equations.self, part.work, 0.2, q, v, u, NULL, a_part, mu),
                       YOKE_OK);
      for (int i = 0; i < part.equations.nv; ++i) {
        if (fabs(a[i] - a_part[i]) < 1e-9 * (1.0 + fabs(a[i]))) continue;
        fail_msg("%s between kinds %d and %d, freedom %d: %.15g, guided %.15g", yoke_connection_kind_name(kind),
                 (int)kind1, (int)kind2, i, a[i], a_part[i]);
      }
      for (int i = 0; i < n_rows; ++i) {
        const double expected = force[inputs[n + i].component];
        if (fabs(mu[part.equations.ng + i] - expected) < 1e-8 * (1.0 + fabs(expected))) continue;
        fail_msg("%s between kinds %d and %d, row %d: lambda %.15g, guided %.15g", yoke_connection_kind_name(kind),
                 (int)kind1, (int)kind2, i, expected, mu[part.equations.ng + i]);
      }
      check_jacobian(&part, YOKE_DAE_INDEX1, u);
    }
    close_workshop(&part);
  } else {
    yoke_context_destroy(&part.ctx);
  }
  close_workshop(&whole);
  return outcome;
}

static void guided_rows_move_and_load_a_part_as_the_whole_model_does(void **state) {
  int n[3] = {0};
  (void)state;
  for (size_t k = 0; all_connections[k] != YOKE_CONNECTION_SPRING_DAMPER; ++k) {
    for (int kind1 = 0; kind1 <= YOKE_BODY_MASS1D; ++kind1) {
      for (int kind2 = 0; kind2 <= YOKE_BODY_MASS1D; ++kind2) {
        for (int side = 0; side < 2; ++side) {
          for (int bare = 0; bare < 2; ++bare) {
            const yoke_body_kind kinds[2] = {(yoke_body_kind)kind1, (yoke_body_kind)kind2};
            const bool           turns    = kind1 == YOKE_BODY_RIGID || kind1 == YOKE_BODY_PLANAR;
            ++n[check_guided(all_connections[k], kinds[0], kinds[1], side, false, bare)];
            if (turns) ++n[check_guided(all_connections[k], kinds[0], kinds[1], side, true, bare)];
          }
        }
      }
    }
  }
  assert_true(n[GUIDED_EQUAL] > 400);
  assert_true(n[GUIDED_STUCK] > 100); /* e.g. a mass on a line that should follow a point in space */
}

static void guided_mass_on_a_line_is_linear(void **state) {
  (void)state;
  for (int side = 0; side < 2; ++side) {
    workshop s;
    double   A[4], B[2], b[2];
    open_workshop(&s);
    add_body(&s, YOKE_BODY_MASS1D)->mass = 2.0;
    const int body = add_frame(&s, 0, 0, 0, 0), ghost = add_ghost(&s, YOKE_BODY_MASS1D);
    connect(&s, YOKE_CONNECTION_FIXED, side == 0 ? body : ghost, side == 0 ? ghost : body);
    const yoke_input             input   = {YOKE_INPUT_ROW_ACCELERATION, 0, 0, side == 0 ? 1.0 : -1.0};
    const yoke_multibody_options options = {.n_inputs = 1, .inputs = &input};
    compile(&s, &options);
    assert_int_equal(s.equations.ops->linear(s.equations.self, s.work, A, B, b), YOKE_OK);
    assert_true(A[1] == 1.0 && A[2] == 0.0 && A[3] == 0.0); /* v' = -beta on either side: s = x1 - x2 */
    assert_true(B[0] == 0.0 && fabs(B[1] + 1.0) < 1e-15 && b[0] == 0.0 && b[1] == 0.0);
    close_workshop(&s);
  }
}

/* A link that is pinned at one end cannot follow both components of a point at the other. */
static void rows_that_own_joints_hold_are_named(void **state) {
  workshop s;
  double   q[3], v[3];
  char     label[32];
  int      side = -1;
  (void)state;
  open_workshop(&s);
  add_body(&s, YOKE_BODY_PLANAR);
  const int tip = add_frame(&s, 0, 0.5, 0, 0), root = add_frame(&s, 0, -0.5, 0, 0);
  const int ghost = add_ghost(&s, YOKE_BODY_PLANAR);
  connect(&s, YOKE_CONNECTION_REVOLUTE, add_frame(&s, YOKE_GROUND, 0, 0, 0), root);
  connect(&s, YOKE_CONNECTION_REVOLUTE, ghost, tip);
  const yoke_input inputs[2] = {{YOKE_INPUT_ROW_ACCELERATION, 1, 0, -1.0}, {YOKE_INPUT_ROW_ACCELERATION, 1, 1, -1.0}};
  const yoke_multibody_options options = {.n_inputs = 2, .inputs = inputs};
  compile(&s, &options);
  yoke_multibody_initial_guess(s.mb, q, v);
  assert_int_equal(yoke_multibody_stuck_guide(s.mb, s.work, 0.0, q, label, sizeof label, &side), 1);
  assert_int_equal(side, 1);
  assert_string_equal(label, "atpoint x"); /* along the link */
  close_workshop(&s);
}

/* Accelerations under unit multipliers are the columns of the compliance; alone, own joints do not count. */
static void extras_show_reaction_and_compliance(void **state) {
  workshop part, lone;
  double   q[14], v[12], a[2][12], u[16] = {0.0}, y[2][YOKE_PORT_MAX_Y], lambda[12] = {0.0}, yl[21];
  (void)state;
  for (int alone = 0; alone < 2; ++alone) {
    workshop  *s = alone ? &lone : &part;
    yoke_input inputs[20];
    add_guided_model(s, YOKE_CONNECTION_SPHERICAL, YOKE_BODY_RIGID, YOKE_BODY_RIGID, 1, true, !alone);
    const yoke_body_kind kinds[2] = {YOKE_BODY_RIGID, YOKE_BODY_RIGID};
    const int            n_rows = lambda_inputs(s, kinds, inputs), frame = add_frame(s, 0, 0.3, 0, 0);
    assert_int_equal(n_rows, 3);
    const yoke_port_request request = {
        .extras = YOKE_EXTRA_REACTION | YOKE_EXTRA_COMPLIANCE | YOKE_EXTRA_LOCAL_COMPLIANCE, .connection = 0};
    const yoke_multibody_options options = {
        .n_inputs = n_rows, .inputs = inputs, .n_ports = 1, .port_frame = &frame, .port_request = &request};
    compile(s, &options);
    assert_int_equal(yoke_multibody_n_extras(s->mb, 0), 3 + 9 + 9);
  }
  set_random(&part, 5u, q, v);
  const yoke_equations *e = &part.equations;
  assert_int_equal(yoke_multibody_extras(part.mb, part.work, 0, 0.0, q, u, lambda, yl), YOKE_OK);
  assert_int_equal(e->ops->derivative(e->self, part.work, 0.0, q, v, u, NULL, a[0], lambda), YOKE_OK);
  yoke_multibody_port(part.mb, part.work, 0, q, v, a[0], y[0]);
  for (int j = 0; j < 3; ++j) {
    assert_true(yl[j] == 0.0); /* no row is guided */
    u[j] = 1.0;
    assert_int_equal(e->ops->derivative(e->self, part.work, 0.0, q, v, u, NULL, a[1], lambda), YOKE_OK);
    yoke_multibody_port(part.mb, part.work, 0, q, v, a[1], y[1]);
    u[j] = 0.0;
    for (int i = 0; i < 3; ++i) assert_true(fabs(y[1][13 + i] - y[0][13 + i] - yl[3 + 3 * i + j]) < 1e-11);
  }
  double alone[21];
  assert_int_equal(yoke_multibody_extras(lone.mb, lone.work, 0, 0.0, q, u, lambda, alone), YOKE_OK);
  for (int i = 0; i < 9; ++i) {
    assert_true(fabs(alone[3 + i] - alone[12 + i]) < 1e-13);
    assert_true(fabs(yl[12 + i] - alone[12 + i]) < 1e-13);
  }
  close_workshop(&part);
  close_workshop(&lone);
}

static void multiplier_of_a_mass_on_a_line_is_linear(void **state) {
  (void)state;
  for (int side = 0; side < 2; ++side) {
    workshop s;
    double   A[4], B[2], b[2];
    open_workshop(&s);
    add_body(&s, YOKE_BODY_MASS1D)->mass = 2.0;
    const int body = add_frame(&s, 0, 0, 0, 0), ghost = add_ghost(&s, YOKE_BODY_MASS1D);
    connect(&s, side == 0 ? YOKE_CONNECTION_FIXED : YOKE_CONNECTION_ATPOINT, side == 0 ? body : ghost,
            side == 0 ? ghost : body);
    const yoke_input             input   = {YOKE_INPUT_LAMBDA, 0, 0, 1.0};
    const yoke_multibody_options options = {.n_inputs = 1, .inputs = &input};
    compile(&s, &options);
    assert_int_equal(s.equations.ops->linear(s.equations.self, s.work, A, B, b), YOKE_OK);
    assert_true(B[0] == 0.0 && B[1] == (side == 0 ? 0.5 : -0.5));
    assert_true(A[1] == 1.0 && A[0] == 0.0 && A[2] == 0.0 && A[3] == 0.0 && b[0] == 0.0 && b[1] == 0.0);
    close_workshop(&s);
  }
}

static void second_multiplier_of_a_mass_on_a_line_enters_the_rate_of_its_position(void **state) {
  (void)state;
  workshop s;
  double   A[4], B[4], b[2];
  open_workshop(&s);
  add_body(&s, YOKE_BODY_MASS1D)->mass = 2.0;
  const int body = add_frame(&s, 0, 0, 0, 0), ghost = add_ghost(&s, YOKE_BODY_MASS1D);
  connect(&s, YOKE_CONNECTION_FIXED, body, ghost);
  const yoke_input             inputs[] = {{YOKE_INPUT_LAMBDA, 0, 0, 1.0}, {YOKE_INPUT_MU, 0, 0, 1.0}};
  const yoke_multibody_options options  = {.n_inputs = 2, .inputs = inputs};
  compile(&s, &options);
  assert_int_equal(s.equations.ops->linear(s.equations.self, s.work, A, B, b), YOKE_OK);
  assert_true(B[0] == 0.0 && B[1] == 1.0 && B[2] == 0.5 && B[3] == 0.0);
  assert_true(A[1] == 1.0 && A[0] == 0.0 && A[2] == 0.0 && A[3] == 0.0);
  assert_false(s.equations.is_second_order);
  close_workshop(&s);
}

/* A bar on a pivot, moved at its tip: the rate of its own joint stays 0, and the motion is the nearest possible. */
static void second_multiplier_moves_a_body_only_as_its_own_joints_allow(void **state) {
  (void)state;
  workshop s;
  double   q[3] = {0.5, 0.0, 0.0}, v[3] = {0.0}, qdot[3], a[3];
  open_workshop(&s);
  add_body(&s, YOKE_BODY_PLANAR)->position[0] = 0.5;
  const int top = add_frame(&s, 0, -0.5, 0, 0), tip = add_frame(&s, 0, 0.5, 0, 0);
  connect(&s, YOKE_CONNECTION_REVOLUTE, add_frame(&s, YOKE_GROUND, 0, 0, 0), top);
  connect(&s, YOKE_CONNECTION_REVOLUTE, tip, add_ghost(&s, YOKE_BODY_PLANAR));
  const yoke_input             inputs[] = {{YOKE_INPUT_LAMBDA, 1, 0, 1.0},
                                           {YOKE_INPUT_LAMBDA, 1, 1, 1.0},
                                           {YOKE_INPUT_MU, 1, 0, 1.0},
                                           {YOKE_INPUT_MU, 1, 1, 1.0}};
  const yoke_multibody_options options  = {.n_inputs = 4, .inputs = inputs};
  const double                 u[4]     = {0.0, 0.0, 3.0, 2.0};
  compile(&s, &options);
  assert_int_equal(s.equations.ops->derivative(s.equations.self, s.work, 0.0, q, v, u, qdot, a, NULL), YOKE_OK);
  /* Free direction (x, y, angle)' = (0, 1/2, 1): z = +-(3, 2, 1) has the share (2/2 + 1) / (1 + 1/4) of it. */
  assert_true(fabs(qdot[0]) < 1e-14);
  assert_true(fabs(fabs(qdot[2]) - 1.6) < 1e-14);
  assert_true(fabs(qdot[1] - 0.5 * qdot[2]) < 1e-14);
  close_workshop(&s);
}

/* Rate of kinetic + potential + dissipated - external along (qdot, a) of a single rigid body with energies. */
static double balance_rate(workshop *s, const double *q, const double *v, const double *qdot, const double *a) {
  double E[2];
  for (int side = 0; side < 2; ++side) {
    double       qh[9], vh[6];
    const double h = side == 0 ? 1e-5 : -1e-5;
    yoke_energy  e;
    for (int i = 0; i < 9; ++i) qh[i] = q[i] + h * qdot[i];
    for (int i = 0; i < 6; ++i) vh[i] = v[i] + h * a[i];
    s->equations.ops->energy(s->equations.self, s->work, h, qh, vh, &e);
    E[side] = e.kinetic + e.potential + e.dissipated - e.external;
  }
  return (E[0] - E[1]) / 2e-5;
}

/* v . M (a - a_alone): power of what acts beside the own forces of a model. */
static double power_beyond(workshop *alone, const double *q, const double *v, const double *a) {
  double own[6], change[6], power = 0.0;
  assert_int_equal(
      alone->equations.ops->derivative(alone->equations.self, alone->work, 0.0, q, v, NULL, NULL, own, NULL), YOKE_OK);
  for (int i = 0; i < 6; ++i) change[i] = a[i] - own[i];
  yoke_multibody_mass_apply(alone->mb, change, change);
  for (int i = 0; i < 6; ++i) power += v[i] * change[i];
  return power;
}

/* A rigid body in a field; with or without what couples it through a ghost and inputs. */
static int open_coupled_body(workshop *s, bool is_coupled, bool is_rigid, yoke_input *inputs) {
  open_workshop(s);
  vec3_set(s->model.gravity, 1.0, 2.0, 3.0);
  add_body(s, YOKE_BODY_RIGID);
  const yoke_body_kind kinds[2] = {YOKE_BODY_RIGID, YOKE_BODY_RIGID};
  const int            body     = off_centre_frame(s, 0, YOKE_BODY_RIGID, 1.0);
  int                  n        = 0;
  if (is_coupled) {
    const int ghost = add_ghost(s, YOKE_BODY_RIGID);
    if (is_rigid)
      connect(s, YOKE_CONNECTION_FIXED, body, ghost);
    else
      set_flexible(connect(s, YOKE_CONNECTION_BUSHING, body, ghost));
    n = ghost_inputs(0, YOKE_BODY_RIGID, inputs);
    if (is_rigid) n += lambda_inputs(s, kinds, inputs + n);
    if (!is_rigid) inputs[n++] = (yoke_input){YOKE_INPUT_FORCE, body, 1, -1.0};
    if (!is_rigid) inputs[n++] = (yoke_input){YOKE_INPUT_FORCE, body, 4, 1.0};
  }
  if (!is_rigid) set_flexible(connect(s, YOKE_CONNECTION_SPRING_DAMPER, add_frame(s, YOKE_GROUND, 0, 0, 0), body));
  const yoke_multibody_options options = {.energy = true, .n_inputs = n, .inputs = inputs};
  compile(s, &options);
  return n;
}

/* What comes in through multipliers, elements at ghosts and forces of inputs is neither external work nor dissipated here: it is the
 * whole difference in the balance. */
static void work_through_ports_is_not_counted(void **state) {
  (void)state;
  for (int is_rigid = 0; is_rigid < 2; ++is_rigid) {
    workshop   s, alone;
    yoke_input inputs[19];
    double     q[9], v[6], qdot[9], a[6], u[19];
    uint32_t   seed = 3u;
    const int  n    = open_coupled_body(&s, true, is_rigid, inputs);
    (void)open_coupled_body(&alone, false, is_rigid, NULL);
    for (int i = 0; i < n; ++i) u[i] = pseudo_random(&seed);
    set_random(&s, 21u, q, v);
    assert_int_equal(s.equations.ops->derivative(s.equations.self, s.work, 0.0, q, v, u, qdot, a, NULL), YOKE_OK);
    const double power = power_beyond(&alone, q, v, a);
    assert_true(fabs(power) > 1e-3);
    assert_true(fabs(balance_rate(&s, q, v, qdot, a) - power) < 1e-8 * fmax(1.0, fabs(power)));
    assert_true(qdot[yoke_multibody_external_at(s.mb)] == 0.0);
    close_workshop(&s);
    close_workshop(&alone);
  }
}

static void multipliers_that_fit_no_joint_are_refused(void **state) {
  (void)state;
  workshop s;
  open_workshop(&s);
  add_body(&s, YOKE_BODY_PLANAR);
  const int body = add_frame(&s, 0, 0, 0, 0), ghost = add_ghost(&s, YOKE_BODY_PLANAR);
  connect(&s, YOKE_CONNECTION_REVOLUTE, add_frame(&s, YOKE_GROUND, 0, 0, 0), body);
  connect(&s, YOKE_CONNECTION_REVOLUTE, body, ghost);
  const yoke_input at_ground[] = {{YOKE_INPUT_LAMBDA, 0, 0, 1.0}, {YOKE_INPUT_LAMBDA, 0, 1, 1.0}},
                   no_row[] = {{YOKE_INPUT_LAMBDA, 1, 5, 1.0}}, no_joint[] = {{YOKE_INPUT_LAMBDA, 2, 0, 1.0}},
                   mu_alone[]          = {{YOKE_INPUT_MU, 1, 0, 1.0}};
  const yoke_multibody_options wrong[] = {{.n_inputs = 2, .inputs = at_ground},
                                          {.n_inputs = 1, .inputs = no_row},
                                          {.n_inputs = 1, .inputs = no_joint},
                                          {.n_inputs = 1, .inputs = mu_alone}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    assert_int_equal(try_compile(&s, &wrong[i]), YOKE_E_USAGE);
  }
  close_workshop(&s);
}

static void wrong_inputs_and_ports_are_refused(void **state) {
  (void)state;
  workshop s;
  open_workshop(&s);
  add_body(&s, YOKE_BODY_MASS1D);
  const int        body = add_frame(&s, 0, 0, 0, 0), ghost = add_ghost(&s, YOKE_BODY_MASS1D), none = 7;
  const yoke_input wrong[] = {{YOKE_INPUT_FORCE, 7, 0, 1.0},     {YOKE_INPUT_FORCE, body, 6, 1.0},
                              {YOKE_INPUT_FORCE, ghost, 0, 1.0}, {YOKE_INPUT_GHOST_P, 1, 0, 1.0},
                              {YOKE_INPUT_GHOST_V, 0, 1, 1.0},   {YOKE_INPUT_FORCE, body, 0, (double)NAN}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    const yoke_multibody_options options = {.n_inputs = 1, .inputs = &wrong[i]};
    assert_int_equal(try_compile(&s, &options), YOKE_E_USAGE);
  }
  const yoke_multibody_options no_frame = {.n_ports = 1, .port_frame = &none},
                               at_ghost = {.n_ports = 1, .port_frame = &ghost};
  assert_int_equal(try_compile(&s, &no_frame), YOKE_E_USAGE);
  assert_int_equal(try_compile(&s, &at_ghost), YOKE_E_USAGE);
  close_workshop(&s);
}

/* p' = T v and v' against differences along the motion; integrals show the quadratures, whose rates are the positions. */
static void port_shows_the_motion_of_its_frame(void **state) {
  (void)state;
  for (int kind = 0; kind <= YOKE_BODY_MASS1D; ++kind) {
    const yoke_body_kind   body  = (yoke_body_kind)kind;
    const yoke_port_shape *shape = yoke_body_shape(body);
    const int              n_p = shape->n_p, n_v = shape->n_v, n_i = shape->n_integrals;
    const double           h = 1e-5;
    workshop               s;
    double                 q[10], v[6], qdot[10], a[6], y[2][YOKE_PORT_MAX_Y], now[YOKE_PORT_MAX_Y], T[42];
    open_workshop(&s);
    vec3_set(s.model.gravity, 1.0, 2.0, 3.0);
    add_body(&s, body);
    const int frame = off_centre_frame(&s, 0, body, 1.0);
    if (body == YOKE_BODY_RIGID) {
      const double p[4] = {0.3, 0.5, -0.2, 0.7};
      quaternion_rotation(s.frames[frame].axes, p);
    }
    if (body == YOKE_BODY_PLANAR) {
      const double axes[9] = {0.6, -0.8, 0, 0.8, 0.6, 0, 0, 0, 1};
      memcpy(s.frames[frame].axes, axes, sizeof axes);
    }
    const yoke_multibody_options options = {.n_ports = 1, .port_frame = &frame, .port_integrals = true};
    compile(&s, &options);
    assert_int_equal(s.equations.n_quadratures, n_i);
    set_random(&s, 5u, q, v);
    assert_int_equal(derive(&s, 0.0, q, v, qdot, a, NULL), YOKE_OK);
    yoke_multibody_port(s.mb, s.work, 0, q, v, a, now);
    for (int side = 0; side < 2; ++side) {
      double       qh[10], vh[6];
      const double dt = side == 0 ? -h : h;
      for (int i = 0; i < s.equations.nq; ++i) qh[i] = q[i] + dt * qdot[i];
      for (int i = 0; i < s.equations.nv; ++i) vh[i] = v[i] + dt * a[i];
      yoke_multibody_port(s.mb, s.work, 0, qh, vh, a, y[side]);
    }
    yoke_shape_tangent(shape, now, T);
    for (int i = 0; i < n_p; ++i) {
      double rate = 0.0;
      for (int k = 0; k < n_v; ++k) rate += T[i * n_v + k] * now[n_p + k];
      assert_true(fabs((y[1][i] - y[0][i]) / (2 * h) - rate) < 1e-8);
    }
    for (int i = 0; i < n_v; ++i) {
      assert_true(fabs((y[1][n_p + i] - y[0][n_p + i]) / (2 * h) - now[n_p + n_v + i]) < 1e-8);
    }
    for (int i = 0; i < n_i; ++i) {
      assert_true(now[n_p + 2 * n_v + i] == q[s.equations.nq - n_i + i]);
      assert_true(qdot[s.equations.nq - n_i + i] == now[i]);
    }
    close_workshop(&s);
  }
}

static void port_pose_is_that_of_its_frame(void **state) {
  (void)state;
  workshop     s;
  double       q[7], v[6], a[6] = {0.0}, y[YOKE_PORT_MAX_Y], r[3], R[9], RA[9];
  const double p[4] = {0.3, 0.5, -0.2, 0.7};
  yoke_pose    pose;
  open_workshop(&s);
  add_body(&s, YOKE_BODY_RIGID);
  const int frame = off_centre_frame(&s, 0, YOKE_BODY_RIGID, 1.0);
  quaternion_rotation(s.frames[frame].axes, p);
  const yoke_multibody_options options = {.n_ports = 1, .port_frame = &frame};
  compile(&s, &options);
  set_random(&s, 9u, q, v);
  yoke_multibody_port(s.mb, s.work, 0, q, v, a, y);
  yoke_shape_pose(&yoke_shape_frame, y, y + 7, &pose);
  yoke_multibody_pose(s.mb, q, 0, r, R);
  mat3_multiply(RA, R, s.frames[frame].axes);
  for (int i = 0; i < 9; ++i) assert_true(fabs(pose.R[i] - RA[i]) < 1e-14);
  mat3_apply(RA, R, s.frames[frame].origin);
  for (int i = 0; i < 3; ++i) assert_true(fabs(pose.r[i] - r[i] - RA[i]) < 1e-14);
  close_workshop(&s);
}

/* One mass, a wall spring, a spring-damper to a 1-D ghost, a force, and the integral of its position. */
static void ghosts_forces_and_integrals_of_one_mass_are_linear(void **state) {
  (void)state;
  workshop s;
  double   A[9], B[9], b[3];
  open_workshop(&s);
  add_body(&s, YOKE_BODY_MASS1D)->mass = 2.0;
  const int ground = add_frame(&s, YOKE_GROUND, 0, 0, 0), body = add_frame(&s, 0, 0, 0, 0),
            ghost     = add_ghost(&s, YOKE_BODY_MASS1D);
  yoke_connection *c1 = connect(&s, YOKE_CONNECTION_SPRING_DAMPER, ground, body),
                  *c2 = connect(&s, YOKE_CONNECTION_SPRING_DAMPER, body, ghost);
  c1->has_length = c2->has_length = true;
  c1->law.stiffness               = 100.0;
  c2->law.stiffness               = 30.0;
  c2->law.damping                 = 0.5;
  const yoke_input inputs[3]      = {
           {YOKE_INPUT_GHOST_P, 0, 0, 1.0}, {YOKE_INPUT_GHOST_V, 0, 0, 1.0}, {YOKE_INPUT_FORCE, body, 0, -1.0}};
  const yoke_multibody_options options = {
      .n_ports = 1, .port_frame = &body, .port_integrals = true, .n_inputs = 3, .inputs = inputs};
  compile(&s, &options);
  assert_int_equal(s.equations.nq, 2);
  assert_int_equal(s.equations.ops->linear(s.equations.self, s.work, A, B, b), YOKE_OK);
  const double A_expected[9] = {0, 0, 1, 1, 0, 0, -65, 0, -0.25}; /* x, integral of x, v */
  const double B_expected[9] = {0, 0, 0, 0, 0, 0, 15, 0.25, -0.5};
  for (int i = 0; i < 9; ++i) {
    assert_true(fabs(A[i] - A_expected[i]) < 1e-13);
    assert_true(fabs(B[i] - B_expected[i]) < 1e-13);
  }
  for (int i = 0; i < 3; ++i) assert_true(fabs(b[i]) < 1e-15);
  close_workshop(&s);
}

/* The same chain with quadratures (general path) and without (its own equations). */
static void chain_with_inputs_agrees_on_both_paths(void **state) {
  (void)state;
  yoke_chain   chain = small_chain();
  workshop     s[2];
  double       q[7] = {0.01, -0.02, 0.03, 0.0, 0.05}, v[5] = {0.3, 0.1, -0.2, 0.5, -0.4}, a[2][5], y[2][8];
  const double u[3] = {2.0, -0.7, 0.9};
  for (int general = 0; general < 2; ++general) {
    workshop *w = &s[general];
    open_workshop(w);
    w->model.gravity[0]                    = 1.5;
    add_body(w, YOKE_BODY_CHAIN)->chain    = &chain;
    const int ports[2]                     = {add_frame(w, 0, 0, 0, 0), add_frame(w, 0, 0, 0, 0)};
    w->frames[ports[1]].mass               = 4;
    const yoke_input             inputs[3] = {{YOKE_INPUT_FORCE, ports[0], 0, 1.0},
                                              {YOKE_INPUT_FORCE, ports[1], 0, -1.0},
                                              {YOKE_INPUT_FORCE, ports[0], 0, -1.0}};
    const yoke_multibody_options options   = {
          .n_ports = 2, .port_frame = ports, .port_integrals = general == 1, .n_inputs = 3, .inputs = inputs};
    compile(w, &options);
    assert_string_equal(w->equations.ops->kind, general == 1 ? "multibody" : "chain");
    const yoke_equations_ops *ops = w->equations.ops;
    assert_int_equal(ops->derivative(w->equations.self, w->work, 0.0, q, v, u, NULL, a[general], NULL), YOKE_OK);
    for (int k = 0; k < 2; ++k) yoke_multibody_port(w->mb, w->work, k, q, v, a[general], y[general] + 4 * k);
    check_jacobian(w, YOKE_DAE_GGL, u);
    check_jacobian(w, YOKE_DAE_INDEX1, u);
  }
  for (int i = 0; i < 5; ++i) assert_true(fabs(a[0][i] - a[1][i]) < 1e-14 * (1.0 + fabs(a[0][i])));
  for (int i = 0; i < 8; ++i) assert_true(fabs(y[0][i] - y[1][i]) < 1e-14 * (1.0 + fabs(y[0][i])));
  close_workshop(&s[0]);
  close_workshop(&s[1]);
}

/* Stages with scaled inputs are those of the derivative. */
static void chain_stage_uses_the_factors_of_its_inputs(void **state) {
  (void)state;
  yoke_chain   chain = small_chain();
  workshop     s;
  const double q[5] = {0.01, -0.02, 0.03, 0.0, 0.05}, v[5] = {0.3, 0.1, -0.2, 0.5, -0.4}, u[1] = {2.0};
  double       a[5], out[5];
  open_workshop(&s);
  add_body(&s, YOKE_BODY_CHAIN)->chain = &chain;
  const int                    frame   = add_frame(&s, 0, 0, 0, 0);
  const yoke_input             input   = {YOKE_INPUT_FORCE, frame, 0, -1.0};
  const yoke_multibody_options options = {.n_inputs = 1, .inputs = &input};
  compile(&s, &options);
  const yoke_equations_ops *ops = s.equations.ops;
  assert_int_equal(ops->derivative(s.equations.self, s.work, 0.0, q, v, u, NULL, a, NULL), YOKE_OK);
  assert_int_equal(ops->stage(s.equations.self, s.work, 0.0, 0.1, 0.0, 0, NULL, NULL, q, v, NULL, u, NULL, NULL, out,
                              NULL, NULL, 1e-8, 1e-8, NULL),
                   YOKE_OK);
  for (int i = 0; i < 5; ++i) assert_true(fabs(a[i] - out[i]) < 1e-14 * (1.0 + fabs(a[i])));
  close_workshop(&s);
}

static void variables_of_chains_count_masses(void **state) {
  (void)state;
  yoke_chain   chain = small_chain();
  workshop     s;
  const double q[5] = {1.0, 2.0, 3.0, 4.0, 5.0}, v[5] = {0.0};
  double       value[1];
  open_workshop(&s);
  add_body(&s, YOKE_BODY_CHAIN)->chain = &chain;
  s.variables[0]                       = (yoke_variable){.body = 0, .mass = 3};
  s.model.n_variables                  = 1;
  s.events[0].when                     = expression(&s, "k1");
  s.model.n_events                     = 1;
  compile(&s, NULL);
  s.equations.ops->events(s.equations.self, s.work, 0.0, q, v, NULL, value);
  assert_true(value[0] == 4.0);
  close_workshop(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(free_rigid_body_keeps_energy_and_angular_momentum),
      cmocka_unit_test(pendulum_acceleration_is_exact),
      cmocka_unit_test(hanging_pendulum_is_held_by_its_weight),
      cmocka_unit_test(projection_lands_on_the_constraints),
      cmocka_unit_test(impossible_row_names_the_joint),
      cmocka_unit_test(redundant_parallelogram_has_finite_multipliers),
      cmocka_unit_test(redundant_parallelogram_can_be_projected),
      cmocka_unit_test(repeated_joints_of_a_long_chain_change_nothing),
      cmocka_unit_test(prescribed_angle_gives_the_prescribed_acceleration),
      cmocka_unit_test(power_balance_holds_with_every_kind_of_force),
      cmocka_unit_test(implicit_view_agrees_with_the_ordinary_one),
      cmocka_unit_test(jacobian_of_every_connection_between_every_pair_of_kinds),
      cmocka_unit_test(jacobian_holds_for_skew_frames),
      cmocka_unit_test(jacobian_of_every_flexible_joint),
      cmocka_unit_test(jacobian_of_prescribed_motions),
      cmocka_unit_test(jacobian_of_loads_and_inputs),
      cmocka_unit_test(contact_far_inside_the_wall_is_not_finite),
      cmocka_unit_test(two_masses_are_linear),
      cmocka_unit_test(chain_mass_tied_to_a_particle_has_exact_jacobian),
      cmocka_unit_test(chain_alone_gets_its_own_equations),
      cmocka_unit_test(integrals_are_quadratures_of_positions),
      cmocka_unit_test(events_read_the_state),
      cmocka_unit_test(joint_coordinate_counts_from_frame_1),
      cmocka_unit_test(ghost_acts_as_the_body_it_stands_for),
      cmocka_unit_test(ghost_without_inputs_stays_where_the_model_put_it),
      cmocka_unit_test(rigid_joint_at_a_ghost_is_refused),
      cmocka_unit_test(joint_under_its_multipliers_acts_as_the_joint_itself),
      cmocka_unit_test(guided_rows_move_and_load_a_part_as_the_whole_model_does),
      cmocka_unit_test(guided_mass_on_a_line_is_linear),
      cmocka_unit_test(rows_that_own_joints_hold_are_named),
      cmocka_unit_test(extras_show_reaction_and_compliance),
      cmocka_unit_test(multiplier_of_a_mass_on_a_line_is_linear),
      cmocka_unit_test(second_multiplier_of_a_mass_on_a_line_enters_the_rate_of_its_position),
      cmocka_unit_test(second_multiplier_moves_a_body_only_as_its_own_joints_allow),
      cmocka_unit_test(work_through_ports_is_not_counted),
      cmocka_unit_test(multipliers_that_fit_no_joint_are_refused),
      cmocka_unit_test(wrong_inputs_and_ports_are_refused),
      cmocka_unit_test(port_shows_the_motion_of_its_frame),
      cmocka_unit_test(port_pose_is_that_of_its_frame),
      cmocka_unit_test(ghosts_forces_and_integrals_of_one_mass_are_linear),
      cmocka_unit_test(chain_with_inputs_agrees_on_both_paths),
      cmocka_unit_test(chain_stage_uses_the_factors_of_its_inputs),
      cmocka_unit_test(variables_of_chains_count_masses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
