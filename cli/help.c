/* yoke help: commands and topics. */
#include "command.h"
#include <string.h>

static void help_solvers(void) {
  puts("methods for --solver and the key solvers.default.kind\n");
  for (int i = 0; i < yoke_n_solvers(); ++i) {
    const char *summary = yoke_solver_summary(i);
    printf("  %-22s %s\n", yoke_solver_name(i), summary ? summary : "");
  }
}

static void help_schemes(void) {
  puts("schemes for --scheme and the key cosimulation.scheme\n");
  for (int i = 0; i < yoke_n_schemes(); ++i) printf("  %-22s %s\n", yoke_scheme_name(i), yoke_scheme_summary(i));
}

static void help_formulations(void) {
  puts("formulations of couplings for --formulation and the key cosimulation.couplings.formulation\n");
  for (int i = 0; i < yoke_n_formulations(); ++i)
    printf("  %-22s %s\n", yoke_formulation_name(i), yoke_formulation_summary(i));
}

static void help_exit_codes(void) {
  puts("exit codes\n\n"
       "  0  done\n"
       "  1  compared results differ\n"
       "  2  wrong usage, or something this build cannot do\n"
       "  3  the model file has an error\n"
       "  4  not converged, or the step size became too small\n"
       "  5  values are not finite, or the run is unstable\n"
       "  6  a subsystem failed\n"
       "  7  input, output or memory failed\n"
       "  8  interrupted; what was computed is kept");
}

static void help_outputs(void) {
  puts("names for --print and the key output.select (with * and ? there)\n\n"
       "  mass1d      x v a\n"
       "  particle    x y z vx vy vz\n"
       "  planar      x y angle vx vy omega\n"
       "  rigid       x y z q0 q1 q2 q3 vx vy vz wx wy wz   (w in the body frame)\n"
       "  chain       x[i] v[i]\n"
       "  connection  force[k] g[k]; of a coupling, where named: mismatch[k] force_mean[k]\n"
       "  total       energy kinetic potential; where work is counted: dissipated external balance\n\n"
       "as in upper.x, rod[3].vx, knee.force[1], total.energy");
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

static void print_setting(const yoke_setting_facts *s) {
  if (s->refused) {
    printf("%s\n    not available: %s\n", s->path, s->refused);
    return;
  }
  printf("%s%s%s%s%s\n    %s\n    %s", s->path, s->option ? "  --" : "", s->option ? s->option : "",
         s->option ? " " : "", s->option ? s->value : "", s->help, s->values);
  if (s->standard[0]) printf("; default: %s", s->standard);
  putchar('\n');
  if (s->readers[0]) printf("    read by %s\n", s->readers);
  if (s->condition[0])
    printf("    has an effect %s%s\n", strncmp(s->condition, "without", 7) == 0 ? "" : "with ", s->condition);
}

/* The number of settings printed. */
static int print_settings(const char *name) {
  int n = 0;
  for (int i = 0, n_settings = yoke_n_settings(); i < n_settings; ++i) {
    yoke_setting_facts facts;
    yoke_setting_describe(i, &facts);
    if (!is_asked_for(&facts, name)) continue;
    if (n++ == 0 && !name) puts("settings: keys of a model file, for --set and, where one is named, options\n");
    print_setting(&facts);
  }
  return n;
}

static void help_settings(void) {
  (void)print_settings(NULL);
}

/* yoke help settings NAME */
static int help_setting(const command_def *command, const char *name) {
  const char *keys[256];
  int         n = 0;
  if (print_settings(name) > 0) return EXIT_CODE_DONE;
  for (int i = 0, n_settings = yoke_n_settings(); i < n_settings && n < 256; ++i) {
    yoke_setting_facts facts;
    yoke_setting_describe(i, &facts);
    keys[n++] = facts.key;
  }
  const char *nearest = yoke_nearest_name(name, keys, n);
  if (nearest) return usage_error(command, "no setting is called '%s'; did you mean '%s'?", name, nearest);
  return usage_error(command, "no setting is called '%s', and no formulation or solver of this name has settings",
                     name);
}

static const struct topic {
  const char *name, *summary;
  void (*print)(void);
} topics[] = {
    {"solvers", "methods of integration", help_solvers},
    {"schemes", "how a macro step is done", help_schemes},
    {"formulations", "how a coupling is cut", help_formulations},
    {"settings", "keys of a model file that say how it is run", help_settings},
    {"outputs", "names of quantities", help_outputs},
    {"exit-codes", "what the program returns to the shell", help_exit_codes},
};
enum { N_TOPICS = sizeof topics / sizeof *topics };

static void help_overview(FILE *file) {
  fputs("usage: yoke COMMAND [arguments]\n\nSimulates mechanical systems given as model files.\n\ncommands\n", file);
  for (int i = 0; i < n_commands; ++i) fprintf(file, "  %-12s %s\n", commands[i]->name, commands[i]->summary);
  fputs("\ntopics\n", file);
  for (int i = 0; i < N_TOPICS; ++i) fprintf(file, "  %-12s %s\n", topics[i].name, topics[i].summary);
  fputs("\nyoke help COMMAND or yoke help TOPIC tells more; yoke --version prints the version.\n"
        "To start: yoke new first, then yoke run first.yaml\n",
        file);
}

static int help_topic(const command_def *command, const char *name) {
  const char *names[32];
  int         n = 0;
  for (int i = 0; i < n_commands; ++i) {
    if (strcmp(commands[i]->name, name) == 0) {
      options_help(commands[i], stdout);
      return EXIT_CODE_DONE;
    }
    names[n++] = commands[i]->name;
  }
  for (int i = 0; i < N_TOPICS; ++i) {
    if (strcmp(topics[i].name, name) == 0) {
      topics[i].print();
      return EXIT_CODE_DONE;
    }
    names[n++] = topics[i].name;
  }
  const char *nearest = yoke_nearest_name(name, names, n);
  if (nearest) return usage_error(command, "no help on '%s'; did you mean '%s'?", name, nearest);
  return usage_error(command, "no help on '%s'", name);
}

/* Without arguments also for a bare `yoke` (argc 1). */
static int help_main(const command_def *command, int argc, char **argv) {
  if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) return help_topic(command, "help");
  if (argc > 1 && argv[1][0] == '-') return usage_error(command, "yoke help has no option '%s'", argv[1]);
  if (argc == 3 && strcmp(argv[1], "settings") == 0) return help_setting(command, argv[2]);
  if (argc > 2) return usage_error(command, "one command or topic expected, %d given", argc - 1);
  if (argc == 2) return help_topic(command, argv[1]);
  help_overview(stdout);
  return EXIT_CODE_DONE;
}

const command_def help_command = {
    .name    = "help",
    .usage   = "[COMMAND|TOPIC] [NAME]",
    .summary = "explain a command or a topic",
    .details = "Topics: solvers, schemes, formulations, settings, outputs, exit-codes.\n"
               "yoke help settings NAME: those with this key, option, path, formulation or solver.",
    .run     = help_main,
};
