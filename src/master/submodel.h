/* Submodel: the share that one part of a split has in a model, as a model of its own.
 *
 * The places (places.h) say which body, which mass of a chain belongs to which part. A submodel holds the bodies of its part at their
 * assembled positions and velocities, their frames, and what acts inside: connections, loads, events. It points to nothing of the
 * whole model, which may be gone when it is used: expressions, which never change, have one more owner. */
#ifndef YOKE_MASTER_SUBMODEL_H
#define YOKE_MASTER_SUBMODEL_H

#include "master/places.h"
#include "master/whole_start.h"
#include "native/native.h"

typedef struct yoke_submodel {
  yoke_model          *model;
  int                  n_ports, n_inputs;
  int                 *port_frame;   /* [n_ports] */
  yoke_port_request   *port_request; /* [n_ports]; their connections are set when they exist */
  yoke_native_signals *port_signals; /* [n_ports] */
  yoke_input          *inputs;       /* [n_inputs] */
  int                  n_integrals;
  yoke_variable       *integrals; /* [n_integrals] positions whose time integrals are wanted */
  int                  n_halos;
  yoke_native_halo    *halos; /* [n_halos] */
  size_t capacity_frames, capacity_connections, capacity_ghosts, capacity_ports, capacity_requests, capacity_signals,
      capacity_inputs, capacity_loads, capacity_events, capacity_integrals, capacity_halos;
} yoke_submodel;

/* Position and velocity of a body that is no chain, from its share of q and v. */
void yoke_body_set_start(yoke_body *body, const double *q, const double *v);

/* Bodies of part `part` at their start, with the copies in its halos; settings of the run. */
yoke_status yoke_submodel_create(yoke_context *ctx, const yoke_start *start, const yoke_places *places, int part,
                                 yoke_submodel *out);
void        yoke_submodel_clear(yoke_submodel *submodel);

/* Additions: everything is copied, expressions get one more owner. Index of the new object, or -1 when out of memory. */
int  yoke_submodel_add_frame(yoke_submodel *submodel, const yoke_frame *frame);
int  yoke_submodel_add_connection(yoke_submodel *submodel, const yoke_connection *connection);
int  yoke_submodel_add_ghost(yoke_submodel *submodel, const yoke_ghost *ghost);
int  yoke_submodel_add_load(yoke_submodel *submodel, const yoke_load *load);
int  yoke_submodel_add_event(yoke_submodel *submodel, const yoke_event *event);
int  yoke_submodel_add_input(yoke_submodel *submodel, const yoke_input *input);
int  yoke_submodel_add_integral(yoke_submodel *submodel, const yoke_variable *position);
int  yoke_submodel_add_copy(yoke_submodel *submodel, const yoke_start *start,
                            int body); /* of a body of the whole model */
int  yoke_submodel_add_halo(yoke_submodel *submodel, const yoke_native_halo *halo);
/* A port at a frame of the submodel, with extras of a joint. */
int  yoke_submodel_add_port(yoke_submodel *submodel, int frame, int extras);
/* A port that shows the values of handles (native.h). */
int  yoke_submodel_add_signal_port(yoke_submodel *submodel, int n, const int64_t *handles);
/* A port shows n more of them behind all else, once; false: no memory. */
bool yoke_submodel_show_signals(yoke_submodel *submodel, int port, int n, const int64_t *handles);

#endif
