/* Native part: what a native subsystem of a plan is made of. */
#ifndef YOKE_MASTER_NATIVE_PART_H
#define YOKE_MASTER_NATIVE_PART_H

#include "master/plan.h"
#include "master/submodel.h"
#include "native/native.h"

typedef struct yoke_native_part {
  yoke_submodel   submodel;
  double         *q, *v;    /* start that was given; NULL: as the submodel says */
  bool            in_parts; /* native.h */
  yoke_native_def def;      /* borrows the others */
} yoke_native_part;

/* `make` of a plan's part: `definition` is a yoke_native_part. */
yoke_status yoke_native_part_make(yoke_context *ctx, const void *definition, yoke_subsystem **out);

/* Sizes of the whole model; those of a plan without couplings are known by its only subsystem. */
yoke_plan_facts yoke_native_part_facts(const yoke_plan *plan, const yoke_subsystem *first);

#endif
