/* Signals at ports: what they show, and how that follows changes of accelerations, states and inputs.
 *
 * Tangents of most quantities are exact and cheap. Forces of elements, deflections and energies have none: a subsystem that shows one of them at a
 * port takes differences over a step. At one instant these do not move at all, but for forces by formulas that read signals, accelerations or forces
 * of joints. */
#include "native/native_internal.h"

#include <string.h>

/* ---- creation ---- */

yoke_status native_take_signals(yoke_context *ctx, native *n, yoke_subsystem *s, const yoke_native_def *def, int k) {
  static const yoke_native_signals none = {0};
  if (def->port_signals == NULL && def->port_frame[k] < 0)
    return yoke_fail(ctx, YOKE_E_USAGE, "port %d: no frame and no signals are given", k);
  const yoke_native_signals *given   = def->port_signals != NULL ? &def->port_signals[k] : &none;
  int64_t                   *handles = yoke_arena_take(&s->arena, (size_t)given->n + 1, sizeof *handles);
  YOKE_TRY(yoke_arena_check(&s->arena, ctx, "%d signals", given->n));
  for (int i = 0; i < given->n; ++i) {
    if (given->handles[i] < 0)
      return yoke_fail(ctx, YOKE_E_USAGE, "port %d: signal %d is an output of a port, expected a quantity", k, i);
    handles[i] = given->handles[i];
  }
  n->signals[k]       = (yoke_native_signals){given->n, handles};
  n->has_signal_ports = n->has_signal_ports || given->n > 0;
  native_want(given->n, handles, &n->shown);
  return YOKE_OK;
}

static bool has_tangent(const native *n, int64_t handle) {
  const int index = yoke_native_index_of(handle);
  switch (yoke_native_quantity_of(handle)) {
  case YOKE_NATIVE_Q:
  case YOKE_NATIVE_V:
  case YOKE_NATIVE_A:
  case YOKE_NATIVE_INTEGRAL:
  case YOKE_NATIVE_FRAME_Q:
  case YOKE_NATIVE_FRAME_V:
  case YOKE_NATIVE_FRAME_A:
  case YOKE_NATIVE_COORDINATE:
  case YOKE_NATIVE_COORDINATE_RATE:
  case YOKE_NATIVE_INPUT: return true;
  case YOKE_NATIVE_FORCE: /* rows that follow from others share their forces with them, which tangents do not see */
    return !yoke_multibody_is_element(n->mb, index) && n->n_redundant == 0;
  case YOKE_NATIVE_G: return !yoke_multibody_is_element(n->mb, index); /* joints keep it at 0 */
  case YOKE_NATIVE_ENERGY:
  case YOKE_NATIVE_RESIDUAL: return false;
  }
  return false;
}

bool native_signals_have_tangents(const native *n) {
  for (int k = 0; k < n->n_ports; ++k) {
    for (int i = 0; i < n->signals[k].n; ++i) {
      if (!has_tangent(n, n->signals[k].handles[i])) return false;
    }
  }
  return true;
}

bool native_shows_joint_forces(const native *n) {
  for (int k = 0; k < n->n_ports; ++k) {
    for (int i = 0; i < n->signals[k].n; ++i) {
      const int64_t handle = n->signals[k].handles[i];
      if (yoke_native_quantity_of(handle) == YOKE_NATIVE_FORCE &&
          !yoke_multibody_is_element(n->mb, yoke_native_index_of(handle)))
        return true;
    }
  }
  return false;
}

/* ---- tangents ---- */

/* dy [n] := row `at` of a change [., n]; 0 where nothing changes. */
static void take_row(int n, const double *change, int at, double *dy) {
  if (change != NULL && at >= 0)
    memcpy(dy, change + (ptrdiff_t)at * n, (size_t)n * sizeof *dy);
  else
    memset(dy, 0, (size_t)n * sizeof *dy);
}

/* Entry e of the directions at t, from the left. */
static double change_at(const yoke_signal *du, int e, double t) {
  int p = 0;
  while (p + 1 < du->n_pieces && t > du->t[p + 1]) ++p;
  const size_t      at  = (size_t)p * (size_t)du->n + (size_t)e;
  const yoke_signal own = {
      .n = 1, .n_pieces = 1, .degree = du->degree, .t = du->t + p, .c = du->c + at * ((size_t)du->degree + 1)};
  double value;
  yoke_signal_value(&own, t, YOKE_SIDE_LEFT, 0, &value);
  return value;
}

static void input_tangent(const native_change *c, int input, double *dy) {
  memset(dy, 0, (size_t)c->n * sizeof *dy);
  if (c->du == NULL) {
    if (input >= c->first && input < c->first + c->n) dy[input - c->first] = 1.0;
    return;
  }
  for (int e = 0; e < c->du->n_entries; ++e) {
    if (c->du->input[e] == input) dy[c->du->direction[e]] += change_at(&c->du->du, e, c->at.t);
  }
}

static void tangent_of(const native *n, void *scratch, int64_t handle, const native_change *c, double *dy) {
  static const yoke_quantity_level level[] = {[YOKE_NATIVE_FRAME_Q] = YOKE_LEVEL_POSITION,
                                              [YOKE_NATIVE_FRAME_V] = YOKE_LEVEL_VELOCITY,
                                              [YOKE_NATIVE_FRAME_A] = YOKE_LEVEL_ACCELERATION};
  const int                        index = yoke_native_index_of(handle), component = yoke_native_component_of(handle);
  const yoke_native_quantity       quantity = yoke_native_quantity_of(handle);
  switch (quantity) {
  case YOKE_NATIVE_Q: take_row(c->n, c->dq, yoke_multibody_q_offset(n->mb, index) + component, dy); return;
  case YOKE_NATIVE_V: take_row(c->n, c->dv, yoke_multibody_v_offset(n->mb, index) + component, dy); return;
  case YOKE_NATIVE_A: take_row(c->n, c->da, yoke_multibody_v_offset(n->mb, index) + component, dy); return;
  case YOKE_NATIVE_INTEGRAL: take_row(c->n, c->dq, yoke_multibody_integral_at(n->mb, index), dy); return;
  case YOKE_NATIVE_FORCE: take_row(c->n, c->dlambda, yoke_multibody_multiplier_at(n->mb, index, component), dy); return;
  case YOKE_NATIVE_FRAME_Q:
  case YOKE_NATIVE_FRAME_V:
  case YOKE_NATIVE_FRAME_A:
    yoke_multibody_frame_tangent(n->mb, index, level[quantity], component, c->at.q, c->at.v, c->a, c->n, c->dq, c->dv,
                                 c->da, dy);
    return;
  case YOKE_NATIVE_COORDINATE:
  case YOKE_NATIVE_COORDINATE_RATE:
    yoke_multibody_coordinate_tangent(n->mb, scratch, index, component, quantity == YOKE_NATIVE_COORDINATE_RATE,
                                      c->at.q, c->at.v, c->n, c->dq, c->dv, dy);
    return;
  case YOKE_NATIVE_INPUT: input_tangent(c, index, dy); return;
  case YOKE_NATIVE_G:
  case YOKE_NATIVE_ENERGY:
  case YOKE_NATIVE_RESIDUAL: take_row(c->n, NULL, -1, dy); return;
  }
}

void native_signals_tangent(const native *n, void *scratch, int k, const native_change *change, double *dy) {
  double *own = dy + (ptrdiff_t)native_signals_at(n, k) * change->n;
  for (int i = 0; i < n->signals[k].n; ++i)
    tangent_of(n, scratch, n->signals[k].handles[i], change, own + (ptrdiff_t)i * change->n);
}

/* ---- one instant ---- */

void native_signals_respond(const native *n, void *scratch, int k, const native_change *change, const double *u,
                            double *dy) {
  const yoke_element_change element = {
      .n = change->n, .first = change->first, .a = change->a, .da = change->da, .dlambda = change->dlambda};
  double *own = dy + (ptrdiff_t)native_signals_at(n, k) * change->n;
  native_signals_tangent(n, scratch, k, change, dy);
  for (int i = 0; i < n->signals[k].n; ++i) {
    const int64_t handle = n->signals[k].handles[i];
    const int     index  = yoke_native_index_of(handle);
    if (yoke_native_quantity_of(handle) != YOKE_NATIVE_FORCE || !yoke_multibody_is_element(n->mb, index)) continue;
    yoke_multibody_element_response(n->mb, scratch, index, change->at.t, change->at.q, change->at.v, u, &element,
                                    own + (ptrdiff_t)i * change->n);
  }
}
