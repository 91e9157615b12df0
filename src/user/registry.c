#include "user/registry.h"

#include "base/hooks.h"
#include "base/memory.h"
#include "base/sized.h"
#include <stdlib.h>
#include <string.h>

typedef struct registry {
  int               n;
  size_t            capacity;
  yoke_user_entry **entries; /* [n] */
} registry;

/* ---- entries ---- */

yoke_user_entry *yoke_user_retain(yoke_user_entry *entry) {
  atomic_fetch_add(&entry->owners, 1);
  return entry;
}

void yoke_user_release(yoke_user_entry **entry) {
  yoke_user_entry *e = *entry;
  *entry             = NULL;
  if (e == NULL || atomic_fetch_sub(&e->owners, 1) > 1) return;
  user_library_release(&e->library);
  free(e);
}

/* ---- what a type must be ---- */

/* A function that a type or one of its abilities must have. */
typedef struct need {
  bool        is_there;
  const char *ability; /* NULL: the type itself */
  const char *function;
} need;

static yoke_status check_functions(yoke_context *ctx, const yoke_user_type *t) {
  const need needs[] = {
      {t->create != NULL, NULL, "create"},
      {t->start != NULL, NULL, "start"},
      {t->step != NULL, NULL, "step"},
      {t->output != NULL, NULL, "output"},
      {t->instant == NULL || t->instant->response != NULL, "instant", "response"},
      {t->response == NULL || t->response->response != NULL, "response", "response"},
      {t->energy == NULL || t->energy->values != NULL, "energy", "values"},
      {t->pack == NULL || t->pack->n_bytes != NULL, "pack", "n_bytes"},
      {t->pack == NULL || t->pack->pack != NULL, "pack", "pack"},
      {t->pack == NULL || t->pack->unpack != NULL, "pack", "unpack"},
      {t->inside == NULL || t->inside->output != NULL, "inside", "output"},
  };
  for (size_t i = 0; i < sizeof needs / sizeof *needs; ++i) {
    if (needs[i].is_there) continue;
    const char *ability = needs[i].ability;
    return yoke_fail(ctx, YOKE_E_USAGE, "type '%s': %s%s%sits function `%s` is missing", t->name,
                     ability != NULL ? "ability " : "", ability != NULL ? ability : "", ability != NULL ? ": " : "",
                     needs[i].function);
  }
  if (t->repeat != NULL && t->repeat->most_states < 0)
    return yoke_fail(ctx, YOKE_E_USAGE, "type '%s': ability repeat: most_states is %d, expected >= 0", t->name,
                     t->repeat->most_states);
  if (t->response != NULL && t->repeat == NULL)
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "type '%s': ability response needs ability repeat, because it gets the state before the step",
                     t->name);
  return YOKE_OK;
}

static yoke_status check_name(yoke_context *ctx, const yoke_user_type *type, const user_library *library) {
  if (type->name == NULL || type->name[0] == '\0')
    return yoke_fail(ctx, YOKE_E_USAGE, "a type without a name%s%s", library != NULL ? " in " : "",
                     library != NULL ? library->path : "");
  const yoke_user_entry *other = yoke_user_find(ctx, type->name);
  if (other == NULL) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_USAGE, "type '%s'%s%s is there already, from %s; add it once, or give it another name",
                   type->name, library != NULL ? " of " : "", library != NULL ? library->path : "",
                   other->library != NULL ? other->library->path : "the program");
}

/* Abilities become copies inside the entry. */
static yoke_status take_abilities(yoke_context *ctx, yoke_user_entry *e) {
#define TAKE(name)                                                                                                     \
  if (e->type.name != NULL) {                                                                                          \
    YOKE_TRY(yoke_sized_take(ctx, e->type.name, &e->name, sizeof e->name, "yoke_user_" #name));                        \
    e->type.name = &e->name;                                                                                           \
  }
  TAKE(repeat)
  TAKE(instant)
  TAKE(response)
  TAKE(events)
  TAKE(energy)
  TAKE(pack)
  TAKE(inside)
#undef TAKE
  return YOKE_OK;
}

static yoke_status entry_create(yoke_context *ctx, const yoke_user_type *type, user_library *library,
                                yoke_user_entry **out) {
  yoke_user_type own;
  if (type == NULL) return yoke_fail(ctx, YOKE_E_USAGE, "no type was given");
  YOKE_TRY(yoke_sized_take(ctx, type, &own, sizeof own, "yoke_user_type"));
  if (own.abi != YOKE_SUBSYSTEM_ABI)
    return yoke_fail(ctx, YOKE_E_UNSUPPORTED,
                     "type '%s' is made for ABI %d of subsystems, this library has %d; compile it with its headers",
                     own.name != NULL ? own.name : "", own.abi, YOKE_SUBSYSTEM_ABI);
  YOKE_TRY(check_name(ctx, &own, library));
  const char      *summary = own.summary != NULL ? own.summary : "";
  const size_t     n_name = strlen(own.name) + 1, n_summary = strlen(summary) + 1;
  yoke_user_entry *e = *out = yoke_allocate(1, sizeof *e + n_name + n_summary);
  if (e == NULL) return yoke_out_of_memory(ctx, "type '%s'", own.name);
  memcpy(e->texts, own.name, n_name);
  memcpy(e->texts + n_name, summary, n_summary);
  own.name    = e->texts;
  own.summary = e->texts + n_name;
  e->type     = own;
  e->library  = user_library_retain(library);
  atomic_init(&e->owners, 1);
  YOKE_TRY(take_abilities(ctx, e));
  return check_functions(ctx, &e->type);
}

/* ---- the list ---- */

static void registry_cut(registry *r, int n) {
  while (r->n > n) yoke_user_release(&r->entries[--r->n]);
}

static void registry_destroy(void *data) {
  registry *r = data;
  registry_cut(r, 0);
  free(r->entries);
  free(r);
}

/* That of the context, made where there is none. NULL: out of memory. */
static registry *registry_of(yoke_context *ctx) {
  registry *r = yoke_context_attached(ctx);
  if (r != NULL) return r;
  r = calloc(1, sizeof *r);
  if (r != NULL) yoke_context_attach(ctx, &(yoke_attachment){.data = r, .destroy = registry_destroy});
  return r;
}

yoke_status user_registry_add(yoke_context *ctx, const yoke_user_type *type, user_library *library) {
  yoke_user_entry *entry = NULL;
  registry        *r     = registry_of(ctx);
  yoke_status      status =
      r != NULL ? entry_create(ctx, type, library, &entry) : yoke_out_of_memory(ctx, "the types that a context knows");
  if (status == YOKE_OK && !yoke_grow(&r->entries, &r->capacity, (size_t)r->n + 1, sizeof *r->entries))
    status = yoke_out_of_memory(ctx, "type '%s'", entry->type.name);
  if (status == YOKE_OK)
    r->entries[r->n++] = entry;
  else
    yoke_user_release(&entry);
  return status;
}

void user_registry_cut(yoke_context *ctx, int n) {
  registry *r = yoke_context_attached(ctx);
  if (r != NULL) registry_cut(r, n);
}

static const yoke_user_type *type_at(const yoke_context *ctx, int i) {
  const registry *r = yoke_context_attached(ctx);
  return r != NULL && i >= 0 && i < r->n ? &r->entries[i]->type : NULL;
}

yoke_user_entry *yoke_user_find(const yoke_context *ctx, const char *type) {
  const registry *r = yoke_context_attached(ctx);
  for (int i = 0; r != NULL && i < r->n; ++i) {
    if (strcmp(r->entries[i]->type.name, type) == 0) return r->entries[i];
  }
  return NULL;
}

/* ---- public calls ---- */

yoke_status yoke_context_add_type(yoke_context *ctx, const yoke_user_type *type) {
  return ctx != NULL ? user_registry_add(ctx, type, NULL) : YOKE_E_USAGE;
}

int yoke_context_n_types(const yoke_context *ctx) {
  const registry *r = yoke_context_attached(ctx);
  return r != NULL ? r->n : 0;
}

const char *yoke_context_type_name(const yoke_context *ctx, int i) {
  const yoke_user_type *type = type_at(ctx, i);
  return type != NULL ? type->name : NULL;
}

const char *yoke_context_type_summary(const yoke_context *ctx, int i) {
  const yoke_user_type *type = type_at(ctx, i);
  return type != NULL ? type->summary : NULL;
}
