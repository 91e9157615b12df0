/* What lies between two parts can be read and can read: laws of elements that are cut read quantities of the model, coordinates of joints that are
 * cut are read by loads, laws and events. The split model is the whole model, of the order of its couplings. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "cosimulate.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* ---- laws of cut elements ---- */

/* The actuator between a and b reads both of them, a third part and an input. */
#define ACTUATOR                                                                                                       \
  "yoke: 1\n"                                                                                                          \
  "t_end: 0.4\n"                                                                                                       \
  "inputs: {pull: 3}\n"                                                                                                \
  "bodies:\n"                                                                                                          \
  "  a: {kind: mass1d, mass: 1, x: 0.2}\n"                                                                             \
  "  b: {kind: mass1d, mass: 2, x: 1}\n"                                                                               \
  "  c: {kind: mass1d, mass: 1.5, x: 0.3, v: 0.5}\n"                                                                   \
  "connections:\n"                                                                                                     \
  "  wall: {kind: spring-damper, between: [ground, a], stiffness: 100, damping: 1, free_length: 0}\n"                  \
  "  far: {kind: spring-damper, between: [c, ground], stiffness: 80, free_length: 0}\n"                                \
  "  act: {kind: spring-damper, between: [a, b], free_length: 1, law: 40*x + 2*v + 30*c.x + 5*a.x*b.v + pull}\n"       \
  "  end: {kind: spring-damper, between: [b, ground], stiffness: 60, damping: 1, free_length: 0}\n"                    \
  "split: {p: [a], q: [b], r: [c]}\n"                                                                                  \
  "cosimulation: {step: 0.004, order: 1, scheme: implicit}\n"                                                          \
  "solvers: {default: {kind: dop853, rtol: 1e-11, atol: 1e-13}}\n"

static void a_cut_law_reads_the_model_with_the_order_of_its_coupling_in_every_scheme(void **state) {
  static const char *const schemes[] = {"explicit", "semi-implicit", "implicit", "waveform"};
  (void)state;
  for (size_t k = 0; k < COUNT(schemes); ++k) {
    for (int order = 0; order <= 2; ++order) {
      double errors[2];
      for (int i = 0; i < 2; ++i) {
        char sets[200];
        snprintf(sets, sizeof sets,
                 "cosimulation.scheme=%s;cosimulation.order=%d;cosimulation.start=exact;cosimulation.step=%g",
                 schemes[k], order, 0.004 / (1 << i));
        errors[i] = cosim_error(ACTUATOR, sets, "a.x");
      }
      CHECK_ORDER(errors, 2, order + 1.0, 0.35);
    }
  }
}

static void what_a_cut_law_reads_is_continued_by_every_predictor_and_sequence(void **state) {
  static const struct {
    const char *sets;
    double      order;
  } cases[] = {
      {"cosimulation.scheme=explicit;cosimulation.sequence=gauss-seidel", 2.0},
      {"cosimulation.scheme=explicit;cosimulation.predictor=acceleration", 2.0},
      {"cosimulation.scheme=explicit;cosimulation.predictor=acceleration-relaxed", 2.0},
      {"cosimulation.scheme=explicit;cosimulation.predictor=least-squares", 2.0},
      {"cosimulation.scheme=waveform;cosimulation.sequence=gauss-seidel", 2.0},
      {"cosimulation.scheme=implicit;cosimulation.jacobian=analytic", 2.0},
      {"cosimulation.scheme=implicit;cosimulation.jacobian=broyden", 2.0},
  };
  (void)state;
  for (size_t k = 0; k < COUNT(cases); ++k) {
    double errors[2];
    for (int i = 0; i < 2; ++i) {
      char sets[200];
      snprintf(sets, sizeof sets, "%s;cosimulation.start=exact;cosimulation.step=%g", cases[k].sets, 0.002 / (1 << i));
      errors[i] = cosim_error(ACTUATOR, sets, "a.x");
    }
    if (!(errors[1] < 1e-4 && log2(errors[0] / errors[1]) > cases[k].order - 0.4))
      fail_msg("%s: errors %.3g, %.3g", cases[k].sets, errors[0], errors[1]);
  }
}

static void a_cut_law_that_reads_the_model_keeps_to_the_tolerance_of_step_control(void **state) {
  (void)state;
  CHECK_BELOW(cosim_error(ACTUATOR, "cosimulation.step={rtol: 1e-6};cosimulation.order=auto", "a.x"), 5e-6);
  CHECK_BELOW(cosim_error(ACTUATOR, "cosimulation.step={rtol: 1e-6};cosimulation.scheme=semi-implicit", "b.x"), 5e-6);
}

static void tangents_and_differences_of_a_cut_law_agree(void **state) {
  (void)state;
  cosim c[2] = {cosim_done(ACTUATOR, "cosimulation.scheme=semi-implicit", 0.0),
                cosim_done(ACTUATOR, "cosimulation.scheme=semi-implicit;cosimulation.jacobian=finite-difference", 0.0)};
  CHECK_NEAR(cosim_value(&c[0], "a.x"), cosim_value(&c[1], "a.x"), 1e-9);
  cosim_close(&c[0]);
  cosim_close(&c[1]);
}

static void force_deflection_and_energy_of_a_cut_law_are_those_of_the_whole(void **state) {
  static const struct {
    const char *name;
    double      tolerance;
  } cases[] = {
      {"act.force[1]", 1e-6}, {"act.g[1]", 1e-8},        {"total.energy", 1e-7}, {"a.a", 1e-6},
      {"b.a", 1e-6},          {"total.dissipated", 2e-5}}; /* what a law reads is linear between macro points there */
  static const char fine[] =
      "cosimulation.order=3;cosimulation.step=0.001;cosimulation.start=exact;cosimulation.energy=monitor";
  (void)state;
  cosim split = cosim_done(ACTUATOR, fine, 0.0), whole = cosim_done_monolithic(ACTUATOR, fine, 0.0);
  for (size_t k = 0; k < COUNT(cases); ++k)
    CHECK_NEAR(cosim_value(&split, cases[k].name), cosim_value(&whole, cases[k].name), cases[k].tolerance);
  cosim_close(&split);
  cosim_close(&whole);
}

/* Rods whose spring and whose torsion spring are cut, with laws of places, angles and frames, some of a third body. */
#define RODS                                                                                                           \
  "yoke: 1\n"                                                                                                          \
  "t_end: 0.3\n"                                                                                                       \
  "bodies:\n"                                                                                                          \
  "  l: {kind: planar, mass: 1, inertia: 0.2, position: [0.5, 0], omega: 1, frames: {tip: [0.5, 0], end: [-0.5, "      \
  "0]}}\n"                                                                                                             \
  "  r: {kind: planar, mass: 1, inertia: 0.2, position: [2, 0.3], velocity: [0, 1], frames: {tip: [-0.5, 0.1]}}\n"     \
  "  s: {kind: rigid, mass: 1, inertia: [0.1, 0.2, 0.3], position: [1, 1, 0.5], omega: [1, 2, 3]}\n"                   \
  "connections:\n"                                                                                                     \
  "  hinge: {kind: revolute, between: [ground, l.end]}\n"                                                              \
  "  rope: {kind: spring-damper, between: [l.tip, r.tip], law: (50 + 20*s.x)*x + 3*v + 2*l.tip.vy + hinge.angle}\n"    \
  "  twist: {kind: torsion-spring, between: [l, r], law: (5 + s.q1)*x + 0.2*v + r.tip.x}\n"                            \
  "  tie: {kind: spring-damper, between: [s, r.tip], law: 30*x + 4*l.angle}\n"                                         \
  "split: {p: [l], q: [r], o: [s]}\n"                                                                                  \
  "cosimulation: {step: 0.002, order: 2, scheme: implicit, start: exact}\n"                                            \
  "solvers: {default: {kind: radau5, rtol: 1e-10, atol: 1e-12}}\n"

static void laws_of_ropes_and_torsion_springs_read_frames_joints_and_bodies_in_space(void **state) {
  static const char *const names[] = {"l.angle", "r.x", "r.angle", "s.x", "s.q1"};
  (void)state;
  for (size_t k = 0; k < COUNT(names); ++k) CHECK_BELOW(cosim_error(RODS, NULL, names[k]), 2e-7);
}

static void a_law_at_a_chain_reads_masses_of_other_pieces(void **state) {
  static const char model[] =
      "yoke: 1\nt_end: 0.3\ninputs: {pull: 2}\n"
      "bodies:\n"
      "  c: {kind: chain, n: 6, mass: 1, stiffness: 200, damping: 1, free: right}\n"
      "  b: {kind: mass1d, mass: 2, v: 1}\n"
      "connections: {act: {kind: spring-damper, between: [c[6], b], free_length: 0, law: 40*x + 2*v + 30*b.x*c.x[2] + "
      "pull}}\n"
      "split: {p: [c[1..3]], s: [c[4..6]], q: [b]}\n"
      "cosimulation: {scheme: implicit, order: 2, step: 2e-3}\n"
      "solvers: {default: {kind: dopri5, rtol: 1e-10, atol: 1e-12}}\n";
  (void)state;
  CHECK_BELOW(cosim_error(model, NULL, "b.x"), 1e-7);
  CHECK_BELOW(cosim_error(model, NULL, "c.x[5]"), 1e-7);
}

static void an_input_that_jumps_is_felt_by_a_cut_law_at_once(void **state) {
  double x[2];
  (void)state;
  for (int whole = 0; whole < 2; ++whole) {
    cosim c;
    cosim_load(&c, ACTUATOR, "cosimulation.scheme=semi-implicit;cosimulation.order=2;cosimulation.step=0.001");
    cosim_start(&c, whole == 1, NULL);
    cosim_expect(&c, YOKE_OK);
    assert_int_equal(yoke_system_run(c.system, 0.1, NULL, &c.summary, c.ctx), YOKE_OK);
    assert_int_equal(yoke_system_set_inputs(c.system, 1, &(int){0}, &(double){-60.0}, c.ctx), YOKE_OK);
    assert_int_equal(yoke_system_run(c.system, 0.4, NULL, &c.summary, c.ctx), YOKE_OK);
    x[whole] = cosim_value(&c, "a.x");
    cosim_close(&c);
  }
  CHECK_NEAR(x[0], x[1], 2e-7);
}

static void assert_refused(const char *model, const char *sets, const char *part) {
  cosim c;
  cosim_open(&c, model, sets);
  assert_true(c.status < 0);
  if (strstr(yoke_context_message(c.ctx, 0), part) == NULL) fail_msg("%s", yoke_context_message(c.ctx, 0));
  cosim_close(&c);
}

static void decompositions_and_extensions_that_such_a_law_cannot_have_are_refused(void **state) {
  (void)state;
  assert_refused(
      ACTUATOR, "cosimulation.couplings.decomposition=force/displacement",
      "coupling 'act': its law reads quantities of the model, which goes with decomposition force/force only");
  assert_refused(ACTUATOR, "cosimulation.couplings.extension=d",
                 "coupling 'act': extension d needs the rate of the force");
}

/* ---- coordinates of cut joints ---- */

/* Probes: masses of 1 kg, so that accelerations are the forces. */
#define PROBES(angle, distance)                                                                                        \
  "  m1: {kind: mass1d, mass: 1}\n"                                                                                    \
  "  m2: {kind: mass1d, mass: 1}\n"                                                                                    \
  "loads:\n"                                                                                                           \
  "  f1: {kind: expression, on: m1, force: " angle "}\n"                                                               \
  "  f2: {kind: expression, on: m2, force: " distance "}\n"                                                            \
  "yoke: 1\nt_end: 0.1\ngravity: [0, -9.81, 2]\nassemble: true\n"                                                      \
  "split: {a: [one], b: [two], c: [m1, m2]}\n"                                                                         \
  "cosimulation: {step: 0.002, order: 1, scheme: implicit}\n"                                                          \
  "solvers: {default: {kind: radau5, rtol: 1e-9, atol: 1e-11}}\n"

#define RIGID(name, at, frame)                                                                                         \
  "  " name ": {kind: rigid, mass: 1, inertia: [0.1, 0.2, 0.3], position: " at                                         \
  ", omega: [1, -2, 3], velocity: [0.1, 0.3, 0], frames: {f: {at: " frame                                              \
  ", orientation: {axis: [1, 2, 3], angle: 40 deg}}}}\n"
#define PLANAR(name, at, angle)                                                                                        \
  "  " name ": {kind: planar, mass: 1, inertia: 0.1, position: " at ", angle: " angle                                  \
  ", omega: 2, frames: {f: {at: [0.3, 0.1], orientation: {axis: [0, 0, 1], angle: 20 deg}}}}\n"

static void coordinates_of_cut_joints_are_what_their_outputs_are(void **state) {
  static const struct {
    const char *model, *name[2];
  } cases[] = {
      {"connections: {j: {kind: revolute, between: [one.f, two.f]}}\nbodies:\n" PLANAR("one", "[0, 0]", "0.2")
           PLANAR("two", "[0.5, 0]", "200 deg") PROBES("j.angle", "j.angle_rate"),
       {"j.angle", "j.angle_rate"}},
      {"connections: {j: {kind: translational, between: [one.f, two], axis: [1, 0.5, 0]}}\nbodies:\n" PLANAR(
           "one", "[0, 0]", "0.2") PLANAR("two", "[0.5, 0]", "0.2") PROBES("j.distance", "j.distance_rate"),
       {"j.distance", "j.distance_rate"}},
      {"connections: {j: {kind: revolute, between: [one.f, two.f], axis: [1, 1, 0.3]}}\nbodies:\n" RIGID(
           "one", "[0, 0, 0]", "[0.3, 0.2, 0.1]") RIGID("two", "[1, 0.2, 0]", "[-0.3, 0, 0.1]")
           PROBES("j.angle", "j.angle_rate"),
       {"j.angle", "j.angle_rate"}},
      {"connections: {j: {kind: cylindrical, between: [one.f, two.f], axis: [1, 0, 0.3]}}\nbodies:\n" RIGID(
           "one", "[0, 0, 0]", "[0.3, 0.2, 0.1]") RIGID("two", "[1, 0.2, 0]", "[-0.3, 0, 0.1]")
           PROBES("j.angle + 2*j.distance", "j.angle_rate + 2*j.distance_rate"),
       {NULL, NULL}},
      {"connections: {j: {kind: translational, between: [one, two.f], axis: [0, 1, 0.3]}}\nbodies:\n" RIGID(
           "one", "[0, 0, 0]", "[0.3, 0.2, 0.1]") RIGID("two", "[1, 0.2, 0]", "[-0.3, 0, 0.1]")
           PROBES("j.distance", "j.distance_rate"),
       {"j.distance", "j.distance_rate"}},
      {"connections: {j: {kind: revolute, between: [one.f, two]}}\nbodies:\n" PLANAR(
           "one", "[0, 0]", "0.2") "  two: {kind: rigid, mass: 1, inertia: [0.1, 0.2, 0.3], position: [0.3, 0.1, "
                                   "0]}\n" PROBES("j.angle", "j.angle_rate"),
       {"j.angle", "j.angle_rate"}},
  };
  (void)state;
  for (size_t k = 0; k < COUNT(cases); ++k) {
    cosim c = cosim_done(cases[k].model, NULL, 0.0);
    for (int i = 0; i < 2; ++i) {
      const char  *both[2] = {i == 0 ? "j.angle" : "j.angle_rate", i == 0 ? "j.distance" : "j.distance_rate"};
      const char  *probe = i == 0 ? "m1.a" : "m2.a", *name = cases[k].name[i];
      const double value =
          name != NULL ? cosim_value(&c, name) : cosim_value(&c, both[0]) + 2.0 * cosim_value(&c, both[1]);
      assert_true(fabs(value) > 1e-3);
      CHECK_NEAR(cosim_value(&c, probe), value, 1e-6);
    }
    cosim_close(&c);
  }
}

/* An arm with a motor at its knee, which is cut, and a mass that follows the knee. */
#define KNEE                                                                                                           \
  "yoke: 1\n"                                                                                                          \
  "gravity: [0, -9.81, 0]\n"                                                                                           \
  "t_end: 0.3\n"                                                                                                       \
  "bodies:\n"                                                                                                          \
  "  upper: {kind: planar, mass: 1, inertia: 0.1, position: [0.5, 0], frames: {top: [-0.5, 0], tip: [0.5, 0]}}\n"      \
  "  fore: {kind: planar, mass: 1, inertia: 0.1, position: [1, 0.5], angle: 90 deg, frames: {top: [-0.5, 0]}}\n"       \
  "  c: {kind: mass1d, mass: 1.5, x: 0.3, v: 0.5}\n"                                                                   \
  "connections:\n"                                                                                                     \
  "  shoulder: {kind: revolute, between: [ground, upper.top]}\n"                                                       \
  "  knee: {kind: revolute, between: [upper.tip, fore.top]}\n"                                                         \
  "  muscle: {kind: torsion-spring, between: [upper, fore], free_angle: 0, law: 10*x + c.x*knee.angle}\n"              \
  "  far: {kind: spring-damper, between: [c, ground], free_length: 0, law: 80*x - 5*knee.angle}\n"                     \
  "loads:\n"                                                                                                           \
  "  motor: {kind: expression, on: fore, torque: -20*knee.angle - 1*knee.angle_rate}\n"                                \
  "  back: {kind: expression, on: upper, torque: 20*knee.angle + 1*knee.angle_rate}\n"                                 \
  "split: {p: [upper], q: [fore], r: [c]}\n"                                                                           \
  "cosimulation: {step: 0.002, order: 1, scheme: semi-implicit, start: exact}\n"                                       \
  "solvers: {default: {kind: radau5, rtol: 1e-10, atol: 1e-12}}\n"

static void loads_and_laws_read_a_cut_joint_in_every_scheme_that_its_joint_allows(void **state) {
  static const struct {
    const char *scheme;
    int         order;
    double      expected; /* of the joint, which signals do not lower */
  } cases[] = {{"semi-implicit", 0, 1.0}, {"semi-implicit", 1, 2.0}, {"semi-implicit", 2, 2.0}, {"implicit", 0, 1.0},
               {"implicit", 1, 2.0},      {"implicit", 2, 2.0},      {"explicit", 1, 2.0}};
  (void)state;
  for (size_t k = 0; k < COUNT(cases); ++k) {
    static const char *const names[] = {"fore.angle", "c.x"};
    double                   errors[2][2];
    for (int i = 0; i < 2; ++i) {
      char sets[200];
      snprintf(sets, sizeof sets, "cosimulation.scheme=%s;cosimulation.order=%d;cosimulation.step=%g", cases[k].scheme,
               cases[k].order, 0.002 / (1 << i));
      for (int j = 0; j < 2; ++j) errors[j][i] = cosim_error(KNEE, sets, names[j]);
    }
    for (int j = 0; j < 2; ++j)
      if (!(log2(errors[j][0] / errors[j][1]) > cases[k].expected - 0.35))
        fail_msg("%s, order %d: %s has errors %.3g, %.3g", cases[k].scheme, cases[k].order, names[j], errors[j][0],
                 errors[j][1]);
  }
}

static void step_control_follows_a_cut_joint_that_is_read(void **state) {
  (void)state;
  CHECK_BELOW(cosim_error(KNEE, "cosimulation.step={rtol: 1e-6};cosimulation.start=ramp", "c.x"), 2e-5);
  CHECK_BELOW(cosim_error(KNEE, "cosimulation.step={rtol: 1e-6};cosimulation.start=ramp", "fore.angle"), 2e-5);
}

static void an_event_of_a_cut_joint_is_found_where_the_whole_model_has_it(void **state) {
  static const char model[] = KNEE "events: {bent: {when: knee.angle - 1.2, direction: falling, action: stop}}\n";
  (void)state;
  const double split = cosim_event_time(model, false), whole = cosim_event_time(model, true);
  assert_true(whole > 0.01 && whole < 0.3);
  CHECK_NEAR(split, whole, 1e-5);
}

/* At 0 what is read of the other body would have no angle. */
static void expressions_that_have_no_value_at_0_start_where_the_model_is(void **state) {
  static const char model[] = "yoke: 1\nt_end: 0.1\n"
                              "bodies: {a: {kind: mass1d, mass: 1}, b: {kind: mass1d, mass: 1, x: 2}}\n"
                              "connections: {s: {kind: spring-damper, between: [ground, b], stiffness: 10}}\n"
                              "loads: {p: {kind: expression, on: a, force: 1/b.x}}\n"
                              "split: {p: [a], q: [b]}\ncosimulation: {step: 0.01}\n";
  (void)state;
  CHECK_BELOW(cosim_error(model, NULL, "a.v"), 1e-5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_cut_law_reads_the_model_with_the_order_of_its_coupling_in_every_scheme),
      cmocka_unit_test(what_a_cut_law_reads_is_continued_by_every_predictor_and_sequence),
      cmocka_unit_test(a_cut_law_that_reads_the_model_keeps_to_the_tolerance_of_step_control),
      cmocka_unit_test(tangents_and_differences_of_a_cut_law_agree),
      cmocka_unit_test(force_deflection_and_energy_of_a_cut_law_are_those_of_the_whole),
      cmocka_unit_test(laws_of_ropes_and_torsion_springs_read_frames_joints_and_bodies_in_space),
      cmocka_unit_test(a_law_at_a_chain_reads_masses_of_other_pieces),
      cmocka_unit_test(an_input_that_jumps_is_felt_by_a_cut_law_at_once),
      cmocka_unit_test(decompositions_and_extensions_that_such_a_law_cannot_have_are_refused),
      cmocka_unit_test(coordinates_of_cut_joints_are_what_their_outputs_are),
      cmocka_unit_test(loads_and_laws_read_a_cut_joint_in_every_scheme_that_its_joint_allows),
      cmocka_unit_test(step_control_follows_a_cut_joint_that_is_read),
      cmocka_unit_test(an_event_of_a_cut_joint_is_found_where_the_whole_model_has_it),
      cmocka_unit_test(expressions_that_have_no_value_at_0_start_where_the_model_is),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
