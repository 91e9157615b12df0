/* What expressions read and outputs show besides components of q and v: frames of bodies and coordinates of joints.
 *
 * A frame at c = R origin of its body, w and alpha in inertial axes:
 *   C = r + c,  C' = v + w x c,  C'' = a + alpha x c + w x (w x c),
 * and by small displacements (dr, dphi) of the body at fixed v and fixed omega in body axes, and by (dv, R domega):
 *   dC = dr + dphi x c,  dC' = dphi x (w x c) + dv + R domega x c.
 * Euler parameters of its axes are linear in those of its body, angular velocities in its axes in those of its body. */
#include "model/multibody_traversal.h"

#include "linalg/columns.h"

/* ---- frames ---- */

static void set_frame(const yoke_multibody *mb, int index, mb_frame *out) {
  const yoke_frame *frame = &mb->model->frames[index];
  *out                    = (mb_frame){.node = mb->frame_node[index], .kind = mb->nodes[mb->frame_node[index]].kind};
  memcpy(out->origin, frame->origin, sizeof out->origin);
  memcpy(out->axes, frame->axes, sizeof out->axes);
  quaternion_of_rotation(out->orientation, frame->axes);
  out->angle = yoke_frame_angle(frame);
}

/* Components of the origin; those of the orientation are behind them. */
static int n_point(const mb_frame *f) {
  return f->kind == YOKE_BODY_PLANAR ? 2 : 3;
}

static double point_value(const mb_frame *f, const mb_node *node, const yoke_pose *pose, const double *a,
                          yoke_quantity_level level, int k) {
  double c[3], wc[3], second[3] = {0.0};
  mat3_apply(c, pose->R, f->origin);
  if (level == YOKE_LEVEL_POSITION) return pose->r[k] + c[k];
  vec3_cross(wc, pose->w, c);
  if (level == YOKE_LEVEL_VELOCITY) return pose->v[k] + wc[k];
  double all[6] = {0.0}, alpha[3];
  for (int i = 0; i < node->nv; ++i) all[node->freedom[i]] = a[node->iv + i];
  mat3_apply(alpha, pose->R, all + 3);
  vec3_add(second, 1.0, all);
  vec3_add_cross(second, 1.0, alpha, c);
  vec3_add_cross(second, 1.0, pose->w, wc);
  return second[k];
}

/* Component k of the orientation of a planar frame, or of one in space. */
static double turning_value(const mb_frame *f, const mb_node *node, const double *q, const double *v, const double *a,
                            yoke_quantity_level level, int k) {
  const double *rate = (level == YOKE_LEVEL_VELOCITY ? v : a) + (level == YOKE_LEVEL_POSITION ? 0 : node->iv);
  if (f->kind == YOKE_BODY_PLANAR) return level == YOKE_LEVEL_POSITION ? q[node->iq + 2] + f->angle : rate[2];
  if (level == YOKE_LEVEL_POSITION) {
    double p[4];
    mb_turn_by(p, q + node->iq + 3, f->orientation);
    return p[k];
  }
  return f->axes[k] * rate[3] + f->axes[3 + k] * rate[4] + f->axes[6 + k] * rate[5];
}

double yoke_multibody_frame(const yoke_multibody *mb, int index, yoke_quantity_level level, int k, const double *q,
                            const double *v, const double *a) {
  mb_frame f;
  set_frame(mb, index, &f);
  const mb_node *node = &mb->nodes[f.node];
  if (k >= n_point(&f)) return turning_value(&f, node, q, v, a, level, k - n_point(&f));
  yoke_pose pose;
  mb_node_pose(node, q, v, &pose);
  return point_value(&f, node, &pose, a, level, k);
}

/* ---- joints ---- */

/* Deflection of a force element, which is compiled. */
static void set_deflection(const yoke_multibody *mb, int connection, yoke_coordinate *out) {
  const yoke_force_element *el = &mb->forces[mb->connection_force[connection]];
  *out                         = (yoke_coordinate){.link = el->link, .row = el->row[0], .offset = el->offset[0]};
}

static void set_joint(const yoke_multibody *mb, int connection, int coordinate, yoke_coordinate *out) {
  const yoke_connection *c = &mb->model->connections[connection];
  yoke_joint_coordinate(mb->model, c, coordinate, out);
  for (int side = 0; side < 2; ++side) out->link.node[side] = mb->frame_node[c->frame[side]];
}

/* Poses of the two ends, kept or made; `link` then counts 0 and 1. */
static void take_ends(const yoke_multibody *mb, const yoke_pose *poses, const double *q, const double *v,
                      yoke_coordinate *c, yoke_pose ends[2]) {
  for (int side = 0; side < 2; ++side) {
    if (poses != NULL)
      ends[side] = poses[c->link.node[side]];
    else
      mb_node_pose(&mb->nodes[c->link.node[side]], q, v, &ends[side]);
    c->link.node[side] = side;
  }
}

double yoke_multibody_coordinate(const yoke_multibody *mb, int connection, int coordinate, const double *q,
                                 const double *v, double *rate) {
  yoke_coordinate c;
  yoke_pose       ends[2];
  set_joint(mb, connection, coordinate, &c);
  take_ends(mb, NULL, q, v, &c, ends);
  return yoke_coordinate_value(&c, ends, rate);
}

/* ---- variables ---- */

static void set_quantity(const yoke_multibody *mb, int k, mb_quantity *out) {
  const yoke_variable *v = &mb->model->variables[k];
  *out                   = (mb_quantity){.number      = k + 1,
                                         .is_between  = v->kind != YOKE_VARIABLE_FRAME,
                                         .is_velocity = v->is_velocity,
                                         .component   = v->component};
  if (v->kind == YOKE_VARIABLE_DEFLECTION)
    set_deflection(mb, v->object, &out->coordinate);
  else if (v->kind == YOKE_VARIABLE_JOINT)
    set_joint(mb, v->object, v->component, &out->coordinate);
  else
    set_frame(mb, v->object, &out->frame);
}

static void set_felt(const yoke_multibody *mb, int k, mb_felt *out) {
  const yoke_variable *v = &mb->model->variables[k];
  *out                   = (mb_felt){.number = k + 1, .connection = -1, .index = -1, .component = v->component};
  if (v->kind == YOKE_VARIABLE_ACCELERATION) {
    out->index = mb->body_v[v->body] + v->mass + v->component;
  } else if (v->kind == YOKE_VARIABLE_FRAME_ACCELERATION) {
    set_frame(mb, v->object, &out->frame);
  } else {
    out->connection = v->object;
    out->is_element = mb->connection_force[v->object] >= 0;
    out->index      = yoke_multibody_multiplier_at(mb, v->object, v->component);
  }
}

/* Numbers of a whole model are what they are until somebody sets them, outputs of foreign subsystems 0. Equations that were compiled without
 * the input of a signal take it as 0. */
static mb_signal signal_of(const yoke_multibody *mb, int k, const yoke_multibody_options *options) {
  const yoke_variable *v   = &mb->model->variables[k];
  mb_signal            out = {.number = k + 1, .input = -1};
  if (v->kind == YOKE_VARIABLE_INPUT) out.value = mb->model->inputs[v->object].value;
  if (v->kind == YOKE_VARIABLE_SIGNAL && v->object < options->n_inputs &&
      (options->inputs[v->object].kind == YOKE_INPUT_SIGNAL || options->inputs[v->object].kind == YOKE_INPUT_LAMBDA))
    out.input = v->object; /* a number of its own, or the force of a joint at a ghost */
  return out;
}

void mb_set_variables(yoke_multibody *mb, const yoke_multibody_options *options) {
  for (int k = 0; k < mb->model->n_variables; ++k) {
    const yoke_variable *v   = &mb->model->variables[k];
    mb_variable         *out = &mb->variables[k];
    *out                     = (mb_variable){.quantity = -1, .signal = -1, .felt = -1};
    switch (v->kind) {
    case YOKE_VARIABLE_STATE:
      out->is_velocity = v->is_velocity;
      out->index       = v->mass + v->component + (v->is_velocity ? mb->body_v : mb->body_q)[v->body];
      break;
    case YOKE_VARIABLE_FRAME:
    case YOKE_VARIABLE_JOINT:
    case YOKE_VARIABLE_DEFLECTION:
      set_quantity(mb, k, &mb->quantities[mb->n_quantities]);
      out->quantity = mb->n_quantities++;
      break;
    case YOKE_VARIABLE_INPUT:
    case YOKE_VARIABLE_FOREIGN:
    case YOKE_VARIABLE_SIGNAL:
      mb->signals[mb->n_signals] = signal_of(mb, k, options);
      out->signal                = mb->n_signals++;
      break;
    case YOKE_VARIABLE_ACCELERATION:
    case YOKE_VARIABLE_FRAME_ACCELERATION:
    case YOKE_VARIABLE_FORCE:
      set_felt(mb, k, &mb->felt[mb->n_felt]);
      out->felt = mb->n_felt++;
      break;
    }
  }
  for (int i = 0; i < mb->model->n_events; ++i) {
    const yoke_event *event = &mb->model->events[i];
    mb->events_feel         = mb->events_feel || yoke_model_feels(mb->model, event->when);
    for (int k = 0; k < event->n_set; ++k)
      mb->events_feel = mb->events_feel || yoke_model_feels(mb->model, event->value[k]);
  }
}

void mb_add_deflection(yoke_multibody *mb, int number, int connection, bool is_rate) {
  mb_quantity *x = &mb->quantities[mb->n_quantities];
  *x             = (mb_quantity){.number = number, .is_between = true, .is_velocity = is_rate};
  set_deflection(mb, connection, &x->coordinate);
  mb->variables[number - 1] =
      (mb_variable){.quantity = mb->n_quantities++, .signal = -1, .felt = -1, .is_velocity = is_rate};
}

static double between_value(const yoke_multibody *mb, const yoke_pose *poses, const mb_quantity *x, const double *q,
                            const double *v) {
  yoke_coordinate c = x->coordinate;
  yoke_pose       ends[2];
  double          rate;
  take_ends(mb, poses, q, v, &c, ends);
  const double value = yoke_coordinate_value(&c, ends, &rate);
  return x->is_velocity ? rate : value;
}

static double frame_value(const yoke_multibody *mb, const yoke_pose *poses, const mb_quantity *x, const double *q,
                          const double *v) {
  const mb_frame           *f     = &x->frame;
  const mb_node            *node  = &mb->nodes[f->node];
  const yoke_quantity_level level = x->is_velocity ? YOKE_LEVEL_VELOCITY : YOKE_LEVEL_POSITION;
  yoke_pose                 own;
  if (x->component >= n_point(f)) return turning_value(f, node, q, v, NULL, level, x->component - n_point(f));
  if (poses == NULL) mb_node_pose(node, q, v, &own);
  return point_value(f, node, poses != NULL ? &poses[f->node] : &own, NULL, level, x->component);
}

/* ---- what is felt ---- */

static double felt_acceleration(const yoke_multibody *mb, const yoke_pose *poses, const mb_felt *x, const double *q,
                                const double *v, const double *a) {
  if (x->index >= 0) return a[x->index];
  const mb_frame *f    = &x->frame;
  const mb_node  *node = &mb->nodes[f->node];
  yoke_pose       own;
  if (x->component >= n_point(f))
    return turning_value(f, node, q, v, a, YOKE_LEVEL_ACCELERATION, x->component - n_point(f));
  if (poses == NULL) mb_node_pose(node, q, v, &own);
  return point_value(f, node, poses != NULL ? &poses[f->node] : &own, a, YOKE_LEVEL_ACCELERATION, x->component);
}

double mb_felt_value(const yoke_multibody *mb, const mb_work *w, int i, const double *q, const double *v,
                     const double *a, const double *lambda) {
  const mb_felt *x = &mb->felt[i];
  if (x->connection < 0) return felt_acceleration(mb, w->pose, x, q, v, a);
  return x->index >= 0 ? lambda[x->index] : 0.0;
}

void mb_feel(const yoke_multibody *mb, const mb_work *w, const double *q, const double *v, const double *a,
             const double *lambda) {
  for (int i = 0; i < mb->n_felt; ++i) {
    if (mb->felt[i].is_element) continue;
    const bool is_known = mb->felt[i].connection >= 0 || a != NULL; /* GGL has no accelerations */
    w->felt[i]          = is_known ? mb_felt_value(mb, w, i, q, v, a, lambda) : 0.0;
  }
}

void mb_feel_at(const yoke_multibody *mb, void *work, double t, const double *q, const double *v, const double *u) {
  mb_work w;
  mb_work_carve(mb, work, &w);
  const bool is_solved = mb_derivative(mb, work, t, q, v, u, NULL, w.a, NULL) == YOKE_OK;
  if (is_solved) mb_feel(mb, &w, q, v, w.a, w.lambda);
  for (int i = 0; i < mb->n_felt; ++i) {
    const mb_felt *x = &mb->felt[i];
    double         force[YOKE_CONNECTION_MAX_ROWS], g[YOKE_CONNECTION_MAX_ROWS];
    if (!is_solved) w.felt[i] = (double)NAN;
    if (!is_solved || !x->is_element) continue;
    (void)yoke_multibody_connection_output(mb, work, x->connection, t, q, v, u, w.lambda, force, g);
    w.felt[i] = force[x->component];
  }
}

int mb_input_of(const yoke_multibody *mb, int k) {
  const int signal = k > 0 ? mb->variables[k - 1].signal : -1; /* 0 is t */
  return signal >= 0 ? mb->signals[signal].input : -1;
}

void mb_variables(const yoke_multibody *mb, const mb_work *w, double t, const double *q, const double *v,
                  const double *u) {
  w->variables[0] = t;
  for (int k = 0; k < mb->model->n_variables; ++k) {
    w->variables[k + 1] = mb->variables[k].is_velocity ? v[mb->variables[k].index] : q[mb->variables[k].index];
  }
  for (int i = 0; i < mb->n_quantities; ++i) {
    const mb_quantity *x    = &mb->quantities[i];
    w->variables[x->number] = x->is_between ? between_value(mb, w->pose, x, q, v) : frame_value(mb, w->pose, x, q, v);
  }
  for (int i = 0; i < mb->n_felt; ++i) w->variables[mb->felt[i].number] = w->felt[i];
  for (int i = 0; i < mb->n_signals; ++i) {
    const mb_signal *x      = &mb->signals[i];
    w->variables[x->number] = u != NULL && x->input >= 0 ? u[x->input] : x->value;
  }
  if (mb->n_jumps > 0) mb_jump_variables(mb, w, q);
}

void yoke_multibody_variables(const yoke_multibody *mb, void *work, double t, const double *q, const double *v,
                              const double *u, double *values) {
  mb_work own, w = {.variables = values};
  if (mb->n_felt > 0) {
    mb_work_carve(mb, work, &own);
    mb_feel_at(mb, work, t, q, v, u);
    w.felt = own.felt;
  }
  mb_variables(mb, &w, t, q, v, u);
}

bool yoke_multibody_events_feel(const yoke_multibody *mb) {
  return mb->events_feel;
}

int yoke_multibody_variable_at(const yoke_multibody *mb, int k, bool *is_velocity) {
  *is_velocity = mb->variables[k - 1].is_velocity;
  return mb->variables[k - 1].index;
}

/* ---- gradients ---- */

static void add_entry(mb_gradient *g, yoke_quantity_level level, int index, double value) {
  g->entry[g->n].level   = level;
  g->entry[g->n].index   = index;
  g->entry[g->n++].value = value;
}

/* By the place of a body, (dr, dphi) in inertial axes. */
static void add_place(const mb_node *node, const double *q, const double by[6], mb_gradient *g) {
  double by_q[7];
  columns_to_q(node, q, 1, by, 6, by_q);
  for (int k = 0; k < node->nq; ++k) add_entry(g, YOKE_LEVEL_POSITION, node->iq + k, by_q[k]);
}

/* By its motion, (dv, R domega), or the accelerations (da, R domega'). */
static void add_motion(const mb_node *node, const double R[9], yoke_quantity_level level, const double by[6],
                       mb_gradient *g) {
  double body[6];
  vec3_copy(body, by);
  mat3_apply_transposed(body + 3, R, by + 3);
  for (int k = 0; k < node->nv; ++k) add_entry(g, level, node->iv + k, body[node->freedom[k]]);
}

static void point_gradient(const mb_frame *f, const mb_node *node, const yoke_pose *pose, const double *q,
                           const double *a, yoke_quantity_level level, int k, mb_gradient *g) {
  double e[3] = {0.0}, c[3], wc[3], by[6] = {0.0}, turned[6] = {0.0};
  mat3_apply(c, pose->R, f->origin);
  if (level == YOKE_LEVEL_ACCELERATION) {
    double all[6] = {0.0}, alpha[3], by_q[6], by_v[6];
    for (int i = 0; i < node->nv; ++i) all[node->freedom[i]] = a[node->iv + i];
    mat3_apply(alpha, pose->R, all + 3);
    mb_acceleration_rows(c, pose->w, alpha, k, by_q, by_v, by);
    add_place(node, q, by_q, g);
    add_motion(node, pose->R, YOKE_LEVEL_VELOCITY, by_v, g);
    add_motion(node, pose->R, YOKE_LEVEL_ACCELERATION, by, g);
    return;
  }
  e[k] = 1.0;
  vec3_copy(by, e);
  vec3_cross(by + 3, c, e);
  if (level == YOKE_LEVEL_POSITION) {
    add_place(node, q, by, g);
    return;
  }
  vec3_cross(wc, pose->w, c);
  vec3_cross(turned + 3, wc, e);
  add_place(node, q, turned, g);
  add_motion(node, pose->R, YOKE_LEVEL_VELOCITY, by, g);
}

static void turning_gradient(const mb_frame *f, const mb_node *node, yoke_quantity_level level, int k, mb_gradient *g) {
  const bool is_position = level == YOKE_LEVEL_POSITION;
  if (f->kind == YOKE_BODY_PLANAR) {
    add_entry(g, level, (is_position ? node->iq : node->iv) + 2, 1.0);
    return;
  }
  for (int i = 0; !is_position && i < 3; ++i) add_entry(g, level, node->iv + 3 + i, f->axes[3 * i + k]);
  for (int i = 0; is_position && i < 4; ++i) {
    double unit[4] = {0.0}, p[4];
    unit[i]        = 1.0;
    mb_turn_by(p, unit, f->orientation);
    add_entry(g, level, node->iq + 3 + i, p[k]);
  }
}

static void frame_gradient(const mb_frame *f, const mb_node *node, const yoke_pose *pose, const double *q,
                           const double *a, yoke_quantity_level level, int k, mb_gradient *g) {
  if (k < n_point(f))
    point_gradient(f, node, pose, q, a, level, k, g);
  else
    turning_gradient(f, node, level, k - n_point(f), g);
}

static void between_gradient(const yoke_multibody *mb, const mb_work *w, const yoke_coordinate *x, bool is_rate,
                             const double *q, mb_gradient *g) {
  const yoke_link *link = &x->link;
  yoke_link_state  state;
  double           grad[12], turned[12];
  yoke_link_state_set(link, w->pose, &state);
  yoke_row_gradient(&x->row, &state, grad);
  if (is_rate) yoke_row_rate_gradient(&x->row, &state, grad, turned);
  for (int side = 0; side < 2; ++side) {
    const mb_node *node = &mb->nodes[link->node[side]];
    add_place(node, q, (is_rate ? turned : grad) + 6 * side, g);
    if (is_rate) add_motion(node, w->pose[link->node[side]].R, YOKE_LEVEL_VELOCITY, grad + 6 * side, g);
  }
}

/* By a or lambda, and for a frame by the rest too. */
static void felt_gradient(const yoke_multibody *mb, const mb_work *w, const mb_felt *x, const double *q,
                          const double *a, mb_gradient *g) {
  const int node = x->frame.node;
  if (x->index >= 0)
    add_entry(g, x->connection < 0 ? YOKE_LEVEL_ACCELERATION : YOKE_LEVEL_FORCE, x->index, 1.0);
  else if (x->connection < 0 && a != NULL) /* NULL: GGL, whose rows of forces nobody reads then */
    frame_gradient(&x->frame, &mb->nodes[node], &w->pose[node], q, a, YOKE_LEVEL_ACCELERATION, x->component, g);
}

void mb_variable_gradient(const yoke_multibody *mb, const mb_work *w, int k, const double *q, const double *a,
                          mb_gradient *g) {
  const mb_variable *variable = &mb->variables[k - 1];
  g->n                        = 0;
  if (variable->signal >= 0 || variable->is_held) return;
  if (variable->felt >= 0) {
    felt_gradient(mb, w, &mb->felt[variable->felt], q, a, g);
    return;
  }
  if (variable->quantity < 0) {
    add_entry(g, variable->is_velocity ? YOKE_LEVEL_VELOCITY : YOKE_LEVEL_POSITION, variable->index, 1.0);
    return;
  }
  const mb_quantity        *x     = &mb->quantities[variable->quantity];
  const yoke_quantity_level level = x->is_velocity ? YOKE_LEVEL_VELOCITY : YOKE_LEVEL_POSITION;
  const int                 node  = x->frame.node;
  if (x->is_between)
    between_gradient(mb, w, &x->coordinate, x->is_velocity, q, g);
  else
    frame_gradient(&x->frame, &mb->nodes[node], &w->pose[node], q, NULL, level, x->component, g);
}

/* ---- tangents ---- */

/* dy [n] := gradient times directions. */
static void apply_gradient(const mb_gradient *g, int n, const double *dq, const double *dv, const double *da,
                           double *dy) {
  const double *const rows[3] = {
      [YOKE_LEVEL_POSITION] = dq, [YOKE_LEVEL_VELOCITY] = dv, [YOKE_LEVEL_ACCELERATION] = da};
  memset(dy, 0, (size_t)n * sizeof *dy);
  for (int e = 0; e < g->n; ++e) {
    const double *d = rows[g->entry[e].level];
    if (d != NULL) yoke_columns_add(1, &g->entry[e].value, n, d + (ptrdiff_t)g->entry[e].index * n, dy);
  }
}

void yoke_multibody_frame_tangent(const yoke_multibody *mb, int frame, yoke_quantity_level level, int k,
                                  const double *q, const double *v, const double *a, int n, const double *dq,
                                  const double *dv, const double *da, double *dy) {
  mb_frame    f;
  mb_gradient g = {.n = 0};
  yoke_pose   pose;
  set_frame(mb, frame, &f);
  mb_node_pose(&mb->nodes[f.node], q, v, &pose);
  frame_gradient(&f, &mb->nodes[f.node], &pose, q, a, level, k, &g);
  apply_gradient(&g, n, dq, dv, da, dy);
}

void yoke_multibody_coordinate_tangent(const yoke_multibody *mb, void *work, int connection, int coordinate,
                                       bool is_rate, const double *q, const double *v, int n, const double *dq,
                                       const double *dv, double *dy) {
  yoke_coordinate c;
  mb_gradient     g = {.n = 0};
  mb_work         w;
  mb_work_carve(mb, work, &w);
  set_joint(mb, connection, coordinate, &c);
  for (int side = 0; side < 2; ++side) {
    const int node = c.link.node[side];
    mb_node_pose(&mb->nodes[node], q, v, &w.pose[node]);
  }
  between_gradient(mb, &w, &c, is_rate, q, &g);
  apply_gradient(&g, n, dq, dv, NULL, dy);
}
