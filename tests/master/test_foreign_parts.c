/* Subsystems of their own in a plan: a model with them is what its native twin is, and every mistake is named. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/cosimulate.h"
#include "../user/types.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static const unsigned all_abilities = MASS_REPEAT | MASS_INSTANT | MASS_RESPONSE | MASS_ENERGY;

/* A native mass on a spring to a user's one; the twin is native. */
#define BODY_A "  a: {kind: mass1d, mass: 1, v: 1}\n"
#define SETTINGS                                                                                                       \
  "cosimulation: {step: 0.002, order: 2, scheme: implicit}\n"                                                          \
  "solvers: {default: {kind: dop853, rtol: 1e-11, atol: 1e-13}}\n"
#define WALL_A "  wa: {kind: spring-damper, between: [ground, a], stiffness: 100, damping: 1}\n"
#define OWN(joint)                                                                                                     \
  "yoke: 1\nt_end: 0.3\nbodies:\n" BODY_A "subsystems:\n"                                                              \
  "  b: {kind: user, type: mass, parameters: {mass: 2, stiffness: 80, damping: 2, v: -1}, ports: {end: line}}\n"       \
  "connections:\n" WALL_A "  j: " joint "\n" SETTINGS
#define TWIN(joint)                                                                                                    \
  "yoke: 1\nt_end: 0.3\nbodies:\n" BODY_A "  b: {kind: mass1d, mass: 2, v: -1}\n"                                      \
  "connections:\n" WALL_A "  wb: {kind: spring-damper, between: [ground, b], stiffness: 80, damping: 2}\n"             \
  "  j: " joint "\n" SETTINGS
#define SPRING(end) "{kind: spring-damper, between: [a, " end "], stiffness: 300, damping: 3}"
#define RIGID(end) "{kind: fixed, between: [a, " end "]}"

/* Two native masses that nothing joins, and a user's gain: in and out are given. */
#define GAIN(in, more)                                                                                                 \
  "yoke: 1\nt_end: 0.3\ninputs: {pull: 2 N}\n"                                                                         \
  "bodies: {a: {kind: mass1d, mass: 1, v: 1}, b: {kind: mass1d, mass: 2, x: 0.1}}\n"                                   \
  "connections:\n" WALL_A "  wb: {kind: spring-damper, between: [ground, b], stiffness: 50}\n"                         \
  "subsystems: {g: {kind: user, type: gain, parameters: {k: -3}, inputs: {in: " in "}, outputs: {out: N}}}\n"          \
  "loads: {f: {kind: expression, on: a, force: g.out}}\n" more SETTINGS

static void add_types(cosim *c, const unsigned *can) {
  const yoke_user_type mass = mass_type(can), gain = gain_type();
  assert_int_equal(yoke_context_add_type(c->ctx, &mass), YOKE_OK);
  assert_int_equal(yoke_context_add_type(c->ctx, &gain), YOKE_OK);
}

static yoke_status open_with(cosim *c, const char *model, const char *sets, const unsigned *can) {
  cosim_load(c, model, sets);
  cosim_expect(c, YOKE_OK);
  add_types(c, can);
  return cosim_start(c, false, NULL);
}

static cosim done_with(const char *model, const char *sets, const unsigned *can) {
  cosim c;
  open_with(&c, model, sets, can);
  cosim_run(&c, 0.0, NULL, NULL);
  cosim_expect(&c, YOKE_OK);
  return c;
}

static void compare(const char *own, const char *twin, const char *sets, const char *name, const char *twin_name,
                    double tolerance) {
  cosim c = done_with(own, sets, &all_abilities), whole = cosim_done_monolithic(twin, NULL, 0.0);
  CHECK_NEAR(cosim_value(&c, name), cosim_value(&whole, twin_name), tolerance);
  cosim_close(&c);
  cosim_close(&whole);
}

/* Planning fails, and the first message has this part. */
static void refused(const char *model, const char *sets, const char *part) {
  cosim c;
  open_with(&c, model, sets, &all_abilities);
  cosim_expect(&c, YOKE_E_MODEL);
  if (strstr(yoke_context_message(c.ctx, 0), part) == NULL)
    fail_msg("'%s' is not in: %s", part, yoke_context_message(c.ctx, 0));
  cosim_close(&c);
}

/* ---- ports ---- */

static void a_mass_of_a_user_takes_part_by_a_spring(void **state) {
  (void)state;
  compare(OWN(SPRING("b.end")), TWIN(SPRING("b")), NULL, "a.x", "a.x", 1e-6);
  compare(OWN(SPRING("b.end")), TWIN(SPRING("b")), NULL, "b.end.v", "b.v", 1e-5);
  compare(OWN(SPRING("b.end")), TWIN(SPRING("b")), "cosimulation.scheme=explicit", "b.end.x", "b.x", 1e-4);
}

static void a_mass_of_a_user_takes_part_by_a_rigid_joint(void **state) {
  static const char own[] = OWN(RIGID("b.end")), twin[] = TWIN(RIGID("b"));
  (void)state;
  compare(own, twin, "subsystems.b.parameters.v=1", "a.x", "a.x", 1.0);
  cosim c     = done_with(own, "subsystems.b.parameters.v=1", &all_abilities),
        whole = cosim_done_monolithic(twin, "bodies.b.v=1", 0.0);
  CHECK_NEAR(cosim_value(&c, "a.x"), cosim_value(&whole, "a.x"), 1e-6);
  CHECK_NEAR(cosim_value(&c, "j.force[1]"), cosim_value(&whole, "j.force[1]"), 1e-2);
  cosim_close(&c);
  cosim_close(&whole);
}

/* Nor could `kinematic` prescribe a motion there. */
static void an_explicit_rigid_joint_at_a_port_of_a_user_is_refused_with_what_would_do(void **state) {
  static const char *const formulations[] = {"", ";cosimulation.couplings.formulation=stabilized-index-2"};
  (void)state;
  for (size_t k = 0; k < COUNT(formulations); ++k) {
    cosim c;
    char  sets[200];
    snprintf(sets, sizeof sets, "subsystems.b.parameters.v=1;cosimulation.scheme=explicit%s", formulations[k]);
    open_with(&c, OWN(RIGID("b.end")), sets, &all_abilities);
    assert_int_equal(c.status, YOKE_E_USAGE);
    const char *told = yoke_context_message(c.ctx, yoke_context_n_messages(c.ctx) - 1);
    assert_non_null(strstr(told, "coupling 'j': the multipliers of a rigid joint have no explicit form"));
    assert_non_null(strstr(told, "use scheme semi-implicit or implicit, or a flexible joint"));
    cosim_close(&c);
  }
}

static void the_model_is_assembled_at_the_port(void **state) {
  (void)state;
  cosim c;
  open_with(&c, OWN(RIGID("b.end")), "subsystems.b.parameters.x=0.25;subsystems.b.parameters.v=0.5", &all_abilities);
  cosim_expect(&c, YOKE_OK);
  CHECK_NEAR(cosim_value(&c, "b.end.x"), 0.25, 0.0);
  CHECK_NEAR(cosim_value(&c, "a.x"), 0.25, 1e-12);
  CHECK_NEAR(cosim_value(&c, "a.v"), 0.5, 1e-12);
  cosim_close(&c);
}

/* A frame that turns about its z axis, which lies along the inertial x axis. */
static yoke_status post_create(yoke_context *ctx, void *user, const char *name, int n_arguments,
                               const yoke_user_argument *arguments, yoke_user_instance *out) {
  static const yoke_user_port port = {"top", "frame"};
  (void)ctx, (void)user, (void)name, (void)n_arguments, (void)arguments;
  out->n_ports = 1;
  out->ports   = &port;
  return YOKE_OK;
}

static yoke_status post_output(void *self, const void *state, double t, const double *u, double *y) {
  const double half = sqrt(0.5), values[13] = {1.0, 2.0, 3.0, half, 0.0, half, 0.0, 0.0, 0.0, 0.5, 4.0, 0.0, 0.0};
  (void)self, (void)state, (void)t, (void)u;
  memcpy(y, values, sizeof values);
  memset(y + 13, 0, 6 * sizeof *y);
  return YOKE_OK;
}

static void load_post(cosim *c, const char *model) {
  yoke_user_type type = gain_type();
  type.name           = "post";
  type.create         = post_create;
  type.destroy        = NULL;
  type.output         = post_output;
  type.instant        = NULL;
  cosim_load(c, model, NULL);
  cosim_expect(c, YOKE_OK);
  assert_int_equal(yoke_context_add_type(c->ctx, &type), YOKE_OK);
}

static void coordinates_of_joints_at_a_frame_of_a_user_are_read(void **state) {
  cosim c;
  (void)state;
  load_post(&c, "yoke: 1\nt_end: 1\nassemble: true\n"
                "bodies:\n"
                "  a: {kind: rigid, mass: 1, inertia: [1, 1, 1], position: [1, 2, 3], omega: [2, 1, 0]}\n"
                "  m1: {kind: mass1d, mass: 1}\n"
                "  m2: {kind: mass1d, mass: 1}\n"
                "subsystems: {p: {kind: user, type: post, ports: {top: frame}}}\n"
                "connections: {j: {kind: cylindrical, between: [p.top, a], axis: [1, 0.2, 0]}}\n"
                "loads:\n"
                "  f1: {kind: expression, on: m1, force: 2*j.angle + j.angle_rate}\n"
                "  f2: {kind: expression, on: m2, force: j.distance + 3*j.distance_rate}\n"
                "split: {q: [a], r: [m1, m2]}\ncosimulation: {step: 0.1}\n");
  cosim_start(&c, false, NULL);
  cosim_expect(&c, YOKE_OK);
  assert_true(fabs(cosim_value(&c, "j.angle_rate")) > 0.1);
  CHECK_NEAR(cosim_value(&c, "m1.a"), 2.0 * cosim_value(&c, "j.angle") + cosim_value(&c, "j.angle_rate"), 1e-12);
  CHECK_NEAR(cosim_value(&c, "m2.a"), cosim_value(&c, "j.distance") + 3.0 * cosim_value(&c, "j.distance_rate"), 1e-12);
  cosim_close(&c);
}

static void a_body_is_assembled_at_a_frame_that_turns(void **state) {
  cosim c;
  (void)state;
  load_post(&c,
            "yoke: 1\nt_end: 1\nbodies: {a: {kind: rigid, mass: 1, inertia: [1, 1, 1], orientation: {axis: [0, 1, 0], "
            "angle: 80 deg}}}\n"
            "subsystems: {p: {kind: user, type: post, ports: {top: frame}}}\n"
            "connections: {j: {kind: fixed, between: [a, p.top]}}\ncosimulation: {step: 0.1}\n");
  c.status = yoke_plan_create(c.ctx, c.model, NULL, &c.plan);
  cosim_expect(&c, YOKE_OK);
  const yoke_body *a = &c.plan->native[0].submodel.model->bodies[0];
  CHECK_NEAR(a->position[2], 3.0, 1e-12);
  CHECK_NEAR(a->velocity[2], 0.5, 1e-12);
  CHECK_NEAR(fabs(a->orientation[2]), sqrt(0.5), 1e-12);
  CHECK_NEAR(a->omega[0], 0.0, 1e-12); /* in its own axes */
  CHECK_NEAR(a->omega[2], 4.0, 1e-12);
  cosim_close(&c);
}

static void loads_read_the_port_of_a_user(void **state) {
  static const char own[] =
      OWN(SPRING("b.end")) "loads: {f: {kind: expression, on: a, force: -30*b.end.x - b.end.v}}\n",
                    twin[] = TWIN(SPRING("b")) "loads: {f: {kind: expression, on: a, force: -30*b.x - b.v}}\n";
  (void)state;
  compare(own, twin, NULL, "a.x", "a.x", 1e-6);
}

static void loads_read_the_acceleration_of_the_port_of_a_user_and_the_force_of_its_joint(void **state) {
#define FELT(b) "loads: {f: {kind: expression, on: a, force: '-0.3*" b ".a - 0.2*j.force[1]'}}\n"
  cosim c     = done_with(OWN(RIGID("b.end")) FELT("b.end"), "subsystems.b.parameters.v=1", &all_abilities),
        whole = cosim_done_monolithic(TWIN(RIGID("b")) FELT("b"), "bodies.b.v=1", 0.0);
#undef FELT
  (void)state;
  CHECK_NEAR(cosim_value(&c, "a.x"), cosim_value(&whole, "a.x"), 1e-6);
  cosim_close(&c);
  cosim_close(&whole);
}

/* ---- signals ---- */

static void a_gain_of_a_user_is_the_load_written_out(void **state) {
  static const struct {
    const char *own, *twin;
  } cases[] = {
      {GAIN("a.x", ""), "-3*a.x"},
      {GAIN("4*sin(a.x) - a.v", ""), "-3*(4*sin(a.x) - a.v)"},
      {GAIN("a.x - 2*b.x + 0.5", "split: {p: [a], q: [b]}\n"), "-3*(a.x - 2*b.x + 0.5)"},
      {GAIN("2 + 1", ""), "-9"},
      {GAIN("pull", ""), "-3*pull"},
      {GAIN("2*pull", ""), "-6*pull"},
      {GAIN("a.x + pull", ""), "-3*(a.x + pull)"},
      {GAIN("a.x*b.x", "split: {p: [a], q: [b]}\n"), "-3*a.x*b.x"},
      {GAIN("a.v/b.x*t + pull", "split: {p: [a], q: [b]}\n"), "-3*(a.v/b.x*t + pull)"},
      {GAIN("speed", "outputs: {speed: 2*twice, twice: a.v + 0}\n"), "-6*a.v"},
  };
  (void)state;
  for (size_t k = 0; k < COUNT(cases); ++k) {
    char sets[200];
    snprintf(sets, sizeof sets, "loads.f={kind: expression, on: a, force: \"%s\"}", cases[k].twin);
    static const char twin[] =
        "yoke: 1\nt_end: 0.3\ninputs: {pull: 2 N}\n"
        "bodies: {a: {kind: mass1d, mass: 1, v: 1}, b: {kind: mass1d, mass: 2, x: 0.1}}\n"
        "connections:\n" WALL_A "  wb: {kind: spring-damper, between: [ground, b], stiffness: 50}\n"
        "loads: {f: {kind: constant, on: a, force: 0}}\n" SETTINGS;
    cosim c = done_with(cases[k].own, NULL, &all_abilities), whole = cosim_done_monolithic(twin, sets, 0.0);
    CHECK_NEAR(cosim_value(&c, "a.x"), cosim_value(&whole, "a.x"), 1e-6);
    cosim_close(&c);
    cosim_close(&whole);
  }
}

/* A joint that the split cuts, and what a user makes of its coordinate, beside the same as loads. */
#define HINGES                                                                                                         \
  "yoke: 1\nt_end: 0.2\ngravity: [0, -9.81, 0]\nbodies:\n"                                                             \
  "  u: {kind: planar, mass: 1, inertia: 0.1, position: [0.5, 0], frames: {top: [-0.5, 0], tip: [0.5, 0]}}\n"          \
  "  l: {kind: rigid, mass: 1, inertia: [0.1, 0.2, 0.1], position: [1.5, 0, 0], frames: {top: [-0.5, 0, 0]}}\n"        \
  "connections:\n"                                                                                                     \
  "  root: {kind: revolute, between: [ground, u.top]}\n"                                                               \
  "  knee: {kind: revolute, between: [u.tip, l.top]}\n"                                                                \
  "split: {p: [u], q: [l]}\n"                                                                                          \
  "cosimulation: {step: 0.001, scheme: implicit}\nsolvers: {default: {rtol: 1e-9}}\n"

static void an_input_of_a_user_reads_the_angle_of_a_cut_joint(void **state) {
  static const char own[] = HINGES
      "inputs: {pull: 2}\n"
      "subsystems: {g: {kind: user, type: gain, parameters: {k: -3}, inputs: {in: knee.angle*pull + knee.angle_rate}, "
      "outputs: {out: N}}}\n"
      "loads: {f: {kind: expression, on: u, torque: g.out}}\n",
                    twin[] =
                        HINGES "loads: {f: {kind: expression, on: u, torque: -3*(2*knee.angle + knee.angle_rate)}}\n";
  (void)state;
  compare(own, twin, "cosimulation.step=0.0005", "u.angle", "u.angle", 2e-6);
  cosim c = done_with(own, NULL, &all_abilities);
  CHECK_NEAR(cosim_value(&c, "g.out"),
             -3.0 * (2.0 * cosim_value(&c, "knee.angle") + cosim_value(&c, "knee.angle_rate")), 1e-6);
  cosim_close(&c);
}

static void an_input_of_a_user_reads_the_force_of_a_cut_joint(void **state) {
  static const char joined[] = "connections.k={kind: fixed, between: [a, b]};bodies.b={kind: mass1d, mass: 2, v: 1}";
  char              sets[300];
  cosim             c = done_with(GAIN("'0.1*k.force[1]'", "split: {p: [a], q: [b]}\n"), joined, &all_abilities);
  snprintf(sets, sizeof sets, "%s;subsystems={};loads.f.force='-0.3*k.force[1]'", joined);
  cosim whole = cosim_done_monolithic(GAIN("0", ""), sets, 0.0);
  (void)state;
  CHECK_NEAR(cosim_value(&c, "a.x"), cosim_value(&whole, "a.x"), 1e-6);
  cosim_close(&c);
  cosim_close(&whole);
}

static void an_input_of_the_model_that_is_set_reaches_a_user_through_its_expression_at_once(void **state) {
  cosim c;
  (void)state;
  open_with(&c, GAIN("a.x + 5*pull", ""), NULL, &all_abilities);
  cosim_expect(&c, YOKE_OK);
  assert_int_equal(yoke_system_run(c.system, 0.1, NULL, &c.summary, c.ctx), YOKE_OK);
  assert_int_equal(yoke_system_set_inputs(c.system, 1, &(int){0}, &(double){7.0}, c.ctx), YOKE_OK);
  CHECK_NEAR(cosim_value(&c, "g.out"), -3.0 * (cosim_value(&c, "a.x") + 35.0), 1e-9);
  cosim_close(&c);
}

static void outputs_of_users_have_names_and_units(void **state) {
  yoke_output out;
  (void)state;
  cosim c = done_with(GAIN("a.x", "outputs: {twice: 2*g.out}\n"), NULL, &all_abilities);
  CHECK_NEAR(cosim_value(&c, "g.out"), -3.0 * cosim_value(&c, "a.x"), 1e-7);
  CHECK_NEAR(cosim_value(&c, "twice"), 2.0 * cosim_value(&c, "g.out"), 1e-12);
  assert_int_equal(yoke_plan_find_output(c.ctx, c.plan, "g.outt", &out), YOKE_E_USAGE);
  assert_non_null(strstr(yoke_context_message(c.ctx, yoke_context_n_messages(c.ctx) - 1), "did you mean 'g.out'?"));
  for (int i = 0; i < c.plan->outputs.n; ++i) {
    if (strcmp(c.plan->outputs.name[i], "g.out") == 0) assert_string_equal(c.plan->outputs.unit[i], "N");
  }
  cosim_close(&c);
}

static void what_an_input_cannot_read_is_refused(void **state) {
  static const struct {
    const char *model, *part;
  } cases[] = {
      {GAIN("sin(t)", ""), "found 'sin(t)', an expression of t alone: the subsystem knows the time itself"},
      {GAIN("g.out", ""), "found 'g.out', an output of the same subsystem"},
      {GAIN("a.y", ""), "found 'a.y', expected the name of an output; did you mean 'a."},
  };
  (void)state;
  for (size_t k = 0; k < COUNT(cases); ++k) refused(cases[k].model, NULL, cases[k].part);
  refused("yoke: 1\nt_end: 1\ninputs: {pull: 2}\nsubsystems:\n"
          "  g: {kind: user, type: gain, parameters: {k: 1}, inputs: {in: 1}, outputs: {out: N}}\n"
          "  h: {kind: user, type: gain, parameters: {k: 1}, inputs: {in: g.out*pull}, outputs: {out: N}}\n" SETTINGS,
          NULL, "found 'g.out*pull', which makes something of several subsystems or inputs of the model");
  refused(GAIN("total.energy", ""), NULL,
          "'total.energy' does not exist: subsystem 'g' does not account for its energy");
  refused(GAIN("s.force[1]", "split: {p: [a], q: [b]}\n"),
          "connections.s={kind: spring-damper, between: [a, b], stiffness: 3}",
          "found 's.force[1]', which lies between two subsystems");
}

/* ---- the model and the type ---- */

static void a_type_that_is_not_there_or_is_another_is_named(void **state) {
  static const char own[] = OWN(SPRING("b.end")), gain[] = GAIN("a.x", "");
  (void)state;
  refused(own, "subsystems.b.type=maas",
          "no type 'maas' is known for subsystem 'b': load the plugin that has it (--plugin "
          "FILE), or register it (yoke_context_add_type); known are 'mass', 'gain'");
  refused(own, "subsystems.b.parameters.mas=1", "mas");
  refused(gain, "subsystems.g.ports={end: line}", "subsystem 'g' names port 'end', but its type 'gain' has none");
  refused(gain, "subsystems.g.outputs=[out, more]", "subsystem 'g' names output 'more', but its type 'gain' has 'out'");
  refused(gain, "subsystems.g.inputs={inn: a.x}", "subsystem 'g' names input 'inn', but its type 'gain' has 'in'");
  refused(gain, "subsystems.g.inputs={}",
          "type 'gain' of subsystem 'g' has an input 'in', which the model does not name: write what it reads");
  refused("yoke: 1\nt_end: 1\nbodies:\n" BODY_A "subsystems: {b: {kind: user, type: mass, ports: {end: point}}}\n"
          "cosimulation: {step: 0.1}\n",
          NULL, "port 'end' of subsystem 'b' is written with the shape 'point', but its type 'mass' makes it 'line'");
  refused("yoke: 1\nt_end: 1\nbodies:\n" BODY_A
          "subsystems: {b: {kind: user, type: mass}}\ncosimulation: {step: 0.1}\n",
          NULL, "type 'mass' of subsystem 'b' has a port 'end', which the model does not name");
}

static void a_model_with_subsystems_of_their_own_has_no_whole_run(void **state) {
  cosim c;
  (void)state;
  cosim_load(&c, OWN(SPRING("b.end")), NULL);
  cosim_start(&c, true, NULL);
  cosim_expect(&c, YOKE_E_MODEL);
  assert_non_null(strstr(yoke_context_message(c.ctx, 0), "'b' is a subsystem of its own; run it without --monolithic"));
  cosim_close(&c);
}

static void an_exact_start_is_refused_beside_users(void **state) {
  (void)state;
  refused(OWN(SPRING("b.end")), "cosimulation.start=exact",
          "start exact: subsystem 'b' cannot be integrated backwards from its start");
}

static void a_plan_to_look_at_needs_no_types(void **state) {
  static const char *const models[] = {OWN(SPRING("b.end")), OWN(RIGID("b.end")), GAIN("a.x", ""),
                                       GAIN("a.x - b.x", "split: {p: [a], q: [b]}\n")};
  (void)state;
  for (size_t k = 0; k < COUNT(models); ++k) {
    const yoke_plan_options options = {.is_dry = true};
    cosim                   c;
    cosim_load(&c, models[k], NULL);
    c.status = yoke_plan_create(c.ctx, c.model, &options, &c.plan);
    cosim_expect(&c, YOKE_OK);
    assert_non_null(strstr(yoke_context_message(c.ctx, 0), "is not loaded here, what it does is not looked at"));
    c.status = yoke_system_create(c.ctx, c.plan, NULL, &c.system);
    cosim_expect(&c, YOKE_OK);
    cosim_close(&c);
  }
}

/* ---- events, energies, bytes ---- */

static void note_event(void *user, int event, double t) {
  (void)event;
  *(double *)user = t;
}

static void events_of_users_are_events_of_the_run(void **state) {
  static const unsigned acts = MASS_REPEAT | MASS_EVENTS, can = MASS_REPEAT | MASS_EVENTS | MASS_RECORDS;
  double                t    = NAN;
  const yoke_sink       sink = {.user = &t, .event = note_event};
  cosim                 c;
  (void)state;
  open_with(&c, OWN(SPRING("b.end")), "subsystems.b.parameters.level=-0.02", &can);
  cosim_expect(&c, YOKE_OK);
  assert_int_equal(c.plan->n_events, 1);
  assert_string_equal(c.plan->events[0].name, "b.passes");
  assert_false(c.plan->events[0].sets);
  c.status = yoke_system_run(c.system, 0.07, &sink, &c.summary, c.ctx);
  cosim_expect(&c, YOKE_OK);
  assert_true(t > 0.02 && t < 0.03);
  cosim_close(&c);
  open_with(&c, OWN(SPRING("b.end")), NULL, &acts);
  assert_true(c.plan->events[0].sets);
  cosim_close(&c);
}

static void energies_are_there_where_all_subsystems_tell_theirs(void **state) {
  static const unsigned silent = MASS_REPEAT;
  (void)state;
  cosim c = done_with(OWN(SPRING("b.end")), "output.select=[total.energy];cosimulation.energy=monitor", &all_abilities);
  CHECK_NEAR(c.summary.energy_drift, 0.0, 1e-3);
  cosim_close(&c);
  open_with(&c, OWN(SPRING("b.end")), "output.select=[total.energy]", &silent);
  cosim_expect(&c, YOKE_E_MODEL);
  assert_non_null(strstr(yoke_context_message(c.ctx, 0), "subsystem 'b' does not account for its energy"));
  cosim_close(&c);
  c = done_with(OWN(SPRING("b.end")), NULL, &silent); /* nobody asks */
  cosim_close(&c);
}

static void bytes_belong_to_the_parameters_of_a_user(void **state) {
  cosim     a, b;
  yoke_pack pack = {0};
  (void)state;
  open_with(&a, OWN(SPRING("b.end")), NULL, &all_abilities);
  open_with(&b, OWN(SPRING("b.end")), "subsystems.b.parameters.stiffness=81", &all_abilities);
  cosim_expect(&a, YOKE_OK);
  cosim_expect(&b, YOKE_OK);
  assert_int_equal(yoke_system_save(a.system, &pack, a.ctx), YOKE_OK);
  assert_int_equal(yoke_system_restore(a.system, pack.bytes, pack.size, a.ctx), YOKE_OK);
  assert_int_equal(yoke_system_restore(b.system, pack.bytes, pack.size, b.ctx), YOKE_E_USAGE);
  assert_non_null(strstr(yoke_context_message(b.ctx, 0), "subsystems.b.parameters.stiffness"));
  yoke_pack_free(&pack);
  cosim_close(&a);
  cosim_close(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_mass_of_a_user_takes_part_by_a_spring),
      cmocka_unit_test(a_mass_of_a_user_takes_part_by_a_rigid_joint),
      cmocka_unit_test(an_explicit_rigid_joint_at_a_port_of_a_user_is_refused_with_what_would_do),
      cmocka_unit_test(the_model_is_assembled_at_the_port),
      cmocka_unit_test(a_body_is_assembled_at_a_frame_that_turns),
      cmocka_unit_test(coordinates_of_joints_at_a_frame_of_a_user_are_read),
      cmocka_unit_test(loads_read_the_port_of_a_user),
      cmocka_unit_test(loads_read_the_acceleration_of_the_port_of_a_user_and_the_force_of_its_joint),
      cmocka_unit_test(a_gain_of_a_user_is_the_load_written_out),
      cmocka_unit_test(an_input_of_a_user_reads_the_angle_of_a_cut_joint),
      cmocka_unit_test(an_input_of_a_user_reads_the_force_of_a_cut_joint),
      cmocka_unit_test(an_input_of_the_model_that_is_set_reaches_a_user_through_its_expression_at_once),
      cmocka_unit_test(outputs_of_users_have_names_and_units),
      cmocka_unit_test(what_an_input_cannot_read_is_refused),
      cmocka_unit_test(a_type_that_is_not_there_or_is_another_is_named),
      cmocka_unit_test(a_model_with_subsystems_of_their_own_has_no_whole_run),
      cmocka_unit_test(an_exact_start_is_refused_beside_users),
      cmocka_unit_test(a_plan_to_look_at_needs_no_types),
      cmocka_unit_test(events_of_users_are_events_of_the_run),
      cmocka_unit_test(energies_are_there_where_all_subsystems_tell_theirs),
      cmocka_unit_test(bytes_belong_to_the_parameters_of_a_user),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
