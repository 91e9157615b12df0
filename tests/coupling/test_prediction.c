/* What a step is predicted from. A spy on one subsystem sees the signals of every pass: those of the first are the prediction, those of
 * the last are what is kept. The prediction must lie on the polynomial through the newest kept nodes, inner ones included. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/rig.h"

enum { MAX_NODES = 3, MAX_KNOWN = 64 };

/* Nodes of the input force, oldest first. */
typedef struct spy {
  int    n_nodes;
  double share[MAX_NODES]; /* of the step, rising; the last one is 1 */
  bool   is_first;         /* no pass of this step yet */
  double predicted[MAX_NODES], kept[MAX_NODES];
} spy;

static spy                       watching;
static const yoke_subsystem_ops *true_ops;

static yoke_status spy_step(const yoke_subsystem *subsystem, void *scratch, void *state, const yoke_signal *u,
                            yoke_step_request *request, yoke_context *ctx) {
  for (int j = 0; j < watching.n_nodes; ++j) {
    double value;
    yoke_signal_value(u, request->t + watching.share[j] * (request->t_end - request->t), YOKE_SIDE_LEFT, 0, &value);
    if (watching.is_first) watching.predicted[j] = value;
    watching.kept[j] = value;
  }
  watching.is_first = false;
  return true_ops->step(subsystem, scratch, state, u, request, ctx);
}

static void set_spy(rig *r) {
  assert_int_equal(r->subsystems[0]->nu, 1);
  true_ops              = r->subsystems[0]->ops;
  r->ops                = *true_ops;
  r->ops.step           = spy_step;
  r->subsystems[0]->ops = &r->ops;
}

/* The polynomial through the newest n of the known nodes (t, u), at `time`. */
static double through_newest(int n, int n_known, const double *t, const double *u, double time) {
  double sum = 0.0;
  for (int i = n_known - n; i < n_known; ++i) {
    double weight = 1.0;
    for (int j = n_known - n; j < n_known; ++j) {
      if (j != i) weight *= (time - t[j]) / (t[i] - t[j]);
    }
    sum += weight * u[i];
  }
  return sum;
}

/* The straight line with the least squares of its distances to the newest n of the known nodes, at `time`. */
static double along_newest(int n, int n_known, const double *t, const double *u, double time) {
  double t_mean = 0.0, u_mean = 0.0, tt = 0.0, tu = 0.0;
  for (int i = n_known - n; i < n_known; ++i) {
    t_mean += t[i] / n;
    u_mean += u[i] / n;
  }
  for (int i = n_known - n; i < n_known; ++i) {
    tt += (t[i] - t_mean) * (t[i] - t_mean);
    tu += (t[i] - t_mean) * (u[i] - u_mean);
  }
  return u_mean + tu / tt * (time - t_mean);
}

typedef double (*continuation)(int n, int n_known, const double *t, const double *u, double time);

/* Twelve steps of two rigidly joined masses; the prediction is looked at once the degree is reached. It continues the newest n_used
 * known nodes. */
static void check_continuation(const char *formulation, int order, int n_nodes, const double *share, const char *more,
                               continuation expect, int n_used) {
  enum { N_STEPS = 12, N_START = 6 };
  char   sets[COSIM_TEXT];
  double t[MAX_KNOWN], u[MAX_KNOWN], moved = 0.0;
  int    n_known = 0;
  rig    r;
  snprintf(sets, sizeof sets, "cosimulation.order=%d;cosimulation.couplings.formulation=%s%s", order, formulation,
           more);
  watching = (spy){.n_nodes = n_nodes};
  memcpy(watching.share, share, (size_t)n_nodes * sizeof *share);
  assert_int_equal(rig_open(&r, "examples/two-mass-rigid.yaml", sets, "serial", 1, set_spy), YOKE_OK);
  for (int n = 0; n < N_STEPS; ++n) {
    const double start = yoke_graph_t(r.graph);
    watching.is_first  = true;
    rig_steps(&r, 1);
    const double H = yoke_graph_t(r.graph) - start;
    for (int j = 0; n >= N_START && j < n_nodes; ++j) {
      const double expected = expect(n_used, n_known, t, u, start + share[j] * H);
      CHECK_NEAR(watching.predicted[j], expected, 1e-8 * fabs(expected));
      moved = fmax(moved, fabs(watching.kept[j] - expected) / fabs(expected));
    }
    for (int j = 0; j < n_nodes; ++j) {
      t[n_known]   = start + share[j] * H;
      u[n_known++] = watching.kept[j];
    }
  }
  assert_true(moved > 1e-7); /* the pass behind it was another one */
  rig_close(&r);
}

static void check_prediction(const char *formulation, int order, int n_nodes, const double *share, const char *more) {
  check_continuation(formulation, order, n_nodes, share, more, through_newest, order + 1);
}

static const double half_step[] = {0.5, 1.0}, third_steps[] = {1.0 / 3.0, 2.0 / 3.0, 1.0}, uneven[] = {0.25, 0.6, 1.0},
                    end_only[] = {1.0};

static void a_half_step_node_takes_part_in_the_prediction(void **state) {
  (void)state;
  check_prediction("stabilized-index-2", 1, 2, half_step, "");
  check_prediction("stabilized-index-2", 2, 2, half_step, "");
}

static void both_inner_nodes_take_part_in_the_prediction(void **state) {
  (void)state;
  check_prediction("stabilized-index-1", 1, 3, third_steps, "");
  check_prediction("stabilized-index-1", 3, 3, third_steps, "");
  check_prediction("stabilized-index-1", 1, 3, uneven, ";cosimulation.couplings.nodes=[0.25, 0.6]");
}

static void without_inner_nodes_macro_points_are_continued(void **state) {
  (void)state;
  check_prediction("baumgarte", 1, 1, end_only, "");
}

static void least_squares_take_as_many_macro_points_as_they_are_told(void **state) {
  (void)state;
  for (int n = 3; n <= 5; ++n) {
    char more[80];
    snprintf(more, sizeof more, ";cosimulation.predictor=least-squares;cosimulation.samples=%d", n);
    check_continuation("baumgarte", 1, 1, end_only, more, along_newest, n);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_half_step_node_takes_part_in_the_prediction),
      cmocka_unit_test(both_inner_nodes_take_part_in_the_prediction),
      cmocka_unit_test(without_inner_nodes_macro_points_are_continued),
      cmocka_unit_test(least_squares_take_as_many_macro_points_as_they_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
