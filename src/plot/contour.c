#include "plot/contour.h"
#include "base/memory.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void yoke_polylines_release(yoke_polylines *lines) {
  free(lines->first);
  free(lines->closed);
  free(lines->x);
  free(lines->y);
  *lines = (yoke_polylines){0};
}

/* ---- building ---- */

static bool grow(void **array, int room, size_t size) {
  void *larger = realloc(*array, (size_t)room * size);
  if (larger != NULL) *array = larger;
  return larger != NULL;
}

static bool add_point(yoke_polylines *l, double x, double y) {
  if (l->n_points == l->point_room) {
    const int room = 2 * l->point_room + 256;
    if (!grow((void **)&l->x, room, sizeof *l->x) || !grow((void **)&l->y, room, sizeof *l->y)) return false;
    l->point_room = room;
  }
  l->x[l->n_points]   = x;
  l->y[l->n_points++] = y;
  return true;
}

/* Ends the line that began after the last one. */
static bool end_line(yoke_polylines *l, bool closed) {
  if (l->n_lines + 1 >= l->line_room) {
    const int room = 2 * l->line_room + 64;
    if (!grow((void **)&l->first, room, sizeof *l->first) || !grow((void **)&l->closed, room, sizeof *l->closed))
      return false;
    if (l->line_room == 0) l->first[0] = 0;
    l->line_room = room;
  }
  l->closed[l->n_lines]  = closed;
  l->first[++l->n_lines] = l->n_points;
  return true;
}

/* ---- marching squares ---- */

/* Edges of the grid: horizontal (i, j)-(i+1, j) has number j nx + i, vertical (i, j)-(i, j+1) has nx ny + j nx + i. An edge
 * that the line crosses is an end of at most two segments, one in each cell beside it. */
typedef struct grid {
  int           nx, ny;
  const double *values;
  double        level;
  int          *links; /* [2 * n_edges], -1: none */
} grid;

static double value_at(const grid *g, int i, int j) {
  const double value = g->values[(size_t)j * (size_t)g->nx + (size_t)i];
  return value > 1e300 ? 1e300 : value < -1e300 ? -1e300 : value;
}

static void link_edges(grid *g, int a, int b) {
  const int ends[2][2] = {{a, b}, {b, a}};
  for (int k = 0; k < 2; ++k) {
    int *of        = &g->links[2 * (size_t)ends[k][0]];
    of[of[0] >= 0] = ends[k][1];
  }
}

static void march_cell(grid *g, int i, int j) {
  const double f[4] = {value_at(g, i, j), value_at(g, i + 1, j), value_at(g, i + 1, j + 1), value_at(g, i, j + 1)};
  const int    n = g->nx * g->ny, at = j * g->nx + i;
  const int    edge[4] = {at, n + at + 1, at + g->nx, n + at}; /* below, right, above, left: corners k and k + 1 */
  int          crossed[4], n_crossed = 0;
  for (int k = 0; k < 4; ++k) {
    if (isnan(f[k])) return;
  }
  for (int k = 0; k < 4; ++k) {
    if ((f[k] > g->level) != (f[(k + 1) % 4] > g->level)) crossed[n_crossed++] = k;
  }
  if (n_crossed == 2) link_edges(g, edge[crossed[0]], edge[crossed[1]]);
  if (n_crossed < 4) return;
  /* saddle: the centre decides which corners are joined */
  const bool centre = 0.25 * f[0] + 0.25 * f[1] + 0.25 * f[2] + 0.25 * f[3] > g->level;
  const bool first  = f[0] > g->level;
  const int  shift  = centre == first ? 0 : 1; /* corners 0 and 2 joined: cut off 1 and 3 */
  link_edges(g, edge[shift ? 3 : 0], edge[shift ? 0 : 1]);
  link_edges(g, edge[shift ? 1 : 2], edge[shift ? 2 : 3]);
}

static bool add_crossing(const grid *g, int e, yoke_polylines *out) {
  const int    n = g->nx * g->ny, at = e < n ? e : e - n;
  const int    i = at % g->nx, j = at / g->nx, di = e < n, dj = e >= n;
  const double f0 = value_at(g, i, j), f1 = value_at(g, i + di, j + dj);
  const double s = (g->level - f0) / (f1 - f0);
  return add_point(out, i + s * di, j + s * dj);
}

/* Follow the segments from edge e; every one is taken out on the way. */
static bool follow(grid *g, int e, bool closed, yoke_polylines *out) {
  int       at    = e;
  const int start = e;
  bool      ok    = add_crossing(g, at, out);
  while (ok) {
    int *of   = &g->links[2 * (size_t)at];
    int  next = of[0] >= 0 ? of[0] : of[1];
    if (next < 0) break;
    of[of[0] >= 0 ? 0 : 1]      = -1;
    int *back                   = &g->links[2 * (size_t)next];
    back[back[0] == at ? 0 : 1] = -1;
    at                          = next;
    if (closed && at == start) break;
    ok = add_crossing(g, at, out);
  }
  return ok && end_line(out, closed);
}

yoke_status yoke_contour_line(int nx, int ny, const double *values, double level, yoke_polylines *out) {
  *out = (yoke_polylines){0};
  if (nx < 2 || ny < 2) return YOKE_OK;
  if (ny > 500000000 / nx) return YOKE_E_MEMORY;
  const int n_edges = 2 * nx * ny;
  grid      g       = {.nx = nx, .ny = ny, .values = values, .level = level};
  g.links           = malloc(2 * (size_t)n_edges * sizeof *g.links);
  if (g.links == NULL) return YOKE_E_MEMORY;
  for (size_t k = 0; k < 2 * (size_t)n_edges; ++k) g.links[k] = -1;
  for (int j = 0; j + 1 < ny; ++j) {
    for (int i = 0; i + 1 < nx; ++i) march_cell(&g, i, j);
  }
  bool ok = true;
  for (int e = 0; e < n_edges && ok; ++e) { /* lines that end at the rim first, then loops */
    if ((g.links[2 * (size_t)e] >= 0) != (g.links[2 * (size_t)e + 1] >= 0)) ok = follow(&g, e, false, out);
  }
  for (int e = 0; e < n_edges && ok; ++e) {
    if (g.links[2 * (size_t)e] >= 0) ok = follow(&g, e, true, out);
  }
  free(g.links);
  return ok ? YOKE_OK : YOKE_E_MEMORY;
}

/* ---- outlines of cells ---- */

/* Corner (i, j) of the cells lies at (i - 1/2, j - 1/2). Each has bits for the directed rim edges that leave it, with the
 * cells that pass on their left. */
enum { EAST = 1, NORTH = 2, WEST = 4, SOUTH = 8 };

static bool trace(uint8_t *leaving, int stride, int i, int j, yoke_polylines *out) {
  static const int dx[4] = {1, 0, -1, 0}, dy[4] = {0, 1, 0, -1};
  int              heading = -1;
  for (;;) {
    uint8_t *bits = &leaving[(size_t)j * (size_t)stride + (size_t)i];
    int      next = -1;
    for (int k = 0; k < 4 && next < 0; ++k) { /* left first: outlines that touch at a corner stay apart */
      const int d = heading < 0 ? k : (heading + 1 + 4 - k) % 4;
      if (*bits & (1 << d)) next = d;
    }
    if (next < 0) break;
    if (next != heading && !add_point(out, i - 0.5, j - 0.5)) return false;
    *bits   = (uint8_t)(*bits & ~(1 << next));
    heading = next;
    i += dx[next];
    j += dy[next];
  }
  return end_line(out, true);
}

yoke_status yoke_contour_cells(int nx, int ny, const double *values, yoke_cell_test test, double level,
                               yoke_polylines *out) {
  *out             = (yoke_polylines){0};
  const int stride = nx + 1;
  if (nx < 1 || ny < 1) return YOKE_OK;
  uint8_t *leaving = yoke_allocate((size_t)stride * (size_t)(ny + 1), 1);
  uint8_t *inside  = yoke_allocate((size_t)nx * (size_t)ny, 1);
  bool     ok      = leaving != NULL && inside != NULL;
  for (size_t k = 0; ok && k < (size_t)nx * (size_t)ny; ++k) inside[k] = test(values[k], level);
  for (int j = 0; ok && j < ny; ++j) {
    for (int i = 0; i < nx; ++i) {
      const uint8_t *at     = &inside[(size_t)j * (size_t)nx + (size_t)i];
      uint8_t       *corner = &leaving[(size_t)j * (size_t)stride + (size_t)i];
      if (!*at) continue;
      if (j == 0 || !at[-nx]) corner[0] |= EAST;
      if (i == nx - 1 || !at[1]) corner[1] |= NORTH;
      if (j == ny - 1 || !at[nx]) corner[stride + 1] |= WEST;
      if (i == 0 || !at[-1]) corner[stride] |= SOUTH;
    }
  }
  for (int j = 0; ok && j <= ny; ++j) {
    for (int i = 0; ok && i <= nx; ++i) {
      while (ok && leaving[(size_t)j * (size_t)stride + (size_t)i] != 0) ok = trace(leaving, stride, i, j, out);
    }
  }
  free(leaving);
  free(inside);
  return ok ? YOKE_OK : YOKE_E_MEMORY;
}

/* ---- simplification (Douglas and Peucker) ---- */

/* Farthest point of (a, b) from the chord; its squared distance. */
static int farthest(const yoke_polylines *l, int a, int b, double sx, double sy, double *squared) {
  const double ax = l->x[a] * sx, ay = l->y[a] * sy, cx = l->x[b] * sx - ax, cy = l->y[b] * sy - ay;
  const double length = cx * cx + cy * cy;
  int          worst  = -1;
  *squared            = -1.0;
  for (int k = a + 1; k < b; ++k) {
    const double px = l->x[k] * sx - ax, py = l->y[k] * sy - ay;
    double       s  = length > 0.0 ? (px * cx + py * cy) / length : 0.0;
    s               = s < 0.0 ? 0.0 : s > 1.0 ? 1.0 : s;
    const double dx = px - s * cx, dy = py - s * cy, d = dx * dx + dy * dy;
    if (d > *squared) {
      *squared = d;
      worst    = k;
    }
  }
  return worst;
}

/* Marks the points of [a, b] that stay; the larger part of a range waits, so the depth stays below 64. */
static void mark(const yoke_polylines *l, int a, int b, double sx, double sy, double squared, uint8_t *stays) {
  int waiting[64][2], depth = 0;
  for (;;) {
    double    d;
    const int k = farthest(l, a, b, sx, sy, &d);
    if (k >= 0 && d > squared) {
      stays[k]            = 1;
      const bool is_left  = k - a < b - k;
      waiting[depth][0]   = is_left ? k : a;
      waiting[depth++][1] = is_left ? b : k;
      if (is_left)
        b = k;
      else
        a = k;
      continue;
    }
    if (depth == 0) return;
    a = waiting[--depth][0];
    b = waiting[depth][1];
  }
}

void yoke_polylines_simplify(yoke_polylines *lines, double sx, double sy, double tolerance) {
  uint8_t *stays = yoke_allocate((size_t)lines->n_points + 1, 1);
  if (stays == NULL) return; /* all points stay */
  int n = 0;
  for (int k = 0; k < lines->n_lines; ++k) {
    const int a = lines->first[k], b = lines->first[k + 1] - 1;
    if (b >= a) {
      /* a loop has no ends: its middle point serves as one */
      const int middle = lines->closed[k] ? (a + b) / 2 : b;
      stays[a] = stays[b] = stays[middle] = 1;
      mark(lines, a, middle, sx, sy, tolerance * tolerance, stays);
      if (middle < b) mark(lines, middle, b, sx, sy, tolerance * tolerance, stays);
    }
    lines->first[k] = n;
    for (int i = a; i <= b; ++i) {
      if (!stays[i]) continue;
      lines->x[n]   = lines->x[i];
      lines->y[n++] = lines->y[i];
    }
  }
  if (lines->n_lines > 0) lines->first[lines->n_lines] = n;
  lines->n_points = n;
  free(stays);
}
