/* Stored bits: about a hundred short runs of the program whose results may not change by a single bit unless the change is declared.
 *
 * tests/bits/stored.txt has one line per run:
 *   name | arguments of the program | hash of all values of all samples | some end values, 17 digits | size: reason; size: reason
 * The last field is the history: one entry for every declared change, its size the largest relative deviation of the end values.
 *
 *   bits_stored                              runs all and compares (ctest does this)
 *   bits_stored --declare PATTERN REASON     writes new bits, values and "size: reason" into the lines that match and differ
 *   bits_stored --record                     writes the bits of new lines, which have a name and arguments only
 *
 * PATTERN is a shell pattern of names. The bits belong to a processor with AVX2 and FMA: libm chooses its kernels by them, and
 * OpenBLAS is told to use those of Haswell on every such machine. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../cli/program.h"
#include "../sample.h"
#include "csv.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <yoke/yoke.h>

static const char list_path[] = "tests/bits/stored.txt", new_path[] = "tests/bits/stored.txt.new";

enum { MAX_RUNS = 256, N_VALUES = 3 };

typedef struct stored_run {
  char *line;                                       /* owns the fields; a remark or an empty line when name is NULL */
  char *name, *arguments, *hash, *values, *history; /* without blanks around; "" when not there */
} stored_run;

typedef struct stored_list {
  int        n;
  stored_run runs[MAX_RUNS];
} stored_list;

/* ---- the list ---- */

static char *trimmed(char *text) {
  while (*text == ' ') ++text;
  size_t n = strlen(text);
  while (n > 0 && text[n - 1] == ' ') text[--n] = '\0';
  return text;
}

static stored_list read_list(void) {
  stored_list list = {0};
  char       *text = read_text(list_path);
  for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    assert_true(list.n < MAX_RUNS);
    stored_run *run = &list.runs[list.n++];
    run->line       = strdup(line);
    assert_non_null(run->line);
    if (*line == '#') continue;
    char **const fields[] = {&run->name, &run->arguments, &run->hash, &run->values, &run->history};
    char        *rest     = run->line;
    for (size_t k = 0; k < sizeof fields / sizeof *fields; ++k) {
      char *bar = rest + strcspn(rest, "|");
      char *end = bar;
      if (*bar == '|') *bar++ = '\0';
      *fields[k] = trimmed(rest);
      rest       = bar == end ? end : bar;
    }
  }
  free(text);
  return list;
}

static void release_list(stored_list *list) {
  for (int i = 0; i < list->n; ++i) free(list->runs[i].line);
}

/* ---- one run ---- */

/* Runs the program; false: it failed, and said why. */
static bool run_stored(fixture *f, const stored_run *run, const char *more, csv_table *out) {
  char arguments[1000], path[128];
  snprintf(arguments, sizeof arguments, "%s --csv @/run.csv --quiet %s", run->arguments, more);
  const int code = yoke(f, arguments);
  if (code == 0) {
    *out = csv_parse(read_text(in_folder(f, "run.csv", path)));
    return true;
  }
  print_message("%s: exit code %d\n%s", run->name, code, f->err);
  return false;
}

static bool has_hash(const stored_run *run, const csv_table *table) {
  return strtoull(run->hash, NULL, 16) == csv_hash(table);
}

/* The largest relative deviation from the stored end values, and the column it belongs to. A column that is gone: infinite. */
static double deviation(const stored_run *run, const csv_table *table, char worst[64]) {
  double largest = 0.0;
  char  *values  = strdup(run->values);
  strcpy(worst, "none");
  for (char *at = strtok(values, ";"); at != NULL; at = strtok(NULL, ";")) {
    char *equal = strrchr(at, '=');
    assert_non_null(equal);
    *equal              = '\0';
    const char  *name   = trimmed(at);
    const int    column = csv_column(table, name);
    const double stored = strtod(equal + 1, NULL);
    const double now    = column < 0 ? (double)INFINITY : csv_end(table, column);
    const double size   = now == stored ? 0.0 : fabs(now - stored) / fmax(fabs(stored), 1e-300);
    if (size <= largest) continue;
    largest = size;
    snprintf(worst, 64, "%s", name);
  }
  free(values);
  return largest;
}

/* ---- the tests ---- */

/* The bits of other processors are not known. */
static void skip_other_processors(void) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return;
#endif
  print_message("SKIPPED: the stored bits belong to processors with AVX2 and FMA\n");
  skip();
}

static void every_run_has_the_stored_bits(void **state) {
  skip_other_processors();
  fixture    *f        = *state;
  stored_list list     = read_list();
  const int   stride   = sample_stride_sanitized();
  int         n_failed = 0, n_runs = 0;
  for (int i = 0; i < list.n; ++i) {
    const stored_run *run = &list.runs[i];
    csv_table         table;
    char              worst[64];
    if (run->name == NULL || n_runs++ % stride != 0) continue;
    if (!run_stored(f, run, "--threads 1", &table)) {
      ++n_failed;
      continue;
    }
    if (*run->hash == '\0') {
      print_message("%s: has no bits yet: bits_stored --record\n", run->name);
      ++n_failed;
    } else if (!has_hash(run, &table)) {
      const double size = deviation(run, &table, worst);
      print_message("%s: other bits; largest relative deviation of the stored end values %.2g (%s)\n", run->name, size,
                    worst);
      ++n_failed;
    }
    csv_release(&table);
  }
  release_list(&list);
  assert_true(n_runs >= 60);
  if (n_failed > 0) {
    fail_msg("%d of %d runs have other results than stored. Find out why. If the change is wanted, declare it:\n"
             "  build/bin/bits_stored --declare PATTERN \"REASON\"\n"
             "and say it in CHANGELOG.md under 'numerical results changed'.",
             n_failed, n_runs);
  }
}

/* Invariant 5: two threads, or one in random order. */
static void bits_do_not_depend_on_who_runs_the_subsystems(void **state) {
  skip_other_processors();
  static const char *const names[] = {"spring-default",  "four-bar-spatial", "rods-control", "control-contact",
                                      "chain-imp-split", "chain-load-walls", "events-joint"};
  fixture                 *f       = *state;
  stored_list              list    = read_list();
  int                      n_ran   = 0;
  for (int i = 0; i < list.n; ++i) {
    for (size_t k = 0; list.runs[i].name != NULL && k < sizeof names / sizeof *names; ++k) {
      if (strcmp(list.runs[i].name, names[k]) != 0) continue;
      csv_table threads, shuffled;
      assert_true(run_stored(f, &list.runs[i], "--threads 2", &threads));
      assert_true(run_stored(f, &list.runs[i], "--exec shuffled", &shuffled));
      if (!has_hash(&list.runs[i], &threads)) fail_msg("%s: other bits with two threads", names[k]);
      if (!has_hash(&list.runs[i], &shuffled)) fail_msg("%s: other bits in random order", names[k]);
      csv_release(&threads);
      csv_release(&shuffled);
      ++n_ran;
    }
  }
  release_list(&list);
  assert_int_equal(n_ran, sizeof names / sizeof *names);
}

/* Is `name` a word of the arguments of some run? */
static bool has_word(const stored_list *list, const char *name) {
  const size_t n = strlen(name);
  for (int i = 0; i < list->n; ++i) {
    for (const char *at = list->runs[i].arguments; at != NULL && (at = strstr(at, name)) != NULL; ++at) {
      if (at[-1] == ' ' && (at[n] == ' ' || at[n] == '\0')) return true;
    }
  }
  return false;
}

/* Does the name of a run begin with it? So do those of a formulation that models choose by what they are. */
static bool has_name(const stored_list *list, const char *name) {
  const size_t n = strlen(name);
  for (int i = 0; i < list->n; ++i) {
    if (list->runs[i].name != NULL && strncmp(list->runs[i].name, name, n) == 0 && list->runs[i].name[n] == '-')
      return true;
  }
  return false;
}

static void every_scheme_formulation_and_solver_has_a_run(void **state) {
  (void)state;
  stored_list list = read_list();
  for (int i = 0; i < yoke_n_schemes(); ++i) {
    if (!has_word(&list, yoke_scheme_name(i))) fail_msg("scheme %s has no line", yoke_scheme_name(i));
  }
  for (int i = 0; i < yoke_n_formulations(); ++i) {
    if (strcmp(yoke_formulation_name(i), "signal") == 0) continue; /* which no argument names */
    if (!has_word(&list, yoke_formulation_name(i)) && !has_name(&list, yoke_formulation_name(i)))
      fail_msg("formulation %s has no line", yoke_formulation_name(i));
  }
  for (int i = 0; i < yoke_n_solvers(); ++i) {
    if (!has_word(&list, yoke_solver_name(i))) fail_msg("solver %s has no line", yoke_solver_name(i));
  }
  release_list(&list);
}

/* ---- writing the list ---- */

/* The new line, with `entry` ("size: reason" or "") at the end of its history. A new run stores the columns at the start, in the
 * middle and at the end of those that are neither time nor nearly zero. */
static void write_line(FILE *file, const stored_run *run, const csv_table *table, const char *entry) {
  int columns[CSV_COLUMNS], n = 0;
  if (*run->values == '\0') {
    for (int k = 1; k < table->n_columns; ++k) {
      if (fabs(csv_end(table, k)) > 1e-9) columns[n++] = k;
    }
    const int choice[N_VALUES] = {0, n / 2, n - 1};
    int       chosen[N_VALUES], n_chosen = 0;
    for (int k = 0; k < N_VALUES && n > 0; ++k) {
      if (n_chosen == 0 || columns[choice[k]] != chosen[n_chosen - 1]) chosen[n_chosen++] = columns[choice[k]];
    }
    memcpy(columns, chosen, sizeof chosen);
    n = n_chosen;
  } else {
    char *values = strdup(run->values);
    for (char *at = strtok(values, ";"); at != NULL; at = strtok(NULL, ";")) {
      *strrchr(at, '=') = '\0';
      const int column  = csv_column(table, trimmed(at));
      if (column >= 0) columns[n++] = column;
    }
    free(values);
  }
  fprintf(file, "%s | %s | %016" PRIx64 " |", run->name, run->arguments, csv_hash(table));
  for (int k = 0; k < n; ++k) {
    fprintf(file, "%s %s=%.17g", k > 0 ? ";" : "", table->names[columns[k]], csv_end(table, columns[k]));
  }
  if (*run->history != '\0' || *entry != '\0') {
    fprintf(file, " | %s%s%s", run->history, *run->history != '\0' && *entry != '\0' ? "; " : "", entry);
  }
  fputc('\n', file);
}

static void write_unchanged(FILE *file, const stored_run *run) {
  if (run->name == NULL) {
    fprintf(file, "%s\n", run->line);
    return;
  }
  const char *const fields[] = {run->arguments, run->hash, run->values, run->history};
  fputs(run->name, file);
  for (size_t k = 0; k < sizeof fields / sizeof *fields; ++k) {
    if (*fields[k] != '\0') fprintf(file, " | %s", fields[k]);
  }
  fputc('\n', file);
}

/* pattern NULL: new lines only. */
static int rewrite_list(fixture *f, const char *pattern, const char *reason) {
  stored_list list = read_list();
  FILE       *file = fopen(new_path, "wb");
  int         n    = 0;
  assert_non_null(file);
  for (int i = 0; i < list.n; ++i) {
    const stored_run *run    = &list.runs[i];
    const bool        is_new = run->name != NULL && *run->hash == '\0';
    const bool        is_meant =
        run->name != NULL && (pattern == NULL ? is_new : !is_new && fnmatch(pattern, run->name, 0) == 0);
    csv_table table      = {0};
    char      entry[400] = "", worst[64];
    if (!is_meant || !run_stored(f, run, "--threads 1", &table) || (!is_new && has_hash(run, &table))) {
      write_unchanged(file, run);
    } else {
      if (!is_new) snprintf(entry, sizeof entry, "%.1g: %s", deviation(run, &table, worst), reason);
      write_line(file, run, &table, entry);
      printf("%s: %s\n", run->name, is_new ? "recorded" : entry);
      ++n;
    }
    csv_release(&table);
  }
  release_list(&list);
  const bool written = fclose(file) == 0 && rename(new_path, list_path) == 0;
  printf("%d lines of %s written\n", written ? n : 0, list_path);
  return written ? 0 : 1;
}

static int usage(void) {
  fprintf(stderr, "usage: bits_stored [--record | --declare PATTERN REASON]\n"
                  "REASON says what changed the results, in a few words without '|' and ';', such as \"F12, radau5 "
                  "integrates the power of prescribed motion\"\n");
  return 2;
}

int main(int n_arguments, char **arguments) {
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  setenv("OPENBLAS_CORETYPE", "Haswell", 1);
  setenv("OMP_WAIT_POLICY", "passive", 1); /* two threads on a busy machine */
  if (n_arguments > 1) {
    const bool record  = n_arguments == 2 && strcmp(arguments[1], "--record") == 0;
    const bool declare = n_arguments == 4 && strcmp(arguments[1], "--declare") == 0;
    if (!record && (!declare || strlen(arguments[3]) < 10 || strpbrk(arguments[3], "|;\n") != NULL)) return usage();
    void     *state = NULL;
    const int code  = set_up(&state) == 0 ? rewrite_list(state, declare ? arguments[2] : NULL, arguments[3]) : 1;
    tear_down(&state);
    return code;
  }
  const struct CMUnitTest tests[] = {
      TEST(every_run_has_the_stored_bits),
      TEST(bits_do_not_depend_on_who_runs_the_subsystems),
      TEST(every_scheme_formulation_and_solver_has_a_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
