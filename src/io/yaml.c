/* Invariants:
 *   1. A node is complete before anything refers to it: an alias inside its own anchor is an error, so the tree has no cycles.
 *   2. weight(node) = 1 + sum of the weights below; weight(root) <= MAX_NODES bounds any walk over the tree, aliases included.
 *   3. Depth <= MAX_DEPTH also through aliases, so recursive walks need little stack. */
#include "io/yaml.h"
#include "io/names.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>

enum {
  MAX_DEPTH = YOKE_YAML_MAX_DEPTH,
  MAX_NODES = YOKE_YAML_MAX_NODES,
  MAX_FILE  = 64 * 1024 * 1024,
  CHUNK     = 64 * 1024
};

/* Stand-ins, one character each so that columns stay true, for '[', ']' and ',' that belong to a scalar:
 * U+E000, U+E001, U+E002 (private use). They are turned back when the scalar is read. */
static const char *const stand_in = "\xEE\x80\x80"; /* last byte + 0, 1, 2 */

typedef struct chunk {
  struct chunk *next;
  size_t        used, size;
} chunk;

struct yoke_yaml {
  chunk *chunks;
  size_t n_nodes;
};

typedef struct open_node { /* a list or map that is being read */
  yoke_yaml_node *node;
  yoke_yaml_node *key; /* map: the key that waits for its value */
  int             capacity, depth_below;
  char           *anchor;
} open_node;

typedef struct anchor {
  char           *name;
  yoke_yaml_node *node; /* NULL: still open */
  int             depth;
} anchor;

typedef struct builder {
  yoke_context   *ctx;
  yoke_yaml      *yaml;
  const char     *file;
  open_node       open[MAX_DEPTH + 1];
  int             n_open;
  anchor         *anchors;
  int             n_anchors, n_anchors_allocated;
  yoke_names      anchor_names;
  yoke_yaml_node *root;
} builder;

yoke_status yoke_yaml_create(yoke_yaml **out) {
  *out = calloc(1, sizeof **out);
  return *out == NULL ? YOKE_E_MEMORY : YOKE_OK;
}

void yoke_yaml_destroy(yoke_yaml **yaml) {
  if (yaml == NULL || *yaml == NULL) return;
  for (chunk *c = (*yaml)->chunks; c != NULL;) {
    chunk *next = c->next;
    free(c);
    c = next;
  }
  free(*yaml);
  *yaml = NULL;
}

/* Memory that lives as long as the document, 16-byte aligned. */
static void *take(yoke_yaml *yaml, size_t size) {
  size     = (size + 15u) & ~(size_t)15u;
  chunk *c = yaml->chunks;
  if (c == NULL || c->size - c->used < size) {
    const size_t room = size > CHUNK ? size : CHUNK;
    c                 = malloc(((sizeof *c + 15u) & ~(size_t)15u) + room);
    if (c == NULL) return NULL;
    *c           = (chunk){.next = yaml->chunks, .used = 0, .size = room};
    yaml->chunks = c;
  }
  char *p = (char *)c + ((sizeof *c + 15u) & ~(size_t)15u) + c->used;
  c->used += size;
  return p;
}

const char *yoke_yaml_keep_text(yoke_yaml *yaml, const char *text, size_t length) {
  char *copy = take(yaml, length + 1);
  if (copy == NULL) return NULL;
  memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}

static yoke_yaml_node *new_node(yoke_yaml *yaml, yoke_yaml_kind kind, const char *file, int line, int column) {
  yoke_yaml_node *node = take(yaml, sizeof *node);
  if (node == NULL) return NULL;
  *node = (yoke_yaml_node){.kind = kind, .file = file, .line = line, .column = column, .text = "", .weight = 1};
  ++yaml->n_nodes;
  return node;
}

static yoke_status out_of_memory(builder *b) {
  return yoke_out_of_memory(b->ctx, "reading '%s'", b->file);
}

/* A shown name is cut to a readable length. */
static yoke_status refuse(builder *b, const yaml_mark_t *mark, const char *what, const char *name) {
  if (name == NULL) {
    return yoke_fail(b->ctx, YOKE_E_MODEL, "%s:%zu:%zu: %s", b->file, mark->line + 1, mark->column + 1, what);
  }
  return yoke_fail(b->ctx, YOKE_E_MODEL, "%s:%zu:%zu: key '%.60s': %s", b->file, mark->line + 1, mark->column + 1, name,
                   what);
}

/* ---- building from events ---- */

/* Add an entry to the arrays of the innermost open list or map; they live on the heap until it is closed. */
static bool append(open_node *o, yoke_yaml_node *key, yoke_yaml_node *item) {
  yoke_yaml_node *node = o->node;
  if (node->n == o->capacity) {
    const int        capacity = o->capacity == 0 ? 4 : 2 * o->capacity;
    yoke_yaml_node **items    = realloc(node->items, (size_t)capacity * sizeof *items);
    if (items == NULL) return false;
    node->items = items;
    if (node->kind == YOKE_YAML_MAP) {
      yoke_yaml_node **keys = realloc(node->keys, (size_t)capacity * sizeof *keys);
      if (keys == NULL) return false;
      node->keys = keys;
    }
    o->capacity = capacity;
  }
  if (node->kind == YOKE_YAML_MAP) node->keys[node->n] = key;
  node->items[node->n++] = item;
  return true;
}

/* Move the finished arrays into the document's memory. */
static bool settle(yoke_yaml *yaml, yoke_yaml_node *node) {
  const size_t     size  = (size_t)node->n * sizeof *node->items;
  yoke_yaml_node **items = take(yaml, size), **keys = node->keys == NULL ? NULL : take(yaml, size);
  const bool       ok = items != NULL && (keys != NULL || node->keys == NULL);
  if (ok && node->n > 0) {
    memcpy(items, node->items, size);
    if (keys != NULL) memcpy(keys, node->keys, size);
  }
  free(node->items);
  free(node->keys);
  node->items = ok ? items : NULL;
  node->keys  = ok ? keys : NULL;
  if (!ok) node->n = 0;
  return ok;
}

static yoke_status check_duplicates(builder *b, const yoke_yaml_node *map) {
  yoke_names  seen   = {0};
  yoke_status status = YOKE_OK;
  for (int i = 0; i < map->n && status == YOKE_OK; ++i) {
    const yoke_yaml_node   *key    = map->keys[i];
    const yoke_names_result result = yoke_names_add(&seen, key->text, i);
    if (result == YOKE_NAMES_NO_MEMORY) status = out_of_memory(b);
    if (result == YOKE_NAMES_EXISTS) {
      const yoke_yaml_node *first = map->keys[yoke_names_find(&seen, key->text)];
      status = yoke_fail(b->ctx, YOKE_E_MODEL, "%s:%d:%d: key '%.60s': found twice, first in line %d, expected once",
                         b->file, key->line, key->column, key->text, first->line);
    }
  }
  yoke_names_clear(&seen);
  return status;
}

static yoke_status remember_anchor(builder *b, const char *name, yoke_yaml_node *node, int depth) {
  if (name == NULL) return YOKE_OK;
  const int known = yoke_names_find(&b->anchor_names, name);
  if (known != YOKE_NAMES_NONE && b->anchors != NULL) { /* a later anchor of the same name replaces the earlier one */
    b->anchors[known].node  = node;
    b->anchors[known].depth = depth;
    return YOKE_OK;
  }
  if (b->n_anchors == b->n_anchors_allocated) {
    const int n    = b->n_anchors == 0 ? 16 : 2 * b->n_anchors;
    anchor   *more = realloc(b->anchors, (size_t)n * sizeof *more);
    if (more == NULL) return out_of_memory(b);
    b->anchors             = more;
    b->n_anchors_allocated = n;
  }
  char *copy = yoke_text_copy(name);
  if (copy == NULL) return out_of_memory(b);
  b->anchors[b->n_anchors] = (anchor){.name = copy, .node = node, .depth = depth};
  ++b->n_anchors;
  if (yoke_names_add(&b->anchor_names, copy, b->n_anchors - 1) == YOKE_NAMES_NO_MEMORY) return out_of_memory(b);
  return YOKE_OK;
}

/* A finished node of height `depth` goes where the innermost open node wants it. */
static yoke_status place(builder *b, const yaml_mark_t *mark, yoke_yaml_node *node, int depth) {
  if (b->yaml->n_nodes > MAX_NODES) return refuse(b, mark, "found more than 5000000 values, expected fewer", NULL);
  if (b->n_open == 0) {
    b->root = node;
    return YOKE_OK;
  }
  open_node *o = &b->open[b->n_open - 1];
  if (b->n_open + depth > MAX_DEPTH) return refuse(b, mark, "found nesting deeper than 200 levels", NULL);
  if (depth + 1 > o->depth_below) o->depth_below = depth + 1;
  o->node->weight += node->weight;
  if (o->node->weight > MAX_NODES) {
    return refuse(b, mark, "found aliases that stand for more than 5000000 values, expected fewer", NULL);
  }
  if (o->node->kind == YOKE_YAML_LIST) return append(o, NULL, node) ? YOKE_OK : out_of_memory(b);
  if (o->key == NULL) {
    if (node->kind != YOKE_YAML_SCALAR) return refuse(b, mark, "found a list or map as a key, expected a word", NULL);
    if (!node->quoted && strcmp(node->text, "<<") == 0) {
      return refuse(b, mark, "merge keys are not part of the model file; use parameters, an alias or an assembly",
                    "<<");
    }
    o->key = node;
    return YOKE_OK;
  }
  yoke_yaml_node *key = o->key;
  o->key              = NULL;
  return append(o, key, node) ? YOKE_OK : out_of_memory(b);
}

static yoke_status open_container(builder *b, const yaml_event_t *event, yoke_yaml_kind kind, const char *name) {
  if (b->n_open >= MAX_DEPTH) return refuse(b, &event->start_mark, "found nesting deeper than 200 levels", NULL);
  yoke_yaml_node *node =
      new_node(b->yaml, kind, b->file, (int)event->start_mark.line + 1, (int)event->start_mark.column + 1);
  if (node == NULL) return out_of_memory(b);
  open_node *o = &b->open[b->n_open++];
  *o           = (open_node){.node = node};
  if (name != NULL && (o->anchor = yoke_text_copy(name)) == NULL) return out_of_memory(b);
  return remember_anchor(b, name, NULL, 0); /* invariant 1: known, but still open */
}

static yoke_status close_container(builder *b, const yaml_event_t *event) {
  if (b->n_open == 0) return YOKE_E_INTERNAL; /* events are balanced */
  open_node *o = &b->open[b->n_open - 1];
  if (o->node == NULL) return YOKE_E_INTERNAL;
  yoke_status status = o->node->kind == YOKE_YAML_MAP ? check_duplicates(b, o->node) : YOKE_OK;
  if (!settle(b->yaml, o->node) && status == YOKE_OK) status = out_of_memory(b);
  if (status == YOKE_OK) status = remember_anchor(b, o->anchor, o->node, o->depth_below);
  free(o->anchor);
  o->anchor = NULL;
  --b->n_open;
  if (status == YOKE_OK) status = place(b, &event->start_mark, o->node, o->depth_below);
  return status;
}

/* Copy with the stand-ins turned back. */
static const char *keep_scalar(yoke_yaml *yaml, const char *text, size_t length) {
  char *copy = take(yaml, length + 1);
  if (copy == NULL) return NULL;
  size_t k = 0;
  for (size_t i = 0; i < length;) {
    const bool is_stand_in =
        length - i >= 3 && memcmp(text + i, stand_in, 2) == 0 && (unsigned char)text[i + 2] <= 0x82;
    copy[k++] = is_stand_in ? "[],"[(unsigned char)text[i + 2] - 0x80] : text[i];
    i += is_stand_in ? 3 : 1;
  }
  copy[k] = '\0';
  return copy;
}

static yoke_status add_scalar(builder *b, const yaml_event_t *event) {
  const char *text   = (const char *)event->data.scalar.value;
  size_t      length = event->data.scalar.length;
  if (event->data.scalar.tag != NULL && strcmp((const char *)event->data.scalar.tag, "tag:yaml.org,2002:str") != 0) {
    return refuse(b, &event->start_mark, "found a tag ('!...'), expected a plain value", NULL);
  }
  if (memchr(text, '\0', length) != NULL) return refuse(b, &event->start_mark, "found a zero byte in a text", NULL);
  yoke_yaml_node *node =
      new_node(b->yaml, YOKE_YAML_SCALAR, b->file, (int)event->start_mark.line + 1, (int)event->start_mark.column + 1);
  if (node == NULL) return out_of_memory(b);
  node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  /* `~` and `null` are the empty value too. */
  if (!node->quoted && (strcmp(text, "~") == 0 || strcmp(text, "null") == 0)) length = 0;
  node->text = keep_scalar(b->yaml, text, length);
  if (node->text == NULL) return out_of_memory(b);
  YOKE_TRY(remember_anchor(b, (const char *)event->data.scalar.anchor, node, 0));
  return place(b, &event->start_mark, node, 0);
}

static yoke_status add_alias(builder *b, const yaml_event_t *event) {
  const char *name  = (const char *)event->data.alias.anchor;
  const int   index = yoke_names_find(&b->anchor_names, name);
  if (index == YOKE_NAMES_NONE || b->anchors == NULL)
    return refuse(b, &event->start_mark, "alias without an anchor of this name before it", name);
  const anchor *a = &b->anchors[index];
  if (a->node == NULL) return refuse(b, &event->start_mark, "alias inside its own anchor", name);
  return place(b, &event->start_mark, a->node, a->depth);
}

/* One event. *done is set behind the only document. */
static yoke_status handle(builder *b, const yaml_event_t *event, bool *done) {
  switch (event->type) {
  case YAML_DOCUMENT_START_EVENT:
    if (b->root != NULL) return refuse(b, &event->start_mark, "found a second document ('---'), expected one", NULL);
    return YOKE_OK;
  case YAML_SCALAR_EVENT: return add_scalar(b, event);
  case YAML_ALIAS_EVENT: return add_alias(b, event);
  case YAML_SEQUENCE_START_EVENT:
    if (event->data.sequence_start.tag != NULL)
      return refuse(b, &event->start_mark, "found a tag ('!...'), expected a list", NULL);
    return open_container(b, event, YOKE_YAML_LIST, (const char *)event->data.sequence_start.anchor);
  case YAML_MAPPING_START_EVENT:
    if (event->data.mapping_start.tag != NULL)
      return refuse(b, &event->start_mark, "found a tag ('!...'), expected a map", NULL);
    return open_container(b, event, YOKE_YAML_MAP, (const char *)event->data.mapping_start.anchor);
  case YAML_SEQUENCE_END_EVENT:
  case YAML_MAPPING_END_EVENT: return close_container(b, event);
  case YAML_STREAM_END_EVENT: *done = true; return YOKE_OK;
  default: return YOKE_OK;
  }
}

/* Column of a tab among the blanks in front of the text of a line; 0: there is none. */
static size_t tab_column(const char *text, size_t size, size_t line) {
  size_t i = 0;
  for (size_t n = 1; n < line && i < size; ++i) n += text[i] == '\n';
  for (size_t column = 1; i < size && (text[i] == ' ' || text[i] == '\t'); ++i, ++column) {
    if (text[i] == '\t') return column;
  }
  return 0;
}

static yoke_status parser_failure(builder *b, const yaml_parser_t *parser, const char *text, size_t size) {
  if (parser->error == YAML_MEMORY_ERROR) return out_of_memory(b);
  size_t line = parser->problem_mark.line + 1, column = parser->problem_mark.column + 1;
  if (parser->error == YAML_READER_ERROR) { /* position given as a byte offset */
    const size_t at = parser->problem_offset < size ? parser->problem_offset : size;
    line = column = 1;
    for (size_t i = 0; i < at; ++i) {
      line += text[i] == '\n';
      column = text[i] == '\n' ? 1 : column + 1;
    }
    return yoke_fail(b->ctx, YOKE_E_MODEL, "%s:%zu:%zu: found a byte that is no text (%s), expected a YAML file",
                     b->file, line, column, parser->problem == NULL ? "unreadable" : parser->problem);
  }
  const size_t tab = tab_column(text, size, line);
  if (tab > 0) {
    return yoke_fail(b->ctx, YOKE_E_MODEL,
                     "%s:%zu:%zu: found a tab in front of the text, expected blanks: YAML indents with blanks only",
                     b->file, line, tab);
  }
  return yoke_fail(b->ctx, YOKE_E_MODEL, "%s:%zu:%zu: not valid YAML: %s%s%s", b->file, line, column,
                   parser->problem == NULL ? "unknown problem" : parser->problem, parser->context == NULL ? "" : ", ",
                   parser->context == NULL ? "" : parser->context);
}

static void builder_clear(builder *b) {
  for (int i = 0; i < b->n_open; ++i) {
    free(b->open[i].node->items);
    free(b->open[i].node->keys);
    b->open[i].node->items = b->open[i].node->keys = NULL;
    b->open[i].node->n                             = 0;
    free(b->open[i].anchor);
  }
  yoke_names_clear(&b->anchor_names);
  for (int i = 0; i < b->n_anchors; ++i) free(b->anchors[i].name);
  free(b->anchors);
}

/* ---- stand-ins ---- */

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

typedef struct open_bracket {
  size_t at;
  char   letter;
  bool   of_word; /* directly behind a word: an index or a call */
} open_bracket;

/* One line, text[from .. to): mark in flags what becomes a stand-in: 1 '[', 2 ']', 3 ','. Returns their number. Linear in the length:
 * every comma is put on the stack `commas` once and leaves it once. */
static size_t scan_line(const char *text, size_t from, size_t to, unsigned char *flags) {
  enum { MAX_OPEN = 64, MAX_COMMAS = 1024 };
  open_bracket open[MAX_OPEN];
  size_t       commas[MAX_COMMAS];
  int          n_open = 0, n_commas = 0;
  size_t       count = 0;
  for (size_t i = from; i < to; ++i) {
    const char c = text[i];
    if (c == ',' && n_open > 0 && n_commas < MAX_COMMAS) commas[n_commas++] = i;
    if (c == '[' || c == '(') {
      if (n_open == MAX_OPEN) return count;
      const bool of_word = i > from && (is_word(text[i - 1]) || text[i - 1] == ')');
      open[n_open++]     = (open_bracket){.at = i, .letter = c, .of_word = of_word};
    }
    if (c != ']' && c != ')') continue;
    while (n_open > 0 && open[n_open - 1].letter != (c == ']' ? '[' : '(')) --n_open;
    if (n_open == 0) continue;
    const open_bracket o = open[--n_open];
    while (n_commas > 0 && commas[n_commas - 1] > o.at) {
      --n_commas;
      if (!o.of_word) continue;
      flags[commas[n_commas]] = 3;
      ++count;
    }
    if (o.of_word && c == ']') {
      flags[o.at] = 1;
      flags[i]    = 2;
      count += 2;
    }
  }
  return count;
}

/* `word[` and a comma in the parentheses of a call cannot occur in plain YAML outside of scalars, so there is no need to know where
 * scalars start. */
static size_t find_stand_ins(const char *text, size_t size, unsigned char *flags) {
  size_t count = 0;
  for (size_t from = 0; from < size;) {
    const char  *end = memchr(text + from, '\n', size - from);
    const size_t to  = end == NULL ? size : (size_t)(end - text);
    count += scan_line(text, from, to, flags);
    from = to + 1;
  }
  return count;
}

static yoke_status insert_stand_ins(builder *b, const char *text, size_t size, char **out, size_t *out_size) {
  unsigned char *flags = calloc(size + 1, 1);
  if (flags == NULL) return out_of_memory(b);
  const size_t count = find_stand_ins(text, size, flags);
  char        *copy  = malloc(size + 2 * count + 1);
  if (copy == NULL) {
    free(flags);
    return out_of_memory(b);
  }
  size_t k = 0;
  for (size_t i = 0; i < size; ++i) {
    if (flags[i] == 0) {
      copy[k++] = text[i];
    } else {
      copy[k++] = stand_in[0];
      copy[k++] = stand_in[1];
      copy[k++] = (char)(0x80 + flags[i] - 1);
    }
  }
  copy[k] = '\0';
  free(flags);
  *out      = copy;
  *out_size = k;
  return YOKE_OK;
}

/* ---- reading ---- */

yoke_status yoke_yaml_read_text(yoke_context *ctx, yoke_yaml *yaml, const char *name, const char *text, size_t size,
                                yoke_yaml_node **root) {
  *root = NULL;
  if (size > MAX_FILE) return yoke_fail(ctx, YOKE_E_MODEL, "%s: found %zu bytes, expected at most 64 MB", name, size);
  builder *b = calloc(1, sizeof *b);
  if (b == NULL) return yoke_out_of_memory(ctx, "reading '%s'", name);
  b->ctx                  = ctx;
  b->yaml                 = yaml;
  b->file                 = yoke_yaml_keep_text(yaml, name, strlen(name));
  char         *copy      = NULL;
  size_t        copy_size = 0;
  yoke_status   status    = b->file == NULL ? yoke_out_of_memory(ctx, "reading '%s'", name)
                                            : insert_stand_ins(b, text, size, &copy, &copy_size);
  yaml_parser_t parser;
  if (status == YOKE_OK && !yaml_parser_initialize(&parser)) status = out_of_memory(b);
  if (status == YOKE_OK) {
    yaml_parser_set_input_string(&parser, (const unsigned char *)copy, copy_size);
    bool done = false;
    while (status == YOKE_OK && !done) {
      yaml_event_t event;
      if (!yaml_parser_parse(&parser, &event)) {
        status = parser_failure(b, &parser, copy, copy_size);
        break;
      }
      status = handle(b, &event, &done);
      yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
  }
  if (status == YOKE_OK) *root = b->root;
  builder_clear(b);
  free(b);
  free(copy);
  return status;
}

/* Some bytes of a file; *n = 0: its end. A FIFO may wait for its writer without end: poll, unlike read, ends with every signal. */
static yoke_status read_some(yoke_context *ctx, const char *path, int fd, char *to, size_t room, size_t *n) {
  struct pollfd file = {.fd = fd, .events = POLLIN};
  ssize_t       got;
  do {
    got = poll(&file, 1, -1);
    if (got >= 0) got = read(fd, to, room);
  } while (got < 0 && errno == EAGAIN);
  *n = got > 0 ? (size_t)got : 0;
  if (got >= 0) return YOKE_OK;
  if (errno == EINTR) return yoke_fail(ctx, YOKE_E_INTERRUPTED, "%s: interrupted while reading", path);
  return yoke_fail(ctx, YOKE_E_IO, "%s: cannot be read (is it a directory?)", path);
}

/* Whole file, at most MAX_FILE bytes. */
static yoke_status read_bytes(yoke_context *ctx, const char *path, char **out, size_t *size) {
  const int fd = yoke_file_open(path, O_RDONLY | O_NONBLOCK, 0); /* a FIFO without a writer is opened at once */
  if (fd < 0) return yoke_fail(ctx, YOKE_E_IO, "%s: cannot be opened for reading", path);
  size_t      capacity = CHUNK, n = 0, got = 0;
  char       *bytes  = malloc(capacity);
  yoke_status status = bytes == NULL ? yoke_out_of_memory(ctx, "reading '%s'", path) : YOKE_OK;
  while (status == YOKE_OK) {
    status = read_some(ctx, path, fd, bytes + n, capacity - n, &got);
    n += got;
    if (status != YOKE_OK || got == 0) break;
    if (n < capacity) continue;
    if (n > MAX_FILE) {
      status = yoke_fail(ctx, YOKE_E_MODEL, "%s: found more than 64 MB, expected a model file", path);
      break;
    }
    char *more = realloc(bytes, 2 * capacity);
    if (more == NULL) {
      status = yoke_out_of_memory(ctx, "reading '%s'", path);
      break;
    }
    bytes = more;
    capacity *= 2;
  }
  close(fd);
  if (status != YOKE_OK) {
    free(bytes);
    bytes = NULL;
  }
  *out  = bytes;
  *size = n;
  return status;
}

yoke_status yoke_yaml_read_file(yoke_context *ctx, yoke_yaml *yaml, const char *path, yoke_yaml_node **root) {
  char  *bytes = NULL;
  size_t size  = 0;
  *root        = NULL;
  YOKE_TRY(read_bytes(ctx, path, &bytes, &size));
  const yoke_status status = yoke_yaml_read_text(ctx, yaml, path, bytes, size, root);
  free(bytes);
  return status;
}

/* ---- asking and editing ---- */

yoke_yaml_node *yoke_yaml_find(const yoke_yaml_node *node, const char *key) {
  if (node == NULL || node->kind != YOKE_YAML_MAP) return NULL;
  for (int i = 0; i < node->n; ++i) {
    if (strcmp(node->keys[i]->text, key) == 0) return node->items[i];
  }
  return NULL;
}

size_t yoke_yaml_n_nodes(const yoke_yaml *yaml) {
  return yaml->n_nodes;
}

/* The code point that begins at *text (UTF-8), and how many bytes it has; 0: there is none. */
static size_t code_point(const char *text, uint32_t *out) {
  const unsigned char  *p       = (const unsigned char *)text;
  const size_t          n       = p[0] < 0x80 ? 1 : p[0] >> 5 == 6 ? 2 : p[0] >> 4 == 14 ? 3 : p[0] >> 3 == 30 ? 4 : 0;
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* shorter forms have to be used */
  *out                          = n == 1 ? p[0] : n > 0 ? p[0] & (0x7fu >> n) : 0;
  for (size_t i = 1; i < n; ++i) {
    if (p[i] >> 6 != 2) return 0;
    *out = *out << 6 | (p[i] & 0x3fu);
  }
  const bool is_surrogate = *out >= 0xd800 && *out <= 0xdfff;
  return *out < least[n] || *out > 0x10ffff || is_surrogate ? 0 : n;
}

bool yoke_yaml_is_text(const char *text) {
  uint32_t letter;
  for (size_t n; *text != '\0'; text += n) {
    n = code_point(text, &letter);
    if (n == 0 || letter == 0xfffe || letter == 0xffff || (letter >= 0xe000 && letter <= 0xe002)) return false;
  }
  return true;
}

bool yoke_yaml_is_nothing(const yoke_yaml_node *node) {
  return node == NULL || (node->kind == YOKE_YAML_SCALAR && !node->quoted && node->text[0] == '\0');
}

yoke_yaml_node *yoke_yaml_new_map(yoke_yaml *yaml, const yoke_yaml_node *like) {
  return new_node(yaml, YOKE_YAML_MAP, like->file, like->line, like->column);
}

yoke_yaml_node *yoke_yaml_new_scalar(yoke_yaml *yaml, const yoke_yaml_node *like, const char *text) {
  yoke_yaml_node *node = new_node(yaml, YOKE_YAML_SCALAR, like->file, like->line, like->column);
  if (node == NULL) return NULL;
  node->text = yoke_yaml_keep_text(yaml, text, strlen(text));
  return node->text == NULL ? NULL : node;
}

yoke_yaml_node *yoke_yaml_copy_shallow(yoke_yaml *yaml, const yoke_yaml_node *node) {
  yoke_yaml_node *copy = take(yaml, sizeof *copy);
  if (copy == NULL) return NULL;
  *copy             = *node;
  copy->room        = 0;
  const size_t size = (size_t)node->n * sizeof *node->items;
  if (node->n > 0) {
    copy->items = take(yaml, size);
    if (copy->items == NULL) return NULL;
    memcpy(copy->items, node->items, size);
    if (node->keys != NULL) {
      copy->keys = take(yaml, size);
      if (copy->keys == NULL) return NULL;
      memcpy(copy->keys, node->keys, size);
    }
  }
  return copy;
}

yoke_status yoke_yaml_put(yoke_yaml *yaml, yoke_yaml_node *map, yoke_yaml_node *key, yoke_yaml_node *value) {
  for (int i = 0; i < map->n; ++i) {
    if (strcmp(map->keys[i]->text, key->text) != 0) continue;
    map->keys[i]  = key;
    map->items[i] = value;
    return YOKE_OK;
  }
  return yoke_yaml_append(yaml, map, &key, &value, 1);
}

/* Larger arrays for n more entries; the old ones stay with the document. */
static bool make_room(yoke_yaml *yaml, yoke_yaml_node *node, int n) {
  const int        room  = node->room > 0 && 2 * node->room > node->n + n ? 2 * node->room : node->n + n;
  const bool       keyed = node->kind == YOKE_YAML_MAP;
  yoke_yaml_node **items = take(yaml, (size_t)room * sizeof *items);
  yoke_yaml_node **keys  = keyed ? take(yaml, (size_t)room * sizeof *keys) : NULL;
  if (items == NULL || (keyed && keys == NULL)) return false;
  if (node->n > 0) {
    memcpy(items, node->items, (size_t)node->n * sizeof *items);
    if (keyed) memcpy(keys, node->keys, (size_t)node->n * sizeof *keys);
  }
  node->items = items;
  node->keys  = keys;
  node->room  = room;
  return true;
}

yoke_status yoke_yaml_append(yoke_yaml *yaml, yoke_yaml_node *map, yoke_yaml_node *const *keys,
                             yoke_yaml_node *const *values, int n) {
  if (n == 0) return YOKE_OK;
  if (map->n + n > map->room && !make_room(yaml, map, n)) return YOKE_E_MEMORY;
  if (keys != NULL) memcpy(map->keys + map->n, keys, (size_t)n * sizeof *keys);
  memcpy(map->items + map->n, values, (size_t)n * sizeof *values);
  map->n += n;
  return YOKE_OK;
}

void yoke_yaml_remove(yoke_yaml_node *map, const char *key) {
  for (int i = 0; i < map->n; ++i) {
    if (strcmp(map->keys[i]->text, key) != 0) continue;
    for (int k = i + 1; k < map->n; ++k) {
      map->keys[k - 1]  = map->keys[k];
      map->items[k - 1] = map->items[k];
    }
    --map->n;
    return;
  }
}

/* ---- writing ---- */

typedef struct writer {
  char  *text;
  size_t n, capacity;
  size_t column; /* letters since the last line break */
  bool   failed;
} writer;

static void write_bytes(writer *w, const char *bytes, size_t n) {
  if (w->failed) return;
  if (w->n + n + 1 > w->capacity) {
    size_t capacity = w->capacity == 0 ? 4096 : w->capacity;
    while (capacity < w->n + n + 1) capacity *= 2;
    char *more = realloc(w->text, capacity);
    if (more == NULL) {
      w->failed = true;
      return;
    }
    w->text     = more;
    w->capacity = capacity;
  }
  memcpy(w->text + w->n, bytes, n);
  w->n += n;
  w->text[w->n] = '\0';
  for (size_t i = 0; i < n; ++i) w->column = bytes[i] == '\n' ? 0 : w->column + 1;
}

static void write_text(writer *w, const char *text) {
  write_bytes(w, text, strlen(text));
}

static void write_indent(writer *w, int indent) {
  for (int i = 0; i < indent; ++i) write_text(w, " ");
}

/* Letters that mean nothing to YAML in any position but the first, and a harmless first letter. */
static bool is_plain(const char *text) {
  if (text[0] == '\0' || strcmp(text, "null") == 0) return false;
  const bool sign = (text[0] == '-' || text[0] == '+' || text[0] == '.') && is_word(text[1]);
  if (!is_word(text[0]) && !sign && text[0] != '(') return false;
  for (const char *p = text; *p != '\0'; ++p) {
    if (!is_word(*p) && strchr(" +-*/^().<>=", *p) == NULL) return false;
  }
  return text[strlen(text) - 1] != ' ';
}

/* Letters that do not stand for themselves between quotes: controls, breaks of lines and the mark of byte orders. */
static bool is_control(uint32_t letter) {
  return letter < 0x20 || (letter >= 0x7f && letter < 0xa0) || letter == 0x2028 || letter == 0x2029 || letter == 0xfeff;
}

static void write_scalar(writer *w, const yoke_yaml_node *node) {
  if (yoke_yaml_is_nothing(node)) {
    write_text(w, "null");
    return;
  }
  if (!node->quoted && is_plain(node->text)) {
    write_text(w, node->text);
    return;
  }
  write_text(w, "\"");
  uint32_t letter;
  for (const char *p = node->text; *p != '\0';) {
    char         escape[8];
    const size_t n = code_point(p, &letter);
    if (*p == '"' || *p == '\\') {
      snprintf(escape, sizeof escape, "\\%c", *p);
      write_text(w, escape);
    } else if (n > 0 && is_control(letter)) {
      snprintf(escape, sizeof escape, "\\u%04x", (unsigned)letter);
      write_text(w, escape);
    } else {
      write_bytes(w, p, n > 0 ? n : 1);
    }
    p += n > 0 ? n : 1;
  }
  write_text(w, "\"");
}

/* Keys are always quoted unless plain words: `on`, `y` and the like are words here. */
static void write_flow(writer *w, const yoke_yaml_node *node, int indent) {
  if (node->kind == YOKE_YAML_SCALAR) {
    write_scalar(w, node);
    return;
  }
  write_text(w, node->kind == YOKE_YAML_LIST ? "[" : "{");
  for (int i = 0; i < node->n && !w->failed; ++i) {
    if (i > 0) write_text(w, ", ");
    if (w->column > 110) {
      write_text(w, "\n");
      write_indent(w, indent + 2);
    }
    if (node->kind == YOKE_YAML_MAP) {
      write_scalar(w, node->keys[i]);
      write_text(w, ": ");
    }
    write_flow(w, node->items[i], indent);
  }
  write_text(w, node->kind == YOKE_YAML_LIST ? "]" : "}");
}

static void write_block(writer *w, const yoke_yaml_node *map, int indent) {
  for (int i = 0; i < map->n && !w->failed; ++i) {
    const yoke_yaml_node *item = map->items[i];
    write_indent(w, indent);
    write_scalar(w, map->keys[i]);
    write_text(w, ":");
    if (item->kind == YOKE_YAML_MAP && item->n > 0) {
      write_text(w, "\n");
      write_block(w, item, indent + 2);
    } else {
      write_text(w, " ");
      write_flow(w, item, indent);
      write_text(w, "\n");
    }
  }
}

char *yoke_yaml_write(const yoke_yaml_node *root) {
  writer w = {0};
  if (root->kind == YOKE_YAML_MAP && root->n > 0) {
    write_block(&w, root, 0);
  } else {
    write_flow(&w, root, 0);
    write_text(&w, "\n");
  }
  if (w.failed) {
    free(w.text);
    return NULL;
  }
  return w.text;
}
