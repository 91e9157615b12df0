#include "io/matrix_market.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 100000, MOST_ENTRIES = 1000000 };

typedef struct market {
  yoke_context *ctx;
  const char   *path;
  FILE         *file;
  char          line[1024];
  long          number; /* of the line */
  bool          is_array;
} market;

/* The next line that is no comment and not empty. */
static bool next_line(market *m) {
  while (fgets(m->line, sizeof m->line, m->file) != NULL) {
    ++m->number;
    const char *at = m->line;
    while (isspace((unsigned char)*at)) ++at;
    if (*at != '\0' && *at != '%') return true;
  }
  return false;
}

#define BROKEN(m, ...) yoke_fail((m)->ctx, YOKE_E_MODEL, __VA_ARGS__)

static yoke_status read_header(market *m, yoke_market_matrix *out) {
  char object[32] = "", format[32] = "", field[32] = "", symmetry[32] = "";
  if (fgets(m->line, sizeof m->line, m->file) == NULL ||
      sscanf(m->line, "%%%%MatrixMarket %31s %31s %31s %31s", object, format, field, symmetry) != 4)
    return BROKEN(m, "%s:1: found no header, expected '%%%%MatrixMarket matrix coordinate real symmetric'", m->path);
  m->number           = 1;
  m->is_array         = strcmp(format, "array") == 0;
  out->is_symmetric   = strcmp(symmetry, "symmetric") == 0;
  const bool is_known = strcmp(object, "matrix") == 0 && (m->is_array || strcmp(format, "coordinate") == 0) &&
                        (strcmp(field, "real") == 0 || strcmp(field, "integer") == 0 || strcmp(field, "double") == 0) &&
                        (out->is_symmetric || strcmp(symmetry, "general") == 0);
  if (is_known) return YOKE_OK;
  return BROKEN(m,
                "%s:1: found '%s %s %s %s', expected a matrix that is coordinate or array, real or integer, general or "
                "symmetric",
                m->path, object, format, field, symmetry);
}

static yoke_status read_size(market *m, yoke_market_matrix *out, long *n) {
  long rows = 0, cols = 0;
  if (!next_line(m) || sscanf(m->line, "%ld %ld %ld", &rows, &cols, n) < (m->is_array ? 2 : 3))
    return BROKEN(m, "%s:%ld: found no sizes, expected rows and columns%s", m->path, m->number,
                  m->is_array ? "" : " and the number of entries");
  if (m->is_array) *n = out->is_symmetric ? rows * (rows + 1) / 2 : rows * cols;
  if (rows < 1 || cols < 1 || rows > MOST_ROWS || cols > MOST_ROWS || *n < 0 || *n > MOST_ENTRIES)
    return BROKEN(m,
                  "%s:%ld: found %ld rows, %ld columns and %ld entries, expected 1 to %d rows and at most %d entries",
                  m->path, m->number, rows, cols, *n, (int)MOST_ROWS, (int)MOST_ENTRIES);
  out->n_rows = (int)rows;
  out->n_cols = (int)cols;
  out->row    = yoke_arena_take(&out->arena, (size_t)*n + 1, sizeof *out->row);
  out->col    = yoke_arena_take(&out->arena, (size_t)*n + 1, sizeof *out->col);
  out->value  = yoke_arena_take(&out->arena, (size_t)*n + 1, sizeof *out->value);
  return yoke_arena_check(&out->arena, m->ctx, "the matrix '%s'", m->path);
}

/* Arrays go down their columns; of symmetric ones the lower part. */
static yoke_status read_entries(market *m, yoke_market_matrix *out, long n) {
  long next_row = 1, next_col = 1;
  for (long k = 0; k < n; ++k) {
    long   row = next_row, col = next_col;
    double value = 0.0;
    if (!next_line(m)) return BROKEN(m, "%s: found %ld entries, expected %ld: the file ends too early", m->path, k, n);
    const bool is_read =
        m->is_array ? sscanf(m->line, "%lf", &value) == 1 : sscanf(m->line, "%ld %ld %lf", &row, &col, &value) == 3;
    if (!is_read || !isfinite(value) || row < 1 || col < 1 || row > out->n_rows || col > out->n_cols)
      return BROKEN(m, "%s:%ld: found '%.*s', expected %s inside a matrix of %d rows and %d columns", m->path,
                    m->number, (int)strcspn(m->line, "\r\n"), m->line,
                    m->is_array ? "a number" : "row, column and value", out->n_rows, out->n_cols);
    out->row[out->n]     = (int)row;
    out->col[out->n]     = (int)col;
    out->value[out->n++] = value;
    if (++next_row > out->n_rows) next_row = out->is_symmetric ? ++next_col : (++next_col, 1);
  }
  if (next_line(m)) return BROKEN(m, "%s:%ld: found more than %ld entries", m->path, m->number, n);
  return YOKE_OK;
}

yoke_status yoke_market_read(yoke_context *ctx, const char *path, yoke_market_matrix *out) {
  market m = {.ctx = ctx, .path = path, .file = fopen(path, "r")};
  long   n = 0;
  *out     = (yoke_market_matrix){0};
  if (m.file == NULL) return yoke_fail(ctx, YOKE_E_IO, "%s: the matrix cannot be read: %s", path, strerror(errno));
  yoke_status status = read_header(&m, out);
  if (status == YOKE_OK) status = read_size(&m, out, &n);
  if (status == YOKE_OK) status = read_entries(&m, out, n);
  fclose(m.file);
  return status;
}

void yoke_market_clear(yoke_market_matrix *matrix) {
  yoke_arena_free(&matrix->arena);
}
