/* Ranks on machines that differ in last bits: one result all the same, near that of one process, or an end with a message. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../folder.h"
#include "../sample.h"
#include "base/pack.h"
#include "linalg/lapack.h"
#include "world.h"
#include <math.h>

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* ---- another machine: what libraries of mathematics give differs in the last bit (tests/CMakeLists.txt, --wrap) ---- */

static _Thread_local bool is_other;

/* Values that are exact are so everywhere. */
static double other(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return is_other && isfinite(x) && (bits & 0xfffff) != 0 ? nextafter(x, (double)INFINITY) : x;
}

#define OTHER_1(name)                                                                                                  \
  double __real_##name(double x);                                                                                      \
  double __wrap_##name(double x);                                                                                      \
  double __wrap_##name(double x) {                                                                                     \
    return other(__real_##name(x));                                                                                    \
  }
#define OTHER_2(name)                                                                                                  \
  double __real_##name(double x, double y);                                                                            \
  double __wrap_##name(double x, double y);                                                                            \
  double __wrap_##name(double x, double y) {                                                                           \
    return other(__real_##name(x, y));                                                                                 \
  }
OTHER_1(sin)
OTHER_1(cos)
OTHER_1(exp)
OTHER_1(log)
OTHER_2(pow)
OTHER_2(atan2)
OTHER_2(hypot)

lapack_int __real_lapack_dgesv(lapack_int n, lapack_int n_right, double *A, lapack_int lda, lapack_int *pivot,
                               double *B, lapack_int ldb);
lapack_int __wrap_lapack_dgesv(lapack_int n, lapack_int n_right, double *A, lapack_int lda, lapack_int *pivot,
                               double *B, lapack_int ldb);
lapack_int __wrap_lapack_dgesv(lapack_int n, lapack_int n_right, double *A, lapack_int lda, lapack_int *pivot,
                               double *B, lapack_int ldb) {
  const lapack_int info = __real_lapack_dgesv(n, n_right, A, lda, pivot, B, ldb);
  for (lapack_int i = 0; i < n * n_right; ++i) B[i] = other(B[i]);
  return info;
}

lapack_int __real_lapack_dgetrs(char trans, lapack_int n, lapack_int n_right, const double *A, lapack_int lda,
                                const lapack_int *pivot, double *B, lapack_int ldb);
lapack_int __wrap_lapack_dgetrs(char trans, lapack_int n, lapack_int n_right, const double *A, lapack_int lda,
                                const lapack_int *pivot, double *B, lapack_int ldb);
lapack_int __wrap_lapack_dgetrs(char trans, lapack_int n, lapack_int n_right, const double *A, lapack_int lda,
                                const lapack_int *pivot, double *B, lapack_int ldb) {
  const lapack_int info = __real_lapack_dgetrs(trans, n, n_right, A, lda, pivot, B, ldb);
  for (lapack_int i = 0; i < n * n_right; ++i) B[i] = other(B[i]);
  return info;
}

/* ---- runs ---- */

enum { MOST_CHOICES = 20, N_RANKS = 3 };

typedef struct one_run {
  yoke_run_options options;
  yoke_choice      choices[MOST_CHOICES];
  const char      *sets[MOST_CHOICES];
} one_run;

static yoke_status run_here(yoke_context *ctx, const yoke_run_options *options) {
  yoke_run_summary  summary = {.size = sizeof summary};
  const yoke_status status  = yoke_run(ctx, options, &summary);
  yoke_run_summary_release(&summary);
  return status;
}

/* All ranks but the first are other machines. */
static yoke_status run_on_machine(world_rank *rank, void *user) {
  const one_run *r         = user;
  is_other                 = rank->rank > 0;
  const yoke_status status = run_here(rank->ctx, &r->options);
  is_other                 = false;
  return status;
}

/* "--set" is a setting, any other name a choice. */
static void read_words(char *text, one_run *r) {
  *r = (one_run){.options = {.size = sizeof r->options, .exec = "serial", .out = "", .csv = "", .no_predict = true}};
  r->options.model = strtok(text, " ");
  for (char *word = strtok(NULL, " "); word != NULL; word = strtok(NULL, " ")) {
    char *value = strtok(NULL, " ");
    assert_non_null(value);
    if (strcmp(word, "--set") == 0)
      r->sets[r->options.n_sets++] = value;
    else
      r->choices[r->options.n_choices++] = (yoke_choice){word + 2, value};
  }
  r->options.sets    = r->sets;
  r->options.choices = r->choices;
}

/* The largest difference of two tables of numbers, in units of the largest number of its column or 1e-3. NaN: they have other rows or columns. */
static double difference(const char *one, const char *other_one) {
  enum { MOST_COLUMNS = 200 };
  double size[MOST_COLUMNS] = {0}, off[MOST_COLUMNS] = {0}, most = 0.0;
  int    column = 0;
  FILE  *a = fopen(one, "rb"), *b = fopen(other_one, "rb");
  assert_non_null(a);
  assert_non_null(b);
  (void)fscanf(a, "%*[^\n]"), (void)fscanf(b, "%*[^\n]"); /* heads */
  for (;;) {
    double    x, y;
    const int n = fscanf(a, "%lf", &x), m = fscanf(b, "%lf", &y);
    if (n != m) most = (double)NAN;
    if (n != 1 || m != 1) break;
    size[column] = fmax(size[column], fabs(x));
    off[column]  = fmax(off[column], fabs(x - y));
    const int c = fgetc(a), d = fgetc(b);
    if (c != d) most = (double)NAN;
    column = c == ',' ? column + 1 : 0;
    assert_true(column < MOST_COLUMNS);
  }
  fclose(a);
  fclose(b);
  for (int k = 0; k < MOST_COLUMNS; ++k) most = isnan(most) ? most : fmax(most, off[k] / fmax(size[k], 1e-3));
  return most;
}

/* Is the result of three machines that of one process, but for this? */
static bool is_near(const fixture *f, const char *words, double limit) {
  char       text[1000], one[128], many[128];
  one_run    r;
  world      w;
  world_rank ranks[N_RANKS];
  snprintf(text, sizeof text, "%s", words);
  read_words(text, &r);
  r.options.csv            = in_folder(f, "one.csv", one);
  const yoke_status status = run_here(f->ctx, &r.options);
  r.options.csv            = in_folder(f, "many.csv", many);
  world_run_by(&w, N_RANKS, ranks, (world_way){.allow_mixed = true}, run_on_machine, &r);
  double off = status == YOKE_OK ? difference(one, many) : 0.0;
  for (int i = 0; i < N_RANKS; ++i) off = ranks[i].status == status ? off : (double)NAN;
  if (!(off <= limit)) print_error("%s: %.2g\n", words, off);
  for (size_t i = 0; isnan(off) && i < yoke_context_n_messages(ranks[0].ctx); ++i)
    print_error("  %s\n", yoke_context_message(ranks[0].ctx, i));
  world_end(&w, ranks);
  yoke_context_clear(f->ctx);
  remove(one);
  remove(many);
  return off <= limit;
}

static void machines_that_differ_come_to_the_result_of_one_process(void **state) {
  static const char *const runs[] = {
      "examples/double-pendulum.yaml --t-end 0.1 --step auto",
      "examples/double-pendulum.yaml --t-end 0.1 --step auto --scheme implicit",
      "examples/double-pendulum.yaml --t-end 0.02 --step auto --scheme implicit --macro-rtol 1e-6",
      "examples/double-pendulum.yaml --t-end 0.1 --scheme implicit --jacobian broyden",
      "examples/double-pendulum.yaml --t-end 0.1 --formulation projection --order 0",
      "examples/robot-arm-split.yaml --t-end 0.1 --step auto",
      "examples/slider-crank-classic.yaml --t-end 0.05 --formulation projection",
      "examples/four-bar-spatial.yaml --t-end 0.05 --step auto",
      "examples/two-mass.yaml --t-end 0.05 --scheme waveform --step auto",
      "examples/bouncing-contact.yaml --t-end 0.1 --step auto",
      "examples/nonlinear-two-mass.yaml --t-end 0.1 --step auto",
      "examples/kinematic-two-mass.yaml --t-end 0.1 --step auto",
  };
  int n_wrong = 0;
  for (size_t i = 0; i < sizeof runs / sizeof *runs; ++i) n_wrong += !is_near(*state, runs[i], 1e-9);
  assert_int_equal(n_wrong, 0);
}

/* All kinds of runs: solvers that choose their own steps may choose others on another machine, within their tolerances. */
static void stored_runs_come_to_their_end_on_machines_that_differ(void **state) {
  enum { STRIDE = 3 };
  FILE *file = fopen("tests/bits/stored.txt", "rb");
  char  line[1000];
  int   n = 0, n_wrong = 0;
  assert_non_null(file);
  while (fgets(line, sizeof line, file) != NULL) {
    char *text = strstr(line, "| run ");
    if (line[0] == '#' || text == NULL || strchr(text, '\'') != NULL || strstr(text, "--monolithic") != NULL) continue;
    if (n++ % (STRIDE * sample_stride_sanitized()) != 0) continue;
    text += strlen("| run ");
    text[strcspn(text, "|")] = '\0';
    n_wrong += !is_near(*state, text, 1e-6);
  }
  fclose(file);
  assert_true(n > 80);
  assert_int_equal(n_wrong, 0);
}

/* ---- decisions that differ ---- */

static void expect_end(const fixture *f, world_way way, const char *text) {
  char       words[] = "examples/double-pendulum.yaml --t-end 0.1 --step auto";
  one_run    r;
  world      w;
  world_rank ranks[N_RANKS];
  (void)f;
  read_words(words, &r);
  world_run_by(&w, N_RANKS, ranks, way, run_on_machine, &r);
  for (int i = 0; i < N_RANKS; ++i) assert_int_equal(ranks[i].status, YOKE_E_INTERNAL);
  assert_true(has_message(ranks[0].ctx, text));
  world_end(&w, ranks);
}

static void machines_that_differ_without_leave_end_with_a_message(void **state) {
  expect_end(*state, (world_way){.allow_mixed = false}, "their numbers differ");
}

/* The verdict on a step arrives at rank 2 as another one. A head has the size of its block, its kind and where it is made; the status, then the verdict follow, which
 * begins with whether the step is accepted. */
static void turn_verdict(int rank, void *all, size_t bytes) {
  enum { HEAD = 24, AGREE = 4, STATUS = 4 };
  static const char place[] = "verdict";
  uint64_t          size;
  uint32_t          kind, check;
  memcpy(&size, all, sizeof size);
  memcpy(&kind, (char *)all + sizeof size, sizeof kind);
  memcpy(&check, (char *)all + sizeof size + sizeof kind, sizeof check);
  const uint32_t expected =
      (uint32_t)yoke_checksum(YOKE_CHECKSUM_START, place, strlen(place)) ^ (uint32_t)(size - STATUS);
  if (rank == 2 && kind == AGREE && check == expected && HEAD + STATUS < bytes) ((char *)all)[HEAD + STATUS] ^= 1;
}

static void ranks_that_decide_differently_end_with_a_message(void **state) {
  expect_end(*state, (world_way){.allow_mixed = true, .tamper = turn_verdict}, "rank 2: it is not where rank 0 is");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(machines_that_differ_come_to_the_result_of_one_process),
      TEST(stored_runs_come_to_their_end_on_machines_that_differ),
      TEST(machines_that_differ_without_leave_end_with_a_message),
      TEST(ranks_that_decide_differently_end_with_a_message),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
