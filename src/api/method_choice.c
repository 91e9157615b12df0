#include "api/method_choice.h"
#include "base/memory.h"
#include "base/sized.h"
#include <stdio.h>
#include <string.h>

static void put_label(const yoke_method_choice *m, char *text, size_t size) {
  const struct {
    const char *before, *word, *after;
  } parts[]   = {{"", m->scheme, ""},        {"", m->formulation, ""},         {"index ", m->index, ""},
                 {"", m->decomposition, ""}, {"extension ", m->extension, ""}, {"order ", m->order, ""}};
  size_t used = 0;
  text[0]     = '\0';
  for (size_t i = 0; i < sizeof parts / sizeof *parts && used < size; ++i) {
    if (parts[i].word == NULL) continue;
    used += (size_t)snprintf(text + used, size - used, "%s%s%s%s", used > 0 ? ", " : "", parts[i].before, parts[i].word,
                             parts[i].after);
  }
  if (used == 0) snprintf(text, size, "as the model says");
}

yoke_status yoke_method_label(const yoke_method_choice *method, char *text, size_t size) {
  yoke_method_choice own;
  if (size > 0) text[0] = '\0';
  YOKE_TRY(yoke_sized_take(NULL, method, &own, sizeof own, "yoke_method_choice"));
  if (size > 0) put_label(&own, text, size);
  return YOKE_OK;
}

yoke_status yoke_methods_take(yoke_context *ctx, int n, const yoke_method_choice *given, yoke_method_choice **out) {
  *out = yoke_allocate(n > 0 ? (size_t)n : 1, sizeof **out);
  if (*out == NULL) return yoke_out_of_memory(ctx, "%d methods", n);
  (*out)->size = sizeof **out;
  for (int i = 0; i < n; ++i) {
    const void *entry = (const char *)given + (size_t)i * given->size; /* as long as the caller knows it */
    YOKE_TRY(yoke_sized_take(ctx, entry, &(*out)[i], sizeof **out, "yoke_method_choice"));
  }
  return YOKE_OK;
}

yoke_run_options yoke_method_options(const yoke_run_options *run, const yoke_method_choice *method, const char *step,
                                     yoke_choice *choices) {
  const yoke_choice more[YOKE_METHOD_CHOICES] = {{"step", step},
                                                 {"scheme", method->scheme},
                                                 {"formulation", method->formulation},
                                                 {"decomposition", method->decomposition},
                                                 {"extension", method->extension},
                                                 {"cosimulation.couplings.index", method->index},
                                                 {"order", method->order}};
  yoke_run_options  own                       = *run;
  own.choices                                 = choices;
  own.out = own.csv = "";
  own.n_print       = 0;
  own.monolithic    = false;
  for (int i = 0; i < run->n_choices; ++i) choices[i] = run->choices[i];
  for (int i = 0; i < YOKE_METHOD_CHOICES; ++i) {
    if (more[i].value != NULL) choices[own.n_choices++] = more[i];
  }
  return own;
}
