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
       "  connection  force[k] g[k]\n"
       "  total       energy\n\n"
       "as in upper.x, rod[3].vx, knee.force[1], total.energy");
}

static const struct topic {
  const char *name, *summary;
  void (*print)(void);
} topics[] = {
    {"solvers", "methods of integration", help_solvers},
    {"schemes", "how a macro step is done", help_schemes},
    {"formulations", "how a coupling is cut", help_formulations},
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
  if (argc > 2) return usage_error(command, "one command or topic expected, %d given", argc - 1);
  if (argc == 2) return help_topic(command, argv[1]);
  help_overview(stdout);
  return EXIT_CODE_DONE;
}

const command_def help_command = {
    .name    = "help",
    .usage   = "[COMMAND|TOPIC]",
    .summary = "explain a command or a topic",
    .details = "Topics: solvers, schemes, formulations, outputs, exit-codes.",
    .run     = help_main,
};
