/* YAML: a file as a tree of scalars, lists and maps in which every node knows where it was written.
 *
 * Limits, so that no file can exhaust the machine: 64 MB per file, nesting 200, 5e6 nodes in all. An alias is a second
 * reference to the node of its anchor, never a copy; a document whose aliases stand for more than 5e6 nodes is refused.
 * Refused as well: duplicate keys, keys that are not scalars, the merge key `<<`, tags of other applications, a second document.
 *
 * Beyond plain YAML, two things may stand unquoted inside [...] and {...}: an index directly behind a word (`rod[i-1].tip`) and
 * commas between the parentheses of a call (`max(a, b)`). Both would be errors in plain YAML. */
#ifndef YOKE_IO_YAML_H
#define YOKE_IO_YAML_H

#include <yoke/context.h>

typedef enum yoke_yaml_kind { YOKE_YAML_SCALAR, YOKE_YAML_LIST, YOKE_YAML_MAP } yoke_yaml_kind;

typedef struct yoke_yaml_node {
  yoke_yaml_kind          kind;
  bool                    quoted; /* scalar written in quotes or as a block: never a number, never nothing */
  int                     line;   /* from 1; 0: not from a file (an override) */
  int                     column; /* from 1 */
  int                     n;      /* entries of a list or map */
  int                     room;   /* for entries; 0: as many as there are */
  const char             *file;   /* name for messages */
  const char             *text;   /* scalar; "" for nothing */
  struct yoke_yaml_node **keys;   /* [n] map */
  struct yoke_yaml_node **items;  /* [n] list entries or map values */
  size_t                  weight; /* nodes below and including this one, aliases counted each time */
} yoke_yaml_node;

typedef struct yoke_yaml yoke_yaml; /* owns the nodes of any number of files */

yoke_status yoke_yaml_create(yoke_yaml **out); /* gives */
void        yoke_yaml_destroy(yoke_yaml **yaml);

/* Read a file or a text. `*root` belongs to `yaml`; NULL when there is no document (empty file). Every failure is recorded with
 * "file:line:column: ..." and returned: YOKE_E_IO (cannot be read), YOKE_E_MODEL (not valid), YOKE_E_MEMORY. */
yoke_status yoke_yaml_read_file(yoke_context *ctx, yoke_yaml *yaml, const char *path, yoke_yaml_node **root);
yoke_status yoke_yaml_read_text(yoke_context *ctx, yoke_yaml *yaml, const char *name, const char *text, size_t size,
                                yoke_yaml_node **root);

/* Value of a key, or NULL. `node` may be NULL or no map. */
yoke_yaml_node *yoke_yaml_find(const yoke_yaml_node *node, const char *key);

/* Is this the empty value (`key:` and nothing behind it)? */
bool yoke_yaml_is_nothing(const yoke_yaml_node *node);

/* The deepest nesting and the most values of a tree. */
enum { YOKE_YAML_MAX_DEPTH = 200, YOKE_YAML_MAX_NODES = 5000000 };
size_t yoke_yaml_n_nodes(const yoke_yaml *yaml); /* that were made */

/* Can the text be written and read back as it is: UTF-8 without zero, and without the letters that stand for brackets here? */
bool yoke_yaml_is_text(const char *text);

/* Editing. New nodes take file, line and column from `like`. NULL when out of memory. */
yoke_yaml_node *yoke_yaml_new_map(yoke_yaml *yaml, const yoke_yaml_node *like);
yoke_yaml_node *yoke_yaml_new_scalar(yoke_yaml *yaml, const yoke_yaml_node *like, const char *text);
/* The node without its children's copies: a changed copy leaves other references to `node` alone. */
yoke_yaml_node *yoke_yaml_copy_shallow(yoke_yaml *yaml, const yoke_yaml_node *node);
/* Add or replace. */
yoke_status     yoke_yaml_put(yoke_yaml *yaml, yoke_yaml_node *map, yoke_yaml_node *key, yoke_yaml_node *value);
/* Add n entries whose keys are not there yet; to a list: keys NULL. The time per entry does not depend on how many there are. */
yoke_status     yoke_yaml_append(yoke_yaml *yaml, yoke_yaml_node *map, yoke_yaml_node *const *keys,
                                 yoke_yaml_node *const *values, int n);
void            yoke_yaml_remove(yoke_yaml_node *map, const char *key);
/* String that lives as long as `yaml`. */
const char     *yoke_yaml_keep_text(yoke_yaml *yaml, const char *text, size_t length);

/* The tree as text that reads back to the same tree, aliases written out. NULL when out of memory. Caller frees. */
char *yoke_yaml_write(const yoke_yaml_node *root);

#endif
