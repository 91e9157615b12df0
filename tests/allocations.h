/* Counts the library's allocations: its calls lead here (--wrap in tests/CMakeLists.txt). */
#ifndef YOKE_TESTS_ALLOCATIONS_H
#define YOKE_TESTS_ALLOCATIONS_H

#include <stdatomic.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static atomic_int n_allocations;

void *__wrap_malloc(size_t size) {
  ++n_allocations;
  return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
  ++n_allocations;
  return __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size) {
  ++n_allocations;
  return __real_realloc(memory, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  ++n_allocations;
  return __real_aligned_alloc(alignment, size);
}

#endif
