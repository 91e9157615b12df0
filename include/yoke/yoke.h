/* Yoke: co-simulation of mechanical systems. This header includes the whole public interface. */
#ifndef YOKE_YOKE_H
#define YOKE_YOKE_H

#include <yoke/context.h>
#include <yoke/converge.h>
#include <yoke/linearize.h>
#include <yoke/model.h>
#include <yoke/result.h>
#include <yoke/run.h>
#include <yoke/settings.h>
#include <yoke/signal.h>
#include <yoke/stability.h>
#include <yoke/status.h>

#ifndef YOKE_VERSION /* the build defines it too */
#define YOKE_VERSION "0.1.0"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the library at work; YOKE_VERSION is the one compiled against. */
const char *yoke_version(void);

/* Can this build read and write HDF5 results? */
bool yoke_has_hdf5(void);

/* The methods a model may name in `solvers.default.kind`, in the order of `yoke help solvers`. */
int         yoke_n_solvers(void);
const char *yoke_solver_name(int i);
const char *yoke_solver_summary(int i); /* one line */

/* The formulations of couplings (`cosimulation.couplings.formulation`) and the schemes (`cosimulation.scheme`). */
int         yoke_n_formulations(void);
const char *yoke_formulation_name(int i);
const char *yoke_formulation_summary(int i); /* one line */
int         yoke_n_schemes(void);
const char *yoke_scheme_name(int i);
const char *yoke_scheme_summary(int i);

/* Can this build propose splits of models that are not one chain? */
bool yoke_has_metis(void);

/* The entry of list[n] that looks most like `name`, or NULL: for "did you mean". */
const char *yoke_nearest_name(const char *name, const char *const *list, int n);

#ifdef __cplusplus
}
#endif
#endif
