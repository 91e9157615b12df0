/* A table of numbers from a CSV file: all values, and the names of the columns. Fields that are no numbers are NaN. Include after
 * cmocka.h. */
#ifndef YOKE_TESTS_BITS_CSV_H
#define YOKE_TESTS_BITS_CSV_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CSV_COLUMNS = 512 };

typedef struct csv_table {
  char   *text; /* owns the names */
  char   *names[CSV_COLUMNS];
  int     n_columns;
  long    n_rows;
  double *values; /* [n_rows, n_columns] */
} csv_table;

/* Cuts the next field off `*at`: ends it, takes its quotes away, and moves on behind its comma or line end (`*ends_line`). */
static inline char *csv_field(char **at, bool *ends_line) {
  char      *field  = *at;
  const bool quoted = *field == '"';
  if (quoted) ++field;
  char *end = quoted ? strchr(field, '"') : field + strcspn(field, ",\n");
  if (end == NULL) end = field + strlen(field);
  char *next = end + strcspn(end, ",\n");
  *ends_line = *next != ',';
  *at        = *next == '\0' ? next : next + 1;
  *end       = '\0';
  return field;
}

/* Takes `text`. */
static inline csv_table csv_parse(char *text) {
  csv_table table = {.text = text};
  char     *at    = text;
  for (bool ends = false; !ends && *at != '\0';) {
    assert_true(table.n_columns < CSV_COLUMNS);
    table.names[table.n_columns++] = csv_field(&at, &ends);
  }
  long n_lines = 0;
  for (const char *c = at; *c != '\0'; ++c) n_lines += *c == '\n';
  table.values = malloc(((size_t)n_lines * (size_t)table.n_columns + 1) * sizeof *table.values);
  assert_non_null(table.values);
  for (; table.n_rows < n_lines; ++table.n_rows) {
    for (int k = 0; k < table.n_columns; ++k) {
      bool        ends;
      char       *rest;
      const char *field = csv_field(&at, &ends);
      double      value = strtod(field, &rest);
      if (rest == field || *rest != '\0') value = (double)NAN;
      table.values[table.n_rows * table.n_columns + k] = value;
      assert_int_equal(ends, k + 1 == table.n_columns);
    }
  }
  return table;
}

static inline void csv_release(csv_table *table) {
  free(table->text);
  free(table->values);
}

static inline int csv_column(const csv_table *table, const char *name) {
  for (int k = 0; k < table->n_columns; ++k) {
    if (strcmp(table->names[k], name) == 0) return k;
  }
  return -1;
}

/* The value of column k in the last row. */
static inline double csv_end(const csv_table *table, int k) {
  return table->n_rows > 0 ? table->values[(table->n_rows - 1) * table->n_columns + k] : (double)NAN;
}

/* FNV-1a, 64 bits, over the bits of all values in the order of the file; all NaN are alike. */
static inline uint64_t csv_hash(const csv_table *table) {
  uint64_t hash = 0xcbf29ce484222325U;
  for (long i = 0; i < table->n_rows * table->n_columns; ++i) {
    uint64_t bits = 0x7ff8000000000000U;
    if (!isnan(table->values[i])) memcpy(&bits, &table->values[i], sizeof bits);
    for (int b = 0; b < 64; b += 8) hash = (hash ^ ((bits >> b) & 0xffU)) * 0x100000001b3U;
  }
  return hash;
}

#endif
