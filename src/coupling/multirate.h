/* Multirate: subsystems that take several steps of equal length in a macro step (yoke_own_settings.substeps).
 *
 * A coupling is exchanged where both of its sides end a step, at as many points of a macro step as the greatest common divisor of their
 * substeps says, its *rate*: two that are equally fast exchange at every step of theirs, a fast and a slow one at macro points. Between its
 * exchanges the channels of a coupling run on as polynomials through their values at its own last points.
 * The macro step has as many *points* as the least common multiple of all rates. A *stretch* leads a subsystem from one exchange of any of
 * its couplings to the next, over one or several of its steps.
 * Times of points are T_N + H k/n with whole numbers k and n: equal fractions give the same bits.
 *
 * Couplings that are exchanged inside of macro steps keep a history of their own, in the block; a trial writes a copy. */
#ifndef YOKE_COUPLING_MULTIRATE_H
#define YOKE_COUPLING_MULTIRATE_H

#include "coupling/graph_internal.h"

/* Substeps, rates and degrees of all subsystems and wires; g->multirate stays NULL where every subsystem takes one step. At the creation,
 * behind the wiring. */
yoke_status graph_multirate_create(yoke_graph *graph, yoke_context *ctx);

/* Numbers of the histories in the block, and where they lie. */
size_t graph_multirate_n_kept(const yoke_graph *graph);
void   graph_multirate_keep(yoke_graph *graph, double *numbers);
bool   graph_multirate_is_sound(const yoke_graph *graph, const void *numbers);

/* All steps and exchanges of the trial up to those at t_next. */
yoke_status graph_pass_multirate(yoke_graph *graph, yoke_step_statistics *statistics, yoke_context *ctx);

/* The histories of an accepted trial; they begin anew at T_N. */
void graph_multirate_accept(yoke_graph *graph);
void graph_multirate_forget(yoke_graph *graph);

/* T_N + H k/n. */
double graph_time_at(const yoke_graph *graph, int k, int n);

/* Does a stretch of the subsystem begin at this point? */
bool graph_begins_stretch(const yoke_graph *graph, int subsystem, int point);

#endif
