/* Threads of a run, and where its time goes. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "json_text.h"
#include "program.h"
#include <sched.h>

#define UNEQUAL "run examples/chain-load.yaml --set parameters.walls=1 "

/* Two of ten subsystems are longer than the others: they are dealt out by their costs, and workers take each other's tasks. */
static void unequal_tasks_have_the_same_bits_for_any_number_of_threads(void **state) {
  static const char *const runs[] = {
      UNEQUAL "-q --t-end 1e-5 --csv @/b.csv --threads 2", UNEQUAL "-q --t-end 1e-5 --csv @/b.csv --threads 3",
      UNEQUAL "-q --t-end 1e-5 --csv @/b.csv --threads 8", UNEQUAL "-q --t-end 1e-5 --csv @/b.csv --exec shuffled"};
  fixture *f = *state;
  assert_int_equal(yoke(f, UNEQUAL "-q --t-end 1e-5 --csv @/a.csv --threads 1"), 0);
  for (size_t i = 0; i < sizeof runs / sizeof *runs; ++i) {
    assert_int_equal(yoke(f, runs[i]), 0);
    assert_int_equal(yoke(f, "compare @/a.csv @/b.csv --exact"), 0);
  }
}

/* On one processor. */
static void more_threads_than_processors_are_warned_of(void **state) {
  fixture  *f = *state;
  cpu_set_t all, one;
  int       first = 0;
  CPU_ZERO(&one);
  assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
  while (!CPU_ISSET(first, &all)) ++first;
  CPU_SET(first, &one);
  assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
  assert_int_equal(yoke(f, "run examples/two-mass.yaml -q --t-end 0.01 --threads 1"), 0);
  assert_null(strstr(f->err, "processor"));
  assert_int_equal(yoke(f, "run examples/two-mass.yaml -q --t-end 0.01 --threads 2"), 0);
  assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
  assert_non_null(strstr(f->err, "--threads 2, but this process may use 1 processor only"));
}

static void the_judge_of_json_knows_it(void **state) {
  (void)state;
  assert_true(json_is_one_value("{\"a\": [1, -2.5e-3, true, null, \"x\\u00ff\\n\", {}]}\n"));
  assert_false(json_is_one_value("{\"a\": 1,}"));
  assert_false(json_is_one_value("[1 2]"));
  assert_false(json_is_one_value("[01]"));
  assert_false(json_is_one_value("[nan]"));
  assert_false(json_is_one_value("{} {}"));
  assert_false(json_is_one_value("[1"));
}

static char *read_in(const fixture *f, const char *name) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", f->folder, name);
  return read_text(path);
}

static int count(const char *text, const char *part) {
  int n = 0;
  for (const char *at = strstr(text, part); at; at = strstr(at + 1, part)) ++n;
  return n;
}

/* 100 macro steps of ten subsystems. */
static void the_timeline_is_json_with_every_task(void **state) {
  fixture *f = *state;
  assert_int_equal(
      yoke(f, UNEQUAL "--set cosimulation.monitor=off --t-end 1e-5 --exec eager --threads 2 --profile=@/t.json"), 0);
  char *text = read_in(f, "t.json");
  assert_true(json_is_one_value(text));
  assert_int_equal(count(text, "\"name\": \"macro step\""), 100);
  assert_int_equal(count(text, "\"cat\": \"task\""), 1000);
  assert_int_equal(count(text, "\"name\": \"c[8]\""), 100);
  assert_true(count(text, "\"tid\": 1") > 0);
  assert_non_null(strstr(f->out, "timeline "));
  assert_non_null(strstr(f->out, "projection "));
  free(text);
}

static void a_model_as_a_whole_has_a_timeline_too(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, UNEQUAL "--monolithic --t-end 1e-5 --profile=@/t.json"), 0);
  char *text = read_in(f, "t.json");
  assert_true(json_is_one_value(text));
  assert_true(count(text, "\"name\": \"step\"") > 5);
  free(text);
}

static void profile_tells_the_projection_in_json(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, UNEQUAL "--t-end 1e-5 --profile --json"), 0);
  assert_true(json_is_one_value(f->out));
  assert_non_null(strstr(f->out, "\"critical_path\": "));
  assert_non_null(strstr(f->out, "\"1024\": "));
  assert_int_equal(yoke(f, UNEQUAL "--t-end 1e-5 --json"), 0);
  assert_true(json_is_one_value(f->out));
  assert_non_null(strstr(f->out, "\"projection\": null"));
}

static void an_empty_name_behind_profile_or_trace_is_refused(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, UNEQUAL "--t-end 1e-5 --profile="), 2);
  assert_says(f->err, "option '--profile=' has no value; write --profile, or --profile=FILE");
  assert_int_equal(yoke(f, UNEQUAL "--t-end 1e-5 --trace="), 2);
  assert_says(f->err, "option '--trace=' has no value");
}

static void a_timeline_that_cannot_be_written_is_found_before_the_run(void **state) {
  fixture *f = *state;
  char     path[128];
  assert_int_equal(yoke(f, UNEQUAL "--t-end 1e-5 --csv @/early.csv --profile=@/no_folder/t.json"), 7);
  assert_says(f->err, "no_folder/t.json");
  assert_int_equal(access(in_folder(f, "early.csv", path), F_OK), -1);
}

static void profile_changes_no_bit(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, UNEQUAL "-q --t-end 1e-5 --csv @/a.csv"), 0);
  assert_int_equal(yoke(f, UNEQUAL "-q --t-end 1e-5 --csv @/b.csv --profile"), 0);
  assert_int_equal(yoke(f, "compare @/a.csv @/b.csv --exact"), 0);
}

static void a_timeline_overwrites_neither_the_model_nor_another_output(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, UNEQUAL "-q --t-end 1e-6 --csv @/a.csv --profile=@/a.csv"), 2);
  assert_non_null(strstr(f->err, "the timeline"));
  assert_int_equal(yoke(f, UNEQUAL "-q --t-end 1e-6 --profile=examples/chain-load.yaml"), 2);
  assert_int_equal(yoke(f, UNEQUAL "-q --t-end 1e-6 --profile=@/none/a.json"), 7);
}

static void the_summary_tells_threads_and_times(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, UNEQUAL "--t-end 1e-5 --threads 1"), 0);
  assert_non_null(strstr(f->out, "threads      1: "));
  assert_non_null(strstr(f->out, "time         solver "));
  assert_int_equal(yoke(f, UNEQUAL "--t-end 1e-5 --threads 3 --exec eager"), 0);
  assert_non_null(strstr(f->out, "threads      3: in 100 %"));
}

/* 50 masses: the number of parts is up to the clock, what is said of it is not. */
static void split_auto_tries_numbers_of_parts_and_takes_the_fastest(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "split examples/chain-conv.yaml -n auto --threads 4 --set t_end=1e-3 -o @/parted.yaml"), 0);
  assert_int_equal(count(f->err, ", chosen"), 1);
  assert_non_null(strstr(f->err, "   2 parts: "));
  assert_non_null(strstr(f->err, "projected for 4 threads"));
  assert_int_equal(yoke(f, "run @/parted.yaml -q --t-end 1e-4"), 0);
  assert_int_equal(yoke(f, "split examples/chain-conv.yaml -n auto --set t_end=1e-3 --json"), 0);
  assert_true(json_is_one_value(f->out));
  assert_true(count(f->out, "\"time\": ") >= 3);
}

static void split_auto_refuses_what_it_cannot_use(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "split examples/chain-conv.yaml -n many"), 2);
  assert_non_null(strstr(f->err, "or auto"));
  assert_int_equal(yoke(f, "split examples/chain-conv.yaml -n 2 --threads 2"), 2);
  assert_int_equal(yoke(f, "split examples/chain-conv.yaml -n auto --threads 0"), 2);
  assert_int_equal(yoke(f, "split examples/pendulum.yaml -n auto"), 2); /* nothing can be cut */
  assert_null(strstr(f->err, "asked for"));                             /* nobody asked for 2 parts */
  assert_non_null(strstr(f->err, "cannot be split into 2 parts, it has only 1 group"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(unequal_tasks_have_the_same_bits_for_any_number_of_threads),
      TEST(more_threads_than_processors_are_warned_of),
      TEST(the_judge_of_json_knows_it),
      TEST(the_timeline_is_json_with_every_task),
      TEST(a_model_as_a_whole_has_a_timeline_too),
      TEST(profile_tells_the_projection_in_json),
      TEST(an_empty_name_behind_profile_or_trace_is_refused),
      TEST(a_timeline_that_cannot_be_written_is_found_before_the_run),
      TEST(profile_changes_no_bit),
      TEST(a_timeline_overwrites_neither_the_model_nor_another_output),
      TEST(the_summary_tells_threads_and_times),
      TEST(split_auto_tries_numbers_of_parts_and_takes_the_fastest),
      TEST(split_auto_refuses_what_it_cannot_use),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
