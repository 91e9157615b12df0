/* Every kind of joint between two bodies that tumble under gravity and springs: no drift, solvers agree, energy is
 * kept, and the reaction forces balance Newton's and Euler's equations, whose terms are formed here a second time.
 *
 * Rows of the joints and the forces that belong to them (side 1 first; D = C1 - C2, e axes of the frames):
 *   point k        F1 = lambda x_k at C1             F2 = -F1 at C2
 *   inplane k      F1 = lambda e2_k at C1            F2 = -F1 at C1
 *   perpendicular  M1 = lambda e1_k x e2_l           M2 = -M1
 *   distance       F1 = lambda D / |D| at C1         F2 = -F1 at C2 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "check.h"
#include "examples/run_model.h"
#include "linalg/space.h"

enum { MODEL_SIZE = 4000, N_STATES = 26 };
static const double t_end = 1.5; /* [s], about one turn of each body */

/* --- the list of joints ---------------------------------------------------------------------------------------- */

typedef enum basic { POINT, INPLANE, PERPENDICULAR, DISTANCE } basic;

typedef struct joint_case {
  const char *kind;
  int         n;
  struct {
    basic kind;
    int   k, l; /* axis of frame 1, axis of frame 2; point and inplane: k */
  } row[6];
} joint_case;

#define POINT_ROWS                                                                                                     \
  {POINT, 0, 0}, {POINT, 1, 0}, {                                                                                      \
    POINT, 2, 0                                                                                                        \
  }
#define PARALLEL_ROWS                                                                                                  \
  {PERPENDICULAR, 0, 2}, {                                                                                             \
    PERPENDICULAR, 1, 2                                                                                                \
  }
#define NO_TURN_ROW                                                                                                    \
  { PERPENDICULAR, 0, 1 }
#define LINE_ROWS                                                                                                      \
  {INPLANE, 0, 0}, {                                                                                                   \
    INPLANE, 1, 0                                                                                                      \
  }

static const joint_case joints[] = {
    {"atpoint", 3, {POINT_ROWS}},
    {"spherical", 3, {POINT_ROWS}},
    {"inplane", 1, {{INPLANE, 2, 0}}},
    {"perpendicular", 1, {{PERPENDICULAR, 2, 2}}},
    {"revolute", 5, {POINT_ROWS, PARALLEL_ROWS}},
    {"universal", 4, {POINT_ROWS, {PERPENDICULAR, 2, 2}}},
    {"cylindrical", 4, {PARALLEL_ROWS, LINE_ROWS}},
    {"translational", 5, {PARALLEL_ROWS, NO_TURN_ROW, LINE_ROWS}},
    {"planar", 3, {PARALLEL_ROWS, {INPLANE, 2, 0}}},
    {"inline", 2, {LINE_ROWS}},
    {"orientation", 3, {PARALLEL_ROWS, NO_TURN_ROW}},
    {"fixed", 6, {POINT_ROWS, PARALLEL_ROWS, NO_TURN_ROW}},
    {"distance", 1, {{DISTANCE, 0, 0}}},
};
enum { N_JOINTS = sizeof joints / sizeof joints[0] };

/* --- the model ------------------------------------------------------------------------------------------------- */

typedef struct body_data {
  double mass, inertia[9]; /* matrix in body axes, row major */
  double joint[3];         /* frame of the joint, body axes */
  double spring[3];        /* where the spring acts, body axes */
  double anchor[3];        /* its other end, on the ground */
  double stiffness, free_length;
} body_data;

static const body_data space_body[2] = {
    {1.3,
     {0.11, 0.01, -0.02, 0.01, 0.17, 0.015, -0.02, 0.015, 0.23},
     {0.4, 0.1, -0.2},
     {-0.3, 0.2, 0.1},
     {0.0, 0.3, 0.1},
     40.0,
     0.5},
    {0.8,
     {0.07, -0.01, 0.01, -0.01, 0.12, 0.02, 0.01, 0.02, 0.09},
     {-0.3, 0.2, 0.15},
     {0.2, -0.1, 0.3},
     {1.5, 0.2, -0.4},
     25.0,
     0.3},
};
static const body_data plane_body[2] = {
    {1.3, {1, 0, 0, 0, 1, 0, 0, 0, 0.23}, {0.4, 0.1, 0.0}, {-0.3, 0.2, 0.0}, {0.0, 0.3, 0.0}, 40.0, 0.5},
    {0.8, {1, 0, 0, 0, 1, 0, 0, 0, 0.09}, {-0.3, 0.2, 0.0}, {0.2, -0.1, 0.0}, {1.5, 0.2, 0.0}, 25.0, 0.3},
};
static const double gravity[3] = {1.0, -9.81, 2.0};

/* Rough starts: the assembly closes the joint. */
static const char *const space_start[2] = {
    "position: [0.1, 0.2, 0.3], orientation: [0.3, -0.2, 0.4], velocity: [0.3, 1, -0.2], omega: [1.5, -1, 2]",
    "position: [0.8, 0.1, 0.1], orientation: [-0.2, 0.5, 0.6], velocity: [-0.5, 0.2, 0.4], omega: [-0.5, 1.2, 1.6]"};
static const char *const plane_start[2] = {"position: [0.1, 0.2], angle: 0.4, velocity: [0.3, 1], omega: 2",
                                           "position: [0.8, 0.1], angle: 0.6, velocity: [-0.5, 0.2], omega: -1.5"};

static int print_body(char *text, size_t size, int which, const body_data *b, bool plane, const char *start) {
  const char *const        name    = which == 0 ? "a" : "b";
  static const char *const axes[2] = {"orientation: [0.5, -0.3, 0.2]", "orientation: [0.9, -0.6, 0.1]"};
  const double            *J       = b->inertia;
  if (plane) {
    return snprintf(text, size,
                    "  %s: {kind: planar, mass: %g, inertia: %g, %s,\n"
                    "    frames: {j: {at: [%g, %g], axis: [%s]}, pin: [%g, %g], s: [%g, %g]}}\n",
                    name, b->mass, J[8], start, b->joint[0], b->joint[1], which == 0 ? "1, 2, 0" : "2, 1, 0",
                    b->joint[0], b->joint[1], b->spring[0], b->spring[1]);
  }
  return snprintf(text, size,
                  "  %s: {kind: rigid, mass: %g, inertia: [%g, %g, %g, %g, %g, %g], %s,\n"
                  "    frames: {j: {at: [%g, %g, %g], %s}, s: [%g, %g, %g]}}\n",
                  name, b->mass, J[0], J[4], J[8], J[1], J[2], J[5], start, b->joint[0], b->joint[1], b->joint[2],
                  axes[which], b->spring[0], b->spring[1], b->spring[2]);
}

/* `more` is put behind the joint's kind and ends: ", motion: ..." */
static void print_model_from(char text[MODEL_SIZE], const char *kind, const char *more, bool plane,
                             const char *const start[2]) {
  const body_data  *body = plane ? plane_body : space_body;
  const char *const end  = plane && (strcmp(kind, "revolute") == 0) ? "pin" : "j";
  int n = snprintf(text, MODEL_SIZE, "yoke: 1\nassemble: true\ngravity: [%g, %g, %g]\nt_end: %g\nbodies:\n", gravity[0],
                   gravity[1], plane ? 0.0 : gravity[2], t_end);
  for (int b = 0; b < 2; ++b) n += print_body(text + n, (size_t)(MODEL_SIZE - n), b, &body[b], plane, start[b]);
  n += snprintf(text + n, (size_t)(MODEL_SIZE - n), "connections:\n  joint: {kind: %s, between: [a.%s, b.%s]%s}\n",
                kind, end, end, more);
  for (int b = 0; b < 2; ++b) {
    const body_data *d = &body[b];
    n += snprintf(text + n, (size_t)(MODEL_SIZE - n),
                  "  spring_%s: {kind: spring-damper, between: [[%g, %g, %g], %s.s], stiffness: %g, free_length: %g}\n",
                  b == 0 ? "a" : "b", d->anchor[0], d->anchor[1], d->anchor[2], b == 0 ? "a" : "b", d->stiffness,
                  d->free_length);
  }
  snprintf(text + n, (size_t)(MODEL_SIZE - n), "output: {select: [\"total.energy\"]}\n");
}

static void print_model(char text[MODEL_SIZE], const char *kind, const char *more, bool plane) {
  print_model_from(text, kind, more, plane, plane ? plane_start : space_start);
}

/* --- reading a body back --------------------------------------------------------------------------------------- */

typedef struct motion {
  double r[3], R[9], v[3], omega[3]; /* omega in body axes */
} motion;

static double body_value(const model_run *run, int body, const char *component) {
  char name[32];
  snprintf(name, sizeof name, "%s.%s", body == 0 ? "a" : "b", component);
  return run_value(run, name);
}

static motion read_motion(const model_run *run, int body, bool plane) {
  static const char *const r[] = {"x", "y", "z"}, *const v[] = {"vx", "vy", "vz"}, *const w[] = {"wx", "wy", "wz"},
                           *const q[]  = {"q0", "q1", "q2", "q3"};
  motion                          m    = {.r = {0}};
  double                          p[4] = {0};
  for (int k = 0; k < (plane ? 2 : 3); ++k) {
    m.r[k] = body_value(run, body, r[k]);
    m.v[k] = body_value(run, body, v[k]);
  }
  if (plane) {
    const double angle = body_value(run, body, "angle");
    p[0]               = cos(angle / 2);
    p[3]               = sin(angle / 2);
    m.omega[2]         = body_value(run, body, "omega");
  } else {
    for (int k = 0; k < 4; ++k) p[k] = body_value(run, body, q[k]);
    for (int k = 0; k < 3; ++k) m.omega[k] = body_value(run, body, w[k]);
  }
  quaternion_rotation(m.R, p);
  return m;
}

static void read_states(const model_run *run, bool plane, double x[N_STATES]) {
  memset(x, 0, N_STATES * sizeof *x);
  for (int b = 0; b < 2; ++b) {
    const motion m = read_motion(run, b, plane);
    memcpy(x + 13 * b, m.r, sizeof m.r);
    memcpy(x + 13 * b + 3, m.R,
           4 * sizeof(double)); /* a few entries of R stand for the rotation: q and -q are the same */
    memcpy(x + 13 * b + 7, m.v, sizeof m.v);
    memcpy(x + 13 * b + 10, m.omega, sizeof m.omega);
  }
}

/* --- 1. runs ---------------------------------------------------------------------------------------------------- */

/* Kinds that mean something in the plane; frames with z in the plane, for the revolute joint along z. */
static bool fits_the_plane(const char *kind) {
  return strcmp(kind, "planar") != 0 && strcmp(kind, "universal") != 0 && strcmp(kind, "perpendicular") != 0 &&
         strcmp(kind, "spherical") != 0;
}

static void check_runs(bool plane) {
  static const char *const solvers[] = {"dop853", "radau5", "bdf"};
  for (int i = 0; i < N_JOINTS; ++i) {
    if (plane && !fits_the_plane(joints[i].kind)) continue;
    char   text[MODEL_SIZE];
    double reference[N_STATES], x[N_STATES];
    print_model(text, joints[i].kind, "", plane);
    for (int s = 0; s < 3; ++s) {
      model_run run = run_text(text, NULL, solvers[s], 1e-10, 0.0);
      read_states(&run, plane, x);
      if (s == 0) memcpy(reference, x, sizeof x);
      double off = 0.0;
      for (int k = 0; k < N_STATES; ++k) off = fmax(off, fabs(x[k] - reference[k]));
      if (!(run.summary.constraint_residual <= 1e-9 && run.summary.energy_drift <= 1e-8 && off <= 5e-8)) {
        fail_msg("%s with %s: |g| %.2g, energy drifts by %.2g J, %.2g away from %s", joints[i].kind, solvers[s],
                 run.summary.constraint_residual, run.summary.energy_drift, off, solvers[0]);
      }
      run_end(&run);
    }
  }
}

static void every_joint_holds_tumbling_bodies_in_space(void **state) {
  (void)state;
  check_runs(false);
}

static void every_joint_holds_planar_bodies(void **state) {
  (void)state;
  check_runs(true);
}

/* --- 2. reactions ------------------------------------------------------------------------------------------------ */

typedef struct wrench {
  double F[3], M[3]; /* inertial axes, M about the centre of mass */
} wrench;

static void add_force(wrench *w, const motion *m, const double F[3], double sign, const double point[3]) {
  double arm[3];
  for (int k = 0; k < 3; ++k) {
    arm[k] = point[k] - m->r[k];
    w->F[k] += sign * F[k];
  }
  vec3_add_cross(w->M, sign, arm, F);
}

static void point_on(const motion *m, const double at[3], double C[3]) {
  mat3_apply(C, m->R, at);
  vec3_add(C, 1.0, m->r);
}

/* Columns of R times the axes of the joint's frame in the body. */
static void joint_axes(const model_run *run, const motion *m, int side, double e[3][3]) {
  const yoke_connection *c = &run->model->connections[0];
  const double          *A = run->model->frames[c->frame[side]].axes;
  for (int k = 0; k < 3; ++k) mat3_apply(e[k], m->R, (const double[3]){A[k], A[3 + k], A[6 + k]});
}

static void add_reactions(const model_run *run, const joint_case *joint, const body_data *body, const motion m[2],
                          wrench w[2]) {
  double C[2][3], e[2][3][3], D[3];
  for (int side = 0; side < 2; ++side) {
    point_on(&m[side], body[side].joint, C[side]);
    joint_axes(run, &m[side], side, e[side]);
  }
  for (int k = 0; k < 3; ++k) D[k] = C[0][k] - C[1][k];
  for (int i = 0; i < joint->n; ++i) {
    char name[32];
    snprintf(name, sizeof name, "joint.force[%d]", i + 1);
    const double lambda = run_value(run, name);
    const int    k = joint->row[i].k, l = joint->row[i].l;
    double       n[3] = {0};
    switch (joint->row[i].kind) {
    case POINT:
      n[k] = lambda;
      add_force(&w[0], &m[0], n, 1.0, C[0]);
      add_force(&w[1], &m[1], n, -1.0, C[1]);
      break;
    case INPLANE:
      vec3_add(n, lambda, e[1][k]);
      add_force(&w[0], &m[0], n, 1.0, C[0]);
      add_force(&w[1], &m[1], n, -1.0, C[0]);
      break;
    case PERPENDICULAR:
      vec3_add_cross(w[0].M, lambda, e[0][k], e[1][l]);
      vec3_add_cross(w[1].M, -lambda, e[0][k], e[1][l]);
      break;
    case DISTANCE:
      vec3_add(n, lambda / vec3_norm(D), D);
      add_force(&w[0], &m[0], n, 1.0, C[0]);
      add_force(&w[1], &m[1], n, -1.0, C[1]);
      break;
    }
  }
}

static void add_applied(const body_data *b, const motion *m, const double g[3], wrench *w) {
  double C[3], n[3];
  point_on(m, b->spring, C);
  for (int k = 0; k < 3; ++k) n[k] = C[k] - b->anchor[k];
  const double length = vec3_norm(n), scale = -b->stiffness * (length - b->free_length) / length;
  for (int k = 0; k < 3; ++k) n[k] *= scale;
  add_force(w, m, n, 1.0, C);
  vec3_add(w->F, b->mass, g);
}

/* Largest entry of  m v' - F  and  J omega' + omega x J omega - R^T M;  in the plane of those that can move. */
static double imbalance(const body_data *b, const motion *m, const double a[3], const double alpha[3], const wrench *w,
                        bool plane) {
  double largest = 0.0, M[3], Ja[3], Jw[3];
  mat3_apply_transposed(M, m->R, w->M);
  mat3_apply(Ja, b->inertia, alpha);
  mat3_apply(Jw, b->inertia, m->omega);
  vec3_add_cross(Ja, 1.0, m->omega, Jw);
  for (int k = 0; k < 3; ++k) {
    if (!plane || k < 2) largest = fmax(largest, fabs(b->mass * a[k] - w->F[k]));
    if (!plane || k == 2) largest = fmax(largest, fabs(Ja[k] - M[k]));
  }
  return largest;
}

/* One run stopped at T - 3d ... T + 3d: accelerations by the seven-point formula, error d^6 / 140 of the seventh
 * derivative of v. */
static double newton_euler_imbalance(const joint_case *joint, bool plane) {
  static const double weight[3] = {45.0 / 60, -9.0 / 60, 1.0 / 60};
  const body_data    *body      = plane ? plane_body : space_body;
  const double        T = 0.8, d = 1e-3, g[3] = {gravity[0], gravity[1], plane ? 0.0 : gravity[2]};
  char                text[MODEL_SIZE];
  motion              m[7][2];
  wrench              w[2] = {{.F = {0}}};
  print_model(text, joint->kind, "", plane);
  model_run run = run_text(text, NULL, "dop853", 1e-13, T - 3 * d);
  for (int i = 0; i < 7; ++i) {
    if (i > 0) {
      assert_int_equal(yoke_system_run(run.system, T + (i - 3) * d, NULL, &run.summary, run.ctx), YOKE_OK);
    }
    for (int b = 0; b < 2; ++b) m[i][b] = read_motion(&run, b, plane);
    if (i == 3) add_reactions(&run, joint, body, m[3], w);
  }
  double largest = 0.0;
  for (int b = 0; b < 2; ++b) {
    double a[3] = {0}, alpha[3] = {0};
    for (int k = 0; k < 3; ++k) {
      for (int i = 1; i <= 3; ++i) {
        a[k] += weight[i - 1] * (m[3 + i][b].v[k] - m[3 - i][b].v[k]) / d;
        alpha[k] += weight[i - 1] * (m[3 + i][b].omega[k] - m[3 - i][b].omega[k]) / d;
      }
    }
    add_applied(&body[b], &m[3][b], g, &w[b]);
    largest = fmax(largest, imbalance(&body[b], &m[3][b], a, alpha, &w[b], plane));
  }
  run_end(&run);
  return largest;
}

static void reactions_balance_newton_and_euler(void **state) {
  (void)state;
  for (int plane = 0; plane < 2; ++plane) {
    for (int i = 0; i < N_JOINTS; ++i) {
      if (plane && !fits_the_plane(joints[i].kind)) continue;
      const double off = newton_euler_imbalance(&joints[i], plane);
      if (!(off <= 2e-8))
        fail_msg("%s%s: forces are off balance by %.3g", joints[i].kind, plane ? ", planar" : "", off);
    }
  }
}

/* GGL, index 1 with projection and Baumgarte's stabilisation are different equations for the same forces. */
static void all_formulations_give_the_same_forces(void **state) {
  (void)state;
  static const char *const formulations[] = {"solvers.default.constraints=ggl",
                                             "solvers.default.constraints=projection",
                                             "solvers.default.constraints=baumgarte"};
  static const char *const solvers[]      = {"radau5", "bdf", "dop853"};
  for (int i = 0; i < N_JOINTS; ++i) {
    char   text[MODEL_SIZE], name[32];
    double reference[6];
    print_model(text, joints[i].kind, "", false);
    for (int f = 0; f < 3; ++f) {
      for (int s = 0; s < 3; ++s) {
        const char *const sets[] = {formulations[f], NULL};
        model_run         run    = run_text(text, sets, solvers[s], 1e-9, 0.5);
        for (int k = 0; k < joints[i].n; ++k) {
          snprintf(name, sizeof name, "joint.force[%d]", k + 1);
          const double force = run_value(&run, name);
          if (f == 0 && s == 0) reference[k] = force;
          if (!(fabs(force - reference[k]) <= 2e-7)) {
            fail_msg("%s, %s, %s: %s = %.12g, by the first formulation %.12g", joints[i].kind, formulations[f],
                     solvers[s], name, force, reference[k]);
          }
        }
        run_end(&run);
      }
    }
  }
}

/* --- 3. prescribed motion ------------------------------------------------------------------------------------- */

/* Angle about z of frame 1, or distance along it. */
static double coordinate(const model_run *run, bool plane, bool is_distance) {
  const body_data *body = plane ? plane_body : space_body;
  motion           m[2];
  double           e[2][3][3], C[2][3], D[3];
  for (int side = 0; side < 2; ++side) {
    m[side] = read_motion(run, side, plane);
    joint_axes(run, &m[side], side, e[side]);
    point_on(&m[side], body[side].joint, C[side]);
  }
  for (int k = 0; k < 3; ++k) D[k] = C[1][k] - C[0][k];
  return is_distance ? vec3_dot(D, e[0][2]) : atan2(vec3_dot(e[0][1], e[1][0]), vec3_dot(e[0][0], e[1][0]));
}

static void check_motion(const char *kind, bool plane, const char *law, double expected) {
  static const char *const solvers[]   = {"dop853", "radau5", "bdf", "auto"};
  const bool               is_distance = strcmp(kind, "translational") == 0;
  char                     text[MODEL_SIZE], more[100];
  snprintf(more, sizeof more, ", motion: \"%s\"", law);
  print_model(text, kind, more, plane);
  for (int s = 0; s < 4; ++s) {
    model_run    run = run_text(text, NULL, solvers[s], 1e-10, 0.0);
    const double x   = coordinate(&run, plane, is_distance);
    const double off = is_distance ? x - expected : remainder(x - expected, 2.0 * acos(-1.0));
    CHECK_NEAR(off, 0.0, 1e-9);
    CHECK_BELOW(run.summary.constraint_residual, 1e-9);
    CHECK_BELOW(run.summary.energy_drift, 5e-8);
    assert_true(fabs(run_value(&run, "total.external")) > 5e-3); /* not trivial */
    run_end(&run);
  }
}

static void prescribed_motion_is_followed_and_its_work_is_counted(void **state) {
  (void)state;
  check_motion("revolute", false, "0.3 + sin(2*t)", 0.3 + sin(2 * t_end));
  check_motion("cylindrical", false, "0.3 + sin(2*t)", 0.3 + sin(2 * t_end));
  check_motion("translational", false, "0.2*cos(3*t)", 0.2 * cos(3 * t_end));
  check_motion("revolute", true, "0.3 + sin(2*t)", 0.3 + sin(2 * t_end));
  check_motion("translational", true, "0.2*cos(3*t)", 0.2 * cos(3 * t_end));
}

static void prescribed_angle_passes_full_turns(void **state) {
  (void)state;
  check_motion("revolute", false, "10*t", 10 * t_end);
  check_motion("revolute", true, "-10*t", -10 * t_end);
}

/* --- 4. flexible joints ------------------------------------------------------------------------------------------ */

/* The assembled start of a rigid joint, for its flexible version, which nothing closes. */
static void print_start(const model_run *run, int b, char *text, size_t size) {
  snprintf(text, size,
           "position: [%.17g, %.17g, %.17g], orientation: [%.17g, %.17g, %.17g, %.17g], "
           "velocity: [%.17g, %.17g, %.17g], omega: [%.17g, %.17g, %.17g]",
           body_value(run, b, "x"), body_value(run, b, "y"), body_value(run, b, "z"), body_value(run, b, "q0"),
           body_value(run, b, "q1"), body_value(run, b, "q2"), body_value(run, b, "q3"), body_value(run, b, "vx"),
           body_value(run, b, "vy"), body_value(run, b, "vz"), body_value(run, b, "wx"), body_value(run, b, "wy"),
           body_value(run, b, "wz"));
}

/* Damping in proportion to the stiffness c takes the vibration away within milliseconds; what remains is lambda / c. */
static void check_flexible(const char *kind) {
  char   text[MODEL_SIZE], more[100], start[2][600];
  double rigid[N_STATES], x[N_STATES], off[3] = {0};
  print_model(text, kind, "", false);
  model_run run = run_text(text, NULL, "dop853", 1e-10, 1e-300);
  for (int b = 0; b < 2; ++b) print_start(&run, b, start[b], sizeof start[b]);
  run_end(&run);
  run = run_text(text, NULL, "dop853", 1e-10, 0.5);
  read_states(&run, false, rigid);
  run_end(&run);
  for (int k = 0; k < 3; ++k) {
    const double c = 1e5 * pow(10.0, k);
    snprintf(more, sizeof more, ", stiffness: %g, damping: %g", c, 1e-3 * c);
    print_model_from(text, kind, more, false, (const char *const[]){start[0], start[1]});
    run = run_text(text, NULL, "radau5", 1e-10, 0.5);
    read_states(&run, false, x);
    CHECK_BELOW(run.summary.energy_drift, 1e-6);
    run_end(&run);
    for (int j = 0; j < N_STATES; ++j) off[k] = fmax(off[k], fabs(x[j] - rigid[j]));
  }
  CHECK_NEAR(log10(off[0] / off[1]), 1.0, 0.05);
  CHECK_NEAR(log10(off[1] / off[2]), 1.0, 0.05);
}

static void stiff_flexible_joint_tends_to_the_rigid_one(void **state) {
  (void)state;
  for (int i = 0; i < N_JOINTS; ++i) check_flexible(joints[i].kind);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_joint_holds_tumbling_bodies_in_space),
      cmocka_unit_test(every_joint_holds_planar_bodies),
      cmocka_unit_test(reactions_balance_newton_and_euler),
      cmocka_unit_test(all_formulations_give_the_same_forces),
      cmocka_unit_test(prescribed_motion_is_followed_and_its_work_is_counted),
      cmocka_unit_test(prescribed_angle_passes_full_turns),
      cmocka_unit_test(stiff_flexible_joint_tends_to_the_rigid_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
