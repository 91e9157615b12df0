/* Run the split of a model and look at its macro points. Shared by the tests of co-simulation. Include after <cmocka.h>.
 * COSIM_PUBLISHED defined before: the schemes as their sources have them, with one correction per step whatever it leaves open, and perturbed
 * integrations, which are exact for linear models. */
#ifndef YOKE_TESTS_COSIMULATE_H
#define YOKE_TESTS_COSIMULATE_H

#include "coupling/scheme_settings.h"
#include "analysis/gather.h"
#include "master/native_part.h"
#include "master/system.h"
#include <yoke/model.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COSIM_MAX_SETS = 24, COSIM_TEXT = 1024 };

typedef struct cosim {
  yoke_context       *ctx;
  yoke_model         *model;
  yoke_plan          *plan;
  yoke_system        *system;
  yoke_gather        *gather;
  yoke_system_summary summary;
  yoke_status         status; /* of loading, creating and running: the first that failed */
} cosim;

/* What a test wants to see of every accepted macro step: q and v of the whole model (bodies in file order). */
typedef void (*cosim_look)(void *user, double t, const double *q, const double *v);

static inline void cosim_print(const yoke_context *ctx) {
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) print_message("%s\n", yoke_context_message(ctx, i));
}

/* A setting of the scheme on top of those that were read. */
static inline void cosim_give(yoke_settings *given, const char *key, double number, const char *word) {
  yoke_setting_value value = {
      .path = yoke_scheme_rows.path, .row = yoke_setting_find(&yoke_scheme_rows, key), .number = {number}};
  snprintf(value.text, sizeof value.text, "%s", word);
  assert_true(yoke_settings_add(given, &value));
}

/* `path` is a file, or a model text (then it has more than one line); `sets` are "path=value" parted by ';', or NULL. */
static inline yoke_status cosim_load(cosim *c, const char *path, const char *sets) {
  static const char *const none = "";
  char                     text[2 * COSIM_TEXT];
  const char              *list[COSIM_MAX_SETS];
  int                      n = 0;
  *c                         = (cosim){0};
  assert_int_equal(yoke_context_create(&c->ctx), YOKE_OK);
  assert_true(snprintf(text, sizeof text, "%s", sets != NULL ? sets : none) < (int)sizeof text);
  for (char *rest = text, *next = text; *rest != '\0'; rest = next) {
    next = rest + strcspn(rest, ";");
    if (*next == ';') *next++ = '\0';
    assert_true(n < COSIM_MAX_SETS);
    list[n++] = rest;
  }
  const yoke_load_options options = {.size = sizeof options, .n_sets = n, .sets = list};
  c->status                       = strchr(path, '\n') != NULL
                                        ? yoke_model_load_text(c->ctx, "test.yaml", path, strlen(path), &options, &c->model)
                                        : yoke_model_load(c->ctx, path, &options, &c->model);
#ifdef COSIM_PUBLISHED
  if (c->model != NULL) {
    yoke_settings *given = &c->model->cosimulation.given;
    if (yoke_settings_find(given, yoke_scheme_rows.path, "corrections") == NULL)
      cosim_give(given, "corrections", 1.0, "");
    cosim_give(given, "joint_tolerance", 1e30, "");
    if (yoke_settings_find(given, yoke_scheme_rows.path, "jacobian") == NULL)
      cosim_give(given, "jacobian", 0.0, "finite-difference");
  }
#endif
  return c->status;
}

/* Plan what was loaded and make a system of it. */
static inline yoke_status cosim_start(cosim *c, bool is_whole, const yoke_system_options *options) {
  const yoke_plan_options planned = {.is_whole = is_whole};
  if (c->status == YOKE_OK) c->status = yoke_plan_create(c->ctx, c->model, &planned, &c->plan);
  if (c->status == YOKE_OK) c->status = yoke_system_create(c->ctx, c->plan, options, &c->system);
  if (c->status == YOKE_OK) c->status = yoke_gather_create(c->ctx, c->model, c->plan, &c->gather);
  return c->status;
}

/* Load and split. `exec` NULL: serial; threads as for yoke_exec_create. */
static inline yoke_status cosim_open_with(cosim *c, const char *path, const char *sets, const char *exec, int threads) {
  const yoke_system_options options = {.exec = exec != NULL ? exec : "serial", .threads = threads};
  cosim_load(c, path, sets);
  return cosim_start(c, false, &options);
}

static inline yoke_status cosim_open(cosim *c, const char *path, const char *sets) {
  return cosim_open_with(c, path, sets, NULL, 1);
}

static inline yoke_status cosim_open_monolithic(cosim *c, const char *path, const char *sets) {
  cosim_load(c, path, sets);
  return cosim_start(c, true, NULL);
}

static inline void cosim_gather(const cosim *c, double *q, double *v) {
  assert_int_equal(yoke_gather_take(c->gather, c->system, q, v), YOKE_OK);
}

typedef struct cosim_watch {
  const cosim *c;
  cosim_look   look;
  void        *user;
  double      *q, *v;
} cosim_watch;

static inline yoke_status cosim_macro(void *user, double t, double H, int order,
                                      const yoke_step_statistics *statistics) {
  (void)H, (void)order, (void)statistics;
  cosim_watch *w = user;
  cosim_gather(w->c, w->q, w->v);
  w->look(w->user, t, w->q, w->v);
  return YOKE_OK;
}

/* t_end 0: the model's own. `look` may be NULL. */
static inline yoke_status cosim_run(cosim *c, double t_end, cosim_look look, void *user) {
  if (c->status != YOKE_OK) return c->status;
  cosim_watch     watch = {.c = c, .look = look, .user = user};
  const yoke_sink sink  = {.user = &watch, .macro = look != NULL ? cosim_macro : NULL};
  watch.q               = calloc((size_t)yoke_gather_nq(c->gather) + 1, sizeof *watch.q);
  watch.v               = calloc((size_t)yoke_gather_nv(c->gather) + 1, sizeof *watch.v);
  assert_true(watch.q != NULL && watch.v != NULL);
  c->status = yoke_system_run(c->system, t_end > 0.0 ? t_end : c->model->t_end, &sink, &c->summary, c->ctx);
  free(watch.q);
  free(watch.v);
  return c->status;
}

static inline double cosim_value(const cosim *c, const char *name) {
  double value = NAN;
  if (yoke_system_value(c->system, name, &value, c->ctx) != YOKE_OK) {
    cosim_print(c->ctx);
    fail_msg("no value '%s'", name);
  }
  return value;
}

static inline void cosim_close(cosim *c) {
  yoke_gather_destroy(&c->gather);
  yoke_system_destroy(&c->system);
  yoke_plan_destroy(&c->plan);
  yoke_model_destroy(&c->model);
  yoke_context_destroy(&c->ctx);
}

static inline void cosim_expect(const cosim *c, yoke_status expected) {
  if (c->status == expected) return;
  cosim_print(c->ctx);
  fail_msg("%s, expected %s", yoke_status_name(c->status), yoke_status_name(expected));
}

/* Open and run; the test fails when that does not work. */
static inline cosim cosim_done(const char *path, const char *sets, double t_end) {
  cosim c;
  cosim_open(&c, path, sets);
  cosim_run(&c, t_end, NULL, NULL);
  cosim_expect(&c, YOKE_OK);
  return c;
}

static inline cosim cosim_done_monolithic(const char *path, const char *sets, double t_end) {
  cosim c;
  cosim_open_monolithic(&c, path, sets);
  cosim_run(&c, t_end, NULL, NULL);
  cosim_expect(&c, YOKE_OK);
  return c;
}

/* How far a value at the end is from that of the model as a whole, which `sets` do not reach. */
static inline double cosim_error(const char *model, const char *sets, const char *name) {
  cosim        split = cosim_done(model, sets, 0.0), whole = cosim_done_monolithic(model, NULL, 0.0);
  const double error = fabs(cosim_value(&split, name) - cosim_value(&whole, name));
  cosim_close(&split);
  cosim_close(&whole);
  return error;
}

static inline void cosim_note_event(void *user, int event, double t) {
  (void)event;
  *(double *)user = t;
}

/* Time of the last event; NaN: none. */
static inline double cosim_event_time(const char *model, bool is_whole) {
  cosim           c;
  double          t    = (double)NAN;
  const yoke_sink sink = {.user = &t, .event = cosim_note_event};
  cosim_load(&c, model, NULL);
  cosim_start(&c, is_whole, NULL);
  cosim_expect(&c, YOKE_OK);
  assert_int_equal(yoke_system_run(c.system, c.model->t_end, &sink, &c.summary, c.ctx), YOKE_OK);
  cosim_close(&c);
  return t;
}

#endif
