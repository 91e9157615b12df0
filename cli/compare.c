/* yoke compare: how far two results, or the co-simulation of a model and its monolithic run, are apart. */
#include "command.h"
#include "interrupt.h"
#include "model_options.h"
#include "progress.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct compare_arguments {
  model_arguments model;
  const char     *tol;
  bool            exact, json, quiet;
} compare_arguments;

static const option_def compare_options[] = {
    {"tol", 0, OPTION_TEXT, offsetof(compare_arguments, tol), "X", "largest NRMSE that counts as equal; default 1e-6"},
    {"exact", 0, OPTION_FLAG, offsetof(compare_arguments, exact), NULL,
     "equal means: the same quantities, times and bits"},
    {"json", 0, OPTION_FLAG, offsetof(compare_arguments, json), NULL, "print one JSON object instead of the table"},
    {"quiet", 'q', OPTION_FLAG, offsetof(compare_arguments, quiet), NULL, "print nothing, only exit with 0 or 1"},
    MODEL_OPTIONS(compare_arguments),
};

/* A comparison, if there is one, and what it says of itself. */
typedef struct findings {
  yoke_comparison      *comparison; /* NULL: none */
  yoke_comparison_facts facts;
} findings;

static yoke_status take_facts(yoke_context *ctx, findings *f) {
  f->facts.size = sizeof f->facts;
  return yoke_comparison_facts_get(ctx, f->comparison, &f->facts);
}

static yoke_difference difference_at(const findings *f, int i) {
  yoke_difference d = {.size = sizeof d};
  (void)yoke_comparison_get(NULL, f->comparison, i, &d);
  return d;
}

/* NaN (a value is finite in one only) is beyond every tolerance. */
static bool is_within(double nrmse, double tol) {
  return nrmse <= tol;
}

static yoke_status judge(yoke_context *ctx, const yoke_comparison_facts *c, bool exact, double tol) {
  if (exact) return c->same_bits ? YOKE_OK : YOKE_E_DIFFERENT;
  if (!c->same_span) {
    yoke_warn(ctx, "the results end or start at different times; compared from %.9g to %.9g s only", c->t_from,
              c->t_to);
    return YOKE_E_DIFFERENT;
  }
  return is_within(c->largest_nrmse, tol) ? YOKE_OK : YOKE_E_DIFFERENT;
}

static void print_table(const findings *f, const compare_arguments *a, double tol, yoke_status status) {
  const yoke_comparison_facts *c     = &f->facts;
  int                          width = 8;
  for (int i = 0; i < c->n_common; ++i) {
    const int length = (int)strlen(difference_at(f, i).name);
    if (length > width && length <= 40) width = length;
  }
  printf("%-*s  %12s  %12s  %12s\n", width, "quantity", "NRMSE", "largest", "at t [s]");
  for (int i = 0; i < c->n_common; ++i) {
    const yoke_difference d    = difference_at(f, i);
    const bool            fine = a->exact ? d.same_bits : is_within(d.nrmse, tol);
    printf("%-*s  %12.4e  %12.4e  %12.6g%s\n", width, d.name, d.nrmse, d.largest, d.t, fine ? "" : "  *");
  }
  if (c->is_interpolated) puts("the times differ: the result with more times was interpolated at those of the other");
  if (c->n_only_a > 0)
    printf("%d %s only in the first\n", c->n_only_a, plural(c->n_only_a, "quantity is", "quantities are"));
  if (c->n_only_b > 0)
    printf("%d %s only in the second\n", c->n_only_b, plural(c->n_only_b, "quantity is", "quantities are"));
  if (a->exact) {
    puts(status == YOKE_OK ? "equal in every bit" : "different (* marks quantities that differ in some bit)");
  } else {
    printf("%s: largest NRMSE %.4e, tolerance %.3g\n", status == YOKE_OK ? "equal" : "different", c->largest_nrmse,
           tol);
  }
}

static void print_json(const yoke_context *ctx, const findings *f, double tol, yoke_status status) {
  const yoke_comparison_facts *c = &f->facts;
  json                         j = {.file = stdout};
  json_begin(&j, NULL, '{');
  json_text(&j, "status", status_word(status));
  json_whole(&j, "exit_code", yoke_status_exit_code(status));
  json_number(&j, "tolerance", tol);
  json_number(&j, "largest_nrmse", c->n_common > 0 ? c->largest_nrmse : (double)NAN);
  json_truth(&j, "same_bits", c->same_bits);
  json_truth(&j, "same_span", c->same_span);
  json_truth(&j, "is_interpolated", c->is_interpolated);
  json_number(&j, "t_from", c->t_from);
  json_number(&j, "t_to", c->t_to);
  json_whole(&j, "only_in_first", c->n_only_a);
  json_whole(&j, "only_in_second", c->n_only_b);
  json_begin(&j, "quantities", '[');
  for (int i = 0; i < c->n_common; ++i) {
    const yoke_difference d = difference_at(f, i);
    json_begin(&j, NULL, '{');
    json_text(&j, "name", d.name);
    json_number(&j, "nrmse", d.nrmse);
    json_number(&j, "largest", d.largest);
    json_number(&j, "t", d.t);
    json_truth(&j, "same_bits", d.same_bits);
    json_end(&j, '}');
  }
  json_end(&j, ']');
  json_messages(&j, ctx, status);
  json_end(&j, '}');
}

/* What the comparison of a model ran. */
static void print_runs(const yoke_run_summary *split, const yoke_run_summary *whole) {
  printf("A  co-simulation: %s, %s, order %d, %lld macro steps of %.6g s, %lld integrations of subsystems, %.3g s\n",
         split->scheme, split->sequence, split->order, (long long)split->macro_steps, split->macro_step,
         (long long)split->integrations, split->wall_time);
  printf("B  monolithic: %s, rtol %.3g, %lld steps, %.3g s\n", whole->method, whole->rtol, (long long)whole->steps,
         whole->wall_time);
}

static int compare_model(const compare_arguments *a, yoke_run_options *options, double tol) {
  yoke_context *ctx = create_context();
  if (!ctx) return EXIT_CODE_IO;
  yoke_run_summary split = {.size = sizeof split}, whole = {.size = sizeof whole};
  findings         found = {0};
  progress         line;
  progress_start(&line, a->quiet || a->json);
  options->progress    = progress_update;
  options->user        = &line;
  options->interrupted = interrupt_watch();
  yoke_status status   = yoke_run_compare(ctx, options, &split, &whole, &found.comparison);
  progress_clear(&line);
  if (status == YOKE_OK) status = take_facts(ctx, &found);
  if (status == YOKE_OK) status = judge(ctx, &found.facts, a->exact, tol);
  if (a->json) {
    print_json(ctx, &found, tol, status);
  } else if (found.facts.n_common > 0 && !a->quiet) {
    print_runs(&split, &whole);
    print_table(&found, a, tol, status);
  }
  print_messages(ctx);
  yoke_comparison_destroy(&found.comparison);
  yoke_run_summary_release(&split);
  yoke_run_summary_release(&whole);
  yoke_context_destroy(&ctx);
  return yoke_status_exit_code(status);
}

static int compare_files(const compare_arguments *a, const char *path_a, const char *path_b, double tol) {
  yoke_context *ctx = create_context();
  if (!ctx) return EXIT_CODE_IO;
  yoke_result *result_a = NULL, *result_b = NULL;
  findings     found  = {0};
  yoke_status  status = yoke_result_open(ctx, path_a, &result_a);
  if (status == YOKE_OK) status = yoke_result_open(ctx, path_b, &result_b);
  if (status == YOKE_OK) status = yoke_result_compare(ctx, result_a, result_b, &found.comparison);
  if (status == YOKE_OK) status = take_facts(ctx, &found);
  if (status == YOKE_OK) status = judge(ctx, &found.facts, a->exact, tol);
  if (a->json) {
    print_json(ctx, &found, tol, status);
  } else if (found.facts.n_common > 0 && !a->quiet) {
    print_table(&found, a, tol, status);
  }
  print_messages(ctx);
  yoke_comparison_destroy(&found.comparison);
  yoke_result_close(&result_a);
  yoke_result_close(&result_b);
  yoke_context_destroy(&ctx);
  return yoke_status_exit_code(status);
}

static int compare_main(const command_def *command, int argc, char **argv) {
  compare_arguments a        = {0};
  text_list         operands = {0};
  yoke_run_options  options  = {.size = sizeof options};
  int               code     = options_parse(command, argc, argv, &a, &operands);
  if (code != PARSE_DONE) return code;
  double tol = 1e-6;
  char  *end = NULL;
  if (a.tol) tol = strtod(a.tol, &end);
  if (a.tol && (end == a.tol || *end || !isfinite(tol) || tol < 0.0)) {
    code = usage_error(command, "--tol is '%s', expected a number >= 0", a.tol);
  } else if (operands.n == 1 && !yoke_result_is_result(operands.texts[0])) {
    code = model_options_apply(command, &a.model, &options);
    if (code == PARSE_DONE) {
      trace_apply(&a.model, &options);
      options.model = operands.texts[0];
      code          = trace_end(&a.model, compare_model(&a, &options, tol));
    }
  } else if (operands.n != 2) {
    code = usage_error(command, "two results or one model expected, %d given", operands.n);
  } else {
    code = compare_files(&a, operands.texts[0], operands.texts[1], tol);
  }
  options_release(command, &a, &operands);
  return code;
}

const command_def compare_command = {
    .name      = "compare",
    .usage     = "A B | MODEL [options]",
    .summary   = "show how far two results are apart, or a model's co-simulation and its monolithic run",
    .details   = "For every common quantity: NRMSE of A against the reference B, the largest difference and its time.\n"
                 "With one model file, A is its co-simulation and B its monolithic run; the options of run apply.\n"
                 "When the output times differ, the result with more times is interpolated at those of the other.\n"
                 "Exits with 1 when the results differ by more than the tolerance or do not cover the same time.",
    .options   = compare_options,
    .n_options = (int)(sizeof compare_options / sizeof *compare_options),
    MODEL_CHOICES(compare_arguments),
    .run = compare_main,
};
