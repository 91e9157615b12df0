/* yoke converge and yoke stability from the shell. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../plot/xml.h"
#include "program.h"

static void converge_prints_errors_and_orders(void **state) {
  fixture *f = *state;
  assert_int_equal(
      yoke(f, "converge examples/two-mass.yaml --steps 1/200,1/400 --order 0,1 --csv @/c.csv --svg @/c.svg"), 0);
  assert_says(f->out, "reference  the whole model, solver exact");
  assert_says(f->out, "order 1\n");
  assert_says(f->out, "0.0025");
  assert_says(f->out, " 2.0"); /* order of the second line */
  char path[128], *svg = read_text(in_folder(f, "c.svg", path));
  xml_expect_good(svg);
  free(svg);
  free(read_text(in_folder(f, "c.csv", path)));
}

static void f63_converge_says_what_its_table_means(void **state) {
  fixture *f = *state;
  assert_answers(f, "converge examples/two-mass.yaml --steps 1/400,1/200 --order 0,1 --no-local --csv @/c.csv", 0,
                 "verdict    errors fall like H^2.0; off by 0.14 % with H = 0.0025 s, by 1 % with about 0.007 s");
  assert_says(f->out, "c.csv: the table, with all digits\n");
  assert_answers(f, "converge examples/two-mass.yaml --steps 1/200 --no-local", 0, "two steps are needed");
  assert_answers(f, "converge examples/two-mass.yaml --steps 2e-4,1e-4 --t-end 0.01 --no-local", 0,
                 "larger steps may do");
  assert_answers(f, "converge examples/double-pendulum.yaml --t-end 0.02 --order 2 --steps 4e-4,2e-4 --no-local", 0,
                 "verdict    errors do not fall any more below H = 0.0004 s");
}

static void f63_stability_says_what_its_numbers_mean(void **state) {
  fixture *f = *state;
  assert_answers(f, "stability examples/two-mass.yaml", 0, "verdict    stable: what a step is off by does not grow");
  assert_answers(f, "stability examples/two-mass.yaml --scheme explicit --step 0.1", 0,
                 "verdict    unstable: errors grow by 5.56 per step; coupling 'coupling'");
  assert_answers(f, "stability examples/two-mass.yaml --scheme explicit --limit", 0, "meaning    a limit tells where");
  assert_answers(
      f, "stability examples/two-mass.yaml --set cosimulation={} --limit", 0,
      "method     scheme semi-implicit, order 1, formulation constitutive, as a run with a fixed step has it");
  assert_answers(f, "stability two-mass --x re:-2:0:3 --y im:0:10:3 --svg @/m.svg", 0,
                 "m.svg: maps; the line is where");
}

static void converge_needs_steps_and_knows_its_words(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "converge examples/two-mass.yaml"), 2);
  assert_says(f->err, "--steps");
  assert_int_equal(yoke(f, "converge examples/two-mass.yaml --steps 1e-3,"), 2);
  assert_says(f->err, "empty word");
  assert_int_equal(yoke(f, "converge examples/two-mass.yaml --steps 1e-3 --order 1,9"), 2);
  assert_says(f->err, "unknown order '9'");
  assert_int_equal(yoke(f, "converge examples/two-mass.yaml --steps 1e-3 --index 4"), 2);
  assert_int_equal(yoke(f, "converge examples/two-mass.yaml --steps 1e-3 --reference-rtol x"), 2);
  assert_int_equal(yoke(f, "converge @/none.yaml --steps 1e-3"), 7);
  assert_int_equal(yoke(f, "converge examples/two-mass.yaml --steps abc"), 3);
  assert_int_equal(yoke(f, "converge examples/two-mass.yaml --steps 1e-2 --csv @/no/such.csv"), 7);
}

static void converge_takes_a_bad_step_for_a_mistake(void **state) {
  static const char *const bad[] = {"1/200,foo", "-1,1/100", "1/0", "1/200,0"};
  fixture                 *f     = *state;
  char                     question[160];
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    snprintf(question, sizeof question, "converge examples/two-mass.yaml --steps %s", bad[i]);
    assert_int_equal(yoke(f, question), 3);
    assert_says(f->err, "key 'cosimulation.step'");
    assert_string_equal(f->out, "");
  }
  assert_int_equal(yoke(f, "converge examples/pendulum.yaml --steps 1/100"), 2);
  assert_says(f->err, "add a section split");
  assert_string_equal(f->out, "");
}

static void converge_gives_json(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "converge examples/two-mass.yaml --steps 1/200,1/400 --no-local --json"), 0);
  assert_says(f->out, "\"global_position\"");
  assert_says(f->out, "\"local_position\": null");
}

static void stability_prints_a_radius_with_twelve_digits(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "stability two-mass --set re=-0.1 --set im=2.5 --order 1 --point"), 0);
  assert_string_equal(f->out, "1.51017686464\n");
  assert_says(f->err, "unstable");
  assert_int_equal(yoke(f, "stability two-mass --set re=-0.1 --set im=2.5 --order 0,1 --point -q"), 0);
  assert_string_equal(f->out, "0.904837418036\torder 0\n1.51017686464\torder 1\n");
}

static void stability_of_a_model_file_names_the_coupling(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "stability examples/two-mass.yaml --order 2 --limit"), 0);
  assert_says(f->out, "above it: coupling 'coupling'");
  assert_int_equal(yoke(f, "stability examples/two-mass.yaml --order 2 --step 0.09 --json"), 0);
  assert_says(f->out, "\"stable\": false");
  assert_says(f->out, "\"coupling\": \"coupling\"");
}

static void stability_draws_maps(void **state) {
  fixture *f = *state;
  char     path[128];
  assert_int_equal(
      yoke(f, "stability two-mass-rigid --formulation baumgarte --order 0,1 --case mu=0.25 --case mu=1 --x re:-2:0:9 "
              "--y im:0:2:9 --svg @/m.svg -o @/m.csv --threads 2"),
      0);
  assert_says(f->out, "of 81 points stable");
  char *svg = read_text(in_folder(f, "m.svg", path));
  xml_expect_good(svg);
  assert_says(svg, "order 1, mu=0.25");
  free(svg);
  free(read_text(in_folder(f, "m.csv", path)));
}

static void stability_refuses_what_makes_no_sense(void **state) {
  static const char *const bad[] = {"stability",
                                    "stability two-mass --x re:-2:0",
                                    "stability two-mass --x re:-2:0:ten",
                                    "stability two-mass --x re:-2:0:5:ln",
                                    "stability two-mass --point --limit",
                                    "stability two-mass --limit --x re:-2:0:5",
                                    "stability two-mass --y im:0:1:5",
                                    "stability two-mass --svg a.svg",
                                    "stability two-mass --set nothing=1",
                                    "stability two-mass --order auto",
                                    "stability examples/two-mass.yaml --step auto",
                                    "converge examples/two-mass.yaml --steps auto",
                                    "stability two-mass --scheme explicit --extension d"};
  fixture                 *f     = *state;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    assert_int_equal(yoke(f, bad[i]), 2);
    assert_says(f->err, "error: ");
  }
  assert_int_equal(yoke(f, "stability two-mas"), 2);
  assert_says(f->err, "did you mean 'two-mass'?");
  assert_int_equal(yoke(f, "stability @/none.yaml"), 7);
}

static void stability_tells_what_is_wrong_with_a_question(void **state) {
  static const struct {
    const char *question;
    int         code;
    const char *says;
  } cases[]  = {{"stability two-mass --x re:-2:0:-3", 2, "-3 points"},
                {"stability two-mass --x re:-2:0:4 --y re:-1:0:4", 2, "both axes are 're'"},
                {"stability two-mass --x step:0:1:3", 2, "expected macro steps > 0"},
                {"stability two-mass --limit --set m1=0", 2, "a mass is 0"},
                {"stability two-mass --predictor acceleration", 2, "use scheme explicit"},
                {"stability two-mass --formulation wighted", 2, "yoke help formulations"},
                {"stability two-mass-rigid --formulation weighted --scheme implicit", 2, "use scheme semi-implicit"},
                {"stability examples/two-mass.yaml --x step:-1:1:3", 2, "expected macro steps > 0"},
                {"stability examples/two-mass.yaml --x m1:1:2:3 --y parameters.m1:1:2:3", 2, "both axes are 'm1'"},
                {"stability examples/two-mass.yaml --x m1:-1:2:3", 3, "found -1, expected a mass"},
                {"stability examples/two-mass.yaml --x m3:1:2:3", 3, "expected a parameter that the model uses"},
                {"stability examples/two-mass.yaml --x bodies.m3.mass:1:2:3", 3, "bodies.m3"},
                {"stability examples/pendulum.yaml", 2, "add a section split"}};
  fixture *f = *state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    assert_int_equal(yoke(f, cases[i].question), cases[i].code);
    assert_says(f->err, cases[i].says);
  }
}

static void points_of_a_map_that_are_not_possible_are_counted(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "stability examples/two-mass.yaml --x m1:1:-2:4"), 0);
  assert_says(f->out, "1 of 4 points stable, 3 without a value");
  assert_int_equal(yoke(f, "stability two-mass --x m1:1:-2:4 --json"), 0);
  assert_says(f->out, "\"missing_points\": 3");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(converge_prints_errors_and_orders),
      TEST(f63_converge_says_what_its_table_means),
      TEST(f63_stability_says_what_its_numbers_mean),
      TEST(converge_needs_steps_and_knows_its_words),
      TEST(converge_takes_a_bad_step_for_a_mistake),
      TEST(converge_gives_json),
      TEST(stability_prints_a_radius_with_twelve_digits),
      TEST(stability_tells_what_is_wrong_with_a_question),
      TEST(points_of_a_map_that_are_not_possible_are_counted),
      TEST(stability_of_a_model_file_names_the_coupling),
      TEST(stability_draws_maps),
      TEST(stability_refuses_what_makes_no_sense),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
