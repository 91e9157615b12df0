/* What couplings show: forces that each side felt, deflections and gaps, energy of the element between two ports. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "own_settings.h"
#include "wide_shape.h"

enum { CHANNELS = 64, OUTPUTS = WIDE_Y + 64 };

static const yoke_law spring_law = {
    .stiffness = 90.0, .damping = 1.5, .stiffness_power = 40.0, .exponent_x = 3.0, .exponent_v = 3.0};

/* A coupling between two random motions. */
typedef struct coupling {
  const yoke_formulation_ops *ops;
  yoke_coupling_settings      settings;
  yoke_force_element          element;
  yoke_joint_element          joint;
  yoke_coupling_def           def;
  void                       *self;
  int                         n;
  const yoke_channel         *channel;
  double                      y[2][OUTPUTS], u[CHANNELS], force[2][6], g[6];
  yoke_arena                  scratch;
} coupling;

static double next_number(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) * 0x1p-52 - 1.0;
}

static void open_coupling(coupling *x, const char *formulation, yoke_decomposition decomposition,
                          const yoke_port_shape *shape) {
  uint64_t seed             = 11u;
  x->ops                    = yoke_formulation_find(formulation);
  x->settings               = own_start(formulation);
  x->settings.decomposition = decomposition;
  x->def.name               = "c";
  x->def.formulation        = x->ops;
  x->def.shape[0] = x->def.shape[1] = shape;
  x->def.settings                   = &x->settings;
  assert_int_equal(x->ops->create(NULL, &x->def, &x->self), YOKE_OK);
  x->channel = x->ops->channels(x->self, &x->n);
  for (int s = 0; s < 2; ++s) {
    for (int k = 0; k < OUTPUTS; ++k) x->y[s][k] = next_number(&seed) + (s == 0 && k < 3 ? 0.9 : 0.0);
    for (int k = 3; k < shape->n_p; ++k) x->y[s][k] = (k == 3 ? 1.0 : 0.0) + 0.2 * x->y[s][k];
  }
}

/* `bushing`: six rows, else a spring between the origins. */
static void open_element(coupling *x, bool bushing, yoke_decomposition decomposition, const yoke_port_shape *shape) {
  static const yoke_row rows[6] = {{YOKE_ROW_ALONG, 0, 0},    {YOKE_ROW_ALONG, 1, 1},    {YOKE_ROW_ALONG, 2, 2},
                                   {YOKE_ROW_ROTATION, 0, 0}, {YOKE_ROW_ROTATION, 1, 0}, {YOKE_ROW_ROTATION, 2, 0}};
  memset(x, 0, sizeof *x);
  x->element =
      (yoke_force_element){.link = {.node = {0, 1}}, .n = bushing ? 6 : 1, .law = bushing ? NULL : &spring_law};
  for (int s = 0; s < 2; ++s)
    x->element.link.axes[s][0] = x->element.link.axes[s][4] = x->element.link.axes[s][8] = 1.0;
  for (int i = 0; i < x->element.n; ++i) {
    x->element.row[i]       = bushing ? rows[i] : (yoke_row){YOKE_ROW_DISTANCE, 0, 0};
    x->element.offset[i]    = 0.05 * (i + 1);
    x->element.stiffness[i] = 100.0 + 30.0 * i;
    x->element.damping[i]   = 2.0 + 0.7 * i;
  }
  x->def.element = &x->element;
  open_coupling(x, "constitutive", decomposition, shape);
}

static void close_coupling(coupling *x) {
  x->ops->destroy(x->self);
  yoke_arena_free(&x->scratch);
}

static void show(coupling *x) {
  const double *const y[2]     = {x->y[0], x->y[1]};
  double *const       force[2] = {x->force[0], x->force[1]};
  x->ops->shown->values(x->self, 0.3, x->u, y, force, x->g, &x->scratch);
}

static void law_of(const coupling *x, const double *const y[2], double *F, double *deflection) {
  yoke_pose poses[2];
  for (int s = 0; s < 2; ++s) yoke_shape_pose(x->def.shape[s], y[s], y[s] + x->def.shape[s]->n_p, &poses[s]);
  yoke_force_element_output(&x->element, poses, 0.3, F, deflection);
}

static void expect_law(coupling *x, double slack) {
  const double *const y[2] = {x->y[0], x->y[1]};
  double              F[6], deflection[6];
  x->ops->update(x->self, 0.3, y[0], y[1], x->u, x->u, &x->scratch);
  show(x);
  law_of(x, y, F, deflection);
  assert_int_equal(x->ops->shown->n_rows(x->self), x->element.n);
  for (int i = 0; i < x->element.n; ++i) {
    for (int side = 0; side < 2; ++side) CHECK_NEAR(x->force[side][i], F[i], slack * fabs(F[i]));
    CHECK_NEAR(x->g[i], deflection[i], 0.0);
  }
}

static void a_spring_in_the_plane_shows_its_law_on_both_sides(void **state) {
  (void)state;
  for (int d = YOKE_FORCE_FORCE; d <= YOKE_DISPLACEMENT_DISPLACEMENT; ++d) {
    coupling x;
    open_element(&x, false, (yoke_decomposition)d, &yoke_shape_plane);
    expect_law(&x, 2e-15);
    close_coupling(&x);
  }
}

static void rows_of_a_bushing_in_space_are_found_from_the_wrench(void **state) {
  (void)state;
  static const yoke_port_shape *const shapes[] = {&yoke_shape_frame, &shape_wide};
  for (int d = YOKE_FORCE_FORCE; d <= YOKE_DISPLACEMENT_DISPLACEMENT; ++d) {
    for (int k = 0; k < 2; ++k) {
      coupling x;
      open_element(&x, true, (yoke_decomposition)d, shapes[k]);
      expect_law(&x, 1e-13);
      close_coupling(&x);
    }
  }
}

static void a_displacement_side_shows_the_law_with_the_copies_that_it_got(void **state) {
  (void)state;
  coupling            x;
  double              late[OUTPUTS], F[6], deflection[6], felt;
  const double *const truth[2] = {x.y[0], x.y[1]}, *const seen[2] = {late, x.y[1]};
  open_element(&x, false, YOKE_FORCE_DISPLACEMENT, &yoke_shape_plane);
  x.ops->update(x.self, 0.3, x.y[0], x.y[1], x.u, x.u, &x.scratch);
  law_of(&x, truth, F, deflection);
  felt = 0.8 * F[0];
  memcpy(late, x.y[0], sizeof late);
  for (int i = 0; i < x.n; ++i) {
    const yoke_channel *channel = &x.channel[i];
    if (channel->is_force) x.u[i] *= 0.8;
    if (channel->enters[1] == YOKE_ENTRY_COPY_P) late[channel->component] = x.u[i] -= 0.1;
    if (channel->enters[1] == YOKE_ENTRY_COPY_V) late[3 + channel->component] = x.u[i] += 0.2;
  }
  show(&x);
  CHECK_NEAR(x.g[0], deflection[0], 0.0); /* true motions */
  CHECK_NEAR(x.force[0][0], felt, 1e-15 * fabs(felt));
  law_of(&x, seen, F, deflection);
  CHECK_NEAR(x.force[1][0], F[0], 0.0);
  assert_true(fabs(x.force[1][0] - x.force[0][0]) > 1.0);
  close_coupling(&x);
}

static void an_element_shows_its_energy_and_what_its_damper_takes(void **state) {
  (void)state;
  coupling x;
  double   stored, lost, F[6], deflection[6];
  open_element(&x, true, YOKE_FORCE_FORCE, &yoke_shape_frame);
  const double *const y[2] = {x.y[0], x.y[1]};
  x.ops->shown->energy(x.self, 0.3, y, &stored, &lost, &x.scratch);
  law_of(&x, y, F, deflection);
  double expected_energy = 0.0, expected_power = 0.0;
  for (int i = 0; i < 6; ++i) {
    const double c = x.element.stiffness[i], d = x.element.damping[i];
    const double rate = (F[i] - c * deflection[i]) / d;
    expected_energy += 0.5 * c * deflection[i] * deflection[i];
    expected_power += d * rate * rate;
  }
  CHECK_NEAR(stored, expected_energy, 1e-12 * expected_energy);
  CHECK_NEAR(lost, expected_power, 1e-12 * expected_power);
  close_coupling(&x);
}

/* Rows 0 and 3 of five are kept. */
static void open_joint(coupling *x, const char *formulation, yoke_decomposition decomposition) {
  memset(x, 0, sizeof *x);
  x->joint = (yoke_joint_element){.link   = {.node = {0, 1}},
                                  .n      = 2,
                                  .n_own  = 5,
                                  .row    = {{YOKE_ROW_POINT, 0, 0}, {YOKE_ROW_PERPENDICULAR, 0, 1}},
                                  .own    = {0, 3},
                                  .offset = {0.1, 0.0}};
  for (int s = 0; s < 2; ++s) x->joint.link.axes[s][0] = x->joint.link.axes[s][4] = x->joint.link.axes[s][8] = 1.0;
  x->def.joint = &x->joint;
  open_coupling(x, formulation, decomposition, &yoke_shape_frame);
  for (int i = 0; i < x->n; ++i) x->u[i] = 3.0 + i;
}

static void joints_show_multipliers_reactions_and_gaps_in_their_own_order(void **state) {
  (void)state;
  static const struct {
    const char        *name;
    yoke_decomposition decomposition;
    bool               is_led[2]; /* the side follows a motion */
  } cases[] = {
      {"stabilized-index-2", YOKE_FORCE_FORCE, {false, false}},
      {"baumgarte", YOKE_FORCE_DISPLACEMENT, {false, true}},
      {"projection", YOKE_DISPLACEMENT_FORCE, {true, false}},
      {"projection", YOKE_DISPLACEMENT_DISPLACEMENT, {true, true}},
      {"kinematic", YOKE_FORCE_FORCE, {true, false}},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    coupling x;
    open_joint(&x, cases[k].name, cases[k].decomposition);
    assert_int_equal(x.ops->shown->n_rows(x.self), 5);
    assert_true(x.ops->shown->energy == NULL);
    show(&x);
    CHECK_NEAR(x.g[0], x.y[0][0] - x.y[1][0] - 0.1, 1e-15);
    for (int side = 0; side < 2; ++side) {
      const double *mu = x.y[side] + yoke_shape_n_y(&yoke_shape_frame);
      CHECK_NEAR(x.force[side][0], cases[k].is_led[side] ? mu[0] : x.u[0], 0.0);
      CHECK_NEAR(x.force[side][3], cases[k].is_led[side] ? mu[1] : x.u[1], 0.0);
      for (int dropped = 1; dropped < 5; dropped += dropped == 2 ? 2 : 1)
        assert_true(x.force[side][dropped] == 0.0 && x.g[dropped] == 0.0);
    }
    close_coupling(&x);
  }
}

static const struct {
  const char        *name;
  yoke_decomposition decomposition;
} joints_on_a_line[] = {
    {"stabilized-index-2", YOKE_FORCE_FORCE}, {"baumgarte", YOKE_FORCE_DISPLACEMENT},
    {"projection", YOKE_DISPLACEMENT_FORCE},  {"projection", YOKE_DISPLACEMENT_DISPLACEMENT},
    {"kinematic", YOKE_FORCE_FORCE},
};

static void open_rows(coupling *x, size_t k, const yoke_port_shape *shape, int n, const yoke_row *rows) {
  memset(x, 0, sizeof *x);
  x->joint = (yoke_joint_element){.link = {.node = {0, 1}}, .n = n, .n_own = 4};
  for (int i = 0; i < n; ++i) {
    x->joint.row[i] = rows[i];
    x->joint.own[i] = i + 1;
  }
  for (int s = 0; s < 2; ++s) x->joint.link.axes[s][0] = x->joint.link.axes[s][4] = x->joint.link.axes[s][8] = 1.0;
  x->def.joint = &x->joint;
  open_coupling(x, joints_on_a_line[k].name, joints_on_a_line[k].decomposition, shape);
}

static void open_line(coupling *x, size_t k, yoke_row row) {
  open_rows(x, k, &yoke_shape_line, 1, &row);
}

/* The powers at the two points of Gauss, with the motions there: coordinates cubic, what is no motion on a straight line. */
static void sum_powers(coupling *x, const yoke_line_step *step, double out[2]) {
  static const double at[2] = {0.5 - YOKE_LINE_K, 0.5 + YOKE_LINE_K};
  out[0] = out[1] = 0.0;
  for (int p = 0; p < 2; ++p) {
    const double    s = at[p], H = step->H;
    double          y[2][OUTPUTS];
    yoke_wire_power power;
    for (int side = 0; side < 2; ++side) {
      const double *from = step->from[side], *to = step->to[side];
      for (int k = 0; k < OUTPUTS; ++k) y[side][k] = from[k] + s * (to[k] - from[k]);
      const yoke_port_shape *shape = x->def.shape[side];
      for (int k = 0; k < shape->n_p; ++k) {
        const int v = shape->n_p + shape->p[k].rate;
        if (shape->p[k].rate < 0) continue;
        y[side][v] =
            6 * s * (1 - s) * (to[k] - from[k]) / H + (1 - s) * (1 - 3 * s) * from[v] + s * (3 * s - 2) * to[v];
      }
    }
    x->ops->shown->power(x->self, step->t + s * H, step->u + p * x->n, (const double *const[2]){y[0], y[1]}, false,
                         &power, &x->scratch);
    for (int side = 0; side < 2; ++side) out[side] += 0.5 * H * power.in[side];
  }
}

/* Between the motion of an open coupling and another one. Closes it. */
static void check_works(coupling *x) {
  coupling       end = *x;
  double         u[2 * CHANNELS], expected[2];
  yoke_wire_work work;
  for (int i = 0; i < 2 * CHANNELS; ++i) u[i] = sin(1.0 + i);
  for (int side = 0; side < 2; ++side) {
    for (int i = 0; i < OUTPUTS; ++i) end.y[side][i] += 0.3 * cos(2.0 * i + side);
  }
  const yoke_line_step step = {.t = 0.2, .H = 0.05, .from = {x->y[0], x->y[1]}, .to = {end.y[0], end.y[1]}, .u = u};
  assert_true(x->ops->shown->line_work(x->self, &step, &work));
  sum_powers(x, &step, expected);
  for (int side = 0; side < 2; ++side) CHECK_NEAR(work.out[side], expected[side], 1e-14 * fabs(expected[side]));
  assert_true(fabs(expected[0]) > 1e-3 && fabs(expected[1]) > 1e-3);
  assert_true(work.lost == 0.0 && work.truly_lost == 0.0);
  close_coupling(x);
}

static void works_of_joints_on_a_line_are_those_of_their_powers(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof joints_on_a_line / sizeof *joints_on_a_line; ++k) {
    coupling x;
    open_line(&x, k, (yoke_row){YOKE_ROW_POINT, 0, 0});
    check_works(&x);
  }
}

static void works_of_points_and_angles_are_those_of_their_powers(void **state) {
  static const yoke_row plane[] = {{YOKE_ROW_POINT, 0, 0}, {YOKE_ROW_POINT, 1, 0}, {YOKE_ROW_TURN, 0, 0}},
                        space[] = {{YOKE_ROW_POINT, 0, 0}, {YOKE_ROW_POINT, 1, 0}, {YOKE_ROW_POINT, 2, 0}};
  (void)state;
  for (size_t k = 0; k < sizeof joints_on_a_line / sizeof *joints_on_a_line; ++k) {
    coupling x;
    open_rows(&x, k, &yoke_shape_plane, 3, plane);
    check_works(&x);
    open_rows(&x, k, &yoke_shape_frame, 3, space);
    check_works(&x);
  }
}

static void works_of_rows_that_turn_are_not_told_in_closed_form(void **state) {
  static const yoke_row rows[]          = {{YOKE_ROW_POINT, 0, 0}, {YOKE_ROW_INPLANE, 1, 0}};
  const double          u[2 * CHANNELS] = {1.0};
  coupling              x;
  yoke_wire_work        work;
  (void)state;
  open_rows(&x, 0, &yoke_shape_plane, 2, rows);
  const yoke_line_step step = {.H = 0.05, .from = {x.y[0], x.y[1]}, .to = {x.y[0], x.y[1]}, .u = u};
  assert_false(x.ops->shown->line_work(x.self, &step, &work));
  close_coupling(&x);
}

static void works_of_a_distance_on_a_line_are_not_told_in_closed_form(void **state) {
  (void)state;
  coupling       x;
  const double   u[2 * CHANNELS] = {1.0};
  yoke_wire_work work;
  open_line(&x, 0, (yoke_row){YOKE_ROW_DISTANCE, 0, 0});
  const yoke_line_step step = {.H = 0.05, .from = {x.y[0], x.y[1]}, .to = {x.y[0], x.y[1]}, .u = u};
  assert_false(x.ops->shown->line_work(x.self, &step, &work));
  close_coupling(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_spring_in_the_plane_shows_its_law_on_both_sides),
      cmocka_unit_test(rows_of_a_bushing_in_space_are_found_from_the_wrench),
      cmocka_unit_test(a_displacement_side_shows_the_law_with_the_copies_that_it_got),
      cmocka_unit_test(an_element_shows_its_energy_and_what_its_damper_takes),
      cmocka_unit_test(joints_show_multipliers_reactions_and_gaps_in_their_own_order),
      cmocka_unit_test(works_of_joints_on_a_line_are_those_of_their_powers),
      cmocka_unit_test(works_of_points_and_angles_are_those_of_their_powers),
      cmocka_unit_test(works_of_rows_that_turn_are_not_told_in_closed_form),
      cmocka_unit_test(works_of_a_distance_on_a_line_are_not_told_in_closed_form),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
