/* Stabilised index 2 with a second multiplier (Lu's Method 3), the whole engine: end values of Lu 3.1 and orders, residuals at
 * macro points, bodies with joints of their own in every view of the equations, and what is refused or warned about. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "cosimulate.h"
#include "master/system.h"

#define MU "cosimulation.couplings.formulation=stabilized-index-2-mu"

static const char *const two_mass = "examples/two-mass-rigid.yaml";
static const char *const pendulum = "examples/double-pendulum.yaml";
static const char *const four_bar = "examples/four-bar-fixed.yaml";

static cosim run(const char *model, double relaxation, int degree, double H, const char *more, double t_end) {
  char sets[COSIM_TEXT];
  snprintf(sets, sizeof sets,
           MU ";cosimulation.couplings.relaxation=%.17g;cosimulation.order=%d;cosimulation.step=%.17g%s%s", relaxation,
           degree, H, more[0] != '\0' ? ";" : "", more);
  return cosim_done(model, sets, t_end);
}

/* ---- two masses ---- */

typedef struct end_row {
  double relaxation;
  int    degree;
  double end[5]; /* x1, v1, x2 - x1, v2 - v1, lambda (minus that of the row) */
} end_row;

static const end_row end_rows[] = {
    {1.0, 0, {1.72176384e-01, 1.77915489e+01, 0.0, 0.0, 114.106045}},
    {0.9, 0, {1.72142369e-01, 1.77918295e+01, 4.369818e-07, 8.735285e-04, 114.104333}},
    {0.9, 1, {1.72134658e-01, 1.77923600e+01, 1.438867e-07, 4.328504e-04, 116.700079}},
};

static void two_masses_end_where_lu_ends(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof end_rows / sizeof end_rows[0]; ++i) {
    const end_row *x  = &end_rows[i];
    cosim          c  = run(two_mass, x->relaxation, x->degree, 1e-3, "", 0.5);
    const double   x1 = cosim_value(&c, "m1.x"), v1 = cosim_value(&c, "m1.v");
    const double   lambda = yoke_graph_channel(yoke_system_graph(c.system), 0, 0);
    const double   end[5] = {x1, v1, cosim_value(&c, "m2.x") - x1, cosim_value(&c, "m2.v") - v1, fabs(lambda)};
    for (int k = 0; k < 5; ++k) CHECK_NEAR(end[k], x->end[k], 1e-6 * fabs(x->end[k]) + 1e-12);
    cosim_close(&c);
  }
}

/* Largest error of x1 and v1 at macro points against one mass m1 + m2 on both springs (x = 0, v = 100 m/s at the start). */
typedef struct errors {
  double x, v;
} errors;

static void look_at_masses(void *user, double t, const double *q, const double *v) {
  errors      *e     = user;
  const double decay = 10.0 / 3.0, omega = sqrt(2000.0 / 3.0 - decay * decay), at = exp(-decay * t);
  const double x_exact = 100.0 / omega * at * sin(omega * t);
  e->x                 = fmax(e->x, fabs(q[0] - x_exact));
  e->v                 = fmax(e->v, fabs(v[0] - 100.0 * at * cos(omega * t) + decay * x_exact));
}

static void two_masses_have_order_two(void **state) {
  (void)state;
  static const struct {
    double relaxation;
    int    degree;
  } cases[] = {{1.0, 0}, {0.9, 0}, {0.9, 1}, {0.7, 2}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    errors e[2] = {{0.0, 0.0}};
    for (int k = 0; k < 2; ++k) {
      char  sets[COSIM_TEXT];
      cosim c;
      snprintf(sets, sizeof sets, MU ";cosimulation.couplings.relaxation=%g;cosimulation.order=%d;cosimulation.step=%g",
               cases[i].relaxation, cases[i].degree, ldexp(1e-3, -k));
      cosim_open(&c, two_mass, sets);
      cosim_run(&c, 0.2, look_at_masses, &e[k]);
      cosim_expect(&c, YOKE_OK);
      cosim_close(&c);
    }
    CHECK_NEAR(log2(e[0].x / e[1].x), 2.0, 0.1);
    CHECK_NEAR(log2(e[0].v / e[1].v), 2.0, 0.1);
  }
}

/* ---- bodies with joints of their own ---- */

static const char *const angles[] = {"upper.angle", "lower.angle"};

/* Ordinary view with projections, GGL, index 1. */
static const char *const solvers[] = {"dop853", "radau5", "genalpha"};

static void pendulum_reference(double exact[2]) {
  cosim c = cosim_done_monolithic(pendulum, "solvers.default.rtol=1e-12", 0.2);
  for (int k = 0; k < 2; ++k) exact[k] = cosim_value(&c, angles[k]);
  cosim_close(&c);
}

/* Largest error of the angles at t = 0.2 s. */
static double pendulum_error(double relaxation, int degree, double H, const char *more, const double exact[2]) {
  double error = 0.0;
  cosim  c     = run(pendulum, relaxation, degree, H, more, 0.2);
  for (int k = 0; k < 2; ++k) error = fmax(error, fabs(cosim_value(&c, angles[k]) - exact[k]));
  for (int k = 1; k <= 2; ++k) {
    char name[32];
    snprintf(name, sizeof name, "shoulder.g[%d]", k);
    CHECK_BELOW(fabs(cosim_value(&c, name)), 1e-9);
    snprintf(name, sizeof name, "knee.g[%d]", k);
    if (relaxation == 1.0) CHECK_BELOW(fabs(cosim_value(&c, name)), 1e-8);
  }
  cosim_close(&c);
  return error;
}

static void double_pendulum_has_order_two_with_every_view_of_its_equations(void **state) {
  (void)state;
  double exact[2], first = 0.0;
  pendulum_reference(exact);
  for (size_t i = 0; i < sizeof solvers / sizeof solvers[0]; ++i) {
    char more[64];
    snprintf(more, sizeof more, "solvers.default.kind=%s", solvers[i]);
    const double coarse = pendulum_error(1.0, 0, 2e-3, more, exact), fine = pendulum_error(1.0, 0, 1e-3, more, exact);
    CHECK_NEAR(log2(coarse / fine), 2.0, 0.1);
    if (i == 0) first = fine;
    CHECK_NEAR(fine / first, 1.0, 0.01); /* the error of the coupling, whatever the solver */
  }
}

static void relaxed_double_pendulum_has_order_two(void **state) {
  (void)state;
  double exact[2];
  pendulum_reference(exact);
  for (int degree = 0; degree <= 1; ++degree) {
    const double coarse = pendulum_error(0.9, degree, 2e-3, "", exact),
                 fine   = pendulum_error(0.9, degree, 1e-3, "", exact);
    CHECK_NEAR(log2(coarse / fine), 2.0, 0.15);
  }
}

static void broyden_and_implicit_give_the_same_step(void **state) {
  (void)state;
  static const char *const ways[] = {"cosimulation.jacobian=broyden", "cosimulation.scheme=implicit"};
  double                   exact[2];
  pendulum_reference(exact);
  const double error = pendulum_error(1.0, 0, 1e-3, "", exact);
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; ++i)
    CHECK_NEAR(pendulum_error(1.0, 0, 1e-3, ways[i], exact) / error, 1.0, 0.01);
}

/* Both sides are double pendulums with joints of their own. */
static void four_bar_through_a_weld_follows_the_whole(void **state) {
  (void)state;
  cosim        whole = cosim_done_monolithic(four_bar, "solvers.default.rtol=1e-12", 0.2);
  const double exact = cosim_value(&whole, "bar1.angle");
  cosim_close(&whole);
  for (int degree = 0; degree <= 1; ++degree) {
    double error[2];
    for (int k = 0; k < 2; ++k) {
      cosim c  = run(four_bar, degree == 0 ? 1.0 : 0.7, degree, ldexp(2e-3, -k), "", 0.2);
      error[k] = fabs(cosim_value(&c, "bar1.angle") - exact);
      for (int row = 1; row <= 6; row += row == 2 ? 4 : 1) {
        char name[24];
        snprintf(name, sizeof name, "weld.g[%d]", row);
        CHECK_BELOW(fabs(cosim_value(&c, name)), degree == 0 ? 1e-10 : 1e-6); /* relaxed: O(H^3) */
      }
      cosim_close(&c);
    }
    CHECK_NEAR(log2(error[0] / error[1]), 2.0, 0.1);
  }
}

/* ---- rigid bodies ---- */

static const char spatial[] =
    "yoke: 1\n"
    "assemble: true\n"
    "gravity: [1, -9.81, 2]\n"
    "t_end: 0.1\n"
    "bodies:\n"
    "  a: {kind: rigid, mass: 2, inertia: [0.3, 0.5, 0.4], position: [-0.3, 0, 0],\n"
    "      frames: {tip: [0.3, 0.1, 0.05]}}\n"
    "  b: {kind: rigid, mass: 1, inertia: [0.2, 0.1, 0.15], position: [0.4, 0.2, -0.1],\n"
    "      frames: {tip: [-0.4, -0.1, 0.15]}}\n"
    "connections:\n"
    "  hold1: {%s}\n"
    "  hold2: {kind: bushing, between: [ground, b], stiffness: [30, 50, 40, 4, 6, 5], damping: 0.3}\n"
    "  j: {kind: %s, between: [a.tip, b.tip]}\n"
    "loads: {twist: {kind: constant, on: a, force: [0, 0, 0], torque: [2, -1.5, 3]}}\n"
    "split: {one: [a], two: [b]}\n"
    "cosimulation: {scheme: semi-implicit, order: 0, step: 1e-3}\n"
    "solvers: {default: {kind: dop853, rtol: 1e-12, atol: 1e-13}}\n";

static const char held[] = "kind: bushing, between: [ground, a], stiffness: [60, 40, 50, 9, 8, 7], damping: 0.5";
static const char hung[] = "kind: revolute, between: [[-0.4, 0.1, 0], a], axis: [0.2, 0.3, 1]";

static const char *const states[] = {"a.x", "a.q1", "a.q2", "a.q3", "b.y", "b.q1", "b.q2", "b.q3", "b.vx", "b.wz"};
enum { N_STATES = (int)(sizeof states / sizeof states[0]) };

typedef struct joint_case {
  const char *kind;
  int         degree;
  double      relaxation, order;
} joint_case;

static const joint_case joints[] = {
    {"spherical", 0, 1.0, 2.0}, {"revolute", 0, 1.0, 1.0}, {"fixed", 0, 1.0, 1.0}, {"revolute", 1, 0.9, 2.0}};

static void spatial_reference(const char *model, double exact[N_STATES]) {
  cosim whole = cosim_done_monolithic(model, NULL, 0.0);
  for (int s = 0; s < N_STATES; ++s) exact[s] = cosim_value(&whole, states[s]);
  cosim_close(&whole);
}

static double spatial_error(const char *model, const joint_case *joint, double H, const char *more,
                            const double exact[N_STATES]) {
  double error = 0.0;
  cosim  c     = run(model, joint->relaxation, joint->degree, H, more, 0.0);
  for (int s = 0; s < N_STATES; ++s) error = fmax(error, fabs(cosim_value(&c, states[s]) - exact[s]));
  cosim_close(&c);
  return error;
}

static void rigid_bodies_have_the_orders_of_their_copies(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof joints / sizeof joints[0]; ++i) {
    char   model[2048];
    double exact[N_STATES];
    snprintf(model, sizeof model, spatial, held, joints[i].kind);
    spatial_reference(model, exact);
    const double coarse = spatial_error(model, &joints[i], 5e-3, "", exact),
                 fine   = spatial_error(model, &joints[i], 2.5e-3, "", exact);
    CHECK_BELOW(joints[i].order - 0.1, log2(coarse / fine));
    CHECK_BELOW(fine, 1e-4);
  }
}

static void rigid_body_with_a_joint_of_its_own_moves_alike_in_both_views(void **state) {
  (void)state;
  char   model[2048];
  double exact[N_STATES], error[2];
  snprintf(model, sizeof model, spatial, hung, "spherical");
  spatial_reference(model, exact);
  for (int k = 0; k < 2; ++k)
    error[k] = spatial_error(model, &joints[0], 5e-3, k == 0 ? "" : "solvers.default.kind=radau5", exact);
  const double fine = spatial_error(model, &joints[0], 2.5e-3, "", exact);
  CHECK_NEAR(error[0] / error[1], 1.0, 1e-4);
  CHECK_NEAR(log2(error[0] / fine), 2.0, 0.1);
}

/* ---- refusals and warnings ---- */

static void expect_message(const char *sets, yoke_status status, const char *words) {
  cosim c;
  bool  found = false;
  cosim_open(&c, two_mass, sets);
  cosim_expect(&c, status);
  for (size_t i = 0; i < yoke_context_n_messages(c.ctx); ++i)
    found = found || strstr(yoke_context_message(c.ctx, i), words) != NULL;
  if (!found) {
    cosim_print(c.ctx);
    fail_msg("no message '%s' with %s", words, sets);
  }
  cosim_close(&c);
}

static void what_cannot_be_done_is_refused(void **state) {
  (void)state;
  expect_message(MU ";cosimulation.order=3", YOKE_E_USAGE, "expected 0 to 2");
  expect_message(MU ";cosimulation.couplings.relaxation=0.9;cosimulation.scheme=implicit", YOKE_E_USAGE,
                 "use scheme semi-implicit");
  expect_message(MU ";cosimulation.jacobian=analytic;cosimulation.order=0", YOKE_E_MODEL, "finite-difference");
  expect_message(MU ";cosimulation.couplings.decomposition=force/displacement", YOKE_E_USAGE, "force/force");
}

static void combinations_that_are_not_zero_stable_warn(void **state) {
  (void)state;
  expect_message(MU ";cosimulation.order=1", YOKE_OK, "not zero-stable");
  expect_message(MU ";cosimulation.order=2;cosimulation.couplings.relaxation=0.9", YOKE_OK, "relaxation 0.7");
  static const char *const quiet[] = {MU ";cosimulation.order=0",
                                      MU ";cosimulation.order=1;cosimulation.couplings.relaxation=0.9",
                                      MU ";cosimulation.order=2;cosimulation.couplings.relaxation=0.8"};
  for (size_t i = 0; i < sizeof quiet / sizeof quiet[0]; ++i) {
    cosim c;
    cosim_open(&c, two_mass, quiet[i]);
    cosim_expect(&c, YOKE_OK);
    assert_int_equal(yoke_context_n_messages(c.ctx), 0);
    cosim_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_masses_end_where_lu_ends),
      cmocka_unit_test(two_masses_have_order_two),
      cmocka_unit_test(double_pendulum_has_order_two_with_every_view_of_its_equations),
      cmocka_unit_test(relaxed_double_pendulum_has_order_two),
      cmocka_unit_test(broyden_and_implicit_give_the_same_step),
      cmocka_unit_test(four_bar_through_a_weld_follows_the_whole),
      cmocka_unit_test(rigid_bodies_have_the_orders_of_their_copies),
      cmocka_unit_test(rigid_body_with_a_joint_of_its_own_moves_alike_in_both_views),
      cmocka_unit_test(what_cannot_be_done_is_refused),
      cmocka_unit_test(combinations_that_are_not_zero_stable_warn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
