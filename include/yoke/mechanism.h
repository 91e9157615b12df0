/* Mechanism: bodies, joints and springs of a result as a drawing that may move. */
#ifndef YOKE_MECHANISM_H
#define YOKE_MECHANISM_H

#include <yoke/context.h>
#include <yoke/export.h>
#include <yoke/result.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All is borrowed for the call. Bodies are lines between their frames, in the colour of their subsystem; couplings are marked. Planar models
 * are drawn in their plane, others in a parallel projection with gravity downwards. */
typedef struct yoke_mechanism {
  size_t size;
  yoke_result
      *result;  /* HDF5, which holds its model; positions and orientations of the bodies are among its quantities */
  int  n_times; /* 0: six, evenly over the result */
  const double *times; /* [s]; the nearest output time is drawn */
  bool          moves; /* instead: one drawing that moves through all times, again and again */
  const char   *title; /* NULL: the name of the model */
} yoke_mechanism;

/* An SVG picture, or a page that holds it where the name ends in .html. An existing file is replaced.
 *   YOKE_E_USAGE         a name with another ending
 *   YOKE_E_UNSUPPORTED   the result does not hold its model or the motion of a body, which is named; nothing to draw but masses on a line
 *   YOKE_E_IO            the result cannot be read, or the file cannot be written */
YOKE_API yoke_status yoke_mechanism_write(yoke_context *ctx, const yoke_mechanism *mechanism, const char *path);

#ifdef __cplusplus
}
#endif
#endif
