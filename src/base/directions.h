/* Directions: ways in which the inputs of a subsystem may change over a step, for derivatives with respect to them.
 *
 * Direction d changes input number input[e] by du_e(t), for every entry e with direction[e] == d. Entries are sorted by direction. */
#ifndef YOKE_BASE_DIRECTIONS_H
#define YOKE_BASE_DIRECTIONS_H

#include <yoke/signal.h>
#include <stdbool.h>

typedef struct yoke_directions {
  int         n;                 /* directions */
  int         n_entries;         /* of all directions */
  const int  *direction, *input; /* [n_entries] */
  yoke_signal du;                /* [n_entries] */
  bool        moves_states;      /* states will follow, and not outputs alone */
  double      tolerance;         /* relative error that is good enough; 0: as small as a rule makes it */
  double      stiff_tolerance; /* the same where an implicit method is at work, whose rule pays dearly for small ones */
} yoke_directions;

#endif
