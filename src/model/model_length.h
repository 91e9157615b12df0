/* The length L of a model: what a gap of a joint or a rounding error of a position is measured by. */
#ifndef YOKE_MODEL_MODEL_LENGTH_H
#define YOKE_MODEL_MODEL_LENGTH_H

#include "model/model.h"

/* Diagonal of the box around the frames of all bodies and the ends of all connections, those at the ground included, as
 * they stand before the assembly [m]. A box that is a point (below 1e-9 of the largest radius of gyration, or 0) gives way
 * to that radius, then to the largest start speed times the length of the run, then to 1 m. Always positive and finite. */
double yoke_model_length(const yoke_model *model);

#endif
