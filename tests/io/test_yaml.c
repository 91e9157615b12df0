#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "io/yaml.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
  yoke_context   *ctx;
  yoke_yaml      *yaml;
  yoke_yaml_node *root;
  yoke_status     status;
} fixture;

static fixture parse_bytes(const char *text, size_t size) {
  fixture f = {0};
  assert_int_equal(yoke_context_create(&f.ctx), YOKE_OK);
  assert_int_equal(yoke_yaml_create(&f.yaml), YOKE_OK);
  f.status = yoke_yaml_read_text(f.ctx, f.yaml, "a.yaml", text, size, &f.root);
  return f;
}

static fixture parse(const char *text) {
  return parse_bytes(text, strlen(text));
}

static void release(fixture *f) {
  yoke_yaml_destroy(&f->yaml);
  yoke_context_destroy(&f->ctx);
}

/* Reading fails with YOKE_E_MODEL and a message that contains `part`. */
static void refuses(const char *text, size_t size, const char *part) {
  fixture f = parse_bytes(text, size);
  assert_int_equal(f.status, YOKE_E_MODEL);
  assert_null(f.root);
  assert_true(yoke_context_n_messages(f.ctx) >= 1);
  const char *message = yoke_context_message(f.ctx, 0);
  if (strstr(message, part) == NULL) fail_msg("'%s' is not in '%s'", part, message);
  release(&f);
}

static void every_node_knows_its_line_and_column(void **state) {
  (void)state;
  fixture f = parse("a: 1\nb:\n  - x\n  - {c: 'q'}\n");
  assert_int_equal(f.status, YOKE_OK);
  const yoke_yaml_node *list = yoke_yaml_find(f.root, "b");
  assert_int_equal(list->kind, YOKE_YAML_LIST);
  assert_int_equal(list->items[0]->line, 3);
  assert_int_equal(list->items[0]->column, 5);
  const yoke_yaml_node *c = yoke_yaml_find(list->items[1], "c");
  assert_int_equal(c->line, 4);
  assert_int_equal(c->column, 9);
  assert_true(c->quoted);
  assert_string_equal(c->file, "a.yaml");
  release(&f);
}

static void an_index_needs_no_quotes_inside_brackets(void **state) {
  (void)state;
  fixture f = parse("b: [rod[i-1].tip, rod[max(i, 2)].top, x]\nc: {a: [rod[1..50]], d: f[g[1]]}\n");
  assert_int_equal(f.status, YOKE_OK);
  const yoke_yaml_node *b = yoke_yaml_find(f.root, "b"), *c = yoke_yaml_find(f.root, "c");
  assert_int_equal(b->n, 3);
  assert_string_equal(b->items[0]->text, "rod[i-1].tip");
  assert_string_equal(b->items[1]->text, "rod[max(i, 2)].top");
  assert_string_equal(b->items[2]->text, "x");
  assert_int_equal(b->items[1]->column, 19); /* columns count the letters of the file */
  assert_string_equal(yoke_yaml_find(c, "a")->items[0]->text, "rod[1..50]");
  assert_string_equal(yoke_yaml_find(c, "d")->text, "f[g[1]]");
  release(&f);
}

static void commas_of_a_call_do_not_split_a_list(void **state) {
  (void)state;
  fixture f = parse("f: [max(0, min(a, b)), 2]\ng: [(1, 2)]\n");
  assert_int_equal(f.status, YOKE_OK);
  const yoke_yaml_node *list = yoke_yaml_find(f.root, "f");
  assert_int_equal(list->n, 2);
  assert_string_equal(list->items[0]->text, "max(0, min(a, b))");
  assert_int_equal(yoke_yaml_find(f.root, "g")->n, 2); /* no call */
  release(&f);
}

static void texts_keep_their_letters(void **state) {
  (void)state;
  fixture f = parse("a: Andrew's squeezer [x]\nb: \"f(a, b)[1]\"\nc: |\n  don't [a, b\n");
  assert_int_equal(f.status, YOKE_OK);
  assert_string_equal(yoke_yaml_find(f.root, "a")->text, "Andrew's squeezer [x]");
  assert_string_equal(yoke_yaml_find(f.root, "b")->text, "f(a, b)[1]");
  assert_string_equal(yoke_yaml_find(f.root, "c")->text, "don't [a, b\n");
  release(&f);
}

static void aliases_refer_to_the_same_node(void **state) {
  (void)state;
  fixture f = parse("a: &x {k: 1}\nb: *x\n");
  assert_int_equal(f.status, YOKE_OK);
  assert_ptr_equal(yoke_yaml_find(f.root, "a"), yoke_yaml_find(f.root, "b"));
  release(&f);
}

static void an_alias_bomb_is_refused(void **state) {
  (void)state;
  char   text[4096] = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  size_t used       = strlen(text);
  for (int k = 1; k < 12; ++k) {
    used += (size_t)snprintf(text + used, sizeof text - used,
                             "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", k, k, k - 1, k - 1,
                             k - 1, k - 1, k - 1, k - 1, k - 1, k - 1, k - 1);
  }
  refuses(text, used, "aliases that stand for more than");
}

static void an_alias_inside_its_own_anchor_is_refused(void **state) {
  (void)state;
  refuses("a: &x [1, *x]\n", 14, "alias inside its own anchor");
}

static void aliases_cannot_nest_deeper_than_the_limit(void **state) {
  (void)state;
  char   text[40000] = "a0: &a0 [x]\n";
  size_t used        = strlen(text);
  for (int k = 1; k < 300; ++k)
    used += (size_t)snprintf(text + used, sizeof text - used, "a%d: &a%d [*a%d]\n", k, k, k - 1);
  refuses(text, used, "nesting deeper than 200");
}

static void deep_nesting_is_refused(void **state) {
  (void)state;
  enum { N = 100000 };
  char *text = malloc(N + 1);
  assert_non_null(text);
  memset(text, '[', N);
  text[N] = '\0';
  refuses(text, N, "nesting deeper than 200");
  free(text);
}

static void too_large_texts_are_refused(void **state) {
  (void)state;
  const size_t n    = 65u * 1024u * 1024u;
  char        *text = calloc(n, 1);
  assert_non_null(text);
  refuses(text, n, "at most 64 MB");
  free(text);
}

static void junk_is_refused_with_its_position(void **state) {
  (void)state;
  refuses("a: 1\nb: \x01\x02\xff", 10, "a.yaml:2:4: found a byte that is no text");
  refuses("a: [1, 2", 8, "not valid YAML");
  refuses("a: 'x", 5, "not valid YAML");
  refuses("\xff\xfe\x00\xd8", 4, "a.yaml:");
}

static void duplicate_keys_are_refused(void **state) {
  (void)state;
  refuses("a: 1\nb: 2\na: 3\n", 15, "a.yaml:3:1: key 'a': found twice, first in line 1");
}

static void merge_keys_tags_and_second_documents_are_refused(void **state) {
  (void)state;
  refuses("a: &x {k: 1}\nb: {<<: *x}\n", 24, "merge keys");
  refuses("a: !python/object x\n", 20, "tag");
  refuses("a: 1\n---\nb: 2\n", 14, "second document");
  refuses("? [a, b]\n: 1\n", 13, "as a key");
}

static void an_empty_text_has_no_root(void **state) {
  (void)state;
  static const char *const texts[] = {"", "\n\n", "# only a comment\n"};
  for (int k = 0; k < 3; ++k) {
    fixture f = parse(texts[k]);
    assert_int_equal(f.status, YOKE_OK);
    assert_null(f.root);
    release(&f);
  }
}

static void a_missing_file_is_an_input_error(void **state) {
  (void)state;
  fixture         f    = parse("a: 1");
  yoke_yaml_node *root = NULL;
  assert_int_equal(yoke_yaml_read_file(f.ctx, f.yaml, "tests/io/no-such-file.yaml", &root), YOKE_E_IO);
  assert_int_equal(yoke_yaml_read_file(f.ctx, f.yaml, "tests", &root), YOKE_E_IO);
  release(&f);
}

/* Reads its own writing back to the same text. */
static void written_trees_read_back(void **state) {
  (void)state;
  fixture f = parse(
      "a: {b: [1, 'two: x', \"q\\\"\\n\\\\\", [], {}], 'c d': }\n\"e#\": rod[i-1].tip\nf: -x^2\ng: ''\nh: \"1\"\n");
  assert_int_equal(f.status, YOKE_OK);
  char *first = yoke_yaml_write(f.root);
  assert_non_null(first);
  fixture g = parse(first);
  assert_int_equal(g.status, YOKE_OK);
  char *second = yoke_yaml_write(g.root);
  assert_string_equal(first, second);
  const yoke_yaml_node *list = yoke_yaml_find(yoke_yaml_find(g.root, "a"), "b");
  assert_string_equal(list->items[2]->text, "q\"\n\\");
  assert_string_equal(yoke_yaml_find(g.root, "e#")->text, "rod[i-1].tip");
  assert_true(yoke_yaml_is_nothing(yoke_yaml_find(yoke_yaml_find(g.root, "a"), "c d")));
  assert_false(yoke_yaml_is_nothing(yoke_yaml_find(g.root, "g")));
  free(first);
  free(second);
  release(&f);
  release(&g);
}

static void a_shallow_copy_leaves_the_original_alone(void **state) {
  (void)state;
  fixture         f    = parse("a: {k: 1}\n");
  yoke_yaml_node *a    = yoke_yaml_find(f.root, "a");
  yoke_yaml_node *copy = yoke_yaml_copy_shallow(f.yaml, a);
  assert_int_equal(yoke_yaml_put(f.yaml, copy, a->keys[0], yoke_yaml_new_scalar(f.yaml, a, "2")), YOKE_OK);
  assert_int_equal(yoke_yaml_put(f.yaml, copy, yoke_yaml_new_scalar(f.yaml, a, "z"), a->items[0]), YOKE_OK);
  assert_string_equal(yoke_yaml_find(a, "k")->text, "1");
  assert_string_equal(yoke_yaml_find(copy, "k")->text, "2");
  assert_int_equal(a->n, 1);
  assert_int_equal(copy->n, 2);
  yoke_yaml_remove(copy, "k");
  assert_int_equal(copy->n, 1);
  assert_string_equal(copy->keys[0]->text, "z");
  release(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_node_knows_its_line_and_column),
      cmocka_unit_test(an_index_needs_no_quotes_inside_brackets),
      cmocka_unit_test(commas_of_a_call_do_not_split_a_list),
      cmocka_unit_test(texts_keep_their_letters),
      cmocka_unit_test(aliases_refer_to_the_same_node),
      cmocka_unit_test(an_alias_bomb_is_refused),
      cmocka_unit_test(an_alias_inside_its_own_anchor_is_refused),
      cmocka_unit_test(aliases_cannot_nest_deeper_than_the_limit),
      cmocka_unit_test(deep_nesting_is_refused),
      cmocka_unit_test(too_large_texts_are_refused),
      cmocka_unit_test(junk_is_refused_with_its_position),
      cmocka_unit_test(duplicate_keys_are_refused),
      cmocka_unit_test(merge_keys_tags_and_second_documents_are_refused),
      cmocka_unit_test(an_empty_text_has_no_root),
      cmocka_unit_test(a_missing_file_is_an_input_error),
      cmocka_unit_test(written_trees_read_back),
      cmocka_unit_test(a_shallow_copy_leaves_the_original_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
