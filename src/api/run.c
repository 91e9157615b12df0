#include "api/accuracy.h"
#include "api/energies.h"
#include "api/simulation.h"
#include "api/step_report.h"
#include "api/times.h"
#include "base/clock.h"
#include "base/comm.h"
#include "base/memory.h"
#include "base/output_file.h"
#include "base/sized.h"
#include "base/text.h"
#include "io/timeline_file.h"
#include "master/macro_settings.h"
#include "model/model_times.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

yoke_simulation_options yoke_run_simulation(const yoke_run_options *o) {
  return (yoke_simulation_options){
      .size          = sizeof(yoke_simulation_options),
      .monolithic    = o->monolithic || o->is_static,
      .no_predict    = o->no_predict,
      .check         = o->check,
      .exec          = o->exec,
      .threads       = o->threads,
      .n_quantities  = o->n_print,
      .quantities    = o->print,
      .trace         = o->trace,
      .trace_user    = o->trace_user,
      .progress      = o->progress,
      .progress_user = o->user,
      .interrupted   = o->interrupted,
      .profile       = o->profile || o->profile_file,
      .at_rest       = o->is_static,
      .load_steps    = o->load_steps,
  };
}

/* ---- residuals ---- */

const char *yoke_residual_name(int kind) {
  static const char *const names[YOKE_N_RESIDUAL_KINDS] = {"position", "velocity", "acceleration", "force", "moment"};
  return kind >= 0 && kind < YOKE_N_RESIDUAL_KINDS ? names[kind] : "";
}

const char *yoke_residual_unit_name(int kind) {
  static const char *const units[YOKE_N_RESIDUAL_KINDS] = {"m", "m/s", "m/s^2", "N", "N*m"};
  return kind >= 0 && kind < YOKE_N_RESIDUAL_KINDS ? units[kind] : "";
}

const char *yoke_residual_verdict(double share) {
  return share <= 1e-6 ? "held" : share <= 1e-3 ? "small" : "large";
}

/* ---- named values ---- */

/* The names are found, and have values, before the run: a typo must not cost a night. Gives *handles. */
static yoke_status find_names(yoke_context *ctx, yoke_simulation *s, const yoke_run_options *options, int **handles) {
  const int n        = options->n_print;
  double   *values   = yoke_allocate((size_t)n + 1, sizeof *values);
  *handles           = yoke_allocate((size_t)n + 1, sizeof **handles);
  yoke_status status = values && *handles ? yoke_simulation_find(ctx, s, n, options->print, *handles)
                                          : yoke_out_of_memory(ctx, "the run");
  if (status == YOKE_OK) status = yoke_simulation_get(ctx, s, n, *handles, values);
  free(values);
  return status;
}

/* ---- trace ---- */

typedef struct trace_output {
  yoke_output_file out;
  FILE            *file; /* NULL: none */
} trace_output;

/* One call of stdio per line: lines of two threads do not mix. */
static void write_line(void *user, const char *line) {
  fprintf(user, "%s\n", line);
}

/* The lines of the run go to its file, if it has one. */
static yoke_status trace_open(yoke_context *ctx, yoke_run_options *options, trace_output *trace) {
  if (!options->trace_file) return YOKE_OK;
  YOKE_TRY(yoke_output_file_open(ctx, options->trace_file, &trace->out));
  trace->file = yoke_output_file_stream(&trace->out);
  if (!trace->file) {
    const yoke_status status = yoke_output_file_fail(ctx, &trace->out, errno);
    yoke_output_file_drop(&trace->out);
    return status;
  }
  options->trace      = write_line;
  options->trace_user = trace->file;
  return YOKE_OK;
}

/* The trace of a run that failed at once is what its reader wants: it is kept if it holds a line. */
static yoke_status trace_close(yoke_context *ctx, trace_output *trace, yoke_status status) {
  if (!trace->file) return status;
  errno              = 0;
  const bool is_fine = fflush(trace->file) == 0 && !ferror(trace->file);
  const int  error   = errno;
  const bool is_kept = status == YOKE_OK || ftell(trace->file) > 0;
  fclose(trace->file);
  yoke_status closed = is_fine ? YOKE_OK : yoke_output_file_fail(ctx, &trace->out, error);
  if (is_kept) {
    const yoke_status kept = yoke_output_file_keep(ctx, &trace->out);
    if (closed == YOKE_OK) closed = kept;
  } else {
    yoke_output_file_drop(&trace->out);
  }
  return status == YOKE_OK ? closed : status;
}

/* ---- the run ---- */

static yoke_status start_summary(yoke_context *ctx, const yoke_run_options *options, const yoke_model *model,
                                 yoke_run_summary *summary) {
  summary->name    = yoke_text_copy(model->name ? model->name : "");
  summary->t_start = summary->t = model->t_start;
  summary->t_end                = model->t_end;
  summary->rtol                 = model->solver.rtol;
  summary->atol                 = model->solver.atol;
  summary->n_print              = options->n_print;
  summary->print_values         = yoke_allocate((size_t)options->n_print + 1, sizeof(double));
  snprintf(summary->solver, sizeof summary->solver, "%s", model->solver.kind);
  snprintf(summary->method, sizeof summary->method, "%s", model->solver.kind);
  if (!summary->name || !summary->print_values) return yoke_out_of_memory(ctx, "the run");
  for (int i = 0; i < options->n_print; ++i) summary->print_values[i] = (double)NAN;
  return YOKE_OK;
}

static void take_facts(const yoke_run_system *run, yoke_run_summary *summary) {
  const yoke_plan_facts facts = yoke_run_system_facts(run);
  summary->n_bodies           = facts.n_bodies;
  summary->n_connections      = facts.n_connections;
  summary->n_freedoms         = facts.n_freedoms;
  summary->n_constraints      = facts.ng;
  summary->n_outputs          = run->plan->outputs.n;
}

static void take_rest(const yoke_simulation *s, yoke_run_summary *summary) {
  summary->is_static         = true;
  summary->t_end             = summary->t_start;
  summary->rest_steps        = s->rest.steps;
  summary->load_steps        = s->rest.n_loads;
  summary->rest_acceleration = s->rest.acceleration;
}

static void take_split(const yoke_run_system *run, yoke_run_summary *s) {
  const yoke_plan *plan = run->plan;
  if (plan->step.is_free) return;
  s->is_split     = true;
  s->lacks_energy = plan->lacks_energy;
  s->n_subsystems = plan->n_parts;
  s->n_couplings  = plan->n_couplings;
  for (int k = 0; k < plan->n_couplings; ++k) s->n_channels += yoke_graph_n_channels(yoke_system_graph(run->system), k);
  snprintf(s->scheme, sizeof s->scheme, "%s", plan->scheme.scheme);
  snprintf(s->sequence, sizeof s->sequence, "%s", plan->scheme.gauss_seidel ? "gauss-seidel" : "jacobi");
  const yoke_step_choice *choice = yoke_system_choice(run->system);
  s->order                       = plan->scheme.order;
  s->macro_step                  = yoke_system_H(run->system);
  s->macro_rtol                  = choice ? choice->settings.tolerances.rtol : (double)NAN;
  if (choice) snprintf(s->control, sizeof s->control, "%s", choice->reasons);
}

static void take_summary(const yoke_system_summary *from, yoke_run_summary *to) {
  to->t                   = from->t;
  to->steps               = from->counters.steps;
  to->rejected_steps      = from->counters.rejected;
  to->evaluations         = from->counters.evaluations;
  to->jacobians           = from->counters.jacobians;
  to->factorizations      = from->counters.factorings;
  to->has_energy          = from->has_energy && isfinite(from->energy_drift);
  to->energy_start        = from->energy_start;
  to->energy_drift        = from->energy_drift;
  to->constraint_residual = from->constraint_residual;
  to->n_events            = from->n_events;
  if (from->has_macro_steps) {
    to->macro_steps          = from->macro.steps;
    to->rejected_macro_steps = from->macro.rejected;
    to->iterations           = from->macro.iterations;
    to->integrations         = from->macro.integrations;
    to->matrices             = from->macro.matrices;
    to->all_evaluations      = from->macro.evaluations;
    to->all_jacobians        = from->macro.jacobians;
    to->kept_matrices        = from->macro.kept;
    to->rate                 = from->macro.rate > 0.0 ? from->macro.rate : (double)NAN;
    to->unconverged          = from->macro.unconverged;
    to->residual             = from->macro.residual;
    simulation_residuals(&from->macro, to->residuals);
    if (to->control[0] && from->macro.steps > 0) to->macro_step = (to->t - to->t_start) / (double)from->macro.steps;
  }
  if (from->method) snprintf(to->method, sizeof to->method, "%s", from->method);
}

/* Say where an unfinished run stopped and what is left of it. */
static void note_kept(yoke_context *ctx, const yoke_run_summary *summary, double t_kept, yoke_status status) {
  const char *file = summary->out ? summary->out : summary->csv;
  const char *word = status == YOKE_E_INTERRUPTED ? "interrupted" : "stopped";
  if (status == YOKE_OK) return;
  if (file && status == YOKE_E_IO) {
    yoke_note(ctx, "%s at t = %.9g s; what had been written before is kept in '%s'", word, summary->t, file);
  } else if (file) {
    yoke_note(ctx, "%s at t = %.9g s; results up to t = %.9g s are kept in '%s'", word, summary->t, t_kept, file);
  } else {
    yoke_note(ctx, "%s at t = %.9g s", word, summary->t);
  }
}

/* The record is closed; the summary names the files that there are. */
static yoke_status close_record(yoke_context *ctx, yoke_simulation *s, yoke_run_summary *summary, yoke_status status) {
  status           = simulation_record_close(ctx, s, status);
  summary->n_rows  = s->recorder->n_rows;
  summary->out     = s->recorder->out;
  summary->csv     = s->recorder->csv;
  s->recorder->out = s->recorder->csv = NULL;
  return status;
}

/* How wrong a run is that ended with `status`, and the status of both. A run that failed has said so. */
static yoke_status look_back(yoke_context *ctx, yoke_simulation *s, const yoke_passive_energy *before,
                             yoke_status status, yoke_run_summary *summary) {
  yoke_passive_energy after;
  yoke_status         known = yoke_accuracy_take(ctx, &s->run, s->growth, &s->motion, summary);
  if (known == YOKE_OK) known = yoke_energies_take(ctx, &s->run, summary);
  if (known == YOKE_OK) known = yoke_accuracy_energy(ctx, &s->run, &after);
  if (known != YOKE_OK) return status == YOKE_OK ? known : status;
  yoke_accuracy_gain(before, &after, summary);
  if (status == YOKE_OK || status == YOKE_E_INTERRUPTED) {
    yoke_accuracy_judge(ctx, &s->run, summary);
    yoke_energies_judge(ctx, summary, s->run.plan->energy_limit);
  }
  return status;
}

/* From the start to the end of a simulation that is recorded. */
static yoke_status simulate(yoke_context *ctx, yoke_simulation *s, const int *handles, yoke_run_summary *summary) {
  const double        begin = yoke_clock_now();
  yoke_passive_energy before;
  yoke_system_summary result;
  yoke_status         status     = yoke_accuracy_energy(ctx, &s->run, &before);
  const double        loop_begin = yoke_clock_now();
  if (status == YOKE_OK) status = yoke_simulation_run_to(ctx, s, summary->t_end);
  if (status == YOKE_E_INTERRUPTED) (void)simulation_last_row(ctx, s);
  const double loop = yoke_clock_now() - loop_begin;
  yoke_system_summarise(s->run.system, &result);
  take_summary(&result, summary);
  if (summary->is_split) status = look_back(ctx, s, &before, status, summary);
  summary->stopped_by_event = status == YOKE_OK && result.t < summary->t_end;
  if (status == YOKE_OK || status == YOKE_E_INTERRUPTED) {
    const yoke_status values = yoke_simulation_get(ctx, s, summary->n_print, handles, summary->print_values);
    if (status == YOKE_OK) status = values;
  }
  const double t_kept = s->recorder->n_rows > 0 ? s->recorder->t_kept : summary->t_start;
  s->recorder->wall   = loop;
  if (status == YOKE_OK || status == YOKE_E_INTERRUPTED) yoke_times_share(s->run.system, loop);
  const double closed     = yoke_clock_now();
  status                  = close_record(ctx, s, summary, status);
  const double end        = yoke_clock_now();
  summary->wall_time      = end - begin;
  const yoke_status timed = yoke_times_take(ctx, &s->run, loop, end - closed, summary);
  if (status == YOKE_OK) status = timed;
  note_kept(ctx, summary, t_kept, status);
  return status;
}

/* Before the run: a file that cannot be written is no news for its end. */
static yoke_status open_timeline(yoke_context *ctx, const char *path, yoke_output_file *out) {
  *out = (yoke_output_file){.fd = -1};
  return path ? yoke_output_file_open(ctx, path, out) : YOKE_OK;
}

/* Of a run that failed too: it tells what it did until then. */
static yoke_status write_timeline(yoke_context *ctx, const yoke_simulation *s, yoke_output_file *out,
                                  yoke_status status) {
  const yoke_timeline *timeline = s ? yoke_system_ledger(s->run.system)->timeline : NULL;
  if (out->fd < 0) return status;
  if (!timeline || (status != YOKE_OK && timeline->n == 0)) {
    yoke_output_file_drop(out);
    return status;
  }
  const yoke_timeline_def def     = {.plan = s->run.plan, .name = s->model->name, .timeline = timeline};
  const yoke_status       written = yoke_timeline_write(ctx, out, &def);
  return status == YOKE_OK ? written : status;
}

/* Files are written by rank 0. */
static yoke_status choose_files(yoke_context *ctx, yoke_run_options *options, const yoke_model *model,
                                const char *files[2]) {
  const yoke_recorder_names names = {
      .out = options->out, .csv = options->csv, .trace = options->trace_file, .profile = options->profile_file};
  if (yoke_context_is_first(ctx)) return yoke_recorder_files(ctx, model, &names, files);
  files[0] = files[1] = NULL;
  options->trace_file = options->profile_file = NULL;
  options->profile                            = false;
  return YOKE_OK;
}

/* One model, loaded; `begin` is when the run began. `keep` (NULL: not wanted) receives the outputs of a run that reached its end. */
static yoke_status run_model(yoke_context *ctx, const yoke_run_options *options, const yoke_model *model, double begin,
                             yoke_run_summary *summary, yoke_result **keep) {
  yoke_run_options own   = *options;
  trace_output     trace = {0};
  yoke_output_file timeline;
  yoke_simulation *s       = NULL;
  int             *handles = NULL;
  const char      *files[2];
  YOKE_TRY(yoke_model_check_times(ctx, model));
  YOKE_TRY(start_summary(ctx, options, model, summary));
  YOKE_TRY(choose_files(ctx, &own, model, files));
  YOKE_TRY(trace_open(ctx, &own, &trace));
  yoke_run_warn_unused(ctx, options, model);
  const yoke_simulation_options simulation = yoke_run_simulation(&own);
  yoke_status                   status     = open_timeline(ctx, own.profile_file, &timeline);
  if (status == YOKE_OK) status = yoke_simulation_create(ctx, model, &simulation, &s);
  if (status == YOKE_OK) {
    take_facts(&s->run, summary);
    take_split(&s->run, summary);
    if (options->is_static) take_rest(s, summary);
    status = find_names(ctx, s, options, &handles);
  }
  if (status == YOKE_OK) {
    status             = simulation_record_to(ctx, s, files, keep != NULL);
    summary->load_time = yoke_clock_now() - begin;
  }
  if (status == YOKE_OK) status = simulate(ctx, s, handles, summary);
  if (status == YOKE_OK && keep) status = yoke_recorder_take(s->recorder, ctx, yoke_run_name(options), keep);
  status = write_timeline(ctx, s, &timeline, status);
  status = trace_close(ctx, &trace, status);
  if (s) summary->report = yoke_step_report_of(&s->tally);
  if (s) yoke_recorder_destroy(&s->recorder);
  yoke_simulation_destroy(&s);
  free(handles);
  return status;
}

static bool runs_as_whole(const yoke_run_options *options, const yoke_model *model) {
  return model->n_parts == 0 || options->monolithic || options->is_static || yoke_macro_is_lockstep(model);
}

/* Ranks that will have nothing to do. */
static void note_idle_ranks(yoke_context *ctx, const yoke_run_options *options, const yoke_model *model) {
  const yoke_comm *comm     = yoke_context_comm(ctx);
  const bool       is_whole = runs_as_whole(options, model);
  if (comm == NULL || (!is_whole && yoke_comm_size(comm) <= model->n_parts)) return;
  if (is_whole)
    yoke_warn(ctx, "the model runs as a whole, on rank 0 alone: the other %d ranks have nothing to do",
              yoke_comm_size(comm) - 1);
  else
    yoke_note(ctx, "%d ranks for %d subsystems: some have nothing to do", yoke_comm_size(comm), model->n_parts);
}

yoke_status yoke_run_and_keep(yoke_context *ctx, const yoke_run_options *options, yoke_run_summary *summary,
                              yoke_result **keep) {
  const double    begin = yoke_clock_now();
  yoke_model     *model = NULL;
  yoke_step_tally none;
  yoke_step_tally_clear(&none);
  *summary           = (yoke_run_summary){.report = yoke_step_report_of(&none)};
  yoke_status status = yoke_run_load(ctx, options, &model);
  if (status == YOKE_OK) note_idle_ranks(ctx, options, model);
  if (status == YOKE_OK && (yoke_context_is_first(ctx) || !runs_as_whole(options, model)))
    status = run_model(ctx, options, model, begin, summary, keep);
  yoke_model_destroy(&model);
  return yoke_context_agree(ctx, status);
}

/* Does the caller know the lists of errors and of times? Else they are none of its business. */
static bool has_times(const yoke_run_summary *summary) {
  return summary->size >= offsetof(yoke_run_summary, subsystem_times) + sizeof summary->subsystem_times;
}

static bool has_errors(const yoke_run_summary *summary) {
  return summary->size >= offsetof(yoke_run_summary, coupling_errors) + sizeof summary->coupling_errors;
}

static bool has_energies(const yoke_run_summary *summary) {
  return summary->size >= offsetof(yoke_run_summary, coupling_energies) + sizeof summary->coupling_energies;
}

void yoke_run_summary_give(yoke_run_summary *summary, yoke_run_summary *filled) {
  if (!has_errors(summary)) yoke_accuracy_release(filled);
  if (!has_times(summary)) yoke_times_release(filled);
  if (!has_energies(summary)) yoke_energies_release(filled);
  yoke_sized_give(summary, filled, sizeof *filled);
}

yoke_status yoke_run(yoke_context *ctx, const yoke_run_options *options, yoke_run_summary *summary) {
  yoke_run_summary filled = {0};
  yoke_run_options own;
  YOKE_TRY(yoke_sized_check(ctx, summary, "yoke_run_summary"));
  yoke_status status = yoke_run_options_take(ctx, options, &own);
  if (status == YOKE_OK) status = yoke_run_and_keep(ctx, &own, &filled, NULL);
  yoke_run_summary_give(summary, &filled);
  return status;
}

enum { COMPARED_TIMES = 200 }; /* with step control */

/* Where the model keeps every step, the macro step, or with step control equal parts of the run; the text goes to `text`. */
static yoke_status common_times(yoke_context *ctx, const yoke_run_options *options, char text[YOKE_NUMBER_SIZE]) {
  yoke_model *model = NULL;
  YOKE_TRY(yoke_run_load(ctx, options, &model));
  yoke_status status = YOKE_OK;
  if (model->n_parts == 0) {
    status =
        yoke_fail(ctx, YOKE_E_USAGE, "'%s' has no split: there is nothing to compare it with", yoke_run_name(options));
  } else if (model->output.every <= 0.0) {
    const double span = model->t_end - model->t_start;
    yoke_number_text(model->cosimulation.has_step ? model->cosimulation.step : span / COMPARED_TIMES, text);
  }
  if (status == YOKE_OK) status = yoke_run_needs_whole(ctx, options, model);
  yoke_model_destroy(&model);
  return status;
}

/* `own` is changed. */
static yoke_status compare_runs(yoke_context *ctx, yoke_run_options own, yoke_run_summary *split,
                                yoke_run_summary *monolithic, yoke_comparison **comparison) {
  yoke_result *result = NULL, *reference = NULL;
  yoke_choice *choices                 = yoke_allocate((size_t)own.n_choices + 1, sizeof *choices);
  char         every[YOKE_NUMBER_SIZE] = "";
  own.out = own.csv  = "";
  own.monolithic     = false;
  yoke_status status = choices ? common_times(ctx, &own, every) : yoke_out_of_memory(ctx, "the run");
  if (status == YOKE_OK && every[0]) {
    for (int i = 0; i < own.n_choices; ++i) choices[i] = own.choices[i];
    choices[own.n_choices++] = (yoke_choice){"output.every", every};
    own.choices              = choices;
  }
  if (status == YOKE_OK) status = yoke_run_and_keep(ctx, &own, split, &result);
  own.monolithic = true;
  own.trace_file = own.profile_file = NULL;
  if (status == YOKE_OK) status = yoke_run_and_keep(ctx, &own, monolithic, &reference);
  if (status == YOKE_OK) status = yoke_result_compare(ctx, result, reference, comparison);
  yoke_result_close(&result);
  yoke_result_close(&reference);
  free(choices);
  return status;
}

yoke_status yoke_run_compare(yoke_context *ctx, const yoke_run_options *options, yoke_run_summary *split,
                             yoke_run_summary *monolithic, yoke_comparison **comparison) {
  yoke_run_summary filled[2] = {0};
  yoke_run_options own;
  *comparison = NULL;
  YOKE_TRY(yoke_sized_check(ctx, split, "yoke_run_summary"));
  YOKE_TRY(yoke_sized_check(ctx, monolithic, "yoke_run_summary"));
  yoke_status status = yoke_run_options_take(ctx, options, &own);
  if (status == YOKE_OK) status = compare_runs(ctx, own, &filled[0], &filled[1], comparison);
  yoke_run_summary_give(split, &filled[0]);
  yoke_run_summary_give(monolithic, &filled[1]);
  return status;
}

/* Other members that own something are among the first: every caller knows them. */
void yoke_run_summary_release(yoke_run_summary *summary) {
  free(summary->name);
  free(summary->out);
  free(summary->csv);
  free(summary->print_values);
  if (has_errors(summary)) yoke_accuracy_release(summary);
  if (has_times(summary)) yoke_times_release(summary);
  if (has_energies(summary)) yoke_energies_release(summary);
  summary->name = summary->out = summary->csv = NULL;
  summary->print_values                       = NULL;
  summary->n_print                            = 0;
}
