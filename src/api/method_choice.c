#include "api/method_choice.h"
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
