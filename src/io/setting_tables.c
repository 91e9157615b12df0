#include "io/setting_tables.h"

#include "integrate/solver_options.h"
#include "master/macro_settings.h"
#include <stdio.h>
#include <string.h>

yoke_joined_table yoke_setting_tables(int i) {
  static const yoke_setting_table *const tables[] = {
      &yoke_time_rows,         &yoke_solver_rows,    &yoke_output_rows,    &yoke_scheme_rows,
      &yoke_step_rows,         &yoke_macro_rows,     &yoke_order_rows,     &yoke_control_rows,
      &yoke_control_atol_rows, &yoke_corrector_rows, &yoke_subsystem_rows, &yoke_coupling_rows};
  enum { N_TABLES = sizeof tables / sizeof *tables };
  if (i < N_TABLES) return (yoke_joined_table){.path = tables[i]->path, .table = tables[i]};
  const yoke_formulation_ops *ops = yoke_formulation_at(i - N_TABLES);
  if (ops == NULL) return (yoke_joined_table){0};
  return (yoke_joined_table){.path = YOKE_COUPLING_PATH, .formulation = ops->name, .table = &ops->settings};
}

const yoke_setting *yoke_setting_below(const char *path, const char *key) {
  yoke_joined_table   t;
  const yoke_setting *found = NULL;
  for (int i = 0; (t = yoke_setting_tables(i)).path != NULL; ++i) {
    const yoke_setting *row = strcmp(t.path, path) == 0 ? yoke_setting_find(t.table, key) : NULL;
    if (row != NULL && row->refused == NULL) return row;
    if (row != NULL && found == NULL) found = row;
  }
  return found;
}

const char *yoke_setting_path(const char *path) {
  yoke_joined_table t;
  for (int i = 0; (t = yoke_setting_tables(i)).path != NULL; ++i) {
    if (strcmp(t.path, path) == 0) return t.path;
  }
  return NULL;
}

void yoke_setting_full_key(const yoke_joined_table *t, const yoke_setting *row, char *text, size_t size) {
  const char *which = "";                                /* subsystem */
  if (t->table == &yoke_solver_rows) which = ".default"; /* those without their own */
  if (t->table == &yoke_subsystem_rows) which = ".NAME";
  snprintf(text, size, "%s%s%s%s", t->path, which, t->path[0] != '\0' ? "." : "", row->key);
}

bool yoke_setting_of_option(const char *option, char *text, size_t size) {
  yoke_joined_table t;
  for (int i = 0; (t = yoke_setting_tables(i)).path != NULL; ++i) {
    for (int k = 0; k < t.table->n; ++k) {
      if (t.table->rows[k].option == NULL || strcmp(t.table->rows[k].option, option) != 0) continue;
      yoke_setting_full_key(&t, &t.table->rows[k], text, size);
      return true;
    }
  }
  return false;
}
