/* What callers of the library hand in: mistakes of theirs become YOKE_E_USAGE with a message. */
#ifndef YOKE_BASE_GIVEN_H
#define YOKE_BASE_GIVEN_H

#include <yoke/context.h>

/* Is it there? `name` says what is missing: "path of a model file". */
yoke_status yoke_given(yoke_context *ctx, const void *given, const char *name);

/* A list of n >= 0 texts, each of them there; `what` says what each is: "the name of a quantity". */
yoke_status yoke_given_texts(yoke_context *ctx, int n, const char *const *texts, const char *what);

#endif
