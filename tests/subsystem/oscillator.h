/* Oscillator: a subsystem that is not native and shares no code with those that are. Masses on a line, or one rigid body in the plane, held by
 * springs and dampers; ports at masses, or at points of the body; steps of the classical Runge-Kutta method of at most `h`; cubic dense
 * output. Its ports take wrenches and nothing else. What it can do is chosen by flags.
 *   line    freedoms: x of the masses; neighbours may be joined by springs; ports of shape `line`
 *   plane   freedoms: x, y, angle; ports of shape `plane`
 * Its one event: the first freedom passes `level`; it then acts by turning the first velocity round. Include after <cmocka.h>. */
#ifndef YOKE_TESTS_OSCILLATOR_H
#define YOKE_TESTS_OSCILLATOR_H

#include "subsystem/subsystem.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { OSC_MAX = 4, OSC_MAX_PORTS = 3, OSC_MAX_V = 3, OSC_MAX_SPARE = 4 };

/* What it can do. */
enum {
  OSC_REPEAT   = 1,
  OSC_INSTANT  = 2,
  OSC_EVENTS   = 4,
  OSC_OBSERVE  = 8,
  OSC_ENERGY   = 16,
  OSC_RESET    = 32,
  OSC_PACK     = 64,
  OSC_ALL      = 127,
  OSC_RESPONSE = 128
};

/* How many of its states were at work at once. Who is watched takes its time, so that others would come. */
typedef struct osc_watch {
  atomic_int now, most, steps, responses;
} osc_watch;

typedef struct osc_def {
  const char *name;
  bool        is_planar;
  int         n;                                                              /* freedoms */
  double mass[OSC_MAX], stiffness[OSC_MAX], damping[OSC_MAX], force[OSC_MAX]; /* to the ground from 0; constant force */
  double between[OSC_MAX], between_damping[OSC_MAX];                          /* line: from mass i to i + 1 */
  double q[OSC_MAX], v[OSC_MAX];                                              /* start */
  int    n_spare; /* outputs in front of those of the ports */
  int    n_ports;
  struct {
    int    mass;  /* line */
    double at[2]; /* plane: in axes of the body */
  } port[OSC_MAX_PORTS];
  double     h; /* largest step [s] */
  double     level;
  unsigned   can;
  int        most_states;
  double     refuses_from, refuses_to; /* steps that start in between have no response */
  osc_watch *watch;                    /* NULL: nobody counts */
} osc_def;

typedef struct osc_self {
  osc_def            def;
  yoke_port          ports[OSC_MAX_PORTS];
  yoke_subsystem_ops ops;
  yoke_repeat_ops    repeat;
} osc_self;

typedef struct osc_point {
  double t, q[OSC_MAX], v[OSC_MAX], a[OSC_MAX];
  double z[OSC_MAX_PORTS * OSC_MAX_V], z_rate[OSC_MAX_PORTS * OSC_MAX_V]; /* integrals of the ports' positions */
  double lost, lost_rate;                                                 /* by the dampers [J], [W] */
} osc_point;

typedef struct osc_state {
  osc_point        before, now; /* ends of the last micro step */
  int              sign;        /* of the event's function; 0: it is dealt with */
  int              n_found;
  yoke_found_event found[YOKE_MAX_FOUND];
} osc_state;

static const osc_def *osc_of(const yoke_subsystem *s) {
  return &((const osc_self *)s->self)->def;
}

/* ---- motion ---- */

/* Point of a port in inertial axes, from the centre. */
static void osc_arm(const osc_def *d, int port, const double *q, double c[2]) {
  const double *at = d->port[port].at, cosine = cos(q[2]), sine = sin(q[2]);
  c[0] = cosine * at[0] - sine * at[1];
  c[1] = sine * at[0] + cosine * at[1];
}

static int osc_n_v(const osc_def *d) {
  return d->is_planar ? 3 : 1;
}

/* f += what a wrench at a port gives to the freedoms. */
static void osc_add_wrench(const osc_def *d, int port, const double *q, const double *wrench, double *f) {
  double c[2];
  if (!d->is_planar) {
    f[d->port[port].mass] += wrench[0];
    return;
  }
  osc_arm(d, port, q, c);
  f[0] += wrench[0];
  f[1] += wrench[1];
  f[2] += wrench[2] + c[0] * wrench[1] - c[1] * wrench[0];
}

/* What velocities (or accelerations without those of the rotation) of the freedoms are at a port. */
static void osc_at_port(const osc_def *d, int port, const double *q, const double *v, double *out) {
  double c[2];
  if (!d->is_planar) {
    out[0] = v[d->port[port].mass];
    return;
  }
  osc_arm(d, port, q, c);
  out[0] = v[0] - v[2] * c[1];
  out[1] = v[1] + v[2] * c[0];
  out[2] = v[2];
}

static void osc_position(const osc_def *d, int port, const double *q, double *p) {
  double c[2];
  if (!d->is_planar) {
    p[0] = q[d->port[port].mass];
    return;
  }
  osc_arm(d, port, q, c);
  p[0] = q[0] + c[0];
  p[1] = q[1] + c[1];
  p[2] = q[2];
}

/* Accelerations and rates of x at its time under inputs u. */
static void osc_rates(const osc_def *d, osc_point *x, const double *u) {
  const int n_v = osc_n_v(d);
  double    f[OSC_MAX];
  x->lost_rate = 0.0;
  for (int i = 0; i < d->n; ++i) {
    f[i] = d->force[i] - d->stiffness[i] * x->q[i] - d->damping[i] * x->v[i];
    x->lost_rate += d->damping[i] * x->v[i] * x->v[i];
  }
  for (int i = 0; !d->is_planar && i + 1 < d->n; ++i) {
    const double rate  = x->v[i + 1] - x->v[i];
    const double force = d->between[i] * (x->q[i + 1] - x->q[i]) + d->between_damping[i] * rate;
    f[i] += force;
    f[i + 1] -= force;
    x->lost_rate += d->between_damping[i] * rate * rate;
  }
  for (int k = 0; k < d->n_ports; ++k) {
    osc_add_wrench(d, k, x->q, u + k * n_v, f);
    osc_position(d, k, x->q, x->z_rate + k * n_v);
  }
  for (int i = 0; i < d->n; ++i) x->a[i] = f[i] / d->mass[i];
}

static void osc_inputs(const yoke_signal *u, double t, yoke_side side, double *out) {
  yoke_signal_value(u, t, side, 0, out);
}

/* to = from + h rates. */
static osc_point osc_go(const osc_def *d, const osc_point *from, const osc_point *rates, double h) {
  osc_point to = *from;
  to.t         = from->t + h;
  to.lost      = from->lost + h * rates->lost_rate;
  for (int i = 0; i < d->n; ++i) {
    to.q[i] = from->q[i] + h * rates->v[i];
    to.v[i] = from->v[i] + h * rates->a[i];
  }
  for (int k = 0; k < d->n_ports * osc_n_v(d); ++k) to.z[k] = from->z[k] + h * rates->z_rate[k];
  return to;
}

/* One step of the classical method, all inside one piece of the inputs. */
static void osc_micro_step(const osc_def *d, osc_state *x, const yoke_signal *u, double t_end) {
  const double h = t_end - x->now.t;
  double       at_start[OSC_MAX_PORTS * OSC_MAX_V], middle[OSC_MAX_PORTS * OSC_MAX_V], end[OSC_MAX_PORTS * OSC_MAX_V];
  osc_inputs(u, x->now.t, YOKE_SIDE_RIGHT, at_start);
  osc_inputs(u, x->now.t + 0.5 * h, YOKE_SIDE_LEFT, middle);
  osc_inputs(u, t_end, YOKE_SIDE_LEFT, end);
  osc_point stage[4];
  stage[0] = x->now;
  osc_rates(d, &stage[0], at_start);
  for (int i = 1; i < 4; ++i) {
    stage[i] = osc_go(d, &x->now, &stage[i - 1], i < 3 ? 0.5 * h : h);
    osc_rates(d, &stage[i], i < 3 ? middle : end);
  }
  osc_point mean = stage[0];
  mean.lost_rate = (stage[0].lost_rate + 2.0 * (stage[1].lost_rate + stage[2].lost_rate) + stage[3].lost_rate) / 6.0;
  for (int i = 0; i < d->n; ++i) {
    mean.v[i] = (stage[0].v[i] + 2.0 * (stage[1].v[i] + stage[2].v[i]) + stage[3].v[i]) / 6.0;
    mean.a[i] = (stage[0].a[i] + 2.0 * (stage[1].a[i] + stage[2].a[i]) + stage[3].a[i]) / 6.0;
  }
  for (int k = 0; k < d->n_ports * osc_n_v(d); ++k)
    mean.z_rate[k] = (stage[0].z_rate[k] + 2.0 * (stage[1].z_rate[k] + stage[2].z_rate[k]) + stage[3].z_rate[k]) / 6.0;
  x->before = stage[0];
  x->now    = osc_go(d, &stage[0], &mean, h);
  x->now.t  = t_end;
  osc_rates(d, &x->now, end);
}

static double osc_hermite(double s, double h, double x0, double r0, double x1, double r1) {
  const double b = s * s * (3.0 - 2.0 * s);
  return (1.0 - b) * x0 + b * x1 + h * s * (1.0 - s) * ((1.0 - s) * r0 - s * r1);
}

/* Inside the last micro step; accelerations and rates are not set. */
static osc_point osc_dense(const osc_def *d, const osc_state *x, double t) {
  const osc_point *a = &x->before, *b = &x->now;
  const double     h   = b->t - a->t;
  const double     s   = h > 0.0 ? (t - a->t) / h : 1.0;
  osc_point        out = *b;
  if (t == b->t) return out;
  out.t    = t;
  out.lost = osc_hermite(s, h, a->lost, a->lost_rate, b->lost, b->lost_rate);
  for (int i = 0; i < d->n; ++i) {
    out.q[i] = osc_hermite(s, h, a->q[i], a->v[i], b->q[i], b->v[i]);
    out.v[i] = osc_hermite(s, h, a->v[i], a->a[i], b->v[i], b->a[i]);
  }
  for (int k = 0; k < d->n_ports * osc_n_v(d); ++k)
    out.z[k] = osc_hermite(s, h, a->z[k], a->z_rate[k], b->z[k], b->z_rate[k]);
  return out;
}

/* ---- outputs ---- */

static void osc_show(const osc_def *d, const osc_point *x, double *y) {
  const int n_v = osc_n_v(d);
  for (int k = 0; k < d->n_spare; ++k) *y++ = 0.0;
  for (int k = 0; k < d->n_ports; ++k, y += 4 * n_v) {
    osc_position(d, k, x->q, y);
    osc_at_port(d, k, x->q, x->v, y + n_v);
    osc_at_port(d, k, x->q, x->a, y + 2 * n_v);
    if (d->is_planar) {
      double c[2];
      osc_arm(d, k, x->q, c);
      for (int i = 0; i < 2; ++i) y[2 * n_v + i] -= x->v[2] * x->v[2] * c[i];
    }
    memcpy(y + 3 * n_v, x->z + k * n_v, (size_t)n_v * sizeof *y);
  }
}

/* Handles >= 0: positions, velocities, then energies as YOKE_ENERGY_... counts them. */
static double osc_value(const osc_def *d, const osc_point *x, const double *y, int64_t handle) {
  if (handle < 0) return y[-1 - handle];
  if (handle < d->n) return x->q[handle];
  if (handle < 2 * d->n) return x->v[handle - d->n];
  double kinetic = 0.0, potential = 0.0;
  for (int i = 0; i < d->n; ++i) {
    kinetic += 0.5 * d->mass[i] * x->v[i] * x->v[i];
    potential += (0.5 * d->stiffness[i] * x->q[i] - d->force[i]) * x->q[i];
  }
  for (int i = 0; !d->is_planar && i + 1 < d->n; ++i)
    potential += 0.5 * d->between[i] * (x->q[i + 1] - x->q[i]) * (x->q[i + 1] - x->q[i]);
  switch (handle - 2 * d->n) {
  case YOKE_ENERGY_KINETIC: return kinetic;
  case YOKE_ENERGY_POTENTIAL: return potential;
  case YOKE_ENERGY_DISSIPATED: return x->lost;
  default: return 0.0;
  }
}

static void osc_values(const osc_def *d, osc_point *x, const yoke_signal *u, yoke_side side, int n,
                       const int64_t *handles, double *values) {
  double y[OSC_MAX_SPARE + OSC_MAX_PORTS * 4 * OSC_MAX_V], inputs[OSC_MAX_PORTS * OSC_MAX_V];
  osc_inputs(u, x->t, side, inputs);
  osc_rates(d, x, inputs);
  osc_show(d, x, y);
  for (int i = 0; i < n; ++i) values[i] = osc_value(d, x, y, handles[i]);
}

/* ---- core ---- */

static void osc_destroy(yoke_subsystem *s) {
  yoke_subsystem_free(s);
}

static yoke_status osc_start(const yoke_subsystem *s, void *scratch, void *state, double t, const yoke_signal *u,
                             yoke_context *ctx) {
  (void)scratch, (void)ctx;
  const osc_def *d = osc_of(s);
  osc_state     *x = state;
  double         inputs[OSC_MAX_PORTS * OSC_MAX_V];
  *x = (osc_state){.now = {.t = t}};
  memcpy(x->now.q, d->q, sizeof d->q);
  memcpy(x->now.v, d->v, sizeof d->v);
  osc_inputs(u, t, YOKE_SIDE_RIGHT, inputs);
  osc_rates(d, &x->now, inputs);
  x->before = x->now;
  x->sign   = x->now.q[0] > d->level ? 1 : -1;
  return YOKE_OK;
}

static void osc_look_for_event(const osc_def *d, osc_state *x) {
  const int sign = x->now.q[0] > d->level ? 1 : -1;
  if (sign == x->sign) return;
  if (x->sign != 0 && x->n_found < YOKE_MAX_FOUND) {
    double a = x->before.t, b = x->now.t;
    for (int k = 0; k < 60; ++k) {
      const double t                                                     = 0.5 * (a + b);
      *((osc_dense(d, x, t).q[0] > d->level ? 1 : -1) == sign ? &b : &a) = t;
    }
    x->found[x->n_found++] = (yoke_found_event){.event = 0, .t = b};
  }
  x->sign = sign;
}

static void osc_observe_inside(const osc_def *d, osc_state *x, const yoke_signal *u, yoke_step_request *request) {
  while (request->n_observed < request->n_times && request->times[request->n_observed] <= x->now.t) {
    osc_point point = osc_dense(d, x, request->times[request->n_observed]);
    osc_values(d, &point, u, YOKE_SIDE_LEFT, request->n_handles, request->handles,
               request->values + (ptrdiff_t)request->n_observed * request->n_handles);
    ++request->n_observed;
  }
}

static void osc_count(const osc_def *d, int change) {
  if (d->watch == NULL) return;
  const int now  = atomic_fetch_add(&d->watch->now, change) + change;
  int       most = atomic_load(&d->watch->most);
  while (now > most && !atomic_compare_exchange_weak(&d->watch->most, &most, now)) continue;
  if (change < 0) return;
  atomic_fetch_add(&d->watch->steps, 1);
  nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

/* request NULL: nobody looks. */
static void osc_walk(const osc_def *d, osc_state *x, const yoke_signal *u, double t_end, yoke_step_request *request) {
  while (x->now.t < t_end) { /* from break point to break point of the inputs */
    const double start = x->now.t, end = fmin(yoke_signal_next_break(u, start), t_end);
    const int    n = (int)ceil((end - start) / d->h);
    for (int i = 1; i <= n; ++i) {
      osc_micro_step(d, x, u, i < n ? start + (double)i * (end - start) / (double)n : end);
      if (request == NULL) continue;
      osc_look_for_event(d, x);
      osc_observe_inside(d, x, u, request);
    }
  }
}

static yoke_status osc_output(const yoke_subsystem *s, void *scratch, const void *state, const yoke_signal *u,
                              yoke_side side, double *y);

enum { OSC_MAX_PIECES = 16, OSC_MAX_COEFFICIENTS = 16 };

/* out = u + size du of one direction, coefficients into `c`. */
static yoke_signal osc_shifted(const yoke_signal *u, const yoke_directions *along, int direction, double size,
                               double *c) {
  yoke_signal out   = *u;
  const int   width = u->degree + 1;
  assert_true(u->n_pieces == along->du.n_pieces && u->degree == along->du.degree && width <= OSC_MAX_COEFFICIENTS);
  assert_memory_equal(u->t, along->du.t, (size_t)(u->n_pieces + 1) * sizeof *u->t);
  memcpy(c, u->c, (size_t)(u->n_pieces * u->n * width) * sizeof *c);
  for (int p = 0; p < u->n_pieces; ++p) {
    for (int e = 0; e < along->n_entries; ++e) {
      assert_true(e == 0 || along->direction[e - 1] <= along->direction[e]);
      for (int j = 0; along->direction[e] == direction && j < width; ++j)
        c[(p * u->n + along->input[e]) * width + j] += size * along->du.c[(p * along->n_entries + e) * width + j];
    }
  }
  out.c = c;
  return out;
}

/* Response of the step from `start` that the request describes: central differences of its own steps, which are fixed. On a line the
 * motion is linear in the inputs, and they are exact. */
static void osc_respond(const yoke_subsystem *s, const osc_state *start, const yoke_signal *u,
                        const yoke_step_request *request) {
  const osc_def *d    = osc_of(s);
  yoke_response *r    = request->response;
  const double   size = d->is_planar ? 1e-3 : 1.0;
  double         y[2][OSC_MAX_SPARE + OSC_MAX_PORTS * 4 * OSC_MAX_V];
  r->is_made = !(request->t >= d->refuses_from && request->t < d->refuses_to);
  if (!r->is_made) return;
  for (int k = 0; k < r->directions.n; ++k) {
    for (int sign = 0; sign < 2; ++sign) {
      osc_state         x       = *start;
      const yoke_signal shifted = osc_shifted(u, &r->directions, k, sign == 0 ? -size : size, r->room);
      osc_walk(d, &x, &shifted, request->t_end, NULL);
      (void)osc_output(s, NULL, &x, &shifted, YOKE_SIDE_LEFT, y[sign]);
    }
    for (int i = 0; i < s->ny; ++i) r->dy[k * s->ny + i] = (y[1][i] - y[0][i]) / (2.0 * size);
  }
  if (d->watch != NULL) atomic_fetch_add(&d->watch->responses, 1);
}

static yoke_status osc_step(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u,
                            yoke_step_request *request, yoke_context *ctx) {
  (void)scratch, (void)ctx;
  const osc_def  *d     = osc_of(s);
  osc_state      *x     = state;
  const osc_state start = *x;
  osc_count(d, 1);
  x->n_found = 0;
  osc_walk(d, x, u, request->t_end, request);
  if (request->response != NULL && s->ops->response != NULL) osc_respond(s, &start, u, request);
  osc_count(d, -1);
  return YOKE_OK;
}

static yoke_status osc_output(const yoke_subsystem *s, void *scratch, const void *state, const yoke_signal *u,
                              yoke_side side, double *y) {
  (void)scratch;
  const osc_def *d = osc_of(s);
  osc_point      x = ((const osc_state *)state)->now;
  double         inputs[OSC_MAX_PORTS * OSC_MAX_V];
  osc_inputs(u, x.t, side, inputs);
  osc_rates(d, &x, inputs);
  osc_show(d, &x, y);
  return YOKE_OK;
}

static void osc_accept(const yoke_subsystem *s, void *state) {
  osc_state *x = state;
  (void)s;
  for (int k = 0; k < OSC_MAX_PORTS * OSC_MAX_V; ++k) {
    x->before.z[k] -= x->now.z[k];
    x->now.z[k] = 0.0;
  }
}

/* ---- abilities ---- */

static yoke_status osc_copy(const yoke_subsystem *s, void *dst, const void *src) {
  (void)s;
  memcpy(dst, src, sizeof(osc_state));
  return YOKE_OK;
}

/* M^-1 of what a wrench at a port gives. */
static void osc_answer(const osc_def *d, int port, const double *q, const double *wrench, double *a) {
  memset(a, 0, OSC_MAX * sizeof *a);
  osc_add_wrench(d, port, q, wrench, a);
  for (int i = 0; i < d->n; ++i) a[i] /= d->mass[i];
}

static yoke_status osc_instant_response(const yoke_subsystem *s, void *scratch, const void *state, const yoke_signal *u,
                                        yoke_side side, double *dy_du) {
  (void)scratch, (void)u, (void)side;
  const osc_def *d   = osc_of(s);
  const double  *q   = ((const osc_state *)state)->now.q;
  const int      n_v = osc_n_v(d);
  memset(dy_du, 0, (size_t)s->nu * (size_t)s->ny * sizeof *dy_du);
  for (int k = 0; k < s->nu; ++k) {
    double wrench[OSC_MAX_V] = {0}, a[OSC_MAX];
    wrench[k % n_v]          = 1.0;
    osc_answer(d, k / n_v, q, wrench, a);
    for (int port = 0; port < d->n_ports; ++port)
      osc_at_port(d, port, q, a, dy_du + k * s->ny + d->n_spare + (4 * port + 2) * n_v);
  }
  return YOKE_OK;
}

static const yoke_instant_ops osc_instant = {.response = osc_instant_response};

static size_t osc_room(const yoke_subsystem *s, int n_directions) {
  return n_directions > 0 ? (size_t)s->nu * OSC_MAX_PIECES * OSC_MAX_COEFFICIENTS * sizeof(double) : 0;
}

static const yoke_response_ops osc_response = {.room = osc_room};

static yoke_found_events osc_found(const yoke_subsystem *s, const void *state) {
  const osc_state *x = state;
  (void)s;
  return (yoke_found_events){.n = x->n_found, .list = x->found, .until = (double)INFINITY};
}

static double osc_ahead(const yoke_subsystem *s, void *scratch, const void *state, int event) {
  const osc_point *x = &((const osc_state *)state)->now;
  (void)scratch, (void)event;
  return x->t + (osc_of(s)->level - x->q[0]) / x->v[0];
}

static void osc_done(const yoke_subsystem *s, void *scratch, void *state, int event) {
  (void)s, (void)scratch, (void)event;
  ((osc_state *)state)->sign = 0;
}

static void osc_begin(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u) {
  osc_state *x = state;
  (void)scratch, (void)u;
  if (x->sign != 0) x->sign = x->now.q[0] > osc_of(s)->level ? 1 : -1;
}

static yoke_status osc_act(const yoke_subsystem *s, void *scratch, void *state, int event, const yoke_signal *u,
                           yoke_context *ctx) {
  (void)scratch, (void)event, (void)ctx;
  osc_state *x = state;
  double     inputs[OSC_MAX_PORTS * OSC_MAX_V];
  x->now.v[0] = -x->now.v[0];
  osc_inputs(u, x->now.t, YOKE_SIDE_RIGHT, inputs);
  osc_rates(osc_of(s), &x->now, inputs);
  x->before = x->now;
  return YOKE_OK;
}

static const yoke_event_ops osc_events = {
    .found = osc_found, .ahead = osc_ahead, .done = osc_done, .begin = osc_begin, .act = osc_act};

static yoke_status osc_at(const yoke_subsystem *s, void *scratch, const void *state, const yoke_signal *u, double t,
                          yoke_side side, int n, const int64_t *handles, double *values) {
  (void)scratch;
  osc_point point = osc_dense(osc_of(s), state, t);
  osc_values(osc_of(s), &point, u, side, n, handles, values);
  return YOKE_OK;
}

static const yoke_observe_ops osc_observe = {.at = osc_at};

static void osc_energy_handles(const yoke_subsystem *s, int64_t out[YOKE_N_ENERGIES]) {
  for (int i = 0; i < YOKE_N_ENERGIES; ++i) out[i] = 2 * osc_of(s)->n + i;
}

static const yoke_energy_ops osc_energy = {.handles = osc_energy_handles};

static yoke_status osc_row_response(const yoke_subsystem *s, void *scratch, const void *state, int n,
                                    const yoke_port_row *rows, double *W) {
  (void)scratch;
  const osc_def *d = osc_of(s);
  const double  *q = ((const osc_state *)state)->now.q;
  for (int j = 0; j < n; ++j) {
    double a[OSC_MAX];
    osc_answer(d, rows[j].port, q, rows[j].wrench, a);
    for (int i = 0; i < n; ++i) {
      double v[OSC_MAX_V];
      osc_at_port(d, rows[i].port, q, a, v);
      W[i * n + j] = 0.0;
      for (int k = 0; k < osc_n_v(d); ++k) W[i * n + j] += rows[i].wrench[k] * v[k];
    }
  }
  return YOKE_OK;
}

static yoke_status osc_push(const yoke_subsystem *s, void *scratch, void *state, int n, const yoke_port_row *rows,
                            const double *move, const double *kick) {
  (void)scratch;
  const osc_def  *d               = osc_of(s);
  osc_point      *x               = &((osc_state *)state)->now;
  double          change[OSC_MAX] = {0};
  const double   *shares[2]       = {move, kick};
  double *const   where[2]        = {x->q, x->v};
  const osc_point old             = *x;
  for (int l = 0; l < 2; ++l) {
    memset(change, 0, sizeof change);
    for (int j = 0; shares[l] != NULL && j < n; ++j) {
      double a[OSC_MAX];
      osc_answer(d, rows[j].port, old.q, rows[j].wrench, a);
      for (int i = 0; i < d->n; ++i) change[i] += shares[l][j] * a[i];
    }
    for (int i = 0; i < d->n; ++i) where[l][i] += change[i];
  }
  return YOKE_OK;
}

static yoke_status osc_reset_end(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u,
                                 yoke_context *ctx) {
  osc_point *x = &((osc_state *)state)->now;
  double     inputs[OSC_MAX_PORTS * OSC_MAX_V];
  (void)scratch, (void)ctx;
  osc_inputs(u, x->t, YOKE_SIDE_LEFT, inputs);
  osc_rates(osc_of(s), x, inputs);
  return YOKE_OK;
}

static const yoke_reset_ops osc_reset = {.row_response = osc_row_response, .push = osc_push, .reset = osc_reset_end};

static yoke_status osc_pack(const yoke_subsystem *s, const void *state, yoke_pack *out, yoke_context *ctx) {
  (void)s, (void)ctx;
  yoke_pack_tag(out, "oscillator");
  yoke_pack_block(out, sizeof(osc_state), state);
  return YOKE_OK;
}

static yoke_status osc_unpack(const yoke_subsystem *s, void *scratch, yoke_unpack *in, void *state, yoke_context *ctx) {
  (void)s, (void)scratch;
  yoke_unpack_tag(in, "oscillator");
  const void *block = yoke_unpack_block(in, sizeof(osc_state));
  YOKE_TRY(yoke_unpack_check(in, ctx));
  memcpy(state, block, sizeof(osc_state));
  return YOKE_OK;
}

static const yoke_pack_ops osc_bytes = {.pack = osc_pack, .unpack = osc_unpack};

/* ---- creation ---- */

/* `make` of a plan's part: `definition` is an osc_def. */
static inline yoke_status osc_make(yoke_context *ctx, const void *definition, yoke_subsystem **out) {
  static const char *const names[OSC_MAX_PORTS] = {"p1", "p2", "p3"};
  const osc_def           *d                    = definition;
  const int                n_v                  = osc_n_v(d);
  YOKE_TRY(yoke_subsystem_new(ctx, d->name, sizeof(osc_self), out));
  yoke_subsystem *s    = *out;
  osc_self       *self = s->self;
  self->def            = *d;
  self->repeat         = (yoke_repeat_ops){.copy = osc_copy, .most_states = d->most_states};
  self->ops            = (yoke_subsystem_ops){.kind     = "oscillator",
                                              .destroy  = osc_destroy,
                                              .start    = osc_start,
                                              .step     = osc_step,
                                              .output   = osc_output,
                                              .accept   = osc_accept,
                                              .repeat   = d->can & OSC_REPEAT ? &self->repeat : NULL,
                                              .instant  = d->can & OSC_INSTANT ? &osc_instant : NULL,
                                              .response = d->can & OSC_RESPONSE ? &osc_response : NULL,
                                              .events   = d->can & OSC_EVENTS ? &osc_events : NULL,
                                              .observe  = d->can & OSC_OBSERVE ? &osc_observe : NULL,
                                              .energy   = d->can & OSC_ENERGY ? &osc_energy : NULL,
                                              .reset    = d->can & OSC_RESET ? &osc_reset : NULL,
                                              .pack     = d->can & OSC_PACK ? &osc_bytes : NULL};
  s->ops               = &self->ops;
  s->nu                = d->n_ports * n_v;
  s->ny                = d->n_spare + 4 * s->nu;
  s->n_ports           = d->n_ports;
  s->ports             = self->ports;
  s->state_size        = sizeof(osc_state);
  for (int k = 0; k < d->n_ports; ++k) {
    self->ports[k] = (yoke_port){.name      = names[k],
                                 .shape     = d->is_planar ? &yoke_shape_plane : &yoke_shape_line,
                                 .y_at      = d->n_spare + 4 * k * n_v,
                                 .n_y       = 4 * n_v,
                                 .takes     = YOKE_TAKES_WRENCH,
                                 .wrench_at = k * n_v};
  }
  return YOKE_OK;
}

#endif
