/* The program with step control: options, summary, what is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "program.h"

#define MODEL "examples/two-mass.yaml"

static void options_of_step_control_override_keys_like_set_does(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run " MODEL " -q --t-end 0.1 --macro-rtol 1e-5 --estimator cv --order auto --csv @/a.csv"),
                   0);
  assert_int_equal(yoke(f, "run " MODEL " -q --t-end 0.1 --set cosimulation.step.rtol=1e-5 --set "
                           "cosimulation.step.estimator=cv --set cosimulation.order=auto --csv @/b.csv"),
                   0);
  assert_int_equal(yoke(f, "compare @/a.csv @/b.csv --exact"), 0);
}

static void summary_and_json_tell_what_step_control_chose(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run " MODEL " --t-end 0.1 --step auto --order auto"), 0);
  assert_says(f->out, "step control with rtol 0.0001");
  assert_says(f->out, "estimator md (motion of the corrector against that of the predictor)");
  assert_says(f->out, "order 0 to 5");
  assert_int_equal(yoke(f, "run " MODEL " --t-end 0.1 --macro-rtol 1e-3 --json"), 0);
  assert_says(f->out, "\"macro_rtol\": 0.001");
  assert_says(f->out, "\"control\": \"estimator md");
  assert_int_equal(yoke(f, "run " MODEL " --t-end 0.1 --json"), 0);
  assert_says(f->out, "\"control\": null");
  assert_int_equal(yoke(f, "info " MODEL " --set cosimulation.step=auto"), 0);
  assert_says(f->out, "step control: estimator md");
}

static void a_tighter_macro_rtol_gives_a_smaller_coupling_error(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "compare " MODEL " --t-end 0.1 --macro-rtol 1e-8 --order auto"), 0);
  assert_int_equal(yoke(f, "compare " MODEL " --t-end 0.1 --macro-rtol 1e-2 --order auto"), 1);
}

static void wrong_values_of_step_control_are_refused(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run " MODEL " --macro-rtol x"), 2);
  assert_says(f->err, "--macro-rtol is 'x', expected a number > 0");
  assert_int_equal(yoke(f, "run " MODEL " --estimator dm"), 2);
  assert_says(f->err, "expected md, cv, le");
  assert_int_equal(yoke(f, "run " MODEL " --order auto"), 3); /* the file has a fixed step */
  assert_says(f->err, "use cosimulation.step auto");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(options_of_step_control_override_keys_like_set_does),
      TEST(summary_and_json_tell_what_step_control_chose),
      TEST(a_tighter_macro_rtol_gives_a_smaller_coupling_error),
      TEST(wrong_values_of_step_control_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
