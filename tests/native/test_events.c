/* What an event does to the state of a native subsystem. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../cosimulation/rig.h"
#include "master/native_part.h"

static const char swinging[] = "yoke: 1\n"
                               "name: swap\n"
                               "t_end: 1\n"
                               "gravity: [0, -9.81, 0]\n"
                               "bodies:\n"
                               "  a: {kind: mass1d, mass: 2, x: 0.3, v: 1.5}\n"
                               "  b: {kind: mass1d, mass: 2, x: 1.1, v: -0.7}\n"
                               "  c: {kind: mass1d, mass: 3, x: 2}\n"
                               "connections:\n"
                               "  wall: {kind: spring-damper, between: [ground, a], stiffness: 40, damping: 0.3}\n"
                               "  inner: {kind: spring-damper, between: [a, b], stiffness: 30}\n"
                               "  outer: {kind: spring-damper, between: [b, c], stiffness: 20}\n"
                               "events:\n"
                               "  swap: {when: a.x - 9, set: {a.v: b.v, b.v: 2*a.v, a.x: t + 0.1}}\n"
                               "  seen: {when: a.x - 8}\n"
                               "split: {left: [a, b], right: [c]}\n"
                               "cosimulation: {scheme: explicit, step: 1e-3}\n";

static const char hanging[] =
    "yoke: 1\n"
    "name: kick\n"
    "t_end: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "bodies:\n"
    "  rod: {kind: planar, mass: 1.5, inertia: 0.7, position: [0, -1], frames: {top: [0, 1]}}\n"
    "  c: {kind: planar, mass: 3, inertia: 1, position: [2, -1]}\n"
    "connections:\n"
    "  hinge: {kind: revolute, between: [ground, rod.top]}\n"
    "  outer: {kind: spring-damper, between: [rod, c], stiffness: 20}\n"
    "events:\n"
    "  kick: {when: rod.angle - 9, set: {rod.omega: 3}}\n"
    "split: {left: [rod], right: [c]}\n"
    "cosimulation: {scheme: explicit, step: 1e-3}\n";

/* Part 0 of a split with its work integrated along, stepped once. */
typedef struct left {
  rig             r;
  yoke_subsystem *subsystem;
  void           *state, *scratch;
  double          t[2], c[16]; /* inputs: a force, or motions of a ghost, all 0 */
  yoke_signal     u;
} left;

static void open_left(left *l, const char *model) {
  assert_int_equal(rig_open(&l->r, model, NULL, "serial", 1, NULL), YOKE_OK);
  yoke_native_def def = l->r.plan->native[0].def;
  def.energy          = true;
  assert_int_equal(yoke_native_create(l->r.c.ctx, &def, &l->subsystem), YOKE_OK);
  assert_int_equal(yoke_subsystem_state_create(l->subsystem, &l->state), YOKE_OK);
  assert_int_equal(yoke_subsystem_scratch_create(l->subsystem, &l->scratch), YOKE_OK);
  assert_true(l->subsystem->nu <= 16);
  for (int i = 0; i < 16; ++i) l->c[i] = 0.0;
  l->t[0]                   = 0.0;
  l->t[1]                   = 0.125;
  l->u                      = (yoke_signal){.n = l->subsystem->nu, .n_pieces = 1, .degree = 0, .t = l->t, .c = l->c};
  yoke_step_request request = yoke_step_over(&l->u, 0.0, 0.125);
  assert_int_equal(yoke_subsystem_start(l->subsystem, l->scratch, l->state, 0.0, &l->u, l->r.c.ctx), YOKE_OK);
  assert_int_equal(yoke_subsystem_step(l->subsystem, l->scratch, l->state, &l->u, &request, l->r.c.ctx), YOKE_OK);
  yoke_subsystem_accept(l->subsystem, l->state);
}

static void close_left(left *l) {
  yoke_subsystem_state_destroy(l->subsystem, &l->state);
  yoke_subsystem_scratch_destroy(&l->scratch);
  yoke_subsystem_destroy(&l->subsystem);
  rig_close(&l->r);
}

static double see(left *l, int64_t handle) {
  double value = 0.0;
  assert_int_equal(l->subsystem->ops->observe->at(l->subsystem, l->scratch, l->state, &l->u, 0.125, YOKE_SIDE_LEFT, 1,
                                                  &handle, &value),
                   YOKE_OK);
  return value;
}

static double balance(left *l) {
  int64_t handles[YOKE_N_ENERGIES];
  double  sum = 0.0;
  l->subsystem->ops->energy->handles(l->subsystem, handles);
  for (int k = 0; k < YOKE_N_ENERGIES; ++k) sum += (k == YOKE_ENERGY_EXTERNAL ? -1.0 : 1.0) * see(l, handles[k]);
  return sum;
}

static void act(left *l, int event) {
  assert_int_equal(l->subsystem->ops->events->act(l->subsystem, l->scratch, l->state, event, &l->u, l->r.c.ctx),
                   YOKE_OK);
}

static void values_of_an_event_are_all_read_before_any_is_written(void **state) {
  left l;
  (void)state;
  open_left(&l, swinging);
  const double va = see(&l, yoke_native_handle(YOKE_NATIVE_V, 0, 0)),
               vb = see(&l, yoke_native_handle(YOKE_NATIVE_V, 1, 0));
  act(&l, 0);
  assert_true(see(&l, yoke_native_handle(YOKE_NATIVE_V, 0, 0)) == vb);
  assert_true(see(&l, yoke_native_handle(YOKE_NATIVE_V, 1, 0)) == 2.0 * va);
  assert_true(see(&l, yoke_native_handle(YOKE_NATIVE_Q, 0, 0)) == 0.125 + 0.1);
  close_left(&l);
}

static void an_event_that_only_records_leaves_the_state_alone(void **state) {
  left          l;
  yoke_counters before, after;
  (void)state;
  open_left(&l, swinging);
  yoke_subsystem_counters(l.subsystem, l.state, &before);
  const double v = see(&l, yoke_native_handle(YOKE_NATIVE_V, 0, 0));
  act(&l, 1);
  yoke_subsystem_counters(l.subsystem, l.state, &after);
  assert_true(see(&l, yoke_native_handle(YOKE_NATIVE_V, 0, 0)) == v);
  assert_int_equal(before.evaluations, after.evaluations);
  close_left(&l);
}

static void energy_that_an_event_brings_in_is_external_work(void **state) {
  left l;
  (void)state;
  open_left(&l, swinging);
  const double before = balance(&l), kinetic = see(&l, yoke_native_handle(YOKE_NATIVE_ENERGY, YOKE_ENERGY_KINETIC, 0));
  act(&l, 0);
  assert_true(fabs(see(&l, yoke_native_handle(YOKE_NATIVE_ENERGY, YOKE_ENERGY_KINETIC, 0)) - kinetic) > 0.1);
  assert_true(fabs(balance(&l) - before) < 1e-12);
  close_left(&l);
}

/* A rate of turn alone does not fit the hinge: the centre gets the velocity that goes with it, and the balance stays. */
static void an_event_honours_the_own_joints(void **state) {
  left l;
  (void)state;
  open_left(&l, hanging);
  const double before = balance(&l);
  act(&l, 0);
  const double angle = see(&l, yoke_native_handle(YOKE_NATIVE_Q, 0, 2)),
               omega = see(&l, yoke_native_handle(YOKE_NATIVE_V, 0, 2));
  assert_true(omega > 0.5);
  assert_true(fabs(see(&l, yoke_native_handle(YOKE_NATIVE_V, 0, 0)) - omega * cos(angle)) < 1e-12);
  assert_true(fabs(see(&l, yoke_native_handle(YOKE_NATIVE_V, 0, 1)) - omega * sin(angle)) < 1e-12);
  assert_true(fabs(balance(&l) - before) < 1e-12);
  close_left(&l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_of_an_event_are_all_read_before_any_is_written),
      cmocka_unit_test(an_event_that_only_records_leaves_the_state_alone),
      cmocka_unit_test(energy_that_an_event_brings_in_is_external_work),
      cmocka_unit_test(an_event_honours_the_own_joints),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
