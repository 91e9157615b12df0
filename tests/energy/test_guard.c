/* energy: guard, step by step: it acts only behind a step with a leak that is positive and has grown, and what it does takes energy out. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../cosimulation/cosimulate.h"

enum { MOST_COUPLINGS = 4 };

typedef struct watch {
  const cosim *c;
  const char  *sets;
  int    n_steps, n_acted, n_idle; /* macro points seen; steps with a force, and steps without behind one that leaked */
  double leak[2];                  /* of the last points, the newest first */
  double corrected[MOST_COUPLINGS];
} watch;

/* The leak of the only coupling and of its two subsystems, added up as the correction does. */
static double leak_now(const yoke_plan *plan, const cosim *c) {
  char   name[96];
  double sum;
  snprintf(name, sizeof name, "%s.leak", plan->couplings[0].name);
  sum = cosim_value(c, name);
  for (int side = 0; side < 2; ++side) {
    snprintf(name, sizeof name, "subsystem.%s.leak", plan->parts[plan->wires[0].subsystem[side]].name);
    sum += cosim_value(c, name);
  }
  return sum;
}

static void look(void *user, double t, const double *q, const double *v) {
  watch           *w      = user;
  const yoke_plan *plan   = yoke_system_plan(w->c->system);
  const bool       single = plan->n_couplings == 1, may = w->leak[0] > 0.0 && w->leak[0] > w->leak[1];
  (void)q, (void)v;
  assert_true(plan->n_couplings <= MOST_COUPLINGS);
  for (int k = 0; k < plan->n_couplings; ++k) {
    char name[96];
    snprintf(name, sizeof name, "%s.corrected", plan->couplings[k].name);
    const double now = cosim_value(w->c, name), work = now - w->corrected[k];
    if (single && work != 0.0 && !may)
      fail_msg("%s, t = %g: %g J behind leaks of %g and %g J", w->sets, t, work, w->leak[1], w->leak[0]);
    if (work > 0.0) fail_msg("%s, t = %g: coupling '%s' brings in %g J", w->sets, t, plan->couplings[k].name, work);
    w->n_acted += work != 0.0;
    w->n_idle += work == 0.0 && w->leak[0] != 0.0;
    w->corrected[k] = now;
  }
  w->leak[1] = w->leak[0];
  if (single) w->leak[0] = leak_now(plan, w->c);
  ++w->n_steps;
}

static watch guarded(const char *model, const char *sets) {
  char  all[COSIM_TEXT];
  cosim c;
  watch w = {.c = &c, .sets = sets};
  snprintf(all, sizeof all, "cosimulation.energy=guard;%s", sets);
  cosim_open(&c, model, all);
  cosim_run(&c, 0.0, look, &w);
  cosim_expect(&c, YOKE_OK);
  cosim_close(&c);
  print_message("%.60s %s: %d steps, %d with a force\n", model, sets, w.n_steps, w.n_acted);
  return w;
}

static const char rod[] =
    "yoke: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "t_end: 0.2\n"
    "bodies:\n"
    "  rod: {kind: cosserat-rod, elements: 2, length: 0.5, section: {circle: 0.04}, young: 1e5, density: 1100,\n"
    "        direction: [1, 0, 0]}\n"
    "  ball: {kind: rigid, mass: 0.5, inertia: [2e-3, 3e-3, 4e-3], position: [0.6, 0, 0], frames: {eye: [-0.1, 0, "
    "0]}}\n"
    "frames: {ground.wall: {at: [0, 0, 0], axis: [1, 0, 0]}}\n"
    "connections:\n"
    "  clamp: {kind: fixed, between: [ground.wall, rod.a]}\n"
    "  j: {kind: spherical, between: [rod.b, ball.eye], stiffness: 300}\n"
    "split: {one: [rod], two: [ball]}\n"
    "cosimulation: {scheme: explicit, order: 0, step: 5e-4}\n"
    "solvers: {default: {kind: dop853, rtol: 1e-9}}\n";

/* One coupling each: the leak that decides is the total. */
static const struct {
  const char *model, *sets;
} cases[] = {
    {"examples/energy-oscillator.yaml", "t_end=2"},
    {"examples/energy-oscillator.yaml", "t_end=2;cosimulation.slow_values=constant"},
    {"examples/energy-oscillator.yaml", "t_end=2;parameters.m2=0.1"},
    {"examples/energy-oscillator.yaml", "t_end=2;parameters.m2=10;cosimulation.energy_cap=1"},
    {"examples/quarter-car.yaml", "t_end=1"},
    {"examples/quarter-car.yaml", "t_end=1;cosimulation.order=1"},
    {"examples/double-pendulum-flexible.yaml",
     "cosimulation.scheme=explicit;cosimulation.order=0;cosimulation.step=5e-4;t_end=0.3;solvers.default=dop853"},
    {"examples/pendulum-cable.yaml", "t_end=1;cosimulation.step=4e-3"},
    {rod, "t_end=0.2"},
};

static void forces_act_only_behind_a_leak_that_is_positive_and_grows_and_take_energy_out(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const watch w = guarded(cases[i].model, cases[i].sets);
    assert_true(w.n_acted > 0 && w.n_idle > 10);
  }
}

/* Waves in a prestressed row of masses reach the cuts one after the other. */
static const char row[] =
    "yoke: 1\nt_end: 0.1\nbodies:\n"
    "  p: {kind: particle, count: 30, mass: 1, position: [i, 0, 0]}\n"
    "connections:\n"
    "  first: {kind: spring-damper, between: [ground, \"p[1]\"], stiffness: 1e4, damping: 1, free_length: 0.9}\n"
    "  s: {kind: spring-damper, count: 29, between: [\"p[i]\", \"p[i+1]\"], stiffness: 1e4, damping: 1, "
    "free_length: 0.95}\n"
    "loads:\n"
    "  pull: {kind: expression, on: \"p[30]\", force: [\"10*sin(30*t)\", 0, \"5*sin(30*t)\"]}\n"
    "split: {a: [\"p[1..10]\"], b: [\"p[11..20]\"], c: [\"p[21..30]\"]}\n"
    "cosimulation: {scheme: explicit, order: 0, step: 1e-4}\n";

static void couplings_that_share_a_subsystem_take_energy_out_too(void **state) {
  (void)state;
  assert_true(guarded(row, "t_end=0.1").n_acted > 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forces_act_only_behind_a_leak_that_is_positive_and_grows_and_take_energy_out),
      cmocka_unit_test(couplings_that_share_a_subsystem_take_energy_out_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
