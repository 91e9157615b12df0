/* Interface Jacobians from tangents: every entry and output against central differences of whole macro steps, adaptive steps against fine ones,
 * and states with and without. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "coupling/graph_feeds.h"
#include "flexible_models.h"
#include "joint_models.h"

/* A trial from where the system is, predicted and integrated once with its columns. */
static yoke_graph *begin_trial(const cosim *c, double H) {
  yoke_graph          *g = (yoke_graph *)(uintptr_t)yoke_system_graph(c->system);
  yoke_step_statistics statistics;
  const double         t_next = yoke_system_t(c->system) + H;
  memset(&statistics, 0, sizeof statistics);
  g->pass_ctx = c->ctx;
  g->n_passes = 0;
  graph_prepare(g, t_next);
  graph_observe_prepare(g);
  graph_feeds_prepare(g);
  g->t_early = t_next;
  graph_predict(g);
  const yoke_status status = graph_pass(g, GRAPH_COLUMNS, &statistics, c->ctx);
  if (status != YOKE_OK) cosim_print(c->ctx);
  assert_int_equal(status, YOKE_OK);
  return g;
}

/* Outputs of one subsystem at the end of the trial when node `column` is shifted. */
static void shifted(const yoke_graph *g, int i, int column, double shift, void *state, double *y, yoke_context *ctx) {
  const graph_subsystem *s = &g->subsystems[i];
  double                 times[GRAPH_MAX_BREAKS + 2];
  yoke_signal            signal;
  graph_signal(g, i, column, shift, times, g->signal_c[0], &signal);
  yoke_step_request request = yoke_step_over(&signal, g->block->past_t[0], g->H);
  request.begins_anew       = g->block->begins_anew;
  assert_int_equal(yoke_subsystem_copy(s->subsystem, state, s->accepted), YOKE_OK);
  assert_int_equal(yoke_subsystem_step(s->subsystem, g->scratch[0], state, &signal, &request, ctx), YOKE_OK);
  assert_int_equal(yoke_subsystem_output(s->subsystem, g->scratch[0], state, &signal, YOKE_SIDE_LEFT, y), YOKE_OK);
}

enum { MOST_OUTPUTS = 64, N_LEVELS = 5 };

/* Level of output k: positions, velocities, accelerations, integrals, extras. */
static int level_of(const yoke_subsystem *s, int k) {
  int port = 0;
  while (k >= s->ports[port].y_at + s->ports[port].n_y) ++port;
  const yoke_port_shape *shape = s->ports[port].shape;
  const int              at    = k - s->ports[port].y_at;
  if (at < shape->n_p) return 0;
  if (at < yoke_shape_at_a(shape)) return 1;
  if (at < yoke_shape_at_integral(shape)) return 2;
  return at < yoke_shape_n_y(shape) ? 3 : 4;
}

/* Central differences with one extrapolation. */
static void difference(const yoke_graph *g, int i, int column, double size, void *state, double *d, yoke_context *ctx) {
  double    y[4][MOST_OUTPUTS];
  const int ny = g->subsystems[i].subsystem->ny;
  for (int k = 0; k < 4; ++k)
    shifted(g, i, column, (k % 2 == 0 ? size : -size) * (k < 2 ? 1.0 : 0.5), state, y[k], ctx);
  for (int k = 0; k < ny; ++k) {
    const double coarse = (y[0][k] - y[1][k]) / (2.0 * size), fine = (y[2][k] - y[3][k]) / size;
    d[k] = (4.0 * fine - coarse) / 3.0;
  }
}

static bool is_integrated(const yoke_graph *g, int i) { /* are integrals of positions shown at all? */
  const graph_subsystem *s = &g->subsystems[i];
  for (int k = 0; k < s->subsystem->ny; ++k) {
    if (level_of(s->subsystem, k) == 3 && s->y_new[k] != 0.0) return true;
  }
  return false;
}

static double level_norm(const yoke_subsystem *s, int level, const double *a, const double *b) {
  double sum = 0.0;
  for (int k = 0; k < s->ny; ++k) {
    if (level_of(s, k) == level) sum += (a[k] - (b != NULL ? b[k] : 0.0)) * (a[k] - (b != NULL ? b[k] : 0.0));
  }
  return sqrt(sum);
}

enum { POSITIONS, VELOCITIES, ACCELERATIONS, INTEGRALS };

/* What errors of a column d at a level are compared with: the column at this level, or what its velocities and accelerations do in a step of
 * 1 ms, since moments of a node may vanish. */
static double column_size(const yoke_subsystem *s, int level, const double *d) {
  const double H    = 1e-3;
  double       size = level_norm(s, level, d, NULL);
  if (level < ACCELERATIONS)
    size = fmax(size, (level == POSITIONS ? H * H : H) * level_norm(s, ACCELERATIONS, d, NULL));
  if (level == POSITIONS) size = fmax(size, H * level_norm(s, VELOCITIES, d, NULL));
  return size;
}

static const double rounding = 2e-15; /* of outputs, which projections onto own joints have moved */

/* Of differences d by `shift` of outputs y: without the rounding of outputs, `off` of each. */
static double difference_error(const yoke_subsystem *s, int level, double off, const double *y, double shift,
                               const double *d, const double *dy) {
  const double size = column_size(s, level, d);
  off *= level_norm(s, level, y, NULL) / shift;
  const double error = fmax(0.0, level_norm(s, level, d, dy) - off);
  return size > 0.0 ? error / size : error;
}

/* Of a tangent dy against another one d. */
static double tangent_error(const yoke_subsystem *s, int level, const double *d, const double *dy) {
  const double size = column_size(s, level, d), error = level_norm(s, level, d, dy);
  return size > 0.0 ? error / size : error;
}

typedef struct tangent_case {
  const char *model, *sets;
  double      t;    /* where the trial begins */
  double      size; /* of differences, relative to the inputs */
} tangent_case;

/* `off`: rounding of outputs. */
static double largest_error(const tangent_case *one, double H, double off, double limit) {
  cosim  c;
  double largest = 0.0;
  cosim_open(&c, one->model, one->sets);
  if (one->t > 0.0) cosim_run(&c, one->t, NULL, NULL);
  cosim_expect(&c, YOKE_OK);
  yoke_graph *g = begin_trial(&c, H);
  for (int i = 0; i < g->n_subsystems; ++i) {
    const graph_subsystem *s  = &g->subsystems[i];
    const int              ny = s->subsystem->ny;
    void                  *state;
    assert_true(ny <= MOST_OUTPUTS);
    assert_int_equal(s->jacobian, YOKE_JACOBIAN_TANGENT);
    assert_false(s->has_differences);
    assert_int_equal(yoke_subsystem_state_create(s->subsystem, &state), YOKE_OK);
    for (int column = 0; column < s->n_columns; ++column) {
      const graph_channel *channel = &g->channels[s->column_channel[column]];
      const double         size = (channel->info.is_force ? 1.0 : one->size) * fmax(1.0, fabs(channel->kept->past[0]));
      double               d[MOST_OUTPUTS];
      difference(g, i, column, size, state, d, c.ctx);
      for (int level = 0; level < N_LEVELS; ++level) {
        if (level == INTEGRALS && !is_integrated(g, i)) continue;
        const double error =
            difference_error(s->subsystem, level, off, s->y_new, size, d, s->dy + (size_t)column * (size_t)ny);
        largest = fmax(largest, error);
        if (error <= limit) continue;
        for (int k = 0; k < ny; ++k) {
          if (level_of(s->subsystem, k) == level)
            print_message("  y[%d]: difference %.10g, tangent %.10g\n", k, d[k],
                          s->dy[(size_t)column * (size_t)ny + (size_t)k]);
        }
        fail_msg("%.60s, %s: subsystem '%s', channel '%s' node %d, level %d: error %.2e", one->model, one->sets,
                 s->subsystem->name, channel->info.name, s->column_node[column], level, error);
      }
    }
    yoke_subsystem_state_destroy(s->subsystem, &state);
  }
  cosim_close(&c);
  return largest;
}

#define FIXED "solvers.default={kind: dop853, step: 6.25e-5};cosimulation.step=1e-3;"

/* Entries: forces, copies, multipliers, second multipliers, accelerations of rows; outputs: all levels. */
static const tangent_case cases[] = {
    {"examples/two-mass.yaml", FIXED "cosimulation.order=2", 0.02, 1.0},
    {"examples/two-mass.yaml", FIXED "cosimulation.couplings.decomposition=displacement/displacement", 0.02, 1.0},
    {"examples/two-mass.yaml",
     FIXED "cosimulation.couplings.decomposition=force/displacement;cosimulation.couplings.extension=i", 0.02, 1.0},
    {"examples/nonlinear-two-mass.yaml", FIXED "cosimulation.order=0", 0.02, 1.0},
    {"examples/double-pendulum-flexible.yaml", FIXED, 0.1, 1e-2},
    {"examples/double-pendulum-flexible.yaml", FIXED "cosimulation.couplings.decomposition=displacement/force", 0.1,
     1e-2},
    {"examples/four-bar-bushing.yaml", FIXED "cosimulation.couplings.extension=d", 0.1, 1e-2},
    {"examples/double-pendulum.yaml", FIXED, 0.1, 1e-2},
    {"examples/double-pendulum.yaml",
     FIXED "cosimulation.couplings.formulation=stabilized-index-1;cosimulation.order=0", 0.1, 1e-2},
    {"examples/double-pendulum.yaml", FIXED "cosimulation.couplings.formulation=stabilized-index-2-mu", 0.1, 1e-2},
    {"examples/double-pendulum.yaml",
     FIXED "cosimulation.couplings.formulation=baumgarte;cosimulation.couplings.decomposition=force/displacement", 0.1,
     1e-2},
    {"examples/four-bar-spatial.yaml", FIXED, 0.01, 1e-2},
    {"examples/four-bar-spatial.yaml", FIXED "cosimulation.couplings.formulation=stabilized-index-2-mu", 0.01, 1e-2},
    {"examples/slider-crank.yaml", FIXED "cosimulation.order=2", 0.1, 1e-2},
};

/* Accelerations of light nodes are what is left of large elastic forces. */
static const double elastic_rounding = 5e-14;

/* Ends of a rod, of a cable and of a linear body that feel forces, are given copies, are held by multipliers, and are guided along rows. */
static void tangents_of_flexible_bodies_equal_central_differences(void **state) {
  static const char *const by_element[]      = {FIXED, FIXED "cosimulation.couplings.decomposition=displacement/force"},
                           *const by_joint[] = {FIXED, FIXED "cosimulation.couplings.formulation=baumgarte;"
                                                             "cosimulation.couplings.decomposition=displacement/force"};
  (void)state;
  for (int k = 0; k < N_FLEXIBLE_ELEMENTS; ++k) {
    for (int i = 0; i < 2; ++i) {
      const tangent_case one = {flexible_elements[k].model, by_element[i], 5e-3, 1e-2};
      print_message("%-34s %.1e by an element\n", flexible_elements[k].name,
                    largest_error(&one, 1e-3, elastic_rounding, 1e-7));
    }
  }
  for (int k = 0; k < N_FLEXIBLE_JOINTS; ++k) {
    for (int i = 0; i < 2; ++i) {
      const tangent_case one = {flexible_joints[k].model, by_joint[i], 5e-3, 2e-3};
      print_message("%-34s %.1e by a joint\n", flexible_joints[k].name,
                    largest_error(&one, 1e-3, elastic_rounding, 1e-7));
    }
  }
}

static void tangents_equal_central_differences(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    const double error = largest_error(&cases[k], 1e-3, rounding, 1e-6);
    print_message("%-45s %.1e\n", cases[k].model, error);
  }
}

/* ---- adaptive steps ---- */

#define ADAPTIVE "cosimulation.step=1e-3;solvers.default={kind: %s, rtol: %g, atol: %g}"

static const char *const models[]  = {"examples/double-pendulum-flexible.yaml", "examples/double-pendulum.yaml",
                                      "examples/four-bar-bushing.yaml", "examples/slider-crank.yaml"};
static const char *const solvers[] = {"dopri5", "dop853", "radau5", "auto", "abm", "bdf"};
enum { N_MODELS = sizeof models / sizeof *models, N_SOLVERS = sizeof solvers / sizeof *solvers, N_ONE_STEP = 4 };

/* The step behind t. */
static yoke_graph *open_trial_at(cosim *c, const char *model, const char *solver, double rtol, double t) {
  char sets[200];
  snprintf(sets, sizeof sets, ADAPTIVE, solver, rtol, 1e-2 * rtol);
  cosim_open(c, model, sets);
  cosim_run(c, t, NULL, NULL);
  cosim_expect(c, YOKE_OK);
  return begin_trial(c, 1e-3);
}

static yoke_graph *open_trial(cosim *c, const char *model, const char *solver, double rtol) {
  return open_trial_at(c, model, solver, rtol, 0.1);
}

/* Largest error of the tangents of trial `a` against those of `b`. */
static double trial_error(const yoke_graph *a, const yoke_graph *b) {
  double largest = 0.0;
  for (int i = 0; i < a->n_subsystems; ++i) {
    const graph_subsystem *s = &a->subsystems[i];
    assert_int_equal(s->jacobian, YOKE_JACOBIAN_TANGENT);
    assert_false(s->has_differences);
    for (int level = 0; level < N_LEVELS; ++level) {
      if (level == INTEGRALS && !is_integrated(a, i)) continue;
      for (int column = 0; column < s->n_columns; ++column) {
        const size_t at = (size_t)column * (size_t)s->subsystem->ny;
        largest         = fmax(largest, tangent_error(s->subsystem, level, b->subsystems[i].dy + at, s->dy + at));
      }
    }
  }
  return largest;
}

static void tangents_of_adaptive_steps_are_as_good_as_those_of_fine_ones(void **state) {
  (void)state;
  for (int m = 0; m < N_MODELS; ++m) {
    cosim             fine;
    const yoke_graph *b = open_trial(&fine, models[m], "dop853", 1e-12);
    for (int k = 0; k < N_ONE_STEP; ++k) {
      cosim        coarse;
      const double error = trial_error(open_trial(&coarse, models[m], solvers[k], 1e-8), b);
      print_message("%-40s %-8s %.1e\n", models[m], solvers[k], error);
      CHECK_BELOW(error, 1e-5);
      cosim_close(&coarse);
    }
    cosim_close(&fine);
  }
}

static const flexible_case *flexible_at(int k) {
  return k < N_FLEXIBLE_ELEMENTS ? &flexible_elements[k] : &flexible_joints[k - N_FLEXIBLE_ELEMENTS];
}

/* Many steps of the implicit rule share one linearisation, as far as what that leaves out shows. Copies of a port that is held by a joint alone move
 * nothing but axes of multipliers: differences of such columns are noise of the solver. */
static void tangents_of_flexible_bodies_equal_central_differences_with_few_linearisations(void **state) {
  (void)state;
  for (int k = 0; k < N_FLEXIBLE_ELEMENTS + N_FLEXIBLE_JOINTS; ++k) {
    const flexible_case *at = flexible_at(k);
    char                 sets[200];
    if (strstr(at->name, "frame") != NULL && k >= N_FLEXIBLE_ELEMENTS) continue;
    snprintf(sets, sizeof sets, ADAPTIVE, "radau5", 1e-11, 1e-13);
    const tangent_case one = {at->model, sets, 5e-3, 1e-2};
    print_message("%-34s %.1e\n", at->name, largest_error(&one, 1e-3, elastic_rounding, 1e-4));
  }
}

/* Of two methods that have nothing in common; corrections need a hundredth. */
static void tangents_of_flexible_bodies_with_few_linearisations_are_those_of_fine_steps(void **state) {
  (void)state;
  for (int k = 0; k < N_FLEXIBLE_ELEMENTS + N_FLEXIBLE_JOINTS; ++k) {
    cosim             few, fine;
    const yoke_graph *a = open_trial_at(&few, flexible_at(k)->model, "radau5", 1e-11, 0.01),
                     *b = open_trial_at(&fine, flexible_at(k)->model, "dop853", 1e-12, 0.01);
    const double error  = trial_error(a, b);
    print_message("%-34s %.1e\n", flexible_at(k)->name, error);
    CHECK_BELOW(error, 5e-4);
    cosim_close(&few);
    cosim_close(&fine);
  }
}

/* These have come to the trial on motions of their own: multipliers, and columns that follow from them, are those of their tolerance. */
static void tangents_of_multistep_methods_equal_central_differences_of_their_own_steps(void **state) {
  (void)state;
  for (int m = 0; m < N_MODELS; ++m) {
    for (int k = N_ONE_STEP; k < N_SOLVERS; ++k) {
      char sets[200];
      snprintf(sets, sizeof sets, ADAPTIVE, solvers[k], 1e-11, 1e-13);
      const tangent_case one = {models[m], sets, 0.1, 1e-2};
      print_message("%-40s %-8s %.1e\n", models[m], solvers[k], largest_error(&one, 1e-3, rounding, 1e-4));
    }
  }
}

static void states_have_the_same_bits_with_and_without_tangents(void **state) {
  (void)state;
  for (size_t m = 0; m < (size_t)N_MODELS; ++m) {
    for (size_t k = 0; k < (size_t)N_SOLVERS; ++k) {
      cosim       c;
      yoke_graph *g = open_trial(&c, models[m], solvers[k], 1e-6);
      double      y[MOST_OUTPUTS];
      for (int i = 0; i < g->n_subsystems; ++i) {
        const graph_subsystem *s = &g->subsystems[i];
        void                  *plain;
        assert_int_equal(yoke_subsystem_state_create(s->subsystem, &plain), YOKE_OK);
        shifted(g, i, -1, 0.0, plain, y, c.ctx);
        assert_memory_equal(y, s->y_new, (size_t)s->subsystem->ny * sizeof *y);
        yoke_subsystem_state_destroy(s->subsystem, &plain);
      }
      cosim_close(&c);
    }
  }
}

/* The end node of a multiplier with a half-step node moves nothing until the end of the step: that made perturbed integrations of every second step. */
static void f32_a_displacement_that_vanishes_is_no_reason_for_perturbed_integrations(void **state) {
  (void)state;
  cosim         c       = cosim_done("examples/double-pendulum.yaml", "cosimulation={}", 0.0);
  const int64_t trials  = c.summary.macro.steps + c.summary.macro.rejected,
                planned = 2 * (2 * trials + c.summary.macro.iterations);
  assert_true(c.summary.macro.integrations <= planned + planned / 50); /* predicted, corrected, compared */
  cosim_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tangents_equal_central_differences),
      cmocka_unit_test(tangents_of_flexible_bodies_equal_central_differences),
      cmocka_unit_test(tangents_of_adaptive_steps_are_as_good_as_those_of_fine_ones),
      cmocka_unit_test(tangents_of_flexible_bodies_equal_central_differences_with_few_linearisations),
      cmocka_unit_test(tangents_of_flexible_bodies_with_few_linearisations_are_those_of_fine_steps),
      cmocka_unit_test(tangents_of_multistep_methods_equal_central_differences_of_their_own_steps),
      cmocka_unit_test(states_have_the_same_bits_with_and_without_tangents),
      cmocka_unit_test(f32_a_displacement_that_vanishes_is_no_reason_for_perturbed_integrations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
