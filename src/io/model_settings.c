/* Settings of a run: gravity, time, solvers, output. */
#include "io/model_reader.h"
#include "model/model_length.h"
#include "base/text.h"
#include "integrate/solver_options.h"
#include "io/setting_tables.h"
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

static const yoke_setting time_rows[] = {
    {.key       = "t_start",
     .type      = YOKE_SETTING_OTHER,
     .unit      = "s",
     .expected  = "a number",
     .otherwise = "0",
     .help      = "start of the simulated time [s]"},
    {.key       = "t_end",
     .type      = YOKE_SETTING_OTHER,
     .unit      = "s",
     .expected  = "a number",
     .otherwise = "required",
     .option    = "t-end",
     .value     = "T",
     .help      = "end of the simulated time [s]"},
    {.key       = "assemble",
     .type      = YOKE_SETTING_OTHER,
     .expected  = "true or false",
     .otherwise = "false",
     .help      = "bodies may be moved by more than 1 % of the model's length to close the joints"},
};

const yoke_setting_table yoke_time_rows = {.path = "", YOKE_SETTING_ROWS(time_rows)};

static const yoke_setting output_rows[] = {
    {.key       = "file",
     .type      = YOKE_SETTING_OTHER,
     .expected  = "the path of a file",
     .otherwise = "none",
     .help      = "result as HDF5"},
    {.key       = "csv",
     .type      = YOKE_SETTING_OTHER,
     .expected  = "the path of a file",
     .otherwise = "none",
     .help      = "result as CSV"},
    {.key       = "every",
     .type      = YOKE_SETTING_OTHER,
     .unit      = "s",
     .expected  = "a number",
     .otherwise = "0: every step",
     .help      = "distance of output times"},
    {.key       = "select",
     .type      = YOKE_SETTING_OTHER,
     .expected  = "names with *, ? and [1..9]",
     .otherwise = "all",
     .help      = "what is written"},
    {.key       = "integrals",
     .type      = YOKE_SETTING_OTHER,
     .expected  = "names of positions",
     .otherwise = "none",
     .help      = "positions whose time integral is written, too"},
};

const yoke_setting_table yoke_output_rows = {.path = "output", YOKE_SETTING_ROWS(output_rows)};

/* ---- solvers ---- */

/* `solvers.default: auto` is short for {kind: auto}. */
static bool read_solver(reader *r, const yoke_yaml_node *node, const char *key, yoke_solver_def *solver) {
  const char        *path = yoke_solver_rows.path;
  yoke_setting_value value;
  bool               good = true;
  model_enter(r, path, key);
  if (node->kind != YOKE_YAML_MAP) {
    const yoke_setting *kind = yoke_setting_find(&yoke_solver_rows, "kind");
    const char         *words[YOKE_SETTING_MAX_WORDS];
    const int           word = model_word(r, node, NULL, words, yoke_setting_words(kind, words));
    if (word >= 0) model_print(solver->kind, sizeof solver->kind, "%s", words[word]);
    return word >= 0;
  }
  for (int k = 0; k < node->n; ++k) {
    const yoke_setting *row = yoke_setting_find(&yoke_solver_rows, node->keys[k]->text);
    if (row == NULL) {
      model_unknown_key(r, node, k, path);
      good = false;
    } else if (model_setting(r, path, row, node->keys[k], node->items[k], &value)) {
      yoke_setting_store(row, &value, solver);
    } else {
      good = false;
    }
  }
  return good;
}

/* Keys that no solver reads which they are meant for: `default` is also for parts that have a kind of their own. */
static void warn_unread(const reader *r, const yoke_yaml_node *node, const char *name, const yoke_solver_def *solver) {
  const yoke_model *m = r->model;
  for (int k = 0; node->kind == YOKE_YAML_MAP && k < node->n; ++k) {
    const yoke_setting *row     = yoke_setting_find(&yoke_solver_rows, node->keys[k]->text);
    bool                is_read = yoke_solver_reads(solver->kind, row->key),
         is_met                 = yoke_setting_is_read(&yoke_solver_rows, row, solver);
    char position[600], reason[200];
    for (int i = 0; solver == &m->solver && i < m->n_parts; ++i) {
      const yoke_solver_def *own = &m->parts[i].solver;
      if (!m->parts[i].has_solver) continue;
      is_read = is_read || yoke_solver_reads(own->kind, row->key);
      is_met  = is_met || yoke_setting_is_read(&yoke_solver_rows, row, own);
    }
    if (is_read && is_met) continue;
    model_position(node->keys[k], position, sizeof position);
    if (!is_read)
      model_print(reason, sizeof reason, "solver %s does not read it", solver->kind);
    else if (row->with != NULL)
      model_print(reason, sizeof reason, "it belongs to %s %s", row->with, row->of);
    else
      model_print(reason, sizeof reason, "%s is given", row->without);
    yoke_warn(r->ctx, "%s: key 'solvers.%s.%s' has no effect: %s; leave it out", position, name, row->key, reason);
  }
}

yoke_split_part *model_part(const yoke_model *m, const char *name) {
  for (int k = 0; k < m->n_parts; ++k) {
    if (strcmp(m->parts[k].name, name) == 0) return &m->parts[k];
  }
  return NULL;
}

/* The absolute tolerance follows the relative one unless it is given, and in a small model its length: else it would be all that counts where
 * bodies are small. */
static void settle(const reader *r, yoke_solver_def *solver) {
  const yoke_model_sizes sizes =
      r->n_errors == 0 ? yoke_model_sizes_of(r->model) : (yoke_model_sizes){.length = 1.0, .time = 1.0};
  if (solver->atol > 0) return;
  solver->atol = 1e-2 * solver->rtol;
  if (sizes.length >= 1e-2) return;
  solver->atol *= sizes.length;
  solver->length = sizes.length;
  solver->time   = sizes.time;
}

static void read_solvers(reader *r) {
  yoke_model           *m      = r->model;
  yoke_solver_def       common = {0};
  const yoke_yaml_node *map;
  yoke_setting_start(&yoke_solver_rows, &common);
  m->solver = common;
  settle(r, &m->solver);
  model_enter(r, "", NULL);
  if (!model_map(r, yoke_yaml_find(r->root, "solvers"), "solvers", &map) || map == NULL) return;
  const yoke_yaml_node *node = yoke_yaml_find(map, "default");
  if (!yoke_yaml_is_nothing(node)) read_solver(r, node, "default", &common);
  m->solver = common;
  settle(r, &m->solver);
  for (int k = 0; k < map->n; ++k) {
    const char     *name = map->keys[k]->text;
    yoke_solver_def own  = common;
    if (strcmp(name, "default") == 0) continue;
    model_enter(r, "solvers", NULL);
    yoke_split_part *part = model_part(m, name);
    if (part == NULL && m->n_parts > 0) { /* without a split the names of subsystems mean nothing */
      model_mistake(r, map->keys[k], name,
                    "found the name of no subsystem, expected 'default' or a name below 'split'");
    } else if (part != NULL && part->is_foreign) {
      model_mistake(r, map->keys[k], name,
                    "found a solver for a subsystem that steps itself, expected none: use parameters of its own "
                    "(subsystems.%.64s.parameters)",
                    name);
    } else if (!yoke_yaml_is_nothing(map->items[k]) && read_solver(r, map->items[k], name, &own) && part != NULL) {
      part->has_solver = true;
      part->solver     = own;
      settle(r, &part->solver);
    }
  }
  if (r->n_errors > 0) return;
  if (!yoke_yaml_is_nothing(node)) warn_unread(r, node, "default", &m->solver);
  for (int i = 0; i < m->n_parts; ++i) {
    if (m->parts[i].has_solver)
      warn_unread(r, yoke_yaml_find(map, m->parts[i].name), m->parts[i].name, &m->parts[i].solver);
  }
}

/* A text or a list of texts. */
static bool read_texts(reader *r, const yoke_yaml_node *node, const char *key, char ***out, int *n) {
  if (yoke_yaml_is_nothing(node)) return true;
  const int n_items = node->kind == YOKE_YAML_LIST ? node->n : 1;
  if (node->kind == YOKE_YAML_MAP) return model_expected(r, node, key, "a name or a list of names");
  *out = calloc((size_t)n_items + 1, sizeof **out);
  if (*out == NULL) return model_out_of_memory(r);
  for (int k = 0; k < n_items; ++k) {
    const yoke_yaml_node *item = node->kind == YOKE_YAML_LIST ? node->items[k] : node;
    if (yoke_yaml_is_nothing(item) || item->kind != YOKE_YAML_SCALAR)
      return model_expected(r, item, key, "a name as in upper.x, * and ? allowed");
    (*out)[k] = yoke_text_copy(item->text);
    if ((*out)[k] == NULL) return model_out_of_memory(r);
    ++*n;
  }
  return true;
}

static bool read_path(reader *r, const yoke_yaml_node *map, const char *key, char **out) {
  const yoke_yaml_node *node = yoke_yaml_find(map, key);
  if (yoke_yaml_is_nothing(node)) return true;
  if (node->kind != YOKE_YAML_SCALAR) return model_expected(r, node, key, "the path of a file");
  *out = yoke_text_copy(node->text);
  return *out != NULL || model_out_of_memory(r);
}

static void read_output(reader *r) {
  const char           *keys[MAX_SETTING_KEYS];
  yoke_output_def      *output = &r->model->output;
  const yoke_yaml_node *map;
  model_enter(r, "", NULL);
  if (!model_map(r, yoke_yaml_find(r->root, "output"), "output", &map) || map == NULL) return;
  model_enter(r, "output", NULL);
  model_check_keys(r, map, keys, model_setting_keys("output", keys, MAX_SETTING_KEYS));
  read_path(r, map, "file", &output->file);
  read_path(r, map, "csv", &output->csv);
  const yoke_yaml_node *every = yoke_yaml_find(map, "every");
  if (!yoke_yaml_is_nothing(every)) model_not_negative(r, r->scopes[0], every, "every", Q_TIME, &output->every);
  read_texts(r, yoke_yaml_find(map, "select"), "select", &output->select, &output->n_select);
  read_texts(r, yoke_yaml_find(map, "integrals"), "integrals", &output->integrals, &output->n_integrals);
}

static void read_time(reader *r) {
  yoke_model           *m     = r->model;
  const yoke_yaml_node *t_end = yoke_yaml_find(r->root, "t_end");
  model_enter(r, "", NULL);
  if (!model_optional(r, r->scopes[0], r->root, "t_start", Q_TIME, &m->t_start)) return;
  if (yoke_yaml_is_nothing(t_end)) {
    model_mistake(r, r->root, "t_end", "found nothing, expected the end of the simulated time [s]");
    return;
  }
  if (model_number(r, r->scopes[0], t_end, "t_end", Q_TIME, &m->t_end) && !(m->t_end > m->t_start)) {
    model_mistake(r, t_end, "t_end", "found %g s, expected a time behind t_start = %g s", m->t_end, m->t_start);
  }
}

static void read_name(reader *r) {
  const yoke_yaml_node *node = yoke_yaml_find(r->root, "name");
  const char           *name = "model";
  model_enter(r, "", NULL);
  if (yoke_yaml_is_nothing(node)) {
    const char *slash = strrchr(r->root->file, '/');
    name              = slash == NULL ? r->root->file : slash + 1;
  } else if (node->kind != YOKE_YAML_SCALAR) {
    model_expected(r, node, "name", "a text");
  } else {
    name = node->text;
  }
  r->model->name = yoke_text_copy(name);
  if (r->model->name == NULL) model_out_of_memory(r);
}

void model_read_gravity(reader *r) {
  const yoke_yaml_node *gravity = yoke_yaml_find(r->root, "gravity");
  if (!yoke_yaml_is_nothing(gravity))
    model_numbers(r, r->scopes[0], gravity, "gravity", Q_ACCELERATION, 2, 3, r->model->gravity, NULL);
}

void model_read_assemble(reader *r) {
  const yoke_yaml_node *assemble = yoke_yaml_find(r->root, "assemble");
  if (!yoke_yaml_is_nothing(assemble)) model_boolean(r, assemble, "assemble", &r->model->assemble);
}

void model_read_settings(reader *r) {
  read_name(r);
  read_time(r);
  read_solvers(r);
  read_output(r);
  model_enter(r, "", NULL);
}
