/* Linear subsystem: the integrator `exact` on (x, z), z the integrals of the ports' positions since the last accepted step. */
#include "analysis/linear_subsystem.h"

#include "base/memory.h"
#include "integrate/integrator.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct linear {
  int               n_x, n_z, nu, ny;
  double           *A, *B, *b;       /* of (x, z)' = A (x, z) + B u + b, [n, n], [n, nu], [n] */
  double           *C, *D, *y0, *u0; /* [ny, n_x], [ny, nu], [ny], [nu] */
  int              *integral;        /* [ny] output k is z[integral[k]]; -1: of C and D */
  bool             *responds;        /* [ny] follows the inputs at once: accelerations and extras */
  double           *zeros;           /* [n] start */
  yoke_equations    equations;       /* all of (x, z) as q; no v */
  yoke_integrator  *integrator;
  const yoke_port  *ports; /* [n_ports] */
  yoke_linear_halo *halos;
  double           *mass_factor; /* [n_x / 2, n_x / 2] lower triangle L, L L^T = mass; NULL: no resets */
  size_t            at_impulse;  /* [n_x / 2], bytes into the scratch */
  size_t            at_left;     /* inputs, bytes into the scratch */
} linear;

/* ---- equations ---- */

static yoke_status linear_derivative(const void *self, void *work, double t, const double *q, const double *v,
                                     const double *u, double *qdot, double *a, double *lambda) {
  const linear *l = self;
  const int     n = l->n_x + l->n_z;
  (void)work, (void)t, (void)v, (void)a, (void)lambda;
  for (int i = 0; qdot != NULL && i < n; ++i) {
    qdot[i] = l->b[i];
    for (int j = 0; j < n; ++j) qdot[i] += l->A[(size_t)i * (size_t)n + (size_t)j] * q[j];
    for (int j = 0; j < l->nu; ++j) qdot[i] += l->B[(size_t)i * (size_t)l->nu + (size_t)j] * u[j];
  }
  return YOKE_OK;
}

static yoke_status linear_matrices(const void *self, void *work, double *A, double *B, double *b) {
  const linear *l = self;
  const size_t  n = (size_t)l->n_x + (size_t)l->n_z;
  (void)work;
  if (A != NULL) memcpy(A, l->A, n * n * sizeof *A);
  if (B != NULL) memcpy(B, l->B, n * (size_t)l->nu * sizeof *B);
  if (b != NULL) memcpy(b, l->b, n * sizeof *b);
  return YOKE_OK;
}

static void nothing(void *self) { /* the subsystem owns it all */
  (void)self;
}

static const yoke_equations_ops linear_equations = {
    .kind       = "linear",
    .destroy    = nothing,
    .derivative = linear_derivative,
    .linear     = linear_matrices,
};

/* ---- calls ---- */

static yoke_status linear_start(const yoke_subsystem *subsystem, void *scratch, void *state, double t,
                                const yoke_signal *u, yoke_context *ctx) {
  const linear *l = subsystem->self;
  return yoke_integrator_start(l->integrator, scratch, state, t, l->zeros, l->zeros, u, ctx);
}

static yoke_status linear_step(const yoke_subsystem *subsystem, void *scratch, void *state, const yoke_signal *u,
                               yoke_step_request *request, yoke_context *ctx) {
  const linear *l = subsystem->self;
  return yoke_integrator_advance(l->integrator, scratch, state, u, request->t_end, ctx);
}

static yoke_status linear_output(const yoke_subsystem *subsystem, void *scratch, const void *state,
                                 const yoke_signal *u, yoke_side side, double *y) {
  const linear                *l    = subsystem->self;
  const yoke_integrator_state *head = state;
  const double                *x    = yoke_integrator_q(l->integrator, head);
  double                      *left = (double *)(void *)((char *)scratch + l->at_left);
  if (l->nu > 0) yoke_signal_value(u, head->t, side, 0, left);
  for (int j = 0; j < l->nu; ++j) left[j] -= l->u0[j];
  for (int k = 0; k < l->ny; ++k) {
    if (l->integral[k] >= 0) {
      y[k] = x[l->n_x + l->integral[k]];
      continue;
    }
    y[k] = l->y0[k];
    for (int i = 0; i < l->n_x; ++i) y[k] += l->C[(size_t)k * (size_t)l->n_x + (size_t)i] * x[i];
    for (int j = 0; j < l->nu; ++j) y[k] += l->D[(size_t)k * (size_t)l->nu + (size_t)j] * left[j];
  }
  return YOKE_OK;
}

static yoke_status linear_copy(const yoke_subsystem *subsystem, void *dst, const void *src) {
  const linear *l = subsystem->self;
  yoke_integrator_copy(l->integrator, dst, src);
  return YOKE_OK;
}

static yoke_status linear_pack(const yoke_subsystem *subsystem, const void *state, yoke_pack *out, yoke_context *ctx) {
  const linear *l = subsystem->self;
  return yoke_integrator_pack(l->integrator, state, out, ctx);
}

static yoke_status linear_unpack(const yoke_subsystem *subsystem, void *scratch, yoke_unpack *in, void *state,
                                 yoke_context *ctx) {
  const linear *l = subsystem->self;
  (void)scratch;
  return yoke_integrator_unpack(l->integrator, in, state, ctx);
}

static void linear_accept(const yoke_subsystem *subsystem, void *state) {
  const linear *l = subsystem->self;
  memset(yoke_integrator_q(l->integrator, state) + l->n_x, 0, (size_t)l->n_z * sizeof(double));
}

static void linear_counters(const yoke_subsystem *subsystem, const void *state, yoke_counters *out) {
  (void)subsystem;
  *out = yoke_counters_of(&((const yoke_integrator_state *)state)->counters);
}

static yoke_status linear_response(const yoke_subsystem *subsystem, void *scratch, const void *state,
                                   const yoke_signal *u, yoke_side side, double *dy_du) {
  const linear *l = subsystem->self;
  (void)scratch, (void)state, (void)u, (void)side;
  for (int j = 0; j < l->nu; ++j) {
    for (int k = 0; k < l->ny; ++k)
      dy_du[(size_t)j * (size_t)l->ny + (size_t)k] = l->responds[k] ? l->D[(size_t)k * (size_t)l->nu + (size_t)j] : 0.0;
  }
  return YOKE_OK;
}

static int linear_n_x(const yoke_subsystem *subsystem) {
  return ((const linear *)subsystem->self)->n_x;
}

static void linear_get_x(const yoke_subsystem *subsystem, const void *state, double *x) {
  const linear *l = subsystem->self;
  memcpy(x, yoke_integrator_q(l->integrator, state), (size_t)l->n_x * sizeof *x);
}

static yoke_status linear_set_x(const yoke_subsystem *subsystem, void *scratch, void *state, const double *x) {
  const linear *l = subsystem->self;
  double       *q = yoke_integrator_q(l->integrator, state);
  (void)scratch;
  memcpy(q, x, (size_t)l->n_x * sizeof *q);
  memset(q + l->n_x, 0, (size_t)l->n_z * sizeof *q);
  return YOKE_OK;
}

/* ---- resets ---- */

/* out [n_f] += size J^T wrench, J = d(velocity of the port) / d(second half of x). */
static void add_impulse(const linear *l, const yoke_port_row *row, double size, double *out) {
  const int        n_f  = l->n_x / 2;
  const yoke_port *p    = &l->ports[row->port];
  const int        at_v = p->y_at + yoke_shape_at_v(p->shape);
  for (int k = 0; k < p->shape->n_v; ++k) {
    const double *J = l->C + (size_t)(at_v + k) * (size_t)l->n_x + n_f;
    for (int i = 0; i < n_f; ++i) out[i] += size * row->wrench[k] * J[i];
  }
}

/* Velocity along a row for a change d [n_f] of the second half of x. */
static double along(const linear *l, const yoke_port_row *row, const double *d) {
  const int        n_f  = l->n_x / 2;
  const yoke_port *p    = &l->ports[row->port];
  const int        at_v = p->y_at + yoke_shape_at_v(p->shape);
  double           sum  = 0.0;
  for (int k = 0; k < p->shape->n_v; ++k) {
    const double *J = l->C + (size_t)(at_v + k) * (size_t)l->n_x + n_f;
    for (int i = 0; i < n_f; ++i) sum += row->wrench[k] * J[i] * d[i];
  }
  return sum;
}

/* d := M^-1 d by the factor L L^T. */
static void solve_mass(const linear *l, double *d) {
  const int     n = l->n_x / 2;
  const double *L = l->mass_factor;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) d[i] -= L[(size_t)i * (size_t)n + (size_t)j] * d[j];
    d[i] /= L[(size_t)i * (size_t)n + (size_t)i];
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int j = i + 1; j < n; ++j) d[i] -= L[(size_t)j * (size_t)n + (size_t)i] * d[j];
    d[i] /= L[(size_t)i * (size_t)n + (size_t)i];
  }
}

static double *impulse_room(const linear *l, void *scratch) {
  return (double *)(void *)((char *)scratch + l->at_impulse);
}

static yoke_status linear_row_response(const yoke_subsystem *subsystem, void *scratch, const void *state, int n,
                                       const yoke_port_row *rows, double *W) {
  const linear *l = subsystem->self;
  double       *d = impulse_room(l, scratch);
  (void)state;
  for (int j = 0; j < n; ++j) {
    memset(d, 0, (size_t)(l->n_x / 2) * sizeof *d);
    add_impulse(l, &rows[j], 1.0, d);
    solve_mass(l, d);
    for (int i = 0; i < n; ++i) W[(size_t)i * (size_t)n + (size_t)j] = along(l, &rows[i], d);
  }
  return YOKE_OK;
}

static yoke_status linear_push(const yoke_subsystem *subsystem, void *scratch, void *state, int n,
                               const yoke_port_row *rows, const double *move, const double *kick) {
  const linear       *l = subsystem->self;
  double             *x = yoke_integrator_q(l->integrator, state), *d = impulse_room(l, scratch);
  const double *const list[2] = {move, kick};
  for (int half = 0; half < 2; ++half) { /* positions are the first half of x, velocities the second */
    if (list[half] == NULL) continue;
    memset(d, 0, (size_t)(l->n_x / 2) * sizeof *d);
    for (int i = 0; i < n; ++i) add_impulse(l, &rows[i], list[half][i], d);
    solve_mass(l, d);
    for (int i = 0; i < l->n_x / 2; ++i) x[half * (l->n_x / 2) + i] += d[i];
  }
  return YOKE_OK;
}

static yoke_status linear_reset(const yoke_subsystem *subsystem, void *scratch, void *state, const yoke_signal *u,
                                yoke_context *ctx) {
  (void)subsystem, (void)scratch, (void)state, (void)u, (void)ctx; /* nothing depends on the past */
  return YOKE_OK;
}

/* row (y - y0) */
static double deviation(int n, const double *row, const double *y, const double *y0) {
  double sum = 0.0;
  for (int k = 0; k < n; ++k) sum += row[k] * (y[k] - y0[k]);
  return sum;
}

static void linear_take(const yoke_subsystem *subsystem, void *state, int halo, const double *y) {
  const linear           *l   = subsystem->self;
  const yoke_linear_halo *h   = &l->halos[halo];
  double                 *x   = yoke_integrator_q(l->integrator, state);
  const int               n_p = h->shape->n_p, n_v = h->shape->n_v;
  for (int k = 0; k < h->n; ++k) {
    const double *port      = y + h->from[k] * yoke_shape_n_y(h->shape);
    x[h->x[k]]              = deviation(n_p, h->P + k * n_p, port, h->p + h->from[k] * n_p);
    x[l->n_x / 2 + h->x[k]] = deviation(n_v, h->V + k * n_v, port + n_p, h->v + h->from[k] * n_v);
  }
}

static void linear_destroy(yoke_subsystem *subsystem) {
  linear *l = subsystem->self;
  yoke_integrator_destroy(&l->integrator);
  yoke_subsystem_free(subsystem);
}

static const yoke_repeat_ops  repeat  = {.copy = linear_copy};
static const yoke_instant_ops instant = {.response = linear_response};
static const yoke_linear_ops  vector  = {.n_x = linear_n_x, .get_x = linear_get_x, .set_x = linear_set_x};
static const yoke_reset_ops resets = {.row_response = linear_row_response, .push = linear_push, .reset = linear_reset};

static const yoke_halo_ops halo = {.take = linear_take};

static const yoke_pack_ops packing = {.pack = linear_pack, .unpack = linear_unpack};

#define LINEAR_CALLS                                                                                                   \
  .kind = "linear", .destroy = linear_destroy, .start = linear_start, .step = linear_step, .output = linear_output,    \
  .accept = linear_accept, .counters = linear_counters, .repeat = &repeat, .instant = &instant, .linear = &vector,     \
  .halo = &halo, .pack = &packing

static const yoke_subsystem_ops linear_ops = {LINEAR_CALLS, .reset = &resets};

/* Without a mass: no impulses. */
static const yoke_subsystem_ops massless_ops = {LINEAR_CALLS};

/* ---- creation ---- */

static yoke_port *copy_ports(yoke_arena *arena, const yoke_linear_def *def) {
  yoke_port *ports = yoke_arena_take(arena, (size_t)def->n_ports + 1, sizeof *ports);
  for (int k = 0; ports != NULL && k < def->n_ports; ++k) {
    ports[k]      = def->ports[k];
    ports[k].name = yoke_arena_text(arena, def->ports[k].name);
  }
  return ports;
}

static yoke_linear_halo *copy_halos(yoke_arena *arena, const yoke_linear_def *def) {
  yoke_linear_halo *halos = yoke_arena_take(arena, (size_t)def->n_halos + 1, sizeof *halos);
  for (int k = 0; halos != NULL && k < def->n_halos; ++k) {
    yoke_linear_halo *h = &halos[k];
    *h                  = def->halos[k];
    const size_t n = (size_t)h->n, n_ports = (size_t)h->n_ports, n_p = (size_t)h->shape->n_p,
                 n_v = (size_t)h->shape->n_v;
    h->x             = yoke_arena_copy(arena, h->x, n, sizeof *h->x);
    h->from          = yoke_arena_copy(arena, h->from, n, sizeof *h->from);
    h->P             = yoke_arena_copy(arena, h->P, n * n_p, sizeof *h->P);
    h->V             = yoke_arena_copy(arena, h->V, n * n_v, sizeof *h->V);
    h->p             = yoke_arena_copy(arena, h->p, n_ports * n_p, sizeof *h->p);
    h->v             = yoke_arena_copy(arena, h->v, n_ports * n_v, sizeof *h->v);
  }
  return halos;
}

/* Which outputs are integrals, which follow the inputs at once (accelerations, extras); n_z. */
static void sort_outputs(const yoke_linear_def *def, linear *l) {
  for (int p = 0; p < def->n_ports; ++p) {
    const yoke_port *port = &def->ports[p];
    const int        at_a = yoke_shape_at_a(port->shape), at_integral = yoke_shape_at_integral(port->shape),
              at_extra = yoke_shape_n_y(port->shape);
    for (int k = 0; k < port->n_y; ++k) {
      l->integral[port->y_at + k] = k >= at_integral && k < at_extra ? l->n_z++ : -1;
      l->responds[port->y_at + k] = k >= at_extra || (k >= at_a && k < at_integral);
    }
  }
}

/* z' = the positions of the ports; they do not depend on the inputs. */
static void set_integrals(const yoke_linear_def *def, linear *l) {
  const size_t n = (size_t)l->n_x + (size_t)l->n_z;
  int          z = 0;
  for (int p = 0; p < def->n_ports; ++p) {
    const yoke_port *port = &def->ports[p];
    for (int k = 0; k < port->shape->n_integrals; ++k, ++z) {
      const size_t row = (size_t)l->n_x + (size_t)z, from = (size_t)port->y_at + (size_t)port->shape->integral_of[k];
      memcpy(l->A + row * n, def->C + from * (size_t)l->n_x, (size_t)l->n_x * sizeof *l->A);
      l->b[row] = def->y0[from];
    }
  }
}

static void set_matrices(const yoke_linear_def *def, linear *l) {
  const size_t n = (size_t)l->n_x + (size_t)l->n_z, nu = (size_t)l->nu;
  for (size_t i = 0; i < (size_t)l->n_x; ++i) {
    memcpy(l->A + i * n, def->A + i * (size_t)l->n_x, (size_t)l->n_x * sizeof *l->A);
    memcpy(l->B + i * nu, def->B + i * nu, nu * sizeof *l->B);
    l->b[i] = def->f0[i];
    for (size_t j = 0; j < nu; ++j) l->b[i] -= def->B[i * nu + j] * def->u0[j];
  }
  set_integrals(def, l);
  memcpy(l->C, def->C, (size_t)l->ny * (size_t)l->n_x * sizeof *l->C);
  memcpy(l->D, def->D, (size_t)l->ny * nu * sizeof *l->D);
  memcpy(l->y0, def->y0, (size_t)l->ny * sizeof *l->y0);
  memcpy(l->u0, def->u0, nu * sizeof *l->u0);
}

/* Cholesky's factor of the mass. */
static yoke_status factor_mass(yoke_context *ctx, const yoke_linear_def *def, linear *l) {
  const int n = def->n_x / 2;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j <= i; ++j) {
      double *const row = l->mass_factor + (size_t)i * (size_t)n, *const other = l->mass_factor + (size_t)j * (size_t)n;
      double sum = def->mass[(size_t)i * (size_t)n + (size_t)j];
      for (int k = 0; k < j; ++k) sum -= row[k] * other[k];
      if (i == j && !(sum > 0.0))
        return yoke_fail(ctx, YOKE_E_MODEL, "subsystem '%s': its mass matrix is not positive definite", def->name);
      row[j] = i == j ? sqrt(sum) : sum / other[j];
    }
  }
  return YOKE_OK;
}

static yoke_status build(yoke_context *ctx, const yoke_linear_def *def, linear *l, yoke_subsystem *s) {
  const size_t ny = (size_t)def->ny, nu = (size_t)def->nu;
  l->n_x = def->n_x;
  l->nu = s->nu = def->nu;
  l->ny = s->ny = def->ny;
  l->integral   = yoke_arena_take(&s->arena, ny + 1, sizeof *l->integral);
  l->responds   = yoke_arena_take(&s->arena, ny + 1, sizeof *l->responds);
  s->n_ports    = def->n_ports;
  s->ports = l->ports = copy_ports(&s->arena, def);
  l->halos            = copy_halos(&s->arena, def);
  if (def->mass != NULL)
    l->mass_factor = yoke_arena_take(&s->arena, (size_t)def->n_x / 2 * ((size_t)def->n_x / 2), sizeof *l->mass_factor);
  if (s->arena.has_failed) return YOKE_E_MEMORY;
  sort_outputs(def, l);
  if (def->mass != NULL) YOKE_TRY(factor_mass(ctx, def, l));
  s->ops         = def->mass != NULL ? &linear_ops : &massless_ops;
  const size_t n = (size_t)l->n_x + (size_t)l->n_z;
  l->A           = yoke_arena_take(&s->arena, n * n + 1, sizeof(double));
  l->B           = yoke_arena_take(&s->arena, n * nu + 1, sizeof(double));
  l->b           = yoke_arena_take(&s->arena, n + 1, sizeof(double));
  l->C           = yoke_arena_take(&s->arena, ny * (size_t)l->n_x + 1, sizeof(double));
  l->D           = yoke_arena_take(&s->arena, ny * nu + 1, sizeof(double));
  l->y0          = yoke_arena_take(&s->arena, ny + 1, sizeof(double));
  l->u0          = yoke_arena_take(&s->arena, nu + 1, sizeof(double));
  l->zeros       = yoke_arena_take(&s->arena, n + 1, sizeof(double));
  if (s->arena.has_failed) return YOKE_E_MEMORY;
  set_matrices(def, l);
  l->equations = (yoke_equations){
      .ops = &linear_equations, .self = l, .nq = (int)n, .nu = l->nu, .n_quadratures = l->n_z, .work_size = 64};
  const yoke_integrator_options options = yoke_integrator_options_default();
  YOKE_TRY(yoke_integrator_create(ctx, "exact", &l->equations, &options, &l->integrator));
  s->state_size   = l->integrator->state_size;
  s->scratch_size = (l->integrator->scratch_size + 63) / 64 * 64;
  l->at_left      = s->scratch_size;
  s->scratch_size += (nu * sizeof(double) + 63) / 64 * 64;
  l->at_impulse = s->scratch_size;
  s->scratch_size += ((size_t)(l->n_x / 2) * sizeof(double) + 63) / 64 * 64;
  return YOKE_OK;
}

yoke_status yoke_linear_create_subsystem(yoke_context *ctx, const yoke_linear_def *def, yoke_subsystem **out) {
  yoke_subsystem *s = NULL;
  *out              = NULL;
  YOKE_TRY(yoke_subsystem_new(ctx, def->name, sizeof(linear), &s));
  s->ops                   = &linear_ops;
  const yoke_status status = build(ctx, def, s->self, s);
  if (status != YOKE_OK) {
    yoke_subsystem_destroy(&s);
    return yoke_fail(ctx, status, "linear subsystem '%s' cannot be built: %s", def->name, yoke_status_text(status));
  }
  *out = s;
  return YOKE_OK;
}
