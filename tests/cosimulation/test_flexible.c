/* Flexible bodies in splits: linear bodies with off-diagonal masses in Schneider's cases, and linear bodies and cables in every formulation of
 * joints and force elements against the model as a whole. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#define COSIM_PUBLISHED

#include "../check.h"
#include "cosimulate.h"

/* ---- Schneider's two masses, F a linear body ---- */

/* F: coupled and inner freedom with masses [[co, ic], [ic, in]]. */
typedef struct two_masses {
  double m_R, m_co, m_ic, m_in;
} two_masses;

static void two_mass_text(const two_masses *m, char *text, size_t size) {
  snprintf(text, size,
           "yoke: 1\n"
           "t_end: 2\n"
           "bodies:\n"
           "  r: {kind: mass1d, mass: %.17g, x: 0.1, v: 0.5}\n"
           "  f: {kind: linear, mass: [[%.17g, %.17g], [%.17g, %.17g]], stiffness: [[50, -50], [-50, 100]],\n"
           "      damping: [[0.1, -0.1], [-0.1, 0.2]], x: [0.1, -0.05], v: [0.5, -1], frames: {co: {x: 1}}}\n"
           "connections:\n"
           "  hold: {kind: spring-damper, between: [ground, r], stiffness: 100, damping: 1, free_length: 0}\n"
           "  joint: {kind: fixed, between: [r, f.co]}\n"
           "split: {R: [r], F: [f]}\n"
           "cosimulation:\n"
           "  scheme: explicit\n"
           "  order: 1\n"
           "  step: 0.01\n"
           "  joint_tolerance: 1\n"
           "  couplings: {formulation: kinematic, prescribed: F}\n"
           "solvers: {default: exact}\n",
           m->m_R, m->m_co, m->m_ic, m->m_ic, m->m_in);
}

/* x = (q1, q2, v1, v2) of the whole over t by Taylor series. */
static void exact_step(const two_masses *m, double t, double x[4]) {
  const int    n = (int)ceil(fabs(t) / 2e-3);
  const double a = m->m_R + m->m_co, b = m->m_ic, c = m->m_in, det = a * c - b * b;
  for (int step = 0; step < n; ++step) {
    double term[4], sum[4];
    memcpy(term, x, sizeof term);
    memcpy(sum, x, sizeof sum);
    for (int k = 1; k < 25; ++k) {
      const double f1      = -150.0 * term[0] + 50.0 * term[1] - 1.1 * term[2] + 0.1 * term[3];
      const double f2      = 50.0 * term[0] - 100.0 * term[1] + 0.1 * term[2] - 0.2 * term[3];
      const double next[4] = {term[2], term[3], (c * f1 - b * f2) / det, (a * f2 - b * f1) / det};
      for (int i = 0; i < 4; ++i) {
        term[i] = next[i] * (t / n) / k;
        sum[i] += term[i];
      }
    }
    memcpy(x, sum, sizeof sum);
  }
}

typedef struct deviation {
  two_masses m;
  double     x[4], t, largest;
} deviation;

static void look_at_error(void *user, double t, const double *q, const double *v) {
  deviation *d = user;
  (void)v;
  exact_step(&d->m, t - d->t, d->x);
  d->t       = t;
  d->largest = fmax(d->largest, fmax(fabs(q[0] - d->x[0]), fabs(q[2] - d->x[1])));
}

/* Largest error at macro points; infinite where the run ends early. */
static double error_of(const two_masses *m, const char *sets) {
  char      text[2048];
  cosim     c;
  deviation d = {*m, {0.1, -0.05, 0.5, -1.0}, 0.0, 0.0};
  two_mass_text(m, text, sizeof text);
  if (cosim_open(&c, text, sets) != YOKE_OK) cosim_print(c.ctx);
  assert_int_equal(c.status, YOKE_OK);
  const yoke_status status = cosim_run(&c, 0.0, look_at_error, &d);
  cosim_close(&c);
  return status == YOKE_OK ? d.largest : (double)INFINITY;
}

static void errors_of_the_two_masses_are_those_of_the_specification(void **state) {
  (void)state;
  static const struct {
    const char *sets;
    double      error[3];
  } cases[]               = {{"cosimulation.couplings.force=exact", {5.1493e-4, 1.2817e-4, 3.2015e-5}},
                             {"cosimulation.couplings.force=approximate", {4.0704e-4, 1.0185e-4, 2.5468e-5}}};
  const two_masses table1 = {5.0, 0.5, 0.0, 0.5};
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < 3; ++k) {
      char sets[200];
      snprintf(sets, sizeof sets, "%s;cosimulation.step=%g", cases[i].sets, 0.01 / (1 << k));
      assert_true(fabs(error_of(&table1, sets) / cases[i].error[k] - 1.0) < 1e-4);
    }
  }
}

static void kinematic_coupling_has_its_order_with_off_diagonal_masses(void **state) {
  (void)state;
  const two_masses  m        = {5.0, 0.5, 0.2, 0.5};
  const char *const force[3] = {"exact", "reduced", "approximate"};
  for (int i = 0; i < 3; ++i) {
    double error[3];
    for (int k = 0; k < 3; ++k) {
      char sets[200];
      snprintf(sets, sizeof sets, "cosimulation.couplings.force=%s;cosimulation.step=%g", force[i], 0.01 / (2 << k));
      error[k] = error_of(&m, sets);
    }
    CHECK_ORDER(error, 3, 2.0, 0.1);
  }
}

/* (43), (54): with approximate forces the other side must weigh 1 or 6.4641 times the effective mass M_co - M_ic^2 / M_in. */
static void the_effective_mass_decides_about_approximate_forces(void **state) {
  (void)state;
  const double threshold[2] = {1.0, 3.0 + 2.0 * sqrt(3.0)};
  for (int order = 0; order < 2; ++order) {
    for (int k = 0; k < 2; ++k) {
      two_masses m = {0.0, 0.5, 0.4, 0.5};
      char       sets[200];
      m.m_R = (k == 0 ? 0.9 : 1.1) * threshold[order] * (m.m_co - m.m_ic * m.m_ic / m.m_in);
      snprintf(sets, sizeof sets,
               "cosimulation.couplings.force=approximate;cosimulation.step=5e-4;t_end=0.2;cosimulation.order=%d",
               order);
      assert_true(k == 0 ? error_of(&m, sets) > 0.02 : error_of(&m, sets) < 0.005);
    }
  }
}

/* (41): off-diagonal masses make reduced forces unstable where exact ones are stable. */
static void reduced_forces_feel_off_diagonal_masses(void **state) {
  (void)state;
  const two_masses coupled = {0.1, 0.5, 0.45, 0.5}, apart = {0.1, 0.5, 0.0, 0.5};
  const char      *sets = "cosimulation.couplings.force=%s;cosimulation.step=5e-4;t_end=0.2;cosimulation.order=2";
  char             reduced[200], exact[200];
  snprintf(reduced, sizeof reduced, sets, "reduced");
  snprintf(exact, sizeof exact, sets, "exact");
  assert_true(error_of(&coupled, reduced) > 0.1);
  assert_true(error_of(&coupled, exact) < 1e-3);
  assert_true(error_of(&apart, reduced) < 1e-3);
}

/* ---- every formulation ---- */

/* A cable that is pinned to the ground and clamped to a ball; a linear body with a point and inner freedoms; a spring between them. */
static const char rope[] =
    "yoke: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "t_end: 0.04\n"
    "bodies:\n"
    "  rope: {kind: ancf-cable, elements: 1, from: [0, 0, 0], to: [1, 0, 0], mass: 0.5, axial_stiffness: 50,\n"
    "         bending_stiffness: 0.2, damping: 0.3}\n"
    "  ball: {kind: rigid, mass: 1, inertia: [0.01, 0.02, 0.015], position: [1.1, 0, 0], omega: [3, 0, 0],\n"
    "         frames: {hook: {at: [-0.1, 0, 0], axis: [1, 0, 0]}}}\n"
    "  beam: {kind: linear, mass: [[1, 0, 0, 0.2], [0, 1, 0, 0.1], [0, 0, 1, 0], [0.2, 0.1, 0, 0.5]],\n"
    "         stiffness: [[90, 0, 0, -40], [0, 60, 0, 0], [0, 0, 70, 0], [-40, 0, 0, 80]], x: [0.01, 0, 0, 0.02],\n"
    "         v: [0, 0.3, 0, 0], frames: {tip: {x: 1, y: 2, z: 3, at: [1.5, 0, 0]}}}\n"
    "connections:\n"
    "  pin: {kind: spherical, between: [ground, rope.a]}\n"
    "  hook: {kind: spherical, between: [ball.hook, rope.b]}\n"
    "  clamp: {kind: tangent, between: [rope.slope[2], ball.hook]}\n"
    "  rod: {kind: distance, between: [ball, beam.tip]}\n"
    "  spring: {kind: spring-damper, between: [rope.node[2], beam.tip], stiffness: 40, damping: 0.5}\n"
    "split: {one: [rope], two: [ball], three: [beam]}\n"
    "cosimulation: {scheme: implicit, order: 1, step: 1e-3}\n"
    "solvers: {default: {kind: dop853, rtol: 1e-11, atol: 1e-13}}\n";

static const char *const watched[] = {"rope.node[2].x", "rope.node[2].z", "rope.slope[1].z", "ball.z",
                                      "ball.wy",        "beam.tip.x",     "beam.tip.vy",     "beam.q[4].x"};
enum { N_WATCHED = sizeof watched / sizeof watched[0] };

static void end_of(const char *text, const char *sets, bool is_whole, int n, const char *const *names, double *z) {
  cosim c;
  if ((is_whole ? cosim_open_monolithic : cosim_open)(&c, text, sets) == YOKE_OK) cosim_run(&c, 0.0, NULL, NULL);
  if (c.status != YOKE_OK) {
    print_message("%s\n", sets);
    cosim_print(c.ctx);
  }
  assert_int_equal(c.status, YOKE_OK);
  for (int i = 0; i < n; ++i) z[i] = cosim_value(&c, names[i]);
  cosim_close(&c);
}

static void every_formulation_agrees_with_the_whole(void **state) {
  (void)state;
  static const struct {
    const char *sets;
    double      error;
  } cases[] = {
      {"", 1e-4},
      {"cosimulation.scheme=semi-implicit", 1e-4},
      {"cosimulation.couplings.formulation=stabilized-index-1", 1e-4},
      {"cosimulation.couplings.formulation=stabilized-index-2-mu;cosimulation.order=0", 2e-2},
      {"cosimulation.couplings.formulation=baumgarte", 3e-3},
      {"cosimulation.couplings.formulation=baumgarte;cosimulation.couplings.decomposition=force/displacement", 3e-3},
      {"cosimulation.couplings.formulation=baumgarte;cosimulation.couplings.rod.decomposition=force/displacement",
       3e-3},
      {"cosimulation.couplings.formulation=weighted;cosimulation.scheme=semi-implicit", 3e-3},
      {"cosimulation.couplings.formulation=projection", 1e-3},
      {"cosimulation.couplings.formulation=kinematic;cosimulation.scheme=explicit;cosimulation.joint_tolerance=1",
       2e-2},
      {"cosimulation.couplings.spring.decomposition=force/displacement", 1e-4},
      {"cosimulation.couplings.spring.decomposition=displacement/force", 1e-4},
      {"cosimulation.couplings.spring.decomposition=displacement/displacement", 1e-4},
  };
  double exact[N_WATCHED], z[N_WATCHED];
  end_of(rope, "", true, N_WATCHED, watched, exact);
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
    double largest = 0.0;
    end_of(rope, cases[k].sets, false, N_WATCHED, watched, z);
    for (int i = 0; i < N_WATCHED; ++i) largest = fmax(largest, fabs(z[i] - exact[i]));
    if (largest > cases[k].error) print_message("%s: %g\n", cases[k].sets, largest);
    assert_true(largest <= cases[k].error);
  }
}

/* A beam in space with two frames of six freedoms, and an arm that hangs on them. */
static const char beam[] =
    "yoke: 1\n"
    "t_end: 0.05\n"
    "assemble: true\n"
    "bodies:\n"
    "  beam: {kind: linear, mass: {size: 13, symmetric: true, entries: [[1, 1, 2], [2, 2, 2], [3, 3, 2], [4, 4, 0.1],\n"
    "         [5, 5, 0.2], [6, 6, 0.15], [7, 7, 1], [8, 8, 1], [9, 9, 1], [10, 10, 0.1], [11, 11, 0.2], [12, 12, "
    "0.3],\n"
    "         [13, 13, 1], [1, 7, 0.4], [2, 6, 0.1], [5, 11, 0.05], [4, 13, 0.1], [10, 13, 0.1]]},\n"
    "         stiffness: {size: 13, symmetric: true, entries: [[1, 1, 40], [2, 2, 30], [3, 3, 50], [4, 4, 4], [5, 5, "
    "3],\n"
    "         [6, 6, 5], [7, 7, 30], [8, 8, 30], [9, 9, 30], [10, 10, 4], [11, 11, 4], [12, 12, 4], [13, 13, 9],\n"
    "         [1, 5, 2], [4, 10, -1], [2, 12, 1], [6, 13, 1]]},\n"
    "         load: [0, -9, 0, 0.1, 0, 0, 0, 0, 0, 0, 0.2, 0, 0],\n"
    "         x: [0, 0, 0, 0.1, 0.2, -0.1, 0, 0, 0, 0.1, 0, 0.1, 0], v: [1, 0, 0, 1, 2, 3, 0, 0, 0, -1, 0, 1, 2],\n"
    "         frames: {a: {x: 1, y: 2, z: 3, rx: 4, ry: 5, rz: 6}, b: {x: 7, y: 8, z: 9, rx: 10, ry: 11, rz: 12, at: "
    "[1, 0, 0]}}}\n"
    "  arm: {kind: rigid, mass: 1, inertia: [0.1, 0.1, 0.1], position: [1.5, 0, 0], frames: {low: [-0.5, 0, 0]}}\n"
    "connections:\n"
    "  hinge: {kind: revolute, between: [beam.b, arm.low]}\n"
    "  hold: {kind: distance, between: [beam.a, arm]}\n"
    "  spring: {kind: bushing, between: [ground, beam.a], stiffness: [20, 30, 40, 2, 3, 4], damping: 0.1}\n"
    "split: {one: [beam], two: [arm]}\n"
    "cosimulation: {scheme: implicit, order: 1, step: 1e-3}\n"
    "solvers: {default: {kind: dop853, rtol: 1e-11, atol: 1e-13}}\n";

/* By a hinge, and held in all six; from either side. The arm has too few freedoms to follow `hold` as well: that has the standard decomposition. */
static void check_frames(const char *joint, const char *between) {
  static const char *const names[] = {"beam.a.wx", "beam.b.z", "beam.b.wy", "beam.q[13].x", "arm.y", "arm.wz"};
  static const struct {
    const char *sets;
    double      error;
  } cases[] = {
      {"", 1e-10},
      {"cosimulation.scheme=semi-implicit", 1e-10},
      {"cosimulation.couplings.formulation=stabilized-index-1", 1e-10},
      {"cosimulation.couplings.formulation=stabilized-index-2-mu;cosimulation.order=0", 1e-6},
      {"cosimulation.couplings.formulation=baumgarte", 1e-7},
      {"cosimulation.couplings.formulation=baumgarte;cosimulation.couplings.hinge.decomposition=force/displacement",
       1e-6},
      {"cosimulation.couplings.formulation=baumgarte;cosimulation.couplings.hinge.decomposition=displacement/force",
       1e-6},
      {"cosimulation.couplings.formulation=weighted;cosimulation.scheme=semi-implicit", 1e-7},
      {"cosimulation.couplings.formulation=projection", 1e-7},
      {"cosimulation.couplings.formulation=projection;cosimulation.couplings.hinge.decomposition=displacement/"
       "displacement",
       1e-6},
      {"cosimulation.couplings.formulation=kinematic;cosimulation.scheme=explicit;cosimulation.joint_tolerance=1;"
       "cosimulation.couplings.prescribed=one",
       5e-5},
  };
  enum { N_NAMES = sizeof names / sizeof names[0] };
  double exact[N_NAMES], z[N_NAMES];
  char   connection[200], sets[500];
  snprintf(connection, sizeof connection, "connections.hinge.kind=%s;connections.hinge.between=[%s]", joint, between);
  end_of(beam, connection, true, N_NAMES, names, exact);
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
    double largest = 0.0;
    snprintf(sets, sizeof sets, "%s%s%s", connection, cases[k].sets[0] != '\0' ? ";" : "", cases[k].sets);
    end_of(beam, sets, false, N_NAMES, names, z);
    for (int i = 0; i < N_NAMES; ++i) largest = fmax(largest, fabs(z[i] - exact[i]));
    if (!(largest <= cases[k].error)) fail_msg("%s: off by %g", sets, largest);
  }
}

static void hinges_at_frames_with_six_freedoms_agree_with_the_whole(void **state) {
  (void)state;
  check_frames("revolute", "beam.b, arm.low");
}

static void hinges_at_frames_with_six_freedoms_agree_with_the_whole_from_side_2(void **state) {
  (void)state;
  check_frames("revolute", "arm.low, beam.b");
}

static void fixed_frames_with_six_freedoms_agree_with_the_whole(void **state) {
  (void)state;
  check_frames("fixed", "beam.b, arm.low");
}

static void fixed_frames_with_six_freedoms_agree_with_the_whole_from_side_2(void **state) {
  (void)state;
  check_frames("fixed", "arm.low, beam.b");
}

static void solvers_agree_on_flexible_bodies(void **state) {
  (void)state;
  static const char *const kinds[] = {"dopri5", "abm", "radau5", "bdf"};
  double                   exact[N_WATCHED], z[N_WATCHED];
  end_of(rope, "", true, N_WATCHED, watched, exact);
  for (int k = 0; k < 4; ++k) {
    char sets[100];
    snprintf(sets, sizeof sets, "solvers.default.kind=%s;solvers.default.rtol=1e-9", kinds[k]);
    end_of(rope, sets, true, N_WATCHED, watched, z);
    for (int i = 0; i < N_WATCHED; ++i) assert_true(fabs(z[i] - exact[i]) < 1e-6);
  }
}

/* ---- ends that are prescribed ---- */

/* It hangs on `tug`, which swings on springs. */
#define FOLLOWS(tug, body, joint)                                                                                      \
  "yoke: 1\n"                                                                                                          \
  "gravity: [0, 0, -9.81]\n"                                                                                           \
  "t_end: 0.05\n"                                                                                                      \
  "bodies:\n"                                                                                                          \
  "  tug: {" tug ", velocity: [0.3, 0.2, 0.5]}\n"                                                                      \
  "  rope: {" body "}\n"                                                                                               \
  "connections:\n"                                                                                                     \
  "  hold: {kind: bushing, between: [ground, tug], stiffness: 500, damping: 1}\n"                                      \
  "  joint: {kind: " joint ", between: [tug, rope.a]}\n"                                                               \
  "split: {R: [tug], F: [rope]}\n"                                                                                     \
  "cosimulation: {scheme: explicit, order: 1, step: 5e-3, joint_tolerance: 1,\n"                                       \
  "               couplings: {formulation: kinematic, prescribed: F}}\n"                                               \
  "solvers: {default: {kind: dop853, rtol: 1e-12, atol: 1e-14}}\n"
#define ROD                                                                                                            \
  "kind: cosserat-rod, elements: 3, length: 1, section: {circle: 0.05}, young: 1e4, density: 1100, damping: 0.01, "    \
  "direction: [1, 0, 0]"

static void fixed_steps_converge_with_order_2_where_an_end_is_prescribed(void **state) {
  (void)state;
  static const char *const models[] = {
      FOLLOWS("kind: particle, mass: 5",
              "kind: ancf-cable, elements: 4, mass: 0.1, axial_stiffness: 40, bending_stiffness: 2e-3, damping: 0.1, "
              "from: [0, 0, 0], to: [1, 0, 0]",
              "spherical"),
      FOLLOWS("kind: particle, mass: 5", ROD, "spherical"),
      FOLLOWS("kind: rigid, mass: 5, inertia: [0.5, 0.6, 0.7], omega: [1, 2, 3]", ROD, "fixed"),
  };
  static const char *const solvers[] = {"newmark-al", "genalpha"};
  static const char *const names[]   = {"rope.b.x", "rope.b.z", "rope.b.vx", "rope.b.vz", "joint.force[3]"};
  enum { N_NAMES = sizeof names / sizeof names[0] };
  for (size_t m = 0; m < sizeof models / sizeof models[0]; ++m) {
    double exact[N_NAMES];
    end_of(models[m], "", false, N_NAMES, names, exact);
    for (int s = 0; s < 2; ++s) {
      double z[2][N_NAMES];
      for (int k = 0; k < 2; ++k) {
        char sets[100];
        snprintf(sets, sizeof sets, "solvers.F={kind: %s, step: %g}", solvers[s], 5e-4 / (1 << k));
        end_of(models[m], sets, false, N_NAMES, names, z[k]);
      }
      for (int i = 0; i < N_NAMES; ++i) {
        const double error[2] = {fabs(z[0][i] - exact[i]), fabs(z[1][i] - exact[i])};
        const double order    = log2(error[0] / error[1]);
        if (!(fabs(order - 2.0) < 0.15))
          fail_msg("model %zu, %s, %s: errors %g %g, order %g", m, solvers[s], names[i], error[0], error[1], order);
      }
    }
  }
}

/* gonzalez 4.2: 3430.613 J at the start, which stay as a whole and grow where position and force are held over macro steps. */
static void held_values_bring_energy_into_pendulum_and_cable(void **state) {
  (void)state;
  static const char *const file = "examples/pendulum-cable.yaml";
  double                   energy[2];
  for (int whole = 0; whole < 2; ++whole) {
    cosim c;
    assert_int_equal((whole ? cosim_open_monolithic : cosim_open)(&c, file, "t_end=0.3"), YOKE_OK);
    assert_true(fabs(cosim_value(&c, "total.energy") - 3430.613) < 1e-3);
    assert_int_equal(cosim_run(&c, 0.0, NULL, NULL), YOKE_OK);
    energy[whole] = cosim_value(&c, "total.energy");
    cosim_close(&c);
  }
  assert_true(fabs(energy[1] - 3430.613) < 1e-3);
  assert_true(energy[0] > energy[1] + 0.1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_of_the_two_masses_are_those_of_the_specification),
      cmocka_unit_test(kinematic_coupling_has_its_order_with_off_diagonal_masses),
      cmocka_unit_test(the_effective_mass_decides_about_approximate_forces),
      cmocka_unit_test(reduced_forces_feel_off_diagonal_masses),
      cmocka_unit_test(every_formulation_agrees_with_the_whole),
      cmocka_unit_test(hinges_at_frames_with_six_freedoms_agree_with_the_whole),
      cmocka_unit_test(hinges_at_frames_with_six_freedoms_agree_with_the_whole_from_side_2),
      cmocka_unit_test(fixed_frames_with_six_freedoms_agree_with_the_whole),
      cmocka_unit_test(fixed_frames_with_six_freedoms_agree_with_the_whole_from_side_2),
      cmocka_unit_test(solvers_agree_on_flexible_bodies),
      cmocka_unit_test(fixed_steps_converge_with_order_2_where_an_end_is_prescribed),
      cmocka_unit_test(held_values_bring_energy_into_pendulum_and_cable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
