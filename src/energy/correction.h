/* Correction of the energy that couplings bring out of nothing: forces on the ports that feel extrapolated forces, of elements and of joints
 * whose multipliers are extrapolated (formulation kinematic), held over a macro step.
 *
 * With the leak L of a coupling (below), the displacement dx of its ports in the last step and their velocities v at its end
 *   correct     f = -L / sum |dx . v|  v              takes surplus out and brings what is missing back (Gonzalez 13, 14)
 *   guard       the same, but only while L is positive and has grown in the last step, and on ports that do not turn back in the
 *               next one: it brings no energy in
 *   passivity   f = -L / sum |dx|^2  dx  where L > 0  passivity observer and controller (Gonzalez 4): L is that of the side which
 *               holds the element alone, with the true motion of the other one
 * A force is no larger than `energy_cap` times the newest force of the coupling on that port, translations and rotations apart, and one
 * along v is no larger than what changes v by itself within a step, by the port's instant response (most_change).
 * L is the leak of the coupling and a share of those of its two subsystems, which all their corrected couplings divide among them in proportion to
 * sum |dx . v| (passivity: evenly): of two subsystems and one coupling the deviation of the whole balance, earlier corrections included. L is 0
 * below what rounding leaves in the balance. */
#ifndef YOKE_ENERGY_CORRECTION_H
#define YOKE_ENERGY_CORRECTION_H

#include "energy/account.h"

typedef struct yoke_correction yoke_correction;

typedef struct yoke_correction_rule {
  yoke_energy_rule rule;
  double           cap;
} yoke_correction_rule;

typedef struct yoke_correction_def { /* all kept but `rules` */
  yoke_account               *account;
  const yoke_account_def     *of;           /* whose account it is */
  const yoke_correction_rule *rules;        /* [n_wires] */
  int                         first_number; /* of the values that it holds (yoke_graph_hold) */
} yoke_correction_def;

/* Gives; NULL where nothing is corrected. YOKE_E_MODEL: a coupling cannot be corrected as its rule says; with its name. */
yoke_status yoke_correction_create(yoke_context *ctx, const yoke_correction_def *def, yoke_correction **out);
void        yoke_correction_destroy(yoke_correction **correction);

/* What it asks the graph to hold: values first_number .. first_number + n_values - 1, and what they enter. */
int                    yoke_correction_n_values(const yoke_correction *correction);
const yoke_held_entry *yoke_correction_entries(const yoke_correction *correction, int *n);

/* Before a step: forces from the last step, which began at t with outputs `before` of all subsystems. */
void yoke_correction_set(yoke_correction *correction, double t, const double *before);
/* Before a step behind a start or an event: none. */
void yoke_correction_clear(yoke_correction *correction);
/* Behind a step that began at t, likewise: its work goes to the account. */
void yoke_correction_count(yoke_correction *correction, double t, const double *before);

#endif
