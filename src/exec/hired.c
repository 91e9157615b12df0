#include "exec/hired.h"

#include "base/memory.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

struct yoke_hired {
  yoke_executor executor;
  atomic_bool  *is_busy; /* [n_workers] */
  size_t        capacity;
  atomic_bool  *is_taken; /* [n] tasks of the list that is worked off */
  yoke_task     task;
  void         *user;
  int           n;
  atomic_int    n_open; /* tasks that are not finished */
  pthread_t     caller;
};

yoke_status yoke_hired_create(yoke_context *ctx, const yoke_executor *executor, yoke_hired **out) {
  yoke_hired *h = yoke_allocate(1, sizeof *h);
  *out          = NULL;
  if (h != NULL) h->is_busy = yoke_allocate((size_t)executor->n_workers, sizeof *h->is_busy);
  if (h == NULL || h->is_busy == NULL) {
    free(h);
    return yoke_out_of_memory(ctx, "%d workers", executor->n_workers);
  }
  h->executor = *executor;
  *out        = h;
  return YOKE_OK;
}

void yoke_hired_destroy(yoke_hired **hired) {
  if (*hired == NULL) return;
  free((*hired)->is_busy);
  free((*hired)->is_taken);
  free(*hired);
  *hired = NULL;
}

int yoke_hired_n_workers(const yoke_hired *h) {
  return h->executor.n_workers + 1;
}

/* A number that nobody else has now. */
static int take_worker(yoke_hired *h) {
  if (pthread_equal(pthread_self(), h->caller)) return 0;
  for (;; sched_yield()) {
    for (int i = 0; i < h->executor.n_workers; ++i) {
      if (!atomic_exchange_explicit(&h->is_busy[i], true, memory_order_acquire)) return i + 1;
    }
  }
}

static void give_worker(yoke_hired *h, int worker) {
  if (worker > 0) atomic_store_explicit(&h->is_busy[worker - 1], false, memory_order_release);
}

static void run_one(void *data, int i) {
  yoke_hired *h = data;
  if (i < 0 || i >= h->n || atomic_exchange_explicit(&h->is_taken[i], true, memory_order_relaxed)) return;
  const int worker = take_worker(h);
  h->task(h->user, i, worker);
  give_worker(h, worker);
  atomic_fetch_sub_explicit(&h->n_open, 1, memory_order_acq_rel);
}

void yoke_hired_run(yoke_hired *h, int n, yoke_task task, void *user) {
  if (!yoke_grow(&h->is_taken, &h->capacity, (size_t)n, sizeof *h->is_taken)) { /* no memory for others to help */
    for (int i = 0; i < n; ++i) task(user, i, 0);
    return;
  }
  h->task   = task;
  h->user   = user;
  h->n      = n;
  h->caller = pthread_self();
  for (int i = 0; i < n; ++i) atomic_store_explicit(&h->is_taken[i], false, memory_order_relaxed);
  atomic_store_explicit(&h->n_open, n, memory_order_release);
  h->executor.run(h->executor.user, n, run_one, h);
  for (int i = 0; i < n; ++i) run_one(h, i);
  while (atomic_load_explicit(&h->n_open, memory_order_acquire) > 0) sched_yield();
}
