/* Where the time of a pass went: told to the ledger, and kept as costs by which the next passes are dealt out. */
#include "coupling/graph_internal.h"

void yoke_graph_keep_ledger(yoke_graph *g, yoke_ledger *ledger) {
  g->ledger = ledger;
}

static int cost_kind(const yoke_graph *g, const graph_task *task) {
  if (task->column != -1) return GRAPH_COST_BESIDE;
  const bool responds = g->subsystems[task->subsystem].jacobian == YOKE_JACOBIAN_TANGENT;
  return responds && (g->aims & GRAPH_COLUMNS) ? GRAPH_COST_RESPONSE : GRAPH_COST_MAIN;
}

/* Of a task that was never timed that of the main integration is a guess. */
static yoke_cost cost_of(const yoke_graph *g, const graph_task *task) {
  const yoke_cost *cost = g->subsystems[task->subsystem].cost;
  const int        kind = cost_kind(g, task);
  return cost[kind] > 0 ? cost[kind] : cost[GRAPH_COST_MAIN];
}

const yoke_cost *graph_costs(yoke_graph *g) {
  if (yoke_exec_n_workers(g->exec) == 1) return NULL;
  for (int j = 0; j < g->n_jobs; ++j) {
    const graph_job *job    = &g->jobs[j];
    const bool       is_own = graph_owns(g, g->tasks[job->first].subsystem);
    g->costs[j]             = is_own ? cost_of(g, &g->tasks[job->first]) : 0;
    if (!is_own) continue;
    if (g->costs[j] == 0) return NULL;
    if (job->n > 1) g->costs[j] = yoke_cost_of(job->n * yoke_cost_seconds(g->costs[j]));
  }
  return g->costs;
}

void graph_account(yoke_graph *g, double begin) {
  double done = begin; /* tasks of this process */
  yoke_ledger_begin_list(g->ledger, begin);
  for (int j = 0; j < g->n_jobs; ++j) {
    if (!graph_owns(g, g->tasks[g->jobs[j].first].subsystem)) continue;
    for (int k = g->jobs[j].first; k < g->jobs[j].first + g->jobs[j].n; ++k) {
      const graph_task      *task  = &g->tasks[k];
      const yoke_task_times *times = &g->times[k];
      yoke_cost             *cost  = &g->subsystems[task->subsystem].cost[cost_kind(g, task)];
      *cost                        = yoke_cost_follow(*cost, times->end - times->begin);
      yoke_ledger_task(g->ledger, task->subsystem, task->column, j, times);
      if (times->end > done) done = times->end;
    }
  }
  if (g->relay != NULL) yoke_ledger_ranks(g->ledger, done);
  yoke_ledger_end_list(g->ledger);
}
