/* Planar linkages with loops: four-bars, slider-cranks, six-bars (a dyad on the coupler), with rigid or flexible hinges, driven by
 * gravity, a start velocity, a moment or a spring on the crank. */
#include "families.h"

#include <math.h>

/* Where circles about a and b with these radii meet, on the left of the way from a to b; false: too near to a dead centre. */
static bool meeting(vec a, vec b, double ra, double rb, vec *at) {
  const vec    d = vec_sub(b, a);
  const double l = vec_norm(d);
  const double u = (l * l + ra * ra - rb * rb) / (2.0 * l), square = ra * ra - u * u;
  const vec    ahead = vec_scale(1.0 / l, d), left = {-ahead.y, ahead.x, 0.0};
  if (!(square > 0.15 * ra * ra)) return false;
  *at = vec_add(a, vec_add(vec_scale(u, ahead), vec_scale(sqrt(square), left)));
  return true;
}

/* A hinge, now and then a flexible one. */
static void hinge(sketch *s, int a, int b, vec at) {
  if (draw_chance(s->draw, 0.75)) {
    sketch_joint(s, "revolute", a, b, at, NONE);
  } else {
    const double mass = fmin(a == GROUND ? 1e9 : s->bodies[a].mass, b == GROUND ? 1e9 : s->bodies[b].mass) / 4.0;
    const double w    = draw_log(s->draw, 20.0, 1000.0);
    sketch_bushing_along(s, a, b, at, (vec){mass * w * w, mass * w * w, 0.0}, NONE, draw_uniform(s->draw, 0.01, 0.5));
  }
}

/* The rates of two bars, p to c and q to c, whose ends p and q move at vp and vq: both give c the same velocity. */
static void dyad_rates(vec p, vec q, vec c, vec vp, vec vq, double *rate_p, double *rate_q) {
  /* vp + wp z x (c - p) = vq + wq z x (c - q) */
  const vec    rp = vec_sub(c, p), rq = vec_sub(c, q), dv = vec_sub(vq, vp);
  const double det = rp.y * rq.x - rp.x * rq.y;
  *rate_p          = (rq.x * dv.x + rq.y * dv.y) / -det;
  *rate_q          = (rp.x * dv.x + rp.y * dv.y) / -det;
}

/* A bar from p, where `body` moves, to c, turning at rate. */
static int bar_on(sketch *s, int body, vec p, vec c, double rate) {
  const vec half = vec_scale(0.5, vec_sub(c, p));
  const vec v    = vec_add(sketch_velocity(s, body, p), vec_cross((vec){0, 0, rate}, half));
  return sketch_bar(s, draw_log(s->draw, 0.2, 5.0) * vec_norm(half), p, c, v, rate);
}

/* Two bars that meet at c and hang on bodies a at p and b at q. */
static void dyad(sketch *s, int a, int b, vec p, vec q, vec c, int bars[2]) {
  double wa, wb;
  dyad_rates(p, q, c, sketch_velocity(s, a, p), sketch_velocity(s, b, q), &wa, &wb);
  bars[0] = bar_on(s, a, p, c, wa);
  bars[1] = bar_on(s, b, q, c, wb);
  hinge(s, a, bars[0], p);
  hinge(s, b, bars[1], q);
  hinge(s, bars[0], bars[1], c);
}

/* A point in a box, and bars from `from` and from there that meet well. */
static void draw_dyad(draw *d, vec from, vec low, vec high, vec *pivot, vec *meet) {
  double ra, rb;
  do {
    *pivot = draw_in_box(d, low, high);
    ra     = draw_uniform(d, 0.8, 2.5);
    rb     = draw_uniform(d, 0.8, 2.0);
  } while (!meeting(from, *pivot, ra, rb, meet));
}

static int crank(sketch *s, double length, double rate, vec *tip) {
  *tip          = vec_scale(length, vec_turned(draw_uniform(s->draw, -PI, PI)));
  const int bar = bar_on(s, GROUND, NONE, *tip, rate);
  sketch_joint(s, "revolute", GROUND, bar, NONE, NONE);
  return bar;
}

static void four_bar(sketch *s, double rate) {
  draw     *d = s->draw;
  vec       tip, meet, pivot;
  int       bars[2];
  const int first = crank(s, draw_uniform(d, 0.3, 0.8), rate, &tip);
  draw_dyad(d, tip, (vec){1.0, -0.5, 0.0}, (vec){2.5, 0.5, 0.0}, &pivot, &meet);
  dyad(s, first, GROUND, tip, pivot, meet, bars);
  if (draw_chance(d, 0.35)) { /* a second loop, on the middle of the rocker */
    const vec middle = s->bodies[bars[1]].at;
    draw_dyad(d, middle, (vec){2.0, -0.5, 0.0}, (vec){4.0, 0.5, 0.0}, &pivot, &meet);
    dyad(s, bars[1], GROUND, middle, pivot, meet, bars);
  }
}

static void slider_crank(sketch *s, double rate) {
  draw        *d = s->draw;
  vec          tip;
  const double length = draw_uniform(d, 0.2, 0.6), offset = draw_uniform(d, -0.1, 0.1);
  const int    first = crank(s, length, rate, &tip);
  const double rod = length * draw_uniform(d, 1.8, 4.0), dy = offset - tip.y;
  const vec    pin  = {tip.x + sqrt(rod * rod - dy * dy), offset, 0.0};
  const vec    vtip = sketch_velocity(s, first, tip);
  /* The pin moves along x: vtip.y + w (pin.x - tip.x) = 0. */
  const double w      = -vtip.y / (pin.x - tip.x);
  const int    bar    = bar_on(s, first, tip, pin, w);
  const double m      = draw_log(d, 0.1, 5.0);
  const int    slider = sketch_planar(s, m, 0.01 * m, pin, (vec){sketch_velocity(s, bar, pin).x, 0, 0}, 0.0);
  hinge(s, first, bar, tip);
  hinge(s, bar, slider, pin);
  sketch_joint(s, "translational", GROUND, slider, pin, (vec){1, 0, 0});
  if (draw_chance(d, 0.5)) {
    const double k = draw_log(d, 5.0, 500.0);
    sketch_spring(s, GROUND, slider, (vec){pin.x + 1.0, offset, 0.0}, pin, k, draw_ratio(d));
  }
}

void family_linkages(sketch *s) {
  draw        *d   = s->draw;
  const double way = draw_unit(d), rate = way < 0.6 ? draw_uniform(d, -6.0, 6.0) : 0.0;
  s->gravity.y = -9.81;
  s->span      = draw_uniform(d, 0.4, 1.2);
  if (draw_chance(d, 0.6)) {
    four_bar(s, rate);
  } else {
    slider_crank(s, rate);
  }
  text load = {0};
  if (way > 0.8) {
    const double k = draw_log(d, 1.0, 50.0);
    sketch_torsion(s, GROUND, 0, k, draw_ratio(d));
  } else if (way > 0.4) {
    const double moment = draw_uniform(d, 1.0, 10.0), pace = draw_uniform(d, 3.0, 15.0);
    say(&load, "kind: harmonic, on: b1, torque: %N, omega: %O", moment, pace);
    sketch_load(s, &load);
  }
}
