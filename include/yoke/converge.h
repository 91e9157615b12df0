/* Convergence: errors and orders of coupling methods over macro steps. One call does what `yoke converge` does; nothing is printed. */
#ifndef YOKE_CONVERGE_H
#define YOKE_CONVERGE_H

#include <yoke/export.h>
#include <yoke/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One coupling method: what it says replaces the model's settings; NULL: as the model (or the run's options) say. */
typedef struct yoke_method_choice {
  size_t      size; /* the same in all entries of a list */
  const char *scheme, *formulation, *decomposition, *extension, *index, *order;
} yoke_method_choice;

/* The words of a method that are given, as in "semi-implicit, force/force, order 2"; "as the model says" when there are none.
 * `size` of at least 160 holds every one. YOKE_E_USAGE: the size of the method cannot be; the text is "" then. */
YOKE_API yoke_status yoke_method_label(const yoke_method_choice *method, char *text, size_t size);

/* All is borrowed for the call. */
typedef struct yoke_converge_options {
  size_t                  size;
  const yoke_run_options *run; /* model, overrides, threads, interrupt; out, csv, every, step and print are not used */
  int                     n_steps;
  const char *const      *steps; /* macro steps as in the model file: "1/200", "5 ms" */
  int                     n_methods;
  const yoke_method_choice *methods;        /* n_methods 0: as the model says */
  bool                      no_local;       /* without local errors */
  const char               *reference;      /* solver of the whole model; NULL: exact where it can, else dop853 */
  double                    reference_rtol; /* 0: 1e-13 */
  const char               *csv, *svg;      /* files; NULL: none */
  /* Share done, 0 to 1; false stops as an interrupt does. NULL: none. */
  bool (*progress)(void *user, double share);
  void *user;
} yoke_converge_options;

enum {
  YOKE_ERROR_GLOBAL_POSITION,
  YOKE_ERROR_GLOBAL_VELOCITY,
  YOKE_ERROR_LOCAL_POSITION,
  YOKE_ERROR_LOCAL_VELOCITY,
  YOKE_N_ERRORS
};
YOKE_API const char *yoke_error_name(int kind); /* "global position"; "" for every other number */

/* Runs of every method with every step, against the whole model. */
typedef struct yoke_convergence yoke_convergence;

/* A run that fails is a row that says so. Gives; *out may be there after a failure too, with the rows that there are.
 *   YOKE_OK             at least one row is good
 *   YOKE_E_INTERRUPTED  stopped; rows that are missing say so, files are written if one is there
 *   YOKE_E_USAGE        no macro steps, or one that is chosen during the run; no split; a file that was read
 *   YOKE_E_IO           a file could not be written
 * and, when no row is good, the status of the first one; what loading the model gives. */
YOKE_API yoke_status yoke_converge(yoke_context *ctx, const yoke_converge_options *options, yoke_convergence **out);
YOKE_API void        yoke_convergence_destroy(yoke_convergence **convergence);

typedef struct yoke_convergence_facts {
  size_t      size;
  const char *name; /* of the model */
  double      t_start, t_end;
  const char *reference; /* solver of the reference; "": none was needed yet */
  int         n_methods, n_steps;
} yoke_convergence_facts;
YOKE_API yoke_status yoke_convergence_facts_get(yoke_context *ctx, const yoke_convergence *convergence,
                                                yoke_convergence_facts *out);

/* One run. */
typedef struct yoke_converge_row {
  size_t      size;
  const char *label;                /* of its method */
  double      H;                    /* [s] */
  yoke_status status;               /* of the run; not YOKE_OK: errors are NaN */
  const char *reason;               /* why not; NULL when YOKE_OK */
  int64_t     macro_steps;          /* done */
  double      error[YOKE_N_ERRORS]; /* NRMSE at the macro points; NaN: not known */
  double order[YOKE_N_ERRORS]; /* log(e / e') / log(H / H') against the row before of the same method; NaN: not known */
} yoke_converge_row;

/* The run of a method and a step, counted from 0. YOKE_E_USAGE: there is no such run. */
YOKE_API yoke_status yoke_convergence_get(yoke_context *ctx, const yoke_convergence *convergence, int method, int step,
                                          yoke_converge_row *out);

#ifdef __cplusplus
}
#endif
#endif
