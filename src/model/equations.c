#include "model/equations.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void yoke_equations_destroy(yoke_equations *equations) {
  if (equations == NULL) return;
  if (equations->ops != NULL && equations->ops->destroy != NULL) equations->ops->destroy(equations->self);
  if (equations->release != NULL) equations->release(equations->owner);
  memset(equations, 0, sizeof *equations);
}

double yoke_equations_next_break(const yoke_equations *e, double t) {
  const double own = e->ops->next_break != NULL ? e->ops->next_break(e->self, t) : (double)INFINITY;
  return e->switches != NULL ? fmin(own, yoke_switches_next(e->switches, t)) : own;
}

void yoke_dae_destroy(yoke_dae **dae) {
  if (dae == NULL || *dae == NULL) return;
  yoke_dae_destroy(&(*dae)->inner);
  yoke_pattern_destroy(&(*dae)->pattern);
  yoke_pattern_destroy(&(*dae)->input_pattern);
  yoke_arena_free(&(*dae)->arena);
  free(*dae);
  *dae = NULL;
}
