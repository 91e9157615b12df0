#include "child.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_WORDS = 64 };

/* Warnings that say nothing of the result's accuracy. */
static const char *const harmless[] = {"has no effect", "forces in these joints are not unique", "name it to choose",
                                       "threads could be started"};

static const char strong[] = "do not use this result";

/* ---- the JSON object ---- */

/* Behind `"key": `; NULL: not there. */
static const char *member(const char *json, const char *key) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\":", key);
  const char *at = strstr(json, quoted);
  if (at == NULL) return NULL;
  at += strlen(quoted);
  return at + strspn(at, " \n");
}

static double number(const char *json, const char *key) {
  const char *at = member(json, key);
  char       *end;
  if (at == NULL) return (double)NAN;
  const double value = strtod(at, &end);
  return end == at ? (double)NAN : value;
}

/* Cuts the next string of a list at *at; false: the list ends. Escapes stay as they are. */
static bool next_string(const char **at, char *out, size_t room) {
  const char *c = *at + strcspn(*at, "\"]");
  if (*c != '"') return false;
  size_t n = 0;
  for (++c; *c != '\0' && *c != '"'; ++c) {
    if (*c == '\\' && c[1] != '\0') ++c;
    if (n + 1 < room) out[n++] = *c == '\n' ? ' ' : *c;
  }
  out[n] = '\0';
  *at    = *c == '\0' ? c : c + 1;
  return true;
}

/* As much as there is room for. */
static void keep_message(outcome *out, const char *message) {
  snprintf(out->message, sizeof out->message, "%.*s", (int)sizeof out->message - 1, message);
}

/* The first line of stderr that tells an error. */
static void keep_error(outcome *out, char *err) {
  for (char *line = strtok(err, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    if (strncmp(line, "error: ", 7) != 0) continue;
    keep_message(out, line + 7);
    return;
  }
}

void outcome_read(const char *json, outcome *out) {
  const double all       = number(json, "all_evaluations");
  out->t_start           = number(json, "t_start");
  out->t_end             = number(json, "t_end");
  out->evaluations       = all > 0.0 ? all : number(json, "evaluations");
  out->accumulated_error = number(json, "accumulated_error");
  char        one[2000];
  const char *at = member(json, "split");
  out->split     = at != NULL && *at == 't';
  at             = member(json, "warnings");
  while (at != NULL && next_string(&at, one, sizeof one)) {
    bool counts = true;
    for (size_t k = 0; k < sizeof harmless / sizeof *harmless; ++k) counts = counts && !strstr(one, harmless[k]);
    if (!counts) continue;
    if (!out->warned) keep_message(out, one);
    out->warned          = true;
    out->warned_strongly = out->warned_strongly || strstr(one, strong) != NULL;
  }
}

/* ---- the child ---- */

/* Processor time of all children that have ended. */
static double seconds_of_children(void) {
  struct rusage used;
  if (getrusage(RUSAGE_CHILDREN, &used) != 0) return 0.0;
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void limit(int resource, double amount) {
  const struct rlimit r = {(rlim_t)amount, (rlim_t)amount};
  (void)setrlimit(resource, &r);
}

static int output_to(const char *folder, const char *name, int descriptor) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  return file < 0 ? -1 : dup2(file, descriptor);
}

static void become(const char *program, const char *folder, const char *arguments, double seconds) {
  char *words[MAX_WORDS + 2], *copy = strdup(arguments);
  int   n    = 0;
  words[n++] = strdup(program);
  for (char *word = strtok(copy, " "); word != NULL && n < MAX_WORDS; word = strtok(NULL, " ")) words[n++] = word;
  words[n] = NULL;
  limit(RLIMIT_CPU, ceil(seconds)); /* whatever else the machine does */
  limit(RLIMIT_CORE, 0.0);
  (void)alarm((unsigned)(20.0 * ceil(seconds))); /* one that sleeps */
  if (output_to(folder, "out", STDOUT_FILENO) >= 0 && output_to(folder, "err", STDERR_FILENO) >= 0) {
    execv(program, words);
  }
  _exit(127);
}

static char *read_all(const char *folder, const char *name) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  if (file == NULL) return strdup("");
  (void)fseek(file, 0, SEEK_END);
  const long size = ftell(file);
  rewind(file);
  char        *bytes = malloc((size_t)size + 1);
  const size_t got   = bytes == NULL ? 0 : fread(bytes, 1, (size_t)size, file);
  (void)fclose(file);
  if (bytes != NULL) bytes[got] = '\0';
  return bytes;
}

bool child_run(const char *program, const char *folder, const char *arguments, double seconds, outcome *out) {
  *out                = (outcome){.exit_code = -1, .accumulated_error = (double)NAN, .evaluations = (double)NAN};
  const double before = seconds_of_children();
  const pid_t  child  = fork();
  if (child == 0) become(program, folder, arguments, seconds);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return false;
  out->seconds = seconds_of_children() - before;
  if (WIFEXITED(status)) out->exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) {
    const int by     = WTERMSIG(status);
    out->out_of_time = by == SIGKILL || by == SIGXCPU || by == SIGALRM;
    snprintf(out->message, sizeof out->message, out->out_of_time ? "ended by the limit of time" : "signal %d", by);
  }
  char *json = read_all(folder, "out"), *err = read_all(folder, "err");
  if (json != NULL && *json == '{') outcome_read(json, out);
  if (err != NULL && out->exit_code > 0) keep_error(out, err);
  free(json);
  free(err);
  return out->exit_code != 127;
}
