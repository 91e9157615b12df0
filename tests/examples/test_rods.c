/* Examples with rods: split runs follow their tolerance to the model as a whole. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/cosimulate.h"

enum { MOST_NAMES = 8 };

typedef struct subject {
  const char *path, *sets;
  double      t_end;
  const char *names[MOST_NAMES]; /* NULL behind the last */
} subject;

/* Values at the end; how many. */
static int look(const cosim *c, const subject *s, double z[MOST_NAMES]) {
  int n = 0;
  for (; n < MOST_NAMES && s->names[n] != NULL; ++n) z[n] = cosim_value(c, s->names[n]);
  return n;
}

/* Largest error of a split run in units of what the quantity is, and its macro steps. */
static double error_with(const subject *s, double rtol, const double *exact, int64_t *n_steps) {
  char   sets[400];
  double z[MOST_NAMES], error = 0.0;
  snprintf(sets, sizeof sets, "%s;cosimulation.step={rtol: %g}", s->sets, rtol);
  cosim     c = cosim_done(s->path, sets, s->t_end);
  const int n = look(&c, s, z);
  for (int i = 0; i < n; ++i) error = fmax(error, fabs(z[i] - exact[i]) / fabs(exact[i]));
  *n_steps = c.summary.macro.steps;
  cosim_close(&c);
  return error;
}

static void follows(const subject *s) {
  static const double rtol[2] = {1e-3, 1e-5};
  double              exact[MOST_NAMES], error[2];
  int64_t             n_steps[2];
  cosim               whole = cosim_done_monolithic(s->path, s->sets, s->t_end);
  (void)look(&whole, s, exact);
  cosim_close(&whole);
  for (int k = 0; k < 2; ++k) {
    error[k] = error_with(s, rtol[k], exact, &n_steps[k]);
    CHECK_BELOW(error[k], rtol[k]);
  }
  assert_true(error[1] < error[0]);
  assert_true(n_steps[1] > n_steps[0]);
}

static void the_crane_follows_the_tolerance(void **state) {
  (void)state; /* at 0.2 s the wave in the rope has reached the load: before, the load is where it was to 1e-12 m */
  const subject crane = {"examples/crane.yaml",
                         "parameters.begin=0.05;solvers.default.rtol=1e-9",
                         0.2,
                         {"load.x", "load.z", "load.vx", "trolley.x", "rope.node[6].x"}};
  follows(&crane);
}

static void the_elastic_slider_crank_follows_the_tolerance(void **state) {
  (void)state;
  const subject crank = {"examples/beam-slider-crank.yaml",
                         "solvers.default.rtol=1e-9",
                         0.003,
                         {"slider.x", "slider.vx", "crank.wz", "rod.node[3].y", "rod.node[3].vx"}};
  follows(&crank);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_crane_follows_the_tolerance),
      cmocka_unit_test(the_elastic_slider_crank_follows_the_tolerance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
