/* Any size of model: a run takes the same steps in metres, kilograms and seconds as in any other units, since all that has no size yet is
 * measured by the length, mass and time of the model itself (F16, F17). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "cosimulate.h"

/* A four-bar on a spring; the joint between crank and coupler is cut. */
static const char four_bar[] =
    "yoke: 1\n"
    "parameters: {L: 1, M: 1, T: 1}\n"
    "gravity: [0, -9.81*L/T^2, 0]\n"
    "t_end: 0.5*T\n"
    "bodies:\n"
    "  crank: {kind: planar, mass: M, inertia: M*(0.15*L)^2/12, angle: 90 deg, position: [0, 0.075*L],\n"
    "          frames: {a: [-0.075*L, 0], b: [0.075*L, 0]}}\n"
    "  coupler: {kind: planar, mass: 2*M, inertia: 2*M*(0.35*L)^2/12, position: [0.175*L, 0.15*L],\n"
    "            frames: {a: [-0.175*L, 0], b: [0.175*L, 0]}}\n"
    "  rocker: {kind: planar, mass: 1.5*M, inertia: 1.5*M*(0.3*L)^2/12, angle: 60 deg,\n"
    "           position: [0.275*L, 0.15*L*(1 - sin(60 deg))], frames: {a: [-0.15*L, 0], b: [0.15*L, 0]}}\n"
    "connections:\n"
    "  j1: {kind: revolute, between: [ground, crank.a]}\n"
    "  j2: {kind: revolute, between: [crank.b, coupler.a]}\n"
    "  j3: {kind: revolute, between: [coupler.b, rocker.b]}\n"
    "  j4: {kind: revolute, between: [[0.2*L, 0.15*L - 0.3*L*sin(60 deg)], rocker.a]}\n"
    "  s: {kind: spring-damper, between: [[0.2*L, -0.1*L], coupler.b], stiffness: 100*M/T^2, damping: 0.5*M/T,\n"
    "      free_length: 0.2*L}\n"
    "split: {p: [crank], q: [coupler, rocker]}\n";

/* Two plates on a bushing and a spring, both cut; a moment moves one of them. */
static const char plates[] =
    "yoke: 1\n"
    "parameters: {L: 1, M: 1, T: 1}\n"
    "t_end: 1*T\n"
    "bodies:\n"
    "  crank: {kind: planar, mass: M, inertia: 0.1*M*L^2, frames: {b: [L, 0]}}\n"
    "  other: {kind: planar, mass: M, inertia: 0.2*M*L^2, position: [2*L, 0],\n"
    "          frames: {a: [-L, 0], b: [-L, 0.3*L]}}\n"
    "connections:\n"
    "  hold: {kind: bushing, between: [ground, crank], stiffness: [50*M/T^2, 50*M/T^2, 0, 0, 0, 5*M*L^2/T^2]}\n"
    "  cut: {kind: bushing, between: [crank.b, other.a], stiffness: [100*M/T^2, 100*M/T^2, 0, 0, 0, 10*M*L^2/T^2],\n"
    "        damping: [2*M/T, 2*M/T, 0, 0, 0, 0.2*M*L^2/T]}\n"
    "  link: {kind: spring-damper, between: [crank.b, other.b], stiffness: 30*M/T^2, damping: M/T, free_length: "
    "0.1*L}\n"
    "loads: {drive: {kind: expression, on: crank, torque: 10*M*L^2/T^2*sin(3*t/T)}}\n"
    "split: {p: [crank], q: [other]}\n";

typedef struct outcome {
  int64_t steps, iterations;
  double  angle;
} outcome;

static outcome run_scaled(const char *model, const char *sets, double L, double M, double T) {
  char         all[512];
  const double atol = 1e-12 * fmin(fmin(L, L / T), fmin(1.0, 1.0 / T)); /* of the solvers: the user's */
  snprintf(all, sizeof all,
           "parameters.L=%g;parameters.M=%g;parameters.T=%g;solvers.default.rtol=1e-9;solvers.default.atol=%g;%s", L, M,
           T, atol, sets);
  cosim         c   = cosim_done(model, all, 0.0);
  const outcome out = {.steps      = c.summary.macro.steps,
                       .iterations = c.summary.macro.iterations,
                       .angle      = cosim_value(&c, "crank.angle")};
  cosim_close(&c);
  return out;
}

static void check_sizes(const char *model, const char *sets) {
  static const double sizes[][3] = {{1e-5, 1e-8, 1.0}, {1e-5, 1e-8, 1e-4}, {1e3, 1e6, 30.0}};
  const outcome       unit       = run_scaled(model, sets, 1.0, 1.0, 1.0);
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    const outcome other   = run_scaled(model, sets, sizes[i][0], sizes[i][1], sizes[i][2]);
    const bool    is_slow = (double)other.iterations > 1.05 * (double)unit.iterations;
    if (other.steps != unit.steps || is_slow || !(fabs(other.angle - unit.angle) < 1e-6))
      fail_msg("%s: %lld steps, %lld iterations and %.9g, in other units %lld, %lld and %.9g", sets,
               (long long)unit.steps, (long long)unit.iterations, unit.angle, (long long)other.steps,
               (long long)other.iterations, other.angle);
  }
}

static void f16_step_control_takes_the_same_steps_at_any_size(void **state) {
  (void)state;
  check_sizes(four_bar, "cosimulation.step={rtol: 1e-4, budget: 0}");
  check_sizes(plates, "cosimulation.step={rtol: 1e-4, budget: 0}");
  check_sizes(plates, "cosimulation.step={rtol: 1e-4, estimator: cv};cosimulation.order=auto");
  check_sizes(plates, "cosimulation.step={rtol: 1e-3};cosimulation.scheme=explicit");
  check_sizes(
      plates,
      "cosimulation.step={rtol: 1e-4, budget: 0};cosimulation.couplings.decomposition=displacement/displacement");
}

static void f16_perturbed_integrations_serve_at_any_size(void **state) {
  (void)state;
  const char *const sets = "cosimulation.step={rtol: 1e-4, budget: 0};cosimulation.jacobian=finite-difference";
  check_sizes(four_bar, sets);
  check_sizes(plates, sets);
}

static void f16_extension_d_is_the_same_at_any_size(void **state) {
  (void)state;
  check_sizes(plates, "cosimulation.step=0.01*T;cosimulation.scheme=implicit;cosimulation.couplings.extension=d");
}

static void f17_large_moments_at_the_start_are_no_divergence(void **state) {
  (void)state;
  static const char        discs[] = "yoke: 1\n"
                                     "t_end: 10\n"
                                     "bodies:\n"
                                     "  a: {kind: planar, mass: 5e6, inertia: 4.8e12, omega: 5.84}\n"
                                     "  b: {kind: planar, mass: 5e6, inertia: 4.8e12}\n"
                                     "connections:\n"
                                     "  ha: {kind: revolute, between: [ground, a]}\n"
                                     "  hb: {kind: revolute, between: [ground, b]}\n"
                                     "  shaft: {kind: torsion-spring, between: [a, b], stiffness: 1e12, damping: 2.5e12}\n"
                                     "split: {p: [a], q: [b]}\n";
  static const char *const sets[]  = {"cosimulation.step=auto", "cosimulation.step=0.01",
                                      "cosimulation.step=0.01;cosimulation.scheme=explicit"};
  for (int i = 0; i < 3; ++i) {
    cosim c = cosim_done(discs, sets[i], 0.0);
    CHECK_NEAR(cosim_value(&c, "a.omega") + cosim_value(&c, "b.omega"), 5.84,
               1e-3); /* what the shaft takes, it gives */
    cosim_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(f16_step_control_takes_the_same_steps_at_any_size),
      cmocka_unit_test(f16_perturbed_integrations_serve_at_any_size),
      cmocka_unit_test(f16_extension_d_is_the_same_at_any_size),
      cmocka_unit_test(f17_large_moments_at_the_start_are_no_divergence),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
