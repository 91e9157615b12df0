/* A light link between heavy bodies, cut at one of its joints or at both, by default (F32). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "cosimulate.h"

#define BAR "inertia: m*l^2/12, frames: {head: [-l/2, 0], tip: [l/2, 0]}"

static const char PLANAR[] =
    "yoke: 1\nname: light link\nparameters: {m: 1e-3, l: 0.3}\ngravity: [0, -9.81]\nt_end: 0.4\n"
    "bodies:\n"
    "  base: {kind: planar, mass: 2, inertia: 0.1, position: [0.25, 0], frames: {head: [-0.25, 0], tip: [0.25, 0]}}\n"
    "  link: {kind: planar, mass: m, position: [0.5 + l/2, 0], " BAR "}\n"
    "  heavy: {kind: planar, mass: 10, inertia: 0.4, position: [0.7 + l, 0], frames: {head: [-0.2, 0]}}\n"
    "connections:\n"
    "  s: {kind: revolute, between: [ground, base.head]}\n"
    "  a: {kind: revolute, between: [base.tip, link.head]}\n"
    "  b: {kind: revolute, between: [link.tip, heavy.head]}\n"
    "split: {one: [base], two: [link], three: [heavy]}\n";

static const char SPATIAL[] =
    "yoke: 1\nname: light link in space\nparameters: {m: 1e-3, l: 0.3}\ngravity: [0, 0, -9.81]\nt_end: 0.4\n"
    "bodies:\n"
    "  base: {kind: rigid, mass: 2, inertia: [0.01, 0.1, 0.1], position: [0.25, 0, 0], omega: [0, 0, 2],\n"
    "         velocity: [0, 0.5, 0], frames: {head: [-0.25, 0, 0], tip: {at: [0.25, 0, 0], axis: [0, 1, 0]}}}\n"
    "  link: {kind: rigid, mass: m, inertia: [m*l^2/1200, m*l^2/12, m*l^2/12], position: [0.5 + l/2, 0, 0],\n"
    "         omega: [0, 0, 2], velocity: [0, 2*(0.5 + l/2), 0],\n"
    "         frames: {head: {at: [-l/2, 0, 0], axis: [0, 1, 0]}, tip: [l/2, 0, 0]}}\n"
    "  heavy: {kind: rigid, mass: 10, inertia: [0.2, 0.4, 0.35], position: [0.7 + l, 0, 0], omega: [0, 0, 2],\n"
    "          velocity: [0, 2*(0.7 + l), 0], frames: {head: [-0.2, 0, 0]}}\n"
    "connections:\n"
    "  s: {kind: spherical, between: [ground, base.head]}\n"
    "  a: {kind: revolute, between: [base.tip, link.head]}\n"
    "  b: {kind: spherical, between: [link.tip, heavy.head]}\n"
    "split: {one: [base], two: [link], three: [heavy]}\n";

static const char *const splits[] = {"split={one: [base], two: [link], three: [heavy]}",
                                     "split={one: [base, link], two: [heavy]}",
                                     "split={one: [base], two: [link, heavy]}"};

/* Where an output of the split model is beside the whole one, in units of `size`. */
static double deviation(const cosim *split, const cosim *whole, const char *name, double size) {
  return fabs(cosim_value(split, name) - cosim_value(whole, name)) / size;
}

/* It took about 400 times as many steps when forces on the link were fixed in space, or did not end. */
static void expect_easy(const char *model, const char *speed, const char *const *forces, int n_forces) {
  cosim whole = cosim_done_monolithic(model, "solvers.default.rtol=1e-11", 0.0);
  for (size_t i = 0; i < sizeof splits / sizeof *splits; ++i) {
    cosim c = cosim_done(model, splits[i], 0.0);
    if (c.summary.macro.steps > 50) fail_msg("%s: %lld macro steps", splits[i], (long long)c.summary.macro.steps);
    assert_true(deviation(&c, &whole, "link.x", 1.0) < 1e-3 && deviation(&c, &whole, speed, 5.0) < 1e-3);
    for (int k = 0; k < n_forces; ++k) assert_true(deviation(&c, &whole, forces[k], 100.0) < 1e-2);
    cosim_close(&c);
  }
  cosim_close(&whole);
}

static void f32_a_light_link_takes_no_more_steps_than_a_heavy_one(void **state) {
  static const char *const forces[] = {"a.force[1]", "a.force[2]", "b.force[1]", "b.force[2]"};
  (void)state;
  expect_easy(PLANAR, "link.omega", forces, 4);
}

static void f32_in_space_moments_across_the_link_do_not_count_either(void **state) {
  static const char *const forces[] = {"a.force[1]", "a.force[3]", "a.force[4]", "a.force[5]", "b.force[2]"};
  (void)state;
  expect_easy(SPATIAL, "link.wz", forces, 5);
}

static void f32_the_weight_of_the_link_does_not_matter(void **state) {
  int64_t steps[2];
  (void)state;
  for (int i = 0; i < 2; ++i) {
    cosim c  = cosim_done(PLANAR, i == 0 ? "parameters.m=0.02" : "parameters.m=1e-6", 0.0);
    steps[i] = c.summary.macro.steps;
    cosim_close(&c);
  }
  assert_true(llabs((long long)(steps[1] - steps[0])) <= 3);
}

/* Right-hand sides of all integrations, in those of the model as a whole, by default. */
static double cost(const char *model, const char *sets) {
  cosim        whole = cosim_done_monolithic(model, sets, 0.0), c = cosim_done(model, sets, 0.0);
  const double ratio = (double)c.summary.macro.evaluations / (double)whole.summary.counters.evaluations;
  cosim_close(&whole);
  cosim_close(&c);
  return ratio;
}

static void expect_cost(const char *name, const char *model, const char *sets, double limit) {
  const double times = cost(model, sets);
  if (!(times <= limit)) fail_msg("%s, %s: %.2f times", name, sets, times);
}

/* It was 7.6 to 9.1 times while corrected steps were integrated a second time, and 23 to 29 before multipliers went on from consistent values. */
static void f32_a_light_link_that_is_cut_off_once_costs_less_than_seven_times_the_whole_model(void **state) {
  static const char *const masses[] = {"", ";parameters.m=1e-4"};
  (void)state;
  for (int i = 1; i < 3; ++i) {
    for (int k = 0; k < 2; ++k) {
      char sets[200];
      snprintf(sets, sizeof sets, "%s%s", splits[i], masses[k]);
      expect_cost("planar", PLANAR, sets, 7.0);
      expect_cost("spatial", SPATIAL, sets, 7.0);
    }
  }
}

/* It was 9.5 times. */
static void f32_a_double_pendulum_costs_less_than_eight_times_the_whole_model(void **state) {
  (void)state;
  expect_cost("double pendulum", "examples/double-pendulum.yaml", "cosimulation={};solvers={}", 8.0);
}

/* It was 11.8 to 15.4 times. */
static void f32_a_light_link_in_three_parts_costs_less_than_ten_times_the_whole_model(void **state) {
  static const char *const masses[] = {"", "parameters.m=1e-4"};
  (void)state;
  for (int k = 0; k < 2; ++k) {
    expect_cost("planar", PLANAR, masses[k], 10.0);
    expect_cost("spatial", SPATIAL, masses[k], 10.0);
  }
}

/* Most right-hand sides of all three splits with rtol 1e-6, which the whole model does not have. */
static void expect_fine_cost(const char *name, const char *model, double in_two, double in_three) {
  for (int i = 0; i < 3; ++i) {
    char sets[200];
    snprintf(sets, sizeof sets, "%s;cosimulation.step.rtol=1e-6", splits[i]);
    expect_cost(name, model, sets, i == 0 ? in_three : in_two);
  }
}

/* It was 13.3 to 16.9 times. */
static void f32_with_a_fine_tolerance_a_link_in_the_plane_costs_less_than_ten_times_the_whole_model(void **state) {
  (void)state;
  expect_fine_cost("planar", PLANAR, 10.0, 10.0);
}

/* It was 15.5 to 22.6 times. */
static void f32_with_a_fine_tolerance_a_link_in_space_costs_five_times_the_whole_model_for_each_part(void **state) {
  (void)state;
  expect_fine_cost("spatial", SPATIAL, 11.0, 14.0);
}

/* Nor does it miss more than the share of the tolerance that it may: both ways are as far from the whole model. */
static void f32_states_that_follow_by_tangents_are_as_right_as_integrated_ones(void **state) {
  cosim whole = cosim_done_monolithic(PLANAR, "solvers.default.rtol=1e-11", 0.0);
  (void)state;
  for (int i = 0; i < 3; ++i) {
    double  off[2];
    int64_t integrations[2];
    for (int k = 0; k < 2; ++k) {
      char sets[200];
      snprintf(sets, sizeof sets, "%s;cosimulation.step.shift=%s", splits[i], k == 0 ? "off" : "on");
      cosim c         = cosim_done(PLANAR, sets, 0.0);
      off[k]          = fmax(deviation(&c, &whole, "link.x", 1.0), deviation(&c, &whole, "heavy.y", 1.0));
      integrations[k] = c.summary.macro.integrations;
      cosim_close(&c);
    }
    assert_true(5 * integrations[1] < 4 * integrations[0]);
    if (!(off[1] < off[0] + 1e-4)) fail_msg("%s: off by %g, integrated %g", splits[i], off[1], off[0]);
  }
  cosim_close(&whole);
}

static yoke_status count_sample(void *user, double t, const double *outputs, const yoke_counters *counters, double h,
                                int order) {
  (void)t, (void)outputs, (void)counters, (void)h, (void)order;
  ++*(int *)user;
  return YOKE_OK;
}

/* What is asked for inside of steps comes from integrations of its own. */
static void f32_looks_into_steps_do_not_change_them(void **state) {
  static const char *const every[] = {"output={every: 0.4}", "output={every: 1e-3}"};
  double                   x[2];
  int                      n[2] = {0};
  int64_t                  integrations[2];
  (void)state;
  for (int k = 0; k < 2; ++k) {
    cosim           c;
    const yoke_sink sink = {.user = &n[k], .sample = count_sample};
    cosim_open(&c, PLANAR, every[k]);
    assert_int_equal(yoke_system_run(c.system, c.model->t_end, &sink, &c.summary, c.ctx), YOKE_OK);
    x[k]            = cosim_value(&c, "heavy.vx");
    integrations[k] = c.summary.macro.integrations;
    cosim_close(&c);
  }
  assert_int_equal(n[0], 2);
  assert_int_equal(n[1], 401);
  assert_memory_equal(&x[0], &x[1], sizeof x[0]);
  assert_true(integrations[1] > integrations[0]);
}

/* Estimates are made in the first steps, where errors of motions matter, and else in one of five steps; nobody misses the others. */
static void f32_motions_are_compared_now_and_then(void **state) {
  cosim c = cosim_done("examples/double-pendulum.yaml", "cosimulation={};solvers={}", 0.0),
        d = cosim_done("examples/double-pendulum.yaml", "cosimulation={step: {compare: 1}};solvers={}", 0.0);
  (void)state;
  const int64_t n = c.summary.macro.steps;
  assert_true(llabs((long long)(n - d.summary.macro.steps)) <= n / 20);
  assert_true(d.summary.macro.integrations - c.summary.macro.integrations > 2 * (n / 2)); /* of two parts */
  cosim_close(&c);
  cosim_close(&d);
}

/* Errors of a stiff spring beside the joint show in motions first. */
static void f32_force_elements_beside_joints_are_compared_in_every_step(void **state) {
  static const char bushing[] = "connections.k={kind: torsion-spring, between: [base, link], stiffness: 5}";
  char              every[300];
  snprintf(every, sizeof every, "%s;cosimulation.step.compare=1", bushing);
  cosim c = cosim_done(PLANAR, bushing, 0.1), d = cosim_done(PLANAR, every, 0.1);
  (void)state;
  assert_int_equal(c.summary.macro.integrations, d.summary.macro.integrations);
  cosim_close(&c);
  cosim_close(&d);
}

/* The multipliers go on from consistent values: no ripple of theirs limits the degree. */
static void f32_multipliers_have_degrees_up_to_four(void **state) {
  cosim c = cosim_done("examples/double-pendulum.yaml", "cosimulation={};solvers={}", 0.0);
  (void)state;
  assert_true(5 * (c.summary.macro.degrees[3] + c.summary.macro.degrees[4]) > 2 * c.summary.macro.steps);
  assert_true(c.summary.macro.degrees[4] > 0);
  assert_int_equal(c.summary.macro.degrees[5], 0);
  cosim_close(&c);
}

/* End in whose axes the multipliers of joint `a` are given. */
static int carrier(const char *model, const char *sets) {
  cosim c;
  cosim_open(&c, model, sets);
  cosim_expect(&c, YOKE_OK);
  const int end = c.plan->couplings[0].joint.carrier;
  assert_string_equal(c.plan->couplings[0].name, "a");
  cosim_close(&c);
  return end;
}

static void forces_are_given_in_axes_of_a_light_body_that_they_turn(void **state) {
  (void)state;
  assert_int_equal(carrier(PLANAR, NULL), 2);
  assert_int_equal(carrier(PLANAR, "connections.a.between=[link.head, base.tip]"), 1);
  assert_int_equal(carrier(SPATIAL, NULL), 2);
  assert_int_equal(carrier(PLANAR, "parameters.m=1"), 0);
  assert_int_equal(carrier(PLANAR, "bodies.link.frames={head: [0, 0], tip: [l, 0]};bodies.link.position=[0.5, 0]"), 0);
  assert_int_equal(carrier(PLANAR, "loads={m: {kind: expression, on: base, torque: \"1e-3*a.force[1]\"}}"), 0);
  /* a shaft that spins */
  assert_int_equal(carrier(SPATIAL, "connections.a.kind=spherical"), 2);
  assert_int_equal(carrier(SPATIAL, "connections.a.kind=spherical;bodies.link.omega=[1e4, 0, 2]"), 0);
}

static void who_names_a_method_has_inertial_axes(void **state) {
  (void)state;
  assert_int_equal(carrier(PLANAR, "cosimulation.step=1e-3"), 0);
  assert_int_equal(carrier(PLANAR, "cosimulation.scheme=implicit"), 0);
  assert_int_equal(carrier(PLANAR, "cosimulation.step={estimator: md}"), 0);
  assert_int_equal(carrier(PLANAR, "cosimulation.couplings={formulation: baumgarte}"), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(f32_a_light_link_takes_no_more_steps_than_a_heavy_one),
      cmocka_unit_test(f32_in_space_moments_across_the_link_do_not_count_either),
      cmocka_unit_test(f32_the_weight_of_the_link_does_not_matter),
      cmocka_unit_test(f32_a_light_link_that_is_cut_off_once_costs_less_than_seven_times_the_whole_model),
      cmocka_unit_test(f32_a_double_pendulum_costs_less_than_eight_times_the_whole_model),
      cmocka_unit_test(f32_a_light_link_in_three_parts_costs_less_than_ten_times_the_whole_model),
      cmocka_unit_test(f32_with_a_fine_tolerance_a_link_in_the_plane_costs_less_than_ten_times_the_whole_model),
      cmocka_unit_test(f32_with_a_fine_tolerance_a_link_in_space_costs_five_times_the_whole_model_for_each_part),
      cmocka_unit_test(f32_states_that_follow_by_tangents_are_as_right_as_integrated_ones),
      cmocka_unit_test(f32_looks_into_steps_do_not_change_them),
      cmocka_unit_test(f32_motions_are_compared_now_and_then),
      cmocka_unit_test(f32_force_elements_beside_joints_are_compared_in_every_step),
      cmocka_unit_test(f32_multipliers_have_degrees_up_to_four),
      cmocka_unit_test(forces_are_given_in_axes_of_a_light_body_that_they_turn),
      cmocka_unit_test(who_names_a_method_has_inertial_axes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
