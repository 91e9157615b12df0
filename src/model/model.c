/* Model: release, names of bodies' components. */
#include "model/model.h"
#include "base/memory.h"
#include "model/quantities.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Release ------------------------------------------------------------------------------------------------------- */

static void release_texts(char **texts, int n) {
  for (int i = 0; texts != NULL && i < n; ++i) free(texts[i]);
  free(texts);
}

static void release_elements(yoke_model *m) {
  for (int i = 0; m->connections != NULL && i < m->n_connections; ++i) {
    yoke_law_clear(&m->connections[i].law);
    yoke_expression_destroy(&m->connections[i].formula);
    yoke_expression_destroy(&m->connections[i].motion);
  }
  for (int i = 0; m->loads != NULL && i < m->n_loads; ++i) {
    for (int k = 0; k < 3; ++k) yoke_expression_destroy(&m->loads[i].value[k]);
  }
  for (int i = 0; m->events != NULL && i < m->n_events; ++i) {
    yoke_event *event = &m->events[i];
    yoke_expression_destroy(&event->when);
    for (int k = 0; event->value != NULL && k < event->n_set; ++k) yoke_expression_destroy(&event->value[k]);
  }
  for (int i = 0; m->user_outputs != NULL && i < m->n_user_outputs; ++i)
    yoke_expression_destroy(&m->user_outputs[i].value);
  for (int i = 0; m->foreigns != NULL && i < m->n_foreigns; ++i) {
    for (int k = 0; k < m->foreigns[i].n_inputs; ++k) yoke_expression_destroy(&m->foreigns[i].inputs[k].value);
  }
  for (int i = 0; m->parts != NULL && i < m->n_parts; ++i) {
    free(m->parts[i].bodies);
    yoke_settings_clear(&m->parts[i].given);
  }
  for (int i = 0; m->cosimulation.own != NULL && i < m->cosimulation.n_own; ++i) {
    free(m->cosimulation.own[i].name);
    yoke_settings_clear(&m->cosimulation.own[i].given);
  }
  yoke_settings_clear(&m->cosimulation.given);
  yoke_settings_clear(&m->cosimulation.couplings);
}

const yoke_model *yoke_model_retain(const yoke_model *model) {
  yoke_model *shared = (yoke_model *)(uintptr_t)model; /* the count of owners is no part of its meaning */
  atomic_fetch_add(&shared->n_shares, 1);
  return shared;
}

yoke_model *yoke_model_reading(const yoke_model *model, const yoke_variable *variables) {
  const size_t   n   = (size_t)model->n_variables;
  yoke_model    *out = yoke_allocate(1, sizeof *out);
  yoke_variable *own = yoke_allocate(n + 1, sizeof *own);
  if (out == NULL || own == NULL) {
    free(out);
    free(own);
    return NULL;
  }
  *out = *model;
  memcpy(own, variables, n * sizeof *own);
  atomic_init(&out->n_shares, 0);
  out->like      = (yoke_model *)(uintptr_t)yoke_model_retain(model);
  out->variables = own;
  return out;
}

void yoke_model_destroy(yoke_model **model) {
  if (model == NULL || *model == NULL) return;
  yoke_model *m = *model;
  *model        = NULL;
  if (atomic_fetch_sub(&m->n_shares, 1) > 0) return;
  if (m->like != NULL) {
    yoke_model_destroy(&m->like);
    free(m->variables);
    free(m);
    return;
  }
  release_elements(m);
  free(m->bodies);
  free(m->flexibles);
  free(m->frames);
  free(m->connections);
  free(m->loads);
  free(m->events);
  free(m->variables);
  free(m->parts);
  free(m->ghosts);
  free(m->user_outputs);
  free(m->references);
  free(m->inputs);
  free(m->foreigns);
  free(m->rods);
  free(m->cosimulation.own);
  free(m->name);
  free(m->text);
  release_texts(m->files, m->n_files);
  free(m->output.file);
  free(m->output.csv);
  release_texts(m->output.select, m->output.n_select);
  release_texts(m->output.integrals, m->output.n_integrals);
  yoke_arena_free(&m->arena);
  free(m);
}

/* ---- Names --------------------------------------------------------------------------------------------------------- */

int yoke_model_find_body(const yoke_model *model, const char *name) {
  for (int i = 0; i < model->n_bodies; ++i) {
    if (strcmp(model->bodies[i].name, name) == 0) return i;
  }
  return -1;
}

int yoke_model_find_connection(const yoke_model *model, const char *name) {
  for (int i = 0; i < model->n_connections; ++i) {
    if (strcmp(model->connections[i].name, name) == 0) return i;
  }
  return -1;
}

/* Sizes of q and v, by kind of body; names of their components are in quantities.c. A chain's shape stands for all its masses. */
static const struct {
  const char            *kind;
  int                    nq, nv;
  const yoke_port_shape *shape;
} body_words[] = {
    [YOKE_BODY_RIGID]    = {"rigid", 7, 6, &yoke_shape_frame},
    [YOKE_BODY_PLANAR]   = {"planar", 3, 3, &yoke_shape_plane},
    [YOKE_BODY_PARTICLE] = {"particle", 3, 3, &yoke_shape_point},
    [YOKE_BODY_MASS1D]   = {"mass1d", 1, 1, &yoke_shape_line},
    [YOKE_BODY_CHAIN]    = {"chain", 1, 1, &yoke_shape_line},
};

enum { N_BODY_KINDS = sizeof body_words / sizeof body_words[0] };

static const char *const connection_words[] = {
    [YOKE_CONNECTION_ATPOINT]        = "atpoint",
    [YOKE_CONNECTION_INPLANE]        = "inplane",
    [YOKE_CONNECTION_PERPENDICULAR]  = "perpendicular",
    [YOKE_CONNECTION_SPHERICAL]      = "spherical",
    [YOKE_CONNECTION_REVOLUTE]       = "revolute",
    [YOKE_CONNECTION_UNIVERSAL]      = "universal",
    [YOKE_CONNECTION_CYLINDRICAL]    = "cylindrical",
    [YOKE_CONNECTION_TRANSLATIONAL]  = "translational",
    [YOKE_CONNECTION_PLANAR]         = "planar",
    [YOKE_CONNECTION_INLINE]         = "inline",
    [YOKE_CONNECTION_ORIENTATION]    = "orientation",
    [YOKE_CONNECTION_FIXED]          = "fixed",
    [YOKE_CONNECTION_DISTANCE]       = "distance",
    [YOKE_CONNECTION_SPRING_DAMPER]  = "spring-damper",
    [YOKE_CONNECTION_TORSION_SPRING] = "torsion-spring",
    [YOKE_CONNECTION_BUSHING]        = "bushing",
    [YOKE_CONNECTION_ROD_ELEMENT]    = "rod-element",
    [YOKE_CONNECTION_TANGENT]        = "tangent",
};

enum { N_CONNECTION_KINDS = sizeof connection_words / sizeof connection_words[0] };

const char *yoke_body_kind_name(yoke_body_kind kind) {
  return (unsigned)kind < N_BODY_KINDS ? body_words[kind].kind : "unknown";
}

const char *yoke_connection_kind_name(yoke_connection_kind kind) {
  return (unsigned)kind < N_CONNECTION_KINDS ? connection_words[kind] : "unknown";
}

bool yoke_connection_is_joint(yoke_connection_kind kind) {
  return (unsigned)kind <= YOKE_CONNECTION_DISTANCE || kind == YOKE_CONNECTION_TANGENT;
}

static int chain_size(const yoke_body *body) {
  return body->chain != NULL ? body->chain->n : 0;
}

int yoke_body_nq(const yoke_body *body) {
  if (body->kind == YOKE_BODY_CHAIN) return chain_size(body);
  return (unsigned)body->kind < N_BODY_KINDS ? body_words[body->kind].nq : 0;
}

int yoke_body_nv(const yoke_body *body) {
  if (body->kind == YOKE_BODY_CHAIN) return chain_size(body);
  return (unsigned)body->kind < N_BODY_KINDS ? body_words[body->kind].nv : 0;
}

const yoke_port_shape *yoke_body_shape(yoke_body_kind kind) {
  return (unsigned)kind < N_BODY_KINDS ? body_words[kind].shape : NULL;
}

bool yoke_body_component_name(const yoke_body *body, bool is_velocity, int i, char *name, size_t size) {
  const yoke_quantity_level level = is_velocity ? YOKE_LEVEL_VELOCITY : YOKE_LEVEL_POSITION;
  if (i < 0 || i >= (is_velocity ? yoke_body_nv(body) : yoke_body_nq(body))) return false;
  const int            component = body->kind == YOKE_BODY_CHAIN ? 0 : i;
  const yoke_quantity *row       = yoke_quantity_at((yoke_quantity_of)body->kind, level, component);
  const int            n         = yoke_quantity_print(row, component, i + 1, name, size);
  return n > 0 && (size_t)n < size;
}

/* "x[3]" of n gives 2; -1: no such number. Names have one spelling: no blanks, signs or leading zeros. */
static int read_number(const char *name, const char *word, int n) {
  const size_t length = strlen(word);
  if (strncmp(name, word, length) != 0 || name[length] != '[') return -1;
  long        number = 0;
  const char *at     = name + length + 1;
  if (*at < '1' || *at > '9') return -1;
  for (; *at >= '0' && *at <= '9'; ++at) {
    number = 10 * number + (*at - '0');
    if (number > n) return -1;
  }
  return at[0] == ']' && at[1] == '\0' ? (int)number - 1 : -1;
}

static bool find_mass(const yoke_body *body, const char *name, yoke_variable *out) {
  const bool is_velocity = name[0] == 'v';
  const int  mass        = read_number(name, is_velocity ? "v" : "x", chain_size(body));
  if (mass < 0) return false;
  out->mass        = mass;
  out->is_velocity = is_velocity;
  out->component   = 0;
  return true;
}

bool yoke_body_component_find(const yoke_body *body, const char *name, yoke_variable *out) {
  if (body->kind == YOKE_BODY_CHAIN) return find_mass(body, name, out);
  int                  component;
  const yoke_quantity *row = yoke_quantity_find((yoke_quantity_of)body->kind, name, &component);
  if (row == NULL || row->level > YOKE_LEVEL_VELOCITY) return false;
  out->mass        = 0;
  out->is_velocity = row->level == YOKE_LEVEL_VELOCITY;
  out->component   = component;
  return true;
}

bool yoke_body_acceleration_find(const yoke_body *body, const char *name, yoke_variable *out) {
  if (body->kind == YOKE_BODY_CHAIN) {
    out->mass = read_number(name, "a", chain_size(body));
    return out->mass >= 0;
  }
  const yoke_quantity *row = yoke_quantity_find((yoke_quantity_of)body->kind, name, &out->component);
  return row != NULL && row->level == YOKE_LEVEL_ACCELERATION;
}

int yoke_connection_n_rows(const yoke_connection *connection) {
  static const int rows[] = {
      [YOKE_CONNECTION_ATPOINT] = 3,     [YOKE_CONNECTION_INPLANE] = 1,       [YOKE_CONNECTION_PERPENDICULAR] = 1,
      [YOKE_CONNECTION_SPHERICAL] = 3,   [YOKE_CONNECTION_REVOLUTE] = 5,      [YOKE_CONNECTION_UNIVERSAL] = 4,
      [YOKE_CONNECTION_CYLINDRICAL] = 4, [YOKE_CONNECTION_TRANSLATIONAL] = 5, [YOKE_CONNECTION_PLANAR] = 3,
      [YOKE_CONNECTION_INLINE] = 2,      [YOKE_CONNECTION_ORIENTATION] = 3,   [YOKE_CONNECTION_FIXED] = 6,
      [YOKE_CONNECTION_DISTANCE] = 1,    [YOKE_CONNECTION_SPRING_DAMPER] = 1, [YOKE_CONNECTION_TORSION_SPRING] = 1,
      [YOKE_CONNECTION_BUSHING] = 6,     [YOKE_CONNECTION_ROD_ELEMENT] = 6,   [YOKE_CONNECTION_TANGENT] = 2,
  };
  return rows[connection->kind] + (connection->motion != NULL ? 1 : 0);
}

int yoke_connection_force_find(const yoke_connection *connection, const char *name) {
  return read_number(name, "force", yoke_connection_n_rows(connection));
}

bool yoke_variable_is_felt(const yoke_variable *variable) {
  return variable->kind == YOKE_VARIABLE_ACCELERATION || variable->kind == YOKE_VARIABLE_FRAME_ACCELERATION ||
         variable->kind == YOKE_VARIABLE_FORCE;
}

bool yoke_model_feels(const yoke_model *model, const yoke_expression *expression) {
  for (int k = 0; expression != NULL && k < yoke_expression_n_variables(expression); ++k) {
    const int number = yoke_expression_variables(expression)[k];
    if (number > 0 && number <= model->n_variables && yoke_variable_is_felt(&model->variables[number - 1])) return true;
  }
  return false;
}

bool yoke_variable_is_signal(const yoke_variable *variable) {
  return variable->kind == YOKE_VARIABLE_INPUT || variable->kind == YOKE_VARIABLE_FOREIGN ||
         variable->kind == YOKE_VARIABLE_SIGNAL;
}

bool yoke_variable_is_between(const yoke_variable *variable) {
  return variable->kind == YOKE_VARIABLE_JOINT || variable->kind == YOKE_VARIABLE_DEFLECTION ||
         variable->kind == YOKE_VARIABLE_FORCE;
}

bool yoke_variable_is_of_frame(const yoke_variable *variable) {
  return variable->kind == YOKE_VARIABLE_FRAME || variable->kind == YOKE_VARIABLE_FRAME_ACCELERATION;
}

const yoke_rod *yoke_model_rod_of(const yoke_model *model, int body) {
  for (int i = 0; i < model->n_rods; ++i) {
    const yoke_rod *rod = &model->rods[i];
    if (body >= rod->first_body && body < rod->first_body + rod->n_bodies) return rod;
  }
  return NULL;
}

int yoke_model_n_port_bodies(const yoke_model *model) {
  int n = 0;
  for (int i = 0; i < model->n_foreigns; ++i) n += model->foreigns[i].n_ports;
  return n;
}

int yoke_variable_bodies(const yoke_model *model, const yoke_variable *variable, int body[2], int mass[2]) {
  int        n          = 0;
  const bool is_between = yoke_variable_is_between(variable);
  for (int side = 0; is_between && side < 2; ++side) {
    const yoke_frame *frame = &model->frames[model->connections[variable->object].frame[side]];
    if (frame->body < 0) continue;
    body[n]   = frame->body;
    mass[n++] = frame->mass;
  }
  if (n > 0 || yoke_variable_is_signal(variable)) return n;
  body[0] = variable->body;
  mass[0] = variable->mass;
  return 1;
}

static void signal_name(const yoke_model *model, const yoke_variable *v, char *name, size_t size) {
  if (v->kind == YOKE_VARIABLE_INPUT) {
    snprintf(name, size, "%s", model->inputs[v->object].name);
  } else if (v->kind == YOKE_VARIABLE_FOREIGN) {
    const yoke_foreign *foreign = &model->foreigns[v->object];
    snprintf(name, size, "%s.%s", foreign->name, foreign->outputs[v->component].name);
  } else {
    snprintf(name, size, "input %d", v->object);
  }
}

void yoke_variable_name(const yoke_model *model, const yoke_variable *v, char *name, size_t size) {
  if (yoke_variable_is_signal(v)) {
    signal_name(model, v, name, size);
    return;
  }
  const yoke_body *body     = &model->bodies[v->body];
  const char      *object   = body->name;
  char             word[64] = "";
  if (v->kind == YOKE_VARIABLE_JOINT) {
    const yoke_quantity_level level = v->is_velocity ? YOKE_LEVEL_VELOCITY : YOKE_LEVEL_POSITION;
    const yoke_quantity      *row   = yoke_quantity_at(YOKE_OF_JOINT, level, v->component);
    object                          = model->connections[v->object].name;
    (void)yoke_quantity_print(row, v->component, 0, word, sizeof word);
  } else if (v->kind == YOKE_VARIABLE_DEFLECTION) {
    object = model->connections[v->object].name;
    snprintf(word, sizeof word, "%s", v->is_velocity ? "v" : "x");
  } else if (v->kind == YOKE_VARIABLE_FORCE) {
    object = model->connections[v->object].name;
    snprintf(word, sizeof word, "force[%d]", v->component + 1);
  } else {
    if (yoke_variable_is_of_frame(v)) object = model->frames[v->object].name;
    if (yoke_variable_is_felt(v)) {
      const yoke_quantity *row = yoke_quantity_at((yoke_quantity_of)body->kind, YOKE_LEVEL_ACCELERATION, v->component);
      (void)yoke_quantity_print(row, v->component, v->mass + 1, word, sizeof word);
    } else if (!yoke_body_component_name(body, v->is_velocity, v->mass + v->component, word, sizeof word))
      word[0] = '\0';
  }
  snprintf(name, size, "%s.%s", object, word);
}

yoke_status yoke_model_integral(yoke_context *ctx, const yoke_model *model, int k, yoke_variable *out) {
  const char *name = model->output.integrals[k], *dot = strrchr(name, '.');
  char        body_name[256];
  int         b = -1;
  *out          = (yoke_variable){.kind = YOKE_VARIABLE_STATE};
  if (dot != NULL) {
    snprintf(body_name, sizeof body_name, "%.*s", (int)(dot - name), name);
    b = yoke_model_find_body(model, body_name);
  }
  if (b < 0 || !yoke_body_component_find(&model->bodies[b], dot + 1, out) || out->is_velocity)
    return yoke_fail(ctx, YOKE_E_MODEL,
                     "output.integrals: '%s' is not a position of a body (expected body.quantity, e.g. upper.x)", name);
  out->body = b;
  return YOKE_OK;
}
