/* yoke split: propose a split of a model and say what is cut and why. */
#include "command.h"
#include <stdlib.h>
#include <string.h>

typedef struct split_arguments {
  text_list   set;
  const char *n, *out;
  bool        json, quiet;
} split_arguments;

static const option_def split_options[] = {
    {"parts", 'n', OPTION_TEXT, offsetof(split_arguments, n), "K", "number of subsystems"},
    {"out", 'o', OPTION_TEXT, offsetof(split_arguments, out), "FILE",
     "write the model with the proposed split to FILE"},
    {"set", 0, OPTION_LIST, offsetof(split_arguments, set), "KEY=VALUE",
     "override a key of the model for the proposal; repeatable"},
    {"json", 0, OPTION_FLAG, offsetof(split_arguments, json), NULL, "print one JSON object instead of the split"},
    {"quiet", 'q', OPTION_FLAG, offsetof(split_arguments, quiet), NULL, "do not say what is cut and why"},
};

enum { N_SHOWN = 20 };

static void explain(const yoke_split_proposal *p) {
  for (int i = 0; i < p->n_parts && i < N_SHOWN; ++i) {
    fprintf(stderr, "%-8s %s: %d %s, cost %d\n", i == 0 ? "parts" : "", p->parts[i].name, p->parts[i].n_bodies,
            p->parts[i].is_piece ? plural(p->parts[i].n_bodies, "mass", "masses")
                                 : plural(p->parts[i].n_bodies, "body", "bodies"),
            p->parts[i].cost);
  }
  if (p->n_parts > N_SHOWN) fprintf(stderr, "%-8s ... %d more\n", "", p->n_parts - N_SHOWN);
  fprintf(stderr, "balance  largest cost is %.3g times the mean (cost: freedoms of the bodies)\n", p->balance);
  for (int i = 0; i < p->n_cuts && i < N_SHOWN; ++i) {
    const yoke_cut *c = &p->cuts[i];
    fprintf(stderr, "%-8s %s (%s) between %s and %s: stiffness %.4g, %.4g rad/s, mass ratio %.3g%s\n",
            i == 0 ? "cuts" : "", c->name, c->kind, p->parts[c->part[0]].name, p->parts[c->part[1]].name, c->stiffness,
            c->frequency, c->mass_ratio, c->is_loaded ? ", next to a load" : "");
  }
  if (p->n_cuts > N_SHOWN) fprintf(stderr, "%-8s ... %d more\n", "", p->n_cuts - N_SHOWN);
  if (p->n_cuts == 0) fputs("cuts     none: the parts do not touch each other\n", stderr);
  fprintf(stderr,
          "why      of %d %s between %d %s that rigid joints do not hold together (%.3g .. %.3g rad/s): soft before "
          "stiff, equal masses on both sides, away from loads, at balanced cost\n",
          p->n_candidates, plural(p->n_candidates, "element", "elements"), p->n_groups,
          plural(p->n_groups, "group", "groups"), p->frequency_range[0], p->frequency_range[1]);
}

static void print_json(const yoke_context *ctx, const yoke_split_proposal *p, const char *path, yoke_status status) {
  json j = {.file = stdout};
  json_begin(&j, NULL, '{');
  json_text(&j, "status", status_word(status));
  json_whole(&j, "exit_code", yoke_status_exit_code(status));
  json_text(&j, "model", path);
  json_number(&j, "balance", p->balance);
  json_begin(&j, "parts", '[');
  for (int i = 0; i < p->n_parts; ++i) {
    json_begin(&j, NULL, '{');
    json_text(&j, "name", p->parts[i].name);
    json_whole(&j, "bodies", p->parts[i].n_bodies);
    json_whole(&j, "cost", p->parts[i].cost);
    json_end(&j, '}');
  }
  json_end(&j, ']');
  json_begin(&j, "cuts", '[');
  for (int i = 0; i < p->n_cuts; ++i) {
    const yoke_cut *c = &p->cuts[i];
    json_begin(&j, NULL, '{');
    json_text(&j, "name", c->name);
    json_text(&j, "kind", c->kind);
    json_text(&j, "side1", p->parts[c->part[0]].name);
    json_text(&j, "side2", p->parts[c->part[1]].name);
    json_number(&j, "stiffness", c->stiffness);
    json_number(&j, "frequency", c->frequency);
    json_number(&j, "mass_ratio", c->mass_ratio);
    json_truth(&j, "next_to_load", c->is_loaded);
    json_end(&j, '}');
  }
  json_end(&j, ']');
  json_text(&j, "split", p->split);
  json_messages(&j, ctx, status);
  json_end(&j, '}');
}

static int split_model(const split_arguments *a, const char *path, int n) {
  yoke_context *ctx = create_context();
  if (!ctx) return EXIT_CODE_IO;
  yoke_run_options options = yoke_run_options_default();
  options.model            = path;
  options.n_sets           = a->set.n;
  options.sets             = a->set.texts;
  options.out              = a->out;
  yoke_split_proposal proposal;
  yoke_status         status = yoke_split_propose(ctx, &options, n, &proposal);
  if (status == YOKE_OK && !a->quiet && !a->json) explain(&proposal);
  if (a->json) {
    print_json(ctx, &proposal, path, status);
  } else if (status == YOKE_OK && !a->out) {
    fputs(proposal.split, stdout);
  } else if (status == YOKE_OK && !a->quiet) {
    printf("%s: written\n", a->out);
  }
  print_messages(ctx);
  yoke_split_proposal_release(&proposal);
  yoke_context_destroy(&ctx);
  return yoke_status_exit_code(status);
}

static int split_main(const command_def *command, int argc, char **argv) {
  split_arguments a        = {0};
  text_list       operands = {0};
  int             code     = options_parse(command, argc, argv, &a, &operands);
  if (code != PARSE_DONE) return code;
  char      *end = NULL;
  const long n   = a.n ? strtol(a.n, &end, 10) : 0;
  if (operands.n != 1) {
    code = usage_error(command, "one model file expected, %d given", operands.n);
  } else if (!a.n) {
    code = usage_error(command, "-n K is missing: into how many subsystems?");
  } else if (end == a.n || *end || n < 2 || n > 1000000) {
    code = usage_error(command, "-n is '%s', expected a whole number >= 2", a.n);
  } else if (a.out && !*a.out) {
    code = usage_error(command, "--out needs a file name");
  } else {
    code = split_model(&a, operands.texts[0], (int)n);
  }
  options_release(command, &a, &operands);
  return code;
}

const command_def split_command = {
    .name      = "split",
    .usage     = "MODEL -n K [-o FILE] [options]",
    .summary   = "propose a split of a model into K subsystems",
    .details   = "Prints the section `split:` for the model file, or writes the model with it to FILE; an own split is "
                 "replaced.\n"
                 "Rigid joints are never cut. What is cut, and why, goes to stderr.",
    .options   = split_options,
    .n_options = (int)(sizeof split_options / sizeof *split_options),
    .run       = split_main,
};
