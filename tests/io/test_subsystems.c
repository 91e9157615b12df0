/* Inputs of a model and subsystems of their own in its file: what is read, and every mistake with its message. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "check.h"
#include "loaded.h"

#include <math.h>
#include <stdio.h>

#define HEAD                                                                                                           \
  "yoke: 1\nt_end: 1\nparameters: {g: 3, l: 2 m}\nbodies: {a: {kind: planar, mass: 1, inertia: 1}, m: {kind: mass1d, " \
  "mass: 1}}\n"
#define PUMP "  pump: {kind: user, type: gear-pump, ports: {flange: plane}}\n"

/* ---- inputs ---- */

static void inputs_are_numbers_with_units(void **state) {
  (void)state;
  loaded l =
      good(HEAD "inputs: {pull: 5 N, k: {value: 50*g, unit: N/m, description: of the spring}, way: 20 mm, n: 7}\n");
  const yoke_model_input *in = l.model->inputs;
  assert_int_equal(l.model->n_inputs, 4);
  assert_string_equal(in[0].name, "pull");
  assert_string_equal(in[0].unit, "N");
  assert_true(in[0].value == 5.0);
  assert_string_equal(in[1].unit, "N/m");
  assert_string_equal(in[1].description, "of the spring");
  assert_true(in[1].value == 150.0);
  assert_string_equal(in[2].unit, "m");
  assert_true(fabs(in[2].value - 0.02) < 1e-15);
  assert_string_equal(in[3].unit, "");
  release(&l);
}

static void loads_laws_events_and_outputs_read_inputs_by_name(void **state) {
  (void)state;
  loaded l = good(HEAD "inputs: {pull: 5 N, k: 100}\n"
                       "connections: {s: {kind: spring-damper, between: [ground, m], law: k*x}}\n"
                       "loads: {f: {kind: expression, on: m, force: 2*pull}}\n"
                       "events: {e: {when: m.x - pull}}\n"
                       "outputs: {twice: 2*pull}\n");
  assert_non_null(l.model->connections[0].formula);
  const yoke_expression *e = l.model->loads[0].value[0];
  const yoke_variable   *v = &l.model->variables[yoke_expression_variables(e)[0] - 1];
  assert_int_equal(v->kind, YOKE_VARIABLE_INPUT);
  assert_int_equal(v->object, 0);
  assert_string_equal(l.model->references[0].name, "pull");
  release(&l);
}

static void an_override_sets_an_input_and_leaves_its_unit(void **state) {
  (void)state;
  static const char *const set[] = {"inputs.pull=7", "inputs.k=8"}, *const wrong[] = {"inputs.pul=7"};
  static const char text[] = HEAD "inputs: {pull: 5 N, k: {value: 100, unit: N/m}}\n";
  loaded            l      = load_set(text, 2, set);
  assert_int_equal(l.status, YOKE_OK);
  assert_true(l.model->inputs[0].value == 7.0 && l.model->inputs[1].value == 8.0);
  assert_string_equal(l.model->inputs[1].unit, "N/m");
  release(&l);
  bad_set(text, 1, wrong, "--set inputs.pul=7: found 'pul', expected a name below 'inputs'; did you mean 'pull'?");
}

static void the_stored_text_has_inputs_and_subsystems(void **state) {
  (void)state;
  static const char *const set[] = {"inputs.pull=7"};
  loaded                   l     = load_set(HEAD "inputs: {pull: 5 N}\nsubsystems:\n" PUMP, 1, set);
  assert_int_equal(l.status, YOKE_OK);
  loaded again = good(l.model->text);
  assert_true(again.model->inputs[0].value == 7.0);
  assert_string_equal(again.model->foreigns[0].type, "gear-pump");
  release(&again);
  release(&l);
}

static void mistakes_in_inputs_are_found(void **state) {
  (void)state;
  static const struct {
    const char *text, *part;
  } list[] = {
      {"inputs: {g: 5}\n", "m.yaml:5:10: key 'inputs.g': found the name 'g' of a parameter, expected another name"},
      {"inputs: {t: 5}\n", "found the name 't', which has a meaning of its own"},
      {"inputs: {a: 5}\n", "found the name 'a' of a body, expected another name"},
      {"inputs: {x: {unit: N}}\n", "key 'inputs.x.value': found nothing, expected the number at the start"},
      {"inputs: {x: {value: 5, unti: N}}\n",
       "found an unknown key, expected one of: value, unit, description, count; did you mean 'unit'?"},
      {"inputs: {x: {value: 5, unit: mm}}\n", "key 'inputs.x.unit': found 'mm', expected an SI unit (m)"},
      {"inputs: {x: {value: 5 N, unit: m}}\n", "found 'm', expected the unit of the value, kg m s^-2"},
      {"inputs: {x: [5]}\n", "expected an expression, or a map"},
      {"inputs: {x: y}\n", "key 'inputs.x': found 'y'"},
      {"inputs: {x: m.x}\n", "found 'm.x', a quantity of the model, expected a number"},
      {"inputs: {pull: 5}\noutputs: {pull: m.x}\n", "found the name 'pull' of an input, expected another name"},
      {"inputs: {pull: 5}\nloads: {f: {kind: expression, on: m, force: 2*pul}}\n", "did you mean 'pull'?"},
      {"inputs: {pull: 5}\nevents: {e: {when: m.x, set: {pull: 3}}}\n", "found 'pull', expected a state of a body"},
  };
  for (size_t k = 0; k < sizeof list / sizeof *list; ++k) {
    char text[2000];
    snprintf(text, sizeof text, HEAD "%s", list[k].text);
    bad(text, list[k].part);
  }
}

/* ---- subsystems ---- */

static void a_subsystem_says_what_it_takes_and_shows(void **state) {
  (void)state;
  loaded l =
      good(HEAD "inputs: {pull: 5 N}\n"
                "outputs: {speed: \"hypot(a.vx, a.vy)\"}\n"
                "subsystems:\n"
                "  controller:\n"
                "    kind: user\n"
                "    type: pd-controller\n"
                "    parameters: {kp: 20*g, kd: 4 N*s/m, mode: fast, file: \"a/b.txt\", word: two-words, turn: pi}\n"
                "    inputs: {angle: a.angle, speed: 2*speed, pull: pull}\n"
                "    outputs: {torque: N m, raw: }\n"
                "  pump: {kind: user, type: gear-pump, ports: {flange: plane, shaft: line}, outputs: [flow]}\n"
                "loads: {f: {kind: expression, on: a, torque: controller.torque + pump.flow}}\n");
  assert_int_equal(l.model->n_foreigns, 2);
  const yoke_foreign *c = &l.model->foreigns[0], *p = &l.model->foreigns[1];
  assert_string_equal(c->kind, "user");
  assert_string_equal(c->type, "pd-controller");
  assert_int_equal(c->n_arguments, 6);
  assert_null(c->arguments[0].text);
  assert_true(c->arguments[0].value == 60.0);
  assert_string_equal(c->arguments[2].text, "fast");
  assert_string_equal(c->arguments[3].text, "a/b.txt");
  assert_string_equal(c->arguments[4].text, "two-words");
  assert_true(fabs(c->arguments[5].value - acos(-1.0)) < 1e-15);
  assert_int_equal(c->n_inputs, 3);
  assert_string_equal(c->inputs[1].name, "speed");
  assert_int_equal(yoke_expression_n_variables(c->inputs[1].value), 2); /* the output is put in its place */
  assert_string_equal(c->outputs[0].unit, "N m");
  assert_string_equal(c->outputs[1].unit, "");
  assert_int_equal(p->n_ports, 2);
  assert_ptr_equal(p->ports[0].shape, &yoke_shape_plane);
  const yoke_body *flange = &l.model->bodies[p->ports[0].body];
  assert_string_equal(flange->name, "pump.flange");
  assert_int_equal(flange->kind, YOKE_BODY_PLANAR);
  const yoke_variable *v = &l.model->variables[0];
  assert_int_equal(v->kind, YOKE_VARIABLE_FOREIGN);
  assert_int_equal(v->object, 0);
  release(&l);
}

static void bodies_beside_subsystems_are_one_part(void **state) {
  (void)state;
  loaded l = good(HEAD "subsystems:\n" PUMP);
  assert_int_equal(l.model->n_parts, 2);
  assert_string_equal(l.model->parts[0].name, "model");
  assert_int_equal(l.model->parts[0].n_bodies, 2);
  assert_true(l.model->parts[1].is_foreign);
  assert_int_equal(l.model->foreigns[0].part, 1);
  assert_string_equal(l.model->bodies[l.model->parts[1].bodies[0]].name, "pump.flange");
  release(&l);
}

static void a_split_stands_beside_subsystems(void **state) {
  (void)state;
  loaded l = good(HEAD "subsystems:\n" PUMP "split: {one: [a], two: [\"*m*\"]}\n"
                       "cosimulation: {step: 0.1, subsystems: {pump: {jacobian: finite-difference}}}\n");
  assert_int_equal(l.model->n_parts, 3);
  assert_string_equal(l.model->parts[2].name, "pump");
  assert_int_equal(l.model->parts[1].n_bodies, 1);
  assert_int_equal(l.model->parts[2].given.n, 1);
  release(&l);
}

static bool model_has_part(const yoke_model *m, const char *name) {
  for (int k = 0; k < m->n_parts; ++k) {
    if (strcmp(m->parts[k].name, name) == 0) return true;
  }
  return false;
}

static void assemblies_and_counts_have_subsystems_with_their_names(void **state) {
  (void)state;
  loaded l = good("yoke: 1\nt_end: 1\n"
                  "assemblies:\n"
                  "  leg:\n"
                  "    inputs: {pull: 5 N}\n"
                  "    bodies: {m: {kind: mass1d, mass: 1}}\n"
                  "    subsystems: {motor: {kind: user, type: motor, ports: {rod: line}, inputs: {x: m.x, u: pull}, "
                  "outputs: [f]}}\n"
                  "    loads: {f: {kind: expression, on: m, force: motor.f + pull}}\n"
                  "    connections: {s: {kind: spring-damper, between: [m, motor.rod], stiffness: 3}}\n"
                  "instances: {left: {of: leg}, right: {of: leg}}\n"
                  "subsystems: {pump: {kind: user, type: pump, count: 2, parameters: {n: i}}}\n");
  assert_int_equal(l.model->n_foreigns, 4);
  assert_true(model_has_part(l.model, "right.motor"));
  assert_true(model_has_part(l.model, "pump[2]"));
  assert_string_equal(l.model->inputs[1].name, "right.pull");
  release(&l);
}

static void mistakes_in_subsystems_are_found(void **state) {
  (void)state;
  static const struct {
    const char *text, *part;
  } list[] = {
      {"subsystems: {p: {type: x}}\n", "key 'subsystems.p.kind': found nothing, expected a kind: user"},
      {"subsystems: {p: {kind: usr, type: x}}\n", "found 'usr', expected one of: user; did you mean 'user'?"},
      {"subsystems: {p: {kind: user}}\n", "key 'subsystems.p.type': found a map, expected the name of a type"},
      {"subsystems: {p: {kind: user, type: x, prots: {a: line}}}\n",
       "key 'subsystems.p.prots': found an unknown key, expected one of: kind, type, parameters, ports, inputs, "
       "outputs, count; did you mean 'ports'?"},
      {"subsystems: {p: {kind: user, type: x, ports: {a: lien}}}\n",
       "key 'subsystems.p.ports.a': found 'lien', expected one of: line, plane, point, frame; did you mean 'line'?"},
      {"subsystems: {p: {kind: user, type: x, ports: {a: signal}}}\n",
       "found 'signal', expected one of: line, plane, point, frame"},
      {"subsystems: {p: {kind: user, type: x, outputs: [a, a]}}\n",
       "found a second 'a', expected different names of ports and outputs"},
      {"subsystems: {p: {kind: user, type: x, ports: {a: line}, outputs: [a]}}\n", "found a second 'a'"},
      {"subsystems: {p: {kind: user, type: x, outputs: torque}}\n",
       "found 'torque', expected a list of names, or a map"},
      {"subsystems: {p: {kind: user, type: x, parameters: {k: 2*unknown}}}\n",
       "key 'subsystems.p.parameters.k': found '2*unknown'"},
      {"subsystems: {p: {kind: user, type: x, parameters: {k: [1, 2]}}}\n", "expected a number or a text"},
      {"subsystems: {p: {kind: user, type: x, inputs: {u: b.x}}}\n", "key 'subsystems.p.inputs.u': found 'b.x'"},
      {"subsystems: {a: {kind: user, type: x}}\n", "found the name 'a' of a body, expected another name"},
      {"subsystems: {s: {kind: user, type: x}}\nconnections: {s: {kind: spring-damper, between: [ground, m], "
       "stiffness: 1}}\n",
       "found the name 's' of a subsystem"},
      {"subsystems:\n" PUMP "split: {pump: [a, m]}\n", "found a second subsystem 'pump', expected different names"},
      {"subsystems:\n" PUMP "split: {one: [a, m, pump.flange]}\n",
       "found 'pump.flange', a port of subsystem 'pump', expected bodies of the model"},
      {"subsystems: {model: {kind: user, type: x}}\n", "found a second subsystem 'model'"},
      {"subsystems:\n" PUMP "loads: {f: {kind: constant, on: pump.flange, force: [1, 0]}}\n",
       "found a port of subsystem 'pump', which feels its connections only"},
      {"subsystems:\n" PUMP "frames: {pump.flange: {tip: [1, 0]}}\n",
       "found frames of 'pump.flange', a port of subsystem 'pump'"},
      {"subsystems:\n" PUMP "events: {e: {when: a.x, set: {pump.flange.vx: 0}}}\n",
       "found 'pump.flange.vx', which only subsystem 'pump' itself can set"},
      {"subsystems:\n" PUMP "connections: {s: {kind: revolute, between: [ground, pump.flange]}}\n",
       "found a port of subsystem 'pump' and the ground, expected a body"},
      {"subsystems:\n" PUMP "solvers: {pump: bdf}\n", "found a solver for a subsystem that steps itself"},
      {"subsystems:\n" PUMP "cosimulation: {subsystems: {pmp: {jacobian: tangent}}}\n",
       "found the name of no subsystem, expected a name below 'split' or 'subsystems'"},
      {"subsystems:\n" PUMP "loads: {f: {kind: expression, on: a, torque: pump.torque}}\n", "'pump.torque'"},
      {"subsystems: {p: {kind: user, type: x, outputs: [f]}}\nconnections: {s: {kind: revolute, between: [ground, a], "
       "motion: p.f}}\n",
       "found 'p.f', a quantity of the model, expected an expression of t alone"},
  };
  for (size_t k = 0; k < sizeof list / sizeof *list; ++k) {
    char text[2000];
    snprintf(text, sizeof text, HEAD "%s", list[k].text);
    bad(text, list[k].part);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inputs_are_numbers_with_units),
      cmocka_unit_test(loads_laws_events_and_outputs_read_inputs_by_name),
      cmocka_unit_test(an_override_sets_an_input_and_leaves_its_unit),
      cmocka_unit_test(the_stored_text_has_inputs_and_subsystems),
      cmocka_unit_test(mistakes_in_inputs_are_found),
      cmocka_unit_test(a_subsystem_says_what_it_takes_and_shows),
      cmocka_unit_test(bodies_beside_subsystems_are_one_part),
      cmocka_unit_test(a_split_stands_beside_subsystems),
      cmocka_unit_test(assemblies_and_counts_have_subsystems_with_their_names),
      cmocka_unit_test(mistakes_in_subsystems_are_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
