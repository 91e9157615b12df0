/* The engine's amplification matrix of a kinematic coupling against the closed-form recurrence: every force, pair of degrees, motion and time
 * of outputs. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/cosimulate.h"
#include "analysis/recurrence.h"
#include "analysis/stability.h"

static const char *const forces[]  = {"exact", "reduced", "approximate"};
static const char *const motions[] = {"same", "derivative"};
static const char *const outputs[] = {"parallel", "current", "sequential", "held"};

static double engine_radius(const yoke_test_model *m, const yoke_test_method *k) {
  char                 sets[COSIM_TEXT];
  cosim                c;
  yoke_stability      *s = NULL;
  yoke_stability_point point;
  const int            n = snprintf(
                 sets, sizeof sets,
                 "parameters.m_R=%.17g;cosimulation.step=%.17g;cosimulation.couplings.force=%s;cosimulation.couplings.order_"
                            "force=%d;cosimulation.couplings.order_motion=%d;cosimulation.couplings.motion=%s;cosimulation."
                            "couplings.outputs=%s",
                 m->m_R, m->H, forces[k->force], k->order_force, k->order_motion, motions[k->motion], outputs[k->outputs]);
  assert_true(n < (int)sizeof sets);
  assert_int_equal(cosim_load(&c, "examples/kinematic-two-mass.yaml", sets), YOKE_OK);
  assert_int_equal(yoke_stability_create(c.ctx, c.model, 0, &s), YOKE_OK);
  assert_int_equal(yoke_stability_at(s, 0.0, &point, c.ctx), YOKE_OK);
  yoke_stability_destroy(&s);
  cosim_close(&c);
  return point.rho;
}

static void kinematic_radii_are_those_of_the_recurrences(void **state) {
  (void)state;
  int  n_different = 0;
  char text[2048]  = "";
  for (int i = 0; i < 3 * 9 * 2 * 4 * 2; ++i) {
    yoke_test_method k = yoke_test_method_default();
    yoke_test_model  m = yoke_test_model_default(YOKE_KINEMATIC_TWO_MASS);
    double           oracle;
    k.scheme       = "explicit";
    k.force        = (yoke_test_force)(i % 3);
    k.order_force  = i / 3 % 3;
    k.order_motion = i / 9 % 3;
    k.motion       = (yoke_test_motion)(i / 27 % 2);
    k.outputs      = (yoke_test_outputs)(i / 54 % 4);
    m.H            = 0.03;
    m.m_R          = i / 216 == 0 ? 5.0 : 0.4;
    assert_int_equal(yoke_recurrence_radius(NULL, &m, &k, &oracle), YOKE_OK);
    const double engine = engine_radius(&m, &k);
    if (fabs(engine - oracle) <= 1e-9 * fmax(1.0, oracle)) continue;
    const size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "%s %d %d %s %s m_R %g: engine %.12g, oracle %.12g\n", forces[k.force],
             k.order_force, k.order_motion, motions[k.motion], outputs[k.outputs], m.m_R, engine, oracle);
    ++n_different;
  }
  if (n_different > 0) fail_msg("%d of 432 differ:\n%s", n_different, text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kinematic_radii_are_those_of_the_recurrences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
