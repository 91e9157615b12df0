/* Subsystems that take several steps in a macro step, and couplings that are exchanged inside of it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../said.h"
#include "rig.h"

/* A slow mass, and two fast ones: springs between neighbours and to the walls. */
#define MASSES                                                                                                         \
  "yoke: 1\n"                                                                                                          \
  "t_end: 0.4\n"                                                                                                       \
  "parameters: {soft: 30}\n"                                                                                           \
  "bodies:\n"                                                                                                          \
  "  a: {kind: mass1d, mass: 2, x: 0.1, v: 1}\n"                                                                       \
  "  b: {kind: mass1d, mass: 0.2, x: -0.05, v: -1}\n"                                                                  \
  "  c: {kind: mass1d, mass: 0.1, x: 0.02, v: 2}\n"                                                                    \
  "connections:\n"                                                                                                     \
  "  wall: {kind: spring-damper, between: [ground, a], stiffness: 20, damping: 0.2}\n"                                 \
  "  ab: {kind: spring-damper, between: [a, b], stiffness: soft, damping: soft/300}\n"                                 \
  "  bc: {kind: spring-damper, between: [b, c], stiffness: 50, damping: 0.1}\n"                                        \
  "  end: {kind: spring-damper, between: [c, ground], stiffness: 80, damping: 0.1}\n"
#define SPLIT                                                                                                          \
  "split: {A: [a], B: [b], C: [c]}\n"                                                                                  \
  "solvers: {default: {kind: dop853, rtol: 1e-12, atol: 1e-13}}\n"                                                     \
  "cosimulation: {scheme: explicit, order: 1, step: 4e-3}\n"
static const char masses[] = MASSES SPLIT;

/* Planar arms with two cut joints that meet in the middle one. */
static const char arms[] =
    "yoke: 1\n"
    "t_end: 0.1\n"
    "gravity: [0, -9.81, 0]\n"
    "bodies:\n"
    "  a: {kind: planar, mass: 3, inertia: 0.3, position: [0.5, 0], frames: {l: [-0.5, 0], r: [0.5, 0]}}\n"
    "  b: {kind: planar, mass: 1, inertia: 0.1, position: [1.5, 0], frames: {l: [-0.5, 0], r: [0.5, 0]}}\n"
    "  c: {kind: planar, mass: 0.3, inertia: 0.03, position: [2.5, 0], frames: {l: [-0.5, 0]}}\n"
    "connections:\n"
    "  h: {kind: revolute, between: [ground, a.l]}\n"
    "  k: {kind: revolute, between: [a.r, b.l]}\n"
    "  m: {kind: revolute, between: [b.r, c.l]}\n"
    "split: {A: [a], B: [b], C: [c]}\n"
    "solvers: {default: {kind: dop853, rtol: 1e-12, atol: 1e-13}}\n"
    "cosimulation: {scheme: explicit, order: 1, step: 4e-3, joint_tolerance: 1, couplings: {formulation: kinematic, k: "
    "{prescribed: B}, m: {prescribed: C}}}\n";

static void open_rig(rig *r, const char *model, const char *sets, const char *exec, int threads) {
  const yoke_status status = rig_open(r, model, sets, exec, threads, NULL);
  if (status == YOKE_OK) return;
  cosim_print(r->c.ctx);
  fail_msg("%s: %s", sets, yoke_status_name(status));
}

static void one_substep_is_the_plain_step(void **state) {
  (void)state;
  rig plain, one;
  open_rig(&plain, masses, NULL, "serial", 1);
  open_rig(&one, masses, "cosimulation.substeps.A=1;cosimulation.subsystems.B.substeps=1", "serial", 1);
  rig_steps(&plain, 20);
  rig_steps(&one, 20);
  rig_expect_same(&plain, &one);
  rig_close(&plain);
  rig_close(&one);
}

/* ---- all are equally fast ---- */

/* Largest difference of outputs of ports between n substeps of all in 5 H and none in 5 n steps of H/n. */
static double difference(const char *model, const char *sets, int n) {
  char   fine[COSIM_TEXT], sub[COSIM_TEXT];
  rig    a, b;
  double most = 0.0;
  snprintf(fine, sizeof fine, "%s;cosimulation.step=4e-3/%d", sets, n);
  snprintf(sub, sizeof sub, "%s;cosimulation.substeps={A: %d, B: %d, C: %d}", sets, n, n, n);
  open_rig(&a, model, fine, "serial", 1);
  open_rig(&b, model, sub, "serial", 1);
  rig_steps(&a, 5 * n);
  rig_steps(&b, 5);
  for (int i = 0; i < a.plan->n_parts; ++i) {
    for (int k = 0; k < a.subsystems[i]->ny; ++k)
      most = fmax(most, fabs(yoke_graph_y(a.graph, i)[k] - yoke_graph_y(b.graph, i)[k]));
  }
  rig_close(&a);
  rig_close(&b);
  return most;
}

static void substeps_of_all_are_shorter_macro_steps(void **state) {
  (void)state;
  static const char *const sets[] = {
      "cosimulation.couplings.decomposition=force/force",
      "cosimulation.couplings.decomposition=force/displacement",
      "cosimulation.couplings.decomposition=displacement/displacement;cosimulation.order=2",
      "cosimulation.couplings={decomposition: displacement/force, feedthrough: true};cosimulation.final_update=false",
  };
  for (size_t i = 0; i < sizeof sets / sizeof *sets; ++i) CHECK_BELOW(difference(masses, sets[i], 4), 1e-10);
}

static void joints_are_exchanged_at_every_substep(void **state) {
  (void)state;
  static const char *const sets[] = {
      "cosimulation.order=1",
      "cosimulation.couplings.force=approximate;cosimulation.order=0",
      "cosimulation.couplings.motion=derivative;cosimulation.order=2",
      "cosimulation.couplings.outputs=sequential",
      "cosimulation.couplings.outputs=held",
      "cosimulation.couplings.outputs=current;cosimulation.couplings.force=reduced",
  };
  for (size_t i = 0; i < sizeof sets / sizeof *sets; ++i) CHECK_BELOW(difference(arms, sets[i], 3), 1e-8);
}

/* ---- order ---- */

/* Error of c.x at the end. */
static double error_of(const char *model, const char *sets, double H, const char *name) {
  char all[COSIM_TEXT];
  snprintf(all, sizeof all, "%s;cosimulation.step=%.17g", sets, H);
  cosim        c = cosim_done(model, all, 0.0), whole = cosim_done_monolithic(model, all, 0.0);
  const double error = fabs(cosim_value(&c, name) - cosim_value(&whole, name));
  cosim_close(&c);
  cosim_close(&whole);
  return error;
}

static void check_order(const char *model, const char *sets, const char *name, double expected) {
  double error[3];
  for (int k = 0; k < 3; ++k) error[k] = error_of(model, sets, 2e-3 / (double)(1 << k), name);
  for (int k = 0; k < 2; ++k) {
    const double order = log2(error[k] / error[k + 1]);
    if (!(fabs(order - expected) < 0.3)) fail_msg("%s: %g %g %g: order %g", sets, error[0], error[1], error[2], order);
  }
}

static void linear_values_keep_the_second_order(void **state) {
  (void)state;
  check_order(masses, "cosimulation.substeps={B: 4, C: 4}", "a.x", 2.0);
  check_order(masses, "cosimulation.substeps={B: 4, C: 8};cosimulation.couplings.decomposition=displacement/force",
              "a.x", 2.0);
  check_order(arms, "cosimulation.substeps={B: 2, C: 6};cosimulation.start=exact", "b.angle", 2.0);
}

static void constant_values_have_the_first_order(void **state) {
  (void)state;
  check_order(masses,
              "cosimulation.substeps={B: 4, C: 4};cosimulation.couplings.decomposition=displacement/force;"
              "cosimulation.slow_values=constant",
              "b.x", 1.0);
  check_order(masses, "cosimulation.substeps={B: 4, C: 4};cosimulation.order=0", "a.x", 1.0);
}

/* What the fast ones gain: the coupling between them has the error of short steps. */
static void fast_ones_exchange_at_their_own_rate(void **state) {
  (void)state;
  const double plain = error_of(masses, "parameters.soft=0;cosimulation.order=0", 2e-3, "c.x"),
               sub   = error_of(masses, "parameters.soft=0;cosimulation.order=0;cosimulation.substeps={B: 10, C: 10}",
                                2e-3, "c.x");
  CHECK_BELOW(sub, 0.3 * plain);
}

/* ---- the integer clock of González, tables 2 and 3 ---- */

#define OSCILLATOR                                                                                                     \
  "yoke: 1\n"                                                                                                          \
  "parameters: {m2: 1, k2: 1000}\n"                                                                                    \
  "t_end: 10\n"                                                                                                        \
  "bodies:\n"                                                                                                          \
  "  a: {kind: mass1d, mass: 1, v: 100}\n"                                                                             \
  "  b: {kind: mass1d, mass: m2, v: -100}\n"                                                                           \
  "connections:\n"                                                                                                     \
  "  left: {kind: spring-damper, between: [ground, a], stiffness: 10}\n"                                               \
  "  right: {kind: spring-damper, between: [b, ground], stiffness: k2}\n"                                              \
  "  link: {kind: spring-damper, between: [a, b], stiffness: 100}\n"                                                   \
  "split: {slow: [a], fast: [b]}\n"                                                                                    \
  "cosimulation:\n"                                                                                                    \
  "  scheme: explicit\n"                                                                                               \
  "  order: 0\n"                                                                                                       \
  "  step: 1e-3\n"                                                                                                     \
  "  substeps: {fast: 10}\n"                                                                                           \
  "  final_update: false\n"                                                                                            \
  "  couplings: {decomposition: displacement/force, feedthrough: true}\n"                                              \
  "solvers: {slow: {kind: semi-euler, step: 1e-3}, fast: {kind: semi-euler, step: 1e-4}}\n"

typedef struct leak {
  double m2, k2;
  double held;                /* x2 that the slow side was given for its last step */
  double start, largest, end; /* |E - E0| */
  double x[2];
} leak;

/* Energy as both sides see it: the spring of the slow one ends at what it was given. */
static void look_at_energy(void *user, double t, const double *q, const double *v) {
  leak        *l       = user;
  const double stretch = q[0] - l->held;
  const double energy  = 0.5 * v[0] * v[0] + 5.0 * q[0] * q[0] + 50.0 * stretch * stretch + 0.5 * l->m2 * v[1] * v[1] +
                        0.5 * l->k2 * q[1] * q[1];
  (void)t;
  l->largest = fmax(l->largest, fabs(energy - l->start));
  l->held    = q[1];
  memcpy(l->x, q, sizeof l->x);
}

static leak run_oscillator(double m2, double k2, const char *more) {
  leak  l = {.m2 = m2, .k2 = k2, .start = 5000.0 * (1.0 + m2)};
  char  sets[COSIM_TEXT];
  cosim c;
  snprintf(sets, sizeof sets, "parameters.m2=%g;parameters.k2=%g%s", m2, k2, more);
  cosim_open(&c, OSCILLATOR, sets);
  cosim_run(&c, 0.0, look_at_energy, &l);
  cosim_expect(&c, YOKE_OK);
  cosim_close(&c);
  return l;
}

static void the_integer_clock_values_of_the_source_are_met(void **state) {
  (void)state;
  static const struct {
    double      m2, k2;
    const char *sets;
    double      leak; /* [J] */
  } rows[] = {{1.0, 1000.0, "", 10232.4}, {0.1, 1000.0, "", 1.372e7},
              {5.0, 1000.0, "", 5797.4},  {1.0, 10.0, "", 6475.3},
              {1.0, 1e5, "", 9588.4},     {1.0, 1000.0, ";cosimulation.slow_values=constant", 20267.0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    const leak l = run_oscillator(rows[i].m2, rows[i].k2, rows[i].sets);
    CHECK_NEAR(l.largest, rows[i].leak, 1e-3 * rows[i].leak);
    if (i > 0) continue;
    CHECK_NEAR(l.x[0], -4.4485721, 1e-7);
    CHECK_NEAR(l.x[1], -1.2880863, 1e-7);
  }
}

/* ---- what else belongs to a run ---- */

static const char unequal[] = "cosimulation.substeps={B: 4, C: 6}";

static void bits_do_not_depend_on_threads(void **state) {
  (void)state;
  static const char *const models[] = {masses, arms}, *const execs[] = {"threads", "shuffled"};
  for (int m = 0; m < 2; ++m) {
    for (int e = 0; e < 2; ++e) {
      rig a, b;
      open_rig(&a, models[m], unequal, "serial", 1);
      open_rig(&b, models[m], unequal, execs[e], 3);
      rig_steps(&a, 10);
      rig_steps(&b, 10);
      rig_expect_same(&a, &b);
      rig_close(&a);
      rig_close(&b);
    }
  }
}

static void what_was_packed_goes_on_with_the_same_bits(void **state) {
  (void)state;
  rig         a, b;
  yoke_pack   pack = {0};
  yoke_unpack in;
  open_rig(&a, arms, unequal, "serial", 1);
  open_rig(&b, arms, unequal, "serial", 1);
  rig_steps(&a, 5);
  yoke_pack_begin(&pack);
  assert_int_equal(yoke_graph_pack(a.graph, &pack, a.c.ctx), YOKE_OK);
  assert_int_equal(yoke_pack_end(&pack, a.c.ctx), YOKE_OK);
  assert_int_equal(yoke_unpack_begin(&in, pack.bytes, pack.size, b.c.ctx), YOKE_OK);
  assert_int_equal(yoke_graph_unpack(b.graph, yoke_graph_t(a.graph), &in, b.c.ctx), YOKE_OK);
  yoke_pack_free(&pack);
  b.n_steps = a.n_steps;
  rig_steps(&a, 5);
  rig_steps(&b, 5);
  rig_expect_same(&a, &b);
  rig_close(&a);
  rig_close(&b);
}

static void a_rejected_trial_leaves_no_trace(void **state) {
  (void)state;
  rig a, b;
  open_rig(&a, arms, unequal, "serial", 1);
  open_rig(&b, arms, unequal, "serial", 1);
  for (int k = 0; k < 5; ++k) {
    rig_steps(&a, 1);
    assert_int_equal(rig_try(&b, yoke_graph_t(b.graph) + 0.3 * b.H), YOKE_OK);
    rig_steps(&b, 1);
  }
  rig_expect_same(&a, &b);
  rig_close(&a);
  rig_close(&b);
}

/* Values of outputs at times inside of macro steps. */
typedef struct rows {
  int    n, width;
  double t[64], value[64][4];
} rows;

static yoke_status keep_row(void *user, double t, const double *outputs, const yoke_counters *counters, double h,
                            int order) {
  rows *r = user;
  (void)counters, (void)h, (void)order;
  assert_true(r->n < 64);
  r->t[r->n] = t;
  memcpy(r->value[r->n++], outputs, (size_t)r->width * sizeof *outputs);
  return YOKE_OK;
}

static rows rows_of(const char *sets) {
  rows            r    = {.width = 3};
  const yoke_sink sink = {.user = &r, .sample = keep_row};
  cosim           c;
  cosim_open(&c, MASSES SPLIT "output: {every: 1e-3, select: [a.x, c.v, 'bc.force[1]']}\n", sets);
  cosim_expect(&c, YOKE_OK);
  c.status = yoke_system_run(c.system, 0.024, &sink, &c.summary, c.ctx);
  cosim_expect(&c, YOKE_OK);
  cosim_close(&c);
  return r;
}

static void outputs_inside_of_macro_steps_are_those_of_substeps(void **state) {
  (void)state;
  const rows sub = rows_of("cosimulation.substeps={A: 4, B: 4, C: 4}"), fine = rows_of("cosimulation.step=1e-3");
  assert_int_equal(sub.n, 25);
  assert_int_equal(fine.n, 25);
  for (int i = 0; i < sub.n; ++i) {
    CHECK_NEAR(sub.t[i], fine.t[i], 1e-15);
    for (int k = 0; k < 3; ++k) CHECK_NEAR(sub.value[i][k], fine.value[i][k], 1e-10);
  }
}

/* A ball that bounces in a fast subsystem, at a time inside of its substeps. */
static void events_of_a_fast_one_end_the_macro_step(void **state) {
  (void)state;
  static const char model[] =
      "yoke: 1\n"
      "gravity: [-9.81, 0, 0]\n"
      "t_end: 0.6\n"
      "bodies:\n"
      "  ball: {kind: mass1d, mass: 1, x: 0.5}\n"
      "  bob: {kind: mass1d, mass: 0.5, x: 0.8}\n"
      "connections:\n"
      "  spring: {kind: spring-damper, between: [ball, bob], stiffness: 200, damping: 1, free_length: 0.3}\n"
      "split: {a: [ball], b: [bob]}\n"
      "events: {bounce: {when: ball.x, direction: falling, set: {ball.v: -0.9*ball.v}}}\n"
      "cosimulation: {scheme: explicit, order: 2, step: 2e-3, substeps: {a: 5}}\n"
      "solvers: {default: {kind: dopri5, rtol: 1e-11}}\n";
  const double split = cosim_event_time(model, false), whole = cosim_event_time(model, true);
  CHECK_NEAR(split, whole, 1e-5);
  CHECK_BELOW(cosim_error(model, NULL, "ball.x"), 1e-4);
}

static void the_contract_of_subsystems_is_kept(void **state) {
  (void)state;
  const yoke_system_options options = {.exec = "serial", .threads = 1, .check = true};
  cosim                     c;
  cosim_load(&c, arms, unequal);
  cosim_start(&c, false, &options);
  cosim_run(&c, 0.0, NULL, NULL);
  cosim_expect(&c, YOKE_OK);
  cosim_close(&c);
}

/* Schneider, Burger, Arnold, Simeon, section 4.5. */
static void a_long_fixed_step_is_one_step_per_substep(void **state) {
  (void)state;
  static const int n[] = {1, 3};
  for (int k = 0; k < 2; ++k) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets,
             "cosimulation.substeps={A: %d, B: %d, C: %d};solvers.default.kind=lin-implicit-euler;"
             "solvers.default.step=1",
             n[k], n[k], n[k]);
    cosim c = cosim_done(masses, sets, 0.04);
    assert_int_equal(c.summary.counters.steps, 3 * n[k] * 10);
    cosim_close(&c);
  }
}

static void what_does_not_go_with_substeps_is_refused_with_a_remedy(void **state) {
  (void)state;
  static const struct {
    const char *sets, *message;
  } cases[] = {
      {"cosimulation.scheme=implicit", "subsystem 'B' takes 4 substeps in a macro step, but scheme implicit solves its "
                                       "conditions at macro points only; use scheme explicit"},
      {"cosimulation.sequence=gauss-seidel", "use sequence jacobi"},
      {"cosimulation.predictor=least-squares", "goes with predictor extrapolation only"},
      {"cosimulation.step=auto", "cosimulation.subsystems.B.substeps: found 4, but step control"},
      {"cosimulation.substeps.C=0",
       "key 'cosimulation.subsystems.C.substeps': found 0, expected a whole number from 1 to 100000"},
      {"cosimulation.substeps.D=2", "found the name of no subsystem"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char  sets[COSIM_TEXT];
    cosim c;
    snprintf(sets, sizeof sets, "cosimulation.substeps.B=4;%s", cases[i].sets);
    cosim_open(&c, masses, sets);
    if (c.status == YOKE_OK || !said(c.ctx, cases[i].message)) {
      cosim_print(c.ctx);
      fail_msg("%s: no '%s'", cases[i].sets, cases[i].message);
    }
    cosim_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_substep_is_the_plain_step),
      cmocka_unit_test(substeps_of_all_are_shorter_macro_steps),
      cmocka_unit_test(joints_are_exchanged_at_every_substep),
      cmocka_unit_test(linear_values_keep_the_second_order),
      cmocka_unit_test(constant_values_have_the_first_order),
      cmocka_unit_test(fast_ones_exchange_at_their_own_rate),
      cmocka_unit_test(the_integer_clock_values_of_the_source_are_met),
      cmocka_unit_test(bits_do_not_depend_on_threads),
      cmocka_unit_test(what_was_packed_goes_on_with_the_same_bits),
      cmocka_unit_test(a_rejected_trial_leaves_no_trace),
      cmocka_unit_test(outputs_inside_of_macro_steps_are_those_of_substeps),
      cmocka_unit_test(events_of_a_fast_one_end_the_macro_step),
      cmocka_unit_test(the_contract_of_subsystems_is_kept),
      cmocka_unit_test(a_long_fixed_step_is_one_step_per_substep),
      cmocka_unit_test(what_does_not_go_with_substeps_is_refused_with_a_remedy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
