#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "check.h"
#include "loaded.h"
#include "master/macro_settings.h"

#include "io/model_file.h"
#include <yoke/model.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD "yoke: 1\nt_end: 1\n"

static loaded load_file(const char *path) {
  loaded l = {0};
  assert_int_equal(yoke_context_create(&l.ctx), YOKE_OK);
  l.status = yoke_model_file_read(l.ctx, path, NULL, &l.model);
  return l;
}

static const yoke_body *body_of(const loaded *l, const char *name) {
  const int i = yoke_model_find_body(l->model, name);
  assert_true(i >= 0);
  return &l->model->bodies[i];
}

static bool is_near(double a, double b) {
  return fabs(a - b) <= 1e-14 * (1 + fabs(b));
}

#define NEAR(a, b) assert_true(is_near(a, b))

/* ---- values ---- */

static void parameters_are_expressions_in_any_order(void **state) {
  (void)state;
  loaded l = good(HEAD "parameters: {a: 2*b + c, b: c^2, c: 30 mm}\nbodies: {p: {kind: particle, mass: a}}\n");
  NEAR(body_of(&l, "p")->mass, 2 * 0.03 * 0.03 + 0.03);
  release(&l);
}

static void a_cycle_of_parameters_is_named(void **state) {
  (void)state;
  bad(HEAD "parameters: {a: b, b: c + 1, c: 2*a}\nbodies: {p: {kind: particle, mass: 1}}\n",
      "m.yaml:3:17: key 'parameters.a': found a cycle: a -> b -> c -> a");
}

static void bodies_of_every_kind_are_read(void **state) {
  (void)state;
  loaded l = good(
      HEAD "bodies:\n"
           "  r: {kind: rigid, mass: 2, inertia: [1, 2, 2.5, 0.1, 0.2, 0.3], position: [1, 2, 3], orientation: {axis: "
           "[0, 0, 2], angle: 90 deg},\n"
           "      velocity: [4, 5, 6], omega: [7, 8, 9], keep: position}\n"
           "  p: {kind: planar, mass: 3, inertia: 0.5, position: [1, 2], angle: 30 deg, omega: 2, velocity: [1, 0]}\n"
           "  q: {kind: particle, mass: 500 g, position: [1, 2, 3]}\n"
           "  m: {kind: mass1d, mass: 1, x: 0.1, v: -2}\n"
           "  n: {kind: mass1d, mass: 1, position: 0.2, velocity: 3}\n");
  const yoke_body *r = body_of(&l, "r"), *p = body_of(&l, "p");
  const double     inertia[9] = {1, 0.1, 0.2, 0.1, 2, 0.3, 0.2, 0.3, 2.5};
  for (int k = 0; k < 9; ++k) NEAR(r->inertia[k], inertia[k]);
  NEAR(r->orientation[0], sqrt(0.5));
  NEAR(r->orientation[3], sqrt(0.5));
  NEAR(r->omega[2], 9);
  assert_true(r->fix_position);
  assert_false(r->fix_velocity);
  NEAR(p->angle, acos(-1.0) / 6);
  NEAR(p->inertia[8], 0.5);
  NEAR(p->omega[2], 2);
  NEAR(body_of(&l, "q")->mass, 0.5);
  NEAR(body_of(&l, "m")->velocity[0], -2);
  NEAR(body_of(&l, "n")->position[0], 0.2);
  release(&l);
}

static void orientations_can_be_written_in_four_ways(void **state) {
  (void)state;
  /* the same turn of 90 degrees about x */
  loaded l =
      good(HEAD "bodies:\n"
                "  a: {kind: rigid, mass: 1, inertia: [1, 1, 1], orientation: [sqrt(0.5), sqrt(0.5), 0, 0]}\n"
                "  b: {kind: rigid, mass: 1, inertia: [1, 1, 1], orientation: {axis: [3, 0, 0], angle: 90 deg}}\n"
                "  c: {kind: rigid, mass: 1, inertia: [1, 1, 1], orientation: {euler: [0, pi/2, 0]}}\n"
                "  d: {kind: rigid, mass: 1, inertia: [1, 1, 1], orientation: [90 deg, 0, 0]}\n");
  for (int b = 0; b < 4; ++b) {
    for (int k = 0; k < 4; ++k) NEAR(l.model->bodies[b].orientation[k], k < 2 ? sqrt(0.5) : 0);
  }
  release(&l);
}

static void count_makes_numbered_copies(void **state) {
  (void)state;
  loaded l = good(HEAD "parameters: {N: 4}\n"
                       "bodies: {rod: {kind: planar, count: N, mass: i, inertia: 1, position: [i/2, 0], frames: {a: "
                       "[-0.5, 0], b: [0.5, 0]}}}\n"
                       "connections: {j: {kind: revolute, count: N - 1, between: [rod[i].b, rod[i+1].a]}, base: {kind: "
                       "revolute, between: [ground, rod[1].a]}}\n");
  assert_int_equal(l.model->n_bodies, 4);
  assert_int_equal(l.model->n_connections, 4);
  NEAR(body_of(&l, "rod[3]")->mass, 3);
  const yoke_connection *c = &l.model->connections[yoke_model_find_connection(l.model, "j[2]")];
  assert_string_equal(l.model->frames[c->frame[0]].name, "rod[2].b");
  assert_string_equal(l.model->frames[c->frame[1]].name, "rod[3].a");
  release(&l);
}

static void assemblies_are_instantiated_under_a_name(void **state) {
  (void)state;
  loaded l =
      good(HEAD "parameters: {g: 3}\n"
                "assemblies:\n"
                "  leg:\n"
                "    parameters: {l: 1, half: l/2}\n"
                "    bodies: {thigh: {kind: planar, mass: l*g, inertia: 1, frames: {hip: [half, 0]}}}\n"
                "    connections: {joint: {kind: revolute, between: [trunk, thigh.hip]}}\n"
                "    loads: {push: {kind: expression, on: thigh, force: [thigh.vx + trunk.x, 0]}}\n"
                "instances: {left: {of: leg, parameters: {l: 2*g}}, right: {of: leg, count: 2, parameters: {l: i}}}\n"
                "bodies: {trunk: {kind: planar, mass: 1, inertia: 1}}\n");
  NEAR(body_of(&l, "left.thigh")->mass, 18);
  NEAR(body_of(&l, "right[1].thigh")->mass, 3);
  NEAR(body_of(&l, "right[2].thigh")->mass, 6);
  const yoke_connection *c = &l.model->connections[yoke_model_find_connection(l.model, "left.joint")];
  assert_string_equal(l.model->frames[c->frame[1]].name, "left.thigh.hip");
  NEAR(l.model->frames[c->frame[1]].origin[0], 3);
  assert_int_equal(l.model->n_variables, 4); /* trunk.x and one vx for each leg */
  release(&l);
}

static void an_assembly_that_contains_itself_is_refused(void **state) {
  (void)state;
  bad(HEAD
      "assemblies: {a: {bodies: {p: {kind: particle, mass: 1}}, instances: {x: {of: a}}}}\ninstances: {y: {of: a}}\n",
      "contain itself");
}

static void an_axis_makes_frames_that_agree_at_the_start(void **state) {
  (void)state;
  loaded l = good(HEAD "bodies: {r: {kind: rigid, mass: 1, inertia: [1, 1, 1], orientation: [0.3, -0.2, 0.5]}}\n"
                       "connections: {h: {kind: revolute, between: [ground, r], axis: [1, 2, 2]}}\n");
  const yoke_connection *c = &l.model->connections[0];
  const yoke_frame      *a = &l.model->frames[c->frame[0]], *b = &l.model->frames[c->frame[1]];
  NEAR(a->axes[2], 1.0 / 3);
  NEAR(a->axes[5], 2.0 / 3);
  const double *p    = l.model->bodies[0].orientation; /* R b->axes = a->axes */
  const double  R[9] = {
       1 - 2 * (p[2] * p[2] + p[3] * p[3]), 2 * (p[1] * p[2] - p[0] * p[3]),     2 * (p[1] * p[3] + p[0] * p[2]),
       2 * (p[1] * p[2] + p[0] * p[3]),     1 - 2 * (p[1] * p[1] + p[3] * p[3]), 2 * (p[2] * p[3] - p[0] * p[1]),
       2 * (p[1] * p[3] - p[0] * p[2]),     2 * (p[2] * p[3] + p[0] * p[1]),     1 - 2 * (p[1] * p[1] + p[2] * p[2])};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j)
      NEAR(R[3 * i] * b->axes[j] + R[3 * i + 1] * b->axes[3 + j] + R[3 * i + 2] * b->axes[6 + j], a->axes[3 * i + j]);
  }
  release(&l);
}

static void frames_can_be_written_in_several_places(void **state) {
  (void)state;
  loaded l = good(
      HEAD
      "bodies: {a: {kind: rigid, count: 2, mass: 1, inertia: [1, 1, 1], frames: {p: [1, 2, 3], q: {at: [i, 0, 0], "
      "axis: [0, 3, 0]}}}}\n"
      "frames: {ground: {pivot: [0, 5, 0]}, ground.base: [7, 0, 0], a[2]: {r: [8, 0, 0]}, a[1].s: {at: [9, 0, 0]}}\n"
      "connections: {c: {kind: distance, between: [ground.base, a[2].r]}, d: {kind: distance, between: [a[1].s, [1 mm, "
      "0, 0]]},\n"
      "              e: {kind: revolute, between: [ground.pivot, a[2].q]}}\n");
  const yoke_model *m = l.model;
  NEAR(m->frames[m->connections[0].frame[0]].origin[0], 7);
  NEAR(m->frames[m->connections[0].frame[1]].origin[0], 8);
  NEAR(m->frames[m->connections[1].frame[0]].origin[0], 9);
  NEAR(m->frames[m->connections[1].frame[1]].origin[0], 1e-3);
  const yoke_frame *q = &m->frames[m->connections[2].frame[1]];
  NEAR(q->origin[0], 2);
  NEAR(q->axes[5], 1); /* z along the body's y */
  release(&l);
}

static void line_endings_and_byte_order_marks_do_not_matter(void **state) {
  (void)state;
  loaded l = good("\xEF\xBB\xBFyoke: 1\r\nt_end: 1\r\nbodies: {a: {kind: particle, mass: 2}}\r\n");
  NEAR(body_of(&l, "a")->mass, 2);
  release(&l);
}

static void connections_of_every_kind_are_read(void **state) {
  (void)state;
  loaded l = good(HEAD "bodies:\n  a: {kind: rigid, mass: 1, inertia: [1, 1, 1]}\n  b: {kind: rigid, mass: 1, inertia: "
                       "[1, 1, 1], position: [1, 0, 0]}\n"
                       "  m: {kind: mass1d, mass: 1}\n"
                       "connections:\n"
                       "  c1: {kind: spherical, between: [a, b]}\n  c2: {kind: universal, between: [a, b]}\n"
                       "  c3: {kind: cylindrical, between: [a, b], axis: [0, 0, 1], initial: 10 deg, initial_rate: 2}\n"
                       "  c4: {kind: translational, between: [a, b], motion: 0.1*sin(3*t)}\n"
                       "  c5: {kind: planar, between: [a, b]}\n  c6: {kind: inline, between: [a, b]}\n  c7: {kind: "
                       "orientation, between: [a, b]}\n"
                       "  c8: {kind: fixed, between: [a, b], stiffness: 1e6, damping: [1, 2, 3, 4, 5, 6]}\n"
                       "  c9: {kind: distance, between: [a, b]}\n"
                       "  s1: {kind: spring-damper, between: [a, b], stiffness: 2 N/mm, damping: 3, stiffness_power: "
                       "5, exponent_x: 2, free_length: 10 cm}\n"
                       "  s2: {kind: spring-damper, between: [a, b], table: [[-1, -2], [0, 0], [1, 5]], damping: 1}\n"
                       "  s3: {kind: spring-damper, between: [a, b], law: 3*x + max(0, v)*t}\n"
                       "  s4: {kind: torsion-spring, between: [a, b], stiffness: 2 N*m/rad, free_angle: 90 deg}\n"
                       "  s5: {kind: bushing, between: [a, b], stiffness: [1, 2, 3, 4, 5, 6], damping: 0.1}\n"
                       "  s6: {kind: spring-damper, between: [ground, m], stiffness: 1}\n");
  const yoke_connection *c = l.model->connections;
  assert_int_equal(l.model->n_connections, 15);
  assert_true(c[2].has_initial && c[2].has_initial_rate);
  assert_non_null(c[3].motion);
  assert_true(c[7].flexible);
  NEAR(c[7].stiffness[5], 1e6);
  NEAR(c[7].damping[5], 6);
  assert_false(c[8].has_length);
  NEAR(c[9].law.stiffness, 2000);
  NEAR(c[9].length, 0.1);
  assert_int_equal(c[10].law.table.n, 3);
  const double at[3] = {2, 3, 4}; /* x, v, t */
  NEAR(yoke_expression_evaluate(c[11].law.expression, at, NULL), 18);
  NEAR(c[12].length, acos(-1.0) / 2);
  NEAR(c[13].stiffness[5], 6);
  assert_true(c[14].has_length && c[14].length == 0);
  release(&l);
}

static double value_at(const yoke_load *load, int k, double t) {
  return load->value[k] == NULL ? 0 : yoke_expression_evaluate(load->value[k], &t, NULL);
}

static void loads_of_time_become_expressions(void **state) {
  (void)state;
  loaded l = good(
      HEAD
      "bodies: {p: {kind: particle, mass: 1}, b: {kind: planar, mass: 1, inertia: 1}, m: {kind: mass1d, mass: 1}}\n"
      "loads:\n"
      "  a: {kind: constant, on: p, force: [1, 0, 2 kN]}\n"
      "  b: {kind: harmonic, on: b, torque: 3, omega: 2, phase: 0.5}\n"
      "  c: {kind: impulse, on: m, force: 10, time: [0.1, 0.5], width: 0.2, rise: 1 ms}\n"
      "  d: {kind: modified-sine, on: m, force: 2, omega: 3, power: 5}\n"
      "  e: {kind: drag, on: p, linear: 1, quadratic: 2}\n"
      "  f: {kind: contact, on: p, force: -0.01, slope: 1e4, direction: [0, 0, -2]}\n");
  const yoke_load *load = l.model->loads;
  const double     t    = 0.3;
  NEAR(value_at(&load[0], 2, t), 2000);
  assert_null(load[0].value[1]);
  assert_int_equal(load[1].kind, YOKE_LOAD_TORQUE);
  NEAR(value_at(&load[1], 2, t), 3 * sin(2 * t + 0.5));
  NEAR(value_at(&load[2], 0, 0.2), 5 * (tanh(100.0) - tanh(-100.0)));
  NEAR(value_at(&load[2], 0, 0.6), 10);
  assert_true(fabs(value_at(&load[2], 0, 0.4)) < 1e-12);
  NEAR(value_at(&load[3], 0, t), 2 * pow(sin(3 * t), 5));
  NEAR(load[4].drag_quadratic, 2);
  NEAR(load[5].direction[2], -1);
  release(&l);
}

static void expressions_read_states_of_bodies(void **state) {
  (void)state;
  loaded l = good(HEAD "bodies: {b: {kind: planar, count: 2, mass: 1, inertia: 1}, c: {kind: chain, n: 5, mass: 1}}\n"
                       "loads: {f: {kind: expression, on: b[1], count: 1, force: [-2*b[i+1].vx*t, c.x[3]]}}\n"
                       "events: {hit: {when: b[2].y, direction: falling, set: {b[2].vy: -0.9*b[2].vy}}, stop: {when: t "
                       "- 0.5, action: stop}}\n");
  const yoke_model *m = l.model;
  assert_int_equal(m->n_variables, 4);
  double values[5] = {0};
  values[0]        = 3; /* t */
  for (int k = 0; k < m->n_variables; ++k) values[k + 1] = m->variables[k].is_velocity ? 10 : 100;
  NEAR(yoke_expression_evaluate(m->loads[0].value[0], values, NULL), -60);
  NEAR(yoke_expression_evaluate(m->loads[0].value[1], values, NULL), 100);
  assert_int_equal(m->events[0].direction, -1);
  assert_int_equal(m->events[0].action, YOKE_EVENT_SET);
  assert_int_equal(m->events[0].n_set, 1);
  assert_int_equal(m->events[1].action, YOKE_EVENT_STOP);
  const yoke_variable *v = &m->variables[m->events[0].variable[0] - 1];
  assert_int_equal(v->body, 1);
  assert_true(v->is_velocity && v->component == 1);
  release(&l);
}

/* ---- chains ---- */

static void chain_values_come_from_numbers_expressions_lists_and_tables(void **state) {
  (void)state;
  loaded l = good(HEAD "parameters: {k: 2}\nbodies:\n  c: {kind: chain, n: 4, mass: k*i, stiffness: [1, 2, 3, 4, 5], "
                       "damping: {table: [[2, 10], [4, 30]]}, x: 1 mm,\n"
                       "      v: '1 - i', free: [left, right], exponent_x: 6}\n");
  const yoke_chain *c = body_of(&l, "c")->chain;
  for (int i = 1; i <= 4; ++i) NEAR(c->mass.each[i - 1], 2 * i);
  assert_true(c->is_free[0] && c->is_free[1]);
  NEAR(c->stiffness.each[1], 2);
  NEAR(c->damping.each[2], 20);
  assert_null(c->x0.each);
  NEAR(c->x0.value, 1e-3);
  NEAR(c->v0.each[3], -3);
  NEAR(c->exponent_x, 6);
  NEAR(c->exponent_v, 3);
  release(&l);
}

static void random_values_depend_on_seed_key_and_number_only(void **state) {
  (void)state;
  loaded l =
      good(HEAD "bodies:\n"
                "  c: {kind: chain, n: 1000, mass: 1, x: {random: [-1, 1], seed: 7}, v: {random: [-1, 1], seed: 7}}\n"
                "  d: {kind: chain, n: 500, mass: 1, x: {random: [-1, 1], seed: 7}, v: {random: [-1, 1], seed: 8}}\n");
  const yoke_chain *c = body_of(&l, "c")->chain, *d = body_of(&l, "d")->chain;
  double            sum = 0, square = 0, product = 0;
  for (int i = 0; i < 1000; ++i) {
    assert_true(c->x0.each[i] >= -1 && c->x0.each[i] < 1);
    sum += c->x0.each[i];
    square += c->x0.each[i] * c->x0.each[i];
    product += c->x0.each[i] * c->v0.each[i];
  }
  assert_true(fabs(sum / 1000) < 0.06); /* 3 sigma of the mean */
  assert_true(fabs(square / 1000 - 1.0 / 3) < 0.03);
  assert_true(fabs(product / 1000) < 0.04); /* streams of different keys are independent */
  for (int i = 0; i < 500; ++i) assert_true(c->x0.each[i] == d->x0.each[i]);
  assert_true(c->v0.each[0] != d->v0.each[0]);
  release(&l);
}

static void the_random_generator_is_fixed_for_all_time(void **state) {
  (void)state;
  loaded            l = good(HEAD "bodies: {c: {kind: chain, n: 2, mass: 1, x: {random: [0, 1], seed: 1}}}\n");
  const yoke_chain *c = body_of(&l, "c")->chain;
  assert_true(c->x0.each[0] == 0x1.e24d98c996978p-1);
  assert_true(c->x0.each[1] == 0x1.a27c056ff856cp-1);
  release(&l);
}

static void chain_loads_are_sorted_by_mass(void **state) {
  (void)state;
  loaded l =
      good(HEAD "parameters: {n: 20}\nbodies:\n  c:\n    kind: chain\n    n: n\n    mass: 1\n    x: {random: [-1, "
                "1]}\n    loads:\n"
                "      - {on: {from: 5, to: n, every: 5}, kind: impulse, force: (-1)^i*10, time: [0.1, 0.2], width: "
                "0.1, rise: 1e-3}\n"
                "      - {on: 3..6, kind: harmonic, force: i, omega: 2}\n"
                "      - {on: [1, n, 7..8], kind: contact, force: -0.01, slope: 1e7, start: outside}\n"
                "      - {on: n/2, kind: modified-sine, force: {random: [1, 2], sign: random}, omega: 1, power: 95}\n");
  const yoke_chain *c = body_of(&l, "c")->chain;
  assert_int_equal(c->n_loads, 8 + 4 + 4 + 1);
  for (int k = 1; k < c->n_loads; ++k) assert_true(c->loads[k - 1].mass <= c->loads[k].mass);
  assert_int_equal(c->loads[0].kind, YOKE_CHAIN_CONTACT);
  static const int outside[] = {1, 20, 7, 8};
  for (int k = 0; k < 4; ++k) assert_true(c->x0.each[outside[k] - 1] <= 0);
  int n_fifth = 0;
  for (int k = 0; k < c->n_loads; ++k) {
    if (c->loads[k].mass != 4) continue;
    ++n_fifth;
    NEAR(c->loads[k].amplitude, c->loads[k].kind == YOKE_CHAIN_IMPULSE ? -10 : 5);
  }
  assert_int_equal(n_fifth, 3);
  release(&l);
}

static void masses_of_a_chain_can_be_connected_and_loaded(void **state) {
  (void)state;
  loaded            l     = good(HEAD "bodies: {c: {kind: chain, n: 5, mass: 1}, m: {kind: mass1d, mass: 1}}\n"
                                                     "connections: {s: {kind: spring-damper, between: [c[5], m], stiffness: 1}}\nloads: {f: {kind: "
                                                     "constant, on: c[2], force: 3}}\n");
  const yoke_frame *frame = &l.model->frames[l.model->connections[0].frame[0]];
  assert_int_equal(frame->mass, 4);
  assert_int_equal(l.model->frames[l.model->loads[0].frame].mass, 1);
  release(&l);
}

static void a_chain_of_a_million_masses_loads(void **state) {
  (void)state;
  loaded l = good(HEAD "bodies: {c: {kind: chain, n: 1e6, mass: 0.05, stiffness: 1e9*(1 + 0.1*sin(i)), x: {random: "
                       "[-1, 1], seed: 1}}}\n");
  NEAR(body_of(&l, "c")->chain->stiffness.each[999999], 1e9 * (1 + 0.1 * sin(1000000.0)));
  release(&l);
}

/* ---- split, solvers, output ---- */

static void a_split_assigns_bodies_ranges_and_pieces_of_chains(void **state) {
  (void)state;
  loaded l = good(HEAD "bodies: {rod: {kind: particle, count: 6, mass: 1}, x: {kind: particle, mass: 1}, c: {kind: "
                       "chain, n: 25, mass: 1}, d: {kind: chain, n: 9, mass: 1}}\n"
                       "split: {a: [rod[1..3], x], b: [rod[4..6], d[1..4]], c: 10, e: [d[5..9]]}\n"
                       "solvers: {default: {kind: bdf, max_order: 3}, a: radau5}\ncosimulation: {scheme: implicit, "
                       "order: {min: 1, max: 3}, step: 1e-3, energy: monitor}\n");
  const yoke_model *m = l.model;
  assert_int_equal(m->n_parts, 13);
  assert_int_equal(m->parts[0].n_bodies, 4);
  assert_int_equal(m->parts[1].n_masses, 4);
  assert_string_equal(m->parts[2].name, "c[1]");
  int n = 0;
  for (int k = 2; k < 12; ++k) {
    assert_int_equal(m->parts[k].first_mass, n);
    n += m->parts[k].n_masses;
  }
  assert_int_equal(n, 25);
  assert_string_equal(m->solver.kind, "bdf");
  assert_int_equal(m->solver.max_order, 3);
  assert_int_equal(m->energy, 1);
  assert_true(m->parts[0].has_solver);
  assert_string_equal(m->parts[0].solver.kind, "radau5");
  assert_int_equal(m->parts[0].solver.max_order, 3);
  assert_false(m->parts[1].has_solver);
  release(&l);
}

static void settings_of_the_cosimulation_are_kept(void **state) {
  (void)state;
  loaded l = good(
      HEAD
      "bodies: {a: {kind: mass1d, mass: 1}, b: {kind: mass1d, mass: 1}}\n"
      "connections: {s: {kind: spring-damper, between: [a, b], stiffness: 1}}\nsplit: {p: [a], q: [b]}\n"
      "cosimulation:\n  scheme: waveform\n  sequence: gauss-seidel\n  order: 3\n  step: 2 ms\n  start: graded\n"
      "  predictor: acceleration-relaxed\n  acceleration_weight: 1/6\n  order_acceleration: 2\n  update: true\n"
      "  jacobian: broyden\n  final_update: false\n  relaxation: 0.6\n"
      "  corrector: {rtol: 1e-6, atol: 1e-3, tau: 0.1, max_iterations: 7}\n"
      "  couplings: {s: {extension: i, feedthrough: true}, decomposition: displacement/force, nodes: [1/4, 3/4]}\n");
  yoke_macro_settings macro;
  yoke_macro_settings_read(l.model, 1.0, false, &macro);
  const yoke_scheme_settings *c = &macro.scheme;
  assert_string_equal(c->scheme, "waveform");
  assert_true(c->gauss_seidel);
  assert_int_equal(macro.order, 3);
  CHECK_NEAR(macro.step, 2e-3, 0.0);
  assert_int_equal(c->start, YOKE_START_GRADED);
  assert_int_equal(c->predictor, YOKE_PREDICTOR_ACCELERATION_RELAXED);
  CHECK_NEAR(c->acceleration_weight, 1.0 / 6.0, 1e-16);
  assert_int_equal(c->order_acceleration, 2);
  assert_true(c->update);
  assert_int_equal(c->jacobian, YOKE_JACOBIAN_BROYDEN);
  assert_false(c->final_update);
  CHECK_NEAR(c->relaxation, 0.6, 0.0);
  CHECK_NEAR(c->rtol, 1e-6, 0.0);
  CHECK_NEAR(c->atol, 1e-3, 0.0);
  CHECK_NEAR(c->tau, 0.1, 0.0);
  assert_int_equal(c->max_iterations, 7);
  const yoke_cosimulation_def *given = &l.model->cosimulation;
  assert_string_equal(yoke_settings_find(&given->couplings, YOKE_COUPLING_PATH, "decomposition")->text,
                      "displacement/force");
  CHECK_NEAR(yoke_settings_find(&given->couplings, YOKE_COUPLING_PATH, "nodes")->number[1], 0.75, 0.0);
  assert_null(yoke_settings_find(&given->couplings, YOKE_COUPLING_PATH, "extension"));
  assert_int_equal(given->n_own, 1);
  assert_string_equal(given->own[0].name, "s");
  assert_string_equal(yoke_settings_find(&given->own[0].given, YOKE_COUPLING_PATH, "extension")->text, "i");
  CHECK_NEAR(yoke_settings_find(&given->own[0].given, YOKE_COUPLING_PATH, "feedthrough")->number[0], 1.0, 0.0);
  release(&l);
}

static void settings_of_step_control_are_kept(void **state) {
  (void)state;
  loaded l = good(
      HEAD "bodies: {a: {kind: mass1d, mass: 1}}\n"
           "cosimulation:\n  order: {min: 1, max: 4, rule: conservative}\n"
           "  step: {rtol: 1e-6, atol: {position: 1 um, velocity: 1e-3, coupling: 2}, estimator: le, initial: 1 us,\n"
           "         min: 1 ns, max: 1 ms, safety: 3, ratio: [0.6, 1.4], dead_zone: false}\n");
  yoke_macro_settings macro;
  yoke_macro_settings_read(l.model, 1.0, false, &macro);
  const yoke_control_settings *c = &macro.control;
  assert_false(macro.has_scheme);
  assert_int_equal(macro.order, -1);
  assert_int_equal(c->order_min, 1);
  assert_int_equal(c->order_max, 4);
  assert_int_equal(c->order_rule, YOKE_ORDER_RULE_CONSERVATIVE);
  assert_int_equal(c->estimator, YOKE_ESTIMATOR_LE);
  CHECK_NEAR(macro.step, 0.0, 0.0);
  CHECK_NEAR(c->tolerances.rtol, 1e-6, 0.0);
  CHECK_NEAR(c->tolerances.atol[0], 1e-6, 1e-20);
  CHECK_NEAR(c->tolerances.atol[1], 1e-3, 0.0);
  CHECK_NEAR(c->tolerances.atol[2], 2.0, 0.0);
  CHECK_NEAR(c->initial, 1e-6, 1e-20);
  CHECK_NEAR(c->min, 1e-9, 1e-22);
  CHECK_NEAR(c->max, 1e-3, 1e-18);
  CHECK_NEAR(c->rule.safety, 3.0, 0.0);
  CHECK_NEAR(c->rule.ratio[0], 0.6, 0.0);
  CHECK_NEAR(c->rule.ratio[1], 1.4, 0.0);
  assert_false(c->rule.dead_zone);
  release(&l);
}

static void mistakes_in_step_control_are_found(void **state) {
  (void)state;
#define ONE HEAD "bodies: {a: {kind: mass1d, mass: 1}}\n"
  bad(ONE "cosimulation: {step: {rtl: 1}}\n", "did you mean 'rtol'?");
  bad(ONE "cosimulation: {step: {rtol: -1}}\n", "key 'cosimulation.step.rtol'");
  bad(ONE "cosimulation: {step: {ratio: [1.1, 2]}}\n", "a number in (0, 1) and one above 1");
  bad(ONE "cosimulation: {step: {ratio: 2}}\n", "key 'cosimulation.step.ratio'");
  bad(ONE "cosimulation: {step: {dead_zone: 3}}\n", "key 'cosimulation.step.dead_zone'");
  bad(ONE "cosimulation: {step: {min: 2 s, max: 1 s}}\n",
      "'cosimulation.step.min': found 2 s, expected at most max, which is 1 s");
  bad(ONE "cosimulation: {order: {rule: idaa}}\n", "did you mean 'ida'?");
  bad(ONE "cosimulation: {order: {min: 3, max: 2}}\n",
      "'cosimulation.order.min': found 3, expected at most max, which is 2");
#undef ONE
}

static void settings_of_the_cosimulation_have_defaults(void **state) {
  (void)state;
  loaded              l = good(HEAD "bodies: {a: {kind: mass1d, mass: 1}}\n");
  yoke_macro_settings macro;
  yoke_macro_settings_read(l.model, 1.0, false, &macro);
  const yoke_scheme_settings *c = &macro.scheme;
  assert_string_equal(c->scheme, "semi-implicit");
  assert_false(c->gauss_seidel);
  assert_int_equal(macro.order, -1);
  CHECK_NEAR(macro.step, 0, 0.0);
  assert_int_equal(c->start, YOKE_START_RAMP);
  assert_int_equal(c->predictor, YOKE_PREDICTOR_EXTRAPOLATION);
  assert_int_equal(c->jacobian, YOKE_JACOBIAN_TANGENT);
  assert_true(c->final_update);
  assert_true(c->update); /* F30 */
  CHECK_NEAR(macro.control.tolerances.rtol, 1e-4, 0.0);
  CHECK_NEAR(c->rtol, 1e-5, 1e-20);
  release(&l);
}

#define TWO HEAD "bodies: {a: {kind: particle, mass: 1}, b: {kind: particle, mass: 1}}\n"

/* It is left out of the text too: a result, or a simulation with other choices, reads that again. */
static void a_split_that_does_not_fit_is_left_out_of_a_whole(void **state) {
  (void)state;
  const yoke_overrides whole   = {.is_whole = true};
  const char *const    texts[] = {TWO "split: {x: [a]}\nsolvers: {x: bdf}\n", TWO "split: {x: [a, b], y: [b]}\n",
                                  TWO "split: {x: [a, bb], y: []}\n", TWO "split: 3\n"};
  const char *const    wrong[] = {"found body 'b' in no subsystem", "body 'b', which is already in 'x'",
                                  "found 'bb', expected the name of a body", "key 'split'"};
  for (int i = 0; i < 4; ++i) {
    loaded l = {0};
    assert_int_equal(yoke_context_create(&l.ctx), YOKE_OK);
    assert_int_equal(yoke_model_file_read_text(l.ctx, "m.yaml", texts[i], strlen(texts[i]), &whole, &l.model), YOKE_OK);
    assert_true(has_message(&l, wrong[i]));
    assert_true(has_message(&l, "the split does not fit, the model runs as a whole without it"));
    assert_int_equal(l.model->n_parts, 0);
    assert_int_equal(l.model->n_bodies, 2);
    assert_null(strstr(l.model->text, "split"));
    release(&l);
  }
}

static void mistakes_in_a_split_are_found(void **state) {
  (void)state;
  bad(TWO "split: {x: [a]}\n", "body 'b' in no subsystem");
  bad(TWO "split: {x: [a, b], y: [b]}\n", "body 'b', which is already in 'x'");
  bad(TWO "split: {x: [a, bb]}\n", "did you mean");
  bad(TWO "solvers: {defautl: bdf}\nsplit: {x: [a, b]}\n", "key 'solvers.defautl'");
  bad(TWO "solvers: {default: radua5}\n", "did you mean 'radau5'?");
  bad(TWO "cosimulation: {scheme: implict}\n", "did you mean 'implicit'?");
  bad(TWO "cosimulation: {couplings: {formulation: x}}\n", "key 'cosimulation.couplings.formulation'");
  bad(TWO "cosimulation: {couplings: {formulaton: baumgarte}}\n", "did you mean 'formulation'?");
  bad(TWO "cosimulation: {step: {estimator: xx}}\n", "key 'cosimulation.step.estimator'");
  bad(TWO "cosimulation: {corrector: {rtl: 1}}\n", "did you mean 'rtol'?");
  bad(TWO "cosimulation: {couplings: {nodes: [0.7, 0.3]}}\n", "increasing numbers");
  bad(TWO "cosimulation: {couplings: {x: {extension: d}}}\n", "name of no connection");
  bad(TWO "output: {evry: 1}\n", "did you mean 'every'?");
  bad(TWO "joints: {}\n", "did you mean 'connections'?");
  bad(TWO "connections: {s: {kind: spring-damper, between: [a, b], stiffness: 1, length: 1}}\n",
      "did you mean 'free_length'?");
}

static void what_names_a_refused_object_is_not_told_as_well(void **state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } one[] = {
      {"bodies: {rope: {kind: cosserat-rod, elements: 4, length: 1, section: {circle: 0.01}, yuong: 5e6, density: "
       "1000, "
       "from: [0, 0, 0], to: [1, 0, 0]}}\nframes: {rope.b: {hook: [0, 0, 1]}}\n"
       "connections: {nail: {kind: spherical, between: [[0, 0, 0], rope.a]}, "
       "hook: {kind: spherical, between: [rope.b.hook, [1, 0, 1]]}}\n",
       "did you mean 'young'?"},
      {"bodies: {cable: {kind: ancf-cable, elements: 4, mas: 1, axial_stiffness: 1, bending_stiffness: 1, "
       "from: [0, 0, 0], to: [1, 0, 0]}}\n"
       "connections: {nail: {kind: spherical, between: [[0, 0, 0], cable.node[2]]}}\n",
       "did you mean 'mass'?"},
      {"bodies: {arm: {kind: linear, mass: [[1]], stifness: [[1]], frames: {end: {}}}}\n"
       "loads: {pull: {kind: constant, on: arm.end, force: [1, 0, 0]}}\n",
       "did you mean 'stiffness'?"},
      {"bodies: {ball: {kind: rigit, mass: 1, inertia: [1, 1, 1], frames: {top: [0, 0, 1]}}}\n"
       "connections: {nail: {kind: spherical, between: [ground, ball.top]}}\noutputs: {high: ball.z + 1}\n",
       "did you mean 'rigid'?"},
      {"bodies: {rod: {kind: planar, count: 3, mass: i - 1, inertia: 1, frames: {tip: [1, 0]}}}\n"
       "connections: {knee: {kind: revolute, between: [rod[2].tip, rod[3]]}}\n",
       "'bodies.rod.mass'"},
      {"bodies: {c: {kind: chain, n: 0, mass: 1, stiffness: 1}}\n"
       "connections: {wall: {kind: spring-damper, between: [ground, c[1]], stiffness: 1}}\noutputs: {end: c.x[1]}\n"
       "cosimulation: {couplings: {c.cut[1]: {formulation: overlap}}}\n",
       "'bodies.c.n'"},
      {"bodies: [{kind: particle, mass: 1}]\nconnections: {nail: {kind: spherical, between: [ground, p]}}\n",
       "'bodies'"},
      {"bodies: {p: {kind: particle, mass: 1}}\nconnections: {nail: {kind: sphere, between: [ground, p]}}\n"
       "outputs: {pull: 'nail.force[1]'}\ncosimulation: {couplings: {nail: {formulation: baumgarte}}}\n",
       "'connections.nail.kind'"},
      {"assemblies: {leg: {bodies: {foot: {kind: particle, mass: 1}}}}\ninstances: {left: {of: leq}}\n"
       "bodies: {p: {kind: particle, mass: 1}}\nconnections: {nail: {kind: spherical, between: [p, left.foot]}}\n"
       "events: {kick: {when: t - 0.5, set: {left.foot.vx: 1}}}\n",
       "found 'leq'"},
  };
  for (int k = 0; k < (int)(sizeof one / sizeof one[0]); ++k) {
    char text[2000];
    snprintf(text, sizeof text, HEAD "%s", one[k].text);
    loaded l = load_set(text, 0, NULL);
    assert_int_equal(l.status, YOKE_E_MODEL);
    if (yoke_context_n_messages(l.ctx) != 1 || !has_message(&l, one[k].message))
      fail_msg("%d: '%s', then '%s'", k, yoke_context_message(l.ctx, 0),
               yoke_context_n_messages(l.ctx) > 1 ? yoke_context_message(l.ctx, 1) : "");
    release(&l);
  }
}

static void other_names_are_told_beside_a_refused_object(void **state) {
  (void)state;
  loaded l = load_set(HEAD "bodies: {rope: {kind: particle, mas: 1}, ropes: {kind: particle, mass: 1}}\n"
                           "connections: {nail: {kind: spherical, between: [ground, ropes2]}}\n",
                      0, NULL);
  assert_true(has_message(&l, "found 'ropes2', expected the name of a body or frame; did you mean 'ropes'?"));
  release(&l);
}

/* ---- overrides and includes ---- */

static void overrides_change_any_key(void **state) {
  (void)state;
  static const char *const set[] = {"parameters.l=2",  "bodies.b.mass=3 g",   "solvers.default.rtol=1e-10",
                                    "gravity.2=-1.62", "output.select=[b.x]", "bodies.a.position=[l, 0, 0]"};
  loaded l = load_set(HEAD "parameters: {l: 1}\ngravity: [0, -9.81, 0]\nbodies: {a: &x {kind: particle, mass: l}, b: "
                           "*x}\nsolvers: {default: auto}\n",
                      6, set);
  assert_int_equal(l.status, YOKE_OK);
  NEAR(body_of(&l, "a")->mass, 2); /* the alias keeps its own value */
  NEAR(body_of(&l, "b")->mass, 3e-3);
  NEAR(body_of(&l, "a")->position[0], 2);
  NEAR(body_of(&l, "b")->position[0], 0);
  NEAR(l.model->gravity[1], -1.62);
  NEAR(l.model->solver.rtol, 1e-10);
  assert_string_equal(l.model->solver.kind, "auto");
  assert_string_equal(l.model->output.select[0], "b.x");
  release(&l);
}

static void the_absolute_tolerance_follows_the_relative_one(void **state) {
  (void)state;
  loaded l = good(HEAD "bodies: {a: {kind: particle, mass: 1}}\nsolvers: {default: {rtol: 1e-6}}\n");
  NEAR(l.model->solver.atol, 1e-8);
  release(&l);
}

static void overrides_create_missing_maps(void **state) {
  (void)state;
  static const char *const set[] = {"solvers.default.kind=bdf", "solvers.default.atol=1e-5", "output.every=0.1"};
  loaded                   l     = load_set(HEAD "bodies: {a: {kind: particle, mass: 1}}\n", 3, set);
  assert_int_equal(l.status, YOKE_OK);
  assert_string_equal(l.model->solver.kind, "bdf");
  NEAR(l.model->solver.atol, 1e-5);
  NEAR(l.model->output.every, 0.1);
  release(&l);
}

static void mistakes_in_overrides_name_the_option(void **state) {
  (void)state;
  static const char *const model = HEAD "parameters: {length: 1}\nbodies: {upper: {kind: particle, mass: length}}\n";
  static const struct {
    const char *set, *message;
  } cases[] = {
      {"bodies.uper.mass=3",
       "--set bodies.uper.mass=3: found 'uper', expected a name below 'bodies'; did you mean 'upper'?"},
      {"parameters.lenght=3",
       "--set parameters.lenght=3: found 'lenght', expected a parameter that the model uses; did you mean 'length'?"},
      {"bodies.upper.mas=3", "--set bodies.upper.mas=3: key 'bodies.upper.mas': found an unknown key"},
      {"bodies.upper.mass=-3", "--set bodies.upper.mass=-3: key 'bodies.upper.mass': found -3"},
      {"nonsense", "--set nonsense: expected path=value"},
      {"=3", "expected path=value"},
      {"a..b=3", "found an empty name"},
      {"bodies.upper.mass=[1", "--set bodies.upper.mass=[1"},
      {"t_end.x=3", "expected a map whose keys can be set"},
      {"solver.default=bdf", "did you mean 'solvers'?"},
      {"t_end=", "key 't_end': found nothing"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) bad_set(model, 1, &cases[k].set, cases[k].message);
}

static void write_file(const char *folder, const char *name, const char *text) {
  char path[600];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void includes_are_relative_to_the_including_file(void **state) {
  (void)state;
  char folder[] = P_tmpdir "/yoke-include-XXXXXX", path[600];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/parts", folder);
  assert_int_equal(mkdir(path, 0700), 0);
  write_file(folder, "main.yaml", HEAD "include: [parts/a.yaml, parts/b.yaml]\nparameters: {m: 2}\n");
  write_file(folder, "parts/a.yaml",
             "include: b.yaml\nparameters: {m: 1, k: 3}\nbodies: {a: {kind: particle, mass: m*k}}\nt_end: 77\n");
  write_file(folder, "parts/b.yaml", "bodies: {b: {kind: particle, mass: m}}\ngravity: [0, 0, -1]\n");
  snprintf(path, sizeof path, "%s/main.yaml", folder);
  loaded l = load_file(path);
  assert_int_equal(l.status, YOKE_OK);
  NEAR(body_of(&l, "a")->mass, 6); /* the including file's parameter wins */
  NEAR(body_of(&l, "b")->mass, 2);
  NEAR(l.model->t_end, 1);
  NEAR(l.model->gravity[2], -1);
  assert_null(strstr(l.model->text, "include"));
  release(&l);

  write_file(folder, "parts/b.yaml", "include: ../main.yaml\n");
  l = load_file(path);
  assert_int_equal(l.status, YOKE_E_MODEL);
  assert_true(has_message(&l, "found a cycle"));
  release(&l);

  write_file(folder, "parts/b.yaml", "bodies: {a: {kind: particle, mass: m}}\n");
  l = load_file(path);
  assert_true(has_message(&l, "key 'bodies.a': found twice"));
  release(&l);

  write_file(folder, "parts/b.yaml", "include: nothing.yaml\n");
  l = load_file(path);
  assert_true(has_message(&l, "parts/b.yaml:1:10: key 'include': found 'nothing.yaml'"));
  release(&l);
  static const char *const made[] = {"/parts/a.yaml", "/parts/b.yaml", "/parts", "/main.yaml", ""};
  for (int k = 0; k < 5; ++k) {
    snprintf(path, sizeof path, "%s%s", folder, made[k]);
    assert_int_equal(remove(path), 0);
  }
}

static void the_stored_text_gives_the_same_model(void **state) {
  (void)state;
  static const char *const files[] = {"examples/pendulum.yaml",       "examples/n-four-bar.yaml",
                                      "examples/squeezer.yaml",       "examples/heavy-top.yaml",
                                      "examples/pendulum-chain.yaml", "examples/chain-imp.yaml"};
  for (int k = 0; k < 6; ++k) {
    loaded a = load_file(files[k]);
    if (a.status != YOKE_OK) fail_msg("%s: %s", files[k], yoke_context_message(a.ctx, 0));
    loaded b = good(a.model->text);
    assert_string_equal(a.model->text, b.model->text);
    assert_int_equal(a.model->n_frames, b.model->n_frames);
    for (int i = 0; i < a.model->n_bodies; ++i) {
      assert_memory_equal(a.model->bodies[i].position, b.model->bodies[i].position, sizeof a.model->bodies[i].position);
    }
    release(&a);
    release(&b);
  }
}

/* ---- mistakes ---- */

static void mistakes_name_place_key_value_and_expectation(void **state) {
  (void)state;
#define BODY(keys) HEAD "bodies:\n  b: {" keys "}\n"
#define PLANAR HEAD "bodies: {b: {kind: planar, mass: 1, inertia: 1}}\n"
  static const struct {
    const char *text, *message;
  } cases[] = {
      {BODY("kind: particle, mass: -1"),
       "m.yaml:4:29: key 'bodies.b.mass': found -1, expected a mass [kg] greater than 0"},
      {BODY("kind: particle, mass: 350 mm"),
       "key 'bodies.b.mass': found '350 mm' with the unit m, expected a mass [kg]"},
      {BODY("kind: particle, mass: [1]"), "key 'bodies.b.mass': found a list of 1, expected a mass [kg]"},
      {BODY("kind: particle, mass: "), "key 'bodies.b.mass': found nothing"},
      {BODY("kind: particle"), "key 'bodies.b.mass': found nothing"},
      {BODY("mass: 1"), "key 'bodies.b.kind': found nothing"},
      {BODY("kind: particle, mass: 1/0"), "key 'bodies.b.mass'"},
      {BODY("kind: particle, mass: nan"), "key 'bodies.b.mass'"},
      {BODY("kind: particle, mass: 1e999"), "key 'bodies.b.mass'"},
      {BODY("kind: particle, mass: 1, postion: [0, 0, 0]"), "did you mean 'position'?"},
      {BODY("kind: particle, mass: 1, position: [0]"),
       "found a list of 1, expected a list of 2 to 3 numbers, each a length [m]"},
      {BODY("kind: particle, mass: 1, position: [0, 1 s, 0]"), "found '1 s' with the unit s"},
      {BODY("kind: particle, mass: 1, inertia: 2"), "key 'bodies.b.inertia': found an unknown key"},
      {BODY("kind: planar, mass: 1, inertia: 0"), "key 'bodies.b.inertia': found 0"},
      {BODY("kind: planar, mass: 1, inertia: 1, angle: 3 mm"), "expected an angle [rad]"},
      {BODY("kind: rigid, mass: 1, inertia: [1, 1, 0]"), "not positive definite"},
      {BODY("kind: rigid, mass: 1, inertia: [[1, 2, 0], [2, 1, 0], [0, 0, 1]]"), "not positive definite"},
      {BODY("kind: rigid, mass: 1, inertia: [[1, 0.2, 0], [0, 1, 0], [0, 0, 1]]"), "not symmetric"},
      {BODY("kind: rigid, mass: 1, inertia: [1, 1]"), "found a list of 2"},
      {BODY("kind: rigid, mass: 1, inertia: [1, 1, 1], orientation: [1, 1, 1, 1]"), "Euler parameters of length 2"},
      {BODY("kind: rigid, mass: 1, inertia: [1, 1, 1], orientation: {axis: [0, 0, 0], angle: 1}"), "axis of length 0"},
      {BODY("kind: particle, mass: 1, count: 2.5"), "found 2.5, expected a whole number"},
      {BODY("kind: particle, mass: 1, count: 1e9"), "expected a whole number from 0 to 1000000"},
      {BODY("kind: particle, mass: i"), "unknown name 'i'"},
      {BODY("kind: chain, n: 1e12, mass: 1"), "expected a whole number from 1 to 100000000"},
      {BODY("kind: chain, n: 0, mass: 1"), "key 'bodies.b.n'"},
      {BODY("kind: chain, n: 3, mass: 2 - i"), "found 0 for i = 2, expected a value greater than 0"},
      {BODY("kind: chain, n: 3, mass: [1, 2]"), "found a list of 2, expected a list of 3 values"},
      {BODY("kind: chain, n: 3, mass: 1, x: {random: [1, 0]}"), "smaller limit first"},
      {BODY("kind: chain, n: 3, mass: 1, x: {rnadom: [0, 1]}"), "key 'bodies.b.rnadom'"},
      {BODY("kind: chain, n: 3, mass: 1, free: top"), "expected one of: left, right"},
      {BODY("kind: chain, n: 3, mass: 1, loads: [{on: 4, kind: harmonic, force: 1, omega: 1}]"),
       "found masses 4 to 4, expected numbers from 1 to 3"},
      {BODY("kind: chain, n: 3, mass: 1, loads: [{on: 1, kind: modified-sine, force: 1, omega: 1, power: 2}]"),
       "expected an odd number"},
      {HEAD "bodies: {'a b': {kind: particle, mass: 1}}\n", "found the name 'a b'"},
      {HEAD "bodies: {ground: {kind: particle, mass: 1}}\n", "found the name 'ground'"},
      {HEAD "bodies: [1]\n", "key 'bodies': found a list of 1, expected a map"},
      {HEAD "bodies: {a: 1}\n", "key 'bodies.a': found '1', expected a map"},
      {HEAD, "key 'bodies': found nothing"},
      {"yoke: 1\nbodies: {a: {kind: particle, mass: 1}}\n", "key 't_end': found nothing"},
      {"yoke: 1\nt_end: -1\nbodies: {a: {kind: particle, mass: 1}}\n", "found -1 s, expected a time behind t_start"},
      {"yoke: 2\n", "key 'yoke': found '2', expected 1"},
      {"t_end: 1\n", "key 'yoke': found nothing"},
      {"", "m.yaml:1:1: found an empty file"},
      {"just text", "found 'just text', expected keys of a model file"},
      {"[1, 2]", "found a list of 2"},
      {PLANAR "connections: {c: {kind: revolut, between: [ground, b]}}\n", "did you mean 'revolute'?"},
      {PLANAR "connections: {c: {kind: revolute, between: [ground, bb]}}\n",
       "found 'bb', expected the name of a body or frame; did you mean 'b'?"},
      {PLANAR "connections: {c: {kind: revolute, between: [ground]}}\n", "expected the two ends"},
      {PLANAR "connections: {c: {kind: revolute, between: [b, b]}}\n", "found both ends on 'b'"},
      {PLANAR "connections: {c: {kind: revolute, between: [ground, b], stifness: 1}}\n", "did you mean 'stiffness'?"},
      {PLANAR "connections: {c: {kind: spring-damper, between: [ground, b]}}\n",
       "expected stiffness, damping, table or law"},
      {PLANAR "connections: {c: {kind: spring-damper, between: [ground, b], table: [[0, 0], [0, 1]]}}\n",
       "expected increasing x"},
      {PLANAR "connections: {c: {kind: spring-damper, between: [ground, b], law: x + q}}\n", "unknown name 'q'"},
      {PLANAR "connections: {c: {kind: spring-damper, between: [ground, b], stiffness: 5 kg}}\n",
       "expected a stiffness [N/m]"},
      {PLANAR "connections: {c: {kind: distance, between: [ground, b], length: 0}}\n", "greater than 0"},
      {PLANAR "connections: {b: {kind: distance, between: [ground, b]}}\n", "found the name 'b' of a body"},
      {PLANAR "connections: {c: {kind: revolute, between: [ground, b], motion: b.x}}\n",
       "'b.x', a quantity of the model, expected an expression of t alone"},
      {PLANAR "loads: {l: {kind: constant, on: b, force: [t, 0]}}\n", "unknown name 't'"},
      {PLANAR "loads: {l: {kind: constant, on: b, force: 3}}\n", "found '3', expected [x, y]"},
      {PLANAR "loads: {l: {kind: constant, on: ground, force: [1, 0]}}\n", "found the ground"},
      {PLANAR "loads: {l: {kind: constant, on: b}}\n", "expected 'force' or 'torque'"},
      {PLANAR "loads: {l: {kind: expression, on: b, force: [b.vz, 0]}}\n", "unknown name 'b.vz'"},
      {PLANAR "loads: {l: {kind: harmonic, on: b, torque: 1, omega: 50 Hz}}\n", "write 2*pi*(50 Hz)"},
      {HEAD "parameters: {t: 1}\nbodies: {b: {kind: particle, mass: 1}}\n", "found the name 't'"},
      {PLANAR "loads: {l: {kind: drag, on: b, linear: -1}}\n", "found -1"},
      {PLANAR "events: {e: {when: b.y, set: {b.q: 1}}}\n", "found 'b.q', expected a state"},
      {PLANAR "outputs: {a: 2*c, c: b.x + d, d: a}\n", "outputs that read each other in a circle: a, c, d, a"},
      {PLANAR "outputs: {a: 1 + a}\n", "in a circle: a, a"},
      {PLANAR "outputs: {speed: hypot(b.vx, bb.vy)}\n", "unknown name 'bb.vy'"},
      {PLANAR "outputs: {speed: {unit: m}}\n", "expected an expression of outputs"},
      {PLANAR "outputs: {speed: {value: b.vx, units: m/s}}\n", "did you mean 'unit'?"},
      {PLANAR "outputs: {speed: {value: b.vx, description: [a]}}\n", "a text of one line with at most 200 letters"},
      {PLANAR "outputs: {speed: [b.vx]}\n", "expected an expression, or a map"},
      {PLANAR "outputs: {t: b.vx}\n", "which has a meaning of its own"},
      {PLANAR "outputs: {b: b.vx}\n", "the name 'b' of a body, expected another name"},
      {PLANAR "parameters: {k: 2}\noutputs: {k: b.vx}\n", "the name 'k' of a parameter"},
      {PLANAR "outputs: {s: {value: s[i-1] + i, count: 70}}\n", "unknown name 's[0]'"},
      {PLANAR "outputs: {s: {value: \"if(i > 1, s[max(i-1, 1)], b.x)\", count: 70}}\n", "in a circle: s[1], s[1]"},
      {PLANAR "events: {e: {when: b.y, direction: up}}\n", "expected one of: falling, both, rising"},
      {PLANAR "frames: {c: {p: [0, 0]}}\n", "found frames of 'c'"},
      {PLANAR "instances: {x: {of: leg}}\n", "found 'leg', expected the name of an assembly"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) bad(cases[k].text, cases[k].message);
}

static void many_mistakes_are_reported_in_one_go(void **state) {
  (void)state;
  char   text[4000] = HEAD "bodies:\n";
  size_t used       = strlen(text);
  for (int k = 0; k < 25; ++k)
    used += (size_t)snprintf(text + used, sizeof text - used, "  b%d: {kind: particle, mass: -1}\n", k);
  loaded l = load_set(text, 0, NULL);
  assert_int_equal(l.status, YOKE_E_MODEL);
  assert_int_equal(yoke_context_n_messages(l.ctx), 21);
  assert_true(has_message(&l, "and 5 more mistakes"));
  release(&l);
}

static void a_mistake_in_counted_copies_is_told_once(void **state) {
  (void)state;
  loaded l = load_set(HEAD "bodies: {b: {kind: particle, count: 100, mass: x}}\n", 0, NULL);
  assert_int_equal(yoke_context_n_errors(l.ctx), 1);
  release(&l);
}

static void an_impossible_inertia_is_a_warning(void **state) {
  (void)state;
  loaded l = good(BODY("kind: rigid, mass: 1, inertia: [1, 1, 3]"));
  assert_true(has_message(&l, "no real body"));
  assert_int_equal(yoke_context_n_errors(l.ctx), 0);
  release(&l);
}

/* Cuts and damages a good model everywhere: it loads or is refused, and nothing else happens. */
/* ---- what was silent (F60), and words of other programs (F61) ---- */

/* The model loads, with a warning that contains `part`. */
static void warned(const char *text, const char *part) {
  loaded l = good(text);
  if (!has_message(&l, part))
    fail_msg("'%s' is not in '%s'", part, yoke_context_n_messages(l.ctx) > 0 ? yoke_context_message(l.ctx, 0) : "");
  release(&l);
}

static void silent(const char *text) {
  loaded l = good(text);
  if (yoke_context_n_messages(l.ctx) > 0) fail_msg("%s", yoke_context_message(l.ctx, 0));
  release(&l);
}

#define PLANAR_BODY "bodies: {c: {kind: planar, mass: 1, inertia: 1}}\n"

static void f60_a_planar_slider_along_an_axis_out_of_the_plane_is_refused(void **state) {
  (void)state;
  bad(HEAD PLANAR_BODY "connections:\n  s: {kind: translational, between: [ground, c]}\n",
      "m.yaml:5:6: key 'connections.s.axis': found a translational joint of the planar body 'c' along an axis out of "
      "its "
      "plane (the z axis of frame 'c'), which locks it; expected a direction in the plane: axis: [1, 0, 0]");
  silent(HEAD PLANAR_BODY "connections: {s: {kind: translational, between: [ground, c], axis: [1, 2, 0]}}\n");
}

static void f60_negative_stiffness_and_damping_are_warned_of(void **state) {
  (void)state;
  warned(HEAD PLANAR_BODY "connections: {s: {kind: spring-damper, between: [ground, c], stiffness: -3}}\n",
         "m.yaml:4:73: key 'connections.s.stiffness': found -3, less than 0: it pushes away");
  warned(HEAD PLANAR_BODY "connections: {s: {kind: torsion-spring, between: [ground, c], stiffness: 1, damping: -2}}\n",
         "key 'connections.s.damping': found -2, less than 0: it drives the motion, and energy grows");
  warned(HEAD "bodies: {c: {kind: chain, n: 3, mass: 1, stiffness: 2 - i}}\n",
         "key 'bodies.c.stiffness': found -2, less than 0");
}

static void f60_two_coordinates_in_space_are_warned_of(void **state) {
  (void)state;
  warned(HEAD "bodies: {b: {kind: rigid, mass: 1, inertia: [1, 1, 1], frames: {tip: [1, 2]}}}\n",
         "m.yaml:3:70: key 'bodies.b.tip': found two coordinates on a body in space, z is taken as 0; write [1, 2, 0]");
  warned(HEAD "bodies: {b: {kind: particle, mass: 1, frames: {tip: {at: [1, 2]}}}}\n", "write [1, 2, 0]");
  silent(HEAD "bodies: {b: {kind: planar, mass: 1, inertia: 1, frames: {tip: [1, 2]}}}\n");
}

static void f60_a_parameter_in_the_unit_of_another_quantity_is_warned_of(void **state) {
  (void)state;
  warned(HEAD "parameters: {l: 1 kg}\nbodies: {b: {kind: planar, mass: 1, inertia: 1, position: [l, 0]}}\n",
         "m.yaml:4:60: key 'bodies.b.position': found 'l', which has the unit kg by its parameters, expected a length "
         "[m]");
  warned(HEAD "parameters: {l: 1 m, two: 2*l}\nbodies: {b: {kind: planar, mass: two/3, inertia: 1}}\n",
         "found 'two/3', which has the unit m by its parameters, expected a mass [kg]");
  silent(HEAD
         "parameters: {l: 30 mm, m: 2 kg, w: 5 rad/s, n: 3}\n"
         "bodies: {b: {kind: planar, mass: m*n, inertia: m*l^2/12, position: [l + 0.1, n], velocity: [l*w, 0]}}\n");
  warned(HEAD "parameters: {l: 1 m, m: 2 kg}\nbodies: {b: {kind: planar, mass: m + l, inertia: 1}}\n",
         "key 'bodies.b.mass': found 'm + l', whose parameters have units that do not fit: found [kg] and [m]");
}

static void f60_tolerances_of_one_and_more_are_refused(void **state) {
  (void)state;
  static const char *const values[] = {"1.5", "1e300", "1", "0", "-1e-3"};
  for (int k = 0; k < 5; ++k) {
    char text[300], macro[300];
    snprintf(text, sizeof text, HEAD PLANAR_BODY "solvers: {default: {rtol: %s}}\n", values[k]);
    bad(text, "expected a number > 0 and < 1");
    snprintf(macro, sizeof macro, HEAD PLANAR_BODY "cosimulation: {step: {rtol: %s}}\n", values[k]);
    bad(macro, "expected a number > 0 and < 1");
  }
}

static void f61_a_tab_is_named(void **state) {
  (void)state;
  bad("yoke: 1\nt_end: 1\nbodies:\n \tc: {kind: planar, mass: 1, inertia: 1}\n",
      "m.yaml:4:2: found a tab in front of the text, expected blanks");
}

static void f61_words_of_other_programs_are_understood_in_hints(void **state) {
  (void)state;
  static const char *const kinds[][2]  = {{"hinge", "revolute"},       {"pin", "revolute"},
                                          {"Ball", "spherical"},       {"prismatic", "translational"},
                                          {"slider", "translational"}, {"weld", "fixed"},
                                          {"spring", "spring-damper"}, {"spring_damper", "spring-damper"},
                                          {"damper", "spring-damper"}, {"revolut", "revolute"}};
  static const char *const bodies[][2] = {{"mass", "mass1d"},
                                          {"point", "particle"},
                                          {"point_mass", "particle"},
                                          {"body", "rigid"},
                                          {"rigid body", "rigid"}};
  char                     text[300], part[60];
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; ++k) {
    snprintf(text, sizeof text, HEAD PLANAR_BODY "connections: {s: {kind: %s, between: [ground, c]}}\n", kinds[k][0]);
    snprintf(part, sizeof part, "; did you mean '%s'?", kinds[k][1]);
    bad(text, part);
  }
  for (size_t k = 0; k < sizeof bodies / sizeof bodies[0]; ++k) {
    snprintf(text, sizeof text, HEAD "bodies: {c: {kind: %s, mass: 1}}\n", bodies[k][0]);
    snprintf(part, sizeof part, "; did you mean '%s'?", bodies[k][1]);
    bad(text, part);
  }
}

static void f61_flexible_joints_of_the_plane_take_the_stiffness_of_their_rows(void **state) {
  (void)state;
  static const char *const kinds[] = {"fixed", "bushing"};
  for (int k = 0; k < 2; ++k) {
    char text[300];
    snprintf(text, sizeof text,
             HEAD PLANAR_BODY "connections: {s: {kind: %s, between: [ground, c], stiffness: [1, 2, 3]}}\n", kinds[k]);
    loaded        l = good(text);
    const double *c = l.model->connections[0].stiffness;
    NEAR(c[0], 1);
    NEAR(c[1], 2);
    NEAR(c[5], 3); /* the rotation in the plane is the last row of both */
    NEAR(c[0] + c[1] + c[2] + c[3] + c[4] + c[5], 6);
    release(&l);
  }
  bad(HEAD PLANAR_BODY "connections: {s: {kind: fixed, between: [ground, c], stiffness: [1, 2]}}\n",
      "expected a number, or a list of 6, or of 3, of the rows that act on its bodies");
}

static void f61_keys_of_frames_in_instances_have_one_dot(void **state) {
  (void)state;
  bad(HEAD "assemblies: {a: {bodies: {b: {kind: particle, mass: 1}}, frames: {nobody: {x: [0, 0, 0]}}}}\n"
           "instances: {c2: {of: a}}\n",
      "key 'c2.frames': found frames of 'nobody'");
}

static void f61_laws_read_states_of_bodies(void **state) {
  (void)state;
  silent(HEAD "bodies: {a: {kind: mass1d, mass: 1}, b: {kind: mass1d, mass: 1}}\n"
              "connections: {s: {kind: spring-damper, between: [ground, a], law: 3*x + b.x}}\n");
}

static void quantities_of_connections_with_wrong_ends_are_read_without_them(void **state) {
  (void)state;
  bad(HEAD "bodies: {a: {kind: planar, mass: 1, inertia: 1}}\n"
           "connections: {j: {kind: revolute, between: [nobody, a]}, s: {kind: spring-damper, between: [b, c], law: "
           "x*a.x}}\n"
           "events: {e: {when: j.angle}}\n",
      "found 'nobody', expected the name of a body or frame");
}

static void damaged_models_never_crash(void **state) {
  (void)state;
  static const char *const files[]   = {"examples/n-four-bar.yaml", "examples/chain-imp.yaml"};
  static const char        letters[] = "[]{}:,'\"#&*-1 x\n\x01\xff";
  for (int f = 0; f < 2; ++f) {
    FILE *file = fopen(files[f], "rb");
    assert_non_null(file);
    char         text[8192];
    const size_t n = fread(text, 1, sizeof text, file);
    fclose(file);
    for (size_t k = 0; k < n; k += 3) {
      const char keep = text[k];
      text[k]         = letters[k / 3 % (sizeof letters - 1)];
      loaded l        = {0};
      assert_int_equal(yoke_context_create(&l.ctx), YOKE_OK);
      l.status = yoke_model_file_read_text(l.ctx, "m.yaml", text, k % 2 == 0 ? n : k, NULL, &l.model);
      assert_true((l.status == YOKE_OK) == (l.model != NULL));
      assert_true((l.status == YOKE_OK) == (yoke_context_n_errors(l.ctx) == 0));
      release(&l);
      text[k] = keep;
    }
  }
}

/* ---- examples ---- */

static void world_point(const yoke_model *m, int frame, double p[3]) {
  const yoke_frame *f = &m->frames[frame];
  for (int k = 0; k < 3; ++k) p[k] = f->origin[k];
  if (f->body < 0) return;
  const yoke_body *b = &m->bodies[f->body];
  const double c = b->kind == YOKE_BODY_PLANAR ? cos(b->angle) : 1, s = b->kind == YOKE_BODY_PLANAR ? sin(b->angle) : 0;
  p[0] = b->position[0] + c * f->origin[0] - s * f->origin[1];
  p[1] = b->position[1] + s * f->origin[0] + c * f->origin[1];
  p[2] = b->position[2] + f->origin[2];
}

/* The joints of the planar and straight examples are closed as written. */
static void examples_are_assembled_as_written(void **state) {
  (void)state;
  static const struct {
    const char *file;
    double      gap;
  } cases[] = {{"examples/n-four-bar.yaml", 1e-14},
               {"examples/squeezer.yaml", 1e-12},
               {"examples/pendulum-chain.yaml", 1e-14},
               {"examples/heavy-top.yaml", 1e-14}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
    loaded l = load_file(cases[k].file);
    assert_int_equal(l.status, YOKE_OK);
    for (int c = 0; c < l.model->n_connections; ++c) {
      const yoke_connection *joint = &l.model->connections[c];
      double                 a[3], b[3];
      if (!yoke_connection_is_joint(joint->kind)) continue;
      world_point(l.model, joint->frame[0], a);
      world_point(l.model, joint->frame[1], b);
      const double gap = hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
      if (!(gap <= cases[k].gap)) fail_msg("%s: %s is open by %g", cases[k].file, joint->name, gap);
    }
    release(&l);
  }
}

static void the_chain_example_pushes_both_masses_of_each_cut_together(void **state) {
  (void)state;
  loaded            l = load_file("examples/chain-imp.yaml");
  const yoke_chain *c = body_of(&l, "c")->chain;
  assert_int_equal(c->n, 1000);
  assert_int_equal(c->n_loads, 2 * 9 * 10);
  for (int k = 0; k < c->n_loads; ++k) {
    const int i = c->loads[k].mass + 1; /* 100 and 101, 200 and 201, ... */
    assert_true(i % 100 == 0 || i % 100 == 1);
    NEAR(c->loads[k].amplitude, i % 100 == 0 ? 1e6 : -1e6);
  }
  release(&l);
}

static void the_starter_model_loads(void **state) {
  (void)state;
  loaded l = good(yoke_model_starter());
  assert_int_equal(yoke_model_n_bodies(l.model), 2);
  assert_int_equal(yoke_context_n_messages(l.ctx), 0);
  release(&l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parameters_are_expressions_in_any_order),
      cmocka_unit_test(a_cycle_of_parameters_is_named),
      cmocka_unit_test(bodies_of_every_kind_are_read),
      cmocka_unit_test(orientations_can_be_written_in_four_ways),
      cmocka_unit_test(count_makes_numbered_copies),
      cmocka_unit_test(assemblies_are_instantiated_under_a_name),
      cmocka_unit_test(an_assembly_that_contains_itself_is_refused),
      cmocka_unit_test(an_axis_makes_frames_that_agree_at_the_start),
      cmocka_unit_test(connections_of_every_kind_are_read),
      cmocka_unit_test(loads_of_time_become_expressions),
      cmocka_unit_test(expressions_read_states_of_bodies),
      cmocka_unit_test(chain_values_come_from_numbers_expressions_lists_and_tables),
      cmocka_unit_test(random_values_depend_on_seed_key_and_number_only),
      cmocka_unit_test(the_random_generator_is_fixed_for_all_time),
      cmocka_unit_test(chain_loads_are_sorted_by_mass),
      cmocka_unit_test(masses_of_a_chain_can_be_connected_and_loaded),
      cmocka_unit_test(a_chain_of_a_million_masses_loads),
      cmocka_unit_test(a_split_assigns_bodies_ranges_and_pieces_of_chains),
      cmocka_unit_test(settings_of_the_cosimulation_are_kept),
      cmocka_unit_test(settings_of_the_cosimulation_have_defaults),
      cmocka_unit_test(settings_of_step_control_are_kept),
      cmocka_unit_test(mistakes_in_step_control_are_found),
      cmocka_unit_test(a_split_that_does_not_fit_is_left_out_of_a_whole),
      cmocka_unit_test(mistakes_in_a_split_are_found),
      cmocka_unit_test(what_names_a_refused_object_is_not_told_as_well),
      cmocka_unit_test(other_names_are_told_beside_a_refused_object),
      cmocka_unit_test(overrides_change_any_key),
      cmocka_unit_test(the_absolute_tolerance_follows_the_relative_one),
      cmocka_unit_test(overrides_create_missing_maps),
      cmocka_unit_test(frames_can_be_written_in_several_places),
      cmocka_unit_test(line_endings_and_byte_order_marks_do_not_matter),
      cmocka_unit_test(mistakes_in_overrides_name_the_option),
      cmocka_unit_test(includes_are_relative_to_the_including_file),
      cmocka_unit_test(the_stored_text_gives_the_same_model),
      cmocka_unit_test(mistakes_name_place_key_value_and_expectation),
      cmocka_unit_test(many_mistakes_are_reported_in_one_go),
      cmocka_unit_test(a_mistake_in_counted_copies_is_told_once),
      cmocka_unit_test(an_impossible_inertia_is_a_warning),
      cmocka_unit_test(f60_a_planar_slider_along_an_axis_out_of_the_plane_is_refused),
      cmocka_unit_test(f60_negative_stiffness_and_damping_are_warned_of),
      cmocka_unit_test(f60_two_coordinates_in_space_are_warned_of),
      cmocka_unit_test(f60_a_parameter_in_the_unit_of_another_quantity_is_warned_of),
      cmocka_unit_test(f60_tolerances_of_one_and_more_are_refused),
      cmocka_unit_test(f61_a_tab_is_named),
      cmocka_unit_test(f61_words_of_other_programs_are_understood_in_hints),
      cmocka_unit_test(f61_flexible_joints_of_the_plane_take_the_stiffness_of_their_rows),
      cmocka_unit_test(f61_keys_of_frames_in_instances_have_one_dot),
      cmocka_unit_test(f61_laws_read_states_of_bodies),
      cmocka_unit_test(quantities_of_connections_with_wrong_ends_are_read_without_them),
      cmocka_unit_test(damaged_models_never_crash),
      cmocka_unit_test(examples_are_assembled_as_written),
      cmocka_unit_test(the_chain_example_pushes_both_masses_of_each_cut_together),
      cmocka_unit_test(the_starter_model_loads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
