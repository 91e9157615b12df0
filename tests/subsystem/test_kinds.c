/* What every kind of subsystem must do, for all kinds of kind_list.def: take the place of a native part, and keep the contract. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/rig.h"
#include "../user/types.h"
#include "oscillator.h"
#include "user/user.h"

typedef yoke_status (*kind_make)(yoke_context *ctx, const void *definition, yoke_subsystem **out);

#define X(make) yoke_status make(yoke_context *ctx, const void *definition, yoke_subsystem **out);
#include "kind_list.def"
#undef X

static const kind_make kinds[] = {
#define X(make) make,
#include "kind_list.def"
#undef X
};

static yoke_status make_able(yoke_context *ctx, unsigned can, yoke_subsystem **out) {
  return osc_make(ctx,
                  &(osc_def){.name      = "oscillator",
                             .n         = 1,
                             .mass      = {2.0},
                             .stiffness = {1000.0},
                             .damping   = {10.0},
                             .v         = {-100.0},
                             .n_ports   = 1,
                             .h         = 5e-5,
                             .can       = can},
                  out);
}

yoke_status make_oscillator(yoke_context *ctx, const void *definition, yoke_subsystem **out) {
  (void)definition;
  return make_able(ctx, OSC_ALL, out);
}

yoke_status make_oscillator_that_cannot_go_back(yoke_context *ctx, const void *definition, yoke_subsystem **out) {
  (void)definition;
  return make_able(ctx, 0, out);
}

/* The same as a type of a user; subsystems outlive the context that knows it. */
static yoke_status make_user(const unsigned *can, yoke_subsystem **out) {
  static const yoke_user_argument arguments[] = {
      {"mass", NULL, 2.0}, {"stiffness", NULL, 1000.0}, {"damping", NULL, 10.0}, {"v", NULL, -100.0}};
  const yoke_user_type type = mass_type(can);
  yoke_context        *ctx;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_context_add_type(ctx, &type), YOKE_OK);
  const yoke_user_def def = {
      .name = "user", .entry = yoke_user_find(ctx, "mass"), .n_arguments = 4, .arguments = arguments};
  const yoke_status status = yoke_user_create(ctx, &def, out);
  yoke_context_destroy(&ctx);
  return status;
}

yoke_status make_user_mass(yoke_context *ctx, const void *definition, yoke_subsystem **out) {
  static const unsigned can = MASS_REPEAT | MASS_INSTANT | MASS_RESPONSE | MASS_ENERGY;
  (void)ctx, (void)definition;
  return make_user(&can, out);
}

yoke_status make_user_mass_on_the_heap(yoke_context *ctx, const void *definition, yoke_subsystem **out) {
  static const unsigned can = MASS_REPEAT | MASS_RESPONSE | MASS_HEAP;
  (void)ctx, (void)definition;
  return make_user(&can, out);
}

yoke_status make_user_mass_that_cannot_go_back(yoke_context *ctx, const void *definition, yoke_subsystem **out) {
  static const unsigned can = 0;
  (void)ctx, (void)definition;
  return make_user(&can, out);
}

static void watch_all(rig *r) {
  for (int i = 0; i < r->plan->n_parts; ++i)
    assert_int_equal(yoke_subsystem_check(r->c.ctx, r->subsystems[i], &r->subsystems[i]), YOKE_OK);
}

/* Positions and velocities of both masses after 50 steps; make NULL: native. The second subsystem is watched for the contract. */
static void end_of(kind_make make, const char *sets, double z[4]) {
  rig r;
  assert_int_equal(rig_plan(&r, "examples/two-mass.yaml", sets), YOKE_OK);
  if (make != NULL) r.plan->parts[1].make = make;
  assert_int_equal(rig_build(&r, "serial", 1, watch_all), YOKE_OK);
  rig_steps(&r, 50);
  for (int i = 0; i < 4; ++i) z[i] = yoke_graph_y(r.graph, i / 2)[i % 2];
  rig_close(&r);
}

static bool can_repeat(kind_make make) {
  yoke_subsystem *s = NULL;
  assert_int_equal(make(NULL, NULL, &s), YOKE_OK);
  const bool can = s->ops->repeat != NULL;
  yoke_subsystem_destroy(&s);
  return can;
}

static void every_kind_takes_the_place_of_a_native_part(void **state) {
  (void)state;
  static const struct {
    const char *sets;
    bool        repeats;
  } rows[] = {
      {"cosimulation.scheme=explicit", false},
      {"cosimulation.scheme=explicit;cosimulation.sequence=gauss-seidel", false},
      {"cosimulation.scheme=semi-implicit", true},
      {"cosimulation.scheme=waveform", true},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    double native[4], own[4];
    end_of(NULL, rows[i].sets, native);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
      if (rows[i].repeats && !can_repeat(kinds[k])) continue;
      end_of(kinds[k], rows[i].sets, own);
      for (int j = 0; j < 4; ++j) CHECK_NEAR(own[j], native[j], 1e-6);
    }
  }
  print_message("kinds: %zu\n", sizeof kinds / sizeof *kinds);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind_takes_the_place_of_a_native_part)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
