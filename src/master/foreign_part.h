/* Foreign part: what a subsystem of its own is made of, and where its ports, inputs and outputs are. */
#ifndef YOKE_MASTER_FOREIGN_PART_H
#define YOKE_MASTER_FOREIGN_PART_H

#include "master/placeholder.h"
#include "model/model.h"
#include "user/user.h"

/* In the arena of a plan. Numbers of ports are those of user.h. */
typedef struct yoke_foreign_part {
  char                *name, *type;
  int                  part;
  yoke_user_entry     *entry; /* one more owner; NULL: a placeholder is made instead */
  int                  n_arguments;
  yoke_user_argument  *arguments;
  int                  n_ports;               /* of the subsystem: mechanical ones, inputs, outputs */
  int                 *y_at, *n_y, *u_at;     /* [n_ports] first output of a port, how many, its first input */
  int                 *port, *input, *output; /* number of the port, by the order of the model */
  const char         **unit;                  /* [outputs of the model] */
  int                  n_events;
  char               **events; /* [n_events] */
  bool                 acts;   /* its events change its state, else they are recorded */
  bool                 has_energy;
  yoke_placeholder_def placeholder;
  double              *y; /* of the placeholder; NULL: none */
} yoke_foreign_part;

/* What the model says; all is copied into the arena, where missing memory shows. */
void yoke_foreign_part_take(yoke_arena *arena, const yoke_foreign *from, yoke_foreign_part *out);

/* The places of its ports as the model lists them, for plans that nobody runs: it is made as a placeholder, whose y [ny] is for the caller to fill. */
void yoke_foreign_part_dry(yoke_arena *arena, const yoke_foreign *from, yoke_foreign_part *out);

/* The type is found and an instance made, which must agree with the model; it tells places, events and the motion of its ports at t: bodies [n_bodies
 * of the model] that stand in for them take it. */
yoke_status yoke_foreign_part_find(yoke_context *ctx, yoke_arena *arena, const yoke_foreign *from, double t,
                                   yoke_body *bodies, yoke_foreign_part *out);

/* `make` of a plan's part: `definition` is a yoke_foreign_part. */
yoke_status yoke_foreign_part_make(yoke_context *ctx, const void *definition, yoke_subsystem **out);

/* The port that shows output y of the subsystem. */
int yoke_foreign_part_port_of(const yoke_foreign_part *part, int y);

#endif
