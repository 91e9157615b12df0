/* A model that a family draws: bodies, what connects them, what loads them, its split; written as a model file.
 *
 * Families think in metres, kilograms and seconds of a handy size. The file has parameters L, M, T for the units of length, mass
 * and time and writes every number with its unit in them, so that the same motion happens at any size, and
 * `--set parameters.L=1 --set parameters.M=1 --set parameters.T=1` is its run at the handy size, which serves as reference.
 * Parameter w multiplies start velocities, gravity and loads: w = 1 + 1e-6 is a nearby motion.
 *
 * All bodies start with their axes along the inertial ones, so that a point on a body is given where it is in space. */
#ifndef YOKE_TESTS_CAMPAIGN_SKETCH_H
#define YOKE_TESTS_CAMPAIGN_SKETCH_H

#include "draw.h"

enum { SKETCH_BODIES = 16, SKETCH_EDGES = 64, GROUND = -1 };

typedef struct text {
  int  length;
  char at[12000];
} text;

typedef enum sketch_kind { SKETCH_MASS1D, SKETCH_PARTICLE, SKETCH_PLANAR, SKETCH_RIGID } sketch_kind;

typedef struct sketch_body {
  sketch_kind kind;
  double      mass;
  vec         inertia; /* planar: z */
  vec         at;      /* mass1d: x */
  vec         v;
  vec         omega; /* planar: z */
  int         part;  /* of the split */
  int         n_frames;
  text        frames;
} sketch_body;

typedef struct sketch_edge {
  int  a, b; /* bodies, or GROUND */
  bool rigid;
} sketch_edge;

typedef struct sketch {
  draw *draw;

  int         n_bodies, n_edges, n_loads, n_parts;
  sketch_body bodies[SKETCH_BODIES];
  sketch_edge edges[SKETCH_EDGES];
  int         tied[SKETCH_BODIES]; /* the body in whose part this one must be; itself */
  text        connections, loads, events;

  vec    gravity;
  double span;       /* [s] of the run */
  double fastest;    /* largest angular frequency of a force element between its two bodies [rad/s] */
  bool   jumps;      /* velocities jump or turn round within a sample */
  bool   cuts_joint; /* the split cuts a rigid joint, a force element */
  bool   cuts_force;

  double length, mass, time; /* what L, M and T are */
} sketch;

/* Appends. %s text, %d whole number, %g plain number; a number with its unit: %L length, %M mass, %T time, %I moment of inertia,
 * %V velocity, %W angular velocity (both of the start), %K stiffness, %D damping, %X stiffness per length squared, %Y damping per
 * velocity squared, %R rotational stiffness, %Q rotational damping, %F force, %N moment, %A acceleration (these three of loads and
 * gravity), %O frequency, %P one over a length. */
void say(text *t, const char *format, ...);

int sketch_mass1d(sketch *s, double mass, double x, double v);
int sketch_particle(sketch *s, double mass, vec at, vec v);
int sketch_planar(sketch *s, double mass, double inertia, vec at, vec v, double omega);
int sketch_rigid(sketch *s, double mass, vec inertia, vec at, vec v, vec omega);

/* A bar from `from` to `to` with its centre in the middle. In the plane and in space, where it is thick / length wide. */
int sketch_bar(sketch *s, double mass, vec from, vec to, vec v, double omega);
int sketch_rod(sketch *s, double mass, vec from, vec to, double thick, vec v, vec omega);

/* Velocity of a point of a body. */
vec sketch_velocity(const sketch *s, int body, vec at);

/* A rigid joint at a point; axis 0: none. */
void sketch_joint(sketch *s, const char *kind, int a, int b, vec at, vec axis);

/* Stiffness against translation and rotation, damping ratios of the two bodies against each other. */
void sketch_bushing(sketch *s, int a, int b, vec at, double stiffness, double rotational, double ratio);

/* A bushing with a stiffness along each axis; rotational about all. */
void sketch_bushing_along(sketch *s, int a, int b, vec at, vec stiffness, vec rotational, double ratio);

/* A spring-damper between two points (mass1d: points do not count) as long as drawn, of a random law. */
void sketch_spring(sketch *s, int a, int b, vec at_a, vec at_b, double stiffness, double ratio);

/* The same with a law of the caller, in words of the model file. */
void sketch_element(sketch *s, const char *kind, int a, int b, vec at_a, vec at_b, double stiffness, const char *law);

/* Torsion spring between planar bodies. */
void sketch_torsion(sketch *s, int a, int b, double stiffness, double ratio);

/* 2 ratio sqrt(k m) with the mass, or the moment of inertia about z, of the two against each other. */
double sketch_damping(const sketch *s, int a, int b, double stiffness, double ratio);
double sketch_torsion_damping(const sketch *s, int a, int b, double stiffness, double ratio);

/* The line `  lN: {LOAD}` of a load; `on` and the rest are in `load`. */
void sketch_load(sketch *s, const text *load);

/* Harmonic, impulse or sudden force on a body. */
void sketch_push(sketch *s, int body, double force, double omega);

/* Both in one part: a load reads both. */
void sketch_tie(sketch *s, int a, int b);

/* Draws size and split. */
void sketch_finish(sketch *s);

/* The model file. */
void sketch_write(const sketch *s, const char *name, text *out);

#endif
