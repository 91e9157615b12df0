/* Curves of results: which quantities, in which panels, with which captions. */
#include <yoke/curves.h>

#include "base/given.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/text.h"
#include "io/result_reader.h"
#include "plot/letters.h"
#include "plot/page.h"
#include "plot/plot.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CURVES = 200, UNASKED = 8, LABEL = 160 };

/* Lengths of the drawing area of a panel [pt]. */
static const double width = 470.0, height_alone = 240.0, height_stacked = 130.0;

typedef struct curve {
  yoke_result *result;
  int          quantity; /* of the result; -1: `track` of its macro steps */
  const char  *name, *track, *unit;
  char         label[LABEL];
  size_t       n;
  double      *x, *y; /* own */
} curve;

typedef struct sketch {
  yoke_context     *ctx;
  yoke_curves       options;
  int               n;
  curve             list[MOST_CURVES];
  int               n_panels;
  yoke_plot_panel  *panels;
  yoke_plot_series *series; /* [n], panel by panel */
  char (*captions)[LABEL];  /* [n_panels] */
  char             abscissa[LABEL], title[LABEL];
  size_t           n_points, n_events;
  double          *points, *events; /* own */
  yoke_plot_figure figure;
} sketch;

/* ---- choice ---- */

static const char *file_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

static bool is_taken(const sketch *s, const yoke_result *result, int quantity) {
  for (int k = 0; k < s->n; ++k) {
    if (s->list[k].result == result && s->list[k].quantity == quantity) return true;
  }
  return false;
}

static yoke_status add(sketch *s, yoke_result *result, int quantity, const char *name, const char *track,
                       const char *unit) {
  if (s->n == MOST_CURVES)
    return yoke_fail(s->ctx, YOKE_E_USAGE, "more than %d curves in one picture; name fewer quantities",
                     (int)MOST_CURVES);
  curve *c = &s->list[s->n++];
  *c       = (curve){.result = result, .quantity = quantity, .name = name, .track = track, .unit = unit};
  snprintf(c->label, sizeof c->label, "%s%s%s%s", name, s->options.n_results > 1 ? " (" : "",
           s->options.n_results > 1 ? file_name(result->path) : "", s->options.n_results > 1 ? ")" : "");
  return YOKE_OK;
}

/* A CSV file tells no units: another result may. */
static const char *unit_of(const sketch *s, const yoke_result *result, int quantity) {
  if (*result->units[quantity] != '\0') return result->units[quantity];
  for (int r = 0; r < s->options.n_results; ++r) {
    const int i = yoke_result_reader_find(s->options.results[r], result->names[quantity]);
    if (i >= 0 && *s->options.results[r]->units[i] != '\0') return s->options.results[r]->units[i];
  }
  return "";
}

/* A quantity of one result, and what has the same name in those behind it. */
static yoke_status add_everywhere(sketch *s, int first, int quantity) {
  const char *name = s->options.results[first]->names[quantity];
  for (int r = first; r < s->options.n_results; ++r) {
    yoke_result *result = s->options.results[r];
    const int    i      = r == first ? quantity : yoke_result_reader_find(result, name);
    if (i >= 0 && !is_taken(s, result, i)) YOKE_TRY(add(s, result, i, name, NULL, unit_of(s, result, i)));
  }
  return YOKE_OK;
}

/* Quantities that a name or a pattern stands for, of all results. */
static yoke_status add_named(sketch *s, const char *name) {
  const yoke_curves *o       = &s->options;
  bool               is_any  = false;
  const char        *nearest = NULL;
  for (int r = 0; r < o->n_results; ++r) {
    const yoke_result *result = o->results[r];
    for (int i = 0; i < result->n; ++i) {
      if (!yoke_text_matches(name, result->names[i])) continue;
      is_any = true;
      YOKE_TRY(add_everywhere(s, r, i));
    }
    if (nearest == NULL) nearest = yoke_text_nearest(name, (const char *const *)result->names, result->n);
  }
  if (is_any) return YOKE_OK;
  return yoke_fail(s->ctx, YOKE_E_USAGE, "there is no quantity '%s' in %s%s%s%s", name,
                   o->n_results > 1 ? "any of the results" : o->results[0]->path,
                   nearest != NULL ? "; did you mean '" : "; '*' shows all", nearest != NULL ? nearest : "",
                   nearest != NULL ? "'?" : "");
}

/* Without names: the first quantities that move. */
static yoke_status add_first(sketch *s) {
  yoke_result *first = s->options.results[0];
  const int    n     = first->n < UNASKED ? first->n : UNASKED;
  for (int i = 0; i < n; ++i) YOKE_TRY(add_named(s, first->names[i]));
  if (n < first->n)
    yoke_note(s->ctx, "%d of %d quantities of '%s' are shown; name others, '*' is all", n, first->n, first->path);
  return YOKE_OK;
}

/* Trials of a macro step that were thrown away before it was accepted. */
static const char trials[] = "rejected trials";

static yoke_status add_rejections(sketch *s, yoke_result *result) {
  static const struct {
    const char *name, *track;
  } reasons[] = {[YOKE_REDUCED_BY_ERROR]      = {"rejected (error)", "rejected_error"},
                 [YOKE_REDUCED_BY_CORRECTOR]  = {"rejected (corrector)", "rejected_corrector"},
                 [YOKE_REDUCED_BY_NON_FINITE] = {"rejected (non-finite)", "rejected_non-finite"},
                 [YOKE_REDUCED_BY_EVENT]      = {"rejected (event)", "rejected_event"},
                 [YOKE_REDUCED_BY_GAP]        = {"rejected (gap)", "rejected_gap"}};
  _Static_assert(sizeof reasons / sizeof *reasons == YOKE_N_REJECTIONS, "a track for each reason");
  for (int i = 0; i < YOKE_N_REJECTIONS; ++i) YOKE_TRY(add(s, result, -1, reasons[i].name, reasons[i].track, trials));
  return YOKE_OK;
}

/* Steps, degrees, errors and rejections of macro steps. */
static yoke_status add_macro(sketch *s) {
  for (int r = 0; r < s->options.n_results; ++r) {
    yoke_result *result = s->options.results[r];
    if (result->n_macro_steps == 0)
      return yoke_fail(s->ctx, YOKE_E_USAGE, "'%s' holds no macro steps: its run had none, or it is no HDF5 file",
                       result->path);
    YOKE_TRY(add(s, result, -1, "macro step", "H", "s"));
    YOKE_TRY(add(s, result, -1, "degree", "order", "degree"));
    YOKE_TRY(add(s, result, -1, "error / tolerance", "error", "1"));
    YOKE_TRY(add(s, result, -1, "local error", "local_error", "1"));
    YOKE_TRY(add(s, result, -1, "corrector passes", "iterations", "passes"));
    YOKE_TRY(add_rejections(s, result));
  }
  return YOKE_OK;
}

/* ---- numbers ---- */

static bool is_inside(const yoke_curves *o, double t) {
  return !(o->from < o->to) || (t >= o->from && t <= o->to);
}

/* The abscissa, if it is a quantity: at the same times as the ordinate. */
static yoke_status read_abscissa(sketch *s, curve *c, size_t n) {
  size_t    n_x;
  const int at = yoke_result_reader_find(c->result, s->options.against);
  if (at < 0)
    return yoke_fail(s->ctx, YOKE_E_USAGE, "there is no quantity '%s' in '%s' to plot against", s->options.against,
                     c->result->path);
  const double *t = yoke_result_reader_times(c->result, at, &n_x), *other = c->x;
  if (n_x != n || memcmp(t, other, n * sizeof *t) != 0)
    return yoke_fail(s->ctx, YOKE_E_USAGE, "'%s' and '%s' of '%s' have other times; plot them against t",
                     s->options.against, c->label, c->result->path);
  return yoke_result_reader_values(s->ctx, c->result, at, c->x);
}

static yoke_status read_curve(sketch *s, curve *c) {
  size_t        n = c->result->n_macro_steps;
  const double *t = c->quantity >= 0 ? yoke_result_reader_times(c->result, c->quantity, &n) : NULL;
  double       *times;
  c->x  = yoke_allocate(n + 1, sizeof *c->x);
  c->y  = yoke_allocate(n + 1, sizeof *c->y);
  times = yoke_allocate(n + 1, sizeof *times);
  if (c->x == NULL || c->y == NULL || times == NULL) {
    free(times);
    return yoke_out_of_memory(s->ctx, "a curve of %zu times", n);
  }
  yoke_status status = YOKE_OK;
  if (t != NULL) {
    memcpy(c->x, t, n * sizeof *t);
    status = yoke_result_reader_values(s->ctx, c->result, c->quantity, c->y);
  } else {
    yoke_result_reader_macro(c->result, "time", c->x);
    yoke_result_reader_macro(c->result, c->track, c->y);
  }
  memcpy(times, c->x, n * sizeof *times);
  if (status == YOKE_OK && s->options.against != NULL && t != NULL) status = read_abscissa(s, c, n);
  for (size_t i = 0; i < n; ++i) {
    if (!is_inside(&s->options, times[i])) continue;
    c->x[c->n] = c->x[i];
    c->y[c->n] = c->y[i];
    ++c->n;
  }
  free(times);
  return status;
}

/* Something to draw: a number, of rejections one that is not 0. */
static bool has_values(const curve *c) {
  for (size_t i = 0; i < c->n; ++i) {
    if (isfinite(c->y[i]) && (c->unit != trials || c->y[i] > 0.0)) return true;
  }
  return false;
}

/* ---- macro points, events ---- */

static const yoke_result *first_split(const yoke_curves *o) {
  for (int r = 0; r < o->n_results; ++r) {
    if (o->results[r]->n_macro_steps > 0) return o->results[r];
  }
  return NULL;
}

static yoke_status read_points(sketch *s) {
  const yoke_result *result = first_split(&s->options);
  if (result == NULL)
    return yoke_fail(s->ctx, YOKE_E_USAGE, "'%s' holds no macro points: its run had none, or it is no HDF5 file",
                     s->options.results[0]->path);
  s->points = yoke_allocate(result->n_macro_steps, sizeof *s->points);
  if (s->points == NULL) return yoke_out_of_memory(s->ctx, "%zu macro points", result->n_macro_steps);
  yoke_result_reader_macro(result, "time", s->points);
  s->n_points = result->n_macro_steps;
  return YOKE_OK;
}

static bool is_event(double reduced_by) {
  return reduced_by >= 0.0 && reduced_by < YOKE_N_REDUCTIONS &&
         strcmp(yoke_reduction_word((int)reduced_by), "event") == 0;
}

/* Two equal times are the two sides of a jump; macro steps tell whether an event ended them. */
static yoke_status read_events(sketch *s) {
  const yoke_result *split = first_split(&s->options);
  const curve       *c     = &s->list[0];
  size_t             n_t   = 0;
  const double      *t     = c->quantity >= 0 ? yoke_result_reader_times(c->result, c->quantity, &n_t) : NULL;
  const size_t       n     = split != NULL ? split->n_macro_steps : 0;
  double            *why   = yoke_allocate(2 * n + 1, sizeof *why);
  s->events                = yoke_allocate(n + n_t + 1, sizeof *s->events);
  if (why == NULL || s->events == NULL) {
    free(why);
    return yoke_out_of_memory(s->ctx, "the events");
  }
  if (n > 0) {
    yoke_result_reader_macro(split, "time", why + n);
    yoke_result_reader_macro(split, "reduced_by", why);
  }
  for (size_t k = 0; k < n; ++k) {
    if (is_event(why[k])) s->events[s->n_events++] = why[n + k];
  }
  for (size_t i = 1; i < n_t; ++i) {
    if (t[i] == t[i - 1]) s->events[s->n_events++] = t[i];
  }
  free(why);
  if (s->n_events == 0) yoke_note(s->ctx, "'%s' holds no event and no jump", s->options.results[0]->path);
  return YOKE_OK;
}

static yoke_status read_marks(sketch *s) {
  const yoke_curves *o = &s->options;
  if (!o->points && !o->events) return YOKE_OK;
  if (o->against != NULL) return yoke_fail(s->ctx, YOKE_E_USAGE, "macro points and events are marked over time only");
  if (o->points) YOKE_TRY(read_points(s));
  if (o->events) YOKE_TRY(read_events(s));
  return YOKE_OK;
}

/* ---- panels ---- */

static const char *word_of(const char *unit) {
  static const char *const words[][2] = {{"m", "position"},
                                         {"m/s", "velocity"},
                                         {"m/s^2", "acceleration"},
                                         {"rad", "angle"},
                                         {"rad/s", "angular velocity"},
                                         {"rad/s^2", "angular acceleration"},
                                         {"N", "force"},
                                         {"N*m", "moment"},
                                         {"N m", "moment"},
                                         {"J", "energy"},
                                         {"s", "macro step"}};
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
    if (strcmp(words[i][0], unit) == 0) return words[i][1];
  }
  return "";
}

static bool is_one_name(const sketch *s, int first, int n) {
  for (int k = 1; k < n; ++k) {
    if (strcmp(s->list[first + k].name, s->list[first].name) != 0) return false;
  }
  return true;
}

static void caption_of(const sketch *s, int first, int n, char text[LABEL]) {
  const curve *c    = &s->list[first];
  const char  *word = n == 1 ? c->label : is_one_name(s, first, n) ? c->name : word_of(c->unit);
  if (s->options.macro && strcmp(c->unit, "s") != 0)
    snprintf(text, LABEL, "%s",
             strcmp(c->unit, "1") == 0     ? "estimated error"
             : c->unit == trials && n == 1 ? word
                                           : c->unit);
  else if (*c->unit == '\0')
    snprintf(text, LABEL, "%s", n == 1 ? c->label : "");
  else
    snprintf(text, LABEL, "%s%s[%s]", word, *word != '\0' ? " " : "", c->unit);
}

/* Curves of the same unit are neighbours, in the order in which the units come. */
static void sort_by_unit(sketch *s) {
  for (int k = 1; k < s->n; ++k) {
    int at = -1;
    for (int i = 0; i < k; ++i) {
      if (strcmp(s->list[i].unit, s->list[k].unit) == 0) at = i + 1;
    }
    if (at < 0 || at == k) continue;
    const curve moved = s->list[k];
    memmove(&s->list[at + 1], &s->list[at], (size_t)(k - at) * sizeof *s->list);
    s->list[at] = moved;
  }
}

static int number_of(const sketch *s, const yoke_result *result) {
  int r = 0;
  while (s->options.results[r] != result) ++r;
  return r;
}

/* Within a panel every curve has a colour, and where there are several results a result has dashes. */
static void place_curves(sketch *s) {
  const yoke_curves *o     = &s->options;
  int                style = 0;
  for (int k = 0; k < s->n; ++k) {
    const curve *c        = &s->list[k];
    const bool   is_first = k == 0 || strcmp(c->unit, s->list[k - 1].unit) != 0;
    const bool   is_wide  = o->macro && (strcmp(c->unit, "s") == 0 || strcmp(c->unit, "1") == 0);
    style                 = is_first ? 0 : style + 1;
    s->series[k]          = (yoke_plot_series){.label    = c->label,
                                               .n        = (int)c->n,
                                               .x        = c->x,
                                               .y        = c->y,
                                               .is_stair = o->macro,
                                               .style    = style,
                                               .dash     = o->n_results > 1 ? number_of(s, c->result) + 1 : 0};
    if (is_first)
      s->panels[s->n_panels++] =
          (yoke_plot_panel){.x      = {.is_log = o->log_x},
                            .y      = {.is_log = o->log_y || is_wide, .is_count = o->macro && !o->log_y && !is_wide},
                            .series = &s->series[k]};
    ++s->panels[s->n_panels - 1].n_series;
  }
}

static yoke_status lay_out(sketch *s) {
  s->panels   = yoke_allocate((size_t)s->n + 1, sizeof *s->panels);
  s->series   = yoke_allocate((size_t)s->n + 1, sizeof *s->series);
  s->captions = yoke_allocate((size_t)s->n + 1, sizeof *s->captions);
  if (s->panels == NULL || s->series == NULL || s->captions == NULL) return yoke_out_of_memory(s->ctx, "the picture");
  snprintf(s->abscissa, sizeof s->abscissa, "t [s]");
  if (s->options.against != NULL && !s->options.macro) {
    const yoke_result *result = s->list[0].result;
    snprintf(s->abscissa, sizeof s->abscissa, "%s [%s]", s->options.against,
             result->units[yoke_result_reader_find(result, s->options.against)]);
  }
  place_curves(s);
  for (int p = 0, first = 0; p < s->n_panels; first += s->panels[p].n_series, ++p) {
    caption_of(s, first, s->panels[p].n_series, s->captions[p]);
    s->panels[p].y.caption = s->captions[p];
    s->panels[p].n_points  = (int)s->n_points;
    s->panels[p].points    = s->points;
    s->panels[p].n_lines   = (int)s->n_events;
    s->panels[p].lines     = s->events;
    s->panels[p].x.caption = p + 1 == s->n_panels ? s->abscissa : NULL;
  }
  snprintf(s->title, sizeof s->title, "%s", s->options.title != NULL ? s->options.title : s->list[0].result->name);
  s->figure = (yoke_plot_figure){.title            = s->title,
                                 .n_columns        = 1,
                                 .n_rows           = s->n_panels,
                                 .width            = width,
                                 .height           = s->n_panels == 1 ? height_alone : height_stacked,
                                 .has_side_legends = true,
                                 .panels           = s->panels};
  return YOKE_OK;
}

static void clear(sketch *s) {
  for (int k = 0; k < s->n; ++k) {
    free(s->list[k].x);
    free(s->list[k].y);
  }
  free(s->panels);
  free(s->series);
  free(s->captions);
  free(s->points);
  free(s->events);
  free(s);
}

/* Tracks that a run does not have, errors of one without estimates or rejections say, are left out. */
static void drop_unknown(sketch *s) {
  int n = 0;
  for (int k = 0; k < s->n; ++k) {
    if (s->options.macro && !has_values(&s->list[k])) {
      free(s->list[k].x);
      free(s->list[k].y);
    } else {
      s->list[n++] = s->list[k];
    }
  }
  s->n = n;
}

static yoke_status fill(sketch *s) {
  const yoke_curves *o = &s->options;
  if (o->macro) {
    YOKE_TRY(add_macro(s));
  } else if (o->n_names == 0) {
    YOKE_TRY(add_first(s));
  } else {
    for (int k = 0; k < o->n_names; ++k) YOKE_TRY(add_named(s, o->names[k]));
  }
  for (int k = 0; k < s->n; ++k) YOKE_TRY(read_curve(s, &s->list[k]));
  drop_unknown(s);
  if (s->n == 0) return yoke_fail(s->ctx, YOKE_E_USAGE, "'%s' holds nothing to plot", o->results[0]->path);
  sort_by_unit(s);
  YOKE_TRY(read_marks(s));
  return lay_out(s);
}

/* Gives; clear it in any case but NULL. */
static yoke_status draw(yoke_context *ctx, const yoke_curves *curves, sketch **out) {
  yoke_curves own;
  *out = NULL;
  YOKE_TRY(yoke_sized_take(ctx, curves, &own, sizeof own, "yoke_curves"));
  YOKE_TRY(yoke_given_texts(ctx, own.n_names, own.names, "the name of a quantity"));
  if (own.n_results < 1 || own.results == NULL) return yoke_fail(ctx, YOKE_E_USAGE, "there is no result to plot");
  for (int r = 0; r < own.n_results; ++r) YOKE_TRY(yoke_given(ctx, own.results[r], "result"));
  sketch *s = yoke_allocate(1, sizeof *s);
  if (s == NULL) return yoke_out_of_memory(ctx, "the picture");
  s->ctx     = ctx;
  s->options = own;
  *out       = s;
  return fill(s);
}

yoke_status yoke_curves_write(yoke_context *ctx, const yoke_curves *curves, const char *path) {
  sketch *s;
  YOKE_TRY(yoke_given(ctx, path, "path of the picture"));
  YOKE_TRY(yoke_page_check(ctx, path));
  yoke_status status = draw(ctx, curves, &s);
  char       *svg    = status == YOKE_OK ? yoke_plot_text(&s->figure) : NULL;
  if (status == YOKE_OK) status = yoke_page_write(ctx, path, svg);
  free(svg);
  if (s != NULL) clear(s);
  return status;
}

yoke_status yoke_curves_print(yoke_context *ctx, const yoke_curves *curves, int columns,
                              void (*put)(void *user, const char *line), void *user) {
  sketch     *s;
  yoke_status status = draw(ctx, curves, &s);
  if (status == YOKE_OK) status = yoke_plot_letters(ctx, &s->figure, columns, put, user);
  if (s != NULL) clear(s);
  return status;
}
