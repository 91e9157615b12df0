/* Run: load a model, simulate it, write its results. One call does what `yoke run` does; nothing is printed. */
#ifndef YOKE_RUN_H
#define YOKE_RUN_H

#include <yoke/context.h>
#include <yoke/export.h>
#include <yoke/result.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A setting by the name of its option ("order", yoke/settings.h) or by its key ("output.every"), with its value as in the model file. */
typedef struct yoke_choice {
  const char *name, *value;
} yoke_choice;

/* All texts are borrowed for the call. Start from yoke_run_options_default(). */
typedef struct yoke_run_options {
  const char        *model;  /* path of the model file */
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
  int                threads; /* 0: all cores */
  /* Called after every micro (split: macro) step, and now and then inside long macro steps with the time of the last call, from
   * the calling thread. NULL: none. false stops the run as an interrupt does. */
  bool (*progress)(void *user, double t, double t_start, double t_end);
  void *user;
  const volatile sig_atomic_t
      *interrupted; /* not 0: stop after the present micro step. NULL: never. May be set by a signal handler. */
} yoke_run_options;

YOKE_API yoke_run_options yoke_run_options_default(void);

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

typedef struct yoke_run_summary {
  char            *name;       /* of the model; NULL when it could not be read */
  char             solver[24]; /* as asked for: "auto" */
  char             method[24]; /* at work at the end: "dopri5" */
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
  char            *out, *csv; /* files written; NULL: none */
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
  int                   n_print;
  double               *print_values; /* [n_print], those of options->print at time t; NaN: not known */
} yoke_run_summary;

/* With a split (and without `monolithic`) subsystems are integrated over macro steps, else the model as a whole.
 * Gives what `summary` holds (release it in any case); it is filled as far as the run came, also on failure.
 *   YOKE_OK              t_end was reached, or an event ended the run; everything written is finite
 *   YOKE_E_INTERRUPTED   stopped by `progress` or `interrupted`; the files hold what was computed
 *   YOKE_E_USAGE         an unknown name in `print`, a file to be written that was read or is to be written twice
 *   YOKE_E_UNSTABLE      an output was not finite, or the couplings diverge
 *   YOKE_E_NOT_CONVERGED a macro step did not converge
 *   YOKE_E_IO            a result file could not be written
 * and what loading and integrating give. */
YOKE_API yoke_status yoke_run(yoke_context *ctx, const yoke_run_options *options, yoke_run_summary *summary);
YOKE_API void        yoke_run_summary_release(yoke_run_summary *summary);

/* The co-simulation of a model (A) against its own monolithic run (B, the reference), without files. Where the model keeps
 * every step, outputs are compared at the macro points. Gives all three; the comparison as yoke_result_compare does. */
YOKE_API yoke_status yoke_run_compare(yoke_context *ctx, const yoke_run_options *options, yoke_run_summary *split,
                                      yoke_run_summary *monolithic, yoke_comparison *comparison);

/* What a model consists of once it is assembled. */
typedef struct yoke_model_item {
  char *name;
  char *kind;        /* "planar", "revolute", ...; of an output: its unit */
  char *description; /* of an output that the user wrote; "": none */
} yoke_model_item;

typedef struct yoke_part_item { /* a subsystem */
  char *name;
  char *contents; /* "2 bodies", "50 masses of c" */
  char *solver;
} yoke_part_item;

typedef struct yoke_coupling_item {
  char *name, *kind;   /* of its connection; cut of a chain: "element" */
  char *side[2];       /* subsystems */
  char *formulation;   /* "constitutive" */
  char *decomposition; /* "force/force" */
  char *extension;     /* "none" */
  char *channels;      /* "force x, force y" */
  int   n_channels;
} yoke_coupling_item;

typedef struct yoke_model_facts {
  char               *name;
  double              t_start, t_end;
  char                solver[24];
  double              rtol, atol;
  int                 n_bodies, n_connections, n_loads, n_events;
  yoke_model_item    *bodies;                   /* [n_bodies] */
  yoke_model_item    *connections;              /* [n_connections] */
  int                 nq, nv;                   /* coordinates and velocities */
  int                 n_constraints;            /* rows of the constraints, redundant ones included */
  int                 n_redundant;              /* rows that follow from the others */
  int                 n_freedoms;               /* nv minus independent constraints */
  int                 n_outputs;                /* selected */
  int                 n_outputs_all;            /* that exist */
  yoke_model_item    *outputs;                  /* [n_outputs] */
  char               *output_file, *output_csv; /* NULL: none named by the model */
  double              every;                    /* [s]; 0: every step */
  char               *settings;                 /* all that a run reads, as text of a model file */
  /* with a split; all 0 otherwise */
  int                 n_parts, n_couplings;
  yoke_part_item     *parts;     /* [n_parts] */
  yoke_coupling_item *couplings; /* [n_couplings] */
  char                scheme[16], sequence[16];
  int                 order;
  double              macro_step;   /* [s] */
  char                control[400]; /* what step control chooses and why; "": fixed step */
} yoke_model_facts;

/* Load, assemble and split, with the overrides of `options` (all that stand for keys, and `monolithic`). Gives. */
YOKE_API yoke_status yoke_model_inspect(yoke_context *ctx, const yoke_run_options *options, yoke_model_facts *facts);
YOKE_API void        yoke_model_facts_release(yoke_model_facts *facts);

/* A proposed split: where the model is cut and why. */
typedef struct yoke_cut {
  char  *name;      /* connection, or element of a chain: "c.element[12]" (before mass 12, counted from 1) */
  char  *kind;      /* "spring-damper", "element" */
  int    part[2];   /* number of the part of both sides, from 0 */
  double stiffness; /* largest of its directions [N/m] or [N m/rad] */
  double
         frequency; /* sqrt(stiffness / reduced mass or inertia) [rad/s]; damping counts by d / reduced mass where that is more */
  double mass_ratio; /* heavier to lighter side, >= 1 */
  bool   is_loaded;  /* a load acts next to it */
} yoke_cut;

typedef struct yoke_cut_part {
  char *name;
  bool  is_piece; /* of a chain */
  int   n_bodies; /* piece: masses */
  int   cost;     /* freedoms of its bodies */
} yoke_cut_part;

typedef struct yoke_split_proposal {
  int            n_parts, n_cuts;
  yoke_cut_part *parts;
  yoke_cut      *cuts;
  double         balance;            /* largest cost to mean cost, >= 1 */
  double         frequency_range[2]; /* of all elements that could be cut [rad/s] */
  int            n_candidates;       /* elements that could be cut */
  int            n_groups;           /* bodies that rigid joints and loads hold together count as one group */
  char          *split;              /* section `split:` as text of a model file */
  char          *model;              /* the model file's text with this section in place of its own */
} yoke_split_proposal;

/* Cut a model into n_parts: soft elements rather than stiff ones, equal masses on both sides, away from loads, balanced cost; never
 * a rigid joint. Reads model and sets of `options`, and writes the model with its split to `out` where that is not NULL. Gives. YOKE_E_UNSUPPORTED: this build has no METIS (chains need none).
 * YOKE_E_USAGE: the model has fewer groups than parts are asked for. */
YOKE_API yoke_status yoke_split_propose(yoke_context *ctx, const yoke_run_options *options, int n_parts,
                                        yoke_split_proposal *out);
YOKE_API void        yoke_split_proposal_release(yoke_split_proposal *proposal);

/* Write the commented starter model to `path`; an existing file is never overwritten (YOKE_E_IO). */
YOKE_API yoke_status yoke_starter_write(yoke_context *ctx, const char *path);

#ifdef __cplusplus
}
#endif
#endif
