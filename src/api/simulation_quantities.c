/* Quantities of a simulation: names, handles, values. */
#include "api/simulation.h"

#include "base/given.h"
#include "base/memory.h"

/* Handles of names that are known, or of those that would be added next. */
typedef struct finding {
  int          n; /* to be added */
  yoke_output *outputs;
  char       **names;
} finding;

/* One name. Unknown ones are told and passed over, so that all of them are told. */
static yoke_status find_one(yoke_context *ctx, yoke_simulation *s, const char *name, finding *new, int *handle) {
  *handle = yoke_names_find(&s->names, name);
  if (*handle != YOKE_NAMES_NONE) return YOKE_OK;
  YOKE_TRY(yoke_plan_find_output(ctx, s->run.plan, name, &new->outputs[new->n]));
  char *copy = yoke_arena_text(&s->texts, name);
  YOKE_TRY(yoke_arena_check(&s->texts, ctx, "quantity '%s'", name));
  *handle            = yoke_reader_n(s->reader) + new->n;
  new->names[new->n] = copy;
  if (yoke_names_add(&s->names, copy, *handle) == YOKE_NAMES_NO_MEMORY)
    return yoke_out_of_memory(ctx, "quantity '%s'", name);
  ++new->n;
  return YOKE_OK;
}

static yoke_status find_all(yoke_context *ctx, yoke_simulation *s, int n, const char *const *names, finding *new,
                            int *handles) {
  yoke_status status = YOKE_OK;
  for (int i = 0; i < n && status != YOKE_E_MEMORY; ++i) {
    const yoke_status one = find_one(ctx, s, names[i], new, &handles[i]);
    if (one != YOKE_OK) status = one;
  }
  return status;
}

/* Names that were not added after all are forgotten: those with numbers that the reader does not have. */
static yoke_status forget_new(yoke_context *ctx, yoke_simulation *s) {
  yoke_names left = {0};
  for (size_t i = 0; i < s->names.capacity; ++i) {
    if (s->names.key[i] == NULL || s->names.value[i] >= yoke_reader_n(s->reader)) continue;
    if (yoke_names_add(&left, s->names.key[i], s->names.value[i]) != YOKE_NAMES_NO_MEMORY) continue;
    yoke_names_clear(&left);
    return yoke_out_of_memory(ctx, "the quantities");
  }
  yoke_names_clear(&s->names);
  s->names = left;
  return YOKE_OK;
}

yoke_status yoke_simulation_find(yoke_context *ctx, yoke_simulation *s, int n, const char *const *names, int *handles) {
  yoke_arena scratch = {0};
  finding new        = {0};
  YOKE_TRY(simulation_check_idle(ctx, s));
  YOKE_TRY(yoke_given_texts(ctx, n, names, "the name of a quantity"));
  new.outputs        = yoke_arena_take(&scratch, (size_t)n + 1, sizeof *new.outputs);
  new.names          = yoke_arena_take(&scratch, (size_t)n + 1, sizeof *new.names);
  yoke_status status = yoke_arena_check(&scratch, ctx, "%d quantities", n);
  if (status == YOKE_OK) {
    status = find_all(ctx, s, n, names, &new, handles);
    if (status == YOKE_OK && new.n > 0) status = yoke_reader_add(s->reader, new.n, new.outputs, new.names, ctx);
    if (status != YOKE_OK && forget_new(ctx, s) != YOKE_OK) status = YOKE_E_MEMORY;
  }
  yoke_arena_free(&scratch);
  return status;
}

yoke_status yoke_simulation_get(yoke_context *ctx, yoke_simulation *s, int n, const int *handles, double *values) {
  YOKE_TRY(simulation_check_idle(ctx, s));
  return yoke_reader_get(s->reader, n, handles, values, ctx);
}

typedef struct listing {
  bool (*visit)(void *user, const char *name, const char *unit);
  void *user;
} listing;

static bool list_one(void *user, const char *name, const char *unit, const yoke_output *output) {
  const listing *list = user;
  (void)output;
  return list->visit(list->user, name, unit);
}

void yoke_simulation_list(const yoke_simulation *s, bool (*visit)(void *user, const char *name, const char *unit),
                          void                  *user) {
  listing list = {visit, user};
  yoke_plan_visit_outputs(s->run.plan, list_one, &list);
}
