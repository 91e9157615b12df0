/* Plugins of the tests; PLUGIN says which one.
 *   PLUGIN_TYPES   brings mass, gain and sampled
 *   PLUGIN_TWICE   brings gain twice
 *   PLUGIN_OLD     was made for another ABI
 *   PLUGIN_OTHER   is a shared library, and no plugin
 *   PLUGIN_EMPTY   brings nothing */
#include "types.h"

enum { PLUGIN_TYPES, PLUGIN_TWICE, PLUGIN_OLD, PLUGIN_OTHER, PLUGIN_EMPTY };

#if PLUGIN_IS_ONE
static const unsigned        can = MASS_REPEAT | MASS_INSTANT | MASS_RESPONSE | MASS_ENERGY;
static yoke_user_type        types[3];
static const yoke_user_type *list[4];

const yoke_user_type *const *yoke_plugin_types(int abi) {
  types[0] = PLUGIN == PLUGIN_TWICE ? gain_type() : mass_type(&can);
  types[1] = gain_type();
  types[2] = sampled_type();
  for (int i = 0; i < 3 && PLUGIN != PLUGIN_EMPTY; ++i) list[i] = &types[i];
  return abi == (PLUGIN == PLUGIN_OLD ? 0 : YOKE_SUBSYSTEM_ABI) ? list : NULL;
}
#else
YOKE_API int plugin_is_none(void);
int          plugin_is_none(void) {
           return 0;
}
#endif
