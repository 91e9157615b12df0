/* Every block of code in the README and in the pages is run, or says who checks it and how (page.h). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../cli/program.h"
#include "page.h"
#include <glob.h>

enum { WHY = 400 };

static const char *const run_pages[] = {
#define PAGE(test, file) file,
#include "page_list.def"
#undef PAGE
    "docs/tutorial.md",
    "docs/gallery.md",
};

static bool is_run(const char *page) {
  for (size_t i = 0; i < sizeof run_pages / sizeof *run_pages; ++i) {
    if (strcmp(run_pages[i], page) == 0) return true;
  }
  return false;
}

/* `<!-- checked by FILE: how -->` names a file that is there, `<!-- not run: REASON -->` has a reason. */
static bool tells_who_checks(const char *remark) {
  char file[200];
  if (page_remark_is(remark, "not run: ")) return strlen(remark) > strlen("<!-- not run:  -->");
  return sscanf(remark, "<!-- checked by %199[^: ]:", file) == 1 && access(file, R_OK) == 0;
}

/* Of a block of commands, is every line one of the program? Lines behind a backslash go on. */
static bool is_all_yoke(const page_lines *page, int from, int to) {
  bool goes_on = false;
  for (int i = from; i < to; ++i) {
    const char  *line = page->line[i];
    const size_t n    = strlen(line);
    if (!goes_on && n > 0 && line[0] != '#' && page_command(line, true, true) == NULL) return false;
    goes_on = n > 0 && line[n - 1] == '\\';
    if (goes_on) return false; /* lines are run one by one */
  }
  return true;
}

static bool has_command(const page_lines *page, int from, int to) {
  for (int i = from; i < to; ++i) {
    if (page_command(page->line[i], true, false) != NULL) return true;
  }
  return false;
}

/* Is the block of lines from .. to - 1, in language `word`, checked? */
static bool is_checked(const char *name, const page_lines *page, const char *remark, const char *word, int from,
                       int to) {
  if (strcmp(word, "text") == 0 || tells_who_checks(remark)) return true;
  if (!is_run(name)) return false;
  if (strcmp(word, "yaml") == 0) return true;
  if (strcmp(word, "sh") == 0) return is_all_yoke(page, from, to);
  return *word == '\0' && has_command(page, from, to);
}

/* Number of blocks; 0, and why: one of them is not checked. */
static int count_checked(const char *name, char why[WHY]) {
  char       *text = read_text(name);
  page_lines  page;
  const char *remark = "";
  int         n      = 0;
  why[0]             = '\0';
  page_divide(text, &page);
  assert_true(page.n < PAGE_LINES);
  for (int i = 0; i < page.n && why[0] == '\0'; ++i) {
    if (strncmp(page.line[i], "<!--", 4) == 0) remark = page.line[i];
    if (strncmp(page.line[i], "```", 3) != 0) continue;
    int end = i + 1;
    while (end < page.n && strncmp(page.line[end], "```", 3) != 0) ++end;
    if (!is_checked(name, &page, remark, page.line[i] + 3, i + 1, end))
      snprintf(why, WHY, "%s:%d: nobody checks this block: it begins '%s'", name, i + 1, page.line[i + 1]);
    remark = "";
    i      = end;
    ++n;
  }
  free(text);
  return why[0] == '\0' ? n : 0;
}

static void every_block_of_every_page_is_checked(void **state) {
  (void)state;
  glob_t found = {0};
  char   why[WHY];
  int    n = 0;
  assert_int_equal(glob("*.md", 0, NULL, &found), 0);
  assert_int_equal(glob("docs/*.md", GLOB_APPEND, NULL, &found), 0);
  assert_int_equal(glob("docs/methods/*.md", GLOB_APPEND, NULL, &found), 0);
  for (size_t i = 0; i < found.gl_pathc; ++i) {
    n += count_checked(found.gl_pathv[i], why);
    if (why[0] != '\0') fail_msg("%s", why);
  }
  globfree(&found);
  assert_true(n > 50);
}

static void assert_unchecked(const fixture *f, const char *text, const char *part) {
  char path[128], why[WHY];
  write_text(in_folder(f, "page.md", path), text);
  count_checked(path, why);
  assert_says(why, part);
}

static void a_block_that_nobody_checks_is_found(void **state) {
  const fixture *f = *state;
  assert_unchecked(f, "```sh\nyoke new first\n```\n", "page.md:1: nobody checks"); /* no test runs that page */
  assert_unchecked(f, "text\n<!-- checked by tests/none.c: -->\n```c\nint a;\n```\n", "page.md:3: nobody checks");
  assert_unchecked(f, "<!-- not run: -->\n```c\nint a;\n```\n", "page.md:2");
  assert_unchecked(f, "<!-- checked by README.md: so -->\n```c\nint a;\n```\n```c\nint b;\n```\n", "page.md:5");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(every_block_of_every_page_is_checked),
      TEST(a_block_that_nobody_checks_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
