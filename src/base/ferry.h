/* Ferry: one description of an object, by which it is written to a pack and read from one (pack.h): what is written is what is read.
 *
 *   static void ferry_thing(yoke_ferry *c, thing *x) {
 *     yoke_ferry_double(c, &x->mass);
 *     yoke_ferry_text(c, &x->name);
 *     x->rods = yoke_ferry_list(c, x->rods, &x->n_rods, sizeof *x->rods);
 *     for (int i = 0; i < x->n_rods; ++i) ferry_rod(c, &x->rods[i]);
 *   }
 *
 * Writing leaves the object as it is. Reading fills one that is zero; texts and lists come from the arena. Damage shows in the unpack, missing
 * memory in the arena, and both once at the end: behind either of them numbers are 0 and lists are empty. */
#ifndef YOKE_BASE_FERRY_H
#define YOKE_BASE_FERRY_H

#include "base/memory.h"
#include "base/pack.h"

typedef struct yoke_ferry {
  yoke_pack   *out;   /* writing; NULL: */
  yoke_unpack *in;    /* reading */
  yoke_arena  *arena; /* of what is read */
} yoke_ferry;

static inline bool yoke_ferry_reads(const yoke_ferry *c) {
  return c->in != NULL;
}

void yoke_ferry_int(yoke_ferry *c, int *x);
void yoke_ferry_int64(yoke_ferry *c, int64_t *x);
void yoke_ferry_bool(yoke_ferry *c, bool *x);
void yoke_ferry_double(yoke_ferry *c, double *x);
void yoke_ferry_doubles(yoke_ferry *c, size_t n, double *x);
void yoke_ferry_ints(yoke_ferry *c, size_t n, int *x);
/* What is read must lie in least .. most, or the bytes are refused. */
void yoke_ferry_index(yoke_ferry *c, int *x, int least, int most);
/* A struct without pointers, as it lies in memory. */
void yoke_ferry_block(yoke_ferry *c, size_t size, void *x);
void yoke_ferry_text(yoke_ferry *c, char **text); /* may be NULL */

/* Writing: n, and gives `list`. Reading: n, and gives a list of n zeros and one more, NULL with *n = 0 where that is not to be had. */
void *yoke_ferry_list(yoke_ferry *c, void *list, int *n, size_t size);
/* The same with memory that is released by free(). */
void *yoke_ferry_own_list(yoke_ferry *c, void *list, int *n, size_t size);
/* Is there one of it? Reading: zeros where there is. */
void *yoke_ferry_one(yoke_ferry *c, void *one, size_t size);
/* [n] numbers, or none (NULL). */
void  yoke_ferry_numbers(yoke_ferry *c, double **x, int n);

#endif
