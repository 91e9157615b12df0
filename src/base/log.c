#include "base/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
append(yoke_log_line *line, const char *format, ...) {
  const size_t room = sizeof line->text - line->length;
  va_list      arguments;
  va_start(arguments, format);
  const int n = vsnprintf(line->text + line->length, room, format, arguments);
  va_end(arguments);
  if (n > 0) line->length += (size_t)n < room ? (size_t)n : room - 1;
}

static void append_key(yoke_log_line *line, const char *key) {
  append(line, "%s%s = ", line->n_pairs++ == 0 ? " " : ", ", key);
}

yoke_log_line yoke_log_begin(const char *label, const char *name) {
  yoke_log_line line = {.length = 0};
  append(&line, "%s", label);
  if (name != NULL) append(&line, " %.100s", name);
  return line;
}

void yoke_log_number(yoke_log_line *line, const char *key, double value) {
  append_key(line, key);
  append(line, "%.17g", value);
}

void yoke_log_count(yoke_log_line *line, const char *key, int64_t value) {
  append_key(line, key);
  append(line, "%" PRId64, value);
}

void yoke_log_word(yoke_log_line *line, const char *key, const char *word) {
  append_key(line, key);
  append(line, "%s", word);
}

void yoke_log_end(const yoke_log *log, const yoke_log_line *line) {
  if (log->write != NULL) log->write(log->user, line->text);
}
