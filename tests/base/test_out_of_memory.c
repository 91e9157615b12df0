/* F43: every allocation of the library fails once in small runs of every kind. Whatever is missing, the run ends with YOKE_E_MEMORY and a
 * message that says so, nothing crashes, and nothing that was allocated is left.
 *
 * The linker leads the calls of the library (it is static) to the functions below; what other libraries allocate is the matter of
 * verify/out_of_memory.sh. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yoke/yoke.h>

#include "../sample.h"

/* ---- allocations that fail ---- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void  __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void  __wrap_free(void *memory);

enum { TABLE = 1 << 16 };
static struct {
  bool      is_on;
  long      n_calls, failing; /* the call that fails; 0: none */
  long      n_live;
  uintptr_t live[TABLE]; /* addresses, open hashing; 1: was here */
} heap;

static size_t place_of(uintptr_t address) {
  return (size_t)((address >> 4) * 0x9e3779b97f4a7c15u >> 48) % TABLE;
}

static void *enter(void *memory) {
  if (!heap.is_on || memory == NULL) return memory;
  size_t at = place_of((uintptr_t)memory);
  while (heap.live[at] > 1) at = (at + 1) % TABLE;
  heap.live[at] = (uintptr_t)memory;
  ++heap.n_live;
  return memory;
}

static void leave(const void *memory) {
  if (memory == NULL) return;
  for (size_t at = place_of((uintptr_t)memory); heap.live[at] != 0; at = (at + 1) % TABLE) {
    if (heap.live[at] != (uintptr_t)memory) continue;
    heap.live[at] = 1;
    --heap.n_live;
    return;
  }
}

static bool fails(void) {
  return heap.is_on && ++heap.n_calls == heap.failing;
}

void *__wrap_malloc(size_t size) {
  return fails() ? NULL : enter(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size) {
  return fails() ? NULL : enter(__real_calloc(count, size));
}

void *__wrap_realloc(void *memory, size_t size) {
  if (fails()) return NULL;
  leave(memory);
  return enter(__real_realloc(memory, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  return fails() ? NULL : enter(__real_aligned_alloc(alignment, size));
}

void __wrap_free(void *memory) {
  leave(memory);
  __real_free(memory);
}

/* ---- every allocation once ---- */

typedef yoke_status (*run_function)(yoke_context *ctx);

static const char *error_of(const yoke_context *ctx, size_t i) {
  return yoke_context_message_severity(ctx, i) == YOKE_SEVERITY_ERROR ? yoke_context_message(ctx, i) : NULL;
}

/* What is wrong with a run whose memory ran out; "": nothing. A message that blames the model or a file for the lack of memory would
 * send its reader the wrong way. */
static void find_mistake(const yoke_context *ctx, yoke_status status, char text[300]) {
  size_t n_errors = 0;
  text[0]         = '\0';
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) { /* only a note was lost, and says so */
    if (status == YOKE_OK && strcmp(yoke_context_message(ctx, i), "out of memory") == 0) return;
  }
  if (status != YOKE_E_MEMORY) snprintf(text, 300, "%s", yoke_status_name(status));
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) {
    const char *message = error_of(ctx, i);
    if (message != NULL) ++n_errors;
    if (message != NULL && strstr(message, "out of memory") == NULL) snprintf(text, 300, "message '%s'", message);
  }
  if (n_errors == 0 && text[0] == '\0') snprintf(text, 300, "no message");
}

/* Lets one allocation after the other fail until a run gets through. */
static void check_every_allocation(run_function run) {
  const long step       = sample_stride();
  int        n_mistakes = 0;
  for (long failing = 1;; failing += step) {
    yoke_context *ctx = NULL;
    char          mistake[300];
    memset(&heap, 0, sizeof heap);
    heap.failing = failing;
    assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
    heap.is_on               = true;
    const yoke_status status = run(ctx);
    heap.is_on               = false;
    const bool is_through    = heap.n_calls < failing;
    find_mistake(ctx, status, mistake);
    yoke_context_destroy(&ctx);
    if (is_through) snprintf(mistake, sizeof mistake, "%s", status == YOKE_OK ? "" : yoke_status_name(status));
    if (heap.n_live != 0) snprintf(mistake, sizeof mistake, "%ld pieces are left", heap.n_live);
    if (mistake[0] != '\0') print_message("allocation %ld: %s\n", failing, mistake);
    n_mistakes += mistake[0] != '\0';
    if (is_through) break;
  }
  assert_true(heap.n_calls > 100);
  assert_int_equal(n_mistakes, 0);
}

/* A little of everything: a joint and a force element that are cut, an expression, an event, a chain. */
static const char pendulum[] =
    "yoke: 1\n"
    "name: pendulum and cart\n"
    "parameters: {m: 1, l: 0.5}\n"
    "gravity: [0, -9.81]\n"
    "t_end: 0.02\n"
    "bodies:\n"
    "  cart: {kind: planar, mass: 2*m, inertia: 1}\n"
    "  rod: {kind: planar, mass: m, inertia: m*l^2/3, angle: pi/2, position: [0, -l], frames: {top: [l, 0], tip: [-l, "
    "0]}}\n"
    "  c: {kind: chain, n: 4, mass: 1, stiffness: 1e2, loads: [{on: 1, kind: harmonic, force: 1, omega: 2}]}\n"
    "connections:\n"
    "  rail: {kind: translational, between: [ground, cart], axis: [1, 0, 0]}\n"
    "  hinge: {kind: revolute, between: [cart, rod.top]}\n"
    "  spring: {kind: spring-damper, between: [ground, cart], stiffness: 10, damping: 1, free_length: 0.1}\n"
    "loads:\n"
    "  push: {kind: expression, on: cart, force: [\"sin(3*t) - 0.1*cart.vx - rail.distance_rate\", 0]}\n"
    "outputs:\n"
    "  fast: {value: hypot(rod.tip.vx, rod.tip.vy) + hinge.angle, unit: m/s, description: of the tip}\n"
    "  twice: 2*fast\n"
    "events:\n"
    "  passes: {when: t - 0.015, set: {rod.omega: 0.1}}\n"
    "split: {a: [cart, \"c[1..2]\"], b: [rod, \"c[3..4]\"]}\n"
    "cosimulation: {step: 0.01}\n"
    "solvers: {default: {kind: radau5}}\n";

static const char two_masses[] = "yoke: 1\n"
                                 "name: two masses\n"
                                 "t_end: 0.02\n"
                                 "bodies:\n"
                                 "  left: {kind: mass1d, mass: 1, x: 0.1}\n"
                                 "  right: {kind: mass1d, mass: 2}\n"
                                 "connections:\n"
                                 "  wall: {kind: spring-damper, between: [ground, left], stiffness: 200, damping: 1}\n"
                                 "  spring: {kind: spring-damper, between: [left, right], stiffness: 100, damping: 1}\n"
                                 "split: {a: [left], b: [right]}\n"
                                 "cosimulation: {step: 0.01}\n";

/* auto turns to its implicit method, which is made then. */
static const char stiff_chain[] = "yoke: 1\n"
                                  "name: stiff chain\n"
                                  "t_end: 0.3\n"
                                  "bodies:\n"
                                  "  c: {kind: chain, n: 3, mass: 1, stiffness: 1e3, damping: 1e5, x: 0.1}\n"
                                  "solvers: {default: {rtol: 1e-4}}\n";

enum { PENDULUM, TWO_MASSES, STIFF_CHAIN, H5, CSV, N_FILES };
static char folder[] = "/tmp/yoke-memory-XXXXXX";
static char path[N_FILES][64];

static yoke_run_options options_of_run(int model) {
  yoke_run_options options = {.size = sizeof options};
  options.model            = path[model];
  options.threads          = 1;
  options.exec             = "serial";
  return options;
}

static yoke_status run_with_files(yoke_context *ctx, bool monolithic) {
  yoke_run_summary summary = {.size = sizeof summary};
  yoke_run_options options = options_of_run(PENDULUM);
  options.monolithic       = monolithic;
  options.out              = yoke_has_hdf5() ? path[H5] : "";
  options.csv              = path[CSV];
  const yoke_status status = yoke_run(ctx, &options, &summary);
  yoke_run_summary_release(&summary);
  return status;
}

static yoke_status run_whole(yoke_context *ctx) {
  return run_with_files(ctx, true);
}

static yoke_status run_split(yoke_context *ctx) {
  return run_with_files(ctx, false);
}

static yoke_status run_stability(yoke_context *ctx) {
  yoke_stability_table        *table   = NULL;
  const yoke_run_options       run     = options_of_run(TWO_MASSES);
  const yoke_stability_options options = {.size = sizeof options, .run = &run};
  const yoke_status            status  = yoke_stability_study(ctx, &options, &table);
  yoke_stability_table_destroy(&table);
  return status;
}

static yoke_status use_simulation(yoke_context *ctx, yoke_simulation *s, yoke_snapshot **snapshots) {
  const char                *names[] = {"rod.x", "hinge.force[1]", "total.energy", "hinge.mismatch[2]"};
  const yoke_record_options  options = {.size = sizeof options, .out = "", .csv = path[CSV]};
  yoke_simulation_statistics sums    = {.size = sizeof sums};
  int                        handles[4];
  double                     values[4];
  size_t                     size;
  YOKE_TRY(yoke_simulation_find(ctx, s, 2, names, handles));
  YOKE_TRY(yoke_simulation_step(ctx, s, NULL));
  YOKE_TRY(yoke_simulation_save(ctx, s, &snapshots[0]));
  YOKE_TRY(yoke_simulation_find(ctx, s, 4, names, handles));
  YOKE_TRY(yoke_simulation_get(ctx, s, 4, handles, values));
  const void *bytes = yoke_snapshot_bytes(snapshots[0], &size);
  YOKE_TRY(yoke_snapshot_from_bytes(ctx, bytes, size, &snapshots[1]));
  YOKE_TRY(yoke_simulation_record(ctx, s, &options));
  YOKE_TRY(yoke_simulation_run_to(ctx, s, 0.02));
  YOKE_TRY(yoke_simulation_record_end(ctx, s));
  YOKE_TRY(yoke_simulation_save(ctx, s, &snapshots[0]));
  YOKE_TRY(yoke_simulation_restore(ctx, s, snapshots[1]));
  return yoke_simulation_statistics_get(ctx, s, &sums);
}

static yoke_status run_simulation(yoke_context *ctx) {
  const yoke_choice             choices[]    = {{"order", "1"}};
  const yoke_simulation_options options      = {.size      = sizeof options,
                                                .n_choices = 1,
                                                .choices   = choices,
                                                .exec      = "serial"}; /* the heap counts for one thread */
  yoke_model                   *model        = NULL;
  yoke_simulation              *s            = NULL;
  yoke_snapshot                *snapshots[2] = {NULL, NULL};
  yoke_status                   status       = yoke_model_load(ctx, path[PENDULUM], NULL, &model);
  if (status == YOKE_OK) status = yoke_simulation_create(ctx, model, &options, &s);
  if (status == YOKE_OK) status = use_simulation(ctx, s, snapshots);
  for (int i = 0; i < 2; ++i) yoke_snapshot_destroy(&snapshots[i]);
  yoke_simulation_destroy(&s);
  yoke_model_destroy(&model);
  return status;
}

static void every_allocation_of_a_simulation_may_fail(void **state) {
  (void)state;
  check_every_allocation(run_simulation);
}

static yoke_status run_draft(yoke_context *ctx) {
  static const char *const    bodies[]   = {"a1", "a2"};
  const double                gravity[]  = {0.0, -9.81};
  const yoke_draft_body       body       = {.size = sizeof body, .kind = "planar", .mass = 1.0, .inertia = {1.0}};
  const yoke_draft_frame      frame      = {.size = sizeof frame, .at = {0.5}};
  const yoke_draft_connection connection = {.size = sizeof connection, .kind = "revolute", .between = {"ground", "a1"}};
  const yoke_draft_load       load       = {.size = sizeof load, .kind = "constant", .on = "a1", .torque = {"1"}};
  yoke_draft                 *d          = NULL;
  yoke_model                 *model      = NULL;
  YOKE_TRY(yoke_draft_create(ctx, "draft", &d));
  yoke_draft_set_number(d, "t_end", 1.0);
  yoke_draft_set_numbers(d, "gravity", 2, gravity);
  for (int i = 1; i <= 150; ++i) {
    char name[16];
    snprintf(name, sizeof name, "a%d", i);
    yoke_draft_add_body(d, name, &body);
    yoke_draft_add_frame(d, name, "tip", &frame);
  }
  yoke_draft_add_connection(d, "hinge", &connection);
  yoke_draft_add_load(d, "push", &load);
  yoke_draft_add_output(d, "height", "a1.y", "m");
  yoke_draft_choose(d, "step", "1e-3");
  yoke_draft_set_texts(d, "output.select", 2, bodies);
  yoke_draft_set_texts(d, "output.select", 2, (const char *const[]){"a1.*", "height"});
  yoke_status status = yoke_model_build(ctx, d, NULL, &model);
  yoke_model_destroy(&model);
  yoke_draft_destroy(&d);
  return status;
}

static void every_allocation_of_a_draft_may_fail(void **state) {
  (void)state;
  check_every_allocation(run_draft);
}

/* What models are asked, without files. */
static yoke_status run_questions(yoke_context *ctx) {
  const yoke_run_options run   = options_of_run(TWO_MASSES);
  yoke_run_summary       split = {.size = sizeof split}, whole = {.size = sizeof whole};
  yoke_inspection       *inspection = NULL;
  yoke_modes            *modes      = NULL;
  yoke_comparison       *comparison = NULL;
  yoke_split_proposal   *proposal   = NULL;
  yoke_status            status     = yoke_model_inspect(ctx, &run, &inspection);
  if (status == YOKE_OK) status = yoke_modes_compute(ctx, &run, YOKE_AT_START, &modes);
  if (status == YOKE_OK && yoke_has_metis()) status = yoke_split_propose(ctx, &run, 2, &proposal);
  if (status == YOKE_OK) status = yoke_run_compare(ctx, &run, &split, &whole, &comparison);
  yoke_inspection_destroy(&inspection);
  yoke_modes_destroy(&modes);
  yoke_split_proposal_destroy(&proposal);
  yoke_comparison_destroy(&comparison);
  yoke_run_summary_release(&split);
  yoke_run_summary_release(&whole);
  return status;
}

static void every_allocation_of_questions_may_fail(void **state) {
  (void)state;
  check_every_allocation(run_questions);
}

static yoke_status run_turning(yoke_context *ctx) {
  const yoke_run_options options = options_of_run(STIFF_CHAIN);
  yoke_run_summary       summary = {.size = sizeof summary};
  const yoke_status      status  = yoke_run(ctx, &options, &summary);
  if (status == YOKE_OK) assert_string_equal(summary.method, "radau5");
  yoke_run_summary_release(&summary);
  return status;
}

static void every_allocation_of_a_change_of_method_may_fail(void **state) {
  (void)state;
  check_every_allocation(run_turning);
}

static void f43_every_allocation_of_a_monolithic_run_may_fail(void **state) {
  (void)state;
  check_every_allocation(run_whole);
}

static void f43_every_allocation_of_a_split_run_may_fail(void **state) {
  (void)state;
  check_every_allocation(run_split);
}

static void f43_every_allocation_of_a_stability_analysis_may_fail(void **state) {
  (void)state;
  check_every_allocation(run_stability);
}

static bool write_text(const char *name, const char *text) {
  FILE *file = fopen(name, "w");
  if (file == NULL) return false;
  const bool is_written = fputs(text, file) >= 0;
  return fclose(file) == 0 && is_written;
}

static int make_files(void **state) {
  static const char *const names[N_FILES] = {"pendulum.yaml", "two-masses.yaml", "stiff-chain.yaml", "out.h5",
                                             "out.csv"};
  (void)state;
  if (mkdtemp(folder) == NULL) return -1;
  for (int i = 0; i < N_FILES; ++i) snprintf(path[i], sizeof path[i], "%s/%s", folder, names[i]);
  return write_text(path[PENDULUM], pendulum) && write_text(path[TWO_MASSES], two_masses) &&
                 write_text(path[STIFF_CHAIN], stiff_chain)
             ? 0
             : -1;
}

static int remove_files(void **state) {
  (void)state;
  for (int i = 0; i < N_FILES; ++i) remove(path[i]);
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(f43_every_allocation_of_a_monolithic_run_may_fail),
      cmocka_unit_test(f43_every_allocation_of_a_split_run_may_fail),
      cmocka_unit_test(every_allocation_of_a_simulation_may_fail),
      cmocka_unit_test(f43_every_allocation_of_a_stability_analysis_may_fail),
      cmocka_unit_test(every_allocation_of_a_change_of_method_may_fail),
      cmocka_unit_test(every_allocation_of_a_draft_may_fail),
      cmocka_unit_test(every_allocation_of_questions_may_fail),
  };
  return cmocka_run_group_tests(tests, make_files, remove_files);
}
