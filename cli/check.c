/* yoke check: read, assemble and split models, report everything that is wrong. */
#include "command.h"

typedef struct check_arguments {
  text_list set;
  bool      monolithic, quiet;
} check_arguments;

static const option_def check_options[] = {
    {"set", 0, OPTION_LIST, offsetof(check_arguments, set), "KEY=VALUE",
     "override a key of the model file; repeatable"},
    {"monolithic", 0, OPTION_FLAG, offsetof(check_arguments, monolithic), NULL, "ignore the split of the model"},
    {"quiet", 'q', OPTION_FLAG, offsetof(check_arguments, quiet), NULL, "print errors only"},
};

static int check_model(const check_arguments *a, const char *path) {
  yoke_context *ctx = create_context();
  if (!ctx) return EXIT_CODE_IO;
  const yoke_run_options options = {
      .size = sizeof options, .model = path, .n_sets = a->set.n, .sets = a->set.texts, .monolithic = a->monolithic};
  yoke_inspection *inspection = NULL;
  yoke_model_facts facts      = {.size = sizeof facts};
  yoke_status      status     = yoke_model_inspect(ctx, &options, &inspection);
  if (status == YOKE_OK) status = yoke_inspection_facts_get(ctx, inspection, &facts);
  print_messages(ctx);
  if (status == YOKE_OK && !a->quiet) {
    printf("%s: fine, %d %s, %d %s, %d %s", path, facts.n_bodies, plural(facts.n_bodies, "body", "bodies"),
           facts.n_connections, plural(facts.n_connections, "connection", "connections"), facts.n_freedoms,
           plural(facts.n_freedoms, "freedom", "freedoms"));
    if (facts.n_parts > 0) {
      printf(", %d %s, %d %s", facts.n_parts, plural(facts.n_parts, "subsystem", "subsystems"), facts.n_couplings,
             plural(facts.n_couplings, "coupling", "couplings"));
    }
    putchar('\n');
  } else if (status != YOKE_OK) {
    fprintf(stderr, "%s: %s\n", path, yoke_status_text(status));
  }
  yoke_inspection_destroy(&inspection);
  yoke_context_destroy(&ctx);
  /* A model that cannot be assembled (singular, not converged) is a defect of the model. */
  if (status == YOKE_OK) return EXIT_CODE_DONE;
  return status == YOKE_E_IO || status == YOKE_E_MEMORY ? EXIT_CODE_IO : EXIT_CODE_MODEL;
}

static int check_main(const command_def *command, int argc, char **argv) {
  check_arguments a        = {0};
  text_list       operands = {0};
  int             code     = options_parse(command, argc, argv, &a, &operands);
  if (code != PARSE_DONE) return code;
  if (operands.n == 0) code = usage_error(command, "no model file given");
  for (int i = 0; i < operands.n; ++i) {
    const int one = check_model(&a, operands.texts[i]);
    if (code == PARSE_DONE || code == EXIT_CODE_DONE || one == EXIT_CODE_MODEL) code = one;
  }
  options_release(command, &a, &operands);
  return code;
}

const command_def check_command = {
    .name      = "check",
    .usage     = "MODEL... [options]",
    .summary   = "read and assemble models without simulating; report all errors",
    .details   = "Exits with 3 if a model has an error, with 7 if a file cannot be read.",
    .options   = check_options,
    .n_options = (int)(sizeof check_options / sizeof *check_options),
    .run       = check_main,
};
