/* Lockstep: threads that help inside of one task, where there are fewer tasks than threads. The task is cut into parts of equal size that do
 * not wait for each other; all meet when the parts are done.
 *
 * Invariants:
 *   1. How many parts there are, and who runs them, never changes what comes out: callers see to it.
 *   2. One caller at a time: who comes while another is being helped works alone.
 *   3. As many threads help as pay, judged by the clock as for lists of tasks (pace.h); nobody waits for a thread that has not come (team.h).
 *   4. Nothing is allocated while parts run.
 *   5. Work whose parts need each other now and then comes in rounds: threads stay together from the first to the last and meet in between,
 *      which takes some tenths of a microsecond. In every round a part is run by its own thread, or by another that came first: who is
 *      late, or waits for a processor, joins in the round that he finds. */
#ifndef YOKE_EXEC_LOCKSTEP_H
#define YOKE_EXEC_LOCKSTEP_H

#include <yoke/context.h>
#include <stdbool.h>
#include <stdint.h>

enum {
  YOKE_LOCKSTEP_GRAIN =
      512 /* items that are never parted: the same ranges, and caches, in all that is done with an array */
};

typedef struct yoke_lockstep yoke_lockstep;

/* Part i of n. */
typedef void (*yoke_lockstep_part)(void *user, int i, int n);

/* n_threads >= 2, the caller counted. eager: all of them help whatever the work, to catch races. Gives. */
yoke_status yoke_lockstep_create(yoke_context *ctx, int n_threads, bool is_eager, yoke_lockstep **out);
/* Nobody helps: the caller does two parts after each other, and what a second thread would have saved is added up (use.saved). Waking it and waiting
 * for it is not known. */
yoke_status yoke_lockstep_create_rehearsal(yoke_context *ctx, yoke_lockstep **out);
void        yoke_lockstep_destroy(yoke_lockstep **lockstep);

/* All parts of work that takes `amount` in units of the caller's, at most `most` of them; a lockstep of NULL: one part, the caller's. */
void yoke_lockstep_run(yoke_lockstep *lockstep, int most, double amount, yoke_lockstep_part part, void *user);
/* The same of shorter work with the same data: not judged, as many parts as the last time at most. */
void yoke_lockstep_follow(yoke_lockstep *lockstep, int most, yoke_lockstep_part part, void *user);

/* Rounds of n_parts >= 2 parts, which never change with the threads. In each all parts run side by side, then `meet` once, by whoever was last: it sees
 * what they wrote, and all of them see what it wrote in the next round. False: there is none. */
enum { YOKE_LOCKSTEP_MOST_PARTS = 4 };
typedef void (*yoke_lockstep_round)(void *user, int part);
typedef bool (*yoke_lockstep_meet)(void *user);
/* amount of all rounds as above; 0: not judged, as many threads as the last time at most. */
void yoke_lockstep_rounds(yoke_lockstep *lockstep, int n_parts, double amount, yoke_lockstep_round part,
                          yoke_lockstep_meet meet, void *user);

/* Items [begin, end) of part i of n, whole grains. */
typedef struct yoke_range {
  int begin, end;
} yoke_range;

static inline yoke_range yoke_lockstep_range(int n_items, int i, int n) {
  const int64_t n_grains = ((int64_t)n_items - 1) / YOKE_LOCKSTEP_GRAIN + 1;
  const int64_t begin = n_grains * i / n * YOKE_LOCKSTEP_GRAIN, end = n_grains * (i + 1) / n * YOKE_LOCKSTEP_GRAIN;
  return (yoke_range){(int)begin, end < n_items ? (int)end : n_items};
}

/* Who helped so far. */
typedef struct yoke_lockstep_use {
  int64_t n_runs, n_shared; /* judged ones, and those with more than one part */
  int     most;             /* parts of one */
  double  helped;           /* by others than the caller [s] */
  double  saved;            /* what a second thread would have saved [s], in a rehearsal */
  int     n_defeats;        /* how often the caller alone was faster: the machine was busy */
} yoke_lockstep_use;
yoke_lockstep_use yoke_lockstep_used(const yoke_lockstep *lockstep);

#endif
