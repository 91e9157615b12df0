/* Residuals of rigid joints at macro points. Include after <cmocka.h>. */
#ifndef YOKE_TESTS_LEVELS_H
#define YOKE_TESTS_LEVELS_H

#include "coupling/constraint.h"
#include "cosimulate.h"
#include "master/system.h"
#include "wire_outputs.h"

/* Largest |s|, |s'|, |s''| of all joints, over macro points from the second on: the start belongs to the assembly. */
typedef struct levels {
  const cosim *c;
  double       largest[YOKE_JOINT_LEVELS];
  int          steps;
} levels;

static inline void look_at_levels(void *user, double t, const double *q, const double *v) {
  (void)t, (void)q, (void)v;
  levels            *l     = user;
  const yoke_system *co    = l->c->system;
  const yoke_plan   *plan  = yoke_system_plan(co);
  const yoke_graph  *graph = yoke_system_graph(co);
  ++l->steps;
  for (int k = 0; k < plan->n_couplings; ++k) {
    const yoke_plan_coupling *coupling = &plan->couplings[k];
    if (!coupling->is_joint) continue;
    const double *y[2];
    double        level[YOKE_JOINT_LEVELS][YOKE_JOINT_MAX_ROWS];
    for (int side = 0; side < 2; ++side) y[side] = wire_outputs(graph, k, side);
    yoke_joint_levels(&coupling->joint, coupling->shape, y, level);
    for (int i = 0; i < YOKE_JOINT_LEVELS; ++i) {
      for (int r = 0; r < coupling->joint.n; ++r) l->largest[i] = fmax(l->largest[i], fabs(level[i][r]));
    }
  }
}

#endif
