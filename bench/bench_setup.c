/* Set-up, one thread: reading, assembling and splitting a model, without a step. The fastest of at least five. */
#include "public.h"

typedef struct setup_case {
  const char *name, *model, *sets;
} setup_case;

static const setup_case cases[] = {
    {"squeezer", "examples/squeezer.yaml", ""},
    {"four-bar linkages, N = 20", "examples/n-four-bar.yaml", "parameters.N=20"},
    {"pendulum chain, 300 rods", "examples/pendulum-chain.yaml", "parameters.N=300"},
    {"spatial four-bar, two parts", "examples/four-bar-spatial.yaml", ""},
    {"pendulum chain, 20 rods in two parts", "examples/pendulum-chain.yaml",
     "parameters.N=20;split.a=[\"rod[1..10]\"];split.b=[\"rod[11..20]\"];cosimulation.step=1e-3"},
    {"chain of 20000 masses", "examples/chain-imp.yaml", "parameters.n=20000"},
    {"chain of 20000 masses, ten parts", "examples/chain-load.yaml", "parameters.n=20000"},
};

/* Freedoms of the model, which tell that it was understood. */
static int set_up(const setup_case *one) {
  char                   text[BENCH_TEXT];
  const char            *list[BENCH_SETS];
  const yoke_run_options options = bench_options(one->model, one->sets, text, list);
  yoke_model_facts       facts   = BENCH_EMPTY(yoke_model_facts);
  yoke_context          *ctx     = NULL;
  bench_need(yoke_context_create(&ctx), ctx, one->name);
#ifdef YOKE_INSPECT_H
  yoke_inspection *inspection = NULL;
  bench_need(yoke_model_inspect(ctx, &options, &inspection), ctx, one->name);
  bench_need(yoke_inspection_facts_get(ctx, inspection, &facts), ctx, one->name);
  const int n_freedoms = facts.n_freedoms;
  yoke_inspection_destroy(&inspection);
#else
  bench_need(yoke_model_inspect(ctx, &options, &facts), ctx, one->name);
  const int n_freedoms = facts.n_freedoms;
  yoke_model_facts_release(&facts);
#endif
  yoke_context_destroy(&ctx);
  return n_freedoms;
}

int main(void) {
  printf("set-up\n%-44s %12s %12s %8s\n", "what", "seconds", "freedoms", "repeats");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    double best = (double)INFINITY, total = 0.0;
    int    n = 0, n_freedoms = 0;
    for (; n < BENCH_LEAST || (n < BENCH_MOST && total < bench_budget()); ++n) {
      const double start = bench_now();
      n_freedoms         = set_up(&cases[i]);
      const double used  = bench_now() - start;
      best               = fmin(best, used);
      total += used;
    }
    printf("%-44s %12.6f %12d %8d\n", cases[i].name, best, n_freedoms, n);
    fflush(stdout);
    bench_figure(best, "s", (double)NAN, "set-up, %s", cases[i].name);
  }
  return 0;
}
