/* Kraft's driven chain CONV: reference, errors, and the same orders for any number of subsystems. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "../cosimulation/cosimulate.h"

static const char *const chain = "examples/chain-conv.yaml";
enum { N_MASSES = 50 };

static void positions(const cosim *c, double x[N_MASSES]) {
  for (int i = 0; i < N_MASSES; ++i) {
    char name[32];
    snprintf(name, sizeof name, "c.x[%d]", i + 1);
    x[i] = cosim_value(c, name);
  }
}

static void reference(double t, const char *more, double x[N_MASSES]) {
  char sets[COSIM_TEXT];
  snprintf(sets, sizeof sets, "solvers.default.kind=dop853;solvers.default.rtol=1e-13;solvers.default.atol=1e-13%s%s",
           more != NULL ? ";" : "", more != NULL ? more : "");
  cosim c = cosim_done_monolithic(chain, sets, t);
  positions(&c, x);
  cosim_close(&c);
}

static double largest_difference(const char *sets, double t, const double x[N_MASSES]) {
  cosim  c = cosim_done(chain, sets, t);
  double y[N_MASSES], largest = 0.0;
  positions(&c, y);
  cosim_close(&c);
  for (int i = 0; i < N_MASSES; ++i) largest = fmax(largest, fabs(y[i] - x[i]));
  return largest;
}

static void the_monolithic_chain_is_that_of_kraft_5(void **state) {
  (void)state;
  cosim c = cosim_done_monolithic(chain, "solvers.default.kind=dop853;solvers.default.rtol=1e-12", 0.04);
  CHECK_NEAR(cosim_value(&c, "c.x[1]"), 0.00951594, 1e-8);
  CHECK_NEAR(cosim_value(&c, "c.x[25]"), -1.71340611, 1e-8);
  CHECK_NEAR(cosim_value(&c, "c.x[50]"), -3.77488851, 1e-8);
  CHECK_NEAR(cosim_value(&c, "c.v[50]"), 458.265090, 1e-6);
  cosim_close(&c);
  c = cosim_done_monolithic(chain, "solvers.default.kind=dop853;solvers.default.rtol=1e-12", 0.25);
  CHECK_NEAR(cosim_value(&c, "c.x[1]"), -0.07186404, 1e-7);
  CHECK_NEAR(cosim_value(&c, "c.x[25]"), 1.65991712, 1e-7);
  CHECK_NEAR(cosim_value(&c, "c.x[50]"), -0.15940216, 1e-7);
  cosim_close(&c);
}

static void explicit_errors_are_those_of_kraft_5(void **state) {
  (void)state;
  static const struct {
    int         order;
    const char *step;
    double      error;
  } rows[] = {{2, "1e-5", 1.2e-4}, {3, "5e-6", 6.2e-7}, {0, "5e-5", 2.3e-2}};
  double x[N_MASSES];
  reference(0.04, NULL, x);
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; ++r) {
    char sets[COSIM_TEXT];
    snprintf(sets, sizeof sets,
             "cosimulation.scheme=explicit;cosimulation.start=ramp-low;cosimulation.order=%d;cosimulation.step=%s;"
             "solvers.default.rtol=1e-12;solvers.default.atol=1e-12",
             rows[r].order, rows[r].step);
    const double error = largest_difference(sets, 0.04, x);
    print_message("order %d step %s: error %.3g, printed %.2g\n", rows[r].order, rows[r].step, error, rows[r].error);
    CHECK_NEAR(error / rows[r].error, 1.0, 0.2);
  }
}

/* Orders of one scheme for 3, 10 and 50 subsystems at a time t at which the wave has passed all cuts. */
static void check_splits(const char *scheme, double t, const double steps[4], const char *more) {
  static const int n_parts[] = {3, 10, 50};
  double           x[N_MASSES];
  reference(t, more, x);
  for (int p = 0; p < 3; ++p) {
    for (int order = 0; order <= 3; ++order) {
      double error[2];
      for (int k = 0; k < 2; ++k) {
        char sets[COSIM_TEXT];
        snprintf(sets, sizeof sets,
                 "split.c=%d;cosimulation.scheme=%s;cosimulation.order=%d;cosimulation.step=%.17g;"
                 "solvers.default.kind=dop853;solvers.default.rtol=1e-12;solvers.default.atol=1e-14%s%s",
                 n_parts[p], scheme, order, steps[order] / (1 << k), more != NULL ? ";" : "", more != NULL ? more : "");
        error[k] = largest_difference(sets, t, x);
      }
      print_message("%s, %d subsystems, order %d: %.3g %.3g, order %.2f\n", scheme, n_parts[p], order, error[0],
                    error[1], log2(error[0] / error[1]));
      CHECK_ORDER(error, 2, order + 1.0, 0.3);
    }
  }
}

static void explicit_orders_do_not_depend_on_the_number_of_subsystems(void **state) {
  (void)state;
  check_splits("explicit", 0.008, (const double[]){5e-6, 4e-6, 4e-6, 2e-6}, NULL);
}

static void semi_implicit_orders_do_not_depend_on_the_number_of_subsystems(void **state) {
  (void)state;
  check_splits("semi-implicit", 0.008, (const double[]){1e-5, 1e-5, 1e-5, 8e-6}, NULL);
}

static void implicit_orders_of_the_linear_chain_do_not_depend_on_the_number_of_subsystems(void **state) {
  (void)state;
  check_splits("implicit", 0.15, (const double[]){1e-4, 1e-4, 2e-4, 4e-4}, "parameters.C=0;parameters.D=0");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_monolithic_chain_is_that_of_kraft_5),
      cmocka_unit_test(explicit_errors_are_those_of_kraft_5),
      cmocka_unit_test(explicit_orders_do_not_depend_on_the_number_of_subsystems),
      cmocka_unit_test(semi_implicit_orders_do_not_depend_on_the_number_of_subsystems),
      cmocka_unit_test(implicit_orders_of_the_linear_chain_do_not_depend_on_the_number_of_subsystems),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
