/* Commands of the program and what they share. */
#ifndef YOKE_CLI_COMMAND_H
#define YOKE_CLI_COMMAND_H

#include "json.h"
#include "options.h"
#include <yoke/yoke.h>

extern const command_def run_command, check_command, info_command, split_command, compare_command, converge_command,
    stability_command, plot_command, new_command, help_command;

/* All commands in the order of `yoke help`. */
extern const command_def *const commands[];
extern const int                n_commands;

/* The messages of the context on stderr, with "error: ", "warning: ", "note: " in front. */
void print_messages(const yoke_context *ctx);

/* Members `messages` (errors and notes; only after a failure) and `warnings` of a summary. */
void json_messages(json *j, const yoke_context *ctx, yoke_status status);

/* "done", "different", "interrupted" or "failed". */
const char *status_word(yoke_status status);

/* Context, or NULL after a message. */
yoke_context *create_context(void);

/* "wrote FILE: WHAT" for a file that was asked for; NULL: none was. */
void print_wrote(FILE *file, const char *path, const char *what);

/* 1 body, 2 bodies */
const char *plural(int64_t n, const char *one, const char *many);

#endif
