/* Mechanisms as a whole on one thread: the pendulum chain in space (B10) with 1000 rigid bodies, 1 s, and 200 four-bar linkages in a row up to
 * shortly before their first singular position. Processor time, error, microseconds per body and step, per body and evaluation (projections and
 * the method's own sums included), of a right-hand side alone, and the time against IDA with KLU on the same equations (stabilised index 2) at
 * equal error.
 * Goals of the chain at rtol 1e-6: 0.35 s, 0.3 microseconds per body and evaluation, 6 per body and step; at most 0.8 of IDA's time. */
#include "bench.h"
#include "model/multibody.h"

enum { N_TOLERANCES = 3 };

typedef struct mechanism {
  const char *name, *parts, *path, *select;
  int         n, n_quick;     /* parameter N; with --quick */
  int         factor, offset; /* bodies: factor N + offset */
  double      t_end;
  double      ida[N_TOLERANCES]; /* tolerances at which IDA's errors come near ours */
} mechanism;

static const mechanism mechanisms[] = {
    {"pendulum chain",
     "rods",
     "examples/pendulum-chain.yaml",
     "[\"rod[*].x\", \"rod[*].y\", \"rod[*].v*\"]",
     1000,
     200,
     1,
     0,
     1.0,
     {1e-4, 1e-5, 1e-6}},
    {"four-bar linkages",
     "bodies",
     "examples/n-four-bar.yaml",
     "[\"crank[*].x\", \"crank[*].y\", \"coupler[*].v*\"]",
     200,
     50,
     2,
     1,
     0.6,
     {1e-4, 1e-5, 1e-6}},
};

static const double tolerances[N_TOLERANCES] = {1e-4, 1e-6, 1e-8};

/* The fastest of `repeats` runs at every tolerance. */
static void measure(const mechanism *m, int n_bodies, const char *const *sets, const char *solver, const double *rtol,
                    int repeats, const bench_run *reference, bench_run *runs) {
  for (int k = 0; k < N_TOLERANCES; ++k) {
    runs[k]           = bench_model(m->path, sets, solver, rtol[k], repeats);
    runs[k].error     = bench_nrmse(runs[k].values, reference->values, 0, runs[k].n);
    const double unit = 1e6 * runs[k].seconds / n_bodies;
    printf("%-10s %8.0e %12.2e %10.4f %8lld %8lld %14.2f %14.3f\n", solver, rtol[k], runs[k].error, runs[k].seconds,
           (long long)runs[k].counters.steps, (long long)runs[k].counters.evaluations,
           unit / (double)runs[k].counters.steps, unit / (double)runs[k].counters.evaluations);
    fflush(stdout);
    bench_figure(runs[k].seconds, "s", runs[k].error, "%s, %d %s, %s %.0e", m->name, n_bodies, m->parts, solver,
                 rtol[k]);
  }
}

/* Microseconds per body of a right-hand side at the start. */
static double right_hand_side(const mechanism *m, int n_bodies, const char *const *sets) {
  enum { REPEATS = 400 };
  yoke_context   *ctx   = NULL;
  yoke_model     *model = NULL;
  yoke_equations  e;
  yoke_multibody *mb      = NULL;
  int             n       = 0;
  double          seconds = INFINITY;
  while (sets[n] != NULL) ++n;
  const yoke_load_options options = {.size = sizeof options, .n_sets = n, .sets = sets};
  if (yoke_context_create(&ctx) != YOKE_OK) exit(1);
  if (yoke_model_load(ctx, m->path, &options, &model) != YOKE_OK) bench_die(ctx, m->path);
  if (yoke_multibody_create(ctx, model, NULL, &e, &mb) != YOKE_OK) bench_die(ctx, m->path);
  void   *work = aligned_alloc(64, (e.work_size + 63) / 64 * 64);
  double *q    = calloc(2 * ((size_t)e.nq + (size_t)e.nv), sizeof *q);
  if (work == NULL || q == NULL) exit(7);
  double *v = q + e.nq, *qdot = v + e.nv, *a = qdot + e.nq;
  yoke_multibody_initial_guess(mb, q, v);
  for (int k = 0; k < REPEATS; ++k) {
    const double start = bench_now();
    if (e.ops->derivative(e.self, work, 0.0, q, v, NULL, qdot, a, NULL) != YOKE_OK) bench_die(ctx, m->path);
    seconds = fmin(seconds, bench_now() - start);
  }
  free(q);
  free(work);
  yoke_equations_destroy(&e);
  yoke_model_destroy(&model);
  yoke_context_destroy(&ctx);
  bench_figure(seconds, "s", (double)NAN, "%s, %d %s, right-hand side", m->name, n_bodies, m->parts);
  return 1e6 * seconds / n_bodies;
}

static void bench_mechanism(const mechanism *m) {
  const int  n = bench_is_quick() ? m->n_quick : m->n, n_bodies = m->factor * n + m->offset, repeats = 5;
  bench_size size;
  bench_size_set(&size, n, m->t_end, m->select);
  const char *const *const sets = size.sets;
  printf("%s, %d %s, %g s\n", m->name, n_bodies, m->parts, m->t_end);
  printf("%-10s %8s %12s %10s %8s %8s %14s %14s\n", "solver", "rtol", "error", "seconds", "steps", "evals",
         "us/body-step", "us/body-eval");
  bench_run reference = bench_model(m->path, sets, "dop853", 1e-12, 1);
  bench_run own[N_TOLERANCES], abm[N_TOLERANCES], dopri5[N_TOLERANCES];
  measure(m, n_bodies, sets, "auto", tolerances, repeats, &reference, own);
  measure(m, n_bodies, sets, "abm", tolerances, repeats, &reference, abm);
  measure(m, n_bodies, sets, "dopri5", tolerances, repeats, &reference, dopri5);
  printf("right-hand side alone: %.3f us per body\n", right_hand_side(m, n_bodies, sets));
#ifdef YOKE_WITH_SUNDIALS
  bench_run ida[N_TOLERANCES];
  if (!bench_is_quick()) measure(m, n_bodies, sets, "ida", m->ida, 1, &reference, ida);
  for (int k = 0; k < N_TOLERANCES && !bench_is_quick(); ++k) {
    printf("at error %.1e: auto takes %.3f of IDA's time, abm %.3f (goal 0.8)\n", ida[k].error,
           bench_time_at(own, N_TOLERANCES, ida[k].error) / ida[k].seconds,
           bench_time_at(abm, N_TOLERANCES, ida[k].error) / ida[k].seconds);
    free(ida[k].values);
  }
#endif
  for (int k = 0; k < N_TOLERANCES; ++k) {
    free(own[k].values);
    free(abm[k].values);
    free(dopri5[k].values);
  }
  free(reference.values);
}

int main(void) {
  for (size_t i = 0; i < sizeof mechanisms / sizeof mechanisms[0]; ++i) bench_mechanism(&mechanisms[i]);
  return 0;
}
