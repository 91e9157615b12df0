/* Files and signals: no command destroys what it was not told to write, an earlier result is replaced by a better one or not at
 * all, and a write that fails is reported. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "program.h"
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

static const char base_text[] = "bodies:\n  a: {kind: mass1d, mass: 1, x: 0.1}\n  b: {kind: mass1d, mass: 2}\n";
static const char model_text[] =
    "yoke: 1\nname: pair\ninclude: base.yaml\nt_end: 0.1\n"
    "connections:\n  s: {kind: spring-damper, between: [a, b], stiffness: 100, damping: 1}\n"
    "  w: {kind: spring-damper, between: [ground, a], stiffness: 50, damping: 1}\n"
    "split: {p: [a], q: [b]}\ncosimulation: {step: 1e-2, scheme: implicit, order: 1}\noutput: {every: 0.01}\n";

/* m.yaml, which includes base.yaml. */
static int set_up_models(void **state) {
  char path[128];
  set_up(state);
  write_text(in_folder(*state, "m.yaml", path), model_text);
  write_text(in_folder(*state, "base.yaml", path), base_text);
  return 0;
}

#define TEST_MODELS(name) cmocka_unit_test_setup_teardown(name, set_up_models, tear_down)

static void assert_text(const fixture *f, const char *name, const char *text) {
  char  path[128];
  char *is = read_text(in_folder(f, name, path));
  assert_string_equal(is, text);
  free(is);
}

static bool exists(const fixture *f, const char *name) {
  char path[128];
  return access(in_folder(f, name, path), F_OK) == 0;
}

/* A command of the shell in the test's folder; $Y is the program. Gives its exit code. */
static int shell(fixture *f, const char *command) {
  char all[2000], *own = realpath(program(), NULL), path[128];
  assert_non_null(own);
  snprintf(all, sizeof all, "cd '%s' && Y='%s' && { %s; }", f->folder, own, command);
  free(own);
  const int status = system(all);
  free(f->err);
  f->err = exists(f, "err") ? read_text(in_folder(f, "err", path)) : NULL;
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

/* ---- what is read is not written (F40) ---- */

/* Commands that write FILE. */
static const char *const writers[] = {
    "run m.yaml -o FILE",
    "run m.yaml --csv FILE",
    "run m.yaml --trace=FILE",
    "compare m.yaml --trace=FILE",
    "converge m.yaml --steps 1e-2,5e-3 --csv FILE",
    "converge m.yaml --steps 1e-2,5e-3 --svg FILE",
    "stability m.yaml --x step:1e-3:1e-2:3 -o FILE",
    "stability m.yaml --x step:1e-3:1e-2:3 --csv FILE",
    "stability m.yaml --x step:1e-3:1e-2:3 --svg FILE",
    "info m.yaml --linearize FILE",
#ifdef YOKE_WITH_METIS
    "split m.yaml -n 2 -o FILE",
#endif
};
enum { N_WRITERS = sizeof writers / sizeof *writers };

/* The command with FILE replaced. */
static int write_to(fixture *f, const char *writer, const char *file) {
  char         command[400];
  const char  *at = strstr(writer, "FILE");
  const size_t n  = (size_t)(at - writer);
  snprintf(command, sizeof command, "\"$Y\" %.*s%s%s >out 2>err", (int)n, writer, file, at + 4);
  return shell(f, command);
}

static void assert_never_an_output(fixture *f, const char *name, const char *says) {
  for (int i = 0; i < N_WRITERS; ++i) {
    if (write_to(f, writers[i], name) != 2) fail_msg("%s to %s: %s", writers[i], name, f->err);
    assert_says(f->err, says);
    assert_text(f, "m.yaml", model_text);
    assert_text(f, "base.yaml", base_text);
  }
}

static void f40_model_file_is_never_an_output(void **state) {
  fixture *f = *state;
  assert_never_an_output(f, "./m.yaml", "the model file 'm.yaml'");
}

static void f40_included_file_is_never_an_output(void **state) {
  fixture *f = *state;
  assert_never_an_output(f, "base.yaml", "a file that the model includes, 'base.yaml'");
}

static void f40_links_to_the_model_file_are_never_an_output(void **state) {
  fixture *f = *state;
  assert_int_equal(shell(f, "ln m.yaml hard && ln -s m.yaml soft"), 0);
  for (int i = 0; i < N_WRITERS; i += 2) {
    assert_int_equal(write_to(f, writers[i], "hard"), 2);
    assert_int_equal(write_to(f, writers[i], "soft"), 2);
  }
  assert_text(f, "m.yaml", model_text);
}

static void f40_model_names_its_own_file_as_result(void **state) {
  fixture *f = *state;
  assert_int_equal(shell(f, "\"$Y\" run m.yaml --set output.file=m.yaml 2>err"), 2);
  assert_int_equal(shell(f, "\"$Y\" run m.yaml --set output.csv=base.yaml 2>err"), 2);
  assert_text(f, "m.yaml", model_text);
  assert_text(f, "base.yaml", base_text);
}

static void f40_two_outputs_are_two_files(void **state) {
  static const char *const commands[] = {
      "run m.yaml -o same.csv --csv ./same.csv",
      "run m.yaml --csv same.csv --trace=same.csv",
      "run m.yaml --csv same.csv --set output.file=same.csv",
      "converge m.yaml --steps 1e-2 --csv same.csv --svg ./same.csv",
      "stability m.yaml --x step:1e-3:1e-2:3 --csv same.csv --svg ./same.csv",
      "stability two-mass --x re:-2:0:3 --csv same.csv --svg ./same.csv",
  };
  fixture *f = *state;
  for (int there = 0; there < 2; ++there) {
    for (size_t i = 0; i < sizeof commands / sizeof *commands; ++i) {
      char command[300];
      snprintf(command, sizeof command, "\"$Y\" %s 2>err", commands[i]);
      if (shell(f, command) != 2) fail_msg("%s: %s", commands[i], f->err);
      assert_says(f->err, "one file");
      if (there) assert_text(f, "same.csv", "earlier");
      assert_int_equal(exists(f, "same.csv"), there);
    }
    char path[128];
    write_text(in_folder(f, "same.csv", path), "earlier");
  }
  assert_int_equal(shell(f, "\"$Y\" run m.yaml -q --csv /dev/null --trace=/dev/null 2>err"), 0);
}

/* ---- an earlier result (F41) ---- */

static void assert_no_debris(fixture *f) {
  assert_int_equal(shell(f, "! ls | grep part"), 0);
}

static void f41_every_writer_leaves_nothing_but_its_file(void **state) {
  fixture *f = *state;
  for (int i = 0; i < N_WRITERS; ++i) {
    char path[128];
    write_text(in_folder(f, "file.csv", path), "earlier");
    if (write_to(f, writers[i], "file.csv") > 1) fail_msg("%s: %s", writers[i], f->err);
    char *text = read_text(path);
    assert_string_not_equal(text, "earlier");
    free(text);
    assert_no_debris(f);
  }
}

static void f41_run_that_fails_at_once_leaves_the_earlier_result(void **state) {
  /* a mistake, an unknown output, a start that cannot be found, a first step that fails */
  static const char *const sets[] = {
      "--set t_end=x", "--print nix", "--set bodies.a.mass=0",
      "--set 'cosimulation.corrector={atol: 1e-300, rtol: 1e-300}' --set bodies.a.v=1e200"};
  fixture *f = *state;
  char     path[128], command[400];
  for (size_t i = 0; i < sizeof sets / sizeof *sets; ++i) {
    write_text(in_folder(f, "a.h5", path), "earlier");
    write_text(in_folder(f, "a.csv", path), "earlier");
    snprintf(command, sizeof command, "\"$Y\" run m.yaml %s -o a.%s --csv a.csv --json >out 2>err", sets[i], "h5");
    assert_true(shell(f, command) > 1);
    assert_text(f, "a.h5", "earlier");
    assert_text(f, "a.csv", "earlier");
    assert_no_debris(f);
    char *json = read_text(in_folder(f, "out", path));
    assert_says(json, "\"csv\": null");
    free(json);
  }
}

static void f41_study_without_a_good_row_leaves_the_earlier_table(void **state) {
  fixture *f = *state;
  char     path[128];
  write_text(in_folder(f, "a.csv", path), "earlier");
  assert_int_not_equal(shell(f, "\"$Y\" converge m.yaml --steps 1e-2 --set bodies.a.v=1e200 --csv a.csv >out 2>err"),
                       0);
  assert_text(f, "a.csv", "earlier");
  assert_no_debris(f);
}

static void f41_run_that_fails_later_keeps_what_it_has(void **state) {
  fixture *f = *state;
  char     path[128];
  write_text(in_folder(f, "a.csv", path), "earlier");
  write_text(in_folder(f, "late.yaml", path),
             "yoke: 1\nname: late\nt_end: 1\nbodies:\n  a: {kind: mass1d, mass: 1}\nloads:\n"
             "  f: {kind: expression, on: a, force: 1/(0.5 - t)^3}\noutput: {every: 0.01}\n");
  assert_true(shell(f, "\"$Y\" run late.yaml --csv a.csv 2>err") >= 4);
  assert_says(f->err, "are kept in 'a.csv'");
  assert_int_equal(yoke(f, "info @/a.csv"), 0);
  assert_no_debris(f);
}

/* A run without end that writes `name`, up to where its file can be read under `beside`. */
static pid_t start_run(fixture *f, const char *name, const char *beside) {
  char        model[128], result[128], command[200];
  const pid_t child = fork();
  if (child == 0) {
    const int null = open("/dev/null", O_WRONLY);
    dup2(null, STDERR_FILENO);
    execl(program(), program(), "run", in_folder(f, "m.yaml", model), "--t-end", "1e6", "-o",
          in_folder(f, name, result), (char *)NULL);
    _exit(127);
  }
  const struct timespec pause = {0, 20000000};
  snprintf(command, sizeof command, "info @/%s", beside);
  for (int i = 0; i < 500 && yoke(f, command) != 0; ++i) nanosleep(&pause, NULL);
  return child;
}

static void f41_killed_run_leaves_the_earlier_result_and_a_readable_part(void **state) {
  static const char *const names[][2] = {
      {"a.csv", "a.part.csv"},
#ifdef YOKE_WITH_HDF5
      {"a.h5", "a.part.h5"},
#endif
  };
  fixture *f = *state;
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    char path[128], command[200];
    write_text(in_folder(f, names[i][0], path), "earlier");
    const pid_t child = start_run(f, names[i][0], names[i][1]);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_text(f, names[i][0], "earlier");
    snprintf(command, sizeof command, "info @/%s", names[i][1]);
    assert_int_equal(yoke(f, command), 0);
    assert_says(f->out, "a.x");
  }
}

static void f41_interrupted_run_replaces_the_earlier_result(void **state) {
  fixture *f = *state;
  char     path[128];
  write_text(in_folder(f, "a.csv", path), "earlier");
  const pid_t child = start_run(f, "a.csv", "a.part.csv");
  assert_int_equal(kill(child, SIGTERM), 0);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 8);
  assert_int_equal(yoke(f, "info @/a.csv"), 0);
  assert_false(exists(f, "a.part.csv"));
}

/* ---- writes that fail (F42) ---- */

static void f42_file_that_is_too_large_exits_with_7_and_a_message(void **state) {
  fixture *f = *state;
  assert_int_equal(shell(f, "(ulimit -f 16; \"$Y\" run m.yaml --t-end 20 --csv a.csv 2>err)"), 7);
  assert_says(f->err, "cannot write 'a.csv': File too large");
  assert_says(f->err, "what had been written before is kept in 'a.csv'");
  assert_int_equal(yoke(f, "info @/a.csv"), 0);
}

/* The thread sanitizer writes a file of its own before the program begins, and would be killed. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define IS_THREAD_SANITIZER
#endif
#endif
#ifndef IS_THREAD_SANITIZER
static void f42_file_that_is_too_large_at_once_leaves_the_earlier_one(void **state) {
  fixture *f = *state;
  char     path[128];
  write_text(in_folder(f, "a.csv", path), "earlier");
  assert_int_equal(shell(f, "(ulimit -f 0; \"$Y\" run m.yaml -q --csv a.csv 2>/dev/full)"), 7);
  assert_text(f, "a.csv", "earlier");
  assert_no_debris(f);
}
#endif

#ifdef YOKE_WITH_HDF5
static void f42_hdf5_that_is_too_large_says_failed(void **state) {
  fixture *f = *state;
  assert_int_equal(shell(f, "(ulimit -f 2000; \"$Y\" run m.yaml --t-end 200 -o a.h5 2>err)"), 7);
  assert_says(f->err, "File too large");
  assert_int_equal(yoke(f, "info @/a.h5"), 0);
  assert_says(f->out, "failed: File too large");
}

static void f42_pipe_without_a_reader_leaves_a_result_that_says_failed(void **state) {
  fixture *f = *state;
  assert_int_equal(
      shell(f, "mkfifo pipe; { head -c 1 pipe >/dev/null & }; \"$Y\" run m.yaml --t-end 50 -o a.h5 --csv pipe 2>err"),
      7);
  assert_says(f->err, "cannot write 'pipe': Broken pipe");
  assert_int_equal(yoke(f, "info @/a.h5"), 0);
  assert_says(f->out, "failed: input or output failed");
}
#endif

static void f42_standard_output_without_a_reader_exits_with_7(void **state) {
  fixture *f = *state;
  assert_int_equal(shell(f, "mkfifo pipe; { : <pipe & }; exec 3>pipe; wait; \"$Y\" run m.yaml >&3 2>err"), 7);
  assert_says(f->err, "cannot write the standard output: Broken pipe");
}

static void f42_trace_without_a_reader_ends_the_run(void **state) {
  fixture *f = *state;
  assert_int_equal(
      shell(f, "mkfifo pipe; { : <pipe & }; exec 3>pipe; wait; \"$Y\" run m.yaml --t-end 1e6 --trace 2>&3"), 7);
}

/* ---- descriptors that are closed (F14) ---- */

static void f14_results_do_not_take_closed_descriptors(void **state) {
  fixture *f = *state;
  assert_int_equal(shell(f, "\"$Y\" run m.yaml -q --csv a.csv --trace=a.txt 2>err"), 0);
  assert_int_equal(shell(f, "\"$Y\" run m.yaml -q --csv b.csv --trace 2>&-"), 7); /* the trace is lost */
  assert_int_equal(shell(f, "\"$Y\" run m.yaml -q --csv c.csv --trace=c.txt <&- >&- 2>&-"), 0);
  assert_int_equal(shell(f, "\"$Y\" run m.yaml --csv d.csv >&- 2>err"), 7); /* the summary is lost */
  assert_says(f->err, "standard output");
  assert_int_equal(shell(f, "cmp a.csv c.csv && cmp a.csv d.csv && cmp a.txt c.txt && ! grep -v '^[-0-9t]' b.csv"), 0);
#ifdef YOKE_WITH_HDF5
  assert_int_equal(shell(f, "\"$Y\" run m.yaml -q -o e.h5 2>&- && \"$Y\" compare --exact e.h5 a.csv >out"), 0);
  assert_int_equal(shell(f, "\"$Y\" run m.yaml -q -o e.h5 >&- && \"$Y\" compare --exact e.h5 a.csv >out"), 0);
#endif
}

/* Seen from outside while the program waits for its model: also what other libraries open stays clear of them. */
static void f14_program_opens_its_standard_descriptors(void **state) {
  fixture *f = *state;
  char     path[128], name[64], link[8];
  assert_int_equal(mkfifo(in_folder(f, "pipe", path), 0600), 0);
  const pid_t child = fork();
  if (child == 0) {
    for (int fd = 0; fd < 3; ++fd) close(fd);
    execl(program(), program(), "run", path, (char *)NULL);
    _exit(127);
  }
  const struct timespec pause    = {0, 10000000};
  int                   n_opened = 0;
  for (int i = 0; i < 1000 && n_opened < 3; ++i) {
    nanosleep(&pause, NULL);
    n_opened = 0;
    for (int fd = 0; fd < 3; ++fd) {
      snprintf(name, sizeof name, "/proc/%d/fd/%d", (int)child, fd);
      n_opened += readlink(name, link, sizeof link) > 0;
    }
  }
  assert_int_equal(kill(child, SIGKILL), 0);
  assert_int_equal(waitpid(child, NULL, 0), child);
  assert_int_equal(n_opened, 3);
}

/* ---- files that a model names (F44) ---- */

static void f44_model_names_files_below_the_folder_of_the_run_only(void **state) {
  static const char *const bad[] = {"/tmp/yoke-f44.csv", "../f44.csv", "in/../../f44.csv", "out/f44.csv", "loose.csv"};
  fixture                 *f     = *state;
  char                     command[300];
  assert_int_equal(shell(f, "mkdir in && ln -s /tmp out && ln -s /tmp/yoke-f44.csv loose.csv"), 0);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    for (int k = 0; k < 2; ++k) {
      snprintf(command, sizeof command, "\"$Y\" run m.yaml --set output.%s=%s 2>err", k == 0 ? "file" : "csv", bad[i]);
      assert_int_equal(shell(f, command), 3);
      assert_says(f->err, bad[i]);
      assert_says(f->err, k == 0 ? "-o FILE on the command line" : "--csv FILE on the command line");
    }
  }
  assert_int_equal(shell(f, "\"$Y\" run m.yaml -q --set output.file=in/a.csv && test -s in/a.csv"), 0);
  assert_int_equal(shell(f, "\"$Y\" run m.yaml -q --set output.file=./..a.csv && test -s ..a.csv"), 0);
  assert_int_equal(
      shell(f, "cd in && \"$Y\" run ../m.yaml -q --set output.file=../x.csv -o ../b.csv && test -s ../b.csv"), 0);
}

/* ---- a model that never comes (F24) ---- */

static void f24_run_that_waits_for_its_model_ends_with_the_first_signal(void **state) {
  fixture *f = *state;
  char     path[128], err[128];
  assert_int_equal(mkfifo(in_folder(f, "pipe", path), 0600), 0);
  in_folder(f, "err", err);
  const pid_t child = fork();
  if (child == 0) {
    const int file = open(err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file, STDERR_FILENO);
    execl(program(), program(), "run", path, (char *)NULL);
    _exit(127);
  }
  const struct timespec pause = {0, 300000000};
  nanosleep(&pause, NULL);
  assert_int_equal(kill(child, SIGTERM), 0);
  int status = 0, n = 0;
  while (waitpid(child, &status, WNOHANG) == 0 && n++ < 30) nanosleep(&pause, NULL);
  if (n > 30) kill(child, SIGKILL);
  assert_true(n <= 30 && WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 8);
}

static void f24_model_may_come_out_of_a_pipe(void **state) {
  fixture *f = *state;
  char     path[128];
  write_text(in_folder(f, "one.yaml", path),
             "yoke: 1\nname: one\nt_end: 1\nbodies: {a: {kind: mass1d, mass: 1, v: 1}}\n");
  assert_int_equal(shell(f, "mkfifo pipe; { sleep 0.1; cat m.yaml >pipe & }; \"$Y\" run pipe -q 2>err"), 0);
  assert_int_equal(shell(f, "cat one.yaml | \"$Y\" run /dev/stdin -q 2>err"), 0);
  assert_int_equal(shell(f, "{ cat m.yaml >pipe & }; \"$Y\" info pipe >out 2>err"), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST_MODELS(f40_model_file_is_never_an_output),
      TEST_MODELS(f40_included_file_is_never_an_output),
      TEST_MODELS(f40_links_to_the_model_file_are_never_an_output),
      TEST_MODELS(f40_model_names_its_own_file_as_result),
      TEST_MODELS(f40_two_outputs_are_two_files),
      TEST_MODELS(f41_every_writer_leaves_nothing_but_its_file),
      TEST_MODELS(f41_run_that_fails_at_once_leaves_the_earlier_result),
      TEST_MODELS(f41_study_without_a_good_row_leaves_the_earlier_table),
      TEST_MODELS(f41_run_that_fails_later_keeps_what_it_has),
      TEST_MODELS(f41_killed_run_leaves_the_earlier_result_and_a_readable_part),
      TEST_MODELS(f41_interrupted_run_replaces_the_earlier_result),
      TEST_MODELS(f42_file_that_is_too_large_exits_with_7_and_a_message),
#ifndef IS_THREAD_SANITIZER
      TEST_MODELS(f42_file_that_is_too_large_at_once_leaves_the_earlier_one),
#endif
#ifdef YOKE_WITH_HDF5
      TEST_MODELS(f42_hdf5_that_is_too_large_says_failed),
      TEST_MODELS(f42_pipe_without_a_reader_leaves_a_result_that_says_failed),
#endif
      TEST_MODELS(f42_standard_output_without_a_reader_exits_with_7),
      TEST_MODELS(f42_trace_without_a_reader_ends_the_run),
      TEST_MODELS(f14_results_do_not_take_closed_descriptors),
      TEST_MODELS(f14_program_opens_its_standard_descriptors),
      TEST_MODELS(f44_model_names_files_below_the_folder_of_the_run_only),
      TEST_MODELS(f24_run_that_waits_for_its_model_ends_with_the_first_signal),
      TEST_MODELS(f24_model_may_come_out_of_a_pipe),
  };
  return cmocka_run_group_tests_name("files", tests, NULL, NULL);
}
