/* Result of every call that can fail.
 *   0   fine
 *   > 0 recoverable: the same call with a smaller step may succeed
 *   < 0 final
 * The message that belongs to a failure is in the context (context.h). */
#ifndef YOKE_STATUS_H
#define YOKE_STATUS_H

#include <yoke/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, value, exit code of the program, text) */
#define YOKE_STATUS_LIST(X)                                                                                            \
  X(YOKE_OK, 0, 0, "done")                                                                                             \
  X(YOKE_NOT_CONVERGED, 1, 4, "an iteration did not converge")                                                         \
  X(YOKE_NON_FINITE, 2, 5, "a value is not finite")                                                                    \
  X(YOKE_SINGULAR, 3, 4, "a matrix is singular")                                                                       \
  X(YOKE_JOINT_OPEN, 4, 5, "a joint is open by more than its tolerance")                                               \
  X(YOKE_E_DIFFERENT, -1, 1, "compared results differ")                                                                \
  X(YOKE_E_USAGE, -2, 2, "wrong usage")                                                                                \
  X(YOKE_E_MODEL, -3, 3, "the model cannot be used")                                                                   \
  X(YOKE_E_STEP_TOO_SMALL, -4, 4, "the step size became too small")                                                    \
  X(YOKE_E_NOT_CONVERGED, -5, 4, "an iteration did not converge at the smallest step")                                 \
  X(YOKE_E_UNSTABLE, -6, 5, "values are not finite or the run is unstable")                                            \
  X(YOKE_E_SUBSYSTEM, -7, 6, "a subsystem failed")                                                                     \
  X(YOKE_E_IO, -8, 7, "input or output failed")                                                                        \
  X(YOKE_E_MEMORY, -9, 7, "out of memory")                                                                             \
  X(YOKE_E_INTERRUPTED, -10, 8, "interrupted")                                                                         \
  X(YOKE_E_UNSUPPORTED, -11, 2, "this build or this object cannot do that")                                            \
  X(YOKE_E_INTERNAL, -12, 70, "internal error")

typedef enum yoke_status {
#define YOKE_STATUS_ENUM(name, value, exit_code, text) name = value,
  YOKE_STATUS_LIST(YOKE_STATUS_ENUM)
#undef YOKE_STATUS_ENUM
} yoke_status;

YOKE_API const char *yoke_status_name(yoke_status status);      /* "YOKE_E_MODEL" */
YOKE_API const char *yoke_status_text(yoke_status status);      /* "the model cannot be used" */
YOKE_API int         yoke_status_exit_code(yoke_status status); /* what the program returns to the shell */

/* Leave the calling function when a call failed. */
#define YOKE_TRY(call)                                                                                                 \
  do {                                                                                                                 \
    const yoke_status yoke_try_status = (call);                                                                        \
    if (yoke_try_status != YOKE_OK) return yoke_try_status;                                                            \
  } while (0)

#ifdef __cplusplus
}
#endif
#endif
