/* After its set-up a system allocates nothing in a macro step (invariant 7 of the design): calls of the library's allocations lead here
 * (tests/CMakeLists.txt). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../allocations.h"
#include "../cosimulation/cosimulate.h"
#include <stdatomic.h>

/* Until WARM steps are done rooms for samples, spare factors and what a first restart needs come to be. */
enum { WARM = 40, N_STEPS = 80 };

typedef struct tally {
  const yoke_context *ctx;
  int                 n_steps, n_before;
  size_t              n_messages;
  int                 step, n; /* a step behind WARM with allocations, and how many; 0: none */
} tally;

/* A step with a message (an event tells of itself) may allocate for it. */
static bool follow(void *user, double t) {
  tally       *x          = user;
  const size_t n_messages = yoke_context_n_messages(x->ctx);
  const int    n          = n_allocations - x->n_before;
  (void)t;
  if (++x->n_steps > WARM && n > 0 && n_messages == x->n_messages && x->n == 0) {
    x->step = x->n_steps;
    x->n    = n;
  }
  x->n_messages = n_messages;
  x->n_before   = n_allocations;
  return x->n_steps < N_STEPS;
}

static yoke_status look(void *user, double t, const double *outputs, const yoke_counters *counters, double h,
                        int order) {
  (void)user, (void)t, (void)outputs, (void)counters, (void)h, (void)order;
  return YOKE_OK;
}

static void expect_none(const char *model, const char *sets, const char *exec, int threads) {
  const yoke_system_options options = {.exec = exec, .threads = threads};
  cosim                     c;
  cosim_load(&c, model, sets);
  assert_int_equal(cosim_start(&c, false, &options), YOKE_OK);
  tally           x    = {.ctx = c.ctx};
  const yoke_sink sink = {.user = &x, .sample = look, .progress = follow};
  assert_int_equal(yoke_system_run(c.system, c.model->t_end, &sink, &c.summary, c.ctx), YOKE_E_INTERRUPTED);
  assert_int_equal(x.n_steps, N_STEPS);
  if (x.n > 0) fail_msg("%.40s, %s: %d allocations in step %d", model, sets, x.n, x.step);
  cosim_close(&c);
}

static const char *const two_mass = "examples/two-mass.yaml", *const double_pendulum = "examples/double-pendulum.yaml";

#define SCHEME "cosimulation.scheme="
#define INSIDE ";output.every=3e-4"
#define DOPRI5 ";solvers.default={kind: dopri5}"
#define CONTROL ";cosimulation.step={rtol: 1e-4, max: 1e-3}"

static void steps_with_samples_inside_allocate_nothing(void **state) {
  (void)state;
  expect_none(two_mass, SCHEME "explicit" DOPRI5 INSIDE, "serial", 1);
  expect_none(two_mass, SCHEME "explicit;cosimulation.sequence=gauss-seidel" DOPRI5 INSIDE, "serial", 1);
  expect_none(two_mass, SCHEME "explicit;cosimulation.predictor=acceleration" DOPRI5 INSIDE, "serial", 1);
  expect_none(two_mass, SCHEME "explicit;cosimulation.energy=correct" DOPRI5 INSIDE, "serial", 1);
  expect_none(two_mass, SCHEME "semi-implicit" DOPRI5 INSIDE, "threads", 3);
  expect_none(two_mass, SCHEME "implicit;cosimulation.jacobian=broyden" DOPRI5 INSIDE, "serial", 1);
  expect_none(two_mass, SCHEME "waveform" DOPRI5 INSIDE, "serial", 1);
  expect_none(double_pendulum, SCHEME "semi-implicit;solvers.default={kind: radau5}" INSIDE, "serial", 1);
  expect_none(double_pendulum, SCHEME "semi-implicit;solvers.default={kind: bdf}" INSIDE, "serial", 1);
  expect_none("examples/chain-imp.yaml",
              "parameters.n=100;split.c=4;cosimulation.couplings.formulation=overlap;cosimulation.step=2e-6;"
              "output.every=3e-6",
              "threads", 2);
}

static void steps_of_a_cut_law_that_reads_the_model_allocate_nothing(void **state) {
  static const char *const schemes[] = {"explicit", "semi-implicit", "implicit", "waveform"};
  (void)state;
  for (size_t i = 0; i < sizeof schemes / sizeof *schemes; ++i) {
    char sets[300];
    snprintf(sets, sizeof sets,
             SCHEME "%s" DOPRI5 ";output={every: 3e-4, select: ['*', total.balance]};"
                    "connections.coupling={kind: spring-damper, between: [m1, m2], law: 300*x + 9*v + 50*m1.x*m2.v}",
             schemes[i]);
    expect_none(two_mass, sets, "serial", 1);
  }
}

static void steps_of_joints_with_energies_allocate_nothing(void **state) {
  (void)state;
  static const char *const formulations[] = {"projection",         "baumgarte",          "weighted",
                                             "stabilized-index-1", "stabilized-index-2", "stabilized-index-2-mu"};
  for (size_t i = 0; i < sizeof formulations / sizeof *formulations; ++i) {
    char sets[256];
    snprintf(sets, sizeof sets,
             SCHEME "semi-implicit;cosimulation.couplings.formulation=%s;output={every: 3e-4, select: ['*', "
                    "total.balance]}",
             formulations[i]);
    expect_none(double_pendulum, sets, "threads", 2);
  }
}

static void controlled_steps_allocate_nothing(void **state) {
  (void)state;
  expect_none(two_mass, SCHEME "explicit" DOPRI5 INSIDE CONTROL, "serial", 1);
  expect_none(two_mass, SCHEME "semi-implicit" DOPRI5 INSIDE CONTROL, "threads", 2);
  expect_none(double_pendulum, SCHEME "implicit" DOPRI5 INSIDE CONTROL, "serial", 1);
  expect_none(double_pendulum, SCHEME "semi-implicit" DOPRI5 INSIDE CONTROL, "serial", 1);
}

/* A ball that bounces, and a bob that hangs on it; the bob is pushed from t = 0.005 s on. */
static const char ball[] =
    "yoke: 1\n"
    "gravity: [-9.81, 0, 0]\n"
    "t_end: 1.2\n"
    "bodies:\n"
    "  ball: {kind: mass1d, mass: 1, x: 1e-4}\n"
    "  bob: {kind: mass1d, mass: 0.5, x: 0.3001}\n"
    "connections:\n"
    "  spring: {kind: spring-damper, between: [ball, bob], stiffness: 200, damping: 1, free_length: 0.3}\n"
    "loads: {push: {kind: expression, on: bob, force: 5*step(t - 0.005)}}\n"
    "events: {bounce: {when: ball.x, direction: falling, set: {ball.v: -0.9*ball.v}}}\n"
    "split: {a: [ball], b: [bob]}\n"
    "cosimulation: {scheme: implicit, order: 2, step: 1e-3}\n"
    "solvers: {default: {kind: dopri5, rtol: 1e-11}}\n"
    "output: {every: 7e-4}\n";

static void steps_between_events_allocate_nothing(void **state) {
  (void)state;
  expect_none(ball, NULL, "serial", 1);
  expect_none(ball, SCHEME "explicit", "serial", 1);
}

static void steps_of_loads_and_events_that_read_accelerations_and_forces_of_joints_allocate_nothing(void **state) {
  static const char felt[] =
      "yoke: 1\n"
      "gravity: [0, -10, 0]\n"
      "t_end: 1\n"
      "bodies:\n"
      "  upper: {kind: planar, mass: 1, inertia: 0.1, position: [0.5, 0], frames: {root: [-0.5, 0], tip: [0.5, 0]}}\n"
      "  lower: {kind: planar, mass: 1, inertia: 0.1, position: [1.5, 0], frames: {root: [-0.5, 0], tip: [0.5, 0]}}\n"
      "connections:\n"
      "  hinge: {kind: revolute, between: [upper.root, ground]}\n"
      "  knee: {kind: revolute, between: [lower.root, upper.tip]}\n"
      "loads:\n"
      "  a: {kind: expression, on: upper, torque: '0.1*hinge.force[2] - 0.05*knee.force[1] - 0.01*upper.alpha^3'}\n"
      "  b: {kind: expression, on: lower.tip, force: ['-0.1*lower.tip.ax', '0.1*upper.ay']}\n"
      "events: {e: {when: 'hinge.force[2] + knee.force[2] - 100'}}\n"
      "split: {one: [upper], two: [lower]}\n"
      "cosimulation: {scheme: implicit, order: 2, step: 1e-3}\n"
      "output: {every: 7e-4}\n";
  (void)state;
  expect_none(felt, "solvers.default={kind: dopri5}", "serial", 1);
  expect_none(felt, "solvers.default={kind: radau5};cosimulation.jacobian=finite-difference", "serial", 1);
}

int main(void) {
#ifdef YOKE_SANITIZED
  return 0; /* every piece of an arena has a block of its own there */
#endif
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_with_samples_inside_allocate_nothing),
      cmocka_unit_test(steps_of_a_cut_law_that_reads_the_model_allocate_nothing),
      cmocka_unit_test(steps_of_joints_with_energies_allocate_nothing),
      cmocka_unit_test(controlled_steps_allocate_nothing),
      cmocka_unit_test(steps_between_events_allocate_nothing),
      cmocka_unit_test(steps_of_loads_and_events_that_read_accelerations_and_forces_of_joints_allocate_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
