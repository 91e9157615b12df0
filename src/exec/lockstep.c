#include "exec/lockstep.h"

#include "base/clock.h"
#include "base/memory.h"
#include "exec/pace.h"
#include "exec/team.h"
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Least work of a thread [s]: some ten times what telling it and waiting for it takes. */
static const double worth_a_thread = 1e-5;

enum {
  N_FIRST = 8 /* runs of the caller alone, which tell how long the work takes: the first ones wait for their data */
};

/* On cache lines of its own. */
typedef struct helper_time {
  double seconds;
  char   apart[120];
} helper_time;

struct yoke_lockstep {
  yoke_team        *team;     /* NULL: a rehearsal */
  yoke_schedule     schedule; /* part i is that of thread i: all arrays are `count` */
  int              *count;    /* 0, 1, 2 ... */
  helper_time      *times;    /* [n_threads] of parts on each */
  atomic_flag       is_taken;
  bool              is_eager;
  int               n_measured;
  double            rate;      /* seconds per unit of the caller alone, the least that was seen */
  int               n_present; /* parts of the last run that was judged */
  yoke_pace         pace;
  yoke_lockstep_use use;
  double            look; /* what a look at the clock takes, in a rehearsal [s] */
};

yoke_status yoke_lockstep_create(yoke_context *ctx, int n_threads, bool is_eager, yoke_lockstep **out) {
  yoke_lockstep *l = yoke_allocate(1, sizeof *l);
  *out             = NULL;
  if (l == NULL) return yoke_out_of_memory(ctx, "%d threads", n_threads);
  atomic_flag_clear(&l->is_taken);
  l->is_eager        = is_eager;
  l->n_present       = 1;
  l->use.most        = 1;
  yoke_status status = yoke_team_create(ctx, n_threads, &l->team);
  if (status == YOKE_OK) {
    const int n = yoke_team_n_workers(l->team);
    l->times    = yoke_allocate((size_t)n, sizeof *l->times);
    l->count    = yoke_allocate((size_t)n + 1, sizeof *l->count);
    if (l->times == NULL || l->count == NULL) status = yoke_out_of_memory(ctx, "%d threads", n);
    for (int i = 0; l->count != NULL && i <= n; ++i) l->count[i] = i;
  }
  if (status == YOKE_OK)
    *out = l;
  else
    yoke_lockstep_destroy(&l);
  return status;
}

/* The least of many looks that follow each other. */
static double time_a_look(void) {
  double least = INFINITY;
  for (int i = 0; i < 200; ++i) {
    const double begin = yoke_clock_thread();
    least              = fmin(least, yoke_clock_thread() - begin);
  }
  return least;
}

yoke_status yoke_lockstep_create_rehearsal(yoke_context *ctx, yoke_lockstep **out) {
  yoke_lockstep *l = yoke_allocate(1, sizeof *l);
  *out             = l;
  if (l == NULL) return yoke_out_of_memory(ctx, "the times of two threads");
  atomic_flag_clear(&l->is_taken);
  l->use.most = 1;
  l->look     = time_a_look();
  return YOKE_OK;
}

void yoke_lockstep_destroy(yoke_lockstep **lockstep) {
  if (lockstep == NULL || *lockstep == NULL) return;
  if ((*lockstep)->team != NULL) yoke_team_destroy(&(*lockstep)->team);
  free((*lockstep)->count);
  free((*lockstep)->times);
  free(*lockstep);
  *lockstep = NULL;
}

typedef struct parts {
  yoke_lockstep     *lockstep;
  yoke_lockstep_part part;
  void              *user;
  int                n;
} parts;

static void run_part(void *user, int i, int worker) {
  const parts *p     = user;
  const double begin = worker > 0 ? yoke_clock_now() : 0.0;
  p->part(p->user, i, p->n);
  if (worker > 0) p->lockstep->times[worker].seconds += yoke_clock_now() - begin;
}

static void share(yoke_lockstep *l, int n, yoke_lockstep_part part, void *user) {
  parts          p = {.lockstep = l, .part = part, .user = user, .n = n};
  yoke_schedule *s = &l->schedule;
  s->n = s->n_owners = s->n_batches = n;
  s->order = s->begin = s->first = l->count;
  yoke_team_run(l->team, s, run_part, &p);
}

/* The clock decides who works, never what comes out. */
static void run_judged(yoke_lockstep *l, int most, double amount, yoke_lockstep_part part, void *user) {
  const bool is_first = l->n_measured < N_FIRST;
  const int  n_worth  = is_first ? 1 : (int)fmin(most, amount * l->rate / worth_a_thread);
  const bool is_alone = n_worth < 2 || l->pace.is_alone;
  l->n_present        = is_alone ? 1 : n_worth;
  if (!is_first && n_worth < 2) {
    part(user, 0, 1);
    return;
  }
  const double begin = yoke_clock_now();
  if (is_alone)
    part(user, 0, 1);
  else
    share(l, n_worth, part, user);
  const double wall = yoke_clock_now() - begin;
  if (is_alone) l->rate = l->n_measured == 0 ? wall / amount : fmin(l->rate, wall / amount);
  if (is_first)
    ++l->n_measured;
  else
    yoke_pace_note(&l->pace, amount * l->rate, wall);
}

/* Two parts after each other: the shorter one, and the looks, are what a second thread saves. */
static void rehearse(yoke_lockstep *l, yoke_lockstep_part part, void *user) {
  const double begin = yoke_clock_thread();
  part(user, 0, 2);
  const double middle = yoke_clock_thread();
  part(user, 1, 2);
  const double end = yoke_clock_thread();
  l->use.saved += fmax(0.0, fmin(middle - begin, end - middle) - l->look) + 3.0 * l->look;
}

static int most_parts(const yoke_lockstep *l, int most) {
  const int n = l->team != NULL ? yoke_team_n_workers(l->team) : 1;
  return most < n ? most : n;
}

void yoke_lockstep_run(yoke_lockstep *l, int most, double amount, yoke_lockstep_part part, void *user) {
  if (l != NULL && l->team == NULL && most > 1) {
    rehearse(l, part, user);
    return;
  }
  if (l != NULL) most = most_parts(l, most);
  if (l == NULL || most < 2 || atomic_flag_test_and_set_explicit(&l->is_taken, memory_order_acquire)) {
    part(user, 0, 1);
    return;
  }
  if (l->is_eager) {
    l->n_present = most;
    share(l, most, part, user);
  } else {
    run_judged(l, most, amount, part, user);
  }
  ++l->use.n_runs;
  l->use.n_shared += l->n_present > 1;
  if (l->n_present > l->use.most) l->use.most = l->n_present;
  atomic_flag_clear_explicit(&l->is_taken, memory_order_release);
}

void yoke_lockstep_follow(yoke_lockstep *l, int most, yoke_lockstep_part part, void *user) {
  if (l != NULL && l->team == NULL && most > 1) {
    rehearse(l, part, user);
    return;
  }
  if (l == NULL || atomic_flag_test_and_set_explicit(&l->is_taken, memory_order_acquire)) {
    part(user, 0, 1);
    return;
  }
  const int n = l->n_present < most ? l->n_present : most;
  if (n > 1)
    share(l, n, part, user);
  else
    part(user, 0, 1);
  atomic_flag_clear_explicit(&l->is_taken, memory_order_release);
}

yoke_lockstep_use yoke_lockstep_used(const yoke_lockstep *l) {
  yoke_lockstep_use use = l->use;
  use.n_defeats         = l->pace.n_defeats;
  for (int i = 0; l->team != NULL && i < yoke_team_n_workers(l->team); ++i) use.helped += l->times[i].seconds;
  return use;
}
