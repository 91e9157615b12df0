/* The energy account of every formulation in its list, with every scheme, decomposition, extension and index that it takes: leaks of subsystems and
 * couplings add up to total.leak, which is the change of the balance. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../cosimulation/flexible_models.h"
#include "coupling/formulation.h"
#include "energy_run.h"
#include <stdlib.h>
#include <unistd.h>

static const char *const schemes[]        = {"explicit", "semi-implicit", "implicit", "waveform"};
static const char *const decompositions[] = {"force/force", "force/displacement", "displacement/force",
                                             "displacement/displacement"};
static const char *const extensions[]     = {"none", "d", "i"};

/* What a formulation is tried with: a small model that it takes. */
typedef struct subject {
  const char *formulation;                         /* NULL: all others, which couple rigid joints */
  const char *model, *sets;                        /* a file, or a text of more than one line */
  int         decompositions, extensions, indices; /* how many of them; 1: the standard alone */
  bool        has_shares;                          /* of subsystems and couplings */
} subject;

static const subject subjects[] = {
    {"constitutive", "examples/two-mass.yaml", "cosimulation.step=1e-3 t_end=0.02", 4, 3, 1, true},
    {"overlap", "examples/chain-conv.yaml", "cosimulation.step=4e-5 t_end=1e-3", 1, 1, 1, false},
    {NULL, "examples/double-pendulum.yaml", "cosimulation.step=1e-2 t_end=0.2", 4, 1, 4, true},
    {NULL, "examples/two-mass-rigid.yaml", "cosimulation.step=1e-3 t_end=0.02", 4, 1, 4, true},
    {"constitutive", FLEXIBLE_ROD_AT_A_POINT, "cosimulation.step=5e-4 t_end=0.01", 4, 3, 1, true},
    {"constitutive", FLEXIBLE_CABLE_ON_A_SPRING, "cosimulation.step=5e-4 t_end=0.01", 4, 3, 1, true},
    {NULL, FLEXIBLE_ROD_WITH_A_BALL, "cosimulation.step=5e-4 t_end=0.01", 4, 1, 4, true},
    {NULL, FLEXIBLE_CABLE_WITH_A_BALL, "cosimulation.step=5e-4 t_end=0.01", 4, 1, 4, true},
};

enum { FIRST_FLEXIBLE = 4, N_SUBJECTS = sizeof subjects / sizeof subjects[0] };

static bool is_tried_with(const char *formulation, const subject *s) {
  bool has_own = false;
  for (int i = 0; i < N_SUBJECTS; ++i)
    has_own = has_own || (subjects[i].formulation != NULL && strcmp(subjects[i].formulation, formulation) == 0);
  return s->formulation == NULL ? !has_own : strcmp(s->formulation, formulation) == 0;
}

/* An element that one side alone holds as a displacement side stores what it does between its own motion and the copies of the other's, and total.balance
 * what it would with the true motions of both. */
static bool has_true_motions(int decomposition) {
  return decomposition == 0 || decomposition == 3;
}

enum { LEAK, BALANCE, ENERGY, DISSIPATED, EXTERNAL };

static void check_close(const char *sets, const char *what, double found, double expected, double size) {
  if (!(fabs(found - expected) <= 1e-13 * size))
    fail_msg("%s: %s is %.16g J, total.leak %.16g J, of %g J", sets, what, found, expected, size);
}

static void check_run(const energy_run *run, const char *sets, bool has_shares, bool is_true) {
  const double leak = run->value[LEAK], start = run->summary.energy_start;
  const double size =
      fabs(start) + fabs(run->value[ENERGY]) + fabs(run->value[DISSIPATED]) + fabs(run->value[EXTERNAL]);
  double sum = 0.0, balance = 0.0;
  assert_true(run->summary.has_leak && size > 0.0);
  check_close(sets, "the summary's", run->summary.leak, leak, size);
  if (is_true) check_close(sets, "the change of total.balance", run->value[BALANCE] - start, leak, size);
  assert_int_equal(run->summary.subsystem_energies != NULL, has_shares);
  if (!has_shares) return;
  assert_true(run->summary.n_subsystems > 1 && run->summary.n_couplings > 0);
  for (int p = 0; p < run->summary.n_subsystems; ++p) {
    const yoke_energy_share *e = &run->summary.subsystem_energies[p];
    sum += e->leak;
    balance += e->energy + e->dissipated - e->external;
  }
  for (int k = 0; k < run->summary.n_couplings; ++k) {
    const yoke_energy_share *e = &run->summary.coupling_energies[k];
    sum += e->leak;
    balance += e->energy + e->dissipated;
  }
  check_close(sets, "the sum of all leaks", sum, leak, size);
  check_close(sets, "the change of all accounts", balance - start, leak, size);
}

/* A run of a file, or of a text. */
static energy_run try_model(const char *model, const char *sets, const char *print) {
  if (strchr(model, '\n') == NULL) return energy_try(model, sets, print);
  char      path[] = P_tmpdir "/yoke-formulations-XXXXXX";
  const int file   = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, model, strlen(model)), (int)strlen(model));
  close(file);
  const energy_run run = energy_try(path, sets, print);
  remove(path);
  return run;
}

/* false: refused, or the run ends on the way. *largest: share of a leak in the energy that moves. */
static bool try_run(const subject *s, const char *sets, bool is_true, double *largest) {
  energy_run run  = try_model(s->model, sets, "total.leak total.balance total.energy total.dissipated total.external");
  const bool done = run.status == YOKE_OK;
  if (done) {
    check_run(&run, sets, s->has_shares, is_true);
    *largest = fmax(*largest, run.summary.leak_share);
  }
  energy_release(&run);
  return done;
}

/* Number of runs of a formulation, by decomposition and extension, and of all by schemes. */
static void run_all(const subject *s, const char *formulation, int runs[4][3], int of_scheme[4], double *largest) {
  for (int scheme = 0; scheme < 4; ++scheme) {
    for (int i = 0; i < s->decompositions * s->extensions * s->indices; ++i) {
      const int d = i % s->decompositions, e = i / s->decompositions % s->extensions,
                index = i / s->decompositions / s->extensions;
      char sets[ENERGY_TEXT];
      int  n = snprintf(sets, sizeof sets,
                        "cosimulation.couplings.formulation=%s cosimulation.scheme=%s cosimulation.order=1 "
                         "solvers.default=dop853 cosimulation.energy=monitor %s",
                        formulation, schemes[scheme], s->sets);
      if (s->decompositions > 1)
        n += snprintf(sets + n, sizeof sets - (size_t)n, " cosimulation.couplings.decomposition=%s", decompositions[d]);
      if (s->extensions > 1)
        n += snprintf(sets + n, sizeof sets - (size_t)n, " cosimulation.couplings.extension=%s", extensions[e]);
      if (index > 0) snprintf(sets + n, sizeof sets - (size_t)n, " cosimulation.couplings.index=%d", index);
      const int done = try_run(s, sets, has_true_motions(d), largest) ? 1 : 0;
      runs[d][e] += done;
      of_scheme[scheme] += done;
    }
  }
}

/* With subjects first .. end - 1. Signals carry no power. */
static void check_subjects(int first, int end) {
  int of_scheme[4] = {0};
  for (int i = 0; i < yoke_formulation_n(); ++i) {
    const char *name       = yoke_formulation_at(i)->name;
    int         runs[4][3] = {{0}}, n_tried = 0;
    double      largest = 0.0;
    if (strcmp(name, "signal") == 0) continue;
    for (int k = first; k < end; ++k) {
      if (!is_tried_with(name, &subjects[k])) continue;
      run_all(&subjects[k], name, runs, of_scheme, &largest);
      ++n_tried;
    }
    if (n_tried == 0) continue;
    if (runs[0][0] == 0) fail_msg("no run of formulation %s", name);
    if (!(largest > 1e-11)) fail_msg("formulation %s leaks nothing that could be counted: %g", name, largest);
    for (int k = 0; k < 12 && strcmp(name, "constitutive") == 0; ++k) assert_true(runs[k / 3][k % 3] >= 2);
  }
  for (int k = 0; k < 4; ++k) {
    if (of_scheme[k] < 4) fail_msg("%d runs of scheme %s", of_scheme[k], schemes[k]);
  }
}

static void leaks_of_every_formulation_add_up_to_the_change_of_the_balance(void **state) {
  (void)state;
  check_subjects(0, FIRST_FLEXIBLE);
}

static void leaks_of_every_formulation_at_rods_and_cables_add_up_to_the_change_of_the_balance(void **state) {
  (void)state;
  check_subjects(FIRST_FLEXIBLE, N_SUBJECTS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(leaks_of_every_formulation_add_up_to_the_change_of_the_balance),
      cmocka_unit_test(leaks_of_every_formulation_at_rods_and_cables_add_up_to_the_change_of_the_balance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
