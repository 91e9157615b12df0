/* Dense output of every method, inside the steps: q'' = f(t) with a polynomial f is solved exactly as long as its degree suits the
 * method, and then dense output must be exact too, at every interior time. A single weight that is wrong shows up as an error of the
 * size of the step. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "integrate_helpers.h"

/* Q(t) = sum_k c_k t^k up to degree d, every coefficient at work; `derivative` 0, 1 or 2. */
static double polynomial(int d, double t, int derivative) {
  double sum = 0.0;
  for (int k = d; k >= derivative; --k) {
    double c = (k % 2 == 0 ? 1.0 : -1.4) / (1.0 + 0.3 * k);
    for (int i = 0; i < derivative; ++i) c *= k - i;
    sum = sum * t + c;
  }
  return sum;
}

static void polynomial_force(const toy_problem *p, double t, const double *q, const double *v, const double *u,
                             double *f, double *df_dq, double *df_dv) {
  (void)q, (void)v, (void)u;
  f[0] = polynomial((int)p->parameter, t, 2);
  if (df_dq != NULL) df_dq[0] = df_dv[0] = 0;
}

static toy_problem problem = {.n = 1, .force = polynomial_force}; /* parameter: the degree */

static void plain(yoke_equations *e) {
  toy_fill(e, &toy_plain_ops, &problem);
}
static void fused(yoke_equations *e) {
  toy_fill(e, &toy_fused_ops, &problem);
}

typedef struct method {
  const char *name;
  int         max_order; /* abm, bdf; 0: the method has one order */
  int         degree;    /* of the polynomials that the method and its dense output hit */
} method;

static const method methods[] = {
    {"dopri5", 0, 4}, {"dop853", 0, 7}, {"radau5", 0, 4}, {"genalpha", 0, 2}, {"abm", 1, 2},
    {"abm", 2, 3},    {"abm", 3, 4},    {"abm", 4, 5},    {"abm", 5, 6},      {"abm", 8, 9},
    {"bdf", 1, 1},    {"bdf", 2, 2},    {"bdf", 3, 3},    {"bdf", 4, 4},      {"bdf", 5, 5},
};
enum { N_METHODS = sizeof methods / sizeof *methods };

static void begin(toy_run *run, const method *m, void (*maker)(yoke_equations *), int degree) {
  yoke_integrator_options o  = toy_options(1e-6);
  const double            q0 = polynomial(degree, 0.0, 0), v0 = polynomial(degree, 0.0, 1);
  problem.parameter = degree;
  o.fixed_step      = strcmp(m->name, "auto") == 0 ? 0.0 : 0.125;
  o.max_order       = m->max_order;
  assert_int_equal(toy_run_begin(run, maker, m->name, &o, &q0, &v0, &yoke_signal_none), YOKE_OK);
}

static void step(toy_run *run) {
  assert_int_equal(yoke_integrator_step(run->integrator, run->scratch, run->state, &yoke_signal_none, 2.0, run->ctx),
                   YOKE_OK);
}

/* Largest errors of q and v at nine times inside every step from t = 1.5 on (multistep methods have started up) to 2. */
static void look_inside(const method *m, void (*maker)(yoke_equations *), int degree, double *error_q,
                        double *error_v) {
  toy_run run;
  begin(&run, m, maker, degree);
  *error_q = *error_v = 0.0;
  while (run.state->t < 2.0) {
    step(&run);
    for (int k = 1; k <= 9 && run.state->t > 1.5; ++k) {
      const double t = run.state->t_prev + 0.1 * k * (run.state->t - run.state->t_prev);
      double       q, v;
      yoke_integrator_interpolate(run.integrator, run.state, t, &q, &v);
      *error_q = fmax(*error_q, fabs(q - polynomial(degree, t, 0)));
      *error_v = fmax(*error_v, fabs(v - polynomial(degree, t, 1)));
    }
  }
  toy_run_end(&run);
}

/* Velocities are one derivative ahead: they are hit with positions of one degree more. Halved weights give errors above 1e-6. */
static void dense_output_hits_the_polynomials_that_its_method_hits(void **state) {
  (void)state;
  for (int i = 0; i < N_METHODS; ++i) {
    const method *m = &methods[i];
    for (int form = 0; form < 2; ++form) {
      double error_q, error_v, other;
      look_inside(m, form == 0 ? plain : fused, m->degree, &error_q, &other);
      look_inside(m, form == 0 ? plain : fused, m->degree + 1, &other, &error_v);
      if (!(error_q < 1e-10 && error_v < 1e-10))
        fail_msg("%s %d: %.3g in positions, %.3g in velocities", m->name, m->max_order, error_q, error_v);
    }
  }
}

/* ... and no others: the degrees of the table are sharp, so that every weight is at work. */
static void one_degree_more_is_not_hit(void **state) {
  (void)state;
  for (int i = 0; i < N_METHODS; ++i) {
    double error_q, error_v;
    look_inside(&methods[i], plain, methods[i].degree + 1, &error_q, &error_v);
    if (!(error_q > 1e-11))
      fail_msg("%s %d hits degree %d", methods[i].name, methods[i].max_order, methods[i].degree + 1);
  }
}

static void dense_output_of_auto_is_that_of_the_method_at_work(void **state) {
  (void)state;
  const method m = {"auto", 0, 4};
  double       error_q, error_v;
  look_inside(&m, plain, m.degree, &error_q, &error_v);
  CHECK_BELOW(error_q, 1e-10);
}

/* ---- Euler's methods with a constant force: v1 = v0 + h f, q1 = q0 + h v1 ---- */

typedef double (*inside_of)(double q0, double v1, double h, double f, double s);

/* Straight. */
static double straight(double q0, double v1, double h, double f, double s) {
  (void)f;
  return q0 + s * h * v1;
}

/* The cubic with q' = v0 and v1 at its ends: straight, and s r^2 (h v0 - h v1) with r = 1 - s. */
static double bent(double q0, double v1, double h, double f, double s) {
  return q0 + s * h * v1 - s * (1.0 - s) * (1.0 - s) * h * h * f;
}

static void check_euler(const char *name, inside_of expected) {
  const method m = {name, 0, 2};
  const double f = polynomial(m.degree, 0.0, 2);
  toy_run      run;
  begin(&run, &m, plain, m.degree);
  for (int n = 0; n < 3; ++n) {
    const double q0 = toy_run_q(&run)[0], v0 = toy_run_v(&run)[0];
    step(&run);
    const double h = run.state->t - run.state->t_prev, v1 = v0 + h * f;
    for (int k = 0; k <= 10; ++k) {
      const double s = 0.1 * k;
      double       q, v;
      yoke_integrator_interpolate(run.integrator, run.state, run.state->t_prev + s * h, &q, &v);
      CHECK_NEAR(q, expected(q0, v1, h, f, s), 1e-14);
      CHECK_NEAR(v, v0 + s * h * f, 1e-14);
    }
  }
  toy_run_end(&run);
}

static void semi_euler_is_straight_inside_a_step(void **state) {
  (void)state;
  check_euler("semi-euler", straight);
}

static void lin_implicit_euler_is_a_cubic_in_q_and_straight_in_v(void **state) {
  (void)state;
  check_euler("lin-implicit-euler", bent);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dense_output_hits_the_polynomials_that_its_method_hits),
      cmocka_unit_test(one_degree_more_is_not_hit),
      cmocka_unit_test(dense_output_of_auto_is_that_of_the_method_at_work),
      cmocka_unit_test(semi_euler_is_straight_inside_a_step),
      cmocka_unit_test(lin_implicit_euler_is_a_cubic_in_q_and_straight_in_v),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
