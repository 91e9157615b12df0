/* Inside of a graph, shared by graph*.c, predictor.c and the schemes. */
#ifndef YOKE_COUPLING_GRAPH_INTERNAL_H
#define YOKE_COUPLING_GRAPH_INTERNAL_H

#include "coupling/graph.h"
#include "base/memory.h"
#include "coupling/scheme.h"
#include "coupling/state_pool.h"
#include "coupling/trial.h"
#include "linalg/sparse.h"
#include <stddef.h>

enum {
  GRAPH_PAST          = 16, /* accepted macro points kept */
  GRAPH_SIGNAL_DEGREE = YOKE_SIGNAL_MAX_DEGREE,
  GRAPH_CONSISTENT    = 2, /* rounds of graph_settle that make u consistent */
  GRAPH_MAX_BREAKS    = 8
};

/* What channels are, for those who compare one with all of its kind. */
enum { GRAPH_MOTIONS, GRAPH_FORCES, GRAPH_SIGNALS, GRAPH_N_KINDS };

/* What the divergence watch has seen of a channel. */
typedef struct graph_growth {
  double jump;       /* the last that exceeded every value so far */
  double first_jump; /* the first of those in a row */
  int    n_growing;  /* such jumps in a row, each larger than the one before */
  int    n_flips;    /* changes of sign among them */
  int    n_quiet;    /* steps since the last one */
} graph_growth;

/* Sizes of a channel: |u| so far, as what different judges measure by. */
typedef struct graph_sizes {
  double perturbation; /* perturbed integrations: shares of it stand out of the solver's noise */
  double tolerance;    /* the corrector's convergence test */
  double usual;        /* the divergence watch: a jump beyond it is none of a mechanism's */
} graph_sizes;

static inline void graph_sizes_set(graph_sizes *sizes, double size) {
  sizes->perturbation = sizes->tolerance = sizes->usual = size;
}

/* What a signal is measured by that was 0 so far, whatever its unit. */
static const double graph_least_signal = 1e-3;

/* What one channel keeps from step to step; part of the block. What every step reads comes first. */
typedef struct graph_kept {
  _Alignas(64) double applied; /* what the last accepted step applied at its end */
  double       mean;           /* over the last step; channels without inner nodes: what it applied at its end */
  /* |corrected - predicted| of the last step: least size of the next perturbation, so that dy/dw (and with it the result, to the accuracy of
   * a difference) depends on how far the last step was corrected (Kraft) */
  double       correction;
  graph_sizes  sizes;
  graph_growth growth;
  int          n_inner;
  double       past[GRAPH_PAST];       /* values at the accepted macro points, newest first */
  double       inner[2];               /* values at the inner nodes of the last accepted step, oldest first */
  double       inner_t[2];             /* and their times */
  double       consistent[GRAPH_PAST]; /* error estimate: values that belong to the accepted outputs, newest first */
} graph_kept;
_Static_assert(offsetof(graph_kept, past[GRAPH_SIGNAL_DEGREE - 2]) <= 128,
               "two cache lines hold what low degrees read");

/* What a matrix dc/dw was made for. */
typedef struct matrix_tag {
  bool   is_made;
  int    degree, age; /* steps that it has served besides the one it was made in */
  double H;
} matrix_tag;

/* The block: all that changes from one accepted step to the next besides the subsystems' states. One piece of memory without pointers:
 * this head, then graph_kept of every channel, outputs of all subsystems (y of all, past_y of all), values from outside, what is kept of the matrix (graph_block.c). A trial only
 * reads it; acceptance, start, restart and yoke_graph_memory_set write it. */
typedef struct graph_block {
  int64_t    n_accepted;         /* steps */
  int        n_past;             /* points in the history, as far as its parts reach (channel_points, output_points) */
  double     past_t[GRAPH_PAST]; /* newest first; past_t[0] = T_N */
  double     H;                  /* of the last accepted step */
  double     largest[GRAPH_N_KINDS]; /* |u| of all motions, of all forces and of all signals so far, in natural sizes */
  double     start_size[GRAPH_N_KINDS]; /* the same in the first steps */
  double     first_size[GRAPH_N_KINDS]; /* and at the start itself */
  double     largest_multiplier;        /* that was consistent so far, likewise */
  matrix_tag made;                      /* the matrix that is kept (kept_matrix.h) */
  bool       begins_anew;               /* a restart at T_N: the next step takes the right limits of inputs and loads */
} graph_block;

/* One channel of one coupling. What every step reads comes first. */
typedef struct graph_channel {
  /* constant */
  _Alignas(64) int wire;
  int                w_at, n_nodes; /* its unknowns in w */
  yoke_residual_unit unit;          /* of its value */
  int                kind;          /* GRAPH_MOTIONS, ... */
  double             natural;       /* size of its value by those of the model (residuals.h) */
  graph_kept        *kept;          /* in the block */
  bool has_own_order;      /* its formulation extrapolates it with a degree of its own, `order`; else the run's */
  bool has_curve;          /* of the trial: the formulation gave `curve` */
  bool enters[2];          /* this side */
  bool goes_on_consistent; /* a multiplier that goes on from consistent values, not from its own nodes (step control) */
  int  order;
  int  spare_order; /* of its wire: its degree is that of the run less this */
  /* of the trial */
  yoke_layout  layout;                         /* at its degree */
  double       applied;                        /* value at t_next that the outputs y_new belong to */
  double       value;                          /* what the history gets when it is accepted */
  graph_growth growth;                         /* what the watch will have seen when it is accepted */
  double       consistent_new;                 /* value that belongs to the outputs of the trial */
  yoke_channel info;                           /* constant */
  double       curve[GRAPH_SIGNAL_DEGREE + 1]; /* u(s) itself, powers of s: acceleration predictor, or `has_curve` */
  double       comparison[GRAPH_SIGNAL_DEGREE + 1]; /* u(s) of the comparison integration, powers of s (comparison.h) */
} graph_channel;
_Static_assert(offsetof(graph_channel, consistent_new) <= 128, "a step reads two cache lines");

/* For what the layouts of the last step were found: with the same degree asked for and no shorter a past they are those of the next. */
typedef struct graph_prepared {
  bool is_full; /* all wires have the degree that is asked for, or their highest */
  int  wanted, available, degree;
} graph_prepared;

/* A motion that signals lead to. */
typedef struct graph_felt {
  int       wire;
  yoke_felt shown; /* at side 2 */
} graph_felt;

/* Observation (graph_observe.c). */
typedef struct graph_observation {
  int     n_times;
  double *times; /* [n_times] that were asked for, rising */
  size_t  capacity;
  int     first, n_inside; /* those inside the trial */
  int     n_observed;      /* as many, once it is accepted */
} graph_observation;

/* Channel values inside of every step, at GRAPH_SAMPLES times at most. */
enum { GRAPH_SAMPLES = 2 };
typedef struct graph_samples {
  int     n;
  double *s;      /* [n] local times */
  double *values; /* wire by wire [n, n_channels] */
} graph_samples;

typedef struct graph_observed {
  yoke_graph_handles handles; /* of a subsystem */
  double            *values;  /* [n_inside, handles or channels] */
  size_t             capacity;
} graph_observed;

/* Scratch that the graph lends to the wire at work, so that it stays in the cache: serial code only, and nobody keeps it over a call that
 * gets a wire. */
typedef struct graph_lent {
  double        *u, *u_dot, *u_integral, *now; /* [n_channels] */
  int           *which;                        /* [n_channels] */
  double        *curves;                       /* [n_channels, GRAPH_SIGNAL_DEGREE + 1] */
  const double **curve_of;                     /* [n_channels] its rows */
  double        *ahead[2];                     /* [n_y] motion of the ports ahead */
  double        *motion[2];                    /* of graph_port_ahead */
  double        *tangent[2];                   /* [n_p, n_v] of the shape */
  /* of the conditions, [n_c, n_channels] and [n_c, n_y] */
  double        *dc_du, *dc_du_dot, *dc_du_integral, *dc_dy[2];
} graph_lent;

/* What every step reads comes first. */
typedef struct graph_wire {
  _Alignas(64) int first; /* of its channels */
  int       n_channels;
  int       c_at, n_c; /* its conditions */
  int       y_at[2];   /* outputs of its ports that it reads, in those of their subsystems */
  yoke_wire wire;
  int       n_y[2];    /* so many */
  int       n_held[2]; /* formulations that overlap: bodies that the other side holds too */
  const yoke_halo_def
                *halo;    /* formulations that overlap: the body of side 1 that side 2 holds; NULL: both hold copies */
  yoke_arena    *scratch; /* the graph's */
  graph_lent    *lent;    /* the graph's */
  bool           takes_wrench[2];               /* the port of this side: a wrench, or a signal at its own input */
  bool           has_shares;                    /* multipliers enter such a side */
  bool           is_given;                      /* its values at the start or restart are there already */
  bool           is_prescribed[2];              /* the motion of this side, anew in every step (comparison.c) */
  int            n_sets;                        /* of conditions */
  double         share[YOKE_COUPLING_MAX_SETS]; /* of the correction of each solve in the mean; their sum is 1 */
  graph_observed observed;                      /* channel values */
  int           *slot_own;                      /* [n_c, own unknowns] places in the Newton matrix */
  int           *slot_side[2];                  /* [n_c, columns of the side's subsystem] */
  /* several exchanges in a macro step (multirate.h) */
  int            rate;       /* so many; 0 where there is one for all */
  size_t         history_at; /* rate > 1: its own history */
  bool           waits;      /* at the point that the trial is at it is not exchanged */
} graph_wire;
_Static_assert(offsetof(graph_wire, wire.name) <= 64, "an explicit step reads one cache line");

/* A wire ends in a subsystem. */
typedef struct graph_end {
  int wire, side;
} graph_end;

/* A component of the gradient of a joint's row: at the points of the past, then at the nodes (graph_feeds.c). */
typedef struct graph_share {
  int    row, component;
  double at[GRAPH_PAST + YOKE_LAYOUT_MAX_NODES];
} graph_share;

/* What a channel gives to an input: `weight` times its value, and times its share where there is one. An input is the sum of its feeds, 0
 * without any. */
typedef struct graph_feed {
  int          channel;
  int          column; /* the first of the channel's columns in this subsystem */
  double       weight;
  graph_share *share; /* NULL: 1 */
} graph_feed;

/* Entries of the directions (base/directions.h) that the columns of a subsystem are: entry e changes an input by what a feed gives of a node. */
typedef struct graph_entries {
  int  n;
  int *column, *input, *feed; /* [n] by column */
} graph_entries;

/* Costs of tasks: of a main integration, of one that tells its columns too, of one beside it. */
enum { GRAPH_COST_MAIN, GRAPH_COST_RESPONSE, GRAPH_COST_BESIDE, GRAPH_N_COSTS };

/* What every step reads comes first. */
typedef struct graph_subsystem {
  _Alignas(64) yoke_subsystem *subsystem;
  void          *accepted;
  void          *trial;   /* NULL: the subsystem cannot go back, `accepted` itself is stepped */
  double        *y;       /* [ny] at T_N */
  double        *y_new;   /* [ny] of the last pass */
  graph_feed    *feeds;   /* by input; those of input k are feed_at[k] .. feed_at[k + 1] - 1 */
  int           *feed_at; /* [nu + 1] just behind them */
  int            ny;
  bool           is_ahead;   /* `accepted` was stepped, by a step that is not accepted yet */
  bool           has_accept; /* the subsystem wants to hear of acceptance */
  bool           is_alone;   /* all its integrations run one after another */
  int           *held;     /* [nu] number of the value from outside that is the input; -1: none. NULL: there are none */
  yoke_jacobian  jacobian; /* where dy comes from: not YOKE_JACOBIAN_BROYDEN */
  yoke_cost      cost[GRAPH_N_COSTS]; /* of its tasks by kind, as last measured; 0: not known */
  double        *past_y;              /* [output_points, ny] newest first */
  graph_observed observed;
  ptrdiff_t      first_y; /* where its outputs start among those of all */
  /* adjacency (graph_wiring.c) */
  int            n_ends;
  int            place;                                 /* in the sequence of the graph */
  int            n_columns;                             /* unknowns that enter: all nodes of all channels that enter */
  graph_end     *ends;                                  /* [n_ends] of its wires, by wire */
  int           *column_channel, *column_node, *column; /* [n_columns] channel, node, index in w; by channel */
  double        *dy;                                    /* [n_columns, ny] dy/dw */
  double        *dy_kept;                               /* the same of the matrix that is kept, in the block */
  graph_entries  entries;                               /* of its columns, with YOKE_JACOBIAN_TANGENT */
  /* of the same pass (state_shift.h): */
  double        *dx;              /* [n_columns + 1, n_x] dx/dw, and room for a sum of them; NULL: not wanted */
  int            n_x;             /* numbers of a state that follow */
  double        *dy_off;          /* [n_columns, ny] what motions of dy are off by */
  bool           can_shift;       /* both were told */
  bool           has_differences; /* columns of the pass under way are outputs of perturbed integrations */
  double        *da_du;           /* [nu, ny] analytic Jacobian: response of the accelerations ... */
  yoke_status    answered;        /* ... that its last main integration gave, or what hindered it */
  double        *y_predicted;     /* [ny] of the first pass of the trial */
  void          *compared;        /* state of the comparison integration; NULL: one of the pool */
  void          *spare;           /* cleared, for unpacking beside `accepted`; NULL: none yet */
  double        *y_compared;      /* [ny] and its outputs */
  yoke_context  *said;            /* messages of its last step that failed; NULL: none failed yet */
  /* several steps in a macro step (multirate.h) */
  int            substeps, stretches; /* so many, and parts of it that end where a coupling of its own is exchanged */
  int            n_stepped;           /* substeps that the trial has made */
  double         fade;                /* of the errors of bodies in its halo, in the last trial (graph_overlap.c) */
} graph_subsystem;
_Static_assert(offsetof(graph_subsystem, held) <= 64, "acceptance reads one cache line");

typedef struct graph_task {
  int         subsystem, column; /* column -1: the main integration, GRAPH_COMPARISON: the one for the error estimate */
  yoke_status status;            /* of its last run */
  bool        is_early;          /* the main integration ended before the step does, */
  double      t_reached;         /* here */
  int64_t     evaluations, jacobians; /* that it took */
} graph_task;

/* Tasks that run one after another on one worker. */
typedef struct graph_job {
  int first, n;
} graph_job;

enum { GRAPH_COMPARISON = -2, GRAPH_OBSERVED = -3 /* beside shifted states */ };

/* The joint that the last trial left open most. */
typedef struct graph_widest_gap {
  int    wire, row; /* wire -1: there is no joint */
  double gap;       /* [m], angles times L */
} graph_widest_gap;

typedef struct yoke_state_reset  yoke_state_reset;  /* state_reset.h */
typedef struct yoke_joint_forces yoke_joint_forces; /* joint_forces.h */
typedef struct graph_instant     graph_instant;     /* graph_instant.h */
typedef struct graph_responses   graph_responses;   /* graph_responses.h */
typedef struct graph_multirate   graph_multirate;   /* multirate.h */
typedef struct graph_newton      graph_newton;      /* newton_matrix.h */
typedef struct newton_ranks      newton_ranks;      /* newton_ranks.h */

struct yoke_graph {
  yoke_arena             arena; /* of all arrays */
  yoke_arena             work;  /* scratch of the conditions: mark, take, release */
  graph_lent             lent;
  yoke_scheme_settings   settings;
  const yoke_scheme_ops *scheme;
  yoke_exec             *exec;
  yoke_relay            *relay;       /* NULL: all subsystems live here */
  const int             *owner;       /* [n_subsystems] rank; NULL without relay */
  yoke_status           *each_status; /* [n_subsystems] of graph_each */
  int                    n_subsystems, n_wires, n_channels, n_w, n_c;
  bool                   values_tell_conditions; /* graph_told_conditions serves all wires */
  bool                   has_end_nodes_only;     /* every channel is one piece over a step, and feeds have no shares */
  int                    n_exchanges;            /* how often formulations ask for outputs at t_next evaluated anew */
  graph_subsystem       *subsystems;
  int                   *sequence; /* [n_subsystems] in which they are stepped one after another */
  bool                   has_signals, has_joints;
  bool                   feeds_through; /* some coupling's values depend on its own copies (feedthrough: true) */
  graph_wire            *wires;
  graph_channel         *channels;
  int                    n_overlaps; /* wires whose sides hold copies of each other's bodies */
  int                    narrowest;  /* of their halos */
  int                    n_felt;
  graph_felt            *felt; /* [n_felt] of all wires */

  graph_block *block; /* what is kept from step to step, of block_size bytes */
  size_t       block_size;
  int          n_held;                /* values from outside */
  double      *held;                  /* [n_held] in the block */
  bool         has_shares;            /* of a wire */
  int  channel_points, output_points; /* macro points, T_N included, of which values of channels and outputs are kept */
  bool reads_past_outputs;            /* somebody continues them; else past_y is not kept up */

  graph_observation observation;
  graph_samples     samples;

  /* present step */
  bool           is_stepping; /* a trial was begun, and neither accepted nor forgotten: w belongs to t_next */
  double         t_next, H;
  double         t_early; /* where the subsystem that was the first to do so ended the last pass; t_next: none did */
  double         past_s[GRAPH_PAST]; /* (past_t - T_N) / H */
  int            wanted;             /* degree that is asked for; the past may allow less */
  int            degree;             /* in force */
  graph_prepared prepared;
  double        *w, *w_predicted; /* [n_w] */
  double        *w_before;        /* [n_w] the nodes that the last correction started from */
  double        *c, *delta;       /* [n_c] */
  double        *c_before;        /* [n_c] the conditions before the last correction */
  yoke_residual_unit *units;      /* [n_c] of the conditions */
  graph_widest_gap    widest;
  double force_size[YOKE_N_RESIDUALS + 1]; /* largest |u| at the end of the trial, by the kind of the channel */
  bool   use_curves;                       /* signals are the curves of the acceleration predictor */
  bool   trial_ready;
  bool   is_rough; /* corrections once leave a rest that grows: semi-implicit repeats them (graph_check.c) */

  /* step control (trial.h) */
  bool    is_controlled;      /* steps and degrees are chosen, by estimates */
  bool    counts_past_low;    /* a degree k needs k + 1 points of the past, which estimates from the predictor read */
  bool    keeps_predicted;    /* y_predicted is filled */
  bool    renews_matrix;      /* the matrix of an earlier step is not kept */
  double  response_tolerance; /* relative error of dy/dw that is good enough; 0: none is */
  double  stiff_tolerance;    /* the same of subsystems whose solver is implicit */
  double *tolerated;          /* what a shift of the states may miss, (p, v) of port after port; NULL: none is made */
  bool    ignores_jumps; /* jumps are no divergence, nor the reason of failures: the controller makes steps smaller */
  yoke_comparison_kind     comparison;
  bool                     is_compared;           /* the comparison integration of this trial is done */
  bool                     has_consistent;        /* channel->consistent_new belongs to this trial */
  bool                     is_viewing_comparison; /* conditions see the comparison instead of the last pass */
  int                      n_passes;              /* of this trial */
  const graph_channel     *astray; /* of the present pass: its nodes are far beyond the model's sizes; NULL: none is */
  int                      aims;   /* of the present pass */
  struct graph_consistent *consistent; /* NULL: not needed */

  /* tasks of a pass */
  graph_task      *tasks;
  int              n_tasks;
  graph_job       *jobs; /* what exec runs */
  int              n_jobs;
  yoke_cost       *costs;     /* [n_jobs] */
  yoke_ledger     *ledger;    /* NULL: nobody asks where the time goes */
  yoke_task_times *times;     /* [n_tasks] of a pass that is timed */
  yoke_state_pool *pool;      /* states of integrations beside the main ones; NULL: there are none yet */
  void           **scratch;   /* [n_workers] largest scratch of all subsystems */
  double         **signal_c;  /* [n_workers] coefficients */
  double         **variant_y; /* [n_workers] */
  void           **room;      /* [n_workers] of responses: the most that any subsystem asks for */
  double         **entry_c;   /* [n_workers] coefficients of their directions */
  yoke_arena
                 rooms; /* of scratch, rooms and entry_c, of which nothing is read before it is written; of states with much unused room */
  yoke_context **worker_ctx; /* [n_workers] */
  yoke_context  *pass_ctx;   /* of the trial that is under way: tasks are cancelled together with it */

  /* Newton, one solve per set: of the couplings with several sets each takes its own, those with less stay with their last */
  yoke_pattern *pattern;
  yoke_linear  *linear;
  graph_newton *newton;                              /* who makes them; NULL: there are no conditions to meet */
  newton_ranks *newton_ranks;                        /* NULL: every rank makes all */
  int           n_sets;                              /* the most of all couplings */
  yoke_factor  *factor[YOKE_COUPLING_MAX_SETS];      /* [n_sets] */
  yoke_factor  *factor_kept[YOKE_COUPLING_MAX_SETS]; /* [n_sets] as accepted at T_N */
  double       *J, *linear_work;                     /* [n_sets, nnz] */
  double       *delta_set;                           /* [n_c] correction of one set */
  double       *rounding;                            /* [3, n_c] scratch of rounding.h */
  /* Broyden: matrix B [n_c, n_c], column major, then factors of B, pivots; and B as accepted at T_N, in the block. NULL: not used. */
  double       *broyden, *broyden_kept;
  matrix_tag    made;
  matrix_tag    columns;    /* for which dy/dw of linear subsystems was found */
  bool          is_kept;    /* the matrix at work is that of an earlier step */
  bool          is_touched; /* columns dy/dw of the trial are not those that are kept */

  yoke_state_reset  *reset;     /* NULL: no coupling resets states */
  yoke_joint_forces *forces;    /* NULL: every coupling finds its own */
  graph_multirate   *multirate; /* NULL: every subsystem takes one step in a macro step */
  /* Made when a restart or an event needs them first: */
  graph_instant     *anew;    /* values of all joints and signals behind T_N */
  graph_instant     *signals; /* of signals alone */
  graph_responses   *asked;   /* yoke_graph_ask_responses; NULL: by nobody */
  yoke_state_reset  *joints;  /* reset of all joints */
};

/* What a wire at work borrows, as large as the largest of them needs it; a failure shows in the arena of the graph. */
void        graph_take_lent(yoke_graph *graph, graph_lent *lent);
/* Room in `scratch` for what conditions take while they are evaluated (for each output and channel some rows of numbers): steps find it. */
yoke_status graph_warm_up(const yoke_graph *graph, yoke_arena *scratch, yoke_context *ctx);

/* The pool, where there is none yet. */
yoke_status graph_take_pool(yoke_graph *graph, yoke_context *ctx);

/* Do states of the subsystem have much room that may never be written? */
static inline bool graph_is_roomy(const yoke_subsystem *subsystem) {
  return yoke_arena_is_room(subsystem->state_size, subsystem->state_size - subsystem->state_rest);
}

/* A state, all zero. NULL: out of memory. */
static inline void *graph_take_state(yoke_graph *graph, const yoke_subsystem *subsystem) {
  return yoke_arena_take_room(graph_is_roomy(subsystem) ? &graph->rooms : &graph->arena, subsystem->state_size,
                              subsystem->state_size - subsystem->state_rest);
}

/* Is the subsystem stepped on a state beside the accepted one? */
static inline bool graph_has_trial(const yoke_graph *graph, const yoke_subsystem *subsystem) {
  return subsystem->ops->repeat != NULL && !graph->settings.in_place;
}

/* graph_account.c: costs [n_jobs] of the present pass (NULL: not known, or nobody asks; of jobs of other ranks: 0); times and costs of a pass that was timed and began
 * at `begin`. */
const yoke_cost *graph_costs(yoke_graph *graph);
void             graph_account(yoke_graph *graph, double begin);

/* Does a subsystem live on this rank? */
static inline bool graph_owns(const yoke_graph *graph, int subsystem) {
  return graph->relay == NULL || graph->owner[subsystem] == yoke_relay_rank(graph->relay);
}

/* Is the present pass timed? */
static inline bool graph_is_timed(const yoke_graph *graph) {
  return graph->ledger != NULL && graph->ledger->is_timed;
}

/* Creation: channels, conditions, subsystems and their states; then, when the settings fit, the Newton matrix and the unknowns. */
yoke_status graph_wire_up(yoke_graph *graph, const yoke_wire *wires, yoke_subsystem *const *subsystems,
                          yoke_context *ctx);
yoke_status graph_check_settings(yoke_graph *graph, yoke_context *ctx);
yoke_status graph_take_unknowns(yoke_graph *graph, yoke_context *ctx);
/* Allocates the block, and hands out its parts to channels and subsystems. */
yoke_status graph_take_block(yoke_graph *graph, yoke_context *ctx);
/* May `bytes`, not aligned, be the block of this graph at time t? */
bool        graph_block_is_sound(const yoke_graph *graph, const void *bytes, double t);

/* graph_overlap.c: at the creation, of a wire whose formulation overlaps; and all copies get the motion that their originals show in y. */
static inline bool graph_overlaps(const graph_wire *wire) {
  return wire->wire.formulation->overlap != NULL;
}
yoke_status        graph_overlap_check(yoke_graph *graph, graph_wire *wire, yoke_context *ctx);
void               graph_overlap_renew(yoke_graph *graph);
void               graph_overlap_judge(yoke_graph *graph); /* the fades of bodies in halos, behind a trial */
/* Is the motion of side `side` judged by a copy? */
static inline bool graph_has_copy(const graph_wire *wire, int side) {
  return graph_overlaps(wire) && (wire->halo == NULL || (side == 0 && wire->halo->ring == 1));
}
/* In the trial: copy k = 0, 1 that the other side has of body k of a side; of one body: k = 0, side 0. */
const double *graph_copy(const yoke_graph *graph, const graph_wire *wire, int side, int k);

/* Degrees, layouts and unknowns of a step that starts now. */
void        graph_prepare(yoke_graph *graph, double t_next);
/* Creation: g->has_end_nodes_only. */
bool        graph_can_end_only(const yoke_graph *graph);
/* Predicted nodes into w_predicted and w. */
void        graph_predict(yoke_graph *graph);
/* Nodes of one channel on the polynomial of the order of the run through its newest known nodes, as high as the history permits. */
void        graph_extrapolate(const yoke_graph *graph, const graph_channel *channel, double *w);
/* How often formulations ask for outputs at t_next evaluated anew. */
int         graph_n_exchanges(const yoke_graph *graph); /* creation: g->n_exchanges */
/* Does so, into y_new; the channel values that y_new belongs to are then `applied`. */
yoke_status graph_exchange(yoke_graph *graph);
/* The same at time t for the wires that do not wait, whose channels are `applied` already. */
yoke_status graph_exchange_at(yoke_graph *graph, double t);
/* Values of a coupling at t for the history, into `value` of its channels. */
void        graph_final_values(yoke_graph *graph, const graph_wire *wire, double t);
/* The same of all couplings, and with them their conditions: where a law is evaluated once per step, for both. */
bool        graph_can_tell_conditions(const yoke_graph *graph);
void        graph_told_conditions(yoke_graph *graph);
/* Outputs of all trial states with the values for the history, into y_new. */
yoke_status graph_outputs_with_values(yoke_graph *graph);

/* Divergence: before anything is accepted, of all that would be; what was seen joins the block; and as the reason of a step that failed. */
yoke_status graph_watch(yoke_graph *graph, yoke_context *ctx);
/* The same of the nodes that a pass is about to integrate with. */
yoke_status graph_watch_nodes(yoke_graph *graph, yoke_context *ctx);
/* Right-hand sides that an integration of the present pass may take; 0: any number. */
int64_t     graph_most_evaluations(const yoke_graph *graph);
/* One of them took more. */
yoke_status graph_blame_nodes(const yoke_graph *graph, yoke_context *ctx);
void        graph_watch_accept(yoke_graph *graph);
yoke_status graph_explain_failure(const yoke_graph *graph, yoke_status status, yoke_context *ctx);

/* Highest degree of the channels of a wire in this run. */
static inline int graph_wire_order(const yoke_graph *graph, const graph_wire *wire) {
  return graph->settings.order - wire->wire.spare_order;
}

/* Degree of the accelerations that predict a step of this degree; the past may allow less. */
static inline int graph_acceleration_degree(const yoke_graph *graph, int degree) {
  return graph->settings.order_acceleration >= 0 ? graph->settings.order_acceleration : degree;
}
/* Share of the extrapolated value in acceleration-relaxed. */
double graph_acceleration_weight(const yoke_graph *graph);
/* channel->comparison of all channels by accelerations, one order better than the predicted signals; false: the past is too short. */
bool   graph_predict_better(yoke_graph *graph);
/* Powers of s of the polynomial through n <= GRAPH_SIGNAL_DEGREE + 1 points. */
void   graph_interpolate(int n, const double *s, const double *u, double c[GRAPH_SIGNAL_DEGREE + 1]);
/* Outputs of side s of a wire at local time `at` if its accelerations continue as the polynomial of this degree. */
void   graph_port_ahead(const yoke_graph *graph, const graph_wire *wire, int side, int degree, double at, double *y);

/* What a pass is for, besides trial states and y_new. */
enum {
  GRAPH_COLUMNS = 1, /* columns of dy/dw */
  GRAPH_LAST    = 2  /* it may be the last of the trial: subsystems observe what they are asked for, and count works */
};
/* Size of a perturbation of a channel that stands out of the solver's noise; in a step also out of rounding. */
double graph_perturbation(const graph_channel *channel);
double graph_step_perturbation(const yoke_graph *graph, const graph_channel *channel);
/* One pass over all subsystems. */
/* graph.c: a list of independent tasks; owner(user, i) is the rank of the subsystem that task i calls, and is asked only where there are ranks. */
void   graph_run(yoke_graph *graph, int n, int (*owner)(void *user, int i), const yoke_cost *costs, yoke_task task,
                 void *user);

/* n <= n_subsystems calls one after another by the thread of control, number k of subsystem which(user, k), or of k itself (which NULL); on ranks each makes its own, and
 * what they gave travels together. Gives the first failure, behind which calls may or may not have been made. */
yoke_status graph_each(yoke_graph *graph, int n, int (*which)(const void *user, int k),
                       yoke_status (*one)(yoke_graph *graph, int k, void *user), void *user);
yoke_status graph_each_subsystem(yoke_graph *graph, yoke_status (*one)(yoke_graph *graph, int i, void *user),
                                 void       *user);

yoke_status graph_pass(yoke_graph *graph, int aims, yoke_step_statistics *statistics, yoke_context *ctx);
/* One subsystem only (gauss-seidel). */
yoke_status graph_pass_one(yoke_graph *graph, int subsystem, int aims, yoke_step_statistics *statistics,
                           yoke_context *ctx);
/* Stretches of all subsystems that begin one at this point (multirate.h). */
yoke_status graph_pass_stretches(yoke_graph *graph, int point, yoke_step_statistics *statistics, yoke_context *ctx);
/* The comparison integration of every subsystem, with the signals channel->comparison. */
yoke_status graph_pass_comparison(yoke_graph *graph, yoke_step_statistics *statistics, yoke_context *ctx);
/* Integrations beside the trial states that observe what is asked for. */
yoke_status graph_pass_observed(yoke_graph *graph, yoke_step_statistics *statistics, yoke_context *ctx);
/* dy/dw of one subsystem from the responses of its accelerations instead of perturbed integrations. */
yoke_status graph_analytic_columns(yoke_graph *graph, int subsystem, yoke_context *ctx);

/* Signal of one subsystem for the present w; node `column` of the subsystem is shifted by `shift` (-1: none;
 * GRAPH_COMPARISON: the signals channel->comparison instead).
 * `c` has room for GRAPH_MAX_BREAKS pieces; `t` for one more. */
void graph_signal(const yoke_graph *graph, int subsystem, int column, double shift, double *t, double *c,
                  yoke_signal *out);

/* The columns of one subsystem as directions of its inputs, over the same pieces. `c` has room for GRAPH_MAX_BREAKS pieces of all entries. */
void graph_directions(const yoke_graph *graph, int subsystem, double *t, double *c, yoke_directions *out);

/* c(s) of this degree in powers of (s - from), rewritten in powers of (s - to). */
void graph_shift_origin(double *c, int degree, double from, double to);

/* u of a channel at local time 0 < s <= 1 of the trial, left limit. */
double graph_channel_at(const yoke_graph *graph, const graph_channel *channel, double s);
/* The same at n ascending times: u[i stride]. */
void graph_channel_at_times(const yoke_graph *g, const graph_channel *channel, int n, const double *s, ptrdiff_t stride,
                            double *u);

/* Observation: which times lie in the trial; what the main integration of a subsystem is asked for; values of the channels join at acceptance. */
void graph_observe_prepare(yoke_graph *graph);
void graph_observe_request(const yoke_graph *graph, const graph_subsystem *subsystem, yoke_step_request *request);
void graph_observe_accept(yoke_graph *graph);
/* Values of a wire's channels at those times of yoke_graph_sample that lie in (from, to]. */
void graph_sample_channels(const yoke_graph *graph, const graph_wire *wire, double from, double to);
void graph_observe_free(yoke_graph *graph);

/* A factor or none as bytes (graph_pack.c). */
void        graph_factor_pack(const yoke_factor *factor, yoke_pack *out);
yoke_status graph_factor_unpack(const yoke_linear *linear, yoke_unpack *in, yoke_context *ctx, yoke_factor **out);
void        graph_factor_replace(yoke_factor **factor, yoke_factor **by); /* takes *by, which becomes NULL */

/* What a coupling sees, set 0; lies in the scratch of the wire. */
yoke_coupling_view graph_view(const yoke_graph *graph, const graph_wire *wire);

/* The set of a coupling's conditions that takes part in solve `set`. */
static inline int graph_set(const graph_wire *wire, int set) {
  return set < wire->n_sets ? set : wire->n_sets - 1;
}

/* Conditions of all couplings in solve `set` into graph->c. */
void graph_residual(yoke_graph *graph, int set);

/* u = phi(y) of one coupling from y_new (or y when `accepted`), for the channel values `now`. */
void graph_update(const yoke_graph *graph, const graph_wire *wire, double t, const double *y1, const double *y2,
                  double *u);

/* `rounds` of u := phi(y, u); one without feed-through. With it the first settles the copies, the second the forces. */
void graph_settle(const graph_wire *wire, double t, const double *y1, const double *y2, int rounds, double *u);

/* Outputs y of all accepted states at t with the newest channel values of the history; `limit`: of inputs and loads. */
yoke_status graph_outputs_with_history(yoke_graph *graph, double t, yoke_side limit);
/* Constant inputs of one subsystem from the newest values of the history; `times` [2], `c` [nu]. */
void graph_held_signal(const yoke_graph *graph, int subsystem, double t, double *times, double *c, yoke_signal *out);

/* The history begins anew at T_N: laws give the values of all wires but those that `kept` (not NULL) takes, which keep theirs. */
yoke_status graph_begin_anew(yoke_graph *graph, const graph_instant *kept, yoke_context *ctx);

/* What an input is besides its feeds. */
static inline double graph_held_value(const yoke_graph *graph, const graph_subsystem *subsystem, int input) {
  if (graph->n_held == 0 || subsystem->held == NULL || subsystem->held[input] < 0) return 0.0;
  return graph->held[subsystem->held[input]];
}

/* Outputs of side s of a wire in an array of a subsystem's outputs. */
static inline const double *graph_port(const graph_wire *wire, int side, const double *y) {
  return y + wire->y_at[side];
}

static inline yoke_past graph_past(const yoke_graph *graph, const graph_channel *channel) {
  return (yoke_past){.n = graph->block->n_past,
                     .s = graph->past_s,
                     .u = channel->goes_on_consistent ? channel->kept->consistent : channel->kept->past};
}

#endif
