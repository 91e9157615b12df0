/* Run: load a model, simulate it, write its results. One call does what `yoke run` does; nothing is printed. */
#ifndef YOKE_RUN_H
#define YOKE_RUN_H

#include <yoke/context.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All texts are borrowed for the call. Start from yoke_run_options_default(). */
typedef struct yoke_run_options {
  const char        *model;  /* path of the model file */
  int                n_sets; /* overrides "path=value", applied in this order ... */
  const char *const *sets;
  /* ... followed by these, written as in the model file ("2.5", "350 ms"). NULL: as the model says. */
  const char        *t_end;  /* key t_end */
  const char        *solver; /* key solvers.default.kind */
  const char        *rtol;   /* key solvers.default.rtol */
  const char        *atol;   /* key solvers.default.atol */
  /* Result files. NULL: what the keys output.file and output.csv say, "": none. A name that ends in .csv is written as CSV. */
  const char        *out;
  const char        *csv;
  int                n_print; /* outputs whose values at the end are wanted ("upper.x"), selected for the file or not */
  const char *const *print;
  int                threads; /* 0: all cores */
  /* Called after every micro step, from the calling thread. NULL: none. false stops the run as an interrupt does. */
  bool (*progress)(void *user, double t, double t_start, double t_end);
  void *user;
  const volatile sig_atomic_t
      *interrupted; /* not 0: stop after the present step. NULL: never. May be set by a signal handler. */
} yoke_run_options;

yoke_run_options yoke_run_options_default(void);

typedef struct yoke_run_summary {
  char   *name;       /* of the model; NULL when it could not be read */
  char    solver[24]; /* as asked for: "auto" */
  char    method[24]; /* at work at the end: "dopri5" */
  double  rtol, atol;
  double  t_start, t_end; /* asked for [s] */
  double  t;              /* reached [s] */
  int64_t steps, rejected_steps;
  int64_t evaluations, jacobians, factorizations;
  bool    has_energy;
  double  energy_start;        /* [J] */
  double  energy_drift;        /* largest |E_kin + E_pot + dissipated - external - E(0)| at output times [J] */
  double  constraint_residual; /* largest |g| at output times */
  double  load_time;           /* reading and assembling the model [s] */
  double  wall_time;           /* simulating and writing [s] */
  int     n_bodies, n_connections, n_freedoms, n_constraints, n_events;
  bool    stopped_by_event;
  int64_t n_rows;    /* output times kept */
  int     n_outputs; /* quantities per output time */
  char   *out, *csv; /* files written; NULL: none */
  int     n_print;
  double *print_values; /* [n_print], those of options->print at time t; NaN: not known */
} yoke_run_summary;

/* Gives what `summary` holds (release it in any case); it is filled as far as the run came, also on failure.
 *   YOKE_OK              t_end was reached, or an event ended the run; everything written is finite
 *   YOKE_E_INTERRUPTED   stopped by `progress` or `interrupted`; the files hold what was computed
 *   YOKE_E_USAGE         an unknown name in `print`, a result file that is the model file
 *   YOKE_E_UNSTABLE      an output was not finite
 *   YOKE_E_IO            a result file could not be written
 * and what loading and integrating give. */
yoke_status yoke_run(yoke_context *ctx, const yoke_run_options *options, yoke_run_summary *summary);
void        yoke_run_summary_release(yoke_run_summary *summary);

/* What a model consists of once it is assembled. */
typedef struct yoke_model_item {
  char *name;
  char *kind; /* "planar", "revolute", ...; of an output: its unit */
} yoke_model_item;

typedef struct yoke_model_facts {
  char            *name;
  double           t_start, t_end;
  char             solver[24];
  double           rtol, atol;
  int              n_bodies, n_connections, n_loads, n_events;
  yoke_model_item *bodies;                   /* [n_bodies] */
  yoke_model_item *connections;              /* [n_connections] */
  int              nq, nv;                   /* coordinates and velocities */
  int              n_constraints;            /* rows of the constraints, redundant ones included */
  int              n_redundant;              /* rows that follow from the others */
  int              n_freedoms;               /* nv minus independent constraints */
  int              n_outputs;                /* selected */
  int              n_outputs_all;            /* that exist */
  yoke_model_item *outputs;                  /* [n_outputs] */
  char            *output_file, *output_csv; /* NULL: none named by the model */
  double           every;                    /* [s]; 0: every step */
} yoke_model_facts;

/* Load and assemble, with the overrides of `options` (model, sets, t_end, solver, rtol, atol are read). Gives. */
yoke_status yoke_model_inspect(yoke_context *ctx, const yoke_run_options *options, yoke_model_facts *facts);
void        yoke_model_facts_release(yoke_model_facts *facts);

/* Write the commented starter model to `path`; an existing file is never overwritten (YOKE_E_IO). */
yoke_status yoke_starter_write(yoke_context *ctx, const char *path);

#ifdef __cplusplus
}
#endif
#endif
