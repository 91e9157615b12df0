/* Switching times of loads: which are declared, and where. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "check.h"
#include "model/model_switches.h"
#include <yoke/model.h>
#include <stdio.h>
#include <string.h>

/* Variable 0 is the time, 1 a state. */
static yoke_symbol_kind lookup(void *user, const char *name, double *value, int *variable) {
  (void)user, (void)value;
  *variable = strcmp(name, "t") == 0 ? 0 : 1;
  return strcmp(name, "t") == 0 || strcmp(name, "x") == 0 ? YOKE_SYMBOL_VARIABLE : YOKE_SYMBOL_UNKNOWN;
}

static yoke_switches switches_of(const char *text, bool zeros) {
  const yoke_symbols symbols = {.lookup = lookup};
  char               message[256];
  yoke_expression   *e = NULL;
  yoke_switches      s = {0};
  assert_int_equal(yoke_expression_compile(text, &symbols, message, sizeof message, &e), YOKE_OK);
  assert_true(zeros ? yoke_switches_add_zeros(&s, e, 0) : yoke_switches_add_expression(&s, e, 0));
  yoke_expression_destroy(&e);
  yoke_switches_arrange(&s);
  return s;
}

/* The first n switches of an expression after t are `expected`; an infinite one ends the list. */
static void expect(const char *text, double t, int n, const double *expected) {
  yoke_switches s = switches_of(text, false);
  for (int i = 0; i < n; ++i) {
    t = yoke_switches_next(&s, t);
    if (isinf(expected[i]) ? t != expected[i] : !(fabs(t - expected[i]) <= 1e-14 * fmax(1.0, fabs(t))))
      fail_msg("%s: switch %d is at %.17g, expected %.17g", text, i + 1, t, expected[i]);
  }
  yoke_switches_clear(&s);
}

static void steps_and_kinks_of_time_are_declared(void **state) {
  (void)state;
  static const char *const at_half[] = {
      "3*step(t - 0.5)",     "sign(1 - 2*t)", "abs(t/2 - 0.25)",          "max(t, 0.5)",         "min(2*t, 1)",
      "if(t < 0.5, x, 2*x)", "x*(t >= 0.5)",  "if(not (0.5 <= t), 1, 0)", "sin(t)*(2*t + 1 > 2)"};
  for (size_t i = 0; i < sizeof at_half / sizeof at_half[0]; ++i)
    expect(at_half[i], -10.0, 2, (const double[]){0.5, (double)INFINITY});
}

/* Ramps, bumps and stairs are minima of maxima and the like. */
static void kinks_of_kinks_are_declared(void **state) {
  static const struct {
    const char *text;
    double      at[4];
  } rows[] = {{"min(0.05, max(0, t - 0.5))", {0.5, 0.55, (double)INFINITY}},
              {"max(0, 1 - abs(4*t - 4))", {0.75, 1.0, 1.25, (double)INFINITY}},
              {"abs(abs(t - 1) - 0.5)", {0.5, 1.0, 1.5, (double)INFINITY}},
              {"if(t < 1, t, 2 - t) > 0.25", {0.25, 1.0, 1.75, (double)INFINITY}},
              {"step(t - 1)*max(t - 2, 0) - step(t - 2.5)", {1.0, 2.0, 2.5, (double)INFINITY}}};
  (void)state;
  expect(rows[0].text, -10.0, 3, rows[0].at);
  for (size_t i = 1; i < sizeof rows / sizeof rows[0]; ++i) expect(rows[i].text, -10.0, 4, rows[i].at);
}

static void smooth_functions_and_functions_of_states_declare_nothing(void **state) {
  (void)state;
  static const char *const none[] = {"sin(3*t)", "exp(-t)*x",     "step(x - 1)",    "abs(x + t)",
                                     "t^3 - 2",  "step(t^2 - 1)", "if(x < t, 1, 2)"};
  for (size_t i = 0; i < sizeof none / sizeof none[0]; ++i)
    expect(none[i], -10.0, 1, (const double[]){(double)INFINITY});
}

static void periodic_switches_come_again(void **state) {
  (void)state;
  expect("floor(4*t)", 0.3, 3, (const double[]){0.5, 0.75, 1.0});
  expect("mod(t, 0.2)", 0.9, 3, (const double[]){1.0, 1.2, 1.4});
  expect("mod(0.1 - t, 0.2)", 0.9, 2, (const double[]){0.9 + 0.2, 1.3});
  expect("if(mod(t, 2) < 0.5, 1, 0)", 0.0, 4, (const double[]){0.5, 2.0, 2.5, 4.0});
  expect("if(mod(-t, 2) < 0.5, 1, 0)", 0.1, 3, (const double[]){1.5, 2.0, 3.5});
  expect("sign(sin(2*pi*t))", 0.1, 3, (const double[]){0.5, 1.0, 1.5});
  expect("step(cos(pi*t) - 0.5)", 0.0, 3, (const double[]){1.0 / 3.0, 5.0 / 3.0, 7.0 / 3.0});
}

static void the_edges_of_a_tanh_are_nine_of_its_widths_away(void **state) {
  (void)state;
  expect("tanh((t - 1)/1e-3)", 0.0, 3, (const double[]){1.0 - 9e-3, 1.0 + 9e-3, (double)INFINITY});
}

static void zeros_of_a_condition_of_time_are_found(void **state) {
  (void)state;
  yoke_switches s = switches_of("0.25 - t", true);
  CHECK_NEAR(yoke_switches_next(&s, 0.0), 0.25, 0.0);
  yoke_switches_clear(&s);
}

static yoke_switches switches_of_model(const char *text, bool with_events) {
  yoke_context *ctx   = NULL;
  yoke_model   *model = NULL;
  yoke_switches s;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_model_load_text(ctx, "test.yaml", text, strlen(text), NULL, &model), YOKE_OK);
  assert_int_equal(yoke_model_switches(ctx, model, with_events, &s), YOKE_OK);
  yoke_model_destroy(&model);
  yoke_context_destroy(&ctx);
  return s;
}

#define IMPULSES                                                                                                       \
  "yoke: 1\nt_end: 1\nbodies:\n  c: {kind: chain, n: 4, mass: 1, stiffness: 1, loads: [{on: [1, 3], kind: impulse, "   \
  "force: 1, time: [0.1, 0.5], width: 1e-3, rise: 1e-6}]}\n"
#define EVENTS "events: {tick: {when: t - 0.3}, hit: {when: c.x[1]}}\n"

static void an_impulse_on_many_masses_has_four_switches(void **state) {
  (void)state;
  static const double expected[] = {0.1 - 9e-6, 0.1 + 9e-6, 0.101 - 9e-6, 0.101 + 9e-6, 0.5 - 9e-6};
  yoke_switches       s          = switches_of_model(IMPULSES, false);
  double              t          = 0.0;
  assert_int_equal(s.n_once, 8);
  for (int i = 0; i < 5; ++i) {
    t = yoke_switches_next(&s, t);
    CHECK_NEAR(t, expected[i], 1e-15);
    assert_false(yoke_switches_jump_at(&s, t)); /* an edge is smooth */
  }
  yoke_switches_clear(&s);
}

static void an_impulse_on_a_body_has_the_same_switches_as_on_a_chain(void **state) {
  (void)state;
  yoke_switches chain = switches_of_model(IMPULSES, false);
  yoke_switches body =
      switches_of_model("yoke: 1\nt_end: 1\nbodies: {b: {kind: mass1d, mass: 1}}\nloads: {p: {kind: impulse, "
                        "on: b, force: 1, time: [0.1, 0.5], width: 1e-3, rise: 1e-6}}\n",
                        false);
  assert_int_equal(body.n_once, chain.n_once);
  for (int i = 0; i < body.n_once; ++i) CHECK_NEAR(body.once[i].first, chain.once[i].first, 1e-15);
  yoke_switches_clear(&chain);
  yoke_switches_clear(&body);
}

static void events_of_time_alone_count_only_when_wanted(void **state) {
  (void)state;
  yoke_switches without = switches_of_model(IMPULSES EVENTS, false), with = switches_of_model(IMPULSES EVENTS, true);
  assert_int_equal(without.n_once, 8);
  assert_int_equal(with.n_once, 9);
  CHECK_NEAR(yoke_switches_next(&with, 0.2), 0.3, 0.0);
  assert_true(yoke_switches_jump_at(&with, 0.3));
  yoke_switches_clear(&without);
  yoke_switches_clear(&with);
}

#define PUSHED(FORCE)                                                                                                  \
  "yoke: 1\nt_end: 3\nbodies: {m: {kind: mass1d, mass: 1}}\nloads: {p: {kind: expression, on: m, force: '" FORCE "'}}" \
  "\n"

static void switches_of_any_function_of_time_are_found_in_the_run(void **state) {
  const double pi = 3.14159265358979323846;
  const struct {
    const char *text;
    int         n;
    double      expected[4];
  } cases[] = {{PUSHED("step(t^2 - 1)"), 1, {1.0}},
               {PUSHED("m.x*sign(exp(t) - 2) + m.v"), 1, {0.69314718055994531}},
               {PUSHED("max(0, sin(t^2))"), 2, {sqrt(pi), sqrt(2.0 * pi)}},
               {PUSHED("if(sqrt(t) < 0.5, 1, 2)"), 1, {0.25}},
               {PUSHED("floor(2*sqrt(t))"), 3, {0.25, 1.0, 2.25}},
               {PUSHED("mod(t^2, 3)"), 3, {sqrt(3.0), sqrt(6.0), 3.0}},
               {PUSHED("step(m.x*t^2 - 1)"), 0, {0}},
               {PUSHED("floor(1e6*t^2)"), 0, {0}}, /* more than can be used */
               {PUSHED("1") "events: {e: {when: t^3 - 8}}\n", 1, {2.0}}};
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    yoke_switches s = switches_of_model(cases[k].text, true);
    if (s.n_once != cases[k].n || s.n_periodic != 0) fail_msg("%s: %d switches", cases[k].text, s.n_once);
    for (int i = 0; i < s.n_once; ++i) CHECK_NEAR(s.once[i].first, cases[k].expected[i], 1e-15);
    yoke_switches_clear(&s);
  }
}

static void smooth_edges_are_forgotten_when_there_are_too_many(void **state) {
  (void)state;
  char   text[8000] = "yoke: 1\nt_end: 1\nbodies:\n  c: {kind: chain, n: 4, mass: 1, stiffness: 1, loads: [";
  size_t used       = strlen(text);
  for (int i = 0; i < 65; ++i) {
    used += (size_t)snprintf(text + used, sizeof text - used,
                             "{on: 1, kind: impulse, force: 1, time: %g, width: 1e-3, rise: 1e-6},", 0.01 * (i + 1));
  }
  snprintf(text + used - 1, sizeof text - used, "]}\nevents: {tick: {when: t - 0.305}}\n");
  yoke_switches s = switches_of_model(text, true); /* 260 edges and a jump */
  assert_int_equal(s.n_once, 1);
  yoke_switches_clear(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_and_kinks_of_time_are_declared),
      cmocka_unit_test(kinks_of_kinks_are_declared),
      cmocka_unit_test(smooth_functions_and_functions_of_states_declare_nothing),
      cmocka_unit_test(periodic_switches_come_again),
      cmocka_unit_test(the_edges_of_a_tanh_are_nine_of_its_widths_away),
      cmocka_unit_test(zeros_of_a_condition_of_time_are_found),
      cmocka_unit_test(an_impulse_on_many_masses_has_four_switches),
      cmocka_unit_test(an_impulse_on_a_body_has_the_same_switches_as_on_a_chain),
      cmocka_unit_test(events_of_time_alone_count_only_when_wanted),
      cmocka_unit_test(switches_of_any_function_of_time_are_found_in_the_run),
      cmocka_unit_test(smooth_edges_are_forgotten_when_there_are_too_many),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
