/* Packed states: what was written is read, and damage is told. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/pack.h"

static const double  reals[3] = {1.5, -0.0, 4.9e-324};
static const int32_t ints[2]  = {INT32_MIN, 7};

static void pack_example(yoke_pack *p) {
  yoke_pack_begin(p);
  yoke_pack_tag(p, "example");
  yoke_pack_int32(p, -3);
  yoke_pack_int64(p, INT64_MIN);
  yoke_pack_double(p, -INFINITY);
  yoke_pack_bool(p, true);
  yoke_pack_text(p, "");
  yoke_pack_doubles(p, 3, reals);
  yoke_pack_int32s(p, 2, ints);
  yoke_pack_doubles(p, 0, NULL);
  yoke_pack_block(p, 5, "block");
  assert_int_equal(yoke_pack_end(p, NULL), YOKE_OK);
}

static yoke_pack example(void) {
  yoke_pack pack = {0};
  pack_example(&pack);
  return pack;
}

/* Reads all of the example and says whether it went well; `same`: were the values those written? */
static yoke_status read_example(yoke_unpack *in, bool *same) {
  double  x[3];
  int32_t k[2];
  yoke_unpack_tag(in, "example");
  *same = yoke_unpack_int32(in) == -3;
  *same = yoke_unpack_int64(in) == INT64_MIN && *same;
  *same = yoke_unpack_double(in) == -(double)INFINITY && *same;
  *same = yoke_unpack_bool(in) && *same;
  *same = yoke_unpack_text(in)[0] == 0 && *same;
  yoke_unpack_doubles(in, 3, x);
  yoke_unpack_int32s(in, 2, k);
  yoke_unpack_doubles(in, 0, NULL);
  const void *block = yoke_unpack_block(in, 5);
  *same             = *same && memcmp(x, reals, sizeof x) == 0 && memcmp(k, ints, sizeof k) == 0;
  *same             = *same && block != NULL && memcmp(block, "block", 5) == 0;
  return yoke_unpack_end(in, NULL);
}

static yoke_status unpack_example(const void *bytes, size_t size, bool *same) {
  yoke_unpack in;
  *same = false;
  YOKE_TRY(yoke_unpack_begin(&in, bytes, size, NULL));
  return read_example(&in, same);
}

static void what_was_packed_is_read_with_every_bit(void **state) {
  (void)state;
  yoke_pack pack = example();
  bool      same;
  assert_int_equal(unpack_example(pack.bytes, pack.size, &same), YOKE_OK);
  assert_true(same);
  yoke_pack_free(&pack);
}

static void packs_have_the_same_bytes_whatever_their_memory_held(void **state) {
  (void)state;
  yoke_pack first = example(), second = {0};
  yoke_pack_begin(&second);
  for (int i = 0; i < 100; ++i) yoke_pack_int64(&second, -1);
  pack_example(&second);
  assert_int_equal(first.size, second.size);
  assert_memory_equal(first.bytes, second.bytes, first.size);
  yoke_pack_free(&first);
  yoke_pack_free(&second);
}

/* Exact copies: reading beyond the end is seen by the sanitizer. */
static void a_pack_that_is_cut_off_anywhere_is_refused(void **state) {
  (void)state;
  yoke_pack pack = example();
  for (size_t size = 0; size < pack.size; ++size) {
    unsigned char *cut = malloc(size > 0 ? size : 1);
    bool           same;
    memcpy(cut, pack.bytes, size);
    assert_true(unpack_example(cut, size, &same) < 0);
    free(cut);
  }
  yoke_pack_free(&pack);
}

static void a_single_wrong_bit_is_seen_wherever_it_is(void **state) {
  (void)state;
  yoke_pack pack = example();
  for (size_t bit = 0; bit < 8 * pack.size; ++bit) {
    bool same;
    pack.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    assert_true(unpack_example(pack.bytes, pack.size, &same) < 0);
    pack.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
  }
  yoke_pack_free(&pack);
}

/* Past the checksum: counts, texts and lengths that lie are refused, and nothing is read beyond the end. */
static void wrong_bytes_behind_a_right_checksum_are_never_read_beyond_the_end(void **state) {
  (void)state;
  yoke_pack   pack = example();
  yoke_unpack begin;
  assert_int_equal(yoke_unpack_begin(&begin, pack.bytes, pack.size, NULL), YOKE_OK);
  const size_t   size = begin.size;
  unsigned char *copy = malloc(size);
  for (size_t at = begin.at; at < size; ++at) {
    for (int value = 0; value < 256; value += 51) {
      memcpy(copy, pack.bytes, size);
      copy[at]       = (unsigned char)value;
      yoke_unpack in = begin;
      bool        same;
      in.bytes = copy;
      (void)read_example(&in, &same);
      assert_true(in.at <= size);
      if (copy[at] != pack.bytes[at]) assert_true(in.failure != NULL || !same);
    }
  }
  free(copy);
  yoke_pack_free(&pack);
}

static void behind_the_first_failure_everything_reads_as_nothing_and_the_message_names_the_place(void **state) {
  (void)state;
  yoke_context *ctx  = NULL;
  yoke_pack     pack = {0};
  yoke_unpack   in;
  double        x[2] = {1, 1};
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  yoke_pack_begin(&pack);
  yoke_pack_doubles(&pack, 3, reals);
  yoke_pack_int32(&pack, 5);
  assert_int_equal(yoke_pack_end(&pack, ctx), YOKE_OK);
  assert_int_equal(yoke_unpack_begin(&in, pack.bytes, pack.size, ctx), YOKE_OK);
  yoke_unpack_doubles(&in, 2, x);
  assert_true(x[0] == 0 && x[1] == 0);
  assert_int_equal(yoke_unpack_int32(&in), 0);
  assert_string_equal(yoke_unpack_text(&in), "");
  assert_null(yoke_unpack_block(&in, 0));
  assert_int_equal(yoke_unpack_end(&in, ctx), YOKE_E_IO);
  assert_non_null(strstr(yoke_context_message(ctx, 0), "a count is not the one expected"));
  yoke_pack_free(&pack);
  yoke_context_destroy(&ctx);
}

static void a_count_that_no_memory_holds_is_a_failure_of_memory(void **state) {
  (void)state;
  yoke_pack pack = {0};
  yoke_pack_begin(&pack);
  yoke_pack_doubles(&pack, SIZE_MAX / 4, reals);
  yoke_pack_int32(&pack, 1);
  assert_int_equal(yoke_pack_end(&pack, NULL), YOKE_E_MEMORY);
  yoke_pack_free(&pack);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_was_packed_is_read_with_every_bit),
      cmocka_unit_test(packs_have_the_same_bytes_whatever_their_memory_held),
      cmocka_unit_test(a_pack_that_is_cut_off_anywhere_is_refused),
      cmocka_unit_test(a_single_wrong_bit_is_seen_wherever_it_is),
      cmocka_unit_test(wrong_bytes_behind_a_right_checksum_are_never_read_beyond_the_end),
      cmocka_unit_test(behind_the_first_failure_everything_reads_as_nothing_and_the_message_names_the_place),
      cmocka_unit_test(a_count_that_no_memory_holds_is_a_failure_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
