/* Inner forces, masses and energies of flexible bodies, in the freedoms of their points one after the other: v, f [n]; q is theirs, too. */
#ifndef YOKE_MODEL_FLEXIBLE_H
#define YOKE_MODEL_FLEXIBLE_H

#include "model/model.h"

/* M is a matrix of n / stride rows times the unit matrix of `stride` rows: freedom `stride` i + k belongs to row i. */
int yoke_flexible_stride(const yoke_flexible *body);

/* Entries of M, each place once or several times, whose sum counts; row and column of the small matrix. */
typedef void yoke_flexible_entry(void *user, int row, int column, double value);
void         yoke_flexible_mass(const yoke_flexible *body, yoke_flexible_entry *entry, void *user);

/* f [n] := inner forces and weight. */
void yoke_flexible_force(const yoke_flexible *body, const double gravity[3], const double *q, const double *v,
                         double *f);

/* Derivatives of these by q, or by v: blocks A [size, size] at (row, column) of f and of q or v. Which ones does not depend on the state. */
typedef void yoke_flexible_block(void *user, bool by_velocity, int row, int column, int size, const double *A);
void yoke_flexible_jacobian(const yoke_flexible *body, const double *q, const double *v, yoke_flexible_block *block,
                            void *user);

/* No less than the entries of M and of both derivatives. */
size_t yoke_flexible_n_entries(const yoke_flexible *body);

bool yoke_flexible_is_damped(const yoke_flexible *body);

/* Adds energies [J]; the power that dampers take [W]. */
void yoke_flexible_energy(const yoke_flexible *body, const double gravity[3], const double *q, const double *v,
                          double *kinetic, double *potential);
void yoke_flexible_power_lost(const yoke_flexible *body, const double *q, const double *v, double *lost);

/* Copy into an arena; out of memory is a failure of the arena. */
void yoke_flexible_copy(yoke_arena *arena, const yoke_flexible *from, yoke_flexible *out);

#endif
