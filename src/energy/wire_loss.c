#include "energy/wire_loss.h"

#include <math.h>

/* Gauss-Legendre points and weights on [0, 1]: exact to degree 9. */
enum { N_POINTS = 5 };
static const double point[N_POINTS]  = {0.046910077030668004, 0.23076534494715845, 0.5, 0.76923465505284155,
                                        0.953089922969332};
static const double weight[N_POINTS] = {0.11846344252809454, 0.23931433524968324, 0.28444444444444444,
                                        0.23931433524968324, 0.11846344252809454};

/* Cubic Hermite polynomial at s in [0, 1] of values x and rates r at both ends of a step H. */
static double hermite(double s, double H, double x0, double r0, double x1, double r1) {
  return (1 + 2 * s) * (1 - s) * (1 - s) * x0 + s * (1 - s) * (1 - s) * H * r0 + s * s * (3 - 2 * s) * x1 +
         s * s * (s - 1) * H * r1;
}

void yoke_wire_move(const yoke_port_shape *shape, double s, double H, const double *from, const double *to,
                    double *room, double *y) {
  const int     n_p = shape->n_p, n_v = shape->n_v;
  const double *ends[2] = {from, to};
  double       *rate[2] = {room, room + n_p}, *T = room + 2 * n_p;
  for (int e = 0; e < 2; ++e) {
    yoke_shape_tangent(shape, ends[e], T);
    for (int k = 0; k < n_p; ++k) {
      rate[e][k] = 0.0;
      for (int j = 0; j < n_v; ++j) rate[e][k] += T[k * n_v + j] * ends[e][n_p + j];
    }
  }
  for (int k = 0; k < n_p; ++k) y[k] = hermite(s, H, from[k], rate[0][k], to[k], rate[1][k]);
  for (int k = 0; k < n_v; ++k)
    y[n_p + k] = hermite(s, H, from[n_p + k], from[n_p + n_v + k], to[n_p + k], to[n_p + n_v + k]);
}

double yoke_wire_loss(const yoke_wire *wire, const yoke_wire_point *from, const yoke_wire_point *to, double t,
                      yoke_arena *scratch) {
  const yoke_shown_form *shown = wire->formulation->shown;
  const double           H     = to->t - from->t;
  const size_t           mark  = yoke_arena_mark(scratch);
  double                *y[2], *room[2], sum = 0.0;
  if (shown == NULL || shown->energy == NULL) return 0.0;
  for (int side = 0; side < 2; ++side) {
    const yoke_port_shape *shape = wire->shape[side];
    const size_t           n_p = (size_t)shape->n_p, n_v = (size_t)shape->n_v;
    y[side]    = yoke_arena_take(scratch, (size_t)wire->n_y[side], sizeof(double));
    room[side] = yoke_arena_take(scratch, n_p * (n_v + 2), sizeof(double));
  }
  for (int i = 0; i < N_POINTS && !scratch->has_failed; ++i) {
    const double at = from->t + point[i] * (t - from->t), s = (at - from->t) / H;
    double       stored, power;
    for (int side = 0; side < 2; ++side) {
      yoke_wire_move(wire->shape[side], s, H, from->y[side], to->y[side], room[side], y[side]);
      for (int k = yoke_shape_n_y(wire->shape[side]); k < wire->n_y[side]; ++k) /* what its law reads besides */
        y[side][k] = from->y[side][k] + s * (to->y[side][k] - from->y[side][k]);
    }
    shown->energy(wire->self, at, (const double *const[2]){y[0], y[1]}, &stored, &power, scratch);
    sum += weight[i] * power;
  }
  yoke_arena_release(scratch, mark);
  return sum * (t - from->t);
}
