/* Counters: what an integration cost, and how it goes on. */
#ifndef YOKE_BASE_COUNTERS_H
#define YOKE_BASE_COUNTERS_H

#include <stdint.h>

/* What states count. */
typedef struct yoke_counts {
  int64_t steps, rejected;       /* accepted and rejected micro steps */
  int64_t evaluations;           /* right-hand sides */
  int64_t jacobians, factorings; /* J and LU */
  int64_t iterations;            /* Newton */
} yoke_counts;

typedef struct yoke_counters {
  int64_t     steps, rejected, evaluations, jacobians, factorings, iterations; /* as above */
  /* at work: */
  const char *method; /* "dopri5" under auto; NULL: not told */
  double      h;      /* last micro step, at the start the first one [s] */
  int         order;
} yoke_counters;

static inline yoke_counters yoke_counters_of(const yoke_counts *c) {
  return (yoke_counters){.steps       = c->steps,
                         .rejected    = c->rejected,
                         .evaluations = c->evaluations,
                         .jacobians   = c->jacobians,
                         .factorings  = c->factorings,
                         .iterations  = c->iterations};
}

#endif
