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
  bool            exact, all, json, quiet;
} compare_arguments;

static const option_def compare_options[] = {
    {"tol", 0, OPTION_TEXT, offsetof(compare_arguments, tol), "X",
     "largest NRMSE that counts as equal; default: what the runs asked for"},
    {"exact", 0, OPTION_FLAG, offsetof(compare_arguments, exact), NULL,
     "equal means: the same quantities, times and bits"},
    {"all", 'a', OPTION_FLAG, offsetof(compare_arguments, all), NULL, "list every quantity, not only the worst"},
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

/* ---- the verdict ---- */

/* What counts as equal, and why. */
typedef struct standard {
  double tol;         /* of the NRMSE */
  bool   motion_only; /* forces, accelerations and energies follow from the motion; the tolerance is not about them */
  const char *reason; /* "" or ": ..." */
  const char *remedy; /* for results that differ: "" or "; ..." */
} standard;

/* What a run asks of itself. Under step control errors stay below ten times its rtol in all but one per cent of runs
 * (docs/defaults.md); with a fixed step the run warns of errors above one per cent. */
static standard own_standard(bool is_split, double macro_rtol) {
  if (is_split && isfinite(macro_rtol))
    return (standard){10.0 * macro_rtol, true, ": ten times the rtol of its step control",
                      "; a smaller --macro-rtol brings the runs together"};
  if (is_split)
    return (standard){1e-2, true, ": where a run with a fixed step begins to warn",
                      "; a smaller --step, or --step auto, brings the runs together"};
  return (standard){1e-6, false, "", ""};
}

/* The larger of both, or what the user wants, of all quantities. */
static standard choose_standard(const char *wanted, standard a, standard b) {
  standard chosen = a.tol >= b.tol ? a : b;
  if (wanted) chosen = (standard){strtod(wanted, NULL), false, "", chosen.remedy};
  return chosen;
}

/* A comparison without any motion judges what there is. */
static void look_for_motion(const findings *f, standard *s) {
  bool any = false;
  for (int i = 0; i < f->facts.n_common; ++i) any = any || difference_at(f, i).is_motion;
  s->motion_only = s->motion_only && any;
}

static bool is_judged(const yoke_difference *d, const standard *s) {
  return !s->motion_only || d->is_motion;
}

/* NaN (a value is finite in one only) is beyond every tolerance. */
static bool is_within(double nrmse, double tol) {
  return nrmse <= tol;
}

static yoke_status judge(yoke_context *ctx, const findings *f, bool exact, const standard *s) {
  const yoke_comparison_facts *c = &f->facts;
  if (exact) return c->same_bits ? YOKE_OK : YOKE_E_DIFFERENT;
  if (!c->same_span) {
    yoke_warn(ctx, "the results end or start at different times; compared from %.9g to %.9g s only", c->t_from,
              c->t_to);
    return YOKE_E_DIFFERENT;
  }
  for (int i = 0; i < c->n_common; ++i) {
    const yoke_difference d = difference_at(f, i);
    if (is_judged(&d, s) && !is_within(d.nrmse, s->tol)) return YOKE_E_DIFFERENT;
  }
  return YOKE_OK;
}

/* The worst first; NaN is worse than all. */
static int compare_differences(const void *a, const void *b) {
  const yoke_difference *x = a, *y = b;
  if (isnan(x->nrmse) != isnan(y->nrmse)) return isnan(x->nrmse) ? -1 : 1;
  if (x->nrmse > y->nrmse) return -1;
  if (x->nrmse < y->nrmse) return 1;
  return strcmp(x->name, y->name);
}

/* The worst of those that are judged, or of the others; NULL: there are none. */
static const yoke_difference *worst_of(const yoke_difference *sorted, int n, const standard *s, bool judged) {
  for (int i = 0; i < n; ++i) {
    if (is_judged(&sorted[i], s) == judged) return &sorted[i];
  }
  return NULL;
}

static void print_verdict(const yoke_difference *sorted, int n, const standard *s, yoke_status status) {
  const yoke_difference *worst = worst_of(sorted, n, s, true), *other = worst_of(sorted, n, s, false);
  const char            *what = s->motion_only ? "motions" : "quantities";
  if (is_within(worst->nrmse, s->tol)) {
    printf("%s: of all %s %s is worst, its NRMSE %.4g is within %.3g%s\n",
           status == YOKE_OK ? "equal" : "different in their times", what, worst->name, worst->nrmse, s->tol,
           s->reason);
  } else {
    printf("different: of all %s %s is worst, its NRMSE %.4g exceeds %.3g%s%s\n", what, worst->name, worst->nrmse,
           s->tol, s->reason, s->remedy);
  }
  if (other)
    printf("not judged: forces, accelerations, energies and other quantities that follow from the motion; %s is worst, "
           "NRMSE %.4g\n",
           other->name, other->nrmse);
}

enum { N_SHOWN = 20 };

static void print_table(const findings *f, const yoke_difference *sorted, const compare_arguments *a, const standard *s,
                        yoke_status status) {
  const yoke_comparison_facts *c     = &f->facts;
  const int                    shown = a->all || c->n_common <= N_SHOWN + 1 ? c->n_common : N_SHOWN;
  int                          width = 8;
  for (int i = 0; i < shown; ++i) {
    const int length = (int)strlen(sorted[i].name);
    if (length > width && length <= 40) width = length;
  }
  printf("%-*s  %12s  %12s  %12s\n", width, "quantity", "NRMSE", "largest", "at t [s]");
  for (int i = 0; i < shown; ++i) {
    const yoke_difference *d    = &sorted[i];
    const bool             fine = a->exact ? d->same_bits : !is_judged(d, s) || is_within(d->nrmse, s->tol);
    printf("%-*s  %12.4e  %12.4e  %12.6g%s\n", width, d->name, d->nrmse, d->largest, d->t, fine ? "" : "  *");
  }
  if (shown < c->n_common) printf("... %d more that differ less (--all lists them)\n", c->n_common - shown);
  if (c->is_interpolated) puts("the times differ: the result with more times was interpolated at those of the other");
  if (c->n_only_a > 0)
    printf("%d %s only in the first\n", c->n_only_a, plural(c->n_only_a, "quantity is", "quantities are"));
  if (c->n_only_b > 0)
    printf("%d %s only in the second\n", c->n_only_b, plural(c->n_only_b, "quantity is", "quantities are"));
  if (a->exact) {
    puts(status == YOKE_OK ? "equal in every bit" : "different (* marks quantities that differ in some bit)");
  } else {
    print_verdict(sorted, c->n_common, s, status);
  }
}

static yoke_status print_comparison(yoke_context *ctx, const findings *f, const compare_arguments *a, const standard *s,
                                    yoke_status status) {
  const int        n      = f->facts.n_common;
  yoke_difference *sorted = calloc((size_t)n, sizeof *sorted);
  if (!sorted) return yoke_fail(ctx, YOKE_E_MEMORY, "no memory for a table of %d quantities", n);
  for (int i = 0; i < n; ++i) sorted[i] = difference_at(f, i);
  qsort(sorted, (size_t)n, sizeof *sorted, compare_differences);
  print_table(f, sorted, a, s, status);
  free(sorted);
  return status;
}

static void print_json(const yoke_context *ctx, const findings *f, const standard *s, yoke_status status) {
  const yoke_comparison_facts *c = &f->facts;
  json                         j = {.file = stdout};
  json_begin(&j, NULL, '{');
  json_text(&j, "status", status_word(status));
  json_whole(&j, "exit_code", yoke_status_exit_code(status));
  json_number(&j, "tolerance", s->tol);
  json_text(&j, "judged", s->motion_only ? "motions" : "all");
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
    json_truth(&j, "judged", is_judged(&d, s));
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

/* Judges and prints. */
static yoke_status report(yoke_context *ctx, const compare_arguments *a, const findings *f, standard s,
                          const yoke_run_summary *split, const yoke_run_summary *whole, yoke_status status) {
  look_for_motion(f, &s);
  if (status == YOKE_OK) status = judge(ctx, f, a->exact, &s);
  if (a->json) {
    print_json(ctx, f, &s, status);
  } else if (f->facts.n_common > 0 && !a->quiet) {
    if (split) print_runs(split, whole);
    status = print_comparison(ctx, f, a, &s, status);
  }
  print_messages(ctx);
  return status;
}

static int compare_model(const compare_arguments *a, yoke_run_options *options) {
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
  const standard own = own_standard(true, split.macro_rtol);
  status             = report(ctx, a, &found, choose_standard(a->tol, own, own), &split, &whole, status);
  yoke_comparison_destroy(&found.comparison);
  yoke_run_summary_release(&split);
  yoke_run_summary_release(&whole);
  yoke_context_destroy(&ctx);
  return yoke_status_exit_code(status);
}

static standard standard_of(const yoke_result *result) {
  yoke_result_facts facts = {.size = sizeof facts};
  (void)yoke_result_facts_get(NULL, result, &facts);
  return own_standard(facts.n_subsystems > 0, facts.macro_rtol);
}

static int compare_files(const compare_arguments *a, const char *path_a, const char *path_b) {
  yoke_context *ctx = create_context();
  if (!ctx) return EXIT_CODE_IO;
  yoke_result *result_a = NULL, *result_b = NULL;
  findings     found  = {0};
  standard     own[2] = {own_standard(false, 0.0), own_standard(false, 0.0)};
  yoke_status  status = yoke_result_open(ctx, path_a, &result_a);
  if (status == YOKE_OK) status = yoke_result_open(ctx, path_b, &result_b);
  if (status == YOKE_OK) status = yoke_result_compare(ctx, result_a, result_b, &found.comparison);
  if (status == YOKE_OK) status = take_facts(ctx, &found);
  if (result_a) own[0] = standard_of(result_a);
  if (result_b) own[1] = standard_of(result_b);
  status = report(ctx, a, &found, choose_standard(a->tol, own[0], own[1]), NULL, NULL, status);
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
  char        *end = NULL;
  const double tol = a.tol ? strtod(a.tol, &end) : 0.0;
  if (a.tol && (end == a.tol || *end || !isfinite(tol) || tol < 0.0)) {
    code = usage_error(command, "--tol is '%s', expected a number >= 0", a.tol);
  } else if (operands.n == 1 && !yoke_result_is_result(operands.texts[0])) {
    code = model_options_apply(command, &a.model, &options);
    if (code == PARSE_DONE) {
      trace_apply(&a.model, &options);
      options.model = operands.texts[0];
      code          = trace_end(&a.model, compare_model(&a, &options));
    }
  } else if (operands.n != 2) {
    code = usage_error(command, "two results or one model expected, %d given", operands.n);
  } else {
    code = compare_files(&a, operands.texts[0], operands.texts[1]);
  }
  options_release(command, &a, &operands);
  return code;
}

const command_def compare_command = {
    .name    = "compare",
    .usage   = "A B | MODEL [options]",
    .summary = "show how far two results are apart, or a model's co-simulation and its monolithic run",
    .details = "For the common quantities, worst first: NRMSE of A against the reference B, the largest difference and "
               "its time.\n"
               "With one model file, A is its co-simulation and B its monolithic run; the options of run apply.\n"
               "When the output times differ, the result with more times is interpolated at those of the other.\n"
               "Without --tol positions, angles and their rates are judged by what the runs asked for: ten times the "
               "rtol of step\n"
               "control, 1e-2 with a fixed macro step; results that are no co-simulations by 1e-6, in all quantities.\n"
               "Exits with 1 when the results differ by more than the tolerance or do not cover the same time.",
    .options = compare_options,
    .n_options = (int)(sizeof compare_options / sizeof *compare_options),
    MODEL_CHOICES(compare_arguments),
    .run = compare_main,
};
