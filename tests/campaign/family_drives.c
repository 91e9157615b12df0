/* Drive trains: rotors on one axis with shafts and stiff gears between them, the same reduced to masses on a line, and rotors in
 * space that spin on soft bearings. */
#include "families.h"

#include <math.h>

/* Teeth of two rotors on each other: moments that hold angle a + ratio angle b. Both stay in one part, since loads read both. */
static void mesh(sketch *s, int a, int b, double ratio, double k) {
  const double d = sketch_torsion_damping(s, a, b, k, 0.05);
  for (int side = 0; side < 2; ++side) {
    const double sign = side == 0 ? -1.0 : -ratio;
    text         load = {0};
    say(&load, "kind: expression, on: b%d, torque: \"%R*(b%d.angle + %g*b%d.angle) + %Q*(b%d.omega + %g*b%d.omega)\"",
        (side == 0 ? a : b) + 1, sign * k, a + 1, ratio, b + 1, sign * d, a + 1, ratio, b + 1);
    sketch_load(s, &load);
  }
  s->fastest = fmax(s->fastest, sqrt(k * (1.0 / s->bodies[a].inertia.z + ratio * ratio / s->bodies[b].inertia.z)));
  sketch_tie(s, a, b);
}

static void rotors(sketch *s) {
  draw        *d = s->draw;
  const int    n = draw_int(d, 3, 8), gear = draw_chance(d, 0.5) ? draw_int(d, 1, n - 1) : 0;
  const double base = draw_log(d, 30.0, 3000.0), ratio = draw_uniform(d, 0.3, 3.0), speed = draw_uniform(d, 0.0, 20.0);
  double       slowest = INFINITY;
  for (int i = 0; i < n; ++i) {
    const vec    at   = {i, 0, 0};
    const double mass = draw_log(d, 1.0, 10.0), inertia = draw_log(d, 0.05, 5.0),
                 along = gear > 0 && i >= gear ? -1.0 / ratio : 1.0;
    sketch_planar(s, mass, inertia, at, NONE, along * speed + draw_uniform(d, -0.5, 0.5));
    sketch_joint(s, "revolute", GROUND, i, at, NONE);
  }
  for (int i = 1; i < n; ++i) {
    const double k = base * draw_log(d, 0.2, 5.0);
    if (i == gear) {
      mesh(s, i - 1, i, ratio, base * draw_log(d, 10.0, 1000.0));
    } else {
      sketch_torsion(s, i - 1, i, k, draw_ratio(d));
      slowest = fmin(slowest, sqrt(k / s->bodies[i].inertia.z));
    }
  }
  const double moment = draw_uniform(d, 1.0, 50.0), pace = draw_uniform(d, 2.0, 20.0), loss = draw_uniform(d, 0.0, 1.0);
  text         load = {0};
  say(&load, "kind: expression, on: b1, torque: \"%N*(1 - exp(-%O*t)) - %Q*b1.omega\"", moment, pace, loss);
  sketch_load(s, &load);
  text drag = {0};
  say(&drag, "kind: drag, on: b%d, rotational: %Q", n, draw_uniform(d, 0.05, 2.0));
  sketch_load(s, &drag);
  s->span = draw_uniform(d, 0.4, 1.0) * fmin(4.0 * 2.0 * PI / slowest, 60.0 * 2.0 * PI / s->fastest);
}

static void reduced_line(sketch *s) {
  draw        *d = s->draw;
  const int    n = draw_int(d, 3, 8), stiff = draw_int(d, 1, n - 1);
  const double base = draw_log(d, 100.0, 1e4), speed = draw_uniform(d, 0.0, 5.0);
  double       slowest = INFINITY;
  for (int i = 0; i < n; ++i) {
    const double mass = draw_log(d, 0.1, 10.0);
    sketch_mass1d(s, mass, 0.0, speed + draw_uniform(d, -0.5, 0.5));
  }
  for (int i = 1; i < n; ++i) {
    const double k   = base * (i == stiff ? draw_log(d, 30.0, 1e4) : draw_log(d, 0.2, 5.0));
    text         law = {0};
    say(&law, "stiffness: %K, damping: %D", k, sketch_damping(s, i - 1, i, k, draw_ratio(d)));
    sketch_element(s, "spring-damper", i - 1, i, NONE, NONE, k, law.at);
    if (i != stiff) slowest = fmin(slowest, sqrt(k / s->bodies[i].mass));
  }
  s->span = draw_uniform(d, 0.4, 1.0) * fmin(3.0 * 2.0 * PI / slowest, 80.0 * 2.0 * PI / s->fastest);
  sketch_push(s, 0, 0.05 * base, slowest * draw_uniform(d, 0.3, 2.0));
}

static void spinning_shaft(sketch *s) {
  draw        *d     = s->draw;
  const int    n     = draw_int(d, 2, 4);
  const double speed = draw_uniform(d, 10.0, 80.0), w = draw_log(d, 30.0, 300.0);
  s->gravity.z = -9.81;
  for (int i = 0; i < n; ++i) {
    const double m = draw_log(d, 1.0, 10.0), radius = draw_uniform(d, 0.1, 0.3), polar = 0.5 * m * radius * radius;
    const double out  = draw_uniform(d, 0.0, 0.01); /* unbalance */
    const vec    spin = {speed, 0, 0}, at = {0.5 * i, out, 0};
    sketch_rigid(s, m, (vec){polar, 0.6 * polar, 0.6 * polar}, at, vec_cross(spin, (vec){0, out, 0}), spin);
    const double k = m * w * w;
    if (i > 0) {
      sketch_bushing_along(s, i - 1, i, (vec){0.5 * i - 0.25, 0, 0}, (vec){k, k, k},
                           vec_scale(0.02 * k, (vec){1, 1, 1}), draw_uniform(d, 0.01, 0.2));
    }
    if (i == 0 || i == n - 1) {
      const double bearing = k * draw_log(d, 0.1, 1.0);
      sketch_bushing_along(s, GROUND, i, (vec){0.5 * i, 0, 0}, (vec){bearing, bearing, bearing}, NONE,
                           draw_uniform(d, 0.01, 0.2));
    }
  }
  s->span = draw_uniform(d, 1.0, 4.0) * 2.0 * PI / speed;
}

void family_drives(sketch *s) {
  const double way = draw_unit(s->draw);
  if (way < 0.5) {
    rotors(s);
  } else if (way < 0.75) {
    reduced_line(s);
  } else {
    spinning_shaft(s);
  }
}
