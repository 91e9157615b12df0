/* The example models against their reference solutions: default tolerances and rtol 1e-11, by every kind of solver. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "check.h"
#include "examples/run_model.h"

typedef struct expected {
  const char *name;
  double      value;
  double      loose, tight; /* allowed error at rtol 1e-8 and at 1e-11 */
} expected;

typedef struct benchmark {
  const char       *path;
  const char *const sets[4];
  double            t_end;
  expected          values[12];
} benchmark;

/* Exact, by elliptic functions. */
static const benchmark pendulum_early = {
    "examples/pendulum.yaml",
    {NULL},
    1.0,
    {{"bob.x", -0.98629175113188, 1e-6, 1e-9}, {"bob.y", -0.16501085312554, 1e-6, 1e-9}}};
static const benchmark pendulum_late = {
    "examples/pendulum.yaml",
    {NULL},
    10.0,
    {{"bob.x", 0.27508746257612, 1e-6, 1e-9}, {"bob.y", -0.96141920509913, 1e-6, 1e-9}}};

/* The equation of its one freedom; passes ten or so singular positions. The tip is at twice the centre of the rod. */
static const benchmark n_four_bar = {"examples/n-four-bar.yaml",
                                     {NULL},
                                     10.0,
                                     {{"crank[1].x", 0.3284581115 / 2, 1e-3, 1e-6},
                                      {"crank[1].y", 0.9445185382 / 2, 1e-3, 1e-6},
                                      {"crank[1].vx", 1.4230514702 / 2, 1e-3, 1e-6},
                                      {"crank[1].vy", -0.4948688455 / 2, 1e-3, 1e-6}}};

/* IVP test set; body angles are sums of the literature's angles. */
static const benchmark squeezer = {"examples/squeezer.yaml",
                                   {NULL},
                                   0.03,
                                   {{"k1.angle", 15.81077119629904, 1e-5, 1e-7},
                                    {"k2.angle", 15.81077119629904 - 15.75637105984298, 1e-5, 1e-7},
                                    {"k3.angle", 0.04082224013073101, 1e-5, 1e-7},
                                    {"k4.angle", -0.5347301163226948 + 0.5244099658805304, 1e-5, 1e-7},
                                    {"k5.angle", 0.5244099658805304, 1e-5, 1e-7},
                                    {"k6.angle", 0.5347301163226948 + 1.048080741042263, 1e-5, 1e-7},
                                    {"k7.angle", 1.048080741042263, 1e-5, 1e-7},
                                    {"k1.omega", 1139.920302151208, 1e-4, 1e-5},
                                    {"k3.omega", 11.03291221937134, 1e-4, 1e-5},
                                    {"k7.omega", 0.3231791658026955, 1e-4, 1e-5}}};

static const benchmark heavy_top_early = {
    "examples/heavy-top.yaml",
    {NULL},
    0.5,
    {{"top.x", -0.702468297, 1e-6, 1e-9}, {"top.y", -0.021165185, 1e-6, 1e-9}, {"top.z", -0.711400258, 1e-6, 1e-9}}};
static const benchmark heavy_top_late = {
    "examples/heavy-top.yaml",
    {NULL},
    1.0,
    {{"top.x", 0.173343964, 1e-6, 1e-9}, {"top.y", 0.640088592, 1e-6, 1e-9}, {"top.z", -0.748490791, 1e-6, 1e-9}}};

/* Tip of the last rod, computed in minimal coordinates; six digits are known. */
static const benchmark chain_10 = {
    "examples/pendulum-chain.yaml", {NULL}, 1.0, {{"tip.x", 7.527452, 1e-6, 1e-6}, {"tip.y", -4.906175, 1e-6, 1e-6}}};
static const benchmark chain_100 = {"examples/pendulum-chain.yaml",
                                    {"parameters.N=100", NULL},
                                    1.0,
                                    {{"tip.x", 99.037538, 1e-6, 1e-6}, {"tip.y", -4.905000, 1e-6, 1e-6}}};

/* Tip of the last rod of the pendulum chain from the pose of the rod: C = r + R (1/2, 0, 0). */
static double tip(const model_run *run, char axis) {
  char      name[32];
  double    q[4];
  const int n = run->model->n_bodies;
  for (int k = 0; k < 4; ++k) {
    snprintf(name, sizeof name, "rod[%d].q%d", n, k);
    q[k] = run_value(run, name);
  }
  snprintf(name, sizeof name, "rod[%d].%c", n, axis);
  const double r = run_value(run, name);
  return axis == 'x' ? r + 0.5 * (1.0 - 2.0 * (q[2] * q[2] + q[3] * q[3])) : r + (q[1] * q[2] + q[0] * q[3]);
}

/* rtol 0: the default. */
static void check_benchmark_at(const benchmark *b, const char *solver, double rtol, bool tight) {
  model_run run = run_file(b->path, b->sets, solver, rtol, b->t_end);
  for (const expected *e = b->values; e->name != NULL; ++e) {
    const double value   = strncmp(e->name, "tip.", 4) == 0 ? tip(&run, e->name[4]) : run_value(&run, e->name);
    const double allowed = tight ? e->tight : e->loose;
    if (!(fabs(value - e->value) <= allowed)) {
      fail_msg("%s with %s: %s = %.15g, expected %.15g, off by %.2g, allowed %.2g", b->path, solver, e->name, value,
               e->value, value - e->value, allowed);
    }
  }
  run_end(&run);
}

static void check_benchmark(const benchmark *b, const char *solver, bool tight) {
  check_benchmark_at(b, solver, tight ? 1e-11 : 0.0, tight);
}

static void check_all_solvers(const benchmark *b) {
  static const char *const solvers[] = {"auto", "dop853", "radau5", "bdf"};
  for (size_t s = 0; s < sizeof solvers / sizeof solvers[0]; ++s) {
    check_benchmark(b, solvers[s], false);
    check_benchmark(b, solvers[s], true);
  }
}

static void pendulum_follows_elliptic_functions(void **state) {
  (void)state;
  check_all_solvers(&pendulum_early);
  check_all_solvers(&pendulum_late);
}

static void n_four_bar_passes_singular_positions(void **state) {
  (void)state;
  check_all_solvers(&n_four_bar);
}

/* All rods of a kind move alike, with one angle, so N of them obey the equation of its one freedom: energies of N + 1 cranks about their
 * bases and N couplers give, with L = m = 1,  v^2 ((N + 1)/3 + N)/2 + g y ((N + 1)/2 + N) = constant  for the speed v and height y of a tip. */
static double tip_energy(const model_run *run, int n) {
  const double vx = 2 * run_value(run, "crank[1].vx"), vy = 2 * run_value(run, "crank[1].vy");
  const double y = 2 * run_value(run, "crank[1].y");
  return 0.5 * (vx * vx + vy * vy) * ((n + 1) / 3.0 + n) + 9.81 * y * (0.5 * (n + 1) + n);
}

static void f20_forty_four_bars_pass_singular_positions_at_1e_10(void **state) {
  (void)state;
  enum { N = 40 };
  static const char *const solvers[] = {"auto", "dopri5", "dop853", "radau5", "bdf"};
  static const char *const sets[]    = {"parameters.N=40", "solvers.default.atol=1e-10", NULL};
  const double             energy    = 0.5 * ((N + 1) / 3.0 + N) + 9.81 * (0.5 * (N + 1) + N);
  for (size_t s = 0; s < sizeof solvers / sizeof solvers[0]; ++s) {
    model_run run = run_file("examples/n-four-bar.yaml", sets, solvers[s], 1e-10, 1.5); /* two of them */
    CHECK_NEAR(tip_energy(&run, N), energy, 1e-6 * energy);
    assert_true(run.summary.counters.evaluations < 8000);
    run_end(&run);
  }
}

static void squeezer_meets_the_test_set(void **state) {
  (void)state;
  check_all_solvers(&squeezer);
}

static void heavy_top_meets_its_reference(void **state) {
  (void)state;
  check_all_solvers(&heavy_top_early);
  check_all_solvers(&heavy_top_late);
}

static void pendulum_chain_meets_its_reference(void **state) {
  (void)state;
  check_all_solvers(&chain_10);
  check_benchmark(&chain_100, "auto", false);
  check_benchmark(&chain_100, "bdf", false);
}

#ifdef YOKE_WITH_SUNDIALS
/* The independent oracle: IDA on the same equations, its own steps and Newton. It controls the local error more loosely,
 * so it gets a third of our default rtol. */
static void ida_agrees_with_our_solvers(void **state) {
  (void)state;
  check_benchmark_at(&pendulum_early, "ida", 3e-9, false);
  check_benchmark_at(&heavy_top_early, "ida", 3e-9, false);
  check_benchmark_at(&squeezer, "ida", 3e-9, false);
  check_benchmark_at(&chain_10, "ida", 3e-9, false);
}
#endif

/* Free fall: y = -g t^2/2, so its integral over 2 s is -g 2^3/6. */
static void integrals_of_positions_come_on_request(void **state) {
  (void)state;
  static const char model[] = "yoke: 1\nt_end: 2\ngravity: [0, -9.81, 0]\nbodies: {stone: {kind: particle, mass: 1}}\n"
                              "output: {integrals: [stone.y]}\n";
  static const char *const solvers[] = {"auto", "dop853", "abm", "radau5", "bdf"};
  for (size_t s = 0; s < sizeof solvers / sizeof solvers[0]; ++s) {
    model_run run = run_text(model, NULL, solvers[s], 1e-10, 0.0);
    CHECK_NEAR(run_value(&run, "stone.y.integral"), -9.81 * 8.0 / 6.0, 1e-8);
    run_end(&run);
  }
}

static void bare_chain_shows_its_mechanical_energy(void **state) {
  (void)state;
  model_run run = run_file("examples/chain-imp.yaml", NULL, NULL, 0.0, 1e-5);
  CHECK_NEAR(run_value(&run, "total.energy"), run_value(&run, "total.kinetic") + run_value(&run, "total.potential"),
             0.0);
  run_end(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pendulum_follows_elliptic_functions),
      cmocka_unit_test(n_four_bar_passes_singular_positions),
      cmocka_unit_test(f20_forty_four_bars_pass_singular_positions_at_1e_10),
      cmocka_unit_test(squeezer_meets_the_test_set),
      cmocka_unit_test(heavy_top_meets_its_reference),
      cmocka_unit_test(pendulum_chain_meets_its_reference),
      cmocka_unit_test(bare_chain_shows_its_mechanical_energy),
      cmocka_unit_test(integrals_of_positions_come_on_request),
#ifdef YOKE_WITH_SUNDIALS
      cmocka_unit_test(ida_agrees_with_our_solvers),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
