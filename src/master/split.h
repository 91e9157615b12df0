/* Split: a model with `split:` as submodels, ports, ghosts, inputs and wires.
 *
 *   1. The whole model is assembled; every submodel starts from its share of the assembled positions and velocities.
 *   2. A connection inside a part goes into its submodel. One between two parts becomes a coupling: constitutive for a
 *      force element or flexible joint, a constraint for a rigid joint with the rows that its two bodies can feel and that do
 *      not follow from other joints (coupling_redundancy.h). So does
 *      the element of a chain at a cut ("c.cut[1]", ..., side 1 is the piece of lower masses).
 *   3. A coupling has one port per side: a frame at the connection's end with the axes of its body. Its law is a force element
 *      between these two frames (origins zero; the axes of the connection's ends are in the link).
 *   4. The channels of its formulation say what each side gets: force inputs, or the other frame as a ghost together with the
 *      connection itself (ends in the same order), which a rigid joint's multipliers drive.
 *   5. Channels of constraints start with the multipliers and motions of the assembled whole model.
 * An event goes into the part of the states it reads and sets, the time integral of a position into that of its body. Joints with prescribed motion, loads and events across parts are
 * refused with names. */
#ifndef YOKE_MASTER_SPLIT_H
#define YOKE_MASTER_SPLIT_H

#include "coupling/graph.h"
#include "base/memory.h"
#include "master/submodel.h"
#include "native/native.h"

typedef struct yoke_split_coupling {
  char                  *name;
  int                    connection;       /* of the model; -1: cut of a chain */
  int                    chain, element;   /* cut: body and 0-based element of the whole model */
  int                    frame[2];         /* of the model; cut: -1 */
  int                    part[2], port[2]; /* port of the part */
  const yoke_port_shape *shape[2];
  yoke_law               law;         /* of a cut; tables and expressions of connections are borrowed */
  yoke_force_element     element_law; /* between the two ports; of a rigid joint only its link is used */
  bool                   is_joint;    /* rigid: a constraint coupling */
  yoke_joint_element     joint;       /* between the two ports */
  double                *initial;     /* [n_channels] joints: channel values at the start, else NULL */
  yoke_coupling_settings settings;
} yoke_split_coupling;

/* Where an event of the model went. */
typedef struct yoke_split_event {
  int part, own; /* number within the part's submodel */
} yoke_split_event;

/* Time integral of a position: number `own` of a part's integrals, which are the last components of its q. */
typedef struct yoke_split_integral {
  int part, own;
} yoke_split_integral;

typedef struct yoke_split {
  yoke_arena           arena; /* of all arrays and names */
  const yoke_model    *model;
  yoke_partition       partition;
  yoke_start           start;
  int                  n_parts;
  yoke_submodel       *parts; /* names, solvers and substeps: model->parts */
  int                  n_couplings;
  yoke_split_coupling *couplings;
  yoke_wire           *wires;     /* [n_couplings]; formulations are owned by the split */
  yoke_split_event    *events;    /* [n_events] of the model */
  yoke_split_integral *integrals; /* [output.n_integrals] of the model */
} yoke_split;

/* Settings of the scheme from `cosimulation:`, and the macro step [s]; 0: step control, and the order is the highest of the file. What
 * the file leaves open gets its default; an order that is chosen during the run is refused with a fixed step. */
yoke_status yoke_split_settings(yoke_context *ctx, const yoke_model *model, yoke_scheme_settings *settings,
                                double *step);

/* Keeps `model`. Uses model->cosimulation for formulations, scheme and order (combinations are checked). Gives. */
yoke_status yoke_split_create(yoke_context *ctx, const yoke_model *model, yoke_split **out);
/* The same with q [nq] and v [nv] of the whole model (no quadratures) as its start, where they fit the joints. */
yoke_status yoke_split_create_at(yoke_context *ctx, const yoke_model *model, const double *q, const double *v,
                                 yoke_split **out);
void        yoke_split_destroy(yoke_split **split);

/* What a native subsystem of this part is made of; borrows the split. */
yoke_native_def yoke_split_native(const yoke_split *split, int part);

/* Values of the channels of coupling k, a joint, for its multipliers `lambda` (the joint's own order) and the outputs y (p, v,
 * accelerations) of its two ports in the whole model. */
void yoke_split_joint_values(const yoke_split *split, int k, const double *lambda, const double *const y[2], double *u);
/* What a coupling's formulation was made of; borrows the split. */
yoke_coupling_def yoke_split_coupling_def(const yoke_split *split, int coupling);

/* Where a body or mass of the whole model is. */
yoke_place yoke_split_place(const yoke_split *split, int body, int mass);

#endif
