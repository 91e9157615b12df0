/* yoke: the program. Every command is a command_def in a file of its own; this one finds it. */
#include "command.h"
#include "launch.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int unknown_command(const char *name) {
  const char *names[16];
  int         n = 0;
  for (int i = 0; i < n_commands && n < 16; ++i) names[n++] = commands[i]->name;
  const char *nearest = yoke_nearest_name(name, names, n);
  fprintf(stderr, "error: yoke has no command '%s'", name);
  if (nearest) fprintf(stderr, "; did you mean '%s'?", nearest);
  fputs("\nsee: yoke help\n", stderr);
  return EXIT_CODE_USAGE;
}

static int dispatch(int argc, char **argv) {
  if (argc < 2) {
    help_command.run(&help_command, 1, argv);
    return EXIT_CODE_USAGE;
  }
  const char *name = argv[1];
  if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
    printf("yoke %s\n", yoke_version());
    return EXIT_CODE_DONE;
  }
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
    return help_command.run(&help_command, argc - 1, argv + 1);
  for (int i = 0; i < n_commands; ++i) {
    if (strcmp(commands[i]->name, name) == 0) return commands[i]->run(commands[i], argc - 1, argv + 1);
  }
  return unknown_command(name);
}

/* What was printed must have arrived: a full disk behind a redirection is a failure. */
static int finish_output(int code) {
  errno = 0;
  if (fflush(stdout) == 0 && !ferror(stdout)) return code;
  fprintf(stderr, "error: cannot write the standard output: %s\n", strerror(errno ? errno : EIO));
  return code == EXIT_CODE_DONE || code == EXIT_CODE_DIFFERENT ? EXIT_CODE_IO : code;
}

/* A standard descriptor that is closed would be taken by the next file, and messages would go there. What is opened in its place
 * cannot be used: what is lost is noticed as a failure to write. */
static void open_standard_descriptors(void) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) _exit(EXIT_CODE_IO);
  }
}

/* A pipe whose reader is gone and a file that is too large are failures of a write, which are reported; they do not kill. */
static void ignore_signals_of_writes(void) {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

static bool is_over; /* main has ended */

/* Libraries that are refused memory or threads end the program by themselves, with a code of theirs. */
static void explain_early_end(void) {
  if (is_over) return;
  fputs("error: a library ended the program, most likely out of memory or threads\n", stderr);
  fflush(stdout);
  _exit(EXIT_CODE_IO);
}

/* All ranks run a model; everything else is done by the first alone. */
static bool works(int argc, char **argv) {
  return launch_rank() == 0 || (argc > 1 && strcmp(argv[1], run_command.name) == 0);
}

int main(int argc, char **argv) {
  open_standard_descriptors();
  ignore_signals_of_writes();
  atexit(explain_early_end);
  int code = launch_begin(argc, argv);
  if (code == PARSE_DONE) code = finish_output(works(argc, argv) ? dispatch(argc, argv) : EXIT_CODE_DONE);
  code    = launch_end(code);
  is_over = true;
  return code;
}
