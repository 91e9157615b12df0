/* Compilation of a model into nodes, joints, forces and loads. */
#include "model/multibody_internal.h"

#include "base/memory.h"
#include "linalg/space.h"
#include "model/model_length.h"
#include "model/model_switches.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double row_zero = 5e-6; /* gap, in lengths of the model or rad, that rounding of what was typed explains */

static void mb_destroy(void *self) {
  yoke_multibody *mb = self;
  if (mb == NULL) return;
  for (int c = 0; mb->chains != NULL && c < mb->n_chains; ++c) yoke_chain_kernel_destroy(&mb->chains[c].kernel);
  yoke_pattern_destroy(&mb->G_pattern);
  yoke_block_ldl_destroy(&mb->ldl);
  yoke_switches_clear(&mb->switches);
  mb_forget_jumps(mb);
  yoke_arena arena = mb->arena;
  yoke_arena_free(&arena);
}

/* ---- nodes ---- */

static void keep_freedoms(mb_node *node, int n, const int *freedom) {
  node->nv = n;
  for (int i = 0; i < n; ++i) {
    node->freedom[i] = freedom[i];
    if (freedom[i] < 3) node->inverse_mass[freedom[i]] = 1.0 / node->mass;
  }
}

static yoke_status node_of_body(yoke_context *ctx, const yoke_body *body, mb_node *node) {
  static const int six[6] = {0, 1, 2, 3, 4, 5}, planar[3] = {0, 1, 5};
  node->kind    = body->kind;
  node->mass    = body->mass;
  node->is_copy = body->is_copy;
  if (!(body->mass > 0.0) || !isfinite(body->mass)) {
    return yoke_fail(ctx, YOKE_E_MODEL, "body '%s': mass is %g, expected > 0", body->name, body->mass);
  }
  switch (body->kind) {
  case YOKE_BODY_RIGID: {
    const double *J  = body->inertia;
    const double  d2 = J[0] * J[4] - J[1] * J[3];
    node->nq         = 7;
    memcpy(node->inertia, J, sizeof node->inertia);
    const double det = mat3_invert(node->inverse_inertia, J);
    if (!(J[0] > 0.0 && d2 > 0.0 && det > 0.0)) {
      return yoke_fail(ctx, YOKE_E_MODEL, "body '%s': inertia is not positive definite (minors %g, %g, %g)", body->name,
                       J[0], d2, det);
    }
    keep_freedoms(node, 6, six);
    return YOKE_OK;
  }
  case YOKE_BODY_PLANAR:
    node->nq = 3;
    if (!(body->inertia[8] > 0.0)) {
      return yoke_fail(ctx, YOKE_E_MODEL, "body '%s': inertia is %g, expected > 0", body->name, body->inertia[8]);
    }
    node->inertia[8]         = body->inertia[8];
    node->inverse_inertia[8] = 1.0 / body->inertia[8];
    keep_freedoms(node, 3, planar);
    return YOKE_OK;
  case YOKE_BODY_PARTICLE:
    node->nq = 3;
    keep_freedoms(node, 3, six);
    return YOKE_OK;
  case YOKE_BODY_MASS1D:
  case YOKE_BODY_CHAIN:
    node->nq = 1;
    keep_freedoms(node, 1, six);
    return YOKE_OK;
  }
  return yoke_fail(ctx, YOKE_E_INTERNAL, "body '%s': unknown kind %d", body->name, (int)body->kind);
}

/* Body and mass of a chain that a frame sits on, checked. */
static yoke_status check_frame(yoke_context *ctx, const yoke_model *model, int f) {
  const yoke_frame *frame = &model->frames[f];
  if (frame->body == YOKE_GROUND) return YOKE_OK;
  if (frame->body <= YOKE_FIRST_GHOST && YOKE_FIRST_GHOST - frame->body < model->n_ghosts) return YOKE_OK;
  if (frame->body < 0 || frame->body >= model->n_bodies) {
    return yoke_fail(ctx, YOKE_E_MODEL, "frame '%s': there is no body %d", frame->name, frame->body);
  }
  const yoke_body *body = &model->bodies[frame->body];
  if (body->kind == YOKE_BODY_CHAIN && (frame->mass < 0 || frame->mass >= body->chain->n)) {
    return yoke_fail(ctx, YOKE_E_MODEL, "frame '%s': chain '%s' has %d masses, there is no mass %d", frame->name,
                     body->name, body->chain->n, frame->mass + 1);
  }
  return YOKE_OK;
}

static yoke_status chain_nodes(yoke_multibody *mb, yoke_context *ctx, int b, mb_chain *chain, int *at) {
  const yoke_model *model = mb->model;
  YOKE_TRY(yoke_chain_kernel_create(ctx, model->bodies[b].chain, &chain->kernel));
  chain->n          = model->bodies[b].chain->n;
  chain->iq         = mb->body_q[b];
  chain->iv         = mb->body_v[b];
  chain->first_node = *at;
  int *node         = yoke_allocate((size_t)chain->n, sizeof *node);
  if (node == NULL) return yoke_out_of_memory(ctx, "chain '%s'", model->bodies[b].name);
  yoke_status status = YOKE_OK;
  for (int f = 0; status == YOKE_OK && f < model->n_frames; ++f) {
    const int mass = model->frames[f].mass;
    if (model->frames[f].body != b) continue;
    if (node[mass] == 0) {
      yoke_body body = model->bodies[b];
      body.mass      = yoke_chain_kernel_mass(chain->kernel)[mass];
      mb_node *n     = &mb->nodes[*at];
      status         = node_of_body(ctx, &body, n);
      n->iq          = chain->iq + mass;
      n->iv          = chain->iv + mass;
      node[mass]     = (*at)++;
    }
    mb->frame_node[f] = node[mass];
  }
  chain->n_nodes = *at - chain->first_node;
  free(node);
  return status;
}

/* Invariant 4. Which inputs move them is set with the inputs. */
static yoke_status build_ghosts(yoke_multibody *mb, yoke_context *ctx) {
  mb->ghosts = yoke_arena_take(&mb->arena, (size_t)mb->model->n_ghosts + 1, sizeof *mb->ghosts);
  YOKE_TRY(yoke_arena_check(&mb->arena, ctx, "%d ghosts", mb->model->n_ghosts));
  mb->n_ghosts = mb->model->n_ghosts;
  for (int g = 0; g < mb->n_ghosts; ++g) {
    const yoke_ghost *given = &mb->model->ghosts[g];
    mb_ghost         *ghost = &mb->ghosts[g];
    ghost->shape            = given->shape;
    memcpy(ghost->p, given->p, sizeof ghost->p);
    memcpy(ghost->v, given->v, sizeof ghost->v);
    for (int k = 0; k < YOKE_PORT_MAX_P; ++k) ghost->from_p[k] = -1;
    for (int k = 0; k < YOKE_PORT_MAX_V; ++k) ghost->from_v[k] = -1;
  }
  return YOKE_OK;
}

static yoke_status build_nodes(yoke_multibody *mb, yoke_context *ctx, const int *order) {
  const yoke_model *model  = mb->model;
  const size_t      bodies = (size_t)model->n_bodies + 1, frames = (size_t)model->n_frames + 1;
  mb->nodes      = yoke_arena_take(&mb->arena, bodies + frames + (size_t)model->n_ghosts, sizeof *mb->nodes);
  mb->body_q     = yoke_arena_take(&mb->arena, bodies, sizeof *mb->body_q);
  mb->body_v     = yoke_arena_take(&mb->arena, bodies, sizeof *mb->body_v);
  mb->body_node  = yoke_arena_take(&mb->arena, bodies, sizeof *mb->body_node);
  mb->frame_node = yoke_arena_take(&mb->arena, frames, sizeof *mb->frame_node);
  mb->chains     = yoke_arena_take(&mb->arena, bodies, sizeof *mb->chains);
  YOKE_TRY(yoke_arena_check(&mb->arena, ctx, "%d bodies", model->n_bodies));
  for (int f = 0; f < model->n_frames; ++f) YOKE_TRY(check_frame(ctx, model, f));
  int at = 1; /* node 0 is the ground */
  for (int k = 0; k < model->n_bodies; ++k) {
    const int        b    = order != NULL ? order[k] : k;
    const yoke_body *body = &model->bodies[b];
    mb->body_q[b]         = mb->nq_states;
    mb->body_v[b]         = mb->nv;
    mb->nq_states += yoke_body_nq(body);
    mb->nv += yoke_body_nv(body);
    if (body->kind == YOKE_BODY_CHAIN) {
      mb->body_node[b] = -1;
      YOKE_TRY(chain_nodes(mb, ctx, b, &mb->chains[mb->n_chains++], &at));
    } else {
      mb_node *node = &mb->nodes[at];
      YOKE_TRY(node_of_body(ctx, body, node));
      node->iq         = mb->body_q[b];
      node->iv         = mb->body_v[b];
      mb->body_node[b] = at++;
      mb->n_norms += body->kind == YOKE_BODY_RIGID;
    }
  }
  for (int f = 0; f < model->n_frames; ++f) {
    const int b = model->frames[f].body;
    if (b >= 0 && mb->body_node[b] >= 0) mb->frame_node[f] = mb->body_node[b];
    if (b <= YOKE_FIRST_GHOST) mb->frame_node[f] = at + YOKE_FIRST_GHOST - b;
  }
  mb->n_nodes = at;
  return build_ghosts(mb, ctx);
}

/* ---- connections ---- */

void mb_set_link(const yoke_multibody *mb, const int frame[2], yoke_link *link) {
  for (int side = 0; side < 2; ++side) {
    const yoke_frame *f = &mb->model->frames[frame[side]];
    link->node[side]    = mb->frame_node[frame[side]];
    memcpy(link->origin[side], f->origin, sizeof f->origin);
    memcpy(link->axes[side], f->axes, sizeof f->axes);
  }
}

const yoke_port_shape *mb_node_shape(const yoke_multibody *mb, int node) {
  if (node == 0) return NULL;
  return node < mb->n_nodes ? yoke_body_shape(mb->nodes[node].kind) : mb->ghosts[node - mb->n_nodes].shape;
}

static void link_shapes(const yoke_multibody *mb, const yoke_link *link, const yoke_port_shape *shape[2]) {
  for (int side = 0; side < 2; ++side) shape[side] = mb_node_shape(mb, link->node[side]);
}

static yoke_status check_distance(yoke_context *ctx, const yoke_connection *connection, double length) {
  if (length > 0.0 && isfinite(length)) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_MODEL,
                   "connection '%s': distance is %g m, expected > 0 (use spherical for coinciding points)",
                   connection->name, length);
}

static bool has_lambda(const yoke_multibody_options *options, int c) {
  for (int i = 0; i < options->n_inputs; ++i) {
    if (options->inputs[i].kind == YOKE_INPUT_LAMBDA && options->inputs[i].frame == c) return true;
  }
  return false;
}

/* Rows of a joint that only extras of a port look at; 0: all that act. */
static unsigned requested_rows(const yoke_multibody_options *options, int c) {
  unsigned rows = 0;
  for (int k = 0; options->port_request != NULL && k < options->n_ports; ++k) {
    if (options->port_request[k].extras != 0 && options->port_request[k].connection == c)
      rows |= options->port_request[k].rows;
  }
  return rows;
}

/* Does a joint at a ghost act by its multipliers, or is it there for the extras of a port only (its multipliers are then 0)? */
static bool is_driven(const yoke_multibody_options *options, int c) {
  for (int k = 0; options->port_request != NULL && k < options->n_ports; ++k) {
    if (options->port_request[k].extras != 0 && options->port_request[k].connection == c) return true;
  }
  return has_lambda(options, c);
}

/* Input that is the multiplier of row r of connection c, -1: none. */
static int find_multiplier(const yoke_multibody_options *options, yoke_input_kind kind, int c, int r) {
  int found = -1;
  for (int i = 0; i < options->n_inputs; ++i) {
    const yoke_input *given = &options->inputs[i];
    if (given->kind == kind && given->frame == c && given->component == r) found = i;
  }
  return found;
}

/* A rigid joint at a ghost whose multipliers are inputs; rows without one carry no force. */
static yoke_status build_driven(yoke_multibody *mb, yoke_context *ctx, int c, const yoke_multibody_options *options) {
  const yoke_connection *connection = &mb->model->connections[c];
  mb_driven             *driven     = &mb->driven[mb->n_driven];
  const yoke_port_shape *shape[2];
  yoke_row               rows[6];
  const int              n = yoke_joint_rows(connection->kind, rows);
  *driven                  = (mb_driven){.connection = c};
  mb_set_link(mb, connection->frame, &driven->link);
  link_shapes(mb, &driven->link, shape);
  driven->side = mb_real_side(mb, &driven->link);
  if (n == 0 || connection->flexible || connection->motion != NULL || driven->side < 0) {
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "connection '%s': multipliers can be given only for a rigid joint without prescribed motion that "
                     "ends at one ghost",
                     connection->name);
  }
  const unsigned requested = requested_rows(options, c);
  for (int r = 0; r < n; ++r) {
    const int  input   = find_multiplier(options, YOKE_INPUT_LAMBDA, c, r);
    const bool skipped = requested != 0 && (requested >> r & 1u) == 0;
    if (input < 0 && (has_lambda(options, c) || skipped || yoke_row_is_idle(&rows[r], &driven->link, shape))) continue;
    driven->row[driven->n] = rows[r];
    if (connection->carrier > 0) (void)yoke_row_carried(&rows[r], connection->carrier - 1, &driven->row[driven->n]);
    driven->mu[driven->n]      = find_multiplier(options, YOKE_INPUT_MU, c, r);
    mb->has_mu                 = mb->has_mu || driven->mu[driven->n] >= 0;
    driven->input[driven->n++] = input;
  }
  ++mb->n_driven;
  return YOKE_OK;
}

/* Rows that this joint keeps rigid: its own unless it is flexible, and the prescribed motion. */
static yoke_status build_joint(yoke_multibody *mb, yoke_context *ctx, int c, const yoke_pose *guess, double t,
                               const bool *left_out) {
  const yoke_connection *connection = &mb->model->connections[c];
  mb_joint              *joint      = &mb->joints[mb->n_joints];
  yoke_row               rows[YOKE_CONNECTION_MAX_ROWS];
  int                    n = yoke_joint_rows(connection->kind, rows), first = connection->flexible ? n : 0;
  memset(joint, 0, sizeof *joint);
  joint->connection = c;
  joint->g0         = mb->ng;
  mb_set_link(mb, connection->frame, &joint->link);
  if (connection->motion != NULL) {
    if (!yoke_joint_coordinate_row(connection->kind, &rows[n])) {
      return yoke_fail(ctx, YOKE_E_MODEL, "connection '%s': a %s joint has no coordinate that a motion could prescribe",
                       connection->name, yoke_connection_kind_name(connection->kind));
    }
    joint->motion = connection->motion;
    ++n;
  }
  if (n > first && mb_is_cut(mb, &joint->link)) {
    return yoke_fail(ctx, YOKE_E_MODEL,
                     "connection '%s': a rigid %s joint cannot end at the copy of another subsystem's frame; make it "
                     "flexible or give its multipliers as inputs",
                     connection->name, yoke_connection_kind_name(connection->kind));
  }
  if (n > first && joint->link.node[0] == joint->link.node[1]) {
    return yoke_fail(ctx, YOKE_E_MODEL, "connection '%s': both ends are on the same body", connection->name);
  }
  const yoke_port_shape *shape[2];
  yoke_link_state        state;
  link_shapes(mb, &joint->link, shape);
  yoke_link_state_set(&joint->link, guess, &state);
  for (int i = first; i < n; ++i) {
    const bool is_motion = joint->motion != NULL && i == n - 1;
    double     grad[12], motion = 0.0, unused;
    double     s = yoke_row_gradient(&rows[i], &state, grad), offset = 0.0;
    if (rows[i].kind == YOKE_ROW_DISTANCE) {
      offset = connection->has_length ? connection->length : s;
      YOKE_TRY(check_distance(ctx, connection, offset));
    }
    if (left_out != NULL && left_out[i]) {
      mb->left_out[mb->n_left_out++] = (mb_left_out){joint->link, rows[i], c, i, offset};
      continue;
    }
    if (!yoke_row_is_idle(&rows[i], &joint->link, shape)) {
      joint->row[joint->n]      = rows[i];
      joint->own[joint->n]      = i;
      joint->offset[joint->n++] = offset;
      continue;
    }
    if (is_motion) mb_motion(joint, t, &motion, &unused, &unused);
    const double size = yoke_row_is_length(&rows[i]) ? mb->length + vec3_norm(state.p[0]) + vec3_norm(state.p[1]) : 1.0;
    if (is_motion || fabs(s - offset - motion) > row_zero * size) {
      char label[32];
      yoke_row_label(&rows[i], label, sizeof label);
      return yoke_fail(ctx, YOKE_E_MODEL,
                       "connection '%s': row '%s' is off by %.3g and no freedom of its bodies can close it",
                       connection->name, label, s - offset - motion);
    }
  }
  if (joint->n == 0) return YOKE_OK;
  mb->connection_joint[c] = mb->n_joints++;
  mb->ng += joint->n;
  mb->n_motions += joint->motion != NULL;
  return YOKE_OK;
}

static void build_force(yoke_multibody *mb, int c, const yoke_pose *guess) {
  const int *frame   = mb->model->connections[c].frame;
  const int  node[2] = {mb->frame_node[frame[0]], mb->frame_node[frame[1]]};
  yoke_force_element_compile(mb->model, c, node, guess, &mb->forces[mb->n_forces]);
  mb->connection_force[c] = mb->n_forces++;
  if (mb->model->connections[c].formula == NULL) return;
  mb->formulas[mb->n_formulas++] =
      (mb_formula){.force = mb->connection_force[c], .expression = mb->model->connections[c].formula};
  mb->needs_variables = true;
}

static const bool *left_out_of(const yoke_multibody_options *options, int connection) {
  return options->left_out != NULL ? options->left_out + (ptrdiff_t)YOKE_CONNECTION_MAX_ROWS * connection : NULL;
}

/* Room for all rows that are left out. */
static void take_left_out(yoke_multibody *mb, const yoke_multibody_options *options) {
  size_t n = 0;
  for (int i = 0; options->left_out != NULL && i < mb->model->n_connections * YOKE_CONNECTION_MAX_ROWS; ++i)
    n += options->left_out[i];
  mb->left_out = yoke_arena_take(&mb->arena, n, sizeof *mb->left_out);
}

static yoke_status build_connections(yoke_multibody *mb, yoke_context *ctx, const yoke_multibody_options *options,
                                     const int *order, const yoke_pose *guess) {
  const yoke_model *model = mb->model;
  const size_t      n     = (size_t)model->n_connections + 1;
  mb->joints              = yoke_arena_take(&mb->arena, n, sizeof *mb->joints);
  mb->forces              = yoke_arena_take(&mb->arena, n, sizeof *mb->forces);
  mb->formulas            = yoke_arena_take(&mb->arena, n, sizeof *mb->formulas);
  mb->driven              = yoke_arena_take(&mb->arena, n, sizeof *mb->driven);
  mb->guided              = yoke_arena_take(&mb->arena, n, sizeof *mb->guided);
  mb->connection_joint    = yoke_arena_take(&mb->arena, n, sizeof *mb->connection_joint);
  mb->connection_force    = yoke_arena_take(&mb->arena, n, sizeof *mb->connection_force);
  take_left_out(mb, options);
  YOKE_TRY(yoke_arena_check(&mb->arena, ctx, "%d connections", model->n_connections));
  for (int k = 0; k < model->n_connections; ++k) {
    const int              c          = order != NULL ? order[k] : k;
    const yoke_connection *connection = &model->connections[c];
    mb->connection_joint[c] = mb->connection_force[c] = -1;
    const bool is_joint                               = yoke_connection_is_joint(connection->kind);
    if (mb_is_guided(options, c)) continue;
    if (is_driven(options, c)) {
      YOKE_TRY(build_driven(mb, ctx, c, options));
      continue;
    }
    if (is_joint && (!connection->flexible || connection->motion != NULL)) {
      YOKE_TRY(build_joint(mb, ctx, c, guess, model->t_start, left_out_of(options, c)));
    }
    if (!is_joint || connection->flexible) build_force(mb, c, guess);
  }
  mb->n_rows = mb->ng;
  for (int c = 0; c < model->n_connections; ++c) { /* behind all others */
    if (mb_is_guided(options, c)) YOKE_TRY(mb_build_guided(mb, ctx, c, options));
  }
  mb->row_joint = yoke_arena_take(&mb->arena, (size_t)mb->n_rows + 1, sizeof *mb->row_joint);
  mb->retired   = yoke_arena_take(&mb->arena, (size_t)mb->n_rows + 1, sizeof *mb->retired);
  YOKE_TRY(yoke_arena_check(&mb->arena, ctx, "%d constraint rows", mb->n_rows));
  for (int j = 0; j < mb->n_joints + mb->n_guided; ++j) {
    for (int i = 0; i < mb->joints[j].n; ++i) mb->row_joint[mb->joints[j].g0 + i] = j;
  }
  return YOKE_OK;
}

/* ---- loads, inputs, variables ---- */

static void set_input(yoke_multibody *mb, int i, const yoke_input *input) {
  mb->inputs[i] = (mb_input){.node = -1};
  switch (input->kind) {
  case YOKE_INPUT_FORCE:
    mb->inputs[i] =
        (mb_input){.node = mb->frame_node[input->frame], .freedom = input->component, .factor = input->factor};
    memcpy(mb->inputs[i].origin, mb->model->frames[input->frame].origin, sizeof mb->inputs[i].origin);
    break;
  case YOKE_INPUT_GHOST_P: mb->ghosts[input->frame].from_p[input->component] = i; break;
  case YOKE_INPUT_GHOST_V: mb->ghosts[input->frame].from_v[input->component] = i; break;
  case YOKE_INPUT_LAMBDA:
  case YOKE_INPUT_MU:
  case YOKE_INPUT_ROW_ACCELERATION:
  case YOKE_INPUT_ROW_ACCELERATION_BARE:
  case YOKE_INPUT_PRESCRIBED: /* read through mb_driven and mb_guided */
  case YOKE_INPUT_IMAGE_P:
  case YOKE_INPUT_IMAGE_V:       /* through mb_port */
  case YOKE_INPUT_SIGNAL: break; /* through variables */
  }
}

static void count_variables(const yoke_model *model, size_t *n_quantities, size_t *n_signals, size_t *n_felt) {
  for (int k = 0; k < model->n_variables; ++k) {
    const yoke_variable *variable = &model->variables[k];
    *n_signals += yoke_variable_is_signal(variable);
    *n_felt += yoke_variable_is_felt(variable);
    *n_quantities +=
        variable->kind != YOKE_VARIABLE_STATE && !yoke_variable_is_signal(variable) && !yoke_variable_is_felt(variable);
  }
}

/* A load that jumps with what it brings about has several solutions, or none. */
static yoke_status refuse_jumps(const yoke_multibody *mb, yoke_context *ctx) {
  for (int k = 0; k < mb->n_jumps; ++k) {
    char owner[300];
    if (mb->jumps[k].is_kink || !yoke_model_feels(mb->model, mb->jumps[k].s)) continue;
    yoke_multibody_jump_name(mb, k, owner, sizeof owner);
    return yoke_fail(
        ctx, YOKE_E_MODEL,
        "%s jumps with an acceleration or a force of a joint, which jump with it: replace the jump by a steep "
        "smooth function, tanh(x/w) for sign(x)",
        owner);
  }
  return YOKE_OK;
}

static yoke_status build_loads(yoke_multibody *mb, yoke_context *ctx, const yoke_multibody_options *options) {
  const yoke_model *model        = mb->model;
  size_t            n_quantities = 0, n_signals = 0, n_felt = 0;
  count_variables(model, &n_quantities, &n_signals, &n_felt);
  mb->loads    = yoke_arena_take(&mb->arena, (size_t)model->n_loads + 1, sizeof *mb->loads);
  mb->inputs   = yoke_arena_take(&mb->arena, (size_t)options->n_inputs + 1, sizeof *mb->inputs);
  mb->signals  = yoke_arena_take(&mb->arena, n_signals + 1, sizeof *mb->signals);
  mb->felt     = yoke_arena_take(&mb->arena, n_felt, sizeof *mb->felt);
  mb->loop     = yoke_arena_take(&mb->arena, n_felt, sizeof *mb->loop);
  mb->integral = yoke_arena_take(&mb->arena, (size_t)options->n_integrals + 1, sizeof *mb->integral);
  YOKE_TRY(yoke_arena_check(&mb->arena, ctx, "%d loads", model->n_loads));
  for (int i = 0; i < model->n_loads; ++i) {
    const yoke_load  *load  = &model->loads[i];
    const yoke_frame *frame = &model->frames[load->frame];
    mb->loads[i]            = (yoke_load_element){.load = load, .node = mb->frame_node[load->frame]};
    memcpy(mb->loads[i].origin, frame->origin, sizeof frame->origin);
    memcpy(mb->loads[i].axes, frame->axes, sizeof frame->axes);
    for (int k = 0; k < 3; ++k) mb->needs_variables |= load->value[k] != NULL;
  }
  mb->n_loads = model->n_loads;
  int n_jumps, n_laws;
  mb_count_jumps(mb, &n_jumps, &n_laws);
  const size_t n_variables = (size_t)model->n_variables + 2 * (size_t)n_laws + (size_t)n_jumps;
  mb->variables            = yoke_arena_take(&mb->arena, n_variables + 1, sizeof *mb->variables);
  mb->quantities           = yoke_arena_take(&mb->arena, n_quantities + 2 * (size_t)n_laws + 1, sizeof *mb->quantities);
  YOKE_TRY(yoke_arena_check(&mb->arena, ctx, "%d variables", model->n_variables));
  for (int i = 0; i < options->n_inputs; ++i) set_input(mb, i, &options->inputs[i]);
  mb->n_inputs = options->n_inputs;
  mb_set_variables(mb, options);
  mb_find_loop(mb);
  mb->n_integrals = options->n_integrals;
  for (int k = 0; k < options->n_integrals; ++k) {
    const yoke_variable *v = &options->integrals[k];
    mb->integral[k]        = v->mass + v->component + mb->body_q[v->body];
  }
  if (mb->n_loop > MB_MOST_IN_LOOP)
    return yoke_fail(
        ctx, YOKE_E_MODEL,
        "loads and laws of one subsystem read %d accelerations and forces of joints, %d are possible: split "
        "the model, or write them into fewer expressions",
        mb->n_loop, (int)MB_MOST_IN_LOOP);
  YOKE_TRY(mb_build_jumps(mb, n_jumps, n_laws, ctx));
  return refuse_jumps(mb, ctx);
}

/* ---- structure of G and of G M^-1 G^T ---- */

static yoke_status build_G(yoke_multibody *mb, yoke_context *ctx, yoke_arena *scratch) {
  const size_t most = 12 * (size_t)mb->ng + 1;
  int         *row  = yoke_arena_take(scratch, most, sizeof *row);
  int         *col  = yoke_arena_take(scratch, most, sizeof *col);
  int          n    = 0;
  mb->G_slot        = yoke_arena_take(&mb->arena, most, sizeof *mb->G_slot);
  if (scratch->has_failed || mb->arena.has_failed) return yoke_out_of_memory(ctx, "%d constraint rows", mb->ng);
  for (int j = 0; j < mb->n_joints; ++j) {
    for (int i = 0; i < mb->joints[j].n; ++i) {
      for (int side = 0; side < 2; ++side) {
        const mb_node *node = &mb->nodes[mb->joints[j].link.node[side]];
        for (int k = 0; k < node->nv; ++k) {
          row[n]   = mb->joints[j].g0 + i;
          col[n++] = node->iv + k;
        }
      }
    }
  }
  return yoke_pattern_create(ctx, mb->ng, mb->nv, n, row, col, mb->G_slot, &mb->G_pattern);
}

/* Joints by node: list[start[node] ...] of 2 joint + side; ghosts count as ground. A flexible body is one node. */
static yoke_status joints_by_node(const yoke_multibody *mb, yoke_context *ctx, yoke_arena *scratch, int n_joints,
                                  int **start_out, int **list_out) {
  int *start = *start_out = yoke_arena_take(scratch, (size_t)mb->n_nodes + 2, sizeof *start);
  int *list = *list_out = yoke_arena_take(scratch, 2 * (size_t)n_joints + 1, sizeof *list);
  YOKE_TRY(yoke_arena_check(scratch, ctx, "the structure of %d joints", n_joints));
  for (int j = 0; j < n_joints; ++j) {
    for (int side = 0; side < 2; ++side) ++start[mb_mass_node(mb, mb_own_node(mb, &mb->joints[j].link, side)) + 2];
  }
  for (int i = 0; i < mb->n_nodes; ++i) start[i + 2] += start[i + 1];
  for (int j = 0; j < n_joints; ++j) {
    for (int side = 0; side < 2; ++side) {
      const int node          = mb_mass_node(mb, mb_own_node(mb, &mb->joints[j].link, side));
      list[start[node + 1]++] = 2 * j + side;
    }
  }
  return YOKE_OK;
}

/* part [n_joints]: which come first in the order of S; NULL: none. */
static yoke_status build_couplings(yoke_multibody *mb, yoke_context *ctx, yoke_arena *scratch, const int *start,
                                   const int *list, const int *part) {
  size_t n = 0;
  for (int node = 1; node < mb->n_nodes; ++node) {
    const size_t d = (size_t)(start[node + 1] - start[node]);
    n += d * (d - (d > 0)) / 2;
  }
  if (n > 500000000u) return yoke_fail(ctx, YOKE_E_MEMORY, "%zu pairs of joints share bodies: too many", n);
  int *a          = yoke_arena_take(scratch, n + 1, sizeof *a);
  int *b          = yoke_arena_take(scratch, n + 1, sizeof *b);
  int *size       = yoke_arena_take(scratch, (size_t)mb->n_joints + 1, sizeof *size);
  mb->couplings   = yoke_arena_take(&mb->arena, n + 1, sizeof *mb->couplings);
  mb->diagonal_at = yoke_arena_take(&mb->arena, (size_t)mb->n_joints + 1, sizeof *mb->diagonal_at);
  if (scratch->has_failed || mb->arena.has_failed)
    return yoke_out_of_memory(ctx, "the structure of %d joints", mb->n_joints);
  int e = 0, own = (int)n;
  for (int node = 1; node < mb->n_nodes; ++node) {
    for (int i = start[node]; i < start[node + 1]; ++i) {
      for (int k = start[node]; k < i; ++k) {
        const int at = list[i] / 2 == list[k] / 2 ? --own : e++; /* own ones from the end */
        mb->couplings[at] =
            (mb_coupling){.a = list[i] / 2, .b = list[k] / 2, .side_a = list[i] % 2, .side_b = list[k] % 2};
        if (at == own) continue;
        a[at] = mb->couplings[at].a;
        b[at] = mb->couplings[at].b;
      }
    }
  }
  mb->n_couplings     = e;
  mb->n_own_couplings = (int)n - own;
  for (int j = 0; j < mb->n_joints; ++j) size[j] = mb->joints[j].n;
  YOKE_TRY(yoke_block_ldl_create_in_parts(ctx, mb->n_joints, size, mb->tree == NULL ? part : NULL, e, a, b, &mb->ldl));
  for (int i = 0; i < e; ++i) {
    mb_coupling *c = &mb->couplings[i];
    int          row_joint;
    c->at = yoke_block_ldl_edge(mb->ldl, i, &row_joint);
    if (row_joint != c->a) { /* rows of the block belong to joint a */
      const mb_coupling old = *c;
      *c = (mb_coupling){.a = old.b, .b = old.a, .side_a = old.side_b, .side_b = old.side_a, .at = old.at};
    }
  }
  for (int j = 0; j < mb->n_joints; ++j) mb->diagonal_at[j] = yoke_block_ldl_diagonal(mb->ldl, j);
  for (int i = 0; i < mb->n_couplings + mb->n_own_couplings; ++i) {
    mb_coupling *c      = &mb->couplings[i];
    const bool   is_own = i >= mb->n_couplings;
    c->cross            = -1;
    if (is_own) c->at = mb->diagonal_at[c->a];
    if (mb->joints[c->a].link.node[c->side_a] == mb->joints[c->b].link.node[c->side_b]) continue;
    c->cross = (ptrdiff_t)mb->n_cross;
    mb->n_cross += 6 * (size_t)mb->joints[c->b].n;
  }
  return YOKE_OK;
}

static int root_of(int *parent, int node) {
  for (; parent[node] != node; node = parent[node]) parent[node] = parent[parent[node]];
  return node;
}

/* Joints between bodies of one kind that make a tree: every joint's rows move the body behind it, so none follows from the
 * rows of others, wherever the bodies are. Kinds with fewer freedoms are tied to the ground beside their joints, so bodies of
 * different kinds count as a loop. */
static yoke_status find_loops(yoke_multibody *mb, yoke_context *ctx, yoke_arena *scratch) {
  int *parent = yoke_arena_take(scratch, (size_t)mb->n_nodes + 1, sizeof *parent), kind = -1;
  YOKE_TRY(yoke_arena_check(scratch, ctx, "%d bodies", mb->n_nodes));
  for (int i = 0; i < mb->n_nodes; ++i) parent[i] = i;
  for (int j = 0; j < mb->n_joints; ++j) {
    int root[2];
    for (int side = 0; side < 2; ++side) {
      const int real = mb_own_node(mb, &mb->joints[j].link, side);
      root[side]     = root_of(parent, real);
      if (real == 0) continue;
      if (kind >= 0 && (int)mb->nodes[real].kind != kind) mb->has_loops = true;
      kind = (int)mb->nodes[real].kind;
    }
    if (root[0] == root[1]) mb->has_loops = true;
    parent[root[0]] = root[1];
  }
  return YOKE_OK;
}

static yoke_status build_structure(yoke_multibody *mb, yoke_context *ctx, yoke_arena *scratch, bool in_parts) {
  int *start = NULL, *list = NULL, *part = NULL;
  YOKE_TRY(build_G(mb, ctx, scratch));
  YOKE_TRY(find_loops(mb, ctx, scratch));
  mb->is_plane = mb_is_plane(mb);
  YOKE_TRY(joints_by_node(mb, ctx, scratch, mb->n_joints + mb->n_guided, &start, &list));
  YOKE_TRY(mb_tree_create(mb, ctx, scratch, start, list));
  if (in_parts) {
    part = yoke_arena_take(scratch, (size_t)mb->n_joints + 1, sizeof *part);
    YOKE_TRY(yoke_arena_check(scratch, ctx, "parts of %d joints", mb->n_joints));
    YOKE_TRY(mb_parts_create(mb, ctx, scratch, part));
  }
  YOKE_TRY(joints_by_node(mb, ctx, scratch, mb->n_joints, &start, &list));
  YOKE_TRY(build_couplings(mb, ctx, scratch, start, list, mb->parts != NULL ? part : NULL));
  return mb->parts != NULL ? mb_parts_complete(mb, ctx, part) : YOKE_OK;
}

/* ---- creation ---- */

#define MULTIBODY_CALLS                                                                                                \
  .kind = "multibody", .destroy = mb_destroy, .derivative = mb_derivative, .project_position = mb_project_position,    \
  .project_velocity = mb_project_velocity, .project = mb_project, .is_singular = mb_is_singular,                       \
  .constraint = mb_constraint, .dae_create = mb_dae_create, .dae_size = mb_dae_size, .dae_rhs = mb_dae_rhs,            \
  .dae_jacobian = mb_dae_jacobian, .dae_input_jacobian = mb_dae_input_jacobian, .motion_factor = mb_motion_factor,     \
  .motion_solve = mb_motion_solve, .quadrature_tangent = mb_quadrature_tangent, .tangent_project = mb_tangent_project, \
  .branch = mb_branch, .blame = mb_blame, .energy = mb_energy, .powers = mb_powers_at, .work = mb_work_between,        \
  .linear = mb_linear, .motions = mb_motions, .is_kicked = mb_is_kicked, .kick = mb_kick, .events = mb_events,         \
  .parts = &mb_parts_ops

static const yoke_equations_ops multibody_ops = {MULTIBODY_CALLS};

static void mb_normalise(const void *self, double *q) {
  const yoke_multibody *mb = self;
  for (int i = 1; i < mb->n_nodes; ++i) {
    if (mb->nodes[i].kind == YOKE_BODY_RIGID) quaternion_normalise(q + mb->nodes[i].iq + 3);
  }
}

/* With bodies whose orientations are Euler parameters. */
static const yoke_equations_ops spatial_ops = {MULTIBODY_CALLS, .normalise = mb_normalise};

/* A chain and nothing else, wanted without quadratures: its own equations are faster. */
static bool is_chain_alone(const yoke_model *model, const yoke_multibody_options *options) {
  bool alone = model->n_bodies == 1 && model->bodies[0].kind == YOKE_BODY_CHAIN && model->n_connections == 0 &&
               model->n_loads == 0 && model->n_events == 0 && !options->energy && options->n_integrals == 0 &&
               !(options->port_integrals && options->n_ports > 0);
  for (int i = 0; alone && i < options->n_inputs; ++i) {
    const yoke_input *input = &options->inputs[i];
    alone = input->kind == YOKE_INPUT_FORCE && input->component == 0 && model->frames[input->frame].body == 0;
  }
  for (int k = 0; alone && k < options->n_ports; ++k)
    alone = options->port_frame[k] < 0 || model->frames[options->port_frame[k]].body == 0;
  return alone;
}

/* Nothing to show: a point of the ground without components. */
static void build_empty_port(mb_port *port) {
  *port =
      (mb_port){.kind = YOKE_BODY_PARTICLE, .shape = &yoke_shape_signal, .i_integral = -1, .driven = -1, .guided = -1};
}

static yoke_status build_port(yoke_multibody *mb, yoke_context *ctx, int f, mb_port *port) {
  const yoke_frame *frame = &mb->model->frames[f];
  const double     *A     = frame->axes;
  if (frame->body <= YOKE_FIRST_GHOST) {
    return yoke_fail(ctx, YOKE_E_USAGE, "frame '%s': a port must be on a body of its own subsystem", frame->name);
  }
  port->kind  = frame->body == YOKE_GROUND ? YOKE_BODY_RIGID : mb->model->bodies[frame->body].kind;
  port->shape = yoke_body_shape(port->kind);
  memcpy(port->origin, frame->origin, sizeof port->origin);
  if (port->kind == YOKE_BODY_PLANAR && !(A[8] > 1.0 - 1e-12)) {
    return yoke_fail(ctx, YOKE_E_MODEL, "frame '%s': a port of a planar body needs its z axis along that of the body",
                     frame->name);
  }
  port->angle = atan2(A[3], A[0]);
  quaternion_of_rotation(port->orientation, A);
  if (mb_is_line_kind(port->kind)) {
    port->iq = mb->body_q[frame->body] + (port->kind == YOKE_BODY_CHAIN ? frame->mass : 0);
    port->iv = mb->body_v[frame->body] + (port->kind == YOKE_BODY_CHAIN ? frame->mass : 0);
  }
  if (mb->frame_node != NULL) port->node = mb->frame_node[f]; /* a chain alone has no nodes */
  return YOKE_OK;
}

/* Extras belong to the rows of a joint between the body of the port and a ghost. */
static yoke_status set_request(const yoke_multibody *mb, yoke_context *ctx, int f, const yoke_port_request *request,
                               mb_port *port) {
  port->driven = port->guided = -1;
  if (request == NULL || request->extras == 0) return YOKE_OK;
  const int node = mb->frame_node != NULL ? mb->frame_node[f] : -1; /* a chain alone has no nodes */
  port->extras   = request->extras;
  for (int i = 0; i < mb->n_driven; ++i) {
    const mb_driven *driven = &mb->driven[i];
    if (driven->connection == request->connection && driven->link.node[driven->side] == node) port->driven = i;
  }
  for (int i = 0; i < mb->n_guided; ++i) {
    const mb_joint *joint = &mb->joints[mb->n_joints + i];
    if (joint->connection == request->connection && joint->link.node[mb->guided[i].side] == node) port->guided = i;
  }
  if (port->driven >= 0 || port->guided >= 0) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_USAGE, "port '%s': connection %d is no rigid joint between its body and a ghost",
                   mb->model->frames[f].name, request->connection);
}

/* Inputs that are the image of port k, all of them where it is asked for. */
static yoke_status set_image(const yoke_multibody *mb, yoke_context *ctx, const yoke_multibody_options *options, int k,
                             mb_port *port) {
  const int n_p = port->shape->n_p, n_v = port->shape->n_v;
  int       missing = n_p + n_v;
  for (int i = 0; i < YOKE_PORT_MAX_P; ++i) port->image_p[i] = -1;
  for (int i = 0; i < YOKE_PORT_MAX_V; ++i) port->image_v[i] = -1;
  for (int i = 0; i < options->n_inputs; ++i) {
    const yoke_input *input = &options->inputs[i];
    if ((input->kind != YOKE_INPUT_IMAGE_P && input->kind != YOKE_INPUT_IMAGE_V) || input->frame != k) continue;
    const bool is_p = input->kind == YOKE_INPUT_IMAGE_P;
    int       *at   = input->component < (is_p ? n_p : n_v)
                          ? (is_p ? &port->image_p[input->component] : &port->image_v[input->component])
                          : NULL;
    if (at != NULL && *at < 0) --missing;
    if (at != NULL) *at = i;
  }
  if ((port->extras & YOKE_EXTRA_IMAGE) == 0 || missing == 0) return YOKE_OK;
  return yoke_fail(ctx, YOKE_E_USAGE, "port '%s': %d components of its image are not among the inputs",
                   mb->model->frames[options->port_frame[k]].name, missing);
}

static yoke_status build_ports(yoke_multibody *mb, yoke_context *ctx, const yoke_multibody_options *options) {
  mb->ports = yoke_arena_take(&mb->arena, (size_t)options->n_ports + 1, sizeof *mb->ports);
  YOKE_TRY(yoke_arena_check(&mb->arena, ctx, "%d ports", options->n_ports));
  for (int k = 0; k < options->n_ports; ++k) {
    mb_port *port = &mb->ports[k];
    if (options->port_frame[k] < 0) {
      build_empty_port(port);
      continue;
    }
    YOKE_TRY(build_port(mb, ctx, options->port_frame[k], port));
    YOKE_TRY(set_request(mb, ctx, options->port_frame[k],
                         options->port_request != NULL ? &options->port_request[k] : NULL, port));
    YOKE_TRY(set_image(mb, ctx, options, k, port));
    port->i_integral = options->port_integrals ? mb->nq_states + mb->n_port_integrals : -1;
    if (options->port_integrals) mb->n_port_integrals += port->shape->n_integrals;
  }
  mb->n_ports = options->n_ports;
  return YOKE_OK;
}

static yoke_status create_chain_alone(yoke_multibody *mb, yoke_context *ctx, const yoke_multibody_options *options,
                                      yoke_equations *equations) {
  const yoke_model *model = mb->model;
  for (int f = 0; f < model->n_frames; ++f) YOKE_TRY(check_frame(ctx, model, f));
  mb->is_chain_alone = true;
  mb->i_dissipated = mb->i_external = -1;
  mb->n_nodes                       = 1;
  mb->body_q                        = yoke_arena_take(&mb->arena, 1, sizeof *mb->body_q);
  mb->body_v                        = yoke_arena_take(&mb->arena, 1, sizeof *mb->body_v);
  mb->nodes                         = yoke_arena_take(&mb->arena, 1, sizeof *mb->nodes);
  mb->nq = mb->nq_states = mb->nv = model->bodies[0].chain->n;
  YOKE_TRY(yoke_arena_check(&mb->arena, ctx, "model '%s'", model->name));
  yoke_arena        scratch = {0};
  const yoke_status status  = build_G(mb, ctx, &scratch);
  yoke_arena_free(&scratch);
  YOKE_TRY(status);
  YOKE_TRY(build_ports(mb, ctx, options));
  YOKE_TRY(mb_chain_equations_create(ctx, model, options->n_inputs, options->inputs, equations));
  equations->owner   = mb;
  equations->release = mb_destroy;
  return YOKE_OK;
}

/* Components that an input of this kind can have. */
static int input_components(const yoke_model *model, const yoke_input *input) {
  yoke_row rows[6];
  switch (input->kind) {
  case YOKE_INPUT_FORCE: return 6;
  case YOKE_INPUT_GHOST_P: return model->ghosts[input->frame].shape->n_p;
  case YOKE_INPUT_GHOST_V: return model->ghosts[input->frame].shape->n_v;
  case YOKE_INPUT_LAMBDA:
  case YOKE_INPUT_MU:
  case YOKE_INPUT_ROW_ACCELERATION:
  case YOKE_INPUT_ROW_ACCELERATION_BARE:
  case YOKE_INPUT_PRESCRIBED: return yoke_joint_rows(model->connections[input->frame].kind, rows);
  case YOKE_INPUT_IMAGE_P: return YOKE_PORT_MAX_P;
  case YOKE_INPUT_IMAGE_V: return YOKE_PORT_MAX_V;
  case YOKE_INPUT_SIGNAL: return 1;
  }
  return 0;
}

/* Inputs and ports name frames, ghosts and connections that exist. */
static yoke_status check_options(yoke_context *ctx, const yoke_model *model, const yoke_multibody_options *options) {
  for (int i = 0; i < options->n_inputs; ++i) {
    const yoke_input *input = &options->inputs[i];
    if (input->kind == YOKE_INPUT_SIGNAL) continue; /* of no frame */
    const bool is_mu = input->kind == YOKE_INPUT_MU, is_force = input->kind == YOKE_INPUT_FORCE;
    const bool is_row = input->kind == YOKE_INPUT_ROW_ACCELERATION || input->kind == YOKE_INPUT_ROW_ACCELERATION_BARE ||
                        input->kind == YOKE_INPUT_PRESCRIBED;
    const bool is_lambda = is_mu || is_row || input->kind == YOKE_INPUT_LAMBDA;
    const bool is_image  = input->kind == YOKE_INPUT_IMAGE_P || input->kind == YOKE_INPUT_IMAGE_V;
    const int  n_frames  = is_force    ? model->n_frames
                           : is_lambda ? model->n_connections
                           : is_image  ? options->n_ports
                                       : model->n_ghosts;
    if (input->frame < 0 || input->frame >= n_frames) {
      return yoke_fail(ctx, YOKE_E_USAGE, "input %d: %s %d does not exist", i,
                       is_force    ? "frame"
                       : is_lambda ? "connection"
                       : is_image  ? "port"
                                   : "ghost",
                       input->frame);
    }
    const int n = input_components(model, input);
    if (input->component < 0 || input->component >= n) {
      return yoke_fail(ctx, YOKE_E_USAGE, "input %d: component %d does not exist, expected 0 to %d", i,
                       input->component, n - 1);
    }
    if (is_mu && find_multiplier(options, YOKE_INPUT_LAMBDA, input->frame, input->component) < 0) {
      return yoke_fail(ctx, YOKE_E_USAGE, "input %d: row %d of connection '%s' has no multiplier lambda beside its mu",
                       i, input->component, model->connections[input->frame].name);
    }
    if (is_force && model->frames[input->frame].body <= YOKE_FIRST_GHOST) {
      return yoke_fail(ctx, YOKE_E_USAGE, "input %d: a force cannot act on the ghost frame '%s'", i,
                       model->frames[input->frame].name);
    }
    if ((is_force || is_row) && !isfinite(input->factor)) {
      return yoke_fail(ctx, YOKE_E_USAGE, "input %d: factor is %g, expected a finite number", i, input->factor);
    }
  }
  for (int k = 0; k < options->n_ports; ++k) {
    if (options->port_frame[k] >= -1 && options->port_frame[k] < model->n_frames) continue;
    return yoke_fail(ctx, YOKE_E_USAGE, "port %d: frame %d does not exist", k, options->port_frame[k]);
  }
  return YOKE_OK;
}

/* Poses of the initial guess, for lengths that the user left open. */
static yoke_status guess_poses(const yoke_multibody *mb, yoke_context *ctx, yoke_arena *scratch, yoke_pose **out) {
  *out              = yoke_arena_take(scratch, (size_t)mb->n_nodes + (size_t)mb->n_ghosts, sizeof **out);
  const size_t mark = yoke_arena_mark(scratch);
  double      *q    = yoke_arena_take(scratch, (size_t)mb->nq_states, sizeof *q);
  double      *v    = yoke_arena_take(scratch, (size_t)mb->nv, sizeof *v);
  YOKE_TRY(yoke_arena_check(scratch, ctx, "%d bodies", mb->n_nodes));
  const mb_work w = {.pose = *out};
  yoke_multibody_initial_guess(mb, q, v);
  mb_poses(mb, &w, q, v, false);
  mb_ghost_poses(mb, &w, NULL);
  yoke_arena_release(scratch, mark);
  return YOKE_OK;
}

static yoke_status compile(yoke_multibody *mb, yoke_context *ctx, const yoke_multibody_options *options) {
  yoke_arena  scratch = {0};
  yoke_pose  *guess   = NULL;
  int        *bodies = NULL, *connections = NULL; /* in which order; NULL: that of the model */
  yoke_status status = options->in_parts ? mb_parts_order(mb->model, ctx, &scratch, &bodies, &connections) : YOKE_OK;
  if (status == YOKE_OK) status = build_nodes(mb, ctx, bodies);
  if (status == YOKE_OK) status = mb_build_flexibles(mb, ctx);
  mb->nq = mb->nq_states; /* the guess has no quadratures yet */
  if (status == YOKE_OK) status = guess_poses(mb, ctx, &scratch, &guess);
  if (status == YOKE_OK) status = build_connections(mb, ctx, options, connections, guess);
  if (status == YOKE_OK) status = build_loads(mb, ctx, options);
  if (status == YOKE_OK) status = build_structure(mb, ctx, &scratch, options->in_parts);
  yoke_arena_free(&scratch);
  if (status == YOKE_OK) status = build_ports(mb, ctx, options);
  if (status == YOKE_OK) status = mb_build_interface(mb, ctx);
  mb->can_jump     = status == YOKE_OK && mb_find_jumps(mb);
  mb->has_energy   = options->energy;
  mb->i_integral   = mb->nq_states + mb->n_port_integrals;
  mb->i_dissipated = options->energy ? mb->i_integral + options->n_integrals : -1;
  mb->i_external   = options->energy ? mb->i_dissipated + 1 : -1;
  mb->i_jump       = mb->i_integral + options->n_integrals + (options->energy ? 2 : 0);
  mb->nq           = mb->i_jump + mb->n_jumps;
  if (status == YOKE_OK) status = mb_create_line(mb, ctx);
  if (status == YOKE_OK) status = mb_create_works(mb, ctx);
  return status;
}

/* NULL: there are none. */
static const yoke_switches *switches_of(const yoke_multibody *mb) {
  return mb->switches.n_once + mb->switches.n_periodic > 0 ? &mb->switches : NULL;
}

/* Freedoms of cables, and of rods but for the first vertex of each: an element adds the one behind it. */
static int n_banded(const yoke_multibody *mb) {
  int n = 0;
  for (int i = 0; i < mb->n_flexibles; ++i) n += mb->flexibles[i].given->cable != NULL ? mb->flexibles[i].n : 0;
  for (int i = 0; i < mb->n_forces; ++i) {
    if (mb->forces[i].rod != NULL) n += mb->nodes[mb->forces[i].link.node[1]].nv;
  }
  return n;
}

yoke_status yoke_multibody_create(yoke_context *ctx, const yoke_model *model, const yoke_multibody_options *options,
                                  yoke_equations *equations, yoke_multibody **out) {
  static const yoke_multibody_options plain = {0};
  if (options == NULL) options = &plain;
  *out = NULL;
  memset(equations, 0, sizeof *equations);
  YOKE_TRY(check_options(ctx, model, options));
  yoke_arena      arena = yoke_arena_of(ctx);
  yoke_multibody *mb    = yoke_arena_take(&arena, 1, sizeof *mb);
  if (mb == NULL) return yoke_out_of_memory(ctx, "model '%s'", model->name);
  mb->arena          = arena;
  mb->model          = model;
  mb->length         = yoke_model_length(model);
  mb->alpha          = options->alpha;
  mb->beta           = options->beta;
  yoke_status status = yoke_model_switches(ctx, model, false, &mb->switches);
  if (status == YOKE_OK && is_chain_alone(model, options)) {
    status = create_chain_alone(mb, ctx, options, equations);
    if (status != YOKE_OK) {
      mb_destroy(mb);
      return status;
    }
    equations->switches = switches_of(mb);
    *out                = mb;
    return YOKE_OK;
  }
  if (status == YOKE_OK) status = compile(mb, ctx, options);
  if (status != YOKE_OK) {
    mb_destroy(mb);
    return status;
  }
  *equations = (yoke_equations){
      .ops             = mb->n_norms > 0 ? &spatial_ops : &multibody_ops,
      .self            = mb,
      .nq              = mb->nq,
      .nv              = mb->nv,
      .ng              = mb->ng,
      .n_norms         = mb->n_norms,
      .nu              = mb->n_inputs,
      .n_events        = model->n_events,
      .n_quadratures   = mb->nq - mb->nq_states,
      .n_motions       = mb->n_motions,
      .n_guided        = mb->n_rows - mb->ng,
      .n_banded        = n_banded(mb),
      .drifts          = mb->has_mu && mb->ng > 0,
      .is_second_order = mb->n_norms == 0 && mb->ng == 0 && mb->nq == mb->nv && !mb->has_mu,
      .work_size       = mb_work_size(mb),
      .motion_size     = mb_motion_size(mb),
      .feels           = mb->n_loop > 0,
      .switches        = switches_of(mb),
  };
  *out = mb;
  return YOKE_OK;
}
