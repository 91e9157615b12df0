#include "io/method_choice.h"
#include <stdio.h>
#include <string.h>

void yoke_method_label(const yoke_method_choice *m, char *text, size_t size) {
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

yoke_run_options yoke_method_options(const yoke_run_options *run, const yoke_method_choice *method, const char *step,
                                     const char **sets, char text[64]) {
  yoke_run_options own = *run;
  for (int i = 0; i < run->n_sets; ++i) sets[i] = run->sets[i];
  if (method->index != NULL) {
    snprintf(text, 64, "cosimulation.couplings.index=%s", method->index);
    sets[own.n_sets++] = text;
  }
  own.sets = sets;
  own.out = own.csv = "";
  own.every         = NULL;
  own.n_print       = 0;
  own.monolithic    = false;
  if (step != NULL) own.step = step;
  if (method->scheme != NULL) own.scheme = method->scheme;
  if (method->formulation != NULL) own.formulation = method->formulation;
  if (method->decomposition != NULL) own.decomposition = method->decomposition;
  if (method->extension != NULL) own.extension = method->extension;
  if (method->order != NULL) own.order = method->order;
  return own;
}
