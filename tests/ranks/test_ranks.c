/* Runs on several ranks, which are threads here: the same bits as one process alone, and one end for all. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../folder.h"
#include "../user/types.h"
#include "world.h"
#include <math.h>
#include <stdatomic.h>

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* ---- arguments of the program as options ---- */

enum { MOST_WORDS = 64 };

typedef struct arguments {
  char             text[1000];
  const char      *sets[MOST_WORDS];
  yoke_choice      choices[MOST_WORDS];
  yoke_run_options options;
} arguments;

/* The next word of a shell in *rest, which moves behind it: up to a blank that is not between ' and ', without these; NULL: none is left. */
static char *next_word(char **rest) {
  char *from = *rest + strspn(*rest, " "), *to = from, *const word = from;
  bool is_quoted = false;
  if (*from == '\0') return NULL;
  for (; *from != '\0' && (is_quoted || *from != ' '); ++from) {
    if (*from == '\'')
      is_quoted = !is_quoted;
    else
      *to++ = *from;
  }
  *rest = *from != '\0' ? from + 1 : from;
  *to   = '\0';
  return word;
}

/* "run FILE --name value ...". */
static void read_arguments(const char *text, arguments *a) {
  char *rest = a->text;
  assert_true(snprintf(a->text, sizeof a->text, "%s", text) < (int)sizeof a->text);
  a->options = (yoke_run_options){.size = sizeof a->options, .sets = a->sets, .choices = a->choices, .exec = "serial"};
  (void)next_word(&rest);
  a->options.model = next_word(&rest);
  for (char *word = next_word(&rest); word != NULL; word = next_word(&rest)) {
    if (strcmp(word, "--monolithic") == 0) {
      a->options.monolithic = true;
      continue;
    }
    char *value = next_word(&rest);
    assert_non_null(value);
    if (strcmp(word, "--set") == 0)
      a->sets[a->options.n_sets++] = value;
    else
      a->choices[a->options.n_choices++] = (yoke_choice){word + 2, value};
  }
}

/* ---- runs ---- */

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  fseek(file, 0, SEEK_END);
  const size_t size = (size_t)ftell(file);
  char        *text = calloc(size + 1, 1);
  rewind(file);
  assert_int_equal(fread(text, 1, size, file), size);
  fclose(file);
  return text;
}

static yoke_status run_here(yoke_context *ctx, const yoke_run_options *options) {
  yoke_run_summary  summary = {.size = sizeof summary};
  const yoke_status status  = yoke_run(ctx, options, &summary);
  yoke_run_summary_release(&summary);
  return status;
}

static yoke_status run_on_rank(world_rank *rank, void *user) {
  return run_here(rank->ctx, user);
}

/* Are the results of n ranks those of one process? */
static bool is_same(const fixture *f, const char *text, int n) {
  char       one[128], many[128];
  arguments  a;
  world      w;
  world_rank ranks[WORLD_MOST];
  read_arguments(text, &a);
  a.options.out            = "";
  a.options.csv            = in_folder(f, "one.csv", one);
  const yoke_status status = run_here(f->ctx, &a.options);
  a.options.csv            = in_folder(f, "many.csv", many);
  world_run(&w, n, ranks, run_on_rank, &a.options);
  char *expected = read_file(one), *found = read_file(many);
  bool  is_fine = expected != NULL && found != NULL && strcmp(expected, found) == 0;
  for (int i = 0; i < n; ++i) is_fine = is_fine && ranks[i].status == status;
  if (!is_fine) {
    print_error("%s: status %d, on rank 0 of %d %d\n", text, status, n, ranks[0].status);
    for (size_t i = 0; i < yoke_context_n_messages(ranks[0].ctx); ++i)
      print_error("  %s\n", yoke_context_message(ranks[0].ctx, i));
  }
  world_end(&w, ranks);
  yoke_context_clear(f->ctx);
  free(expected);
  free(found);
  remove(one);
  remove(many);
  return is_fine;
}

/* ---- the tests ---- */

enum {
#ifdef YOKE_SANITIZED
  EVERY = 9
#else
  EVERY = 2
#endif
};

/* A share of the runs whose bits are stored, on two, three or four ranks in turn; `make verify` has all of them. */
static void stored_runs_have_the_same_bits_on_any_number_of_ranks(void **state) {
  const fixture *f    = *state;
  char          *list = read_file("tests/bits/stored.txt");
  int            n = 0, n_wrong = 0;
  assert_non_null(list);
  for (char *next, *line = list; *line != '\0'; line = next) {
    next = line + strcspn(line, "\n");
    if (*next == '\n') *next++ = '\0';
    char *text = strstr(line, "| run ");
    if (*line == '#' || text == NULL || n++ % EVERY != 0) continue;
    text += 2;
    text[strcspn(text, "|")] = '\0';
    n_wrong += !is_same(f, text, 2 + n / EVERY % 3);
  }
  free(list);
  assert_true(n > 100);
  assert_int_equal(n_wrong, 0);
}

/* Two masses and a spring between them, which the test makes worse. */
#define MASSES(load, step, more)                                                                                       \
  "yoke: 1\n"                                                                                                          \
  "t_end: 0.1\n"                                                                                                       \
  "bodies: {p: {kind: mass1d, mass: 1, x: 0.1}, q: {kind: mass1d, mass: 2}}\n"                                         \
  "connections: {spring: {kind: spring-damper, between: [p, q], stiffness: 100, damping: 1}}\n"                        \
  "loads: {pull: {kind: expression, on: q, force: '" load "'}}\n"                                                      \
  "split: {a: [p], b: [q]}\n"                                                                                          \
  "cosimulation: {scheme: semi-implicit, order: 1, step: " step "}\n" more

/* A run of one model on n ranks; the result is `out`, "": none. */
typedef struct run {
  char             path[128];
  yoke_run_options options;
  bool             interrupts; /* the last rank, at t = 0.05 */
  long             n_left;     /* allocations of the last rank before it has no memory; negative: any number */
} run;

static run run_of(const fixture *f, const char *text, const char *out) {
  run   r    = {.n_left = -1};
  FILE *file = fopen(in_folder(f, "model.yaml", r.path), "wb");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
  r.options = (yoke_run_options){.size = sizeof r.options, .exec = "serial", .out = out, .csv = ""};
  return r;
}

static void *allocate(void *user, size_t bytes) {
  long *n_left = user;
  if (*n_left == 0) return NULL;
  if (*n_left > 0) --*n_left;
  return malloc(bytes);
}

static void release(void *user, void *memory, size_t bytes) {
  (void)user;
  (void)bytes;
  free(memory);
}

static bool go_on_to_half(void *user, double t, double t_start, double t_end) {
  (void)user;
  return t < 0.5 * (t_start + t_end);
}

static yoke_status run_one(world_rank *rank, void *user) {
  const run        *r       = user;
  yoke_run_options  options = r->options;
  long              n_left  = r->n_left;
  const yoke_memory memory  = {.size = sizeof memory, .allocate = allocate, .release = release, .user = &n_left};
  options.model             = r->path;
  if (rank->rank == rank->world->n - 1) {
    if (r->interrupts) options.progress = go_on_to_half;
    if (n_left >= 0) assert_int_equal(yoke_context_set_memory(rank->ctx, &memory), YOKE_OK);
  }
  const yoke_status status = run_here(rank->ctx, &options);
  (void)yoke_context_set_memory(rank->ctx, NULL);
  return status;
}

static int count_errors(const yoke_context *ctx, const char *part) {
  int n = 0;
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i)
    n += yoke_context_message_severity(ctx, i) == YOKE_SEVERITY_ERROR && strstr(yoke_context_message(ctx, i), part);
  return n;
}

/* All ranks end with `status`, and rank 0 says `text` once. */
static void expect_end(const run *r, int n, yoke_status status, const char *text) {
  world      w;
  world_rank ranks[WORLD_MOST];
  run        own = *r;
  world_run(&w, n, ranks, run_one, &own);
  for (int i = 0; i < n; ++i) assert_int_equal(ranks[i].status, status);
  if (text != NULL && count_errors(ranks[0].ctx, text) != 1) {
    for (size_t i = 0; i < yoke_context_n_messages(ranks[0].ctx); ++i)
      print_error("  %s\n", yoke_context_message(ranks[0].ctx, i));
    fail_msg("expected '%s', once", text);
  }
  world_end(&w, ranks);
}

/* A motion whose rate jumps kicks a body of another rank through the joint between them. */
static void a_motion_kicks_across_ranks(void **state) {
  const run r = run_of(*state,
                       "yoke: 1\n"
                       "t_end: 1\n"
                       "bodies:\n"
                       "  cart: {kind: planar, mass: 2, inertia: 1}\n"
                       "  rod: {kind: planar, mass: 1, inertia: 0.1, position: [0, -0.5], frames: {top: [0, 0.5]}}\n"
                       "connections:\n"
                       "  drive: {kind: translational, between: [ground, cart], axis: [1, 0, 0], motion: 0}\n"
                       "  hinge: {kind: revolute, between: [cart, rod.top]}\n"
                       "split: {a: [cart], b: [rod]}\n",
                       "");
  char      text[300];
  snprintf(text, sizeof text, "run %s --set 'connections.drive.motion=max(0, t - 0.5)' --step 0.01", r.path);
  assert_true(is_same(*state, text, 2));
}

static void a_model_that_cannot_be_read_ends_all_ranks_with_one_message(void **state) {
  const run r = run_of(*state, MASSES("1", "1e-3", "mass: 1\n"), "");
  expect_end(&r, 3, YOKE_E_MODEL, "mass");
}

/* Rank 0 alone plans. */
static void a_plan_that_cannot_be_made_ends_all_ranks_with_one_message(void **state) {
  const run r = run_of(*state, MASSES("1", "1e-3", "output: {select: [r.x]}\n"), "");
  expect_end(&r, 3, YOKE_E_MODEL, "r.x");
}

/* A name of the plan, which the head of the model does not have, arrives otherwise. */
static void change_plan(int rank, void *all, size_t bytes) {
  static const char name[] = "spring";
  (void)rank;
  for (size_t i = 0; i + sizeof name < bytes; ++i) {
    char *at = (char *)all + i;
    if (memcmp(at, name, sizeof name) == 0) at[0] = 'S';
  }
}

static void a_plan_that_is_damaged_on_its_way_ends_all_ranks(void **state) {
  run r = run_of(*state, MASSES("1", "1e-2", ""), "");
  for (int k = 0; k < 2; ++k) {
    world      w;
    world_rank ranks[3];
    world_run_by(&w, 3, ranks, (world_way){.tamper = change_plan, .gathers_only = k == 1}, run_one, &r);
    for (int i = 0; i < 3; ++i) assert_int_equal(ranks[i].status, YOKE_E_IO);
    assert_int_equal(count_errors(ranks[0].ctx, "checksum is wrong"), 1);
    world_end(&w, ranks);
  }
}

static void a_subsystem_of_another_rank_that_fails_ends_all_with_its_message(void **state) {
  const run r = run_of(*state, MASSES("sqrt(0.05 - t)", "1e-3", ""), "");
  expect_end(&r, 2, YOKE_E_STEP_TOO_SMALL, "subsystem 'b': solver 'radau5'");
}

static void a_result_that_cannot_be_written_ends_all_ranks(void **state) {
  const run r   = run_of(*state, MASSES("1", "1e-5", "output: {every: 1e-5}\n"), "/dev/full");
  run       c   = r;
  c.options.out = "";
  c.options.csv = "/dev/full";
  expect_end(&c, 3, YOKE_E_IO, "/dev/full");
}

/* A wish of one rank becomes the end of all, at the same step. */
static void an_interrupt_of_any_rank_ends_all_and_keeps_the_result(void **state) {
  const fixture *f = *state;
  char           path[128];
  run            r = run_of(f, MASSES("1", "1e-3", ""), "");
  r.options.csv    = in_folder(f, "kept.csv", path);
  r.interrupts     = true;
  expect_end(&r, 3, YOKE_E_INTERRUPTED, "interrupted at t = 0.05");
  char *text = read_file(path);
  assert_non_null(text);
  assert_non_null(strstr(text, "\n0.05"));
  free(text);
}

/* One rank has no memory at its k-th allocation, for every k that there is. */
static void a_rank_without_memory_ends_all_ranks(void **state) {
  run  r    = run_of(*state, MASSES("1", "1e-2", ""), "");
  long step = 1, k = 0;
#ifdef YOKE_SANITIZED
  step = 7;
#endif
  r.options.no_predict = true;
  for (;; k += step) {
    world      w;
    world_rank ranks[2];
    r.n_left = k;
    world_run(&w, 2, ranks, run_one, &r);
    const yoke_status status = ranks[0].status;
    assert_int_equal(ranks[1].status, status);
    world_end(&w, ranks);
    if (status == YOKE_OK) break;
    assert_int_equal(status, YOKE_E_MEMORY);
  }
  assert_true(k > 20);
}

/* ---- memory ---- */

typedef struct account {
  atomic_size_t now, peak; /* bytes */
} account;

static void *allocate_counted(void *user, size_t bytes) {
  account     *a    = user;
  const size_t now  = atomic_fetch_add(&a->now, bytes) + bytes;
  size_t       peak = atomic_load(&a->peak);
  while (now > peak && !atomic_compare_exchange_weak(&a->peak, &peak, now)) {
  }
  return malloc(bytes);
}

static void release_counted(void *user, void *memory, size_t bytes) {
  account *a = user;
  atomic_fetch_sub(&a->now, bytes);
  free(memory);
}

typedef struct counted_run {
  yoke_run_options options;
  account          accounts[WORLD_MOST];
} counted_run;

static yoke_status run_counted(world_rank *rank, void *user) {
  counted_run      *r      = user;
  const yoke_memory memory = {.size     = sizeof memory,
                              .allocate = allocate_counted,
                              .release  = release_counted,
                              .user     = &r->accounts[rank->rank]};
  assert_int_equal(yoke_context_set_memory(rank->ctx, &memory), YOKE_OK);
  const yoke_status status = run_here(rank->ctx, &r->options);
  (void)yoke_context_set_memory(rank->ctx, NULL);
  return status;
}

/* A chain of 240 000 masses in 48 parts on n ranks, two macro steps of it; accounts of its ranks in `r`. */
static void run_chain(world *w, int n, world_way way, counted_run *r) {
  static const char *const sets[] = {"parameters.n=240000",          "split.c=48",
                                     "output.select=[\"c.x[1]\"]",   "cosimulation.step=1e-8",
                                     "cosimulation.scheme=explicit", "t_end=2e-8"};
  world_rank               ranks[WORLD_MOST];
  *r = (counted_run){.options = {.size       = sizeof r->options,
                                 .model      = "examples/chain-imp.yaml",
                                 .exec       = "serial",
                                 .out        = "",
                                 .csv        = "",
                                 .no_predict = true,
                                 .n_sets     = 6,
                                 .sets       = sets}};
  world_run_by(w, n, ranks, way, run_counted, r);
  for (int i = 0; i < n; ++i) assert_int_equal(ranks[i].status, YOKE_OK);
  world_end(w, ranks);
}

/* Peak of rank i of n, in bytes. */
static void count_memory(int n, size_t peak[]) {
  counted_run r;
  world       w;
  run_chain(&w, n, (world_way){0}, &r);
  for (int i = 0; i < n; ++i) peak[i] = atomic_load(&r.accounts[i].peak);
}

/* Rank 0 reads and plans; what the others hold follows their share of the subsystems. */
static void memory_of_a_rank_follows_its_share(void **state) {
  size_t one[1], two[2], four[4];
  (void)state;
  count_memory(1, one);
  count_memory(2, two);
  count_memory(4, four);
  if (getenv("YOKE_SHOW_MEMORY") != NULL)
    print_message("%zu; %zu %zu; %zu %zu %zu %zu bytes\n", one[0], two[0], two[1], four[0], four[1], four[2], four[3]);
  assert_true((double)two[1] < 0.54 * (double)one[0]);
  for (int i = 1; i < 4; ++i) assert_true((double)four[i] < 0.29 * (double)one[0]);
}

/* The others see what is coupled, and nothing of the chain: shares of four ranks are some megabytes each. */
static void a_share_travels_to_its_own_rank_alone(void **state) {
  counted_run r;
  world       alone, together;
  size_t      all = 0;
  (void)state;
  run_chain(&alone, 4, (world_way){0}, &r);
  run_chain(&together, 4, (world_way){.gathers_only = true}, &r);
  for (int i = 1; i < 4; ++i) all += alone.received[i];
  if (getenv("YOKE_SHOW_MEMORY") != NULL)
    print_message("to one rank %zu %zu %zu bytes, to all %zu, before to all %zu\n", alone.received[1],
                  alone.received[2], alone.received[3], alone.travelled, together.travelled);
  for (int i = 1; i < 4; ++i) assert_true(alone.received[i] < all / 2);
  assert_int_equal(together.received[1], 0);
  assert_true(alone.travelled < all / 20);
  assert_true(together.travelled > all);
}

static void a_model_without_a_split_is_run_by_the_first_rank(void **state) {
  const fixture *f = *state;
  arguments      a;
  world          w;
  world_rank     ranks[3];
  assert_true(is_same(f, "run examples/pendulum.yaml --t-end 0.1", 3));
  read_arguments("run examples/two-mass.yaml --t-end 0.01 --monolithic", &a);
  world_run(&w, 3, ranks, run_on_rank, &a.options);
  assert_int_equal(ranks[0].status, YOKE_OK);
  assert_true(has_message(ranks[0].ctx, "the other 2 ranks have nothing to do"));
  world_end(&w, ranks);
}

static void more_ranks_than_subsystems_are_no_harm(void **state) {
  assert_true(is_same(*state, "run examples/two-mass.yaml --t-end 0.05", 5));
}

static yoke_status run_with_threads(world_rank *rank, void *user) {
  yoke_run_options options = *(const yoke_run_options *)user;
  options.exec             = "eager";
  options.threads          = 2 + rank->rank;
  options.check            = true;
  return run_here(rank->ctx, &options);
}

/* Threads inside, in another number on each rank, and subsystems that watch their contract. */
static void threads_inside_ranks_change_no_bit(void **state) {
  const fixture *f = *state;
  char           one[128], many[128];
  arguments      a;
  world          w;
  world_rank     ranks[2];
  read_arguments("run examples/chain-m2.yaml --t-end 2e-4 --scheme semi-implicit --jacobian finite-difference", &a);
  a.options.out = "";
  a.options.csv = in_folder(f, "one.csv", one);
  assert_int_equal(run_here(f->ctx, &a.options), YOKE_OK);
  a.options.csv = in_folder(f, "many.csv", many);
  world_run(&w, 2, ranks, run_with_threads, &a.options);
  assert_int_equal(ranks[0].status, YOKE_OK);
  char *expected = read_file(one), *found = read_file(many);
  assert_string_equal(expected, found);
  free(expected);
  free(found);
  world_end(&w, ranks);
}

/* Is the result of `a`, run by n ranks (1: this process), each with so many threads that take every task, the one in `expected`? */
static bool has_bits(const fixture *f, arguments *a, int n, int threads, const char *expected) {
  char path[128];
  a->options.exec    = threads > 1 ? "eager" : "serial";
  a->options.threads = threads;
  a->options.csv     = in_folder(f, "other.csv", path);
  bool is_fine;
  if (n == 1) {
    is_fine = run_here(f->ctx, &a->options) == YOKE_OK;
  } else {
    world      w;
    world_rank ranks[WORLD_MOST];
    world_run(&w, n, ranks, run_on_rank, &a->options);
    is_fine = ranks[0].status == YOKE_OK;
    world_end(&w, ranks);
  }
  char *found = read_file(path);
  is_fine     = is_fine && found != NULL && strcmp(found, expected) == 0;
  if (!is_fine) print_error("%s: other bits with %d threads on %d ranks\n", a->options.model, threads, n);
  free(found);
  remove(path);
  return is_fine;
}

/* Two, three and eight threads, two and four ranks: how many of them have other bits than one thread alone? */
static int count_other_bits(const fixture *f, const char *text) {
  static const struct { int ranks, threads; } ways[] = {{1, 2}, {1, 3}, {1, 8}, {2, 1}, {4, 2}};
  char      one[128];
  arguments a;
  int       n_wrong = 0;
  read_arguments(text, &a);
  a.options.out = "";
  a.options.csv = in_folder(f, "one.csv", one);
  assert_int_equal(run_here(f->ctx, &a.options), YOKE_OK);
  char *expected = read_file(one);
  assert_non_null(strchr(expected, '\n'));
  for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i)
    n_wrong += !has_bits(f, &a, ways[i].ranks, ways[i].threads, expected);
  free(expected);
  remove(one);
  return n_wrong;
}

/* Copies of bodies in a net, rods, cables, linear bodies, rates of one's own, corrections of energy. */
static void any_number_of_threads_and_ranks_gives_the_same_bits(void **state) {
  static const char *const runs[] = {
      ("run bench/overlap/net.yaml --t-end 0.01 --set parameters.n=240 --set split.l=[\"b[1..80]\"] --set "
       "split.r=[\"b[81..120]\"] --set split.m=[\"b[121..200]\"] --set split.n=[\"b[201..240]\"] --set "
       "output.every=0.01 "
       "--set cosimulation.couplings.halo=2"),
      "run examples/crane.yaml --t-end 0.001 --set output.every=5e-4",
      "run examples/pendulum-cable.yaml --t-end 0.01",
      "run examples/kinematic-two-mass.yaml --t-end 0.03 --set cosimulation.substeps.F=3",
      "run examples/energy-oscillator.yaml --t-end 0.03 --energy correct",
      "run examples/energy-oscillator.yaml --t-end 0.03 --energy passivity",
  };
  static const char linear[] =
      "yoke: 1\nt_end: 0.05\nbodies:\n  r: {kind: mass1d, mass: 1}\n  f: {kind: linear, mass: [[2, 0.5], [0.5, 1]], "
      "stiffness: [[50, -50], [-50, 100]], x: [0.1, -0.05], v: [0.5, -1], frames: {a: {x: 1}, b: {x: 2}}}\n"
      "  s: {kind: mass1d, mass: 2}\nconnections:\n  p: {kind: spring-damper, between: [r, f.a], stiffness: 90}\n"
      "  q: {kind: spring-damper, between: [f.b, s], stiffness: 70, damping: 1}\n"
      "split: {a: [r], b: [f], c: [s]}\ncosimulation: {step: 0.005}\n";
  const fixture *f       = *state;
  const run      written = run_of(f, linear, "");
  char           text[200];
  int            n_wrong = 0;
  for (size_t k = 0; k < sizeof runs / sizeof *runs; ++k) n_wrong += count_other_bits(f, runs[k]);
  snprintf(text, sizeof text, "run %s", written.path);
  n_wrong += count_other_bits(f, text);
  assert_int_equal(n_wrong, 0);
}

/* Rods in space, each a subsystem: the Newton matrix of their joints has blocks of 26 rows, and two parts. */
#define RODS                                                                                                           \
  "yoke: 1\nt_end: 0.012\ngravity: [0, -9.81, 0]\noutput: {every: 1e-3}\n"                                             \
  "bodies: {b: {kind: rigid, count: 9, mass: 1, inertia: [0.001, 1/12, 1/12], position: [i - 0.5, 0, 0], "             \
  "frames: {left: [-0.5, 0, 0], right: [0.5, 0, 0]}}}\n"                                                               \
  "connections: {support: {kind: revolute, between: [ground, 'b[1].left']}, "                                          \
  "hinge: {kind: revolute, count: 8, between: ['b[i].right', 'b[i + 1].left']}}\n"                                     \
  "split: {a: ['b[1]'], b: ['b[2]'], c: ['b[3]'], d: ['b[4]'], e: ['b[5]'], f: ['b[6]'], g: ['b[7]'], h: ['b[8]'], "   \
  "i: ['b[9]']}\n"                                                                                                     \
  "cosimulation: {scheme: semi-implicit, order: 1, step: 1e-3, corrections: 1, monitor: off}\n"

/* Ranks with threads that take every task share the factors, others try both ways and take one. */
static void matrices_that_ranks_share_have_the_bits_of_one_process(void **state) {
  const fixture *f       = *state;
  const run      written = run_of(f, RODS, "");
  char           text[300];
  int            n_wrong = 0;
  snprintf(text, sizeof text, "run %s", written.path);
  n_wrong += count_other_bits(f, text);
  snprintf(text, sizeof text, "run %s --scheme implicit --set cosimulation.monitor=on", written.path);
  n_wrong += count_other_bits(f, text);
  assert_int_equal(n_wrong, 0);
}

static long count_exchanges_of_rods(const fixture *f, const char *exec, const char *t_end) {
  run               r        = run_of(f, RODS, "");
  const yoke_choice choice[] = {{"t-end", t_end}, {"energy", "off"}};
  world             w;
  world_rank        ranks[2];
  r.options.n_choices = 2;
  r.options.choices   = choice;
  r.options.exec      = exec;
  r.options.threads   = 2;
  world_run(&w, 2, ranks, run_one, &r);
  assert_int_equal(ranks[0].status, YOKE_OK);
  world_end(&w, ranks);
  return w.n_gathers;
}

/* Of ten macro steps, each with one sample. */
static void a_shared_matrix_is_one_exchange(void **state) {
  const long shared =
      count_exchanges_of_rods(*state, "eager", "0.012") - count_exchanges_of_rods(*state, "eager", "0.002");
  assert_int_equal(shared, 10 * (2 + 1 + 1));
}

/* ---- subsystems of one's own ---- */

/* A mass that is a user's code, and a controller that takes samples. */
static const char foreign[] = "yoke: 1\n"
                              "t_end: 0.1\n"
                              "bodies: {m1: {kind: mass1d, mass: 1, v: 1}, arm: {kind: planar, mass: 1, inertia: 1}}\n"
                              "subsystems:\n"
                              "  other: {kind: user, type: mass, parameters: {mass: 2, v: -1}, ports: {end: line}}\n"
                              "  c: {kind: user, type: sampled, parameters: {kp: 4, kd: 1, period: 0.01}, inputs: "
                              "{angle: arm.angle, rate: arm.omega},"
                              " outputs: {torque: N m}}\n"
                              "connections:\n"
                              "  c1: {kind: spring-damper, between: [m1, other.end], stiffness: 600, free_length: 0}\n"
                              "loads: {motor: {kind: expression, on: arm, torque: c.torque + 0.1}}\n"
                              "split: {p: [m1], q: [arm]}\n"
                              "cosimulation: {scheme: semi-implicit, step: 1e-3}\n";

static yoke_status run_foreign(yoke_context *ctx, const yoke_run_options *options) {
  static const unsigned can     = MASS_REPEAT | MASS_INSTANT | MASS_RESPONSE | MASS_ENERGY;
  const yoke_user_type  types[] = {mass_type(&can), sampled_type()};
  for (int i = 0; i < 2; ++i) YOKE_TRY(yoke_context_add_type(ctx, &types[i]));
  return run_here(ctx, options);
}

static yoke_status run_foreign_on_rank(world_rank *rank, void *user) {
  return run_foreign(rank->ctx, user);
}

static void subsystems_of_a_user_live_on_ranks_too(void **state) {
  const fixture *f = *state;
  char           one[128], many[128];
  run            r = run_of(f, foreign, "");
  world          w;
  world_rank     ranks[4];
  r.options.model = r.path;
  r.options.csv   = in_folder(f, "one.csv", one);
  assert_int_equal(run_foreign(f->ctx, &r.options), YOKE_OK);
  r.options.csv = in_folder(f, "many.csv", many);
  world_run(&w, 4, ranks, run_foreign_on_rank, &r.options);
  for (int i = 0; i < 4; ++i) assert_int_equal(ranks[i].status, YOKE_OK);
  char *expected = read_file(one), *found = read_file(many);
  assert_string_equal(expected, found);
  free(expected);
  free(found);
  world_end(&w, ranks);
}

static yoke_status run_foreign_on_first(world_rank *rank, void *user) {
  return rank->rank == 0 ? run_foreign(rank->ctx, user) : run_here(rank->ctx, user);
}

static void a_type_that_one_rank_does_not_know_ends_all_with_its_name(void **state) {
  run        r = run_of(*state, foreign, "");
  world      w;
  world_rank ranks[4];
  r.options.model = r.path;
  world_run(&w, 4, ranks, run_foreign_on_first, &r.options);
  for (int i = 0; i < 4; ++i) assert_int_equal(ranks[i].status, YOKE_E_MODEL);
  assert_int_equal(count_errors(ranks[0].ctx, "every rank loads the plugin"), 1);
  world_end(&w, ranks);
}

/* The account has one more at each of its balance points. */
static long count_exchanges_to(const fixture *f, const char *scheme, const char *jacobian, double t_end) {
  run        r = run_of(f, MASSES("1", "1e-3", "output: {every: 1}\n"), "");
  char       end[32];
  world      w;
  world_rank ranks[2];
  snprintf(end, sizeof end, "%g", t_end);
  const yoke_choice choices[] = {{"scheme", scheme}, {"t-end", end}, {"jacobian", jacobian}, {"energy", "off"}};
  r.options.n_choices         = 4;
  r.options.choices           = choices;
  world_run(&w, 2, ranks, run_one, &r);
  assert_int_equal(ranks[0].status, YOKE_OK);
  world_end(&w, ranks);
  return w.n_gathers;
}

/* Of 50 macro steps. */
static long count_exchanges(const fixture *f, const char *scheme, const char *jacobian) {
  return count_exchanges_to(f, scheme, jacobian, 0.08) - count_exchanges_to(f, scheme, jacobian, 0.03);
}

static void an_explicit_step_is_one_exchange(void **state) {
  assert_int_equal(count_exchanges(*state, "explicit", "tangent"), 50);
}

static void a_semi_implicit_step_is_two_exchanges_wherever_its_matrix_comes_from(void **state) {
  assert_int_equal(count_exchanges(*state, "semi-implicit", "tangent"), 100);
  assert_int_equal(count_exchanges(*state, "semi-implicit", "analytic"), 100);
}

/* ---- simulations ---- */

/* Where a simulation comes to, by way of a snapshot at half its way. */
typedef struct journey {
  const char *path;
  uint64_t    hash; /* of the snapshot's bytes */
  double      x;
} journey;

static uint64_t hash_of(const yoke_snapshot *snapshot) {
  size_t               size;
  const unsigned char *bytes = yoke_snapshot_bytes(snapshot, &size);
  uint64_t             hash  = 0xcbf29ce484222325u;
  for (size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  return hash;
}

static yoke_status go(yoke_context *ctx, journey *j) {
  const char *const names[] = {"q.x"};
  int               handle;
  yoke_model       *model      = NULL;
  yoke_simulation  *simulation = NULL;
  yoke_snapshot    *snapshot   = NULL;
  yoke_status       status     = yoke_model_load(ctx, j->path, NULL, &model);
  if (status == YOKE_OK) status = yoke_simulation_create(ctx, model, NULL, &simulation);
  if (status == YOKE_OK) status = yoke_simulation_run_to(ctx, simulation, 0.05);
  if (status == YOKE_OK) status = yoke_simulation_save(ctx, simulation, &snapshot);
  if (status == YOKE_OK) j->hash = hash_of(snapshot);
  if (status == YOKE_OK) status = yoke_simulation_run_to(ctx, simulation, 0.1);
  if (status == YOKE_OK) status = yoke_simulation_restore(ctx, simulation, snapshot);
  if (status == YOKE_OK) status = yoke_simulation_run_to(ctx, simulation, 0.08);
  if (status == YOKE_OK) status = yoke_simulation_find(ctx, simulation, 1, names, &handle);
  if (status == YOKE_OK) status = yoke_simulation_get(ctx, simulation, 1, &handle, &j->x);
  yoke_snapshot_destroy(&snapshot);
  yoke_simulation_destroy(&simulation);
  yoke_model_destroy(&model);
  return yoke_context_agree(ctx, status);
}

static yoke_status go_on_rank(world_rank *rank, void *user) {
  return go(rank->ctx, &((journey *)user)[rank->rank]);
}

/* Snapshots have the bytes of one process, on every rank, so that a run goes on with any number of them. */
static void snapshots_on_ranks_are_those_of_one_process(void **state) {
  const fixture *f = *state;
  const run r = run_of(f, MASSES("sin(50*t)", "1e-3", "events: {turn: {when: q.v - 0.02, set: {q.v: 0.5*q.v}}}\n"), "");
  world     w;
  world_rank ranks[3];
  journey    alone = {.path = r.path}, journeys[3] = {alone, alone, alone};
  assert_int_equal(go(f->ctx, &alone), YOKE_OK);
  world_run(&w, 3, ranks, go_on_rank, journeys);
  for (int i = 0; i < 3; ++i) {
    assert_int_equal(ranks[i].status, YOKE_OK);
    assert_true(journeys[i].hash == alone.hash);
    assert_memory_equal(&journeys[i].x, &alone.x, sizeof alone.x);
  }
  world_end(&w, ranks);
}

typedef struct recorded {
  const char *path, *csv;
} recorded;

static yoke_status record(yoke_context *ctx, const recorded *x) {
  const yoke_record_options files      = {.size = sizeof files, .out = "", .csv = x->csv};
  yoke_model               *model      = NULL;
  yoke_simulation          *simulation = NULL;
  yoke_status               status     = yoke_model_load(ctx, x->path, NULL, &model);
  if (status == YOKE_OK) status = yoke_simulation_create(ctx, model, NULL, &simulation);
  if (status == YOKE_OK) status = yoke_context_agree(ctx, yoke_simulation_record(ctx, simulation, &files));
  if (status == YOKE_OK) status = yoke_simulation_run_to(ctx, simulation, 0.1);
  if (status == YOKE_OK) status = yoke_simulation_record_end(ctx, simulation);
  yoke_simulation_destroy(&simulation);
  yoke_model_destroy(&model);
  return yoke_context_agree(ctx, status);
}

static yoke_status record_on_rank(world_rank *rank, void *user) {
  return record(rank->ctx, user);
}

static void the_record_of_a_simulation_is_written_by_the_first_rank(void **state) {
  const fixture *f = *state;
  const run      r = run_of(f, MASSES("sin(50*t)", "1e-3", ""), "");
  char           one[128], many[128];
  recorded       x = {r.path, in_folder(f, "one.csv", one)};
  world          w;
  world_rank     ranks[3];
  assert_int_equal(record(f->ctx, &x), YOKE_OK);
  x.csv = in_folder(f, "many.csv", many);
  world_run(&w, 3, ranks, record_on_rank, &x);
  for (int i = 0; i < 3; ++i) assert_int_equal(ranks[i].status, YOKE_OK);
  char *expected = read_file(one), *found = read_file(many);
  assert_string_equal(expected, found);
  free(expected);
  free(found);
  world_end(&w, ranks);
}

/* ---- times ---- */

enum { N_TIMED = 3 };

typedef struct timed {
  yoke_run_options options;
  yoke_run_summary summary[N_TIMED];
} timed;

static yoke_status run_timed(world_rank *rank, void *user) {
  timed *x = user;
  return yoke_run(rank->ctx, &x->options, &x->summary[rank->rank]);
}

/* Classes are those of each process, and add up to its time; the times of a subsystem are those of the rank where it lives. */
static void times_of_ranks_add_up_and_subsystems_have_those_of_their_owners(void **state) {
  const fixture *f = *state;
  char           path[128];
  world          w;
  world_rank     ranks[N_TIMED];
  arguments      a;
  timed          x;
  double         of_ranks = 0.0, of_parts = 0.0;
  read_arguments("run examples/chain-load.yaml --t-end 1e-5", &a);
  x                      = (timed){.options = a.options};
  x.options.size         = sizeof x.options;
  x.options.profile_file = in_folder(f, "timeline.json", path);
  for (int r = 0; r < N_TIMED; ++r) x.summary[r] = (yoke_run_summary){.size = sizeof x.summary[r]};
  world_run(&w, N_TIMED, ranks, run_timed, &x);
  for (int r = 0; r < N_TIMED; ++r) {
    const yoke_run_summary *s = &x.summary[r];
    const yoke_time_shares *t = &s->times;
    assert_int_equal(ranks[r].status, YOKE_OK);
    const double sum = t->solver + t->save + t->exchange + t->master + t->output + t->idle;
    assert_true(fabs(sum - s->threads * s->wall_time) <= 1e-9 * sum);
    assert_true(t->solver > 0.0 && t->exchange > 0.0);
    assert_int_equal(s->has_projection, r == 0); /* rank 0 alone is profiled */
    of_ranks += t->solver;
    for (int i = 0; i < s->n_subsystems; ++i) {
      const double mine = s->subsystem_times[i].solver, first = x.summary[0].subsystem_times[i].solver;
      assert_true(mine > 0.0 && fabs(mine - first) <= 1e-9 * first);
      of_parts += r == 0 ? mine : 0.0;
    }
  }
  assert_true(fabs(of_ranks - of_parts) <= 1e-9 * of_parts);
  assert_non_null(strstr(x.summary[0].threads_reason, "rank 0 of 3"));
  for (int r = 0; r < N_TIMED; ++r) yoke_run_summary_release(&x.summary[r]);
  world_end(&w, ranks);
}

/* ---- verdicts ---- */

typedef struct judged {
  const yoke_run_options *options;
  yoke_run_summary        summary[N_TIMED];
} judged;

static yoke_status run_judged(world_rank *rank, void *user) {
  judged *x = user;
  return yoke_run(rank->ctx, x->options, &x->summary[rank->rank]);
}

/* The same bits, or unknown both. */
static bool is_equal(double a, double b) {
  return a == b || (isnan(a) && isnan(b));
}

static bool is_same_summary(const yoke_run_summary *a, const yoke_run_summary *b) {
  return a->has_leak == b->has_leak && is_equal(a->leak, b->leak) && is_equal(a->leak_largest, b->leak_largest) &&
         is_equal(a->leak_share, b->leak_share) && a->leak_worst == b->leak_worst &&
         is_equal(a->leak_corrected, b->leak_corrected) && is_equal(a->energy_gain, b->energy_gain) &&
         is_equal(a->accumulated_error, b->accumulated_error) && is_equal(a->predicted_growth, b->predicted_growth) &&
         is_equal(a->motion_growth, b->motion_growth) && a->unconverged == b->unconverged;
}

/* Warnings of the judgement at the end of a run, one behind the other. */
static void verdict_of(const yoke_context *ctx, char *text, size_t size) {
  static const char *const parts[] = {"have brought up to", "use cosimulation.step", "use step control",
                                      "see the residuals"};
  text[0]                          = '\0';
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) {
    const char *message = yoke_context_message(ctx, i);
    for (size_t k = 0; k < sizeof parts / sizeof *parts; ++k) {
      if (strstr(message, parts[k]) == NULL || yoke_context_message_severity(ctx, i) != YOKE_SEVERITY_WARNING) continue;
      const size_t used = strlen(text);
      snprintf(text + used, size - used, "%s\n", message);
      break;
    }
  }
}

/* A leak, a gain, errors that grow by themselves, errors that the motion makes larger; with and without a file, which the first rank writes. */
static void all_ranks_judge_a_run_as_one_process_does(void **state) {
  static const char *const runs[] = {
      ("run examples/two-mass.yaml --scheme explicit --step 0.005 --t-end 0.2 --energy monitor --set "
       "cosimulation.energy_limit=1e-9"),
      "run examples/energy-oscillator.yaml --step 0.02 --t-end 2 --scheme explicit --energy monitor",
      "run examples/bouncing-contact.yaml --step 1e-3 --t-end 1",
      "run examples/chain-m1.yaml --scheme explicit --step 0.015",
  };
  const fixture *f = *state;
  char           path[128], one[2000], other[2000];
  for (size_t i = 0; i < 2 * sizeof runs / sizeof *runs; ++i) {
    world            w;
    world_rank       ranks[N_TIMED];
    arguments        a;
    yoke_run_summary summary = {.size = sizeof summary};
    read_arguments(runs[i / 2], &a);
    judged x      = {.options = &a.options};
    a.options.csv = "";
    a.options.out = i % 2 == 0 ? "" : in_folder(f, "a.h5", path);
    for (int r = 0; r < N_TIMED; ++r) x.summary[r] = (yoke_run_summary){.size = sizeof x.summary[r]};
    yoke_context_clear(f->ctx);
    const yoke_status status = yoke_run(f->ctx, &a.options, &summary);
    verdict_of(f->ctx, one, sizeof one);
    assert_true(one[0] != '\0');
    world_run(&w, N_TIMED, ranks, run_judged, &x);
    for (int r = 0; r < N_TIMED; ++r) {
      verdict_of(ranks[r].ctx, other, sizeof other);
      assert_int_equal(ranks[r].status, status);
      if (!is_same_summary(&summary, &x.summary[r]))
        fail_msg("%s: another summary on rank %d: leak %g for %g, gain %g for %g, error %g for %g, growth %g for %g, "
                 "%g for %g",
                 runs[i / 2], r, x.summary[r].leak, summary.leak, x.summary[r].energy_gain, summary.energy_gain,
                 x.summary[r].accumulated_error, summary.accumulated_error, x.summary[r].predicted_growth,
                 summary.predicted_growth, x.summary[r].motion_growth, summary.motion_growth);
      assert_string_equal(other, one);
      yoke_run_summary_release(&x.summary[r]);
    }
    yoke_run_summary_release(&summary);
    world_end(&w, ranks);
  }
}

/* ---- the hook ---- */

/* The last rank seems to have another C library. */
static void change_machine(int rank, void *all, size_t bytes) {
  (void)rank;
  char *last = NULL;
  for (size_t i = 0; i + 8 < bytes; ++i) {
    if (memcmp((char *)all + i, "; glibc ", 8) == 0) last = (char *)all + i;
  }
  if (last != NULL) last[8] = '0';
}

static void machines_that_differ_are_refused_unless_that_is_allowed(void **state) {
  run               r = run_of(*state, MASSES("1", "1e-2", ""), "");
  world             w;
  world_rank        ranks[3];
  const yoke_status expected[2] = {YOKE_E_UNSUPPORTED, YOKE_OK};
  for (int k = 0; k < 2; ++k) {
    world_run_by(&w, 3, ranks, (world_way){.tamper = change_machine, .allow_mixed = k == 1}, run_one, &r);
    for (int i = 0; i < 3; ++i) assert_int_equal(ranks[i].status, expected[k]);
    if (k == 0) assert_int_equal(count_errors(ranks[0].ctx, "of rank 2"), 1);
    world_end(&w, ranks);
  }
}

#ifdef YOKE_WITH_HDF5
static bool is_in_file(const char *path, const char *text) {
  FILE *file = fopen(path, "rb");
  int   c, n = 0; /* letters that fit */
  assert_non_null(file);
  while (text[n] != '\0' && (c = fgetc(file)) != EOF) n = c == text[n] ? n + 1 : c == text[0];
  fclose(file);
  return text[n] == '\0';
}

/* Rank 1 is of the kind of rank 0. */
static void the_result_names_every_kind_of_machine(void **state) {
  char       path[128];
  run        r = run_of(*state, MASSES("1", "1e-2", ""), in_folder(*state, "mixed.h5", path));
  world      w;
  world_rank ranks[3];
  world_run_by(&w, 3, ranks, (world_way){.tamper = change_machine, .allow_mixed = true}, run_one, &r);
  assert_int_equal(ranks[0].status, YOKE_OK);
  assert_true(is_in_file(path, "rank 0: "));
  assert_false(is_in_file(path, "rank 1: "));
  assert_true(is_in_file(path, "rank 2: "));
  world_end(&w, ranks);
}
#endif

static yoke_status run_with_own_order(world_rank *rank, void *user) {
  const char *const path = user;
  yoke_model       *model;
  yoke_simulation  *simulation = NULL;
  const char *const sets[]     = {"cosimulation.order=2"};
  yoke_load_options load       = {.size = sizeof load, .n_sets = rank->rank == 1, .sets = sets};
  YOKE_TRY(yoke_model_load(rank->ctx, path, &load, &model));
  const yoke_status status = yoke_simulation_create(rank->ctx, model, NULL, &simulation);
  yoke_simulation_destroy(&simulation);
  yoke_model_destroy(&model);
  return yoke_context_agree(rank->ctx, status);
}

static void ranks_with_different_models_are_refused(void **state) {
  run        r = run_of(*state, MASSES("1", "1e-2", ""), "");
  world      w;
  world_rank ranks[2];
  world_run(&w, 2, ranks, run_with_own_order, r.path);
  for (int i = 0; i < 2; ++i) assert_int_equal(ranks[i].status, YOKE_E_USAGE);
  world_end(&w, ranks);
}

/* The last bits of what the subsystem of rank 0 shows change on the way to rank 2: nobody would see it in the result. A head has the size of its block first, then
 * its kind, which is 3 for lists; outputs stand at the end of a block. */
static void flip_last_bits(int rank, void *all, size_t bytes) {
  enum { HEAD = 24, LIST = 3, OUTPUTS = 4 };
  uint64_t size;
  uint32_t kind;
  memcpy(&size, all, sizeof size);
  memcpy(&kind, (char *)all + sizeof size, sizeof kind);
  if (rank != 2 || kind != LIST || HEAD + size > bytes || size < 100) return;
  for (size_t k = 1; k <= OUTPUTS; ++k) ((unsigned char *)all)[HEAD + size - k * sizeof(double)] ^= 1;
}

static void ranks_whose_numbers_differ_end_with_a_message(void **state) {
  run        r = run_of(*state, MASSES("1", "1e-2", ""), "");
  world      w;
  world_rank ranks[3];
  world_run_by(&w, 3, ranks, (world_way){.tamper = flip_last_bits}, run_one, &r);
  for (int i = 0; i < 3; ++i) assert_int_equal(ranks[i].status, YOKE_E_INTERNAL);
  assert_int_equal(count_errors(ranks[0].ctx, "rank 2: it is not where rank 0 is"), 1);
  world_end(&w, ranks);
}

/* Rank 1 sets an input, the others do not: it begins anew there. */
static yoke_status run_with_own_input(world_rank *rank, void *user) {
  const char *const path       = user;
  const int         input      = 0;
  const double      value      = rank->rank == 1 ? 2.0 : 1.0;
  yoke_model       *model      = NULL;
  yoke_simulation  *simulation = NULL;
  yoke_status       status     = yoke_model_load(rank->ctx, path, NULL, &model);
  if (status == YOKE_OK) status = yoke_simulation_create(rank->ctx, model, NULL, &simulation);
  if (status == YOKE_OK) status = yoke_simulation_set(rank->ctx, simulation, 1, &input, &value);
  if (status == YOKE_OK) status = yoke_simulation_run_to(rank->ctx, simulation, 0.05);
  yoke_simulation_destroy(&simulation);
  yoke_model_destroy(&model);
  return yoke_context_agree(rank->ctx, status);
}

static void ranks_that_make_different_calls_end_with_a_message(void **state) {
  run        r = run_of(*state, MASSES("pull", "1e-2", "inputs: {pull: {value: 1}}\n"), "");
  world      w;
  world_rank ranks[3];
  world_run(&w, 3, ranks, run_with_own_input, r.path);
  for (int i = 0; i < 3; ++i) assert_int_equal(ranks[i].status, YOKE_E_INTERNAL);
  assert_int_equal(count_errors(ranks[0].ctx, "rank 1: what another rank tells does not fit"), 1);
  world_end(&w, ranks);
}

static void ranks_that_cannot_be_are_refused(void **state) {
  const fixture *f     = *state;
  yoke_ranks     ranks = {.size = sizeof ranks, .rank = 2, .n_ranks = 2, .gather = world_gather};
  assert_int_equal(yoke_context_set_ranks(f->ctx, &ranks), YOKE_E_USAGE);
  ranks.rank   = 1;
  ranks.gather = NULL;
  assert_int_equal(yoke_context_set_ranks(f->ctx, &ranks), YOKE_E_USAGE);
  assert_int_equal(yoke_context_set_ranks(NULL, NULL), YOKE_E_USAGE);
  assert_int_equal(yoke_context_set_ranks(f->ctx, NULL), YOKE_OK);
  assert_int_equal(yoke_context_agree(f->ctx, YOKE_E_IO), YOKE_E_IO); /* alone */
}

static yoke_status fail_on_some(world_rank *rank, void *user) {
  yoke_status status = YOKE_OK;
  (void)user;
  if (rank->rank == 2) status = yoke_fail(rank->ctx, YOKE_E_IO, "no file here");
  if (rank->rank == 3) status = yoke_fail(rank->ctx, YOKE_E_MODEL, "no model either");
  YOKE_TRY(yoke_context_agree(rank->ctx, status));
  return YOKE_OK;
}

static void what_one_rank_comes_to_all_come_to(void **state) {
  world      w;
  world_rank ranks[4];
  (void)state;
  world_run(&w, 4, ranks, fail_on_some, NULL);
  for (int i = 0; i < 4; ++i) assert_int_equal(ranks[i].status, YOKE_E_IO);
  assert_string_equal(yoke_context_message(ranks[0].ctx, 0), "rank 2: no file here");
  assert_string_equal(yoke_context_message(ranks[2].ctx, 0), "no file here");
  world_end(&w, ranks);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_motion_kicks_across_ranks),
      TEST(a_model_that_cannot_be_read_ends_all_ranks_with_one_message),
      TEST(a_subsystem_of_another_rank_that_fails_ends_all_with_its_message),
      TEST(a_result_that_cannot_be_written_ends_all_ranks),
      TEST(an_interrupt_of_any_rank_ends_all_and_keeps_the_result),
      TEST(a_rank_without_memory_ends_all_ranks),
      TEST(memory_of_a_rank_follows_its_share),
      TEST(a_share_travels_to_its_own_rank_alone),
      TEST(a_model_without_a_split_is_run_by_the_first_rank),
      TEST(more_ranks_than_subsystems_are_no_harm),
      TEST(threads_inside_ranks_change_no_bit),
      TEST(any_number_of_threads_and_ranks_gives_the_same_bits),
      TEST(matrices_that_ranks_share_have_the_bits_of_one_process),
      TEST(a_shared_matrix_is_one_exchange),
      TEST(subsystems_of_a_user_live_on_ranks_too),
      TEST(a_type_that_one_rank_does_not_know_ends_all_with_its_name),
      TEST(a_plan_that_cannot_be_made_ends_all_ranks_with_one_message),
      TEST(a_plan_that_is_damaged_on_its_way_ends_all_ranks),
      TEST(an_explicit_step_is_one_exchange),
      TEST(a_semi_implicit_step_is_two_exchanges_wherever_its_matrix_comes_from),
      TEST(snapshots_on_ranks_are_those_of_one_process),
      TEST(the_record_of_a_simulation_is_written_by_the_first_rank),
      TEST(ranks_that_cannot_be_are_refused),
      TEST(times_of_ranks_add_up_and_subsystems_have_those_of_their_owners),
      TEST(all_ranks_judge_a_run_as_one_process_does),
      TEST(machines_that_differ_are_refused_unless_that_is_allowed),
#ifdef YOKE_WITH_HDF5
      TEST(the_result_names_every_kind_of_machine),
#endif
      TEST(ranks_with_different_models_are_refused),
      TEST(ranks_whose_numbers_differ_end_with_a_message),
      TEST(ranks_that_make_different_calls_end_with_a_message),
      TEST(what_one_rank_comes_to_all_come_to),
      TEST(stored_runs_have_the_same_bits_on_any_number_of_ranks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
