/* Chains and nets of masses with springs: on a line with a few springs across, or particles in space on a grid. */
#include "families.h"

#include <math.h>

static double draw_mass(draw *d) {
  return draw_chance(d, 0.7) ? draw_log(d, 0.1, 20.0) : draw_log(d, 0.01, 300.0);
}

/* A few periods of the slowest spring, at most forty of the fastest. */
static double draw_span(sketch *s, double slowest) {
  return draw_uniform(s->draw, 0.3, 1.0) * fmin(6.0 * 2.0 * PI / slowest, 40.0 * 2.0 * PI / s->fastest);
}

static double stiffness_near(draw *d, double base) {
  return base * draw_log(d, 0.2, 5.0);
}

static void line(sketch *s) {
  draw        *d       = s->draw;
  const int    n       = draw_int(d, 2, 8);
  const double base    = draw_log(d, 30.0, 3e4);
  double       slowest = INFINITY;
  if (draw_chance(d, 0.3)) s->gravity.x = -9.81;
  for (int i = 0; i < n; ++i) {
    const double mass = draw_mass(d), x = draw_uniform(d, -0.1, 0.1), v = draw_uniform(d, -1.0, 1.0);
    sketch_mass1d(s, mass, x, v);
  }
  for (int i = 0; i < n; ++i) {
    const double k = stiffness_near(d, base);
    sketch_spring(s, i - 1, i, NONE, NONE, k, draw_ratio(d));
    slowest = fmin(slowest, sqrt(k / s->bodies[i].mass));
  }
  if (draw_chance(d, 0.5)) sketch_spring(s, n - 1, GROUND, NONE, NONE, base, draw_ratio(d));
  for (int across = draw_int(d, 0, n / 3); across > 0; --across) {
    const int    a = draw_int(d, 0, n - 3), b = draw_int(d, a + 2, n - 1);
    const double k = stiffness_near(d, base);
    sketch_spring(s, a, b, NONE, NONE, k, draw_ratio(d));
  }
  s->span = draw_span(s, slowest);
  if (draw_chance(d, 0.3)) {
    const double pace = slowest * draw_uniform(d, 0.2, 2.0);
    sketch_push(s, draw_int(d, 0, n - 1), 0.05 * base, pace);
  }
}

static void grid(sketch *s) {
  draw        *d  = s->draw;
  const int    nx = draw_int(d, 2, 4), ny = draw_int(d, 1, 3);
  const double base = draw_log(d, 100.0, 1e4), ratio = draw_ratio(d);
  double       slowest = INFINITY;
  s->gravity.z         = -9.81;
  for (int i = 0; i < nx * ny; ++i) {
    const vec    at   = {1.0 + i % nx, i / nx, 0.0};
    const double mass = draw_log(d, 0.3, 3.0);
    sketch_particle(s, mass, at, draw_arrow(d, 0.0, 1.0));
  }
  for (int i = 0; i < nx * ny; ++i) {
    const vec    at = s->bodies[i].at, left = {at.x - 1.0, at.y, 0.0}, right = {at.x + 1.0, at.y, 0.0};
    const double k = stiffness_near(d, base);
    slowest        = fmin(slowest, sqrt(k / s->bodies[i].mass));
    sketch_spring(s, i % nx == 0 ? GROUND : i - 1, i, left, at, k, ratio);
    if (i % nx == nx - 1) sketch_spring(s, i, GROUND, at, right, k, ratio);
    if (i >= nx) sketch_spring(s, i - nx, i, s->bodies[i - nx].at, at, stiffness_near(d, base), ratio);
  }
  s->span = draw_span(s, slowest);
}

void family_masses(sketch *s) {
  if (draw_chance(s->draw, 0.7)) {
    line(s);
  } else {
    grid(s);
  }
}
