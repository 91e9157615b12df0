/* Threads inside of subsystems: where there are fewer subsystems than threads, the others help inside of the large ones. */
#include "base/hooks.h"
#include "exec/team.h"
#include "master/system_internal.h"
#include <string.h>

static const double least_share = 0.01; /* of the sweeps, for helpers to be spoken of */

/* Threads that each subsystem of this process may have; 1: they all work on tasks, or others decide who works. */
static int threads_each(const yoke_system *s, const yoke_system_options *options, yoke_context *ctx) {
  const char *exec   = options->exec;
  int         n_here = 0;
  if (exec == NULL && yoke_context_executor(ctx) != NULL) return 1;
  if (exec != NULL && strcmp(exec, "threads") != 0 && strcmp(exec, "eager") != 0) return 1;
  for (int i = 0; i < s->plan->n_parts; ++i) {
    n_here += s->relay == NULL || s->owner[i] == yoke_comm_rank(options->comm);
  }
  const int n = options->threads > 0 ? options->threads : yoke_team_n_processors();
  return n_here > 0 ? n / n_here : 1;
}

yoke_status system_helpers_create(yoke_system *s, const yoke_system_options *options, yoke_context *ctx) {
  const int  n        = options->profile ? 2 : threads_each(s, options, ctx); /* profile: measured as with one thread */
  const bool is_eager = options->exec != NULL && strcmp(options->exec, "eager") == 0;
  if (n < 2) return YOKE_OK;
  s->helpers = yoke_arena_take(&s->arena, (size_t)s->plan->n_parts, sizeof *s->helpers);
  YOKE_TRY(yoke_arena_check(&s->arena, ctx, "threads inside of subsystems"));
  for (int i = 0; i < s->plan->n_parts; ++i) {
    const yoke_subsystem *bare = yoke_subsystem_bare(s->subsystems[i]);
    if (bare->ops->help == NULL || !bare->ops->help(bare, NULL)) continue;
    YOKE_TRY(options->profile ? yoke_lockstep_create_rehearsal(ctx, &s->helpers[i])
                              : yoke_lockstep_create(ctx, n, is_eager, &s->helpers[i]));
    bare->ops->help(bare, s->helpers[i]);
  }
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
