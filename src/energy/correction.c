#include "energy/correction.h"

#include <math.h>
#include <stdlib.h>

/* What a held force may do to a velocity within a step, in units of it: what is pushed harder does not move as in the step before, from which
 * the force was found, and what comes to rest under a static force, whose share the cap is, would be shaken. */
static const double most_change = 1.0;

/* One component of a wrench that a coupling brings to a side, or the multiplier of one row of a joint. */
typedef struct component {
  int    wire, side, channel;
  int    at;  /* component of the port's velocities */
  int    row; /* of the joint; -1: none */
  bool   turns;
  double sign;     /* of the channel on this side */
  double entry;    /* what one newton on the port is at the input */
  int    number;   /* of the held value */
  bool   is_first; /* that enters this input */
  double dx, v, f; /* of the last step: displacement, velocity and newest force of the coupling */
  double along;    /* acceleration that forces of the size of the velocities bring, on all components beside this one */
  double v_next;   /* at the end of the next step, if it changes as in the last one */
} component;

struct yoke_correction {
  yoke_arena            arena, scratch;
  yoke_account         *account;
  yoke_account_def      of;
  yoke_correction_rule *rules;  /* [n_wires] */
  int                  *shares; /* [n_parts] corrected couplings, and those of them that a controller observes */
  int                  *observed;
  double               *motion;     /* [n_wires] of the ports that feel forces in the last step (measure) */
  double               *all;        /* [n_parts] of the couplings that nobody observes */
  double                H;          /* of the last step */
  bool                  is_bounded; /* by responses: some wire that nobody observes */
  ptrdiff_t            *first_y;    /* [n_parts] */
  int                   n, first_number, n_values;
  component            *list;    /* [n] wire by wire */
  yoke_held_entry      *entries; /* [n_values] */
};

/* ---- creation ---- */

static const yoke_port *port_of(const yoke_correction *c, int w, int side) {
  const yoke_wire *wire = &c->of.wires[w];
  return &c->of.subsystems[wire->subsystem[side]]->ports[wire->port[side]];
}

static int part_of(const yoke_correction *c, const component *x) {
  return c->of.wires[x->wire].subsystem[x->side];
}

/* The value that enters an input; a new one if need be. */
static void enter(yoke_correction *c, component *x, int subsystem, int input) {
  int k = 0;
  while (k < c->n_values && (c->entries[k].subsystem != subsystem || c->entries[k].input != input)) ++k;
  x->is_first = k == c->n_values;
  x->number   = c->first_number + k;
  if (!x->is_first) return;
  c->entries[c->n_values++] =
      (yoke_held_entry){.number = x->number, .subsystem = subsystem, .input = input, .adds = true};
}

static void add_component(yoke_correction *c, int w, int side, int k, const yoke_channel *channel) {
  const yoke_wire *wire  = &c->of.wires[w];
  const yoke_port *port  = port_of(c, w, side);
  const bool       takes = port->wrench_at >= 0;
  component       *x     = &c->list[c->n++];
  *x                     = (component){
                          .wire = w, .side = side, .channel = k, .at = channel->component, .row = -1, .sign = channel->sign[side]};
  x->entry = takes ? 1.0 : x->sign;
  if (channel->enters[side] == YOKE_ENTRY_LAMBDA) {
    x->row = 0;
    while (wire->joint->own[x->row] != channel->component) ++x->row;
  }
  x->turns =
      x->row >= 0 ? !yoke_row_is_length(&wire->joint->row[x->row]) : yoke_shape_v_turns(wire->shape[side], x->at);
  enter(c, x, wire->subsystem[side], takes ? port->wrench_at + x->at : wire->input_at[side][k]);
}

/* Does a channel bring a force to a side that can be corrected? Multipliers that conditions find would only be found anew. */
static bool is_force(const yoke_correction *c, int w, int side, const yoke_channel *channel) {
  if (channel->enters[side] == YOKE_ENTRY_FORCE) return true;
  return channel->enters[side] == YOKE_ENTRY_LAMBDA && c->of.wires[w].formulation->extrapolation != NULL &&
         port_of(c, w, side)->wrench_at < 0;
}

static yoke_status refuse(yoke_context *ctx, const yoke_wire *wire, const char *why) {
  return yoke_fail(ctx, YOKE_E_MODEL, "coupling '%s': its energy cannot be corrected: %s", wire->name, why);
}

static bool is_observed(const yoke_correction *c, int w) {
  return c->rules[w].rule == YOKE_ENERGY_PASSIVITY;
}

/* Components of a wire that is corrected. */
static yoke_status add_wire(yoke_correction *c, int w, yoke_context *ctx) {
  const yoke_wire    *wire = &c->of.wires[w];
  int                 n, of_side[2] = {0, 0};
  const yoke_channel *list = wire->formulation->channels(wire->self, &n);
  for (int side = 0; side < 2; ++side) {
    for (int k = 0; k < n; ++k) {
      if (!is_force(c, w, side, &list[k])) continue;
      add_component(c, w, side, k, &list[k]);
      ++of_side[side];
    }
  }
  if (of_side[0] + of_side[1] == 0)
    return refuse(ctx, wire,
                  "no force that is extrapolated enters its subsystems; use energy monitor for it "
                  "(cosimulation.couplings), a decomposition with a force side, or formulation kinematic of a joint");
  if (c->rules[w].rule == YOKE_ENERGY_PASSIVITY && wire->joint != NULL)
    return refuse(ctx, wire, "energy passivity observes a force element, this is a rigid joint; use energy correct");
  if (c->rules[w].rule == YOKE_ENERGY_PASSIVITY && of_side[0] > 0 && of_side[1] > 0)
    return refuse(ctx, wire,
                  "energy passivity observes the side that holds the element; use decomposition force/displacement or "
                  "displacement/force, or energy correct");
  for (int side = 0; side < 2; ++side) {
    ++c->shares[wire->subsystem[side]];
    c->observed[wire->subsystem[side]] += is_observed(c, w);
  }
  return YOKE_OK;
}

/* Subsystems whose ports are pushed say how their velocities change. */
static yoke_status ask(yoke_correction *c, yoke_context *ctx) {
  const size_t mark     = yoke_arena_mark(&c->arena);
  bool        *is_asked = yoke_arena_take(&c->arena, (size_t)c->of.n_parts + 1, sizeof *is_asked);
  YOKE_TRY(yoke_arena_check(&c->arena, ctx, "the correction of energies"));
  for (int i = 0; i < c->n; ++i) {
    if (is_observed(c, c->list[i].wire)) continue;
    is_asked[part_of(c, &c->list[i])] = true;
    c->is_bounded                     = true;
  }
  const yoke_status status = c->is_bounded ? yoke_graph_ask_responses(c->of.graph, is_asked, ctx) : YOKE_OK;
  yoke_arena_release(&c->arena, mark);
  return status;
}

static yoke_status fill(yoke_correction *c, const yoke_correction_def *def, yoke_context *ctx) {
  size_t most = 1;
  for (int w = 0; w < c->of.n_wires; ++w) most += 2 * (size_t)yoke_graph_n_channels(c->of.graph, w);
  c->rules    = yoke_arena_take(&c->arena, (size_t)c->of.n_wires + 1, sizeof *c->rules);
  c->shares   = yoke_arena_take(&c->arena, (size_t)c->of.n_parts + 1, sizeof *c->shares);
  c->first_y  = yoke_arena_take(&c->arena, (size_t)c->of.n_parts + 1, sizeof *c->first_y);
  c->observed = yoke_arena_take(&c->arena, (size_t)c->of.n_parts + 1, sizeof *c->observed);
  c->motion   = yoke_arena_take(&c->arena, (size_t)c->of.n_wires + 1, sizeof *c->motion);
  c->all      = yoke_arena_take(&c->arena, (size_t)c->of.n_parts + 1, sizeof *c->all);
  c->list     = yoke_arena_take(&c->arena, most, sizeof *c->list);
  c->entries  = yoke_arena_take(&c->arena, most, sizeof *c->entries);
  YOKE_TRY(yoke_arena_check(&c->arena, ctx, "the correction of energies"));
  for (int p = 0; p < c->of.n_parts; ++p) c->first_y[p + 1] = c->first_y[p] + c->of.subsystems[p]->ny;
  for (int w = 0; w < c->of.n_wires; ++w) {
    c->rules[w] = def->rules[w];
    if (yoke_energy_acts(c->rules[w].rule)) YOKE_TRY(add_wire(c, w, ctx));
  }
  return ask(c, ctx);
}

yoke_status yoke_correction_create(yoke_context *ctx, const yoke_correction_def *def, yoke_correction **out) {
  bool is_wanted = false;
  *out           = NULL;
  for (int w = 0; w < def->of->n_wires; ++w) is_wanted = is_wanted || yoke_energy_acts(def->rules[w].rule);
  if (!is_wanted) return YOKE_OK;
  yoke_correction *c = yoke_allocate(1, sizeof *c);
  *out               = c;
  if (c == NULL) return yoke_out_of_memory(ctx, "the correction of energies");
  c->arena                 = yoke_arena_of(ctx);
  c->account               = def->account;
  c->of                    = *def->of;
  c->first_number          = def->first_number;
  const yoke_status status = fill(c, def, ctx);
  if (status != YOKE_OK) yoke_correction_destroy(out);
  return status;
}

void yoke_correction_destroy(yoke_correction **correction) {
  yoke_correction *c = *correction;
  if (c == NULL) return;
  yoke_arena_free(&c->scratch);
  yoke_arena_free(&c->arena);
  free(c);
  *correction = NULL;
}

int yoke_correction_n_values(const yoke_correction *c) {
  return c->n_values;
}

const yoke_held_entry *yoke_correction_entries(const yoke_correction *c, int *n) {
  *n = c->n_values;
  return c->entries;
}

/* ---- motion of the ports ---- */

static const double *outputs_now(const yoke_correction *c, int w, int side) {
  return yoke_graph_y(c->of.graph, c->of.wires[w].subsystem[side]) + port_of(c, w, side)->y_at;
}

/* Outputs of a port at both ends of the last step, of length H. */
typedef struct ends {
  const double *old, *now;
  double        H;
} ends;

static ends ends_of(const yoke_correction *c, const component *x, double H, const double *before) {
  const int part = part_of(c, x);
  return (ends){before + c->first_y[part] + port_of(c, x->wire, x->side)->y_at, outputs_now(c, x->wire, x->side), H};
}

/* Displacement along component k of the velocities; of what is no coordinate by its velocities. */
static double displacement_of(const yoke_port_shape *shape, int k, const ends *e) {
  const int at_p = yoke_shape_coordinate(shape, k), at_v = yoke_shape_at_v(shape) + k;
  return at_p >= 0 ? e->now[at_p] - e->old[at_p] : 0.5 * e->H * (e->now[at_v] + e->old[at_v]);
}

/* Displacement and velocity of a component; of a row along its gradient at the end of the step. */
static void find_motion(const yoke_correction *c, const component *x, double H, const double *before, double *dx,
                        double *v) {
  const yoke_wire       *wire  = &c->of.wires[x->wire];
  const yoke_port_shape *shape = wire->shape[x->side];
  const ends             e     = ends_of(c, x, H, before);
  const double *const    y[2]  = {outputs_now(c, x->wire, 0), outputs_now(c, x->wire, 1)};
  yoke_reset_rows        rows;
  if (x->row < 0) {
    *dx = displacement_of(shape, x->at, &e);
    *v  = e.now[yoke_shape_at_v(shape) + x->at];
    return;
  }
  yoke_joint_reset_rows(wire->joint, wire->shape, y, &rows);
  *dx = *v = 0.0;
  for (int k = 0; k < shape->n_v; ++k) {
    *dx += rows.L[x->side][x->row][k] * displacement_of(shape, k, &e);
    *v += rows.L[x->side][x->row][k] * e.now[yoke_shape_at_v(shape) + k];
  }
}

/* Velocity of a component where the last step began, in the direction of find_motion. */
static double velocity_before(const yoke_correction *c, const component *x, const double *before) {
  const yoke_wire       *wire  = &c->of.wires[x->wire];
  const yoke_port_shape *shape = wire->shape[x->side];
  const double          *v     = ends_of(c, x, 0.0, before).old + yoke_shape_at_v(shape);
  const double *const    y[2]  = {outputs_now(c, x->wire, 0), outputs_now(c, x->wire, 1)};
  double                 sum   = 0.0;
  yoke_reset_rows        rows;
  if (x->row < 0) return v[x->at];
  yoke_joint_reset_rows(wire->joint, wire->shape, y, &rows);
  for (int k = 0; k < shape->n_v; ++k) sum += rows.L[x->side][x->row][k] * v[k];
  return sum;
}

/* Components first .. end - 1 of one wire. */
typedef struct range {
  int first, end;
} range;

static range range_of(const yoke_correction *c, int first) {
  range r = {first, first};
  while (r.end < c->n && c->list[r.end].wire == c->list[first].wire) ++r.end;
  return r;
}

static bool is_beside(const component *a, const component *b) {
  return a->side == b->side && a->turns == b->turns;
}

/* sum of |dx . v| over the ports, translations and rotations apart; or of |dx|^2. */
static double measure(const yoke_correction *c, range r, bool is_passive) {
  double sum = 0.0;
  for (int i = r.first; i < r.end; ++i) {
    const component *x       = &c->list[i];
    bool             is_new  = true;
    double           product = 0.0;
    for (int j = r.first; j < r.end; ++j) {
      const component *other = &c->list[j];
      if (!is_beside(x, other)) continue;
      is_new = is_new && j >= i;
      product += other->dx * (is_passive ? other->dx : other->v);
    }
    if (is_new) sum += fabs(product);
  }
  return sum;
}

/* Acceleration of a component for a unit of an input of its side; 0 where that is not known. */
static double acceleration_of(const yoke_correction *c, const component *x, int input) {
  const yoke_wire       *wire     = &c->of.wires[x->wire];
  const yoke_port_shape *shape    = wire->shape[x->side];
  const double          *response = yoke_graph_response(c->of.graph, part_of(c, x));
  if (response == NULL) return 0.0;
  const double *a = response + (size_t)input * (size_t)c->of.subsystems[part_of(c, x)]->ny +
                    port_of(c, x->wire, x->side)->y_at + yoke_shape_at_a(shape);
  if (x->row < 0) return a[x->at];
  const double *const y[2] = {outputs_now(c, x->wire, 0), outputs_now(c, x->wire, 1)};
  yoke_reset_rows     rows;
  double              sum = 0.0;
  yoke_joint_reset_rows(wire->joint, wire->shape, y, &rows);
  for (int k = 0; k < shape->n_v; ++k) sum += rows.L[x->side][x->row][k] * a[k];
  return sum;
}

static void find_responses(yoke_correction *c, range r) {
  for (int i = r.first; i < r.end; ++i) {
    component *x = &c->list[i];
    x->along     = 0.0;
    for (int j = r.first; j < r.end; ++j) {
      const component *other = &c->list[j];
      const int        input = c->entries[other->number - c->first_number].input;
      if (is_beside(x, other)) x->along += acceleration_of(c, x, input) * other->entry * other->v;
    }
  }
}

static void look(yoke_correction *c, double t, const double *before) {
  c->H = yoke_graph_t(c->of.graph) - t;
  for (int i = 0; i < c->n; ++i) {
    component *x = &c->list[i];
    find_motion(c, x, c->H, before, &x->dx, &x->v);
    x->v_next = 2.0 * x->v - velocity_before(c, x, before);
    x->f      = x->sign * yoke_graph_channel(c->of.graph, x->wire, x->channel);
  }
  if (c->is_bounded) yoke_graph_respond(c->of.graph);
  for (int p = 0; p < c->of.n_parts; ++p) c->all[p] = 0.0;
  for (int i = 0; i < c->n;) {
    const range r = range_of(c, i);
    const int   w = c->list[i].wire;
    if (!is_observed(c, w)) find_responses(c, r);
    c->motion[w] = measure(c, r, is_observed(c, w));
    for (int side = 0; side < 2 && !is_observed(c, w); ++side) c->all[c->of.wires[w].subsystem[side]] += c->motion[w];
    i = r.end;
  }
}

/* ---- what is to be corrected ---- */

/* Share of a coupling in what is said of the subsystem on a side: an even one of that of all couplings that a controller observes, of the rest by the
 * motion of the ports, so that those which hardly move are not pushed for what happens at others. */
static double share_of(const yoke_correction *c, int w, int side) {
  const int    part = c->of.wires[w].subsystem[side];
  const double even = 1.0 / c->shares[part];
  if (is_observed(c, w)) return even;
  return c->all[part] > 0.0 ? (1.0 - even * c->observed[part]) * c->motion[w] / c->all[part] : 0.0;
}

static double part_share(const yoke_correction *c, const double *account, int w, int side) {
  const int part = c->of.wires[w].subsystem[side];
  return share_of(c, w, side) * account[yoke_account_of_part(part, YOKE_ACCOUNT_LEAK)];
}

static double wire_number(const yoke_correction *c, const double *account, int w, int number) {
  return account[yoke_account_of_wire(c->of.n_parts, w, number)];
}

static double leak_of(const yoke_correction *c, const double *account, int w) {
  return wire_number(c, account, w, YOKE_ACCOUNT_LEAK) + part_share(c, account, w, 0) + part_share(c, account, w, 1);
}

/* What rounding may leave in leak_of, of the numbers that it is made of. */
static double rounding_of(const yoke_correction *c, int w) {
  static const double share   = 1e-12;
  const double       *account = yoke_account_now(c->account), *energies = yoke_account_energies(c->account);
  double              sum = 0.0;
  for (int number = 0; number < YOKE_ACCOUNT_LEAK; ++number) sum += fabs(wire_number(c, account, w, number));
  for (int side = 0; side < 2; ++side) {
    const int part = c->of.wires[w].subsystem[side];
    for (int k = 0; k < YOKE_N_ENERGIES; ++k) sum += fabs(energies[(ptrdiff_t)part * YOKE_N_ENERGIES + k]);
    sum += fabs(account[yoke_account_of_part(part, YOKE_ACCOUNT_WORK)]);
  }
  return share * sum;
}

/* Energy that the side with the element holds and nobody gave it: its own leak and that of the coupling, with what the element stores
 * between the true motions. */
static double surplus_of(yoke_correction *c, int w, int force_side) {
  const yoke_wire    *wire    = &c->of.wires[w];
  const double       *account = yoke_account_now(c->account);
  const double *const y[2]    = {outputs_now(c, w, 0), outputs_now(c, w, 1)};
  double              stored, lost;
  wire->formulation->shown->energy(wire->self, yoke_graph_t(c->of.graph), y, &stored, &lost, &c->scratch);
  return part_share(c, account, w, 1 - force_side) + wire_number(c, account, w, YOKE_ACCOUNT_LEAK) + stored -
         wire_number(c, account, w, YOKE_ACCOUNT_ENERGY);
}

/* ---- forces ---- */

/* A force `factor` along the motion of each port, cut to its share of the coupling's force and, where forces act along velocities, to one that
 * changes the velocity by no more than so many times itself within a step. `guard`, which is to bring no energy in, leaves ports alone that turn
 * back within the step if they go on as in the last one: behind the turn a force against the velocity of now drives them. */
static void push(yoke_correction *c, range r, double factor, yoke_energy_rule rule, double cap) {
  const bool is_passive = rule == YOKE_ENERGY_PASSIVITY;
  for (int i = r.first; i < r.end; ++i) {
    const component *x     = &c->list[i];
    double           force = 0.0, limit = 0.0, change = 0.0, v = 0.0, onward = 0.0;
    for (int j = r.first; j < r.end; ++j) {
      const component *other = &c->list[j];
      const double     along = is_passive ? other->dx : other->v;
      if (!is_beside(x, other)) continue;
      force += factor * factor * along * along;
      limit += cap * cap * other->f * other->f;
      change += fabs(factor) * c->H * other->along * other->v;
      v += most_change * other->v * other->v;
      onward += other->v * other->v_next;
    }
    if (rule == YOKE_ENERGY_GUARD && !(onward > 0.0)) continue;
    double scale = force > limit ? sqrt(limit / force) : 1.0;
    if (!is_passive && scale * change > v) scale = v / change;
    const double f = scale * factor * (is_passive ? x->dx : x->v);
    if (isfinite(f))
      yoke_graph_set_held(c->of.graph, x->number, yoke_graph_held(c->of.graph, x->number) + x->entry * f);
  }
}

static void set_wire(yoke_correction *c, range r) {
  const int                   w        = c->list[r.first].wire;
  const yoke_correction_rule *rule     = &c->rules[w];
  const bool                  observed = is_observed(c, w);
  const double leak  = observed ? surplus_of(c, w, c->list[r.first].side) : leak_of(c, yoke_account_now(c->account), w);
  const bool   grows = leak > leak_of(c, yoke_account_before(c->account), w);
  if (observed && !(leak > 0.0)) return;
  if (rule->rule == YOKE_ENERGY_GUARD && !(leak > 0.0 && grows)) return;
  if (!observed && fabs(leak) <= rounding_of(c, w)) return;
  if (c->motion[w] > 0.0) push(c, r, -leak / c->motion[w], rule->rule, rule->cap);
}

void yoke_correction_clear(yoke_correction *c) {
  for (int k = 0; k < c->n_values; ++k) yoke_graph_set_held(c->of.graph, c->first_number + k, 0.0);
}

void yoke_correction_set(yoke_correction *c, double t, const double *before) {
  yoke_correction_clear(c);
  look(c, t, before);
  for (int i = 0; i < c->n;) {
    const range r = range_of(c, i);
    set_wire(c, r);
    i = r.end;
  }
}

void yoke_correction_count(yoke_correction *c, double t, const double *before) {
  const double H = yoke_graph_t(c->of.graph) - t;
  for (int i = 0; i < c->n; ++i) {
    const component *x = &c->list[i];
    double           dx, v;
    if (!x->is_first) continue;
    find_motion(c, x, H, before, &dx, &v);
    yoke_account_correct(c->account, x->wire, x->side, x->entry * yoke_graph_held(c->of.graph, x->number) * dx);
  }
}
