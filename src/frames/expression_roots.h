/* Roots of programs of the time alone whose shape is not known: where a difference changes its sign, or a quotient its whole part. They are
 * sought among samples of the run and located to the last digit; two of them between the same two samples are not seen. */
#ifndef YOKE_FRAMES_EXPRESSION_ROOTS_H
#define YOKE_FRAMES_EXPRESSION_ROOTS_H

#include "frames/expression_program.h"
#include "frames/switches.h"

enum { YOKE_ROOT_SAMPLES = 1024 };

/* A part of a program that leaves one value; n = 0: there is none. */
typedef struct yoke_operand {
  const yoke_instruction *program;
  int                     n;
} yoke_operand;

/* Switches of x - y (y none: x), or, where `is_whole`, of floor(x / y) (floor(x)), over the run of the list; `variable` is the time, less than
 * YOKE_ROOT_VARIABLES. More than there are samples count as none: error control follows such a function better. False: out of memory. */
enum { YOKE_ROOT_VARIABLES = 3 };
bool yoke_switches_add_roots(yoke_switches *switches, yoke_operand x, yoke_operand y, bool is_whole, int variable);

#endif
