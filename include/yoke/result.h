/* Result: quantities over time, as written by a run (HDF5 or CSV), for reading and comparing. */
#ifndef YOKE_RESULT_H
#define YOKE_RESULT_H

#include <yoke/context.h>
#include <yoke/export.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_result yoke_result;

/* HDF5 is recognised by its contents, everything else is read as CSV. A file that a run is still writing, or that a
 * killed run left, can be read too. A result without a file: yoke_simulation_record_take. Gives.
 *   YOKE_E_IO            the file cannot be read, or is no result
 *   YOKE_E_UNSUPPORTED   HDF5 in a build without it */
YOKE_API yoke_status yoke_result_open(yoke_context *ctx, const char *path, yoke_result **out);
YOKE_API void        yoke_result_close(yoke_result **result);

/* Quantities i < n_quantities. Texts belong to the result. */
YOKE_API const char *yoke_result_path(const yoke_result *result); /* or the name of a result without a file */
YOKE_API int         yoke_result_n_quantities(const yoke_result *result);
YOKE_API const char *yoke_result_name(const yoke_result *result, int i); /* "upper.x" */
YOKE_API const char *yoke_result_unit(const yoke_result *result, int i); /* "m"; "" when the file does not say */
YOKE_API int         yoke_result_find(const yoke_result *result, const char *name); /* index, or -1 */

/* Output times [s] of quantity i, not decreasing; two equal times are the two sides of a jump. Belong to the result. */
YOKE_API const double *yoke_result_times(const yoke_result *result, int i, size_t *n_times);

/* Values of quantity i at its times, [n_times]. Reading in increasing order of i is fast.
 * YOKE_E_USAGE: there is no such number. YOKE_E_IO: the file cannot be read. */
YOKE_API yoke_status yoke_result_read(yoke_context *ctx, yoke_result *result, int i, double *values);

/* Macro steps of a split run: how long they are, and what made them shorter. */
enum {
  YOKE_N_REJECTED = 5, /* reasons that throw a trial away: error, corrector, non-finite, event, gap */
  YOKE_N_REASONS  = 7, /* and those that only shorten a step: switch, end */
  YOKE_N_DEGREES  = 6
};
typedef struct yoke_step_report {
  int64_t steps;                     /* accepted */
  int64_t rejected[YOKE_N_REJECTED]; /* trials, by reason */
  int64_t reduced[YOKE_N_REASONS];   /* accepted steps that are shorter than planned, by the last reason */
  int64_t degrees[YOKE_N_DEGREES];   /* accepted steps of each polynomial degree */
  int64_t
         forced; /* accepted although their error was too large: a subsystem cannot go back (uncontrolled acceptance) */
  double smallest, mean, largest; /* accepted steps [s]; NaN: none */
  double largest_error;           /* of the estimated local errors, 1 is the tolerance; NaN: fixed step */
} yoke_step_report;

/* "error", "corrector", "non-finite", "event", "switch", "end"; "none" for every other number. */
YOKE_API const char *yoke_reason_word(int reason);

/* Energy account of a subsystem or a coupling [J], since the start but for `energy` (docs/methods/energy.md). */
typedef struct yoke_energy_share {
  char  *name;
  double energy;     /* stored; of a coupling in the element that it holds */
  double dissipated; /* lost */
  double external;   /* work of loads and motions; of a coupling 0 */
  double work[2];    /* subsystem: [0] in through its ports; coupling: out to the subsystem of each side */
  double leak;       /* what none of this explains */
  double corrected;  /* work of the correction of a coupling */
} yoke_energy_share;

/* What the file says of its run. Texts are "" and numbers NaN when it does not say (CSV). They belong to the result. */
typedef struct yoke_result_facts {
  size_t           size;
  const char      *format;    /* "HDF5", "CSV", "memory" */
  const char      *version;   /* of yoke */
  const char      *name;      /* of the model */
  const char      *model;     /* its whole text */
  const char      *settings;  /* all resolved settings, as text of a model file */
  const char      *status;    /* "done", "interrupted", ...; "running": being written, or its run was killed */
  double           t_end;     /* asked for [s] */
  double           t_reached; /* [s] */
  int              n_groups;  /* groups of quantities */
  /* of a split run; "", 0 otherwise */
  const char      *scheme, *sequence;
  int              order;
  double           macro_step; /* [s] */
  int              n_subsystems, n_channels;
  size_t           n_macro_steps;
  const char      *control; /* what step control chose and why; "": fixed step */
  yoke_step_report report;
  bool             is_open_for_writing; /* marked so: being written, or its run was killed (then yoke_result_repair) */
  double           macro_rtol;          /* of step control; NaN: fixed step */
  double           accumulated_error;   /* at the last output time, largest of all subsystems; NaN: not known */
  int              n_subsystem_energies, n_coupling_energies; /* accounts that the file holds (yoke_result_energy) */
} yoke_result_facts;
YOKE_API yoke_status yoke_result_facts_get(yoke_context *ctx, const yoke_result *result, yoke_result_facts *out);

/* Energy account at the end of the run of subsystem i < n_subsystem_energies, or with `of_couplings` of coupling i < n_coupling_energies; its name
 * belongs to the result. YOKE_E_USAGE: there is no such number. */
YOKE_API yoke_status yoke_result_energy(yoke_context *ctx, const yoke_result *result, bool of_couplings, int i,
                                        yoke_energy_share *out);

/* Clear the mark that a killed run left in an HDF5 file, so that every reader opens it. Not while a run writes it.
 * YOKE_E_IO: the file cannot be changed. YOKE_E_UNSUPPORTED: a build without HDF5. */
YOKE_API yoke_status yoke_result_repair(yoke_context *ctx, const char *path);

/* Does the file look like a result (HDF5 by contents, CSV by name)? false when it cannot be read. */
YOKE_API bool yoke_result_is_result(const char *path);

/* Comparison of A with the reference B over the time both cover. When their times differ, the one with more times is
 * interpolated (cubic, not across jumps) at the times of the other.
 *   nrmse = sqrt( sum_k (a_k - b_k)^2 / sum_k (b_k - mean b)^2 )
 * The denominator is kept away from rounding noise: see docs/program.md. */
typedef struct yoke_comparison yoke_comparison;

/* Gives; both results may be closed then. They may be of files or of records in memory.
 *   YOKE_E_DIFFERENT   no common quantity or no common time
 *   YOKE_E_IO          a file cannot be read, or its times are in disorder */
YOKE_API yoke_status yoke_result_compare(yoke_context *ctx, yoke_result *a, yoke_result *b, yoke_comparison **out);
YOKE_API void        yoke_comparison_destroy(yoke_comparison **comparison);

typedef struct yoke_comparison_facts {
  size_t size;
  int    n_common, n_only_a, n_only_b; /* quantities */
  double t_from, t_to;                 /* compared span [s] */
  bool   same_span;                    /* both start and end at the same times */
  bool   is_interpolated;              /* times differ somewhere */
  double largest_nrmse;                /* NaN when a value was not finite in one and finite in the other */
  bool   same_bits;                    /* all quantities, nothing only in one */
} yoke_comparison_facts;
YOKE_API yoke_status yoke_comparison_facts_get(yoke_context *ctx, const yoke_comparison *comparison,
                                               yoke_comparison_facts *out);

/* One quantity. */
typedef struct yoke_difference {
  size_t      size;
  const char *name; /* belongs to the comparison */
  double      nrmse;
  double      largest;   /* |a - b| */
  double      t;         /* where [s] */
  size_t      n_times;   /* compared */
  bool        same_bits; /* times and values, in the whole file */
  bool is_motion; /* by its name a position, an angle, an orientation or a rate of them: what step control looks at */
} yoke_difference;

/* Number i < n_common, in the order of A. YOKE_E_USAGE: there is no such number. */
YOKE_API yoke_status yoke_comparison_get(yoke_context *ctx, const yoke_comparison *comparison, int i,
                                         yoke_difference *out);

/* `value` with 17 digits and a decimal point in every locale; "nan", "inf", "-inf". */
enum { YOKE_NUMBER_SIZE = 32 };
YOKE_API void yoke_number_text(double value, char text[YOKE_NUMBER_SIZE]);

#ifdef __cplusplus
}
#endif
#endif
