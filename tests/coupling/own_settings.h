/* Settings of a coupling whose formulation has settings of its own, by their keys. */
#ifndef YOKE_TESTS_COUPLING_OWN_SETTINGS_H
#define YOKE_TESTS_COUPLING_OWN_SETTINGS_H

#include "../check.h"
#include "coupling/formulation.h"
#include "coupling/scheme.h"
#include <stdio.h>
#include <string.h>

/* One own setting; second is used by lists of two numbers only. */
static inline void own_set2(yoke_coupling_settings *s, const char *key, double first, double second) {
  const yoke_setting      *row   = yoke_setting_find(&yoke_formulation_find(s->formulation)->settings, key);
  const yoke_setting_value value = {.row = row, .number = {first, second}};
  assert_non_null(row);
  yoke_setting_store(row, &value, s->own);
}

static inline void own_set(yoke_coupling_settings *s, const char *key, double value) {
  own_set2(s, key, value, 0.0);
}

/* Standards, without a split. */
static inline yoke_coupling_settings own_start(const char *formulation) {
  yoke_coupling_settings s = {.order = 1};
  snprintf(s.formulation, sizeof s.formulation, "%s", formulation);
  yoke_coupling_own(yoke_formulation_find(formulation), 0, NULL, &s);
  return s;
}

static inline const yoke_scheme_traits *traits_of(const char *scheme) {
  return &yoke_scheme_find(scheme)->traits;
}

#endif
