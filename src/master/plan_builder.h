/* Inside of the planner, shared by plan*.c: what is needed only while a plan is made. */
#ifndef YOKE_MASTER_PLAN_BUILDER_H
#define YOKE_MASTER_PLAN_BUILDER_H

#include "master/lighter_side.h"
#include "master/macro_settings.h"
#include "master/native_part.h"
#include "master/whole_start.h"

/* Connection `own` of a part; part -1: wire `own`; own -1: nothing can feel it. */
typedef struct plan_connection {
  int part, own;
} plan_connection;

/* A number that a part reads and does not own (plan_signals.c). */
enum { PLAN_OUTSIDE = -1, PLAN_BETWEEN = -2 };
typedef struct plan_signal {
  int part, variable; /* of the model, counted from 0 */
  int source; /* part that shows it; PLAN_OUTSIDE: an input of the model; PLAN_BETWEEN: the force of a joint that is cut */
  int  input;      /* of the part */
  int  coupling;   /* -1: none */
  int  multiplier; /* input of the source that it is, the force of a joint that is cut; -1: no */
  bool is_bare;    /* an event reads it: no motion shows what it leads to */
} plan_signal;

/* A body or mass that a load or a law which reads a signal acts on. */
typedef struct plan_felt {
  int part, body, mass; /* of the model */
  int variable;         /* one of the signals */
} plan_felt;

/* An end of a signal. */
typedef struct plan_end {
  int                    part, port; /* side 2: -1: it enters `input` */
  int                    input;
  const yoke_port_shape *shape;
} plan_end;

/* A body in the halo of a part that does not own it (plan_copies.c). */
typedef struct plan_copy {
  int part, body;    /* of the model */
  int ring, n_rings; /* 1, 2, ... from the part's own bodies outwards */
  int own, port;     /* of the part's submodel */
} plan_copy;

typedef struct plan_builder {
  yoke_context       *ctx;
  const yoke_model   *model;
  yoke_plan          *plan;
  yoke_start          start;
  double              growth; /* of errors by the motion, as measured; 0: not measured */
  yoke_macro_settings macro;
  int                *frame_map;   /* [n_frames] frame of the part's submodel; -1: ground */
  plan_connection    *connections; /* [n_connections] where they went */
  int                 n_signals;
  plan_signal        *signals; /* sorted by part and variable */
  size_t              capacity_signals;
  int                 n_felt;
  plan_felt          *felt;
  size_t              capacity_felt;
  int *
      rings; /* [n_connections] of the halos of a cut between bodies with formulation overlap; 0: it is none. NULL: none is */
  int        n_copies;
  plan_copy *copies; /* sorted by part and body */
  size_t     capacity_copies;
  int        n_edges;    /* elements that lead out of halos */
  int       *event_part; /* [n_events] */
  yoke_model
      standing; /* the model with foreign ports where they are, and without coordinates of cut joints in expressions; what
                                   * differs is in the plan's arena */
  int               n_rewritten;
  yoke_expression **rewritten; /* expressions that `standing` has of its own */
  size_t            capacity_rewritten;
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

/* Parts of the two ends of a connection; the ground is in the part of the other end. */
void plan_connection_parts(const plan_builder *b, int connection, int part[2]);

/* plan_settings.c: formulation of a coupling and its settings, as given. */
void plan_coupling_settings(const plan_builder *b, yoke_plan_coupling *coupling);

/* Name of cut j = 1, 2, ... of a chain; does its element e do anything? Its law. */
void     plan_cut_name(const plan_builder *b, int body, int j, char *name, size_t size);
bool     plan_has_cut(const plan_builder *b, int body, int element);
yoke_law plan_element_law(const plan_builder *b, int body, int element);

/* plan_halo.c: what pieces of chains hold of each other, behind the places; a cut takes it; ports, halos and inputs of such a cut. Mass of
 * the chain that one of the ports of a side shows. */
yoke_status plan_find_halos(plan_builder *b);
void plan_take_overlap(const plan_builder *b, const yoke_piece *left, const yoke_piece *right, yoke_plan_coupling *cut);
yoke_status plan_connect_overlap(plan_builder *b, yoke_plan_coupling *coupling, yoke_wire *wire);
yoke_status plan_copy_load(plan_builder *b, int load);    /* to the copies of its mass */
bool        plan_load_reads_model(const yoke_load *load); /* more than the time */
int         plan_overlap_mass(const yoke_plan_coupling *coupling, int side, int port);

/* plan_copies.c: bodies of which parts hold copies, behind the places; the copies themselves; connections and loads between them; their wires. */
yoke_status plan_find_copies(plan_builder *b);
bool        plan_is_shared(const plan_builder *b, int connection); /* both sides of the cut have it */
yoke_status plan_add_copies(plan_builder *b);
yoke_status plan_copy_connection(plan_builder *b, int connection);
yoke_status plan_copy_body_load(plan_builder *b, int load);
yoke_status plan_connect_copies(plan_builder *b);
/* Side of a connection that lies outside of the halo of a part, whose last body is at the other side; -1: it does not leave the halo. */
int         plan_edge_side(const plan_builder *b, int connection, int part);
/* Frame f of the model in a part that has its body or a copy of it; -1: no memory. */
int         plan_frame_in(plan_builder *b, int part, int f);
/* plan_settings.c: settings of a coupling of a body in a halo. */
yoke_status plan_set_halo(plan_builder *b, int coupling);

/* plan_foreigns.c: foreign subsystems and where their ports are; their events behind those of the file. */
yoke_status plan_find_foreigns(plan_builder *b, const yoke_plan_options *options);
void        plan_set_placeholders(const plan_builder *b);
int         plan_n_foreign_events(const plan_builder *b);
yoke_status plan_add_foreign_events(plan_builder *b);

/* plan_cut_joints.c: expressions without coordinates of joints between two parts, behind the places. Is it such a coordinate? */
yoke_status plan_rewrite_joints(plan_builder *b);
bool        plan_is_cut_joint(const plan_builder *b, const yoke_variable *variable);
/* The force of row `row` of a rigid joint that is cut is an input of a native side, behind plan_connect: of `part` if it can be. false: no
 * native side feels it as such. */
bool        plan_find_multiplier(const plan_builder *b, int connection, int row, int part, int *side_part, int *input);

/* plan_signals.c: what parts read of others, then inputs of parts and wires for it. */
yoke_status        plan_find_signals(plan_builder *b);
yoke_status        plan_connect_signals(plan_builder *b);
const plan_signal *plan_find_signal(const plan_builder *b, int part, int variable); /* NULL: it is its own */
int                plan_first_native(const plan_builder *b);                        /* -1: all parts are foreign */
/* Part that a variable belongs to; PLAN_OUTSIDE, PLAN_BETWEEN: see plan_signal. */
int                plan_variable_part(const plan_builder *b, int variable);
/* A part reads a variable that it does not own, in what acts on the bodies of n frames. */
yoke_status        plan_note_signal(plan_builder *b, int variable, int part, int n, const int *frame);
/* plan_readings.c: what laws of couplings read: the signals of one between two parts; its places at the ports of a new coupling, how many a side
 * shows; ports that show all of them, behind plan_connect_signals; their values in a state of the whole model. */
yoke_status        plan_note_readings(plan_builder *b, int connection, const int part[2]);
yoke_status        plan_take_readings(plan_builder *b, yoke_plan_coupling *coupling);
int                plan_n_readings(const yoke_plan_coupling *coupling, int side);
yoke_status        plan_show_readings(plan_builder *b);
yoke_status        plan_reading_outputs(const plan_builder *b, int coupling, double t, const yoke_whole_state *at,
                                        double *const y[2]);
/* plan_cut_jumps.c: a warning where the law of a coupling may hold its motion by a jump. */
yoke_status        plan_warn_of_cut_jumps(plan_builder *b, const yoke_plan_coupling *coupling);
/* plan_felt.c: one more body that a signal acts on, at a frame of the model; then ports for step control that show their motions. */
yoke_status        plan_note_felt(plan_builder *b, int part, int frame, int variable);
yoke_status        plan_show_felt(plan_builder *b);
/* One more wire; takes the law's expression. */
yoke_status        plan_add_signal(plan_builder *b, const char *name, const plan_end *from, const plan_end *to,
                                   const yoke_signal_law *law);
/* The formula that is variable `number`; NULL: no memory. Gives. */
yoke_expression   *plan_pick(int number);
/* What a part is made of that is foreign; NULL: it is native. */
const struct yoke_foreign_part *plan_foreign(const plan_builder *b, int part);
int64_t     plan_variable_handle(const plan_builder *b, const yoke_variable *variable); /* in its native part */
/* What side 1 of a signal that is a variable shows in a state of the whole model. */
yoke_status plan_signal_output(const plan_builder *b, int coupling, double t, const yoke_whole_state *at, double *y);

/* plan_inputs.c: inputs of the model; those of foreign subsystems, which read outputs. */
yoke_status plan_take_inputs(plan_builder *b);
yoke_status plan_connect_inputs(plan_builder *b);
size_t plan_most_sources(const yoke_model *model, const yoke_expression *value); /* outputs that one of them may read */

/* plan_settings.c: scheme and step of the run; settings of all couplings, and whether their formulations take them. */
yoke_status plan_read_settings(plan_builder *b, bool takes_halos);
/* plan_open_method.c: behind the places. plan_work.c: works or leaks of single couplings or subsystems. */
bool        plan_takes_halos(const plan_builder *b, const yoke_plan_options *options);
const char *plan_asked_share(const yoke_model *model, const yoke_plan_options *options); /* NULL: nothing */
yoke_status plan_set_couplings(plan_builder *b);
yoke_status plan_set_signal(plan_builder *b, int coupling);
/* plan_decomposition.c: the one of a coupling that names none. */
void        plan_choose_decomposition(const plan_builder *b, yoke_plan_coupling *coupling);
/* Under step control whose method nobody has fixed. */
bool        plan_leaves_method_open(const plan_builder *b);
/* One end of a joint, for its response (lighter_side.h); adds a frame to its part. */
yoke_status plan_joint_end(plan_builder *b, const yoke_plan_coupling *coupling, int side, yoke_joint_end *out);
/* plan_carrier.c: in whose axes the multipliers of a rigid joint are given. */
yoke_status plan_choose_carrier(plan_builder *b, yoke_plan_coupling *coupling);

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

/* plan_work.c: must work be integrated along? Behind the split. */
bool plan_needs_work(const plan_builder *b, const yoke_plan_options *options);
/* Does a name or a pattern ask for it in a run that was told not to? */
bool plan_left_out_with_work(const plan_builder *b, const char *name);

/* plan_outputs.c: names of all outputs. plan_formulas.c: those that the user wrote. plan_select.c: the selected ones. */
yoke_status plan_name_outputs(plan_builder *b);
yoke_status plan_take_formulas(plan_builder *b);
yoke_status plan_select_outputs(plan_builder *b);

/* plan_whole.c: the model as one part. */
yoke_status plan_take_whole(plan_builder *b, const yoke_plan_options *options);

/* plan_step.c: scheme and degrees of a controlled run, where they are left open. */
void plan_choose_step(plan_builder *b);

/* plan_past.c: the past of `start: exact`. */
yoke_status plan_find_past(plan_builder *b);

#endif
