/* Graph: subsystems and couplings, wired; one macro step at a time.
 *
 * Unknowns of a step: w = node values after T_N of all channels of all couplings, coupling by coupling, channel by channel,
 * node by node. One *pass* integrates every subsystem from its accepted state with the inputs that follow from w and gives
 * the outputs y. With them comes, on wish, dy/dw: from the same integration where a subsystem tells its response, else from one perturbed
 * integration per unknown that enters it, beside the main ones.
 *
 * Invariants (numbers of the design, section 2):
 *   1. A pass starts from copies of the states accepted at T_N.
 *   2. Accepted states, history and time change in yoke_graph_accept only; a rejected step leaves no trace.
 *   3. The history holds accepted values only.
 *   5. Tasks write what they own; sums run in index order: same bits for any number of threads.
 *   7. After creation a macro step allocates no memory of its own. */
#ifndef YOKE_COUPLING_GRAPH_H
#define YOKE_COUPLING_GRAPH_H

#include "base/pack.h"
#include "coupling/formulation.h"
#include "exec/exec.h"
#include "exec/ledger.h"
#include "subsystem/relay.h"
#include "subsystem/subsystem.h"

typedef enum yoke_start_up { YOKE_START_RAMP, YOKE_START_RAMP_LOW, YOKE_START_GRADED, YOKE_START_EXACT } yoke_start_up;
typedef enum yoke_predictor {
  YOKE_PREDICTOR_EXTRAPOLATION,
  YOKE_PREDICTOR_LEAST_SQUARES,
  YOKE_PREDICTOR_ACCELERATION,
  YOKE_PREDICTOR_ACCELERATION_RELAXED
} yoke_predictor;

/* Does it continue the motion of the ports by their accelerations? */
static inline bool yoke_predictor_is_motion(yoke_predictor predictor) {
  return predictor == YOKE_PREDICTOR_ACCELERATION || predictor == YOKE_PREDICTOR_ACCELERATION_RELAXED;
}

/* Where dy/dw of a subsystem comes from; broyden is a word for the whole run: it improves the first matrix, whatever made that. */
typedef enum yoke_jacobian {
  YOKE_JACOBIAN_TANGENT, /* the response that a step tells; perturbed integrations where a subsystem has none */
  YOKE_JACOBIAN_FINITE_DIFFERENCE, /* perturbed integrations */
  YOKE_JACOBIAN_ANALYTIC,          /* the instant response of the accelerations */
  YOKE_JACOBIAN_BROYDEN
} yoke_jacobian;

/* When the matrix of the corrector is made anew. */
typedef enum yoke_renewal {
  YOKE_RENEWAL_SLOW, /* when it converges slowly, in step control and semi-implicit in every step */
  YOKE_RENEWAL_STEP, /* in every step, and when it converges slowly */
  YOKE_RENEWAL_PASS  /* in every pass: Newton's method itself */
} yoke_renewal;

/* What one subsystem takes instead of what holds for all. */
typedef struct yoke_own_settings {
  bool          has_jacobian; /* it was given */
  yoke_jacobian jacobian;     /* not broyden */
  int           substeps; /* steps, and exchanges with those that have as many, in a macro step (multirate.h); >= 1 */
} yoke_own_settings;

enum { YOKE_MOST_SUBSTEPS = 100000 };

/* What the faster one of two subsystems gets of the slower one between its exchanges. */
typedef enum yoke_slow_values { YOKE_SLOW_LINEAR, YOKE_SLOW_CONSTANT } yoke_slow_values;

typedef struct yoke_scheme_settings {
  char           scheme[16]; /* "semi-implicit" */
  int            order;      /* polynomial degree k */
  bool           gauss_seidel;
  yoke_start_up  start;
  yoke_predictor predictor;
  int            samples;            /* least squares: number of points, > k + 1 */
  int            order_acceleration; /* degree of the extrapolated accelerations; -1: that of the step */
  double acceleration_weight; /* omega of acceleration-relaxed: share of the extrapolated value; NaN: 1/2 in steps
                                         of degree 0, else 1/6 */
  bool   update;              /* accelerations recomputed with the final coupling values */
  yoke_jacobian            jacobian;
  bool                     names_jacobian; /* it was asked for by name: subsystems without tangents are noted */
  const yoke_own_settings *own;            /* [n_subsystems]; kept. NULL: none has its own */
  bool                     final_update;   /* store u = phi(y) instead of the corrected nodes */
  yoke_slow_values         slow_values;
  double                   relaxation; /* waveform: share of the new value */
  double       rtol, atol;     /* weights of the corrector's convergence test; atol 0: 1e-11 of the model's sizes */
  double       tau;            /* 0.33 */
  int          max_iterations; /* corrector passes; 10 (waveform 50) */
  yoke_renewal renewal;
  bool         monitor; /* the local error of every step is estimated, which changes nothing of the step */
  /* A graph without wires: */
  bool         stop_anywhere; /* its subsystem may end a step where it likes (native: after one micro step) */
  bool         in_place;      /* nothing makes a step go back: states are stepped themselves, without a copy */
  /* Truth at the end of a step (joint_gap.h): */
  int          corrections; /* semi-implicit: exactly so many; 0: one, and more where a level that is held is open */
  double       length;      /* L of the model [m]; 0: levels are not judged */
  double       time, force; /* T [s] and F [N] of the model, which with L measure what has no size yet; 0: not known */
  bool bears_any_size; /* nothing that is finite is too large: a study of what is unstable, directions of an analysis */
  bool has_linear_parts;  /* likewise: dy/dw of all subsystems depends on degree and step alone and is found once */
  double joint_tolerance; /* largest gap of a joint that an accepted step may leave [m]; 0: none is too large */
} yoke_scheme_settings;

/* Why a trial step was rejected or a step is shorter than planned. */
typedef enum yoke_reduction {
  YOKE_REDUCED_BY_ERROR,                      /* error test */
  YOKE_REDUCED_BY_CORRECTOR,                  /* not converged, or a subsystem could not finish */
  YOKE_REDUCED_BY_NON_FINITE,                 /* values that are not finite */
  YOKE_REDUCED_BY_EVENT,                      /* an event inside the step ends it */
  YOKE_REDUCED_BY_GAP,                        /* a joint is open by more than its tolerance */
  YOKE_N_REJECTIONS,                          /* these throw a trial away; the others only shorten a step: */
  YOKE_REDUCED_BY_SWITCH = YOKE_N_REJECTIONS, /* a load switches at its end */
  YOKE_REDUCED_BY_END,                        /* of the run */
  YOKE_N_REDUCTIONS,
  YOKE_NOT_REDUCED = YOKE_N_REDUCTIONS
} yoke_reduction;

typedef struct yoke_step_statistics {
  int     iterations;   /* corrector passes */
  int     integrations; /* of subsystems, perturbed ones included */
  int     matrices;     /* dc/dw that were made */
  int64_t evaluations,
      jacobians;    /* right-hand sides and Jacobians of all integrations, perturbed ones and tangents included */
  bool   has_kept;  /* the step began with the matrix of an earlier one */
  double rate;      /* |second correction| / |first| with the last matrix; NaN: there was no second */
  double residual;  /* largest |c| with the outputs of the last pass, in mixed units */
  bool   converged; /* implicit and waveform: the test was met; semi-implicit: the levels that are held are met */
  double residuals[YOKE_N_RESIDUALS]; /* largest residual of each kind */
  double sizes
      [YOKE_N_RESIDUALS]; /* what they are measured by: L, L/H, L/H^2, largest force and moment; 0: no coupling has this kind */
  int            degree; /* in force */
  /* step control: */
  double         error;                       /* norm of the estimated error, 1 is the tolerance */
  int            rejected[YOKE_N_REJECTIONS]; /* trials before this step was accepted, by reason */
  yoke_reduction reduced_by;                  /* the last reason why the step is shorter than it was planned */
  bool           is_forced; /* accepted although its error is too large, because a subsystem cannot go back */
  /* monitor: largest estimated error of positions and velocities in units of their spread so far; NaN: not known */
  double         local_error;
  double         leak; /* energy out of nothing since the last step that told it [J]; NaN: it was not looked at */
} yoke_step_statistics;

/* The work of another trial of the same step is counted too. */
static inline void yoke_step_add_work(yoke_step_statistics *statistics, const yoke_step_statistics *other) {
  statistics->iterations += other->iterations;
  statistics->integrations += other->integrations;
  statistics->matrices += other->matrices;
  statistics->evaluations += other->evaluations;
  statistics->jacobians += other->jacobians;
}

/* A motion that signals lead to, as a port of plain numbers shows it: positions and velocities of this shape. */
typedef struct yoke_felt {
  int                    port;
  const yoke_port_shape *shape;
} yoke_felt;

/* One coupling and where it is connected. */
/* What every step reads comes first. */
typedef struct yoke_wire {
  const yoke_formulation_ops *formulation;
  void                       *self; /* of the formulation; borrowed */
  int                         subsystem[2];
  const yoke_port_shape      *shape[2]; /* of the ports */
  const char                 *name;     /* kept */
  int port[2]; /* number of the port in its subsystem; -1: the signal enters input_at[1][0], which needs none */
  int n_y[2];  /* outputs that the formulation reads, extras included */
  const yoke_joint_element *joint; /* rows of a rigid joint, whose gap is watched; kept. NULL: a force element */
  /* [n_channels] input of the subsystem that a channel enters, where several add up; -1: none. Kept. Not read (may be NULL) where the port takes a wrench (subsystem.h), which
   * the graph makes of the channels. */
  int                      *input_at[2];
  /* [n_channels] values at the start; kept. NULL: those that its conditions at one instant give, else `update` */
  const double             *initial;
  const double
      *guess;       /* [n_channels] where the search for values at the start begins, where none are given; NULL: at 0 */
  int  spare_order; /* its channels have degrees up to the order of the run less this */
  bool
       carries_one_end; /* it carries multipliers on, and a side's solver reads its inputs at one end of a step only (messages) */
  /* Signals, for error estimates: are the motions of all that it acts on shown, at ports of side 2 in `felt` (kept) of this wire or of another one? */
  bool is_felt;
  int  halo
      [2]; /* formulations that overlap: the halo of this side's subsystem that holds copies of the other side's bodies */
  int              n_felt; /* each port stands with one wire only */
  const yoke_felt *felt;
} yoke_wire;

/* Does one of n subsystems take several steps in a macro step? */
static inline bool yoke_scheme_has_substeps(const yoke_scheme_settings *settings, int n) {
  for (int i = 0; settings->own != NULL && i < n; ++i) {
    if (settings->own[i].substeps > 1) return true;
  }
  return false;
}

/* May steps of a subsystem be asked for their response? */
bool yoke_scheme_asks_response(const yoke_scheme_settings *settings, int subsystem);

typedef struct yoke_graph yoke_graph;

/* Keeps subsystems, wires' formulations and exec. */
yoke_status yoke_graph_create(yoke_context *ctx, int n_subsystems, yoke_subsystem *const *subsystems, int n_wires,
                              const yoke_wire *wires, const yoke_scheme_settings *settings, yoke_exec *exec,
                              yoke_graph **out);
void        yoke_graph_destroy(yoke_graph **graph);
/* Times of its passes go there; kept. */
void        yoke_graph_keep_ledger(yoke_graph *graph, yoke_ledger *ledger);

/* The subsystems are ranked ones (subsystem/ranked.h): owner[i] is the rank of number i. Keeps both. Before the start. */
yoke_status yoke_graph_spread(yoke_graph *graph, yoke_relay *relay, const int *owner, yoke_context *ctx);

/* Collective where there are ranks, which on machines that differ have other last digits: status and values of rank 0 on all of them, so that they come to
 * the same decisions (subsystem/relay.h). Elsewhere nothing is done. */
yoke_status yoke_graph_agree(yoke_graph *graph, const char *what, yoke_status status, size_t bytes, void *values);
/* The same of the block (below). */
yoke_status yoke_graph_agree_block(yoke_graph *graph, const char *what);
bool        yoke_graph_may_differ(const yoke_graph *graph); /* is there anything to agree on? */

/* Once, when the ranks have tried to make the Newton matrix both ways: how long it took rank 0 to make it alone and shared [s], and the way that goes on. */
bool yoke_graph_tell_matrix(yoke_graph *graph, double took[2], const char **way);

/* Inputs from outside: `values` [n_values] that are constant over a step and may be set between steps, as right limits. Each enters any number of
 * inputs of subsystems, which no channel enters, or is added to what channels bring. Once, between create and start. The values are part of the block. */
typedef struct yoke_held_entry {
  int  number; /* of the value */
  int  subsystem, input;
  bool adds; /* it comes to what channels bring there */
} yoke_held_entry;
yoke_status   yoke_graph_hold(yoke_graph *graph, int n_values, const double *values, int n_entries,
                              const yoke_held_entry *entries, yoke_context *ctx);
/* Behind it call yoke_graph_restart, once for all that were set. */
void          yoke_graph_set_held(yoke_graph *graph, int number, double value);
double        yoke_graph_held(const yoke_graph *graph, int number);
const double *yoke_graph_all_held(const yoke_graph *graph); /* [n_values] by number */

/* Responses of the accelerations of accepted states to the inputs, from the right (subsystem.h). Once, before the start: of these subsystems
 * [n_subsystems]. Then between steps: dy/du [nu, ny], good until the next trial or restart; NULL: at this state there is none. */
yoke_status   yoke_graph_ask_responses(yoke_graph *graph, const bool *is_asked, yoke_context *ctx);
void          yoke_graph_respond(yoke_graph *graph);
const double *yoke_graph_response(const yoke_graph *graph, int subsystem);

/* Start all subsystems at t with consistent coupling values: forces of elements by u = phi(y), which is exact without feed-through of forces
 * into positions and velocities; joints without values of their own and signals from one system (graph_instant.h). YOKE_E_MODEL: signals
 * depend on themselves with gain 1; YOKE_E_NOT_CONVERGED: in a way that does not settle. The message names couplings and subsystems. */
yoke_status yoke_graph_start(yoke_graph *graph, double t, yoke_context *ctx);

/* For the start `exact`: one more point of the past, older than all given so far: t, and y of the ports as far as the wires read
 * them (yoke_wire.n_y), wire by wire, its side 1 before its side 2. u[wire] are the channel values of that wire (multipliers and what goes with them); NULL: those that its `update`
 * gives. Call after start, before the first step. */
void yoke_graph_add_past(yoke_graph *graph, double t, const double *y, const double *const *u);

/* One trial step from T_N to t_next with the scheme of the settings; nothing is accepted yet. > 0: a smaller step may help. A subsystem that
 * ends its step early ends the trial: all step again to that time (YOKE_E_SUBSYSTEM: one that cannot go back was stepped already). */
yoke_status yoke_graph_try(yoke_graph *graph, double t_next, yoke_step_statistics *statistics, yoke_context *ctx);
/* One integration of all subsystems to t_next with predicted inputs, whose ends are their states from now on; outputs and history stay. For analyses,
 * which put other states in their places: solvers keep what a step of this length costs. */
yoke_status yoke_graph_rehearse(yoke_graph *graph, double t_next, yoke_context *ctx);

/* Where the last trial ended: t_next or earlier. */
double yoke_graph_trial_end(const yoke_graph *graph);

/* Make the last trial the accepted state at its time. YOKE_E_UNSTABLE when the run diverges; the message names the coupling. */
yoke_status yoke_graph_accept(yoke_graph *graph, yoke_context *ctx);

/* Points of the past that the highest degree of the run can use. */
int yoke_graph_depth(const yoke_graph *graph);

/* Observation: for the trials until the next call, values of handles (subsystem.h) at these times as far as they lie inside the step,
 * T_N < t < T_{N+1} (the end itself is shown by yoke_graph_show). `times` rise; handles [n_subsystems] are kept, both may be NULL when n_times is 0. */
typedef struct yoke_graph_handles {
  int            n;
  const int64_t *list;
} yoke_graph_handles;
yoke_status   yoke_graph_observe(yoke_graph *graph, int n_times, const double *times, const yoke_graph_handles *handles,
                                 yoke_context *ctx);
/* What the step that was accepted last has shown; 0 after a trial that was not accepted. *times: those inside it. */
int           yoke_graph_n_observed(const yoke_graph *graph, const double **times);
const double *yoke_graph_observed(const yoke_graph *graph, int subsystem); /* [n_observed, its handles] */
const double *yoke_graph_observed_channels(const yoke_graph *graph,
                                           int wire); /* [n_observed, n_channels] left limits of what was applied */
/* From now on the values of all channels at n local times 0 < s <= 1 of every accepted step are kept, left limits. Before the start. */
yoke_status   yoke_graph_sample(yoke_graph *graph, int n, const double *s, yoke_context *ctx);
const double *yoke_graph_sampled(const yoke_graph *graph, int wire); /* [n, n_channels] of the last accepted step */
/* Values of the accepted state at t: T_N, or inside the last micro step of a subsystem without wires. The inputs are those that the last
 * step applied at its end (left), or the values of the history (right). */
yoke_status   yoke_graph_show(yoke_graph *graph, int subsystem, double t, yoke_side side, int n, const int64_t *handles,
                              double *values, yoke_context *ctx);
/* Energies of subsystem i at the end of the last step, where they can be told without its inputs and in this process; false: they are to be
 * shown by handles. */
bool          yoke_graph_energies_reached(yoke_graph *graph, int i, double out[YOKE_N_ENERGIES]);
/* The same of every subsystem: what `handles` (user, i) asks of number i goes to values[i]. */
yoke_status   yoke_graph_show_all(yoke_graph *graph, double t, yoke_side side,
                                  yoke_graph_handles (*handles)(const void *user, int i), const void *user,
                                  double *const *values);
/* Value of a channel as the last step applied it at its end. */
double        yoke_graph_applied(const yoke_graph *graph, int wire, int channel);
/* Its mean over the last step, of a channel with inner nodes. */
double        yoke_graph_mean(const yoke_graph *graph, int wire, int channel);

/* Events of the last trial (or, right behind its acceptance, of that step): see subsystem.h. */
yoke_found_events yoke_graph_events(const yoke_graph *graph, int subsystem);
double            yoke_graph_event_ahead(const yoke_graph *graph, int subsystem, int event);

/* Between an accepted step and the next trial: an event was dealt with; its assignments change a subsystem; the
 * history of the couplings begins anew with values that fit the accepted states and what loads are right behind T_N: forces of elements
 * by their laws, multipliers, row accelerations and copies of all joints from one linear system (graph_instant.h). Call restart after all
 * that changed. */
void        yoke_graph_event_done(yoke_graph *graph, int subsystem, int event);
/* The assignments of an event of the subsystem (subsystem.h). */
yoke_status yoke_graph_act(yoke_graph *graph, int subsystem, int event, yoke_context *ctx);
/* Behind an event that has set states: all rows of all joints are brought to s = s' = 0 by impulses (state_reset.h), whatever couples them. */
yoke_status yoke_graph_reset_joints(yoke_graph *graph, yoke_context *ctx);
/* Where prescribed motions or their rates jump: their subsystems go across, and all joints are closed behind it in the same way. *any: is there one? */
yoke_status yoke_graph_kick(yoke_graph *graph, bool *any, yoke_context *ctx);
yoke_status yoke_graph_restart(yoke_graph *graph, yoke_context *ctx);
/* Behind such an event and the restart: what signals passed over when they jumped is no crossing. */
void        yoke_graph_begin_events(yoke_graph *graph);

/* Questions about the accepted state. */
double                      yoke_graph_t(const yoke_graph *graph);
const yoke_scheme_settings *yoke_graph_settings(const yoke_graph *graph);
const yoke_scheme_traits   *yoke_graph_traits(const yoke_graph *graph); /* of its scheme */
/* The coupling and channel that the last correction of a failed step changed most, in units of the corrector's tolerance;
 * "coupling 'name' (channel): " into `text`, "" without a correction. */
void                        yoke_graph_unsettled(const yoke_graph *graph, char *text, size_t size);
/* After YOKE_JOINT_OPEN: "joint 'name' (row) is open by 0.158 m, more than joint_tolerance 0.001 m allows". */
void                        yoke_graph_open_joint(const yoke_graph *graph, char *text, size_t size);
const void                 *yoke_graph_state(const yoke_graph *graph, int subsystem);
/* Outputs [ny]; those of all subsystems lie behind each other. */
const double               *yoke_graph_y(const yoke_graph *graph, int subsystem);
int                         yoke_graph_n_channels(const yoke_graph *graph, int wire);
const char                 *yoke_graph_channel_name(const yoke_graph *graph, int wire, int channel);
double yoke_graph_channel(const yoke_graph *graph, int wire, int channel); /* value at T_N in the history */

/* The block: all that changes from one accepted step to the next besides the subsystems' states, `size` bytes without pointers. A trial
 * does not change it. */
const void *yoke_graph_block(const yoke_graph *graph, size_t *size);

/* The graph between steps as bytes, accepted states included. A subsystem that refuses is named. `unpack` puts a graph of the same subsystems,
 * wires and settings there, which was started, at the time t that the bytes must tell; after a failure it is as before. */
yoke_status yoke_graph_pack(const yoke_graph *graph, yoke_pack *out, yoke_context *ctx);
yoke_status yoke_graph_unpack(yoke_graph *graph, double t, yoke_unpack *in, yoke_context *ctx);

/* Memory: all that a macro step reads of the past besides the subsystems' states, as one vector, for analyses of the step as a
 * map. Channel by channel the values at T_N, T_{N-1}, ... as deep as a step at full degree reads them, then those at the inner
 * nodes of the last step; for the acceleration predictors and gauss-seidel also the outputs at T_N, T_{N-1}, ..., subsystem by subsystem. */
int yoke_graph_memory_size(const yoke_graph *graph);

typedef struct yoke_memory_place {
  int wire, channel;     /* number k is a value of this channel of this coupling; -1: it is an output */
  int subsystem, output; /* then: of this subsystem */
} yoke_memory_place;
yoke_memory_place yoke_graph_memory_place(const yoke_graph *graph, int k);

void        yoke_graph_memory_get(const yoke_graph *graph, double *memory);
/* Put the graph at T_N = t with macro points t - H, t - 2 H, ... behind it. The accepted states must be at t already (edit them
 * first): outputs at T_N are computed from them. What the divergence watch and Broyden's method have learned is forgotten. */
yoke_status yoke_graph_memory_set(yoke_graph *graph, double t, double H, const double *memory);
/* The accepted state of a subsystem, to be written between steps. */
void       *yoke_graph_state_edit(yoke_graph *graph, int subsystem);

#endif
