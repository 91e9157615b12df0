/* Constraint: a rigid joint across a split; the part that its formulations share.
 *
 * A force side is driven by the multipliers lambda of the joint's rows: it applies its own share, lambda times the row's gradient
 * on its side. A displacement side follows the rows by its accelerations, as the channels beta say, and reports the multipliers mu
 * that this takes:
 *   side 1: grad1 . A1 [+ gamma] + beta = 0,      side 2: grad2 . A2 [+ gamma] - beta = 0.
 * gamma, what s'' has beside the accelerations, belongs to the displacement side, to side 2 when both are.
 * Where a gradient or gamma depends on the motion of the other side, the side gets copies of those components of p and v.
 *   decomposition               channels by rows     conditions by rows
 *   force/force                 lambda               sums of levels
 *   force/displacement          lambda, beta         sums of levels; mu2 - lambda = 0
 *   displacement/force          lambda, beta         sums of levels; mu1 - lambda = 0
 *   displacement/displacement   beta                 mu2 - mu1 = 0
 * Copies come behind them: copy = original. Behind the copies come, where a formulation has them, second multipliers mu of all rows,
 * which no condition reads: they move the bodies, q' = T (v + mu grad).
 *
 * Levels of row i, all with the TRUE outputs of both ports at T_{N+1} (V, A: velocities and accelerations of the frames):
 *   s = value - offset,   s' = grad . V,   s'' = grad . A + gamma.
 * A formulation states, per row, n_sums sums  w0 s + w1 s' + w2 s''  = 0, one for each node of its multiplier (n_sums = 1
 * but for force/force). */
#ifndef YOKE_COUPLING_CONSTRAINT_H
#define YOKE_COUPLING_CONSTRAINT_H

#include "coupling/formulation.h"

/* How a copy follows its original over the step. */
typedef enum yoke_copy_rule {
  /* End layout, copy = p at T_{N+1}. */
  YOKE_COPY_END,
  /* Parabola through start, middle and end: copy = p at T_{N+1}, and the mean over the step is that of the cubic with
   * the values and derivatives of p at both ends,
   *   1/H integral copy = (p_N + p_{N+1}) / 2 + H (p'_N - p'_{N+1}) / 12,   p' = T v.
   * That puts the middle node on the cubic; the parabola is off by O(H^3), but its mean by O(H^5) only, so that states
   * driven through it keep global order 4. */
  YOKE_COPY_PARABOLA
} yoke_copy_rule;

typedef struct yoke_constraint {
  yoke_arena                arena;
  const yoke_joint_element *joint;
  const yoke_port_shape    *shape[2];
  yoke_copy_rule            copy_rule;
  yoke_decomposition        decomposition;
  int                       n_rows, n_channels;
  int                       i_beta, i_copies, i_mu; /* first channels of these kinds; i_beta = i_copies: none */
  yoke_channel             *channel;                /* [n_channels] */
  int                      *copy_of;                /* [n_channels] side whose motion a copy follows; -1: no copy */
} yoke_constraint;

/* The conditions of every row: sum j is sum over levels l of weight[j][l] s^(l). */
typedef struct yoke_row_sums {
  int    n;
  double weight[YOKE_JOINT_LEVELS][YOKE_JOINT_LEVELS];
} yoke_row_sums;

/* Refusals that all formulations have in common; up to `most_displaced` sides may follow a motion. */
yoke_status yoke_constraint_check(yoke_context *ctx, const yoke_coupling_def *def, const yoke_scheme_traits *scheme,
                                  int most_displaced);

/* Channels of the joint of `def`, which is kept. `extended`: the multipliers have inner nodes; `has_mu`: every row has a second
 * multiplier, behind all others. */
yoke_status yoke_constraint_set(yoke_context *ctx, const yoke_coupling_def *def, bool extended, yoke_copy_rule rule,
                                bool has_mu, yoke_constraint *out);
void        yoke_constraint_free(yoke_constraint *constraint);

/* Must a force side know component k of the other port's p to apply its share of the multipliers? */
bool yoke_joint_needs_p(const yoke_joint_element *joint, const yoke_port_shape *const shape[2], int side, int k);

/* Is this side a displacement side? Which extras its port needs. */
bool yoke_constraint_is_displaced(const yoke_constraint *constraint, int side);
int  yoke_constraint_extras(const yoke_constraint *constraint, int side);
/* Where a displacement side shows the reaction of row i, among the outputs of its port. */
int  yoke_constraint_reaction_at(const yoke_constraint *constraint, int side, int i);

bool yoke_constraint_is_copy(const yoke_constraint *constraint, int channel);
void yoke_constraint_copy_layout(const yoke_constraint *constraint, int degree, yoke_layout *out);

/* Conditions: row by row and sum by sum, then reactions row by row, then copy by copy; and their derivatives (analytic). */
int                yoke_constraint_n_conditions(const yoke_constraint *constraint, int n_sums);
void               yoke_constraint_residual(const yoke_constraint *constraint, const yoke_coupling_view *view,
                                            const yoke_row_sums *sums, double *c);
/* What condition c of a formulation with n_sums sums per row compares (formulation.h). Sums of levels have no unit of their own. */
yoke_residual_unit yoke_constraint_unit(const yoke_constraint *constraint, int n_sums, int c);
void               yoke_constraint_jacobian(const yoke_constraint *constraint, const yoke_coupling_view *view,
                                            const yoke_row_sums *sums, double *dc_du, double *dc_du_dot, double *dc_du_integral,
                                            double *dc_dy1, double *dc_dy2);

/* yoke_instant_form, yoke_shown_form (formulation.h). */
int yoke_constraint_instant(const yoke_constraint *constraint, const double *const y[2], const double *u_now, double *u,
                            int *unknown, double *c, double *dc_du, double *dc_dy1, double *dc_dy2,
                            yoke_arena *scratch);
void yoke_constraint_shown(const yoke_constraint *constraint, const double *u, const double *const y[2],
                           double *const force[2], double *g);
/* The forces alone. */
void yoke_constraint_felt(const yoke_constraint *constraint, const double *u, const double *const y[2],
                          double *const force[2]);

#endif
