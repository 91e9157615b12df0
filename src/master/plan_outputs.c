/* Names of all outputs of a plan, and the selection that the user wants. */
#include "master/plan_builder.h"

#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME_LENGTH = 256 };

/* Chains with more masses show only their first and last mass unless a pattern asks for more. */
enum { CHAIN_LIMIT = 1000 };

static const char *const total_name[YOKE_N_TOTALS] = {"energy",     "kinetic",  "potential",
                                                      "dissipated", "external", "balance"};

typedef struct named_body {
  char          *name;
  yoke_body_kind kind;
  int            n; /* masses */
} named_body;

typedef struct named_connection {
  char *name;
  int   n_rows;
  int   part, own; /* part < 0: it is wire `own`; own < 0: nothing can feel it */
  bool  is_flexible_joint;
} named_connection;

struct yoke_plan_directory {
  int               n_bodies, n_connections, n_integrals;
  named_body       *bodies;
  named_connection *connections;
  char            **integrals; /* "a.x" */
  bool              has_work;  /* dissipated and external work are integrated along */
};

/* Rows shown by a connection; its kind decides. */
static int connection_rows(const yoke_connection *connection) {
  static const int rows[] = {
      [YOKE_CONNECTION_ATPOINT] = 3,     [YOKE_CONNECTION_INPLANE] = 1,       [YOKE_CONNECTION_PERPENDICULAR] = 1,
      [YOKE_CONNECTION_SPHERICAL] = 3,   [YOKE_CONNECTION_REVOLUTE] = 5,      [YOKE_CONNECTION_UNIVERSAL] = 4,
      [YOKE_CONNECTION_CYLINDRICAL] = 4, [YOKE_CONNECTION_TRANSLATIONAL] = 5, [YOKE_CONNECTION_PLANAR] = 3,
      [YOKE_CONNECTION_INLINE] = 2,      [YOKE_CONNECTION_ORIENTATION] = 3,   [YOKE_CONNECTION_FIXED] = 6,
      [YOKE_CONNECTION_DISTANCE] = 1,    [YOKE_CONNECTION_SPRING_DAMPER] = 1, [YOKE_CONNECTION_TORSION_SPRING] = 1,
      [YOKE_CONNECTION_BUSHING] = 6,
  };
  return rows[connection->kind] + (connection->motion != NULL ? 1 : 0);
}

static const char *component_unit(yoke_body_kind kind, bool is_velocity, int i) {
  switch (kind) {
  case YOKE_BODY_RIGID: return is_velocity ? (i < 3 ? "m/s" : "rad/s") : (i < 3 ? "m" : "1");
  case YOKE_BODY_PLANAR: return is_velocity ? (i < 2 ? "m/s" : "rad/s") : (i < 2 ? "m" : "rad");
  case YOKE_BODY_PARTICLE:
  case YOKE_BODY_MASS1D:
  case YOKE_BODY_CHAIN: break;
  }
  return is_velocity ? "m/s" : "m";
}

/* ---- walk ---- */

/* Walks all outputs in file order. */
typedef struct walk {
  const yoke_plan *plan;
  bool             whole_chains, with_hidden, with_absent; /* absent: what only couplings show, of every connection */
  yoke_output_visitor visit;
  void               *user;
} walk;

/* As the model's own functions see it. */
static yoke_body body_of(const named_body *body, yoke_chain *chain) {
  *chain = (yoke_chain){.n = body->n};
  return (yoke_body){.kind = body->kind, .chain = body->kind == YOKE_BODY_CHAIN ? chain : NULL};
}

static yoke_output component_output(const yoke_plan *plan, int b, yoke_native_quantity quantity, int i) {
  const bool       is_chain = plan->directory->bodies[b].kind == YOKE_BODY_CHAIN;
  const yoke_place place    = yoke_place_find(&plan->places, b, is_chain ? i : 0);
  return (yoke_output){.source = YOKE_OUTPUT_PART,
                       .index  = place.part,
                       .handle = yoke_native_handle(quantity, place.body, is_chain ? place.mass : i)};
}

static bool visit_body(const walk *w, int b) {
  const named_body *named = &w->plan->directory->bodies[b];
  yoke_chain        chain;
  const yoke_body   body  = body_of(named, &chain);
  const bool        whole = w->whole_chains || named->kind != YOKE_BODY_CHAIN || named->n <= CHAIN_LIMIT;
  char              name[MAX_NAME_LENGTH], component[40];
  for (int velocity = 0; velocity < 2; ++velocity) {
    const int n    = velocity ? yoke_body_nv(&body) : yoke_body_nq(&body);
    const int step = !whole && n > 1 ? n - 1 : 1; /* first and last only */
    for (int i = 0; i < n; i += step) {
      if (!yoke_body_component_name(&body, velocity != 0, i, component, sizeof component)) continue;
      snprintf(name, sizeof name, "%s.%s", named->name, component);
      const yoke_output output = component_output(w->plan, b, velocity ? YOKE_NATIVE_V : YOKE_NATIVE_Q, i);
      if (!w->visit(w->user, name, component_unit(named->kind, velocity != 0, i), &output)) return false;
    }
  }
  if (named->kind != YOKE_BODY_MASS1D) return true;
  const yoke_output output = component_output(w->plan, b, YOKE_NATIVE_A, 0);
  snprintf(name, sizeof name, "%s.a", named->name);
  return w->visit(w->user, name, "m/s^2", &output);
}

static yoke_output row_output(const named_connection *c, yoke_wire_quantity quantity, int row) {
  if (c->own < 0) return (yoke_output){.source = YOKE_OUTPUT_ZERO};
  if (c->part < 0) {
    return (yoke_output){.source    = YOKE_OUTPUT_WIRE,
                         .index     = c->own,
                         .row       = row,
                         .quantity  = quantity,
                         .is_turned = c->is_flexible_joint};
  }
  return (yoke_output){
      .source = YOKE_OUTPUT_PART,
      .index  = c->part,
      .handle = yoke_native_handle(quantity == YOKE_WIRE_G ? YOKE_NATIVE_G : YOKE_NATIVE_FORCE, c->own, row)};
}

/* Has a coupling values at nodes inside the macro step? */
static bool has_inner_nodes(const yoke_plan *plan, int wire) {
  const yoke_wire *own = &plan->wires[wire];
  for (int k = 0; k < plan_n_channels(own); ++k) {
    yoke_layout layout;
    own->formulation->layout(own->self, k, plan->scheme.order, &layout);
    if (yoke_layout_n_nodes(&layout) > 1) return true;
  }
  return false;
}

static bool visit_connection(const walk *w, const named_connection *c) {
  static const struct {
    yoke_wire_quantity quantity;
    const char        *word, *unit;
    bool               is_hidden;
  } kinds[] = {{YOKE_WIRE_FORCE, "force", "N or N m", false},
               {YOKE_WIRE_G, "g", "m, rad or 1", false},
               {YOKE_WIRE_MISMATCH, "mismatch", "N or N m", true},
               {YOKE_WIRE_FORCE_MEAN, "force_mean", "N or N m", true}};
  char name[MAX_NAME_LENGTH];
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; ++k) {
    const bool is_shown =
        !kinds[k].is_hidden ||
        (c->part < 0 && c->own >= 0 && (kinds[k].quantity != YOKE_WIRE_FORCE_MEAN || has_inner_nodes(w->plan, c->own)));
    if (kinds[k].is_hidden && !w->with_hidden) continue;
    if (!is_shown && !w->with_absent) continue;
    for (int row = 0; row < c->n_rows; ++row) {
      const yoke_output output = row_output(c, kinds[k].quantity, row);
      snprintf(name, sizeof name, "%s.%s[%d]", c->name, kinds[k].word, row + 1);
      if (!w->visit(w->user, name, kinds[k].unit, &output)) return false;
    }
  }
  return true;
}

static bool visit_all(const walk *w) {
  const yoke_plan_directory *d = w->plan->directory;
  char                       name[MAX_NAME_LENGTH];
  for (int b = 0; b < d->n_bodies; ++b) {
    if (!visit_body(w, b)) return false;
  }
  for (int k = 0; k < d->n_integrals; ++k) {
    const yoke_output output = {.source = YOKE_OUTPUT_PART,
                                .index  = w->plan->integrals[k].part,
                                .handle = yoke_native_handle(YOKE_NATIVE_INTEGRAL, w->plan->integrals[k].own, 0)};
    snprintf(name, sizeof name, "%s.integral", d->integrals[k]);
    if (!w->visit(w->user, name, "m s", &output)) return false;
  }
  for (int c = 0; c < d->n_connections; ++c) {
    if (!visit_connection(w, &d->connections[c])) return false;
  }
  for (int k = 0; k < YOKE_N_TOTALS; ++k) {
    const yoke_output output = {.source = YOKE_OUTPUT_TOTAL, .row = k};
    if (!d->has_work && k >= YOKE_TOTAL_DISSIPATED) break;
    snprintf(name, sizeof name, "total.%s", total_name[k]);
    if (!w->visit(w->user, name, "J", &output)) return false;
  }
  return true;
}

/* ---- selection ---- */

typedef struct selection {
  yoke_output_list *list;
  int               n_patterns;
  char *const      *patterns;
  bool             *used;
  bool              out_of_memory;
} selection;

/* What is not shown by itself is named by a pattern that has its word. */
static bool is_meant(const char *pattern, const char *name) {
  if (strstr(name, ".force_mean[") != NULL && strstr(pattern, "force_mean") == NULL) return false;
  return yoke_text_matches(pattern, name) &&
         (strstr(name, ".mismatch[") == NULL || strstr(pattern, "mismatch") != NULL);
}

static bool select_one(void *user, const char *name, const char *unit, const yoke_output *output) {
  selection *s      = user;
  bool       wanted = s->n_patterns == 0;
  for (int k = 0; k < s->n_patterns; ++k) {
    if (is_meant(s->patterns[k], name)) wanted = s->used[k] = true;
  }
  if (!wanted) return true;
  s->out_of_memory = !yoke_output_list_add(s->list, output, name, unit);
  return !s->out_of_memory;
}

/* Nearest of all names, for a message. */
typedef struct search {
  const char *wanted;
  char        nearest[MAX_NAME_LENGTH];
} search;

static bool search_one(void *user, const char *name, const char *unit, const yoke_output *output) {
  search *s = user;
  (void)unit, (void)output;
  const char *candidates[2] = {name, s->nearest};
  const char *best          = yoke_text_nearest(s->wanted, candidates, s->nearest[0] != '\0' ? 2 : 1);
  if (best == name) snprintf(s->nearest, sizeof s->nearest, "%s", name);
  return true;
}

/* Is it an energy that this run does not account for? */
static bool is_work(const yoke_plan *plan, const char *pattern) {
  for (int k = YOKE_TOTAL_DISSIPATED; !plan->directory->has_work && k < YOKE_N_TOTALS; ++k) {
    char name[40];
    snprintf(name, sizeof name, "total.%s", total_name[k]);
    if (yoke_text_matches(pattern, name)) return true;
  }
  return false;
}

typedef struct absence {
  const char *pattern;
  bool        is_met;
} absence;

static bool meet_one(void *user, const char *name, const char *unit, const yoke_output *output) {
  absence *a = user;
  (void)unit, (void)output;
  a->is_met = is_meant(a->pattern, name);
  return !a->is_met;
}

/* Does it name what a connection shows with another split or method? The same file runs as a whole and with every method. */
static bool is_absent(const yoke_plan *plan, const char *pattern) {
  absence a = {.pattern = pattern};
  visit_all(&(walk){.plan = plan, .with_hidden = true, .with_absent = true, .visit = meet_one, .user = &a});
  return a.is_met;
}

static const char *const no_work = "work is not integrated along in this run; use cosimulation.energy monitor";

yoke_status plan_select_outputs(plan_builder *b) {
  const yoke_output_def *def = &b->model->output;
  selection              s   = {.list = &b->plan->outputs, .n_patterns = def->n_select, .patterns = def->select};
  s.used                     = yoke_allocate((size_t)def->n_select + 1, sizeof *s.used);
  if (s.used == NULL) return plan_no_memory(b);
  visit_all(&(walk){.plan         = b->plan,
                    .whole_chains = def->n_select > 0,
                    .with_hidden  = def->n_select > 0,
                    .visit        = select_one,
                    .user         = &s});
  yoke_status status = s.out_of_memory ? plan_no_memory(b) : YOKE_OK;
  for (int k = 0; k < def->n_select && status == YOKE_OK; ++k) {
    if (s.used[k]) continue;
    if (is_absent(b->plan, def->select[k])) {
      yoke_note(b->ctx, "output.select: '%s' matches no output of this run", def->select[k]);
      continue;
    }
    if (is_work(b->plan, def->select[k])) {
      status = yoke_fail(b->ctx, YOKE_E_MODEL, "output.select: '%s' does not exist: %s", def->select[k], no_work);
      continue;
    }
    search near = {.wanted = def->select[k]};
    visit_all(&(walk){.plan = b->plan, .with_hidden = true, .visit = search_one, .user = &near});
    status =
        yoke_fail(b->ctx, YOKE_E_MODEL, "output.select: '%s' matches no output%s%s%s", def->select[k],
                  near.nearest[0] != '\0' ? "; did you mean '" : "", near.nearest, near.nearest[0] != '\0' ? "'?" : "");
  }
  free(s.used);
  return status;
}

/* ---- questions ---- */

/* "chain.x[123]" without walking ten million names. */
static bool find_in_chain(const yoke_plan *plan, const char *name, yoke_output *out) {
  const char *dot = strrchr(name, '.');
  if (dot == NULL || dot == name || (size_t)(dot - name) >= MAX_NAME_LENGTH) return false;
  const size_t length = (size_t)(dot - name);
  for (int b = 0; b < plan->directory->n_bodies; ++b) {
    const named_body *named = &plan->directory->bodies[b];
    if (strlen(named->name) != length || strncmp(named->name, name, length) != 0) continue;
    yoke_chain      chain;
    yoke_variable   variable;
    const yoke_body body = body_of(named, &chain);
    if (named->kind != YOKE_BODY_CHAIN || !yoke_body_component_find(&body, dot + 1, &variable)) return false;
    *out = component_output(plan, b, variable.is_velocity ? YOKE_NATIVE_V : YOKE_NATIVE_Q, variable.mass);
    return true;
  }
  return false;
}

typedef struct match {
  const char  *name;
  bool         is_found;
  yoke_output *output;
} match;

static bool match_one(void *user, const char *name, const char *unit, const yoke_output *output) {
  match *m = user;
  (void)unit;
  m->is_found = strcmp(name, m->name) == 0;
  if (m->is_found) *m->output = *output;
  return !m->is_found;
}

yoke_status yoke_plan_find_output(yoke_context *ctx, const yoke_plan *plan, const char *name, yoke_output *out) {
  for (int i = 0; i < plan->outputs.n; ++i) { /* also those that were added */
    if (strcmp(plan->outputs.name[i], name) != 0) continue;
    *out = plan->outputs.list[i];
    return YOKE_OK;
  }
  if (find_in_chain(plan, name, out)) return YOKE_OK;
  match exact = {.name = name, .output = out};
  visit_all(&(walk){.plan = plan, .with_hidden = true, .visit = match_one, .user = &exact});
  if (exact.is_found) return YOKE_OK;
  search s = {.wanted = name};
  visit_all(&(walk){.plan = plan, .with_hidden = true, .visit = search_one, .user = &s});
  if (is_work(plan, name)) return yoke_fail(ctx, YOKE_E_USAGE, "output '%s' does not exist: %s", name, no_work);
  return yoke_fail(ctx, YOKE_E_USAGE, "there is no output '%s'%s%s%s", name,
                   s.nearest[0] != '\0' ? "; did you mean '" : "", s.nearest, s.nearest[0] != '\0' ? "'?" : "");
}

void yoke_plan_visit_outputs(const yoke_plan *plan, yoke_output_visitor visit, void *user) {
  visit_all(&(walk){.plan = plan, .whole_chains = true, .with_hidden = true, .visit = visit, .user = user});
}

static bool count_one(void *user, const char *name, const char *unit, const yoke_output *output) {
  (void)name;
  (void)unit;
  (void)output;
  ++*(int64_t *)user;
  return true;
}

int64_t yoke_plan_count_outputs(const yoke_plan *plan) {
  int64_t n = 0;
  visit_all(&(walk){.plan = plan, .whole_chains = true, .visit = count_one, .user = &n});
  return n;
}

/* ---- creation ---- */

yoke_status plan_name_outputs(plan_builder *b) {
  const yoke_model    *model = b->model;
  yoke_arena          *arena = &b->plan->arena;
  yoke_plan_directory *d     = yoke_arena_take(arena, 1, sizeof *d);
  if (d == NULL) return plan_no_memory(b);
  b->plan->directory = d;
  d->bodies          = yoke_arena_take(arena, (size_t)model->n_bodies + 1, sizeof *d->bodies);
  d->connections     = yoke_arena_take(arena, (size_t)model->n_connections + 1, sizeof *d->connections);
  d->integrals       = yoke_arena_take(arena, (size_t)model->output.n_integrals + 1, sizeof *d->integrals);
  if (arena->has_failed) return plan_no_memory(b);
  d->n_bodies      = model->n_bodies;
  d->n_connections = model->n_connections;
  d->n_integrals   = model->output.n_integrals;
  d->has_work      = b->plan->has_work;
  for (int i = 0; i < d->n_bodies; ++i) {
    const yoke_body *body = &model->bodies[i];
    d->bodies[i]          = (named_body){.name = yoke_arena_text(arena, body->name),
                                         .kind = body->kind,
                                         .n    = body->kind == YOKE_BODY_CHAIN ? body->chain->n : 1};
  }
  for (int c = 0; c < d->n_connections; ++c) {
    const yoke_connection *connection = &model->connections[c];
    d->connections[c] =
        (named_connection){.name              = yoke_arena_text(arena, connection->name),
                           .n_rows            = connection_rows(connection),
                           .part              = b->connections[c].part,
                           .own               = b->connections[c].own,
                           .is_flexible_joint = connection->flexible && yoke_connection_is_joint(connection->kind)};
  }
  for (int k = 0; k < d->n_integrals; ++k) d->integrals[k] = yoke_arena_text(arena, model->output.integrals[k]);
  return arena->has_failed ? plan_no_memory(b) : YOKE_OK;
}

/* ---- work ---- */

static bool asks_for_work(int n, const char *const *names) {
  for (int i = 0; i < n; ++i) {
    for (int k = YOKE_TOTAL_DISSIPATED; k < YOKE_N_TOTALS; ++k) {
      char name[40];
      snprintf(name, sizeof name, "total.%s", total_name[k]);
      if (strncmp(names[i], "total", 5) == 0 && yoke_text_matches(names[i], name)) return true;
    }
  }
  return false;
}

/* A run as a whole integrates work along unless it is solved by `exact`, which takes linear equations only; a bare chain, whose fast kernel it
 * would slow down, and a split model where somebody asks for it. */
bool plan_needs_work(const yoke_model *model, const yoke_plan_options *options) {
  if (model->energy >= 0) return model->energy == 1;
  const bool is_asked = asks_for_work(model->output.n_select, (const char *const *)model->output.select) ||
                        asks_for_work(options->n_print, options->print);
  if (!options->is_whole) return is_asked;
  const bool is_one_chain = model->n_bodies == 1 && model->bodies[0].kind == YOKE_BODY_CHAIN &&
                            model->n_connections == 0 && model->n_loads == 0 && model->n_events == 0;
  return (!is_one_chain || is_asked) && strcmp(model->solver.kind, "exact") != 0;
}

/* ---- other subsystems ---- */

void yoke_plan_replace_part(yoke_plan *plan, int part, const void *definition,
                            yoke_status (*make)(yoke_context *ctx, const void *definition, yoke_subsystem **out)) {
  yoke_output_list *list       = &plan->outputs;
  int               n          = 0;
  plan->parts[part].definition = definition;
  plan->parts[part].make       = make;
  plan->parts[part].residual   = YOKE_NO_HANDLE;
  for (int i = 0; i < list->n; ++i) {
    if (list->list[i].source == YOKE_OUTPUT_PART && list->list[i].index == part) continue;
    list->list[n]   = list->list[i];
    list->name[n]   = list->name[i];
    list->unit[n++] = list->unit[i];
  }
  list->n = n;
}

yoke_status yoke_plan_add_output(yoke_context *ctx, yoke_plan *plan, int part, int64_t handle, const char *name,
                                 const char *unit) {
  const yoke_output output = {.source = YOKE_OUTPUT_PART, .index = part, .handle = handle};
  return yoke_output_list_add(&plan->outputs, &output, name, unit) ? YOKE_OK
                                                                   : yoke_out_of_memory(ctx, "output '%s'", name);
}
