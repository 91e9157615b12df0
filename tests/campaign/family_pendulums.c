/* Pendulums of several links in the plane and in space, with rigid and flexible hinges and springs in them. Some runs are so long
 * that their motion is chaotic. */
#include "families.h"

#include <math.h>

static double lighter(const sketch *s, int a, int b) {
  const double mb = s->bodies[b].mass;
  return a == GROUND ? mb : fmin(s->bodies[a].mass, mb);
}

/* Link on `above` at a point: its velocity follows from that of the point and its own rate. */
static vec hung(const sketch *s, int above, vec at, vec tip, vec rate) {
  return vec_add(sketch_velocity(s, above, at), vec_cross(rate, vec_scale(0.5, vec_sub(tip, at))));
}

static void in_plane(sketch *s) {
  draw  *d     = s->draw;
  vec    at    = NONE;
  double angle = draw_uniform(d, -1.5, 1.5);
  s->gravity.y = -9.81;
  for (int i = 0, n = draw_int(d, 2, 6); i < n; ++i) {
    const int    above = i - 1;
    const double rate  = draw_uniform(d, -2.0, 2.0);
    const vec    ahead = vec_turned(angle), tip = vec_add(at, vec_scale(draw_uniform(d, 0.3, 1.5), ahead));
    sketch_bar(s, draw_log(d, 0.2, 5.0), at, tip, hung(s, above, at, tip, (vec){0, 0, rate}), rate);
    const double kind = draw_unit(d), mass = lighter(s, above, i) / 4.0;
    if (i == 0 || kind < 0.7) {
      sketch_joint(s, "revolute", above, i, at, NONE);
    } else {
      const double w = draw_log(d, 10.0, 1000.0), k = mass * w * w, kr = draw_chance(d, 0.3) ? 0.05 * k : 0.0;
      sketch_bushing_along(s, above, i, at, (vec){k, k, 0}, (vec){0, 0, kr}, draw_uniform(d, 0.01, 0.5));
    }
    if (draw_chance(d, 0.2)) {
      const double k = draw_log(d, 1.0, 50.0);
      sketch_torsion(s, above, i, k, draw_ratio(d));
    }
    at = tip;
    angle += draw_uniform(d, -1.0, 1.0);
  }
}

static void in_space(sketch *s) {
  draw *d      = s->draw;
  vec   at     = NONE;
  s->gravity.z = -9.81;
  for (int i = 0, n = draw_int(d, 2, 4); i < n; ++i) {
    const int    above = i - 1;
    const vec    tip = vec_add(at, draw_arrow(d, 0.4, 1.2)), axis = draw_direction(d);
    const vec    base = above == GROUND ? NONE : s->bodies[above].omega;
    const double kind = draw_unit(d);
    const vec    way  = kind < 0.4 ? axis : draw_direction(d);
    const vec    rate = vec_add(base, vec_scale(draw_uniform(d, -2.0, 2.0), way));
    const vec    turn = kind < 0.75 || i == 0 ? rate : base;
    sketch_rod(s, draw_log(d, 0.3, 5.0), at, tip, 0.1, hung(s, above, at, tip, turn), turn);
    if (kind < 0.4) {
      sketch_joint(s, "revolute", above, i, at, axis);
    } else if (kind < 0.65 || i == 0) {
      sketch_joint(s, "spherical", above, i, at, NONE);
    } else if (kind < 0.75) {
      const double w = draw_log(d, 10.0, 500.0), k = w * w * lighter(s, above, i) / 4.0,
                   kr = draw_chance(d, 0.5) ? 0.02 * k : 0.0;
      sketch_bushing(s, above, i, at, k, kr, draw_uniform(d, 0.01, 0.5));
    } else if (kind < 0.9) {
      sketch_joint(s, "cylindrical", above, i, at, axis);
    } else {
      sketch_joint(s, "fixed", above, i, at, NONE);
    }
    at = tip;
  }
}

void family_pendulums(sketch *s) {
  s->span = draw_uniform(s->draw, 0.4, 1.2);
  if (draw_chance(s->draw, 0.1)) s->span *= 4.0;
  if (draw_chance(s->draw, 0.6)) {
    in_plane(s);
  } else {
    in_space(s);
  }
}
