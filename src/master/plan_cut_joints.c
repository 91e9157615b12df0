/* Joints between two parts: no part has their coordinates and forces. Their forces are inputs of the sides that feel them. Whoever reads a coordinate
 * reads, in its place, an expression of states of the two bodies, which are signals as any other. The model gets loads, laws and events with such expressions, and the variables that they read behind its own. */
#include "master/plan_builder.h"

#include "model/joint_formula.h"
#include <stdlib.h>
#include <string.h>

/* What is being rewritten: coordinate k of the model is inner[k + 1], NULL where it stays. */
typedef struct rewriting {
  plan_builder           *b;
  yoke_model             *model;
  size_t                  capacity;
  const yoke_expression **inner; /* [n_variables of the file + 1] */
} rewriting;

bool plan_is_cut_joint(const plan_builder *b, const yoke_variable *v) {
  int part[2];
  if (v->kind != YOKE_VARIABLE_JOINT) return false;
  plan_connection_parts(b, v->object, part);
  return part[0] != part[1];
}

/* Input of a side of a coupling that is the multiplier of a row; -1: none. */
static int multiplier_of(const yoke_plan *plan, int coupling, int row, int side) {
  const yoke_wire    *wire = &plan->wires[coupling];
  int                 n;
  const yoke_channel *channels = wire->formulation->channels(wire->self, &n);
  for (int i = 0; wire->input_at[side] != NULL && i < n; ++i) {
    if (channels[i].enters[side] == YOKE_ENTRY_LAMBDA && channels[i].component == row) return wire->input_at[side][i];
  }
  return -1;
}

bool plan_find_multiplier(const plan_builder *b, int connection, int row, int part, int *side_part, int *input) {
  const int                 coupling = b->connections[connection].own;
  const yoke_plan_coupling *k        = coupling >= 0 ? &b->plan->couplings[coupling] : NULL;
  const int                 first    = k != NULL && k->part[1] == part ? 1 : 0;
  for (int i = 0; k != NULL && i < 2; ++i) {
    const int side = i == 0 ? first : 1 - first;
    *input         = multiplier_of(b->plan, coupling, row, side);
    *side_part     = k->part[side];
    if (*input >= 0) return true;
  }
  return false;
}

static bool is_same(const yoke_variable *x, const yoke_variable *y) {
  return x->kind == y->kind && x->object == y->object && x->body == y->body && x->mass == y->mass &&
         x->is_velocity == y->is_velocity && x->component == y->component;
}

/* Number of a variable that is there, or of a new one. */
static int number_of(void *user, const yoke_variable *variable) {
  const rewriting *x = user;
  yoke_model      *m = x->model;
  for (int k = 0; k < m->n_variables; ++k) {
    if (is_same(&m->variables[k], variable)) return k + 1;
  }
  if ((size_t)m->n_variables == x->capacity) return 0;
  m->variables[m->n_variables++] = *variable;
  return m->n_variables;
}

/* The expression that takes the place of *e, which the builder owns. */
static yoke_status rewrite(const rewriting *x, const char *what, const char *name, yoke_expression **e) {
  plan_builder *b        = x->b;
  bool          is_there = false;
  for (int k = 0; *e != NULL && k < yoke_expression_n_variables(*e); ++k)
    is_there = is_there || x->inner[yoke_expression_variables(*e)[k]] != NULL;
  if (!is_there) return YOKE_OK;
  if (!yoke_grow(&b->rewritten, &b->capacity_rewritten, (size_t)b->n_rewritten + 1, sizeof(yoke_expression *)))
    return plan_no_memory(b);
  const yoke_status status = yoke_expression_replace(*e, NULL, x->inner, &b->rewritten[b->n_rewritten]);
  if (status == YOKE_E_MODEL)
    return yoke_fail(b->ctx, YOKE_E_MODEL,
                     "%s '%s' reads coordinates of joints between subsystems too often: write a shorter expression",
                     what, name);
  if (status != YOKE_OK) return plan_no_memory(b);
  *e = b->rewritten[b->n_rewritten++];
  return YOKE_OK;
}

static yoke_status rewrite_events(const rewriting *x) {
  for (int i = 0; i < x->model->n_events; ++i) {
    yoke_event *event = &x->model->events[i];
    event->value = yoke_arena_copy(&x->b->plan->arena, event->value, (size_t)event->n_set, sizeof(yoke_expression *));
    if (x->b->plan->arena.has_failed) return plan_no_memory(x->b);
    YOKE_TRY(rewrite(x, "event", event->name, &event->when));
    for (int k = 0; k < event->n_set; ++k) YOKE_TRY(rewrite(x, "event", event->name, &event->value[k]));
  }
  return YOKE_OK;
}

static yoke_status rewrite_all(const rewriting *x) {
  for (int c = 0; c < x->model->n_connections; ++c) {
    yoke_connection *connection = &x->model->connections[c];
    YOKE_TRY(rewrite(x, "the law of", connection->name, &connection->formula));
  }
  for (int i = 0; i < x->model->n_loads; ++i) {
    yoke_load *load = &x->model->loads[i];
    for (int k = 0; k < 3; ++k) YOKE_TRY(rewrite(x, "load", load->name, &load->value[k]));
  }
  return rewrite_events(x);
}

/* Lists of its own for what is rewritten. */
static yoke_status copy_model(plan_builder *b, size_t n_variables) {
  yoke_model *m      = &b->standing;
  yoke_arena *arena  = &b->plan->arena;
  *m                 = *b->model;
  m->connections     = yoke_arena_copy(arena, m->connections, (size_t)m->n_connections, sizeof *m->connections);
  m->loads           = yoke_arena_copy(arena, m->loads, (size_t)m->n_loads, sizeof *m->loads);
  m->events          = yoke_arena_copy(arena, m->events, (size_t)m->n_events, sizeof *m->events);
  yoke_variable *own = yoke_arena_take(arena, n_variables, sizeof *own);
  if (arena->has_failed) return plan_no_memory(b);
  memcpy(own, m->variables, (size_t)m->n_variables * sizeof *own);
  m->variables = own;
  b->model     = m;
  return YOKE_OK;
}

yoke_status plan_rewrite_joints(plan_builder *b) {
  const int n    = b->model->n_variables;
  size_t    most = (size_t)n;
  for (int k = 0; k < n; ++k) most += plan_is_cut_joint(b, &b->model->variables[k]) ? YOKE_JOINT_FORMULA_MOST : 0;
  if (most == (size_t)n) return YOKE_OK;
  YOKE_TRY(copy_model(b, most));
  yoke_expression **made   = yoke_allocate((size_t)n + 1, sizeof(yoke_expression *));
  rewriting         x      = {.b        = b,
                              .model    = &b->standing,
                              .capacity = most,
                              .inner    = yoke_allocate((size_t)n + 1, sizeof(const yoke_expression *))};
  yoke_status       status = made == NULL || x.inner == NULL ? plan_no_memory(b) : YOKE_OK;
  for (int k = 0; k < n && status == YOKE_OK; ++k) {
    const yoke_variable v = b->model->variables[k];
    if (!plan_is_cut_joint(b, &v)) continue;
    status = yoke_joint_formula(b->model, v.object, v.component, v.is_velocity, number_of, &x, &made[k + 1]);
    if (status != YOKE_OK) status = plan_no_memory(b);
    x.inner[k + 1] = made[k + 1];
  }
  if (status == YOKE_OK) status = rewrite_all(&x);
  for (int k = 0; made != NULL && k <= n; ++k) yoke_expression_destroy(&made[k]);
  free(made);
  free(x.inner);
  return status;
}
