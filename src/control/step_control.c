#include "control/step_control.h"

static const double smallest_error = 1e-30; /* before the power */
static const double shrink = 0.9, least = 0.25;

static double ratio_of(double safety, double norm, int order) {
  return pow(safety * fmax(norm, smallest_error), -1.0 / (double)order);
}

double yoke_step_ratio(const yoke_step_rule *rule, const yoke_error_norms *norms) {
  const double list[3] = {norms->position, norms->velocity, norms->coupling};
  double       ratio   = (double)INFINITY;
  for (int i = 0; i < 3; ++i) ratio = fmin(ratio, ratio_of(rule->safety, list[i], norms->order[i]));
  return ratio;
}

double yoke_step_limited(const yoke_step_rule *rule, double ratio, int n_failed, bool is_lost) {
  if (n_failed > 1 || is_lost || !(ratio > 0.0)) return least; /* also a ratio that is not a number */
  if (n_failed == 1) return fmin(shrink, fmax(least, shrink * ratio));
  if (ratio >= rule->ratio[1]) return rule->ratio[1];
  if (!rule->dead_zone) return fmax(rule->ratio[0], ratio);
  return ratio < 1.0 ? fmin(shrink, fmax(rule->ratio[0], ratio)) : 1.0;
}
