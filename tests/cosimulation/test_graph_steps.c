/* Steps of a graph that are looked into, that subsystems end early, and of a single subsystem without wires. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "coupling/trial.h"
#include "rig.h"

static const char *const two_mass = "examples/two-mass.yaml";

static const char *const schemes[] = {
    "cosimulation.scheme=explicit;cosimulation.order=1",
    "cosimulation.scheme=explicit;cosimulation.order=1;cosimulation.sequence=gauss-seidel",
    "cosimulation.scheme=semi-implicit;cosimulation.order=2",
    "cosimulation.scheme=implicit;cosimulation.order=2;cosimulation.jacobian=broyden",
    "cosimulation.scheme=semi-implicit;cosimulation.order=1;cosimulation.couplings.extension=d",
    "cosimulation.scheme=waveform;cosimulation.order=1",
};
enum { IMPLICIT = 3, N_SCHEMES = (int)(sizeof schemes / sizeof schemes[0]) };

static void open_with(rig *r, const char *sets, void (*bend)(rig *)) {
  const yoke_status status = rig_open(r, two_mass, sets, "serial", 1, bend);
  if (status == YOKE_OK) return;
  cosim_print(r->c.ctx);
  fail_msg("%s: %s", sets, yoke_status_name(status));
}

/* ---- a subsystem that ends its step early ---- */

static const yoke_subsystem_ops *whole_ops;
static double                    limit; /* steps that start before this time end there at the latest */

static yoke_status limited_step(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u,
                                yoke_step_request *request, yoke_context *ctx) {
  const double t_end = request->t_end;
  if (request->t < limit && limit < t_end) request->t_end = limit;
  const yoke_status status = whole_ops->step(s, scratch, state, u, request, ctx);
  request->t_end           = t_end;
  return status;
}

static void limit_first(rig *r) {
  whole_ops             = r->subsystems[0]->ops;
  r->ops                = *whole_ops;
  r->ops.step           = limited_step;
  r->subsystems[0]->ops = &r->ops;
}

static void a_subsystem_that_ends_early_ends_the_trial_of_all(void **state) {
  (void)state;
  for (int i = 0; i < N_SCHEMES; ++i) {
    rig plain, limited;
    limit = (double)INFINITY;
    open_with(&plain, schemes[i], NULL);
    open_with(&limited, schemes[i], limit_first);
    rig_steps(&plain, 3);
    rig_steps(&limited, 3);
    const double t = yoke_graph_t(plain.graph);
    limit          = t + 0.4 * plain.H;
    assert_int_equal(rig_try(&limited, t + plain.H), YOKE_OK);
    CHECK_NEAR(yoke_graph_trial_end(limited.graph), limit, 0.0);
    assert_int_equal(yoke_graph_accept(limited.graph, limited.c.ctx), YOKE_OK);
    assert_int_equal(rig_try(&plain, limit), YOKE_OK);
    assert_int_equal(yoke_graph_accept(plain.graph, plain.c.ctx), YOKE_OK);
    rig_expect_same(&plain, &limited);
    rig_close(&plain);
    rig_close(&limited);
  }
}

static void limit_first_and_fix_second(rig *r) {
  limit_first(r);
  assert_int_equal(yoke_subsystem_forward(r->c.ctx, r->subsystems[1], &r->subsystems[1]), YOKE_OK);
}

static void an_early_end_beside_a_subsystem_that_cannot_go_back_names_it(void **state) {
  (void)state;
  rig r;
  limit = (double)INFINITY;
  open_with(&r, schemes[0], limit_first_and_fix_second);
  rig_steps(&r, 2);
  limit = yoke_graph_t(r.graph) + 0.5 * r.H;
  assert_int_equal(rig_try(&r, yoke_graph_t(r.graph) + r.H), YOKE_E_SUBSYSTEM);
  const size_t n = yoke_context_n_messages(r.c.ctx);
  assert_true(n > 0);
  assert_non_null(strstr(yoke_context_message(r.c.ctx, n - 1), r.subsystems[1]->name));
  rig_close(&r);
}

/* ---- steps of an analysis ---- */

static void open_for_analysis(rig *r, bool has_linear_parts, bool bears_any_size) {
  const char *const sets =
      "cosimulation.scheme=semi-implicit;cosimulation.order=1;cosimulation.jacobian=finite-difference;"
      "solvers.default.kind=exact";
  assert_int_equal(rig_plan(r, two_mass, sets), YOKE_OK);
  r->plan->scheme.has_linear_parts = has_linear_parts;
  r->plan->scheme.bears_any_size   = bears_any_size;
  r->plan->scheme.corrections      = 1;
  assert_int_equal(rig_build(r, "serial", 1, NULL), YOKE_OK);
}

static void linear_subsystems_are_perturbed_once_for_all_steps_of_a_length(void **state) {
  (void)state;
  rig                  all, once;
  yoke_step_statistics statistics[2];
  open_for_analysis(&all, false, false);
  open_for_analysis(&once, true, false);
  rig_steps(&all, 4);
  rig_steps(&once, 4);
  const double t = 5 * all.H;
  assert_int_equal(yoke_graph_try(all.graph, t, &statistics[0], all.c.ctx), YOKE_OK);
  assert_int_equal(yoke_graph_try(once.graph, t, &statistics[1], once.c.ctx), YOKE_OK);
  assert_int_equal(statistics[1].integrations, 4); /* two of each */
  assert_true(statistics[0].integrations > 4);
  assert_int_equal(yoke_graph_try(once.graph, t - 0.5 * all.H, &statistics[1], once.c.ctx), YOKE_OK);
  assert_int_equal(statistics[1].integrations, statistics[0].integrations); /* of another length */
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < 2; ++k)
      CHECK_NEAR(yoke_graph_y(once.graph, i)[k], yoke_graph_y(all.graph, i)[k],
                 1e-11 * fabs(yoke_graph_y(all.graph, i)[k]));
  }
  rig_close(&all);
  rig_close(&once);
}

/* A motion of 1e30 in a step is none, but a direction of 1e30 is a direction. */
static void directions_of_an_analysis_are_never_too_large_for_a_step(void **state) {
  (void)state;
  for (int bears = 0; bears <= 1; ++bears) {
    rig r;
    open_for_analysis(&r, false, bears != 0);
    rig_steps(&r, 3);
    const int n = yoke_graph_memory_size(r.graph);
    double    memory[64];
    assert_true(n <= 64);
    yoke_graph_memory_get(r.graph, memory);
    for (int i = 0; i < n; ++i) memory[i] *= 1e30;
    assert_int_equal(yoke_graph_memory_set(r.graph, 3 * r.H, r.H, memory), YOKE_OK);
    assert_int_equal(rig_try(&r, 4 * r.H), bears != 0 ? YOKE_OK : YOKE_E_UNSTABLE);
    rig_close(&r);
  }
}

/* ---- one subsystem without wires ---- */

static yoke_graph *lone_graph(rig *r, bool stop_anywhere, bool in_place) {
  yoke_scheme_settings settings = *yoke_graph_settings(r->graph);
  yoke_graph          *graph    = NULL;
  snprintf(settings.scheme, sizeof settings.scheme, "explicit");
  settings.stop_anywhere = stop_anywhere;
  settings.in_place      = in_place;
  assert_int_equal(yoke_graph_create(r->c.ctx, 1, r->subsystems, 0, NULL, &settings, r->exec, &graph), YOKE_OK);
  assert_int_equal(yoke_graph_start(graph, 0.0, r->c.ctx), YOKE_OK);
  return graph;
}

/* Steps until t_end, as they come; returns their number. */
static int run_to(rig *r, yoke_graph *graph, double t_end) {
  int n = 0;
  for (; yoke_graph_t(graph) < t_end; ++n) {
    yoke_step_statistics statistics;
    assert_int_equal(yoke_graph_try(graph, t_end, &statistics, r->c.ctx), YOKE_OK);
    assert_int_equal(yoke_graph_accept(graph, r->c.ctx), YOKE_OK);
  }
  return n;
}

static void one_micro_step_at_a_time_has_the_bits_of_one_step(void **state) {
  (void)state;
  static const char *const solvers[] = {"dopri5", "radau5", "bdf"};
  for (size_t k = 0; k < sizeof solvers / sizeof solvers[0]; ++k) {
    char        sets[COSIM_TEXT];
    rig         r;
    yoke_graph *graph[3];
    snprintf(sets, sizeof sets, "solvers.default.kind=%s", solvers[k]);
    open_with(&r, sets, NULL);
    const size_t size = 2 * sizeof(double); /* x, v */
    for (int i = 0; i < 3; ++i) graph[i] = lone_graph(&r, i > 0, i == 2);
    assert_int_equal(run_to(&r, graph[0], 0.05), 1);
    for (int i = 1; i < 3; ++i) {
      assert_true(run_to(&r, graph[i], 0.05) > 3);
      assert_memory_equal(yoke_graph_y(graph[0], 0), yoke_graph_y(graph[i], 0), size);
    }
    for (int i = 0; i < 3; ++i) yoke_graph_destroy(&graph[i]);
    rig_close(&r);
  }
}

/* ---- observation ---- */

static void values_inside_a_step_are_those_of_a_step_that_ends_there(void **state) {
  (void)state;
  const int64_t            handles[2] = {yoke_output_handle(0), yoke_output_handle(1)}; /* x, v */
  const yoke_graph_handles lists[2]   = {{2, handles}, {2, handles}};
  for (int i = 0; i < N_SCHEMES; ++i) {
    rig           r;
    const double *inside;
    open_with(&r, schemes[i], NULL);
    rig_steps(&r, 3);
    const double t = yoke_graph_t(r.graph), times[4] = {t, t + 0.3 * r.H, t + r.H, t + 2.0 * r.H};
    assert_int_equal(yoke_graph_observe(r.graph, 4, times, lists, r.c.ctx), YOKE_OK);
    assert_int_equal(rig_try(&r, t + r.H), YOKE_OK);
    assert_int_equal(yoke_graph_n_observed(r.graph, &inside), 0); /* not yet accepted */
    assert_int_equal(yoke_graph_accept(r.graph, r.c.ctx), YOKE_OK);
    assert_int_equal(yoke_graph_n_observed(r.graph, &inside), 1);
    CHECK_NEAR(inside[0], times[1], 0.0);
    for (int s = 0; s < 2; ++s) {
      const double t_end = yoke_graph_t(r.graph), *values = yoke_graph_observed(r.graph, s);
      double       end[2];
      assert_int_equal(yoke_graph_show(r.graph, s, t_end, YOKE_SIDE_LEFT, 2, handles, end, r.c.ctx), YOKE_OK);
      CHECK_NEAR(end[0], yoke_graph_y(r.graph, s)[0], 1e-12);
      CHECK_NEAR(end[1], yoke_graph_y(r.graph, s)[1], 1e-10);
      const double x0 = end[0] - 0.7 * r.H * end[1]; /* along the tangent of the end */
      CHECK_NEAR(values[0], x0, 0.7 * r.H * 0.7 * r.H * 1e5);
    }
    if (i == IMPLICIT) { /* what is applied at the end is what the history gets */
      const double u = yoke_graph_channel(r.graph, 0, 0);
      CHECK_NEAR(yoke_graph_applied(r.graph, 0, 0), u, 1e-6 * fabs(u));
    }
    rig_close(&r);
  }
}

static void observation_changes_no_bit(void **state) {
  (void)state;
  const int64_t            handles[1] = {yoke_output_handle(0)};
  const yoke_graph_handles lists[2]   = {{1, handles}, {1, handles}};
  for (int i = 0; i < N_SCHEMES; ++i) {
    rig plain, seen;
    open_with(&plain, schemes[i], NULL);
    open_with(&seen, schemes[i], NULL);
    for (int k = 0; k < 5; ++k) {
      const double time = yoke_graph_t(seen.graph) + 0.37 * seen.H;
      assert_int_equal(yoke_graph_observe(seen.graph, 1, &time, lists, seen.c.ctx), YOKE_OK);
      rig_steps(&plain, 1);
      rig_steps(&seen, 1);
    }
    rig_expect_same(&plain, &seen);
    rig_close(&plain);
    rig_close(&seen);
  }
}

/* ---- nothing is done twice ---- */

/* What subsystem 0 and the formulation of wire 0 were asked for. */
static const yoke_formulation_ops *whole_formulation;
static yoke_formulation_ops        counted_formulation;
static int                         n_observed, n_residuals, n_updates, input_degree;

static yoke_status counted_step(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u,
                                yoke_step_request *request, yoke_context *ctx) {
  n_observed += request->n_times > 0;
  input_degree = u->degree;
  return whole_ops->step(s, scratch, state, u, request, ctx);
}

static void counted_residual(const void *self, const yoke_coupling_view *view, double *c) {
  ++n_residuals;
  whole_formulation->residual(self, view, c);
}

static void counted_update(const void *self, double t, const double *y1, const double *y2, const double *u_now,
                           double *u, yoke_arena *scratch) {
  ++n_updates;
  whole_formulation->update(self, t, y1, y2, u_now, u, scratch);
}

static void count_calls(rig *r) {
  limit_first(r);
  r->ops.step                   = counted_step;
  whole_formulation             = r->plan->wires[0].formulation;
  counted_formulation           = *whole_formulation;
  counted_formulation.residual  = counted_residual;
  counted_formulation.update    = counted_update;
  r->plan->wires[0].formulation = &counted_formulation;
}

static void only_the_last_pass_of_a_step_observes(void **state) {
  (void)state;
  const int64_t            handles[1] = {yoke_output_handle(0)};
  const yoke_graph_handles lists[2]   = {{1, handles}, {1, handles}};
  for (int i = 0; i < N_SCHEMES; ++i) {
    rig r;
    open_with(&r, schemes[i], count_calls);
    rig_steps(&r, 3);
    const double time = yoke_graph_t(r.graph) + 0.37 * r.H;
    assert_int_equal(yoke_graph_observe(r.graph, 1, &time, lists, r.c.ctx), YOKE_OK);
    n_observed = 0;
    rig_steps(&r, 1);
    assert_int_equal(n_observed, 1);
    rig_close(&r);
  }
}

static void inputs_have_the_degree_of_the_run(void **state) {
  (void)state;
  for (int order = 0; order <= 3; ++order) {
    char sets[COSIM_TEXT];
    rig  r;
    snprintf(sets, sizeof sets, "cosimulation.order=%d", order);
    open_with(&r, sets, count_calls);
    rig_steps(&r, 5);
    assert_int_equal(input_degree, order);
    rig_close(&r);
  }
}

/* Semi-implicit: of the predicted and of the corrected pass. Explicit: the update is the next value, and the residual, a statistic, follows from it
 * unless that was updated twice. */
static void conditions_are_evaluated_once_a_pass_and_laws_without_feed_through_once_a_step(void **state) {
  (void)state;
  static const struct {
    const char *sets;
    int         residuals, updates;
  } runs[] = {
      {"cosimulation.scheme=explicit;cosimulation.order=1", 0, 1},
      {"cosimulation.scheme=explicit;cosimulation.order=1;cosimulation.couplings.decomposition=force/displacement;"
       "cosimulation.couplings.feedthrough=true",
       1, 2},
      {"cosimulation.scheme=semi-implicit;cosimulation.order=2", 2, 1},
      {"cosimulation.scheme=semi-implicit;cosimulation.order=1;cosimulation.couplings.decomposition=force/displacement;"
       "cosimulation.couplings.feedthrough=true",
       2, 2},
  };
  for (size_t i = 0; i < sizeof runs / sizeof runs[0]; ++i) {
    rig r;
    open_with(&r, runs[i].sets, count_calls);
    rig_steps(&r, 3);
    n_residuals = n_updates = 0;
    rig_steps(&r, 1);
    assert_int_equal(n_residuals, runs[i].residuals);
    assert_int_equal(n_updates, runs[i].updates);
    rig_close(&r);
  }
}

/* ---- begin anew ---- */

/* Every decomposition of a rigid joint between masses on a line. */
static const char *const joints[] = {
    "cosimulation.couplings.formulation=stabilized-index-2",
    "cosimulation.couplings.formulation=stabilized-index-2-mu;cosimulation.order=0",
    "cosimulation.couplings.formulation=baumgarte;cosimulation.couplings.decomposition=force/displacement",
    "cosimulation.couplings.formulation=baumgarte;cosimulation.couplings.decomposition=displacement/force",
    "cosimulation.couplings.formulation=projection;cosimulation.couplings.decomposition=displacement/displacement",
    "cosimulation.scheme=explicit;cosimulation.couplings.formulation=kinematic;cosimulation.joint_tolerance=1",
};
enum { N_JOINTS = (int)(sizeof joints / sizeof joints[0]), KINEMATIC = N_JOINTS - 1 };

static void open_joint(rig *r, const char *model, const char *sets) {
  const yoke_status status = rig_open(r, model, sets, "serial", 1, NULL);
  if (status == YOKE_OK) return;
  cosim_print(r->c.ctx);
  fail_msg("%s: %s", sets, yoke_status_name(status));
}

static void behind_a_restart_both_sides_of_a_joint_have_the_same_acceleration(void **state) {
  (void)state;
  for (int i = 0; i < N_JOINTS; ++i) {
    rig r;
    open_joint(&r, "examples/two-mass-rigid.yaml", joints[i]);
    rig_steps(&r, 5);
    assert_int_equal(yoke_graph_restart(r.graph, r.c.ctx), YOKE_OK);
    const double *y1 = yoke_graph_y(r.graph, 0), *y2 = yoke_graph_y(r.graph, 1); /* x, v, a */
    CHECK_NEAR(y1[2], y2[2], 1e-10 * fabs(y1[2]));
    rig_steps(&r, 3);
    rig_close(&r);
  }
}

/* Event 0 of the first part kicks its mass. */
#define KICKED                                                                                                         \
  "yoke: 1\nt_end: 0.5\n"                                                                                              \
  "bodies: {m1: {kind: mass1d, mass: 1, v: 100}, m2: {kind: mass1d, mass: 2, v: 100}}\n"                               \
  "connections:\n"                                                                                                     \
  "  wall1: {kind: spring-damper, between: [ground, m1], stiffness: 1000, damping: 10, free_length: 0}\n"              \
  "  joint: {kind: fixed, between: [m1, m2]}\n"                                                                        \
  "  wall2: {kind: spring-damper, between: [m2, ground], stiffness: 1000, damping: 10, free_length: 0}\n"              \
  "events: {kick: {when: t - 0.4, set: {m1.v: m1.v + 3}}}\n"                                                           \
  "split: {a: [m1], b: [m2]}\n"                                                                                        \
  "cosimulation: {scheme: semi-implicit, order: 1, step: 1e-3}\n"                                                      \
  "solvers: {default: {rtol: 1e-10}, a: exact, b: exact}\n"

static void a_reset_closes_every_joint_and_keeps_the_momentum(void **state) {
  (void)state;
  for (int i = 0; i < KINEMATIC; ++i) { /* where one side has the motion of the other anyway */
    rig r;
    open_joint(&r, KICKED, joints[i]);
    rig_steps(&r, 5);
    const double *y1 = yoke_graph_y(r.graph, 0), *y2 = yoke_graph_y(r.graph, 1);
    const double  m[2]     = {r.c.model->bodies[0].mass, r.c.model->bodies[1].mass};
    const double  momentum = m[0] * (y1[1] + 3.0) + m[1] * y2[1];
    assert_int_equal(yoke_graph_act(r.graph, 0, 0, r.c.ctx), YOKE_OK);
    assert_int_equal(yoke_graph_reset_joints(r.graph, r.c.ctx), YOKE_OK);
    CHECK_NEAR(y1[0], y2[0], 1e-14);
    CHECK_NEAR(y1[1], y2[1], 1e-12 * fabs(y1[1]));
    CHECK_NEAR(m[0] * y1[1] + m[1] * y2[1], momentum, 1e-12 * fabs(momentum));
    assert_int_equal(yoke_graph_restart(r.graph, r.c.ctx), YOKE_OK);
    CHECK_NEAR(y1[2], y2[2], 1e-10 * fabs(y1[2]));
    rig_close(&r);
  }
}

/* ---- bytes ---- */

/* A rig; with control also for the error estimate by consistent values. */
static void open_for_moves(rig *r, const char *model, const char *sets, bool is_controlled) {
  const yoke_status status = rig_open(r, model, sets, "serial", 1, NULL);
  if (status != YOKE_OK) cosim_print(r->c.ctx);
  assert_int_equal(status, YOKE_OK);
  if (!is_controlled) return;
  assert_int_equal(yoke_graph_control(r->graph, true, r->c.ctx), YOKE_OK);
  yoke_graph_set_comparison(r->graph, YOKE_COMPARISON_CONSISTENT);
}

/* What r is at this moment goes on in a graph of its own. */
static void move(rig *r, const char *model, const char *sets, bool is_controlled, rig *out) {
  yoke_pack   pack = {0};
  yoke_unpack in;
  open_for_moves(out, model, sets, is_controlled);
  yoke_pack_begin(&pack);
  assert_int_equal(yoke_graph_pack(r->graph, &pack, r->c.ctx), YOKE_OK);
  assert_int_equal(yoke_pack_end(&pack, r->c.ctx), YOKE_OK);
  assert_int_equal(yoke_unpack_begin(&in, pack.bytes, pack.size, out->c.ctx), YOKE_OK);
  assert_int_equal(yoke_graph_unpack(out->graph, yoke_graph_t(r->graph), &in, out->c.ctx), YOKE_OK);
  assert_int_equal(yoke_unpack_end(&in, out->c.ctx), YOKE_OK);
  out->n_steps = r->n_steps;
  yoke_pack_free(&pack);
}

/* In the middle of a run, behind a trial that was not accepted; and behind a restart. */
static void check_moves(const char *model, const char *sets, bool is_controlled) {
  for (int restarts = 0; restarts < 2; ++restarts) {
    rig stays, goes;
    open_for_moves(&stays, model, sets, is_controlled);
    rig_steps(&stays, 5);
    if (restarts > 0)
      assert_int_equal(yoke_graph_restart(stays.graph, stays.c.ctx), YOKE_OK);
    else
      assert_int_equal(rig_try(&stays, yoke_graph_t(stays.graph) + 0.3 * stays.H), YOKE_OK);
    move(&stays, model, sets, is_controlled, &goes);
    rig_expect_same(&stays, &goes);
    rig_steps(&stays, 5);
    rig_steps(&goes, 5);
    rig_expect_same(&stays, &goes);
    for (int k = 0; is_controlled && k < yoke_graph_n_all_channels(goes.graph); ++k) {
      yoke_channel_trial one, other;
      yoke_graph_channel_trial(stays.graph, k, &one);
      yoke_graph_channel_trial(goes.graph, k, &other);
      CHECK_NEAR(one.smooth, other.smooth, 0.0);
      CHECK_NEAR(one.compared, other.compared, 0.0);
    }
    for (int k = 0; is_controlled && k < yoke_graph_n_ports(goes.graph); ++k) {
      yoke_port_trial one, other;
      yoke_graph_port_trial(stays.graph, k, &one);
      yoke_graph_port_trial(goes.graph, k, &other);
      assert_memory_equal(one.y_compared, other.y_compared, (size_t)(one.n_p + one.n_v) * sizeof *one.y_compared);
    }
    rig_close(&stays);
    rig_close(&goes);
  }
}

static void what_was_packed_goes_on_with_the_same_bits(void **state) {
  (void)state;
  for (int i = 0; i < N_SCHEMES; ++i) check_moves(two_mass, schemes[i], false);
  for (int i = 0; i < N_JOINTS; ++i) check_moves("examples/two-mass-rigid.yaml", joints[i], false);
  check_moves(two_mass, "cosimulation.scheme=explicit;cosimulation.predictor=acceleration;cosimulation.order=2", false);
  check_moves("examples/double-pendulum.yaml", "solvers.default.kind=radau5", false);
  check_moves("examples/double-pendulum.yaml", "solvers.default.kind=bdf;cosimulation.jacobian=broyden", false);
  check_moves("examples/double-pendulum.yaml", "cosimulation.scheme=implicit;cosimulation.order=2", false);
  check_moves("examples/double-pendulum.yaml", "cosimulation.order=1", true);
  check_moves("examples/double-pendulum.yaml", "cosimulation.scheme=implicit;cosimulation.jacobian=broyden", true);
  check_moves("examples/double-pendulum-flexible.yaml", "cosimulation.order=2", true);
}

static void bytes_of_another_graph_are_refused(void **state) {
  (void)state;
  rig         r, other;
  yoke_pack   pack = {0};
  yoke_unpack in;
  open_with(&r, schemes[2], NULL);
  open_joint(&other, "examples/two-mass-rigid.yaml", joints[0]);
  yoke_pack_begin(&pack);
  assert_int_equal(yoke_graph_pack(r.graph, &pack, r.c.ctx), YOKE_OK);
  assert_int_equal(yoke_pack_end(&pack, r.c.ctx), YOKE_OK);
  assert_int_equal(yoke_unpack_begin(&in, pack.bytes, pack.size, other.c.ctx), YOKE_OK);
  assert_int_equal(yoke_graph_unpack(other.graph, yoke_graph_t(r.graph), &in, other.c.ctx), YOKE_E_IO);
  yoke_pack_free(&pack);
  rig_close(&r);
  rig_close(&other);
}

static void make_all_forward(rig *r) {
  for (int i = 0; i < r->plan->n_parts; ++i)
    assert_int_equal(yoke_subsystem_forward(r->c.ctx, r->subsystems[i], &r->subsystems[i]), YOKE_OK);
}

static void pack_graph(const rig *r, yoke_pack *out) {
  yoke_pack_begin(out);
  assert_int_equal(yoke_graph_pack(r->graph, out, r->c.ctx), YOKE_OK);
  assert_int_equal(yoke_pack_end(out, r->c.ctx), YOKE_OK);
}

/* Bytes that end inside the state of the second subsystem change nothing of the first; whole ones also lead back from a step that was
 * not accepted. */
static void subsystems_that_cannot_go_back_are_unpacked_all_or_none(void **state) {
  (void)state;
  rig         r;
  yoke_pack   early = {0}, before = {0}, after = {0};
  yoke_unpack in;
  open_with(&r, schemes[0], make_all_forward);
  rig_steps(&r, 2);
  const double t = yoke_graph_t(r.graph);
  pack_graph(&r, &early);
  rig_steps(&r, 2);
  pack_graph(&r, &before);
  assert_int_equal(yoke_unpack_begin(&in, early.bytes, early.size, r.c.ctx), YOKE_OK);
  in.size -= 16;
  assert_int_equal(yoke_graph_unpack(r.graph, t, &in, r.c.ctx), YOKE_E_IO);
  pack_graph(&r, &after);
  assert_int_equal(after.size, before.size);
  assert_memory_equal(after.bytes, before.bytes, before.size);
  assert_int_equal(rig_try(&r, yoke_graph_t(r.graph) + r.H), YOKE_OK);
  assert_int_equal(yoke_unpack_begin(&in, early.bytes, early.size, r.c.ctx), YOKE_OK);
  assert_int_equal(yoke_graph_unpack(r.graph, t, &in, r.c.ctx), YOKE_OK);
  r.n_steps = 2;
  rig_steps(&r, 2);
  pack_graph(&r, &after);
  assert_memory_equal(after.bytes, before.bytes, before.size);
  yoke_pack_free(&early);
  yoke_pack_free(&before);
  yoke_pack_free(&after);
  rig_close(&r);
}

static void take_pack_away(rig *r) {
  r->ops                = *r->subsystems[0]->ops;
  r->ops.pack           = NULL;
  r->subsystems[0]->ops = &r->ops;
}

static void a_subsystem_that_cannot_be_packed_is_named(void **state) {
  (void)state;
  rig       r;
  yoke_pack pack = {0};
  open_with(&r, schemes[0], take_pack_away);
  yoke_pack_begin(&pack);
  assert_int_equal(yoke_graph_pack(r.graph, &pack, r.c.ctx), YOKE_E_UNSUPPORTED);
  assert_non_null(strstr(yoke_context_message(r.c.ctx, 0), r.subsystems[0]->name));
  yoke_pack_free(&pack);
  rig_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_subsystem_that_ends_early_ends_the_trial_of_all),
      cmocka_unit_test(an_early_end_beside_a_subsystem_that_cannot_go_back_names_it),
      cmocka_unit_test(linear_subsystems_are_perturbed_once_for_all_steps_of_a_length),
      cmocka_unit_test(directions_of_an_analysis_are_never_too_large_for_a_step),
      cmocka_unit_test(one_micro_step_at_a_time_has_the_bits_of_one_step),
      cmocka_unit_test(values_inside_a_step_are_those_of_a_step_that_ends_there),
      cmocka_unit_test(observation_changes_no_bit),
      cmocka_unit_test(only_the_last_pass_of_a_step_observes),
      cmocka_unit_test(inputs_have_the_degree_of_the_run),
      cmocka_unit_test(conditions_are_evaluated_once_a_pass_and_laws_without_feed_through_once_a_step),
      cmocka_unit_test(behind_a_restart_both_sides_of_a_joint_have_the_same_acceleration),
      cmocka_unit_test(a_reset_closes_every_joint_and_keeps_the_momentum),
      cmocka_unit_test(what_was_packed_goes_on_with_the_same_bits),
      cmocka_unit_test(bytes_of_another_graph_are_refused),
      cmocka_unit_test(subsystems_that_cannot_go_back_are_unpacked_all_or_none),
      cmocka_unit_test(a_subsystem_that_cannot_be_packed_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
