/* Memory that a program gives: what objects consist of comes from it and goes back, a run has the same bits, and where it ends the library says so. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "check.h"
#include "folder.h"
#include <yoke/yoke.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Counts; refuses everything from number `refuse` on. Every piece knows its size. */
typedef struct pool {
  atomic_long n_calls, n_bytes, n_pieces; /* calls in all, and what is out */
  long        refuse;                     /* < 0: never */
} pool;

static void *pool_allocate(void *user, size_t bytes) {
  pool *p = user;
  if (p->refuse >= 0 && p->n_calls >= p->refuse) return NULL;
  ++p->n_calls;
  ++p->n_pieces;
  p->n_bytes += (long)bytes;
  char *memory = malloc(bytes + 64);
  assert_non_null(memory);
  memcpy(memory, &bytes, sizeof bytes);
  memset(memory + 64, 0xa5, bytes); /* it need not be zero */
  return memory + 64;
}

static void pool_release(void *user, void *memory, size_t bytes) {
  pool  *p = user;
  size_t given;
  memcpy(&given, (char *)memory - 64, sizeof given);
  assert_int_equal(given, bytes);
  --p->n_pieces;
  p->n_bytes -= (long)bytes;
  free((char *)memory - 64);
}

static yoke_memory memory_of(pool *p) {
  return (yoke_memory){.size = sizeof(yoke_memory), .allocate = pool_allocate, .release = pool_release, .user = p};
}

static const char *const models[] = {"examples/two-mass.yaml", "examples/double-pendulum.yaml",
                                     "examples/chain-conv.yaml", "examples/four-bar-bushing.yaml"};
enum { N_MODELS = sizeof models / sizeof *models };

typedef struct outcome {
  yoke_status status;
  double      energy;
  long        n_calls_of_steps; /* behind the first ones */
} outcome;

/* A short run; the context goes before the simulation. */
static outcome simulate(const char *path, bool is_whole, pool *p) {
  const char                   *name    = "total.energy";
  const yoke_simulation_options options = {
      .size = sizeof options, .monolithic = is_whole, .no_predict = true, .exec = "serial", .threads = 1};
  yoke_context    *ctx = NULL, *other = NULL;
  yoke_model      *model = NULL;
  yoke_simulation *s     = NULL;
  outcome          out   = {0};
  int              handle;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_context_create(&other), YOKE_OK);
  if (p != NULL) {
    const yoke_memory memory = memory_of(p);
    assert_int_equal(yoke_context_set_memory(ctx, &memory), YOKE_OK);
  }
  out.status = yoke_model_load(ctx, path, NULL, &model);
  if (out.status == YOKE_OK) out.status = yoke_simulation_create(ctx, model, &options, &s);
  yoke_context_destroy(&ctx);
  yoke_model_destroy(&model);
  for (int i = 0; i < 6 && out.status == YOKE_OK && !yoke_simulation_has_ended(s); ++i) {
    const long before = p != NULL ? p->n_calls : 0;
    out.status        = yoke_simulation_step(other, s, NULL);
    if (i >= 3 && p != NULL) out.n_calls_of_steps += p->n_calls - before;
  }
  if (out.status == YOKE_OK) out.status = yoke_simulation_find(other, s, 1, &name, &handle);
  if (out.status == YOKE_OK) out.status = yoke_simulation_get(other, s, 1, &handle, &out.energy);
  yoke_simulation_destroy(&s);
  yoke_context_destroy(&other);
  return out;
}

static void runs_have_the_same_bits_and_give_back_all_that_they_took(void **state) {
  (void)state;
  for (int k = 0; k < 2 * N_MODELS; ++k) {
    pool          p      = {.refuse = -1};
    const outcome plain  = simulate(models[k / 2], k % 2 == 1, NULL);
    const outcome hooked = simulate(models[k / 2], k % 2 == 1, &p);
    assert_int_equal(plain.status, YOKE_OK);
    assert_int_equal(hooked.status, YOKE_OK);
    assert_memory_equal(&plain.energy, &hooked.energy, sizeof plain.energy);
    assert_true(p.n_calls > 5);
    assert_int_equal(p.n_pieces, 0);
    assert_int_equal(p.n_bytes, 0);
    assert_int_equal(hooked.n_calls_of_steps, 0);
  }
}

static void memory_that_ends_is_told_wherever_it_ends(void **state) {
  (void)state;
  for (int k = 0; k < N_MODELS; ++k) {
    pool all = {.refuse = -1};
    assert_int_equal(simulate(models[k], false, &all).status, YOKE_OK);
    for (long n = 0; n < all.n_calls; n += 1 + n / 20) {
      pool p = {.refuse = n};
      assert_int_equal(simulate(models[k], false, &p).status, YOKE_E_MEMORY);
      assert_int_equal(p.n_pieces, 0);
    }
  }
}

/* Models have their own arrays in it; a chain of 1e5 masses is nearly all of the memory that there is. */
static void large_models_lie_in_it(void **state) {
  static const char text[] = "yoke: 1\nt_end: 1\nbodies: {c: {kind: chain, n: 100000, mass: 1, stiffness: 10*i}}\n";
  fixture          *f      = *state;
  pool              p      = {.refuse = -1};
  const yoke_memory memory = memory_of(&p);
  yoke_model       *model  = NULL;
  assert_int_equal(yoke_context_set_memory(f->ctx, &memory), YOKE_OK);
  assert_int_equal(yoke_model_load_text(f->ctx, "chain", text, strlen(text), NULL, &model), YOKE_OK);
  assert_true(p.n_bytes > 8 * 100000);
  assert_int_equal(yoke_context_set_memory(f->ctx, NULL), YOKE_OK);
  yoke_model_destroy(&model);
  assert_int_equal(p.n_bytes, 0);
}

static void studies_hand_it_on(void **state) {
  static const char *const steps[] = {"1/500"};
  fixture                 *f       = *state;
  pool                     p       = {.refuse = -1};
  const yoke_memory        memory  = memory_of(&p);
  const yoke_choice        end     = {"t-end", "0.02"};
  const yoke_run_options run = {.size = sizeof run, .model = models[0], .n_choices = 1, .choices = &end, .threads = 1};
  const yoke_converge_options  study = {.size = sizeof study, .run = &run, .n_steps = 1, .steps = steps};
  const yoke_stability_options point = {.size = sizeof point, .run = &run};
  yoke_convergence            *c     = NULL;
  yoke_stability_table        *t     = NULL;
  assert_int_equal(yoke_context_set_memory(f->ctx, &memory), YOKE_OK);
  assert_int_equal(yoke_converge(f->ctx, &study, &c), YOKE_OK);
  const long n_calls = p.n_calls;
  assert_true(n_calls > 5);
  assert_int_equal(yoke_stability_study(f->ctx, &point, &t), YOKE_OK);
  assert_true(p.n_calls > n_calls);
  yoke_convergence_destroy(&c);
  yoke_stability_table_destroy(&t);
  assert_int_equal(p.n_pieces, 0);
}

static void half_a_hook_is_refused(void **state) {
  fixture    *f      = *state;
  pool        p      = {.refuse = -1};
  yoke_memory memory = memory_of(&p);
  memory.release     = NULL;
  assert_int_equal(yoke_context_set_memory(f->ctx, &memory), YOKE_E_USAGE);
  assert_true(has_message(f->ctx, "memory without a function `release`"));
  memory      = memory_of(&p);
  memory.size = 0;
  assert_int_equal(yoke_context_set_memory(f->ctx, &memory), YOKE_E_USAGE);
  assert_true(has_message(f->ctx, "sizeof(yoke_memory)"));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(runs_have_the_same_bits_and_give_back_all_that_they_took),
      TEST(memory_that_ends_is_told_wherever_it_ends),
      TEST(large_models_lie_in_it),
      TEST(studies_hand_it_on),
      TEST(half_a_hook_is_refused),
  };
  return cmocka_run_group_tests_name("memory hook", tests, NULL, NULL);
}
