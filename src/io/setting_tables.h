/* Setting tables: the rows of all modules, joined. */
#ifndef YOKE_IO_SETTING_TABLES_H
#define YOKE_IO_SETTING_TABLES_H

#include "base/setting.h"

typedef struct yoke_joined_table {
  const char               *path;        /* where its keys stand */
  const char               *formulation; /* whose own they are; NULL: of no formulation */
  const yoke_setting_table *table;
} yoke_joined_table;

/* Table i; path NULL behind the last. */
yoke_joined_table yoke_setting_tables(int i);

/* The row of a key below a path; NULL: none. Several formulations may have the same key: the first one's that is not refused, which the
 * others agree with in how it is written. */
const yoke_setting *yoke_setting_below(const char *path, const char *key);
/* The path of a table that is equal to `path`, which need not live longer than the call; NULL: there is none. */
const char         *yoke_setting_path(const char *path);
/* The key with its path: "cosimulation.order", "solvers.default.rtol". */
void yoke_setting_full_key(const yoke_joined_table *table, const yoke_setting *row, char *text, size_t size);
/* The same of the setting with this option ("order"); false: there is none. */
bool yoke_setting_of_option(const char *option, char *text, size_t size);

/* Rows that this module reads itself. */
extern const yoke_setting_table yoke_time_rows, yoke_output_rows;

#endif
