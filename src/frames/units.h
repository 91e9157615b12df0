/* Units: the factor to SI and the dimension of a unit written in a model file. */
#ifndef YOKE_FRAMES_UNITS_H
#define YOKE_FRAMES_UNITS_H

#include <stdbool.h>
#include <stddef.h>

/* The unit at the start of `text`: names joined by * and /, each with an optional integer exponent, no blanks:
 *   mm   N/mm   kg*m^2   m/s^2   1/s
 * A part after * or / that is not a unit ends the unit in front of that operator, so "mm*width" is the unit mm.
 * Returns the number of characters read (0: no unit), the factor to SI and the exponents of (m, kg, s, rad). */
size_t yoke_unit_parse(const char *text, double *factor, int dimension[4]);

/* Nearest unit name for a message, or NULL. */
const char *yoke_unit_nearest(const char *name);

/* "kg m^2 s^-2", or "1" for a pure number. */
void yoke_unit_text(const int dimension[4], char *text, size_t size);

#endif
