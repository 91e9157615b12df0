/* Expressions and laws as bytes (base/ferry.h). */
#ifndef YOKE_FRAMES_FRAMES_FERRY_H
#define YOKE_FRAMES_FRAMES_FERRY_H

#include "base/ferry.h"
#include "frames/law.h"

/* Writes or reads one, NULL: none. What is read and reads a variable beyond `most` is refused. */
void yoke_expression_ferry(yoke_ferry *c, yoke_expression **expression, int most);

/* The same; `most` is the largest number of a variable of its expression. */
void yoke_law_ferry(yoke_ferry *c, yoke_law *law, int most);

#endif
