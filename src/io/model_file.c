/* The stages of loading:
 *   1. tree:    file and includes read and merged, overrides applied; the merged tree is written to model->text
 *   2. scopes:  parameters evaluated, instances of assemblies opened
 *   3. bodies, ports of subsystems and frames of all scopes, so that everything can be named from anywhere
 *   4. connections, inputs, loads, events, outputs, inputs of subsystems of all scopes
 *   5. settings
 * Mistakes are collected; stage 1 must succeed for the others to start. */
#include "io/model_file.h"
#include "base/memory.h"
#include "io/model_reader.h"
#include "model/model_digits.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const top_keys[] = {
    "yoke",      "name",   "include",      "parameters",  "gravity", "t_start",    "t_end", "assemblies",
    "instances", "bodies", "frames",       "connections", "inputs",  "subsystems", "loads", "events",
    "outputs",   "split",  "cosimulation", "solvers",     "output",  "assemble"};

static bool check_version(reader *r) {
  const yoke_yaml_node *version = yoke_yaml_find(r->root, "yoke");
  if (version == NULL)
    return model_mistake(r, r->root, "yoke",
                         "found nothing, expected the version of the model file: 'yoke: 1' (is this a model file?)");
  if (version->kind == YOKE_YAML_SCALAR && strcmp(version->text, "1") == 0) return true;
  return model_expected(r, version, "yoke", "1, the version of the model file");
}

/* A parameter that only an override names, and nothing uses, is a typing mistake. */
static void check_unused_overrides(reader *r) {
  const scope *s = r->scopes[0];
  for (int k = 0; k < s->n_parameters; ++k) {
    const parameter *p = &s->parameters[k];
    if (p->used || p->key->line != 0 || strncmp(p->key->file, "--set ", 6) != 0) continue;
    yoke_names others = {0};
    for (int j = 0; j < s->n_parameters; ++j) {
      if (j != k) yoke_names_add(&others, s->parameters[j].key->text, j);
    }
    const char *nearest = yoke_names_nearest(&others, p->key->text);
    model_mistake(r, p->key, NULL, "found '%.60s', expected a parameter that the model uses%s%s%s", p->key->text,
                  nearest == NULL ? "" : "; did you mean '", nearest == NULL ? "" : nearest,
                  nearest == NULL ? "" : "'?");
    yoke_names_clear(&others);
  }
}

static void read_sections(reader *r) {
  const yoke_frame ground = {.body = YOKE_GROUND, .axes = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  if (model_add_frame(r, r->root, "ground", &ground) < 0 || !model_open_scopes(r)) return;
  model_read_gravity(r);
  model_read_assemble(r);
  for (int k = 0; k < r->n_scopes; ++k) model_read_bodies(r, r->scopes[k]);
  for (int k = 0; k < r->n_scopes; ++k) model_read_subsystems(r, r->scopes[k]);
  for (int k = 0; k < r->n_scopes; ++k) model_read_frames(r, r->scopes[k]);
  for (int k = 0; k < r->n_scopes; ++k) model_read_connections(r, r->scopes[k]);
  for (int k = 0; k < r->n_scopes; ++k) model_read_inputs(r, r->scopes[k]);
  for (int k = 0; k < r->n_scopes; ++k) model_read_laws(r, r->scopes[k]);
  for (int k = 0; k < r->n_scopes; ++k) model_read_loads(r, r->scopes[k]);
  for (int k = 0; k < r->n_scopes; ++k) model_read_events(r, r->scopes[k]);
  model_read_outputs(r);
  for (int k = 0; k < r->n_scopes; ++k) model_read_subsystem_inputs(r, r->scopes[k]);
  model_enter(r, "", NULL);
  if (r->model->n_bodies == 0 && r->model->n_foreigns == 0 && r->n_errors == 0)
    model_mistake(r, r->root, "bodies", "found nothing, expected at least one body");
  if (r->n_errors == 0) model_read_split(r);
  model_read_settings(r);
  model_read_cosimulation(r);
  check_unused_overrides(r);
}

static bool read_tree(reader *r, const yoke_yaml_node *tree, const char *path, const yoke_overrides *overrides) {
  yoke_yaml_node *root = NULL;
  if (tree == NULL) {
    const yoke_yaml_node at = {.file = path, .line = 1, .column = 1};
    return model_mistake(r, &at, NULL, "found an empty file, expected a model that starts with 'yoke: 1'");
  }
  if (tree->kind != YOKE_YAML_MAP)
    return model_expected(r, tree, NULL, "keys of a model file, the first one 'yoke: 1'");
  if (!model_merge_includes(r, tree, path, &root) || !model_apply_overrides(r, &root, overrides) ||
      !model_inline_matrices(r, path, &root))
    return false;
  r->root        = root;
  r->model->text = yoke_yaml_write(root);
  if (r->model->text == NULL) return model_out_of_memory(r);
  model_check_keys(r, root, top_keys, MODEL_COUNT(top_keys));
  return check_version(r);
}

static void reader_clear(reader *r) {
  yoke_names *const tables[] = {&r->body_names,  &r->frame_names,    &r->connection_names, &r->load_names,
                                &r->event_names, &r->variable_names, &r->output_names,     &r->reference_names,
                                &r->input_names, &r->foreign_names,  &r->rod_names,        &r->refused_names};
  for (int k = 0; k < MODEL_COUNT(tables); ++k) yoke_names_clear(tables[k]);
  model_close_scopes(r);
  yoke_arena_free(&r->scratch);
}

/* Builds from a tree, which stays as it is; new nodes belong to `yaml`, which is taken. */
static yoke_status build(yoke_context *ctx, yoke_yaml *yaml, const yoke_yaml_node *root, const char *path,
                         const yoke_overrides *overrides, yoke_model **out) {
  reader *r = calloc(1, sizeof *r);
  if (r != NULL) r->model = calloc(1, sizeof *r->model);
  if (r == NULL || r->model == NULL) {
    free(r);
    yoke_yaml_destroy(&yaml);
    return yoke_out_of_memory(ctx, "reading '%s'", path);
  }
  r->ctx          = ctx;
  r->model->arena = yoke_arena_of(ctx);
  r->yaml         = yaml;
  r->is_whole     = overrides != NULL && overrides->is_whole;
  if (read_tree(r, root, path, overrides)) read_sections(r);
  if (r->n_errors > MAX_REPORTED && !r->is_out_of_memory)
    yoke_fail(ctx, YOKE_E_MODEL, "%s: and %d more mistakes", path, r->n_errors - MAX_REPORTED);
  yoke_status status = r->is_out_of_memory ? YOKE_E_MEMORY
                       : r->lacks_file     ? YOKE_E_IO
                       : r->n_errors == 0  ? YOKE_OK
                                           : YOKE_E_MODEL;
  if (status == YOKE_OK) status = yoke_model_close_digits(ctx, r->model);
  reader_clear(r);
  if (status == YOKE_OK) {
    *out = r->model;
  } else {
    yoke_model_destroy(&r->model);
  }
  free(r);
  yoke_yaml_destroy(&yaml);
  return status;
}

yoke_status yoke_model_file_read(yoke_context *ctx, const char *path, const yoke_overrides *overrides,
                                 yoke_model **out) {
  yoke_yaml      *yaml = NULL;
  yoke_yaml_node *root = NULL;
  *out                 = NULL;
  if (yoke_yaml_create(&yaml) != YOKE_OK) return yoke_out_of_memory(ctx, "reading '%s'", path);
  const yoke_status status = yoke_yaml_read_file(ctx, yaml, path, &root);
  if (status == YOKE_OK) return build(ctx, yaml, root, path, overrides, out);
  yoke_yaml_destroy(&yaml);
  return status;
}

yoke_status yoke_model_file_read_text(yoke_context *ctx, const char *name, const char *text, size_t size,
                                      const yoke_overrides *overrides, yoke_model **out) {
  yoke_yaml      *yaml = NULL;
  yoke_yaml_node *root = NULL;
  *out                 = NULL;
  if (yoke_yaml_create(&yaml) != YOKE_OK) return yoke_out_of_memory(ctx, "reading '%s'", name);
  const yoke_status status = yoke_yaml_read_text(ctx, yaml, name, text, size, &root);
  if (status == YOKE_OK) return build(ctx, yaml, root, name, overrides, out);
  yoke_yaml_destroy(&yaml);
  return status;
}

yoke_status yoke_model_file_read_tree(yoke_context *ctx, const char *name, const yoke_yaml_node *root,
                                      const yoke_overrides *overrides, yoke_model **out) {
  yoke_yaml *yaml = NULL;
  *out            = NULL;
  if (yoke_yaml_create(&yaml) != YOKE_OK) return yoke_out_of_memory(ctx, "reading '%s'", name);
  return build(ctx, yaml, root, name, overrides, out);
}
