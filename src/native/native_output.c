/* What the ports of a native subsystem show: motion, integrals, extras, and their response to the inputs. */
#include "native/native_internal.h"

#include <math.h>
#include <string.h>

native_point native_own_point(const native *n, const void *state) {
  const yoke_integrator_state *head = state;
  return (native_point){head->t, yoke_integrator_q(n->integrator, head), yoke_integrator_v(n->integrator, head)};
}

yoke_status native_prescribe(const native *n, void *scratch, const double *u, native_point *point) {
  if (!n->is_prescribed) return YOKE_OK;
  double *q = native_doubles(scratch, n->at_q), *v = native_doubles(scratch, n->at_v);
  memcpy(q, point->q, (size_t)n->equations.nq * sizeof *q);
  memcpy(v, point->v, (size_t)n->equations.nv * sizeof *v);
  point->q = q;
  point->v = v;
  return yoke_multibody_prescribe(n->mb, scratch, point->t, u, q, v);
}

yoke_status native_accelerations(const native *n, void *scratch, const native_point *at, const double *u, double *a) {
  const yoke_equations *e = &n->equations;
  return e->ops->derivative(e->self, scratch, at->t, at->q, at->v, u, NULL, a, native_doubles(scratch, n->at_lambda));
}

/* Acceleration [6, by freedom] of port k at its image. */
static yoke_status show_image(const native *n, void *scratch, const native_point *from, int k, const double *u,
                              double *out) {
  double *q = native_doubles(scratch, n->at_q), *v = native_doubles(scratch, n->at_v),
         *a = native_doubles(scratch, n->at_a2);
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
    y += n->ports[k].n_y;
    if (yoke_multibody_has_image(n->mb, k)) YOKE_TRY(show_image(n, scratch, from, k, u, y - 6));
  }
  return YOKE_OK;
}

/* Extras of all ports behind their other outputs, for the inputs u and the multipliers that `native_accelerations` left. */
static yoke_status show_extras(const native *n, void *scratch, const native_point *at, const double *u, double *y) {
  const double *lambda = native_doubles(scratch, n->at_lambda);
  for (int k = 0; n->has_extras && k < n->n_ports; ++k) {
    y += yoke_shape_n_y(n->ports[k].shape);
    YOKE_TRY(yoke_multibody_extras(n->mb, scratch, k, at->t, at->q, u, lambda, y));
    y += yoke_multibody_n_extras(n->mb, k);
  }
  return YOKE_OK;
}

void native_show_motions(const native *n, void *scratch, const void *state, const native_point *at, const double *a,
                         double *y) {
  const double *base = native_doubles(state, n->at_base);
  for (int k = 0; k < n->n_ports; ++k) {
    const int count = n->ports[k].shape->n_integrals;
    yoke_multibody_port(n->mb, scratch, k, at->q, at->v, a, y);
    y += yoke_shape_n_y(n->ports[k].shape);
    for (int i = 0; n->n_integrals > 0 && i < count; ++i) y[i - count] -= *base++;
    y += yoke_multibody_n_extras(n->mb, k);
  }
}

yoke_status native_show(const native *n, void *scratch, const void *state, const native_point *at,
                        const native_point *image_from, const double *u, const double *a, double *y) {
  native_show_motions(n, scratch, state, at, a, y);
  YOKE_TRY(show_extras(n, scratch, at, u, y));
  return show_images(n, scratch, image_from, u, y);
}

/* The state's own point; from the right: as far behind its time as it takes for loads that switch there. */
static native_point point_at(const native *n, const void *state, yoke_side side) {
  native_point at = native_own_point(n, state);
  if (side == YOKE_SIDE_RIGHT) at.t += 4.0 * DBL_EPSILON * fabs(at.t);
  return at;
}

yoke_status native_output(const yoke_subsystem *subsystem, void *scratch, const void *state, const yoke_signal *u,
                          yoke_side side, double *y) {
  const native *n   = subsystem->self;
  double       *now = native_doubles(scratch, n->at_left), *a = native_doubles(scratch, n->at_a);
  native_point  own = point_at(n, state, side), at = own;
  if (n->equations.nu > 0) yoke_signal_value(u, own.t, side, 0, now);
  YOKE_TRY(native_prescribe(n, scratch, now, &at));
  YOKE_TRY(native_accelerations(n, scratch, &at, now, a));
  return native_show(n, scratch, state, &at, &own, now, a, y);
}

static double largest(int n, const double *x) {
  double size = 0.0;
  for (int i = 0; i < n; ++i) size = fmax(size, fabs(x[i]));
  return size;
}

/* Outputs whose accelerations are those that the ports show for accelerations a of the bodies; the others are 0. */
static void show_accelerations(const native *n, void *scratch, const void *state, const double *a, double *out) {
  const double *q = yoke_integrator_q(n->integrator, state), *v = yoke_integrator_v(n->integrator, state);
  for (int k = 0; k < n->n_ports; ++k) {
    const int at_a = yoke_shape_at_a(n->ports[k].shape), at_integral = yoke_shape_at_integral(n->ports[k].shape);
    const int n_y = n->ports[k].n_y;
    yoke_multibody_port(n->mb, scratch, k, q, v, a, out);
    for (int i = 0; i < n_y; ++i) {
      if (i < at_a || i >= at_integral) out[i] = 0.0;
    }
    out += n_y;
  }
}

/* Do the accelerations depend on an input of this kind as on a force? */
static bool is_affine(yoke_input_kind kind) {
  return kind == YOKE_INPUT_FORCE || kind == YOKE_INPUT_LAMBDA || kind == YOKE_INPUT_ROW_ACCELERATION ||
         kind == YOKE_INPUT_ROW_ACCELERATION_BARE || kind == YOKE_INPUT_PRESCRIBED;
}

/* Change of the reactions, which are extras and as linear as the accelerations, from the multipliers before (`old`) and after. */
static void show_reactions(const native *n, const double *old, const double *now, double change, double *out) {
  for (int k = 0; n->has_extras && k < n->n_ports; ++k) {
    out += yoke_shape_n_y(n->ports[k].shape);
    yoke_multibody_reaction(n->mb, k, old, now, change, out);
    out += yoke_multibody_n_extras(n->mb, k);
  }
}

/* a is linear in forces and multipliers, so one difference for each is exact up to rounding; a second one of the size of a
 * itself where a unit force is lost in a. Rows of inputs that move ghosts are 0. */
static yoke_status respond(const yoke_subsystem *subsystem, void *scratch, const void *state, const yoke_signal *u,
                           yoke_side side, double *dy_du) {
  const native                *n    = subsystem->self;
  const yoke_integrator_state *head = state;
  const int                    nv = n->equations.nv, ny = subsystem->ny;
  double                      *left = native_doubles(scratch, n->at_left), *a = native_doubles(scratch, n->at_a),
         *a2 = native_doubles(scratch, n->at_a2);
  double *terms =
      native_doubles(scratch, n->at_terms); /* w x (w x c): what ports show without accelerations of bodies */
  memset(a2, 0, (size_t)nv * sizeof *a2);
  show_accelerations(n, scratch, state, a2, terms);
  if (subsystem->nu > 0) yoke_signal_value(u, head->t, side, 0, left);
  const native_point at = point_at(n, state, side);
  YOKE_TRY(native_accelerations(n, scratch, &at, left, a));
  double *lambda = native_doubles(scratch, n->at_lambda), *lambda_0 = native_doubles(scratch, n->at_lambda_0);
  memcpy(lambda_0, lambda, (size_t)yoke_n_multipliers(&n->equations) * sizeof *lambda);
  for (int j = 0; j < subsystem->nu; ++j) {
    const double u_j      = left[j];
    const bool   is_force = is_affine(n->input_kind[j]); /* else a ghost, whose law may be nonlinear: a small change */
    double      *row = dy_du + (size_t)j * (size_t)ny, delta = is_force ? 1.0 : 1e-6 * fmax(1.0, fabs(u_j));
    double       last = 1.0;
    for (int k = 0; k < ny; ++k) row[k] = 0.0;
    for (int pass = 0; pass < 2; ++pass) {
      left[j]             = u_j + delta;
      const double change = left[j] - u_j; /* what was really added */
      last                = change;
      YOKE_TRY(native_accelerations(n, scratch, &at, left, a2));
      for (int i = 0; i < nv; ++i) a2[i] = (a2[i] - a[i]) / change;
      const double size = largest(nv, a2), wanted = fmax(largest(nv, a), fabs(u_j) * size);
      if (!is_force || size * delta >= 0.1 * wanted || size == 0.0) break;
      delta = wanted / size;
    }
    left[j] = u_j;
    show_accelerations(n, scratch, state, a2, row);
    for (int k = 0; k < ny; ++k) row[k] -= terms[k];
    show_reactions(n, lambda_0, lambda, last, row);
  }
  return YOKE_OK;
}

const yoke_instant_ops native_instant = {.response = respond};
