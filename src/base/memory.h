/* Memory: single blocks, arrays that grow while something is read, and the arena of an object.
 *
 * An arena hands out zeroed pieces and remembers the first failure, so that a create function takes all it needs, asks once,
 * then fills; destroying the object frees all pieces at once:
 *
 *   thing->mass = yoke_arena_take(&thing->arena, n, sizeof *thing->mass);
 *   thing->name = yoke_arena_text(&thing->arena, name);
 *   YOKE_TRY(yoke_arena_check(&thing->arena, ctx, "thing '%s'", name));
 *   for (int i = 0; i < n; ++i) thing->mass[i] = ...
 *
 * Pieces are written after the check only; what has to be copied at once comes from yoke_arena_copy or yoke_arena_text, which
 * write nothing when there is no memory. After a failure every further take fails too. Other objects that the pieces point to
 * are destroyed by hand, before the arena is freed: pieces start as zero, so their pointers are NULL until they are set.
 *
 * For scratch: mark, take, release. Released memory stays with the arena, so a step that takes what the one before
 * took allocates nothing. An arena belongs to one thread of control. {0} is an empty arena, whose blocks come from the process; those of yoke_arena_of come
 * from where the program that made the context wants them:
 *
 *   thing->arena = yoke_arena_of(ctx);      a large object, before anything is taken */
#ifndef YOKE_BASE_MEMORY_H
#define YOKE_BASE_MEMORY_H

#include <yoke/context.h>
#include <stdbool.h>
#include <stddef.h>

/* Aligned (64 bytes), zeroed memory; NULL when out of memory or when count * size overflows. Release with free(). */
void *yoke_allocate(size_t count, size_t size);

/* Makes room for `needed` entries of `size` bytes: `list` is the address of a pointer to memory from malloc (NULL: none yet),
 * `capacity` counts its entries. New entries are zero. false: out of memory, and nothing has changed. */
bool yoke_grow(void *list, size_t *capacity, size_t needed, size_t size);

/* Gives back what is beyond the first `n` entries, if that is much. */
void yoke_shrink(void *list, size_t *capacity, size_t n, size_t size);

/* Could `bytes` be had just now? For libraries that do not bear to be refused: asked before they are called. */
bool yoke_memory_has_room(size_t bytes);

/* Records "out of memory for ..." and returns YOKE_E_MEMORY. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
yoke_status
yoke_out_of_memory(yoke_context *ctx, const char *format, ...);

typedef struct yoke_arena_block yoke_arena_block;

/* Where blocks come from: as in yoke_memory. */
typedef struct yoke_arena_source {
  void *(*allocate)(void *user, size_t bytes); /* NULL: malloc and the like */
  void (*release)(void *user, void *memory, size_t bytes);
  /* A constant piece with these bytes, as long as `user`; NULL: there is none. NULL: nothing is shared. */
  const void *(*share)(void *user, const void *from, size_t bytes);
  void *user;
  bool  is_pool; /* a pool (pool.h): gives zeros, and blocks of megabytes do not come from it */
} yoke_arena_source;

typedef struct yoke_arena {
  yoke_arena_block *newest; /* pieces come from here */
  bool              has_failed;
  yoke_arena_source source;
} yoke_arena;

/* An empty arena with the memory of the context, or with that of another arena. ctx may be NULL. */
yoke_arena yoke_arena_of(const yoke_context *ctx);
yoke_arena yoke_arena_like(const yoke_arena *arena);

/* A piece of count * size bytes, 64-byte aligned and zeroed (count or size may be 0). NULL: this take or one before failed. */
void *yoke_arena_take(yoke_arena *arena, size_t count, size_t size);
void *yoke_arena_copy(yoke_arena *arena, const void *from, size_t count, size_t size);
char *yoke_arena_text(yoke_arena *arena, const char *text);

/* A constant piece with these bytes, which nobody writes to: arenas of one pool (pool.h) share it with those that took equal bytes before, so that
 * equal parts of a system read the same cache lines. Else a copy. */
const void *yoke_arena_share(yoke_arena *arena, const void *from, size_t bytes);

/* A piece with anything in it, in a block of its own: large scratch that is written before it is read. */
void *yoke_arena_take_unset(yoke_arena *arena, size_t bytes);

/* A zeroed piece of which the first `sure` bytes are going to be written, and of the rest perhaps nothing. A large one has pages of its own, which take
 * memory once they are written (yoke_arena_is_room). */
void *yoke_arena_take_room(yoke_arena *arena, size_t bytes, size_t sure);
bool  yoke_arena_is_room(size_t bytes, size_t sure);

/* The next pieces, `bytes` of them, lie in one block; no memory for it is a failure as that of a take. Blocks of megabytes lie in huge pages where the system has
 * them, so that what many small objects take one after another needs few entries of the page tables. */
void yoke_arena_expect(yoke_arena *arena, size_t bytes);

/* YOKE_OK, or YOKE_E_MEMORY with the message "out of memory for ..." when a take has failed. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
yoke_status
yoke_arena_check(const yoke_arena *arena, yoke_context *ctx, const char *format, ...);

/* All pieces taken after the mark are given back. */
size_t yoke_arena_mark(const yoke_arena *arena);
void   yoke_arena_release(yoke_arena *arena, size_t mark);

/* Frees all pieces; the arena is empty and can be used again, with the same source. */
void yoke_arena_free(yoke_arena *arena);

#endif
