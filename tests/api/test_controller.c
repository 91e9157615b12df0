/* A controller that a user wrote, sampled every millisecond, on a native robot arm, in one piece and cut at its elbow, against the arm as a whole with the
 * controller as expressions: between macro points its torques are polynomials of degree k, so the error falls as H^(k+1) with macro steps that are multiples of the
 * period. Uses include/yoke only. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include <yoke/yoke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the controller ---- */

static const double period = 1e-3; /* [s] */

enum { UPPER, UPPER_RATE, ELBOW, ELBOW_RATE, N_INPUTS };

/* Samples taken so far, and the torques that are held since the last. */
typedef struct controller_state {
  long   n;
  double torque[2];
} controller_state;

static void sample(controller_state *s, double t, const double *u) {
  s->torque[0] = 900.0 * (0.8 * sin(2.0 * t) - u[UPPER]) - 60.0 * u[UPPER_RATE];
  s->torque[1] = 225.0 * (1.0 - cos(2.0 * t) - u[ELBOW]) - 15.0 * u[ELBOW_RATE];
}

static yoke_status controller_create(yoke_context *ctx, void *user, const char *name, int n,
                                     const yoke_user_argument *arguments, yoke_user_instance *out) {
  static const yoke_user_signal inputs[] = {
      {"upper", "rad"}, {"upper_rate", "rad/s"}, {"elbow", "rad"}, {"elbow_rate", "rad/s"}};
  static const yoke_user_signal outputs[] = {{"shoulder", "N m"}, {"elbow", "N m"}};
  (void)ctx, (void)user, (void)name, (void)n, (void)arguments;
  out->n_inputs   = N_INPUTS;
  out->inputs     = inputs;
  out->n_outputs  = 2;
  out->outputs    = outputs;
  out->state_size = sizeof(controller_state);
  return YOKE_OK;
}

static yoke_status controller_start(void *self, void *state, double t, const double *u, yoke_context *ctx) {
  controller_state *s = state;
  (void)self, (void)ctx;
  s->n = lround(t / period);
  sample(s, t, u);
  return YOKE_OK;
}

static yoke_status controller_step(void *self, void *state, const yoke_signal *u, yoke_user_step *step,
                                   yoke_context *ctx) {
  controller_state *s = state;
  (void)self, (void)ctx;
  while ((double)(s->n + 1) * period <= step->t_end + 1e-9 * period) {
    double now[N_INPUTS];
    ++s->n;
    yoke_signal_value(u, fmin((double)s->n * period, step->t_end), YOKE_SIDE_LEFT, 0, now);
    sample(s, (double)s->n * period, now);
  }
  return YOKE_OK;
}

/* A sample that is taken right now is taken with the inputs of now. */
static yoke_status controller_output(void *self, const void *state, double t, const double *u, double *y) {
  controller_state s = *(const controller_state *)state;
  (void)self;
  if (fabs(t - (double)s.n * period) < 1e-9 * period) sample(&s, t, u);
  memcpy(y, s.torque, sizeof s.torque);
  return YOKE_OK;
}

/* ---- the arm ---- */

#define ARM                                                                                                            \
  "yoke: 1\n"                                                                                                          \
  "gravity: [0, -9.81]\n"                                                                                              \
  "t_end: 0.256\n"                                                                                                     \
  "bodies:\n"                                                                                                          \
  "  upper: {kind: planar, mass: 4, inertia: 0.12, position: [0.3, 0], frames: {root: [-0.3, 0], tip: [0.3, 0]}}\n"    \
  "  fore: {kind: planar, mass: 2, inertia: 0.06, position: [0.9, 0], frames: {root: [-0.3, 0]}}\n"                    \
  "connections:\n"                                                                                                     \
  "  shoulder: {kind: revolute, between: [ground, upper.root]}\n"                                                      \
  "  elbow: {kind: revolute, between: [upper.tip, fore.root]}\n"                                                       \
  "solvers: {default: {kind: dop853, rtol: 1e-12, atol: 1e-14}}\n"

#define ELBOW_TORQUE "225*(1 - cos(2*t) - (fore.angle - upper.angle)) - 15*(fore.omega - upper.omega)"

static const char whole[] =
    ARM "loads:\n"
        "  shoulder: {kind: expression, on: upper, torque: 900*(0.8*sin(2*t) - upper.angle) - 60*upper.omega}\n"
        "  elbow: {kind: expression, on: fore, torque: " ELBOW_TORQUE "}\n"
        "  reaction: {kind: expression, on: upper, torque: -(" ELBOW_TORQUE ")}\n";

static const char controlled[] =
    ARM "subsystems:\n"
        "  motors:\n"
        "    kind: user\n"
        "    type: controller\n"
        "    inputs: {upper: upper.angle, upper_rate: upper.omega, elbow: fore.angle - upper.angle, elbow_rate: "
        "fore.omega - upper.omega}\n"
        "    outputs: {shoulder: N m, elbow: N m}\n"
        "loads:\n"
        "  shoulder: {kind: expression, on: upper, torque: motors.shoulder - motors.elbow}\n"
        "  elbow: {kind: expression, on: fore, torque: motors.elbow}\n"
        "cosimulation: {scheme: %s, order: %d, step: %.17g}\n%s";

/* Angles of the links at the end. */
static void end_of(const char *text, double angles[2]) {
  static const char *const      names[] = {"upper.angle", "fore.angle"};
  static const yoke_user_repeat repeat  = {.size = sizeof repeat};
  const yoke_user_type          type    = {.size   = sizeof type,
                                           .abi    = YOKE_SUBSYSTEM_ABI,
                                           .name   = "controller",
                                           .create = controller_create,
                                           .start  = controller_start,
                                           .step   = controller_step,
                                           .output = controller_output,
                                           .repeat = &repeat};
  const yoke_simulation_options options = {.size = sizeof options, .no_predict = true};
  yoke_context                 *ctx;
  yoke_model                   *model = NULL;
  yoke_simulation              *s     = NULL;
  int                           handles[2];
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  yoke_status status = yoke_context_add_type(ctx, &type);
  if (status == YOKE_OK) status = yoke_model_load_text(ctx, "arm", text, strlen(text), NULL, &model);
  if (status == YOKE_OK) status = yoke_simulation_create(ctx, model, &options, &s);
  if (status == YOKE_OK) status = yoke_simulation_run_to(ctx, s, yoke_simulation_t_end(s));
  if (status == YOKE_OK) status = yoke_simulation_find(ctx, s, 2, names, handles);
  if (status == YOKE_OK) status = yoke_simulation_get(ctx, s, 2, handles, angles);
  for (size_t i = 0; i < yoke_context_n_messages(ctx); ++i) print_message("%s\n", yoke_context_message(ctx, i));
  assert_int_equal(status, YOKE_OK);
  yoke_simulation_destroy(&s);
  yoke_model_destroy(&model);
  yoke_context_destroy(&ctx);
}

static double error_of(const char *scheme, int order, double H, const char *split) {
  static double exact[2];
  char          text[3000];
  double        angles[2];
  if (exact[0] == 0.0) end_of(whole, exact);
  snprintf(text, sizeof text, controlled, scheme, order, H, split);
  end_of(text, angles);
  return fmax(fabs(angles[0] - exact[0]), fabs(angles[1] - exact[1]));
}

/* Order of the error between H and H/2, in multiples of the period. */
static void expect_order(const char *scheme, int k, double H, const char *split) {
  const double coarse = error_of(scheme, k, H, split), fine = error_of(scheme, k, H / 2.0, split);
  print_message("%s, order %d%s: %.2e with H = %g ms, %.2e with half of it: order %.2f\n", scheme, k,
                split[0] != '\0' ? ", cut at the elbow" : "", coarse, 1e3 * H, fine, log2(coarse / fine));
  CHECK_NEAR(log2(coarse / fine), k + 1.0, 0.15);
}

static const char cut[] = "split: {a: [upper], b: [fore]}\n";

static void the_error_falls_by_one_order_more_than_the_degree(void **state) {
  (void)state;
  for (int k = 0; k < 3; ++k) {
    expect_order("semi-implicit", k, 4e-3, "");
    expect_order("implicit", k, 4e-3, "");
  }
  expect_order("explicit", 0, 2e-3, ""); /* extrapolated torques of such gains are stable with short steps only */
}

static void across_the_cut_of_a_joint_too(void **state) {
  (void)state;
  expect_order("semi-implicit", 1, 4e-3, cut);
  expect_order("implicit", 1, 4e-3, cut);
  expect_order("implicit", 2, 4e-3, cut);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_error_falls_by_one_order_more_than_the_degree),
      cmocka_unit_test(across_the_cut_of_a_joint_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
