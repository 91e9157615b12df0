/* Completion: scripts with which a shell completes commands, options, keys and their words, from the tables of the program. */
#ifndef YOKE_CLI_COMPLETION_H
#define YOKE_CLI_COMPLETION_H

#include "options.h"

/* `shell` is bash, zsh or fish. Gives the exit code; a message tells of another one. */
int completion_print(const command_def *command, const char *shell);

#endif
