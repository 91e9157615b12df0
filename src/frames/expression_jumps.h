/* Jumps and kinks of an expression that can be held: on one side, which makes it smooth, or between both.
 *
 * They are operators (sign, step, < <= > >=, abs, min, max) of more than the time, at whose switching function s = 0 the value of the whole
 * expression jumps or has a kink; where it is smooth, as v*abs(v) is, nothing is held. floor, ceil, mod, == and conditions that are numbers are not
 * held either. */
#ifndef YOKE_FRAMES_EXPRESSION_JUMPS_H
#define YOKE_FRAMES_EXPRESSION_JUMPS_H

#include "frames/expression.h"

typedef struct yoke_jump {
  yoke_expression *s; /* switching function, of the same variables */
  double           low,
      high;     /* what the operator gives for s < 0 and s > 0; abs is x sign(x), min and max choose by a comparison */
  bool is_kink; /* the expression does not jump */
} yoke_jump;

/* The most jumps that an expression can have. */
int yoke_expression_most_jumps(const yoke_expression *expression);

/* Jumps of variable number `time` alone do not count. *out := the same expression, in which jump k takes the value of variable first + k where that is not NaN, with n jumps. YOKE_E_MEMORY. Gives *out,
 * NULL with *n = 0 when nothing jumps, and every s. */
yoke_status yoke_expression_hold(const yoke_expression *expression, int time, int first, yoke_jump *jumps, int *n,
                                 yoke_expression **out);

/* The same jumps alone: [*n] of them, NULL when there are none. YOKE_E_MEMORY. Gives. */
yoke_status yoke_jumps_find(const yoke_expression *expression, int time, int first, yoke_jump **jumps, int *n);
void        yoke_jumps_destroy(yoke_jump **jumps, int n);

#endif
