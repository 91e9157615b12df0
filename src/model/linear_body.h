/* Linear bodies: M v' = T^T (load - K d) - D v (model.h; flexible.h says what the calls do). q of a rigid point has seven components. */
#ifndef YOKE_MODEL_LINEAR_BODY_H
#define YOKE_MODEL_LINEAR_BODY_H

#include "model/flexible.h"

void yoke_linear_body_mass(const yoke_linear_body *body, int n, yoke_flexible_entry *entry, void *user);
void yoke_linear_body_force(const yoke_linear_body *body, int n, const double *q, const double *v, double *f);
void yoke_linear_body_jacobian(const yoke_linear_body *body, int n, const double *q, yoke_flexible_block *block,
                               void *user);
void yoke_linear_body_energy(const yoke_linear_body *body, int n, const double *q, const double *v, double *kinetic,
                             double *potential);
void yoke_linear_body_power_lost(const yoke_linear_body *body, int n, const double *v, double *lost);
void yoke_linear_body_copy(yoke_arena *arena, const yoke_linear_body *from, int n, yoke_linear_body *out);

#endif
