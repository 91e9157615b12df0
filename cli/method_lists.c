#include "method_lists.h"
#include <stdlib.h>
#include <string.h>

int words_split(const command_def *command, const char *option, const char *text, word_list *out) {
  *out = (word_list){0};
  if (!text) return PARSE_DONE;
  size_t n = 1;
  for (const char *c = text; *c; ++c) n += *c == ',';
  out->words   = calloc(n, sizeof *out->words);
  out->storage = malloc(strlen(text) + 1);
  if (!out->words || !out->storage) {
    fputs("error: out of memory\n", stderr);
    return EXIT_CODE_IO;
  }
  memcpy(out->storage, text, strlen(text) + 1);
  char *at = out->storage;
  for (size_t i = 0; i < n; ++i) {
    char *next = at + strcspn(at, ",");
    char *end  = next;
    *next      = '\0';
    while (*at == ' ') at++;
    while (end > at && end[-1] == ' ') *--end = '\0';
    if (!*at) return usage_error(command, "'--%s %s' holds an empty word", option, text);
    out->words[out->n++] = at;
    at                   = next + 1;
  }
  return PARSE_DONE;
}

void words_release(word_list *list) {
  free(list->words);
  free(list->storage);
  *list = (word_list){0};
}

enum { FORMULATION = 1, INDEX = 4 }; /* places of lists among the six */

static const char *const names[N_METHOD_WORDS] = {"scheme",    "formulation", "decomposition",
                                                  "extension", "index",       "order"};

/* Each word must be good by itself. */
static int check_word_of(const command_def *command, int kind, const char *word) {
  const yoke_choice choice = {names[kind], word};
  if (kind != INDEX) return choice_check(command, &choice);
  if (strlen(word) == 1 && word[0] >= '1' && word[0] <= '3') return PARSE_DONE;
  return usage_error(command, "unknown index '%s'; expected 1, 2, 3", word);
}

/* Takes a choice out of the list; NULL: it is not there. */
static const char *take_choice(choice_list *choices, const char *name) {
  const char *value = choice_value(choices, name);
  int         n     = 0;
  for (int i = 0; i < choices->n; ++i) {
    if (strcmp(choices->list[i].name, name) != 0) choices->list[n++] = choices->list[i];
  }
  choices->n = n;
  return value;
}

static yoke_method_choice combine(const method_list *list, const int *at) {
  const char *word[N_METHOD_WORDS];
  for (int k = 0; k < N_METHOD_WORDS; ++k) word[k] = list->words[k].n > 0 ? list->words[k].words[at[k]] : NULL;
  return (yoke_method_choice){.size          = sizeof(yoke_method_choice),
                              .scheme        = word[0],
                              .formulation   = word[1],
                              .decomposition = word[2],
                              .extension     = word[3],
                              .index         = word[4],
                              .order         = word[5]};
}

int methods_expand(const command_def *command, model_arguments *model, const char *index, bool is_test_model,
                   method_list *out) {
  long n = 1;
  *out   = (method_list){0};
  for (int k = 0; k < N_METHOD_WORDS; ++k) {
    const char *text    = k == INDEX ? index : take_choice(&model->choices, names[k]);
    int         code    = words_split(command, names[k], text, &out->words[k]);
    const bool  is_free = is_test_model && k == FORMULATION;
    for (int i = 0; i < out->words[k].n && code == PARSE_DONE && !is_free; ++i)
      code = check_word_of(command, k, out->words[k].words[i]);
    if (code != PARSE_DONE) return code;
    if (out->words[k].n > 0) n *= out->words[k].n;
    if (n > MAX_METHODS)
      return usage_error(command, "the lists give more than %d methods; ask for fewer at a time", (int)MAX_METHODS);
  }
  for (out->n = 0; out->n < n; ++out->n) { /* the last list (order) runs fastest */
    int at[N_METHOD_WORDS], rest = out->n;
    for (int k = N_METHOD_WORDS - 1; k >= 0; --k) {
      const int size = out->words[k].n > 0 ? out->words[k].n : 1;
      at[k]          = rest % size;
      rest /= size;
    }
    out->methods[out->n] = combine(out, at);
  }
  return PARSE_DONE;
}

void methods_release(method_list *list) {
  for (int k = 0; k < N_METHOD_WORDS; ++k) words_release(&list->words[k]);
  list->n = 0;
}
