/* Stability of the test models: names of their parameters and of the methods' settings, and the closed-form recurrences. */
#include "analysis/map.h"
#include "analysis/recurrence.h"
#include "analysis/spectrum.h"
#include "api/run.h"
#include "api/stability_target.h"
#include "base/memory.h"
#include "base/text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A point of the parameter space. Copied for every point of a map. */
typedef struct place {
  yoke_test_model  model;
  yoke_test_ratios ratios;
  yoke_test_method method;
  double           mass_ratio; /* m_R / m_Fco; 0: not given */
} place;

typedef enum setting_group { RATIO, PHYSICAL, METHOD, METHOD_WHOLE } setting_group;

enum { ANY = 7, PLAIN = 1 << YOKE_TWO_MASS | 1 << YOKE_TWO_MASS_RIGID };
enum { SOFT = 1 << YOKE_TWO_MASS, RIGID = 1 << YOKE_TWO_MASS_RIGID, KINEMATIC = 1 << YOKE_KINEMATIC_TWO_MASS };

static const struct setting {
  const char   *name;
  setting_group group;
  int           kinds; /* bits 1 << kind */
  size_t        offset;
} settings[] = {
    {"re", RATIO, PLAIN, offsetof(place, ratios.re)},
    {"im", RATIO, PLAIN, offsetof(place, ratios.im)},
    {"am", RATIO, PLAIN, offsetof(place, ratios.am)},
    {"ar", RATIO, PLAIN, offsetof(place, ratios.ar)},
    {"ai", RATIO, PLAIN, offsetof(place, ratios.ai)},
    {"arc", RATIO, SOFT, offsetof(place, ratios.arc)},
    {"aic", RATIO, SOFT, offsetof(place, ratios.aic)},
    {"m1", PHYSICAL, PLAIN, offsetof(place, model.m[0])},
    {"m2", PHYSICAL, PLAIN, offsetof(place, model.m[1])},
    {"c1", PHYSICAL, PLAIN, offsetof(place, model.c[0])},
    {"c2", PHYSICAL, PLAIN, offsetof(place, model.c[1])},
    {"cc", PHYSICAL, SOFT, offsetof(place, model.cc)},
    {"d1", PHYSICAL, PLAIN, offsetof(place, model.d[0])},
    {"d2", PHYSICAL, PLAIN, offsetof(place, model.d[1])},
    {"dc", PHYSICAL, SOFT, offsetof(place, model.dc)},
    {"m_R", PHYSICAL, KINEMATIC, offsetof(place, model.m_R)},
    {"m_Fco", PHYSICAL, KINEMATIC, offsetof(place, model.m_Fco)},
    {"m_Fin", PHYSICAL, KINEMATIC, offsetof(place, model.m_Fin)},
    {"c_R", PHYSICAL, KINEMATIC, offsetof(place, model.c_R)},
    {"c_F", PHYSICAL, KINEMATIC, offsetof(place, model.c_F)},
    {"d_R", PHYSICAL, KINEMATIC, offsetof(place, model.d_R)},
    {"d_F", PHYSICAL, KINEMATIC, offsetof(place, model.d_F)},
    {"ratio", PHYSICAL, KINEMATIC, offsetof(place, mass_ratio)},
    {"step", PHYSICAL, ANY, offsetof(place, model.H)},
    {"mu", METHOD, RIGID, offsetof(place, method.mu)},
    {"beta", METHOD, RIGID, offsetof(place, method.beta)},
    {"gamma", METHOD, RIGID, offsetof(place, method.gamma)},
    {"a", METHOD, RIGID, offsetof(place, method.a)},
    {"b", METHOD, RIGID, offsetof(place, method.b)},
    {"relaxation", METHOD, RIGID, offsetof(place, method.relaxation)},
    {"node1", METHOD, RIGID, offsetof(place, method.nodes[0])},
    {"node2", METHOD, RIGID, offsetof(place, method.nodes[1])},
    {"acceleration_weight", METHOD, SOFT, offsetof(place, method.acceleration_weight)},
    {"samples", METHOD_WHOLE, SOFT, offsetof(place, method.samples)},
    {"order_acceleration", METHOD_WHOLE, SOFT, offsetof(place, method.order_acceleration)},
    {"order_force", METHOD_WHOLE, KINEMATIC, offsetof(place, method.order_force)},
    {"order_motion", METHOD_WHOLE, KINEMATIC, offsetof(place, method.order_motion)},
};
enum { N_SETTINGS = sizeof settings / sizeof *settings };

/* Settings whose values are words. */
static const struct choice {
  const char *name;
  int         kinds;
  const char *words[5]; /* in the order of their enum */
  size_t      offset;
  bool        is_truth; /* false, true */
} choices[] = {
    {"force", KINEMATIC, {"exact", "reduced", "approximate"}, offsetof(place, method.force), false},
    {"motion", KINEMATIC, {"same", "derivative"}, offsetof(place, method.motion), false},
    {"outputs", KINEMATIC, {"parallel", "current", "sequential", "held"}, offsetof(place, method.outputs), false},
    {"feedthrough", SOFT, {"false", "true"}, offsetof(place, method.feedthrough), true},
    {"final_update", SOFT, {"false", "true"}, offsetof(place, method.final_update), true},
    {"update", SOFT, {"false", "true"}, offsetof(place, method.update), true},
};
enum { N_CHOICES = sizeof choices / sizeof *choices };

/* ---- names and values ---- */

static yoke_status unknown(yoke_context *ctx, yoke_test_model_kind kind, const char *name) {
  const char *names[N_SETTINGS + N_CHOICES];
  char        list[600];
  size_t      used = 0;
  int         n    = 0;
  for (int i = 0; i < N_SETTINGS; ++i) {
    if (settings[i].kinds & 1 << kind) names[n++] = settings[i].name;
  }
  for (int i = 0; i < N_CHOICES; ++i) {
    if (choices[i].kinds & 1 << kind) names[n++] = choices[i].name;
  }
  list[0] = '\0';
  for (int i = 0; i < n && used < sizeof list; ++i)
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", names[i]);
  const char *nearest = yoke_text_nearest(name, names, n);
  return yoke_fail(ctx, YOKE_E_USAGE, "test model %s has no setting '%s'%s%s%s; it has %s", yoke_test_model_name(kind),
                   name, nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                   nearest != NULL ? "'?" : "", list);
}

static int find_setting(yoke_test_model_kind kind, const char *name) {
  for (int i = 0; i < N_SETTINGS; ++i) {
    if ((settings[i].kinds & 1 << kind) && strcmp(settings[i].name, name) == 0) return i;
  }
  return -1;
}

static void assign(place *p, int setting, double value) {
  char *at = (char *)p + settings[setting].offset;
  if (settings[setting].group == METHOD_WHOLE) {
    *(int *)(void *)at = (int)value;
  } else {
    *(double *)(void *)at = value;
  }
}

/* A number or a fraction as 1/3. */
static bool read_number(const char *text, double *out) {
  char *end = NULL;
  *out      = strtod(text, &end);
  if (end == text) return false;
  if (*end == '/') {
    const char  *below = end + 1;
    const double by    = strtod(below, &end);
    if (end == below) return false;
    *out /= by;
  }
  return *end == '\0' && isfinite(*out);
}

static yoke_status set_choice(yoke_context *ctx, const struct choice *c, const char *value, place *p) {
  for (int k = 0; k < 5 && c->words[k] != NULL; ++k) {
    if (strcmp(c->words[k], value) != 0) continue;
    char *at = (char *)p + c->offset;
    if (c->is_truth) {
      *(bool *)(void *)at = k == 1;
    } else {
      *(int *)(void *)at = k; /* enums of the method are int */
    }
    return YOKE_OK;
  }
  return yoke_fail(ctx, YOKE_E_USAGE, "%s is '%s', expected %s, %s%s%s%s%s", c->name, value, c->words[0], c->words[1],
                   c->words[2] != NULL ? ", " : "", c->words[2] != NULL ? c->words[2] : "",
                   c->words[3] != NULL ? ", " : "", c->words[3] != NULL ? c->words[3] : "");
}

/* One "name=value"; `groups` collects the groups that were set. */
static yoke_status set_one(yoke_context *ctx, const char *setting, place *p, int *groups) {
  char         name[64];
  const char  *equals = strchr(setting, '=');
  const size_t n      = equals != NULL ? (size_t)(equals - setting) : strlen(setting);
  if (equals == NULL || n == 0 || n >= sizeof name)
    return yoke_fail(ctx, YOKE_E_USAGE, "setting '%s': expected NAME=VALUE", setting);
  memcpy(name, setting, n);
  name[n] = '\0';
  for (int i = 0; i < N_CHOICES; ++i) {
    if ((choices[i].kinds & 1 << p->model.kind) && strcmp(choices[i].name, name) == 0)
      return set_choice(ctx, &choices[i], equals + 1, p);
  }
  const int i     = find_setting(p->model.kind, name);
  double    value = 0.0;
  if (i < 0) return unknown(ctx, p->model.kind, name);
  if (!read_number(equals + 1, &value))
    return yoke_fail(ctx, YOKE_E_USAGE, "%s is '%s', expected a number", name, equals + 1);
  if (settings[i].group == METHOD_WHOLE && (value != floor(value) || fabs(value) > 1000.0))
    return yoke_fail(ctx, YOKE_E_USAGE, "%s is '%s', expected a whole number", name, equals + 1);
  *groups |= 1 << settings[i].group;
  assign(p, i, value);
  return YOKE_OK;
}

/* ---- methods ---- */

static int find_word(const char *word, const char *const *words, int n) {
  for (int i = 0; i < n; ++i) {
    if (strcmp(words[i], word) == 0) return i;
  }
  return -1;
}

static const char *first_of(const char *a, const char *b) {
  return a != NULL ? a : b;
}

static yoke_status set_method(yoke_context *ctx, const yoke_stability_variant *v, place *p) {
  static const char *const decompositions[] = {"force/force", "force/displacement", "displacement/force",
                                               "displacement/displacement"};
  static const char *const extensions[]     = {"none", "d", "i"};
  static const char *const predictors[] = {"extrapolation", "least-squares", "acceleration", "acceleration-relaxed"};
  const yoke_run_options  *run          = v->options->run;
  yoke_test_method        *m            = &p->method;
  const char              *order = first_of(v->method->order, yoke_run_choice(run, "order")), *index = v->method->index;
  const char              *scheme        = first_of(v->method->scheme, yoke_run_choice(run, "scheme"));
  const char              *decomposition = first_of(v->method->decomposition, yoke_run_choice(run, "decomposition"));
  const char              *extension     = first_of(v->method->extension, yoke_run_choice(run, "extension"));
  const bool               is_kinematic  = p->model.kind == YOKE_KINEMATIC_TWO_MASS;
  *m                                     = yoke_test_method_default();
  m->scheme                              = scheme != NULL ? scheme : is_kinematic ? "explicit" : m->scheme;
  m->formulation                         = first_of(v->method->formulation, yoke_run_choice(run, "formulation"));
  if (order != NULL && (order[0] < '0' || order[0] > '9'))
    return yoke_fail(ctx, YOKE_E_USAGE, "order is '%s', expected a number: a test model has one order", order);
  if (order != NULL) m->order = atoi(order);
  if (index != NULL) m->index = atoi(index);
  m->order_acceleration = m->order; /* unless it is set */
  const char *sequence = yoke_run_choice(run, "sequence"), *predictor = yoke_run_choice(run, "predictor");
  if (sequence != NULL) m->gauss_seidel = strcmp(sequence, "gauss-seidel") == 0;
  const int d = decomposition != NULL ? find_word(decomposition, decompositions, 4) : 0;
  const int e = extension != NULL ? find_word(extension, extensions, 3) : 0;
  const int k = predictor != NULL ? find_word(predictor, predictors, 4) : 0;
  if (d < 0) return yoke_fail(ctx, YOKE_E_USAGE, "there is no decomposition '%s'", decomposition);
  if (e < 0) return yoke_fail(ctx, YOKE_E_USAGE, "there is no extension '%s'", extension);
  if (k < 0) return yoke_fail(ctx, YOKE_E_USAGE, "there is no predictor '%s'", predictor);
  static const yoke_decomposition decomposition_of[] = {YOKE_FORCE_FORCE, YOKE_FORCE_DISPLACEMENT,
                                                        YOKE_DISPLACEMENT_FORCE, YOKE_DISPLACEMENT_DISPLACEMENT};
  static const yoke_extension     extension_of[]     = {YOKE_EXTENSION_NONE, YOKE_EXTENSION_D, YOKE_EXTENSION_I};
  static const yoke_predictor     predictor_of[]     = {YOKE_PREDICTOR_EXTRAPOLATION, YOKE_PREDICTOR_LEAST_SQUARES,
                                                        YOKE_PREDICTOR_ACCELERATION, YOKE_PREDICTOR_ACCELERATION_RELAXED};
  m->decomposition                                   = decomposition_of[d];
  m->extension                                       = extension_of[e];
  m->predictor                                       = predictor_of[k];
  return YOKE_OK;
}

/* ---- places ---- */

typedef struct region {
  place                      base;
  bool                       is_physical; /* else by ratios */
  int                        axis[2];     /* setting of x and y, -1: none */
  const yoke_stability_axis *axes[2];
} region;

/* The place with the axes at x and y, its model complete. */
static place at_place(const region *r, double x, double y) {
  place        p        = r->base;
  const double value[2] = {x, y};
  for (int k = 0; k < 2; ++k) {
    if (r->axis[k] >= 0) assign(&p, r->axis[k], value[k]);
  }
  if (!r->is_physical) p.model = yoke_test_model_from_ratios(p.model.kind, &p.ratios);
  if (p.mass_ratio > 0.0) p.model.m_R = p.mass_ratio * p.model.m_Fco;
  return p;
}

static yoke_status make_region(yoke_context *ctx, const yoke_stability_variant *v, region *r) {
  const yoke_stability_options *o      = v->options;
  int                           groups = 0;
  yoke_test_model_kind          kind;
  *r = (region){.axis = {-1, -1}, .axes = {&o->x, &o->y}};
  if (!yoke_test_model_find(o->run->model, &kind)) return YOKE_E_INTERNAL;
  r->base.model  = yoke_test_model_default(kind);
  r->base.ratios = yoke_test_ratios_default();
  YOKE_TRY(set_method(ctx, v, &r->base));
  for (int i = 0; i < v->n_sets; ++i) YOKE_TRY(set_one(ctx, v->sets[i], &r->base, &groups));
  const char *step = yoke_run_choice(o->run, "step");
  if (step != NULL) {
    char text[80];
    snprintf(text, sizeof text, "step=%s", step);
    YOKE_TRY(set_one(ctx, text, &r->base, &groups));
  }
  for (int k = 0; k < 2; ++k) {
    if (r->axes[k]->name == NULL) continue;
    r->axis[k] = find_setting(kind, r->axes[k]->name);
    if (r->axis[k] < 0) return unknown(ctx, kind, r->axes[k]->name);
    if (settings[r->axis[k]].group == METHOD_WHOLE)
      return yoke_fail(ctx, YOKE_E_USAGE, "'%s' takes whole numbers and cannot be an axis", r->axes[k]->name);
    groups |= 1 << settings[r->axis[k]].group;
  }
  r->is_physical = kind == YOKE_KINEMATIC_TWO_MASS || (groups & 1 << PHYSICAL);
  if (r->is_physical && (groups & 1 << RATIO))
    return yoke_fail(ctx, YOKE_E_USAGE,
                     "test model %s: give either re, im and ratios, or masses, springs, dampers and step, not both",
                     yoke_test_model_name(kind));
  return yoke_recurrence_check(ctx, kind, &r->base.method);
}

/* ---- questions ---- */

static yoke_status take_point(yoke_context *ctx, const place *p, yoke_stability_row *row) {
  double *matrix = yoke_allocate((size_t)YOKE_RECURRENCE_MAX * YOKE_RECURRENCE_MAX, sizeof *matrix);
  if (matrix == NULL) return yoke_out_of_memory(ctx, "the stability study");
  int         n      = 0;
  yoke_status status = yoke_recurrence_build(ctx, &p->model, &p->method, matrix, &n);
  row->n_states      = n;
  if (status == YOKE_OK) status = yoke_dominant_mode(n, matrix, &row->rho, &row->re, &row->im, NULL);
  free(matrix);
  if (status > 0) { /* a pole, or overflow */
    row->rho = INFINITY;
    row->re = row->im = NAN;
    status            = YOKE_OK;
  }
  row->is_stable = row->rho <= 1.0 + yoke_stability_slack;
  return status;
}

static yoke_status closed_form_point(yoke_context *ctx, const yoke_stability_variant *v, yoke_stability_row *row) {
  region r;
  YOKE_TRY(make_region(ctx, v, &r));
  const place p    = at_place(&r, 0.0, 0.0);
  row->is_relative = !r.is_physical;
  row->step        = r.is_physical ? p.model.H : (double)NAN;
  row->model_rho   = NAN;
  return take_point(ctx, &p, row);
}

static yoke_status radius_of_step(const void *user, double H, double *rho) {
  place p   = *(const place *)user;
  p.model.H = H;
  return yoke_recurrence_radius(NULL, &p.model, &p.method, rho);
}

static yoke_status closed_form_limit(yoke_context *ctx, const yoke_stability_variant *v, yoke_stability_row *row,
                                     bool (*progress)(void *user, double share), void *user) {
  region r;
  YOKE_TRY(make_region(ctx, v, &r));
  place        p      = at_place(&r, 0.0, 0.0);
  const double factor = 1.02, lowest = 1e-4 * p.model.H;
  YOKE_TRY(take_point(ctx, &p, row)); /* says what is wrong with the model */
  row->is_relative     = !r.is_physical;
  row->step            = r.is_physical ? p.model.H : (double)NAN;
  row->model_rho       = NAN;
  row->limit_searched  = 1e4 * p.model.H;
  const yoke_scan scan = {.value  = radius_of_step,
                          .user   = &p,
                          .first  = lowest,
                          .last   = row->limit_searched,
                          .factor = factor,
                          .limit  = 1.0 + yoke_stability_slack};
  if (progress != NULL && !progress(user, 0.0)) return yoke_fail(ctx, YOKE_E_INTERRUPTED, "interrupted");
  YOKE_TRY(yoke_scan_onset(ctx, &scan, &row->limit));
  if (row->limit <= lowest) row->limit = 0.0;
  p.model.H = isfinite(row->limit) ? fmax(row->limit * (1.0 + 1e-6), lowest) : row->limit_searched;
  YOKE_TRY(take_point(ctx, &p, row));
  for (double H = row->limit * factor; isfinite(row->limit) && row->limit > 0.0 && H < row->limit_searched;
       H *= factor) {
    double rho = INFINITY;
    YOKE_TRY(radius_of_step(&p, H, &rho));
    if (!(rho <= 1.0 + yoke_stability_slack)) continue;
    row->stable_again = H;
    break;
  }
  return YOKE_OK;
}

static double from_axis(const yoke_stability_axis *axis, double value) {
  return axis->is_log ? pow(10.0, value) : value;
}

static yoke_status map_value(const void *user, double x, double y, double *out) {
  const region     *r      = user;
  const place       p      = at_place(r, from_axis(r->axes[0], x), from_axis(r->axes[1], y));
  const yoke_status status = yoke_recurrence_radius(NULL, &p.model, &p.method, out);
  if (status != YOKE_E_USAGE) return status;
  *out = NAN; /* a parameter out of its range */
  return YOKE_OK;
}

static yoke_axis plain_axis(const yoke_stability_axis *axis) {
  if (axis->name == NULL) return (yoke_axis){.from = 0.0, .to = 0.0, .n = 1};
  return (yoke_axis){.from = axis->is_log ? log10(axis->from) : axis->from,
                     .to   = axis->is_log ? log10(axis->to) : axis->to,
                     .n    = axis->n};
}

static yoke_status closed_form_map(yoke_context *ctx, const yoke_stability_variant *v, yoke_stability_row *row,
                                   double *values, bool (*progress)(void *user, double share), void *user) {
  (void)row;
  region r;
  YOKE_TRY(make_region(ctx, v, &r));
  const yoke_map map = {.x             = plain_axis(&v->options->x),
                        .y             = plain_axis(&v->options->y),
                        .value         = map_value,
                        .user          = &r,
                        .progress      = progress,
                        .progress_user = user,
                        .n_threads     = v->options->run->threads};
  return yoke_map_run(ctx, &map, values);
}

const yoke_stability_target yoke_closed_form_target = {
    .point = closed_form_point,
    .limit = closed_form_limit,
    .map   = closed_form_map,
};
