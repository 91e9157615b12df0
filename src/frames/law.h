/* Law: the force of an element over its deflection, its rate and the time. */
#ifndef YOKE_FRAMES_LAW_H
#define YOKE_FRAMES_LAW_H

#include "base/memory.h"
#include "frames/expression.h"

/* Force law F(x, v, t): x deflection [m or rad], v its rate. F > 0 resists a positive x.
 *   linear + power:  F = c x + d v + C sgn(x)|x|^ex + D sgn(v)|v|^ev
 *   table:           F = interpolated(x) + d v
 *   expression:      F(x, v, t, z); variables 0, 1, 2 are x, v, t, those behind them are z, further numbers that it reads. */
typedef struct yoke_table { /* monotone piecewise cubic (C1) through the points; linear beyond the ends */
  int     n;
  double *x, *y; /* [n], x increasing */
} yoke_table;

typedef struct yoke_law {
  double           stiffness, damping;             /* c, d */
  double           stiffness_power, damping_power; /* C, D */
  double           exponent_x, exponent_v;         /* ex, ev; default 3 */
  yoke_table       table;                          /* n = 0: none */
  yoke_expression *expression;                     /* NULL: none */
} yoke_law;

/* Room for the variables of an expression that reads n_z further numbers: x, v, t, z, then the derivatives by all of them. */
typedef struct yoke_law_room {
  int     n_z;
  double *values;   /* [3 + n_z] z are given, x, v and t are written */
  double *gradient; /* [3 + n_z] written; 0 where it reads nothing */
} yoke_law_room;

/* F(x, v, t), the sum of all parts that are given, with derivatives (each pointer may be NULL). A power law with an exponent
 * below 1 has no finite slope at 0: 0 is given. */
double yoke_law_force(const yoke_law *law, double x, double v, double t, double *dF_dx, double *dF_dv);
/* The same with the z of the room; NULL: it reads none. */
double yoke_law_force_in(const yoke_law *law, double x, double v, double t, const yoke_law_room *room, double *dF_dx,
                         double *dF_dv);

/* Integral of F from 0 to x of the parts that depend on x only: linear, power and table in closed form, an expression of x
 * alone numerically (adaptive, about 1e-12 relative); an expression that reads v or t adds 0. Each point where the force
 * jumps costs accuracy: 1e-9. */
double yoke_law_potential(const yoke_law *law, double x);
/* Is the expression, if there is one, among those parts? */
bool   yoke_law_is_elastic(const yoke_law *law);
/* Power v F of all other parts, and whether there are any: dampers, and an expression that reads more than x. */
double yoke_law_power_lost(const yoke_law *law, double x, double v, double t, const yoke_law_room *room);
bool   yoke_law_loses(const yoke_law *law);

/* The same law with an owner of its own: the table in `arena`, one more owner of the expression. Released by clear. Memory that is
 * missing shows in the arena. */
void yoke_law_copy(yoke_arena *arena, const yoke_law *law, yoke_law *out);
void yoke_law_clear(yoke_law *law);

/* Checksum of all its numbers and what its expression computes, continued from `sum` (base/pack.h). */
uint64_t yoke_law_checksum(uint64_t sum, const yoke_law *law);

/* Table value and slope (may be NULL). A table of one point is constant. */
double yoke_table_value(const yoke_table *table, double x, double *slope);
double yoke_table_integral(const yoke_table *table, double x); /* from 0 to x */

#endif
