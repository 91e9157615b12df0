/* Simulations that start from a rest state. Uses include/yoke only. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include <yoke/yoke.h>
#include <math.h>

static yoke_context    *ctx;
static yoke_model      *model;
static yoke_simulation *simulation;

static int open_pendulum(void **state) {
  (void)state;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_model_load(ctx, "examples/double-pendulum.yaml", NULL, &model), YOKE_OK);
  return 0;
}

static int close_pendulum(void **state) {
  (void)state;
  yoke_simulation_destroy(&simulation);
  yoke_model_destroy(&model);
  yoke_context_destroy(&ctx);
  return 0;
}

static double value(const char *name) {
  int    handle;
  double number;
  assert_int_equal(yoke_simulation_find(ctx, simulation, 1, &name, &handle), YOKE_OK);
  assert_int_equal(yoke_simulation_get(ctx, simulation, 1, &handle, &number), YOKE_OK);
  return number;
}

/* It hangs straight down at the start, and half a second later. */
static void stays_at_rest(bool monolithic) {
  const yoke_simulation_options options = {.size = sizeof options, .monolithic = monolithic, .at_rest = true};
  assert_int_equal(yoke_simulation_create(ctx, model, &options, &simulation), YOKE_OK);
  const double x = value("lower.x"), y = value("lower.y");
  assert_true(fabs(x) < 1e-12 && y < 0.0);
  assert_int_equal(yoke_simulation_run_to(ctx, simulation, 0.5), YOKE_OK);
  assert_true(fabs(value("lower.x")) < 1e-10 && fabs(value("lower.y") - y) < 1e-10);
  assert_true(fabs(value("lower.vx")) < 1e-9);
}

static void a_model_as_a_whole_stays_at_rest(void **state) {
  (void)state;
  stays_at_rest(true);
}

static void a_split_model_stays_at_rest(void **state) {
  (void)state;
  stays_at_rest(false);
}

static void a_negative_number_of_load_steps_is_refused(void **state) {
  (void)state;
  const yoke_simulation_options options = {.size = sizeof options, .at_rest = true, .load_steps = -1};
  assert_int_equal(yoke_simulation_create(ctx, model, &options, &simulation), YOKE_E_USAGE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_pendulum, close_pendulum)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_model_as_a_whole_stays_at_rest),
      TEST(a_split_model_stays_at_rest),
      TEST(a_negative_number_of_load_steps_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
