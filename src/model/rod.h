/* Rod (`cosserat-rod`): a row of rigid bodies, its nodes, with an element (frames/rod_element.h) between neighbours. Whatever attaches to
 * rigid bodies attaches to its nodes; no other code knows rods.
 *
 * The grid is staggered: n edges of equal length l between n + 1 vertices, a frame in the middle of every edge, its third axis along the
 * tangent, and a frame at each end. A node is a vertex with a frame:
 *   node 0      end `a`: vertex 0 and the frame of this end
 *   node 1      the middle of the first edge, with the frame of that edge
 *   node i + 1  vertex i and the frame of edge i, which begins there; 0 < i < n
 *   node n + 1  end `b`: vertex n and the frame of this end
 * There is one more frame than vertices; the vertex in the middle of the first edge is the one that is missing. Both halves of that edge
 * share its frame, so in equilibrium they are as one. Masses and rotary inertias are those of the pieces of the rod that are nearest
 * to a vertex, to a frame. */
#ifndef YOKE_MODEL_ROD_H
#define YOKE_MODEL_ROD_H

#include "model/model.h"

typedef struct yoke_rod_def {
  int           n;                        /* edges */
  double        length;                   /* n l [m] */
  double        line_mass;                /* [kg/m] */
  double        line_inertia[3];          /* about d1, d2 and the tangent [kg m] */
  double        stiffness[6], damping[6]; /* as those of its elements */
  const double *points;                   /* [n + 1, 3] vertices at the start [m] */
  double        normal[3];                /* direction of d1 at the start; what is along the tangent does not count */
  double        velocity[3], omega[3]; /* at the start it moves as a rigid body: end a, and all of it, inertial axes */
  bool          is_natural;            /* its shape at the start is free of stress; else a straight line is */
} yoke_rod_def;

static inline int yoke_rod_n_nodes(int n) {
  return n + 2;
}

/* Nodes [n + 2] (all but their names) and elements [n + 1], which join node e and node e + 1. */
void yoke_rod_make(const yoke_rod_def *def, yoke_body *nodes, yoke_rod_element *elements);

/* "a", "half", "node[1]", ..., "b" */
void yoke_rod_node_name(int n, int node, char *name, size_t size);

/* Vertices [n + 1, 3] of a straight line. */
void yoke_rod_straight(int n, double length, const double from[3], const double direction[3], double *points);
/* Those of a chain of n links of this whole length that hangs between two points under gravity. False: they are too far from each other, or
 * one is above the other, or there is no gravity. */
bool yoke_rod_hanging(int n, double length, const double from[3], const double to[3], const double gravity[3],
                      double *points);

#endif
