/* What the ports of a native subsystem show: motion, integrals, extras. */
#include "native/native_internal.h"

#include <math.h>
#include <string.h>

yoke_status native_prescribe(const native *n, void *scratch, const double *u, native_point *point) {
  if (!n->is_prescribed) return YOKE_OK;
  double *q = native_doubles(scratch, n->at->q), *v = native_doubles(scratch, n->at->v);
  memcpy(q, point->q, (size_t)n->equations.nq * sizeof *q);
  memcpy(v, point->v, (size_t)n->equations.nv * sizeof *v);
  point->q = q;
  point->v = v;
  return yoke_multibody_prescribe(n->mb, scratch, point->t, u, q, v);
}

yoke_status native_accelerations(const native *n, void *scratch, const native_point *at, const double *u, double *a) {
  const yoke_equations *e = &n->equations;
  return e->ops->derivative(e->self, scratch, at->t, at->q, at->v, u, NULL, a, native_doubles(scratch, n->at->lambda));
}

/* Acceleration [6, by freedom] of port k at its image. */
static yoke_status show_image(const native *n, void *scratch, const native_point *from, int k, const double *u,
                              double *out) {
  double *q = native_doubles(scratch, n->at->q), *v = native_doubles(scratch, n->at->v),
         *a = native_doubles(scratch, n->at->a2);
  double             y[YOKE_PORT_MAX_Y];
  const native_point image = {from->t, q, v};
  memmove(q, from->q, (size_t)n->equations.nq * sizeof *q);
  memmove(v, from->v, (size_t)n->equations.nv * sizeof *v);
  YOKE_TRY(yoke_multibody_move_port(n->mb, scratch, k, from->t, u, q, v));
  YOKE_TRY(native_accelerations(n, scratch, &image, u, a));
  yoke_multibody_port(n->mb, scratch, k, q, v, a, y);
  yoke_shape_spread(n->ports[k].shape, y + yoke_shape_at_a(n->ports[k].shape), out);
  return YOKE_OK;
}

/* Images of all ports that have one: the last of their extras. The multipliers of `native_accelerations` are lost. */
static yoke_status show_images(const native *n, void *scratch, const native_point *from, const double *u, double *y) {
  for (int k = 0; n->has_image && k < n->n_ports; ++k) {
    const yoke_port *port = &n->ports[k];
    if (yoke_multibody_has_image(n->mb, k))
      YOKE_TRY(show_image(n, scratch, from, k, u, y + port->y_at + native_signals_at(n, k) - 6));
  }
  return YOKE_OK;
}

/* Extras of all ports behind their other outputs, for the inputs u and the multipliers that `native_accelerations` left. */
static yoke_status show_extras(const native *n, void *scratch, const native_point *at, const double *u, double *y) {
  const double *lambda = native_doubles(scratch, n->at->lambda);
  for (int k = 0; n->has_extras && k < n->n_ports; ++k) {
    double *extras = y + n->ports[k].y_at + yoke_shape_n_y(n->ports[k].shape);
    YOKE_TRY(yoke_multibody_extras(n->mb, scratch, k, at->t, at->q, u, lambda, extras));
  }
  return YOKE_OK;
}

void native_show_motions(const native *n, void *scratch, const void *state, const native_point *at, const double *a,
                         double *y) {
  const double *base = native_doubles(state, n->at->base);
  for (int k = 0; n->lines != NULL && k < n->n_ports; ++k) {
    double *own = y + n->lines[k].y_at;
    yoke_line_port_show(&n->lines[k].port, at->q, at->v, a, own);
    if (n->n_integrals > 0) own[3] -= base[k];
  }
  for (int k = 0; n->lines == NULL && k < n->n_ports; ++k) {
    const int count     = n->ports[k].shape->n_integrals;
    double   *own       = y + n->ports[k].y_at;
    double   *integrals = own + yoke_shape_at_integral(n->ports[k].shape);
    yoke_multibody_port(n->mb, scratch, k, at->q, at->v, a, own);
    for (int i = 0; n->n_integrals > 0 && i < count; ++i) integrals[i] -= *base++;
  }
}

yoke_status native_show(const native *n, void *scratch, const void *state, const native_point *at,
                        const native_point *image_from, const yoke_signal *signal, const double *u, const double *a,
                        double *y) {
  native_show_motions(n, scratch, state, at, a, y);
  YOKE_TRY(show_extras(n, scratch, at, u, y));
  if (n->has_signal_ports) native_show_signals(n, scratch, state, at, signal, u, a, y);
  return show_images(n, scratch, image_from, u, y);
}

native_point native_point_at(const native *n, const void *state, yoke_side side) {
  native_point at = native_own_point(n, state);
  if (side == YOKE_SIDE_RIGHT) at.t += 4.0 * DBL_EPSILON * fabs(at.t);
  return at;
}

/* Did the last step end with the accelerations at its end, and under these inputs? */
static bool has_accelerations(const native *n, const void *state, yoke_side side, const double *u) {
  const yoke_integrator_state *head = state;
  const double                *seen = native_doubles(state, n->at->u);
  if (side != YOKE_SIDE_LEFT || !n->shows_motions_only || !(head->t_prev < head->t)) return false;
  for (int i = 0; i < n->equations.nu; ++i) {
    if (u[i] != seen[i]) return false;
  }
  return yoke_integrator_at_work(n->integrator, head)->ops->ends_with_derivative;
}

yoke_status native_output(const yoke_subsystem *subsystem, void *scratch, const void *state, const yoke_signal *u,
                          yoke_side side, double *y) {
  const native *n   = subsystem->self;
  double       *now = native_doubles(scratch, n->at->left);
  native_point  own = native_point_at(n, state, side), at = own;
  if (n->equations.nu > 0) yoke_signal_value(u, own.t, side, 0, now);
  if (has_accelerations(n, state, side, now)) {
    native_show_motions(n, scratch, state, &own, yoke_integrator_a(n->integrator, state), y);
    return YOKE_OK;
  }
  double *a = native_doubles(scratch, n->at->a);
  YOKE_TRY(native_prescribe(n, scratch, now, &at));
  if (n->needs_accelerations) YOKE_TRY(native_accelerations(n, scratch, &at, now, a));
  return native_show(n, scratch, state, &at, &own, u, now, a, y);
}
