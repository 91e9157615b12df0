/* Stability of a co-simulation before it runs.
 *
 * One macro step of the engine with a fixed H is an affine map of Y = (states of all subsystems, history of the couplings)
 * for a linear model, and close to one for a model that stays near its rest state. Its matrix, the *amplification matrix*, is
 * built by running the engine's own scheme and formulations (amplification.h); the method is stable when its spectral radius
 * rho is at most 1.
 *
 *   linear model        the model's own equations, solved exactly
 *   any other model     linear subsystems about the rest state near the start (equilibrium.h, linearize.h), solved exactly;
 *                       couplings as they are
 *
 * Prepare once, then ask for as many steps H as wanted. One object serves one thread at a time; several may live side by side. */
#ifndef YOKE_ANALYSIS_STABILITY_H
#define YOKE_ANALYSIS_STABILITY_H

#include "model/model.h"
#include <yoke/context.h>

typedef struct yoke_stability yoke_stability;

enum { YOKE_STABILITY_NAME = 96 };

/* What the amplification matrix says for one macro step. */
typedef struct yoke_stability_point {
  double H; /* [s] */
  double
      rho; /* spectral radius; +infinity when the step itself fails (coupling equations singular or not converging) */
  double re, im; /* the eigenvalue of that size (im >= 0) */
  double
      model; /* the same of the whole model over H, exp(H growth): > 1 when the model itself is unstable at its rest state */
  double
       slack; /* what rho is known to: 1e-6 for a model with rigid-body motions, whose eigenvalue 1 is a double one, 1e-7 when rigid
                 * joints are linearised, else 0 */
  int  n; /* rows of the matrix */
  /* What goes unstable first: the coupling with the largest values in the dominant eigenvector (forces, positions and velocities each
   * compared with the largest of their kind), its strongest channel, and the body with most kinetic energy. "" when rho is 0 or
   * infinite, or there are no couplings. */
  char coupling[YOKE_STABILITY_NAME]; /* name of the coupling */
  char channel[YOKE_STABILITY_NAME];  /* its channel: "force x" */
  char body[YOKE_STABILITY_NAME];     /* body that moves most: "lower" */
} yoke_stability_point;

/* Keeps `model`, which must have a split. Judged is the method that a run with a fixed step has, also where the model leaves the step to step
 * control, whose method differs (halos of long chains, scheme and degrees by the couplings). Finds the rest state where it is needed. YOKE_E_MODEL or YOKE_E_NOT_CONVERGED: no rest
 * state near the start; YOKE_E_UNSUPPORTED: the model cannot be linearised (a subsystem that is no native model, a law that jumps
 * there); YOKE_E_USAGE: more than `max_states` rows (0: 2000), or an order that is chosen during the run. Gives. */
yoke_status yoke_stability_create(yoke_context *ctx, const yoke_model *model, int max_states, yoke_stability **out);
void        yoke_stability_destroy(yoke_stability **stability);

/* Facts that do not depend on H. */
/* What is judged: "scheme semi-implicit, order 1, formulation constitutive". */
void   yoke_stability_method(const yoke_stability *stability, char *text, size_t size);
bool   yoke_stability_is_linearized(const yoke_stability *stability); /* false: the model itself is linear */
double yoke_stability_fastest(
    const yoke_stability *stability); /* largest |eigenvalue| of the whole model and of all subsystems [rad/s] */
double
yoke_stability_growth(const yoke_stability *stability); /* largest real part of the whole model's eigenvalues [1/s] */

/* The matrix at macro step H [s]. H <= 0: the model's own `cosimulation.step`. Only memory and misuse fail: a step that
 * cannot be made counts as unstable. */
yoke_status yoke_stability_at(yoke_stability *stability, double H, yoke_stability_point *out, yoke_context *ctx);

/* Is rho at most 1 (or the model's own growth), up to `tolerance` (0: 1e-9) and the slack? */
bool yoke_stability_is_stable(const yoke_stability_point *point, double tolerance);

typedef struct yoke_stability_search {
  double from, to;                               /* steps looked at [s]; 0: 1e-3 and 1e2 over yoke_stability_fastest */
  int    n;                                      /* steps of the scan, spaced evenly in log H; 0: 61 */
  double tolerance;                              /* of rho; 0: 1e-9 */
  double accuracy;                               /* relative, of the limit; 0: 1e-6 */
  bool (*progress)(void *user, int done, int n); /* NULL: none; false: stop (YOKE_E_INTERRUPTED) */
  void *user;
} yoke_stability_search;

typedef struct yoke_stability_limit_result {
  double               H;       /* the limit [s]: every step of the scan below it is stable, a step just above is not */
  bool                 is_none; /* stable up to `to`: no limit was found, H is `to` */
  bool                 is_zero; /* unstable from `from` on: H is 0 */
  double               next;    /* smallest step of the scan above the limit that is stable again; 0: none */
  yoke_stability_point above;   /* just above the limit (is_zero: at `from`): what goes unstable */
  int                  n_matrices; /* amplification matrices made */
} yoke_stability_limit_result;

/* Largest stable macro step by scanning and bisection. `search` NULL: all defaults. */
yoke_status yoke_stability_limit(yoke_stability *stability, const yoke_stability_search *search,
                                 yoke_stability_limit_result *out, yoke_context *ctx);

#endif
