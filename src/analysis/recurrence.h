/* Recurrence: one macro step of a coupling method on a linear test model as a matrix, Y_{N+1} = M Y_N, in closed form.
 *
 * Subsystems are integrated exactly and the coupling conditions solved exactly, so M is the method itself, without solver errors. It is
 * written independently of the engine (graph.h) and is its oracle: both must give the same spectrum. The spectral radius of M
 * (spectrum.h) decides stability: stable when rho <= 1 up to rounding.
 *
 * Y = (x1, v1, x2, v2; then, as far as the method looks back, the coupling variables at T_N, T_{N-1}, ... and accelerations), all
 * dimensionless: time in macro steps H, mass in m1. Entries that a method does not need are left out; the others may add eigenvalues 0. */
#ifndef YOKE_ANALYSIS_RECURRENCE_H
#define YOKE_ANALYSIS_RECURRENCE_H

#include "analysis/test_model.h"
#include <yoke/context.h>

enum { YOKE_RECURRENCE_MAX = 72 };

/* Is the combination defined? Otherwise YOKE_E_USAGE and the reason in ctx. */
yoke_status yoke_recurrence_check(yoke_context *ctx, yoke_test_model_kind kind, const yoke_test_method *method);

/* M of one macro step, [n, n] row major, n <= YOKE_RECURRENCE_MAX; room for YOKE_RECURRENCE_MAX^2 numbers is needed. Reentrant; ctx may be NULL.
 * YOKE_E_USAGE: not defined, or a parameter out of range; YOKE_SINGULAR: the conditions do not determine the coupling variables at
 * these parameters (a pole of rho); YOKE_NON_FINITE: overflow. */
yoke_status yoke_recurrence_build(yoke_context *ctx, const yoke_test_model *model, const yoke_test_method *method,
                                  double *matrix, int *n);

/* Build and take the spectral radius. A pole gives *rho = INFINITY and YOKE_OK. */
yoke_status yoke_recurrence_radius(yoke_context *ctx, const yoke_test_model *model, const yoke_test_method *method,
                                   double *rho);

/* Zero-stability: the spectral radius for H -> 0 without the rigid-body motion, which is the same for all methods. Two-mass-rigid: the
 * relative motion with c = d = 0 (Li 8.5, Lu 4.8). Kinematic: the loop of force and acceleration (Schneider 36, 54). Depends on the
 * method and, kinematic only, on the mass ratio; of the model no other parameter is used. */
yoke_status yoke_recurrence_zero_radius(yoke_context *ctx, const yoke_test_model *model, const yoke_test_method *method,
                                        double *rho);

#endif
