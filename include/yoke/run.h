/* Run: load a model, simulate it, write its results. One call does what `yoke run` does; nothing is printed. */
#ifndef YOKE_RUN_H
#define YOKE_RUN_H

#include <yoke/context.h>
#include <yoke/export.h>
#include <yoke/model.h>
#include <yoke/result.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All is borrowed for the call. A model file or a model, with what is changed in it, and how it is run. */
typedef struct yoke_run_options {
  size_t             size;
  const char        *model;  /* path of the model file, or ... */
  const yoke_model  *loaded; /* ... a model that exists already; NULL: none */
  int                n_sets; /* overrides "path=value", applied in this order ... */
  const char *const *sets;
  int                n_choices; /* ... followed by these */
  const yoke_choice *choices;
  bool               monolithic; /* ignore the split of the model */
  bool               no_predict; /* no prediction whether the macro step is stable, and no warning when it is not */
  bool               check;      /* subsystems watch their contract (slower) */
  const char        *exec;       /* "threads", "serial", "shuffled", "eager"; NULL: threads */
  /* One line per call of a subsystem, on the thread that makes it, and two around every macro step. NULL: none. */
  void (*trace)(void *user, const char *line);
  void              *trace_user;
  const char        *trace_file; /* the same lines into a file; NULL: none */
  /* Result files. NULL: what the keys output.file and output.csv say, "": none. A name that ends in .csv is written as CSV. An earlier
   * file is replaced at the end of the run, if it came beyond its start; until then the result is written beside it (a.part.h5). */
  const char        *out;
  const char        *csv;
  int                n_print; /* outputs whose values at the end are wanted ("upper.x"), selected for the file or not */
  const char *const *print;
  int                threads; /* at most; 0: one per core. As many of them work as pay (docs/parallel.md) */
  /* Called after every micro (split: macro) step, and now and then inside long macro steps with the time of the last call, from
   * the calling thread. NULL: none. false stops the run as an interrupt does. */
  bool (*progress)(void *user, double t, double t_start, double t_end);
  void *user;
  const volatile sig_atomic_t
             *interrupted; /* not 0: stop after the present micro step. NULL: never. May be set by a signal handler. */
  /* Every step is timed: the summary gets a projection of what more threads would do (docs/parallel.md). */
  bool        profile;
  const char *profile_file; /* a timeline of it, for the viewer of a browser; NULL: none */
  /* Nothing moves: the model as a whole is put to rest, in so many load steps (0: as many as it takes), and that state is the result, at t_start
   * (docs/program.md). */
  bool        is_static;
  int         load_steps;
} yoke_run_options;

/* What the couplings of a split run left open at macro points, by kind. Angles count as lengths, times the length of the model. */
enum { YOKE_N_RESIDUAL_KINDS = 5 };
typedef struct yoke_residual_summary {
  bool   exists;  /* a coupling has conditions of this kind */
  double largest; /* of all accepted steps */
  /* Motions: largest / (L, L/H, L/H^2) with the length L of the model and the step H that left it. Forces and moments: in units of
   * the largest of the run. */
  double share;
} yoke_residual_summary;
YOKE_API const char *yoke_residual_name(int kind);      /* "position", "velocity", "acceleration", "force", "moment" */
YOKE_API const char *yoke_residual_unit_name(int kind); /* "m", "m/s", "m/s^2", "N", "N*m" */
YOKE_API const char *yoke_residual_verdict(double share); /* "held" to 1e-6, "small" to 1e-3, else "large" */

/* Accumulated error of a subsystem or a coupling: the sum of the estimated errors of all macro steps in the positions and velocities of its
 * ports, in units of their spread (largest - smallest value at macro points); the largest of all ports counts. */
typedef struct yoke_error_share {
  char  *name;
  double error; /* 0.01: one percent of the spread */
} yoke_error_share;

/* Where the time of a run went [s] (docs/parallel.md), on ranks that of this one. The members add up to threads * wall_time. */
typedef struct yoke_time_shares {
  double solver;   /* integrations of subsystems */
  double save;     /* copies of their states */
  double exchange; /* inputs made of coupling values, outputs read; what ranks tell each other, and the wait for it */
  double master;   /* all else that the macro steps took */
  double output;   /* samples and result files */
  double idle;     /* threads that waited for others */
} yoke_time_shares;

/* The same of one subsystem; idle: until the longest of the same list of tasks was done, had each one a thread. */
typedef struct yoke_subsystem_times {
  char  *name;
  double solver, save, exchange, idle; /* [s] */
} yoke_subsystem_times;

/* What more threads would do, from the times of the tasks as they were measured. */
enum { YOKE_N_PROJECTED_THREADS = 11 };
typedef struct yoke_projected_time {
  int    threads; /* 1, 2, 4 ... 1024 */
  double time;    /* of all steps and samples [s] */
} yoke_projected_time;

/* Filled by a run. `name`, `out`, `csv`, `print_values` and the lists of errors, energies and times are given: yoke_run_summary_release. */
typedef struct yoke_run_summary {
  size_t           size;
  char            *name;      /* of the model; NULL when it could not be read */
  char            *out, *csv; /* files written; NULL: none */
  int              n_print;
  double          *print_values; /* [n_print], those of options->print at time t; NaN: not known */
  char             solver[24];   /* as asked for: "auto" */
  char             method[24];   /* at work at the end: "dopri5" */
  double           rtol, atol;
  double           t_start, t_end; /* asked for [s] */
  double           t;              /* reached [s] */
  int64_t          steps, rejected_steps;
  int64_t          evaluations, jacobians, factorizations;
  bool             has_energy;
  double           energy_start;        /* [J] */
  double           energy_drift;        /* largest |E_kin + E_pot + dissipated - external - E(0)| at output times [J] */
  double           constraint_residual; /* largest |g| at output times */
  double           load_time;           /* reading and assembling the model [s] */
  double           wall_time;           /* simulating and writing [s] */
  int              n_bodies, n_connections, n_freedoms, n_constraints, n_events;
  bool             stopped_by_event;
  int64_t          n_rows;    /* output times kept */
  int              n_outputs; /* quantities per output time */
  bool             is_split;
  int              n_subsystems, n_couplings, n_channels;
  char             scheme[16], sequence[16];
  int              order;        /* polynomial degree; with step control the highest */
  double           macro_step;   /* H [s]; with step control the first, after the run the mean */
  char             control[400]; /* what step control chose and why; "": fixed step */
  double           macro_rtol;   /* of the local error; NaN: fixed step */
  int64_t          macro_steps, rejected_macro_steps;
  yoke_step_report report;        /* of the macro steps, by reason and degree */
  int64_t          iterations;    /* corrector passes of all macro steps */
  int64_t          integrations;  /* of subsystems over a macro step, perturbed ones included */
  int64_t          matrices;      /* of the corrector, that were made */
  int64_t          kept_matrices; /* macro steps that began with the matrix of an earlier one */
  int64_t          all_evaluations,
      all_jacobians; /* right-hand sides and Jacobians of all integrations, also rejected and perturbed ones and tangents */
  double  rate;      /* slowest convergence of the corrector, second correction / first; NaN: none was measured */
  int64_t unconverged; /* macro steps accepted although their conditions do not hold as they should */
  double  residual;    /* largest violation of a coupling condition in an accepted macro step, in mixed units */
  yoke_residual_summary residuals[YOKE_N_RESIDUAL_KINDS]; /* the same by kind */
  /* Accuracy (cosimulation.monitor): */
  double                accumulated_error; /* largest of all subsystems; NaN: not known */
  yoke_error_share     *subsystem_errors;  /* [n_subsystems]; NULL: not known */
  yoke_error_share     *coupling_errors;   /* [n_couplings]; NULL: not known */
  int64_t               estimated_steps;   /* macro steps whose error was estimated; that of the others was held */
  int64_t               monitor_evaluations, monitor_integrations; /* that it took, beside those of the run */
  double predicted_growth;  /* of small errors over the run by the couplings, 1: none; NaN: not predicted */
  int    convergence_order; /* by which the errors at the end fall with H; 0: a model without a split */
  double energy_gain; /* of a model that nothing drives, over the run, in units of its kinetic energy; NaN: not known */
  char   error_limits[300]; /* what the estimate leaves out or counts too high; "": nothing */
  bool   lacks_energy;      /* a subsystem does not account for its energy: total.energy does not exist */
  /* Time, estimated from the steps that were timed: */
  int    threads;             /* that worked at the same time, at most */
  char   threads_reason[160]; /* why, in words */
  yoke_time_shares      times;
  yoke_subsystem_times *subsystem_times; /* [n_subsystems]; NULL: a model without a split */
  /* With `profile`: */
  bool                  has_projection;
  yoke_projected_time   projection[YOKE_N_PROJECTED_THREADS];
  double                critical_path;   /* [s]: no number of threads is faster */
  int64_t               n_spans, n_lost; /* of the timeline: kept, and those for which there was no room */
  /* With `is_static`: */
  bool                  is_static;
  int                   rest_steps, load_steps; /* that the search took */
  double rest_acceleration; /* the largest that is left; of rotations times the size of the model [m/s^2] */
  /* Energy account of a split run (cosimulation.energy): */
  bool   has_leak;
  double leak, leak_largest; /* total at the end, and the largest |leak| of the run [J] */
  double leak_share;         /* leak_largest in units of the energy that moves: largest kinetic + swing of potential */
  double leak_corrected;     /* work of all corrections [J] */
  int    leak_worst;         /* the coupling with the largest |leak|; -1: none */
  yoke_energy_share *subsystem_energies; /* [n_subsystems]; NULL: not known */
  yoke_energy_share *coupling_energies;  /* [n_couplings]; NULL: not known */
  double             motion_growth; /* how many times larger the motion itself makes small errors; NaN: not measured */
} yoke_run_summary;

/* With a split (and without `monolithic`) subsystems are integrated over macro steps, else the model as a whole.
 * Gives what `summary` holds (release it in any case but that of a wrong size); it is filled as far as the run came, also on failure.
 *   YOKE_OK              t_end was reached, or an event ended the run; everything written is finite
 *   YOKE_E_INTERRUPTED   stopped by `progress` or `interrupted`; the files hold what was computed
 *   YOKE_E_USAGE         no model or two of them, an unknown name in `print`, a file to be written that was read or is to be written twice
 *   YOKE_E_UNSTABLE      an output was not finite, or the couplings diverge
 *   YOKE_E_NOT_CONVERGED a macro step did not converge
 *   YOKE_E_IO            a result file could not be written
 * and what loading and integrating give. */
YOKE_API yoke_status yoke_run(yoke_context *ctx, const yoke_run_options *options, yoke_run_summary *summary);
YOKE_API void        yoke_run_summary_release(yoke_run_summary *summary);

/* The co-simulation of a model (A) against its own monolithic run (B, the reference), without files. Where the model keeps
 * every step, outputs are compared at the macro points. Gives all three, summaries as yoke_run does, the comparison as yoke_result_compare. Fails as these do;
 * YOKE_E_USAGE also: the model has no split. */
YOKE_API yoke_status yoke_run_compare(yoke_context *ctx, const yoke_run_options *options, yoke_run_summary *split,
                                      yoke_run_summary *monolithic, yoke_comparison **comparison);

/* How a run was repeated. */
typedef struct yoke_verify_facts {
  size_t size;
  double step,
      rtol; /* of the repeated run: half the macro step [s], or with step control a tenth of the tolerance; the other is NaN */
  int    order;  /* of the scheme, that is assumed; 0: step control */
  double factor; /* error of the run = factor * its difference to the repeated one: 2^p / (2^p - 1), 10/9 */
} yoke_verify_facts;

/* Run a model as yoke_run does and, when that came to its end, once more with half the macro step or a tenth of the tolerance; the comparison
 * tells how far the run (A) is from the repeated one (B) in every selected quantity. Where the run wrote a file, its error bars are written beside it (out.h5, out.csv: out.errors.csv).
 * `again` is the context of the repeated run, which knows the same types; it may be `ctx`. The status is that of the run: *comparison is NULL, and
 * a warning says why, where it could not be verified. Gives summary and comparison. */
YOKE_API yoke_status yoke_run_verify(yoke_context *ctx, yoke_context *again, const yoke_run_options *options,
                                     yoke_run_summary *summary, yoke_verify_facts *facts, yoke_comparison **comparison);

/* Write a commented model to start from to `path`: that of a template, NULL: of the first one. An existing file is never overwritten
 * (YOKE_E_IO). YOKE_E_USAGE: there is no such template. */
YOKE_API yoke_status yoke_starter_write(yoke_context *ctx, const char *template_name, const char *path);
/* Template i = 0, 1, ...; false: there are no more. */
YOKE_API bool        yoke_starter_template(int i, const char **name, const char **summary);

#ifdef __cplusplus
}
#endif
#endif
