#include "exec/schedule.h"

#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

static const double least_batch = 2e-6; /* s; some ten times what taking one costs */

void yoke_schedule_clear(yoke_schedule *s) {
  free(s->order);
  free(s->begin);
  free(s->first);
  free(s->costs);
  free(s->sorted);
  free(s->cut);
  free(s->owner);
  free(s->load);
  *s = (yoke_schedule){0};
}

yoke_status yoke_schedule_expect(yoke_context *ctx, int most_tasks, int most_owners, yoke_schedule *s) {
  const size_t n = (size_t)most_tasks + 1;
  yoke_schedule_clear(s);
  s->order       = yoke_allocate(n, sizeof *s->order);
  s->begin       = yoke_allocate(n, sizeof *s->begin);
  s->first       = yoke_allocate((size_t)most_owners + 1, sizeof *s->first);
  s->costs       = yoke_allocate(n, sizeof *s->costs);
  s->sorted      = yoke_allocate(n, sizeof *s->sorted);
  s->cut         = yoke_allocate(n, sizeof *s->cut);
  s->owner       = yoke_allocate(n, sizeof *s->owner);
  s->load        = yoke_allocate((size_t)most_owners, sizeof *s->load);
  s->most_tasks  = most_tasks;
  s->most_owners = most_owners;
  if (s->order && s->begin && s->first && s->costs && s->sorted && s->cut && s->owner && s->load) return YOKE_OK;
  yoke_schedule_clear(s);
  return yoke_out_of_memory(ctx, "%d tasks", most_tasks);
}

/* Longest first, equal ones in the order of their numbers. */
static void sort_tasks(yoke_schedule *s) {
  int at[YOKE_N_COSTS] = {0};
  for (int i = 0; i < s->n; ++i) ++at[s->costs[i]];
  for (int c = YOKE_N_COSTS - 1, sum = 0; c >= 0; --c) {
    const int count = at[c];
    at[c]           = sum;
    sum += count;
  }
  for (int i = 0; i < s->n; ++i) s->sorted[at[s->costs[i]]++] = i;
}

/* Tasks that follow each other are one batch until it is worth being taken. */
static void cut_batches(yoke_schedule *s, const double *seconds) {
  double total = 0.0;
  for (int i = 0; i < s->n; ++i) total += seconds[s->costs[i]];
  const double grain = fmax(least_batch, total / ((double)s->n_owners * YOKE_MOST_BATCHES));
  s->n_batches       = 0;
  for (int i = 0; i < s->n;) {
    double length          = 0.0;
    s->cut[s->n_batches++] = i;
    do length += seconds[s->costs[s->sorted[i++]]];
    while (i < s->n && length < grain);
  }
  s->cut[s->n_batches] = s->n;
}

/* Each batch to the owner with the least work. */
static void deal_out(yoke_schedule *s, const double *seconds) {
  for (int w = 0; w < s->n_owners; ++w) s->load[w] = 0.0;
  memset(s->first, 0, ((size_t)s->n_owners + 1) * sizeof *s->first);
  for (int b = 0; b < s->n_batches; ++b) {
    int least = 0;
    for (int w = 1; w < s->n_owners; ++w) {
      if (s->load[w] < s->load[least]) least = w;
    }
    for (int i = s->cut[b]; i < s->cut[b + 1]; ++i) s->load[least] += seconds[s->costs[s->sorted[i]]];
    s->owner[b] = least;
    ++s->first[least + 1];
  }
  for (int w = 0; w < s->n_owners; ++w) s->first[w + 1] += s->first[w];
}

/* Batches of an owner follow each other. */
static void lay_out(yoke_schedule *s) {
  int n = 0, k = 0;
  for (int w = 0; w < s->n_owners; ++w) {
    for (int b = 0; b < s->n_batches; ++b) {
      if (s->owner[b] != w) continue;
      s->begin[k++] = n;
      for (int i = s->cut[b]; i < s->cut[b + 1]; ++i) s->order[n++] = s->sorted[i];
    }
  }
  s->begin[k] = n;
}

void yoke_schedule_make(yoke_schedule *s, int n, const yoke_cost *costs, int n_owners,
                        const double seconds[YOKE_N_COSTS]) {
  if (s->is_made && s->n == n && s->n_owners == n_owners && memcmp(s->costs, costs, (size_t)n) == 0) return;
  memcpy(s->costs, costs, (size_t)n);
  s->n        = n;
  s->n_owners = n_owners;
  sort_tasks(s);
  cut_batches(s, seconds);
  deal_out(s, seconds);
  lay_out(s);
  s->is_made = true;
}
