/* Quantities besides states of bodies: frames, accelerations, coordinates of joints, and outputs that users write. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/cosimulate.h"
#include "../subsystem/oscillator.h"

static const double pi = 3.14159265358979323846;

/* ---- helpers ---- */

enum { MOST_ROWS = 64 };

typedef struct rows {
  int    n, width;
  double t[MOST_ROWS], value[MOST_ROWS][40];
} rows;

static yoke_status keep(void *user, double t, const double *outputs, const yoke_counters *counters, double h,
                        int order) {
  rows *r = user;
  (void)counters, (void)h, (void)order;
  assert_true(r->n < MOST_ROWS);
  r->t[r->n] = t;
  memcpy(r->value[r->n++], outputs, (size_t)r->width * sizeof *outputs);
  return YOKE_OK;
}

/* Runs `c`, which is open, and keeps all that is written. */
static void run_and_keep(cosim *c, rows *r) {
  cosim_expect(c, YOKE_OK);
  *r = (rows){.width = c->plan->outputs.n};
  assert_true(r->width <= 40);
  const yoke_sink sink = {.user = r, .sample = keep};
  c->status            = yoke_system_run(c->system, c->model->t_end, &sink, &c->summary, c->ctx);
  cosim_expect(c, YOKE_OK);
}

static int column(const cosim *c, const char *name) {
  for (int i = 0; i < c->plan->outputs.n; ++i) {
    if (strcmp(c->plan->outputs.name[i], name) == 0) return i;
  }
  fail_msg("'%s' is not written", name);
  return -1;
}

static const char *last_message(const cosim *c) {
  return yoke_context_message(c->ctx, yoke_context_n_messages(c->ctx) - 1);
}

static void assert_refused(const char *text, const char *sets, bool is_whole, const char *part) {
  cosim c;
  if (is_whole)
    cosim_open_monolithic(&c, text, sets);
  else
    cosim_open(&c, text, sets);
  cosim_expect(&c, YOKE_E_MODEL);
  if (strstr(last_message(&c), part) == NULL) fail_msg("'%s' is not in '%s'", part, last_message(&c));
  cosim_close(&c);
}

/* ---- frames ---- */

/* Turned by 90 degrees about z: its x axis is along y. The frame at (2, 0, 0) has its z axis along x of the body. */
#define TURNED                                                                                                         \
  "yoke: 1\nt_end: 1\nbodies:\n"                                                                                       \
  "  b: {kind: rigid, mass: 1, inertia: [1, 1, 1], position: [10, 20, 30], velocity: [1, 2, 3], omega: [0.5, 0, 2],\n" \
  "      orientation: {axis: [0, 0, 1], angle: 90 deg}, frames: {tip: {at: [2, 0, 0], axis: [1, 0, 0]}}}\n"            \
  "loads: {push: {kind: constant, on: b, force: [4, 5, 6], torque: [0, 0, 3]}}\n"

static void f62_a_frame_in_space_is_where_its_body_carries_it(void **state) {
  (void)state;
  cosim c;
  cosim_open_monolithic(&c, TURNED, NULL);
  cosim_expect(&c, YOKE_OK);
  CHECK_NEAR(cosim_value(&c, "b.tip.x"), 10.0, 1e-14); /* r + R (2, 0, 0) */
  CHECK_NEAR(cosim_value(&c, "b.tip.y"), 22.0, 1e-14);
  CHECK_NEAR(cosim_value(&c, "b.tip.z"), 30.0, 1e-14);
  /* w = R (0.5, 0, 2) = (0, 0.5, 2), w x (0, 2, 0) = (-4, 0, 0) */
  CHECK_NEAR(cosim_value(&c, "b.tip.vx"), 1.0 - 4.0, 1e-14);
  CHECK_NEAR(cosim_value(&c, "b.tip.vy"), 2.0, 1e-14);
  CHECK_NEAR(cosim_value(&c, "b.tip.vz"), 3.0, 1e-14);
  /* alpha = (0, 0, 3), alpha x c = (-6, 0, 0), w x (w x c) = (0, -8, 2) */
  CHECK_NEAR(cosim_value(&c, "b.tip.ax"), 4.0 - 6.0, 1e-13);
  CHECK_NEAR(cosim_value(&c, "b.tip.ay"), 5.0 - 8.0, 1e-13);
  CHECK_NEAR(cosim_value(&c, "b.tip.az"), 6.0 + 2.0, 1e-13);
  CHECK_NEAR(cosim_value(&c, "b.tip.wz"), 0.5, 1e-14); /* its z axis is x of the body */
  CHECK_NEAR(cosim_value(&c, "b.ax"), 4.0, 1e-14);
  CHECK_NEAR(cosim_value(&c, "b.alphaz"), 3.0, 1e-14);
  /* its Euler parameters turn its z axis onto x of the body, which is along y */
  const double q[4] = {cosim_value(&c, "b.tip.q0"), cosim_value(&c, "b.tip.q1"), cosim_value(&c, "b.tip.q2"),
                       cosim_value(&c, "b.tip.q3")};
  CHECK_NEAR(2.0 * (q[1] * q[3] + q[0] * q[2]), 0.0, 1e-14);
  CHECK_NEAR(2.0 * (q[2] * q[3] - q[0] * q[1]), 1.0, 1e-14);
  cosim_close(&c);
}

static void f62_a_frame_in_the_plane_and_one_of_a_particle_are_where_their_bodies_carry_them(void **state) {
  (void)state;
  cosim c;
  cosim_open_monolithic(
      &c,
      "yoke: 1\nt_end: 1\nbodies:\n"
      "  p: {kind: planar, mass: 2, inertia: 1, position: [1, 2], angle: 90 deg, velocity: [3, 4], omega: 2,\n"
      "      frames: {tip: {at: [5, 0], orientation: {axis: [0, 0, 1], angle: 30 deg}}}}\n"
      "  d: {kind: particle, mass: 1, position: [1, 2, 3], velocity: [4, 5, 6], frames: {top: [0, 0, 1]}}\n"
      "loads: {push: {kind: constant, on: p, force: [2, 6], torque: 7}}\n",
      NULL);
  cosim_expect(&c, YOKE_OK);
  CHECK_NEAR(cosim_value(&c, "p.tip.x"), 1.0, 1e-14);
  CHECK_NEAR(cosim_value(&c, "p.tip.y"), 7.0, 1e-14);
  CHECK_NEAR(cosim_value(&c, "p.tip.angle"), 2.0 * pi / 3.0, 1e-14);
  CHECK_NEAR(cosim_value(&c, "p.tip.vx"), 3.0 - 10.0, 1e-14);
  CHECK_NEAR(cosim_value(&c, "p.tip.vy"), 4.0, 1e-14);
  CHECK_NEAR(cosim_value(&c, "p.tip.omega"), 2.0, 0.0);
  CHECK_NEAR(cosim_value(&c, "p.tip.ax"), 1.0 - 35.0, 1e-13);
  CHECK_NEAR(cosim_value(&c, "p.tip.ay"), 3.0 - 20.0, 1e-13);
  CHECK_NEAR(cosim_value(&c, "p.tip.alpha"), 7.0, 1e-14);
  CHECK_NEAR(cosim_value(&c, "d.top.z"), 4.0, 0.0);
  CHECK_NEAR(cosim_value(&c, "d.top.vy"), 5.0, 0.0);
  CHECK_NEAR(cosim_value(&c, "d.top.az"), 0.0, 0.0);
  cosim_close(&c);
}

/* Accelerations are the derivatives of velocities: of the frame's origin, and of its angular velocity in its own axes. */
static void f62_accelerations_are_differences_of_velocities(void **state) {
  static const char *const pairs[][2] = {{"top.nose.vx", "top.nose.ax"},
                                         {"top.nose.vz", "top.nose.az"},
                                         {"top.nose.wx", "top.nose.alphax"},
                                         {"top.vy", "top.ay"},
                                         {"top.wz", "top.alphaz"}};
  (void)state;
  cosim c;
  rows  r;
  cosim_open_monolithic(&c, "examples/heavy-top.yaml",
                        "t_end=0.02;output.every=1e-4;solvers.default.rtol=1e-12;solvers.default.kind=dop853;"
                        "bodies.top.frames.nose={at: [0.1, 0.2, 0.3], axis: [1, 2, 3]};"
                        "t_start=0.0163;output.select=[\"top.nose.*\", \"top.v?\", \"top.w?\", \"top.a*\"]");
  run_and_keep(&c, &r);
  for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; ++k) {
    const int v = column(&c, pairs[k][0]), a = column(&c, pairs[k][1]);
    for (int i = 2; i + 2 < r.n; i += 5) { /* fourth order */
      const double slope = (8.0 * (r.value[i + 1][v] - r.value[i - 1][v]) - (r.value[i + 2][v] - r.value[i - 2][v])) /
                           (12.0 * (r.t[i + 1] - r.t[i]));
      CHECK_NEAR(r.value[i][a], slope, 1e-6 * (1.0 + fabs(slope)));
    }
  }
  cosim_close(&c);
}

static void accelerations_of_a_chain_are_shown_where_they_are_asked_for(void **state) {
  (void)state;
  cosim c;
  cosim_open_monolithic(&c,
                        "yoke: 1\nt_end: 1\nbodies: {c: {kind: chain, n: 3, mass: 2, stiffness: 10, x: 0.1*i}}\n"
                        "output: {select: [\"c.a*\", \"c.x[2]\"]}\n",
                        NULL);
  cosim_expect(&c, YOKE_OK);
  assert_int_equal(c.plan->outputs.n, 4);
  CHECK_NEAR(cosim_value(&c, "c.a[3]"), -10.0 * (0.1 + 0.3) / 2.0, 1e-14);
  cosim_close(&c);
}

/* ---- joints ---- */

#define JOINT                                                                                                          \
  "yoke: 1\nt_end: 0.5\nbodies:\n"                                                                                     \
  "  b: {kind: rigid, mass: 1, inertia: [1, 2, 3]}\n"                                                                  \
  "connections: {j: {kind: revolute, between: [ground, b], axis: [0, 0, 1]}}\n"

static void f62_the_angle_of_a_revolute_joint_in_space_is_shown_with_its_rate(void **state) {
  (void)state;
  cosim c = cosim_done_monolithic(JOINT, "connections.j.initial=0.3;connections.j.initial_rate=8", 0.5);
  CHECK_NEAR(cosim_value(&c, "j.angle"), 4.3 - 2.0 * pi, 1e-8); /* in (-pi, pi] */
  CHECK_NEAR(cosim_value(&c, "j.angle_rate"), 8.0, 1e-9);
  assert_int_equal(yoke_system_value(c.system, "j.distance", &(double){0}, c.ctx), YOKE_E_USAGE);
  cosim_close(&c);
}

static void f62_the_distance_of_a_translational_joint_is_shown_with_its_rate(void **state) {
  (void)state;
  cosim c = cosim_done_monolithic(
      JOINT, "connections.j.kind=translational;connections.j.initial=0.3;connections.j.initial_rate=8", 0.5);
  CHECK_NEAR(cosim_value(&c, "j.distance"), 4.3, 1e-9);
  CHECK_NEAR(cosim_value(&c, "j.distance_rate"), 8.0, 1e-9);
  cosim_close(&c);
}

static void f62_a_cylindrical_joint_shows_both_of_its_coordinates(void **state) {
  (void)state;
  cosim c = cosim_done_monolithic(
      JOINT, "connections.j.kind=cylindrical;bodies.b.velocity=[0, 0, 2];bodies.b.omega=[0, 0, -3]", 0.5);
  CHECK_NEAR(cosim_value(&c, "j.angle"), -1.5, 1e-9);
  CHECK_NEAR(cosim_value(&c, "j.angle_rate"), -3.0, 1e-9);
  CHECK_NEAR(cosim_value(&c, "j.distance"), 1.0, 1e-9);
  CHECK_NEAR(cosim_value(&c, "j.distance_rate"), 2.0, 1e-9);
  cosim_close(&c);
}

static void f62_angles_in_the_plane_are_counted_over_full_turns_from_the_drawn_one(void **state) {
  (void)state;
  static const char model[] = "yoke: 1\nt_end: 1\nbodies:\n"
                              "  a: {kind: planar, mass: 1, inertia: 1, angle: 200 deg, omega: 9}\n"
                              "connections: {j: {kind: revolute, between: [ground, a], axis: [0, 0, 1]}}\n";
  cosim             c       = cosim_done_monolithic(model, NULL, 1.0);
  CHECK_NEAR(cosim_value(&c, "j.angle"), 9.0, 1e-9);
  cosim_close(&c);
  c = cosim_done_monolithic(model, "connections.j={kind: revolute, between: [a, ground]}", 1.0);
  CHECK_NEAR(cosim_value(&c, "j.angle"), 160.0 * pi / 180.0 - 9.0, 1e-9);
  CHECK_NEAR(cosim_value(&c, "j.angle_rate"), -9.0, 1e-9);
  cosim_close(&c);
}

/* ---- patterns ---- */

#define TWO_RODS                                                                                                       \
  "yoke: 1\ngravity: [0, -9.81, 0]\nt_end: 0.2\nbodies:\n"                                                             \
  "  upper: {kind: planar, mass: 1, inertia: 0.1, position: [0.5, 0], frames: {top: [-0.5, 0], tip: [0.5, 0]}}\n"      \
  "  lower: {kind: planar, mass: 1, inertia: 0.1, position: [1.5, 0], frames: {top: [-0.5, 0], tip: [0.5, 0.1]}}\n"    \
  "connections:\n"                                                                                                     \
  "  shoulder: {kind: revolute, between: [ground, upper.top]}\n"                                                       \
  "  knee: {kind: revolute, between: [upper.tip, lower.top]}\n"                                                        \
  "split: {a: [upper], b: [lower]}\n"                                                                                  \
  "cosimulation: {scheme: implicit, order: 2, step: 2e-3}\n"                                                           \
  "solvers: {default: {kind: dop853, rtol: 1e-10}}\n"

static int n_selected(const char *patterns) {
  cosim c;
  char  sets[200];
  snprintf(sets, sizeof sets, "output.select=[%s]", patterns);
  cosim_open_monolithic(&c, TWO_RODS, sets);
  cosim_expect(&c, YOKE_OK);
  const int n = c.plan->outputs.n;
  cosim_close(&c);
  return n;
}

static void what_is_not_shown_by_itself_is_named_by_the_last_part_of_a_pattern(void **state) {
  (void)state;
  assert_int_equal(n_selected("\"upper.*\""), 6); /* as without frames and accelerations */
  assert_int_equal(n_selected("\"upper*\""), 6);
  assert_int_equal(n_selected("\"upper.a*\""), 4); /* angle, ax, ay, alpha */
  assert_int_equal(n_selected("\"*.ay\""), 2);
  assert_int_equal(n_selected("\"upper.tip.*\""), 9);
  assert_int_equal(n_selected("\"*.tip.v?\""), 4);
  assert_int_equal(n_selected("\"knee.*\""), 10);  /* force and g of five rows */
  assert_int_equal(n_selected("\"*.angle*\""), 6); /* of two bodies and two joints */
}

/* ---- outputs of users ---- */

#define OWN_OUTPUTS                                                                                                    \
  "outputs:\n"                                                                                                         \
  "  both: {value: 2*fall + knee.angle, unit: m/s, description: not a sensible quantity}\n"                            \
  "  fall: lower.tip.vy*upper.omega - 3*lower.y/upper.x + t + shoulder.force[2]\n"

static double both_of(const cosim *c, const rows *r, int i, double *fall) {
  const double *x = r->value[i];
  *fall           = x[column(c, "lower.tip.vy")] * x[column(c, "upper.omega")] -
          3.0 * x[column(c, "lower.y")] / x[column(c, "upper.x")] + r->t[i] + x[column(c, "shoulder.force[2]")];
  return 2.0 * *fall + x[column(c, "knee.angle")];
}

static void an_output_of_the_user_is_the_expression_of_the_written_columns_to_the_bit(void **state) {
  (void)state;
  static const char sets[] =
      "output={every: 7e-3, select: [\"upper.*\", lower.y, \"lower.tip.*\", \"*.a*\", \"shoulder.f*\", fall, both]}";
  for (int is_whole = 0; is_whole < 2; ++is_whole) {
    cosim c;
    rows  r;
    if (is_whole)
      cosim_open_monolithic(&c, TWO_RODS OWN_OUTPUTS, sets);
    else
      cosim_open(&c, TWO_RODS OWN_OUTPUTS, sets);
    run_and_keep(&c, &r);
    assert_int_equal(r.n, 30);
    for (int i = 0; i < r.n; ++i) {
      double       fall;
      const double both = both_of(&c, &r, i, &fall);
      assert_memory_equal(&r.value[i][column(&c, "fall")], &fall, sizeof fall);
      assert_memory_equal(&r.value[i][column(&c, "both")], &both, sizeof both);
    }
    assert_string_equal(c.plan->outputs.unit[column(&c, "both")], "m/s");
    assert_string_equal(yoke_plan_output_description(c.plan, column(&c, "both")), "not a sensible quantity");
    cosim_close(&c);
  }
}

static void an_output_of_the_user_does_not_need_its_arguments_to_be_selected(void **state) {
  (void)state;
  double value[2];
  cosim  c = cosim_done_monolithic(TWO_RODS OWN_OUTPUTS, NULL, 0.1);
  value[0] = cosim_value(&c, "both");
  cosim_close(&c);
  c = cosim_done_monolithic(TWO_RODS OWN_OUTPUTS, "output.select=[both]", 0.1);
  assert_int_equal(c.plan->outputs.n, 1);
  value[1] = cosim_value(&c, "both");
  assert_memory_equal(&value[0], &value[1], sizeof value[0]);
  cosim_close(&c);
}

static void outputs_of_users_come_in_copies_and_inside_assemblies(void **state) {
  (void)state;
  cosim c;
  cosim_open_monolithic(
      &c,
      "yoke: 1\nt_end: 1\n"
      "assemblies:\n"
      "  cart: {parameters: {k: 3}, bodies: {m: {kind: mass1d, mass: 1, x: 5}}, outputs: {far: k*m.x}}\n"
      "instances: {left: {of: cart}, right: {of: cart, parameters: {k: 4}}}\n"
      "bodies: {rod: {kind: mass1d, count: 3, mass: 1, x: 0.1*i}}\n"
      "frames: {ground: {wall: [7, 0, 0]}}\n"
      "outputs:\n"
      "  gap: {value: ground.wall.x - rod[i].x, count: 3, unit: m}\n"
      "  sum: gap[1] + gap[3] + left.far + right.far\n"
      "output: {integrals: [rod[1].x], select: [\"gap*\", sum]}\n",
      NULL);
  cosim_expect(&c, YOKE_OK);
  assert_int_equal(c.plan->outputs.n, 4);
  CHECK_NEAR(cosim_value(&c, "gap[2]"), 6.8, 1e-15);
  CHECK_NEAR(cosim_value(&c, "right.far"), 20.0, 0.0);
  CHECK_NEAR(cosim_value(&c, "sum"), 6.9 + 6.7 + 15.0 + 20.0, 1e-14);
  cosim_close(&c);
}

static void an_output_of_the_user_may_ask_for_energies_and_integrals(void **state) {
  (void)state;
  cosim c = cosim_done("examples/two-mass.yaml",
                       "t_end=0.01;solvers.default.kind=dop853;output.integrals=[m1.x];outputs.rest=total.balance - "
                       "total.energy + 2*m1.x.integral",
                       0.0);
  CHECK_NEAR(cosim_value(&c, "rest"),
             cosim_value(&c, "total.balance") - cosim_value(&c, "total.energy") +
                 2.0 * cosim_value(&c, "m1.x.integral"),
             1e-14);
  cosim_close(&c);
}

static void an_output_of_the_user_that_reads_what_only_couplings_show_is_left_out_of_a_run_as_a_whole(void **state) {
  (void)state;
  static const char sets[] = "outputs={gap: 1000*knee.mismatch[1], more: gap + 1};output.select=[more, upper.x]";
  cosim             c;
  cosim_open(&c, TWO_RODS, sets);
  cosim_expect(&c, YOKE_OK);
  assert_int_equal(c.plan->outputs.n, 2);
  cosim_close(&c);
  cosim_open_monolithic(&c, TWO_RODS, sets);
  cosim_expect(&c, YOKE_OK);
  assert_int_equal(c.plan->outputs.n, 1);
  assert_non_null(strstr(yoke_context_message(c.ctx, 0), "knee.mismatch[1]"));
  cosim_close(&c);
}

static void an_unknown_name_in_an_output_of_the_user_is_told_with_its_place(void **state) {
  (void)state;
  assert_refused(TWO_RODS "outputs: {speed: upper.tip.vxx}\n", NULL, true,
                 "test.yaml:13:18: key 'outputs.speed': found 'upper.tip.vxx', expected the name of an output; did you "
                 "mean 'upper.tip.vx'?");
  assert_refused(TWO_RODS "outputs: {speed: knee.force[6]}\n", NULL, true, "'knee.force[6]'");
  assert_refused(TWO_RODS "outputs: {rest: total.balance}\n", "cosimulation.energy=off", false,
                 "use cosimulation.energy monitor");
}

static void an_output_of_the_user_that_is_not_finite_is_named(void **state) {
  (void)state;
  cosim c;
  cosim_open_monolithic(&c, TWO_RODS, "outputs.bad=sqrt(lower.y);output={every: 0.05, select: [bad]}");
  cosim_run(&c, 0.2, NULL, NULL);
  cosim_expect(&c, YOKE_E_UNSTABLE);
  assert_non_null(strstr(last_message(&c), "output 'bad' is not finite at t = 0.05 s"));
  cosim_close(&c);
}

static void an_output_of_the_user_goes_with_the_part_that_it_reads(void **state) {
  (void)state;
  const osc_def def = {.name = "q", .n = 1, .mass = {2.0}, .n_ports = 1, .h = 1e-3, .can = OSC_ALL & ~OSC_EVENTS};
  cosim         c;
  cosim_load(&c, "examples/two-mass.yaml",
             "outputs={one: 2*m1.x, two: m2.x + 0*one, three: two};output.select=[\"*\"]");
  assert_int_equal(yoke_plan_create(c.ctx, c.model, NULL, &c.plan), YOKE_OK);
  yoke_plan_replace_part(c.plan, 1, &def, osc_make);
  for (int i = 0; i < c.plan->outputs.n; ++i) {
    assert_string_not_equal(c.plan->outputs.name[i], "two");
    assert_string_not_equal(c.plan->outputs.name[i], "three");
  }
  (void)column(&c, "one");
  cosim_close(&c);
}

/* ---- cuts of chains ---- */

#define CHAIN                                                                                                          \
  "yoke: 1\nt_end: 0.01\n"                                                                                             \
  "bodies: {c: {kind: chain, n: 24, mass: 0.001, stiffness: 1000 + i, damping: 0.02, x: 0.001*sin(i)}}\n"              \
  "split: {c: 3}\n"                                                                                                    \
  "cosimulation: {scheme: explicit, step: 1e-5}\n"

static void a_cut_of_a_chain_shows_the_deflection_and_force_of_its_element(void **state) {
  static const char *const of[] = {"constitutive", "overlap"};
  (void)state;
  for (int k = 0; k < 2; ++k) {
    char sets[200];
    snprintf(sets, sizeof sets, "cosimulation.couplings.formulation=%s;outputs.pull=2*c.cut[2].force[1]", of[k]);
    cosim        c = cosim_done(CHAIN, sets, 0.01);
    const double g = cosim_value(&c, "c.x[17]") - cosim_value(&c, "c.x[16]"), /* element 16 joins masses 16 and 17 */
        rate       = cosim_value(&c, "c.v[17]") - cosim_value(&c, "c.v[16]");
    const double force = (1000.0 + 16.0) * g + 0.02 * rate, size = cosim_value(&c, "c.cut[2].force[1]");
    CHECK_NEAR(cosim_value(&c, "c.cut[2].g[1]"), g, 1e-18);
    CHECK_NEAR(size, force, 1e-2 * fabs(force)); /* the coupling value is one macro step old at most */
    CHECK_NEAR(cosim_value(&c, "pull"), 2.0 * size, 0.0);
    CHECK_NEAR(cosim_value(&c, "c.cut[2].mismatch[1]"), 0.0, 1e-6 * fabs(force));
    cosim_close(&c);
  }
}

static void a_cut_of_a_chain_is_shown_where_a_pattern_has_a_part_for_it(void **state) {
  static const struct {
    const char *pattern;
    int         n;
  } one[] = {{"c.cut[*].*", 4}, {"c.cut[*].force*", 2}, {"*.cut[1].g[1]", 1}, {"c.cut[1..2].mismatch*", 2},
             {"c.*", 48},       {"c.cut[*].work*", 4},  {"c.cut[2].leak", 1}};
  (void)state;
  for (size_t k = 0; k < sizeof one / sizeof one[0]; ++k) {
    char  sets[200];
    cosim c;
    snprintf(sets, sizeof sets, "output.select=[\"%s\"]", one[k].pattern);
    cosim_open(&c, CHAIN, sets);
    cosim_expect(&c, YOKE_OK);
    assert_int_equal(c.plan->outputs.n, one[k].n);
    cosim_close(&c);
  }
  assert_refused(CHAIN, "output.select=[\"c.cut[24].*\"]", false, "'c.cut[24].*' matches no output");
  assert_refused(CHAIN, "outputs.pull=c.cut[0].force[1]", false,
                 "expected the name of an output; did you mean 'c.cut[");
}

static void a_cut_that_this_run_has_not_is_left_out_of_it(void **state) {
  static const char sets[] = "outputs.pull=2*c.cut[2].force[1];output.select=[\"c.cut[2].*\", pull, \"c.x[1]\"]";
  (void)state;
  cosim c;
  cosim_open_monolithic(&c, CHAIN, sets);
  cosim_expect(&c, YOKE_OK);
  assert_int_equal(c.plan->outputs.n, 1);
  cosim_close(&c);
}

static void halos_tell_no_leak_of_a_cut(void **state) {
  (void)state;
  cosim c;
  cosim_open(&c, CHAIN, "cosimulation.couplings.formulation=overlap;output.select=[\"c.cut[2].leak\", \"c.x[1]\"]");
  cosim_expect(&c, YOKE_OK);
  assert_int_equal(c.plan->outputs.n, 1);
  assert_non_null(strstr(last_message(&c), "'c.cut[2].leak' matches no output of this run: halos"));
  cosim_close(&c);
}

/* ---- split and whole ---- */

static void f62_split_and_whole_agree_in_frames_joints_and_outputs_of_users(void **state) {
  static const struct {
    const char *name;
    double      tolerance;
  } seen[]                 = {{"lower.tip.x", 1e-6},  {"lower.tip.vy", 1e-5},    {"upper.tip.angle", 1e-6},
                              {"knee.angle", 1e-5},   {"knee.angle_rate", 1e-4}, {"shoulder.angle", 1e-6},
                              {"lower.tip.ay", 5e-2}, {"upper.alpha", 5e-2},     {"lag", 1e-5}};
  static const char sets[] = "outputs.lag=hypot(lower.tip.vx, lower.tip.vy) - knee.angle;output.every=0.05";
  (void)state;
  cosim split = cosim_done(TWO_RODS, sets, 0.2), whole = cosim_done_monolithic(TWO_RODS, sets, 0.2);
  for (size_t i = 0; i < sizeof seen / sizeof seen[0]; ++i)
    CHECK_NEAR(cosim_value(&split, seen[i].name), cosim_value(&whole, seen[i].name), seen[i].tolerance);
  cosim_close(&split);
  cosim_close(&whole);
}

/* A flexible joint across the split is held by a wire too. */
static void the_coordinate_of_a_joint_across_the_split_comes_from_its_ports(void **state) {
  static const char sets[] = "connections.knee.stiffness=1e4;connections.knee.damping=10;"
                             "bodies.lower.frames.top={at: [-0.5, 0], orientation: {axis: [0, 0, 1], angle: 20 deg}}";
  (void)state;
  cosim c = cosim_done(TWO_RODS, sets, 0.1);
  CHECK_NEAR(cosim_value(&c, "knee.angle"), cosim_value(&c, "lower.top.angle") - cosim_value(&c, "upper.tip.angle"),
             1e-14);
  CHECK_NEAR(cosim_value(&c, "knee.angle_rate"), cosim_value(&c, "lower.omega") - cosim_value(&c, "upper.omega"),
             1e-14);
  cosim_close(&c);
}

static void a_load_of_a_part_reads_its_own_frames_and_joints(void **state) {
  static const char model[] =
      TWO_RODS "loads:\n"
               "  p: {kind: expression, on: lower, force: [-3*lower.tip.x, -lower.tip.vy]}\n"
               "  q: {kind: expression, on: upper, torque: -2*shoulder.angle - shoulder.angle_rate}\n"
               "events: {low: {when: upper.tip.y + 0.05, direction: falling}}\n";
  (void)state;
  cosim split = cosim_done(model, NULL, 0.2), whole = cosim_done_monolithic(model, NULL, 0.2);
  CHECK_NEAR(cosim_value(&split, "lower.tip.x"), cosim_value(&whole, "lower.tip.x"), 1e-6);
  CHECK_NEAR(cosim_value(&split, "upper.angle"), cosim_value(&whole, "upper.angle"), 1e-6);
  assert_int_equal(split.summary.n_events, 1);
  assert_int_equal(whole.summary.n_events, 1);
  cosim_close(&split);
  cosim_close(&whole);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(f62_a_frame_in_space_is_where_its_body_carries_it),
      cmocka_unit_test(f62_a_frame_in_the_plane_and_one_of_a_particle_are_where_their_bodies_carry_them),
      cmocka_unit_test(f62_accelerations_are_differences_of_velocities),
      cmocka_unit_test(accelerations_of_a_chain_are_shown_where_they_are_asked_for),
      cmocka_unit_test(f62_the_angle_of_a_revolute_joint_in_space_is_shown_with_its_rate),
      cmocka_unit_test(f62_the_distance_of_a_translational_joint_is_shown_with_its_rate),
      cmocka_unit_test(f62_a_cylindrical_joint_shows_both_of_its_coordinates),
      cmocka_unit_test(f62_angles_in_the_plane_are_counted_over_full_turns_from_the_drawn_one),
      cmocka_unit_test(what_is_not_shown_by_itself_is_named_by_the_last_part_of_a_pattern),
      cmocka_unit_test(an_output_of_the_user_is_the_expression_of_the_written_columns_to_the_bit),
      cmocka_unit_test(an_output_of_the_user_does_not_need_its_arguments_to_be_selected),
      cmocka_unit_test(outputs_of_users_come_in_copies_and_inside_assemblies),
      cmocka_unit_test(an_output_of_the_user_may_ask_for_energies_and_integrals),
      cmocka_unit_test(an_output_of_the_user_that_reads_what_only_couplings_show_is_left_out_of_a_run_as_a_whole),
      cmocka_unit_test(an_unknown_name_in_an_output_of_the_user_is_told_with_its_place),
      cmocka_unit_test(an_output_of_the_user_that_is_not_finite_is_named),
      cmocka_unit_test(an_output_of_the_user_goes_with_the_part_that_it_reads),
      cmocka_unit_test(a_cut_of_a_chain_shows_the_deflection_and_force_of_its_element),
      cmocka_unit_test(a_cut_of_a_chain_is_shown_where_a_pattern_has_a_part_for_it),
      cmocka_unit_test(a_cut_that_this_run_has_not_is_left_out_of_it),
      cmocka_unit_test(halos_tell_no_leak_of_a_cut),
      cmocka_unit_test(f62_split_and_whole_agree_in_frames_joints_and_outputs_of_users),
      cmocka_unit_test(the_coordinate_of_a_joint_across_the_split_comes_from_its_ports),
      cmocka_unit_test(a_load_of_a_part_reads_its_own_frames_and_joints),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
