#include "model/model_fingerprint.h"

#include "base/pack.h"

/* ---- one value after another ---- */

static void add_doubles(uint64_t *sum, size_t n, const double *x) {
  *sum = yoke_checksum(*sum, x, n * sizeof *x);
}

static void add_double(uint64_t *sum, double x) {
  add_doubles(sum, 1, &x);
}

static void add_int(uint64_t *sum, int x) {
  *sum = yoke_checksum(*sum, &x, sizeof x);
}

static void add_expression(uint64_t *sum, const yoke_expression *x) {
  *sum = yoke_expression_checksum(*sum, x);
}

static void add_per_mass(uint64_t *sum, const yoke_per_mass *x, int n) {
  if (x->each != NULL)
    add_doubles(sum, (size_t)n, x->each);
  else
    add_double(sum, x->value);
}

/* ---- objects ---- */

static void add_chain(uint64_t *sum, const yoke_chain *c) {
  add_int(sum, c->n);
  add_per_mass(sum, &c->mass, c->n);
  add_per_mass(sum, &c->x0, c->n);
  add_per_mass(sum, &c->v0, c->n);
  add_per_mass(sum, &c->stiffness, c->n + 1);
  add_per_mass(sum, &c->damping, c->n + 1);
  add_per_mass(sum, &c->stiffness_power, c->n + 1);
  add_per_mass(sum, &c->damping_power, c->n + 1);
  for (int side = 0; side < 2; ++side) add_int(sum, c->is_free[side]);
  add_double(sum, c->exponent_x);
  add_double(sum, c->exponent_v);
  for (int i = 0; i < c->n_loads; ++i) {
    const yoke_chain_load *load      = &c->loads[i];
    const double           numbers[] = {load->amplitude, load->omega, load->phase, load->power,
                                        load->slope,     load->time,  load->width, load->rise};
    add_int(sum, (int)load->kind);
    add_int(sum, load->mass);
    add_doubles(sum, sizeof numbers / sizeof *numbers, numbers);
  }
}

static void add_symmetric(uint64_t *sum, const yoke_symmetric *A, int n) {
  *sum = yoke_checksum(*sum, A->start, ((size_t)n + 1) * sizeof *A->start);
  *sum = yoke_checksum(*sum, A->column, (size_t)A->start[n] * sizeof *A->column);
  add_doubles(sum, (size_t)A->start[n], A->value);
}

static uint64_t sum_of_flexible(const yoke_flexible *f) {
  uint64_t sum = YOKE_CHECKSUM_START;
  add_int(&sum, f->n);
  if (f->linear != NULL) {
    add_symmetric(&sum, &f->linear->mass, f->n);
    add_symmetric(&sum, &f->linear->damping, f->n);
    add_symmetric(&sum, &f->linear->stiffness, f->n);
    add_doubles(&sum, (size_t)f->n, f->linear->rest);
    add_doubles(&sum, (size_t)f->n, f->linear->load);
    sum = yoke_checksum(sum, f->linear->place, (size_t)f->n * sizeof *f->linear->place);
  }
  if (f->cable != NULL) {
    const yoke_cable *c         = f->cable;
    const double      numbers[] = {c->element_length,    c->mass_per_length, c->axial_stiffness,
                                   c->bending_stiffness, c->damping,         c->axial_damping};
    add_int(&sum, c->n_axial);
    add_int(&sum, c->n_bending);
    add_doubles(&sum, sizeof numbers / sizeof *numbers, numbers);
  }
  return sum;
}

static uint64_t sum_of_body(const yoke_body *body) {
  uint64_t sum = YOKE_CHECKSUM_START;
  add_int(&sum, (int)body->kind);
  add_double(&sum, body->mass);
  add_doubles(&sum, 9, body->inertia);
  add_doubles(&sum, 3, body->position);
  add_doubles(&sum, 4, body->orientation);
  add_double(&sum, body->angle);
  add_doubles(&sum, 3, body->velocity);
  add_doubles(&sum, 3, body->omega);
  if (body->chain != NULL) add_chain(&sum, body->chain);
  return sum;
}

static void add_frame(uint64_t *sum, const yoke_model *model, int i) {
  if (i < 0) return; /* nothing is there */
  const yoke_frame *frame = &model->frames[i];
  add_int(sum, frame->body);
  add_int(sum, frame->mass);
  add_doubles(sum, 3, frame->origin);
  add_doubles(sum, 9, frame->axes);
}

/* An expression of the model's variables, and what they are. */
static void add_formula(uint64_t *sum, const yoke_model *model, const yoke_expression *x) {
  add_expression(sum, x);
  for (int k = 0; x != NULL && k < yoke_expression_n_variables(x); ++k) {
    const int number = yoke_expression_variables(x)[k];
    if (number < 1 || number > model->n_variables) continue; /* t */
    const yoke_variable *v         = &model->variables[number - 1];
    const int            members[] = {(int)v->kind, v->object, v->body, v->mass, v->is_velocity, v->component};
    *sum                           = yoke_checksum(*sum, members, sizeof members);
    if (yoke_variable_is_of_frame(v)) add_frame(sum, model, v->object);
  }
}

static uint64_t sum_of_connection(const yoke_model *model, const yoke_connection *c) {
  uint64_t sum = YOKE_CHECKSUM_START;
  add_int(&sum, (int)c->kind);
  for (int side = 0; side < 2; ++side) add_frame(&sum, model, c->frame[side]);
  add_int(&sum, c->flexible);
  add_doubles(&sum, 6, c->stiffness);
  add_doubles(&sum, 6, c->damping);
  add_double(&sum, c->length);
  sum = yoke_law_checksum(sum, &c->law);
  add_expression(&sum, c->motion);
  add_formula(&sum, model, c->formula);
  if (c->rod != NULL) {
    add_int(&sum, c->rod->owner);
    add_doubles(&sum, 6, c->rod->stiffness);
    add_doubles(&sum, 6, c->rod->damping);
    add_doubles(&sum, 6, c->rod->natural);
    add_double(&sum, c->rod->edge);
    add_double(&sum, c->rod->bend);
  }
  return sum;
}

static uint64_t sum_of_load(const yoke_model *model, const yoke_load *load) {
  const double numbers[] = {load->drag_linear, load->drag_quadratic, load->drag_rotational, load->amplitude,
                            load->slope};
  uint64_t     sum       = YOKE_CHECKSUM_START;
  add_int(&sum, (int)load->kind);
  add_frame(&sum, model, load->frame);
  add_int(&sum, load->follower);
  for (int k = 0; k < 3; ++k) add_formula(&sum, model, load->value[k]);
  add_doubles(&sum, sizeof numbers / sizeof *numbers, numbers);
  add_doubles(&sum, 3, load->direction);
  return sum;
}

static uint64_t sum_of_event(const yoke_model *model, const yoke_event *event) {
  uint64_t sum = YOKE_CHECKSUM_START;
  add_formula(&sum, model, event->when);
  add_int(&sum, event->direction);
  add_int(&sum, (int)event->action);
  for (int k = 0; k < event->n_set; ++k) {
    add_int(&sum, event->variable[k]);
    add_formula(&sum, model, event->value[k]);
  }
  return sum;
}

void yoke_model_fingerprint(const yoke_model *model, yoke_fingerprint_item item, void *user) {
  uint64_t gravity = YOKE_CHECKSUM_START;
  add_doubles(&gravity, 3, model->gravity);
  item(user, "gravity", "", gravity);
  for (int i = 0; i < model->n_bodies; ++i) item(user, "body", model->bodies[i].name, sum_of_body(&model->bodies[i]));
  for (int i = 0; i < model->n_flexibles; ++i)
    item(user, "flexible body", model->flexibles[i].name, sum_of_flexible(&model->flexibles[i]));
  for (int i = 0; i < model->n_connections; ++i)
    item(user, "connection", model->connections[i].name, sum_of_connection(model, &model->connections[i]));
  for (int i = 0; i < model->n_loads; ++i)
    item(user, "load", model->loads[i].name, sum_of_load(model, &model->loads[i]));
  for (int i = 0; i < model->n_events; ++i)
    item(user, "event", model->events[i].name, sum_of_event(model, &model->events[i]));
}
