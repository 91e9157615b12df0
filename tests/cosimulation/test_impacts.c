/* Impacts under step control: every estimator and scheme gets through, with short steps at the impact and long ones behind it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "cosimulate.h"

static const char *const m3       = "examples/chain-m3.yaml";
static const char *const bouncing = "examples/bouncing-contact.yaml";

typedef struct way {
  const char *scheme, *estimator;
} way;
static const way ways[] = {{"explicit", "md"},      {"explicit", "cv"}, {"explicit", "le"}, {"semi-implicit", "md"},
                           {"semi-implicit", "cv"}, {"implicit", "md"}, {"implicit", "cv"}, {"waveform", "cv"}};
enum { N_WAYS = sizeof ways / sizeof ways[0] };

/* Steps near the first impact of M3 at t = 0.01678 s, and behind it. */
typedef struct steps {
  double t_before;
  double at_impact;      /* shortest */
  double before, behind; /* longest */
  int    n, n_not_finite;
} steps;

static void look(void *user, double t, const double *q, const double *v) {
  steps       *s = user;
  const double H = t - s->t_before;
  if (t > 0.01675 && s->t_before < 0.0168) s->at_impact = fmin(s->at_impact, H);
  if (t > 0.005 && t <= 0.016) s->before = fmax(s->before, H);
  if (s->t_before > 0.0168) s->behind = fmax(s->behind, H);
  s->t_before = t;
  ++s->n;
  for (int i = 0; i < 2; ++i) s->n_not_finite += isfinite(q[i]) && isfinite(v[i]) ? 0 : 1;
}

static void open_way(cosim *c, const char *path, const way *w, const char *rest) {
  char sets[COSIM_TEXT];
  snprintf(sets, sizeof sets,
           "cosimulation.scheme=%s;cosimulation.order=auto;cosimulation.step={rtol: 1e-4, estimator: %s}%s", w->scheme,
           w->estimator, rest);
  if (cosim_open(c, path, sets) == YOKE_OK) return;
  cosim_print(c->ctx);
  fail_msg("%s, %s: %s", w->scheme, w->estimator, yoke_status_name(c->status));
}

static void run_way(cosim *c, const way *w, double t_end, steps *s) {
  if (cosim_run(c, t_end, s != NULL ? look : NULL, s) == YOKE_OK) return;
  cosim_print(c->ctx);
  fail_msg("%s, %s: %s", w->scheme, w->estimator, yoke_status_name(c->status));
}

/* Reference after the first impact, monolithic with rtol 1e-12: t = 0.02 s. */
static void every_estimator_gets_through_the_impact_of_two_masses(void **state) {
  (void)state;
  for (int k = 0; k < N_WAYS; ++k) {
    cosim c;
    steps s = {.at_impact = 1.0};
    open_way(&c, m3, &ways[k], "");
    run_way(&c, &ways[k], 0.02, &s);
    assert_int_equal(s.n_not_finite, 0);
    CHECK_NEAR(cosim_value(&c, "c.x[1]"), -0.393661120, 4e-4);
    CHECK_NEAR(cosim_value(&c, "c.x[2]"), 0.0562833484, 4e-4);
    CHECK_NEAR(cosim_value(&c, "c.v[1]"), -119.529238, 0.02);
    CHECK_NEAR(cosim_value(&c, "c.v[2]"), -72.8773246, 0.3);
    cosim_close(&c);
  }
}

static void steps_are_short_at_an_impact_and_grow_again(void **state) {
  (void)state;
  for (int k = 0; k < N_WAYS; ++k) {
    cosim c;
    steps s = {.at_impact = 1.0};
    open_way(&c, m3, &ways[k], "");
    run_way(&c, &ways[k], 0.03, &s);
    if (!(s.at_impact < 0.05 * s.before && s.behind > 0.3 * s.before))
      fail_msg("%s, %s: longest step %.3g before, shortest %.3g at, longest %.3g behind the impact", ways[k].scheme,
               ways[k].estimator, s.before, s.at_impact, s.behind);
    cosim_close(&c);
  }
}

/* An estimate by coupling values is the more careful one: it sees the force itself jump. */
static void every_estimator_follows_a_bouncing_box(void **state) {
  (void)state;
  cosim c;
  assert_int_equal(cosim_open_monolithic(&c, bouncing, NULL), YOKE_OK);
  assert_int_equal(cosim_run(&c, 0.45, NULL, NULL), YOKE_OK);
  const double exact = cosim_value(&c, "box.x");
  cosim_close(&c);
  for (int k = 0; k < N_WAYS; ++k) {
    if (strcmp(ways[k].scheme, "waveform") == 0) continue; /* its diverging trials take seconds */
    open_way(&c, bouncing, &ways[k], "");
    run_way(&c, &ways[k], 0.45, NULL);
    CHECK_NEAR(cosim_value(&c, "box.x"), exact, strcmp(ways[k].estimator, "cv") == 0 ? 1e-5 : 5e-4);
    cosim_close(&c);
  }
}

static void a_tighter_tolerance_gives_a_smaller_error_across_impacts(void **state) {
  (void)state;
  double err[3], exact;
  cosim  c;
  assert_int_equal(cosim_open_monolithic(&c, bouncing, NULL), YOKE_OK);
  assert_int_equal(cosim_run(&c, 0.45, NULL, NULL), YOKE_OK);
  exact = cosim_value(&c, "load.x");
  cosim_close(&c);
  for (int k = 0; k < 3; ++k) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets, "cosimulation.order=auto;cosimulation.step={rtol: 1e-%d, estimator: cv}", 2 + 2 * k);
    assert_int_equal(cosim_open(&c, bouncing, sets), YOKE_OK);
    assert_int_equal(cosim_run(&c, 0.45, NULL, NULL), YOKE_OK);
    err[k] = fabs(cosim_value(&c, "load.x") - exact);
    cosim_close(&c);
  }
  assert_true(err[1] < 0.2 * err[0] && err[2] < 0.2 * err[1]);
}

static void an_impact_is_the_same_bits_again_and_in_any_order_of_tasks(void **state) {
  (void)state;
  static const char *const sets = "cosimulation.order=auto;cosimulation.step={rtol: 1e-4, estimator: md}";
  double                   x[3];
  for (int k = 0; k < 3; ++k) {
    cosim c;
    assert_int_equal(cosim_open_with(&c, m3, sets, k < 2 ? "serial" : "shuffled", k < 2 ? 1 : 2), YOKE_OK);
    assert_int_equal(cosim_run(&c, 0.02, NULL, NULL), YOKE_OK);
    x[k] = cosim_value(&c, "c.v[2]");
    cosim_close(&c);
  }
  assert_memory_equal(&x[0], &x[1], sizeof x[0]);
  assert_memory_equal(&x[0], &x[2], sizeof x[0]);
}

/* Fixed micro steps overflow in the contact: the trial fails, not the run; shorter macro steps bring shorter micro steps. */
static void trials_that_are_not_finite_are_rejected_and_counted(void **state) {
  (void)state;
  static const char *const solvers[] = {"dopri5", "dop853", "radau5", "bdf", "abm"};
  for (size_t k = 0; k < sizeof solvers / sizeof solvers[0]; ++k) {
    const way w = {"implicit", "cv"};
    char      rest[COSIM_TEXT];
    cosim     c;
    steps     s = {.at_impact = 1.0};
    snprintf(rest, sizeof rest, ";solvers.default={kind: %s, step: 1e-5}", solvers[k]);
    open_way(&c, m3, &w, rest);
    run_way(&c, &w, 0.018, &s);
    const yoke_macro_totals *totals = &c.summary.macro;
    assert_int_equal(s.n_not_finite, 0);
    assert_true(totals->rejected_by[YOKE_REDUCED_BY_NON_FINITE] + totals->rejected_by[YOKE_REDUCED_BY_CORRECTOR] > 0);
    assert_true(cosim_value(&c, "c.v[1]") < 0.0); /* it has turned round */
    cosim_close(&c);
  }
}

/* The error of a step that ends deep in the wall made the next one 1e-17 times as long. */
static void f51_abm_meets_a_wall_at_tight_tolerances(void **state) {
  (void)state;
  cosim abm   = cosim_done("examples/chain-m3.yaml", "solvers.default.kind=abm;solvers.default.rtol=1e-9", 0.018);
  cosim exact = cosim_done("examples/chain-m3.yaml", NULL, 0.018);
  CHECK_NEAR(cosim_value(&abm, "c.v[1]"), cosim_value(&exact, "c.v[1]"), 1e-4 * fabs(cosim_value(&exact, "c.v[1]")));
  cosim_close(&abm);
  cosim_close(&exact);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_estimator_gets_through_the_impact_of_two_masses),
      cmocka_unit_test(steps_are_short_at_an_impact_and_grow_again),
      cmocka_unit_test(every_estimator_follows_a_bouncing_box),
      cmocka_unit_test(a_tighter_tolerance_gives_a_smaller_error_across_impacts),
      cmocka_unit_test(an_impact_is_the_same_bits_again_and_in_any_order_of_tasks),
      cmocka_unit_test(trials_that_are_not_finite_are_rejected_and_counted),
      cmocka_unit_test(f51_abm_meets_a_wall_at_tight_tolerances),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
