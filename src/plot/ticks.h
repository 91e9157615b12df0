/* Ticks: where an axis is marked and what stands there. */
#ifndef YOKE_PLOT_TICKS_H
#define YOKE_PLOT_TICKS_H

#include <stdbool.h>
#include <stddef.h>

enum { YOKE_TICKS_MAX = 80, YOKE_TICK_TEXT = 32 };

typedef struct yoke_ticks {
  int    n_major, n_minor;
  double major[YOKE_TICKS_MAX], minor[YOKE_TICKS_MAX];
  bool   is_log;
  int    decimals; /* of the labels of a linear axis; -1: logarithmic, as powers of ten, or no axis at all */
  int    power;    /* of ten, in every label of a linear axis: 0.5e-4, 1.0e-4; 0: none */
} yoke_ticks;

/* Linear: steps of 1, 2 or 5 times a power of ten, about `n_wanted` intervals, minor marks between. from < to, finite. */
void yoke_ticks_linear(double from, double to, int n_wanted, yoke_ticks *out);
/* Logarithmic: powers of ten (every second, third ... when there are many), minor marks at 2 ... 9; over less than two
 * decades 2 and 5 count as major. 0 < from < to. */
void yoke_ticks_log(double from, double to, int n_wanted, yoke_ticks *out);

/* The label of a mark; `exponent` receives true when the text is the exponent of ten. */
void yoke_tick_label(const yoke_ticks *ticks, double value, char text[YOKE_TICK_TEXT], bool *exponent);

/* `value` as short as %g with `digits` writes it, with a decimal point in every locale. */
void yoke_short_number(double value, int digits, char *text, size_t size);

/* A range that holds [*from, *to] and ends at marks (linear) or a little outside (log). A range of no extent gets one. */
void yoke_ticks_round(bool is_log, double *from, double *to);

#endif
