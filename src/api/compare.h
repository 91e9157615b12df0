/* Compare: how far two results are apart. The public part is yoke_result_compare of yoke/result.h. */
#ifndef YOKE_API_COMPARE_H
#define YOKE_API_COMPARE_H

#include <yoke/result.h>

/* Value at `t` of the curve (times [n] not decreasing, values [n]) by the cubic through the four nearest points, fewer near
 * a jump (two equal times) or an end; a point of the curve is met exactly. At a jump the value before it (`after` false)
 * or behind it is taken. Outside the curve its first or last value. n >= 1. */
double yoke_curve_value(const double *times, const double *values, size_t n, double t, bool after);

#endif
