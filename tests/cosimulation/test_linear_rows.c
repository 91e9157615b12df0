/* Linear bodies with constraint rows C x = c: exact motions, forces of the rows, and splits. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "cosimulate.h"

/* x1 = x2 = x: 6 x'' = -70 x, and the row pulls at the first freedom by 2.5 x'' + 40 x. */
static void two_freedoms_that_are_equal_move_as_one(void **state) {
  static const char        text[] = "yoke: 1\n"
                                    "t_end: 3\n"
                                    "bodies:\n"
                                    "  b: {kind: linear, mass: [[2, 0.5], [0.5, 3]], stiffness: [[60, -20], [-20, 50]],\n"
                                    "      constraints: [[1, -1]], x: [0.3, 0.3], v: [1, 1]}\n"
                                    "output: {select: [total.energy]}\n";
  static const char *const sets[] = {"solvers.default={kind: dop853, rtol: 1e-11, atol: 1e-13}",
                                     "solvers.default={kind: radau5, rtol: 1e-11, atol: 1e-13}",
                                     "solvers.default={kind: bdf, rtol: 1e-9, atol: 1e-11, constraints: baumgarte}",
                                     "solvers.default={kind: dopri5, rtol: 1e-10, atol: 1e-12}"};
  (void)state;
  for (int k = 0; k < 4; ++k) {
    cosim        c = cosim_done_monolithic(text, sets[k], 0.0);
    const double w = sqrt(70.0 / 6.0), x = 0.3 * cos(3.0 * w) + sin(3.0 * w) / w;
    CHECK_NEAR(cosim_value(&c, "b.q[1].x"), x, 1e-7);
    CHECK_NEAR(cosim_value(&c, "b.row[1].x"), 0.0, 1e-12);
    CHECK_NEAR(cosim_value(&c, "b.constraint[1].force[1]"), 2.5 * (-70.0 / 6.0 * x) + 40.0 * x, 1e-5);
    CHECK_NEAR(cosim_value(&c, "total.energy"), 0.5 * 6.0 + 0.5 * 70.0 * 0.09, 1e-6);
    cosim_close(&c);
  }
}

/* Two rows over five freedoms. A freedom in a frame is determined by none, so that the rows take others, by choice of `frames`. */
#define FIVE(frames, more)                                                                                             \
  "yoke: 1\n"                                                                                                          \
  "t_end: 1\n"                                                                                                         \
  "bodies:\n"                                                                                                          \
  "  b:\n"                                                                                                             \
  "    kind: linear\n"                                                                                                 \
  "    mass: {size: 5, symmetric: true, entries: [[1, 1, 2], [2, 2, 1], [3, 3, 1.5], [4, 4, 1], [5, 5, 3],\n"          \
  "           [2, 1, 0.3], [3, 2, 0.2], [4, 3, 0.1], [5, 1, 0.4]]}\n"                                                  \
  "    stiffness: [[40, -10, 0, 0, 0], [-10, 60, -20, 0, 0], [0, -20, 50, -5, 0], [0, 0, -5, 30, -8],\n"               \
  "                [0, 0, 0, -8, 20]]\n"                                                                               \
  "    damping: [0.1, 0.2, 0, 0.3, 0.1]\n"                                                                             \
  "    load: [1, 0, -2, 0, 3]\n"                                                                                       \
  "    constraints: [[1, 0.2, 0.3, 0, 2], [0, 1, -0.5, 2, 0.3]]\n"                                                     \
  "    constraint_values: [0.1, -0.2]\n"                                                                               \
  "    x: [0.1, 0, 0, -0.1, 0]\n"                                                                                      \
  "    v: [0, 1, 0, -0.485, -0.1]\n"                                                                                   \
  "    frames: {" frames "}\n" more "solvers: {default: {kind: dop853, rtol: 1e-11, atol: 1e-13}}\n"

static void it_does_not_matter_which_freedoms_rows_determine(void **state) {
  static const double      C[2][5] = {{1, 0.2, 0.3, 0, 2}, {0, 1, -0.5, 2, 0.3}}, value[2] = {0.1, -0.2};
  static const char *const first_names[] = {"b.q[1].x", "b.q[2].x", "b.q[3].x"}, *const common[] = {
                                                                                     "b.q[3].x",
                                                                                     "b.q[3].v",
                                                                                     "b.constraint[1].force[1]",
                                                                                     "b.constraint[2].force[1]",
                                                                                     "total.energy",
                                                                                     "total.dissipated"};
  (void)state;
  cosim last = cosim_done_monolithic(FIVE("", ""), NULL, 0.0),                     /* rows determine 4 and 5 */
      first  = cosim_done_monolithic(FIVE("d: {x: 4}, e: {x: 5}", ""), NULL, 0.0); /* 1 and 2 */
  double x[5];
  for (int i = 0; i < 3; ++i) x[i] = cosim_value(&last, first_names[i]);
  x[3] = cosim_value(&first, "b.d.x");
  x[4] = cosim_value(&first, "b.e.x");
  for (int k = 0; k < 2; ++k) {
    double sum = -value[k];
    for (int i = 0; i < 5; ++i) sum += C[k][i] * x[i];
    CHECK_NEAR(sum, 0.0, 1e-10);
  }
  for (size_t i = 0; i < sizeof common / sizeof *common; ++i) {
    const double a = cosim_value(&last, common[i]), b = cosim_value(&first, common[i]);
    CHECK_NEAR(a, b, 1e-9 * (1.0 + fabs(a)));
    assert_true(a != 0.0);
  }
  cosim_close(&last);
  cosim_close(&first);
}

/* One row in kN/m, another in um: a power of two keeps every bit. */
static void sizes_of_rows_do_not_matter(void **state) {
#define SIZED(rows)                                                                                                    \
  "yoke: 1\nt_end: 1\nbodies:\n"                                                                                       \
  "  b: {kind: linear, mass: [2, 3, 1], stiffness: [[60, -20, 0], [-20, 50, -5], [0, -5, 10]], " rows ",\n"            \
  "      x: [0.3, 0.5, -1.4], v: [1, 2, -6]}\noutput: {select: [total.energy]}\n"
  (void)state;
  cosim plain =
      cosim_done_monolithic(SIZED("constraints: [[2, -1, 0], [0, 3, 1]], constraint_values: [0.1, 0.1]"), NULL, 0.0);
  cosim sized = cosim_done_monolithic(SIZED("constraints: [['2*2^20', '-2^20', 0], [0, '3/2^20', '1/2^20']], "
                                            "constraint_values: ['0.1*2^20', '0.1/2^20']"),
                                      NULL, 0.0);
  static const char *const names[] = {"b.q[3].x", "b.q[3].v", "b.constraint[1].force[1]", "b.constraint[2].force[1]"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    assert_true(cosim_value(&plain, names[i]) == cosim_value(&sized, names[i]));
  cosim_close(&plain);
  cosim_close(&sized);
}

/* A mass hangs on the body by a rigid joint, or by a spring. */
static void a_body_with_rows_is_a_subsystem_like_any_other(void **state) {
#define CUT(connection)                                                                                                \
  FIVE("a: {x: 1}", "  m: {kind: mass1d, mass: 2, x: 0.1, v: 0}\n"                                                     \
                    "connections: {j: {" connection "}}\n"                                                             \
                    "split: {one: [b], two: [m]}\n"                                                                    \
                    "cosimulation: {scheme: implicit, order: 2, step: 2e-3}\n")
  static const char *const models[] = {
      CUT("kind: fixed, between: [b.a, m]"),
      CUT("kind: spring-damper, between: [b.a, m], stiffness: 100, damping: 1, free_length: 0")};
  (void)state;
  for (int i = 0; i < 2; ++i) {
    cosim whole = cosim_done_monolithic(models[i], NULL, 0.0), split = cosim_done(models[i], NULL, 0.0);
    CHECK_NEAR(cosim_value(&split, "m.x"), cosim_value(&whole, "m.x"), 1e-6);
    CHECK_NEAR(cosim_value(&split, "b.q[3].v"), cosim_value(&whole, "b.q[3].v"), 1e-5);
    CHECK_NEAR(cosim_value(&split, "b.row[1].x"), 0.1 / 2.0, 1e-12); /* of the row by its largest entry */
    cosim_close(&whole);
    cosim_close(&split);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_freedoms_that_are_equal_move_as_one),
      cmocka_unit_test(it_does_not_matter_which_freedoms_rows_determine),
      cmocka_unit_test(sizes_of_rows_do_not_matter),
      cmocka_unit_test(a_body_with_rows_is_a_subsystem_like_any_other),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
