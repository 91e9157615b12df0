/* Outputs: numbers of a system by name, each from its owner.
 *
 * Names and meanings are listed in model/quantities.c; the user may add expressions of them (class c).
 * An output is (a) a number of one subsystem at t, by handle, (b) a number of one wire, made of the signals it applied and the observed
 * outputs of its two ports, or (c) a sum or an expression of such numbers. Nothing is recomputed with the whole model. */
#ifndef YOKE_MASTER_OUTPUTS_H
#define YOKE_MASTER_OUTPUTS_H

#include "coupling/graph.h"
#include "frames/coordinate.h"
#include "frames/expression.h"

typedef enum yoke_output_source {
  YOKE_OUTPUT_PART,    /* `handle` of subsystem `index` */
  YOKE_OUTPUT_WIRE,    /* `quantity` of row `row` of wire `index` */
  YOKE_OUTPUT_TOTAL,   /* energy number `row` */
  YOKE_OUTPUT_ACCOUNT, /* number `index` of the energy account (energy/account.h) */
  YOKE_OUTPUT_ZERO,    /* of a joint that nothing can feel */
  YOKE_OUTPUT_INPUT,   /* number `index` of the inputs from outside */
  YOKE_OUTPUT_FORMULA, /* number `index` of the formulas */
  YOKE_OUTPUT_NONE     /* of a reference: this run does not have it */
} yoke_output_source;

typedef enum yoke_wire_quantity {
  YOKE_WIRE_FORCE,
  YOKE_WIRE_G,
  YOKE_WIRE_MISMATCH,
  YOKE_WIRE_FORCE_MEAN,
  YOKE_WIRE_COORDINATE, /* `coordinate` between its ports */
  YOKE_WIRE_COORDINATE_RATE
} yoke_wire_quantity;

/* Numbers of the energies by name, "total.energy" ... */
enum {
  YOKE_TOTAL_ENERGY,
  YOKE_TOTAL_KINETIC,
  YOKE_TOTAL_POTENTIAL,
  YOKE_TOTAL_DISSIPATED, /* from here on work is integrated along */
  YOKE_TOTAL_EXTERNAL,
  YOKE_TOTAL_BALANCE,
  YOKE_N_TOTALS,
  YOKE_TOTAL_LEAK = YOKE_N_TOTALS /* of the energy account */
};

typedef struct yoke_output {
  yoke_output_source     source;
  int                    index, row;
  int64_t                handle;
  yoke_wire_quantity     quantity;
  bool                   is_turned; /* forces of a flexible joint count as multipliers, against the force of its rows */
  const yoke_coordinate *coordinate; /* kept */
} yoke_output;

/* An expression of other outputs: variable 0 is t, variable k > 0 reference k - 1. */
typedef struct yoke_output_formula {
  char            *name, *unit, *description;
  yoke_expression *expression; /* owned by the plan */
  int              depth;      /* 0: it reads no other formula; else one more than the deepest that it reads */
  bool             is_absent;  /* it reads what this run does not have */
} yoke_output_formula;

typedef struct yoke_output_formulas {
  int                  n, n_references;
  yoke_output_formula *list;
  yoke_output         *references;     /* [n_references] */
  char               **reference_name; /* [n_references] */
} yoke_output_formulas;

/* Outputs with names and units, in the order of a file. */
typedef struct yoke_output_list {
  int          n;
  yoke_output *list;
  char       **name;
  const char **unit;
  size_t       capacity[3];
  yoke_arena   arena; /* of names */
} yoke_output_list;

/* Adds a copy of the name; the unit is kept. false: out of memory. */
bool yoke_output_list_add(yoke_output_list *list, const yoke_output *output, const char *name, const char *unit);
void yoke_output_list_trim(yoke_output_list *list); /* it is complete: room for more is given back */
void yoke_output_list_clear(yoke_output_list *list);

/* Energies by number, and the largest violation of a joint. */
typedef struct yoke_totals {
  double energy[YOKE_N_TOTALS]; /* [J]; NaN where a subsystem does not account for them */
  double residual;
} yoke_totals;

double yoke_totals_balance(const yoke_totals *totals);

/* Observer: what is asked of the subsystems and wires of a graph to show a list of outputs, and how the list is made of the answers. */
typedef struct yoke_observer yoke_observer;

typedef struct yoke_observer_def {
  int                    n_parts;
  yoke_subsystem *const *subsystems;
  const int64_t         *residual; /* [n_parts] handle of the largest violation of own joints; YOKE_NO_HANDLE: none */
  int                    n_wires;
  const yoke_wire       *wires;      /* kept */
  const int             *n_channels; /* [n_wires] */
  int                    n;
  const yoke_output     *list;                /* kept */
  char *const           *name;                /* [n] for messages */
  const yoke_output_formulas *formulas;       /* kept; NULL: the list has none */
  bool                        has_account;    /* there is an energy account */
  bool                        with_energies;  /* all energies besides */
  bool                        with_residuals; /* the largest violation of a joint besides */
} yoke_observer_def;

/* Fails where a subsystem or a wire cannot show what is asked for, with names. Gives. */
yoke_status yoke_observer_create(yoke_context *ctx, const yoke_observer_def *def, yoke_observer **out);
void        yoke_observer_destroy(yoke_observer **observer);

/* What is asked of a subsystem. */
int            yoke_observer_n_handles(const yoke_observer *observer, int part);
const int64_t *yoke_observer_handles(const yoke_observer *observer, int part);
/* The first so many are all but energies. */
int            yoke_observer_n_without_energies(const yoke_observer *observer, int part);

/* The answers at one time: of every subsystem, and of all channels, wire by wire. */
typedef struct yoke_sighting {
  double               t;
  const double *const *parts;
  const double        *channels;
  const double        *inputs;   /* from outside, by number; NULL: there are none */
  const double        *means;    /* of all channels over the macro step */
  double               lost;     /* in elements that wires hold, since the start [J] */
  double               brought;  /* into them by jumps [J] */
  const double        *stored;   /* [n_wires] by their elements, with the true motions; NULL: not known */
  const double        *energies; /* [n_parts, YOKE_N_ENERGIES] where they are known; NULL: those among `parts` count */
  const double        *account;  /* numbers of the energy account at the last macro point; NULL: there is none */
} yoke_sighting;

/* values [n]; totals NULL: not wanted. YOKE_NON_FINITE where a value is none; the values are all there, the totals not. */
yoke_status yoke_observer_show(yoke_observer *observer, const yoke_sighting *at, double *values, yoke_totals *totals);

/* The first output that was not finite in the last sighting, and when; NULL: all were finite, or it was taken before: a run may go on from a
 * saved state and fail elsewhere. */
const char *yoke_observer_take_culprit(yoke_observer *observer, double *t);

#endif
