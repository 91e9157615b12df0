/* Observation of a native subsystem: quantities at a point inside a micro step, on its dense output. */
#include "native/native_internal.h"

#include <math.h>
#include <string.h>

void native_want(int n, const int64_t *handles, native_wanted *out) {
  for (int i = 0; i < n; ++i) {
    const yoke_native_quantity quantity = yoke_native_quantity_of(handles[i]);
    if (handles[i] < 0) {
      out->outputs = out->accelerations = true;
    } else if (quantity == YOKE_NATIVE_A || quantity == YOKE_NATIVE_FORCE || quantity == YOKE_NATIVE_FRAME_A) {
      out->accelerations = true;
    } else if (quantity == YOKE_NATIVE_ENERGY) {
      out->energy = true;
    } else if (quantity == YOKE_NATIVE_RESIDUAL) {
      out->residual = true;
    }
  }
}

/* The point at t: the state's own, or interpolated and brought onto the own joints. Behind a step that failed, which nobody was to look into, the
 * state's own too: all that is left of it. */
static yoke_status find_point(const native *n, void *scratch, const void *state, double t, const double *u,
                              native_point *out) {
  const yoke_equations *e = &n->equations;
  *out                    = native_own_point(n, state);
  if (t != out->t && yoke_integrator_has_inside(state)) {
    double *q = native_doubles(scratch, n->at->look_q), *v = native_doubles(scratch, n->at->look_v);
    yoke_integrator_interpolate(n->integrator, state, t, q, v);
    if (e->ops->normalise != NULL) e->ops->normalise(e->self, q);
    if (e->ng > 0 && e->ops->project_position(e->self, scratch, t, q) == YOKE_OK)
      (void)e->ops->project_velocity(e->self, scratch, t, q, v);
    *out = (native_point){t, q, v};
  }
  return native_prescribe(n, scratch, u, out);
}

/* What one point shows: filled as far as it is wanted. */
typedef struct view {
  native_point       point;
  const yoke_signal *signal; /* of the inputs u */
  const double      *u, *a, *lambda, *y;
  yoke_energy        energy;
  double             residual;
  int                connection; /* whose forces and violations these are; -1: none yet */
  double             force[YOKE_CONNECTION_MAX_ROWS], g[YOKE_CONNECTION_MAX_ROWS];
} view;

static double largest_violation(const native *n, void *scratch, const native_point *at) {
  const yoke_equations *e    = &n->equations;
  double               *g    = native_doubles(scratch, n->at->g);
  double                most = 0.0;
  if (e->ng == 0) return 0.0;
  e->ops->constraint(e->self, scratch, at->t, at->q, at->v, g, NULL);
  for (int i = 0; i < e->ng; ++i) most = fmax(most, fabs(g[i]));
  return most;
}

static void look_at_state(const native *n, void *scratch, const void *state, const native_wanted *wants, view *x) {
  const yoke_equations *e = &n->equations;
  if (wants->energy && e->ops->energy != NULL)
    e->ops->energy(e->self, scratch, x->point.t, x->point.q, x->point.v, &x->energy);
  if (wants->energy && n->tells_work) native_work_at(n, scratch, state, x->signal, &x->point, &x->energy);
  if (wants->residual) x->residual = largest_violation(n, scratch, &x->point);
}

/* Outputs come last: images of ports use up the multipliers. */
static yoke_status fill(const native *n, void *scratch, const void *state, const native_wanted *wants, view *x) {
  const yoke_equations *e = &n->equations;
  const double         *u = x->u;
  double               *a = native_doubles(scratch, n->at->a), *lambda = native_doubles(scratch, n->at->lambda_0);
  look_at_state(n, scratch, state, wants, x);
  if (!wants->accelerations) return YOKE_OK;
  YOKE_TRY(native_accelerations(n, scratch, &x->point, u, a));
  memcpy(lambda, native_doubles(scratch, n->at->lambda), (size_t)yoke_n_multipliers(e) * sizeof *lambda);
  x->a      = a;
  x->lambda = lambda;
  if (!wants->outputs) return YOKE_OK;
  double *y = native_doubles(scratch, n->at->look_y);
  x->y      = y;
  return native_show(n, scratch, state, &x->point, &x->point, x->signal, u, a, y);
}

static void look_at_connection(const native *n, void *scratch, int connection, view *x) {
  if (x->connection == connection) return;
  yoke_multibody_connection_output(n->mb, scratch, connection, x->point.t, x->point.q, x->point.v, x->u, x->lambda,
                                   x->force, x->g);
  x->connection = connection;
}

static double frame_of(const native *n, int frame, yoke_quantity_level level, int component, const view *x) {
  return yoke_multibody_frame(n->mb, frame, level, component, x->point.q, x->point.v, x->a);
}

static double coordinate_of(const native *n, int connection, int coordinate, bool is_rate, const view *x) {
  double       rate;
  const double value = yoke_multibody_coordinate(n->mb, connection, coordinate, x->point.q, x->point.v, &rate);
  return is_rate ? rate : value;
}

static double value_of(const native *n, void *scratch, int64_t handle, view *x) {
  const int index = yoke_native_index_of(handle), component = yoke_native_component_of(handle);
  if (handle < 0) return x->y[-1 - handle];
  switch (yoke_native_quantity_of(handle)) {
  case YOKE_NATIVE_Q: return x->point.q[yoke_multibody_q_offset(n->mb, index) + component];
  case YOKE_NATIVE_V: return x->point.v[yoke_multibody_v_offset(n->mb, index) + component];
  case YOKE_NATIVE_A: return x->a[yoke_multibody_v_offset(n->mb, index) + component];
  case YOKE_NATIVE_FORCE: look_at_connection(n, scratch, index, x); return x->force[component];
  case YOKE_NATIVE_G: look_at_connection(n, scratch, index, x); return x->g[component];
  case YOKE_NATIVE_INTEGRAL: return x->point.q[yoke_multibody_integral_at(n->mb, index)];
  case YOKE_NATIVE_RESIDUAL: return x->residual;
  case YOKE_NATIVE_FRAME_Q: return frame_of(n, index, YOKE_LEVEL_POSITION, component, x);
  case YOKE_NATIVE_FRAME_V: return frame_of(n, index, YOKE_LEVEL_VELOCITY, component, x);
  case YOKE_NATIVE_FRAME_A: return frame_of(n, index, YOKE_LEVEL_ACCELERATION, component, x);
  case YOKE_NATIVE_COORDINATE: return coordinate_of(n, index, component, false, x);
  case YOKE_NATIVE_COORDINATE_RATE: return coordinate_of(n, index, component, true, x);
  case YOKE_NATIVE_INPUT: return x->u[index];
  case YOKE_NATIVE_ENERGY: break;
  }
  const double part[YOKE_N_ENERGIES] = {[YOKE_ENERGY_KINETIC]    = x->energy.kinetic,
                                        [YOKE_ENERGY_POTENTIAL]  = x->energy.potential,
                                        [YOKE_ENERGY_DISSIPATED] = x->energy.dissipated,
                                        [YOKE_ENERGY_EXTERNAL]   = x->energy.external};
  return part[index];
}

static yoke_status observe(const native *n, void *scratch, const void *state, const yoke_signal *u, double t,
                           yoke_side side, int count, const int64_t *handles, double *values) {
  double       *now   = native_doubles(scratch, n->at->left);
  native_wanted wants = {0};
  view          x     = {.connection = -1, .signal = u, .u = now};
  native_want(count, handles, &wants);
  if (n->equations.nu > 0) yoke_signal_value(u, t, side, 0, now);
  YOKE_TRY(find_point(n, scratch, state, t, now, &x.point));
  YOKE_TRY(fill(n, scratch, state, &wants, &x));
  for (int i = 0; i < count; ++i)
    values[i] = value_of(n, scratch, handles[i], &x); /* finite or not: it is only shown */
  return YOKE_OK;
}

void native_show_signals(const native *n, void *scratch, const void *state, const native_point *at,
                         const yoke_signal *signal, const double *u, const double *a, double *y) {
  view x = {.point      = *at,
            .signal     = signal,
            .u          = u,
            .a          = a,
            .lambda     = native_doubles(scratch, n->at->lambda),
            .connection = -1};
  look_at_state(n, scratch, state, &n->shown, &x);
  for (int k = 0; k < n->n_ports; ++k) {
    for (int i = 0; i < n->signals[k].n; ++i)
      y[n->ports[k].y_at + native_signals_at(n, k) + i] = value_of(n, scratch, n->signals[k].handles[i], &x);
  }
}

yoke_status native_observe_passed(const native *n, void *scratch, const void *state, const yoke_signal *u,
                                  yoke_step_request *request) {
  const double t = ((const yoke_integrator_state *)state)->t;
  for (; request->n_observed < request->n_times && request->times[request->n_observed] <= t; ++request->n_observed) {
    double *values = request->values + (size_t)request->n_observed * (size_t)request->n_handles;
    YOKE_TRY(observe(n, scratch, state, u, request->times[request->n_observed], YOKE_SIDE_LEFT, request->n_handles,
                     request->handles, values));
  }
  return YOKE_OK;
}

static yoke_status observe_at(const yoke_subsystem *subsystem, void *scratch, const void *state, const yoke_signal *u,
                              double t, yoke_side side, int n, const int64_t *handles, double *values) {
  return observe(subsystem->self, scratch, state, u, t, side, n, handles, values);
}

const yoke_observe_ops native_observe = {.at = observe_at};

static void energy_handles(const yoke_subsystem *subsystem, int64_t out[YOKE_N_ENERGIES]) {
  const native *n         = subsystem->self;
  const bool    is_stored = n->equations.ops->energy != NULL, is_worked = n->tells_work;
  for (int k = 0; k < YOKE_N_ENERGIES; ++k) {
    const bool is_known = k == YOKE_ENERGY_KINETIC || k == YOKE_ENERGY_POTENTIAL ? is_stored : is_worked;
    out[k]              = is_known ? yoke_native_handle(YOKE_NATIVE_ENERGY, k, 0) : YOKE_NO_HANDLE;
  }
}

static bool energies_reached(const yoke_subsystem *subsystem, void *scratch, const void *state,
                             double out[YOKE_N_ENERGIES]) {
  const native         *n = subsystem->self;
  const yoke_equations *e = &n->equations;
  yoke_energy           energy;
  if (e->ops->energy == NULL || !n->tells_work || n->is_prescribed)
    return false; /* inputs tell where prescribed bodies are */
  const native_point at = native_own_point(n, state);
  e->ops->energy(e->self, scratch, at.t, at.q, at.v, &energy);
  native_work_reached(n, scratch, state, &energy);
  out[YOKE_ENERGY_KINETIC]    = energy.kinetic;
  out[YOKE_ENERGY_POTENTIAL]  = energy.potential;
  out[YOKE_ENERGY_DISSIPATED] = energy.dissipated;
  out[YOKE_ENERGY_EXTERNAL]   = energy.external;
  return true;
}

const yoke_energy_ops native_energy = {.handles = energy_handles, .reached = energies_reached};
