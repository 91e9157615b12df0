/* Names: a table from names to numbers, constant time per look-up. The table borrows the strings: they must outlive it. */
#ifndef YOKE_IO_NAMES_H
#define YOKE_IO_NAMES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct yoke_names { /* start with {0} */
  size_t       n, capacity; /* capacity is a power of two, at least twice n */
  const char **key;
  int         *value;
} yoke_names;

typedef enum yoke_names_result { YOKE_NAMES_ADDED, YOKE_NAMES_EXISTS, YOKE_NAMES_NO_MEMORY } yoke_names_result;

yoke_names_result yoke_names_add(yoke_names *names, const char *name, int value);
int               yoke_names_find(const yoke_names *names, const char *name); /* or YOKE_NAMES_NONE */
void              yoke_names_clear(yoke_names *names);

/* The name nearest to `name` among the first 20000 of the table, or NULL. */
const char *yoke_names_nearest(const yoke_names *names, const char *name);

enum { YOKE_NAMES_NONE = -1073741824 };

#endif
