#include "plot/plot.h"
#include "base/memory.h"
#include "base/output_file.h"
#include "plot/contour.h"
#include "plot/svg.h"
#include "plot/thin.h"
#include "plot/ticks.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lengths in points (1/72 inch). No text is smaller than 9 pt. */
enum { FONT = 10, SMALL = 9, TITLE = 12, MARGIN = 8, GAP = 14, LEGEND_LINE = 15, TICK = 4 };

/* Colours for people who see few colours (Okabe and Ito); dashes and marks differ with them. */
enum { N_COLOURS = 7, N_DASHES = 5, N_MARKS = 6 };
static const char *const colours[N_COLOURS] = {"#000000", "#0072b2", "#d55e00", "#009e73",
                                               "#cc79a7", "#e69f00", "#56b4e9"};
static const char *const dashes[N_DASHES]   = {"", "6 2.5", "2 2", "8 2.5 2 2.5", "4 1.5 1.5 1.5 1.5 1.5"};
/* Shades fall in lightness: readable when printed grey. */
static const char *const shades[YOKE_PLOT_MAX_LEVELS + 1] = {"#eef4fb", "#fdd9a8", "#f59b57", "#d7502f",
                                                             "#98201c", "#5e0d12", "#2d060a"};

typedef struct box {
  double x, y, width, height;
} box;

typedef struct axis {
  yoke_plot_axis def;
  double         from, to;       /* from < to */
  double         origin, length; /* in the picture; length < 0: upwards */
  yoke_ticks     ticks;
} axis;

/* ---- axes ---- */

static bool is_drawable(bool is_log, double value) {
  return isfinite(value) && (!is_log || value > 0.0);
}

static double place(const axis *a, double value) {
  const double s = a->def.is_log ? log(value / a->from) / log(a->to / a->from) : (value - a->from) / (a->to - a->from);
  return a->origin + s * a->length;
}

static void take_range(const yoke_plot_panel *p, bool is_y, axis *a) {
  double from = INFINITY, to = -INFINITY;
  for (int k = 0; k < p->n_series; ++k) {
    for (int i = 0; i < p->series[k].n; ++i) {
      const double value = is_y ? p->series[k].y[i] : p->series[k].x[i],
                   other = is_y ? p->series[k].x[i] : p->series[k].y[i];
      if (!is_drawable(a->def.is_log, value) || !is_drawable((is_y ? p->x : p->y).is_log, other)) continue;
      from = fmin(from, value);
      to   = fmax(to, value);
    }
  }
  for (int k = 0; k < p->n_slopes; ++k) {
    const yoke_plot_slope *s   = &p->slopes[k];
    const double           end = is_y ? s->y * pow(s->factor, s->slope) : s->x * s->factor, begin = is_y ? s->y : s->x;
    if (!is_drawable(a->def.is_log, begin) || !is_drawable(a->def.is_log, end)) continue;
    from = fmin(from, fmin(begin, end));
    to   = fmax(to, fmax(begin, end));
  }
  if (!(from <= to)) {
    from = a->def.is_log ? 0.1 : 0.0;
    to   = 1.0;
  }
  if (a->def.is_count) {
    from = floor(from) - 0.5;
    to   = ceil(to) + 0.5;
  } else {
    yoke_ticks_round(a->def.is_log, &from, &to);
  }
  a->from = from;
  a->to   = to;
}

static axis make_axis(const yoke_plot_panel *p, bool is_y, double origin, double length) {
  axis a = {.def = is_y ? p->y : p->x, .origin = origin, .length = length};
  a.from = fmin(a.def.from, a.def.to);
  a.to   = fmax(a.def.from, a.def.to);
  if (!(a.to > a.from) || !is_drawable(a.def.is_log, a.from) || !is_drawable(a.def.is_log, a.to))
    take_range(p, is_y, &a);
  const int n_wanted = (int)fmax(2.0, floor(fabs(length) / (is_y ? 32.0 : 40.0)));
  if (a.def.is_log) {
    yoke_ticks_log(a.from, a.to, n_wanted, &a.ticks);
  } else if (a.def.is_count) {
    yoke_ticks_linear(a.from, a.to, (int)fmax(1.0, fmin(n_wanted, a.to - a.from)), &a.ticks);
    a.ticks.n_minor = 0;
  } else {
    yoke_ticks_linear(a.from, a.to, n_wanted, &a.ticks);
  }
  return a;
}

/* Text at (x, y); `attributes` as ` text-anchor="middle"`. */
static void put_label(yoke_svg *svg, double x, double y, double size, const char *attributes, const char *text) {
  yoke_svg_put(svg, "<text x=\"~\" y=\"~\" font-size=\"~\"`>$</text>\n", x, y, size, attributes, text);
}

static void put_tick_label(yoke_svg *svg, const yoke_ticks *ticks, double value, double x, double y,
                           const char *anchor) {
  char text[YOKE_TICK_TEXT];
  bool is_exponent;
  yoke_tick_label(ticks, value, text, &is_exponent);
  if (is_exponent) {
    yoke_svg_put(svg, "<text x=\"~\" y=\"~\" font-size=\"~\"`>10<tspan dy=\"-4\">$</tspan></text>\n", x, y,
                 (double)SMALL, anchor, text);
  } else {
    put_label(svg, x, y, SMALL, anchor, text);
  }
}

static void put_grid(yoke_svg *svg, const axis *x, const axis *y) {
  const double right = x->origin + x->length, top = y->origin + y->length;
  for (int level = 0; level < 2; ++level) {
    yoke_svg_put(svg, "<path fill=\"none\" stroke=\"`\" stroke-width=\"0.5\" d=\"", level == 0 ? "#ececec" : "#cccccc");
    const double *at[2] = {level == 0 ? x->ticks.minor : x->ticks.major, level == 0 ? y->ticks.minor : y->ticks.major};
    const int     n[2]  = {level == 0 ? x->ticks.n_minor : x->ticks.n_major,
                      level == 0 ? y->ticks.n_minor : y->ticks.n_major};
    for (int i = 0; i < n[0]; ++i) yoke_svg_put(svg, "M~ ~V~", place(x, at[0][i]), y->origin, top);
    for (int i = 0; i < n[1]; ++i) yoke_svg_put(svg, "M~ ~H~", x->origin, place(y, at[1][i]), right);
    yoke_svg_put(svg, "\"/>\n");
  }
}

static double y_label_width(const axis *y) {
  double width = 0.0;
  for (int i = 0; i < y->ticks.n_major; ++i) {
    char text[YOKE_TICK_TEXT];
    bool is_exponent;
    yoke_tick_label(&y->ticks, y->ticks.major[i], text, &is_exponent);
    width = fmax(width, yoke_svg_text_width(text, SMALL) + (is_exponent ? yoke_svg_text_width("10", SMALL) : 0.0));
  }
  return width;
}

static void put_axes(yoke_svg *svg, const axis *x, const axis *y) {
  const double right = x->origin + x->length, top = y->origin + y->length, bottom = y->origin, left = x->origin;
  yoke_svg_put(svg, "<path fill=\"none\" stroke=\"#000\" stroke-width=\"0.8\" d=\"M~ ~H~V~H~Z", left, bottom, right,
               top, left);
  for (int i = 0; i < x->ticks.n_major; ++i)
    yoke_svg_put(svg, "M~ ~v~", place(x, x->ticks.major[i]), bottom, (double)TICK);
  for (int i = 0; i < y->ticks.n_major; ++i)
    yoke_svg_put(svg, "M~ ~h~", left, place(y, y->ticks.major[i]), -(double)TICK);
  yoke_svg_put(svg, "\"/>\n");
  for (int i = 0; i < x->ticks.n_major; ++i)
    put_tick_label(svg, &x->ticks, x->ticks.major[i], place(x, x->ticks.major[i]), bottom + TICK + SMALL + 1,
                   " text-anchor=\"middle\"");
  for (int i = 0; i < y->ticks.n_major; ++i)
    put_tick_label(svg, &y->ticks, y->ticks.major[i], left - TICK - 2, place(y, y->ticks.major[i]) + 0.35 * SMALL,
                   " text-anchor=\"end\"");
  if (x->def.caption != NULL)
    put_label(svg, 0.5 * (left + right), bottom + TICK + 2 * SMALL + 7, FONT, " text-anchor=\"middle\"",
              x->def.caption);
  if (y->def.caption != NULL) {
    const double at = left - TICK - y_label_width(y) - 8;
    yoke_svg_put(svg,
                 "<text transform=\"translate(~ ~) rotate(-90)\" font-size=\"~\" text-anchor=\"middle\">$</text>\n", at,
                 0.5 * (bottom + top), (double)FONT, y->def.caption);
  }
}

/* ---- lines ---- */

static void put_mark(yoke_svg *svg, int style, double x, double y) {
  const double r = 2.4;
  yoke_svg_put(svg, "M~ ~", x, y);
  switch (style % N_MARKS) {
  case 0: yoke_svg_put(svg, "m~ 0a~ ~ 0 1 0 ~ 0a~ ~ 0 1 0 ~ 0z", -r, r, r, 2 * r, r, r, -2 * r); break;
  case 1: yoke_svg_put(svg, "m~ ~h~v~h~z", -r, -r, 2 * r, 2 * r, -2 * r); break;
  case 2: yoke_svg_put(svg, "m0 ~l~ ~h~z", -1.2 * r, 1.2 * r, 2.2 * r, -2.4 * r); break;
  case 3:
    yoke_svg_put(svg, "m0 ~l~ ~l~ ~l~ ~z", -1.3 * r, 1.3 * r, 1.3 * r, -1.3 * r, 1.3 * r, -1.3 * r, -1.3 * r);
    break;
  case 4: yoke_svg_put(svg, "m~ ~l~ ~m0 ~l~ ~", -r, -r, 2 * r, 2 * r, -2 * r, -2 * r, 2 * r); break;
  default: yoke_svg_put(svg, "m~ 0h~m~ ~v~", -1.3 * r, 2.6 * r, -1.3 * r, -1.3 * r, 2.6 * r); break;
  }
}

static void put_stroke(yoke_svg *svg, const yoke_plot_series *s, const char *fill) {
  const int   style = s->style < 0 ? 0 : s->style;
  const char *dash  = dashes[(s->dash > 0 ? s->dash - 1 : style) % N_DASHES];
  yoke_svg_put(svg, "<path fill=\"`\" stroke=\"`\" stroke-width=\"1.2\" stroke-linejoin=\"round\"", fill,
               colours[style % N_COLOURS]);
  if (*dash != '\0') yoke_svg_put(svg, " stroke-dasharray=\"`\"", dash);
  yoke_svg_put(svg, " d=\"");
}

/* Marks are drawn without dashes; every second set of marks is filled white. */
static void begin_marks(yoke_svg *svg, int style) {
  const char *colour = colours[style % N_COLOURS];
  yoke_svg_put(svg, "<path fill=\"`\" stroke=\"`\" stroke-width=\"1\" d=\"", style / N_MARKS % 2 == 0 ? colour : "#fff",
               colour);
}

/* A pen that draws lines between its points, or stairs, whose steps of equal height are one. */
typedef struct pen {
  yoke_svg *svg;
  bool      is_down, is_stair;
  double    x, y; /* stairs: where it is; the line that leads there along x may still be missing */
} pen;

static void pen_to(void *user, double x, double y) {
  pen *p = user;
  if (!p->is_down) {
    yoke_svg_put(p->svg, "M~ ~", x, y);
  } else if (!p->is_stair) {
    yoke_svg_put(p->svg, "L~ ~", x, y);
  } else if (y != p->y) {
    yoke_svg_put(p->svg, "H~V~", x, y);
  }
  p->is_down = true;
  p->x       = x;
  p->y       = y;
}

static void pen_up(pen *p) {
  if (p->is_down && p->is_stair) yoke_svg_put(p->svg, "H~", p->x);
  p->is_down = false;
}

/* Curves of more points than a picture is wide lose those that nobody could see. */
static void put_curve(yoke_svg *svg, const yoke_plot_series *s, const axis *x, const axis *y) {
  enum { LONG = 4000 };
  pen       p    = {.svg = svg, .is_stair = s->is_stair};
  yoke_thin thin = {.width = 0.3, .put = pen_to, .user = &p};
  for (int i = 0; i < s->n; ++i) {
    const bool can = is_drawable(x->def.is_log, s->x[i]) && is_drawable(y->def.is_log, s->y[i]);
    if (!can) {
      yoke_thin_end(&thin);
      pen_up(&p);
    } else if (s->n > LONG) {
      yoke_thin_add(&thin, place(x, s->x[i]), place(y, s->y[i]));
    } else {
      pen_to(&p, place(x, s->x[i]), place(y, s->y[i]));
    }
  }
  yoke_thin_end(&thin);
  pen_up(&p);
}

static void put_series(yoke_svg *svg, const yoke_plot_series *s, const axis *x, const axis *y) {
  const int style = s->style < 0 ? 0 : s->style;
  put_stroke(svg, s, "none");
  put_curve(svg, s, x, y);
  yoke_svg_put(svg, "\"/>\n");
  if (!s->has_marks) return;
  begin_marks(svg, style);
  for (int i = 0; i < s->n; ++i) {
    if (is_drawable(x->def.is_log, s->x[i]) && is_drawable(y->def.is_log, s->y[i]))
      put_mark(svg, style, place(x, s->x[i]), place(y, s->y[i]));
  }
  yoke_svg_put(svg, "\"/>\n");
}

static void put_slope(yoke_svg *svg, const yoke_plot_slope *s, const axis *x, const axis *y) {
  const double end = s->y * pow(s->factor, s->slope);
  char         text[YOKE_TICK_TEXT];
  if (!is_drawable(x->def.is_log, s->x) || !is_drawable(y->def.is_log, s->y) || !is_drawable(y->def.is_log, end))
    return;
  const double x0 = place(x, s->x), x1 = place(x, s->x * s->factor), y0 = place(y, s->y), y1 = place(y, end);
  yoke_svg_put(svg, "<path fill=\"none\" stroke=\"#555\" stroke-width=\"0.8\" d=\"M~ ~H~V~Z\"/>\n", x0, y0, x1, y1);
  yoke_short_number(s->slope, 3, text, sizeof text);
  put_label(svg, fmax(x0, x1) + 2, 0.5 * (y0 + y1) + 0.35 * SMALL, SMALL, " fill=\"#333\"", text);
}

/* ---- maps ---- */

static bool is_above(double value, double level) {
  return value > level; /* NaN is not */
}

static bool is_unknown(double value, double level) {
  (void)level;
  return isnan(value);
}

/* Outlines in steps of half cells, so that whole numbers suffice. */
static void put_cells(yoke_svg *svg, const yoke_polylines *l, const char *fill) {
  if (l->n_lines == 0) return;
  yoke_svg_put(svg, "<path fill=\"`\" fill-rule=\"evenodd\" d=\"", fill);
  for (int k = 0; k < l->n_lines; ++k) {
    const int a = l->first[k], b = l->first[k + 1];
    if (b <= a) continue;
    yoke_svg_put(svg, "M~ ~", l->x[a], l->y[a]);
    for (int i = a + 1; i < b; ++i) {
      const double dx = l->x[i] - l->x[i - 1], dy = l->y[i] - l->y[i - 1];
      if (dx != 0.0) yoke_svg_put(svg, "h~", dx);
      if (dy != 0.0) yoke_svg_put(svg, "v~", dy);
    }
    yoke_svg_put(svg, "z");
  }
  yoke_svg_put(svg, "\"/>\n");
}

/* x of the picture = x0 + i sx, y likewise. */
typedef struct mapping {
  double x0, sx, y0, sy;
} mapping;

static mapping map_mapping(const yoke_plot_map *m, const axis *x, const axis *y) {
  const double x0 = place(x, x->def.from), x1 = place(x, x->def.to), y0 = place(y, y->def.from),
               y1 = place(y, y->def.to);
  return (mapping){x0, m->nx > 1 ? (x1 - x0) / (m->nx - 1) : x1 - x0, y0,
                   m->ny > 1 ? (y1 - y0) / (m->ny - 1) : y1 - y0};
}

static bool put_map(yoke_svg *svg, const yoke_plot_map *m, const axis *x, const axis *y) {
  const mapping  to = map_mapping(m, x, y);
  yoke_polylines lines;
  char           transform[4][40];
  const double   numbers[4] = {to.x0, to.y0, to.sx, to.sy};
  for (int k = 0; k < 4; ++k) yoke_short_number(numbers[k], 10, transform[k], sizeof transform[k]);
  yoke_svg_put(svg, "<rect x=\"~\" y=\"~\" width=\"~\" height=\"~\" fill=\"`\"/>\n", x->origin, y->origin + y->length,
               x->length, -y->length, shades[0]);
  yoke_svg_put(svg, "<g transform=\"translate(` `) scale(` `)\" shape-rendering=\"crispEdges\">\n", transform[0],
               transform[1], transform[2], transform[3]);
  bool ok = true;
  for (int k = 0; k <= m->n_levels && ok; ++k) {
    const bool is_last = k == m->n_levels;
    ok = yoke_contour_cells(m->nx, m->ny, m->values, is_last ? is_unknown : is_above, is_last ? 0.0 : m->levels[k],
                            &lines) == YOKE_OK;
    if (ok) put_cells(svg, &lines, is_last ? "#999" : shades[k + 1]);
    yoke_polylines_release(&lines);
  }
  yoke_svg_put(svg, "</g>\n");
  if (!ok || !m->has_line || m->n_levels < 1) return ok;
  ok = yoke_contour_line(m->nx, m->ny, m->values, m->levels[0], &lines) == YOKE_OK;
  yoke_polylines_simplify(&lines, to.sx, to.sy, 0.08);
  if (ok && lines.n_lines > 0) {
    yoke_svg_put(svg, "<path fill=\"none\" stroke=\"#000\" stroke-width=\"1\" stroke-linejoin=\"round\" d=\"");
    for (int k = 0; k < lines.n_lines; ++k) {
      for (int i = lines.first[k]; i < lines.first[k + 1]; ++i)
        yoke_svg_put(svg, i == lines.first[k] ? "M~ ~" : "L~ ~", to.x0 + lines.x[i] * to.sx,
                     to.y0 + lines.y[i] * to.sy);
      if (lines.closed[k]) yoke_svg_put(svg, "Z");
    }
    yoke_svg_put(svg, "\"/>\n");
  }
  yoke_polylines_release(&lines);
  return ok;
}

/* ---- panels ---- */

/* Marks at abscissas: short ones at the lower edge, or lines. Those that would lie on each other are left out. */
static void put_abscissas(yoke_svg *svg, int n, const double *values, const axis *x, const axis *y, bool are_lines) {
  enum { MARK = 6 };
  static const double apart = 0.8;
  double              last  = -INFINITY;
  if (n == 0) return;
  yoke_svg_put(svg, are_lines ? "<path class=\"events\" fill=\"none\" stroke=\"#888\" stroke-dasharray=\"3 3\" d=\""
                              : "<path class=\"points\" fill=\"none\" stroke=\"#555\" stroke-width=\"0.6\" d=\"");
  for (int i = 0; i < n; ++i) {
    const double at = is_drawable(x->def.is_log, values[i]) ? place(x, values[i]) : (double)NAN;
    if (!(at >= x->origin && at <= x->origin + x->length) || fabs(at - last) < apart) continue;
    yoke_svg_put(svg, "M~ ~V~", at, y->origin, are_lines ? y->origin + y->length : y->origin - MARK);
    last = at;
  }
  yoke_svg_put(svg, "\"/>\n");
}

static bool put_panel(yoke_svg *svg, const yoke_plot_panel *p, box area, int number) {
  char name[24];
  bool ok = true;
  snprintf(name, sizeof name, "panel%d", number);
  yoke_svg_put(svg, "<g>\n");
  if (p->title != NULL)
    put_label(svg, area.x + 0.5 * area.width, area.y - 5, FONT, " text-anchor=\"middle\" font-weight=\"bold\"",
              p->title);
  if (p->empty != NULL) {
    yoke_svg_put(svg, "<rect x=\"~\" y=\"~\" width=\"~\" height=\"~\" fill=\"none\" stroke=\"#999\"/>\n", area.x,
                 area.y, area.width, area.height);
    put_label(svg, area.x + 0.5 * area.width, area.y + 0.5 * area.height, SMALL, " text-anchor=\"middle\"", p->empty);
    yoke_svg_put(svg, "</g>\n");
    return true;
  }
  const axis x = make_axis(p, false, area.x, area.width);
  const axis y = make_axis(p, true, area.y + area.height, -area.height);
  yoke_svg_put(svg, "<clipPath id=\"`\"><rect x=\"~\" y=\"~\" width=\"~\" height=\"~\"/></clipPath>\n", name, area.x,
               area.y, area.width, area.height);
  if (p->map != NULL) {
    yoke_svg_put(svg, "<g clip-path=\"url(#`)\">\n", name);
    ok = put_map(svg, p->map, &x, &y);
    yoke_svg_put(svg, "</g>\n");
  } else {
    put_grid(svg, &x, &y);
  }
  put_abscissas(svg, p->n_lines, p->lines, &x, &y, true);
  put_abscissas(svg, p->n_points, p->points, &x, &y, false);
  yoke_svg_put(svg, "<g clip-path=\"url(#`)\">\n", name);
  for (int k = 0; k < p->n_series; ++k) put_series(svg, &p->series[k], &x, &y);
  for (int k = 0; k < p->n_slopes; ++k) put_slope(svg, &p->slopes[k], &x, &y);
  yoke_svg_put(svg, "</g>\n");
  put_axes(svg, &x, &y);
  yoke_svg_put(svg, "</g>\n");
  return ok;
}

/* ---- legend ---- */

/* One entry: a line with its mark, or a shade. */
typedef struct legend {
  yoke_svg *svg; /* NULL: only the room is measured */
  double    x, y, left, right;
} legend;

/* Room for the next entry; a new line where the width is used up. */
static void legend_place(legend *l, const char *label) {
  const double width = 30 + yoke_svg_text_width(label, SMALL) + GAP;
  if (l->x > l->left && l->x + width > l->right) {
    l->x = l->left;
    l->y += LEGEND_LINE;
  }
}

static void legend_text(legend *l, const char *label) {
  if (l->svg != NULL) put_label(l->svg, l->x + 28, l->y + 0.35 * SMALL, SMALL, "", label);
  l->x += 30 + yoke_svg_text_width(label, SMALL) + GAP;
}

static void legend_series(legend *l, const yoke_plot_series *s) {
  legend_place(l, s->label);
  if (l->svg != NULL) {
    put_stroke(l->svg, s, "none");
    yoke_svg_put(l->svg, "M~ ~h24\"/>\n", l->x, l->y);
    if (s->has_marks) {
      begin_marks(l->svg, s->style);
      put_mark(l->svg, s->style, l->x + 12, l->y);
      yoke_svg_put(l->svg, "\"/>\n");
    }
  }
  legend_text(l, s->label);
}

static void legend_shade(legend *l, const char *fill, bool is_line, const char *label) {
  legend_place(l, label);
  if (l->svg != NULL && is_line)
    yoke_svg_put(l->svg, "<path fill=\"none\" stroke=\"#000\" stroke-width=\"1\" d=\"M~ ~h24\"/>\n", l->x, l->y);
  if (l->svg != NULL && !is_line)
    yoke_svg_put(l->svg,
                 "<rect x=\"~\" y=\"~\" width=\"24\" height=\"9\" fill=\"`\" stroke=\"#000\" stroke-width=\"0.5\"/>\n",
                 l->x, l->y - 4.5, fill);
  legend_text(l, label);
}

static bool is_listed(const yoke_plot_figure *f, int panel, int series) {
  const yoke_plot_series *s = &f->panels[panel].series[series];
  for (int p = 0; p <= panel; ++p) {
    const int n = p == panel ? series : f->panels[p].n_series;
    for (int k = 0; k < n; ++k) {
      const yoke_plot_series *other = &f->panels[p].series[k];
      if (other->label != NULL && other->style == s->style && strcmp(other->label, s->label) == 0) return true;
    }
  }
  return false;
}

/* All entries; gives the height used. */
static double put_legend(yoke_svg *svg, const yoke_plot_figure *f, double left, double right, double y) {
  legend l        = {.svg = svg, .x = left, .y = y + 0.5 * LEGEND_LINE, .left = left, .right = right};
  int    n_levels = 0;
  bool   has_line = false, has_unknown = false, is_any = false;
  for (int p = 0; p < f->n_rows * f->n_columns; ++p) {
    const yoke_plot_panel *panel = &f->panels[p];
    for (int k = 0; panel->empty == NULL && !panel->is_absent && k < panel->n_series; ++k) {
      if (panel->series[k].label == NULL || is_listed(f, p, k)) continue;
      legend_series(&l, &panel->series[k]);
      is_any = true;
    }
    if (panel->map == NULL || panel->empty != NULL) continue;
    n_levels = panel->map->n_levels;
    has_line = has_line || panel->map->has_line;
    for (size_t i = 0; !has_unknown && i < (size_t)panel->map->nx * (size_t)panel->map->ny; ++i)
      has_unknown = isnan(panel->map->values[i]);
  }
  for (int k = 0; f->shades != NULL && n_levels > 0 && k <= n_levels; ++k) {
    legend_shade(&l, shades[k], false, f->shades[k]);
    is_any = true;
  }
  if (has_line && f->line_label != NULL) legend_shade(&l, "", true, f->line_label);
  if (has_unknown) legend_shade(&l, "#999", false, "not defined");
  return is_any || has_unknown ? l.y + 0.5 * LEGEND_LINE - y : 0.0;
}

/* Of one panel, one entry per line; a caption that names its only curve is enough. Gives the room that it takes. */
static double put_side_legend(yoke_svg *svg, const yoke_plot_panel *p, double x, double y) {
  double room = 0.0;
  legend l    = {.svg = svg, .left = x, .right = INFINITY};
  if (p->empty != NULL || p->is_absent || p->n_series < 2) return 0.0;
  for (int k = 0; k < p->n_series; ++k) {
    if (p->series[k].label == NULL) continue;
    l.x = x;
    l.y = y + (k + 0.5) * LEGEND_LINE;
    legend_series(&l, &p->series[k]);
    room = fmax(room, l.x - x);
  }
  return room;
}

/* ---- figure ---- */

/* Room beside and above the drawing area of a panel. */
enum { ROOM_LEFT = 52, ROOM_RIGHT = 14, ROOM_TOP = 20, ROOM_BOTTOM = 38, ROOM_TICKS = 24 };

/* Room above a panel, and the height of a line of them with all around: stacked ones without titles and captions are close. */
static double room_above(const yoke_plot_figure *f, int line) {
  if (!f->has_side_legends || f->panels[line * f->n_columns].title != NULL) return ROOM_TOP;
  return line == 0 ? 0.5 * ROOM_TOP : 0.0;
}

static double line_height(const yoke_plot_figure *f, int line, double height) {
  const bool is_close = f->has_side_legends && f->panels[line * f->n_columns].x.caption == NULL;
  return room_above(f, line) + height + (is_close ? ROOM_TICKS : ROOM_BOTTOM);
}

static bool put_figure(yoke_svg *svg, const yoke_plot_figure *f) {
  const int    n      = f->n_columns > 1 ? 1 : 0;
  const double width  = f->width > 0.0 ? f->width : n == 0 ? 340 : f->n_columns == 2 ? 240 : 180;
  const double height = f->height > 0.0 ? f->height : n == 0 ? 230 : f->n_columns == 2 ? 190 : 160;
  const double head   = f->title != NULL && *f->title != '\0' ? TITLE + 14 : MARGIN;
  double       side = 0.0, bottom = head;
  for (int k = 0; f->has_side_legends && k < f->n_rows; ++k)
    side = fmax(side, put_side_legend(NULL, &f->panels[k], 0.0, 0.0));
  for (int line = 0; line < f->n_rows; ++line) bottom += line_height(f, line, height);
  const double total = f->n_columns * (width + ROOM_LEFT + ROOM_RIGHT) + 2 * MARGIN + side;
  const double legend_height =
      f->has_side_legends ? 0.0 : put_legend(NULL, f, MARGIN + ROOM_LEFT, total - MARGIN, bottom + 6);
  const double all = bottom + 6 + legend_height + MARGIN;
  yoke_svg_put(svg,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"~pt\" "
               "height=\"~pt\" viewBox=\"0 0 ~ ~\" font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\" "
               "role=\"img\">\n",
               total, all, total, all);
  if (f->title != NULL) yoke_svg_put(svg, "<title>$</title>\n", f->title);
  if (f->description != NULL) yoke_svg_put(svg, "<desc>$</desc>\n", f->description);
  yoke_svg_put(svg, "<rect width=\"~\" height=\"~\" fill=\"#fff\"/>\n", total, all);
  if (f->title != NULL && *f->title != '\0')
    put_label(svg, 0.5 * total, MARGIN + TITLE, TITLE, " text-anchor=\"middle\" font-weight=\"bold\"", f->title);
  bool   ok  = true;
  double top = head;
  for (int k = 0; k < f->n_rows * f->n_columns; ++k) {
    const int column = k % f->n_columns, line = k / f->n_columns;
    const box area = {MARGIN + column * (width + ROOM_LEFT + ROOM_RIGHT) + ROOM_LEFT, top + room_above(f, line), width,
                      height};
    if (!f->panels[k].is_absent) ok = put_panel(svg, &f->panels[k], area, k + 1) && ok;
    if (f->has_side_legends) (void)put_side_legend(svg, &f->panels[k], area.x + width + 10, area.y);
    if (column + 1 == f->n_columns) top += line_height(f, line, height);
  }
  if (!f->has_side_legends) put_legend(svg, f, MARGIN + ROOM_LEFT, total - MARGIN, bottom + 6);
  yoke_svg_put(svg, "</svg>\n");
  return ok && !svg->has_failed;
}

char *yoke_plot_text(const yoke_plot_figure *figure) {
  yoke_svg svg = {0};
  if (!put_figure(&svg, figure)) yoke_svg_release(&svg);
  return svg.text;
}

yoke_status yoke_plot_write(yoke_context *ctx, const char *path, const yoke_plot_figure *figure) {
  char *text = yoke_plot_text(figure);
  if (text == NULL) return yoke_out_of_memory(ctx, "the picture '%s'", path);
  const yoke_status status = yoke_output_file_write_text(ctx, path, text);
  free(text);
  return status;
}
