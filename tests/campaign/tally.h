/* Counts of a campaign, its tables, and the limits it is judged by. */
#ifndef YOKE_TESTS_CAMPAIGN_TALLY_H
#define YOKE_TESTS_CAMPAIGN_TALLY_H

#include "trial.h"

#include <stdio.h>

typedef struct tally {
  int     n, room;
  record *records; /* owns */
} tally;

void tally_add(tally *t, const record *r);
void tally_release(tally *t);

/* In the order of seeds and runs, whoever made them. */
void tally_sort(tally *t);

/* One line of a record; `names`: files of the command line. */
void tally_write_record(FILE *out, const record *r, char *const *names);

/* All records as CSV. */
void tally_write_csv(FILE *out, const tally *t);

/* Tables by family and by kind of run, ratios, and the worst `most` silent ones. True: all limits are kept. */
bool tally_report(FILE *out, const tally *t, int most);

/* Table of the default against the best fixed step. True: two thirds within 1.5, none above 4, all accurate. */
bool tally_report_grid(FILE *out, const tally *t, char *const *names);

#endif
