/* The commands of docs/tutorial.md print what it shows and draw its pictures. With --record the pictures are put into docs/figures. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../cli/program.h"
#include "page.h"
#include "pictures.h"

#if defined(YOKE_WITH_HDF5) && defined(YOKE_WITH_METIS) /* it keeps results, and lets the program propose a split */
static bool record = false;

static void every_command_of_the_tutorial_does_what_it_shows(void **state) {
  assert_pictures(*state, "docs/tutorial.md", "tutorial", 4, record);
}
#endif

/* The page `text` does not hold, and the message says `part`. */
static void assert_fails(const fixture *f, const char *text, const char *part) {
  char path[128], why[PAGE_WHY];
  write_text(in_folder(f, "page.md", path), text);
  assert_false(page_holds(f, path, why));
  assert_says(why, part);
}

static void assert_holds(const fixture *f, const char *text) {
  char path[128];
  write_text(in_folder(f, "page.md", path), text);
  assert_page_holds(f, path);
}

static void a_page_that_shows_something_else_is_found(void **state) {
  assert_fails(*state, "```\n$ echo one\ntwo\n```\n", "page.md:2: $ echo one");
  assert_fails(*state, "```\n$ echo one; echo two\none\n```\n", "printed:\none\ntwo");
  assert_fails(*state, "```\n$ echo one\n```\n", "printed:\none");
  assert_fails(*state, "```\n$ echo one\none\n...\ntwo\n```\n", "$ echo one");
  assert_fails(*state, "text\n\n    $ echo one\n    on\n", "page.md:3");
  assert_fails(*state, "```yaml\nbodis: {}\n```\n", "page.md:1: yoke check of this block says:");
  assert_fails(*state, "no block\n", "shows nothing that is run");
}

static void a_command_that_fails_is_found(void **state) {
  assert_fails(*state, "```\n$ false\n```\n", "exit code 1");
  assert_fails(*state, "```\n$ false\n$ true\n```\n", "exit code 1");
  assert_fails(*state, "```\n$ false\n$ echo $?\n2\n```\n", "printed:\n1");
  assert_fails(*state, "```sh\nyoke chek first.yaml\n```\n", "exit code 2");
  assert_fails(*state, "    $ yoke new\n    ...\n    $ yoke run none.yaml\n    ...\n", "none.yaml");
}

static void a_page_that_shows_what_is_printed_holds(void **state) {
  assert_holds(*state, "```\n$ echo one   two\none two\n$ echo a; echo b; echo c\n...\nc\n```\n");
  assert_holds(*state,
               "    $ echo took 0.123 s of 2\n    took ... s of 2\n\nand\n\n    $ (exit 5)\n    $ echo $?\n    5\n");
  assert_holds(*state, "<!-- file a.txt -->\n```yaml\na: 1\n```\n<!-- append a.txt -->\n```yaml\nb: 2\n```\n```\n$ cat "
                       "a.txt\na: 1\nb: 2\n```\n");
  assert_holds(*state,
               "<!-- check with\nbodies: {a: {kind: mass1d, mass: m}}\n-->\n```yaml\nparameters: {m: 1 kg}\n```\n");
  assert_holds(*state, "<!-- not run: it fails -->\n```\n$ false\n```\n```sh\nbuild/yoke new # lists\nfalse\n```\n");
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
#if defined(YOKE_WITH_HDF5) && defined(YOKE_WITH_METIS)
    TEST(every_command_of_the_tutorial_does_what_it_shows),
#endif
    TEST(a_page_that_shows_something_else_is_found),
    TEST(a_command_that_fails_is_found),
    TEST(a_page_that_shows_what_is_printed_holds),
  };
#if defined(YOKE_WITH_HDF5) && defined(YOKE_WITH_METIS)
  record = argc == 2 && strcmp(argv[1], "--record") == 0;
#else
  (void)argc, (void)argv;
#endif
  return cmocka_run_group_tests(tests, NULL, NULL);
}
