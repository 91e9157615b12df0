/* Loads on chain masses: what acts from outside, evaluated once per distinct time shape.
 *
 * A load is amplitude times a shape of time, or a contact A exp(B x). Many masses usually share few shapes (the same
 * impulse on every coupling body), so equal shapes are found at creation and their sin, tanh or power is computed once
 * per right-hand side. Sines that differ from mass to mass are computed in batches by a vector loop. */
#include "model/chain_loops.h"

#include "base/memory.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* tanh(x) rounds to +-1 beyond this. */
static const double tanh_saturates = 20.0;
/* 1 - tanh(x) is 4e-9 here, half of it 2e-9: far enough for works. */
static const double tanh_is_flat = 10.0;
static const double sine_is_flat = 2e-9;
/* exp beyond this is taken as overflow: the masses would be torn apart long before. */
static const double contact_exponent_max = 700.0;

static double step_up(double x) {
  return fabs(x) > tanh_saturates ? copysign(1.0, x) : tanh(x);
}

static bool is_sine(const yoke_chain_shape *shape) {
  return shape->kind != YOKE_CHAIN_IMPULSE;
}

static double impulse_value(const yoke_chain_shape *shape, double t) {
  if (t < shape->begin || t > shape->end) return 0.0;
  const double since = t - shape->time;
  return 0.5 * (step_up(since / shape->rise) - step_up((since - shape->width) / shape->rise));
}

double yoke_chain_shape_value(const yoke_chain_shape *shape, double t) {
  if (!is_sine(shape)) return impulse_value(shape, t);
  double argument = shape->omega * t + shape->phase, value;
  yoke_chain_loop_sine(1, &argument, &value);
  if (shape->power != 1.0) yoke_chain_loop_raise_all(1, (uint64_t)shape->power, &value);
  return value;
}

/* An edge that all times are before or behind is 0 or 1 there. */
static void impulse_values(const yoke_chain_shape *shape, int n, const double *t, double *values) {
  double since[YOKE_LOAD_TIMES], value[YOKE_LOAD_TIMES], per_rise = 1.0 / shape->rise;
  for (int k = 0; k < n; ++k) values[k] = 0.0;
  for (int e = 0; e < 2; ++e) {
    const double time = shape->time + (e == 0 ? 0.0 : shape->width), sign = e == 0 ? 1.0 : -1.0;
    const double far = tanh_is_flat * shape->rise, first = t[0] - time, last = t[n - 1] - time;
    if (last < -far) continue;
    for (int k = 0; k < YOKE_LOAD_TIMES; ++k) value[k] = 1.0;
    if (first < far) {
      for (int k = 0; k < YOKE_LOAD_TIMES; ++k) {
        const double x = (t[k < n ? k : 0] - time) * per_rise, least = x > -tanh_saturates ? x : -tanh_saturates;
        since[k] = least < tanh_saturates ? least : tanh_saturates;
      }
      yoke_chain_loop_step(since, value);
    }
    for (int k = 0; k < n; ++k) values[k] += sign * value[k];
  }
}

static const double per_pi = 0.31830988618379067, far_turns = 1e6;

/* Half turns at t from the nearest zero of a sine, in [-1/2, 1/2]; NaN: too far to tell. */
static double turns_from_zero(const yoke_chain_shape *shape, double t) {
  const double turns = (shape->omega * t + shape->phase) * per_pi, whole = 0x1.8p52;
  return fabs(turns) < far_turns ? turns - ((turns + whole) - whole) : (double)NAN;
}

/* Is the power of a sine as good as 0 from t[0] to t[n - 1]? High powers are narrow pulses. */
static bool is_flat(const yoke_chain_shape *shape, int n, const double *t) {
  const double first = turns_from_zero(shape, t[0]), last = first + shape->omega * per_pi * (t[n - 1] - t[0]);
  return fabs(first) < shape->flat && fabs(last) < shape->flat;
}

/* The same from t until then. Where that is short it does not pay to ask. */
static yoke_loading sine_loading(const yoke_chain_shape *shape, double t, double *until) {
  static const double short_one = 0.1,
                      at_once   = 1e-9; /* [half turns]; what changes so soon, or is rounding, has changed */
  const double at = turns_from_zero(shape, t), ahead = shape->omega > 0.0 ? at : -at, soon = ahead + at_once;
  if (shape->omega == 0.0) return YOKE_LOADS_STEADY;
  if (shape->flat < short_one || isnan(at)) return YOKE_LOADS_VARY;
  const bool   is_none = fabs(soon) < shape->flat;
  const double change  = is_none ? shape->flat : soon < 0.0 ? -shape->flat : 1.0 - shape->flat;
  *until               = t + (change - ahead) / (fabs(shape->omega) * per_pi);
  return is_none ? YOKE_LOADS_NONE : YOKE_LOADS_VARY;
}

void yoke_chain_shape_values(const yoke_chain_shape *shape, bool acts, int n, const double *t, double *values) {
  if (!is_sine(shape))
    impulse_values(shape, n, t, values);
  else if (!acts && is_flat(shape, n, t))
    for (int k = 0; k < n; ++k) values[k] = 0.0;
  else
    yoke_chain_loop_pulse(shape->omega, shape->phase, (uint64_t)shape->power, t, values);
}

/* Of one sine, impulse or contact, in evaluations of an element: sines and impulses as measured, eight at a time. The tanh of an impulse is needed for a
 * moment only. */
double yoke_chain_loads_cost(const yoke_chain_loads *loads) {
  static const double sine = 2.0, impulse = 0.7, contact = 6.0;
  double              sum = 0.0;
  for (int k = 0; k < loads->n_forces; ++k) {
    const int shape = loads->forces[k].shape;
    if (shape < 0)
      sum += contact;
    else if (shape >= loads->n_shared)
      sum += is_sine(&loads->shapes[shape]) ? sine : impulse;
  }
  return sum;
}

bool yoke_chain_shape_is_constant(const yoke_chain_shape *shape) {
  return is_sine(shape) && shape->omega == 0.0;
}

yoke_loading yoke_chain_shape_loading(const yoke_chain_shape *shape, double t, double *until) {
  const double(*edge)[2] = shape->edge;
  *until                 = (double)INFINITY;
  if (is_sine(shape)) return sine_loading(shape, t, until);
  if (t >= edge[1][1]) return YOKE_LOADS_NONE;
  if (t < edge[0][0]) {
    *until = edge[0][0];
    return YOKE_LOADS_NONE;
  }
  const bool is_first = t < edge[0][1] && edge[0][1] < edge[1][0], is_between = t >= edge[0][1] && t < edge[1][0];
  *until = is_first ? edge[0][1] : is_between ? edge[1][0] : edge[1][1];
  return is_between ? YOKE_LOADS_STEADY : YOKE_LOADS_VARY;
}

int yoke_chain_loads_begin(const yoke_chain_loads *loads, double t, double *shared, int *active) {
  int n_active = 0;
  for (int g = 0; g < loads->n_shared; ++g) {
    const yoke_chain_shape *shape = &loads->shapes[g];
    shared[g]                     = 0.0;
    if (t < shape->begin || t > shape->end) continue;
    shared[g] = yoke_chain_shape_value(shape, t);
    if (shared[g] == 0.0) continue;
    ++n_active;
    *active = g;
  }
  return n_active;
}

int yoke_chain_loads_before(const yoke_chain_loads *loads, int from, int i) {
  while (from < loads->n_forces && loads->forces[from].mass < i) ++from;
  return from;
}

bool yoke_chain_load_force(const yoke_chain_loads *loads, int k, double t, const double *shared, int i0,
                           const double *x, double *force) {
  const yoke_chain_force *load = &loads->forces[k];
  if (load->shape < 0) {
    const double exponent = load->slope * x[load->mass - i0];
    if (!(exponent <= contact_exponent_max)) return false; /* also NaN */
    *force = load->amplitude * exp(exponent);
  } else if (load->shape < loads->n_shared) {
    *force = load->amplitude * shared[load->shape];
  } else {
    *force = load->amplitude * yoke_chain_shape_value(&loads->shapes[load->shape], t);
  }
  return true;
}

void yoke_chain_sine_forces(const yoke_chain_sines *sines, int first, int n, double t, double scale, double *force) {
  const int whole = (n + YOKE_CHAIN_LANES - 1) / YOKE_CHAIN_LANES * YOKE_CHAIN_LANES;
  double    argument[YOKE_CHAIN_BATCH];
  argument[0] = 0.0; /* compilers do not see that n > 0 */
  yoke_chain_loop_argument(whole, sines->omega + first, sines->phase + first, t, argument);
  yoke_chain_loop_sine(whole, argument, force);
  if (sines->all > 1) {
    yoke_chain_loop_raise_all(whole, sines->all, force);
  } else if (sines->all == 0) {
    uint64_t left[YOKE_CHAIN_BATCH];
    memcpy(left, sines->power + first, (size_t)whole * sizeof *left);
    yoke_chain_loop_raise(whole, left, force);
  }
  yoke_chain_loop_scale(whole, sines->amplitude + first, scale, force);
}

double yoke_chain_contact_slope(const yoke_chain_kernel *kernel, int i, double x, int *k) {
  const yoke_chain_loads *loads = &kernel->loads;
  double                  slope = 0.0;
  for (; *k < loads->n_forces && loads->forces[*k].mass == i; ++*k) {
    const yoke_chain_force *load = &loads->forces[*k];
    if (load->shape >= 0) continue;
    slope += load->amplitude * load->slope * exp(fmin(load->slope * x, contact_exponent_max));
  }
  return slope;
}

/* ---- creation ---- */

static yoke_status check_load(yoke_context *ctx, const yoke_chain *chain, int k) {
  const yoke_chain_load *l = &chain->loads[k];
  if (l->mass < 0 || l->mass >= chain->n) {
    return yoke_fail(ctx, YOKE_E_MODEL, "chain: load %d acts on mass %d, expected 1 to %d", k + 1, l->mass + 1,
                     chain->n);
  }
  if (!isfinite(l->amplitude)) {
    return yoke_fail(ctx, YOKE_E_MODEL, "chain: load %d has amplitude %g, expected a finite number", k + 1,
                     l->amplitude);
  }
  switch (l->kind) {
  case YOKE_CHAIN_CONTACT:
    if (isfinite(l->slope)) return YOKE_OK;
    return yoke_fail(ctx, YOKE_E_MODEL, "chain: contact %d has slope %g, expected a finite number", k + 1, l->slope);
  case YOKE_CHAIN_IMPULSE:
    if (!isfinite(l->time) || !isfinite(l->width) || !isfinite(l->rise) || l->rise <= 0.0) {
      return yoke_fail(ctx, YOKE_E_MODEL,
                       "chain: impulse %d has time %g, width %g, rise %g; expected finite numbers, rise > 0", k + 1,
                       l->time, l->width, l->rise);
    }
    return YOKE_OK;
  case YOKE_CHAIN_MODIFIED_SINE:
    if (!(l->power >= 1.0 && l->power <= 1e6 && fmod(l->power, 2.0) == 1.0)) {
      return yoke_fail(ctx, YOKE_E_MODEL, "chain: modified sine %d has power %g, expected an odd integer of 1 to 1e6",
                       k + 1, l->power);
    }
    break;
  case YOKE_CHAIN_HARMONIC: break;
  default: return yoke_fail(ctx, YOKE_E_MODEL, "chain: load %d has an unknown kind %d", k + 1, (int)l->kind);
  }
  if (isfinite(l->omega) && isfinite(l->phase)) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_MODEL, "chain: load %d has omega %g and phase %g, expected finite numbers", k + 1,
                   l->omega, l->phase);
}

/* Only what the kind uses, so that equal shapes compare equal. Adding 0 turns -0 into +0. */
static yoke_chain_shape shape_of(const yoke_chain_load *l) {
  if (l->kind == YOKE_CHAIN_IMPULSE) {
    /* Farther from both of its edges both tanh are the same +-1, and their difference is 0. */
    const double edge = (tanh_saturates + 1.0) * l->rise, slope = tanh_is_flat * l->rise;
    const double first = fmin(l->time, l->time + l->width), last = fmax(l->time, l->time + l->width);
    return (yoke_chain_shape){.kind  = l->kind,
                              .time  = l->time + 0.0,
                              .width = l->width + 0.0,
                              .rise  = l->rise,
                              .begin = first - edge,
                              .end   = last + edge,
                              .edge  = {{first - slope, first + slope}, {last - slope, last + slope}}};
  }
  const double power = l->kind == YOKE_CHAIN_MODIFIED_SINE ? l->power : 1.0;
  return (yoke_chain_shape){.kind  = l->kind,
                            .omega = l->omega + 0.0,
                            .phase = l->phase + 0.0,
                            .power = power,
                            .flat  = asin(pow(sine_is_flat, 1.0 / power)) * 0.31830988618379067,
                            .begin = -(double)INFINITY,
                            .end   = (double)INFINITY};
}

static bool shapes_are_equal(const yoke_chain_shape *a, const yoke_chain_shape *b) {
  return a->kind == b->kind && a->omega == b->omega && a->phase == b->phase && a->power == b->power &&
         a->time == b->time && a->width == b->width && a->rise == b->rise;
}

static size_t shape_hash(const yoke_chain_shape *shape) {
  const double  key[] = {(double)shape->kind, shape->omega, shape->phase, shape->power,
                         shape->time,         shape->width, shape->rise};
  unsigned char byte[sizeof key];
  uint64_t      hash = UINT64_C(14695981039346656037);
  memcpy(byte, key, sizeof key);
  for (size_t i = 0; i < sizeof byte; ++i) hash = (hash ^ byte[i]) * UINT64_C(1099511628211);
  return (size_t)(hash ^ (hash >> 29));
}

/* Number of the shape in loads->shapes, added when new. table [size] holds numbers + 1, size is a power of two
 * > n_shapes. */
static int shape_number(yoke_chain_loads *loads, const yoke_chain_shape *shape, int *table, size_t size) {
  size_t slot = shape_hash(shape) & (size - 1);
  while (table[slot] != 0) {
    if (shapes_are_equal(&loads->shapes[table[slot] - 1], shape)) return table[slot] - 1;
    slot = (slot + 1) & (size - 1);
  }
  loads->shapes[loads->n_shapes] = *shape;
  table[slot]                    = ++loads->n_shapes;
  return loads->n_shapes - 1;
}

/* Bring shapes that occur more than once to the front. count and place [n_shapes]. */
static void order_shapes(yoke_chain_loads *loads, yoke_chain_shape *copy, const int *count, int *place) {
  int n_first = 0;
  for (int g = 0; g < loads->n_shapes; ++g) place[g] = count[g] > 1 && n_first < YOKE_CHAIN_SHARED ? n_first++ : -1;
  loads->n_shared = n_first;
  for (int g = 0; g < loads->n_shapes; ++g) {
    if (place[g] < 0) place[g] = n_first++;
  }
  memcpy(copy, loads->shapes, (size_t)loads->n_shapes * sizeof *copy);
  for (int g = 0; g < loads->n_shapes; ++g) loads->shapes[place[g]] = copy[g];
  for (int k = 0; k < loads->n_forces; ++k) {
    if (loads->forces[k].shape >= 0) loads->forces[k].shape = place[loads->forces[k].shape];
  }
}

static yoke_status group_shapes(yoke_context *ctx, const yoke_chain *chain, yoke_chain_loads *loads) {
  const size_t n    = (size_t)loads->n_forces;
  size_t       size = 16;
  while (size < 2 * n) size *= 2;
  yoke_arena        scratch = {0};
  int              *table   = yoke_arena_take(&scratch, size, sizeof *table);
  int              *count   = yoke_arena_take(&scratch, 2 * n, sizeof *count);
  yoke_chain_shape *copy    = yoke_arena_take(&scratch, n, sizeof *copy);
  const yoke_status status  = yoke_arena_check(&scratch, ctx, "%d loads of a chain", loads->n_forces);
  if (status == YOKE_OK) {
    loads->n_forces = 0;
    for (int k = 0; k < chain->n_loads; ++k) {
      const yoke_chain_load *l     = &chain->loads[k];
      yoke_chain_force      *force = &loads->forces[loads->n_forces];
      if (l->amplitude == 0.0) continue; /* no force: no overflow either */
      ++loads->n_forces;
      *force = (yoke_chain_force){.mass = l->mass, .shape = -1, .amplitude = l->amplitude, .slope = l->slope};
      if (l->kind == YOKE_CHAIN_CONTACT) {
        loads->has_contact = true;
        continue;
      }
      const yoke_chain_shape shape = shape_of(l);
      force->shape                 = shape_number(loads, &shape, table, size);
      ++count[force->shape];
    }
    order_shapes(loads, copy, count, count + n);
  }
  yoke_arena_free(&scratch);
  return status;
}

/* By mass; shape and amplitude break ties, so that the order does not depend on the sort. */
static int compare_forces(const void *a, const void *b) {
  const yoke_chain_force *p = a, *q = b;
  if (p->mass != q->mass) return p->mass < q->mass ? -1 : 1;
  if (p->shape != q->shape) return p->shape < q->shape ? -1 : 1;
  if (p->amplitude != q->amplitude) return p->amplitude < q->amplitude ? -1 : 1;
  return p->slope < q->slope ? -1 : p->slope > q->slope ? 1 : 0;
}

/* Sines that are not shared, and all others, in the order of their forces. */
static yoke_status list_by_kind(yoke_context *ctx, yoke_arena *arena, yoke_chain_loads *loads) {
  yoke_chain_sines *sines    = &loads->sines;
  const size_t      n_forces = (size_t)loads->n_forces;
  loads->sines_before        = yoke_arena_take(arena, n_forces + 1, sizeof *loads->sines_before);
  YOKE_TRY(yoke_arena_check(arena, ctx, "%d loads of a chain", loads->n_forces));
  for (int k = 0; k < loads->n_forces; ++k) {
    const int number = loads->forces[k].shape;
    loads->sines_before[k + 1] =
        loads->sines_before[k] + (number >= loads->n_shared && is_sine(&loads->shapes[number]) ? 1 : 0);
  }
  sines->n              = loads->sines_before[loads->n_forces];
  const size_t n_sines  = sines->n > 0 ? (size_t)sines->n + YOKE_CHAIN_LANES : 0;
  const size_t n_others = n_forces - (size_t)sines->n + YOKE_CHAIN_LANES;
  loads->others         = yoke_arena_take(arena, n_others, sizeof *loads->others);
  loads->begin          = yoke_arena_take(arena, n_others, sizeof *loads->begin);
  loads->end            = yoke_arena_take(arena, n_others, sizeof *loads->end);
  sines->mass           = yoke_arena_take(arena, n_sines, sizeof *sines->mass);
  sines->omega          = yoke_arena_take(arena, n_sines, sizeof *sines->omega);
  sines->phase          = yoke_arena_take(arena, n_sines, sizeof *sines->phase);
  sines->amplitude      = yoke_arena_take(arena, n_sines, sizeof *sines->amplitude);
  sines->power          = yoke_arena_take(arena, n_sines, sizeof *sines->power);
  YOKE_TRY(yoke_arena_check(arena, ctx, "%d loads of a chain", loads->n_forces));
  for (size_t j = 0; j < n_others; ++j) loads->begin[j] = (double)INFINITY;
  for (int k = 0; k < loads->n_forces; ++k) {
    const int n = loads->sines_before[k], number = loads->forces[k].shape;
    if (loads->sines_before[k + 1] == n) {
      const bool has_times = number >= 0; /* contacts have none */
      loads->others[k - n] = k;
      loads->begin[k - n]  = has_times ? loads->shapes[number].begin : -(double)INFINITY;
      loads->end[k - n]    = has_times ? loads->shapes[number].end : (double)INFINITY;
      continue;
    }
    const yoke_chain_shape *shape = &loads->shapes[number];
    sines->mass[n]                = loads->forces[k].mass;
    sines->omega[n]               = shape->omega;
    sines->phase[n]               = shape->phase;
    sines->amplitude[n]           = loads->forces[k].amplitude;
    sines->power[n]               = (uint64_t)shape->power;
    sines->all = sines->power[n] == sines->power[0] && (n == 0 || sines->all > 0) ? sines->power[n] : 0;
  }
  return YOKE_OK;
}

static yoke_status list_by_shape(yoke_context *ctx, yoke_arena *arena, yoke_chain_loads *loads) {
  if (loads->has_contact || loads->n_shapes != loads->n_shared) return YOKE_OK;
  loads->by_shape = yoke_arena_take(arena, (size_t)loads->n_forces, sizeof *loads->by_shape);
  loads->start    = yoke_arena_take(arena, (size_t)loads->n_shapes + 2, sizeof *loads->start);
  YOKE_TRY(yoke_arena_check(arena, ctx, "%d loads of a chain", loads->n_forces));
  for (int k = 0; k < loads->n_forces; ++k) ++loads->start[loads->forces[k].shape + 2];
  for (int g = 0; g < loads->n_shapes; ++g) loads->start[g + 2] += loads->start[g + 1];
  for (int k = 0; k < loads->n_forces; ++k) loads->by_shape[loads->start[loads->forces[k].shape + 1]++] = k;
  return YOKE_OK;
}

yoke_status yoke_chain_loads_create(yoke_context *ctx, const yoke_chain *chain, yoke_arena *arena,
                                    yoke_chain_loads *out) {
  memset(out, 0, sizeof *out);
  if (chain->n_loads <= 0) return YOKE_OK;
  bool sorted = true;
  for (int k = 0; k < chain->n_loads; ++k) {
    YOKE_TRY(check_load(ctx, chain, k));
    if (k > 0 && chain->loads[k].mass < chain->loads[k - 1].mass) sorted = false;
  }
  out->n_forces = chain->n_loads;
  out->forces   = yoke_arena_take(arena, (size_t)chain->n_loads, sizeof *out->forces);
  out->shapes   = yoke_arena_take(arena, (size_t)chain->n_loads, sizeof *out->shapes);
  YOKE_TRY(yoke_arena_check(arena, ctx, "%d loads of a chain", chain->n_loads));
  YOKE_TRY(group_shapes(ctx, chain, out));
  if (!sorted) qsort(out->forces, (size_t)out->n_forces, sizeof *out->forces, compare_forces);
  YOKE_TRY(list_by_kind(ctx, arena, out));
  return list_by_shape(ctx, arena, out);
}
