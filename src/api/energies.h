/* Energies: what a run tells of its energy account, and the warning of a leak. */
#ifndef YOKE_API_ENERGIES_H
#define YOKE_API_ENERGIES_H

#include "api/run.h"

/* The account of a run that has one, into its summary. */
yoke_status yoke_energies_take(yoke_context *ctx, const yoke_run_system *run, yoke_run_summary *summary);
void        yoke_energies_release(yoke_run_summary *summary);

/* Warns of a leak that is more than a tenth of the energy that moves. */
void yoke_energies_judge(yoke_context *ctx, const yoke_run_summary *summary);

#endif
