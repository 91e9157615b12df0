/* Loading a model with the overrides that the options of a run stand for. */
#include "api/run.h"
#include "base/memory.h"
#include "base/text.h"
#include "io/model_file.h"
#include "io/setting_tables.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The key that a choice stands for. */
static void key_of(const char *name, char *text, size_t size) {
  if (!yoke_setting_of_option(name, text, size)) snprintf(text, size, "%s", name);
}

/* A choice is an override of the key it stands for. */
static char *override_text(const yoke_choice *choice) {
  char key[256];
  key_of(choice->name, key, sizeof key);
  const size_t size = strlen(key) + strlen(choice->value) + 2;
  char        *text = yoke_allocate(size, 1);
  if (text) snprintf(text, size, "%s=%s", key, choice->value);
  return text;
}

const char *yoke_run_choice(const yoke_run_options *options, const char *name) {
  const char *value = NULL;
  for (int i = 0; i < options->n_choices; ++i) {
    if (strcmp(options->choices[i].name, name) == 0) value = options->choices[i].value;
  }
  return value;
}

/* Overrides and choices, in this order, as overrides. */
typedef struct override_list {
  int          n, n_texts;
  const char **list;
  char       **texts; /* of the choices */
} override_list;

static void clear_list(override_list *o) {
  for (int i = 0; o->texts && i < o->n_texts; ++i) free(o->texts[i]);
  free(o->texts);
  free(o->list);
}

/* Gives; clear in any case. */
static yoke_status make_list(yoke_context *ctx, int n_sets, const char *const *sets, int n_choices,
                             const yoke_choice *choices, override_list *out) {
  *out        = (override_list){.n_texts = n_choices};
  out->list   = yoke_allocate((size_t)n_sets + (size_t)n_choices + 1, sizeof *out->list);
  out->texts  = yoke_allocate((size_t)n_choices + 1, sizeof *out->texts);
  bool is_all = out->list && out->texts;
  for (int i = 0; is_all && i < n_sets; ++i) out->list[out->n++] = sets[i];
  for (int i = 0; is_all && i < n_choices; ++i) {
    out->list[out->n++] = out->texts[i] = override_text(&choices[i]);
    is_all                              = out->texts[i] != NULL;
  }
  return is_all ? YOKE_OK : yoke_out_of_memory(ctx, "the overrides");
}

yoke_status yoke_run_load(yoke_context *ctx, const yoke_run_options *o, yoke_model **out) {
  override_list list;
  *out               = NULL;
  yoke_status status = make_list(ctx, o->n_sets, o->sets, o->n_choices, o->choices, &list);
  if (status == YOKE_OK)
    status = yoke_model_file_read(ctx, o->model, &(yoke_overrides){.n = list.n, .texts = list.list}, out);
  clear_list(&list);
  return status;
}

yoke_status yoke_model_choose(yoke_context *ctx, const yoke_model *model, int n_choices, const yoke_choice *choices,
                              yoke_model **out) {
  override_list list;
  *out               = NULL;
  yoke_status status = make_list(ctx, 0, NULL, n_choices, choices, &list);
  if (status == YOKE_OK)
    status = yoke_model_file_read_text(ctx, model->n_files > 0 ? model->files[0] : "model", model->text,
                                       strlen(model->text), &(yoke_overrides){.n = list.n, .texts = list.list}, out);
  clear_list(&list);
  return status;
}

static bool is_of_cosimulation(const char *key) {
  return strncmp(key, "cosimulation.", 13) == 0 && strcmp(key, "cosimulation.energy") != 0;
}

/* Overrides of the co-simulation mean nothing without a split; the user may have forgotten it. */
void yoke_run_warn_unused(yoke_context *ctx, const yoke_run_options *o, const yoke_model *model) {
  bool is_any = o->check || o->trace || o->trace_file;
  for (int i = 0; i < o->n_sets; ++i) {
    char key[256];
    snprintf(key, sizeof key, "%.*s", (int)strcspn(o->sets[i], "="), o->sets[i]);
    is_any = is_any || is_of_cosimulation(key);
  }
  for (int i = 0; i < o->n_choices; ++i) {
    char key[256];
    key_of(o->choices[i].name, key, sizeof key);
    is_any = is_any || is_of_cosimulation(key);
  }
  if (model->n_parts == 0 && is_any)
    yoke_warn(ctx, "the model has no split: it runs as a whole, and options of the co-simulation have no effect");
}
