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

/* "rigid-body", "oscillation", "decay", "growth", "flutter"; "" for every other number */
YOKE_API const char *yoke_mode_kind_name(yoke_mode_kind kind);

enum { YOKE_MODE_SHAPE = 4 };

typedef struct yoke_mode_motion {
  char   name[72];  /* "upper.angle"; turns of rigid bodies about their own axes: "top.turn x" */
  double amplitude; /* relative to the first: m or rad */
  double phase;     /* [rad] against the first, in (-pi, pi] */
} yoke_mode_motion;

/* Modes of a model, slowest first. */
typedef struct yoke_modes yoke_modes;

/* Reads model, sets and the other overrides of `options`; a split plays no part. Gives.
 *   YOKE_E_NOT_CONVERGED   no rest state was found
 *   YOKE_E_USAGE           too many freedoms
 * and what loading the model gives. */
YOKE_API yoke_status yoke_modes_compute(yoke_context *ctx, const yoke_run_options *options, yoke_linearize_at at,
                                        yoke_modes **out);
YOKE_API void        yoke_modes_destroy(yoke_modes **modes);

YOKE_API int yoke_modes_n(const yoke_modes *modes);
YOKE_API int yoke_modes_n_freedoms(const yoke_modes *modes);

typedef struct yoke_mode {
  size_t           size;
  yoke_mode_kind   kind;
  double           re, im;    /* eigenvalue [1/s], im >= 0 */
  double           frequency; /* |eigenvalue| / 2 pi [Hz] */
  double           damping;   /* ratio: -re / |eigenvalue|; 0 for rigid-body modes */
  int              n_shape;   /* largest motions, by kinetic energy */
  yoke_mode_motion shape[YOKE_MODE_SHAPE];
} yoke_mode;

/* Mode i < yoke_modes_n. YOKE_E_USAGE: there is no such mode. */
YOKE_API yoke_status yoke_modes_get(yoke_context *ctx, const yoke_modes *modes, int i, yoke_mode *out);

/* x' = f0 + A x + B u, y = y0 + C x + D u about that state, written to `path`: HDF5 if it ends in .h5 or .hdf5, CSV (one entry per line)
 * if in .csv, else plain text. x: independent coordinates and their velocities, as deviations; u: a force or moment on every
 * body; y: positions and velocities of all bodies. Fails as yoke_modes_compute does; YOKE_E_IO: the file could not be written, YOKE_E_UNSUPPORTED: HDF5
 * in a build without it. */
YOKE_API yoke_status yoke_linearize_write(yoke_context *ctx, const yoke_run_options *options, yoke_linearize_at at,
                                          const char *path);

#ifdef __cplusplus
}
#endif
#endif
