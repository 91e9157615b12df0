#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/assert.h"
#include "base/memory.h"

static void allocation_that_overflows_is_refused(void **state) {
  (void)state;
  assert_null(yoke_allocate(SIZE_MAX / 2, 16));
}

static bool is_zero(const char *piece, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    if (piece[i] != 0) return false;
  }
  return true;
}

static void pieces_of_every_size_are_aligned_and_zero_and_do_not_overlap(void **state) {
  (void)state;
  enum { N = 400 };
  yoke_arena arena = {0};
  char      *piece[N];
  for (int i = 0; i < N; ++i) {
    const size_t size = (size_t)i * (size_t)i * 7 % 3001;
    piece[i]          = yoke_arena_take(&arena, size, 1);
    assert_non_null(piece[i]);
    assert_int_equal((uintptr_t)piece[i] % 64, 0);
    assert_true(is_zero(piece[i], size));
    memset(piece[i], i % 127 + 1, size);
  }
  for (int i = 0; i < N; ++i) {
    const size_t size = (size_t)i * (size_t)i * 7 % 3001;
    for (size_t k = 0; k < size; ++k) assert_int_equal(piece[i][k], i % 127 + 1);
  }
  yoke_arena_free(&arena);
}

static void a_failure_is_remembered_and_named_once(void **state) {
  (void)state;
  yoke_context *ctx   = NULL;
  yoke_arena    arena = {0};
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_non_null(yoke_arena_take(&arena, 10, 8));
  assert_int_equal(yoke_arena_check(&arena, ctx, "subsystem '%s'", "a"), YOKE_OK);
  assert_null(yoke_arena_take(&arena, SIZE_MAX / 4, 8)); /* overflows */
  assert_null(yoke_arena_take(&arena, 10, 8));
  assert_null(yoke_arena_text(&arena, "name"));
  assert_null(yoke_arena_copy(&arena, "name", 4, 1));
  assert_int_equal(yoke_arena_check(&arena, ctx, "subsystem '%s'", "a"), YOKE_E_MEMORY);
  assert_int_equal(yoke_context_n_messages(ctx), 1);
  assert_string_equal(yoke_context_message(ctx, 0), "out of memory for subsystem 'a'");
  yoke_arena_free(&arena);
  assert_non_null(yoke_arena_take(&arena, 1, 8)); /* empty again */
  yoke_arena_free(&arena);
  yoke_context_destroy(&ctx);
}

static void more_memory_than_there_is_is_a_failure(void **state) {
  (void)state;
#if !defined(YOKE_SANITIZED) /* ends the program there */
  yoke_arena arena = {0};
  assert_null(yoke_arena_take(&arena, SIZE_MAX / 4, 1));
  assert_true(arena.has_failed);
  yoke_arena_free(&arena);
#endif
}

static void released_scratch_is_taken_again_without_new_memory(void **state) {
  (void)state;
  yoke_arena arena = {0};
  double    *kept  = yoke_arena_take(&arena, 3, sizeof *kept);
  kept[2]          = 5.0;
  void *first[3]   = {0};
  for (int step = 0; step < 10; ++step) {
    const size_t mark = yoke_arena_mark(&arena);
    for (int k = 0; k < 3; ++k) {
      char *piece = yoke_arena_take(&arena, 1000u << 4 * k, 1);
      assert_non_null(piece);
      assert_true(is_zero(piece, 1000u << 4 * k));
      memset(piece, 1, 1000u << 4 * k);
      if (step == 0) first[k] = piece;
      assert_ptr_equal(piece, first[k]);
    }
    yoke_arena_release(&arena, mark);
  }
  assert_true(kept[2] == 5.0);
  yoke_arena_free(&arena);
}

static void release_to_an_older_mark_gives_everything_behind_it_back(void **state) {
  (void)state;
  yoke_arena   arena = {0};
  const size_t start = yoke_arena_mark(&arena);
  char        *a     = yoke_arena_take(&arena, 100, 1);
  for (int i = 0; i < 50; ++i) yoke_arena_take(&arena, 500, 1);
  yoke_arena_release(&arena, start);
  assert_ptr_equal(yoke_arena_take(&arena, 100, 1), a);
  assert_non_null(yoke_arena_take(&arena, 100000, 1)); /* larger than what was given back */
  yoke_arena_release(&arena, start);
  yoke_arena_free(&arena);
}

static void an_arena_of_a_small_object_takes_half_a_kilobyte(void **state) {
  (void)state;
#if !defined(YOKE_SANITIZED) /* every piece has its own block there */
  yoke_arena arena = {0};
  char      *first = yoke_arena_take(&arena, 8, 8);
  for (int i = 0; i < 5; ++i) {
    const char *next = yoke_arena_take(&arena, 8, 8);
    assert_true(next > first && next < first + 384);
  }
  yoke_arena_free(&arena);
#endif
}

static void pieces_that_were_expected_lie_in_one_block(void **state) {
  (void)state;
#if !defined(YOKE_SANITIZED) /* every piece has its own block there */
  enum { N = 100, SIZE = 6400 };
  yoke_arena   arena = {0};
  const size_t mark  = yoke_arena_mark(&arena);
  char        *first;
  yoke_arena_expect(&arena, (size_t)N * SIZE);
  assert_non_null(first = yoke_arena_take(&arena, SIZE, 1));
  for (int i = 1; i < N; ++i) assert_ptr_equal(yoke_arena_take(&arena, SIZE, 1), first + i * SIZE);
  memset(first, 1, (size_t)N * SIZE);
  yoke_arena_release(&arena, mark);
  yoke_arena_expect(&arena, SIZE); /* there is room */
  assert_ptr_equal(yoke_arena_take(&arena, SIZE, 1), first);
  assert_true(is_zero(first, SIZE));
  yoke_arena_free(&arena);
#endif
}

static void what_is_expected_and_cannot_be_had_is_a_failure(void **state) {
  (void)state;
  yoke_arena arena = {0};
  yoke_arena_expect(&arena, SIZE_MAX); /* overflows */
  assert_true(arena.has_failed);
  assert_null(yoke_arena_take(&arena, 100, 1));
  yoke_arena_free(&arena);
}

static void a_block_of_megabytes_begins_a_huge_page(void **state) {
  (void)state;
#if !defined(YOKE_SANITIZED) && defined(__linux__)
  const size_t page = 2 * 1024 * 1024, size = 3 * page / 2;
  for (int i = 0; i < 3; ++i) { /* again what was in use before */
    yoke_arena arena = {0};
    char      *piece = yoke_arena_take(&arena, size, 1);
    assert_non_null(piece);
    assert_int_equal(((uintptr_t)piece - 64) % page, 0);
    assert_true(is_zero(piece, size));
    memset(piece, 1, size);
    char *next = yoke_arena_take(&arena, 64, 1); /* arenas that are large grow by huge pages */
    assert_int_equal(((uintptr_t)next - 64) % page, 0);
    yoke_arena_free(&arena);
  }
#endif
}

static void a_piece_that_is_not_set_has_a_block_of_its_own(void **state) {
  (void)state;
  yoke_arena  arena = {0};
  char *const first = yoke_arena_take(&arena, 1, 100), *unset = yoke_arena_take_unset(&arena, 5000);
  assert_true(first != NULL && unset != NULL && (uintptr_t)unset % 64 == 0);
  memset(unset, 1, 5000);
  const size_t mark  = yoke_arena_mark(&arena);
  char *const  later = yoke_arena_take(&arena, 1, 5000);
  assert_true(is_zero(later, 5000));
  yoke_arena_release(&arena, mark);
  yoke_arena_release(&arena, 0);
  assert_true(is_zero(yoke_arena_take(&arena, 1, 5000), 5000)); /* the same memory, once it is given back */
  assert_null(yoke_arena_take_unset(&arena, SIZE_MAX));
  assert_true(arena.has_failed);
  yoke_arena_free(&arena);
}

static void texts_lie_side_by_side(void **state) {
  (void)state;
  yoke_arena  arena = {0};
  const char *a = yoke_arena_text(&arena, "left"), *b = yoke_arena_text(&arena, "right");
  double     *x = yoke_arena_take(&arena, 1, sizeof *x);
  assert_string_equal(a, "left");
  assert_string_equal(b, "right");
  assert_int_equal((uintptr_t)x % 64, 0);
#if !defined(YOKE_SANITIZED)
  assert_ptr_equal(b, a + 5);
#endif
  yoke_arena_free(&arena);
}

static void grown_list_keeps_its_entries_and_new_ones_are_zero(void **state) {
  (void)state;
  int   *list     = NULL;
  size_t capacity = 0;
  for (int i = 0; i < 1000; ++i) {
    assert_true(yoke_grow(&list, &capacity, (size_t)i + 1, sizeof *list));
    assert_int_equal(list[i], 0);
    list[i] = i + 1;
  }
  for (int i = 0; i < 1000; ++i) assert_int_equal(list[i], i + 1);
  assert_false(yoke_grow(&list, &capacity, SIZE_MAX / 2, sizeof *list));
  assert_int_equal(list[999], 1000);
  free(list);
}

/* In a process of its own: it ends with abort. */
static void a_list_that_is_shrunk_keeps_its_entries_and_grows_again(void **state) {
  int   *list     = NULL;
  size_t capacity = 0;
  (void)state;
  assert_true(yoke_grow(&list, &capacity, 100000, sizeof *list));
  for (int i = 0; i < 100000; ++i) list[i] = i;
  yoke_shrink(&list, &capacity, 10, sizeof *list);
  assert_int_equal(capacity, 10);
  yoke_shrink(&list, &capacity, 20, sizeof *list);
  assert_int_equal(capacity, 10);
  assert_true(yoke_grow(&list, &capacity, 11, sizeof *list));
  for (int i = 0; i < 10; ++i) assert_int_equal(list[i], i);
  assert_int_equal(list[10], 0);
  free(list);
}

static void a_broken_contract_names_its_place_and_aborts(void **state) {
  (void)state;
  int  pipe_ends[2];
  char text[200] = {0};
  assert_int_equal(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGABRT, SIG_DFL);
    dup2(pipe_ends[1], 2);
    const int n_wires = 3;
    YOKE_ASSERT(n_wires > 2);
    YOKE_ASSERT(n_wires == 2);
    _exit(0);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  assert_true(read(pipe_ends[0], text, sizeof text - 1) > 0);
  assert_non_null(strstr(text, "test_memory.c:"));
  assert_non_null(strstr(text, "n_wires == 2 does not hold"));
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

/* Memory of this process that is in use [bytes]; 0: not known. */
static double resident(void) {
  long  size = 0, pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL) return 0.0;
  assert_int_equal(fscanf(file, "%ld %ld", &size, &pages), 2);
  fclose(file);
  return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void a_room_takes_memory_where_it_is_written(void **state) {
  enum { MB = 1 << 20, SIZE = 256 * MB, SURE = 5 * MB };
  yoke_arena arena = {0};
  (void)state;
  assert_true(yoke_arena_is_room(SIZE, SURE));
  assert_false(yoke_arena_is_room(SIZE, SIZE - 1000));
  const double before = resident();
  char        *room   = yoke_arena_take_room(&arena, SIZE, SURE);
  assert_int_equal((uintptr_t)room % 64, 0);
  memset(room, 1, SURE);
  memset(room + SIZE - MB, 1, MB);
  assert_true(is_zero(room + SIZE / 2, MB));
#if !defined(YOKE_SANITIZED) /* memory beside the pieces */
  assert_in_range((long)(resident() - before), 0, 16L * MB);
#endif
  (void)before;
  yoke_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_room_takes_memory_where_it_is_written),
      cmocka_unit_test(allocation_that_overflows_is_refused),
      cmocka_unit_test(pieces_of_every_size_are_aligned_and_zero_and_do_not_overlap),
      cmocka_unit_test(a_failure_is_remembered_and_named_once),
      cmocka_unit_test(more_memory_than_there_is_is_a_failure),
      cmocka_unit_test(released_scratch_is_taken_again_without_new_memory),
      cmocka_unit_test(release_to_an_older_mark_gives_everything_behind_it_back),
      cmocka_unit_test(an_arena_of_a_small_object_takes_half_a_kilobyte),
      cmocka_unit_test(pieces_that_were_expected_lie_in_one_block),
      cmocka_unit_test(what_is_expected_and_cannot_be_had_is_a_failure),
      cmocka_unit_test(a_block_of_megabytes_begins_a_huge_page),
      cmocka_unit_test(a_piece_that_is_not_set_has_a_block_of_its_own),
      cmocka_unit_test(texts_lie_side_by_side),
      cmocka_unit_test(grown_list_keeps_its_entries_and_new_ones_are_zero),
      cmocka_unit_test(a_list_that_is_shrunk_keeps_its_entries_and_grows_again),
      cmocka_unit_test(a_broken_contract_names_its_place_and_aborts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
