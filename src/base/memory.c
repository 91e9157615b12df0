/* Arena: a list of blocks. A piece that does not fit into the newest block gets a new one, which is exactly as large as the piece
 * when that is large, and else takes a share of what the arena already holds: few blocks for many pieces, little
 * waste for few. Blocks of HUGE bytes and more fill huge pages. Pieces follow each other in the order they are taken, so a mark
 * is a number of bytes. */
#include "base/memory.h"
#include "base/hooks.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) /* gcc */
#define YOKE_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) /* clang */
#define YOKE_ASAN
#endif
#endif
#if defined(YOKE_ASAN)
#include <sanitizer/asan_interface.h>
#elif defined(__linux__)
#include <sys/mman.h>
#if defined(MADV_HUGEPAGE)
#define YOKE_HUGE_PAGES
#endif
#endif

enum {
  ALIGNMENT    = 64,
  HEAD         = 2 * ALIGNMENT, /* in front of the room of a block: its struct, and what aligns it */
  SMALLEST     = 512 - HEAD,    /* room of a block */
  LARGEST      = 65536 - HEAD,
  SHARE        = 4,               /* of the room so far for the next block */
  HUGE         = 2 * 1024 * 1024, /* bytes of a huge page */
  ROOM         = 64 * 1024,       /* bytes, perhaps never written, that are worth pages of their own */
  MESSAGE_SIZE = 400
};

struct yoke_arena_block { /* the room begins ALIGNMENT bytes behind it */
  void *
      memory; /* from calloc or mmap, which give large pieces zeros without touching them, or from the source of the arena */
  size_t            mapped; /* bytes of mmap; 0: none of these */
  yoke_arena_block *older;
  yoke_arena_block *spare;  /* given back by release: empty, next of all to be used */
  size_t            before; /* room of all older blocks */
  size_t            room, used;
  size_t            dirty; /* bytes that have been in use */
};
_Static_assert(sizeof(yoke_arena_block) <= ALIGNMENT, "the head of a block fits in front of its room");

static bool overflows(size_t count, size_t size) {
  return size != 0 && count > (SIZE_MAX - 4 * (size_t)ALIGNMENT) / size;
}

static size_t aligned(size_t bytes) {
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

void *yoke_allocate(size_t count, size_t size) {
  if (overflows(count, size)) return NULL;
  size_t bytes = aligned(count * size);
  if (bytes == 0) bytes = ALIGNMENT;
  void *memory = aligned_alloc(ALIGNMENT, bytes);
  if (memory != NULL) memset(memory, 0, bytes);
  return memory;
}

bool yoke_grow(void *list, size_t *capacity, size_t needed, size_t size) {
  if (needed <= *capacity) return true;
  size_t larger = *capacity < SIZE_MAX / 2 ? 2 * *capacity : needed;
  if (larger < needed) larger = needed;
  if (larger < 8) larger = 8;
  if (overflows(larger, size)) return false;
  char *memory = NULL;
  memcpy(&memory, list, sizeof memory); /* the caller's pointer has a type of its own */
  memory = realloc(memory, larger * size);
  if (memory == NULL) return false;
  memset(memory + *capacity * size, 0, (larger - *capacity) * size);
  memcpy(list, &memory, sizeof memory);
  *capacity = larger;
  return true;
}

void yoke_shrink(void *list, size_t *capacity, size_t n, size_t size) {
  enum { LITTLE = 1 << 16 }; /* bytes that are not worth a call */
  if (n == 0 || n >= *capacity || (*capacity - n) * size < LITTLE) return;
  void *memory = NULL;
  memcpy(&memory, list, sizeof memory);
  void *const smaller = realloc(memory, n * size);
  if (smaller == NULL) return;
  memcpy(list, &smaller, sizeof smaller);
  *capacity = n;
}

bool yoke_memory_has_room(size_t bytes) {
  char *volatile probe = malloc(bytes); /* volatile: not to be left out */
  free(probe);
  return probe != NULL;
}

static yoke_status out_of_memory(yoke_context *ctx, const char *format, va_list args) {
  char what[MESSAGE_SIZE];
  vsnprintf(what, sizeof what, format, args);
  return yoke_fail(ctx, YOKE_E_MEMORY, "out of memory for %s", what);
}

yoke_status yoke_out_of_memory(yoke_context *ctx, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const yoke_status status = out_of_memory(ctx, format, args);
  va_end(args);
  return status;
}

yoke_status yoke_arena_check(const yoke_arena *arena, yoke_context *ctx, const char *format, ...) {
  if (!arena->has_failed) return YOKE_OK;
  va_list args;
  va_start(args, format);
  const yoke_status status = out_of_memory(ctx, format, args);
  va_end(args);
  return status;
}

/* ---- blocks ---- */

static char *room_of(yoke_arena_block *block) {
  return (char *)block + ALIGNMENT;
}

static char *aligned_start(void *memory, size_t unit) {
  return (char *)memory + (unit - (uintptr_t)memory % unit) % unit;
}

/* A new block with this room behind `newest`, of which `sure` bytes are going to be written. A large one begins a huge page, and is mapped: memory
 * from calloc may have been in use before, and lie in small pages for that. */
static yoke_arena_block *new_block(const yoke_arena *arena, size_t held, size_t room, size_t sure, bool is_zero) {
  const yoke_arena_source *source = &arena->source;
  yoke_arena_block         fresh  = {.older = arena->newest, .before = held, .room = room};
  char                    *start  = NULL;
#if defined(YOKE_HUGE_PAGES)
  const size_t bytes = ALIGNMENT + room, huge = (ALIGNMENT + sure) / HUGE * HUGE;
  const bool   is_large = huge > 0 || yoke_arena_is_room(room, sure);
  if ((source->allocate == NULL || source->is_pool) && is_large && bytes < SIZE_MAX - HUGE) {
    fresh.mapped = bytes + (huge > 0 ? (size_t)HUGE : 0);
    fresh.memory = mmap(NULL, fresh.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh.memory == MAP_FAILED) return NULL;
    start = huge > 0 ? aligned_start(fresh.memory, HUGE) : fresh.memory;
    if (huge > 0) (void)madvise(start, huge, MADV_HUGEPAGE); /* a wish */
  }
#else
  (void)sure;
#endif
  if (start == NULL) {
    fresh.memory = source->allocate != NULL ? source->allocate(source->user, HEAD + room)
                   : is_zero                ? calloc(1, HEAD + room)
                                            : malloc(HEAD + room);
    if (fresh.memory == NULL) return NULL;
    if (source->allocate != NULL && !source->is_pool && is_zero) memset(fresh.memory, 0, HEAD + room);
    start = aligned_start(fresh.memory, ALIGNMENT);
  }
  yoke_arena_block *block = (yoke_arena_block *)(void *)start;
  *block                  = fresh;
  return block;
}

static void free_block(const yoke_arena *arena, yoke_arena_block *block) {
  const yoke_arena_source *source = &arena->source;
#if defined(YOKE_HUGE_PAGES)
  if (block->mapped > 0) {
    (void)munmap(block->memory, block->mapped);
    return;
  }
#endif
  if (source->allocate != NULL)
    source->release(source->user, block->memory, HEAD + block->room);
  else
    free(block->memory);
}

static void free_spare(const yoke_arena *arena, yoke_arena_block *block) {
  while (block->spare != NULL) {
    yoke_arena_block *next = block->spare->spare;
    free_block(arena, block->spare);
    block->spare = next;
  }
}

/* Bytes of all blocks. */
static size_t held_by(const yoke_arena *arena) {
  return arena->newest != NULL ? arena->newest->before + arena->newest->room : 0;
}

/* A block for a piece of `bytes`: the spare one if it is large enough, else a new one. */
static yoke_arena_block *next_block(yoke_arena *arena, size_t bytes) {
  yoke_arena_block *newest = arena->newest;
  yoke_arena_block *block  = newest != NULL ? newest->spare : NULL;
  if (block == NULL || block->room < bytes) {
    if (newest != NULL) free_spare(arena, newest);
    const size_t held  = held_by(arena);
    size_t       usual = held / SHARE / ALIGNMENT * ALIGNMENT;
    if (usual < SMALLEST) usual = SMALLEST;
    if (usual > LARGEST) usual = held < HUGE ? (size_t)LARGEST : (size_t)HUGE - ALIGNMENT;
#if defined(YOKE_ASAN)
    usual = 0; /* every piece has its own block, so that writing beyond its end is seen */
#endif
    const size_t room = bytes > usual ? aligned(bytes) : usual;
    block             = new_block(arena, held, room, room, true);
    if (block == NULL) return NULL;
  }
  if (newest != NULL) newest->spare = NULL;
  arena->newest = block;
  return block;
}

static void *take(yoke_arena *arena, size_t count, size_t size, size_t alignment) {
  if (arena->has_failed || overflows(count, size)) {
    arena->has_failed = true;
    return NULL;
  }
  const size_t      bytes = count * size > 0 ? count * size : 1;
  yoke_arena_block *block = arena->newest;
  size_t            at    = block != NULL ? (block->used + alignment - 1) / alignment * alignment : 0;
  if (block == NULL || at > block->room || bytes > block->room - at) {
    block = next_block(arena, bytes);
    at    = 0;
  }
  if (block == NULL) {
    arena->has_failed = true;
    return NULL;
  }
  block->used = at + bytes;
  char *piece = room_of(block) + at;
#if defined(YOKE_ASAN)
  const char *end = (char *)block->memory + HEAD + block->room;
  block->used     = block->room;
  ASAN_UNPOISON_MEMORY_REGION(piece, block->room);
  ASAN_POISON_MEMORY_REGION(piece + bytes, (size_t)(end - piece) - bytes);
#endif
  if (at < block->dirty) memset(piece, 0, (at + bytes < block->dirty ? at + bytes : block->dirty) - at);
  if (at + bytes > block->dirty) block->dirty = at + bytes;
  return piece;
}

/* ---- the arena ---- */

yoke_arena yoke_arena_of(const yoke_context *ctx) {
  const yoke_memory       *memory = yoke_context_memory(ctx);
  const yoke_arena_source *pool   = yoke_context_pool(ctx);
  yoke_arena               arena  = {0};
  if (pool != NULL)
    arena.source = *pool;
  else if (memory != NULL)
    arena.source = (yoke_arena_source){.allocate = memory->allocate, .release = memory->release, .user = memory->user};
  return arena;
}

yoke_arena yoke_arena_like(const yoke_arena *arena) {
  return (yoke_arena){.source = arena->source};
}

void yoke_arena_expect(yoke_arena *arena, size_t bytes) {
  const yoke_arena_block *block = arena->newest;
#if defined(YOKE_ASAN)
  if (!overflows(bytes, 1)) return; /* every piece has its own block */
#endif
  if (arena->has_failed || (block != NULL && block->room - block->used >= bytes)) return;
  arena->has_failed = overflows(bytes, 1) || next_block(arena, bytes) == NULL;
}

void *yoke_arena_take(yoke_arena *arena, size_t count, size_t size) {
  return take(arena, count, size, ALIGNMENT);
}

/* A block that is one piece. NULL: there was no memory for it. */
static void *enter_block(yoke_arena *arena, yoke_arena_block *block) {
  if (block == NULL) {
    arena->has_failed = true;
    return NULL;
  }
  if (arena->newest != NULL) free_spare(arena, arena->newest);
  block->used = block->dirty = block->room;
  arena->newest              = block;
  return room_of(block);
}

void *yoke_arena_take_unset(yoke_arena *arena, size_t bytes) {
  yoke_arena_block *block = NULL;
  if (!arena->has_failed && !overflows(bytes, 1))
    block = new_block(arena, held_by(arena), aligned(bytes), bytes, false);
  return enter_block(arena, block);
}

bool yoke_arena_is_room(size_t bytes, size_t sure) {
  return bytes >= sure && bytes - sure >= ROOM;
}

void *yoke_arena_take_room(yoke_arena *arena, size_t bytes, size_t sure) {
#if defined(YOKE_HUGE_PAGES)
  if (!arena->has_failed && yoke_arena_is_room(bytes, sure) && !overflows(bytes, 1))
    return enter_block(arena, new_block(arena, held_by(arena), aligned(bytes), sure, true));
#else
  (void)sure;
#endif
  return yoke_arena_take(arena, bytes, 1);
}

void *yoke_arena_copy(yoke_arena *arena, const void *from, size_t count, size_t size) {
  void *piece = take(arena, count, size, ALIGNMENT);
  if (piece != NULL && count * size > 0) memcpy(piece, from, count * size);
  return piece;
}

const void *yoke_arena_share(yoke_arena *arena, const void *from, size_t bytes) {
  const yoke_arena_source *source = &arena->source;
  const void *shared = arena->has_failed || source->share == NULL ? NULL : source->share(source->user, from, bytes);
  return shared != NULL ? shared : yoke_arena_copy(arena, from, 1, bytes);
}

char *yoke_arena_text(yoke_arena *arena, const char *text) {
  const size_t size  = strlen(text) + 1;
  char        *piece = take(arena, size, 1, 1);
  if (piece != NULL) memcpy(piece, text, size);
  return piece;
}

size_t yoke_arena_mark(const yoke_arena *arena) {
  return arena->newest != NULL ? arena->newest->before + arena->newest->used : 0;
}

void yoke_arena_release(yoke_arena *arena, size_t mark) {
  yoke_arena_block *block = arena->newest;
  if (block == NULL) return;
  while (block->before > mark) {
    block->used         = 0;
    block->older->spare = block;
    block               = block->older;
  }
  block->used   = mark - block->before;
  arena->newest = block;
}

void yoke_arena_free(yoke_arena *arena) {
  if (arena->newest != NULL) free_spare(arena, arena->newest);
  for (yoke_arena_block *block = arena->newest; block != NULL;) {
    yoke_arena_block *older = block->older;
    free_block(arena, block);
    block = older;
  }
  *arena = yoke_arena_like(arena);
}
