/* The library: its version, what this build can do, and the methods that it knows. Public part: yoke/yoke.h. */
#include <yoke/yoke.h>

#include "base/machine.h"
#include "base/sized.h"
#include "base/text.h"
#include "coupling/formulation.h"
#include "coupling/scheme.h"
#include "integrate/integrator.h"
#include <string.h>

const char *yoke_version(void) {
  return YOKE_VERSION;
}

bool yoke_has_hdf5(void) {
#ifdef YOKE_WITH_HDF5
  return true;
#else
  return false;
#endif
}

bool yoke_has_metis(void) {
#ifdef YOKE_WITH_METIS
  return true;
#else
  return false;
#endif
}

yoke_status yoke_machine_facts_get(yoke_context *ctx, yoke_machine_facts *out) {
  yoke_machine       machine;
  yoke_machine_facts own = {0};
  yoke_machine_look(&machine);
  memcpy(own.processor, machine.processor, sizeof own.processor);
  memcpy(own.features, machine.features, sizeof own.features);
  memcpy(own.math_library, machine.math_library, sizeof own.math_library);
  memcpy(own.blas, machine.blas, sizeof own.blas);
  return yoke_sized_show(ctx, out, &own, sizeof own, "yoke_machine_facts");
}

int yoke_n_solvers(void) {
  return yoke_integrator_n_methods();
}
const char *yoke_solver_name(int i) {
  return yoke_integrator_method_name(i);
}
const char *yoke_solver_summary(int i) {
  return yoke_integrator_method_summary(i);
}

int yoke_n_formulations(void) {
  return yoke_formulation_n();
}
const char *yoke_formulation_name(int i) {
  return yoke_formulation_at(i) != NULL ? yoke_formulation_at(i)->name : NULL;
}
const char *yoke_formulation_summary(int i) {
  return yoke_formulation_at(i) != NULL ? yoke_formulation_at(i)->summary : NULL;
}

int yoke_n_schemes(void) {
  return yoke_scheme_n();
}
const char *yoke_scheme_name(int i) {
  return yoke_scheme_at(i) != NULL ? yoke_scheme_at(i)->traits.name : NULL;
}
const char *yoke_scheme_summary(int i) {
  return yoke_scheme_at(i) != NULL ? yoke_scheme_at(i)->summary : NULL;
}

const char *yoke_nearest_name(const char *name, const char *const *list, int n) {
  return yoke_text_nearest(name, list, n);
}
