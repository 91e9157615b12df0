/* Loads and events that read frames of bodies and coordinates of joints. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/cosimulate.h"
#include "linalg/space.h"
#include "model/multibody.h"

/* ---- derivatives ---- */

/* Every kind of quantity, of bodies of every kind, and joints with every coordinate between two bodies and to the ground. */
#define ALL                                                                                                            \
  "yoke: 1\nt_end: 1\nbodies:\n"                                                                                       \
  "  r: {kind: rigid, mass: 1, inertia: [1, 2, 3], position: [1, 0, 0], frames: {f: {at: [0.3, -0.2, 0.5], axis: [1, " \
  "2, 3]}}}\n"                                                                                                         \
  "  s: {kind: rigid, mass: 1, inertia: [1, 2, 3], position: [0, 1, 0], frames: {f: {at: [0.1, 0.2, 0.3], axis: [3, "  \
  "1, 2]}}}\n"                                                                                                         \
  "  p: {kind: planar, mass: 1, inertia: 1, frames: {f: {at: [0.4, 0.7], orientation: {axis: [0, 0, 1], angle: "       \
  "0.5}}}}\n"                                                                                                          \
  "  o: {kind: planar, mass: 1, inertia: 1, frames: {f: [0.2, -0.1]}}\n"                                               \
  "  d: {kind: particle, mass: 1, frames: {f: [0.1, 0.2, 0.3]}}\n"                                                     \
  "connections:\n"                                                                                                     \
  "  hinge: {kind: revolute, between: [r.f, s.f]}\n"                                                                   \
  "  tube: {kind: cylindrical, between: [ground, r]}\n"                                                                \
  "  rail: {kind: translational, between: [s, r]}\n"                                                                   \
  "  pin: {kind: revolute, between: [p.f, o.f]}\n"

static const char *const readable[] = {"r.f.x",
                                       "r.f.z",
                                       "r.f.q0",
                                       "r.f.q2",
                                       "s.f.vx",
                                       "s.f.vy",
                                       "s.f.wx",
                                       "s.f.wz",
                                       "p.f.x",
                                       "p.f.y",
                                       "p.f.angle",
                                       "p.f.vx",
                                       "p.f.omega",
                                       "d.f.y",
                                       "d.f.vz",
                                       "hinge.angle",
                                       "hinge.angle_rate",
                                       "tube.angle",
                                       "tube.angle_rate",
                                       "tube.distance",
                                       "tube.distance_rate",
                                       "rail.distance",
                                       "rail.distance_rate",
                                       "pin.angle",
                                       "pin.angle_rate"};

enum { N_READABLE = sizeof readable / sizeof readable[0] };

typedef struct bench {
  yoke_context   *ctx;
  yoke_model     *model;
  yoke_equations  equations;
  yoke_multibody *mb;
  void           *work;
} bench;

static void open_bench(bench *b, const char *text) {
  *b = (bench){0};
  assert_int_equal(yoke_context_create(&b->ctx), YOKE_OK);
  const yoke_status status = yoke_model_load_text(b->ctx, "test.yaml", text, strlen(text), NULL, &b->model);
  if (status != YOKE_OK) fail_msg("%s", yoke_context_message(b->ctx, 0));
  assert_int_equal(yoke_multibody_create(b->ctx, b->model, NULL, &b->equations, &b->mb), YOKE_OK);
  b->work = yoke_allocate(1, b->equations.work_size);
  assert_non_null(b->work);
}

static void close_bench(bench *b) {
  free(b->work);
  yoke_equations_destroy(&b->equations);
  yoke_model_destroy(&b->model);
  yoke_context_destroy(&b->ctx);
}

static double pseudo_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

static void random_state(const bench *b, uint32_t seed, int n, double *x) {
  for (int i = 0; i < n; ++i) x[i] = pseudo_random(&seed);
  for (int k = 0; k < 2; ++k) { /* r and s; derivatives must be right off the unit sphere too */
    double *p = x + yoke_multibody_q_offset(b->mb, k) + 3;
    quaternion_normalise(p);
    for (int i = 0; i < 4; ++i) p[i] *= 1.1;
  }
}

static double entry(const yoke_pattern *p, const double *J, int row, int col) {
  for (int k = p->col_start[col]; k < p->col_start[col + 1]; ++k) {
    if (p->row[k] == row) return J[k];
  }
  return 0.0;
}

static void check_jacobian(const bench *b, yoke_dae_form form, const char *name) {
  const yoke_equations_ops *ops  = b->equations.ops;
  const void               *self = b->equations.self;
  yoke_dae                 *dae  = NULL;
  assert_int_equal(ops->dae_create(self, b->ctx, form, &dae), YOKE_OK);
  const int n = dae->nx;
  double   *x = calloc((size_t)(3 * n + dae->pattern->nnz), sizeof *x), *Fp = x + n, *Fm = x + 2 * n, *J = x + 3 * n;
  assert_non_null(x);
  random_state(b, 31u, n, x);
  assert_int_equal(ops->dae_jacobian(self, dae, b->work, 0.37, x, NULL, J), YOKE_OK);
  for (int c = 0; c < n; ++c) {
    const double kept = x[c];
    x[c]              = kept + 1e-6;
    assert_int_equal(ops->dae_rhs(self, dae, b->work, 0.37, x, NULL, Fp), YOKE_OK);
    x[c] = kept - 1e-6;
    assert_int_equal(ops->dae_rhs(self, dae, b->work, 0.37, x, NULL, Fm), YOKE_OK);
    x[c] = kept;
    for (int r = 0; r < n; ++r) {
      const double difference = (Fp[r] - Fm[r]) / 2e-6, exact = entry(dae->pattern, J, r, c);
      if (!(fabs(difference - exact) < 1e-6 * (1.0 + fabs(exact))))
        fail_msg("%s: form %d row %d column %d: %.10g, differences give %.10g", name, (int)form, r, c, exact,
                 difference);
    }
  }
  free(x);
  yoke_dae_destroy(&dae);
}

static void f62_the_jacobian_of_loads_that_read_frames_and_joints_is_exact(void **state) {
  (void)state;
  for (int i = 0; i < N_READABLE; ++i) {
    char  text[2000];
    bench b;
    snprintf(
        text, sizeof text,
        "%sloads:\n  g: {kind: expression, on: s.f, follower: true, force: [\"%s*r.f.y\", \"sin(%s)\", 0], torque: "
        "[0, 0, \"2*%s\"]}\n",
        ALL, readable[i], readable[i], readable[i]);
    open_bench(&b, text);
    check_jacobian(&b, YOKE_DAE_GGL, readable[i]);
    check_jacobian(&b, YOKE_DAE_INDEX1, readable[i]);
    close_bench(&b);
  }
}

static void f62_the_jacobian_of_laws_that_read_the_model_is_exact(void **state) {
  (void)state;
  for (int i = 0; i < N_READABLE; ++i) {
    char  text[2000];
    bench b;
    snprintf(text, sizeof text,
             "%s  spring: {kind: spring-damper, between: [s.f, d], law: \"3*x^2*%s + v*x - %s\"}\n"
             "  twist: {kind: torsion-spring, between: [o, p.f], law: \"sin(%s)*x + p.f.vy*v\"}\n",
             ALL, readable[i], readable[i], readable[i]);
    open_bench(&b, text);
    check_jacobian(&b, YOKE_DAE_GGL, readable[i]);
    check_jacobian(&b, YOKE_DAE_INDEX1, readable[i]);
    close_bench(&b);
  }
}

/* Accelerations and multipliers are unknowns of the index 1 form. */
static void the_jacobian_of_loads_and_laws_that_read_accelerations_and_forces_of_joints_is_exact(void **state) {
  static const char *const felt[] = {"r.f.ax",         "r.f.az",        "r.alphay",      "s.f.alphax",
                                     "p.f.ax",         "p.f.alpha",     "d.f.ay",        "hinge.force[1]",
                                     "hinge.force[5]", "tube.force[2]", "rail.force[4]", "pin.force[2]"};
  (void)state;
  for (size_t i = 0; i < sizeof felt / sizeof felt[0]; ++i) {
    char  text[2000];
    bench b;
    snprintf(
        text, sizeof text,
        "%s  spring: {kind: spring-damper, between: [s.f, d], law: \"0.3*x^2*%s + v*x\"}\n"
        "loads:\n  g: {kind: expression, on: s.f, follower: true, force: [\"0.1*%s*r.f.y\", \"sin(%s)\", 0], torque: "
        "[0, 0, \"0.2*%s\"]}\n",
        ALL, felt[i], felt[i], felt[i], felt[i]);
    open_bench(&b, text);
    check_jacobian(&b, YOKE_DAE_INDEX1, felt[i]);
    close_bench(&b);
  }
}

/* ---- the same motion ---- */

/* A rod on a pivot. */
#define ROD                                                                                                            \
  "yoke: 1\ngravity: [0, -9.81, 0]\nt_end: 1\nbodies:\n"                                                               \
  "  rod: {kind: planar, mass: 2, inertia: 0.2, position: [0.5, 0], frames: {top: [-0.5, 0], tip: [0.5, 0.2]}}\n"      \
  "connections: {pivot: {kind: revolute, between: [ground, rod.top]}}\n"                                               \
  "loads: {pull: {kind: expression, on: rod, force: "

#define BY_FRAME "[-20*rod.tip.x, -30*(rod.tip.y + 1) - rod.tip.vy], torque: -3*pivot.angle - 2*pivot.angle_rate}}\n"
#define BY_BODY                                                                                                        \
  "[-20*(rod.x + 0.5*cos(rod.angle) - 0.2*sin(rod.angle)), "                                                           \
  "-30*(rod.y + 0.5*sin(rod.angle) + 0.2*cos(rod.angle) + 1) - rod.vy - rod.omega*(0.5*cos(rod.angle) - "              \
  "0.2*sin(rod.angle))], torque: -3*rod.angle - 2*rod.omega}}\n"

static void f62_a_load_that_reads_a_frame_moves_bodies_as_one_written_with_their_coordinates(void **state) {
  static const char *const sets[] = {"solvers.default={kind: dop853, rtol: 1e-11}",
                                     "solvers.default={kind: radau5, rtol: 1e-11}",
                                     "solvers.default={kind: bdf, rtol: 1e-11}"};
  (void)state;
  for (int k = 0; k < 3; ++k) {
    cosim frame = cosim_done_monolithic(ROD BY_FRAME, sets[k], 1.0);
    cosim body  = cosim_done_monolithic(ROD BY_BODY, sets[k], 1.0);
    CHECK_NEAR(cosim_value(&frame, "rod.angle"), cosim_value(&body, "rod.angle"), 1e-8);
    CHECK_NEAR(cosim_value(&frame, "rod.omega"), cosim_value(&body, "rod.omega"), 1e-8);
    CHECK_NEAR(cosim_value(&frame, "total.external"), cosim_value(&body, "total.external"), 1e-7);
    assert_true(frame.summary.counters.steps < body.summary.counters.steps * 11 / 10);
    cosim_close(&frame);
    cosim_close(&body);
  }
}

/* The spring stands in front of the joint that its law reads. */
#define SPRUNG(law)                                                                                                    \
  "yoke: 1\ngravity: [0, -9.81, 0]\nt_end: 1\nbodies:\n"                                                               \
  "  rod: {kind: planar, mass: 2, inertia: 0.2, position: [0.5, 0], frames: {top: [-0.5, 0], tip: [0.5, 0.2]}}\n"      \
  "  bob: {kind: mass1d, mass: 1}\n"                                                                                   \
  "connections:\n"                                                                                                     \
  "  spring: {kind: spring-damper, between: [[2, 0, 0], rod.tip], law: \"" law "\"}\n"                                 \
  "  pivot: {kind: revolute, between: [ground, rod.top]}\n"                                                            \
  "split: {a: [rod], b: [bob]}\ncosimulation: {step: 0.01}\n"

static void f62_a_law_that_reads_the_model_moves_bodies_as_one_of_its_deflection(void **state) {
  static const char *const sets[] = {"solvers.default={kind: dop853, rtol: 1e-11}",
                                     "solvers.default={kind: radau5, rtol: 1e-11}"};
  (void)state;
  for (int k = 0; k < 4; ++k) {
    cosim (*run)(const char *, const char *, double) = k < 2 ? cosim_done_monolithic : cosim_done;
    cosim plain                                      = run(SPRUNG("50*x + 3*v + 2*t"), sets[k % 2], 1.0);
    cosim reads = run(SPRUNG("50*x + 3*v + 2*t + 4*(pivot.angle - rod.angle)"), sets[k % 2], 1.0);
    CHECK_NEAR(cosim_value(&reads, "rod.angle"), cosim_value(&plain, "rod.angle"), 1e-8);
    CHECK_NEAR(cosim_value(&reads, "spring.force[1]"), cosim_value(&plain, "spring.force[1]"), 1e-6);
    CHECK_NEAR(cosim_value(&reads, "spring.g[1]"), cosim_value(&plain, "spring.g[1]"), 1e-8);
    cosim_close(&plain);
    cosim_close(&reads);
  }
}

/* Does a law of the model say the same of two angles of the rod? */
static bool are_on_one_side(const char *text, double a, double b) {
  bench    x;
  uint64_t branch[2];
  double   q[8] = {0.0}, v[8] = {0.0};
  open_bench(&x, text);
  for (int i = 0; i < 2; ++i) {
    q[yoke_multibody_q_offset(x.mb, 0) + 2] = i == 0 ? a : b;
    branch[i]                               = x.equations.ops->branch(x.equations.self, x.work, 0.0, q, v, NULL);
  }
  close_bench(&x);
  return branch[0] == branch[1];
}

static void branch_tells_sides_of_jumps_of_laws_that_read_the_model(void **state) {
  (void)state;
  assert_false(are_on_one_side(SPRUNG("50*x + step(rod.tip.y - 0.2)"), -0.1, 0.1));
  assert_true(are_on_one_side(SPRUNG("50*x + step(rod.tip.y - 0.2)"), 0.1, 0.2));
  assert_false(are_on_one_side(SPRUNG("50*x + sign(pivot.angle)"), -0.1, 0.1));
  assert_true(are_on_one_side(SPRUNG("50*x + abs(pivot.angle) + step(t - 0.5)*rod.angle"), -0.1, 0.1));
}

static void branch_tells_sides_of_jumps_of_loads_that_read_frames(void **state) {
  (void)state;
  assert_false(are_on_one_side(ROD "[0, step(rod.tip.y - 0.2)]}}\n", -0.1, 0.1));
  assert_true(are_on_one_side(ROD "[0, step(rod.tip.y - 0.2)]}}\n", 0.1, 0.2));
}

static void the_force_of_a_law_that_reads_the_model_takes_part_in_the_balance_of_energy(void **state) {
  (void)state;
  cosim c = cosim_done_monolithic(SPRUNG("50*x*(1 + pivot.angle^2) + rod.tip.vy"), "solvers.default.rtol=1e-10", 1.0);
  assert_true(fabs(cosim_value(&c, "total.dissipated")) > 0.1);
  CHECK_NEAR(cosim_value(&c, "total.balance"), 0.0, 1e-7);
  cosim_close(&c);
}

static void f62_an_event_reads_a_frame_and_a_joint(void **state) {
  (void)state;
  cosim c = cosim_done_monolithic(
      ROD "[0, 0]}}\n"
          "events:\n"
          "  low: {when: rod.tip.y + 0.5 + 0*pivot.angle_rate, direction: falling, action: stop}\n"
          "  half: {when: pivot.angle + 0.3, set: {rod.omega: 0.5*pivot.angle_rate}}\n",
      "solvers.default.rtol=1e-10", 1.0);
  CHECK_NEAR(cosim_value(&c, "rod.tip.y"), -0.5, 1e-8);
  assert_int_equal(c.summary.n_events, 2);
  cosim_close(&c);
}

/* ---- refusals ---- */

static void refuse(const char *text, const char *part) {
  yoke_context *ctx   = NULL;
  yoke_model   *model = NULL;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_model_load_text(ctx, "test.yaml", text, strlen(text), NULL, &model), YOKE_E_MODEL);
  if (strstr(yoke_context_message(ctx, 0), part) == NULL)
    fail_msg("'%s' is not in '%s'", part, yoke_context_message(ctx, 0));
  yoke_context_destroy(&ctx);
}

static void energies_gaps_and_forces_of_elements_are_refused_in_loads(void **state) {
  static const char *const names[] = {"pivot.g[1]", "pivot.mismatch[2]", "total.energy"};
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    char text[1000], said[120];
    snprintf(said, sizeof said, "found '%s', a quantity of the model, expected positions, velocities", names[i]);
    snprintf(text, sizeof text, "%s[%s, 0]}}\n", ROD, names[i]);
    refuse(text, said);
  }
}

static void motions_laws_and_events_say_what_they_can_read(void **state) {
  (void)state;
  refuse(ROD "[0, 0]}}\nevents: {e: {when: t, set: {rod.tip.vx: 0}}}\n", "expected a state of a body");
  refuse("yoke: 1\nt_end: 1\nbodies: {a: {kind: mass1d, mass: 1}}\n"
         "connections: {s: {kind: spring-damper, between: [ground, a], law: x*s.g[1]}}\n",
         "found 's.g[1]', a quantity of the model, expected x, v, t, positions");
  refuse(
      "yoke: 1\nt_end: 1\nbodies: {a: {kind: mass1d, mass: 1}}\n"
      "connections: {s: {kind: spring-damper, between: [ground, a], stiffness: 1}}\n"
      "loads: {f: {kind: expression, on: a, force: 's.force[1]'}}\n",
      "found 's.force[1]', the force of a force element or of a flexible joint, expected a function of what its law");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(f62_the_jacobian_of_loads_that_read_frames_and_joints_is_exact),
      cmocka_unit_test(f62_a_load_that_reads_a_frame_moves_bodies_as_one_written_with_their_coordinates),
      cmocka_unit_test(f62_the_jacobian_of_laws_that_read_the_model_is_exact),
      cmocka_unit_test(the_jacobian_of_loads_and_laws_that_read_accelerations_and_forces_of_joints_is_exact),
      cmocka_unit_test(f62_a_law_that_reads_the_model_moves_bodies_as_one_of_its_deflection),
      cmocka_unit_test(branch_tells_sides_of_jumps_of_laws_that_read_the_model),
      cmocka_unit_test(branch_tells_sides_of_jumps_of_loads_that_read_frames),
      cmocka_unit_test(the_force_of_a_law_that_reads_the_model_takes_part_in_the_balance_of_energy),
      cmocka_unit_test(f62_an_event_reads_a_frame_and_a_joint),
      cmocka_unit_test(energies_gaps_and_forces_of_elements_are_refused_in_loads),
      cmocka_unit_test(motions_laws_and_events_say_what_they_can_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
