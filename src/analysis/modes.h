/* Modes: eigenvalues and shapes of a linearised model.
 *
 * lambda of A with eigenvector x = (xi, eta): natural frequency |lambda| / 2 pi, damping ratio -Re lambda / |lambda|. A motion with
 * lambda = 0, one per vector of the null space of A, is a rigid-body mode: the model can stay anywhere along it. Shapes are motions of
 * bodies, N xi, the component with most kinetic energy first and equal to 1. */
#ifndef YOKE_ANALYSIS_MODES_H
#define YOKE_ANALYSIS_MODES_H

#include "analysis/linearize.h"

typedef enum yoke_eigenmode_kind {
  YOKE_EIGENMODE_RIGID,       /* moves without a restoring force */
  YOKE_EIGENMODE_OSCILLATION, /* a pair of complex eigenvalues */
  YOKE_EIGENMODE_DECAY,       /* one real eigenvalue < 0 */
  YOKE_EIGENMODE_GROWTH,      /* one real eigenvalue > 0: unstable */
  YOKE_EIGENMODE_FLUTTER      /* a pair with real part > 0: unstable */
} yoke_eigenmode_kind;

enum { YOKE_EIGENMODE_SHAPE = 4, YOKE_EIGENMODE_NAME = 72 };

typedef struct yoke_eigenmotion {
  char   name[YOKE_EIGENMODE_NAME]; /* "upper.angle" */
  double amplitude;                 /* relative to the first: m or rad */
  double phase;                     /* [rad] against the first, in (-pi, pi] */
} yoke_eigenmotion;

typedef struct yoke_eigenmode {
  yoke_eigenmode_kind kind;
  double              re, im;    /* eigenvalue [1/s], im >= 0 */
  double              frequency; /* [Hz] */
  double              damping;   /* ratio; 0 for rigid-body modes */
  int                 n_shape;
  yoke_eigenmotion    shape[YOKE_EIGENMODE_SHAPE];
} yoke_eigenmode;

typedef struct yoke_eigenmodes {
  int             n_freedoms, n; /* n modes, slowest first */
  yoke_eigenmode *modes;
} yoke_eigenmodes;

/* Gives. */
yoke_status yoke_eigenmodes_of(yoke_context *ctx, const yoke_model *model, const yoke_multibody *mb,
                               const yoke_linearization *linearization, yoke_eigenmodes *out);
void        yoke_eigenmodes_release(yoke_eigenmodes *modes);

#endif
