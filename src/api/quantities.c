#include <yoke/quantities.h>

#include "model/quantities.h"
#include <stdio.h>
#include <string.h>

int yoke_n_quantities(void) {
  return yoke_n_quantity_rows();
}

void yoke_quantity_describe(int i, yoke_quantity_facts *out) {
  const yoke_quantity *row = yoke_quantity_row(i);
  *out                     = (yoke_quantity_facts){.object       = yoke_quantity_object(row->of),
                                                   .unit         = row->unit,
                                                   .help         = row->help,
                                                   .is_asked_for = row->asked != NULL,
                                                   .is_of_motion = row->level <= YOKE_LEVEL_VELOCITY};
  for (int k = 0; k < row->n; ++k) {
    const size_t used = strlen(out->names);
    snprintf(out->names + used, sizeof out->names - used, "%s%s", k > 0 ? " " : "", row->name[k]);
  }
}
