#include "tally.h"
#include "families.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[N_METHOD_KINDS] = {"default", "fixed", "controlled"};

/* True errors below this hold as much of the solvers as of the coupling: no ratio is formed. */
#define ESTIMATE_FLOOR 1e-5

/* ---- records ---- */

void tally_add(tally *t, const record *r) {
  if (t->n == t->room) {
    t->room    = t->room > 0 ? 2 * t->room : 256;
    t->records = realloc(t->records, (size_t)t->room * sizeof *t->records);
    assert(t->records != NULL);
  }
  t->records[t->n++] = *r;
}

void tally_release(tally *t) {
  free(t->records);
}

static int in_order(const void *a, const void *b) {
  const record *x = a, *y = b;
  if (x->seed != y->seed) return labs(x->seed) < labs(y->seed) ? -1 : 1;
  if (x->slot != y->slot) return x->slot - y->slot;
  return x->trial - y->trial;
}

void tally_sort(tally *t) {
  if (t->n > 0) qsort(t->records, (size_t)t->n, sizeof *t->records, in_order);
}

/* ---- selections ---- */

typedef bool selection(const record *r);

static bool accepted(const record *r) {
  return r->verdict != VERDICT_REFUSED && r->verdict != VERDICT_CHAOTIC && r->verdict != VERDICT_NO_REFERENCE;
}
static bool has_result(const record *r) {
  return accepted(r) && r->exit_code == 0;
}
static bool controlled(const record *r) {
  return accepted(r) && r->kind != METHOD_FIXED;
}
static bool silent(const record *r) {
  return r->verdict == VERDICT_SILENT;
}
static bool silent_controlled(const record *r) {
  return silent(r) && controlled(r);
}
static bool alarm_without_cause(const record *r) {
  return r->verdict == VERDICT_FALSE_ALARM;
}
static bool plain_without_cause(const record *r) {
  return has_result(r) && r->warned && !r->warned_strongly && r->error < 1e-3;
}
static bool estimated(const record *r) {
  return has_result(r) && !isnan(r->estimated) && r->error >= ESTIMATE_FLOOR && isfinite(r->error);
}
static bool well_estimated(const record *r) {
  return estimated(r) && r->estimated >= 0.3 * r->error && r->estimated <= 10.0 * r->error;
}

static int count(const tally *t, selection *of) {
  int n = 0;
  for (int i = 0; i < t->n; ++i) n += of(&t->records[i]);
  return n;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* error/rtol of controlled runs: the value that a share of them does not exceed. */
static double quantile(const tally *t, double share) {
  double *ratios = malloc(((size_t)t->n + 1) * sizeof *ratios), value = (double)NAN;
  int     n = 0;
  assert(ratios != NULL);
  for (int i = 0; i < t->n; ++i) {
    const record *r = &t->records[i];
    if (has_result(r) && controlled(r)) ratios[n++] = r->error / r->rtol;
  }
  qsort(ratios, (size_t)n, sizeof *ratios, ascending);
  if (n > 0) value = ratios[(int)fmin(share * n, n - 1)];
  free(ratios);
  return value;
}

/* ---- tables ---- */

void tally_write_record(FILE *out, const record *r, char *const *names) {
  if (r->seed < 0) {
    fprintf(out, "%s: %s", names[-1 - r->seed], verdict_words(r->verdict));
  } else {
    fprintf(out, "seed %ld (%s, L = %.3g m): %s", r->seed, trial_family_name(r->family), r->size,
            verdict_words(r->verdict));
  }
  if (!isnan(r->error)) {
    fprintf(out, ", error %.2g in %s at t = %.3g%s", r->error, r->quantity, r->time, r->seed < 0 ? " s" : "*T");
  }
  if (r->rtol > 0.0) fprintf(out, ", rtol %.2g", r->rtol);
  if (!isnan(r->estimated)) fprintf(out, ", estimated %.2g", r->estimated);
  if (!isnan(r->evaluations) && r->evaluations > 0.0) fprintf(out, ", %.0f right-hand sides", r->evaluations);
  if (r->exit_code > 0) fprintf(out, ", exit code %d", r->exit_code);
  if (r->seed >= 0 && r->verdict < VERDICT_CHAOTIC) {
    char model[40];
    snprintf(model, sizeof model, "seed-%ld.yaml", r->seed);
    fputs("\n  ", out);
    method_write_command(out, model, r->arguments);
  }
  if (r->message[0] != '\0') fprintf(out, "\n  %s", r->message);
  fputc('\n', out);
}

static void write_text(FILE *out, const char *words) {
  fputs(",\"", out);
  for (; *words != '\0'; ++words) fputc(*words == '"' || *words == '\n' ? '\'' : *words, out);
  fputc('"', out);
}

void tally_write_csv(FILE *out, const tally *t) {
  fputs("seed,family,slot,trial,kind,verdict,exit_code,error,estimated,rtol,size,evaluations,best_evaluations,warned,"
        "warned_strongly,quantity,arguments,message\n",
        out);
  for (int i = 0; i < t->n; ++i) {
    const record *r = &t->records[i];
    fprintf(out, "%ld,%s,%d,%d,%s,%s,%d,%.6g,%.6g,%.6g,%.6g,%.9g,%.9g,%d,%d", r->seed, trial_family_name(r->family),
            r->slot, r->trial, kind_names[r->kind], verdict_words(r->verdict), r->exit_code, r->error, r->estimated,
            r->rtol, r->size, r->evaluations, r->best_evaluations, r->warned, r->warned_strongly);
    write_text(out, r->quantity);
    write_text(out, r->arguments);
    write_text(out, r->message);
    fputc('\n', out);
  }
}

/* A row: accepted runs, and how many have each verdict. family, kind -1: all; verdicts of models belong to no kind. */
static void write_row(FILE *out, const tally *t, const char *name, int family, int kind) {
  int n = 0, counts[N_VERDICTS] = {0};
  for (int i = 0; i < t->n; ++i) {
    const record *r = &t->records[i];
    if (family >= 0 && r->family != family) continue;
    if (kind >= 0 && ((int)r->kind != kind || r->verdict >= VERDICT_CHAOTIC)) continue;
    n += accepted(r);
    ++counts[r->verdict];
  }
  fprintf(out, "%-11s %8d", name, n);
  for (int v = 0; v < N_VERDICTS; ++v) fprintf(out, " %*d", (int)strlen(verdict_words((verdict)v)) + 1, counts[v]);
  fputc('\n', out);
}

static void write_head(FILE *out, const char *name) {
  fprintf(out, "%-11s %8s", name, "accepted");
  for (int v = 0; v < N_VERDICTS; ++v) fprintf(out, "  %s", verdict_words((verdict)v));
  fputc('\n', out);
}

/* One limit and whether it is kept. */
static bool write_share(FILE *out, const char *what, int n, int of, double most) {
  const double share = of > 0 ? (double)n / of : 0.0;
  const bool   kept  = share <= most;
  fprintf(out, "%-52s %5d of %5d, %6.2f %%, allowed %g %%%s\n", what, n, of, 100.0 * share, 100.0 * most,
          kept ? "" : "  EXCEEDED");
  return kept;
}

/* Silent ones first by error. */
static int worst_first(const void *a, const void *b) {
  const record *x = *(const record *const *)a, *y = *(const record *const *)b;
  return (x->error < y->error) - (x->error > y->error);
}

static void write_silent(FILE *out, const tally *t, int most) {
  const record **list = malloc(((size_t)t->n + 1) * sizeof *list);
  int            n    = 0;
  assert(list != NULL);
  for (int i = 0; i < t->n; ++i) {
    if (silent(&t->records[i])) list[n++] = &t->records[i];
  }
  qsort(list, (size_t)n, sizeof *list, worst_first);
  if (n > 0) fprintf(out, "\nsilently wrong, worst first; campaign --seed N --write seed-N.yaml writes the model\n");
  for (int i = 0; i < n && i < most; ++i) tally_write_record(out, list[i], NULL);
  if (n > most) fprintf(out, "... and %d more (--log FILE has all)\n", n - most);
  free(list);
}

bool tally_report(FILE *out, const tally *t, int most) {
  const int runs = count(t, accepted), n_estimated = count(t, estimated);
  write_head(out, "family");
  for (int f = 0; f < N_FAMILIES; ++f) write_row(out, t, trial_family_name(f), f, -1);
  write_row(out, t, "all", -1, -1);
  fputc('\n', out);
  write_head(out, "steps");
  for (int k = 0; k < N_METHOD_KINDS; ++k) write_row(out, t, kind_names[k], -1, k);
  fputc('\n', out);
  bool kept = write_share(out, "error above 10 % without a warning", count(t, silent), runs, 0.002);
  kept &= write_share(out, "strong warning, error below 1 %", count(t, alarm_without_cause), runs, 0.02);
  kept &= write_share(out, "plain warning, error below 0.1 %", count(t, plain_without_cause), runs, 0.1);
  kept &= write_share(out, "under control: error above 10 % without a warning", count(t, silent_controlled),
                      count(t, controlled), 0.0);
  if (n_estimated > 0) {
    kept &= write_share(out, "estimated/true outside of [0.3, 10]", n_estimated - count(t, well_estimated), n_estimated,
                        0.1);
  } else {
    fprintf(out, "estimated/true: no run reports an estimate\n");
  }
  const double median = quantile(t, 0.5), high = quantile(t, 0.99);
  const bool   fits = median >= 0.1 && median <= 2.0 && high <= 30.0;
  fprintf(out, "under control: error/rtol median %.3g (0.1 to 2), 90 %% %.3g, 99 %% %.3g (at most 30)%s\n", median,
          quantile(t, 0.9), high, fits ? "" : "  EXCEEDED");
  write_silent(out, t, most);
  return kept && fits;
}

bool tally_report_grid(FILE *out, const tally *t, char *const *names) {
  int n = 0, within = 0, above = 0, inaccurate = 0, without = 0;
  for (int i = 0; i < t->n; ++i) {
    const record *r = &t->records[i];
    tally_write_record(out, r, names);
    if (!accepted(r)) continue;
    ++n;
    /* A fixed step that is as accurate does not exist: the default is better than all. */
    const double ratio = isnan(r->best_evaluations) ? 0.0 : r->evaluations / r->best_evaluations;
    if (ratio > 0.0) fprintf(out, "  %.2f times the best fixed step (%.0f)\n", ratio, r->best_evaluations);
    if (ratio == 0.0 && r->exit_code == 0) fprintf(out, "  no fixed step as accurate\n");
    within += r->exit_code == 0 && ratio <= 1.5;
    above += ratio > 4.0;
    without += ratio == 0.0;
    inaccurate += !(r->error <= 10.0 * r->rtol);
  }
  fprintf(
      out,
      "%d defaults: %d with an error above 10 rtol or without a result; right-hand sides at most 1.5 times the best "
      "fixed step: %d, above 4 times: %d; no fixed step as accurate: %d\n",
      n, inaccurate, within, above, without);
  return inaccurate == 0 && above == 0 && 3 * within >= 2 * n;
}
