/* Macro-step control: the ratio r = H_new / H from error norms (Kraft 3.4).
 *   r = min over norms of (Gamma |e|)^(-1/p),   p the local order of the norm.
 * Accepted: r >= r_max gives r_max, r < 1 gives at most 0.9 and at least r_min, between them H stays (dead zone: a step that
 * changes all the time costs more than it saves). Rejected once: 0.9 r in [0.25, 0.9]; again, or the corrector failed: 0.25. */
#ifndef YOKE_CONTROL_STEP_CONTROL_H
#define YOKE_CONTROL_STEP_CONTROL_H

#include "control/error_test.h"
#include <stdbool.h>

typedef struct yoke_step_rule {
  double safety;    /* Gamma */
  double ratio[2];  /* least and largest of accepted steps */
  bool   dead_zone; /* a step that would grow by less than r_max stays; false: every r in [r_min, r_max] is used */
} yoke_step_rule;

/* Ratio that the norms ask for, without limits. */
double yoke_step_ratio(const yoke_step_rule *rule, const yoke_error_norms *norms);

/* Ratio that is used. n_failed: consecutive rejected trials, this one included (0: accepted); `is_lost`: the trial gave no
 * error (corrector not converged, values not finite). */
double yoke_step_limited(const yoke_step_rule *rule, double ratio, int n_failed, bool is_lost);

#endif
