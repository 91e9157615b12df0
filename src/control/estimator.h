/* Estimators of the local error of a macro step (Kraft 3.1). docs/step-control.md derives them.
 *
 *   name  scheme      error of positions and velocities of all ports, or of the coupling values u
 *   le    explicit    |y - y^|, y^ integrated with degree k + 1                           (exLE)
 *                     also md where a coupling has no constants, and with predictors by accelerations
 *   md    explicit    C^(k+1)/C^k |y - y^|, y^ integrated with a better end value         (exMD)
 *   md    corrected   (1 - C^(k+1)/C^k) |y_pre - y|, y_pre from the predictor's pass      (imMD)
 *   le    corrected   |y - y^|, y^ integrated with consistent values (trial.h); also md where a coupling has no constants
 *   cv    any         |u_pre - u|                                                         (exCV, imCV, waCV)
 *                     where a coupling has no constants: of consistent values
 * Where a comparison with consistent values has shown that errors of motions are far below the limit, some steps go without it.
 * imMD and its like compare polynomials of degree k and k + 1. Where the coupling values break inside the step (trial.h) neither is near them, and the end value
 * tells nothing of when: all of C^k H (u_pre - u) counts, 1/(1 - C^(k+1)/C^k) times as much.
 * Signals count by the motions that they lead to, which are among the ports; those that nothing shows the effect of by the mean of their error
 * over the step, in the norm of coupling values.
 * exLE and exMD need k + 2 points of the past; while there are fewer, cv stands in.
 * C^k are C_pos^k for positions and C_vel^k for velocities (error_constants.h). */
#ifndef YOKE_CONTROL_ESTIMATOR_H
#define YOKE_CONTROL_ESTIMATOR_H

#include "control/error_constants.h"
#include "control/error_test.h"
#include "coupling/trial.h"

typedef enum yoke_estimator_kind { YOKE_ESTIMATOR_MD, YOKE_ESTIMATOR_CV, YOKE_ESTIMATOR_LE } yoke_estimator_kind;

/* How an estimator is carried out for one graph. */
typedef enum yoke_estimate_way {
  YOKE_ESTIMATE_HIGHER,    /* exLE */
  YOKE_ESTIMATE_END,       /* exMD */
  YOKE_ESTIMATE_PREDICTED, /* imMD */
  YOKE_ESTIMATE_CONSISTENT,
  YOKE_ESTIMATE_COUPLING,  /* CV */
  YOKE_ESTIMATE_MULTIPLIER /* CV with consistent values: nodes of multipliers keep modes that never decay */
} yoke_estimate_way;

typedef struct yoke_tolerances {
  double rtol;
  double atol[3]; /* position, velocity, coupling; 0: rtol times a tenth of the largest value so far of the same kind */
} yoke_tolerances;

/* Largest values so far, in sizes of the model (trial.h), for absolute tolerances that are not given. */
typedef struct yoke_scales {
  double position, velocity;
  double coupling[2]; /* motions, forces */
} yoke_scales;

/* Of the last accepted trial that was compared with consistent values: its length, and the norms of the errors of motions. */
typedef struct yoke_held_norms {
  double  H, position, velocity;
  int32_t n_compared; /* of them since a start, FIRST_COMPARED (estimator.c) at most */
  int32_t age;        /* accepted trials since */
} yoke_held_norms;

typedef struct yoke_estimator {
  yoke_estimate_way way;
  yoke_tolerances   tolerances;
  int               compare; /* at least one step in so many is compared with consistent values; 1, or less: all */
  yoke_scales       scales;
  yoke_held_norms   held;
} yoke_estimator;

typedef struct yoke_estimate {
  yoke_error_norms norms;
  double           position, velocity; /* those of motions alone, without what multipliers do inside the step */
  int              worst;              /* wire with the largest share */
} yoke_estimate;

/* The way for this graph, or why there is none: md and le need subsystems that can go back, all at once (no sequence), and in
 * scheme explicit no least squares. */
yoke_status yoke_estimator_choose(yoke_estimator_kind kind, const yoke_graph *graph, yoke_context *ctx,
                                  yoke_estimate_way *out);

/* Comparison that the trials of a run need. */
yoke_comparison_kind yoke_estimator_comparison(const yoke_estimator *estimator);
/* That of the next trial, of length H: consistent values alone where errors of motions are far below those that multipliers make inside the step,
 * as the last comparison says, which is less than `compare` steps old. */
yoke_comparison_kind yoke_estimator_next_comparison(const yoke_estimator *estimator, const yoke_graph *graph, double H);
/* Was the last trial not compared for this reason? Its errors of motions are those of the last comparison, as they fall with H. */
bool                 yoke_estimator_holds(const yoke_estimator *estimator, const yoke_graph *graph);

/* What the states of the next trial may miss where they follow by tangents (trial.h): a share of what its errors may be. */
void yoke_estimator_tolerate(const yoke_estimator *estimator, const yoke_graph *graph);

/* Errors of the last trial. */
void yoke_estimator_estimate(const yoke_estimator *estimator, const yoke_graph *graph, yoke_estimate *out);

/* Signed errors of one port's positions and velocities in the last trial (trial.h), [n_p + n_v]; false: this trial has none, coupling values
 * stand in. */
bool yoke_estimator_port_errors(const yoke_estimator *estimator, const yoke_graph *graph, int port, double *error);

/* By how much more the errors of the positions and velocities of a wire's two ports count in the last trial: 1 where its values are smooth. */
yoke_error_constants yoke_estimator_surplus(const yoke_graph *graph, int wire);

/* Tolerance of coupling values: rtol |u| + this. Signals are measured by their own largest value. */
double yoke_estimator_atol_coupling(const yoke_estimator *estimator, const yoke_channel_trial *channel);

/* Before the first trial: the values at the start count for the scales. */
void yoke_estimator_start(yoke_estimator *estimator, const yoke_graph *graph);

/* The trial is accepted: its values count for the scales from now on, its errors for those that are held. */
void yoke_estimator_accept(yoke_estimator *estimator, const yoke_graph *graph, const yoke_estimate *of_trial);

/* The motion breaks: nothing is held. */
void yoke_estimator_restart(yoke_estimator *estimator);

/* All that an estimator has learned. */
void yoke_estimator_pack(const yoke_estimator *estimator, yoke_pack *out);
void yoke_estimator_unpack(yoke_estimator *estimator, yoke_unpack *in);

#endif
