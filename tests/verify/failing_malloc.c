/* To be preloaded: lets one allocation of a program fail, whichever library makes it.
 *   YOKE_FAIL_AT=n      the n-th one; 0 or absent: none
 *   YOKE_COUNT_TO=FILE  writes how many there were at the end of the program
 * Allocations are counted from the entry of main on: what the loader and constructors take is not the program's. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_long n_calls;
static atomic_bool is_counting;
static long        failing;

static bool fails(void) {
  if (!atomic_load(&is_counting)) return false;
  if (atomic_fetch_add(&n_calls, 1) + 1 != failing) return false;
  errno = ENOMEM;
  return true;
}

void *malloc(size_t size) {
  return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
  return fails() ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  return fails() ? NULL : __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size) {
  return fails() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size) {
  if (fails()) return ENOMEM;
  *out = __libc_memalign(alignment, size);
  return *out != NULL ? 0 : ENOMEM;
}

typedef int (*main_function)(int, char **, char **);
static main_function real_main;

static void write_count(void) {
  const char *path = getenv("YOKE_COUNT_TO");
  atomic_store(&is_counting, false);
  if (path == NULL) return;
  char      text[32];
  const int n  = snprintf(text, sizeof text, "%ld\n", atomic_load(&n_calls));
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd >= 0 && write(fd, text, (size_t)n) == n) close(fd);
}

static int counted_main(int n, char **arguments, char **environment) {
  const char *at = getenv("YOKE_FAIL_AT");
  failing        = at != NULL ? atol(at) : 0;
  atexit(write_count);
  atomic_store(&is_counting, true);
  return real_main(n, arguments, environment);
}

int __libc_start_main(main_function program, int n, char **arguments, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end);

int __libc_start_main(main_function program, int n, char **arguments, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end) {
  int (*start)(main_function, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
  void *found = dlsym(RTLD_NEXT, "__libc_start_main");
  memcpy(&start, &found, sizeof start);
  real_main = program;
  return start(counted_main, n, arguments, init, fini, rtld_fini, stack_end);
}
