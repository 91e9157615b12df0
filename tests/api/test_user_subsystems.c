/* Subsystems that users wrote, in models beside native ones: by springs, rigid joints and signals, in all schemes that their abilities
 * allow, against the model in which everything is native and which runs as a whole. Uses include/yoke only. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../said.h"
#include "../user/types.h"
#include <yoke/yoke.h>
#include <stdio.h>

enum { ROOM = 3000, N_TYPES = 4 };

static const unsigned bare = MASS_ENERGY, able = MASS_REPEAT | MASS_INSTANT | MASS_RESPONSE | MASS_ENERGY,
                      repeats = MASS_REPEAT, on_heap = MASS_REPEAT | MASS_HEAP | MASS_ENERGY;

/* A context that knows all types; masses by what they can do. */
static yoke_context *context(void) {
  static const unsigned *const can[N_TYPES]   = {&bare, &able, &repeats, &on_heap};
  static const char *const     names[N_TYPES] = {"bare-mass", "able-mass", "mass", "heap-mass"};
  yoke_user_type               others[]       = {gain_type(), sampled_type(), sampled_type()};
  yoke_context                *ctx;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  for (int i = 0; i < N_TYPES; ++i) {
    yoke_user_type type = mass_type(can[i]);
    type.name           = names[i];
    assert_int_equal(yoke_context_add_type(ctx, &type), YOKE_OK);
  }
  others[2].name   = "sampled-forward"; /* cannot go back */
  others[2].repeat = NULL;
  for (int i = 0; i < 3; ++i) assert_int_equal(yoke_context_add_type(ctx, &others[i]), YOKE_OK);
  return ctx;
}

static void show(const yoke_context *ctx) {
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) print_message("%s\n", yoke_context_message(ctx, i));
}

/* ---- models ---- */

/* Two masses, the second one a user's (%s: its type) or native; %s: what couples them. */
#define M1 "  m1: {kind: mass1d, mass: 1, x: 0.02, v: 1}\n"
#define WALL "  wall: {kind: spring-damper, between: [ground, m1], stiffness: 900, damping: 3, free_length: 0}\n"
#define HEAD "yoke: 1\nt_end: 0.2\nsolvers: {default: {kind: dop853, rtol: 1e-11, atol: 1e-13}}\n"
#define OWN                                                                                                            \
  HEAD "bodies:\n" M1 "subsystems:\n"                                                                                  \
       "  other: {kind: user, type: %s, parameters: {mass: 2, stiffness: 1000, damping: 10, x: 0.02, v: %s}, ports: "  \
       "{end: "                                                                                                        \
       "line}}\n"                                                                                                      \
       "connections:\n" WALL
#define NATIVE                                                                                                         \
  HEAD "bodies:\n" M1 "  m2: {kind: mass1d, mass: 2, x: 0.02, v: %s}\n"                                                \
       "connections:\n" WALL                                                                                           \
       "  wall2: {kind: spring-damper, between: [ground, m2], stiffness: 1000, damping: 10, free_length: 0}\n"
#define SPRING "  c: {kind: spring-damper, between: [m1, %s], stiffness: 700, damping: 2, free_length: 0}\n"
#define JOINT "  c: {kind: fixed, between: [m1, %s]}\n"

/* ---- runs ---- */

static yoke_status create(yoke_context *ctx, const char *text, bool check, yoke_simulation **out) {
  yoke_model                   *model   = NULL;
  const yoke_simulation_options options = {.size = sizeof options, .check = check, .no_predict = true};
  yoke_status                   status  = yoke_model_load_text(ctx, "model", text, strlen(text), NULL, &model);
  if (status == YOKE_OK) status = yoke_simulation_create(ctx, model, &options, out);
  yoke_model_destroy(&model);
  return status;
}

static void get(yoke_context *ctx, yoke_simulation *s, int n, const char *const *names, double *values) {
  int handles[4];
  assert_true(n <= 4);
  if (yoke_simulation_find(ctx, s, n, names, handles) != YOKE_OK ||
      yoke_simulation_get(ctx, s, n, handles, values) != YOKE_OK) {
    show(ctx);
    fail();
  }
}

/* Values at the end of the run. */
static void end_of(const char *text, bool check, int n, const char *const *names, double *values) {
  yoke_context    *ctx    = context();
  yoke_simulation *s      = NULL;
  yoke_status      status = create(ctx, text, check, &s);
  if (status == YOKE_OK) status = yoke_simulation_run_to(ctx, s, yoke_simulation_t_end(s));
  if (status != YOKE_OK) {
    show(ctx);
    fail_msg("%s\n%s", text, yoke_status_name(status));
  }
  get(ctx, s, n, names, values);
  yoke_simulation_destroy(&s);
  yoke_context_destroy(&ctx);
}

typedef struct row {
  const char *type, *settings;
  double      error; /* allowed, of m; velocities may be off by 30 times that [m/s] */
} row;

static const char *const own_names[] = {"m1.x", "other.end.x", "m1.v", "other.end.v"}, *const native_names[] = {
                                                                                           "m1.x", "m2.x", "m1.v",
                                                                                           "m2.v"};

/* `coupling` of a user's mass with velocity v at the start. */
static void expect_like_whole(const char *coupling, const char *v, const row *rows, size_t n) {
  char   text[ROOM], joined[ROOM];
  double whole[4], own[4];
  snprintf(joined, sizeof joined, NATIVE, v);
  snprintf(text, sizeof text, coupling, "m2");
  strcat(joined, text);
  end_of(joined, false, 4, native_names, whole);
  for (size_t i = 0; i < n; ++i) {
    snprintf(joined, sizeof joined, OWN, rows[i].type, v);
    snprintf(text, sizeof text, coupling, "other.end");
    strcat(joined, text);
    snprintf(text, sizeof text, "cosimulation: {%s}\n", rows[i].settings);
    strcat(joined, text);
    end_of(joined, i % 2 == 0, 4, own_names, own);
    for (int k = 0; k < 4; ++k) {
      if (!(fabs(own[k] - whole[k]) <= rows[i].error * (k < 2 ? 1.0 : 30.0)))
        fail_msg("%s, %s: %s is off by %.3g", rows[i].type, rows[i].settings, own_names[k], own[k] - whole[k]);
    }
  }
}

static void a_mass_of_a_user_is_coupled_by_a_spring_in_all_schemes(void **state) {
  (void)state;
  static const row rows[] = {
      {"bare-mass", "scheme: explicit, step: 2e-4, order: 2", 1e-6},
      {"bare-mass", "scheme: explicit, sequence: gauss-seidel, step: 2e-4, order: 2", 1e-6},
      {"bare-mass", "scheme: explicit, predictor: acceleration, step: 2e-4, order: 2", 1e-6},
      {"mass", "scheme: semi-implicit, step: 1e-3, order: 2", 1e-6},
      {"able-mass", "scheme: semi-implicit, step: 1e-3, order: 2", 1e-6},
      {"heap-mass", "scheme: semi-implicit, step: 1e-3, order: 2, couplings: {extension: d}", 1e-6},
      {"mass", "scheme: implicit, step: 1e-3, order: 2", 1e-6},
      {"able-mass", "scheme: implicit, jacobian: analytic, step: 1e-3, order: 2", 1e-6},
      {"heap-mass", "scheme: implicit, jacobian: broyden, step: 1e-3, order: 2", 1e-6},
      {"mass", "scheme: waveform, step: 1e-3, order: 2", 1e-6},
      {"able-mass", "scheme: implicit, step: {rtol: 1e-6}", 1e-5},
      {"heap-mass", "scheme: semi-implicit, step: {rtol: 1e-6}", 1e-5},
  };
  expect_like_whole(SPRING, "-1", rows, sizeof rows / sizeof *rows);
}

static void a_mass_of_a_user_is_coupled_by_a_rigid_joint(void **state) {
  (void)state;
  static const row rows[] = {
      {"mass", "scheme: semi-implicit, step: 1e-3, order: 2", 1e-6},
      {"able-mass", "scheme: implicit, step: 1e-3, order: 2", 1e-6},
      {"heap-mass", "scheme: implicit, step: 1e-3, order: 1, couplings: {formulation: stabilized-index-1}", 1e-6},
      {"mass", "scheme: semi-implicit, step: 1e-3, order: 2, couplings: {formulation: baumgarte}", 1e-5},
      {"able-mass", "scheme: semi-implicit, step: 1e-3, order: 1, couplings: {formulation: weighted}", 1e-5},
      {"able-mass", "scheme: implicit, step: {rtol: 1e-6}", 1e-5},
  };
  expect_like_whole(JOINT, "1", rows, sizeof rows / sizeof *rows);
}

/* ---- signals ---- */

/* A gain as a spring: the force on m1 is -500 x. */
static void a_gain_between_output_and_load_is_a_spring(void **state) {
  (void)state;
  static const char *const settings[] = {
      "scheme: explicit, step: 1e-4, order: 3", "scheme: semi-implicit, step: 1e-3, order: 3",
      "scheme: implicit, step: 1e-3, order: 3", "scheme: waveform, step: 1e-3, order: 3",
      "scheme: implicit, step: {rtol: 1e-7}",
  };
  static const char *const names[] = {"m1.x", "m1.v"};
  double                   whole[2], own[2];
  end_of(HEAD "bodies:\n" M1 "connections:\n" WALL "loads: {f: {kind: expression, on: m1, force: -500*m1.x}}\n", false,
         2, names, whole);
  for (size_t i = 0; i < sizeof settings / sizeof *settings; ++i) {
    char text[ROOM];
    snprintf(text, sizeof text,
             HEAD
             "bodies:\n" M1 "connections:\n" WALL
             "subsystems: {g: {kind: user, type: gain, parameters: {k: -500}, inputs: {in: m1.x}, outputs: {out: N}}}\n"
             "loads: {f: {kind: expression, on: m1, force: g.out}}\n"
             "cosimulation: {%s}\n",
             settings[i]);
    end_of(text, i % 2 == 0, 2, names, own);
    if (!(fabs(own[0] - whole[0]) <= 1e-6 && fabs(own[1] - whole[1]) <= 3e-5))
      fail_msg("%s: off by %.3g m, %.3g m/s", settings[i], own[0] - whole[0], own[1] - whole[1]);
  }
}

/* Everything at once: a user's mass at a spring, a gain that reads it and pulls at the native one. */
static void users_subsystems_and_signals_run_adaptively_as_the_whole(void **state) {
  (void)state;
  static const struct {
    const char *type, *settings;
    double      error;
  } rows[] = {
      {"able-mass", "scheme: implicit, step: {rtol: 1e-6}", 1e-5},
      {"heap-mass", "scheme: semi-implicit, step: {rtol: 1e-6}", 1e-5},
      {"bare-mass", "scheme: explicit, step: 1e-4, order: 2", 1e-5},
  };
  char   text[ROOM];
  double whole[4], own[4];
  snprintf(text, sizeof text, NATIVE SPRING "loads: {f: {kind: expression, on: m1, force: -300*m2.x}}\n", "-1", "m2");
  end_of(text, false, 4, native_names, whole);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    snprintf(text, sizeof text,
             HEAD
             "bodies:\n" M1 "subsystems:\n"
             "  other: {kind: user, type: %s, parameters: {mass: 2, stiffness: 1000, damping: 10, x: 0.02, v: -1}, "
             "ports: {end: line}}\n"
             "  g: {kind: user, type: gain, parameters: {k: -300}, inputs: {in: other.end.x}, outputs: [out]}\n"
             "connections:\n" WALL SPRING "loads: {f: {kind: expression, on: m1, force: g.out}}\ncosimulation: {%s}\n",
             rows[i].type, "other.end", rows[i].settings);
    end_of(text, true, 4, own_names, own);
    for (int k = 0; k < 4; ++k) {
      if (!(fabs(own[k] - whole[k]) <= rows[i].error * (k < 2 ? 1.0 : 30.0)))
        fail_msg("%s, %s: %s is off by %.3g", rows[i].type, rows[i].settings, own_names[k], own[k] - whole[k]);
    }
  }
}

/* ---- events ---- */

#define SAMPLED(type, period)                                                                                          \
  "yoke: 1\nt_end: 0.05\n"                                                                                             \
  "bodies: {arm: {kind: planar, mass: 1, inertia: 0.1, angle: 1}}\n"                                                   \
  "connections: {hinge: {kind: revolute, between: [ground, arm]}}\n"                                                   \
  "subsystems:\n"                                                                                                      \
  "  c: {kind: user, type: " type ", parameters: {kp: 20, kd: 2, period: " period                                      \
  "}, inputs: {angle: arm.angle, rate: arm.omega}, outputs: {torque: N m}}\n"                                          \
  "loads: {motor: {kind: expression, on: arm, torque: c.torque}}\n"

/* The exact motion under a torque that is held from sample to sample. */
static void sampled_arm(double period, double t_end, double z[2]) {
  double t = 0.0;
  z[0]     = 1.0;
  z[1]     = 0.0;
  for (int n = 1; t < t_end; ++n) {
    const double a = -(20.0 * z[0] + 2.0 * z[1]) / 0.1, next = fmin((double)n * period, t_end), h = next - t;
    z[0] += h * (z[1] + 0.5 * h * a);
    z[1] += h * a;
    t = next;
  }
}

/* Samples at macro points, and between them: the torque is constant in between, so that nothing is lost. */
static void a_sampled_controller_is_exact_in_every_scheme(void **state) {
  (void)state;
  static const char *const names[]    = {"arm.angle", "arm.omega"};
  static const char *const settings[] = {"cosimulation: {scheme: explicit, step: 1e-3, order: 1}\n",
                                         "cosimulation: {scheme: semi-implicit, step: 1e-3, order: 2}\n",
                                         "cosimulation: {scheme: implicit, step: 1e-3, order: 0}\n"};
  for (int k = 0; k < 6; ++k) {
    char   text[ROOM];
    double own[2], exact[2];
    snprintf(text, sizeof text, "%s%s", k % 2 == 0 ? SAMPLED("sampled", "2e-3") : SAMPLED("sampled", "3.3e-3"),
             settings[k / 2]);
    end_of(text, true, 2, names, own);
    sampled_arm(k % 2 == 0 ? 2e-3 : 3.3e-3, 0.05, exact);
    for (int i = 0; i < 2; ++i) CHECK_NEAR(own[i], exact[i], 1e-8);
  }
}

static void events_of_a_user_are_told_and_the_first_sample_is_taken_at_the_start(void **state) {
  (void)state;
  static const char *const name  = "c.torque";
  yoke_context            *ctx   = context();
  yoke_simulation         *s     = NULL;
  yoke_step_facts          facts = {.size = sizeof facts};
  yoke_event_facts         event = {.size = sizeof event};
  double                   torque;
  assert_int_equal(create(ctx, SAMPLED("sampled", "2.5e-3") "cosimulation: {step: 1e-3}\n", true, &s), YOKE_OK);
  get(ctx, s, 1, &name, &torque);
  CHECK_NEAR(torque, -20.0, 1e-12);
  for (int i = 0; i < 3; ++i) assert_int_equal(yoke_simulation_step(ctx, s, &facts), YOKE_OK);
  CHECK_NEAR(facts.t, 2.5e-3, 1e-15); /* the third step ends with the sample */
  assert_int_equal(facts.n_events, 1);
  assert_int_equal(yoke_simulation_event(ctx, s, 0, &event), YOKE_OK);
  assert_string_equal(event.name, "c.sample");
  assert_int_equal(event.effect, YOKE_EFFECT_SET);
  assert_false(said(ctx, "c.sample")); /* there are too many of them for a log */
  yoke_simulation_destroy(&s);
  yoke_context_destroy(&ctx);
}

/* Samples at macro points, and between them, where they are taken at the next one. */
static void a_controller_that_cannot_go_back_samples_at_macro_points(void **state) {
  (void)state;
  static const char *const names[] = {"arm.angle", "arm.omega"};
  double                   own[2], exact[2];
  end_of(SAMPLED("sampled-forward", "2e-3") "cosimulation: {scheme: explicit, step: 1e-3}\n", true, 2, names, own);
  sampled_arm(2e-3, 0.05, exact);
  for (int i = 0; i < 2; ++i) CHECK_NEAR(own[i], exact[i], 1e-8);
  yoke_context    *ctx = context();
  yoke_simulation *s   = NULL;
  assert_int_equal(
      create(ctx, SAMPLED("sampled-forward", "1.5e-3") "cosimulation: {scheme: explicit, step: 1e-3}\n", true, &s),
      YOKE_OK);
  assert_int_equal(yoke_simulation_run_to(ctx, s, 0.05), YOKE_OK);
  assert_true(said(ctx, "event 'c.sample' at t = 0.0015 s lies inside a macro step, and subsystem 'c' cannot go back"));
  yoke_simulation_destroy(&s);
  yoke_context_destroy(&ctx);
}

/* Counts how often it is started, whatever its inputs are. */
static yoke_status restless_start(void *self, void *state, double t, const double *u, yoke_context *ctx) {
  (void)state, (void)t, (void)u, (void)ctx;
  *(double *)self += 1.0;
  return YOKE_OK;
}

static yoke_status restless_output(void *self, const void *state, double t, const double *u, double *y) {
  (void)state, (void)t, (void)u;
  y[0] = *(const double *)self;
  return YOKE_OK;
}

static void a_start_that_never_settles_is_named(void **state) {
  (void)state;
  yoke_context    *ctx;
  yoke_simulation *s    = NULL;
  yoke_user_type   type = gain_type();
  type.name             = "restless";
  type.start            = restless_start;
  type.output           = restless_output;
  type.instant          = NULL;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_context_add_type(ctx, &type), YOKE_OK);
  assert_int_equal(create(ctx,
                          HEAD "bodies:\n" M1 "subsystems: {r: {kind: user, type: restless, inputs: {in: m1.x}, "
                               "outputs: [out]}}\nloads: {f: {kind: expression, on: m1, force: r.out}}\n"
                               "cosimulation: {step: 1e-3}\n",
                          false, &s),
                   YOKE_E_NOT_CONVERGED);
  assert_true(said(ctx, "subsystem 'r': with every start at t = 0 s its outputs ask for other inputs"));
  yoke_context_destroy(&ctx);
}

/* ---- states ---- */

static void saved_states_of_users_go_on_with_the_same_bits(void **state) {
  (void)state;
  static const char *const types[]    = {"mass", "heap-mass", "able-mass"};
  static const char *const settings[] = {"scheme: implicit, step: {rtol: 1e-5}", "scheme: semi-implicit, step: 1e-3"};
  for (int k = 0; k < 6; ++k) {
    yoke_context    *ctx = context();
    yoke_simulation *a = NULL, *b = NULL;
    yoke_snapshot   *kept = NULL, *copy = NULL;
    char             text[ROOM];
    double           end[3][4];
    size_t           size;
    snprintf(text, sizeof text, OWN SPRING "cosimulation: {%s}\n", types[k % 3], "-1", "other.end", settings[k / 3]);
    assert_int_equal(create(ctx, text, false, &a), YOKE_OK);
    assert_int_equal(create(ctx, text, false, &b), YOKE_OK);
    for (int i = 0; i < 20; ++i) assert_int_equal(yoke_simulation_step(ctx, a, NULL), YOKE_OK);
    assert_int_equal(yoke_simulation_save(ctx, a, &kept), YOKE_OK);
    const void *bytes = yoke_snapshot_bytes(kept, &size);
    assert_int_equal(yoke_snapshot_from_bytes(ctx, bytes, size, &copy), YOKE_OK);
    assert_int_equal(yoke_simulation_restore(ctx, b, copy), YOKE_OK); /* another simulation */
    for (int round = 0; round < 3; ++round) {
      yoke_simulation *s = round == 1 ? b : a;
      if (round == 2) assert_int_equal(yoke_simulation_restore(ctx, a, kept), YOKE_OK);
      assert_int_equal(yoke_simulation_run_to(ctx, s, 0.2), YOKE_OK);
      get(ctx, s, 4, own_names, end[round]);
    }
    assert_memory_equal(end[0], end[1], sizeof end[0]);
    assert_memory_equal(end[0], end[2], sizeof end[0]);
    yoke_snapshot_destroy(&kept);
    yoke_snapshot_destroy(&copy);
    yoke_simulation_destroy(&a);
    yoke_simulation_destroy(&b);
    yoke_context_destroy(&ctx);
  }
}

/* A context that knows one type, and a simulation with a subsystem of it at a spring. */
static yoke_context *open_one(const yoke_user_type *type, yoke_simulation **s) {
  yoke_context *ctx = NULL;
  char          text[ROOM];
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_context_add_type(ctx, type), YOKE_OK);
  snprintf(text, sizeof text, OWN SPRING "cosimulation: {step: 1e-3}\n", type->name, "-1", "other.end");
  assert_int_equal(create(ctx, text, false, s), YOKE_OK);
  return ctx;
}

static void states_that_are_no_bytes_are_saved_by_ability_pack_only(void **state) {
  (void)state;
  yoke_simulation *s    = NULL;
  yoke_snapshot   *kept = NULL;
  yoke_user_type   type = mass_type(&on_heap);
  type.pack             = NULL;
  yoke_context *ctx     = open_one(&type, &s);
  assert_int_equal(yoke_simulation_save(ctx, s, &kept), YOKE_E_UNSUPPORTED);
  assert_true(said(ctx, "subsystem 'other' cannot be packed: its states are not known to be bytes"));
  assert_int_equal(yoke_simulation_run_to(ctx, s, 0.2), YOKE_OK);
  yoke_simulation_destroy(&s);
  yoke_context_destroy(&ctx);
}

/* ---- messages ---- */

static yoke_status tired_step(void *self, void *state, const yoke_signal *u, yoke_user_step *step, yoke_context *ctx) {
  return step->t > 0.05 ? YOKE_E_SUBSYSTEM : mass_step(self, state, u, step, ctx);
}

static void a_step_that_fails_names_its_subsystem_once(void **state) {
  (void)state;
  yoke_simulation *s    = NULL;
  yoke_user_type   type = mass_type(&repeats);
  type.step             = tired_step;
  yoke_context *ctx     = open_one(&type, &s);
  assert_int_equal(yoke_simulation_run_to(ctx, s, 0.2), YOKE_E_SUBSYSTEM);
  assert_true(said(ctx, "subsystem 'other': type 'mass': the step of 0.001 s from t = "));
  assert_false(said(ctx, "subsystem 'other': subsystem 'other'"));
  yoke_simulation_destroy(&s);
  yoke_context_destroy(&ctx);
}

static void a_simulation_outlives_the_context_that_knew_its_types(void **state) {
  (void)state;
  yoke_context    *ctx = context(), *other;
  yoke_simulation *s   = NULL;
  char             text[ROOM];
  snprintf(text, sizeof text, OWN SPRING "cosimulation: {step: 1e-3}\n", "heap-mass", "-1", "other.end");
  assert_int_equal(create(ctx, text, false, &s), YOKE_OK);
  yoke_context_destroy(&ctx);
  assert_int_equal(yoke_context_create(&other), YOKE_OK);
  assert_int_equal(yoke_simulation_run_to(other, s, 0.2), YOKE_OK);
  yoke_simulation_destroy(&s);
  yoke_context_destroy(&other);
}

/* ---- refusals ---- */

static void what_cannot_be_is_refused_by_name(void **state) {
  (void)state;
#define WITH(type, ports) "bodies:\n" M1 "subsystems:\n  other: {kind: user, type: " type ", " ports "}\n"
  static const struct {
    const char *text;
    yoke_status status;
    const char *said;
  } rows[] = {
      {WITH("bare-mass", "ports: {end: line}") "connections:\n  c: {kind: spring-damper, between: [m1, other.end], "
                                               "stiffness: 700}\ncosimulation: {scheme: implicit, step: 1e-3}\n",
       YOKE_E_MODEL, "subsystem 'other'"},
      {WITH("mass",
            "ports: {end: line}") "connections:\n  c: {kind: spring-damper, between: [m1, other.end], stiffness: "
                                  "700, free_length: 0}\ncosimulation: {step: 1e-3, couplings: {extension: i}}\n",
       YOKE_E_MODEL, "port 'end' of subsystem 'other' does not show integrals of its positions"},
      {WITH("mass", "ports: {end: plane}") "cosimulation: {step: 1e-3}\n", YOKE_E_MODEL,
       "is written with the shape 'plane', but its type 'mass' makes it 'line'"},
      {WITH("mass", "ports: {tip: line}") "cosimulation: {step: 1e-3}\n", YOKE_E_MODEL,
       "names port 'tip', but its type 'mass' has 'end'"},
      {WITH("mass", "parameters: {weight: 1}, ports: {end: line}") "cosimulation: {step: 1e-3}\n", YOKE_E_MODEL,
       "parameter 'weight' is not known"},
      {WITH("masss", "ports: {end: line}") "cosimulation: {step: 1e-3}\n", YOKE_E_MODEL,
       "no type 'masss' is known for subsystem 'other': load the plugin that has it"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    yoke_context    *ctx = context();
    yoke_simulation *s   = NULL;
    char             text[ROOM];
    snprintf(text, sizeof text, "yoke: 1\nt_end: 0.2\n%s", rows[i].text);
    const yoke_status status = create(ctx, text, false, &s);
    if (status != rows[i].status || !said(ctx, rows[i].said)) {
      show(ctx);
      fail_msg("%s: %s", rows[i].said, yoke_status_name(status));
    }
    yoke_context_destroy(&ctx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_mass_of_a_user_is_coupled_by_a_spring_in_all_schemes),
      cmocka_unit_test(a_mass_of_a_user_is_coupled_by_a_rigid_joint),
      cmocka_unit_test(a_gain_between_output_and_load_is_a_spring),
      cmocka_unit_test(users_subsystems_and_signals_run_adaptively_as_the_whole),
      cmocka_unit_test(a_sampled_controller_is_exact_in_every_scheme),
      cmocka_unit_test(events_of_a_user_are_told_and_the_first_sample_is_taken_at_the_start),
      cmocka_unit_test(a_controller_that_cannot_go_back_samples_at_macro_points),
      cmocka_unit_test(a_start_that_never_settles_is_named),
      cmocka_unit_test(saved_states_of_users_go_on_with_the_same_bits),
      cmocka_unit_test(states_that_are_no_bytes_are_saved_by_ability_pack_only),
      cmocka_unit_test(a_step_that_fails_names_its_subsystem_once),
      cmocka_unit_test(a_simulation_outlives_the_context_that_knew_its_types),
      cmocka_unit_test(what_cannot_be_is_refused_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
