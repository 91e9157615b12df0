/* Types of subsystems as a user writes them, with include/yoke only.
 *   mass      on a line, spring and damper to x = 0, port "end" of shape line; parameters mass, stiffness, damping, x, v, level. Steps of the
 *             classical Runge-Kutta method. Its abilities are chosen by flags. Event "passes": x passes `level`; it then turns v round
 *   gain      output "out" = k times input "in"; parameter k. Without a state
 *   sampled   output "torque" = -(kp angle + kd rate) of the last sample; parameters kp, kd, period. Event "sample" */
#ifndef YOKE_TESTS_USER_TYPES_H
#define YOKE_TESTS_USER_TYPES_H

#include <yoke/subsystem.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- arguments ---- */

typedef struct number_def {
  const char *name;
  double     *value; /* its standard before */
} number_def;

static inline yoke_status read_numbers(yoke_context *ctx, int n_arguments, const yoke_user_argument *arguments, int n,
                                       const number_def *defs) {
  for (int i = 0; i < n_arguments; ++i) {
    int k = 0;
    while (k < n && strcmp(defs[k].name, arguments[i].name) != 0) ++k;
    if (k == n) return yoke_fail(ctx, YOKE_E_MODEL, "parameter '%s' is not known", arguments[i].name);
    if (arguments[i].text != NULL)
      return yoke_fail(ctx, YOKE_E_MODEL, "parameter '%s' is '%s', expected a number", arguments[i].name,
                       arguments[i].text);
    *defs[k].value = arguments[i].value;
  }
  return YOKE_OK;
}

/* ---- mass ---- */

enum {
  MASS_REPEAT   = 1,
  MASS_INSTANT  = 2,
  MASS_RESPONSE = 4,
  MASS_EVENTS   = 8,
  MASS_ENERGY   = 16,
  MASS_INSIDE   = 32,
  MASS_HEAP     = 64, /* its state is a pointer; then it packs by itself */
  MASS_RECORDS  = 128 /* its events do not act */
};

typedef struct mass_self {
  unsigned can;
  double   mass, stiffness, damping, x, v, level, h;
} mass_self;

typedef struct mass_state {
  double x, v, lost; /* lost: in the damper [J] */
  double t0, x0, v0; /* begin of the last step */
  int    side;       /* of level */
  int    n_accepted;
} mass_state;

static inline mass_state *mass_at(const mass_self *self, const void *state) {
  return self->can & MASS_HEAP ? *(mass_state *const *)state : (mass_state *)(uintptr_t)state;
}

static inline double mass_a(const mass_self *d, double x, double v, double force) {
  return (force - d->stiffness * x - d->damping * v) / d->mass;
}

/* One step of Runge-Kutta. */
static inline void mass_micro(const mass_self *d, mass_state *s, const yoke_signal *u, double t, double h) {
  static const double at[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
  double              x = s->x, v = s->v, dx = 0.0, dv = 0.0, lost = 0.0, kx = 0.0, kv = 0.0;
  for (int i = 0; i < 4; ++i) {
    double       force;
    const double xi = x + at[i] * h * kx, vi = v + at[i] * h * kv;
    yoke_signal_value(u, t + at[i] * h, i == 3 ? YOKE_SIDE_LEFT : YOKE_SIDE_RIGHT, 0, &force);
    kx = vi;
    kv = mass_a(d, xi, vi, force);
    dx += weight[i] / 6.0 * kx;
    dv += weight[i] / 6.0 * kv;
    lost += weight[i] / 6.0 * d->damping * vi * vi;
  }
  s->x = x + h * dx;
  s->v = v + h * dv;
  s->lost += h * lost;
}

static inline int mass_side(const mass_self *d, const mass_state *s) {
  return s->x > d->level ? 1 : -1;
}

/* Where inside the micro step of h from `start` the level is passed; *s becomes the state there. */
static inline double mass_locate(const mass_self *d, const mass_state *start, mass_state *s, const yoke_signal *u,
                                 double t, double h) {
  double a = 0.0, b = h;
  while (b - a > 1e-15 * (fabs(t) + h)) {
    const double c = 0.5 * (a + b);
    *s             = *start;
    mass_micro(d, s, u, t, c);
    *(mass_side(d, s) == start->side ? &a : &b) = c;
    if (c == a && c == b) break;
  }
  *s = *start;
  mass_micro(d, s, u, t, b);
  return t + b;
}

static inline yoke_status mass_step(void *object, void *state, const yoke_signal *u, yoke_user_step *step,
                                    yoke_context *ctx) {
  const mass_self *d = object;
  mass_state      *s = mass_at(d, state);
  (void)ctx;
  s->t0 = step->t;
  s->x0 = s->x;
  s->v0 = s->v;
  for (double t = step->t; t < step->t_end;) { /* from break point to break point of the inputs */
    const double end = fmin(yoke_signal_next_break(u, t), step->t_end), begin = t;
    const int    n = (int)ceil((end - begin) / d->h);
    for (int i = 1; i <= n; ++i) {
      const mass_state start = *s;
      const double     next  = i < n ? begin + (double)i * (end - begin) / (double)n : end;
      mass_micro(d, s, u, t, next - t);
      if (d->can & MASS_EVENTS && mass_side(d, s) != s->side) {
        step->t_reached = fmin(mass_locate(d, &start, s, u, t, next - t), step->t_end);
        step->event     = 0;
        s->side         = -s->side;
        return YOKE_OK;
      }
      t = next;
    }
  }
  return YOKE_OK;
}

static inline yoke_status mass_create(yoke_context *ctx, void *user, const char *name, int n_arguments,
                                      const yoke_user_argument *arguments, yoke_user_instance *out) {
  static const yoke_user_port port     = {"end", "line"};
  static const char *const    events[] = {"passes"};
  mass_self                  *d        = malloc(sizeof *d);
  (void)name;
  if (d == NULL) return YOKE_E_MEMORY;
  *d                      = (mass_self){.can = *(const unsigned *)user, .mass = 1.0, .h = 5e-5};
  const number_def defs[] = {{"mass", &d->mass},
                             {"stiffness", &d->stiffness},
                             {"damping", &d->damping},
                             {"x", &d->x},
                             {"v", &d->v},
                             {"level", &d->level},
                             {"h", &d->h}};
  yoke_status      status = read_numbers(ctx, n_arguments, arguments, (int)(sizeof defs / sizeof *defs), defs);
  if (status == YOKE_OK && !(d->mass > 0.0))
    status = yoke_fail(ctx, YOKE_E_MODEL, "parameter 'mass' is %g, expected > 0", d->mass);
  if (status != YOKE_OK) {
    free(d);
    return status;
  }
  out->self       = d;
  out->n_ports    = 1;
  out->ports      = &port;
  out->n_events   = d->can & MASS_EVENTS ? 1 : 0;
  out->events     = events;
  out->state_size = d->can & MASS_HEAP ? sizeof(mass_state *) : sizeof(mass_state);
  return YOKE_OK;
}

static inline void mass_destroy(void *self) {
  free(self);
}

static inline yoke_status mass_take(const mass_self *d, void *state) {
  mass_state **place = state;
  if (d->can & MASS_HEAP && *place == NULL) *place = calloc(1, sizeof **place);
  return d->can & MASS_HEAP && *place == NULL ? YOKE_E_MEMORY : YOKE_OK;
}

static inline yoke_status mass_start(void *object, void *state, double t, const double *u, yoke_context *ctx) {
  const mass_self *d = object;
  (void)u, (void)ctx;
  YOKE_TRY(mass_take(d, state));
  *mass_at(d, state)      = (mass_state){.x = d->x, .v = d->v, .t0 = t, .x0 = d->x, .v0 = d->v};
  mass_at(d, state)->side = mass_side(d, mass_at(d, state));
  return YOKE_OK;
}

static inline yoke_status mass_output(void *object, const void *state, double t, const double *u, double *y) {
  const mass_self  *d = object;
  const mass_state *s = mass_at(d, state);
  (void)t;
  y[0] = s->x;
  y[1] = s->v;
  y[2] = mass_a(d, s->x, s->v, u[0]);
  return YOKE_OK;
}

static inline void mass_accept(void *object, void *state) {
  ++mass_at(object, state)->n_accepted;
}

static inline void mass_release(void *object, void *state) {
  const mass_self *d = object;
  if (d->can & MASS_HEAP) free(*(mass_state **)state);
}

static inline yoke_status mass_copy(void *object, void *to, const void *from) {
  YOKE_TRY(mass_take(object, to));
  *mass_at(object, to) = *mass_at(object, from);
  return YOKE_OK;
}

static inline yoke_status mass_instant(void *object, const void *state, double t, const double *u, double *dy_du) {
  (void)state, (void)t, (void)u;
  dy_du[2] = 1.0 / ((const mass_self *)object)->mass;
  return YOKE_OK;
}

/* The motion is linear in the inputs: that of the directions alone, from rest. `from` is not needed for it, but must be the state before. */
static inline yoke_status mass_response(void *object, const void *from, const void *to, const yoke_signal *u,
                                        const yoke_user_step *step, const yoke_user_directions *along, double *dy) {
  const mass_self *d = object;
  (void)u;
  if (mass_at(d, from)->x != mass_at(d, to)->x0 || mass_at(d, from)->v != mass_at(d, to)->v0) return YOKE_E_SUBSYSTEM;
  for (int k = 0; k < along->n; ++k) {
    mass_state s    = {0};
    double     zero = 0.0, *out = dy + 3 * k;
    for (int e = 0; e < along->n_entries; ++e) {
      if (along->direction[e] != k) continue;
      double    c[64], end[64];
      const int width = along->du.degree + 1;
      for (int p = 0; p < along->du.n_pieces; ++p)
        memcpy(c + p * width, along->du.c + (p * along->du.n + e) * width, (size_t)width * sizeof *c);
      yoke_signal    one   = along->du;
      yoke_user_step quiet = *step;
      mass_self      still = *d;
      one.n                = 1;
      one.c                = c;
      still.can            = 0;
      mass_step(&still, &s, &one, &quiet, NULL);
      yoke_signal_value(&along->du, step->t_reached, YOKE_SIDE_LEFT, 0, end);
      zero += end[e];
    }
    out[0] = s.x;
    out[1] = s.v;
    out[2] = mass_a(d, s.x, s.v, zero);
  }
  return YOKE_OK;
}

static inline yoke_status mass_act(void *object, void *state, int event, double t, const double *u, yoke_context *ctx) {
  mass_state *s = mass_at(object, state);
  (void)event, (void)t, (void)u, (void)ctx;
  s->v = -s->v;
  return YOKE_OK;
}

static inline void mass_energy(void *object, const void *state, double energy[4]) {
  const mass_self  *d = object;
  const mass_state *s = mass_at(d, state);
  energy[0]           = 0.5 * d->mass * s->v * s->v;
  energy[1]           = 0.5 * d->stiffness * s->x * s->x;
  energy[2]           = s->lost;
  energy[3]           = 0.0;
}

static inline size_t mass_n_bytes(void *object, const void *state) {
  (void)object, (void)state;
  return sizeof(mass_state);
}

static inline yoke_status mass_pack(void *object, const void *state, void *bytes) {
  memcpy(bytes, mass_at(object, state), sizeof(mass_state));
  return YOKE_OK;
}

static inline yoke_status mass_unpack(void *object, void *state, const void *bytes, size_t n_bytes) {
  if (n_bytes != sizeof(mass_state)) return YOKE_E_SUBSYSTEM;
  YOKE_TRY(mass_take(object, state));
  *mass_at(object, state) = *(const mass_state *)bytes;
  return YOKE_OK;
}

/* What nothing but `inside` shows: 1000 s more than the position. */
static inline yoke_status mass_inside(void *object, const void *state, double t, const double *u, double *y) {
  YOKE_TRY(mass_output(object, state, t, u, y));
  y[0] = 1000.0 + t;
  return YOKE_OK;
}

/* `can` must outlive the type. */
static inline yoke_user_type mass_type(const unsigned *can) {
  static const yoke_user_repeat   bytes    = {.size = sizeof bytes};
  static const yoke_user_repeat   repeat   = {.size = sizeof repeat, .copy = mass_copy};
  static const yoke_user_instant  instant  = {.size = sizeof instant, .response = mass_instant};
  static const yoke_user_response response = {.size = sizeof response, .response = mass_response};
  static const yoke_user_events   events   = {.size = sizeof events, .act = mass_act};
  static const yoke_user_events   records  = {.size = sizeof records};
  static const yoke_user_energy   energy   = {.size = sizeof energy, .values = mass_energy};
  static const yoke_user_pack     pack     = {
              .size = sizeof pack, .n_bytes = mass_n_bytes, .pack = mass_pack, .unpack = mass_unpack};
  static const yoke_user_inside inside = {.size = sizeof inside, .output = mass_inside};
  return (yoke_user_type){
      .size     = sizeof(yoke_user_type),
      .abi      = YOKE_SUBSYSTEM_ABI,
      .name     = "mass",
      .summary  = "a mass on a line",
      .user     = (void *)(uintptr_t)can,
      .create   = mass_create,
      .destroy  = mass_destroy,
      .start    = mass_start,
      .step     = mass_step,
      .output   = mass_output,
      .accept   = mass_accept,
      .release  = mass_release,
      .repeat   = !(*can & MASS_REPEAT) ? NULL
                  : *can & MASS_HEAP    ? &repeat
                                        : &bytes,
      .instant  = *can & MASS_INSTANT ? &instant : NULL,
      .response = *can & MASS_RESPONSE ? &response : NULL,
      .events   = *can & MASS_RECORDS  ? &records
                  : *can & MASS_EVENTS ? &events
                                       : NULL,
      .energy   = *can & MASS_ENERGY ? &energy : NULL,
      .pack     = *can & MASS_HEAP ? &pack : NULL,
      .inside   = *can & MASS_INSIDE ? &inside : NULL,
  };
}

/* ---- gain ---- */

static inline yoke_status gain_create(yoke_context *ctx, void *user, const char *name, int n_arguments,
                                      const yoke_user_argument *arguments, yoke_user_instance *out) {
  static const yoke_user_signal in = {"in", NULL}, result = {"out", NULL};
  double                       *k = malloc(sizeof *k);
  (void)user, (void)name;
  if (k == NULL) return YOKE_E_MEMORY;
  *k                       = 1.0;
  out->self                = k;
  out->n_inputs            = 1;
  out->n_outputs           = 1;
  out->inputs              = &in;
  out->outputs             = &result;
  const yoke_status status = read_numbers(ctx, n_arguments, arguments, 1, &(number_def){"k", k});
  if (status != YOKE_OK) free(k);
  return status;
}

static inline yoke_status gain_start(void *self, void *state, double t, const double *u, yoke_context *ctx) {
  (void)self, (void)state, (void)t, (void)u, (void)ctx;
  return YOKE_OK;
}

static inline yoke_status gain_step(void *self, void *state, const yoke_signal *u, yoke_user_step *step,
                                    yoke_context *ctx) {
  (void)self, (void)state, (void)u, (void)step, (void)ctx;
  return YOKE_OK;
}

static inline yoke_status gain_output(void *self, const void *state, double t, const double *u, double *y) {
  (void)state, (void)t;
  y[0] = *(const double *)self * u[0];
  return YOKE_OK;
}

static inline yoke_status gain_instant(void *self, const void *state, double t, const double *u, double *dy_du) {
  (void)state, (void)t, (void)u;
  dy_du[0] = *(const double *)self;
  return YOKE_OK;
}

static inline yoke_user_type gain_type(void) {
  static const yoke_user_repeat  repeat  = {.size = sizeof repeat};
  static const yoke_user_instant instant = {.size = sizeof instant, .response = gain_instant};
  return (yoke_user_type){.size    = sizeof(yoke_user_type),
                          .abi     = YOKE_SUBSYSTEM_ABI,
                          .name    = "gain",
                          .create  = gain_create,
                          .destroy = free,
                          .start   = gain_start,
                          .step    = gain_step,
                          .output  = gain_output,
                          .repeat  = &repeat,
                          .instant = &instant};
}

/* ---- sampled ---- */

typedef struct sampled_self {
  double kp, kd, period;
} sampled_self;

typedef struct sampled_state {
  double n, torque; /* samples taken, value that is held */
} sampled_state;

static inline yoke_status sampled_create(yoke_context *ctx, void *user, const char *name, int n_arguments,
                                         const yoke_user_argument *arguments, yoke_user_instance *out) {
  static const yoke_user_signal inputs[] = {{"angle", "rad"}, {"rate", "rad/s"}}, torque = {"torque", "N m"};
  static const char *const      events[] = {"sample"};
  sampled_self                 *d        = malloc(sizeof *d);
  (void)user, (void)name;
  if (d == NULL) return YOKE_E_MEMORY;
  *d                       = (sampled_self){.period = 1e-3};
  const number_def  defs[] = {{"kp", &d->kp}, {"kd", &d->kd}, {"period", &d->period}};
  const yoke_status status = read_numbers(ctx, n_arguments, arguments, 3, defs);
  if (status != YOKE_OK) free(d);
  if (status != YOKE_OK) return status;
  out->self       = d;
  out->n_inputs   = 2;
  out->inputs     = inputs;
  out->n_outputs  = 1;
  out->outputs    = &torque;
  out->n_events   = 1;
  out->events     = events;
  out->state_size = sizeof(sampled_state);
  return YOKE_OK;
}

static inline yoke_status sampled_act(void *self, void *state, int event, double t, const double *u,
                                      yoke_context *ctx) {
  const sampled_self *d = self;
  (void)event, (void)t, (void)ctx;
  ((sampled_state *)state)->torque = -(d->kp * u[0] + d->kd * u[1]);
  return YOKE_OK;
}

static inline yoke_status sampled_start(void *self, void *state, double t, const double *u, yoke_context *ctx) {
  memset(state, 0, sizeof(sampled_state));
  return sampled_act(self, state, 0, t, u, ctx);
}

/* The times of the samples are 1, 2, ... periods. A step that ends there but for rounding ends with the sample. */
static inline yoke_status sampled_step(void *self, void *state, const yoke_signal *u, yoke_user_step *step,
                                       yoke_context *ctx) {
  sampled_state *s      = state;
  const double   period = ((const sampled_self *)self)->period, next = (s->n + 1.0) * period;
  (void)u, (void)ctx;
  if (next > step->t_end + 1e-9 * period) return YOKE_OK;
  step->t_reached = fmin(next, step->t_end);
  step->event     = 0;
  ++s->n;
  return YOKE_OK;
}

static inline yoke_status sampled_output(void *self, const void *state, double t, const double *u, double *y) {
  (void)self, (void)t, (void)u;
  y[0] = ((const sampled_state *)state)->torque;
  return YOKE_OK;
}

static inline yoke_user_type sampled_type(void) {
  static const yoke_user_repeat repeat = {.size = sizeof repeat};
  static const yoke_user_events events = {.size = sizeof events, .act = sampled_act};
  return (yoke_user_type){.size    = sizeof(yoke_user_type),
                          .abi     = YOKE_SUBSYSTEM_ABI,
                          .name    = "sampled",
                          .summary = "a controller that samples",
                          .create  = sampled_create,
                          .destroy = free,
                          .start   = sampled_start,
                          .step    = sampled_step,
                          .output  = sampled_output,
                          .repeat  = &repeat,
                          .events  = &events};
}

#endif
