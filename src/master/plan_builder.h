/* Inside of the planner, shared by plan*.c: what is needed only while a plan is made. */
#ifndef YOKE_MASTER_PLAN_BUILDER_H
#define YOKE_MASTER_PLAN_BUILDER_H

#include "master/macro_settings.h"
#include "master/native_part.h"
#include "master/whole_start.h"

/* Connection `own` of a part; part -1: wire `own`; own -1: nothing can feel it. */
typedef struct plan_connection {
  int part, own;
} plan_connection;

typedef struct plan_builder {
  yoke_context       *ctx;
  const yoke_model   *model;
  yoke_plan          *plan;
  yoke_start          start;
  yoke_macro_settings macro;
  int                *frame_map;   /* [n_frames] frame of the part's submodel; -1: ground */
  plan_connection    *connections; /* [n_connections] where they went */
} plan_builder;

yoke_status    plan_no_memory(const plan_builder *b);
const char    *plan_part_name(const plan_builder *b, int part);
yoke_submodel *plan_submodel(const plan_builder *b, int part);

/* places.c: every body and every mass in exactly one part, otherwise an error that names it. */
yoke_status yoke_places_create(yoke_context *ctx, const yoke_model *model, yoke_places *out);

/* plan_connections.c: frames to their parts; every connection to its part or to the list of couplings, then the cuts of chains. */
yoke_status plan_map_frames(plan_builder *b);
yoke_status plan_sort_connections(plan_builder *b);
/* Part of a frame's body; the ground: -1, it is in every part. */
int         plan_frame_part(const plan_builder *b, int frame);
/* The connection with a length that was not given filled in, compiled between its two bodies as drawn. */
void plan_compile_connection(const yoke_model *model, int c, yoke_connection *connection, yoke_force_element *element);
/* Where a side of a coupling sits in the whole model: body, mass and origin; the axes are those of the body. */
yoke_frame plan_coupling_end(const plan_builder *b, const yoke_plan_coupling *coupling, int side);
/* The same as a frame of its part; -1: no memory. */
int        plan_add_end_frame(const plan_builder *b, const yoke_plan_coupling *coupling, int side);

/* plan_settings.c: scheme and step of the run; settings of all couplings, and whether their formulations take them. */
yoke_status plan_read_settings(plan_builder *b);
yoke_status plan_set_couplings(plan_builder *b);

/* plan_wires.c: formulation, ports, ghosts and inputs of a coupling. */
yoke_status plan_connect(plan_builder *b, int coupling);

/* plan_values.c: channel values of a joint for its multipliers `lambda` (the joint's own order) and the outputs y (p, v, accelerations)
 * of its two ports; those at the start. */
void plan_joint_values(const yoke_plan *plan, int coupling, const double *lambda, const double *const y[2], double *u);
void plan_port_outputs(const plan_builder *b, int coupling, int side, const yoke_whole_state *at, double *y);
yoke_status plan_set_initial(plan_builder *b, int coupling);

/* Channels of a wire. */
int plan_n_channels(const yoke_wire *wire);

/* plan_loads.c: loads, events and integrals of positions to the parts whose states they use; then variables, whose numbers stay those of
 * the whole model. */
yoke_status     plan_sort_loads(plan_builder *b);
yoke_status     plan_sort_events(plan_builder *b);
yoke_status     plan_sort_variables(plan_builder *b);
yoke_status     plan_sort_integrals(plan_builder *b);
/* Event i of the model, which is number `own` of a part. Memory that is missing shows in the plan's arena. */
yoke_plan_event plan_event(plan_builder *b, int i, int part, int own);

/* plan_work.c: must work be integrated along? */
bool plan_needs_work(const yoke_model *model, const yoke_plan_options *options);

/* plan_outputs.c: names of all outputs. plan_formulas.c: those that the user wrote. plan_select.c: the selected ones. */
yoke_status plan_name_outputs(plan_builder *b);
yoke_status plan_take_formulas(plan_builder *b);
yoke_status plan_select_outputs(plan_builder *b);

/* plan_whole.c: the model as one part. */
yoke_status plan_take_whole(plan_builder *b);

/* plan_step.c: scheme and degrees of a controlled run, where they are left open. */
void plan_choose_step(plan_builder *b);

/* plan_past.c: the past of `start: exact`. */
yoke_status plan_find_past(plan_builder *b);

#endif
