/* States of perturbed integrations: as many as workers, whatever the number of subsystems, and one after another where a subsystem says so. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../cosimulation/rig.h"
#include <stdatomic.h>
#include <time.h>

/* Calls of the library's allocations lead here (tests/CMakeLists.txt). */
void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static atomic_size_t n_bytes;

void *__wrap_calloc(size_t count, size_t size) {
  n_bytes += count * size;
  return __real_calloc(count, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  n_bytes += size;
  return __real_aligned_alloc(alignment, size);
}

static const char chain[] = "yoke: 1\n"
                            "name: long chain\n"
                            "t_end: 1e-4\n"
                            "bodies:\n"
                            "  c: {kind: chain, n: 20000, mass: 10, stiffness: 1e6, damping: 1e2, free: right,\n"
                            "      loads: [{on: 20000, kind: harmonic, force: 5e3, omega: 5e2}]}\n"
                            "split: {c: 50}\n"
                            "cosimulation: {scheme: semi-implicit, order: 1, step: 1e-5}\n"
                            "solvers: {default: {kind: dopri5}}\n";

/* Bytes that a graph and two of its steps take from the heap. */
static size_t bytes_with(int threads) {
  rig r;
  n_bytes = 0;
  assert_int_equal(rig_open(&r, chain, NULL, "eager", threads, NULL), YOKE_OK);
  rig_steps(&r, 2);
  const size_t bytes = n_bytes;
  rig_close(&r);
  return bytes;
}

static void eight_threads_take_at_most_a_fifth_more_memory_than_one(void **state) {
  (void)state;
  const size_t one = bytes_with(1), eight = bytes_with(8);
  if ((double)eight > 1.2 * (double)one) fail_msg("%zu bytes with one thread, %zu with eight", one, eight);
}

/* ---- subsystems with one instance ---- */

static const yoke_subsystem_ops *true_ops;
static yoke_repeat_ops           lone_repeat;
static atomic_int                n_inside, most_inside;

static yoke_status slow_step(const yoke_subsystem *subsystem, void *scratch, void *state, const yoke_signal *u,
                             yoke_step_request *request, yoke_context *ctx) {
  const int now = ++n_inside;
  if (now > most_inside) most_inside = now;
  nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  const yoke_status status = true_ops->step(subsystem, scratch, state, u, request, ctx);
  --n_inside;
  return status;
}

static void watch(rig *r, int most_states) {
  true_ops                = r->subsystems[0]->ops;
  lone_repeat             = *true_ops->repeat;
  lone_repeat.most_states = most_states;
  r->ops                  = *true_ops;
  r->ops.step             = slow_step;
  r->ops.repeat           = &lone_repeat;
  r->subsystems[0]->ops   = &r->ops;
  n_inside = most_inside = 0;
}

static void allow_any(rig *r) {
  watch(r, 0);
}

static void allow_one(rig *r) {
  watch(r, 1);
}

static void a_subsystem_with_one_instance_runs_its_tasks_one_after_another(void **state) {
  static const char *const model = "examples/four-bar-bushing.yaml";
  static const char *const sets  = "cosimulation.scheme=semi-implicit;cosimulation.jacobian=finite-difference";
  rig                      any, one;
  (void)state;
  assert_int_equal(rig_open(&any, model, sets, "eager", 4, allow_any), YOKE_OK);
  rig_steps(&any, 3);
  assert_true(most_inside > 1);
  assert_int_equal(rig_open(&one, model, sets, "eager", 4, allow_one), YOKE_OK);
  rig_steps(&one, 3);
  assert_int_equal(most_inside, 1);
  rig_expect_same(&any, &one);
  rig_close(&any);
  rig_close(&one);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(eight_threads_take_at_most_a_fifth_more_memory_than_one),
      cmocka_unit_test(a_subsystem_with_one_instance_runs_its_tasks_one_after_another),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
