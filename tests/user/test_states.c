/* States of subsystems whose type a program brings: as bytes, and watched by the checked wrapper. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "bench.h"

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
      cmocka_unit_test(a_packed_state_goes_on_elsewhere_with_the_same_bits),
      cmocka_unit_test(bytes_of_another_type_or_size_are_refused),
      cmocka_unit_test(checks_find_types_that_break_their_contract),
      cmocka_unit_test(a_type_that_keeps_its_contract_passes_the_checks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
