/* A user's subsystem in a context of its own, driven by the contract that the engine has with all subsystems. Include after <cmocka.h>. */
#ifndef YOKE_TESTS_USER_BENCH_H
#define YOKE_TESTS_USER_BENCH_H

#include "../check.h"
#include "../said.h"
#include "types.h"
#include "user/user.h"
#include <stdio.h>

typedef struct bench {
  yoke_context   *ctx;
  yoke_subsystem *s;
  void           *state, *scratch;
} bench;

static inline yoke_status make(bench *b, const yoke_user_type *type, int n, const yoke_user_argument *arguments) {
  *b = (bench){0};
  assert_int_equal(yoke_context_create(&b->ctx), YOKE_OK);
  YOKE_TRY(yoke_context_add_type(b->ctx, type));
  const yoke_user_def def = {
      .name = "part", .entry = yoke_user_find(b->ctx, type->name), .n_arguments = n, .arguments = arguments};
  YOKE_TRY(yoke_user_create(b->ctx, &def, &b->s));
  assert_int_equal(yoke_subsystem_state_create(b->s, &b->state), YOKE_OK);
  return yoke_subsystem_scratch_create(b->s, &b->scratch);
}

static inline void close_bench(bench *b) {
  if (b->s != NULL) yoke_subsystem_state_destroy(b->s, &b->state);
  yoke_subsystem_scratch_destroy(&b->scratch);
  yoke_subsystem_destroy(&b->s);
  yoke_context_destroy(&b->ctx);
}

static inline void put_checks_around(bench *b) {
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

static inline void start(bench *b, double force) {
  held h;
  assert_int_equal(yoke_subsystem_start(b->s, b->scratch, b->state, 0.0, hold(&h, b->s, force), b->ctx), YOKE_OK);
}

static inline yoke_status step(bench *b, void *state, double t, double H, double force) {
  held               h;
  const yoke_signal *u       = hold(&h, b->s, force);
  yoke_step_request  request = yoke_step_over(NULL, t, H);
  return yoke_subsystem_step(b->s, b->scratch, state, u, &request, b->ctx);
}

static inline void output(bench *b, const void *state, double force, double *y) {
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

static inline void open_mass(bench *b, const unsigned *can) {
  const yoke_user_type type = mass_type(can);
  assert_int_equal(make(b, &type, N_SWINGING, swinging), YOKE_OK);
}

/* x of the swinging mass under a constant force. */
static inline double exact_x(double t, double force) {
  const double rest = force / 100.0, delta = 0.25, omega = sqrt(50.0 - delta * delta), a = 0.1 - rest,
               b = (3.0 + delta * a) / omega;
  return rest + exp(-delta * t) * (a * cos(omega * t) + b * sin(omega * t));
}

/* First and second time at which the free mass passes x = 0. */
static inline double passage(int n) {
  const double omega = sqrt(50.0 - 0.0625);
  return (atan2(-0.1 * omega, 3.025) + (double)n * acos(-1.0)) / omega;
}

#endif
