/* Types that a program brings: what a context knows of them, and the instances that they make. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "bench.h"

/* ---- registry ---- */

static void a_context_knows_the_types_that_were_added(void **state) {
  (void)state;
  yoke_context  *ctx;
  char           name[]   = "gone";
  yoke_user_type types[2] = {mass_type(&with_repeat), gain_type()};
  types[1].name           = name;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_context_n_types(ctx), 0);
  assert_null(yoke_context_type_name(ctx, 0));
  for (int i = 0; i < 2; ++i) assert_int_equal(yoke_context_add_type(ctx, &types[i]), YOKE_OK);
  name[0] = 'x'; /* texts are copies */
  assert_int_equal(yoke_context_n_types(ctx), 2);
  assert_string_equal(yoke_context_type_name(ctx, 0), "mass");
  assert_string_equal(yoke_context_type_summary(ctx, 0), "a mass on a line");
  assert_string_equal(yoke_context_type_name(ctx, 1), "gone");
  assert_string_equal(yoke_context_type_summary(ctx, 1), "");
  assert_null(yoke_context_type_name(ctx, 2));
  assert_null(yoke_context_type_summary(ctx, -1));
  assert_null(yoke_user_find(ctx, "other"));
  yoke_context_destroy(&ctx);
}

static void a_type_that_cannot_be_is_refused(void **state) {
  (void)state;
  static const yoke_user_repeat   negative = {.size = sizeof negative, .most_states = -1};
  static const yoke_user_repeat   unsized  = {.size = 0};
  static const yoke_user_instant  instant  = {.size = sizeof instant};
  static const yoke_user_response response = {.size = sizeof response, .response = mass_response};
  static const yoke_user_response nothing  = {.size = sizeof nothing};
  static const yoke_user_energy   energy   = {.size = sizeof energy};
  static const yoke_user_pack     pack     = {.size = sizeof pack, .n_bytes = mass_n_bytes, .pack = mass_pack};
  static const yoke_user_inside   inside   = {.size = sizeof inside};
  static const char *const        texts[]  = {
              "`size` of a yoke_user_type is 0",
              "ABI 7 of subsystems, this library has 1; compile it",
              "a type without a name",
              "a type without a name",
              "type 'gain' is there already, from the program",
              "type 'mass': its function `create` is missing",
              "type 'mass': its function `start` is missing",
              "type 'mass': its function `step` is missing",
              "type 'mass': its function `output` is missing",
              "most_states is -1, expected >= 0",
              "`size` of a yoke_user_repeat is 0",
              "ability instant: its function `response`",
              "ability response needs ability repeat",
              "ability response: its function `response`",
              "ability energy: its function `values`",
              "ability pack: its function `unpack`",
              "ability inside: its function `output`",
  };
  for (int i = 0; i < (int)(sizeof texts / sizeof *texts); ++i) {
    yoke_context        *ctx;
    const yoke_user_type other = gain_type();
    yoke_user_type       t     = mass_type(&with_repeat);
    assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
    assert_int_equal(yoke_context_add_type(ctx, &other), YOKE_OK);
    switch (i) {
    case 0: t.size = 0; break;
    case 1: t.abi = 7; break;
    case 2: t.name = NULL; break;
    case 3: t.name = ""; break;
    case 4: t.name = "gain"; break;
    case 5: t.create = NULL; break;
    case 6: t.start = NULL; break;
    case 7: t.step = NULL; break;
    case 8: t.output = NULL; break;
    case 9: t.repeat = &negative; break;
    case 10: t.repeat = &unsized; break;
    case 11: t.instant = &instant; break;
    case 12: t.response = &response, t.repeat = NULL; break;
    case 13: t.response = &nothing; break;
    case 14: t.energy = &energy; break;
    case 15: t.pack = &pack; break;
    default: t.inside = &inside; break;
    }
    assert_int_equal(yoke_context_add_type(ctx, &t), i == 1 ? YOKE_E_UNSUPPORTED : YOKE_E_USAGE);
    expect_said(ctx, texts[i]);
    assert_int_equal(yoke_context_n_types(ctx), 1);
    yoke_context_destroy(&ctx);
  }
}

static void a_type_of_an_older_header_is_filled_up(void **state) {
  (void)state;
  yoke_user_type t = mass_type(&with_repeat);
  bench          b;
  t.size   = offsetof(yoke_user_type, inside);
  t.inside = (const void *)&t; /* not his: never read */
  assert_int_equal(make(&b, &t, 0, NULL), YOKE_OK);
  close_bench(&b);
}

static void a_subsystem_outlives_its_context(void **state) {
  (void)state;
  bench b;
  open_mass(&b, &with_repeat);
  yoke_context_destroy(&b.ctx);
  start(&b, 0.0);
  assert_int_equal(step(&b, b.state, 0.0, 1e-3, 0.0), YOKE_OK);
  close_bench(&b);
}

/* ---- instances ---- */

static yoke_status planar_create(yoke_context *ctx, void *user, const char *name, int n_arguments,
                                 const yoke_user_argument *arguments, yoke_user_instance *out) {
  static const yoke_user_port   ports[]  = {{"left", "plane"}, {"tip", "frame"}};
  static const yoke_user_signal in[]     = {{"flow", "m^3/s"}, {"valve", NULL}};
  static const yoke_user_signal result[] = {{"pressure", "Pa"}};
  (void)ctx, (void)user, (void)name, (void)n_arguments, (void)arguments;
  assert_int_equal(out->size, sizeof *out);
  out->n_ports = out->n_inputs = 2;
  out->n_outputs               = 1;
  out->ports                   = ports;
  out->inputs                  = in;
  out->outputs                 = result;
  return YOKE_OK;
}

/* y[k] = k, and 1000 for each input. */
static yoke_status planar_output(void *self, const void *state, double t, const double *u, double *y) {
  (void)self, (void)state, (void)t;
  for (int k = 0; k < 9 + 19 + 1; ++k) y[k] = (double)k;
  for (int k = 0; k < 9 + 2; ++k) y[28] += 1000.0 * u[k];
  return YOKE_OK;
}

static yoke_status planar_instant(void *self, const void *state, double t, const double *u, double *dy_du) {
  (void)self, (void)state, (void)t, (void)u;
  for (int k = 0; k < 11; ++k) dy_du[k * 29 + 28] = 1000.0;
  dy_du[5 * 29 + 22] = 7.0; /* wrench 5 to ax of the second port */
  return YOKE_OK;
}

static yoke_user_type planar_type(void) {
  static const yoke_user_instant instant = {.size = sizeof instant, .response = planar_instant};
  yoke_user_type                 t       = gain_type();
  t.name                                 = "planar";
  t.create                               = planar_create;
  t.output                               = planar_output;
  t.destroy                              = NULL;
  t.instant                              = &instant;
  return t;
}

static void ports_stand_in_the_order_of_the_instance(void **state) {
  (void)state;
  const yoke_user_type type = planar_type();
  bench                b;
  double               y[12 + 22 + 1];
  assert_int_equal(make(&b, &type, 0, NULL), YOKE_OK);
  static const struct {
    const char *name, *shape;
    int         y_at, n_y, wrench_at;
    unsigned    takes;
  } rows[] = {
      {"left", "plane", 0, 12, 0, YOKE_TAKES_WRENCH},  {"tip", "frame", 12, 22, 3, YOKE_TAKES_WRENCH},
      {"flow", "signal", 34, 0, 9, YOKE_TAKES_SIGNAL}, {"valve", "signal", 34, 0, 10, YOKE_TAKES_SIGNAL},
      {"pressure", "signal", 34, 1, -1, 0u},
  };
  assert_int_equal(b.s->nu, 11);
  assert_int_equal(b.s->ny, 35);
  assert_int_equal(b.s->n_ports, 5);
  for (int i = 0; i < 5; ++i) {
    const yoke_port *port = &b.s->ports[i];
    assert_string_equal(port->name, rows[i].name);
    assert_string_equal(port->shape->name, rows[i].shape);
    assert_int_equal(port->y_at, rows[i].y_at);
    assert_int_equal(port->n_y, rows[i].n_y);
    assert_int_equal(port->wrench_at, rows[i].wrench_at);
    assert_int_equal(port->takes, rows[i].takes);
    assert_int_equal(port->no_integrals, i < 2);
  }
  assert_string_equal(yoke_user_instance_of(b.s)->inputs[1].name, "valve");
  start(&b, 0.0);
  held h;
  hold(&h, b.s, 0.0);
  h.c[10] = 2.0;
  assert_int_equal(yoke_subsystem_output(b.s, b.scratch, b.state, &h.u, YOKE_SIDE_LEFT, y), YOKE_OK);
  for (int k = 0; k < 9; ++k) assert_true(y[k] == (double)k);
  for (int k = 9; k < 12; ++k) assert_true(y[k] == 0.0); /* integrals */
  for (int k = 12; k < 31; ++k) assert_true(y[k] == (double)(k - 3));
  for (int k = 31; k < 34; ++k) assert_true(y[k] == 0.0);
  assert_true(y[34] == 28.0 + 2000.0);
  close_bench(&b);
}

static void the_instant_response_of_the_type_is_that_of_the_subsystem(void **state) {
  (void)state;
  const yoke_user_type type = planar_type();
  bench                b;
  held                 h;
  double               dy_du[11 * 35];
  assert_int_equal(make(&b, &type, 0, NULL), YOKE_OK);
  start(&b, 0.0);
  const yoke_status status =
      b.s->ops->instant->response(b.s, b.scratch, b.state, hold(&h, b.s, 0.0), YOKE_SIDE_LEFT, dy_du);
  assert_int_equal(status, YOKE_OK);
  for (int k = 0; k < 11; ++k) {
    for (int i = 0; i < 35; ++i)
      assert_true(dy_du[k * 35 + i] == (i == 34 ? 1000.0 : k == 5 && i == 12 + 13 ? 7.0 : 0.0));
  }
  close_bench(&b);
  open_mass(&b, &with_repeat);
  assert_null(b.s->ops->instant);
  close_bench(&b);
}

/* What `create` shall do wrong. */
typedef struct bad_instance {
  yoke_status        status;
  yoke_user_instance out;
} bad_instance;

static yoke_status bad_create(yoke_context *ctx, void *user, const char *name, int n_arguments,
                              const yoke_user_argument *arguments, yoke_user_instance *out) {
  const bad_instance *bad = user;
  (void)ctx, (void)name, (void)n_arguments, (void)arguments;
  const size_t size = out->size;
  *out              = bad->out;
  out->size         = size;
  return bad->status;
}

static void an_instance_that_cannot_be_is_refused(void **state) {
  (void)state;
  static const yoke_user_port unnamed = {NULL, "line"}, shapeless = {"p", NULL}, odd = {"p", "cube"},
                              signal  = {"p", "signal"};
  static const yoke_user_signal empty = {"", NULL};
  static const char *const names[] = {"bang"}, *const nobody[] = {NULL};
  const struct {
    bad_instance bad;
    yoke_status  status;
    const char  *text;
  } rows[] = {
      {{YOKE_OK, {.n_ports = -1}}, YOKE_E_SUBSYSTEM, "-1 ports, expected 0 to"},
      {{YOKE_OK, {.n_inputs = 3}}, YOKE_E_SUBSYSTEM, "3 inputs and no list of them"},
      {{YOKE_OK, {.n_outputs = 2000000000}}, YOKE_E_SUBSYSTEM, "2000000000 outputs"},
      {{YOKE_OK, {.n_ports = 1, .ports = &unnamed}}, YOKE_E_SUBSYSTEM, "no name for its port 1"},
      {{YOKE_OK, {.n_outputs = 1, .outputs = &empty}}, YOKE_E_SUBSYSTEM, "no name for its output 1"},
      {{YOKE_OK, {.n_ports = 1, .ports = &shapeless}}, YOKE_E_SUBSYSTEM, "port 'p' the shape ''"},
      {{YOKE_OK, {.n_ports = 1, .ports = &odd}}, YOKE_E_SUBSYSTEM, "the shape 'cube', expected line, plane"},
      {{YOKE_OK, {.n_ports = 1, .ports = &signal}}, YOKE_E_SUBSYSTEM, "the shape 'signal', expected line, plane"},
      {{YOKE_OK, {.n_events = 1, .events = names}}, YOKE_E_SUBSYSTEM, "events, and has no ability events"},
      {{YOKE_OK, {.n_events = 1, .events = nobody}}, YOKE_E_SUBSYSTEM, "no name for its event 1"},
      {{YOKE_OK, {.state_size = SIZE_MAX}}, YOKE_E_SUBSYSTEM, "states that no memory can hold"},
      {{YOKE_E_MODEL, {0}}, YOKE_E_MODEL, "subsystem 'part' cannot be made by type 'bad': the model cannot be used"},
      {{YOKE_E_IO, {0}}, YOKE_E_IO, "input or output failed"},
      {{YOKE_E_MEMORY, {0}}, YOKE_E_MEMORY, "out of memory"},
      {{YOKE_NOT_CONVERGED, {0}}, YOKE_E_SUBSYSTEM, "a subsystem failed"},
      {{(yoke_status)-77, {0}}, YOKE_E_SUBSYSTEM, "a subsystem failed"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    yoke_user_type type = gain_type();
    bench          b;
    bad_instance   bad = rows[i].bad;
    type.name          = "bad";
    type.user          = &bad;
    type.create        = bad_create;
    assert_int_equal(make(&b, &type, 0, NULL), rows[i].status);
    expect_said(b.ctx, rows[i].text);
    close_bench(&b);
  }
}

static void what_create_says_is_kept(void **state) {
  (void)state;
  static const yoke_user_argument negative = {"mass", NULL, -1.0}, word = {"mass", "heavy", 0.0},
                                  other = {"weight", NULL, 1.0};
  static const struct {
    const yoke_user_argument *argument;
    const char               *text;
  } rows[] = {{&negative, "parameter 'mass' is -1, expected > 0"},
              {&word, "parameter 'mass' is 'heavy', expected a number"},
              {&other, "parameter 'weight' is not known"}};
  for (int i = 0; i < 3; ++i) {
    const yoke_user_type type = mass_type(&with_repeat);
    bench                b;
    assert_int_equal(make(&b, &type, 1, rows[i].argument), YOKE_E_MODEL);
    expect_said(b.ctx, rows[i].text);
    expect_said(b.ctx, "subsystem 'part' cannot be made by type 'mass'");
    close_bench(&b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_context_knows_the_types_that_were_added),
      cmocka_unit_test(a_type_that_cannot_be_is_refused),
      cmocka_unit_test(a_type_of_an_older_header_is_filled_up),
      cmocka_unit_test(a_subsystem_outlives_its_context),
      cmocka_unit_test(ports_stand_in_the_order_of_the_instance),
      cmocka_unit_test(the_instant_response_of_the_type_is_that_of_the_subsystem),
      cmocka_unit_test(an_instance_that_cannot_be_is_refused),
      cmocka_unit_test(what_create_says_is_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
