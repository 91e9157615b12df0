/* Error tally: what the local errors of all accepted steps add up to.
 *
 * For every component y of the positions and velocities of every port
 *   E = (sum over steps |e| + largest inner error) / (2 sigma),   sigma = (largest - smallest y at macro points so far);
 * inner errors are those between macro points that the step itself takes back. The factor is measured: over random models the true error is about
 * a quarter of the plain sum in the median (tests/campaign), since errors change their sign and motions fade. Of a subsystem and of a coupling the
 * largest E of its ports counts: 0.01 is one percent of the motion's own size. What hardly moves is measured by a twentieth of the largest sigma of
 * its kind (lengths, angles, and the rates of both), or by 1/200 of what the other kind amounts to by the length of the model. */
#ifndef YOKE_CONTROL_ERROR_TALLY_H
#define YOKE_CONTROL_ERROR_TALLY_H

#include "coupling/trial.h"

typedef struct yoke_error_tally yoke_error_tally;

yoke_status yoke_error_tally_create(yoke_context *ctx, const yoke_graph *graph, yoke_error_tally **out);
void        yoke_error_tally_destroy(yoke_error_tally **tally);

/* Components of a port are first .. first + n_p + n_v - 1 of all n. */
int yoke_error_tally_n(const yoke_error_tally *tally);
int yoke_error_tally_first(const yoke_error_tally *tally, int port);

/* Before the first trial: the outputs at the start. */
void   yoke_error_tally_start(yoke_error_tally *tally, const yoke_graph *graph);
/* The last trial is accepted, its errors are errors [n], and between its ends inner [n] >= 0 (yoke_graph_inner_errors; NULL: all are 0); signs do not matter.
 * Returns its largest (|e| + inner) / sigma. */
double yoke_error_tally_add(yoke_error_tally *tally, const yoke_graph *graph, const double *errors,
                            const double *inner);

/* What was added last is not known after all, at this port. */
void yoke_error_tally_forget(yoke_error_tally *tally, int port);

/* Largest share of what is left of `limit` that these errors, which are not added yet, would take. */
double yoke_error_tally_bite(const yoke_error_tally *tally, const double *errors, double limit);

/* How fast the step that was added last uses up E = limit: the largest, over all components, of what it added to E over the `share` [0, 1] of
 * what was left of the limit before, and of its inner error over the limit. What has hardly moved yet is measured by 1e-5 of the model. 1: E ends at the limit if all steps do the same.
 * Components whose E is below the share `spared` of the limit do not count. */
double yoke_error_tally_pace(const yoke_error_tally *tally, const double *errors, const double *inner, double limit,
                             double spared, double share);

double yoke_error_tally_t_start(const yoke_error_tally *tally);

/* E so far of all subsystems [n_subsystems], of a coupling. */
void   yoke_error_tally_subsystems(const yoke_error_tally *tally, int n_subsystems, double *out);
double yoke_error_tally_coupling(const yoke_error_tally *tally, int wire);

void yoke_error_tally_pack(const yoke_error_tally *tally, yoke_pack *out);
void yoke_error_tally_unpack(yoke_error_tally *tally, yoke_unpack *in);

#endif
