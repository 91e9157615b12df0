/* The predicted largest stable macro step against the time domain: nonlinear subsystems under the engine, started at the rest state with a
 * small velocity. At 0.9 of the limit the motion stays small, at 1.1 of it it grows, so the limit is right within 10 %. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/cosimulate.h"
#include "../cosimulation/wire_outputs.h"
#include "analysis/equilibrium.h"
#include "analysis/stability.h"
#include "coupling/graph.h"

#define EXACT_ENOUGH ";solvers.default.rtol=1e-12;solvers.default.atol=1e-15"

typedef struct method {
  const char *model;
  const char *sets;
} method;

/* Ten rods in a plane, hanging, hinged by elastic joints with drag; five subsystems. */
#define HANGING_CHAIN                                                                                                  \
  "yoke: 1\nname: hanging chain\nparameters: {N: 10, c: 2e4, d: 20}\ngravity: [0, -9.81]\nt_end: 1\nbodies:\n"         \
  "  rod: {kind: planar, count: N, mass: 1, inertia: 1/12, angle: -pi/2, position: [0, 0.5 - i],\n"                    \
  "        frames: {top: [-0.5, 0], tip: [0.5, 0]}}\nconnections:\n"                                                   \
  "  support: {kind: atpoint, between: [ground, rod[1].top], stiffness: [c, c, 0], damping: [d, d, 0]}\n"              \
  "  hinge: {kind: atpoint, count: N - 1, between: [rod[i].tip, rod[i + 1].top], stiffness: [c, c, 0], "               \
  "damping: [d, d, 0]}\nloads:\n  drag: {kind: drag, count: N, on: rod[i], linear: 0.5}\n"                             \
  "split: {p1: [rod[1..2]], p2: [rod[3..4]], p3: [rod[5..6]], p4: [rod[7..8]], p5: [rod[9..10]]}\n"                    \
  "cosimulation: {scheme: semi-implicit, order: 1, step: 1e-3}\n"

/* Ten masses on a line with springs that stiffen, pushed off their relaxed state; five subsystems. */
#define STIFFENING_CHAIN                                                                                               \
  "yoke: 1\nname: stiffening chain\ngravity: [9.81, 0, 0]\nt_end: 1\nbodies:\n"                                        \
  "  c: {kind: chain, n: 10, mass: 1, stiffness: 1e4, damping: 15, stiffness_power: 1e7, exponent_x: 3}\n"             \
  "split: {c: 5}\ncosimulation: {scheme: semi-implicit, order: 1, step: 1e-3}\n"

static const method methods[] = {
    /* damped double pendulum, rigid knee */
    {"examples/double-pendulum.yaml", "cosimulation.couplings.formulation=baumgarte;cosimulation.order=0"},
    {"examples/double-pendulum.yaml", "cosimulation.couplings.formulation=weighted;cosimulation.order=0"},
    {"examples/double-pendulum.yaml",
     "cosimulation.couplings={formulation: baumgarte, decomposition: force/displacement};cosimulation.order=0"},
    {"examples/double-pendulum.yaml", "cosimulation.couplings.formulation=stabilized-index-2;cosimulation.order=0"},
    {"examples/double-pendulum.yaml", "cosimulation.couplings.formulation=stabilized-index-2-mu;cosimulation.order=0"},
    {"examples/double-pendulum.yaml", "cosimulation.couplings.formulation=projection;cosimulation.order=1"},
    {"examples/double-pendulum.yaml",
     "cosimulation.couplings={formulation: projection, decomposition: force/displacement};cosimulation.order=1"},
    /* damped double pendulum, elastic knee */
    {"examples/double-pendulum-flexible.yaml", "cosimulation.scheme=explicit;cosimulation.order=0"},
    {"examples/double-pendulum-flexible.yaml", "cosimulation.scheme=explicit;cosimulation.order=2"},
    {"examples/double-pendulum-flexible.yaml", "cosimulation.order=1"},
    {"examples/double-pendulum-flexible.yaml", "cosimulation.couplings.extension=i"},
    {"examples/double-pendulum-flexible.yaml", "cosimulation.couplings.decomposition=displacement/displacement"},
    /* four-bar */
    {"examples/four-bar-bushing.yaml", "cosimulation.scheme=explicit;cosimulation.order=0"},
    {"examples/four-bar-bushing.yaml", "cosimulation.scheme=explicit;cosimulation.order=1"},
    {"examples/four-bar-bushing.yaml", "cosimulation.scheme=explicit;cosimulation.sequence=gauss-seidel"},
    {"examples/four-bar-bushing.yaml", "cosimulation.order=2"},
    {"examples/four-bar-bushing.yaml", "cosimulation.scheme=implicit;cosimulation.order=1"},
    {"examples/four-bar-bushing.yaml", "cosimulation.couplings.decomposition=force/displacement;cosimulation.order=1"},
    /* ten bodies */
    {HANGING_CHAIN, "cosimulation.scheme=explicit"},
    {HANGING_CHAIN, "cosimulation.order=1"},
    {HANGING_CHAIN, "cosimulation.couplings.decomposition=force/displacement"},
    {STIFFENING_CHAIN, "cosimulation.scheme=explicit;cosimulation.order=1"},
    {STIFFENING_CHAIN, "cosimulation.order=2"},
    {STIFFENING_CHAIN, "cosimulation.order=1;cosimulation.couplings.decomposition=displacement/displacement"},
};

/* ---- time domain ---- */

typedef struct rest_rig {
  yoke_plan      *plan;
  yoke_subsystem *subsystems[16];
  yoke_exec      *exec;
  yoke_graph     *graph;
} rest_rig;

static double noise(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

/* The rest state of a model, with a velocity of about 1e-6 that fits its joints. */
static void find_rest(const cosim *c, yoke_whole_model *whole) {
  uint32_t seed = 5;
  assert_int_equal(yoke_whole_model_create(c->ctx, c->model, 0, NULL, whole), YOKE_OK);
  assert_int_equal(yoke_equilibrium_find(c->ctx, whole, NULL, NULL), YOKE_OK);
  const yoke_equations *e = &whole->equations;
  for (int i = 0; i < e->nv; ++i) whole->v[i] = 1e-6 * noise(&seed);
  if (e->ng > 0)
    assert_int_equal(e->ops->project_velocity(e->self, whole->work, c->model->t_start, whole->q, whole->v), YOKE_OK);
}

static void rig_at_rest(rest_rig *r, const cosim *c) {
  yoke_whole_model whole;
  *r = (rest_rig){0};
  find_rest(c, &whole);
  const yoke_plan_options options = {.q = whole.q, .v = whole.v};
  assert_int_equal(yoke_plan_create(c->ctx, c->model, &options, &r->plan), YOKE_OK);
  for (int i = 0; i < r->plan->n_parts; ++i) {
    const yoke_plan_part *part = &r->plan->parts[i];
    assert_int_equal(part->make(c->ctx, part->definition, &r->subsystems[i]), YOKE_OK);
  }
  assert_int_equal(yoke_exec_create(c->ctx, "serial", 1, &r->exec), YOKE_OK);
  assert_int_equal(yoke_graph_create(c->ctx, r->plan->n_parts, r->subsystems, r->plan->n_couplings, r->plan->wires,
                                     &r->plan->scheme, r->exec, &r->graph),
                   YOKE_OK);
  assert_int_equal(yoke_graph_start(r->graph, c->model->t_start, c->ctx), YOKE_OK);
  yoke_whole_model_clear(&whole);
}

static void rig_done(rest_rig *r) {
  yoke_graph_destroy(&r->graph);
  for (int i = 0; i < 16; ++i) yoke_subsystem_destroy(&r->subsystems[i]);
  yoke_exec_destroy(&r->exec);
  yoke_plan_destroy(&r->plan);
}

/* Largest velocity of a port. */
static double motion(const rest_rig *r) {
  double largest = 0.0;
  for (int w = 0; w < r->plan->n_couplings; ++w) {
    const yoke_wire *wire = &r->plan->wires[w];
    for (int side = 0; side < 2; ++side) {
      const double *y = wire_outputs(r->graph, w, side) + yoke_shape_at_v(wire->shape[side]);
      for (int k = 0; k < wire->shape[side]->n_v; ++k) largest = fmax(largest, fabs(y[k]));
    }
  }
  return largest;
}

/* Growth of the motion over n steps of H: largest of the last twentieth over largest of the first. INFINITY: the run ended. */
static double growth(const cosim *c, double H, int n) {
  rest_rig r;
  double   first = 0.0, last = 0.0;
  rig_at_rest(&r, c);
  for (int k = 1; k <= n; ++k) {
    yoke_step_statistics statistics;
    const double         t = c->model->t_start + (double)k * H;
    if (yoke_graph_try(r.graph, t, &statistics, c->ctx) != YOKE_OK || yoke_graph_accept(r.graph, c->ctx) != YOKE_OK) {
      last = INFINITY;
      break;
    }
    if (k <= n / 20) first = fmax(first, motion(&r));
    if (k > n - n / 20) last = fmax(last, motion(&r));
    if (motion(&r) > 1e-2) {
      last = INFINITY;
      break;
    }
  }
  rig_done(&r);
  return last / first;
}

static void check_method(const method *m) {
  char  sets[COSIM_TEXT];
  cosim c;
  snprintf(sets, sizeof sets, "%s%s", m->sets, EXACT_ENOUGH);
  if (cosim_load(&c, m->model, sets) != YOKE_OK) cosim_print(c.ctx);
  assert_int_equal(c.status, YOKE_OK);
  yoke_stability *s = NULL;
  if (yoke_stability_create(c.ctx, c.model, 0, &s) != YOKE_OK) {
    cosim_print(c.ctx);
    fail_msg("%s", m->sets);
  }
  const yoke_stability_search search = {.tolerance = 1e-7, .n = 121};
  yoke_stability_limit_result limit;
  yoke_stability_point        above;
  assert_int_equal(yoke_stability_limit(s, &search, &limit, c.ctx), YOKE_OK);
  assert_false(limit.is_none || limit.is_zero);
  assert_int_equal(yoke_stability_at(s, 1.1 * limit.H, &above, c.ctx), YOKE_OK);
  const double steps = log(1e3) / log(above.rho);
  const int    n     = steps < 200.0 ? 200 : steps > 40000.0 ? 40000 : (int)steps;
  const double below = growth(&c, 0.9 * limit.H, n), beyond = growth(&c, 1.1 * limit.H, n);
  print_message("%-28.28s %-70.70s limit %.5g s, coupling %s, body %s, rho at 1.1 %.6f; growth over %d steps: %.2g at "
                "0.9, %.2g at "
                "1.1\n",
                c.model->name, m->sets, limit.H, limit.above.coupling, limit.above.body, above.rho, n, below, beyond);
  yoke_stability_destroy(&s);
  cosim_close(&c);
  CHECK_BELOW(below, 3.0);
  CHECK_BELOW(30.0, beyond);
}

static void predicted_limits_are_those_of_the_time_domain(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof methods / sizeof *methods; ++i) check_method(&methods[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(predicted_limits_are_those_of_the_time_domain)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
