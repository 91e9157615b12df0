/* Runs that leave open what couples the cuts of their chains. */
#ifndef YOKE_MASTER_OPEN_METHOD_H
#define YOKE_MASTER_OPEN_METHOD_H

#include "model/model.h"
#include <stdbool.h>

/* Nothing but chains, and nothing of the method is named: cuts have halos where the pieces are long enough for them. */
bool yoke_leaves_halos(const yoke_model *model);

#endif
