/* Port shape: what a port shows and feels, by numbers and a few functions; what stands behind the port is not known here.
 *
 * A port is a frame. Of its six freedoms (0 1 2: translations of its origin C along inertial axes, 3 4 5: rotations about them) its
 * shape has some:
 *   p   positions; a component is a coordinate, whose derivative is one component of v, or one of several that describe the
 *       orientation together (Euler parameters of the frame's axes): p' = T(p) v. T is affine in p and depends on the latter only.
 *   v   velocities, one for each freedom, in inertial axes
 * The outputs y of a port are p, v, the accelerations v', and the integrals of some p since the start of the present macro step, in
 * this order (behind them come extras, port.h). A wrench on a port has n_v components: force and moment about C.
 *   shape   p                     v                   integrals
 *   line    x                     vx                  x
 *   plane   x y angle             vx vy omega         x y angle
 *   point   x y z                 vx vy vz            x y z
 *   frame   x y z q0 q1 q2 q3     vx vy vz wx wy wz   x y z
 *   signal  none: a port of plain numbers, all of them extras, that feels one number or none
 * Shapes are constant, are told apart by their address or name, and stand in port_shape_list.def, each with a file of its own. */
#ifndef YOKE_FRAMES_PORT_SHAPE_H
#define YOKE_FRAMES_PORT_SHAPE_H

#include "frames/pose.h"
#include <stdbool.h>

/* Bounds of the shapes of the list. */
enum { YOKE_PORT_MAX_P = 7, YOKE_PORT_MAX_V = 6, YOKE_PORT_MAX_Y = 22 };

/* One component of p. */
typedef struct yoke_shape_p {
  const char *name, *unit; /* "x", "m" */
  unsigned    freedoms;    /* set of bits: what moves it */
  int         rate;        /* the component of v that is its derivative; -1: no coordinate, p' = T v */
} yoke_shape_p;

/* One component of v, of the wrench, and of the accelerations. */
typedef struct yoke_shape_v {
  int         freedom;         /* 0 .. 5 */
  const char *name, *unit;     /* "vx", "m/s" */
  const char *a_name, *a_unit; /* "ax", "m/s^2" */
} yoke_shape_v;

typedef struct yoke_port_shape yoke_port_shape;
struct yoke_port_shape {
  const char         *name;
  int                 n_p, n_v, n_integrals;
  const yoke_shape_p *p;           /* [n_p] */
  const yoke_shape_v *v;           /* [n_v] */
  const int          *integral_of; /* [n_integrals] which component of p; a coordinate */

  /* Axes R of the pose (p need not be normalised), and its angle where only z is turned about. NULL: it never turns. */
  void (*orient)(const yoke_port_shape *shape, const double *p, yoke_pose *pose);
  /* Rows of T, columns of L (below) that belong to components of p that are no coordinates. NULL, both: there are none. */
  void (*tangent)(const yoke_port_shape *shape, const double *p, double *T);
  void (*left_inverse)(const yoke_port_shape *shape, const double *p, double *L);
};

/* The shapes of the list: yoke_shape_line, yoke_shape_plane, ... */
#define X(symbol) extern const yoke_port_shape symbol;
#include "frames/port_shape_list.def"
#undef X

int                    yoke_shape_list_n(void);
const yoke_port_shape *yoke_shape_list_at(int i);
const yoke_port_shape *yoke_shape_find(const char *name); /* NULL: none */

/* ---- places in y ---- */

static inline int yoke_shape_at_v(const yoke_port_shape *shape) {
  return shape->n_p;
}
static inline int yoke_shape_at_a(const yoke_port_shape *shape) {
  return shape->n_p + shape->n_v;
}
static inline int yoke_shape_at_integral(const yoke_port_shape *shape) {
  return shape->n_p + 2 * shape->n_v;
}
static inline int yoke_shape_n_y(const yoke_port_shape *shape) { /* without extras */
  return shape->n_p + 2 * shape->n_v + shape->n_integrals;
}

/* ---- questions ---- */

enum { YOKE_FREEDOM_ROTATIONS = 0x38, YOKE_FREEDOM_ROTATION_Z = 0x20, YOKE_FREEDOM_TRANSLATION_X = 0x01 };

static inline bool yoke_freedom_turns(int freedom) {
  return freedom >= 3;
}

/* Does component k belong to the orientation, else to the origin? */
static inline bool yoke_shape_p_turns(const yoke_port_shape *shape, int k) {
  return (shape->p[k].freedoms & YOKE_FREEDOM_ROTATIONS) != 0u;
}
static inline bool yoke_shape_v_turns(const yoke_port_shape *shape, int k) {
  return yoke_freedom_turns(shape->v[k].freedom);
}

/* Set of all freedoms. */
unsigned yoke_shape_freedoms(const yoke_port_shape *shape);

static inline bool yoke_shape_can_turn(const yoke_port_shape *shape) {
  return (yoke_shape_freedoms(shape) & YOKE_FREEDOM_ROTATIONS) != 0u;
}

/* How many components of p are no coordinates. */
int yoke_shape_n_turned(const yoke_port_shape *shape);

/* Component of v or of a wrench that is this freedom; component of p whose derivative is v[k]; integral of p[k]. -1: none. */
int yoke_shape_component(const yoke_port_shape *shape, int freedom);
int yoke_shape_coordinate(const yoke_port_shape *shape, int k);
int yoke_shape_integral(const yoke_port_shape *shape, int k);

/* ---- functions ---- */

/* Components of v (or v') to all six freedoms; those that the shape lacks are 0. */
void yoke_shape_spread(const yoke_port_shape *shape, const double *v, double all[6]);

/* Pose of the frame from p and v. v NULL: at rest. */
void yoke_shape_pose(const yoke_port_shape *shape, const double *p, const double *v, yoke_pose *pose);

/* T [n_p, n_v] row major at p: how p changes with the tangent (dC, dphi; inertial axes) of the frame, dp = T d. Also p' = T v. */
void yoke_shape_tangent(const yoke_port_shape *shape, const double *p, double *T);

/* L [n_v, n_p] row major at p: the tangent that belongs to dp, L T = 1 where orientations are normalised. */
void yoke_shape_left_inverse(const yoke_port_shape *shape, const double *p, double *L);

#endif
