/* Runs of the examples with an energy account, by overrides. Include after cmocka.h. */
#ifndef YOKE_TESTS_ENERGY_RUN_H
#define YOKE_TESTS_ENERGY_RUN_H

#include <yoke/yoke.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ENERGY_SETS = 24, ENERGY_TEXT = 800 };

typedef struct energy_run {
  yoke_run_summary summary;
  double           value[8];             /* of `print` at the end */
  char             warning[ENERGY_TEXT]; /* all messages */
  yoke_status      status;
} energy_run;

/* `sets` and `print` are separated by blanks. */
static inline int energy_words(char *text, const char **words, int most) {
  int n = 0;
  for (char *word = strtok(text, " "); word != NULL && n < most; word = strtok(NULL, " ")) words[n++] = word;
  return n;
}

static inline energy_run energy_try(const char *model, const char *sets, const char *print) {
  energy_run    run                   = {.summary = {.size = sizeof run.summary}};
  char          set_text[ENERGY_TEXT] = "", print_text[ENERGY_TEXT] = "";
  const char   *set[ENERGY_SETS], *shown[8];
  yoke_context *ctx;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  snprintf(set_text, sizeof set_text, "%s", sets);
  snprintf(print_text, sizeof print_text, "%s", print);
  yoke_run_options options = {
      .size = sizeof options, .model = model, .out = "", .csv = "", .no_predict = true, .threads = 1};
  options.n_sets  = energy_words(set_text, set, ENERGY_SETS);
  options.sets    = set;
  options.n_print = energy_words(print_text, shown, 8);
  options.print   = shown;
  run.status      = yoke_run(ctx, &options, &run.summary);
  for (int i = 0; i < run.summary.n_print && run.summary.print_values != NULL; ++i)
    run.value[i] = run.summary.print_values[i];
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) {
    const size_t used = strlen(run.warning);
    snprintf(run.warning + used, sizeof run.warning - used, "%s\n", yoke_context_message(ctx, i));
  }
  yoke_context_destroy(&ctx);
  return run;
}

static inline void energy_release(energy_run *run) {
  yoke_run_summary_release(&run->summary);
}

/* The run reaches its end. */
static inline energy_run energy_of(const char *model, const char *sets, const char *print) {
  energy_run run = energy_try(model, sets, print);
  if (run.status != YOKE_OK) fail_msg("%s %s: %s", model, sets, run.warning);
  return run;
}

/* Largest |leak| of a run of the oscillator [J]. */
static inline double energy_leak(const char *model, const char *sets) {
  energy_run   run  = energy_of(model, sets, "");
  const double leak = run.summary.leak_largest;
  assert_true(run.summary.has_leak && leak > 0.0);
  energy_release(&run);
  return leak;
}

/* Amplitude of a quantity between t0 and t1, looked at every 2 ms. */
static inline double energy_swing(const char *path, const char *sets, bool is_whole, const char *name, double t0,
                                  double t1) {
  char                    text[ENERGY_TEXT];
  const char             *set[ENERGY_SETS];
  yoke_context           *ctx;
  yoke_model             *model;
  yoke_simulation        *run;
  int                     handle;
  double                  largest = 0.0;
  yoke_simulation_options options = {.size = sizeof options, .threads = 1, .monolithic = is_whole};
  snprintf(text, sizeof text, "%s", sets);
  const yoke_load_options load = {.size = sizeof load, .n_sets = energy_words(text, set, ENERGY_SETS), .sets = set};
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_model_load(ctx, path, &load, &model), YOKE_OK);
  assert_int_equal(yoke_simulation_create(ctx, model, &options, &run), YOKE_OK);
  assert_int_equal(yoke_simulation_find(ctx, run, 1, &name, &handle), YOKE_OK);
  for (int i = 0; t0 + 2e-3 * i <= t1; ++i) {
    double value;
    assert_int_equal(yoke_simulation_run_to(ctx, run, t0 + 2e-3 * i), YOKE_OK);
    assert_int_equal(yoke_simulation_get(ctx, run, 1, &handle, &value), YOKE_OK);
    largest = fmax(largest, fabs(value));
  }
  yoke_simulation_destroy(&run);
  yoke_model_destroy(&model);
  yoke_context_destroy(&ctx);
  return largest;
}

/* `share` of the expected value. */
static inline void energy_check(const char *what, double found, double expected, double share) {
  if (!(fabs(found - expected) <= share * fabs(expected)))
    fail_msg("%s: found %.6g, expected %.6g within %g %%", what, found, expected, 100.0 * share);
}

#endif
