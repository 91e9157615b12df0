/* Tangents of compiled equations and of ports: what a change (dq, dv, du) does to q', a, lambda and y, against differences of the functions
 * themselves. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "model/redundancy.h"
#include "model/workshop.h"
#include <math.h>
#include <stdio.h>

enum { MOST_NUMBERS = 64, MOST_INPUTS = 40, MOST_Y = 64, MOST_PORTS = 2, N_DIRECTIONS = 5 };

/* A place in the space of (q, v, u), or a direction there. */
typedef struct place {
  double q[MOST_NUMBERS], v[MOST_NUMBERS], u[MOST_INPUTS];
} place;

/* All that depends on it. */
typedef struct outcome {
  double qdot[MOST_NUMBERS], a[MOST_NUMBERS], lambda[MOST_NUMBERS], y[MOST_Y];
} outcome;

typedef struct subject {
  workshop          s;
  int               n_inputs, n_ports, n_y;
  yoke_input        inputs[MOST_INPUTS];
  int               port_frame[MOST_PORTS];
  yoke_port_request request[MOST_PORTS];
  bool              stays;      /* places are moved onto the joints: rows follow from others only there */
  bool              is_plain;   /* no quadratures */
  bool              drifts;     /* second multipliers within own joints: q' by q is not exact */
  yoke_variable     integral;   /* of the options */
  char              label[100]; /* for messages */
} subject;

static const double now = 0.37;

static void add_input(subject *x, yoke_input_kind kind, int frame, int component, double factor) {
  assert_true(x->n_inputs < MOST_INPUTS);
  x->inputs[x->n_inputs++] = (yoke_input){kind, frame, component, factor};
}

static void add_port(subject *x, int frame, int extras, int connection) {
  x->request[x->n_ports]      = (yoke_port_request){.extras = extras, .connection = connection};
  x->port_frame[x->n_ports++] = frame;
}

static yoke_status finish(subject *x, double alpha, double beta) {
  const yoke_multibody_options options = {.n_inputs       = x->n_inputs,
                                          .inputs         = x->inputs,
                                          .n_ports        = x->n_ports,
                                          .port_frame     = x->port_frame,
                                          .port_request   = x->request,
                                          .port_integrals = !x->is_plain,
                                          .energy         = !x->is_plain,
                                          .n_integrals    = x->is_plain ? 0 : 1,
                                          .integrals      = &x->integral,
                                          .alpha          = alpha,
                                          .beta           = beta};
  return try_compile(&x->s, &options);
}

static int n_multipliers(const subject *x) {
  return yoke_n_multipliers(&x->s.equations);
}

static int n_of_port(const subject *x, int k) {
  const int body = x->s.frames[x->port_frame[k]].body;
  return yoke_shape_n_y(yoke_body_shape(body < 0 ? YOKE_BODY_RIGID : x->s.bodies[body].kind)) +
         yoke_multibody_n_extras(x->s.mb, k);
}

static bool evaluate(const subject *x, const place *at, outcome *o) {
  const yoke_equations *e = &x->s.equations;
  double               *y = o->y;
  memset(o, 0, sizeof *o);
  if (e->ops->derivative(e->self, x->s.work, now, at->q, at->v, at->u, o->qdot, o->a, o->lambda) != YOKE_OK)
    return false;
  for (int k = 0; k < x->n_ports; ++k) {
    const int n = n_of_port(x, k), n_extras = yoke_multibody_n_extras(x->s.mb, k);
    yoke_multibody_port(x->s.mb, x->s.work, k, at->q, at->v, o->a, y);
    assert_int_equal(yoke_multibody_extras(x->s.mb, x->s.work, k, now, at->q, at->u, o->lambda, y + n - n_extras),
                     YOKE_OK);
    y += n;
  }
  return true;
}

/* Where the curve that leaves `from` along d is at h. */
static void go(const subject *x, const place *from, const place *d, double h, place *to) {
  const yoke_equations *e = &x->s.equations;
  for (int i = 0; i < MOST_NUMBERS; ++i) {
    to->q[i] = from->q[i] + h * d->q[i];
    to->v[i] = from->v[i] + h * d->v[i];
  }
  for (int i = 0; i < MOST_INPUTS; ++i) to->u[i] = from->u[i] + h * d->u[i];
  if (!x->stays) return;
  assert_int_equal(e->ops->project_position(e->self, x->s.work, now, to->q), YOKE_OK);
  assert_int_equal(e->ops->project_velocity(e->self, x->s.work, now, to->q, to->v), YOKE_OK);
}

/* Derivatives at h = 0 of all numbers along the curve, from central differences extrapolated twice: error O(h^6). */
static bool differentiate(const subject *x, const place *from, const place *d, place *dx, outcome *out) {
  const double weight[3] = {1.0 / 45.0, -20.0 / 45.0, 64.0 / 45.0};
  double      *sum = (double *)out, *sum_x = (double *)dx, h = 4e-4;
  memset(out, 0, sizeof *out);
  memset(dx, 0, sizeof *dx);
  for (int level = 0; level < 3; ++level, h *= 0.5) {
    outcome o[2];
    place   at[2];
    for (int side = 0; side < 2; ++side) {
      go(x, from, d, side == 0 ? h : -h, &at[side]);
      if (!evaluate(x, &at[side], &o[side])) return false;
    }
    const double *p = (const double *)&o[0], *m = (const double *)&o[1];
    for (size_t i = 0; i < sizeof *out / sizeof *sum; ++i) sum[i] += weight[level] * (p[i] - m[i]) / (2.0 * h);
    p = (const double *)&at[0];
    m = (const double *)&at[1];
    for (size_t i = 0; i < sizeof *dx / sizeof *sum_x; ++i) sum_x[i] += weight[level] * (p[i] - m[i]) / (2.0 * h);
  }
  return true;
}

/* Numbers of n directions side by side. */
static void spread(int rows, int n, int column, const double *from, double *to) {
  for (int i = 0; i < rows; ++i) to[i * n + column] = from[i];
}

static void gather(int rows, int n, int column, const double *from, double *to) {
  for (int i = 0; i < rows; ++i) to[i] = from[i * n + column];
}

/* The same by tangents, n directions at once. false: the place is singular. */
static bool tangents(const subject *x, const place *at, const outcome *o, int n, const place *d, outcome *out) {
  const yoke_equations *e   = &x->s.equations;
  yoke_dae             *dae = NULL;
  assert_int_equal(e->ops->dae_create(e->self, x->s.ctx, YOKE_DAE_INDEX1, &dae), YOKE_OK);
  const int    nx = dae->nx, nl = n_multipliers(x), n_states = e->nq - e->n_quadratures;
  yoke_arena   arena  = {0};
  const size_t most   = MOST_NUMBERS * N_DIRECTIONS;
  double      *state  = yoke_arena_take(&arena, (size_t)nx, sizeof *state);
  double      *dx     = yoke_arena_take(&arena, (size_t)nx, sizeof *dx);
  double      *F      = yoke_arena_take(&arena, 2 * (size_t)nx, sizeof *F);
  double      *J      = yoke_arena_take(&arena, (size_t)dae->pattern->nnz, sizeof *J);
  double      *B      = yoke_arena_take(&arena, (size_t)dae->input_pattern->nnz + 1, sizeof *B);
  void        *factor = yoke_arena_take(&arena, 1, e->motion_size);
  double      *dq = yoke_arena_take(&arena, most, sizeof *dq), *dv = yoke_arena_take(&arena, most, sizeof *dv);
  double      *da = yoke_arena_take(&arena, most, sizeof *da), *dl = yoke_arena_take(&arena, most, sizeof *dl);
  double      *rate = yoke_arena_take(&arena, most, sizeof *rate), *dy = yoke_arena_take(&arena, most, sizeof *dy);
  assert_false(arena.has_failed);
  memcpy(state, at->q, (size_t)e->nq * sizeof *state);
  memcpy(state + dae->i_v, at->v, (size_t)e->nv * sizeof *state);
  memcpy(state + dae->i_a, o->a, (size_t)e->nv * sizeof *state);
  if (nl > 0) memcpy(state + dae->i_lambda, o->lambda, (size_t)nl * sizeof *state);
  assert_int_equal(e->ops->dae_jacobian(e->self, dae, x->s.work, now, state, at->u, J), YOKE_OK);
  assert_int_equal(e->ops->dae_input_jacobian(e->self, dae, x->s.work, now, state, at->u, B), YOKE_OK);
  memset(out, 0, (size_t)n * sizeof *out);
  for (int k = 0; k < n; ++k) {
    memset(dx, 0, (size_t)nx * sizeof *dx);
    memcpy(dx, d[k].q, (size_t)e->nq * sizeof *dx);
    memcpy(dx + dae->i_v, d[k].v, (size_t)e->nv * sizeof *dx);
    yoke_sparse_multiply(dae->pattern, J, dx, F);
    yoke_sparse_multiply(dae->input_pattern, B, d[k].u, F + nx);
    for (int i = 0; i < nx; ++i) F[i] += F[nx + i];
    memcpy(out[k].qdot, F, (size_t)n_states * sizeof *F);
    for (int g = 0; g < nl; ++g) F[dae->i_lambda + g] = -F[dae->i_lambda + g];
    spread(e->nv, n, k, F + dae->i_a, da);
    if (nl > 0) spread(nl, n, k, F + dae->i_lambda, dl);
    spread(e->nq, n, k, d[k].q, dq);
    spread(e->nv, n, k, d[k].v, dv);
  }
  const yoke_status status = e->ops->motion_factor(e->self, x->s.work, now, at->q, at->v, at->u, factor);
  if (status == YOKE_OK) {
    e->ops->motion_solve(e->self, factor, n, da, dl);
    e->ops->quadrature_tangent(e->self, x->s.work, now, at->q, at->v, n, dq, dv, rate);
    for (int k = 0; k < n; ++k) {
      gather(e->nv, n, k, da, out[k].a);
      gather(nl, n, k, dl, out[k].lambda);
      gather(e->n_quadratures, n, k, rate, out[k].qdot + n_states);
    }
    for (int p = 0, at_y = 0; p < x->n_ports; at_y += n_of_port(x, p++)) {
      assert_true(yoke_multibody_port_tangent(x->s.mb, x->s.work, p, at->q, at->v, o->a, n, dq, dv, da, dl, dy));
      for (int k = 0; k < n; ++k) gather(n_of_port(x, p), n, k, dy, out[k].y + at_y);
    }
  }
  assert_true(status == YOKE_OK || status == YOKE_SINGULAR);
  yoke_arena_free(&arena);
  yoke_dae_destroy(&dae);
  return status == YOKE_OK;
}

static void compare(const subject *x, const char *what, int n, const double *exact, const double *tangent) {
  double size = 1.0;
  for (int i = 0; i < n; ++i) size = fmax(size, fabs(exact[i]));
  for (int i = 0; i < n; ++i) {
    if (fabs(exact[i] - tangent[i]) <= 1e-8 * size) continue;
    fail_msg("%s: %s[%d] is %.12g, differences give %.12g (largest %.3g)", x->label, what, i, tangent[i], exact[i],
             size);
  }
}

/* Bodies somewhere, Euler parameters off the unit sphere; inputs of any size, ghosts' Euler parameters not all 0. */
static void scatter(const subject *x, uint32_t *seed, place *at) {
  memset(at, 0, sizeof *at);
  for (int i = 0; i < x->s.equations.nq; ++i) at->q[i] = pseudo_random(seed);
  for (int i = 0; i < x->s.equations.nv; ++i) at->v[i] = pseudo_random(seed);
  for (int i = 0; i < x->n_inputs; ++i) at->u[i] = pseudo_random(seed);
  for (int b = 0; b < x->s.model.n_bodies; ++b) {
    if (x->s.bodies[b].kind != YOKE_BODY_RIGID) continue;
    double *p = at->q + yoke_multibody_q_offset(x->s.mb, b) + 3;
    quaternion_normalise(p);
    for (int i = 0; i < 4; ++i) p[i] *= 1.1;
  }
}

/* Tangents of several directions against differences; one of them alone has the same bits. false: singular. */
static bool check_at(const subject *x, const place *at, uint32_t *seed) {
  const yoke_equations *e = &x->s.equations;
  place                 d[N_DIRECTIONS];
  outcome               here, by_difference[N_DIRECTIONS], by_tangent[N_DIRECTIONS], alone;
  if (!evaluate(x, at, &here)) return false;
  for (int k = 0; k < N_DIRECTIONS; ++k) {
    place wanted;
    scatter(x, seed, &wanted);
    if (k == 1 || (k == 0 && x->drifts)) memset(wanted.q, 0, sizeof wanted.q);
    if (k == 2) memset(wanted.u, 0, sizeof wanted.u);
    if (!differentiate(x, at, &wanted, &d[k], &by_difference[k])) return false;
  }
  if (!tangents(x, at, &here, N_DIRECTIONS, d, by_tangent)) return false;
  const int n_powers = x->is_plain ? 0 : 2; /* the last quadratures: nobody asks for the tangents of work */
  for (int k = 0; k < N_DIRECTIONS; ++k) {
    const int n_before = x->drifts && k > 1 ? 0 : e->nq - n_powers;
    compare(x, "q'", n_before, by_difference[k].qdot, by_tangent[k].qdot);
    compare(x, "a", e->nv, by_difference[k].a, by_tangent[k].a);
    if (!x->stays) compare(x, "lambda", n_multipliers(x), by_difference[k].lambda, by_tangent[k].lambda);
    compare(x, "y", x->n_y, by_difference[k].y, by_tangent[k].y);
  }
  const int k = (int)(*seed >> 16) % N_DIRECTIONS;
  assert_true(tangents(x, at, &here, 1, &d[k], &alone));
  assert_memory_equal(&alone, &by_tangent[k], sizeof alone);
  return true;
}

static bool check_subject(subject *x, uint32_t seed) {
  place at;
  x->n_y = 0;
  for (int k = 0; k < x->n_ports; ++k) x->n_y += n_of_port(x, k);
  assert_true(yoke_multibody_has_tangents(x->s.mb));
  assert_true(x->n_y <= MOST_Y && x->s.equations.nq <= MOST_NUMBERS && n_multipliers(x) <= MOST_NUMBERS);
  scatter(x, &seed, &at);
  if (x->stays) {
    place zero = {0};
    yoke_multibody_initial_guess(x->s.mb, at.q, at.v);
    for (int i = 0; i < x->s.equations.nv; ++i) at.v[i] = pseudo_random(&seed);
    go(x, &at, &zero, 0.0, &at);
  }
  return check_at(x, &at, &seed);
}

/* ---- a body at a ghost ---- */

typedef enum role { AT_FORCE, AT_MULTIPLIERS, AT_GUIDE, AT_BARE_GUIDE, N_ROLES } role;

static const char *const role_name[N_ROLES] = {"force", "multipliers", "guided", "guided, bare"};

/* Body 0, with a body of its own in a joint if has_own, in a connection with a ghost. */
static bool build(subject *x, role kind_of, yoke_connection_kind kind, yoke_body_kind kind1, yoke_body_kind kind2,
                  int ghost_side, bool has_own) {
  const yoke_body_kind kinds[2] = {ghost_side == 1 ? kind1 : kind2, ghost_side == 1 ? kind2 : kind1};
  workshop            *s        = &x->s;
  yoke_input           rows[6];
  memset(x, 0, sizeof *x);
  open_workshop(s);
  snprintf(x->label, sizeof x->label, "%s, %s between kinds %d and %d, ghost side %d%s",
           yoke_connection_kind_name(kind), role_name[kind_of], (int)kind1, (int)kind2, ghost_side,
           has_own ? ", own joint" : "");
  vec3_set(s->model.gravity, 1.0, 2.0, 3.0);
  add_body(s, kind1)->position[0] = 1.0;
  if (has_own) add_body(s, kind1)->position[0] = 0.5;
  const int f1 = off_centre_frame(s, 0, kind1, 1.0), f2 = add_ghost(s, kind2);
  joint_axes(s, kind, kind1 == YOKE_BODY_RIGID && kind2 == YOKE_BODY_RIGID, f1, f2);
  yoke_connection *c = connect(s, kind, ghost_side == 1 ? f1 : f2, ghost_side == 1 ? f2 : f1);
  if (kind_of == AT_FORCE) set_flexible(c);
  if (has_own) connect(s, YOKE_CONNECTION_REVOLUTE, add_frame(s, 0, -0.2, 0, 0), add_frame(s, 1, 0.3, 0, 0));
  x->n_inputs       = ghost_inputs(0, kind2, x->inputs);
  const int n_lines = lambda_inputs(s, kinds, rows);
  for (int i = 0; kind_of != AT_FORCE && i < n_lines; ++i) {
    const int r = rows[i].component;
    if (kind_of == AT_MULTIPLIERS) {
      add_input(x, YOKE_INPUT_LAMBDA, 0, r, 1.0);
      add_input(x, YOKE_INPUT_MU, 0, r, 1.0);
    } else {
      add_input(x, kind_of == AT_GUIDE ? YOKE_INPUT_ROW_ACCELERATION : YOKE_INPUT_ROW_ACCELERATION_BARE, 0, r,
                i % 2 == 0 ? 1.0 : -1.0);
    }
  }
  for (int k = 0; k < 6; ++k) add_input(x, YOKE_INPUT_FORCE, f1, k, k % 2 == 0 ? 1.0 : -1.0);
  const int port = off_centre_frame(s, 0, kind1, -1.4);
  if (kind1 == YOKE_BODY_RIGID) memcpy(s->frames[port].axes, s->frames[f1].axes, sizeof s->frames[port].axes);
  add_port(x, port, kind_of == AT_FORCE || n_lines == 0 ? 0 : YOKE_EXTRA_REACTION, 0);
  if (has_own) add_port(x, add_frame(s, 1, 0.1, 0, 0), 0, 0);
  x->drifts = kind_of == AT_MULTIPLIERS && has_own;
  return (kind_of == AT_FORCE || n_lines > 0) && finish(x, 0.7, 1.9) == YOKE_OK;
}

static int check_role(role kind_of, bool has_own) {
  int n = 0;
  for (size_t k = 0; k < sizeof all_connections / sizeof all_connections[0]; ++k) {
    const yoke_connection_kind kind = all_connections[k];
    if (kind_of != AT_FORCE && !yoke_connection_is_joint(kind)) continue;
    for (int pair = 0; pair < 32; ++pair) {
      subject x;
      if (build(&x, kind_of, kind, (yoke_body_kind)(pair % 4), (yoke_body_kind)(pair / 4 % 4), pair / 16, has_own)) {
        n += check_subject(&x, (uint32_t)(31 + pair));
      }
      close_workshop(&x.s);
    }
  }
  return n;
}

static void tangents_of_forces_and_copies_at_ghosts(void **state) {
  (void)state;
  assert_int_equal(check_role(AT_FORCE, false), 16 * 32);
  assert_int_equal(check_role(AT_FORCE, true), 16 * 32);
}

static void tangents_of_multipliers_and_second_multipliers(void **state) {
  (void)state;
  assert_true(check_role(AT_MULTIPLIERS, false) > 300);
  assert_true(check_role(AT_MULTIPLIERS, true) > 300);
}

static void tangents_of_guided_rows_and_their_reactions(void **state) {
  (void)state;
  for (int own = 0; own < 2; ++own) {
    assert_true(check_role(AT_GUIDE, own == 1) > 200);
    assert_true(check_role(AT_BARE_GUIDE, own == 1) > 200);
  }
}

/* ---- loads, motions, laws ---- */

static void add_loads(workshop *s, int frame) {
  for (int i = 0; i < 4; ++i) {
    yoke_load *load = &s->loads[s->model.n_loads++];
    *load           = (yoke_load){
                  .name = load_name, .kind = i < 2 ? YOKE_LOAD_FORCE : YOKE_LOAD_TORQUE, .frame = frame, .follower = i % 2 == 1};
    load->value[0] = expression(s, "k1*k2 + sin(t)");
    load->value[1] = expression(s, "exp(k1) - 2*k2");
  }
  s->loads[s->model.n_loads++] = (yoke_load){.name            = load_name,
                                             .kind            = YOKE_LOAD_DRAG,
                                             .frame           = frame,
                                             .drag_linear     = 0.4,
                                             .drag_quadratic  = 0.3,
                                             .drag_rotational = 0.2};
  s->loads[s->model.n_loads++] = (yoke_load){.name      = load_name,
                                             .kind      = YOKE_LOAD_CONTACT,
                                             .frame     = frame,
                                             .amplitude = -2.0,
                                             .slope     = 1.5,
                                             .direction = {0.6, 0.0, 0.8}};
}

/* A body in a joint whose motion is prescribed, under all loads, and a law that is written down between it and a ghost. */
static void tangents_of_loads_motions_and_laws(void **state) {
  (void)state;
  for (int kind = 0; kind <= YOKE_BODY_MASS1D; ++kind) {
    const yoke_body_kind body = (yoke_body_kind)kind;
    subject              x;
    memset(&x, 0, sizeof x);
    open_workshop(&x.s);
    snprintf(x.label, sizeof x.label, "loads on kind %d", kind);
    add_body(&x.s, body);
    x.s.variables[0]      = (yoke_variable){.body = 0, .component = 0};
    x.s.variables[1]      = (yoke_variable){.body = 0, .is_velocity = true};
    x.s.model.n_variables = 2;
    const int frame = off_centre_frame(&x.s, 0, body, 1.0), ghost = add_ghost(&x.s, YOKE_BODY_RIGID),
              ground = add_frame(&x.s, YOKE_GROUND, 0.1, 0.0, 0.0);
    add_loads(&x.s, frame);
    yoke_connection *law = connect(&x.s, YOKE_CONNECTION_SPRING_DAMPER, frame, ghost);
    law->law.expression  = expression(&x.s, "3*sin(t) + k1^3 + t*k1"); /* of a law: t is x, k1 is v, k2 is the time */
    yoke_connection *own = connect(
        &x.s, kind == YOKE_BODY_RIGID || kind == YOKE_BODY_PLANAR ? YOKE_CONNECTION_REVOLUTE : YOKE_CONNECTION_INPLANE,
        frame, ground);
    if (own->kind == YOKE_CONNECTION_REVOLUTE) own->motion = expression(&x.s, "0.2 + 0.5*sin(3*t)");
    x.n_inputs = ghost_inputs(0, YOKE_BODY_RIGID, x.inputs);
    add_port(&x, frame, 0, 0);
    assert_int_equal(finish(&x, 0.0, 0.0), YOKE_OK);
    assert_true(check_subject(&x, 5u));
    close_workshop(&x.s);
  }
}

/* A body in a joint, under loads that read its accelerations and the forces of the joint, which follow from them. */
static void tangents_of_loads_that_read_accelerations_and_forces_of_joints(void **state) {
  (void)state;
  for (int kind = 0; kind <= YOKE_BODY_MASS1D; ++kind) {
    const yoke_body_kind body = (yoke_body_kind)kind;
    subject              x;
    memset(&x, 0, sizeof x);
    open_workshop(&x.s);
    snprintf(x.label, sizeof x.label, "felt on kind %d", kind);
    add_body(&x.s, body);
    const int frame = off_centre_frame(&x.s, 0, body, 1.0), ghost = add_ghost(&x.s, YOKE_BODY_RIGID),
              ground   = add_frame(&x.s, YOKE_GROUND, 0.1, 0.0, 0.0);
    const bool is_line = kind == YOKE_BODY_MASS1D, turns = kind == YOKE_BODY_RIGID || kind == YOKE_BODY_PLANAR;
    x.s.variables[0] = (yoke_variable){.kind = YOKE_VARIABLE_ACCELERATION, .body = 0};
    x.s.variables[1] = is_line ? (yoke_variable){.body = 0, .is_velocity = true}
                               : (yoke_variable){.kind      = YOKE_VARIABLE_FRAME_ACCELERATION,
                                                 .object    = frame,
                                                 .body      = 0,
                                                 .component = kind == YOKE_BODY_RIGID ? 4 : 1};
    x.s.variables[2] = (yoke_variable){.kind = YOKE_VARIABLE_FORCE, .object = 1, .body = 0, .component = turns ? 1 : 0};
    x.s.variables[3] = (yoke_variable){.body = 0, .is_velocity = true};
    if (is_line) x.s.variables[2] = x.s.variables[3];
    x.s.model.n_variables = 4;
    yoke_load *load       = &x.s.loads[x.s.model.n_loads++];
    *load                 = (yoke_load){.name = load_name, .kind = YOKE_LOAD_FORCE, .frame = frame, .follower = true};
    load->value[0]        = expression(&x.s, "-0.2*k1 + 0.1*sin(k2)*k4 + 0.05*k3");
    load->value[1]        = expression(&x.s, "0.1*k1*k4 - 0.1*k3 + 0.03*k2*k2");
    connect(&x.s, YOKE_CONNECTION_SPRING_DAMPER, frame, ghost)->law = (yoke_law){.stiffness = 3.0, .damping = 0.4};
    if (!is_line) connect(&x.s, turns ? YOKE_CONNECTION_REVOLUTE : YOKE_CONNECTION_INPLANE, frame, ground);
    x.n_inputs = ghost_inputs(0, YOKE_BODY_RIGID, x.inputs);
    add_port(&x, frame, 0, 0);
    assert_int_equal(finish(&x, 0.0, 0.0), YOKE_OK);
    assert_true(x.s.equations.feels);
    assert_true(check_subject(&x, 5u));
    close_workshop(&x.s);
  }
}

/* ---- rows that follow from others ---- */

/* A planar four-bar linkage of bodies in space: three of its twenty rows follow from the others. */
static void tangents_of_a_redundant_mechanism_stay_on_its_joints(void **state) {
  (void)state;
  subject x;
  int     n = 0, *rows = NULL;
  double  q[MOST_NUMBERS], v[MOST_NUMBERS];
  memset(&x, 0, sizeof x);
  open_workshop(&x.s);
  snprintf(x.label, sizeof x.label, "four-bar linkage");
  vec3_set(x.s.model.gravity, 0.5, -9.81, 1.0);
  const double angle = 0.9, half[4] = {cos(angle / 2.0), 0.0, 0.0, sin(angle / 2.0)};
  for (int i = 0; i < 3; ++i) {
    yoke_body   *body = add_body(&x.s, YOKE_BODY_RIGID);
    const double r = i == 2 ? 1.0 : 0.5, base = i == 2 ? 1.0 : 2.0 * i;
    vec3_set(body->position, base + r * cos(angle), r * sin(angle), 0.0);
    if (i < 2) memcpy(body->orientation, half, sizeof half);
  }
  for (int i = 0; i < 2; ++i) {
    connect(&x.s, YOKE_CONNECTION_REVOLUTE, add_frame(&x.s, i, -0.5, 0, 0),
            add_frame(&x.s, YOKE_GROUND, 2.0 * i, 0, 0));
    connect(&x.s, YOKE_CONNECTION_REVOLUTE, add_frame(&x.s, i, 0.5, 0, 0), add_frame(&x.s, 2, 2.0 * i - 1.0, 0, 0));
  }
  const int tip = add_frame(&x.s, 2, 0.3, 0.2, 0.4), ghost = add_ghost(&x.s, YOKE_BODY_RIGID);
  set_flexible(connect(&x.s, YOKE_CONNECTION_FIXED, tip, ghost));
  x.n_inputs = ghost_inputs(0, YOKE_BODY_RIGID, x.inputs);
  for (int k = 0; k < 6; ++k) add_input(&x, YOKE_INPUT_FORCE, tip, k, 1.0);
  add_port(&x, tip, 0, 0);
  add_port(&x, add_frame(&x.s, YOKE_GROUND, 1, 2, 3), 0, 0);
  assert_int_equal(finish(&x, 0.0, 0.0), YOKE_OK);
  yoke_multibody_initial_guess(x.s.mb, q, v);
  x.stays = true;
  assert_false(check_subject(&x, 9u)); /* singular as long as nobody retires a row */
  assert_int_equal(yoke_redundancy_rows(x.s.mb, x.s.work, now, q, NULL, YOKE_REDUNDANCY_DISTANCE, &n, &rows), YOKE_OK);
  assert_int_equal(n, 3);
  yoke_multibody_retire(x.s.mb, n, rows);
  free(rows);
  assert_true(check_subject(&x, 9u));
  close_workshop(&x.s);
}

/* ---- chains ---- */

static void tangents_of_chains(void **state) {
  (void)state;
  yoke_chain chain = small_chain();
  for (int form = 0; form < 4; ++form) { /* alone; alone with factors; with quadratures; tied to a particle */
    subject x;
    memset(&x, 0, sizeof x);
    open_workshop(&x.s);
    snprintf(x.label, sizeof x.label, "chain, form %d", form);
    x.is_plain                             = form < 2;
    x.s.model.gravity[0]                   = 1.5;
    add_body(&x.s, YOKE_BODY_CHAIN)->chain = &chain;
    const int first = add_frame(&x.s, 0, 0, 0, 0), last = add_frame(&x.s, 0, 0, 0, 0);
    x.s.frames[first].mass = 1;
    x.s.frames[last].mass  = 4;
    add_input(&x, YOKE_INPUT_FORCE, last, 0, 1.0);
    add_input(&x, YOKE_INPUT_FORCE, first, 0, form == 0 ? 1.0 : -1.0);
    add_input(&x, YOKE_INPUT_FORCE, last, 0, 1.0);
    add_port(&x, first, 0, 0);
    add_port(&x, last, 0, 0);
    if (form == 3) {
      add_body(&x.s, YOKE_BODY_PARTICLE);
      connect(&x.s, YOKE_CONNECTION_SPHERICAL, last, add_frame(&x.s, 1, 0, 0, 0));
    }
    assert_int_equal(finish(&x, 0.0, 0.0), YOKE_OK);
    assert_string_equal(x.s.equations.ops->kind, form < 2 ? "chain" : "multibody");
    assert_true(check_subject(&x, 3u));
    close_workshop(&x.s);
  }
}

/* ---- jumps ---- */

/* What a load on a mass at (x, v) = (k1, k2), or a law between it and a ghost at u, says of two places. */
static bool are_on_one_side(const char *load, const char *law, const double a[3], const double b[3]) {
  subject  x;
  uint64_t branch[2];
  memset(&x, 0, sizeof x);
  open_workshop(&x.s);
  add_body(&x.s, YOKE_BODY_MASS1D);
  x.s.variables[0]      = (yoke_variable){.body = 0};
  x.s.variables[1]      = (yoke_variable){.body = 0, .is_velocity = true};
  x.s.model.n_variables = 2;
  const int frame = add_frame(&x.s, 0, 0, 0, 0), ghost = add_ghost(&x.s, YOKE_BODY_MASS1D);
  if (load != NULL) {
    x.s.loads[x.s.model.n_loads++] = (yoke_load){.name = load_name, .kind = YOKE_LOAD_FORCE, .frame = frame};
    x.s.loads[0].value[0]          = expression(&x.s, load);
  }
  yoke_connection *c = connect(&x.s, YOKE_CONNECTION_SPRING_DAMPER, ghost, frame);
  if (law != NULL) c->law.expression = expression(&x.s, law);
  add_input(&x, YOKE_INPUT_GHOST_P, 0, 0, 1.0);
  assert_int_equal(finish(&x, 0.0, 0.0), YOKE_OK);
  const yoke_equations *e = &x.s.equations;
  for (int i = 0; i < 2; ++i) {
    const double *at   = i == 0 ? a : b;
    const double  q[8] = {at[0]}; /* modes of jumps behind it: free */
    branch[i]          = e->ops->branch(e->self, x.s.work, 0.1 + i, q, at + 1, at + 2);
  }
  close_workshop(&x.s);
  return branch[0] == branch[1];
}

static void branch_tells_sides_of_jumps_of_the_state(void **state) {
  (void)state;
  const double left[3] = {-0.3, 2.0, 0.0}, right[3] = {0.3, 2.0, 0.0}, far[3] = {1.3, 2.0, 0.0},
               pulled[3]             = {-0.3, 2.0, -1.0};
  static const char *const jumping[] = {"step(k1)",       "sign(k1) + 2",     "floor(k1)",         "3*ceil(k1*k2)",
                                        "mod(k1, 5)",     "if(k1 > 0, 1, 2)", "(k1 < 0) * sin(t)", "not (k1 >= 0)",
                                        "step(k1 - 0*t)", "step(sin(k1))"};
  static const char *const smooth[] = {"abs(k1)", "min(k1, 0) + max(k1, k2)", "step(t - 0.5)", "floor(3*t)*k1", "k1^2"};
  for (size_t i = 0; i < sizeof jumping / sizeof jumping[0]; ++i) {
    assert_false(are_on_one_side(jumping[i], NULL, left, right));
    assert_true(are_on_one_side(jumping[i], NULL, left, (const double[]){-0.4, 2.0, 0.0}));
  }
  for (size_t i = 0; i < sizeof smooth / sizeof smooth[0]; ++i)
    assert_true(are_on_one_side(smooth[i], NULL, left, right));
  assert_false(are_on_one_side("floor(k1)", NULL, right, far));
  assert_true(are_on_one_side("step(k1)", NULL, right, far));
  /* a law of the deflection `t`, its rate k1 and the time k2: the ghost moves it too */
  assert_false(are_on_one_side(NULL, "step(t)", left, right));
  assert_false(are_on_one_side(NULL, "step(t)", left, pulled));
  assert_true(are_on_one_side(NULL, "step(t)", right, far));
  assert_true(are_on_one_side(NULL, "step(k2 - 0.5) + t", left, right));
  assert_false(are_on_one_side(NULL, "sign(k1)", left, (const double[]){-0.3, -2.0, 0.0}));
  assert_true(are_on_one_side(NULL, NULL, left, right));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tangents_of_forces_and_copies_at_ghosts),
      cmocka_unit_test(tangents_of_multipliers_and_second_multipliers),
      cmocka_unit_test(tangents_of_guided_rows_and_their_reactions),
      cmocka_unit_test(tangents_of_loads_motions_and_laws),
      cmocka_unit_test(tangents_of_loads_that_read_accelerations_and_forces_of_joints),
      cmocka_unit_test(tangents_of_a_redundant_mechanism_stay_on_its_joints),
      cmocka_unit_test(tangents_of_chains),
      cmocka_unit_test(branch_tells_sides_of_jumps_of_the_state),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
