/* Plugin: a shared library that brings types. */
#include "user/library_file.h"
#include "user/registry.h"

#include "base/memory.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

user_library *user_library_retain(user_library *library) {
  if (library != NULL) atomic_fetch_add(&library->owners, 1);
  return library;
}

void user_library_release(user_library **library) {
  user_library *l = *library;
  *library        = NULL;
  if (l == NULL || atomic_fetch_sub(&l->owners, 1) > 1) return;
  if (l->handle != NULL) (void)dlclose(l->handle);
  free(l);
}

/* What the loader says last, without the path that it begins with. */
static const char *reason(const char *path) {
  const char  *text = dlerror();
  const size_t n    = strlen(path);
  if (text == NULL) return "the loader does not say why";
  return strncmp(text, path, n) == 0 && text[n] == ':' ? text + n + 1 + (text[n + 1] == ' ') : text;
}

/* A name without a slash would be looked for in the folders of the system. */
static yoke_status library_open(yoke_context *ctx, const char *path, user_library **out) {
  const char   *folder = strchr(path, '/') != NULL ? "" : "./";
  const size_t  n      = strlen(folder) + strlen(path) + 1;
  user_library *l = *out = yoke_allocate(1, sizeof *l + n);
  if (l == NULL) return yoke_out_of_memory(ctx, "plugin '%s'", path);
  atomic_init(&l->owners, 1);
  snprintf(l->path, n, "%s%s", folder, path);
  const char *why = user_library_file_check(l->path);
  if (why == NULL) {
    l->handle = dlopen(l->path, RTLD_NOW | RTLD_LOCAL);
    if (l->handle != NULL) return YOKE_OK;
    why = reason(l->path);
  }
  return yoke_fail(ctx, YOKE_E_IO,
                   "plugin '%s' cannot be loaded: %s; give the path of a shared library for this machine", path, why);
}

static yoke_status types_of(yoke_context *ctx, const user_library *library, const char *path,
                            const yoke_user_type *const **out) {
  const yoke_user_type *const *(*types)(int abi) = NULL;
  void *symbol                                   = dlsym(library->handle, "yoke_plugin_types");
  if (symbol == NULL)
    return yoke_fail(ctx, YOKE_E_UNSUPPORTED,
                     "plugin '%s' does not show the function yoke_plugin_types (yoke/subsystem.h): no plugin, or its "
                     "names are hidden",
                     path);
  memcpy(&types, &symbol, sizeof types); /* C knows no other way from data to a function */
  *out = types(YOKE_SUBSYSTEM_ABI);
  if (*out != NULL) return YOKE_OK;
  return yoke_fail(
      ctx, YOKE_E_UNSUPPORTED,
      "plugin '%s' is not made for ABI %d of subsystems, which this library has; compile it with its headers", path,
      YOKE_SUBSYSTEM_ABI);
}

yoke_status yoke_context_load_plugin(yoke_context *ctx, const char *path) {
  const int                    n_before = yoke_context_n_types(ctx);
  user_library                *library  = NULL;
  const yoke_user_type *const *types    = NULL;
  if (ctx == NULL) return YOKE_E_USAGE;
  if (path == NULL || path[0] == '\0') return yoke_fail(ctx, YOKE_E_USAGE, "a plugin without a file name");
  yoke_status status = library_open(ctx, path, &library);
  if (status == YOKE_OK) status = types_of(ctx, library, path, &types);
  if (status == YOKE_OK && types[0] == NULL) yoke_warn(ctx, "plugin '%s' brings no type", path);
  for (; status == YOKE_OK && *types != NULL; ++types) status = user_registry_add(ctx, *types, library);
  if (status != YOKE_OK) user_registry_cut(ctx, n_before);
  user_library_release(&library);
  return status;
}
