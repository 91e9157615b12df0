/* Trial: what step control sets before a macro step and sees of it before it is accepted.
 *
 * Comparison integrations: every subsystem is integrated once more from T_N, on a state of its own, with other inputs. They
 * are polynomials in s = (t - T_N)/H, one per channel:
 *   higher      degree k + 1 through the k + 2 newest values                          (exLE, Kraft 3.2, 3.3);
 *               predictors by accelerations: the motion continued by accelerations, one order better than the step
 *   end         degree k through the k newest and the end value that `higher` predicts (exMD, Kraft 3.7, 3.8)
 *   consistent  through the values that belong to the outputs at T_{N+1} and the macro points before it, degree as the
 *               formulations ask (formulation.h, error_rule)
 *   values      the consistent values alone, nothing is integrated
 * Of the difference to a comparison `consistent` the part along the rows of joints counts by 3 % where a formulation takes it back in later steps
 * (formulation.h, is_eased): e = P_T e + P_N e, P_N = N S^-1 R with N = da/du, R = ds''/da, S = R N.
 * The first two run beside the first pass of an explicit step, the last after the last pass of any step. */
#ifndef YOKE_COUPLING_TRIAL_H
#define YOKE_COUPLING_TRIAL_H

#include "coupling/graph.h"

typedef enum yoke_comparison_kind {
  YOKE_COMPARISON_NONE,
  YOKE_COMPARISON_HIGHER,
  YOKE_COMPARISON_END,
  YOKE_COMPARISON_CONSISTENT,
  YOKE_COMPARISON_VALUES
} yoke_comparison_kind;

/* Before the first step: this graph is driven by step control. The degree is at most (points of the past) - 1, jumps do
 * not count as divergence, and states for comparison integrations are allocated when `compares`. */
yoke_status yoke_graph_control(yoke_graph *graph, bool compares, yoke_context *ctx);

/* The graph is monitored (setting `monitor`): more of the past is kept and outputs of the predictor's pass, or where it `compares` states
 * for comparison integrations are allocated. Changes nothing of its steps. Before the first step, behind yoke_graph_control if there is one. */
yoke_status yoke_graph_monitor(yoke_graph *graph, bool compares, yoke_context *ctx);

/* States follow corrected coupling values by their tangents where that misses little (state_shift.h). Behind yoke_graph_control; nothing happens where
 * subsystems or couplings have no such way. What a trial may miss is set before it: (p, v) of ports 0 to 2 n_wires - 1 one behind the other, in
 * tolerated; NULL: none is made. */
yoke_status yoke_graph_take_shifts(yoke_graph *graph, yoke_context *ctx);
double     *yoke_graph_tolerated(const yoke_graph *graph);

/* Between a trial and its acceptance, in a graph that is monitored and compares: a comparison `consistent`. `look` belongs to every
 * step, whether it is compared or not: consistent values of multipliers, without an integration; where they cannot be found the values in force stand
 * in. Subsystems that cannot go back are left out.
 * Steps behind a start may take all values of the past that there are, and a polynomial through them and the end is that of the
 * step. There the comparison is of the degree below: what it differs by is not the error of this step but, where steps are equally long, about that of
 * the step before. */
yoke_status yoke_graph_look(yoke_graph *graph); /* YOKE_E_MEMORY only */
yoke_status yoke_graph_compare(yoke_graph *graph, yoke_step_statistics *statistics, yoke_context *ctx);
bool        yoke_graph_takes_whole_past(const yoke_graph *graph);

/* How far the coupling values that enter each subsystem are off from predicted ones, behind `look`: jumps [n_subsystems] are the largest
 * |u_pre - u| / size, size [n_channels] > 0 given. */
void yoke_graph_jumps(const yoke_graph *graph, const double *size, double *jumps);

/* How far the coupling values of a wire are from a polynomial in the last trial, 0 to 1: r^8, r what extrapolation of degree k misses at its end in what
 * the degrees below miss, about omega H of an oscillation. Where k misses more than they do, their share in it. 1 at a jump or a kink inside the step (a
 * contact that opens), where a mode that the steps do not resolve grows, and where the divided difference over the new point and k + 1 of the past is
 * ten times the largest over any k + 2 points of the past. Estimates that compare degrees k and k + 1 see a part of the error only there. 0 of
 * multipliers and while the past is short. */
double yoke_graph_roughness(const yoke_graph *graph, int wire);

/* Multipliers hold their conditions at the end of a step: what they do in between cancels there, and shows inside the step only. How far the velocities
 * of ports are off there because the multipliers are not the polynomials of the comparison: |int_0^s (da/du) (u^ - u)|, the largest of all s, into
 * inner [n], n_p + n_v of each port one behind the other; 0 for positions and where there are no multipliers. false: nothing is written, because all are 0:
 * in steps without consistent values that step control asked for. */
bool yoke_graph_inner_errors(const yoke_graph *graph, int n, double *inner);

/* What errors of the multipliers do to the velocities of a port inside the step: a share of H (da/du) (u_pre - u) with consistent values, into
 * effects [n_v]; 0 where there are no multipliers. The share is end_share, less
 * where a multiplier has nodes inside the step and is smooth: what its polynomial misses between them. */
void yoke_graph_multiplier_effects(const yoke_graph *graph, int port, double end_share, double *effects);

/* For the next trial: degree (at most the order of the settings), comparison. */
void yoke_graph_set_degree(yoke_graph *graph, int degree);
void yoke_graph_set_comparison(yoke_graph *graph, yoke_comparison_kind comparison);

/* Size of a number with this unit by the length, time and force of the model: L, L/T, L/T^2, F, F L; 1 where they are not known, and of
 * numbers without a unit. */
double      yoke_graph_natural_size(const yoke_graph *graph, yoke_residual_unit unit);
/* Can every subsystem go back? Otherwise *name is the first that cannot. */
bool        yoke_graph_can_repeat(const yoke_graph *graph, const char **name);
/* Do the sides of all couplings hold copies of each other's bodies? Then every trial tells its error. */
bool        yoke_graph_is_all_overlap(const yoke_graph *graph);
/* How errors of copies fall with H, judged with care: of the narrowest halo. 0: there is none. */
int         yoke_graph_copy_order(const yoke_graph *graph);
/* Does any port show a motion? None does where all couplings are signals and nothing shows what they lead to. */
bool        yoke_graph_shows_motion(const yoke_graph *graph);
/* Do Kraft's constants hold for all couplings? Otherwise *name is the first for which they do not. */
bool        yoke_graph_has_end_values(const yoke_graph *graph, const char **name);
/* Can consistent values be found? Multipliers need subsystems with analytic responses; *name is the first without. */
bool        yoke_graph_can_compare(const yoke_graph *graph, const char **name);
/* Nodes of stabilised multipliers have a mode without effect on g and g' at the ends of steps, (e, -e, e) with half steps. It does
 * not decay, and where one correction per step leaves gaps it grows while steps get shorter: gaps cost multipliers of gap / H^2.
 * Is the newest end node off from the consistent value by more than half of the largest consistent one so far? To be asked after
 * acceptance; false where no consistent values are found. */
bool        yoke_graph_multipliers_are_off(yoke_graph *graph);
/* Then: one point of history, with consistent values. */
yoke_status yoke_graph_restart_consistent(yoke_graph *graph, yoke_context *ctx);
/* Are there multipliers, and do all go on from consistent values, so that their nodes do not remember how the run began? */
bool        yoke_graph_forgets_start(const yoke_graph *graph);
/* And is there nothing else, no force element and no signal, and are they corrected until their conditions hold? */
bool        yoke_graph_is_held_by_joints(const yoke_graph *graph);
/* Local order of the predicted coupling values at this degree: degree + 1, by accelerations one more. */
int         yoke_graph_input_order(const yoke_graph *graph, int degree);
/* Lowest local orders of positions and velocities of all couplings at this degree. */
void        yoke_graph_local_order(const yoke_graph *graph, int degree, int order[2]);

/* The last trial, also a rejected one. */
typedef struct yoke_trial {
  int           degree;      /* in force */
  double        t, H;        /* T_N, step */
  int           n_past;      /* accepted points, T_N included */
  const double *past_s;      /* [n_past] (T_{N-i} - T_N)/H */
  bool          is_compared; /* y_compared is there */
} yoke_trial;
void yoke_graph_trial(const yoke_graph *graph, yoke_trial *out);

/* One port: positions first, then velocities. Wire i, side s is port 2 i + s; behind them come the motions that signals lead to. The arrays
 * of one graph stay where they are. */
typedef struct yoke_port_trial {
  int                    wire;
  int                    n_p, n_v;
  const double          *y, *y_predicted, *y_compared; /* at T_{N+1}: last pass, first pass, comparison */
  const double          *y_accepted;                   /* at T_N */
  const yoke_port_shape *shape;                        /* of its components */
  bool                   is_felt;                      /* a motion that signals lead to */
  bool                   has_copy; /* y_compared is the copy that the other side has of it, in every trial */
  int                    subsystem;
  bool                   can_repeat; /* the subsystem; else y_compared is none */
  double                 share; /* of its errors that counts: less where its motion is prescribed anew in every step */
} yoke_port_trial;
int    yoke_graph_n_ports(const yoke_graph *graph);
void   yoke_graph_port_trial(const yoke_graph *graph, int port, yoke_port_trial *out);
/* Share of a copy's error that arrives at the nearest body that is none, where the port has a copy; of the last trial. */
double yoke_graph_fade(const yoke_graph *graph, int port);

/* One channel of all couplings. */
typedef struct yoke_channel_trial {
  bool          is_force, is_signal;
  bool          is_multiplier;    /* found by conditions on the motion, which tell what it does (effects) */
  bool          is_felt;          /* a signal: the motions that it leads to are among the ports */
  bool          is_edge;          /* it acts far from what it couples, whose copies tell its effect (has_copy) */
  double        size;             /* largest |u| of accepted steps */
  double        natural;          /* size by those of the model */
  double        value, predicted; /* at T_{N+1} */
  double        compared;         /* end value of the comparison, when there was one */
  const double *past;             /* accepted, newest first */
  double        smooth; /* value and past as they belong to the outputs: consistent ones, where they were found */
  const double *smooth_past;
  double        smooth_predicted; /* by extrapolation of degree k through smooth_past */
  int           wire;
} yoke_channel_trial;
int         yoke_graph_n_all_channels(const yoke_graph *graph);
int         yoke_graph_n_subsystems(const yoke_graph *graph);
bool        yoke_graph_feels_multipliers(const yoke_graph *graph, int subsystem); /* values that conditions find */
const char *yoke_graph_subsystem_name(const yoke_graph *graph, int subsystem);
void        yoke_graph_channel_trial(const yoke_graph *graph, int channel, yoke_channel_trial *out);
const char *yoke_graph_wire_name(const yoke_graph *graph, int wire);

#endif
