/* Split of the model file: which body belongs to which subsystem. */
#include "io/model_reader.h"
#include "base/memory.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNASSIGNED = -1, OF_PORT = -2 /* it stands in for a port of a subsystem of its own */ };

typedef struct assignment {
  int   *part_of; /* [n_bodies] part of each whole body */
  int   *masses;  /* [n_bodies] chains: masses in pieces so far */
  size_t capacity_parts;
  size_t capacity_bodies; /* of the part that is being read */
} assignment;

static yoke_split_part *add_part(reader *r, const yoke_yaml_node *at, assignment *a, const char *name) {
  yoke_model *m = r->model;
  for (int k = 0; k < m->n_parts; ++k) {
    if (strcmp(m->parts[k].name, name) != 0) continue;
    model_mistake(r, at, NULL, "found a second subsystem '%s', expected different names", name);
    return NULL;
  }
  if (!model_grow(r, &m->parts, m->n_parts, &a->capacity_parts, sizeof *m->parts)) return NULL;
  yoke_split_part *part = &m->parts[m->n_parts];
  *part                 = (yoke_split_part){.name = yoke_arena_text(&m->arena, name), .chain = -1};
  if (!model_has_memory(r)) return NULL;
  a->capacity_bodies = 0;
  ++m->n_parts;
  return part;
}

/* A whole body into the part that is being read (the last one). */
static bool assign_body(reader *r, const yoke_yaml_node *at, assignment *a, int body) {
  yoke_model      *m    = r->model;
  yoke_split_part *part = &m->parts[m->n_parts - 1];
  if (a->part_of[body] == OF_PORT) {
    return model_mistake(r, at, part->name, "found '%s', a port of subsystem '%s', expected bodies of the model",
                         m->bodies[body].name, model_port_owner(m, body)->name);
  }
  if (a->part_of[body] != UNASSIGNED || a->masses[body] > 0) {
    const int other = a->part_of[body];
    return model_mistake(r, at, part->name, "found body '%s', which is already in '%s', expected each body once",
                         m->bodies[body].name, other == UNASSIGNED ? "pieces" : m->parts[other].name);
  }
  a->part_of[body] = m->n_parts - 1;
  if (!model_grow(r, &part->bodies, part->n_bodies, &a->capacity_bodies, sizeof *part->bodies)) return false;
  part->bodies[part->n_bodies++] = body;
  return true;
}

static bool assign_rod(reader *r, const yoke_yaml_node *at, assignment *a, const yoke_rod *rod) {
  for (int k = 0; k < rod->n_bodies; ++k) {
    if (!assign_body(r, at, a, rod->first_body + k)) return false;
  }
  return true;
}

static bool assign_piece(reader *r, const yoke_yaml_node *at, assignment *a, int body, long first, long last) {
  yoke_model      *m    = r->model;
  yoke_split_part *part = &m->parts[m->n_parts - 1];
  const int        n    = m->bodies[body].chain == NULL ? 0 : m->bodies[body].chain->n;
  if (first < 1 || last < first || last > n) {
    return model_mistake(r, at, part->name, "found masses %ld to %ld of '%s', expected numbers from 1 to %d", first,
                         last, m->bodies[body].name, n);
  }
  if (part->n_masses > 0)
    return model_mistake(r, at, part->name, "found a second piece of a chain, expected at most one per subsystem");
  for (int k = 0; k < m->n_parts - 1; ++k) {
    const yoke_split_part *other = &m->parts[k];
    if (other->chain != body || other->n_masses == 0) continue;
    if (first - 1 < other->first_mass + other->n_masses && other->first_mass < last) {
      return model_mistake(r, at, part->name, "found masses of '%s' that are already in '%s', expected each mass once",
                           m->bodies[body].name, other->name);
    }
  }
  if (a->part_of[body] != UNASSIGNED)
    return model_mistake(r, at, part->name, "found a piece of '%s', which is already in a subsystem as a whole",
                         m->bodies[body].name);
  part->chain      = body;
  part->first_mass = (int)first - 1;
  part->n_masses   = (int)(last - first + 1);
  a->masses[body] += part->n_masses;
  return true;
}

/* "rod[2..5]" : the bodies rod[2] ... rod[5], or masses 2 to 5 of the chain rod. */
static bool assign_range(reader *r, const scope *s, const yoke_yaml_node *at, assignment *a, const char *text,
                         const char *bracket, const char *dots) {
  const char *close = strrchr(text, ']');
  const char *part  = r->model->parts[r->model->n_parts - 1].name;
  long        first, last;
  if (close == NULL || close[1] != '\0')
    return model_mistake(r, at, part, "found '%.60s', expected a range as in rod[1..50]", text);
  if (!model_index_text(r, s, at, part, bracket + 1, (size_t)(dots - bracket) - 1, &first)) return false;
  if (!model_index_text(r, s, at, part, dots + 2, (size_t)(close - dots) - 2, &last)) return false;
  char base[NAME_SIZE];
  model_print(base, sizeof base, "%.*s", (int)(bracket - text), text);
  const int chain = model_find(s, &r->body_names, base);
  if (chain >= 0 && r->model->bodies[chain].kind == YOKE_BODY_CHAIN) return assign_piece(r, at, a, chain, first, last);
  for (long i = first; i <= last; ++i) {
    char name[NAME_SIZE + 24];
    model_print(name, sizeof name, "%s[%ld]", base, i);
    const int body = model_find(s, &r->body_names, name);
    if (body < 0) return model_mistake(r, at, part, "found '%s', expected the name of a body", name);
    if (!assign_body(r, at, a, body)) return false;
  }
  return first <= last || model_mistake(r, at, part, "found an empty range '%.60s'", text);
}

/* Names with * and ?, and the name of counted bodies without its index, stand for all that match. */
static bool assign_pattern(reader *r, const yoke_yaml_node *at, assignment *a, const char *name) {
  const yoke_model *m = r->model;
  char              pattern[NAME_SIZE + 8];
  int               n = 0;
  model_print(pattern, sizeof pattern, strpbrk(name, "*?") != NULL ? "%s" : "%s[*]", name);
  for (int k = 0; k < m->n_bodies; ++k) {
    if (a->part_of[k] == OF_PORT || !yoke_text_matches(pattern, m->bodies[k].name)) continue;
    if (!assign_body(r, at, a, k)) return false;
    ++n;
  }
  if (n > 0) return true;
  const char *nearest = yoke_names_nearest(&r->body_names, name);
  return model_mistake(r, at, m->parts[m->n_parts - 1].name, "found '%.60s', expected the name of a body%s%s%s", name,
                       nearest == NULL ? "" : "; did you mean '", nearest == NULL ? "" : nearest,
                       nearest == NULL ? "" : "'?");
}

static bool assign_flexible(reader *r, const yoke_yaml_node *at, assignment *a, const yoke_flexible *flexible) {
  bool good = true;
  for (int k = 0; good && k < flexible->n_bodies; ++k) good = assign_body(r, at, a, flexible->first_body + k);
  return good;
}

static bool assign_entry(reader *r, const scope *s, const yoke_yaml_node *node, assignment *a) {
  if (yoke_yaml_is_nothing(node) || node->kind != YOKE_YAML_SCALAR)
    return model_expected(r, node, NULL, "the name of a body or a range rod[1..50]");
  const char *bracket = strrchr(node->text, '['), *dots = bracket == NULL ? NULL : strstr(bracket, "..");
  char        name[NAME_SIZE];
  if (dots != NULL) return assign_range(r, s, node, a, node->text, bracket, dots);
  if (!model_fold_name(r, s, node, NULL, node->text, name, sizeof name)) return false;
  const int body = model_find(s, &r->body_names, name), rod = model_find(s, &r->rod_names, name),
            flexible = model_find_flexible(r, s, name);
  if (rod >= 0) return assign_rod(r, node, a, &r->model->rods[rod]);
  if (flexible >= 0) return assign_flexible(r, node, a, &r->model->flexibles[flexible]);
  return body >= 0 ? assign_body(r, node, a, body) : assign_pattern(r, node, a, name);
}

/* `c: 10`: chain c in ten parts as equal as possible, named c[1] ... c[10]; part k ends at mass floor(k n / 10). */
static bool split_chain(reader *r, const scope *s, const yoke_yaml_node *key, const yoke_yaml_node *node, assignment *a,
                        int body) {
  const int n = r->model->bodies[body].chain == NULL ? 0 : r->model->bodies[body].chain->n;
  long      n_parts;
  if (!model_integer(r, s, node, key->text, 1, n, &n_parts)) return false;
  for (long k = 1; k <= n_parts; ++k) {
    char name[NAME_SIZE + 24];
    model_print(name, sizeof name, "%s[%ld]", key->text, k);
    yoke_split_part *part = add_part(r, key, a, name);
    if (part == NULL) return false;
    const long first = (k - 1) * n / n_parts, last = k * n / n_parts;
    part->chain      = body;
    part->first_mass = (int)first;
    part->n_masses   = (int)(last - first);
  }
  a->masses[body] += n;
  return true;
}

static bool read_part(reader *r, const scope *s, const yoke_yaml_node *key, const yoke_yaml_node *node, assignment *a) {
  const int body = model_find(s, &r->body_names, key->text);
  if (body >= 0 && r->model->bodies[body].kind == YOKE_BODY_CHAIN && node->kind == YOKE_YAML_SCALAR &&
      model_find(s, &r->body_names, node->text) < 0) {
    return split_chain(r, s, key, node, a, body);
  }
  if (!model_check_name(r, key, false) || add_part(r, key, a, key->text) == NULL) return false;
  if (node->kind == YOKE_YAML_SCALAR) return assign_entry(r, s, node, a);
  if (node->kind != YOKE_YAML_LIST || node->n == 0) return model_expected(r, node, key->text, "a list of bodies");
  bool good = true;
  for (int k = 0; k < node->n; ++k) good = assign_entry(r, s, node->items[k], a) && good;
  return good;
}

/* Every body, every mass of a chain that is cut, is in one subsystem. */
static void check_complete(reader *r, const yoke_yaml_node *map, const assignment *a) {
  const yoke_model *m = r->model;
  int               n = 0, first = -1;
  for (int k = 0; k < m->n_bodies; ++k) {
    const int needed = m->bodies[k].chain == NULL ? 0 : m->bodies[k].chain->n;
    if (a->part_of[k] != UNASSIGNED || (a->masses[k] > 0 && a->masses[k] == needed)) continue;
    if (first < 0) first = k;
    ++n;
  }
  if (n == 1)
    model_mistake(r, map, NULL, "found body '%s' in no subsystem (or only a piece of it), expected every body in one",
                  m->bodies[first].name);
  if (n > 1)
    model_mistake(r, map, NULL, "found body '%s' and %d others in no subsystem, expected every body in one",
                  m->bodies[first].name, n - 1);
}

static int compare_bodies(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* A flexible body is in one subsystem, its points side by side. */
static void check_flexibles(reader *r, const yoke_yaml_node *map, const assignment *a) {
  yoke_model *m = r->model;
  for (int i = 0; i < m->n_flexibles; ++i) {
    const yoke_flexible *f    = &m->flexibles[i];
    const int            part = a->part_of[f->first_body];
    for (int k = 1; k < f->n_bodies; ++k) {
      const int other = a->part_of[f->first_body + k];
      if (other == part) continue;
      model_mistake(r, map, NULL,
                    "found points of '%s' in the subsystems '%s' and '%s', expected it as a whole: list '%s'", f->name,
                    m->parts[part].name, m->parts[other].name, f->name);
      return;
    }
    qsort(m->parts[part].bodies, (size_t)m->parts[part].n_bodies, sizeof *m->parts[part].bodies, compare_bodies);
  }
}

/* A part of its own for every subsystem that is no part of the mechanics, with the bodies that stand in for its ports. */
static bool add_foreign_parts(reader *r, assignment *a) {
  yoke_model *m = r->model;
  for (int i = 0; i < m->n_foreigns; ++i) {
    yoke_foreign    *f    = &m->foreigns[i];
    yoke_split_part *part = add_part(r, yoke_yaml_find(r->root, "subsystems"), a, f->name);
    if (part == NULL) return false;
    f->part          = m->n_parts - 1;
    part->is_foreign = true;
    part->foreign    = i;
    for (int k = 0; k < f->n_ports; ++k) {
      if (!model_grow(r, &part->bodies, part->n_bodies, &a->capacity_bodies, sizeof *part->bodies)) return false;
      part->bodies[part->n_bodies++] = f->ports[k].body;
    }
  }
  return true;
}

/* Beside subsystems of their own all bodies are one part. */
static bool add_whole(reader *r, assignment *a) {
  const yoke_model *m      = r->model;
  bool              is_any = false, good = true;
  for (int k = 0; k < m->n_bodies; ++k) is_any = is_any || a->part_of[k] == UNASSIGNED;
  if (!is_any) return true;
  if (add_part(r, r->root, a, "model") == NULL) return false;
  for (int k = 0; good && k < m->n_bodies; ++k) {
    if (a->part_of[k] == UNASSIGNED) good = assign_body(r, r->root, a, k);
  }
  return good;
}

static void read_split(reader *r) {
  const yoke_yaml_node *map;
  const yoke_model     *m = r->model;
  model_enter(r, "", NULL);
  if (!model_map(r, yoke_yaml_find(r->root, "split"), "split", &map) || (map == NULL && m->n_foreigns == 0)) return;
  const size_t n    = (size_t)m->n_bodies + 1;
  assignment   a    = {.part_of = yoke_arena_take(&r->scratch, n, sizeof(int)),
                       .masses  = yoke_arena_take(&r->scratch, n, sizeof(int))};
  bool         good = !r->scratch.has_failed || model_out_of_memory(r);
  if (!good) return;
  for (size_t k = 0; k < n; ++k) a.part_of[k] = UNASSIGNED;
  for (int i = 0; i < m->n_foreigns; ++i) {
    for (int k = 0; k < m->foreigns[i].n_ports; ++k) a.part_of[m->foreigns[i].ports[k].body] = OF_PORT;
  }
  if (map != NULL) {
    model_enter(r, "split", NULL);
    for (int k = 0; k < map->n; ++k) good = read_part(r, r->scopes[0], map->keys[k], map->items[k], &a) && good;
    if (good) check_complete(r, map, &a);
    if (r->n_errors == 0 && r->n_forgiven == 0) check_flexibles(r, map, &a);
  } else {
    good = add_whole(r, &a);
  }
  model_enter(r, "subsystems", NULL);
  if (good) add_foreign_parts(r, &a);
  model_enter(r, "", NULL);
}

/* The model has no split, nor has its text, from which it may be read again. */
static void leave_out(reader *r) {
  for (int k = 0; k < r->model->n_parts; ++k) free(r->model->parts[k].bodies);
  r->model->n_parts = 0;
  yoke_yaml_remove(r->root, "split");
  char *text = yoke_yaml_write(r->root);
  if (text == NULL) {
    model_out_of_memory(r);
    return;
  }
  free(r->model->text);
  r->model->text = text;
}

void model_read_split(reader *r) {
  r->forgives = r->is_whole && r->model->n_foreigns == 0; /* with subsystems of its own it does not run as a whole */
  read_split(r);
  r->forgives = false;
  if (r->n_forgiven > 0) leave_out(r);
}
