/* Kinematic coupling, the whole engine: check values of Schneider's two masses, thresholds by running below and above them,
 * guidance and refusals. Joints in the plane and in space: test_kinematic_joints.c. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#define COSIM_PUBLISHED

#include "../check.h"
#include "cosimulate.h"
#include "master/system.h"

static const char *const file = "examples/kinematic-two-mass.yaml";

/* ---- the two masses ---- */

typedef struct masses {
  double m_R, m_Fco, m_Fin, c_R, c_F, d_R, d_F;
} masses;

static const masses table1 = {5.0, 0.5, 0.5, 100.0, 50.0, 1.0, 0.1};

/* x = (q1, q2, v1, v2) over t by Taylor series: x' = A x. */
static void exact_step(const masses *m, double t, double x[4]) {
  const int n = (int)ceil(fabs(t) / 1e-2);
  for (int step = 0; step < n; ++step) {
    const double h = t / n;
    double       term[4], sum[4];
    memcpy(term, x, sizeof term);
    memcpy(sum, x, sizeof sum);
    for (int k = 1; k < 25; ++k) {
      const double f1 =
          -m->c_R * term[0] - m->d_R * term[2] + m->c_F * (term[1] - term[0]) + m->d_F * (term[3] - term[2]);
      const double f2      = -m->c_F * (2.0 * term[1] - term[0]) - m->d_F * (2.0 * term[3] - term[2]);
      const double next[4] = {term[2], term[3], f1 / (m->m_R + m->m_Fco), f2 / m->m_Fin};
      for (int i = 0; i < 4; ++i) {
        term[i] = next[i] * h / k;
        sum[i] += term[i];
      }
    }
    memcpy(x, sum, sizeof sum);
  }
}

/* Errors of q1 and q2 at the macro points. */
typedef struct deviation {
  masses m;
  double x[4], t;
  double largest; /* of the whole run */
  double size[2]; /* of q1 in the first and the last quarter */
  double t_end;
  int    steps, step_bad; /* first step with an error of 0.1 or more */
} deviation;

static void look_at_error(void *user, double t, const double *q, const double *v) {
  (void)v;
  deviation *d = user;
  if (t < 0.25 * d->t_end) d->size[0] = fmax(d->size[0], fabs(q[0]));
  if (t > 0.75 * d->t_end) d->size[1] = fmax(d->size[1], fabs(q[0]));
  if (d->t_end > 10.0) return; /* only growth counts */
  exact_step(&d->m, t - d->t, d->x);
  d->t               = t;
  const double error = fmax(fabs(q[0] - d->x[0]), fabs(q[2] - d->x[1]));
  ++d->steps;
  if (error >= 0.1 && d->step_bad == 0) d->step_bad = d->steps;
  d->largest = fmax(d->largest, error);
}

typedef struct setup {
  const char *force;
  int         r, s;
  const char *motion, *outputs, *start;
} setup;

static const setup usual = {"exact", 1, 1, "same", "parallel", "ramp"};

static deviation run_masses(const setup *s, const masses *m, double h, double t_end, yoke_status *status) {
  char      sets[COSIM_TEXT];
  deviation d = {.m = *m, .x = {0.1, -0.05, 0.5, -1.0}, .t_end = t_end};
  cosim     c;
  snprintf(
      sets, sizeof sets,
      "output.every=1000;parameters.m_R=%.17g;parameters.m_Fco=%.17g;cosimulation.step=%.17g;cosimulation.start=%s;"
      "cosimulation.couplings.force=%s;cosimulation.couplings.order_force=%d;"
      "cosimulation.couplings.order_motion=%d;cosimulation.couplings.motion=%s;cosimulation.couplings.outputs=%s",
      m->m_R, m->m_Fco, h, s->start, s->force, s->r, s->s, s->motion, s->outputs);
  cosim_open(&c, file, sets);
  if (c.status != YOKE_OK) cosim_expect(&c, YOKE_OK);
  cosim_run(&c, t_end, look_at_error, &d);
  if (status == NULL)
    cosim_expect(&c, YOKE_OK);
  else
    *status = c.status;
  cosim_close(&c);
  return d;
}

typedef struct table_row {
  const char *force;
  int         r, s;
  const char *start;
  double      same[3], derivative[3];
} table_row;

/* Schneider 3.1, errors at h = 0.01, 0.005, 0.0025. */
static const table_row table[] = {
    {"exact", 0, 0, "ramp", {6.2977e-3, 3.0966e-3, 1.5356e-3}, {6.2977e-3, 3.0966e-3, 1.5356e-3}},
    {"exact", 0, 1, "ramp", {2.8804e-3, 1.3640e-3, 6.6496e-4}, {2.8964e-3, 1.3671e-3, 6.6445e-4}},
    {"exact", 1, 0, "ramp", {4.3237e-3, 2.1588e-3, 1.0799e-3}, {4.3237e-3, 2.1588e-3, 1.0799e-3}},
    {"exact", 1, 1, "ramp", {5.1493e-4, 1.2817e-4, 3.2015e-5}, {6.0086e-4, 1.8497e-4, 6.4182e-5}},
    {"exact", 2, 2, "ramp", {2.3348e-4, 6.2392e-5, 1.6094e-5}, {2.2622e-4, 6.0587e-5, 1.5641e-5}},
    {"exact", 2, 2, "exact", {7.2535e-5, 9.1197e-6, 1.1424e-6}, {8.7797e-5, 1.2924e-5, 2.1351e-6}},
    {"approximate", 0, 1, "ramp", {2.3796e-3, 1.1233e-3, 5.4609e-4}, {2.4763e-3, 1.1653e-3, 5.6513e-4}},
    {"approximate", 1, 1, "ramp", {4.0704e-4, 1.0185e-4, 2.5468e-5}, {5.6486e-4, 1.8084e-4, 6.5033e-5}},
};
enum { N_TABLE = (int)(sizeof table / sizeof table[0]) };

static void errors_of_two_masses_are_those_of_the_table(void **state) {
  (void)state;
  for (int i = 0; i < N_TABLE; ++i) {
    for (int derivative = 0; derivative < 2; ++derivative) {
      for (int k = 0; k < 3; ++k) {
        const table_row *row = &table[i];
        const setup      s   = {row->force, row->r, row->s, derivative ? "derivative" : "same", "parallel", row->start};
        const double     expected = derivative ? row->derivative[k] : row->same[k];
        CHECK_NEAR(run_masses(&s, &table1, 0.01 / (1 << k), 2.0, NULL).largest / expected, 1.0, 6e-5);
      }
    }
  }
}

static void check_states(const char *sets, const double expected[4], double tolerance) {
  static const char *const names[4] = {"r.x", "in.x", "r.v", "in.v"};
  cosim                    c        = cosim_done(file, sets, 1.0);
  for (int i = 0; i < 4; ++i) CHECK_NEAR(cosim_value(&c, names[i]), expected[i], tolerance);
  cosim_close(&c);
}

static void states_at_one_second_are_those_of_the_source(void **state) {
  (void)state;
  static const double exact[4]       = {-0.083970823, -0.103887074, 0.340251446, 1.619000042};
  static const double approximate[4] = {-0.083114696, -0.104061507, 0.345191922, 1.635669317};
  check_states("cosimulation.order=1", exact, 1e-9);
  check_states("cosimulation.couplings.force=approximate;cosimulation.couplings.order_force=0;"
               "cosimulation.couplings.order_motion=1;cosimulation.couplings.motion=derivative",
               approximate, 1e-9);
}

static void the_example_runs_as_a_whole_to_the_exact_solution(void **state) {
  (void)state;
  static const double exact[4] = {-0.084082341, -0.104037206, 0.340608030, 1.615052119};
  cosim               c        = cosim_done_monolithic(file, NULL, 1.0);
  CHECK_NEAR(cosim_value(&c, "r.x"), exact[0], 1e-8);
  CHECK_NEAR(cosim_value(&c, "in.x"), exact[1], 1e-8);
  CHECK_NEAR(cosim_value(&c, "r.v"), exact[2], 1e-8);
  CHECK_NEAR(cosim_value(&c, "in.v"), exact[3], 1e-8);
  cosim_close(&c);
}

static void order_of_convergence_is_the_lower_degree_and_one(void **state) {
  (void)state;
  for (int r = 0; r < 4; ++r) {
    for (int s = 0; s < 4; ++s) {
      const setup one = {"exact", r, s, "same", "parallel", "exact"};
      double      err[2];
      for (int k = 0; k < 2; ++k) err[k] = run_masses(&one, &table1, 0.0025 / (1 << k), 0.5, NULL).largest;
      CHECK_ORDER(err, 2, (r < s ? r : s) + 1.0, 0.25);
    }
  }
}

static void all_output_variants_keep_the_order(void **state) {
  (void)state;
  static const char *const outputs[] = {"parallel", "current", "sequential", "held"};
  static const char *const forces[]  = {"exact", "reduced", "approximate"};
  for (int o = 0; o < 4; ++o) {
    for (int f = 0; f < 3; ++f) {
      const setup one = {forces[f], 1, 1, "same", outputs[o], "exact"};
      double      err[2];
      for (int k = 0; k < 2; ++k) err[k] = run_masses(&one, &table1, 0.005 / (1 << k), 0.5, NULL).largest;
      CHECK_ORDER(err, 2, 2.0, 0.15);
    }
  }
}

static void quadratic_extrapolation_breaks_at_ratio_10_in_the_steps_of_the_source(void **state) {
  (void)state;
  static const double h[]    = {0.01, 0.005, 0.001};
  static const int    step[] = {35, 41, 56};
  const setup         one    = {"approximate", 2, 2, "same", "parallel", "ramp"};
  for (int k = 0; k < 3; ++k) {
    yoke_status     status;
    const deviation d = run_masses(&one, &table1, h[k], 2.0, &status);
    assert_int_equal(status, YOKE_E_UNSTABLE);
    assert_int_equal(d.step_bad, step[k]);
  }
}

/* Below the threshold errors grow however small the step; above they do not. */
static void thresholds_separate_runs_that_grow_from_runs_that_do_not(void **state) {
  (void)state;
  static const double threshold[] = {1.0, 6.464102, 31.639861};
  for (int r = 0; r < 3; ++r) {
    const setup one   = {"approximate", r, r, "same", "parallel", "ramp"};
    masses      below = table1, above = table1;
    yoke_status status;
    below.m_R             = 0.97 * threshold[r] * below.m_Fco;
    above.m_R             = 1.03 * threshold[r] * above.m_Fco;
    const deviation grown = run_masses(&one, &below, 1e-4, 0.4, &status);
    assert_true(status == YOKE_E_UNSTABLE || grown.largest > 0.1);
    CHECK_BELOW(run_masses(&one, &above, 1e-4, 0.4, NULL).largest, 1e-3);
  }
}

static void sequential_outputs_have_thresholds_of_their_own(void **state) {
  (void)state;
  static const double threshold[] = {1.0, 3.0, 7.0};
  for (int r = 0; r < 3; ++r) {
    const setup one   = {"approximate", r, r, "same", "sequential", "ramp"};
    masses      below = table1, above = table1;
    yoke_status status;
    below.m_R             = 0.97 * threshold[r] * below.m_Fco;
    above.m_R             = 1.03 * threshold[r] * above.m_Fco;
    const deviation grown = run_masses(&one, &below, 1e-4, 0.4, &status);
    assert_true(status == YOKE_E_UNSTABLE || grown.largest > 0.1);
    CHECK_BELOW(run_masses(&one, &above, 1e-4, 0.4, NULL).largest, 1e-3);
  }
}

static void exact_force_is_stable_at_every_mass_ratio(void **state) {
  (void)state;
  static const double ratio[] = {0.1, 0.5, 1.0, 20.0};
  for (int r = 0; r < 3; ++r) {
    for (int i = 0; i < 4; ++i) {
      const setup one = {"exact", r, r, "same", "parallel", "ramp"};
      masses      m   = table1;
      m.m_R           = ratio[i] * m.m_Fco;
      CHECK_BELOW(run_masses(&one, &m, 5e-4, 0.5, NULL).largest, 5e-2); /* growth would pass all bounds */
    }
  }
}

typedef struct limit {
  const char *force;
  double      ratio;
  int         r;
  double      held, parallel; /* largest stable steps */
} limit;

/* Schneider 5.2: form (51) is `held`, the other `parallel`. */
static const limit limits[] = {
    {"exact", 0.5, 0, 0.14871, 0.13114},      {"exact", 0.5, 1, 0.084269, 0.082386},
    {"exact", 0.5, 2, 0.049641, 0.035089},    {"exact", 1.1, 0, 0.028511, 0.053195},
    {"exact", 10.0, 0, 0.28213, 0.033447},    {"approximate", 10.0, 1, 0.092495, 0.09649},
    {"approximate", 33.0, 2, 0.1285, 0.1318},
};
enum { N_LIMITS = (int)(sizeof limits / sizeof limits[0]) };

static void largest_stable_steps_are_those_of_the_source(void **state) {
  (void)state;
  for (int i = 0; i < N_LIMITS; ++i) {
    for (int held = 0; held < 2; ++held) {
      const double h   = held ? limits[i].held : limits[i].parallel;
      const setup  one = {limits[i].force, limits[i].r, limits[i].r, "same", held ? "held" : "parallel", "ramp"};
      masses       m   = table1;
      yoke_status  status;
      m.m_R             = limits[i].ratio * m.m_Fco;
      const deviation a = run_masses(&one, &m, 0.97 * h, 4000.0 * h, NULL);
      if (!(a.size[1] < a.size[0])) fail_msg("case %d: grows at 0.97 of the limit %g, %s", i, h, one.outputs);
      const deviation b = run_masses(&one, &m, 1.03 * h, 4000.0 * h, &status);
      if (status == YOKE_OK && !(b.size[1] > b.size[0]))
        fail_msg("case %d: decays at 1.03 of %g, %s", i, h, one.outputs);
    }
  }
}

static void exact_and_reduced_agree_without_inertia_between_ends_and_inner_masses(void **state) {
  (void)state;
  const setup     reduced = {"reduced", 1, 1, "same", "parallel", "ramp"};
  const deviation a = run_masses(&usual, &table1, 0.01, 2.0, NULL), b = run_masses(&reduced, &table1, 0.01, 2.0, NULL);
  CHECK_NEAR(a.largest, b.largest, 1e-13);
}

/* One linearly implicit Euler step per macro step hides the degrees. */
static void linearly_implicit_euler_makes_the_degrees_irrelevant(void **state) {
  (void)state;
  static const int degree[][2] = {{0, 0}, {0, 1}, {1, 1}, {2, 2}};
  double           err[4];
  for (int k = 0; k < 4; ++k) {
    char      sets[COSIM_TEXT];
    deviation d = {.m = table1, .x = {0.1, -0.05, 0.5, -1.0}, .t_end = 2.0};
    cosim     c;
    snprintf(sets, sizeof sets,
             "cosimulation.step=0.0025;cosimulation.couplings.order_force=%d;cosimulation.couplings.order_motion=%d;"
             "solvers.F={kind: lin-implicit-euler, step: 0.0025}",
             degree[k][0], degree[k][1]);
    cosim_open(&c, file, sets);
    cosim_run(&c, 2.0, look_at_error, &d);
    cosim_expect(&c, YOKE_OK);
    cosim_close(&c);
    err[k] = d.largest;
  }
  for (int k = 1; k < 4; ++k) CHECK_NEAR(err[k] / err[0], 1.0, 0.05);
  assert_true(err[0] > 1e-3); /* far above that of the coupling */
}

static void every_solver_can_follow_a_prescribed_motion(void **state) {
  (void)state;
  static const char *const solvers[] = {"dopri5", "dop853", "abm",  "radau5",
                                        "bdf",    "exact",  "auto", "{kind: genalpha, rtol: 1e-11, atol: 1e-12}"};
  for (size_t i = 0; i < sizeof solvers / sizeof solvers[0]; ++i) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets, "solvers.F=%s;solvers.default.rtol=1e-11", solvers[i]);
    cosim c = cosim_done(file, sets, 0.5);
    cosim d = cosim_done(file, NULL, 0.5);
    CHECK_NEAR(cosim_value(&c, "r.x"), cosim_value(&d, "r.x"), 1e-8);
    CHECK_NEAR(cosim_value(&c, "in.v"), cosim_value(&d, "in.v"), 1e-6);
    cosim_close(&c);
    cosim_close(&d);
  }
}

/* ---- the prescribed side ---- */

/* What F has of the joint follows the extrapolated motion: the gap is as small as that, and does not drift. */
static void the_prescribed_side_does_not_drift(void **state) {
  (void)state;
  double gap[2];
  for (int k = 0; k < 2; ++k) {
    cosim c = cosim_done(file, "cosimulation.order=2;cosimulation.step=1e-3", k == 0 ? 1.0 : 10.0);
    gap[k]  = fabs(cosim_value(&c, "r.x") - cosim_value(&c, "co.x"));
    cosim_close(&c);
  }
  CHECK_BELOW(gap[0], 1e-6);
  CHECK_BELOW(gap[1], 1e-6);
}

/* ---- guidance and refusals ---- */

static bool mentions(const cosim *c, const char *text) {
  for (size_t i = 0; i < yoke_context_n_messages(c->ctx); ++i) {
    if (strstr(yoke_context_message(c->ctx, i), text) != NULL) return true;
  }
  return false;
}

static void a_force_that_is_not_zero_stable_is_announced(void **state) {
  (void)state;
  cosim c;
  cosim_open(&c, file, "cosimulation.order=2;cosimulation.couplings.force=approximate");
  cosim_expect(&c, YOKE_OK);
  assert_true(mentions(&c, "'joint'") && mentions(&c, "not zero-stable") && mentions(&c, "10 times as much"));
  assert_true(mentions(&c, "31.64") && mentions(&c, "force exact") && mentions(&c, "lower order"));
  cosim_close(&c);
  cosim_open(&c, file, "cosimulation.order=1;cosimulation.couplings.force=approximate");
  assert_false(mentions(&c, "zero-stable"));
  cosim_close(&c);
  cosim_open(&c, file, "cosimulation.order=2");
  assert_false(mentions(&c, "zero-stable"));
  cosim_close(&c);
  cosim_open(&c, file, "cosimulation.order=0;cosimulation.couplings.force=approximate;parameters.m_R=0.1");
  assert_true(mentions(&c, "0.2 times as much") && mentions(&c, "prescribed: R"));
  cosim_close(&c);
}

static void check_refused(const char *model, const char *sets, const char *first, const char *second) {
  cosim c;
  cosim_open(&c, model, sets);
  if (c.status == YOKE_OK) fail_msg("'%s' is not refused", sets);
  if (!mentions(&c, first) || !mentions(&c, second)) {
    cosim_print(c.ctx);
    fail_msg("'%s': expected a message with '%s' and '%s'", sets, first, second);
  }
  cosim_close(&c);
}

static void what_makes_no_sense_is_refused_with_a_reason(void **state) {
  (void)state;
  check_refused(file, "cosimulation.scheme=semi-implicit", "'joint'", "scheme explicit");
  check_refused(file, "cosimulation.scheme=implicit", "'joint'", "scheme explicit");
  check_refused(file, "cosimulation.scheme=waveform", "'joint'", "scheme explicit");
  check_refused(file, "cosimulation.sequence=gauss-seidel", "'joint'", "sequence jacobi");
  check_refused(file, "cosimulation.predictor=least-squares", "'joint'", "predictor extrapolation");
  check_refused(file, "cosimulation.couplings.decomposition=force/displacement", "'joint'", "prescribed");
  check_refused(file, "cosimulation.couplings.prescribed=G", "prescribed", "'G'");
  check_refused(file, "cosimulation.couplings.index=1", "'joint'", "leave out index");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_of_two_masses_are_those_of_the_table),
      cmocka_unit_test(states_at_one_second_are_those_of_the_source),
      cmocka_unit_test(the_example_runs_as_a_whole_to_the_exact_solution),
      cmocka_unit_test(order_of_convergence_is_the_lower_degree_and_one),
      cmocka_unit_test(all_output_variants_keep_the_order),
      cmocka_unit_test(quadratic_extrapolation_breaks_at_ratio_10_in_the_steps_of_the_source),
      cmocka_unit_test(thresholds_separate_runs_that_grow_from_runs_that_do_not),
      cmocka_unit_test(sequential_outputs_have_thresholds_of_their_own),
      cmocka_unit_test(exact_force_is_stable_at_every_mass_ratio),
      cmocka_unit_test(largest_stable_steps_are_those_of_the_source),
      cmocka_unit_test(exact_and_reduced_agree_without_inertia_between_ends_and_inner_masses),
      cmocka_unit_test(linearly_implicit_euler_makes_the_degrees_irrelevant),
      cmocka_unit_test(every_solver_can_follow_a_prescribed_motion),
      cmocka_unit_test(the_prescribed_side_does_not_drift),
      cmocka_unit_test(a_force_that_is_not_zero_stable_is_announced),
      cmocka_unit_test(what_makes_no_sense_is_refused_with_a_reason),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
