/* Chain kernel.
 *
 * Invariants:
 *   1. Masses are handled in blocks of YOKE_CHAIN_BLOCK, in index order; within a block every pass runs over arrays
 *      that stay in the first-level cache, so a stage is one pass through memory.
 *   2. An element's force is computed once. Its value at a block's right edge is carried into the next block.
 *   3. What a mass gets depends on its neighbours only, never on where blocks begin: any block size gives the same
 *      bits. Only the error sum depends on the block size, which therefore is a constant.
 *   4. Elements 0 and n, which end at the ground, are computed apart with their own parameters, so that a chain with a
 *      free end is still uniform inside. */
#include "model/chain_loops.h"

#include "base/memory.h"
#include "base/simd.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = YOKE_CHAIN_BLOCK, LINE = YOKE_CHAIN_LINE, ROOM = YOKE_CHAIN_ROOM };

/* ---- element forces ---- */

/* |y|^(e - 1), so that sgn(y) |y|^e = y |y|^(e-1). DBL_MIN: finite at y = 0 also for e < 1. */
static double power_factor(double y, double exponent) {
  if (exponent == 3.0) return y * y;
  return pow(fmax(fabs(y), DBL_MIN), exponent - 1.0);
}

/* g[k] := |x[k+1] - x[k]|^(e-1); `active`: some coefficient is not 0. */
static void power_factors(int n, bool active, double exponent, const double *x, double *g) {
  const double p = exponent - 1.0;
  if (!active) {
    memset(g, 0, (size_t)n * sizeof *g);
  } else if (p >= 0.0 && p <= 1024.0 && floor(p) == p) {
    yoke_chain_loop_integer_power(n, (unsigned)p, x, g);
  } else if (p >= 0.5 && p < 8.0 && floor(p) + 0.5 == p) { /* Hertz and its kin */
    yoke_chain_loop_half_power(n, (unsigned)p, x, g);
  } else {
    for (int k = 0; k < n; ++k) g[k] = pow(fmax(fabs(x[k + 1] - x[k]), DBL_MIN), p);
  }
}

static double end_force(const yoke_chain_kernel *kernel, int end, double dx, double dv) {
  const yoke_chain_element *p = &kernel->elements->ends[end];
  double                    c = p->c, d = p->d;
  if (p->C != 0.0) c += p->C * power_factor(dx, kernel->elements->exponent_x);
  if (p->D != 0.0) d += p->D * power_factor(dv, kernel->elements->exponent_v);
  return dx * c + dv * d;
}

static bool has_power_x(const yoke_chain_kernel *kernel) {
  return kernel->C != NULL || kernel->elements->inner.C != 0.0;
}
static bool has_power_v(const yoke_chain_kernel *kernel) {
  return kernel->D != NULL || kernel->elements->inner.D != 0.0;
}

/* Parameter arrays of the elements from e0 on; a block of equal numbers where the chain has no array. */
static void element_arrays(const yoke_chain_kernel *kernel, int e0, const double *p[4]) {
  const double *const array[4] = {kernel->c, kernel->d, kernel->C, kernel->D};
  for (int k = 0; k < 4; ++k) p[k] = array[k] != NULL ? array[k] + e0 : kernel->constant[k];
}

/* F[k] := force of inner element e0 + k, whose left mass is x[k], v[k]. */
static void element_forces(const yoke_chain_kernel *kernel, int e0, int n, const double *x, const double *v,
                           double *F) {
  const double *p[4];
  if (kernel->law == YOKE_CHAIN_POWER) {
    _Alignas(64) double gx[ROOM], gv[ROOM];
    power_factors(n, has_power_x(kernel), kernel->elements->exponent_x, x, gx);
    power_factors(n, has_power_v(kernel), kernel->elements->exponent_v, v, gv);
    if (kernel->uniform_elements) {
      yoke_chain_loop_power_uniform(n, &kernel->elements->inner, gx, gv, x, v, F);
    } else {
      element_arrays(kernel, e0, p);
      yoke_chain_loop_power_each(n, p, gx, gv, x, v, F);
    }
  } else if (kernel->uniform_elements) {
    if (kernel->law == YOKE_CHAIN_CUBIC) {
      yoke_chain_loop_cubic_uniform(n, &kernel->elements->inner, x, v, F);
    } else {
      yoke_chain_loop_linear_uniform(n, &kernel->elements->inner, x, v, F);
    }
  } else {
    element_arrays(kernel, e0, p);
    if (kernel->law == YOKE_CHAIN_CUBIC) {
      yoke_chain_loop_cubic_each(n, p, x, v, F);
    } else {
      yoke_chain_loop_linear_each(n, p, x, v, F);
    }
  }
}

/* Force of inner element e, the same to the bit; its masses are x[0] and x[1]. */
static double inner_force(const yoke_chain_kernel *kernel, int e, const double *x, const double *v) {
  double F;
  if (kernel->law == YOKE_CHAIN_POWER) {
    element_forces(kernel, e, 1, x, v, &F);
    return F;
  }
  const yoke_chain_element p  = yoke_chain_element_at(kernel, e);
  const double             dx = x[1] - x[0], dv = v[1] - v[0];
  if (kernel->law == YOKE_CHAIN_LINEAR) return dx * p.c + dv * p.d;
  return dx * (p.c + p.C * (dx * dx)) + dv * (p.d + p.D * (dv * dv));
}

/* ---- one block ---- */

typedef yoke_chain_evaluation evaluation;

/* A train of impulses is 0 but for one of them: only its forces are looked at. */
static void select_loads(evaluation *ev, int n_active, int active) {
  const yoke_chain_loads *loads = &ev->kernel->loads;
  if (loads->by_shape == NULL || n_active > 1) return;
  ev->only   = loads->by_shape + loads->start[active];
  ev->n_only = n_active == 0 ? 0 : loads->start[active + 1] - loads->start[active];
}

void yoke_chain_begin(evaluation *ev, const yoke_chain_kernel *kernel, double t, double gx, const double *u,
                      bool as_force) {
  ev->kernel   = kernel;
  ev->t        = t;
  ev->gx       = gx;
  ev->u        = u;
  ev->as_force = as_force;
  ev->i_load   = 0;
  ev->i_input  = 0;
  ev->F_left   = 0.0;
  ev->only     = NULL;
  ev->n_only   = 0;
  if (kernel->loads.n_forces == 0) return;
  int       active   = 0;
  const int n_active = yoke_chain_loads_begin(&kernel->loads, t, ev->shared, &active);
  select_loads(ev, n_active, active);
}

static yoke_status add_to(const evaluation *ev, int mass, double force, double *out) {
  const yoke_chain_kernel *kernel = ev->kernel;
  if (!ev->as_force) force *= kernel->uniform_mass ? kernel->inverse : kernel->inverse_mass[mass];
  *out += force;
  return isfinite(*out) ? YOKE_OK : YOKE_NON_FINITE;
}

/* Loads of the one active shape on masses [i0, i1). */
static yoke_status add_selected_loads(evaluation *ev, int i0, int i1, double *out) {
  const yoke_chain_force *forces = ev->kernel->loads.forces;
  for (; ev->i_load < ev->n_only && forces[ev->only[ev->i_load]].mass < i1; ++ev->i_load) {
    const yoke_chain_force *load  = &forces[ev->only[ev->i_load]];
    const double            force = load->amplitude * ev->shared[load->shape];
    if (force != 0.0) YOKE_TRY(add_to(ev, load->mass, force, &out[load->mass - i0]));
  }
  return YOKE_OK;
}

/* Sines first .. end - 1, whose masses begin at i0 in out. */
static bool add_sines(const evaluation *ev, int first, int end, int i0, double *out) {
  const yoke_chain_sines *sines     = &ev->kernel->loads.sines;
  const bool              is_scaled = ev->as_force || ev->kernel->uniform_mass;
  const double            scale     = is_scaled && !ev->as_force ? ev->kernel->inverse : 1.0;
  bool                    is_finite = true;
  double                  force[YOKE_CHAIN_BATCH];
  for (int j0 = first; j0 < end; j0 += YOKE_CHAIN_BATCH) {
    const int  n    = end - j0 < YOKE_CHAIN_BATCH ? end - j0 : YOKE_CHAIN_BATCH;
    const int *mass = sines->mass + j0;
    yoke_chain_sine_forces(sines, j0, n, ev->t, scale, force);
    for (int j = 0; j < n && !is_scaled; ++j) force[j] *= ev->kernel->inverse_mass[mass[j]];
    for (int j = 0; j < n; ++j) {
      double *sum = &out[mass[j] - i0];
      *sum += force[j];
      is_finite &= fabs(*sum) <= DBL_MAX;
    }
  }
  return is_finite;
}

/* Other loads first .. end - 1. Most impulses are 0 most of the time: whole vectors of them are passed over. */
static yoke_status add_others(const evaluation *ev, int first, int end, int i0, const double *x, double *out) {
  const yoke_chain_loads *loads = &ev->kernel->loads;
  const double            t     = ev->t;
  for (int j0 = first; j0 < end; j0 += YOKE_CHAIN_LANES) {
    const double *from = loads->begin + j0, *to = loads->end + j0;
    bool          is_any = false;
    for (int j = 0; j < YOKE_CHAIN_LANES; ++j) is_any |= t >= from[j] && t <= to[j];
    for (int j = 0; is_any && j < YOKE_CHAIN_LANES && j0 + j < end; ++j) {
      const int k = loads->others[j0 + j], mass = loads->forces[k].mass;
      double    force;
      if (t < from[j] || t > to[j]) continue;
      if (!yoke_chain_load_force(loads, k, t, ev->shared, i0, x, &force)) return YOKE_NON_FINITE;
      if (force != 0.0) YOKE_TRY(add_to(ev, mass, force, &out[mass - i0]));
    }
  }
  return YOKE_OK;
}

/* Loads on masses [i0, i1), positions x[0 .. i1 - i0). What a mass gets comes in one order: sines, then others. */
static yoke_status add_forces(evaluation *ev, int i0, int i1, const double *x, double *out) {
  const yoke_chain_loads *loads = &ev->kernel->loads;
  if (ev->only != NULL) return add_selected_loads(ev, i0, i1, out);
  const int first = ev->i_load, end = i1 == ev->kernel->n ? loads->n_forces : yoke_chain_loads_before(loads, first, i1),
            sines = loads->sines_before[first], sines_end = loads->sines_before[end];
  ev->i_load = end;
  if (!add_sines(ev, sines, sines_end, i0, out)) return YOKE_NON_FINITE;
  return add_others(ev, first - sines, end - sines_end, i0, x, out);
}

/* The same and inputs. */
static yoke_status add_loads(evaluation *ev, int i0, int i1, const double *x, double *out) {
  const yoke_chain_kernel *kernel = ev->kernel;
  if (kernel->loads.n_forces > 0) YOKE_TRY(add_forces(ev, i0, i1, x, out));
  if (ev->u == NULL) return YOKE_OK;
  int i = ev->i_input;
  for (; i < kernel->n_inputs && kernel->inputs[i].mass < i1; ++i) {
    const yoke_chain_input *input = &kernel->inputs[i];
    YOKE_TRY(add_to(ev, input->mass, input->factor * ev->u[input->input], &out[input->mass - i0]));
  }
  ev->i_input = i;
  return YOKE_OK;
}

yoke_status yoke_chain_evaluate_block(evaluation *ev, int i0, int i1, const double *x, const double *v, double *out) {
  const yoke_chain_kernel *kernel = ev->kernel;
  const int                n      = i1 - i0;
  const bool               last   = i1 == kernel->n;
  _Alignas(64) double      buffer[LINE + ROOM];
  double                  *F = buffer + LINE - 1; /* F[k]: element i0 + k; F[1] begins a line */
  F[0]                       = i0 == 0 ? end_force(kernel, 0, x[0], v[0]) : ev->F_left;
  element_forces(kernel, i0 + 1, last ? n - 1 : n, x, v, F + 1);
  if (last) F[n] = end_force(kernel, 1, 0.0 - x[n - 1], 0.0 - v[n - 1]);
  ev->F_left = F[n];

  uint64_t bad;
  if (ev->as_force) {
    bad = yoke_chain_loop_force(n, F, kernel->mass + i0, ev->gx, out);
  } else if (kernel->uniform_mass) {
    bad = yoke_chain_loop_accelerate_uniform(n, F, kernel->inverse, ev->gx, out);
  } else {
    bad = yoke_chain_loop_accelerate(n, F, kernel->inverse_mass + i0, ev->gx, out);
  }
  return bad ? YOKE_NON_FINITE : add_loads(ev, i0, i1, x, out);
}

yoke_status yoke_chain_evaluate(const yoke_chain_kernel *kernel, double t, double gx, const double *x, const double *v,
                                const double *u, bool as_force, double *a) {
  evaluation ev;
  yoke_chain_begin(&ev, kernel, t, gx, u, as_force);
  for (int i0 = 0, i1; i0 < kernel->n; i0 = i1) {
    i1 = yoke_chain_block_end(kernel, i0);
    YOKE_TRY(yoke_chain_evaluate_block(&ev, i0, i1, x + i0, v + i0, a + i0));
  }
  return YOKE_OK;
}

/* Loads of masses before mass i are done with. */
static void skip_loads(evaluation *ev, int i) {
  const yoke_chain_loads *loads = &ev->kernel->loads;
  int                     end   = ev->only != NULL ? ev->n_only : loads->n_forces;
  while (ev->i_load < end) { /* the first that does not act before i lies in i_load .. end */
    const int middle = ev->i_load + (end - ev->i_load) / 2;
    if (loads->forces[ev->only != NULL ? ev->only[middle] : middle].mass < i)
      ev->i_load = middle + 1;
    else
      end = middle;
  }
}

void yoke_chain_go_to(evaluation *ev, int i, const double *x, const double *v) {
  const yoke_chain_kernel *kernel = ev->kernel;
  skip_loads(ev, i);
  while (ev->i_input < kernel->n_inputs && kernel->inputs[ev->i_input].mass < i) ++ev->i_input;
  ev->F_left = inner_force(kernel, i, x, v);
}

yoke_status yoke_chain_reinput(const yoke_chain_kernel *kernel, double t, double gx, const double *x, const double *v,
                               const double *u, double *a) {
  evaluation ev;
  yoke_chain_begin(&ev, kernel, t, gx, u, false);
  while (ev.i_input < kernel->n_inputs) {
    const int i = kernel->inputs[ev.i_input].mass;
    skip_loads(&ev, i);
    const double F_left  = i == 0 ? end_force(kernel, 0, x[0], v[0]) : inner_force(kernel, i, x + i - 1, v + i - 1),
                 F_right = i == kernel->n - 1 ? end_force(kernel, 1, 0.0 - x[i], 0.0 - v[i])
                                              : inner_force(kernel, i + 1, x + i, v + i);
    a[i]                 = (F_right - F_left) * (kernel->uniform_mass ? kernel->inverse : kernel->inverse_mass[i]) + gx;
    if (!isfinite(a[i])) return YOKE_NON_FINITE;
    YOKE_TRY(add_loads(&ev, i, i + 1, x + i, a + i));
  }
  return YOKE_OK;
}

yoke_status yoke_chain_kernel_force(const yoke_chain_kernel *kernel, double t, double gx, const double *x,
                                    const double *v, double *f) {
  return yoke_chain_evaluate(kernel, t, gx, x, v, NULL, true, f);
}

/* ---- derivatives ---- */

/* d(y g(y))/dy = e |y|^(e-1). With e < 1 there is no finite slope at y = 0: 0 is given, as for other force laws. */
static double power_slope(double y, double coefficient, double exponent) {
  if (coefficient == 0.0 || (y == 0.0 && exponent < 1.0)) return 0.0;
  return coefficient * exponent * power_factor(y, exponent);
}

yoke_chain_element yoke_chain_element_at(const yoke_chain_kernel *kernel, int e) {
  if (e == 0) return kernel->elements->ends[0];
  if (e == kernel->n) return kernel->elements->ends[1];
  yoke_chain_element p = kernel->elements->inner;
  if (kernel->uniform_elements) return p;
  if (kernel->c != NULL) p.c = kernel->c[e];
  if (kernel->d != NULL) p.d = kernel->d[e];
  if (kernel->C != NULL) p.C = kernel->C[e];
  if (kernel->D != NULL) p.D = kernel->D[e];
  return p;
}

/* Deflection of element e, ground at 0. */
static double deflection(const yoke_chain_kernel *kernel, int e, const double *x) {
  return (e < kernel->n ? x[e] : 0.0) - (e > 0 ? x[e - 1] : 0.0);
}

void yoke_chain_slopes(const yoke_chain_kernel *kernel, int e0, int count, const double *x, const double *v, double *kx,
                       double *kv) {
  for (int k = 0; k < count; ++k) {
    const yoke_chain_element p = yoke_chain_element_at(kernel, e0 + k);
    kx[k]                      = p.c + power_slope(deflection(kernel, e0 + k, x), p.C, kernel->elements->exponent_x);
    kv[k]                      = p.d + power_slope(deflection(kernel, e0 + k, v), p.D, kernel->elements->exponent_v);
  }
}

/* f_i = -F_i + F_{i+1}, so with the slopes k_i of element i row i is (k_i, -(k_i + k_{i+1}), k_{i+1}). */
void yoke_chain_kernel_jacobian(const yoke_chain_kernel *kernel, double t, const double *x, const double *v,
                                double *lower_x, double *diagonal_x, double *upper_x, double *lower_v,
                                double *diagonal_v, double *upper_v) {
  (void)t; /* no load depends on time and state together */
  double kx[2], kv[2];
  int    i_load = 0;
  yoke_chain_slopes(kernel, 0, 1, x, v, &kx[1], &kv[1]);
  for (int i = 0; i < kernel->n; ++i) {
    kx[0] = kx[1];
    kv[0] = kv[1];
    yoke_chain_slopes(kernel, i + 1, 1, x, v, &kx[1], &kv[1]);
    while (i_load < kernel->loads.n_forces && kernel->loads.forces[i_load].mass < i) ++i_load;
    lower_x[i]    = i > 0 ? kx[0] : 0.0;
    lower_v[i]    = i > 0 ? kv[0] : 0.0;
    upper_x[i]    = i + 1 < kernel->n ? kx[1] : 0.0;
    upper_v[i]    = i + 1 < kernel->n ? kv[1] : 0.0;
    diagonal_x[i] = yoke_chain_contact_slope(kernel, i, x[i], &i_load) - (kx[0] + kx[1]);
    diagonal_v[i] = -(kv[0] + kv[1]);
  }
}

/* ---- energy ---- */

/* y^2 (coefficient/2 + power coefficient g(y)/(e + 1)) */
static double spring_energy(double y, double c, double C, double exponent) {
  return y * y * (0.5 * c + (C == 0.0 ? 0.0 : C * power_factor(y, exponent) / (exponent + 1.0)));
}

static double damper_power(double y, double d, double D, double exponent) {
  return y * y * (d + (D == 0.0 ? 0.0 : D * power_factor(y, exponent)));
}

/* Contact A exp(B x) has the potential -(A/B) exp(B x), 0 far from the wall; with B = 0 it is a constant force. */
static double contact_energy(const yoke_chain_force *contact, double x) {
  if (contact->slope == 0.0) return -contact->amplitude * x;
  return -contact->amplitude / contact->slope * exp(contact->slope * x);
}

/* Elements on the right of own masses, and at a beginning without copies the element that ends at the ground. */
static bool owns_element(const yoke_chain_kernel *kernel, int i) {
  return (i > kernel->own || kernel->own == 0) && i <= kernel->own_end;
}
static bool owns_mass(const yoke_chain_kernel *kernel, int i) {
  return i >= kernel->own && i < kernel->own_end;
}

void yoke_chain_kernel_powers(const yoke_chain_kernel *kernel, double t, const double *x, const double *v,
                              double *power_dissipated, double *power_external) {
  double P_damper = 0.0, P_load = 0.0, shared[YOKE_CHAIN_SHARED];
  for (int i0 = 0, i1; i0 <= kernel->n; i0 = i1) {
    i1             = kernel->n + 1 - i0 > BLOCK ? i0 + BLOCK : kernel->n + 1;
    double P_block = 0.0;
    for (int i = i0; i < i1; ++i) {
      const yoke_chain_element p = yoke_chain_element_at(kernel, i);
      if (owns_element(kernel, i))
        P_block += damper_power(deflection(kernel, i, v), p.d, p.D, kernel->elements->exponent_v);
    }
    P_damper += P_block;
  }
  int active;
  (void)yoke_chain_loads_begin(&kernel->loads, t, shared, &active);
  for (int k = 0; k < kernel->loads.n_forces; ++k) {
    const yoke_chain_force *load = &kernel->loads.forces[k];
    double                  force;
    if (owns_mass(kernel, load->mass) && load->shape >= 0 &&
        yoke_chain_load_force(&kernel->loads, k, t, shared, 0, x, &force))
      P_load += force * v[load->mass];
  }
  *power_dissipated = P_damper;
  *power_external   = P_load;
}

/* Those between two masses, e between masses e - 1 and e. */
typedef struct owned_elements {
  int first, end;
} owned_elements;

static owned_elements elements_between(const yoke_chain_kernel *kernel) {
  return (owned_elements){.first = kernel->own > 0 ? kernel->own + 1 : 1,
                          .end   = kernel->own_end < kernel->n ? kernel->own_end + 1 : kernel->n};
}

/* Power lost in dampers, and its rate; a = NULL: without. */
typedef struct chain_loss {
  double power, rate;
} chain_loss;

static chain_loss with_element(chain_loss sum, const yoke_chain_element *p, double exponent, double dv, double da) {
  const double g = p->D != 0.0 ? p->D * power_factor(dv, exponent) : 0.0;
  sum.power += dv * dv * (p->d + g);
  sum.rate += dv * da * (2.0 * p->d + (exponent + 1.0) * g);
  return sum;
}

/* Of n dampers from e on; g as the loop takes it. */
static void add_block(const yoke_chain_kernel *kernel, int e, int n, const double *g, const double *v, const double *a,
                      chain_loss *sum) {
  const yoke_chain_elements *p    = kernel->elements;
  const double              *q[4] = {NULL, NULL, NULL, NULL};
  double                     block[2];
  if (!kernel->uniform_elements) element_arrays(kernel, e, q);
  yoke_chain_loop_losses(n, q[1], q[3], p->inner.d, p->inner.D, g, p->exponent_v + 1.0, v + e - 1,
                         a != NULL ? a + e - 1 : NULL, block);
  sum->power += block[0];
  sum->rate += block[1];
}

static void power_losses(const yoke_chain_kernel *kernel, const double *v, const double *a, double *lost,
                         double *rate) {
  const yoke_chain_elements *p   = kernel->elements;
  chain_loss                 sum = {0.0, 0.0};
  _Alignas(64) double        g[ROOM];
  for (int e = kernel->dampers.first, end = kernel->dampers.end; e < end; e += BLOCK) {
    const int n = end - e > BLOCK ? BLOCK : end - e;
    power_factors(n, true, p->exponent_v, v + e - 1, g);
    add_block(kernel, e, n, g, v, a, &sum);
  }
  for (int end = 0; end < 2; ++end) { /* signs are of no account */
    const int i = end == 0 ? 0 : kernel->n - 1;
    if (kernel->dampers.at_end[end])
      sum = with_element(sum, &p->ends[end], p->exponent_v, v[i], a != NULL ? a[i] : 0.0);
  }
  *lost = sum.power;
  *rate = sum.rate;
}

/* D = 0 or g = dv^2. */
static void plain_losses(const yoke_chain_kernel *kernel, const double *v, const double *a, double *lost,
                         double *rate) {
  chain_loss sum = {0.0, 0.0};
  for (int e = kernel->dampers.first, end = kernel->dampers.end; e < end; e += BLOCK)
    add_block(kernel, e, end - e > BLOCK ? BLOCK : end - e, NULL, v, a, &sum);
  for (int end = 0; end < 2; ++end) {
    if (!kernel->dampers.at_end[end]) continue;
    const yoke_chain_element *p = &kernel->elements->ends[end];
    const int                 i = end == 0 ? 0 : kernel->n - 1;
    const double              s = v[i] * v[i], r = a != NULL ? v[i] * a[i] : 0.0, power = p->D * s;
    sum.power += s * (p->d + power);
    sum.rate += r * (2.0 * p->d + 4.0 * power);
  }
  *lost = sum.power;
  *rate = sum.rate;
}

/* The same of so few equal ones, D = 0 or g = dv^2, that it does not pay to prepare more. */
enum { FEW = 16 };

static void few_losses(const yoke_chain_kernel *kernel, const double *v, const double *a, double *lost, double *rate) {
  const double d = kernel->elements->inner.d, D = kernel->elements->inner.D;
  const int    first = kernel->dampers.first, end = kernel->dampers.end;
  double       s_d = 0.0, s_D = 0.0, r_d = 0.0, r_D = 0.0;
  if (a == NULL) {
    for (int e = first; e < end; ++e) {
      const double dv = v[e] - v[e - 1], s = dv * dv;
      s_d += s;
      s_D += s * s;
    }
    *lost = d * s_d + D * s_D;
    return;
  }
  for (int e = first; e < end; ++e) {
    const double dv = v[e] - v[e - 1], s = dv * dv, r = dv * (a[e] - a[e - 1]);
    s_d += s;
    s_D += s * s;
    r_d += r;
    r_D += r * s;
  }
  *lost = d * s_d + D * s_D;
  *rate = 2.0 * d * r_d + 4.0 * D * r_D;
}

static void find_dampers(yoke_chain_kernel *kernel) {
  const yoke_chain_elements *p          = kernel->elements;
  const owned_elements       own        = elements_between(kernel);
  const bool                 has_powers = has_power_v(kernel) || p->ends[0].D != 0.0 || p->ends[1].D != 0.0;
  const bool                 is_plain   = !has_powers || p->exponent_v == 3.0;
  const bool                 are_any    = !kernel->uniform_elements || p->inner.d != 0.0 || p->inner.D != 0.0;
  yoke_chain_dampers        *dampers    = &kernel->dampers;
  dampers->first                        = own.first;
  dampers->end                          = are_any ? own.end : own.first;
  for (int end = 0; end < 2; ++end)
    dampers->at_end[end] =
        owns_element(kernel, end == 0 ? 0 : kernel->n) && (p->ends[end].d != 0.0 || p->ends[end].D != 0.0);
  const bool are_few =
      kernel->uniform_elements && own.end - own.first <= FEW && !dampers->at_end[0] && !dampers->at_end[1];
  dampers->losses = !is_plain ? power_losses : are_few ? few_losses : plain_losses;
}

const int *yoke_chain_kernel_loaded(const yoke_chain_kernel *kernel, int *n) {
  *n = kernel->n_loaded;
  return kernel->loaded;
}

yoke_loading yoke_chain_kernel_loading(const yoke_chain_kernel *kernel, double t, double *until, uint64_t *acting) {
  yoke_loading loading = YOKE_LOADS_NONE;
  *until               = (double)INFINITY;
  *acting              = 0;
  for (int k = 0; k < kernel->n_loaded; ++k) {
    const yoke_chain_force *load = &kernel->loads.forces[kernel->load[k]];
    double                  end;
    const yoke_loading      now = yoke_chain_shape_loading(&kernel->loads.shapes[load->shape], t, &end);
    if (now > loading) loading = now;
    if (now != YOKE_LOADS_NONE) *acting |= yoke_load_bit(k);
    *until = fmin(*until, end);
  }
  return loading;
}

/* n is a constant wherever this is inlined. */
static YOKE_ALWAYS_INLINE void load_powers(const yoke_chain_kernel *kernel, uint64_t some, int n, const double *t,
                                           const double *v, double *power) {
  const yoke_chain_loads *loads = &kernel->loads;
  double shared[YOKE_CHAIN_SHARED][YOKE_LOAD_TIMES], own[YOKE_LOAD_TIMES], sum[YOKE_LOAD_TIMES] = {0.0};
  double times[YOKE_LOAD_TIMES];
  for (int i = 0; i < YOKE_LOAD_TIMES; ++i) times[i] = t[i < n ? i : 0]; /* all: a vector, not single ones */
  for (int g = 0; g < loads->n_shared; ++g) yoke_chain_shape_values(&loads->shapes[g], false, n, times, shared[g]);
  for (int k = 0; k < kernel->n_loaded; ++k) {
    if (!yoke_load_is_among(some, k)) continue;
    const yoke_chain_force *load  = &loads->forces[kernel->load[k]];
    const double           *value = load->shape < loads->n_shared ? shared[load->shape] : own;
    const bool              acts  = some != YOKE_ALL_LOADS && k < YOKE_LOADS_APART; /* of others one does at least */
    if (value == own) yoke_chain_shape_values(&loads->shapes[load->shape], acts, n, times, own);
    for (int i = 0; i < n; ++i) sum[i] += load->amplitude * value[i] * v[(ptrdiff_t)i * kernel->n_loaded + k];
  }
  for (int i = 0; i < n; ++i) power[i] = sum[i];
}

void yoke_chain_kernel_load_powers(const yoke_chain_kernel *kernel, uint64_t some, int n, const double *t,
                                   const double *v, double *power) {
  if (n == 3)
    load_powers(kernel, some, 3, t, v, power);
  else
    load_powers(kernel, some, n, t, v, power);
}

/* Sums per block, then of blocks: rounding grows with the root of n at most. */
void yoke_chain_kernel_energy(const yoke_chain_kernel *kernel, double gx, const double *x, const double *v,
                              double *kinetic, double *potential) {
  const yoke_chain_elements *el       = kernel->elements;
  const owned_elements       own      = elements_between(kernel);
  const bool                 is_plain = !has_power_x(kernel) || el->exponent_x == 3.0;
  const int first = kernel->own > 0 ? kernel->own : 0, end = kernel->own_end < kernel->n ? kernel->own_end : kernel->n;
  double    T = 0.0, U = 0.0;
  _Alignas(64) double g[ROOM];
  if (owns_element(kernel, 0)) U += spring_energy(x[0], el->ends[0].c, el->ends[0].C, el->exponent_x);
  for (int e = own.first; e < own.end; e += BLOCK) {
    const int     n    = own.end - e > BLOCK ? BLOCK : own.end - e;
    const double *p[4] = {0};
    if (!kernel->uniform_elements) element_arrays(kernel, e, p);
    if (!is_plain) power_factors(n, true, el->exponent_x, x + e - 1, g);
    U += yoke_chain_loop_potential(n, p[0], p[2], el->inner.c, el->inner.C, is_plain ? NULL : g, el->exponent_x + 1.0,
                                   x + e - 1);
  }
  if (owns_element(kernel, kernel->n))
    U += spring_energy(x[kernel->n - 1], el->ends[1].c, el->ends[1].C, el->exponent_x);
  for (int i = first; i < end; i += BLOCK) {
    const int n = end - i > BLOCK ? BLOCK : end - i;
    T += yoke_chain_loop_kinetic(n, kernel->mass + i, v + i);
    if (gx != 0.0) U -= gx * yoke_chain_loop_moment(n, kernel->mass + i, x + i);
  }
  for (int k = 0; k < kernel->loads.n_forces; ++k) {
    const yoke_chain_force *load = &kernel->loads.forces[k];
    if (owns_mass(kernel, load->mass) && load->shape < 0) U += contact_energy(load, x[load->mass]);
  }
  *kinetic   = T;
  *potential = U;
}

/* ---- creation ---- */

static yoke_status check_memory(yoke_context *ctx, const yoke_chain_kernel *kernel) {
  return yoke_arena_check(&kernel->arena, ctx, "a chain of %d masses", kernel->n);
}

static double per_mass(const yoke_per_mass *p, int i) {
  return p->each != NULL ? p->each[i] : p->value;
}

static yoke_status check_finite(yoke_context *ctx, const char *what, const yoke_per_mass *p, int n) {
  for (int i = 0; i < (p->each != NULL ? n : 1); ++i) {
    if (!isfinite(per_mass(p, i))) {
      return yoke_fail(ctx, YOKE_E_MODEL, "chain: %s[%d] is %g, expected a finite number", what, i + 1, per_mass(p, i));
    }
  }
  return YOKE_OK;
}

static yoke_status check_chain(yoke_context *ctx, const yoke_chain *chain) {
  if (chain->n < 1 || chain->n > INT_MAX / 2 - 1) {
    return yoke_fail(ctx, YOKE_E_MODEL, "chain: %d masses, expected 1 to %d", chain->n, INT_MAX / 2 - 1);
  }
  for (int i = 0; i < (chain->mass.each != NULL ? chain->n : 1); ++i) {
    const double m = per_mass(&chain->mass, i);
    if (!(m > 0.0) || !isfinite(m) || !isfinite(1.0 / m)) {
      return yoke_fail(ctx, YOKE_E_MODEL, "chain: mass[%d] is %g kg, expected > 0", i + 1, m);
    }
  }
  YOKE_TRY(check_finite(ctx, "stiffness", &chain->stiffness, chain->n + 1));
  YOKE_TRY(check_finite(ctx, "damping", &chain->damping, chain->n + 1));
  YOKE_TRY(check_finite(ctx, "stiffness_power", &chain->stiffness_power, chain->n + 1));
  YOKE_TRY(check_finite(ctx, "damping_power", &chain->damping_power, chain->n + 1));
  const double exponent[2] = {chain->exponent_x, chain->exponent_v};
  for (int k = 0; k < 2; ++k) {
    if (!(exponent[k] > 0.0) || !isfinite(exponent[k])) {
      return yoke_fail(ctx, YOKE_E_MODEL, "chain: exponent of the %s is %g, expected > 0",
                       k == 0 ? "springs" : "dampers", exponent[k]);
    }
  }
  return YOKE_OK;
}

/* Coefficients of element e; a power law of exponent 1 is linear and goes to the linear part. */
static yoke_chain_element chain_element(const yoke_chain *chain, int e) {
  if ((e == 0 && chain->is_free[0]) || (e == chain->n && chain->is_free[1])) return (yoke_chain_element){.c = 0.0};
  yoke_chain_element p = {.c = per_mass(&chain->stiffness, e),
                          .d = per_mass(&chain->damping, e),
                          .C = per_mass(&chain->stiffness_power, e),
                          .D = per_mass(&chain->damping_power, e)};
  if (chain->exponent_x == 1.0) {
    p.c += p.C;
    p.C = 0.0;
  }
  if (chain->exponent_v == 1.0) {
    p.d += p.D;
    p.D = 0.0;
  }
  return p;
}

/* Which of c, d, C, D differ between inner elements, and whether the chain has power terms at all. */
typedef struct variation {
  bool c, d, C, D;
  bool power_x, power_v;
} variation;

static variation find_variation(const yoke_chain *chain, const yoke_chain_element *inner) {
  variation  found    = {.c = false};
  const bool constant = chain->stiffness.each == NULL && chain->damping.each == NULL &&
                        chain->stiffness_power.each == NULL && chain->damping_power.each == NULL;
  for (int e = 0; e <= chain->n; ++e) {
    const yoke_chain_element p = chain_element(chain, e);
    found.power_x |= p.C != 0.0;
    found.power_v |= p.D != 0.0;
    if (e == 0 || e == chain->n) continue;
    if (constant) e = chain->n - 1; /* all others but the last are the same */
    found.c |= p.c != inner->c;
    found.d |= p.d != inner->d;
    found.C |= p.C != inner->C;
    found.D |= p.D != inner->D;
  }
  return found;
}

static yoke_status create_elements(yoke_context *ctx, const yoke_chain *chain, yoke_chain_kernel *kernel) {
  const int                 n        = chain->n;
  const yoke_chain_elements elements = {
      .inner      = n > 1 ? chain_element(chain, 1) : (yoke_chain_element){.c = 0.0},
      .ends       = {chain_element(chain, 0), chain_element(chain, n)},
      .exponent_x = chain->exponent_x,
      .exponent_v = chain->exponent_v,
  };
  kernel->elements = yoke_arena_share(&kernel->arena, &elements, sizeof elements);
  YOKE_TRY(check_memory(ctx, kernel));

  const variation found = find_variation(chain, &elements.inner);
  const bool      cubic = (!found.power_x || chain->exponent_x == 3.0) && (!found.power_v || chain->exponent_v == 3.0);
  kernel->law = !found.power_x && !found.power_v ? YOKE_CHAIN_LINEAR : cubic ? YOKE_CHAIN_CUBIC : YOKE_CHAIN_POWER;
  kernel->uniform_elements = !found.c && !found.d && !found.C && !found.D;

  double **const array[4]  = {&kernel->c, &kernel->d, &kernel->C, &kernel->D};
  const bool     varies[4] = {found.c, found.d, found.C, found.D};
  const double   value[4]  = {elements.inner.c, elements.inner.d, elements.inner.C, elements.inner.D};
  if (kernel->uniform_elements) return YOKE_OK;
  const int repeated = n < BLOCK ? n : ROOM;
  for (int k = 0; k < 4; ++k) {
    if (varies[k])
      *array[k] = yoke_arena_take(&kernel->arena, (size_t)n + 1, sizeof(double));
    else
      kernel->constant[k] = yoke_arena_take(&kernel->arena, (size_t)repeated, sizeof(double));
  }
  YOKE_TRY(check_memory(ctx, kernel));
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; !varies[k] && i < repeated; ++i) kernel->constant[k][i] = value[k];
    for (int e = 0; varies[k] && e <= n; ++e) {
      const yoke_chain_element p = chain_element(chain, e);
      (*array[k])[e]             = k == 0 ? p.c : k == 1 ? p.d : k == 2 ? p.C : p.D;
    }
  }
  return YOKE_OK;
}

static yoke_status create_masses(yoke_context *ctx, const yoke_chain *chain, yoke_chain_kernel *kernel) {
  const int n  = chain->n;
  kernel->mass = yoke_arena_take(&kernel->arena, (size_t)n, sizeof(double));
  YOKE_TRY(check_memory(ctx, kernel));
  kernel->uniform_mass = true;
  for (int i = 0; i < n; ++i) {
    kernel->mass[i] = per_mass(&chain->mass, i);
    if (kernel->mass[i] != kernel->mass[0]) kernel->uniform_mass = false;
  }
  kernel->inverse = 1.0 / kernel->mass[0];
  if (kernel->uniform_mass) return YOKE_OK;
  kernel->inverse_mass = yoke_arena_take(&kernel->arena, (size_t)n, sizeof(double));
  YOKE_TRY(check_memory(ctx, kernel));
  for (int i = 0; i < n; ++i) kernel->inverse_mass[i] = 1.0 / kernel->mass[i];
  return YOKE_OK;
}

static yoke_status list_loaded(yoke_context *ctx, yoke_chain_kernel *kernel) {
  const yoke_chain_loads *loads = &kernel->loads;
  for (int k = 0; k < loads->n_forces; ++k)
    kernel->n_loaded += owns_mass(kernel, loads->forces[k].mass) && loads->forces[k].shape >= 0 ? 1 : 0;
  if (kernel->n_loaded == 0) return YOKE_OK;
  kernel->loaded = yoke_arena_take(&kernel->arena, (size_t)kernel->n_loaded, sizeof *kernel->loaded);
  kernel->load   = yoke_arena_take(&kernel->arena, (size_t)kernel->n_loaded, sizeof *kernel->load);
  YOKE_TRY(check_memory(ctx, kernel));
  for (int k = 0, n = 0; k < loads->n_forces; ++k) {
    const yoke_chain_force *load = &loads->forces[k];
    if (!owns_mass(kernel, load->mass) || load->shape < 0) continue;
    kernel->load[n]     = k;
    kernel->loaded[n++] = load->mass;
  }
  return YOKE_OK;
}

yoke_status yoke_chain_kernel_create(yoke_context *ctx, const yoke_chain *chain, yoke_chain_kernel **out) {
  *out = NULL;
  YOKE_TRY(check_chain(ctx, chain));
  yoke_arena         arena  = yoke_arena_of(ctx);
  yoke_chain_kernel *kernel = yoke_arena_take(&arena, 1, sizeof *kernel);
  if (kernel == NULL) return yoke_out_of_memory(ctx, "a chain of %d masses", chain->n);
  kernel->arena      = arena;
  kernel->n          = chain->n;
  kernel->own        = chain->halo[0];
  kernel->own_end    = chain->n - chain->halo[1];
  yoke_status status = create_masses(ctx, chain, kernel);
  if (status == YOKE_OK) status = create_elements(ctx, chain, kernel);
  if (status == YOKE_OK) status = yoke_chain_loads_create(ctx, chain, &kernel->arena, &kernel->loads);
  if (status == YOKE_OK) status = list_loaded(ctx, kernel);
  if (status == YOKE_OK) find_dampers(kernel);
  if (status != YOKE_OK) {
    yoke_chain_kernel_destroy(&kernel);
    return status;
  }
  *out = kernel;
  return YOKE_OK;
}

void yoke_chain_kernel_destroy(yoke_chain_kernel **kernel) {
  if (kernel == NULL || *kernel == NULL) return;
  yoke_arena arena = (*kernel)->arena;
  yoke_arena_free(&arena);
  *kernel = NULL;
}

const double *yoke_chain_kernel_mass(const yoke_chain_kernel *kernel) {
  return kernel->mass;
}
