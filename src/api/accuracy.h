/* Accuracy: what a run knows of its own errors, and the judgement of a run that has ended. */
#ifndef YOKE_API_ACCURACY_H
#define YOKE_API_ACCURACY_H

#include "analysis/growth.h"
#include "api/run.h"

/* Largest accumulated error of all subsystems; NaN: not known. */
double yoke_accuracy_largest(const yoke_run_system *run);

/* Of all subsystems so far, errors [n_parts]; NaN: not known. */
void yoke_accuracy_subsystems(const yoke_run_system *run, double *errors);

/* Accumulated errors of a run, where they are known; `growth` by the couplings, as predicted, and by the motion, as measured. */
yoke_status yoke_accuracy_take(yoke_context *ctx, const yoke_run_system *run, double growth, const yoke_growth *motion,
                               yoke_run_summary *summary);
void        yoke_accuracy_release(yoke_run_summary *summary);

/* Energy of a model that nothing drives: no loads, motions, events, laws of its own or foreign subsystems. Before the run, and behind it, when the
 * summary receives the gain. */
typedef struct yoke_passive_energy {
  bool   is_known;
  double total, kinetic; /* [J] */
} yoke_passive_energy;
yoke_status yoke_accuracy_energy(yoke_context *ctx, const yoke_run_system *run,
                                 yoke_passive_energy *out); /* YOKE_E_MEMORY only */
void yoke_accuracy_gain(const yoke_passive_energy *before, const yoke_passive_energy *after, yoke_run_summary *summary);

/* All that a run that came to its end, or as far as t, has to be warned of, as one warning: the accumulated error, errors that the couplings
 * let grow, energy that comes from nowhere, steps that did not converge. Above 1 % a plain one, above 10 % a strong one ("do not use this result"), each with what would do. */
void yoke_accuracy_judge(yoke_context *ctx, const yoke_run_system *run, const yoke_run_summary *summary);

#endif
