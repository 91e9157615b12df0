/* Beams of rigid segments with bushings between them, in the plane and in space, clamped or on a turning hub, with a weight at the
 * tip. Length 1 m, mass 1 kg. */
#include "families.h"

#include <math.h>

void family_beams(sketch *s) {
  draw        *d      = s->draw;
  const bool   planar = draw_chance(d, 0.65), hub = draw_chance(d, 0.35), weight = draw_chance(d, 0.3);
  const int    n       = planar ? draw_int(d, 4, 10) : draw_int(d, 3, 6);
  const double slow    = draw_log(d, 4.0, 40.0); /* first bending frequency, clamped: 3.52 sqrt(EI) */
  const double bending = slow * slow / 12.4, radius = draw_log(d, 0.015, 0.06); /* EI; of gyration: EA = EI/radius^2 */
  const double m = 1.0 / n, l = 1.0 / n, k = n * bending / (radius * radius), kr = n * bending;
  const double ratio = draw_log(d, 0.001, 0.05), kick = draw_uniform(d, 0.05, 0.5),
               spin = hub ? draw_uniform(d, -3.0, 3.0) : 0.0;
  const vec stiff = {k, 0.4 * k, 0.4 * k}, turn = {0.8 * kr, kr, kr};
  int       before = GROUND;
  if (draw_chance(d, 0.5)) s->gravity = (vec){0, -9.81, 0};
  if (hub) {
    before = planar ? sketch_planar(s, 1.0, 0.02, NONE, NONE, spin)
                    : sketch_rigid(s, 1.0, (vec){0.02, 0.02, 0.02}, NONE, NONE, (vec){0, 0, spin});
    sketch_joint(s, "revolute", GROUND, before, NONE, planar ? NONE : (vec){0, 0, 1});
    if (draw_chance(d, 0.5)) {
      const double moment = draw_uniform(d, 0.5, 5.0), pace = slow * draw_uniform(d, 0.3, 2.0);
      text         load = {0};
      say(&load,
          planar ? "kind: harmonic, on: b1, torque: %N, omega: %O"
                 : "kind: harmonic, on: b1, torque: [0, 0, %N], omega: %O",
          moment, pace);
      sketch_load(s, &load);
    }
  }
  for (int i = 0; i < n; ++i) {
    const vec from = {l * i, 0, 0}, to = {l * (i + 1), 0, 0}, at = {l * (i + 0.5), 0, 0};
    /* turns with the hub; the parabola of a kick bends it */
    const vec v    = {0, spin * at.x + kick * at.x * at.x, planar ? 0.0 : 0.5 * kick * at.x * at.x};
    const int next = planar ? sketch_bar(s, m, from, to, v, spin + 2.0 * kick * at.x)
                            : sketch_rod(s, m, from, to, 0.2, v, (vec){0, 0, spin});
    sketch_bushing_along(s, before, next, from, stiff, turn, ratio);
    before = next;
  }
  if (weight) {
    const vec    tip = {1, 0, 0}, v = sketch_velocity(s, before, tip), at = {1.05, 0, 0};
    const vec    omega = s->bodies[before].omega;
    const double heavy = draw_log(d, 0.05, 2.0);
    const vec    fast  = vec_add(v, vec_cross(omega, (vec){0.05, 0, 0}));
    const int    body  = planar ? sketch_planar(s, heavy, 0.001 * heavy, at, fast, omega.z)
                                : sketch_rigid(s, heavy, vec_scale(0.001 * heavy, (vec){1, 1, 1}), at, fast, omega);
    sketch_joint(s, draw_chance(d, 0.5) ? "fixed" : planar ? "revolute" : "spherical", before, body, tip, NONE);
  }
  s->span = draw_uniform(d, 0.2, 0.7) * 2.0 * PI / slow;
}
