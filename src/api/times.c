#include "api/times.h"

#include "base/comm.h"
#include "base/memory.h"
#include "base/text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)YOKE_N_PROJECTED_THREADS == (int)YOKE_N_PROJECTED, "rows of a projection");

yoke_times yoke_times_of(const yoke_system *system, double wall) {
  const yoke_ledger      *l      = yoke_system_ledger(system);
  const yoke_lockstep_use inside = yoke_system_inside(system);
  yoke_times              t      = {.threads = yoke_system_exec_use(system).most + inside.most - 1};
  const double            timed  = l->steps + l->output;
  yoke_time_shares       *s      = &t.shares;
  t.wall                         = wall > 0.0 ? wall : timed;
  t.factor                       = timed > 0.0 ? t.wall / timed : 0.0;
  s->solver                      = t.factor * l->own.solver + inside.helped;
  s->save                        = t.factor * l->own.save;
  s->exchange                    = t.factor * l->own.exchange;
  s->output                      = t.factor * l->output;
  double rest = t.threads * t.wall - s->solver - s->save - s->exchange - s->output; /* master and idle */
  if (rest < 0.0) { /* few lists were shared, but long ones */
    const int n_workers = yoke_system_n_workers(system);
    rest += (n_workers - yoke_system_exec_use(system).most) * t.wall;
    t.threads = n_workers + inside.most - 1;
  }
  s->master = t.threads > 1 ? fmin(rest, t.wall - t.factor * (l->lists + l->output)) : rest;
  s->idle   = rest - s->master;
  return t;
}

yoke_part_times yoke_times_of_part(const yoke_system *system, const yoke_times *t, int part) {
  yoke_part_times p = yoke_system_ledger(system)->parts[part];
  p.solver *= t->factor;
  p.save *= t->factor;
  p.exchange *= t->factor;
  p.idle *= t->factor;
  return p;
}

void yoke_times_share(yoke_system *system, double wall) {
  yoke_system_share_times(system, yoke_times_of(system, wall).factor);
}

/* The same of a model that is one subsystem. */
static void give_inner_reason(const yoke_system *system, char *text, size_t room) {
  const yoke_lockstep_use inside = yoke_system_inside(system);
  if (inside.most > 1) {
    snprintf(text, room, "inside of the one subsystem, in %.3g %% of its sweeps%s",
             100.0 * (double)inside.n_shared / (double)inside.n_runs,
             inside.n_defeats > 0 ? "; one alone was faster at times" : "");
  } else if (inside.n_runs > 0) {
    snprintf(text, room, "the model is one subsystem, whose sweeps are %s",
             inside.n_defeats > 0 ? "faster with one" : "too short for more");
  } else {
    snprintf(text, room, "the model is one subsystem");
  }
}

/* Why so many threads worked. */
static void give_reason(const yoke_system *system, const yoke_comm *comm, yoke_run_summary *s) {
  const yoke_exec_use use       = yoke_system_exec_use(system);
  const int           n_workers = yoke_system_n_workers(system);
  char               *text      = s->threads_reason;
  const size_t        room      = sizeof s->threads_reason;
  const double        n_lists   = use.n_lists > 0 ? (double)use.n_lists : 1.0;
  if (!s->is_split) {
    give_inner_reason(system, text, room);
  } else if (n_workers == 1 && yoke_system_inside(system).most > 1) {
    snprintf(text, room, "one subsystem has nearly all of the work");
  } else if (n_workers == 1) {
    snprintf(text, room, "no more were asked for or could be had");
  } else if (use.n_shared == 0) {
    snprintf(text, room, "%.3g tasks of %.2g us at a time are too short for more", (double)use.n_tasks / n_lists,
             use.n_known > 0 ? 1e6 * use.work / (double)use.n_known : 0.0);
  } else {
    snprintf(text, room, "in %.3g %% of the lists of tasks%s", 100.0 * (double)use.n_shared / n_lists,
             use.n_defeats > 0 ? "; one alone was faster at times" : "");
  }
  const int n_inside = yoke_system_inside(system).most - 1;
  size_t    end      = strlen(text);
  if (s->is_split && n_inside > 0) {
    snprintf(text + end, room - end, "; %d inside of subsystems", n_inside);
    end = strlen(text);
  }
  if (s->is_split && comm != NULL)
    snprintf(text + end, room - end, "; rank %d of %d", yoke_comm_rank(comm), yoke_comm_size(comm));
}

static yoke_status take_parts(yoke_context *ctx, const yoke_run_system *run, const yoke_times *times,
                              yoke_run_summary *s) {
  s->subsystem_times = yoke_allocate((size_t)s->n_subsystems + 1, sizeof *s->subsystem_times);
  if (s->subsystem_times == NULL) return yoke_out_of_memory(ctx, "the times of the subsystems");
  for (int i = 0; i < s->n_subsystems; ++i) {
    const yoke_part_times part = yoke_times_of_part(run->system, times, i);
    s->subsystem_times[i]      = (yoke_subsystem_times){.name     = yoke_text_copy(run->plan->parts[i].name),
                                                        .solver   = part.solver,
                                                        .save     = part.save,
                                                        .exchange = part.exchange,
                                                        .idle     = part.idle};
    if (s->subsystem_times[i].name == NULL) return yoke_out_of_memory(ctx, "the times of the subsystems");
  }
  return YOKE_OK;
}

/* Inside of subsystems one more thread helps, where it was rehearsed. */
static void take_projection(const yoke_system *system, yoke_run_summary *s) {
  const yoke_ledger *l     = yoke_system_ledger(system);
  const double       saved = s->is_split ? 0.0 : yoke_system_inside(system).saved;
  if (l->projection == NULL) return;
  s->has_projection = true;
  for (int k = 0; k < YOKE_N_PROJECTED; ++k)
    s->projection[k] = (yoke_projected_time){1 << k, yoke_projection_time(l->projection, k) - (k > 0 ? saved : 0.0)};
  s->critical_path = yoke_projection_path(l->projection) - saved;
  s->n_spans       = (int64_t)l->timeline->n;
  s->n_lost        = l->timeline->n_lost;
}

yoke_status yoke_times_take(yoke_context *ctx, const yoke_run_system *run, double loop, double closing,
                            yoke_run_summary *s) {
  const yoke_times t = yoke_times_of(run->system, loop);
  s->threads         = t.threads;
  s->times           = t.shares;
  s->times.output += closing;
  s->times.master += s->wall_time - loop - closing;
  s->times.idle += (t.threads - 1) * (s->wall_time - loop); /* nobody helps before and behind */
  give_reason(run->system, yoke_context_comm(ctx), s);
  take_projection(run->system, s);
  return s->is_split ? take_parts(ctx, run, &t, s) : YOKE_OK;
}

void yoke_times_release(yoke_run_summary *s) {
  for (int i = 0; s->subsystem_times != NULL && i < s->n_subsystems; ++i) free(s->subsystem_times[i].name);
  free(s->subsystem_times);
  s->subsystem_times = NULL;
}
