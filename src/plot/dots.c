#include "plot/dots.h"

#include "base/output_file.h"
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char converter[] = "rsvg-convert";

static bool is_in_path(void) {
  const char *path = getenv("PATH");
  while (path != NULL && *path != '\0') {
    const size_t n = strcspn(path, ":");
    char         file[4096];
    if (snprintf(file, sizeof file, "%.*s/%s", (int)n, path, converter) < (int)sizeof file && access(file, X_OK) == 0)
      return true;
    path += n + (path[n] == ':');
  }
  return false;
}

yoke_status yoke_dots_check(yoke_context *ctx, const char *path) {
  if (is_in_path()) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_UNSUPPORTED,
                   "the picture '%s' needs the program %s, which is not in PATH (Debian: package librsvg2-bin); write "
                   "FILE.svg or FILE.html instead",
                   path, converter);
}

/* The converter reads the picture from `in` and writes dots to `out`; its exit code, or minus errno. */
static int convert(int in, int out) {
  char                       name[sizeof converter], format[] = "--format=png", zoom[] = "--zoom=2";
  char *const                arguments[] = {memcpy(name, converter, sizeof name), format, zoom, NULL};
  posix_spawn_file_actions_t actions;
  pid_t                      child;
  int                        state = 0, error = posix_spawn_file_actions_init(&actions);
  if (error != 0) return -error;
  error = posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  if (error == 0) error = posix_spawnp(&child, converter, &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return -error;
  while (waitpid(child, &state, 0) < 0) {
    if (errno != EINTR) return -errno;
  }
  return WIFEXITED(state) ? WEXITSTATUS(state) : 1;
}

static yoke_status write_dots(yoke_context *ctx, const yoke_output_file *out, const char *svg) {
  FILE *in = tmpfile();
  if (in == NULL) return yoke_output_file_fail(ctx, out, errno);
  const size_t n       = strlen(svg);
  const bool   is_kept = fwrite(svg, 1, n, in) == n && fflush(in) == 0 && fseek(in, 0, SEEK_SET) == 0;
  const int    code    = is_kept ? convert(fileno(in), out->fd) : -errno;
  fclose(in);
  if (code < 0) return yoke_output_file_fail(ctx, out, -code);
  if (code == 0) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_IO, "the picture '%s': %s ended with exit code %d", out->name, converter, code);
}

yoke_status yoke_dots_write(yoke_context *ctx, const char *path, const char *svg) {
  yoke_output_file out;
  YOKE_TRY(yoke_output_file_open(ctx, path, &out));
  const yoke_status status = write_dots(ctx, &out, svg);
  if (status == YOKE_OK) return yoke_output_file_keep(ctx, &out);
  yoke_output_file_drop(&out);
  return status;
}
