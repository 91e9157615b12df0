/* Every example with a rigid joint across its split, with every formulation of rigid joints from the list of the program: the run
 * follows the whole model, or is refused with a reason. A formulation that is new in its list takes part without an edit here. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "cosimulate.h"
#include "coupling/formulation.h"

static const struct {
  const char *file, *name;
  double      step;
} examples[] = {
    {"examples/two-mass-rigid.yaml", "m2.x", 1e-3},       {"examples/double-pendulum.yaml", "lower.angle", 1e-3},
    {"examples/slider-crank.yaml", "bar2.angle", 1e-3},   {"examples/slider-crank-classic.yaml", "rod.angle", 1e-3},
    {"examples/four-bar-fixed.yaml", "bar4.angle", 1e-3}, {"examples/four-bar-spatial.yaml", "bar4.y", 1e-3},
    {"examples/nonlinear-two-mass.yaml", "m2.x", 1e-4},   {"examples/kinematic-two-mass.yaml", "co.x", 1e-3},
};
enum { N_EXAMPLES = (int)(sizeof examples / sizeof examples[0]), N_STEPS = 20 };

/* Order 0, with which every formulation is zero-stable: the error is O(H) at worst. */
static yoke_status open_example(int i, const yoke_formulation_ops *ops, cosim *c) {
  static const char *const schemes[] = {"semi-implicit", "explicit"};
  yoke_status              status    = YOKE_OK;
  for (int s = 0; s < 2; ++s) {
    char              sets[COSIM_TEXT];
    /* kinematic coupling holds motions over a step at order 0, so its joint is open by v H */
    const char *const gap = strcmp(ops->name, "kinematic") == 0 ? ";cosimulation.joint_tolerance=1" : "";
    snprintf(
        sets, sizeof sets,
        "cosimulation.step=%g;cosimulation.order=0;cosimulation.scheme=%s;cosimulation.couplings={formulation: %s}%s",
        examples[i].step, schemes[s], ops->name, gap);
    status = cosim_open(c, examples[i].file, sets);
    if (status == YOKE_OK || s == 1) break;
    cosim_close(c);
  }
  return status;
}

static void check_reason(int i, const yoke_formulation_ops *ops, const cosim *c) {
  if ((c->status == YOKE_E_USAGE || c->status == YOKE_E_MODEL) && yoke_context_n_messages(c->ctx) > 0 &&
      strlen(yoke_context_message(c->ctx, 0)) > 40)
    return;
  fail_msg("%s, formulation %s: refused with %s and no reason", examples[i].file, ops->name,
           yoke_status_name(c->status));
}

static void examples_follow_the_whole_with_every_formulation_or_are_refused_with_a_reason(void **state) {
  (void)state;
  int n_refused = 0;
  for (int i = 0; i < N_EXAMPLES; ++i) {
    const double t_end = N_STEPS * examples[i].step;
    cosim        whole = cosim_done_monolithic(examples[i].file, NULL, t_end);
    const double exact = cosim_value(&whole, examples[i].name);
    cosim_close(&whole);
    for (int f = 0; f < yoke_formulation_n(); ++f) {
      const yoke_formulation_ops *ops = yoke_formulation_at(f);
      cosim                       c;
      if (!ops->for_joints) continue;
      if (open_example(i, ops, &c) == YOKE_OK) {
        cosim_run(&c, t_end, NULL, NULL);
        cosim_expect(&c, YOKE_OK);
        if (!(fabs(cosim_value(&c, examples[i].name) - exact) <= 3e-3 * fmax(1.0, fabs(exact))))
          fail_msg("%s, formulation %s: %s is %.9g, expected %.9g", examples[i].file, ops->name, examples[i].name,
                   cosim_value(&c, examples[i].name), exact);
      } else {
        check_reason(i, ops, &c);
        ++n_refused;
      }
      cosim_close(&c);
    }
  }
  assert_int_equal(n_refused, 2); /* kinematic: no side of the two welds can follow a motion */
}

/* Steps and orders that a solver chooses inside a macro step are not the same in all passes: multipliers, which are positions times m / H^2, do
 * not settle, while the joints stay closed. */
static void f51_solvers_whose_noise_corrections_feel_end_right(void **state) {
  (void)state;
  static const struct {
    const char *file, *name, *solver;
    double      rtol, t_end;
  } runs[] = {{"examples/four-bar-spatial.yaml", "bar4.y", "radau5", 1e-5, 0.02},
              {"examples/four-bar-spatial.yaml", "bar4.y", "bdf", 1e-6, 0.01},
              {"examples/robot-arm-split.yaml", "fore.angle", "bdf", 1e-5, 0.03},
              {"examples/robot-arm-split.yaml", "fore.angle", "genalpha", 1e-6, 0.1}};
  for (size_t i = 0; i < sizeof runs / sizeof runs[0]; ++i) {
    cosim        whole = cosim_done_monolithic(runs[i].file, NULL, runs[i].t_end);
    const double exact = cosim_value(&whole, runs[i].name);
    char         sets[COSIM_TEXT];
    cosim        c;
    cosim_close(&whole);
    snprintf(sets, sizeof sets, "solvers.default.kind=%s;solvers.default.rtol=%g", runs[i].solver, runs[i].rtol);
    if (cosim_open(&c, runs[i].file, sets) == YOKE_OK) cosim_run(&c, runs[i].t_end, NULL, NULL);
    cosim_expect(&c, YOKE_OK);
    CHECK_NEAR(cosim_value(&c, runs[i].name), exact, 1e-4);
    cosim_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(f51_solvers_whose_noise_corrections_feel_end_right),
      cmocka_unit_test(examples_follow_the_whole_with_every_formulation_or_are_refused_with_a_reason),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
