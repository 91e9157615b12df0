/* Rods of the model file (`cosserat-rod`): read as a whole, kept as rigid bodies with elements between them (model/rod.h). */
#include "io/model_reader.h"
#include "base/memory.h"
#include "model/rod.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ELEMENTS = 100000 };

static const double pi = 3.14159265358979323846;

/* ---- section ---- */

typedef struct section {
  double area, second[2], torsion; /* A [m^2], I about d1 and d2, J [m^4] */
} section;

/* Torsion of a rectangle by the usual series (Saint-Venant), a >= b. */
static double rectangle_torsion(double a, double b) {
  double sum = 0.0;
  for (int k = 1; k < 40; k += 2) sum += tanh(0.5 * pi * k * a / b) / pow(k, 5.0);
  return a * b * b * b * (1.0 / 3.0 - 64.0 * b / (pow(pi, 5.0) * a) * sum);
}

/* {circle: radius}, {circle: [outer, inner]} or {rectangle: [along d1, along d2]}. */
static bool read_section(reader *r, const scope *s, const yoke_yaml_node *node, section *out) {
  static const char *const keys[]   = {"circle", "rectangle"};
  static const char *const expected = "{circle: radius}, {circle: [outer, inner]} or {rectangle: [along d1, along d2]}";
  if (node->kind != YOKE_YAML_MAP || node->n != 1) return model_expected(r, node, "section", expected);
  if (!model_check_keys(r, node, keys, MODEL_COUNT(keys))) return false;
  const yoke_yaml_node *circle  = yoke_yaml_find(node, "circle");
  double                size[2] = {0.0, 0.0};
  if (circle != NULL && circle->kind == YOKE_YAML_SCALAR) {
    if (!model_positive(r, s, circle, "section", Q_LENGTH, &size[0])) return false;
  } else if (!model_numbers(r, s, circle != NULL ? circle : node->items[0], "section", Q_LENGTH, 2, 2, size, NULL)) {
    return false;
  }
  if (!(size[0] > 0.0) || !(circle != NULL ? size[1] >= 0.0 && size[1] < size[0] : size[1] > 0.0))
    return model_mistake(r, node, "section", "found %g and %g m, expected %s", size[0], size[1], expected);
  if (circle != NULL) {
    const double outer = size[0] * size[0], inner = size[1] * size[1];
    out->area      = pi * (outer - inner);
    out->torsion   = 0.5 * pi * (outer * outer - inner * inner);
    out->second[0] = out->second[1] = 0.5 * out->torsion;
  } else {
    out->area      = size[0] * size[1];
    out->second[0] = out->area * size[1] * size[1] / 12.0;
    out->second[1] = out->area * size[0] * size[0] / 12.0;
    out->torsion   = rectangle_torsion(fmax(size[0], size[1]), fmin(size[0], size[1]));
  }
  return true;
}

static bool is_given(const yoke_yaml_node *map, const char *key) {
  return yoke_yaml_find(map, key) != NULL;
}

static bool need(reader *r, const scope *s, const yoke_yaml_node *map, const char *key, const char *what, double *out) {
  const yoke_yaml_node *node = yoke_yaml_find(map, key);
  if (node == NULL) return model_mistake(r, map, key, "found nothing, expected %s", what);
  return model_positive(r, s, node, key, Q_ANY, out);
}

/* From section, Young's modulus and density. */
static bool read_material(reader *r, const scope *s, const yoke_yaml_node *map, yoke_rod_def *def) {
  section sec = {0};
  double  E = 0.0, poisson = 0.3, density = 0.0, shear_factor = 1.0;
  if (!is_given(map, "section"))
    return model_mistake(
        r, map, "section",
        "found nothing, expected a section with 'young' and 'density', or 'stiffness' and 'line_mass'");
  if (!read_section(r, s, yoke_yaml_find(map, "section"), &sec)) return false;
  const yoke_yaml_node *factor = yoke_yaml_find(map, "shear_factor");
  if (!need(r, s, map, "density", "a density [kg/m^3]", &density)) return false;
  if (factor != NULL && !model_positive(r, s, factor, "shear_factor", Q_NUMBER, &shear_factor)) return false;
  def->line_mass       = density * sec.area;
  def->line_inertia[0] = density * sec.second[0];
  def->line_inertia[1] = density * sec.second[1];
  def->line_inertia[2] = density * (sec.second[0] + sec.second[1]);
  if (is_given(map, "stiffness")) return true;
  if (!need(r, s, map, "young", "Young's modulus [N/m^2]", &E)) return false;
  if (!model_optional(r, s, map, "poisson", Q_NUMBER, &poisson)) return false;
  if (!(poisson > -1.0 && poisson <= 0.5))
    return model_mistake(r, yoke_yaml_find(map, "poisson"), "poisson", "found %g, expected more than -1, at most 0.5",
                         poisson);
  const double G    = E / (2.0 * (1.0 + poisson));
  def->stiffness[0] = def->stiffness[1] = shear_factor * G * sec.area;
  def->stiffness[2]                     = E * sec.area;
  def->stiffness[3]                     = E * sec.second[0];
  def->stiffness[4]                     = E * sec.second[1];
  def->stiffness[5]                     = G * sec.torsion;
  return true;
}

static bool all_positive(reader *r, const yoke_yaml_node *at, const char *key, int n, const double *x) {
  for (int k = 0; k < n; ++k) {
    if (!(x[k] > 0.0)) return model_mistake(r, at, key, "found %g, expected numbers > 0", x[k]);
  }
  return true;
}

static bool read_properties(reader *r, const scope *s, const yoke_yaml_node *map, yoke_rod_def *def) {
  const yoke_yaml_node *stiffness = yoke_yaml_find(map, "stiffness"), *inertia = yoke_yaml_find(map, "line_inertia"),
                       *line_mass = yoke_yaml_find(map, "line_mass"), *damping = yoke_yaml_find(map, "damping");
  if (stiffness != NULL && (!model_numbers(r, s, stiffness, "stiffness", Q_ANY, 6, 6, def->stiffness, NULL) ||
                            !all_positive(r, stiffness, "stiffness", 6, def->stiffness)))
    return false;
  if ((line_mass == NULL) != (inertia == NULL))
    return model_mistake(r, map, line_mass == NULL ? "line_mass" : "line_inertia",
                         "found nothing, expected 'line_mass' [kg/m] and 'line_inertia' [kg*m] together");
  if (stiffness == NULL || line_mass == NULL) {
    if (!read_material(r, s, map, def)) return false;
  }
  if (line_mass != NULL && (!model_positive(r, s, line_mass, "line_mass", Q_ANY, &def->line_mass) ||
                            !model_numbers(r, s, inertia, "line_inertia", Q_ANY, 3, 3, def->line_inertia, NULL) ||
                            !all_positive(r, inertia, "line_inertia", 3, def->line_inertia)))
    return false;
  if (damping == NULL) return true;
  if (damping->kind == YOKE_YAML_LIST) {
    if (!model_numbers(r, s, damping, "damping", Q_ANY, 6, 6, def->damping, NULL)) return false;
    for (int k = 0; k < 6; ++k) {
      if (!(def->damping[k] >= 0.0))
        return model_mistake(r, damping, "damping", "found %g, expected 0 or greater", def->damping[k]);
    }
    return true;
  }
  double t = 0.0;
  if (!model_not_negative(r, s, damping, "damping", Q_TIME, &t)) return false;
  for (int k = 0; k < 6; ++k) def->damping[k] = t * def->stiffness[k];
  return true;
}

/* ---- shape ---- */

static bool read_points(reader *r, const scope *s, const yoke_yaml_node *node, int n, double *points) {
  if (node->kind != YOKE_YAML_LIST || node->n != n + 1) {
    char expected[80];
    model_print(expected, sizeof expected, "%d points [x, y, z], one more than elements", n + 1);
    return model_expected(r, node, "points", expected);
  }
  for (int k = 0; k <= n; ++k) {
    double *x = points + 3 * k;
    if (!model_numbers(r, s, node->items[k], "points", Q_LENGTH, 3, 3, x, NULL)) return false;
    if (k > 0 && x[0] == x[-3] && x[1] == x[-2] && x[2] == x[-1])
      return model_mistake(r, node->items[k], "points", "found the same point twice, expected different ones");
  }
  return true;
}

static double distance(const double *a, const double *b) {
  return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

/* `from` with `direction` or `to`; `to` nearer than the length: it hangs. */
static bool read_line(reader *r, const scope *s, const yoke_yaml_node *map, yoke_rod_def *def, bool has_length,
                      double *points) {
  const yoke_yaml_node *from_node = yoke_yaml_find(map, "from"), *to_node = yoke_yaml_find(map, "to"),
                       *direction_node = yoke_yaml_find(map, "direction");
  double from[3]                       = {0.0}, to[3], direction[3];
  if (from_node != NULL && !model_numbers(r, s, from_node, "from", Q_LENGTH, 3, 3, from, NULL)) return false;
  if ((to_node == NULL) == (direction_node == NULL))
    return model_mistake(r, map, "direction", "found %s, expected one of 'direction', 'to' and 'points'",
                         to_node == NULL ? "nothing" : "'to' and 'direction'");
  if (direction_node != NULL) {
    if (!model_numbers(r, s, direction_node, "direction", Q_ANY, 3, 3, direction, NULL)) return false;
    if (!(fabs(direction[0]) + fabs(direction[1]) + fabs(direction[2]) > 0.0))
      return model_mistake(r, direction_node, "direction", "found a direction of length 0");
    if (!has_length) return model_mistake(r, map, "length", "found nothing, expected a length [m]");
    yoke_rod_straight(def->n, def->length, from, direction, points);
    return true;
  }
  if (!model_numbers(r, s, to_node, "to", Q_LENGTH, 3, 3, to, NULL)) return false;
  const double span = distance(from, to);
  if (!(span > 0.0)) return model_mistake(r, to_node, "to", "found the point 'from', expected another one");
  if (!has_length) def->length = span;
  if (def->length > span * (1.0 + 1e-9)) {
    if (yoke_rod_hanging(def->n, def->length, from, to, r->model->gravity, points)) return true;
    return model_mistake(r, to_node, "to",
                         "found two ends %g m from each other for a length of %g m, expected gravity and ends that are "
                         "not above each other so that the rod can hang; or 'points'",
                         span, def->length);
  }
  for (int k = 0; k < 3; ++k) direction[k] = to[k] - from[k];
  yoke_rod_straight(def->n, span, from, direction, points); /* a shorter one is stretched */
  return true;
}

/* Does a direction lead along the first element, so that it tells nothing of its section? */
static bool is_along(const double *points, const double direction[3]) {
  const double d[3] = {points[3] - points[0], points[4] - points[1], points[5] - points[2]}, none[3] = {0.0};
  double       across[3] = {d[1] * direction[2] - d[2] * direction[1], d[2] * direction[0] - d[0] * direction[2],
                            d[0] * direction[1] - d[1] * direction[0]};
  return !(distance(across, none) > 1e-6 * distance(d, none) * distance(direction, none));
}

static bool read_shape(reader *r, const scope *s, const yoke_yaml_node *map, yoke_rod_def *def, double *points) {
  static const char *const words[] = {"straight", "start"};
  const yoke_yaml_node    *length = yoke_yaml_find(map, "length"), *given = yoke_yaml_find(map, "points"),
                       *natural = yoke_yaml_find(map, "natural"), *velocity = yoke_yaml_find(map, "velocity"),
                       *omega = yoke_yaml_find(map, "omega"), *normal = yoke_yaml_find(map, "normal");
  if (length != NULL && !model_positive(r, s, length, "length", Q_LENGTH, &def->length)) return false;
  if (given != NULL) {
    if (is_given(map, "from") || is_given(map, "to") || is_given(map, "direction"))
      return model_mistake(r, given, "points", "found 'points' beside 'from', 'to' or 'direction', expected one way");
    if (!read_points(r, s, given, def->n, points)) return false;
    for (int k = 0; length == NULL && k < def->n; ++k) def->length += distance(points + 3 * k, points + 3 * k + 3);
  } else if (!read_line(r, s, map, def, length != NULL, points)) {
    return false;
  }
  def->points = points;
  if (normal != NULL && !model_numbers(r, s, normal, "normal", Q_ANY, 3, 3, def->normal, NULL)) return false;
  if (normal != NULL && is_along(points, def->normal))
    return model_mistake(r, normal, "normal", "found %s, expected one across the rod at its end a",
                         fabs(def->normal[0]) + fabs(def->normal[1]) + fabs(def->normal[2]) > 0.0
                             ? "the direction of the rod"
                             : "a direction of length 0");
  if (velocity != NULL && !model_numbers(r, s, velocity, "velocity", Q_VELOCITY, 3, 3, def->velocity, NULL))
    return false;
  if (omega != NULL && !model_numbers(r, s, omega, "omega", Q_ANGULAR_VELOCITY, 3, 3, def->omega, NULL)) return false;
  if (natural == NULL) return true;
  const int word  = model_word(r, natural, "natural", words, MODEL_COUNT(words));
  def->is_natural = word == 1;
  return word >= 0;
}

/* ---- the rod ---- */

static bool add_nodes(reader *r, const yoke_yaml_node *key, const char *name, int n, yoke_body *nodes) {
  yoke_model *m = r->model;
  for (int k = 0; k < yoke_rod_n_nodes(n); ++k) {
    char node[32], full[NAME_SIZE + 40];
    yoke_rod_node_name(n, k, node, sizeof node);
    model_print(full, sizeof full, "%s.%s", name, node);
    if (!model_grow(r, &m->bodies, m->n_bodies, &r->capacity_bodies, sizeof *m->bodies)) return false;
    nodes[k].name = yoke_arena_text(&m->arena, full);
    if (!model_has_memory(r)) return false;
    const yoke_frame own   = {.body = m->n_bodies, .axes = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    m->bodies[m->n_bodies] = nodes[k];
    if (yoke_names_add(&r->body_names, nodes[k].name, m->n_bodies++) != YOKE_NAMES_ADDED)
      return model_mistake(r, key, NULL, "found a second body '%s', expected different names", full);
    if (model_add_frame(r, key, full, &own) < 0) return false;
  }
  return true;
}

static bool add_elements(reader *r, const yoke_yaml_node *key, const char *name, int n, int first_frame,
                         const yoke_rod_element *elements) {
  yoke_model *m = r->model;
  for (int e = 0; e <= n; ++e) {
    char full[NAME_SIZE + 40];
    model_print(full, sizeof full, "%s.element[%d]", name, e + 1);
    if (!model_grow(r, &m->connections, m->n_connections, &r->capacity_connections, sizeof *m->connections))
      return false;
    yoke_connection *c = &m->connections[m->n_connections];
    *c                 = (yoke_connection){.kind  = YOKE_CONNECTION_ROD_ELEMENT,
                                           .name  = yoke_arena_text(&m->arena, full),
                                           .frame = {first_frame + e, first_frame + e + 1},
                                           .rod   = yoke_arena_copy(&m->arena, &elements[e], 1, sizeof elements[e])};
    if (!model_has_memory(r)) return false;
    if (yoke_names_add(&r->connection_names, c->name, m->n_connections++) != YOKE_NAMES_ADDED)
      return model_mistake(r, key, NULL, "found a second connection '%s', expected different names", full);
  }
  return true;
}

static bool add_rod(reader *r, const yoke_yaml_node *key, const char *name, const yoke_rod_def *def) {
  yoke_model *m = r->model;
  if (!model_grow(r, &m->rods, m->n_rods, &r->capacity_rods, sizeof *m->rods)) return false;
  const size_t      mark     = yoke_arena_mark(&r->scratch);
  yoke_body        *nodes    = yoke_arena_take(&r->scratch, (size_t)yoke_rod_n_nodes(def->n), sizeof *nodes);
  yoke_rod_element *elements = yoke_arena_take(&r->scratch, (size_t)def->n + 1, sizeof *elements);
  if (r->scratch.has_failed) return model_out_of_memory(r);
  yoke_rod_make(def, nodes, elements);
  yoke_rod *rod = &m->rods[m->n_rods++];
  *rod          = (yoke_rod){.name          = yoke_arena_text(&m->arena, name),
                             .first_body    = m->n_bodies,
                             .n_bodies      = yoke_rod_n_nodes(def->n),
                             .first_element = m->n_connections};
  if (!model_has_memory(r)) return false;
  const int first_frame = m->n_frames;
  const int place       = m->n_rods - 1;
  bool      good        = yoke_names_add(&r->rod_names, rod->name, place) == YOKE_NAMES_ADDED;
  if (!good) return model_mistake(r, key, NULL, "found a second body '%s', expected different names", name);
  good = add_nodes(r, key, name, def->n, nodes) && add_elements(r, key, name, def->n, first_frame, elements);
  yoke_arena_release(&r->scratch, mark);
  return good;
}

bool model_read_rod(reader *r, scope *s, const yoke_yaml_node *key, const yoke_yaml_node *node, bool counted) {
  static const char *const keys[] = {"kind",      "count",        "elements",     "length",  "section", "young",
                                     "poisson",   "density",      "shear_factor", "damping", "from",    "to",
                                     "stiffness", "direction",    "points",       "normal",  "natural", "velocity",
                                     "line_mass", "line_inertia", "omega"};
  yoke_rod_def             def    = {0};
  long                     n;
  char                     name[NAME_SIZE];
  if (!model_check_keys(r, node, keys, MODEL_COUNT(keys))) return false;
  if (!is_given(node, "elements"))
    return model_mistake(r, node, "elements", "found nothing, expected the number of elements");
  if (!model_integer(r, s, yoke_yaml_find(node, "elements"), "elements", 1, MAX_ELEMENTS, &n)) return false;
  def.n               = (int)n;
  const size_t mark   = yoke_arena_mark(&r->scratch);
  double      *points = yoke_arena_take(&r->scratch, 3 * ((size_t)n + 1), sizeof *points);
  if (r->scratch.has_failed) return model_out_of_memory(r);
  bool good = read_properties(r, s, node, &def);
  good      = read_shape(r, s, node, &def, points) && good;
  model_full_name(s, key->text, counted, name, sizeof name);
  good = good && add_rod(r, key, name, &def);
  yoke_arena_release(&r->scratch, mark);
  return good;
}
