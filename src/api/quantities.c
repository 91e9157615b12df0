#include <yoke/quantities.h>

#include "base/sized.h"
#include "model/quantities.h"
#include <stdio.h>
#include <string.h>

int yoke_n_quantities(void) {
  return yoke_n_quantity_rows();
}

yoke_status yoke_quantity_describe(int i, yoke_quantity_facts *out) {
  if (i < 0 || i >= yoke_n_quantity_rows()) return YOKE_E_USAGE;
  const yoke_quantity *row = yoke_quantity_row(i);
  yoke_quantity_facts  own = {.object       = yoke_quantity_object(row->of),
                              .unit         = row->unit,
                              .help         = row->help,
                              .is_asked_for = row->asked != NULL,
                              .is_of_motion = row->level <= YOKE_LEVEL_VELOCITY};
  for (int k = 0; k < row->n; ++k) {
    const size_t used = strlen(own.names);
    snprintf(own.names + used, sizeof own.names - used, "%s%s", k > 0 ? " " : "", row->name[k]);
  }
  return yoke_sized_show(NULL, out, &own, sizeof own, "yoke_quantity_facts");
}
