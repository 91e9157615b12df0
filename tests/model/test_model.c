/* Model: names of components, force laws and their potentials, tables, release of everything owned. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/text.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Names ---- */

static void every_component_is_found_by_its_name(void **state) {
  (void)state;
  yoke_chain      chain    = {.n = 12};
  const yoke_body bodies[] = {{.kind = YOKE_BODY_RIGID},
                              {.kind = YOKE_BODY_PLANAR},
                              {.kind = YOKE_BODY_PARTICLE},
                              {.kind = YOKE_BODY_MASS1D},
                              {.kind = YOKE_BODY_CHAIN, .chain = &chain}};
  for (int b = 0; b < 5; ++b) {
    for (int is_velocity = 0; is_velocity < 2; ++is_velocity) {
      const int n = is_velocity ? yoke_body_nv(&bodies[b]) : yoke_body_nq(&bodies[b]);
      for (int i = 0; i < n; ++i) {
        char          name[32];
        yoke_variable found = {.body = 77};
        assert_true(yoke_body_component_name(&bodies[b], is_velocity != 0, i, name, sizeof name));
        assert_true(yoke_body_component_find(&bodies[b], name, &found));
        assert_int_equal(found.mass + found.component, i);
        assert_int_equal(found.is_velocity, is_velocity);
        assert_int_equal(found.mass, bodies[b].kind == YOKE_BODY_CHAIN ? i : 0);
        assert_int_equal(found.body, 77);
      }
      char name[32];
      assert_false(yoke_body_component_name(&bodies[b], is_velocity != 0, n, name, sizeof name));
      assert_false(yoke_body_component_name(&bodies[b], is_velocity != 0, -1, name, sizeof name));
    }
  }
}

static void component_names_are_those_of_the_results(void **state) {
  (void)state;
  static const char *const q[]   = {"x", "y", "z", "q0", "q1", "q2", "q3"};
  static const char *const v[]   = {"vx", "vy", "vz", "wx", "wy", "wz"};
  const yoke_body          rigid = {.kind = YOKE_BODY_RIGID}, planar = {.kind = YOKE_BODY_PLANAR};
  char                     name[16];
  for (int i = 0; i < 7; ++i) {
    assert_true(yoke_body_component_name(&rigid, false, i, name, sizeof name));
    assert_string_equal(name, q[i]);
  }
  for (int i = 0; i < 6; ++i) {
    assert_true(yoke_body_component_name(&rigid, true, i, name, sizeof name));
    assert_string_equal(name, v[i]);
  }
  assert_true(yoke_body_component_name(&planar, false, 2, name, sizeof name));
  assert_string_equal(name, "angle");
  assert_true(yoke_body_component_name(&planar, true, 2, name, sizeof name));
  assert_string_equal(name, "omega");
  assert_false(yoke_body_component_name(&planar, true, 2, name, 3)); /* does not fit */
}

static void chain_masses_count_from_one(void **state) {
  (void)state;
  static const char *const wrong[] = {"x",
                                      "x[]",
                                      "x[0]",
                                      "x[13]",
                                      "x[-1]",
                                      "x[01]",
                                      "x[1",
                                      "x[1]]",
                                      "x[1 ]",
                                      "x[1.0]",
                                      "y[1]",
                                      "",
                                      "v[99999999999999999999]"};
  yoke_chain               chain   = {.n = 12};
  yoke_body                body    = {.kind = YOKE_BODY_CHAIN, .chain = &chain};
  yoke_variable            found   = {0};
  char                     name[16];
  assert_true(yoke_body_component_name(&body, true, 2, name, sizeof name));
  assert_string_equal(name, "v[3]");
  assert_true(yoke_body_component_find(&body, "x[12]", &found));
  assert_int_equal(found.mass, 11);
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    if (yoke_body_component_find(&body, wrong[i], &found)) fail_msg("'%s' was found", wrong[i]);
  }
}

static void kinds_have_the_words_of_the_model_file(void **state) {
  (void)state;
  assert_string_equal(yoke_body_kind_name(YOKE_BODY_MASS1D), "mass1d");
  assert_string_equal(yoke_body_kind_name(YOKE_BODY_CHAIN), "chain");
  assert_string_equal(yoke_body_kind_name((yoke_body_kind)99), "unknown");
  assert_string_equal(yoke_connection_kind_name(YOKE_CONNECTION_ATPOINT), "atpoint");
  assert_string_equal(yoke_connection_kind_name(YOKE_CONNECTION_SPRING_DAMPER), "spring-damper");
  assert_string_equal(yoke_connection_kind_name(YOKE_CONNECTION_TORSION_SPRING), "torsion-spring");
  assert_string_equal(yoke_connection_kind_name((yoke_connection_kind)99), "unknown");
  assert_true(yoke_connection_is_joint(YOKE_CONNECTION_DISTANCE));
  assert_false(yoke_connection_is_joint(YOKE_CONNECTION_SPRING_DAMPER));
  assert_false(yoke_connection_is_joint(YOKE_CONNECTION_BUSHING));
}

/* ---- Tables ---- */

static double monotone_x[] = {-2.0, -1.0, 0.0, 0.5, 3.0, 4.0, 7.0};
static double monotone_y[] = {-9.0, -8.9, 0.0, 0.1, 0.1, 5.0, 5.5};

static const yoke_table monotone_table = {7, monotone_x, monotone_y};

static void a_table_passes_through_its_points(void **state) {
  (void)state;
  for (int i = 0; i < 7; ++i) {
    assert_true(fabs(yoke_table_value(&monotone_table, monotone_x[i], NULL) - monotone_y[i]) < 1e-14);
  }
}

static void a_table_of_rising_points_never_falls(void **state) {
  (void)state;
  double before = yoke_table_value(&monotone_table, -4.0, NULL);
  for (int k = 1; k <= 13000; ++k) {
    double       slope;
    const double y = yoke_table_value(&monotone_table, -4.0 + 1e-3 * k, &slope);
    assert_true(y >= before - 1e-14);
    assert_true(slope >= -1e-13);
    before = y;
  }
}

static void a_table_has_no_new_extrema(void **state) {
  (void)state;
  double           x[] = {0.0, 1.0, 2.0, 3.0}, y[] = {0.0, 5.0, 4.0, 4.5};
  const yoke_table table = {4, x, y};
  for (int k = 0; k <= 3000; ++k) {
    const double value = yoke_table_value(&table, 1e-3 * k, NULL);
    assert_true(value >= -1e-14 && value <= 5.0 + 1e-14);
    if (k >= 1000) assert_true(value >= 4.0 - 1e-14);
  }
}

static void a_table_is_continuous_with_its_slope(void **state) {
  (void)state;
  const double d = 1e-9;
  for (int i = 0; i < 7; ++i) {
    double       left, right;
    const double y0 = yoke_table_value(&monotone_table, monotone_x[i] - d, &left);
    const double y1 = yoke_table_value(&monotone_table, monotone_x[i] + d, &right);
    assert_true(fabs(y1 - y0) < 1e-7);
    assert_true(fabs(right - left) < 1e-6);
  }
}

static void a_table_slope_agrees_with_differences(void **state) {
  (void)state;
  for (int k = 0; k < 100; ++k) {
    const double x = -3.0 + 0.11037 * k, h = 1e-6;
    double       slope;
    yoke_table_value(&monotone_table, x, &slope);
    const double expected =
        (yoke_table_value(&monotone_table, x + h, NULL) - yoke_table_value(&monotone_table, x - h, NULL)) / (2.0 * h);
    assert_true(fabs(slope - expected) < 2e-5);
  }
}

static void a_table_goes_straight_on_beyond_its_ends(void **state) {
  (void)state;
  double       s0, s1;
  const double y0 = yoke_table_value(&monotone_table, 8.0, &s0), y1 = yoke_table_value(&monotone_table, 10.0, &s1);
  assert_true(s0 == s1);
  assert_true(fabs(y1 - y0 - 2.0 * s0) < 1e-13);
}

static void a_table_of_a_straight_line_is_exact(void **state) {
  (void)state;
  double x[] = {-1.0, 0.5, 2.0, 7.0}, y[4];
  for (int i = 0; i < 4; ++i) y[i] = 3.0 * x[i] - 1.0;
  for (int n = 2; n <= 4; ++n) {
    const yoke_table table = {n, x, y};
    for (int k = -30; k < 100; ++k) {
      double       slope;
      const double at = 0.1 * k;
      assert_true(fabs(yoke_table_value(&table, at, &slope) - (3.0 * at - 1.0)) < 1e-13);
      assert_true(fabs(slope - 3.0) < 1e-13);
      assert_true(fabs(yoke_table_integral(&table, at) - (1.5 * at * at - at)) < 1e-12);
    }
  }
}

static void the_integral_of_a_table_has_the_table_as_slope(void **state) {
  (void)state;
  assert_true(yoke_table_integral(&monotone_table, 0.0) == 0.0);
  for (int k = 0; k < 120; ++k) {
    const double x = -4.0 + 0.10137 * k, h = 1e-3;
    /* Simpson over [x - h, x + h] is exact for cubics, except across a point of the table. */
    const double expected =
        h / 3.0 *
        (yoke_table_value(&monotone_table, x - h, NULL) + 4.0 * yoke_table_value(&monotone_table, x, NULL) +
         yoke_table_value(&monotone_table, x + h, NULL));
    const double found = yoke_table_integral(&monotone_table, x + h) - yoke_table_integral(&monotone_table, x - h);
    assert_true(fabs(found - expected) < 1e-8);
  }
  /* A table that does not contain 0: the integral starts on the straight part. */
  double           x[] = {2.0, 3.0, 5.0}, y[] = {2.0, 3.0, 5.0};
  const yoke_table right = {3, x, y};
  assert_true(fabs(yoke_table_integral(&right, 8.0) - 32.0) < 1e-12);
  assert_true(fabs(yoke_table_integral(&right, -8.0) - 32.0) < 1e-12);
  assert_true(fabs(yoke_table_integral(&right, 1.0) - 0.5) < 1e-14);
}

static void tables_of_one_point_and_none_are_constant(void **state) {
  (void)state;
  double           x[] = {1.0}, y[] = {4.0}, slope = 1.0;
  const yoke_table one = {1, x, y}, none = {0, NULL, NULL};
  assert_true(yoke_table_value(&one, 9.0, &slope) == 4.0 && slope == 0.0);
  assert_true(yoke_table_integral(&one, 2.0) == 8.0);
  assert_true(yoke_table_value(&none, 9.0, &slope) == 0.0);
  assert_true(yoke_table_integral(&none, 2.0) == 0.0);
}

/* ---- Laws ---- */

static yoke_symbol_kind lookup(void *user, const char *name, double *value, int *variable) {
  (void)user;
  (void)value;
  *variable = strcmp(name, "x") == 0 ? 0 : strcmp(name, "v") == 0 ? 1 : strcmp(name, "t") == 0 ? 2 : -1;
  return *variable < 0 ? YOKE_SYMBOL_UNKNOWN : YOKE_SYMBOL_VARIABLE;
}

static yoke_expression *compile(const char *text) {
  const yoke_symbols symbols = {lookup, NULL, NULL};
  char               message[200];
  yoke_expression   *e = NULL;
  if (yoke_expression_compile(text, &symbols, message, sizeof message, &e) != YOKE_OK) fail_msg("%s", message);
  return e;
}

static void expect_law_derivatives(const yoke_law *law) {
  for (int k = 0; k < 40; ++k) {
    const double x = -2.03 + 0.1 * k, v = 1.97 - 0.11 * k, t = 0.3, h = 1e-6;
    double       F_x, F_v;
    yoke_law_force(law, x, v, t, &F_x, &F_v);
    const double d_x =
        (yoke_law_force(law, x + h, v, t, NULL, NULL) - yoke_law_force(law, x - h, v, t, NULL, NULL)) / (2.0 * h);
    const double d_v =
        (yoke_law_force(law, x, v + h, t, NULL, NULL) - yoke_law_force(law, x, v - h, t, NULL, NULL)) / (2.0 * h);
    assert_true(fabs(F_x - d_x) <= 1e-7 * (1.0 + fabs(d_x)));
    assert_true(fabs(F_v - d_v) <= 1e-7 * (1.0 + fabs(d_v)));
  }
}

static void law_derivatives_agree_with_differences(void **state) {
  (void)state;
  yoke_law laws[] = {
      {.stiffness = 3.0, .damping = 0.2},
      {.stiffness = 3.0, .stiffness_power = 2.0, .exponent_x = 3.0, .damping_power = 0.5, .exponent_v = 2.0},
      {.stiffness_power = 2.0, .exponent_x = 1.5, .damping_power = 0.5, .exponent_v = 2.7},
      {.stiffness_power = 2.0, .exponent_x = 1.0, .damping_power = 0.5, .exponent_v = 5.0},
      {.damping = 0.4, .table = {7, monotone_x, monotone_y}},
      {.expression = compile("3*x + x^3*exp(-v^2) + sin(t)*v")},
      {.expression = compile("v")},
  };
  for (size_t i = 0; i < sizeof laws / sizeof laws[0]; ++i) {
    expect_law_derivatives(&laws[i]);
    yoke_expression_destroy(&laws[i].expression);
  }
}

static void a_power_law_is_odd_and_safe_at_zero(void **state) {
  (void)state;
  static const double exponents[] = {0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.2};
  for (int i = 0; i < 7; ++i) {
    const yoke_law law = {
        .stiffness_power = 2.0, .exponent_x = exponents[i], .damping_power = 1.0, .exponent_v = exponents[i]};
    double F_x, F_v;
    assert_true(yoke_law_force(&law, 0.0, 0.0, 0.0, &F_x, &F_v) == 0.0);
    assert_true(isfinite(F_x) && isfinite(F_v));
    assert_true(yoke_law_force(&law, 5e-324, -5e-324, 0.0, &F_x, &F_v) >= 0.0);
    assert_true(isfinite(F_x) && isfinite(F_v));
    assert_true(yoke_law_force(&law, -1.3, 0.0, 0.0, NULL, NULL) == -yoke_law_force(&law, 1.3, 0.0, 0.0, NULL, NULL));
    assert_true(fabs(yoke_law_force(&law, 1.3, 0.0, 0.0, NULL, NULL) - 2.0 * pow(1.3, exponents[i])) < 1e-14 * 10.0);
  }
}

static void the_force_is_the_slope_of_the_potential(void **state) {
  (void)state;
  yoke_law laws[] = {
      {.stiffness = 3.0, .damping = 9.0},
      {.stiffness_power = 2.0, .exponent_x = 3.0},
      {.stiffness = 1.0, .stiffness_power = 2.0, .exponent_x = 1.5},
      {.table = {7, monotone_x, monotone_y}},
      {.expression = compile("3*x + x^3*exp(-x^2)")},
      {.expression = compile("abs(x - 0.3)")},
      {.expression = compile("2.5")},
  };
  for (size_t i = 0; i < sizeof laws / sizeof laws[0]; ++i) {
    assert_true(yoke_law_potential(&laws[i], 0.0) == 0.0);
    for (int k = 0; k < 30; ++k) {
      const double x = -2.03 + 0.15 * k, h = 1e-5;
      const double slope = (yoke_law_potential(&laws[i], x + h) - yoke_law_potential(&laws[i], x - h)) / (2.0 * h);
      const double F     = yoke_law_force(&laws[i], x, 0.0, 0.0, NULL, NULL);
      assert_true(fabs(slope - F) <= 1e-6 * (1.0 + fabs(F)));
    }
    yoke_expression_destroy(&laws[i].expression);
  }
}

static void the_potential_of_an_expression_is_accurate(void **state) {
  (void)state;
  yoke_law smooth = {.expression = compile("cos(3*x) + x^22")};
  for (int k = -10; k <= 10; ++k) {
    const double x = 0.1 * k, expected = sin(3.0 * x) / 3.0 + pow(x, 23.0) / 23.0;
    assert_true(fabs(yoke_law_potential(&smooth, x) - expected) < 1e-15 * 4.0);
  }
  yoke_expression_destroy(&smooth.expression);
  yoke_law kink = {.expression = compile("max(0, x - 0.123)")};
  assert_true(fabs(yoke_law_potential(&kink, 2.0) - 0.5 * 1.877 * 1.877) < 1e-12);
  yoke_expression_destroy(&kink.expression);
  yoke_law jump = {.expression = compile("if(x > 0.123, 5, 1)")};
  assert_true(fabs(yoke_law_potential(&jump, 2.0) - (0.123 + 5.0 * 1.877)) < 1e-9);
  yoke_expression_destroy(&jump.expression);
  yoke_law noise = {.expression = compile("mod(1e9*x, 1)")}; /* ends, with some value between the extremes */
  assert_true(fabs(yoke_law_potential(&noise, 2.0) - 1.0) < 1.0);
  yoke_expression_destroy(&noise.expression);
}

static void an_expression_of_rate_or_time_has_no_potential(void **state) {
  (void)state;
  static const char *const texts[] = {"x*v", "x + t", "v"};
  for (int i = 0; i < 3; ++i) {
    yoke_law law = {.stiffness = 2.0, .expression = compile(texts[i])};
    assert_true(yoke_law_potential(&law, 3.0) == 9.0);
    yoke_expression_destroy(&law.expression);
  }
}

/* ---- The model as owner ---- */

static yoke_body make_chain_body(yoke_arena *arena) {
  yoke_chain *chain         = yoke_arena_take(arena, 1, sizeof *chain);
  chain->n                  = 3;
  chain->mass.each          = yoke_arena_take(arena, 3, sizeof(double));
  chain->damping_power.each = yoke_arena_take(arena, 4, sizeof(double));
  chain->loads              = yoke_arena_take(arena, 2, sizeof *chain->loads);
  return (yoke_body){.name = yoke_arena_text(arena, "row"), .kind = YOKE_BODY_CHAIN, .chain = chain};
}

static yoke_model *make_full_model(void) {
  yoke_model *m = calloc(1, sizeof *m);
  assert_non_null(m);
  yoke_arena *a         = &m->arena;
  m->name               = yoke_text_copy("full");
  m->text               = yoke_text_copy("yoke: 1");
  m->n_bodies           = 2;
  m->bodies             = calloc(2, sizeof *m->bodies);
  m->bodies[0]          = (yoke_body){.name = yoke_arena_text(a, "upper"), .kind = YOKE_BODY_PLANAR};
  m->bodies[1]          = make_chain_body(a);
  m->n_frames           = 1;
  m->frames             = calloc(1, sizeof *m->frames);
  m->frames[0].name     = yoke_arena_text(a, "upper.tip");
  m->n_connections      = 2;
  m->connections        = calloc(2, sizeof *m->connections);
  m->connections[0]     = (yoke_connection){.name = yoke_arena_text(a, "knee"), .motion = compile("t^2")};
  m->connections[1]     = (yoke_connection){.name = yoke_arena_text(a, "spring"), .law = {.expression = compile("x")}};
  m->n_loads            = 1;
  m->loads              = calloc(1, sizeof *m->loads);
  m->loads[0]           = (yoke_load){.name = yoke_arena_text(a, "push"), .value = {compile("t"), NULL, compile("1")}};
  m->n_events           = 1;
  m->events             = calloc(1, sizeof *m->events);
  m->events[0]          = (yoke_event){.name = yoke_arena_text(a, "hit"), .when = compile("t - 1"), .n_set = 2};
  m->events[0].variable = yoke_arena_take(a, 2, sizeof(int));
  m->events[0].value    = yoke_arena_take(a, 2, sizeof(yoke_expression *));
  m->events[0].value[0] = compile("t");
  m->n_variables        = 1;
  m->variables          = calloc(1, sizeof *m->variables);
  m->n_parts            = 1;
  m->parts              = calloc(1, sizeof *m->parts);
  m->parts[0]    = (yoke_split_part){.name = yoke_arena_text(a, "a"), .n_bodies = 1, .bodies = calloc(1, sizeof(int))};
  m->output.file = yoke_text_copy("out.h5");
  m->output.csv  = yoke_text_copy("out.csv");
  m->output.n_select     = 1;
  m->output.select       = calloc(1, sizeof(char *));
  m->output.select[0]    = yoke_text_copy("*");
  m->output.n_integrals  = 1;
  m->output.integrals    = calloc(1, sizeof(char *));
  m->output.integrals[0] = yoke_text_copy("upper.x");
  return m;
}

static void a_model_finds_bodies_and_connections_by_name(void **state) {
  (void)state;
  yoke_model *m = make_full_model();
  assert_int_equal(yoke_model_find_body(m, "upper"), 0);
  assert_int_equal(yoke_model_find_body(m, "row"), 1);
  assert_int_equal(yoke_model_find_body(m, "ground"), YOKE_GROUND);
  assert_int_equal(yoke_model_find_connection(m, "spring"), 1);
  assert_int_equal(yoke_model_find_connection(m, "upper"), -1);
  yoke_model_destroy(&m);
}

/* The leak checker of the sanitizer build is the judge. */
static void destroying_a_model_releases_all_it_owns(void **state) {
  (void)state;
  yoke_model *m = make_full_model();
  yoke_model_destroy(&m);
  assert_null(m);
  yoke_model_destroy(&m);
  yoke_model_destroy(NULL);
}

static void a_half_built_model_can_be_destroyed(void **state) {
  (void)state;
  yoke_model *m = calloc(1, sizeof *m);
  assert_non_null(m);
  m->n_bodies = m->n_frames = m->n_connections = m->n_loads = m->n_events = m->n_parts = 5;
  m->output.n_select = m->output.n_integrals = 5;
  yoke_model_destroy(&m);
  m                  = calloc(1, sizeof *m);
  m->n_events        = 1;
  m->events          = calloc(1, sizeof *m->events);
  m->events[0].n_set = 3;
  yoke_model_destroy(&m);
  assert_null(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_component_is_found_by_its_name),
      cmocka_unit_test(component_names_are_those_of_the_results),
      cmocka_unit_test(chain_masses_count_from_one),
      cmocka_unit_test(kinds_have_the_words_of_the_model_file),
      cmocka_unit_test(a_table_passes_through_its_points),
      cmocka_unit_test(a_table_of_rising_points_never_falls),
      cmocka_unit_test(a_table_has_no_new_extrema),
      cmocka_unit_test(a_table_is_continuous_with_its_slope),
      cmocka_unit_test(a_table_slope_agrees_with_differences),
      cmocka_unit_test(a_table_goes_straight_on_beyond_its_ends),
      cmocka_unit_test(a_table_of_a_straight_line_is_exact),
      cmocka_unit_test(the_integral_of_a_table_has_the_table_as_slope),
      cmocka_unit_test(tables_of_one_point_and_none_are_constant),
      cmocka_unit_test(law_derivatives_agree_with_differences),
      cmocka_unit_test(a_power_law_is_odd_and_safe_at_zero),
      cmocka_unit_test(the_force_is_the_slope_of_the_potential),
      cmocka_unit_test(the_potential_of_an_expression_is_accurate),
      cmocka_unit_test(an_expression_of_rate_or_time_has_no_potential),
      cmocka_unit_test(a_model_finds_bodies_and_connections_by_name),
      cmocka_unit_test(destroying_a_model_releases_all_it_owns),
      cmocka_unit_test(a_half_built_model_can_be_destroyed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
