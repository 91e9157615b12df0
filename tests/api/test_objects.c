/* Objects of the library and the structs that cross its border: sizes of callers that are older or newer, items that do not exist, and everything
 * that takes the path of a model file also takes a model. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "check.h"
#include "folder.h"
#include <yoke/yoke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const two_mass = "examples/two-mass.yaml";

static yoke_model *load(fixture *f, const char *path) {
  yoke_model *model = NULL;
  assert_int_equal(yoke_model_load(f->ctx, path, NULL, &model), YOKE_OK);
  return model;
}

static yoke_run_options short_run(const char *path, const yoke_model *model) {
  static const yoke_choice choices[] = {{"t-end", "0.02"}};
  return (yoke_run_options){.size       = sizeof(yoke_run_options),
                            .model      = path,
                            .loaded     = model,
                            .n_choices  = 1,
                            .choices    = choices,
                            .threads    = 1,
                            .no_predict = true};
}

static void expect_usage(fixture *f, yoke_status status, const char *part) {
  assert_int_equal(status, YOKE_E_USAGE);
  if (!has_message(f->ctx, part)) fail_msg("no message says '%s'", part);
  yoke_context_clear(f->ctx);
}

/* ---- sizes ---- */

/* A program that was compiled when the struct ended behind `model` and `loaded`. */
static void a_shorter_struct_of_options_stands_for_zeros(void **state) {
  fixture                 *f         = *state;
  yoke_run_options         options   = short_run(two_mass, NULL);
  yoke_inspection         *in        = NULL;
  yoke_model_facts         facts     = {.size = sizeof facts};
  static const char *const no_sets[] = {"no such key"};
  options.size                       = offsetof(yoke_run_options, n_sets);
  options.n_sets                     = 1; /* behind the end: not looked at */
  options.sets                       = no_sets;
  assert_int_equal(yoke_model_inspect(f->ctx, &options, &in), YOKE_OK);
  assert_int_equal(yoke_inspection_facts_get(f->ctx, in, &facts), YOKE_OK);
  assert_int_equal(facts.n_bodies, 2);
  yoke_inspection_destroy(&in);
}

static void a_longer_struct_of_options_is_fine_where_it_asks_for_nothing_more(void **state) {
  fixture *f = *state;
  struct {
    yoke_run_options options;
    double           more[2];
  } newer             = {.options = short_run(two_mass, NULL)};
  yoke_inspection *in = NULL;
  newer.options.size  = sizeof newer;
  assert_int_equal(yoke_model_inspect(f->ctx, &newer.options, &in), YOKE_OK);
  yoke_inspection_destroy(&in);
  newer.more[1] = 1.0;
  expect_usage(f, yoke_model_inspect(f->ctx, &newer.options, &in), "use the newer library");
  assert_null(in);
}

static void a_shorter_struct_is_filled_as_far_as_it_goes(void **state) {
  fixture               *f       = *state;
  const yoke_run_options options = short_run(two_mass, NULL);
  yoke_run_summary       summary;
  memset(&summary, 0x5a, sizeof summary);
  summary.size = offsetof(yoke_run_summary, all_jacobians);
  assert_int_equal(yoke_run(f->ctx, &options, &summary), YOKE_OK);
  assert_int_equal(summary.size, offsetof(yoke_run_summary, all_jacobians));
  assert_true(summary.macro_steps > 0 && summary.t == 0.02);
  assert_int_equal(summary.all_jacobians, 0x5a5a5a5a5a5a5a5a);
  yoke_run_summary_release(&summary);
}

/* Every struct, with a size that was never set. */
static void a_size_that_was_not_set_is_refused(void **state) {
  fixture                     *f          = *state;
  const yoke_run_options       run        = short_run(two_mass, NULL);
  yoke_model                  *model      = NULL;
  yoke_inspection             *in         = NULL;
  yoke_modes                  *modes      = NULL;
  yoke_comparison             *comparison = NULL;
  yoke_convergence            *study      = NULL;
  yoke_stability_table        *table      = NULL;
  yoke_split_proposal         *proposal   = NULL;
  const yoke_load_options      no_load    = {0};
  const yoke_run_options       no_run     = {0};
  const yoke_converge_options  no_study   = {0};
  const yoke_stability_options no_map     = {0};
  yoke_run_summary             sum = {.size = sizeof sum}, no_sum = {0};
  expect_usage(f, yoke_model_load(f->ctx, two_mass, &no_load, &model), "sizeof(yoke_load_options)");
  expect_usage(f, yoke_model_load_text(f->ctx, "a", "yoke: 1", 7, &no_load, &model), "sizeof(yoke_load_options)");
  expect_usage(f, yoke_run(f->ctx, &no_run, &sum), "sizeof(yoke_run_options)");
  expect_usage(f, yoke_run(f->ctx, &run, &no_sum), "sizeof(yoke_run_summary)");
  expect_usage(f, yoke_run_compare(f->ctx, &run, &sum, &no_sum, &comparison), "sizeof(yoke_run_summary)");
  expect_usage(f, yoke_run_compare(f->ctx, &run, &no_sum, &sum, &comparison), "sizeof(yoke_run_summary)");
  yoke_verify_facts how = {.size = sizeof how}, no_how = {0};
  expect_usage(f, yoke_run_verify(f->ctx, NULL, &run, &sum, &how, &comparison), "context of the repeated run");
  expect_usage(f, yoke_run_verify(f->ctx, f->ctx, &run, &no_sum, &how, &comparison), "sizeof(yoke_run_summary)");
  expect_usage(f, yoke_run_verify(f->ctx, f->ctx, &run, &sum, &no_how, &comparison), "sizeof(yoke_verify_facts)");
  expect_usage(f, yoke_model_inspect(f->ctx, &no_run, &in), "sizeof(yoke_run_options)");
  expect_usage(f, yoke_modes_compute(f->ctx, &no_run, YOKE_AT_START, &modes), "sizeof(yoke_run_options)");
  expect_usage(f, yoke_linearize_write(f->ctx, &no_run, YOKE_AT_START, "a.txt"), "sizeof(yoke_run_options)");
  expect_usage(f, yoke_split_propose(f->ctx, &no_run, 2, &proposal), "sizeof(yoke_run_options)");
  expect_usage(f, yoke_converge(f->ctx, &no_study, &study), "sizeof(yoke_converge_options)");
  expect_usage(f, yoke_stability_study(f->ctx, &no_map, &table), "sizeof(yoke_stability_options)");
  assert_true(model == NULL && in == NULL && modes == NULL && comparison == NULL && study == NULL && table == NULL &&
              proposal == NULL);
}

static void methods_of_a_list_lie_as_far_apart_as_the_caller_knows_them(void **state) {
  fixture *f = *state;
  struct {
    yoke_method_choice method;
    void              *more; /* of a newer header */
  } methods[2]                         = {{.method = {.size = sizeof methods[0], .order = "0"}},
                                          {.method = {.size = sizeof methods[0], .order = "1"}}};
  const yoke_run_options       run     = {.size = sizeof run, .model = "two-mass"};
  const yoke_stability_options options = {
      .size = sizeof options, .run = &run, .n_methods = 2, .methods = &methods[0].method};
  yoke_stability_table *table = NULL;
  yoke_stability_row    row   = {.size = sizeof row};
  char                  label[160];
  assert_int_equal(yoke_stability_study(f->ctx, &options, &table), YOKE_OK);
  assert_int_equal(yoke_stability_table_get(f->ctx, table, 1, &row), YOKE_OK);
  assert_string_equal(row.label, "order 1");
  yoke_stability_table_destroy(&table);
  methods[1].method.size = 0;
  expect_usage(f, yoke_stability_study(f->ctx, &options, &table), "sizeof(yoke_method_choice)");
  assert_int_equal(yoke_method_label(&methods[1].method, label, sizeof label), YOKE_E_USAGE);
  assert_int_equal(yoke_method_label(&methods[0].method, label, sizeof label), YOKE_OK);
  assert_string_equal(label, "order 0");
}

/* ---- items ---- */

static void items_that_do_not_exist_are_refused(void **state) {
  fixture               *f        = *state;
  const yoke_run_options run      = short_run(two_mass, NULL);
  yoke_inspection       *in       = NULL;
  yoke_modes            *modes    = NULL;
  yoke_model_item        item     = {.size = sizeof item};
  yoke_part_item         part     = {.size = sizeof part};
  yoke_coupling_item     coupling = {.size = sizeof coupling};
  yoke_mode              mode     = {.size = sizeof mode};
  assert_int_equal(yoke_model_inspect(f->ctx, &run, &in), YOKE_OK);
  assert_int_equal(yoke_modes_compute(f->ctx, &run, YOKE_AT_START, &modes), YOKE_OK);
  assert_int_equal(yoke_inspection_body(f->ctx, in, 1, &item), YOKE_OK);
  assert_string_equal(item.kind, "mass1d");
  assert_int_equal(yoke_inspection_connection(f->ctx, in, 0, &item), YOKE_OK);
  assert_int_equal(yoke_inspection_output(f->ctx, in, 0, &item), YOKE_OK);
  assert_int_equal(yoke_inspection_part(f->ctx, in, 1, &part), YOKE_OK);
  assert_string_equal(part.contents, "1 body");
  assert_int_equal(yoke_inspection_coupling(f->ctx, in, 0, &coupling), YOKE_OK);
  assert_int_equal(coupling.n_channels, 1);
  assert_int_equal(yoke_modes_n(modes), 2);
  assert_int_equal(yoke_modes_n_freedoms(modes), 2);
  assert_int_equal(yoke_modes_get(f->ctx, modes, 1, &mode), YOKE_OK);
  assert_string_equal(yoke_mode_kind_name(mode.kind), "oscillation");
  assert_string_equal(yoke_mode_kind_name((yoke_mode_kind)17), "");
  expect_usage(f, yoke_inspection_body(f->ctx, in, 2, &item), "no yoke_model_item number 2: there are 2");
  expect_usage(f, yoke_inspection_connection(f->ctx, in, -1, &item), "number -1");
  expect_usage(f, yoke_inspection_output(f->ctx, in, 1000, &item), "number 1000");
  expect_usage(f, yoke_inspection_part(f->ctx, in, 2, &part), "there are 2");
  expect_usage(f, yoke_inspection_coupling(f->ctx, in, 1, &coupling), "there are 1");
  expect_usage(f, yoke_modes_get(f->ctx, modes, 2, &mode), "there are 2");
  mode.size = 0;
  expect_usage(f, yoke_modes_get(f->ctx, modes, 0, &mode), "sizeof(yoke_mode)");
  yoke_inspection_destroy(&in);
  yoke_modes_destroy(&modes);
}

static void destroying_takes_null(void **state) {
  (void)state;
  yoke_context_destroy(NULL);
  yoke_model_destroy(NULL);
  yoke_draft_destroy(NULL);
  yoke_simulation_destroy(NULL);
  yoke_snapshot_destroy(NULL);
  yoke_result_close(NULL);
  yoke_comparison_destroy(NULL);
  yoke_inspection_destroy(NULL);
  yoke_split_proposal_destroy(NULL);
  yoke_convergence_destroy(NULL);
  yoke_stability_table_destroy(NULL);
  yoke_modes_destroy(NULL);
}

static void a_context_that_is_missing_is_refused_where_it_is_changed(void **state) {
  (void)state;
  const yoke_user_type type = {.size = sizeof type, .abi = YOKE_SUBSYSTEM_ABI, .name = "none"};
  assert_int_equal(yoke_context_set_executor(NULL, NULL), YOKE_E_USAGE);
  assert_int_equal(yoke_context_set_memory(NULL, NULL), YOKE_E_USAGE);
  assert_int_equal(yoke_context_add_type(NULL, &type), YOKE_E_USAGE);
  assert_int_equal(yoke_context_load_plugin(NULL, "plugin.so"), YOKE_E_USAGE);
}

static void texts_that_are_missing_are_refused(void **state) {
  fixture                *f        = *state;
  const yoke_choice       nameless = {NULL, "1"}, empty = {"step", NULL};
  const char *const       no_text = NULL;
  const yoke_load_options loads[] = {
      {.size = sizeof *loads, .n_choices = 1},
      {.size = sizeof *loads, .n_choices = 1, .choices = &nameless},
      {.size = sizeof *loads, .n_choices = 1, .choices = &empty},
      {.size = sizeof *loads, .n_choices = -5},
      {.size = sizeof *loads, .n_sets = 1, .sets = &no_text},
      {.size = sizeof *loads, .n_sets = -1},
  };
  yoke_model  *model;
  yoke_draft  *draft;
  yoke_result *result;
  for (size_t i = 0; i < sizeof loads / sizeof *loads; ++i)
    expect_usage(f, yoke_model_load(f->ctx, two_mass, &loads[i], &model), i == 3 ? "-5 choices" : "expected");
  expect_usage(f, yoke_model_load(f->ctx, NULL, NULL, &model), "no name of a model file was given");
  expect_usage(f, yoke_model_load_text(f->ctx, NULL, "yoke: 1\n", 8, NULL, &model),
               "no name of a model file was given");
  expect_usage(f, yoke_model_load_text(f->ctx, two_mass, NULL, 0, NULL, &model), "no text of a model was given");
  expect_usage(f, yoke_draft_create(f->ctx, NULL, &draft), "no name of a draft was given");
  expect_usage(f, yoke_result_open(f->ctx, NULL, &result), "no path of a result was given");
  expect_usage(f, yoke_result_repair(f->ctx, NULL), "no path of a result was given");
  expect_usage(f, yoke_starter_write(f->ctx, NULL, NULL), "no path of a model file was given");
}

static void what_a_simulation_misses_is_refused(void **state) {
  fixture                  *f       = *state;
  yoke_model               *model   = load(f, two_mass);
  const yoke_record_options record  = {.size = sizeof record, .out = "", .csv = "", .in_memory = true};
  const char *const         no_text = NULL;
  yoke_simulation          *s       = NULL;
  yoke_result              *result;
  int                       number;
  double                    value;
  expect_usage(f, yoke_simulation_create(f->ctx, NULL, NULL, &s), "no model was given");
  assert_int_equal(yoke_simulation_create(f->ctx, model, NULL, &s), YOKE_OK);
  expect_usage(f, yoke_simulation_find(f->ctx, s, 1, &no_text, &number),
               "number 1 of a list of 1 is NULL, expected the name of a quantity");
  expect_usage(f, yoke_simulation_find(f->ctx, s, -2, &no_text, &number),
               "a list of -2, expected 0 or more, each the name of a quantity");
  expect_usage(f, yoke_simulation_find_inputs(f->ctx, s, 1, &no_text, &number),
               "number 1 of a list of 1 is NULL, expected the name of an input");
  expect_usage(f, yoke_simulation_statistics_get(f->ctx, s, NULL), "no yoke_simulation_statistics was given");
  expect_usage(f, yoke_simulation_event(f->ctx, s, 0, NULL), "no yoke_event_facts was given");
  expect_usage(f, yoke_simulation_restore(f->ctx, s, NULL), "no snapshot was given");
  assert_int_equal(yoke_simulation_record(f->ctx, s, &record), YOKE_OK);
  expect_usage(f, yoke_simulation_record_take(f->ctx, s, NULL, &result), "no name of a result was given");
  assert_int_equal(yoke_simulation_step(f->ctx, s, NULL), YOKE_OK);
  assert_int_equal(yoke_simulation_record_take(f->ctx, s, "short", &result), YOKE_OK);
  expect_usage(f, yoke_result_read(f->ctx, result, -1, &value), "there is no quantity number -1 in 'short'");
  expect_usage(f, yoke_result_read(f->ctx, result, 1000, &value), "there is no quantity number 1000 in 'short'");
  yoke_result_close(&result);
  yoke_simulation_destroy(&s);
  yoke_model_destroy(&model);
}

static void tables_that_describe_the_library_end(void **state) {
  yoke_quantity_facts quantity = {.size = sizeof quantity}, no_quantity = {0};
  yoke_setting_facts  setting = {.size = sizeof setting}, no_setting = {0};
  (void)state;
  assert_int_equal(yoke_quantity_describe(0, &quantity), YOKE_OK);
  assert_int_equal(yoke_quantity_describe(yoke_n_quantities(), &quantity), YOKE_E_USAGE);
  assert_int_equal(yoke_quantity_describe(-1, &quantity), YOKE_E_USAGE);
  assert_int_equal(yoke_quantity_describe(0, &no_quantity), YOKE_E_USAGE);
  assert_int_equal(yoke_setting_describe(yoke_n_settings() - 1, &setting), YOKE_OK);
  assert_int_equal(yoke_setting_describe(yoke_n_settings(), &setting), YOKE_E_USAGE);
  assert_int_equal(yoke_setting_describe(-1, &setting), YOKE_E_USAGE);
  assert_int_equal(yoke_setting_describe(0, &no_setting), YOKE_E_USAGE);
  const int order = yoke_setting_with_option("order", 5);
  assert_int_equal(yoke_setting_describe(order, &setting), YOKE_OK);
  assert_string_equal(setting.path, "cosimulation.order");
  assert_string_equal(yoke_error_name(YOKE_ERROR_LOCAL_VELOCITY), "local velocity");
  assert_string_equal(yoke_error_name(YOKE_N_ERRORS), "");
}

static void the_library_tells_what_it_is_and_what_it_can(void **state) {
  static const char *const words[] = {"planar", "rigid"};
  (void)state;
  assert_string_equal(yoke_version(), YOKE_VERSION);
  assert_true(yoke_has_metis() || !yoke_has_metis()); /* depends on the build */
  assert_string_equal(yoke_nearest_name("plannar", words, 2), "planar");
  assert_null(yoke_nearest_name("q", words, 2));
  for (int i = 0; i < yoke_n_solvers(); ++i)
    assert_true(*yoke_solver_name(i) != '\0' && *yoke_solver_summary(i) != '\0');
  for (int i = 0; i < yoke_n_schemes(); ++i)
    assert_true(*yoke_scheme_name(i) != '\0' && *yoke_scheme_summary(i) != '\0');
  for (int i = 0; i < yoke_n_formulations(); ++i)
    assert_true(*yoke_formulation_name(i) != '\0' && *yoke_formulation_summary(i) != '\0');
}

static void words_of_statuses_reasons_and_residuals(void **state) {
  (void)state;
  assert_int_equal(yoke_status_exit_code(YOKE_E_MODEL), 3);
  assert_string_equal(yoke_status_name(YOKE_E_MODEL), "YOKE_E_MODEL");
  assert_string_equal(yoke_status_text(YOKE_OK), "done");
  assert_string_equal(yoke_status_name((yoke_status)99), "unknown status");
  assert_int_equal(yoke_status_exit_code((yoke_status)99), 70);
  assert_string_equal(yoke_reason_word(0), "error");
  assert_string_equal(yoke_reason_word(-7), "none");
  assert_string_equal(yoke_reason_word(99), "none");
  assert_string_equal(yoke_residual_name(3), "force");
  assert_string_equal(yoke_residual_name(YOKE_N_RESIDUAL_KINDS), "");
  assert_string_equal(yoke_residual_unit_name(4), "N*m");
  assert_string_equal(yoke_residual_unit_name(-1), "");
  assert_string_equal(yoke_residual_verdict(1e-7), "held");
  assert_string_equal(yoke_residual_verdict(1e-4), "small");
  assert_string_equal(yoke_residual_verdict((double)NAN), "large");
}

static void a_model_tells_what_its_file_says(void **state) {
  static const char text[] = "yoke: 1\nname: ball\nt_start: 1\nt_end: 2\n"
                             "bodies: {a: {kind: mass1d, mass: 1}, b: {kind: mass1d, mass: 1}}\n"
                             "connections: {s: {kind: spring-damper, between: [a, b], stiffness: 1}}\n"
                             "loads: {l: {kind: constant, on: a, force: 1}}\n"
                             "events: {e: {when: t - 1.5}}\n"
                             "split: {p: [a], q: [b]}\n"
                             "solvers: {default: bdf}\n"
                             "output: {every: 0.1, file: out.h5, csv: out.csv}\n";
  fixture          *f      = *state;
  yoke_model       *model  = NULL;
  assert_int_equal(yoke_model_load_text(f->ctx, "ball", text, strlen(text), NULL, &model), YOKE_OK);
  assert_string_equal(yoke_model_name(model), "ball");
  assert_true(yoke_model_t_start(model) == 1.0 && yoke_model_t_end(model) == 2.0);
  assert_int_equal(yoke_model_n_bodies(model), 2);
  assert_int_equal(yoke_model_n_connections(model), 1);
  assert_int_equal(yoke_model_n_loads(model), 1);
  assert_int_equal(yoke_model_n_events(model), 1);
  assert_int_equal(yoke_model_n_parts(model), 2);
  assert_string_equal(yoke_model_solver(model), "bdf");
  assert_string_equal(yoke_model_output_file(model), "out.h5");
  assert_string_equal(yoke_model_output_csv(model), "out.csv");
  assert_true(yoke_model_output_every(model) == 0.1);
  yoke_model_destroy(&model);
}

static void the_starter_is_written_once_and_runs(void **state) {
  fixture *f = *state;
  char     path[128];
  in_folder(f, "new.yaml", path);
  assert_int_equal(yoke_starter_write(f->ctx, NULL, path), YOKE_OK);
  assert_int_equal(yoke_starter_write(f->ctx, NULL, path), YOKE_E_IO);
  yoke_context_clear(f->ctx);
  assert_false(yoke_result_is_result(path));
  yoke_model *model = load(f, path), *same = NULL;
  assert_int_equal(yoke_model_load_text(f->ctx, path, yoke_model_starter(), strlen(yoke_model_starter()), NULL, &same),
                   YOKE_OK);
  assert_string_equal(yoke_model_text(same), yoke_model_text(model));
  yoke_model_destroy(&model);
  yoke_model_destroy(&same);
}

/* Every template is read without a word and runs as a co-simulation within its tolerance. */
static void every_template_runs_split(void **state) {
  fixture    *f = *state;
  const char *name, *summary;
  int         n = 0;
  for (; yoke_starter_template(n, &name, &summary); ++n) {
    char path[128], file[64];
    snprintf(file, sizeof file, "%s.yaml", name);
    assert_int_equal(yoke_starter_write(f->ctx, name, in_folder(f, file, path)), YOKE_OK);
    yoke_run_options options = {.size = sizeof options, .model = path, .out = "", .csv = ""};
    yoke_run_summary split   = {.size = sizeof split};
    assert_int_equal(yoke_run(f->ctx, &options, &split), YOKE_OK);
    assert_true(split.is_split && split.accumulated_error < 1e-3);
    assert_int_equal(yoke_context_n_messages(f->ctx), 0);
    yoke_run_summary_release(&split);
  }
  assert_true(n >= 6);
  expect_usage(f, yoke_starter_write(f->ctx, "pendlum", "unused.yaml"), "did you mean 'pendulum'");
}

/* ---- models in place of files ---- */

static void a_model_is_given_once(void **state) {
  fixture         *f     = *state;
  yoke_model      *model = load(f, two_mass);
  yoke_inspection *in    = NULL;
  yoke_run_options run   = short_run(two_mass, model);
  expect_usage(f, yoke_model_inspect(f->ctx, &run, &in), "two models are given");
  run = short_run(NULL, NULL);
  expect_usage(f, yoke_model_inspect(f->ctx, &run, &in), "no model is given");
  yoke_model_destroy(&model);
}

static void a_run_of_a_model_has_the_bits_of_a_run_of_its_file(void **state) {
  static const char *const print[] = {"m1.x", "m2.v"};
  fixture                 *f       = *state;
  yoke_model              *model   = load(f, two_mass);
  double                   values[2][2];
  for (int k = 0; k < 2; ++k) {
    yoke_run_options run     = short_run(k == 0 ? two_mass : NULL, k == 0 ? NULL : model);
    yoke_run_summary summary = {.size = sizeof summary};
    run.n_print              = 2;
    run.print                = print;
    if (yoke_run(f->ctx, &run, &summary) != YOKE_OK) fail_msg("%s", yoke_context_message(f->ctx, 0));
    memcpy(values[k], summary.print_values, sizeof values[k]);
    yoke_run_summary_release(&summary);
  }
  assert_memory_equal(values[0], values[1], sizeof values[0]);
  yoke_model_destroy(&model);
}

static void studies_of_a_model_are_those_of_its_file(void **state) {
  static const char *const steps[] = {"1/500"};
  fixture                 *f       = *state;
  yoke_model              *model   = load(f, two_mass);
  yoke_converge_row        row[2]  = {{.size = sizeof row[0]}, {.size = sizeof row[1]}};
  yoke_stability_row       rho[2]  = {{.size = sizeof rho[0]}, {.size = sizeof rho[1]}};
  yoke_mode                mode[2] = {{.size = sizeof mode[0]}, {.size = sizeof mode[1]}};
  for (int k = 0; k < 2; ++k) {
    const yoke_run_options       run   = short_run(k == 0 ? two_mass : NULL, k == 0 ? NULL : model);
    const yoke_converge_options  study = {.size = sizeof study, .run = &run, .n_steps = 1, .steps = steps};
    const yoke_stability_options point = {.size = sizeof point, .run = &run};
    yoke_convergence            *c     = NULL;
    yoke_stability_table        *t     = NULL;
    yoke_modes                  *m     = NULL;
    assert_int_equal(yoke_converge(f->ctx, &study, &c), YOKE_OK);
    assert_int_equal(yoke_convergence_get(f->ctx, c, 0, 0, &row[k]), YOKE_OK);
    assert_string_equal(row[k].label, "as the model says");
    expect_usage(f, yoke_convergence_get(f->ctx, c, 0, 1, &row[k]), "no yoke_converge_row");
    expect_usage(f, yoke_convergence_get(f->ctx, c, 1, 0, &row[k]), "no yoke_converge_row");
    assert_int_equal(yoke_stability_study(f->ctx, &point, &t), YOKE_OK);
    assert_int_equal(yoke_stability_table_get(f->ctx, t, 0, &rho[k]), YOKE_OK);
    assert_int_equal(yoke_modes_compute(f->ctx, &run, YOKE_AT_EQUILIBRIUM, &m), YOKE_OK);
    assert_int_equal(yoke_modes_get(f->ctx, m, 0, &mode[k]), YOKE_OK);
    yoke_convergence_destroy(&c);
    yoke_stability_table_destroy(&t);
    yoke_modes_destroy(&m);
  }
  assert_memory_equal(row[0].error, row[1].error, sizeof row[0].error);
  assert_memory_equal(&rho[0].rho, &rho[1].rho, sizeof rho[0].rho);
  assert_memory_equal(&mode[0].frequency, &mode[1].frequency, sizeof(double));
  yoke_model_destroy(&model);
}

static void a_split_is_proposed_for_a_model_too(void **state) {
  fixture               *f        = *state;
  yoke_model            *model    = load(f, "examples/chain-conv.yaml");
  const yoke_run_options run      = {.size = sizeof run, .loaded = model};
  yoke_split_proposal   *proposal = NULL;
  yoke_split_facts       facts    = {.size = sizeof facts};
  yoke_cut_part          part     = {.size = sizeof part};
  yoke_cut               cut      = {.size = sizeof cut};
  assert_int_equal(yoke_split_propose(f->ctx, &run, 3, &proposal), YOKE_OK);
  assert_int_equal(yoke_split_proposal_facts_get(f->ctx, proposal, &facts), YOKE_OK);
  assert_int_equal(facts.n_parts, 3);
  assert_int_equal(facts.n_cuts, 2);
  assert_non_null(strstr(facts.model, facts.split));
  assert_int_equal(yoke_split_proposal_part(f->ctx, proposal, 2, &part), YOKE_OK);
  assert_true(part.is_piece && part.n_bodies > 0);
  assert_int_equal(yoke_split_proposal_cut(f->ctx, proposal, 1, &cut), YOKE_OK);
  assert_string_equal(cut.kind, "element");
  expect_usage(f, yoke_split_proposal_part(f->ctx, proposal, 3, &part), "there are 3");
  expect_usage(f, yoke_split_proposal_cut(f->ctx, proposal, 2, &cut), "there are 2");
  yoke_split_proposal_destroy(&proposal);
  expect_usage(f, yoke_split_propose(f->ctx, &run, 1, &proposal), "expected at least 2");
  yoke_model_destroy(&model);
}

/* Zero parts: as many as are fastest. The first trial is the model as a whole. */
static void the_fastest_number_of_parts_is_proposed(void **state) {
  static const char *const sets[] = {"t_end=1e-3"};
  fixture                 *f      = *state;
  const yoke_run_options   run    = {
           .size = sizeof run, .model = "examples/chain-conv.yaml", .n_sets = 1, .sets = sets, .threads = 2};
  yoke_split_proposal *proposal = NULL;
  yoke_split_facts     facts    = {.size = sizeof facts};
  yoke_split_trial     trial    = {.size = sizeof trial};
  double               least    = INFINITY;
  int                  best     = 0;
  assert_int_equal(yoke_split_propose(f->ctx, &run, 0, &proposal), YOKE_OK);
  assert_int_equal(yoke_split_proposal_facts_get(f->ctx, proposal, &facts), YOKE_OK);
  assert_int_equal(facts.threads, 2);
  assert_true(facts.n_trials >= 2);
  for (int i = 0; i < facts.n_trials; ++i) {
    assert_int_equal(yoke_split_proposal_trial(f->ctx, proposal, i, &trial), YOKE_OK);
    assert_int_equal(trial.n_parts, 1 << i);
    if (i == 0 || !(trial.time < least)) continue;
    least = trial.time;
    best  = trial.n_parts;
  }
  assert_int_equal(facts.n_parts, best);
  expect_usage(f, yoke_split_proposal_trial(f->ctx, proposal, facts.n_trials, &trial), "there are");
  yoke_split_proposal_destroy(&proposal);
}

static void a_file_that_a_model_was_read_from_is_not_overwritten(void **state) {
  fixture         *f = *state;
  char             top[128], part[128];
  yoke_run_summary summary = {.size = sizeof summary};
  FILE            *file    = fopen(in_folder(f, "part.yaml", part), "w");
  assert_non_null(file);
  fputs("bodies: {a: {kind: mass1d, mass: 1, v: 1}}\n", file);
  fclose(file);
  file = fopen(in_folder(f, "top.yaml", top), "w");
  assert_non_null(file);
  fputs("yoke: 1\nt_end: 0.1\ninclude: part.yaml\n", file);
  fclose(file);
  yoke_model      *model = load(f, top);
  yoke_run_options run   = short_run(NULL, model); /* read again, with another end */
  run.csv                = part;
  expect_usage(f, yoke_run(f->ctx, &run, &summary), "would overwrite a file that the model includes");
  yoke_run_summary_release(&summary);
  yoke_model_destroy(&model);
}

/* ---- results in memory ---- */

static void a_record_in_memory_is_a_result(void **state) {
  fixture                *f     = *state;
  yoke_model             *model = load(f, two_mass);
  const yoke_choice       end[] = {{"t-end", "0.02"}};
  yoke_simulation_options how = {.size = sizeof how, .no_predict = true, .threads = 1, .n_choices = 1, .choices = end};
  const yoke_record_options both       = {.size = sizeof both, .out = "", .csv = "", .in_memory = true};
  const yoke_record_options files      = {.size = sizeof files, .out = "", .csv = ""};
  yoke_result              *results[2] = {NULL, NULL};
  yoke_comparison          *comparison = NULL;
  yoke_comparison_facts     found      = {.size = sizeof found};
  yoke_result_facts         facts      = {.size = sizeof facts};
  for (int k = 0; k < 2; ++k) {
    yoke_simulation *s = NULL;
    how.monolithic     = k == 1;
    assert_int_equal(yoke_simulation_create(f->ctx, model, &how, &s), YOKE_OK);
    expect_usage(f, yoke_simulation_record_take(f->ctx, s, "none", &results[k]), "no record is open");
    assert_int_equal(yoke_simulation_record(f->ctx, s, &files), YOKE_OK);
    expect_usage(f, yoke_simulation_record_take(f->ctx, s, "none", &results[k]), "in_memory");
    assert_int_equal(yoke_simulation_record_end(f->ctx, s), YOKE_OK);
    assert_int_equal(yoke_simulation_record(f->ctx, s, &both), YOKE_OK);
    assert_int_equal(yoke_simulation_run_to(f->ctx, s, 0.02), YOKE_OK);
    assert_int_equal(yoke_simulation_record_take(f->ctx, s, k == 0 ? "split" : "whole", &results[k]), YOKE_OK);
    yoke_simulation_destroy(&s);
  }
  assert_int_equal(yoke_result_facts_get(f->ctx, results[0], &facts), YOKE_OK);
  assert_string_equal(facts.format, "memory");
  assert_string_equal(yoke_result_path(results[1]), "whole");
  assert_true(yoke_result_find(results[0], "m1.x") >= 0);
  assert_int_equal(yoke_result_compare(f->ctx, results[0], results[1], &comparison), YOKE_OK);
  for (int k = 0; k < 2; ++k) yoke_result_close(&results[k]);
  assert_int_equal(yoke_comparison_facts_get(f->ctx, comparison, &found), YOKE_OK);
  assert_true(found.same_span && found.largest_nrmse > 0.0 && found.largest_nrmse < 0.2);
  yoke_difference d = {.size = sizeof d};
  expect_usage(f, yoke_comparison_get(f->ctx, comparison, found.n_common, &d), "no yoke_difference number");
  yoke_comparison_destroy(&comparison);
  yoke_comparison_destroy(&comparison); /* again is fine */
  yoke_model_destroy(&model);
}

static void a_model_and_its_whole_are_compared(void **state) {
  fixture               *f     = *state;
  yoke_model            *model = load(f, two_mass);
  const yoke_run_options run   = short_run(NULL, model);
  yoke_run_summary       split = {.size = sizeof split}, whole = {.size = sizeof whole};
  yoke_comparison       *comparison = NULL;
  yoke_comparison_facts  facts      = {.size = sizeof facts};
  assert_int_equal(yoke_run_compare(f->ctx, &run, &split, &whole, &comparison), YOKE_OK);
  assert_int_equal(yoke_comparison_facts_get(f->ctx, comparison, &facts), YOKE_OK);
  assert_true(split.is_split && !whole.is_split && facts.n_common > 0);
  yoke_comparison_destroy(&comparison);
  yoke_run_summary_release(&split);
  yoke_run_summary_release(&whole);
  yoke_model_destroy(&model);
}

static void a_run_is_verified_by_one_with_half_its_step(void **state) {
  fixture               *f          = *state;
  yoke_model            *model      = load(f, two_mass);
  const yoke_run_options run        = short_run(NULL, model);
  yoke_run_summary       sum        = {.size = sizeof sum};
  yoke_verify_facts      how        = {.size = sizeof how};
  yoke_comparison       *comparison = NULL;
  assert_int_equal(yoke_run_verify(f->ctx, f->ctx, &run, &sum, &how, &comparison), YOKE_OK);
  assert_true(comparison != NULL && how.step == 0.5 * sum.macro_step && how.order == sum.convergence_order);
  assert_true(sum.accumulated_error > 0.0 && sum.subsystem_errors != NULL && sum.estimated_steps == sum.macro_steps);
  yoke_comparison_destroy(&comparison);
  yoke_run_summary_release(&sum);
  yoke_model_destroy(&model);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(a_shorter_struct_of_options_stands_for_zeros),
      TEST(a_longer_struct_of_options_is_fine_where_it_asks_for_nothing_more),
      TEST(a_shorter_struct_is_filled_as_far_as_it_goes),
      TEST(a_size_that_was_not_set_is_refused),
      TEST(methods_of_a_list_lie_as_far_apart_as_the_caller_knows_them),
      TEST(items_that_do_not_exist_are_refused),
      TEST(destroying_takes_null),
      TEST(a_context_that_is_missing_is_refused_where_it_is_changed),
      TEST(texts_that_are_missing_are_refused),
      TEST(what_a_simulation_misses_is_refused),
      TEST(tables_that_describe_the_library_end),
      TEST(the_library_tells_what_it_is_and_what_it_can),
      TEST(words_of_statuses_reasons_and_residuals),
      TEST(a_model_tells_what_its_file_says),
      TEST(the_starter_is_written_once_and_runs),
      TEST(every_template_runs_split),
      TEST(a_model_is_given_once),
      TEST(a_run_of_a_model_has_the_bits_of_a_run_of_its_file),
      TEST(studies_of_a_model_are_those_of_its_file),
      TEST(a_split_is_proposed_for_a_model_too),
      TEST(the_fastest_number_of_parts_is_proposed),
      TEST(a_file_that_a_model_was_read_from_is_not_overwritten),
      TEST(a_record_in_memory_is_a_result),
      TEST(a_model_and_its_whole_are_compared),
      TEST(a_run_is_verified_by_one_with_half_its_step),
  };
  return cmocka_run_group_tests_name("objects", tests, NULL, NULL);
}
