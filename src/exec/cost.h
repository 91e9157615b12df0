/* Cost of a task as one byte: c stands for 10 ns * 2^(c/2), 0 for what is not known. Coarse on purpose: who works depends on it,
 * and a list of tasks is arranged anew only when one of them becomes longer or shorter by a good deal. */
#ifndef YOKE_EXEC_COST_H
#define YOKE_EXEC_COST_H

#include <math.h>
#include <stdint.h>

typedef uint8_t yoke_cost;

enum { YOKE_N_COSTS = 256 };

static inline double yoke_cost_seconds(yoke_cost cost) {
  return cost > 0 ? 1e-8 * exp2(0.5 * cost) : 0.0;
}

static inline yoke_cost yoke_cost_of(double seconds) {
  const double c = 2.0 * log2(fmax(seconds, 1e-9) / 1e-8);
  return (yoke_cost)fmin(fmax(round(c), 1.0), YOKE_N_COSTS - 1);
}

/* One more measurement: one class up towards it, or half the way down. A task that had to wait for a processor, or for its data when it ran
 * for the first time, tells nothing of its own length, so that what was short counts more than what was long. */
static inline yoke_cost yoke_cost_follow(yoke_cost cost, double seconds) {
  const yoke_cost now = yoke_cost_of(seconds);
  if (cost == 0) return now;
  if (now > cost + 1) return (yoke_cost)(cost + 1);
  if (now + 1 < cost) return (yoke_cost)(cost - (cost - now) / 2);
  return cost;
}

#endif
