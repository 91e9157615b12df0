/* Yoke: co-simulation of mechanical systems. This header includes the whole public interface. */
#ifndef YOKE_YOKE_H
#define YOKE_YOKE_H

#include <yoke/context.h>
#include <yoke/converge.h>
#include <yoke/curves.h>
#include <yoke/draft.h>
#include <yoke/export.h>
#include <yoke/inspect.h>
#include <yoke/linearize.h>
#include <yoke/mechanism.h>
#include <yoke/model.h>
#include <yoke/quantities.h>
#include <yoke/result.h>
#include <yoke/run.h>
#include <yoke/settings.h>
#include <yoke/signal.h>
#include <yoke/simulation.h>
#include <yoke/stability.h>
#include <yoke/status.h>
#include <yoke/subsystem.h>
#include <yoke/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the library at work; YOKE_VERSION is the one compiled against. */
YOKE_API const char *yoke_version(void);

/* Can this build read and write HDF5 results? */
YOKE_API bool yoke_has_hdf5(void);

/* What results depend on in their last bits beyond the library: recorded in result files. "": not known. */
typedef struct yoke_machine_facts {
  size_t size;
  char   processor[64];    /* "AMD EPYC 7B13" */
  char   features[64];     /* "avx avx2 fma": instructions that kernels are chosen by */
  char   math_library[32]; /* "glibc 2.36" */
  char   blas[96];         /* library, version and kernel: "OpenBLAS 0.3.21 Haswell" */
} yoke_machine_facts;
/* YOKE_E_USAGE: a size that cannot be. */
YOKE_API yoke_status yoke_machine_facts_get(yoke_context *ctx, yoke_machine_facts *out);

/* The methods a model may name in `solvers.default.kind`, number i < n in the order of `yoke help solvers`; NULL where there is no such number. Texts belong
 * to the library. */
YOKE_API int         yoke_n_solvers(void);
YOKE_API const char *yoke_solver_name(int i);
YOKE_API const char *yoke_solver_summary(int i); /* one line */

/* The formulations of couplings (`cosimulation.couplings.formulation`) and the schemes (`cosimulation.scheme`), likewise. */
YOKE_API int         yoke_n_formulations(void);
YOKE_API const char *yoke_formulation_name(int i);
YOKE_API const char *yoke_formulation_summary(int i); /* one line */
YOKE_API int         yoke_n_schemes(void);
YOKE_API const char *yoke_scheme_name(int i);
YOKE_API const char *yoke_scheme_summary(int i);

/* Can this build propose splits of models that are not one chain? */
YOKE_API bool yoke_has_metis(void);

/* The entry of list[n] that looks most like `name`, or NULL: for "did you mean". Borrows. */
YOKE_API const char *yoke_nearest_name(const char *name, const char *const *list, int n);

#ifdef __cplusplus
}
#endif
#endif
