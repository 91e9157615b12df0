#include "master/output_formulas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists ---- */

bool yoke_output_list_add(yoke_output_list *list, const yoke_output *output, const char *name, const char *unit) {
  const size_t n    = (size_t)list->n + 1;
  char        *copy = yoke_arena_text(&list->arena, name);
  if (copy == NULL || !yoke_grow(&list->list, &list->capacity[0], n, sizeof *list->list) ||
      !yoke_grow(&list->name, &list->capacity[1], n, sizeof *list->name) ||
      !yoke_grow(&list->unit, &list->capacity[2], n, sizeof *list->unit))
    return false;
  list->list[list->n]   = *output;
  list->name[list->n]   = copy;
  list->unit[list->n++] = unit;
  return true;
}

void yoke_output_list_trim(yoke_output_list *list) {
  const size_t n = (size_t)list->n;
  yoke_shrink(&list->list, &list->capacity[0], n, sizeof *list->list);
  yoke_shrink(&list->name, &list->capacity[1], n, sizeof *list->name);
  yoke_shrink(&list->unit, &list->capacity[2], n, sizeof *list->unit);
}

void yoke_output_list_clear(yoke_output_list *list) {
  free(list->name);
  free(list->list);
  free(list->unit);
  yoke_arena_free(&list->arena);
  *list = (yoke_output_list){0};
}

double yoke_totals_balance(const yoke_totals *totals) {
  return totals->energy[YOKE_TOTAL_BALANCE];
}

/* ---- observer ---- */

typedef struct observed_part {
  int      n;
  size_t   capacity;
  int64_t *handles;
  int      first_energy;            /* what energies alone ask for stands behind all others */
  int      energy[YOKE_N_ENERGIES]; /* places among the handles; -1: not accounted for */
  int      residual;                /* likewise */
} observed_part;

typedef struct observed_wire {
  bool    has_mean;      /* means of its forces are asked for */
  bool    is_seen;       /* its ports and channels are asked for */
  bool    is_shown;      /* its forces or its gap are */
  int     y_at[2];       /* where the outputs of its ports start among the handles of their subsystems */
  int     first_channel; /* among those of all wires */
  double *force[2], *g;  /* [n_rows] at the present time */
  double *mean[2];       /* [n_rows] forces for the means of the channels; NULL: not asked for */
} observed_wire;

/* An output that is asked for, shown or only read by formulas. */
typedef struct observed_output {
  yoke_output output;
  const char *name;
  int         place; /* among the handles of the subsystem */
} observed_output;

struct yoke_observer {
  yoke_arena        arena; /* of arrays but handles; scratch behind them */
  int               n_parts, n_wires;
  const yoke_wire  *wires;
  int               n, n_all; /* the list, and references that its formulas read behind it */
  observed_output  *list;     /* [n_all] */
  observed_part    *parts;
  observed_wire    *seen;
  bool              with_residuals;
  int              *variable; /* [n_all - n] which variable of formulas is behind the list */
  yoke_formula_work formulas;
  const char       *culprit; /* not finite in the last sighting; NULL: none */
  double            t_culprit;
};

/* Place of a handle among those that are asked of a subsystem, which gets it when it is new; -1: out of memory. */
static int ask(observed_part *part, int64_t handle) {
  if (!yoke_grow(&part->handles, &part->capacity, (size_t)part->n + 1, sizeof *part->handles)) return -1;
  part->handles[part->n] = handle;
  return part->n++;
}

static bool see_wire(yoke_observer *o, const yoke_observer_def *def, int w) {
  const yoke_wire *wire = &o->wires[w];
  if (o->seen[w].is_seen) return true;
  o->seen[w].is_seen = true;
  for (int side = 0; side < 2; ++side) {
    observed_part   *part = &o->parts[wire->subsystem[side]];
    const yoke_port *port = &def->subsystems[wire->subsystem[side]]->ports[wire->port[side]];
    o->seen[w].y_at[side] = part->n;
    for (int k = 0; k < wire->n_y[side]; ++k) {
      if (ask(part, yoke_output_handle(port->y_at + k)) < 0) return false;
    }
  }
  return true;
}

/* Energies of all subsystems. `name`: the output that asks; NULL: they are welcome. */
static yoke_status see_energies(yoke_context *ctx, yoke_observer *o, const yoke_observer_def *def, int total,
                                const char *name) {
  static const int most[YOKE_N_TOTALS] = {
      [YOKE_TOTAL_ENERGY] = YOKE_ENERGY_POTENTIAL,    [YOKE_TOTAL_KINETIC] = YOKE_ENERGY_KINETIC,
      [YOKE_TOTAL_POTENTIAL] = YOKE_ENERGY_POTENTIAL, [YOKE_TOTAL_DISSIPATED] = YOKE_ENERGY_DISSIPATED,
      [YOKE_TOTAL_EXTERNAL] = YOKE_ENERGY_EXTERNAL,   [YOKE_TOTAL_BALANCE] = YOKE_ENERGY_EXTERNAL};
  for (int p = 0; p < o->n_parts; ++p) {
    const yoke_subsystem *s = def->subsystems[p];
    int64_t               handles[YOKE_N_ENERGIES];
    for (int k = 0; k < YOKE_N_ENERGIES; ++k) handles[k] = YOKE_NO_HANDLE;
    if (s->ops->energy != NULL && s->ops->observe != NULL) s->ops->energy->handles(s, handles);
    for (int k = 0; k <= most[total]; ++k) {
      if (handles[k] == YOKE_NO_HANDLE && name != NULL) {
        return yoke_fail(ctx, YOKE_E_MODEL, "output '%s' does not exist: subsystem '%s' does not account for %s", name,
                         s->name, k <= YOKE_ENERGY_POTENTIAL ? "its energy" : "work");
      }
      if (handles[k] == YOKE_NO_HANDLE || o->parts[p].energy[k] >= 0) continue;
      o->parts[p].energy[k] = ask(&o->parts[p], handles[k]);
      if (o->parts[p].energy[k] < 0) return YOKE_E_MEMORY;
    }
  }
  return YOKE_OK;
}

static yoke_status see_residuals(yoke_observer *o, const yoke_observer_def *def) {
  for (int p = 0; p < o->n_parts; ++p) {
    if (def->residual[p] == YOKE_NO_HANDLE) continue;
    o->parts[p].residual = ask(&o->parts[p], def->residual[p]);
    if (o->parts[p].residual < 0) return YOKE_E_MEMORY;
  }
  return YOKE_OK;
}

/* Wires first: outputs of ports are then the first handles of a subsystem, which a graph has at macro points (yoke_graph_show). */
static bool see_wires(yoke_observer *o, const yoke_observer_def *def) {
  for (int i = 0; i < o->n_all; ++i) {
    const yoke_output *output = &o->list[i].output;
    if (output->source != YOKE_OUTPUT_WIRE || o->wires[output->index].formulation->shown == NULL) continue;
    if (!see_wire(o, def, output->index)) return false;
    o->seen[output->index].is_shown = true;
  }
  for (int w = 0; w < o->n_wires; ++w) {
    const bool is_judged = def->with_residuals && o->wires[w].joint != NULL;
    if (!is_judged || o->wires[w].formulation->shown == NULL) continue;
    if (!see_wire(o, def, w)) return false;
    o->seen[w].is_shown = true;
  }
  return true;
}

/* Those that hold energy. */
static bool see_held(yoke_observer *o, const yoke_observer_def *def) {
  bool with_energies = def->with_energies;
  for (int i = 0; i < o->n_all; ++i) with_energies = with_energies || o->list[i].output.source == YOKE_OUTPUT_TOTAL;
  for (int w = 0; with_energies && w < o->n_wires; ++w) {
    const yoke_shown_form *shown = o->wires[w].formulation->shown;
    if (shown != NULL && shown->energy != NULL && !see_wire(o, def, w)) return false;
  }
  return true;
}

static yoke_status see_output(yoke_context *ctx, yoke_observer *o, const yoke_observer_def *def, observed_output *x) {
  const yoke_output *output = &x->output;
  switch (output->source) {
  case YOKE_OUTPUT_PART:
    if (def->subsystems[output->index]->ops->observe == NULL) {
      return yoke_fail(ctx, YOKE_E_MODEL, "output '%s' does not exist: subsystem '%s' cannot be observed", x->name,
                       def->subsystems[output->index]->name);
    }
    x->place = ask(&o->parts[output->index], output->handle);
    return x->place >= 0 ? YOKE_OK : YOKE_E_MEMORY;
  case YOKE_OUTPUT_WIRE:
    if (o->wires[output->index].formulation->shown == NULL) {
      return yoke_fail(ctx, YOKE_E_MODEL, "output '%s' does not exist: formulation '%s' of coupling '%s' shows nothing",
                       x->name, o->wires[output->index].formulation->name, o->wires[output->index].name);
    }
    if (output->quantity == YOKE_WIRE_FORCE_MEAN) o->seen[output->index].has_mean = true;
    return YOKE_OK;
  case YOKE_OUTPUT_ACCOUNT:
    if (def->has_account) return YOKE_OK;
    return yoke_fail(ctx, YOKE_E_MODEL,
                     "output '%s' does not exist: not all subsystems account for their energy and work", x->name);
  case YOKE_OUTPUT_TOTAL: /* below */
  case YOKE_OUTPUT_ZERO:
  case YOKE_OUTPUT_INPUT:
  case YOKE_OUTPUT_FORMULA: /* what it reads is in the list */
  case YOKE_OUTPUT_NONE: break;
  }
  return YOKE_OK;
}

/* The list, then what its formulas read. */
static yoke_status take_list(yoke_observer *o, const yoke_observer_def *def) {
  const int n_references = def->formulas != NULL ? def->formulas->n_references : 0;
  o->list                = yoke_arena_take(&o->arena, (size_t)def->n + (size_t)n_references + 1, sizeof *o->list);
  o->variable            = yoke_arena_take(&o->arena, (size_t)n_references + 1, sizeof *o->variable);
  if (o->arena.has_failed || !yoke_formula_work_create(&o->arena, def->formulas, def->n, def->list, &o->formulas))
    return YOKE_E_MEMORY;
  for (int i = 0; i < def->n; ++i) o->list[i] = (observed_output){.output = def->list[i], .name = def->name[i]};
  o->n_all = o->n;
  for (int k = 0; k < n_references; ++k) {
    const yoke_output *read = &def->formulas->references[k];
    if (!o->formulas.is_read[k] || read->source == YOKE_OUTPUT_FORMULA) continue;
    o->variable[o->n_all - o->n] = k + 1;
    o->list[o->n_all++]          = (observed_output){.output = *read, .name = def->formulas->reference_name[k]};
  }
  return YOKE_OK;
}

static yoke_status take_rows(yoke_observer *o) {
  for (int w = 0; w < o->n_wires; ++w) {
    if (!o->seen[w].is_seen) continue;
    const size_t n      = (size_t)o->wires[w].formulation->shown->n_rows(o->wires[w].self) + 1;
    o->seen[w].force[0] = yoke_arena_take(&o->arena, n, sizeof(double));
    o->seen[w].force[1] = yoke_arena_take(&o->arena, n, sizeof(double));
    o->seen[w].g        = yoke_arena_take(&o->arena, n, sizeof(double));
    if (!o->seen[w].has_mean) continue;
    o->seen[w].mean[0] = yoke_arena_take(&o->arena, n, sizeof(double));
    o->seen[w].mean[1] = yoke_arena_take(&o->arena, n, sizeof(double));
  }
  return o->arena.has_failed ? YOKE_E_MEMORY : YOKE_OK;
}

static yoke_status fill(yoke_context *ctx, yoke_observer *o, const yoke_observer_def *def) {
  YOKE_TRY(take_list(o, def));
  o->parts = yoke_arena_take(&o->arena, (size_t)def->n_parts + 1, sizeof *o->parts);
  o->seen  = yoke_arena_take(&o->arena, (size_t)def->n_wires + 1, sizeof *o->seen);
  if (o->arena.has_failed) return YOKE_E_MEMORY;
  for (int p = 0; p < o->n_parts; ++p) {
    o->parts[p].residual = -1;
    for (int k = 0; k < YOKE_N_ENERGIES; ++k) o->parts[p].energy[k] = -1;
  }
  for (int w = 0; w + 1 < o->n_wires; ++w) o->seen[w + 1].first_channel = o->seen[w].first_channel + def->n_channels[w];
  if (!see_wires(o, def) || (!def->has_account && !see_held(o, def))) return YOKE_E_MEMORY;
  for (int i = 0; i < o->n_all; ++i) YOKE_TRY(see_output(ctx, o, def, &o->list[i]));
  if (def->with_residuals) YOKE_TRY(see_residuals(o, def));
  for (int p = 0; p < o->n_parts; ++p) o->parts[p].first_energy = o->parts[p].n;
  if (def->has_account && !see_held(o, def)) return YOKE_E_MEMORY; /* which knows what they store, at macro points */
  for (int i = 0; i < o->n_all; ++i) {
    const yoke_output *output = &o->list[i].output;
    if (output->source == YOKE_OUTPUT_TOTAL) YOKE_TRY(see_energies(ctx, o, def, output->row, o->list[i].name));
  }
  if (def->with_energies) YOKE_TRY(see_energies(ctx, o, def, YOKE_TOTAL_BALANCE, NULL));
  return take_rows(o);
}

yoke_status yoke_observer_create(yoke_context *ctx, const yoke_observer_def *def, yoke_observer **out) {
  *out             = NULL;
  yoke_observer *o = yoke_allocate(1, sizeof *o);
  if (o == NULL) return yoke_out_of_memory(ctx, "%d outputs", def->n);
  o->arena           = yoke_arena_of(ctx);
  o->n_parts         = def->n_parts;
  o->n_wires         = def->n_wires;
  o->n               = def->n;
  o->wires           = def->wires;
  o->with_residuals  = def->with_residuals;
  yoke_status status = fill(ctx, o, def);
  if (status == YOKE_E_MEMORY) status = yoke_out_of_memory(ctx, "%d outputs", def->n);
  if (status != YOKE_OK) {
    yoke_observer_destroy(&o);
    return status;
  }
  *out = o;
  return YOKE_OK;
}

void yoke_observer_destroy(yoke_observer **observer) {
  yoke_observer *o = *observer;
  if (o == NULL) return;
  for (int p = 0; o->parts != NULL && p < o->n_parts; ++p) free(o->parts[p].handles);
  yoke_arena_free(&o->arena);
  free(o);
  *observer = NULL;
}

int yoke_observer_n_without_energies(const yoke_observer *observer, int part) {
  return observer->parts[part].first_energy;
}

int yoke_observer_n_handles(const yoke_observer *observer, int part) {
  return observer->parts[part].n;
}

const int64_t *yoke_observer_handles(const yoke_observer *observer, int part) {
  return observer->parts[part].handles;
}

/* ---- values ---- */

/* Forces and gap of a wire, where somebody asks for them, and its stored energy [J]. */
static double look_at_wire(yoke_observer *o, int w, const yoke_sighting *at) {
  const yoke_wire       *wire   = &o->wires[w];
  const observed_wire   *seen   = &o->seen[w];
  const yoke_shown_form *shown  = wire->formulation->shown;
  const double *const    y[2]   = {at->parts[wire->subsystem[0]] + seen->y_at[0],
                                   at->parts[wire->subsystem[1]] + seen->y_at[1]};
  double                 stored = 0.0, lost = 0.0;
  if (seen->is_shown && seen->has_mean)
    shown->values(wire->self, at->t, at->means + seen->first_channel, y, seen->mean, seen->g, &o->arena);
  if (seen->is_shown)
    shown->values(wire->self, at->t, at->channels + seen->first_channel, y, seen->force, seen->g, &o->arena);
  if (at->stored != NULL) return at->stored[w];
  if (shown->energy != NULL) shown->energy(wire->self, at->t, y, &stored, &lost, &o->arena);
  return stored;
}

static double part_energy(const yoke_observer *o, const yoke_sighting *at, int p, int k) {
  const int place = o->parts[p].energy[k];
  if (place >= 0 && at->energies != NULL) return at->energies[p * YOKE_N_ENERGIES + k];
  return place >= 0 ? at->parts[p][place] : (double)NAN;
}

static void sum_energies(const yoke_observer *o, const yoke_sighting *at, double stored, yoke_totals *totals) {
  double sum[YOKE_N_ENERGIES] = {
      [YOKE_ENERGY_POTENTIAL] = stored, [YOKE_ENERGY_DISSIPATED] = at->lost, [YOKE_ENERGY_EXTERNAL] = at->brought};
  for (int p = 0; p < o->n_parts; ++p) {
    for (int k = 0; k < YOKE_N_ENERGIES; ++k) sum[k] += part_energy(o, at, p, k);
  }
  double *e                = totals->energy;
  e[YOKE_TOTAL_KINETIC]    = sum[YOKE_ENERGY_KINETIC];
  e[YOKE_TOTAL_POTENTIAL]  = sum[YOKE_ENERGY_POTENTIAL];
  e[YOKE_TOTAL_DISSIPATED] = sum[YOKE_ENERGY_DISSIPATED];
  e[YOKE_TOTAL_EXTERNAL]   = sum[YOKE_ENERGY_EXTERNAL];
  e[YOKE_TOTAL_ENERGY]     = e[YOKE_TOTAL_KINETIC] + e[YOKE_TOTAL_POTENTIAL];
  e[YOKE_TOTAL_BALANCE]    = e[YOKE_TOTAL_ENERGY] + e[YOKE_TOTAL_DISSIPATED] - e[YOKE_TOTAL_EXTERNAL];
}

static double largest_residual(const yoke_observer *o, const yoke_sighting *at) {
  double most = 0.0;
  for (int p = 0; p < o->n_parts; ++p) {
    if (o->parts[p].residual >= 0) most = fmax(most, at->parts[p][o->parts[p].residual]);
  }
  for (int w = 0; w < o->n_wires; ++w) {
    if (!o->seen[w].is_seen || o->wires[w].joint == NULL) continue;
    const int n = o->wires[w].formulation->shown->n_rows(o->wires[w].self);
    for (int i = 0; i < n; ++i) most = fmax(most, fabs(o->seen[w].g[i]));
  }
  return most;
}

/* Coordinate of a joint between the ports of a wire, or its rate. */
static double coordinate_of(const yoke_observer *o, const yoke_output *output, const yoke_sighting *at) {
  const yoke_wire *wire = &o->wires[output->index];
  yoke_pose        ends[2];
  double           rate;
  for (int side = 0; side < 2; ++side) {
    const double *y = at->parts[wire->subsystem[side]] + o->seen[output->index].y_at[side];
    yoke_shape_pose(wire->shape[side], y, y + yoke_shape_at_v(wire->shape[side]), &ends[side]);
  }
  const double value = yoke_coordinate_value(output->coordinate, ends, &rate);
  return output->quantity == YOKE_WIRE_COORDINATE_RATE ? rate : value;
}

static double wire_value(const yoke_observer *o, const yoke_output *output, const yoke_sighting *at) {
  const observed_wire *seen = &o->seen[output->index];
  const double         sign = output->is_turned ? -1.0 : 1.0;
  switch (output->quantity) {
  case YOKE_WIRE_G: return seen->g[output->row];
  case YOKE_WIRE_FORCE: return sign * seen->force[0][output->row];
  case YOKE_WIRE_FORCE_MEAN: return sign * seen->mean[0][output->row];
  case YOKE_WIRE_MISMATCH: return sign * (seen->force[1][output->row] - seen->force[0][output->row]);
  case YOKE_WIRE_COORDINATE:
  case YOKE_WIRE_COORDINATE_RATE: break;
  }
  return coordinate_of(o, output, at);
}

static double value_of(const yoke_observer *o, int i, const yoke_sighting *at, const yoke_totals *totals) {
  const yoke_output *output = &o->list[i].output;
  switch (output->source) {
  case YOKE_OUTPUT_PART: return at->parts[output->index][o->list[i].place];
  case YOKE_OUTPUT_WIRE: return wire_value(o, output, at);
  case YOKE_OUTPUT_TOTAL: return totals->energy[output->row];
  case YOKE_OUTPUT_ACCOUNT: return at->account[output->index];
  case YOKE_OUTPUT_INPUT: return at->inputs[output->index];
  case YOKE_OUTPUT_FORMULA: return o->formulas.value[output->index];
  case YOKE_OUTPUT_ZERO:
  case YOKE_OUTPUT_NONE: break;
  }
  return 0.0;
}

static void evaluate_formulas(yoke_observer *o, const yoke_sighting *at, const yoke_totals *totals) {
  o->formulas.variables[0] = at->t;
  for (int i = o->n; i < o->n_all; ++i) o->formulas.variables[o->variable[i - o->n]] = value_of(o, i, at, totals);
  yoke_formula_work_evaluate(&o->formulas);
}

yoke_status yoke_observer_show(yoke_observer *o, const yoke_sighting *at, double *values, yoke_totals *totals) {
  yoke_totals own    = {0};
  double      stored = 0.0;
  for (int w = 0; w < o->n_wires; ++w) {
    if (o->seen[w].is_seen) stored += look_at_wire(o, w, at);
  }
  if (o->arena.has_failed) return YOKE_E_MEMORY; /* scratch of the wires */
  if (o->n_parts > 0) sum_energies(o, at, stored, &own);
  evaluate_formulas(o, at, &own);
  o->culprit = NULL;
  for (int i = 0; i < o->n; ++i) {
    values[i] = value_of(o, i, at, &own);
    if (isfinite(values[i]) || o->culprit != NULL) continue;
    o->culprit   = o->list[i].name;
    o->t_culprit = at->t;
  }
  if (o->culprit != NULL) return YOKE_NON_FINITE;
  if (totals == NULL) return YOKE_OK;
  own.residual = largest_residual(o, at);
  *totals      = own;
  return YOKE_OK;
}

const char *yoke_observer_take_culprit(yoke_observer *o, double *t) {
  const char *culprit = o->culprit;
  *t                  = o->t_culprit;
  o->culprit          = NULL;
  return culprit;
}
