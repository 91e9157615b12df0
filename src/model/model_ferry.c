#include "model/model_ferry.h"

#include "base/text.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- values ---- */

static void ferry_doubles(yoke_ferry *c, size_t n, double *const *x) {
  for (size_t i = 0; i < n; ++i) yoke_ferry_double(c, x[i]);
}

void yoke_shape_ferry(yoke_ferry *c, const yoke_port_shape **shape) {
  char *name = *shape != NULL ? (char *)(uintptr_t)(*shape)->name : NULL;
  yoke_ferry_text(c, &name);
  if (!yoke_ferry_reads(c) || name == NULL) return;
  *shape = yoke_shape_find(name);
  if (*shape == NULL) yoke_unpack_refuse(c->in, "there is no such shape of a port");
}

void yoke_variable_ferry(yoke_ferry *c, yoke_variable *v) {
  int kind = (int)v->kind;
  yoke_ferry_index(c, &kind, YOKE_VARIABLE_STATE, YOKE_VARIABLE_FORCE);
  v->kind = (yoke_variable_kind)kind;
  yoke_ferry_int(c, &v->object);
  yoke_ferry_int(c, &v->body);
  yoke_ferry_int(c, &v->mass);
  yoke_ferry_bool(c, &v->is_velocity);
  yoke_ferry_int(c, &v->component);
}

/* ---- bodies ---- */

static void ferry_per_mass(yoke_ferry *c, yoke_per_mass *x, int n) {
  yoke_ferry_double(c, &x->value);
  yoke_ferry_numbers(c, &x->each, n);
}

static void ferry_chain_load(yoke_ferry *c, yoke_chain_load *load, int n_masses) {
  int kind = (int)load->kind;
  yoke_ferry_index(c, &kind, YOKE_CHAIN_HARMONIC, YOKE_CHAIN_MODIFIED_SINE);
  load->kind = (yoke_chain_load_kind)kind;
  yoke_ferry_index(c, &load->mass, 0, n_masses - 1);
  double *const numbers[] = {&load->amplitude, &load->omega, &load->phase, &load->power,
                             &load->slope,     &load->time,  &load->width, &load->rise};
  ferry_doubles(c, sizeof numbers / sizeof *numbers, numbers);
}

static void ferry_chain(yoke_ferry *c, yoke_chain *x) {
  yoke_ferry_index(c, &x->n, 1, INT32_MAX - 2);
  ferry_per_mass(c, &x->mass, x->n);
  ferry_per_mass(c, &x->x0, x->n);
  ferry_per_mass(c, &x->v0, x->n);
  ferry_per_mass(c, &x->stiffness, x->n + 1);
  ferry_per_mass(c, &x->damping, x->n + 1);
  ferry_per_mass(c, &x->stiffness_power, x->n + 1);
  ferry_per_mass(c, &x->damping_power, x->n + 1);
  yoke_ferry_double(c, &x->exponent_x);
  yoke_ferry_double(c, &x->exponent_v);
  for (int side = 0; side < 2; ++side) yoke_ferry_bool(c, &x->is_free[side]);
  yoke_ferry_ints(c, 2, x->halo);
  x->loads = yoke_ferry_list(c, x->loads, &x->n_loads, sizeof *x->loads);
  for (int i = 0; i < x->n_loads; ++i) ferry_chain_load(c, &x->loads[i], x->n);
}

static void ferry_body(yoke_ferry *c, yoke_body *x) {
  int kind = (int)x->kind;
  yoke_ferry_text(c, &x->name);
  yoke_ferry_index(c, &kind, YOKE_BODY_RIGID, YOKE_BODY_CHAIN);
  x->kind = (yoke_body_kind)kind;
  yoke_ferry_double(c, &x->mass);
  yoke_ferry_doubles(c, 9, x->inertia);
  yoke_ferry_doubles(c, 3, x->position);
  yoke_ferry_doubles(c, 4, x->orientation);
  yoke_ferry_double(c, &x->angle);
  yoke_ferry_doubles(c, 3, x->velocity);
  yoke_ferry_doubles(c, 3, x->omega);
  yoke_ferry_bool(c, &x->fix_position);
  yoke_ferry_bool(c, &x->fix_velocity);
  yoke_ferry_bool(c, &x->is_copy);
  yoke_ferry_bool(c, &x->is_direction);
  x->chain = yoke_ferry_one(c, x->chain, sizeof *x->chain);
  if (x->chain != NULL) ferry_chain(c, x->chain);
  if (yoke_ferry_reads(c) && (x->kind == YOKE_BODY_CHAIN) != (x->chain != NULL))
    yoke_unpack_refuse(c->in, "a body is and is not a chain");
}

/* ---- flexible bodies ---- */

static void ferry_symmetric(yoke_ferry *c, yoke_symmetric *x, int n) {
  int n_entries = !yoke_ferry_reads(c) && x->start != NULL ? x->start[n] : 0;
  x->column     = yoke_ferry_list(c, x->column, &n_entries, sizeof *x->column);
  yoke_ferry_numbers(c, &x->value, n_entries);
  bool is_there = x->start != NULL;
  yoke_ferry_bool(c, &is_there);
  if (!is_there) return;
  if (yoke_ferry_reads(c)) x->start = yoke_arena_take(c->arena, (size_t)n + 1, sizeof *x->start);
  for (int i = 0; x->start != NULL && i <= n; ++i) yoke_ferry_index(c, &x->start[i], 0, n_entries);
  for (int i = 0; i < n_entries; ++i) yoke_ferry_index(c, &x->column[i], 0, n - 1);
}

static void ferry_linear_body(yoke_ferry *c, yoke_linear_body *x, int n) {
  int n_places = n;
  ferry_symmetric(c, &x->mass, n);
  ferry_symmetric(c, &x->damping, n);
  ferry_symmetric(c, &x->stiffness, n);
  yoke_ferry_numbers(c, &x->rest, n);
  yoke_ferry_numbers(c, &x->load, n);
  x->place = yoke_ferry_list(c, x->place, &n_places, sizeof *x->place);
  for (int i = 0; i < n_places; ++i) yoke_ferry_int(c, &x->place[i]);
  x->turn = yoke_ferry_list(c, x->turn, &x->n_turns, sizeof *x->turn);
  for (int i = 0; i < x->n_turns; ++i) yoke_ferry_index(c, &x->turn[i], 0, n - 3);
  if (yoke_ferry_reads(c) && n_places != n) yoke_unpack_refuse(c->in, "a linear body lacks some of its freedoms");
}

static void ferry_cable(yoke_ferry *c, yoke_cable *x) {
  double *const numbers[] = {&x->element_length,    &x->mass_per_length, &x->axial_stiffness,
                             &x->bending_stiffness, &x->damping,         &x->axial_damping};
  yoke_ferry_index(c, &x->n_elements, 1, INT32_MAX / 64);
  ferry_doubles(c, sizeof numbers / sizeof *numbers, numbers);
  yoke_ferry_int(c, &x->n_axial);
  yoke_ferry_int(c, &x->n_bending);
}

static void ferry_flexible(yoke_ferry *c, const yoke_model *m, yoke_flexible *x) {
  yoke_ferry_text(c, &x->name);
  yoke_ferry_index(c, &x->first_body, 0, m->n_bodies - 1);
  yoke_ferry_index(c, &x->n_bodies, 0, m->n_bodies - x->first_body);
  yoke_ferry_index(c, &x->n, 0, 6 * x->n_bodies);
  x->linear = yoke_ferry_one(c, x->linear, sizeof *x->linear);
  if (x->linear != NULL) ferry_linear_body(c, x->linear, x->n);
  x->cable = yoke_ferry_one(c, x->cable, sizeof *x->cable);
  if (x->cable != NULL) ferry_cable(c, x->cable);
}

static void ferry_frame(yoke_ferry *c, const yoke_model *m, yoke_frame *x) {
  yoke_ferry_text(c, &x->name);
  yoke_ferry_index(c, &x->body, YOKE_FIRST_GHOST - m->n_ghosts + 1, m->n_bodies - 1);
  yoke_ferry_int(c, &x->mass);
  yoke_ferry_doubles(c, 3, x->origin);
  yoke_ferry_doubles(c, 9, x->axes);
}

static void ferry_ghost(yoke_ferry *c, yoke_ghost *x) {
  yoke_ferry_text(c, &x->name);
  yoke_shape_ferry(c, &x->shape);
  yoke_ferry_doubles(c, YOKE_PORT_MAX_P, x->p);
  yoke_ferry_doubles(c, YOKE_PORT_MAX_V, x->v);
}

/* ---- what acts ---- */

static void ferry_rod_element(yoke_ferry *c, yoke_rod_element *x) {
  yoke_ferry_index(c, &x->owner, 0, 1);
  yoke_ferry_double(c, &x->edge);
  yoke_ferry_double(c, &x->bend);
  yoke_ferry_doubles(c, 6, x->stiffness);
  yoke_ferry_doubles(c, 6, x->damping);
  yoke_ferry_doubles(c, 6, x->natural);
}

static void ferry_connection(yoke_ferry *c, const yoke_model *m, yoke_connection *x) {
  int kind = (int)x->kind;
  yoke_ferry_text(c, &x->name);
  yoke_ferry_index(c, &kind, YOKE_CONNECTION_ATPOINT, YOKE_CONNECTION_ROD_ELEMENT);
  x->kind = (yoke_connection_kind)kind;
  for (int side = 0; side < 2; ++side) yoke_ferry_index(c, &x->frame[side], 0, m->n_frames - 1);
  yoke_ferry_bool(c, &x->flexible);
  yoke_ferry_doubles(c, 6, x->stiffness);
  yoke_ferry_doubles(c, 6, x->damping);
  yoke_ferry_double(c, &x->length);
  yoke_ferry_bool(c, &x->has_length);
  yoke_law_ferry(c, &x->law, 2);
  yoke_expression_ferry(c, &x->formula, m->n_variables);
  yoke_expression_ferry(c, &x->motion, 0);
  yoke_ferry_double(c, &x->initial);
  yoke_ferry_double(c, &x->initial_rate);
  yoke_ferry_bool(c, &x->has_initial);
  yoke_ferry_bool(c, &x->has_initial_rate);
  yoke_ferry_index(c, &x->carrier, 0, 2);
  yoke_ferry_bool(c, &x->is_copy);
  x->rod = yoke_ferry_one(c, x->rod, sizeof *x->rod);
  if (x->rod != NULL) ferry_rod_element(c, x->rod);
  if (yoke_ferry_reads(c) && (x->kind == YOKE_CONNECTION_ROD_ELEMENT) != (x->rod != NULL))
    yoke_unpack_refuse(c->in, "a connection is and is not an element of a rod");
}

static void ferry_load(yoke_ferry *c, const yoke_model *m, yoke_load *x) {
  int kind = (int)x->kind;
  yoke_ferry_text(c, &x->name);
  yoke_ferry_index(c, &kind, YOKE_LOAD_FORCE, YOKE_LOAD_CONTACT);
  x->kind = (yoke_load_kind)kind;
  yoke_ferry_index(c, &x->frame, 0, m->n_frames - 1);
  yoke_ferry_bool(c, &x->follower);
  for (int k = 0; k < 3; ++k) yoke_expression_ferry(c, &x->value[k], m->n_variables);
  double *const numbers[] = {&x->drag_linear, &x->drag_quadratic, &x->drag_rotational, &x->amplitude, &x->slope};
  ferry_doubles(c, sizeof numbers / sizeof *numbers, numbers);
  yoke_ferry_doubles(c, 3, x->direction);
  yoke_ferry_bool(c, &x->is_copy);
}

static void ferry_event(yoke_ferry *c, const yoke_model *m, yoke_event *x) {
  int action = (int)x->action;
  yoke_ferry_text(c, &x->name);
  yoke_expression_ferry(c, &x->when, m->n_variables);
  if (yoke_ferry_reads(c) && x->when == NULL) yoke_unpack_refuse(c->in, "an event never happens");
  yoke_ferry_index(c, &x->direction, -1, 1);
  yoke_ferry_index(c, &action, YOKE_EVENT_RECORD, YOKE_EVENT_SET);
  x->action   = (yoke_event_action)action;
  x->variable = yoke_ferry_list(c, x->variable, &x->n_set, sizeof *x->variable);
  if (yoke_ferry_reads(c)) x->value = yoke_arena_take(c->arena, (size_t)x->n_set + 1, sizeof(yoke_expression *));
  for (int k = 0; k < x->n_set && x->value != NULL; ++k) {
    yoke_ferry_index(c, &x->variable[k], 1, m->n_variables);
    yoke_expression_ferry(c, &x->value[k], m->n_variables);
  }
}

/* ---- the model ---- */

static void ferry_solver(yoke_ferry *c, yoke_solver_def *x) {
  double *const numbers[] = {&x->rtol,           &x->atol,    &x->step,   &x->max_step, &x->baumgarte_alpha,
                             &x->baumgarte_beta, &x->rho_inf, &x->length, &x->time};
  yoke_ferry_block(c, sizeof x->kind, x->kind);
  yoke_ferry_block(c, sizeof x->linear, x->linear);
  yoke_ferry_block(c, sizeof x->constraints, x->constraints);
  x->kind[sizeof x->kind - 1] = x->linear[sizeof x->linear - 1] = x->constraints[sizeof x->constraints - 1] = '\0';
  ferry_doubles(c, sizeof numbers / sizeof *numbers, numbers);
  yoke_ferry_int(c, &x->max_order);
}

/* ---- head ---- */

enum { HEAD_MARK = '\1' };

void yoke_model_digest(const yoke_model *model, char text[YOKE_MODEL_DIGEST]) {
  const uint64_t sum = yoke_checksum(YOKE_CHECKSUM_START, model->text, strlen(model->text));
  if (model->text[0] == HEAD_MARK)
    snprintf(text, YOKE_MODEL_DIGEST, "%.17s", model->text);
  else
    snprintf(text, YOKE_MODEL_DIGEST, "%c%016" PRIx64, HEAD_MARK, sum);
}

static bool names_lockstep(const yoke_model *m) {
  const yoke_setting_value *given = yoke_settings_find(&m->cosimulation.given, "cosimulation", "lockstep");
  return given != NULL && given->number[0] != 0.0;
}

static void ferry_head(yoke_ferry *c, yoke_model *m) {
  char  digest[YOKE_MODEL_DIGEST] = "";
  char *name = m->name, *foreign = m->n_foreigns > 0 ? m->foreigns[0].name : NULL;
  if (!yoke_ferry_reads(c)) yoke_model_digest(m, digest);
  yoke_ferry_block(c, sizeof digest, digest);
  digest[sizeof digest - 1] = '\0';
  yoke_ferry_text(c, &name);
  yoke_ferry_double(c, &m->t_start);
  yoke_ferry_double(c, &m->t_end);
  ferry_solver(c, &m->solver);
  yoke_ferry_double(c, &m->output.every);
  yoke_ferry_bool(c, &m->cosimulation.has_step);
  yoke_ferry_double(c, &m->cosimulation.step);
  bool is_lockstep = !yoke_ferry_reads(c) && names_lockstep(m);
  yoke_ferry_bool(c, &is_lockstep);
  yoke_ferry_index(c, &m->n_parts, 0, INT32_MAX - 1);
  yoke_ferry_text(c, &foreign);
  if (!yoke_ferry_reads(c)) return;
  m->cosimulation.is_lockstep = is_lockstep;
  m->text                     = yoke_text_copy(digest);
  m->name                     = name != NULL ? yoke_text_copy(name) : NULL;
  m->parts                    = yoke_allocate((size_t)m->n_parts + 1, sizeof *m->parts);
  m->foreigns                 = yoke_allocate(1, sizeof *m->foreigns);
  if (m->parts == NULL || m->foreigns == NULL || m->text == NULL || (name != NULL && m->name == NULL))
    c->arena->has_failed = true;
  if (m->parts == NULL) m->n_parts = 0;
  if (foreign == NULL || m->foreigns == NULL) return;
  m->n_foreigns       = 1;
  m->foreigns[0].name = foreign;
}

void yoke_model_head_write(const yoke_model *model, yoke_pack *out) {
  yoke_ferry c = {.out = out};
  ferry_head(&c, (yoke_model *)(uintptr_t)model); /* which stays as it is */
}

yoke_model *yoke_model_head_read(yoke_unpack *in) {
  yoke_model *m = yoke_allocate(1, sizeof *m);
  if (m == NULL) return NULL;
  yoke_ferry c = {.in = in, .arena = &m->arena};
  ferry_head(&c, m);
  if (in->failure != NULL || m->arena.has_failed) yoke_model_destroy(&m);
  return m;
}

/* ---- all ---- */

void yoke_model_ferry(yoke_ferry *c, yoke_model *m) {
  char *name = m->name;
  yoke_ferry_text(c, &name);
  if (yoke_ferry_reads(c) && name != NULL) m->name = yoke_text_copy(name);
  yoke_ferry_doubles(c, 3, m->gravity);
  yoke_ferry_double(c, &m->t_start);
  yoke_ferry_double(c, &m->t_end);
  yoke_ferry_bool(c, &m->assemble);
  yoke_ferry_int(c, &m->energy);
  ferry_solver(c, &m->solver);
  m->bodies      = yoke_ferry_own_list(c, m->bodies, &m->n_bodies, sizeof *m->bodies);
  m->ghosts      = yoke_ferry_own_list(c, m->ghosts, &m->n_ghosts, sizeof *m->ghosts);
  m->variables   = yoke_ferry_own_list(c, m->variables, &m->n_variables, sizeof *m->variables);
  m->frames      = yoke_ferry_own_list(c, m->frames, &m->n_frames, sizeof *m->frames);
  m->connections = yoke_ferry_own_list(c, m->connections, &m->n_connections, sizeof *m->connections);
  m->loads       = yoke_ferry_own_list(c, m->loads, &m->n_loads, sizeof *m->loads);
  m->events      = yoke_ferry_own_list(c, m->events, &m->n_events, sizeof *m->events);
  m->flexibles   = yoke_ferry_own_list(c, m->flexibles, &m->n_flexibles, sizeof *m->flexibles);
  for (int i = 0; i < m->n_bodies; ++i) ferry_body(c, &m->bodies[i]);
  for (int i = 0; i < m->n_bodies; ++i) yoke_ferry_index(c, &m->bodies[i].flexible, 0, m->n_flexibles);
  for (int i = 0; i < m->n_flexibles; ++i) ferry_flexible(c, m, &m->flexibles[i]);
  for (int i = 0; i < m->n_ghosts; ++i) ferry_ghost(c, &m->ghosts[i]);
  for (int i = 0; i < m->n_variables; ++i) yoke_variable_ferry(c, &m->variables[i]);
  for (int i = 0; i < m->n_frames; ++i) ferry_frame(c, m, &m->frames[i]);
  for (int i = 0; i < m->n_connections; ++i) ferry_connection(c, m, &m->connections[i]);
  for (int i = 0; i < m->n_loads; ++i) ferry_load(c, m, &m->loads[i]);
  for (int i = 0; i < m->n_events; ++i) ferry_event(c, m, &m->events[i]);
}
