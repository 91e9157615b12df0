/* Whole start: the compiled whole model while a plan is made of it, and its consistent start.
 *
 * It is made once: start values of the couplings, rows that follow from others and the past of an exact start come from it. It is gone
 * before the first step. */
#ifndef YOKE_MASTER_WHOLE_START_H
#define YOKE_MASTER_WHOLE_START_H

#include "master/places.h"
#include "model/assembly.h"

typedef struct yoke_start {
  yoke_arena        arena;
  const yoke_model *model;
  yoke_equations    equations;
  yoke_multibody   *mb; /* lives as long as the equations */
  void             *work;
  yoke_assembly     assembly;
  double           *q, *v;       /* [nq], [nv], of the assembly */
  int              *q_at, *v_at; /* [n_bodies] where a body's share starts */
  double           *a;           /* [nv] accelerations */
  double *
      lambda; /* [n_connections, YOKE_CONNECTION_MAX_ROWS] multipliers of rigid joints in the joint's own order, dropped rows 0 */
  bool  *
      retired; /* [n_connections, YOKE_CONNECTION_MAX_ROWS] rows of couplings that follow from other joints and are left out */
  bool any_retired;
} yoke_start;

/* Of a connection: */
static inline double *yoke_start_lambda(const yoke_start *start, int connection) {
  return start->lambda + (ptrdiff_t)YOKE_CONNECTION_MAX_ROWS * connection;
}
static inline bool *yoke_start_retired(const yoke_start *start, int connection) {
  return start->retired + (ptrdiff_t)YOKE_CONNECTION_MAX_ROWS * connection;
}

/* q and v NULL: assembled from what the user wrote; else they are the start, positions and velocities that fit the joints. */
yoke_status yoke_start_create(yoke_context *ctx, const yoke_model *model, const yoke_places *places, const double *q,
                              const double *v, yoke_start *out);
void        yoke_start_clear(yoke_start *start);

/* A state of the whole model: [nq], [nv], [nv]. */
typedef struct yoke_whole_state {
  const double *q, *v, *a;
} yoke_whole_state;

/* Motion p, v of a frame with the axes of its body, and its accelerations, by the shape of the body (port_shape.h). */
void yoke_start_motion(const yoke_start *start, const yoke_whole_state *at, const yoke_frame *frame, double *p,
                       double *v);
void yoke_start_acceleration(const yoke_start *start, const yoke_whole_state *at, const yoke_frame *frame, double *a);
/* Pose of the body of a frame as the user drew it; lengths that are not given are taken there, as the whole model does. */
void yoke_drawn_pose(const yoke_model *model, const yoke_frame *frame, yoke_pose *pose);

#endif
