/* Names of quantities: help and page come from one list, and the program shows what users wrote. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "program.h"
#include <yoke/yoke.h>

/* Rows of the table of names in the page: lines that begin with a bar, behind the two of its head. */
static char *page_table(int *n_rows) {
  char *page = read_text("docs/model-file.md");
  char *at   = strstr(page, "| of | names | unit | | meaning |\n");
  assert_non_null(at);
  char *end = strstr(at, "\n\n");
  assert_non_null(end);
  end[1]  = '\0';
  *n_rows = -2;
  for (const char *p = at; *p != '\0'; ++p) *n_rows += *p == '\n';
  memmove(page, at, strlen(at) + 1);
  return page;
}

static void f62_help_and_page_list_the_same_quantities(void **state) {
  fixture    *f      = *state;
  const char *object = "";
  int         n_rows;
  char       *table = page_table(&n_rows);
  assert_int_equal(yoke(f, "help outputs"), 0);
  assert_int_equal(n_rows, yoke_n_quantities());
  for (int i = 0; i < yoke_n_quantities(); ++i) {
    yoke_quantity_facts q = {.size = sizeof q};
    char                row[400];
    (void)yoke_quantity_describe(i, &q);
    const char *shown = strcmp(object, q.object) != 0 ? q.object : "";
    object            = q.object;
    snprintf(row, sizeof row, "| %s | `%s` | %s | %s | %s |\n", shown, q.names, q.unit, q.is_asked_for ? "+" : "",
             q.help);
    assert_says(table, row);
    snprintf(row, sizeof row, "  %-11s %c %-21s %-12s %s\n", shown, q.is_asked_for ? '+' : ' ', q.names, q.unit,
             q.help);
    assert_says(f->out, row);
  }
  free(table);
}

/* Every name of the list is shown by an object of its kind. */
static void every_quantity_of_the_list_exists(void **state) {
  fixture *f = *state;
  char     path[128];
  write_text(in_folder(f, "m.yaml", path),
             "yoke: 1\nt_end: 0.1\nbodies:\n"
             "  rigid: {kind: rigid, mass: 1, inertia: [1, 1, 1]}\n  planar: {kind: planar, mass: 1, inertia: 1}\n"
             "  particle: {kind: particle, mass: 1}\n  mass1d: {kind: mass1d, mass: 1}\n"
             "  chain: {kind: chain, n: 2, mass: 1}\n"
             "connections:\n"
             "  joint: {kind: cylindrical, between: [ground, rigid]}\n"
             "  connection: {kind: spherical, between: [rigid, particle]}\n"
             "split: {a: [rigid, planar, mass1d, chain], b: [particle]}\n"
             "cosimulation: {step: 0.01, energy: monitor}\n");
  char arguments[3500] = "run @/m.yaml --print rigid.x";
  for (int i = 0; i < yoke_n_quantities(); ++i) {
    yoke_quantity_facts q = {.size = sizeof q};
    char                names[80];
    (void)yoke_quantity_describe(i, &q);
    if (strncmp(q.names, "force_mean", 10) == 0) continue; /* with inner nodes only */
    snprintf(names, sizeof names, "%s", q.names);
    for (char *name = strtok(names, " "); name != NULL; name = strtok(NULL, " ")) {
      char *number = strpbrk(name, "[");
      if (number != NULL) number[1] = '1';
      const size_t used = strlen(arguments);
      snprintf(arguments + used, sizeof arguments - used, ",%s%s.%s", q.object,
               strcmp(q.object, "subsystem") == 0 ? ".a" : "", name);
    }
  }
  assert_true(strlen(arguments) + 1 < sizeof arguments);
  if (yoke(f, arguments) != 0) fail_msg("%s", f->err);
}

static void info_and_results_tell_what_users_say_of_their_outputs(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "info examples/robot-arm.yaml --all"), 0);
  assert_says(f->out, "power  W  what the motor of the shoulder gives\n");
  assert_int_equal(yoke(f, "info examples/robot-arm.yaml --json"), 0);
  assert_says(f->out, "\"description\": \"of the tip of the forearm\"");
  if (!yoke_has_hdf5()) return;
  assert_int_equal(yoke(f, "run examples/robot-arm.yaml --t-end 0.02 -o @/a.h5"), 0);
  assert_int_equal(yoke(f, "info @/a.h5 --all"), 0);
  assert_says(f->out, "tip_speed  m/s\n");
}

static void forces_and_violations_have_the_units_of_their_rows(void **state) {
  static const char *const expected[] = {"weld.force[3]  N\n",     "weld.force[4]  N m\n",  "weld.g[3]  m\n",
                                         "weld.g[4]  1\n",         "motor.force[6]  N m\n", "motor.g[6]  rad\n",
                                         "coil.force[1]  N m\n",   "coil.g[1]  rad\n",      "rubber.force[3]  N\n",
                                         "rubber.force[4]  N m\n", "rubber.g[4]  rad\n",    "spring.force[1]  N\n"};
  fixture                 *f          = *state;
  char                     path[128];
  write_text(in_folder(f, "m.yaml", path),
             "yoke: 1\nt_end: 1\nbodies:\n  a: {kind: rigid, mass: 1, inertia: [1, 1, 1]}\n"
             "  b: {kind: rigid, mass: 1, inertia: [1, 1, 1]}\n  c: {kind: rigid, mass: 1, inertia: [1, 1, 1]}\n"
             "connections:\n  weld: {kind: fixed, between: [a, b]}\n"
             "  motor: {kind: revolute, between: [ground, a], motion: t}\n"
             "  coil: {kind: torsion-spring, between: [b, c], stiffness: 1}\n"
             "  rubber: {kind: bushing, between: [b, c], stiffness: 1}\n"
             "  spring: {kind: spring-damper, between: [[1, 0, 0], c], stiffness: 1}\n");
  assert_int_equal(yoke(f, "info @/m.yaml --all"), 0);
  for (size_t i = 0; i < sizeof expected / sizeof *expected; ++i) assert_says(f->out, expected[i]);
}

static void an_output_can_be_written_on_the_command_line(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run examples/double-pendulum.yaml --monolithic --t-end 0.1 --set outputs.double=2*t "
                           "--print double"),
                   0);
  assert_string_equal(f->out, "double 0.20000000000000001\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(f62_help_and_page_list_the_same_quantities),
      TEST(every_quantity_of_the_list_exists),
      TEST(info_and_results_tell_what_users_say_of_their_outputs),
      TEST(forces_and_violations_have_the_units_of_their_rows),
      TEST(an_output_can_be_written_on_the_command_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
