/* yoke split: propose a split of a model and say what is cut and why. */
#include "command.h"
#include "interrupt.h"
#include <stdlib.h>
#include <string.h>

typedef struct split_arguments {
  text_list   set;
  const char *n, *out, *threads;
  bool        json, quiet;
} split_arguments;

static const option_def split_options[] = {
    {"parts", 'n', OPTION_TEXT, offsetof(split_arguments, n), "K",
     "number of subsystems, or auto: as many as are fastest"},
    {"out", 'o', OPTION_TEXT, offsetof(split_arguments, out), "FILE",
     "write the model with the proposed split to FILE"},
    {"threads", 0, OPTION_TEXT, offsetof(split_arguments, threads), "N",
     "-n auto: threads that the split is for; default: one per core"},
    {"set", 0, OPTION_LIST, offsetof(split_arguments, set), "KEY=VALUE",
     "override a key of the model for the proposal; repeatable"},
    {"json", 0, OPTION_FLAG, offsetof(split_arguments, json), NULL, "print one JSON object instead of the split"},
    {"quiet", 'q', OPTION_FLAG, offsetof(split_arguments, quiet), NULL, "do not say what is cut and why"},
};

enum { N_SHOWN = 20 };

/* A proposal, if there is one, and what it says of itself. */
typedef struct findings {
  yoke_split_proposal *proposal; /* NULL: none */
  yoke_split_facts     facts;
} findings;

static yoke_cut_part part_at(const findings *f, int i) {
  yoke_cut_part part = {.size = sizeof part};
  (void)yoke_split_proposal_part(NULL, f->proposal, i, &part);
  return part;
}

static yoke_cut cut_at(const findings *f, int i) {
  yoke_cut cut = {.size = sizeof cut};
  (void)yoke_split_proposal_cut(NULL, f->proposal, i, &cut);
  return cut;
}

static yoke_split_trial trial_at(const findings *f, int i) {
  yoke_split_trial trial = {.size = sizeof trial};
  (void)yoke_split_proposal_trial(NULL, f->proposal, i, &trial);
  return trial;
}

static bool is_whole_faster(const findings *f) {
  for (int i = 1; i < f->facts.n_trials; ++i) {
    if (trial_at(f, i).n_parts == f->facts.n_parts) return trial_at(f, 0).time < trial_at(f, i).time;
  }
  return false;
}

/* Numbers of parts that were tried; time of the whole in units of theirs. */
static void explain_trials(const findings *f) {
  const yoke_split_facts *p     = &f->facts;
  const double            whole = p->n_trials > 0 ? trial_at(f, 0).time : 0.0;
  for (int i = 0; i < p->n_trials; ++i) {
    const yoke_split_trial t = trial_at(f, i);
    fprintf(stderr, "%-8s %4d %s ", i == 0 ? "trials" : "", t.n_parts, plural(t.n_parts, "part: ", "parts:"));
    if (t.time > 0.0)
      fprintf(stderr, "%.3g s per simulated second, speed-up %.2f%s\n", t.time, whole / t.time,
              t.n_parts == p->n_parts ? ", chosen" : "");
    else
      fputs("does not run\n", stderr);
  }
  if (p->n_trials == 0) return;
  fprintf(stderr, "%-8s projected for %d %s from runs of a moment each%s\n", "", p->threads,
          plural(p->threads, "thread", "threads"), is_whole_faster(f) ? "; the model as a whole is faster" : "");
}

static int n_rigid_cuts(const findings *f) {
  int n = 0;
  for (int i = 0; i < f->facts.n_cuts; ++i) n += cut_at(f, i).is_rigid;
  return n;
}

/* What it means to cut rigid joints. */
static void explain_joints(const findings *f) {
  const int n = n_rigid_cuts(f);
  if (n == 0) return;
  fprintf(
      stderr,
      "joints   %d rigid %s cut, since %d parts need it: coupled by formulation stabilized-index-2 with scheme "
      "implicit, which a run chooses\n"
      "         without settings; steps are as accurate as elsewhere, but take about ten times the right-hand sides "
      "of the whole model\n"
      "verdict  good for parts that must be apart (departments, suppliers), not for speed; fewer parts, or a joint "
      "with `stiffness`, couple cheaper\n",
      n, plural(n, "joint is", "joints are"), f->facts.n_parts);
}

static void explain(const findings *f) {
  const yoke_split_facts *p = &f->facts;
  explain_trials(f);
  for (int i = 0; i < p->n_parts && i < N_SHOWN; ++i) {
    const yoke_cut_part part = part_at(f, i);
    fprintf(stderr, "%-8s %s: %d %s, cost %d\n", i == 0 ? "parts" : "", part.name, part.n_bodies,
            part.is_piece ? plural(part.n_bodies, "mass", "masses") : plural(part.n_bodies, "body", "bodies"),
            part.cost);
  }
  if (p->n_parts > N_SHOWN) fprintf(stderr, "%-8s ... %d more\n", "", p->n_parts - N_SHOWN);
  fprintf(stderr, "balance  largest cost is %.3g times the mean (cost: freedoms of the bodies)\n", p->balance);
  for (int i = 0; i < p->n_cuts && i < N_SHOWN; ++i) {
    const yoke_cut c = cut_at(f, i);
    fprintf(stderr, "%-8s %s (%s) between %s and %s: ", i == 0 ? "cuts" : "", c.name, c.kind,
            part_at(f, c.part[0]).name, part_at(f, c.part[1]).name);
    if (c.is_rigid)
      fputs("rigid", stderr);
    else
      fprintf(stderr, "stiffness %.4g, %.4g rad/s", c.stiffness, c.frequency);
    fprintf(stderr, ", mass ratio %.3g%s\n", c.mass_ratio, c.is_loaded ? ", next to a load" : "");
  }
  if (p->n_cuts > N_SHOWN) fprintf(stderr, "%-8s ... %d more\n", "", p->n_cuts - N_SHOWN);
  explain_joints(f);
  if (p->n_cuts == 0) fputs("cuts     none: the parts do not touch each other\n", stderr);
  fprintf(stderr,
          "why      of %d %s between %d %s that %s do not hold together (%.3g .. %.3g rad/s): soft before "
          "stiff, equal masses on both sides, away from loads, at balanced cost\n",
          p->n_candidates, plural(p->n_candidates, "element", "elements"), p->n_groups,
          plural(p->n_groups, "group", "groups"), n_rigid_cuts(f) > 0 ? "loads and laws" : "rigid joints",
          p->frequency_range[0], p->frequency_range[1]);
}

static void print_json(const yoke_context *ctx, const findings *f, const char *path, yoke_status status) {
  const yoke_split_facts *p = &f->facts;
  json                    j = {.file = stdout};
  json_begin(&j, NULL, '{');
  json_text(&j, "status", status_word(status));
  json_whole(&j, "exit_code", yoke_status_exit_code(status));
  json_text(&j, "model", path);
  json_number(&j, "balance", p->balance);
  json_begin(&j, "parts", '[');
  for (int i = 0; i < p->n_parts; ++i) {
    const yoke_cut_part part = part_at(f, i);
    json_begin(&j, NULL, '{');
    json_text(&j, "name", part.name);
    json_whole(&j, "bodies", part.n_bodies);
    json_whole(&j, "cost", part.cost);
    json_end(&j, '}');
  }
  json_end(&j, ']');
  json_begin(&j, "cuts", '[');
  for (int i = 0; i < p->n_cuts; ++i) {
    const yoke_cut c = cut_at(f, i);
    json_begin(&j, NULL, '{');
    json_text(&j, "name", c.name);
    json_text(&j, "kind", c.kind);
    json_text(&j, "side1", part_at(f, c.part[0]).name);
    json_text(&j, "side2", part_at(f, c.part[1]).name);
    json_number(&j, "stiffness", c.stiffness);
    json_number(&j, "frequency", c.frequency);
    json_number(&j, "mass_ratio", c.mass_ratio);
    json_truth(&j, "next_to_load", c.is_loaded);
    json_truth(&j, "rigid", c.is_rigid);
    json_end(&j, '}');
  }
  json_end(&j, ']');
  json_begin(&j, "trials", '[');
  for (int i = 0; i < p->n_trials; ++i) {
    const yoke_split_trial t = trial_at(f, i);
    json_begin(&j, NULL, '{');
    json_whole(&j, "parts", t.n_parts);
    json_number(&j, "time", t.time);
    json_end(&j, '}');
  }
  json_end(&j, ']');
  json_text(&j, "split", p->split);
  json_messages(&j, ctx, status);
  json_end(&j, '}');
}

static int split_model(const split_arguments *a, const char *path, int n, int threads) {
  yoke_context *ctx = create_context();
  if (!ctx) return EXIT_CODE_IO;
  const yoke_run_options options = {
      .size        = sizeof options,
      .model       = path,
      .n_sets      = a->set.n,
      .sets        = a->set.texts,
      .out         = a->out,
      .threads     = threads,
      .interrupted = interrupt_watch(),
  };
  findings    found  = {.facts.size = sizeof found.facts};
  yoke_status status = yoke_split_propose(ctx, &options, n, &found.proposal);
  if (status == YOKE_OK) status = yoke_split_proposal_facts_get(ctx, found.proposal, &found.facts);
  if (status == YOKE_OK && !a->quiet && !a->json) explain(&found);
  if (a->json) {
    print_json(ctx, &found, path, status);
  } else if (status == YOKE_OK && !a->out) {
    fputs(found.facts.split, stdout);
  } else if (status == YOKE_OK && !a->quiet) {
    printf("%s: written\n", a->out);
  }
  print_messages(ctx);
  yoke_split_proposal_destroy(&found.proposal);
  yoke_context_destroy(&ctx);
  return yoke_status_exit_code(status);
}

static int split_main(const command_def *command, int argc, char **argv) {
  split_arguments a        = {0};
  text_list       operands = {0};
  int             code     = options_parse(command, argc, argv, &a, &operands);
  if (code != PARSE_DONE) return code;
  char      *end = NULL, *threads_end = NULL;
  const bool is_auto = a.n && strcmp(a.n, "auto") == 0;
  const long n       = a.n && !is_auto ? strtol(a.n, &end, 10) : 0;
  const long threads = a.threads ? strtol(a.threads, &threads_end, 10) : 0;
  if (operands.n != 1) {
    code = usage_error(command, "one model file expected, %d given", operands.n);
  } else if (!a.n) {
    code = usage_error(command, "-n K is missing: into how many subsystems? (-n auto: as many as are fastest)");
  } else if (!is_auto && (end == a.n || *end || n < 2 || n > 1000000)) {
    code = usage_error(command, "-n is '%s', expected a whole number >= 2, or auto", a.n);
  } else if (a.threads && (threads_end == a.threads || *threads_end || threads < 1 || threads > 100000)) {
    code = usage_error(command, "--threads is '%s', expected a whole number >= 1", a.threads);
  } else if (a.threads && !is_auto) {
    code = usage_error(command, "--threads is for -n auto: a split into %ld parts does not depend on it", n);
  } else if (a.out && !*a.out) {
    code = usage_error(command, "--out needs a file name");
  } else {
    code = split_model(&a, operands.texts[0], (int)n, (int)threads);
  }
  options_release(command, &a, &operands);
  return code;
}

const command_def split_command = {
    .name    = "split",
    .usage   = "MODEL -n K|auto [-o FILE] [options]",
    .summary = "propose a split of a model into K subsystems",
    .details =
        "Prints the section `split:` for the model file, or writes the model with it to FILE; an own split is "
        "replaced.\n"
        "Rigid joints are cut only where the model falls into too few groups else. A chain with formulation overlap "
        "gets\n"
        "narrow parts around its loads. What is cut, and why, goes to stderr.\n"
        "-n auto runs the model as a whole and with 2, 4, 8 ... parts for a moment each and takes the number that "
        "is\n"
        "fastest, projected for the cores of this machine or --threads N.",
    .options   = split_options,
    .n_options = (int)(sizeof split_options / sizeof *split_options),
    .run       = split_main,
};
