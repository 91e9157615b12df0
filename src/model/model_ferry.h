/* A model of mechanics as bytes (base/ferry.h): all that equations are compiled of, and the settings of its solver. What only a reader or a plan looks
 * at stays behind: texts, splits, outputs, foreign subsystems. */
#ifndef YOKE_MODEL_MODEL_FERRY_H
#define YOKE_MODEL_MODEL_FERRY_H

#include "frames/frames_ferry.h"
#include "model/model.h"

/* Reading: `model` is zero but for its arena, and may be destroyed whatever happened; failures of memory show in c->arena too. */
void yoke_model_ferry(yoke_ferry *c, yoke_model *model);

void yoke_shape_ferry(yoke_ferry *c, const yoke_port_shape **shape); /* by its name; may be NULL */
void yoke_variable_ferry(yoke_ferry *c, yoke_variable *variable);

/* Head of a model: what ranks know of it that do not read it. Name, times, solver, step; its parts are counted and have nothing in them, its first foreign
 * subsystem has a name, and instead of a text it has the checksum of one, behind a character that no text has. Reading gives; NULL: damaged, or no memory. */
void        yoke_model_head_write(const yoke_model *model, yoke_pack *out);
yoke_model *yoke_model_head_read(yoke_unpack *in);

/* The same for a model and its head. */
enum { YOKE_MODEL_DIGEST = 20 };
void yoke_model_digest(const yoke_model *model, char text[YOKE_MODEL_DIGEST]);

#endif
