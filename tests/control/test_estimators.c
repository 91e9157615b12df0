/* Estimated local errors: check values of one step (Kraft 5), and against true local errors over whole runs. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/rig.h"
#include "../cosimulation/two_mass.h"
#include "local_error.h"

/* ---- one step of M1 from an exact history ---- */

typedef struct one_step {
  const char       *scheme;
  yoke_estimate_way way;
  double            x1, v1; /* estimated */
} one_step;

static two_mass m1(double t) {
  two_mass m = {.m = {2.0, 1.0}, .c = {1e5, 5e3, 1e3}, .z = {-2.0, 1e2, 0.0, -2e2}};
  two_mass_exact(&m, t, m.z);
  return m;
}

/* The graph of M1 at T_N = 0.005 s with exact values at T_N - H ... T_N - 5 H. */
static void open_at(rig *r, const char *scheme, double H) {
  const two_mass now = m1(0.005);
  char           sets[COSIM_TEXT];
  snprintf(sets, sizeof sets,
           "cosimulation.scheme=%s;cosimulation.order=2;cosimulation.step=%.17g;cosimulation.start=ramp;"
           "bodies.c.x=[%.17g, %.17g];bodies.c.v=[%.17g, %.17g]",
           scheme, H, now.z[0], now.z[2], now.z[1], now.z[3]);
  if (rig_open(r, "examples/chain-m1.yaml", sets, "serial", 1, NULL) != YOKE_OK) {
    cosim_print(r->c.ctx);
    fail_msg("M1 cannot be opened");
  }
  assert_int_equal(yoke_graph_control(r->graph, true, r->c.ctx), YOKE_OK);
  const double *const none[1] = {NULL};
  for (int k = 1; k <= 5; ++k) {
    const two_mass past = m1(0.005 - k * H);
    const double   y[8] = {past.z[0], past.z[1], 0.0, 0.0, past.z[2], past.z[3], 0.0, 0.0};
    yoke_graph_add_past(r->graph, -k * H, y, none);
  }
}

static void estimates_of_one_step_are_those_of_kraft_5(void **state) {
  static const one_step rows[] = {{"explicit", YOKE_ESTIMATE_END, 2.1926e-7, 1.5574e-3},
                                  {"explicit", YOKE_ESTIMATE_HIGHER, 2.1927e-7, 1.5576e-3},
                                  {"implicit", YOKE_ESTIMATE_PREDICTED, 4.1779e-8, 1.7899e-4}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    const yoke_estimator estimator = {.way = rows[i].way, .tolerances = {.rtol = 1e-3}};
    rig                  r;
    double               error[2];
    open_at(&r, rows[i].scheme, 5e-4);
    yoke_graph_set_degree(r.graph, 2);
    yoke_graph_set_comparison(r.graph, yoke_estimator_comparison(&estimator));
    assert_int_equal(rig_try(&r, 5e-4), YOKE_OK);
    assert_true(yoke_estimator_port_errors(&estimator, r.graph, 0, error));
    CHECK_NEAR(fabs(error[0]) / rows[i].x1, 1.0, 1e-4);
    CHECK_NEAR(fabs(error[1]) / rows[i].v1, 1.0, 1e-4);
    rig_close(&r);
  }
}

static void coupling_errors_of_one_step_are_those_of_kraft_5(void **state) {
  static const struct {
    const char *scheme;
    double      u;
  } rows[] = {{"explicit", 17.20257}, {"implicit", 17.19854}};
  (void)state;
  for (size_t i = 0; i < 2; ++i) {
    rig                r;
    yoke_channel_trial channel;
    open_at(&r, rows[i].scheme, 5e-4);
    yoke_graph_set_degree(r.graph, 2);
    assert_int_equal(rig_try(&r, 5e-4), YOKE_OK);
    yoke_graph_channel_trial(r.graph, 0, &channel);
    CHECK_NEAR(fabs(channel.predicted - channel.value), rows[i].u, 5e-5);
    rig_close(&r);
  }
}

static void a_short_past_leaves_the_motion_without_an_estimate(void **state) {
  const yoke_estimator estimator = {.way = YOKE_ESTIMATE_END, .tolerances = {.rtol = 1e-3}};
  rig                  r;
  double               error[2];
  yoke_estimate        estimate;
  (void)state;
  assert_int_equal(rig_open(&r, "examples/chain-m1.yaml", "cosimulation.scheme=explicit", "serial", 1, NULL), YOKE_OK);
  assert_int_equal(yoke_graph_control(r.graph, true, r.c.ctx), YOKE_OK);
  yoke_graph_set_degree(r.graph, 2);
  yoke_graph_set_comparison(r.graph, YOKE_COMPARISON_END);
  assert_int_equal(rig_try(&r, 1e-6), YOKE_OK);
  assert_false(yoke_estimator_port_errors(&estimator, r.graph, 0, error));
  yoke_estimator_estimate(&estimator, r.graph, &estimate); /* coupling values stand in, of degree 0 */
  assert_true(estimate.norms.coupling > 0.0);
  assert_int_equal(estimate.norms.order[2], 1);
  rig_close(&r);
}

/* ---- whole runs ---- */

typedef struct run_row {
  const char *file;
  double      t_end;
  int         n_substeps;
  const char *sets;
  const char *compared; /* "mv": motion, "u": coupling values */
} run_row;

#define KRAFT_MD "rtol: 1e-5, atol: {position: 1e-8, velocity: 1e-5}, initial: 1e-6, safety: 2, ratio: [0.75, 1.25]"
#define KRAFT_CV "rtol: 1e-3, atol: {coupling: 1}, estimator: cv, initial: 1e-6, safety: 2, ratio: [0.75, 1.25]"
#define TIGHT ";cosimulation.start=ramp;solvers.default.rtol=1e-12;solvers.default.atol=1e-13"
#define EXPLICIT(step) "cosimulation.scheme=explicit;cosimulation.order=2;cosimulation.step={" step "}" TIGHT
#define IMPLICIT(step) "cosimulation.scheme=implicit;cosimulation.order=2;cosimulation.step={" step "}" TIGHT
#define SEMI(step) "cosimulation.scheme=semi-implicit;cosimulation.order=2;cosimulation.step={" step "}" TIGHT
#define WAVEFORM(step) "cosimulation.scheme=waveform;cosimulation.order=2;cosimulation.step={" step "}" TIGHT

static const run_row force_rows[] = {
    {"chain-m1", 0.05, 30, EXPLICIT(KRAFT_MD), "mv"},
    {"chain-m1", 0.05, 30, EXPLICIT(KRAFT_MD ", estimator: le"), "mv"},
    {"chain-m1", 0.05, 30, EXPLICIT(KRAFT_CV), "u"},
    {"chain-m1", 0.05, 30, IMPLICIT(KRAFT_MD), "mv"},
    {"chain-m1", 0.05, 30, SEMI(KRAFT_MD), "mv"},
    {"chain-m1", 0.05, 30, IMPLICIT(KRAFT_CV), "u"},
    {"chain-m1", 0.05, 30, WAVEFORM(KRAFT_CV), "u"},
    {"chain-m2", 0.02, 60, EXPLICIT(KRAFT_MD), "mv"},
    {"chain-m2", 0.02, 60, EXPLICIT(KRAFT_MD ", estimator: le"), "mv"},
    {"chain-m2", 0.02, 60, EXPLICIT(KRAFT_CV), "u"},
    {"chain-m2", 0.02, 60, IMPLICIT(KRAFT_MD), "mv"},
    {"chain-m2", 0.02, 60, SEMI(KRAFT_MD), "mv"},
    {"chain-m2", 0.02, 60, IMPLICIT(KRAFT_CV), "u"},
    {"chain-m2", 0.02, 60, WAVEFORM(KRAFT_CV), "u"},
    {"chain-conv", 0.005, 10, EXPLICIT(KRAFT_MD), "mv"},
    {"chain-conv", 0.005, 10, EXPLICIT(KRAFT_MD ", estimator: le"), "mv"},
    {"chain-conv", 0.005, 10, EXPLICIT(KRAFT_CV), "u"},
    {"chain-conv", 0.005, 10, IMPLICIT(KRAFT_MD), "mv"},
    {"chain-conv", 0.005, 10, IMPLICIT(KRAFT_CV), "u"},
};

#define ACCELERATION(rest) "cosimulation.predictor=acceleration;" rest
#define RELAXED(rest) "cosimulation.predictor=acceleration-relaxed;" rest
static const run_row acceleration_rows[] = {
    {"chain-m1", 0.05, 30, ACCELERATION(EXPLICIT(KRAFT_MD)), "mv"},
    {"chain-m1", 0.05, 30, ACCELERATION(EXPLICIT(KRAFT_MD ", estimator: le")), "mv"},
    {"chain-m1", 0.05, 30, ACCELERATION(EXPLICIT(KRAFT_CV)), "u"},
    {"chain-m1", 0.05, 30, RELAXED(EXPLICIT(KRAFT_MD)), "mv"},
    {"chain-m1", 0.05, 30, RELAXED(EXPLICIT(KRAFT_CV)), "u"},
    {"chain-m2", 0.02, 60, ACCELERATION(EXPLICIT(KRAFT_MD)), "mv"},
    {"chain-m2", 0.02, 60, ACCELERATION(EXPLICIT(KRAFT_CV)), "u"},
    {"chain-conv", 0.005, 10, ACCELERATION(EXPLICIT("rtol: 1e-6, atol: {position: 1e-9, velocity: 1e-6}, budget: 3")),
     "mv"},
    {"chain-conv", 0.005, 10, ACCELERATION(EXPLICIT(KRAFT_CV)), "u"},
    {"two-mass", 0.3, 30, ACCELERATION(EXPLICIT("rtol: 1e-5")), "mv"},
};

#define DECOMPOSITION(word, rest) "cosimulation.couplings.decomposition=" word ";" rest
#define EXTENSION(word, rest) "cosimulation.couplings.extension=" word ";" rest
#define FD "force/displacement"
#define DD "displacement/displacement"
static const run_row motion_rows[] = {
    {"two-mass", 0.3, 30, DECOMPOSITION(FD, EXPLICIT("rtol: 1e-5")), "mv"},
    {"two-mass", 0.3, 30, DECOMPOSITION(FD, SEMI("rtol: 1e-5")), "mv"},
    {"two-mass", 0.3, 30, DECOMPOSITION(FD, SEMI("rtol: 1e-4, estimator: cv")), "u"},
    {"two-mass", 0.3, 30, DECOMPOSITION(DD, EXPLICIT("rtol: 1e-5")), "mv"},
    {"two-mass", 0.3, 30, DECOMPOSITION(DD, SEMI("rtol: 1e-5")), "mv"},
    {"two-mass", 0.3, 30, DECOMPOSITION(DD, SEMI("rtol: 1e-5, estimator: le")), "mv"},
    {"two-mass", 0.3, 30, EXTENSION("d", SEMI("rtol: 1e-5")), "mv"},
    {"two-mass", 0.3, 30, EXTENSION("i", SEMI("rtol: 1e-5")), "mv"},
    {"two-mass", 0.3, 30, DECOMPOSITION(FD, EXTENSION("d", SEMI("rtol: 1e-5"))), "mv"},
    {"two-mass", 0.3, 30, DECOMPOSITION(DD, EXTENSION("i", SEMI("rtol: 1e-5"))), "mv"},
    {"double-pendulum-flexible", 0.2, 50, SEMI("rtol: 1e-5, estimator: le"), "mv"},
};

#define JOINT(formulation, order, rtol)                                                                                \
  "cosimulation.couplings.formulation=" formulation ";cosimulation.order=" order ";cosimulation.scheme=implicit;"      \
  "cosimulation.corrector.rtol=1e-10;cosimulation.step={rtol: " rtol ", compare: 1}" TIGHT
static const run_row joint_rows[] = {
    {"two-mass-rigid", 0.5, 100, JOINT("stabilized-index-2", "0", "1e-3"), "mv"},
    {"two-mass-rigid", 0.5, 100, JOINT("stabilized-index-2", "1", "1e-5"), "mv"},
    {"two-mass-rigid", 0.5, 100, JOINT("stabilized-index-2", "2", "1e-6"), "mv"},
    {"two-mass-rigid", 0.5, 100, JOINT("stabilized-index-1", "0", "1e-3"), "mv"},
    {"two-mass-rigid", 0.5, 100, JOINT("stabilized-index-1", "1", "1e-5"), "mv"},
    {"two-mass-rigid", 0.5, 100, JOINT("stabilized-index-2-mu", "0", "1e-3"), "mv"},
    {"double-pendulum", 1.0, 100, JOINT("stabilized-index-2", "0", "1e-3"), "mv"},
    {"double-pendulum", 1.0, 100, JOINT("stabilized-index-2", "1", "1e-5"), "mv"},
    {"double-pendulum", 1.0, 100, JOINT("stabilized-index-2", "2", "1e-6"), "mv"},
    {"double-pendulum", 1.0, 100, JOINT("stabilized-index-1", "0", "1e-3"), "mv"},
    {"double-pendulum", 1.0, 100, JOINT("stabilized-index-1", "1", "1e-5"), "mv"},
    {"double-pendulum", 1.0, 100, JOINT("stabilized-index-2-mu", "0", "1e-3"), "mv"},
};

static void expect_true_estimates(const run_row *rows, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    char        file[COSIM_TEXT];
    cosim       c;
    local_error l;
    snprintf(file, sizeof file, "examples/%s.yaml", rows[i].file);
    cosim_open(&c, file, rows[i].sets);
    cosim_expect(&c, YOKE_OK);
    local_open(&l, &c, rows[i].n_substeps, true);
    cosim_run(&c, rows[i].t_end, local_look, &l);
    cosim_expect(&c, YOKE_OK);
    const bool of_motion = rows[i].compared[0] == 'm';
    for (int what = of_motion ? 0 : 2; what < (of_motion ? 2 : 3); ++what) {
      const double median = local_median(&l, what, 0.5);
      if (l.n[what] < 15 || !(fabs(median - 1.0) <= 0.1))
        fail_msg("%s, %s, %s: median of estimated / true is %.3f in %d steps", rows[i].file, rows[i].sets,
                 what == 0   ? "positions"
                 : what == 1 ? "velocities"
                             : "coupling values",
                 median, l.n[what]);
    }
    local_close(&l);
    cosim_close(&c);
  }
}

static void estimated_errors_of_force_couplings_are_true_within_ten_percent(void **state) {
  (void)state;
  expect_true_estimates(force_rows, sizeof force_rows / sizeof *force_rows);
}

static void f30_estimated_errors_of_acceleration_predictors_are_true_within_ten_percent(void **state) {
  (void)state;
  expect_true_estimates(acceleration_rows, sizeof acceleration_rows / sizeof *acceleration_rows);
}

static void estimated_errors_of_displacements_and_extensions_are_true_within_ten_percent(void **state) {
  (void)state;
  expect_true_estimates(motion_rows, sizeof motion_rows / sizeof *motion_rows);
}

static void estimated_errors_of_joints_are_true_within_ten_percent(void **state) {
  (void)state;
  expect_true_estimates(joint_rows, sizeof joint_rows / sizeof *joint_rows);
}

/* ---- orders ---- */

typedef struct order_row {
  const char *file, *formulation, *extra;
  int         degree;
  double      H;    /* and H/2 */
  int         more; /* that this model has above what is declared */
} order_row;

typedef struct estimates {
  const cosim *c;
  double       H, t;
  double       sum[2]; /* of squared estimates: positions, velocities */
  int          n;
} estimates;

static void collect(void *user, double t, const double *q, const double *v) {
  estimates         *e       = user;
  const yoke_system *cs      = e->c->system;
  const yoke_graph  *g       = yoke_system_graph(cs);
  const bool         is_full = t - e->t > 0.999 * e->H && t > 20.0 * e->H;
  (void)q, (void)v;
  e->t = t;
  if (!is_full) return;
  for (int port = 0; port < yoke_graph_n_ports(g); ++port) {
    double          error[64];
    yoke_port_trial trial;
    yoke_graph_port_trial(g, port, &trial);
    assert_true(yoke_estimator_port_errors(yoke_controller_estimator(yoke_system_controller(cs)), g, port, error));
    for (int k = 0; k < trial.n_p + trial.n_v; ++k) e->sum[k >= trial.n_p] += error[k] * error[k];
  }
  ++e->n;
}

/* Mean estimates with a step that does not change once it is reached (from a short one: multipliers remember the start), and the orders that the formulation declares. */
static void estimate_with(const order_row *row, double H, double mean[2], int declared[2]) {
  char  file[COSIM_TEXT], sets[COSIM_TEXT];
  cosim c;
  snprintf(file, sizeof file, "examples/%s.yaml", row->file);
  snprintf(
      sets, sizeof sets,
      "cosimulation.couplings.formulation=%s;cosimulation.scheme=implicit;cosimulation.order=%d;"
      "cosimulation.corrector.rtol=1e-10;cosimulation.step={rtol: 0.99, compare: 1, initial: %.17g, max: %.17g, ratio: "
      "[0.5, 2]}" TIGHT "%s",
      row->formulation, row->degree, H / 64.0, H, row->extra);
  cosim_open(&c, file, sets);
  cosim_expect(&c, YOKE_OK);
  estimates e = {.c = &c, .H = H};
  cosim_run(&c, 0.4, collect, &e);
  cosim_expect(&c, YOKE_OK);
  for (int i = 0; i < 2; ++i) mean[i] = sqrt(e.sum[i] / e.n);
  yoke_graph_local_order(yoke_system_graph(c.system), row->degree, declared);
  cosim_close(&c);
}

/* F30: a damper, so that velocities decide about the order of the force */
#define ACCELERATED                                                                                                    \
  ";cosimulation.scheme=explicit;cosimulation.predictor=acceleration;parameters.cc=100;parameters.dc=20"

static void estimates_fall_with_the_local_order_that_a_formulation_declares(void **state) {
  static const order_row rows[] = {
      {"two-mass-rigid", "stabilized-index-2", "", 0, 2e-3, 0},
      {"two-mass-rigid", "stabilized-index-2", "", 1, 4e-3, 0},
      {"two-mass-rigid", "stabilized-index-2", "", 2, 4e-3, 1}, /* nothing turns */
      {"two-mass-rigid", "stabilized-index-1", "", 0, 4e-3, 0},
      {"two-mass-rigid", "stabilized-index-1", "", 1, 4e-3, 0},
      {"two-mass-rigid", "stabilized-index-1", "", 3, 8e-3, 0},
      {"two-mass-rigid", "stabilized-index-2-mu", "", 0, 2e-3, 0},
      {"two-mass-rigid", "baumgarte", "", 0, 2e-3, 0},
      {"two-mass-rigid", "baumgarte", "", 1, 2e-3, 0},
      {"double-pendulum", "stabilized-index-2", "", 0, 1e-2, 0},
      {"double-pendulum", "stabilized-index-2", "", 1, 1e-2, 0},
      {"double-pendulum", "stabilized-index-2", "", 2, 1e-2, 0},
      {"double-pendulum", "stabilized-index-1", "", 0, 1e-2, 0},
      {"double-pendulum", "stabilized-index-1", "", 1, 1e-2, 0},
      {"two-mass", "constitutive", "", 0, 1e-3, 0},
      {"two-mass", "constitutive", "", 1, 2.5e-4, 0},
      {"two-mass", "constitutive", "", 2, 1e-3, 0},
      {"two-mass", "constitutive", "", 3, 1e-3, 0},
      {"two-mass", "constitutive", ACCELERATED, 0, 2.5e-4, 0},
      {"two-mass", "constitutive", ACCELERATED, 1, 5e-4, 0},
      {"two-mass", "constitutive", ACCELERATED, 2, 5e-4, 0},
  };
  int n_bad = 0;
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    double mean[2][2];
    int    declared[2];
    for (int k = 0; k < 2; ++k) estimate_with(&rows[i], k == 0 ? rows[i].H : 0.5 * rows[i].H, mean[k], declared);
    for (int what = 0; what < 2; ++what) {
      const double order = log2(mean[0][what] / mean[1][what]);
      if (fabs(order - declared[what] - rows[i].more) <= 0.3) continue;
      print_message("%s %s %d: %s fall with order %.2f, declared %d\n", rows[i].file, rows[i].formulation,
                    rows[i].degree, what == 0 ? "positions" : "velocities", order, declared[what]);
      ++n_bad;
    }
  }
  assert_int_equal(n_bad, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(estimates_of_one_step_are_those_of_kraft_5),
      cmocka_unit_test(coupling_errors_of_one_step_are_those_of_kraft_5),
      cmocka_unit_test(a_short_past_leaves_the_motion_without_an_estimate),
      cmocka_unit_test(estimated_errors_of_force_couplings_are_true_within_ten_percent),
      cmocka_unit_test(f30_estimated_errors_of_acceleration_predictors_are_true_within_ten_percent),
      cmocka_unit_test(estimated_errors_of_displacements_and_extensions_are_true_within_ten_percent),
      cmocka_unit_test(estimated_errors_of_joints_are_true_within_ten_percent),
      cmocka_unit_test(estimates_fall_with_the_local_order_that_a_formulation_declares),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
