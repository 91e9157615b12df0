/* A plan as bytes: the same walk writes and reads it (base/ferry.h). What parts are made of comes last, and only for those that are asked for. */
#include "master/foreign_part.h"
#include "master/plan_bytes.h"
#include "master/plan_directory.h"

#include "base/ferry.h"
#include "coupling/scheme.h"
#include "model/model_ferry.h"
#include <limits.h>
#include <stdlib.h>

/* What a walk knows besides. */
typedef struct plan_ferry {
  yoke_ferry    c;
  yoke_plan    *plan;
  yoke_context *ctx;
  const int    *owner; /* writing; NULL: all parts go */
  int           rank;
  yoke_status   status; /* reading: of what was made on the way */
} plan_ferry;

/* ---- couplings ---- */

static void ferry_link(yoke_ferry *c, yoke_link *link) {
  for (int side = 0; side < 2; ++side) {
    yoke_ferry_index(c, &link->node[side], 0, 1);
    yoke_ferry_doubles(c, 3, link->origin[side]);
    yoke_ferry_doubles(c, 9, link->axes[side]);
  }
}

static void ferry_row(yoke_ferry *c, yoke_row *row) {
  int kind = (int)row->kind;
  yoke_ferry_index(c, &kind, YOKE_ROW_POINT, YOKE_ROW_SLOPE);
  yoke_ferry_index(c, &row->k, 0, 2);
  yoke_ferry_index(c, &row->l, 0, 2);
  row->kind = (yoke_row_kind)kind;
}

static void ferry_element(yoke_ferry *c, yoke_plan_coupling *k) {
  yoke_force_element *e       = &k->element_law;
  bool                has_law = e->law != NULL;
  ferry_link(c, &e->link);
  yoke_ferry_int(c, &e->connection);
  yoke_ferry_index(c, &e->n, 0, 6);
  for (int i = 0; i < e->n; ++i) ferry_row(c, &e->row[i]);
  yoke_ferry_doubles(c, 6, e->offset);
  yoke_ferry_doubles(c, 6, e->stiffness);
  yoke_ferry_doubles(c, 6, e->damping);
  yoke_ferry_bool(c, &has_law);
  if (yoke_ferry_reads(c)) e->law = has_law ? &k->law : NULL;
}

static void ferry_joint(yoke_ferry *c, yoke_joint_element *j) {
  ferry_link(c, &j->link);
  yoke_ferry_int(c, &j->connection);
  yoke_ferry_index(c, &j->n, 0, YOKE_JOINT_MAX_ROWS);
  yoke_ferry_int(c, &j->n_own);
  for (int i = 0; i < j->n; ++i) ferry_row(c, &j->row[i]);
  yoke_ferry_ints(c, YOKE_JOINT_MAX_ROWS, j->own);
  yoke_ferry_doubles(c, YOKE_JOINT_MAX_ROWS, j->offset);
  yoke_ferry_index(c, &j->carrier, 0, 2);
}

static void ferry_signal(yoke_ferry *c, yoke_signal_law *s) {
  yoke_expression *expression = (yoke_expression *)(uintptr_t)s->expression;
  yoke_ferry_int(c, &s->n);
  yoke_expression_ferry(c, &expression, s->n);
  s->expression = expression;
  yoke_ferry_double(c, &s->factor);
  yoke_ferry_double(c, &s->offset);
}

static void ferry_settings(yoke_ferry *c, yoke_coupling_settings *s) {
  int decomposition = (int)s->decomposition, extension = (int)s->extension, energy = (int)s->energy;
  yoke_ferry_block(c, sizeof s->formulation, s->formulation);
  s->formulation[sizeof s->formulation - 1] = '\0';
  yoke_ferry_index(c, &decomposition, YOKE_DECOMPOSITION_OPEN, YOKE_DISPLACEMENT_DISPLACEMENT);
  yoke_ferry_index(c, &extension, YOKE_EXTENSION_NONE, YOKE_EXTENSION_I);
  s->decomposition = (yoke_decomposition)decomposition;
  s->extension     = (yoke_extension)extension;
  yoke_ferry_bool(c, &s->feedthrough);
  yoke_ferry_index(c, &energy, YOKE_ENERGY_OPEN, YOKE_ENERGY_PASSIVITY);
  s->energy = (yoke_energy_rule)energy;
  yoke_ferry_double(c, &s->energy_cap);
  yoke_ferry_double(c, &s->step);
  yoke_ferry_double(c, &s->length);
  yoke_ferry_double(c, &s->time);
  yoke_ferry_int(c, &s->order);
  yoke_ferry_double(c, &s->relaxation);
  yoke_ferry_index(c, &s->side, 0, 1);
  yoke_ferry_block(c, sizeof s->own, s->own);
}

static void ferry_coupling(yoke_ferry *c, const yoke_plan *plan, yoke_plan_coupling *k) {
  char *chain_name = (char *)(uintptr_t)k->chain_name;
  yoke_ferry_text(c, &k->name);
  yoke_ferry_text(c, &chain_name);
  k->chain_name = chain_name;
  yoke_ferry_int(c, &k->connection);
  yoke_ferry_int(c, &k->chain);
  yoke_ferry_int(c, &k->element);
  yoke_ferry_ints(c, 2, k->frame);
  yoke_ferry_ints(c, 2, k->port);
  for (int side = 0; side < 2; ++side) {
    yoke_ferry_index(c, &k->part[side], 0, plan->n_parts - 1);
    yoke_shape_ferry(c, &k->shape[side]);
  }
  k->read = yoke_ferry_list(c, k->read, &k->n_read, sizeof *k->read);
  for (int i = 0; i < k->n_read; ++i) {
    yoke_ferry_index(c, &k->read[i].side, 0, 1);
    yoke_ferry_int(c, &k->read[i].y);
  }
  yoke_law_ferry(c, &k->law, 2 + k->n_read);
  ferry_element(c, k);
  yoke_ferry_bool(c, &k->is_foreign);
  yoke_ferry_bool(c, &k->is_joint);
  ferry_joint(c, &k->joint);
  yoke_ferry_bool(c, &k->is_overlap);
  yoke_ferry_ints(c, 2, k->overlap.held);
  for (int side = 0; k->is_overlap && side < 2; ++side)
    yoke_law_ferry(c, &k->overlap.edge[side], -1); /* numbers alone */
  yoke_ferry_bool(c, &k->is_halo);
  yoke_ferry_int(c, &k->halo.ring);
  yoke_ferry_int(c, &k->halo.n_rings);
  yoke_ferry_ints(c, 2, k->halo_body);
  yoke_ferry_bool(c, &k->is_signal);
  ferry_signal(c, &k->signal);
  ferry_settings(c, &k->settings);
  yoke_ferry_int(c, &k->spare_order);
}

/* The formulation is made anew: it is constant, and follows from the coupling. */
static void make_formulation(plan_ferry *p, int i, yoke_wire *wire) {
  const yoke_coupling_def def = yoke_plan_coupling_def(p->plan, i);
  if (p->c.in->failure != NULL || p->c.arena->has_failed || p->status != YOKE_OK) return;
  wire->name        = def.name;
  wire->formulation = def.formulation;
  wire->joint       = def.joint;
  if (wire->formulation == NULL || def.name == NULL || def.shape[0] == NULL || def.shape[1] == NULL)
    yoke_unpack_refuse(p->c.in, "there is no such formulation");
  else
    p->status = wire->formulation->create(p->ctx, &def, &wire->self);
}

static void ferry_wire(plan_ferry *p, int i) {
  yoke_ferry *c    = &p->c;
  yoke_wire  *wire = &p->plan->wires[i];
  if (yoke_ferry_reads(c)) make_formulation(p, i, wire);
  const int n = wire->self != NULL ? plan_n_channels(wire) : 0;
  for (int side = 0; side < 2; ++side) {
    bool has_inputs = wire->input_at[side] != NULL;
    yoke_ferry_index(c, &wire->subsystem[side], 0, p->plan->n_parts - 1);
    yoke_shape_ferry(c, &wire->shape[side]);
    yoke_ferry_int(c, &wire->port[side]);
    yoke_ferry_int(c, &wire->n_y[side]);
    yoke_ferry_int(c, &wire->halo[side]);
    yoke_ferry_bool(c, &has_inputs);
    if (yoke_ferry_reads(c) && has_inputs)
      wire->input_at[side] = yoke_arena_take(c->arena, (size_t)n + 1, sizeof *wire->input_at[side]);
    if (wire->input_at[side] != NULL) yoke_ferry_ints(c, (size_t)n, wire->input_at[side]);
  }
  double    *initial = (double *)(uintptr_t)wire->initial, *guess = (double *)(uintptr_t)wire->guess;
  yoke_felt *felt = (yoke_felt *)(uintptr_t)wire->felt;
  yoke_ferry_numbers(c, &initial, n);
  yoke_ferry_numbers(c, &guess, n);
  yoke_ferry_int(c, &wire->spare_order);
  yoke_ferry_bool(c, &wire->carries_one_end);
  yoke_ferry_bool(c, &wire->is_felt);
  felt = yoke_ferry_list(c, felt, &wire->n_felt, sizeof *felt);
  for (int k = 0; k < wire->n_felt; ++k) {
    yoke_ferry_int(c, &felt[k].port);
    yoke_shape_ferry(c, &felt[k].shape);
  }
  if (!yoke_ferry_reads(c)) return;
  wire->initial = p->plan->couplings[i].initial = initial;
  wire->guess                                   = guess;
  wire->felt                                    = felt;
}

static void ferry_couplings(plan_ferry *p) {
  yoke_plan  *plan = p->plan;
  yoke_ferry *c    = &p->c;
  plan->couplings  = yoke_ferry_list(c, plan->couplings, &plan->n_couplings, sizeof *plan->couplings);
  if (yoke_ferry_reads(c)) plan->wires = yoke_arena_take(c->arena, (size_t)plan->n_couplings + 1, sizeof *plan->wires);
  if (plan->wires == NULL) plan->n_couplings = 0;
  for (int i = 0; i < plan->n_couplings; ++i) {
    ferry_coupling(c, plan, &plan->couplings[i]);
    ferry_wire(p, i);
  }
}

/* ---- steps, times and events ---- */

static void ferry_steps(yoke_ferry *c, yoke_plan *plan) {
  yoke_scheme_settings scheme = plan->scheme;
  yoke_own_settings   *own    = (yoke_own_settings *)(uintptr_t)scheme.own;
  scheme.own                  = NULL;
  yoke_ferry_block(c, sizeof scheme, &scheme);
  own = yoke_ferry_one(c, own, ((size_t)plan->n_parts + 1) * sizeof *own);
  for (int p = 0; own != NULL && p < plan->n_parts; ++p) {
    int jacobian = (int)own[p].jacobian;
    yoke_ferry_bool(c, &own[p].has_jacobian);
    yoke_ferry_int(c, &jacobian);
    own[p].jacobian = (yoke_jacobian)jacobian;
    yoke_ferry_index(c, &own[p].substeps, 1, YOKE_MOST_SUBSTEPS);
  }
  if (yoke_ferry_reads(c)) {
    plan->scheme                                        = scheme;
    plan->scheme.own                                    = own;
    plan->scheme.scheme[sizeof plan->scheme.scheme - 1] = '\0';
    if (c->in->failure == NULL && yoke_scheme_find(plan->scheme.scheme) == NULL)
      yoke_unpack_refuse(c->in, "there is no such scheme");
  }
  yoke_ferry_block(c, sizeof plan->step, &plan->step);
}

static void ferry_switches(yoke_ferry *c, yoke_switches *s) {
  s->once     = yoke_ferry_own_list(c, s->once, &s->n_once, sizeof *s->once);
  s->periodic = yoke_ferry_own_list(c, s->periodic, &s->n_periodic, sizeof *s->periodic);
  for (int i = 0; i < s->n_once + s->n_periodic; ++i) {
    yoke_switch *x = i < s->n_once ? &s->once[i] : &s->periodic[i - s->n_once];
    yoke_ferry_double(c, &x->first);
    yoke_ferry_double(c, &x->period);
    yoke_ferry_bool(c, &x->is_smooth);
  }
}

static void ferry_events(yoke_ferry *c, yoke_plan *plan) {
  plan->events = yoke_ferry_list(c, plan->events, &plan->n_events, sizeof *plan->events);
  for (int i = 0; i < plan->n_events; ++i) {
    yoke_plan_event *x = &plan->events[i];
    yoke_ferry_text(c, &x->name);
    yoke_ferry_bool(c, &x->sets);
    yoke_ferry_bool(c, &x->stops);
    yoke_ferry_bool(c, &x->is_brought);
    yoke_ferry_index(c, &x->part, 0, plan->n_parts - 1);
    yoke_ferry_int(c, &x->own);
    yoke_ferry_bool(c, &x->is_quiet);
  }
}

static void ferry_inputs(yoke_ferry *c, yoke_plan *plan) {
  int n        = plan->n_inputs + plan->n_constants;
  plan->inputs = yoke_ferry_list(c, plan->inputs, &n, sizeof *plan->inputs);
  yoke_ferry_index(c, &plan->n_inputs, 0, n);
  plan->n_constants = n - plan->n_inputs;
  for (int i = 0; i < n; ++i) {
    yoke_plan_input *x = &plan->inputs[i];
    yoke_ferry_text(c, &x->name);
    yoke_ferry_text(c, &x->unit);
    yoke_ferry_text(c, &x->description);
    yoke_ferry_double(c, &x->value);
  }
  plan->held = yoke_ferry_list(c, plan->held, &plan->n_held, sizeof *plan->held);
  for (int i = 0; i < plan->n_held; ++i) {
    yoke_ferry_index(c, &plan->held[i].number, 0, n - 1);
    yoke_ferry_index(c, &plan->held[i].subsystem, 0, plan->n_parts - 1);
    yoke_ferry_int(c, &plan->held[i].input);
    yoke_ferry_bool(c, &plan->held[i].adds);
  }
}

static void ferry_past(yoke_ferry *c, yoke_plan *plan) {
  int ny = 0, nu = 0;
  for (int k = 0; k < plan->n_couplings; ++k) {
    const yoke_wire *wire = &plan->wires[k];
    ny += wire->n_y[0] + wire->n_y[1];
    nu += plan->couplings[k].is_joint && wire->self != NULL ? plan_n_channels(wire) : 0;
  }
  plan->past = yoke_ferry_list(c, plan->past, &plan->n_past, sizeof *plan->past);
  for (int i = 0; i < plan->n_past; ++i) {
    yoke_ferry_double(c, &plan->past[i].t);
    yoke_ferry_numbers(c, &plan->past[i].y, ny);
    yoke_ferry_numbers(c, &plan->past[i].u, nu);
  }
}

/* ---- outputs ---- */

static void ferry_coordinate(yoke_ferry *c, yoke_coordinate **coordinate) {
  yoke_coordinate *x = *coordinate = yoke_ferry_one(c, *coordinate, sizeof **coordinate);
  if (x == NULL) return;
  ferry_link(c, &x->link);
  ferry_row(c, &x->row);
  yoke_ferry_double(c, &x->offset);
}

static void ferry_output(yoke_ferry *c, yoke_output *x) {
  int              source = (int)x->source, quantity = (int)x->quantity;
  yoke_coordinate *coordinate = (yoke_coordinate *)(uintptr_t)x->coordinate;
  yoke_ferry_index(c, &source, YOKE_OUTPUT_PART, YOKE_OUTPUT_NONE);
  yoke_ferry_int(c, &x->index);
  yoke_ferry_int(c, &x->row);
  yoke_ferry_int64(c, &x->handle);
  yoke_ferry_index(c, &quantity, YOKE_WIRE_FORCE, YOKE_WIRE_COORDINATE_RATE);
  yoke_ferry_bool(c, &x->is_turned);
  ferry_coordinate(c, &coordinate);
  x->source     = (yoke_output_source)source;
  x->quantity   = (yoke_wire_quantity)quantity;
  x->coordinate = coordinate;
}

static void ferry_outputs(yoke_ferry *c, yoke_output_list *list) {
  int n = list->n;
  yoke_ferry_index(c, &n, 0, INT_MAX);
  for (int i = 0; i < n && (!yoke_ferry_reads(c) || (c->in->failure == NULL && !c->arena->has_failed)); ++i) {
    yoke_output output = yoke_ferry_reads(c) ? (yoke_output){0} : list->list[i];
    char       *name = yoke_ferry_reads(c) ? NULL : list->name[i], *unit = NULL;
    if (!yoke_ferry_reads(c)) unit = (char *)(uintptr_t)list->unit[i];
    ferry_output(c, &output);
    if (yoke_ferry_reads(c)) { /* a copy of the name is taken by the list */
      const char *own = yoke_unpack_text(c->in);
      yoke_ferry_text(c, &unit);
      if (!yoke_output_list_add(list, &output, own, unit)) c->arena->has_failed = true;
    } else {
      yoke_pack_text(c->out, name);
      yoke_ferry_text(c, &unit);
    }
  }
  if (yoke_ferry_reads(c)) yoke_output_list_trim(list);
}

static void ferry_formulas(yoke_ferry *c, yoke_output_formulas *f) {
  f->references = yoke_ferry_list(c, f->references, &f->n_references, sizeof *f->references);
  if (yoke_ferry_reads(c))
    f->reference_name = yoke_arena_take(c->arena, (size_t)f->n_references + 1, sizeof *f->reference_name);
  for (int k = 0; k < f->n_references && f->reference_name != NULL; ++k) {
    ferry_output(c, &f->references[k]);
    yoke_ferry_text(c, &f->reference_name[k]);
  }
  f->list = yoke_ferry_list(c, f->list, &f->n, sizeof *f->list);
  for (int i = 0; i < f->n; ++i) {
    yoke_output_formula *x = &f->list[i];
    yoke_ferry_text(c, &x->name);
    yoke_ferry_text(c, &x->unit);
    yoke_ferry_text(c, &x->description);
    yoke_expression_ferry(c, &x->expression, f->n_references);
    yoke_ferry_int(c, &x->depth);
    yoke_ferry_bool(c, &x->is_absent);
  }
}

static void ferry_kind(yoke_ferry *c, yoke_body_kind *x) {
  int kind = (int)*x;
  yoke_ferry_index(c, &kind, YOKE_BODY_RIGID, YOKE_BODY_CHAIN);
  *x = (yoke_body_kind)kind;
}

/* A text that others own, such as a unit; may be NULL. */
static void ferry_constant(yoke_ferry *c, const char **text) {
  char *own = (char *)(uintptr_t)*text;
  yoke_ferry_text(c, &own);
  *text = own;
}

static void ferry_body_name(yoke_ferry *c, named_body *x) {
  yoke_ferry_text(c, &x->name);
  ferry_kind(c, &x->kind);
  yoke_ferry_int(c, &x->n);
  yoke_ferry_int(c, &x->y_at);
}

static void ferry_frame_name(yoke_ferry *c, named_frame *x) {
  yoke_ferry_text(c, &x->name);
  ferry_kind(c, &x->kind);
  yoke_ferry_int(c, &x->part);
  yoke_ferry_int(c, &x->own);
}

static void ferry_connection_name(yoke_ferry *c, named_connection *x) {
  yoke_ferry_text(c, &x->name);
  yoke_ferry_index(c, &x->n_rows, 0, YOKE_MOST_ROWS);
  for (int i = 0; i < x->n_rows; ++i) {
    ferry_constant(c, &x->force_unit[i]);
    ferry_constant(c, &x->g_unit[i]);
  }
  yoke_ferry_int(c, &x->part);
  yoke_ferry_int(c, &x->own);
  yoke_ferry_bool(c, &x->is_flexible_joint);
  for (int k = 0; k < YOKE_N_COORDINATES; ++k) {
    yoke_ferry_bool(c, &x->has_coordinate[k]);
    ferry_coordinate(c, &x->coordinate[k]);
  }
}

static void ferry_signal_name(yoke_ferry *c, named_signal *x) {
  yoke_ferry_text(c, &x->name);
  ferry_constant(c, &x->unit);
  yoke_ferry_int(c, &x->part);
  yoke_ferry_int(c, &x->y);
}

static void ferry_names(yoke_ferry *c, yoke_plan_directory *d) {
  d->bodies = yoke_ferry_list(c, d->bodies, &d->n_bodies, sizeof *d->bodies);
  for (int i = 0; i < d->n_bodies; ++i) ferry_body_name(c, &d->bodies[i]);
  d->frames = yoke_ferry_list(c, d->frames, &d->n_frames, sizeof *d->frames);
  for (int i = 0; i < d->n_frames; ++i) ferry_frame_name(c, &d->frames[i]);
  d->connections = yoke_ferry_list(c, d->connections, &d->n_connections, sizeof *d->connections);
  for (int i = 0; i < d->n_connections; ++i) ferry_connection_name(c, &d->connections[i]);
  d->integrals = yoke_ferry_list(c, d->integrals, &d->n_integrals, sizeof *d->integrals);
  for (int i = 0; i < d->n_integrals; ++i) yoke_ferry_text(c, &d->integrals[i]);
  d->signals = yoke_ferry_list(c, d->signals, &d->n_signals, sizeof *d->signals);
  for (int i = 0; i < d->n_signals; ++i) ferry_signal_name(c, &d->signals[i]);
  ferry_constant(c, &d->silent);
  yoke_ferry_bool(c, &d->has_work);
  yoke_ferry_bool(c, &d->is_passive);
}

static void ferry_integrals(yoke_ferry *c, yoke_plan *plan) {
  const int n = plan->directory != NULL ? plan->directory->n_integrals : 0;
  if (yoke_ferry_reads(c)) plan->integrals = yoke_arena_take(c->arena, (size_t)n + 1, sizeof *plan->integrals);
  for (int i = 0; i < n && plan->integrals != NULL; ++i) {
    yoke_ferry_index(c, &plan->integrals[i].part, 0, plan->n_parts - 1);
    yoke_ferry_int(c, &plan->integrals[i].own);
  }
}

static void ferry_places(yoke_ferry *c, yoke_places *x) {
  yoke_arena *arena = c->arena;
  int         n     = x->piece_at != NULL ? x->piece_at[x->n_bodies] : 0;
  c->arena          = &x->arena;
  x->piece_at       = yoke_ferry_list(c, x->piece_at, &x->n_bodies, sizeof *x->piece_at);
  x->pieces         = yoke_ferry_list(c, x->pieces, &n, sizeof *x->pieces);
  for (int b = 0; x->piece_at != NULL && b <= x->n_bodies; ++b) yoke_ferry_index(c, &x->piece_at[b], 0, n);
  for (int i = 0; i < n; ++i) {
    yoke_piece *piece = &x->pieces[i];
    yoke_ferry_int(c, &piece->first);
    yoke_ferry_int(c, &piece->n);
    yoke_ferry_int(c, &piece->place.part);
    yoke_ferry_int(c, &piece->place.body);
    yoke_ferry_int(c, &piece->place.mass);
    yoke_ferry_ints(c, 2, piece->halo);
  }
  c->arena = arena;
  if (yoke_ferry_reads(c) && x->arena.has_failed) arena->has_failed = true;
}

/* ---- parts ---- */

static void ferry_ports(yoke_ferry *c, yoke_submodel *s) {
  int n           = s->n_ports;
  s->port_frame   = yoke_ferry_own_list(c, s->port_frame, &n, sizeof *s->port_frame);
  s->port_request = yoke_ferry_own_list(c, s->port_request, &n, sizeof *s->port_request);
  s->port_signals = yoke_ferry_own_list(c, s->port_signals, &n, sizeof *s->port_signals);
  if (yoke_ferry_reads(c) && (s->port_frame == NULL || s->port_request == NULL || s->port_signals == NULL)) return;
  s->n_ports = n;
  for (int i = 0; i < n; ++i) {
    int      rows    = (int)s->port_request[i].rows;
    int64_t *handles = (int64_t *)(uintptr_t)s->port_signals[i].handles;
    yoke_ferry_index(c, &s->port_frame[i], -1, s->model->n_frames - 1);
    yoke_ferry_int(c, &s->port_request[i].extras);
    yoke_ferry_index(c, &s->port_request[i].connection, -1, s->model->n_connections - 1);
    yoke_ferry_int(c, &rows);
    s->port_request[i].rows = (unsigned)rows;
    handles                 = yoke_ferry_list(c, handles, &s->port_signals[i].n, sizeof *handles);
    for (int k = 0; k < s->port_signals[i].n; ++k) yoke_ferry_int64(c, &handles[k]);
    s->port_signals[i].handles = handles;
  }
}

static void ferry_submodel(yoke_ferry *c, yoke_submodel *s) {
  yoke_model_ferry(c, s->model);
  ferry_ports(c, s);
  s->inputs = yoke_ferry_own_list(c, s->inputs, &s->n_inputs, sizeof *s->inputs);
  for (int i = 0; i < s->n_inputs; ++i) {
    int kind = (int)s->inputs[i].kind;
    yoke_ferry_index(c, &kind, YOKE_INPUT_FORCE, YOKE_INPUT_SIGNAL);
    s->inputs[i].kind = (yoke_input_kind)kind;
    yoke_ferry_int(c, &s->inputs[i].frame);
    yoke_ferry_int(c, &s->inputs[i].component);
    yoke_ferry_double(c, &s->inputs[i].factor);
  }
  s->integrals = yoke_ferry_own_list(c, s->integrals, &s->n_integrals, sizeof *s->integrals);
  for (int i = 0; i < s->n_integrals; ++i) yoke_variable_ferry(c, &s->integrals[i]);
  s->halos = yoke_ferry_own_list(c, s->halos, &s->n_halos, sizeof *s->halos);
  for (int i = 0; i < s->n_halos; ++i) {
    yoke_ferry_index(c, &s->halos[i].body, 0, s->model->n_bodies - 1);
    yoke_ferry_int(c, &s->halos[i].first);
    yoke_ferry_int(c, &s->halos[i].step);
    yoke_ferry_int(c, &s->halos[i].n);
  }
}

static void ferry_native(plan_ferry *p, int i) {
  yoke_ferry       *c     = &p->c;
  yoke_native_part *part  = &p->plan->native[i];
  yoke_arena       *arena = c->arena;
  if (yoke_ferry_reads(c)) {
    part->submodel.model = yoke_allocate(1, sizeof *part->submodel.model);
    if (part->submodel.model == NULL) {
      arena->has_failed = true;
      return;
    }
    part->submodel.model->arena = yoke_arena_of(p->ctx);
    c->arena                    = &part->submodel.model->arena;
  }
  yoke_model *model = part->submodel.model;
  ferry_submodel(c, &part->submodel);
  int nq = 0, nv = 0;
  for (int b = 0; b < model->n_bodies && (!yoke_ferry_reads(c) || c->in->failure == NULL); ++b) {
    nq += yoke_body_nq(&model->bodies[b]);
    nv += yoke_body_nv(&model->bodies[b]);
  }
  yoke_ferry_numbers(c, &part->q, nq);
  yoke_ferry_numbers(c, &part->v, nv);
  c->arena = arena;
  if (!yoke_ferry_reads(c)) return;
  if (model->arena.has_failed || model->name == NULL) arena->has_failed = true;
  if (c->in->failure == NULL && !arena->has_failed) plan_define_part(p->plan, i);
}

static void ferry_foreign(plan_ferry *p, yoke_foreign_part *x, bool goes) {
  yoke_ferry         *c         = &p->c;
  yoke_user_argument *arguments = x->arguments;
  yoke_ferry_text(c, &x->name);
  yoke_ferry_text(c, &x->type);
  yoke_ferry_bool(c, &x->acts);
  yoke_ferry_bool(c, &x->has_energy);
  x->arguments = arguments = yoke_ferry_list(c, arguments, &x->n_arguments, sizeof *arguments);
  for (int k = 0; k < x->n_arguments; ++k) {
    char *name = (char *)(uintptr_t)arguments[k].name, *text = (char *)(uintptr_t)arguments[k].text;
    yoke_ferry_text(c, &name);
    yoke_ferry_text(c, &text);
    yoke_ferry_double(c, &arguments[k].value);
    arguments[k].name = name;
    arguments[k].text = text;
  }
  if (!yoke_ferry_reads(c) || !goes || c->in->failure != NULL || c->arena->has_failed || p->status != YOKE_OK) return;
  yoke_user_entry *entry = yoke_user_find(p->ctx, x->type);
  if (entry == NULL) {
    p->status = yoke_fail(p->ctx, YOKE_E_MODEL,
                          "no type '%s' is known here for subsystem '%s': every rank loads the plugin that has it "
                          "(--plugin FILE), or registers it (yoke_context_add_type)",
                          x->type, x->name);
    return;
  }
  x->entry                           = yoke_user_retain(entry);
  p->plan->parts[x->part].definition = x;
  p->plan->parts[x->part].make       = yoke_foreign_part_make;
}

static void ferry_part(plan_ferry *p, int i) {
  yoke_ferry     *c    = &p->c;
  yoke_plan_part *part = &p->plan->parts[i];
  yoke_ferry_text(c, &part->name);
  yoke_ferry_bool(c, &part->is_pooled);
  yoke_ferry_int64(c, &part->residual);
  yoke_ferry_double(c, &part->cost);
}

static void ferry_parts_made(plan_ferry *p) {
  yoke_plan  *plan = p->plan;
  yoke_ferry *c    = &p->c;
  plan->foreigns   = yoke_ferry_list(c, plan->foreigns, &plan->n_foreigns, sizeof *plan->foreigns);
  for (int i = 0; i < plan->n_foreigns; ++i) {
    yoke_foreign_part *x = &plan->foreigns[i];
    yoke_ferry_index(c, &x->part, 0, plan->n_parts - 1);
    bool goes = p->owner == NULL || p->owner[x->part] == p->rank;
    yoke_ferry_bool(c, &goes);
    ferry_foreign(p, x, goes);
  }
  for (int i = 0; i < plan->n_parts; ++i) {
    bool is_native = plan->parts[i].make == yoke_native_part_make && (p->owner == NULL || p->owner[i] == p->rank);
    yoke_ferry_bool(c, &is_native);
    if (is_native) ferry_native(p, i);
  }
}

/* ---- the plan ---- */

static void ferry_plan(plan_ferry *p) {
  yoke_plan  *plan = p->plan;
  yoke_ferry *c    = &p->c;
  yoke_ferry_text(c, &plan->name);
  yoke_ferry_block(c, sizeof plan->solver, plan->solver);
  yoke_ferry_double(c, &plan->t_start);
  yoke_ferry_double(c, &plan->t_end);
  yoke_ferry_double(c, &plan->every);
  yoke_ferry_bool(c, &plan->has_work);
  yoke_ferry_bool(c, &plan->lacks_energy);
  yoke_ferry_double(c, &plan->energy_limit);
  yoke_ferry_block(c, sizeof plan->facts, &plan->facts);
  plan->parts = yoke_ferry_list(c, plan->parts, &plan->n_parts, sizeof *plan->parts);
  if (yoke_ferry_reads(c)) plan->native = yoke_arena_take(c->arena, (size_t)plan->n_parts + 1, sizeof *plan->native);
  for (int i = 0; i < plan->n_parts; ++i) ferry_part(p, i);
  ferry_steps(c, plan);
  ferry_couplings(p);
  ferry_switches(c, &plan->switches);
  ferry_events(c, plan);
  ferry_inputs(c, plan);
  ferry_past(c, plan);
  ferry_outputs(c, &plan->outputs);
  ferry_formulas(c, &plan->formulas);
  if (yoke_ferry_reads(c)) plan->directory = yoke_arena_take(c->arena, 1, sizeof *plan->directory);
  if (plan->directory != NULL) ferry_names(c, plan->directory);
  ferry_integrals(c, plan);
  ferry_places(c, &plan->places);
  if (plan->native != NULL) ferry_parts_made(p);
}

yoke_status yoke_plan_pack(const yoke_plan *plan, const int *owner, int rank, yoke_pack *out, yoke_context *ctx) {
  plan_ferry p = {.c = {.out = out}, .plan = (yoke_plan *)(uintptr_t)plan, .ctx = ctx, .owner = owner, .rank = rank};
  yoke_pack  fingerprint = {0};
  for (int i = 0; i < plan->n_parts; ++i) {
    const yoke_plan_part *part = &plan->parts[i];
    if (part->make == yoke_native_part_make) continue;
    if (part->make != yoke_foreign_part_make || ((const yoke_foreign_part *)part->definition)->entry == NULL)
      return yoke_fail(ctx, YOKE_E_UNSUPPORTED, "subsystem '%s' is none that can be made in another process",
                       part->name);
  }
  yoke_pack_begin(out);
  yoke_pack_tag(out, "plan");
  ferry_plan(&p);
  yoke_plan_fingerprint(plan, &fingerprint);
  yoke_pack_int32(out, (int32_t)fingerprint.size);
  yoke_pack_block(out, fingerprint.size, fingerprint.bytes);
  if (fingerprint.has_failed) out->has_failed = true;
  yoke_pack_free(&fingerprint);
  return yoke_pack_end(out, ctx);
}

static void read_fingerprint(yoke_unpack *in, yoke_plan *plan) {
  const int   n     = yoke_unpack_int32(in);
  const void *bytes = yoke_unpack_block(in, n > 0 ? (size_t)n : 0);
  if (bytes == NULL || plan->directory == NULL) return;
  plan->directory->fingerprint      = yoke_arena_copy(&plan->arena, bytes, (size_t)n, 1);
  plan->directory->fingerprint_size = n;
}

yoke_status yoke_plan_unpack(yoke_context *ctx, const void *bytes, size_t size, yoke_plan **out) {
  yoke_unpack in;
  *out = NULL;
  YOKE_TRY(yoke_unpack_begin(&in, bytes, size, ctx));
  yoke_plan *plan = yoke_allocate(1, sizeof *plan);
  if (plan == NULL) return yoke_out_of_memory(ctx, "a plan");
  plan->arena  = yoke_arena_of(ctx);
  plan_ferry p = {.c = {.in = &in, .arena = &plan->arena}, .plan = plan, .ctx = ctx};
  yoke_unpack_tag(&in, "plan");
  ferry_plan(&p);
  read_fingerprint(&in, plan);
  yoke_status status = p.status;
  if (status == YOKE_OK && plan->arena.has_failed) status = yoke_out_of_memory(ctx, "a plan (%zu bytes)", size);
  if (status == YOKE_OK) status = yoke_unpack_end(&in, ctx);
  if (status == YOKE_OK)
    *out = plan;
  else
    yoke_plan_destroy(&plan);
  return status;
}

bool yoke_plan_is_passive(const yoke_plan *plan) {
  return plan->directory->is_passive;
}
