#include "command.h"
#include <string.h>

const command_def *const commands[] = {&run_command,     &check_command,    &info_command,      &split_command,
                                       &compare_command, &converge_command, &stability_command, &plot_command,
                                       &new_command,     &help_command};
const int                n_commands = (int)(sizeof commands / sizeof *commands);

/* A command that reads its model several times hears the same several times. */
static bool was_said(const yoke_context *ctx, size_t i) {
  for (size_t k = 0; k < i; ++k) {
    if (strcmp(yoke_context_message(ctx, k), yoke_context_message(ctx, i)) == 0) return true;
  }
  return false;
}

void print_messages(const yoke_context *ctx) {
  static const char *const labels[] = {
      [YOKE_SEVERITY_ERROR] = "error", [YOKE_SEVERITY_WARNING] = "warning", [YOKE_SEVERITY_NOTE] = "note"};
  size_t n_shown = 0;
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) {
    const yoke_severity severity = yoke_context_message_severity(ctx, i);
    if (!was_said(ctx, i)) fprintf(stderr, "%s: %s\n", labels[severity], yoke_context_message(ctx, i));
    n_shown += severity == YOKE_SEVERITY_ERROR;
  }
  const size_t n_errors = yoke_context_n_errors(ctx);
  if (n_errors > n_shown) fprintf(stderr, "note: %zu more errors\n", n_errors - n_shown);
  const size_t n_lost = yoke_context_n_lost(ctx);
  if (n_lost > 0) fprintf(stderr, "note: %zu more warnings and notes\n", n_lost);
}

void json_messages(json *j, const yoke_context *ctx, yoke_status status) {
  if (status != YOKE_OK) {
    json_begin(j, "messages", '[');
    for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) {
      if (yoke_context_message_severity(ctx, i) != YOKE_SEVERITY_WARNING)
        json_text(j, NULL, yoke_context_message(ctx, i));
    }
    json_end(j, ']');
  }
  json_begin(j, "warnings", '[');
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) {
    if (yoke_context_message_severity(ctx, i) == YOKE_SEVERITY_WARNING)
      json_text(j, NULL, yoke_context_message(ctx, i));
  }
  json_end(j, ']');
}

const char *status_word(yoke_status status) {
  switch (status) {
  case YOKE_OK: return "done";
  case YOKE_E_DIFFERENT: return "different";
  case YOKE_E_INTERRUPTED: return "interrupted";
  default: return "failed";
  }
}

yoke_context *create_context(void) {
  yoke_context *ctx = NULL;
  if (yoke_context_create(&ctx) != YOKE_OK) fputs("error: out of memory\n", stderr);
  return ctx;
}

const char *plural(int64_t n, const char *one, const char *many) {
  return n == 1 ? one : many;
}

void print_wrote(FILE *file, const char *path, const char *what) {
  if (path) fprintf(file, "wrote %s: %s\n", path, what);
}
