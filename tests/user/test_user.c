/* Types that a program brings, through the contract that the engine has with all subsystems: every ability, with it and without. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "types.h"
#include "user/user.h"
#include "base/cancel.h"
#include <stdio.h>

/* ---- a subsystem in a context of its own ---- */

typedef struct bench {
  yoke_context   *ctx;
  yoke_subsystem *s;
  void           *state, *scratch;
} bench;

static bool said(const yoke_context *ctx, const char *text) {
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) {
    if (strstr(yoke_context_message(ctx, i), text) != NULL) return true;
  }
  return false;
}

static void expect_said(const yoke_context *ctx, const char *text) {
  if (said(ctx, text)) return;
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) print_message("%s\n", yoke_context_message(ctx, i));
  fail_msg("nobody said: %s", text);
}

static yoke_status make(bench *b, const yoke_user_type *type, int n, const yoke_user_argument *arguments) {
  *b = (bench){0};
  assert_int_equal(yoke_context_create(&b->ctx), YOKE_OK);
  YOKE_TRY(yoke_context_add_type(b->ctx, type));
  const yoke_user_def def = {
      .name = "part", .entry = yoke_user_find(b->ctx, type->name), .n_arguments = n, .arguments = arguments};
  YOKE_TRY(yoke_user_create(b->ctx, &def, &b->s));
  assert_int_equal(yoke_subsystem_state_create(b->s, &b->state), YOKE_OK);
  return yoke_subsystem_scratch_create(b->s, &b->scratch);
}

static void close_bench(bench *b) {
  if (b->s != NULL) yoke_subsystem_state_destroy(b->s, &b->state);
  yoke_subsystem_scratch_destroy(&b->scratch);
  yoke_subsystem_destroy(&b->s);
  yoke_context_destroy(&b->ctx);
}

static void put_checks_around(bench *b) {
  yoke_subsystem_state_destroy(b->s, &b->state);
  yoke_subsystem_scratch_destroy(&b->scratch);
  assert_int_equal(yoke_subsystem_check(b->ctx, b->s, &b->s), YOKE_OK);
  assert_int_equal(yoke_subsystem_state_create(b->s, &b->state), YOKE_OK);
  assert_int_equal(yoke_subsystem_scratch_create(b->s, &b->scratch), YOKE_OK);
}

/* Inputs that stay. */
typedef struct held {
  double      t[2], c[16];
  yoke_signal u;
} held;

static const yoke_signal *hold(held *h, const yoke_subsystem *s, double value) {
  assert_true(s->nu <= 16);
  *h = (held){.t = {-1e9, 1e9}};
  for (int i = 0; i < s->nu; ++i) h->c[i] = value;
  h->u = (yoke_signal){.n = s->nu, .n_pieces = 1, .degree = 0, .t = h->t, .c = h->c};
  return &h->u;
}

static void start(bench *b, double force) {
  held h;
  assert_int_equal(yoke_subsystem_start(b->s, b->scratch, b->state, 0.0, hold(&h, b->s, force), b->ctx), YOKE_OK);
}

static yoke_status step(bench *b, void *state, double t, double H, double force) {
  held               h;
  const yoke_signal *u       = hold(&h, b->s, force);
  yoke_step_request  request = yoke_step_over(NULL, t, H);
  return yoke_subsystem_step(b->s, b->scratch, state, u, &request, b->ctx);
}

static void output(bench *b, const void *state, double force, double *y) {
  held h;
  assert_int_equal(yoke_subsystem_output(b->s, b->scratch, state, hold(&h, b->s, force), YOKE_SIDE_LEFT, y), YOKE_OK);
}

/* m = 2, c = 100, d = 1, from x = 0.1, v = 3. */
static const yoke_user_argument swinging[] = {
    {"mass", NULL, 2.0}, {"stiffness", NULL, 100.0}, {"damping", NULL, 1.0}, {"x", NULL, 0.1}, {"v", NULL, 3.0}};
enum { N_SWINGING = sizeof swinging / sizeof *swinging };

static const unsigned with_nothing = 0, with_repeat = MASS_REPEAT, on_heap = MASS_REPEAT | MASS_HEAP,
                      with_response      = MASS_REPEAT | MASS_RESPONSE,
                      with_heap_response = MASS_REPEAT | MASS_RESPONSE | MASS_HEAP,
                      with_events = MASS_REPEAT | MASS_EVENTS, with_heap_events = MASS_REPEAT | MASS_EVENTS | MASS_HEAP,
                      with_records = MASS_REPEAT | MASS_EVENTS | MASS_RECORDS, with_energy = MASS_REPEAT | MASS_ENERGY,
                      with_inside = MASS_REPEAT | MASS_INSIDE | MASS_ENERGY,
                      with_all    = MASS_REPEAT | MASS_INSTANT | MASS_RESPONSE | MASS_EVENTS | MASS_ENERGY;

static void open_mass(bench *b, const unsigned *can) {
  const yoke_user_type type = mass_type(can);
  assert_int_equal(make(b, &type, N_SWINGING, swinging), YOKE_OK);
}

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

/* ---- steps ---- */

/* x of the swinging mass under a constant force. */
static double exact_x(double t, double force) {
  const double rest = force / 100.0, delta = 0.25, omega = sqrt(50.0 - delta * delta), a = 0.1 - rest,
               b = (3.0 + delta * a) / omega;
  return rest + exp(-delta * t) * (a * cos(omega * t) + b * sin(omega * t));
}

static void a_mass_moves_as_its_equation_says(void **state) {
  (void)state;
  const unsigned *const kinds[] = {&with_nothing, &with_repeat, &on_heap, &with_all};
  for (int k = 0; k < 4; ++k) {
    bench         b;
    double        y[4];
    yoke_counters counters;
    open_mass(&b, kinds[k]);
    start(&b, 5.0);
    output(&b, b.state, 5.0, y);
    assert_true(y[0] == 0.1 && y[1] == 3.0 && y[3] == 0.0);
    CHECK_NEAR(y[2], (5.0 - 10.0 - 3.0) / 2.0, 1e-15);
    for (int i = 0; i < 20; ++i) {
      assert_int_equal(step(&b, b.state, 1e-2 * i, 1e-2 * (i + 1) - 1e-2 * i, 5.0), YOKE_OK);
      yoke_subsystem_accept(b.s, b.state);
    }
    output(&b, b.state, 5.0, y);
    CHECK_NEAR(y[0], exact_x(0.2, 5.0), 1e-11);
    yoke_subsystem_counters(b.s, b.state, &counters);
    assert_int_equal(counters.steps, 20);
    assert_int_equal(counters.evaluations, 0);
    CHECK_NEAR(counters.h, 1e-2, 1e-15);
    close_bench(&b);
  }
}

static void a_step_must_start_where_the_state_is(void **state) {
  (void)state;
  bench b;
  open_mass(&b, &with_repeat);
  start(&b, 0.0);
  assert_int_equal(step(&b, b.state, 0.5, 1e-3, 0.0), YOKE_E_USAGE);
  expect_said(b.ctx, "a step starts at t = 0.5 s but its state is at 0 s");
  close_bench(&b);
}

static void copies_of_a_state_go_on_with_the_same_bits(void **state) {
  (void)state;
  const unsigned *const kinds[] = {&with_repeat, &on_heap, &with_all};
  for (int k = 0; k < 3; ++k) {
    bench  b;
    void  *copy;
    double y[2][4];
    open_mass(&b, kinds[k]);
    start(&b, 1.0);
    assert_int_equal(step(&b, b.state, 0.0, 1e-2, 1.0), YOKE_OK);
    assert_int_equal(yoke_subsystem_state_create(b.s, &copy), YOKE_OK);
    for (int again = 0; again < 2; ++again) { /* onto a zeroed block, and onto a state */
      assert_int_equal(yoke_subsystem_copy(b.s, copy, b.state), YOKE_OK);
      assert_int_equal(step(&b, copy, 1e-2, 1e-2, 2.0), YOKE_OK);
      output(&b, copy, 2.0, y[again]);
    }
    assert_memory_equal(y[0], y[1], sizeof y[0]);
    assert_int_equal(step(&b, b.state, 1e-2, 1e-2, 2.0), YOKE_OK);
    output(&b, b.state, 2.0, y[1]);
    assert_memory_equal(y[0], y[1], sizeof y[0]);
    yoke_subsystem_state_release(b.s, copy); /* a released block is like a new one */
    held h;
    assert_int_equal(yoke_subsystem_start(b.s, b.scratch, copy, 0.0, hold(&h, b.s, 0.0), b.ctx), YOKE_OK);
    yoke_subsystem_state_destroy(b.s, &copy);
    close_bench(&b);
  }
}

static void an_ability_that_a_type_lacks_is_not_offered(void **state) {
  (void)state;
  bench b;
  open_mass(&b, &with_nothing);
  assert_null(b.s->ops->repeat);
  assert_null(b.s->ops->instant);
  assert_null(b.s->ops->response);
  assert_null(b.s->ops->events);
  assert_null(b.s->ops->energy);
  assert_null(b.s->ops->pack);
  assert_null(b.s->ops->reset);
  assert_null(b.s->ops->linear);
  assert_non_null(b.s->ops->observe);
  close_bench(&b);
  open_mass(&b, &with_all);
  assert_non_null(b.s->ops->repeat);
  assert_int_equal(b.s->ops->repeat->most_states, 0);
  assert_non_null(b.s->ops->instant);
  assert_non_null(b.s->ops->response);
  assert_non_null(b.s->ops->events);
  assert_non_null(b.s->ops->energy);
  assert_non_null(b.s->ops->pack);
  close_bench(&b);
}

static void most_states_are_told(void **state) {
  (void)state;
  static const yoke_user_repeat one  = {.size = sizeof one, .most_states = 1};
  yoke_user_type                type = gain_type();
  bench                         b;
  type.repeat = &one;
  assert_int_equal(make(&b, &type, 0, NULL), YOKE_OK);
  assert_int_equal(b.s->ops->repeat->most_states, 1);
  start(&b, 0.0); /* without a state */
  assert_int_equal(step(&b, b.state, 0.0, 1.0, 0.0), YOKE_OK);
  close_bench(&b);
}

/* ---- codes, and what a step tells ---- */

typedef struct told {
  yoke_status status;
  double      t_reached;
  int         event;
  bool        speaks;
} told;

static yoke_status told_create(yoke_context *ctx, void *user, const char *name, int n_arguments,
                               const yoke_user_argument *arguments, yoke_user_instance *out) {
  static const char *const events[] = {"first", "second"};
  (void)ctx, (void)name, (void)n_arguments, (void)arguments;
  out->self     = user;
  out->n_events = 2;
  out->events   = events;
  return YOKE_OK;
}

static yoke_status told_start(void *self, void *state, double t, const double *u, yoke_context *ctx) {
  (void)state, (void)t, (void)u, (void)ctx;
  return ((const told *)self)->status;
}

static yoke_status told_step(void *self, void *state, const yoke_signal *u, yoke_user_step *step_now,
                             yoke_context *ctx) {
  const told *x = self;
  (void)state, (void)u;
  step_now->t_reached = x->t_reached;
  step_now->event     = x->event;
  if (x->speaks) (void)yoke_fail(ctx, x->status, "the valve is stuck");
  return x->status;
}

static yoke_user_type told_type(told *x) {
  static const yoke_user_events events = {.size = sizeof events};
  yoke_user_type                type   = gain_type();
  type.name                            = "told";
  type.user                            = x;
  type.create                          = told_create;
  type.start                           = told_start;
  type.step                            = told_step;
  type.destroy                         = NULL;
  type.instant                         = NULL;
  type.events                          = &events;
  return type;
}

static void codes_become_those_that_a_subsystem_may_give(void **state) {
  (void)state;
  static const struct {
    int         given;
    yoke_status told;
  } rows[] = {{1, YOKE_NOT_CONVERGED},  {2, YOKE_NON_FINITE},    {3, YOKE_SINGULAR},       {4, YOKE_NOT_CONVERGED},
              {99, YOKE_NOT_CONVERGED}, {-7, YOKE_E_SUBSYSTEM},  {-9, YOKE_E_MEMORY},      {-2, YOKE_E_SUBSYSTEM},
              {-10, YOKE_E_SUBSYSTEM},  {-11, YOKE_E_SUBSYSTEM}, {-1000, YOKE_E_SUBSYSTEM}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    told                 x    = {.t_reached = 1.0, .event = -1};
    const yoke_user_type type = told_type(&x);
    bench                b;
    held                 h;
    assert_int_equal(make(&b, &type, 0, NULL), YOKE_OK);
    start(&b, 0.0);
    x.status = (yoke_status)rows[i].given;
    assert_int_equal(step(&b, b.state, 0.0, 1.0, 0.0), rows[i].told);
    expect_said(b.ctx, "subsystem 'part': type 'told': the step of 1 s from t = 0 s failed: ");
    assert_int_equal(yoke_subsystem_start(b.s, b.scratch, b.state, 0.0, hold(&h, b.s, 0.0), b.ctx), rows[i].told);
    expect_said(b.ctx, "subsystem 'part' (type 'told') cannot start at t = 0 s");
    close_bench(&b);
  }
}

static void what_a_step_says_itself_is_not_said_twice(void **state) {
  (void)state;
  told                 x    = {.t_reached = 1.0, .event = -1};
  const yoke_user_type type = told_type(&x);
  bench                b;
  assert_int_equal(make(&b, &type, 0, NULL), YOKE_OK);
  start(&b, 0.0);
  x.status = YOKE_E_SUBSYSTEM;
  x.speaks = true;
  assert_int_equal(step(&b, b.state, 0.0, 1.0, 0.0), YOKE_E_SUBSYSTEM);
  assert_int_equal(yoke_context_n_messages(b.ctx), 1);
  expect_said(b.ctx, "the valve is stuck");
  close_bench(&b);
}

static void a_step_that_tells_nonsense_is_refused(void **state) {
  (void)state;
  static const struct {
    double      t_reached;
    int         event;
    const char *text;
  } rows[] = {{0.0, 0, "says that it ended at t = 0 s"},
              {-1.0, 0, "says that it ended at t = -1 s"},
              {1.5, 0, "says that it ended at t = 1.5 s"},
              {(double)NAN, 0, "says that it ended at t = nan s"},
              {0.5, -1, "ended at t = 0.5 s and names no event"},
              {1.0, 2, "tells of event 2, it has 2"},
              {1.0, -2, "tells of event -2, it has 2"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    told                 x    = {.t_reached = rows[i].t_reached, .event = rows[i].event};
    const yoke_user_type type = told_type(&x);
    bench                b;
    assert_int_equal(make(&b, &type, 0, NULL), YOKE_OK);
    start(&b, 0.0);
    assert_int_equal(step(&b, b.state, 0.0, 1.0, 0.0), YOKE_E_SUBSYSTEM);
    expect_said(b.ctx, rows[i].text);
    expect_said(b.ctx, "subsystem 'part': type 'told'");
    close_bench(&b);
  }
}

/* ---- response of a step ---- */

/* The next event is as near as a number can be. */
static yoke_status hasty_step(void *self, void *state, const yoke_signal *u, yoke_user_step *now, yoke_context *ctx) {
  (void)self, (void)state, (void)u, (void)ctx;
  now->t_reached = nextafter(now->t, now->t_end);
  now->event     = 0;
  return YOKE_OK;
}

static void events_that_follow_each_other_at_once_are_refused(void **state) {
  (void)state;
  told           x    = {.event = -1};
  yoke_user_type type = told_type(&x);
  bench          b;
  type.step = hasty_step;
  assert_int_equal(make(&b, &type, 0, NULL), YOKE_OK);
  start(&b, 0.0);
  assert_int_equal(step(&b, b.state, 0.0, 1.0, 0.0), YOKE_E_SUBSYSTEM);
  expect_said(b.ctx, "its step to t = 1 s has more than 1000000 events");
  close_bench(&b);
}

static void a_step_with_many_events_is_cancelled_between_them(void **state) {
  (void)state;
  told           x      = {.event = -1};
  yoke_user_type type   = told_type(&x);
  yoke_cancel    cancel = {.is_stopped = true};
  bench          b;
  type.step = hasty_step;
  assert_int_equal(make(&b, &type, 0, NULL), YOKE_OK);
  start(&b, 0.0);
  yoke_context_watch(b.ctx, &cancel);
  assert_int_equal(step(&b, b.state, 0.0, 1.0, 0.0), YOKE_E_INTERRUPTED);
  close_bench(&b);
}

static void the_response_of_a_step_is_that_of_the_type(void **state) {
  (void)state;
  const unsigned *const kinds[] = {&with_response, &with_heap_response};
  for (int k = 0; k < 2; ++k) {
    bench             b;
    double            times[2] = {0.0, 1e-2}, c[2] = {1.0, 50.0}, along[2] = {1.0, 30.0}, dy[4], y[2][4];
    const int         zero     = 0;
    yoke_response     response = {.directions = {.n = 1, .n_entries = 1, .direction = &zero, .input = &zero}, .dy = dy};
    const yoke_signal u        = {.n = 1, .n_pieces = 1, .degree = 1, .t = times, .c = c};
    open_mass(&b, kinds[k]);
    assert_true(b.s->ops->response->room(b.s, 0) == 0);
    const size_t room = b.s->ops->response->room(b.s, 1);
    response.room     = aligned_alloc(64, (room + 63) / 64 * 64);
    memset(response.room, 0xa5, room);
    response.directions.du = (yoke_signal){.n = 1, .n_pieces = 1, .degree = 1, .t = times, .c = along};
    for (int changed = 0; changed < 2; ++changed) {
      yoke_step_request request = yoke_step_over(&u, 0.0, 1e-2);
      start(&b, 1.0);
      if (changed == 0) request.response = &response;
      if (changed == 1) c[0] += along[0], c[1] += along[1];
      assert_int_equal(yoke_subsystem_step(b.s, b.scratch, b.state, &u, &request, b.ctx), YOKE_OK);
      assert_int_equal(yoke_subsystem_output(b.s, b.scratch, b.state, &u, YOKE_SIDE_LEFT, y[changed]), YOKE_OK);
    }
    assert_true(response.is_made);
    for (int i = 0; i < 3; ++i) CHECK_NEAR(dy[i], y[1][i] - y[0][i], 1e-12);
    assert_true(dy[3] == 0.0);
    free(response.room);
    close_bench(&b);
  }
}

static yoke_status refuse_response(void *self, const void *from, const void *to, const yoke_signal *u,
                                   const yoke_user_step *step_done, const yoke_user_directions *directions,
                                   double *dy) {
  (void)self, (void)from, (void)to, (void)u, (void)step_done, (void)directions, (void)dy;
  return YOKE_E_UNSUPPORTED;
}

static void a_step_may_have_no_response(void **state) {
  (void)state;
  static const yoke_user_response refuses = {.size = sizeof refuses, .response = refuse_response};
  static const unsigned           able    = MASS_REPEAT | MASS_RESPONSE | MASS_EVENTS | MASS_RECORDS;
  for (int passes = 0; passes < 2; ++passes) { /* refused by the type; a step with an event */
    yoke_user_type type = mass_type(&able);
    bench          b;
    held           h;
    double         room[64], dy[4];
    yoke_response  response = {.room = room, .dy = dy};
    if (passes == 0) type.response = &refuses;
    assert_int_equal(make(&b, &type, N_SWINGING, swinging), YOKE_OK);
    start(&b, 0.0);
    assert_true(b.s->ops->response->room(b.s, 1) < sizeof room);
    yoke_step_request request = yoke_step_over(NULL, 0.0, passes == 0 ? 1e-2 : 0.6);
    request.response          = &response;
    assert_int_equal(yoke_subsystem_step(b.s, b.scratch, b.state, hold(&h, b.s, 0.0), &request, b.ctx), YOKE_OK);
    assert_int_equal(b.s->ops->events->found(b.s, b.state).n, passes);
    assert_false(response.is_made);
    close_bench(&b);
  }
}

/* ---- events ---- */

/* First and second time at which the free mass passes x = 0. */
static double passage(int n) {
  const double omega = sqrt(50.0 - 0.0625);
  return (atan2(-0.1 * omega, 3.025) + (double)n * acos(-1.0)) / omega;
}

static void events_are_noted_and_the_step_goes_on(void **state) {
  (void)state;
  const unsigned *const kinds[] = {&with_events, &with_heap_events, &with_records};
  for (int k = 0; k < 3; ++k) {
    bench  b;
    double y[4];
    open_mass(&b, kinds[k]);
    start(&b, 0.0);
    assert_int_equal(step(&b, b.state, 0.0, 1.0, 0.0), YOKE_OK);
    const yoke_found_events found = b.s->ops->events->found(b.s, b.state);
    assert_int_equal(found.n, 2);
    assert_true(found.until == (double)INFINITY);
    for (int i = 0; i < 2; ++i) {
      assert_int_equal(found.list[i].event, 0);
      CHECK_NEAR(found.list[i].t, passage(i + 1), 1e-10);
    }
    output(&b, b.state, 0.0, y);
    CHECK_NEAR(y[0], exact_x(1.0, 0.0), 1e-10);
    assert_int_equal(step(&b, b.state, 1.0, 1e-3, 0.0), YOKE_OK);
    assert_int_equal(b.s->ops->events->found(b.s, b.state).n, 0);
    close_bench(&b);
  }
}

static void an_event_acts_at_the_time_of_the_state(void **state) {
  (void)state;
  const unsigned *const kinds[] = {&with_events, &with_records};
  for (int k = 0; k < 2; ++k) {
    bench  b;
    held   h;
    double y[2][4];
    open_mass(&b, kinds[k]);
    start(&b, 0.0);
    output(&b, b.state, 0.0, y[0]);
    b.s->ops->events->done(b.s, b.scratch, b.state, 0);
    b.s->ops->events->begin(b.s, b.scratch, b.state, hold(&h, b.s, 0.0));
    assert_int_equal(b.s->ops->events->act(b.s, b.scratch, b.state, 0, hold(&h, b.s, 0.0), b.ctx), YOKE_OK);
    output(&b, b.state, 0.0, y[1]);
    assert_true(y[1][1] == (k == 0 ? -y[0][1] : y[0][1]));
    close_bench(&b);
  }
}

static yoke_status fail_to_act(void *self, void *state, int event, double t, const double *u, yoke_context *ctx) {
  (void)self, (void)state, (void)event, (void)t, (void)u, (void)ctx;
  return YOKE_E_SUBSYSTEM;
}

static void an_event_that_fails_is_named(void **state) {
  (void)state;
  static const yoke_user_events fails = {.size = sizeof fails, .act = fail_to_act};
  yoke_user_type                type  = mass_type(&with_events);
  bench                         b;
  held                          h;
  type.events = &fails;
  assert_int_equal(make(&b, &type, 0, NULL), YOKE_OK);
  start(&b, 0.0);
  assert_int_equal(b.s->ops->events->act(b.s, b.scratch, b.state, 0, hold(&h, b.s, 0.0), b.ctx), YOKE_E_SUBSYSTEM);
  expect_said(b.ctx, "subsystem 'part': type 'mass': event 'passes' at t = 0 s failed: a subsystem failed");
  close_bench(&b);
}

/* The step ends a little before the event, or long before it. */
static void an_event_that_comes_next_is_looked_for_ahead(void **state) {
  (void)state;
  const unsigned *const kinds[] = {&with_events, &with_heap_events};
  for (int k = 0; k < 2; ++k) {
    for (int is_near = 0; is_near < 2; ++is_near) {
      bench        b;
      const double end = is_near ? passage(1) - 1e-5 : 0.3;
      open_mass(&b, kinds[k]);
      start(&b, 0.0);
      assert_int_equal(step(&b, b.state, 0.0, end, 0.0), YOKE_OK);
      assert_int_equal(b.s->ops->events->found(b.s, b.state).n, 0);
      const double ahead = b.s->ops->events->ahead(b.s, b.scratch, b.state, 0);
      if (is_near)
        CHECK_NEAR(ahead, passage(1), 1e-9);
      else
        assert_true(ahead == (double)INFINITY);
      close_bench(&b);
    }
  }
}

static void more_events_than_fit_end_the_list(void **state) {
  (void)state;
  const yoke_user_type     type = sampled_type();
  const yoke_user_argument fast = {"period", NULL, 1e-3};
  bench                    b;
  assert_int_equal(make(&b, &type, 1, &fast), YOKE_OK);
  start(&b, 0.0);
  assert_int_equal(step(&b, b.state, 0.0, 0.1, 0.0), YOKE_OK);
  const yoke_found_events found = b.s->ops->events->found(b.s, b.state);
  assert_int_equal(found.n, YOKE_MAX_FOUND);
  CHECK_NEAR(found.until, 64e-3, 1e-15);
  close_bench(&b);
}

static void a_sampled_controller_holds_its_value(void **state) {
  (void)state;
  const yoke_user_type     type     = sampled_type();
  const yoke_user_argument gains[2] = {{"kp", NULL, 10.0}, {"kd", NULL, 2.0}};
  bench                    b;
  held                     h;
  double                   y[1];
  assert_int_equal(make(&b, &type, 2, gains), YOKE_OK);
  start(&b, 1.0);
  assert_int_equal(step(&b, b.state, 0.0, 1e-3, 3.0), YOKE_OK);
  output(&b, b.state, 3.0, y);
  assert_true(y[0] == -12.0);
  const yoke_found_events found = b.s->ops->events->found(b.s, b.state);
  assert_int_equal(found.n, 1);
  assert_true(found.list[0].t == 1e-3); /* at the end of the step */
  assert_int_equal(b.s->ops->events->act(b.s, b.scratch, b.state, 0, hold(&h, b.s, 3.0), b.ctx), YOKE_OK);
  output(&b, b.state, 3.0, y);
  assert_true(y[0] == -36.0);
  close_bench(&b);
}

/* ---- observation ---- */

/* Values of handles at `times` of a step of the swinging mass from 0 over H. */
static void look_inside(bench *b, double H, double force, int n_times, const double *times, int n_handles,
                        const int64_t *handles, double *values) {
  held               h;
  const yoke_signal *u = hold(&h, b->s, force);
  start(b, force);
  yoke_step_request request = yoke_step_over(NULL, 0.0, H);
  request.n_times           = n_times;
  request.times             = times;
  request.n_handles         = n_handles;
  request.handles           = handles;
  request.values            = values;
  assert_int_equal(yoke_subsystem_step(b->s, b->scratch, b->state, u, &request, b->ctx), YOKE_OK);
  assert_int_equal(request.n_observed, n_times);
}

static void values_inside_a_step_are_interpolated_by_cubics(void **state) {
  (void)state;
  const int64_t handles[] = {yoke_output_handle(0), yoke_output_handle(3)};
  double        error[2]  = {0.0, 0.0};
  for (int half = 0; half < 2; ++half) {
    const double H = half ? 0.01 : 0.02, times[] = {0.25 * H, 0.5 * H, H};
    double       values[6];
    bench        b;
    open_mass(&b, &with_repeat);
    look_inside(&b, H, 5.0, 3, times, 2, handles, values);
    for (int i = 0; i < 3; ++i) {
      error[half] = fmax(error[half], fabs(values[2 * i] - exact_x(times[i], 5.0)));
      assert_true(values[2 * i + 1] == 0.0); /* an integral */
    }
    CHECK_NEAR(values[4], exact_x(H, 5.0), 1e-11);
    close_bench(&b);
  }
  CHECK_ORDER(error, 2, 4.0, 0.2);
}

static void looking_does_not_change_the_step(void **state) {
  (void)state;
  const int64_t handle  = yoke_output_handle(0);
  const double  times[] = {3e-3, 7e-3};
  bench         b;
  double        values[2], y[2][4];
  open_mass(&b, &with_all);
  look_inside(&b, 1e-2, 1.0, 2, times, 1, &handle, values);
  output(&b, b.state, 1.0, y[0]);
  look_inside(&b, 1e-2, 1.0, 0, NULL, 0, NULL, NULL);
  output(&b, b.state, 1.0, y[1]);
  assert_memory_equal(y[0], y[1], sizeof y[0]);
  close_bench(&b);
}

/* Position and velocity from the events on: pieces of a step have ends of their own. */
static void a_step_with_events_is_interpolated_piece_by_piece(void **state) {
  (void)state;
  const int64_t handle = yoke_output_handle(0);
  double        times[3], values[3];
  bench         b;
  open_mass(&b, &with_records);
  for (int i = 0; i < 3; ++i) times[i] = passage(1) + 1e-3 * (double)(i - 1); /* around the event */
  look_inside(&b, passage(1) + 1e-2, 0.0, 3, times, 1, &handle, values);
  CHECK_NEAR(values[1], 0.0, 1e-9);
  CHECK_NEAR(values[2], exact_x(times[2], 0.0), 1e-9); /* the piece behind it is short */
  close_bench(&b);
}

static void energies_have_handles_and_are_interpolated_by_lines(void **state) {
  (void)state;
  const double times[] = {0.25e-2, 1e-2};
  int64_t      handles[YOKE_N_ENERGIES];
  double       values[8], ends[2][4];
  bench        b;
  held         h;
  open_mass(&b, &with_energy);
  b.s->ops->energy->handles(b.s, handles);
  start(&b, 0.0);
  assert_int_equal(
      b.s->ops->observe->at(b.s, b.scratch, b.state, hold(&h, b.s, 0.0), 0.0, YOKE_SIDE_LEFT, 4, handles, ends[0]),
      YOKE_OK);
  CHECK_NEAR(ends[0][YOKE_ENERGY_KINETIC], 9.0, 1e-14);
  CHECK_NEAR(ends[0][YOKE_ENERGY_POTENTIAL], 0.5, 1e-14);
  look_inside(&b, 1e-2, 0.0, 2, times, 4, handles, values);
  assert_int_equal(
      b.s->ops->observe->at(b.s, b.scratch, b.state, hold(&h, b.s, 0.0), 1e-2, YOKE_SIDE_LEFT, 4, handles, ends[1]),
      YOKE_OK);
  for (int k = 0; k < 4; ++k) {
    CHECK_NEAR(values[k], 0.75 * ends[0][k] + 0.25 * ends[1][k], 1e-14);
    CHECK_NEAR(values[4 + k], ends[1][k], 1e-14);
  }
  close_bench(&b);
}

static void a_type_that_shows_values_inside_is_asked(void **state) {
  (void)state;
  const double  times[]   = {0.25e-2, 1e-2};
  const int64_t handles[] = {yoke_output_handle(0), 0};
  double        values[4];
  bench         b;
  open_mass(&b, &with_inside);
  look_inside(&b, 1e-2, 0.0, 2, times, 2, handles, values);
  CHECK_NEAR(values[0], 1000.0025, 1e-12);
  CHECK_NEAR(values[2], exact_x(1e-2, 0.0), 1e-11); /* the end is its output */
  assert_true(values[1] < 9.0 && values[1] > values[3]);
  close_bench(&b);
}

static void values_are_seen_inside_the_last_step_where_that_was_said_before(void **state) {
  (void)state;
  const int64_t handle = yoke_output_handle(0);
  double        value;
  bench         b;
  held          h;
  open_mass(&b, &with_repeat);
  start(&b, 0.0);
  yoke_step_request request = yoke_step_over(NULL, 0.0, 1e-2);
  request.t_look            = 0.0;
  const yoke_signal *u      = hold(&h, b.s, 0.0);
  assert_int_equal(yoke_subsystem_step(b.s, b.scratch, b.state, u, &request, b.ctx), YOKE_OK);
  assert_int_equal(b.s->ops->observe->at(b.s, b.scratch, b.state, u, 4e-3, YOKE_SIDE_LEFT, 1, &handle, &value),
                   YOKE_OK);
  CHECK_NEAR(value, exact_x(4e-3, 0.0), 1e-7);
  close_bench(&b);
}

/* A frame that turns about a skew axis; its y is 3 t. */
static yoke_status top_create(yoke_context *ctx, void *user, const char *name, int n_arguments,
                              const yoke_user_argument *arguments, yoke_user_instance *out) {
  static const yoke_user_port port = {"head", "frame"};
  (void)ctx, (void)user, (void)name, (void)n_arguments, (void)arguments;
  out->n_ports = 1;
  out->ports   = &port;
  return YOKE_OK;
}

static yoke_status top_output(void *self, const void *state, double t, const double *u, double *y) {
  static const double axis[3] = {0.6, 0.0, 0.8};
  (void)self, (void)state, (void)u;
  memset(y, 0, 19 * sizeof *y);
  y[1] = 3.0 * t;
  y[3] = cos(5.0 * t);
  y[8] = 3.0;
  for (int k = 0; k < 3; ++k) y[4 + k] = axis[k] * sin(5.0 * t);
  for (int k = 0; k < 3; ++k) y[10 + k] = 10.0 * axis[k];
  return YOKE_OK;
}

static void orientations_inside_a_step_are_unit_ones(void **state) {
  (void)state;
  yoke_user_type type = gain_type();
  int64_t        handles[7];
  const double   t = 0.3e-1;
  double         values[7], y[19], norm = 0.0;
  bench          b;
  type.name    = "top";
  type.create  = top_create;
  type.output  = top_output;
  type.instant = NULL;
  type.destroy = NULL;
  for (int k = 0; k < 7; ++k) handles[k] = yoke_output_handle(k);
  assert_int_equal(make(&b, &type, 0, NULL), YOKE_OK);
  look_inside(&b, 0.1, 0.0, 1, &t, 7, handles, values);
  (void)top_output(NULL, NULL, t, NULL, y);
  for (int k = 0; k < 7; ++k) CHECK_NEAR(values[k], y[k], 1e-4);
  for (int k = 3; k < 7; ++k) norm += values[k] * values[k];
  CHECK_NEAR(norm, 1.0, 1e-15);
  close_bench(&b);
}

/* ---- bytes ---- */

static void pack_state(bench *b, const void *state, yoke_pack *out) {
  yoke_pack_begin(out);
  assert_int_equal(b->s->ops->pack->pack(b->s, state, out, b->ctx), YOKE_OK);
  assert_int_equal(yoke_pack_end(out, b->ctx), YOKE_OK);
}

static yoke_status unpack_state(bench *b, const yoke_pack *bytes, void *state) {
  yoke_unpack in;
  YOKE_TRY(yoke_unpack_begin(&in, bytes->bytes, bytes->size, b->ctx));
  YOKE_TRY(b->s->ops->pack->unpack(b->s, b->scratch, &in, state, b->ctx));
  return yoke_unpack_end(&in, b->ctx);
}

static void a_packed_state_goes_on_elsewhere_with_the_same_bits(void **state) {
  (void)state;
  const unsigned *const kinds[] = {&with_repeat, &on_heap, &with_heap_events, &with_all};
  for (int k = 0; k < 4; ++k) {
    bench     a, b;
    yoke_pack bytes = {0}, again = {0};
    double    y[2][4];
    open_mass(&a, kinds[k]);
    open_mass(&b, kinds[k]);
    start(&a, 1.0);
    assert_int_equal(step(&a, a.state, 0.0, 1.0, 1.0), YOKE_OK);
    pack_state(&a, a.state, &bytes);
    assert_int_equal(unpack_state(&b, &bytes, b.state), YOKE_OK);
    pack_state(&b, b.state, &again);
    assert_int_equal(bytes.size, again.size);
    assert_memory_equal(bytes.bytes, again.bytes, bytes.size);
    assert_int_equal(step(&a, a.state, 1.0, 1e-2, 1.0), YOKE_OK);
    assert_int_equal(step(&b, b.state, 1.0, 1e-2, 1.0), YOKE_OK);
    output(&a, a.state, 1.0, y[0]);
    output(&b, b.state, 1.0, y[1]);
    assert_memory_equal(y[0], y[1], sizeof y[0]);
    yoke_pack_free(&bytes);
    yoke_pack_free(&again);
    close_bench(&a);
    close_bench(&b);
  }
}

static void bytes_of_another_type_or_size_are_refused(void **state) {
  (void)state;
  const yoke_user_type     gain = gain_type(), sampled = sampled_type();
  const yoke_user_argument none = {"k", NULL, 1.0};
  bench                    a, b;
  yoke_pack                bytes = {0};
  assert_int_equal(make(&a, &gain, 1, &none), YOKE_OK);
  assert_int_equal(make(&b, &sampled, 0, NULL), YOKE_OK);
  start(&a, 1.0);
  pack_state(&a, a.state, &bytes);
  assert_int_equal(unpack_state(&b, &bytes, b.state), YOKE_E_IO);
  expect_said(b.ctx, "the type of a subsystem is another");
  close_bench(&b);
  yoke_user_type other = sampled_type();
  other.name           = "gain";
  assert_int_equal(make(&b, &other, 0, NULL), YOKE_OK);
  assert_int_equal(unpack_state(&b, &bytes, b.state), YOKE_E_IO);
  yoke_pack_free(&bytes);
  close_bench(&a);
  close_bench(&b);
}

/* ---- the checked wrapper ---- */

typedef struct sly {
  double n;
} sly;

static yoke_status sly_create(yoke_context *ctx, void *user, const char *name, int n_arguments,
                              const yoke_user_argument *arguments, yoke_user_instance *out) {
  static const yoke_user_signal signal = {"out", NULL};
  (void)ctx, (void)name, (void)n_arguments, (void)arguments;
  out->self       = user;
  out->n_outputs  = 1;
  out->outputs    = &signal;
  out->state_size = sizeof(sly);
  return YOKE_OK;
}

/* Counts in the instance, which is no state. */
static yoke_status sly_step(void *self, void *state, const yoke_signal *u, yoke_user_step *step_now,
                            yoke_context *ctx) {
  (void)u, (void)step_now, (void)ctx;
  ((sly *)state)->n = ++*(double *)self;
  return YOKE_OK;
}

static yoke_status honest_step(void *self, void *state, const yoke_signal *u, yoke_user_step *step_now,
                               yoke_context *ctx) {
  (void)self, (void)u, (void)step_now, (void)ctx;
  ++((sly *)state)->n;
  return YOKE_OK;
}

static yoke_status sly_output(void *self, const void *state, double t, const double *u, double *y) {
  (void)self, (void)t, (void)u;
  y[0] = ((const sly *)state)->n;
  return YOKE_OK;
}

static yoke_status writing_output(void *self, const void *state, double t, const double *u, double *y) {
  y[0] = ((const sly *)state)->n;
  ((sly *)(uintptr_t)state)->n += 1.0;
  (void)self, (void)t, (void)u;
  return YOKE_OK;
}

static yoke_status infinite_output(void *self, const void *state, double t, const double *u, double *y) {
  (void)self, (void)state, (void)t, (void)u;
  y[0] = (double)INFINITY;
  return YOKE_OK;
}

static void checks_find_types_that_break_their_contract(void **state) {
  (void)state;
  double count = 0.0;
  const struct {
    yoke_status (*step)(void *, void *, const yoke_signal *, yoke_user_step *, yoke_context *);
    yoke_status (*output)(void *, const void *, double, const double *, double *);
    const char *text;
  } rows[] = {{sly_step, sly_output, "is not repeatable"},
              {honest_step, writing_output, "its outputs change its state"},
              {honest_step, infinite_output, "output 0 is not finite"},
              {honest_step, sly_output, NULL}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    yoke_user_type type = gain_type();
    bench          b;
    yoke_status    status = YOKE_OK;
    type.name             = "sly";
    type.user             = &count;
    type.create           = sly_create;
    type.step             = rows[i].step;
    type.output           = rows[i].output;
    type.instant          = NULL;
    type.destroy          = NULL;
    assert_int_equal(make(&b, &type, 0, NULL), YOKE_OK);
    put_checks_around(&b);
    start(&b, 0.0);
    for (int k = 0; k < 8 && status == YOKE_OK; ++k) {
      status = step(&b, b.state, (double)k, 1.0, 0.0);
      yoke_subsystem_accept(b.s, b.state);
    }
    assert_int_equal(status == YOKE_OK, rows[i].text == NULL);
    if (rows[i].text != NULL) expect_said(b.ctx, rows[i].text);
    close_bench(&b);
  }
}

static void a_type_that_keeps_its_contract_passes_the_checks(void **state) {
  (void)state;
  const unsigned *const kinds[] = {&with_nothing, &with_repeat, &on_heap, &with_all, &with_heap_events};
  for (int k = 0; k < 5; ++k) {
    bench  b;
    double y[4];
    open_mass(&b, kinds[k]);
    put_checks_around(&b);
    start(&b, 5.0);
    for (int i = 0; i < 20; ++i) {
      assert_int_equal(step(&b, b.state, 1e-2 * i, 1e-2 * (i + 1) - 1e-2 * i, 5.0), YOKE_OK);
      yoke_subsystem_accept(b.s, b.state);
    }
    output(&b, b.state, 5.0, y);
    CHECK_NEAR(y[0], exact_x(0.2, 5.0), 1e-11);
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
      cmocka_unit_test(a_mass_moves_as_its_equation_says),
      cmocka_unit_test(a_step_must_start_where_the_state_is),
      cmocka_unit_test(copies_of_a_state_go_on_with_the_same_bits),
      cmocka_unit_test(an_ability_that_a_type_lacks_is_not_offered),
      cmocka_unit_test(most_states_are_told),
      cmocka_unit_test(codes_become_those_that_a_subsystem_may_give),
      cmocka_unit_test(what_a_step_says_itself_is_not_said_twice),
      cmocka_unit_test(a_step_that_tells_nonsense_is_refused),
      cmocka_unit_test(events_that_follow_each_other_at_once_are_refused),
      cmocka_unit_test(a_step_with_many_events_is_cancelled_between_them),
      cmocka_unit_test(the_response_of_a_step_is_that_of_the_type),
      cmocka_unit_test(a_step_may_have_no_response),
      cmocka_unit_test(events_are_noted_and_the_step_goes_on),
      cmocka_unit_test(an_event_acts_at_the_time_of_the_state),
      cmocka_unit_test(an_event_that_fails_is_named),
      cmocka_unit_test(an_event_that_comes_next_is_looked_for_ahead),
      cmocka_unit_test(more_events_than_fit_end_the_list),
      cmocka_unit_test(a_sampled_controller_holds_its_value),
      cmocka_unit_test(values_inside_a_step_are_interpolated_by_cubics),
      cmocka_unit_test(looking_does_not_change_the_step),
      cmocka_unit_test(a_step_with_events_is_interpolated_piece_by_piece),
      cmocka_unit_test(energies_have_handles_and_are_interpolated_by_lines),
      cmocka_unit_test(a_type_that_shows_values_inside_is_asked),
      cmocka_unit_test(values_are_seen_inside_the_last_step_where_that_was_said_before),
      cmocka_unit_test(orientations_inside_a_step_are_unit_ones),
      cmocka_unit_test(a_packed_state_goes_on_elsewhere_with_the_same_bits),
      cmocka_unit_test(bytes_of_another_type_or_size_are_refused),
      cmocka_unit_test(checks_find_types_that_break_their_contract),
      cmocka_unit_test(a_type_that_keeps_its_contract_passes_the_checks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
