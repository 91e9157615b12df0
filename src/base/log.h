/* Log: what happens in a run, one line each, for scripts: `label [name] key = value, key = value`. Numbers have all digits.
 *
 *   yoke_log_line line = yoke_log_begin("step", "left");
 *   yoke_log_number(&line, "t", t);
 *   yoke_log_word(&line, "status", yoke_status_name(status));
 *   yoke_log_end(log, &line);                                          step left t = 0.1, status = YOKE_OK
 *
 * Lines between `begin-step` and `end-step` belong to one macro step. Messages for people go to the context (context.h). */
#ifndef YOKE_BASE_LOG_H
#define YOKE_BASE_LOG_H

#include <stddef.h>
#include <stdint.h>

/* Where lines go, without their end; called on the thread that makes the line. `write` NULL: nowhere. */
typedef struct yoke_log {
  void (*write)(void *user, const char *line);
  void *user;
} yoke_log;

typedef struct yoke_log_line {
  char   text[256]; /* what does not fit is cut */
  size_t length;
  int    n_pairs;
} yoke_log_line;

yoke_log_line yoke_log_begin(const char *label, const char *name /* NULL: none */);
void          yoke_log_number(yoke_log_line *line, const char *key, double value);
void          yoke_log_count(yoke_log_line *line, const char *key, int64_t value);
void          yoke_log_word(yoke_log_line *line, const char *key, const char *word);
void          yoke_log_end(const yoke_log *log, const yoke_log_line *line);

#endif
