/* A plan as bytes (base/pack.h), for other processes: one plans, and each runs its share. */
#ifndef YOKE_MASTER_PLAN_BYTES_H
#define YOKE_MASTER_PLAN_BYTES_H

#include "master/plan.h"

/* Names, wires, outputs and events of all, and what the parts are made of that live on rank `rank`: owner [n_parts], NULL: all parts. Dry plans, and plans with parts that
 * were replaced, do not travel (YOKE_E_UNSUPPORTED). */
yoke_status yoke_plan_pack(const yoke_plan *plan, const int *owner, int rank, yoke_pack *out, yoke_context *ctx);

/* A system of it has the bits of one of the first plan. Parts that live elsewhere have no `make`; types of foreign parts that live here must be known to the context. Bytes
 * that are damaged or from another version are refused. */
yoke_status yoke_plan_unpack(yoke_context *ctx, const void *bytes, size_t size, yoke_plan **out);

/* Does nothing bring energy in: no loads, events, inputs, motions, laws that the user wrote? */
bool yoke_plan_is_passive(const yoke_plan *plan);

#endif
