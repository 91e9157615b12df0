/* Spatial four-bar of rigid bodies (Lu 3.3.1.4), its closed loop cut through a weld, a universal and a spherical joint. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "levels.h"

static const char *const model    = "examples/four-bar-spatial.yaml";
static const char *const splits[] = {"{left: [bar1, bar2], right: [bar3, bar4]}",
                                     "{a: [bar1, bar2], b: [bar3], c: [bar4]}",
                                     "{a: [bar1], b: [bar2, bar3], c: [bar4]}"};
enum { N_SPLITS = (int)(sizeof splits / sizeof splits[0]) };

static const char *const names[] = {"bar1.x",  "bar1.wy", "bar2.q1", "bar2.vx",
                                    "bar3.q2", "bar3.wx", "bar4.y",  "bar4.wx"};
enum { N_NAMES = (int)(sizeof names / sizeof names[0]) };

typedef struct method {
  const char *formulation;
  int         degree, order; /* of the multipliers; of the states */
  double      step;
} method;

static const method methods[] = {
    {"stabilized-index-2", 1, 4, 4e-3}, {"stabilized-index-1", 1, 4, 4e-3}, {"stabilized-index-2-mu", 0, 2, 2e-3}};
enum { N_METHODS = (int)(sizeof methods / sizeof methods[0]) };

static const double t_end = 0.28; /* s: bar 1 has turned by 1.1 rad and is fast */

static void reference(double *z) {
  cosim whole = cosim_done_monolithic(model, "solvers.default.rtol=1e-12", t_end);
  for (int i = 0; i < N_NAMES; ++i) z[i] = cosim_value(&whole, names[i]);
  cosim_close(&whole);
}

static double error_of(const method *m, const char *scheme, const char *split, double H, const double *exact,
                       levels *l) {
  char   sets[COSIM_TEXT];
  double largest = 0.0;
  cosim  c;
  snprintf(sets, sizeof sets,
           "split=%s;cosimulation.scheme=%s;cosimulation.couplings.formulation=%s;cosimulation.order=%d;"
           "cosimulation.step=%g;solvers.default.rtol=1e-12",
           split, scheme, m->formulation, m->degree, H);
  *l = (levels){.c = &c};
  cosim_open(&c, model, sets);
  cosim_run(&c, t_end, look_at_levels, l);
  cosim_expect(&c, YOKE_OK);
  for (int i = 0; i < N_NAMES; ++i) largest = fmax(largest, fabs(cosim_value(&c, names[i]) - exact[i]));
  cosim_close(&c);
  return largest;
}

static void the_closed_loop_holds_to_1e_8_at_every_macro_point(void **state) {
  (void)state;
  double exact[N_NAMES];
  levels l;
  reference(exact);
  for (int m = 0; m < N_METHODS; ++m) {
    for (int s = 0; s < N_SPLITS; ++s) {
      const double error = error_of(&methods[m], "implicit", splits[s], methods[m].step, exact, &l);
      CHECK_BELOW(l.largest[0], 1e-8);
      CHECK_BELOW(l.largest[1], 1e-8);
      if (strcmp(methods[m].formulation, "stabilized-index-1") == 0)
        CHECK_BELOW(l.largest[2], 1e-5); /* of accelerations about 50 m/s^2 */
      CHECK_BELOW(error, methods[m].order == 4 ? 1e-6 : 2e-2);
    }
  }
}

static void errors_against_the_whole_fall_at_the_stated_orders(void **state) {
  (void)state;
  double exact[N_NAMES];
  reference(exact);
  for (int m = 0; m < N_METHODS; ++m) {
    double err[2];
    levels l;
    for (int i = 0; i < 2; ++i)
      err[i] = error_of(&methods[m], "semi-implicit", splits[0], ldexp(methods[m].step, -i), exact, &l);
    CHECK_BELOW(methods[m].order - 0.2, log2(err[0] / err[1]));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_closed_loop_holds_to_1e_8_at_every_macro_point),
      cmocka_unit_test(errors_against_the_whole_fall_at_the_stated_orders),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
