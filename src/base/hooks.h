/* Hooks: what a context was given by the program, for the modules that call it. */
#ifndef YOKE_BASE_HOOKS_H
#define YOKE_BASE_HOOKS_H

#include <yoke/context.h>

enum { YOKE_MOST_WORKERS = 4096 };

/* NULL: none. ctx may be NULL. */
const yoke_executor *yoke_context_executor(const yoke_context *ctx);
const yoke_memory   *yoke_context_memory(const yoke_context *ctx);

/* Where objects that are created now take their blocks (pool.h). NULL: none. ctx may be NULL. */
struct yoke_arena_source;
const struct yoke_arena_source *yoke_context_pool(const yoke_context *ctx);
void                            yoke_context_set_pool(yoke_context *ctx, const struct yoke_arena_source *pool);

/* Attachment: what a module above keeps with a context and what is not known here. One per context. */
typedef struct yoke_attachment {
  void *data; /* NULL: none */
  void (*destroy)(void *data);
} yoke_attachment;

/* NULL: none. ctx may be NULL. */
void *yoke_context_attached(const yoke_context *ctx);
/* Takes the data. There must be none yet. */
void  yoke_context_attach(yoke_context *ctx, const yoke_attachment *attachment);

#endif
