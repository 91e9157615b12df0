/* Rows of couplings that follow from other joints of the whole model.
 *
 * A joint across the split may repeat what joints inside the subsystems, or other couplings, already say: a planar loop closed
 * by spatial hinges, two hinges side by side. Its multipliers are then not unique and the corrector's matrix is singular. Such
 * rows are found in the assembled whole model (at two positions, assembly.h), named in a warning and left out: the others hold
 * the mechanism and carry the forces. Rows inside subsystems count first, then couplings in the order of the file. */
#ifndef YOKE_MASTER_COUPLING_REDUNDANCY_H
#define YOKE_MASTER_COUPLING_REDUNDANCY_H

#include "master/whole_start.h"

/* Does a connection lie between two parts? */
bool yoke_is_coupling(const yoke_model *model, const yoke_places *places, int connection);

/* Marks start->retired. */
yoke_status yoke_coupling_redundancy_find(yoke_context *ctx, const yoke_places *places, yoke_start *start);

/* lambda [ng] of the whole model at (t, q): the multipliers of retired rows move to the rows that stay. */
yoke_status yoke_coupling_redundancy_move(const yoke_start *start, double t, const double *q, double *lambda);

#endif
