/* yoke plot: curves of results as SVG, as a page, and as letters. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <sys/stat.h>

#include "program.h"
#include "../plot/xml.h"
#include <math.h>

static int count(const char *text, const char *part) {
  int n = 0;
  for (const char *at = strstr(text, part); at; at = strstr(at + 1, part)) ++n;
  return n;
}

static char *picture(fixture *f, const char *name) {
  char path[128];
  return read_text(in_folder(f, name, path));
}

/* A quick run is enough to be drawn: large steps instead of controlled ones. */
#define PENDULUM "run examples/double-pendulum.yaml -q --set cosimulation.step=1e-2 "

static void run_pendulum(fixture *f) {
  assert_int_equal(yoke(f, PENDULUM "-o @/a.h5"), 0);
}

/* Positions and angles are two panels, and every name is in the picture once. */
static void quantities_of_one_unit_share_a_panel(void **state) {
  fixture *f = *state;
  run_pendulum(f);
  assert_int_equal(yoke(f, "plot @/a.h5 upper.x lower.y upper.angle -o @/a.svg"), 0);
  char *svg = picture(f, "a.svg");
  xml_expect_good(svg);
  assert_int_equal(count(svg, "<clipPath"), 2);
  assert_int_equal(count(svg, ">upper.x</text>"), 1);
  assert_int_equal(count(svg, ">position [m]</text>"), 1);
  assert_int_equal(count(svg, ">upper.angle [rad]</text>"), 1);
  assert_int_equal(count(svg, ">t [s]</text>"), 1);
  free(svg);
}

static void patterns_and_several_results_lie_over_each_other(void **state) {
  fixture *f = *state;
  run_pendulum(f);
  assert_int_equal(yoke(f, "run examples/double-pendulum.yaml --monolithic -q --csv @/b.csv"), 0);
  assert_int_equal(yoke(f, "plot @/a.h5 @/b.csv 'upper.?' -o @/a.svg"), 0);
  char *svg = picture(f, "a.svg");
  assert_int_equal(count(svg, ">upper.x (a.h5)</text>"), 1);
  assert_int_equal(count(svg, ">upper.y (b.csv)</text>"), 1);
  free(svg);
}

static void a_quantity_may_be_the_abscissa(void **state) {
  fixture *f = *state;
  run_pendulum(f);
  assert_int_equal(yoke(f, "plot @/a.h5 lower.y -x lower.x --from 0.5 --to 1 -o @/a.html"), 0);
  char *page = picture(f, "a.html");
  assert_non_null(strstr(page, "<!DOCTYPE html>"));
  assert_int_equal(count(page, ">lower.x [m]</text>"), 1);
  assert_null(strstr(page, "<?xml"));
  free(page);
}

static void macro_steps_are_drawn(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run examples/slider-crank.yaml --step auto -q -o @/a.h5"), 0);
  assert_int_equal(yoke(f, "plot @/a.h5 --macro -o @/a.svg"), 0);
  char *svg = picture(f, "a.svg");
  assert_int_equal(count(svg, ">macro step [s]</text>"), 1);
  assert_int_equal(count(svg, ">error / tolerance</text>"), 1);
  free(svg);
  assert_int_equal(yoke(f, "run examples/pendulum.yaml -q -o @/b.h5"), 0);
  assert_int_equal(yoke(f, "plot @/b.h5 --macro -o @/b.svg"), 2);
  assert_non_null(strstr(f->err, "no macro steps"));
}

/* A box that bounces, and a load in it: three bounces end macro steps. Writes a.h5. */
static void run_bouncing(fixture *f) {
  char path[128];
  write_text(in_folder(f, "m.yaml", path),
             "yoke: 1\ngravity: [-9.81, 0, 0]\nt_end: 0.8\nbodies:\n  box: {kind: mass1d, mass: 2, x: 0.5}\n"
             "  load: {kind: mass1d, mass: 1, x: 0.6}\nconnections:\n"
             "  spring: {kind: spring-damper, between: [box, load], stiffness: 500, damping: 4, free_length: 0.1}\n"
             "events:\n  bounce: {when: box.x, direction: falling, set: {box.v: -0.9*box.v}}\n"
             "split: {box: [box], load: [load]}\noutput: {every: 0.01}\n");
  assert_int_equal(yoke(f, "run @/m.yaml -q -o @/a.h5"), 0);
}

/* Degrees and trials are whole numbers: no mark stands between them. */
static void rejected_trials_are_drawn_by_their_reasons(void **state) {
  fixture *f = *state;
  run_bouncing(f);
  assert_int_equal(yoke(f, "plot @/a.h5 --macro -o @/a.svg"), 0);
  char *svg = picture(f, "a.svg");
  xml_expect_good(svg);
  assert_int_equal(count(svg, ">rejected (event)</text>"), 1);
  assert_int_equal(count(svg, ">rejected (gap)") + count(svg, ">rejected (non-finite)"), 0); /* never happened */
  assert_int_equal(count(svg, ">1.5</text>") + count(svg, ">2.5</text>"), 0);
  free(svg);
}

static void macro_points_and_events_are_marked_on_wish(void **state) {
  fixture *f = *state;
  run_bouncing(f);
  assert_int_equal(yoke(f, "plot @/a.h5 box.x box.v -o @/plain.svg"), 0);
  char *svg = picture(f, "plain.svg");
  assert_int_equal(count(svg, "class=\"points\"") + count(svg, "class=\"events\""), 0);
  free(svg);
  assert_int_equal(yoke(f, "plot @/a.h5 box.x box.v --points --events -o @/a.svg"), 0);
  svg = picture(f, "a.svg");
  xml_expect_good(svg);
  assert_int_equal(count(svg, "class=\"points\""), 2); /* in both panels */
  assert_int_equal(count(svg, "class=\"events\""), 2);
  int n_lines = 0;
  for (const char *c = strstr(svg, "class=\"events\""); *c != '>'; ++c) n_lines += *c == 'M';
  assert_int_equal(n_lines, 3);
  free(svg);
  assert_int_equal(yoke(f, "plot @/a.h5 box.x -x box.v --points -o @/a.svg"), 2);
  assert_says(f->err, "over time only");
  assert_int_equal(yoke(f, "run examples/pendulum.yaml -q -o @/b.h5"), 0);
  assert_int_equal(yoke(f, "plot @/b.h5 --points -o @/b.svg"), 2);
  assert_says(f->err, "no macro points");
}

/* 300 000 samples of a fast sine that is 7 high at one of them: the picture stays small and shows it. */
static void long_curves_keep_their_peaks_and_stay_small(void **state) {
  fixture *f = *state;
  char     path[128];
  FILE    *file = fopen(in_folder(f, "long.csv", path), "w");
  assert_non_null(file);
  fputs("time,x\n", file);
  for (int i = 0; i < 300000; ++i) fprintf(file, "%d,%.6g\n", i, i == 123456 ? 7.0 : sin(0.1 * i));
  assert_int_equal(fclose(file), 0);
  assert_int_equal(yoke(f, "plot @/long.csv -o @/a.svg"), 0);
  char *svg = picture(f, "a.svg");
  assert_true(strlen(svg) < 1000000);
  assert_int_equal(count(svg, ">8</text>"), 1); /* the ordinate reaches it */
  free(svg);
}

static void a_terminal_shows_letters(void **state) {
  fixture *f = *state;
  run_pendulum(f);
  assert_int_equal(yoke(f, "plot @/a.h5 upper.x"), 0);
  assert_non_null(strstr(f->out, "upper.x [m]"));
  assert_non_null(strstr(f->out, "****"));
  for (const char *line = f->out; *line; line = strchr(line, '\n') + 1) assert_true(strcspn(line, "\n") <= 80);
}

static void mistakes_are_named(void **state) {
  fixture *f = *state;
  run_pendulum(f);
  assert_int_equal(yoke(f, "plot @/a.h5 uper.x"), 2);
  assert_non_null(strstr(f->err, "did you mean 'upper.x'?"));
  assert_int_equal(yoke(f, "plot @/none.h5"), 2);
  assert_non_null(strstr(f->err, "there is no file"));
  assert_int_equal(yoke(f, "plot @/a.h5 upper.x -o @/a.bmp"), 2);
  assert_non_null(strstr(f->err, "neither .svg nor .html nor .png"));
  assert_int_equal(yoke(f, "plot examples/pendulum.yaml"), 7);
}

/* A converter of our own in PATH, a script: it gets the picture and its output is the file. */
static void dots_are_drawn_by_the_converter_of_the_machine(void **state) {
  fixture *f = *state;
  char     folder[128], script[128], png[128], before[4000], with[4400];
  run_pendulum(f);
  snprintf(before, sizeof before, "%s", getenv("PATH"));
  setenv("PATH", "/nowhere", 1);
  const int without = yoke(f, "plot @/a.h5 upper.x -o @/a.png");
  setenv("PATH", before, 1);
  assert_int_equal(without, 2);
  assert_says(f->err, "needs the program rsvg-convert, which is not in PATH (Debian: package librsvg2-bin)");
  in_folder(f, "rsvg-convert", script);
  write_text(script, "#!/bin/sh\necho \"$@\"\ngrep -c '<svg'\n");
  assert_int_equal(chmod(script, 0755), 0);
  in_folder(f, "", folder);
  snprintf(with, sizeof with, "%s:%s", folder, before);
  setenv("PATH", with, 1);
  const int drawn = yoke(f, "plot @/a.h5 upper.x -o @/a.png");
  write_text(script, "#!/bin/sh\nexit 3\n");
  const int failed = yoke(f, "plot @/a.h5 upper.x -o @/a.png");
  setenv("PATH", before, 1);
  assert_int_equal(drawn, 0);
  char *text = read_text(in_folder(f, "a.png", png));
  assert_string_equal(text, "--format=png --zoom=2\n1\n"); /* the failure has left it alone */
  free(text);
  assert_int_equal(failed, 7);
  assert_says(f->err, "rsvg-convert ended with exit code 3");
}

/* Two bars, a joint between them that is cut, two supports. */
static void mechanisms_are_drawn_and_move(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run examples/slider-crank.yaml -q -o @/a.h5"), 0);
  assert_int_equal(yoke(f, "plot @/a.h5 --mechanism --times 0,0.3 -o @/a.svg"), 0);
  char *svg = picture(f, "a.svg");
  xml_expect_good(svg);
  assert_int_equal(count(svg, "#d00000"), 3); /* the coupling at two times, and in the legend */
  assert_int_equal(count(svg, ">t = 0 (pale), 0.3 s (dark)</text>"), 1);
  assert_int_equal(count(svg, "l-6 9h12z"), 4);
  assert_int_equal(count(svg, ">oscillating slider crank</text>"), 1);
  free(svg);
  assert_int_equal(yoke(f, "plot @/a.h5 --animate -o @/b.svg"), 0);
  svg = picture(f, "b.svg");
  xml_expect_good(svg);
  assert_true(count(svg, "<animate ") >= 6);
  free(svg);
}

/* Those with bodies in the plane or in space: their results hold what a drawing needs. */
static void what_new_writes_can_be_drawn(void **state) {
  static const char *const templates[] = {"pendulum", "mechanism", "controller", "cable"};
  fixture                 *f           = *state;
  for (size_t i = 0; i < sizeof templates / sizeof *templates; ++i) {
    char text[200];
    snprintf(text, sizeof text, "new @/%s --template %s", templates[i], templates[i]);
    assert_int_equal(yoke(f, text), 0);
    snprintf(text, sizeof text, "run @/%s.yaml --t-end 0.02 -q -o @/a.h5", templates[i]);
    assert_int_equal(yoke(f, text), 0);
    assert_int_equal(yoke(f, "plot @/a.h5 --mechanism -o @/a.svg"), 0);
  }
}

/* Seven elements and nothing else but the support. */
static void a_rod_is_drawn_as_a_line(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run bench/flexible/rod.yaml -q --set parameters.N=6 --t-end 0.01 -o @/a.h5"), 0);
  assert_int_equal(yoke(f, "plot @/a.h5 --mechanism --times 0.01 -o @/a.svg"), 0);
  char *svg = picture(f, "a.svg");
  xml_expect_good(svg);
  assert_int_equal(count(svg, "stroke-width=\"3.5\""), 7);
  assert_int_equal(count(svg, "l-6 9h12z"), 1);
  free(svg);
}

static void what_cannot_be_drawn_is_named(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run examples/two-mass.yaml -q -o @/line.h5"), 0);
  assert_int_not_equal(yoke(f, "plot @/line.h5 --mechanism -o @/a.svg"), 0);
  assert_non_null(strstr(f->err, "no body in a plane or in space"));
  assert_int_equal(yoke(f, PENDULUM "--set output.select=[upper.x] -o @/some.h5"), 0);
  assert_int_not_equal(yoke(f, "plot @/some.h5 --mechanism -o @/a.svg"), 0);
  assert_non_null(strstr(f->err, "does not hold 'upper.y'"));
  assert_int_equal(yoke(f, PENDULUM "--csv @/c.csv"), 0);
  assert_int_not_equal(yoke(f, "plot @/c.csv --mechanism -o @/a.svg"), 0);
  assert_non_null(strstr(f->err, "does not hold its model"));
  assert_int_equal(yoke(f, "plot @/line.h5 --mechanism"), 2);
  assert_int_equal(yoke(f, "plot @/line.h5 --times 1"), 2);
}

static void the_demo_tells_good_from_naive_coupling(void **state) {
  fixture *f = *state;
  char     command[9000], here[4096], path[128];
  assert_non_null(getcwd(here, sizeof here));
  const char *root = program()[0] == '/' ? "" : here;
  snprintf(command, sizeof command, "cd '%s' && '%s/scripts/demo' '%s%s%s' > out", f->folder, here, root,
           *root ? "/" : "", program());
  assert_int_equal(system(command), 0);
  char *text = read_text(in_folder(f, "out", path));
  assert_non_null(strstr(text, "blows up: stopped at t = 0."));
  assert_non_null(strstr(text, "without settings:  off by "));
  assert_true(strtod(strstr(text, "without settings:  off by ") + 26, NULL) < 1e-5);
  free(text);
  assert_int_equal(access(in_folder(f, "demo.html", path), F_OK), 0);
}

static void a_run_draws_what_it_prints(void **state) {
  fixture *f = *state;
  assert_int_equal(yoke(f, "run examples/double-pendulum.yaml -q -o @/a.h5 --print lower.x --plot @/a.svg"), 0);
  char *svg = picture(f, "a.svg");
  assert_int_equal(count(svg, ">lower.x [m]</text>"), 1);
  free(svg);
  assert_int_equal(yoke(f, "run examples/double-pendulum.yaml -q --plot @/b.svg"), 2);
  assert_non_null(strstr(f->err, "give -o FILE too"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(quantities_of_one_unit_share_a_panel),
      TEST(patterns_and_several_results_lie_over_each_other),
      TEST(a_quantity_may_be_the_abscissa),
      TEST(macro_steps_are_drawn),
      TEST(rejected_trials_are_drawn_by_their_reasons),
      TEST(macro_points_and_events_are_marked_on_wish),
      TEST(long_curves_keep_their_peaks_and_stay_small),
      TEST(a_terminal_shows_letters),
      TEST(mistakes_are_named),
      TEST(dots_are_drawn_by_the_converter_of_the_machine),
      TEST(mechanisms_are_drawn_and_move),
      TEST(what_new_writes_can_be_drawn),
      TEST(a_rod_is_drawn_as_a_line),
      TEST(what_cannot_be_drawn_is_named),
      TEST(a_run_draws_what_it_prints),
      TEST(the_demo_tells_good_from_naive_coupling),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
