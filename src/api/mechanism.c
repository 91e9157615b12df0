/* Drawing of a mechanism: what of a model is drawn, and where it is at a time of a result. */
#include <yoke/mechanism.h>

#include "base/given.h"
#include "base/memory.h"
#include "base/sized.h"
#include "io/result_reader.h"
#include "linalg/space.h"
#include "model/model.h"
#include "plot/page.h"
#include "plot/svg.h"
#include "plot/ticks.h"
#include <yoke/model.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_Q = 7, STILLS = 6, FRAMES = 120, ZIGZAG = 9, MOST_POINTS = 64, N_COLOURS = 7 };

/* Lengths of the picture [pt]. */
static const double width = 500.0, most_height = 420.0, margin = 26.0, head = 34.0;

static const char *const colours[N_COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                               "#e69f00", "#56b4e9", "#000000"};

typedef struct place {
  int    body; /* YOKE_GROUND: fixed */
  double at[3];
} place;

typedef enum shape_kind {
  SHAPE_BAR,
  SHAPE_POINT,
  SHAPE_JOINT,
  SHAPE_CUT,
  SHAPE_ROD,
  SHAPE_SPRING,
  SHAPE_GROUND
} shape_kind;

typedef struct shape {
  shape_kind kind;
  place      end[2]; /* points: the first */
  int        part;   /* colour; -1: none */
} shape;

typedef struct drawing {
  yoke_context  *ctx;
  yoke_mechanism options;
  yoke_model    *model;
  yoke_arena     arena;
  int           *part;  /* [n_bodies]; -1: in none */
  double *(*q)[MOST_Q]; /* [n_bodies] columns of the result; NULL: 0 */
  size_t        n_times;
  const double *t;
  int           n;
  shape        *shapes;
  double        side[3], up[3]; /* axes of the picture */
  double        x0, y0, scale;  /* picture = x0 + scale u, y0 - scale v */
  double        height;
  yoke_svg      svg;
} drawing;

/* ---- the model ---- */

static int n_positions(const yoke_body *body) {
  const yoke_body_kind kind = body->kind;
  if (body->is_direction) return 0; /* it is nowhere */
  return kind == YOKE_BODY_RIGID ? 7 : kind == YOKE_BODY_PLANAR || kind == YOKE_BODY_PARTICLE ? 3 : 0;
}

static yoke_status read_column(drawing *d, int body, int k) {
  const yoke_body *b = &d->model->bodies[body];
  char             component[32], name[200];
  size_t           n;
  (void)yoke_body_component_name(b, false, k, component, sizeof component);
  snprintf(name, sizeof name, "%s.%s", b->name, component);
  const int at = yoke_result_reader_find(d->options.result, name);
  if (at < 0)
    return yoke_fail(d->ctx, YOKE_E_UNSUPPORTED,
                     "'%s' does not hold '%s', which a drawing needs; select it for output (output.select)",
                     d->options.result->path, name);
  const double *t = yoke_result_reader_times(d->options.result, at, &n);
  if (d->t == NULL) d->t = t, d->n_times = n;
  if (n != d->n_times)
    return yoke_fail(d->ctx, YOKE_E_UNSUPPORTED, "'%s' of '%s' has other times than the bodies before it", name,
                     d->options.result->path);
  d->q[body][k] = yoke_arena_take(&d->arena, n + 1, sizeof(double));
  YOKE_TRY(yoke_arena_check(&d->arena, d->ctx, "the motion of '%s'", b->name));
  return yoke_result_reader_values(d->ctx, d->options.result, at, d->q[body][k]);
}

static yoke_status read_motion(drawing *d) {
  const yoke_model *m      = d->model;
  bool              is_any = false;
  d->q                     = yoke_arena_take(&d->arena, (size_t)m->n_bodies + 1, sizeof *d->q);
  d->part                  = yoke_arena_take(&d->arena, (size_t)m->n_bodies + 1, sizeof *d->part);
  YOKE_TRY(yoke_arena_check(&d->arena, d->ctx, "%d bodies", m->n_bodies));
  for (int b = 0; b < m->n_bodies; ++b) d->part[b] = -1;
  for (int p = 0; p < m->n_parts; ++p) {
    for (int i = 0; i < m->parts[p].n_bodies; ++i) d->part[m->parts[p].bodies[i]] = p;
  }
  for (int b = 0; b < m->n_bodies - yoke_model_n_port_bodies(m); ++b) {
    for (int k = 0; k < n_positions(&m->bodies[b]); ++k) YOKE_TRY(read_column(d, b, k));
    is_any = is_any || n_positions(&m->bodies[b]) > 0;
  }
  if (is_any && d->n_times > 0) return YOKE_OK;
  return yoke_fail(d->ctx, YOKE_E_UNSUPPORTED,
                   "'%s' has no body in a plane or in space to draw; plot its quantities instead (yoke plot RESULT)",
                   d->options.result->path);
}

static bool is_drawn(const drawing *d, int body) {
  return body == YOKE_GROUND || (body >= 0 && n_positions(&d->model->bodies[body]) > 0 && d->q[body][0] != NULL);
}

static void add(drawing *d, shape_kind kind, place a, place b, int part) {
  d->shapes[d->n++] = (shape){.kind = kind, .end = {a, b}, .part = part};
}

static place frame_place(const drawing *d, int frame) {
  const yoke_frame *f = &d->model->frames[frame];
  place             p = {.body = f->body};
  vec3_copy(p.at, f->origin);
  return p;
}

static int part_of(const drawing *d, int body) {
  return body >= 0 ? d->part[body] : -1;
}

/* Node number of a rod, counted from its end a; -1: of none. `last`: of its end b. */
static int rod_node(const drawing *d, int body, int *last) {
  for (int k = 0; k < d->model->n_rods; ++k) {
    const yoke_rod *rod = &d->model->rods[k];
    if (body < rod->first_body || body >= rod->first_body + rod->n_bodies) continue;
    *last = rod->n_bodies - 1;
    return body - rod->first_body;
  }
  return -1;
}

/* A body is the lines between the places where something is attached to it, by way of its centre where there are not just two. */
static void add_body(drawing *d, int body) {
  place points[MOST_POINTS];
  int   n = 0;
  for (int c = 0; c < 2 * d->model->n_connections && n < MOST_POINTS; ++c) {
    const place p      = frame_place(d, d->model->connections[c / 2].frame[c % 2]);
    bool        is_new = p.body == body;
    for (int i = 0; is_new && i < n; ++i) {
      const double gap[3] = {p.at[0] - points[i].at[0], p.at[1] - points[i].at[1], p.at[2] - points[i].at[2]};
      is_new              = vec3_norm(gap) > 0.0;
    }
    if (is_new) points[n++] = p;
  }
  const place centre = {.body = body};
  if (n == 2) add(d, SHAPE_BAR, points[0], points[1], d->part[body]);
  for (int i = 0; n != 2 && i < n; ++i) add(d, SHAPE_BAR, centre, points[i], d->part[body]);
  if (n < 2) add(d, SHAPE_POINT, centre, centre, d->part[body]);
}

/* A cable is the line through its nodes, every second one of its points. */
static void add_cable(drawing *d, const yoke_flexible *f) {
  for (int k = f->first_body; k + 2 < f->first_body + f->n_bodies; k += 2) {
    const place a = {.body = k}, b = {.body = k + 2};
    if (is_drawn(d, a.body) && is_drawn(d, b.body)) add(d, SHAPE_BAR, a, b, d->part[k]);
  }
}

/* A place of the ground, once. */
static void add_support(drawing *d, place p) {
  if (p.body != YOKE_GROUND) return;
  for (int k = 0; k < d->n; ++k) {
    if (d->shapes[k].kind == SHAPE_GROUND && memcmp(d->shapes[k].end[0].at, p.at, sizeof p.at) == 0) return;
  }
  add(d, SHAPE_GROUND, p, p, -1);
}

static void add_connection(drawing *d, const yoke_connection *c) {
  const place a = frame_place(d, c->frame[0]), b = frame_place(d, c->frame[1]);
  if (!is_drawn(d, a.body) || !is_drawn(d, b.body)) return;
  if (c->kind == YOKE_CONNECTION_ROD_ELEMENT) { /* all of them are the curve of the rod */
    add(d, SHAPE_BAR, a, b, part_of(d, a.body));
    return;
  }
  const bool is_cut = a.body >= 0 && b.body >= 0 && part_of(d, a.body) != part_of(d, b.body);
  if (c->kind == YOKE_CONNECTION_SPRING_DAMPER)
    add(d, SHAPE_SPRING, a, b, is_cut ? -2 : -1);
  else if (c->kind == YOKE_CONNECTION_DISTANCE)
    add(d, SHAPE_ROD, a, b, -1);
  else
    add(d, SHAPE_JOINT, a.body >= 0 ? a : b, b, -1);
  add_support(d, a);
  add_support(d, b);
  if (is_cut) add(d, SHAPE_CUT, a, b, -1);
}

/* Bodies first, what lies on them behind. */
static yoke_status find_shapes(drawing *d) {
  const yoke_model *m = d->model;
  d->shapes = yoke_arena_take(&d->arena, (size_t)m->n_bodies * (MOST_POINTS + 1) + 4 * (size_t)m->n_connections + 1,
                              sizeof *d->shapes);
  YOKE_TRY(yoke_arena_check(&d->arena, d->ctx, "the drawing"));
  for (int b = 0, last; b < m->n_bodies; ++b) {
    const int  number   = m->bodies[b].flexible;
    const bool is_cable = number > 0 && m->flexibles[number - 1].cable != NULL;
    if (is_drawn(d, b) && rod_node(d, b, &last) < 0 && !is_cable) add_body(d, b);
  }
  for (int i = 0; i < m->n_flexibles; ++i) {
    if (m->flexibles[i].cable != NULL) add_cable(d, &m->flexibles[i]);
  }
  for (int c = 0; c < m->n_connections; ++c) add_connection(d, &m->connections[c]);
  return YOKE_OK;
}

/* ---- where it is ---- */

static double column(const drawing *d, int body, int k, size_t i) {
  return d->q[body][k] != NULL ? d->q[body][k][i] : 0.0;
}

/* A place at output time i, in the model's axes. */
static void place_at(const drawing *d, const place *p, size_t i, double r[3]) {
  vec3_copy(r, p->at);
  if (p->body < 0) return;
  const yoke_body_kind kind = d->model->bodies[p->body].kind;
  double               R[9], turned[3];
  if (kind == YOKE_BODY_RIGID) {
    const double e[4] = {column(d, p->body, 3, i), column(d, p->body, 4, i), column(d, p->body, 5, i),
                         column(d, p->body, 6, i)};
    quaternion_rotation(R, e);
    mat3_apply(turned, R, p->at);
    vec3_copy(r, turned);
  } else if (kind == YOKE_BODY_PLANAR) {
    const double c = cos(column(d, p->body, 2, i)), s = sin(column(d, p->body, 2, i));
    r[0] = c * p->at[0] - s * p->at[1];
    r[1] = s * p->at[0] + c * p->at[1];
  }
  for (int k = 0; k < (kind == YOKE_BODY_PLANAR ? 2 : 3); ++k) r[k] += column(d, p->body, k, i);
}

/* In the axes of the picture [m]. */
static void seen_at(const drawing *d, const place *p, size_t i, double uv[2]) {
  double r[3];
  place_at(d, p, i, r);
  uv[0] = vec3_dot(d->side, r);
  uv[1] = vec3_dot(d->up, r);
}

static void picture_at(const drawing *d, const place *p, size_t i, double xy[2]) {
  double uv[2];
  seen_at(d, p, i, uv);
  xy[0] = d->x0 + d->scale * uv[0];
  xy[1] = d->y0 - d->scale * uv[1];
}

/* Does everything stay in a plane across this axis? */
static bool is_flat_across(const drawing *d, int axis) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (int k = 0; k < d->n; ++k) {
    for (size_t i = 0; i < d->n_times; ++i) {
      double r[3];
      place_at(d, &d->shapes[k].end[0], i, r);
      for (int c = 0; c < 3; ++c) {
        low[c]  = fmin(low[c], r[c]);
        high[c] = fmax(high[c], r[c]);
      }
    }
  }
  const double size = fmax(fmax(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
  return high[axis] - low[axis] <= 1e-9 * size;
}

/* What stays in a plane of two axes is seen across it; others obliquely from above. Gravity points downwards, z is up without it. */
static void choose_view(drawing *d) {
  const double *g    = d->model->gravity;
  int           high = 2;
  for (int k = 0; k < 3; ++k) {
    if (fabs(g[k]) > fabs(g[high])) high = k;
  }
  const double upwards = g[high] > 0.0 ? -1.0 : 1.0;
  memset(d->side, 0, sizeof d->side);
  memset(d->up, 0, sizeof d->up);
  if (is_flat_across(d, 2)) { /* as planar models are written */
    d->side[0] = d->up[1] = 1.0;
    return;
  }
  const int a = (high + 1) % 3, b = (high + 2) % 3;
  for (int across = a;; across = b) {
    const int along = across == a ? b : a;
    if (is_flat_across(d, across)) {
      d->side[along] = 1.0;
      d->up[high]    = upwards;
      return;
    }
    if (across == b) break;
  }
  d->side[a]  = cos(0.42);
  d->side[b]  = -sin(0.42);
  d->up[a]    = sin(0.42) * sin(0.45);
  d->up[b]    = cos(0.42) * sin(0.45);
  d->up[high] = upwards * cos(0.45);
}

static void choose_scale(drawing *d) {
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  for (int k = 0; k < d->n; ++k) {
    for (size_t i = 0; i < d->n_times; ++i) {
      for (int e = 0; e < 2; ++e) {
        double uv[2];
        seen_at(d, &d->shapes[k].end[e], i, uv);
        for (int c = 0; c < 2; ++c) {
          if (!isfinite(uv[c])) continue;
          low[c]  = fmin(low[c], uv[c]);
          high[c] = fmax(high[c], uv[c]);
        }
      }
    }
  }
  const double least = 1e-12 + 0.05 * fmax(high[0] - low[0], high[1] - low[1]);
  const double w = fmax(high[0] - low[0], least), h = fmax(high[1] - low[1], least);
  d->scale  = fmin((width - 2 * margin) / w, (most_height - 2 * margin) / h);
  d->height = d->scale * h + 2 * margin;
  d->x0     = 0.5 * width - d->scale * 0.5 * (low[0] + high[0]);
  d->y0     = head + 0.5 * d->height + d->scale * 0.5 * (low[1] + high[1]);
}

/* ---- picture ---- */

static void put_circle(yoke_svg *svg, const double xy[2], double r) {
  yoke_svg_put(svg, "M~ ~m~ 0a~ ~ 0 1 0 ~ 0a~ ~ 0 1 0 ~ 0z", xy[0], xy[1], -r, r, r, 2 * r, r, r, -2 * r);
}

/* The path of a shape at output time i: the same commands at every time. */
static void put_path(drawing *d, const shape *s, size_t i) {
  yoke_svg *svg = &d->svg;
  double    a[2], b[2];
  picture_at(d, &s->end[0], i, a);
  picture_at(d, &s->end[1], i, b);
  const double dx = b[0] - a[0], dy = b[1] - a[1], length = hypot(dx, dy) + 1e-9;
  switch (s->kind) {
  case SHAPE_BAR:
  case SHAPE_ROD: yoke_svg_put(svg, "M~ ~L~ ~", a[0], a[1], b[0], b[1]); break;
  case SHAPE_POINT: put_circle(svg, a, 4.0); break;
  case SHAPE_JOINT: put_circle(svg, a, 2.4); break;
  case SHAPE_CUT: put_circle(svg, a, 6.5); break;
  case SHAPE_GROUND: yoke_svg_put(svg, "M~ ~l-6 9h12z", a[0], a[1]); break;
  case SHAPE_SPRING:
    yoke_svg_put(svg, "M~ ~", a[0], a[1]);
    for (int k = 1; k < ZIGZAG; ++k) {
      const double f = (double)k / ZIGZAG, side = k % 2 == 0 ? 3.5 : -3.5;
      yoke_svg_put(svg, "L~ ~", a[0] + f * dx - side * dy / length, a[1] + f * dy + side * dx / length);
    }
    yoke_svg_put(svg, "L~ ~", b[0], b[1]);
    break;
  }
}

static const char *colour_of(const shape *s) {
  return s->part < 0 ? "#333333" : colours[s->part % N_COLOURS];
}

/* Beginning of the element; its path follows. */
static void open_shape(drawing *d, const shape *s) {
  const char *colour = colour_of(s);
  switch (s->kind) {
  case SHAPE_BAR:
    yoke_svg_put(&d->svg, "<path fill=\"none\" stroke=\"`\" stroke-width=\"3.5\" stroke-linecap=\"round\" d=\"",
                 colour);
    break;
  case SHAPE_ROD: yoke_svg_put(&d->svg, "<path fill=\"none\" stroke=\"#333333\" stroke-width=\"1.5\" d=\""); break;
  case SHAPE_SPRING: yoke_svg_put(&d->svg, "<path fill=\"none\" stroke=\"#555555\" stroke-width=\"1\" d=\""); break;
  case SHAPE_POINT: yoke_svg_put(&d->svg, "<path fill=\"`\" stroke=\"none\" d=\"", colour); break;
  case SHAPE_JOINT: yoke_svg_put(&d->svg, "<path fill=\"#ffffff\" stroke=\"#333333\" stroke-width=\"1\" d=\""); break;
  case SHAPE_CUT:
    yoke_svg_put(&d->svg,
                 "<path fill=\"none\" stroke=\"#d00000\" stroke-width=\"1.2\" stroke-dasharray=\"2.5 1.5\" d=\"");
    break;
  case SHAPE_GROUND:
    yoke_svg_put(&d->svg, "<path fill=\"#dddddd\" stroke=\"#777777\" stroke-width=\"0.8\" d=\"");
    break;
  }
}

/* All shapes of one kind of layer: supports first, then bodies, then joints. */
static int layer_of(shape_kind kind) {
  return kind == SHAPE_GROUND                                            ? 0
         : kind == SHAPE_BAR || kind == SHAPE_POINT || kind == SHAPE_ROD ? 1
         : kind == SHAPE_SPRING                                          ? 2
                                                                         : 3;
}

static size_t nearest_time(const drawing *d, double t) {
  size_t best = 0;
  for (size_t i = 1; i < d->n_times; ++i) {
    if (fabs(d->t[i] - t) < fabs(d->t[best] - t)) best = i;
  }
  return best;
}

/* Output time number k of n, evenly in time. */
static size_t even_time(const drawing *d, int k, int n) {
  const double from = d->t[0], to = d->t[d->n_times - 1];
  return nearest_time(d, n > 1 ? from + (to - from) * k / (n - 1) : from);
}

static void put_still(drawing *d, size_t i, double opacity) {
  yoke_svg_put(&d->svg, "<g opacity=\"~\">\n", opacity);
  for (int layer = 0; layer < 4; ++layer) {
    for (int k = 0; k < d->n; ++k) {
      const shape *s = &d->shapes[k];
      if (layer_of(s->kind) != layer) continue;
      open_shape(d, s);
      put_path(d, s, i);
      yoke_svg_put(&d->svg, "\"/>\n");
    }
  }
  yoke_svg_put(&d->svg, "</g>\n");
}

static void put_stills(drawing *d) {
  const int n = d->options.n_times > 0 ? d->options.n_times : STILLS;
  for (int k = 0; k < n; ++k) {
    const size_t i = d->options.n_times > 0 ? nearest_time(d, d->options.times[k]) : even_time(d, k, n);
    put_still(d, i, n > 1 ? 0.2 + 0.8 * (double)k / (n - 1) : 1.0);
  }
}

static void put_motion(drawing *d) {
  const double span     = d->t[d->n_times - 1] - d->t[0];
  const double duration = fmin(20.0, fmax(2.0, span));
  char         seconds[32];
  yoke_short_number(duration, 4, seconds, sizeof seconds);
  for (int layer = 0; layer < 4; ++layer) {
    for (int k = 0; k < d->n; ++k) {
      const shape *s = &d->shapes[k];
      if (layer_of(s->kind) != layer) continue;
      open_shape(d, s);
      put_path(d, s, 0);
      yoke_svg_put(&d->svg, "\"><animate attributeName=\"d\" dur=\"`s\" repeatCount=\"indefinite\" values=\"", seconds);
      for (int f = 0; f < FRAMES; ++f) {
        if (f > 0) yoke_svg_put(&d->svg, ";");
        put_path(d, s, even_time(d, f, FRAMES));
      }
      yoke_svg_put(&d->svg, "\"/></path>\n");
    }
  }
}

/* A bar of round length tells the scale; subsystems have their names; a ring marks couplings. */
static double put_legend(drawing *d, double y) {
  double      x      = margin;
  double      length = pow(10.0, floor(log10(0.3 * width / d->scale)));
  const shape ring   = {.kind = SHAPE_CUT, .part = -1};
  char        text[60], number[32];
  if (5 * length * d->scale < 0.3 * width)
    length *= 5;
  else if (2 * length * d->scale < 0.3 * width)
    length *= 2;
  yoke_short_number(length, 3, number, sizeof number);
  snprintf(text, sizeof text, "%s m", number);
  yoke_svg_put(&d->svg, "<path fill=\"none\" stroke=\"#000\" stroke-width=\"1\" d=\"M~ ~v4h~v-4\"/>\n", x, y - 4,
               d->scale * length);
  yoke_svg_put(&d->svg, "<text x=\"~\" y=\"~\" font-size=\"9\">$</text>\n", x + d->scale * length + 5, y + 3, text);
  x += d->scale * length + 45;
  for (int p = 0; p < d->model->n_parts; ++p) {
    const double room = yoke_svg_text_width(d->model->parts[p].name, 9) + 36;
    if (x + room > width - margin) x = margin, y += 15;
    yoke_svg_put(&d->svg,
                 "<path fill=\"none\" stroke=\"`\" stroke-width=\"3.5\" stroke-linecap=\"round\" d=\"M~ ~h18\"/>\n",
                 colours[p % N_COLOURS], x, y);
    yoke_svg_put(&d->svg, "<text x=\"~\" y=\"~\" font-size=\"9\">$</text>\n", x + 23, y + 3, d->model->parts[p].name);
    x += room;
  }
  if (d->model->n_parts > 1) {
    if (x + yoke_svg_text_width("coupling", 9) + 26 > width - margin) x = margin, y += 15;
    open_shape(d, &ring);
    yoke_svg_put(&d->svg, "M~ ~a5 5 0 1 0 10 0a5 5 0 1 0 -10 0\"/>\n", x, y);
    yoke_svg_put(&d->svg, "<text x=\"~\" y=\"~\" font-size=\"9\">coupling</text>\n", x + 15, y + 3);
  }
  return y + 15;
}

/* "t = 0 (pale), 0.3, 0.6, 1 s (dark)"; too many: how many. */
static void list_times(const drawing *d, char *text, size_t size) {
  enum { MOST = 8 };
  const int n = d->options.n_times;
  char      number[32];
  size_t    at = (size_t)snprintf(text, size, n > MOST ? "%d times, the last one dark" : "t = ", n);
  for (int i = 0; i < n && n <= MOST && at < size; ++i) {
    yoke_short_number(d->t[nearest_time(d, d->options.times[i])], 4, number, sizeof number);
    at += (size_t)snprintf(text + at, size - at, "%s%s%s", number, i == 0 && n > 1 ? " (pale)" : "",
                           i + 1 < n ? ", "
                           : n > 1   ? " s (dark)"
                                     : " s");
  }
}

static void put_times(drawing *d) {
  char text[160], from[32], to[32];
  yoke_short_number(d->t[0], 4, from, sizeof from);
  yoke_short_number(d->t[d->n_times - 1], 4, to, sizeof to);
  if (d->options.moves || d->options.n_times == 0)
    snprintf(text, sizeof text, d->options.moves ? "t = %s ... %s s" : "t = %s (pale) ... %s s (dark)", from, to);
  else
    list_times(d, text, sizeof text);
  yoke_svg_put(&d->svg, "<text x=\"~\" y=\"~\" font-size=\"9\" text-anchor=\"middle\">$</text>\n", 0.5 * width, 30.0,
               text);
}

/* Paths of the centres of mass, and of the ends of rods. */
static void put_traces(drawing *d) {
  enum { MOST = 400 };
  for (int b = 0, last = 0; b < d->model->n_bodies; ++b) {
    const int node = rod_node(d, b, &last);
    if (!is_drawn(d, b) || (node > 0 && node < last)) continue;
    const place  centre = {.body = b};
    const size_t stride = d->n_times / MOST + 1;
    yoke_svg_put(&d->svg, "<path fill=\"none\" stroke=\"#bbbbbb\" stroke-width=\"0.6\" d=\"");
    for (size_t i = 0; i < d->n_times; i += stride) {
      double xy[2];
      picture_at(d, &centre, i, xy);
      yoke_svg_put(&d->svg, i == 0 ? "M~ ~" : "L~ ~", xy[0], xy[1]);
    }
    yoke_svg_put(&d->svg, "\"/>\n");
  }
}

static void put_picture(drawing *d) {
  enum { LINE = 15 };
  const char  *title = d->options.title != NULL ? d->options.title : d->options.result->name;
  const int    lines = 1 + d->model->n_parts / 4;
  const double all   = head + d->height + 14 + LINE * lines;
  yoke_svg_put(&d->svg,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"~pt\" "
               "height=\"~pt\" viewBox=\"0 0 ~ ~\" font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\" "
               "role=\"img\">\n<title>$</title>\n<rect width=\"~\" height=\"~\" fill=\"#fff\"/>\n",
               width, all, width, all, title, width, all);
  yoke_svg_put(&d->svg,
               "<text x=\"~\" y=\"18\" font-size=\"12\" text-anchor=\"middle\" font-weight=\"bold\">$</text>\n",
               0.5 * width, title);
  put_times(d);
  put_traces(d);
  if (d->options.moves)
    put_motion(d);
  else
    put_stills(d);
  (void)put_legend(d, head + d->height + 8);
  yoke_svg_put(&d->svg, "</svg>\n");
}

static yoke_status draw(drawing *d, const char *path) {
  const yoke_result *r = d->options.result;
  if (r->model == NULL || *r->model == '\0')
    return yoke_fail(d->ctx, YOKE_E_UNSUPPORTED, "'%s' does not hold its model; write the result as HDF5 (-o out.h5)",
                     r->path);
  YOKE_TRY(yoke_model_load_text(d->ctx, r->path, r->model, strlen(r->model), NULL, &d->model));
  YOKE_TRY(read_motion(d));
  YOKE_TRY(find_shapes(d));
  choose_view(d);
  choose_scale(d);
  put_picture(d);
  return yoke_page_write(d->ctx, path, d->svg.has_failed ? NULL : d->svg.text);
}

yoke_status yoke_mechanism_write(yoke_context *ctx, const yoke_mechanism *mechanism, const char *path) {
  drawing d = {.ctx = ctx, .arena = yoke_arena_of(ctx)};
  YOKE_TRY(yoke_sized_take(ctx, mechanism, &d.options, sizeof d.options, "yoke_mechanism"));
  YOKE_TRY(yoke_given(ctx, d.options.result, "result"));
  YOKE_TRY(yoke_given(ctx, path, "path of the picture"));
  YOKE_TRY(yoke_page_check(ctx, path));
  const yoke_status status = draw(&d, path);
  yoke_svg_release(&d.svg);
  yoke_model_destroy(&d.model);
  yoke_arena_free(&d.arena);
  return status;
}
