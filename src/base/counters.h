/* Counters: what an integration cost, and how it goes on. */
#ifndef YOKE_BASE_COUNTERS_H
#define YOKE_BASE_COUNTERS_H

#include <stdint.h>

typedef struct yoke_counters {
  int64_t     steps, rejected;       /* accepted and rejected micro steps */
  int64_t     evaluations;           /* right-hand sides */
  int64_t     jacobians, factorings; /* J and LU */
  int64_t     iterations;            /* Newton */
  /* at work: */
  const char *method; /* "dopri5" under auto; NULL: not told */
  double      h;      /* last micro step, at the start the first one [s] */
  int         order;
} yoke_counters;

#endif
