/* Every integrator of the list goes on in another process with the bits it would have had in its own.
 *
 * A job is a situation, a problem and a method. This program brings a run into the situation, packs it into a file, and goes on;
 * then it starts itself again, and that process unpacks every file, goes on, and packs again. All bytes must be equal: the state,
 * the factors, the statistics and the dense output. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "folder.h"
#include "integrate/guests.h"
#include "integrate/methods.h"
#include "model/multibody.h"
#include "other_process.h"
#include "toy_equations.h"
#include <yoke/model.h>

enum { MOST_STEPS = 600, GO_ON_STEPS = 40 };

/* ---- problems ---- */

typedef struct problem {
  const char *name;
  void (*make)(yoke_equations *); /* NULL: the model file of this name */
  double q[2], v[2];
  double t_end;
} problem;

static const problem problems[] = {
    {.name = "linear", .make = toy_linear, .q = {0.1, -0.2}, .v = {0.3, 0}, .t_end = 20},
    {.name = "stiff", .make = toy_vanderpol, .q = {2}, .v = {-0.66}, .t_end = 2},
    {.name = "pendulum", .make = toy_pendulum, .q = {1, 0}, .v = {0, 0}, .t_end = 20},
    {.name = "examples/double-pendulum-flexible.yaml", .t_end = 20},
    {.name = "examples/four-bar-spatial.yaml", .t_end = 20},
    {.name = "examples/chain-conv.yaml", .t_end = 20},
    {.name = "fading", .make = toy_fading, .q = {0}, .v = {1}, .t_end = 10},
};
enum { N_PROBLEMS = sizeof problems / sizeof problems[0] };

static const double      wave_times[3] = {0, 0.31, 100}, wave_coeffs[4] = {1, 0.5, -2, 0};
static const yoke_signal wave             = {.n = 1, .n_pieces = 2, .degree = 1, .t = wave_times, .c = wave_coeffs};
static const double      bad_coeffs[4]    = {NAN, NAN, NAN, NAN};
static const yoke_signal wave_of_nonsense = {.n = 1, .n_pieces = 2, .degree = 1, .t = wave_times, .c = bad_coeffs};

typedef struct run {
  const problem         *problem;
  yoke_context          *ctx;
  yoke_model            *model;
  yoke_multibody        *mb;
  yoke_equations         equations;
  yoke_integrator       *integrator;
  yoke_integrator_state *state;
  void                  *scratch;
} run;

static const yoke_signal *inputs(const run *r) {
  return r->equations.nu > 0 ? &wave : NULL;
}

static void run_close(run *r) {
  yoke_integrator_state_destroy(&r->state);
  yoke_integrator_scratch_destroy(&r->scratch);
  yoke_integrator_destroy(&r->integrator);
  if (r->mb != NULL) yoke_equations_destroy(&r->equations);
  yoke_model_destroy(&r->model);
  yoke_context_destroy(&r->ctx);
}

static yoke_status run_create(run *r, const problem *p, const char *method, double fixed_step) {
  yoke_integrator_options options = yoke_integrator_options_default();
  options.rtol                    = 1e-6;
  options.atol                    = 1e-8;
  options.fixed_step              = fixed_step;
  *r                              = (run){.problem = p};
  YOKE_TRY(yoke_context_create(&r->ctx));
  if (p->make != NULL) {
    p->make(&r->equations);
  } else {
    YOKE_TRY(yoke_model_load(r->ctx, p->name, NULL, &r->model));
    YOKE_TRY(yoke_multibody_create(r->ctx, r->model, NULL, &r->equations, &r->mb));
  }
  YOKE_TRY(yoke_integrator_create(r->ctx, method, &r->equations, &options, &r->integrator));
  YOKE_TRY(yoke_integrator_state_create(r->integrator, &r->state));
  return yoke_integrator_scratch_create(r->integrator, &r->scratch);
}

/* With error control, or else with a fixed step. false: the method is not made for this problem. */
static bool run_open(run *r, const problem *p, const char *method, double fixed_step) {
  if (run_create(r, p, method, fixed_step) == YOKE_OK) return true;
  run_close(r);
  if (fixed_step == 0 && run_create(r, p, method, 1e-4) == YOKE_OK) return true;
  if (fixed_step == 0) run_close(r);
  return false;
}

static yoke_status start(run *r) {
  const problem *p = r->problem;
  if (r->mb == NULL)
    return yoke_integrator_start(r->integrator, r->scratch, r->state, 0, p->q, p->v, inputs(r), r->ctx);
  double *q = calloc((size_t)r->equations.nq + 1, sizeof *q), *v = calloc((size_t)r->equations.nv + 1, sizeof *v);
  yoke_multibody_initial_guess(r->mb, q, v);
  const yoke_status status = yoke_integrator_start(r->integrator, r->scratch, r->state, 0, q, v, inputs(r), r->ctx);
  free(q);
  free(v);
  return status;
}

static yoke_status step(run *r, const yoke_signal *u) {
  return yoke_integrator_step(r->integrator, r->scratch, r->state, u, r->problem->t_end, r->ctx);
}

static yoke_status steps(run *r, int n) {
  for (int i = 0; i < n && r->state->t < r->problem->t_end; ++i) YOKE_TRY(step(r, inputs(r)));
  return YOKE_OK;
}

/* ---- situations; false: this run does not come into it ---- */

static bool some_steps_gone(run *r) {
  return start(r) == YOKE_OK && steps(r, 25) == YOKE_OK;
}

/* The last two steps made no new factor, and the next one need not either. */
static bool in_mid_factor(run *r) {
  if (r->integrator->ops->linear == NULL || start(r) != YOKE_OK) return false;
  int n_old = 0;
  for (int i = 0; i < MOST_STEPS && r->state->t < 0.9 * r->problem->t_end; ++i) {
    const int64_t before = r->state->counters.factorings;
    if (step(r, inputs(r)) != YOKE_OK) return false;
    n_old = r->state->counters.factorings == before ? n_old + 1 : 0;
    if (i >= 12 && n_old >= 2 && r->state->factor[0] != NULL) return true;
  }
  return false;
}

static bool a_step_rejected(run *r) {
  if (!some_steps_gone(r) || r->integrator->options.fixed_step > 0) return false;
  for (int i = 0; i < 10; ++i) {
    const int64_t before = r->state->counters.rejected;
    r->state->h *= 30;
    if (step(r, inputs(r)) != YOKE_OK) return false;
    if (r->state->counters.rejected > before) return true;
  }
  return false;
}

static bool a_step_failed(run *r) {
  return r->equations.nu > 0 && some_steps_gone(r) && step(r, &wave_of_nonsense) < 0;
}

static bool inputs_jumped(run *r) {
  return some_steps_gone(r) &&
         yoke_integrator_disturb(r->integrator, r->scratch, r->state, inputs(r), r->ctx) == YOKE_OK;
}

static bool state_was_reset(run *r) {
  if (!some_steps_gone(r)) return false;
  double *q = yoke_integrator_q(r->integrator, r->state), *v = yoke_integrator_v(r->integrator, r->state);
  for (int i = 0; i < r->equations.nv; ++i) v[i] *= 1.01;
  return yoke_integrator_reset(r->integrator, r->scratch, r->state, q, v, inputs(r), r->ctx) == YOKE_OK;
}

static bool just_started(run *r) {
  return start(r) == YOKE_OK;
}

static bool first_points_of_a_grid(run *r) {
  return start(r) == YOKE_OK && steps(r, 3) == YOKE_OK;
}

/* auto has turned to its other method `n` times and made two steps with it. */
static bool has_turned(run *r, int n) {
  if (r->integrator->ops != &auto_ops || start(r) != YOKE_OK) return false;
  int n_turns = 0;
  for (int i = 0; i < 100 * MOST_STEPS && r->state->t < 0.99 * r->problem->t_end; ++i) {
    const int before = r->state->method;
    if (step(r, inputs(r)) != YOKE_OK) return false;
    n_turns += r->state->method != before;
    if (n_turns == n) return steps(r, 2) == YOKE_OK;
  }
  return false;
}
static bool turned_once(run *r) {
  return has_turned(r, 1);
}
static bool turned_twice(run *r) {
  return has_turned(r, 2);
}

typedef struct situation {
  bool (*reach)(run *r);
  double fixed_step;
  int    fewest; /* runs that come into it */
} situation;

static const situation situations[] = {
    {.reach = just_started, .fewest = 55},
    {.reach = some_steps_gone, .fewest = 50},
    {.reach = some_steps_gone, .fixed_step = 1e-3, .fewest = 40},
    {.reach = first_points_of_a_grid, .fixed_step = 1e-3, .fewest = 40},
    {.reach = in_mid_factor, .fewest = 16},
    {.reach = a_step_rejected, .fewest = 40},
    {.reach = a_step_failed, .fewest = 8},
    {.reach = inputs_jumped, .fewest = 50},
    {.reach = state_was_reset, .fewest = 50},
    {.reach = turned_once, .fewest = 2},
    {.reach = turned_twice, .fewest = 2},
};
enum { N_SITUATIONS = sizeof situations / sizeof situations[0] };

/* ---- bytes ---- */

/* Goes on and packs what has become of it. Everything here happens in both processes. */
static yoke_status go_on(run *r, yoke_pack *pack) {
  const size_t      n_q = (size_t)r->equations.nq, n_v = (size_t)r->equations.nv;
  double           *q = calloc(n_q + 1, sizeof *q), *v = calloc(n_v + 1, sizeof *v);
  const yoke_status went = steps(r, GO_ON_STEPS);
  yoke_integrator_interpolate(r->integrator, r->state, 0.3 * r->state->t_prev + 0.7 * r->state->t, q, v);
  yoke_pack_begin(pack);
  yoke_pack_int32(pack, (int32_t)went);
  yoke_pack_doubles(pack, n_q, q);
  yoke_pack_doubles(pack, n_v, v);
  const yoke_status packed = yoke_integrator_pack(r->integrator, r->state, pack, r->ctx);
  free(q);
  free(v);
  return packed == YOKE_OK ? yoke_pack_end(pack, r->ctx) : packed;
}

static const char *job_path(const char *folder, const situation *s, int i_problem, const char *method, const char *end,
                            char path[200]) {
  snprintf(path, 200, "%s/%d-%d-%s.%s", folder, (int)(s - situations), i_problem, method, end);
  return path;
}

/* ---- the other process ---- */

static int go_on_with_files(const char *folder, const situation *s) {
  int n_failed = 0;
  for (int i = 0; i < N_PROBLEMS; ++i) {
    for (int m = 0; m < yoke_integrator_n_methods(); ++m) {
      char           path[200];
      const char    *method = yoke_integrator_method_name(m);
      size_t         size   = 0;
      unsigned char *bytes  = read_bytes(job_path(folder, s, i, method, "before", path), &size);
      run            r;
      if (bytes == NULL) continue;
      yoke_pack   pack = {0};
      yoke_unpack in;
      if (!run_open(&r, &problems[i], method, s->fixed_step)) return 1;
      yoke_status status = yoke_unpack_begin(&in, bytes, size, r.ctx);
      if (status == YOKE_OK) status = yoke_integrator_unpack(r.integrator, &in, r.state, r.ctx);
      if (status == YOKE_OK) status = yoke_unpack_end(&in, r.ctx);
      if (status == YOKE_OK) status = go_on(&r, &pack);
      if (status != YOKE_OK || !write_bytes(job_path(folder, s, i, method, "after", path), &pack)) {
        fprintf(stderr, "%s: %s\n", path, yoke_status_text(status));
        ++n_failed;
      }
      yoke_pack_free(&pack);
      run_close(&r);
      free(bytes);
    }
  }
  return n_failed > 0;
}

/* ---- this process ---- */

/* Brings the run into the situation, packs it into a file, goes on. false: it does not come into it. */
static bool begin_job(const char *folder, const situation *s, int i_problem, const char *method, yoke_pack *after) {
  run       r;
  yoke_pack before = {0};
  char      path[200];
  if (!run_open(&r, &problems[i_problem], method, s->fixed_step)) return false;
  const bool is_there = !r.integrator->ops->no_copy && s->reach(&r);
  if (is_there) {
    yoke_pack_begin(&before);
    assert_int_equal(yoke_integrator_pack(r.integrator, r.state, &before, r.ctx), YOKE_OK);
    assert_int_equal(yoke_pack_end(&before, r.ctx), YOKE_OK);
    assert_true(write_bytes(job_path(folder, s, i_problem, method, "before", path), &before));
    assert_int_equal(go_on(&r, after), YOKE_OK);
  }
  yoke_pack_free(&before);
  run_close(&r);
  return is_there;
}

static void check_situation(const fixture *f, int i_situation) {
  const situation *s         = &situations[i_situation];
  const int        n_methods = yoke_integrator_n_methods();
  yoke_pack       *after     = calloc((size_t)N_PROBLEMS * (size_t)n_methods, sizeof *after);
  int              n_jobs    = 0;
  for (int i = 0; i < N_PROBLEMS; ++i) {
    for (int m = 0; m < n_methods; ++m)
      n_jobs += begin_job(f->folder, s, i, yoke_integrator_method_name(m), &after[i * n_methods + m]);
  }
  if (n_jobs < s->fewest) fail_msg("%d runs came into the situation, expected %d", n_jobs, s->fewest);
  assert_int_equal(run_other_process(f->folder, i_situation), 0);
  for (int k = 0; k < N_PROBLEMS * n_methods; ++k) {
    char        path[200];
    const char *method = yoke_integrator_method_name(k % n_methods);
    size_t      size   = 0;
    if (after[k].bytes == NULL) continue;
    unsigned char *bytes = read_bytes(job_path(f->folder, s, k / n_methods, method, "after", path), &size);
    if (bytes == NULL || size != after[k].size || memcmp(bytes, after[k].bytes, size) != 0)
      fail_msg("'%s' on '%s' has other bits in the other process", method, problems[k / n_methods].name);
    free(bytes);
    yoke_pack_free(&after[k]);
  }
  free(after);
}

static void check_every(void **state, bool (*reach)(run *)) {
  for (int i = 0; i < N_SITUATIONS; ++i) {
    if (situations[i].reach == reach) check_situation(*state, i);
  }
}

static void every_method_goes_on_in_another_process_behind_its_start(void **state) {
  check_every(state, just_started);
}
static void every_method_goes_on_in_another_process_behind_some_steps(void **state) {
  check_every(state, some_steps_gone);
}
static void every_method_goes_on_in_another_process_at_the_first_points_of_a_grid(void **state) {
  check_every(state, first_points_of_a_grid);
}
static void every_method_goes_on_in_another_process_with_a_factor_several_steps_old(void **state) {
  check_every(state, in_mid_factor);
}
static void every_method_goes_on_in_another_process_behind_a_rejected_step(void **state) {
  check_every(state, a_step_rejected);
}
static void every_method_goes_on_in_another_process_behind_a_failed_step(void **state) {
  check_every(state, a_step_failed);
}
static void every_method_goes_on_in_another_process_behind_a_jump_of_the_inputs(void **state) {
  check_every(state, inputs_jumped);
}
static void every_method_goes_on_in_another_process_behind_a_reset(void **state) {
  check_every(state, state_was_reset);
}
static void auto_goes_on_in_another_process_behind_a_change_of_method(void **state) {
  check_every(state, turned_once);
}
static void auto_goes_on_in_another_process_behind_a_change_of_method_and_back(void **state) {
  check_every(state, turned_twice);
}

/* ---- what is refused ---- */

static yoke_status stranger_create(yoke_context *ctx, yoke_integrator *integrator) {
  (void)ctx, (void)integrator;
  return YOKE_OK;
}
static const yoke_integrator_ops stranger_ops = {.name = "stranger", .create = stranger_create, .no_copy = true};
const yoke_integrator_ops *const yoke_guest_integrators[] = {&stranger_ops, NULL};

static void guests_cannot_be_packed_and_say_so(void **state) {
  (void)state;
  run       r;
  yoke_pack pack = {0};
  assert_int_equal(run_create(&r, &problems[0], "stranger", 0), YOKE_OK);
  yoke_pack_begin(&pack);
  assert_int_equal(yoke_integrator_pack(r.integrator, r.state, &pack, r.ctx), YOKE_E_UNSUPPORTED);
  assert_true(has_message(r.ctx, "solver 'stranger' cannot be packed"));
  yoke_pack_free(&pack);
  run_close(&r);
}

static void a_state_of_another_method_or_tolerance_is_refused_and_changes_nothing(void **state) {
  (void)state;
  run         bdf, other;
  yoke_pack   pack = {0};
  yoke_unpack in;
  assert_int_equal(run_create(&bdf, &problems[2], "bdf", 0), YOKE_OK);
  assert_true(some_steps_gone(&bdf));
  yoke_pack_begin(&pack);
  assert_int_equal(yoke_integrator_pack(bdf.integrator, bdf.state, &pack, bdf.ctx), YOKE_OK);
  assert_int_equal(yoke_pack_end(&pack, bdf.ctx), YOKE_OK);
  const struct {
    const char *method, *message;
    double      step;
    int         problem;
  } cases[] = {{"radau5", "it is one of solver 'bdf', this is 'radau5'", 0, 2},
               {"bdf", "had 0 for step, here it is 0.001", 1e-3, 2},
               {"bdf", "for the number of multipliers, here it is 0", 0, 0}};
  for (int i = 0; i < 3; ++i) {
    assert_int_equal(run_create(&other, &problems[cases[i].problem], cases[i].method, cases[i].step), YOKE_OK);
    assert_true(just_started(&other));
    const double h = other.state->h;
    assert_int_equal(yoke_unpack_begin(&in, pack.bytes, pack.size, other.ctx), YOKE_OK);
    assert_int_equal(yoke_integrator_unpack(other.integrator, &in, other.state, other.ctx), YOKE_E_USAGE);
    assert_true(has_message(other.ctx, cases[i].message));
    assert_true(other.state->h == h && other.state->t == 0);
    run_close(&other);
  }
  yoke_pack_free(&pack);
  run_close(&bdf);
}

static void a_state_that_is_cut_off_anywhere_is_refused_and_changes_nothing(void **state) {
  (void)state;
  run       r;
  yoke_pack pack = {0};
  assert_int_equal(run_create(&r, &problems[2], "radau5", 0), YOKE_OK);
  assert_true(some_steps_gone(&r));
  yoke_pack_begin(&pack);
  assert_int_equal(yoke_integrator_pack(r.integrator, r.state, &pack, r.ctx), YOKE_OK);
  assert_int_equal(yoke_pack_end(&pack, r.ctx), YOKE_OK);
  yoke_factor *const factor = r.state->factor[1];
  yoke_unpack        begin;
  assert_int_equal(yoke_unpack_begin(&begin, pack.bytes, pack.size, NULL), YOKE_OK);
  for (size_t size = begin.at; size < begin.size; ++size) {
    yoke_unpack in = begin;
    in.size        = size;
    assert_true(yoke_integrator_unpack(r.integrator, &in, r.state, NULL) < 0);
    assert_ptr_equal(r.state->factor[1], factor);
  }
  yoke_pack_free(&pack);
  run_close(&r);
}

int main(int argc, char **argv) {
  if (argc == 4 && strcmp(argv[1], "--go-on") == 0) return go_on_with_files(argv[2], &situations[atoi(argv[3])]);
#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      IN_A_FOLDER(every_method_goes_on_in_another_process_behind_its_start),
      IN_A_FOLDER(every_method_goes_on_in_another_process_behind_some_steps),
      IN_A_FOLDER(every_method_goes_on_in_another_process_at_the_first_points_of_a_grid),
      IN_A_FOLDER(every_method_goes_on_in_another_process_with_a_factor_several_steps_old),
      IN_A_FOLDER(every_method_goes_on_in_another_process_behind_a_rejected_step),
      IN_A_FOLDER(every_method_goes_on_in_another_process_behind_a_failed_step),
      IN_A_FOLDER(every_method_goes_on_in_another_process_behind_a_jump_of_the_inputs),
      IN_A_FOLDER(every_method_goes_on_in_another_process_behind_a_reset),
      IN_A_FOLDER(auto_goes_on_in_another_process_behind_a_change_of_method),
      IN_A_FOLDER(auto_goes_on_in_another_process_behind_a_change_of_method_and_back),
      cmocka_unit_test(guests_cannot_be_packed_and_say_so),
      cmocka_unit_test(a_state_of_another_method_or_tolerance_is_refused_and_changes_nothing),
      cmocka_unit_test(a_state_that_is_cut_off_anywhere_is_refused_and_changes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
