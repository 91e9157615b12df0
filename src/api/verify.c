/* Verification: a run once more with half its step, and how far both are apart. */
#include "api/accuracy.h"

#include "base/given.h"
#include "base/memory.h"
#include "base/output_file.h"
#include "base/sized.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the repeated run ---- */

/* What the repeated run is asked for; the number goes to `text`. */
static yoke_choice choose(const yoke_run_summary *s, yoke_verify_facts *facts, char text[YOKE_NUMBER_SIZE]) {
  *facts = (yoke_verify_facts){.step = (double)NAN, .rtol = (double)NAN};
  if (s->control[0] != '\0') {
    facts->rtol   = 0.1 * s->macro_rtol;
    facts->factor = 10.0 / 9.0;
    yoke_number_text(facts->rtol, text);
    return (yoke_choice){"cosimulation.step.rtol", text};
  }
  facts->step   = 0.5 * s->macro_step;
  facts->order  = s->convergence_order;
  facts->factor = 1.0 / (1.0 - pow(0.5, (double)facts->order));
  yoke_number_text(facts->step, text);
  return (yoke_choice){"cosimulation.step", text};
}

static yoke_status repeat(yoke_context *ctx, yoke_context *again, yoke_run_options own, yoke_run_summary *first,
                          yoke_verify_facts *facts, yoke_result **out) {
  char             text[YOKE_NUMBER_SIZE];
  yoke_run_summary second  = {0};
  yoke_choice     *choices = yoke_allocate((size_t)own.n_choices + 1, sizeof *choices);
  if (choices == NULL) return yoke_out_of_memory(ctx, "the run");
  for (int i = 0; i < own.n_choices; ++i) choices[i] = own.choices[i];
  choices[own.n_choices++] = choose(first, facts, text);
  own.choices              = choices;
  own.out = own.csv        = "";
  own.trace_file           = NULL;
  own.profile_file         = NULL;
  own.profile              = false;
  own.trace                = NULL;
  own.no_predict           = true;
  const yoke_status status = yoke_run_and_keep(again, &own, &second, out);
  second.size              = sizeof second;
  yoke_run_summary_release(&second);
  free(choices);
  return status;
}

/* ---- error bars beside the result ---- */

typedef struct table {
  const yoke_comparison *comparison;
  double                 factor;
} table;

static void put_table(FILE *file, const void *user) {
  const table          *x   = user;
  yoke_comparison_facts all = {.size = sizeof all};
  yoke_difference       one = {.size = sizeof one};
  char                  text[2][YOKE_NUMBER_SIZE];
  (void)yoke_comparison_facts_get(NULL, x->comparison, &all);
  fputs("quantity,error,time\n", file);
  for (int i = 0; i < all.n_common; ++i) {
    if (yoke_comparison_get(NULL, x->comparison, i, &one) != YOKE_OK) continue;
    yoke_number_text(x->factor * one.largest, text[0]);
    yoke_number_text(one.t, text[1]);
    fprintf(file, "%s,%s,%s\n", one.name, text[0], text[1]);
  }
}

static yoke_status write_table(yoke_context *ctx, const yoke_run_summary *s, const table *x) {
  const char *result = s->out != NULL ? s->out : s->csv;
  if (result == NULL) return YOKE_OK;
  const char  *slash = strrchr(result, '/'), *dot = strrchr(slash != NULL ? slash : result, '.');
  const int    length = dot != NULL ? (int)(dot - result) : (int)strlen(result);
  const size_t size   = (size_t)length + sizeof ".errors.csv";
  char        *name   = yoke_allocate(size, 1);
  if (name == NULL) return yoke_out_of_memory(ctx, "the error bars");
  snprintf(name, size, "%.*s.errors.csv", length, result);
  const yoke_status status = yoke_output_file_write(ctx, name, put_table, x);
  free(name);
  return status;
}

/* ---- all of it ---- */

static yoke_status verify(yoke_context *ctx, yoke_context *again, const yoke_run_options *own, yoke_run_summary *first,
                          yoke_verify_facts *facts, yoke_result *result, yoke_comparison **comparison) {
  yoke_result *other = NULL;
  if (!first->is_split) {
    yoke_warn(ctx, "there is nothing to verify: '%s' runs as a whole", yoke_run_name(own));
    return YOKE_OK;
  }
  yoke_status status = repeat(ctx, again, *own, first, facts, &other);
  if (status == YOKE_OK) status = yoke_result_compare(again, result, other, comparison);
  yoke_result_close(&other);
  if (status == YOKE_E_INTERRUPTED || status == YOKE_E_MEMORY) return status;
  if (status != YOKE_OK) {
    const size_t n = yoke_context_n_messages(again);
    yoke_warn(ctx,
              "the run could not be verified: repeated with half the step or a tenth of the tolerance it failed: %s",
              n > 0 && again != ctx ? yoke_context_message(again, n - 1) : yoke_status_text(status));
    return YOKE_OK;
  }
  return write_table(ctx, first, &(table){*comparison, facts->factor});
}

yoke_status yoke_run_verify(yoke_context *ctx, yoke_context *again, const yoke_run_options *options,
                            yoke_run_summary *summary, yoke_verify_facts *facts, yoke_comparison **comparison) {
  yoke_run_summary  filled = {0};
  yoke_verify_facts how    = {.step = (double)NAN, .rtol = (double)NAN};
  yoke_run_options  own;
  yoke_result      *result = NULL;
  *comparison              = NULL;
  YOKE_TRY(yoke_given(ctx, again, "context of the repeated run"));
  YOKE_TRY(yoke_sized_check(ctx, summary, "yoke_run_summary"));
  YOKE_TRY(yoke_sized_check(ctx, facts, "yoke_verify_facts"));
  yoke_status status = yoke_run_options_take(ctx, options, &own);
  if (status == YOKE_OK) status = yoke_run_and_keep(ctx, &own, &filled, &result);
  if (status == YOKE_OK) status = verify(ctx, again, &own, &filled, &how, result, comparison);
  yoke_result_close(&result);
  yoke_run_summary_give(summary, &filled);
  yoke_sized_give(facts, &how, sizeof how);
  return status;
}
