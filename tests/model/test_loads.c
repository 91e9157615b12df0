/* Loads on one frame: signs, power, safe points. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "linalg/space.h"
#include "model/loads.h"
#include <math.h>

static void drag_only_takes_energy(void **state) {
  (void)state;
  const yoke_load   load = {.kind = YOKE_LOAD_DRAG, .drag_linear = 0.3, .drag_quadratic = 0.2, .drag_rotational = 0.1};
  yoke_load_element el   = {.load = &load, .node = 0, .origin = {0.2, 0.5, -0.3}};
  const double      q[4] = {0.4, -0.7, 0.3, 0.5};
  yoke_pose         pose = {.r = {0.3, -0.8, 0.1}, .v = {0.7, -0.2, 0.9}, .w = {-0.4, 0.6, 0.5}};
  double            wrench[6] = {0.0}, potential = 0.0, lost = 0.0, supplied = 0.0;
  quaternion_rotation(pose.R, q);
  assert_int_equal(yoke_load_apply(&el, &pose, NULL, wrench), YOKE_OK);
  yoke_load_energy(&el, &pose, &potential);
  yoke_load_powers(&el, &pose, NULL, &lost, &supplied);
  assert_true(lost > 0.0 && potential == 0.0 && supplied == 0.0);
  CHECK_NEAR(vec3_dot(wrench, pose.v) + vec3_dot(wrench + 3, pose.w), -lost, 1e-14);
}

static void contact_pushes_out_of_the_wall(void **state) {
  (void)state;
  const yoke_load   load = {.kind = YOKE_LOAD_CONTACT, .amplitude = -2.0, .slope = 4.0, .direction = {1.0, 0.0, 0.0}};
  yoke_load_element el   = {.load = &load, .node = 0};
  yoke_pose         pose = {.r = {0.5, 0.0, 0.0}, .R = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}};
  double            wrench[6] = {0.0};
  assert_int_equal(yoke_load_apply(&el, &pose, NULL, wrench), YOKE_OK);
  CHECK_NEAR(wrench[0], -2.0 * exp(2.0), 1e-13);
  pose.r[0] = 1000.0;
  assert_int_equal(yoke_load_apply(&el, &pose, NULL, wrench), YOKE_NON_FINITE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(drag_only_takes_energy),
      cmocka_unit_test(contact_pushes_out_of_the_wall),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
