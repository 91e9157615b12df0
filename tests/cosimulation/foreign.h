/* A subsystem that is not native: a mass on a line, held by the wall, or a bar in the plane, with one port that takes a wrench. It can be
 * repeated and nothing else. Classical Runge-Kutta steps, so many between break points that its own error does not count. */
#ifndef YOKE_TESTS_FOREIGN_H
#define YOKE_TESTS_FOREIGN_H

#include "subsystem/subsystem.h"
#include <math.h>
#include <string.h>

enum { FOREIGN_STEPS = 20 };

typedef struct foreign_def {
  bool   is_bar;
  double mass, inertia;
  double stiffness, damping; /* of the wall */
  double arm;                /* the bar's port lies at (arm, 0) of its body */
  double gravity, drag;      /* on the bar, along y; on its velocity */
  double start[6];           /* x, v of the mass; x, y, angle, vx, vy, omega of the bar's centre */
} foreign_def;

typedef struct foreign_state {
  double t, z[6], integral[3];
} foreign_state;

static inline int foreign_n(const foreign_def *f) { /* freedoms */
  return f->is_bar ? 3 : 1;
}

/* dz/dt under the wrench F on the port. */
static inline void foreign_rate(const foreign_def *f, const double *z, const double *F, double *dz) {
  if (!f->is_bar) {
    dz[0] = z[1];
    dz[1] = (F[0] - f->stiffness * z[0] - f->damping * z[1]) / f->mass;
    return;
  }
  const double rx = f->arm * cos(z[2]), ry = f->arm * sin(z[2]);
  for (int k = 0; k < 3; ++k) dz[k] = z[3 + k];
  dz[3] = (F[0] - f->drag * z[3]) / f->mass;
  dz[4] = (F[1] - f->drag * z[4]) / f->mass + f->gravity;
  dz[5] = (F[2] + rx * F[1] - ry * F[0]) / f->inertia;
}

/* p, v, v' of the port. */
static inline void foreign_show(const foreign_def *f, const double *z, const double *F, double *y) {
  double dz[6];
  foreign_rate(f, z, F, dz);
  if (!f->is_bar) {
    y[0] = z[0];
    y[1] = z[1];
    y[2] = dz[1];
    return;
  }
  const double rx = f->arm * cos(z[2]), ry = f->arm * sin(z[2]), w = z[5];
  const double out[9] = {z[0] + rx,
                         z[1] + ry,
                         z[2],
                         z[3] - w * ry,
                         z[4] + w * rx,
                         w,
                         dz[3] - dz[5] * ry - w * w * rx,
                         dz[4] + dz[5] * rx - w * w * ry,
                         dz[5]};
  memcpy(y, out, sizeof out);
}

static inline yoke_status foreign_start(const yoke_subsystem *s, void *scratch, void *state, double t,
                                        const yoke_signal *u, yoke_context *ctx) {
  const foreign_def *f = s->self;
  foreign_state     *x = state;
  (void)scratch, (void)u, (void)ctx;
  *x = (foreign_state){.t = t};
  memcpy(x->z, f->start, sizeof x->z);
  return YOKE_OK;
}

/* One Runge-Kutta step from a to b, between which the inputs are smooth. */
static inline void foreign_advance(const foreign_def *f, foreign_state *x, const yoke_signal *u, double a, double b) {
  static const double part[4] = {0.0, 0.5, 0.5, 1.0}, share[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
  const int           n      = foreign_n(f);
  const double        h      = b - a;
  double              sum[6] = {0}, k[6] = {0}, before[9], after[9], F[3];
  for (int j = 0; j < 4; ++j) {
    double z[6];
    for (int c = 0; c < 2 * n; ++c) z[c] = x->z[c] + part[j] * h * k[c];
    yoke_signal_value(u, j == 3 ? b : a + part[j] * h, j == 0 ? YOKE_SIDE_RIGHT : YOKE_SIDE_LEFT, 0, F);
    if (j == 0) foreign_show(f, z, F, before);
    foreign_rate(f, z, F, k);
    for (int c = 0; c < 2 * n; ++c) sum[c] += share[j] * k[c];
  }
  for (int c = 0; c < 2 * n; ++c) x->z[c] += h * sum[c];
  foreign_show(f, x->z, F, after);
  for (int c = 0; c < n; ++c) /* Hermite */
    x->integral[c] += 0.5 * h * (before[c] + after[c]) + h * h / 12.0 * (before[n + c] - after[n + c]);
}

static inline yoke_status foreign_step(const yoke_subsystem *s, void *scratch, void *state, const yoke_signal *u,
                                       yoke_step_request *request, yoke_context *ctx) {
  foreign_state *x = state;
  (void)scratch, (void)ctx;
  for (double a = request->t; a < request->t_end;) {
    const double b = fmin(yoke_signal_next_break(u, a), request->t_end), h = (b - a) / FOREIGN_STEPS;
    for (int i = 0; i < FOREIGN_STEPS; ++i)
      foreign_advance(s->self, x, u, a + (double)i * h, i + 1 < FOREIGN_STEPS ? a + (double)(i + 1) * h : b);
    a = b;
  }
  x->t               = request->t_end;
  request->t_reached = request->t_end;
  return YOKE_OK;
}

static inline yoke_status foreign_output(const yoke_subsystem *s, void *scratch, const void *state,
                                         const yoke_signal *u, yoke_side side, double *y) {
  const foreign_def   *f = s->self;
  const foreign_state *x = state;
  double               F[3];
  (void)scratch;
  yoke_signal_value(u, x->t, side, 0, F);
  foreign_show(f, x->z, F, y);
  memcpy(y + 3 * foreign_n(f), x->integral, (size_t)foreign_n(f) * sizeof *y);
  return YOKE_OK;
}

static inline void foreign_accept(const yoke_subsystem *s, void *state) {
  (void)s;
  memset(((foreign_state *)state)->integral, 0, sizeof((foreign_state *)state)->integral);
}

static inline yoke_status foreign_copy(const yoke_subsystem *s, void *dst, const void *src) {
  (void)s;
  memcpy(dst, src, sizeof(foreign_state));
  return YOKE_OK;
}

static inline yoke_status foreign_create(yoke_context *ctx, const char *name, const foreign_def *def,
                                         yoke_subsystem **out) {
  static const yoke_repeat_ops    repeat = {.copy = foreign_copy};
  static const yoke_subsystem_ops ops    = {.kind    = "foreign",
                                            .destroy = yoke_subsystem_free,
                                            .start   = foreign_start,
                                            .step    = foreign_step,
                                            .output  = foreign_output,
                                            .accept  = foreign_accept,
                                            .repeat  = &repeat};
  YOKE_TRY(yoke_subsystem_new(ctx, name, sizeof *def, out));
  yoke_subsystem *s    = *out;
  yoke_port      *port = yoke_arena_take(&s->arena, 1, sizeof *port);
  YOKE_TRY(yoke_arena_check(&s->arena, ctx, "subsystem '%s'", name));
  memcpy(s->self, def, sizeof *def);
  s->ops        = &ops;
  s->nu         = foreign_n(def);
  s->ny         = 4 * foreign_n(def);
  s->n_ports    = 1;
  s->ports      = port;
  s->state_size = sizeof(foreign_state);
  *port         = (yoke_port){.name      = "end",
                              .shape     = def->is_bar ? &yoke_shape_plane : &yoke_shape_line,
                              .n_y       = s->ny,
                              .takes     = YOKE_TAKES_WRENCH,
                              .wrench_at = 0};
  return YOKE_OK;
}

#endif
