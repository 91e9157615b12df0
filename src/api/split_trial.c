#include "api/split_trial.h"

#include "base/clock.h"
#include <math.h>

static const double moment =
    0.4; /* processor seconds; the first half is the start-up of step control, which tells little */

/* How far a run has come: clock of the thread [s], simulated time [s]. */
typedef struct trial_mark {
  double clock, t;
} trial_mark;

typedef struct trial_watch {
  trial_mark                   begin, half, now; /* half: clock 0 before it is reached */
  const volatile sig_atomic_t *interrupted;
} trial_watch;

static bool goes_on(void *user, double t, double t_start, double t_end) {
  trial_watch *watch = user;
  watch->now         = (trial_mark){yoke_clock_thread(), t};
  if (watch->begin.clock <= 0.0) watch->begin = (trial_mark){watch->now.clock, t_start};
  const double used = watch->now.clock - watch->begin.clock;
  if (watch->half.clock <= 0.0 && used > 0.5 * moment) watch->half = watch->now;
  (void)t_end;
  return used < moment && (watch->interrupted == NULL || *watch->interrupted == 0);
}

/* Share of the time of one thread that so many need, by the greatest power of two that is not more. */
static double projected_share(const yoke_run_summary *s, int threads) {
  int k = 0;
  while (k + 1 < YOKE_N_PROJECTED_THREADS && s->projection[k + 1].threads <= threads) ++k;
  return s->projection[k].time / s->projection[0].time;
}

static double seconds_per_second(const trial_watch *watch) {
  const trial_mark from = watch->half.clock > 0.0 && watch->now.t > watch->half.t ? watch->half : watch->begin;
  return (watch->now.clock - from.clock) / (watch->now.t - from.t);
}

yoke_status yoke_split_try(const yoke_model *model, bool is_whole, int threads,
                           const volatile sig_atomic_t *interrupted, double *time) {
  trial_watch            watch   = {.interrupted = interrupted};
  yoke_run_summary       summary = {0};
  const yoke_run_options options = {.size       = sizeof options,
                                    .loaded     = model,
                                    .monolithic = is_whole,
                                    .no_predict = true,
                                    .exec       = "serial",
                                    .out        = "",
                                    .csv        = "",
                                    .threads    = 1,
                                    .progress   = goes_on,
                                    .user       = &watch,
                                    .profile    = true};
  yoke_context          *quiet   = NULL; /* what a trial says is of no use */
  YOKE_TRY(yoke_context_create(&quiet));
  yoke_status status = yoke_run_and_keep(quiet, &options, &summary, NULL);
  yoke_context_destroy(&quiet);
  if (status == YOKE_E_INTERRUPTED && (interrupted == NULL || *interrupted == 0)) status = YOKE_OK;
  *time        = seconds_per_second(&watch) * projected_share(&summary, threads);
  summary.size = sizeof summary;
  yoke_run_summary_release(&summary);
  if (status == YOKE_OK && !(isfinite(*time) && *time > 0.0)) status = YOKE_NOT_CONVERGED; /* not two steps */
  return status;
}
