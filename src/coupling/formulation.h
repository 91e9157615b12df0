/* Formulation: channels, layout and conditions of one coupling. Knows outputs of ports and signals, never bodies.
 *
 * A coupling joins port 1 (side 1) and port 2 (side 2) of two subsystems. Its formulation declares channels; each channel
 * is one scalar signal that enters one or both subsystems. At the end of a macro step it sees, per channel, the value
 * u(T_{N+1}), the derivative u'(T_{N+1}-) and the integral of u over the step, and the outputs y of both ports now and at
 * T_N, and states as many conditions as there are unknown nodes:
 *   c(u, u', integral u, y1, y2) = 0. */
#ifndef YOKE_COUPLING_FORMULATION_H
#define YOKE_COUPLING_FORMULATION_H

#include "base/memory.h"
#include "base/setting.h"
#include "coupling/joint_levels.h"
#include "coupling/layout.h"
#include "frames/force_elements.h"
#include "frames/port.h"
#include <yoke/context.h>

enum { YOKE_COUPLING_MAX_SETS = 3 };

/* Bits of yoke_joint_form.holds. */
enum { YOKE_HOLDS_POSITION = 1, YOKE_HOLDS_VELOCITY = 2, YOKE_HOLDS_ACCELERATION = 4 };

typedef enum yoke_decomposition {
  YOKE_DECOMPOSITION_OPEN = -1, /* not chosen yet */
  YOKE_FORCE_FORCE,
  YOKE_FORCE_DISPLACEMENT,
  YOKE_DISPLACEMENT_FORCE,
  YOKE_DISPLACEMENT_DISPLACEMENT
} yoke_decomposition;

typedef enum yoke_extension { YOKE_EXTENSION_NONE, YOKE_EXTENSION_D, YOKE_EXTENSION_I } yoke_extension;

/* What is done about energy that a coupling brings out of nothing (energy/correction.h). */
typedef enum yoke_energy_rule {
  YOKE_ENERGY_OPEN = -1, /* not given: it is accounted for where the run does so */
  YOKE_ENERGY_MONITOR,
  YOKE_ENERGY_CORRECT,
  YOKE_ENERGY_GUARD,
  YOKE_ENERGY_PASSIVITY
} yoke_energy_rule;

static inline bool yoke_energy_acts(yoke_energy_rule rule) {
  return rule > YOKE_ENERGY_MONITOR;
}

/* Kinematic coupling: how the constraint force is found, how velocities continue, what outputs are evaluated with. */
typedef enum yoke_kinematic_force { YOKE_FORCE_EXACT, YOKE_FORCE_REDUCED, YOKE_FORCE_APPROXIMATE } yoke_kinematic_force;
typedef enum yoke_kinematic_motion { YOKE_MOTION_SAME, YOKE_MOTION_DERIVATIVE } yoke_kinematic_motion;
typedef enum yoke_kinematic_outputs {
  YOKE_OUTPUTS_PARALLEL,
  YOKE_OUTPUTS_CURRENT,
  YOKE_OUTPUTS_SEQUENTIAL,
  YOKE_OUTPUTS_HELD
} yoke_kinematic_outputs;

/* Room for the settings that a formulation has of its own. */
enum { YOKE_COUPLING_OWN = 16 };

/* Settings of one coupling: those that all formulations share (`yoke_coupling_rows`), and the struct of its formulation's own. */
typedef struct yoke_coupling_settings {
  char               formulation[32]; /* "constitutive" */
  yoke_decomposition decomposition;
  yoke_extension     extension;
  bool               feedthrough; /* force/displacement: the law is evaluated with the copies, inside the subsystem */
  yoke_energy_rule   energy;
  double             energy_cap; /* largest correction in units of the coupling force; 0: not given */
  /* of the run, for judgements before it and for own settings that follow them: */
  double             step;                   /* macro step [s]; 0: not known */
  double             length, time;           /* sizes of the model [m, s]; 0: not known */
  int                order;                  /* degree of couplings that keep their own */
  double             relaxation;             /* share of the new value; 0: not given */
  int                side;                   /* that the setting of type YOKE_SETTING_SUBSYSTEM names: 0, 1 */
  double             own[YOKE_COUPLING_OWN]; /* read and written by YOKE_OWN_SETTINGS and the rows of the formulation */
} yoke_coupling_settings;

typedef struct yoke_formulation_ops yoke_formulation_ops;

/* What a signal carries from side 1 to side 2: u = factor f(t, y1) + offset. */
typedef struct yoke_signal_law {
  int                    n;          /* values that the port of side 1 shows */
  const yoke_expression *expression; /* f: variable 0 is t, variable k > 0 is y1[k - 1]; NULL: f = y1[0]. Kept */
  double                 factor, offset;
} yoke_signal_law;

/* A number that the law of an element reads besides its deflection: output `y` of a side, behind those of the port's shape. */
typedef struct yoke_law_reading {
  int side, y;
} yoke_law_reading;

/* A cut at which both sides hold copies of the other's bodies (overlap.c). */
typedef struct yoke_overlap_def {
  int      held[2]; /* bodies of side s that the other side holds too, nearest first; >= 1 */
  yoke_law edge[2]; /* of the element between the last of them and the next body of side s: odd, of x and v alone */
} yoke_overlap_def;

/* A body of side 1 in the halo of side 2 (halo.c), which holds a copy of it, or that ends there. */
typedef struct yoke_halo_def {
  int ring; /* of a copy, 1, 2, ... from the nearest own body outwards; 0: the next body behind the halo, whose motion is extrapolated */
  int n_rings; /* of the halo of side 2 */
} yoke_halo_def;

/* Copies of the other side's bodies that a side shows, where it holds so many. */
enum { YOKE_OVERLAP_COPIES = 2 };

/* Ports of a side of which the other holds `own` bodies and that holds `others`: those bodies, the next one, copies. */
static inline int yoke_overlap_n_ports(int own, int others) {
  return own + 1 + (others < YOKE_OVERLAP_COPIES ? others : YOKE_OVERLAP_COPIES);
}

/* What is coupled, and by which formulation: the force element as a function of two frames (poses 0 and 1 are the frames of the ports). */
typedef struct yoke_coupling_def {
  const char                 *name;
  const yoke_formulation_ops *formulation;
  const yoke_joint_element   *joint;    /* rigid joints: rows between the two frames; kept. NULL for force elements */
  const yoke_force_element   *element;  /* kept; link origins are zero; NULL for joints */
  int                         n_read;   /* further numbers that the element's law reads */
  const yoke_law_reading     *read;     /* [n_read] kept; in the order of its variables 3, 4, ... */
  const yoke_signal_law      *signal;   /* kept; NULL: two frames are coupled */
  const yoke_overlap_def     *overlap;  /* kept; NULL: the sides hold no copies of each other's bodies */
  const yoke_halo_def        *halo;     /* kept; NULL: it is no body in a halo */
  const yoke_port_shape      *shape[2]; /* of the two ports */
  bool                        feels_wrenches; /* a port takes a wrench and nothing else: no motion can be prescribed */
  const yoke_coupling_settings *settings;
  bool
      has_consistent; /* the run is under step control, which finds consistent values of multipliers at every macro point */
} yoke_coupling_def;

/* One channel. It enters side s as input kind `enters[s]`. */
typedef enum yoke_entry {
  YOKE_ENTRY_NONE,
  YOKE_ENTRY_FORCE, /* component `component` of the wrench on the port, times sign[s] */
  YOKE_ENTRY_LAMBDA, /* multiplier of row `component` (the joint's own order): the side's share lambda grad acts on the body */
  YOKE_ENTRY_MU,     /* second multiplier of row `component`: moves the side's body, q' = T (v + mu grad) */
  YOKE_ENTRY_COPY_P, /* component of p of the other port's copy */
  YOKE_ENTRY_COPY_V,
  YOKE_ENTRY_ROW_ACCELERATION,      /* beta of row `component`, which the side then meets by its own accelerations:
                                    *   grad . A (its share) + gamma + sign[s] beta = 0;  its reaction is an extra output */
  YOKE_ENTRY_ROW_ACCELERATION_BARE, /* the same without gamma */
  YOKE_ENTRY_PRESCRIBED, /* acceleration of the other side in row `component`: grad . A (own side) + gamma + u = 0, and
                          * s = s' = 0 with the copies of the other side's p and v */
  YOKE_ENTRY_IMAGE_P,    /* component of p of the port's own image (port.h) */
  YOKE_ENTRY_IMAGE_V,
  YOKE_ENTRY_SIGNAL /* input of a port of shape `signal` */
} yoke_entry;

typedef struct yoke_channel {
  yoke_entry enters[2];
  int        component; /* index into the wrench (nv), p or v of the shape of a port */
  double     sign[2];
  bool       extended; /* has inner nodes under a D- or I-extension */
  bool       is_force; /* for perturbations, tolerances and predictors: a force [N, Nm], else a motion */
  char       name[40]; /* "force x", "copy 1 angle" */
} yoke_channel;

/* A number that is neither force nor motion, in units that nobody knows here. */
static inline bool yoke_channel_is_signal(const yoke_channel *channel) {
  return channel->enters[1] == YOKE_ENTRY_SIGNAL;
}

/* What the conditions see. Sizes: n_channels, and n_y of the two ports. */
typedef struct yoke_coupling_view {
  double        t, H;       /* T_{N+1}, step */
  const double *u;          /* values at T_{N+1} */
  const double *u_dot;      /* derivatives at T_{N+1} from the left */
  const double *u_integral; /* integrals over [T_N, T_{N+1}] */
  const double *y[2];       /* at T_{N+1} */
  const double *y_old[2];   /* at T_N */
  int           n_y[2];     /* lengths of y and of rows of dc/dy, extras included */
  int           set;        /* of conditions; 0 when there is one only */
  yoke_arena   *scratch;    /* mark, take, release; where it has no room, conditions and derivatives are NaN */
} yoke_coupling_view;

/* Rows of a coupling that finds its multipliers from the accelerations without the joint (joint_forces.h). */
typedef struct yoke_force_rows {
  double second[YOKE_JOINT_MAX_ROWS];                /* s'' of the outputs */
  double felt[2][YOKE_JOINT_MAX_ROWS];               /* multipliers that each side has felt for these outputs */
  double L[2][YOKE_JOINT_MAX_ROWS][YOKE_PORT_MAX_V]; /* gradients in the components of the ports' velocities */
} yoke_force_rows;

/* What a number that should vanish at a macro point is compared in. Angles count as lengths, times the model's length. */
typedef enum yoke_residual_kind {
  YOKE_RESIDUAL_POSITION,     /* [m] */
  YOKE_RESIDUAL_VELOCITY,     /* [m/s] */
  YOKE_RESIDUAL_ACCELERATION, /* [m/s^2] */
  YOKE_RESIDUAL_FORCE,        /* [N] */
  YOKE_RESIDUAL_MOMENT,       /* [Nm] */
  YOKE_N_RESIDUALS,
  YOKE_RESIDUAL_NONE =
      YOKE_N_RESIDUALS /* none of these: derivatives and integrals of laws, levels of joints (joint_gap.h) */
} yoke_residual_kind;

typedef struct yoke_residual_unit {
  yoke_residual_kind kind;
  bool               is_turn; /* [rad], [rad/s], [rad/s^2] */
} yoke_residual_unit;

/* How step control estimates the error of a step with this coupling (trial.h). */
typedef struct yoke_error_rule {
  bool end_value;         /* end layout whose end value is found by the conditions: Kraft's constants hold */
  int  comparison_degree; /* degree of a polynomial through consistent values that is clearly better than the signal */
  int  order[2];          /* local order of positions and velocities: how their error in one step falls with H */
  bool is_eased;          /* later steps take back what one leaves along the rows: little of it counts (trial.h) */
} yoke_error_rule;

/* What a scheme asks of formulations and what it offers them. */
typedef struct yoke_scheme_traits {
  const char *name;                  /* for messages */
  bool        needs_explicit_form;   /* u = phi(y): formulations must have `update` */
  bool        extrapolates_only;     /* one pass, nothing is corrected */
  bool        corrects_to_tolerance; /* the conditions hold at the end */
  bool        corrects_once;         /* one correction: relaxation and weighted sets of conditions make sense */
} yoke_scheme_traits;

/* ---- what a formulation may do besides: tables that it points to ---- */

/* Weighted sets of conditions, each with n_conditions of them: the nodes are corrected once per set, from the same
 * predictor and dy/dw, and take the weighted mean of the corrections. 1 <= n <= YOKE_COUPLING_MAX_SETS; weights
 * >= 0, of set 0 > 0. The sets have no common solution, so one correction is all there is. */
typedef struct yoke_condition_sets {
  int (*n)(const void *self);
  double (*weight)(const void *self, int set);
} yoke_condition_sets;

/* Signals that are extrapolated by rules of its own; nothing is corrected (traits: extrapolates_only). */
typedef struct yoke_own_extrapolation {
  /* Degree of a channel: min(order, N) in step N. */
  int (*order)(const void *self, int channel);
  /* The signal of a channel where it is not its own polynomial, of degree `degree` in this step. c[k] are those of all channels
   * of the coupling, powers of local time s in [0, 1], [n_powers] each; H [s] the step. false: it is its own. */
  bool (*curve)(const void *self, int channel, int degree, double H, int n_powers, const double *const *c, double *out,
                yoke_arena *scratch);
  /* Before the update, outputs at T_{N+1} are evaluated anew n_exchanges times with other channel values u. y1, y2: the outputs
   * so far, which belong to the channel values `now`. The update then sees the last ones, once. */
  int (*n_exchanges)(const void *self);
  void (*exchange)(const void *self, int number, double t, const double *y1, const double *y2, const double *now,
                   double *u);
} yoke_own_extrapolation;

/* Multipliers that couplings in one subsystem must find together, at an exchange (its number) or in the update. */
enum { YOKE_STAGE_UPDATE = -1 };
typedef struct yoke_force_finding {
  /* Multipliers that are found at this stage; 0: none. */
  int (*n_rows)(const void *self, int stage);
  /* What they follow from, n_rows(self, YOKE_STAGE_UPDATE) rows. */
  void (*rows)(const void *self, const double *const y[2], const double *now, yoke_force_rows *out);
  /* Takes those that were found into the channel values u, behind exchange or update. */
  void (*take)(const void *self, int stage, const double *now, const double *lambda, double *u);
} yoke_force_finding;

/* Step control. Without it: end_value, degree + 1, degree + 3 and degree + 2, right for every end layout whose end value is that
 * of u = phi(y). */
typedef struct yoke_error_form {
  void (*rule)(const void *self, int degree, yoke_error_rule *out);
} yoke_error_form;

/* What a rigid joint keeps. */
typedef struct yoke_joint_form {
  /* Levels s, s', s'' that vanish at every macro point once the conditions hold, bits YOKE_HOLDS_*; what it does not name is
   * small at best. */
  unsigned (*holds)(const void *self);
  /* States are projected onto s = 0 and s' = 0 at the end of every step (state_reset.h). */
  bool resets_states;
  /* Share of the corrected values in those that are used, the rest are the values at T_N (traits: corrects_once). */
  double (*relaxation)(const void *self);
} yoke_joint_form;

/* Values that belong to outputs at one instant, without a step: at a restart, and for error estimates. */
typedef struct yoke_instant_form {
  /* Values that follow from y directly (copies; second multipliers: 0) go to u. The others are unknown: their number n is returned,
   * their channels in unknown [n], and u is u_now there. Conditions c [n] of u_now and y are on the level of accelerations, of joints affine in
   * the unknowns and in the accelerations and reactions of y; dc_du [n, n_channels], dc_dy [n, n_y] of both sides.
   *   force/force                 lambda             s'' = 0
   *   force/displacement          lambda and beta    s'' = 0 and mu - lambda = 0
   *   displacement/displacement   beta               mu2 - mu1 = 0
   *   kinematic                   lambda and beta    mu_F - lambda = 0 and beta - grad_R . A_R = 0
   *   signal                      u                  u - phi(t, y1) = 0
   * All arrays have room for n_channels. */
  int (*conditions)(const void *self, double t, const double *const y[2], const double *u_now, double *u, int *unknown,
                    double *c, double *dc_du, double *dc_dy1, double *dc_dy2, yoke_arena *scratch);
  bool
      for_estimates; /* multipliers of the error estimate come from it, where no side is displaced; else from `update` */
} yoke_instant_form;

/* What a coupling does at one instant: powers and the energy of its element, as its holder has them. */
typedef struct yoke_wire_power {
  double in[2];   /* into the subsystem of each side, through its port [W] */
  double stored;  /* in the element [J] */
  double lost;    /* in the element [W] */
  bool   is_true; /* stored and lost are those of the true motions */
  /* where it costs nothing: lost with the true motions [W] */
  bool   knows_loss;
  double truly_lost;
} yoke_wire_power;

/* Works of a coupling over a macro step [J]. */
typedef struct yoke_wire_work {
  double out[2];           /* to the subsystems of both sides */
  double lost, truly_lost; /* in the element, as its holder has it and with the true motions */
} yoke_wire_work;

/* A macro step of two ports, y at both of its ends; where they move along x alone y = (x, v, ...). Between them a coordinate x is the cubic Hermite
 * polynomial and v its derivative: at the points of Gauss s = 1/2 -+ k, k = sqrt(3)/6,  v = dx/H +- k (v0 - v1). */
typedef struct yoke_line_step {
  double        t, H;
  const double *from[2], *to[2];
  const double *u; /* [2, n_channels] applied at the two points */
} yoke_line_step;
#define YOKE_LINE_K 0.28867513459481287

/* Rate of coordinate p of a side at the points of Gauss; v: its place in y. */
static inline void yoke_coordinate_rates(const yoke_line_step *step, int side, int p, int v, double rate[2]) {
  const double *from = step->from[side], *to = step->to[side];
  const double  mean = (to[p] - from[p]) / step->H, half = YOKE_LINE_K * (from[v] - to[v]);
  rate[0] = mean + half;
  rate[1] = mean - half;
}

/* v of a side that moves along x alone. */
static inline void yoke_line_rates(const yoke_line_step *step, int side, double v[2]) {
  yoke_coordinate_rates(step, side, 0, 1, v);
}

/* Output k of a side there, if it is none of its motion: on a straight line between both ends. */
static inline void yoke_line_between(const yoke_line_step *step, int side, int k, double value[2]) {
  const double from = step->from[side][k], to = step->to[side][k];
  const double mean = 0.5 * (from + to), half = YOKE_LINE_K * (to - from);
  value[0] = mean - half;
  value[1] = mean + half;
}

/* Work on a side of what it feels there, along a coordinate (p and v as above) with a slope; p -1: it does not move so. */
static inline double yoke_line_work_of(const yoke_line_step *step, int side, int p, int v, double slope,
                                       const double felt[2]) {
  double rate[2];
  if (p < 0) return 0.0;
  yoke_coordinate_rates(step, side, p, v, rate);
  return 0.5 * step->H * slope * (felt[0] * rate[0] + felt[1] * rate[1]);
}

/* What a coupling shows, by rows of its element or of its joint (the joint's own order; dropped rows show 0). */
typedef struct yoke_shown_form {
  int (*n_rows)(const void *self);
  /* force[side][row]: what the side felt at t, with the sign of the row's multiplier: of a force side the applied values u (left
   * limits), of a displacement side the reaction of a joint, or an element's law with its own motion and the applied copies. A wrench
   * becomes forces of rows by least squares over their gradients. g[row]: deflection or gap with the true motions of both ports. */
  void (*values)(const void *self, double t, const double *u, const double *const y[2], double *const force[2],
                 double *g, yoke_arena *scratch);
  /* Stored energy [J] and lost power [W] of the element, with the true motions of the ports. NULL: none (joints). */
  void (*energy)(const void *self, double t, const double *const y[2], double *stored, double *power_lost,
                 yoke_arena *scratch);
  /* Powers at t for the applied values u and the motions y of the ports: a force side gets u times its own velocity, a displacement side what
   * the element that it holds, or its reaction, does on it. An element that one side holds is that between this side and the copies in u;
   * one that no side or both hold, that of the true motions. with_stored: what is stored is read, and nothing else; without, all but that. NULL: what goes through its ports is not told. */
  void (*power)(const void *self, double t, const double *u, const double *const y[2], bool with_stored,
                yoke_wire_power *out, yoke_arena *scratch);
  /* The integrals of these powers over a step, by the two points of Gauss. False: at all times not told for ports or an element like these. NULL: never. */
  bool (*line_work)(const void *self, const yoke_line_step *step, yoke_wire_work *out);
} yoke_shown_form;

/* Halos. Behind every accepted step copies of bodies get the motion of their originals, and what the nearest are off by before is the error of the
 * step. Either both sides hold copies, and the ports of a side are several of one shape (overlap.c), or side 2 holds one body (halo.c). */
typedef struct yoke_overlap_form {
  int (*n_held)(const void *self, int side); /* bodies of this side that the other holds; NULL: one body, see */
  const yoke_halo_def *(*halo)(const void *self);
} yoke_overlap_form;

/* ---- the formulation ---- */

struct yoke_formulation_ops {
  const char *name;        /* "constitutive" */
  const char *summary;     /* one line for `yoke help formulations` */
  const void *data;        /* of the formulation, for functions that several share */
  bool        for_joints;  /* couples rigid joints; else force elements and flexible joints */
  bool        for_signals; /* carries a number from one subsystem to another; it is chosen by that, never by name */
  /* Settings of its own, which fill a struct of at most sizeof(yoke_coupling_settings.own) bytes. None: no rows. */
  yoke_setting_table settings;
  /* Own settings that were not given and follow from others. Called before check. NULL: there are none. */
  void (*complete)(const yoke_coupling_settings *settings, void *own);

  /* Is this combination possible? Otherwise a message through ctx says why and what to use. Called before create. `scheme` NULL:
   * not known. */
  yoke_status (*check)(yoke_context *ctx, const yoke_coupling_def *def, const yoke_scheme_traits *scheme, int order);
  yoke_status (*create)(yoke_context *ctx, const yoke_coupling_def *def, void **self);
  void (*destroy)(void *self);

  /* The channels, n of them; they belong to the formulation. */
  const yoke_channel *(*channels)(const void *self, int *n);
  /* Layout of a channel at polynomial degree `degree` (the degree in force, which is lower during start-up). */
  void (*layout)(const void *self, int channel, int degree, yoke_layout *out);
  /* As many as the unknown nodes of all channels, at every degree. */
  int (*n_conditions)(const void *self);
  void (*residual)(const void *self, const yoke_coupling_view *view, double *c);
  /* dc/du, dc/du_dot, dc/du_integral, each [n_conditions, n_channels]; dc/dy of side s [n_conditions, n_y]. */
  void (*jacobian)(const void *self, const yoke_coupling_view *view, double *dc_du, double *dc_du_dot,
                   double *dc_du_integral, double *dc_dy1, double *dc_dy2);
  /* Channel values that belong to the outputs y (explicit form u = phi(y)); also the consistent start and the final update.
   * `u_now` are the channel values in force (feed-through). NULL: none, so explicit and waveform are impossible. */
  void (*update)(const void *self, double t, const double *y1, const double *y2, const double *u_now, double *u,
                 yoke_arena *scratch);
  /* Does `update` read u_now? NULL: it may. */
  bool (*feeds_through)(const void *self);
  /* Are its conditions u - update(y, u), one for each channel? Then they are known where that was called. NULL: no. */
  bool (*is_met_by_update)(const void *self);
  /* A setting of its own that makes it steadier under schemes that correct, "extension d"; NULL, or gives NULL: none. */
  const char *(*steadier)(const void *self);

  /* Tables; NULL: it has nothing of the kind. */
  const yoke_condition_sets    *sets;
  const yoke_own_extrapolation *extrapolation;
  const yoke_force_finding     *forces;
  const yoke_error_form        *error;
  const yoke_joint_form        *joint;
  const yoke_instant_form      *instant;
  const yoke_shown_form        *shown;
  const yoke_overlap_form      *overlap;

  /* Extras that the port of a side shall show, a set of YOKE_EXTRA_... bits (port.h); joints only. NULL: none. */
  int (*extras)(const void *self, int side);
  /* Do its conditions read integrals of positions? NULL: no. */
  bool (*reads_integrals)(const void *self);
  /* What condition c compares, for the report. NULL: nothing that has a unit of its own. */
  yoke_residual_unit (*unit)(const void *self, int c);
  /* Warnings before the run, from the outputs at the start. NULL: none. */
  void (*advise)(const void *self, const char *coupling, const char *const subsystem[2], const double *y1,
                 const double *y2, yoke_context *ctx);
};

/* What the value of a channel is. `joint`: of its rows; NULL: a force element. */
yoke_residual_unit yoke_channel_unit(const yoke_channel *channel, const yoke_port_shape *const shape[2],
                                     const yoke_joint_element *joint);

/* The list (formulation_list.def). */
int                         yoke_formulation_n(void);
const yoke_formulation_ops *yoke_formulation_at(int i);
const yoke_formulation_ops *yoke_formulation_find(const char *name); /* NULL: none */

/* Settings that all formulations share; they fill yoke_coupling_settings. */
extern const yoke_setting_table yoke_coupling_rows;
/* Where the rows of all formulations stand in a model file. */
#define YOKE_COUPLING_PATH "cosimulation.couplings"

/* The formulation's own settings: standards, then what the lists say in turn (NULL: nothing), then what follows from others. The shared
 * settings must be set. */
void yoke_coupling_own(const yoke_formulation_ops *ops, int n_lists, const yoke_settings *const *lists,
                       yoke_coupling_settings *settings);

/* Formulation overlap between bodies (halo.c); the one of the list is that of chains, and both share settings and what they refuse. */
enum { YOKE_OVERLAP_N_ROWS = 1 };
extern const yoke_formulation_ops yoke_halo_formulation;
extern const yoke_setting         yoke_overlap_rows[YOKE_OVERLAP_N_ROWS];
yoke_status yoke_overlap_check(yoke_context *ctx, const yoke_coupling_def *def, const yoke_scheme_traits *scheme,
                               int order);

/* Of formulation overlap: bodies of the other side that each side holds, where there are as many. */
int yoke_overlap_halo(const yoke_coupling_settings *settings);

/* A copy of the own settings in the struct of their formulation. */
#define YOKE_OWN_SETTINGS(type, name, settings)                                                                        \
  type name;                                                                                                           \
  _Static_assert(sizeof(type) <= sizeof((settings)->own), "own settings need more room");                              \
  memcpy(&(name), (settings)->own, sizeof(name))

#endif
