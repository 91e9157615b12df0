/* Outputs: numbers of a system by name, each from its owner.
 *
 *   body.quantity           components of q and v by their names; mass1d also `a`
 *   chain.x[i] chain.v[i]   masses count from 1
 *   body.x.integral         time integral of a position, where asked for
 *   connection.force[k]     joints: lambda of row k; force elements: force; k counts from 1. Of a coupling: what side 1 felt
 *   connection.g[k]         joints: violation of row k; force elements: deflection. Of a coupling: from the motions of both ports
 *   connection.mismatch[k]  couplings, where a pattern asks for it: what side 2 felt minus what side 1 felt
 *   connection.force_mean[k]  likewise, couplings whose values have nodes inside the step: mean of the force over the macro step
 *   total.energy            mechanical energy, kinetic + potential, of the subsystems and of the elements that couplings hold
 *   total.kinetic total.potential
 *   total.dissipated        lost in dampers and drag since the start
 *   total.external          work of loads and prescribed motions since the start; work through ports is none
 *   total.balance           energy + dissipated - external: constant in exact arithmetic
 * An output is (a) a number of one subsystem at t, by handle, (b) a number of one wire, made of the signals it applied and the observed
 * outputs of its two ports, or (c) a sum of such numbers. Nothing is recomputed with the whole model. */
#ifndef YOKE_MASTER_OUTPUTS_H
#define YOKE_MASTER_OUTPUTS_H

#include "coupling/graph.h"

typedef enum yoke_output_source {
  YOKE_OUTPUT_PART,  /* `handle` of subsystem `index` */
  YOKE_OUTPUT_WIRE,  /* `quantity` of row `row` of wire `index` */
  YOKE_OUTPUT_TOTAL, /* energy number `row` */
  YOKE_OUTPUT_ZERO   /* of a joint that nothing can feel */
} yoke_output_source;

typedef enum yoke_wire_quantity {
  YOKE_WIRE_FORCE,
  YOKE_WIRE_G,
  YOKE_WIRE_MISMATCH,
  YOKE_WIRE_FORCE_MEAN
} yoke_wire_quantity;

/* Numbers of the energies by name, "total.energy" ... */
enum {
  YOKE_TOTAL_ENERGY,
  YOKE_TOTAL_KINETIC,
  YOKE_TOTAL_POTENTIAL,
  YOKE_TOTAL_DISSIPATED, /* from here on work is integrated along */
  YOKE_TOTAL_EXTERNAL,
  YOKE_TOTAL_BALANCE,
  YOKE_N_TOTALS
};

typedef struct yoke_output {
  yoke_output_source source;
  int                index, row;
  int64_t            handle;
  yoke_wire_quantity quantity;
  bool               is_turned; /* forces of a flexible joint count as multipliers, against the force of its rows */
} yoke_output;

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
  const yoke_output     *list;           /* kept */
  char *const           *name;           /* [n] for messages */
  bool                   with_energies;  /* all energies besides */
  bool                   with_residuals; /* the largest violation of a joint besides */
} yoke_observer_def;

/* Fails where a subsystem or a wire cannot show what is asked for, with names. Gives. */
yoke_status yoke_observer_create(yoke_context *ctx, const yoke_observer_def *def, yoke_observer **out);
void        yoke_observer_destroy(yoke_observer **observer);

/* What is asked of a subsystem. */
int            yoke_observer_n_handles(const yoke_observer *observer, int part);
const int64_t *yoke_observer_handles(const yoke_observer *observer, int part);

/* The answers at one time: of every subsystem, and of all channels, wire by wire. */
typedef struct yoke_sighting {
  double               t;
  const double *const *parts;
  const double        *channels;
  const double        *means; /* of all channels over the macro step */
  double               lost;  /* in elements that wires hold, since the start [J] */
} yoke_sighting;

/* values [n]; totals NULL: not wanted. YOKE_NON_FINITE where a value is none; the values are all there, the totals not. */
yoke_status yoke_observer_show(yoke_observer *observer, const yoke_sighting *at, double *values, yoke_totals *totals);

#endif
