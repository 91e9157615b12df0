/* The public objects, one thread: what reading a value by handle costs, stepping by calls against one call of yoke_run, and snapshots. The
 * fastest of at least five; run and steps in turn. */
#include "public.h"

typedef struct api_case {
  const char *name, *model, *sets;
  bool        monolithic;
} api_case;

static const api_case cases[] = {
    {"two masses", "examples/two-mass.yaml", "t_end=5;output.every=1", false},
    {"double pendulum, two parts", "examples/double-pendulum.yaml", "t_end=1;output.every=0.1", false},
    {"spatial four-bar, two parts", "examples/four-bar-spatial.yaml", "t_end=0.2;output.every=0.1", false},
    {"slider-crank as a whole", "examples/slider-crank-classic.yaml", "t_end=1;output.every=0.1", true},
};

/* What every run of a case needs. */
typedef struct prepared {
  char             text[BENCH_TEXT];
  const char      *list[BENCH_SETS];
  yoke_run_options options;
} prepared;

static void prepare(const api_case *one, prepared *p) {
  p->options            = bench_options(one->model, one->sets, p->text, p->list);
  p->options.monolithic = one->monolithic;
}

static yoke_simulation *open_simulation(yoke_context *ctx, const prepared *p, const char *name) {
#ifdef YOKE_INSPECT_H
  const yoke_load_options load = {.size = sizeof load, .n_sets = p->options.n_sets, .sets = p->options.sets};
#else
  const yoke_load_options load = {p->options.n_sets, p->options.sets};
#endif
  const yoke_simulation_options options = {
      .size = sizeof options, .monolithic = p->options.monolithic, .no_predict = true, .exec = "serial", .threads = 1};
  yoke_model      *model = NULL;
  yoke_simulation *s     = NULL;
  bench_need(yoke_model_load(ctx, p->options.model, &load, &model), ctx, name);
  bench_need(yoke_simulation_create(ctx, model, &options, &s), ctx, name);
  yoke_model_destroy(&model);
  return s;
}

static double time_run(const prepared *p, const char *name) {
  yoke_context    *ctx     = NULL;
  yoke_run_summary summary = BENCH_EMPTY(yoke_run_summary);
  const double     begin   = bench_now();
  bench_need(yoke_context_create(&ctx), ctx, name);
  bench_need(yoke_run(ctx, &p->options, &summary), ctx, name);
  yoke_run_summary_release(&summary);
  yoke_context_destroy(&ctx);
  return bench_now() - begin;
}

/* The same by steps, each of which tells what it did. */
static double time_steps(const prepared *p, const char *name, int64_t *n_steps) {
  yoke_context *ctx   = NULL;
  const double  begin = bench_now();
  bench_need(yoke_context_create(&ctx), ctx, name);
  yoke_simulation *s = open_simulation(ctx, p, name);
  for (*n_steps = 0; !yoke_simulation_has_ended(s); ++*n_steps) {
    yoke_step_facts facts = {.size = sizeof facts};
    bench_need(yoke_simulation_step(ctx, s, &facts), ctx, name);
  }
  yoke_simulation_destroy(&s);
  yoke_context_destroy(&ctx);
  return bench_now() - begin;
}

static void compare_steps(void) {
  printf("stepping by calls\n%-44s %12s %12s %8s %8s %8s\n", "what", "run [s]", "steps [s]", "ratio", "steps",
         "repeats");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    double   run = (double)INFINITY, steps = (double)INFINITY, total = 0.0;
    int64_t  n_steps = 0;
    int      n       = 0;
    prepared p;
    prepare(&cases[i], &p);
    for (; n < BENCH_LEAST || (n < BENCH_MOST && total < 4.0 * bench_budget()); ++n) {
      const double one = time_run(&p, cases[i].name), other = time_steps(&p, cases[i].name, &n_steps);
      run   = fmin(run, one);
      steps = fmin(steps, other);
      total += one + other;
    }
    printf("%-44s %12.6f %12.6f %8.3f %8lld %8d\n", cases[i].name, run, steps, steps / run, (long long)n_steps, n);
    fflush(stdout);
    bench_figure(steps, "s", (double)NAN, "steps by calls, %s", cases[i].name);
  }
}

enum { MOST_NAMES = 200, READS = 1000000 };

typedef struct name_list {
  int   n;
  char  text[MOST_NAMES][64];
  char *names[MOST_NAMES];
} name_list;

static bool take_name(void *user, const char *name, const char *unit) {
  name_list *list = user;
  (void)unit;
  snprintf(list->text[list->n], sizeof list->text[0], "%s", name);
  list->names[list->n] = list->text[list->n];
  return ++list->n < MOST_NAMES;
}

/* Nanoseconds per value: n values, `repeats` times; `moves`: a step before each. */
static double read_values(yoke_context *ctx, yoke_simulation *s, int n, const int *handles, int repeats, bool moves,
                          const char *name) {
  double values[MOST_NAMES], sum = 0.0, total = 0.0;
  for (int k = 0; k < (moves ? repeats : 1); ++k) {
    if (moves) bench_need(yoke_simulation_step(ctx, s, NULL), ctx, name);
    const double begin = bench_now();
    for (int i = 0; i < (moves ? 1 : repeats); ++i) {
      bench_need(yoke_simulation_get(ctx, s, n, handles, values), ctx, name);
      sum += values[i % n];
    }
    total += bench_now() - begin;
  }
  if (isnan(sum)) exit(1);
  return 1e9 * total / repeats / n;
}

static void measure_reading(void) {
  static name_list list;
  prepared         p;
  yoke_context    *ctx  = NULL;
  const char      *name = cases[1].name;
  int              handles[MOST_NAMES];
  prepare(&cases[1], &p);
  bench_need(yoke_context_create(&ctx), ctx, name);
  yoke_simulation *s = open_simulation(ctx, &p, name);
  yoke_simulation_list(s, take_name, &list);
  bench_need(yoke_simulation_find(ctx, s, list.n, (const char *const *)list.names, handles), ctx, name);
  bench_need(yoke_simulation_step(ctx, s, NULL), ctx, name);
  double one = (double)INFINITY, all = (double)INFINITY;
  for (int k = 0; k < BENCH_LEAST; ++k) {
    one = fmin(one, read_values(ctx, s, 1, handles, READS, false, name));
    all = fmin(all, read_values(ctx, s, list.n, handles, READS / list.n, false, name));
  }
  const double fresh = read_values(ctx, s, list.n, handles, 200, true, name);
  printf("reading by handle, %s, %d quantities\n", name, list.n);
  printf("%-44s %12.2f ns, goal 50\n", "one value of the same macro point", one);
  printf("%-44s %12.2f ns\n", "each of all, same macro point", all);
  printf("%-44s %12.2f ns\n", "each of all, first look at a macro point", fresh);
  bench_figure(one, "ns", (double)NAN, "reading one value by handle");
  bench_figure(all, "ns", (double)NAN, "reading many values by handle, each");
  yoke_simulation_destroy(&s);
  yoke_context_destroy(&ctx);
}

static void measure_snapshots(void) {
  printf("snapshots\n%-44s %12s %12s %12s\n", "what", "save [us]", "restore [us]", "bytes");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    prepared       p;
    yoke_context  *ctx      = NULL;
    yoke_snapshot *snapshot = NULL;
    double         save = (double)INFINITY, restore = (double)INFINITY;
    size_t         size;
    prepare(&cases[i], &p);
    bench_need(yoke_context_create(&ctx), ctx, cases[i].name);
    yoke_simulation *s = open_simulation(ctx, &p, cases[i].name);
    for (int k = 0; k < 20; ++k) bench_need(yoke_simulation_step(ctx, s, NULL), ctx, cases[i].name);
    for (int k = 0; k < 100; ++k) {
      const double begin = bench_now();
      bench_need(yoke_simulation_save(ctx, s, &snapshot), ctx, cases[i].name);
      const double middle = bench_now();
      bench_need(yoke_simulation_restore(ctx, s, snapshot), ctx, cases[i].name);
      save    = fmin(save, middle - begin);
      restore = fmin(restore, bench_now() - middle);
    }
    (void)yoke_snapshot_bytes(snapshot, &size);
    printf("%-44s %12.2f %12.2f %12zu\n", cases[i].name, 1e6 * save, 1e6 * restore, size);
    bench_figure(save + restore, "s", (double)NAN, "snapshot, save and restore, %s", cases[i].name);
    yoke_snapshot_destroy(&snapshot);
    yoke_simulation_destroy(&s);
    yoke_context_destroy(&ctx);
  }
}

int main(void) {
  measure_reading();
  compare_steps();
  measure_snapshots();
  return 0;
}
