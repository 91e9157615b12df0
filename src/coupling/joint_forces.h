/* Joint forces: multipliers of couplings that find them from the accelerations without the joint, where such couplings share
 * subsystems and therefore depend on each other.
 *
 * Port p of a subsystem shows in its rows A_p = A_p^free + sum over its ports p' of W_pp' f_p', with the multipliers f that it
 * has felt. For all couplings k together, over both sides,
 *   sum over j of S_kj lambda_j = -s''_k + sum over p' of W_kp' f_p',    S = sum of the W of all subsystems,
 * so that nothing of the multipliers felt before is fed back. S is symmetric and positive (semi-)definite: conjugate
 * gradients with the blocks of the couplings as preconditioner; dependent rows get a consistent solution. */
#ifndef YOKE_COUPLING_JOINT_FORCES_H
#define YOKE_COUPLING_JOINT_FORCES_H

#include "coupling/graph_internal.h"

/* *out NULL: no subsystem has two such couplings, or one of them cannot show its responses (a warning says so). */
yoke_status yoke_joint_forces_create(yoke_context *ctx, const yoke_graph *graph, yoke_joint_forces **out);
void        yoke_joint_forces_destroy(yoke_joint_forces **forces);

/* Multipliers from y_new and the values of the channels that they belong to (`applied`), for a stage (formulation.h). */
yoke_status yoke_joint_forces_find(yoke_joint_forces *forces, const yoke_graph *graph, int stage);

/* Those of a wire of the graph for the stage that was found last; NULL: it finds its own. */
const double *yoke_joint_forces_of(const yoke_joint_forces *forces, int wire);

#endif
