#include "io/matrix_market.h"

#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_ROWS = 100000, MOST_ENTRIES = 1000000 };

typedef struct market {
  yoke_context *ctx;
  const char   *path;
  FILE         *file;
  char          line[1024];
  long          number; /* of the line */
  bool          is_array;
} market;

#define BROKEN(m, ...) yoke_fail((m)->ctx, YOKE_E_MODEL, __VA_ARGS__)

/* The next line that is no comment and not empty; *is_there is false behind the last one. Comments may be of any length. */
static yoke_status next_line(market *m, bool *is_there) {
  bool is_rest = false; /* of a long comment */
  for (*is_there = false; !*is_there && fgets(m->line, sizeof m->line, m->file) != NULL;) {
    const char *at       = m->line + strspn(m->line, " \t\v\f\r\n");
    const bool  is_whole = strchr(m->line, '\n') != NULL || feof(m->file), is_comment = is_rest || *at == '%';
    m->number += !is_rest;
    if (!is_whole && !is_comment)
      return BROKEN(m, "%s:%ld: found a line of more than %d characters, or a zero byte, expected numbers", m->path,
                    m->number, (int)sizeof m->line - 2);
    *is_there = !is_comment && *at != '\0';
    is_rest   = !is_whole;
  }
  return YOKE_OK;
}

/* The number at *at, of decimal digits alone and with nothing behind it but space; *at is moved there. */
static bool read_number(const char **at, double *out) {
  const char  *begin = *at + strspn(*at, " \t");
  const size_t n     = strspn(begin, "0123456789+-.eE");
  char        *end;
  *out = strtod(begin, &end);
  *at  = end;
  return n > 0 && end == begin + n && strchr(" \t\v\f\r\n", *end) != NULL && isfinite(*out);
}

static bool read_index(const char **at, long *out) {
  double     value;
  const bool is_read = read_number(at, &value) && fabs(value) < 1e15 && value == floor(value);
  *out               = is_read ? (long)value : 0;
  return is_read;
}

static bool is_end(const char *at) {
  return at[strspn(at, " \t\v\f\r\n")] == '\0';
}

static yoke_status read_header(market *m, yoke_market_matrix *out) {
  char object[32] = "", format[32] = "", field[32] = "", symmetry[32] = "";
  if (fgets(m->line, sizeof m->line, m->file) == NULL ||
      sscanf(m->line, "%%%%MatrixMarket %31s %31s %31s %31s", object, format, field, symmetry) != 4)
    return BROKEN(m, "%s:1: found no header, expected '%%%%MatrixMarket matrix coordinate real symmetric'", m->path);
  m->number         = 1;
  m->is_array       = strcasecmp(format, "array") == 0;
  out->is_symmetric = strcasecmp(symmetry, "symmetric") == 0;
  const bool is_known =
      strcasecmp(object, "matrix") == 0 && (m->is_array || strcasecmp(format, "coordinate") == 0) &&
      (strcasecmp(field, "real") == 0 || strcasecmp(field, "integer") == 0 || strcasecmp(field, "double") == 0) &&
      (out->is_symmetric || strcasecmp(symmetry, "general") == 0);
  if (is_known) return YOKE_OK;
  return BROKEN(m,
                "%s:1: found '%s %s %s %s', expected a matrix that is coordinate or array, real or integer, general or "
                "symmetric",
                m->path, object, format, field, symmetry);
}

static yoke_status read_size(market *m, yoke_market_matrix *out, long *n) {
  long        rows = 0, cols = 0;
  bool        is_there;
  const char *at = m->line;
  YOKE_TRY(next_line(m, &is_there));
  if (!is_there || !read_index(&at, &rows) || !read_index(&at, &cols) || (!m->is_array && !read_index(&at, n)) ||
      !is_end(at))
    return BROKEN(m, "%s:%ld: found no sizes, expected rows and columns%s", m->path, m->number,
                  m->is_array ? "" : " and the number of entries");
  if (rows < 1 || cols < 1 || rows > MOST_ROWS || cols > MOST_ROWS)
    return BROKEN(m, "%s:%ld: found %ld rows and %ld columns, expected 1 to %d", m->path, m->number, rows, cols,
                  (int)MOST_ROWS);
  if (out->is_symmetric && rows != cols)
    return BROKEN(m, "%s:%ld: found %ld rows and %ld columns, expected a square matrix: it is symmetric", m->path,
                  m->number, rows, cols);
  if (m->is_array) *n = out->is_symmetric ? rows * (rows + 1) / 2 : rows * cols;
  if (*n < 0 || *n > MOST_ENTRIES)
    return BROKEN(m, "%s:%ld: found %ld entries, expected at most %d", m->path, m->number, *n, (int)MOST_ENTRIES);
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
    bool   is_there;
    YOKE_TRY(next_line(m, &is_there));
    if (!is_there) return BROKEN(m, "%s: found %ld entries, expected %ld: the file ends too early", m->path, k, n);
    const char *at = m->line;
    const bool  is_read =
        (m->is_array || (read_index(&at, &row) && read_index(&at, &col))) && read_number(&at, &value) && is_end(at);
    if (!is_read || row < 1 || col < 1 || row > out->n_rows || col > out->n_cols)
      return BROKEN(m, "%s:%ld: found '%.*s', expected %s inside a matrix of %d rows and %d columns", m->path,
                    m->number, (int)strcspn(m->line, "\r\n"), m->line,
                    m->is_array ? "a number" : "row, column and value", out->n_rows, out->n_cols);
    out->row[out->n]     = (int)row;
    out->col[out->n]     = (int)col;
    out->value[out->n++] = value;
    if (++next_row > out->n_rows) next_row = out->is_symmetric ? ++next_col : (++next_col, 1);
  }
  bool is_there;
  YOKE_TRY(next_line(m, &is_there));
  return is_there ? BROKEN(m, "%s:%ld: found more than %ld entries", m->path, m->number, n) : YOKE_OK;
}

/* An ordinary file: who waits for a FIFO waits for ever. */
static FILE *open_file(yoke_context *ctx, const char *path) {
  struct stat kind;
  const int   fd      = yoke_file_open(path, O_RDONLY | O_NONBLOCK, 0);
  const bool  is_file = fd >= 0 && fstat(fd, &kind) == 0 && S_ISREG(kind.st_mode);
  FILE       *file    = is_file ? fdopen(fd, "r") : NULL;
  if (file == NULL)
    (void)yoke_fail(ctx, YOKE_E_IO, "%s: the matrix cannot be read: %s", path,
                    fd >= 0 && !is_file ? "it is no ordinary file" : strerror(errno));
  if (file == NULL && fd >= 0) close(fd);
  return file;
}

yoke_status yoke_market_read(yoke_context *ctx, const char *path, yoke_market_matrix *out) {
  market m = {.ctx = ctx, .path = path, .file = open_file(ctx, path)};
  long   n = 0;
  *out     = (yoke_market_matrix){0};
  if (m.file == NULL) return YOKE_E_IO;
  yoke_status status = read_header(&m, out);
  if (status == YOKE_OK) status = read_size(&m, out, &n);
  if (status == YOKE_OK) status = read_entries(&m, out, n);
  fclose(m.file);
  return status;
}

void yoke_market_clear(yoke_market_matrix *matrix) {
  yoke_arena_free(&matrix->arena);
}
