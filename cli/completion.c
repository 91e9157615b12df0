#include "completion.h"
#include "command.h"
#include "help.h"
#include <string.h>

/* ---- what all shells are told ---- */

/* An option of a command; `facts` is NULL where it does not stand for a key. */
typedef void option_visitor(const command_def *command, const option_def *option, const yoke_setting_facts *facts);

static void each_option(const command_def *command, option_visitor *visit) {
  for (int i = 0; i < command->n_options; ++i) visit(command, &command->options[i], NULL);
  for (int i = 0, n = yoke_n_settings(); command->has_choices && i < n; ++i) {
    yoke_setting_facts facts = {.size = sizeof facts};
    (void)yoke_setting_describe(i, &facts);
    const option_def option = {facts.option, 0, OPTION_TEXT, 0, facts.value, facts.help};
    if (facts.option) visit(command, &option, &facts);
  }
}

static void each_setting(void (*visit)(const yoke_setting_facts *facts)) {
  for (int i = 0, n = yoke_n_settings(); i < n; ++i) {
    yoke_setting_facts facts = {.size = sizeof facts};
    (void)yoke_setting_describe(i, &facts);
    if (!facts.refused) visit(&facts);
  }
}

static void put_words(const yoke_setting_facts *facts) {
  for (int i = 0; i < facts->n_words; ++i) printf(" %s", facts->words[i]);
}

static void put_key(const yoke_setting_facts *facts) {
  printf(" %s=", facts->path);
}

static void put_names_of_help(void) {
  for (int i = 0; i < n_commands; ++i) printf(" %s", commands[i]->name);
  for (int i = 0; i < n_help_topics; ++i) printf(" %s", help_topics[i].name);
}

static bool is_set(const option_def *option) {
  return strcmp(option->name, "set") == 0;
}

/* `text` for single quotes, where a quote is written as `quote`; letters of `special` get a backslash. */
static void put_quoted(const char *text, const char *quote, const char *special) {
  for (; *text; ++text) {
    if (*text == '\'') {
      fputs(quote, stdout);
    } else {
      printf("%s%c", strchr(special, *text) ? "\\" : "", *text);
    }
  }
}

/* ---- bash ---- */

static void bash_words(const yoke_setting_facts *facts) {
  if (facts->n_words == 0) return;
  fputs("    ", stdout);
  if (facts->option) printf("--%s | ", facts->option);
  printf("%s) words='", facts->path);
  put_words(facts);
  puts("' ;;");
}

static void bash_option(const command_def *command, const option_def *option, const yoke_setting_facts *facts) {
  (void)command, (void)facts;
  printf(" --%s", option->name);
  if (option->letter) printf(" -%c", option->letter);
}

static void print_bash(void) {
  puts("# Completion of yoke in bash, printed by: yoke help --completion bash\n"
       "_yoke() {\n"
       "  local at=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]} name=${COMP_WORDS[COMP_CWORD - 1]} words=\n"
       "  # bash parts words at `=`: --name = value, --set key = value\n"
       "  if [[ $cur == = ]]; then cur=\n"
       "  elif [[ $name == = ]]; then name=${COMP_WORDS[at - 2]}; fi\n"
       "  case $name in");
  each_setting(bash_words);
  fputs("    --set)\n"
        "      compopt -o nospace\n"
        "      words='",
        stdout);
  each_setting(put_key);
  fputs("'\n"
        "      ;;\n"
        "    --completion) words='bash zsh fish' ;;\n"
        "    help) words='",
        stdout);
  put_names_of_help();
  each_option(&help_command, bash_option);
  puts("' ;;\n"
       "  esac\n"
       "  if [[ -z $words && $cur == -* ]]; then\n"
       "    case ${COMP_WORDS[1]} in");
  for (int i = 0; i < n_commands; ++i) {
    printf("      %s) words='", commands[i]->name);
    each_option(commands[i], bash_option);
    puts(" --help' ;;");
  }
  fputs("    esac\n"
        "  fi\n"
        "  if ((at == 1)); then words='",
        stdout);
  for (int i = 0; i < n_commands; ++i) printf(" %s", commands[i]->name);
  puts(" --version --help'; fi\n"
       "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
       "}\n"
       "complete -o bashdefault -o default -F _yoke yoke # where nothing fits: files");
}

/* ---- zsh ---- */

static void zsh_option(const command_def *command, const option_def *option, const yoke_setting_facts *facts) {
  (void)command;
  fputs("        ", stdout);
  if (option->letter) printf("'(-%c --%s)'{-%c,--%s}", option->letter, option->name, option->letter, option->name);
  printf("'%s", option->kind == OPTION_LIST ? "*" : "");
  if (!option->letter) printf("--%s%s", option->name, option->value ? "=" : "");
  putchar('[');
  put_quoted(option->help, "'\\''", "[]\\");
  putchar(']');
  if (option->value) {
    fputs(option->kind == OPTION_MAYBE ? "::" : ":", stdout);
    put_quoted(option->value, "'\\''", ":\\");
    putchar(':');
    if (is_set(option)) {
      fputs("{compadd -S \"\" --", stdout);
      each_setting(put_key);
      putchar('}');
    } else if (facts && facts->n_words > 0) {
      putchar('(');
      put_words(facts);
      putchar(')');
    } else {
      fputs("_files", stdout);
    }
  }
  puts("' \\");
}

static void print_zsh(void) {
  puts("#compdef yoke\n"
       "# Completion of yoke in zsh, printed by: yoke help --completion zsh\n"
       "_yoke() {\n"
       "  local -a names\n"
       "  if ((CURRENT == 2)); then\n"
       "    names=(");
  for (int i = 0; i < n_commands; ++i) {
    printf("      '%s:", commands[i]->name);
    put_quoted(commands[i]->summary, "'\\''", ":\\");
    puts("'");
  }
  puts("    )\n"
       "    _describe command names\n"
       "    return\n"
       "  fi\n"
       "  shift words\n"
       "  ((CURRENT--))\n"
       "  case $words[1] in");
  for (int i = 0; i < n_commands; ++i) {
    printf("    %s)\n      _arguments \\\n", commands[i]->name);
    each_option(commands[i], zsh_option);
    if (commands[i] == &help_command) {
      fputs("        '*:name:(", stdout);
      put_names_of_help();
      puts(")' ;;");
    } else {
      puts("        '*:file:_files' ;;");
    }
  }
  puts("  esac\n"
       "}\n"
       "if [[ $funcstack[1] == _yoke ]]; then _yoke \"$@\"; else compdef _yoke yoke; fi");
}

/* ---- fish ---- */

static void fish_option(const command_def *command, const option_def *option, const yoke_setting_facts *facts) {
  printf("complete -c yoke -n '__fish_seen_subcommand_from %s' -l %s", command->name, option->name);
  if (option->letter) printf(" -s %c", option->letter);
  if (is_set(option)) {
    fputs(" -x -a '", stdout);
    each_setting(put_key);
    putchar('\'');
  } else if (facts && facts->n_words > 0) {
    fputs(" -x -a '", stdout);
    put_words(facts);
    putchar('\'');
  } else if (option->value && option->kind != OPTION_MAYBE) {
    fputs(" -r", stdout);
  }
  fputs(" -d '", stdout);
  put_quoted(option->help, "\\'", "\\");
  puts("'");
}

static void print_fish(void) {
  puts("# Completion of yoke in fish, printed by: yoke help --completion fish");
  for (int i = 0; i < n_commands; ++i) {
    printf("complete -c yoke -n __fish_use_subcommand -f -a %s -d '", commands[i]->name);
    put_quoted(commands[i]->summary, "\\'", "\\");
    puts("'");
    each_option(commands[i], fish_option);
  }
  fputs("complete -c yoke -n '__fish_seen_subcommand_from help' -f -a '", stdout);
  put_names_of_help();
  puts("'");
}

/* ---- choice ---- */

int completion_print(const command_def *command, const char *shell) {
  static const struct {
    const char *name;
    void (*print)(void);
  } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
  for (size_t i = 0; i < sizeof shells / sizeof *shells; ++i) {
    if (strcmp(shells[i].name, shell) != 0) continue;
    shells[i].print();
    return EXIT_CODE_DONE;
  }
  return usage_error(command, "--completion is '%s', expected bash, zsh or fish", shell);
}
