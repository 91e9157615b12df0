/* Redundancy: rows of G that follow from other rows of G, and their multipliers.
 *
 * A row g_r that depends on the others, g_r = sum_i x_i g_i, adds nothing to the constraints; its multiplier can be moved to
 * the rows it follows from without changing a force: G^T lambda stays, lambda_r becomes 0, lambda_i grows by x_i lambda_r.
 * All functions return YOKE_OK or YOKE_E_MEMORY; `work` is of equations->work_size. */
#ifndef YOKE_MODEL_REDUNDANCY_H
#define YOKE_MODEL_REDUNDANCY_H

#include "model/multibody.h"

/* Of a row of length one, in units of the freedoms (yoke_multibody_units): what is nearer to the span of others lies in it. */
#define YOKE_REDUNDANCY_DISTANCE 1e-9

/* Rows that follow from others at (t, q), no farther from their span than `distance`: *n of them, increasing, in *rows (gives).
 * `order` [ng] NULL: any choice; else a row is in the list when it follows from rows that stand before it in this order, so that
 * later ones are preferred. */
yoke_status yoke_redundancy_rows(const yoke_multibody *mb, void *work, double t, const double *q, const int *order,
                                 double distance, int *n, int **rows);

/* x [ng]: combination of the rows that are not marked in `retired` [ng] which comes nearest to the force `f` [nv], G^T x = f
 * in the sense of least squares; 0 in marked rows. */
yoke_status yoke_redundancy_express(const yoke_multibody *mb, void *work, double t, const double *q,
                                    const bool *retired, const double *f, double *x);

/* Moves the multipliers of marked rows to the others, lambda [ng]. */
yoke_status yoke_redundancy_move(const yoke_multibody *mb, void *work, double t, const double *q, const bool *retired,
                                 double *lambda);

#endif
