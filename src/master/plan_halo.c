/* Halos: which masses of its neighbours the piece of a chain holds too (coupling/overlap.c), and the ports and inputs of such a cut.
 *
 * A halo ends within the neighbouring piece, one mass before its end at the latest: the next mass belongs to the neighbour too. */
#include "master/plan_builder.h"

#include <stdio.h>
#include <string.h>

static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

/* ---- which masses ---- */

static yoke_status too_short(const plan_builder *b, const char *cut, const yoke_piece *piece) {
  return yoke_fail(
      b->ctx, YOKE_E_MODEL,
      "coupling '%s': formulation overlap needs two masses or more on each side, subsystem '%s' has %d; give "
      "it more, or use formulation constitutive for this coupling",
      cut, plan_part_name(b, piece->place.part), piece->n);
}

/* Cut j of a chain, between two pieces. */
static yoke_status find_halo(const plan_builder *b, int body, int j, yoke_piece *left, yoke_piece *right) {
  char name[300];
  plan_cut_name(b, body, j, name, sizeof name);
  yoke_plan_coupling cut = {.name = name, .chain_name = b->model->bodies[body].name};
  plan_coupling_settings(b, &cut);
  const yoke_formulation_ops *ops = yoke_formulation_find(cut.settings.formulation);
  if (ops == NULL || ops->overlap == NULL || !plan_has_cut(b, body, right->first)) return YOKE_OK;
  const int most = yoke_overlap_halo(&cut.settings);
  if (left->n < 2) return too_short(b, name, left);
  if (right->n < 2) return too_short(b, name, right);
  left->halo[1]  = most < right->n ? most : right->n - 1;
  right->halo[0] = most < left->n ? most : left->n - 1;
  return YOKE_OK;
}

/* Has the piece a copy of the mass at a frame? */
static bool holds_copy(const yoke_piece *piece, const yoke_frame *frame) {
  const int first = piece->first, end = piece->first + piece->n;
  return (frame->mass < first && frame->mass >= first - piece->halo[0]) ||
         (frame->mass >= end && frame->mass < end + piece->halo[1]);
}

/* Piece of the chain, from number k on, that has a copy of the mass at a frame; NULL: none. */
static const yoke_piece *next_holder(const plan_builder *b, const yoke_frame *frame, int *k) {
  const yoke_places *p = &b->plan->places;
  for (; frame->body >= 0 && *k < p->piece_at[frame->body + 1] - p->piece_at[frame->body]; ++*k) {
    const yoke_piece *piece = &p->pieces[p->piece_at[frame->body] + *k];
    if (holds_copy(piece, frame)) return piece;
  }
  return NULL;
}

/* Copies have the loads of their masses that read nothing but the time and the mass itself, and no connections. */
static yoke_status check_frame(const plan_builder *b, int f, const char *kind, const char *name) {
  const yoke_frame *frame  = &b->model->frames[f];
  int               k      = 0;
  const yoke_piece *holder = next_holder(b, frame, &k);
  if (holder == NULL) return YOKE_OK;
  return yoke_fail(
      b->ctx, YOKE_E_MODEL,
      "%s '%s' acts on mass %d of chain '%s', of which subsystem '%s' holds a copy (formulation overlap) that "
      "would not feel it; cut the chain elsewhere, use a smaller cosimulation.couplings.halo, or formulation "
      "constitutive",
      kind, name, frame->mass + 1, b->model->bodies[frame->body].name, plan_part_name(b, holder->place.part));
}

bool plan_load_reads_model(const yoke_load *load) {
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; load->value[i] != NULL && k < yoke_expression_n_variables(load->value[i]); ++k) {
      if (yoke_expression_variables(load->value[i])[k] > 0) return true;
    }
  }
  return false;
}

yoke_status plan_copy_load(plan_builder *b, int i) {
  yoke_load         load = b->model->loads[i];
  const yoke_frame *from = &b->model->frames[load.frame];
  int               k    = 0;
  load.is_copy           = true;
  for (const yoke_piece *holder; (holder = next_holder(b, from, &k)) != NULL; ++k) {
    yoke_submodel *part  = plan_submodel(b, holder->place.part);
    yoke_frame     frame = *from;
    frame.body           = holder->place.body;
    frame.mass           = holder->place.mass + from->mass - holder->first;
    load.frame           = yoke_submodel_add_frame(part, &frame);
    if (load.frame < 0 || yoke_submodel_add_load(part, &load) < 0) return plan_no_memory(b);
  }
  return YOKE_OK;
}

yoke_status plan_find_halos(plan_builder *b) {
  const yoke_model  *model = b->model;
  const yoke_places *p     = &b->plan->places;
  bool               any   = false;
  for (int body = 0; body < model->n_bodies; ++body) {
    for (int k = p->piece_at[body] + 1; k < p->piece_at[body + 1]; ++k)
      YOKE_TRY(find_halo(b, body, k - p->piece_at[body], &p->pieces[k - 1], &p->pieces[k]));
  }
  for (int k = 0; k < p->piece_at[model->n_bodies]; ++k) {
    p->pieces[k].place.mass = p->pieces[k].halo[0];
    any                     = any || p->pieces[k].halo[0] > 0;
  }
  for (int c = 0; any && c < model->n_connections; ++c) {
    const yoke_connection *connection = &model->connections[c];
    for (int side = 0; side < 2; ++side)
      YOKE_TRY(check_frame(b, connection->frame[side], "connection", connection->name));
  }
  for (int i = 0; any && i < model->n_loads; ++i) {
    if (plan_load_reads_model(&model->loads[i]))
      YOKE_TRY(check_frame(b, model->loads[i].frame, "load", model->loads[i].name));
  }
  return YOKE_OK;
}

void plan_take_overlap(const plan_builder *b, const yoke_piece *left, const yoke_piece *right, yoke_plan_coupling *k) {
  if (right->halo[0] == 0) return;
  k->is_overlap      = true;
  k->overlap.held[0] = right->halo[0];
  k->overlap.held[1] = left->halo[1];
  k->overlap.edge[0] = plan_element_law(b, k->chain, k->element - k->overlap.held[0]);
  k->overlap.edge[1] = plan_element_law(b, k->chain, k->element + k->overlap.held[1]);
}

int plan_overlap_mass(const yoke_plan_coupling *k, int side, int port) {
  const int copy = port - k->overlap.held[side] - 1; /* of the other side */
  if (copy >= 0) return side == 0 ? k->element + copy : k->element - 1 - copy;
  return side == 0 ? k->element - 1 - port : k->element + port;
}

/* ---- ports and inputs ---- */

/* A frame at mass `ahead` masses from the nearest own one, towards the cut and beyond; -1: no memory. */
static int add_frame(const plan_builder *b, const yoke_plan_coupling *k, int side, int ahead) {
  const yoke_place place = yoke_place_find(&b->plan->places, k->chain, plan_overlap_mass(k, side, 0));
  yoke_frame       frame = {.name = k->name, .body = place.body, .mass = place.mass + (side == 0 ? ahead : -ahead)};
  memcpy(frame.axes, identity, sizeof identity);
  return yoke_submodel_add_frame(plan_submodel(b, k->part[side]), &frame);
}

static yoke_status connect_side(plan_builder *b, yoke_plan_coupling *k, int side, yoke_wire *wire) {
  yoke_submodel *part = plan_submodel(b, k->part[side]);
  const int      held = k->overlap.held[side], halo = k->overlap.held[1 - side];
  const int      n_ports = yoke_overlap_n_ports(held, halo);
  wire->n_y[side]        = n_ports * yoke_shape_n_y(k->shape[side]);
  wire->subsystem[side]  = k->part[side];
  wire->shape[side]      = k->shape[side];
  for (int port = 0; port < n_ports; ++port) {
    const int f = add_frame(b, k, side, port > held ? port - held : -port);
    const int i = f >= 0 ? yoke_submodel_add_port(part, f, 0) : -1;
    if (i < 0) return plan_no_memory(b);
    if (port == 0) k->port[side] = wire->port[side] = i;
  }
  const int        nearest = part->model->frames[part->port_frame[k->port[side]]].mass, step = side == 0 ? 1 : -1;
  const int        edge  = add_frame(b, k, side, halo);
  const yoke_place place = yoke_place_find(&b->plan->places, k->chain, plan_overlap_mass(k, side, 0));
  const yoke_input input = {YOKE_INPUT_FORCE, edge, 0, 1.0};
  wire->halo[side]       = yoke_submodel_add_halo(
            part, &(yoke_native_halo){.body = place.body, .first = nearest + step, .step = step, .n = halo});
  wire->input_at[side] = yoke_arena_take(&b->plan->arena, 2, sizeof *wire->input_at[side]);
  if (edge < 0 || wire->halo[side] < 0 || wire->input_at[side] == NULL) return plan_no_memory(b);
  wire->input_at[side][1 - side] = -1;
  wire->input_at[side][side]     = yoke_submodel_add_input(part, &input);
  return wire->input_at[side][side] >= 0 ? YOKE_OK : plan_no_memory(b);
}

yoke_status plan_connect_overlap(plan_builder *b, yoke_plan_coupling *k, yoke_wire *wire) {
  for (int side = 0; side < 2; ++side) YOKE_TRY(connect_side(b, k, side, wire));
  return YOKE_OK;
}
