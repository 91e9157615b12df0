/* How far the result of a run is from its reference. Include after cmocka.h, since the tables of tests/bits check themselves. */
#ifndef YOKE_TESTS_CAMPAIGN_COMPARE_H
#define YOKE_TESTS_CAMPAIGN_COMPARE_H

#include "../bits/csv.h"

typedef struct difference {
  double
      error; /* largest over positions, velocities, angles and rates at all output times, in units of their spread; infinite:
                 * not the same times, or not finite */
  double time; /* where [s, of the reference] */
  char   quantity[48];
} difference;

/* Quantities that both have are compared. Values of `run` are in units of length and time that are `length` and `time` of the reference's.
 * The spread of a quantity is that of the reference, at least a twentieth of the largest of its kind.
 * `jumps`: where the reference moves by more than a tenth of its spread from one output time to the next, the run may be anywhere
 * between its neighbours: an impact that comes a little sooner or later is no error. */
difference compare_tables(const csv_table *run, const csv_table *reference, double length, double time, bool jumps);

#endif
