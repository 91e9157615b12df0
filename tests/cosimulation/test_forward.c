/* Subsystems that cannot go back: what works with them, with which bits, and what is refused by name. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "cosimulate.h"

static const char *const two_mass = "examples/two-mass.yaml";

static yoke_status open_model(cosim *c, const char *path, const char *sets, const char *part) {
  const yoke_system_options options = {.exec = "serial", .threads = 1, .forward = part, .check = true};
  cosim_load(c, path, sets);
  cosim_start(c, false, &options);
  return c->status;
}

static yoke_status open_forward(cosim *c, const char *sets, const char *part) {
  return open_model(c, two_mass, sets, part);
}

static bool says(const yoke_context *ctx, const char *words) {
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) {
    if (strstr(yoke_context_message(ctx, i), words) != NULL) return true;
  }
  return false;
}

/* Name of the second part of the example. */
static char *second_part(void) {
  static char name[64];
  cosim       c;
  assert_int_equal(cosim_load(&c, two_mass, NULL), YOKE_OK);
  snprintf(name, sizeof name, "%s", c.model->parts[1].name);
  cosim_close(&c);
  return name;
}

static void fixed_explicit_steps_are_the_same_bits_without_a_way_back(void **state) {
  (void)state;
  static const char *const sets = "cosimulation.scheme=explicit;cosimulation.order=2";
  double                   x[2];
  for (int k = 0; k < 2; ++k) {
    cosim c;
    assert_int_equal(open_forward(&c, sets, k == 0 ? NULL : second_part()), YOKE_OK);
    assert_int_equal(cosim_run(&c, 0.0, NULL, NULL), YOKE_OK);
    assert_int_equal(yoke_system_value(c.system, c.plan->outputs.name[0], &x[k], c.ctx), YOKE_OK);
    cosim_close(&c);
  }
  assert_memory_equal(&x[0], &x[1], sizeof x[0]);
}

static void schemes_that_repeat_steps_are_refused_by_name(void **state) {
  (void)state;
  static const char *const schemes[] = {"semi-implicit", "implicit", "waveform"};
  for (size_t k = 0; k < sizeof schemes / sizeof schemes[0]; ++k) {
    char  sets[80], words[120];
    cosim c;
    snprintf(sets, sizeof sets, "cosimulation.scheme=%s", schemes[k]);
    snprintf(words, sizeof words, "subsystem '%s' cannot go back", second_part());
    assert_int_equal(open_forward(&c, sets, second_part()), YOKE_E_MODEL);
    assert_true(says(c.ctx, words));
    cosim_close(&c);
  }
}

/* ---- step control ---- */

#define CONTROLLED "cosimulation.scheme=explicit;cosimulation.order=auto;cosimulation.step={estimator: cv, rtol: 1e-4}"

static void the_coupling_values_of_a_step_set_the_next_one(void **state) {
  (void)state;
  static const char *const rtol[] = {";cosimulation.step.rtol=1e-3", ";cosimulation.step.rtol=1e-5"};
  double                   exact, err[2];
  cosim                    c;
  assert_int_equal(cosim_open_monolithic(&c, two_mass, NULL), YOKE_OK);
  assert_int_equal(cosim_run(&c, 0.0, NULL, NULL), YOKE_OK);
  exact = cosim_value(&c, "m1.x");
  cosim_close(&c);
  for (int k = 0; k < 2; ++k) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets, "%s%s", CONTROLLED, rtol[k]);
    assert_int_equal(open_forward(&c, sets, second_part()), YOKE_OK);
    assert_int_equal(cosim_run(&c, 0.0, NULL, NULL), YOKE_OK);
    err[k] = fabs(cosim_value(&c, "m1.x") - exact);
    assert_int_equal(c.summary.macro.rejected, 0); /* nothing can be repeated */
    cosim_close(&c);
  }
  assert_true(err[1] < 0.2 * err[0]);
}

static void acceptance_is_called_uncontrolled_and_names_the_subsystem(void **state) {
  (void)state;
  char  words[120];
  cosim c;
  snprintf(words, sizeof words, "uncontrolled acceptance (subsystem '%s' cannot go back)", second_part());
  assert_int_equal(open_forward(&c, CONTROLLED, second_part()), YOKE_OK);
  assert_non_null(strstr(yoke_system_choice(c.system)->reasons, words));
  cosim_close(&c);
}

static void with_a_way_back_acceptance_is_controlled(void **state) {
  (void)state;
  cosim c;
  assert_int_equal(open_forward(&c, CONTROLLED, NULL), YOKE_OK);
  assert_null(strstr(yoke_system_choice(c.system)->reasons, "uncontrolled"));
  cosim_close(&c);
}

/* The wall is met with a step that is too long: it is kept, counted, and the next steps are shorter. */
static void steps_with_too_large_an_error_are_kept_and_counted(void **state) {
  (void)state;
  cosim c;
  assert_int_equal(open_model(&c, "examples/bouncing-contact.yaml", CONTROLLED, "load"), YOKE_OK);
  assert_int_equal(cosim_run(&c, 0.4, NULL, NULL), YOKE_OK);
  assert_true(c.summary.macro.forced > 0);
  assert_int_equal(c.summary.macro.rejected, 0);
  assert_true(isfinite(cosim_value(&c, "box.x")));
  cosim_close(&c);
}

static void estimators_that_repeat_steps_are_refused_by_name(void **state) {
  (void)state;
  static const char *const estimators[] = {"md", "le"};
  for (int k = 0; k < 2; ++k) {
    char  sets[COSIM_TEXT];
    cosim c;
    snprintf(sets, sizeof sets, "%s;cosimulation.step.estimator=%s", CONTROLLED, estimators[k]);
    assert_int_equal(open_forward(&c, sets, second_part()), YOKE_E_MODEL);
    assert_true(says(c.ctx, second_part()));
    assert_true(says(c.ctx, "use estimator cv"));
    cosim_close(&c);
  }
}

static void without_a_word_the_estimator_is_one_that_needs_no_way_back(void **state) {
  (void)state;
  cosim c;
  assert_int_equal(
      open_forward(&c, "cosimulation.scheme=explicit;cosimulation.step=auto;cosimulation.order=auto", second_part()),
      YOKE_OK);
  assert_non_null(strstr(yoke_system_choice(c.system)->reasons, "estimator cv"));
  cosim_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fixed_explicit_steps_are_the_same_bits_without_a_way_back),
      cmocka_unit_test(schemes_that_repeat_steps_are_refused_by_name),
      cmocka_unit_test(the_coupling_values_of_a_step_set_the_next_one),
      cmocka_unit_test(acceptance_is_called_uncontrolled_and_names_the_subsystem),
      cmocka_unit_test(with_a_way_back_acceptance_is_controlled),
      cmocka_unit_test(steps_with_too_large_an_error_are_kept_and_counted),
      cmocka_unit_test(estimators_that_repeat_steps_are_refused_by_name),
      cmocka_unit_test(without_a_word_the_estimator_is_one_that_needs_no_way_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
