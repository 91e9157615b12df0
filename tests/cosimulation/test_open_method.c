/* What couples the cuts of long chains where a run names nothing of its method, and what names do. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "overlapped.h"

/* Four pieces of sixteen masses, stiff dampers at the cuts. */
#define CHAIN(split)                                                                                                   \
  "yoke: 1\nt_end: 0.02\nbodies:\n  c: {kind: chain, n: 64, mass: 1, stiffness: 1000, damping: 200, stiffness_power: " \
  "300, x: 'sin(0.9*i)', v: '10*cos(0.4*i)'}\n" split "output: {select: [\"c.x[1]\"]}\n"

static const char chain[] = CHAIN("split: {c: 4}\n");

static bool has_halos(const char *model, const char *sets) {
  cosim c;
  cosim_open(&c, model, sets);
  cosim_expect(&c, YOKE_OK);
  const bool is_overlap = c.plan->couplings[0].is_overlap;
  assert_string_equal(c.plan->scheme.scheme, is_overlap ? "explicit" : c.plan->scheme.scheme);
  cosim_close(&c);
  return is_overlap;
}

static void cuts_of_long_chains_have_halos_where_nothing_of_the_method_is_named(void **state) {
  (void)state;
  static const char *const neutral[] = {"",
                                        "cosimulation.step=auto",
                                        "cosimulation.step={rtol: 1e-5, initial: 1e-6}",
                                        "cosimulation.step={atol: {position: 1e-9}}",
                                        "cosimulation.monitor=off",
                                        "cosimulation.energy=monitor",
                                        "cosimulation={energy: monitor, energy_limit: 0.2}",
                                        "cosimulation.energy_cap=0.5",
                                        "cosimulation.lockstep=false",
                                        "cosimulation.step={share: 0.5}",
                                        "solvers.default={rtol: 1e-9}"};
  for (size_t k = 0; k < sizeof neutral / sizeof *neutral; ++k) {
    if (!has_halos(chain, neutral[k])) fail_msg("'%s': no halos", neutral[k]);
  }
}

static void whoever_names_something_has_what_it_stands_for(void **state) {
  (void)state;
  static const char *const named[] = {"cosimulation.step=1e-4",
                                      "cosimulation.scheme=explicit",
                                      "cosimulation.scheme=implicit",
                                      "cosimulation.order=2",
                                      "cosimulation.order=auto",
                                      "cosimulation.step={estimator: cv}",
                                      "cosimulation.jacobian=broyden",
                                      "cosimulation.predictor=least-squares",
                                      "cosimulation.energy=correct;cosimulation.scheme=explicit",
                                      "cosimulation.couplings.decomposition=force/displacement",
                                      "cosimulation.couplings.formulation=constitutive",
                                      "cosimulation.couplings={c.cut[2]: {extension: d}}",
                                      "cosimulation.subsystems={c[1]: {jacobian: finite-difference}}"};
  for (size_t k = 0; k < sizeof named / sizeof *named; ++k) {
    if (has_halos(chain, named[k])) fail_msg("'%s': halos", named[k]);
  }
}

static void short_pieces_and_works_that_halos_do_not_tell_keep_forces(void **state) {
  (void)state;
  assert_false(has_halos(chain, "split.c=5"));
  assert_false(has_halos(chain, "output.select=[\"subsystem.c[1].leak\"]"));
  assert_false(has_halos(chain, "output.select=[\"*.leak\"]"));
  assert_true(has_halos(chain, "output.select=[\"total.leak\"]"));
  assert_false(has_halos(CHAIN("loads: {push: {kind: constant, on: 'c[3]', force: 2}}\nsplit: {c: 4}\n"), ""));
}

static size_t n_notes(const char *model, const char *sets, const char *part) {
  cosim c;
  cosim_open(&c, model, sets);
  cosim_expect(&c, YOKE_OK);
  size_t n = 0;
  for (size_t i = 0; i < yoke_context_n_messages(c.ctx); ++i) n += strstr(yoke_context_message(c.ctx, i), part) != NULL;
  cosim_close(&c);
  return n;
}

static void what_takes_the_halos_away_or_what_they_do_not_tell_is_said(void **state) {
  (void)state;
  static const char untold[] = "tell the energy of the whole model alone";
  static const char named[]  = OVERLAP "output.select=[\"*.leak\"]";
  assert_int_equal(n_notes(chain, "output.select=[\"*.leak\"]", "'*.leak' asks for energies of single subsystems"), 1);
  assert_int_equal(n_notes(chain, "solvers.default={kind: bdf, rtol: 1e-5}", "subsystem 'c[1]' has 1e-05"), 1);
  assert_int_equal(n_notes(chain, "cosimulation.energy=monitor", untold), 1);
  assert_int_equal(n_notes(chain, named, untold), 1);
  assert_int_equal(n_notes(chain, OVERLAP "cosimulation.energy=correct", "are not corrected"), 1);
  assert_int_equal(n_notes(chain, "", "halos"), 0);
  assert_int_equal(
      n_notes(chain, "cosimulation.couplings.formulation=constitutive;output.select=[\"*.leak\"]", "halos"), 0);
}

/* Copies and originals differ by what bdf leaves behind every macro point, at which it begins anew. */
static void bdf_has_halos_where_its_tolerance_is_small_enough(void **state) {
  (void)state;
  assert_true(has_halos(chain, "solvers.default={kind: bdf, rtol: 1e-6}"));
  assert_false(has_halos(chain, "solvers.default={kind: bdf, rtol: 1e-5}"));
  assert_false(has_halos(chain, "solvers.default={kind: bdf, rtol: 1e-6};cosimulation.step={rtol: 1e-5}"));
  assert_false(has_halos(chain, "solvers={\"c[2]\": {kind: bdf, rtol: 1e-5}}"));
  assert_true(has_halos(chain, "solvers.default={kind: radau5, rtol: 1e-4}"));
}

static void every_solver_stays_within_the_tolerance_by_default(void **state) {
  (void)state;
  static const char *const solvers[] = {"abm, rtol: 1e-4",    "abm, rtol: 1e-8",   "bdf, rtol: 1e-4",
                                        "bdf, rtol: 1e-5",    "bdf, rtol: 1e-6",   "radau5, rtol: 1e-4",
                                        "dop853, rtol: 1e-4", "dopri5, rtol: 1e-4"};
  cosim                    whole     = cosim_done_monolithic(chain, "solvers.default={rtol: 1e-11}", 0.0);
  for (size_t k = 0; k < sizeof solvers / sizeof *solvers; ++k) {
    char sets[80];
    snprintf(sets, sizeof sets, "solvers.default={kind: %s}", solvers[k]);
    cosim c = cosim_done(chain, sets, 0.0);
    print_message("%s: off by %.3g\n", solvers[k], off(&c, &whole));
    CHECK_BELOW(off(&c, &whole), 1e-4);
    cosim_close(&c);
  }
  cosim_close(&whole);
}

/* Forces of a stiff damper are stable over steps of 2 m/d at most; solvers of both sides bear it. */
static void they_take_a_fraction_of_the_work_within_the_tolerance(void **state) {
  (void)state;
  cosim whole  = cosim_done_monolithic(chain, "solvers.default={rtol: 1e-11}", 0.0);
  cosim halos  = cosim_done(chain, "", 0.0);
  cosim forces = cosim_done(chain, "cosimulation.couplings.formulation=constitutive", 0.0);
  print_message("off by %.3g with halos, %.3g with forces; %lld and %lld right-hand sides\n", off(&halos, &whole),
                off(&forces, &whole), (long long)halos.summary.macro.evaluations,
                (long long)forces.summary.macro.evaluations);
  CHECK_BELOW(off(&halos, &whole), 1e-4);
  CHECK_BELOW((double)halos.summary.macro.evaluations, 0.3 * (double)forces.summary.macro.evaluations);
  cosim_close(&whole);
  cosim_close(&halos);
  cosim_close(&forces);
}

/* Steps with errors of the whole tolerance, as whoever names the formulation has them, add up to some times of it under many pulses. */
static void steps_are_held_to_a_tenth_of_the_tolerance(void **state) {
  (void)state;
  static const char pulses[] = "examples/chain-safe.yaml";
  static const char sets[] =
      "parameters.n=80;output.select=[\"c.x[1]\"];split.c=4;t_end=1e-2;cosimulation={};solvers.default={rtol: 1e-8}";
  static const char by_name[] =
      "parameters.n=80;output.select=[\"c.x[1]\"];split.c=4;t_end=1e-2;solvers.default={rtol: 1e-8};"
      "cosimulation={couplings: {formulation: overlap}}";
  cosim whole = cosim_done_monolithic(
      pulses, "parameters.n=80;output.select=[\"c.x[1]\"];t_end=1e-2;solvers.default={rtol: 1e-12}", 0.0);
  cosim open = cosim_done(pulses, sets, 0.0), named = cosim_done(pulses, by_name, 0.0);
  print_message("off by %.3g, %.3g by name\n", off(&open, &whole), off(&named, &whole));
  CHECK_BELOW(off(&open, &whole), 0.25 * off(&named, &whole));
  CHECK_BELOW((double)open.summary.macro.evaluations, 1.3 * (double)named.summary.macro.evaluations);
  cosim_close(&whole);
  cosim_close(&open);
  cosim_close(&named);
}

/* A light mass before a heavy one does not make a displacement side of what both sides hold. */
static void halos_named_by_hand_have_no_displacement_side(void **state) {
  (void)state;
  static const char uneven[] = "yoke: 1\nt_end: 0.01\nbodies:\n  c: {kind: chain, n: 40, mass: 'if(i <= 20, 1, 1e-3)', "
                               "stiffness: 100, x: 'sin(0.9*i)'}\nsplit: {c: 2}\noutput: {select: [\"c.x[1]\"]}\n";
  assert_true(has_halos(uneven, OVERLAP));
  assert_true(has_halos(uneven, ""));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cuts_of_long_chains_have_halos_where_nothing_of_the_method_is_named),
      cmocka_unit_test(whoever_names_something_has_what_it_stands_for),
      cmocka_unit_test(short_pieces_and_works_that_halos_do_not_tell_keep_forces),
      cmocka_unit_test(what_takes_the_halos_away_or_what_they_do_not_tell_is_said),
      cmocka_unit_test(bdf_has_halos_where_its_tolerance_is_small_enough),
      cmocka_unit_test(every_solver_stays_within_the_tolerance_by_default),
      cmocka_unit_test(they_take_a_fraction_of_the_work_within_the_tolerance),
      cmocka_unit_test(steps_are_held_to_a_tenth_of_the_tolerance),
      cmocka_unit_test(halos_named_by_hand_have_no_displacement_side),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
