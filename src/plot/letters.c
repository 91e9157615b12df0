#include "plot/letters.h"

#include "base/memory.h"
#include "plot/ticks.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEFT = 11, LINES = 16, LEAST = 30, NUMBER = 16 };

static const char marks[] = "*+ox#@%&";

/* The field of a panel: `width` x LINES letters behind the ordinate's numbers. */
typedef struct field {
  const yoke_plot_panel *panel;
  double                 x[2], y[2]; /* ranges */
  int                    width;
  char                  *letters; /* [LINES, width] */
} field;

static double scale(bool is_log, double value) {
  return is_log ? log10(value) : value;
}

static bool is_there(const yoke_plot_panel *p, const yoke_plot_series *s, int i) {
  return isfinite(s->x[i]) && isfinite(s->y[i]) && (!p->x.is_log || s->x[i] > 0.0) && (!p->y.is_log || s->y[i] > 0.0);
}

static void take_ranges(field *f) {
  const yoke_plot_panel *p = f->panel;
  f->x[0] = f->y[0] = INFINITY;
  f->x[1] = f->y[1] = -INFINITY;
  for (int k = 0; k < p->n_series; ++k) {
    const yoke_plot_series *s = &p->series[k];
    for (int i = 0; i < s->n; ++i) {
      if (!is_there(p, s, i)) continue;
      f->x[0] = fmin(f->x[0], s->x[i]), f->x[1] = fmax(f->x[1], s->x[i]);
      f->y[0] = fmin(f->y[0], s->y[i]), f->y[1] = fmax(f->y[1], s->y[i]);
    }
  }
  if (!(f->x[0] <= f->x[1])) f->x[0] = f->y[0] = p->x.is_log || p->y.is_log ? 1.0 : 0.0, f->x[1] = f->y[1] = 1.0;
  yoke_ticks_round(p->y.is_log, &f->y[0], &f->y[1]);
  if (!(f->x[0] < f->x[1])) yoke_ticks_round(p->x.is_log, &f->x[0], &f->x[1]);
}

/* Where a point is, in cells. */
static void cell(const field *f, double x, double y, double *column, double *line) {
  const yoke_plot_panel *p  = f->panel;
  const double           x0 = scale(p->x.is_log, f->x[0]), x1 = scale(p->x.is_log, f->x[1]);
  const double           y0 = scale(p->y.is_log, f->y[0]), y1 = scale(p->y.is_log, f->y[1]);
  *column = (scale(p->x.is_log, x) - x0) / (x1 - x0) * (f->width - 1);
  *line   = (LINES - 1) * (1.0 - (scale(p->y.is_log, y) - y0) / (y1 - y0));
}

static void dot(field *f, double column, double line, char mark) {
  const int c = (int)lround(column), l = (int)lround(line);
  if (c >= 0 && c < f->width && l >= 0 && l < LINES) f->letters[l * f->width + c] = mark;
}

/* A line between two points, a letter per column or line. */
static void stroke(field *f, const double a[2], const double b[2], char mark) {
  const double length = fmax(fabs(b[0] - a[0]), fabs(b[1] - a[1]));
  const int    n      = (int)fmin(ceil(length), f->width + LINES);
  for (int i = 0; i <= n; ++i) {
    const double s = n > 0 ? (double)i / n : 0.0;
    dot(f, a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1]), mark);
  }
}

static void draw(field *f, int k) {
  const yoke_plot_series *s    = &f->panel->series[k];
  const char              mark = marks[(size_t)k % (sizeof marks - 1)];
  double                  last[2];
  bool                    is_down = false;
  for (int i = 0; i < s->n; ++i) {
    if (!is_there(f->panel, s, i)) {
      is_down = false;
      continue;
    }
    double at[2];
    cell(f, s->x[i], s->y[i], &at[0], &at[1]);
    stroke(f, is_down ? last : at, at, mark);
    last[0] = at[0];
    last[1] = at[1];
    is_down = true;
  }
}

/* One line of the field with the number at its ordinate, if it has one. */
static void put_line(const field *f, int line, char *text, void (*put)(void *user, const char *line), void *user) {
  char         number[NUMBER] = "";
  const bool   is_marked      = line % 5 == 0;
  const double y0 = scale(f->panel->y.is_log, f->y[0]), y1 = scale(f->panel->y.is_log, f->y[1]);
  const double value = y1 - (y1 - y0) * line / (LINES - 1);
  const double shown = fabs(value) < 1e-9 * fmax(fabs(y0), fabs(y1)) ? 0.0 : value;
  if (is_marked) yoke_short_number(f->panel->y.is_log ? pow(10.0, value) : shown, 4, number, sizeof number);
  int n = snprintf(text, LEFT + 2, "%*.*s%c", LEFT - 1, LEFT - 1, number, is_marked ? '+' : '|');
  memcpy(text + n, f->letters + line * f->width, (size_t)f->width);
  n += f->width;
  while (n > 0 && text[n - 1] == ' ') --n;
  text[n] = '\0';
  put(user, text);
}

static void put_abscissa(const field *f, char *text, void (*put)(void *user, const char *line), void *user) {
  char from[NUMBER], to[NUMBER];
  memset(text, ' ', LEFT);
  text[LEFT - 1] = '+';
  memset(text + LEFT, '-', (size_t)f->width);
  text[LEFT + f->width] = '\0';
  put(user, text);
  yoke_short_number(f->x[0], 5, from, sizeof from);
  yoke_short_number(f->x[1], 5, to, sizeof to);
  const char *caption = f->panel->x.caption != NULL ? f->panel->x.caption : "";
  const int   room = f->width - (int)strlen(from) - (int)strlen(to), length = (int)strlen(caption);
  const int   before = room > length ? (room - length) / 2 : 1;
  snprintf(text, (size_t)(LEFT + f->width) + 2, "%*s%s%*s%.*s%*s%s", LEFT, "", from, before, "",
           room > length ? length : 0, caption, room > length ? room - length - before : room - before, "", to);
  put(user, text);
}

static yoke_status put_panel(yoke_context *ctx, const yoke_plot_panel *p, int columns,
                             void (*put)(void *user, const char *line), void *user) {
  field        f    = {.panel = p, .width = columns - LEFT};
  const size_t room = (size_t)columns + 200;
  char        *text = yoke_allocate(room, 1);
  f.letters         = yoke_allocate((size_t)f.width * LINES, 1);
  if (text != NULL && f.letters != NULL) {
    take_ranges(&f);
    memset(f.letters, ' ', (size_t)f.width * LINES);
    for (int k = p->n_series; k-- > 0;) draw(&f, k); /* the first one on top */
    snprintf(text, room, "%.*s", columns, p->y.caption != NULL ? p->y.caption : "");
    put(user, text);
    for (int line = 0; line < LINES; ++line) put_line(&f, line, text, put, user);
    put_abscissa(&f, text, put, user);
    for (int k = 0; k < p->n_series; ++k) {
      if (p->series[k].label == NULL) continue;
      snprintf(text, room, "%*s%c %.*s", LEFT, "", marks[(size_t)k % (sizeof marks - 1)], columns - LEFT - 2,
               p->series[k].label);
      put(user, text);
    }
  }
  const bool is_done = text != NULL && f.letters != NULL;
  free(text);
  free(f.letters);
  return is_done ? YOKE_OK : yoke_out_of_memory(ctx, "the picture");
}

yoke_status yoke_plot_letters(yoke_context *ctx, const yoke_plot_figure *figure, int columns,
                              void (*put)(void *user, const char *line), void *user) {
  if (columns < LEAST) columns = LEAST;
  if (figure->title != NULL && *figure->title != '\0') put(user, figure->title);
  for (int p = 0; p < figure->n_rows * figure->n_columns; ++p)
    YOKE_TRY(put_panel(ctx, &figure->panels[p], columns, put, user));
  return YOKE_OK;
}
