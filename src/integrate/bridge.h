/* Bridge: steps across a singular position.
 *
 * Near it rounding errors of the accelerations, which grow as 1 / distance, are what an error test sees, so short steps that approach it make
 * everything worse. A step across it has the usual length, or one near to it that keeps its stages away from the position, and a larger error
 * is allowed for it: no more than the noise asks for, since the least one is tried first. */
#ifndef YOKE_INTEGRATE_BRIDGE_H
#define YOKE_INTEGRATE_BRIDGE_H

#include <stdbool.h>

typedef struct yoke_bridge {
  double share; /* length of the step / usual length */
  double rtol;  /* relative error that it may have */
} yoke_bridge;

/* Attempt k = 0, 1, ... when the user asks for rtol; false: there are no more. */
bool yoke_bridge_attempt(int k, double rtol, yoke_bridge *out);

#endif
