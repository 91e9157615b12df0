/* Convergence studies: all methods with all steps, and their files. Public part: yoke/converge.h. */
#include "analysis/convergence.h"
#include "api/method_choice.h"
#include "api/output_check.h"
#include "api/run.h"
#include "base/cancel.h"
#include "base/hooks.h"
#include "base/memory.h"
#include "base/output_file.h"
#include "base/sized.h"
#include "base/text.h"
#include "io/csv.h"
#include "master/idle_settings.h"
#include "plot/plot.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LABEL = 200, MAX_SLOPES = 4 };

struct yoke_convergence {
  yoke_arena             arena; /* of rows and texts */
  yoke_convergence_facts facts;
  char                   reference[24];
  yoke_converge_row     *rows; /* [n_methods, n_steps] */
};

_Static_assert((int)YOKE_ERROR_GLOBAL_POSITION == (int)YOKE_DEVIATION_GLOBAL_POSITION &&
                   (int)YOKE_ERROR_GLOBAL_VELOCITY == (int)YOKE_DEVIATION_GLOBAL_VELOCITY &&
                   (int)YOKE_ERROR_LOCAL_POSITION == (int)YOKE_DEVIATION_LOCAL_POSITION &&
                   (int)YOKE_ERROR_LOCAL_VELOCITY == (int)YOKE_DEVIATION_LOCAL_VELOCITY &&
                   (int)YOKE_N_ERRORS == (int)YOKE_N_DEVIATIONS,
               "kinds of errors of the study and of the measurement");

const char *yoke_error_name(int kind) {
  return yoke_deviation_name(kind);
}

/* ---- runs ---- */

/* A setting that nothing reads in `n` of the runs. */
typedef struct idle_setting {
  int  n;
  char key[256], position[120], reason[400];
} idle_setting;

enum { MAX_IDLE = 16 };

typedef struct study {
  yoke_context                *ctx;
  const yoke_converge_options *options;
  yoke_convergence            *out;
  int                          n_done;  /* runs */
  int                          n_built; /* whose couplings could be built */
  int                          n_idle;  /* settings that had no effect in some of them */
  idle_setting                 idle[MAX_IDLE];
  double                       t_start, t_end; /* of the present one */
  bool                         is_ready;       /* there are rows */
} study;

/* A run has a setting that nothing reads there; another method may. */
static void count_idle(void *user, const yoke_setting_value *value, const char *key, const char *reason) {
  study *s = user;
  int    i = 0;
  while (i < s->n_idle && strcmp(s->idle[i].key, key) != 0) ++i;
  if (i == MAX_IDLE) return;
  if (i == s->n_idle) {
    idle_setting *idle = &s->idle[s->n_idle++];
    *idle              = (idle_setting){0};
    snprintf(idle->key, sizeof idle->key, "%s", key);
    snprintf(idle->position, sizeof idle->position, "%s", value->position);
    snprintf(idle->reason, sizeof idle->reason, "%s", reason);
  }
  ++s->idle[i].n;
}

static void warn_idle(const study *s) {
  for (int i = 0; i < s->n_idle; ++i) {
    const idle_setting *idle = &s->idle[i];
    if (idle->n == s->n_built)
      yoke_warn(s->ctx, "%s: key '%s' has no effect in any of the runs: %s; leave it out, or change the other",
                idle->position, idle->key, idle->reason);
  }
}

static bool report(void *user, double t) {
  const study                 *s = user;
  const yoke_converge_options *o = s->options;
  if (o->run->interrupted != NULL && *o->run->interrupted != 0) return false;
  const double part = s->t_end > s->t_start ? (t - s->t_start) / (s->t_end - s->t_start) : 1.0;
  const double all  = (double)s->out->facts.n_methods * (double)s->out->facts.n_steps;
  return o->progress == NULL || o->progress(o->user, ((double)s->n_done + part) / all);
}

static yoke_status measure(study *s, yoke_context *ctx, yoke_model *model, const yoke_run_options *run,
                           yoke_converge_row *row) {
  const yoke_converge_options  *o          = s->options;
  yoke_run_system               run_system = {0};
  const yoke_simulation_options simulation = yoke_run_simulation(run);
  yoke_error_request            request    = {.model = model, .progress = report, .user = s};
  model->output.every                      = model->t_end - model->t_start; /* no samples between */
  s->t_start                               = model->t_start;
  s->t_end                                 = model->t_end;
  row->H                                   = model->cosimulation.step;
  yoke_status status                       = yoke_run_system_create(ctx, &simulation, model, NULL, 0.0, &run_system);
  if (status == YOKE_OK) {
    ++s->n_built;
    yoke_idle_settings(model, run_system.plan, count_idle, s);
  }
  if (status == YOKE_OK) status = yoke_reference_create(ctx, model, o->reference, o->reference_rtol, &request.global);
  if (status == YOKE_OK && !o->no_local)
    status = yoke_reference_create(ctx, model, o->reference, o->reference_rtol, &request.local);
  if (status == YOKE_OK) {
    snprintf(s->out->reference, sizeof s->out->reference, "%s", yoke_reference_solver(request.global));
    status = yoke_convergence_measure(ctx, run_system.system, &request, row->error, &row->macro_steps);
  }
  yoke_reference_destroy(&request.global);
  yoke_reference_destroy(&request.local);
  yoke_run_system_clear(&run_system);
  return status;
}

/* First error of the context, or what the status means. */
static const char *reason_of(const yoke_context *ctx, yoke_status status) {
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) {
    if (yoke_context_message_severity(ctx, i) == YOKE_SEVERITY_ERROR) return yoke_context_message(ctx, i);
  }
  return yoke_status_text(status);
}

/* One run; its messages stay in the row. YOKE_E_MEMORY, YOKE_E_INTERRUPTED: the study ends. */
static yoke_status run_one(study *s, const yoke_method_choice *method, const char *step, yoke_choice *choices,
                           yoke_converge_row *row) {
  yoke_context          *ctx   = NULL;
  yoke_model            *model = NULL;
  const yoke_run_options run   = yoke_method_options(s->options->run, method, step, choices);
  if (yoke_context_create(&ctx) != YOKE_OK) return yoke_out_of_memory(s->ctx, "the convergence study");
  yoke_cancel cancel = {.flag = run.interrupted};
  yoke_context_watch(ctx, &cancel);
  (void)yoke_context_set_memory(ctx, yoke_context_memory(s->ctx)); /* it was good there */
  row->status = yoke_run_load(ctx, &run, &model);
  if (row->status == YOKE_OK) row->status = measure(s, ctx, model, &run, row);
  if (row->status != YOKE_OK) row->reason = yoke_arena_text(&s->out->arena, reason_of(ctx, row->status));
  yoke_model_destroy(&model);
  yoke_context_destroy(&ctx);
  ++s->n_done;
  if (row->status == YOKE_E_INTERRUPTED) return yoke_fail(s->ctx, YOKE_E_INTERRUPTED, "interrupted");
  if (row->status == YOKE_E_MEMORY) return yoke_out_of_memory(s->ctx, "the convergence study");
  return YOKE_OK;
}

static void find_orders(yoke_convergence *c) {
  for (int m = 0; m < c->facts.n_methods; ++m) {
    for (int k = 1; k < c->facts.n_steps; ++k) {
      yoke_converge_row *row = &c->rows[m * c->facts.n_steps + k], *before = row - 1;
      for (int e = 0; e < YOKE_N_ERRORS; ++e) {
        const double order = log(row->error[e] / before->error[e]) / log(row->H / before->H);
        if (isfinite(order)) row->order[e] = order;
      }
    }
  }
}

/* ---- files ---- */

static void put_csv(FILE *file, const void *user) {
  const yoke_convergence *c = user;
  fputs("method,H,global position,global velocity,local position,local velocity,order global position,order global "
        "velocity,order local position,order local velocity,status\n",
        file);
  for (int i = 0; i < c->facts.n_methods * c->facts.n_steps; ++i) {
    const yoke_converge_row *row = &c->rows[i];
    yoke_csv_put_quoted(file, row->label);
    fputc(',', file);
    yoke_csv_put_number(file, row->H);
    for (int e = 0; e < 2 * YOKE_N_ERRORS; ++e) {
      fputc(',', file);
      yoke_csv_put_number(file, e < YOKE_N_ERRORS ? row->error[e] : row->order[e - YOKE_N_ERRORS]);
    }
    fputc(',', file);
    yoke_csv_put_quoted(file, row->status == YOKE_OK ? "done"
                              : row->reason != NULL  ? row->reason
                                                     : yoke_status_text(row->status));
    fputc('\n', file);
  }
}

/* Triangles below the lowest line of each order that occurs, at most MAX_SLOPES: between two steps. */
static int find_slopes(const yoke_convergence *c, int e, yoke_plot_slope *slopes) {
  int n = 0;
  for (int p = 1; p <= 12 && n < MAX_SLOPES; ++p) {
    double lowest = INFINITY, H = 0.0, factor = 1.0;
    for (int i = 0; i < c->facts.n_methods * c->facts.n_steps; ++i) {
      const yoke_converge_row *row = &c->rows[i];
      if (i % c->facts.n_steps == 0 || !(fabs(row->order[e] - p) < 0.3)) continue;
      const double ratio = row[-1].H / row->H, end = fmin(row->error[e], row[-1].error[e]);
      if (!(end < lowest) || ratio == 1.0) continue;
      lowest = end;
      H      = fmin(row->H, row[-1].H);
      factor = ratio > 1.0 ? ratio : 1.0 / ratio;
    }
    if (!isfinite(lowest) || !(lowest > 0.0)) continue;
    slopes[n++] = (yoke_plot_slope){.x = H, .y = lowest / 2.5, .factor = fmin(factor, 4.0), .slope = p};
  }
  return n;
}

static yoke_status write_svg(yoke_context *ctx, const char *path, const yoke_convergence *c, bool has_local) {
  const int         n_errors = has_local ? YOKE_N_ERRORS : 2;
  const size_t      n_rows   = (size_t)c->facts.n_methods * (size_t)c->facts.n_steps;
  yoke_plot_panel   panels[YOKE_N_ERRORS];
  yoke_plot_slope   slopes[YOKE_N_ERRORS][MAX_SLOPES];
  yoke_plot_series *series = yoke_allocate((size_t)c->facts.n_methods * YOKE_N_ERRORS, sizeof *series);
  double           *x      = yoke_allocate(n_rows * (1 + YOKE_N_ERRORS), sizeof *x);
  yoke_status       status = series != NULL && x != NULL ? YOKE_OK : yoke_out_of_memory(ctx, "the convergence study");
  for (size_t i = 0; status == YOKE_OK && i < n_rows; ++i) {
    x[i] = c->rows[i].H;
    for (int e = 0; e < YOKE_N_ERRORS; ++e) x[(size_t)(1 + e) * n_rows + i] = c->rows[i].error[e];
  }
  for (int e = 0; status == YOKE_OK && e < n_errors; ++e) {
    for (int m = 0; m < c->facts.n_methods; ++m) {
      series[e * c->facts.n_methods + m] = (yoke_plot_series){.label = c->rows[m * c->facts.n_steps].label,
                                                              .n     = c->facts.n_steps,
                                                              .x     = x + m * c->facts.n_steps,
                                                              .y = x + (size_t)(1 + e) * n_rows + m * c->facts.n_steps,
                                                              .has_marks = true,
                                                              .style     = m};
    }
    panels[e] = (yoke_plot_panel){.title    = yoke_error_name(e),
                                  .x        = {.caption = "macro step H [s]", .is_log = true},
                                  .y        = {.caption = "NRMSE [1]", .is_log = true},
                                  .n_series = c->facts.n_methods,
                                  .series   = series + e * c->facts.n_methods,
                                  .n_slopes = find_slopes(c, e, slopes[e]),
                                  .slopes   = slopes[e]};
  }
  char title[MAX_LABEL];
  snprintf(title, sizeof title, "%s: coupling error", c->facts.name[0] != '\0' ? c->facts.name : "model");
  const yoke_plot_figure figure = {.title = title,
                                   .description =
                                       "Error of the co-simulation against the whole model over the macro step",
                                   .n_columns = 2,
                                   .n_rows    = n_errors / 2,
                                   .panels    = panels};
  if (status == YOKE_OK) status = yoke_plot_write(ctx, path, &figure);
  free(series);
  free(x);
  return status;
}

/* ---- the study ---- */

/* A mistake in the model or in a macro step is no matter of rows. `model`: gives, with the last of the steps. */
static yoke_status check_steps(study *s, yoke_choice *choices, yoke_model **model) {
  static const yoke_method_choice plain = {.size = sizeof plain};
  for (int k = 0; k < s->options->n_steps; ++k) {
    yoke_model_destroy(model);
    const char            *step = s->options->steps[k];
    const yoke_run_options run  = yoke_method_options(s->options->run, &plain, step, choices);
    YOKE_TRY(yoke_run_load(s->ctx, &run, model));
    if ((*model)->n_parts == 0)
      return yoke_fail(s->ctx, YOKE_E_USAGE,
                       "'%s' has no split: there is no coupling whose error could be measured; add a section split "
                       "(yoke split proposes one)",
                       yoke_run_name(&run));
    YOKE_TRY(yoke_run_needs_whole(s->ctx, &run, *model));
    if (!(*model)->cosimulation.has_step)
      return yoke_fail(s->ctx, YOKE_E_USAGE,
                       "macro step '%s': a step that is chosen during the run has no order; give a number", step);
  }
  return YOKE_OK;
}

static yoke_status prepare(study *s, const yoke_method_choice *methods, yoke_choice *choices) {
  yoke_convergence *c      = s->out;
  yoke_model       *model  = NULL;
  yoke_status       status = check_steps(s, choices, &model);
  if (status == YOKE_OK) {
    const yoke_output_use outputs[] = {{"the CSV file", s->options->csv}, {"the picture", s->options->svg}};
    status                          = yoke_output_check(s->ctx, model, 2, outputs);
  }
  if (status != YOKE_OK) {
    yoke_model_destroy(&model);
    return status;
  }
  c->facts.name    = yoke_arena_text(&c->arena, model->name != NULL ? model->name : "");
  c->facts.t_start = model->t_start;
  c->facts.t_end   = model->t_end;
  yoke_model_destroy(&model);
  c->rows = yoke_arena_take(&c->arena, (size_t)c->facts.n_methods * (size_t)c->facts.n_steps, sizeof *c->rows);
  YOKE_TRY(yoke_arena_check(&c->arena, s->ctx, "the convergence study"));
  for (int i = 0; i < c->facts.n_methods * c->facts.n_steps; ++i) {
    yoke_converge_row *row = &c->rows[i];
    char               label[MAX_LABEL];
    (void)yoke_method_label(&methods[i / c->facts.n_steps], label, sizeof label);
    row->label  = i % c->facts.n_steps == 0 ? yoke_arena_text(&c->arena, label) : row[-1].label;
    row->H      = NAN;
    row->status = YOKE_E_INTERRUPTED; /* until it is run */
    for (int e = 0; e < YOKE_N_ERRORS; ++e) row->error[e] = row->order[e] = NAN;
  }
  return yoke_arena_check(&c->arena, s->ctx, "the convergence study");
}

static bool has_good_row(const yoke_convergence *c) {
  for (int i = 0; i < c->facts.n_methods * c->facts.n_steps; ++i) {
    if (c->rows[i].status == YOKE_OK) return true;
  }
  return false;
}

/* When no run is good, the reason of the first one is the reason of the study. */
static yoke_status verdict(study *s) {
  const yoke_convergence *c = s->out;
  if (has_good_row(c)) return YOKE_OK;
  return yoke_fail(s->ctx, c->rows[0].status, "no run came to its end; the first one (%s): %s", c->rows[0].label,
                   c->rows[0].reason != NULL ? c->rows[0].reason : "");
}

static yoke_status write_files(study *s, yoke_status status) {
  const yoke_converge_options *o = s->options;
  if (o->csv != NULL) {
    const yoke_status written = yoke_output_file_write(s->ctx, o->csv, put_csv, s->out);
    if (status == YOKE_OK) status = written;
  }
  if (o->svg != NULL) {
    const yoke_status written = write_svg(s->ctx, o->svg, s->out, !o->no_local);
    if (status == YOKE_OK) status = written;
  }
  return status;
}

/* All runs; their files where one is good. */
static yoke_status run_all(study *s, const yoke_method_choice *methods, yoke_choice *choices) {
  yoke_convergence *c = s->out;
  const int         n = c->facts.n_steps;
  YOKE_TRY(prepare(s, methods, choices));
  s->is_ready        = true;
  yoke_status status = YOKE_OK;
  for (int i = 0; i < c->facts.n_methods * n && status == YOKE_OK; ++i)
    status = run_one(s, &methods[i / n], s->options->steps[i % n], choices, &c->rows[i]);
  find_orders(c);
  warn_idle(s);
  c->facts.reference = c->reference;
  if (status == YOKE_OK) status = verdict(s);
  /* An earlier table is not replaced by one of failures. */
  return status == YOKE_E_MEMORY || !has_good_row(c) ? status : write_files(s, status);
}

yoke_status yoke_converge(yoke_context *ctx, const yoke_converge_options *options, yoke_convergence **out) {
  yoke_converge_options own;
  yoke_run_options      run;
  yoke_method_choice   *methods = NULL;
  *out                          = NULL;
  YOKE_TRY(yoke_sized_take(ctx, options, &own, sizeof own, "yoke_converge_options"));
  YOKE_TRY(yoke_run_options_take(ctx, own.run, &run));
  own.run = &run;
  if (own.n_steps < 1) return yoke_fail(ctx, YOKE_E_USAGE, "no macro steps are given");
  yoke_convergence *c       = yoke_allocate(1, sizeof *c);
  yoke_choice      *choices = yoke_allocate((size_t)run.n_choices + YOKE_METHOD_CHOICES, sizeof *choices);
  study             s       = {.ctx = ctx, .options = &own, .out = c};
  yoke_status       status  = yoke_methods_take(ctx, own.n_methods, own.methods, &methods);
  if (status == YOKE_OK && (c == NULL || choices == NULL)) status = yoke_out_of_memory(ctx, "the convergence study");
  if (status == YOKE_OK) {
    c->arena = yoke_arena_of(ctx);
    c->facts = (yoke_convergence_facts){
        .reference = "", .n_methods = own.n_methods > 0 ? own.n_methods : 1, .n_steps = own.n_steps};
    status = run_all(&s, methods, choices);
  }
  free(choices);
  free(methods);
  if (s.is_ready)
    *out = c;
  else
    yoke_convergence_destroy(&c);
  return status;
}

void yoke_convergence_destroy(yoke_convergence **convergence) {
  if (convergence == NULL || *convergence == NULL) return;
  yoke_arena_free(&(*convergence)->arena);
  free(*convergence);
  *convergence = NULL;
}

yoke_status yoke_convergence_facts_get(yoke_context *ctx, const yoke_convergence *c, yoke_convergence_facts *out) {
  return yoke_sized_show(ctx, out, &c->facts, sizeof c->facts, "yoke_convergence_facts");
}

yoke_status yoke_convergence_get(yoke_context *ctx, const yoke_convergence *c, int method, int step,
                                 yoke_converge_row *out) {
  const int n_steps = c->facts.n_steps, n = c->facts.n_methods * n_steps;
  const int i = method >= 0 && method < c->facts.n_methods && step >= 0 && step < n_steps ? method * n_steps + step : n;
  return yoke_sized_show_item(ctx, out, c->rows, n, i, sizeof *c->rows, "yoke_converge_row");
}
