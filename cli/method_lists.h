/* Method lists: --scheme, --formulation, --decomposition, --extension, --index and --order as comma lists; every combination is one
 * method. Shared by the commands that compare methods. */
#ifndef YOKE_CLI_METHOD_LISTS_H
#define YOKE_CLI_METHOD_LISTS_H

#include "model_options.h"
#include <yoke/yoke.h>

/* Texts separated at commas. */
typedef struct word_list {
  int          n;
  const char **words; /* into storage */
  char        *storage;
} word_list;

/* `text` NULL: none. PARSE_DONE or an exit code after a message that names `option`. */
int  words_split(const command_def *command, const char *option, const char *text, word_list *out);
void words_release(word_list *list);

enum { N_METHOD_WORDS = 6, MAX_METHODS = 200 };

typedef struct method_list {
  int                n;
  yoke_method_choice methods[MAX_METHODS];
  word_list          words[N_METHOD_WORDS];
} method_list;

/* Takes the lists out of `model` (its choices lose them), checks every word; with `is_test_model` all but formulations, of which a
 * test model knows its own. PARSE_DONE or an exit code; release in any case. */
int  methods_expand(const command_def *command, model_arguments *model, const char *index, bool is_test_model,
                    method_list *out);
void methods_release(method_list *list);

#endif
