/* The program as a user meets it: exit codes, what goes to stdout and stderr, files.
 * Runs the program named by YOKE_PROGRAM (default build/yoke) on examples/pendulum.yaml. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "program.h"
#include <yoke/yoke.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MODEL "examples/pendulum.yaml"

/* Name and value at the end of the first quantity of a short run. */
static double first_quantity(fixture *f, char name[100]) {
  char path[128];
  assert_int_equal(yoke(f, "run " MODEL " --t-end 0.1 --quiet --csv @/first.csv"), 0);
  char *text  = read_text(in_folder(f, "first.csv", path));
  char *comma = strchr(text, ',');
  assert_non_null(comma);
  const size_t length = strcspn(comma + 1, ",\n");
  snprintf(name, 100, "%.*s", (int)length, comma + 1);
  text[strlen(text) - 1] = '\0'; /* the newline at the end */
  const char  *last      = strrchr(text, '\n');
  const double value     = strtod(strchr(last, ',') + 1, NULL);
  free(text);
  return value;
}

/* ---- usage ---- */

static void version_and_help_exit_with_0(void **state) {
  static const char *const calls[] = {"--version",    "help",         "--help",       "help run",
                                      "help solvers", "run --help",   "check --help", "help exit-codes",
                                      "help help",    "help outputs", "help schemes", "help formulations",
                                      "split --help"};
  fixture                 *f       = *state;
  for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
    assert_int_equal(yoke(f, calls[i]), 0);
    assert_true(strlen(f->out) > 0);
    assert_string_equal(f->err, "");
  }
}

static void usage_errors_exit_with_2_and_say_what_is_wrong(void **state) {
  static const struct {
    const char *call, *says;
  } cases[] = {
      {"", ""},
      {"rum " MODEL, "did you mean 'run'"},
      {"run", "no model file"},
      {"run a.yaml b.yaml", "b.yaml"},
      {"run " MODEL " --t-ende 3", "did you mean '--t-end'"},
      {"run " MODEL " --quiet=1", "takes no value"},
      {"run " MODEL " --t-end", "needs a value"},
      {"run " MODEL " --rtol abc", "abc"},
      {"run " MODEL " --rtol -1", "-1"},
      {"run " MODEL " --atol nan", "nan"},
      {"run " MODEL " --threads 0", "'0'"},
      {"run " MODEL " --solver radua5", "radau5"},
      {"run " MODEL " --print ''", "empty name"},
      {"run " MODEL " --print a,,b", "empty name"},
      {"run " MODEL " --print no.such", "no.such"},
      {"check", "no model file"},
      {"info", "one model or result"},
      {"compare a.csv", "two results"},
      {"compare a.csv b.csv --tol x", "'x'"},
      {"new a b", "one name"},
      {"help runn", "did you mean 'run'"},
  };
  fixture *f = *state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const int code = yoke(f, cases[i].call);
    if (code != 2) print_error("yoke %s: exit code %d\n%s\n", cases[i].call, code, f->err);
    assert_int_equal(code, 2);
    assert_says(f->err, cases[i].says);
  }
}

/* ---- run ---- */

static void run_prints_a_summary_and_says_that_nothing_is_written(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run " MODEL " --t-end 0.1"), 0);
  assert_says(f->out, "steps");
  assert_says(f->out, "energy");
  assert_says(f->out, "not written");
  assert_string_equal(f->err, "");
}

static void quiet_run_prints_nothing(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run " MODEL " --t-end 0.1 --quiet"), 0);
  assert_string_equal(f->out, "");
  assert_string_equal(f->err, "");
}

static void print_writes_name_and_value_with_all_digits_and_nothing_else(void **state) {
  fixture     *f = *state;
  char         name[100], call[300], expected[200], text[YOKE_NUMBER_SIZE];
  const double value = first_quantity(f, name);
  yoke_number_text(value, text);
  snprintf(expected, sizeof expected, "%s %s\n", name, text);
  snprintf(call, sizeof call, "run " MODEL " --t-end=0.1 --print '%s'", name);
  assert_int_equal(yoke(f, call), 0);
  assert_string_equal(f->out, expected);
  assert_says(f->err, "steps");
}

static void json_is_one_object_with_the_summary(void **state) {
  static const char *const keys[] = {"status",    "exit_code",      "model",          "solver",
                                     "t_end",     "steps",          "rejected_steps", "evaluations",
                                     "jacobians", "factorizations", "energy_drift",   "constraint_residual",
                                     "wall_time", "values"};
  fixture                 *f      = *state;
  char                     name[100], call[300], key[120];
  first_quantity(f, name);
  snprintf(call, sizeof call, "run " MODEL " --t-end 0.1 --json --print '%s'", name);
  assert_int_equal(yoke(f, call), 0);
  assert_true(f->out[0] == '{');
  int depth = 0, n_objects = 0;
  for (const char *c = f->out; *c; ++c) {
    depth += (*c == '{') - (*c == '}');
    n_objects += *c == '}' && depth == 0;
  }
  assert_int_equal(n_objects, 1);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
    snprintf(key, sizeof key, "\"%s\": ", keys[i]);
    assert_says(f->out, key);
  }
  snprintf(key, sizeof key, "\"%s\": ", name);
  assert_says(f->out, key);
  assert_says(f->out, "\"exit_code\": 0");
}

static void failed_run_with_json_lists_its_messages(void **state) {
  fixture *f = *state;
  char     path[128];
  write_text(in_folder(f, "bad.yaml", path), "yoke: 1\nbodis: {}\n");
  assert_int_equal(yoke(f, "run @/bad.yaml --json"), 3);
  assert_says(f->out, "\"status\": \"failed\"");
  assert_says(f->out, "\"exit_code\": 3");
  assert_says(f->out, "\"messages\": [\n");
  assert_says(f->out, "bodis");
}

/* Its kinetic energy is beyond the largest number, position and velocity are not. */
static void write_fast_mass(const fixture *f) {
  char path[128];
  write_text(in_folder(f, "fast.yaml", path),
             "yoke: 1\nname: fast\nt_end: 1\nbodies:\n  a: {kind: mass1d, mass: 1, v: 1e200}\n");
}

static void f45_value_that_is_not_finite_at_the_start_exits_with_5(void **state) {
  fixture *f = *state;
  write_fast_mass(f);
  assert_int_equal(yoke(f, "run @/fast.yaml --print total.energy"), 5);
  assert_says(f->err, "'total.energy' is not finite at t = 0 s");
  assert_int_equal(yoke(f, "run @/fast.yaml --print total.energy,a.y"), 2);
}

static void f45_drift_of_an_energy_that_is_not_finite_is_unknown(void **state) {
  fixture *f = *state;
  write_fast_mass(f);
  assert_int_equal(yoke(f, "run @/fast.yaml --set output.select=a.x"), 0);
  assert_says(f->out, "drift unknown");
  assert_int_equal(yoke(f, "run @/fast.yaml --set output.select=a.x --json"), 0);
  assert_says(f->out, "\"energy_drift\": null");
}

static void options_override_keys_like_set_does(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run " MODEL " -q --t-end 0.1 --solver radau5 --rtol 1e-7 --csv @/a.csv"), 0);
  assert_int_equal(yoke(f, "run " MODEL
                           " -q --set t_end=0.1 --set solvers.default.kind=radau5 --set solvers.default.rtol=1e-7 "
                           "--csv=@/b.csv"),
                   0);
  assert_int_equal(yoke(f, "compare @/a.csv @/b.csv --exact"), 0);
}

static void same_run_gives_the_same_bits(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run " MODEL " -q --t-end 0.2 -o @/a.csv"), 0);
  assert_int_equal(yoke(f, "run " MODEL " -q --t-end 0.2 -o @/b.csv --threads 1"), 0);
  assert_int_equal(yoke(f, "compare @/a.csv @/b.csv --exact"), 0);
}

/* ---- files ---- */

static void missing_model_exits_with_7(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run @/none.yaml"), 7);
  assert_says(f->err, "none.yaml");
  assert_int_equal(yoke(f, "check @/none.yaml"), 7);
}

/* Whatever stands in the file, the program ends with an exit code and a message that names the file. */
static void assert_refused(fixture *f, const char *name, int code, const char *says) {
  char call[200];
  snprintf(call, sizeof call, "run @/%s", name);
  const int found = yoke(f, call);
  if (found != code) print_error("%s: exit code %d\n%s\n", name, found, f->err);
  assert_int_equal(found, code);
  assert_says(f->err, name);
  assert_says(f->err, says);
}

static void files_that_are_no_model_are_refused(void **state) {
  static const struct {
    const char *name, *text, *says;
  } cases[] = {
      {"empty.yaml", "", "empty file"},
      {"scalar.yaml", "hello\n", "'yoke: 1'"},
      {"list.yaml", "- 1\n- 2\n", "'yoke: 1'"},
      {"control.yaml", "yoke: 1\n\001\002\n", "no text"},
      {"two.yaml", "yoke: 1\n---\nyoke: 1\n", "second document"},
      {"nobody.yaml", "yoke: 1\nt_end: 1\n", "at least one body"},
      {"mass.yaml", "yoke: 1\nt_end: 1\nbodies: {a: {kind: mass1d, mass: -1}}\n", "greater than 0"},
      {"cycle.yaml", "yoke: 1\nt_end: 1\nparameters: {a: b, b: a}\nbodies: {m: {kind: mass1d, mass: a}}\n",
       "a -> b -> a"},
      {"self.yaml", "yoke: 1\ninclude: self.yaml\n", "found a cycle"},
      {"chain.yaml", "yoke: 1\nt_end: 1\nbodies: {m: {kind: chain, n: 2e9, mass: 1}}\n", "2000000000"},
  };
  fixture *f = *state;
  char     path[128];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    write_text(in_folder(f, cases[i].name, path), cases[i].text);
    assert_refused(f, cases[i].name, 3, cases[i].says);
  }
}

static void folder_as_a_model_exits_with_7(void **state) {
  fixture *f = *state;
  char     path[128];
  assert_int_equal(mkdir(in_folder(f, "folder.yaml", path), 0700), 0);
  assert_refused(f, "folder.yaml", 7, "directory");
}

static void files_that_a_model_names_in_vain_exit_with_7(void **state) {
  fixture *f = *state;
  char     path[128];
  write_text(in_folder(f, "include.yaml", path),
             "yoke: 1\ninclude: none.yaml\nt_end: 1\nbodies: {a: {kind: mass1d, mass: 1}}\n");
  assert_refused(f, "include.yaml", 7, ":2:10: key 'include': found 'none.yaml', expected a file that can be read");
  write_text(in_folder(f, "matrix.yaml", path),
             "yoke: 1\nt_end: 1\nbodies: {a: {kind: linear, mass: none.mtx, stiffness: [1]}}\n");
  assert_refused(f, "matrix.yaml", 7, ":3:34: key 'bodies.a.mass': found 'none.mtx', expected a file that can be read");
}

/* The superuser may read everything. */
static void unreadable_model_exits_with_7(void **state) {
  fixture *f = *state;
  char     path[128];
  if (geteuid() == 0) {
    assert_int_equal(symlink("/proc/self/mem", in_folder(f, "closed.yaml", path)), 0);
  } else {
    write_text(in_folder(f, "closed.yaml", path), "yoke: 1\n");
    assert_int_equal(chmod(path, 0), 0);
  }
  assert_refused(f, "closed.yaml", 7, "closed.yaml");
}

static void hundred_megabytes_of_junk_are_refused(void **state) {
  fixture *f = *state;
  char     path[128];
  write_text(in_folder(f, "junk.yaml", path), "yoke: 1\n");
  assert_int_equal(truncate(path, 100000000), 0);
  assert_refused(f, "junk.yaml", 3, "64 MB");
}

static void deep_nesting_and_alias_bombs_are_refused(void **state) {
  fixture *f = *state;
  char     path[128];
  FILE    *file = fopen(in_folder(f, "deep.yaml", path), "wb");
  assert_non_null(file);
  fputs("yoke: 1\nbodies: ", file);
  for (int i = 0; i < 100000; ++i) fputc('[', file);
  assert_int_equal(fclose(file), 0);
  assert_refused(f, "deep.yaml", 3, "nesting");

  file = fopen(in_folder(f, "bomb.yaml", path), "wb");
  assert_non_null(file);
  fputs("yoke: 1\na0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n", file);
  for (int i = 1; i < 20; ++i) {
    fprintf(file, "a%d: &a%d [", i, i);
    for (int k = 0; k < 10; ++k) fprintf(file, "%s*a%d", k > 0 ? ", " : "", i - 1);
    fputs("]\n", file);
  }
  assert_int_equal(fclose(file), 0);
  assert_refused(f, "bomb.yaml", 3, "aliases");
}

static void result_that_cannot_be_written_exits_with_7_and_names_the_file(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run " MODEL " --csv /dev/full"), 7);
  assert_says(f->err, "/dev/full");
  assert_int_equal(yoke(f, "run " MODEL " --t-end 0.1 --csv @/none/a.csv"), 7);
  assert_says(f->err, "none/a.csv");
  assert_int_equal(yoke(f, "run " MODEL " --t-end 0.1 >/dev/full"), 7);
}

static void model_file_is_not_overwritten_by_its_result(void **state) {
  fixture *f = *state;
  char     path[128];
  char    *text = read_text(MODEL);
  write_text(in_folder(f, "model.yaml", path), text);
  assert_int_equal(yoke(f, "run @/model.yaml -o @/./model.yaml"), 2);
  assert_int_equal(yoke(f, "run @/model.yaml --csv @/./model.yaml"), 2);
  char *after = read_text(path);
  assert_string_equal(after, text);
  free(after);
  free(text);
}

#ifdef YOKE_WITH_HDF5
static void hdf5_and_csv_hold_the_same_bits(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run " MODEL " --t-end 0.2 -o @/a.h5 --csv @/a.csv"), 0);
  assert_says(f->out, "a.h5");
  assert_int_equal(yoke(f, "compare @/a.h5 @/a.csv --exact"), 0);
  assert_int_equal(yoke(f, "info @/a.h5"), 0);
  assert_says(f->out, "status         done");
  assert_int_equal(yoke(f, "info @/a.h5 --model"), 0);
  assert_says(f->out, "bodies");
}

static void result_holds_all_that_repeats_its_run(void **state) {
  fixture *f = *state;
  assert_int_equal(
      yoke(f, "run " MODEL " -q --t-end 0.2 --set parameters.L=1.25 --rtol 1e-6 --solver dop853 -o @/a.h5"), 0);
  assert_int_equal(yoke(f, "info @/a.h5 --model >@/again.yaml"), 0);
  assert_int_equal(yoke(f, "run @/again.yaml -q -o @/b.h5"), 0);
  assert_int_equal(yoke(f, "compare @/a.h5 @/b.h5 --exact"), 0);
}
#else
static void hdf5_is_refused_by_a_build_without_it(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run " MODEL " --t-end 0.1 -o @/a.h5"), 2);
  assert_says(f->err, "HDF5");
}
#endif

/* ---- compare, check, info, new ---- */

static void compare_judges_by_the_tolerance(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run " MODEL " -q --t-end 0.2 --set output.every=0.01 --rtol 1e-5 --csv @/a.csv"), 0);
  assert_int_equal(yoke(f, "run " MODEL " -q --t-end 0.2 --set output.every=0.01 --rtol 1e-10 --csv @/b.csv"), 0);
  assert_int_equal(yoke(f, "compare @/a.csv @/b.csv --tol 0.1"), 0);
  assert_says(f->out, "NRMSE");
  assert_int_equal(yoke(f, "compare @/a.csv @/b.csv --exact"), 1);
  assert_int_equal(yoke(f, "compare @/a.csv @/b.csv --tol 0"), 1);
}

static void compare_of_runs_of_different_length_exits_with_1(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run " MODEL " -q --t-end 0.1 --csv @/a.csv"), 0);
  assert_int_equal(yoke(f, "run " MODEL " -q --t-end 0.2 --csv @/b.csv"), 0);
  assert_int_equal(yoke(f, "compare @/a.csv @/b.csv"), 1);
  assert_says(f->err, "different times");
}

static void check_reports_every_model_and_exits_with_3_if_one_is_wrong(void **state) {
  fixture *f = *state;
  char     path[128];
  write_text(in_folder(f, "bad.yaml", path), "yoke: 1\nbodis: {}\n");
  assert_int_equal(yoke(f, "check " MODEL), 0);
  assert_says(f->out, "fine");
  assert_int_equal(yoke(f, "check @/bad.yaml " MODEL), 3);
  assert_says(f->err, "bad.yaml");
  assert_says(f->out, MODEL);
}

static void info_tells_what_a_model_consists_of(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "info " MODEL), 0);
  assert_says(f->out, "freedom");
  assert_says(f->out, "constraint rows");
  assert_int_equal(yoke(f, "info " MODEL " --json"), 0);
  assert_says(f->out, "\"freedoms\": ");
}

static void new_model_runs_and_is_not_overwritten(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "new @/first"), 0);
  assert_int_equal(yoke(f, "check @/first.yaml"), 0);
  assert_int_equal(yoke(f, "new @/first"), 7);
  assert_says(f->err, "not overwritten");
}

/* ---- interruption ---- */

/* Until a file has some lines: standard streams are written in blocks of 4 KB. */
static void wait_for_lines(const char *path) {
  const struct timespec pause = {0, 5000000};
  struct stat           file  = {0};
  for (int i = 0; i < 2000 && file.st_size < 4000; ++i) {
    nanosleep(&pause, NULL);
    if (stat(path, &file) != 0) file.st_size = 0;
  }
}

static void interrupted_run_keeps_its_result_and_exits_with_8(void **state) {
  static const int numbers[] = {SIGINT, SIGTERM};
  fixture         *f         = *state;
  char             path[128], part[128], err[128];
  for (size_t i = 0; i < 2; ++i) {
    unlink(in_folder(f, "a.csv", path));
    in_folder(f, "err", err);
    const pid_t child = fork();
    if (child == 0) {
      const int file = open(err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
      dup2(file, STDERR_FILENO);
      execl(program(), program(), "run", MODEL, "--t-end", "1e6", "--set", "output.every=1", "--csv", path,
            (char *)NULL);
      _exit(127);
    }
    wait_for_lines(in_folder(f, "a.part.csv", part));
    assert_int_equal(kill(child, numbers[i]), 0);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 8);
    char *text = read_text(err);
    assert_says(text, "interrupted at t = ");
    assert_says(text, "a.csv");
    free(text);
    assert_int_equal(yoke(f, "info @/a.csv"), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(version_and_help_exit_with_0),
      TEST(usage_errors_exit_with_2_and_say_what_is_wrong),
      TEST(run_prints_a_summary_and_says_that_nothing_is_written),
      TEST(quiet_run_prints_nothing),
      TEST(print_writes_name_and_value_with_all_digits_and_nothing_else),
      TEST(json_is_one_object_with_the_summary),
      TEST(failed_run_with_json_lists_its_messages),
      TEST(f45_value_that_is_not_finite_at_the_start_exits_with_5),
      TEST(f45_drift_of_an_energy_that_is_not_finite_is_unknown),
      TEST(options_override_keys_like_set_does),
      TEST(same_run_gives_the_same_bits),
      TEST(missing_model_exits_with_7),
      TEST(files_that_are_no_model_are_refused),
      TEST(folder_as_a_model_exits_with_7),
      TEST(files_that_a_model_names_in_vain_exit_with_7),
      TEST(unreadable_model_exits_with_7),
      TEST(hundred_megabytes_of_junk_are_refused),
      TEST(deep_nesting_and_alias_bombs_are_refused),
      TEST(result_that_cannot_be_written_exits_with_7_and_names_the_file),
      TEST(model_file_is_not_overwritten_by_its_result),
#ifdef YOKE_WITH_HDF5
      TEST(hdf5_and_csv_hold_the_same_bits),
      TEST(result_holds_all_that_repeats_its_run),
#else
      TEST(hdf5_is_refused_by_a_build_without_it),
#endif
      TEST(compare_judges_by_the_tolerance),
      TEST(compare_of_runs_of_different_length_exits_with_1),
      TEST(check_reports_every_model_and_exits_with_3_if_one_is_wrong),
      TEST(info_tells_what_a_model_consists_of),
      TEST(new_model_runs_and_is_not_overwritten),
      TEST(interrupted_run_keeps_its_result_and_exits_with_8),
  };
  return cmocka_run_group_tests_name("cli", tests, NULL, NULL);
}
