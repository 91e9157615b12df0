/* Energies: what a run tells of its energy account, and the warning of a leak. */
#ifndef YOKE_API_ENERGIES_H
#define YOKE_API_ENERGIES_H

#include "api/run.h"

/* Of subsystem or coupling i, without its name. */
yoke_energy_share yoke_energies_of_part(const yoke_run_system *run, int part);
yoke_energy_share yoke_energies_of_wire(const yoke_run_system *run, int wire);
/* Can they be told, and not the total alone? */
bool              yoke_energies_are_known(const yoke_run_system *run);

/* The account of a run that has one, into its summary. */
yoke_status yoke_energies_take(yoke_context *ctx, const yoke_run_system *run, yoke_run_summary *summary);
void        yoke_energies_release(yoke_run_summary *summary);

/* Warns of a leak that is more than this share of the energy that moves. */
void yoke_energies_judge(yoke_context *ctx, const yoke_run_summary *summary, double limit);

#endif
