/* Weighted multipliers through the graph: errors and orders of Li (4.5), end values of Lu (3.1), the relation to Baumgarte,
 * many couplings at once, conditions, refusals and warnings. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "own_settings.h"
#include "../cosimulation/cosimulate.h"
#include "coupling/formulation.h"
#include "master/system.h"
#include "model/joint_kinds.h"

static const char *const two_mass_file = "examples/two-mass-rigid.yaml";

static const double mass[2] = {1.0, 2.0}, c_wall = 1000.0, d_wall = 10.0;

enum { N_TERMS = 24 };

/* z = (x, v) over t of one mass on its wall under the force f0 + f1 t, by the power series. */
static void advance(double m, double c, double d, double f0, double f1, double t, double z[2]) {
  double x = z[0], v = z[1], power = 1.0, end[2] = {0.0};
  for (int k = 0; k < N_TERMS; ++k, power *= t) {
    end[0] += x * power;
    end[1] += v * power;
    const double force  = k == 0 ? f0 : k == 1 ? f1 : 0.0;
    const double next_v = (-c * x - d * v + force) / m / (double)(k + 1);
    x                   = v / (double)(k + 1);
    v                   = next_v;
  }
  memcpy(z, end, sizeof end);
}

/* ---- errors ---- */

typedef struct errors {
  double H, exact[2]; /* of the one oscillator of mass m1 + m2 */
  double defect[2], sum[2], squares[2];
  long   n;
  double z[4]; /* x1, v1, x2, v2 at the end */
} errors;

static void look(void *user, double t, const double *q, const double *v) {
  (void)t;
  errors *e = user;
  advance(mass[0] + mass[1], 2.0 * c_wall, 2.0 * d_wall, 0.0, 0.0, e->H, e->exact);
  for (int s = 0; s < 2; ++s) {
    e->z[2 * s]     = q[s];
    e->z[2 * s + 1] = v[s];
    for (int k = 0; k < 2; ++k) e->defect[k] += pow(e->z[2 * s + k] - e->exact[k], 2.0);
  }
  for (int k = 0; k < 2; ++k) {
    e->sum[k] += e->exact[k];
    e->squares[k] += e->exact[k] * e->exact[k];
  }
  ++e->n;
}

/* Li 3.34 of position [0] and velocity [1], over one second from x = 1 at rest; infinite when the run diverges. */
static void global_errors(int index, double a, double b, int degree, int n_steps, double error[2]) {
  char   sets[COSIM_TEXT];
  errors e = {.H = 1.0 / n_steps, .exact = {1.0, 0.0}};
  cosim  c;
  snprintf(sets, sizeof sets,
           "parameters.x=1;parameters.v=0;cosimulation.step=1/%d;cosimulation.order=%d;"
           "cosimulation.couplings.formulation=weighted;cosimulation.couplings.index=%d;"
           "cosimulation.couplings.a=%.17g;cosimulation.couplings.b=%.17g",
           n_steps, degree, index, a, b);
  cosim_open(&c, two_mass_file, sets);
  cosim_expect(&c, YOKE_OK);
  cosim_run(&c, 1.0, look, &e);
  for (int k = 0; k < 2; ++k)
    error[k] =
        c.status == YOKE_OK ? sqrt(e.defect[k] / (e.squares[k] - e.sum[k] * e.sum[k] / (double)e.n)) : (double)INFINITY;
  if (c.status == YOKE_OK) assert_int_equal(e.n, n_steps);
  cosim_close(&c);
}

typedef struct row {
  int    index;
  double a, b;
  int    degree;
  double position, velocity; /* at H = 1/800 s; 0: unstable */
  double order[2];           /* from 1/800 to 1/1600 */
} row;

static const row li_rows[] = {
    {1, 0.5, 0.25, 0, 2.017e-06, 5.094e-05, {3.01, 2.01}},
    {1, 0.5, 0.25, 1, 0.0, 0.0, {0.0, 0.0}},
    {1, 0.5, 0.25, 2, 0.0, 0.0, {0.0, 0.0}},
    {1, 1.0, 1.0, 0, 7.066e-06, 5.223e-05, {3.01, 2.03}},
    {1, 1.0, 1.0, 1, 9.872e-09, 3.979e-08, {4.01, 3.52}},
    {1, 1.0, 1.0, 2, 0.0, 0.0, {0.0, 0.0}},
    {1, 2.5, 5.0, 0, 3.286e-05, 6.589e-05, {3.01, 2.23}},
    {1, 2.5, 5.0, 1, 5.098e-08, 1.380e-07, {4.01, 3.55}},
    {1, 2.5, 5.0, 2, 3.421e-09, 1.293e-07, {4.51, 3.50}},
    {2, 0.5, 0.0, 0, 5.027e-07, 5.069e-05, {3.00, 2.00}},
    {2, 0.5, 0.0, 1, 0.0, 0.0, {0.0, 0.0}},
    {2, 0.5, 0.0, 2, 0.0, 0.0, {0.0, 0.0}},
    {2, 1.0, 0.0, 0, 1.005e-06, 5.076e-05, {3.00, 2.00}},
    {2, 1.0, 0.0, 1, 0.0, 0.0, {0.0, 0.0}},
    {2, 1.0, 0.0, 2, 0.0, 0.0, {0.0, 0.0}},
    {2, 2.5, 0.0, 0, 2.512e-06, 5.097e-05, {3.00, 2.01}},
    {2, 2.5, 0.0, 1, 0.0, 0.0, {0.0, 0.0}},
    {2, 2.5, 0.0, 2, 0.0, 0.0, {0.0, 0.0}},
    {3, 1.0, 1.0, 0, 2.349e-09, 5.425e-05, {4.00, 2.00}}, /* index 3 takes no weights */
    {3, 1.0, 1.0, 1, 0.0, 0.0, {0.0, 0.0}},
};
enum { N_LI_ROWS = (int)(sizeof li_rows / sizeof li_rows[0]) };

static void errors_and_orders_are_those_of_li(void **state) {
  (void)state;
  for (int i = 0; i < N_LI_ROWS; ++i) {
    const row *x = &li_rows[i];
    double     coarse[2], fine[2];
    if (x->position == 0.0) continue;
    global_errors(x->index, x->a, x->b, x->degree, 800, coarse);
    global_errors(x->index, x->a, x->b, x->degree, 1600, fine);
    CHECK_NEAR(coarse[0] / x->position, 1.0, 0.01);
    CHECK_NEAR(coarse[1] / x->velocity, 1.0, 0.01);
    for (int k = 0; k < 2; ++k) CHECK_NEAR(log2(coarse[k] / fine[k]), x->order[k], 0.1);
  }
}

static void what_li_calls_unstable_diverges(void **state) {
  (void)state;
  for (int i = 0; i < N_LI_ROWS; ++i) {
    const row *x = &li_rows[i];
    double     error[2];
    if (x->position != 0.0) continue;
    global_errors(x->index, x->a, x->b, x->degree, 800, error);
    assert_false(error[0] < 1e3);
  }
}

static void weights_that_warnings_name_are_stable(void **state) {
  (void)state;
  static const double good[6][2] = {{1.0, 1.0}, {1.0, 1.0}, {2.5, 5.0}, {2.5, 5.0}, {4.0, 12.0}, {5.0, 20.0}};
  for (int degree = 0; degree <= 5; ++degree) {
    double error[2];
    global_errors(1, good[degree][0], good[degree][1], degree, 800, error);
    CHECK_BELOW(error[0], degree == 0 ? 1e-5 : 1e-8);
  }
}

/* ---- end values ---- */

/* x1, v1, x2 - x1, v2 - v1 and lambda (sign of Lu) after half a second with H = 1 ms from x = 0, v = 100. */
static void end_values(const char *sets, double end[5]) {
  errors e = {.H = 1e-3, .exact = {0.0, 100.0}};
  cosim  c;
  cosim_open(&c, two_mass_file, sets);
  cosim_run(&c, 0.5, look, &e);
  cosim_expect(&c, YOKE_OK);
  end[0] = e.z[0];
  end[1] = e.z[1];
  end[2] = e.z[2] - e.z[0];
  end[3] = e.z[3] - e.z[1];
  end[4] = yoke_graph_channel(yoke_system_graph(c.system), 0, 0);
  cosim_close(&c);
}

static void end_values_are_those_of_lu(void **state) {
  (void)state;
  static const struct {
    int    index, degree;
    double end[5];
  } rows[] = {
      {1, 0, {1.72150704e-01, 1.77917039e+01, -2.295525e-06, 6.926587e-04, 114.104743}},
      {1, 1, {1.72151472e-01, 1.77922121e+01, 2.331128e-09, 3.217592e-08, 116.700544}},
      {2, 0, {1.72151363e-01, 1.77917714e+01, -3.260162e-07, 6.510832e-04, 114.105352}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    char   sets[COSIM_TEXT];
    double end[5];
    snprintf(sets, sizeof sets,
             "cosimulation.order=%d;cosimulation.couplings.formulation=weighted;cosimulation.couplings.index=%d",
             rows[i].degree, rows[i].index);
    end_values(sets, end);
    /* The gaps are differences of positions up to 3.5 m and velocities up to 100 m/s and carry their rounding. */
    const double rounding[5] = {0.0, 0.0, 2e-14, 1e-12, 0.0};
    for (int k = 0; k < 5; ++k) CHECK_NEAR(end[k], rows[i].end[k], 1e-6 * fabs(rows[i].end[k]) + rounding[k]);
  }
}

/* Response of x2 - x1, v2 - v1 and a2 - a1 at the end of a step to the end node of a multiplier of degree 0 or 1. */
static void gains(int degree, double H, double G[3]) {
  G[0] = G[1] = G[2] = 0.0;
  for (int s = 0; s < 2; ++s) {
    const double f0 = degree == 0 ? 1.0 : 0.0, f1 = degree == 0 ? 0.0 : 1.0 / H;
    double       z[2] = {0.0, 0.0};
    advance(mass[s], c_wall, d_wall, f0, f1, H, z);
    G[0] += z[0];
    G[1] += z[1];
    G[2] += (1.0 - c_wall * z[0] - d_wall * z[1]) / mass[s];
  }
}

static void on_the_linear_oscillator_weights_are_times_of_baumgarte(void **state) {
  (void)state;
  static const struct {
    int    index, degree;
    double a, b;
  } rows[] = {{1, 0, 1.0, 1.0}, {1, 1, 1.0, 1.0}, {1, 1, 2.5, 5.0}, {1, 0, 0.5, 0.25}, {2, 0, 1.0, 0.0}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    char   sets[COSIM_TEXT];
    double G[3], end[2][5];
    gains(rows[i].degree, 1e-3, G);
    snprintf(sets, sizeof sets,
             "cosimulation.order=%d;cosimulation.couplings.formulation=weighted;cosimulation.couplings.index=%d;"
             "cosimulation.couplings.a=%.17g;cosimulation.couplings.b=%.17g",
             rows[i].degree, rows[i].index, rows[i].a, rows[i].b);
    end_values(sets, end[0]);
    int n = snprintf(sets, sizeof sets,
                     "cosimulation.order=%d;cosimulation.couplings.formulation=baumgarte;"
                     "cosimulation.couplings.index=%d;cosimulation.couplings.beta=%.17g",
                     rows[i].degree, rows[i].index, rows[i].a * G[0] / G[1]);
    if (rows[i].index == 1)
      snprintf(sets + n, sizeof sets - (size_t)n, ";cosimulation.couplings.gamma=%.17g", rows[i].b * G[0] / G[2]);
    end_values(sets, end[1]);
    static const double unit[5] = {1.0, 100.0, 1.0, 100.0, 1000.0};
    for (int k = 0; k < 5; ++k) CHECK_NEAR(end[0][k] / unit[k], end[1][k] / unit[k], 1e-12);
  }
}

/* ---- many couplings ---- */

/* Three masses: a rigid joint and a spring couple the middle one. */
static const char *const three_masses =
    "yoke: 1\n"
    "t_end: 0.2\n"
    "bodies:\n"
    "  m1: {kind: mass1d, mass: 1, x: 1}\n"
    "  m2: {kind: mass1d, mass: 2, x: 1}\n"
    "  m3: {kind: mass1d, mass: 1.5, x: 0}\n"
    "connections:\n"
    "  wall: {kind: spring-damper, between: [ground, m1], stiffness: 1000, damping: 10, free_length: 0}\n"
    "  joint: {kind: fixed, between: [m1, m2]}\n"
    "  spring: {kind: spring-damper, between: [m2, m3], stiffness: 800, damping: 5, free_length: 0}\n"
    "split: {a: [m1], b: [m2], c: [m3]}\n"
    "cosimulation:\n"
    "  {scheme: semi-implicit, order: 1, step: 1e-3, final_update: false, couplings: {joint: {formulation: "
    "weighted}}}\n"
    "solvers: {default: {rtol: 1e-10}, a: exact, b: exact, c: exact}\n";

static yoke_status keep_residual(void *user, double t, double H, int order, const yoke_step_statistics *statistics) {
  (void)t, (void)H, (void)order;
  double *largest = user;
  *largest        = fmax(*largest, statistics->residual);
  return YOKE_OK;
}

static double largest_residual(const char *path, const char *sets) {
  double          largest = 0.0;
  cosim           c;
  const yoke_sink sink = {.user = &largest, .macro = keep_residual};
  cosim_open(&c, path, sets);
  cosim_expect(&c, YOKE_OK);
  c.status = yoke_system_run(c.system, 0.2, &sink, &c.summary, c.ctx);
  cosim_expect(&c, YOKE_OK);
  cosim_close(&c);
  return largest;
}

static void linear_problems_leave_no_residual(void **state) {
  (void)state;
  const char *const weighted = "cosimulation.couplings.formulation=weighted";
  CHECK_BELOW(largest_residual(two_mass_file, weighted), 1e-11);
  /* conditions of the spring hold at the mean, too: couplings without sets follow the weights of the joint */
  CHECK_BELOW(largest_residual(three_masses, NULL), 1e-9);
}

static void a_spring_beside_the_joint_keeps_its_order(void **state) {
  (void)state;
  double error[2];
  cosim  reference = cosim_done_monolithic(three_masses, "solvers.default.rtol=1e-12", 0.2);
  for (int i = 0; i < 2; ++i) {
    cosim c  = cosim_done(three_masses, i == 0 ? "cosimulation.step=1e-3" : "cosimulation.step=5e-4", 0.2);
    error[i] = fabs(cosim_value(&c, "m3.x") - cosim_value(&reference, "m3.x"));
    cosim_close(&c);
  }
  cosim_close(&reference);
  assert_true(log2(error[0] / error[1]) > 1.8);
  CHECK_BELOW(error[1], 1e-4);
}

/* Sets by coupling: three of the first joint, two of the second, with weights of their own. */
static void joints_of_different_index_go_together(void **state) {
  (void)state;
  static const char chain[] =
      "yoke: 1\n"
      "t_end: 0.1\n"
      "bodies:\n"
      "  m1: {kind: mass1d, mass: 1, v: 1}\n"
      "  m2: {kind: mass1d, mass: 2, v: 1}\n"
      "  m3: {kind: mass1d, mass: 1.5, v: 1}\n"
      "connections:\n"
      "  wall: {kind: spring-damper, between: [ground, m1], stiffness: 1000, damping: 10, free_length: 0}\n"
      "  j1: {kind: fixed, between: [m1, m2]}\n"
      "  j2: {kind: fixed, between: [m2, m3]}\n"
      "split: {a: [m1], b: [m2], c: [m3]}\n"
      "cosimulation:\n"
      "  {scheme: semi-implicit, order: 0, step: 1e-3,\n"
      "   couplings: {formulation: weighted, j1: {index: 1, a: 0.5, b: 0.25}, j2: {index: 2, a: 2}}}\n"
      "solvers: {default: {rtol: 1e-10}, a: exact, b: exact, c: exact}\n";
  double exact[2] = {0.0, 1.0}, error[2];
  for (int k = 0; k < 100; ++k) advance(4.5, 1000.0, 10.0, 0.0, 0.0, 1e-3, exact);
  for (int i = 0; i < 2; ++i) {
    cosim c  = cosim_done(chain, i == 0 ? "cosimulation.step=1e-3" : "cosimulation.step=5e-4", 0.1);
    error[i] = fabs(cosim_value(&c, "m3.x") - exact[0]);
    cosim_close(&c);
  }
  CHECK_NEAR(log2(error[0] / error[1]), 3.0, 0.1);
}

/* Nonlinear rows; the upper bar has a joint of its own. Lu finds order 3 with degree 0, 4 with degree 1. */
static double pendulum_error(const cosim *reference, int degree, int n_steps) {
  char sets[COSIM_TEXT];
  snprintf(sets, sizeof sets,
           "cosimulation.couplings.formulation=weighted;cosimulation.order=%d;cosimulation.step=0.1/%d;"
           "solvers.default.rtol=1e-12",
           degree, n_steps);
  cosim        c     = cosim_done("examples/double-pendulum.yaml", sets, 0.1);
  const double error = hypot(cosim_value(&c, "upper.angle") - cosim_value(reference, "upper.angle"),
                             cosim_value(&c, "lower.angle") - cosim_value(reference, "lower.angle"));
  cosim_close(&c);
  return error;
}

static void a_double_pendulum_converges_to_the_whole(void **state) {
  (void)state;
  cosim reference = cosim_done_monolithic("examples/double-pendulum.yaml", "solvers.default.rtol=1e-12", 0.1);
  for (int degree = 0; degree <= 1; ++degree) {
    const double coarse = pendulum_error(&reference, degree, 20), fine = pendulum_error(&reference, degree, 40);
    CHECK_NEAR(log2(coarse / fine), 3.0 + degree, 0.1);
    CHECK_BELOW(fine, degree == 0 ? 2e-7 : 2e-10);
  }
  cosim_close(&reference);
}

/* Two rigid bodies in space with a joint whose shares need copies of both orientations: order degree + 1. */
static void joints_in_space_converge_to_the_whole(void **state) {
  (void)state;
  static const char text[] =
      "yoke: 1\n"
      "gravity: [1, -9.81, 2]\n"
      "t_end: 0.08\n"
      "bodies:\n"
      "  a: {kind: rigid, mass: 2, inertia: [0.3, 0.5, 0.4], position: [-0.3, 0, 0], frames: {tip: [0.3, 0.1, 0.05]}}\n"
      "  b: {kind: rigid, mass: 1, inertia: [0.2, 0.1, 0.15], position: [0.4, 0.2, -0.1],\n"
      "      frames: {tip: [-0.4, -0.1, 0.15]}}\n"
      "connections:\n"
      "  hold1: {kind: bushing, between: [ground, a], stiffness: [60, 40, 50, 9, 8, 7], damping: 0.5}\n"
      "  hold2: {kind: bushing, between: [ground, b], stiffness: [30, 50, 40, 4, 6, 5], damping: 0.3}\n"
      "  j: {kind: revolute, between: [a.tip, b.tip]}\n"
      "loads: {twist: {kind: constant, on: a, force: [0, 0, 0], torque: [2, -1.5, 3]}}\n"
      "split: {one: [a], two: [b]}\n"
      "cosimulation: {scheme: semi-implicit, order: 1, step: 4e-3, couplings: {formulation: weighted}}\n"
      "solvers: {default: {kind: dop853, rtol: 1e-12}}\n";
  static const char *const names[]   = {"b.x", "b.y", "b.z"};
  cosim                    reference = cosim_done_monolithic(text, NULL, 0.08);
  double                   error[2]  = {0.0};
  for (int i = 0; i < 2; ++i) {
    cosim c = cosim_done(text, i == 0 ? "cosimulation.step=4e-3" : "cosimulation.step=2e-3", 0.08);
    for (int k = 0; k < 3; ++k)
      error[i] = hypot(error[i], cosim_value(&c, names[k]) - cosim_value(&reference, names[k]));
    cosim_close(&c);
  }
  cosim_close(&reference);
  assert_true(log2(error[0] / error[1]) > 1.8);
  CHECK_BELOW(error[1], 1e-8);
}

/* Li 4.6: all formulations are stable here but this one. The true force stays below 2 N. */
static void a_double_pendulum_with_degree_two_diverges(void **state) {
  (void)state;
  cosim c;
  cosim_open(&c, "examples/double-pendulum.yaml",
             "cosimulation.couplings.formulation=weighted;cosimulation.order=2;cosimulation.step=1e-3");
  cosim_expect(&c, YOKE_OK);
  cosim_run(&c, 0.15, NULL, NULL);
  const yoke_graph *graph = yoke_system_graph(c.system);
  assert_false(c.status == YOKE_OK && hypot(yoke_graph_channel(graph, 0, 0), yoke_graph_channel(graph, 0, 1)) < 20.0);
  cosim_close(&c);
}

/* ---- conditions ---- */

enum { MAX_CONDITIONS = 16 };

typedef struct derivatives {
  double c[MAX_CONDITIONS], u[MAX_CONDITIONS * MAX_CONDITIONS], u_dot[MAX_CONDITIONS * MAX_CONDITIONS],
      u_integral[MAX_CONDITIONS * MAX_CONDITIONS], y[2][MAX_CONDITIONS * YOKE_PORT_MAX_Y];
} derivatives;

static int conditions_of(int set, const yoke_coupling_def *def, yoke_coupling_view view, derivatives *out) {
  const yoke_formulation_ops *ops  = def->formulation;
  void                       *self = NULL;
  assert_int_equal(ops->create(NULL, def, &self), YOKE_OK);
  const int n = ops->n_conditions(self);
  assert_in_range(n, 1, MAX_CONDITIONS);
  yoke_arena scratch = {0};
  view.set           = set;
  view.scratch       = &scratch;
  for (int s = 0; s < 2; ++s) view.n_y[s] = yoke_shape_n_y(def->shape[s]);
  ops->residual(self, &view, out->c);
  ops->jacobian(self, &view, out->u, out->u_dot, out->u_integral, out->y[0], out->y[1]);
  ops->destroy(self);
  yoke_arena_free(&scratch);
  return n;
}

/* A revolute joint in space: five rows, copies of both orientations. Baumgarte sums what the sets state one by one. */
static void sets_are_the_levels_that_baumgarte_adds_up(void **state) {
  (void)state;
  const double       weight[3] = {1.0, 0.3, 0.07};
  yoke_joint_element joint     = {
          .link = {.node = {0, 1}, .axes = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}}};
  joint.n = yoke_joint_rows(YOKE_CONNECTION_REVOLUTE, joint.row);
  for (int i = 0; i < joint.n; ++i) joint.own[i] = i;
  const yoke_coupling_settings weights = own_start("weighted");
  yoke_coupling_settings       times   = own_start("baumgarte");
  own_set(&times, "beta", weight[1]);
  own_set(&times, "gamma", weight[2]);
  yoke_coupling_def def               = {.name        = "c",
                                         .formulation = yoke_formulation_find("baumgarte"),
                                         .joint       = &joint,
                                         .shape       = {&yoke_shape_frame, &yoke_shape_frame},
                                         .settings    = &times};
  double            u[MAX_CONDITIONS] = {0.0}, y[2][YOKE_PORT_MAX_Y];
  for (int k = 0; k < MAX_CONDITIONS; ++k) u[k] = cos(3.0 * k);
  for (int s = 0; s < 2; ++s) {
    for (int k = 0; k < YOKE_PORT_MAX_Y; ++k) y[s][k] = sin(1.0 + 2.0 * k + 5.0 * s);
  }
  const yoke_coupling_view view = {
      .H = 0.01, .u = u, .u_dot = u, .u_integral = u, .y = {y[0], y[1]}, .y_old = {y[0], y[1]}};
  derivatives sum, set[3];
  const int   n   = conditions_of(0, &def, view, &sum);
  def.formulation = yoke_formulation_find("weighted");
  def.settings    = &weights;
  for (int l = 0; l < 3; ++l) assert_int_equal(conditions_of(l, &def, view, &set[l]), n);
  for (int r = 0; r < joint.n; ++r) {
    CHECK_NEAR(set[0].c[r] + weight[1] * set[1].c[r] + weight[2] * set[2].c[r], sum.c[r],
               1e-14 * (1.0 + fabs(sum.c[r])));
    for (int s = 0; s < 2; ++s) {
      const int ny = yoke_shape_n_y(&yoke_shape_frame);
      for (int k = r * ny; k < (r + 1) * ny; ++k)
        CHECK_NEAR(set[0].y[s][k] + weight[1] * set[1].y[s][k] + weight[2] * set[2].y[s][k], sum.y[s][k], 1e-13);
    }
  }
  for (int r = joint.n; r < n; ++r) { /* copies are not differentiated */
    for (int l = 0; l < 3; ++l) CHECK_NEAR(set[l].c[r], sum.c[r], 0.0);
  }
}

/* ---- refusals and warnings ---- */

static const yoke_joint_element rigid_link = {
    .link = {.node = {0, 1}, .axes = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}},
    .n    = 1,
    .row  = {{YOKE_ROW_STRETCH, 0, 0}},
};

static yoke_coupling_settings with_weights(int index, double a, double b) {
  yoke_coupling_settings settings = own_start("weighted");
  own_set(&settings, "index", index);
  own_set(&settings, "a", a);
  own_set(&settings, "b", b);
  return settings;
}

/* `part` of the one message that the check leaves; NULL: none. */
static void check_says(yoke_coupling_settings settings, const char *scheme, int order, yoke_status status,
                       const char *part) {
  const yoke_coupling_def def = {.name        = "c",
                                 .formulation = yoke_formulation_find("weighted"),
                                 .joint       = &rigid_link,
                                 .shape       = {&yoke_shape_line, &yoke_shape_line},
                                 .settings    = &settings};
  yoke_context           *ctx = NULL;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(def.formulation->check(ctx, &def, traits_of(scheme), order), status);
  assert_int_equal((int)yoke_context_n_messages(ctx), part != NULL);
  if (part != NULL && strstr(yoke_context_message(ctx, 0), part) == NULL)
    fail_msg("'%s' lacks '%s'", yoke_context_message(ctx, 0), part);
  yoke_context_destroy(&ctx);
}

static void what_cannot_be_is_refused_with_a_reason(void **state) {
  (void)state;
  check_says(with_weights(1, 1.0, 1.0), "implicit", 1, YOKE_E_USAGE, "no common solution");
  check_says(with_weights(1, 1.0, 1.0), "explicit", 1, YOKE_E_USAGE, "no explicit form");
  check_says(with_weights(1, 1.0, 1.0), "semi-implicit", 6, YOKE_E_USAGE, "order is 6");
  check_says(with_weights(4, 1.0, 1.0), "semi-implicit", 1, YOKE_E_USAGE, "index is 4");
  check_says(with_weights(1, 1.0, 0.0), "semi-implicit", 1, YOKE_E_USAGE, "weight b is 0");
  check_says(with_weights(2, -1.0, 0.0), "semi-implicit", 0, YOKE_E_USAGE, "weight a is -1");
  check_says(with_weights(1, (double)NAN, 1.0), "semi-implicit", 0, YOKE_E_USAGE, "weight a is nan");
  check_says(with_weights(3, 0.0, 0.0), "semi-implicit", 0, YOKE_OK, NULL);
}

static void broyden_is_refused_with_a_reason(void **state) {
  (void)state;
  cosim c;
  cosim_open(&c, two_mass_file, "cosimulation.couplings.formulation=weighted;cosimulation.jacobian=broyden");
  assert_int_not_equal(c.status, YOKE_OK);
  bool found = false;
  for (size_t i = 0; i < yoke_context_n_messages(c.ctx); ++i)
    found = found || strstr(yoke_context_message(c.ctx, i), "broyden") != NULL;
  assert_true(found);
  cosim_close(&c);
}

/* The factors of Li 8.5 and Lu A stand in the warnings. */
static void what_is_not_zero_stable_warns_and_names_another(void **state) {
  (void)state;
  static const struct {
    int         index;
    double      a, b;
    int         order;
    const char *factor; /* NULL: zero-stable */
  } rows[] = {
      {1, 1.0, 1.0, 0, NULL},        {1, 1.0, 1.0, 1, NULL},
      {1, 1.0, 1.0, 2, "by 1.13 "},  {1, 0.5, 0.25, 1, "by 1.76 "},
      {1, 0.5, 0.25, 2, "by 2.91 "}, {1, 0.499, 0.499, 1, "use a = 1, b = 1"},
      {1, 0.501, 0.501, 1, NULL},    {1, 1.110, 1.110, 2, "use a = 2.5, b = 5"},
      {1, 1.112, 1.112, 2, NULL},    {1, 2.5, 5.0, 2, NULL},
      {1, 2.5, 5.0, 3, NULL},        {1, 4.0, 12.0, 4, NULL},
      {1, 5.0, 20.0, 5, NULL},       {1, 2.5, 5.0, 5, "use a = 5, b = 20"},
      {2, 1.0, 1.0, 0, NULL},        {2, 0.5, 0.0, 1, "by 2.54 "},
      {2, 1.0, 0.0, 1, "by 2 "},     {2, 2.5, 0.0, 1, "by 1.44 "},
      {2, 5.0, 0.0, 2, "by 2.06 "},  {3, 1.0, 1.0, 0, NULL},
      {3, 1.0, 1.0, 1, "by 3.73 "},  {3, 1.0, 1.0, 2, "by 5.34 "},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    const yoke_coupling_settings settings = with_weights(rows[i].index, rows[i].a, rows[i].b);
    check_says(settings, "semi-implicit", rows[i].order, YOKE_OK, rows[i].factor);
    if (rows[i].factor != NULL) check_says(settings, "semi-implicit", rows[i].order, YOKE_OK, "stabilized-index-2");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_and_orders_are_those_of_li),
      cmocka_unit_test(what_li_calls_unstable_diverges),
      cmocka_unit_test(weights_that_warnings_name_are_stable),
      cmocka_unit_test(end_values_are_those_of_lu),
      cmocka_unit_test(on_the_linear_oscillator_weights_are_times_of_baumgarte),
      cmocka_unit_test(linear_problems_leave_no_residual),
      cmocka_unit_test(a_spring_beside_the_joint_keeps_its_order),
      cmocka_unit_test(joints_of_different_index_go_together),
      cmocka_unit_test(a_double_pendulum_converges_to_the_whole),
      cmocka_unit_test(joints_in_space_converge_to_the_whole),
      cmocka_unit_test(a_double_pendulum_with_degree_two_diverges),
      cmocka_unit_test(sets_are_the_levels_that_baumgarte_adds_up),
      cmocka_unit_test(what_cannot_be_is_refused_with_a_reason),
      cmocka_unit_test(broyden_is_refused_with_a_reason),
      cmocka_unit_test(what_is_not_zero_stable_warns_and_names_another),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
