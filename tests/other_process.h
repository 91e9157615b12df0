/* Bytes that travel to another process of the same test program, which is called with --go-on FOLDER NUMBER. */
#ifndef YOKE_TESTS_OTHER_PROCESS_H
#define YOKE_TESTS_OTHER_PROCESS_H

#include "base/pack.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static inline bool write_bytes(const char *path, const yoke_pack *pack) {
  FILE      *file = fopen(path, "wb");
  const bool ok   = file != NULL && fwrite(pack->bytes, 1, pack->size, file) == pack->size;
  return file != NULL && fclose(file) == 0 && ok;
}

/* Gives; NULL: no such file. */
static inline unsigned char *read_bytes(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  (void)fseek(file, 0, SEEK_END);
  *size                = (size_t)ftell(file);
  unsigned char *bytes = malloc(*size + 1);
  rewind(file);
  if (fread(bytes, 1, *size, file) != *size) abort();
  (void)fclose(file);
  return bytes;
}

/* Its exit code; -1: it did not end by itself. */
static inline int run_other_process(const char *folder, int i) {
  char number[16];
  snprintf(number, sizeof number, "%d", i);
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", "other-process", "--go-on", folder, number, (char *)NULL);
    _exit(127);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
