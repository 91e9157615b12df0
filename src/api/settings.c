#include <yoke/settings.h>

#include "base/sized.h"
#include "coupling/formulation.h"
#include "integrate/solver_options.h"
#include "io/setting_tables.h"
#include <stdio.h>
#include <string.h>

/* Is this the row that tells of its key? Several formulations may have the same one. */
static bool is_told(const yoke_joined_table *t, const yoke_setting *row) {
  return strcmp(t->path, YOKE_COUPLING_PATH) != 0 || yoke_setting_below(t->path, row->key) == row;
}

/* Setting i: its row and table; path NULL: there is none. */
static yoke_joined_table find(int i, const yoke_setting **row) {
  yoke_joined_table t;
  for (int k = 0; (t = yoke_setting_tables(k)).path != NULL; ++k) {
    for (int j = 0; j < t.table->n; ++j) {
      *row = &t.table->rows[j];
      if (is_told(&t, *row) && i-- == 0) return t;
    }
  }
  return t;
}

int yoke_n_settings(void) {
  yoke_joined_table t;
  int               n = 0;
  for (int k = 0; (t = yoke_setting_tables(k)).path != NULL; ++k) {
    for (int j = 0; j < t.table->n; ++j) n += is_told(&t, &t.table->rows[j]) ? 1 : 0;
  }
  return n;
}

int yoke_setting_with_option(const char *option, size_t length) {
  yoke_joined_table t;
  int               n = 0;
  for (int k = 0; (t = yoke_setting_tables(k)).path != NULL; ++k) {
    for (int j = 0; j < t.table->n; ++j) {
      const yoke_setting *row = &t.table->rows[j];
      if (!is_told(&t, row)) continue;
      if (row->option != NULL && strlen(row->option) == length && strncmp(row->option, option, length) == 0) return n;
      ++n;
    }
  }
  return -1;
}

static void add(char *text, size_t size, const char *before, const char *word) {
  const size_t used = strlen(text);
  snprintf(text + used, size - used, "%s%s", before, word);
}

static void describe_solvers(const yoke_setting *row, yoke_setting_facts *out) {
  int n = 0;
  if (strcmp(row->key, "kind") == 0) return;
  for (int i = 0; i < yoke_integrator_n_methods(); ++i) {
    if (yoke_solver_reads(yoke_integrator_method_name(i), row->key))
      add(out->readers, sizeof out->readers, n++ > 0 ? ", " : "solver ", yoke_integrator_method_name(i));
  }
}

/* Formulations that have the key; where their standards differ none is told. */
static void describe_formulations(const yoke_setting *row, yoke_setting_facts *out) {
  int n = 0;
  for (int i = 0; yoke_formulation_at(i) != NULL; ++i) {
    const yoke_formulation_ops *ops = yoke_formulation_at(i);
    const yoke_setting         *own = yoke_setting_find(&ops->settings, row->key);
    char                        standard[sizeof out->standard];
    if (own == NULL || own->refused != NULL) continue;
    add(out->readers, sizeof out->readers, n++ > 0 ? ", " : "formulation ", ops->name);
    yoke_setting_standard_text(own, standard, sizeof standard);
    if (strcmp(standard, out->standard) != 0) snprintf(out->standard, sizeof out->standard, "the formulation's own");
  }
}

yoke_status yoke_setting_describe(int i, yoke_setting_facts *out) {
  const yoke_setting     *row = NULL;
  const yoke_joined_table t   = find(i, &row);
  yoke_setting_facts      own = {.path = ""};
  if (i < 0 || t.path == NULL || row == NULL) return YOKE_E_USAGE;
  yoke_setting_full_key(&t, row, own.path, sizeof own.path);
  own.key         = row->key;
  own.help        = row->help;
  own.refused     = row->refused;
  own.option      = row->option;
  own.value       = row->value;
  own.n_words     = yoke_setting_words(row, own.words);
  own.is_whole    = row->type == YOKE_SETTING_INTEGER;
  own.min         = row->min;
  own.max         = row->max;
  own.is_positive = row->type == YOKE_SETTING_POSITIVE && row->unit == NULL;
  own.is_open     = row->type != YOKE_SETTING_WORD && !own.is_whole && !own.is_positive;
  yoke_setting_values_text(row, own.values, sizeof own.values);
  yoke_setting_standard_text(row, own.standard, sizeof own.standard);
  if (t.table == &yoke_solver_rows) describe_solvers(row, &own);
  if (t.formulation != NULL) describe_formulations(row, &own);
  yoke_setting_condition_text(row, own.condition, sizeof own.condition);
  return yoke_sized_show(NULL, out, &own, sizeof own, "yoke_setting_facts");
}
