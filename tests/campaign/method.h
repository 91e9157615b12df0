/* How a drawn model is run: a random method that its cuts can take, with a fixed step or under step control, as options of the
 * program. */
#ifndef YOKE_TESTS_CAMPAIGN_METHOD_H
#define YOKE_TESTS_CAMPAIGN_METHOD_H

#include "sketch.h"

#include <stdio.h>

typedef enum method_kind { METHOD_DEFAULT, METHOD_FIXED, METHOD_CONTROLLED, N_METHOD_KINDS } method_kind;

typedef struct method {
  method_kind kind;
  double      step; /* [s] at handy size; 0 under control */
  double      rtol; /* of step control; 0 with a fixed step */
  char        arguments[300];
} method;

/* What a run without any option controls its steps by. */
#define METHOD_DEFAULT_RTOL 1e-4

method method_draw(draw *d, const sketch *s, method_kind kind);

/* The same with the method of the caller instead of a drawn one; step and tolerance are drawn. */
method method_given(draw *d, const sketch *s, method_kind kind, const char *arguments);

/* The command of a run for a shell, without a line end. */
void method_write_command(FILE *out, const char *model, const char *arguments);

#endif
