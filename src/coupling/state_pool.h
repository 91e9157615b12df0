/* State pool: one block per worker for integrations beside the main ones, whatever subsystem they are of. Memory grows with the number of
 * workers, not with workers times subsystems. */
#ifndef YOKE_COUPLING_STATE_POOL_H
#define YOKE_COUPLING_STATE_POOL_H

#include "subsystem/subsystem.h"

typedef struct yoke_state_pool yoke_state_pool;

/* Blocks of `size` bytes, of which states use `sure` for sure: those of the largest state. Gives. The subsystems must outlive it. */
yoke_status yoke_state_pool_create(yoke_context *ctx, int n_workers, size_t size, size_t sure, yoke_state_pool **out);
void        yoke_state_pool_destroy(yoke_state_pool **pool);

/* The worker's block as a state of the subsystem to copy onto; what another one left in it is given back. Allocates nothing. */
void *yoke_state_pool_take(yoke_state_pool *pool, int worker, const yoke_subsystem *subsystem);

#endif
