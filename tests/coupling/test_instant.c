/* Values of joint couplings at one instant: for random motions of two bodies the conditions vanish for the true multipliers, one linear
 * step finds these from any others, and the stated derivatives are those of differences. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "own_settings.h"
#include "wide_shape.h"
#include "model/joint_kinds.h"

enum { ROWS = YOKE_JOINT_MAX_ROWS, UNKNOWNS = 2 * ROWS, CHANNELS = 64, OUTPUTS = WIDE_Y + ROWS + 2 * ROWS * ROWS + 6 };

static const struct {
  const char        *name;
  yoke_decomposition decomposition;
  int                side; /* that kinematic prescribes */
} cases[] = {
    {"baumgarte", YOKE_FORCE_FORCE, 0},
    {"baumgarte", YOKE_FORCE_DISPLACEMENT, 0},
    {"baumgarte", YOKE_DISPLACEMENT_FORCE, 0},
    {"weighted", YOKE_FORCE_FORCE, 0},
    {"stabilized-index-2", YOKE_FORCE_FORCE, 0},
    {"stabilized-index-1", YOKE_FORCE_FORCE, 0},
    {"projection", YOKE_FORCE_FORCE, 0},
    {"projection", YOKE_FORCE_DISPLACEMENT, 0},
    {"projection", YOKE_DISPLACEMENT_FORCE, 0},
    {"projection", YOKE_DISPLACEMENT_DISPLACEMENT, 0},
    {"kinematic", YOKE_FORCE_FORCE, 0},
    {"kinematic", YOKE_FORCE_FORCE, 1},
    {"stabilized-index-2-mu", YOKE_FORCE_FORCE, 0},
};
enum { N_CASES = (int)(sizeof cases / sizeof cases[0]) };

static const yoke_connection_kind joints[] = {YOKE_CONNECTION_SPHERICAL, YOKE_CONNECTION_REVOLUTE,
                                              YOKE_CONNECTION_UNIVERSAL, YOKE_CONNECTION_INPLANE,
                                              YOKE_CONNECTION_DISTANCE};
enum { N_JOINTS = (int)(sizeof joints / sizeof joints[0]) };

static double next_number(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) * 0x1p-52 - 1.0;
}

/* A x = b by Gauss with pivots; used up. */
static void solve(int n, double A[UNKNOWNS][UNKNOWNS], double *b) {
  for (int c = 0; c < n; ++c) {
    int pivot = c;
    for (int r = c; r < n; ++r) pivot = fabs(A[r][c]) > fabs(A[pivot][c]) ? r : pivot;
    assert_true(fabs(A[pivot][c]) > 1e-9);
    for (int k = 0; k < n; ++k) {
      const double kept = A[c][k];
      A[c][k]           = A[pivot][k];
      A[pivot][k]       = kept;
    }
    const double kept = b[c];
    b[c]              = b[pivot];
    b[pivot]          = kept;
    for (int r = 0; r < n; ++r) {
      const double factor = r == c ? 0.0 : A[r][c] / A[c][c];
      for (int k = c; k < n; ++k) A[r][k] -= factor * A[c][k];
      b[r] -= factor * b[c];
    }
  }
  for (int c = 0; c < n; ++c) b[c] /= A[c][c];
}

/* Two bodies at one instant: accelerations a + M^-1 grad^T lambda, M^-1 a diagonal. */
typedef struct bodies {
  const yoke_formulation_ops *ops;
  yoke_joint_element          joint;
  yoke_coupling_settings      settings;
  yoke_coupling_def           def;
  void                       *self;
  int                         n, n_y[2];
  const yoke_channel         *channel;
  double                      free[2][6], mobility[2][6], grad[ROWS][12], gamma[ROWS], truth[ROWS];
  double                      y[2][OUTPUTS], u[CHANNELS];
  yoke_arena                  scratch;
} bodies;

/* Compliance of a side in its rows. */
static double compliance(const bodies *b, int side, int i, int j) {
  double sum = 0.0;
  for (int k = 0; k < 6; ++k) sum += b->grad[i][6 * side + k] * b->mobility[side][k] * b->grad[j][6 * side + k];
  return sum;
}

static double free_share(const bodies *b, int side, int i) {
  double sum = 0.0;
  for (int k = 0; k < 6; ++k) sum += b->grad[i][6 * side + k] * b->free[side][k];
  return sum;
}

/* Multipliers that make s'' = 0. */
static void find_truth(bodies *b) {
  double A[UNKNOWNS][UNKNOWNS];
  for (int i = 0; i < b->joint.n; ++i) {
    b->truth[i] = -b->gamma[i] - free_share(b, 0, i) - free_share(b, 1, i);
    for (int j = 0; j < b->joint.n; ++j) A[i][j] = compliance(b, 0, i, j) + compliance(b, 1, i, j);
  }
  solve(b->joint.n, A, b->truth);
}

static void open_bodies(bodies *b, int which, yoke_connection_kind kind, const yoke_port_shape *second, uint64_t seed) {
  memset(b, 0, sizeof *b);
  b->ops                    = yoke_formulation_find(cases[which].name);
  b->settings               = own_start(cases[which].name);
  b->settings.decomposition = cases[which].decomposition;
  b->settings.side          = cases[which].side;
  b->joint.link.node[1]     = 1;
  b->joint.n = b->joint.n_own = yoke_joint_rows(kind, b->joint.row);
  for (int s = 0; s < 2; ++s) b->joint.link.axes[s][0] = b->joint.link.axes[s][4] = b->joint.link.axes[s][8] = 1.0;
  for (int i = 0; i < b->joint.n; ++i) b->joint.own[i] = i;
  b->def = (yoke_coupling_def){.name        = "c",
                               .formulation = b->ops,
                               .joint       = &b->joint,
                               .shape       = {&yoke_shape_frame, second},
                               .settings    = &b->settings};
  assert_int_equal(b->ops->create(NULL, &b->def, &b->self), YOKE_OK);
  b->channel = b->ops->channels(b->self, &b->n);
  assert_true(b->n <= CHANNELS);
  yoke_pose       poses[2];
  yoke_link_state link;
  for (int s = 0; s < 2; ++s) {
    const yoke_port_shape *shape = b->def.shape[s];
    b->n_y[s]                    = yoke_shape_n_y(shape) + yoke_port_n_extras(b->ops->extras(b->self, s), b->joint.n);
    assert_true(b->n_y[s] <= OUTPUTS);
    for (int k = 0; k < shape->n_p + shape->n_v; ++k) b->y[s][k] = next_number(&seed);
    for (int k = 0; k < 6; ++k) {
      b->free[s][k]     = next_number(&seed);
      b->mobility[s][k] = 1.5 + next_number(&seed);
    }
    yoke_shape_pose(shape, b->y[s], b->y[s] + shape->n_p, &poses[s]);
  }
  yoke_link_state_set(&b->joint.link, poses, &link);
  for (int i = 0; i < b->joint.n; ++i) {
    (void)yoke_row_gradient(&b->joint.row[i], &link, b->grad[i]);
    b->gamma[i] = yoke_row_gamma(&b->joint.row[i], &link);
  }
  find_truth(b);
  for (int k = 0; k < b->n; ++k) b->u[k] = next_number(&seed);
}

static void close_bodies(bodies *b) {
  b->ops->destroy(b->self);
  yoke_arena_free(&b->scratch);
}

/* What a side feels in its rows: multipliers that enter it, or the reaction to the accelerations that do. */
static void felt_rows(const bodies *b, int side, double mu[UNKNOWNS]) {
  double A[UNKNOWNS][UNKNOWNS];
  bool   is_led = false;
  for (int k = 0; k < b->n; ++k) {
    const yoke_entry entry = b->channel[k].enters[side];
    const int        i     = b->channel[k].component;
    if (entry == YOKE_ENTRY_LAMBDA) mu[i] = b->u[k];
    if (entry != YOKE_ENTRY_ROW_ACCELERATION && entry != YOKE_ENTRY_ROW_ACCELERATION_BARE &&
        entry != YOKE_ENTRY_PRESCRIBED)
      continue;
    is_led = true; /* grad . A [+ gamma] + sign u = 0 */
    mu[i]  = -free_share(b, side, i) - b->channel[k].sign[side] * b->u[k];
    if (entry != YOKE_ENTRY_ROW_ACCELERATION_BARE) mu[i] -= b->gamma[i];
    for (int j = 0; j < b->joint.n; ++j) A[i][j] = compliance(b, side, i, j);
  }
  if (is_led) solve(b->joint.n, A, mu);
}

/* Accelerations and reactions that belong to the channel values. */
static void respond(bodies *b) {
  for (int s = 0; s < 2; ++s) {
    const yoke_port_shape *shape = b->def.shape[s];
    double                 mu[UNKNOWNS], a[6];
    felt_rows(b, s, mu);
    for (int k = 0; k < 6; ++k) {
      a[k] = b->free[s][k];
      for (int i = 0; i < b->joint.n; ++i) a[k] += b->mobility[s][k] * b->grad[i][6 * s + k] * mu[i];
    }
    for (int k = 0; k < shape->n_v; ++k) b->y[s][yoke_shape_at_a(shape) + k] = a[shape->v[k].freedom];
    if ((b->ops->extras(b->self, s) & YOKE_EXTRA_REACTION) != 0)
      for (int i = 0; i < b->joint.n; ++i) b->y[s][yoke_shape_n_y(shape) + i] = mu[i];
  }
}

typedef struct statement {
  int    n, unknown[CHANNELS];
  double u[CHANNELS], c[CHANNELS], dc_du[CHANNELS * CHANNELS], dc_dy[2][CHANNELS * OUTPUTS];
} statement;

static void state_of(bodies *b, statement *out) {
  const double *const y[2] = {b->y[0], b->y[1]};
  out->n = b->ops->instant->conditions(b->self, 0.0, y, b->u, out->u, out->unknown, out->c, out->dc_du, out->dc_dy[0],
                                       out->dc_dy[1], &b->scratch);
}

static int for_all(void (*fact)(bodies *b)) {
  int n = 0;
  for (int which = 0; which < N_CASES; ++which) {
    for (int j = 0; j < N_JOINTS; ++j) {
      bodies b;
      open_bodies(&b, which, joints[j], j % 2 == 0 ? &yoke_shape_frame : &shape_wide, (uint64_t)(100 * which + j + 1));
      fact(&b);
      close_bodies(&b);
      ++n;
    }
  }
  return n;
}

/* ---- facts ---- */

/* The unknowns of the true motion: multipliers, and what the side that follows must be told. */
static void set_truth(bodies *b) {
  for (int k = 0; k < b->n; ++k) {
    const int i = b->channel[k].component;
    for (int s = 0; s < 2; ++s) {
      double share = free_share(b, s, i < b->joint.n ? i : 0);
      for (int j = 0; i < b->joint.n && j < b->joint.n; ++j) share += compliance(b, s, i, j) * b->truth[j];
      switch (b->channel[k].enters[s]) {
      case YOKE_ENTRY_LAMBDA: b->u[k] = b->truth[i]; break;
      case YOKE_ENTRY_PRESCRIBED:
      case YOKE_ENTRY_ROW_ACCELERATION: b->u[k] = -(share + b->gamma[i]) / b->channel[k].sign[s]; break;
      case YOKE_ENTRY_ROW_ACCELERATION_BARE: b->u[k] = -share / b->channel[k].sign[s]; break;
      default: break;
      }
    }
  }
}

static void check_truth(bodies *b) {
  static statement x;
  set_truth(b);
  respond(b);
  state_of(b, &x);
  assert_true(x.n >= b->joint.n);
  for (int r = 0; r < x.n; ++r) CHECK_BELOW(fabs(x.c[r]), 1e-11);
}

static void conditions_vanish_for_the_true_multipliers_and_accelerations(void **state) {
  (void)state;
  assert_int_equal(for_all(check_truth), N_CASES * N_JOINTS);
}

/* y is affine in u: unit differences are its derivative. */
static void check_linear_step(bodies *b) {
  static statement x, moved;
  double           J[UNKNOWNS][UNKNOWNS], step[UNKNOWNS];
  respond(b);
  state_of(b, &x);
  for (int j = 0; j < x.n; ++j) {
    b->u[x.unknown[j]] += 1.0;
    respond(b);
    state_of(b, &moved);
    b->u[x.unknown[j]] -= 1.0;
    for (int r = 0; r < x.n; ++r) J[r][j] = moved.c[r] - x.c[r];
  }
  for (int r = 0; r < x.n; ++r) step[r] = -x.c[r];
  solve(x.n, J, step);
  for (int j = 0; j < x.n; ++j) b->u[x.unknown[j]] += step[j];
  for (int s = 0; s < 2; ++s) {
    double felt[UNKNOWNS];
    felt_rows(b, s, felt);
    for (int i = 0; i < b->joint.n; ++i) CHECK_NEAR(felt[i], b->truth[i], 1e-9 * (1.0 + fabs(b->truth[i])));
  }
}

static void one_linear_step_finds_what_both_sides_must_feel(void **state) {
  (void)state;
  for_all(check_linear_step);
}

static void check_derivatives(bodies *b) {
  static statement x, above, below;
  const double     h = 1e-5;
  respond(b);
  state_of(b, &x);
  for (int k = 0; k < b->n; ++k) {
    const double kept = b->u[k];
    b->u[k]           = kept + h;
    state_of(b, &above);
    b->u[k] = kept - h;
    state_of(b, &below);
    b->u[k] = kept;
    for (int r = 0; r < x.n; ++r) CHECK_NEAR(x.dc_du[r * b->n + k], (above.c[r] - below.c[r]) / (2.0 * h), 1e-7);
  }
  for (int s = 0; s < 2; ++s) {
    for (int k = 0; k < b->n_y[s]; ++k) {
      const double kept = b->y[s][k];
      b->y[s][k]        = kept + h;
      state_of(b, &above);
      b->y[s][k] = kept - h;
      state_of(b, &below);
      b->y[s][k] = kept;
      for (int r = 0; r < x.n; ++r) {
        const double slope = (above.c[r] - below.c[r]) / (2.0 * h);
        CHECK_NEAR(x.dc_dy[s][r * b->n_y[s] + k], slope, 1e-6 * (1.0 + fabs(slope)));
      }
    }
  }
}

static void stated_derivatives_are_those_of_differences(void **state) {
  (void)state;
  for_all(check_derivatives);
}

/* Copies are their originals, second multipliers 0, unknowns what they were. */
static void check_values(bodies *b) {
  static statement x;
  bool             is_unknown[CHANNELS] = {false};
  respond(b);
  state_of(b, &x);
  for (int j = 0; j < x.n; ++j) is_unknown[x.unknown[j]] = true;
  for (int k = 0; k < b->n; ++k) {
    const yoke_channel *channel = &b->channel[k];
    double              value   = is_unknown[k] ? b->u[k] : 0.0;
    for (int s = 0; s < 2; ++s) {
      if (channel->enters[s] == YOKE_ENTRY_COPY_P) value = b->y[1 - s][channel->component];
      if (channel->enters[s] == YOKE_ENTRY_COPY_V) value = b->y[1 - s][b->def.shape[1 - s]->n_p + channel->component];
    }
    CHECK_NEAR(x.u[k], value, 0.0);
  }
}

static void values_that_follow_from_outputs_are_given_and_unknowns_stand(void **state) {
  (void)state;
  for_all(check_values);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(conditions_vanish_for_the_true_multipliers_and_accelerations),
      cmocka_unit_test(one_linear_step_finds_what_both_sides_must_feel),
      cmocka_unit_test(stated_derivatives_are_those_of_differences),
      cmocka_unit_test(values_that_follow_from_outputs_are_given_and_unknowns_stand),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
