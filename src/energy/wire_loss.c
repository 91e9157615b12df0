#include "energy/wire_loss.h"

#include <math.h>

/* Gauss-Legendre points and weights on [0, 1]: exact to degree 5. */
enum { N_POINTS = 3 };
static const double point[N_POINTS]  = {0.11270166537925831, 0.5, 0.88729833462074169};
static const double weight[N_POINTS] = {5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0};

static void set_rates(const yoke_port_shape *shape, const double *y, double *T, double *rate) {
  const int n_p = shape->n_p, n_v = shape->n_v;
  if (shape->tangent == NULL) { /* coordinates alone */
    for (int k = 0; k < n_p; ++k) rate[k] = y[n_p + shape->p[k].rate];
    return;
  }
  yoke_shape_tangent(shape, y, T);
  for (int k = 0; k < n_p; ++k) {
    rate[k] = 0.0;
    for (int j = 0; j < n_v; ++j) rate[k] += T[k * n_v + j] * y[n_p + j];
  }
}

void yoke_wire_path_begin(yoke_wire_path *path, const yoke_port_shape *shape, double H, const double *from,
                          const double *to, double *room) {
  *path = (yoke_wire_path){.shape = shape, .H = H, .from = from, .to = to, .rate = {room, room + shape->n_p}};
  set_rates(shape, from, room + 2 * shape->n_p, path->rate[0]);
  set_rates(shape, to, room + 2 * shape->n_p, path->rate[1]);
}

void yoke_wire_path_at(const yoke_wire_path *path, double s, double *y) {
  const int     n_p = path->shape->n_p, n_v = path->shape->n_v;
  const double *from = path->from, *to = path->to;
  const double  c0 = (1 + 2 * s) * (1 - s) * (1 - s), c1 = s * s * (3 - 2 * s); /* cubic Hermite polynomials */
  const double  d0 = s * (1 - s) * (1 - s) * path->H, d1 = s * s * (s - 1) * path->H;
  for (int k = 0; k < n_p; ++k) y[k] = c0 * from[k] + d0 * path->rate[0][k] + c1 * to[k] + d1 * path->rate[1][k];
  for (int k = n_p; k < n_p + n_v; ++k) y[k] = c0 * from[k] + d0 * from[n_v + k] + c1 * to[k] + d1 * to[n_v + k];
}

double yoke_wire_loss(const yoke_wire *wire, const yoke_wire_point *from, const yoke_wire_point *to, double t,
                      yoke_arena *scratch) {
  const yoke_shown_form *shown = wire->formulation->shown;
  const double           H     = to->t - from->t;
  const size_t           mark  = yoke_arena_mark(scratch);
  yoke_wire_path         path[2];
  double                *y[2], sum = 0.0;
  if (shown == NULL || shown->energy == NULL) return 0.0;
  for (int side = 0; side < 2; ++side) {
    double *room = yoke_arena_take(scratch, yoke_wire_path_room(wire->shape[side]), sizeof *room);
    y[side]      = yoke_arena_take(scratch, (size_t)wire->n_y[side], sizeof(double));
    if (!scratch->has_failed) yoke_wire_path_begin(&path[side], wire->shape[side], H, from->y[side], to->y[side], room);
  }
  for (int i = 0; i < N_POINTS && !scratch->has_failed; ++i) {
    const double at = from->t + point[i] * (t - from->t), s = (at - from->t) / H;
    double       stored, power;
    for (int side = 0; side < 2; ++side) {
      yoke_wire_path_at(&path[side], s, y[side]);
      for (int k = yoke_shape_n_y(wire->shape[side]); k < wire->n_y[side]; ++k) /* what its law reads besides */
        y[side][k] = from->y[side][k] + s * (to->y[side][k] - from->y[side][k]);
    }
    shown->energy(wire->self, at, (const double *const[2]){y[0], y[1]}, &stored, &power, scratch);
    sum += weight[i] * power;
  }
  yoke_arena_release(scratch, mark);
  return sum * (t - from->t);
}
