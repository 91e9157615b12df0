/* Where cables are stable whose ends follow a mass or a multibody system: predicted limits against runs, 10 % below and above them, and critical
 * masses of runs. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "cosimulation/cables.h"
#include "linalg/lapack.h"

typedef struct limit {
  int    order_force, order_motion;
  double ratio; /* of effective masses of R and F at the joint */
} limit;

static const limit equal[] = {{0, 0, 1.0}, {1, 1, 6.464102}, {2, 2, 31.639861}}, mixed = {0, 1, 2.414214};

/* With exact forces, which are stable for all masses. */
static cable_watch stable_run(double h, int degree, const char *sets) {
  char exact[COSIM_TEXT + 100];
  snprintf(exact, sizeof exact, "%s;cosimulation.couplings.force=exact", sets);
  return cable_run("examples/cable-on-mass.yaml", 0, h, degree, degree, exact);
}

/* First and last window of the specification, 5.3. It tells no windows of runs at 2e-4 s that diverge. The last windows of runs at 2e-4 s that fade
 * are those of the motion, 48 to 58 ms from the start: 12 and 14 % above those of the prototype, which has another grid and keeps a Jacobian for ten steps. */
static void the_mass_under_a_cable_meets_the_numbers_of_the_specification(void **state) {
  (void)state;
  static const struct {
    int    degree;
    double h, below[2], above[2],
        allowed; /* 0.9 and 1.1 of the limit; 0: diverges, or is not told. Relative, of the last window above */
  } rows[] = {
      {0, 5e-5, {2.3e-5, 0.0}, {2.4e-8, 2.4e-11}, 0.05},    {1, 5e-5, {1.7e-6, 4.2e-3}, {9.2e-9, 1.4e-11}, 0.05},
      {2, 5e-5, {1.2e-7, 4.6e-5}, {2.3e-9, 1.1e-11}, 0.05}, {0, 2e-4, {0.0, 0.0}, {3.7e-7, 1.3e-5}, 0.05},
      {1, 2e-4, {0.0, 0.0}, {1.5e-7, 9.7e-10}, 0.15},       {2, 2e-4, {1.9e-6, 1.2e-3}, {3.7e-8, 3.7e-10}, 0.15}};
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; ++k) {
    for (int side = 0; side < 2; ++side) {
      const double *expected = side == 0 ? rows[k].below : rows[k].above, allowed = side == 0 ? 0.05 : rows[k].allowed;
      char          sets[COSIM_TEXT];
      snprintf(sets, sizeof sets, "parameters.ratio=%.17g",
               (side == 0 ? 0.9 : 1.1) * equal[rows[k].degree].ratio / 8.0);
      const cable_watch w =
          cable_run("examples/cable-on-mass.yaml", 0, rows[k].h, rows[k].degree, rows[k].degree, sets);
      print_message("degree %d, H = %g, %s: %.3g -> %.3g, %d steps\n", rows[k].degree, rows[k].h,
                    side == 0 ? "0.9" : "1.1", w.window[0], w.window[CABLE_WINDOWS - 1], w.n);
      if (expected[0] > 0.0) CHECK_NEAR(w.window[0], expected[0], 0.05 * expected[0]);
      if (expected[1] > 0.0)
        CHECK_NEAR(w.window[CABLE_WINDOWS - 1], expected[1], allowed * expected[1]);
      else
        assert_true(isinf(w.window[CABLE_WINDOWS - 1]));
    }
  }
}

/* ---- the limits of finite steps ---- */

/* The straight rod of the example, along itself or across: masses M v' = -K x - D v of `n` freedoms inside, D = t_v K, and what the end, which is
 * prescribed, adds: k [n] between it and them, stiffness `kk` and mass of its own. Nodes a, half, 1, 2, 3, b of docs/methods/flexible.md. */
enum { MOST_INNER = 8, END = MOST_INNER };
typedef struct rod_line {
  int    n;
  double M[MOST_INNER], K[MOST_INNER + 1][MOST_INNER + 1]; /* the last row and column: of the end */
  double end_mass;
} rod_line;

static const double pi = 3.14159265358979323846, radius = 0.005, density = 1100.0, young = 5e6, poisson = 0.5,
                    viscous_time = 0.01, edge = 0.25;

/* A strain sum of b_i x_i with stiffness c. */
static void add_strain(rod_line *rod, double c, int n, const int *at, const double *b) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      if (at[i] >= 0 && at[j] >= 0) rod->K[at[i]][at[j]] += c * b[i] * b[j];
    }
  }
}

static rod_line rod_of(bool is_across) {
  static const double span[5] = {0.5, 0.5, 1.0, 1.0, 1.0}, bend[5] = {0.5, 1.0, 1.0, 1.0, 0.5};
  static const double mass[4] = {0.5, 0.75, 1.0, 1.0}, turning[4] = {0.75, 1.0, 1.0, 0.75};
  static const int    place[6] = {-1, 0, 1, 2, 3, END}, frame[6] = {-1, 4, 5, 6, 7, -1}; /* -1: held */
  static const int    owner[5] = {4, 4, 5, 6, 7};
  const double        area = pi * radius * radius, inertia = area * radius * radius / 4.0, EA = young * area,
               GA = EA / (2.0 * (1.0 + poisson)), EI = young * inertia;
  rod_line rod = {.n = is_across ? 8 : 4, .end_mass = density * area * edge / 2.0};
  for (int i = 0; i < 4; ++i) rod.M[i] = density * area * edge * mass[i];
  for (int i = 0; i < 4; ++i) rod.M[4 + i] = density * inertia * edge * turning[i];
  for (int e = 0; e < 5; ++e) {
    const double l = edge * span[e], k = edge * bend[e];
    const int    stretch[3] = {place[e], place[e + 1], owner[e]}, turn[2] = {frame[e], frame[e + 1]};
    if (is_across) {
      add_strain(&rod, l * GA, 3, stretch, (const double[]){-1.0 / l, 1.0 / l, -1.0});
      add_strain(&rod, k * EI, 2, turn, (const double[]){-1.0 / k, 1.0 / k});
    } else {
      add_strain(&rod, l * EA, 2, stretch, (const double[]){-1.0 / l, 1.0 / l});
    }
  }
  return rod;
}

/* What is exchanged, newest first. */
typedef struct chain_state {
  double q, v;                    /* of the mass */
  double lambda[3], motion[3][3]; /* [point of the past][q, v, a] */
  double x[MOST_INNER], dx[MOST_INNER];
} chain_state;

static double ahead(int degree, const double *past, int stride, double sigma) {
  const double u0 = past[0], u1 = past[stride], u2 = past[2 * stride];
  if (degree == 0) return u0;
  if (degree == 1) return (1.0 + sigma) * u0 - sigma * u1;
  return (1.0 + 1.5 * sigma + 0.5 * sigma * sigma) * u0 - (2.0 * sigma + sigma * sigma) * u1 +
         0.5 * (sigma + sigma * sigma) * u2;
}

static double mass_acceleration(double m, double q, double v, double lambda) {
  return (-20.0 * q - 0.2 * v - lambda) / m;
}

/* Runge-Kutta steps of the mass over H under the extrapolated force. */
static void move_mass(double m, double H, int degree, chain_state *s) {
  enum { N = 8 };
  const double h = H / N;
  for (int i = 0; i < N; ++i) {
    double k[4][2], q = s->q, v = s->v;
    for (int stage = 0; stage < 4; ++stage) {
      const double part = stage == 0 ? 0.0 : stage == 3 ? 1.0 : 0.5, last = stage > 0 ? part * h : 0.0;
      if (stage > 0) {
        q = s->q + last * k[stage - 1][0];
        v = s->v + last * k[stage - 1][1];
      }
      k[stage][0] = v;
      k[stage][1] = mass_acceleration(m, q, v, ahead(degree, s->lambda, 1, (i + part) / N));
    }
    s->q += h / 6.0 * (k[0][0] + 2.0 * k[1][0] + 2.0 * k[2][0] + k[3][0]);
    s->v += h / 6.0 * (k[0][1] + 2.0 * k[1][1] + 2.0 * k[2][1] + k[3][1]);
  }
}

/* One macro step: the mass exactly, the rod by the linearly implicit Euler method with the inputs of the end. */
static void macro_step(const rod_line *rod, double m, double H, int r, int s_degree, chain_state *s) {
  const int    n   = rod->n;
  const double q_r = ahead(s_degree, &s->motion[0][0], 3, 1.0), v_r = ahead(s_degree, &s->motion[0][1], 3, 1.0),
               a_r = ahead(s_degree, &s->motion[0][2], 3, 1.0), lambda = ahead(r, s->lambda, 1, 1.0);
  double     A[MOST_INNER * MOST_INNER], b[MOST_INNER], force;
  lapack_int pivot[MOST_INNER];
  for (int i = 0; i < n; ++i) { /* (M + H D + H^2 K) dv = H (f(x, v) - H K v) */
    b[i] = -H * rod->K[i][END] * (q_r + viscous_time * v_r);
    for (int j = 0; j < n; ++j) {
      A[n * j + i] = (i == j ? rod->M[i] : 0.0) + (H * viscous_time + H * H) * rod->K[i][j];
      b[i] -= H * rod->K[i][j] * (s->x[j] + (viscous_time + H) * s->dx[j]);
    }
  }
  move_mass(m, H, r, s);
  assert_int_equal(lapack_dgesv(n, 1, A, n, pivot, b, n), 0);
  force = rod->end_mass * a_r + rod->K[END][END] * (q_r + viscous_time * v_r);
  for (int i = 0; i < n; ++i) {
    s->dx[i] += b[i];
    s->x[i] += H * s->dx[i];
    force += rod->K[END][i] * (s->x[i] + viscous_time * s->dx[i]);
  }
  for (int i = n; i < MOST_INNER; ++i) s->x[i] = s->dx[i] = 0.0;
  for (int p = 2; p > 0; --p) {
    s->lambda[p] = s->lambda[p - 1];
    memcpy(s->motion[p], s->motion[p - 1], sizeof s->motion[p]);
  }
  s->lambda[0]    = force;
  s->motion[0][0] = s->q;
  s->motion[0][1] = s->v;
  s->motion[0][2] = mass_acceleration(m, s->q, s->v, lambda);
}

/* Spectral radius of the macro step. */
static double step_radius(const rod_line *rod, double m, double H, int r, int s_degree) {
  enum { N = sizeof(chain_state) / sizeof(double) };
  static double S[N * N]; /* not reentrant, which a test need not be */
  double        re[N], im[N], unused[1], work[8 * N], largest = 0.0;
  for (int k = 0; k < N; ++k) {
    double      column[N] = {0.0};
    chain_state s;
    column[k] = 1.0;
    memcpy(&s, column, sizeof s);
    macro_step(rod, m, H, r, s_degree, &s);
    memcpy(S + N * k, &s, sizeof s);
  }
  assert_int_equal(lapack_dgeev_work('N', 'N', N, S, N, re, im, unused, 1, unused, 1, work, 8 * N), 0);
  for (int k = 0; k < N; ++k) largest = fmax(largest, hypot(re[k], im[k]));
  return largest;
}

static const double cable_mass = 1100.0 * 3.14159265358979323846 * 0.005 * 0.005;

static bool is_unstable_as_predicted(double ratio, double H, int degree) {
  for (int across = 0; across < 2; ++across) {
    const rod_line rod = rod_of(across == 1);
    if (step_radius(&rod, ratio * cable_mass, H, degree, degree) > 1.0) return true;
  }
  return false;
}

/* Third differences grow from the last window but one to the last, and are not those of the motion. */
static bool is_unstable_as_observed(double ratio, double H, int degree) {
  char sets[COSIM_TEXT];
  snprintf(sets, sizeof sets, "parameters.ratio=%.17g", ratio);
  const cable_watch w = cable_run("examples/cable-on-mass.yaml", 0, H, degree, degree, sets);
  if (w.window[CABLE_WINDOWS - 1] < w.window[CABLE_WINDOWS - 2]) return false;
  const cable_watch stable = stable_run(H, degree, sets);
  return cable_excess(&w, &stable) > 1.1;
}

/* Mass at the end of the cable, in cables, between half of the limit for short steps and twice as much. */
static double critical_ratio(bool (*is_unstable)(double ratio, double H, int degree), double H, int degree) {
  double low = 0.5 * equal[degree].ratio / 8.0, high = 4.0 * low;
  assert_true(is_unstable(low, H, degree) && !is_unstable(high, H, degree));
  for (int k = 0; k < 11; ++k) {
    const double middle                              = sqrt(low * high);
    *(is_unstable(middle, H, degree) ? &low : &high) = middle;
  }
  return sqrt(low * high);
}

/* Predicted: for steps of this length. The limit of short steps, 1/8, 6.464/8, 31.64/8, is that of all but 2e-4 s with constant values. */
static void critical_masses_under_a_cable_are_those_that_are_predicted(void **state) {
  (void)state;
  static const double steps[] = {5e-5, 2e-4};
  for (int i = 0; i < 2; ++i) {
    for (int degree = 0; degree < 3; ++degree) {
      const double short_steps = equal[degree].ratio / 8.0,
                   predicted   = critical_ratio(is_unstable_as_predicted, steps[i], degree),
                   observed    = critical_ratio(is_unstable_as_observed, steps[i], degree);
      print_message("H = %g, degree %d: short steps %.4f, predicted %.4f, observed %.4f\n", steps[i], degree,
                    short_steps, predicted, observed);
      CHECK_NEAR(observed / predicted, 1.0, 0.05);
      if (i == 0 || degree > 0) CHECK_NEAR(observed / short_steps, 1.0, 0.1);
    }
  }
}

/* Just above the limit for constant values 2e-4 s is too long a step, which the limit for short ones does not tell. */
static void longer_steps_are_another_limit(void **state) {
  (void)state;
  const cable_watch near  = cable_run("examples/cable-on-mass.yaml", 0, 2e-4, 0, 0, "parameters.ratio=1.1/8"),
                    above = cable_run("examples/cable-on-mass.yaml", 0, 2e-4, 0, 0, "parameters.ratio=1.5/8");
  assert_true(cable_growth(&near) > 10.0);
  CHECK_BELOW(above.window[CABLE_WINDOWS - 1], 1e-8);
}

/* ---- the multibody system ---- */

/* Third differences of the last window beside those of exact forces, which are stable for all masses: of the motion alone above the limit. */
static double excess_of(const limit *at, double h, double scale, int elements) {
  char sets[COSIM_TEXT], exact[COSIM_TEXT + 100];
  snprintf(sets, sizeof sets, "parameters.elements=%d;parameters.scale=%.17g", elements, scale);
  snprintf(exact, sizeof exact, "%s;cosimulation.couplings.force=exact", sets);
  const cable_watch w      = cable_run("examples/cable-in-mbs.yaml", 14, h, at->order_force, at->order_motion, sets),
                    stable = cable_run("examples/cable-in-mbs.yaml", 14, h, at->order_force, at->order_motion, exact);
  const double excess      = cable_excess(&w, &stable);
  print_message("H = %g, degrees %d %d, %d elements, scale %.4f: %.4g of exact forces, which grow by %.3g\n", h,
                at->order_force, at->order_motion, elements, scale, excess, cable_growth(&stable));
  return excess;
}

/* The ratio at the clamp is 5.5003 times the scale of the masses. */
static void the_cable_in_the_multibody_system_is_stable_where_it_is_predicted(void **state) {
  (void)state;
  static const double steps[] = {5e-5, 2e-5};
  for (int s = 0; s < 2; ++s) {
    for (int k = 0; k < 4; ++k) {
      const limit *at    = k < 3 ? &equal[k] : &mixed;
      const double below = excess_of(at, steps[s], 0.9 * at->ratio / 5.5003, 4),
                   above = excess_of(at, steps[s], 1.1 * at->ratio / 5.5003, 4);
      if (!(below > 100.0 && above < 1.1))
        fail_msg("h = %g, orders %d and %d: %g below and %g above the limit", steps[s], at->order_force,
                 at->order_motion, below, above);
    }
  }
}

/* The source's own figures: of quadratic values the limit is at a system of 4 cables, of constant ones it is very small, and 7 cables run. It does
 * not tell its number of elements, on which limits depend as 1/N: with 40 the ratio at the clamp is 55.00 times the scale, and the limits are
 * 0.13, 0.82 and 4.03 cables (the system weighs 7.0 times the scale). */
static void forty_elements_have_the_limits_of_the_source(void **state) {
  (void)state;
  static const double cables = 0.605 / 0.0863938;
  CHECK_NEAR(cables * equal[2].ratio / 55.003, 4.0, 0.05);
  for (int k = 0; k < 3; ++k) {
    const double scale = equal[k].ratio / 55.003;
    assert_true(excess_of(&equal[k], 5e-7, 0.9 * scale, 40) > 100.0);
    assert_true(excess_of(&equal[k], 5e-7, 1.1 * scale, 40) < 1.1);
    assert_true(excess_of(&equal[k], 5e-7, 1.0, 40) < 1.1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_mass_under_a_cable_meets_the_numbers_of_the_specification),
      cmocka_unit_test(critical_masses_under_a_cable_are_those_that_are_predicted),
      cmocka_unit_test(longer_steps_are_another_limit),
      cmocka_unit_test(the_cable_in_the_multibody_system_is_stable_where_it_is_predicted),
      cmocka_unit_test(forty_elements_have_the_limits_of_the_source),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
