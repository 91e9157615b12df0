/* Families of random models: each draws bodies, connections and loads into an empty sketch, and sets its span. */
#ifndef YOKE_TESTS_CAMPAIGN_FAMILIES_H
#define YOKE_TESTS_CAMPAIGN_FAMILIES_H

#include "sketch.h"

enum {
#define FAMILY(name) FAMILY_##name,
#include "family_list.def"
#undef FAMILY
  N_FAMILIES
};

#define FAMILY(name) void family_##name(sketch *s);
#include "family_list.def"
#undef FAMILY

/* Damping ratios that occur: none, steel, rubber, oil. */
static inline double draw_ratio(draw *d) {
  static const double ratios[] = {0.0, 0.001, 0.01, 0.05, 0.3};
  return DRAW_WORD(d, ratios);
}

#endif
