/* Block: a subsystem of plain signals, x' = A x + B u, y = C x + D u, that is not native and shares no code with those that are. Sampled blocks
 * hold y = D u of the last multiple of their period. Steps of the classical Runge-Kutta method of at most `h`. Port k is input k, port n_u + k
 * output k, and the last port shows all outputs together. What it can do is chosen by flags. Include after <cmocka.h>. */
#ifndef YOKE_TESTS_BLOCK_H
#define YOKE_TESTS_BLOCK_H

#include "subsystem/subsystem.h"
#include <math.h>
#include <string.h>

enum { BLOCK_MAX = 3, BLOCK_PORTS = 2 * BLOCK_MAX + 1 };
enum { BLOCK_REPEAT = 1, BLOCK_INSTANT = 2, BLOCK_PACK = 4, BLOCK_ALL = 7 };

typedef struct block_def {
  const char *name;
  int         n_x, n_u, n_y;
  double      A[BLOCK_MAX][BLOCK_MAX], B[BLOCK_MAX][BLOCK_MAX], C[BLOCK_MAX][BLOCK_MAX], D[BLOCK_MAX][BLOCK_MAX];
  double      x[BLOCK_MAX]; /* start */
  double      h;            /* largest step [s] */
  double      period;       /* > 0: sampled */
  double alternating; /* sampled: the held value times (-1)^k alternating^k, k the number of the sample; 0: as it is */
  unsigned can;
  int     *clock, *stepped_at; /* where the clock stood when it was stepped last; NULL: nobody asks */
} block_def;

typedef struct block_self {
  block_def          def;
  yoke_port          ports[BLOCK_PORTS];
  yoke_subsystem_ops ops;
} block_self;

typedef struct block_state {
  double t, x[BLOCK_MAX], held[BLOCK_MAX];
} block_state;

static const block_def *block_of(const yoke_subsystem *s) {
  return &((const block_self *)s->self)->def;
}

static void block_rates(const block_def *d, const double *x, const double *u, double *rate) {
  for (int i = 0; i < d->n_x; ++i) {
    rate[i] = 0.0;
    for (int k = 0; k < d->n_x; ++k) rate[i] += d->A[i][k] * x[k];
    for (int k = 0; k < d->n_u; ++k) rate[i] += d->B[i][k] * u[k];
  }
}

static void block_outputs(const block_def *d, const double *x, const double *u, double *y) {
  for (int i = 0; i < d->n_y; ++i) {
    y[i] = 0.0;
    for (int k = 0; k < d->n_x; ++k) y[i] += d->C[i][k] * x[k];
    for (int k = 0; k < d->n_u; ++k) y[i] += d->D[i][k] * u[k];
  }
}

static void block_micro_step(const block_def *d, block_state *s, const yoke_signal *u, double t_end) {
  static const double part[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
  const double        h              = t_end - s->t;
  double              sum[BLOCK_MAX] = {0}, rate[BLOCK_MAX] = {0};
  for (int stage = 0; stage < 4; ++stage) {
    double x[BLOCK_MAX], input[BLOCK_MAX];
    for (int i = 0; i < d->n_x; ++i) x[i] = s->x[i] + part[stage] * h * rate[i];
    yoke_signal_value(u, s->t + part[stage] * h, stage == 0 ? YOKE_SIDE_RIGHT : YOKE_SIDE_LEFT, 0, input);
    block_rates(d, x, input, rate);
    for (int i = 0; i < d->n_x; ++i) sum[i] += weight[stage] * rate[i];
  }
  for (int i = 0; i < d->n_x; ++i) s->x[i] += h * sum[i];
  s->t = t_end;
}

/* Number of the last sample up to t. */
static double block_sample(const block_def *d, double t) {
  return floor(t / d->period + 1e-9);
}

static void block_hold(const block_def *d, block_state *s, const yoke_signal *u, yoke_side side) {
  double       input[BLOCK_MAX];
  const double sample = block_sample(d, s->t);
  const double factor = d->alternating != 0.0 ? pow(-d->alternating, sample) : 1.0;
  yoke_signal_value(u, s->t, side, 0, input);
  block_outputs(d, s->x, input, s->held);
  for (int i = 0; i < d->n_y; ++i) s->held[i] *= factor;
}

static yoke_status block_start(const yoke_subsystem *s, void *scratch, void *state, double t, const yoke_signal *u,
                               yoke_context *ctx) {
  block_state *x = state;
  (void)scratch, (void)ctx;
  *x = (block_state){.t = t};
  memcpy(x->x, block_of(s)->x, sizeof x->x);
  if (block_of(s)->period > 0.0) block_hold(block_of(s), x, u, YOKE_SIDE_RIGHT);
  return YOKE_OK;
}

static yoke_status block_step(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u,
                              yoke_step_request *request, yoke_context *ctx) {
  const block_def *d = block_of(s);
  block_state     *x = state;
  (void)scratch, (void)ctx;
  if (d->clock != NULL) *d->stepped_at = ++*d->clock;
  const double before = d->period > 0.0 ? block_sample(d, x->t) : 0.0;
  while (x->t < request->t_end) {
    const double start = x->t, end = fmin(yoke_signal_next_break(u, start), request->t_end);
    const int    n = (int)ceil((end - start) / d->h);
    for (int i = 1; i <= n; ++i) block_micro_step(d, x, u, i < n ? start + (double)i * (end - start) / (double)n : end);
  }
  if (d->period > 0.0 && block_sample(d, x->t) > before)
    block_hold(d, x, u, YOKE_SIDE_LEFT); /* samples are macro points */
  return YOKE_OK;
}

static yoke_status block_output(const yoke_subsystem *s, void *scratch, const void *state, const yoke_signal *u,
                                yoke_side side, double *y) {
  const block_state *x = state;
  double             input[BLOCK_MAX];
  (void)scratch;
  yoke_signal_value(u, x->t, side, 0, input);
  if (block_of(s)->period > 0.0)
    memcpy(y, x->held, (size_t)block_of(s)->n_y * sizeof *y);
  else
    block_outputs(block_of(s), x->x, input, y);
  return YOKE_OK;
}

static yoke_status block_copy(const yoke_subsystem *s, void *dst, const void *src) {
  (void)s;
  memcpy(dst, src, sizeof(block_state));
  return YOKE_OK;
}

static const yoke_repeat_ops block_repeat = {.copy = block_copy};

static yoke_status block_response(const yoke_subsystem *s, void *scratch, const void *state, const yoke_signal *u,
                                  yoke_side side, double *dy_du) {
  const block_def *d = block_of(s);
  (void)scratch, (void)state, (void)u, (void)side;
  for (int k = 0; k < d->n_u; ++k) {
    for (int i = 0; i < d->n_y; ++i) dy_du[k * d->n_y + i] = d->period > 0.0 ? 0.0 : d->D[i][k];
  }
  return YOKE_OK;
}

static const yoke_instant_ops block_instant = {.response = block_response};

static yoke_status block_pack(const yoke_subsystem *s, const void *state, yoke_pack *out, yoke_context *ctx) {
  (void)s, (void)ctx;
  yoke_pack_block(out, sizeof(block_state), state);
  return YOKE_OK;
}

static yoke_status block_unpack(const yoke_subsystem *s, void *scratch, yoke_unpack *in, void *state,
                                yoke_context *ctx) {
  (void)s, (void)scratch;
  const void *bytes = yoke_unpack_block(in, sizeof(block_state));
  YOKE_TRY(yoke_unpack_check(in, ctx));
  memcpy(state, bytes, sizeof(block_state));
  return YOKE_OK;
}

static const yoke_pack_ops block_bytes = {.pack = block_pack, .unpack = block_unpack};

static inline yoke_status block_make(yoke_context *ctx, const void *definition, yoke_subsystem **out) {
  static const char *const names[2][BLOCK_MAX] = {{"u1", "u2", "u3"}, {"y1", "y2", "y3"}};
  const block_def         *d                   = definition;
  YOKE_TRY(yoke_subsystem_new(ctx, d->name, sizeof(block_self), out));
  yoke_subsystem *s    = *out;
  block_self     *self = s->self;
  self->def            = *d;
  self->ops            = (yoke_subsystem_ops){.kind    = "block",
                                              .destroy = yoke_subsystem_free,
                                              .start   = block_start,
                                              .step    = block_step,
                                              .output  = block_output,
                                              .repeat  = d->can & BLOCK_REPEAT ? &block_repeat : NULL,
                                              .instant = d->can & BLOCK_INSTANT ? &block_instant : NULL,
                                              .pack    = d->can & BLOCK_PACK ? &block_bytes : NULL};
  s->ops               = &self->ops;
  s->nu                = d->n_u;
  s->ny                = d->n_y;
  s->n_ports           = d->n_u + d->n_y + 1;
  s->ports             = self->ports;
  s->state_size        = sizeof(block_state);
  for (int k = 0; k < d->n_u; ++k)
    self->ports[k] =
        (yoke_port){.name = names[0][k], .shape = &yoke_shape_signal, .takes = YOKE_TAKES_SIGNAL, .wrench_at = k};
  for (int k = 0; k < d->n_y; ++k)
    self->ports[d->n_u + k] =
        (yoke_port){.name = names[1][k], .shape = &yoke_shape_signal, .y_at = k, .n_y = 1, .wrench_at = -1};
  self->ports[d->n_u + d->n_y] =
      (yoke_port){.name = "all", .shape = &yoke_shape_signal, .n_y = d->n_y, .wrench_at = -1};
  return YOKE_OK;
}

#endif
