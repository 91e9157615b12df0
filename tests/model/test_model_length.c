/* The length of a model: the box around its frames, and what stands in for a box that is a point. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "check.h"
#include "model/model_length.h"
#include <math.h>

static char name[] = "x";

static void the_length_is_the_diagonal_of_the_box_around_all_frames(void **state) {
  (void)state;
  yoke_body       body       = {.kind = YOKE_BODY_PLANAR, .mass = 1, .position = {3, 0, 0}, .angle = acos(-1) / 2};
  yoke_frame      frames[]   = {{.name = name, .body = YOKE_GROUND, .origin = {0, 0, 2}},
                                {.name = name, .body = 0, .origin = {4, 0, 0}},
                                {.name = name, .body = YOKE_GROUND, .origin = {100, 0, 0}}};
  yoke_connection connection = {.frame = {0, 1}};
  yoke_model      model      = {
                .n_bodies = 1, .bodies = &body, .n_frames = 3, .frames = frames, .n_connections = 1, .connections = &connection};
  /* corners (0, 0, 0) and (3, 4, 2): the turned arm, the end at the ground, but no frame of the ground that nothing uses */
  CHECK_NEAR(yoke_model_length(&model), sqrt(29), 1e-12);
}

static void a_body_that_turns_about_its_centre_has_its_radius_of_gyration_as_length(void **state) {
  (void)state;
  yoke_body       disc     = {.kind = YOKE_BODY_PLANAR, .mass = 2, .inertia = {0, 0, 0, 0, 0, 0, 0, 0, 0.5}};
  yoke_frame      frames[] = {{.name = name, .body = YOKE_GROUND, .origin = {1e-17, 0, 0}}, {.name = name, .body = 0}};
  yoke_connection connection = {.frame = {0, 1}};
  yoke_model      model      = {
                .n_bodies = 1, .bodies = &disc, .n_frames = 2, .frames = frames, .n_connections = 1, .connections = &connection};
  CHECK_NEAR(yoke_model_length(&model), 0.5, 1e-15);
}

static void a_mass_at_the_origin_has_the_way_it_could_go_as_length(void **state) {
  (void)state;
  yoke_body  mass  = {.kind = YOKE_BODY_MASS1D, .mass = 1, .velocity = {-3, 0, 0}};
  yoke_model model = {.n_bodies = 1, .bodies = &mass, .t_start = 1, .t_end = 3};
  CHECK_NEAR(yoke_model_length(&model), 6, 1e-15);
  mass.velocity[0] = 0;
  CHECK_NEAR(yoke_model_length(&model), 1, 0);
}

static void a_chain_reaches_from_its_first_to_its_last_mass(void **state) {
  (void)state;
  double     x[3] = {-1, 0.5, 4}, v[3] = {0, -2, 1};
  yoke_chain chain = {.n = 3, .x0 = {.each = x}, .v0 = {.each = v}};
  yoke_body  body  = {.kind = YOKE_BODY_CHAIN, .chain = &chain};
  yoke_model model = {.n_bodies = 1, .bodies = &body, .t_end = 10};
  CHECK_NEAR(yoke_model_length(&model), 5, 1e-15);
  chain.x0.each = NULL;
  CHECK_NEAR(yoke_model_length(&model), 20, 1e-14);
}

static void time_and_force_follow_from_gravity_else_from_speeds_else_from_the_span(void **state) {
  (void)state;
  yoke_body  bodies[] = {{.kind = YOKE_BODY_PARTICLE, .mass = 1},
                         {.kind = YOKE_BODY_PARTICLE, .mass = 3, .position = {4, 0, 0}}};
  yoke_model model    = {.n_bodies = 2, .bodies = bodies, .t_end = 2, .gravity = {0, 0, -16}};
  CHECK_NEAR(yoke_model_sizes_of(&model).time, 0.5, 1e-15);
  CHECK_NEAR(yoke_model_sizes_of(&model).force, 32, 1e-13);
  bodies[0].velocity[1] = 16;
  CHECK_NEAR(yoke_model_sizes_of(&model).time, 0.25, 1e-15);
  model.gravity[2] = bodies[0].velocity[1] = 0;
  CHECK_NEAR(yoke_model_sizes_of(&model).time, 2, 1e-15);
  CHECK_NEAR(yoke_model_sizes_of(&model).force, 2, 1e-15);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_length_is_the_diagonal_of_the_box_around_all_frames),
      cmocka_unit_test(a_body_that_turns_about_its_centre_has_its_radius_of_gyration_as_length),
      cmocka_unit_test(a_mass_at_the_origin_has_the_way_it_could_go_as_length),
      cmocka_unit_test(a_chain_reaches_from_its_first_to_its_last_mass),
      cmocka_unit_test(time_and_force_follow_from_gravity_else_from_speeds_else_from_the_span),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
