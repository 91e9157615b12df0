/* Settings of a run: gravity, time, solvers, output. */
#include "io/model_reader.h"
#include "base/text.h"
#include "integrate/integrator.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_METHODS = 64 };

/* `solvers.default: auto` is short for {kind: auto}. */
static bool read_solver(reader *r, const yoke_yaml_node *node, const char *key, yoke_solver_def *solver) {
  static const char *const keys[]   = {"kind",   "rtol",        "atol",  "step", "max_step", "max_order",
                                       "linear", "constraints", "alpha", "beta", "rho_inf"};
  static const char *const linear[] = {"klu", "dense", "banded"}, *const constraints[] = {"ggl", "baumgarte",
                                                                                          "projection"};
  const scope *s = r->scopes[0];
  const char  *methods[MAX_METHODS];
  int          n_methods = 0;
  for (; n_methods < yoke_integrator_n_methods() && n_methods < MAX_METHODS; ++n_methods)
    methods[n_methods] = yoke_integrator_method_name(n_methods);
  const yoke_yaml_node *kind = node->kind == YOKE_YAML_MAP ? yoke_yaml_find(node, "kind") : node;
  bool                  good = true;
  model_enter(r, "solvers", key);
  if (kind != NULL) {
    const int method = model_word(r, kind, node->kind == YOKE_YAML_MAP ? "kind" : NULL, methods, n_methods);
    if (method < 0) return false;
    model_print(solver->kind, sizeof solver->kind, "%s", methods[method]);
  }
  if (node->kind != YOKE_YAML_MAP) return true;
  good = model_check_keys(r, node, keys, MODEL_COUNT(keys));
  const struct {
    const char *key;
    quantity    q;
    double     *value;
  } positive[] = {{"rtol", Q_NUMBER, &solver->rtol},
                  {"atol", Q_NUMBER, &solver->atol},
                  {"step", Q_TIME, &solver->step},
                  {"max_step", Q_TIME, &solver->max_step},
                  {"alpha", Q_PER_TIME, &solver->baumgarte_alpha},
                  {"beta", Q_PER_TIME, &solver->baumgarte_beta}};
  for (int k = 0; k < MODEL_COUNT(positive); ++k) {
    const yoke_yaml_node *value = yoke_yaml_find(node, positive[k].key);
    if (value != NULL) good = model_positive(r, s, value, positive[k].key, positive[k].q, positive[k].value) && good;
  }
  const yoke_yaml_node *order = yoke_yaml_find(node, "max_order"), *lin = yoke_yaml_find(node, "linear"),
                       *form = yoke_yaml_find(node, "constraints"), *rho = yoke_yaml_find(node, "rho_inf");
  long max_order = 0;
  if (order != NULL) {
    good              = model_integer(r, s, order, "max_order", 1, 13, &max_order) && good;
    solver->max_order = (int)max_order;
  }
  int word = lin == NULL ? -1 : model_word(r, lin, "linear", linear, MODEL_COUNT(linear));
  if (word >= 0) model_print(solver->linear, sizeof solver->linear, "%s", linear[word]);
  good = good && (lin == NULL || word >= 0);
  word = form == NULL ? -1 : model_word(r, form, "constraints", constraints, MODEL_COUNT(constraints));
  if (word >= 0) model_print(solver->constraints, sizeof solver->constraints, "%s", constraints[word]);
  good = good && (form == NULL || word >= 0);
  if (rho != NULL) {
    good = model_number(r, s, rho, "rho_inf", Q_NUMBER, &solver->rho_inf) && good;
    if (solver->rho_inf < 0 || solver->rho_inf > 1)
      good = model_mistake(r, rho, "rho_inf", "found %g, expected a number from 0 to 1", solver->rho_inf);
  }
  return good;
}

static yoke_split_part *find_part(const yoke_model *m, const char *name) {
  for (int k = 0; k < m->n_parts; ++k) {
    if (strcmp(m->parts[k].name, name) == 0) return &m->parts[k];
  }
  return NULL;
}

static void read_solvers(reader *r) {
  yoke_solver_def *solver = &r->model->solver;
  *solver                 = (yoke_solver_def){.kind            = "auto",
                                              .rtol            = 1e-8,
                                              .atol            = 0,
                                              .linear          = "klu",
                                              .constraints     = "ggl",
                                              .baumgarte_alpha = 10,
                                              .baumgarte_beta  = 10,
                                              .rho_inf         = 0.8};
  const yoke_yaml_node *map;
  model_enter(r, "", NULL);
  if (!model_map(r, yoke_yaml_find(r->root, "solvers"), "solvers", &map) || map == NULL) return;
  const yoke_yaml_node *common = yoke_yaml_find(map, "default");
  if (!yoke_yaml_is_nothing(common)) read_solver(r, common, "default", solver);
  for (int k = 0; k < map->n; ++k) {
    const char     *name = map->keys[k]->text;
    yoke_solver_def own  = *solver;
    if (strcmp(name, "default") == 0) continue;
    model_enter(r, "solvers", NULL);
    yoke_split_part *part = find_part(r->model, name);
    if (part == NULL && r->model->n_parts > 0) { /* without a split the names of subsystems mean nothing */
      model_mistake(r, map->keys[k], name,
                    "found the name of no subsystem, expected 'default' or a name below 'split'");
    } else if (!yoke_yaml_is_nothing(map->items[k]) && read_solver(r, map->items[k], name, &own) && part != NULL) {
      part->has_solver = true;
      part->solver     = own;
    }
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
  static const char *const keys[] = {"file", "csv", "every", "select", "integrals"};
  yoke_output_def         *output = &r->model->output;
  const yoke_yaml_node    *map;
  model_enter(r, "", NULL);
  if (!model_map(r, yoke_yaml_find(r->root, "output"), "output", &map) || map == NULL) return;
  model_enter(r, "output", NULL);
  model_check_keys(r, map, keys, MODEL_COUNT(keys));
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

void model_read_settings(reader *r) {
  const yoke_yaml_node *gravity = yoke_yaml_find(r->root, "gravity");
  read_name(r);
  read_time(r);
  if (!yoke_yaml_is_nothing(gravity))
    model_numbers(r, r->scopes[0], gravity, "gravity", Q_ACCELERATION, 2, 3, r->model->gravity, NULL);
  read_solvers(r);
  if (r->model->solver.atol == 0) r->model->solver.atol = 1e-2 * r->model->solver.rtol;
  read_output(r);
  model_enter(r, "", NULL);
}
