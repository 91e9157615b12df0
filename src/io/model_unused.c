/* Settings of couplings that no coupling reads: said before the run, for they are mistakes more often than not. */
#include "io/model_reader.h"

#include "coupling/formulation.h"
#include <stdio.h>
#include <string.h>

/* Keys that belong to some formulations only (yoke_formulation_ops.keys). */
static const char *const special[] = {
    "index", "beta",  "gamma",       "mu",           "a",      "b",       "relaxation",
    "nodes", "force", "order_force", "order_motion", "motion", "outputs", "prescribed"};

static bool is_special(const char *key) {
  for (int i = 0; i < MODEL_COUNT(special); ++i) {
    if (strcmp(special[i], key) == 0) return true;
  }
  return false;
}

/* A coupling without a formulation of its own has the default of its kind, which is not known here. */
static bool choice_reads(const yoke_coupling_choice *choice, const char *key) {
  if (choice->formulation[0] != '\0') return yoke_formulation_reads(yoke_formulation_find(choice->formulation), key);
  return yoke_formulation_reads(yoke_formulation_find("constitutive"), key) ||
         yoke_formulation_reads(yoke_formulation_find("stabilized-index-2"), key);
}

static void warn_of(const reader *r, const char *coupling, const yoke_yaml_node *node) {
  const char *key          = node->text;
  const bool  any          = strcmp(key, "relaxation") == 0; /* of two things */
  char        readers[200] = "", position[600];
  model_position(node, position, sizeof position);
  for (int i = 0; i < yoke_formulation_n(); ++i) {
    const yoke_formulation_ops *ops = yoke_formulation_at(i);
    const size_t                n   = strlen(readers);
    if (yoke_formulation_reads(ops, key))
      snprintf(readers + n, sizeof readers - n, "%s%s", n > 0 ? ", " : "", ops->name);
  }
  yoke_warn(r->ctx,
            "%s: key 'cosimulation.couplings%s%s.%s' has no effect: only formulation %s%s read%s it; leave it out, or "
            "choose another formulation",
            position, coupling != NULL ? "." : "", coupling != NULL ? coupling : "", key, readers,
            any ? " and scheme waveform" : "", any || strchr(readers, ',') != NULL ? "" : "s");
}

/* Keys of one map. `own` NULL: those for all couplings, which every coupling may read. */
static void check_map(const reader *r, const yoke_yaml_node *map, const yoke_coupling_choice *own) {
  const yoke_cosimulation_def *c           = &r->model->cosimulation;
  const bool                   is_waveform = strcmp(c->scheme, "waveform") == 0;
  for (int k = 0; k < map->n; ++k) {
    const char *key  = map->keys[k]->text;
    bool        read = choice_reads(own != NULL ? own : &c->couplings, key);
    if (!is_special(key) || (is_waveform && strcmp(key, "relaxation") == 0)) continue;
    for (int i = 0; own == NULL && i < c->n_own; ++i) read = read || choice_reads(&c->own[i], key);
    if (!read) warn_of(r, own != NULL ? own->name : NULL, map->keys[k]);
  }
}

void model_warn_unused(const reader *r, const yoke_yaml_node *couplings) {
  const yoke_cosimulation_def *c = &r->model->cosimulation;
  if (couplings == NULL || couplings->kind != YOKE_YAML_MAP || r->n_errors > 0 || r->model->n_parts == 0) return;
  check_map(r, couplings, NULL);
  for (int i = 0; i < c->n_own; ++i) {
    const yoke_yaml_node *map = yoke_yaml_find(couplings, c->own[i].name);
    if (map != NULL && map->kind == YOKE_YAML_MAP) check_map(r, map, &c->own[i]);
  }
}
