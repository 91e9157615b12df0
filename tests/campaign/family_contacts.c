/* Contacts and impacts: exponential walls, one-sided springs between masses, balls that bounce by events, pendulums that hit a wall. */
#include "families.h"

#include <math.h>

static void wall(sketch *s, int body, double force, double slope, const char *more) {
  text load = {0};
  say(&load, "kind: contact, on: b%d, force: %F, slope: %P%s", body + 1, force, slope, more);
  sketch_load(s, &load);
}

/* Masses on springs, the last of which runs against a wall at 0. */
static void row_at_wall(sketch *s) {
  draw        *d    = s->draw;
  const int    n    = draw_int(d, 2, 5);
  const double base = draw_log(d, 50.0, 3000.0);
  for (int i = 0; i < n; ++i) {
    const double mass = draw_log(d, 0.3, 3.0), x = -draw_uniform(d, 0.1, 0.2), v = draw_uniform(d, 0.3, 1.5);
    sketch_mass1d(s, mass, x, v);
  }
  for (int i = 0; i < n; ++i) {
    if (i == 0 && draw_chance(d, 0.5)) continue;
    const double k = base * draw_log(d, 0.3, 3.0);
    sketch_spring(s, i - 1, i, NONE, NONE, k, draw_ratio(d));
  }
  wall(s, n - 1, -1.0, draw_log(d, 100.0, 3000.0), "");
  s->span = draw_uniform(d, 0.3, 0.8);
}

/* A mass runs against the next one, with a gap between them; walls are soft springs. */
static void hammer(sketch *s) {
  draw        *d = s->draw;
  const int    n = draw_int(d, 2, 4);
  const double k = draw_log(d, 1e3, 1e5);
  for (int i = 0; i < n; ++i) {
    const double v = i == 0 ? draw_uniform(d, 0.5, 2.0) : 0.0;
    sketch_mass1d(s, draw_log(d, 0.3, 3.0), 0.05 * i, v);
  }
  for (int i = 0; i < n; ++i) {
    text law = {0};
    sketch_spring(s, GROUND, i, NONE, NONE, draw_log(d, 5.0, 100.0), 0.01);
    if (i == 0) continue;
    say(&law, "law: \"%K*min(0, x)\"", k);
    sketch_element(s, "spring-damper", i - 1, i, NONE, NONE, k, law.at);
  }
  s->span = draw_uniform(d, 0.2, 0.6);
}

/* A ball on the floor, by events, and masses that hang on it. The floor kicks, so that most balls do not come to rest, at which a
 * run has to end. */
static void bouncing(sketch *s) {
  draw        *d     = s->draw;
  const int    n     = draw_int(d, 2, 4);
  const double share = draw_uniform(d, 0.7, 0.95);
  s->gravity.x       = -9.81;
  for (int i = 0; i < n; ++i) {
    const double mass = draw_log(d, 0.3, 3.0);
    sketch_mass1d(s, mass, draw_uniform(d, 0.2, 0.5), 0.0);
  }
  for (int i = 1; i < n; ++i) {
    const double k = draw_log(d, 20.0, 2000.0);
    sketch_spring(s, i - 1, i, NONE, NONE, k, draw_ratio(d));
  }
  const double kick = draw_chance(d, 0.85) ? draw_uniform(d, 0.2, 0.6) : 0.0;
  say(&s->events, "  bounce: {when: b1.x, direction: falling, set: {b1.v: \"%V - %g*b1.v\"}}\n", kick, share);
  s->span = draw_uniform(d, 0.3, 0.9);
}

/* Two or three bars; the centre of the last one meets a wall at x = 0. */
static void pendulum_at_wall(sketch *s) {
  draw        *d    = s->draw;
  vec          at   = {-draw_uniform(d, 0.2, 0.6), 0, 0};
  const double rate = draw_uniform(d, 0.0, 2.0);
  s->gravity.y      = -9.81;
  const int n       = draw_int(d, 2, 3);
  for (int i = 0; i < n; ++i) {
    const double length = draw_uniform(d, 0.3, 0.6);
    const vec    tip    = vec_add(at, vec_scale(length, vec_turned(-0.5 * PI - draw_uniform(d, 0.2, 0.8))));
    const vec    v =
        vec_add(sketch_velocity(s, i - 1, at), vec_cross((vec){0, 0, rate}, vec_scale(0.5, vec_sub(tip, at))));
    sketch_bar(s, draw_log(d, 0.3, 3.0), at, tip, v, rate);
    sketch_joint(s, "revolute", i - 1, i, at, NONE);
    at = tip;
  }
  wall(s, n - 1, -1.0, draw_log(d, 100.0, 1000.0), ", direction: [1, 0, 0]");
  s->span = draw_uniform(d, 0.5, 1.0);
}

void family_contacts(sketch *s) {
  const double way = draw_unit(s->draw);
  s->jumps         = true;
  if (way < 0.35) {
    row_at_wall(s);
  } else if (way < 0.6) {
    hammer(s);
  } else if (way < 0.8) {
    bouncing(s);
  } else {
    pendulum_at_wall(s);
  }
}
