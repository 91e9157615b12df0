/* Model: names of components, release of everything owned. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../frames/formula.h"
#include "base/text.h"
#include "model/joint_kinds.h"

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

static void every_joint_has_the_number_of_rows_of_its_kind(void **state) {
  (void)state;
  static const struct {
    yoke_connection_kind kind;
    int                  n;
  } expected[] = {
      {YOKE_CONNECTION_SPHERICAL, 3},   {YOKE_CONNECTION_REVOLUTE, 5},      {YOKE_CONNECTION_UNIVERSAL, 4},
      {YOKE_CONNECTION_CYLINDRICAL, 4}, {YOKE_CONNECTION_TRANSLATIONAL, 5}, {YOKE_CONNECTION_PLANAR, 3},
      {YOKE_CONNECTION_INLINE, 2},      {YOKE_CONNECTION_ORIENTATION, 3},   {YOKE_CONNECTION_FIXED, 6},
      {YOKE_CONNECTION_DISTANCE, 1},    {YOKE_CONNECTION_BUSHING, 0},
  };
  yoke_row r[6];
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; ++i) {
    assert_int_equal(yoke_joint_rows(expected[i].kind, r), expected[i].n);
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
  yoke_arena *a     = &m->arena;
  m->name           = yoke_text_copy("full");
  m->text           = yoke_text_copy("yoke: 1");
  m->n_bodies       = 2;
  m->bodies         = calloc(2, sizeof *m->bodies);
  m->bodies[0]      = (yoke_body){.name = yoke_arena_text(a, "upper"), .kind = YOKE_BODY_PLANAR};
  m->bodies[1]      = make_chain_body(a);
  m->n_frames       = 1;
  m->frames         = calloc(1, sizeof *m->frames);
  m->frames[0].name = yoke_arena_text(a, "upper.tip");
  m->n_connections  = 2;
  m->connections    = calloc(2, sizeof *m->connections);
  m->connections[0] = (yoke_connection){.name = yoke_arena_text(a, "knee"), .motion = compile_formula("t^2")};
  m->connections[1] =
      (yoke_connection){.name = yoke_arena_text(a, "spring"), .law = {.expression = compile_formula("x")}};
  m->n_loads = 1;
  m->loads   = calloc(1, sizeof *m->loads);
  m->loads[0] =
      (yoke_load){.name = yoke_arena_text(a, "push"), .value = {compile_formula("t"), NULL, compile_formula("1")}};
  m->n_events           = 1;
  m->events             = calloc(1, sizeof *m->events);
  m->events[0]          = (yoke_event){.name = yoke_arena_text(a, "hit"), .when = compile_formula("t - 1"), .n_set = 2};
  m->events[0].variable = yoke_arena_take(a, 2, sizeof(int));
  m->events[0].value    = yoke_arena_take(a, 2, sizeof(yoke_expression *));
  m->events[0].value[0] = compile_formula("t");
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
      cmocka_unit_test(every_joint_has_the_number_of_rows_of_its_kind),
      cmocka_unit_test(a_model_finds_bodies_and_connections_by_name),
      cmocka_unit_test(destroying_a_model_releases_all_it_owns),
      cmocka_unit_test(a_half_built_model_can_be_destroyed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
