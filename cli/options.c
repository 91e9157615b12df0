#include "options.h"
#include <yoke/yoke.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int usage_error(const command_def *command, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("error: ", stderr);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fprintf(stderr, "\nsee: yoke help %s\n", command->name);
  return EXIT_CODE_USAGE;
}

int whole_option(const command_def *command, const char *name, const char *text, int most, int *out) {
  char      *end;
  const long n = strtol(text, &end, 10);
  if (end == text || *end || n < 1 || n > most)
    return usage_error(command, "--%s is '%s', expected a whole number >= 1", name, text);
  *out = (int)n;
  return PARSE_DONE;
}

static void put_option(page *p, char letter, const char *name, const char *value, bool is_maybe, const char *help) {
  char       left[64];
  const char short_form[] = {'-', letter, ',', ' ', '\0'};
  snprintf(left, sizeof left, "%s--%s%s%s%s", letter ? short_form : "    ", name,
           is_maybe ? "[="
           : value  ? " "
                    : "",
           value ? value : "", is_maybe ? "]" : "");
  page_item(p, 26, left, help);
}

/* Words of an option of a setting, or what it means, and its key. */
static void choices_help(page *p) {
  page_heading(p, "options that stand for keys of the model file (yoke help settings)");
  for (int i = 0, n = yoke_n_settings(); i < n; ++i) {
    yoke_setting_facts facts = {.size = sizeof facts};
    char               help[800];
    (void)yoke_setting_describe(i, &facts);
    if (!facts.option) continue;
    const bool is_listed = strstr(facts.help, "yoke help ") != NULL; /* its words have a topic of their own */
    snprintf(help, sizeof help, "%s (key %s)", facts.n_words > 0 && !is_listed ? facts.values : facts.help, facts.path);
    put_option(p, 0, facts.option, facts.value, false, help);
  }
}

void options_help(const command_def *command, page *p) {
  page_begin(p, command->name, command->usage, command->summary, command->details);
  if (command->n_options > 0) page_heading(p, "options");
  for (int i = 0; i < command->n_options; ++i) {
    const option_def *option = &command->options[i];
    put_option(p, option->letter, option->name, option->value, option->kind == OPTION_MAYBE, option->help);
  }
  if (command->has_choices) choices_help(p);
}

bool choice_find(const char *name, size_t length, yoke_setting_facts *out) {
  const int i = yoke_setting_with_option(name, length);
  if (i >= 0) (void)yoke_setting_describe(i, out);
  return i >= 0;
}

const char *choice_value(const choice_list *choices, const char *name) {
  const char *value = NULL;
  for (int i = 0; i < choices->n; ++i) {
    if (strcmp(choices->list[i].name, name) == 0) value = choices->list[i].value;
  }
  return value;
}

/* The option that `text` names (without dashes, up to `length`), or NULL. */
static const option_def *find_option(const command_def *command, const char *text, size_t length, bool is_letter) {
  for (int i = 0; i < command->n_options; ++i) {
    const option_def *option = &command->options[i];
    if (is_letter ? length == 1 && option->letter == *text
                  : strlen(option->name) == length && strncmp(option->name, text, length) == 0) {
      return option;
    }
  }
  return NULL;
}

static int unknown_option(const command_def *command, const char *argument) {
  char        name[64];
  const char *names[64];
  int         n = 0;
  snprintf(name, sizeof name, "%s", argument + strspn(argument, "-"));
  name[strcspn(name, "=")] = '\0';
  for (int i = 0; i < command->n_options && n < 64; ++i) names[n++] = command->options[i].name;
  for (int i = 0, n_settings = yoke_n_settings(); command->has_choices && i < n_settings && n < 64; ++i) {
    yoke_setting_facts facts = {.size = sizeof facts};
    (void)yoke_setting_describe(i, &facts);
    if (facts.option) names[n++] = facts.option;
  }
  const char *nearest = yoke_nearest_name(name, names, n);
  if (nearest) {
    return usage_error(command, "yoke %s has no option '%s'; did you mean '--%s'?", command->name, argument, nearest);
  }
  return usage_error(command, "yoke %s has no option '%s'", command->name, argument);
}

static void store(const option_def *option, void *arguments, const char *value) {
  char *member = (char *)arguments + option->offset;
  switch (option->kind) {
  case OPTION_FLAG: *(bool *)(void *)member = true; break;
  case OPTION_MAYBE:
  case OPTION_TEXT: *(const char **)(void *)member = value; break;
  case OPTION_LIST: {
    text_list *list        = (text_list *)(void *)member;
    list->texts[list->n++] = value;
    break;
  }
  }
}

/* The value of option argv[*i]: behind its `=`, or the next argument, over which *i moves. NULL: there is none. */
static const char *own_value(int argc, char **argv, int *i, const char *value) {
  if (value) return value;
  return *i + 1 < argc ? argv[++*i] : NULL;
}

/* An option that stands for a key. */
static int parse_choice(const command_def *command, int argc, char **argv, int *i, const char *value,
                        const yoke_setting_facts *facts, void *arguments) {
  choice_list *choices = (choice_list *)(void *)((char *)arguments + command->choices);
  value                = own_value(argc, argv, i, value);
  if (!value) return usage_error(command, "option '--%s' needs a value (%s)", facts->option, facts->value);
  if (choices->n == MAX_CHOICES) return usage_error(command, "more than %d options of settings", (int)MAX_CHOICES);
  choices->list[choices->n++] = (yoke_choice){facts->option, value};
  return PARSE_DONE;
}

/* One option at argv[*i]; moves *i over a value of its own. */
static int parse_option(const command_def *command, int argc, char **argv, int *i, void *arguments,
                        const text_list *operands) {
  const char        *argument = argv[*i];
  const bool         is_long  = argument[1] == '-';
  const char        *name     = argument + (is_long ? 2 : 1);
  const size_t       length   = is_long ? strcspn(name, "=") : 1;
  const option_def  *option   = find_option(command, name, length, !is_long);
  const char        *value = is_long ? (name[length] == '=' ? name + length + 1 : NULL) : (name[1] ? name + 1 : NULL);
  yoke_setting_facts facts = {.size = sizeof facts};
  if (!option && command->has_choices && is_long && choice_find(name, length, &facts))
    return parse_choice(command, argc, argv, i, value, &facts, arguments);
  if (!option) return unknown_option(command, argument);
  if (option->kind == OPTION_FLAG) {
    if (value) return usage_error(command, "option '--%s' takes no value, '%s' was given", option->name, argument);
  } else if (value && !*value && option->kind == OPTION_MAYBE) {
    return usage_error(command, "option '--%s=' has no value; write --%s, or --%s=%s", option->name, option->name,
                       option->name, option->value);
  } else if (!value && option->kind == OPTION_MAYBE) {
    const bool has_word = operands->n > 0 && *i + 1 < argc && argv[*i + 1][0] != '-';
    value               = has_word ? argv[++*i] : "";
  } else {
    value = own_value(argc, argv, i, value);
    if (!value) return usage_error(command, "option '--%s' needs a value (%s)", option->name, option->value);
  }
  store(option, arguments, value);
  return PARSE_DONE;
}

static bool reserve_lists(const command_def *command, int argc, void *arguments, text_list *operands) {
  const size_t room = (size_t)argc + 1;
  operands->n       = 0;
  operands->texts   = calloc(room, sizeof *operands->texts);
  bool done         = operands->texts != NULL;
  for (int i = 0; i < command->n_options; ++i) {
    if (command->options[i].kind != OPTION_LIST) continue;
    text_list *list = (text_list *)(void *)((char *)arguments + command->options[i].offset);
    list->n         = 0;
    list->texts     = calloc(room, sizeof *list->texts);
    done            = done && list->texts;
  }
  return done;
}

void options_release(const command_def *command, void *arguments, text_list *operands) {
  free(operands->texts);
  for (int i = 0; i < command->n_options; ++i) {
    if (command->options[i].kind != OPTION_LIST) continue;
    free(((text_list *)(void *)((char *)arguments + command->options[i].offset))->texts);
  }
}

static int parse_all(const command_def *command, int argc, char **argv, void *arguments, text_list *operands) {
  bool options_ended = false;
  for (int i = 1; i < argc; ++i) {
    const char *argument = argv[i];
    if (options_ended || argument[0] != '-' || argument[1] == '\0') {
      operands->texts[operands->n++] = argument;
    } else if (strcmp(argument, "--") == 0) {
      options_ended = true;
    } else if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) {
      options_help(command, &(page){.file = stdout});
      return EXIT_CODE_DONE;
    } else {
      const int code = parse_option(command, argc, argv, &i, arguments, operands);
      if (code != PARSE_DONE) return code;
    }
  }
  return PARSE_DONE;
}

int options_parse(const command_def *command, int argc, char **argv, void *arguments, text_list *operands) {
  int code = EXIT_CODE_IO;
  if (reserve_lists(command, argc, arguments, operands)) {
    code = parse_all(command, argc, argv, arguments, operands);
  } else {
    fputs("error: out of memory\n", stderr);
  }
  if (code != PARSE_DONE) options_release(command, arguments, operands);
  return code;
}
