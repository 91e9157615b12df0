/* Switches: times at which loads, motions and laws of a model jump, kink, or begin and end to act.
 *
 * Integrators stop there, and so does the macro grid of a split model: no polynomial then has to follow what a load does on the
 * other side of the switch. Declared by
 *   - the step functions of expressions (step, sign, abs, min, max, floor, ceil, mod, comparisons) whose argument depends on the
 *     time alone and is linear, made of straight lines by such functions, a mod of a linear function, or a sine plus a constant, or any
 *     other function of time, whose zeros between t_from and t_to are sought among samples (expression_roots.h);
 *   - impulses, which are smooth but short: where they leave and reach their final values to 1.5e-8 (9 rise times from the middle
 *     of an edge). The tanh of an expression counts as such an edge.
 * Smooth edges are forgotten when there are more than YOKE_SMOOTH_SWITCHES of them: error control follows a load that is
 * switched everywhere better than break points do. */
#ifndef YOKE_FRAMES_SWITCHES_H
#define YOKE_FRAMES_SWITCHES_H

#include "frames/expression.h"

enum {
  YOKE_SMOOTH_SWITCHES = 256,
  YOKE_EDGE_OF_TANH    = 9 /* (1 + tanh x) / 2 differs from 0 and 1 by less than 1.6e-8 beyond this */
};

typedef struct yoke_switch {
  double first;  /* [s] */
  double period; /* 0: once; else it comes again at first + k period, k any whole number */
  bool   is_smooth;
} yoke_switch;

typedef struct yoke_switches {
  int          n_once, n_periodic; /* both constant after creation */
  size_t       capacity[2];
  double       t_from, t_to; /* while building: the run, for functions whose zeros are sought; both 0: they are not */
  yoke_switch *once;         /* [n_once], increasing, no time twice */
  yoke_switch *periodic;     /* [n_periodic] */
} yoke_switches;

void yoke_switches_clear(yoke_switches *switches);

/* The first strictly after t, or +infinity. */
double yoke_switches_next(const yoke_switches *switches, double t);

/* Does something jump or kink at t, or is a switch there only the edge of something smooth (or none)? */
bool yoke_switches_jump_at(const yoke_switches *switches, double t);

/* While building a list that was zero: one switch; false: out of memory. */
bool yoke_switches_add(yoke_switches *switches, double first, double period, bool is_smooth);
/* Those of an expression of which variable `variable` is the time. */
bool yoke_switches_add_expression(yoke_switches *switches, const yoke_expression *expression, int variable);
/* Zeros of an expression of time alone (as above). */
bool yoke_switches_add_zeros(yoke_switches *switches, const yoke_expression *expression, int variable);
/* The list is complete: increasing, no time twice (up to rounding), smooth ones only when they are few. */
void yoke_switches_arrange(yoke_switches *switches);

#endif
