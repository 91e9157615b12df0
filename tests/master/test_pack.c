/* A system as bytes: packed in one process and unpacked in another, both go on with the same bits. The other process is this program with
 * --go-on FOLDER GROUP; bytes travel through files. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/cosimulate.h"
#include "../folder.h"
#include "../other_process.h"

/* ---- models ---- */

/* A ball that bounces, and a bob that hangs on it by a spring; the bob is pushed from t = 0.05 on. */
#define BALL                                                                                                           \
  "yoke: 1\n"                                                                                                          \
  "gravity: [-9.81, 0, 0]\n"                                                                                           \
  "t_end: 1.2\n"                                                                                                       \
  "bodies:\n"                                                                                                          \
  "  ball: {kind: mass1d, mass: 1, x: 0.02}\n"                                                                         \
  "  bob: {kind: mass1d, mass: 0.5, x: 0.32}\n"                                                                        \
  "connections:\n"                                                                                                     \
  "  spring: {kind: spring-damper, between: [ball, bob], stiffness: 200, damping: 1, free_length: 0.3}\n"              \
  "loads: {push: {kind: expression, on: bob, force: 5*step(t - 0.05)}}\n"                                              \
  "events: {bounce: {when: ball.x, direction: falling, set: {ball.v: -0.9*ball.v}}}\n"                                 \
  "split: {a: [ball], b: [bob]}\n"                                                                                     \
  "cosimulation: {scheme: implicit, order: 2, step: 1e-3}\n"                                                           \
  "solvers: {default: {kind: dopri5, rtol: 1e-11}}\n"                                                                  \
  "output: {every: 7e-4}\n"

/* Two bars; the upper one hits a stop, the lower one is pushed from t = 0.0521 on. */
#define PENDULUM                                                                                                       \
  "yoke: 1\n"                                                                                                          \
  "assemble: true\n"                                                                                                   \
  "gravity: [0, -9.81, 0]\n"                                                                                           \
  "t_end: 0.8\n"                                                                                                       \
  "bodies:\n"                                                                                                          \
  "  upper: {kind: planar, mass: 1, inertia: 1/12, position: [0.35, -0.35], angle: -pi/4, frames: {top: [-0.5, 0], "   \
  "tip: [0.5, 0]}}\n"                                                                                                  \
  "  lower: {kind: planar, mass: 1, inertia: 1/12, position: [1, -1], angle: -pi/4, frames: {top: [-0.5, 0], tip: "    \
  "[0.5, 0]}}\n"                                                                                                       \
  "connections:\n"                                                                                                     \
  "  hinge: {kind: revolute, between: [ground, upper.top]}\n"                                                          \
  "  knee: {kind: revolute, between: [upper.tip, lower.top]}\n"                                                        \
  "loads: {push: {kind: expression, on: lower.tip, force: [5*step(t - 0.0521), 0]}}\n"                                 \
  "events: {hit: {when: upper.angle + 0.8, direction: falling, set: {upper.omega: -0.5*upper.omega}}}\n"               \
  "split: {a: [upper], b: [lower]}\n"                                                                                  \
  "cosimulation: {scheme: semi-implicit, order: 1, step: 2e-3}\n"                                                      \
  "solvers: {default: {kind: dopri5, rtol: 1e-11}}\n"                                                                  \
  "output: {every: 1.3e-3, select: ['*', total.balance]}\n"

/* A mass falls into a stiff spring: `auto` turns to its implicit method there. */
#define FALL                                                                                                           \
  "yoke: 1\n"                                                                                                          \
  "gravity: [-9.81, 0, 0]\n"                                                                                           \
  "t_end: 1\n"                                                                                                         \
  "bodies:\n"                                                                                                          \
  "  ball: {kind: mass1d, mass: 1, x: 0.002}\n"                                                                        \
  "  bob: {kind: mass1d, mass: 0.5, x: 0.302}\n"                                                                       \
  "connections:\n"                                                                                                     \
  "  spring: {kind: spring-damper, between: [ball, bob], stiffness: 200, damping: 1, free_length: 0.3}\n"              \
  "loads: {floor: {kind: expression, on: ball, force: 'if(ball.x < 0, -1e9*ball.x - 3e5*ball.v, 0)'}}\n"               \
  "split: {a: [ball], b: [bob]}\n"                                                                                     \
  "cosimulation: {scheme: semi-implicit, order: 1, step: 1e-3}\n"                                                      \
  "solvers: {default: {kind: auto, rtol: 1e-6}}\n"                                                                     \
  "output: {every: 3e-4}\n"

/* A block that sticks on a belt, and slips. */
#define BELT                                                                                                           \
  "yoke: 1\n"                                                                                                          \
  "t_end: 0.5\n"                                                                                                       \
  "bodies: {block: {kind: mass1d, mass: 1}, bob: {kind: mass1d, mass: 0.3, x: 0.05}}\n"                                \
  "connections:\n"                                                                                                     \
  "  spring: {kind: spring-damper, between: [ground, block], stiffness: 100}\n"                                        \
  "  tie: {kind: spring-damper, between: [block, bob], stiffness: 200, damping: 0.5}\n"                                \
  "loads: {friction: {kind: expression, on: block, force: -2*sign(block.v - 0.1) + block.v - 0.1}}\n"                  \
  "split: {a: [block], b: [bob]}\n"                                                                                    \
  "cosimulation: {scheme: semi-implicit, order: 1, step: 1e-3}\n"                                                      \
  "solvers: {default: {kind: dopri5, rtol: 1e-8}}\n"                                                                   \
  "output: {every: 3e-4}\n"

static const char *const two_chains = "examples/chain-imp.yaml";
static const char *const two_mass = "examples/two-mass.yaml", *const rigid = "examples/two-mass-rigid.yaml",
                         *const double_pendulum = "examples/double-pendulum.yaml",
                         *const flexible        = "examples/double-pendulum-flexible.yaml";

/* ---- situations ---- */

typedef enum group { STEPS, CONTROL, BREAKS, SOLVERS, WHOLE, N_GROUPS } group;

typedef enum when { AFTER_STEPS, AFTER_REJECTION, AFTER_EVENT, AFTER_TIME, AFTER_OTHER_METHOD } when;

typedef struct situation {
  group       group;
  const char *model, *sets;
  when        when;
  int         n_steps; /* AFTER_STEPS */
  double      t;       /* AFTER_TIME */
  bool        is_whole;
  const char *forward; /* a part that cannot go back */
} situation;

#define SET_EXPLICIT "cosimulation.scheme=explicit;cosimulation.order=2;"
#define SET_INSIDE "output.every=3e-4"
#define SET_JOINT "cosimulation.couplings.formulation="
#define OVERLAP "parameters.n=50;split.c=2;cosimulation.couplings.formulation=overlap;output.every=3e-6;"
#define SET_CONTROL "cosimulation.step={rtol: 1e-4};"
/* A law between the subsystems that reads the model. */
#define READING(name)                                                                                                  \
  "connections.coupling={kind: spring-damper, between: [m1, m2], law: 300*x + 9*v + 50*" name "*m2.v}"

static const situation situations[] = {
    /* schemes, predictors, starts */
    {STEPS, two_mass, SET_EXPLICIT SET_INSIDE, .n_steps = 7},
    {STEPS, two_mass, SET_EXPLICIT "cosimulation.sequence=gauss-seidel;" SET_INSIDE, .n_steps = 7},
    {STEPS, "examples/energy-oscillator.yaml", "t_end=0.1;output.every=3e-4", .n_steps = 37},
    /* between balance points, in a panel of a chain */
    {STEPS, "examples/energy-oscillator.yaml", "t_end=0.5;output.every=0.1;cosimulation.energy=monitor",
     .n_steps = 333},
    {STEPS, "examples/chain-conv.yaml", "t_end=4e-3;cosimulation.energy=monitor", .n_steps = 233},
    {STEPS, "examples/haptic.yaml", "t_end=0.4;output.every=1e-3", .n_steps = 37},
    {STEPS, two_mass, SET_EXPLICIT "cosimulation.predictor=acceleration;" SET_INSIDE, .n_steps = 7},
    {STEPS, two_mass, SET_EXPLICIT "cosimulation.predictor=least-squares;cosimulation.samples=5", .n_steps = 7},
    {STEPS, two_mass, SET_EXPLICIT "cosimulation.start=exact;" SET_INSIDE, .n_steps = 1},
    {STEPS, two_mass, SET_EXPLICIT "cosimulation.start=graded;" SET_INSIDE, .n_steps = 5},
    {STEPS, two_mass, "cosimulation.order=2;cosimulation.start=exact;" SET_INSIDE, .n_steps = 1},
    {STEPS, two_mass, "cosimulation.order=3;" SET_INSIDE, .n_steps = 2},
    {STEPS, two_mass, "cosimulation.couplings.extension=d", .n_steps = 5},
    {STEPS, two_mass, "cosimulation.couplings.extension=i;" SET_INSIDE, .n_steps = 5},
    {STEPS, two_mass, "cosimulation.couplings.decomposition=force/displacement;" SET_INSIDE, .n_steps = 5},
    {STEPS, two_mass, "cosimulation.couplings.decomposition=displacement/displacement", .n_steps = 5},
    {STEPS, two_mass, "cosimulation.scheme=waveform;" SET_INSIDE, .n_steps = 5},
    {STEPS, two_mass, "cosimulation.scheme=implicit;cosimulation.jacobian=broyden;" SET_INSIDE, .n_steps = 5},
    {STEPS, double_pendulum, "cosimulation.scheme=implicit;cosimulation.jacobian=broyden", .n_steps = 5},
    {STEPS, double_pendulum, "cosimulation.scheme=implicit;" SET_INSIDE, .n_steps = 5}, /* a matrix is kept */
    {STEPS, flexible, "output.select=['*', total.balance]", .n_steps = 5},
    {STEPS, two_mass, READING("m1.x") ";" SET_INSIDE, .n_steps = 5},
    {STEPS, two_mass, SET_EXPLICIT READING("m1.x"), .n_steps = 5},
    /* formulations of joints */
    {STEPS, rigid, SET_JOINT "stabilized-index-2;" SET_INSIDE, .n_steps = 5},
    {STEPS, rigid, SET_JOINT "stabilized-index-2-mu", .n_steps = 5},
    {STEPS, rigid, SET_JOINT "stabilized-index-1", .n_steps = 5},
    {STEPS, rigid, SET_JOINT "baumgarte;" SET_INSIDE, .n_steps = 5},
    {STEPS, rigid, SET_JOINT "weighted;cosimulation.order=2", .n_steps = 5},
    {STEPS, double_pendulum, SET_JOINT "projection", .n_steps = 5},
    {STEPS, "examples/kinematic-two-mass.yaml", "output.every=3e-3", .n_steps = 4},
    {STEPS, "examples/chain-load.yaml", "parameters.n=200;output={every: 3e-8, select: ['c.x[1]', 'c.v[150]']}",
     .n_steps = 6},
    {STEPS, two_chains, OVERLAP "cosimulation.step=2e-6", .n_steps = 6},
    {STEPS, two_chains, OVERLAP "cosimulation.step=2e-6;cosimulation.predictor=acceleration", .n_steps = 6},
    /* control */
    {CONTROL, two_chains, OVERLAP SET_CONTROL, .n_steps = 20},
    {CONTROL, two_mass, SET_CONTROL SET_INSIDE, .n_steps = 2},
    {CONTROL, two_mass, SET_CONTROL "cosimulation.step.initial=1e-2;" SET_INSIDE, .when = AFTER_REJECTION},
    {CONTROL, two_mass, SET_CONTROL "cosimulation.scheme=implicit;cosimulation.step.initial=1e-2;" SET_INSIDE,
     .when = AFTER_REJECTION},
    {CONTROL, two_mass, SET_CONTROL "cosimulation.scheme=explicit;" SET_INSIDE, .n_steps = 30},
    {CONTROL, flexible, SET_CONTROL "cosimulation.step.initial=1e-2", .when = AFTER_REJECTION},
    {CONTROL, double_pendulum, SET_CONTROL "cosimulation.step.initial=1e-2", .when = AFTER_REJECTION},
    {CONTROL, double_pendulum, SET_CONTROL "cosimulation.scheme=implicit", .n_steps = 3},
    {CONTROL, double_pendulum, SET_CONTROL "cosimulation.step.estimator=cv", .n_steps = 12},
    {CONTROL, BALL, SET_CONTROL, .when = AFTER_EVENT},
    {CONTROL, BALL, SET_CONTROL, .when = AFTER_TIME, .t = 0.05},
    {CONTROL, PENDULUM, SET_CONTROL, .when = AFTER_EVENT},
    {CONTROL, PENDULUM, SET_CONTROL, .when = AFTER_TIME, .t = 0.0521},
    /* events and switched loads */
    {BREAKS, BALL, NULL, .when = AFTER_EVENT},
    {BREAKS, BALL, NULL, .when = AFTER_TIME, .t = 0.05},
    {BREAKS, BALL, SET_EXPLICIT, .when = AFTER_EVENT},
    {BREAKS, BALL, SET_EXPLICIT "cosimulation.energy=correct", .when = AFTER_EVENT},
    {BREAKS, BALL, SET_EXPLICIT "cosimulation.jacobian=analytic", .when = AFTER_EVENT, .forward = "b"},
    {BREAKS, PENDULUM, NULL, .when = AFTER_EVENT},
    {BREAKS, PENDULUM, NULL, .when = AFTER_TIME, .t = 0.0521},
    {BREAKS, PENDULUM, "cosimulation.scheme=implicit", .when = AFTER_TIME, .t = 0.0521},
    {BREAKS, BELT, NULL, .when = AFTER_TIME, .t = 0.08},
    {BREAKS, BELT, NULL, .when = AFTER_TIME, .t = 0.25},
    /* solvers */
    {SOLVERS, double_pendulum, "solvers.default={kind: radau5, rtol: 1e-6};" SET_INSIDE, .n_steps = 5},
    {SOLVERS, double_pendulum, "solvers.default={kind: bdf, rtol: 1e-6};" SET_INSIDE, .n_steps = 5},
    {SOLVERS, double_pendulum, "solvers.default={kind: genalpha, step: 5e-4};" SET_INSIDE, .n_steps = 5},
    {SOLVERS, two_mass, "solvers.default={kind: abm, rtol: 1e-6};" SET_INSIDE, .n_steps = 5},
    {SOLVERS, FALL, NULL, .when = AFTER_OTHER_METHOD},
    /* a model as a whole, in free steps */
    {WHOLE, BALL, NULL, .when = AFTER_EVENT, .is_whole = true},
    {WHOLE, BALL, "output.every=0", .when = AFTER_TIME, .t = 0.05, .is_whole = true},
    {WHOLE, PENDULUM, "solvers.default={kind: radau5, rtol: 1e-8}", .when = AFTER_EVENT, .is_whole = true},
    {WHOLE, PENDULUM, "solvers.default={kind: bdf, rtol: 1e-8}", .n_steps = 30, .is_whole = true},
    {WHOLE, BELT, NULL, .when = AFTER_TIME, .t = 0.25, .is_whole = true},
    {WHOLE, BELT, "solvers.default={kind: bdf, rtol: 1e-8}", .when = AFTER_TIME, .t = 0.08, .is_whole = true},
    {WHOLE, BELT, NULL, .n_steps = 9, .is_whole = true}, /* ends at a jump */
    {WHOLE, FALL, NULL, .when = AFTER_OTHER_METHOD, .is_whole = true},
    {WHOLE, "examples/chain-load.yaml", "parameters.n=200;output.select=['c.x[1]', 'c.v[150]']", .n_steps = 20,
     .is_whole = true},
};
enum { N_SITUATIONS = sizeof situations / sizeof situations[0], MORE_STEPS = 25 };

/* ---- a run that is written down ---- */

typedef struct record {
  const situation     *situation;
  cosim                c;
  yoke_step_statistics last;          /* step */
  char                 method[2][24]; /* of both parts at the start */
  int                  n_steps, n_more;
  bool                 is_there; /* behind the situation: all is written down */
  yoke_pack            before, after;
} record;

static yoke_status write_sample(void *user, double t, const double *outputs, const yoke_counters *counters, double h,
                                int order) {
  record *r = user;
  if (!r->is_there) return YOKE_OK;
  yoke_pack_double(&r->after, t);
  yoke_pack_doubles(&r->after, (size_t)r->c.plan->outputs.n, outputs);
  const int64_t counts[6] = {counters->steps,     counters->rejected,   counters->evaluations,
                             counters->jacobians, counters->factorings, counters->iterations};
  for (int i = 0; i < 6; ++i) yoke_pack_int64(&r->after, counts[i]);
  yoke_pack_text(&r->after, counters->method);
  yoke_pack_double(&r->after, h);
  yoke_pack_int32(&r->after, order);
  return YOKE_OK;
}

static yoke_status write_macro(void *user, double t, double H, int order, const yoke_step_statistics *s) {
  record *r = user;
  r->last   = *s;
  if (!r->is_there) return YOKE_OK;
  const double numbers[] = {t, H, s->residual, s->error, s->rate};
  const int    counts[]  = {order,        s->iterations, s->integrations, s->converged, s->degree, (int)s->reduced_by,
                            s->is_forced, s->matrices,   s->has_kept};
  yoke_pack_doubles(&r->after, sizeof numbers / sizeof *numbers, numbers);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) yoke_pack_int32(&r->after, counts[i]);
  yoke_pack_doubles(&r->after, YOKE_N_RESIDUALS, s->residuals);
  yoke_pack_doubles(&r->after, YOKE_N_RESIDUALS, s->sizes);
  for (int i = 0; i < YOKE_N_REJECTIONS; ++i) yoke_pack_int32(&r->after, s->rejected[i]);
  return YOKE_OK;
}

static void method_of(const record *r, int part, char method[24]) {
  yoke_counters counters;
  yoke_system_part_counters(r->c.system, part, &counters);
  snprintf(method, 24, "%s", counters.method);
}

static bool has_other_method(const record *r) {
  for (int p = 0; p < r->c.plan->n_parts; ++p) {
    char method[24];
    method_of(r, p, method);
    if (strcmp(method, r->method[p]) != 0) return true;
  }
  return false;
}

static bool is_reached(const record *r, double t) {
  switch (r->situation->when) {
  case AFTER_STEPS: return r->n_steps >= r->situation->n_steps;
  case AFTER_REJECTION: return r->last.rejected[YOKE_REDUCED_BY_ERROR] > 0;
  case AFTER_EVENT: return has_message(r->c.ctx, "event '");
  case AFTER_TIME: return t >= r->situation->t;
  case AFTER_OTHER_METHOD: return has_other_method(r);
  }
  return false;
}

/* What the system shows at the present time. */
static void write_now(record *r) {
  yoke_pack_double(&r->after, yoke_system_t(r->c.system));
  yoke_pack_double(&r->after, yoke_system_H(r->c.system));
  for (int k = 0; k < r->c.plan->outputs.n; ++k)
    yoke_pack_double(&r->after, cosim_value(&r->c, r->c.plan->outputs.name[k]));
}

/* Behind the situation a number of steps more. */
static bool follow(void *user, double t) {
  record *r = user;
  ++r->n_steps;
  if (r->is_there) return ++r->n_more < MORE_STEPS;
  r->is_there = is_reached(r, t);
  if (!r->is_there) return true;
  assert_int_equal(yoke_system_save(r->c.system, &r->before, r->c.ctx), YOKE_OK);
  write_now(r);
  return true;
}

static yoke_status record_open(record *r, const situation *s) {
  const yoke_system_options serial = {.exec = "serial", .forward = s->forward};
  *r                               = (record){.situation = s};
  cosim_load(&r->c, s->model, s->sets);
  if (cosim_start(&r->c, s->is_whole, &serial) != YOKE_OK) return r->c.status;
  for (int p = 0; p < 2 && p < r->c.plan->n_parts; ++p) method_of(r, p, r->method[p]);
  return YOKE_OK;
}

/* The run, then its summary and the system as it has become. */
static yoke_status record_run(record *r) {
  const yoke_sink   sink   = {.user = r, .sample = write_sample, .macro = write_macro, .progress = follow};
  const yoke_status status = yoke_system_run(r->c.system, r->c.model->t_end, &sink, &r->c.summary, r->c.ctx);
  if (status != YOKE_OK && status != YOKE_E_INTERRUPTED) return status;
  const yoke_system_summary *x         = &r->c.summary;
  const double               numbers[] = {x->t, x->energy_start, x->energy_drift, x->constraint_residual};
  yoke_pack_doubles(&r->after, sizeof numbers / sizeof *numbers, numbers);
  yoke_pack_int32(&r->after, x->n_events);
  yoke_pack_bool(&r->after, x->has_energy);
  yoke_pack_text(&r->after, x->method);
  yoke_pack_block(&r->after, sizeof x->macro, &x->macro);
  return yoke_system_pack(r->c.system, &r->after, r->c.ctx);
}

static void record_close(record *r) {
  yoke_pack_free(&r->before);
  yoke_pack_free(&r->after);
  cosim_close(&r->c);
}

/* ---- files ---- */

static const char *path_of(const char *folder, int i, const char *end, char path[128]) {
  snprintf(path, 128, "%s/%d.%s", folder, i, end);
  return path;
}

/* ---- the other process ---- */

static bool go_on_with(const char *folder, int i) {
  char           path[128];
  size_t         size = 0;
  record         r;
  unsigned char *bytes  = read_bytes(path_of(folder, i, "before", path), &size);
  yoke_status    status = bytes != NULL ? record_open(&r, &situations[i]) : YOKE_E_IO;
  r.is_there            = true;
  if (status == YOKE_OK) status = yoke_system_restore(r.c.system, bytes, size, r.c.ctx);
  if (status == YOKE_OK) {
    write_now(&r);
    status = record_run(&r);
  }
  const bool ok = status == YOKE_OK && write_bytes(path_of(folder, i, "after", path), &r.after);
  if (!ok) cosim_print(r.c.ctx);
  record_close(&r);
  free(bytes);
  return ok;
}

static int go_on(const char *folder, group g) {
  int n_failed = 0;
  for (int i = 0; i < N_SITUATIONS; ++i) {
    if (situations[i].group == g && !go_on_with(folder, i)) ++n_failed;
  }
  return n_failed > 0;
}

/* ---- this process ---- */

static void must_reach(const situation *s, const record *r, yoke_status status) {
  if (status == YOKE_OK && r->is_there) return;
  cosim_print(r->c.ctx);
  fail_msg("situation %d (%.40s, %s): %s", (int)(s - situations), s->model, s->sets != NULL ? s->sets : "",
           status != YOKE_OK ? yoke_status_name(status) : "not reached");
}

static size_t first_difference(const yoke_pack *a, const unsigned char *b, size_t size) {
  size_t i = 0;
  while (i < a->size && i < size && a->bytes[i] == b[i]) ++i;
  return i;
}

static void check_group(void **state, group g) {
  const fixture *f = *state;
  yoke_pack      after[N_SITUATIONS];
  char           path[128];
  memset(after, 0, sizeof after);
  for (int i = 0; i < N_SITUATIONS; ++i) {
    record r;
    if (situations[i].group != g) continue;
    yoke_status status = record_open(&r, &situations[i]);
    if (status == YOKE_OK) status = record_run(&r);
    must_reach(&situations[i], &r, status);
    assert_true(write_bytes(path_of(f->folder, i, "before", path), &r.before));
    after[i] = r.after;
    r.after  = (yoke_pack){0};
    record_close(&r);
  }
  assert_int_equal(run_other_process(f->folder, (int)g), 0);
  for (int i = 0; i < N_SITUATIONS; ++i) {
    size_t size = 0;
    if (situations[i].group != g) continue;
    unsigned char *bytes = read_bytes(path_of(f->folder, i, "after", path), &size);
    assert_non_null(bytes);
    if (size != after[i].size || memcmp(bytes, after[i].bytes, size) != 0)
      fail_msg("situation %d (%.40s, %s) has other bits in the other process: %zu and %zu bytes, first at %zu", i,
               situations[i].model, situations[i].sets != NULL ? situations[i].sets : "", after[i].size, size,
               first_difference(&after[i], bytes, size));
    free(bytes);
    yoke_pack_free(&after[i]);
  }
}

static void every_scheme_and_formulation_goes_on_in_another_process(void **state) {
  check_group(state, STEPS);
}
static void control_goes_on_in_another_process_in_its_start_and_behind_rejections_and_breaks(void **state) {
  check_group(state, CONTROL);
}
static void a_system_goes_on_in_another_process_behind_an_event_and_behind_a_restart(void **state) {
  check_group(state, BREAKS);
}
static void solvers_in_mid_factor_and_auto_behind_its_change_go_on_in_another_process(void **state) {
  check_group(state, SOLVERS);
}
static void a_whole_model_goes_on_in_another_process(void **state) {
  check_group(state, WHOLE);
}

/* ---- memory ---- */

static void a_restored_system_repeats_its_run(void **state) {
  (void)state;
  yoke_pack first = {0};
  record    r;
  assert_int_equal(record_open(&r, &situations[0]), YOKE_OK);
  assert_int_equal(record_run(&r), YOKE_OK);
  first    = r.after;
  r.after  = (yoke_pack){0};
  r.n_more = 0;
  assert_int_equal(yoke_system_restore(r.c.system, r.before.bytes, r.before.size, r.c.ctx), YOKE_OK);
  write_now(&r);
  assert_int_equal(record_run(&r), YOKE_OK);
  assert_int_equal(r.after.size, first.size);
  assert_memory_equal(r.after.bytes, first.bytes, first.size);
  yoke_pack_free(&first);
  record_close(&r);
}

/* ---- refusals ---- */

/* Bytes of `from` are refused by a system of the other model and settings, with `message`; it is as before. */
static void check_refusal(const situation *from, const char *model, const char *sets, const char *message) {
  yoke_pack bytes = {0}, before = {0}, after = {0};
  cosim     c;
  record    r;
  assert_int_equal(record_open(&r, from), YOKE_OK);
  assert_int_equal(record_run(&r), YOKE_OK);
  bytes    = r.before;
  r.before = (yoke_pack){0};
  record_close(&r);
  cosim_open(&c, model, sets);
  cosim_expect(&c, YOKE_OK);
  yoke_step_statistics statistics;
  bool                 stop;
  for (int i = 0; i < 3; ++i)
    assert_int_equal(yoke_system_step(c.system, c.model->t_end, NULL, &statistics, &stop, c.ctx), YOKE_OK);
  assert_int_equal(yoke_system_save(c.system, &before, c.ctx), YOKE_OK);
  assert_true(yoke_system_restore(c.system, bytes.bytes, bytes.size, c.ctx) < 0);
  if (!has_message(c.ctx, message)) {
    cosim_print(c.ctx);
    fail_msg("no message '%s'", message);
  }
  assert_int_equal(yoke_system_save(c.system, &after, c.ctx), YOKE_OK);
  assert_int_equal(after.size, before.size);
  assert_memory_equal(after.bytes, before.bytes, before.size);
  yoke_pack_free(&bytes);
  yoke_pack_free(&before);
  yoke_pack_free(&after);
  cosim_close(&c);
}

static const situation plain      = {STEPS, "examples/two-mass.yaml", NULL, .n_steps = 7};
static const situation controlled = {CONTROL, "examples/two-mass.yaml", SET_CONTROL, .n_steps = 7};

#define PULLED(name) "solvers.default.kind=dop853;loads={pull: {kind: expression, on: m1, force: -" name "}}"
static const situation pulled = {STEPS, "examples/two-mass.yaml", PULLED("m1.x"), .n_steps = 7};

static const situation reading = {STEPS, "examples/two-mass.yaml", READING("m1.x"), .n_steps = 7};

static void bytes_of_another_model_are_refused_with_what_differs(void **state) {
  (void)state;
  check_refusal(&pulled, two_mass, PULLED("m1.v"), "load 'pull' of subsystem 'a' is not what it was");
  check_refusal(&reading, two_mass, READING("m1.v"), "connection 'coupling' is not what it was");
  check_refusal(&plain, rigid, NULL, "the name of the model was two-mass oscillator");
  check_refusal(&plain, two_mass, "bodies.m2.mass=2.5", "body 'm2' of subsystem 'b' is not what it was");
  check_refusal(&plain, two_mass, "connections.coupling.damping=11", "connection 'coupling' is not what it was");
  check_refusal(&plain, two_mass, "parameters.c1=900", "connection 'wall1' of subsystem 'a' is not what it was");
  check_refusal(&plain, two_mass, "split={a: [m2], b: [m1]}",
                "body 'm1' of subsystem 'a' where this system has body 'm2'");
}

/* Five rods as a whole, in lockstep where they are split behind rod `cut`; 0: in one piece. */
static void open_rods(cosim *c, int cut) {
  char sets[200];
  snprintf(sets, sizeof sets, "parameters.N=5;split={a: [\"rod[1..%d]\"], b: [\"rod[%d..5]\"]}", cut > 0 ? cut : 2,
           cut > 0 ? cut + 1 : 3);
  const yoke_plan_options   whole  = {.is_whole = true, .in_parts = cut > 0};
  const yoke_system_options serial = {.exec = "serial"};
  cosim_load(c, "examples/pendulum-chain.yaml", sets);
  assert_int_equal(yoke_plan_create(c->ctx, c->model, &whole, &c->plan), YOKE_OK);
  assert_int_equal(yoke_system_create(c->ctx, c->plan, &serial, &c->system), YOKE_OK);
}

static void bytes_of_another_lockstep_are_refused(void **state) {
  (void)state;
  cosim     from, same, other, whole;
  yoke_pack bytes = {0};
  open_rods(&from, 2);
  open_rods(&same, 2);
  open_rods(&other, 3);
  open_rods(&whole, 0);
  assert_int_equal(yoke_system_save(from.system, &bytes, from.ctx), YOKE_OK);
  assert_int_equal(yoke_system_restore(same.system, bytes.bytes, bytes.size, same.ctx), YOKE_OK);
  assert_true(yoke_system_restore(other.system, bytes.bytes, bytes.size, other.ctx) < 0);
  assert_true(has_message(other.ctx, "the split in lockstep of subsystem"));
  assert_true(has_message(other.ctx, "is not what it was"));
  assert_true(yoke_system_restore(whole.system, bytes.bytes, bytes.size, whole.ctx) < 0);
  assert_true(has_message(whole.ctx, "the split in lockstep of subsystem"));
  yoke_pack_free(&bytes);
  cosim_close(&from);
  cosim_close(&same);
  cosim_close(&other);
  cosim_close(&whole);
}

static void bytes_of_other_settings_are_refused_with_their_key(void **state) {
  (void)state;
  check_refusal(&plain, two_mass, "cosimulation.scheme=explicit",
                "cosimulation.scheme was semi-implicit, here it is explicit");
  check_refusal(&plain, two_mass, "cosimulation.order=2", "cosimulation.order was 1, here it is 2");
  check_refusal(&plain, two_mass, "cosimulation.step=2e-3", "cosimulation.step was 0.001, here it is 0.002");
  check_refusal(&plain, two_mass, "cosimulation.couplings.extension=d",
                "cosimulation.couplings.coupling.extension was none, here it is d");
  check_refusal(&plain, two_mass, "cosimulation.subsystems.b.jacobian=analytic",
                "where this system has cosimulation.subsystems.a.jacobian");
  check_refusal(&plain, two_mass, "output.every=2e-3", "output.every was 0.001, here it is 0.002");
  check_refusal(&plain, two_mass, "solvers.default={kind: dopri5, rtol: 1e-9}",
                "it is one of solver 'exact', this is 'dopri5'");
  check_refusal(&controlled, two_mass, "cosimulation.step={rtol: 1e-5}",
                "cosimulation.step.rtol was 0.0001, here it is");
}

static void bytes_that_are_damaged_or_cut_off_are_refused(void **state) {
  (void)state;
  yoke_pack before = {0};
  record    r;
  assert_int_equal(record_open(&r, &plain), YOKE_OK);
  assert_int_equal(record_run(&r), YOKE_OK);
  assert_int_equal(yoke_system_save(r.c.system, &before, r.c.ctx), YOKE_OK);
  for (size_t k = 0; k < 40; ++k) {
    const size_t at = k * (r.before.size - 1) / 39;
    assert_int_equal(yoke_system_restore(r.c.system, r.before.bytes, at, r.c.ctx), YOKE_E_IO);
    r.before.bytes[at] ^= 1;
    assert_true(yoke_system_restore(r.c.system, r.before.bytes, r.before.size, r.c.ctx) < 0);
    r.before.bytes[at] ^= 1;
  }
  /* also where no checksum protects what lies inside: nothing is taken that does not fit, and what is refused leaves no trace */
  for (size_t size = 0; size < r.before.size - 8; size += 97) {
    yoke_unpack in = {.bytes = r.before.bytes, .size = size};
    yoke_unpack_text(&in);
    assert_true(yoke_system_unpack(r.c.system, &in, r.c.ctx) < 0);
  }
  yoke_pack after = {0};
  assert_int_equal(yoke_system_save(r.c.system, &after, r.c.ctx), YOKE_OK);
  assert_int_equal(after.size, before.size);
  assert_memory_equal(after.bytes, before.bytes, before.size);
  yoke_pack_free(&after);
  yoke_pack_free(&before);
  record_close(&r);
}

/* ---- hostile bytes: changed, and the checksum fits again ---- */

static void seal(yoke_pack *pack) {
  const uint64_t sum = yoke_checksum(YOKE_CHECKSUM_START, pack->bytes, pack->size - 8);
  for (size_t i = 0; i < 8; ++i) pack->bytes[pack->size - 8 + i] = (unsigned char)(sum >> (8 * i));
}

static uint64_t draw(uint64_t *seed) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return *seed;
}

/* One place behind `from` gets a number that counts, flags or values should not have. */
static void spoil(yoke_pack *pack, size_t from, uint64_t *seed) {
  static const int32_t counts[]  = {-1, INT32_MAX, INT32_MIN, 1000, 17, 7};
  static const double  numbers[] = {(double)NAN, (double)INFINITY, -1e300, 1e300, -1.0, 1e-300};
  const size_t         at = from + draw(seed) % (pack->size - 24 - from), i = draw(seed) % 6;
  switch (draw(seed) % 3) {
  case 0: pack->bytes[at] = (unsigned char)draw(seed); break;
  case 1: memcpy(pack->bytes + at, &counts[i], sizeof counts[i]); break;
  default: memcpy(pack->bytes + at, &numbers[i], sizeof numbers[i]);
  }
  seal(pack);
}

/* First byte behind this tag. */
static size_t behind_tag(const yoke_pack *pack, const char *tag) {
  const size_t size = strlen(tag) + 1;
  for (size_t at = 8; at + size < pack->size; ++at) {
    uint64_t length;
    memcpy(&length, pack->bytes + at - 8, sizeof length);
    if (length == size && memcmp(pack->bytes + at, tag, size) == 0) return at + size;
  }
  fail_msg("no '%s'", tag);
  return 0;
}

static bool take_some_steps(void *user, double t) {
  (void)t;
  return ++*(int *)user < 4;
}

/* Taken or refused: the system runs, fails with a message or is as before, and the right bytes put it back. */
static void check_hostile(const situation *s, int n) {
  record    r;
  yoke_pack good = {0}, bad = {0};
  uint64_t  seed = 0x9E3779B97F4A7C15u;
  assert_int_equal(record_open(&r, s), YOKE_OK);
  must_reach(s, &r, record_run(&r));
  good     = r.before;
  r.before = (yoke_pack){0};
  for (int i = 0; i < n; ++i) {
    int             steps = 0;
    const yoke_sink sink  = {.user = &steps, .progress = take_some_steps};
    assert_int_equal(yoke_system_restore(r.c.system, good.bytes, good.size, r.c.ctx), YOKE_OK);
    bad.size = 0;
    yoke_pack_block(&bad, good.size, good.bytes);
    memmove(bad.bytes, bad.bytes + 8, good.size);
    bad.size = good.size;
    spoil(&bad, behind_tag(&bad, "graph"), &seed);
    if (yoke_system_restore(r.c.system, bad.bytes, bad.size, r.c.ctx) == YOKE_OK)
      (void)yoke_system_run(r.c.system, r.c.model->t_end, &sink, NULL, r.c.ctx);
    yoke_context_clear(r.c.ctx);
  }
  yoke_pack_free(&good);
  yoke_pack_free(&bad);
  record_close(&r);
}

static void hostile_bytes_neither_crash_nor_hang(void **state) {
  (void)state;
  static const situation hostile[] = {
      {STEPS, two_mass, SET_EXPLICIT SET_INSIDE, .n_steps = 7},
      {STEPS, rigid, SET_JOINT "stabilized-index-1", .n_steps = 5},
      {STEPS, two_mass, "cosimulation.scheme=implicit;cosimulation.jacobian=broyden;" SET_INSIDE, .n_steps = 5},
      {CONTROL, two_mass, SET_CONTROL SET_INSIDE, .n_steps = 5},
      {BREAKS, BALL, SET_EXPLICIT "cosimulation.jacobian=analytic", .n_steps = 5, .forward = "b"},
      {SOLVERS, double_pendulum, "solvers.default={kind: radau5, rtol: 1e-6}", .n_steps = 5},
      {SOLVERS, double_pendulum, "solvers.default={kind: bdf, rtol: 1e-6}", .n_steps = 5},
      {SOLVERS, two_mass, "solvers.default={kind: abm, rtol: 1e-6}", .n_steps = 5},
      {WHOLE, FALL, NULL, .when = AFTER_OTHER_METHOD, .is_whole = true},
  };
  for (size_t i = 0; i < sizeof hostile / sizeof *hostile; ++i) check_hostile(&hostile[i], 40);
}

/* `bytes` that say something impossible at `at` are refused, and the system is as before. */
static void check_impossible(record *r, size_t at, size_t size, const void *value) {
  yoke_pack bad = {0}, after = {0};
  assert_int_equal(yoke_system_save(r->c.system, &bad, r->c.ctx), YOKE_OK);
  memcpy(bad.bytes + at, value, size);
  seal(&bad);
  assert_int_equal(yoke_system_restore(r->c.system, bad.bytes, bad.size, r->c.ctx), YOKE_E_IO);
  assert_int_equal(yoke_system_save(r->c.system, &after, r->c.ctx), YOKE_OK);
  assert_int_equal(after.size, r->before.size);
  assert_memory_equal(after.bytes, r->before.bytes, after.size);
  yoke_pack_free(&bad);
  yoke_pack_free(&after);
}

static void counts_and_times_that_no_run_has_are_refused(void **state) {
  (void)state;
  enum { SIZES = 8 + 4 * 4, DEGREE = 4, COMPARISON = 4, FLAG = 1, LENGTHS = 16, ACCEPTED = 8 };
  const int32_t too_many = 17, none = 0, far = 1000;
  const int64_t before = -1000000;
  const double  late   = 1e9;
  uint64_t      length;
  record        r;
  assert_int_equal(record_open(&r, &plain), YOKE_OK);
  assert_int_equal(record_run(&r), YOKE_OK);
  assert_int_equal(yoke_system_save(r.c.system, &r.before, r.c.ctx), YOKE_OK);
  const size_t fingerprint = behind_tag(&r.before, "system"), graph = behind_tag(&r.before, "graph");
  memcpy(&length, r.before.bytes + fingerprint, sizeof length);
  const size_t grid = fingerprint + LENGTHS + length, samples = grid + 16, time = samples + 8, degree = graph + SIZES,
               past = degree + DEGREE + COMPARISON + FLAG + LENGTHS + ACCEPTED;
  check_impossible(&r, grid, sizeof before, &before);
  check_impossible(&r, samples, sizeof before, &before);
  check_impossible(&r, time, sizeof late, &late);
  check_impossible(&r, degree, sizeof far, &far);
  check_impossible(&r, degree + DEGREE, sizeof far, &far);
  check_impossible(&r, past, sizeof too_many, &too_many);
  check_impossible(&r, past, sizeof none, &none);
  record_close(&r);
}

/* Cancelled between the samples of a step, whose events are then still to come. */
static yoke_status fail_at_a_sample(void *user, double t, const double *outputs, const yoke_counters *counters,
                                    double h, int order) {
  (void)user, (void)outputs, (void)counters, (void)h, (void)order;
  return t > 0.0105 ? YOKE_E_IO : YOKE_OK;
}

static void a_step_whose_samples_are_not_done_cannot_be_packed(void **state) {
  (void)state;
  const yoke_sink sink = {.sample = fail_at_a_sample};
  yoke_pack       pack = {0};
  cosim           c;
  cosim_open(&c, BALL, NULL);
  cosim_expect(&c, YOKE_OK);
  assert_int_equal(yoke_system_run(c.system, 0.1, &sink, NULL, c.ctx), YOKE_E_IO);
  assert_int_equal(yoke_system_save(c.system, &pack, c.ctx), YOKE_E_UNSUPPORTED);
  assert_true(has_message(c.ctx, "the system cannot be packed there"));
  yoke_pack_free(&pack);
  cosim_close(&c);
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(int argc, char **argv) {
  if (argc == 4 && strcmp(argv[1], "--go-on") == 0) return go_on(argv[2], (group)atoi(argv[3]));
  const struct CMUnitTest tests[] = {
      IN_A_FOLDER(every_scheme_and_formulation_goes_on_in_another_process),
      IN_A_FOLDER(control_goes_on_in_another_process_in_its_start_and_behind_rejections_and_breaks),
      IN_A_FOLDER(a_system_goes_on_in_another_process_behind_an_event_and_behind_a_restart),
      IN_A_FOLDER(solvers_in_mid_factor_and_auto_behind_its_change_go_on_in_another_process),
      IN_A_FOLDER(a_whole_model_goes_on_in_another_process),
      cmocka_unit_test(a_restored_system_repeats_its_run),
      cmocka_unit_test(bytes_of_another_model_are_refused_with_what_differs),
      cmocka_unit_test(bytes_of_another_lockstep_are_refused),
      cmocka_unit_test(bytes_of_other_settings_are_refused_with_their_key),
      cmocka_unit_test(bytes_that_are_damaged_or_cut_off_are_refused),
      cmocka_unit_test(hostile_bytes_neither_crash_nor_hang),
      cmocka_unit_test(counts_and_times_that_no_run_has_are_refused),
      cmocka_unit_test(a_step_whose_samples_are_not_done_cannot_be_packed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
