#include "energies.h"

void json_energy(json *j, const yoke_energy_share *e, bool is_coupling) {
  json_begin(j, e->name, '{');
  json_number(j, "energy", e->energy);
  json_number(j, "dissipated", e->dissipated);
  if (!is_coupling) json_number(j, "external", e->external);
  json_number(j, is_coupling ? "work_1" : "work", e->work[0]);
  if (is_coupling) json_number(j, "work_2", e->work[1]);
  json_number(j, "leak", e->leak);
  if (is_coupling) json_number(j, "corrected", e->corrected);
  json_end(j, '}');
}
