/* Bodies of the model file, with the frames written below them. */
#include "io/model_reader.h"
#include "base/memory.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rotations ---- */

void model_rotation_of_quaternion(const double p[4], double R[9]) {
  const double w = p[0], x = p[1], y = p[2], z = p[3];
  R[0] = 1 - 2 * (y * y + z * z);
  R[1] = 2 * (x * y - w * z);
  R[2] = 2 * (x * z + w * y);
  R[3] = 2 * (x * y + w * z);
  R[4] = 1 - 2 * (x * x + z * z);
  R[5] = 2 * (y * z - w * x);
  R[6] = 2 * (x * z - w * y);
  R[7] = 2 * (y * z + w * x);
  R[8] = 1 - 2 * (x * x + y * y);
}

static void cross(const double a[3], const double b[3], double c[3]) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}

static bool normalise(double *a, int n) {
  double norm = 0, largest = 0;
  for (int k = 0; k < n; ++k) largest = fmax(largest, fabs(a[k]));
  if (!(largest > 0) || !isfinite(largest)) return false;
  for (int k = 0; k < n; ++k) norm += (a[k] / largest) * (a[k] / largest);
  norm = sqrt(norm) * largest;
  for (int k = 0; k < n; ++k) a[k] /= norm;
  return true;
}

/* z as given; x is the coordinate axis least along z, made perpendicular to it, so that z = e_z gives the identity. */
void model_axes_of_z(const double z[3], double R[9]) {
  double e[3] = {z[0], z[1], z[2]}, x[3] = {0, 0, 0}, y[3];
  normalise(e, 3);
  x[fabs(e[0]) <= fabs(e[1]) + 1e-12 && fabs(e[0]) <= fabs(e[2]) + 1e-12 ? 0 : fabs(e[1]) <= fabs(e[2]) ? 1 : 2] = 1;
  cross(e, x, y);
  normalise(y, 3);
  cross(y, e, x);
  for (int k = 0; k < 3; ++k) {
    R[3 * k]     = x[k];
    R[3 * k + 1] = y[k];
    R[3 * k + 2] = e[k];
  }
}

void model_body_rotation(const yoke_model *model, int body, double R[9]) {
  static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  memcpy(R, identity, sizeof identity);
  if (body < 0) return;
  const yoke_body *b = &model->bodies[body];
  if (b->kind == YOKE_BODY_RIGID) model_rotation_of_quaternion(b->orientation, R);
  if (b->kind != YOKE_BODY_PLANAR) return;
  R[0] = R[4] = cos(b->angle);
  R[3]        = sin(b->angle);
  R[1]        = -R[3];
}

static void quaternion_of_axis(const double axis[3], double angle, double p[4]) {
  p[0] = cos(angle / 2);
  for (int k = 0; k < 3; ++k) p[k + 1] = sin(angle / 2) * axis[k];
}

static void quaternion_product(const double a[4], const double b[4], double c[4]) {
  c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
  c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
  c[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
  c[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

/* {euler: [a, b, c]}: turns about z, the new x, the new z. */
static void quaternion_of_euler(const double euler[3], double p[4]) {
  static const double x[3] = {1, 0, 0}, z[3] = {0, 0, 1};
  double              first[4], second[4], third[4], product[4];
  quaternion_of_axis(z, euler[0], first);
  quaternion_of_axis(x, euler[1], second);
  quaternion_of_axis(z, euler[2], third);
  quaternion_product(first, second, product);
  quaternion_product(product, third, p);
}

static bool quaternion_of_list(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, double p[4]) {
  double value[4];
  int    n;
  if (!model_numbers(r, s, node, key, node->n == 3 ? Q_ANGLE : Q_NUMBER, 3, 4, value, &n)) return false;
  if (n == 4) {
    memcpy(p, value, sizeof value);
    const double norm = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
    if (!normalise(p, 4))
      return model_mistake(r, node, key, "found four zeros, expected Euler parameters [q0, q1, q2, q3]");
    if (fabs(norm - 1) > 1e-3)
      return model_mistake(r, node, key, "found Euler parameters of length %g, expected 1", norm);
    return true;
  }
  const double angle = sqrt(value[0] * value[0] + value[1] * value[1] + value[2] * value[2]);
  if (!normalise(value, 3)) return true; /* no rotation */
  quaternion_of_axis(value, angle, p);
  return true;
}

bool model_orientation(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, double p[4]) {
  static const char *const keys[] = {"axis", "angle", "euler"};
  static const char *const expected =
      "[q0, q1, q2, q3], a rotation vector [x, y, z], {axis: [x, y, z], angle: a} or {euler: [a, b, c]}";
  p[0] = 1;
  p[1] = p[2] = p[3] = 0;
  if (node != NULL && node->kind == YOKE_YAML_LIST) return quaternion_of_list(r, s, node, key, p);
  if (node == NULL || node->kind != YOKE_YAML_MAP) return model_expected(r, node, key, expected);
  const yoke_yaml_node *axis = yoke_yaml_find(node, "axis"), *angle = yoke_yaml_find(node, "angle"),
                       *euler = yoke_yaml_find(node, "euler");
  if (!model_check_keys(r, node, keys, MODEL_COUNT(keys))) return false;
  double a[3], turn;
  if (euler != NULL && axis == NULL && angle == NULL) {
    if (!model_numbers(r, s, euler, key, Q_ANGLE, 3, 3, a, NULL)) return false;
    quaternion_of_euler(a, p);
    return true;
  }
  if (axis == NULL || angle == NULL || euler != NULL) return model_expected(r, node, key, expected);
  if (!model_numbers(r, s, axis, key, Q_ANY, 3, 3, a, NULL) || !model_number(r, s, angle, key, Q_ANGLE, &turn))
    return false;
  if (!normalise(a, 3)) return model_mistake(r, axis, key, "found an axis of length 0, expected a direction");
  quaternion_of_axis(a, turn, p);
  return true;
}

/* ---- frames ---- */

/* [x, y, z]; the plane's bodies and the ground need no z. */
static bool read_place(reader *r, const scope *s, const yoke_yaml_node *node, const char *key, int body,
                       double origin[3]) {
  int n = 0;
  if (!model_numbers(r, s, node, key, Q_LENGTH, 2, 3, origin, &n)) return false;
  if (n == 2 && body >= 0 && r->model->bodies[body].kind != YOKE_BODY_PLANAR) {
    model_warning(r, node, key, "found two coordinates on a body in space, z is taken as 0; write [%g, %g, 0]",
                  origin[0], origin[1]);
  }
  return true;
}

/* Nodes and slopes of cables carry no points beside them and no axes: another name is all that a frame gives them. */
static bool check_frame(reader *r, const yoke_yaml_node *node, const yoke_frame *frame, bool has_axes) {
  const yoke_model *m        = r->model;
  const bool        is_slope = frame->body >= 0 && m->bodies[frame->body].is_direction;
  if (!is_slope && !model_is_cable_node(m, frame->body)) return true;
  const double *at   = frame->origin;
  const char   *name = m->bodies[frame->body].name;
  if (!has_axes && at[0] == 0.0 && at[1] == 0.0 && at[2] == 0.0) return true;
  if (is_slope)
    return model_mistake(r, node, NULL, "found a frame of '%s', the slope of a cable and no place, expected none",
                         name);
  return model_mistake(
      r, node, NULL,
      "found %s at '%s', a node of a cable, which is a place without axes; expected a frame at [0, 0, 0], "
      "or on a rigid body that kind: spherical holds at the node and kind: tangent at '%s'",
      has_axes ? "axes" : "a point beside it", name, m->bodies[frame->body + 1].name);
}

/* `tip: [x, y, z]` or `tip: {at: [...], orientation: ..., axis: [...]}` on a body. */
static bool read_frame(reader *r, const scope *s, int body, const char *owner, const yoke_yaml_node *key,
                       const yoke_yaml_node *node) {
  static const char *const keys[] = {"at", "orientation", "axis"};
  yoke_frame               frame  = {.body = body, .axes = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  char                     name[2 * NAME_SIZE];
  if (!model_is_name(key->text)) return model_check_name(r, key, false);
  model_print(name, sizeof name, "%s.%s", owner, key->text);
  if (node->kind == YOKE_YAML_LIST) {
    if (!read_place(r, s, node, key->text, body, frame.origin) || !check_frame(r, key, &frame, false)) return false;
    return model_add_frame(r, key, name, &frame) >= 0;
  }
  if (node->kind != YOKE_YAML_MAP)
    return model_expected(r, node, key->text, "a point [x, y, z] or {at: [x, y, z], orientation: ..., axis: ...}");
  if (!model_check_keys(r, node, keys, MODEL_COUNT(keys))) return false;
  const yoke_yaml_node *at = yoke_yaml_find(node, "at"), *orientation = yoke_yaml_find(node, "orientation"),
                       *axis = yoke_yaml_find(node, "axis");
  if (at != NULL && !read_place(r, s, at, "at", body, frame.origin)) return false;
  if (orientation != NULL && axis != NULL)
    return model_mistake(r, axis, "axis", "found 'orientation' and 'axis', expected one of them");
  if (orientation != NULL) {
    double p[4];
    if (!model_orientation(r, s, orientation, "orientation", p)) return false;
    model_rotation_of_quaternion(p, frame.axes);
  }
  if (axis != NULL) {
    double z[3];
    if (!model_numbers(r, s, axis, "axis", Q_ANY, 3, 3, z, NULL)) return false;
    if (!normalise(z, 3))
      return model_mistake(r, axis, "axis",
                           "found a direction of length 0, expected the direction of the frame's z axis");
    model_axes_of_z(z, frame.axes);
  }
  if (!check_frame(r, key, &frame, orientation != NULL || axis != NULL)) return false;
  return model_add_frame(r, key, name, &frame) >= 0;
}

static bool read_frames_of(reader *r, const scope *s, int body, const char *owner, const yoke_yaml_node *node) {
  const yoke_yaml_node *map;
  bool                  good = model_map(r, node, "frames", &map);
  for (int k = 0; good && map != NULL && k < map->n; ++k)
    good = read_frame(r, s, body, owner, map->keys[k], map->items[k]) && good;
  return good;
}

/* Section `frames:` of the model or an assembly: {ground: {pivot: ...}, rod: {mid: ...}} or {ground.pivot: ...}. */
void model_read_frames(reader *r, scope *s) {
  const yoke_yaml_node *map;
  char                  path[NAME_SIZE];
  model_print(path, sizeof path, "%sframes", s->prefix);
  model_enter(r, path, NULL);
  if (!model_map(r, yoke_yaml_find(s->node, "frames"), NULL, &map) || map == NULL) return;
  for (int k = 0; k < map->n; ++k) {
    const yoke_yaml_node *key = map->keys[k];
    char                  owner[NAME_SIZE], *dot = NULL;
    if (!model_fold_name(r, s, key, NULL, key->text, owner, sizeof owner)) continue;
    const bool is_ground = strcmp(owner, "ground") == 0 || strncmp(owner, "ground.", 7) == 0;
    int        body      = model_find(s, &r->body_names, owner);
    if (body < 0 && (is_ground ? owner[6] == '.' : strrchr(owner, '.') != NULL)) {
      dot  = strrchr(owner, '.');
      *dot = '\0';
      body = model_find(s, &r->body_names, owner);
    }
    if (is_ground && strcmp(owner, "ground") != 0) body = YOKE_NAMES_NONE;
    if (body < 0 && !is_ground && model_is_refused(r, s, owner)) continue;
    if (body < 0 && !is_ground) {
      const char *nearest = yoke_names_nearest(&r->body_names, owner);
      model_mistake(r, key, NULL, "found frames of '%s', expected 'ground' or the name of a body%s%s%s", owner,
                    nearest == NULL ? "" : "; did you mean '", nearest == NULL ? "" : nearest,
                    nearest == NULL ? "" : "'?");
      continue;
    }
    char full[2 * NAME_SIZE];
    bool good = true;
    model_print(full, sizeof full, "%s", is_ground ? "ground" : r->model->bodies[body].name);
    if (!is_ground && model_port_owner(r->model, body) != NULL) {
      model_mistake(r, key, NULL, "found frames of '%s', a port of subsystem '%s', expected a port of its own there",
                    full, model_port_owner(r->model, body)->name);
    } else if (!is_ground && r->model->bodies[body].kind == YOKE_BODY_CHAIN) {
      model_mistake(r, key, NULL, "found frames of the chain '%s', whose masses are frames themselves: %s[i]", full,
                    full);
    } else if (dot == NULL) {
      good = read_frames_of(r, s, is_ground ? YOKE_GROUND : body, full, map->items[k]);
    } else {
      yoke_yaml_node name = *key;
      name.text           = dot + 1;
      good                = read_frame(r, s, is_ground ? YOKE_GROUND : body, full, &name, map->items[k]);
    }
    if (!good) model_refuse(r, full);
  }
}

/* ---- bodies ---- */

#define COMMON "kind", "count", "mass"
static const char *const rigid_keys[]    = {COMMON,     "inertia", "position", "orientation",
                                            "velocity", "omega",   "keep",     "frames"};
static const char *const planar_keys[]   = {COMMON,     "inertia", "position", "angle",
                                            "velocity", "omega",   "keep",     "frames"};
static const char *const particle_keys[] = {COMMON, "position", "velocity", "keep", "frames"};
static const char *const mass1d_keys[]   = {COMMON, "x", "v", "position", "velocity", "keep"};
static const char *const chain_keys[]    = {COMMON,          "n",          "stiffness",  "damping", "stiffness_power",
                                            "damping_power", "exponent_x", "exponent_v", "x",       "v",
                                            "free",          "loads"};

static const struct {
  const char *const *list;
  int                n;
} body_keys[] = {
    [YOKE_BODY_RIGID]    = {rigid_keys, MODEL_COUNT(rigid_keys)},
    [YOKE_BODY_PLANAR]   = {planar_keys, MODEL_COUNT(planar_keys)},
    [YOKE_BODY_PARTICLE] = {particle_keys, MODEL_COUNT(particle_keys)},
    [YOKE_BODY_MASS1D]   = {mass1d_keys, MODEL_COUNT(mass1d_keys)},
    [YOKE_BODY_CHAIN]    = {chain_keys, MODEL_COUNT(chain_keys)},
};

/* All leading minors of a symmetric 3 x 3 matrix > limit. */
static bool is_definite(const double I[9], double limit) {
  const double minor2 = I[0] * I[4] - I[1] * I[1];
  const double minor3 =
      I[0] * (I[4] * I[8] - I[5] * I[5]) - I[1] * (I[1] * I[8] - I[5] * I[2]) + I[2] * (I[1] * I[5] - I[4] * I[2]);
  return I[0] > limit && minor2 > limit && minor3 > limit;
}

/* A real body has I1 + I2 >= I3: the matrix tr(I)/2 E - I has no negative eigenvalue. */
static bool is_of_a_body(const double I[9]) {
  const double half = (I[0] + I[4] + I[8]) / 2, slack = 1e-9 * half;
  double       P[9];
  for (int k = 0; k < 9; ++k) P[k] = (k % 4 == 0 ? half + slack - I[k] : -I[k]) / half;
  return is_definite(P, 0);
}

static bool inertia_entries(reader *r, const scope *s, const yoke_yaml_node *node, double I[9]) {
  static const char *const expected = "[Ixx, Iyy, Izz], [Ixx, Iyy, Izz, Ixy, Ixz, Iyz] or three rows of three";
  double                   value[6];
  int                      n;
  if (node == NULL || node->kind != YOKE_YAML_LIST || (node->n != 3 && node->n != 6))
    return model_expected(r, node, "inertia", expected);
  if (node->n == 3 && node->items[0]->kind == YOKE_YAML_LIST) {
    for (int k = 0; k < 3; ++k) {
      if (!model_numbers(r, s, node->items[k], "inertia", Q_INERTIA, 3, 3, I + 3 * k, NULL)) return false;
    }
    const double size = fabs(I[0]) + fabs(I[4]) + fabs(I[8]);
    if (fabs(I[1] - I[3]) + fabs(I[2] - I[6]) + fabs(I[5] - I[7]) > 1e-9 * size) {
      return model_mistake(r, node, "inertia", "found a matrix that is not symmetric, expected a symmetric one");
    }
    return true;
  }
  if (!model_numbers(r, s, node, "inertia", Q_INERTIA, 3, 6, value, &n)) return false;
  const double matrix[9] = {value[0], value[3], value[4], value[3], value[1], value[5], value[4], value[5], value[2]};
  memcpy(I, matrix, sizeof matrix);
  return true;
}

static bool read_inertia(reader *r, const scope *s, const yoke_yaml_node *map, yoke_body *body) {
  const yoke_yaml_node *node = yoke_yaml_find(map, "inertia");
  if (node == NULL)
    return model_mistake(r, map, "inertia", "found nothing, expected the inertia about the centre of mass [kg*m^2]");
  if (body->kind == YOKE_BODY_PLANAR) return model_positive(r, s, node, "inertia", Q_INERTIA, &body->inertia[8]);
  double *I = body->inertia;
  if (!inertia_entries(r, s, node, I)) return false;
  const double half = (I[0] + I[4] + I[8]) / 2;
  double       scaled[9];
  for (int k = 0; k < 9; ++k) scaled[k] = I[k] / half;
  if (!(half > 0) || !is_definite(scaled, 0)) {
    return model_mistake(
        r, node, "inertia",
        "found a matrix with diagonal %g, %g, %g that is not positive definite, expected principal moments > 0", I[0],
        I[4], I[8]);
  }
  if (!is_of_a_body(I)) {
    char position[600];
    model_position(node, position, sizeof position);
    yoke_warn(r->ctx,
              "%s: key '%s.inertia': one principal moment is larger than the sum of the others: no real body has that",
              position, r->where);
  }
  return true;
}

static bool read_pose(reader *r, const scope *s, const yoke_yaml_node *map, yoke_body *body) {
  const yoke_yaml_node *position = yoke_yaml_find(map, "position"), *velocity = yoke_yaml_find(map, "velocity"),
                       *omega = yoke_yaml_find(map, "omega"), *orientation = yoke_yaml_find(map, "orientation");
  const int max  = body->kind == YOKE_BODY_PLANAR ? 2 : 3;
  bool      good = true;
  if (position != NULL)
    good = model_numbers(r, s, position, "position", Q_LENGTH, 2, max, body->position, NULL) && good;
  if (velocity != NULL)
    good = model_numbers(r, s, velocity, "velocity", Q_VELOCITY, 2, max, body->velocity, NULL) && good;
  if (body->kind == YOKE_BODY_PLANAR) {
    good = model_optional(r, s, map, "angle", Q_ANGLE, &body->angle) && good;
    good = model_optional(r, s, map, "omega", Q_ANGULAR_VELOCITY, &body->omega[2]) && good;
  }
  if (body->kind == YOKE_BODY_RIGID) {
    if (orientation != NULL) good = model_orientation(r, s, orientation, "orientation", body->orientation) && good;
    if (omega != NULL) good = model_numbers(r, s, omega, "omega", Q_ANGULAR_VELOCITY, 3, 3, body->omega, NULL) && good;
  }
  return good;
}

/* mass1d: `x` and `v`; `position` and `velocity` are accepted too. */
static bool read_line_pose(reader *r, const scope *s, const yoke_yaml_node *map, yoke_body *body) {
  const yoke_yaml_node *x = yoke_yaml_find(map, "x"), *v = yoke_yaml_find(map, "v");
  if (x != NULL && yoke_yaml_find(map, "position") != NULL)
    return model_mistake(r, x, "x", "found 'x' and 'position', expected one of them");
  if (v != NULL && yoke_yaml_find(map, "velocity") != NULL)
    return model_mistake(r, v, "v", "found 'v' and 'velocity', expected one of them");
  return model_optional(r, s, map, x != NULL ? "x" : "position", Q_LENGTH, &body->position[0]) &&
         model_optional(r, s, map, v != NULL ? "v" : "velocity", Q_VELOCITY, &body->velocity[0]);
}

static bool read_keep(reader *r, const yoke_yaml_node *map, yoke_body *body) {
  static const char *const words[] = {"false", "true", "position", "velocity"};
  const yoke_yaml_node    *node    = yoke_yaml_find(map, "keep");
  if (node == NULL) return true;
  const int k        = model_word(r, node, "keep", words, MODEL_COUNT(words));
  body->fix_position = k == 1 || k == 2;
  body->fix_velocity = k == 1 || k == 3;
  return k >= 0;
}

static bool read_values(reader *r, scope *s, const yoke_yaml_node *node, yoke_body *body) {
  if (body->kind == YOKE_BODY_CHAIN) return model_read_chain(r, s, node, &body->chain);
  const yoke_yaml_node *mass = yoke_yaml_find(node, "mass");
  bool                  good = mass != NULL ? model_positive(r, s, mass, "mass", Q_MASS, &body->mass)
                                            : model_mistake(r, node, "mass", "found nothing, expected a mass [kg]");
  if (body->kind == YOKE_BODY_RIGID || body->kind == YOKE_BODY_PLANAR) good = read_inertia(r, s, node, body) && good;
  good = (body->kind == YOKE_BODY_MASS1D ? read_line_pose(r, s, node, body) : read_pose(r, s, node, body)) && good;
  return read_keep(r, node, body) && good;
}

int model_add_body(reader *r, const yoke_yaml_node *key, const char *name, yoke_body *body) {
  yoke_model *m = r->model;
  if (!model_grow(r, &m->bodies, m->n_bodies, &r->capacity_bodies, sizeof *m->bodies)) return -1;
  body->name = yoke_arena_text(&m->arena, name);
  if (!model_has_memory(r)) return -1;
  const int index  = m->n_bodies++;
  m->bodies[index] = *body;
  switch (yoke_names_add(&r->body_names, body->name, index)) {
  case YOKE_NAMES_ADDED: break;
  case YOKE_NAMES_EXISTS:
    model_mistake(r, key, NULL, "found a second body '%s', expected different names", name);
    return -1;
  default: model_out_of_memory(r); return -1;
  }
  if (body->kind == YOKE_BODY_CHAIN) return index;
  const yoke_frame own = {.body = index, .axes = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  return model_add_frame(r, key, name, &own) >= 0 ? index : -1;
}

/* A body with mistakes in its values is kept under its name, so that those of connections to it are found as well. */
static bool read_body(reader *r, scope *s, const yoke_yaml_node *key, const yoke_yaml_node *node, bool counted) {
  enum { N_OWN = MODEL_COUNT(body_keys), ROD = N_OWN, FLEXIBLE, N_ALL = FLEXIBLE + MODEL_FLEXIBLE_KINDS };
  const char *names[N_ALL] = {[ROD] = "cosserat-rod"};
  for (int k = 0; k < N_OWN; ++k) names[k] = yoke_body_kind_name((yoke_body_kind)k);
  for (int k = FLEXIBLE; k < N_ALL; ++k) names[k] = model_flexible_kinds[k - FLEXIBLE];
  const yoke_yaml_node *kind_node = yoke_yaml_find(node, "kind");
  const int             kind      = kind_node == NULL ? -1 : model_word(r, kind_node, "kind", names, N_ALL);
  if (kind_node == NULL)
    model_mistake(r, node, "kind",
                  "found nothing, expected rigid, planar, particle, mass1d, chain, cosserat-rod, linear or ancf-cable");

  if (kind == ROD) return model_read_rod(r, s, key, node, counted);
  char name[NAME_SIZE];
  model_full_name(s, key->text, counted, name, sizeof name);
  if (kind < 0) return false;
  if (kind >= FLEXIBLE) return model_read_flexible(r, s, key, node, kind - FLEXIBLE, name);
  bool      good  = model_check_keys(r, node, body_keys[kind].list, body_keys[kind].n);
  yoke_body body  = {.kind = (yoke_body_kind)kind, .orientation = {1, 0, 0, 0}};
  good            = read_values(r, s, node, &body) && good;
  const int index = model_add_body(r, key, name, &body);
  if (index < 0) return false;
  if (body.kind == YOKE_BODY_CHAIN) return good;
  return read_frames_of(r, s, index, name, yoke_yaml_find(node, "frames")) && good;
}

void model_read_bodies(reader *r, scope *s) {
  model_each(r, s, "bodies", read_body);
}
