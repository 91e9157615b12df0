/* Equilibrium: a state in which a model stays at rest.
 *
 * From the start values the positions move downhill, M dq/dtau = f + G^T lambda, by implicit Euler steps in pseudo-time tau whose length
 * grows as the forces fall,
 *   [ M/dtau - K   -G^T ] [ dq     ]   [ f  ]
 *   [ G              0  ] [ lambda ] = [ -g ],      K = d(f + G^T lambda)/dq,
 * so that it ends as Newton's method (dtau -> infinity) and finds, where forces have a potential, a stable rest state rather than the
 * nearest one. A start that is at rest already is kept, stable or not.
 *
 * Load steps: with the forces f_0 of the start, rest states of f - (1 - s) f_0 are followed from the start (s = 0) to the model as it is
 * (s = 1). Where the start is the rest state without loads, f_0 are the loads and s is the share of them that acts. */
#ifndef YOKE_ANALYSIS_EQUILIBRIUM_H
#define YOKE_ANALYSIS_EQUILIBRIUM_H

#include "analysis/whole_model.h"

typedef struct yoke_equilibrium_options {
  int         n_loads;        /* load steps; 0, 1: all at once */
  bool        with_stability; /* facts->mu is wanted */
  const char *remedy;         /* end of the message where there is none: "start nearer to one" */
  const char
      *otherwise; /* where it names what drives the model, behind how to hold it: ", or ..."; NULL: nothing else */
} yoke_equilibrium_options;

typedef struct yoke_equilibrium_facts {
  int    steps;        /* in pseudo-time */
  int    n_loads;      /* load steps that were made, those that had to be halved included */
  double acceleration; /* the largest that is left, of rotations times the size of the model [m/s^2] */
  double mu;           /* < 0: the state is unstable (downhill.h) [1/s^2] */
  char   along[96];    /* the freedom that then moves most */
} yoke_equilibrium_facts;

/* Prescribed motions are no loads: what they move at the start of the run does not rest. The message names the joint, how to hold it, and
 * `otherwise` (", or ..."; NULL: nothing else). The search below takes them as they stand there. */
yoke_status yoke_equilibrium_check_motions(yoke_context *ctx, const yoke_whole_model *whole, const char *otherwise);

/* whole->q and v become the rest state (v = 0). On failure they are unchanged. YOKE_E_NOT_CONVERGED: none was found, the message names what
 * drives the model away, or the body that keeps accelerating; YOKE_E_UNSUPPORTED: no analytic Jacobian. options NULL: all at once; facts NULL: not wanted. */
yoke_status yoke_equilibrium_find(yoke_context *ctx, yoke_whole_model *whole, const yoke_equilibrium_options *options,
                                  yoke_equilibrium_facts *facts);

#endif
