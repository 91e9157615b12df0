/* Results: writing, reading, killed and full-disk runs, comparison. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "check.h"
#include "folder.h"

#include "api/compare.h"
#include "io/csv.h"
#include "io/result_writer.h"
#include <yoke/result.h>
#include <locale.h>
#ifdef YOKE_WITH_HDF5
#include "hdf5_read.h"
#endif
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 3 };
static const char *const names[N] = {"bob.x", "bob.vx", "total.energy"};

/* Row k of the test data: values whose decimal form needs all digits, and some at the edges of the format. */
static double value(int k, int i) {
  if (k == 1 && i == 0) return -0.0;
  if (k == 2 && i == 0) return 4.9406564584124654e-324;
  if (k == 3 && i == 0) return 1.7976931348623157e308;
  return sin(1.0 + k) / (3.0 + i);
}

static void put_text(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

/* Rows of [n_rows, n] values at times k h as CSV. */
static void write_csv(fixture *f, const char *path, int n_rows, double h, double (*at)(int k, int i)) {
  bool             is_kept;
  yoke_csv_writer *writer;
  assert_int_equal(yoke_csv_writer_create(f->ctx, path, N, names, &writer), YOKE_OK);
  for (int k = 0; k < n_rows; ++k) {
    const double row[N] = {at(k, 0), at(k, 1), at(k, 2)};
    assert_int_equal(yoke_csv_writer_row(writer, f->ctx, k * h, row), YOKE_OK);
  }
  assert_int_equal(yoke_csv_writer_close(&writer, f->ctx, true, &is_kept), YOKE_OK);
}

/* The facts of a comparison, and its quantity i where that is wanted, without its name. */
static yoke_comparison_facts compare(fixture *f, yoke_result *a, yoke_result *b, int i, yoke_difference *difference) {
  yoke_comparison      *c     = NULL;
  yoke_comparison_facts facts = {.size = sizeof facts};
  assert_int_equal(yoke_result_compare(f->ctx, a, b, &c), YOKE_OK);
  assert_int_equal(yoke_comparison_facts_get(f->ctx, c, &facts), YOKE_OK);
  if (difference != NULL) {
    *difference = (yoke_difference){.size = sizeof *difference};
    assert_int_equal(yoke_comparison_get(f->ctx, c, i, difference), YOKE_OK);
    difference->name = NULL;
  }
  yoke_comparison_destroy(&c);
  return facts;
}

static void assert_holds_test_data(fixture *f, const char *path, int n_rows) {
  yoke_result *result;
  assert_int_equal(yoke_result_open(f->ctx, path, &result), YOKE_OK);
  assert_int_equal(yoke_result_n_quantities(result), N);
  for (int i = 0; i < N; ++i) {
    size_t        n_times;
    const double *t = yoke_result_times(result, i, &n_times);
    assert_int_equal(n_times, n_rows);
    assert_string_equal(yoke_result_name(result, i), names[i]);
    assert_int_equal(yoke_result_find(result, names[i]), i);
    double *read = calloc((size_t)n_rows, sizeof *read);
    assert_int_equal(yoke_result_read(f->ctx, result, i, read), YOKE_OK);
    for (int k = 0; k < n_rows; ++k) {
      const double expected = value(k, i), time = k * 0.01;
      assert_memory_equal(&read[k], &expected, sizeof expected);
      assert_memory_equal(&t[k], &time, sizeof time);
    }
    free(read);
  }
  assert_int_equal(yoke_result_find(result, "bob.y"), -1);
  yoke_result_close(&result);
}

/* ---- CSV ---- */

static void csv_keeps_every_bit(void **state) {
  fixture *f = *state;
  char     path[128];
  write_csv(f, in_folder(f, "a.csv", path), 20, 0.01, value);
  assert_holds_test_data(f, path, 20);
}

static void csv_has_one_header_line_with_time_first(void **state) {
  fixture *f = *state;
  char     path[128], line[200];
  write_csv(f, in_folder(f, "a.csv", path), 1, 0.01, value);
  FILE *file = fopen(path, "r");
  assert_non_null(fgets(line, sizeof line, file));
  fclose(file);
  assert_string_equal(line, "time,bob.x,bob.vx,total.energy\n");
}

static void csv_on_a_full_disk_is_an_error_that_names_the_file(void **state) {
  bool             is_kept;
  fixture         *f = *state;
  yoke_csv_writer *writer;
  assert_int_equal(yoke_csv_writer_create(f->ctx, "/dev/full", N, names, &writer), YOKE_OK);
  const double row[N] = {1, 2, 3};
  yoke_csv_writer_row(writer, f->ctx, 0.0, row);
  assert_int_equal(yoke_csv_writer_close(&writer, f->ctx, true, &is_kept), YOKE_E_IO);
  assert_true(has_message(f->ctx, "/dev/full"));
}

static void csv_in_a_missing_folder_is_an_error_that_names_the_file(void **state) {
  fixture         *f = *state;
  char             path[128];
  yoke_csv_writer *writer;
  assert_int_equal(yoke_csv_writer_create(f->ctx, in_folder(f, "none/a.csv", path), N, names, &writer), YOKE_E_IO);
  assert_true(has_message(f->ctx, path));
}

static void unfinished_last_line_of_a_csv_is_dropped(void **state) {
  fixture       *f = *state;
  char           path[128];
  yoke_csv_table table;
  put_text(in_folder(f, "a.csv", path), "time,a\n0,1\n1,2\n2,");
  assert_int_equal(yoke_csv_read(f->ctx, path, &table), YOKE_OK);
  assert_int_equal(table.n_rows, 2);
  assert_true(has_message(f->ctx, "line 4"));
  yoke_csv_table_release(&table);
}

static void broken_csv_line_is_an_error_with_its_number(void **state) {
  static const char *const texts[] = {"time,a\n0,1\n1\n2,3\n", "time,a\n0,1\n1,x\n2,3\n", "time,a\n0,1\n1,2,3\n"};
  fixture                 *f       = *state;
  char                     path[128];
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
    yoke_csv_table table;
    put_text(in_folder(f, "a.csv", path), texts[i]);
    yoke_context_clear(f->ctx);
    assert_int_equal(yoke_csv_read(f->ctx, path, &table), YOKE_E_IO);
    assert_true(has_message(f->ctx, "line 3"));
  }
}

static void file_that_is_no_result_is_refused(void **state) {
  static const char *const texts[] = {"", "\n", "a,b\n", "no header", "\x89HDF\r\n\x1a\n broken"};
  fixture                 *f       = *state;
  char                     path[128];
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
    yoke_result *result;
    put_text(in_folder(f, "a.h5", path), texts[i]);
    assert_int_not_equal(yoke_result_open(f->ctx, path, &result), YOKE_OK);
    assert_null(result);
  }
}

static void numbers_have_a_point_in_every_locale(void **state) {
  (void)state;
  char                     text[YOKE_NUMBER_SIZE];
  static const char *const locales[] = {"C", "de_DE.UTF-8", "fr_FR.UTF-8",
                                        "fa_IR.UTF-8"}; /* those that are installed */
  for (size_t i = 0; i < sizeof locales / sizeof *locales; ++i) {
    if (!setlocale(LC_ALL, locales[i])) continue;
    yoke_number_text(-0.1, text);
    assert_string_equal(text, "-0.10000000000000001");
    yoke_number_text(1.5e300, text);
    assert_string_equal(text, "1.5000000000000001e+300");
  }
  setlocale(LC_ALL, "C");
}

/* ---- HDF5 ---- */

static const char *const units[N] = {"m", "m/s", "J"};

static yoke_result_def definition(const char *path) {
  return (yoke_result_def){.path     = path,
                           .group    = "main",
                           .version  = "1.2.3",
                           .name     = "pendulum",
                           .model    = "yoke: 1\n",
                           .settings = "t_end: 5\n",
                           .t_end    = 5.0,
                           .n        = N,
                           .names    = names,
                           .units    = units};
}

#ifdef YOKE_WITH_HDF5

static yoke_status write_rows(yoke_result_writer *writer, yoke_context *ctx, int n_rows) {
  for (int k = 0; k < n_rows; ++k) {
    const double        row[N]   = {value(k, 0), value(k, 1), value(k, 2)};
    const yoke_counters counters = {.steps = k};
    YOKE_TRY(yoke_result_writer_row(writer, ctx, k * 0.01, row, &counters, 1e-3, 5));
  }
  return YOKE_OK;
}

static void write_hdf5(fixture *f, const char *path, int n_rows) {
  bool                  is_kept;
  const yoke_result_def def = definition(path);
  yoke_result_writer   *writer;
  assert_int_equal(yoke_result_writer_create(f->ctx, &def, &writer), YOKE_OK);
  assert_int_equal(write_rows(writer, f->ctx, n_rows), YOKE_OK);
  assert_int_equal(yoke_result_writer_close(&writer, f->ctx, "done", true, &is_kept), YOKE_OK);
}

static void hdf5_keeps_every_bit(void **state) {
  fixture *f = *state;
  char     path[128];
  write_hdf5(f, in_folder(f, "a.h5", path), 2500); /* more than two buffers */
  assert_holds_test_data(f, path, 2500);
}

static void hdf5_tells_about_its_run(void **state) {
  fixture          *f = *state;
  char              path[128];
  yoke_result      *result;
  yoke_result_facts facts = {.size = sizeof facts};
  write_hdf5(f, in_folder(f, "a.h5", path), 11);
  assert_int_equal(yoke_result_open(f->ctx, path, &result), YOKE_OK);
  assert_int_equal(yoke_result_facts_get(f->ctx, result, &facts), YOKE_OK);
  assert_string_equal(facts.version, "1.2.3");
  assert_string_equal(facts.name, "pendulum");
  assert_string_equal(facts.model, "yoke: 1\n");
  assert_string_equal(facts.settings, "t_end: 5\n");
  assert_string_equal(facts.status, "done");
  assert_true(facts.t_end == 5.0 && facts.t_reached == 10 * 0.01);
  assert_false(facts.is_open_for_writing);
  assert_string_equal(yoke_result_unit(result, 1), "m/s");
  yoke_result_close(&result);
}

/* 3 subsystems, 2 channels, 7 macro steps and 5 output rows. */
static void write_split(fixture *f, const char *path, bool has_energies) {
  bool                     is_kept;
  static const char *const subsystems[] = {"a", "b", "c[1]"}, *const channels[] = {"knee.force x", "knee.force y"};
  static const char *const couplings[] = {"knee"};
  const yoke_result_split  split       = {.n_subsystems = 3,
                                          .n_couplings  = 1,
                                          .couplings    = couplings,
                                          .subsystems   = subsystems,
                                          .n_channels   = 2,
                                          .channels     = channels,
                                          .scheme       = "implicit",
                                          .sequence     = "jacobi",
                                          .order        = 2,
                                          .step         = 0.01};
  yoke_result_def          def         = definition(path);
  yoke_result_writer      *writer;
  def.split = &split;
  assert_int_equal(yoke_result_writer_create(f->ctx, &def, &writer), YOKE_OK);
  for (int k = 0; k < 7; ++k) {
    const double         values[2] = {k, -0.5 * k};
    const yoke_macro_row row       = {.t            = 0.01 * (k + 1),
                                      .H            = k == 3 ? 0.002 : 0.01,
                                      .order        = k < 2 ? k : 2,
                                      .iterations   = k,
                                      .integrations = 6,
                                      .error        = 0.1 * k,
                                      .rejected     = {k == 3 ? 2 : 0, 0, 0, k == 5 ? 1 : 0},
                                      .reduced_by   = k == 3   ? 0
                                                      : k == 5 ? 3
                                                      : k == 6 ? 5
                                                               : YOKE_N_REASONS,
                                      .is_forced    = k == 4,
                                      .channels     = values};
    assert_int_equal(yoke_result_writer_macro(writer, f->ctx, &row), YOKE_OK);
    for (int i = 0; i < 3; ++i)
      yoke_result_writer_part(writer, i, &(yoke_counters){.steps = 10 * k + i, .evaluations = k}, 0.0);
    if (k < 5) {
      const double        row_values[N] = {value(k, 0), value(k, 1), value(k, 2)};
      const yoke_counters counters      = {.steps = k};
      assert_int_equal(yoke_result_writer_row(writer, f->ctx, k * 0.01, row_values, &counters, 1e-3, 5), YOKE_OK);
    }
  }
  for (int k = 0; k < 2 && has_energies; ++k) {
    double   *row = yoke_result_writer_energies(writer, k == 1);
    const int n   = k == 1 ? YOKE_N_COUPLING_ENERGIES : 3 * YOKE_N_SUBSYSTEM_ENERGIES;
    for (int i = 0; i < n; ++i) row[i] = 100 * k + i + 0.25;
  }
  assert_int_equal(yoke_result_writer_close(&writer, f->ctx, "done", true, &is_kept), YOKE_OK);
}

static void hdf5_of_a_split_run_has_the_quantities_of_the_whole_model(void **state) {
  fixture          *f = *state;
  char              path[128];
  yoke_result      *result;
  yoke_result_facts facts = {.size = sizeof facts};
  write_split(f, in_folder(f, "a.h5", path), false);
  assert_holds_test_data(f, path, 5);
  assert_int_equal(yoke_result_open(f->ctx, path, &result), YOKE_OK);
  assert_int_equal(yoke_result_facts_get(f->ctx, result, &facts), YOKE_OK);
  assert_int_equal(yoke_result_n_quantities(result), N);
  assert_string_equal(facts.scheme, "implicit");
  assert_int_equal(facts.n_groups, 1);
  assert_int_equal(facts.n_subsystems, 3);
  assert_int_equal(facts.n_channels, 2);
  assert_int_equal(facts.n_macro_steps, 7);
  assert_int_equal(facts.order, 2);
  assert_true(facts.macro_step == 0.01);
  yoke_result_close(&result);
}

static void the_report_of_macro_steps_follows_from_the_file(void **state) {
  fixture          *f = *state;
  char              path[128];
  yoke_result      *result;
  yoke_result_facts facts = {.size = sizeof facts};
  write_split(f, in_folder(f, "a.h5", path), false);
  assert_int_equal(yoke_result_open(f->ctx, path, &result), YOKE_OK);
  assert_int_equal(yoke_result_facts_get(f->ctx, result, &facts), YOKE_OK);
  assert_int_equal(facts.report.steps, 7);
  assert_true(facts.report.smallest == 0.002 && facts.report.largest == 0.01);
  CHECK_NEAR(facts.report.mean, (6 * 0.01 + 0.002) / 7, 1e-17);
  CHECK_NEAR(facts.report.largest_error, 0.6, 1e-15);
  const int64_t rejected[] = {2, 0, 0, 1}, reduced[] = {1, 0, 0, 1, 0, 1}, degrees[] = {1, 1, 5, 0, 0, 0};
  assert_memory_equal(facts.report.rejected, rejected, sizeof rejected);
  assert_memory_equal(facts.report.reduced, reduced, sizeof reduced);
  assert_memory_equal(facts.report.degrees, degrees, sizeof degrees);
  assert_int_equal(facts.report.forced, 1);
  yoke_result_close(&result);
}

static void hdf5_of_a_split_run_has_macro_steps_and_work_of_the_subsystems(void **state) {
  fixture *f = *state;
  char     path[128];
  double   values[20];
  write_split(f, in_folder(f, "a.h5", path), false);
  assert_int_equal(read_dataset(path, "/cosimulation/couplings/values", 20, values), 14);
  assert_true(values[12] == 6.0 && values[13] == -3.0);
  assert_int_equal(read_dataset(path, "/cosimulation/iterations", 20, values), 7);
  assert_true(values[6] == 6.0);
  assert_int_equal(read_dataset(path, "/cosimulation/time", 20, values), 7);
  assert_true(values[6] == 0.01 * 7);
  assert_int_equal(read_dataset(path, "/subsystems/steps", 20, values), 15);
  assert_true(values[2] == 2.0 && values[14] == 42.0); /* of the last one, in the first and in the last row */
}

static void hdf5_of_a_split_run_has_the_energy_account_of_its_end(void **state) {
  fixture          *f = *state;
  char              path[128], text[64];
  double            values[20];
  yoke_result      *result;
  yoke_result_facts facts = {.size = sizeof facts};
  yoke_energy_share e;
  write_split(f, in_folder(f, "a.h5", path), true);
  assert_int_equal(read_dataset(path, "/energies/subsystems", 20, values), 15);
  assert_true(values[14] == 14.25);
  assert_string_equal(read_name(path, "/energies/subsystems", "names", 2, text), "external");
  assert_string_equal(read_name(path, "/energies/couplings", "rows", 0, text), "knee");
  assert_int_equal(yoke_result_open(f->ctx, path, &result), YOKE_OK);
  assert_int_equal(yoke_result_facts_get(f->ctx, result, &facts), YOKE_OK);
  assert_int_equal(facts.n_subsystem_energies, 3);
  assert_int_equal(facts.n_coupling_energies, 1);
  assert_int_equal(yoke_result_energy(f->ctx, result, false, 2, &e), YOKE_OK);
  assert_string_equal(e.name, "c[1]");
  assert_true(e.energy == 10.25 && e.dissipated == 11.25 && e.external == 12.25 && e.work[0] == 13.25);
  assert_true(e.leak == 14.25);
  assert_int_equal(yoke_result_energy(f->ctx, result, true, 0, &e), YOKE_OK);
  assert_string_equal(e.name, "knee");
  assert_true(e.energy == 100.25 && e.dissipated == 101.25 && e.work[0] == 102.25 && e.work[1] == 103.25);
  assert_true(e.leak == 104.25 && e.corrected == 105.25);
  assert_int_equal(yoke_result_energy(f->ctx, result, true, 1, &e), YOKE_E_USAGE);
  yoke_result_close(&result);
}

static void hdf5_of_a_run_without_an_energy_account_holds_none(void **state) {
  fixture          *f = *state;
  char              path[128];
  double            values[20];
  yoke_result      *result;
  yoke_result_facts facts = {.size = sizeof facts};
  write_split(f, in_folder(f, "a.h5", path), false);
  assert_int_equal(read_dataset(path, "/energies/subsystems", 20, values), 0);
  assert_int_equal(yoke_result_open(f->ctx, path, &result), YOKE_OK);
  assert_int_equal(yoke_result_facts_get(f->ctx, result, &facts), YOKE_OK);
  assert_int_equal(facts.n_subsystem_energies, 0);
  assert_int_equal(facts.n_coupling_energies, 0);
  yoke_result_close(&result);
}

/* ---- tables of energies that are none ---- */

typedef struct odd_table {
  const char *what;
  int         rank;
  hsize_t     extent[3];
  bool        is_text;         /* numbers otherwise */
  int         n_names, n_rows; /* texts of the attributes; 0: of no size, -1: none */
  const char *first;           /* of the names */
} odd_table;

static void put_texts(hid_t object, const char *name, int n, const char *first) {
  char block[8][16] = {"energy", "dissipated", "external", "work", "leak"};
  if (n < 0) return;
  const hsize_t size  = (hsize_t)n;
  hid_t         space = n > 0 ? H5Screate_simple(1, &size, NULL) : H5Screate(H5S_NULL), type = H5Tcopy(H5T_C_S1);
  if (first != NULL) snprintf(block[0], sizeof block[0], "%s", first);
  assert_true(H5Tset_size(type, sizeof block[0]) >= 0);
  hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(attribute >= 0);
  if (n > 0) assert_true(H5Awrite(attribute, type, block) >= 0);
  H5Aclose(attribute);
  H5Tclose(type);
  H5Sclose(space);
}

/* In the place of the table of subsystems. Nothing is written into it: it takes no room in the file, however large it is. */
static void put_odd_table(const char *path, const odd_table *odd) {
  const hsize_t chunk[3] = {1, 4, 1};
  hid_t         file     = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  assert_true(file >= 0 && H5Ldelete(file, "energies/subsystems", H5P_DEFAULT) >= 0);
  hid_t space = H5Screate_simple(odd->rank, odd->extent, NULL), properties = H5Pcreate(H5P_DATASET_CREATE);
  hid_t type = H5Tcopy(odd->is_text ? H5T_C_S1 : H5T_NATIVE_DOUBLE);
  assert_true(H5Pset_chunk(properties, odd->rank, chunk) >= 0);
  hid_t table = H5Dcreate2(file, "energies/subsystems", type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  assert_true(table >= 0);
  put_texts(table, "names", odd->n_names, odd->first);
  put_texts(table, "rows", odd->n_rows, NULL);
  H5Dclose(table);
  H5Pclose(properties);
  H5Tclose(type);
  H5Sclose(space);
  assert_true(H5Fclose(file) >= 0);
}

static void assert_energies_are_left_out(fixture *f, const char *path, const char *what) {
  yoke_result      *result = NULL;
  yoke_result_facts facts  = {.size = sizeof facts};
  yoke_context_clear(f->ctx);
  if (yoke_result_open(f->ctx, path, &result) != YOKE_OK) fail_msg("%s: %s", what, yoke_context_message(f->ctx, 0));
  assert_int_equal(yoke_result_facts_get(f->ctx, result, &facts), YOKE_OK);
  if (!has_message(f->ctx, "/energies/subsystems is no table")) fail_msg("%s: without a word", what);
  assert_int_equal(facts.n_subsystem_energies, 0);
  assert_int_equal(yoke_result_n_quantities(result), N);
  yoke_result_close(&result);
}

static void tables_of_energies_that_are_none_are_left_out_with_a_word(void **state) {
  static const odd_table odd[] = {
      {"four columns", 2, {3, 4}, false, 5, 3, NULL},
      {"one dimension", 1, {15}, false, 5, 3, NULL},
      {"three dimensions", 3, {3, 5, 1}, false, 5, 3, NULL},
      {"texts", 2, {3, 5}, true, 5, 3, NULL},
      {"columns without names", 2, {3, 5}, false, -1, 3, NULL},
      {"columns with other names", 2, {3, 5}, false, 5, 3, "power"},
      {"rows without names", 2, {3, 5}, false, 5, -1, NULL},
      {"names of two of three rows", 2, {3, 5}, false, 5, 2, NULL},
      {"names of no size", 2, {3, 5}, false, 5, 0, NULL},
      {"a thousand million rows without names", 2, {1000000000, 5}, false, 5, 0, NULL},
      {"more rows than there are addresses", 2, {(hsize_t)1 << 62, 5}, false, 5, 3, NULL},
      {"as many rows as fit into an int", 2, {INT32_MAX, 5}, false, 5, 3, NULL},
  };
  fixture *f = *state;
  char     path[128];
  for (size_t i = 0; i < sizeof odd / sizeof *odd; ++i) {
    write_split(f, in_folder(f, "a.h5", path), true);
    put_odd_table(path, &odd[i]);
    assert_energies_are_left_out(f, path, odd[i].what);
  }
}

static void energies_in_another_place_are_left_out_with_a_word(void **state) {
  fixture *f = *state;
  char     path[128];
  for (int i = 0; i < 3; ++i) {
    write_split(f, in_folder(f, "a.h5", path), true);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), space = H5Screate(H5S_SCALAR), object = -1;
    assert_true(file >= 0 && H5Ldelete(file, i < 2 ? "energies/subsystems" : "energies", H5P_DEFAULT) >= 0);
    if (i == 0) object = H5Gcreate2(file, "energies/subsystems", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (i == 1) assert_true(H5Lcreate_soft("/nowhere", file, "energies/subsystems", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    if (i == 2) object = H5Dcreate2(file, "energies", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (object >= 0) assert_true(H5Oclose(object) >= 0);
    H5Sclose(space);
    assert_true(H5Fclose(file) >= 0);
    assert_energies_are_left_out(f, path, i == 0 ? "a group" : i == 1 ? "a link to nothing" : "a number");
  }
}

/* Times of so many steps would be asked of the memory. */
static void more_macro_steps_than_the_file_can_hold_are_told(void **state) {
  static const hsize_t n[] = {(hsize_t)1 << 61, (hsize_t)1 << 34};
  fixture             *f   = *state;
  for (int i = 0; i < 2; ++i) {
    char              path[128];
    const hsize_t     chunk  = 16;
    yoke_result      *result = NULL;
    yoke_result_facts facts  = {.size = sizeof facts};
    write_split(f, in_folder(f, "a.h5", path), true);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), space = H5Screate_simple(1, &n[i], NULL);
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Ldelete(file, "cosimulation/time", H5P_DEFAULT) >= 0 && H5Pset_chunk(properties, 1, &chunk) >= 0);
    hid_t time = H5Dcreate2(file, "cosimulation/time", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    assert_true(time >= 0);
    H5Dclose(time);
    H5Pclose(properties);
    H5Sclose(space);
    assert_true(H5Fclose(file) >= 0);
    yoke_context_clear(f->ctx);
    assert_int_equal(yoke_result_open(f->ctx, path, &result), YOKE_OK);
    assert_true(has_message(f->ctx, "is damaged"));
    assert_int_equal(yoke_result_facts_get(f->ctx, result, &facts), YOKE_OK);
    assert_int_equal(facts.n_macro_steps, 0);
    yoke_result_close(&result);
  }
}

static void hdf5_holds_many_quantities(void **state) {
  bool is_kept;
  enum { MANY = 20000 };
  fixture     *f = *state;
  char         path[128];
  const char **many       = calloc(MANY, sizeof *many);
  char(*text)[24]         = calloc(MANY, sizeof *text);
  double             *row = calloc(MANY, sizeof *row);
  yoke_result_writer *writer;
  yoke_result        *result;
  const yoke_counters counters = {0};
  yoke_result_def     def      = definition(in_folder(f, "a.h5", path));
  for (int i = 0; i < MANY; ++i) {
    snprintf(text[i], sizeof text[i], "c.x[%d]", i + 1);
    many[i] = text[i];
    row[i]  = i;
  }
  def.n = MANY, def.names = def.units = many;
  assert_int_equal(yoke_result_writer_create(f->ctx, &def, &writer), YOKE_OK);
  for (int k = 0; k < 3; ++k)
    assert_int_equal(yoke_result_writer_row(writer, f->ctx, k, row, &counters, 1, 1), YOKE_OK);
  assert_int_equal(yoke_result_writer_close(&writer, f->ctx, "done", true, &is_kept), YOKE_OK);
  assert_int_equal(yoke_result_open(f->ctx, path, &result), YOKE_OK);
  const int last = yoke_result_find(result, "c.x[20000]");
  double    read[3];
  assert_int_equal(last, MANY - 1);
  assert_int_equal(yoke_result_read(f->ctx, result, last, read), YOKE_OK);
  assert_true(read[0] == last && read[2] == last);
  yoke_result_close(&result);
  free(row), free(text), free(many);
}

/* Leaves a file as a run does that is killed after 1500 rows: beside `path`. */
static void write_and_die(const char *path) {
  const pid_t child = fork();
  if (child == 0) {
    const yoke_result_def def = definition(path);
    yoke_result_writer   *writer;
    if (yoke_result_writer_create(NULL, &def, &writer) != YOKE_OK || write_rows(writer, NULL, 1500) != YOKE_OK)
      _exit(1);
    raise(SIGKILL);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void killed_run_leaves_a_readable_file(void **state) {
  fixture *f = *state;
  char     path[128];
  write_and_die(in_folder(f, "a.h5", path));
  assert_int_equal(access(path, F_OK), -1);
  assert_holds_test_data(f, in_folder(f, "a.part.h5", path), 1000);
}

static void repair_clears_the_mark_of_a_killed_run(void **state) {
  fixture          *f = *state;
  char              path[128];
  yoke_result      *result;
  yoke_result_facts facts = {.size = sizeof facts};
  write_and_die(in_folder(f, "a.h5", path));
  in_folder(f, "a.part.h5", path);
  for (int repaired = 0; repaired < 2; ++repaired) {
    assert_int_equal(yoke_result_open(f->ctx, path, &result), YOKE_OK);
    assert_int_equal(yoke_result_facts_get(f->ctx, result, &facts), YOKE_OK);
    assert_string_equal(facts.status, "running");
    assert_int_equal(facts.is_open_for_writing, !repaired);
    yoke_result_close(&result);
    assert_int_equal(yoke_result_repair(f->ctx, path), YOKE_OK);
  }
  assert_holds_test_data(f, path, 1000);
}

static void file_that_a_run_is_writing_is_not_overwritten(void **state) {
  bool                  is_kept;
  fixture              *f = *state;
  char                  path[128];
  const yoke_result_def def = definition(in_folder(f, "a.h5", path));
  yoke_result_writer   *first;
  assert_int_equal(yoke_result_writer_create(f->ctx, &def, &first), YOKE_OK);
  const pid_t child = fork(); /* a second program */
  if (child == 0) {
    yoke_result_writer *second;
    _exit(yoke_result_writer_create(NULL, &def, &second) == YOKE_E_IO ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  assert_int_equal(write_rows(first, f->ctx, 20), YOKE_OK);
  assert_int_equal(yoke_result_writer_close(&first, f->ctx, "done", true, &is_kept), YOKE_OK);
  assert_holds_test_data(f, path, 20);
}

/* Files may grow to `limit` bytes: the writer must fail with YOKE_E_IO once, keep what was flushed, and the program end in order. */
static void assert_fails_in_order(const char *path, rlim_t limit) {
  bool        is_kept;
  const pid_t child = fork();
  if (child == 0) {
    const struct rlimit   most = {limit, RLIM_INFINITY};
    const yoke_result_def def  = definition(path);
    yoke_result_writer   *writer;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &most);
    yoke_status status = yoke_result_writer_create(NULL, &def, &writer);
    if (status == YOKE_OK) status = write_rows(writer, NULL, 5000);
    const yoke_status closed = yoke_result_writer_close(&writer, NULL, "done", true, &is_kept);
    exit(status == YOKE_E_IO && closed == YOKE_OK && is_kept == (access(path, F_OK) == 0) ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

static void full_disk_ends_in_an_error_not_in_a_crash(void **state) {
  fixture *f = *state;
  char     path[128];
  in_folder(f, "a.h5", path);
  for (rlim_t limit = 0; limit <= 100000; limit += limit < 10000 ? 1500 : 30000) assert_fails_in_order(path, limit);
}

static void f42_full_disk_keeps_what_was_flushed_and_says_failed(void **state) {
  fixture          *f = *state;
  char              path[128];
  yoke_result      *result;
  yoke_result_facts facts = {.size = sizeof facts};
  assert_fails_in_order(in_folder(f, "a.h5", path), 250000);
  assert_int_equal(yoke_result_open(f->ctx, path, &result), YOKE_OK);
  assert_int_equal(yoke_result_facts_get(f->ctx, result, &facts), YOKE_OK);
  assert_string_equal(facts.status, "failed: File too large");
  assert_false(facts.is_open_for_writing);
  size_t        n;
  const double *t = yoke_result_times(result, 0, &n);
  assert_true(n >= 1000 && n % 1000 == 0);
  assert_true(facts.t_reached == t[n - 1]);
  yoke_result_close(&result);
  assert_holds_test_data(f, path, (int)n);
}

static void f24_damaged_hdf5_file_is_an_error_and_does_not_hang(void **state) {
  static const long at[] = {12, 44}; /* in the head of the file: its marks, its checksum */
  fixture          *f    = *state;
  for (size_t i = 0; i < sizeof at / sizeof *at; ++i) {
    char         path[128];
    yoke_result *result;
    write_hdf5(f, in_folder(f, "a.h5", path), 20);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, at[i], SEEK_SET), 0);
    fputc(0x55, file);
    assert_int_equal(fclose(file), 0);
    alarm(20); /* ends the program where HDF5 waits for a writer for ever */
    assert_int_equal(yoke_result_open(f->ctx, path, &result), YOKE_E_IO);
    alarm(0);
  }
}

/* HDF5 itself follows the sizes of texts for ever, or out of its memory. */
static void f24_damaged_texts_of_an_hdf5_file_are_told(void **state) {
  static const unsigned char damage[2][16] = {{0}, {1, 0, 1, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255}};
  fixture                   *f             = *state;
  for (int i = 0; i < 2; ++i) {
    char         path[128], *bytes = malloc(1 << 20);
    yoke_result *result = NULL;
    write_hdf5(f, in_folder(f, "a.h5", path), 20);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    const size_t n  = fread(bytes, 1, 1 << 20, file);
    const char  *at = memmem(bytes, n, "GCOL", 4);
    assert_non_null(at);
    assert_int_equal(fseek(file, at - bytes + 16, SEEK_SET), 0);
    assert_int_equal(fwrite(damage[i], 1, 16, file), 16);
    assert_int_equal(fclose(file), 0);
    alarm(20);
    assert_int_equal(yoke_result_open(f->ctx, path, &result), YOKE_OK);
    alarm(0);
    assert_true(has_message(f->ctx, "is damaged"));
    yoke_result_close(&result);
    assert_holds_test_data(f, path, 20);
    yoke_context_clear(f->ctx);
    free(bytes);
  }
}

static void hdf5_result_needs_an_ordinary_file(void **state) {
  static const char *const paths[] = {P_tmpdir, "/dev/null", "/dev/full", P_tmpdir "/yoke-no-such-folder/a.h5"};
  fixture                 *f       = *state;
  for (size_t i = 0; i < sizeof paths / sizeof *paths; ++i) {
    const yoke_result_def def = definition(paths[i]);
    yoke_result_writer   *writer;
    assert_int_equal(yoke_result_writer_create(f->ctx, &def, &writer), YOKE_E_IO);
    assert_true(has_message(f->ctx, paths[i]));
  }
}

static void hdf5_and_csv_of_one_run_are_equal_in_every_bit(void **state) {
  fixture              *f = *state;
  char                  path_a[128], path_b[128];
  yoke_result          *a, *b;
  yoke_comparison_facts c;
  write_hdf5(f, in_folder(f, "a.h5", path_a), 30);
  write_csv(f, in_folder(f, "b.csv", path_b), 30, 0.01, value);
  assert_int_equal(yoke_result_open(f->ctx, path_a, &a), YOKE_OK);
  assert_int_equal(yoke_result_open(f->ctx, path_b, &b), YOKE_OK);
  c = compare(f, a, b, 0, NULL);
  assert_true(c.same_bits && c.same_span && !c.is_interpolated);
  assert_true(c.largest_nrmse == 0.0);
  yoke_result_close(&a);
  yoke_result_close(&b);
}

#else

static void hdf5_is_refused_by_a_build_without_it(void **state) {
  fixture              *f   = *state;
  const yoke_result_def def = definition("a.h5");
  yoke_result_writer   *writer;
  assert_int_equal(yoke_result_writer_create(f->ctx, &def, &writer), YOKE_E_UNSUPPORTED);
  assert_true(has_message(f->ctx, "HDF5"));
}

#endif

/* ---- comparison ---- */

static double reference(int k, int i) {
  return i == 1 ? 3.0 + sin(0.1 * k) : i == 0 ? 1e-18 * cos(7.0 * k) : 2.0;
}
static double one_percent_more(int k, int i) {
  return i == 1 ? 1.01 * reference(k, i) : reference(k, i);
}
static double other_noise(int k, int i) {
  return i == 0 ? 1e-18 * sin(5.0 * k) : reference(k, i);
}
static double not_finite(int k, int i) {
  return k == 7 && i == 2 ? (double)NAN : reference(k, i);
}

/* The facts, and quantity i. */
static yoke_comparison_facts compare_curves(fixture *f, double (*at)(int k, int i), int n_rows, int i,
                                            yoke_difference *difference) {
  char         path_a[128], path_b[128];
  yoke_result *a, *b;
  write_csv(f, in_folder(f, "a.csv", path_a), n_rows, 0.01, at);
  write_csv(f, in_folder(f, "b.csv", path_b), 100, 0.01, reference);
  assert_int_equal(yoke_result_open(f->ctx, path_a, &a), YOKE_OK);
  assert_int_equal(yoke_result_open(f->ctx, path_b, &b), YOKE_OK);
  const yoke_comparison_facts c = compare(f, a, b, i, difference);
  assert_int_equal(c.n_common, N);
  yoke_result_close(&a);
  yoke_result_close(&b);
  return c;
}

static void nrmse_is_the_error_over_the_deviation_of_the_reference(void **state) {
  yoke_difference d;
  compare_curves(*state, one_percent_more, 100, 1, &d);
  double mean = 0.0, square = 0.0, variation = 0.0, largest = 0.0;
  for (int k = 0; k < 100; ++k) mean += reference(k, 1) / 100.0;
  for (int k = 0; k < 100; ++k) {
    const double error = one_percent_more(k, 1) - reference(k, 1);
    square += error * error;
    variation += (reference(k, 1) - mean) * (reference(k, 1) - mean);
    largest = fmax(largest, error);
  }
  assert_true(fabs(d.nrmse - sqrt(square / variation)) < 1e-14);
  assert_true(d.largest == largest);
  assert_true(fabs(d.t - 0.16) < 0.011); /* sin(0.1 k) peaks at k = 15.7 */
}

static void noise_of_a_quantity_of_rounding_size_is_seen_against_its_family(void **state) {
  bool                     is_kept;
  /* bob.x is the only length here, so its own noise is its scale; a second moving length makes it negligible. */
  fixture                 *f       = *state;
  static const char *const both[2] = {"bob.x", "rod.x"};
  char                     path[2][128];
  yoke_result             *results[2];
  for (int r = 0; r < 2; ++r) {
    yoke_csv_writer *writer;
    in_folder(f, r ? "b.csv" : "a.csv", path[r]);
    assert_int_equal(yoke_csv_writer_create(f->ctx, path[r], 2, both, &writer), YOKE_OK);
    for (int k = 0; k < 100; ++k) {
      const double row[2] = {r ? reference(k, 0) : other_noise(k, 0), sin(0.1 * k)};
      assert_int_equal(yoke_csv_writer_row(writer, f->ctx, 0.01 * k, row), YOKE_OK);
    }
    assert_int_equal(yoke_csv_writer_close(&writer, f->ctx, true, &is_kept), YOKE_OK);
    assert_int_equal(yoke_result_open(f->ctx, path[r], &results[r]), YOKE_OK);
  }
  const yoke_comparison_facts c = compare(f, results[0], results[1], 0, NULL);
  assert_true(c.largest_nrmse > 0.0 && c.largest_nrmse < 1e-11);
  yoke_result_close(&results[0]);
  yoke_result_close(&results[1]);
}

static void value_that_is_not_finite_in_one_result_is_a_difference(void **state) {
  yoke_difference d;
  assert_true(isnan(compare_curves(*state, not_finite, 100, 2, &d).largest_nrmse));
  assert_true(isnan(d.nrmse) && fabs(d.t - 0.07) < 1e-12);
}

static void result_that_ends_early_does_not_cover_the_same_span(void **state) {
  const yoke_comparison_facts c = compare_curves(*state, reference, 60, 0, NULL);
  assert_false(c.same_span);
  assert_true(c.largest_nrmse == 0.0 && fabs(c.t_to - 0.59) < 1e-12);
}

static void interpolation_is_of_fourth_order(void **state) {
  (void)state;
  double error[2] = {0, 0};
  for (int r = 0; r < 2; ++r) {
    const int n = 40 << r;
    double    t[81], x[81];
    for (int k = 0; k <= n; ++k) t[k] = 2.0 * k / n, x[k] = sin(3.0 * t[k]);
    for (int k = 0; k < 1000; ++k) {
      const double at = 0.2 + 1.6 * k / 1000.0;
      error[r]        = fmax(error[r], fabs(yoke_curve_value(t, x, (size_t)n + 1, at, false) - sin(3.0 * at)));
    }
  }
  assert_true(fabs(log2(error[0] / error[1]) - 4.0) < 0.1);
}

static void interpolation_does_not_cross_a_jump(void **state) {
  (void)state;
  const double t[] = {0, 1, 2, 2, 3, 4}, x[] = {5, 5, 5, -1, -1, -1};
  assert_true(yoke_curve_value(t, x, 6, 1.9, false) == 5.0);
  assert_true(yoke_curve_value(t, x, 6, 2.1, false) == -1.0);
  assert_true(yoke_curve_value(t, x, 6, 2.0, false) == 5.0);
  assert_true(yoke_curve_value(t, x, 6, 2.0, true) == -1.0);
  assert_true(yoke_curve_value(t, x, 6, 9.0, true) == -1.0);
}

static void results_without_a_common_quantity_are_different(void **state) {
  fixture         *f = *state;
  char             path_a[128], path_b[128];
  yoke_result     *a, *b;
  yoke_comparison *c;
  put_text(in_folder(f, "a.csv", path_a), "time,a\n0,1\n");
  put_text(in_folder(f, "b.csv", path_b), "time,b\n0,1\n");
  assert_int_equal(yoke_result_open(f->ctx, path_a, &a), YOKE_OK);
  assert_int_equal(yoke_result_open(f->ctx, path_b, &b), YOKE_OK);
  assert_int_equal(yoke_result_compare(f->ctx, a, b, &c), YOKE_E_DIFFERENT);
  assert_null(c);
  yoke_result_close(&a);
  yoke_result_close(&b);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(csv_keeps_every_bit),
      TEST(csv_has_one_header_line_with_time_first),
      TEST(csv_on_a_full_disk_is_an_error_that_names_the_file),
      TEST(csv_in_a_missing_folder_is_an_error_that_names_the_file),
      TEST(unfinished_last_line_of_a_csv_is_dropped),
      TEST(broken_csv_line_is_an_error_with_its_number),
      TEST(file_that_is_no_result_is_refused),
      TEST(numbers_have_a_point_in_every_locale),
#ifdef YOKE_WITH_HDF5
      TEST(hdf5_keeps_every_bit),
      TEST(hdf5_tells_about_its_run),
      TEST(hdf5_of_a_split_run_has_the_quantities_of_the_whole_model),
      TEST(hdf5_of_a_split_run_has_macro_steps_and_work_of_the_subsystems),
      TEST(hdf5_of_a_split_run_has_the_energy_account_of_its_end),
      TEST(hdf5_of_a_run_without_an_energy_account_holds_none),
      TEST(tables_of_energies_that_are_none_are_left_out_with_a_word),
      TEST(energies_in_another_place_are_left_out_with_a_word),
      TEST(more_macro_steps_than_the_file_can_hold_are_told),
      TEST(the_report_of_macro_steps_follows_from_the_file),
      TEST(hdf5_holds_many_quantities),
      TEST(killed_run_leaves_a_readable_file),
      TEST(repair_clears_the_mark_of_a_killed_run),
      TEST(file_that_a_run_is_writing_is_not_overwritten),
      TEST(full_disk_ends_in_an_error_not_in_a_crash),
      TEST(f24_damaged_hdf5_file_is_an_error_and_does_not_hang),
      TEST(f24_damaged_texts_of_an_hdf5_file_are_told),
      TEST(f42_full_disk_keeps_what_was_flushed_and_says_failed),
      TEST(hdf5_result_needs_an_ordinary_file),
      TEST(hdf5_and_csv_of_one_run_are_equal_in_every_bit),
#else
      TEST(hdf5_is_refused_by_a_build_without_it),
#endif
      TEST(nrmse_is_the_error_over_the_deviation_of_the_reference),
      TEST(noise_of_a_quantity_of_rounding_size_is_seen_against_its_family),
      TEST(value_that_is_not_finite_in_one_result_is_a_difference),
      TEST(result_that_ends_early_does_not_cover_the_same_span),
      TEST(interpolation_is_of_fourth_order),
      TEST(interpolation_does_not_cross_a_jump),
      TEST(results_without_a_common_quantity_are_different),
  };
  return cmocka_run_group_tests_name("result", tests, NULL, NULL);
}
