/* Vehicles over a road: quarter cars on a line, half cars in the plane, full cars in space, with seats and engines on mounts. The
 * tyres are loads that read their wheel. */
#include "families.h"

#include <math.h>

/* Height of the road under an axle that comes `later`: waves, a bump, a kerb. */
typedef struct road {
  int    kind;
  double height, pace; /* [m], [rad/s] or, bump, half its duration [s] */
} road;

static road draw_road(draw *d) {
  const int    kind   = draw_int(d, 0, 2);
  const double height = draw_uniform(d, 0.01, 0.06);
  return (road){kind, height, kind == 0 ? draw_uniform(d, 5.0, 40.0) : draw_uniform(d, 0.03, 0.15)};
}

/* A tyre's force on coordinate `at` with rate `rate` of a body. */
static void say_tyre(text *t, const sketch *s, const road *r, double later, int wheel, const char *at, const char *rate,
                     double k) {
  say(t, "\"%K*(w*%L*", k, r->height);
  switch (r->kind) {
  case 0: say(t, "sin(%O*(t - %T))", r->pace, later); break;
  case 1: say(t, "exp(-((t - %T)/(%T))^2)", 0.3 * s->span + later, r->pace); break;
  default: say(t, "step(t - %T)", 0.3 * s->span + later); break;
  }
  say(t, " - b%d.%s) - %D*b%d.%s\"", wheel + 1, at, sketch_damping(s, GROUND, wheel, k, 0.05), wheel + 1, rate);
}

static void quarter(sketch *s, const road *r) {
  draw        *d    = s->draw;
  const double mass = draw_uniform(d, 250.0, 500.0), w = 2.0 * PI * draw_uniform(d, 1.0, 2.0), k = mass * w * w;
  const int    wheel = sketch_mass1d(s, mass * draw_uniform(d, 0.08, 0.2), 0.0, 0.0);
  int          below = sketch_mass1d(s, mass, 0.0, draw_uniform(d, -0.3, 0.3));
  text         load  = {0};
  sketch_spring(s, wheel, below, NONE, NONE, k, draw_uniform(d, 0.1, 0.4));
  for (int i = 0, n = draw_int(d, 0, 3); i < n; ++i) { /* seat, driver, load */
    const double m = draw_log(d, 5.0, 100.0), ws = 2.0 * PI * draw_uniform(d, 2.0, 6.0);
    const int    seat = sketch_mass1d(s, m, 0.0, 0.0);
    sketch_spring(s, below, seat, NONE, NONE, m * ws * ws, draw_uniform(d, 0.05, 0.4));
    if (draw_chance(d, 0.7)) below = seat;
  }
  say(&load, "kind: expression, on: b1, force: ");
  say_tyre(&load, s, r, 0.0, wheel, "x", "v", k * draw_uniform(d, 6.0, 12.0));
  sketch_load(s, &load);
}

/* A wheel that slides along `up` on the chassis. */
static int axle(sketch *s, int chassis, vec at, vec up, bool planar, double mass, double k) {
  draw        *d = s->draw;
  const double m = mass * draw_uniform(d, 0.05, 0.12), inertia = 0.02 * m;
  const int    wheel = planar ? sketch_planar(s, m, inertia, at, NONE, 0.0)
                              : sketch_rigid(s, m, (vec){inertia, inertia, inertia}, at, NONE, NONE);
  sketch_joint(s, "translational", chassis, wheel, at, up);
  text law = {0};
  say(&law, "stiffness: %K, damping: %D", k, sketch_damping(s, chassis, wheel, k, draw_uniform(d, 0.2, 0.6)));
  sketch_element(s, "spring-damper", chassis, wheel, vec_add(at, vec_scale(0.5, up)), at, k, law.at);
  return wheel;
}

static void half(sketch *s, const road *r) {
  draw        *d    = s->draw;
  const double mass = draw_uniform(d, 500.0, 1000.0), w = 2.0 * PI * draw_uniform(d, 1.0, 2.0), k = 0.5 * mass * w * w;
  const double tyre    = k * draw_uniform(d, 6.0, 12.0);
  const vec    up      = {0, 1, 0};
  const int    chassis = sketch_planar(s, mass, mass * draw_uniform(d, 1.0, 2.0), (vec){0, 0.4, 0}, NONE, 0.0);
  s->gravity.y         = -9.81;
  sketch_bushing_along(s, GROUND, chassis, s->bodies[chassis].at, (vec){0.2 * k, 0, 0}, NONE, 0.3);

  for (int i = 0; i < 2; ++i) {
    const int wheel = axle(s, chassis, (vec){i == 0 ? 1.2 : -1.4, 0, 0}, up, true, mass, k);
    text      load  = {0};
    say(&load, "kind: expression, on: b%d, force: [0, ", wheel + 1);
    say_tyre(&load, s, r, i == 0 ? 0.0 : 0.1, wheel, "y", "vy", tyre);
    say(&load, "]");
    sketch_load(s, &load);
  }
  if (draw_chance(d, 0.6)) { /* engine on its mounts */
    const double m = draw_uniform(d, 50.0, 200.0), we = 2.0 * PI * draw_uniform(d, 6.0, 15.0);
    const vec    at     = {0.8, 0.5, 0};
    const int    engine = sketch_planar(s, m, 0.05 * m, at, NONE, 0.0);
    sketch_bushing(s, chassis, engine, at, m * we * we, 0.05 * m * we * we, draw_uniform(d, 0.03, 0.2));
    if (draw_chance(d, 0.5)) sketch_push(s, engine, 300.0, draw_uniform(d, 20.0, 80.0));
  }
}

static void full(sketch *s, const road *r) {
  draw        *d    = s->draw;
  const double mass = draw_uniform(d, 900.0, 1800.0), w = 2.0 * PI * draw_uniform(d, 1.0, 2.0), k = 0.25 * mass * w * w;
  const double tyre    = k * draw_uniform(d, 6.0, 12.0);
  const vec    up      = {0, 0, 1};
  const int    chassis = sketch_rigid(s, mass, (vec){0.3 * mass, 1.4 * mass, 1.6 * mass}, (vec){0, 0, 0.4}, NONE, NONE);
  s->gravity.z         = -9.81;
  sketch_bushing_along(s, GROUND, chassis, s->bodies[chassis].at, (vec){0.2 * k, 0.2 * k, 0}, (vec){0, 0, 0.2 * k},
                       0.3);
  for (int i = 0; i < 4; ++i) {
    const vec at    = {i < 2 ? 1.2 : -1.4, i % 2 == 0 ? 0.7 : -0.7, 0};
    const int wheel = axle(s, chassis, at, up, false, mass, k);
    text      load  = {0};
    say(&load, "kind: expression, on: b%d, force: [0, 0, ", wheel + 1);
    say_tyre(&load, s, r, (i < 2 ? 0.0 : 0.1) + (i % 2 == 0 ? 0.0 : 0.03), wheel, "z", "vz", tyre);
    say(&load, "]");
    sketch_load(s, &load);
  }
  if (draw_chance(d, 0.4)) {
    const double m = draw_uniform(d, 100.0, 250.0), we = 2.0 * PI * draw_uniform(d, 6.0, 15.0);
    const vec    at     = {0.9, 0, 0.5};
    const int    engine = sketch_rigid(s, m, (vec){0.05 * m, 0.06 * m, 0.07 * m}, at, NONE, NONE);
    sketch_bushing(s, chassis, engine, at, m * we * we, 0.05 * m * we * we, draw_uniform(d, 0.03, 0.2));
  }
}

void family_vehicles(sketch *s) {
  const double way = draw_unit(s->draw);
  const road   r   = draw_road(s->draw);
  s->span          = draw_uniform(s->draw, 0.6, 1.8);
  if (way < 0.4) {
    quarter(s, &r);
  } else if (way < 0.75) {
    half(s, &r);
  } else {
    full(s, &r);
  }
}
