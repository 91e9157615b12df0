/* Linear subsystems: the same steps and outputs as the native one they stand in for, where that one is linear; resets by impulses. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/cosimulate.h"
#include "analysis/stand_in.h"
#include "../step_over.h"
#include "master/native_part.h"

/* The native subsystem `part` of a split model and its stand-in about the start. */
typedef struct pair {
  cosim              c;
  yoke_plan         *plan;
  yoke_subsystem    *subsystem[2]; /* native, linear */
  void              *state[2], *scratch[2];
  yoke_linearization l;
} pair;

static const double t_constant[2] = {0.0, 1e9};

static void pair_open(pair *p, const char *path, const char *sets, int part, const double *u) {
  *p = (pair){0};
  if (cosim_load(&p->c, path, sets) != YOKE_OK) cosim_print(p->c.ctx);
  assert_int_equal(p->c.status, YOKE_OK);
  assert_int_equal(yoke_plan_create(p->c.ctx, p->c.model, NULL, &p->plan), YOKE_OK);
  const yoke_plan_part *of = &p->plan->parts[part];
  assert_int_equal(of->make(p->c.ctx, of->definition, &p->subsystem[0]), YOKE_OK);
  const yoke_signal held = {.n = p->subsystem[0]->nu, .n_pieces = 1, .degree = 0, .t = t_constant, .c = u};
  for (int k = 0; k < 2; ++k) {
    if (k == 1) {
      const yoke_status status = yoke_stand_in_create(p->c.ctx, p->subsystem[0], &p->plan->native[part].submodel,
                                                      p->state[0], u, &p->l, &p->subsystem[1]);
      if (status != YOKE_OK) cosim_print(p->c.ctx);
      assert_int_equal(status, YOKE_OK);
    }
    assert_int_equal(yoke_subsystem_state_create(p->subsystem[k], &p->state[k]), YOKE_OK);
    assert_int_equal(yoke_subsystem_scratch_create(p->subsystem[k], &p->scratch[k]), YOKE_OK);
    assert_int_equal(yoke_subsystem_start(p->subsystem[k], p->scratch[k], p->state[k], 0.0, &held, p->c.ctx), YOKE_OK);
  }
}

static void pair_close(pair *p) {
  for (int k = 0; k < 2; ++k) {
    yoke_subsystem_state_destroy(p->subsystem[k], &p->state[k]);
    yoke_subsystem_scratch_destroy(&p->scratch[k]);
    yoke_subsystem_destroy(&p->subsystem[k]);
  }
  yoke_linearization_clear(&p->l);
  yoke_plan_destroy(&p->plan);
  cosim_close(&p->c);
}

/* Both over [t, t + H] under u; largest difference of outputs, relative to their size. */
static double step_both(pair *p, const yoke_signal *u, double t, double H) {
  double y[2][128], off = 0.0, size = 0.0;
  assert_true(p->subsystem[0]->ny <= 128);
  for (int k = 0; k < 2; ++k) {
    assert_int_equal(step_over(p->subsystem[k], p->scratch[k], p->state[k], u, t, H, p->c.ctx), YOKE_OK);
    assert_int_equal(yoke_subsystem_output(p->subsystem[k], p->scratch[k], p->state[k], u, YOKE_SIDE_LEFT, y[k]),
                     YOKE_OK);
  }
  for (int i = 0; i < p->subsystem[0]->ny; ++i) {
    off  = fmax(off, fabs(y[0][i] - y[1][i]));
    size = fmax(size, fabs(y[0][i]));
  }
  return off / fmax(size, 1e-300);
}

/* the I-extension reads integrals of positions */
#define MASSES "solvers.default=exact;cosimulation.couplings={decomposition: force/displacement, extension: i}"

static void steps_and_outputs_are_those_of_a_linear_native(void **state) {
  (void)state;
  for (int part = 0; part < 2; ++part) { /* driven by a force; by the other side's motion */
    const double u0[3] = {3.0, -2.0, 1.0};
    pair         p;
    pair_open(&p, "examples/two-mass.yaml", MASSES, part, u0);
    const int         nu           = p.subsystem[0]->nu;
    const double      t[3]         = {0.0, 0.004, 0.01}; /* two pieces, a jump between them */
    const double      c[2 * 3 * 3] = {1.0, 20.0, -3e3, -0.1, 0.5, 4.0, 2.0, -7.0, 1.0,
                                      4.0, -9.0, 1e3,  0.3,  0.0, 8.0, 1.0, 6.0,  -2.0};
    const yoke_signal u            = {.n = nu, .n_pieces = 2, .degree = 2, .t = t, .c = c};
    CHECK_BELOW(step_both(&p, &u, 0.0, 0.01), 1e-10);
    const double      t2[2] = {0.01, 0.02};
    const yoke_signal next  = {.n = nu, .n_pieces = 1, .degree = 2, .t = t2, .c = c + 9};
    for (int k = 0; k < 2; ++k) yoke_subsystem_accept(p.subsystem[k], p.state[k]); /* integrals begin again */
    CHECK_BELOW(step_both(&p, &next, 0.01, 0.01), 1e-10);
    pair_close(&p);
  }
}

/* A hanging link under a small force at its tip: what the linear one leaves out is quadratic in the force. */
static void small_motions_of_a_link_are_followed_to_second_order(void **state) {
  (void)state;
  double off[2];
  for (int k = 0; k < 2; ++k) {
    const double zero[3] = {0.0}, size = k == 0 ? 1e-2 : 5e-3, c[3] = {size, 0.0, 0.0}, t[2] = {0.0, 0.2};
    pair         p;
    pair_open(&p, "examples/double-pendulum-flexible.yaml",
              "solvers.default.kind=dop853;solvers.default.rtol=1e-13;solvers.default.atol=1e-15;gravity=[0, 0, 0];"
              "connections.spring.free_angle=pi/4",
              0, zero);
    const yoke_signal u = {.n = p.subsystem[0]->nu, .n_pieces = 1, .degree = 0, .t = t, .c = c};
    double            y[2][32];
    for (int s = 0; s < 2; ++s) {
      assert_int_equal(step_over(p.subsystem[s], p.scratch[s], p.state[s], &u, 0.0, 0.2, p.c.ctx), YOKE_OK);
      assert_int_equal(yoke_subsystem_output(p.subsystem[s], p.scratch[s], p.state[s], &u, YOKE_SIDE_LEFT, y[s]),
                       YOKE_OK);
    }
    off[k] = 0.0;
    for (int i = 0; i < 6; ++i) off[k] = fmax(off[k], fabs(y[0][i] - y[1][i]));
    pair_close(&p);
  }
  CHECK_ORDER(off, 2, 2.0, 0.1);
}

/* W and the states after a push, of both. */
static void impulses_act_as_on_the_native(void **state) {
  (void)state;
  const double zero[8] = {0.0};
  pair         p;
  pair_open(&p, "examples/double-pendulum.yaml", "cosimulation.couplings.formulation=projection", 0, zero);
  const yoke_port_row rows[2] = {{.port = 0, .wrench = {1.0, 0.5, 0.0}}, {.port = 0, .wrench = {0.0, 0.3, -0.7}}};
  const double        kick[2] = {0.02, -0.01};
  double              W[2][4], y[2][32];
  const yoke_signal   held = {.n = p.subsystem[0]->nu, .n_pieces = 1, .degree = 0, .t = t_constant, .c = zero};
  for (int k = 0; k < 2; ++k) {
    const yoke_subsystem_ops *ops = p.subsystem[k]->ops;
    assert_int_equal(ops->reset->row_response(p.subsystem[k], p.scratch[k], p.state[k], 2, rows, W[k]), YOKE_OK);
    assert_int_equal(ops->reset->push(p.subsystem[k], p.scratch[k], p.state[k], 2, rows, NULL, kick), YOKE_OK);
    assert_int_equal(ops->reset->reset(p.subsystem[k], p.scratch[k], p.state[k], &held, p.c.ctx), YOKE_OK);
    assert_int_equal(yoke_subsystem_output(p.subsystem[k], p.scratch[k], p.state[k], &held, YOKE_SIDE_LEFT, y[k]),
                     YOKE_OK);
  }
  for (int i = 0; i < 4; ++i) CHECK_NEAR(W[1][i], W[0][i], 1e-10);
  for (int i = 3; i < 6; ++i) CHECK_NEAR(y[1][i], y[0][i], 1e-12); /* velocities of the port */
  pair_close(&p);
}

/* Packed and unpacked by another state: the same bits from there on. */
static void its_state_goes_on_from_bytes(void **state) {
  const double u0[3] = {3.0, -2.0, 1.0}, c[9] = {1.0, 20.0, -3e3, -0.1, 0.5, 4.0, 2.0, -7.0, 1.0};
  const double t[2][2] = {{0.0, 0.01}, {0.01, 0.02}};
  double       y[2][32];
  yoke_pack    pack  = {0};
  yoke_unpack  in    = {0};
  void        *other = NULL;
  pair         p;
  (void)state;
  pair_open(&p, "examples/two-mass.yaml", MASSES, 1, u0);
  const yoke_subsystem *s = p.subsystem[1];
  yoke_signal           u = {.n = s->nu, .n_pieces = 1, .degree = 2, .t = t[0], .c = c};
  assert_int_equal(step_over(s, p.scratch[1], p.state[1], &u, 0.0, 0.01, p.c.ctx), YOKE_OK);
  yoke_subsystem_accept(s, p.state[1]);
  yoke_pack_begin(&pack);
  assert_int_equal(s->ops->pack->pack(s, p.state[1], &pack, p.c.ctx), YOKE_OK);
  assert_int_equal(yoke_pack_end(&pack, p.c.ctx), YOKE_OK);
  assert_int_equal(yoke_subsystem_state_create(s, &other), YOKE_OK);
  assert_int_equal(yoke_unpack_begin(&in, pack.bytes, pack.size, p.c.ctx), YOKE_OK);
  assert_int_equal(s->ops->pack->unpack(s, p.scratch[1], &in, other, p.c.ctx), YOKE_OK);
  u.t = t[1];
  for (int k = 0; k < 2; ++k) {
    void *one = k == 0 ? p.state[1] : other;
    assert_int_equal(step_over(s, p.scratch[1], one, &u, 0.01, 0.01, p.c.ctx), YOKE_OK);
    assert_int_equal(yoke_subsystem_output(s, p.scratch[1], one, &u, YOKE_SIDE_LEFT, y[k]), YOKE_OK);
  }
  assert_memory_equal(y[0], y[1], (size_t)s->ny * sizeof(double));
  yoke_subsystem_state_destroy(s, &other);
  yoke_pack_free(&pack);
  pair_close(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_and_outputs_are_those_of_a_linear_native),
      cmocka_unit_test(small_motions_of_a_link_are_followed_to_second_order),
      cmocka_unit_test(impulses_act_as_on_the_native),
      cmocka_unit_test(its_state_goes_on_from_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
