/* Loads of the model file. Those that are functions of time become expressions; contact and drag keep their own form. */
#include "io/model_reader.h"
#include "base/memory.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum file_kind {
  LOAD_CONSTANT,
  LOAD_EXPRESSION,
  LOAD_HARMONIC,
  LOAD_IMPULSE,
  LOAD_MODIFIED_SINE,
  LOAD_CONTACT,
  LOAD_DRAG
} file_kind;

static const char *const kind_words[] = {"constant",      "expression", "harmonic", "impulse",
                                         "modified-sine", "contact",    "drag"};

#define COMMON "kind", "on", "count"
#define VECTORS "force", "torque", "follower"
static const char *const plain_keys[]    = {COMMON, VECTORS};
static const char *const harmonic_keys[] = {COMMON, VECTORS, "omega", "phase"};
static const char *const impulse_keys[]  = {COMMON, VECTORS, "time", "width", "rise"};
static const char *const sine_keys[]     = {COMMON, VECTORS, "omega", "phase", "power"};
static const char *const contact_keys[]  = {COMMON, "force", "slope", "direction"};
static const char *const drag_keys[]     = {COMMON, "linear", "quadratic", "rotational"};

static const struct {
  const char *const *list;
  int                n;
} load_keys[] = {
    [LOAD_CONSTANT]      = {plain_keys, MODEL_COUNT(plain_keys)},
    [LOAD_EXPRESSION]    = {plain_keys, MODEL_COUNT(plain_keys)},
    [LOAD_HARMONIC]      = {harmonic_keys, MODEL_COUNT(harmonic_keys)},
    [LOAD_IMPULSE]       = {impulse_keys, MODEL_COUNT(impulse_keys)},
    [LOAD_MODIFIED_SINE] = {sine_keys, MODEL_COUNT(sine_keys)},
    [LOAD_CONTACT]       = {contact_keys, MODEL_COUNT(contact_keys)},
    [LOAD_DRAG]          = {drag_keys, MODEL_COUNT(drag_keys)},
};

static yoke_body_kind kind_of_frame(const yoke_model *m, int frame) {
  const int body = m->frames[frame].body;
  return body < 0 ? YOKE_BODY_RIGID : m->bodies[body].kind;
}

/* The factor of the load's direction as a function of t, e.g. "sin(314*t+0)". */
static bool time_factor(reader *r, const scope *s, const yoke_yaml_node *map, file_kind kind, char *text, size_t size) {
  double omega = 0, phase = 0, width = 0, rise = 0;
  if (kind == LOAD_HARMONIC || kind == LOAD_MODIFIED_SINE) {
    long                  power      = 95;
    const yoke_yaml_node *omega_node = yoke_yaml_find(map, "omega"), *power_node = yoke_yaml_find(map, "power");
    if (omega_node == NULL)
      return model_mistake(r, map, "omega", "found nothing, expected an angular frequency [rad/s]");
    if (!model_number(r, s, omega_node, "omega", Q_ANGULAR_VELOCITY, &omega)) return false;
    if (!model_optional(r, s, map, "phase", Q_ANGLE, &phase)) return false;
    if (kind == LOAD_HARMONIC) {
      model_print(text, size, "sin((%.17g)*t+(%.17g))", omega, phase);
      return true;
    }
    if (power_node != NULL && !model_integer(r, s, power_node, "power", 1, 100001, &power)) return false;
    if (power % 2 == 0) return model_mistake(r, power_node, "power", "found %ld, expected an odd number", power);
    model_print(text, size, "sin((%.17g)*t+(%.17g))^%ld", omega, phase, power);
    return true;
  }
  const yoke_yaml_node *time = yoke_yaml_find(map, "time"), *width_node = yoke_yaml_find(map, "width"),
                       *rise_node = yoke_yaml_find(map, "rise");
  if (time == NULL)
    return model_mistake(r, map, "time",
                         "found nothing, expected the time [s] at which the impulse starts, or a list of times");
  if (width_node == NULL)
    return model_mistake(r, map, "width", "found nothing, expected how long [s] the impulse lasts");
  if (rise_node == NULL)
    return model_mistake(r, map, "rise", "found nothing, expected how long [s] the impulse takes to rise");
  if (!model_positive(r, s, width_node, "width", Q_TIME, &width) ||
      !model_positive(r, s, rise_node, "rise", Q_TIME, &rise))
    return false;
  const int n    = time->kind == YOKE_YAML_LIST ? time->n : 1;
  size_t    used = 0;
  if (n > 64) return model_mistake(r, time, "time", "found a list of %d, expected at most 64", n);
  text[0] = '\0';
  for (int k = 0; k < n; ++k) {
    double start;
    if (!model_number(r, s, time->kind == YOKE_YAML_LIST ? time->items[k] : time, "time", Q_TIME, &start)) return false;
    used += model_print(text + used, size - used, "%s0.5*(tanh((t-(%.17g))/(%.17g))-tanh((t-(%.17g))/(%.17g)))",
                        k == 0 ? "" : "+", start, rise, start + width, rise);
    if (used + 1 >= size) return model_mistake(r, time, "time", "found too many times");
  }
  return true;
}

/* One component: an expression (constant, expression) or amplitude times the factor. *out stays NULL for zero. */
static bool read_component(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, file_kind kind,
                           quantity q, const char *factor, yoke_expression **out) {
  if (kind == LOAD_CONSTANT || kind == LOAD_EXPRESSION) {
    if (!model_expression(r, s, node, key, kind == LOAD_CONSTANT ? VARIABLES_NONE : VARIABLES_STATES, q, out))
      return false;
  } else {
    double amplitude;
    if (!model_number(r, s, node, key, q, &amplitude)) return false;
    if (amplitude == 0) return true;
    const size_t size = strlen(factor) + 64;
    char        *text = malloc(size);
    if (text == NULL) return model_out_of_memory(r);
    model_print(text, size, "(%.17g)*(%s)", amplitude, factor);
    const bool good = model_expression_text(r, s, node, key, text, VARIABLES_TIME, Q_ANY, out);
    free(text);
    if (!good) return false;
  }
  if (!yoke_expression_is_constant(*out)) return true;
  const double value = yoke_expression_evaluate(*out, NULL, NULL);
  if (!isfinite(value)) {
    yoke_expression_destroy(out);
    return model_mistake(r, node, key, "found %g, expected a finite number", value);
  }
  if (value == 0) yoke_expression_destroy(out);
  return true;
}

/* `force` or `torque`: a list of components; a scalar for masses on a line (force) and planar bodies (torque about z). */
static bool read_vector(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, file_kind kind,
                        const char *factor, yoke_load *load) {
  const bool           is_torque = load->kind == YOKE_LOAD_TORQUE;
  const yoke_body_kind body      = kind_of_frame(r->model, load->frame);
  const bool           on_line   = body == YOKE_BODY_MASS1D || body == YOKE_BODY_CHAIN;
  const quantity       q         = is_torque ? Q_TORQUE : Q_FORCE;
  if (is_torque && body != YOKE_BODY_RIGID && body != YOKE_BODY_PLANAR)
    return model_mistake(r, node, key, "found a torque on a %s, expected a rigid or planar body",
                         yoke_body_kind_name(body));
  const bool scalar = (is_torque && body == YOKE_BODY_PLANAR) || (!is_torque && on_line);
  if (node->kind == YOKE_YAML_SCALAR) {
    if (!scalar) return model_expected(r, node, key, body == YOKE_BODY_PLANAR ? "[x, y]" : "[x, y, z]");
    return read_component(r, s, node, key, kind, q, factor, &load->value[is_torque ? 2 : 0]);
  }
  const int max = on_line                                  ? 1
                  : body == YOKE_BODY_PLANAR && !is_torque ? 2
                                                           : 3,
            min = scalar && on_line                        ? 1
                  : body == YOKE_BODY_PLANAR && !is_torque ? 2
                                                           : 3;
  if (node->kind != YOKE_YAML_LIST || node->n < min || node->n > max) {
    return model_expected(r, node, key,
                          on_line                    ? "one number"
                          : body == YOKE_BODY_PLANAR ? (is_torque ? "one number, about z" : "[x, y]")
                                                     : "[x, y, z]");
  }
  bool good = true;
  for (int k = 0; k < node->n; ++k)
    good = read_component(r, s, node->items[k], key, kind, q, factor, &load->value[k]) && good;
  return good;
}

static yoke_load *add_load(reader *r, const char *name, yoke_load_kind kind, int frame) {
  yoke_model *m = r->model;
  if (!model_grow(r, &m->loads, m->n_loads, &r->capacity_loads, sizeof *m->loads)) return NULL;
  yoke_load *load = &m->loads[m->n_loads];
  *load           = (yoke_load){.kind = kind, .frame = frame, .name = yoke_arena_text(&m->arena, name)};
  if (!model_has_memory(r)) return NULL;
  ++m->n_loads;
  return load;
}

static bool read_vectors(reader *r, const scope *s, const yoke_yaml_node *node, const char *name, file_kind kind,
                         int frame) {
  const yoke_yaml_node *force = yoke_yaml_find(node, "force"), *torque = yoke_yaml_find(node, "torque"),
                       *follower_node = yoke_yaml_find(node, "follower");
  bool follower                       = false;
  char factor[16384]                  = "";
  if (force == NULL && torque == NULL)
    return model_mistake(r, node, "force", "found nothing, expected 'force' or 'torque'");
  if (follower_node != NULL && !model_boolean(r, follower_node, "follower", &follower)) return false;
  if (kind != LOAD_CONSTANT && kind != LOAD_EXPRESSION && !time_factor(r, s, node, kind, factor, sizeof factor))
    return false;
  bool good = true;
  for (int k = 0; k < 2; ++k) {
    const yoke_yaml_node *vector = k == 0 ? force : torque;
    if (vector == NULL) continue;
    yoke_load *load = add_load(r, name, k == 0 ? YOKE_LOAD_FORCE : YOKE_LOAD_TORQUE, frame);
    if (load == NULL) return false;
    load->follower = follower;
    good           = read_vector(r, s, vector, k == 0 ? "force" : "torque", kind, factor, load) && good;
  }
  return good;
}

static bool read_contact(reader *r, const scope *s, const yoke_yaml_node *node, yoke_load *load) {
  const yoke_yaml_node *force = yoke_yaml_find(node, "force"), *slope = yoke_yaml_find(node, "slope"),
                       *direction = yoke_yaml_find(node, "direction");
  load->direction[0]              = 1;
  if (force == NULL) return model_mistake(r, node, "force", "found nothing, expected the force [N] at the wall");
  if (slope == NULL) return model_mistake(r, node, "slope", "found nothing, expected the growth of the force [1/m]");
  if (!model_number(r, s, force, "force", Q_FORCE, &load->amplitude) ||
      !model_number(r, s, slope, "slope", Q_PER_LENGTH, &load->slope))
    return false;
  if (direction == NULL) return true;
  if (!model_numbers(r, s, direction, "direction", Q_ANY, 1, 3, load->direction, NULL)) return false;
  const double norm = hypot(hypot(load->direction[0], load->direction[1]), load->direction[2]);
  if (!(norm > 0)) return model_mistake(r, direction, "direction", "found a direction of length 0");
  for (int k = 0; k < 3; ++k) load->direction[k] /= norm;
  return true;
}

static bool read_drag(reader *r, const scope *s, const yoke_yaml_node *node, yoke_load *load) {
  static const char *const keys[]       = {"linear", "quadratic", "rotational"};
  static const quantity    quantities[] = {Q_DAMPING, Q_QUADRATIC_DRAG, Q_TORSION_DAMPING};
  double *const            values[]     = {&load->drag_linear, &load->drag_quadratic, &load->drag_rotational};
  int                      n_given      = 0;
  for (int k = 0; k < 3; ++k) {
    const yoke_yaml_node *value = yoke_yaml_find(node, keys[k]);
    if (value == NULL) continue;
    ++n_given;
    const yoke_body_kind body = kind_of_frame(r->model, load->frame);
    if (values[k] == &load->drag_rotational && body != YOKE_BODY_RIGID && body != YOKE_BODY_PLANAR)
      return model_mistake(r, value, keys[k], "found drag on the rotation of a %s, expected a rigid or planar body",
                           yoke_body_kind_name(body));
    if (!model_not_negative(r, s, value, keys[k], quantities[k], values[k])) return false;
  }
  return n_given > 0 ||
         model_mistake(r, node, "linear", "found nothing, expected 'linear', 'quadratic' or 'rotational'");
}

/* Nodes of cables are places without axes, their slopes are no places. */
static bool check_cable(reader *r, const yoke_yaml_node *on, const yoke_yaml_node *node, int frame) {
  const yoke_model     *m      = r->model;
  const int             body   = m->frames[frame].body;
  const yoke_yaml_node *torque = yoke_yaml_find(node, "torque"), *follower = yoke_yaml_find(node, "follower");
  bool                  follows = false;
  if (m->bodies[body].is_direction)
    return model_mistake(r, on, "on",
                         "found '%s', the slope of a cable and no place, expected a node of the cable: '%s'",
                         m->bodies[body].name, m->bodies[body - 1].name);
  if (!model_is_cable_node(m, body)) return true;
  const char *slope = m->bodies[body + 1].name;
  if (torque != NULL)
    return model_mistake(
        r, torque, "torque",
        "found a torque at '%s', a node of a cable, which is a place without axes; expected a pair of "
        "forces at nodes beside each other, or a rigid body that kind: spherical holds at the node and "
        "kind: tangent at '%s'",
        m->bodies[body].name, slope);
  if (follower == NULL || !model_boolean(r, follower, "follower", &follows)) return follower == NULL;
  return !follows ||
         model_mistake(
             r, follower, "follower",
             "found true at '%s', a node of a cable, which is a place without axes; expected a force along the "
             "cable by its slope, kind: expression, force: [F*%s.x, F*%s.y, F*%s.z]",
             m->bodies[body].name, slope, slope, slope);
}

static bool read_load(reader *r, scope *s, const yoke_yaml_node *key, const yoke_yaml_node *node, bool counted) {
  const yoke_yaml_node *kind_node = yoke_yaml_find(node, "kind"), *on = yoke_yaml_find(node, "on");
  if (kind_node == NULL)
    return model_mistake(
        r, node, "kind",
        "found nothing, expected constant, expression, harmonic, impulse, modified-sine, contact or drag");
  const int kind = model_word(r, kind_node, "kind", kind_words, MODEL_COUNT(kind_words));
  if (kind < 0) return false;
  bool good  = model_check_keys(r, node, load_keys[kind].list, load_keys[kind].n);
  int  frame = 0;
  char name[NAME_SIZE];
  model_full_name(s, key->text, counted, name, sizeof name);
  if (on == NULL) return model_mistake(r, node, "on", "found nothing, expected the body or frame the load acts on");
  if (!model_frame(r, s, on, "on", &frame)) return false;
  if (r->model->frames[frame].body < 0)
    return model_mistake(r, on, "on", "found the ground, expected a body or a frame on a body");
  const yoke_foreign *owner = model_port_owner(r->model, r->model->frames[frame].body);
  if (owner != NULL)
    return model_mistake(r, on, "on",
                         "found a port of subsystem '%s', which feels its connections only; expected a "
                         "body: give the subsystem an input for the load, or a body joined to the port",
                         owner->name);
  if (!good || !check_cable(r, on, node, frame)) return false;
  if (kind != LOAD_CONTACT && kind != LOAD_DRAG) return read_vectors(r, s, node, name, (file_kind)kind, frame);
  yoke_load *load = add_load(r, name, kind == LOAD_CONTACT ? YOKE_LOAD_CONTACT : YOKE_LOAD_DRAG, frame);
  if (load == NULL) return false;
  return kind == LOAD_CONTACT ? read_contact(r, s, node, load) : read_drag(r, s, node, load);
}

void model_read_loads(reader *r, scope *s) {
  model_each(r, s, "loads", read_load);
}
