/* Response of what ports show to the inputs at one instant: of accelerations and reactions, and of signals made of them, since nothing else
 * follows at once.
 *
 * With dF/du and the factored system of the accelerations (equations.h) one solve gives it for all inputs. It is set up where there is something to
 * factor, or a ghost whose motion enters by a law; forces on bodies without joints, and equations without tangents, take differences. So does a
 * singular position, where multipliers are those of least norm. */
#include "native/native_internal.h"

#include <math.h>
#include <string.h>

/* ---- by differences ---- */

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
    double   *own = out + n->ports[k].y_at;
    yoke_multibody_port(n->mb, scratch, k, q, v, a, own);
    for (int i = 0; i < n->ports[k].n_y; ++i) {
      if (i < at_a || i >= at_integral) own[i] = 0.0;
    }
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
    double *extras = out + n->ports[k].y_at + yoke_shape_n_y(n->ports[k].shape);
    yoke_multibody_reaction(n->mb, k, old, now, change, extras);
  }
}

/* Signals, from accelerations a2 for a unit of input j; the multipliers `now` become their own change. */
static void show_signals(const native *n, void *scratch, const native_point *at, const double *u, int j,
                         const double *a2, const double *old, double *now, double change, double *out) {
  if (!n->has_signal_ports) return;
  for (int i = 0; i < yoke_n_multipliers(&n->equations); ++i) now[i] = (now[i] - old[i]) / change;
  const native_change unit = {.at = *at, .a = a2, .n = 1, .da = a2, .dlambda = now, .first = j};
  for (int k = 0; k < n->n_ports; ++k) native_signals_respond(n, scratch, k, &unit, u, out + n->ports[k].y_at);
}

/* a is linear in forces and multipliers, so one difference for each is exact up to rounding; a second one of the size of a
 * itself where a unit force is lost in a. */
static yoke_status respond_by_differences(const yoke_subsystem *subsystem, void *scratch, const void *state,
                                          const yoke_signal *u, yoke_side side, double *dy_du) {
  const native                *n    = subsystem->self;
  const yoke_integrator_state *head = state;
  const int                    nv = n->equations.nv, ny = subsystem->ny;
  double                      *left = native_doubles(scratch, n->at->left), *a = native_doubles(scratch, n->at->a),
         *a2 = native_doubles(scratch, n->at->a2);
  double *terms =
      native_doubles(scratch, n->at->terms); /* w x (w x c): what ports show without accelerations of bodies */
  memset(a2, 0, (size_t)nv * sizeof *a2);
  show_accelerations(n, scratch, state, a2, terms);
  if (subsystem->nu > 0) yoke_signal_value(u, head->t, side, 0, left);
  const native_point at = native_point_at(n, state, side);
  YOKE_TRY(native_accelerations(n, scratch, &at, left, a));
  double *lambda = native_doubles(scratch, n->at->lambda), *lambda_0 = native_doubles(scratch, n->at->lambda_0);
  memcpy(lambda_0, lambda, (size_t)yoke_n_multipliers(&n->equations) * sizeof *lambda);
  for (int j = 0; j < subsystem->nu; ++j) {
    const double u_j      = left[j];
    const bool   is_force = is_affine(n->input_kind[j]); /* else a ghost, whose law may be nonlinear: a small change */
    double *row = dy_du + (size_t)j * (size_t)ny, delta = is_force ? 1.0 : 1e-6 * fmax(n->input_size[j], fabs(u_j));
    double  last = 1.0;
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
    show_signals(n, scratch, &at, left, j, a2, lambda_0, lambda, last, row);
  }
  return YOKE_OK;
}

/* ---- by tangents ---- */

yoke_status native_instant_create(yoke_context *ctx, native *n) {
  const yoke_equations *e    = &n->equations;
  bool                  pays = yoke_n_multipliers(e) > 0;
  if (native_shows_joint_forces(n) && n->n_redundant > 0) return YOKE_OK; /* these have the least norm as well */
  for (int j = 0; j < e->nu; ++j) pays = pays || !is_affine(n->input_kind[j]);
  if (!pays || e->nu == 0 || e->ops->dae_input_jacobian == NULL) return YOKE_OK;
  if (n->tangents == NULL) YOKE_TRY(e->ops->dae_create(e->self, ctx, YOKE_DAE_INDEX1, &n->own_dae));
  n->dae = n->tangents != NULL ? yoke_tangents_dae(n->tangents) : n->own_dae;
  return YOKE_OK;
}

/* Column j of dF/du is the right-hand side of direction j. */
static void set_right_hand_sides(const native *n, const double *B, double *da, double *dlambda) {
  const yoke_dae     *dae     = n->dae;
  const yoke_pattern *pattern = dae->input_pattern;
  const int           nu = n->equations.nu, nv = n->equations.nv, nl = yoke_n_multipliers(&n->equations);
  memset(da, 0, (size_t)nv * (size_t)nu * sizeof *da);
  memset(dlambda, 0, (size_t)nl * (size_t)nu * sizeof *dlambda);
  for (int j = 0; j < nu; ++j) {
    for (int k = pattern->col_start[j]; k < pattern->col_start[j + 1]; ++k) {
      const int row = pattern->row[k], force = row - dae->i_a, gap = row - dae->i_lambda;
      if (force >= 0 && force < nv) da[(ptrdiff_t)force * nu + j] = B[k];
      if (nl > 0 && gap >= 0 && gap < nl) dlambda[(ptrdiff_t)gap * nu + j] = -B[k];
    }
  }
}

static yoke_status respond_by_tangents(const yoke_subsystem *subsystem, void *scratch, const native_point *at,
                                       const double *u, double *dy_du) {
  const native         *n  = subsystem->self;
  const yoke_equations *e  = &n->equations;
  const ptrdiff_t       nu = e->nu;
  double               *x = native_doubles(scratch, n->at->x), *B = native_doubles(scratch, n->at->B),
         *da = native_doubles(scratch, n->at->da), *dlambda = native_doubles(scratch, n->at->dlambda),
         *dy   = native_doubles(scratch, n->at->dy);
  void *factor = native_doubles(scratch, n->at->factor);
  YOKE_TRY(native_accelerations(n, scratch, at, u, x + n->dae->i_a));
  memcpy(x, at->q, (size_t)e->nq * sizeof *x);
  memcpy(x + n->dae->i_v, at->v, (size_t)e->nv * sizeof *x);
  if (n->dae->i_lambda >= 0) {
    memcpy(x + n->dae->i_lambda, native_doubles(scratch, n->at->lambda), (size_t)yoke_n_multipliers(e) * sizeof *x);
  }
  YOKE_TRY(e->ops->dae_input_jacobian(e->self, n->dae, scratch, at->t, x, u, B));
  YOKE_TRY(e->ops->motion_factor(e->self, scratch, at->t, at->q, at->v, u, factor));
  set_right_hand_sides(n, B, da, dlambda);
  e->ops->motion_solve(e->self, factor, e->nu, da, dlambda);
  const native_change unit = {.at = *at, .a = x + n->dae->i_a, .n = e->nu, .da = da, .dlambda = dlambda};
  for (int k = 0; k < n->n_ports; ++k) {
    if (!native_is_signal(n, k)) yoke_multibody_port_response(n->mb, k, at->q, e->nu, da, dlambda, dy);
    native_signals_respond(n, scratch, k, &unit, u, dy);
    for (int i = 0; i < n->ports[k].n_y; ++i) {
      for (ptrdiff_t j = 0; j < nu; ++j) dy_du[j * subsystem->ny + n->ports[k].y_at + i] = dy[i * nu + j];
    }
  }
  return YOKE_OK;
}

static yoke_status respond(const yoke_subsystem *subsystem, void *scratch, const void *state, const yoke_signal *u,
                           yoke_side side, double *dy_du) {
  const native      *n    = subsystem->self;
  const native_point at   = native_point_at(n, state, side);
  double            *left = native_doubles(scratch, n->at->left);
  if (n->dae == NULL) return respond_by_differences(subsystem, scratch, state, u, side, dy_du);
  yoke_signal_value(u, native_own_point(n, state).t, side, 0, left);
  const yoke_status status = respond_by_tangents(subsystem, scratch, &at, left, dy_du);
  return status == YOKE_SINGULAR ? respond_by_differences(subsystem, scratch, state, u, side, dy_du) : status;
}

const yoke_instant_ops native_instant = {.response = respond};
