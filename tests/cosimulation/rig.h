/* A graph that a test steps by hand: the plan of a model, its native subsystems and the graph, without a master. */
#ifndef YOKE_TESTS_RIG_H
#define YOKE_TESTS_RIG_H

#include "cosimulate.h"

enum { RIG_MAX = 64 };

typedef struct rig {
  cosim              c; /* context and model */
  yoke_plan         *plan;
  yoke_subsystem    *subsystems[RIG_MAX];
  yoke_exec         *exec;
  yoke_graph        *graph;
  double             H;
  int                n_steps; /* accepted */
  yoke_subsystem_ops ops;     /* replaces those of subsystem 0 where a test wants it */
} rig;

static inline yoke_status rig_plan(rig *r, const char *path, const char *sets) {
  *r                 = (rig){0};
  yoke_status status = cosim_load(&r->c, path, sets);
  if (status == YOKE_OK) status = yoke_plan_create(r->c.ctx, r->c.model, NULL, &r->plan);
  if (status == YOKE_OK) r->H = r->plan->step.H;
  return status;
}

/* `bend` may change the subsystems before the graph sees them; NULL: leaves them. */
static inline yoke_status rig_build(rig *r, const char *exec, int threads, void (*bend)(rig *)) {
  yoke_status status = YOKE_OK;
  for (int i = 0; status == YOKE_OK && i < r->plan->n_parts; ++i) {
    assert_true(i < RIG_MAX);
    status = r->plan->parts[i].make(r->c.ctx, r->plan->parts[i].definition, &r->subsystems[i]);
  }
  if (status == YOKE_OK && bend != NULL) bend(r);
  if (status == YOKE_OK) status = yoke_exec_create(r->c.ctx, exec, threads, &r->exec);
  if (status == YOKE_OK) {
    status = yoke_graph_create(r->c.ctx, r->plan->n_parts, r->subsystems, r->plan->n_couplings, r->plan->wires,
                               &r->plan->scheme, r->exec, &r->graph);
  }
  return status == YOKE_OK ? yoke_graph_start(r->graph, r->plan->t_start, r->c.ctx) : status;
}

static inline yoke_status rig_open(rig *r, const char *path, const char *sets, const char *exec, int threads,
                                   void (*bend)(rig *)) {
  const yoke_status status = rig_plan(r, path, sets);
  return status == YOKE_OK ? rig_build(r, exec, threads, bend) : status;
}

static inline void rig_close(rig *r) {
  yoke_graph_destroy(&r->graph);
  for (int i = 0; i < RIG_MAX; ++i) yoke_subsystem_destroy(&r->subsystems[i]);
  yoke_exec_destroy(&r->exec);
  yoke_plan_destroy(&r->plan);
  cosim_close(&r->c);
}

static inline yoke_status rig_try(rig *r, double t) {
  yoke_step_statistics statistics;
  return yoke_graph_try(r->graph, t, &statistics, r->c.ctx);
}

static inline yoke_status rig_step(rig *r) {
  yoke_status status = rig_try(r, r->plan->t_start + (double)(r->n_steps + 1) * r->H);
  if (status == YOKE_OK) status = yoke_graph_accept(r->graph, r->c.ctx);
  if (status == YOKE_OK) ++r->n_steps;
  return status;
}

static inline void rig_steps(rig *r, int n) {
  for (int k = 0; k < n; ++k) {
    const yoke_status status = rig_step(r);
    if (status == YOKE_OK) continue;
    cosim_print(r->c.ctx);
    fail_msg("step %d: %s", r->n_steps + 1, yoke_status_name(status));
  }
}

/* Same bits of time, outputs and coupling values. */
static inline void rig_expect_same(const rig *a, const rig *b) {
  const double t[2] = {yoke_graph_t(a->graph), yoke_graph_t(b->graph)};
  assert_memory_equal(&t[0], &t[1], sizeof t[0]);
  for (int i = 0; i < a->plan->n_parts; ++i) {
    assert_memory_equal(yoke_graph_y(a->graph, i), yoke_graph_y(b->graph, i),
                        (size_t)a->subsystems[i]->ny * sizeof(double));
  }
  for (int w = 0; w < a->plan->n_couplings; ++w) {
    for (int k = 0; k < yoke_graph_n_channels(a->graph, w); ++k) {
      const double u[2] = {yoke_graph_channel(a->graph, w, k), yoke_graph_channel(b->graph, w, k)};
      assert_memory_equal(&u[0], &u[1], sizeof u[0]);
    }
  }
}

#endif
