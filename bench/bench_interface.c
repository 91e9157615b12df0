/* The interface system of many couplings: a chain and a tree of rods with rigid joints, a row of masses with springs, each body a subsystem of its
 * own, semi-implicit. Seconds per coupling of the matrix dc/dw with its factors and of a solve, and of a macro step without them, one thread; the exponent is that of the
 * growth from the size before, 1: linear in the couplings. The matrix and its factors again by two threads, by the clock. Error: |J delta + c| / |c| of the
 * correction of the last step. */
#include "bench.h"
#include "coupling/correction.h"

enum { REPEATS = 5 };

typedef struct interface_case {
  const char *name, *text;
} interface_case;

#define HEAD "yoke: 1\nname: bodies\nparameters: {N: 1}\nt_end: 1\noutput: {every: 1, select: [\"b[1].x\"]}\n"
#define TAIL "cosimulation: {scheme: semi-implicit, order: 1, step: 1e-3, monitor: off}\n"

static const interface_case cases[] = {
    {"chain of rods in space",
     HEAD TAIL "gravity: [0, -9.81, 0]\n"
               "bodies: {b: {kind: rigid, count: N, mass: 1, inertia: [0.001, 1/12, 1/12], position: [i - 0.5, 0, 0], "
               "frames: {left: [-0.5, 0, 0], right: [0.5, 0, 0]}}}\n"
               "connections: {support: {kind: revolute, between: [ground, 'b[1].left']}, "
               "hinge: {kind: revolute, count: N - 1, between: ['b[i].right', 'b[i + 1].left']}}\n"},
    {"tree of planar rods",
     HEAD TAIL "gravity: [0, -9.81, 0]\n"
               "bodies: {b: {kind: planar, count: N, mass: 1, inertia: 1/12, "
               "position: [floor(log(i)/log(2) + 1e-9) + 0.5, 0], frames: {left: [-0.5, 0], right: [0.5, 0]}}}\n"
               "connections: {support: {kind: revolute, between: [ground, 'b[1].left']}, "
               "hinge: {kind: revolute, count: N - 1, between: ['b[floor((i + 1)/2)].right', 'b[i + 1].left']}}\n"},
    {"row of masses",
     HEAD TAIL "bodies: {b: {kind: mass1d, count: N, mass: 1, position: i + 0.1*sin(i)}}\n"
               "connections: {s: {kind: spring-damper, count: N - 1, between: ['b[i]', 'b[i + 1]'], stiffness: 1e3, "
               "damping: 1, free_length: 1}}\n"},
};

typedef struct interface_run {
  double matrix, solve, step, error; /* seconds per coupling */
} interface_run;

/* The model with N = n, every body a part. */
static yoke_model *load(yoke_context *ctx, const interface_case *one, int n) {
  const size_t room = strlen(one->text) + 40 * (size_t)n + 100;
  char        *text = malloc(room), set[40];
  if (text == NULL) exit(7);
  size_t used = (size_t)snprintf(text, room, "%ssplit: {", one->text);
  for (int i = 1; i <= n; ++i) used += (size_t)snprintf(text + used, room - used, "p%d: ['b[%d]'], ", i, i);
  snprintf(text + used, room - used, "}\n");
  snprintf(set, sizeof set, "parameters.N=%d", n);
  const char *const       sets[]  = {set};
  const yoke_load_options options = {.size = sizeof options, .n_sets = 1, .sets = sets};
  yoke_model             *model   = NULL;
  if (yoke_model_load_text(ctx, one->name, text, strlen(text), &options, &model) != YOKE_OK) bench_die(ctx, one->name);
  free(text);
  return model;
}

/* |J delta + c| / |c| */
static double remainder_of(const yoke_graph *g) {
  double  size = 0.0, left = 0.0;
  double *sum = calloc((size_t)g->n_c, sizeof *sum);
  if (sum == NULL) exit(7);
  for (int j = 0; j < g->n_w; ++j) {
    for (int k = g->pattern->col_start[j]; k < g->pattern->col_start[j + 1]; ++k)
      sum[g->pattern->row[k]] += g->J[k] * g->delta[j];
  }
  for (int i = 0; i < g->n_c; ++i) {
    left += (sum[i] + g->c[i]) * (sum[i] + g->c[i]);
    size += g->c[i] * g->c[i];
  }
  free(sum);
  return sqrt(left / fmax(size, 1e-300));
}

static double now(int threads) {
  struct timespec clock;
  if (threads == 1) return bench_now();
  clock_gettime(CLOCK_MONOTONIC, &clock);
  return (double)clock.tv_sec + 1e-9 * (double)clock.tv_nsec;
}

static interface_run measure(const interface_case *one, int n, int threads) {
  yoke_context        *ctx    = NULL;
  yoke_plan           *plan   = NULL;
  yoke_system         *system = NULL;
  interface_run        run    = {INFINITY, INFINITY, INFINITY, 0.0};
  yoke_step_statistics step;
  bool                 stop;
  if (yoke_context_create(&ctx) != YOKE_OK) exit(7);
  yoke_model *model = load(ctx, one, n);
  if (yoke_plan_create(ctx, model, NULL, &plan) != YOKE_OK) bench_die(ctx, one->name);
  const yoke_system_options options = {.threads = threads};
  if (yoke_system_create(ctx, plan, &options, &system) != YOKE_OK) bench_die(ctx, one->name);
  if (yoke_system_begin(system, NULL, ctx) != YOKE_OK) bench_die(ctx, one->name);
  yoke_graph *g = (yoke_graph *)(uintptr_t)yoke_system_graph(system);
  for (int k = 0; k < REPEATS; ++k) {
    const double start = now(threads);
    if (yoke_system_step(system, plan->t_end, NULL, &step, &stop, ctx) != YOKE_OK) bench_die(ctx, one->name);
    const double stepped = now(threads);
    if (graph_make_matrix(g, ctx) != YOKE_OK) bench_die(ctx, one->name);
    const double made = now(threads);
    memcpy(g->c, g->c_before, (size_t)g->n_c * sizeof *g->c); /* that the step corrected */
    const double begun = now(threads);
    if (graph_correct(g, ctx) != YOKE_OK) bench_die(ctx, one->name);
    const double solved = now(threads);
    run.matrix          = fmin(run.matrix, made - stepped);
    run.solve           = fmin(run.solve, solved - begun);
    run.step            = fmin(run.step, stepped - start);
    run.error           = fmax(run.error, remainder_of(g));
  }
  run.step = fmax(run.step - run.matrix - run.solve, 0.0);
  run.matrix /= n - 1;
  run.solve /= n - 1;
  run.step /= n - 1;
  yoke_system_destroy(&system);
  yoke_plan_destroy(&plan);
  yoke_model_destroy(&model);
  yoke_context_destroy(&ctx);
  return run;
}

int main(void) {
  const int most = bench_is_quick() ? 100 : 1000;
  printf("interface system: microseconds per coupling\n");
  printf("%-24s %8s %10s %10s %10s %10s %10s %12s\n", "what", "parts", "matrix", "solve", "rest", "exponent", "error",
         "two threads");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    double before = (double)NAN;
    for (int n = 10; n <= most; n *= 10) {
      const interface_run run = measure(&cases[i], n, 1), two = measure(&cases[i], n, 2);
      const double        cost = run.matrix + run.solve, exponent = 1.0 + log10(cost / before);
      printf("%-24s %8d %10.2f %10.2f %10.2f %10.2f %10.1e %12.2f\n", cases[i].name, n, 1e6 * run.matrix,
             1e6 * run.solve, 1e6 * run.step, exponent, run.error, 1e6 * two.matrix);
      fflush(stdout);
      bench_figure(cost, "s", run.error, "interface, %s, %d parts: matrix and solve per coupling", cases[i].name, n);
      before = cost;
    }
  }
  return 0;
}
