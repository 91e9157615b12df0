/* World: ranks that are threads of this process, and what they exchange. Include after cmocka.h. */
#ifndef YOKE_TESTS_RANKS_WORLD_H
#define YOKE_TESTS_RANKS_WORLD_H

#include <yoke/yoke.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { WORLD_MOST = 8 };

typedef struct world {
  int             n;
  pthread_mutex_t lock;
  pthread_cond_t  all_here;
  int             n_here, round; /* under the lock, as all that follows */
  bool            is_broken;     /* a rank has given up */
  const void     *own[WORLD_MOST];
  size_t          bytes[WORLD_MOST];
  long            n_gathers;            /* of rank 0 */
  size_t          travelled;            /* bytes that every rank sent, in all */
  size_t          received[WORLD_MOST]; /* bytes that rank 0 sent to this one alone */
  int             letter_for;           /* rank that is to take what rank 0 sends it; 0: nothing is on its way */
  const void     *letter;
  /* Changes what travelled before it arrives; NULL: nothing is changed. */
  void (*tamper)(int rank, void *all, size_t bytes);
} world;

typedef struct world_rank {
  world        *world;
  int           rank;
  yoke_context *ctx;
  yoke_status (*work)(struct world_rank *rank, void *user);
  void       *user;
  yoke_status status;
  pthread_t   thread;
} world_rank;

/* Waits until all ranks are here. */
static inline bool world_meet(world *w) {
  const int round = w->round;
  if (++w->n_here == w->n) {
    w->n_here = 0;
    ++w->round;
    pthread_cond_broadcast(&w->all_here);
  }
  while (w->round == round && !w->is_broken) pthread_cond_wait(&w->all_here, &w->lock);
  return !w->is_broken;
}

static inline bool world_gather(void *user, const void *own, size_t bytes, void *all) {
  world_rank *r = user;
  world      *w = r->world;
  pthread_mutex_lock(&w->lock);
  if (own == NULL) {
    w->is_broken = true;
    pthread_cond_broadcast(&w->all_here);
  } else {
    w->own[r->rank]   = own;
    w->bytes[r->rank] = bytes;
    if (r->rank == 0) {
      ++w->n_gathers;
      w->travelled += bytes;
    }
  }
  bool is_fine = own != NULL && world_meet(w);
  for (int i = 0; is_fine && i < w->n; ++i) {
    if (w->bytes[i] != bytes) is_fine = false; /* MPI would have hung, or worse */
    if (is_fine) memcpy((char *)all + (size_t)i * bytes, w->own[i], bytes);
  }
  if (is_fine && w->tamper != NULL) w->tamper(r->rank, all, bytes * (size_t)w->n);
  is_fine = own != NULL && world_meet(w) && is_fine; /* all have read */
  pthread_mutex_unlock(&w->lock);
  return is_fine;
}

/* Rank 0 waits until rank `to` has taken it. */
static inline bool world_deliver(void *user, int to, void *bytes, size_t size) {
  world_rank *r = user;
  world      *w = r->world;
  pthread_mutex_lock(&w->lock);
  if (r->rank == 0) {
    w->letter_for = to;
    w->letter     = bytes;
    pthread_cond_broadcast(&w->all_here);
    while (w->letter_for != 0 && !w->is_broken) pthread_cond_wait(&w->all_here, &w->lock);
  } else {
    while (w->letter_for != to && !w->is_broken) pthread_cond_wait(&w->all_here, &w->lock);
    if (!w->is_broken) memcpy(bytes, w->letter, size);
    if (w->tamper != NULL) w->tamper(r->rank, bytes, size);
    w->received[to] += size;
    w->letter_for = 0;
    pthread_cond_broadcast(&w->all_here);
  }
  const bool is_fine = !w->is_broken;
  pthread_mutex_unlock(&w->lock);
  return is_fine;
}

static inline void *world_thread(void *user) {
  world_rank *r = user;
  r->status     = r->work(r, r->user);
  return NULL;
}

/* How ranks are connected; all 0: as the program connects them. */
typedef struct world_way {
  void (*tamper)(int rank, void *all, size_t bytes);
  bool allow_mixed;
  bool gathers_only; /* `deliver` is missing */
} world_way;

/* Runs work(rank, user) on n ranks, each with a context that knows the others; statuses and contexts are in ranks[n]. */
static inline void world_run_by(world *w, int n, world_rank *ranks, world_way way,
                                yoke_status (*work)(world_rank *rank, void *user), void *user) {
  *w = (world){.n = n, .tamper = way.tamper};
  pthread_mutex_init(&w->lock, NULL);
  pthread_cond_init(&w->all_here, NULL);
  for (int i = 0; i < n; ++i) {
    ranks[i]               = (world_rank){.world = w, .rank = i, .work = work, .user = user};
    const yoke_ranks hooks = {.size        = sizeof hooks,
                              .rank        = i,
                              .n_ranks     = n,
                              .gather      = world_gather,
                              .user        = &ranks[i],
                              .allow_mixed = way.allow_mixed,
                              .deliver     = way.gathers_only ? NULL : world_deliver};
    assert_int_equal(yoke_context_create(&ranks[i].ctx), YOKE_OK);
    assert_int_equal(yoke_context_set_ranks(ranks[i].ctx, &hooks), YOKE_OK);
  }
  for (int i = 0; i < n; ++i) assert_int_equal(pthread_create(&ranks[i].thread, NULL, world_thread, &ranks[i]), 0);
  for (int i = 0; i < n; ++i) pthread_join(ranks[i].thread, NULL);
}

static inline void world_run(world *w, int n, world_rank *ranks, yoke_status (*work)(world_rank *rank, void *user),
                             void *user) {
  world_run_by(w, n, ranks, (world_way){0}, work, user);
}

static inline void world_end(world *w, world_rank *ranks) {
  for (int i = 0; i < w->n; ++i) yoke_context_destroy(&ranks[i].ctx);
  pthread_cond_destroy(&w->all_here);
  pthread_mutex_destroy(&w->lock);
}

#endif
