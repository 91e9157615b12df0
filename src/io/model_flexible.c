/* Flexible bodies of the model file: `linear` and `ancf-cable`. Their points become bodies of the model, named below them. */
#include "io/linear_rows.h"
#include "io/model_reader.h"
#include "base/assert.h"
#include "base/memory.h"
#include "linalg/space.h"
#include "model/cable.h"
#include "model/rod.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FREEDOMS = 100000, MOST_ELEMENTS = 100000 };

const char *const model_flexible_kinds[] = {"linear", "ancf-cable"};

int model_find_flexible(const reader *r, const scope *s, const char *name) {
  for (; s != NULL; s = s->parent) {
    char full[2 * NAME_SIZE];
    model_print(full, sizeof full, "%s%s", s->prefix, name);
    for (int i = 0; i < r->model->n_flexibles; ++i) {
      if (strcmp(r->model->flexibles[i].name, full) == 0) return i;
    }
  }
  return -1;
}

bool model_is_cable_node(const yoke_model *m, int body) {
  const int f = body < 0 ? -1 : m->bodies[body].flexible - 1;
  return f >= 0 && m->flexibles[f].cable != NULL && !m->bodies[body].is_direction;
}

/* A new flexible body, whose points are those that follow. NULL: a mistake is recorded. */
static yoke_flexible *add_flexible(reader *r, const yoke_yaml_node *key, const char *name) {
  yoke_model *m = r->model;
  if (yoke_names_find(&r->body_names, name) != YOKE_NAMES_NONE || model_find_flexible(r, r->scopes[0], name) >= 0) {
    model_mistake(r, key, NULL, "found a second body '%s', expected different names", name);
    return NULL;
  }
  if (!model_grow(r, &m->flexibles, m->n_flexibles, &r->capacity_flexibles, sizeof *m->flexibles)) return NULL;
  yoke_flexible *f = &m->flexibles[m->n_flexibles];
  *f               = (yoke_flexible){.name = yoke_arena_text(&m->arena, name), .first_body = m->n_bodies};
  if (!model_has_memory(r)) return NULL;
  ++m->n_flexibles;
  return f;
}

/* Its next point. */
static int add_point(reader *r, const yoke_yaml_node *key, yoke_flexible *f, const char *name, yoke_body *body) {
  body->flexible = r->model->n_flexibles;
  ++f->n_bodies;
  return model_add_body(r, key, name, body);
}

/* ---- matrices ---- */

typedef struct triplet {
  int    row, column;
  double value;
} triplet;

typedef struct triplets {
  int      n;
  size_t   capacity;
  triplet *list;
} triplets;

static bool add_triplet(reader *r, triplets *t, int row, int column, double value) {
  if (!model_grow(r, &t->list, t->n, &t->capacity, sizeof *t->list)) return false;
  t->list[t->n++] = (triplet){row, column, value};
  return true;
}

/* A row of n numbers each. */
static bool read_full(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, int n, triplets *out) {
  double *row  = malloc(((size_t)n + 1) * sizeof *row);
  bool    good = row != NULL || model_out_of_memory(r);
  for (int i = 0; good && i < node->n; ++i) {
    good = model_numbers(r, s, node->items[i], key, Q_ANY, n, n, row, NULL);
    for (int j = 0; good && j < n; ++j) {
      if (row[j] != 0.0) good = add_triplet(r, out, i, j, row[j]);
    }
  }
  free(row);
  return good;
}

/* {size: n, symmetric: true, entries: [[i, j, value], ...]}, or size: [rows, columns] */
static bool read_sparse(reader *r, const scope *s, const yoke_yaml_node *node, int size_of[2], triplets *out) {
  static const char *const keys[] = {"size", "symmetric", "entries"};
  const yoke_yaml_node    *size = yoke_yaml_find(node, "size"), *entries = yoke_yaml_find(node, "entries"),
                       *symmetric = yoke_yaml_find(node, "symmetric");
  bool is_symmetric               = false;
  long rows = 0, columns = 0;
  if (!model_check_keys(r, node, keys, MODEL_COUNT(keys))) return false;
  if (symmetric != NULL && !model_boolean(r, symmetric, "symmetric", &is_symmetric)) return false;
  const bool is_pair = size != NULL && size->kind == YOKE_YAML_LIST && size->n == 2;
  if (!model_integer(r, s, is_pair ? size->items[0] : size, "size", 1, MOST_FREEDOMS, &rows)) return false;
  columns = rows;
  if (is_pair && !model_integer(r, s, size->items[1], "size", 1, MOST_FREEDOMS, &columns)) return false;
  if (entries == NULL || entries->kind != YOKE_YAML_LIST)
    return model_expected(r, entries == NULL ? node : entries, "entries", "a list [[row, column, value], ...]");
  if (is_symmetric && rows != columns)
    return model_mistake(r, symmetric, "symmetric",
                         "found %ld rows and %ld columns, expected a square matrix where it is symmetric", rows,
                         columns);
  size_of[0] = (int)rows, size_of[1] = (int)columns;
  for (int k = 0; k < entries->n; ++k) {
    const yoke_yaml_node *one = entries->items[k];
    long                  i, j;
    double                value;
    if (one->kind != YOKE_YAML_LIST || one->n != 3) return model_expected(r, one, "entries", "[row, column, value]");
    if (!model_integer(r, s, one->items[0], "entries", 1, rows, &i) ||
        !model_integer(r, s, one->items[1], "entries", 1, columns, &j) ||
        !model_number(r, s, one->items[2], "entries", Q_ANY, &value))
      return false;
    if (!add_triplet(r, out, (int)i - 1, (int)j - 1, value)) return false;
    if (is_symmetric && i != j && !add_triplet(r, out, (int)j - 1, (int)i - 1, value)) return false;
  }
  return true;
}

/* Rows, the diagonal alone, or a sparse one. *n: 0, not known yet, or what it has to be. */
static bool read_matrix(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, int *n, triplets *out) {
  int size = 0, sizes[2];
  if (node == NULL) return true;
  if (node->kind == YOKE_YAML_MAP) {
    if (!read_sparse(r, s, node, sizes, out)) return false;
    if (sizes[0] != sizes[1])
      return model_mistake(r, node, key, "found %d rows and %d columns, expected a square matrix", sizes[0], sizes[1]);
    size = sizes[0];
  } else if (node->kind == YOKE_YAML_LIST && node->n > 0 && node->items[0]->kind == YOKE_YAML_LIST) {
    size = node->n;
    if (!read_full(r, s, node, key, size, out)) return false;
  } else if (node->kind == YOKE_YAML_LIST && node->n > 0) {
    size = node->n;
    for (int i = 0; i < size; ++i) {
      double value;
      if (!model_number(r, s, node->items[i], key, Q_ANY, &value) || !add_triplet(r, out, i, i, value)) return false;
    }
  } else {
    return model_expected(r, node, key,
                          "a matrix: rows [[...], ...], its diagonal [...], a Matrix Market file 'name.mtx' or "
                          "{size: n, entries: [[row, column, value], ...]}");
  }
  if (*n == 0) *n = size;
  if (*n == size) return true;
  return model_mistake(r, node, key, "found a matrix of %d rows, expected %d, as many as 'mass' has", size, *n);
}

static int compare_triplets(const void *a, const void *b) {
  const triplet *x = a, *y = b;
  return x->row != y->row ? x->row - y->row : x->column - y->column;
}

/* Columns of a row increase. */
static double entry_at(const yoke_symmetric *A, int row, int column) {
  int low = A->start[row], high = A->start[row + 1];
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (A->column[middle] == column) return A->value[middle];
    *(A->column[middle] < column ? &low : &high) = A->column[middle] < column ? middle + 1 : middle;
  }
  return 0.0;
}

/* Number in the file of freedom i. */
static int number_of(const int *place, int i) {
  int number = 0;
  while (place[number] != i) ++number;
  return number + 1;
}

/* Triplets, whose rows and columns are numbers of the file, into the order `place` of the freedoms. */
static bool store_matrix(reader *r, const yoke_yaml_node *node, const char *key, triplets *t, int n, const int *place,
                         yoke_symmetric *out) {
  static const double tolerance = 1e-9; /* of the largest entry: not symmetric */
  yoke_arena         *arena     = &r->model->arena;
  double              largest   = 0.0;
  for (int k = 0; k < t->n; ++k) {
    t->list[k].row    = place[t->list[k].row];
    t->list[k].column = place[t->list[k].column];
  }
  if (t->n > 0) qsort(t->list, (size_t)t->n, sizeof *t->list, compare_triplets);
  out->start  = yoke_arena_take(arena, (size_t)n + 1, sizeof *out->start);
  out->column = yoke_arena_take(arena, (size_t)t->n + 1, sizeof *out->column);
  out->value  = yoke_arena_take(arena, (size_t)t->n + 1, sizeof *out->value);
  if (!model_has_memory(r)) return false;
  int at = 0;
  for (int k = 0; k < t->n; ++k) {
    const triplet *x = &t->list[k];
    if (k > 0 && compare_triplets(x - 1, x) == 0)
      return model_mistake(
          r, node, key,
          "found row %d, column %d twice, expected every entry once, and of a matrix that is said to be "
          "symmetric one half only",
          number_of(place, x->row), number_of(place, x->column));
    out->column[at]        = x->column;
    out->value[at++]       = x->value;
    out->start[x->row + 1] = at;
    largest                = fmax(largest, fabs(out->value[at - 1]));
  }
  for (int i = 0; i < n; ++i) out->start[i + 1] = out->start[i + 1] > 0 ? out->start[i + 1] : out->start[i];
  for (int i = 0; i < n; ++i) {
    for (int k = out->start[i]; k < out->start[i + 1]; ++k) {
      const int    j     = out->column[k];
      const double other = entry_at(out, j, i);
      if (fabs(out->value[k] - other) <= tolerance * largest) continue;
      const int row = number_of(place, i), column = number_of(place, j);
      return model_mistake(r, node, key,
                           "found %g in row %d, column %d and %g in row %d, column %d, expected a symmetric matrix",
                           out->value[k], row, column, other, column, row);
    }
  }
  return true;
}

/* ---- linear bodies ---- */

/* A point of a linear body: which freedoms it has, in the order of its kind. */
typedef struct linear_point {
  const yoke_yaml_node *key, *node; /* NULL: one freedom without a name */
  yoke_body_kind        kind;
  int                   n, freedom[6]; /* numbers of the file from 0 */
  double                at[3];
} linear_point;

static bool read_point(reader *r, const scope *s, const yoke_yaml_node *key, const yoke_yaml_node *node, int n,
                       int *owner, int number, linear_point *out) {
  enum { N_WORDS = 7, LINE = 1, POINT = 7, PLANE = 11, SPACE = 119 }; /* sets of words */
  static const char *const keys[] = {"x", "y", "z", "angle", "rx", "ry", "rz", "at"}, *const *const words = keys;
  int mask = 0, found[N_WORDS];
  *out     = (linear_point){.key = key, .node = node};
  if (!model_check_name(r, key, false)) return false;
  if (node->kind != YOKE_YAML_MAP)
    return model_expected(r, node, key->text,
                          "which freedoms it is: {x: 1}, {x: 1, y: 2, z: 3}, {x: 1, y: 2, angle: 3}, ...");
  if (!model_check_keys(r, node, keys, MODEL_COUNT(keys))) return false;
  for (int k = 0; k < N_WORDS; ++k) {
    const yoke_yaml_node *one = yoke_yaml_find(node, words[k]);
    long                  freedom;
    if (one == NULL) continue;
    if (!model_integer(r, s, one, words[k], 1, n, &freedom)) return false;
    if (owner[freedom - 1] >= 0)
      return model_mistake(r, one, words[k], "found freedom %ld a second time, expected each freedom in one frame only",
                           freedom);
    owner[freedom - 1] = number;
    found[k]           = (int)freedom - 1;
    mask |= 1 << k;
  }
  const yoke_yaml_node *at = yoke_yaml_find(node, "at");
  if (at != NULL && !model_numbers(r, s, at, "at", Q_LENGTH, 1, 3, out->at, NULL)) return false;
  if (mask != LINE && mask != POINT && mask != PLANE && mask != SPACE)
    return model_mistake(r, node, key->text,
                         "found another set of freedoms, expected x (a mass on a line), x, y, z (a point), x, y, "
                         "angle (in the plane), or x, y, z, rx, ry, rz (a body in space)");
  out->kind = mask == LINE    ? YOKE_BODY_MASS1D
              : mask == POINT ? YOKE_BODY_PARTICLE
              : mask == PLANE ? YOKE_BODY_PLANAR
                              : YOKE_BODY_RIGID;
  for (int k = 0; k < N_WORDS; ++k) {
    if ((mask >> k & 1) != 0) out->freedom[out->n++] = found[k];
  }
  return true;
}

/* `x`, `v`, `load`: one number each; nothing: 0. */
static bool read_list(reader *r, const scope *s, const yoke_yaml_node *map, const char *key, int n, double *out) {
  const yoke_yaml_node *node = yoke_yaml_find(map, key);
  return node == NULL || model_numbers(r, s, node, key, Q_ANY, n, n, out, NULL);
}

/* What a linear body is made of while it is read. */
typedef struct linear_reader {
  int           n, n_points;
  triplets      matrix[3]; /* mass, damping, stiffness */
  linear_rows   rows;      /* of `constraints` */
  int          *owner;     /* [n] which frame a freedom is in; -1: none */
  int          *place;     /* [n] where it goes */
  linear_point *points;    /* [n] in their order; frames come first while they are read */
  double       *x, *v, *load;
  yoke_arena    arena;
} linear_reader;

/* Points in the order of their first freedoms: the band of the matrices stays as it is where freedoms of frames stand together. */
static bool order_points(reader *r, linear_reader *l, int n_frames) {
  linear_point *frames = yoke_arena_copy(&l->arena, l->points, (size_t)n_frames, sizeof *frames);
  bool         *done   = yoke_arena_take(&l->arena, (size_t)n_frames + 1, sizeof *done);
  int           at     = 0;
  if (l->arena.has_failed) return model_out_of_memory(r);
  for (int i = 0; i < l->n; ++i) {
    const int owner = l->owner[i];
    if (owner >= 0 && done[owner]) continue;
    linear_point *p = &l->points[l->n_points++];
    if (owner >= 0) {
      *p          = frames[owner];
      done[owner] = true;
    } else {
      *p = (linear_point){.kind = YOKE_BODY_MASS1D, .n = 1, .freedom = {i}};
    }
    for (int k = 0; k < p->n; ++k) l->place[p->freedom[k]] = at++;
  }
  return true;
}

static bool read_points(reader *r, const scope *s, const yoke_yaml_node *map, linear_reader *l) {
  const yoke_yaml_node *frames;
  const size_t          n = (size_t)l->n;
  if (!model_map(r, yoke_yaml_find(map, "frames"), "frames", &frames)) return false;
  l->owner  = yoke_arena_take(&l->arena, n, sizeof *l->owner);
  l->place  = yoke_arena_take(&l->arena, n, sizeof *l->place);
  l->points = yoke_arena_take(&l->arena, n, sizeof *l->points);
  l->x      = yoke_arena_take(&l->arena, n, sizeof *l->x);
  l->v      = yoke_arena_take(&l->arena, n, sizeof *l->v);
  l->load   = yoke_arena_take(&l->arena, n, sizeof *l->load);
  if (l->arena.has_failed) return model_out_of_memory(r);
  for (int i = 0; i < l->n; ++i) l->owner[i] = -1;
  const int n_frames = frames == NULL ? 0 : frames->n;
  for (int k = 0; k < n_frames; ++k) {
    if (k == l->n) return model_mistake(r, frames, "frames", "found more frames than freedoms");
    if (!read_point(r, s, frames->keys[k], frames->items[k], l->n, l->owner, k, &l->points[k])) return false;
  }
  return order_points(r, l, n_frames) && read_list(r, s, map, "x", l->n, l->x) &&
         read_list(r, s, map, "v", l->n, l->v) && read_list(r, s, map, "load", l->n, l->load);
}

/* Start and mass of a point from those of its freedoms. */
static void set_point(const linear_reader *l, const linear_point *p, const yoke_symmetric *mass, yoke_body *body) {
  *body = (yoke_body){.kind = p->kind, .orientation = {1, 0, 0, 0}};
  for (int k = 0; k < p->n; ++k) {
    const int    i        = p->freedom[k];
    const double m        = entry_at(mass, l->place[i], l->place[i]);
    const bool   is_angle = p->kind == YOKE_BODY_PLANAR && k == 2;
    if (k == 0) body->mass = m;
    if (k >= 3) { /* twice the vector part of the Euler parameters */
      body->inertia[4 * (k - 3)]   = m;
      body->omega[k - 3]           = l->v[i];
      body->orientation[1 + k - 3] = 0.5 * l->x[i];
    } else if (is_angle) {
      body->angle      = l->x[i];
      body->omega[2]   = l->v[i];
      body->inertia[8] = m;
    } else {
      body->position[k] = p->at[k] + l->x[i];
      body->velocity[k] = l->v[i];
    }
  }
  const double *p4     = body->orientation;
  body->orientation[0] = sqrt(fmax(0.0, 1.0 - p4[1] * p4[1] - p4[2] * p4[2] - p4[3] * p4[3]));
}

static bool check_mass(reader *r, const yoke_yaml_node *node, const linear_reader *l, const yoke_symmetric *mass) {
  for (int i = 0; i < l->n; ++i) {
    const double m = entry_at(mass, l->place[i], l->place[i]);
    if (m > 0.0) continue;
    return model_mistake(r, node, "mass",
                         "found %g on the diagonal in row %d, expected a positive definite matrix; leave out freedoms "
                         "without mass, or reduce the model to the others",
                         m, i + 1);
  }
  return true;
}

/* A warning where two rows show that stiffness or damping is not positive semidefinite: a_ii < 0 or a_ij^2 > a_ii a_jj. Matrices of reduced models
 * with few digits miss the second by these. */
static void warn_if_indefinite(reader *r, const yoke_yaml_node *at, const char *key, const linear_reader *l,
                               const yoke_symmetric *A) {
  const double digits = 1e-4;
  for (int i = 0; at != NULL && i < l->n; ++i) {
    const double own = entry_at(A, l->place[i], l->place[i]);
    for (int k = A->start[l->place[i]]; k < A->start[l->place[i] + 1]; ++k) {
      const double other = entry_at(A, A->column[k], A->column[k]), x = A->value[k];
      if (own >= 0.0 && x * x <= (1.0 + digits) * own * fmax(0.0, other)) continue;
      model_warning(r, at, key,
                    "found a matrix that is not positive semidefinite in row %d: %s, and energy grows; write one that "
                    "is unless this is meant",
                    i + 1, strcmp(key, "damping") == 0 ? "it drives the motion" : "it pushes away from rest");
      return;
    }
  }
}

/* ---- constraint rows ---- */

static bool place_entries(reader *r, const yoke_yaml_node *node, const triplets *t, linear_rows *rows) {
  if (t->n > 0) qsort(t->list, (size_t)t->n, sizeof *t->list, compare_triplets);
  for (int k = 0; k < t->n; ++k) {
    const triplet *x = &t->list[k];
    if (k > 0 && compare_triplets(x - 1, x) == 0)
      return model_mistake(r, node, "constraints", "found row %d, column %d twice, expected every entry once",
                           x->row + 1, x->column + 1);
    YOKE_ASSERT(x->row < rows->m && x->column < rows->n);
    rows->C[(size_t)x->row * (size_t)rows->n + (size_t)x->column] = x->value;
  }
  return true;
}

static bool read_entries(reader *r, const scope *s, const yoke_yaml_node *node, linear_reader *l, triplets *t) {
  int size[2] = {0, l->n};
  if (node->kind == YOKE_YAML_MAP) {
    if (!read_sparse(r, s, node, size, t)) return false;
  } else if (node->kind == YOKE_YAML_LIST && node->n > 0 && node->items[0]->kind == YOKE_YAML_LIST) {
    size[0] = node->n;
    if (!read_full(r, s, node, "constraints", l->n, t)) return false;
  } else {
    return model_expected(r, node, "constraints",
                          "rows [[...], ...] of one number for each freedom, a Matrix Market file 'name.mtx' or "
                          "{size: [rows, freedoms], entries: [[row, freedom, value], ...]}");
  }
  if (size[1] != l->n || size[0] >= l->n)
    return model_mistake(
        r, node, "constraints",
        "found a matrix of %d rows and %d columns, expected %d columns, one for each freedom, and fewer "
        "rows than these",
        size[0], size[1], l->n);
  if (!linear_rows_create(&l->arena, size[0], l->n, &l->rows)) return model_out_of_memory(r);
  return place_entries(r, node, t, &l->rows);
}

static bool fail_rows(reader *r, const yoke_yaml_node *node, linear_rows_verdict verdict, int row) {
  switch (verdict) {
  case LINEAR_ROWS_EMPTY:
    return model_mistake(r, node, "constraints", "found row %d without an entry that is not 0", row + 1);
  case LINEAR_ROWS_DEPENDENT:
    return model_mistake(r, node, "constraints",
                         "found row %d, which follows from the others, expected independent rows", row + 1);
  case LINEAR_ROWS_NEAR:
    return model_mistake(r, node, "constraints",
                         "found row %d, of which the others leave less than a ten-thousandth, which costs half of all "
                         "digits; expected rows that differ: subtract the others from it",
                         row + 1);
  default:
    return model_mistake(r, node, "constraints",
                         "found row %d over freedoms of frames alone, or after the other rows have determined theirs, "
                         "expected for every row a freedom of its own that is in no frame; joints between frames say "
                         "how these move together",
                         row + 1);
  }
}

/* `constraints`: C, `constraint_values`: c. Every row takes the place of a freedom that is in no frame. */
static bool read_constraints(reader *r, const scope *s, const yoke_yaml_node *map, linear_reader *l) {
  const yoke_yaml_node *node = yoke_yaml_find(map, "constraints"), *values = yoke_yaml_find(map, "constraint_values");
  triplets              t   = {0};
  int                   row = 0;
  if (node == NULL)
    return values == NULL || model_mistake(r, values, "constraint_values", "found values without 'constraints'");
  bool *is_taken = yoke_arena_take(&l->arena, (size_t)l->n, sizeof *is_taken);
  bool  good     = (is_taken != NULL || model_out_of_memory(r)) && read_entries(r, s, node, l, &t) &&
              read_list(r, s, map, "constraint_values", l->rows.m, l->rows.value);
  for (int i = 0; good && i < l->n; ++i) is_taken[i] = l->owner[i] >= 0;
  if (good) {
    const linear_rows_verdict verdict = linear_rows_solve(&l->rows, is_taken, &row);
    good                              = verdict == LINEAR_ROWS_SOLVED || fail_rows(r, node, verdict, row);
  }
  free(t.list);
  return good;
}

/* `t`, stored as A, becomes T^T A T in the numbers of the file: the half behind the diagonal twice, so that it is symmetric to the bit. */
static bool multiply(reader *r, linear_reader *l, const yoke_symmetric *A, triplets *t) {
  int *number = yoke_arena_take(&l->arena, (size_t)l->n, sizeof *number);
  bool good   = number != NULL || model_out_of_memory(r);
  t->n        = 0;
  for (int i = 0; good && i < l->n; ++i) number[l->place[i]] = i;
  for (int i = 0; good && i < l->n; ++i) {
    const int n = linear_rows_product(&l->rows, A, l->place, number, i);
    for (int k = 0; good && k < n; ++k) {
      const int    j = l->rows.filled[k];
      const double x = l->rows.sum[j];
      if (j < i || x == 0.0) continue;
      good = add_triplet(r, t, i, j, x) && (i == j || add_triplet(r, t, j, i, x));
    }
  }
  return good;
}

/* The coordinate y of a row is held by a joint. */
static bool add_joint(reader *r, const yoke_yaml_node *key, const char *name, int row, double value) {
  yoke_model      *m      = r->model;
  const int        point  = m->n_frames - 1;
  const yoke_frame ground = {.body = YOKE_GROUND, .origin = {value, 0, 0}, .axes = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  char             full[2 * NAME_SIZE], end[2 * NAME_SIZE];
  model_print(full, sizeof full, "%s.constraint[%d]", name, row + 1);
  model_print(end, sizeof end, "%s/1", full);
  const int frame = model_add_frame(r, key, end, &ground);
  if (frame < 0 || !model_grow(r, &m->connections, m->n_connections, &r->capacity_connections, sizeof *m->connections))
    return false;
  yoke_connection *c = &m->connections[m->n_connections];
  *c                 = (yoke_connection){
                      .kind = YOKE_CONNECTION_FIXED, .name = yoke_arena_text(&m->arena, full), .frame = {point, frame}};
  if (!model_has_memory(r)) return false;
  return yoke_names_add(&r->connection_names, c->name, m->n_connections++) == YOKE_NAMES_ADDED ||
         model_mistake(r, key, NULL, "found a second connection '%s', expected different names", full);
}

static bool add_linear(reader *r, const yoke_yaml_node *key, const yoke_yaml_node *node, const char *name,
                       linear_reader *l) {
  static const char *const keys[3] = {"mass", "damping", "stiffness"};
  yoke_model              *m       = r->model;
  yoke_linear_body        *linear  = yoke_arena_take(&m->arena, 1, sizeof *linear);
  if (!model_has_memory(r)) return false;
  yoke_symmetric *const matrix[3] = {&linear->mass, &linear->damping, &linear->stiffness};
  for (int k = 0; k < 3; ++k) {
    const yoke_yaml_node *at = yoke_yaml_find(node, keys[k]);
    if (!store_matrix(r, at != NULL ? at : node, keys[k], &l->matrix[k], l->n, l->place, matrix[k])) return false;
  }
  if (!check_mass(r, yoke_yaml_find(node, "mass"), l, &linear->mass)) return false;
  for (int k = 1; k < 3; ++k) warn_if_indefinite(r, yoke_yaml_find(node, keys[k]), keys[k], l, matrix[k]);
  if (l->rows.m > 0) {
    for (int k = 0; k < 3; ++k) {
      if (!multiply(r, l, matrix[k], &l->matrix[k]) ||
          !store_matrix(r, node, keys[k], &l->matrix[k], l->n, l->place, matrix[k]))
        return false;
    }
    linear_rows_load(&l->rows, l->load);
    linear_rows_state(&l->rows, l->x);
    linear_rows_state(&l->rows, l->v);
  }
  linear->rest  = yoke_arena_take(&m->arena, (size_t)l->n, sizeof *linear->rest);
  linear->load  = yoke_arena_take(&m->arena, (size_t)l->n, sizeof *linear->load);
  linear->place = yoke_arena_take(&m->arena, (size_t)l->n, sizeof *linear->place);
  linear->turn  = yoke_arena_take(&m->arena, (size_t)l->n, sizeof *linear->turn);
  if (!model_has_memory(r)) return false;
  yoke_flexible *f = add_flexible(r, key, name);
  if (f == NULL) return false;
  f->n      = l->n;
  f->linear = linear;
  for (int k = 0, q = 0; k < l->n_points; ++k) {
    const linear_point *p = &l->points[k];
    yoke_body           body;
    char                full[2 * NAME_SIZE];
    set_point(l, p, &linear->mass, &body);
    if (p->key != NULL) model_print(full, sizeof full, "%s.%s", name, p->key->text);
    const int row = p->key == NULL && l->rows.m > 0 ? l->rows.row_at[p->freedom[0]] : -1;
    if (p->key == NULL)
      model_print(full, sizeof full, "%s.%s[%d]", name, row >= 0 ? "row" : "q", (row >= 0 ? row : p->freedom[0]) + 1);
    if (add_point(r, p->key != NULL ? p->key : key, f, full, &body) < 0) return false;
    if (row >= 0 && !add_joint(r, key, name, row, l->rows.value[row])) return false;
    for (int i = 0; i < p->n; ++i) {
      const int to      = l->place[p->freedom[i]];
      linear->load[to]  = l->load[p->freedom[i]];
      linear->rest[to]  = i >= 3 || (p->kind == YOKE_BODY_PLANAR && i == 2) ? 0.0 : p->at[i];
      linear->place[to] = q + i + (i >= 3); /* Euler parameters, the scalar one first */
      if (i == 3) linear->turn[linear->n_turns++] = to;
    }
    q += yoke_body_nq(&body);
  }
  return true;
}

static bool read_linear(reader *r, scope *s, const yoke_yaml_node *key, const yoke_yaml_node *node, const char *name) {
  static const char *const keys[] = {"kind", "count", "mass",   "damping",     "stiffness",        "load",
                                     "x",    "v",     "frames", "constraints", "constraint_values"};
  linear_reader            l      = {0};
  if (!model_check_keys(r, node, keys, MODEL_COUNT(keys))) return false;
  const yoke_yaml_node *mass = yoke_yaml_find(node, "mass");
  if (mass == NULL)
    return model_mistake(r, node, "mass",
                         "found nothing, expected the mass matrix: rows [[...], ...] or a file 'name.mtx'");
  bool good = read_matrix(r, s, mass, "mass", &l.n, &l.matrix[0]) &&
              read_matrix(r, s, yoke_yaml_find(node, "damping"), "damping", &l.n, &l.matrix[1]) &&
              read_matrix(r, s, yoke_yaml_find(node, "stiffness"), "stiffness", &l.n, &l.matrix[2]) &&
              read_points(r, s, node, &l) && read_constraints(r, s, node, &l) && add_linear(r, key, node, name, &l);
  for (int k = 0; k < 3; ++k) free(l.matrix[k].list);
  yoke_arena_free(&l.arena);
  return good;
}

/* ---- cables ---- */

/* Positions and slopes of the nodes at the start. */
typedef struct cable_shape {
  int     n;         /* nodes */
  double *r, *slope; /* [n, 3] */
  bool    hangs;     /* as a chain without strain, so that slopes are directions */
  double  length;    /* without strain; that along the line through the nodes, if it is not given */
} cable_shape;

static double distance(const double *a, const double *b) {
  return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

/* Slopes by differences of second order, for elements of the length L. */
static void set_slopes(cable_shape *c, double L) {
  const int last = c->n - 1;
  for (int k = 0; k <= last; ++k) {
    const double *x = c->r + 3 * k;
    for (int i = 0; i < 3; ++i) {
      double d = last == 1 ? c->r[3 + i] - c->r[i] : 0.0;
      if (last > 1 && k == 0) d = -1.5 * x[i] + 2.0 * x[3 + i] - 0.5 * x[6 + i];
      if (last > 1 && k == last) d = 1.5 * x[i] - 2.0 * x[i - 3] + 0.5 * x[i - 6];
      if (k > 0 && k < last) d = 0.5 * (x[3 + i] - x[i - 3]);
      c->slope[3 * k + i] = d / L;
    }
    const double size = c->hangs ? vec3_norm(c->slope + 3 * k) : 1.0;
    for (int i = 0; i < 3; ++i) c->slope[3 * k + i] /= size;
  }
}

static bool read_points_of_nodes(reader *r, const scope *s, const yoke_yaml_node *points, cable_shape *c) {
  if (points->kind != YOKE_YAML_LIST || points->n != c->n)
    return model_mistake(r, points, "points", "found %d points, expected %d, one more than there are elements",
                         points->kind == YOKE_YAML_LIST ? points->n : 0, c->n);
  for (int k = 0; k < c->n; ++k) {
    double *x = c->r + 3 * k;
    if (!model_numbers(r, s, points->items[k], "points", Q_LENGTH, 3, 3, x, NULL)) return false;
    if (k > 0 && !(distance(x, x - 3) > 0.0))
      return model_mistake(r, points->items[k], "points", "found the same point twice, expected different ones");
  }
  return true;
}

/* Straight, or, where the cable is longer than that, as a chain hangs. `length`: 0: that of the line. */
static bool read_ends(reader *r, const scope *s, const yoke_yaml_node *map, double length, cable_shape *c) {
  const yoke_yaml_node *from = yoke_yaml_find(map, "from"), *to = yoke_yaml_find(map, "to");
  const int             last = c->n - 1;
  double                a[3], b[3];
  if (from == NULL || to == NULL)
    return model_mistake(r, map, from == NULL ? "from" : "to",
                         "found nothing, expected the ends of the cable, from: [x, y, z] and to: [x, y, z], or "
                         "points: [[x, y, z], ...]");
  if (!model_numbers(r, s, from, "from", Q_LENGTH, 3, 3, a, NULL) ||
      !model_numbers(r, s, to, "to", Q_LENGTH, 3, 3, b, NULL))
    return false;
  const double span = distance(a, b);
  if (!(span > 0.0)) return model_mistake(r, to, "to", "found the point 'from', expected another one");
  if (length > span * (1.0 + 1e-9)) {
    c->hangs = yoke_rod_hanging(last, length, a, b, r->model->gravity, c->r);
    if (!c->hangs)
      return model_mistake(r, to, "to",
                           "found two ends %g m from each other for a length of %g m, expected gravity and ends that "
                           "are not above each other so that the cable can hang; or 'points'",
                           span, length);
  } else {
    for (int k = 0; k < last; ++k) {
      for (int i = 0; i < 3; ++i) c->r[3 * k + i] = a[i] + (b[i] - a[i]) * k / last;
    }
  }
  memcpy(c->r + 3 * last, b, sizeof b);
  return true;
}

/* `from` and `to`, or `points`, one for each node. */
static bool read_shape(reader *r, const scope *s, const yoke_yaml_node *map, cable_shape *c) {
  const yoke_yaml_node *points = yoke_yaml_find(map, "points"), *given = yoke_yaml_find(map, "length");
  double                length = 0.0;
  if (points != NULL && (yoke_yaml_find(map, "from") != NULL || yoke_yaml_find(map, "to") != NULL))
    return model_mistake(r, points, "points", "found 'points' and 'from' or 'to', expected one or the other");
  if (given != NULL && !model_positive(r, s, given, "length", Q_LENGTH, &length)) return false;
  if (!(points != NULL ? read_points_of_nodes(r, s, points, c) : read_ends(r, s, map, length, c))) return false;
  for (int k = 0; k < c->n - 1; ++k) c->length += distance(c->r + 3 * k, c->r + 3 * k + 3);
  if (given != NULL) c->length = length;
  return true;
}

static bool read_gauss(reader *r, const scope *s, const yoke_yaml_node *map, yoke_cable *cable) {
  static const char *const keys[] = {"axial", "bending"};
  const yoke_yaml_node    *node;
  long                     axial = 5, bending = 3;
  if (!model_map(r, yoke_yaml_find(map, "gauss"), "gauss", &node)) return false;
  if (node != NULL) {
    const yoke_yaml_node *a = yoke_yaml_find(node, "axial"), *b = yoke_yaml_find(node, "bending");
    if (!model_check_keys(r, node, keys, MODEL_COUNT(keys))) return false;
    if (a != NULL && !model_integer(r, s, a, "axial", 1, YOKE_CABLE_MOST_POINTS, &axial)) return false;
    if (b != NULL && !model_integer(r, s, b, "bending", 1, YOKE_CABLE_MOST_POINTS, &bending)) return false;
  }
  cable->n_axial   = (int)axial;
  cable->n_bending = (int)bending;
  return true;
}

static bool read_cable_values(reader *r, const scope *s, const yoke_yaml_node *node, double length, yoke_cable *cable) {
  static const struct {
    const char *key;
    const char *what;
  } needed[] = {
      {"mass", "the mass of the cable [kg]"}, {"axial_stiffness", "E A [N]"}, {"bending_stiffness", "E I [N m^2]"}};
  const quantity        unit[3] = {Q_MASS, Q_FORCE, Q_ANY};
  double                value[3];
  const yoke_yaml_node *damping = yoke_yaml_find(node, "damping"), *axial = yoke_yaml_find(node, "axial_damping");
  for (int k = 0; k < 3; ++k) {
    const yoke_yaml_node *one = yoke_yaml_find(node, needed[k].key);
    if (one == NULL) return model_mistake(r, node, needed[k].key, "found nothing, expected %s", needed[k].what);
    if (!(k == 2 ? model_not_negative : model_positive)(r, s, one, needed[k].key, unit[k], &value[k])) return false;
  }
  if (damping != NULL && !model_not_negative(r, s, damping, "damping", Q_PER_TIME, &cable->damping)) return false;
  if (axial != NULL && !model_not_negative(r, s, axial, "axial_damping", Q_TIME, &cable->axial_damping)) return false;
  cable->element_length    = length / cable->n_elements;
  cable->mass_per_length   = value[0] / length;
  cable->axial_stiffness   = value[1];
  cable->bending_stiffness = value[2];
  return read_gauss(r, s, node, cable);
}

/* node[k] and slope[k] in turn, which have equal shares of the mass, and that share times L^2 / 105. */
static bool add_nodes(reader *r, const yoke_yaml_node *key, const char *name, yoke_flexible *f, const cable_shape *c,
                      const double velocity[3]) {
  const yoke_cable *cable = f->cable;
  const double      L = cable->element_length, m = cable->mass_per_length * L;
  for (int k = 0; k < 2 * c->n; ++k) {
    const int  i        = k / 2;
    const bool is_slope = k % 2 == 1;
    yoke_body  body     = {.kind = YOKE_BODY_PARTICLE, .orientation = {1, 0, 0, 0}, .is_direction = is_slope};
    char       full[2 * NAME_SIZE];
    body.mass = is_slope ? m * L * L / 105.0 : m * 13.0 / 35.0;
    memcpy(body.position, (is_slope ? c->slope : c->r) + 3 * i, 3 * sizeof *c->r);
    if (!is_slope) memcpy(body.velocity, velocity, sizeof body.velocity);
    model_print(full, sizeof full, "%s.%s[%d]", name, is_slope ? "slope" : "node", i + 1);
    if (add_point(r, key, f, full, &body) < 0) return false;
  }
  for (int end = 0; end < 2; ++end) {
    yoke_frame frame = {.body = f->first_body + (end == 0 ? 0 : 2 * (c->n - 1)), .axes = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    char       full[2 * NAME_SIZE];
    model_print(full, sizeof full, "%s.%s", name, end == 0 ? "a" : "b");
    if (model_add_frame(r, key, full, &frame) < 0) return false;
  }
  return true;
}

static bool read_cable(reader *r, scope *s, const yoke_yaml_node *key, const yoke_yaml_node *node, const char *name) {
  static const char *const keys[] = {"kind",
                                     "count",
                                     "elements",
                                     "from",
                                     "to",
                                     "points",
                                     "length",
                                     "mass",
                                     "axial_stiffness",
                                     "bending_stiffness",
                                     "damping",
                                     "axial_damping",
                                     "gauss",
                                     "velocity"};
  yoke_model              *m      = r->model;
  long                     n_elements;
  double                   velocity[3] = {0.0, 0.0, 0.0};
  if (!model_check_keys(r, node, keys, MODEL_COUNT(keys))) return false;
  if (!model_integer(r, s, yoke_yaml_find(node, "elements"), "elements", 1, MOST_ELEMENTS, &n_elements)) return false;
  const yoke_yaml_node *moves = yoke_yaml_find(node, "velocity");
  if (moves != NULL && !model_numbers(r, s, moves, "velocity", Q_VELOCITY, 3, 3, velocity, NULL)) return false;
  yoke_arena  arena = {0};
  cable_shape c     = {.n = (int)n_elements + 1};
  c.r               = yoke_arena_take(&arena, 3 * (size_t)c.n, sizeof *c.r);
  c.slope           = yoke_arena_take(&arena, 3 * (size_t)c.n, sizeof *c.slope);
  yoke_cable *cable = yoke_arena_take(&m->arena, 1, sizeof *cable);
  bool        good  = (!arena.has_failed || model_out_of_memory(r)) && model_has_memory(r);
  if (good) {
    cable->n_elements = (int)n_elements;
    good              = read_shape(r, s, node, &c) && read_cable_values(r, s, node, c.length, cable);
  }
  yoke_flexible *f = good ? add_flexible(r, key, name) : NULL;
  if (f != NULL) {
    f->n     = 6 * c.n;
    f->cable = cable;
    set_slopes(&c, cable->element_length);
    good = add_nodes(r, key, name, f, &c, velocity);
  }
  yoke_arena_free(&arena);
  return good && f != NULL;
}

bool model_read_flexible(reader *r, scope *s, const yoke_yaml_node *key, const yoke_yaml_node *node, int kind,
                         const char *name) {
  return kind == 0 ? read_linear(r, s, key, node, name) : read_cable(r, s, key, node, name);
}
