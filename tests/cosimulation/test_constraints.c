/* Rigid joints across a split, the whole engine: starts, Jacobians, nonlinear models of Li 8.7, closed loops cut into many
 * subsystems. test_constraint_matrix.c has every joint kind, formulation, index and degree. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "joint_models.h"
#include "levels.h"

typedef struct method_case {
  const char *formulation;
  int         index, degree;
  int         order;   /* of the states */
  int         n_exact; /* levels g, g', ... that vanish at macro points */
} method_case;

#define S2 "stabilized-index-2"
#define S1 "stabilized-index-1"
static const method_case methods[] = {
    {S2, 2, 0, 4, 2},          {S2, 2, 1, 4, 2},          {S2, 2, 2, 4, 2},          {S1, 1, 0, 3, 3},
    {S1, 1, 1, 4, 3},          {S1, 1, 3, 4, 3},          {"baumgarte", 1, 0, 1, 0}, {"baumgarte", 1, 1, 2, 0},
    {"baumgarte", 1, 2, 3, 0}, {"baumgarte", 2, 0, 1, 0}, {"baumgarte", 3, 0, 1, 1},
};
enum { N_METHODS = (int)(sizeof methods / sizeof methods[0]) };

/* ---- starts and Jacobians ---- */

/* Error of the end state of the spatial mechanism with these settings. */
static double error_with(const char *kind, const char *sets) {
  const joint_case joint = {kind, "tip", true, false};
  char             model[MODEL_TEXT];
  double           exact[MAX_STATES], z[MAX_STATES];
  joint_model(&joint, false, model);
  cosim     reference = cosim_done_monolithic(model, NULL, 0.0);
  const int n         = states(&reference, false, exact);
  cosim     c         = cosim_done(model, sets, 0.0);
  states(&c, false, z);
  cosim_close(&reference);
  cosim_close(&c);
  return distance(n, z, exact);
}

static void a_start_with_exact_past_gives_high_degrees_of_baumgarte_their_order(void **state) {
  (void)state;
  double err[2];
  for (int i = 0; i < 2; ++i) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets,
             "cosimulation.step=%g;cosimulation.order=3;cosimulation.start=exact;cosimulation.scheme=implicit;"
             "cosimulation.couplings.formulation=baumgarte",
             ldexp(0.01, -i));
    err[i] = error_with("revolute", sets);
  }
  CHECK_BELOW(3.65, log2(err[0] / err[1]));
}

static void a_graded_start_works_with_joints(void **state) {
  (void)state;
  static const char *const formulations[] = {S2, S1, "baumgarte"};
  for (int i = 0; i < 3; ++i) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets,
             "cosimulation.step=0.01;cosimulation.start=graded;cosimulation.couplings.formulation=%s", formulations[i]);
    CHECK_BELOW(error_with("revolute", sets), 1e-4);
  }
}

static void broyden_updates_find_the_same_solution_with_fewer_integrations(void **state) {
  (void)state;
  static const char *const schemes[] = {"semi-implicit", "implicit"};
  for (int s = 0; s < 2; ++s) {
    int64_t integrations[2];
    double  x[2];
    for (int i = 0; i < 2; ++i) {
      char sets[COSIM_TEXT];
      snprintf(sets, sizeof sets, "cosimulation.scheme=%s;cosimulation.jacobian=%s;cosimulation.corrector.renew=step",
               schemes[s], i == 0 ? "finite-difference" : "broyden");
      cosim c         = cosim_done("examples/two-mass-rigid.yaml", sets, 0.0);
      x[i]            = cosim_value(&c, "m1.x");
      integrations[i] = c.summary.macro.integrations;
      cosim_close(&c);
    }
    CHECK_NEAR(x[1], x[0], 1e-11);
    assert_true(integrations[1] < integrations[0]);
  }
}

static void
the_analytic_jacobian_serves_joints_with_the_implicit_scheme_and_warns_where_it_corrects_once(void **state) {
  (void)state;
  cosim c =
      cosim_done("examples/two-mass-rigid.yaml", "cosimulation.scheme=implicit;cosimulation.jacobian=analytic", 0.0);
  CHECK_NEAR(cosim_value(&c, "m1.x"), 0.17215147, 1e-8);
  assert_int_equal(yoke_context_n_messages(c.ctx), 0);
  cosim_close(&c);
  cosim_open(&c, "examples/two-mass-rigid.yaml", "cosimulation.jacobian=analytic;cosimulation.corrections=1");
  assert_int_equal(c.status, YOKE_OK);
  assert_int_equal(yoke_context_n_messages(c.ctx), 1);
  assert_non_null(strstr(yoke_context_message(c.ctx, 0), "coupling 'joint'"));
  cosim_close(&c);
}

/* ---- nonlinear models, Li 8.7 ---- */

enum { MAX_VALUES = 6, MAX_TIMES = 4 };

typedef struct reference_values {
  const char *file;
  const char *names[MAX_VALUES + 1];
  double      step, tolerance[MAX_VALUES];
  int         n_times;
  double      t[MAX_TIMES], value[MAX_TIMES][MAX_VALUES]; /* NAN: the source has none */
} reference_values;

static const reference_values double_pendulum = {
    .file      = "examples/double-pendulum.yaml",
    .names     = {"upper.angle", "lower.angle", "knee.force[1]", "knee.force[2]"},
    .step      = 1e-3,
    .tolerance = {1e-7, 1e-7},
    .n_times   = 4,
    .t         = {0.1, 0.5, 1.0, 2.0},
    .value     = {{0.748145955, -0.833934541, -1.541235776, -0.244596553},
                  {-0.096864260, -1.277102546, 3.325876106, 0.312337122},
                  {-1.914941873, -0.894258577, 1.352464713, -5.706149717},
                  {-1.961761783, -1.365511616, NAN, NAN}},
};

static const reference_values nonlinear_two_mass = {
    .file      = "examples/nonlinear-two-mass.yaml",
    .names     = {"m1.x", "m1.v", "joint.force[1]"},
    .step      = 1e-4,
    .tolerance = {1e-7, 2e-6}, /* 1e-7 of the largest value */
    .n_times   = 4,
    .t         = {0.02, 0.05, 0.1, 0.2},
    .value     = {{1.91225022, 86.9257922, 606.886437},
                  {1.01712247, -96.4899328, 339.036867},
                  {-3.31081250, -51.8878314, -1103.60417},
                  {1.73899216, 89.3468398, 574.265457}},
};

static const reference_values four_bar = {
    .file      = "examples/four-bar-fixed.yaml",
    .names     = {"bar1.angle", "bar2.angle", "bar4.angle", "bar1.omega"},
    .step      = 1e-3,
    .tolerance = {1e-7, 1e-7, 1e-7, 1e-6},
    .n_times   = 4,
    .t         = {0.1, 0.25, 0.5, 1.0},
    .value     = {{0.73487144, 0.71672797, 1.44555144, -1.04004812},
                  {0.46050072, 0.88602453, 1.49029810, -2.25431022},
                  {-0.02462051, 1.34256521, 1.84823864, -1.86935900},
                  {-2.64908048, 0.91525310, 2.55167040, -7.13623471}},
};

/* One run, watched at the times of the source. A force is the multiplier that the coupling applied, with the error of its method (F2):
 * `force` is allowed. */
static void check_reference(const reference_values *r, const char *formulation, int degree, double t_last,
                            double force) {
  char sets[COSIM_TEXT];
  snprintf(sets, sizeof sets, "cosimulation.couplings.formulation=%s;cosimulation.order=%d;cosimulation.step=%g",
           formulation, degree, r->step);
  cosim c;
  cosim_open(&c, r->file, sets);
  for (int i = 0; i < r->n_times && r->t[i] <= t_last; ++i) {
    cosim_run(&c, r->t[i], NULL, NULL);
    cosim_expect(&c, YOKE_OK);
    for (int k = 0; r->names[k] != NULL; ++k) {
      const double allowed = strstr(r->names[k], ".force[") != NULL ? force : r->tolerance[k];
      if (!isnan(r->value[i][k])) CHECK_NEAR(cosim_value(&c, r->names[k]), r->value[i][k], allowed);
    }
  }
  cosim_close(&c);
}

static void stabilized_formulations_meet_the_values_of_the_double_pendulum(void **state) {
  (void)state;
  check_reference(&double_pendulum, S2, 1, 2.0, 2e-5);
  check_reference(&double_pendulum, S1, 1, 0.5, 1e-9);
}

static void stabilized_formulations_meet_the_values_of_the_nonlinear_two_masses(void **state) {
  (void)state;
  check_reference(&nonlinear_two_mass, S2, 1, 0.2, 5e-3);
  check_reference(&nonlinear_two_mass, S1, 1, 0.1, 5e-6);
}

static void stabilized_formulations_meet_the_values_of_the_four_bar_with_a_fixed_joint(void **state) {
  (void)state;
  check_reference(&four_bar, S2, 1, 1.0, 0.0);
  check_reference(&four_bar, S1, 1, 0.25, 0.0);
}

/* Statement 36: |g|, |g'| < 1e-9 and with index 1 |g''| < 1e-7 over the first 0.1 s, one corrector. */
static void one_corrector_holds_the_four_bar_with_a_fixed_joint_together(void **state) {
  (void)state;
  for (int m = 0; m < N_METHODS; ++m) {
    if (methods[m].n_exact < 2 || methods[m].degree == 0) continue;
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets, "cosimulation.couplings.formulation=%s;cosimulation.order=%d", methods[m].formulation,
             methods[m].degree);
    cosim  c;
    levels l = {.c = &c};
    cosim_open(&c, "examples/four-bar-fixed.yaml", sets);
    cosim_run(&c, 0.1, look_at_levels, &l);
    cosim_expect(&c, YOKE_OK);
    assert_int_equal(l.steps, 100);
    CHECK_BELOW(l.largest[0], 1e-9);
    CHECK_BELOW(l.largest[1], 1e-9);
    if (methods[m].n_exact == 3) CHECK_BELOW(l.largest[2], 1e-7);
    cosim_close(&c);
  }
}

/* Statement 35: orders on the nonlinear two masses; x is one of 3 x'' = -2000 x - 0.01 exp(10 (x - 1)). */
static void stabilized_formulations_keep_their_orders_on_the_nonlinear_two_masses(void **state) {
  (void)state;
  for (int m = 0; m < N_METHODS; ++m) {
    if (methods[m].n_exact < 2) continue;
    double err[2];
    for (int i = 0; i < 2; ++i) {
      char sets[COSIM_TEXT];
      snprintf(
          sets, sizeof sets,
          "cosimulation.couplings.formulation=%s;cosimulation.order=%d;cosimulation.step=%g;solvers.default.rtol=1e-13",
          methods[m].formulation, methods[m].degree, ldexp(1e-3, -i));
      cosim c         = cosim_done("examples/nonlinear-two-mass.yaml", sets, 0.05);
      cosim reference = cosim_done_monolithic("examples/nonlinear-two-mass.yaml", "solvers.default.rtol=1e-13", 0.05);
      err[i]          = fabs(cosim_value(&c, "m2.x") - cosim_value(&reference, "m2.x"));
      cosim_close(&c);
      cosim_close(&reference);
    }
    CHECK_BELOW(methods[m].order - 0.35, log2(err[0] / err[1]));
  }
}

/* ---- closed loops in many subsystems ---- */

typedef struct loop_split {
  int         N, n_parts;
  const char *split;
} loop_split;

static const loop_split loops[] = {
    {2, 2, "{a: [crank[1], coupler[1]], b: [crank[2], crank[3], coupler[2]]}"},
    {2, 4, "{a: [crank[1], coupler[1]], b: [crank[2]], c: [crank[3]], d: [coupler[2]]}"},
    {7, 2, "{a: [crank[1..4], coupler[1..4]], b: [crank[5..8], coupler[5..7]]}"},
    {7, 4,
     "{a: [crank[1..2], coupler[1..2]], b: [crank[3..4], coupler[3..4]], c: [crank[5..6], coupler[5..6]], "
     "d: [crank[7..8], coupler[7]]}"},
    {7, 8,
     "{a: [crank[1], coupler[1]], b: [crank[2], coupler[2]], c: [crank[3], coupler[3]], d: [crank[4], coupler[4]], "
     "e: [crank[5], coupler[5]], f: [crank[6], coupler[6]], g: [crank[7], coupler[7]], h: [crank[8]]}"},
};
enum { N_LOOPS = (int)(sizeof loops / sizeof loops[0]) };

/* The angle of all cranks: phi'' = -g cos(phi) ((N + 1)/2 + N) / ((N + 1)/3 + N), phi(0) = pi/2, phi'(0) = -1. */
static double loop_angle(int N, double t_end) {
  const int    n = 4000;
  const double h = t_end / n, factor = -9.81 * ((N + 1) / 2.0 + N) / ((N + 1) / 3.0 + N);
  double       phi = acos(0.0), w = -1.0;
  for (int i = 0; i < n; ++i) { /* classical Runge-Kutta */
    const double k1 = factor * cos(phi), k2 = factor * cos(phi + 0.5 * h * w),
                 k3 = factor * cos(phi + 0.5 * h * (w + 0.5 * h * k1)), k4 = factor * cos(phi + h * (w + 0.5 * h * k2));
    phi += h * (w + h / 6.0 * (k1 + k2 + k3));
    w += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
  }
  return phi;
}

static yoke_status run_loops(const loop_split *loop, const char *formulation, double t_end, cosim *c) {
  char sets[COSIM_TEXT];
  snprintf(sets, sizeof sets,
           "parameters.N=%d;split=%s;cosimulation.step=5e-3;cosimulation.couplings.formulation=%s;"
           "solvers.default.rtol=1e-9",
           loop->N, loop->split, formulation);
  cosim_open(c, "examples/n-four-bar.yaml", sets);
  return cosim_run(c, t_end, NULL, NULL);
}

static void closed_loops_in_2_4_and_8_subsystems_follow_the_one_freedom_solution(void **state) {
  (void)state;
  static const struct {
    const char *formulation;
    double      tolerance;
  } bounds[] = {{S2, 1e-8}, {S1, 1e-8}, {"baumgarte", 1e-6}};
  for (int i = 0; i < N_LOOPS; ++i) {
    const double phi = loop_angle(loops[i].N, 0.7);
    for (int f = 0; f < 3; ++f) {
      cosim c;
      if (f == 1 && loops[i].N > 2) continue; /* the costly one */
      run_loops(&loops[i], bounds[f].formulation, 0.7, &c);
      cosim_expect(&c, YOKE_OK);
      CHECK_NEAR(cosim_value(&c, "crank[1].angle"), phi, bounds[f].tolerance);
      CHECK_NEAR(cosim_value(&c, "crank[2].angle"), phi, bounds[f].tolerance);
      CHECK_NEAR(cosim_value(&c, "coupler[1].angle"), 0.0, bounds[f].tolerance);
      cosim_close(&c);
    }
  }
}

/* At the singular position (0.714 s for N = 2) the coupling conditions lose rank. */
static void
beyond_a_singular_position_closed_loops_stay_on_the_branch_or_end_with_the_name_of_a_coupling(void **state) {
  (void)state;
  for (int i = 0; i < N_LOOPS; ++i) {
    cosim c;
    if (run_loops(&loops[i], S2, 1.5, &c) == YOKE_OK) {
      CHECK_NEAR(cosim_value(&c, "crank[1].angle"), loop_angle(loops[i].N, 1.5), 1e-3);
    } else {
      assert_int_equal(c.status, YOKE_E_UNSTABLE);
      const char *said = yoke_context_message(c.ctx, yoke_context_n_messages(c.ctx) - 1);
      assert_true(strstr(said, "left[") != NULL || strstr(said, "right[") != NULL);
    }
    cosim_close(&c);
  }
}

/* One correction made a mode of its multipliers grow by 3 % per step, until the run diverged at 1.1 s. */
static void semi_implicit_repeats_corrections_with_an_analytic_jacobian(void **state) {
  (void)state;
  for (int order = 1; order <= 2; ++order) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets, "cosimulation.jacobian=analytic;cosimulation.order=%d", order);
    assert_true(cosim_error("examples/double-pendulum.yaml", sets, "lower.omega") < 1e-7);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_start_with_exact_past_gives_high_degrees_of_baumgarte_their_order),
      cmocka_unit_test(a_graded_start_works_with_joints),
      cmocka_unit_test(broyden_updates_find_the_same_solution_with_fewer_integrations),
      cmocka_unit_test(the_analytic_jacobian_serves_joints_with_the_implicit_scheme_and_warns_where_it_corrects_once),
      cmocka_unit_test(semi_implicit_repeats_corrections_with_an_analytic_jacobian),
      cmocka_unit_test(stabilized_formulations_meet_the_values_of_the_double_pendulum),
      cmocka_unit_test(stabilized_formulations_meet_the_values_of_the_nonlinear_two_masses),
      cmocka_unit_test(stabilized_formulations_meet_the_values_of_the_four_bar_with_a_fixed_joint),
      cmocka_unit_test(one_corrector_holds_the_four_bar_with_a_fixed_joint_together),
      cmocka_unit_test(stabilized_formulations_keep_their_orders_on_the_nonlinear_two_masses),
      cmocka_unit_test(closed_loops_in_2_4_and_8_subsystems_follow_the_one_freedom_solution),
      cmocka_unit_test(beyond_a_singular_position_closed_loops_stay_on_the_branch_or_end_with_the_name_of_a_coupling),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
