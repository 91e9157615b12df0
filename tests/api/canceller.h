/* Cancels a simulation with a line of its trace. Include after <cmocka.h>. */
#ifndef YOKE_TESTS_CANCELLER_H
#define YOKE_TESTS_CANCELLER_H

#include <yoke/simulation.h>

typedef struct canceller {
  yoke_simulation *s;
  int              n_lines, at; /* cancels with line number `at` of the trace */
} canceller;

static inline void cancel_at_line(void *user, const char *line) {
  canceller *c = user;
  (void)line;
  if (c->s != NULL && ++c->n_lines == c->at) yoke_simulation_cancel(c->s);
}

#endif
