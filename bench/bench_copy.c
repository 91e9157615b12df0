/* Snapshots of subsystems at work: what a macro step that is repeated costs beside its steps. A row of rods (examples/pendulum-chain.yaml) a few
 * steps behind its start, with explicit solvers, and with implicit ones, whose factors are shared by reference: yoke_integrator_copy
 * to a saved state and back against two plain copies of as many bytes between other blocks. Goal: as fast as memcpy.
 * Error: 0, a step that is repeated from the restored state has the same bits. Chains: bench_chain. */
#include "bench.h"
#include "integrate/integrator.h"
#include "model/multibody.h"

enum { STEPS = 8, ROUNDS = 4000 };

typedef struct copy_case {
  const char *solver;
  int         rods;
  bool        is_looked_into; /* with dense output */
} copy_case;

static void need(yoke_context *ctx, yoke_status status, const char *what) {
  if (status != YOKE_OK) bench_die(ctx, what);
}

/* The clock: the shortest copies take less than asking for the processor time. */
static double wall_time(void) {
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* Seconds of a copy and back: of states, and of as many bytes. */
static void time_copies(const yoke_integrator *integrator, yoke_integrator_state *state, yoke_integrator_state *saved,
                        size_t bytes, double best[2]) {
  unsigned char *raw[2] = {aligned_alloc(64, (bytes + 63) / 64 * 64), aligned_alloc(64, (bytes + 63) / 64 * 64)};
  if (raw[0] == NULL || raw[1] == NULL) exit(7);
  memset(raw[0], 1, bytes);
  memset(raw[1], 2, bytes);
  best[0] = best[1] = (double)INFINITY;
  for (int k = 0; k < ROUNDS; ++k) {
    double start = wall_time();
    yoke_integrator_copy(integrator, saved, state);
    yoke_integrator_copy(integrator, state, saved);
    best[0] = fmin(best[0], wall_time() - start);
    start   = wall_time();
    memcpy(raw[0], raw[1], bytes);
    memcpy(raw[1], raw[0], bytes);
    best[1] = fmin(best[1], wall_time() - start);
  }
  free(raw[0]);
  free(raw[1]);
}

static void measure(const copy_case *one) {
  bench_size              size;
  yoke_context           *ctx   = NULL;
  yoke_model             *model = NULL;
  yoke_equations          e;
  yoke_multibody         *mb = NULL;
  yoke_integrator        *integrator;
  yoke_integrator_state  *state, *saved, *first;
  void                   *scratch;
  yoke_integrator_options o = yoke_integrator_options_default();
  o.rtol                    = 1e-6;
  bench_size_set(&size, one->rods, 1.0, "[\"rod[1].x\"]");
  const yoke_load_options options = {.size = sizeof options, .n_sets = 4, .sets = size.sets};
  if (yoke_context_create(&ctx) != YOKE_OK) exit(1);
  need(ctx, yoke_model_load(ctx, "examples/pendulum-chain.yaml", &options, &model), "model");
  need(ctx, yoke_multibody_create(ctx, model, NULL, &e, &mb), "equations");
  double *q = calloc((size_t)e.nq + (size_t)e.nv, sizeof *q), *v = q + e.nq;
  if (q == NULL) exit(7);
  yoke_multibody_initial_guess(mb, q, v);
  need(ctx, yoke_integrator_create(ctx, one->solver, &e, &o, &integrator), "solver");
  need(ctx, yoke_integrator_state_create(integrator, &state), "state");
  need(ctx, yoke_integrator_state_create(integrator, &saved), "state");
  need(ctx, yoke_integrator_state_create(integrator, &first), "state");
  need(ctx, yoke_integrator_scratch_create(integrator, &scratch), "scratch");
  need(ctx, yoke_integrator_start(integrator, scratch, state, 0.0, q, v, &yoke_signal_none, ctx), "start");
  for (int k = 0; k < STEPS; ++k) {
    state->t_look = one->is_looked_into ? -(double)INFINITY : (double)INFINITY;
    need(ctx, yoke_integrator_step(integrator, scratch, state, &yoke_signal_none, 1.0, ctx), "step");
  }
  const size_t bytes =
      yoke_integrator_used(integrator, state) + integrator->state_size - yoke_integrator_tail(integrator);
  const int n = e.nq + e.nv, is_shared = state->factor[0] != NULL;
  double    best[2];
  time_copies(integrator, state, saved, bytes, best);
  need(ctx, yoke_integrator_step(integrator, scratch, state, &yoke_signal_none, 1.0, ctx), "step");
  yoke_integrator_copy(integrator, first, state);
  yoke_integrator_copy(integrator, state, saved);
  need(ctx, yoke_integrator_step(integrator, scratch, state, &yoke_signal_none, 1.0, ctx), "step");
  const bool is_same =
      state->t == first->t && memcmp(yoke_integrator_q(integrator, state), yoke_integrator_q(integrator, first),
                                     (size_t)n * sizeof(double)) == 0;
  printf("%-8s %6d %7s %8s %10d %10.1f %10.3f %10.2f %6s\n", one->solver, one->rods, one->is_looked_into ? "yes" : "no",
         is_shared ? "yes" : "no", n, (double)bytes / n, 1e9 * best[0] / n, best[0] / best[1], is_same ? "same" : "no");
  fflush(stdout);
  bench_figure(1e9 * best[0] / n, "ns/state", is_same ? 0.0 : 1.0, "save and restore, %s, %d rods%s", one->solver,
               one->rods, one->is_looked_into ? ", with dense output" : "");
  yoke_integrator_state_destroy(&state);
  yoke_integrator_state_destroy(&saved);
  yoke_integrator_state_destroy(&first);
  yoke_integrator_scratch_destroy(&scratch);
  yoke_integrator_destroy(&integrator);
  free(q);
  yoke_equations_destroy(&e);
  yoke_model_destroy(&model);
  yoke_context_destroy(&ctx);
}

int main(void) {
  static const copy_case cases[] = {{"dop853", 10, false}, {"dop853", 200, false}, {"dop853", 200, true},
                                    {"auto", 10, false},   {"auto", 200, false},   {"abm", 200, false},
                                    {"radau5", 10, false}, {"radau5", 200, false}, {"bdf", 200, false}};
  printf("save and restore of a state against two plain copies of its bytes\n");
  printf("%-8s %6s %7s %8s %10s %10s %10s %10s %6s\n", "solver", "rods", "dense", "factors", "states", "bytes each",
         "ns each", "of memcpy", "bits");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) measure(&cases[i]);
  return 0;
}
