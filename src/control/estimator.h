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

typedef struct yoke_estimator {
  yoke_estimate_way way;
  yoke_tolerances   tolerances;
  yoke_scales       scales;
} yoke_estimator;

typedef struct yoke_estimate {
  yoke_error_norms norms;
  int              worst; /* wire with the largest share */
} yoke_estimate;

/* The way for this graph, or why there is none: md and le need subsystems that can go back, all at once (no sequence), and in
 * scheme explicit no least squares. */
yoke_status yoke_estimator_choose(yoke_estimator_kind kind, const yoke_graph *graph, yoke_context *ctx,
                                  yoke_estimate_way *out);

/* Comparison that the next trial needs. */
yoke_comparison_kind yoke_estimator_comparison(const yoke_estimator *estimator);

/* Errors of the last trial. */
void yoke_estimator_estimate(const yoke_estimator *estimator, const yoke_graph *graph, yoke_estimate *out);

/* Signed errors of one port's positions and velocities in the last trial (trial.h), [n_p + n_v]; false: this trial has none, coupling values
 * stand in. */
bool yoke_estimator_port_errors(const yoke_estimator *estimator, const yoke_graph *graph, int port, double *error);

/* By how much more the errors of the positions and velocities of a wire's two ports count in the last trial: 1 where its values do not break. */
yoke_error_constants yoke_estimator_surplus(const yoke_graph *graph, int wire);

/* Tolerance of coupling values: rtol |u| + this. Signals are measured by their own largest value. */
double yoke_estimator_atol_coupling(const yoke_estimator *estimator, const yoke_channel_trial *channel);

/* Before the first trial: the values at the start count for the scales. */
void yoke_estimator_start(yoke_estimator *estimator, const yoke_graph *graph);

/* The values of the accepted step count for the scales from now on. */
void yoke_estimator_accept(yoke_estimator *estimator, const yoke_graph *graph);

/* All that an estimator has learned. */
void yoke_scales_pack(const yoke_scales *scales, yoke_pack *out);
void yoke_scales_unpack(yoke_scales *scales, yoke_unpack *in);

#endif
