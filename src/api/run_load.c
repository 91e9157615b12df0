/* Loading a model with the overrides that options stand for. */
#include "api/run.h"
#include "base/comm.h"
#include "model/model_ferry.h"
#include "base/given.h"
#include "base/memory.h"
#include "base/sized.h"
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

yoke_status yoke_run_needs_whole(yoke_context *ctx, const yoke_run_options *options, const yoke_model *model) {
  if (model->n_foreigns == 0) return YOKE_OK;
  return yoke_fail(
      ctx, YOKE_E_UNSUPPORTED,
      "'%s' does not run as a whole, which its couplings would be compared with: '%s' is a subsystem of its "
      "own; compare the results of runs with different steps (yoke compare A B)",
      yoke_run_name(options), model->foreigns[0].name);
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

static yoke_status check_choices(yoke_context *ctx, int n, const yoke_choice *choices) {
  if (n < 0 || (n > 0 && choices == NULL))
    return yoke_fail(ctx, YOKE_E_USAGE, "%d choices%s", n,
                     n < 0 ? ", expected 0 or more" : ", expected a list of them");
  for (int i = 0; i < n; ++i) {
    const char *const texts[] = {choices[i].name, choices[i].value};
    YOKE_TRY(yoke_given_texts(ctx, 2, texts, "name and value of a choice"));
  }
  return YOKE_OK;
}

/* Gives; clear in any case. */
static yoke_status make_list(yoke_context *ctx, int n_sets, const char *const *sets, int n_choices,
                             const yoke_choice *choices, override_list *out) {
  *out = (override_list){0};
  YOKE_TRY(yoke_given_texts(ctx, n_sets, sets, "an override"));
  YOKE_TRY(check_choices(ctx, n_choices, choices));
  out->n_texts = n_choices;
  out->list    = yoke_allocate((size_t)n_sets + (size_t)n_choices + 1, sizeof *out->list);
  out->texts   = yoke_allocate((size_t)n_choices + 1, sizeof *out->texts);
  bool is_all  = out->list && out->texts;
  for (int i = 0; is_all && i < n_sets; ++i) out->list[out->n++] = sets[i];
  for (int i = 0; is_all && i < n_choices; ++i) {
    out->list[out->n++] = out->texts[i] = override_text(&choices[i]);
    is_all                              = out->texts[i] != NULL;
  }
  return is_all ? YOKE_OK : yoke_out_of_memory(ctx, "the overrides");
}

/* A share of the model. */
static yoke_model *share(const yoke_model *model) {
  return (yoke_model *)(uintptr_t)yoke_model_retain(model); /* whoever has a share may give it back */
}

/* The model that was read again from one text knows the files that the text came from. */
static yoke_status take_files(yoke_context *ctx, const yoke_model *from, yoke_model *to) {
  char **files = calloc((size_t)from->n_files + 1, sizeof *files);
  bool   done  = files != NULL;
  for (int i = 0; done && i < from->n_files; ++i) done = (files[i] = yoke_text_copy(from->files[i])) != NULL;
  char **old   = done ? to->files : files;
  int    n_old = done ? to->n_files : from->n_files;
  if (done) to->files = files, to->n_files = from->n_files;
  for (int i = 0; old != NULL && i < n_old; ++i) free(old[i]);
  free(old);
  return done ? YOKE_OK : yoke_out_of_memory(ctx, "the model");
}

static const char *name_of(const yoke_model *model) {
  return model->n_files > 0 ? model->files[0] : "model";
}

/* Where a model comes from. */
typedef struct source {
  const char           *name;
  const yoke_yaml_node *tree; /* or ... */
  const char           *text; /* ... of `size` bytes; neither: the file of this name */
  size_t                size;
} source;

static yoke_status read_source(yoke_context *ctx, const source *from, const yoke_load_options *options,
                               yoke_model **out) {
  yoke_load_options own;
  override_list     list;
  *out = NULL;
  YOKE_TRY(yoke_given(ctx, from->name, "name of a model file"));
  YOKE_TRY(yoke_sized_take(ctx, options, &own, sizeof own, "yoke_load_options"));
  yoke_status          status    = make_list(ctx, own.n_sets, own.sets, own.n_choices, own.choices, &list);
  const yoke_overrides overrides = {.n = list.n, .texts = list.list, .is_whole = own.monolithic};
  if (status == YOKE_OK && from->tree != NULL) {
    status = yoke_model_file_read_tree(ctx, from->name, from->tree, &overrides, out);
  } else if (status == YOKE_OK && from->text != NULL) {
    status = yoke_model_file_read_text(ctx, from->name, from->text, from->size, &overrides, out);
  } else if (status == YOKE_OK) {
    status = yoke_model_file_read(ctx, from->name, &overrides, out);
  }
  clear_list(&list);
  return status;
}

yoke_status yoke_model_load(yoke_context *ctx, const char *path, const yoke_load_options *options, yoke_model **out) {
  return read_source(ctx, &(source){.name = path}, options, out);
}

yoke_status yoke_model_load_text(yoke_context *ctx, const char *name, const char *text, size_t size,
                                 const yoke_load_options *options, yoke_model **out) {
  *out = NULL;
  YOKE_TRY(yoke_given(ctx, text, "text of a model"));
  return read_source(ctx, &(source){.name = name, .text = text, .size = size}, options, out);
}

yoke_status yoke_model_from_tree(yoke_context *ctx, const char *name, const yoke_yaml_node *tree,
                                 const yoke_load_options *options, yoke_model **out) {
  return read_source(ctx, &(source){.name = name, .tree = tree}, options, out);
}

yoke_status yoke_model_choose(yoke_context *ctx, const yoke_model *model, const yoke_load_options *o,
                              yoke_model **out) {
  if (o->n_sets == 0 && o->n_choices == 0) {
    *out = share(model);
    return YOKE_OK;
  }
  YOKE_TRY(yoke_model_load_text(ctx, name_of(model), model->text, strlen(model->text), o, out));
  const yoke_status status = take_files(ctx, model, *out);
  if (status != YOKE_OK) yoke_model_destroy(out);
  return status;
}

/* ---- options of a run ---- */

yoke_status yoke_run_options_take(yoke_context *ctx, const yoke_run_options *given, yoke_run_options *own) {
  YOKE_TRY(yoke_sized_take(ctx, given, own, sizeof *own, "yoke_run_options"));
  YOKE_TRY(yoke_given_texts(ctx, own->n_print, own->print, "the name of a quantity"));
  if ((own->model == NULL) != (own->loaded == NULL)) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_USAGE, "%s: give either the path of a model file (`model`) or a model (`loaded`)",
                   own->model == NULL ? "no model is given" : "two models are given");
}

const char *yoke_run_name(const yoke_run_options *options) {
  return options->model != NULL ? options->model : name_of(options->loaded);
}

static yoke_status read_head(yoke_context *ctx, yoke_comm *comm, yoke_model **out) {
  size_t      size;
  const void *bytes = yoke_comm_block(comm, 0, &size);
  yoke_unpack in;
  YOKE_TRY(yoke_unpack_begin(&in, bytes, size, ctx));
  *out = yoke_model_head_read(&in);
  if (*out == NULL && in.failure == NULL) return yoke_out_of_memory(ctx, "the model");
  return yoke_unpack_end(&in, ctx);
}

/* Rank 0 reads the model, the others know its head. */
static yoke_status load_together(yoke_context *ctx, yoke_comm *comm, const char *path, const yoke_load_options *load,
                                 yoke_model **out) {
  const bool  is_first = yoke_comm_rank(comm) == 0;
  yoke_pack   head     = {0};
  yoke_status status   = YOKE_OK;
  *out                 = NULL;
  if (is_first) {
    YOKE_TRY(yoke_model_load(ctx, path, load, out));
    yoke_pack_begin(&head);
    yoke_model_head_write(*out, &head);
    status = yoke_pack_end(&head, ctx);
  }
  if (status == YOKE_OK) status = yoke_comm_exchange(comm, YOKE_COMM_SETUP, 0, head.bytes, head.size);
  yoke_pack_free(&head);
  if (status == YOKE_OK && !is_first) status = read_head(ctx, comm, out);
  if (status != YOKE_OK) yoke_model_destroy(out);
  return status;
}

yoke_status yoke_run_load(yoke_context *ctx, const yoke_run_options *o, yoke_model **out) {
  const yoke_load_options load = {.size       = sizeof load,
                                  .n_sets     = o->n_sets,
                                  .sets       = o->sets,
                                  .n_choices  = o->n_choices,
                                  .choices    = o->choices,
                                  .monolithic = o->monolithic || o->is_static};
  yoke_comm              *comm = yoke_context_comm(ctx);
  if (comm != NULL && o->loaded == NULL) return load_together(ctx, comm, o->model, &load, out);
  return o->loaded != NULL ? yoke_model_choose(ctx, o->loaded, &load, out) : yoke_model_load(ctx, o->model, &load, out);
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
