/* A plan that travels as bytes is the same plan: what it is made of, what it runs to, and who may read it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "base/pack.h"
#include "master/native_part.h"
#include "master/plan_bytes.h"
#include "master/system.h"
#include <yoke/model.h>
#include <yoke/version.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 4 };

static yoke_model *load(yoke_context *ctx, const char *path, int n_sets, const char *const *sets) {
  const yoke_load_options options = {.size = sizeof options, .n_sets = n_sets, .sets = sets};
  yoke_model             *model   = NULL;
  if (yoke_model_load(ctx, path, &options, &model) != YOKE_OK) fail_msg("%s", yoke_context_message(ctx, 0));
  return model;
}

static yoke_plan *plan_of(yoke_context *ctx, const yoke_model *model, bool is_whole) {
  const yoke_plan_options options = {.is_whole = is_whole};
  yoke_plan              *plan    = NULL;
  if (yoke_plan_create(ctx, model, &options, &plan) != YOKE_OK) fail_msg("%s", yoke_context_message(ctx, 0));
  return plan;
}

static yoke_plan *copy_of(yoke_context *ctx, const yoke_plan *plan) {
  yoke_pack  pack = {0};
  yoke_plan *copy = NULL;
  assert_int_equal(yoke_plan_pack(plan, NULL, 0, &pack, ctx), YOKE_OK);
  if (yoke_plan_unpack(ctx, pack.bytes, pack.size, &copy) != YOKE_OK)
    fail_msg("%s: %s", plan->name, yoke_context_message(ctx, yoke_context_n_messages(ctx) - 1));
  yoke_pack_free(&pack);
  return copy;
}

/* ---- runs ---- */

typedef struct seen {
  const yoke_plan *plan;
  uint64_t         sum;
  int              n;
} seen;

static yoke_status add_sample(void *user, double t, const double *outputs, const yoke_counters *counters, double h,
                              int order) {
  seen *s = user;
  (void)counters;
  s->sum = yoke_checksum(s->sum, &t, sizeof t);
  s->sum = yoke_checksum(s->sum, &h, sizeof h);
  s->sum = yoke_checksum(s->sum, &order, sizeof order);
  s->sum = yoke_checksum(s->sum, outputs, (size_t)s->plan->outputs.n * sizeof *outputs);
  ++s->n;
  return YOKE_OK;
}

/* Checksum of all that a few steps show, and of the state behind them. */
static uint64_t run(yoke_context *ctx, const yoke_plan *plan, const char *path) {
  const yoke_system_options options = {.exec = "serial", .threads = 1};
  seen                      s       = {.plan = plan, .sum = YOKE_CHECKSUM_START};
  const yoke_sink           sink    = {.user = &s, .sample = add_sample};
  yoke_system              *system  = NULL;
  yoke_pack                 pack    = {0};
  bool                      stop    = false;
  if (yoke_system_create(ctx, plan, &options, &system) != YOKE_OK)
    fail_msg("%s: %s", path, yoke_context_message(ctx, yoke_context_n_messages(ctx) - 1));
  assert_int_equal(yoke_system_begin(system, &sink, ctx), YOKE_OK);
  for (int i = 0; i < STEPS && !stop && yoke_system_t(system) < plan->t_end; ++i) {
    yoke_step_statistics statistics;
    assert_int_equal(yoke_system_step(system, plan->t_end, &sink, &statistics, &stop, ctx), YOKE_OK);
  }
  assert_int_equal(yoke_system_sample(system, &sink, ctx), YOKE_OK);
  assert_int_equal(yoke_system_save(system, &pack, ctx), YOKE_OK);
  s.sum = yoke_checksum(s.sum, pack.bytes, pack.size);
  yoke_pack_free(&pack);
  yoke_system_destroy(&system);
  assert_true(s.n >= 2);
  return s.sum;
}

static void bytes_of_a_plan_run_as_the_plan(const char *path, bool is_whole, int n_sets, const char *const *sets) {
  yoke_context *ctx = NULL;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  yoke_model *model = load(ctx, path, n_sets, sets);
  if (is_whole || model->n_parts > 0) {
    yoke_plan     *plan = plan_of(ctx, model, is_whole), *copy = copy_of(ctx, plan);
    const uint64_t first = run(ctx, plan, path);
    yoke_plan_destroy(&plan);
    yoke_model_destroy(&model);
    if (run(ctx, copy, path) != first) fail_msg("%s, %s: other bits", path, is_whole ? "as a whole" : "split");
    yoke_plan *again = copy_of(ctx, copy); /* a copy travels on as well */
    assert_true(run(ctx, again, path) == first);
    yoke_plan_destroy(&again);
    yoke_plan_destroy(&copy);
  }
  yoke_model_destroy(&model);
  yoke_context_destroy(&ctx);
}

static void every_example_runs_to_the_same_bits_from_bytes(void **state) {
  glob_t files;
  (void)state;
  assert_int_equal(glob("examples/*.yaml", 0, NULL, &files), 0);
  for (size_t f = 0; f < files.gl_pathc; ++f) {
    for (int is_whole = 0; is_whole < 2; ++is_whole)
      bytes_of_a_plan_run_as_the_plan(files.gl_pathv[f], is_whole > 0, 0, NULL);
  }
  assert_true(files.gl_pathc > 20);
  globfree(&files);
}

static void formulations_substeps_and_halos_run_to_the_same_bits_from_bytes(void **state) {
  static const char double_pendulum[] = "examples/double-pendulum.yaml", net[] = "bench/overlap/net.yaml";
  static const struct {
    const char *path, *sets[2];
  } rows[] = {
      {double_pendulum, {"cosimulation.couplings.formulation=baumgarte", "cosimulation.scheme=semi-implicit"}},
      {double_pendulum, {"cosimulation.couplings.formulation=projection", "cosimulation.scheme=semi-implicit"}},
      {double_pendulum, {"cosimulation.couplings.formulation=stabilized-index-1", "cosimulation.scheme=implicit"}},
      {double_pendulum, {"cosimulation.couplings.formulation=kinematic", "cosimulation.scheme=explicit"}},
      {double_pendulum, {"cosimulation.scheme=implicit", "cosimulation.start=exact"}},
      {"examples/two-mass.yaml", {"cosimulation.substeps.b=3", "cosimulation.scheme=explicit"}},
      {net, {"parameters.n=400", "split={l: [\"b[1..200]\"], r: [\"b[201..400]\"]}"}}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    bytes_of_a_plan_run_as_the_plan(rows[i].path, false, 2, rows[i].sets);
}

/* ---- shares ---- */

static const char *const large[] = {"parameters.n=40000", "split.c=20", "output.select=[\"c.x[1]\"]"};

static void a_share_has_the_parts_of_its_rank_and_the_names_of_all(void **state) {
  enum { N = 4 };
  yoke_context *ctx    = NULL;
  size_t        all    = 0;
  int           n_made = 0;
  (void)state;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  yoke_model *model = load(ctx, "examples/chain-imp.yaml", 3, large);
  yoke_plan  *plan  = plan_of(ctx, model, false);
  yoke_pack   pack  = {0};
  int        *owner = calloc((size_t)plan->n_parts, sizeof *owner);
  yoke_plan_place(plan, N, owner);
  assert_int_equal(yoke_plan_pack(plan, NULL, 0, &pack, ctx), YOKE_OK);
  all = pack.size;
  for (int r = 0; r < N; ++r) {
    yoke_plan *share = NULL;
    assert_int_equal(yoke_plan_pack(plan, owner, r, &pack, ctx), YOKE_OK);
    assert_true(pack.size < all / 3);
    assert_int_equal(yoke_plan_unpack(ctx, pack.bytes, pack.size, &share), YOKE_OK);
    for (int i = 0; i < plan->n_parts; ++i) {
      assert_string_equal(share->parts[i].name, plan->parts[i].name);
      assert_int_equal(share->parts[i].make == NULL, owner[i] != r);
      n_made += share->parts[i].make != NULL;
    }
    yoke_plan_destroy(&share);
  }
  assert_int_equal(n_made, plan->n_parts);
  free(owner);
  yoke_pack_free(&pack);
  yoke_plan_destroy(&plan);
  yoke_model_destroy(&model);
  yoke_context_destroy(&ctx);
}

/* ---- damage ---- */

/* The checksum is made right again, so that the damage is read. */
static void sign(unsigned char *bytes, size_t size) {
  const uint64_t sum = yoke_checksum(YOKE_CHECKSUM_START, bytes, size - 8);
  for (int i = 0; i < 8; ++i) bytes[size - 8 + (size_t)i] = (unsigned char)(sum >> (8 * i));
}

static void bytes_that_are_cut_off_or_changed_are_refused(void **state) {
  yoke_context *ctx  = NULL;
  yoke_pack     pack = {0};
  yoke_plan    *copy = NULL;
  (void)state;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  yoke_model *model = load(ctx, "examples/four-bar-spatial.yaml", 0, NULL);
  yoke_plan  *plan  = plan_of(ctx, model, false);
  assert_int_equal(yoke_plan_pack(plan, NULL, 0, &pack, ctx), YOKE_OK);
  unsigned char *bytes = malloc(pack.size);
  assert_non_null(bytes);
  for (size_t size = 0; size < pack.size; size += 1 + pack.size / 97) {
    memcpy(bytes, pack.bytes, size);
    assert_int_not_equal(yoke_plan_unpack(ctx, bytes, size, &copy), YOKE_OK);
    assert_null(copy);
    if (size < 200) continue;
    sign(bytes, size);
    assert_int_not_equal(yoke_plan_unpack(ctx, bytes, size, &copy), YOKE_OK);
    assert_null(copy);
  }
  for (size_t at = 0; at < pack.size; at += 1 + pack.size / 97) {
    memcpy(bytes, pack.bytes, pack.size);
    bytes[at] ^= 0x40;
    assert_int_not_equal(yoke_plan_unpack(ctx, bytes, pack.size, &copy), YOKE_OK);
    assert_null(copy);
  }
  memcpy(bytes, pack.bytes, pack.size); /* another version */
  size_t at = 0;
  while (at < 64 && memcmp(bytes + at, YOKE_VERSION, sizeof YOKE_VERSION) != 0) ++at;
  assert_true(at < 64);
  bytes[at] ^= 1;
  sign(bytes, pack.size);
  assert_int_equal(yoke_plan_unpack(ctx, bytes, pack.size, &copy), YOKE_E_UNSUPPORTED);
  free(bytes);
  yoke_pack_free(&pack);
  yoke_plan_destroy(&plan);
  yoke_model_destroy(&model);
  yoke_context_destroy(&ctx);
}

/* With a right checksum: counts, numbers and names are looked at, and nothing is read or written where it must not be. */
static void changed_bytes_with_a_right_checksum_do_no_harm(void **state) {
  yoke_context *ctx       = NULL;
  yoke_pack     pack      = {0};
  int           n_refused = 0;
  (void)state;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  yoke_model *model = load(ctx, "examples/four-bar-spatial.yaml", 0, NULL);
  yoke_plan  *plan  = plan_of(ctx, model, false);
  assert_int_equal(yoke_plan_pack(plan, NULL, 0, &pack, ctx), YOKE_OK);
  unsigned char *bytes = malloc(pack.size);
  assert_non_null(bytes);
  for (size_t at = 0; at + 8 < pack.size; at += 1 + pack.size / 499) {
    yoke_plan *copy = NULL;
    memcpy(bytes, pack.bytes, pack.size);
    bytes[at] ^= 0x81;
    sign(bytes, pack.size);
    n_refused += yoke_plan_unpack(ctx, bytes, pack.size, &copy) != YOKE_OK;
    yoke_plan_destroy(&copy);
  }
  assert_true(n_refused > 20);
  free(bytes);
  yoke_pack_free(&pack);
  yoke_plan_destroy(&plan);
  yoke_model_destroy(&model);
  yoke_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_example_runs_to_the_same_bits_from_bytes),
      cmocka_unit_test(formulations_substeps_and_halos_run_to_the_same_bits_from_bytes),
      cmocka_unit_test(a_share_has_the_parts_of_its_rank_and_the_names_of_all),
      cmocka_unit_test(bytes_that_are_cut_off_or_changed_are_refused),
      cmocka_unit_test(changed_bytes_with_a_right_checksum_do_no_harm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
