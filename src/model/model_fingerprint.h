/* Fingerprint of a model: checksums of what its objects are, by name, so that two models can be compared and the first object that differs
 * be named. What a run does (solvers, split, outputs, end) is no part of it. */
#ifndef YOKE_MODEL_MODEL_FINGERPRINT_H
#define YOKE_MODEL_MODEL_FINGERPRINT_H

#include "model/model.h"

/* Called for every object: kind "body", name, checksum of its numbers and texts. */
typedef void (*yoke_fingerprint_item)(void *user, const char *kind, const char *name, uint64_t sum);

void yoke_model_fingerprint(const yoke_model *model, yoke_fingerprint_item item, void *user);

#endif
