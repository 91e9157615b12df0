/* Options that change a model before it runs: each stands for a key of the model file or for how the run is done. Shared by the
 * commands that run models. */
#ifndef YOKE_CLI_MODEL_OPTIONS_H
#define YOKE_CLI_MODEL_OPTIONS_H

#include "options.h"
#include <yoke/yoke.h>

typedef struct model_arguments {
  text_list   set;
  choice_list choices;                /* options of settings */
  const char *threads, *exec, *trace; /* trace "": to stderr */
  bool        check;
} model_arguments;

/* Entries of an option table; `type` has a member `model` of type model_arguments. */
#define MODEL_OPTION(type, name, kind, member, value, help)                                                            \
  { name, 0, kind, offsetof(type, model.member), value, help }
#define MODEL_OPTIONS(type)                                                                                            \
  MODEL_OPTION(type, "set", OPTION_LIST, set, "KEY=VALUE", "override a key of the model file; repeatable"),            \
      MODEL_OPTION(type, "check", OPTION_FLAG, check, NULL, "subsystems watch their contract (slower)"),               \
      MODEL_OPTION(type, "trace", OPTION_MAYBE, trace, "FILE",                                                         \
                   "every macro step and call of a subsystem, to stderr or FILE"),                                     \
      MODEL_OPTION(type, "threads", OPTION_TEXT, threads, "N",                                                         \
                   "threads, at most; default: as many as pay. The result does not depend on it"),                     \
      MODEL_OPTION(type, "exec", OPTION_TEXT, exec, "WORD",                                                            \
                   "threads, serial, shuffled, eager: who runs the subsystems. The result does not depend on it")
/* Members of its command_def. */
#define MODEL_CHOICES(type) .has_choices = true, .choices = offsetof(type, model.choices)

/* Is the value good by itself? PARSE_DONE, or an exit code after a message. */
int choice_check(const command_def *command, const yoke_choice *choice);

/* Checks the words and numbers, and fills the options, which borrow from `a`. PARSE_DONE, or an exit code after a message. */
int model_options_apply(const command_def *command, const model_arguments *a, yoke_run_options *options);

/* What --trace asks for. */
void trace_apply(const model_arguments *a, yoke_run_options *options);
/* Gives the exit code: `code`, or that of a trace on stderr that could not be written. */
int  trace_end(const model_arguments *a, int code);

#endif
