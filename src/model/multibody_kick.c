/* Kicks: prescribed motions whose rates jump. What hangs on them by joints follows by impulses, least in the norm of the masses, and what these
 * bring in is external work. */
#include "model/multibody_internal.h"

#include <math.h>

static const double rounding = 1e-9; /* of what is given: changes below it are none */

/* Does a function go from `before` to `after` in a short time by more than its slopes there allow? */
static bool leaps(double before, double after, double way) {
  return fabs(after - before) > rounding * fmax(fabs(before), fabs(after)) + 2.0 * way;
}

static bool motion_leaps(const mb_joint *joint, double before, double behind) {
  const double h = behind - before;
  double       x[2], rate[2], second[2];
  mb_motion(joint, before, &x[0], &rate[0], &second[0]);
  mb_motion(joint, behind, &x[1], &rate[1], &second[1]);
  return leaps(x[0], x[1], h * (fabs(rate[0]) + fabs(rate[1]))) ||
         leaps(rate[0], rate[1], h * (fabs(second[0]) + fabs(second[1])));
}

bool mb_is_kicked(const void *self, double before, double behind) {
  const yoke_multibody *mb = self;
  for (int j = 0; mb->n_motions > 0 && j < mb->n_joints; ++j) {
    if (mb->joints[j].motion != NULL && motion_leaps(&mb->joints[j], before, behind)) return true;
  }
  return false;
}

static double stored(const yoke_multibody *mb, void *work, double t, const double *q, const double *v) {
  yoke_energy energy;
  mb_energy(mb, work, t, q, v, &energy);
  return energy.kinetic + energy.potential;
}

yoke_status mb_kick(const void *self, void *work, double before, double behind, double *q, double *v) {
  const yoke_multibody *mb  = self;
  const double          had = mb->has_energy ? stored(mb, work, before, q, v) : 0.0;
  YOKE_TRY(mb_project_position(self, work, behind, q));
  YOKE_TRY(mb_project_velocity(self, work, behind, q, v));
  if (mb->has_energy) q[mb->i_external] += stored(mb, work, behind, q, v) - had;
  return YOKE_OK;
}
