/* The length L of a model: what a gap of a joint or a rounding error of a position is measured by; and its time and force, by which with L
 * all is measured that couplings carry, while it is still 0. */
#ifndef YOKE_MODEL_MODEL_LENGTH_H
#define YOKE_MODEL_MODEL_LENGTH_H

#include "model/model.h"

/* Diagonal of the box around the frames of all bodies and the ends of all connections, those at the ground included, as
 * they stand before the assembly [m]. A box that is a point (below 1e-9 of the largest radius of gyration, or 0) gives way
 * to that radius, then to the largest start speed times the length of the run, then to 1 m. Always positive and finite. */
double yoke_model_length(const yoke_model *model);

/* Origin r of a frame of a body or of the ground as the user placed it, and the rotation R of its body (row major); masses of a chain lie on the
 * x axis. */
void yoke_model_frame_at_start(const yoke_model *model, const yoke_frame *frame, double r[3], double R[9]);

/* L; T = sqrt(L / a) [s] with the acceleration a of gravity, or V^2 / L of the largest start speed V if that is more, or, where there is neither,
 * L / span^2 of the run; F = m L / T^2 [N] with the mean mass m of all bodies, 0 without a mass. A model and the same model in other units of
 * length, mass and time have the same sizes, in these units. */
typedef struct yoke_model_sizes {
  double length, time, force;
} yoke_model_sizes;
yoke_model_sizes yoke_model_sizes_of(const yoke_model *model);

#endif
