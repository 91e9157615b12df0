/* Hooks: what a context was given by the program, for the modules that call it. */
#ifndef YOKE_BASE_HOOKS_H
#define YOKE_BASE_HOOKS_H

#include <yoke/context.h>

enum { YOKE_MOST_WORKERS = 4096 };

/* NULL: none. ctx may be NULL. */
const yoke_executor *yoke_context_executor(const yoke_context *ctx);

#endif
