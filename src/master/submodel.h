/* Submodel: the share that one part of a split has in a model, as a model of its own.
 *
 * The partition says which body, which mass of a chain belongs to which part. A submodel holds the bodies of its part at their
 * assembled positions and velocities, their frames, and what acts inside: connections, loads, events. It points to nothing of the
 * whole model, which may be gone when it is used: expressions, which never change, have one more owner. */
#ifndef YOKE_MASTER_SUBMODEL_H
#define YOKE_MASTER_SUBMODEL_H

#include "model/multibody.h"
#include "base/memory.h"
#include "frames/port.h"

/* Where a body or a mass of a chain went. */
typedef struct yoke_place {
  int part;
  int body; /* of the part's submodel */
  int mass; /* of that body; 0 but for chains */
} yoke_place;

/* Masses first .. first + n - 1 of a chain, in one part. */
typedef struct yoke_piece {
  int        first, n;
  yoke_place place; /* of mass `first` */
} yoke_piece;

typedef struct yoke_partition {
  yoke_arena        arena;
  const yoke_model *model;
  int        *piece_at; /* [n_bodies + 1] pieces of body b: piece_at[b] .. piece_at[b + 1] - 1, by rising masses */
  yoke_piece *pieces;   /* a body that is no chain is one piece of one "mass" */
} yoke_partition;

/* Every body and every mass in exactly one part, otherwise an error that names it. Keeps `model`. */
yoke_status yoke_partition_create(yoke_context *ctx, const yoke_model *model, yoke_partition *out);
void        yoke_partition_clear(yoke_partition *partition);
yoke_place  yoke_partition_find(const yoke_partition *partition, int body, int mass);

/* The assembled start of the whole model. */
typedef struct yoke_start {
  yoke_arena arena;
  double    *q, *v;       /* [nq], [nv] */
  int       *q_at, *v_at; /* [n_bodies] where a body's share starts */
  double    *a;           /* [nv] accelerations */
  double    *lambda;      /* [n_connections, 7] multipliers of rigid joints in the joint's own order, dropped rows 0 */
  bool      *retired;     /* [n_connections, 7] rows of couplings that follow from other joints and are left out */
  bool       any_retired;
} yoke_start;

/* Keeps partition->model. q and v NULL: assembled from what the user wrote; else they are the start, positions and
 * velocities that fit the joints. */
yoke_status yoke_start_create(yoke_context *ctx, const yoke_partition *partition, const double *q, const double *v,
                              yoke_start *out);
void        yoke_start_clear(yoke_start *start);

/* Motion p, v (port.h) of a frame with the axes of its body, at the start. */
void yoke_start_motion(const yoke_start *start, const yoke_model *model, const yoke_frame *frame, double p[7],
                       double v[6]);
/* Its accelerations. */
void yoke_start_acceleration(const yoke_start *start, const yoke_model *model, const yoke_frame *frame, double a[6]);
/* Pose of the body of a frame as the user drew it; lengths that are not given are taken there, as the whole model does. */
void yoke_drawn_pose(const yoke_model *model, const yoke_frame *frame, yoke_pose *pose);

typedef struct yoke_submodel {
  yoke_model        *model;
  int                n_ports, n_inputs;
  int               *port_frame;   /* [n_ports] */
  yoke_port_request *port_request; /* [n_ports]; their connections are set when they exist */
  yoke_input        *inputs;       /* [n_inputs] */
  int                n_integrals;
  yoke_variable     *integrals; /* [n_integrals] positions whose time integrals are wanted */
  int                ny;        /* outputs of all ports */
  size_t capacity_frames, capacity_connections, capacity_ghosts, capacity_ports, capacity_requests, capacity_inputs,
      capacity_loads, capacity_events, capacity_integrals;
} yoke_submodel;

/* Bodies of part `part` at their start, settings of the run. */
yoke_status yoke_submodel_create(yoke_context *ctx, const yoke_partition *partition, const yoke_start *start, int part,
                                 yoke_submodel *out);
void        yoke_submodel_clear(yoke_submodel *submodel);

/* Additions: everything is copied, expressions get one more owner. Index of the new object, or -1 when out of memory. */
int yoke_submodel_add_frame(yoke_submodel *submodel, const yoke_frame *frame);
int yoke_submodel_add_connection(yoke_submodel *submodel, const yoke_connection *connection);
int yoke_submodel_add_ghost(yoke_submodel *submodel, const yoke_ghost *ghost);
int yoke_submodel_add_load(yoke_submodel *submodel, const yoke_load *load);
int yoke_submodel_add_event(yoke_submodel *submodel, const yoke_event *event);
int yoke_submodel_add_input(yoke_submodel *submodel, const yoke_input *input);
int yoke_submodel_add_integral(yoke_submodel *submodel, const yoke_variable *position);
/* A port at a frame of the submodel, with extras for a joint of n_rows rows; *y_at is where its outputs start. */
int yoke_submodel_add_port(yoke_submodel *submodel, int frame, int extras, int n_rows, int *y_at);

/* The numbers of variables stay those of the whole model; variables of other parts, which nothing here reads, point to body 0. */
yoke_status yoke_submodel_set_variables(yoke_context *ctx, yoke_submodel *submodel, const yoke_partition *partition,
                                        int part);

#endif
