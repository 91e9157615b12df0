/* Checks for numbers, on top of cmocka. Include after <cmocka.h>. */
#ifndef YOKE_TESTS_CHECK_H
#define YOKE_TESTS_CHECK_H

#include <math.h>

/* |a - b| <= tolerance (absolute); the message shows all three. */
#define CHECK_NEAR(a, b, tolerance)                                                                                    \
  do {                                                                                                                 \
    const double check_a = (a), check_b = (b), check_tolerance = (tolerance);                                          \
    if (!(fabs(check_a - check_b) <= check_tolerance)) {                                                               \
      fail_msg("%s = %.17g, expected %.17g, off by %.3g, allowed %.3g", #a, check_a, check_b, check_a - check_b,       \
               check_tolerance);                                                                                       \
    }                                                                                                                  \
  } while (0)

/* a <= bound, not NaN. */
#define CHECK_BELOW(a, bound)                                                                                          \
  do {                                                                                                                 \
    const double check_a = (a), check_bound = (bound);                                                                 \
    if (!(check_a <= check_bound)) fail_msg("%s = %.6g, allowed %.6g", #a, check_a, check_bound);                      \
  } while (0)

/* Errors err[0], err[1], ... belong to steps that halve: log2 of the last ratio is the order, within `slack`. */
#define CHECK_ORDER(err, n, order, slack) CHECK_NEAR(log2((err)[(n)-2] / (err)[(n)-1]), (order), (slack))

#endif
