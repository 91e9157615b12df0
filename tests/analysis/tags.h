/* Methods by the tags of the method specification: decomposition FF, FD, DD and family
 *   two-mass        E explicit, O implicit, D and I extended
 *   two-mass-rigid  B baumgarte, W weighted, P projection, 2 and 1 stabilized index 2 and 1, M stabilized-index-2-mu */
#ifndef YOKE_TESTS_ANALYSIS_TAGS_H
#define YOKE_TESTS_ANALYSIS_TAGS_H

#include "analysis/map.h"
#include "analysis/recurrence.h"
#include <string.h>

static inline yoke_test_method method_of(const char *decomposition, char family, int order) {
  yoke_test_method method = yoke_test_method_default();
  method.order            = order;
  method.decomposition    = strcmp(decomposition, "FF") == 0   ? YOKE_FORCE_FORCE
                            : strcmp(decomposition, "FD") == 0 ? YOKE_FORCE_DISPLACEMENT
                            : strcmp(decomposition, "DF") == 0 ? YOKE_DISPLACEMENT_FORCE
                                                               : YOKE_DISPLACEMENT_DISPLACEMENT;
  switch (family) {
  case 'E': method.scheme = "explicit"; break;
  case 'D': method.extension = YOKE_EXTENSION_D; break;
  case 'I': method.extension = YOKE_EXTENSION_I; break;
  case 'B': method.formulation = "baumgarte"; break;
  case 'W': method.formulation = "weighted"; break;
  case 'P': method.formulation = "projection"; break;
  case '2': method.formulation = "stabilized-index-2"; break;
  case '1': method.formulation = "stabilized-index-1"; break;
  case 'M': method.formulation = "stabilized-index-2-mu"; break;
  default: break;
  }
  return method;
}

static inline yoke_test_model_kind kind_of(char family) {
  return strchr("EODI", family) != NULL ? YOKE_TWO_MASS : YOKE_TWO_MASS_RIGID;
}

/* Spectral radius at the dimensionless eigenvalue (re, im); the ratios are am, ar = arc, ai = aic. */
static inline double radius_at(char family, const yoke_test_method *method, double re, double im,
                               const double ratios[3]) {
  const yoke_test_ratios r = {re, im, ratios[0], ratios[1], ratios[2], ratios[1], ratios[2]};
  const yoke_test_model  m = yoke_test_model_from_ratios(kind_of(family), &r);
  double                 rho;
  if (yoke_recurrence_radius(NULL, &m, method, &rho) != YOKE_OK) return -1.0;
  return rho;
}

static const double symmetrical[3] = {1.0, 1.0, 1.0}, unsymmetrical[3] = {10.0, 10.0, 10.0};

#endif
