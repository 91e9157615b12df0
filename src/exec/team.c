#include "exec/team.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double spin_time = 2e-5; /* s; about what waking a thread takes */

/* A list of tasks. */
typedef struct team_list {
  yoke_task task;
  void     *user;
  uint32_t  n;
  uint32_t  number; /* of the list, counted from 1 */
} team_list;

typedef struct team_member {
  yoke_team *team;
  pthread_t  thread;
  int        worker;
} team_member;

struct yoke_team {
  int          n_workers;
  team_member *members; /* [n_workers - 1] */

  pthread_mutex_t lock;
  pthread_cond_t  has_work, is_done;
  team_list       list;      /* under the lock */
  int             n_wanted;  /* under the lock: members that may still join this list */
  bool            is_ending; /* under the lock */

  /* (number of the list) << 32 | first task that nobody took. A member that comes late, with a list that is over, sees by
   * the number that there is nothing left for it. */
  _Atomic uint64_t next;
  _Atomic uint32_t n_open; /* tasks of the list that are not finished */
};

/* Tasks of `list` until none is left; returns how many. */
static int work_off(yoke_team *team, const team_list *list, int worker) {
  uint64_t next = atomic_load_explicit(&team->next, memory_order_relaxed);
  int      n    = 0;
  while (next >> 32 == list->number && (uint32_t)next < list->n) {
    if (!atomic_compare_exchange_weak_explicit(&team->next, &next, next + 1, memory_order_acq_rel,
                                               memory_order_relaxed))
      continue;
    list->task(list->user, (int)(uint32_t)next, worker);
    ++n;
    if (atomic_fetch_sub_explicit(&team->n_open, 1, memory_order_acq_rel) == 1 && worker > 0) {
      pthread_mutex_lock(&team->lock);
      pthread_cond_signal(&team->is_done);
      pthread_mutex_unlock(&team->lock);
    }
    next = atomic_load_explicit(&team->next, memory_order_relaxed);
  }
  return n;
}

static bool is_finished(yoke_team *team, uint32_t unused) {
  (void)unused;
  return atomic_load_explicit(&team->n_open, memory_order_acquire) == 0;
}

static bool is_new(yoke_team *team, uint32_t last) {
  return atomic_load_explicit(&team->next, memory_order_relaxed) >> 32 != last;
}

/* Invariant 2, first half. */
static void spin(yoke_team *team, bool (*is_over)(yoke_team *team, uint32_t number), uint32_t number) {
  const double end = yoke_clock_now() + spin_time;
  while (!is_over(team, number) && yoke_clock_now() < end) {
  }
}

/* The next list this member joins; false: the team ends. */
static bool join_list(yoke_team *team, team_list *list) {
  spin(team, is_new, list->number);
  pthread_mutex_lock(&team->lock);
  while (!team->is_ending && (team->list.number == list->number || team->n_wanted == 0)) {
    pthread_cond_wait(&team->has_work, &team->lock);
  }
  *list = team->list;
  --team->n_wanted;
  const bool goes_on = !team->is_ending;
  pthread_mutex_unlock(&team->lock);
  return goes_on;
}

static void *member_main(void *user) {
  team_member *member = user;
  team_list    list   = {0};
  while (join_list(member->team, &list)) (void)work_off(member->team, &list, member->worker);
  return NULL;
}

/* Offers the list to `others` members and works with them. */
static int run_together(yoke_team *team, int others, team_list list) {
  pthread_mutex_lock(&team->lock);
  list.number    = team->list.number + 1;
  team->list     = list;
  team->n_wanted = others;
  atomic_store_explicit(&team->n_open, list.n, memory_order_relaxed);
  atomic_store_explicit(&team->next, (uint64_t)list.number << 32, memory_order_release);
  for (int i = 0; i < others; ++i) pthread_cond_signal(&team->has_work);
  pthread_mutex_unlock(&team->lock);
  return work_off(team, &list, 0);
}

static void wait_for_others(yoke_team *team) {
  spin(team, is_finished, 0);
  if (is_finished(team, 0)) return;
  pthread_mutex_lock(&team->lock);
  while (!is_finished(team, 0)) pthread_cond_wait(&team->is_done, &team->lock);
  pthread_mutex_unlock(&team->lock);
}

int yoke_team_run(yoke_team *team, int n_helpers, int n, yoke_task task, void *user, double *seconds) {
  int          others = n_helpers < team->n_workers ? n_helpers : team->n_workers - 1, n_own = n;
  const double begin = seconds != NULL ? yoke_clock_thread() : 0.0;
  if (others > n - 1) others = n - 1;
  if (others > 0) {
    n_own = run_together(team, others, (team_list){.task = task, .user = user, .n = (uint32_t)n});
  } else {
    for (int i = 0; i < n; ++i) task(user, i, 0);
  }
  if (seconds != NULL) *seconds = yoke_clock_thread() - begin;
  if (others > 0) wait_for_others(team);
  return n_own;
}

/* ---- life ---- */

static int count_processors(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  const long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? (int)n : 1;
}

yoke_status yoke_team_create(yoke_context *ctx, int n_workers, yoke_team **out) {
  const int  wanted = n_workers > 0 ? n_workers : count_processors();
  yoke_team *team   = yoke_allocate(1, sizeof *team);
  if (team != NULL) team->members = yoke_allocate((size_t)wanted, sizeof *team->members);
  *out = NULL;
  if (team == NULL || team->members == NULL) {
    free(team);
    return yoke_out_of_memory(ctx, "%d threads", wanted);
  }
  pthread_mutex_init(&team->lock, NULL); /* with default attributes these cannot fail on Linux */
  pthread_cond_init(&team->has_work, NULL);
  pthread_cond_init(&team->is_done, NULL);
  team->n_workers = 1;
  while (team->n_workers < wanted) {
    team_member *member = &team->members[team->n_workers - 1];
    member->team        = team;
    member->worker      = team->n_workers;
    const int error     = pthread_create(&member->thread, NULL, member_main, member);
    if (error != 0) {
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
  pthread_cond_broadcast(&team->has_work);
  pthread_mutex_unlock(&team->lock);
  for (int i = 0; i < team->n_workers - 1; ++i) pthread_join(team->members[i].thread, NULL);
  pthread_cond_destroy(&team->is_done);
  pthread_cond_destroy(&team->has_work);
  pthread_mutex_destroy(&team->lock);
  free(team->members);
  free(team);
  *out = NULL;
}

int yoke_team_n_workers(const yoke_team *team) {
  return team->n_workers;
}
