/* Figures as SVG: ticks, contours, text, and the picture as a whole. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "../check.h"
#include "plot/contour.h"
#include "plot/plot.h"
#include "plot/svg.h"
#include "plot/ticks.h"
#include "xml.h"
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- ticks ---- */

static const struct {
  double      from, to;
  int         n_wanted;
  double      first, step;
  int         n;
  const char *label; /* of the second mark */
} linear_cases[] = {
    {0.0, 10.0, 5, 0.0, 2.0, 6, "2"},         {-2.0, 0.0, 4, -2.0, 0.5, 5, "-1.5"},
    {0.13, 0.97, 5, 0.2, 0.2, 4, "0.4"},      {-3e-7, 3e-7, 6, -3e-7, 1e-7, 7, "-2e-7"},
    {0.0, 2e-4, 10, 0.0, 2e-5, 11, "0.2e-4"}, /* not 2e-05 beside 0.0001 */
    {1e6, 5e6, 4, 1e6, 1e6, 5, "2e6"},        {0.0, 0.05, 5, 0.0, 0.01, 6, "0.01"},
    {99.0, 101.0, 4, 99.0, 0.5, 5, "99.5"},
};

static void linear_marks_are_at_round_numbers(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof linear_cases / sizeof *linear_cases; ++k) {
    yoke_ticks t;
    char       text[YOKE_TICK_TEXT];
    bool       is_exponent;
    yoke_ticks_linear(linear_cases[k].from, linear_cases[k].to, linear_cases[k].n_wanted, &t);
    assert_int_equal(t.n_major, linear_cases[k].n);
    for (int i = 0; i < t.n_major; ++i)
      CHECK_NEAR(t.major[i], linear_cases[k].first + i * linear_cases[k].step, 1e-12 * linear_cases[k].step * 1e3);
    yoke_tick_label(&t, t.major[1], text, &is_exponent);
    assert_string_equal(text, linear_cases[k].label);
    assert_false(is_exponent);
  }
}

static void logarithmic_marks_are_powers_of_ten_with_eight_minor_ones(void **state) {
  (void)state;
  yoke_ticks t;
  char       text[YOKE_TICK_TEXT];
  bool       is_exponent;
  yoke_ticks_log(1e-6, 1e-2, 8, &t);
  assert_int_equal(t.n_major, 5);
  assert_int_equal(t.n_minor, 4 * 8);
  yoke_tick_label(&t, t.major[0], text, &is_exponent);
  assert_true(is_exponent);
  assert_string_equal(text, "-6");
}

static void many_decades_are_marked_sparsely(void **state) {
  (void)state;
  yoke_ticks t;
  yoke_ticks_log(1e-300, 1e300, 6, &t);
  assert_in_range(t.n_major, 4, 8);
  assert_int_equal(t.n_minor, 0);
}

static void impossible_ranges_have_no_marks(void **state) {
  (void)state;
  yoke_ticks t;
  yoke_ticks_linear(1.0, 1.0, 5, &t);
  assert_int_equal(t.n_major, 0);
  yoke_ticks_linear(0.0, (double)INFINITY, 5, &t);
  assert_int_equal(t.n_major, 0);
  yoke_ticks_log(-1.0, 1.0, 5, &t);
  assert_int_equal(t.n_major, 0);
}

/* ---- contours ---- */

enum { N = 81 };

/* f = r^2 about the centre of the grid, in cells. */
static double *circle_values(void) {
  double *f = malloc(sizeof *f * N * N);
  assert_non_null(f);
  for (int j = 0; j < N; ++j) {
    for (int i = 0; i < N; ++i) f[j * N + i] = (i - 40.0) * (i - 40.0) + (j - 40.0) * (j - 40.0);
  }
  return f;
}

static void the_contour_of_a_cone_is_one_closed_circle(void **state) {
  (void)state;
  double        *f = circle_values();
  yoke_polylines l;
  assert_int_equal(yoke_contour_line(N, N, f, 30.0 * 30.0, &l), YOKE_OK);
  assert_int_equal(l.n_lines, 1);
  assert_true(l.closed[0]);
  double length = 0.0;
  for (int i = 0; i < l.n_points; ++i) {
    const int next = (i + 1) % l.n_points;
    CHECK_NEAR(hypot(l.x[i] - 40.0, l.y[i] - 40.0), 30.0, 0.01);
    length += hypot(l.x[next] - l.x[i], l.y[next] - l.y[i]);
  }
  CHECK_NEAR(length, 2.0 * M_PI * 30.0, 0.05);
  yoke_polylines_simplify(&l, 1.0, 1.0, 0.05);
  assert_in_range(l.n_points, 16, 100);
  for (int i = 0; i < l.n_points; ++i) CHECK_NEAR(hypot(l.x[i] - 40.0, l.y[i] - 40.0), 30.0, 0.01);
  yoke_polylines_release(&l);
  free(f);
}

static void a_line_that_leaves_the_grid_is_open(void **state) {
  (void)state;
  double        *f = circle_values();
  yoke_polylines l;
  assert_int_equal(yoke_contour_line(N, N, f, 45.0 * 45.0, &l), YOKE_OK);
  assert_int_equal(l.n_lines, 4); /* one arc in each corner */
  for (int k = 0; k < 4; ++k) assert_false(l.closed[k]);
  yoke_polylines_release(&l);
  free(f);
}

static void cells_with_nan_have_no_line_and_infinity_is_large(void **state) {
  (void)state;
  double         f[9] = {0, 0, 0, 0, (double)INFINITY, 0, 0, 0, (double)NAN};
  yoke_polylines l;
  assert_int_equal(yoke_contour_line(3, 3, f, 1.0, &l), YOKE_OK);
  assert_int_equal(l.n_lines, 1);
  assert_false(l.closed[0]); /* the loop about the middle is cut where the corner is unknown */
  assert_int_equal(l.n_points, 4);
  yoke_polylines_release(&l);
}

static void a_saddle_gives_two_lines(void **state) {
  (void)state;
  const double   f[4] = {2, 0, 0, 2};
  yoke_polylines l;
  assert_int_equal(yoke_contour_line(2, 2, f, 0.9, &l), YOKE_OK);
  assert_int_equal(l.n_lines, 2);
  yoke_polylines_release(&l);
}

static bool is_above(double value, double level) {
  return value > level;
}

/* Area by the shoelace formula, holes negative. */
static double area_of(const yoke_polylines *l) {
  double area = 0.0;
  for (int k = 0; k < l->n_lines; ++k) {
    for (int i = l->first[k]; i < l->first[k + 1]; ++i) {
      const int next = i + 1 < l->first[k + 1] ? i + 1 : l->first[k];
      area += 0.5 * (l->x[i] * l->y[next] - l->x[next] * l->y[i]);
    }
  }
  return area;
}

static void outlines_hold_exactly_the_cells_that_pass(void **state) {
  (void)state;
  double        *f = circle_values();
  yoke_polylines l;
  for (int radius = 0; radius < 60; radius += 7) {
    int n = 0;
    for (int i = 0; i < N * N; ++i) n += f[i] > radius * radius;
    assert_int_equal(yoke_contour_cells(N, N, f, is_above, radius * radius, &l), YOKE_OK);
    CHECK_NEAR(area_of(&l), n, 1e-9);
    yoke_polylines_release(&l);
  }
  free(f);
}

static void a_chessboard_is_outlined_too(void **state) {
  (void)state;
  double f[25];
  for (int i = 0; i < 25; ++i) f[i] = i % 2;
  yoke_polylines l;
  assert_int_equal(yoke_contour_cells(5, 5, f, is_above, 0.5, &l), YOKE_OK);
  CHECK_NEAR(area_of(&l), 12.0, 1e-12);
  yoke_polylines_release(&l);
}

/* ---- text ---- */

static void texts_are_escaped_and_numbers_are_short(void **state) {
  (void)state;
  yoke_svg svg = {0};
  yoke_svg_put(&svg, "<a b=\"$\" c=\"~ ~ ~ ~\"/>", "<&\"'> \xc3\xa4 \xff \x01", 1.0, -0.5, 2.345, (double)NAN);
  assert_string_equal(svg.text, "<a b=\"&lt;&amp;&quot;&#39;&gt; \xc3\xa4 ? ?\" c=\"1 -0.5 2.35 -10000000\"/>");
  yoke_svg_release(&svg);
}

/* ---- figures ---- */

static const double           steps[4]     = {0.005, 0.0025, 0.00125, 0.000625};
static const double           errors[2][4] = {{1e-2, 2.5e-3, 6e-4, (double)NAN}, {1e-4, 0.0, -1.0, (double)INFINITY}};
static const yoke_plot_series series[2]    = {
       {.label = "order <1>", .n = 4, .x = steps, .y = errors[0], .has_marks = true, .style = 0},
       {.label = "b & c", .n = 4, .x = steps, .y = errors[1], .has_marks = true, .style = 7}};
static const yoke_plot_slope slope         = {0.00125, 3e-4, 2.0, 2.0};
static const char *const     shade_names[] = {"stable", "up to 2", "above"};

static char *figure_text(const yoke_plot_panel *panels, int n_columns, int n_rows) {
  const yoke_plot_figure f    = {.title      = "A \"title\" & more",
                                 .n_columns  = n_columns,
                                 .n_rows     = n_rows,
                                 .panels     = panels,
                                 .shades     = shade_names,
                                 .line_label = "limit"};
  char                  *text = yoke_plot_text(&f);
  assert_non_null(text);
  xml_expect_good(text);
  return text;
}

/* Members by name: a new one shall not shift them. */
#define AXIS(text, log, begin, end)                                                                                    \
  { .caption = (text), .is_log = (log), .from = (begin), .to = (end) }

static void a_figure_is_well_formed_and_holds_its_texts(void **state) {
  (void)state;
  const yoke_plot_panel p[2] = {{.title    = "left",
                                 .x        = AXIS("H [s]", true, 0, 0),
                                 .y        = AXIS("error", true, 0, 0),
                                 .n_series = 2,
                                 .series   = series,
                                 .n_slopes = 1,
                                 .slopes   = &slope},
                                {.title = "right", .empty = "not defined: a < b"}};
  char                 *text = figure_text(p, 2, 1);
  assert_non_null(strstr(text, "order &lt;1&gt;"));
  assert_non_null(strstr(text, "not defined: a &lt; b"));
  assert_non_null(strstr(text, ">H [s]<"));
  assert_null(strstr(text, "nan"));
  assert_null(strstr(text, "inf"));
  free(text);
}

static void a_figure_without_any_good_number_is_still_a_figure(void **state) {
  (void)state;
  const double           bad[2] = {(double)NAN, (double)INFINITY};
  const yoke_plot_series s      = {.label = "bad", .n = 2, .x = bad, .y = bad, .has_marks = true};
  const yoke_plot_panel  p[4]   = {{.n_series = 1, .series = &s},
                                   {.x = AXIS(NULL, true, 0, 0), .y = AXIS(NULL, true, 0, 0), .n_series = 1, .series = &s},
                                   {.x = AXIS(NULL, false, 1, 1), .n_series = 0},
                                   {.x = AXIS(NULL, true, -1, 5), .y = AXIS(NULL, false, (double)NAN, 2)}};
  free(figure_text(p, 2, 2));
}

static void a_large_map_stays_small(void **state) {
  (void)state;
  enum { M = 1000 };
  double *f = malloc(sizeof *f * M * M);
  assert_non_null(f);
  for (int j = 0; j < M; ++j) {
    for (int i = 0; i < M; ++i) f[(size_t)j * M + (size_t)i] = 3.0 * fabs(sin(0.01 * i) * cos(0.007 * j));
  }
  f[0]                       = (double)NAN;
  f[M + 5]                   = (double)INFINITY;
  const yoke_plot_map   map  = {M, M, f, 2, {1.0, 2.0}, true};
  const yoke_plot_panel p    = {.x = AXIS("re", false, 0.0, -2.0), .y = AXIS("im", false, 0.0, 10.0), .map = &map};
  char                 *text = figure_text(&p, 1, 1);
  assert_in_range(strlen(text), 10000, 200000);
  free(text);
  free(f);
}

static void the_same_figure_gives_the_same_bytes_in_every_locale(void **state) {
  (void)state;
  const yoke_plot_panel p = {
      .title = "left", .x = AXIS("H [s]", true, 0, 0), .y = AXIS("error", true, 0, 0), .n_series = 2, .series = series};
  char       *a    = figure_text(&p, 1, 1);
  const char *seen = setlocale(LC_NUMERIC, "de_DE.UTF-8");
  char       *b    = figure_text(&p, 1, 1);
  setlocale(LC_NUMERIC, "C");
  if (seen == NULL) print_message("no locale with a decimal comma here\n");
  assert_string_equal(a, b);
  free(a);
  free(b);
}

static void a_file_that_cannot_be_written_is_an_error_that_names_it(void **state) {
  (void)state;
  const yoke_plot_panel  p = {.n_series = 2, .series = series};
  const yoke_plot_figure f = {.n_columns = 1, .n_rows = 1, .panels = &p};
  yoke_context          *ctx;
  assert_int_equal(yoke_context_create(&ctx), YOKE_OK);
  assert_int_equal(yoke_plot_write(ctx, "/no/such/folder/a.svg", &f), YOKE_E_IO);
  assert_non_null(strstr(yoke_context_message(ctx, 0), "/no/such/folder/a.svg"));
  if (access("/dev/full", W_OK) == 0) assert_int_equal(yoke_plot_write(ctx, "/dev/full", &f), YOKE_E_IO);
  yoke_context_destroy(&ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(linear_marks_are_at_round_numbers),
      cmocka_unit_test(logarithmic_marks_are_powers_of_ten_with_eight_minor_ones),
      cmocka_unit_test(many_decades_are_marked_sparsely),
      cmocka_unit_test(impossible_ranges_have_no_marks),
      cmocka_unit_test(the_contour_of_a_cone_is_one_closed_circle),
      cmocka_unit_test(a_line_that_leaves_the_grid_is_open),
      cmocka_unit_test(cells_with_nan_have_no_line_and_infinity_is_large),
      cmocka_unit_test(a_saddle_gives_two_lines),
      cmocka_unit_test(outlines_hold_exactly_the_cells_that_pass),
      cmocka_unit_test(a_chessboard_is_outlined_too),
      cmocka_unit_test(texts_are_escaped_and_numbers_are_short),
      cmocka_unit_test(a_figure_is_well_formed_and_holds_its_texts),
      cmocka_unit_test(a_figure_without_any_good_number_is_still_a_figure),
      cmocka_unit_test(a_large_map_stays_small),
      cmocka_unit_test(the_same_figure_gives_the_same_bytes_in_every_locale),
      cmocka_unit_test(a_file_that_cannot_be_written_is_an_error_that_names_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
