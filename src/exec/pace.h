/* Pace: do more threads pay on this machine at this time? Judged by the clock: what a stretch of the run took against what its tasks cost.
 *
 * Together is the rule as long as it is clearly faster than one thread can be. If not, the caller goes on alone for a stretch, and the
 * faster of the two wins; after a defeat the next trial comes 4 stretches later, then 8, 16 ... A machine that is busy with
 * other programs therefore costs a few milliseconds, whatever its threads do. */
#ifndef YOKE_EXEC_PACE_H
#define YOKE_EXEC_PACE_H

#include <stdbool.h>

typedef struct yoke_pace {
  bool   is_alone;        /* how the present stretch is run */
  double work, wall;      /* of the present stretch [s] */
  double stretch;         /* work of the present one [s]; 0: the first, which is short */
  double together;        /* wall / work of the last stretch together; 0: none yet */
  int    n_left;          /* stretches until the other way is tried; alone 0: the present one is the comparison */
  int    n_rest, n_trust; /* stretches behind the last defeat and the last victory; 0: it was the other */
  int    n_defeats;       /* of all trials */
} yoke_pace;

/* A list whose tasks cost `work` was run as is_alone says and took `wall` [s]. */
void yoke_pace_note(yoke_pace *pace, double work, double wall);

#endif
