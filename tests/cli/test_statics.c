/* yoke run --static: rest states, load steps, and what is said where there is none. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "program.h"
#include <math.h>

/* Value that was printed for `name`. */
static double printed(const fixture *f, const char *name) {
  char line[80];
  snprintf(line, sizeof line, "%s ", name);
  const char *at = strstr(f->out, line);
  assert_non_null(at);
  return strtod(at + strlen(line), NULL);
}

static void model(const fixture *f, const char *text) {
  char path[128];
  write_text(in_folder(f, "m.yaml", path), text);
}

/* x = m g / c below the relaxed length. */
static void a_mass_hangs_where_its_spring_carries_it(void **state) {
  fixture *f = *state;
  model(f, "yoke: 1\ngravity: [9.81, 0, 0]\n"
           "t_end: 1\n"
           "bodies: {m: {kind: mass1d, mass: 2, x: 0.3}}\n"
           "connections: {s: {kind: spring-damper, between: [ground, m], stiffness: 500, free_length: 0}}\n");
  assert_int_equal(yoke(f, "run @/m.yaml --static --print m.x,m.v,s.force[1]"), 0);
  assert_true(fabs(printed(f, "m.x") - 2 * 9.81 / 500) < 1e-14);
  assert_true(printed(f, "m.v") == 0.0);
  assert_non_null(strstr(f->err, "at rest"));
}

/* A cylinder that pushes with 20 N and has a law of t and v, which no energy knows: c x = 20 - m g. */
static void a_law_of_time_and_speed_is_put_to_rest_upwards(void **state) {
  fixture *f = *state;
  model(f, "yoke: 1\ngravity: [-1, 0, 0]\n"
           "t_end: 1\n"
           "bodies: {m: {kind: mass1d, mass: 2, x: 0}}\n"
           "connections: {s: {kind: spring-damper, between: [ground, m], law: '500*(x - t) + 3*v - 20'}}\n");
  assert_int_equal(yoke(f, "run @/m.yaml --static --print m.x"), 0);
  assert_true(fabs(printed(f, "m.x") - (20.0 - 2.0) / 500.0) < 1e-12);
}

/* A start from which thousand hinges have to turn; the tip of a chain that hangs is straight below. */
static void a_long_chain_of_rods_hangs_straight_down(void **state) {
  fixture *f = *state;
  assert_int_equal(
      yoke(f, "run examples/pendulum-chain.yaml --static --set parameters.N=120 --print rod[120].x,rod[120].y"), 0);
  assert_true(fabs(printed(f, "rod[120].x")) < 1e-9);
  assert_true(fabs(printed(f, "rod[120].y") + 119.5) < 1e-9);
}

/* Two bars of stiffness c between (-1, 0), (1, 0) and a knee at (0, y), which is pressed down by P: c (1 - l0 / l) 2 y = -P. Its branch ends
 * in a limit point; below that the knee stays above the supports. */
#define KNEE                                                                                                           \
  "yoke: 1\n"                                                                                                          \
  "t_end: 1\n"                                                                                                         \
  "bodies: {k: {kind: particle, mass: 1, position: [0, 0.5, 0]}}\n"                                                    \
  "frames: {ground.a: [-1, 0, 0], ground.b: [1, 0, 0], ground.c: [0, 0.5, 1]}\n"                                       \
  "connections:\n"                                                                                                     \
  "  l: {kind: spring-damper, between: [ground.a, k], stiffness: 1000}\n"                                              \
  "  r: {kind: spring-damper, between: [ground.b, k], stiffness: 1000}\n"                                              \
  "  side: {kind: inplane, between: [ground, k]}\n"

static void load_steps_follow_the_branch_that_begins_at_the_start(void **state) {
  fixture *f = *state;
  model(f, KNEE "loads: {p: {kind: constant, on: k, force: [0, -35, 0]}}\n");
  assert_int_equal(yoke(f, "run @/m.yaml --static --load-steps 20 --print k.y"), 0);
  const double y = printed(f, "k.y"), l0 = sqrt(1.25), l = hypot(1, y);
  assert_true(y > 0.3);
  assert_true(fabs(1000 * (1 - l0 / l) * 2 * y + 35) < 1e-9);
  assert_non_null(strstr(f->err, "20 load steps"));
}

/* Two walls that push on masses of a chain: the forces on every mass add up to nothing. */
static void a_chain_rests_where_its_forces_balance(void **state) {
  static const char *const names[] = {"c.x[1]", "c.x[2]", "c.x[3]", "c.x[4]", "c.x[5]"};
  static const double      c[]     = {100, 100, 200, 100, 100, 50};
  fixture                 *f       = *state;
  double                   x[7]    = {0};
  model(f, "yoke: 1\n"
           "t_end: 1\n"
           "bodies:\n"
           "  c: {kind: chain, n: 5, mass: 1, stiffness: [100, 100, 200, 100, 100, 50], damping: 0.1,\n"
           "      x: [0.3, 0, 0, -0.2, 0], loads: [{on: [2, 4], kind: contact, force: -10, slope: 5}]}\n");
  assert_int_equal(yoke(f, "run @/m.yaml --static --print 'c.x[1],c.x[2],c.x[3],c.x[4],c.x[5]'"), 0);
  for (int i = 1; i <= 5; ++i) x[i] = printed(f, names[i - 1]);
  for (int i = 1; i <= 5; ++i) {
    const double wall = i % 2 == 0 ? -10 * exp(5 * x[i]) : 0.0;
    assert_true(fabs(c[i - 1] * (x[i - 1] - x[i]) + c[i] * (x[i + 1] - x[i]) + wall) < 1e-9);
  }
  assert_true(x[2] < -0.1);
}

#define BEAM                                                                                                           \
  "yoke: 1\n"                                                                                                          \
  "t_end: 1\n"                                                                                                         \
  "bodies:\n"                                                                                                          \
  "  beam: {kind: linear, mass: [[2, 0.5, 0], [0.5, 3, 0.1], [0, 0.1, 1]],\n"                                          \
  "         stiffness: [[60, -20, 0], [-20, 50, -30], [0, -30, 70]], load: [1, -2, 0.5], x: [0.3, 0, -0.1],\n"         \
  "         frames: {tip: {x: 3}}}\n"                                                                                  \
  "  m: {kind: mass1d, mass: 1, x: -0.1}\n"                                                                            \
  "connections:\n"                                                                                                     \
  "  s: {kind: spring-damper, between: [beam.tip, m], stiffness: 40, free_length: 0}\n"                                \
  "  t: {kind: spring-damper, between: [m, ground], stiffness: 40, free_length: 0}\n"

/* K x = load, with two springs one behind the other at the tip. */
static void a_linear_body_rests_where_its_matrix_says(void **state) {
  fixture *f = *state;
  model(f, BEAM);
  assert_int_equal(yoke(f, "run @/m.yaml --static --print 'beam.q[1].x,beam.q[2].x,beam.tip.x,m.x'"), 0);
  const double a = printed(f, "beam.q[1].x"), b = printed(f, "beam.q[2].x"), c = printed(f, "beam.tip.x"),
               m = printed(f, "m.x");
  assert_true(fabs(60 * a - 20 * b - 1) < 1e-12);
  assert_true(fabs(-20 * a + 50 * b - 30 * c + 2) < 1e-12);
  assert_true(fabs(-30 * b + 70 * c + 20 * c - 0.5) < 1e-12);
  assert_true(fabs(m - c / 2) < 1e-13);
}

/* Two cranks of length 1 and 1 kg that carry a bar of 2 kg, a parallelogram that the wind F turns by tan = F / (3 g). */
#define LOOP                                                                                                           \
  "yoke: 1\n"                                                                                                          \
  "gravity: [0, -9.81]\n"                                                                                              \
  "t_end: 1\n"                                                                                                         \
  "bodies:\n"                                                                                                          \
  "  left: {kind: planar, mass: 1, inertia: 0.1, angle: -1, position: [0.5*cos(1), -0.5*sin(1)],\n"                    \
  "         frames: {a: [-0.5, 0], b: [0.5, 0]}}\n"                                                                    \
  "  bar: {kind: planar, mass: 2, inertia: 0.2, position: [cos(1) + 1, -sin(1)], frames: {a: [-1, 0], b: [1, 0]}}\n"   \
  "  right: {kind: planar, mass: 1, inertia: 0.1, angle: -1, position: [2 + 0.5*cos(1), -0.5*sin(1)],\n"               \
  "          frames: {a: [-0.5, 0], b: [0.5, 0]}}\n"                                                                   \
  "frames: {ground.a: [0, 0], ground.b: [2, 0]}\n"                                                                     \
  "connections:\n"                                                                                                     \
  "  j1: {kind: revolute, between: [ground.a, left.a]}\n"                                                              \
  "  j2: {kind: revolute, between: [left.b, bar.a]}\n"                                                                 \
  "  j3: {kind: revolute, between: [bar.b, right.b]}\n"                                                                \
  "  j4: {kind: revolute, between: [ground.b, right.a]}\n"                                                             \
  "loads: {wind: {kind: constant, on: bar, force: [3*9.81, 0]}}\n"

static void a_closed_loop_turns_to_its_rest_state(void **state) {
  fixture *f = *state;
  model(f, LOOP);
  assert_int_equal(yoke(f, "run @/m.yaml --static --print bar.x,bar.y,bar.vx"), 0);
  assert_true(fabs(printed(f, "bar.x") - 1 - sqrt(0.5)) < 1e-10);
  assert_true(fabs(printed(f, "bar.y") + sqrt(0.5)) < 1e-10);
  assert_true(fabs(printed(f, "bar.vx")) < 1e-300);
}

/* The search looks at the model as a whole; what couplings show follows from the state that it found. */
static void a_split_changes_no_rest_state(void **state) {
  static const struct {
    const char *text, *split, *names[4];
  } models[] = {{BEAM, "a: [beam], b: [m]", {"beam.tip.x", "m.x", "s.force[1]", "t.force[1]"}},
                {LOOP, "a: [left, bar], b: [right]", {"bar.x", "bar.angle", "j3.force[1]", "j3.force[2]"}}};
  fixture *f = *state;
  for (int i = 0; i < 2; ++i) {
    double value[2][4];
    model(f, models[i].text);
    for (int split = 0; split < 2; ++split) {
      char call[400];
      int  n = snprintf(call, sizeof call, "run @/m.yaml --static --print '%s,%s,%s,%s'", models[i].names[0],
                        models[i].names[1], models[i].names[2], models[i].names[3]);
      if (split == 1) snprintf(call + n, sizeof call - (size_t)n, " --set 'split={%s}'", models[i].split);
      assert_int_equal(yoke(f, call), 0);
      for (int k = 0; k < 4; ++k) value[split][k] = printed(f, models[i].names[k]);
    }
    for (int k = 0; k < 4; ++k) assert_true(fabs(value[1][k] - value[0][k]) < 1e-11);
  }
}

static void a_model_that_nothing_holds_has_no_rest_state(void **state) {
  fixture *f = *state;
  model(f, "yoke: 1\ngravity: [0, -9.81, 0]\nt_end: 1\nbodies: {stone: {kind: particle, mass: 1}}\n");
  assert_int_equal(yoke(f, "run @/m.yaml --static -o @/r.h5"), 4);
  assert_non_null(strstr(f->err, "no rest state"));
  assert_non_null(strstr(f->err, "stone.vy"));
  char path[128];
  assert_int_not_equal(access(in_folder(f, "r.h5", path), F_OK), 0);
}

/* What keeps a model from rest is named, with the freedom that nothing holds and its acceleration. */
static void what_keeps_a_model_from_rest_is_named(void **state) {
  static const char *const wheel = "bodies: {w: {kind: planar, mass: 2, inertia: 0.3}}\n";
  static const struct {
    const char *bodies, *rest, *message;
  } models[] = {
      {NULL,
       "connections: {j: {kind: revolute, between: [ground, w]}}\nloads: {m: {kind: constant, on: w, torque: 3}}\n",
       "load 'm' drives w.omega, which nothing holds: from rest it changes by 10 per second; hold it by a joint or a "
       "spring, or leave the load out"},
      {NULL, "gravity: [0, -9.81]\nconnections: {s: {kind: translational, between: [ground, w], axis: [1, -0.5, 0]}}\n",
       "the weight drives w.vx, which nothing holds: from rest it changes by 3.92 per second; hold it by a joint or a "
       "spring, or leave the weight out (gravity)"},
      {NULL, "connections: {j: {kind: revolute, between: [ground, w], motion: 0.25 + 3*t}}\n",
       "the motion of joint 'j' goes on at t = 0 s, by 3 per second and 0 per second squared; hold it where it is, "
       "motion: 0.25"},
      {NULL, "connections: {j: {kind: revolute, between: [ground, w], motion: cos(2*t)}}\n",
       "by 0 per second and -4 per second squared; hold it where it is, motion: 1"},
      {"bodies: {a: {kind: mass1d, mass: 1}, b: {kind: mass1d, mass: 2}}\n",
       "connections: {s: {kind: spring-damper, between: [a, b], stiffness: 100}}\n"
       "loads: {push: {kind: constant, on: a, force: 4}, brake: {kind: constant, on: b, force: -1}}\n",
       "load 'push' drives a.v"},
      {"bodies: {a: {kind: mass1d, mass: 1}}\n",
       "connections: {s: {kind: spring-damper, between: [ground, a], law: '-3'}}\n",
       "the force of connection 's' drives a.v, which nothing holds: from rest it changes by 3 per second; hold it by "
       "a "
       "joint, or by a spring whose force grows against it"},
      {"bodies: {a: {kind: mass1d, mass: 1, x: 0.1}}\n",
       "connections: {s: {kind: spring-damper, between: [ground, a], stiffness: -3}}\n",
       "the force of connection 's' drives a.v, which nothing holds: from rest it changes by 0.3 per second"},
      {"bodies: {c: {kind: chain, n: 5, mass: 1, stiffness: [0, 10, 10, 10, 10, 0], loads: [{on: 2, kind: harmonic,\n"
       "         force: 3, omega: 1, phase: 1}]}}\n",
       "", "what acts inside of 'c' drives c.v["},
  };
  fixture *f = *state;
  for (size_t k = 0; k < sizeof models / sizeof models[0]; ++k) {
    char text[600];
    snprintf(text, sizeof text, "yoke: 1\nt_end: 1\n%s%s", models[k].bodies != NULL ? models[k].bodies : wheel,
             models[k].rest);
    model(f, text);
    assert_int_equal(yoke(f, "run @/m.yaml --static"), 4);
    if (strstr(f->err, models[k].message) == NULL) fail_msg("'%s' is not in '%s'", models[k].message, f->err);
  }
}

/* The drive pushes a trolley of 610 kg with 5 N: the rounding of the rope's light nodes, some hundredths of m/s^2, is no excuse for it. */
static void a_heavy_body_that_is_driven_away_is_not_at_rest(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run examples/crane.yaml --static"), 4);
  assert_non_null(strstr(f->err, "no rest state was found: load 'drive' drives"));
  assert_int_equal(yoke(f, "run examples/crane.yaml --static --set parameters.speed=0 --print trolley.ax,load.z"), 0);
  assert_true(fabs(printed(f, "trolley.ax")) < 1e-10);
}

static void the_result_holds_one_time(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run examples/double-pendulum.yaml --static --csv @/r.csv"), 0);
  char  path[128];
  char *text = read_text(in_folder(f, "r.csv", path));
  int   rows = 0;
  for (const char *c = text; *c; ++c) rows += *c == '\n' && c[1] != '\0' && c[1] != '#';
  free(text);
  assert_int_equal(rows, 1);
  assert_non_null(strstr(f->out, "(1 time of "));
}

static void load_steps_belong_to_statics(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run examples/pendulum.yaml --load-steps 3"), 2);
  assert_int_equal(yoke(f, "run examples/pendulum.yaml --static --load-steps 0"), 2);
  assert_non_null(strstr(f->err, "expected a whole number"));
}

/* ---- unstable rest states ---- */

/* "smallest eigenvalue ... X 1/s^2"; 0: nothing is said. */
static double told_mu(const fixture *f) {
  static const char before[] = "stiffness by the mass ";
  const char       *at       = strstr(f->err, before);
  if (strstr(f->err, "unstable") == NULL) return 0.0;
  assert_non_null(at);
  return strtod(at + strlen(before), NULL);
}

/* A bar on its end, held upright by k: mu = (k - m g l / 2) / (m l^2 / 3), beside a spring of 1e12 N/m. */
#define UPRIGHT(k)                                                                                                     \
  "yoke: 1\ngravity: [0, -9.81]\n"                                                                                     \
  "t_end: 1\n"                                                                                                         \
  "bodies:\n"                                                                                                          \
  "  u: {kind: planar, mass: 1, inertia: 1/12, angle: pi/2, position: [0, 0.5], frames: {foot: [-0.5, 0]}}\n"          \
  "  w: {kind: mass1d, mass: 1}\n"                                                                                     \
  "connections:\n"                                                                                                     \
  "  s: {kind: revolute, between: [ground, u.foot]}\n"                                                                 \
  "  c: {kind: spring-damper, between: [ground, w], stiffness: 1e12, free_length: 0}\n"                                \
  "  t: {kind: torsion-spring, between: [ground, u.foot], stiffness: " k ", free_angle: pi/2}\n"

static void a_bar_that_stands_on_its_end_is_told_to_be_unstable(void **state) {
  fixture *f = *state;
  model(f, UPRIGHT("0"));
  assert_int_equal(yoke(f, "run @/m.yaml --static --print u.angle"), 0);
  assert_true(fabs(told_mu(f) + 1.5 * 9.81) < 0.05);
  assert_non_null(strstr(f->err, "beside it u."));
  model(f, UPRIGHT("4.9"));
  assert_int_equal(yoke(f, "run @/m.yaml --static --print u.angle"), 0);
  assert_true(fabs(told_mu(f) + 3.0 * 0.005) < 5e-4);
  model(f, UPRIGHT("4.91"));
  assert_int_equal(yoke(f, "run @/m.yaml --static --print u.angle"), 0);
  assert_true(told_mu(f) == 0.0);
}

/* Euler: pi^2 EI / (4 l^2) = 2.467, of 12 elements with some shear 2.4662. */
static void an_upright_rod_is_told_to_be_unstable_above_its_buckling_load(void **state) {
  static const char *const force[] = {"2.45", "2.48", "30"};
  fixture                 *f       = *state;
  for (int k = 0; k < 3; ++k) {
    char text[600];
    snprintf(text, sizeof text,
             "yoke: 1\nt_end: 1\n"
             "bodies:\n"
             "  r: {kind: cosserat-rod, elements: 12, length: 1, stiffness: [1e5, 1e5, 1e5, 1, 1.2, 1], line_mass: 1,\n"
             "      line_inertia: [1e-4, 1e-4, 2e-4], from: [0, 0, 0], to: [0, 0, 1], normal: [1, 0, 0]}\n"
             "connections: {j: {kind: fixed, between: [ground, r.a]}}\n"
             "loads: {l: {kind: constant, on: r.b, force: [0, 0, -%s]}}\n",
             force[k]);
    model(f, text);
    assert_int_equal(yoke(f, "run @/m.yaml --static --print r.b.x"), 0);
    assert_true(told_mu(f) == 0.0 || k > 0);
    assert_true(told_mu(f) < 0.0 || k == 0);
  }
}

/* (K - mu) x = 0 of masses 1: mu = -2.249, told in three digits. */
static void a_linear_body_with_negative_stiffness_is_told_to_be_unstable(void **state) {
  fixture *f = *state;
  model(f, "yoke: 1\nt_end: 1\n"
           "bodies: {b: {kind: linear, mass: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],\n"
           "             stiffness: [[2, -1, 0], [-1, 2, -1], [0, -1, -2]]}}\n");
  assert_int_equal(yoke(f, "run @/m.yaml --static"), 0);
  assert_true(fabs(told_mu(f) + 2.249) < 0.002);
}

/* Free motions have mu = 0 beside stiff springs, up to rounding. */
static void free_and_hanging_models_are_not_told_to_be_unstable(void **state) {
  fixture *f = *state;
  model(f, "yoke: 1\nt_end: 1\n"
           "bodies:\n"
           "  r: {kind: cosserat-rod, elements: 20, length: 1, stiffness: [1e8, 1e8, 1e9, 1, 1, 1], line_mass: 1,\n"
           "      line_inertia: [1e-4, 1e-4, 2e-4], from: [0, 0, 0], to: [0.48, 0.6, 0.64], normal: [0.8, 0, -0.6]}\n");
  assert_int_equal(yoke(f, "run @/m.yaml --static"), 0);
  assert_true(told_mu(f) == 0.0);
  assert_int_equal(yoke(f, "run examples/pendulum-chain.yaml --static --set parameters.N=120"), 0);
  assert_true(told_mu(f) == 0.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_mass_hangs_where_its_spring_carries_it),
      TEST(a_law_of_time_and_speed_is_put_to_rest_upwards),
      TEST(a_long_chain_of_rods_hangs_straight_down),
      TEST(load_steps_follow_the_branch_that_begins_at_the_start),
      TEST(a_chain_rests_where_its_forces_balance),
      TEST(a_linear_body_rests_where_its_matrix_says),
      TEST(a_closed_loop_turns_to_its_rest_state),
      TEST(a_split_changes_no_rest_state),
      TEST(a_model_that_nothing_holds_has_no_rest_state),
      TEST(what_keeps_a_model_from_rest_is_named),
      TEST(a_heavy_body_that_is_driven_away_is_not_at_rest),
      TEST(the_result_holds_one_time),
      TEST(load_steps_belong_to_statics),
      TEST(a_bar_that_stands_on_its_end_is_told_to_be_unstable),
      TEST(an_upright_rod_is_told_to_be_unstable_above_its_buckling_load),
      TEST(a_linear_body_with_negative_stiffness_is_told_to_be_unstable),
      TEST(free_and_hanging_models_are_not_told_to_be_unstable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
