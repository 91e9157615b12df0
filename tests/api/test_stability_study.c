/* Stability studies, the call behind `yoke stability`: closed forms, the engine on model files, maps, limits, files. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../plot/xml.h"
#include <yoke/yoke.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define METHOD .size = sizeof(yoke_method_choice)

typedef struct fixture {
  yoke_context         *ctx;
  yoke_run_options      run;
  yoke_stability_table *table;
} fixture;

static int set_up(void **state) {
  fixture *f = calloc(1, sizeof *f);
  assert_int_equal(yoke_context_create(&f->ctx), YOKE_OK);
  *state = f;
  return 0;
}

static int tear_down(void **state) {
  fixture *f = *state;
  yoke_stability_table_destroy(&f->table);
  yoke_context_destroy(&f->ctx);
  free(f);
  return 0;
}

static yoke_status study(fixture *f, const yoke_stability_options *options) {
  yoke_stability_table_destroy(&f->table);
  yoke_context_clear(f->ctx);
  return yoke_stability_study(f->ctx, options, &f->table);
}

static void expect_done(fixture *f, const yoke_stability_options *options) {
  const yoke_status status = study(f, options);
  if (status == YOKE_OK) return;
  for (size_t i = 0; i < yoke_context_n_messages(f->ctx); ++i) print_message("%s\n", yoke_context_message(f->ctx, i));
  fail_msg("%s", yoke_status_name(status));
}

static yoke_stability_options options_of(fixture *f, const char *model, int n_sets, const char *const *sets,
                                         const yoke_method_choice *method) {
  f->run = (yoke_run_options){.size = sizeof f->run, .model = model, .n_sets = n_sets, .sets = sets, .threads = 1};
  return (yoke_stability_options){
      .size = sizeof(yoke_stability_options), .run = &f->run, .n_methods = method != NULL ? 1 : 0, .methods = method};
}

static yoke_stability_row row_of(const fixture *f, int i) {
  yoke_stability_row out = {.size = sizeof out};
  assert_int_equal(yoke_stability_table_get(f->ctx, f->table, i, &out), YOKE_OK);
  return out;
}

static int n_rows_of(const fixture *f) {
  yoke_stability_facts facts = {.size = sizeof facts};
  assert_int_equal(yoke_stability_table_facts_get(f->ctx, f->table, &facts), YOKE_OK);
  return facts.n_rows;
}

/* ---- test models ---- */

static void radii_of_the_test_models_are_those_of_li_8_2(void **state) {
  static const struct {
    const char        *model;
    yoke_method_choice method;
    const char        *sets; /* parted by commas: a case */
    double             rho;
  } cases[] = {
      {"two-mass", {METHOD, .order = "1"}, "re=-0.1,im=2.5", 1.51017686},
      {"two-mass", {METHOD, .decomposition = "displacement/displacement", .order = "3"}, "re=-0.5,im=6", 0.542957094},
      {"two-mass",
       {METHOD, .extension = "d", .order = "1"},
       "re=-0.5,im=9.5,am=10,ar=10,ai=10,arc=10,aic=10",
       3.6968964},
      {"two-mass", {METHOD, .scheme = "explicit", .order = "2"}, "re=-0.5,im=1", 3.8466328},
      {"two-mass-rigid",
       {METHOD, .formulation = "baumgarte", .index = "1", .order = "0"},
       "re=-0.2,im=1.5,ai=10",
       1.13998217},
      {"two-mass-rigid",
       {METHOD, .formulation = "baumgarte", .index = "2", .order = "2"},
       "re=-0.2,im=1.5,am=2,ar=2,ai=2,mu=0.25",
       1.47014905},
      {"two-mass-rigid",
       {METHOD, .formulation = "weighted", .index = "2", .order = "1"},
       "re=-0.2,im=1.5,am=2,ar=2,ai=2,a=2.5",
       0.829093649},
      {"two-mass-rigid",
       {METHOD, .formulation = "weighted", .index = "1", .order = "0"},
       "re=-0.2,im=1.5,am=2,ar=2,ai=2,a=0.5,b=1/4",
       0.795238293},
      {"two-mass-rigid",
       {METHOD, .formulation = "projection", .decomposition = "force/displacement", .order = "1"},
       "re=-0.2,im=1.5,am=10",
       0.976324758},
      {"two-mass-rigid", {METHOD, .order = "1"}, "re=-0.1,im=9.8", 1.37147838},
      {"two-mass-rigid",
       {METHOD, .formulation = "stabilized-index-1", .order = "3"},
       "re=-0.02,im=0.3,am=10,ar=10,ai=10",
       0.831998077},
  };
  fixture *f = *state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    yoke_stability_options o = options_of(f, cases[i].model, 0, NULL, &cases[i].method);
    o.n_cases                = 1;
    o.cases                  = &cases[i].sets;
    expect_done(f, &o);
    CHECK_NEAR(row_of(f, 0).rho / cases[i].rho, 1.0, 1e-7);
  }
}

static void physical_parameters_and_ratios_describe_the_same_point(void **state) {
  fixture                 *f        = *state;
  const yoke_method_choice method   = {METHOD, .order = "2"};
  const char *const        ratios[] = {"re=-0.1", "im=2.5", "am=2"};
  /* H = 0.1 s: c1 = |Lambda|^2 m1 / H^2, d1 = -2 re m1 / H; subsystem 2 has m2 = 2, the coupling the mass 2 m1 m2 / (m1 + m2) = 4/3 */
  const char *const        physical[] = {"step=0.1", "m1=1",    "m2=2",
                                         "c1=626",   "c2=1252", "cc=834.666666666666667",
                                         "d1=2",     "d2=4",    "dc=2.66666666666666667"};
  yoke_stability_options   a          = options_of(f, "two-mass", 3, ratios, &method);
  expect_done(f, &a);
  const double           rho = row_of(f, 0).rho;
  yoke_stability_options b   = options_of(f, "two-mass", 9, physical, &method);
  expect_done(f, &b);
  CHECK_NEAR(row_of(f, 0).rho, rho, 1e-12);
  CHECK_NEAR(row_of(f, 0).step, 0.1, 0.0);
}

static void numbers_of_stable_points_are_those_of_li_8_4(void **state) {
  static const struct {
    yoke_method_choice method;
    int64_t            n;
  } cases[]  = {{{METHOD, .order = "0"}, 1000},
                {{METHOD, .order = "1"}, 976},
                {{METHOD, .decomposition = "force/displacement", .extension = "i", .order = "0"}, 899},
                {{METHOD, .decomposition = "displacement/displacement", .order = "3"}, 985}};
  fixture *f = *state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    yoke_stability_options o = options_of(f, "two-mass", 0, NULL, &cases[i].method);
    o.x                      = (yoke_stability_axis){"re", -0.05, -1.95, 20, false};
    o.y                      = (yoke_stability_axis){"im", 0.1, 9.9, 50, false};
    expect_done(f, &o);
    CHECK_NEAR((double)row_of(f, 0).n_stable, (double)cases[i].n, 2.0);
  }
}

static void limits_of_the_kinematic_coupling_are_those_of_schneider(void **state) {
  static const struct {
    const char *set, *order;
    double      limit;
  } cases[]  = {{"force=approximate", "0", 0.2772},
                {"force=approximate", "1", 0.092495},
                {"force=approximate", "2", 0.0},
                {"force=exact", "1", 0.084938}};
  fixture *f = *state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const char *const        sets[] = {cases[i].set, "outputs=held"};
    const yoke_method_choice method = {METHOD, .order = cases[i].order};
    yoke_stability_options   o      = options_of(f, "kinematic-two-mass", 2, sets, &method);
    o.find_limit                    = true;
    expect_done(f, &o);
    CHECK_NEAR(row_of(f, 0).limit, cases[i].limit, 5e-6);
  }
}

static void the_limit_of_a_dimensionless_model_scales_its_eigenvalue(void **state) {
  fixture                 *f      = *state;
  const yoke_method_choice method = {METHOD, .order = "1"};
  /* Li 8.3: force/force k = 1, onset 1.9383 at re = -0.05: the ray through that point has its limit at 1 */
  const char *const        sets[] = {"re=-0.05", "im=1.9383"};
  yoke_stability_options   o      = options_of(f, "two-mass", 2, sets, &method);
  o.find_limit                    = true;
  expect_done(f, &o);
  CHECK_NEAR(row_of(f, 0).limit, 1.0, 2e-3);
  assert_true(row_of(f, 0).is_relative);
  assert_false(row_of(f, 0).is_stable); /* just above */
}

static void cases_come_before_methods_and_are_named(void **state) {
  static const yoke_method_choice methods[] = {{METHOD, .order = "0"}, {METHOD, .order = "1"}};
  static const char *const        cases[]   = {"am=10", "ar=10,ai=2"};
  fixture                        *f         = *state;
  yoke_stability_options          o         = options_of(f, "two-mass", 0, NULL, methods);
  o.n_methods                               = 2;
  o.n_cases                                 = 2;
  o.cases                                   = cases;
  expect_done(f, &o);
  assert_int_equal(n_rows_of(f), 4);
  assert_string_equal(row_of(f, 1).label, "order 1, am=10");
  assert_string_equal(row_of(f, 2).label, "order 0, ar=10,ai=2");
}

static void an_impossible_method_is_a_row_that_says_why(void **state) {
  static const yoke_method_choice methods[] = {{METHOD, .scheme = "explicit", .extension = "d"},
                                               {METHOD, .order = "1"}};
  fixture                        *f         = *state;
  yoke_stability_options          o         = options_of(f, "two-mass", 0, NULL, methods);
  o.n_methods                               = 2;
  expect_done(f, &o);
  assert_int_equal(row_of(f, 0).status, YOKE_E_USAGE);
  assert_non_null(strstr(row_of(f, 0).reason, "extension d"));
  o.n_methods = 1;
  assert_int_equal(study(f, &o), YOKE_E_USAGE);
}

static void mistakes_name_what_is_wrong(void **state) {
  static const char *const sets[][2] = {{"rr=1", "no setting 'rr'"},
                                        {"re=abc", "expected a number"},
                                        {"mu=1", "no setting 'mu'"}, /* of the rigid model */
                                        {"samples=1.5", "whole number"},
                                        {"feedthrough=maybe", "expected false, true"},
                                        {"m1=1", "not both"},
                                        {"re", "NAME=VALUE"}};
  fixture                 *f         = *state;
  for (size_t i = 0; i < sizeof sets / sizeof *sets; ++i) {
    const char *const            both[] = {"re=-0.2", sets[i][0]};
    const yoke_stability_options o      = options_of(f, "two-mass", 2, both, NULL);
    assert_int_equal(study(f, &o), YOKE_E_USAGE);
    if (strstr(yoke_context_message(f->ctx, 0), sets[i][1]) == NULL)
      fail_msg("'%s' does not say '%s'", yoke_context_message(f->ctx, 0), sets[i][1]);
  }
}

static void bad_axes_are_refused(void **state) {
  static const yoke_stability_axis axes[] = {{"re", 0.0, 0.0, 5, false},      {"re", -2.0, 0.0, 1, false},
                                             {"re", -2.0, 0.0, 5, true},      {"re", (double)NAN, 0.0, 5, false},
                                             {"nothing", 0.0, 1.0, 5, false}, {"samples", 1.0, 5.0, 5, false}};
  fixture                         *f      = *state;
  for (size_t i = 0; i < sizeof axes / sizeof *axes; ++i) {
    yoke_stability_options o = options_of(f, "two-mass", 0, NULL, NULL);
    o.x                      = axes[i];
    assert_int_equal(study(f, &o), YOKE_E_USAGE);
  }
}

/* ---- model files ---- */

static void the_engine_and_the_closed_form_give_the_same_map(void **state) {
  static const yoke_method_choice methods[] = {{METHOD, .order = "1"},
                                               {METHOD, .decomposition = "force/displacement", .order = "2"},
                                               {METHOD, .scheme = "explicit", .order = "1"}};
  static const char *const file_sets[] = {"parameters.m2=2", "parameters.d1=1", "parameters.d2=1", "parameters.dc=1"};
  static const char *const form_sets[] = {"m1=1", "m2=2", "c1=1000", "c2=1000", "d1=1", "d2=1", "dc=1"};
  fixture                 *f           = *state;
  double                   engine[3][12];
  yoke_stability_options   o = options_of(f, "examples/two-mass.yaml", 4, file_sets, methods);
  o.n_methods                = 3;
  o.x                        = (yoke_stability_axis){"step", 1e-3, 0.1, 4, true};
  o.y                        = (yoke_stability_axis){"cc", 100.0, 2000.0, 3, false};
  expect_done(f, &o);
  for (int m = 0; m < 3; ++m) memcpy(engine[m], row_of(f, m).values, sizeof engine[m]);
  f->run.model  = "two-mass";
  f->run.n_sets = 7;
  f->run.sets   = form_sets;
  expect_done(f, &o);
  for (int m = 0; m < 3; ++m) {
    for (int i = 0; i < 12; ++i) CHECK_NEAR(engine[m][i], row_of(f, m).values[i], 1e-9 * fmax(1.0, engine[m][i]));
  }
}

static void axes_may_be_exchanged(void **state) {
  fixture                  *f     = *state;
  const yoke_stability_axis step  = {"step", 1e-3, 0.1, 4, true};
  const yoke_stability_axis stiff = {"connections.coupling.stiffness", 100.0, 2000.0, 3, false};
  double                    values[12];
  yoke_stability_options    o = options_of(f, "examples/two-mass.yaml", 0, NULL, NULL);
  o.x                         = step;
  o.y                         = stiff;
  expect_done(f, &o);
  memcpy(values, row_of(f, 0).values, sizeof values);
  o.x = stiff;
  o.y = step;
  expect_done(f, &o);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 3; ++j) CHECK_NEAR(row_of(f, 0).values[i * 3 + j], values[j * 4 + i], 1e-12);
  }
}

static void the_limit_of_a_model_file_names_the_coupling(void **state) {
  fixture                 *f      = *state;
  const yoke_method_choice method = {METHOD, .order = "2"};
  yoke_stability_options   o      = options_of(f, "examples/two-mass.yaml", 0, NULL, &method);
  o.find_limit                    = true;
  expect_done(f, &o);
  const double limit = row_of(f, 0).limit;
  assert_string_equal(row_of(f, 0).coupling, "coupling");
  /* the closed form agrees */
  const char *const sets[] = {"m2=2", "c1=1000", "c2=1000", "cc=1000", "d1=10", "d2=10", "dc=10", "step=1e-3"};
  f->run.model             = "two-mass";
  f->run.n_sets            = 8;
  f->run.sets              = sets;
  expect_done(f, &o);
  CHECK_NEAR(row_of(f, 0).limit / limit, 1.0, 1e-5);
}

static void a_model_without_split_and_a_missing_file_are_errors(void **state) {
  fixture               *f = *state;
  yoke_stability_options o = options_of(f, "examples/pendulum.yaml", 0, NULL, NULL);
  assert_int_equal(study(f, &o), YOKE_E_USAGE);
  f->run.model = "examples/no-such-file.yaml";
  assert_int_equal(study(f, &o), YOKE_E_IO);
  f->run.model = "examples/two-mass.yaml";
  o.x          = (yoke_stability_axis){"no_such_parameter", 0.0, 1.0, 3, false};
  assert_int_equal(study(f, &o), YOKE_E_MODEL);
}

/* ---- threads, interrupt, files ---- */

static void the_number_of_threads_changes_no_bit(void **state) {
  fixture                 *f      = *state;
  const yoke_method_choice method = {METHOD, .extension = "d", .order = "1"};
  double                   values[35];
  yoke_stability_options   o = options_of(f, "two-mass", 0, NULL, &method);
  o.x                        = (yoke_stability_axis){"re", -2.0, 0.0, 5, false};
  o.y                        = (yoke_stability_axis){"im", 0.0, 10.0, 7, false};
  expect_done(f, &o);
  memcpy(values, row_of(f, 0).values, sizeof values);
  f->run.threads = 3;
  expect_done(f, &o);
  assert_memory_equal(values, row_of(f, 0).values, sizeof values);
}

static char *whole_file(const char *path) {
  char *text = calloc(1, 1 << 20);
  FILE *file = fopen(path, "rb");
  assert_true(text != NULL && file != NULL);
  assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
  fclose(file);
  return text;
}

static bool stop(void *user, double share) {
  ++*(int *)user;
  return share < 0.3;
}

static void an_interrupt_keeps_the_rows_that_are_done(void **state) {
  static const char *const models[] = {"two-mass", "examples/two-mass.yaml"};
  fixture                 *f        = *state;
  for (int m = 0; m < 2; ++m) {
    int                    n_calls = 0;
    yoke_stability_options o       = options_of(f, models[m], 0, NULL, NULL);
    o.x                            = (yoke_stability_axis){m == 0 ? "re" : "step", 1e-3, 1e-2, 3, false};
    o.y                            = (yoke_stability_axis){m == 0 ? "im" : "cc", 1.0, 10.0, 10, false};
    o.progress                     = stop;
    o.user                         = &n_calls;
    assert_int_equal(study(f, &o), YOKE_E_INTERRUPTED);
    assert_true(n_calls > 0);
    assert_true(isfinite(row_of(f, 0).values[0]));
    assert_true(isnan(row_of(f, 0).values[29]));
  }
}

static void an_interrupted_map_is_written_as_far_as_it_came(void **state) {
  fixture               *f       = *state;
  int                    n_calls = 0;
  char                   csv[]   = P_tmpdir "/yoke-stability-XXXXXX";
  yoke_stability_options o       = options_of(f, "two-mass", 0, NULL, NULL);
  close(mkstemp(csv));
  o.x        = (yoke_stability_axis){"re", -2.0, 0.0, 2, false};
  o.y        = (yoke_stability_axis){"im", 0.0, 9.0, 10, false};
  o.progress = stop;
  o.user     = &n_calls;
  o.csv      = csv;
  assert_int_equal(study(f, &o), YOKE_E_INTERRUPTED);
  char       *table = whole_file(csv);
  const char *first = strchr(table, '\n');
  assert_non_null(first);
  assert_int_equal(strncmp(first, "\n-2,0,nan", 9) == 0, 0);
  assert_non_null(strstr(table, ",9,nan"));
  free(table);
  unlink(csv);
}

static void maps_and_lines_are_written(void **state) {
  static const yoke_method_choice methods[] = {
      {METHOD, .order = "1"}, {METHOD, .order = "2"}, {METHOD, .scheme = "explicit", .extension = "d"}};
  fixture *f     = *state;
  char     csv[] = P_tmpdir "/yoke-stability-XXXXXX", svg[80], h5[80];
  close(mkstemp(csv));
  snprintf(svg, sizeof svg, "%s.svg", csv);
  snprintf(h5, sizeof h5, "%s.h5", csv);
  for (int n_axes = 1; n_axes <= 2; ++n_axes) {
    yoke_stability_options o = options_of(f, "two-mass", 0, NULL, methods);
    o.n_methods              = 3;
    o.x                      = (yoke_stability_axis){"re", -2.0, 0.0, 6, false};
    if (n_axes == 2) o.y = (yoke_stability_axis){"im", 0.01, 10.0, 5, true};
    o.csv = csv;
    o.svg = svg;
    o.out = yoke_has_hdf5() ? h5 : NULL;
    expect_done(f, &o);
    char *table = whole_file(csv), *picture = whole_file(svg);
    assert_non_null(
        strstr(table, n_axes == 2 ? "\"re\",\"im\",\"order 1\",\"order 2\"," : "\"re\",\"order 1\",\"order 2\","));
    int n_lines = 0;
    for (const char *c = table; *c; ++c) n_lines += *c == '\n';
    assert_int_equal(n_lines, n_axes == 2 ? 31 : 7);
    xml_expect_good(picture);
    assert_non_null(strstr(picture, n_axes == 2 ? "not possible" : "spectral radius"));
    assert_non_null(strstr(picture, ">-2.0</text>")); /* axes go from end to end */
    assert_non_null(strstr(picture, ">0.0</text>"));
    if (yoke_has_hdf5()) assert_true(access(h5, R_OK) == 0);
    free(table);
    free(picture);
  }
  unlink(csv);
  unlink(svg);
  unlink(h5);
}

static void files_that_cannot_be_written_are_errors(void **state) {
  static const char *const bad = "/no/such/folder/file";
  fixture                 *f   = *state;
  for (int k = 0; k < (yoke_has_hdf5() ? 3 : 2); ++k) {
    yoke_stability_options o = options_of(f, "two-mass", 0, NULL, NULL);
    o.x                      = (yoke_stability_axis){"re", -2.0, 0.0, 3, false};
    if (k == 0) o.csv = bad;
    if (k == 1) o.svg = bad;
    if (k == 2) o.out = bad;
    assert_int_equal(study(f, &o), YOKE_E_IO);
    assert_non_null(strstr(yoke_context_message(f->ctx, 0), bad));
  }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(radii_of_the_test_models_are_those_of_li_8_2),
      TEST(physical_parameters_and_ratios_describe_the_same_point),
      TEST(numbers_of_stable_points_are_those_of_li_8_4),
      TEST(limits_of_the_kinematic_coupling_are_those_of_schneider),
      TEST(the_limit_of_a_dimensionless_model_scales_its_eigenvalue),
      TEST(cases_come_before_methods_and_are_named),
      TEST(an_impossible_method_is_a_row_that_says_why),
      TEST(mistakes_name_what_is_wrong),
      TEST(bad_axes_are_refused),
      TEST(the_engine_and_the_closed_form_give_the_same_map),
      TEST(axes_may_be_exchanged),
      TEST(the_limit_of_a_model_file_names_the_coupling),
      TEST(a_model_without_split_and_a_missing_file_are_errors),
      TEST(the_number_of_threads_changes_no_bit),
      TEST(an_interrupt_keeps_the_rows_that_are_done),
      TEST(an_interrupted_map_is_written_as_far_as_it_came),
      TEST(maps_and_lines_are_written),
      TEST(files_that_cannot_be_written_are_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
