/* Formulation overlap between bodies with force elements: order, nets, clusters of joints, estimate and step control, stability, energies, events, refusals. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "overlapped.h"

#define SOLVER "solvers: {default: {kind: dopri5, rtol: 1e-11}}\n"

/* Masses on a line with springs alone, as the chain of test_overlap.c, but every mass a body. */
#define LINE(damping, rest)                                                                                            \
  "yoke: 1\nt_end: 0.5\nbodies:\n  m: {kind: mass1d, count: 12, mass: '1 + 0.01*i', position: 'sin(0.9*i)', "          \
  "velocity: "                                                                                                         \
  "'cos(0.4*i)'}\nconnections:\n  s: {kind: spring-damper, count: 11, between: ['m[i]', 'm[i+1]'], stiffness: '100 + " \
  "i', "                                                                                                               \
  "damping: " damping ", free_length: 0}\n" rest

static const char line[] = LINE("0", "split: {l: ['m[1..6]'], r: ['m[7..12]']}\nsolvers: {default: exact}\n");

/* Rigid bodies in pairs with a hinge, bushings between the pairs. */
#define ROW(rest)                                                                                                      \
  "yoke: 1\nt_end: 0.3\ngravity: [0, 0, -9.81]\nbodies:\n  b: {kind: rigid, count: 12, mass: '1 + 0.02*i', inertia: "  \
  "[0.02, "                                                                                                            \
  "0.03, 0.025], position: ['0.5*i', 0, 0], frames: {l: [-0.25, 0, 0], r: [0.25, 0, 0]}}\nconnections:\n"              \
  "  h: {kind: revolute, count: 6, between: ['b[2*i-1].r', 'b[2*i].l'], axis: [0, 1, 0]}\n"                            \
  "  u: {kind: bushing, count: 5, between: ['b[2*i].r', 'b[2*i+1].l'], stiffness: [3000, 3000, 3000, 100, 100, 100], " \
  "damping: [3, 3, 3, 0.1, 0.1, 0.1]}\n"                                                                               \
  "  a: {kind: bushing, between: [[0.25, 0, 0], 'b[1].l'], stiffness: [3000, 3000, 3000, 100, 100, 100], damping: "    \
  "[3, "                                                                                                               \
  "3, 3, 0.1, 0.1, 0.1]}\n"                                                                                            \
  "split: {l: ['b[1..6]'], r: ['b[7..12]']}\n" rest

static const char row[] = ROW("loads: {push: {kind: expression, on: 'b[7]', force: [0, '10*sin(20*t)', 5]}}\n" SOLVER);

/* A net of five by six particles in four parts, the second one a single row thick. */
static const char net[] =
    "yoke: 1\nt_end: 0.3\ngravity: [0, 0, -9.81]\nbodies:\n"
    "  p: {kind: particle, count: 30, mass: '0.1 + 0.001*i', position: ['floor((i-1)/6)', 'i - 1 - 6*floor((i-1)/6)', "
    "'0.1*sin(i)']}\nconnections:\n"
    "  a: {kind: spring-damper, count: 24, between: ['p[i]', 'p[i+6]'], stiffness: 40, damping: 0.02}\n"
    "  r1: {kind: spring-damper, count: 5, between: ['p[i]', 'p[i+1]'], stiffness: 30, damping: 0.02}\n"
    "  r2: {kind: spring-damper, count: 5, between: ['p[6+i]', 'p[7+i]'], stiffness: 30, damping: 0.02}\n"
    "  r3: {kind: spring-damper, count: 5, between: ['p[12+i]', 'p[13+i]'], stiffness: 30, damping: 0.02}\n"
    "  r4: {kind: spring-damper, count: 5, between: ['p[18+i]', 'p[19+i]'], stiffness: 30, damping: 0.02}\n"
    "  r5: {kind: spring-damper, count: 5, between: ['p[24+i]', 'p[25+i]'], stiffness: 30, damping: 0.02}\n"
    "  hold: {kind: spring-damper, between: [ground, 'p[1]'], stiffness: 50}\n"
    "split: {one: ['p[1..12]'], two: ['p[13..18]'], three: ['p[19..24]'], four: ['p[25..30]']}\n" SOLVER;

/* ---- accuracy ---- */

static void the_order_without_damping_is_that_of_the_edge_and_two_for_every_ring(void **state) {
  (void)state;
  static const struct { int halo, degree; } cases[] = {{1, 0}, {2, 0}, {2, 1}, {3, 1}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    double error[2];
    for (int i = 0; i < 2; ++i) {
      char sets[COSIM_TEXT];
      snprintf(sets, sizeof sets,
               OVERLAP "cosimulation.couplings.halo=%d;cosimulation.order=%d;cosimulation.start=exact;"
                       "cosimulation.step=1/%d",
               cases[k].halo, cases[k].degree, 30 << i);
      error[i] = error_of(line, sets);
    }
    CHECK_ORDER(error, 2, 2.0 * cases[k].halo + cases[k].degree + 1.0, 0.3);
  }
}

/* A ring ends at force elements, so that hinged pairs are in it as a whole: two rings of two bodies each. */
static void rigid_bodies_with_joints_and_loads_in_the_halo_converge_to_the_whole_model(void **state) {
  (void)state;
  double error[2];
  for (int i = 0; i < 2; ++i) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets, OVERLAP "cosimulation.couplings.halo=2;cosimulation.step=%g", i == 0 ? 0.01 : 0.005);
    error[i] = error_of(row, sets);
  }
  print_message("errors %.3g, %.3g\n", error[0], error[1]);
  CHECK_BELOW(error[1], 1e-6);
  CHECK_BELOW(error[1], error[0] / 10.0);
  CHECK_BELOW(error_of(row, OVERLAP "cosimulation.couplings.halo=2;cosimulation.step=0.005;cosimulation.predictor="
                                    "acceleration"),
              1e-6);
}

static void a_halo_reaches_through_a_thin_part_into_the_next_one(void **state) {
  (void)state;
  cosim c       = cosim_done(net, OVERLAP "cosimulation.couplings.halo=2;cosimulation.step=0.01", 0.0);
  bool  reaches = false; /* a body of `three` in the halo of `one` */
  for (int k = 0; k < c.plan->n_couplings; ++k)
    reaches = reaches || (c.plan->couplings[k].part[0] == 2 && c.plan->couplings[k].part[1] == 0 &&
                          c.plan->couplings[k].halo.ring == 2);
  assert_true(reaches);
  cosim_close(&c);
  const double narrow = error_of(net, OVERLAP "cosimulation.couplings.halo=1;cosimulation.step=0.01"),
               wide   = error_of(net, OVERLAP "cosimulation.couplings.halo=2;cosimulation.step=0.01");
  print_message("errors %.3g, %.3g\n", narrow, wide);
  CHECK_BELOW(wide, 1e-6);
  CHECK_BELOW(wide, narrow / 30.0);
}

/* Nothing is behind the halos: both subsystems are the whole model, and no coupling carries a value. */
static void halos_that_hold_everything_have_no_error_but_that_of_the_solvers(void **state) {
  (void)state;
  cosim c     = cosim_done("examples/two-mass.yaml", OVERLAP "cosimulation.scheme=explicit;cosimulation.step=0.1", 1.0),
        whole = cosim_done_monolithic("examples/two-mass.yaml", NULL, 1.0);
  CHECK_BELOW(off(&c, &whole), 1e-8);
  cosim_close(&c);
  cosim_close(&whole);
}

static void solvers_of_every_kind_go_on_behind_the_exchange(void **state) {
  (void)state;
  static const char *const solvers[] = {"dop853", "abm", "radau5", "bdf", "auto"};
  for (size_t k = 0; k < sizeof solvers / sizeof *solvers; ++k) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets,
             OVERLAP "cosimulation.couplings.halo=2;cosimulation.step=0.01;t_end=0.1;solvers.default.kind=%s;"
                     "solvers.default.rtol=1e-8",
             solvers[k]);
    cosim c = cosim_done(row, sets, 0.0), whole = cosim_done_monolithic(row, "t_end=0.1", 0.0);
    CHECK_BELOW(off(&c, &whole), 1e-4);
    cosim_close(&c);
    cosim_close(&whole);
  }
}

/* ---- estimate and step control ---- */

static void step_control_follows_the_tolerance(void **state) {
  (void)state;
  double error[3];
  for (int i = 0; i < 3; ++i) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets, OVERLAP "cosimulation.couplings.halo=2;cosimulation.step={rtol: 1e-%d}", 3 + i);
    error[i] = error_of(row, sets);
    print_message("rtol 1e-%d: error %.3g\n", 3 + i, error[i]);
    CHECK_BELOW(error[i], 1e-2 * pow(0.1, i)); /* of about 1 m */
    if (i > 0) CHECK_BELOW(error[i], 0.3 * error[i - 1]);
  }
}

static void copies_tell_the_error_of_every_fixed_step(void **state) {
  (void)state;
  cosim c                       = cosim_done(net, OVERLAP "cosimulation.couplings.halo=2;cosimulation.step=0.03", 0.0),
        whole                   = cosim_done_monolithic(net, NULL, 0.0);
  const yoke_error_tally *tally = yoke_monitor_tally(yoke_system_monitor(c.system));
  const double            error = off(&c, &whole);
  double                  estimate = 0.0;
  for (int w = 0; w < c.plan->n_couplings; ++w) estimate = fmax(estimate, yoke_error_tally_coupling(tally, w));
  print_message("estimated %.3g of the spread, true %.3g\n", estimate, error);
  CHECK_BELOW(error, 10.0 * estimate);
  CHECK_BELOW(estimate, 100.0 * error);
  cosim_close(&c);
  cosim_close(&whole);
}

static void any_number_of_threads_gives_the_same_bits(void **state) {
  (void)state;
  const char *const sets = OVERLAP "cosimulation.couplings.halo=2;cosimulation.step={rtol: 1e-4};t_end=0.1";
  cosim             one;
  cosim_open_with(&one, net, sets, "serial", 1);
  cosim_run(&one, 0.0, NULL, NULL);
  cosim_expect(&one, YOKE_OK);
  for (int threads = 2; threads <= 3; ++threads) {
    cosim c;
    cosim_open_with(&c, net, sets, "threads", threads);
    cosim_run(&c, 0.0, NULL, NULL);
    cosim_expect(&c, YOKE_OK);
    CHECK_NEAR(off(&c, &one), 0.0, 0.0);
    cosim_close(&c);
  }
  cosim_close(&one);
}

/* ---- stability ---- */

/* Both subsystems are the whole model: nothing but its own motion is in the map. */
static void halos_that_hold_everything_amplify_as_the_model_does(void **state) {
  (void)state;
  const yoke_stability_point point =
      stability_of("examples/two-mass.yaml", OVERLAP "cosimulation.scheme=explicit;cosimulation.step=0.1");
  CHECK_BELOW(point.model, 1.0 - 1e-3);
  CHECK_NEAR(point.rho, point.model, 1e-12);
}

/* Discs on a shaft, as masses on a line. */
#define STEPS_OF(predictor, H)                                                                                         \
  OVERLAP "cosimulation.couplings.halo=1;cosimulation.order=1;cosimulation.predictor=" predictor ";cosimulation."      \
          "step=" H

static const char shaft[] =
    "yoke: 1\nt_end: 9\nbodies:\n  m: {kind: mass1d, count: 6, mass: 0.2, position: i, velocity: "
    "'i/4'}\nconnections:\n  "
    "s: {kind: spring-damper, count: 5, between: ['m[i]', 'm[i+1]'], stiffness: 100, damping: 0.05, free_length: 1}\n"
    "split: {l: ['m[1..3]'], r: ['m[4..6]']}\nsolvers: {default: exact}\n";

/* The dominant eigenvalue is real and negative there. */
static void a_run_grows_by_the_radius_in_every_step(void **state) {
  (void)state;
  const double rho = stability_of(shaft, STEPS_OF("extrapolation", "0.3")).rho;
  double       v[3];
  for (int i = 0; i < 3; ++i) {
    cosim c = cosim_done(shaft, STEPS_OF("extrapolation", "0.3"), 0.3 * (13 + i));
    v[i]    = cosim_value(&c, "m[3].v") - cosim_value(&c, "m[4].v");
    cosim_close(&c);
  }
  CHECK_BELOW(3.0, rho);
  for (int i = 0; i < 2; ++i) CHECK_NEAR(-v[i + 1] / v[i], rho, 1e-5);
}

/* Pairs of bodies with a hinge across the row twist as one disc of twice the inertia. Their row is turned in space, so that body axes are no
 * inertial ones; all but torsion is slow. */
static void torsion_of_a_row_of_hinged_pairs_has_the_radius_of_discs_on_a_shaft(void **state) {
  (void)state;
  static const char twisted[] =
      "yoke: 1\nt_end: 1\nbodies:\n  b: {kind: rigid, count: 12, mass: 1, inertia: [0.1, 30, 30], position: ['0.3*i', "
      "'0.4*i', 0], orientation: {axis: [0, 0, 1], angle: 'atan2(4, 3)'}, frames: {l: [-0.25, 0, 0], r: [0.25, 0, "
      "0]}}\n"
      "connections:\n  h: {kind: revolute, count: 6, between: ['b[2*i-1].r', 'b[2*i].l'], axis: [0, 0, 1]}\n"
      "  u: {kind: bushing, count: 5, between: ['b[2*i].r', 'b[2*i+1].l'], stiffness: [1, 1, 1, 100, 1, 1], damping: "
      "[0.01, 0.01, 0.01, 0.05, 0.01, 0.01]}\nsplit: {l: ['b[1..6]'], r: ['b[7..12]']}\n";
  static const char *const sets[] = {STEPS_OF("extrapolation", "0.08"), STEPS_OF("acceleration", "0.15")};
  for (int k = 0; k < 2; ++k) {
    const double rho = stability_of(shaft, sets[k]).rho;
    CHECK_BELOW(1.03, rho);
    CHECK_NEAR(stability_of(twisted, sets[k]).rho, rho, 1e-8);
  }
}

/* ---- what belongs to the owner ---- */

static void energies_count_every_body_element_and_load_once(void **state) {
  (void)state;
  static const char *const names[] = {"total.kinetic", "total.potential", "total.dissipated", "total.external"};
  const char *const        select  = "output.select=[\"total.*\"]";
  char                     split[COSIM_TEXT];
  snprintf(split, sizeof split, OVERLAP "cosimulation.couplings.halo=2;cosimulation.step=0.005;%s", select);
  cosim c = cosim_done(row, split, 0.0), whole = cosim_done_monolithic(row, select, 0.0);
  for (int k = 0; k < 4; ++k) {
    const double value = cosim_value(&whole, names[k]);
    assert_true(fabs(value) > 1e-3);
    CHECK_NEAR(cosim_value(&c, names[k]), value, 1e-5 * fabs(value));
  }
  cosim_close(&c);
  cosim_close(&whole);
}

static void the_element_at_the_cut_is_shown_by_the_owner_of_its_first_end(void **state) {
  (void)state;
  CHECK_BELOW(cosim_error(row, OVERLAP "cosimulation.couplings.halo=2;cosimulation.step=0.005", "u[3].force[1]"), 1e-2);
  CHECK_BELOW(cosim_error(row, OVERLAP "cosimulation.couplings.halo=2;cosimulation.step=0.005", "u[3].g[3]"), 1e-6);
}

static void an_event_that_sets_an_original_sets_its_copies(void **state) {
  (void)state;
  static const char hit[] =
      LINE("0.3", "split: {l: ['m[1..6]'], r: ['m[7..12]']}\nevents: {hit: {when: 't - 0.33', set: {'m[7].v': "
                  "'-3*m[7].v + 1'}}}\n" SOLVER);
  CHECK_BELOW(error_of(hit, OVERLAP "cosimulation.couplings.halo=4;cosimulation.step=1/40"), 1e-7);
}

/* ---- refusals ---- */

static void what_has_no_place_in_a_halo_is_refused_by_name_with_a_remedy(void **state) {
  (void)state;
  expect_refusal(row, OVERLAP "cosimulation.step=0.01;split={l: [\"b[1..6]\"], m: [\"b[7..7]\"], r: [\"b[8..12]\"]}",
                 "joint 'h[4]' lies between two subsystems, within the halo of subsystem 'l'");
  expect_refusal(ROW("loads: {push: {kind: expression, on: 'b[7]', force: [0, '-b[7].y', 5]}}\n" SOLVER),
                 OVERLAP "cosimulation.step=0.01", "load 'push' reads the model, within the halo of subsystem 'l'");
  expect_refusal(row, OVERLAP "cosimulation.step=0.01;cosimulation.scheme=implicit",
                 "formulation overlap integrates every step once, scheme is implicit; use scheme explicit");
  expect_refusal(row, OVERLAP "cosimulation.step=0.01;cosimulation.sequence=gauss-seidel", "use sequence jacobi");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_order_without_damping_is_that_of_the_edge_and_two_for_every_ring),
      cmocka_unit_test(rigid_bodies_with_joints_and_loads_in_the_halo_converge_to_the_whole_model),
      cmocka_unit_test(a_halo_reaches_through_a_thin_part_into_the_next_one),
      cmocka_unit_test(halos_that_hold_everything_have_no_error_but_that_of_the_solvers),
      cmocka_unit_test(solvers_of_every_kind_go_on_behind_the_exchange),
      cmocka_unit_test(step_control_follows_the_tolerance),
      cmocka_unit_test(copies_tell_the_error_of_every_fixed_step),
      cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
      cmocka_unit_test(halos_that_hold_everything_amplify_as_the_model_does),
      cmocka_unit_test(a_run_grows_by_the_radius_in_every_step),
      cmocka_unit_test(torsion_of_a_row_of_hinged_pairs_has_the_radius_of_discs_on_a_shaft),
      cmocka_unit_test(energies_count_every_body_element_and_load_once),
      cmocka_unit_test(the_element_at_the_cut_is_shown_by_the_owner_of_its_first_end),
      cmocka_unit_test(an_event_that_sets_an_original_sets_its_copies),
      cmocka_unit_test(what_has_no_place_in_a_halo_is_refused_by_name_with_a_remedy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
