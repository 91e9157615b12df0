#include "io/csv.h"
#include "base/memory.h"
#include "base/output_file.h"
#include "base/text.h"
#include "base/clock.h"
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void yoke_csv_put_number(FILE *file, double value) {
  char text[YOKE_TEXT_NUMBER];
  yoke_text_number(value, text);
  fputs(text, file);
}

void yoke_csv_put_quoted(FILE *file, const char *text) {
  fputc('"', file);
  for (const char *c = text; *c != '\0'; ++c) {
    if (*c == '"') fputc('"', file);
    fputc(*c == '\n' ? ' ' : *c, file);
  }
  fputc('"', file);
}

/* ---- writing ---- */

struct yoke_csv_writer {
  yoke_output_file out;
  FILE            *file;
  int              n;
  bool             has_failed;
  double           flushed_at; /* clock [s] */
  double           t_start;    /* of the first row; NaN: none yet */
  long             start_size; /* bytes up to the last row of that time */
};

static yoke_status fail_io(yoke_csv_writer *writer, yoke_context *ctx, int error) {
  writer->has_failed = true;
  return yoke_output_file_fail(ctx, &writer->out, error);
}

static void put_name(FILE *file, const char *name) {
  if (!strpbrk(name, ",\"\r\n")) {
    fputs(name, file);
    return;
  }
  putc('"', file);
  for (const char *c = name; *c; ++c) {
    if (*c == '"') putc('"', file);
    putc(*c == '\n' || *c == '\r' ? ' ' : *c, file);
  }
  putc('"', file);
}

yoke_status yoke_csv_writer_create(yoke_context *ctx, const char *path, int n, const char *const *names,
                                   yoke_csv_writer **out) {
  *out                    = NULL;
  yoke_csv_writer *writer = yoke_allocate(1, sizeof *writer);
  if (!writer) return yoke_out_of_memory(ctx, "the result '%s'", path);
  writer->n          = n;
  writer->flushed_at = yoke_clock_now();
  writer->t_start    = (double)NAN;
  yoke_status status = yoke_output_file_open(ctx, path, &writer->out);
  if (status == YOKE_OK && !(writer->file = yoke_output_file_stream(&writer->out))) {
    status = fail_io(writer, ctx, errno);
    yoke_output_file_drop(&writer->out);
  }
  if (status != YOKE_OK) {
    free(writer);
    return status;
  }
  fputs("time", writer->file);
  for (int i = 0; i < n; ++i) {
    putc(',', writer->file);
    put_name(writer->file, names[i] ? names[i] : "");
  }
  putc('\n', writer->file);
  *out = writer;
  return YOKE_OK;
}

yoke_status yoke_csv_writer_row(yoke_csv_writer *writer, yoke_context *ctx, double t, const double *values) {
  char text[YOKE_TEXT_NUMBER];
  if (isnan(writer->t_start)) writer->t_start = t;
  if (t > writer->t_start && writer->start_size == 0) writer->start_size = ftell(writer->file);
  errno = 0;
  yoke_text_number(t, text);
  fputs(text, writer->file);
  for (int i = 0; i < writer->n; ++i) {
    yoke_text_number(values[i], text);
    putc(',', writer->file);
    fputs(text, writer->file);
  }
  putc('\n', writer->file);
  /* Others can follow the run, and a killed one keeps all but its last second. */
  const double now = yoke_clock_now();
  if (now - writer->flushed_at >= 1.0) {
    fflush(writer->file);
    writer->flushed_at = now;
  }
  if (ferror(writer->file) && !writer->has_failed) return fail_io(writer, ctx, errno);
  return YOKE_OK;
}

/* Did a row behind the start reach the file? */
static bool holds_more_than_the_start(const yoke_csv_writer *w) {
  struct stat file;
  return w->start_size != 0 && stat(w->out.path, &file) == 0 && file.st_size > w->start_size;
}

yoke_status yoke_csv_writer_close(yoke_csv_writer **writer, yoke_context *ctx, bool is_complete, bool *is_kept) {
  *is_kept = false;
  if (!*writer) return YOKE_OK;
  yoke_csv_writer *w      = *writer;
  yoke_status      status = YOKE_OK;
  errno                   = 0;
  const bool had_error    = fflush(w->file) != 0 || ferror(w->file);
  int        error        = errno;
  const bool close_failed = fclose(w->file) != 0;
  if (error == 0) error = errno;
  if ((had_error || close_failed) && !w->has_failed) status = fail_io(w, ctx, error);
  if ((is_complete && !w->has_failed) || holds_more_than_the_start(w)) {
    const yoke_status kept = yoke_output_file_keep(ctx, &w->out);
    *is_kept               = kept == YOKE_OK;
    if (status == YOKE_OK) status = kept;
  } else {
    yoke_output_file_drop(&w->out);
  }
  free(w);
  *writer = NULL;
  return status;
}

/* ---- reading ---- */

static yoke_status read_whole(yoke_context *ctx, const char *path, char **text, size_t *length) {
  errno      = 0;
  FILE *file = fopen(path, "rb");
  if (!file) return yoke_fail(ctx, YOKE_E_IO, "cannot read '%s': %s", path, strerror(errno));
  size_t capacity = 1 << 16, used = 0;
  char  *block = malloc(capacity);
  while (block) {
    used += fread(block + used, 1, capacity - used - 1, file);
    if (used + 1 < capacity) break;
    char *larger = capacity > SIZE_MAX / 2 ? NULL : realloc(block, capacity *= 2);
    if (!larger) free(block);
    block = larger;
  }
  const bool failed = ferror(file) != 0;
  const int  error  = errno;
  fclose(file);
  if (!block) return yoke_out_of_memory(ctx, "reading '%s'", path);
  if (failed) {
    free(block);
    return yoke_fail(ctx, YOKE_E_IO, "cannot read '%s': %s", path, strerror(error ? error : EIO));
  }
  block[used] = '\0';
  *text       = block;
  *length     = used;
  return YOKE_OK;
}

/* Next name of a header line: plain, or in quotes with "" for a quote. Moves *at behind it and its comma; writes in place. */
static char *take_name(char **at) {
  char *in = *at, *out, *name;
  while (*in == ' ') in++;
  if (*in == '"') {
    name = out = ++in;
    while (*in && !(in[0] == '"' && in[1] != '"')) {
      if (*in == '"') in++;
      *out++ = *in++;
    }
    if (*in) in++;
    while (*in && *in != ',') in++;
  } else {
    name = in;
    while (*in && *in != ',') in++;
    out = in;
    while (out > name && out[-1] == ' ') out--;
  }
  const bool more = *in == ',';
  *out            = '\0';
  *at             = more ? in + 1 : NULL;
  return name;
}

static yoke_status read_header(yoke_context *ctx, const char *path, char *line, yoke_csv_table *table) {
  int n_max = 1;
  for (const char *c = line; *c; ++c) n_max += *c == ',';
  table->names = yoke_allocate((size_t)n_max, sizeof *table->names);
  if (!table->names) return yoke_out_of_memory(ctx, "reading '%s'", path);
  for (char *at = line; at && table->n_columns < n_max;) {
    table->names[table->n_columns] = yoke_text_copy(take_name(&at));
    if (!table->names[table->n_columns]) return yoke_out_of_memory(ctx, "reading '%s'", path);
    table->n_columns++;
  }
  if (strcmp(table->names[0], "time") == 0) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_IO, "'%s' line 1: the first column is '%.40s', expected 'time'", path, table->names[0]);
}

/* Numbers of one line into row [n_columns]. false: not that many numbers; *column is where. */
static bool read_row(const char *line, int n_columns, double *row, int *column) {
  const char *at = line;
  for (int i = 0; i < n_columns; ++i) {
    char *end;
    *column = i;
    row[i]  = strtod(at, &end);
    if (end == at) return false;
    while (*end == ' ' || *end == '\t') end++;
    if (*end != (i + 1 < n_columns ? ',' : '\0')) return false;
    at = end + 1;
  }
  return true;
}

/* Lines to rows [n_rows, n_columns]. `end` is the end of the text; the last line is unfinished if no newline ends it. */
static yoke_status read_rows(yoke_context *ctx, const char *path, char *at, const char *end, yoke_csv_table *table,
                             double *rows) {
  for (size_t line = 2; at < end; ++line) {
    char      *newline = memchr(at, '\n', (size_t)(end - at));
    char      *next    = newline ? newline + 1 : at + strlen(at);
    const bool is_last = !newline;
    int        column  = 0;
    if (newline) *newline = '\0';
    if (newline && newline > at && newline[-1] == '\r') newline[-1] = '\0';
    if (is_last) next = (char *)end;
    if (*at != '\0') {
      double *row = rows + table->n_rows * (size_t)table->n_columns; /* a line that is too short stays within `rows` */
      if (read_row(at, table->n_columns, row, &column)) {
        table->n_rows++;
      } else if (is_last) {
        yoke_warn(ctx, "'%s' line %zu is unfinished and not used", path, line);
      } else {
        return yoke_fail(ctx, YOKE_E_IO, "'%s' line %zu, column %d ('%.40s'): expected %d numbers separated by commas",
                         path, line, column + 1, table->names[column], table->n_columns);
      }
    }
    at = next;
  }
  return YOKE_OK;
}

static yoke_status read_body(yoke_context *ctx, const char *path, char *body, const char *end, yoke_csv_table *table) {
  size_t n_lines = 1;
  for (const char *c = body; c < end; ++c) n_lines += *c == '\n';
  const size_t n    = (size_t)table->n_columns;
  const size_t most = (size_t)(end - body) / (2 * n) + 1; /* a number and its separator take two letters at least */
  double      *rows = yoke_allocate((n_lines < most ? n_lines : most) * n, sizeof *rows);
  if (!rows) return yoke_out_of_memory(ctx, "reading '%s'", path);
  /* Numbers are written with a point, whatever the locale of the application says. */
  locale_t    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  locale_t    before   = c_locale ? uselocale(c_locale) : (locale_t)0;
  yoke_status status   = read_rows(ctx, path, body, end, table, rows);
  if (c_locale) {
    uselocale(before);
    freelocale(c_locale);
  }
  if (status == YOKE_OK) {
    table->values = yoke_allocate((table->n_rows ? table->n_rows : 1) * n, sizeof(double));
    if (!table->values) status = yoke_out_of_memory(ctx, "reading '%s'", path);
  }
  for (size_t k = 0; status == YOKE_OK && k < table->n_rows; ++k) {
    for (size_t i = 0; i < n; ++i) table->values[i * table->n_rows + k] = rows[k * n + i];
  }
  free(rows);
  return status;
}

yoke_status yoke_csv_read(yoke_context *ctx, const char *path, yoke_csv_table *out) {
  *out          = (yoke_csv_table){0};
  char  *text   = NULL;
  size_t length = 0;
  YOKE_TRY(read_whole(ctx, path, &text, &length));
  yoke_status status = YOKE_OK;
  char       *end    = memchr(text, '\n', length);
  if (memchr(text, '\0', length)) {
    status = yoke_fail(ctx, YOKE_E_IO, "'%s' is neither a CSV nor an HDF5 result", path);
  } else if (!end) {
    status = yoke_fail(ctx, YOKE_E_IO, "'%s' is not a CSV result: it has no complete header line", path);
  } else {
    *end = '\0';
    if (end > text && end[-1] == '\r') end[-1] = '\0';
    status = read_header(ctx, path, text, out);
  }
  if (status == YOKE_OK) status = read_body(ctx, path, end + 1, text + length, out);
  free(text);
  if (status != YOKE_OK) yoke_csv_table_release(out);
  return status;
}

void yoke_csv_table_release(yoke_csv_table *table) {
  for (int i = 0; i < table->n_columns; ++i) free(table->names[i]);
  free(table->names);
  free(table->values);
  *table = (yoke_csv_table){0};
}
