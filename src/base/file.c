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

/* `name` seen from the folder of `from`. Gives; NULL: out of memory. */
static char *beside(const char *from, const char *name) {
  const char  *slash  = strrchr(from, '/');
  const int    folder = slash == NULL || name[0] == '/' ? 0 : (int)(slash - from) + 1;
  const size_t size   = (size_t)folder + strlen(name) + 1;
  char        *path   = yoke_allocate(size, 1);
  if (path != NULL) snprintf(path, size, "%.*s%s", folder, from, name);
  return path;
}

/* What a chain of links ends in, whether that exists or not. Gives. */
static char *follow_links(const char *name) {
  char *path = yoke_text_copy(name);
  for (int i = 0; path != NULL && i < MAX_LINKS; ++i) {
    char          link[PATH_MAX];
    const ssize_t n = readlink(path, link, sizeof link - 1);
    if (n < 0) return path;
    link[n]    = '\0';
    char *next = beside(path, link);
    free(path);
    path = next;
  }
  errno = path == NULL ? ENOMEM : ELOOP;
  free(path);
  return NULL;
}

char *yoke_file_resolve(const char *name) {
  char *path = realpath(name, NULL);
  if (path != NULL || errno != ENOENT) return path;
  char *last = follow_links(name);
  if (last == NULL) return NULL;
  char *own    = strrchr(last, '/'); /* the folder must exist, the file in it need not */
  char *folder = own == NULL ? realpath(".", NULL) : NULL;
  if (own != NULL) {
    *own   = '\0';
    folder = realpath(own == last ? "/" : last, NULL);
  }
  if (folder != NULL) {
    const char  *base = own == NULL ? last : own + 1;
    const size_t size = strlen(folder) + strlen(base) + 2;
    path              = yoke_allocate(size, 1);
    if (path != NULL) snprintf(path, size, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, base);
    if (path == NULL) errno = ENOMEM;
  }
  const int error = errno;
  free(folder);
  free(last);
  errno = error;
  return path;
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
  char      *path[2] = {yoke_file_resolve(a), yoke_file_resolve(b)};
  const bool is_same = path[0] != NULL && path[1] != NULL ? strcmp(path[0], path[1]) == 0 : strcmp(a, b) == 0;
  free(path[0]);
  free(path[1]);
  return is_same;
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
