#include "master/reader.h"

#include "master/system_internal.h"
#include <math.h>
#include <stdlib.h>

/* Outputs that are asked for together. */
typedef struct reader_group {
  int            n;
  uint64_t       seen_at; /* stamp of the values */
  size_t         capacity[4];
  double        *values;
  int64_t       *handles; /* of one subsystem; else: */
  yoke_output   *list;
  char         **names;
  bool           has_new; /* outputs that the observer does not know */
  yoke_observer *observer;
  yoke_arena     arena; /* of its list and its room */
  double       **room;
} reader_group;

typedef struct reader_entry {
  int   group, place;
  char *name;
} reader_entry;

struct yoke_reader {
  yoke_system  *system;
  uint64_t      stamp;  /* of the present time, from 1 */
  uint64_t      n_sets; /* of the system's inputs that it knows */
  int           n_parts;
  reader_group *groups; /* [n_parts] subsystems, then the wires and what is made of several owners, then the energies */
  int           n;
  size_t        capacity;
  reader_entry *entries;
};

yoke_status yoke_reader_create(yoke_context *ctx, yoke_system *system, yoke_reader **out) {
  *out           = NULL;
  yoke_reader *r = yoke_allocate(1, sizeof *r);
  if (r == NULL) return yoke_out_of_memory(ctx, "the quantities");
  r->system  = system;
  r->stamp   = 1;
  r->n_parts = system->plan->n_parts;
  r->groups  = yoke_allocate((size_t)r->n_parts + 2, sizeof *r->groups);
  if (r->groups == NULL) {
    yoke_reader_destroy(&r);
    return yoke_out_of_memory(ctx, "the quantities");
  }
  *out = r;
  return YOKE_OK;
}

void yoke_reader_destroy(yoke_reader **reader) {
  yoke_reader *r = *reader;
  if (r == NULL) return;
  for (int i = 0; r->groups != NULL && i < r->n_parts + 2; ++i) {
    reader_group *g = &r->groups[i];
    free(g->values);
    free(g->handles);
    free(g->list);
    free(g->names);
    yoke_observer_destroy(&g->observer);
    yoke_arena_free(&g->arena);
  }
  free(r->groups);
  free(r->entries);
  free(r);
  *reader = NULL;
}

int yoke_reader_n(const yoke_reader *r) {
  return r->n;
}

void yoke_reader_forget(yoke_reader *r) {
  ++r->stamp;
}

/* The owners are asked. */
static yoke_status show(yoke_reader *r, int group) {
  reader_group     *g      = &r->groups[group];
  const double      t      = yoke_system_t(r->system);
  const yoke_status status = group < r->n_parts
                                 ? yoke_system_observe(r->system, group, g->n, g->handles, g->values)
                                 : system_observer_show(r->system, g->observer, g->room, t, g->values, NULL);
  if (status != YOKE_OK && status != YOKE_NON_FINITE) return status;
  g->seen_at = r->stamp;
  return YOKE_OK;
}

/* ---- adding ---- */

static int group_of(const yoke_reader *r, const yoke_output *output) {
  if (output->source == YOKE_OUTPUT_PART) return output->index;
  return r->n_parts + (output->source == YOKE_OUTPUT_TOTAL ? 1 : 0);
}

static bool append(yoke_reader *r, const yoke_output *output, char *name) {
  const int     group   = group_of(r, output);
  reader_group *g       = &r->groups[group];
  const size_t  n       = (size_t)g->n + 1;
  const bool    is_part = group < r->n_parts;
  if (!yoke_grow(&r->entries, &r->capacity, (size_t)r->n + 1, sizeof *r->entries) ||
      !yoke_grow(&g->values, &g->capacity[0], n, sizeof *g->values))
    return false;
  if (is_part) {
    if (!yoke_grow(&g->handles, &g->capacity[1], n, sizeof *g->handles)) return false;
    g->handles[g->n] = output->handle;
  } else {
    if (!yoke_grow(&g->list, &g->capacity[2], n, sizeof *g->list) ||
        !yoke_grow(&g->names, &g->capacity[3], n, sizeof *g->names))
      return false;
    g->list[g->n]  = *output;
    g->names[g->n] = name;
  }
  r->entries[r->n++] = (reader_entry){group, g->n++, name};
  g->seen_at         = 0;
  g->has_new         = !is_part;
  return true;
}

/* An observer keeps its list, so a longer list has a new one, made of a copy. */
static yoke_status observe(yoke_reader *r, reader_group *g, yoke_context *ctx) {
  yoke_observer     *observer = NULL;
  yoke_arena         arena    = {0};
  double           **room     = NULL;
  const yoke_output *list     = yoke_arena_copy(&arena, g->list, (size_t)g->n, sizeof *list);
  yoke_status        status   = yoke_arena_check(&arena, ctx, "%d quantities", g->n);
  if (status == YOKE_OK) status = system_observer_create(r->system, g->n, list, g->names, false, &observer, ctx);
  if (status == YOKE_OK) {
    room   = system_observer_room(r->system, observer, &arena);
    status = yoke_arena_check(&arena, ctx, "%d quantities", g->n);
  }
  if (status != YOKE_OK) {
    yoke_observer_destroy(&observer);
    yoke_arena_free(&arena);
    return status;
  }
  yoke_observer_destroy(&g->observer);
  yoke_arena_free(&g->arena);
  g->observer = observer;
  g->arena    = arena;
  g->room     = room;
  g->has_new  = false;
  return YOKE_OK;
}

static yoke_status check_part(const yoke_reader *r, const yoke_output *output, const char *name, yoke_context *ctx) {
  const yoke_subsystem *s = output->source == YOKE_OUTPUT_PART ? r->system->subsystems[output->index] : NULL;
  if (s == NULL || s->ops->observe != NULL) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_MODEL, "output '%s' does not exist: subsystem '%s' cannot be observed", name, s->name);
}

static yoke_status add(yoke_reader *r, int n, const yoke_output *list, char *const *names, yoke_context *ctx) {
  for (int i = 0; i < n; ++i) {
    YOKE_TRY(check_part(r, &list[i], names[i], ctx));
    if (!append(r, &list[i], names[i])) return yoke_out_of_memory(ctx, "%d quantities", r->n + 1);
  }
  for (int i = r->n_parts; i < r->n_parts + 2; ++i) {
    if (r->groups[i].has_new) YOKE_TRY(observe(r, &r->groups[i], ctx));
  }
  return YOKE_OK;
}

yoke_status yoke_reader_add(yoke_reader *r, int n, const yoke_output *list, char *const *names, yoke_context *ctx) {
  const int         before = r->n;
  const yoke_status status = add(r, n, list, names, ctx);
  for (int i = before; status == YOKE_OK && i < r->n; ++i) { /* a first look makes the room that owners need */
    const int group = r->entries[i].group;
    if (r->groups[group].seen_at != r->stamp) (void)show(r, group);
  }
  if (status == YOKE_OK) return YOKE_OK;
  while (r->n > before) --r->groups[r->entries[--r->n].group].n;
  /* observers know the outputs that are left, or more, which nobody reads */
  for (int i = r->n_parts; i < r->n_parts + 2; ++i) r->groups[i].has_new = false;
  return status;
}

/* ---- reading ---- */

static yoke_status fail(const yoke_reader *r, const reader_entry *entry, yoke_status status, yoke_context *ctx) {
  const double t = yoke_system_t(r->system);
  if (status == YOKE_E_MEMORY) return yoke_out_of_memory(ctx, "'%s' at t = %.9g s", entry->name, t);
  if (status == YOKE_NON_FINITE)
    return yoke_fail(ctx, YOKE_E_UNSTABLE, "'%s' is not finite at t = %.9g s", entry->name, t);
  return yoke_fail(ctx, YOKE_E_UNSTABLE, "'%s' cannot be evaluated at t = %.9g s: %s", entry->name, t,
                   yoke_status_text(status));
}

/* Other inputs show other values at the same time. */
static void look_for_sets(yoke_reader *r) {
  if (r->n_sets == r->system->n_sets) return;
  r->n_sets = r->system->n_sets;
  ++r->stamp;
}

yoke_status yoke_reader_get(yoke_reader *r, int n, const int *numbers, double *values, yoke_context *ctx) {
  const reader_entry *first = NULL; /* that is not finite */
  look_for_sets(r);
  for (int i = 0; i < n; ++i) {
    const int number = numbers[i];
    if (number < 0 || number >= r->n)
      return yoke_fail(ctx, YOKE_E_USAGE, "there is no quantity number %d: %d were found, counted from 0", number,
                       r->n);
    const reader_entry *entry = &r->entries[number];
    reader_group       *g     = &r->groups[entry->group];
    if (g->seen_at != r->stamp) {
      const yoke_status status = show(r, entry->group);
      if (status != YOKE_OK) return fail(r, entry, status, ctx);
    }
    values[i] = g->values[entry->place];
    if (!isfinite(values[i]) && first == NULL) first = entry;
  }
  return first == NULL ? YOKE_OK : fail(r, first, YOKE_NON_FINITE, ctx);
}
