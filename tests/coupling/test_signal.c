/* Formulation signal by itself: value, derivatives, and who may not have it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/cosimulate.h"
#include "coupling/formulation.h"

enum { N = 3 };

static yoke_symbol_kind look_up(void *user, const char *name, double *value, int *variable) {
  static const char *const names[N + 1] = {"t", "a", "b", "c"};
  (void)user, (void)value;
  for (int k = 0; k <= N; ++k) {
    if (strcmp(name, names[k]) != 0) continue;
    *variable = k;
    return YOKE_SYMBOL_VARIABLE;
  }
  return YOKE_SYMBOL_UNKNOWN;
}

typedef struct wire {
  const yoke_formulation_ops *ops;
  yoke_expression            *expression;
  yoke_signal_law             law;
  void                       *self;
  yoke_arena                  scratch;
} wire;

/* text NULL: the first value itself. */
static wire open_wire(const char *text) {
  const yoke_symbols symbols = {.lookup = look_up};
  char               message[200];
  wire               x = {.ops = yoke_formulation_find("signal"), .law = {.n = N, .factor = -2.5, .offset = 0.75}};
  if (text != NULL)
    assert_int_equal(yoke_expression_compile(text, &symbols, message, sizeof message, &x.expression), YOKE_OK);
  x.law.expression            = x.expression;
  const yoke_coupling_def def = {
      .name = "c", .formulation = x.ops, .signal = &x.law, .shape = {&yoke_shape_signal, &yoke_shape_signal}};
  assert_int_equal(x.ops->check(NULL, &def, NULL, 5), YOKE_OK);
  assert_int_equal(x.ops->create(NULL, &def, &x.self), YOKE_OK);
  return x;
}

static void close_wire(wire *x) {
  x->ops->destroy(x->self);
  yoke_expression_destroy(&x->expression);
  yoke_arena_free(&x->scratch);
}

static const double some_y[N] = {0.3, -1.7, 2.2};
static const char  *formula   = "sin(a*b) + t*c^2";

static double residual(wire *x, double t, double u, const double *y) {
  const yoke_coupling_view view = {.t = t, .H = 0.1, .u = &u, .y = {y, NULL}, .n_y = {N, 0}, .scratch = &x->scratch};
  double                   c;
  x->ops->residual(x->self, &view, &c);
  return c;
}

static void its_value_is_a_multiple_of_the_formula_and_an_offset(void **state) {
  (void)state;
  wire         x        = open_wire(formula);
  const double expected = -2.5 * (sin(0.3 * -1.7) + 0.4 * 2.2 * 2.2) + 0.75;
  double       u;
  x.ops->update(x.self, 0.4, some_y, NULL, NULL, &u, &x.scratch);
  CHECK_NEAR(u, expected, 1e-15);
  CHECK_NEAR(residual(&x, 0.4, 3.0, some_y), 3.0 - expected, 1e-14);
  close_wire(&x);
}

static void without_a_formula_it_is_the_first_value(void **state) {
  (void)state;
  wire   x = open_wire(NULL);
  double u;
  x.ops->update(x.self, 0.4, some_y, NULL, NULL, &u, &x.scratch);
  CHECK_NEAR(u, -2.5 * 0.3 + 0.75, 1e-15);
  close_wire(&x);
}

/* The same derivatives in a step and at one instant. */
static void expect_derivatives(const char *text) {
  wire                     x = open_wire(text);
  double                   du, du_dot, du_integral, dy[N], u = 3.0, instant_u, c, instant_du, instant_dy[N];
  int                      unknown;
  const double *const      y[2] = {some_y, NULL};
  const yoke_coupling_view view = {
      .t = 0.4, .H = 0.1, .u = &u, .y = {some_y, NULL}, .n_y = {N, 0}, .scratch = &x.scratch};
  x.ops->jacobian(x.self, &view, &du, &du_dot, &du_integral, dy, dy);
  assert_int_equal(x.ops->instant->conditions(x.self, 0.4, y, &u, &instant_u, &unknown, &c, &instant_du, instant_dy,
                                              NULL, &x.scratch),
                   1);
  assert_true(du == 1.0 && du_dot == 0.0 && du_integral == 0.0);
  assert_true(unknown == 0 && instant_u == u && instant_du == 1.0 && c == residual(&x, 0.4, u, some_y));
  for (int k = 0; k < N; ++k) {
    double side[2];
    for (int s = 0; s < 2; ++s) {
      double moved[N];
      memcpy(moved, some_y, sizeof moved);
      moved[k] += s == 0 ? -1e-6 : 1e-6;
      side[s] = residual(&x, 0.4, u, moved);
    }
    CHECK_NEAR(dy[k], (side[1] - side[0]) / 2e-6, 1e-8);
    assert_true(dy[k] == instant_dy[k]);
  }
  close_wire(&x);
}

static void its_derivatives_are_those_of_differences(void **state) {
  (void)state;
  expect_derivatives(formula);
  expect_derivatives("b*c"); /* reads some of the values only */
  expect_derivatives(NULL);
}

static void it_couples_no_frames(void **state) {
  yoke_context               *ctx;
  const yoke_formulation_ops *ops = yoke_formulation_find("signal");
  const yoke_coupling_def def = {.name = "knee", .formulation = ops, .shape = {&yoke_shape_plane, &yoke_shape_plane}};
  (void)state;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(ops->check(ctx, &def, NULL, 1), YOKE_E_USAGE);
  assert_non_null(strstr(yoke_context_message(ctx, 0), "coupling 'knee': formulation signal carries a number"));
  yoke_context_destroy(&ctx);
}

static void no_coupling_can_name_it(void **state) {
  static const char *const models[] = {"examples/two-mass.yaml", "examples/two-mass-rigid.yaml"};
  (void)state;
  for (int i = 0; i < 2; ++i) {
    cosim run;
    assert_int_equal(cosim_open(&run, models[i], "cosimulation.couplings.formulation=signal"), YOKE_E_MODEL);
    assert_non_null(strstr(yoke_context_message(run.ctx, 0), "constitutive"));
    cosim_close(&run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(its_value_is_a_multiple_of_the_formula_and_an_offset),
      cmocka_unit_test(without_a_formula_it_is_the_first_value),
      cmocka_unit_test(its_derivatives_are_those_of_differences),
      cmocka_unit_test(it_couples_no_frames),
      cmocka_unit_test(no_coupling_can_name_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
