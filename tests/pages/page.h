/* Pages of the manual: their commands run in the test's folder, in order, and print what the page shows. Include after
 * cmocka.h and "../cli/program.h".
 *
 * - A line `$ COMMAND` of an indented or fenced block is run; the lines below it, up to the next command or the end of the block,
 *   are what it prints, on both streams. There `...` stands for any text within a line, alone for any lines; blanks count as one.
 * - A command ends well, or the next one is `$ echo $?`, which shows its exit code.
 * - Of a fenced block of `sh`, lines that begin with `yoke` or `build/yoke` are run and print what they like; they end well, or
 *   with 1: results differ.
 * - `<!-- file NAME -->` writes the fenced block below it to NAME, `<!-- append NAME -->` behind what is there.
 * - A fenced block of `yaml` is a model, or a part of one, that `yoke check` takes, with what a remark `<!-- check with`, lines of YAML
 *   and `-->` above it adds.
 * - `<!-- not run: REASON -->` leaves the block below it alone, and so does `<!-- checked by TEST: ... -->`.
 * - `<!-- long: ... -->` runs the block below it only if YOKE_LONG_PAGES is set: `make verify` does.
 * test_blocks.c sees to it that every block of every page is one of these.
 *
 * The program is build/yoke there and on the path; examples, scripts and tests are those of the tree. */
#ifndef YOKE_TESTS_PAGES_PAGE_H
#define YOKE_TESTS_PAGES_PAGE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

enum { PAGE_LINES = 2000, PAGE_WHY = 8000 };

/* Lines of a text, which they divide. */
typedef struct page_lines {
  char *line[PAGE_LINES];
  int   n;
} page_lines;

static inline void page_divide(char *text, page_lines *lines) {
  lines->n = 0;
  for (char *c = text; *c != '\0' && lines->n < PAGE_LINES;) {
    lines->line[lines->n++] = c;
    c += strcspn(c, "\n");
    if (*c != '\0') *c++ = '\0';
  }
}

static inline bool page_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

/* Does a printed line look like the one that is shown? */
static inline bool page_line_matches(const char *shown, const char *printed) {
  for (;; ++shown, ++printed) {
    if (strncmp(shown, "...", 3) == 0) {
      for (;; ++printed) {
        if (page_line_matches(shown + 3, printed)) return true;
        if (*printed == '\0') return false;
      }
    }
    if (page_blank(*shown) || page_blank(*printed)) {
      const bool end = shown[strspn(shown, " \t\r")] == '\0' && printed[strspn(printed, " \t\r")] == '\0';
      if (!end && page_blank(*shown) != page_blank(*printed)) return false;
      while (page_blank(*shown)) ++shown;
      while (page_blank(*printed)) ++printed;
      return page_line_matches(shown, printed);
    }
    if (*shown != *printed) return false;
    if (*shown == '\0') return true;
  }
}

static inline bool page_lines_match(char *const *shown, int n_shown, char *const *printed, int n_printed) {
  if (n_shown == 0) return n_printed == 0;
  if (strcmp(shown[0], "...") == 0) {
    for (int i = 0; i <= n_printed; ++i) {
      if (page_lines_match(shown + 1, n_shown - 1, printed + i, n_printed - i)) return true;
    }
    return false;
  }
  return n_printed > 0 && page_line_matches(shown[0], printed[0]) &&
         page_lines_match(shown + 1, n_shown - 1, printed + 1, n_printed - 1);
}

/* The shell's $? is `before`; gives the exit code. */
static inline int page_run(const fixture *f, const char *command, int before) {
  char  path[128], line[400];
  FILE *script = fopen(in_folder(f, ".command", path), "w");
  assert_non_null(script);
  fprintf(script, "(exit %d)\n%s\n", before, command);
  assert_int_equal(fclose(script), 0);
  snprintf(line, sizeof line, "cd '%s' && PATH=\"$PWD/build:$PATH\" sh .command > .printed 2>&1 < /dev/null",
           f->folder);
  const int status = system(line);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static inline void page_link(const fixture *f, const char *target, const char *name) {
  char path[128], whole[PATH_MAX];
  assert_non_null(realpath(target, whole));
  unlink(in_folder(f, name, path));
  assert_int_equal(symlink(whole, path), 0);
}

/* Does this line show a command? */
static inline const char *page_command(const char *line, bool fenced, bool shell) {
  if (shell && (strncmp(line, "yoke ", 5) == 0 || strncmp(line, "build/yoke ", 11) == 0)) return line;
  if (!fenced && strncmp(line, "    ", 4) == 0) return strncmp(line + 4, "$ ", 2) == 0 ? line + 6 : NULL;
  return fenced && strncmp(line, "$ ", 2) == 0 ? line + 2 : NULL;
}

/* Writes the block that begins at line `i` to the file that the remark names. */
static inline void page_write(const fixture *f, const char *remark, const page_lines *page, int i) {
  char name[64], path[128];
  assert_int_equal(sscanf(remark, "<!-- %*[a-z] %63s", name), 1);
  FILE *file = fopen(in_folder(f, name, path), strncmp(remark, "<!-- append", 11) == 0 ? "a" : "w");
  assert_non_null(file);
  for (; i < page->n && strncmp(page->line[i], "```", 3) != 0; ++i) fprintf(file, "%s\n", page->line[i]);
  assert_int_equal(fclose(file), 0);
}

/* `yoke check` takes the block that begins at line `i`, with the lines of the remark at `with` (-1: none). */
static inline bool page_yaml_holds(const fixture *f, const char *name, const page_lines *page, int i, int with,
                                   char *why) {
  char      path[128];
  const int at       = i;
  bool      is_whole = false;
  for (int k = i; k < page->n && strncmp(page->line[k], "```", 3) != 0; ++k) {
    is_whole = is_whole || strncmp(page->line[k], "yoke:", 5) == 0;
  }
  FILE *file = fopen(in_folder(f, ".block.yaml", path), "w");
  assert_non_null(file);
  if (!is_whole) fputs("yoke: 1\nt_end: 1\n", file);
  for (int k = with + 1; with >= 0 && strncmp(page->line[k], "-->", 3) != 0; ++k) fprintf(file, "%s\n", page->line[k]);
  for (; i < page->n && strncmp(page->line[i], "```", 3) != 0; ++i) fprintf(file, "%s\n", page->line[i]);
  assert_int_equal(fclose(file), 0);
  if (page_run(f, "yoke check .block.yaml", 0) == 0) return true;
  char *text = read_text(in_folder(f, ".printed", path));
  snprintf(why, PAGE_WHY, "%s:%d: yoke check of this block says:\n%s", name, at, text);
  free(text);
  return false;
}

static inline bool page_remark_is(const char *remark, const char *kind) {
  return strncmp(remark, "<!-- ", 5) == 0 && strncmp(remark + 5, kind, strlen(kind)) == 0;
}

/* Is the block below this remark left alone? */
static inline bool page_is_skipped(const char *remark) {
  return page_remark_is(remark, "not run:") || page_remark_is(remark, "checked by ") ||
         (page_remark_is(remark, "long:") && getenv("YOKE_LONG_PAGES") == NULL);
}

/* Runs the command of line `at`, of which lines up to `end` show what it prints; false, and why: it does something else. `code` is
 * the exit code of the command before, and then of this one. */
static inline bool page_command_holds(const fixture *f, const char *name, const page_lines *page, int at, int end,
                                      bool fenced, bool shell, int *code, char *why) {
  const char *command = page_command(page->line[at], fenced, shell);
  char        path[128];
  page_lines  shown = {.n = 0}, printed;
  for (int i = at + 1; i < end; ++i) shown.line[shown.n++] = page->line[i] + (fenced ? 0 : 4);
  *code            = page_run(f, command, *code);
  char *text       = read_text(in_folder(f, ".printed", path));
  char *whole      = strdup(text);
  bool  is_as_said = true;
  page_divide(text, &printed);
  if (!shell) is_as_said = page_lines_match(shown.line, shown.n, printed.line, printed.n);
  const bool next_tells = end < page->n && page_command(page->line[end], fenced, false) != NULL &&
                          strstr(page->line[end], "$ echo $?") != NULL;
  if (*code != 0 && !next_tells && !(shell && *code == 1)) is_as_said = false;
  if (!is_as_said)
    snprintf(why, PAGE_WHY, "%s:%d: $ %s\nexit code %d, printed:\n%s", name, at + 1, command, *code, whole);
  free(whole);
  free(text);
  return is_as_said;
}

/* Every command of the page does what it shows; if not, `why` tells (room for PAGE_WHY). */
static inline bool page_holds(const fixture *f, const char *name, char *why) {
  char path[128];
  snprintf(path, sizeof path, "%s/build", f->folder);
  assert_true(mkdir(path, 0700) == 0 || access(path, X_OK) == 0);
  page_link(f, program(), "build/yoke");
  page_link(f, "examples", "examples");
  page_link(f, "tests", "tests");
  page_link(f, "scripts", "scripts");
  char      *text = read_text(name);
  page_lines page;
  page_divide(text, &page);
  assert_true(page.n < PAGE_LINES);
  const char *remark = "";
  bool        fenced = false, shell = false, skipped = false, holds = true;
  int         code = 0, n_commands = 0, remark_at = -1;
  for (int i = 0; i < page.n && holds; ++i) {
    const char *line = page.line[i];
    if (strncmp(line, "```", 3) == 0) {
      fenced  = !fenced;
      shell   = fenced && strcmp(line, "```sh") == 0;
      skipped = fenced && page_is_skipped(remark);
      if (skipped) ++n_commands; /* elsewhere, or in `make verify` */
      if (fenced && (page_remark_is(remark, "file ") || page_remark_is(remark, "append "))) {
        page_write(f, remark, &page, i + 1);
      } else if (fenced && !skipped && strcmp(line, "```yaml") == 0) {
        holds = page_yaml_holds(f, name, &page, i + 1, page_remark_is(remark, "check with") ? remark_at : -1, why);
        ++n_commands;
      }
      remark = "";
    } else if (!fenced && strncmp(line, "<!--", 4) == 0) {
      remark    = line;
      remark_at = i;
    } else if (!skipped && page_command(line, fenced, shell) != NULL) {
      int end = i + 1;
      if (!shell) {
        while (end < page.n && page_command(page.line[end], fenced, shell) == NULL &&
               (fenced ? strncmp(page.line[end], "```", 3) != 0 : strncmp(page.line[end], "    ", 4) == 0)) {
          ++end;
        }
      }
      holds = page_command_holds(f, name, &page, i, end, fenced, shell, &code, why);
      i     = end - 1;
      ++n_commands;
    }
  }
  free(text);
  if (holds && n_commands == 0) holds = snprintf(why, PAGE_WHY, "%s shows nothing that is run", name) < 0;
  return holds;
}

static inline void assert_page_holds(const fixture *f, const char *name) {
  char why[PAGE_WHY];
  if (page_holds(f, name, why)) return;
  fputs(why, stderr); /* cmocka cuts long messages */
  fail();
}

#endif
