/* Inspection: what a model consists of once it is assembled, and where it could be split. One call does what `yoke info` or `yoke split` does;
 * nothing is printed. */
#ifndef YOKE_INSPECT_H
#define YOKE_INSPECT_H

#include <yoke/export.h>
#include <yoke/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- inspection ---- */

/* What a model consists of once it is assembled and split. */
typedef struct yoke_inspection yoke_inspection;

/* Load, assemble and split, with the overrides of `options` (all that stand for keys, and `monolithic`). Gives. Fails as loading a model and creating a
 * simulation do. */
YOKE_API yoke_status yoke_model_inspect(yoke_context *ctx, const yoke_run_options *options, yoke_inspection **out);
YOKE_API void        yoke_inspection_destroy(yoke_inspection **inspection);

typedef struct yoke_model_facts {
  size_t      size;
  const char *name;
  double      t_start, t_end;
  const char *solver;
  double      rtol, atol;
  int         n_bodies, n_connections, n_loads, n_events;
  int         nq, nv;                   /* coordinates and velocities */
  int         n_constraints;            /* rows of the constraints, redundant ones included */
  int         n_redundant;              /* rows that follow from the others */
  int         n_freedoms;               /* nv minus independent constraints */
  int         n_outputs;                /* selected */
  int         n_outputs_all;            /* that exist */
  const char *output_file, *output_csv; /* NULL: none named by the model */
  double      every;                    /* [s]; 0: every step */
  const char *settings;                 /* all that a run reads, as text of a model file */
  /* with a split; 0 and "" otherwise */
  int         n_parts, n_couplings;
  const char *scheme, *sequence;
  int         order;
  double      macro_step; /* [s] */
  const char *control;    /* what step control chooses and why; "": fixed step */
} yoke_model_facts;
YOKE_API yoke_status yoke_inspection_facts_get(yoke_context *ctx, const yoke_inspection *inspection,
                                               yoke_model_facts *out);

typedef struct yoke_model_item {
  size_t      size;
  const char *name;
  const char *kind;        /* "planar", "revolute", ...; of an output: its unit */
  const char *description; /* of an output that the user wrote; "": none */
} yoke_model_item;

typedef struct yoke_part_item { /* a subsystem */
  size_t      size;
  const char *name;
  const char *contents; /* "2 bodies", "50 masses of c" */
  const char *solver;
} yoke_part_item;

typedef struct yoke_coupling_item {
  size_t      size;
  const char *name, *kind;   /* of its connection; cut of a chain: "element" */
  const char *side[2];       /* subsystems */
  const char *formulation;   /* "constitutive" */
  const char *decomposition; /* "force/force" */
  const char *extension;     /* "none" */
  const char *channels;      /* "force x, force y" */
  int         n_channels;
} yoke_coupling_item;

/* Item i, from 0 to the number that the facts tell. YOKE_E_USAGE: there is no such item. */
YOKE_API yoke_status yoke_inspection_body(yoke_context *ctx, const yoke_inspection *inspection, int i,
                                          yoke_model_item *out);
YOKE_API yoke_status yoke_inspection_connection(yoke_context *ctx, const yoke_inspection *inspection, int i,
                                                yoke_model_item *out);
YOKE_API yoke_status yoke_inspection_output(yoke_context *ctx, const yoke_inspection *inspection, int i,
                                            yoke_model_item *out);
YOKE_API yoke_status yoke_inspection_part(yoke_context *ctx, const yoke_inspection *inspection, int i,
                                          yoke_part_item *out);
YOKE_API yoke_status yoke_inspection_coupling(yoke_context *ctx, const yoke_inspection *inspection, int i,
                                              yoke_coupling_item *out);

/* ---- proposal ---- */

/* A proposed split: where the model is cut and why. */
typedef struct yoke_split_proposal yoke_split_proposal;

/* Cut a model into n_parts (0: as many as are fastest): soft elements rather than stiff ones, equal masses on both sides, away from loads, balanced cost; never
 * a rigid joint. Reads model and sets of `options`, and writes the model with its split to `out` of the options where that is not NULL. Gives.
 * As many as are fastest: the model as a whole and with 2, 4, 8 ... parts is run for a moment each, by one thread, and the least projected time for
 * `threads` of the options (0: one per core) wins (docs/parallel.md). The clock decides: another machine may choose another number. `interrupted` of the
 * options ends it.
 *   YOKE_E_UNSUPPORTED   this build has no METIS (chains need none)
 *   YOKE_E_USAGE         the model has fewer groups than parts are asked for, or 1 or less than 0 are
 *   YOKE_E_NOT_CONVERGED none of the proposals runs
 *   YOKE_E_MODEL         the model cannot take the split
 *   YOKE_E_IO            the file could not be written
 * and what loading the model gives. */
YOKE_API yoke_status yoke_split_propose(yoke_context *ctx, const yoke_run_options *options, int n_parts,
                                        yoke_split_proposal **out);
YOKE_API void        yoke_split_proposal_destroy(yoke_split_proposal **proposal);

typedef struct yoke_split_facts {
  size_t      size;
  int         n_parts, n_cuts;
  double      balance;            /* largest cost to mean cost, >= 1 */
  double      frequency_range[2]; /* of all elements that could be cut [rad/s] */
  int         n_candidates;       /* elements that could be cut */
  int         n_groups;           /* bodies that rigid joints and loads hold together count as one group */
  const char *split;              /* section `split:` as text of a model file */
  const char *model;              /* the model file's text with this section in place of its own */
  int         n_trials;           /* of numbers of parts; 0: the number was given */
  int         threads;            /* that the trials were judged for */
} yoke_split_facts;
YOKE_API yoke_status yoke_split_proposal_facts_get(yoke_context *ctx, const yoke_split_proposal *proposal,
                                                   yoke_split_facts *out);

typedef struct yoke_cut {
  size_t      size;
  const char *name;      /* connection, or element of a chain: "c.element[12]" (before mass 12, counted from 1) */
  const char *kind;      /* "spring-damper", "element" */
  int         part[2];   /* number of the part of both sides, from 0 */
  double      stiffness; /* largest of its directions [N/m] or [N m/rad] */
  /* sqrt(stiffness / reduced mass or inertia) [rad/s]; damping counts by d / reduced mass where that is more */
  double      frequency;
  double      mass_ratio; /* heavier to lighter side, >= 1 */
  bool        is_loaded;  /* a load acts next to it */
  bool        is_rigid;   /* a rigid joint: stiffness and frequency are 0; cut only where the parts asked for need it */
} yoke_cut;

typedef struct yoke_cut_part {
  size_t      size;
  const char *name;
  bool        is_piece; /* of a chain */
  int         n_bodies; /* piece: masses */
  int         cost;     /* freedoms of its bodies */
} yoke_cut_part;

/* How fast the model would be with this number of parts. */
typedef struct yoke_split_trial {
  size_t size;
  int    n_parts; /* 1: the model as a whole */
  double time;    /* [s] per simulated second, projected for the threads of the facts; NaN: it does not run */
} yoke_split_trial;

/* Number i, from 0 to the number that the facts tell. YOKE_E_USAGE: there is no such number. */
YOKE_API yoke_status yoke_split_proposal_part(yoke_context *ctx, const yoke_split_proposal *proposal, int i,
                                              yoke_cut_part *out);
YOKE_API yoke_status yoke_split_proposal_cut(yoke_context *ctx, const yoke_split_proposal *proposal, int i,
                                             yoke_cut *out);
YOKE_API yoke_status yoke_split_proposal_trial(yoke_context *ctx, const yoke_split_proposal *proposal, int i,
                                               yoke_split_trial *out);

#ifdef __cplusplus
}
#endif
#endif
