/* Where the time of a run went: the same sums in its summary and its result file. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "folder.h"
#include <yoke/yoke.h>
#include <math.h>
#include <string.h>
#ifdef YOKE_WITH_HDF5
#include "hdf5_read.h"
#endif

static yoke_run_summary run(const char *model, int threads, const char *exec, bool monolithic, const char *out) {
  yoke_context          *ctx       = NULL;
  yoke_run_summary       summary   = {.size = sizeof summary};
  const yoke_choice      choices[] = {{"t-end", "1e-5"}};
  const yoke_run_options options   = {.size       = sizeof options,
                                      .model      = model,
                                      .n_choices  = 1,
                                      .choices    = choices,
                                      .threads    = threads,
                                      .exec       = exec,
                                      .monolithic = monolithic,
                                      .out        = out};
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_run(ctx, &options, &summary), YOKE_OK);
  yoke_context_destroy(&ctx);
  return summary;
}

static void check_sums(const yoke_run_summary *s) {
  const yoke_time_shares *t   = &s->times;
  const double            sum = t->solver + t->save + t->exchange + t->master + t->output + t->idle;
  assert_true(fabs(sum - s->threads * s->wall_time) <= 1e-9 * sum);
  assert_true(t->solver > 0.0 && t->save >= 0.0 && t->exchange > 0.0 && t->master > 0.0 && t->output > 0.0);
  assert_true(t->idle >= -1e-9 * sum);
}

static void times_add_up_to_the_time_of_all_threads(void **state) {
  static const struct {
    const char *exec;
    int         threads;
  } ways[] = {{"serial", 1}, {"shuffled", 1}, {"eager", 2}, {"eager", 3}, {NULL, 2}};
  (void)state;
  for (size_t k = 0; k < sizeof ways / sizeof *ways; ++k) {
    yoke_run_summary s = run("examples/chain-load.yaml", ways[k].threads, ways[k].exec, false, "");
    check_sums(&s);
    if (ways[k].exec != NULL) assert_int_equal(s.threads, ways[k].threads);
    assert_true(s.threads_reason[0] != '\0');
    yoke_run_summary_release(&s);
  }
}

static void subsystems_have_the_solver_time_of_all(void **state) {
  (void)state;
  yoke_run_summary s      = run("examples/chain-load.yaml", 1, NULL, false, "");
  double           solver = 0.0, save = 0.0;
  assert_non_null(s.subsystem_times);
  for (int i = 0; i < s.n_subsystems; ++i) {
    solver += s.subsystem_times[i].solver;
    save += s.subsystem_times[i].save;
    assert_true(s.subsystem_times[i].idle >= 0.0);
  }
  assert_string_equal(s.subsystem_times[0].name, "c[1]");
  assert_true(fabs(solver - s.times.solver) <= 1e-9 * solver);
  assert_true(fabs(save - s.times.save) <= 1e-9 * save);
  yoke_run_summary_release(&s);
}

static void a_model_as_a_whole_has_times_too(void **state) {
  (void)state;
  yoke_run_summary s = run("examples/chain-load.yaml", 0, NULL, true, "");
  check_sums(&s);
  assert_int_equal(s.threads, 1);
  assert_null(s.subsystem_times);
  yoke_run_summary_release(&s);
}

/* Eight values of a chain of 4096 masses at the end. */
static yoke_run_summary run_large(const char *split, int threads) {
  static const char *const print[]   = {"c.x[1]",    "c.x[2048]", "c.x[2049]", "c.x[4096]",
                                        "c.v[1024]", "c.v[1025]", "c.v[3072]", "c.v[3073]"};
  const char *const        sets[]    = {"parameters.n=4096", split, "output.select=[\"c.x[1]\"]"};
  const yoke_choice        choices[] = {{"t-end", "2e-6"}};
  yoke_context            *ctx       = NULL;
  yoke_run_summary         summary   = {.size = sizeof summary};
  const yoke_run_options   options   = {.size       = sizeof options,
                                        .model      = "examples/chain-load.yaml",
                                        .n_sets     = 3,
                                        .sets       = sets,
                                        .n_choices  = 1,
                                        .choices    = choices,
                                        .n_print    = 8,
                                        .print      = print,
                                        .threads    = threads,
                                        .exec       = threads > 1 ? "eager" : "serial",
                                        .monolithic = strcmp(split, "split.c=1") == 0,
                                        .out        = ""};
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_run(ctx, &options, &summary), YOKE_OK);
  yoke_context_destroy(&ctx);
  return summary;
}

static void check_inside(const char *split, int threads, int expected, const char *word) {
  yoke_run_summary alone = run_large(split, 1), helped = run_large(split, threads);
  assert_memory_equal(helped.print_values, alone.print_values, 8 * sizeof(double));
  assert_int_equal(helped.threads, expected);
  assert_non_null(strstr(helped.threads_reason, word));
  check_sums(&helped);
  yoke_run_summary_release(&alone);
  yoke_run_summary_release(&helped);
}

static void threads_inside_of_a_whole_model_change_no_bit_and_are_counted(void **state) {
  (void)state;
  check_inside("split.c=1", 2, 2, "inside of the one subsystem, in 100 % of its sweeps");
  check_inside("split.c=1", 3, 3, "inside of the one subsystem");
  check_inside("split.c=1", 8, 4, "inside of the one subsystem"); /* ranges of two blocks of 512 at least */
}

static void threads_that_have_no_subsystem_help_inside_of_others(void **state) {
  (void)state;
  check_inside("split.c=2", 5, 4, "2 inside of subsystems");
}

static void threads_help_inside_of_one_that_is_far_larger_than_the_others(void **state) {
  (void)state;
  check_inside("split={large: [\"c[1..4076]\"], small: [\"c[4077..4096]\"]}", 2, 2, "inside of subsystems");
}

/* 40 rods in two parts; the positions of some at the end. */
static yoke_run_summary run_rods(const char *more, int threads, bool is_whole) {
  static const char *const print[] = {"rod[1].x", "rod[20].y", "rod[21].vx", "rod[40].wz"};
  const char *const sets[]  = {"parameters.N=40", "split={up: [\"rod[1..18]\"], down: [\"rod[19..40]\"]}", "t_end=0.2",
                               "output.every=0.1", more};
  yoke_context     *ctx     = NULL;
  yoke_run_summary  summary = {.size = sizeof summary};
  const yoke_run_options options = {.size       = sizeof options,
                                    .model      = "examples/pendulum-chain.yaml",
                                    .n_sets     = 5,
                                    .sets       = sets,
                                    .n_print    = 4,
                                    .print      = print,
                                    .threads    = threads,
                                    .exec       = threads > 1 ? "eager" : "serial",
                                    .monolithic = is_whole,
                                    .profile    = threads == 0,
                                    .out        = ""};
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_run(ctx, &options, &summary), YOKE_OK);
  yoke_context_destroy(&ctx);
  return summary;
}

static void parts_in_lockstep_take_the_steps_of_the_whole_and_threads_change_no_bit(void **state) {
  (void)state;
  static const char lockstep[] = "cosimulation.lockstep=true";
  yoke_run_summary  whole = run_rods(lockstep, 1, true), alone = run_rods(lockstep, 1, false);
  assert_int_equal(alone.steps, whole.steps);
  assert_int_equal(alone.evaluations, whole.evaluations);
  assert_int_equal(alone.macro_steps, 0);
  for (int i = 0; i < 4; ++i)
    assert_true(fabs(alone.print_values[i] - whole.print_values[i]) < 1e-11 * (1.0 + fabs(whole.print_values[i])));
  for (int threads = 2; threads <= 3; ++threads) {
    yoke_run_summary helped = run_rods(lockstep, threads, false);
    assert_memory_equal(helped.print_values, alone.print_values, 4 * sizeof(double));
    assert_int_equal(helped.threads, 2);
    yoke_run_summary_release(&helped);
  }
  yoke_run_summary_release(&whole);
  yoke_run_summary_release(&alone);
}

/* Measured with one thread, and with the shorter half of every list less with two. */
static void rehearsal_of_halves_projects_two_threads(void **state) {
  (void)state;
  yoke_run_summary s = run_rods("cosimulation.lockstep=true", 0, false);
  assert_true(s.has_projection);
  assert_true(s.projection[1].time < 0.9 * s.projection[0].time && s.projection[1].time > 0.3 * s.projection[0].time);
  yoke_run_summary_release(&s);
}

#ifdef YOKE_WITH_HDF5
static void the_result_file_holds_the_times(void **state) {
  char             path[128], name[64];
  double           rows[11 * 6];
  yoke_run_summary s = run("examples/chain-load.yaml", 2, "eager", false, in_folder(*state, "a.h5", path));
  assert_int_equal(read_dataset(path, "/times", 66, rows), 66);
  assert_string_equal(read_name(path, "/times", "names", 0, name), "solver");
  assert_string_equal(read_name(path, "/times", "names", 5, name), "idle");
  assert_string_equal(read_name(path, "/times", "rows", 0, name), "all");
  assert_string_equal(read_name(path, "/times", "rows", 10, name), "c[10]");
  assert_true(rows[0] == s.times.solver && rows[1] == s.times.save && rows[2] == s.times.exchange);
  for (int i = 0; i < 10; ++i) {
    const double *row = rows + 6 * (i + 1);
    assert_true(row[0] == s.subsystem_times[i].solver && row[5] == s.subsystem_times[i].idle);
    assert_true(isnan(row[3]) && isnan(row[4]));
  }
  yoke_run_summary_release(&s);
}

static void check_text(const char *path, const char *attribute, const char *expected) {
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), it = H5Aopen(file, attribute, H5P_DEFAULT);
  hid_t type = H5Aget_type(it);
  char *text = NULL;
  assert_true(H5Aread(it, type, &text) >= 0);
  assert_string_equal(text, expected);
  H5free_memory(text);
  H5Tclose(type);
  H5Aclose(it);
  H5Fclose(file);
}

static void the_result_file_names_the_machine(void **state) {
  char               path[128];
  yoke_machine_facts m = {.size = sizeof m};
  yoke_run_summary   s = run("examples/chain-load.yaml", 1, NULL, false, in_folder(*state, "a.h5", path));
  assert_int_equal(yoke_machine_facts_get(NULL, &m), YOKE_OK);
  check_text(path, "processor", m.processor);
  check_text(path, "cpu_features", m.features);
  check_text(path, "math_library", m.math_library);
  check_text(path, "blas", m.blas);
  yoke_run_summary_release(&s);
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(times_add_up_to_the_time_of_all_threads),
      cmocka_unit_test(subsystems_have_the_solver_time_of_all),
      cmocka_unit_test(a_model_as_a_whole_has_times_too),
      cmocka_unit_test(threads_inside_of_a_whole_model_change_no_bit_and_are_counted),
      cmocka_unit_test(threads_that_have_no_subsystem_help_inside_of_others),
      cmocka_unit_test(threads_help_inside_of_one_that_is_far_larger_than_the_others),
      cmocka_unit_test(parts_in_lockstep_take_the_steps_of_the_whole_and_threads_change_no_bit),
      cmocka_unit_test(rehearsal_of_halves_projects_two_threads),
#ifdef YOKE_WITH_HDF5
      cmocka_unit_test_setup_teardown(the_result_file_holds_the_times, set_up, tear_down),
      cmocka_unit_test_setup_teardown(the_result_file_names_the_machine, set_up, tear_down),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
