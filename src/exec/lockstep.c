#include "exec/lockstep.h"

#include "base/clock.h"
#include "base/memory.h"
#include "exec/pace.h"
#include "exec/team.h"
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Least work of a thread [s]: some ten times what telling it and waiting for it takes. */
static const double worth_a_thread = 1e-5;

/* Work that is this much longer than what is worth a thread is so for sure. */
static const double surely_worth = 4.0;

/* Threads that sleep when a run begins look out for work while it is measured how long that takes [s]. */
static const double first_looks = 1e-3;

/* Whoever waits for the others of a round looks again and again, then sleeps [s]: for longer than the parts of a round differ. */
static const double spin_time = 2e-4;

enum {
  N_FIRST = 8, /* runs of the caller alone, which tell how long the work takes: the first ones wait for their data */
  N_SURE  = 2  /* the same where it is surely long enough */
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
  pthread_mutex_t   lock; /* of those who sleep between two rounds */
  pthread_cond_t    has_round;
};

yoke_status yoke_lockstep_create(yoke_context *ctx, int n_threads, bool is_eager, yoke_lockstep **out) {
  yoke_lockstep *l = yoke_allocate(1, sizeof *l);
  *out             = NULL;
  if (l == NULL) return yoke_out_of_memory(ctx, "%d threads", n_threads);
  atomic_flag_clear(&l->is_taken);
  pthread_mutex_init(&l->lock, NULL); /* with default attributes these cannot fail on Linux */
  pthread_cond_init(&l->has_round, NULL);
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

yoke_status yoke_lockstep_create_rehearsal(yoke_context *ctx, yoke_lockstep **out) {
  yoke_lockstep *l = yoke_allocate(1, sizeof *l);
  *out             = l;
  if (l == NULL) return yoke_out_of_memory(ctx, "the times of two threads");
  atomic_flag_clear(&l->is_taken);
  pthread_mutex_init(&l->lock, NULL);
  pthread_cond_init(&l->has_round, NULL);
  l->use.most = 1;
  l->look     = yoke_clock_look(yoke_clock_thread, 200);
  return YOKE_OK;
}

void yoke_lockstep_destroy(yoke_lockstep **lockstep) {
  if (lockstep == NULL || *lockstep == NULL) return;
  if ((*lockstep)->team != NULL) yoke_team_destroy(&(*lockstep)->team);
  pthread_cond_destroy(&(*lockstep)->has_round);
  pthread_mutex_destroy(&(*lockstep)->lock);
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

/* Is more to be known of how long work takes, before anybody is told? */
static bool is_measured_first(const yoke_lockstep *l, double amount) {
  return l->n_measured < N_SURE || (l->n_measured < N_FIRST && amount * l->rate < surely_worth * worth_a_thread);
}

/* The clock decides who works, never what comes out. */
static void run_judged(yoke_lockstep *l, int most, double amount, yoke_lockstep_part part, void *user) {
  const bool is_first = is_measured_first(l, amount);
  const int  n_worth  = is_first ? 1 : (int)fmin(most, amount * l->rate / worth_a_thread);
  const bool is_alone = n_worth < 2 || l->pace.is_alone;
  l->n_present        = is_alone ? 1 : n_worth;
  if (!is_first && n_worth < 2) {
    part(user, 0, 1);
    return;
  }
  if (is_first) yoke_team_wake(l->team, first_looks);
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

/* ---- rounds ---- */

enum { OVER = 0 /* no round has this number */ };

/* On cache lines of its own. */
typedef struct round_number {
  _Atomic uint32_t value;
  char             apart[124];
} round_number;

typedef struct rounds {
  yoke_lockstep      *lockstep; /* NULL: nobody helps */
  int                 n_parts;
  yoke_lockstep_round part;
  yoke_lockstep_meet  meet;
  void               *user;
  char                apart[128];
  round_number        now;  /* the present round, counted from 1; OVER */
  round_number        done; /* parts of it that are done */
  round_number        asleep;
  round_number        next[YOKE_LOCKSTEP_MOST_PARTS]; /* round that nobody has begun for this part */
} rounds;

/* The last one of a round opens the next. */
static void finish(rounds *r, uint32_t now) {
  if (atomic_fetch_add_explicit(&r->done.value, 1, memory_order_acq_rel) + 1 < (uint32_t)r->n_parts) return;
  atomic_store_explicit(&r->done.value, 0, memory_order_relaxed);
  const bool goes_on = r->meet(r->user);
  atomic_store(&r->now.value, goes_on ? now + 1 : OVER);
  if (atomic_load(&r->asleep.value) == 0) return; /* who falls asleep from now on sees the next round */
  pthread_mutex_lock(&r->lockstep->lock);
  pthread_cond_broadcast(&r->lockstep->has_round);
  pthread_mutex_unlock(&r->lockstep->lock);
}

static bool is_over(rounds *r, uint32_t now) {
  return atomic_load_explicit(&r->now.value, memory_order_acquire) != now;
}

/* Until round `now` is over; how long that took [s]. */
static double wait_for_round(rounds *r, uint32_t now) {
  const double begin = yoke_clock_now();
  double       end   = begin;
  while (!is_over(r, now) && end < begin + spin_time) end = yoke_clock_now();
  if (is_over(r, now)) return end - begin;
  pthread_mutex_lock(&r->lockstep->lock);
  atomic_fetch_add(&r->asleep.value, 1);
  while (atomic_load(&r->now.value) == now) pthread_cond_wait(&r->lockstep->has_round, &r->lockstep->lock);
  atomic_fetch_sub(&r->asleep.value, 1);
  pthread_mutex_unlock(&r->lockstep->lock);
  return yoke_clock_now() - begin;
}

/* Part i of n: from the round that is there to the last one, one's own part first and then those that nobody has begun. */
static void run_rounds(void *user, int i, int n) {
  rounds  *r      = user;
  double   waited = 0.0;
  uint32_t now;
  while ((now = atomic_load_explicit(&r->now.value, memory_order_acquire)) != OVER) {
    for (int k = 0; k < r->n_parts; ++k) {
      const int part = (i + k) % r->n_parts;
      uint32_t  next = now;
      if (!atomic_compare_exchange_strong_explicit(&r->next[part].value, &next, now + 1, memory_order_acq_rel,
                                                   memory_order_relaxed))
        continue;
      r->part(r->user, part);
      finish(r, now);
    }
    if (n > 1 && !is_over(r, now)) waited += wait_for_round(r, now);
  }
  if (i > 0 && waited > 0.0) r->lockstep->times[i].seconds -= waited; /* run_part counts it */
}

/* All parts after each other: the longest of each round is what threads take. */
static void rehearse_rounds(yoke_lockstep *l, int n_parts, yoke_lockstep_round part, yoke_lockstep_meet meet,
                            void *user) {
  do {
    double sum = 0.0, longest = 0.0, begin = yoke_clock_thread();
    for (int i = 0; i < n_parts; ++i) {
      part(user, i);
      const double end = yoke_clock_thread(), own = fmax(0.0, end - begin - l->look);
      sum += own;
      longest = fmax(longest, own);
      begin   = end;
    }
    l->use.saved += sum - longest + (n_parts + 1) * l->look;
  } while (meet(user));
}

void yoke_lockstep_rounds(yoke_lockstep *l, int n_parts, double amount, yoke_lockstep_round part,
                          yoke_lockstep_meet meet, void *user) {
  if (l != NULL && l->team == NULL) {
    rehearse_rounds(l, n_parts, part, meet, user);
    return;
  }
  rounds r = {.lockstep = l, .n_parts = n_parts, .part = part, .meet = meet, .user = user};
  atomic_init(&r.now.value, 1);
  for (int i = 0; i < n_parts; ++i) atomic_init(&r.next[i].value, 1);
  if (amount > 0.0)
    yoke_lockstep_run(l, n_parts, amount, run_rounds, &r);
  else
    yoke_lockstep_follow(l, n_parts, run_rounds, &r);
}

yoke_lockstep_use yoke_lockstep_used(const yoke_lockstep *l) {
  yoke_lockstep_use use = l->use;
  use.n_defeats         = l->pace.n_defeats;
  for (int i = 0; l->team != NULL && i < yoke_team_n_workers(l->team); ++i) use.helped += l->times[i].seconds;
  return use;
}
