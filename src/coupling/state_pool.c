#include "coupling/state_pool.h"

#include <stdlib.h>

typedef struct pool_block {
  void                 *state;
  const yoke_subsystem *owner; /* whose state it is; NULL: nobody's yet, all zero */
} pool_block;

struct yoke_state_pool {
  yoke_arena arena;
  int        n;
  pool_block blocks[]; /* [n] */
};

static void give_back(pool_block *block) {
  if (block->owner != NULL && block->owner->ops->release != NULL)
    block->owner->ops->release(block->owner, block->state);
  block->owner = NULL;
}

yoke_status yoke_state_pool_create(yoke_context *ctx, int n_workers, size_t size, size_t sure, yoke_state_pool **out) {
  yoke_state_pool *pool = *out = yoke_allocate(1, sizeof *pool + (size_t)n_workers * sizeof pool->blocks[0]);
  if (pool == NULL) return yoke_out_of_memory(ctx, "states of %zu bytes for %d workers", size, n_workers);
  pool->arena = yoke_arena_of(ctx);
  pool->n     = n_workers;
  for (int k = 0; k < n_workers; ++k) pool->blocks[k].state = yoke_arena_take_room(&pool->arena, size, sure);
  const yoke_status status = yoke_arena_check(&pool->arena, ctx, "states of %zu bytes for %d workers", size, n_workers);
  if (status != YOKE_OK) yoke_state_pool_destroy(out);
  return status;
}

void yoke_state_pool_destroy(yoke_state_pool **pool) {
  if (*pool == NULL) return;
  for (int k = 0; k < (*pool)->n; ++k) give_back(&(*pool)->blocks[k]);
  yoke_arena_free(&(*pool)->arena);
  free(*pool);
  *pool = NULL;
}

void *yoke_state_pool_take(yoke_state_pool *pool, int worker, const yoke_subsystem *subsystem) {
  pool_block *block = &pool->blocks[worker];
  if (block->owner != subsystem) {
    const bool is_used = block->owner != NULL;
    give_back(block);
    if (is_used) yoke_subsystem_state_clear(subsystem, block->state);
    block->owner = subsystem;
  }
  return block->state;
}
