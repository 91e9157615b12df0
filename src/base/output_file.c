#include "base/output_file.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_PARTS = 1000 };

yoke_status yoke_output_file_fail(yoke_context *ctx, const yoke_output_file *out, int error) {
  if (error == ENOMEM) return yoke_out_of_memory(ctx, "the file '%s'", out->name);
  return yoke_fail(ctx, YOKE_E_IO, "cannot write '%s': %s", out->name,
                   error == EWOULDBLOCK ? "another run is writing it, or a program has it open"
                   : error != 0         ? strerror(error)
                                        : strerror(EIO));
}

static void release(yoke_output_file *out) {
  if (out->fd >= 0) close(out->fd);
  free(out->name);
  free(out->path);
  free(out->target);
  *out = (yoke_output_file){.fd = -1};
}

/* folder/out.h5 to folder/out.part.h5, number k > 1 to folder/out.part2.h5: the ending tells what is inside. Gives. */
static char *part_path(const char *target, int k) {
  const char  *base       = strrchr(target, '/');
  const char  *dot        = strrchr(base != NULL ? base : target, '.');
  const size_t stem       = dot != NULL && dot > target && dot[-1] != '/' ? (size_t)(dot - target) : strlen(target);
  const size_t size       = strlen(target) + 20;
  char         number[12] = "", *path = yoke_allocate(size, 1);
  if (k > 1) snprintf(number, sizeof number, "%d", k);
  if (path != NULL) snprintf(path, size, "%.*s.part%s%s", (int)stem, target, number, target + stem);
  return path;
}

/* Is somebody at this file? Where the file system has no locks nobody can tell. */
static bool is_busy(const char *path) {
  const int fd = yoke_file_open(path, O_RDONLY | O_NONBLOCK, 0);
  if (fd < 0) return false;
  const bool busy = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(fd);
  return busy;
}

/* A new file beside the target. false: see errno. */
static bool create_part(yoke_context *ctx, yoke_output_file *out) {
  for (int k = 1; k <= MAX_PARTS; ++k) {
    out->path = part_path(out->target, k);
    if (out->path == NULL) {
      errno = ENOMEM;
      return false;
    }
    out->fd = yoke_file_open(out->path, O_RDWR | O_CREAT | O_EXCL, 0666);
    if (out->fd >= 0) {
      flock(out->fd, LOCK_SH); /* shared: readers come in */
      return true;
    }
    if (errno != EEXIST) return false;
    if (is_busy(out->path)) {
      errno = EWOULDBLOCK;
      return false;
    }
    yoke_note(ctx, "'%s' exists and is left alone; if a killed run left it, remove it when it is not needed",
              out->path);
    free(out->path);
    out->path = NULL;
  }
  errno = EEXIST;
  return false;
}

/* The new file is as open to others as the one it will replace. What the owner may not hand over stays as it is. */
static void take_permissions(int fd, const struct stat *from) {
  if (fchown(fd, from->st_uid, from->st_gid) != 0 && fchown(fd, (uid_t)-1, from->st_gid) != 0) errno = 0;
  if (fchmod(fd, from->st_mode & 0777) != 0) errno = 0;
}

static bool open_beside(yoke_context *ctx, yoke_output_file *out) {
  struct stat earlier;
  out->target = yoke_file_resolve(out->name);
  if (out->target == NULL) return false;
  const bool exists = stat(out->target, &earlier) == 0;
  if (exists && S_ISDIR(earlier.st_mode)) {
    errno = EISDIR;
    return false;
  }
  if (exists && access(out->target, W_OK) != 0) return false;
  if (!create_part(ctx, out)) return false;
  if (exists) take_permissions(out->fd, &earlier);
  return true;
}

static bool open_directly(yoke_output_file *out) {
  out->path = yoke_text_copy(out->name);
  if (out->path == NULL) errno = ENOMEM;
  if (out->path != NULL) out->fd = yoke_file_open(out->path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  return out->fd >= 0;
}

yoke_status yoke_output_file_open(yoke_context *ctx, const char *name, yoke_output_file *out) {
  *out      = (yoke_output_file){.fd = -1};
  out->name = yoke_text_copy(name);
  if (out->name == NULL) return yoke_out_of_memory(ctx, "the file '%s'", name);
  errno = 0;
  if (yoke_file_is_special(name) ? open_directly(out) : open_beside(ctx, out)) return YOKE_OK;
  const yoke_status status = yoke_output_file_fail(ctx, out, errno);
  release(out);
  return status;
}

FILE *yoke_output_file_stream(const yoke_output_file *out) {
  const int fd   = fcntl(out->fd, F_DUPFD_CLOEXEC, 3);
  FILE     *file = fd >= 0 ? fdopen(fd, "w") : NULL;
  if (file == NULL && fd >= 0) close(fd);
  return file;
}

yoke_status yoke_output_file_keep(yoke_context *ctx, yoke_output_file *out) {
  yoke_status status = YOKE_OK;
  if (out->target != NULL && rename(out->path, out->target) != 0)
    status = yoke_fail(ctx, YOKE_E_IO, "cannot rename '%s' to '%s': %s", out->path, out->name, strerror(errno));
  release(out);
  return status;
}

void yoke_output_file_drop(yoke_output_file *out) {
  if (out->target != NULL) unlink(out->path);
  release(out);
}

yoke_status yoke_output_file_put(yoke_context *ctx, yoke_output_file *out, void (*put)(FILE *file, const void *user),
                                 const void *user) {
  errno        = 0;
  FILE *stream = yoke_output_file_stream(out);
  bool  done   = stream != NULL;
  if (done) put(stream, user);
  if (done) done = fflush(stream) == 0 && !ferror(stream);
  const int error = errno;
  if (stream != NULL && fclose(stream) != 0) done = false;
  if (done) return yoke_output_file_keep(ctx, out);
  const yoke_status status = yoke_output_file_fail(ctx, out, error != 0 ? error : errno);
  yoke_output_file_drop(out);
  return status;
}

yoke_status yoke_output_file_write(yoke_context *ctx, const char *name, void (*put)(FILE *file, const void *user),
                                   const void *user) {
  yoke_output_file out;
  YOKE_TRY(yoke_output_file_open(ctx, name, &out));
  return yoke_output_file_put(ctx, &out, put, user);
}

static void put_text(FILE *file, const void *text) {
  fputs(text, file);
}

yoke_status yoke_output_file_write_text(yoke_context *ctx, const char *name, const char *text) {
  return yoke_output_file_write(ctx, name, put_text, text);
}
