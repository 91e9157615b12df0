/* Where the couplings begin anew: behind a jump of a load and behind an event that sets velocities they go on from the right-hand limit,
 * and nothing of what lies before is continued. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#define COSIM_PUBLISHED

#include "../check.h"
#include "cosimulate.h"

/* ---- what is looked at ---- */

/* Coupling values when the run has reached `t` and everything that happens there is done. */
typedef struct moment {
  const cosim *c;
  double       t, value[3];
  int          n_seen;
} moment;

static bool look_at_moment(void *user, double t) {
  moment           *m     = user;
  const yoke_graph *graph = yoke_system_graph(m->c->system);
  if (t != m->t) return true;
  for (int k = 0; k < 3 && k < yoke_graph_n_channels(graph, 0); ++k) m->value[k] = yoke_graph_channel(graph, 0, k);
  ++m->n_seen;
  return true;
}

static void run_past(cosim *c, moment *m) {
  const yoke_sink sink = {.user = m, .progress = look_at_moment};
  m->c                 = c;
  cosim_expect(c, YOKE_OK);
  c->status = yoke_system_run(c->system, c->model->t_end, &sink, &c->summary, c->ctx);
  cosim_expect(c, YOKE_OK);
  assert_int_equal(m->n_seen, 1);
}

/* ---- orders ---- */

typedef struct order_row {
  const char *sets;
  double      least; /* order */
} order_row;

/* Of mass 1's position and mass 2's velocity at the end, weighted to about the same size. */
static double end_error(const char *text, const char *sets, const char *step, const double exact[2]) {
  char  all[COSIM_TEXT];
  cosim c;
  snprintf(all, sizeof all, "%s;cosimulation.step=%s", sets, step);
  c                  = cosim_done(text, all, 0.0);
  const double error = fmax(fabs(cosim_value(&c, "m1.x") - exact[0]), 1e-2 * fabs(cosim_value(&c, "m2.v") - exact[1]));
  cosim_close(&c);
  return error;
}

/* `fine` is half of `coarse`. */
static void check_orders(const char *text, int n, const order_row *rows, const char *coarse, const char *fine) {
  cosim        whole    = cosim_done_monolithic(text, NULL, 0.0);
  const double exact[2] = {cosim_value(&whole, "m1.x"), cosim_value(&whole, "m2.v")};
  cosim_close(&whole);
  for (int k = 0; k < n; ++k) {
    const double error[2] = {end_error(text, rows[k].sets, coarse, exact), end_error(text, rows[k].sets, fine, exact)};
    const double order    = log2(error[0] / error[1]);
    if (!(order > rows[k].least)) fail_msg("%s: order %.2f, errors %.3g %.3g", rows[k].sets, order, error[0], error[1]);
  }
}

/* ---- jumps of loads ---- */

/* Two joined masses of 1 and 2 kg, 1000 N/m and 5 N s/m to the wall at the first; 300 N push the second from t = 0.0803 on.
 *   3 a = -1000 x - 5 v + F,   force on mass 1: lambda = a + 1000 x + 5 v. */
#define JOINED                                                                                                         \
  "yoke: 1\n"                                                                                                          \
  "t_end: 0.16\n"                                                                                                      \
  "bodies:\n"                                                                                                          \
  "  m1: {kind: mass1d, mass: 1, x: 0, v: 2}\n"                                                                        \
  "  m2: {kind: mass1d, mass: 2, x: 0, v: 2}\n"                                                                        \
  "connections:\n"                                                                                                     \
  "  wall: {kind: spring-damper, between: [ground, m1], stiffness: 1000, damping: 5, free_length: 0}\n"                \
  "  joint: {kind: fixed, between: [m1, m2]}\n"                                                                        \
  "loads: {push: {kind: expression, on: m2, force: 300*step(t - 0.0803)}}\n"                                           \
  "split: {a: [m1], b: [m2]}\n"                                                                                        \
  "cosimulation: {scheme: implicit, order: 1, step: 1e-3}\n"                                                           \
  "solvers: {default: {kind: dop853, rtol: 1e-12, atol: 1e-14}}\n"
enum { JUMP_FORCE = 300 };
static const double jump_time = 0.0803;

/* x and v of the joined masses at the jump, from a run without it. */
static void state_at_jump(double *x, double *v) {
  cosim c = cosim_done_monolithic(JOINED, "t_end=0.0803", 0.0);
  *x      = cosim_value(&c, "m1.x");
  *v      = cosim_value(&c, "m1.v");
  cosim_close(&c);
}

static void behind_a_jump_of_a_load_multipliers_have_their_right_limit(void **state) {
  (void)state;
  static const char *const formulations[] = {"stabilized-index-2", "stabilized-index-1",    "baumgarte",
                                             "projection",         "stabilized-index-2-mu", "weighted"};
  double                   x, v;
  state_at_jump(&x, &v);
  const double force = (JUMP_FORCE - 1000.0 * x - 5.0 * v) / 3.0 + 1000.0 * x + 5.0 * v;
  for (size_t k = 0; k < sizeof formulations / sizeof *formulations; ++k) {
    char   sets[120];
    moment m = {.t = jump_time};
    cosim  c;
    snprintf(sets, sizeof sets,
             "cosimulation.couplings.formulation=%s;cosimulation.order=0;cosimulation.scheme=semi-implicit",
             formulations[k]);
    cosim_open(&c, JOINED, sets);
    run_past(&c, &m);
    /* the jump is 200 N */
    if (!(fabs(m.value[0] - force) < 2.0)) fail_msg("%s: %g, expected %g", formulations[k], m.value[0], force);
    cosim_close(&c);
  }
}

/* Order across the jump: that of the method without it. A start from the left limit, or a polynomial through points before the jump,
 * leaves an error in v of the jump times the step: order 1. */
static void a_jump_costs_no_order(void **state) {
  (void)state;
  static const order_row rows[] = {
      {"cosimulation.order=1", 3.5},
      {"cosimulation.order=2", 3.5},
      {"cosimulation.couplings.formulation=stabilized-index-1;cosimulation.order=1", 3.5},
      {"cosimulation.couplings.formulation=baumgarte;cosimulation.order=1", 1.8},
  };
  check_orders(JOINED, sizeof rows / sizeof *rows, rows, "1.6e-2", "8e-3");
}

/* ---- events ---- */

/* Two masses with a spring and a damper between them; at t = 0.02 the first one is stopped. */
#define STOPPED                                                                                                        \
  "yoke: 1\n"                                                                                                          \
  "t_end: 0.04\n"                                                                                                      \
  "bodies:\n"                                                                                                          \
  "  m1: {kind: mass1d, mass: 1, x: 0, v: 3}\n"                                                                        \
  "  m2: {kind: mass1d, mass: 2, x: 0, v: -1}\n"                                                                       \
  "connections:\n"                                                                                                     \
  "  link: {kind: spring-damper, between: [m1, m2], stiffness: 500, damping: 20, free_length: 0}\n"                    \
  "events: {stop: {when: t - 0.02, set: {m1.v: 0}}}\n"                                                                 \
  "split: {a: [m1], b: [m2]}\n"                                                                                        \
  "cosimulation: {scheme: implicit, order: 2, step: 1e-3}\n"                                                           \
  "solvers: {default: {kind: dop853, rtol: 1e-12, atol: 1e-14}}\n"

static void behind_an_event_the_coupling_has_the_force_of_the_new_velocities(void **state) {
  (void)state;
  static const char *const schemes[] = {"explicit", "semi-implicit", "implicit", "waveform"};
  cosim                    whole     = cosim_done_monolithic(STOPPED, "t_end=0.02", 0.0);
  const double stretch = cosim_value(&whole, "m2.x") - cosim_value(&whole, "m1.x"), v2 = cosim_value(&whole, "m2.v");
  const double force = 500.0 * stretch + 20.0 * v2; /* on mass 1, which stands */
  cosim_close(&whole);
  for (size_t k = 0; k < sizeof schemes / sizeof *schemes; ++k) {
    char   sets[80];
    moment m = {.t = 0.02};
    cosim  c;
    snprintf(sets, sizeof sets, "cosimulation.scheme=%s", schemes[k]);
    cosim_open(&c, STOPPED, sets);
    run_past(&c, &m);
    CHECK_NEAR(fabs(m.value[0]), fabs(force), 0.05); /* before the event it was 30 N apart */
    cosim_close(&c);
  }
}

static void an_event_costs_no_order(void **state) {
  (void)state;
  static const order_row rows[] = {
      {"cosimulation.order=1", 1.8},
      {"cosimulation.order=2", 2.8},
      {"cosimulation.order=2;cosimulation.couplings.decomposition=force/displacement", 2.8},
      {"cosimulation.order=2;cosimulation.couplings.decomposition=displacement/displacement", 2.8},
      {"cosimulation.scheme=explicit;cosimulation.order=1", 1.7},
      {"cosimulation.scheme=explicit;cosimulation.order=1;cosimulation.predictor=acceleration", 1.7},
      {"cosimulation.scheme=explicit;cosimulation.order=1;cosimulation.predictor=acceleration-relaxed", 1.7},
  };
  check_orders(STOPPED, sizeof rows / sizeof *rows, rows, "1e-3", "5e-4");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(behind_a_jump_of_a_load_multipliers_have_their_right_limit),
      cmocka_unit_test(a_jump_costs_no_order),
      cmocka_unit_test(behind_an_event_the_coupling_has_the_force_of_the_new_velocities),
      cmocka_unit_test(an_event_costs_no_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
