/* A subsystem that is not native takes part by the wrenches on its ports: in force elements and joints, beside native ones, in every scheme
 * that its abilities allow. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "control/controller.h"
#include "rig.h"
#include "../subsystem/oscillator.h"

/* ---- models, and the part that is replaced ---- */

typedef struct foreign_case {
  const char *model;
  int         part;
  osc_def     def;
} foreign_case;

#define HALF_ROOT 0.70710678118654752440

static const foreign_case second_mass = {
    "examples/two-mass.yaml",
    1,
    {.name = "foreign", .n = 1, .mass = {2.0}, .stiffness = {1000.0}, .damping = {10.0}, .v = {-100.0}, .n_ports = 1}};

static const foreign_case first_mass = {
    "examples/two-mass.yaml",
    0,
    {.name = "foreign", .n = 1, .mass = {1.0}, .stiffness = {1000.0}, .damping = {10.0}, .v = {100.0}, .n_ports = 1}};

static const foreign_case second_of_joint = {
    "examples/two-mass-rigid.yaml",
    1,
    {.name = "foreign", .n = 1, .mass = {2.0}, .stiffness = {1000.0}, .damping = {10.0}, .v = {100.0}, .n_ports = 1}};

static const foreign_case lower_bar = {"examples/double-pendulum.yaml",
                                       1,
                                       {.name      = "foreign",
                                        .is_planar = true,
                                        .n         = 3,
                                        .mass      = {1.0, 1.0, 1.0 / 12.0},
                                        .damping   = {2.0, 2.0, 0.0},
                                        .force     = {0.0, -9.81, 0.0},
                                        .q         = {1.5 * HALF_ROOT, 0.5 * HALF_ROOT, -0.78539816339744830962},
                                        .n_ports   = 1,
                                        .port      = {{.at = {-0.5, 0.0}}}}};

/* Two masses in the middle of a line of four; %s is what joins them to the outer ones. */
#define LINE(left, right)                                                                                              \
  "yoke: 1\n"                                                                                                          \
  "t_end: 0.5\n"                                                                                                       \
  "bodies:\n"                                                                                                          \
  "  m1: {kind: mass1d, mass: 1, v: 1}\n"                                                                              \
  "  m2: {kind: mass1d, mass: 2, v: 1}\n"                                                                              \
  "  m3: {kind: mass1d, mass: 1.5, v: -1}\n"                                                                           \
  "  m4: {kind: mass1d, mass: 1, v: -1}\n"                                                                             \
  "connections:\n"                                                                                                     \
  "  w1: {kind: spring-damper, between: [ground, m1], stiffness: 900, damping: 3, free_length: 0}\n"                   \
  "  w2: {kind: spring-damper, between: [ground, m2], stiffness: 200, damping: 1, free_length: 0}\n"                   \
  "  w4: {kind: spring-damper, between: [ground, m4], stiffness: 500, damping: 2, free_length: 0}\n"                   \
  "  left: " left "\n"                                                                                                 \
  "  middle: {kind: spring-damper, between: [m2, m3], stiffness: 800, damping: 4, free_length: 0}\n"                   \
  "  right: " right "\n"                                                                                               \
  "split: {a: [m1], b: [m2, m3], c: [m4]}\n"                                                                           \
  "cosimulation: {scheme: semi-implicit, order: 1, step: 1e-3}\n"                                                      \
  "solvers: {default: {kind: dop853, rtol: 1e-12, atol: 1e-14}}\n"

#define MIDDLE                                                                                                         \
  {                                                                                                                    \
    .name = "foreign", .n = 2, .mass = {2.0, 1.5}, .stiffness = {200.0}, .damping = {1.0}, .between = {800.0},         \
    .between_damping = {4.0}, .v = {1.0, -1.0}, .n_ports = 2, .port = {                                                \
      {.mass = 0},                                                                                                     \
      {.mass = 1}                                                                                                      \
    }                                                                                                                  \
  }

static const foreign_case middle = {
    LINE("{kind: spring-damper, between: [m1, m2], stiffness: 700, damping: 2, free_length: 0}",
         "{kind: spring-damper, between: [m3, m4], stiffness: 600, damping: 1, free_length: 0}"),
    1, MIDDLE};
static const foreign_case middle_of_joints = {
    LINE("{kind: fixed, between: [m1, m2]}", "{kind: fixed, between: [m3, m4]}"), 1, MIDDLE};

/* ---- runs ---- */

enum { N_STEPS = 50, MAX_VALUES = 16 };

/* Plan of a case in which the part is made of `def`; NULL: native. */
static yoke_status plan_as(rig *r, const foreign_case *c, const osc_def *def, const char *sets) {
  YOKE_TRY(rig_plan(r, c->model, sets));
  if (def == NULL) return YOKE_OK;
  yoke_plan_part *part = &r->plan->parts[c->part];
  part->make           = osc_make;
  part->definition     = def;
  return YOKE_OK;
}

static yoke_status open_as(rig *r, const foreign_case *c, const osc_def *def, const char *sets, int threads) {
  YOKE_TRY(plan_as(r, c, def, sets));
  return rig_build(r, threads > 1 ? "threads" : "serial", threads, NULL);
}

static void expect_open(rig *r, const foreign_case *c, const osc_def *def, const char *sets, int threads) {
  const yoke_status status = open_as(r, c, def, sets, threads);
  if (status == YOKE_OK) return;
  cosim_print(r->c.ctx);
  fail_msg("%s: %s", sets, yoke_status_name(status));
}

/* With these abilities; micro steps whose error does not count. */
static osc_def able(const foreign_case *c, unsigned can) {
  osc_def def = c->def;
  def.can     = can;
  def.h       = 5e-5;
  return def;
}

/* Positions and velocities of all ports at both ends of all wires. */
static int collect(const rig *r, double *z) {
  int n = 0;
  for (int i = 0; i < r->plan->n_parts; ++i) {
    const yoke_subsystem *s = r->subsystems[i];
    for (int k = 0; k < s->n_ports; ++k) {
      const yoke_port *port = &s->ports[k];
      for (int j = 0; j < port->shape->n_p + port->shape->n_v; ++j) {
        assert_true(n < MAX_VALUES);
        z[n++] = yoke_graph_y(r->graph, i)[port->y_at + j];
      }
    }
  }
  return n;
}

static double distance(int n, const double *a, const double *b) {
  double worst = 0.0;
  for (int i = 0; i < n; ++i) worst = fmax(worst, fabs(a[i] - b[i]));
  return worst;
}

static int end_of(const foreign_case *c, const osc_def *def, const char *sets, double *z) {
  rig r;
  expect_open(&r, c, def, sets, 1);
  rig_steps(&r, N_STEPS);
  const int n = collect(&r, z);
  rig_close(&r);
  return n;
}

/* The same of the model in one piece. */
static int whole_line(const foreign_case *c, double *z) {
  cosim     whole = cosim_done_monolithic(c->model, "solvers.default.kind=dop853;solvers.default.rtol=1e-12", 0.05);
  const int n     = whole.model->n_bodies;
  for (int i = 0; i < n; ++i) {
    char name[24];
    snprintf(name, sizeof name, "m%d.x", i + 1);
    z[2 * i] = cosim_value(&whole, name);
    snprintf(name, sizeof name, "m%d.v", i + 1);
    z[2 * i + 1] = cosim_value(&whole, name);
  }
  cosim_close(&whole);
  return 2 * n;
}

/* As the part itself would, and as near to the model in one piece as the split is. */
static void expect_like_native(const foreign_case *c, unsigned can, const char *sets, double tolerance) {
  const osc_def def = able(c, can);
  double        native[MAX_VALUES], foreign[MAX_VALUES], whole[MAX_VALUES];
  const int     n = end_of(c, NULL, sets, native);
  assert_int_equal(end_of(c, &def, sets, foreign), n);
  const double off = distance(n, native, foreign);
  if (!(off <= tolerance)) fail_msg("%s: off by %.3g, allowed %.3g", sets, off, tolerance);
  if (c->def.is_planar) return;
  assert_int_equal(whole_line(c, whole), n);
  const double error = distance(n, whole, foreign), usual = distance(n, whole, native);
  if (!(error <= usual + tolerance)) fail_msg("%s: error %.3g, of the native split %.3g", sets, error, usual);
}

typedef struct row {
  const foreign_case *c;
  unsigned            can; /* the least */
  const char         *sets;
} row;

/* Perturbed integrations differ by the solvers' noise, which they divide by the size of the perturbation. */
static void expect_rows(const row *rows, size_t n) {
  for (size_t i = 0; i < n; ++i) expect_like_native(rows[i].c, rows[i].can, rows[i].sets, 1e-7);
}

#define S "cosimulation.scheme="
#define F ";cosimulation.couplings.formulation="
#define D ";cosimulation.couplings.decomposition="
#define J ";cosimulation.jacobian="
#define GS ";cosimulation.sequence=gauss-seidel"
#define O ";cosimulation.order="

static void without_abilities_it_takes_part_in_explicit_schemes(void **state) {
  (void)state;
  static const row rows[] = {
      {&second_mass, 0, S "explicit" O "2"},
      {&second_mass, 0, S "explicit" GS},
      {&first_mass, 0, S "explicit" GS},
      {&second_mass, 0, S "explicit;cosimulation.predictor=acceleration"},
      {&second_mass, 0, S "explicit" D "displacement/force"},
      {&first_mass, 0, S "explicit" D "force/displacement" GS},
      {&middle, 0, S "explicit"},
      {&middle, 0, S "explicit" GS},
  };
  expect_rows(rows, sizeof rows / sizeof *rows);
}

static void that_can_repeat_takes_part_in_all_schemes_of_force_elements(void **state) {
  (void)state;
  static const row rows[] = {
      {&second_mass, OSC_REPEAT, S "semi-implicit" O "3"},
      {&second_mass, OSC_REPEAT, S "semi-implicit;cosimulation.couplings.extension=d"},
      {&second_mass, OSC_REPEAT, S "semi-implicit;cosimulation.couplings.extension=i"},
      {&second_mass, OSC_REPEAT, S "semi-implicit" D "displacement/force"},
      {&first_mass, OSC_REPEAT, S "implicit" D "force/displacement"},
      {&second_mass, OSC_REPEAT, S "implicit" J "broyden"},
      {&second_mass, OSC_REPEAT, S "waveform"},
      {&first_mass, OSC_REPEAT, S "waveform" GS},
      {&second_mass, OSC_REPEAT | OSC_INSTANT, S "semi-implicit" J "analytic"},
      {&second_mass, OSC_REPEAT | OSC_INSTANT, S "implicit" J "analytic" O "2"},
      {&middle, OSC_REPEAT, S "semi-implicit"},
      {&middle, OSC_REPEAT, S "implicit" O "2"},
      {&middle, OSC_REPEAT, S "waveform" GS},
      {&middle, OSC_REPEAT, S "implicit" J "broyden"},
      {&middle, OSC_REPEAT | OSC_INSTANT, S "semi-implicit" J "analytic"},
  };
  expect_rows(rows, sizeof rows / sizeof *rows);
}

static void that_can_repeat_takes_part_in_joints(void **state) {
  (void)state;
  static const row rows[] = {
      {&second_of_joint, OSC_REPEAT, S "semi-implicit" F "stabilized-index-2"},
      {&second_of_joint, OSC_REPEAT, S "implicit" F "stabilized-index-2" O "2"},
      {&second_of_joint, OSC_REPEAT, S "semi-implicit" F "stabilized-index-1" O "0"},
      {&second_of_joint, OSC_REPEAT, S "semi-implicit" F "baumgarte"},
      {&second_of_joint, OSC_REPEAT, S "semi-implicit" F "baumgarte" D "displacement/force"},
      {&second_of_joint, OSC_REPEAT, S "semi-implicit" F "weighted"},
      {&second_of_joint, OSC_REPEAT, S "implicit" F "baumgarte" J "broyden"},
      {&second_of_joint, OSC_REPEAT | OSC_INSTANT, S "implicit" F "stabilized-index-2" J "analytic"},
      {&second_of_joint, OSC_REPEAT | OSC_RESET, S "semi-implicit" F "projection"},
      {&middle_of_joints, OSC_REPEAT, S "semi-implicit" F "stabilized-index-2"},
      {&middle_of_joints, OSC_REPEAT, S "implicit" F "baumgarte"},
      {&middle_of_joints, OSC_REPEAT | OSC_RESET, S "semi-implicit" F "projection"},
      {&lower_bar, OSC_REPEAT, S "semi-implicit" F "stabilized-index-2"},
      {&lower_bar, OSC_REPEAT, S "semi-implicit" F "stabilized-index-2" O "2"},
      {&lower_bar, OSC_REPEAT, S "implicit" F "stabilized-index-1"},
      {&lower_bar, OSC_REPEAT, S "semi-implicit" F "baumgarte"},
      {&lower_bar, OSC_REPEAT, S "semi-implicit" F "weighted"},
      {&lower_bar, OSC_REPEAT | OSC_RESET, S "semi-implicit" F "projection"},
      {&lower_bar, OSC_REPEAT | OSC_INSTANT, S "implicit" F "stabilized-index-2" J "analytic"},
  };
  expect_rows(rows, sizeof rows / sizeof *rows);
}

/* ---- responses ---- */

static void that_tells_its_response_takes_part_in_newton_schemes(void **state) {
  (void)state;
  static const row rows[] = {
      {&second_mass, 0, S "semi-implicit" O "3"},
      {&second_mass, 0, S "semi-implicit;cosimulation.couplings.extension=d"},
      {&second_mass, 0, S "semi-implicit;cosimulation.couplings.extension=i"},
      {&first_mass, 0, S "implicit" D "force/displacement"},
      {&second_mass, 0, S "implicit" J "broyden"},
      {&middle, 0, S "semi-implicit"},
      {&middle, 0, S "implicit" O "2"},
      {&second_of_joint, 0, S "semi-implicit" F "stabilized-index-2"},
      {&second_of_joint, 0, S "semi-implicit" F "stabilized-index-1" O "0"},
      {&second_of_joint, 0, S "semi-implicit" F "baumgarte" D "displacement/force"},
      {&second_of_joint, 0, S "semi-implicit" F "weighted"},
      {&second_of_joint, OSC_RESET, S "semi-implicit" F "projection"},
      {&middle_of_joints, 0, S "implicit" F "baumgarte"},
      {&lower_bar, 0, S "semi-implicit" F "stabilized-index-2"},
      {&lower_bar, 0, S "semi-implicit" F "stabilized-index-2" O "2"},
      {&lower_bar, 0, S "implicit" F "stabilized-index-1"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    expect_like_native(rows[i].c, rows[i].can | OSC_REPEAT | OSC_RESPONSE, rows[i].sets, 1e-7);
}

/* The work of a number of steps. */
static yoke_step_statistics work_of(rig *r, int n) {
  yoke_step_statistics sum = {0}, one;
  for (int k = 0; k < n; ++k) {
    assert_int_equal(yoke_graph_try(r->graph, (double)(r->n_steps + 1) * r->H, &one, r->c.ctx), YOKE_OK);
    assert_int_equal(yoke_graph_accept(r->graph, r->c.ctx), YOKE_OK);
    ++r->n_steps;
    yoke_step_add_work(&sum, &one);
  }
  return sum;
}

/* Two columns enter the middle part, one each the outer ones, which take differences unless it is said. */
#define PART(name, word) ";cosimulation.subsystems." name ".jacobian=" word
#define OUTER PART("a", "finite-difference") PART("c", "finite-difference")

static void a_response_takes_the_place_of_perturbed_integrations(void **state) {
  (void)state;
  static const struct {
    unsigned    can;
    const char *sets;
    int         per_step, responses;
  } rows[] = {
      {OSC_REPEAT, S "semi-implicit" OUTER, 3 + 4 + 3, 0},
      {OSC_REPEAT | OSC_RESPONSE, S "semi-implicit" OUTER, 3 + 2 + 3, 1},
      {OSC_REPEAT | OSC_RESPONSE, S "semi-implicit" J "tangent" OUTER, 3 + 2 + 3, 1},
      {OSC_REPEAT | OSC_RESPONSE, S "semi-implicit" J "finite-difference", 3 + 4 + 3, 0},
      {OSC_REPEAT | OSC_RESPONSE, S "semi-implicit" OUTER PART("b", "finite-difference"), 3 + 4 + 3, 0},
      {OSC_REPEAT | OSC_RESPONSE, S "semi-implicit" OUTER PART("a", "analytic"), 3 + 1 + 3, 1},
      {OSC_REPEAT | OSC_RESPONSE, S "semi-implicit" J "analytic" PART("b", "tangent"), 3 + 3, 1},
      {OSC_REPEAT | OSC_RESPONSE, S "explicit", 3, 0},
      {OSC_REPEAT | OSC_RESPONSE, S "implicit;cosimulation.corrector.renew=step" OUTER, 3 + 2 + 2 * 3, 1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    osc_watch watch = {0};
    osc_def   def   = able(&middle, rows[i].can);
    rig       r;
    def.watch = &watch;
    expect_open(&r, &middle, &def, rows[i].sets, 1);
    assert_int_equal(work_of(&r, 5).integrations, 5 * rows[i].per_step);
    assert_int_equal(atomic_load(&watch.responses), 5 * rows[i].responses);
    rig_close(&r);
  }
}

static void broyden_begins_with_the_response(void **state) {
  (void)state;
  osc_watch watch = {0};
  osc_def   def   = able(&second_mass, OSC_REPEAT | OSC_RESPONSE);
  rig       r;
  def.watch = &watch;
  expect_open(&r, &second_mass, &def, S "implicit" J "broyden", 1);
  assert_int_equal(work_of(&r, 10).matrices, 1);
  assert_int_equal(atomic_load(&watch.responses), 1);
  rig_close(&r);
}

/* Steps 4 to 6 have none: their columns are differences, in passes of their own. */
static void a_response_that_is_refused_is_made_up_for(void **state) {
  (void)state;
  static const foreign_case *const cases[] = {&middle, &middle_of_joints, &lower_bar};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    osc_def def[2];
    double  z[2][MAX_VALUES];
    int     n = 0, integrations[2];
    for (int refuses = 0; refuses < 2; ++refuses) {
      rig r;
      def[refuses] = able(cases[i], OSC_REPEAT | OSC_RESPONSE);
      if (refuses > 0) def[refuses].refuses_from = 2.5e-3;
      if (refuses > 0) def[refuses].refuses_to = 5.5e-3;
      expect_open(&r, cases[i], &def[refuses], S "semi-implicit", 2);
      integrations[refuses] = work_of(&r, 20).integrations;
      n                     = collect(&r, z[refuses]);
      rig_close(&r);
    }
    const int n_columns = cases[i] == &middle ? 2 : 4;
    assert_int_equal(integrations[1], integrations[0] + 3 * n_columns);
    CHECK_BELOW(distance(n, z[0], z[1]), 1e-7);
  }
}

static void steps_with_responses_have_the_same_bits_on_all_workers(void **state) {
  (void)state;
  for (int alone = 0; alone < 2; ++alone) {
    osc_def def      = able(&middle_of_joints, OSC_REPEAT | OSC_RESPONSE);
    def.most_states  = alone;
    def.refuses_from = 2.5e-3;
    def.refuses_to   = 4.5e-3;
    rig a, b;
    expect_open(&a, &middle_of_joints, &def, S "implicit" F "stabilized-index-2", 1);
    expect_open(&b, &middle_of_joints, &def, S "implicit" F "stabilized-index-2", 4);
    rig_steps(&a, 10);
    rig_steps(&b, 10);
    rig_expect_same(&a, &b);
    rig_close(&a);
    rig_close(&b);
  }
}

/* Is this said, and how often? */
static int n_said(const yoke_context *ctx, const char *text) {
  int n = 0;
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) n += strstr(yoke_context_message(ctx, i), text) != NULL;
  return n;
}

static void tangents_that_are_asked_for_and_not_there_are_noted(void **state) {
  (void)state;
  static const struct {
    const char *sets, *text;
    int         n;
  } rows[] = {
      {S "semi-implicit", "tangent", 0},
      {S "explicit" J "tangent", "has no tangents", 0},
      {S "semi-implicit" J "broyden", "tangent", 0},
      {S "semi-implicit" J
         "tangent;cosimulation.subsystems={a: {jacobian: finite-difference}, c: {jacobian: finite-difference}}",
       "subsystem 'foreign' has no tangents; perturbed integrations take their place", 1},
      {S "semi-implicit;cosimulation.subsystems.b.jacobian=tangent", "subsystem 'foreign' has no tangents", 1},
      {S "semi-implicit" J "tangent;cosimulation.subsystems.b.jacobian=finite-difference", "'foreign' has no tangents",
       0},
  };
  osc_def def = able(&middle, OSC_REPEAT);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    rig r;
    expect_open(&r, &middle, &def, rows[i].sets, 1);
    if (n_said(r.c.ctx, rows[i].text) != rows[i].n) {
      cosim_print(r.c.ctx);
      fail_msg("%s", rows[i].sets);
    }
    rig_close(&r);
  }
}

static void outputs_are_read_where_the_ports_say(void **state) {
  (void)state;
  foreign_case shifted[] = {middle, middle_of_joints, lower_bar};
  for (size_t i = 0; i < sizeof shifted / sizeof *shifted; ++i) {
    shifted[i].def.n_spare = 3;
    expect_like_native(&shifted[i], OSC_REPEAT | OSC_INSTANT, S "implicit" J "analytic", 1e-7);
  }
}

/* ---- step control ---- */

/* Number of steps, and the mean of their estimated errors. */
static int controlled_end(const foreign_case *c, const osc_def *def, const char *sets, double *z, double *error) {
  yoke_control_settings control = yoke_control_settings_default();
  yoke_controller      *controller;
  rig                   r;
  int                   n_steps = 0;
  double                sum     = 0.0;
  expect_open(&r, c, def, sets, 1);
  control.initial   = 1e-4;
  control.min       = 1e-9;
  control.max       = 1e-2;
  control.order_max = r.plan->scheme.order;
  if (def != NULL && (def->can & OSC_REPEAT) == 0) control.estimator = YOKE_ESTIMATOR_CV;
  assert_int_equal(yoke_controller_create(r.c.ctx, r.graph, &control, &controller), YOKE_OK);
  for (; yoke_graph_t(r.graph) < 0.05; ++n_steps) {
    yoke_step_statistics statistics;
    const yoke_status    status = yoke_controller_step(controller, 0.05, &statistics, r.c.ctx);
    sum += statistics.error;
    if (status == YOKE_OK) continue;
    cosim_print(r.c.ctx);
    fail_msg("%s: %s", sets, yoke_status_name(status));
  }
  *error = sum / n_steps;
  (void)collect(&r, z);
  yoke_controller_destroy(&controller);
  rig_close(&r);
  return n_steps;
}

static void step_control_takes_the_steps_that_it_takes_with_a_native_part(void **state) {
  (void)state;
  static const row rows[] = {
      {&second_mass, 0, S "explicit" O "2"},
      {&second_mass, OSC_REPEAT, S "explicit" O "2"},
      {&second_mass, OSC_REPEAT, S "semi-implicit" O "3"},
      {&middle, OSC_REPEAT, S "implicit" O "2"},
      {&second_of_joint, OSC_REPEAT | OSC_INSTANT, S "implicit" F "stabilized-index-2" O "2"},
      {&second_of_joint, OSC_REPEAT | OSC_INSTANT, S "semi-implicit" F "baumgarte" O "2"},
      {&lower_bar, OSC_REPEAT | OSC_INSTANT, S "semi-implicit" F "stabilized-index-2" O "1"},
      {&second_of_joint, OSC_REPEAT, S "implicit" F "stabilized-index-2" O "2"}, /* responses by differences */
      {&lower_bar, OSC_REPEAT, S "semi-implicit" F "stabilized-index-2" O "1"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    const osc_def def                = able(rows[i].c, rows[i].can | (rows[i].can != 0 ? OSC_RESPONSE : 0));
    double        native[MAX_VALUES] = {0}, foreign[MAX_VALUES] = {0}, error[2];
    const int     n_steps = controlled_end(rows[i].c, &def, rows[i].sets, foreign, &error[0]);
    if (rows[i].can == 0) { /* cannot go back: every step is accepted */
      (void)end_of(rows[i].c, NULL, rows[i].sets, native);
      CHECK_BELOW(distance(MAX_VALUES, native, foreign), 0.05);
      continue;
    }
    assert_int_equal(n_steps, controlled_end(rows[i].c, NULL, rows[i].sets, native, &error[1]));
    CHECK_BELOW(distance(MAX_VALUES, native, foreign), 1e-6);
    CHECK_NEAR(error[0], error[1], 1e-3 * error[1] + 1e-9);
  }
}

/* ---- rows that turn ---- */

/* Two bars, tip and top joined by a light rod, whose direction turns: the gradient of its row is not constant. */
static const foreign_case rod = {
    "yoke: 1\n"
    "gravity: [0, -9.81]\n"
    "t_end: 0.2\n"
    "bodies:\n"
    "  upper: {kind: planar, mass: 1, inertia: 1/12, position: [0.5, 0], frames: {top: [-0.5, 0], tip: [0.5, 0]}}\n"
    "  lower: {kind: planar, mass: 1, inertia: 1/12, position: [1.8, 0], angle: 0, velocity: [0, 2],\n"
    "          frames: {top: [-0.5, 0]}}\n"
    "connections:\n"
    "  shoulder: {kind: revolute, between: [ground, upper.top]}\n"
    "  rod: {kind: distance, between: [upper.tip, lower.top], length: 0.3}\n"
    "split: {a: [upper], b: [lower]}\n"
    "cosimulation: {scheme: semi-implicit, order: 1, step: 1e-3}\n"
    "solvers: {default: {kind: dop853, rtol: 1e-12, atol: 1e-14}}\n",
    1,
    {.name      = "foreign",
     .is_planar = true,
     .n         = 3,
     .mass      = {1.0, 1.0, 1.0 / 12.0},
     .force     = {0.0, -9.81, 0.0},
     .q         = {1.8, 0.0, 0.0},
     .v         = {0.0, 2.0, 0.0},
     .n_ports   = 1,
     .port      = {{.at = {-0.5, 0.0}}}}};

/* Position and angle of the lower port at t = 0.2. */
static void rod_end(const char *sets, int n_steps, const osc_def *def, double end[3]) {
  char all[COSIM_TEXT];
  rig  r;
  snprintf(all, sizeof all, "%s;cosimulation.step=%.17g", sets, 0.2 / n_steps);
  expect_open(&r, &rod, def, all, 1);
  rig_steps(&r, n_steps);
  memcpy(end, yoke_graph_y(r.graph, 1), 3 * sizeof *end);
  rig_close(&r);
}

static void a_row_that_turns_costs_orders_above_k_plus_1(void **state) {
  (void)state;
  static const struct {
    const char *sets;
    double      least; /* order */
  } rows[] = {
      {"cosimulation.couplings.formulation=stabilized-index-2;cosimulation.order=0", 0.95},
      {"cosimulation.couplings.formulation=stabilized-index-2;cosimulation.order=1", 1.9},
      {"cosimulation.couplings.formulation=stabilized-index-2;cosimulation.order=2", 3.8},
      {"cosimulation.couplings.formulation=baumgarte;cosimulation.order=1", 1.9},
      {"cosimulation.couplings.formulation=stabilized-index-1;cosimulation.order=3", 3.8},
  };
  osc_def def = able(&rod, OSC_REPEAT);
  double  exact[3];
  def.h = 2e-4;
  rod_end("cosimulation.couplings.formulation=stabilized-index-1;cosimulation.order=3", 800, NULL, exact);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    double end[3], error[2];
    for (int k = 0; k < 2; ++k) {
      rod_end(rows[i].sets, 50 << k, &def, end);
      error[k] = distance(3, end, exact);
    }

    CHECK_BELOW(rows[i].least, log2(error[0] / error[1]));
  }
}

/* ---- one state at a time ---- */

static void a_single_instance_never_works_twice_at_once(void **state) {
  (void)state;
  static const row rows[] = {
      {&middle, 0, S "semi-implicit"},
      {&middle, 0, S "waveform"},
      {&middle_of_joints, 0, S "implicit" F "stabilized-index-2"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    osc_watch watch[2] = {0};
    osc_def   def      = able(rows[i].c, OSC_ALL);
    double    z[2][MAX_VALUES];
    int       n = 0;
    for (int alone = 0; alone < 2; ++alone) { /* states that may be at work at once: any, 1 */
      rig r;
      def.most_states = alone;
      def.watch       = &watch[alone];
      expect_open(&r, rows[i].c, &def, rows[i].sets, 4);
      rig_steps(&r, 10);
      n = collect(&r, z[alone]);
      rig_close(&r);
    }
    assert_int_equal(atomic_load(&watch[1].most), 1);
    assert_int_equal(atomic_load(&watch[1].steps), atomic_load(&watch[0].steps));
    assert_memory_equal(z[0], z[1], (size_t)n * sizeof z[0][0]);
  }
}

/* ---- the contract ---- */

static void watch_all(rig *r) {
  for (int i = 0; i < r->plan->n_parts; ++i)
    assert_int_equal(yoke_subsystem_check(r->c.ctx, r->subsystems[i], &r->subsystems[i]), YOKE_OK);
}

static void the_contract_is_kept(void **state) {
  (void)state;
  static const row rows[] = {{&middle, 0, S "semi-implicit"},
                             {&lower_bar, 0, S "implicit" F "projection"},
                             {&middle, OSC_RESPONSE, S "semi-implicit"},
                             {&lower_bar, OSC_RESPONSE, S "semi-implicit" F "stabilized-index-2"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    const osc_def def = able(rows[i].c, OSC_ALL | rows[i].can);
    rig           r;
    assert_int_equal(plan_as(&r, rows[i].c, &def, rows[i].sets), YOKE_OK);
    assert_int_equal(rig_build(&r, "serial", 1, watch_all), YOKE_OK);
    rig_steps(&r, N_STEPS);
    rig_close(&r);
  }
}

/* ---- restart ---- */

/* Without responses it is found by differences of the outputs. */
static void a_joint_without_responses_finds_its_multiplier_at_a_restart_too(void **state) {
  (void)state;
  double u[2];
  for (int responds = 0; responds < 2; ++responds) {
    const osc_def def = able(&second_of_joint, OSC_REPEAT | (responds ? OSC_INSTANT : 0u));
    rig           r;
    expect_open(&r, &second_of_joint, &def, S "semi-implicit" F "baumgarte", 1);
    rig_steps(&r, 5);
    assert_int_equal(yoke_graph_restart(r.graph, r.c.ctx), YOKE_OK);
    u[responds] = yoke_graph_channel(r.graph, 0, 0);
    assert_int_equal(yoke_context_n_messages(r.c.ctx), 0);
    rig_close(&r);
  }
  CHECK_NEAR(u[0], u[1], 1e-12 * fabs(u[1]));
}

/* With responses the multiplier is found anew, the same as that of the native part. */
static void a_joint_with_responses_finds_its_multiplier_at_a_restart(void **state) {
  (void)state;
  const osc_def def = able(&second_of_joint, OSC_REPEAT | OSC_INSTANT);
  double        u[2];
  for (int is_foreign = 0; is_foreign < 2; ++is_foreign) {
    rig r;
    expect_open(&r, &second_of_joint, is_foreign ? &def : NULL, S "implicit" F "stabilized-index-2" J "analytic", 1);
    rig_steps(&r, 5);
    assert_int_equal(yoke_graph_restart(r.graph, r.c.ctx), YOKE_OK);
    u[is_foreign] = yoke_graph_channel(r.graph, 0, 0);
    rig_close(&r);
  }
  CHECK_NEAR(u[1], u[0], 1e-6 * fabs(u[0]));
}

/* The values that the whole model would give them. */
static void joints_without_start_values_find_them(void **state) {
  static const row rows[] = {{&second_of_joint, OSC_REPEAT, S "implicit" F "stabilized-index-2"},
                             {&second_of_joint, OSC_REPEAT, S "semi-implicit" F "baumgarte" D "displacement/force"},
                             {&middle_of_joints, OSC_REPEAT, S "semi-implicit" F "baumgarte"},
                             {&lower_bar, OSC_REPEAT, S "semi-implicit" F "stabilized-index-2"},
                             {&lower_bar, OSC_REPEAT | OSC_INSTANT, S "semi-implicit" F "stabilized-index-2"}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    const osc_def def = able(rows[i].c, rows[i].can);
    rig           r;
    assert_int_equal(plan_as(&r, rows[i].c, &def, rows[i].sets), YOKE_OK);
    for (int w = 0; w < r.plan->n_couplings; ++w) r.plan->wires[w].initial = NULL;
    assert_int_equal(rig_build(&r, "serial", 1, NULL), YOKE_OK);
    for (int w = 0; w < r.plan->n_couplings; ++w) {
      const double *expected = r.plan->couplings[w].initial;
      for (int k = 0; k < yoke_graph_n_channels(r.graph, w); ++k)
        CHECK_NEAR(yoke_graph_channel(r.graph, w, k), expected[k], 1e-9 * (1.0 + fabs(expected[k])));
    }
    rig_steps(&r, 2);
    rig_close(&r);
  }
}

/* ---- observation, events, bytes ---- */

static void it_is_observed_inside_steps_by_its_own_dense_output(void **state) {
  (void)state;
  const int64_t            handle[]  = {yoke_output_handle(0), yoke_output_handle(1), yoke_output_handle(2)};
  const yoke_graph_handles handles[] = {{3, handle}, {3, handle}};
  const double             times[]   = {0.0103, 0.0107, 0.011}; /* the last is the end of a step */
  const osc_def            def       = able(&second_mass, OSC_REPEAT | OSC_OBSERVE);
  double                   seen[2][9];
  for (int is_foreign = 0; is_foreign < 2; ++is_foreign) {
    const double *at;
    rig           r;
    expect_open(&r, &second_mass, is_foreign ? &def : NULL, S "semi-implicit", 1);
    assert_int_equal(yoke_graph_observe(r.graph, 3, times, handles, r.c.ctx), YOKE_OK);
    rig_steps(&r, 11);
    assert_int_equal(yoke_graph_n_observed(r.graph, &at), 2);
    memcpy(seen[is_foreign], yoke_graph_observed(r.graph, 1), 6 * sizeof seen[0][0]);
    const double t = yoke_graph_t(r.graph);
    assert_int_equal(yoke_graph_show(r.graph, 1, t, YOKE_SIDE_LEFT, 3, handle, seen[is_foreign] + 6, r.c.ctx), YOKE_OK);
    rig_close(&r);
  }
  for (int k = 0; k < 9; ++k) CHECK_NEAR(seen[1][k], seen[0][k], 1e-9 * (fabs(seen[0][k]) + 1.0));
}

static void events_of_its_own_are_found_and_act(void **state) {
  (void)state;
  osc_def def = able(&second_mass, OSC_REPEAT | OSC_EVENTS);
  rig     r;
  def.level = -0.955; /* of x, from 0 with -100 m/s */
  expect_open(&r, &second_mass, &def, S "semi-implicit", 1);
  while (yoke_graph_events(r.graph, 1).n == 0) rig_steps(&r, 1);
  const yoke_found_events found = yoke_graph_events(r.graph, 1);
  const double            v     = yoke_graph_y(r.graph, 1)[1];
  assert_true(found.list[0].t > r.H * (r.n_steps - 1) && found.list[0].t <= r.H * r.n_steps);
  yoke_graph_event_done(r.graph, 1, 0);
  assert_int_equal(yoke_graph_act(r.graph, 1, 0, r.c.ctx), YOKE_OK);
  assert_int_equal(yoke_graph_restart(r.graph, r.c.ctx), YOKE_OK);
  CHECK_NEAR(yoke_graph_y(r.graph, 1)[1], -v, 0.0);
  rig_steps(&r, 1);
  rig_close(&r);
}

static void what_was_packed_goes_on_with_the_same_bits(void **state) {
  (void)state;
  static const row rows[] = {{&middle, 0, S "semi-implicit"},
                             {&second_of_joint, 0, S "implicit" F "stabilized-index-2"},
                             {&rod, 0, S "semi-implicit" F "stabilized-index-2"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    const osc_def def  = able(rows[i].c, OSC_ALL);
    yoke_pack     pack = {0};
    yoke_unpack   in;
    rig           a, b;
    expect_open(&a, rows[i].c, &def, rows[i].sets, 1);
    expect_open(&b, rows[i].c, &def, rows[i].sets, 1);
    rig_steps(&a, 7);
    yoke_pack_begin(&pack);
    assert_int_equal(yoke_graph_pack(a.graph, &pack, a.c.ctx), YOKE_OK);
    assert_int_equal(yoke_pack_end(&pack, a.c.ctx), YOKE_OK);
    assert_int_equal(yoke_unpack_begin(&in, pack.bytes, pack.size, b.c.ctx), YOKE_OK);
    assert_int_equal(yoke_graph_unpack(b.graph, yoke_graph_t(a.graph), &in, b.c.ctx), YOKE_OK);
    yoke_pack_free(&pack);
    b.n_steps = a.n_steps;
    rig_steps(&a, 5);
    rig_steps(&b, 5);
    rig_expect_same(&a, &b);
    rig_close(&a);
    rig_close(&b);
  }
}

/* ---- refusals ---- */

static void expect_refusal(const foreign_case *c, unsigned can, const char *sets, const char *text) {
  const osc_def def = able(c, can);
  rig           r;
  assert_int_equal(open_as(&r, c, &def, sets, 1), YOKE_E_MODEL);
  const size_t n    = yoke_context_n_messages(r.c.ctx);
  const char  *said = n > 0 ? yoke_context_message(r.c.ctx, n - 1) : "";
  if (strstr(said, text) == NULL) fail_msg("\"%s\" does not say \"%s\"", said, text);
  rig_close(&r);
}

static void a_displacement_side_of_a_force_element_needs_copies(void **state) {
  (void)state;
  expect_refusal(
      &second_mass, OSC_ALL, S "semi-implicit" D "force/displacement",
      "coupling 'coupling': port 'p1' of subsystem 'foreign' cannot take copies of its partner's motion, which "
      "formulation 'constitutive' needs on side 2; use decomposition force/force or displacement/force");
  expect_refusal(&first_mass, OSC_ALL, S "semi-implicit" D "displacement/force",
                 "side 1; use decomposition force/force or force/displacement");
}

static void a_displacement_side_of_a_joint_needs_accelerations_of_rows(void **state) {
  (void)state;
  expect_refusal(&second_of_joint, OSC_ALL, S "semi-implicit" F "baumgarte" D "force/displacement",
                 "'foreign' cannot follow accelerations of rows, which formulation 'baumgarte' needs on side 2; use "
                 "decomposition force/force or displacement/force");
}

static void second_multipliers_are_refused(void **state) {
  (void)state;
  expect_refusal(&second_of_joint, OSC_ALL, S "semi-implicit" F "stabilized-index-2-mu" O "0",
                 "'foreign' cannot take second multipliers, which formulation 'stabilized-index-2-mu' needs on side 2; "
                 "use formulation stabilized-index-2");
}

static void a_prescribed_motion_and_extras_are_refused(void **state) {
  (void)state;
  expect_refusal(&second_of_joint, OSC_ALL, S "explicit" F "kinematic;cosimulation.couplings.prescribed=b",
                 "'foreign' cannot follow a prescribed motion, which formulation 'kinematic' needs on side 2; use "
                 "formulation stabilized-index-2 or baumgarte with decomposition force/force and scheme semi-implicit");
  expect_refusal(&second_of_joint, OSC_ALL, S "explicit" F "kinematic;cosimulation.couplings.prescribed=a",
                 "'foreign' cannot show accelerations at an image of itself");
  expect_refusal(&second_of_joint, OSC_ALL,
                 S "explicit" F
                   "kinematic;cosimulation.couplings.prescribed=a;cosimulation.couplings.force=approximate",
                 "'foreign' cannot show its reaction or compliance, which formulation 'kinematic' needs on side 2");
}

static void schemes_name_the_ability_that_they_miss(void **state) {
  (void)state;
  expect_refusal(&second_mass, OSC_ALL & ~OSC_REPEAT, S "semi-implicit",
                 "subsystem 'foreign' cannot go back, which scheme 'semi-implicit' needs; use scheme explicit");
  expect_refusal(&second_mass, OSC_ALL & ~OSC_INSTANT, S "implicit" J "analytic",
                 "subsystem 'foreign' gives no analytic response; use jacobian tangent or finite-difference");
  expect_refusal(&second_of_joint, OSC_ALL & ~OSC_RESET, S "semi-implicit" F "projection",
                 "subsystem 'foreign' cannot be reset, which formulation projection needs");
}

static void a_port_of_another_shape_or_number_is_refused(void **state) {
  (void)state;
  foreign_case wrong   = second_mass;
  wrong.def.is_planar  = true;
  wrong.def.n          = 3;
  wrong.def.mass[1]    = 1.0;
  wrong.def.mass[2]    = 1.0;
  foreign_case missing = second_mass;
  missing.def.n_ports  = 0;
  expect_refusal(&wrong, OSC_ALL, S "explicit",
                 "coupling 'coupling': port 'p1' of subsystem 'foreign' has shape 'plane', expected 'line'");
  expect_refusal(&missing, OSC_ALL, S "explicit", "ends at port 1 of subsystem 'foreign', which has 0");
}

static void what_it_cannot_show_or_pack_is_said(void **state) {
  (void)state;
  const int64_t            handle[]  = {yoke_output_handle(0)};
  const yoke_graph_handles handles[] = {{1, handle}, {1, handle}};
  const osc_def            def       = able(&second_mass, OSC_REPEAT);
  const double             time      = 0.01;
  yoke_pack                pack      = {0};
  rig                      r;
  expect_open(&r, &second_mass, &def, S "semi-implicit", 1);
  assert_int_equal(yoke_graph_observe(r.graph, 1, &time, handles, r.c.ctx), YOKE_E_UNSUPPORTED);
  yoke_pack_begin(&pack);
  assert_int_equal(yoke_graph_pack(r.graph, &pack, r.c.ctx), YOKE_E_UNSUPPORTED);
  yoke_pack_free(&pack);
  for (size_t i = 0; i < yoke_context_n_messages(r.c.ctx); ++i)
    assert_non_null(strstr(yoke_context_message(r.c.ctx, i), "subsystem 'foreign' cannot"));
  rig_close(&r);
}

/* ---- one that does not do what it should ---- */

/* What the foreign part does wrong, behind `n_good` steps (or copies). */
typedef enum fault {
  FAILS,
  DOES_NOT_CONVERGE,
  CANNOT_COPY,
  DOES_NOT_MOVE,
  GOES_TOO_FAR,
  TELLS_NO_TIME,
  OBSERVES_NOTHING,
  ALWAYS_EARLY
} fault;

static fault                     fault_now;
static int                       n_calls, n_good = 3;
static const yoke_subsystem_ops *sound_ops;
static yoke_subsystem_ops        faulty_ops;
static yoke_repeat_ops           faulty_repeat;

static yoke_status faulty_copy(const yoke_subsystem *s, void *dst, const void *src) {
  return fault_now == CANNOT_COPY && ++n_calls > n_good ? YOKE_E_SUBSYSTEM : sound_ops->repeat->copy(s, dst, src);
}

static yoke_status faulty_step(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u,
                               yoke_step_request *request, yoke_context *ctx) {
  const double t = request->t, t_end = request->t_end;
  if (fault_now == CANNOT_COPY || ++n_calls <= n_good) return sound_ops->step(s, scratch, state, u, request, ctx);
  if (fault_now == FAILS) return YOKE_E_SUBSYSTEM;
  if (fault_now == DOES_NOT_CONVERGE) return YOKE_E_NOT_CONVERGED;
  if (fault_now == ALWAYS_EARLY) request->t_end = t + 0.5 * (t_end - t);
  const yoke_status status = sound_ops->step(s, scratch, state, u, request, ctx);
  switch (fault_now) {
  case DOES_NOT_MOVE: request->t_reached = t; break;
  case GOES_TOO_FAR: request->t_reached = t_end + 1.0; break;
  case TELLS_NO_TIME: request->t_reached = (double)NAN; break;
  case OBSERVES_NOTHING: request->n_observed = 0; break;
  case ALWAYS_EARLY: request->t_reached = request->t_end; break;
  default: break;
  }
  request->t_end = t_end;
  return status;
}

static void make_faulty(rig *r) {
  yoke_subsystem *s  = r->subsystems[second_mass.part];
  sound_ops          = s->ops;
  faulty_ops         = *sound_ops;
  faulty_repeat      = *sound_ops->repeat;
  faulty_repeat.copy = faulty_copy;
  faulty_ops.repeat  = &faulty_repeat;
  faulty_ops.step    = faulty_step;
  s->ops             = &faulty_ops;
  n_calls            = 0;
}

/* Steps end with this status and a message that names it. */
static void expect_fault(fault what, const char *sets, yoke_status status, const char *text) {
  const int64_t            handle[]  = {yoke_output_handle(0)};
  const yoke_graph_handles handles[] = {{1, handle}, {1, handle}};
  const osc_def            def       = able(&second_mass, OSC_ALL);
  const double             times[]   = {1.5e-3, 2.5e-3, 3.5e-3, 4.5e-3, 5.5e-3};
  yoke_status              got       = YOKE_OK;
  rig                      r;
  fault_now = what;
  assert_int_equal(plan_as(&r, &second_mass, &def, sets), YOKE_OK);
  assert_int_equal(rig_build(&r, "serial", 1, make_faulty), YOKE_OK);
  assert_int_equal(yoke_graph_observe(r.graph, 5, times, handles, r.c.ctx), YOKE_OK);
  for (int k = 0; k < 6 && got == YOKE_OK; ++k) got = rig_step(&r);
  assert_int_equal(got, status);
  const size_t n = yoke_context_n_messages(r.c.ctx);
  assert_true(n > 0);
  if (strstr(yoke_context_message(r.c.ctx, n - 1), text) == NULL)
    fail_msg("'%s' instead of '%s'", yoke_context_message(r.c.ctx, n - 1), text);
  rig_close(&r);
}

static void one_that_fails_is_named_though_it_says_nothing(void **state) {
  (void)state;
  static const char *const schemes[] = {S "explicit", S "explicit;cosimulation.sequence=gauss-seidel", S "waveform"};
  for (size_t i = 0; i < sizeof schemes / sizeof *schemes; ++i) {
    expect_fault(FAILS, schemes[i], YOKE_E_SUBSYSTEM, "subsystem 'foreign': the step of 0.001 s from t = ");
    expect_fault(CANNOT_COPY, schemes[i], YOKE_E_SUBSYSTEM, "subsystem 'foreign': its state at t = ");
  }
  expect_fault(FAILS, S "semi-implicit", YOKE_E_SUBSYSTEM, "subsystem 'foreign': the step of 0.001 s from t = ");
  n_good = 4; /* the main integration of the second step, and the perturbed one is next */
  expect_fault(CANNOT_COPY, S "semi-implicit", YOKE_E_SUBSYSTEM, "repeated with other inputs, failed");
  n_good = 1; /* the main integration */
  expect_fault(DOES_NOT_CONVERGE, S "semi-implicit", YOKE_NON_FINITE,
               "repeated with other inputs of coupling 'coupling', failed: ");
  n_good = 3;
}

static void one_that_tells_an_impossible_end_of_its_step_is_refused(void **state) {
  (void)state;
  static const fault ends[] = {DOES_NOT_MOVE, GOES_TOO_FAR, TELLS_NO_TIME};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; ++i)
    expect_fault(ends[i], S "explicit", YOKE_E_SUBSYSTEM, "says that it ended at t = ");
  expect_fault(OBSERVES_NOTHING, S "explicit", YOKE_E_SUBSYSTEM, "0 times were observed up to t = 0.004 s, expected 1");
}

static void one_that_always_ends_early_is_named(void **state) {
  (void)state;
  expect_fault(ALWAYS_EARLY, S "explicit", YOKE_NOT_CONVERGED, "subsystem 'foreign' ended 20 steps from t = 0.003 s");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_abilities_it_takes_part_in_explicit_schemes),
      cmocka_unit_test(that_can_repeat_takes_part_in_all_schemes_of_force_elements),
      cmocka_unit_test(that_can_repeat_takes_part_in_joints),
      cmocka_unit_test(that_tells_its_response_takes_part_in_newton_schemes),
      cmocka_unit_test(a_response_takes_the_place_of_perturbed_integrations),
      cmocka_unit_test(broyden_begins_with_the_response),
      cmocka_unit_test(a_response_that_is_refused_is_made_up_for),
      cmocka_unit_test(steps_with_responses_have_the_same_bits_on_all_workers),
      cmocka_unit_test(tangents_that_are_asked_for_and_not_there_are_noted),
      cmocka_unit_test(outputs_are_read_where_the_ports_say),
      cmocka_unit_test(step_control_takes_the_steps_that_it_takes_with_a_native_part),
      cmocka_unit_test(a_row_that_turns_costs_orders_above_k_plus_1),
      cmocka_unit_test(a_single_instance_never_works_twice_at_once),
      cmocka_unit_test(the_contract_is_kept),
      cmocka_unit_test(a_joint_without_responses_finds_its_multiplier_at_a_restart_too),
      cmocka_unit_test(joints_without_start_values_find_them),
      cmocka_unit_test(a_joint_with_responses_finds_its_multiplier_at_a_restart),
      cmocka_unit_test(it_is_observed_inside_steps_by_its_own_dense_output),
      cmocka_unit_test(events_of_its_own_are_found_and_act),
      cmocka_unit_test(what_was_packed_goes_on_with_the_same_bits),
      cmocka_unit_test(a_displacement_side_of_a_force_element_needs_copies),
      cmocka_unit_test(a_displacement_side_of_a_joint_needs_accelerations_of_rows),
      cmocka_unit_test(second_multipliers_are_refused),
      cmocka_unit_test(a_prescribed_motion_and_extras_are_refused),
      cmocka_unit_test(schemes_name_the_ability_that_they_miss),
      cmocka_unit_test(a_port_of_another_shape_or_number_is_refused),
      cmocka_unit_test(what_it_cannot_show_or_pack_is_said),
      cmocka_unit_test(one_that_fails_is_named_though_it_says_nothing),
      cmocka_unit_test(one_that_tells_an_impossible_end_of_its_step_is_refused),
      cmocka_unit_test(one_that_always_ends_early_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
