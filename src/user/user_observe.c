/* Observation of a user subsystem: its outputs and energies by handle, at the state's time or inside the last piece of its last step.
 *
 * Inside it is the type that shows them, or they are interpolated between both ends of the piece: with s = (t - t0) / h and d = x1 - x0
 *   positions and velocities   x0 + s (h x0' + s (3 d - h (2 x0' + x1') + s (h (x0' + x1') - 2 d))),   p' = T(p) v, v' = a
 *   all else                   x0 + s d
 * Euler parameters are made unit ones again. Handles: 0 .. 3 the energies, negative ones the outputs. */
#include "user/user_internal.h"

#include <math.h>
#include <string.h>

yoke_status user_show(const yoke_subsystem *subsystem, void *scratch, const void *state, const yoke_signal *u,
                      yoke_side side, double *y) {
  const user_self  *self  = subsystem->self;
  const user_front *front = state;
  double           *now   = user_doubles(scratch, self->at_u);
  yoke_signal_value(u, front->t, side, 0, now);
  return user_status(self->type->output(self->instance.self, user_inner_seen(self, state), front->t, now, y));
}

yoke_status user_keep_end(const yoke_subsystem *subsystem, void *scratch, void *state, const yoke_signal *u,
                          yoke_side side) {
  const user_self *self = subsystem->self;
  const size_t     n    = (size_t)self->ny;
  if (self->type->energy != NULL) {
    double *energies = user_doubles(state, self->at_energies);
    memcpy(energies, energies + YOKE_N_ENERGIES, YOKE_N_ENERGIES * sizeof *energies);
    self->type->energy->values(self->instance.self, user_inner(self, state), energies + YOKE_N_ENERGIES);
  }
  if (self->type->inside != NULL) return YOKE_OK;
  double *ends = user_doubles(state, self->at_ends);
  memcpy(ends, ends + n, n * sizeof *ends);
  return user_show(subsystem, scratch, state, u, side, ends + n);
}

/* ---- inside a piece ---- */

typedef struct place {
  double s, h; /* share of the piece, its length [s] */
} place;

static double on_line(place at, double x0, double x1) {
  return x0 + at.s * (x1 - x0);
}

static double on_cubic(place at, double x0, double x1, double rate0, double rate1) {
  const double d = x1 - x0, a = at.h * rate0, b = at.h * rate1;
  return x0 + at.s * (a + at.s * (3.0 * d - 2.0 * a - b + at.s * (a + b - 2.0 * d)));
}

static void position_rates(const yoke_port_shape *shape, const double *y, double *rates) {
  double T[YOKE_PORT_MAX_P * YOKE_PORT_MAX_V];
  yoke_shape_tangent(shape, y, T);
  for (int i = 0; i < shape->n_p; ++i) {
    rates[i] = 0.0;
    for (int k = 0; k < shape->n_v; ++k) rates[i] += T[i * shape->n_v + k] * y[shape->n_p + k];
  }
}

/* Components that are no coordinates describe the orientation together: their squares sum up to 1. */
static void normalise(const yoke_port_shape *shape, double *p) {
  double sum = 0.0;
  for (int i = 0; i < shape->n_p; ++i) sum += shape->p[i].rate < 0 ? p[i] * p[i] : 0.0;
  if (!(sum > 0.0)) return;
  for (int i = 0; i < shape->n_p; ++i) p[i] /= shape->p[i].rate < 0 ? sqrt(sum) : 1.0;
}

static void port_inside(const yoke_port_shape *shape, place at, const double *y0, const double *y1, double *y) {
  double    rates[2][YOKE_PORT_MAX_P];
  const int n_p = shape->n_p, n_v = shape->n_v, at_a = yoke_shape_at_a(shape);
  position_rates(shape, y0, rates[0]);
  position_rates(shape, y1, rates[1]);
  for (int i = 0; i < n_p; ++i) y[i] = on_cubic(at, y0[i], y1[i], rates[0][i], rates[1][i]);
  normalise(shape, y);
  for (int k = 0; k < n_v; ++k) {
    y[n_p + k]  = on_cubic(at, y0[n_p + k], y1[n_p + k], y0[at_a + k], y1[at_a + k]);
    y[at_a + k] = on_line(at, y0[at_a + k], y1[at_a + k]);
  }
}

static void interpolate(const user_self *self, const void *state, place at, double *y) {
  const double *y0 = user_doubles(state, self->at_ends), *y1 = y0 + self->ny;
  for (int i = 0; i < self->instance.n_ports; ++i) {
    const int n = yoke_shape_at_integral(self->shape[i]);
    port_inside(self->shape[i], at, y0, y1, y);
    y0 += n;
    y1 += n;
    y += n;
  }
  for (int k = 0; k < self->instance.n_outputs; ++k) y[k] = on_line(at, y0[k], y1[k]);
}

static bool is_inside(const user_front *front, double t) {
  return front->has_ends && t > front->t_before && t < front->t;
}

static yoke_status outputs_at(const yoke_subsystem *subsystem, void *scratch, const void *state, const yoke_signal *u,
                              double t, yoke_side side, double *y) {
  const user_self  *self  = subsystem->self;
  const user_front *front = state;
  double           *now   = user_doubles(scratch, self->at_u);
  if (!is_inside(front, t)) return user_show(subsystem, scratch, state, u, side, y);
  if (self->type->inside == NULL) {
    const double h = front->t - front->t_before;
    interpolate(self, state, (place){(t - front->t_before) / h, h}, y);
    return YOKE_OK;
  }
  yoke_signal_value(u, t, side, 0, now);
  return user_status(self->type->inside->output(self->instance.self, user_inner_seen(self, state), t, now, y));
}

static void energies_at(const user_self *self, const void *state, double t, double energy[YOKE_N_ENERGIES]) {
  const user_front *front = state;
  if (!is_inside(front, t)) {
    self->type->energy->values(self->instance.self, user_inner_seen(self, state), energy);
    return;
  }
  const double *kept = user_doubles(state, self->at_energies), h = front->t - front->t_before;
  for (int k = 0; k < YOKE_N_ENERGIES; ++k)
    energy[k] = on_line((place){(t - front->t_before) / h, h}, kept[k], kept[YOKE_N_ENERGIES + k]);
}

/* ---- by handle ---- */

/* Where an output of the subsystem is among those of the type; -1: an integral. */
static int own_output(const user_self *self, int k) {
  int at = 0;
  for (int i = 0; i < self->instance.n_ports; ++i) {
    const int n = yoke_shape_at_integral(self->shape[i]), all = yoke_shape_n_y(self->shape[i]);
    if (k < all) return k < n ? at + k : -1;
    k -= all;
    at += n;
  }
  return at + k;
}

static yoke_status observe_at(const yoke_subsystem *subsystem, void *scratch, const void *state, const yoke_signal *u,
                              double t, yoke_side side, int n, const int64_t *handles, double *values) {
  const user_self *self  = subsystem->self;
  double          *y     = user_doubles(scratch, self->at_y), energy[YOKE_N_ENERGIES];
  bool             has_y = false, has_energy = false;
  for (int i = 0; i < n; ++i) {
    if (handles[i] >= 0) {
      if (!has_energy) energies_at(self, state, t, energy);
      has_energy = true;
      values[i]  = energy[handles[i]];
    } else {
      const int k = own_output(self, yoke_handle_output(handles[i]));
      if (!has_y) YOKE_TRY(outputs_at(subsystem, scratch, state, u, t, side, y));
      has_y     = true;
      values[i] = k >= 0 ? y[k] : 0.0;
    }
    if (!isfinite(values[i])) return YOKE_NON_FINITE;
  }
  return YOKE_OK;
}

yoke_status user_observe_passed(const yoke_subsystem *subsystem, void *scratch, const void *state, const yoke_signal *u,
                                yoke_step_request *request) {
  const user_front *front = state;
  for (; request->n_observed < request->n_times && request->times[request->n_observed] <= front->t;
       ++request->n_observed)
    YOKE_TRY(observe_at(subsystem, scratch, state, u, request->times[request->n_observed], YOKE_SIDE_LEFT,
                        request->n_handles, request->handles,
                        request->values + (ptrdiff_t)request->n_observed * request->n_handles));
  return YOKE_OK;
}

static void energy_handles(const yoke_subsystem *subsystem, int64_t out[YOKE_N_ENERGIES]) {
  (void)subsystem;
  for (int k = 0; k < YOKE_N_ENERGIES; ++k) out[k] = k;
}

const yoke_observe_ops user_observe = {.at = observe_at};
const yoke_energy_ops  user_energy  = {.handles = energy_handles};
