/* Stability: the spectral radius of one macro step, over parameters and steps. One call does what `yoke stability` does; nothing is
 * printed. Stable is a radius of at most 1 (up to rounding: 1 + 1e-9). */
#ifndef YOKE_STABILITY_H
#define YOKE_STABILITY_H

#include <yoke/converge.h>
#include <yoke/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* n values from `from` to `to`, evenly spaced (in the logarithm). */
typedef struct yoke_stability_axis {
  const char *name; /* parameter, key, or "step"; NULL: no axis */
  double      from, to;
  int         n;
  bool        is_log;
} yoke_stability_axis;

/* All is borrowed for the call. */
typedef struct yoke_stability_options {
  size_t                    size;
  /* model: "two-mass", "two-mass-rigid", "kinematic-two-mass" (closed form), or a model file (the engine itself). sets: "re=-0.1" for
   * a test model, else overrides as for a run. threads, interrupted, and what stands for keys. Or a model that is loaded. */
  const yoke_run_options   *run;
  int                       n_methods; /* 0: one, as the model says */
  const yoke_method_choice *methods;
  int                       n_cases; /* 0: one without settings of its own */
  const char *const  *cases; /* each "am=10,ar=10": settings on top of `sets`; every case is done with every method */
  yoke_stability_axis x, y;  /* no x: one point; no y: a line */
  bool                find_limit;      /* the largest stable macro step instead of a map */
  int                 n_columns;       /* of the picture; 0: by itself */
  const char         *out, *csv, *svg; /* files of a map or a line (HDF5, CSV, picture); NULL: none */
  const char         *title;           /* of the picture; NULL: by itself */
  /* Share done, 0 to 1; false stops as an interrupt does. NULL: none. */
  bool (*progress)(void *user, double share);
  void *user;
} yoke_stability_options;

/* Every method in every case. */
typedef struct yoke_stability_table yoke_stability_table;

/* A method that is impossible is a row that says why. Gives; *out may be there after a failure too, with the rows that there are.
 *   YOKE_OK             at least one row is good
 *   YOKE_E_INTERRUPTED  stopped; points that are missing are NaN, files are written if one is there
 *   YOKE_E_USAGE        an axis or a setting that does not exist, a file that was read
 *   YOKE_E_IO           a file could not be written
 * and, when no row is good, the status of the first one; what loading the model gives. */
YOKE_API yoke_status yoke_stability_study(yoke_context *ctx, const yoke_stability_options *options,
                                          yoke_stability_table **out);
YOKE_API void        yoke_stability_table_destroy(yoke_stability_table **table);

typedef struct yoke_stability_facts {
  size_t        size;
  const char   *model; /* name */
  bool          is_test_model;
  int           n_rows; /* cases by cases, methods inside */
  int           nx, ny; /* points of the axes; a point: 0, 0, a line: ny = 1 */
  const double *x, *y;  /* values of the axes [nx], [ny]; NULL: no such axis */
} yoke_stability_facts;
YOKE_API yoke_status yoke_stability_table_facts_get(yoke_context *ctx, const yoke_stability_table *table,
                                                    yoke_stability_facts *out);

enum { YOKE_STABILITY_WORD = 96, YOKE_STABILITY_METHOD = 192 };

/* One method in one case. */
typedef struct yoke_stability_row {
  size_t      size;
  const char *label;
  yoke_status status;        /* not YOKE_OK: nothing else is known */
  const char *reason;        /* why not; NULL when YOKE_OK */
  int         n_states;      /* rows of the amplification matrix */
  bool        is_linearized; /* a model file that is not linear: about its rest state */
  /* a point */
  bool        is_relative; /* a test model with dimensionless parameters: steps are multiples of its own */
  double      step;        /* [s]; NaN: chosen during the run, or is_relative */
  double      rho, re, im; /* spectral radius and the eigenvalue of that size */
  double      model_rho;   /* of the whole model without a coupling: > 1 when it is unstable itself; NaN: not asked */
  char        coupling[YOKE_STABILITY_WORD]; /* that moves most in this eigenvector; "": not known */
  char        channel[YOKE_STABILITY_WORD];
  char        body[YOKE_STABILITY_WORD];
  bool        is_stable;
  /* the limit; rho, coupling ... are those just above it */
  double limit; /* [s], of a dimensionless test model in its own step; infinity: none was found; 0: no step is stable */
  double limit_searched; /* largest step looked at */
  double stable_again;   /* smallest step looked at above the limit that is stable; 0: none */
  /* a map or a line */
  const double *values;   /* [ny, nx]; NaN: not defined there. NULL: a point or a limit */
  int64_t       n_stable; /* points */
  /* "scheme semi-implicit, order 1, formulation constitutive": what a run of the model file has with a fixed step; "": a test model */
  char          judged[YOKE_STABILITY_METHOD];
} yoke_stability_row;

/* Row i < n_rows. YOKE_E_USAGE: there is no such row. */
YOKE_API yoke_status yoke_stability_table_get(yoke_context *ctx, const yoke_stability_table *table, int i,
                                              yoke_stability_row *out);

#ifdef __cplusplus
}
#endif
#endif
