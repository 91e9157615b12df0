/* Growth: how many times larger the motion of a model itself makes a small error.
 *
 * The whole model runs twice, the second time from a start where every coordinate x_i differs by +-d of its spread S_i (largest less least value
 * of the first run). With the differences D_i at N times and r_i = sqrt( mean D_i^2 / mean (x_i - mean x_i)^2 ), an NRMSE,
 *   growth = max r_i of all times / max r_i of the first 2 % of them,   at least 1:
 * what the disturbance of stiff elements sets swinging at once has grown by nothing.
 * A box that bounces on a floor makes thousands of one: it comes a little early, is thrown back by another force, and the next time is more than
 * a little early. No error of single steps shows that, and no macro step is to blame. */
#ifndef YOKE_ANALYSIS_GROWTH_H
#define YOKE_ANALYSIS_GROWTH_H

#include "model/model.h"
#include <yoke/context.h>
#include <stdbool.h>
#include <stdint.h>

/* What makes errors larger, as far as the model tells before it runs. Other motions do too, but seldom as many times. */
typedef enum yoke_growth_cause {
  YOKE_GROWTH_NONE,
  YOKE_GROWTH_SPRINGS, /* that turn with their ends, in the plane or in space: the closer these pass, the more a small miss turns the force */
  YOKE_GROWTH_HITS /* a contact, an event that sets a velocity, a law or load that breaks where the motion comes to (not with the time alone) */
} yoke_growth_cause;

yoke_status yoke_growth_find_cause(yoke_context *ctx, const yoke_model *model, yoke_growth_cause *cause);

/* What the growth of a start means for errors of steps. Every coordinate is disturbed at the start, steps err at the ports and all the way: where
 * springs alone make errors larger these grow by a tenth of it in most models, by all of it in a few. An impact shows
 * only a part of what others may do: all of it. At least 1. */
double yoke_growth_of_steps(double factor, yoke_growth_cause cause);

typedef struct yoke_growth {
  double  factor;      /* NaN: not known */
  int64_t evaluations; /* right-hand sides that it took */
} yoke_growth;

/* The factor is NaN where nothing can be said cheaply: models of more than 200 states, foreign subsystems, runs of more than 20 000
 * right-hand sides, that fail or are ended by an event. Fails with YOKE_E_MEMORY and YOKE_E_INTERRUPTED only. */
yoke_status yoke_growth_measure(yoke_context *ctx, const yoke_model *model, yoke_growth *growth);

#endif
