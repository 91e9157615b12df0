/* Elements that could be cut: how bad it is, and what must stay together. */
#include "base/memory.h"
#include "master/partition_internal.h"
#include <math.h>
#include <stdlib.h>

/* ---- how bad it is to cut an element ---- */

static double per_mass(const yoke_per_mass *p, int i) {
  return p->each != NULL ? p->each[i] : p->value;
}

static double reduced(double a, double b) {
  return a > 0.0 && b > 0.0 ? a * b / (a + b) : 0.0;
}

/* omega of one direction with stiffness k, damping d and reduced mass m; the larger one is kept. */
static void add_direction(cut_element *e, double k, double d, double m) {
  if (!(m > 0.0)) return;
  const double omega = fmax(sqrt(fmax(fabs(k), 0.0) / m), fabs(d) / m);
  if (!isfinite(omega)) return;
  e->frequency = fmax(e->frequency, omega);
  e->stiffness = fmax(e->stiffness, fabs(k));
}

static void set_mass_ratio(cut_element *e, double a, double b) {
  e->mass_ratio = a > 0.0 && b > 0.0 ? fmax(a, b) / fmin(a, b) : 1.0;
}

static double body_mass(const yoke_body *body, int mass) {
  return body->kind == YOKE_BODY_CHAIN ? per_mass(&body->chain->mass, mass) : body->mass;
}

static double body_inertia(const yoke_body *body) {
  if (body->kind == YOKE_BODY_PLANAR) return body->inertia[8];
  if (body->kind != YOKE_BODY_RIGID) return 0.0;
  return fmin(fmin(body->inertia[0], body->inertia[4]), body->inertia[8]);
}

/* Rows of a flexible joint that are translations; the others are rotations. */
static int n_translations(yoke_connection_kind kind) {
  switch (kind) {
  case YOKE_CONNECTION_PERPENDICULAR:
  case YOKE_CONNECTION_TANGENT:
  case YOKE_CONNECTION_ORIENTATION:
  case YOKE_CONNECTION_TORSION_SPRING: return 0;
  case YOKE_CONNECTION_INPLANE:
  case YOKE_CONNECTION_PLANAR:
  case YOKE_CONNECTION_DISTANCE: return 1;
  case YOKE_CONNECTION_CYLINDRICAL:
  case YOKE_CONNECTION_TRANSLATIONAL:
  case YOKE_CONNECTION_INLINE: return 2;
  default: return 3;
  }
}

void cut_measure_connection(const yoke_model *model, const yoke_connection *c, cut_element *e) {
  const yoke_frame *f[2] = {&model->frames[c->frame[0]], &model->frames[c->frame[1]]};
  const yoke_body  *b[2] = {&model->bodies[f[0]->body], &model->bodies[f[1]->body]};
  const double      m1 = body_mass(b[0], f[0]->mass), m2 = body_mass(b[1], f[1]->mass);
  const double      m = reduced(m1, m2), inertia = reduced(body_inertia(b[0]), body_inertia(b[1]));
  set_mass_ratio(e, m1, m2);
  e->is_rigid = cut_is_rigid(c);
  if (e->is_rigid) return;
  if (c->kind == YOKE_CONNECTION_SPRING_DAMPER || c->kind == YOKE_CONNECTION_TORSION_SPRING) {
    double k = 0.0, d = 0.0;
    yoke_law_force(&c->law, 0.0, 0.0, model->t_start, &k, &d);
    add_direction(e, k, d, c->kind == YOKE_CONNECTION_SPRING_DAMPER ? m : inertia);
    return;
  }
  for (int k = 0; k < 6; ++k)
    add_direction(e, c->stiffness[k], c->damping[k], k < n_translations(c->kind) ? m : inertia);
}

double cut_badness(const cut_element *e, double omega_max) {
  static const double rigid = 10.0; /* what a cut joint costs more than the stiffest element (docs/defaults.md) */
  const double        omega = e->is_rigid ? rigid : omega_max > 0.0 ? e->frequency / omega_max : 0.0;
  return omega * sqrt(e->mass_ratio) * (e->is_loaded ? 3.0 : 1.0);
}

void cut_measure_element(const yoke_chain *chain, int i, double spread, cut_element *e) {
  const double m1 = per_mass(&chain->mass, i - 1), m2 = per_mass(&chain->mass, i);
  const double power = chain->exponent_x * pow(spread, chain->exponent_x - 1.0);
  const double k     = per_mass(&chain->stiffness, i) + per_mass(&chain->stiffness_power, i) * power;
  set_mass_ratio(e, m1, m2);
  add_direction(e, k, per_mass(&chain->damping, i), reduced(m1, m2));
}

void cut_note(const cut_element *e, yoke_proposal *facts) {
  double    *range = facts->frequency_range;
  const bool first = facts->n_candidates == 0;
  if (e->is_rigid) return; /* the last resort, and of no frequency */
  ++facts->n_candidates;
  range[0] = first ? e->frequency : fmin(range[0], e->frequency);
  range[1] = first ? e->frequency : fmax(range[1], e->frequency);
}

yoke_status cut_take(yoke_context *ctx, const cut_element *e, char *name, const char *kind, const int part[2],
                     yoke_proposal *facts) {
  yoke_proposal_cut *more = realloc(facts->cuts, ((size_t)facts->n_cuts + 1) * sizeof *more);
  if (more == NULL) {
    free(name);
    return yoke_out_of_memory(ctx, "the proposal of a split");
  }
  facts->cuts            = more;
  yoke_proposal_cut *cut = &facts->cuts[facts->n_cuts++];
  *cut                   = (yoke_proposal_cut){.name       = name,
                                               .kind       = kind,
                                               .part       = {part[0], part[1]},
                                               .stiffness  = e->stiffness,
                                               .frequency  = e->frequency,
                                               .mass_ratio = e->mass_ratio,
                                               .is_loaded  = e->is_loaded,
                                               .is_rigid   = e->is_rigid};
  return cut->name != NULL ? YOKE_OK : yoke_out_of_memory(ctx, "the proposal of a split");
}

/* ---- bonds ---- */

static void visit_expression(const yoke_model *model, const yoke_expression *x, int *body, int *mass, cut_bond visit,
                             void *user) {
  if (x == NULL) return;
  for (int i = 0; i < yoke_expression_n_variables(x); ++i) {
    const int number = yoke_expression_variables(x)[i];
    if (number < 1 || number > model->n_variables) continue;
    int       bodies[2], masses[2];
    const int n = yoke_variable_bodies(model, &model->variables[number - 1], bodies, masses);
    for (int k = 0; k < n; ++k) {
      if (bodies[k] >= model->n_bodies) continue; /* of a port */
      if (*body >= 0) visit(user, *body, *mass, bodies[k], masses[k]);
      *body = bodies[k];
      *mass = masses[k];
    }
  }
}

bool cut_is_rigid(const yoke_connection *c) {
  return yoke_connection_is_joint(c->kind) && !c->flexible;
}

static bool is_of_chain(const yoke_model *model, const yoke_frame *frame) {
  return frame->body >= 0 && model->bodies[frame->body].kind == YOKE_BODY_CHAIN;
}

void cut_visit_bonds(const yoke_model *model, bool cuts_joints, cut_bond visit, void *user) {
  for (int i = 0; i < model->n_connections; ++i) {
    const yoke_connection *c = &model->connections[i];
    const yoke_frame      *a = &model->frames[c->frame[0]], *b = &model->frames[c->frame[1]];
    const bool is_bond = cut_is_rigid(c) && (!cuts_joints || is_of_chain(model, a) || is_of_chain(model, b));
    if ((is_bond || c->formula != NULL || c->kind == YOKE_CONNECTION_ROD_ELEMENT) && a->body >= 0 && b->body >= 0)
      visit(user, a->body, a->mass, b->body, b->mass);
    int body = a->body >= 0 ? a->body : b->body, mass = a->body >= 0 ? a->mass : b->mass;
    visit_expression(model, c->formula, &body, &mass, visit, user);
  }
  for (int i = 0; i < model->n_loads; ++i) {
    const yoke_load  *load  = &model->loads[i];
    const yoke_frame *frame = &model->frames[load->frame];
    int               body = frame->body, mass = frame->mass;
    for (int k = 0; k < 3; ++k) visit_expression(model, load->value[k], &body, &mass, visit, user);
  }
  for (int i = 0; i < model->n_events; ++i) {
    const yoke_event *event = &model->events[i];
    int               body = -1, mass = 0;
    visit_expression(model, event->when, &body, &mass, visit, user);
    for (int k = 0; k < event->n_set; ++k) {
      const yoke_variable *v = &model->variables[event->variable[k] - 1];
      if (body >= 0) visit(user, body, mass, v->body, v->mass);
      body = v->body;
      mass = v->mass;
      visit_expression(model, event->value[k], &body, &mass, visit, user);
    }
  }
}

bool cut_is_strong(const yoke_load *load) {
  return load->kind != YOKE_LOAD_DRAG;
}
