/* Which rank a part lives on. */
#include "master/plan.h"

void yoke_plan_place(const yoke_plan *plan, int n_ranks, int *owner) {
  double all = 0.0, before = 0.0;
  for (int i = 0; i < plan->n_parts; ++i) all += plan->parts[i].cost;
  /* By the middle of a part in the row of all: no rank is left out while others have two, where parts are alike. */
  for (int i = 0; i < plan->n_parts; before += plan->parts[i++].cost) {
    const int rank = (int)((before + 0.5 * plan->parts[i].cost) / all * n_ranks);
    owner[i]       = rank < n_ranks ? rank : n_ranks - 1;
  }
}
