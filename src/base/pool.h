/* Pool: memory of many small objects that end together.
 *
 * What the parts of a large system consist of is read in every macro step. From malloc it would lie in thousands of pages, among all that is read
 * once; out of a pool the blocks of their arenas follow each other in few huge pages.
 *
 * While a pool is open, arenas that are made with its context (yoke_arena_of) take their blocks from it, but for those of megabytes, which have
 * huge pages of their own. What was taken is given back when the pool is destroyed, behind all objects that took it. Once the pool is closed
 * such arenas may grow on any thread: new blocks come from malloc.
 *
 * What equal parts have in common, and nobody changes, is there once (yoke_arena_share). */
#ifndef YOKE_BASE_POOL_H
#define YOKE_BASE_POOL_H

#include "base/memory.h"

typedef struct yoke_pool yoke_pool;

/* Closed at first. *out stays NULL where the program has memory of its own (yoke_memory), which decides what lies where. */
yoke_status yoke_pool_create(yoke_context *ctx, yoke_pool **out);
/* NULL: nothing. */
void        yoke_pool_open(yoke_pool *pool, yoke_context *ctx);
void        yoke_pool_close(yoke_pool *pool, yoke_context *ctx);
void        yoke_pool_destroy(yoke_pool **pool); /* closed */

#endif
