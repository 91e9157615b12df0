/* Quantities of a model by their names in its file. */
#include "io/model_reader.h"
#include "model/joint_coordinate.h"
#include "model/quantities.h"
#include <string.h>

/* The object in front of the last dot outside of brackets, and the word behind it: "left.thigh.vx", "c.x[3]". NULL: no dot. */
static const char *part_name(const char *name, char object[NAME_SIZE]) {
  const char *dot   = NULL;
  int         depth = 0;
  for (const char *p = name; *p != '\0'; ++p) {
    depth += (*p == '[') - (*p == ']');
    if (*p == '.' && depth == 0) dot = p;
  }
  if (dot == NULL || (size_t)(dot - name) >= NAME_SIZE) return NULL;
  model_print(object, NAME_SIZE, "%.*s", (int)(dot - name), name);
  return dot + 1;
}

/* Has the object a name for this word beside those that expressions may read? "g[3]" stands for "g[k]". */
static bool is_listed(yoke_quantity_of of, const char *word) {
  const size_t stem = strcspn(word, "[");
  for (int i = 0; i < yoke_n_quantity_rows(); ++i) {
    const yoke_quantity *row = yoke_quantity_row(i);
    for (int k = 0; row->of == of && k < row->n; ++k) {
      if (strcspn(row->name[k], "[") == stem && strncmp(row->name[k], word, stem) == 0 &&
          (row->name[k][stem] == '[') == (word[stem] == '['))
        return true;
    }
  }
  return false;
}

static model_quantity find_of_body(const yoke_model *m, int body, const char *word, yoke_variable *out) {
  if (yoke_body_component_find(&m->bodies[body], word, out)) {
    out->body = body;
    return QUANTITY_OF_MOTION;
  }
  if (!yoke_body_acceleration_find(&m->bodies[body], word, out)) return QUANTITY_NONE;
  out->kind = YOKE_VARIABLE_ACCELERATION;
  out->body = body;
  return QUANTITY_FELT;
}

static model_quantity find_of_frame(const yoke_model *m, int frame, const char *word, yoke_variable *out,
                                    double *value) {
  const yoke_frame *f = &m->frames[frame];
  if (f->body < 0) {                          /* of the ground: only its place is worth a name */
    const size_t axis = strcspn("xyz", word); /* 3: none of them */
    if (strlen(word) != 1 || axis > 2) return QUANTITY_NONE;
    *value = f->origin[axis];
    return QUANTITY_CONSTANT;
  }
  if (m->bodies[f->body].kind == YOKE_BODY_CHAIN)
    return QUANTITY_NONE; /* c[5] is a place to act on; its state is c.x[5] */
  const model_quantity kind = find_of_body(m, f->body, word, out);
  out->kind                 = kind == QUANTITY_FELT ? YOKE_VARIABLE_FRAME_ACCELERATION : YOKE_VARIABLE_FRAME;
  out->object               = frame;
  return kind;
}

/* An end that is no ground; of a connection whose ends are wrong, which was told, none may be there. */
static yoke_frame body_end(const yoke_model *m, const yoke_connection *c) {
  for (int side = 0; side < 2; ++side) {
    const int f = c->frame[side];
    if (f >= 0 && f < m->n_frames && m->frames[f].body >= 0) return m->frames[f];
  }
  return (yoke_frame){.body = 0};
}

/* A force, or what only outputs show. */
static model_quantity find_of_row(const yoke_model *m, int connection, const char *word, yoke_variable *out) {
  const yoke_connection *c     = &m->connections[connection];
  const yoke_frame       end   = body_end(m, c);
  const int              force = yoke_connection_force_find(c, word);
  if (force < 0)
    return strncmp(word, "force[", 6) != 0 && is_listed(YOKE_OF_CONNECTION, word) ? QUANTITY_SHOWN : QUANTITY_NONE;
  *out = (yoke_variable){
      .kind = YOKE_VARIABLE_FORCE, .object = connection, .body = end.body, .mass = end.mass, .component = force};
  return yoke_connection_is_joint(c->kind) && !c->flexible ? QUANTITY_FELT : QUANTITY_OF_ELEMENT;
}

static model_quantity find_of_joint(const yoke_model *m, int connection, const char *word, yoke_variable *out) {
  const yoke_connection *c   = &m->connections[connection];
  const yoke_quantity   *row = yoke_quantity_find(YOKE_OF_JOINT, word, &out->component);
  if (row == NULL || !yoke_joint_has_coordinate(c->kind, out->component)) return find_of_row(m, connection, word, out);
  out->kind        = YOKE_VARIABLE_JOINT;
  out->object      = connection;
  out->body        = body_end(m, c).body;
  out->is_velocity = row->level == YOKE_LEVEL_VELOCITY;
  return QUANTITY_OF_MOTION;
}

static model_quantity find_of_foreign(const yoke_model *m, int foreign, const char *word, yoke_variable *out) {
  for (int k = 0; k < m->foreigns[foreign].n_outputs; ++k) {
    if (strcmp(m->foreigns[foreign].outputs[k].name, word) != 0) continue;
    *out = (yoke_variable){.kind = YOKE_VARIABLE_FOREIGN, .object = foreign, .component = k};
    return QUANTITY_OF_MOTION;
  }
  return QUANTITY_NONE;
}

model_quantity model_find_quantity(reader *r, const scope *s, const char *name, yoke_variable *out, double *value) {
  char        object[NAME_SIZE];
  const char *word  = part_name(name, object);
  const int   input = model_find(s, &r->input_names, name);
  if (input >= 0) {
    *out = (yoke_variable){.kind = YOKE_VARIABLE_INPUT, .object = input};
    return QUANTITY_OF_MOTION;
  }
  if (word == NULL) return QUANTITY_NONE;
  if (strcmp(object, "total") == 0) return is_listed(YOKE_OF_TOTAL, word) ? QUANTITY_SHOWN : QUANTITY_NONE;
  const int body = model_find(s, &r->body_names, object);
  if (body >= 0) return find_of_body(r->model, body, word, out);
  const int frame = model_find(s, &r->frame_names, object);
  if (frame >= 0) return find_of_frame(r->model, frame, word, out, value);
  const int foreign = model_find(s, &r->foreign_names, object);
  if (foreign >= 0) return find_of_foreign(r->model, foreign, word, out);
  const int connection = model_find(s, &r->connection_names, object);
  if (connection >= 0) return find_of_joint(r->model, connection, word, out);
  const bool is_account = strncmp(object, "subsystem.", 10) == 0 && is_listed(YOKE_OF_SUBSYSTEM, word);
  return is_account ? QUANTITY_SHOWN : QUANTITY_NONE;
}

/* ---- lists of the model ---- */

int model_variable(reader *r, const yoke_variable *variable) {
  yoke_model *m = r->model;
  char        key[120];
  model_print(key, sizeof key, "%d/%d/%d/%d/%d/%d", (int)variable->kind, variable->object, variable->body,
              variable->mass, variable->is_velocity, variable->component);
  const int known = yoke_names_find(&r->variable_names, key);
  if (known != YOKE_NAMES_NONE) return known;
  const char *kept = yoke_yaml_keep_text(r->yaml, key, strlen(key));
  if (!model_grow(r, &m->variables, m->n_variables, &r->capacity_variables, sizeof *m->variables)) return -1;
  if (kept == NULL || yoke_names_add(&r->variable_names, kept, m->n_variables + 1) == YOKE_NAMES_NO_MEMORY) {
    model_out_of_memory(r);
    return -1;
  }
  m->variables[m->n_variables++] = *variable;
  return m->n_variables; /* number 0 is t */
}

int model_deflection(reader *r, bool is_rate) {
  const yoke_frame    end = body_end(r->model, &r->model->connections[r->law_of]);
  const yoke_variable own = {.kind        = YOKE_VARIABLE_DEFLECTION,
                             .object      = r->law_of,
                             .body        = end.body,
                             .mass        = end.mass,
                             .is_velocity = is_rate};
  return model_variable(r, &own);
}

/* Full name of the cut "c.cut[3]" of a chain, in `full`. */
static bool full_cut(const reader *r, const scope *s, const char *object, char *full, size_t size) {
  char        base[NAME_SIZE];
  const char *cut = strstr(object, ".cut[");
  if (cut == NULL) return false;
  model_print(base, sizeof base, "%.*s", (int)(cut - object), object);
  const int body = model_find(s, &r->body_names, base);
  if (body < 0 || r->model->bodies[body].kind != YOKE_BODY_CHAIN) return false;
  model_print(full, size, "%s%s", r->model->bodies[body].name, cut);
  return true;
}

/* Full name of a body, frame, subsystem or connection; NULL: none. */
static const char *full_object(const reader *r, const scope *s, const char *object) {
  const yoke_model *m = r->model;
  if (strcmp(object, "total") == 0) return "total";
  const int body = model_find(s, &r->body_names, object);
  if (body >= 0) return m->bodies[body].name;
  const int frame = model_find(s, &r->frame_names, object);
  if (frame >= 0 && m->frames[frame].body >= 0) return m->frames[frame].name;
  const int foreign = model_find(s, &r->foreign_names, object);
  if (foreign >= 0) return m->foreigns[foreign].name;
  const int connection = model_find(s, &r->connection_names, object);
  return connection >= 0 ? m->connections[connection].name : NULL;
}

/* Full name of an output of the model; whether its object shows this word is found when a run is planned. */
static bool full_name(const reader *r, const scope *s, const char *name, char *out, size_t size) {
  char        object[NAME_SIZE], body[NAME_SIZE];
  const char *word  = part_name(name, object);
  const int   input = model_find(s, &r->input_names, name);
  if (input >= 0) model_print(out, size, "%s", r->model->inputs[input].name);
  if (word == NULL || input >= 0) return input >= 0;
  const bool  is_integral = strcmp(word, "integral") == 0;
  const char *position    = is_integral ? part_name(object, body) : NULL; /* "a.x.integral" */
  char        cut[2 * NAME_SIZE];
  const char *owner =
      full_cut(r, s, object, cut, sizeof cut) ? cut : full_object(r, s, position != NULL ? body : object);
  if (owner == NULL) return false;
  model_print(out, size, "%s.%s%s%s", owner, position != NULL ? position : "", position != NULL ? "." : "", word);
  return true;
}

int model_reference(reader *r, const scope *s, const char *name) {
  yoke_model           *m = r->model;
  char                  full[2 * NAME_SIZE];
  yoke_output_reference reference = {.user = model_find(s, &r->output_names, name)};
  if (reference.user >= 0)
    model_print(full, sizeof full, "%s", m->user_outputs[reference.user].name);
  else if (!full_name(r, s, name, full, sizeof full))
    return -1;
  else
    reference.user = -1;
  const int known = yoke_names_find(&r->reference_names, full);
  if (known != YOKE_NAMES_NONE) return known;
  reference.name = yoke_arena_text(&m->arena, full);
  if (!model_has_memory(r) ||
      !model_grow(r, &m->references, m->n_references, &r->capacity_references, sizeof *m->references))
    return -1;
  if (yoke_names_add(&r->reference_names, reference.name, m->n_references + 1) == YOKE_NAMES_NO_MEMORY) {
    model_out_of_memory(r);
    return -1;
  }
  m->references[m->n_references++] = reference;
  return m->n_references; /* number 0 is t */
}
