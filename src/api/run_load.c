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

yoke_status yoke_run_load(yoke_context *ctx, const yoke_run_options *options, yoke_model **out) {
  const size_t n      = (size_t)options->n_sets + (size_t)options->n_choices;
  const char **sets   = yoke_allocate(n + 1, sizeof *sets);
  char       **texts  = yoke_allocate((size_t)options->n_choices + 1, sizeof *texts);
  yoke_status  status = sets && texts ? YOKE_OK : YOKE_E_MEMORY;
  *out                = NULL;
  for (int i = 0; status == YOKE_OK && i < options->n_sets; ++i) sets[i] = options->sets[i];
  for (int i = 0; status == YOKE_OK && i < options->n_choices; ++i) {
    sets[options->n_sets + i] = texts[i] = override_text(&options->choices[i]);
    if (!texts[i]) status = YOKE_E_MEMORY;
  }
  if (status == YOKE_OK) {
    const yoke_overrides overrides = {.n = (int)n, .texts = sets};
    status                         = yoke_model_file_read(ctx, options->model, &overrides, out);
  } else {
    status = yoke_fail(ctx, status, "out of memory for the overrides");
  }
  for (int i = 0; texts && i < options->n_choices; ++i) free(texts[i]);
  free(texts);
  free(sets);
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
