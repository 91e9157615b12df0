/* Constraint coupling: channels, levels of the rows, conditions and their derivatives, refusals, warnings. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "wide_shape.h"
#include "own_settings.h"
#include "coupling/constraint.h"
#include "linalg/space.h"
#include "model/joint_kinds.h"
#include <stdio.h>
#include <string.h>

enum { MAX_CHANNELS = 48, MAX_CONDITIONS = 3 * MAX_CHANNELS, MAX_Y = WIDE_Y + YOKE_JOINT_MAX_ROWS };

static const struct {
  const char        *name;
  int                index;
  yoke_decomposition decomposition;
} formulations[] = {{"baumgarte", 1, YOKE_FORCE_FORCE},          {"baumgarte", 2, YOKE_FORCE_FORCE},
                    {"baumgarte", 3, YOKE_FORCE_FORCE},          {"stabilized-index-2", 0, YOKE_FORCE_FORCE},
                    {"stabilized-index-1", 0, YOKE_FORCE_FORCE}, {"stabilized-index-2-mu", 0, YOKE_FORCE_FORCE},
                    {"baumgarte", 1, YOKE_FORCE_DISPLACEMENT},   {"baumgarte", 1, YOKE_DISPLACEMENT_FORCE},
                    {"projection", 0, YOKE_FORCE_FORCE},         {"projection", 0, YOKE_FORCE_DISPLACEMENT},
                    {"projection", 0, YOKE_DISPLACEMENT_FORCE},  {"projection", 0, YOKE_DISPLACEMENT_DISPLACEMENT}};
enum {
  N_ALL          = (int)(sizeof formulations / sizeof formulations[0]),
  N_FORMULATIONS = 6 /* force/force with levels of their own */
};

static const struct {
  const char          *name;
  yoke_connection_kind kind;
} joints[] = {
    {"atpoint", YOKE_CONNECTION_ATPOINT},         {"spherical", YOKE_CONNECTION_SPHERICAL},
    {"inplane", YOKE_CONNECTION_INPLANE},         {"perpendicular", YOKE_CONNECTION_PERPENDICULAR},
    {"revolute", YOKE_CONNECTION_REVOLUTE},       {"universal", YOKE_CONNECTION_UNIVERSAL},
    {"cylindrical", YOKE_CONNECTION_CYLINDRICAL}, {"translational", YOKE_CONNECTION_TRANSLATIONAL},
    {"planar", YOKE_CONNECTION_PLANAR},           {"inline", YOKE_CONNECTION_INLINE},
    {"orientation", YOKE_CONNECTION_ORIENTATION}, {"fixed", YOKE_CONNECTION_FIXED},
    {"distance", YOKE_CONNECTION_DISTANCE},
};
enum { N_JOINTS = (int)(sizeof joints / sizeof joints[0]), TURN_JOINT = N_JOINTS, STRETCH_JOINT, N_CASES };

static const yoke_port_shape *const pairs[][2] = {
    {&shape_wide, &yoke_shape_frame},       {&yoke_shape_plane, &shape_wide},
    {&yoke_shape_frame, &yoke_shape_frame}, {&yoke_shape_frame, &yoke_shape_plane},
    {&yoke_shape_point, &yoke_shape_frame}, {&yoke_shape_line, &yoke_shape_frame},
    {&yoke_shape_plane, &yoke_shape_plane}, {&yoke_shape_plane, &yoke_shape_point},
    {&yoke_shape_point, &yoke_shape_point}, {&yoke_shape_line, &yoke_shape_line},
};
enum { N_PAIRS = (int)(sizeof pairs / sizeof pairs[0]) };

/* Numbers in [-1, 1], the same in every run. */
static double next_number(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) * 0x1p-52 - 1.0;
}

static void rotation_about_z(double A[9], double angle) {
  const double R[9] = {cos(angle), -sin(angle), 0.0, sin(angle), cos(angle), 0.0, 0.0, 0.0, 1.0};
  memcpy(A, R, sizeof R);
}

/* Rows between the frames of the ports; `level`: axes of the bodies (joint motions) instead of turned ones. */
static yoke_joint_element make_joint(int joint, bool level) {
  yoke_joint_element x = {.link = {.node = {0, 1}}};
  rotation_about_z(x.link.axes[0], level ? 0.0 : 0.4);
  rotation_about_z(x.link.axes[1], level ? 0.0 : -0.7);
  if (joint == TURN_JOINT || joint == STRETCH_JOINT) {
    x.n      = 1;
    x.row[0] = (yoke_row){joint == TURN_JOINT ? YOKE_ROW_TURN : YOKE_ROW_STRETCH, 0, 0};
  } else {
    x.n = yoke_joint_rows(joints[joint].kind, x.row);
  }
  for (int i = 0; i < x.n; ++i) x.own[i] = i;
  return x;
}

/* ---- one coupling with everything a call needs ---- */

typedef struct coupling {
  const yoke_formulation_ops *ops;
  yoke_joint_element          joint;
  yoke_coupling_settings      settings;
  yoke_coupling_def           def;
  void                       *self;
  int                         n, n_c, n_y[2];
  const yoke_channel         *channel;
  yoke_arena                  scratch;
  double                      u[MAX_CHANNELS], u_dot[MAX_CHANNELS], u_integral[MAX_CHANNELS];
  double                      y[2][MAX_Y], y_old[2][MAX_Y];
  yoke_coupling_view          view;
} coupling;

static void open_coupling(coupling *x, int formulation, int joint, bool level, const yoke_port_shape *const shape[2]) {
  memset(x, 0, sizeof *x);
  x->ops = yoke_formulation_find(formulations[formulation].name);
  assert_non_null(x->ops);
  x->joint                  = make_joint(joint, level);
  x->settings               = own_start(formulations[formulation].name);
  x->settings.decomposition = formulations[formulation].decomposition;
  if (formulations[formulation].index > 0) own_set(&x->settings, "index", formulations[formulation].index);
  if (strcmp(formulations[formulation].name, "baumgarte") == 0) own_set(&x->settings, "mu", 0.8);
  x->def = (yoke_coupling_def){
      .name = "c", .formulation = x->ops, .joint = &x->joint, .shape = {shape[0], shape[1]}, .settings = &x->settings};
  assert_int_equal(x->ops->create(NULL, &x->def, &x->self), YOKE_OK);
  x->channel = x->ops->channels(x->self, &x->n);
  x->n_c     = x->ops->n_conditions(x->self);
  for (int s = 0; s < 2; ++s) {
    const int extras = x->ops->extras != NULL ? x->ops->extras(x->self, s) : 0;
    x->n_y[s]        = yoke_shape_n_y(shape[s]) + yoke_port_n_extras(extras, x->joint.n);
  }
  x->view = (yoke_coupling_view){.t          = 0.4,
                                 .H          = 0.1,
                                 .u          = x->u,
                                 .u_dot      = x->u_dot,
                                 .u_integral = x->u_integral,
                                 .y          = {x->y[0], x->y[1]},
                                 .y_old      = {x->y_old[0], x->y_old[1]},
                                 .n_y        = {x->n_y[0], x->n_y[1]},
                                 .scratch    = &x->scratch};
}

static void close_coupling(coupling *x) {
  x->ops->destroy(x->self);
  yoke_arena_free(&x->scratch);
}

/* Random motion; Euler parameters near (but not of) norm 1. */
static void fill(coupling *x, uint64_t seed) {
  for (int s = 0; s < 2; ++s) {
    for (int k = 0; k < x->n_y[s]; ++k) {
      x->y[s][k]     = next_number(&seed) + (s == 0 && k < 3 ? 0.6 : 0.0);
      x->y_old[s][k] = next_number(&seed);
    }
    if (x->def.shape[s] == &yoke_shape_frame) {
      for (int k = 3; k < 7; ++k) x->y[s][k] = (k == 3 ? 1.0 : 0.0) + 0.3 * x->y[s][k];
    } else if (x->def.shape[s] == &shape_wide) {
      for (int k = 3; k < WIDE_P; ++k) x->y[s][k] = (k == 3 || k == 7 ? 0.5 : 0.0) + 0.15 * x->y[s][k];
    }
  }
  for (int i = 0; i < MAX_CHANNELS; ++i) {
    x->u[i]          = next_number(&seed);
    x->u_dot[i]      = next_number(&seed);
    x->u_integral[i] = next_number(&seed);
  }
}

/* Runs `fact` for every formulation, joint and pair of ports. */
static int for_every_combination(void (*fact)(coupling *x)) {
  int n = 0;
  for (int code = 0; code < N_ALL * N_CASES * N_PAIRS; ++code) {
    const int                     joint = code / N_PAIRS % N_CASES;
    const yoke_port_shape *const *shape = pairs[code % N_PAIRS];
    if (joint == TURN_JOINT && (shape[0] != &yoke_shape_plane || shape[1] != &yoke_shape_plane)) continue;
    coupling x;
    open_coupling(&x, code / N_PAIRS / N_CASES, joint, false, shape);
    fill(&x, (uint64_t)code + 1u);
    fact(&x);
    ++n;
    close_coupling(&x);
  }
  return n;
}

/* ---- channels ---- */

static void check_names(int joint, const yoke_port_shape *shape_1, const yoke_port_shape *shape_2,
                        const char *expected) {
  const yoke_port_shape *const shape[2]   = {shape_1, shape_2};
  char                         text[1024] = "";
  coupling                     x;
  open_coupling(&x, 3, joint, false, shape);
  for (int i = 0; i < x.n; ++i) {
    if (i > 0) strcat(text, ", ");
    strcat(text, x.channel[i].name);
  }
  assert_string_equal(text, expected);
  close_coupling(&x);
}

static void channels_are_multipliers_and_the_copies_that_the_gradients_need(void **state) {
  (void)state;
  const yoke_port_shape *rigid = &yoke_shape_frame, *planar = &yoke_shape_plane, *particle = &yoke_shape_point;
  check_names(STRETCH_JOINT, &yoke_shape_line, &yoke_shape_line, "lambda stretch");
  check_names(TURN_JOINT, planar, planar, "lambda turn");
  check_names(1, rigid, rigid, "lambda atpoint x, lambda atpoint y, lambda atpoint z");
  check_names(2, rigid, rigid,
              "lambda inplane z, copy 1 x, copy 1 y, copy 1 z, copy 2 q0, copy 2 q1, copy 2 q2, copy 2 q3");
  check_names(2, planar, planar, "lambda inplane z, copy 1 x, copy 1 y, copy 2 angle");
  check_names(2, rigid, particle, "lambda inplane z");
  check_names(3, planar, rigid, "lambda perpendicular zz, copy 1 angle, copy 2 q0, copy 2 q1, copy 2 q2, copy 2 q3");
  check_names(12, particle, planar, "lambda distance, copy 1 x, copy 1 y, copy 1 z, copy 2 x, copy 2 y");
}

static void multipliers_enter_both_sides_with_the_place_of_their_row(void **state) {
  (void)state;
  const yoke_joint_element joint = {
      .link = {.node = {0, 1}, .axes = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}},
      .n    = 2,
      .row  = {{YOKE_ROW_POINT, 1, 0}, {YOKE_ROW_PERPENDICULAR, 0, 1}},
      .own  = {1, 5}};
  const yoke_coupling_settings settings = {.formulation = "baumgarte"};
  const yoke_coupling_def      def      = {
                .name = "c", .joint = &joint, .shape = {&yoke_shape_plane, &yoke_shape_plane}, .settings = &settings};
  yoke_constraint x;
  assert_int_equal(yoke_constraint_set(NULL, &def, false, YOKE_COPY_END, false, &x), YOKE_OK);
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(x.channel[i].component, joint.own[i]);
    assert_true(x.channel[i].is_force && !x.channel[i].extended);
    for (int s = 0; s < 2; ++s) {
      assert_int_equal(x.channel[i].enters[s], YOKE_ENTRY_LAMBDA);
      assert_true(x.channel[i].sign[s] == 1.0);
    }
  }
  assert_int_equal(x.n_channels, 4);
  assert_true(x.channel[2].enters[0] == YOKE_ENTRY_NONE && x.channel[2].enters[1] == YOKE_ENTRY_COPY_P);
  assert_true(x.channel[3].enters[0] == YOKE_ENTRY_COPY_P && x.channel[3].enters[1] == YOKE_ENTRY_NONE);
  yoke_constraint_free(&x);
}

/* Gradients of all rows on one side, as far as the body feels them. */
static void side_gradients(const coupling *x, int side, const double *const p[2], double *felt) {
  yoke_pose       poses[2];
  yoke_link_state link;
  for (int s = 0; s < 2; ++s) yoke_shape_pose(x->def.shape[s], p[s], NULL, &poses[s]);
  yoke_link_state_set(&x->joint.link, poses, &link);
  for (int i = 0; i < x->joint.n; ++i) {
    double grad[12];
    (void)yoke_row_gradient(&x->joint.row[i], &link, grad);
    for (int k = 0; k < WIDE_V; ++k) {
      felt[i * WIDE_V + k] = k < x->def.shape[side]->n_v ? grad[6 * side + x->def.shape[side]->v[k].freedom] : 0.0;
    }
  }
}

/* gamma of all rows. */
static void row_gammas(const coupling *x, const double *const p[2], const double *const v[2], double *gamma) {
  yoke_pose       poses[2];
  yoke_link_state link;
  for (int s = 0; s < 2; ++s) yoke_shape_pose(x->def.shape[s], p[s], v[s], &poses[s]);
  yoke_link_state_set(&x->joint.link, poses, &link);
  for (int i = 0; i < x->joint.n; ++i) gamma[i] = yoke_row_gamma(&x->joint.row[i], &link);
}

/* The side that carries gamma finds it with what it has of the other motion. */
static void check_gamma_copies(const coupling *x, int side, const double *ghost_p) {
  const int other           = 1 - side;
  double    ghost_v[WIDE_V] = {0.4, -0.6, 0.2, 0.5, -0.7, 0.3}, truth[6], seen[6];
  bool      carries         = false;
  for (int i = 0; i < x->n; ++i) {
    const yoke_channel *channel = &x->channel[i];
    carries                     = carries || channel->enters[side] == YOKE_ENTRY_ROW_ACCELERATION;
    if (channel->enters[side] == YOKE_ENTRY_COPY_V)
      ghost_v[channel->component] = x->y[other][x->def.shape[other]->n_p + channel->component];
  }
  if (!carries) return;
  const double *const own_v   = x->y[side] + x->def.shape[side]->n_p;
  const double *const other_v = x->y[other] + x->def.shape[other]->n_p;
  const double *const p[2][2] = {{x->y[0], x->y[1]}, {side == 0 ? x->y[0] : ghost_p, side == 1 ? x->y[1] : ghost_p}};
  const double *const v[2][2] = {{side == 0 ? own_v : other_v, side == 1 ? own_v : other_v},
                                 {side == 0 ? own_v : ghost_v, side == 1 ? own_v : ghost_v}};
  row_gammas(x, p[0], v[0], truth);
  row_gammas(x, p[1], v[1], seen);
  for (int i = 0; i < x->joint.n; ++i) CHECK_NEAR(seen[i], truth[i], 1e-13);
}

static void check_copies_suffice(coupling *x) {
  for (int side = 0; side < 2; ++side) {
    const int other         = 1 - side;
    double    ghost[WIDE_P] = {0.3, -0.2, 0.7, 0.9, 0.1, -0.3, 0.2};
    double    truth[6 * WIDE_V], seen[6 * WIDE_V];
    for (int i = 0; i < x->n; ++i) {
      if (x->channel[i].enters[side] == YOKE_ENTRY_COPY_P)
        ghost[x->channel[i].component] = x->y[other][x->channel[i].component];
    }
    const double *const with_truth[2] = {x->y[0], x->y[1]};
    const double *const with_ghost[2] = {side == 0 ? x->y[0] : ghost, side == 1 ? x->y[1] : ghost};
    side_gradients(x, side, with_truth, truth);
    side_gradients(x, side, with_ghost, seen);
    for (int k = 0; k < x->joint.n * WIDE_V; ++k) CHECK_NEAR(seen[k], truth[k], 1e-14);
    check_gamma_copies(x, side, ghost);
  }
}

static void what_is_not_copied_does_not_influence_the_share_of_a_side(void **state) {
  (void)state;
  assert_true(for_every_combination(check_copies_suffice) > 1200);
}

static void check_unknowns(coupling *x) {
  for (int degree = 0; degree <= 3; ++degree) {
    int n = 0;
    for (int i = 0; i < x->n; ++i) {
      yoke_layout layout;
      x->ops->layout(x->self, i, degree, &layout);
      assert_true(yoke_layout_n_nodes(&layout) == 1 || x->channel[i].extended);
      n += yoke_layout_n_nodes(&layout);
    }
    assert_int_equal(n, x->n_c);
  }
}

static void there_are_as_many_conditions_as_unknown_nodes(void **state) {
  (void)state;
  assert_true(for_every_combination(check_unknowns) > 1200);
}

/* ---- levels ---- */

/* Motion of a frame: p(t) and its derivatives. Position is a parabola, the orientation exp(psi(t)) with a rotation
 * vector along a fixed axis times an angle of t, seen from a fixed start orientation. */
typedef struct frame_motion {
  double C[3], v[3], a[3], q[4], axis[3], rate, growth;
} frame_motion;

static frame_motion random_motion(uint64_t *seed) {
  frame_motion m;
  for (int k = 0; k < 3; ++k) {
    m.C[k]    = next_number(seed);
    m.v[k]    = next_number(seed);
    m.a[k]    = next_number(seed);
    m.axis[k] = next_number(seed);
  }
  for (int k = 0; k < 4; ++k) m.q[k] = next_number(seed);
  m.rate = next_number(seed), m.growth = next_number(seed);
  return m;
}

static void quaternion_product(double c[4], const double a[4], const double b[4]) {
  c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
  c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
  c[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
  c[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

static void outputs_at(const frame_motion *m, const yoke_port_shape *shape, double t, double *y) {
  const int    np = shape->n_p, nv = shape->n_v;
  const double angle = t * (m->rate + 0.5 * t * m->growth), spin = m->rate + t * m->growth;
  const double length       = vec3_norm(m->axis);
  const bool   turns_freely = shape == &yoke_shape_frame || shape == &shape_wide;
  for (int k = 0; k < nv; ++k) {
    const int f = shape->v[k].freedom;
    if (f < 3) {
      y[k]           = m->C[f] + t * (m->v[f] + 0.5 * t * m->a[f]);
      y[np + k]      = m->v[f] + t * m->a[f];
      y[np + nv + k] = m->a[f];
    } else if (turns_freely) {
      y[np + k]      = m->axis[f - 3] * spin;
      y[np + nv + k] = m->axis[f - 3] * m->growth;
    } else {
      y[k]           = m->q[0] + angle;
      y[np + k]      = spin;
      y[np + nv + k] = m->growth;
    }
  }
  if (!turns_freely) return;
  double turn[4] = {cos(0.5 * angle * length)};
  for (int k = 0; k < 3; ++k) turn[1 + k] = m->axis[k] / length * sin(0.5 * angle * length);
  double q[4];
  quaternion_product(q, turn, m->q);
  quaternion_normalise(q);
  for (int k = 0; k < 4; ++k) y[3 + k] = q[k];
  for (int k = 0; shape == &shape_wide && k < 4; ++k) y[3 + k] = y[7 + k] = 0.5 * q[k];
}

static void levels_at(const yoke_coupling_def *def, const frame_motion m[2], double t,
                      double level[YOKE_JOINT_LEVELS][YOKE_JOINT_MAX_ROWS]) {
  double y[2][MAX_Y] = {{0.0}};
  for (int s = 0; s < 2; ++s) outputs_at(&m[s], def->shape[s], t, y[s]);
  const double *const both[2] = {y[0], y[1]};
  yoke_joint_levels(def->joint, def->shape, both, level);
}

static void check_levels(coupling *x) {
  const double       h    = 1e-4;
  uint64_t           seed = 77u;
  const frame_motion m[2] = {random_motion(&seed), random_motion(&seed)};
  double             now[3][6], ahead[3][6], behind[3][6];
  for (int i = 0; i < x->joint.n; ++i) x->joint.offset[i] = 0.1 * (i + 1);
  levels_at(&x->def, m, 0.3, now);
  levels_at(&x->def, m, 0.3 + h, ahead);
  levels_at(&x->def, m, 0.3 - h, behind);
  for (int i = 0; i < x->joint.n; ++i) {
    for (int l = 0; l < 2; ++l) CHECK_NEAR(now[l + 1][i], (ahead[l][i] - behind[l][i]) / (2.0 * h), 1e-6);
  }
}

static void levels_are_the_time_derivatives_of_the_rows(void **state) {
  (void)state;
  assert_true(for_every_combination(check_levels) > 1200);
}

/* Frame 2 follows frame 1 up to what the joint lets free: its motion relative to frame 1 (axes of frame 1). */
typedef struct relative_motion {
  int    joint;
  double shift[3]; /* velocity of the origin along the free axes */
  double spin;     /* about z1 = z2 */
} relative_motion;

static const relative_motion free_motions[] = {
    {4, {0.0, 0.0, 0.0}, 1.3},  /* revolute */
    {6, {0.0, 0.0, 0.4}, 1.3},  /* cylindrical */
    {7, {0.0, 0.0, 0.4}, 0.0},  /* translational */
    {8, {0.5, 0.4, 0.0}, 1.3},  /* planar */
    {9, {0.0, 0.0, 0.4}, 1.3},  /* inline */
    {10, {0.5, 0.3, 0.4}, 0.0}, /* orientation */
    {11, {0.0, 0.0, 0.0}, 0.0}, /* fixed */
    {1, {0.0, 0.0, 0.0}, 1.3},  /* spherical */
};

/* p of both frames at t. */
static void joint_positions(const relative_motion *r, const frame_motion *m, double t, double y[2][MAX_Y]) {
  double R[9], d[3], along[3];
  outputs_at(m, &yoke_shape_frame, t, y[0]);
  quaternion_rotation(R, y[0] + 3);
  for (int k = 0; k < 3; ++k) d[k] = r->shift[k] * t;
  mat3_apply(along, R, d);
  for (int k = 0; k < 3; ++k) y[1][k] = y[0][k] + along[k];
  quaternion_product(y[1] + 3, y[0] + 3, (const double[4]){cos(0.5 * r->spin * t), 0.0, 0.0, sin(0.5 * r->spin * t)});
}

/* v and v' of frame 2: w2 = w1 + spin z1, C2' = C1' + w1 x d + d', and once more. */
static void joint_rates(const relative_motion *r, double t, double y[2][MAX_Y]) {
  const double *v1 = y[0] + 7, *w1 = y[0] + 10, *a1 = y[0] + 13, *al1 = y[0] + 16;
  double       *v2 = y[1] + 7, *w2 = y[1] + 10, *a2 = y[1] + 13, *al2 = y[1] + 16;
  double        R[9], d[3], dd[3], z[3], wd[3], local[3];
  quaternion_rotation(R, y[0] + 3);
  for (int k = 0; k < 3; ++k) local[k] = r->shift[k] * t;
  mat3_apply(d, R, local);
  mat3_apply(dd, R, r->shift);
  mat3_apply(z, R, (const double[3]){0.0, 0.0, r->spin});
  vec3_cross(wd, w1, d);
  for (int k = 0; k < 3; ++k) {
    v2[k]  = v1[k] + wd[k] + dd[k];
    w2[k]  = w1[k] + z[k];
    a2[k]  = a1[k];
    al2[k] = al1[k];
  }
  vec3_add_cross(a2, 1.0, al1, d);
  vec3_add_cross(a2, 1.0, w1, wd);
  vec3_add_cross(a2, 2.0, w1, dd);
  vec3_add_cross(al2, 1.0, w1, z);
}

static void all_levels_vanish_along_an_exact_motion_of_the_joint(void **state) {
  (void)state;
  const yoke_port_shape *const shape[2] = {&yoke_shape_frame, &yoke_shape_frame};
  for (size_t i = 0; i < sizeof free_motions / sizeof free_motions[0]; ++i) {
    uint64_t           seed = 5u + i;
    const frame_motion m    = random_motion(&seed);
    for (int f = 0; f < N_FORMULATIONS; ++f) {
      coupling x;
      double   c[MAX_CONDITIONS];
      open_coupling(&x, f, free_motions[i].joint, true, shape);
      joint_positions(&free_motions[i], &m, 0.7, x.y);
      joint_rates(&free_motions[i], 0.7, x.y);
      x.ops->residual(x.self, &x.view, c);
      const int n_sums = f == 4 ? 3 : f >= 3 ? 2 : 1;
      for (int j = 0; j < n_sums * x.joint.n; ++j) CHECK_BELOW(fabs(c[j]), 1e-13);
      close_coupling(&x);
    }
  }
}

/* ---- conditions ---- */

static void two_masses_have_the_conditions_of_li(void **state) {
  (void)state;
  const yoke_port_shape *const shape[2] = {&yoke_shape_line, &yoke_shape_line};
  for (int f = 0; f < N_FORMULATIONS; ++f) {
    coupling x;
    double   c[MAX_CONDITIONS];
    open_coupling(&x, f, STRETCH_JOINT, true, shape);
    fill(&x, 9u);
    x.ops->residual(x.self, &x.view, c);
    double g[3];
    for (int l = 0; l < 3; ++l) g[l] = x.y[1][l] - x.y[0][l];
    const double time = 0.8 * 0.1; /* mu H */
    if (f == 0) CHECK_NEAR(c[0], g[0] + 2.0 * time * g[1] + time * time * g[2], 1e-15);
    if (f == 1) CHECK_NEAR(c[0], g[0] + 2.0 * time * g[1], 1e-15);
    if (f == 2) CHECK_NEAR(c[0], g[0], 1e-15);
    for (int l = 0; f >= 3 && l < x.n_c; ++l) CHECK_NEAR(c[l], g[l], 1e-15);
    assert_int_equal(x.n_c, f < 3 ? 1 : f == 4 ? 3 : 2);
    close_coupling(&x);
  }
}

/* Column of dc/dx by central differences against the stated one. */
static void check_column(const coupling *x, double *value, const double *stated, int stride) {
  const double kept = *value, h = 1e-5;
  double       above[MAX_CONDITIONS], below[MAX_CONDITIONS];
  *value = kept + h;
  x->ops->residual(x->self, &x->view, above);
  *value = kept - h;
  x->ops->residual(x->self, &x->view, below);
  *value = kept;
  for (int c = 0; c < x->n_c; ++c) {
    const double slope = (above[c] - below[c]) / (2.0 * h);
    CHECK_NEAR(stated[c * stride], slope, 1e-7 * (1.0 + fabs(slope)));
  }
}

static void check_jacobian(coupling *x) {
  enum { BLOCK = MAX_CONDITIONS * MAX_CHANNELS };
  static double du[BLOCK], du_dot[BLOCK], du_integral[BLOCK], dy[2][MAX_CONDITIONS * MAX_Y];
  x->ops->jacobian(x->self, &x->view, du, du_dot, du_integral, dy[0], dy[1]);
  for (int i = 0; i < x->n; ++i) {
    check_column(x, &x->u[i], du + i, x->n);
    check_column(x, &x->u_dot[i], du_dot + i, x->n);
    check_column(x, &x->u_integral[i], du_integral + i, x->n);
  }
  for (int s = 0; s < 2; ++s) {
    for (int k = 0; k < x->n_y[s]; ++k) check_column(x, &x->y[s][k], dy[s] + k, x->n_y[s]);
  }
}

static void stated_derivatives_agree_with_differences_for_every_combination(void **state) {
  (void)state;
  assert_true(for_every_combination(check_jacobian) > 1200);
}

/* ---- refusals and warnings ---- */

static void check_refused(const coupling *x, const char *scheme, int order, const char *reason) {
  yoke_context *ctx = NULL;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(x->ops->check(ctx, &x->def, traits_of(scheme), order), YOKE_E_USAGE);
  assert_int_equal(yoke_context_n_errors(ctx), 1);
  assert_non_null(strstr(yoke_context_message(ctx, 0), "coupling 'c'"));
  if (strstr(yoke_context_message(ctx, 0), reason) == NULL)
    fail_msg("'%s' lacks '%s'", yoke_context_message(ctx, 0), reason);
  yoke_context_destroy(&ctx);
}

static void impossible_combinations_are_refused_with_a_reason(void **state) {
  (void)state;
  const yoke_port_shape *const shape[2] = {&yoke_shape_frame, &yoke_shape_frame};
  for (int f = 0; f < N_FORMULATIONS; ++f) {
    coupling x;
    open_coupling(&x, f, 4, false, shape);
    check_refused(&x, "explicit", 0, "semi-implicit or implicit");
    check_refused(&x, "waveform", 0, "semi-implicit or implicit");
    check_refused(&x, "implicit", -1, "order is -1");
    check_refused(&x, "implicit", 6, "order is 6");
    const bool by_motion = strcmp(formulations[f].name, "baumgarte") == 0; /* one side may be displaced */
    for (int d = by_motion ? YOKE_DISPLACEMENT_DISPLACEMENT : YOKE_FORCE_DISPLACEMENT;
         d <= YOKE_DISPLACEMENT_DISPLACEMENT; ++d) {
      x.settings.decomposition = (yoke_decomposition)d;
      check_refused(&x, "implicit", 0, "force/force");
    }
    x.settings.decomposition = YOKE_FORCE_FORCE;
    x.settings.extension     = YOKE_EXTENSION_D;
    check_refused(&x, "implicit", 0, "extension");
    x.settings.extension   = YOKE_EXTENSION_NONE;
    x.settings.feedthrough = true;
    check_refused(&x, "implicit", 0, "feed-through");
    x.settings.feedthrough = false;
    x.def.joint            = NULL;
    check_refused(&x, "implicit", 0, "constitutive");
    close_coupling(&x);
  }
}

static void values_out_of_range_are_refused(void **state) {
  (void)state;
  const yoke_port_shape *const shape[2] = {&yoke_shape_line, &yoke_shape_line};
  coupling                     x;
  open_coupling(&x, 0, STRETCH_JOINT, false, shape);
  own_set(&x.settings, "index", 4);
  check_refused(&x, "implicit", 0, "index is 4");
  own_set(&x.settings, "index", 1);
  own_set(&x.settings, "beta", -1.0);
  check_refused(&x, "implicit", 0, "beta is -1");
  own_set(&x.settings, "beta", 0.0);
  own_set(&x.settings, "mu", (double)NAN);
  check_refused(&x, "implicit", 0, "mu is");
  close_coupling(&x);
  open_coupling(&x, 4, STRETCH_JOINT, false, shape);
  own_set2(&x.settings, "nodes", 0.7, 0.4);
  check_refused(&x, "implicit", 1, "nodes are 0.7 and 0.4");
  own_set2(&x.settings, "nodes", 0.2, 0.4);
  assert_int_equal(x.ops->check(NULL, &x.def, traits_of("implicit"), 1), YOKE_OK);
  check_refused(&x, "implicit", 2, "0, 1 or 3");
  assert_int_equal(x.ops->check(NULL, &x.def, traits_of("implicit"), 3), YOKE_OK);
  close_coupling(&x);
  open_coupling(&x, 3, STRETCH_JOINT, false, shape);
  check_refused(&x, "implicit", 3, "expected 0 to 2");
  close_coupling(&x);
}

static void check_warnings(const coupling *x, int order, const char *remedy) {
  yoke_context *ctx = NULL;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(x->ops->check(ctx, &x->def, traits_of("implicit"), order), YOKE_OK);
  assert_int_equal((int)yoke_context_n_messages(ctx), remedy != NULL);
  if (remedy != NULL) assert_non_null(strstr(yoke_context_message(ctx, 0), remedy));
  yoke_context_destroy(&ctx);
}

static void combinations_that_are_not_zero_stable_warn_and_name_another(void **state) {
  (void)state;
  const yoke_port_shape *const shape[2] = {&yoke_shape_line, &yoke_shape_line};
  coupling                     x;
  open_coupling(&x, 0, STRETCH_JOINT, false, shape);
  for (int index = 1; index <= 3; ++index) {
    own_set(&x.settings, "index", index);
    own_set(&x.settings, "mu", 1.0);
    check_warnings(&x, 0, NULL);
    check_warnings(&x, 1, index == 1 ? NULL : "stabilized-index-2");
    check_warnings(&x, 2, index == 1 ? NULL : "index 1");
  }
  own_set(&x.settings, "index", 1);
  own_set(&x.settings, "mu", 0.28);
  check_warnings(&x, 1, "mu >= 0.288675");
  own_set(&x.settings, "mu", 0.29);
  check_warnings(&x, 1, NULL);
  check_warnings(&x, 2, "mu >= 0.5");
  close_coupling(&x);
  for (int f = 3; f <= 4; ++f) {
    open_coupling(&x, f, STRETCH_JOINT, false, shape);
    for (int k = 0; k <= 1; ++k) check_warnings(&x, k, NULL);
    close_coupling(&x);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(channels_are_multipliers_and_the_copies_that_the_gradients_need),
      cmocka_unit_test(multipliers_enter_both_sides_with_the_place_of_their_row),
      cmocka_unit_test(what_is_not_copied_does_not_influence_the_share_of_a_side),
      cmocka_unit_test(there_are_as_many_conditions_as_unknown_nodes),
      cmocka_unit_test(levels_are_the_time_derivatives_of_the_rows),
      cmocka_unit_test(all_levels_vanish_along_an_exact_motion_of_the_joint),
      cmocka_unit_test(two_masses_have_the_conditions_of_li),
      cmocka_unit_test(stated_derivatives_agree_with_differences_for_every_combination),
      cmocka_unit_test(impossible_combinations_are_refused_with_a_reason),
      cmocka_unit_test(values_out_of_range_are_refused),
      cmocka_unit_test(combinations_that_are_not_zero_stable_warn_and_name_another),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
