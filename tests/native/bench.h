/* Small models as native subsystems, and half an oscillator solved by hand. */
#ifndef YOKE_TESTS_NATIVE_BENCH_H
#define YOKE_TESTS_NATIVE_BENCH_H

#include "../step_over.h"
#include "linalg/space.h"
#include "native/native.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 12 };

typedef struct bench {
  yoke_model      model;
  yoke_body       bodies[MOST];
  yoke_frame      frames[MOST];
  yoke_connection connections[MOST];
  yoke_ghost      ghosts[MOST];
  yoke_chain      chain;
  bool            energy; /* work of dampers and loads is integrated along */
  yoke_context   *ctx;
  yoke_subsystem *subsystem;
  void           *state, *scratch;
} bench;

static char model_name[] = "half", body_name[] = "body", frame_name[] = "frame", spring_name[] = "spring",
            ghost_name[] = "ghost";

static inline void open_bench(bench *b, const char *solver) {
  memset(b, 0, sizeof *b);
  b->model.name           = model_name;
  b->model.bodies         = b->bodies;
  b->model.frames         = b->frames;
  b->model.connections    = b->connections;
  b->model.ghosts         = b->ghosts;
  b->model.solver.rtol    = 1e-10;
  b->model.solver.atol    = 1e-12;
  b->model.solver.rho_inf = 0.8;
  snprintf(b->model.solver.kind, sizeof b->model.solver.kind, "%s", solver);
  assert_int_equal(yoke_context_create(&b->ctx), YOKE_OK);
}

static inline void close_bench(bench *b) {
  if (b->subsystem != NULL) yoke_subsystem_state_destroy(b->subsystem, &b->state);
  yoke_subsystem_scratch_destroy(&b->scratch);
  yoke_subsystem_destroy(&b->subsystem);
  yoke_context_destroy(&b->ctx);
}

static inline yoke_body *add_body(bench *b, yoke_body_kind kind) {
  yoke_body *body      = &b->bodies[b->model.n_bodies++];
  body->name           = body_name;
  body->kind           = kind;
  body->mass           = 1.5;
  body->orientation[0] = 1.0;
  body->inertia[0]     = 0.4;
  body->inertia[4]     = 0.5;
  body->inertia[8]     = 0.7;
  return body;
}

static inline int add_frame(bench *b, int body, double x, double y, double z) {
  yoke_frame *frame = &b->frames[b->model.n_frames];
  frame->name       = frame_name;
  frame->body       = body;
  vec3_set(frame->origin, x, y, z);
  frame->axes[0] = frame->axes[4] = frame->axes[8] = 1.0;
  return b->model.n_frames++;
}

static inline yoke_connection *connect(bench *b, yoke_connection_kind kind, int frame1, int frame2) {
  yoke_connection *c = &b->connections[b->model.n_connections++];
  c->name            = spring_name;
  c->kind            = kind;
  c->frame[0]        = frame1;
  c->frame[1]        = frame2;
  c->has_length      = true;
  c->law.exponent_x = c->law.exponent_v = 3.0;
  return c;
}

static inline void build(bench *b, int n_ports, const int *ports, int n_inputs, const yoke_input *inputs,
                         bool no_integrals) {
  const yoke_native_def def = {.name         = "left",
                               .model        = &b->model,
                               .n_ports      = n_ports,
                               .port_frame   = ports,
                               .n_inputs     = n_inputs,
                               .inputs       = inputs,
                               .energy       = b->energy,
                               .no_integrals = no_integrals};
  if (yoke_native_create(b->ctx, &def, &b->subsystem) != YOKE_OK) fail_msg("%s", yoke_context_message(b->ctx, 0));
}

static inline void make_task(bench *b) {
  assert_int_equal(yoke_subsystem_state_create(b->subsystem, &b->state), YOKE_OK);
  assert_int_equal(yoke_subsystem_scratch_create(b->subsystem, &b->scratch), YOKE_OK);
}

/* Mass m on a wall spring; the rest of the oscillator is a force, or a spring-damper to a ghost. */
typedef struct half {
  double m, c, d; /* mass and wall spring-damper */
  double cc, dc;  /* coupling spring-damper, 0: force */
  double x, v;    /* start */
} half;

static const half force_half = {.m = 2.0, .c = 90.0, .d = 0.6, .x = 0.2, .v = -0.7};
static const half ghost_half = {.m = 2.0, .c = 90.0, .d = 0.6, .cc = 35.0, .dc = 0.8, .x = 0.2, .v = -0.7};

static inline void make_half_with(bench *b, const half *h, const char *solver, bool no_integrals, bool energy) {
  open_bench(b, solver);
  b->energy               = energy;
  yoke_body *body         = add_body(b, YOKE_BODY_MASS1D);
  body->mass              = h->m;
  body->position[0]       = h->x;
  body->velocity[0]       = h->v;
  const int        ground = add_frame(b, YOKE_GROUND, 0, 0, 0), frame = add_frame(b, 0, 0, 0, 0);
  yoke_connection *wall = connect(b, YOKE_CONNECTION_SPRING_DAMPER, ground, frame);
  wall->law.stiffness   = h->c;
  wall->law.damping     = h->d;
  if (h->cc > 0.0) {
    b->ghosts[0]           = (yoke_ghost){.name = ghost_name, .shape = &yoke_shape_line};
    b->model.n_ghosts      = 1;
    yoke_connection *c     = connect(b, YOKE_CONNECTION_SPRING_DAMPER, frame, add_frame(b, YOKE_FIRST_GHOST, 0, 0, 0));
    c->law.stiffness       = h->cc;
    c->law.damping         = h->dc;
    const yoke_input two[] = {{YOKE_INPUT_GHOST_P, 0, 0, 1.0}, {YOKE_INPUT_GHOST_V, 0, 0, 1.0}};
    build(b, 1, &frame, 2, two, no_integrals);
  } else {
    const yoke_input one = {YOKE_INPUT_FORCE, frame, 0, -1.0};
    build(b, 1, &frame, 1, &one, no_integrals);
  }
}

static inline void make_half(bench *b, const half *h, const char *solver, bool no_integrals) {
  make_half_with(b, h, solver, no_integrals, false);
}

/* A bar hinged at its top to the ground; port and inputs at the lower end. */
static inline int make_pendulum(bench *b, yoke_body_kind kind, const char *solver) {
  const double theta = 0.7, rate = 1.3;
  open_bench(b, solver);
  b->model.gravity[1] = -9.81;
  yoke_body *bar      = add_body(b, kind);
  vec3_set(bar->position, sin(theta), -cos(theta), 0.0);
  bar->angle          = theta;
  bar->orientation[0] = cos(theta / 2.0);
  bar->orientation[3] = sin(theta / 2.0);
  vec3_set(bar->velocity, rate * cos(theta), rate * sin(theta), 0.0);
  bar->omega[2]    = rate;
  const int ground = add_frame(b, YOKE_GROUND, 0, 0, 0), top = add_frame(b, 0, 0, 1, 0),
            tip = add_frame(b, 0, 0, -1, 0);
  connect(b, YOKE_CONNECTION_REVOLUTE, top, ground);
  const yoke_input inputs[2] = {{YOKE_INPUT_FORCE, tip, 0, -1.0}, {YOKE_INPUT_FORCE, tip, 5, 1.0}};
  build(b, 1, &tip, 2, inputs, false);
  make_task(b);
  return tip;
}

/* Signal of n components of degree 2 over [t, t + H]. */
typedef struct wave {
  double      t[2], c[2 * 3];
  yoke_signal u;
} wave;

static inline void set_wave(wave *w, int n, double t, double H, const double *c) {
  w->t[0] = t;
  w->t[1] = t + H;
  memcpy(w->c, c, (size_t)(3 * n) * sizeof *c);
  w->u = (yoke_signal){.n = n, .n_pieces = 1, .degree = 2, .t = w->t, .c = w->c};
}

static const double shape[2][6] = {{3.0, -20.0, 150.0, 1.0, 7.0, 40.0}, {-2.0, 12.0, -90.0, 0.4, -6.0, 11.0}};

/* ---- the same by hand: classical Runge-Kutta, x, v and the integral of x ---- */

static inline void half_rate(const half *h, const wave *w, double t, const double z[3], double rate[3]) {
  double u[2];
  yoke_signal_value(&w->u, t, YOKE_SIDE_LEFT, 0, u);
  const double F = h->cc > 0.0 ? h->cc * (u[0] - z[0]) + h->dc * (u[1] - z[1]) : -u[0];
  rate[0]        = z[1];
  rate[1]        = (F - h->c * z[0] - h->d * z[1]) / h->m;
  rate[2]        = z[0];
}

static inline void half_solve(const half *h, const wave *w, double z[3]) {
  enum { STEPS = 400 };
  const double dt = (w->t[1] - w->t[0]) / STEPS;
  for (int n = 0; n < STEPS; ++n) {
    const double t = w->t[0] + n * dt, c[4] = {0.0, 0.5, 0.5, 1.0}, b[4] = {1.0, 2.0, 2.0, 1.0};
    double       k[4][3], sum[3] = {0.0};
    for (int s = 0; s < 4; ++s) {
      double y[3];
      for (int i = 0; i < 3; ++i) y[i] = z[i] + (s > 0 ? c[s] * dt * k[s - 1][i] : 0.0);
      half_rate(h, w, t + c[s] * dt, y, k[s]);
      for (int i = 0; i < 3; ++i) sum[i] += b[s] * k[s][i];
    }
    for (int i = 0; i < 3; ++i) z[i] += dt / 6.0 * sum[i];
  }
}

#endif
