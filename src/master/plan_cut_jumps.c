/* Jumps of laws between two parts: none is held there, so one that would hold the motion (dry friction) is told before the run, which it makes slow. */
#include "master/plan_builder.h"

#include "frames/expression_jumps.h"

enum { LAW_V = 1, LAW_T = 2, LAW_READ = 3 }; /* variables of a law (frames/law.h) */

/* Velocities are what forces change at once: a jump with anything else is passed. */
static bool is_of_velocity(const yoke_jump *jump) {
  for (int i = 0; i < yoke_expression_n_variables(jump->s); ++i) {
    if (yoke_expression_variables(jump->s)[i] == LAW_V) return !jump->is_kink;
  }
  return false;
}

yoke_status plan_warn_of_cut_jumps(plan_builder *b, const yoke_plan_coupling *k) {
  yoke_jump *jumps    = NULL;
  int        n        = 0;
  bool       may_hold = false;
  if (k->law.expression == NULL) return YOKE_OK;
  if (yoke_jumps_find(k->law.expression, LAW_T, LAW_READ + k->n_read, &jumps, &n) != YOKE_OK) return plan_no_memory(b);
  for (int i = 0; i < n; ++i) may_hold = may_hold || is_of_velocity(&jumps[i]);
  yoke_jumps_destroy(&jumps, n);
  if (may_hold)
    yoke_warn(
        b->ctx,
        "coupling '%s': its law jumps with the velocity, and between two subsystems nothing can stick: where the "
        "jump would hold the motion, a fixed macro step makes it chatter, and step control needs very many steps; "
        "keep both ends in one subsystem ('%s' and '%s' have them), or replace the jump by a steep smooth "
        "function, tanh(v/w) for sign(v) with w below what matters",
        k->name, plan_part_name(b, k->part[0]), plan_part_name(b, k->part[1]));
  return YOKE_OK;
}
