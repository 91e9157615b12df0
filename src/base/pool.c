#include "base/pool.h"

#include "base/hooks.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* In front of every block. */
typedef struct head {
  _Alignas(16) bool is_of_pool; /* else from malloc */
} head;

enum { PLACES = 256 };

/* Constant bytes that arenas share. */
typedef struct constant {
  const void *bytes;
  size_t      size;
} constant;

struct yoke_pool {
  yoke_arena        arena;
  yoke_arena_source source;
  bool              is_open;
  constant          shared[PLACES]; /* the last one of each place: who comes to it with other bytes takes it over */
};

static void *allocate(void *user, size_t bytes) {
  yoke_pool   *pool = user;
  const size_t all  = sizeof(head) + bytes;
  if (all < bytes) return NULL;
  head *block = pool->is_open ? yoke_arena_take(&pool->arena, 1, all) : calloc(1, all);
  if (block == NULL) return NULL;
  block->is_of_pool = pool->is_open;
  return block + 1;
}

static void release(void *user, void *memory, size_t bytes) {
  head *block = (head *)memory - 1;
  (void)user;
  (void)bytes;
  if (!block->is_of_pool) free(block);
}

/* FNV-1a, by words */
static size_t place_of(const char *bytes, size_t size) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < size; i += sizeof hash) {
    uint64_t word = 0;
    memcpy(&word, bytes + i, size - i < sizeof word ? size - i : sizeof word);
    hash = (hash ^ word) * 1099511628211u;
  }
  return (size_t)((hash ^ hash >> 32) % PLACES);
}

static const void *share(void *user, const void *from, size_t size) {
  yoke_pool *pool = user;
  if (!pool->is_open) return NULL;
  constant *kept = &pool->shared[place_of(from, size)];
  if (kept->bytes != NULL && kept->size == size && memcmp(kept->bytes, from, size) == 0) return kept->bytes;
  const void *bytes = yoke_arena_copy(&pool->arena, from, 1, size);
  if (bytes != NULL) *kept = (constant){.bytes = bytes, .size = size};
  return bytes;
}

yoke_status yoke_pool_create(yoke_context *ctx, yoke_pool **out) {
  *out = NULL;
  if (ctx == NULL || yoke_context_memory(ctx) != NULL) return YOKE_OK;
  yoke_pool *pool = yoke_allocate(1, sizeof *pool);
  if (pool == NULL) return yoke_out_of_memory(ctx, "the subsystems");
  pool->arena = yoke_arena_of(ctx);
  pool->source =
      (yoke_arena_source){.allocate = allocate, .release = release, .share = share, .user = pool, .is_pool = true};
  *out = pool;
  return YOKE_OK;
}

void yoke_pool_open(yoke_pool *pool, yoke_context *ctx) {
  if (pool == NULL) return;
  pool->is_open = true;
  yoke_context_set_pool(ctx, &pool->source);
}

void yoke_pool_close(yoke_pool *pool, yoke_context *ctx) {
  if (pool == NULL) return;
  pool->is_open = false;
  yoke_context_set_pool(ctx, NULL);
}

void yoke_pool_destroy(yoke_pool **pool) {
  if (*pool == NULL) return;
  yoke_arena_free(&(*pool)->arena);
  free(*pool);
  *pool = NULL;
}
