/* yoke run --static: rest states, load steps, and what is said where there is none. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "program.h"
#include <math.h>

/* Value that was printed for `name`. */
static double printed(const fixture *f, const char *name) {
  char line[80];
  snprintf(line, sizeof line, "%s ", name);
  const char *at = strstr(f->out, line);
  assert_non_null(at);
  return strtod(at + strlen(line), NULL);
}

static void model(const fixture *f, const char *text) {
  char path[128];
  write_text(in_folder(f, "m.yaml", path), text);
}

/* x = m g / c below the relaxed length. */
static void a_mass_hangs_where_its_spring_carries_it(void **state) {
  fixture *f = *state;
  model(f, "yoke: 1\ngravity: [9.81, 0, 0]\n"
           "t_end: 1\n"
           "bodies: {m: {kind: mass1d, mass: 2, x: 0.3}}\n"
           "connections: {s: {kind: spring-damper, between: [ground, m], stiffness: 500, free_length: 0}}\n");
  assert_int_equal(yoke(f, "run @/m.yaml --static --print m.x,m.v,s.force[1]"), 0);
  assert_true(fabs(printed(f, "m.x") - 2 * 9.81 / 500) < 1e-14);
  assert_true(printed(f, "m.v") == 0.0);
  assert_non_null(strstr(f->err, "at rest"));
}

/* A cylinder that pushes with 20 N and has a law of t and v, which no energy knows: c x = 20 - m g. */
static void a_law_of_time_and_speed_is_put_to_rest_upwards(void **state) {
  fixture *f = *state;
  model(f, "yoke: 1\ngravity: [-1, 0, 0]\n"
           "t_end: 1\n"
           "bodies: {m: {kind: mass1d, mass: 2, x: 0}}\n"
           "connections: {s: {kind: spring-damper, between: [ground, m], law: '500*(x - t) + 3*v - 20'}}\n");
  assert_int_equal(yoke(f, "run @/m.yaml --static --print m.x"), 0);
  assert_true(fabs(printed(f, "m.x") - (20.0 - 2.0) / 500.0) < 1e-12);
}

/* A start from which thousand hinges have to turn; the tip of a chain that hangs is straight below. */
static void a_long_chain_of_rods_hangs_straight_down(void **state) {
  fixture *f = *state;
  assert_int_equal(
      yoke(f, "run examples/pendulum-chain.yaml --static --set parameters.N=120 --print rod[120].x,rod[120].y"), 0);
  assert_true(fabs(printed(f, "rod[120].x")) < 1e-9);
  assert_true(fabs(printed(f, "rod[120].y") + 119.5) < 1e-9);
}

/* Two bars of stiffness c between (-1, 0), (1, 0) and a knee at (0, y), which is pressed down by P: c (1 - l0 / l) 2 y = -P. Its branch ends
 * in a limit point; below that the knee stays above the supports. */
#define KNEE                                                                                                           \
  "yoke: 1\n"                                                                                                          \
  "t_end: 1\n"                                                                                                         \
  "bodies: {k: {kind: particle, mass: 1, position: [0, 0.5, 0]}}\n"                                                    \
  "frames: {ground.a: [-1, 0, 0], ground.b: [1, 0, 0], ground.c: [0, 0.5, 1]}\n"                                       \
  "connections:\n"                                                                                                     \
  "  l: {kind: spring-damper, between: [ground.a, k], stiffness: 1000}\n"                                              \
  "  r: {kind: spring-damper, between: [ground.b, k], stiffness: 1000}\n"                                              \
  "  side: {kind: inplane, between: [ground, k]}\n"

static void load_steps_follow_the_branch_that_begins_at_the_start(void **state) {
  fixture *f = *state;
  model(f, KNEE "loads: {p: {kind: constant, on: k, force: [0, -35, 0]}}\n");
  assert_int_equal(yoke(f, "run @/m.yaml --static --load-steps 20 --print k.y"), 0);
  const double y = printed(f, "k.y"), l0 = sqrt(1.25), l = hypot(1, y);
  assert_true(y > 0.3);
  assert_true(fabs(1000 * (1 - l0 / l) * 2 * y + 35) < 1e-9);
  assert_non_null(strstr(f->err, "20 load steps"));
}

static void a_model_that_nothing_holds_has_no_rest_state(void **state) {
  fixture *f = *state;
  model(f, "yoke: 1\ngravity: [0, -9.81, 0]\nt_end: 1\nbodies: {stone: {kind: particle, mass: 1}}\n");
  assert_int_equal(yoke(f, "run @/m.yaml --static -o @/r.h5"), 4);
  assert_non_null(strstr(f->err, "no rest state"));
  assert_non_null(strstr(f->err, "stone.vy"));
  char path[128];
  assert_int_not_equal(access(in_folder(f, "r.h5", path), F_OK), 0);
}

static void the_result_holds_one_time(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run examples/double-pendulum.yaml --static --csv @/r.csv"), 0);
  char  path[128];
  char *text = read_text(in_folder(f, "r.csv", path));
  int   rows = 0;
  for (const char *c = text; *c; ++c) rows += *c == '\n' && c[1] != '\0' && c[1] != '#';
  free(text);
  assert_int_equal(rows, 1);
  assert_non_null(strstr(f->out, "(1 time of "));
}

static void load_steps_belong_to_statics(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run examples/pendulum.yaml --load-steps 3"), 2);
  assert_int_equal(yoke(f, "run examples/pendulum.yaml --static --load-steps 0"), 2);
  assert_non_null(strstr(f->err, "expected a whole number"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_mass_hangs_where_its_spring_carries_it),
      TEST(a_law_of_time_and_speed_is_put_to_rest_upwards),
      TEST(a_long_chain_of_rods_hangs_straight_down),
      TEST(load_steps_follow_the_branch_that_begins_at_the_start),
      TEST(a_model_that_nothing_holds_has_no_rest_state),
      TEST(the_result_holds_one_time),
      TEST(load_steps_belong_to_statics),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
