/* Constraint coupling of bodies whose joint forces turn with the other body: order of the states when copies of the other
 * pose enter the subsystems. Two bodies on springs, joined by a rigid joint; each subsystem is integrated in micro steps
 * that are far finer than needed, and so is the reference, where the multipliers follow from s'' = 0. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "own_settings.h"
#include "coupling/constraint.h"
#include "model/joint_kinds.h"
#include <string.h>

enum { MAX_W = 48, N_PAST = 3, N_MICRO = 6, N_Z = YOKE_PORT_MAX_P + YOKE_PORT_MAX_V, MAX_C = 48 };

static const double mass[2] = {1.0, 2.3}, inertia[2] = {0.4, 0.7}, spring[2] = {90.0, 25.0}, twist[2] = {30.0, 4.0};

/* ---- bodies ---- */

typedef struct body {
  const yoke_port_shape *shape;
  int                    side;
} body;

static int n_p(const body *b) {
  return b->shape->n_p;
}
static int n_v(const body *b) {
  return b->shape->n_v;
}

/* Accelerations v' for z = (p, v) and the wrench [6] of the joint: springs to the origin, gravity, dampers; a turning
 * spring; equal moments of inertia about all axes. */
static void accelerations(const body *b, const double *z, const double *wrench, double *a) {
  const double *v = z + n_p(b);
  for (int k = 0; k < n_v(b); ++k) {
    const int f = b->shape->v[k].freedom;
    if (f < 3) {
      a[k] = (wrench[f] - spring[b->side] * z[k] - 0.5 * v[k]) / mass[b->side] - (f == 1 ? 9.81 : 0.0);
    } else {
      const double angle = b->shape == &yoke_shape_frame ? 2.0 * z[4 + f - 3] : z[k];
      a[k]               = (wrench[f] - twist[b->side] * angle - 0.1 * v[k]) / inertia[b->side];
    }
  }
}

/* p' = T v. */
static void position_rates(const body *b, const double *z, double *rate) {
  double    T[YOKE_PORT_MAX_P * YOKE_PORT_MAX_V];
  const int nv = n_v(b);
  yoke_shape_tangent(b->shape, z, T);
  for (int i = 0; i < n_p(b); ++i) {
    rate[i] = 0.0;
    for (int k = 0; k < nv; ++k) rate[i] += T[i * nv + k] * z[n_p(b) + k];
  }
}

/* Share of one side of the joint's force. */
static void joint_wrench(const yoke_joint_element *joint, const body bodies[2], const double *const p[2], int side,
                         const double *lambda, double *wrench) {
  yoke_pose       poses[2];
  yoke_link_state link;
  for (int s = 0; s < 2; ++s) yoke_shape_pose(bodies[s].shape, p[s], NULL, &poses[s]);
  yoke_link_state_set(&joint->link, poses, &link);
  memset(wrench, 0, 6 * sizeof *wrench);
  for (int i = 0; i < joint->n; ++i) {
    double grad[12];
    (void)yoke_row_gradient(&joint->row[i], &link, grad);
    for (int f = 0; f < 6; ++f) wrench[f] += lambda[i] * grad[6 * side + f];
  }
}

/* ---- the coupled system ---- */

typedef struct run {
  const yoke_formulation_ops *ops;
  void                       *self;
  const yoke_coupling_def    *def;
  const yoke_joint_element   *joint;
  body                        bodies[2];
  int                         n, n_w;
  const yoke_channel         *channel;
  yoke_layout                 layout[MAX_C];
  double                      past_s[N_PAST], past_u[MAX_C][N_PAST], H;
  int                         n_past;
  double                      z[2][N_Z], y_old[2][YOKE_PORT_MAX_Y];
} run;

static void set_outputs(const body *b, const double *z, const double *a, double *y) {
  memset(y, 0, YOKE_PORT_MAX_Y * sizeof *y);
  memcpy(y, z, (size_t)(n_p(b) + n_v(b)) * sizeof *y);
  memcpy(y + n_p(b) + n_v(b), a, (size_t)n_v(b) * sizeof *y);
}

/* Gauss with column pivots and rows scaled to 1; A [n, n], row stride MAX_W, and b are used up. */
static void solve(int n, double (*A)[MAX_W], double *b) {
  for (int i = 0; i < n; ++i) {
    double largest = 0.0;
    for (int j = 0; j < n; ++j) largest = fmax(largest, fabs(A[i][j]));
    for (int j = 0; j < n; ++j) A[i][j] /= largest;
    b[i] /= largest;
  }
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int i = k + 1; i < n; ++i) {
      if (fabs(A[i][k]) > fabs(A[pivot][k])) pivot = i;
    }
    for (int j = 0; j < n; ++j) {
      const double swap = A[k][j];
      A[k][j]           = A[pivot][j];
      A[pivot][j]       = swap;
    }
    const double swap = b[k];
    b[k]              = b[pivot];
    b[pivot]          = swap;
    for (int i = k + 1; i < n; ++i) {
      const double factor = A[i][k] / A[k][k];
      for (int j = k; j < n; ++j) A[i][j] -= factor * A[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (int k = n - 1; k >= 0; --k) {
    for (int j = k + 1; j < n; ++j) b[k] -= A[k][j] * b[j];
    b[k] /= A[k][k];
  }
}

/* Accelerations of both bodies of the whole model and s'' of all rows for given multipliers. */
static void whole_accelerations(const run *r, double z[2][N_Z], const double *lambda, double a[2][YOKE_PORT_MAX_V],
                                double *s2) {
  double              y[2][YOKE_PORT_MAX_Y], level[YOKE_JOINT_LEVELS][YOKE_JOINT_MAX_ROWS];
  const double *const p[2] = {z[0], z[1]}, *const both[2] = {y[0], y[1]};
  for (int s = 0; s < 2; ++s) {
    double wrench[6];
    joint_wrench(r->joint, r->bodies, p, s, lambda, wrench);
    accelerations(&r->bodies[s], z[s], wrench, a[s]);
    set_outputs(&r->bodies[s], z[s], a[s], y[s]);
  }
  yoke_joint_levels(r->def->joint, r->def->shape, both, level);
  memcpy(s2, level[2], sizeof level[2]);
}

/* lambda from s'' = 0. */
static void whole_multipliers(const run *r, double z[2][N_Z], double *lambda) {
  double A[YOKE_JOINT_MAX_ROWS][MAX_W], a[2][YOKE_PORT_MAX_V], c0[6], c1[6], zero[6] = {0.0};
  whole_accelerations(r, z, zero, a, c0);
  for (int j = 0; j < r->joint->n; ++j) {
    double unit[6] = {0.0};
    unit[j]        = 1.0;
    whole_accelerations(r, z, unit, a, c1);
    for (int i = 0; i < r->joint->n; ++i) A[i][j] = c1[i] - c0[i];
  }
  for (int i = 0; i < r->joint->n; ++i) lambda[i] = -c0[i];
  solve(r->joint->n, A, lambda);
}

static void whole_rates(const run *r, double z[2][N_Z], double rate[2][N_Z]) {
  double lambda[6], s2[6], a[2][YOKE_PORT_MAX_V];
  whole_multipliers(r, z, lambda);
  whole_accelerations(r, z, lambda, a, s2);
  for (int s = 0; s < 2; ++s) {
    position_rates(&r->bodies[s], z[s], rate[s]);
    memcpy(rate[s] + n_p(&r->bodies[s]), a[s], sizeof a[s]);
  }
}

/* Classical Runge-Kutta over `n` numbers; stage i is at c[i] of the step, weights 1/6 1/3 1/3 1/6. */
static const double stage_at[4] = {0.0, 0.5, 0.5, 1.0}, stage_weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};

static void whole_step(const run *r, double h, double z[2][N_Z]) {
  double k[2][N_Z] = {{0.0}}, x[2][N_Z], sum[2][N_Z];
  memcpy(sum, z, sizeof sum);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 2 * N_Z; ++j) x[j / N_Z][j % N_Z] = z[j / N_Z][j % N_Z] + h * stage_at[i] * k[j / N_Z][j % N_Z];
    whole_rates(r, x, k);
    for (int j = 0; j < 2 * N_Z; ++j) sum[j / N_Z][j % N_Z] += h * stage_weight[i] * k[j / N_Z][j % N_Z];
  }
  memcpy(z, sum, sizeof sum);
}

/* ---- subsystems ---- */

/* Coefficients of all channels in one piece of the multipliers, about local time `origin`. */
typedef struct curves {
  double origin[MAX_C], c[MAX_C][YOKE_LAYOUT_MAX_DEGREE + 1];
} curves;

static void curves_set(const run *r, const double *w, int piece, curves *out) {
  for (int i = 0; i < r->n; ++i) {
    const yoke_past past = {r->n_past, r->past_s, r->past_u[i]};
    const int       p    = yoke_layout_n_pieces(&r->layout[i]) > 1 ? piece : 0;
    out->origin[i]       = p > 0 ? yoke_layout_break(&r->layout[i], p - 1) : 0.0;
    yoke_layout_piece(&r->layout[i], &past, w, p, out->c[i]);
    w += yoke_layout_n_nodes(&r->layout[i]);
  }
}

static void signals(const run *r, const curves *x, double s, double *u) {
  for (int i = 0; i < r->n; ++i) {
    u[i] = 0.0;
    for (int k = YOKE_LAYOUT_MAX_DEGREE; k >= 0; --k) u[i] = u[i] * (s - x->origin[i]) + x->c[i][k];
  }
}

/* v' of side s: its share of the joint force with its own pose and copies of the other (uncopied components: zero and
 * unit rotation; they do not matter). */
static void side_accelerations(const run *r, int s, const double *z, const double *u, double *a) {
  const int           other                 = 1 - s;
  double              copy[YOKE_PORT_MAX_P] = {0.0}, wrench[6];
  const double *const p[2]                  = {s == 0 ? z : copy, s == 1 ? z : copy};
  if (r->bodies[other].shape == &yoke_shape_frame) copy[3] = 1.0;
  for (int i = 0; i < r->n; ++i) {
    if (r->channel[i].enters[s] == YOKE_ENTRY_COPY_P) copy[r->channel[i].component] = u[i];
  }
  joint_wrench(r->joint, r->bodies, p, s, u, wrench);
  accelerations(&r->bodies[s], z, wrench, a);
}

static void micro_step(const run *r, int s, const curves *inputs, double at, double length, double *z) {
  const body *b      = &r->bodies[s];
  double      k[N_Z] = {0.0}, x[N_Z], sum[N_Z], u[MAX_C];
  memcpy(sum, z, sizeof sum);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < N_Z; ++j) x[j] = z[j] + r->H * length * stage_at[i] * k[j];
    signals(r, inputs, at + stage_at[i] * length, u);
    position_rates(b, x, k);
    side_accelerations(r, s, x, u, k + n_p(b));
    for (int j = 0; j < N_Z; ++j) sum[j] += r->H * length * stage_weight[i] * k[j];
  }
  memcpy(z, sum, sizeof sum);
}

static void integrate(const run *r, const double *w, double z[2][N_Z], double y[2][YOKE_PORT_MAX_Y]) {
  const yoke_layout *multiplier = &r->layout[0];
  const int          n_pieces   = yoke_layout_n_pieces(multiplier);
  curves             inputs;
  memcpy(z, r->z, sizeof r->z);
  for (int p = 0; p < n_pieces; ++p) {
    const double start = p > 0 ? yoke_layout_break(multiplier, p - 1) : 0.0;
    const double h     = (yoke_layout_break(multiplier, p) - start) * n_pieces / N_MICRO;
    curves_set(r, w, p, &inputs);
    for (int m = 0; m < N_MICRO / n_pieces; ++m) {
      for (int s = 0; s < 2; ++s) micro_step(r, s, &inputs, start + m * h, h, z[s]);
    }
  }
  for (int s = 0; s < 2; ++s) {
    double u[MAX_C], a[YOKE_PORT_MAX_V];
    signals(r, &inputs, 1.0, u);
    side_accelerations(r, s, z[s], u, a);
    set_outputs(&r->bodies[s], z[s], a, y[s]);
  }
}

static void conditions(const run *r, const double *w, double z[2][N_Z], double y[2][YOKE_PORT_MAX_Y], double *c) {
  double u[MAX_C], u_dot[MAX_C], u_integral[MAX_C];
  integrate(r, w, z, y);
  for (int i = 0; i < r->n; ++i) {
    const yoke_past past = {r->n_past, r->past_s, r->past_u[i]};
    u_dot[i]             = yoke_layout_measure(&r->layout[i], &past, w).end_derivative / r->H;
    u_integral[i]        = yoke_layout_measure(&r->layout[i], &past, w).integral * r->H;
    w += yoke_layout_n_nodes(&r->layout[i]);
    u[i] = w[-1];
  }
  yoke_arena               scratch = {0};
  const yoke_coupling_view view    = {.H          = r->H,
                                      .u          = u,
                                      .u_dot      = u_dot,
                                      .u_integral = u_integral,
                                      .y          = {y[0], y[1]},
                                      .y_old      = {r->y_old[0], r->y_old[1]},
                                      .scratch    = &scratch};
  r->ops->residual(r->self, &view, c);
  yoke_arena_free(&scratch);
}

/* One implicit macro step: Newton with the matrix of the start. */
static void step(run *r) {
  static double A[MAX_W][MAX_W], B[MAX_W][MAX_W];
  double        w[MAX_W], c[MAX_W], shifted[MAX_W], z[2][N_Z], y[2][YOKE_PORT_MAX_Y];
  for (int i = 0, at = 0; i < r->n; ++i) {
    for (int j = 0; j < yoke_layout_n_nodes(&r->layout[i]); ++j) w[at++] = r->past_u[i][0];
  }
  conditions(r, w, z, y, c);
  for (int j = 0; j < r->n_w; ++j) {
    const double kept = w[j];
    w[j]              = kept + 1e-3;
    conditions(r, w, z, y, shifted);
    w[j] = kept;
    for (int i = 0; i < r->n_w; ++i) A[i][j] = (shifted[i] - c[i]) / 1e-3;
  }
  for (int pass = 0; pass < 5; ++pass) {
    memcpy(B, A, sizeof B);
    solve(r->n_w, B, c);
    for (int j = 0; j < r->n_w; ++j) w[j] -= c[j];
    conditions(r, w, z, y, c);
  }
  memcpy(r->z, z, sizeof z);
  memcpy(r->y_old, y, sizeof y);
  for (int i = 0, at = 0; i < r->n; ++i) {
    at += yoke_layout_n_nodes(&r->layout[i]);
    for (int k = N_PAST - 1; k > 0; --k) r->past_u[i][k] = r->past_u[i][k - 1];
    r->past_u[i][0] = w[at - 1];
  }
  if (r->n_past < N_PAST) ++r->n_past;
}

/* Full degree as soon as the history allows it. */
static void set_layouts(run *r, int degree) {
  bool enough = false;
  for (int k = degree; !enough; --k) {
    enough = true;
    for (int i = 0; i < r->n; ++i) {
      r->ops->layout(r->self, i, k, &r->layout[i]);
      if (yoke_layout_n_past(&r->layout[i]) > r->n_past) enough = false;
    }
  }
}

/* ---- joints ---- */

typedef struct joint_case {
  const char            *name;
  yoke_connection_kind   connection;
  const yoke_port_shape *shape[2];
  yoke_row               row; /* instead of all rows of the connection when one row is wanted */
  bool                   one_row;
} joint_case;

static const joint_case distance = {
    "distance", YOKE_CONNECTION_DISTANCE, {&yoke_shape_point, &yoke_shape_point}, {YOKE_ROW_DISTANCE, 0, 0}, true};
static const joint_case slider = {
    "planar slider", YOKE_CONNECTION_INPLANE, {&yoke_shape_plane, &yoke_shape_plane}, {YOKE_ROW_INPLANE, 1, 1}, true};
static const joint_case revolute = {
    "revolute", YOKE_CONNECTION_REVOLUTE, {&yoke_shape_frame, &yoke_shape_frame}, {YOKE_ROW_POINT, 0, 0}, false};
static const joint_case cylindrical = {
    "cylindrical", YOKE_CONNECTION_CYLINDRICAL, {&yoke_shape_frame, &yoke_shape_frame}, {YOKE_ROW_POINT, 0, 0}, false};

static yoke_joint_element make_joint(const joint_case *x) {
  yoke_joint_element joint = {
      .link = {.node = {0, 1}, .axes = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}}};
  joint.n = x->one_row ? 1 : yoke_joint_rows(x->connection, joint.row);
  if (x->one_row) joint.row[0] = x->row;
  for (int i = 0; i < joint.n; ++i) joint.own[i] = i;
  return joint;
}

/* Both bodies move as one at the start, so that every joint holds with its velocity. */
static void set_start(run *r, yoke_joint_element *joint) {
  static const double C[3] = {0.3, -0.2, 0.25}, v[3] = {0.5, -1.0, 0.8}, w[3] = {0.7, -0.4, 1.2};
  for (int s = 0; s < 2; ++s) {
    const body *b = &r->bodies[s];
    if (b->shape == &yoke_shape_frame) r->z[s][3] = 1.0;
    for (int k = 0; k < n_v(b); ++k) {
      const int f = b->shape->v[k].freedom;
      if (f < 3) r->z[s][k] = C[f];
      r->z[s][n_p(b) + k] = f < 3 ? v[f] : w[f - 3];
    }
  }
  if (joint->row[0].kind == YOKE_ROW_DISTANCE) {
    r->z[1][0] += 0.4;
    r->z[1][1] -= 0.3;
    joint->offset[0] = 0.5;
  }
}

static void begin(run *r, const yoke_coupling_def *def, int n_steps_per_second) {
  double lambda[6], s2[6], a[2][YOKE_PORT_MAX_V];
  r->ops = def->formulation;
  assert_int_equal(r->ops->create(NULL, def, &r->self), YOKE_OK);
  r->def     = def;
  r->joint   = def->joint;
  r->channel = r->ops->channels(r->self, &r->n);
  r->n_w     = r->ops->n_conditions(r->self);
  r->H       = 1.0 / n_steps_per_second;
  assert_true(r->n_w <= MAX_W);
  whole_multipliers(r, r->z, lambda);
  whole_accelerations(r, r->z, lambda, a, s2);
  for (int s = 0; s < 2; ++s) set_outputs(&r->bodies[s], r->z[s], a[s], r->y_old[s]);
  for (int i = 0; i < r->n; ++i) {
    const yoke_channel *c = &r->channel[i];
    r->past_u[i][0]       = c->is_force ? lambda[i] : r->z[c->enters[0] == YOKE_ENTRY_COPY_P ? 1 : 0][c->component];
  }
  for (int k = 0; k < N_PAST; ++k) r->past_s[k] = -k;
  r->n_past = 1;
}

/* Largest error of p and v at t = 0.2 s. */
static double end_error(const joint_case *x, const char *formulation, int degree, int n_steps) {
  const double                 t_end    = 0.2;
  yoke_joint_element           joint    = make_joint(x);
  const yoke_coupling_settings settings = own_start(formulation);
  const yoke_coupling_def      def      = {.name        = "c",
                                           .formulation = yoke_formulation_find(formulation),
                                           .joint       = &joint,
                                           .shape       = {x->shape[0], x->shape[1]},
                                           .settings    = &settings};
  run                          r        = {.bodies = {{x->shape[0], 0}, {x->shape[1], 1}}};
  double                       z[2][N_Z];
  set_start(&r, &joint);
  memcpy(z, r.z, sizeof z);
  begin(&r, &def, (int)(n_steps / t_end + 0.5));
  for (int N = 0; N < n_steps; ++N) {
    set_layouts(&r, degree);
    step(&r);
  }
  enum { REFERENCE_STEPS = 200 };
  for (int i = 0; i < REFERENCE_STEPS; ++i) whole_step(&r, t_end / REFERENCE_STEPS, z);
  double error = 0.0;
  for (int s = 0; s < 2; ++s) {
    for (int k = 0; k < n_p(&r.bodies[s]) + n_v(&r.bodies[s]); ++k) error = fmax(error, fabs(r.z[s][k] - z[s][k]));
  }
  r.ops->destroy(r.self);
  return error;
}

static const joint_case *const cases[] = {&distance, &slider, &revolute, &cylindrical};

enum { N_JOINTS = (int)(sizeof cases / sizeof cases[0]) };

static const struct {
  const char *formulation;
  int         degree;
  double      order;
} expected[] = {
    {"stabilized-index-2", 0, 4.0}, {"stabilized-index-2", 1, 4.0}, {"stabilized-index-2", 2, 4.0},
    {"stabilized-index-1", 0, 3.0}, {"stabilized-index-1", 1, 4.0}, {"stabilized-index-1", 3, 4.0},
};

static void stabilized_formulations_keep_their_order_with_copies(void **state) {
  (void)state;
  for (int i = 0; i < N_JOINTS; ++i) {
    for (size_t m = 0; m < sizeof expected / sizeof expected[0]; ++m) {
      double error[2];
      for (int j = 0; j < 2; ++j) error[j] = end_error(cases[i], expected[m].formulation, expected[m].degree, 6 << j);
      CHECK_ORDER(error, 2, expected[m].order, 0.1);
      CHECK_BELOW(error[1], 1e-5);
    }
  }
}

static void baumgarte_has_order_k_plus_one_with_copies(void **state) {
  (void)state;
  const joint_case *const turning[] = {&slider, &cylindrical};
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k <= 2; ++k) {
      double error[2];
      for (int j = 0; j < 2; ++j) error[j] = end_error(turning[i], "baumgarte", k, 16 << j);
      CHECK_ORDER(error, 2, k + 1.0, 0.1);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stabilized_formulations_keep_their_order_with_copies),
      cmocka_unit_test(baumgarte_has_order_k_plus_one_with_copies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
