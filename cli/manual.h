/* Manual pages of the program and of every command, from the tables that `yoke help` shows. */
#ifndef YOKE_CLI_MANUAL_H
#define YOKE_CLI_MANUAL_H

/* Writes yoke.1 and yoke-COMMAND.1 into a folder that exists; gives the exit code. */
int manual_write(const char *folder);

#endif
