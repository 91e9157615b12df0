/* Cables on moving ends, examples/cable-on-mass.yaml and cable-in-mbs.yaml: do errors of the coupling grow? */
#ifndef YOKE_TESTS_CABLES_H
#define YOKE_TESTS_CABLES_H

#include "cosimulate.h"

enum {
  CABLE_WINDOW  = 50,
  CABLE_FIRST   = 40,
  CABLE_STEPS   = 300,
  CABLE_WINDOWS = (CABLE_STEPS - CABLE_FIRST) / CABLE_WINDOW
};

/* Largest third difference of a position over windows of macro steps. */
typedef struct cable_watch {
  int    at; /* of x, y, z among all q */
  int    n;
  double last[3][3]; /* newest first */
  double window[CABLE_WINDOWS];
} cable_watch;

static inline void cable_look(void *user, double t, const double *q, const double *v) {
  cable_watch *w     = user;
  const int    first = ++w->n - 3, i = (first - CABLE_FIRST) / CABLE_WINDOW; /* step that the difference begins with */
  (void)t, (void)v;
  for (int k = 0; k < 3; ++k) {
    const double third = q[w->at + k] - 3.0 * (w->last[0][k] - w->last[1][k]) - w->last[2][k];
    if (first >= CABLE_FIRST && i < CABLE_WINDOWS) w->window[i] = fmax(w->window[i], fabs(third));
    for (int j = 2; j > 0; --j) w->last[j][k] = w->last[j - 1][k];
    w->last[0][k] = q[w->at + k];
  }
}

/* 300 macro steps of h with these degrees. A run that ends because it diverges has grown without bounds. */
static inline cable_watch cable_run(const char *path, int at, double h, int order_force, int order_motion,
                                    const char *more) {
  cable_watch w = {.at = at};
  char        sets[COSIM_TEXT + 256];
  cosim       c;
  snprintf(sets, sizeof sets,
           "cosimulation.step=%.17g;cosimulation.couplings.order_force=%d;cosimulation.couplings.order_motion=%d;"
           "cosimulation.joint_tolerance=1;%s",
           h, order_force, order_motion, more);
  cosim_open(&c, path, sets);
  cosim_expect(&c, YOKE_OK);
  if (cosim_run(&c, CABLE_STEPS * h, cable_look, &w) == YOKE_E_UNSTABLE) w.window[CABLE_WINDOWS - 1] = (double)INFINITY;
  if (c.status != YOKE_E_UNSTABLE) cosim_expect(&c, YOKE_OK);
  cosim_close(&c);
  return w;
}

static inline double cable_growth(const cable_watch *w) {
  return w->window[CABLE_WINDOWS - 1] / w->window[0];
}

/* The last window beside that of a run of the same model that is stable: 1 where third differences are those of the motion alone. */
static inline double cable_excess(const cable_watch *w, const cable_watch *stable) {
  return w->window[CABLE_WINDOWS - 1] / stable->window[CABLE_WINDOWS - 1];
}

#endif
