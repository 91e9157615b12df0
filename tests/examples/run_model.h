/* Load a model, run it to its end, and answer questions about the end. Shared by the tests of whole simulations. */
#ifndef YOKE_TESTS_RUN_MODEL_H
#define YOKE_TESTS_RUN_MODEL_H

#include "master/native_part.h"
#include "master/system.h"
#include <yoke/model.h>
#include <stdio.h>
#include <string.h>

typedef struct model_run {
  yoke_context       *ctx;
  yoke_model         *model;
  yoke_plan          *plan;
  yoke_system        *system;
  yoke_system_summary summary;
} model_run;

static inline void print_messages(const yoke_context *ctx) {
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) print_message("%s\n", yoke_context_message(ctx, i));
}

static inline yoke_status run_start(model_run *run) {
  const yoke_plan_options options = {.is_whole = true};
  YOKE_TRY(yoke_plan_create(run->ctx, run->model, &options, &run->plan));
  return yoke_system_create(run->ctx, run->plan, NULL, &run->system);
}

/* Run what was loaded; the test fails when it cannot. */
static inline void run_loaded(model_run *run, yoke_status loaded, double t_end) {
  yoke_status status = loaded;
  if (status == YOKE_OK) status = run_start(run);
  if (status == YOKE_OK) {
    status = yoke_system_run(run->system, t_end > 0.0 ? t_end : run->model->t_end, NULL, &run->summary, run->ctx);
  }
  if (status != YOKE_OK) {
    print_messages(run->ctx);
    fail_msg("%s", yoke_status_name(status));
  }
}

enum { RUN_MAX_SETS = 16 };

/* `sets`: "path=value" list that ends with NULL, or NULL. rtol 0: the model's own. */
static inline int run_options(const char *const *sets, const char *solver, double rtol, const char **all,
                              char text[2][64]) {
  int n = 0;
  for (; sets != NULL && sets[n] != NULL && n < RUN_MAX_SETS - 2; ++n) all[n] = sets[n];
  if (solver != NULL) {
    snprintf(text[0], 64, "solvers.default.kind=%s", solver);
    all[n++] = text[0];
  }
  if (rtol > 0.0) {
    snprintf(text[1], 64, "solvers.default.rtol=%g", rtol);
    all[n++] = text[1];
  }
  return n;
}

static inline model_run run_file(const char *path, const char *const *sets, const char *solver, double rtol,
                                 double t_end) {
  const char *all[RUN_MAX_SETS];
  char        text[2][64];
  model_run   run = {0};
  assert_int_equal(yoke_context_create(&run.ctx), YOKE_OK);
  const yoke_load_options options = {
      .size = sizeof options, .n_sets = run_options(sets, solver, rtol, all, text), .sets = all};
  run_loaded(&run, yoke_model_load(run.ctx, path, &options, &run.model), t_end);
  return run;
}

static inline model_run run_text(const char *model, const char *const *sets, const char *solver, double rtol,
                                 double t_end) {
  const char *all[RUN_MAX_SETS];
  char        text[2][64];
  model_run   run = {0};
  assert_int_equal(yoke_context_create(&run.ctx), YOKE_OK);
  const yoke_load_options options = {
      .size = sizeof options, .n_sets = run_options(sets, solver, rtol, all, text), .sets = all};
  run_loaded(&run, yoke_model_load_text(run.ctx, "test.yaml", model, strlen(model), &options, &run.model), t_end);
  return run;
}

static inline double run_value(const model_run *run, const char *name) {
  double value = NAN;
  if (yoke_system_value(run->system, name, &value, run->ctx) != YOKE_OK) {
    print_messages(run->ctx);
    fail_msg("no value '%s'", name);
  }
  return value;
}

static inline void run_end(model_run *run) {
  yoke_system_destroy(&run->system);
  yoke_plan_destroy(&run->plan);
  yoke_model_destroy(&run->model);
  yoke_context_destroy(&run->ctx);
}

#endif
