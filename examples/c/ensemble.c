/* An ensemble: the same model with other parameters, several simulations at the same time on threads of the program. A quarter car drives over a step; the
 * damping of its suspension is varied, and how hard and how high the body is thrown is told for each. Objects belong to the thread that made them,
 * nothing is shared but the number of the next run, so results do not depend on the number of threads.
 *   usage: ensemble [THREADS] */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yoke/yoke.h>

static const char text[] =
    "yoke: 1\n"
    "name: quarter car\n"
    "parameters: {d: 1000}\n"
    "t_end: 2\n"
    "bodies: {body: {kind: mass1d, mass: 300}, wheel: {kind: mass1d, mass: 40}}\n"
    "connections:\n"
    "  suspension: {kind: spring-damper, between: [wheel, body], stiffness: 20000, damping: d, free_length: 0}\n"
    "  tyre: {kind: spring-damper, between: [ground, wheel], stiffness: 180000, damping: 50, free_length: 0}\n"
    "loads: {road: {kind: expression, on: wheel, force: 180000*0.05/2*(1 + tanh((t - 0.1)/0.01))}}\n"
    "split: {wheel: [wheel], body: [body]}\n"
    "cosimulation: {step: 1e-3}\n";

enum { RUNS = 16, MOST_THREADS = 64 };

typedef struct ride {
  yoke_status status;
  double      damping, hardest, highest; /* [N s/m], acceleration of the body [m/s^2], place of the body [m] */
} ride;

typedef struct ensemble {
  pthread_mutex_t lock;
  int             next;
  ride            rides[RUNS];
} ensemble;

static yoke_status drive(yoke_context *ctx, yoke_simulation *s, ride *r) {
  static const char *const names[] = {"body.a", "body.x"};
  int                      handles[2];
  double                   values[2];
  YOKE_TRY(yoke_simulation_find(ctx, s, 2, names, handles));
  while (!yoke_simulation_has_ended(s)) {
    YOKE_TRY(yoke_simulation_step(ctx, s, NULL));
    YOKE_TRY(yoke_simulation_get(ctx, s, 2, handles, values));
    if (values[0] > r->hardest) r->hardest = values[0];
    if (values[1] > r->highest) r->highest = values[1];
  }
  return YOKE_OK;
}

static yoke_status simulate(yoke_context *ctx, ride *r) {
  yoke_load_options       load;
  yoke_simulation_options options;
  yoke_model             *model = NULL;
  yoke_simulation        *s     = NULL;
  char                    set[64];
  const char             *sets[1] = {set};
  snprintf(set, sizeof set, "parameters.d=%.17g", r->damping);
  memset(&load, 0, sizeof load);
  memset(&options, 0, sizeof options);
  load.size          = sizeof load;
  load.n_sets        = 1;
  load.sets          = sets;
  options.size       = sizeof options;
  options.exec       = "serial"; /* the threads are ours */
  yoke_status status = yoke_model_load_text(ctx, "quarter car", text, strlen(text), &load, &model);
  if (status == YOKE_OK) status = yoke_simulation_create(ctx, model, &options, &s);
  if (status == YOKE_OK) status = drive(ctx, s, r);
  yoke_simulation_destroy(&s);
  yoke_model_destroy(&model);
  return status;
}

static void *work(void *user) {
  ensemble *e = (ensemble *)user;
  for (;;) {
    yoke_context *ctx = NULL;
    pthread_mutex_lock(&e->lock);
    const int i = e->next++;
    pthread_mutex_unlock(&e->lock);
    if (i >= RUNS) return NULL;
    ride *r    = &e->rides[i];
    r->damping = 250.0 * (i + 1);
    r->status  = yoke_context_create(&ctx);
    if (r->status == YOKE_OK) r->status = simulate(ctx, r);
    for (size_t k = 0; k < yoke_context_n_messages(ctx); ++k) fprintf(stderr, "%s\n", yoke_context_message(ctx, k));
    yoke_context_destroy(&ctx);
  }
}

int main(int argc, char **argv) {
  const int   n_threads = argc > 1 ? atoi(argv[1]) : 4;
  pthread_t   threads[MOST_THREADS];
  ensemble    e;
  int         n     = 0;
  yoke_status worst = YOKE_OK;
  if (n_threads < 1 || n_threads > MOST_THREADS) {
    fprintf(stderr, "%d threads, expected 1 to %d\n", n_threads, MOST_THREADS);
    return 2;
  }
  memset(&e, 0, sizeof e);
  pthread_mutex_init(&e.lock, NULL);
  while (n < n_threads && pthread_create(&threads[n], NULL, work, &e) == 0) ++n;
  if (n == 0) (void)work(&e);
  for (int i = 0; i < n; ++i) pthread_join(threads[i], NULL);
  pthread_mutex_destroy(&e.lock);
  printf("damping [N s/m]   hardest [m/s^2]     highest [m]\n");
  for (int i = 0; i < RUNS; ++i) {
    printf("%15.0f   %15.9f   %13.11f\n", e.rides[i].damping, e.rides[i].hardest, e.rides[i].highest);
    if (e.rides[i].status != YOKE_OK) worst = e.rides[i].status;
  }
  return yoke_status_exit_code(worst);
}
