/* yoke run: simulate a model and write its results. */
#include "command.h"
#include "energies.h"
#include "interrupt.h"
#include "launch.h"
#include "model_options.h"
#include "progress.h"
#include "steps.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct run_arguments {
  model_arguments model;
  const char     *out, *csv, *plot, *profile; /* profile "": without a file */
  text_list       print, plugin;
  const char     *load_steps;
  bool            monolithic, at_rest, no_predict, verify, allow_mixed, json, quiet;
} run_arguments;

static const option_def run_options[] = {
    {"out", 'o', OPTION_TEXT, offsetof(run_arguments, out), "FILE", "result file: HDF5, or CSV if it ends in .csv"},
    {"csv", 0, OPTION_TEXT, offsetof(run_arguments, csv), "FILE", "result as CSV"},
    {"plot", 0, OPTION_TEXT, offsetof(run_arguments, plot), "FILE",
     "draw the quantities of --print, or the first ones, of the result (-o) as FILE.svg, FILE.png or FILE.html (yoke "
     "help plot)"},
    {"print", 0, OPTION_LIST, offsetof(run_arguments, print), "NAMES",
     "print these outputs at the end: upper.x,upper.vx"},
    {"monolithic", 0, OPTION_FLAG, offsetof(run_arguments, monolithic), NULL, "ignore the split of the model"},
    {"static", 0, OPTION_FLAG, offsetof(run_arguments, at_rest), NULL,
     "nothing moves: the result is a rest state of the model"},
    {"load-steps", 0, OPTION_TEXT, offsetof(run_arguments, load_steps), "N",
     "with --static: load it in N steps; default: at once, and in 10 where that fails"},
    {"no-predict", 0, OPTION_FLAG, offsetof(run_arguments, no_predict), NULL,
     "do not predict whether the macro step is stable"},
    {"verify", 0, OPTION_FLAG, offsetof(run_arguments, verify), NULL,
     "repeat the run with half the macro step, or a tenth of the tolerance: error bars"},
    {"profile", 0, OPTION_MAYBE, offsetof(run_arguments, profile), "FILE",
     "time every step: what more threads would do, and a timeline for a browser's viewer in FILE"},
    {"plugin", 0, OPTION_LIST, offsetof(run_arguments, plugin), "FILE.so",
     "types of subsystems from a shared library, whose code is run; repeatable (yoke help plugins)"},
    {"allow-mixed", 0, OPTION_FLAG, offsetof(run_arguments, allow_mixed), NULL,
     "ranks (mpirun) may run on processors that differ: the last digits may, too"},
    MODEL_OPTIONS(run_arguments),
    {"json", 0, OPTION_FLAG, offsetof(run_arguments, json), NULL, "print one JSON object instead of the summary"},
    {"quiet", 'q', OPTION_FLAG, offsetof(run_arguments, quiet), NULL, "no summary, no progress line"},
};

/* Names of all --print, separated at commas. Gives texts[n] and their storage. */
typedef struct name_list {
  int          n;
  const char **texts;
  char        *storage;
} name_list;

static void names_release(name_list *names) {
  free(names->texts);
  free(names->storage);
}

/* PARSE_DONE or an exit code. */
static int split_names(const command_def *command, const text_list *lists, name_list *out) {
  size_t length = 1, n_most = 0;
  *out = (name_list){0};
  for (int i = 0; i < lists->n; ++i) {
    length += strlen(lists->texts[i]) + 1;
    n_most++;
    for (const char *c = lists->texts[i]; *c; ++c) n_most += *c == ',';
  }
  out->texts   = calloc(n_most + 1, sizeof *out->texts);
  out->storage = calloc(length, 1);
  if (!out->texts || !out->storage) {
    fputs("error: out of memory\n", stderr);
    return EXIT_CODE_IO;
  }
  char *at = out->storage;
  for (int i = 0; i < lists->n; ++i) {
    memcpy(at, lists->texts[i], strlen(lists->texts[i]) + 1);
    for (bool more = true; more;) {
      const size_t size = strcspn(at, ",");
      more              = at[size] == ',';
      at[size]          = '\0';
      while (*at == ' ') at++;
      size_t used = strlen(at);
      char  *next = at + used + 1;
      while (used > 0 && at[used - 1] == ' ') at[--used] = '\0';
      if (used == 0) return usage_error(command, "'--print %s' holds an empty name", lists->texts[i]);
      out->texts[out->n++] = at;
      at                   = next;
    }
  }
  return PARSE_DONE;
}

static int check_values(const command_def *command, const run_arguments *a, const text_list *operands) {
  if (operands->n == 0) return usage_error(command, "no model file given");
  if (operands->n > 1) return usage_error(command, "one model file expected, '%s' is too many", operands->texts[1]);
  if (a->out && !*a->out) return usage_error(command, "--out needs a file name");
  if (a->csv && !*a->csv) return usage_error(command, "--csv needs a file name");
  if (a->plot && !a->out && !a->csv) return usage_error(command, "--plot draws what a file holds: give -o FILE too");
  if (a->load_steps && !a->at_rest) return usage_error(command, "--load-steps belongs to --static");
  if (a->at_rest && a->verify) return usage_error(command, "--verify repeats a motion: --static has none");
  return PARSE_DONE;
}

/* A run that was repeated; comparison NULL: it was not. */
typedef struct verification {
  yoke_verify_facts facts;
  yoke_comparison  *comparison;
} verification;

static int n_bars(const verification *v) {
  yoke_comparison_facts facts = {.size = sizeof facts};
  return yoke_comparison_facts_get(NULL, v->comparison, &facts) == YOKE_OK ? facts.n_common : 0;
}

static yoke_difference bar_at(const verification *v, int i) {
  yoke_difference one = {.size = sizeof one};
  (void)yoke_comparison_get(NULL, v->comparison, i, &one);
  return one;
}

/* Error bars of the quantities: how far they are off at most. */
static void print_verification(FILE *file, const verification *v) {
  enum { MOST = 20 };
  const int n = n_bars(v);
  if (isfinite(v->facts.step))
    fprintf(file, "verified     with macro step %.6g s, order %d assumed; error bars:\n", v->facts.step,
            v->facts.order);
  else
    fprintf(file, "verified     with rtol %.3g; error bars:\n", v->facts.rtol);
  for (int i = 0; i < n && i < MOST; ++i) {
    const yoke_difference one = bar_at(v, i);
    fprintf(file, "             %-20s %.3g at t = %.6g s\n", one.name, v->facts.factor * one.largest, one.t);
  }
  if (n > MOST) fprintf(file, "             and %d more, in --json and beside the result\n", n - MOST);
}

static void print_result_files(FILE *file, const yoke_run_summary *s) {
  if (!s->out && !s->csv) {
    fputs("result       not written; give -o FILE.h5 or --csv FILE to keep it\n", file);
    return;
  }
  const char *const files[2] = {s->out, s->csv};
  for (int i = 0; i < 2; ++i) {
    if (!files[i]) continue;
    fprintf(file, "result       %s (%lld %s of %d %s)\n", files[i], (long long)s->n_rows,
            plural(s->n_rows, "time", "times"), s->n_outputs, plural(s->n_outputs, "quantity", "quantities"));
  }
}

/* "residuals    position 1.2e-09 m (held), force 0.003 N (small); 0 steps not converged" */
static void print_residuals(FILE *file, const yoke_run_summary *s) {
  const char *before = "residuals    ";
  for (int k = 0; k < YOKE_N_RESIDUAL_KINDS; ++k) {
    const yoke_residual_summary *r = &s->residuals[k];
    if (!r->exists) continue;
    fprintf(file, "%s%s %.3g %s (%s)", before, yoke_residual_name(k), r->largest, yoke_residual_unit_name(k),
            yoke_residual_verdict(r->share));
    before = ", ";
  }
  fprintf(file, "%s%lld %s not converged\n", before[0] == ',' ? "; " : before, (long long)s->unconverged,
          plural(s->unconverged, "step", "steps"));
}

/* "accuracy     errors add up to 1.2 % of the motion (left 1.2 %, right 0.4 %); estimated in 40 of 200 steps" */
static void print_accuracy(FILE *file, const yoke_run_summary *s) {
  enum { MOST_NAMES = 4 };
  if (isnan(s->accumulated_error)) {
    fprintf(file, "accuracy     not known%s%s\n", s->error_limits[0] ? ": " : "; cosimulation.monitor on estimates it",
            s->error_limits);
    return;
  }
  fprintf(file, "accuracy     errors add up to %.2g %% of the motion (", 100.0 * s->accumulated_error);
  for (int i = 0; i < s->n_subsystems && i < MOST_NAMES; ++i)
    fprintf(file, "%s%s %.2g %%", i > 0 ? ", " : "", s->subsystem_errors[i].name, 100.0 * s->subsystem_errors[i].error);
  fprintf(file, "%s); estimated in %lld of %lld steps\n", s->n_subsystems > MOST_NAMES ? ", ..." : "",
          (long long)s->estimated_steps, (long long)s->macro_steps);
  if (s->motion_growth > 3.0)
    fprintf(file, "             the motion itself makes small errors %s%.0f times larger\n",
            s->motion_growth > 1e4 ? "more than " : "", fmin(s->motion_growth, 1e4));
  if (s->error_limits[0]) fprintf(file, "             %s\n", s->error_limits);
}

static void json_residuals(json *j, const yoke_run_summary *s) {
  json_begin(j, "residuals", '{');
  for (int k = 0; s->is_split && k < YOKE_N_RESIDUAL_KINDS; ++k) {
    const yoke_residual_summary *r = &s->residuals[k];
    if (!r->exists) continue;
    json_begin(j, yoke_residual_name(k), '{');
    json_number(j, "largest", r->largest);
    json_text(j, "unit", yoke_residual_unit_name(k));
    json_number(j, "share", r->share);
    json_text(j, "verdict", yoke_residual_verdict(r->share));
    json_end(j, '}');
  }
  json_end(j, '}');
}

static void print_split(FILE *file, const yoke_run_summary *s) {
  const double steps = s->macro_steps > 0 ? (double)s->macro_steps : 1.0;
  fprintf(file, "split        %d %s, %d %s of %d %s\n", s->n_subsystems,
          plural(s->n_subsystems, "subsystem", "subsystems"), s->n_couplings,
          plural(s->n_couplings, "coupling", "couplings"), s->n_channels, plural(s->n_channels, "channel", "channels"));
  if (s->control[0]) {
    fprintf(file, "coupled      %s, %s, step control with rtol %.3g\n", s->scheme, s->sequence, s->macro_rtol);
    fprintf(file, "chosen       %s\n", s->control);
  } else {
    fprintf(file, "coupled      %s, %s, order %d, macro step %.6g s\n", s->scheme, s->sequence, s->order,
            s->macro_step);
  }
  fprintf(file, "macro steps  %lld, %lld rejected, %.3g corrector passes per step, %lld integrations of subsystems\n",
          (long long)s->macro_steps, (long long)s->rejected_macro_steps, (double)s->iterations / steps,
          (long long)s->integrations);
  if (s->matrices > 0) {
    fprintf(file, "corrector    %lld %s made, %lld %s with an earlier one", (long long)s->matrices,
            plural(s->matrices, "matrix", "matrices"), (long long)s->kept_matrices,
            plural(s->kept_matrices, "step begun", "steps begun"));
    if (isfinite(s->rate)) fprintf(file, ", slowest rate %.2g", s->rate);
    fputc('\n', file);
  }
  if (s->control[0] || s->rejected_macro_steps > 0) print_steps(file, 12, &s->report);
  print_residuals(file, s);
  print_accuracy(file, s);
}

/* "leak         -1.2 J, up to 3.4 J, 0.2 % of the energy that moves; coupling 'spring' -1.1 J; corrected by -5.6 J" */
static void print_leak(FILE *file, const yoke_run_summary *s) {
  if (!s->has_leak) return;
  fprintf(file, "leak         %.3g J, up to %.3g J, %.2g %% of the energy that moves", s->leak, s->leak_largest,
          100.0 * s->leak_share);
  if (s->coupling_energies && s->leak_worst >= 0)
    fprintf(file, "; coupling '%s' %.3g J", s->coupling_energies[s->leak_worst].name,
            s->coupling_energies[s->leak_worst].leak);
  if (s->leak_corrected != 0.0) fprintf(file, "; corrections did %.3g J", s->leak_corrected);
  fputc('\n', file);
}

/* Number k of those that computed longest. */
static int nth_longest(const yoke_run_summary *s, int k) {
  for (int i = 0; i < s->n_subsystems; ++i) {
    int n_before = 0;
    for (int j = 0; j < s->n_subsystems; ++j)
      n_before += s->subsystem_times[j].solver > s->subsystem_times[i].solver ||
                  (j < i && !(s->subsystem_times[j].solver < s->subsystem_times[i].solver));
    if (n_before == k) return i;
  }
  return k;
}

/* "time         solver 61 %, save 4 %, exchange 2 %, master 11 %, output 1 %, idle 21 % of 2 x 1.23 s" */
static void print_times(FILE *file, const yoke_run_summary *s) {
  enum { MOST = 4, MOST_SORTED = 2000 };
  const yoke_time_shares *t     = &s->times;
  const double            whole = s->threads * s->wall_time, percent = whole > 0.0 ? 100.0 / whole : 0.0;
  fprintf(file, "threads      %d: %s\n", s->threads, s->threads_reason);
  fprintf(
      file,
      "time         solver %.0f %%, save %.0f %%, exchange %.0f %%, master %.0f %%, output %.0f %%, idle %.0f %% of ",
      percent * t->solver, percent * t->save, percent * t->exchange, percent * t->master, percent * t->output,
      percent * t->idle);
  fprintf(file, s->threads > 1 ? "%d x %.3g s\n" : "%.0d%.3g s\n", s->threads > 1 ? s->threads : 0, s->wall_time);
  if (!s->subsystem_times || s->n_subsystems > MOST_SORTED) return;
  for (int k = 0; k < s->n_subsystems && k < MOST; ++k) {
    const yoke_subsystem_times *p = &s->subsystem_times[nth_longest(s, k)];
    fprintf(file, "             %-12s solver %.2g s, save %.2g s, exchange %.2g s, idle %.2g s\n", p->name, p->solver,
            p->save, p->exchange, p->idle);
  }
  if (s->n_subsystems > MOST)
    fprintf(file, "             and %d more, in --json and the result file\n", s->n_subsystems - MOST);
}

static double speed_up(const yoke_run_summary *s, double time) {
  return time > 0.0 ? s->projection[0].time / time : 1.0;
}

/* What more threads would do, up to where they add nothing. */
static void print_projection(FILE *file, const yoke_run_summary *s) {
  if (!s->has_projection) return;
  fputs("projection   threads       time   speed-up\n", file);
  for (int k = 0; k < YOKE_N_PROJECTED_THREADS && (k == 0 || s->projection[k - 1].time > 1.001 * s->critical_path);
       ++k) {
    const yoke_projected_time *p = &s->projection[k];
    fprintf(file, "             %7d %8.3g s   %8.2f\n", p->threads, p->time, speed_up(s, p->time));
  }
  fprintf(file, "             no number of threads is faster than %.3g s, speed-up %.2f\n", s->critical_path,
          speed_up(s, s->critical_path));
}

static void print_timeline(FILE *file, const char *name, const yoke_run_summary *s) {
  fprintf(file, "timeline     %s (%lld spans", name, (long long)s->n_spans);
  if (s->n_lost > 0) fprintf(file, ", %lld later ones left out", (long long)s->n_lost);
  fputs(")\n", file);
}

/* "at rest      in 12 steps of one load step; the largest acceleration left is 3e-14 m/s^2" */
static void print_rest(FILE *file, const yoke_run_summary *s) {
  fprintf(file, "at rest      found in %d %s", s->rest_steps, plural(s->rest_steps, "step", "steps"));
  if (s->load_steps > 1) fprintf(file, " and %d load steps", s->load_steps);
  fprintf(file, "; the largest acceleration left is %.3g m/s^2\n", s->rest_acceleration);
  if (s->n_constraints > 0) fprintf(file, "constraints  residual %.3g\n", s->constraint_residual);
  print_result_files(file, s);
}

static void print_summary(FILE *file, const yoke_run_summary *s) {
  fprintf(file, "model        %s: %d %s, %d %s, %d %s\n", s->name && *s->name ? s->name : "(no name)", s->n_bodies,
          plural(s->n_bodies, "body", "bodies"), s->n_connections,
          plural(s->n_connections, "connection", "connections"), s->n_freedoms,
          plural(s->n_freedoms, "freedom", "freedoms"));
  if (s->is_static) {
    print_rest(file, s);
    return;
  }
  fprintf(file, "solved       %.9g .. %.9g s%s in %.3g s\n", s->t_start, s->t,
          s->stopped_by_event ? " (an event ended it)" : "", s->wall_time);
  if (s->is_split) print_split(file, s);
  const bool is_chosen = strcmp(s->solver, s->method) != 0;
  fprintf(file, "method       %s%s%s%s, rtol %.3g, atol %.3g\n", s->method, is_chosen ? " (chosen by " : "",
          is_chosen ? s->solver : "", is_chosen ? ")" : "", s->rtol, s->atol);
  fprintf(file, "%s  %lld, %lld rejected, %lld evaluations, %lld Jacobians, %lld factorizations\n",
          s->is_split ? "micro steps" : "steps      ", (long long)s->steps, (long long)s->rejected_steps,
          (long long)s->evaluations, (long long)s->jacobians, (long long)s->factorizations);
  if (s->n_events > 0) fprintf(file, "events       %d\n", s->n_events);
  if (s->has_energy) {
    fprintf(file, "energy       drift %.3g J from %.6g J at the start\n", s->energy_drift, s->energy_start);
  } else if (!s->lacks_energy) {
    fputs(s->is_split
              ? "energy       in total.energy; cosimulation.energy monitor counts the work of loads and dampers too\n"
              : "energy       drift unknown\n",
          file);
  }
  print_leak(file, s);
  if (s->n_constraints > 0) fprintf(file, "constraints  residual %.3g\n", s->constraint_residual);
  print_times(file, s);
  print_projection(file, s);
  print_result_files(file, s);
}

static void json_time_classes(json *j, double solver, double save, double exchange) {
  json_number(j, "solver", solver);
  json_number(j, "save", save);
  json_number(j, "exchange", exchange);
}

static void json_times(json *j, const yoke_run_summary *s) {
  json_whole(j, "threads", s->threads);
  json_text(j, "threads_reason", s->threads_reason[0] ? s->threads_reason : NULL);
  json_begin(j, "times", '{');
  json_time_classes(j, s->times.solver, s->times.save, s->times.exchange);
  json_number(j, "master", s->times.master);
  json_number(j, "output", s->times.output);
  json_number(j, "idle", s->times.idle);
  json_end(j, '}');
  json_begin(j, "subsystem_times", '{');
  for (int i = 0; s->subsystem_times && i < s->n_subsystems; ++i) {
    const yoke_subsystem_times *p = &s->subsystem_times[i];
    json_begin(j, p->name, '{');
    json_time_classes(j, p->solver, p->save, p->exchange);
    json_number(j, "idle", p->idle);
    json_end(j, '}');
  }
  json_end(j, '}');
}

static void json_projection(json *j, const yoke_run_summary *s) {
  if (!s->has_projection) {
    json_text(j, "projection", NULL);
    return;
  }
  json_begin(j, "projection", '{');
  json_number(j, "critical_path", s->critical_path);
  json_begin(j, "times", '{');
  for (int k = 0; k < YOKE_N_PROJECTED_THREADS; ++k) {
    char key[20];
    snprintf(key, sizeof key, "%d", s->projection[k].threads);
    json_number(j, key, s->projection[k].time);
  }
  json_end(j, '}');
  json_end(j, '}');
}

static void json_machine(json *j) {
  yoke_machine_facts m = {.size = sizeof m};
  (void)yoke_machine_facts_get(NULL, &m);
  json_begin(j, "machine", '{');
  json_text(j, "processor", m.processor[0] ? m.processor : NULL);
  json_text(j, "cpu_features", m.features);
  json_text(j, "math_library", m.math_library[0] ? m.math_library : NULL);
  json_text(j, "blas", m.blas[0] ? m.blas : NULL);
  json_end(j, '}');
}

static void json_errors(json *j, const char *key, int n, const yoke_error_share *errors) {
  json_begin(j, key, '{');
  for (int i = 0; errors && i < n; ++i) json_number(j, errors[i].name, errors[i].error);
  json_end(j, '}');
}

static void json_accuracy(json *j, const yoke_run_summary *s) {
  json_number(j, "accumulated_error", s->is_split ? s->accumulated_error : (double)NAN);
  json_number(j, "predicted_growth", s->is_split ? s->predicted_growth : (double)NAN);
  json_number(j, "motion_growth", s->is_split ? s->motion_growth : (double)NAN);
  json_number(j, "energy_gain", s->is_split ? s->energy_gain : (double)NAN);
  json_text(j, "error_limits", s->error_limits[0] ? s->error_limits : NULL);
  json_errors(j, "subsystem_errors", s->n_subsystems, s->subsystem_errors);
  json_errors(j, "coupling_errors", s->n_couplings, s->coupling_errors);
  json_whole(j, "estimated_steps", s->estimated_steps);
  json_whole(j, "monitor_evaluations", s->monitor_evaluations);
  json_whole(j, "monitor_integrations", s->monitor_integrations);
}

static void json_energies(json *j, const char *key, int n, const yoke_energy_share *list, bool is_coupling) {
  json_begin(j, key, '{');
  for (int i = 0; list && i < n; ++i) json_energy(j, &list[i], is_coupling);
  json_end(j, '}');
}

static void json_leak(json *j, const yoke_run_summary *s) {
  json_number(j, "leak", s->has_leak ? s->leak : (double)NAN);
  json_number(j, "leak_largest", s->has_leak ? s->leak_largest : (double)NAN);
  json_number(j, "leak_share", s->has_leak ? s->leak_share : (double)NAN);
  json_number(j, "leak_corrected", s->has_leak ? s->leak_corrected : (double)NAN);
  json_energies(j, "subsystem_energies", s->n_subsystems, s->subsystem_energies, false);
  json_energies(j, "coupling_energies", s->n_couplings, s->coupling_energies, true);
}

/* The same members for every run; without a split one subsystem, no coupling, and null. */
static void json_split(json *j, const yoke_run_summary *s) {
  json_truth(j, "split", s->is_split);
  json_whole(j, "subsystems", s->is_split ? s->n_subsystems : 1);
  json_whole(j, "couplings", s->n_couplings);
  json_whole(j, "channels", s->n_channels);
  json_text(j, "scheme", s->is_split ? s->scheme : NULL);
  json_text(j, "sequence", s->is_split ? s->sequence : NULL);
  json_number(j, "order", s->is_split ? (double)s->order : (double)NAN);
  json_number(j, "step", s->is_split ? s->macro_step : (double)NAN);
  json_text(j, "control", s->is_split && s->control[0] ? s->control : NULL);
  json_number(j, "macro_rtol", s->is_split ? s->macro_rtol : (double)NAN);
  json_steps(j, &s->report);
  json_whole(j, "macro_steps", s->macro_steps);
  json_whole(j, "rejected_macro_steps", s->rejected_macro_steps);
  json_whole(j, "iterations", s->iterations);
  json_whole(j, "integrations", s->integrations);
  json_whole(j, "matrices", s->matrices);
  json_whole(j, "kept_matrices", s->kept_matrices);
  json_whole(j, "all_evaluations", s->all_evaluations);
  json_whole(j, "all_jacobians", s->all_jacobians);
  json_number(j, "rate", s->is_split ? s->rate : (double)NAN);
  json_whole(j, "unconverged", s->unconverged);
  json_number(j, "residual", s->is_split ? s->residual : (double)NAN);
  json_residuals(j, s);
  json_accuracy(j, s);
  json_leak(j, s);
}

static void json_verification(json *j, const verification *v) {
  if (!v->comparison) {
    json_text(j, "verified", NULL);
    return;
  }
  json_begin(j, "verified", '{');
  json_number(j, "step", v->facts.step);
  json_number(j, "rtol", v->facts.rtol);
  json_number(j, "order", v->facts.order > 0 ? (double)v->facts.order : (double)NAN);
  json_begin(j, "errors", '{');
  for (int i = 0; i < n_bars(v); ++i) {
    const yoke_difference one = bar_at(v, i);
    json_number(j, one.name, v->facts.factor * one.largest);
  }
  json_end(j, '}');
  json_end(j, '}');
}

static void print_json(const yoke_context *ctx, const char *path, const yoke_run_options *options,
                       const yoke_run_summary *s, const verification *v, yoke_status status) {
  json       j         = {.file = stdout};
  const bool is_loaded = s->name != NULL;
  json_begin(&j, NULL, '{');
  json_text(&j, "status", status_word(status));
  json_whole(&j, "exit_code", yoke_status_exit_code(status));
  json_text(&j, "reason", yoke_status_text(status));
  json_text(&j, "model", path);
  json_text(&j, "name", s->name);
  json_text(&j, "solver", is_loaded ? s->solver : NULL);
  json_text(&j, "method", is_loaded ? s->method : NULL);
  json_number(&j, "rtol", is_loaded ? s->rtol : (double)NAN);
  json_number(&j, "atol", is_loaded ? s->atol : (double)NAN);
  json_number(&j, "t_start", is_loaded ? s->t_start : (double)NAN);
  json_number(&j, "t_end", is_loaded ? s->t_end : (double)NAN);
  json_number(&j, "t", is_loaded ? s->t : (double)NAN);
  json_truth(&j, "stopped_by_event", s->stopped_by_event);
  json_truth(&j, "static", s->is_static);
  json_number(&j, "rest_acceleration", s->is_static ? s->rest_acceleration : (double)NAN);
  json_number(&j, "rest_steps", s->is_static ? (double)s->rest_steps : (double)NAN);
  json_number(&j, "load_steps", s->is_static ? (double)s->load_steps : (double)NAN);
  json_whole(&j, "steps", s->steps);
  json_whole(&j, "rejected_steps", s->rejected_steps);
  json_whole(&j, "evaluations", s->evaluations);
  json_whole(&j, "jacobians", s->jacobians);
  json_whole(&j, "factorizations", s->factorizations);
  json_whole(&j, "events", s->n_events);
  json_split(&j, s);
  json_number(&j, "energy_start", s->has_energy ? s->energy_start : (double)NAN);
  json_number(&j, "energy_drift", s->has_energy ? s->energy_drift : (double)NAN);
  json_number(&j, "constraint_residual", is_loaded ? s->constraint_residual : (double)NAN);
  json_number(&j, "load_time", s->load_time);
  json_number(&j, "wall_time", s->wall_time);
  json_times(&j, s);
  json_projection(&j, s);
  json_machine(&j);
  json_whole(&j, "bodies", s->n_bodies);
  json_whole(&j, "freedoms", s->n_freedoms);
  json_whole(&j, "output_times", s->n_rows);
  json_text(&j, "out", s->out);
  json_text(&j, "csv", s->csv);
  json_begin(&j, "values", '{');
  for (int i = 0; i < s->n_print && s->print_values; ++i) json_number(&j, options->print[i], s->print_values[i]);
  json_end(&j, '}');
  json_verification(&j, v);
  json_messages(&j, ctx, status);
  json_end(&j, '}');
}

/* Values are printed after success only: half a run has no end values. */
static void print_values(const yoke_run_options *options, const yoke_run_summary *s) {
  for (int i = 0; i < s->n_print; ++i) {
    char text[YOKE_NUMBER_SIZE];
    yoke_number_text(s->print_values[i], text);
    printf("%s %s\n", options->print[i], text);
  }
}

/* Their code is run: right before the model is, and by nothing that a model says. */
static yoke_status load_plugins(yoke_context *ctx, const text_list *paths) {
  for (int i = 0; i < paths->n; ++i) YOKE_TRY(yoke_context_load_plugin(ctx, paths->texts[i]));
  return YOKE_OK;
}

/* The context of a run, with those of the other ranks. */
static yoke_status prepare(yoke_context *ctx, const run_arguments *a) {
  YOKE_TRY(launch_join(ctx, a->allow_mixed));
  return yoke_context_agree(ctx, load_plugins(ctx, &a->plugin));
}

/* What the repeated run has to say the first one has said already. */
static yoke_status run_twice(yoke_context *ctx, const run_arguments *a, const yoke_run_options *options,
                             yoke_run_summary *summary, verification *v) {
  yoke_context *again = NULL;
  YOKE_TRY(yoke_context_create(&again));
  yoke_status status = prepare(again, a);
  if (status == YOKE_OK) status = yoke_run_verify(ctx, again, options, summary, &v->facts, &v->comparison);
  yoke_context_destroy(&again);
  return status;
}

/* Curves of the result that was just written. */
static yoke_status draw(yoke_context *ctx, const run_arguments *a, const yoke_run_options *options,
                        const yoke_run_summary *s) {
  yoke_result *result = NULL;
  YOKE_TRY(yoke_result_open(ctx, s->out ? s->out : s->csv, &result));
  const yoke_curves curves = {.size      = sizeof curves,
                              .n_results = 1,
                              .results   = &result,
                              .n_names   = options->n_print,
                              .names     = options->print,
                              .title     = s->name};
  const yoke_status status = yoke_curves_write(ctx, &curves, a->plot);
  yoke_result_close(&result);
  return status;
}

static int run_model(const run_arguments *a, yoke_run_options *options) {
  yoke_context *ctx = create_context();
  if (!ctx) return EXIT_CODE_IO;
  yoke_run_summary summary = {.size = sizeof summary};
  progress         line;
  progress_start(&line, a->quiet || a->json);
  options->progress    = progress_update;
  options->user        = &line;
  options->interrupted = interrupt_watch();
  yoke_status  status  = prepare(ctx, a);
  verification v       = {.facts = {.size = sizeof v.facts}};
  if (status == YOKE_OK)
    status = a->verify ? run_twice(ctx, a, options, &summary, &v) : yoke_run(ctx, options, &summary);
  if (status == YOKE_OK && a->plot && (summary.out || summary.csv)) status = draw(ctx, a, options, &summary);
  progress_clear(&line);
  print_messages(ctx);
  if (a->json) {
    print_json(ctx, options->model, options, &summary, &v, status);
  } else if (status == YOKE_OK) {
    FILE *file = options->n_print > 0 ? stderr : stdout;
    if (!a->quiet) print_summary(file, &summary);
    if (!a->quiet && options->profile_file) print_timeline(file, options->profile_file, &summary);
    if (!a->quiet && v.comparison) print_verification(file, &v);
    print_values(options, &summary);
  }
  yoke_comparison_destroy(&v.comparison);
  yoke_run_summary_release(&summary);
  yoke_context_destroy(&ctx);
  return yoke_status_exit_code(status);
}

static int run_main(const command_def *command, int argc, char **argv) {
  run_arguments    a        = {0};
  text_list        operands = {0};
  name_list        names    = {0};
  yoke_run_options options  = {.size = sizeof options};
  int              code     = options_parse(command, argc, argv, &a, &operands);
  if (code != PARSE_DONE) return code;
  code = check_values(command, &a, &operands);
  if (code == PARSE_DONE) code = model_options_apply(command, &a.model, &options);
  if (code == PARSE_DONE && a.load_steps)
    code = whole_option(command, "load-steps", a.load_steps, 100000, &options.load_steps);
  if (code == PARSE_DONE) code = split_names(command, &a.print, &names);
  if (code == PARSE_DONE) {
    trace_apply(&a.model, &options);
    options.model      = operands.texts[0];
    options.threads    = launch_threads(options.threads);
    options.monolithic = a.monolithic;
    options.is_static  = a.at_rest;
    options.no_predict = a.no_predict;
    options.profile    = a.profile != NULL;
    if (a.profile && *a.profile) options.profile_file = a.profile;
    options.out     = a.out;
    options.csv     = a.csv;
    options.n_print = names.n;
    options.print   = names.texts;
    code            = trace_end(&a.model, run_model(&a, &options));
  }
  names_release(&names);
  options_release(command, &a, &operands);
  return code;
}

const command_def run_command = {
    .name    = "run",
    .usage   = "MODEL [options]",
    .summary = "simulate a model and write its results",
    .details =
        "A model with a split is run as co-simulation of its subsystems; --monolithic runs it as a whole.\n"
        "Results go to the files named by -o and --csv, else by the keys output.file and output.csv of the model (in "
        "or\n"
        "below this folder). Until the run ends, out.h5 is out.part.h5; an earlier out.h5 is replaced then.\n"
        "Before a co-simulation with a fixed macro step of at most 200 states a warning tells when the step is "
        "predicted\n"
        "unstable for the model linearised about its rest state, and which step would be stable; --no-predict skips "
        "it.\n"
        "--verify repeats a co-simulation with half its macro step, or a tenth of its tolerance, and gives the error "
        "bars of\n"
        "all selected quantities, in the summary, in --json and beside the result (out.errors.csv); the exit code is "
        "that of\n"
        "the run.\n"
        "--profile times every step and tells what 1 to 1024 threads would do with the same tasks; --profile=FILE "
        "writes who\n"
        "worked on what, and when, as JSON that the viewer of a browser shows (chrome://tracing, ui.perfetto.dev).\n"
        "Under a launcher (mpirun -n 4 yoke run MODEL) the subsystems are spread over its processes, with the "
        "same\n"
        "result; rank 0 reads, writes and prints.\n"
        "--static puts the model as a whole to rest, near its start and downhill from it, and writes that state as the "
        "only time\n"
        "of the result; it fails with exit code 4 where there is none.\n"
        "With --print, stdout holds one `name value` per line and nothing else; the summary goes to stderr.\n"
        "Ctrl-C stops after the present step, keeps what was computed and exits with 8.",
    .options   = run_options,
    .n_options = (int)(sizeof run_options / sizeof *run_options),
    MODEL_CHOICES(run_arguments),
    .run = run_main,
};
