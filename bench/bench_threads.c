/* Two threads against one: chains of 5000 masses per part, small ones, and one as a whole, inside of which threads help; wall time without set-up, the least of repeats. `projected` is the speed-up that the profile of the run with one thread foretells for two, `busy` the slow-down that
 * two threads have against one with two busy loops beside (goal: at most 1.2). Error: of the first mass at the end against the same run with one thread; 0,
 * because the bits are the same. */
#include "public.h"
#include <pthread.h>
#include <stdatomic.h>

/* So many steps that memory touched for the first time, while the kernel lets one thread at a time have its pages, is a small part of them. */
enum { STEPS = 400, REPEATS = 5, MANY = 40 };

typedef struct threads_run {
  double seconds, value, projected;
} threads_run;

/* The time of the run without load and set-up. */
static threads_run run_once(int parts, int masses, int steps, int threads, bool profile) {
  char             sets[400], text[BENCH_TEXT];
  const char      *list[BENCH_SETS], *output = "c.x[1]";
  yoke_run_summary summary = BENCH_EMPTY(yoke_run_summary);
  yoke_context    *ctx     = NULL;
  snprintf(sets, sizeof sets,
           "parameters.n=%d;split.c=%d;output.select=[\"c.x[1]\"];output.every=1;t_end=%de-7;cosimulation.monitor=off",
           parts * masses, parts, steps);
  yoke_run_options options = bench_options("examples/chain-load.yaml", sets, text, list);
  options.exec             = NULL;
  options.threads          = threads;
  options.n_print          = 1;
  options.print            = &output;
  options.profile          = profile;
  options.monolithic       = parts == 1;
  bench_need(yoke_context_create(&ctx), ctx, "threads");
  bench_need(yoke_run(ctx, &options, &summary), ctx, "threads");
  const threads_run result = {.seconds = summary.wall_time,
                              .value   = summary.print_values[0],
                              .projected =
                                  profile ? summary.projection[0].time / summary.projection[1].time : (double)NAN};
  yoke_run_summary_release(&summary);
  yoke_context_destroy(&ctx);
  return result;
}

static threads_run run_best(int parts, int masses, int steps, int threads, bool profile) {
  threads_run best = {.seconds = (double)INFINITY};
  for (int i = 0; i < REPEATS; ++i) {
    const threads_run one = run_once(parts, masses, steps, threads, profile);
    if (one.seconds < best.seconds) best = one;
  }
  return best;
}

/* ---- a busy machine ---- */

static atomic_bool is_over;

static void *be_busy(void *unused) {
  (void)unused;
  while (!atomic_load_explicit(&is_over, memory_order_relaxed)) {
  }
  return NULL;
}

/* Two threads against one, both the mean of repeats: who waits for a processor is a matter of luck, the more so the shorter the run. */
static double busy_ratio(int parts, int masses, int steps) {
  const int repeats = parts == 1 ? MANY : REPEATS;
  pthread_t loops[2];
  double    seconds[2] = {0.0, 0.0};
  atomic_store(&is_over, false);
  for (int k = 0; k < 2; ++k) {
    if (pthread_create(&loops[k], NULL, be_busy, NULL) != 0) exit(7);
  }
  for (int i = 0; i < repeats; ++i) {
    for (int threads = 1; threads <= 2; ++threads)
      seconds[threads - 1] += run_once(parts, masses, steps, threads, false).seconds;
  }
  atomic_store(&is_over, true);
  for (int k = 0; k < 2; ++k) pthread_join(loops[k], NULL);
  return seconds[1] / seconds[0];
}

int main(void) {
  static const int cases[][2] = {{1, 10000}, {2, 5000}, {4, 5000}, {16, 5000}, {64, 5000}, {100, 10}};
  printf("two threads against one, wall time of %d macro steps\n", STEPS);
  printf("%8s %8s %14s %14s %9s %10s %8s\n", "parts", "masses", "one [s]", "two [s]", "speed-up", "projected", "busy");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const int parts = cases[i][0], masses = cases[i][1];
    if (bench_is_quick() && parts * masses > 20000) continue;
    const threads_run one = run_best(parts, masses, STEPS, 1, false), two = run_best(parts, masses, STEPS, 2, false);
    const double      projected = run_best(parts, masses, STEPS, 1, true).projected;
    const double      busy = busy_ratio(parts, masses, STEPS), error = fabs(two.value - one.value) / fabs(one.value);
    printf("%8d %8d %14.4e %14.4e %9.2f %10.2f %8.2f\n", parts, masses, one.seconds, two.seconds,
           one.seconds / two.seconds, projected, busy);
    fflush(stdout);
    bench_figure(two.seconds / one.seconds, "-", error, "threads, %d of %d: time of two in units of one", parts,
                 masses);
    bench_figure(busy, "-", error, "threads, %d of %d: the same on a busy machine", parts, masses);
  }
  return 0;
}
