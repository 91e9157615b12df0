/* Options: the command line as a table, written as in git: `--name value`, `--name=value`, `-n value`, `--` ends them. */
#ifndef YOKE_CLI_OPTIONS_H
#define YOKE_CLI_OPTIONS_H

#include "page.h"
#include <yoke/yoke.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef enum option_kind {
  OPTION_FLAG, /* bool */
  OPTION_TEXT, /* const char * */
  /* const char *: `--name` gives "", `--name=value` or, after the first operand, `--name value` gives the value */
  OPTION_MAYBE,
  OPTION_LIST /* text_list, may be given repeatedly */
} option_kind;

typedef struct text_list {
  int          n;
  const char **texts; /* into argv */
} text_list;

/* Options that stand for keys of the model file: those that the library's table of settings names (yoke/settings.h). */
enum { MAX_CHOICES = 64 };
typedef struct choice_list {
  int         n;
  yoke_choice list[MAX_CHOICES]; /* in the order given; names without dashes */
} choice_list;

typedef struct option_def {
  const char *name;   /* without dashes */
  char        letter; /* 0: none */
  option_kind kind;
  size_t      offset; /* of the member of the command's arguments */
  const char *value;  /* name of the value in help; NULL for flags */
  const char *help;
} option_def;

typedef struct command_def {
  const char       *name;
  const char       *usage;   /* what follows the name */
  const char       *summary; /* one line */
  const char       *details; /* paragraphs for `yoke help NAME`; may be "" */
  const option_def *options;
  int               n_options;
  bool
      has_choices; /* takes the options of settings, too; they go to the choice_list at offset `choices` of its arguments */
  size_t choices;
  int (*run)(const struct command_def *command, int argc,
             char **argv); /* argv[0] is the command; gives the exit code */
} command_def;

enum {
  EXIT_CODE_DONE      = 0,
  EXIT_CODE_DIFFERENT = 1,
  EXIT_CODE_USAGE     = 2,
  EXIT_CODE_MODEL     = 3,
  EXIT_CODE_IO        = 7,
  PARSE_DONE          = -1
};

/* Fills `arguments` and the operands. PARSE_DONE: go on; otherwise leave with this exit code (`--help` was served, or a
 * message says what is wrong). Lists hold room for argc texts and are released by options_release. */
int  options_parse(const command_def *command, int argc, char **argv, void *arguments, text_list *operands);
void options_release(const command_def *command, void *arguments, text_list *operands);

/* Message on stderr with a hint at the command's help; gives EXIT_CODE_USAGE. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
int usage_error(const command_def *command, const char *format, ...);
/* Value of an option that is a whole number from 1 to `most`. PARSE_DONE or an exit code. */
int whole_option(const command_def *command, const char *name, const char *text, int most, int *out);

/* The last value of a choice; NULL: not given. */
const char *choice_value(const choice_list *choices, const char *name);
/* The setting that has this option (without dashes, up to `length`). false: none. */
bool        choice_find(const char *name, size_t length, yoke_setting_facts *out);

void options_help(const command_def *command, page *p);

#endif
