/* Chain kernel: the forces of a row of masses on contiguous arrays, the fast path of large models.
 * One fused loop per block of masses (stage sum, force, error norm), vectorised by the compiler through
 * function multiversioning; same bits on every CPU (no contraction, fixed order of sums). */
#ifndef YOKE_MODEL_CHAIN_KERNEL_H
#define YOKE_MODEL_CHAIN_KERNEL_H

#include "model/equations.h"
#include "model/model.h"

typedef struct yoke_chain_kernel yoke_chain_kernel; /* constant after creation */

yoke_status yoke_chain_kernel_create(yoke_context *ctx, const yoke_chain *chain /* borrows */, yoke_chain_kernel **out);
void        yoke_chain_kernel_destroy(yoke_chain_kernel **kernel);

const double *yoke_chain_kernel_mass(const yoke_chain_kernel *kernel); /* [n] */

/* f [n] := forces on the masses at (t, x, v): springs, dampers, loads and gravity gx [m/s^2]. YOKE_NON_FINITE when a contact overflows. */
yoke_status yoke_chain_kernel_force(const yoke_chain_kernel *kernel, double t, double gx, const double *x,
                                    const double *v, double *f);

/* Tridiagonal df/dx and df/dv: `lower[i]` is row i column i-1 (lower[0] unused), `diagonal`, `upper[i]` row i column i+1; each [n]. */
void yoke_chain_kernel_jacobian(const yoke_chain_kernel *kernel, double t, const double *x, const double *v,
                                double *lower_x, double *diagonal_x, double *upper_x, double *lower_v,
                                double *diagonal_v, double *upper_v);

/* Energies [J]. Gravity and contacts are in the potential. */
void yoke_chain_kernel_energy(const yoke_chain_kernel *kernel, double gx, const double *x, const double *v,
                              double *kinetic, double *potential);

/* Masses [*n] on which loads work that have a potential or belong to copies are not among them; powers [n] at n times t of their velocities v [n, *n] [W]. */
const int   *yoke_chain_kernel_loaded(const yoke_chain_kernel *kernel, int *n);
yoke_loading yoke_chain_kernel_loading(const yoke_chain_kernel *kernel, double t, double *until, uint64_t *acting);
void         yoke_chain_kernel_load_powers(const yoke_chain_kernel *kernel, uint64_t some, int n, const double *t,
                                           const double *v, double *power);
/* Powers [W]: lost in dampers (>= 0), supplied by loads. */
void         yoke_chain_kernel_powers(const yoke_chain_kernel *kernel, double t, const double *x, const double *v,
                                      double *power_dissipated, double *power_external);

/* Equations of a model that is one chain and nothing else: is_second_order, fused `stage`, GGL form x = (q, v) for implicit integrators,
 * `linear` when C = D = 0, there is no contact and loads are constant in time. Input k is a force on mass
 * input_mass[k] (0-based), times input_factor[k] (NULL: 1). */
yoke_status yoke_chain_equations_create(yoke_context *ctx, const yoke_chain *chain, double gx, int n_inputs,
                                        const int *input_mass, const double *input_factor, yoke_equations *out);
/* The kernel inside such equations; NULL for others. */
const yoke_chain_kernel *yoke_chain_equations_kernel(const yoke_equations *equations);

#endif
