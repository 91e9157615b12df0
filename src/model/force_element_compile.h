/* Compilation of a connection that is a force element or a flexible joint. */
#ifndef YOKE_MODEL_FORCE_ELEMENT_COMPILE_H
#define YOKE_MODEL_FORCE_ELEMENT_COMPILE_H

#include "frames/force_elements.h"
#include "model/model.h"

/* Compiles a force element or a flexible joint between two frames of the model: link, rows and offsets. `node` says which poses
 * belong to the two sides. A length that the user did not give is the one at `guess` (indexed by node). The ends may be frames
 * of ghosts. Keeps the law of the connection. */
void yoke_force_element_compile(const yoke_model *model, int connection, const int node[2], const yoke_pose *guess,
                                yoke_force_element *out);

/* Does a frame turn about its z axis alone, in the plane? Angle of its x axis there, against its body. */
/* A frame of the ground or of a 1-D mass: springs between two of them act along x. */
bool   yoke_frame_is_on_a_line(const yoke_model *model, const yoke_frame *frame);
bool   yoke_frame_turns_in_plane(const yoke_model *model, const yoke_frame *frame);
double yoke_frame_angle(const yoke_frame *frame);

#endif
