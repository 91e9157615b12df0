#include "base/file.h"
#include "base/text.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_LINKS = 40, FIRST_OWN_DESCRIPTOR = 3 };

static bool is_written(int n) {
  if (n >= 0 && n < PATH_MAX) return true;
  errno = ENAMETOOLONG;
  return false;
}

/* What a chain of links ends in, whether that exists or not. false: see errno. */
static bool follow_links(const char *name, char path[PATH_MAX]) {
  if (!is_written(snprintf(path, PATH_MAX, "%s", name))) return false;
  for (int i = 0; i < MAX_LINKS; ++i) {
    char          link[PATH_MAX], next[PATH_MAX];
    const ssize_t n = readlink(path, link, sizeof link - 1);
    if (n < 0) return true;
    link[n]            = '\0';
    const char *slash  = strrchr(path, '/'); /* a link is seen from the folder it is in */
    const int   folder = slash == NULL || link[0] == '/' ? 0 : (int)(slash - path) + 1;
    if (!is_written(snprintf(next, sizeof next, "%.*s%s", folder, path, link))) return false;
    memcpy(path, next, sizeof next);
  }
  errno = ELOOP;
  return false;
}

static bool resolve(const char *name, char path[PATH_MAX]) {
  char last[PATH_MAX], folder[PATH_MAX];
  if (realpath(name, path) != NULL) return true;
  if (errno != ENOENT || !follow_links(name, last)) return false;
  char *own = strrchr(last, '/'); /* the folder must exist, the file in it need not */
  if (own != NULL) *own = '\0';
  if (realpath(own == NULL ? "." : own == last ? "/" : last, folder) == NULL) return false;
  return is_written(
      snprintf(path, PATH_MAX, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, own == NULL ? last : own + 1));
}

char *yoke_file_resolve(const char *name) {
  char path[PATH_MAX];
  if (!resolve(name, path)) return NULL;
  char *copy = yoke_text_copy(path);
  if (copy == NULL) errno = ENOMEM;
  return copy;
}

bool yoke_file_is_special(const char *name) {
  struct stat file, standard;
  if (stat(name, &file) != 0) return false;
  if (S_ISDIR(file.st_mode)) return false;
  if (!S_ISREG(file.st_mode) || strncmp(name, "/dev/", 5) == 0 || strncmp(name, "/proc/", 6) == 0) return true;
  for (int fd = 0; fd < FIRST_OWN_DESCRIPTOR; ++fd) {
    if (fstat(fd, &standard) == 0 && standard.st_dev == file.st_dev && standard.st_ino == file.st_ino) return true;
  }
  return false;
}

bool yoke_file_is_same(const char *a, const char *b) {
  struct stat file[2];
  const bool  exists[2] = {stat(a, &file[0]) == 0, stat(b, &file[1]) == 0};
  if (exists[0] != exists[1]) return false;
  if (exists[0])
    return S_ISREG(file[0].st_mode) && file[0].st_dev == file[1].st_dev && file[0].st_ino == file[1].st_ino;
  char path[2][PATH_MAX];
  return resolve(a, path[0]) && resolve(b, path[1]) ? strcmp(path[0], path[1]) == 0 : strcmp(a, b) == 0;
}

int yoke_file_open(const char *path, int flags, mode_t mode) {
  const int fd = open(path, flags | O_CLOEXEC, mode);
  if (fd < 0 || fd >= FIRST_OWN_DESCRIPTOR) return fd;
  const int own   = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_OWN_DESCRIPTOR);
  const int error = errno;
  close(fd);
  errno = error;
  return own;
}
