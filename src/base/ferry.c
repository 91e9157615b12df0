#include "base/ferry.h"

#include <limits.h>
#include <string.h>

void yoke_ferry_int(yoke_ferry *c, int *x) {
  if (yoke_ferry_reads(c))
    *x = yoke_unpack_int32(c->in);
  else
    yoke_pack_int32(c->out, *x);
}

void yoke_ferry_int64(yoke_ferry *c, int64_t *x) {
  if (yoke_ferry_reads(c))
    *x = yoke_unpack_int64(c->in);
  else
    yoke_pack_int64(c->out, *x);
}

void yoke_ferry_bool(yoke_ferry *c, bool *x) {
  if (yoke_ferry_reads(c))
    *x = yoke_unpack_bool(c->in);
  else
    yoke_pack_bool(c->out, *x);
}

void yoke_ferry_double(yoke_ferry *c, double *x) {
  if (yoke_ferry_reads(c))
    *x = yoke_unpack_double(c->in);
  else
    yoke_pack_double(c->out, *x);
}

void yoke_ferry_doubles(yoke_ferry *c, size_t n, double *x) {
  if (yoke_ferry_reads(c))
    yoke_unpack_doubles(c->in, n, x);
  else
    yoke_pack_doubles(c->out, n, x);
}

void yoke_ferry_ints(yoke_ferry *c, size_t n, int *x) {
  if (yoke_ferry_reads(c))
    yoke_unpack_int32s(c->in, n, x);
  else
    yoke_pack_int32s(c->out, n, x);
}

void yoke_ferry_index(yoke_ferry *c, int *x, int least, int most) {
  yoke_ferry_int(c, x);
  if (!yoke_ferry_reads(c) || (*x >= least && *x <= most)) return;
  yoke_unpack_refuse(c->in, "a number is not among those that there are");
  *x = least;
}

void yoke_ferry_block(yoke_ferry *c, size_t size, void *x) {
  if (!yoke_ferry_reads(c)) {
    yoke_pack_block(c->out, size, x);
    return;
  }
  const void *from = yoke_unpack_block(c->in, size);
  if (from != NULL) memcpy(x, from, size);
}

void yoke_ferry_text(yoke_ferry *c, char **text) {
  bool is_there = *text != NULL;
  yoke_ferry_bool(c, &is_there);
  if (!is_there) return;
  if (yoke_ferry_reads(c))
    *text = yoke_arena_text(c->arena, yoke_unpack_text(c->in));
  else
    yoke_pack_text(c->out, *text);
}

/* A count that was written; every entry takes a byte at least, so that damage does not ask for more memory than it brings. */
static void ferry_count(yoke_ferry *c, int *n) {
  yoke_ferry_index(c, n, 0, INT_MAX);
  if (!yoke_ferry_reads(c) || (size_t)*n <= c->in->size - c->in->at) return;
  yoke_unpack_refuse(c->in, "it ends too early");
  *n = 0;
}

void *yoke_ferry_list(yoke_ferry *c, void *list, int *n, size_t size) {
  ferry_count(c, n);
  if (!yoke_ferry_reads(c)) return list;
  void *made = yoke_arena_take(c->arena, (size_t)*n + 1, size);
  if (made == NULL) *n = 0;
  return made;
}

void *yoke_ferry_own_list(yoke_ferry *c, void *list, int *n, size_t size) {
  ferry_count(c, n);
  if (!yoke_ferry_reads(c)) return list;
  void *made = yoke_allocate((size_t)*n + 1, size);
  if (made == NULL) {
    *n                   = 0;
    c->arena->has_failed = true;
  }
  return made;
}

void *yoke_ferry_one(yoke_ferry *c, void *one, size_t size) {
  bool is_there = one != NULL;
  yoke_ferry_bool(c, &is_there);
  return yoke_ferry_reads(c) && is_there ? yoke_arena_take(c->arena, 1, size) : one;
}

void yoke_ferry_numbers(yoke_ferry *c, double **x, int n) {
  bool is_there = *x != NULL;
  yoke_ferry_bool(c, &is_there);
  if (!is_there) return;
  if (yoke_ferry_reads(c) && (size_t)n > (c->in->size - c->in->at) / sizeof **x)
    yoke_unpack_refuse(c->in, "it ends too early");
  if (yoke_ferry_reads(c)) *x = c->in->failure == NULL ? yoke_arena_take(c->arena, (size_t)n + 1, sizeof **x) : NULL;
  if (*x != NULL) yoke_ferry_doubles(c, (size_t)n, *x);
}
