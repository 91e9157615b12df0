/* Energy accounts of subsystems and couplings as JSON members. */
#ifndef YOKE_CLI_ENERGIES_H
#define YOKE_CLI_ENERGIES_H

#include "json.h"
#include <yoke/result.h>

/* One object, its key the name: energy, dissipated, external, work, leak, of a coupling energy, dissipated, work_1, work_2, leak, corrected. */
void json_energy(json *j, const yoke_energy_share *share, bool is_coupling);

#endif
