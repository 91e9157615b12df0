/* Subsystems that cannot go back: what works with them, with which bits, and what is refused by name. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "cosimulate.h"

static const char *const two_mass = "examples/two-mass.yaml";

static yoke_status open_forward(cosim *c, const char *sets, const char *part) {
  const yoke_cosimulation_options options = {.exec = "serial", .threads = 1, .forward = part, .check = true};
  if (cosim_load(c, two_mass, sets) == YOKE_OK)
    c->status = yoke_simulation_create_split(c->ctx, c->model, &options, &c->simulation);
  return c->status;
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
    assert_int_equal(yoke_simulation_value(c.simulation, yoke_simulation_output_name(c.simulation, 0), &x[k], c.ctx),
                     YOKE_OK);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fixed_explicit_steps_are_the_same_bits_without_a_way_back),
      cmocka_unit_test(schemes_that_repeat_steps_are_refused_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
