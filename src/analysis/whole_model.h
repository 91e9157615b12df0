/* Whole model: a model's equations as one system, its assembled start, and scratch, for analyses that do not run it. */
#ifndef YOKE_ANALYSIS_WHOLE_MODEL_H
#define YOKE_ANALYSIS_WHOLE_MODEL_H

#include "model/multibody.h"
#include "base/memory.h"

typedef struct yoke_whole_model {
  yoke_arena        arena;
  const yoke_model *model;
  yoke_equations    equations;
  yoke_multibody   *mb;
  double           *q, *v; /* [nq], [nv] consistent start */
  void             *work;  /* of equations.work_size */
  int               n_redundant;
} yoke_whole_model;

/* Keeps `model` and, for their lifetime, borrows inputs. Redundant rows of constraints are retired. Gives what it holds. */
yoke_status yoke_whole_model_create(yoke_context *ctx, const yoke_model *model, int n_inputs, const yoke_input *inputs,
                                    yoke_whole_model *out);
void        yoke_whole_model_clear(yoke_whole_model *whole);

/* Name of component i of v as a coordinate ("upper.angle") or velocity ("upper.omega"); rotations of rigid bodies have no coordinate
 * of this name, they are "body.turn x" (small turns about the body's axes). */
void yoke_multibody_freedom_name(const yoke_model *model, const yoke_multibody *mb, int i, bool is_velocity, char *name,
                                 size_t size);
/* Body of component i of v, its component within the body, and whether it is a rotation. */
int  yoke_multibody_freedom_body(const yoke_model *model, const yoke_multibody *mb, int i, int *component,
                                 bool *is_rotation);

#endif
