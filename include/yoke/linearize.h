/* Linearisation of a model: its modes, and its matrices as a file. One call does what `yoke info --modes` and `--linearize` do. */
#ifndef YOKE_LINEARIZE_H
#define YOKE_LINEARIZE_H

#include <yoke/export.h>
#include <yoke/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/* About which state. */
typedef enum yoke_linearize_at {
  YOKE_AT_EQUILIBRIUM, /* the rest state that the model comes to from its start, as if heavily damped; loads as at the start time */
  YOKE_AT_START /* the assembled start, at rest or not */
} yoke_linearize_at;

typedef enum yoke_mode_kind {
  YOKE_MODE_RIGID,       /* moves without a restoring force */
  YOKE_MODE_OSCILLATION, /* a pair of complex eigenvalues */
  YOKE_MODE_DECAY,       /* one real eigenvalue < 0 */
  YOKE_MODE_GROWTH,      /* one real eigenvalue > 0: unstable */
  YOKE_MODE_FLUTTER      /* a pair with real part > 0: unstable */
} yoke_mode_kind;

/* "rigid-body", "oscillation", "decay", "growth", "flutter" */
YOKE_API const char *yoke_mode_kind_name(yoke_mode_kind kind);

enum { YOKE_MODE_SHAPE = 4 };

typedef struct yoke_mode_motion {
  char   name[72];  /* "upper.angle"; turns of rigid bodies about their own axes: "top.turn x" */
  double amplitude; /* relative to the first: m or rad */
  double phase;     /* [rad] against the first, in (-pi, pi] */
} yoke_mode_motion;

typedef struct yoke_mode {
  yoke_mode_kind   kind;
  double           re, im;    /* eigenvalue [1/s], im >= 0 */
  double           frequency; /* |eigenvalue| / 2 pi [Hz] */
  double           damping;   /* ratio: -re / |eigenvalue|; 0 for rigid-body modes */
  int              n_shape;   /* largest motions, by kinetic energy */
  yoke_mode_motion shape[YOKE_MODE_SHAPE];
} yoke_mode;

typedef struct yoke_modes {
  yoke_linearize_at at;
  int               n_freedoms, n; /* n modes, slowest first */
  yoke_mode        *modes;
} yoke_modes;

/* Reads model, sets and the other overrides of `options`; a split plays no part. YOKE_E_NOT_CONVERGED: no rest state was found;
 * YOKE_E_USAGE: too many freedoms. Gives what `modes` holds; release it in any case. */
YOKE_API yoke_status yoke_modes_compute(yoke_context *ctx, const yoke_run_options *options, yoke_linearize_at at,
                                        yoke_modes *modes);
YOKE_API void        yoke_modes_release(yoke_modes *modes);

/* x' = f0 + A x + B u, y = y0 + C x + D u about that state, written to `path`: HDF5 if it ends in .h5 or .hdf5, CSV (one entry per line)
 * if in .csv, else plain text. x: independent coordinates and their velocities, as deviations; u: a force or moment on every
 * body; y: positions and velocities of all bodies. */
YOKE_API yoke_status yoke_linearize_write(yoke_context *ctx, const yoke_run_options *options, yoke_linearize_at at,
                                          const char *path);

#ifdef __cplusplus
}
#endif
#endif
