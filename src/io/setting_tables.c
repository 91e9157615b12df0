#include "io/setting_tables.h"

#include "integrate/solver_options.h"
#include "master/macro_settings.h"
#include <stdio.h>
#include <string.h>

yoke_joined_table yoke_setting_tables(int i) {
  static const yoke_setting_table *const tables[] = {&yoke_time_rows,      &yoke_solver_rows,  &yoke_output_rows,
                                                     &yoke_scheme_rows,    &yoke_step_rows,    &yoke_macro_rows,
                                                     &yoke_order_rows,     &yoke_control_rows, &yoke_control_atol_rows,
                                                     &yoke_corrector_rows, &yoke_coupling_rows};
  enum { N_TABLES = sizeof tables / sizeof *tables };
  if (i < N_TABLES) return (yoke_joined_table){.path = tables[i]->path, .table = tables[i]};
  const yoke_formulation_ops *ops = yoke_formulation_at(i - N_TABLES);
  if (ops == NULL) return (yoke_joined_table){0};
  return (yoke_joined_table){.path = YOKE_COUPLING_PATH, .formulation = ops->name, .table = &ops->settings};
}

const yoke_setting *yoke_setting_below(const char *path, const char *key) {
  yoke_joined_table   t;
  const yoke_setting *row = NULL;
  for (int i = 0; row == NULL && (t = yoke_setting_tables(i)).path != NULL; ++i) {
    if (strcmp(t.path, path) == 0) row = yoke_setting_find(t.table, key);
  }
  return row;
}

const char *yoke_setting_path(const char *path) {
  yoke_joined_table t;
  for (int i = 0; (t = yoke_setting_tables(i)).path != NULL; ++i) {
    if (strcmp(t.path, path) == 0) return t.path;
  }
  return NULL;
}

int yoke_setting_formulations(const char *key, char *text, size_t size) {
  int n   = 0;
  text[0] = '\0';
  for (int i = 0; yoke_formulation_at(i) != NULL; ++i) {
    const yoke_formulation_ops *ops  = yoke_formulation_at(i);
    const size_t                used = strlen(text);
    if (yoke_setting_find(&ops->settings, key) == NULL) continue;
    snprintf(text + used, size - used, "%s%s", n > 0 ? ", " : "", ops->name);
    ++n;
  }
  return n;
}
