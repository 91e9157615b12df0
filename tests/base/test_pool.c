/* Pool: blocks of many arenas in one place. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include "base/hooks.h"
#include "base/pool.h"

enum { N_ARENAS = 64, BYTES = 300 };

static yoke_context *open_context(void) {
  yoke_context *ctx = NULL;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  return ctx;
}

/* But for sanitizers, which give every piece a block of its own. */
static bool has_blocks(void) {
  yoke_arena  arena = {0};
  const char *first = yoke_arena_take(&arena, 1, 8), *second = yoke_arena_take(&arena, 1, 8);
  const bool  is_near = second - first == 64;
  yoke_arena_free(&arena);
  return is_near;
}

static void small_arenas_lie_behind_each_other(void **state) {
  yoke_context *ctx = open_context();
  yoke_pool    *pool;
  yoke_arena    arenas[N_ARENAS];
  const char   *before = NULL;
  int           n_near = 0;
  (void)state;
  assert_int_equal(yoke_pool_create(ctx, &pool), YOKE_OK);
  yoke_pool_open(pool, ctx);
  for (int i = 0; i < N_ARENAS; ++i) {
    void *elsewhere  = malloc(3000);
    arenas[i]        = yoke_arena_of(ctx);
    const char *here = yoke_arena_take(&arenas[i], 1, BYTES);
    assert_non_null(here);
    for (int k = 0; k < BYTES; ++k) assert_int_equal(here[k], 0);
    n_near += before != NULL && here > before && here - before < 1024;
    before = here;
    free(elsewhere);
  }
  yoke_pool_close(pool, ctx);
  if (has_blocks()) assert_true(n_near > 3 * N_ARENAS / 4); /* the pool itself grows by blocks */
  for (int i = 0; i < N_ARENAS; ++i) yoke_arena_free(&arenas[i]);
  yoke_pool_destroy(&pool);
  yoke_context_destroy(&ctx);
}

static void an_arena_grows_behind_the_end_of_its_pool(void **state) {
  yoke_context *ctx = open_context();
  yoke_pool    *pool;
  (void)state;
  assert_int_equal(yoke_pool_create(ctx, &pool), YOKE_OK);
  yoke_pool_open(pool, ctx);
  yoke_arena arena = yoke_arena_of(ctx);
  assert_non_null(yoke_arena_take(&arena, 1, BYTES));
  yoke_pool_close(pool, ctx);
  assert_null(yoke_context_pool(ctx));
  char *const late = yoke_arena_take(&arena, 100, BYTES);
  assert_non_null(late);
  for (int k = 0; k < 100 * BYTES; ++k) assert_int_equal(late[k], 0);
  late[100 * BYTES - 1] = 1;
  yoke_arena_free(&arena); /* sanitizers tell of what is lost */
  yoke_pool_destroy(&pool);
  yoke_context_destroy(&ctx);
}

static void large_blocks_do_not_come_from_a_pool(void **state) {
  enum { HUGE = 2 * 1024 * 1024 };
  yoke_context *ctx = open_context();
  yoke_pool    *pool;
  (void)state;
  assert_int_equal(yoke_pool_create(ctx, &pool), YOKE_OK);
  yoke_pool_open(pool, ctx);
  yoke_arena  arena = yoke_arena_of(ctx), small = yoke_arena_of(ctx);
  const char *large = yoke_arena_take(&arena, 1, 2 * HUGE), *here = yoke_arena_take(&small, 1, BYTES);
  assert_true(large != NULL && here != NULL);
  assert_false(here > large && here < large + 2 * HUGE);
  yoke_pool_close(pool, ctx);
  yoke_arena_free(&arena);
  yoke_arena_free(&small);
  yoke_pool_destroy(&pool);
  yoke_context_destroy(&ctx);
}

static void equal_constants_of_a_pool_are_one_piece(void **state) {
  const double  one[] = {1.0, 2.0, 3.0}, same[] = {1.0, 2.0, 3.0}, other[] = {1.0, 2.0, 4.0};
  yoke_context *ctx = open_context();
  yoke_pool    *pool;
  (void)state;
  assert_int_equal(yoke_pool_create(ctx, &pool), YOKE_OK);
  yoke_pool_open(pool, ctx);
  yoke_arena    a = yoke_arena_of(ctx), b = yoke_arena_of(ctx);
  const double *of_a = yoke_arena_share(&a, one, sizeof one), *of_b = yoke_arena_share(&b, same, sizeof same);
  const double *shorter = yoke_arena_share(&b, same, 2 * sizeof *same);
  const double *differs = yoke_arena_share(&b, other, sizeof other);
  assert_ptr_equal(of_a, of_b);
  assert_ptr_not_equal(shorter, of_a);
  assert_ptr_not_equal(differs, of_a);
  yoke_pool_close(pool, ctx);
  assert_memory_equal(of_a, one, sizeof one);
  assert_memory_equal(differs, other, sizeof other);
  yoke_arena_free(&a);
  assert_memory_equal(of_b, one, sizeof one); /* it is the pool's, not that of the arena that came first */
  yoke_arena_free(&b);
  yoke_pool_destroy(&pool);
  yoke_context_destroy(&ctx);
}

static void without_an_open_pool_constants_are_copies(void **state) {
  const double  one[] = {1.0, 2.0, 3.0};
  yoke_context *ctx   = open_context();
  yoke_pool    *pool;
  (void)state;
  yoke_arena    plain = yoke_arena_of(ctx);
  const double *first = yoke_arena_share(&plain, one, sizeof one), *second = yoke_arena_share(&plain, one, sizeof one);
  assert_ptr_not_equal(first, second);
  assert_int_equal(yoke_pool_create(ctx, &pool), YOKE_OK);
  yoke_pool_open(pool, ctx);
  yoke_arena    arena = yoke_arena_of(ctx);
  const double *early = yoke_arena_share(&arena, one, sizeof one);
  yoke_pool_close(pool, ctx); /* from now on on any thread */
  const double *late = yoke_arena_share(&arena, one, sizeof one);
  assert_ptr_not_equal(early, late);
  assert_memory_equal(late, one, sizeof one);
  yoke_arena_free(&arena);
  yoke_arena_free(&plain);
  yoke_pool_destroy(&pool);
  yoke_context_destroy(&ctx);
}

static int n_asked;

static void *count_and_allocate(void *user, size_t bytes) {
  (void)user;
  ++n_asked;
  return malloc(bytes);
}

static void give_back(void *user, void *memory, size_t bytes) {
  (void)user, (void)bytes;
  free(memory);
}

static void memory_of_the_program_is_not_pooled(void **state) {
  const yoke_memory memory = {.size = sizeof memory, .allocate = count_and_allocate, .release = give_back};
  yoke_context     *ctx    = open_context();
  yoke_pool        *pool;
  (void)state;
  assert_int_equal(yoke_context_set_memory(ctx, &memory), YOKE_OK);
  assert_int_equal(yoke_pool_create(ctx, &pool), YOKE_OK);
  assert_null(pool);
  yoke_pool_open(pool, ctx);
  yoke_arena arena = yoke_arena_of(ctx);
  assert_non_null(yoke_arena_take(&arena, 1, BYTES));
  assert_int_equal(n_asked, 1);
  yoke_pool_close(pool, ctx);
  yoke_arena_free(&arena);
  yoke_pool_destroy(&pool);
  yoke_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_arenas_lie_behind_each_other),
      cmocka_unit_test(an_arena_grows_behind_the_end_of_its_pool),
      cmocka_unit_test(large_blocks_do_not_come_from_a_pool),
      cmocka_unit_test(equal_constants_of_a_pool_are_one_piece),
      cmocka_unit_test(without_an_open_pool_constants_are_copies),
      cmocka_unit_test(memory_of_the_program_is_not_pooled),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
