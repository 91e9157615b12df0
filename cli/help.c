/* yoke help: commands and topics; the same as manual pages, and completions for shells. */
#include "help.h"
#include "command.h"
#include "completion.h"
#include "manual.h"
#include <string.h>

static void help_solvers(page *p) {
  page_text(p, "methods for --solver and the key solvers.default.kind\n");
  for (int i = 0; i < yoke_n_solvers(); ++i) {
    const char *summary = yoke_solver_summary(i);
    page_item(p, 22, yoke_solver_name(i), summary ? summary : "");
  }
}

static void help_schemes(page *p) {
  page_text(p, "schemes for --scheme and the key cosimulation.scheme\n");
  for (int i = 0; i < yoke_n_schemes(); ++i) page_item(p, 22, yoke_scheme_name(i), yoke_scheme_summary(i));
}

static void help_formulations(page *p) {
  page_text(p, "formulations of couplings for --formulation and the key cosimulation.couplings.formulation\n");
  for (int i = 0; i < yoke_n_formulations(); ++i)
    page_item(p, 22, yoke_formulation_name(i), yoke_formulation_summary(i));
}

static void help_exit_codes(page *p) {
  static const char *const meanings[] = {"done",
                                         "compared results differ",
                                         "wrong usage, or something this build cannot do",
                                         "the model file has an error",
                                         "not converged, or the step size became too small",
                                         "values are not finite, or the run is unstable",
                                         "a subsystem failed",
                                         "input, output or memory failed",
                                         "interrupted; what was computed is kept"};
  page_text(p, "exit codes\n");
  for (int i = 0; i < (int)(sizeof meanings / sizeof *meanings); ++i)
    page_item(p, 2, (const char[]){(char)('0' + i), '\0'}, meanings[i]);
}

/* Quantities of the same object as number `first`; gives the number of the next object's first one. */
static int put_quantities(page *p, int first) {
  char                lines[2000] = "";
  yoke_quantity_facts of = {.size = sizeof of}, q = {.size = sizeof q};
  int                 i = first;
  (void)yoke_quantity_describe(first, &of);
  for (; i < yoke_n_quantities(); ++i) {
    const size_t used = strlen(lines);
    (void)yoke_quantity_describe(i, &q);
    if (strcmp(q.object, of.object) != 0) break;
    snprintf(lines + used, sizeof lines - used, "%c %-21s %-12s %s\n", q.is_asked_for ? '+' : ' ', q.names, q.unit,
             q.help);
  }
  page_item(p, 11, of.object, lines);
  return i;
}

static void help_outputs(page *p) {
  page_text(p, "names for --print, the key output.select (with * and ? there) and expressions below the key outputs\n");
  for (int i = 0; i < yoke_n_quantities();) i = put_quantities(p, i);
  page_text(p, "\nas in upper.x, rod[3].vx, hinge.angle, knee.force[1], total.energy");
  page_text(p, "upper.x.integral [m s] is the time integral of a position that output.integrals names");
  page_text(p, "A frame has the names of its body, for its own origin and axes: upper.tip.x, upper.tip.*");
  page_text(p, "A cut of a chain is a connection, shown where a name or a pattern has a part for it: "
               "c.cut[2].force[1], c.cut[*].*");
  page_text(p, "+ is shown where a name or a pattern asks for it, as frames are: upper.ax, upper.a*, hinge.angle*");
  page_text(
      p,
      "Loads, laws and events read positions, velocities and accelerations of bodies and frames, angle and distance\n"
      "of joints with their rates, and forces of joints; outputs that you write yourself read everything:\noutputs: "
      "{speed: "
      "hypot(upper.tip.vx, upper.tip.vy)}");
}

/* ---- settings ---- */

/* Is `name` one of the words of a text that commas and blanks part? */
static bool names_word(const char *text, const char *name) {
  const size_t n = strlen(name);
  for (const char *at = strstr(text, name); at; at = strstr(at + 1, name)) {
    const bool begins = at == text || strchr(" ,", at[-1]), ends = at[n] == '\0' || strchr(" ,", at[n]);
    if (begins && ends) return true;
  }
  return false;
}

/* Asked for by its key, by its path or the beginning of it, by its option, or by who reads it. NULL: all are. */
static bool is_asked_for(const yoke_setting_facts *s, const char *name) {
  if (!name) return true;
  const size_t n = strlen(name);
  if (strcmp(s->key, name) == 0 || (strncmp(s->path, name, n) == 0 && (s->path[n] == '.' || s->path[n] == '\0')))
    return true;
  if (strncmp(name, "--", 2) == 0) return s->option && strcmp(s->option, name + 2) == 0;
  return names_word(s->readers, name);
}

static void print_setting(page *p, const yoke_setting_facts *s) {
  char name[300], lines[2000];
  if (s->refused) {
    snprintf(lines, sizeof lines, "not available: %s\n", s->refused);
    page_entry(p, s->path, lines);
    return;
  }
  snprintf(name, sizeof name, "%s%s%s%s%s", s->path, s->option ? "  --" : "", s->option ? s->option : "",
           s->option ? " " : "", s->option ? s->value : "");
  snprintf(lines, sizeof lines, "%s\n%s%s%s\n%s%s%s%s%s%s%s", s->help, s->values, s->standard[0] ? "; default: " : "",
           s->standard, s->readers[0] ? "read by " : "", s->readers, s->readers[0] ? "\n" : "",
           s->condition[0] ? "has an effect " : "",
           s->condition[0] && strncmp(s->condition, "without", 7) != 0 ? "with " : "", s->condition,
           s->condition[0] ? "\n" : "");
  page_entry(p, name, lines);
}

/* The number of settings printed. */
static int print_settings(page *p, const char *name) {
  int n = 0;
  for (int i = 0, n_settings = yoke_n_settings(); i < n_settings; ++i) {
    yoke_setting_facts facts = {.size = sizeof facts};
    (void)yoke_setting_describe(i, &facts);
    if (!is_asked_for(&facts, name)) continue;
    if (n++ == 0 && !name) page_text(p, "settings: keys of a model file, for --set and, where one is named, options\n");
    print_setting(p, &facts);
  }
  return n;
}

static void help_settings(page *p) {
  (void)print_settings(p, NULL);
}

static void help_plugins(page *p) {
  page_text(p,
            "plugins: shared libraries with types of subsystems that are written by users (yoke/subsystem.h)\n"
            "A model names a type:\n"
            "  subsystems: {pump: {kind: user, type: gear-pump, parameters: {...}, ports: {flange: plane}}}\n"
            "and a run loads the library that brings it:\n"
            "  yoke run MODEL --plugin ./pump.so\n"
            "Loading runs code of the library: load only what you trust. Nothing in a model file loads one, and yoke "
            "check and\n"
            "yoke info never do. A library is made with\n"
            "  cc -shared -fPIC -o pump.so pump.c $(pkg-config --cflags yoke)\n"
            "and shows the function yoke_plugin_types. It finds yoke_fail, yoke_warn, yoke_note and the functions of\n"
            "yoke/signal.h and yoke/status.h in the program that loads it.");
}

/* yoke help settings NAME */
static int help_setting(const command_def *command, const char *name) {
  const char *keys[256];
  int         n = 0;
  if (print_settings(&(page){.file = stdout}, name) > 0) return EXIT_CODE_DONE;
  for (int i = 0, n_settings = yoke_n_settings(); i < n_settings && n < 256; ++i) {
    yoke_setting_facts facts = {.size = sizeof facts};
    (void)yoke_setting_describe(i, &facts);
    keys[n++] = facts.key;
  }
  const char *nearest = yoke_nearest_name(name, keys, n);
  if (nearest) return usage_error(command, "no setting is called '%s'; did you mean '%s'?", name, nearest);
  return usage_error(command, "no setting is called '%s', and no formulation or solver of this name has settings",
                     name);
}

const help_topic help_topics[] = {
    {"solvers", "methods of integration", help_solvers},
    {"schemes", "how a macro step is done", help_schemes},
    {"formulations", "how a coupling is cut", help_formulations},
    {"settings", "keys of a model file that say how it is run", help_settings},
    {"outputs", "names of quantities", help_outputs},
    {"plugins", "subsystems written by users", help_plugins},
    {"exit-codes", "what the program returns to the shell", help_exit_codes},
};
const int n_help_topics = (int)(sizeof help_topics / sizeof *help_topics);

void help_overview(page *p) {
  page_begin(p, NULL, "COMMAND [arguments]", "simulate mechanical systems given as model files", "");
  page_heading(p, "commands");
  for (int i = 0; i < n_commands; ++i) page_item(p, 12, commands[i]->name, commands[i]->summary);
  page_heading(p, "topics");
  for (int i = 0; i < n_help_topics; ++i) page_item(p, 12, help_topics[i].name, help_topics[i].summary);
  page_text(p, "\nyoke help COMMAND or yoke help TOPIC tells more; yoke --version prints the version.\n"
               "To start: yoke new first, then yoke run first.yaml");
}

static int explain(const command_def *command, const char *name) {
  page        p = {.file = stdout};
  const char *names[32];
  int         n = 0;
  for (int i = 0; i < n_commands; ++i) {
    if (strcmp(commands[i]->name, name) == 0) {
      options_help(commands[i], &p);
      return EXIT_CODE_DONE;
    }
    names[n++] = commands[i]->name;
  }
  for (int i = 0; i < n_help_topics; ++i) {
    if (strcmp(help_topics[i].name, name) == 0) {
      help_topics[i].print(&p);
      return EXIT_CODE_DONE;
    }
    names[n++] = help_topics[i].name;
  }
  const char *nearest = yoke_nearest_name(name, names, n);
  if (nearest) return usage_error(command, "no help on '%s'; did you mean '%s'?", name, nearest);
  return usage_error(command, "no help on '%s'", name);
}

/* ---- command ---- */

typedef struct help_arguments {
  const char *man, *completion;
} help_arguments;

static const option_def help_options[] = {
    {"man", 0, OPTION_TEXT, offsetof(help_arguments, man), "FOLDER", "write manual pages of all commands into FOLDER"},
    {"completion", 0, OPTION_TEXT, offsetof(help_arguments, completion), "SHELL",
     "print what completes commands and options in bash, zsh or fish"},
};

static int help_by_option(const command_def *command, int argc, char **argv) {
  help_arguments a        = {0};
  text_list      operands = {0};
  int            code     = options_parse(command, argc, argv, &a, &operands);
  if (code != PARSE_DONE) return code;
  if (operands.n > 0 || !a.man == !a.completion) {
    code = usage_error(command, "--man FOLDER or --completion SHELL expected, alone");
  } else {
    code = a.man ? manual_write(a.man) : completion_print(command, a.completion);
  }
  options_release(command, &a, &operands);
  return code;
}

/* Without arguments also for a bare `yoke` (argc 1). */
static int help_main(const command_def *command, int argc, char **argv) {
  if (argc > 1 && argv[1][0] == '-') return help_by_option(command, argc, argv);
  if (argc == 3 && strcmp(argv[1], "settings") == 0) return help_setting(command, argv[2]);
  if (argc > 2) return usage_error(command, "one command or topic expected, %d given", argc - 1);
  if (argc == 2) return explain(command, argv[1]);
  help_overview(&(page){.file = stdout});
  return EXIT_CODE_DONE;
}

const command_def help_command = {
    .name      = "help",
    .usage     = "[COMMAND|TOPIC] [NAME]",
    .summary   = "explain a command or a topic",
    .details   = "Topics: solvers, schemes, formulations, settings, outputs, plugins, exit-codes.\n"
                 "yoke help settings NAME: those with this key, option, path, formulation or solver.\n"
                 "Completion in this shell: source <(yoke help --completion bash)",
    .options   = help_options,
    .n_options = (int)(sizeof help_options / sizeof *help_options),
    .run       = help_main,
};
