/* Threads inside of subsystems: where there are fewer subsystems than threads, or one is far larger than the others, threads help inside of the
 * large ones. */
#include "base/hooks.h"
#include "exec/team.h"
#include "master/system_internal.h"

#include <math.h>
#include <string.h>

static const double least_share = 0.01; /* of the sweeps, for helpers to be spoken of */
static const double spare_work  = 0.1;  /* of a thread's, that other parts may have where one of them has all threads */

/* Threads of this process that work inside of subsystems; 1: they all work on tasks, or others decide who works. */
static int threads_here(const yoke_system_options *options, yoke_context *ctx) {
  const char *exec = options->exec;
  if (exec == NULL && yoke_context_executor(ctx) != NULL) return 1;
  if (exec != NULL && strcmp(exec, "threads") != 0 && strcmp(exec, "eager") != 0) return 1;
  return options->threads > 0 ? options->threads : yoke_team_n_processors();
}

static bool is_here(const yoke_system *s, int part, const yoke_system_options *options) {
  return s->relay == NULL || s->owner[part] == yoke_comm_rank(options->comm);
}

static double work_here(const yoke_system *s, const yoke_system_options *options) {
  double sum = 0.0;
  for (int i = 0; i < s->plan->n_parts; ++i) sum += is_here(s, i, options) ? s->plan->parts[i].cost : 0.0;
  return sum;
}

yoke_status system_helpers_create(yoke_system *s, const yoke_system_options *options, int *n_tasks, yoke_context *ctx) {
  const int    n        = options->profile ? 2 : threads_here(options, ctx); /* profile: measured as with one thread */
  const double work     = work_here(s, options);
  const bool   is_eager = options->exec != NULL && strcmp(options->exec, "eager") == 0;
  int          n_inside = 0;
  *n_tasks              = options->threads;
  if (n < 2) return YOKE_OK;
  s->helpers = yoke_arena_take(&s->arena, (size_t)s->plan->n_parts, sizeof *s->helpers);
  YOKE_TRY(yoke_arena_check(&s->arena, ctx, "threads inside of subsystems"));
  for (int i = 0; i < s->plan->n_parts; ++i) {
    const yoke_subsystem *bare = yoke_subsystem_bare(s->subsystems[i]);
    const double          part = n * s->plan->parts[i].cost / work + spare_work;
    const int             own  = options->profile ? n : is_here(s, i, options) ? (int)part : 0;
    if (own < 2) continue;
    if (bare->ops->help == NULL || !bare->ops->help(bare, NULL)) continue;
    YOKE_TRY(options->profile ? yoke_lockstep_create_rehearsal(ctx, &s->helpers[i])
                              : yoke_lockstep_create(ctx, own, is_eager, &s->helpers[i]));
    bare->ops->help(bare, s->helpers[i]);
    n_inside += own - 1;
  }
  if (n_inside > 0 && !options->profile) *n_tasks = n_inside < n ? n - n_inside : 1;
  return YOKE_OK;
}

void system_helpers_clear(yoke_system *s) {
  for (int i = 0; s->helpers != NULL && i < s->plan->n_parts; ++i) yoke_lockstep_destroy(&s->helpers[i]);
}

yoke_lockstep_use yoke_system_inside(const yoke_system *s) {
  yoke_lockstep_use sum = {.most = 1};
  for (int i = 0; s->helpers != NULL && i < s->plan->n_parts; ++i) {
    if (s->helpers[i] == NULL) continue;
    const yoke_lockstep_use use = yoke_lockstep_used(s->helpers[i]);
    sum.saved += use.saved;
    sum.n_runs += use.n_runs;
    sum.n_defeats += use.n_defeats;
    if ((double)use.n_shared < least_share * (double)use.n_runs) continue;
    sum.n_shared += use.n_shared;
    sum.most += use.most - 1;
    sum.helped += use.helped;
  }
  return sum;
}
