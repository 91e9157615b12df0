/* A mass that a user wrote in the place of a native part: force elements and joints, all schemes that its abilities allow. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/rig.h"
#include "types.h"
#include "user/user.h"

enum { N_STEPS = 50 };

/* The second mass of examples/two-mass.yaml and of examples/two-mass-rigid.yaml, where it moves with the first. */
typedef struct user_part {
  unsigned can;
  double   v;
  yoke_status (*output)(void *self, const void *state, double t, const double *u, double *y); /* NULL: its own */
} user_part;

static yoke_status make_part(yoke_context *ctx, const void *definition, yoke_subsystem **out) {
  const user_part         *part        = definition;
  const yoke_user_argument arguments[] = {
      {"mass", NULL, 2.0}, {"stiffness", NULL, 1000.0}, {"damping", NULL, 10.0}, {"v", NULL, part->v}};
  yoke_user_type type = mass_type(&part->can);
  if (part->output != NULL) type.output = part->output;
  if (yoke_user_find(ctx, "mass") == NULL) YOKE_TRY(yoke_context_add_type(ctx, &type));
  return yoke_user_create(
      ctx,
      &(yoke_user_def){.name = "user", .entry = yoke_user_find(ctx, "mass"), .n_arguments = 4, .arguments = arguments},
      out);
}

static const char *const two_mass = "examples/two-mass.yaml", *const rigid = "examples/two-mass-rigid.yaml";

/* part NULL: native. */
static yoke_status open_as(rig *r, const char *model, const user_part *part, const char *sets) {
  YOKE_TRY(rig_plan(r, model, sets));
  if (part != NULL) {
    r->plan->parts[1].make       = make_part;
    r->plan->parts[1].definition = part;
  }
  return rig_build(r, "threads", 2, NULL);
}

static void end_of(const char *model, const user_part *part, const char *sets, double z[4]) {
  rig               r;
  const yoke_status status = open_as(&r, model, part, sets);
  if (status != YOKE_OK) {
    cosim_print(r.c.ctx);
    fail_msg("%s: %s", sets, yoke_status_name(status));
  }
  rig_steps(&r, N_STEPS);
  for (int i = 0; i < 4; ++i) z[i] = yoke_graph_y(r.graph, i / 2)[i % 2];
  rig_close(&r);
}

typedef struct row {
  const char *model;
  unsigned    can; /* the least */
  const char *sets;
} row;

/* Perturbed integrations differ by the solvers' noise, which they divide by the size of the perturbation. */
static void expect_like_native(const row *rows, size_t n, unsigned also) {
  for (size_t i = 0; i < n; ++i) {
    const user_part part = {.can = rows[i].can | also, .v = rows[i].model == two_mass ? -100.0 : 100.0};
    double          native[4], own[4];
    end_of(rows[i].model, NULL, rows[i].sets, native);
    end_of(rows[i].model, &part, rows[i].sets, own);
    for (int k = 0; k < 4; ++k) {
      if (!(fabs(own[k] - native[k]) <= 1e-7)) fail_msg("%s: off by %.3g", rows[i].sets, own[k] - native[k]);
    }
  }
}

#define S "cosimulation.scheme="
#define F ";cosimulation.couplings.formulation="
#define J ";cosimulation.jacobian="
#define O ";cosimulation.order="

static void without_abilities_it_takes_part_in_explicit_schemes(void **state) {
  (void)state;
  static const row rows[] = {
      {two_mass, 0, S "explicit" O "2"},
      {two_mass, 0, S "explicit;cosimulation.sequence=gauss-seidel"},
      {two_mass, 0, S "explicit;cosimulation.predictor=acceleration"},
      {two_mass, 0, S "explicit;cosimulation.couplings.decomposition=displacement/force"},
  };
  expect_like_native(rows, sizeof rows / sizeof *rows, 0);
}

static const row newton_rows[] = {
    {two_mass, MASS_REPEAT, S "semi-implicit" O "3"},
    {two_mass, MASS_REPEAT, S "semi-implicit;cosimulation.couplings.extension=d"},
    {two_mass, MASS_REPEAT, S "implicit" O "2"},
    {two_mass, MASS_REPEAT, S "implicit" J "broyden"},
    {two_mass, MASS_REPEAT, S "waveform"},
    {two_mass, MASS_REPEAT | MASS_INSTANT, S "semi-implicit" J "analytic"},
    {rigid, MASS_REPEAT, S "semi-implicit" F "stabilized-index-2"},
    {rigid, MASS_REPEAT, S "implicit" F "stabilized-index-2" O "2"},
    {rigid, MASS_REPEAT, S "semi-implicit" F "stabilized-index-1" O "0"},
    {rigid, MASS_REPEAT, S "semi-implicit" F "baumgarte"},
    {rigid, MASS_REPEAT, S "semi-implicit" F "weighted"},
};

static void that_can_repeat_takes_part_in_all_schemes(void **state) {
  (void)state;
  expect_like_native(newton_rows, sizeof newton_rows / sizeof *newton_rows, 0);
}

static void that_tells_its_response_takes_part_in_all_schemes(void **state) {
  (void)state;
  expect_like_native(newton_rows, sizeof newton_rows / sizeof *newton_rows, MASS_RESPONSE | MASS_INSTANT);
  expect_like_native(newton_rows, sizeof newton_rows / sizeof *newton_rows, MASS_RESPONSE | MASS_HEAP);
}

static void expect_refusal(const user_part *part, const char *sets, const char *text) {
  rig r;
  assert_int_not_equal(open_as(&r, two_mass, part, sets), YOKE_OK);
  for (size_t i = 0; i < yoke_context_n_messages(r.c.ctx); ++i) {
    if (strstr(yoke_context_message(r.c.ctx, i), text) == NULL) continue;
    rig_close(&r);
    return;
  }
  cosim_print(r.c.ctx);
  fail_msg("%s: nobody said: %s", sets, text);
}

static void what_needs_an_ability_that_it_lacks_is_refused(void **state) {
  (void)state;
  const user_part bare = {.v = -100.0}, able = {.can = MASS_REPEAT, .v = -100.0};
  expect_refusal(&bare, S "semi-implicit", "subsystem 'user'");
  expect_refusal(&able, S "semi-implicit" J "analytic", "subsystem 'user'");
  expect_refusal(
      &able, S "semi-implicit;cosimulation.couplings.extension=i",
      "port 'end' of subsystem 'user' does not show integrals of its positions, which extension i needs; use "
      "extension d or none");
  expect_refusal(&able, S "semi-implicit;cosimulation.couplings.decomposition=force/displacement",
                 "port 'end' of subsystem 'user' cannot take copies of its partner's motion");
}

static yoke_status output_that_breaks(void *self, const void *state, double t, const double *u, double *y) {
  YOKE_TRY(mass_output(self, state, t, u, y));
  if (t > 4.5e-3) y[1] = (double)NAN;
  return YOKE_OK;
}

static void outputs_that_are_not_finite_are_named(void **state) {
  (void)state;
  const user_part part = {.can = MASS_REPEAT, .v = -100.0, .output = output_that_breaks};
  rig             r;
  yoke_status     status = open_as(&r, two_mass, &part, S "semi-implicit;cosimulation.step=1e-3");
  assert_int_equal(status, YOKE_OK);
  while (status == YOKE_OK) status = rig_step(&r);
  assert_int_equal(r.n_steps, 4);
  assert_string_equal(yoke_context_message(r.c.ctx, 0),
                      "subsystem 'user': number 2 that port 'end' shows is nan behind "
                      "the step of 0.001 s from t = 0.004 s");
  rig_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_abilities_it_takes_part_in_explicit_schemes),
      cmocka_unit_test(that_can_repeat_takes_part_in_all_schemes),
      cmocka_unit_test(that_tells_its_response_takes_part_in_all_schemes),
      cmocka_unit_test(what_needs_an_ability_that_it_lacks_is_refused),
      cmocka_unit_test(outputs_that_are_not_finite_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
