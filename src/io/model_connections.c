/* Connections of the model file: joints and force elements between two frames. */
#include "io/model_reader.h"
#include "base/memory.h"
#include "linalg/space.h"
#include "model/joint_kinds.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_KINDS = YOKE_CONNECTION_TANGENT + 1 };

typedef enum key_set {                   /* which keys a kind has beside kind, between, count */
                       HAS_AXIS     = 1, /* z axes of the frames matter */
                       HAS_MOTION   = 2, /* one joint coordinate: motion, initial, initial_rate */
                       HAS_FLEXIBLE = 4, /* stiffness, damping of the rows */
                       HAS_LENGTH   = 8,
                       HAS_LAW      = 16, /* force law */
                       HAS_ANGLE    = 32
} key_set;

static const struct {
  int keys, n_rows;
} kinds[N_KINDS] = {
    [YOKE_CONNECTION_ATPOINT]        = {HAS_FLEXIBLE, 3},
    [YOKE_CONNECTION_INPLANE]        = {HAS_AXIS | HAS_FLEXIBLE, 1},
    [YOKE_CONNECTION_PERPENDICULAR]  = {HAS_AXIS | HAS_FLEXIBLE, 1},
    [YOKE_CONNECTION_SPHERICAL]      = {HAS_FLEXIBLE, 3},
    [YOKE_CONNECTION_REVOLUTE]       = {HAS_AXIS | HAS_MOTION | HAS_FLEXIBLE, 5},
    [YOKE_CONNECTION_UNIVERSAL]      = {HAS_FLEXIBLE, 4},
    [YOKE_CONNECTION_CYLINDRICAL]    = {HAS_AXIS | HAS_MOTION | HAS_FLEXIBLE, 4},
    [YOKE_CONNECTION_TRANSLATIONAL]  = {HAS_AXIS | HAS_MOTION | HAS_FLEXIBLE, 5},
    [YOKE_CONNECTION_PLANAR]         = {HAS_AXIS | HAS_FLEXIBLE, 3},
    [YOKE_CONNECTION_INLINE]         = {HAS_AXIS | HAS_FLEXIBLE, 2},
    [YOKE_CONNECTION_ORIENTATION]    = {HAS_AXIS | HAS_FLEXIBLE, 3},
    [YOKE_CONNECTION_FIXED]          = {HAS_AXIS | HAS_FLEXIBLE, 6},
    [YOKE_CONNECTION_DISTANCE]       = {HAS_FLEXIBLE | HAS_LENGTH, 1},
    [YOKE_CONNECTION_SPRING_DAMPER]  = {HAS_LAW, 1},
    [YOKE_CONNECTION_TORSION_SPRING] = {HAS_AXIS | HAS_LAW | HAS_ANGLE, 1},
    [YOKE_CONNECTION_BUSHING]        = {HAS_AXIS | HAS_FLEXIBLE, 6},
    [YOKE_CONNECTION_TANGENT]        = {HAS_AXIS | HAS_FLEXIBLE, 2},
};

static bool check_keys_of(reader *r, const yoke_yaml_node *node, int kind) {
  static const struct {
    int         needs;
    const char *key;
  } all[] = {
      {0, "kind"},
      {0, "between"},
      {0, "count"},
      {HAS_AXIS, "axis"},
      {HAS_MOTION, "motion"},
      {HAS_MOTION, "initial"},
      {HAS_MOTION, "initial_rate"},
      {HAS_FLEXIBLE | HAS_LAW, "stiffness"},
      {HAS_FLEXIBLE | HAS_LAW, "damping"},
      {HAS_LENGTH, "length"},
      {HAS_LAW, "stiffness_power"},
      {HAS_LAW, "damping_power"},
      {HAS_LAW, "exponent_x"},
      {HAS_LAW, "exponent_v"},
      {HAS_LAW, "table"},
      {HAS_LAW, "law"},
  };
  const char *list[MODEL_COUNT(all) + 1];
  int         n = 0;
  for (int k = 0; k < MODEL_COUNT(all); ++k) {
    if (all[k].needs == 0 || (all[k].needs & kinds[kind].keys) != 0) list[n++] = all[k].key;
  }
  if ((kinds[kind].keys & HAS_LAW) != 0) list[n++] = (kinds[kind].keys & HAS_ANGLE) != 0 ? "free_angle" : "free_length";
  return model_check_keys(r, node, list, n);
}

/* ---- values ---- */

/* Rows of a flexible connection that act on its bodies: in the plane those of x, y and of the rotation. Returns how many. */
static int acting_rows(const yoke_model *m, const yoke_connection *c, int rows_out[6]) {
  const yoke_port_shape *shape[2];
  yoke_link              link = {.node = {0, 1}};
  yoke_row               rows[6];
  int                    n_rows = yoke_joint_rows(c->kind, rows), n = 0;
  for (int k = 0; c->kind == YOKE_CONNECTION_BUSHING && k < 6; ++k)
    rows[n_rows++] = (yoke_row){.kind = k < 3 ? YOKE_ROW_ALONG : YOKE_ROW_ROTATION, .k = k % 3};
  for (int side = 0; side < 2; ++side) {
    const yoke_frame *frame = &m->frames[c->frame[side]];
    shape[side]             = frame->body >= 0 ? yoke_body_shape(m->bodies[frame->body].kind) : NULL;
    memcpy(link.origin[side], frame->origin, sizeof frame->origin);
    memcpy(link.axes[side], frame->axes, sizeof frame->axes);
  }
  for (int k = 0; k < n_rows; ++k) {
    if (!yoke_row_is_idle(&rows[k], &link, shape)) rows_out[n++] = k;
  }
  return n;
}

/* Scalar for all rows, one value per row, or one per row that acts. Units: rows may be lengths or angles, so both are let through. */
static bool read_rows(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, const yoke_connection *c,
                      double out[6]) {
  const int n_rows = kinds[c->kind].n_rows;
  double    value  = 0;
  if (node == NULL) return true;
  if (node->kind == YOKE_YAML_LIST && node->n < n_rows) {
    int       acting[6];
    const int n = acting_rows(r->model, c, acting);
    double    values[6];
    if (n == n_rows || node->n != n) {
      char expected[120], fewer[60] = "";
      if (n < n_rows) model_print(fewer, sizeof fewer, ", or of %d, of the rows that act on its bodies", n);
      model_print(expected, sizeof expected, "a number, or a list of %d%s", n_rows, fewer);
      return model_expected(r, node, key, expected);
    }
    if (!model_numbers(r, s, node, key, Q_ANY, n, n, values, NULL)) return false;
    for (int k = 0; k < n; ++k) out[acting[k]] = values[k];
  } else if (node->kind == YOKE_YAML_LIST) {
    if (!model_numbers(r, s, node, key, Q_ANY, n_rows, n_rows, out, NULL)) return false;
  } else {
    if (!model_number(r, s, node, key, Q_ANY, &value)) return false;
    for (int k = 0; k < n_rows; ++k) out[k] = value;
  }
  for (int k = 0; k < n_rows; ++k) {
    if (out[k] < 0) return model_mistake(r, node, key, "found %g, expected 0 or greater", out[k]);
  }
  return true;
}

static bool read_flexible(reader *r, const scope *s, const yoke_yaml_node *map, yoke_connection *c) {
  const yoke_yaml_node *stiffness = yoke_yaml_find(map, "stiffness"), *damping = yoke_yaml_find(map, "damping");
  if (c->kind == YOKE_CONNECTION_BUSHING && stiffness == NULL && damping == NULL) {
    return model_mistake(r, map, "stiffness", "found nothing, expected six values [x, y, z, rx, ry, rz]");
  }
  if (stiffness == NULL && damping != NULL && c->kind != YOKE_CONNECTION_BUSHING) {
    return model_mistake(r, damping, "damping",
                         "found damping without stiffness, expected both for a flexible joint, none for a rigid one");
  }
  c->flexible = stiffness != NULL && c->kind != YOKE_CONNECTION_BUSHING;
  return read_rows(r, s, stiffness, "stiffness", c, c->stiffness) && read_rows(r, s, damping, "damping", c, c->damping);
}

static bool read_table(reader *r, const scope *s, const yoke_yaml_node *node, bool is_torsion, yoke_table *table) {
  if (node->kind != YOKE_YAML_LIST || node->n < 2)
    return model_expected(r, node, "table", "at least two pairs [[x, F], [x, F], ...]");
  table->x = yoke_arena_take(&r->model->arena, (size_t)node->n, sizeof *table->x);
  table->y = yoke_arena_take(&r->model->arena, (size_t)node->n, sizeof *table->y);
  if (!model_has_memory(r)) return false;
  table->n = node->n;
  for (int k = 0; k < node->n; ++k) {
    const yoke_yaml_node *pair = node->items[k];
    if (pair->kind != YOKE_YAML_LIST || pair->n != 2) return model_expected(r, pair, "table", "a pair [x, F]");
    if (!model_number(r, s, pair->items[0], "table", is_torsion ? Q_ANGLE : Q_LENGTH, &table->x[k])) return false;
    if (!model_number(r, s, pair->items[1], "table", is_torsion ? Q_TORQUE : Q_FORCE, &table->y[k])) return false;
    if (k > 0 && table->x[k] <= table->x[k - 1]) {
      return model_mistake(r, pair, "table", "found x = %g behind %g, expected increasing x", table->x[k],
                           table->x[k - 1]);
    }
  }
  return true;
}

static bool read_law(reader *r, const scope *s, const yoke_yaml_node *map, yoke_connection *c) {
  yoke_law                *law        = &c->law;
  const bool               is_torsion = c->kind == YOKE_CONNECTION_TORSION_SPRING;
  const yoke_yaml_node    *table = yoke_yaml_find(map, "table"), *formula = yoke_yaml_find(map, "law");
  const yoke_yaml_node    *ex = yoke_yaml_find(map, "exponent_x"), *ev = yoke_yaml_find(map, "exponent_v");
  static const char *const parts[] = {"stiffness",  "damping", "stiffness_power", "damping_power", "exponent_x",
                                      "exponent_v", "table"};
  law->exponent_x = law->exponent_v = 3;
  for (int k = 0; k < MODEL_COUNT(parts) && formula != NULL; ++k) {
    if (yoke_yaml_find(map, parts[k]) != NULL)
      return model_mistake(r, formula, "law", "found 'law' and '%s', expected one of them", parts[k]);
  }
  if (table != NULL && (yoke_yaml_find(map, "stiffness") != NULL || yoke_yaml_find(map, "stiffness_power") != NULL)) {
    return model_mistake(r, table, "table", "found 'table' and a stiffness, expected one of them");
  }
  bool good = model_optional(r, s, map, "stiffness", is_torsion ? Q_TORSION_STIFFNESS : Q_STIFFNESS, &law->stiffness);
  good      = model_optional(r, s, map, "damping", is_torsion ? Q_TORSION_DAMPING : Q_DAMPING, &law->damping) && good;
  good      = model_optional(r, s, map, "stiffness_power", Q_ANY, &law->stiffness_power) && good;
  good      = model_optional(r, s, map, "damping_power", Q_ANY, &law->damping_power) && good;
  const double values[] = {law->stiffness, law->damping, law->stiffness_power, law->damping_power};
  for (int k = 0; k < 4 && good; ++k) model_warn_if_negative(r, yoke_yaml_find(map, parts[k]), parts[k], values[k]);
  good = (ex == NULL || model_positive(r, s, ex, "exponent_x", Q_NUMBER, &law->exponent_x)) && good;
  good = (ev == NULL || model_positive(r, s, ev, "exponent_v", Q_NUMBER, &law->exponent_v)) && good;
  good = (table == NULL || read_table(r, s, table, is_torsion, &law->table)) && good;
  if (good && yoke_yaml_find(map, "stiffness") == NULL && yoke_yaml_find(map, "stiffness_power") == NULL &&
      table == NULL && formula == NULL && yoke_yaml_find(map, "damping") == NULL &&
      yoke_yaml_find(map, "damping_power") == NULL) {
    return model_mistake(r, map, "stiffness", "found nothing, expected stiffness, damping, table or law");
  }
  return good;
}

/* Only masses on a line (and the ground, at least one mass): x are displacements from the unstressed position. */
static bool is_on_a_line(const yoke_model *m, const int frame[2]) {
  int n_masses = 0;
  for (int k = 0; k < 2; ++k) {
    const int body = m->frames[frame[k]].body;
    if (body < 0) continue;
    if (m->bodies[body].kind != YOKE_BODY_MASS1D && m->bodies[body].kind != YOKE_BODY_CHAIN) return false;
    ++n_masses;
  }
  return n_masses > 0;
}

static bool read_length(reader *r, const scope *s, const yoke_yaml_node *map, yoke_connection *c) {
  const bool            is_torsion = c->kind == YOKE_CONNECTION_TORSION_SPRING;
  const bool            is_spring  = c->kind == YOKE_CONNECTION_SPRING_DAMPER;
  const char           *key        = is_torsion ? "free_angle" : is_spring ? "free_length" : "length";
  const yoke_yaml_node *node       = yoke_yaml_find(map, key);
  if (!is_torsion && !is_spring && c->kind != YOKE_CONNECTION_DISTANCE) return true;
  if (node == NULL) {
    c->has_length = is_torsion || (is_spring && is_on_a_line(r->model, c->frame)); /* then 0; else as drawn */
    return true;
  }
  c->has_length = true;
  if (c->kind == YOKE_CONNECTION_DISTANCE) return model_positive(r, s, node, key, Q_LENGTH, &c->length);
  return model_number(r, s, node, key, is_torsion ? Q_ANGLE : Q_LENGTH, &c->length);
}

static bool read_motion(reader *r, const scope *s, const yoke_yaml_node *map, yoke_connection *c) {
  const quantity        q      = c->kind == YOKE_CONNECTION_TRANSLATIONAL ? Q_LENGTH : Q_ANGLE;
  const quantity        rate   = c->kind == YOKE_CONNECTION_TRANSLATIONAL ? Q_VELOCITY : Q_ANGULAR_VELOCITY;
  const yoke_yaml_node *motion = yoke_yaml_find(map, "motion"), *initial = yoke_yaml_find(map, "initial"),
                       *initial_rate = yoke_yaml_find(map, "initial_rate");
  bool good                          = true;
  c->has_initial                     = initial != NULL;
  c->has_initial_rate                = initial_rate != NULL;
  if (motion != NULL) good = model_expression(r, s, motion, "motion", VARIABLES_TIME, q, &c->motion);
  if (motion != NULL && (initial != NULL || initial_rate != NULL)) {
    return model_mistake(r, motion, "motion",
                         "found 'motion' and a start value, expected one of them: the motion gives the start");
  }
  if (initial != NULL) good = model_number(r, s, initial, "initial", q, &c->initial) && good;
  if (initial_rate != NULL) good = model_number(r, s, initial_rate, "initial_rate", rate, &c->initial_rate) && good;
  return good;
}

/* ---- ends ---- */

/* `axis: [x, y, z]` in the inertial frame at the start: both ends get private frames whose axes agree there, z along the axis. */
static bool apply_axis(reader *r, const scope *s, const yoke_yaml_node *node, yoke_connection *c) {
  double axis[3], T[9];
  if (!model_numbers(r, s, node, "axis", Q_ANY, 3, 3, axis, NULL)) return false;
  if (!(fabs(axis[0]) + fabs(axis[1]) + fabs(axis[2]) > 0))
    return model_mistake(r, node, "axis", "found a direction of length 0");
  model_axes_of_z(axis, T);
  for (int side = 0; side < 2; ++side) {
    yoke_frame frame = r->model->frames[c->frame[side]];
    double     R[9];
    char       name[NAME_SIZE + 8];
    model_body_rotation(r->model, frame.body, R);
    for (int i = 0; i < 3; ++i) { /* axes in the body: R^T T */
      for (int j = 0; j < 3; ++j) frame.axes[3 * i + j] = R[i] * T[j] + R[3 + i] * T[3 + j] + R[6 + i] * T[6 + j];
    }
    model_print(name, sizeof name, "%s/%d", c->name, side + 1);
    c->frame[side] = model_add_frame(r, node, name, &frame);
    if (c->frame[side] < 0) return false;
  }
  return true;
}

static bool has_own_axes(const yoke_frame *frame) {
  static const double unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  return memcmp(frame->axes, unit, sizeof unit) != 0;
}

/* Axes of a frame at the start, in the inertial frame. */
static void axes_of(const yoke_model *m, const yoke_frame *frame, double T[9]) {
  double R[9];
  model_body_rotation(m, frame->body, R);
  mat3_multiply(T, R, frame->axes);
}

/* Nodes of rods have axes that nobody wrote, z along the rod. What holds one whose frame has no axes of its own by all its rotations holds it as
 * drawn: frame 2 gets the axes of frame 1. `assemble: true` turns bodies instead. */
static bool hold_as_drawn(reader *r, const yoke_yaml_node *node, yoke_connection *c) {
  static const double same = 1e-6; /* of axes, what is drawn so agrees */
  const yoke_model   *m    = r->model;
  if (c->kind != YOKE_CONNECTION_FIXED && c->kind != YOKE_CONNECTION_ORIENTATION && c->kind != YOKE_CONNECTION_BUSHING)
    return true;
  bool is_drawn = false;
  for (int side = 0; side < 2; ++side) {
    const yoke_frame *frame = &m->frames[c->frame[side]];
    if (model_port_owner(m, frame->body) != NULL) return true;
    is_drawn = is_drawn || (frame->body >= 0 && yoke_model_rod_of(m, frame->body) != NULL && !has_own_axes(frame));
  }
  if (!is_drawn || m->assemble) return true;
  yoke_frame frame = m->frames[c->frame[1]];
  double     T[2][9], R[9], difference = 0;
  for (int side = 0; side < 2; ++side) axes_of(m, &m->frames[c->frame[side]], T[side]);
  for (int i = 0; i < 9; ++i) difference = fmax(difference, fabs(T[0][i] - T[1][i]));
  if (difference <= same) return true;
  model_body_rotation(m, frame.body, R);
  for (int i = 0; i < 3; ++i) { /* axes in the body: R^T T */
    for (int j = 0; j < 3; ++j)
      frame.axes[3 * i + j] = R[i] * T[0][j] + R[3 + i] * T[0][3 + j] + R[6 + i] * T[0][6 + j];
  }
  char name[NAME_SIZE + 8];
  model_print(name, sizeof name, "%s/2", c->name);
  c->frame[1] = model_add_frame(r, node, name, &frame);
  return c->frame[1] >= 0;
}

/* A port of a subsystem of its own is joined to bodies: what holds it to the ground or to itself belongs into its code. */
static bool check_ports(reader *r, const yoke_yaml_node *between, const yoke_connection *c) {
  const int           body[2]  = {r->model->frames[c->frame[0]].body, r->model->frames[c->frame[1]].body};
  const yoke_foreign *owner[2] = {model_port_owner(r->model, body[0]), model_port_owner(r->model, body[1])};
  const yoke_foreign *own      = owner[0] != NULL ? owner[0] : owner[1];
  if (own == NULL || (body[0] >= 0 && body[1] >= 0 && owner[0] != owner[1])) return true;
  return model_mistake(r, between, "between",
                       "found a port of subsystem '%s' and %s, expected a body of the model, or a port of another "
                       "subsystem, at the other end",
                       own->name, body[0] < 0 || body[1] < 0 ? "the ground" : "another of its ports");
}

static bool read_ends(reader *r, const scope *s, const yoke_yaml_node *map, yoke_connection *c) {
  const yoke_yaml_node *between = yoke_yaml_find(map, "between");
  if (between == NULL || between->kind != YOKE_YAML_LIST || between->n != 2) {
    return model_expected(r, between == NULL ? map : between, "between", "the two ends [frame, frame]");
  }
  bool good = model_frame(r, s, between->items[0], "between", &c->frame[0]);
  good      = model_frame(r, s, between->items[1], "between", &c->frame[1]) && good;
  if (!good) return false;
  const yoke_frame *a = &r->model->frames[c->frame[0]], *b = &r->model->frames[c->frame[1]];
  if (a->body == b->body && a->mass == b->mass) {
    return model_mistake(r, between, "between", "found both ends on '%s', expected two different bodies",
                         a->body < 0 ? "ground" : r->model->bodies[a->body].name);
  }
  return check_ports(r, between, c);
}

/* Directions are joined to axes, or held as they are: at a point of the ground, which is then a vector. Nothing else is joined to them. */
static bool check_directions(reader *r, const yoke_yaml_node *node, const yoke_connection *c) {
  const yoke_model *m = r->model;
  bool              is_direction[2];
  for (int side = 0; side < 2; ++side) {
    const int body     = m->frames[c->frame[side]].body;
    is_direction[side] = body >= 0 && m->bodies[body].is_direction;
  }
  const bool is_tangent = c->kind == YOKE_CONNECTION_TANGENT;
  const bool is_held    = c->kind == YOKE_CONNECTION_SPHERICAL || c->kind == YOKE_CONNECTION_ATPOINT;
  for (int side = 0; is_held && side < 2; ++side) {
    if (is_direction[side] && m->frames[c->frame[1 - side]].body == YOKE_GROUND) return true;
  }
  if (is_tangent ? is_direction[0] && !is_direction[1] : !is_direction[0] && !is_direction[1]) return true;
  if (is_tangent)
    return model_mistake(r, node, "between",
                         "found '%s' and '%s', expected the slope of a cable, then a frame along whose z axis it lies: "
                         "between: [rope.slope[1], ground], axis: [1, 0, 0]",
                         m->frames[c->frame[0]].name, m->frames[c->frame[1]].name);
  return model_mistake(r, node, "between",
                       "found a %s at '%s', which is the slope of a cable and no place, expected a node of the cable, "
                       "kind: tangent, or kind: spherical between it and a vector of the ground",
                       yoke_connection_kind_name(c->kind), m->frames[c->frame[is_direction[0] ? 0 : 1]].name);
}

/* ---- nodes of cables, which are places without axes ---- */

/* Which of its frames a connection reads axes of, and what does its work at a node of a cable; `at_slope`: at the slope beside the node. */
typedef struct reading_axes {
  bool        of[2], at_slope;
  const char *instead;
} reading_axes;

#define HOLD "kind: spherical there and, where the direction of the cable is held, kind: tangent"
#define SWAP "it as the first end and, as the second, a frame with axes"

static const reading_axes axes_read[N_KINDS] = {
    [YOKE_CONNECTION_INPLANE]        = {{false, true}, false, SWAP},
    [YOKE_CONNECTION_INLINE]         = {{false, true}, false, SWAP},
    [YOKE_CONNECTION_TANGENT]        = {{false, true}, false, "the ground or a body that turns as the second end"},
    [YOKE_CONNECTION_PERPENDICULAR]  = {{true, true}, true, "kind: tangent"},
    [YOKE_CONNECTION_ORIENTATION]    = {{true, true}, true, "kind: tangent"},
    [YOKE_CONNECTION_REVOLUTE]       = {{true, true}, true, HOLD},
    [YOKE_CONNECTION_UNIVERSAL]      = {{true, true}, true, HOLD},
    [YOKE_CONNECTION_FIXED]          = {{true, true}, true, HOLD},
    [YOKE_CONNECTION_CYLINDRICAL]    = {{true, true}, false, "kind: inline with the node as its first end"},
    [YOKE_CONNECTION_TRANSLATIONAL]  = {{true, true}, false, "kind: inline with the node as its first end"},
    [YOKE_CONNECTION_PLANAR]         = {{true, true}, false, "kind: inplane with the node as its first end"},
    [YOKE_CONNECTION_BUSHING]        = {{true, false},
                                        false,
                                        "it as the second end and, as the first, a frame with axes; two nodes take kind: "
                                               "spherical with stiffness"},
    [YOKE_CONNECTION_TORSION_SPRING] = {{true, true}, false, "a node of a cosserat-rod, which has torsion"},
};

#undef HOLD
#undef SWAP

static bool check_axes(reader *r, const yoke_yaml_node *between, const yoke_connection *c) {
  const reading_axes *reads = &axes_read[c->kind];
  const yoke_model   *m     = r->model;
  for (int side = 0; side < 2; ++side) {
    const yoke_frame *frame = &m->frames[c->frame[side]];
    if (!reads->of[side] || !model_is_cable_node(m, frame->body)) continue;
    const char *slope = reads->at_slope ? m->bodies[frame->body + 1].name : "";
    return model_mistake(r, between, "between",
                         "found kind: %s at '%s', a node of a cable, which is a place without axes; expected %s%s%s%s",
                         yoke_connection_kind_name(c->kind), frame->name, reads->instead,
                         reads->at_slope ? " at '" : "", slope, reads->at_slope ? "'" : "");
  }
  return true;
}

/* A particle or a point of a linear body has no axes either: what holds a body that turns by theirs would take its moment from nowhere. */
static bool is_point_at(const yoke_model *m, int body, int other) {
  if (body < 0 || m->bodies[body].kind != YOKE_BODY_PARTICLE || m->bodies[body].is_direction) return false;
  return other >= 0 && (m->bodies[other].kind == YOKE_BODY_RIGID || m->bodies[other].kind == YOKE_BODY_PLANAR ||
                        m->bodies[other].is_direction);
}

static const char *word_of_point(const yoke_model *m, int body) {
  return model_is_cable_node(m, body)   ? "a node of a cable"
         : m->bodies[body].flexible > 0 ? "a point of a linear body"
                                        : "a particle";
}

static bool check_moments(reader *r, const yoke_yaml_node *between, const yoke_connection *c) {
  const reading_axes *reads = &axes_read[c->kind];
  const yoke_model   *m     = r->model;
  for (int side = 0; side < 2; ++side) {
    const int body = m->frames[c->frame[side]].body, other = m->frames[c->frame[1 - side]].body;
    if (!reads->of[side] || !is_point_at(m, body, other)) continue;
    const char *instead = !reads->of[1 - side] ? reads->instead
                          : m->bodies[body].flexible > 0
                              ? "kind: spherical, or a frame of the linear body with rx, ry and rz"
                              : "kind: spherical, or kind: rigid with an inertia";
    return model_mistake(r, between, "between",
                         "found kind: %s at '%s', %s, which is a place without axes; expected %s",
                         yoke_connection_kind_name(c->kind), m->bodies[body].name, word_of_point(m, body), instead);
  }
  return true;
}

/* A bushing pulls at such a point, along axes of its first frame, and turns nothing there. */
static bool check_bushing(reader *r, const yoke_yaml_node *node, const yoke_connection *c) {
  const yoke_model *m    = r->model;
  const int         body = m->frames[c->frame[1]].body;
  if (c->kind != YOKE_CONNECTION_BUSHING) return true;
  if (!model_is_cable_node(m, body) && !is_point_at(m, body, m->frames[c->frame[0]].body)) return true;
  for (int k = 0; k < 2; ++k) {
    const double *x   = k == 0 ? c->stiffness : c->damping;
    const char   *key = k == 0 ? "stiffness" : "damping";
    if (x[3] == 0.0 && x[4] == 0.0 && x[5] == 0.0) continue;
    return model_mistake(
        r, yoke_yaml_find(node, key), key,
        "found [%g, %g, %g, %g, %g, %g] at '%s', %s, which has no axes that turn; expected %s: [%g, %g, "
        "%g, 0, 0, 0]",
        x[0], x[1], x[2], x[3], x[4], x[5], m->bodies[body].name, word_of_point(m, body), key, x[0], x[1], x[2]);
  }
  return true;
}

/* Joints need freedoms that masses on a line do not have. */
static bool check_bodies(reader *r, const yoke_yaml_node *node, const yoke_connection *c) {
  if (c->kind == YOKE_CONNECTION_SPRING_DAMPER || c->kind == YOKE_CONNECTION_DISTANCE) return true;
  for (int k = 0; k < 2; ++k) {
    const int body = r->model->frames[c->frame[k]].body;
    if (body >= 0 && r->model->bodies[body].kind == YOKE_BODY_CHAIN) {
      return model_mistake(r, node, "between", "found a %s at a mass of chain '%s', expected spring-damper",
                           yoke_connection_kind_name(c->kind), r->model->bodies[body].name);
    }
  }
  return true;
}

/* A slider whose axis leaves the plane of its bodies is locked. */
static bool check_axis(reader *r, const yoke_yaml_node *node, const yoke_connection *c) {
  static const double tolerance = 5e-6;
  if (c->kind != YOKE_CONNECTION_TRANSLATIONAL || c->flexible) return true;
  for (int side = 0; side < 2; ++side) {
    const yoke_frame *frame = &r->model->frames[c->frame[side]];
    if (frame->body < 0 || r->model->bodies[frame->body].kind != YOKE_BODY_PLANAR) continue;
    if (fabs(frame->axes[8]) <= tolerance) continue;
    return model_mistake(
        r, node, "axis",
        "found a translational joint of the planar body '%s' along an axis out of its plane (the z axis "
        "of frame '%s'), which locks it; expected a direction in the plane: axis: [1, 0, 0]",
        r->model->bodies[frame->body].name, frame->name);
  }
  return true;
}

static bool read_values(reader *r, const scope *s, const yoke_yaml_node *node, yoke_connection *c) {
  const int keys = kinds[c->kind].keys;
  bool      good = check_keys_of(r, node, (int)c->kind);
  if (!read_ends(r, s, node, c)) return false;
  const yoke_yaml_node *axis = yoke_yaml_find(node, "axis"), *between = yoke_yaml_find(node, "between");
  good = check_bodies(r, node, c) && check_directions(r, node, c) && check_axes(r, between, c) &&
         check_moments(r, between, c) && good;
  if ((keys & HAS_LAW) != 0) good = read_law(r, s, node, c) && good;
  if ((keys & HAS_MOTION) != 0) good = read_motion(r, s, node, c) && good;
  good = read_length(r, s, node, c) && good;
  if (good && axis != NULL && (keys & HAS_AXIS) != 0) good = apply_axis(r, s, axis, c);
  if (good && axis == NULL) good = hold_as_drawn(r, node, c);
  if ((keys & HAS_FLEXIBLE) != 0) good = read_flexible(r, s, node, c) && check_bushing(r, node, c) && good;
  return good && check_axis(r, axis != NULL ? axis : node, c);
}

static bool read_connection(reader *r, scope *s, const yoke_yaml_node *key, const yoke_yaml_node *node, bool counted) {
  const char *names[N_KINDS];
  for (int k = 0; k < N_KINDS; ++k) names[k] = yoke_connection_kind_name((yoke_connection_kind)k);
  const yoke_yaml_node *kind_node = yoke_yaml_find(node, "kind");
  if (kind_node == NULL)
    return model_mistake(r, node, "kind", "found nothing, expected a kind: revolute, spherical, spring-damper, ...");
  const int kind = model_word(r, kind_node, "kind", names, N_KINDS);
  if (kind < 0) return false;
  yoke_model *m = r->model;
  char        name[NAME_SIZE];
  model_full_name(s, key->text, counted, name, sizeof name);
  if (!model_grow(r, &m->connections, m->n_connections, &r->capacity_connections, sizeof *m->connections)) return false;
  if (yoke_names_find(&r->body_names, name) != YOKE_NAMES_NONE ||
      yoke_names_find(&r->foreign_names, name) != YOKE_NAMES_NONE) {
    return model_mistake(r, key, NULL, "found the name '%s' of a %s, expected another name: both have outputs", name,
                         yoke_names_find(&r->body_names, name) != YOKE_NAMES_NONE ? "body" : "subsystem");
  }
  yoke_connection *c = &m->connections[m->n_connections];
  *c                 = (yoke_connection){.kind = (yoke_connection_kind)kind, .name = yoke_arena_text(&m->arena, name)};
  if (!model_has_memory(r)) return false;
  ++m->n_connections;
  switch (yoke_names_add(&r->connection_names, c->name, m->n_connections - 1)) {
  case YOKE_NAMES_ADDED: break;
  case YOKE_NAMES_EXISTS:
    return model_mistake(r, key, NULL, "found a second connection '%s', expected different names", name);
  default: return model_out_of_memory(r);
  }
  return read_values(r, s, node, c);
}

/* `law:` once all connections have names: of x, v and t alone it is a law that couplings know, too. */
static bool read_formula(reader *r, scope *s, const yoke_yaml_node *key, const yoke_yaml_node *node, bool counted) {
  const yoke_yaml_node *formula = yoke_yaml_find(node, "law");
  char                  name[NAME_SIZE];
  if (formula == NULL) return true;
  model_full_name(s, key->text, counted, name, sizeof name);
  r->law_of = yoke_names_find(&r->connection_names, name);
  if (r->law_of < 0) return true; /* told already */
  yoke_connection *c = &r->model->connections[r->law_of];
  const quantity   q = c->kind == YOKE_CONNECTION_TORSION_SPRING ? Q_TORQUE : Q_FORCE;
  if ((kinds[c->kind].keys & HAS_LAW) == 0) return true;
  if (formula->kind == YOKE_YAML_SCALAR && model_reads_quantities(r, s, formula->text))
    return model_expression(r, s, formula, "law", VARIABLES_FORMULA, q, &c->formula);
  return model_expression(r, s, formula, "law", VARIABLES_LAW, q, &c->law.expression);
}

void model_read_laws(reader *r, scope *s) {
  model_each(r, s, "connections", read_formula);
}

void model_read_connections(reader *r, scope *s) {
  model_each(r, s, "connections", read_connection);
}
