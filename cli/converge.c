/* yoke converge: errors and orders of coupling methods over macro steps. */
#include "command.h"
#include "interrupt.h"
#include "method_lists.h"
#include "progress.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct converge_arguments {
  model_arguments model;
  const char     *steps, *index, *reference, *reference_rtol, *csv, *svg;
  bool            no_local, json, quiet;
} converge_arguments;

static const option_def converge_options[] = {
    {"steps", 0, OPTION_TEXT, offsetof(converge_arguments, steps), "H1,H2,...", "macro steps [s]: 1/200,1/400,2 ms"},
    {"no-local", 0, OPTION_FLAG, offsetof(converge_arguments, no_local), NULL, "global errors only (faster)"},
    {"reference", 0, OPTION_TEXT, offsetof(converge_arguments, reference), "NAME",
     "solver of the reference; default: exact where the model is linear, else dop853"},
    {"reference-rtol", 0, OPTION_TEXT, offsetof(converge_arguments, reference_rtol), "R",
     "its tolerance; default 1e-13"},
    {"csv", 0, OPTION_TEXT, offsetof(converge_arguments, csv), "FILE", "table as CSV"},
    {"svg", 0, OPTION_TEXT, offsetof(converge_arguments, svg), "FILE", "errors over steps as a picture"},
    {"index", 0, OPTION_TEXT, offsetof(converge_arguments, index), "N",
     "1, 2, 3 (key cosimulation.couplings.index); may be a list"},
    MODEL_OPTIONS(converge_arguments),
    {"json", 0, OPTION_FLAG, offsetof(converge_arguments, json), NULL, "print one JSON object instead of the table"},
    {"quiet", 'q', OPTION_FLAG, offsetof(converge_arguments, quiet), NULL, "no table, no progress line"},
};

/* A study, if there is one, and what it says of itself. */
typedef struct findings {
  yoke_convergence      *convergence; /* NULL: none */
  yoke_convergence_facts facts;
} findings;

static yoke_converge_row row_at(const findings *f, int method, int step) {
  yoke_converge_row row = {.size = sizeof row};
  (void)yoke_convergence_get(NULL, f->convergence, method, step, &row);
  return row;
}

/* ---- table ---- */

static void print_errors(const yoke_converge_row *row, bool has_local) {
  for (int e = 0; e < (has_local ? YOKE_N_ERRORS : 2); ++e) {
    char order[16] = "";
    if (isfinite(row->order[e])) snprintf(order, sizeof order, "%.2f", row->order[e]);
    printf("  %9.3e %5s", row->error[e], order);
  }
  putchar('\n');
}

static const char *failure_word(const yoke_converge_row *row) {
  switch (row->status) {
  case YOKE_E_UNSTABLE: return "unstable";
  case YOKE_E_NOT_CONVERGED:
  case YOKE_E_STEP_TOO_SMALL: return "not converged";
  case YOKE_E_INTERRUPTED: return "not run";
  default: return "not possible";
  }
}

/* Position or velocity, whichever is worse. */
static double worst_error(const yoke_converge_row *row) {
  return fmax(row->error[0], row->error[1]);
}

enum { ENOUGH = 100 }; /* one part in that many is what a run does not warn of */

/* What the rows of one method mean: how the errors fall between its two smallest steps, and which step is good for one per cent. */
static void print_meaning(const findings *f, int m) {
  yoke_converge_row fine = {0}, coarse = {0}; /* smallest steps that came to an end */
  int               n_good = 0;
  for (int k = 0; k < f->facts.n_steps; ++k) {
    const yoke_converge_row row = row_at(f, m, k);
    if (row.status != YOKE_OK) continue;
    const bool is_first = n_good++ == 0;
    if (is_first || row.H < fine.H) {
      coarse = fine;
      fine   = row;
    } else if (coarse.H == 0.0 || row.H < coarse.H) {
      coarse = row;
    }
  }
  if (n_good == 0) {
    puts("verdict    no step came to an end");
    return;
  }
  const double error = worst_error(&fine);
  const double order = n_good > 1 ? log(worst_error(&coarse) / error) / log(coarse.H / fine.H) : (double)NAN;
  if (!isfinite(order)) {
    printf("verdict    off by %.2g %% with H = %.6g s; two steps are needed to tell how errors fall\n", 100.0 * error,
           fine.H);
  } else if (order < 0.5) {
    printf(
        "verdict    errors do not fall any more below H = %.6g s, where they are %.2g %%: what is left is not of the "
        "step\n",
        coarse.H, 100.0 * error);
  } else {
    const double enough = fine.H * pow(1.0 / (ENOUGH * error), 1.0 / order);
    printf("verdict    errors fall like H^%.1f; off by %.2g %% with H = %.6g s", order, 100.0 * error, fine.H);
    if (enough <= 4.0 * coarse.H) /* a law of small steps holds for no others */
      printf(", by 1 %% with about %.1g s\n", enough);
    else
      puts("; larger steps may do");
  }
}

static void print_table(const findings *f, bool has_local) {
  const yoke_convergence_facts *c = &f->facts;
  printf("model      %s, %.6g .. %.6g s\n", *c->name ? c->name : "(no name)", c->t_start, c->t_end);
  printf("reference  the whole model, solver %s\n", *c->reference ? c->reference : "(none)");
  puts("errors     NRMSE at the macro points; order: against the line above");
  for (int m = 0; m < c->n_methods; ++m) {
    printf("\n%s\n  %-12s  %-15s  %-15s", row_at(f, m, 0).label, "H [s]", "global position", "global velocity");
    puts(has_local ? "  local position   local velocity" : "");
    for (int k = 0; k < c->n_steps; ++k) {
      const yoke_converge_row row = row_at(f, m, k);
      printf("  %-12.6g", row.H);
      if (row.status == YOKE_OK) {
        print_errors(&row, has_local);
      } else {
        printf("  %s: %s\n", failure_word(&row), row.reason ? row.reason : yoke_status_text(row.status));
      }
    }
    print_meaning(f, m);
  }
}

static void json_row(json *j, const yoke_converge_row *row) {
  static const char *const keys[YOKE_N_ERRORS] = {"global_position", "global_velocity", "local_position",
                                                  "local_velocity"};
  json_begin(j, NULL, '{');
  json_text(j, "method", row->label);
  json_number(j, "step", row->H);
  json_text(j, "status", row->status == YOKE_OK ? "done" : failure_word(row));
  json_text(j, "reason", row->reason);
  json_whole(j, "macro_steps", row->macro_steps);
  for (int part = 0; part < 2; ++part) {
    json_begin(j, part == 0 ? "error" : "order", '{');
    for (int e = 0; e < YOKE_N_ERRORS; ++e) json_number(j, keys[e], part == 0 ? row->error[e] : row->order[e]);
    json_end(j, '}');
  }
  json_end(j, '}');
}

static void print_json(const yoke_context *ctx, const char *path, const findings *f, yoke_status status) {
  const yoke_convergence_facts *c = &f->facts;
  json                          j = {.file = stdout};
  json_begin(&j, NULL, '{');
  json_text(&j, "status", status_word(status));
  json_whole(&j, "exit_code", yoke_status_exit_code(status));
  json_text(&j, "model", path);
  json_text(&j, "name", c->name);
  json_text(&j, "reference", c->reference && *c->reference ? c->reference : NULL);
  json_begin(&j, "rows", '[');
  for (int i = 0; i < c->n_methods * c->n_steps; ++i) {
    const yoke_converge_row row = row_at(f, i / c->n_steps, i % c->n_steps);
    json_row(&j, &row);
  }
  json_end(&j, ']');
  json_messages(&j, ctx, status);
  json_end(&j, '}');
}

/* ---- command ---- */

static int converge_model(const converge_arguments *a, yoke_converge_options *options) {
  yoke_context *ctx = create_context();
  if (!ctx) return EXIT_CODE_IO;
  findings found = {.facts.size = sizeof found.facts};
  progress line;
  progress_start(&line, a->quiet || a->json);
  options->progress        = progress_share;
  options->user            = &line;
  const yoke_status status = yoke_converge(ctx, options, &found.convergence);
  progress_clear(&line);
  if (found.convergence) (void)yoke_convergence_facts_get(ctx, found.convergence, &found.facts);
  if (a->json) {
    print_json(ctx, options->run->model, &found, status);
  } else if (!a->quiet && found.convergence) {
    print_table(&found, !a->no_local);
    if (status == YOKE_OK || status == YOKE_E_INTERRUPTED) {
      if (a->csv || a->svg) putchar('\n');
      print_wrote(stdout, a->csv, "the table, with all digits");
      print_wrote(stdout, a->svg, "errors over steps; the triangles show the orders");
    }
  }
  print_messages(ctx);
  yoke_convergence_destroy(&found.convergence);
  yoke_context_destroy(&ctx);
  return yoke_status_exit_code(status);
}

static int check_values(const command_def *command, const converge_arguments *a, const text_list *operands) {
  if (operands->n != 1) return usage_error(command, "one model file expected, %d given", operands->n);
  if (!a->steps) return usage_error(command, "--steps H1,H2,... is missing: which macro steps?");
  if (choice_value(&a->model.choices, "step")) return usage_error(command, "--step has no meaning here; give --steps");
  if (a->model.trace) return usage_error(command, "--trace has no meaning here; use yoke run");
  if (a->csv && !*a->csv) return usage_error(command, "--csv needs a file name");
  if (a->svg && !*a->svg) return usage_error(command, "--svg needs a file name");
  return PARSE_DONE;
}

static int converge_main(const command_def *command, int argc, char **argv) {
  converge_arguments    a        = {0};
  text_list             operands = {0};
  word_list             steps    = {0};
  method_list           methods  = {0};
  yoke_run_options      run      = {.size = sizeof run};
  yoke_converge_options options  = {.size = sizeof options, .run = &run};
  int                   code     = options_parse(command, argc, argv, &a, &operands);
  if (code != PARSE_DONE) return code;
  code = check_values(command, &a, &operands);
  if (code == PARSE_DONE) code = words_split(command, "steps", a.steps, &steps);
  if (code == PARSE_DONE) code = methods_expand(command, &a.model, a.index, false, &methods);
  if (code == PARSE_DONE) code = model_options_apply(command, &a.model, &run);
  if (code == PARSE_DONE && a.reference_rtol) {
    char *end              = NULL;
    options.reference_rtol = strtod(a.reference_rtol, &end);
    if (end == a.reference_rtol || *end || !(options.reference_rtol > 0.0) || !isfinite(options.reference_rtol))
      code = usage_error(command, "--reference-rtol is '%s', expected a number > 0", a.reference_rtol);
  }
  if (code == PARSE_DONE) {
    run.model         = operands.texts[0];
    run.interrupted   = interrupt_watch();
    options.n_steps   = steps.n;
    options.steps     = steps.words;
    options.n_methods = methods.n;
    options.methods   = methods.methods;
    options.no_local  = a.no_local;
    options.reference = a.reference;
    options.csv       = a.csv;
    options.svg       = a.svg;
    code              = converge_model(&a, &options);
  }
  words_release(&steps);
  methods_release(&methods);
  options_release(command, &a, &operands);
  return code;
}

const command_def converge_command = {
    .name      = "converge",
    .usage     = "MODEL --steps H1,H2,... [options]",
    .summary   = "errors and orders of coupling methods over macro steps",
    .details   = "Runs the co-simulation with every step and compares it with the whole model at the macro points. "
                 "Global errors: the\n"
                 "reference starts with the model; local errors: it starts anew at every macro point from the "
                 "co-simulation's state.\n"
                 "--scheme, --formulation, --decomposition, --extension, --index and --order may be comma lists: every "
                 "combination\n"
                 "is one method. A run that diverges is a line that says so.",
    .options   = converge_options,
    .n_options = (int)(sizeof converge_options / sizeof *converge_options),
    MODEL_CHOICES(converge_arguments),
    .run = converge_main,
};
