/* Rest: the rest state of a model, from which a simulation starts. */
#ifndef YOKE_API_REST_H
#define YOKE_API_REST_H

#include "analysis/equilibrium.h"

typedef struct yoke_rest {
  yoke_whole_model       whole; /* at rest */
  yoke_equilibrium_facts facts;
} yoke_rest;

/* Load steps: so many; 0: all at once and, where that finds nothing, in ten. Keeps `model`; clear in any case. */
yoke_status yoke_rest_find(yoke_context *ctx, const yoke_model *model, int load_steps, yoke_rest *out);
void        yoke_rest_clear(yoke_rest *rest);

#endif
