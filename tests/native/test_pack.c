/* A native subsystem as bytes: another one of the same model goes on with the same bits. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "bench.h"
#include <stdlib.h>

enum { N_BEFORE = 5, N_AFTER = 4 };

static const char *const kinds[] = {"dopri5", "dop853", "radau5", "bdf", "abm", "genalpha", "auto"};

static void make(bench *b, const char *kind, bool is_checked) {
  (void)make_pendulum(b, YOKE_BODY_PLANAR, kind);
  if (!is_checked) return;
  yoke_subsystem_state_destroy(b->subsystem, &b->state);
  yoke_subsystem_scratch_destroy(&b->scratch);
  assert_int_equal(yoke_subsystem_check(b->ctx, b->subsystem, &b->subsystem), YOKE_OK);
  make_task(b);
}

static void step(bench *b, int n, double y[12]) {
  const double c[2][6] = {{1.7, 30.0, 0.0, -0.4, 0.0, 200.0}, {2.0, -1.0, 0.0, 0.3, 0.0, 0.0}};
  wave         w;
  set_wave(&w, 2, 0.05 * n, 0.05, c[n % 2]);
  w.t[1] = 0.05 * (n + 1);
  if (n == 0) assert_int_equal(yoke_subsystem_start(b->subsystem, b->scratch, b->state, 0.0, &w.u, b->ctx), YOKE_OK);
  assert_int_equal(step_over(b->subsystem, b->scratch, b->state, &w.u, w.t[0], 0.05, b->ctx), YOKE_OK);
  yoke_subsystem_accept(b->subsystem, b->state);
  assert_int_equal(yoke_subsystem_output(b->subsystem, b->scratch, b->state, &w.u, YOKE_SIDE_LEFT, y), YOKE_OK);
}

static void write_state(const bench *b, yoke_pack *pack) {
  yoke_pack_begin(pack);
  assert_int_equal(b->subsystem->ops->pack->pack(b->subsystem, b->state, pack, b->ctx), YOKE_OK);
  assert_int_equal(yoke_pack_end(pack, b->ctx), YOKE_OK);
}

static void an_unpacked_state_goes_on_with_the_same_bits(void **state) {
  (void)state;
  for (size_t k = 0; k < 2 * sizeof kinds / sizeof kinds[0]; ++k) {
    bench       a, b;
    double      y[2][12];
    yoke_pack   pack = {0};
    yoke_unpack in;
    make(&a, kinds[k / 2], k % 2 == 1);
    make(&b, kinds[k / 2], k % 2 == 1);
    for (int n = 0; n < N_BEFORE; ++n) step(&a, n, y[0]);
    write_state(&a, &pack);
    assert_int_equal(yoke_unpack_begin(&in, pack.bytes, pack.size, b.ctx), YOKE_OK);
    assert_int_equal(b.subsystem->ops->pack->unpack(b.subsystem, b.scratch, &in, b.state, b.ctx), YOKE_OK);
    assert_int_equal(yoke_unpack_end(&in, b.ctx), YOKE_OK);
    yoke_pack_free(&pack);
    for (int n = N_BEFORE; n < N_BEFORE + N_AFTER; ++n) {
      step(&a, n, y[0]);
      step(&b, n, y[1]);
      assert_memory_equal(y[0], y[1], sizeof y[0]);
    }
    close_bench(&a);
    close_bench(&b);
  }
}

static void bytes_of_another_solver_are_refused(void **state) {
  bench       a, b;
  double      y[12];
  yoke_pack   pack = {0};
  yoke_unpack in;
  (void)state;
  make(&a, "dopri5", false);
  make(&b, "radau5", false);
  step(&a, 0, y);
  write_state(&a, &pack);
  assert_int_equal(yoke_unpack_begin(&in, pack.bytes, pack.size, b.ctx), YOKE_OK);
  assert_int_equal(b.subsystem->ops->pack->unpack(b.subsystem, b.scratch, &in, b.state, b.ctx), YOKE_E_USAGE);
  yoke_pack_free(&pack);
  close_bench(&a);
  close_bench(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_unpacked_state_goes_on_with_the_same_bits),
      cmocka_unit_test(bytes_of_another_solver_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
