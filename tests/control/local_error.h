/* Estimated against true local errors of the macro steps of a controlled run. Include after <cmocka.h>.
 *
 * The true local error of a step is what the ports miss of the whole model's motion, integrated from the co-simulation's own state at
 * T_N by a Runge-Kutta method with many small steps. */
#ifndef YOKE_TESTS_LOCAL_ERROR_H
#define YOKE_TESTS_LOCAL_ERROR_H

#include "../cosimulation/cosimulate.h"

enum { LOCAL_MAX_STEPS = 20000, LOCAL_MAX_PORTS = 64, LOCAL_SKIP = 12 };

typedef struct local_error {
  const cosim    *c;
  yoke_equations  equations;
  yoke_multibody *mb;
  void           *work;
  int             n_substeps;
  double          t, *q, *v, *x, *w, *kq[4], *kv[4]; /* at T_N; scratch */
  double         *ratio[3];                          /* estimated / true: position, velocity, coupling */
  int             n[3], n_steps;
} local_error;

static inline double *local_array(int n) {
  double *a = calloc((size_t)n + 1, sizeof *a);
  assert_non_null(a);
  return a;
}

static inline const yoke_plan *local_plan(const local_error *l) {
  return l->c->plan;
}

/* Without ports: for users of the reference motion only. */
static inline void local_open(local_error *l, const cosim *c, int n_substeps, bool with_ports) {
  int frames[LOCAL_MAX_PORTS], n_ports = 0;
  *l = (local_error){.c = c, .n_substeps = n_substeps, .t = c->model->t_start};

  const yoke_plan *plan = local_plan(l);
  assert_true(2 * plan->n_couplings <= LOCAL_MAX_PORTS);
  for (int k = 0; with_ports && k < plan->n_couplings; ++k) {
    for (int s = 0; s < 2 && plan->couplings[k].frame[s] >= 0; ++s) frames[n_ports++] = plan->couplings[k].frame[s];
  }
  const yoke_multibody_options options = {.n_ports = n_ports, .port_frame = frames};
  if (yoke_multibody_create(c->ctx, c->model, &options, &l->equations, &l->mb) != YOKE_OK) {
    cosim_print(c->ctx);
    fail_msg("no equations of the whole model");
  }
  l->work = calloc(1, l->equations.work_size + 64);
  assert_non_null(l->work);
  const int nq = l->equations.nq, nv = l->equations.nv;
  l->q = local_array(nq), l->x = local_array(nq), l->v = local_array(nv), l->w = local_array(nv);
  for (int s = 0; s < 4; ++s) l->kq[s] = local_array(nq), l->kv[s] = local_array(nv);
  for (int i = 0; i < 3; ++i) l->ratio[i] = local_array(LOCAL_MAX_STEPS);
  cosim_gather(c, l->q, l->v);
}

static inline void local_close(local_error *l) {
  free(l->q), free(l->x), free(l->v), free(l->w), free(l->work);
  for (int s = 0; s < 4; ++s) free(l->kq[s]), free(l->kv[s]);
  for (int i = 0; i < 3; ++i) free(l->ratio[i]);
  yoke_equations_destroy(&l->equations);
}

static inline void local_substep(local_error *l, double t, double h) {
  static const double   share[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  const yoke_equations *e = &l->equations;
  for (int s = 0; s < 4; ++s) {
    for (int i = 0; i < e->nq; ++i) l->x[i] = l->q[i] + (s > 0 ? share[s] * h * l->kq[s - 1][i] : 0.0);
    for (int i = 0; i < e->nv; ++i) l->w[i] = l->v[i] + (s > 0 ? share[s] * h * l->kv[s - 1][i] : 0.0);
    assert_int_equal(e->ops->derivative(e->self, l->work, t + share[s] * h, l->x, l->w, NULL, l->kq[s], l->kv[s], NULL),
                     YOKE_OK);
  }
  for (int s = 0; s < 4; ++s) {
    for (int i = 0; i < e->nq; ++i) l->q[i] += h * weight[s] * l->kq[s][i];
    for (int i = 0; i < e->nv; ++i) l->v[i] += h * weight[s] * l->kv[s][i];
  }
}

/* Positions and velocities of one port in the state (q, v) of the whole model. */
static inline void local_port(const local_error *l, int port, double *y) {
  const yoke_plan_coupling *k = &local_plan(l)->couplings[port / 2];
  if (k->frame[0] < 0) { /* element i of a chain is between masses i - 1 and i; one chain alone */
    const int mass = k->element - 1 + port % 2;
    y[0]           = l->q[mass];
    y[1]           = l->v[mass];
    return;
  }
  int place = 0;
  for (int i = 0; i < port / 2; ++i) place += local_plan(l)->couplings[i].frame[0] >= 0 ? 2 : 0;
  yoke_multibody_port(l->mb, l->work, place + port % 2, l->q, l->v, l->kv[0], y);
}

static inline void local_keep(local_error *l, int what, double estimated, double truth) {
  if (l->n_steps < LOCAL_SKIP || !(truth > 0.0) || l->n[what] == LOCAL_MAX_STEPS) return;
  l->ratio[what][l->n[what]++] = sqrt(estimated / truth);
}

/* Coupling values: predicted against the law at the reference (formulations with `update`). */
static inline void local_coupling(local_error *l, double t, const yoke_graph *graph) {
  double estimated = 0.0, truth = 0.0;
  int    channel = 0;
  for (int w = 0; w < local_plan(l)->n_couplings; ++w) {
    const yoke_wire *wire     = &local_plan(l)->wires[w];
    double           y[2][64] = {{0.0}}, u[48] = {0.0}, now[48] = {0.0};
    yoke_arena       scratch = {0};
    if (wire->formulation->update == NULL) return;
    for (int s = 0; s < 2; ++s) local_port(l, 2 * w + s, y[s]);
    for (int round = 0; round < 2; ++round) {
      memcpy(now, u, sizeof now);
      wire->formulation->update(wire->self, t, y[0], y[1], now, u, &scratch);
    }
    yoke_arena_free(&scratch);
    for (int i = 0; i < yoke_graph_n_channels(graph, w); ++i) {
      yoke_channel_trial trial;
      yoke_graph_channel_trial(graph, channel++, &trial);
      estimated += pow(trial.predicted - trial.value, 2.0);
      truth += pow(trial.predicted - u[i], 2.0);
    }
  }
  local_keep(l, 2, estimated, truth);
}

static inline void local_look(void *user, double t, const double *q, const double *v) {
  local_error          *l            = user;
  const yoke_system    *cs           = l->c->system;
  const yoke_graph     *g            = yoke_system_graph(cs);
  const yoke_estimator *e            = yoke_controller_estimator(yoke_system_controller(cs));
  double                estimated[2] = {0.0}, truth[2] = {0.0};
  bool                  known = true;
  for (int i = 0; i < l->n_substeps; ++i)
    local_substep(l, l->t + (t - l->t) * i / l->n_substeps, (t - l->t) / l->n_substeps);
  for (int port = 0; port < yoke_graph_n_ports(g); ++port) {
    double          error[64], y[64];
    yoke_port_trial trial;
    yoke_graph_port_trial(g, port, &trial);
    known = known && yoke_estimator_port_errors(e, g, port, error);
    local_port(l, port, y);
    for (int k = 0; known && k < trial.n_p + trial.n_v; ++k) {
      estimated[k >= trial.n_p] += error[k] * error[k];
      truth[k >= trial.n_p] += pow(trial.y[k] - y[k], 2.0);
    }
  }
  for (int i = 0; i < 2 && known; ++i) local_keep(l, i, estimated[i], truth[i]);
  local_coupling(l, t, g);
  memcpy(l->q, q, (size_t)l->equations.nq * sizeof *q);
  memcpy(l->v, v, (size_t)l->equations.nv * sizeof *v);
  l->t = t;
  ++l->n_steps;
}

static inline int local_compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* Median of estimated / true; NaN: nothing was compared. Sorts. */
static inline double local_median(local_error *l, int what, double share) {
  if (l->n[what] == 0) return NAN;
  qsort(l->ratio[what], (size_t)l->n[what], sizeof(double), local_compare);
  return l->ratio[what][(int)(share * (l->n[what] - 1))];
}

#endif
