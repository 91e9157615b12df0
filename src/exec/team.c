#include "exec/team.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double spin_least = 4e-5; /* s; about what waking a thread takes */
static const double spin_share =
    0.25; /* of the time that the last list took: what lies between long lists grows with them */
static const double spin_most = 1e-3; /* s */

/* A list of tasks. */
typedef struct team_list {
  const yoke_schedule *schedule;
  yoke_task            task;
  void                *user;
  uint32_t             number; /* of the list, counted from 1 */
  int                  n_owners;
  double               spin_time; /* of who waits for it, or for the next one [s] */
  double               before;    /* what the list before took [s] */
} team_list;

/* Batches of one owner that nobody took: (number of the list) << 32 | first << 16 | end, counted from the owner's first one. Who comes late,
 * with a list that is over, sees by the number that there is nothing left for him. */
typedef struct team_share {
  _Atomic uint64_t open;
  char             apart[120]; /* shares of two owners lie in different cache lines */
} team_share;

typedef struct team_member {
  yoke_team     *team;
  pthread_t      thread;
  pthread_cond_t has_work;
  int            worker;
} team_member;

struct yoke_team {
  int          n_workers;
  team_member *members; /* [n_workers - 1] */
  team_share  *shares;  /* [n_workers] */

  pthread_mutex_t lock;
  pthread_cond_t  is_done;
  team_list       list;      /* under the lock */
  bool            is_ending; /* under the lock */
  double          last;      /* what the last list took [s]; the caller's */

  char             apart[128];
  _Atomic uint32_t number; /* of the present list, for those who look again and again */
  _Atomic uint32_t n_open; /* batches of the list that are not finished */
  _Atomic bool     caller_sleeps;
};

/* The next batch of an owner for himself, the last one for others; -1: there is none. */
static int take(team_share *share, uint32_t number, bool is_own) {
  uint64_t open = atomic_load_explicit(&share->open, memory_order_acquire);
  for (;;) {
    const uint32_t first = open >> 16 & 0xffff, end = open & 0xffff;
    if (open >> 32 != number || first >= end) return -1;
    const uint64_t left = is_own ? open + 0x10000 : open - 1;
    if (atomic_compare_exchange_weak_explicit(&share->open, &open, left, memory_order_acq_rel, memory_order_acquire))
      return (int)(is_own ? first : end - 1);
  }
}

static void run_batch(const team_list *list, int batch, int worker) {
  const yoke_schedule *s = list->schedule;
  for (int i = s->begin[batch]; i < s->begin[batch + 1]; ++i) list->task(list->user, s->order[i], worker);
}

static void finish_batch(yoke_team *team, int worker) {
  if (atomic_fetch_sub(&team->n_open, 1) != 1 || worker == 0 || !atomic_load(&team->caller_sleeps)) return;
  pthread_mutex_lock(&team->lock);
  pthread_cond_signal(&team->is_done);
  pthread_mutex_unlock(&team->lock);
}

/* One's own batches, then those of others, until none is left; how many there were. */
static int work_off(yoke_team *team, const team_list *list, int worker) {
  int n = 0;
  for (int k = 0; k < list->n_owners; ++k) {
    const int owner = (worker + k) % list->n_owners;
    for (;;) {
      const int batch = take(&team->shares[owner], list->number, k == 0);
      if (batch < 0) break;
      run_batch(list, list->schedule->first[owner] + batch, worker);
      finish_batch(team, worker);
      ++n;
    }
  }
  return n;
}

static bool is_finished(yoke_team *team, uint32_t unused) {
  (void)unused;
  return atomic_load_explicit(&team->n_open, memory_order_acquire) == 0;
}

static bool is_new(yoke_team *team, uint32_t last) {
  return atomic_load_explicit(&team->number, memory_order_relaxed) != last;
}

/* Invariant 2, first half. */
static void spin(yoke_team *team, const team_list *list, bool (*is_over)(yoke_team *team, uint32_t number)) {
  const double end = yoke_clock_now() + list->spin_time;
  while (!is_over(team, list->number) && yoke_clock_now() < end) {
  }
}

/* Who came too late finds nothing, and the caller is still at it: to be in time for the next list he stays as long as one takes. */
static void work_off_timed(yoke_team *team, team_list *list, int worker) {
  const double begin = yoke_clock_now();
  const int    n     = work_off(team, list, worker);
  const double took  = n > 0 ? spin_share * (yoke_clock_now() - begin) : list->before;
  list->spin_time    = fmax(spin_least, fmin(spin_most, took));
}

/* The next list this member joins; false: the team ends. Before the first one, while a model is set up, nobody spins. */
static bool join_list(team_member *member, team_list *list) {
  yoke_team *team = member->team;
  if (list->number > 0) spin(team, list, is_new);
  pthread_mutex_lock(&team->lock);
  while (!team->is_ending && (team->list.number == list->number || member->worker >= team->list.n_owners)) {
    pthread_cond_wait(&member->has_work, &team->lock);
  }
  *list              = team->list;
  const bool goes_on = !team->is_ending;
  pthread_mutex_unlock(&team->lock);
  return goes_on;
}

static void *member_main(void *user) {
  team_member *member = user;
  team_list    list   = {0};
  while (join_list(member, &list)) work_off_timed(member->team, &list, member->worker);
  return NULL;
}

/* Offers the list to the members that own a share of it. Those who look again and again see it by its number, when the lock is free. A list without
 * a schedule is empty. */
static void offer(yoke_team *team, team_list *list) {
  const yoke_schedule *s = list->schedule;
  pthread_mutex_lock(&team->lock);
  list->number = team->list.number + 1;
  team->list   = *list;
  atomic_store_explicit(&team->n_open, s != NULL ? (uint32_t)s->n_batches : 0, memory_order_relaxed);
  for (int w = 0; w < list->n_owners; ++w) {
    const uint64_t n = s != NULL ? (uint64_t)(s->first[w + 1] - s->first[w]) : 0;
    atomic_store_explicit(&team->shares[w].open, (uint64_t)list->number << 32 | n, memory_order_release);
  }
  pthread_mutex_unlock(&team->lock);
  atomic_store_explicit(&team->number, list->number, memory_order_release);
  for (int w = 1; w < list->n_owners; ++w) pthread_cond_signal(&team->members[w - 1].has_work);
}

static void wait_for_others(yoke_team *team, const team_list *list) {
  spin(team, list, is_finished);
  if (is_finished(team, 0)) return;
  pthread_mutex_lock(&team->lock);
  atomic_store(&team->caller_sleeps, true);
  while (atomic_load(&team->n_open) > 0) pthread_cond_wait(&team->is_done, &team->lock);
  atomic_store(&team->caller_sleeps, false);
  pthread_mutex_unlock(&team->lock);
}

void yoke_team_run(yoke_team *team, const yoke_schedule *schedule, yoke_task task, void *user) {
  team_list list     = {.schedule = schedule, .task = task, .user = user, .n_owners = schedule->n_owners};
  list.before        = team->last;
  const double begin = yoke_clock_now();
  offer(team, &list);
  work_off_timed(team, &list, 0);
  wait_for_others(team, &list);
  team->last = yoke_clock_now() - begin;
}

void yoke_team_wake(yoke_team *team, double seconds) {
  team_list list = {.n_owners = team->n_workers, .before = seconds};
  offer(team, &list);
}

/* ---- life ---- */

int yoke_team_n_processors(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  const long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? (int)n : 1;
}

yoke_status yoke_team_create(yoke_context *ctx, int n_workers, yoke_team **out) {
  const int  wanted = n_workers > 0 ? n_workers : yoke_team_n_processors();
  yoke_team *team   = yoke_allocate(1, sizeof *team);
  if (team != NULL) {
    team->members = yoke_allocate((size_t)wanted, sizeof *team->members);
    team->shares  = yoke_allocate((size_t)wanted, sizeof *team->shares);
  }
  *out = NULL;
  if (team == NULL || team->members == NULL || team->shares == NULL) {
    if (team != NULL) free(team->members), free(team->shares);
    free(team);
    return yoke_out_of_memory(ctx, "%d threads", wanted);
  }
  pthread_mutex_init(&team->lock, NULL); /* with default attributes these cannot fail on Linux */
  pthread_cond_init(&team->is_done, NULL);
  team->n_workers = 1;
  while (team->n_workers < wanted) {
    team_member *member = &team->members[team->n_workers - 1];
    member->team        = team;
    member->worker      = team->n_workers;
    pthread_cond_init(&member->has_work, NULL);
    const int error = pthread_create(&member->thread, NULL, member_main, member);
    if (error != 0) {
      pthread_cond_destroy(&member->has_work);
      yoke_warn(ctx, "only %d of %d threads could be started (%s): the run goes on with these", team->n_workers, wanted,
                strerror(error));
      break;
    }
    ++team->n_workers;
  }
  *out = team;
  return YOKE_OK;
}

void yoke_team_destroy(yoke_team **out) {
  yoke_team *team = out != NULL ? *out : NULL;
  if (team == NULL) return;
  pthread_mutex_lock(&team->lock);
  team->is_ending = true;
  for (int i = 0; i < team->n_workers - 1; ++i) pthread_cond_signal(&team->members[i].has_work);
  pthread_mutex_unlock(&team->lock);
  for (int i = 0; i < team->n_workers - 1; ++i) {
    pthread_join(team->members[i].thread, NULL);
    pthread_cond_destroy(&team->members[i].has_work);
  }
  pthread_cond_destroy(&team->is_done);
  pthread_mutex_destroy(&team->lock);
  free(team->members);
  free(team->shares);
  free(team);
  *out = NULL;
}

int yoke_team_n_workers(const yoke_team *team) {
  return team->n_workers;
}
