/* Invariants of a macro step (design, section 2), by number. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "coupling/scheme.h"
#include "rig.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CAN_COUNT 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define CAN_COUNT 0
#endif
#endif
#if !defined(CAN_COUNT) && defined(__GLIBC__)
#define CAN_COUNT 1
#elif !defined(CAN_COUNT)
#define CAN_COUNT 0
#endif

#if CAN_COUNT
/* The allocator of the C library with a counter in front; serial runs only. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static long n_allocations;

void *malloc(size_t size) {
  ++n_allocations;
  return __libc_malloc(size);
}
void *calloc(size_t n, size_t size) {
  ++n_allocations;
  return __libc_calloc(n, size);
}
void *realloc(void *old, size_t size) {
  ++n_allocations;
  return __libc_realloc(old, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  ++n_allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void **out, size_t alignment, size_t size) {
  ++n_allocations;
  *out = __libc_memalign(alignment, size);
  return *out != NULL ? 0 : 12; /* ENOMEM */
}
#endif

static const char *const two_mass = "examples/two-mass.yaml";
static const char *const four_bar = "examples/four-bar-bushing.yaml";

/* Every scheme and Jacobian that goes back, and the explicit one. */
static const char *const variants[] = {
    "cosimulation.scheme=explicit;cosimulation.order=2",
    "cosimulation.scheme=explicit;cosimulation.order=2;cosimulation.sequence=gauss-seidel",
    "cosimulation.scheme=explicit;cosimulation.order=1;cosimulation.predictor=acceleration",
    "cosimulation.scheme=explicit;cosimulation.order=1;cosimulation.predictor=acceleration-relaxed",
    "cosimulation.scheme=semi-implicit;cosimulation.order=2;cosimulation.predictor=least-squares",
    "cosimulation.scheme=semi-implicit;cosimulation.order=2;cosimulation.jacobian=analytic",
    "cosimulation.scheme=semi-implicit;cosimulation.order=2;cosimulation.jacobian=broyden",
    "cosimulation.scheme=semi-implicit;cosimulation.order=2;cosimulation.couplings.extension=d",
    "cosimulation.scheme=implicit;cosimulation.order=2",
    "cosimulation.scheme=implicit;cosimulation.order=2;cosimulation.jacobian=broyden",
    "cosimulation.scheme=implicit;cosimulation.order=2;cosimulation.couplings.extension=i",
    "cosimulation.scheme=waveform;cosimulation.order=2",
    "cosimulation.scheme=waveform;cosimulation.order=2;cosimulation.sequence=gauss-seidel",
};
enum { N_VARIANTS = (int)(sizeof variants / sizeof variants[0]) };

static void open_rig(rig *r, const char *path, const char *sets) {
  const yoke_status status = rig_open(r, path, sets, "serial", 1, NULL);
  if (status == YOKE_OK) return;
  cosim_print(r->c.ctx);
  fail_msg("%s: %s", sets, yoke_status_name(status));
}

static void invariant_1_passes_start_from_the_accepted_states_and_do_not_touch_them(void **state) {
  (void)state;
  for (int i = 0; i < N_VARIANTS; ++i) {
    rig r;
    open_rig(&r, two_mass, variants[i]);
    rig_steps(&r, 4);
    void *before[2];
    for (int s = 0; s < 2; ++s) {
      before[s] = malloc(r.subsystems[s]->state_size);
      assert_non_null(before[s]);
      memcpy(before[s], yoke_graph_state(r.graph, s), r.subsystems[s]->state_size);
    }
    assert_int_equal(rig_try(&r, yoke_graph_t(r.graph) + r.H), YOKE_OK);
    for (int s = 0; s < 2; ++s) {
      assert_memory_equal(before[s], yoke_graph_state(r.graph, s), r.subsystems[s]->state_size);
      free(before[s]);
    }
    rig_close(&r);
  }
}

/* A copy of the block, given. */
static void *copy_block(const rig *r) {
  size_t      size;
  const void *block = yoke_graph_block(r->graph, &size);
  void       *copy  = malloc(size);
  assert_non_null(copy);
  memcpy(copy, block, size);
  return copy;
}

/* Is the block what it was then? The copy is freed. */
static void expect_block(const rig *r, void *then) {
  size_t      size;
  const void *block = yoke_graph_block(r->graph, &size);
  assert_memory_equal(then, block, size);
  free(then);
}

static void invariant_2_a_trial_does_not_change_the_block(void **state) {
  (void)state;
  for (int i = 0; i < N_VARIANTS; ++i) {
    rig r;
    open_rig(&r, two_mass, variants[i]);
    rig_steps(&r, 4);
    void *then = copy_block(&r);
    assert_int_equal(rig_try(&r, yoke_graph_t(r.graph) + r.H), YOKE_OK);
    expect_block(&r, then);
    rig_close(&r);
  }
}

static void invariant_2_a_step_that_the_watch_refuses_does_not_change_the_block(void **state) {
  (void)state;
  rig         r;
  yoke_status status = YOKE_OK;
  open_rig(&r, two_mass, "cosimulation.scheme=explicit;cosimulation.order=2;cosimulation.step=0.1");
  for (int k = 0; k < 1000 && status == YOKE_OK; ++k) {
    status = rig_try(&r, yoke_graph_t(r.graph) + r.H);
    assert_int_equal(status, YOKE_OK);
    void *then = copy_block(&r);
    status     = yoke_graph_accept(r.graph, r.c.ctx);
    if (status == YOKE_OK)
      free(then);
    else
      expect_block(&r, then);
  }
  assert_int_equal(status, YOKE_E_UNSTABLE);
  rig_close(&r);
}

static void wrap_checked(rig *r) {
  for (int i = 0; i < r->plan->n_parts; ++i)
    assert_int_equal(yoke_subsystem_check(r->c.ctx, r->subsystems[i], &r->subsystems[i]), YOKE_OK);
}

static void invariant_1_subsystems_that_watch_their_contract_find_nothing(void **state) {
  (void)state;
  for (int i = 0; i < N_VARIANTS; ++i) {
    rig plain, checked;
    open_rig(&plain, two_mass, variants[i]);
    assert_int_equal(rig_open(&checked, two_mass, variants[i], "serial", 1, wrap_checked), YOKE_OK);
    rig_steps(&plain, 20);
    rig_steps(&checked, 20);
    rig_expect_same(&plain, &checked);
    rig_close(&plain);
    rig_close(&checked);
  }
}

static void same_after_rejections(const char *path, const char *sets) {
  rig straight, tried;
  open_rig(&straight, path, sets);
  open_rig(&tried, path, sets);
  for (int n = 0; n < 12; ++n) {
    const double t = yoke_graph_t(tried.graph);
    if (n % 2 == 1) assert_int_equal(rig_try(&tried, t + 1.7 * tried.H), YOKE_OK);
    if (n % 3 == 0) assert_int_equal(rig_try(&tried, t + 0.3 * tried.H), YOKE_OK);
    rig_steps(&straight, 1);
    rig_steps(&tried, 1);
    rig_expect_same(&straight, &tried);
  }
  rig_close(&straight);
  rig_close(&tried);
}

static void invariant_2_rejected_step_leaves_no_trace(void **state) {
  (void)state;
  for (int i = 0; i < N_VARIANTS; ++i) same_after_rejections(two_mass, variants[i]);
}

static void invariant_2_rejected_step_of_a_nonlinear_model_leaves_no_trace(void **state) {
  (void)state;
  for (int i = 0; i < N_VARIANTS; ++i) same_after_rejections(four_bar, variants[i]);
}

static void invariant_3_history_holds_accepted_values_only(void **state) {
  (void)state;
  for (int i = 0; i < N_VARIANTS; ++i) {
    rig r;
    open_rig(&r, two_mass, variants[i]);
    rig_steps(&r, 5);
    const double *y1 = yoke_graph_y(r.graph, 0), *y2 = yoke_graph_y(r.graph, 1);
    const double  law = 1000.0 * (y2[0] - y1[0]) + 10.0 * (y2[1] - y1[1]); /* final update: u = phi(y) */
    CHECK_NEAR(yoke_graph_channel(r.graph, 0, 0), law, 1e-10 * fabs(law));
    const double u = yoke_graph_channel(r.graph, 0, 0), t = yoke_graph_t(r.graph), x = y1[0];
    assert_int_equal(rig_try(&r, t + 2.0 * r.H), YOKE_OK);
    assert_true(yoke_graph_channel(r.graph, 0, 0) == u && yoke_graph_t(r.graph) == t &&
                yoke_graph_y(r.graph, 0)[0] == x);
    rig_close(&r);
  }
}

static void check_time(void *user, double t, const double *q, const double *v) {
  (void)q, (void)v;
  int         *n    = user;
  const double H    = 1.0 / 3000.0;
  const double grid = (double)++*n * H;
  if (t != (*n == 300 ? 0.1 : grid)) fail_msg("step %d: t = %.17g, expected %.17g", *n, t, grid);
}

static void invariant_4_times_come_from_the_step_number(void **state) {
  (void)state;
  cosim c;
  int   n = 0;
  assert_int_equal(cosim_open(&c, two_mass, "cosimulation.step=1/3000"), YOKE_OK);
  assert_int_equal(cosim_run(&c, 0.1, check_time, &n), YOKE_OK);
  assert_int_equal(n, 300); /* the last step is the rest to the end, not a crumb more */
  cosim_close(&c);
}

static void invariant_4_last_step_is_shortened_to_the_end(void **state) {
  (void)state;
  cosim c = cosim_done(two_mass, "cosimulation.step=3e-3", 0.01);
  assert_int_equal(c.summary.macro.steps, 4);
  CHECK_NEAR(c.summary.t, 0.01, 0.0);
  cosim_close(&c);
}

static void same_bits_everywhere(const char *path, const char *sets, int n_steps) {
  static const struct {
    const char *exec;
    int         threads;
  } ways[] = {
      {"serial", 1}, {"shuffled", 1}, {"threads", 2}, {"threads", 8},
      {"eager", 1},  {"eager", 2},    {"eager", 3},   {"eager", 8},
  };
  rig first;
  open_rig(&first, path, sets);
  rig_steps(&first, n_steps);
  for (size_t k = 1; k < sizeof ways / sizeof ways[0]; ++k) {
    rig other;
    assert_int_equal(rig_open(&other, path, sets, ways[k].exec, ways[k].threads, NULL), YOKE_OK);
    rig_steps(&other, n_steps);
    rig_expect_same(&first, &other);
    rig_close(&other);
  }
  rig_close(&first);
}

/* So many that their Newton matrix is made and factored by several tasks. */
static const char *const many_joints =
    "parameters.N=8;split={a: [\"rod[1]\"], b: [\"rod[2]\"], c: [\"rod[3]\"], d: "
    "[\"rod[4]\"], e: [\"rod[5]\"], f: [\"rod[6]\"], g: [\"rod[7]\"], h: [\"rod[8]\"]};"
    "cosimulation={scheme: semi-implicit, order: 1, step: 2e-3}";

static void invariant_5_same_bits_for_serial_shuffled_and_threads(void **state) {
  (void)state;
  for (int i = 0; i < N_VARIANTS; ++i) same_bits_everywhere(four_bar, variants[i], 5);
  same_bits_everywhere("examples/chain-conv.yaml", "cosimulation.scheme=implicit;cosimulation.order=2", 20);
  same_bits_everywhere("examples/pendulum-chain.yaml", many_joints, 5);
  same_bits_everywhere("examples/chain-conv.yaml", "cosimulation.scheme=semi-implicit;cosimulation.jacobian=analytic",
                       20);
}

/* ---- invariant 6 ---- */

static yoke_status broken_output(const yoke_subsystem *subsystem, void *scratch, const void *state,
                                 const yoke_signal *u, yoke_side side, double *y) {
  (void)scratch, (void)state, (void)side;
  for (int k = 0; k < subsystem->ny; ++k) y[k] = u->t[0] > 2.5e-3 ? (double)NAN : 0.0;
  return YOKE_OK;
}

static void break_outputs(rig *r) {
  r->ops                = *r->subsystems[0]->ops;
  r->ops.output         = broken_output;
  r->subsystems[0]->ops = &r->ops;
}

static void invariant_6_a_step_with_values_that_are_not_finite_is_not_accepted(void **state) {
  (void)state;
  for (int i = 0; i < N_VARIANTS; ++i) {
    rig r;
    assert_int_equal(rig_open(&r, two_mass, variants[i], "serial", 1, break_outputs), YOKE_OK);
    rig_steps(&r, 3);
    assert_int_not_equal(rig_step(&r), YOKE_OK);
    assert_int_equal(yoke_graph_accept(r.graph, r.c.ctx), YOKE_E_INTERNAL);
    assert_true(isfinite(yoke_graph_y(r.graph, 0)[0]) && isfinite(yoke_graph_channel(r.graph, 0, 0)));
    CHECK_NEAR(yoke_graph_t(r.graph), 3e-3, 0.0);
    rig_close(&r);
  }
}

static void invariant_6_conditions_hold_to_tolerance_after_an_implicit_step(void **state) {
  (void)state;
  static const char *const extensions[] = {"none", "d"};
  for (int x = 0; x < 2; ++x) {
    for (int order = 0; order <= 2; ++order) {
      char sets[COSIM_TEXT];
      snprintf(sets, sizeof sets,
               "cosimulation.scheme=implicit;cosimulation.order=%d;cosimulation.couplings.extension=%s", order,
               extensions[x]);
      cosim c = cosim_done(four_bar, sets, 0.02);
      CHECK_BELOW(c.summary.macro.residual, 1e-5); /* derivatives of forces of 10 N over steps of 1 ms: 1e-9 relative */
      assert_int_equal(c.summary.macro.unconverged, 0);
      cosim_close(&c);
    }
  }
}

/* ---- invariant 7 ---- */

#if CAN_COUNT /* sanitizers bring their own allocator: the release build counts */

static void count_steps(const char *path, const char *sets) {
  rig r;
  open_rig(&r, path, sets);
  rig_steps(&r, 10); /* start-up over, buffers of libraries made */
  const long before = n_allocations;
  assert_true(before > 0); /* creation was counted */
  rig_steps(&r, 20);
  const long counted = n_allocations - before;
  if (counted != 0) fail_msg("%s %s: %ld allocations in 20 steps", path, sets, counted);
  rig_close(&r);
}

static void invariant_7_macro_steps_allocate_nothing(void **state) {
  (void)state;
  for (int i = 0; i < N_VARIANTS; ++i) count_steps(two_mass, variants[i]);
}

static void invariant_7_macro_steps_of_multibody_subsystems_allocate_nothing(void **state) {
  (void)state;
  for (int i = 0; i < N_VARIANTS; ++i) count_steps(four_bar, variants[i]);
}

static void invariant_7_macro_steps_of_many_joints_allocate_nothing(void **state) {
  (void)state;
  count_steps("examples/pendulum-chain.yaml", many_joints);
}

static void invariant_7_macro_steps_with_substeps_allocate_nothing(void **state) {
  (void)state;
  count_steps(two_mass, "cosimulation.scheme=explicit;cosimulation.substeps={a: 2, b: 6}");
  count_steps("examples/kinematic-two-mass.yaml", "cosimulation.step=1e-3;cosimulation.substeps={R: 3, F: 3}");
}

/* The same with step control: trials, comparisons, estimates, order and step. */
static void invariant_7_controlled_macro_steps_allocate_nothing(void **state) {
  static const struct {
    const char         *path, *scheme;
    yoke_estimator_kind estimator;
  } rows[] = {{two_mass, "explicit", YOKE_ESTIMATOR_MD},
              {two_mass, "explicit", YOKE_ESTIMATOR_LE},
              {two_mass, "semi-implicit", YOKE_ESTIMATOR_MD},
              {two_mass, "implicit", YOKE_ESTIMATOR_LE},
              {"examples/two-mass-rigid.yaml", "implicit", YOKE_ESTIMATOR_MD},
              {"examples/two-mass-rigid.yaml", "implicit", YOKE_ESTIMATOR_CV}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    char                  sets[COSIM_TEXT];
    rig                   r;
    yoke_controller      *controller;
    yoke_step_statistics  statistics;
    yoke_control_settings settings = yoke_control_settings_default();
    snprintf(sets, sizeof sets, "cosimulation.order=2;cosimulation.scheme=%s", rows[i].scheme);
    open_rig(&r, rows[i].path, sets);
    settings.estimator = rows[i].estimator;
    settings.initial = settings.max = 1e-3;
    settings.order_max              = 2;
    settings.tolerances.rtol        = 1e-3;
    assert_int_equal(yoke_controller_create(r.c.ctx, r.graph, &settings, &controller), YOKE_OK);
    for (int k = 0; k < 10; ++k) assert_int_equal(yoke_controller_step(controller, 1.0, &statistics, r.c.ctx), YOKE_OK);
    const long before = n_allocations;
    for (int k = 0; k < 30; ++k) assert_int_equal(yoke_controller_step(controller, 1.0, &statistics, r.c.ctx), YOKE_OK);
    const long counted = n_allocations - before;
    if (counted != 0) fail_msg("%s %s: %ld allocations in 30 steps", rows[i].path, sets, counted);
    yoke_controller_destroy(&controller);
    rig_close(&r);
  }
}

static void invariant_7_macro_steps_with_every_solver_allocate_nothing(void **state) {
  (void)state;
  static const char *const solvers[] = {
      "dopri5", "dop853", "abm", "semi-euler", "radau5", "bdf", "genalpha", "lin-implicit-euler", "newmark-al"};
  for (size_t k = 0; k < sizeof solvers / sizeof solvers[0]; ++k) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets, "solvers.default.kind=%s;solvers.default.step=1e-4;cosimulation.scheme=implicit",
             solvers[k]);
    count_steps(four_bar, sets);
  }
}

#endif

/* ---- no way back ---- */

static void take_copy_away(rig *r) {
  r->ops                = *r->subsystems[0]->ops;
  r->ops.repeat         = NULL;
  r->subsystems[0]->ops = &r->ops;
}

static void subsystem_that_cannot_go_back_is_refused_by_schemes_that_repeat(void **state) {
  (void)state;
  for (int s = 0; s < yoke_scheme_n(); ++s) {
    char sets[COSIM_TEXT];
    rig  r;
    snprintf(sets, sizeof sets, "cosimulation.scheme=%s", yoke_scheme_at(s)->traits.name);
    const yoke_status status = rig_open(&r, two_mass, sets, "serial", 1, take_copy_away);
    if (yoke_scheme_at(s)->needs_repeat) {
      assert_int_equal(status, YOKE_E_MODEL);
      assert_non_null(strstr(yoke_context_message(r.c.ctx, 0), "cannot go back"));
    } else {
      assert_int_equal(status, YOKE_OK);
    }
    rig_close(&r);
  }
}

static void subsystem_that_cannot_go_back_runs_explicitly_with_the_same_bits(void **state) {
  (void)state;
  for (int i = 0; i < 4; ++i) {
    rig plain, forward;
    open_rig(&plain, two_mass, variants[i]);
    assert_int_equal(rig_open(&forward, two_mass, variants[i], "serial", 1, take_copy_away), YOKE_OK);
    rig_steps(&plain, 10);
    rig_steps(&forward, 10);
    rig_expect_same(&plain, &forward);
    rig_close(&plain);
    rig_close(&forward);
  }
}

static void subsystem_that_cannot_go_back_ends_the_run_when_a_step_is_rejected(void **state) {
  (void)state;
  rig r;
  assert_int_equal(rig_open(&r, two_mass, variants[0], "serial", 1, take_copy_away), YOKE_OK);
  rig_steps(&r, 3);
  assert_int_equal(rig_try(&r, yoke_graph_t(r.graph) + r.H), YOKE_OK);
  assert_int_equal(rig_try(&r, yoke_graph_t(r.graph) + 0.5 * r.H), YOKE_E_SUBSYSTEM);
  rig_close(&r);
}

/* ---- order ---- */

typedef struct step_order {
  char last[40];
  int  n_steps, n_changes; /* of subsystems, and of which of them is stepped */
} step_order;

static void note_step(void *user, const char *line) {
  step_order *x = user;
  char        name[40];
  if (sscanf(line, "step %39s", name) != 1) return;
  ++x->n_steps;
  if (strcmp(name, x->last) != 0) ++x->n_changes;
  memcpy(x->last, name, sizeof name);
}

/* Four parts, three couplings: four integrations and six perturbed ones, then four with what was corrected. */
static void a_pass_integrates_subsystem_by_subsystem(void **state) {
  step_order                x       = {.n_steps = 0};
  const yoke_system_options options = {.exec = "serial", .threads = 1, .log = {.write = note_step, .user = &x}};
  cosim                     c;
  (void)state;
  cosim_load(&c, "examples/chain-load.yaml",
             "parameters.n=40;split.c=4;cosimulation.scheme=semi-implicit;cosimulation.jacobian=finite-difference;"
             "output.select=[\"c.x[1]\"]");
  assert_int_equal(cosim_start(&c, false, &options), YOKE_OK);
  assert_int_equal(cosim_run(&c, 1e-7, NULL, NULL), YOKE_OK);
  assert_int_equal(x.n_steps, 4 + 6 + 4);
  assert_int_equal(x.n_changes, 4 + 4);
  cosim_close(&c);
}

/* Of a state of ten masses a step reads 1 KB: what lies between two of them is fetched, or a page of its own, for nothing. */
static void states_of_many_subsystems_lie_close_together(void **state) {
  (void)state;
#if !defined(YOKE_SANITIZED) /* every piece of an arena has its own block there */
  enum { N = 40 };
  const yoke_system_options options = {.exec = "serial", .threads = 1};
  cosim                     c;
  cosim_load(&c, "examples/chain-load.yaml", "parameters.n=400;split.c=40;output.select=[\"c.x[1]\"]");
  assert_int_equal(cosim_start(&c, false, &options), YOKE_OK);
  const char  *first = yoke_graph_state(yoke_system_graph(c.system), 0);
  const char  *last  = yoke_graph_state(yoke_system_graph(c.system), N - 1);
  const size_t size  = yoke_system_subsystem(c.system, 0)->state_size;
  assert_true(last > first && (size_t)(last - first) < N * (2 * size + 1024));
  cosim_close(&c);
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(invariant_1_passes_start_from_the_accepted_states_and_do_not_touch_them),
    cmocka_unit_test(invariant_1_subsystems_that_watch_their_contract_find_nothing),
    cmocka_unit_test(invariant_2_a_trial_does_not_change_the_block),
    cmocka_unit_test(invariant_2_a_step_that_the_watch_refuses_does_not_change_the_block),
    cmocka_unit_test(invariant_2_rejected_step_leaves_no_trace),
    cmocka_unit_test(invariant_2_rejected_step_of_a_nonlinear_model_leaves_no_trace),
    cmocka_unit_test(invariant_3_history_holds_accepted_values_only),
    cmocka_unit_test(invariant_4_times_come_from_the_step_number),
    cmocka_unit_test(invariant_4_last_step_is_shortened_to_the_end),
    cmocka_unit_test(invariant_5_same_bits_for_serial_shuffled_and_threads),
    cmocka_unit_test(invariant_6_a_step_with_values_that_are_not_finite_is_not_accepted),
    cmocka_unit_test(invariant_6_conditions_hold_to_tolerance_after_an_implicit_step),
#if CAN_COUNT
    cmocka_unit_test(invariant_7_macro_steps_allocate_nothing),
    cmocka_unit_test(invariant_7_macro_steps_of_multibody_subsystems_allocate_nothing),
    cmocka_unit_test(invariant_7_macro_steps_of_many_joints_allocate_nothing),
    cmocka_unit_test(invariant_7_macro_steps_with_substeps_allocate_nothing),
    cmocka_unit_test(invariant_7_controlled_macro_steps_allocate_nothing),
    cmocka_unit_test(invariant_7_macro_steps_with_every_solver_allocate_nothing),
#endif
    cmocka_unit_test(subsystem_that_cannot_go_back_is_refused_by_schemes_that_repeat),
    cmocka_unit_test(subsystem_that_cannot_go_back_runs_explicitly_with_the_same_bits),
    cmocka_unit_test(subsystem_that_cannot_go_back_ends_the_run_when_a_step_is_rejected),
    cmocka_unit_test(a_pass_integrates_subsystem_by_subsystem),
    cmocka_unit_test(states_of_many_subsystems_lie_close_together),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
