/* Response of a native subsystem: tangents carried along its micro steps, shown at its ports. */
#include "native/native_internal.h"

#include <math.h>
#include <string.h>

/* Room: that of the tangents, then dy of one port [n_y, n]. */
static int largest_port(const native *n) {
  int most = 0;
  for (int k = 0; k < n->n_ports; ++k) most = n->ports[k].n_y > most ? n->ports[k].n_y : most;
  return most;
}

static size_t own_room(const native *n, int n_directions) {
  return (yoke_tangents_room(n->tangents, n_directions) + 63) / 64 * 64;
}

static size_t native_room(const yoke_subsystem *subsystem, int n_directions) {
  const native *n = subsystem->self;
  if (n->tangents == NULL) return 0;
  return own_room(n, n_directions) + (size_t)largest_port(n) * (size_t)n_directions * sizeof(double);
}

/* ---- shifts ---- */

/* Not where something inside of a step depends on the way: events and jumps of laws were located on it, work was counted along it. */
static bool may_shift(const native *n) {
  return n->tangents != NULL && n->equations.n_events == 0 && !n->holds_jumps && !n->is_prescribed && !n->has_halos &&
         !n->is_loose && !n->counts_work;
}

static int native_n_x(const yoke_subsystem *subsystem) {
  const native *n = subsystem->self;
  return may_shift(n) ? n->equations.nq + n->equations.nv : 0;
}

static yoke_status native_shift(const yoke_subsystem *subsystem, void *scratch, void *state, const yoke_signal *u,
                                const double *dx) {
  const native          *n    = subsystem->self;
  yoke_integrator_state *head = state;
  YOKE_TRY(yoke_integrator_shift(n->integrator, scratch, head, dx, dx + n->equations.nq, u));
  native_remember_inputs(n, state, u, head->t, YOKE_SIDE_LEFT);
  return YOKE_OK;
}

const yoke_response_ops native_response = {.room = native_room, .n_x = native_n_x, .shift = native_shift};

/* (dq, dv) [nq + nv, n], one behind the other, become rows of response->dx; false: not finite. */
static bool write_states(const native *n, const yoke_tangent_view *view, double *out) {
  const size_t n_x = (size_t)(n->equations.nq + n->equations.nv), n_d = (size_t)view->n;
  bool         is_finite = true;
  for (size_t k = 0; k < n_x; ++k) {
    for (size_t d = 0; d < n_d; ++d) {
      out[d * n_x + k] = view->dq[k * n_d + d];
      is_finite        = is_finite && isfinite(out[d * n_x + k]);
    }
  }
  return is_finite;
}

/* ---- responses ---- */

/* What is no mistake of the step, only of its tangents, leaves the response unmade. */
static yoke_status note(yoke_status status, yoke_response *response) {
  if (status < 0) return status;
  response->is_made = status == YOKE_OK;
  return YOKE_OK;
}

yoke_status native_response_begin(const native *n, void *scratch, const void *state, const yoke_signal *u,
                                  yoke_response *response) {
  if (response == NULL) return YOKE_OK;
  if (n->tangents == NULL) return note(YOKE_NOT_CONVERGED, response);
  return note(yoke_tangents_begin(n->tangents, response->room, scratch, state, u, &response->directions), response);
}

yoke_status native_response_advance(const native *n, void *scratch, const void *state, const yoke_signal *u,
                                    yoke_response *response) {
  if (response == NULL || !response->is_made) return YOKE_OK;
  return note(yoke_tangents_advance(n->tangents, response->room, scratch, state, u, &response->directions), response);
}

yoke_status native_response_turn(const native *n, void *scratch, const void *state, const yoke_signal *u,
                                 yoke_response *response) {
  if (response == NULL || !response->is_made) return YOKE_OK;
  return note(yoke_tangents_turn(n->tangents, response->room, scratch, state, u, &response->directions), response);
}

/* dy [n_y, n] of a port becomes rows of response->dy; false: not finite. */
static bool write_rows(const yoke_port *port, int n, int ny, const double *dy, double *out) {
  bool is_finite = true;
  for (int d = 0; d < n; ++d) {
    double *row = out + (size_t)d * (size_t)ny + port->y_at;
    for (int k = 0; k < port->n_y; ++k) {
      row[k]    = dy[(size_t)k * (size_t)n + (size_t)d];
      is_finite = is_finite && isfinite(row[k]);
    }
  }
  return is_finite;
}

/* What motions of the ports are off by; `dy` is room for one port. false: not finite. */
static bool write_errors(const native *n, void *scratch, const yoke_tangent_view *view, int ny, double *dy,
                         double *out) {
  bool is_made = true;
  for (int k = 0; k < n->n_ports && is_made; ++k) {
    memset(dy, 0, (size_t)n->ports[k].n_y * (size_t)view->n * sizeof *dy);
    is_made = (native_is_signal(n, k) ||
               yoke_multibody_port_tangent(n->mb, scratch, k, view->q, view->v, view->a, view->n, view->off_q,
                                           view->off_v, view->da, view->dlambda, dy)) &&
              write_rows(&n->ports[k], view->n, ny, dy, out);
  }
  return is_made;
}

void native_response_end(const native *n, void *scratch, const void *state, int ny, yoke_response *response) {
  const yoke_integrator_state *head = state;
  if (response == NULL || n->tangents == NULL) return;
  const yoke_tangent_view view = yoke_tangents_view(n->tangents, response->room);
  response->evaluations        = view.evaluations;
  response->jacobians          = view.jacobians;
  if (!response->is_made) return;
  double             *dy     = native_doubles(response->room, own_room(n, view.n));
  const native_change change = {.at      = {.t = head->t, .q = view.q, .v = view.v},
                                .a       = view.a,
                                .n       = view.n,
                                .dq      = view.dq,
                                .dv      = view.dv,
                                .da      = view.da,
                                .dlambda = view.dlambda,
                                .du      = &response->directions};
  for (int k = 0; k < n->n_ports && response->is_made; ++k) {
    native_signals_tangent(n, scratch, k, &change, dy);
    response->is_made =
        (native_is_signal(n, k) || yoke_multibody_port_tangent(n->mb, scratch, k, view.q, view.v, view.a, view.n,
                                                               view.dq, view.dv, view.da, view.dlambda, dy)) &&
        write_rows(&n->ports[k], view.n, ny, dy, response->dy);
  }
  response->can_shift = response->is_made && response->dx != NULL && may_shift(n) &&
                        yoke_integrator_can_shift(n->integrator, head) && write_states(n, &view, response->dx) &&
                        write_errors(n, scratch, &view, ny, dy, response->dy_off);
}
