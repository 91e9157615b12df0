/* Names of all outputs of a plan. */
#include "master/plan_directory.h"

#include "base/text.h"
#include "energy/account.h"
#include "master/foreign_part.h"
#include "model/joint_kinds.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Chains with more masses show only their first and last mass unless a pattern asks for more. */
enum { CHAIN_LIMIT = 1000, NUMBER = 16 /* characters of a number and its bracket */ };

/* ---- walk ---- */

const plan_hidden plan_all_hidden = {.all = true};

/* Is row i of the list visited, for bodies and connections, or for frames? */
static bool is_visited(const plan_walk *w, int i, bool of_frame) {
  if (!of_frame && yoke_quantity_row(i)->asked == NULL) return true;
  return w->hidden != NULL && (w->hidden->all || (of_frame ? w->hidden->frames : w->hidden->row[i]));
}

/* Whether it is of a frame or a cut, and its row, are in `shown`; its name follows. */
static bool pass_as(const plan_walk *w, const char *object, int component, int number, plan_shown shown) {
  const yoke_quantity *row = shown.row;
  shown.name               = "";
  if (w->is_count) return w->visit(w->user, &shown);
  char        word[64], name[PLAN_NAME_LENGTH];
  const char *plain = yoke_quantity_name(row, component);
  if (strchr(plain, '[') != NULL) {
    (void)yoke_quantity_print(row, component, number, word, sizeof word);
    plain = word;
  }
  snprintf(name, sizeof name, "%s.%s", object, plain);
  shown.name = name;
  return w->visit(w->user, &shown);
}

static bool pass(const plan_walk *w, const char *object, const yoke_quantity *row, int component,
                 const yoke_output *output) {
  return pass_as(w, object, component, 0, (plan_shown){.unit = row->unit, .output = output, .row = row});
}

yoke_output plan_component_output(const yoke_plan *plan, int b, yoke_native_quantity quantity, int i) {
  const named_body *body     = &plan->directory->bodies[b];
  const bool        is_chain = body->kind == YOKE_BODY_CHAIN;
  const yoke_place  place    = yoke_place_find(&plan->places, b, is_chain ? i : 0);
  if (body->y_at >= 0) {
    const yoke_port_shape *shape = yoke_body_shape(body->kind);
    const int              first = quantity == YOKE_NATIVE_Q   ? 0
                                   : quantity == YOKE_NATIVE_V ? yoke_shape_at_v(shape)
                                                               : yoke_shape_at_a(shape);
    return (yoke_output){
        .source = YOKE_OUTPUT_PART, .index = place.part, .handle = yoke_output_handle(body->y_at + first + i)};
  }
  return (yoke_output){.source = YOKE_OUTPUT_PART,
                       .index  = place.part,
                       .handle = yoke_native_handle(quantity, place.body, is_chain ? place.mass : i)};
}

/* "123]" */
static void put_number(int x, char text[NUMBER]) {
  char digits[NUMBER];
  int  n = 0;
  for (; x > 0; x /= 10) digits[n++] = (char)('0' + x % 10);
  for (; n > 0; --n) *text++ = digits[n - 1];
  text[0] = ']';
  text[1] = '\0';
}

/* The first mass from i on that a pattern may mean, where names are `stem` (of `length`), number and bracket; n: none. What has no wildcard
 * means one mass or those of a range, and ten million names are not printed for it. */
static int next_meant(const plan_walk *w, const char *stem, size_t length, int i, int n) {
  int next = w->n_patterns > 0 ? n : i;
  for (int k = 0; k < w->n_patterns; ++k) {
    const char  *pattern = w->patterns[k];
    const size_t plain   = strcspn(pattern, "*?");
    const size_t shorter = plain < length ? plain : length;
    if (strncmp(pattern, stem, shorter) != 0) continue;
    yoke_text_range range;
    if (plain >= length && yoke_text_read_range(pattern + length - 1, &range) != NULL) {
      const long number = yoke_text_next_in_range(&range, i + 1);
      if (number > i && number <= next) next = (int)number - 1;
      continue;
    }
    if (pattern[plain] != '\0') return i;
    const long number = plain > length ? strtol(pattern + length, NULL, 10) : 0;
    if (number > i && number <= next) next = (int)number - 1;
  }
  return next;
}

static bool visit_chain(const plan_walk *w, int b, const yoke_quantity *row, yoke_native_quantity quantity) {
  const named_body *body = &w->plan->directory->bodies[b];
  const int         step = !w->whole_chains && body->n > CHAIN_LIMIT ? body->n - 1 : 1; /* first and last only */
  char              name[PLAN_NAME_LENGTH];
  const char       *word = yoke_quantity_name(row, 0);
  const int   length     = snprintf(name, sizeof name - NUMBER, "%s.%.*s[", body->name, (int)strcspn(word, "["), word);
  char *const number     = name + (length < (int)sizeof name - NUMBER ? length : (int)sizeof name - NUMBER - 1);
  for (int i = 0; i < body->n; i += step) {
    *number = '\0';
    i       = next_meant(w, name, (size_t)(number - name), i, body->n);
    if (i == body->n) break;
    const yoke_output output = plan_component_output(w->plan, b, quantity, i);
    if (!w->is_count) put_number(i + 1, number);
    const plan_shown shown = {.name = w->is_count ? "" : name, .unit = row->unit, .output = &output, .row = row};
    if (!w->visit(w->user, &shown)) return false;
  }
  return true;
}

static bool visit_components(const plan_walk *w, int b, const yoke_quantity *row, yoke_native_quantity quantity) {
  for (int k = row->first; k < row->first + row->n; ++k) {
    const yoke_output output = plan_component_output(w->plan, b, quantity, k);
    if (!pass(w, w->plan->directory->bodies[b].name, row, k, &output)) return false;
  }
  return true;
}

static bool visit_body(const plan_walk *w, int b) {
  static const yoke_native_quantity quantity[] = {YOKE_NATIVE_Q, YOKE_NATIVE_V, YOKE_NATIVE_A}; /* by level */
  const yoke_body_kind              kind       = w->plan->directory->bodies[b].kind;
  const yoke_quantity              *row;
  for (int i = 0; (row = yoke_quantity_row(i)) != NULL; ++i) {
    if (row->of != (yoke_quantity_of)kind || !is_visited(w, i, false)) continue;
    if (!(kind == YOKE_BODY_CHAIN ? visit_chain : visit_components)(w, b, row, quantity[row->level])) return false;
  }
  return true;
}

static bool visit_frame(const plan_walk *w, const named_frame *frame) {
  static const yoke_native_quantity quantity[] = {YOKE_NATIVE_FRAME_Q, YOKE_NATIVE_FRAME_V, YOKE_NATIVE_FRAME_A};
  const yoke_quantity              *row;
  for (int i = 0; (row = yoke_quantity_row(i)) != NULL; ++i) {
    if (row->of != (yoke_quantity_of)frame->kind) continue;
    for (int k = row->first; k < row->first + row->n; ++k) {
      const yoke_output output = {.source = YOKE_OUTPUT_PART,
                                  .index  = frame->part,
                                  .handle = yoke_native_handle(quantity[row->level], frame->own, k)};
      const plan_shown  shown  = {.unit = row->unit, .output = &output, .row = row, .of_frame = true};
      if (!pass_as(w, frame->name, k, 0, shown)) return false;
    }
  }
  return true;
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

static yoke_output coordinate_output(const named_connection *c, int coordinate, bool is_rate) {
  if (c->part < 0) {
    return (yoke_output){.source     = YOKE_OUTPUT_WIRE,
                         .index      = c->own,
                         .quantity   = is_rate ? YOKE_WIRE_COORDINATE_RATE : YOKE_WIRE_COORDINATE,
                         .coordinate = c->coordinate[coordinate]};
  }
  return (yoke_output){
      .source = YOKE_OUTPUT_PART,
      .index  = c->part,
      .handle = yoke_native_handle(is_rate ? YOKE_NATIVE_COORDINATE_RATE : YOKE_NATIVE_COORDINATE, c->own, coordinate)};
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

/* Has this connection such a row of the list? */
static bool has_row(const plan_walk *w, const named_connection *c, const yoke_quantity *row,
                    yoke_wire_quantity quantity) {
  if (row->asked == NULL || w->with_absent) return true;
  return c->part < 0 && c->own >= 0 && (quantity != YOKE_WIRE_FORCE_MEAN || has_inner_nodes(w->plan, c->own));
}

static plan_shown shown_of(const named_connection *c, const yoke_quantity *row, const char *unit,
                           const yoke_output *output) {
  return (plan_shown){.unit = unit, .output = output, .row = row, .of_cut = c->is_cut};
}

static bool visit_rows(const plan_walk *w, const named_connection *c, const yoke_quantity *row) {
  static const yoke_wire_quantity quantities[] = {YOKE_WIRE_FORCE, YOKE_WIRE_G, YOKE_WIRE_MISMATCH,
                                                  YOKE_WIRE_FORCE_MEAN}; /* in the order of the list */
  const yoke_wire_quantity        quantity     = quantities[row->first];
  for (int i = 0; has_row(w, c, row, quantity) && i < c->n_rows; ++i) {
    const yoke_output output = row_output(c, quantity, i);
    const char       *unit   = quantity == YOKE_WIRE_G ? c->g_unit[i] : c->force_unit[i];
    if (!pass_as(w, c->name, row->first, i + 1, shown_of(c, row, unit, &output))) return false;
  }
  return true;
}

/* Numbers of the energy account that stand in one row of the list: `first` is the place of the object's own. */
static bool visit_account(const plan_walk *w, const char *object, bool of_cut, const yoke_quantity *row, int first) {
  for (int k = row->first; k < row->first + row->n; ++k) {
    const yoke_output output = {.source = YOKE_OUTPUT_ACCOUNT, .index = first + k};
    const plan_shown  shown  = {.unit = row->unit, .output = &output, .row = row, .of_cut = of_cut};
    if (!pass_as(w, object, k, 0, shown)) return false;
  }
  return true;
}

/* Of a coupling: energy and dissipated, work of its two sides, leak, corrected. */
static bool visit_coupling_account(const plan_walk *w, const named_connection *c, const yoke_quantity *row) {
  const bool is_there = c->part < 0 && c->own >= 0 && yoke_plan_has_account(w->plan) &&
                        yoke_account_is_complete(w->plan->n_couplings, w->plan->wires);
  if (!is_there && !w->with_absent) return true;
  const int first  = yoke_account_of_wire(w->plan->n_parts, c->own, 0);
  const int behind = row->first > 2 ? 1 : 0; /* of the works, which are two */
  if (row->first != 2) return visit_account(w, c->name, c->is_cut, row, first + behind);
  for (int side = 0; side < 2; ++side) {
    const yoke_output output = {.source = YOKE_OUTPUT_ACCOUNT, .index = first + YOKE_ACCOUNT_WORK_1 + side};
    if (!pass_as(w, c->name, row->first, side + 1, shown_of(c, row, row->unit, &output))) return false;
  }
  return true;
}

/* Of subsystem p; without the works of all couplings only what it tells itself. */
static bool visit_subsystem(const plan_walk *w, int p) {
  const bool           is_complete = yoke_account_is_complete(w->plan->n_couplings, w->plan->wires);
  const yoke_quantity *row;
  char                 object[PLAN_NAME_LENGTH / 2];
  snprintf(object, sizeof object, "subsystem.%.100s", w->plan->parts[p].name);
  for (int i = 0; (row = yoke_quantity_row(i)) != NULL; ++i) {
    if (row->of != YOKE_OF_SUBSYSTEM || !is_visited(w, i, false)) continue;
    if (is_complete && !visit_account(w, object, false, row, yoke_account_of_part(p, 0))) return false;
  }
  return true;
}

static bool visit_total_leak(const plan_walk *w) {
  const yoke_quantity *row    = yoke_quantity_at(YOKE_OF_TOTAL, YOKE_LEVEL_ENERGY, YOKE_TOTAL_LEAK);
  const yoke_output    output = {.source = YOKE_OUTPUT_ACCOUNT, .index = YOKE_ACCOUNT_TOTAL_LEAK};
  return pass(w, "total", row, YOKE_TOTAL_LEAK, &output);
}

/* Leaks and works, which are shown where somebody asks for them. */
static bool visit_accounts(const plan_walk *w) {
  const bool is_there = yoke_plan_has_account(w->plan);
  if (w->hidden == NULL || (!is_there && !(w->with_absent && w->plan->has_work))) return true;
  for (int p = 0; p < w->plan->n_parts; ++p) {
    if (!visit_subsystem(w, p)) return false;
  }
  return visit_total_leak(w);
}

static bool visit_coordinate(const plan_walk *w, const named_connection *c, const yoke_quantity *row) {
  if (!c->has_coordinate[row->first]) return true;
  const yoke_output output = coordinate_output(c, row->first, row->level == YOKE_LEVEL_VELOCITY);
  return pass(w, c->name, row, row->first, &output);
}

static bool visit_connection(const plan_walk *w, const named_connection *c) {
  const yoke_quantity *row;
  for (int i = 0; (row = yoke_quantity_row(i)) != NULL; ++i) {
    if ((row->of != YOKE_OF_CONNECTION && row->of != YOKE_OF_JOINT) || !is_visited(w, i, false)) continue;
    if (!(row->of == YOKE_OF_JOINT          ? visit_coordinate
          : row->level == YOKE_LEVEL_ENERGY ? visit_coupling_account
                                            : visit_rows)(w, c, row))
      return false;
  }
  return true;
}

/* Wire `own` in element j of a chain; own < 0: it is not cut there. */
static bool visit_cut(const plan_walk *w, char *name, int own) {
  const named_connection cut = {
      .name = name, .n_rows = 1, .part = -1, .own = own, .is_cut = true, .force_unit = {"N"}, .g_unit = {"m"}};
  return visit_connection(w, &cut);
}

static bool visit_cuts(const plan_walk *w) {
  for (int k = 0; k < w->plan->n_couplings; ++k) {
    const yoke_plan_coupling *coupling = &w->plan->couplings[k];
    if (coupling->chain_name != NULL && !visit_cut(w, coupling->name, k)) return false;
  }
  return true;
}

/* Those that a chain of n masses could have: up to n - 1. */
static bool visit_absent_cuts(const plan_walk *w) {
  for (int b = 0; b < w->plan->directory->n_bodies; ++b) {
    const named_body *body = &w->plan->directory->bodies[b];
    char              name[PLAN_NAME_LENGTH];
    if (body->kind != YOKE_BODY_CHAIN) continue;
    const int length = snprintf(name, sizeof name - NUMBER, "%s.cut[", body->name);
    for (int j = 0; length < (int)sizeof name - NUMBER; ++j) {
      name[length] = '\0';
      j            = next_meant(w, name, (size_t)length, j, body->n - 1);
      if (j >= body->n - 1) break;
      put_number(j + 1, name + length);
      if (!visit_cut(w, name, -1)) return false;
    }
  }
  return true;
}

static bool visit_integral(const plan_walk *w, int k) {
  const yoke_output output = {.source = YOKE_OUTPUT_PART,
                              .index  = w->plan->integrals[k].part,
                              .handle = yoke_native_handle(YOKE_NATIVE_INTEGRAL, w->plan->integrals[k].own, 0)};
  char              name[PLAN_NAME_LENGTH];
  snprintf(name, sizeof name, "%s.integral", w->plan->directory->integrals[k]);
  return w->visit(w->user, &(plan_shown){.name = name, .unit = "m s", .output = &output});
}

/* Outputs of foreign subsystems, then inputs of the model. */
static bool visit_signals(const plan_walk *w) {
  const yoke_plan_directory *d = w->plan->directory;
  for (int k = 0; k < d->n_signals; ++k) {
    const named_signal *signal = &d->signals[k];
    const yoke_output   output = {
          .source = YOKE_OUTPUT_PART, .index = signal->part, .handle = yoke_output_handle(signal->y)};
    if (!w->visit(w->user, &(plan_shown){.name = signal->name, .unit = signal->unit, .output = &output})) return false;
  }
  for (int k = 0; k < w->plan->n_inputs; ++k) {
    const yoke_plan_input *input  = &w->plan->inputs[k];
    const yoke_output      output = {.source = YOKE_OUTPUT_INPUT, .index = k};
    if (!w->visit(w->user, &(plan_shown){.name = input->name, .unit = input->unit, .output = &output})) return false;
  }
  return true;
}

static int n_totals(const plan_walk *w) {
  if (w->plan->directory->silent != NULL) return 0;
  return w->plan->directory->has_work ? YOKE_N_TOTALS : YOKE_TOTAL_DISSIPATED;
}

bool plan_visit_all(const plan_walk *w) {
  const yoke_plan_directory *d = w->plan->directory;
  for (int b = 0; b < d->n_bodies; ++b) {
    if (!visit_body(w, b)) return false;
  }
  for (int k = 0; k < d->n_integrals; ++k) {
    if (!visit_integral(w, k)) return false;
  }
  for (int k = 0; is_visited(w, 0, true) && k < d->n_frames; ++k) {
    if (!visit_frame(w, &d->frames[k])) return false;
  }
  for (int c = 0; c < d->n_connections; ++c) {
    if (!visit_connection(w, &d->connections[c])) return false;
  }
  if (is_visited(w, 0, true) && !(w->with_absent ? visit_absent_cuts : visit_cuts)(w)) return false;
  if (!visit_signals(w)) return false;
  for (int k = 0; k < n_totals(w); ++k) {
    const yoke_output output = {.source = YOKE_OUTPUT_TOTAL, .row = k};
    if (!pass(w, "total", yoke_quantity_at(YOKE_OF_TOTAL, YOKE_LEVEL_ENERGY, k), k, &output)) return false;
  }
  if (!visit_accounts(w)) return false;
  for (int k = 0; k < w->plan->formulas.n; ++k) {
    const yoke_output_formula *formula = &w->plan->formulas.list[k];
    const yoke_output          output  = {.source = YOKE_OUTPUT_FORMULA, .index = k};
    if (formula->is_absent && !w->with_absent) continue;
    if (!w->visit(w->user, &(plan_shown){.name = formula->name, .unit = formula->unit, .output = &output}))
      return false;
  }
  return true;
}

/* ---- creation ---- */

/* A frame that the user named: bodies have one of their own, connections make others. */
static bool has_name(const yoke_model *model, const yoke_frame *frame) {
  if (frame->body < 0) return false;
  const yoke_body *body = &model->bodies[frame->body];
  return body->kind != YOKE_BODY_CHAIN && body->kind != YOKE_BODY_MASS1D && strchr(frame->name, '/') == NULL &&
         strcmp(frame->name, body->name) != 0;
}

static void name_frames(const plan_builder *b, yoke_plan_directory *d) {
  const yoke_model *model = b->model;
  for (int f = 0; f < model->n_frames; ++f) {
    const yoke_frame *frame = &model->frames[f];
    if (!has_name(model, frame)) continue;
    d->frames[d->n_frames++] = (named_frame){.name = yoke_arena_text(&b->plan->arena, frame->name),
                                             .kind = model->bodies[frame->body].kind,
                                             .part = yoke_place_find(&b->plan->places, frame->body, frame->mass).part,
                                             .own  = b->frame_map != NULL ? b->frame_map[f] : f};
  }
}

/* Between the ports of a wire: at the ends of the connection, with the axes of their bodies. */
static yoke_coordinate *port_coordinate(const plan_builder *b, const yoke_connection *connection, int k) {
  yoke_coordinate *out = yoke_arena_take(&b->plan->arena, 1, sizeof *out);
  if (out == NULL) return NULL;
  yoke_joint_coordinate(b->model, connection, k, out);
  memset(out->link.origin, 0, sizeof out->link.origin);
  return out;
}

static named_connection name_connection(const plan_builder *b, int c) {
  const yoke_connection *connection = &b->model->connections[c];
  named_connection       out        = {.name              = yoke_arena_text(&b->plan->arena, connection->name),
                                       .n_rows            = yoke_connection_n_rows(connection),
                                       .part              = b->connections[c].part,
                                       .own               = b->connections[c].own,
                                       .is_flexible_joint = connection->flexible && yoke_connection_is_joint(connection->kind)};
  for (int i = 0; i < out.n_rows; ++i) yoke_connection_row_units(connection, i, &out.force_unit[i], &out.g_unit[i]);
  for (int k = 0; k < YOKE_N_COORDINATES; ++k) {
    out.has_coordinate[k] = out.own >= 0 && yoke_joint_has_coordinate(connection->kind, k);
    if (out.has_coordinate[k] && out.part < 0) out.coordinate[k] = port_coordinate(b, connection, k);
  }
  return out;
}

/* Bodies that stand in for ports, outputs, and whether all energies are told. */
static yoke_status name_foreigns(const plan_builder *b, yoke_plan_directory *d) {
  yoke_arena *arena = &b->plan->arena;
  int         n     = 0;
  for (int i = 0; i < b->plan->n_foreigns; ++i) n += b->model->foreigns[i].n_outputs;
  d->signals = yoke_arena_take(arena, (size_t)n + 1, sizeof *d->signals);
  if (arena->has_failed) return plan_no_memory(b);
  for (int i = 0; i < b->plan->n_foreigns; ++i) {
    const yoke_foreign      *from = &b->model->foreigns[i];
    const yoke_foreign_part *own  = &b->plan->foreigns[i];
    if (!own->has_energy && d->silent == NULL) d->silent = own->name;
    b->plan->lacks_energy = b->plan->lacks_energy || !own->has_energy;
    for (int k = 0; k < from->n_ports; ++k) d->bodies[from->ports[k].body].y_at = own->y_at[own->port[k]];
    for (int k = 0; k < from->n_outputs; ++k) {
      char name[PLAN_NAME_LENGTH];
      snprintf(name, sizeof name, "%s.%s", from->name, from->outputs[k].name);
      d->signals[d->n_signals++] = (named_signal){.name = yoke_arena_text(arena, name),
                                                  .unit = own->unit[k],
                                                  .part = own->part,
                                                  .y    = own->y_at[own->output[k]]};
    }
  }
  return arena->has_failed ? plan_no_memory(b) : YOKE_OK;
}

yoke_status plan_name_outputs(plan_builder *b) {
  const yoke_model    *model = b->model;
  yoke_arena          *arena = &b->plan->arena;
  yoke_plan_directory *d     = yoke_arena_take(arena, 1, sizeof *d);
  if (d == NULL) return plan_no_memory(b);
  b->plan->directory = d;
  d->bodies          = yoke_arena_take(arena, (size_t)model->n_bodies + 1, sizeof *d->bodies);
  d->frames          = yoke_arena_take(arena, (size_t)model->n_frames + 1, sizeof *d->frames);
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
                                         .n    = body->kind == YOKE_BODY_CHAIN ? body->chain->n : 1,
                                         .y_at = -1};
  }
  YOKE_TRY(name_foreigns(b, d));
  name_frames(b, d);
  for (int c = 0; c < d->n_connections; ++c) d->connections[c] = name_connection(b, c);
  for (int k = 0; k < d->n_integrals; ++k) d->integrals[k] = yoke_arena_text(arena, model->output.integrals[k]);
  return arena->has_failed ? plan_no_memory(b) : YOKE_OK;
}

/* ---- other subsystems ---- */

/* Is it, or is it made of, an output of this part? */
static bool is_of_part(const yoke_plan *plan, const yoke_output *output, int part) {
  if (output->source == YOKE_OUTPUT_FORMULA) return plan->formulas.list[output->index].is_absent;
  return output->source == YOKE_OUTPUT_PART && output->index == part;
}

void yoke_plan_replace_part(yoke_plan *plan, int part, const void *definition,
                            yoke_status (*make)(yoke_context *ctx, const void *definition, yoke_subsystem **out)) {
  yoke_output_list     *list     = &plan->outputs;
  yoke_output_formulas *formulas = &plan->formulas;
  int                   n        = 0;
  plan->parts[part].definition   = definition;
  plan->parts[part].make         = make;
  plan->parts[part].is_pooled    = false;
  plan->parts[part].residual     = YOKE_NO_HANDLE;
  for (int k = 0; k < formulas->n_references; ++k) {
    if (is_of_part(plan, &formulas->references[k], part)) formulas->references[k].source = YOKE_OUTPUT_NONE;
  }
  plan_mark_absent(formulas);
  for (int i = 0; i < list->n; ++i) {
    if (is_of_part(plan, &list->list[i], part)) continue;
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
