/* Small models made by hand, for tests of the compiled equations. Include after <cmocka.h>. */
#ifndef YOKE_TESTS_MODEL_WORKSHOP_H
#define YOKE_TESTS_MODEL_WORKSHOP_H

#include "base/memory.h"
#include "linalg/space.h"
#include "model/joint_kinds.h"
#include "model/multibody.h"
#include <stdlib.h>
#include <string.h>

enum { MOST = 12, MOST_FRAMES = 24, MOST_EXPRESSIONS = 16 };

typedef struct workshop {
  yoke_model       model;
  yoke_body        bodies[MOST];
  yoke_frame       frames[MOST_FRAMES];
  yoke_connection  connections[MOST];
  yoke_load        loads[MOST];
  yoke_event       events[MOST];
  yoke_variable    variables[MOST];
  yoke_ghost       ghosts[MOST];
  yoke_expression *expressions[MOST_EXPRESSIONS];
  int              n_expressions;
  yoke_context    *ctx;
  yoke_equations   equations;
  yoke_multibody  *mb;
  void            *work;
} workshop;

static char model_name[] = "test", body_name[] = "body", frame_name[] = "frame", joint_name[] = "knee",
            load_name[] = "load";

static inline void open_workshop(workshop *s) {
  memset(s, 0, sizeof *s);
  s->model.name        = model_name;
  s->model.bodies      = s->bodies;
  s->model.frames      = s->frames;
  s->model.connections = s->connections;
  s->model.loads       = s->loads;
  s->model.events      = s->events;
  s->model.variables   = s->variables;
  s->model.ghosts      = s->ghosts;
  assert_int_equal(yoke_context_create(&s->ctx), YOKE_OK);
}

static inline void close_workshop(workshop *s) {
  yoke_equations_destroy(&s->equations);
  free(s->work);
  for (int i = 0; i < s->n_expressions; ++i) yoke_expression_destroy(&s->expressions[i]);
  yoke_context_destroy(&s->ctx);
}

static inline yoke_body *add_body(workshop *s, yoke_body_kind kind) {
  static const double inertia[9] = {0.4, 0.03, -0.02, 0.03, 0.5, 0.04, -0.02, 0.04, 0.7};
  yoke_body          *body       = &s->bodies[s->model.n_bodies++];
  body->name                     = body_name;
  body->kind                     = kind;
  body->mass                     = 1.5;
  body->orientation[0]           = 1.0;
  memcpy(body->inertia, inertia, sizeof inertia);
  return body;
}

static inline int add_frame(workshop *s, int body, double x, double y, double z) {
  yoke_frame *frame = &s->frames[s->model.n_frames];
  frame->name       = frame_name;
  frame->body       = body;
  vec3_set(frame->origin, x, y, z);
  frame->axes[0] = frame->axes[4] = frame->axes[8] = 1.0;
  return s->model.n_frames++;
}

static inline yoke_connection *connect(workshop *s, yoke_connection_kind kind, int frame1, int frame2) {
  yoke_connection *c = &s->connections[s->model.n_connections++];
  c->name            = joint_name;
  c->kind            = kind;
  c->frame[0]        = frame1;
  c->frame[1]        = frame2;
  c->law.exponent_x = c->law.exponent_v = 3.0;
  return c;
}

static inline yoke_symbol_kind lookup(void *user, const char *name, double *value, int *variable) {
  (void)user;
  (void)value;
  if (strcmp(name, "t") == 0) {
    *variable = 0;
    return YOKE_SYMBOL_VARIABLE;
  }
  if (name[0] == 'k' && name[1] >= '1' && name[1] <= '9') { /* k1, k2, ...: variables of the model */
    *variable = name[1] - '0';
    return YOKE_SYMBOL_VARIABLE;
  }
  return YOKE_SYMBOL_UNKNOWN;
}

static inline yoke_expression *expression(workshop *s, const char *text) {
  const yoke_symbols symbols = {.lookup = lookup};
  char               message[200];
  assert_int_equal(yoke_expression_compile(text, &symbols, message, sizeof message, &s->expressions[s->n_expressions]),
                   YOKE_OK);
  return s->expressions[s->n_expressions++];
}

static inline yoke_status try_compile(workshop *s, const yoke_multibody_options *options) {
  const yoke_status status = yoke_multibody_create(s->ctx, &s->model, options, &s->equations, &s->mb);
  if (status != YOKE_OK) return status;
  s->work = yoke_allocate(1, s->equations.work_size);
  assert_non_null(s->work);
  return YOKE_OK;
}

static inline void compile(workshop *s, const yoke_multibody_options *options) {
  assert_int_equal(try_compile(s, options), YOKE_OK);
}

static inline double pseudo_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

static inline double entry(const yoke_pattern *p, const double *J, int row, int col) {
  for (int k = p->col_start[col]; k < p->col_start[col + 1]; ++k) {
    if (p->row[k] == row) return J[k];
  }
  return 0.0;
}

static const yoke_connection_kind all_connections[] = {
    YOKE_CONNECTION_ATPOINT,     YOKE_CONNECTION_INPLANE,       YOKE_CONNECTION_PERPENDICULAR,
    YOKE_CONNECTION_SPHERICAL,   YOKE_CONNECTION_REVOLUTE,      YOKE_CONNECTION_UNIVERSAL,
    YOKE_CONNECTION_CYLINDRICAL, YOKE_CONNECTION_TRANSLATIONAL, YOKE_CONNECTION_PLANAR,
    YOKE_CONNECTION_INLINE,      YOKE_CONNECTION_ORIENTATION,   YOKE_CONNECTION_FIXED,
    YOKE_CONNECTION_DISTANCE,    YOKE_CONNECTION_SPRING_DAMPER, YOKE_CONNECTION_TORSION_SPRING,
    YOKE_CONNECTION_BUSHING,
};

static char ghost_name[] = "ghost";

/* Frame on a new ghost. */
static inline int add_ghost(workshop *s, yoke_body_kind kind) {
  yoke_ghost *ghost = &s->ghosts[s->model.n_ghosts];
  ghost->name       = ghost_name;
  ghost->shape      = yoke_body_shape(kind);
  return add_frame(s, YOKE_FIRST_GHOST - s->model.n_ghosts++, 0, 0, 0);
}

/* Inputs that move ghost g in all components of p, then v. */
static inline int ghost_inputs(int g, yoke_body_kind kind, yoke_input *inputs) {
  int n = 0;
  for (int k = 0; k < yoke_body_shape(kind)->n_p; ++k) inputs[n++] = (yoke_input){YOKE_INPUT_GHOST_P, g, k, 1.0};
  for (int k = 0; k < yoke_body_shape(kind)->n_v; ++k) inputs[n++] = (yoke_input){YOKE_INPUT_GHOST_V, g, k, 1.0};
  return n;
}

/* A frame off the centre of a body as far as the kind can show. */
static inline int off_centre_frame(workshop *s, int body, yoke_body_kind kind, double size) {
  const bool is_line = kind == YOKE_BODY_MASS1D || kind == YOKE_BODY_CHAIN;
  return add_frame(s, body, 0.3 * size, is_line ? 0.0 : -0.2 * size, kind == YOKE_BODY_RIGID ? 0.5 * size : 0.0);
}

static inline void set_flexible(yoke_connection *c) {
  for (int i = 0; i < 6; ++i) {
    c->stiffness[i] = 3.0 + i;
    c->damping[i]   = 0.5 + 0.2 * i;
  }
  c->flexible            = true;
  c->law.stiffness       = 7.0;
  c->law.damping         = 0.6;
  c->law.stiffness_power = 2.0;
  c->length              = 0.4;
  c->has_length          = true;
}

/* Ends of a joint in which every pair of kinds fits; rigid bodies get skew frames. */
static inline void joint_axes(workshop *s, yoke_connection_kind kind, bool skew, int f1, int f2) {
  static const double quarter[9] = {0, 0, 1, 0, 1, 0, -1, 0, 0}; /* z2 along x */
  static const double p[2][4]    = {{0.3, 0.5, -0.2, 0.7}, {-0.4, 0.1, 0.8, 0.3}};
  if (skew) {
    quaternion_rotation(s->frames[f1].axes, p[0]);
    quaternion_rotation(s->frames[f2].axes, p[1]);
  } else if (kind == YOKE_CONNECTION_UNIVERSAL || kind == YOKE_CONNECTION_PERPENDICULAR) {
    memcpy(s->frames[f2].axes, quarter, sizeof quarter);
  }
}

/* Multipliers of all rows of joint 0 that act on these kinds. */
static inline int lambda_inputs(const workshop *s, const yoke_body_kind kind[2], yoke_input *inputs) {
  const yoke_port_shape *const ends[2] = {yoke_body_shape(kind[0]), yoke_body_shape(kind[1])};
  const yoke_connection       *c       = &s->connections[0];
  yoke_link                    link    = {.node = {0, 1}};
  yoke_row                     rows[6];
  int                          n = 0;
  for (int side = 0; side < 2; ++side) {
    memcpy(link.origin[side], s->frames[c->frame[side]].origin, sizeof link.origin[side]);
    memcpy(link.axes[side], s->frames[c->frame[side]].axes, sizeof link.axes[side]);
  }
  for (int r = 0; r < yoke_joint_rows(c->kind, rows); ++r) {
    if (!yoke_row_is_idle(&rows[r], &link, ends)) inputs[n++] = (yoke_input){YOKE_INPUT_LAMBDA, 0, r, 1.0};
  }
  return n;
}

static inline yoke_chain small_chain(void) {
  yoke_chain chain            = {.n = 5, .exponent_x = 3.0, .exponent_v = 3.0};
  chain.mass.value            = 0.7;
  chain.stiffness.value       = 50.0;
  chain.damping.value         = 0.4;
  chain.stiffness_power.value = 20.0;
  chain.x0.value              = 0.01;
  return chain;
}

#endif
