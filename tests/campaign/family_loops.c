/* Loops in space: a crank and a rocker with a coupler between balls, rods that hang in a row between two fixed points, a platform
 * on three jointed legs, platforms on springs. They start at rest. */
#include "families.h"

#include <math.h>

static int rod(sketch *s, vec from, vec to) {
  return sketch_rod(s, draw_log(s->draw, 0.3, 3.0) * vec_norm(vec_sub(to, from)), from, to, 0.1, NONE, NONE);
}

static vec draw_axis(draw *d, double lean) {
  const vec a = vec_add((vec){0, 0, 1}, vec_scale(lean, draw_direction(d)));
  return vec_scale(1.0 / vec_norm(a), a);
}

/* A ball, now and then a soft one. */
static void ball(sketch *s, int a, int b, vec at) {
  if (draw_chance(s->draw, 0.8)) {
    sketch_joint(s, "spherical", a, b, at, NONE);
  } else {
    const double w = draw_log(s->draw, 20.0, 300.0);
    sketch_bushing(s, a, b, at, w * w * 0.2, 0.0, draw_uniform(s->draw, 0.02, 0.5));
  }
}

static void crank_and_rocker(sketch *s) {
  draw        *d         = s->draw;
  const double length    = draw_uniform(d, 0.4, 0.8);
  const vec    crank_tip = vec_scale(length, vec_turned(draw_uniform(d, -PI, PI)));
  const vec    pivot     = draw_in_box(d, (vec){1.5, -1.0, -0.5}, (vec){2.5, 1.0, 0.5});
  const vec    tip       = vec_add(pivot, vec_scale(draw_uniform(d, 0.8, 1.6), (vec){0, 0.6, 0.8}));
  const int    a = rod(s, NONE, crank_tip), b = rod(s, crank_tip, tip), c = rod(s, pivot, tip);
  sketch_joint(s, "revolute", GROUND, a, NONE, draw_axis(d, 0.3));
  ball(s, a, b, crank_tip);
  ball(s, b, c, tip);
  sketch_joint(s, "revolute", GROUND, c, pivot, (vec){1, 0, 0});
  const double moment = draw_uniform(d, 1.0, 8.0), pace = draw_uniform(d, 2.0, 10.0);
  text         load = {0};
  say(&load, "kind: harmonic, on: b1, torque: [0, 0, %N], omega: %O", moment, pace);
  sketch_load(s, &load);
}

static void hanging_row(sketch *s) {
  draw     *d  = s->draw;
  vec       at = NONE;
  const int n  = draw_int(d, 2, 5);
  for (int i = 0; i < n; ++i) {
    const vec way = draw_in_box(d, (vec){0.4, -0.4, -0.5}, (vec){0.8, 0.4, 0.5});
    const vec tip = vec_add(at, way);
    rod(s, at, tip);
    ball(s, i - 1, i, at);
    at = tip;
  }
  ball(s, n - 1, GROUND, at);
}

static void platform_on_legs(sketch *s) {
  draw        *d      = s->draw;
  const double height = draw_uniform(d, 0.8, 1.2), top = draw_uniform(d, 0.4, 0.7);
  const double m = draw_log(d, 0.5, 10.0), k = draw_log(d, 100.0, 3000.0);
  const vec    inertia  = {0.1 * m, 0.12 * m, 0.2 * m};
  const int    platform = sketch_rigid(s, m, inertia, (vec){0, 0, height}, NONE, NONE);
  for (int leg = 0; leg < 3; ++leg) {
    const vec out = vec_turned(2.0 * PI / 3.0 * leg), across = {-out.y, out.x, 0.0};
    const vec foot = out, knee = vec_add(vec_scale(1.3, out), (vec){0, 0, 0.5 * height});
    const vec hand = vec_add(vec_scale(top, out), (vec){0, 0, height});
    const int low = rod(s, foot, knee), high = rod(s, knee, hand);
    sketch_joint(s, "revolute", GROUND, low, foot, across);
    sketch_joint(s, "revolute", low, high, knee, across);
    ball(s, high, platform, hand);
    const double kl = k * draw_uniform(d, 0.5, 1.5);
    sketch_spring(s, GROUND, platform, NONE, hand, kl, draw_ratio(d));
  }
}

static void platforms_on_springs(sketch *s) {
  draw  *d     = s->draw;
  int    below = GROUND;
  double z     = 0.0;
  for (int i = 0, n = draw_int(d, 2, 4); i < n; ++i) {
    const double m = draw_log(d, 0.5, 10.0), w = draw_log(d, 5.0, 50.0), k = m * w * w / 6.0,
                 up      = z + draw_uniform(d, 0.4, 0.8);
    const vec    inertia = {0.1 * m, 0.12 * m, 0.2 * m};
    const vec    v = draw_arrow(d, 0.0, 0.5), omega = draw_arrow(d, 0.0, 1.0);
    const int    body  = sketch_rigid(s, m, inertia, (vec){0, 0, up}, v, omega);
    const double ratio = draw_ratio(d);
    for (int leg = 0; leg < 6; ++leg) { /* zigzag */
      const vec foot = vec_scale(0.6, vec_turned(PI / 3.0 * (leg / 2 * 2))),
                hand = vec_scale(0.5, vec_turned(PI / 3.0 * ((leg + 1) / 2 * 2 - 1)));
      sketch_spring(s, below, body, vec_add(foot, (vec){0, 0, z}), vec_add(hand, (vec){0, 0, up}), k, ratio);
    }
    below = body;
    z     = up;
  }
}

void family_loops(sketch *s) {
  const double way = draw_unit(s->draw);
  s->gravity.z     = -9.81;
  s->span          = draw_uniform(s->draw, 0.3, 0.9);
  if (way < 0.3) {
    crank_and_rocker(s);
  } else if (way < 0.55) {
    hanging_row(s);
  } else if (way < 0.75) {
    platform_on_legs(s);
  } else {
    platforms_on_springs(s);
  }
}
