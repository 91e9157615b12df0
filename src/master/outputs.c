#include "master/outputs.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME_LENGTH = 256 };

static const char *const energy_name[] = {"energy", "kinetic", "potential", "dissipated", "external", "balance"};
enum { N_ENERGIES = sizeof energy_name / sizeof energy_name[0] };

static int q_offset(const yoke_outputs *o, int body) {
  return o->mb != NULL ? yoke_multibody_q_offset(o->mb, body) : 0;
}

static int v_offset(const yoke_outputs *o, int body) {
  return o->mb != NULL ? yoke_multibody_v_offset(o->mb, body) : 0;
}

/* Rows shown by a connection; its kind decides. */
static int connection_rows(const yoke_outputs *o, int connection) {
  static const int rows[] = {
      [YOKE_CONNECTION_ATPOINT] = 3,     [YOKE_CONNECTION_INPLANE] = 1,       [YOKE_CONNECTION_PERPENDICULAR] = 1,
      [YOKE_CONNECTION_SPHERICAL] = 3,   [YOKE_CONNECTION_REVOLUTE] = 5,      [YOKE_CONNECTION_UNIVERSAL] = 4,
      [YOKE_CONNECTION_CYLINDRICAL] = 4, [YOKE_CONNECTION_TRANSLATIONAL] = 5, [YOKE_CONNECTION_PLANAR] = 3,
      [YOKE_CONNECTION_INLINE] = 2,      [YOKE_CONNECTION_ORIENTATION] = 3,   [YOKE_CONNECTION_FIXED] = 6,
      [YOKE_CONNECTION_DISTANCE] = 1,    [YOKE_CONNECTION_SPRING_DAMPER] = 1, [YOKE_CONNECTION_TORSION_SPRING] = 1,
      [YOKE_CONNECTION_BUSHING] = 6,
  };
  const yoke_connection *c = &o->model->connections[connection];
  return rows[c->kind] + (c->motion != NULL ? 1 : 0);
}

static const char *component_unit(const yoke_body *body, bool is_velocity, int i) {
  switch (body->kind) {
  case YOKE_BODY_RIGID: return is_velocity ? (i < 3 ? "m/s" : "rad/s") : (i < 3 ? "m" : "1");
  case YOKE_BODY_PLANAR: return is_velocity ? (i < 2 ? "m/s" : "rad/s") : (i < 2 ? "m" : "rad");
  case YOKE_BODY_PARTICLE:
  case YOKE_BODY_MASS1D:
  case YOKE_BODY_CHAIN: break;
  }
  return is_velocity ? "m/s" : "m";
}

/* Walks all outputs in file order. Return false from `visit` to stop. */
typedef bool (*visitor)(void *user, const char *name, const char *unit, yoke_output output);

static bool visit_body(const yoke_outputs *o, int b, bool whole_chain, visitor visit, void *user) {
  const yoke_body *body = &o->model->bodies[b];
  char             name[MAX_NAME_LENGTH], component[40];
  for (int velocity = 0; velocity < 2; ++velocity) {
    const int n    = velocity ? yoke_body_nv(body) : yoke_body_nq(body);
    const int step = body->kind == YOKE_BODY_CHAIN && !whole_chain && n > 1 ? n - 1 : 1; /* first and last only */
    for (int i = 0; i < n; i += step) {
      if (!yoke_body_component_name(body, velocity != 0, i, component, sizeof component)) continue;
      snprintf(name, sizeof name, "%s.%s", body->name, component);
      const yoke_output output = {velocity ? YOKE_OUTPUT_V : YOKE_OUTPUT_Q,
                                  (velocity ? v_offset(o, b) : q_offset(o, b)) + i, 0};
      if (!visit(user, name, component_unit(body, velocity != 0, i), output)) return false;
    }
  }
  if (body->kind == YOKE_BODY_MASS1D) {
    snprintf(name, sizeof name, "%s.a", body->name);
    return visit(user, name, "m/s^2", (yoke_output){YOKE_OUTPUT_A, v_offset(o, b), 0});
  }
  return true;
}

static bool visit_connection(const yoke_outputs *o, int c, visitor visit, void *user) {
  const yoke_connection *connection = &o->model->connections[c];
  char                   name[MAX_NAME_LENGTH];
  for (int g = 0; g < 2; ++g) {
    for (int row = 0; row < connection_rows(o, c); ++row) {
      snprintf(name, sizeof name, "%s.%s[%d]", connection->name, g ? "g" : "force", row + 1);
      if (!visit(user, name, g ? "m, rad or 1" : "N or N m",
                 (yoke_output){g ? YOKE_OUTPUT_G : YOKE_OUTPUT_FORCE, c, row}))
        return false;
    }
  }
  return true;
}

/* The quadratures of positions sit before those of the energy at the end of q. */
static int integral_index(const yoke_outputs *o, int k) {
  const int n_energy = o->has_energy ? 2 : 0;
  return o->equations->nq - n_energy - o->model->output.n_integrals + k;
}

static bool visit_all(const yoke_outputs *o, bool whole_chains, visitor visit, void *user) {
  char name[MAX_NAME_LENGTH];
  for (int b = 0; b < o->model->n_bodies; ++b) {
    const yoke_body *body  = &o->model->bodies[b];
    const bool       whole = whole_chains || body->kind != YOKE_BODY_CHAIN || body->chain->n <= YOKE_OUTPUT_CHAIN_LIMIT;
    if (!visit_body(o, b, whole, visit, user)) return false;
  }
  for (int k = 0; k < o->model->output.n_integrals; ++k) {
    snprintf(name, sizeof name, "%s.integral", o->model->output.integrals[k]);
    if (!visit(user, name, "m s", (yoke_output){YOKE_OUTPUT_Q, integral_index(o, k), 0})) return false;
  }
  for (int c = 0; c < o->model->n_connections; ++c) {
    if (!visit_connection(o, c, visit, user)) return false;
  }
  for (int k = 0; k < N_ENERGIES; ++k) {
    if (!o->has_energy && k > 2) continue; /* needs the quadratures */
    snprintf(name, sizeof name, "total.%s", energy_name[k]);
    if (!visit(user, name, "J", (yoke_output){YOKE_OUTPUT_ENERGY, 0, k})) return false;
  }
  return true;
}

/* --- selection ---------------------------------------------------------------------------------------------- */

typedef struct selection {
  yoke_outputs *outputs;
  int           n_patterns;
  size_t        capacity[3]; /* of list, name, unit */
  char *const  *patterns;
  bool         *used;
  bool          out_of_memory;
} selection;

static bool select_one(void *user, const char *name, const char *unit, yoke_output output) {
  selection    *s      = user;
  yoke_outputs *o      = s->outputs;
  bool          wanted = s->n_patterns == 0;
  for (int k = 0; k < s->n_patterns; ++k) {
    if (yoke_text_matches(s->patterns[k], name)) wanted = s->used[k] = true;
  }
  if (!wanted) return true;
  const size_t n    = (size_t)o->n + 1;
  char        *copy = yoke_arena_text(&o->arena, name);
  if (copy == NULL || !yoke_grow(&o->list, &s->capacity[0], n, sizeof *o->list) ||
      !yoke_grow(&o->name, &s->capacity[1], n, sizeof *o->name) ||
      !yoke_grow(&o->unit, &s->capacity[2], n, sizeof *o->unit)) {
    s->out_of_memory = true;
    return false;
  }
  o->list[o->n] = output;
  o->name[o->n] = copy;
  o->unit[o->n] = unit;
  ++o->n;
  if (output.kind == YOKE_OUTPUT_A || output.kind == YOKE_OUTPUT_FORCE) o->needs_acceleration = true;
  if (output.kind == YOKE_OUTPUT_ENERGY) o->needs_energy = true;
  return true;
}

/* Nearest of all names, for a message. */
typedef struct search {
  const char *wanted;
  bool        is_pattern;
  char        nearest[MAX_NAME_LENGTH];
  bool        found;
  yoke_output output;
} search;

static bool search_one(void *user, const char *name, const char *unit, yoke_output output) {
  search *s = user;
  (void)unit;
  if (strcmp(name, s->wanted) == 0) {
    s->found  = true;
    s->output = output;
    return false;
  }
  const char *candidates[2] = {name, s->nearest};
  const char *best          = yoke_text_nearest(s->wanted, candidates, s->nearest[0] != '\0' ? 2 : 1);
  if (best == name) snprintf(s->nearest, sizeof s->nearest, "%s", name);
  return true;
}

yoke_status yoke_outputs_create(yoke_context *ctx, const yoke_model *model, const yoke_multibody *mb,
                                const yoke_equations *equations, bool has_energy, int n_patterns, char *const *patterns,
                                yoke_outputs *out) {
  *out        = (yoke_outputs){.model = model, .mb = mb, .equations = equations, .has_energy = has_energy};
  selection s = {.outputs = out, .n_patterns = n_patterns, .patterns = patterns};
  s.used      = calloc((size_t)n_patterns + 1, sizeof *s.used);
  if (s.used == NULL) return yoke_out_of_memory(ctx, "the outputs");
  visit_all(out, n_patterns > 0, select_one, &s);
  yoke_status status = s.out_of_memory ? yoke_out_of_memory(ctx, "the outputs") : YOKE_OK;
  for (int k = 0; k < n_patterns && status == YOKE_OK; ++k) {
    if (s.used[k]) continue;
    search near = {.wanted = patterns[k]};
    visit_all(out, false, search_one, &near);
    status =
        yoke_fail(ctx, YOKE_E_MODEL, "output.select: '%s' matches no output%s%s%s", patterns[k],
                  near.nearest[0] != '\0' ? "; did you mean '" : "", near.nearest, near.nearest[0] != '\0' ? "'?" : "");
  }
  free(s.used);
  if (status != YOKE_OK) yoke_outputs_clear(out);
  return status;
}

void yoke_outputs_clear(yoke_outputs *outputs) {
  free(outputs->name);
  free(outputs->list);
  free(outputs->unit);
  yoke_arena_free(&outputs->arena);
  *outputs = (yoke_outputs){0};
}

/* "chain.x[123]" without walking ten million names. */
static bool find_in_chain(const yoke_outputs *o, const char *name, yoke_output *out) {
  const char *dot = strrchr(name, '.');
  if (dot == NULL || dot == name || (size_t)(dot - name) >= MAX_NAME_LENGTH) return false;
  char body_name[MAX_NAME_LENGTH];
  snprintf(body_name, sizeof body_name, "%.*s", (int)(dot - name), name);
  const int b = yoke_model_find_body(o->model, body_name);
  if (b < 0 || o->model->bodies[b].kind != YOKE_BODY_CHAIN) return false;
  yoke_variable variable;
  if (!yoke_body_component_find(&o->model->bodies[b], dot + 1, &variable)) return false;
  const int offset = variable.is_velocity ? v_offset(o, b) : q_offset(o, b);
  *out             = (yoke_output){variable.is_velocity ? YOKE_OUTPUT_V : YOKE_OUTPUT_Q, offset + variable.mass, 0};
  return true;
}

yoke_status yoke_outputs_find(yoke_context *ctx, const yoke_outputs *outputs, const char *name, yoke_output *out) {
  if (find_in_chain(outputs, name, out)) return YOKE_OK;
  search s = {.wanted = name};
  visit_all(outputs, false, search_one, &s);
  if (s.found) {
    *out = s.output;
    return YOKE_OK;
  }
  return yoke_fail(ctx, YOKE_E_USAGE, "there is no output '%s'%s%s%s", name,
                   s.nearest[0] != '\0' ? "; did you mean '" : "", s.nearest, s.nearest[0] != '\0' ? "'?" : "");
}

static bool count_one(void *user, const char *name, const char *unit, yoke_output output) {
  (void)name;
  (void)unit;
  (void)output;
  ++*(int64_t *)user;
  return true;
}

int64_t yoke_outputs_count_all(const yoke_outputs *outputs) {
  int64_t n = 0;
  visit_all(outputs, true, count_one, &n);
  return n;
}

double yoke_energy_balance(const yoke_energy *energy) {
  return energy->kinetic + energy->potential + energy->dissipated - energy->external;
}

double yoke_outputs_value(const yoke_outputs *outputs, const yoke_output *output, const yoke_sample *sample,
                          void *work) {
  double force[7] = {0}, g[7] = {0};
  switch (output->kind) {
  case YOKE_OUTPUT_Q: return sample->q[output->index];
  case YOKE_OUTPUT_V: return sample->v[output->index];
  case YOKE_OUTPUT_A: return sample->a[output->index];
  case YOKE_OUTPUT_FORCE:
  case YOKE_OUTPUT_G:
    yoke_multibody_connection_output(outputs->mb, work, output->index, sample->t, sample->q, sample->v, sample->lambda,
                                     force, g);
    return output->kind == YOKE_OUTPUT_FORCE ? force[output->row] : g[output->row];
  case YOKE_OUTPUT_ENERGY: break;
  }
  const yoke_energy *e          = &sample->energy;
  const double part[N_ENERGIES] = {e->kinetic + e->potential, e->kinetic, e->potential, e->dissipated, e->external,
                                   yoke_energy_balance(e)};
  return part[output->row];
}
