/* Counters: what an integration cost. */
#ifndef YOKE_BASE_COUNTERS_H
#define YOKE_BASE_COUNTERS_H

#include <stdint.h>

typedef struct yoke_counters {
  int64_t steps, rejected;       /* accepted and rejected micro steps */
  int64_t evaluations;           /* right-hand sides */
  int64_t jacobians, factorings; /* J and LU */
  int64_t iterations;            /* Newton */
} yoke_counters;

#endif
