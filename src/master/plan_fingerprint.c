#include "master/fingerprint.h"
#include "master/foreign_part.h"
#include "master/plan_directory.h"

#include "control/control_settings.h"
#include "coupling/scheme_settings.h"
#include "model/model_fingerprint.h"
#include <stdio.h>

/* ---- parts ---- */

typedef struct object_list {
  yoke_pack  *out;
  const char *part;
} object_list;

static void put_object(void *user, const char *kind, const char *name, uint64_t sum) {
  const object_list *list = user;
  if (name[0] == '\0')
    yoke_fingerprint_sum(list->out, sum, "%s of subsystem '%s'", kind, list->part);
  else
    yoke_fingerprint_sum(list->out, sum, "%s '%s' of subsystem '%s'", kind, name, list->part);
}

/* Type and parameters of a foreign subsystem. */
static void put_foreign(const yoke_foreign_part *part, yoke_pack *out) {
  yoke_fingerprint_text(out, part->type, "the type of subsystem '%s'", part->name);
  yoke_fingerprint_number(out, "the number of its parameters", part->n_arguments);
  for (int k = 0; k < part->n_arguments; ++k) {
    const yoke_user_argument *argument = &part->arguments[k];
    char                      name[200];
    snprintf(name, sizeof name, "subsystems.%.64s.parameters.%.64s", part->name, argument->name);
    if (argument->text != NULL)
      yoke_fingerprint_text(out, argument->text, "%s", name);
    else
      yoke_fingerprint_number(out, name, argument->value);
  }
}

/* Which bodies go together in lockstep: sums are formed half by half. */
static void put_halves(const yoke_plan *plan, int p, yoke_pack *out) {
  const yoke_model *model = plan->native[p].def.model;
  uint64_t          sum   = YOKE_CHECKSUM_START;
  for (int i = 0; i < model->n_parts; ++i) {
    const yoke_split_part *part = &model->parts[i];
    sum                         = yoke_checksum(sum, &part->n_bodies, sizeof part->n_bodies);
    sum                         = yoke_checksum(sum, part->bodies, (size_t)part->n_bodies * sizeof *part->bodies);
  }
  yoke_fingerprint_sum(out, sum, "the split in lockstep of subsystem '%s'", plan->parts[p].name);
}

static void put_part(const yoke_plan *plan, int p, yoke_pack *out) {
  const yoke_plan_part    *part = &plan->parts[p];
  object_list              list = {.out = out, .part = part->name};
  const yoke_own_settings *own  = plan->scheme.own;
  char                     path[200];
  yoke_fingerprint_text(out, part->name, "the name of subsystem %d", p + 1);
  snprintf(path, sizeof path, YOKE_SUBSYSTEM_PATH ".%s", part->name);
  if (own != NULL) yoke_fingerprint_settings(out, &yoke_subsystem_rows, path, &own[p]);
  if (part->make == yoke_native_part_make) yoke_model_fingerprint(plan->native[p].def.model, put_object, &list);
  if (part->make == yoke_native_part_make && plan->native[p].in_parts) put_halves(plan, p, out);
  if (part->make == yoke_foreign_part_make) put_foreign(part->definition, out);
}

/* ---- couplings ---- */

static uint64_t add_rows(uint64_t sum, const yoke_link *link, int n, const yoke_row *rows, const double *offset) {
  sum = yoke_checksum(sum, link->origin, sizeof link->origin);
  sum = yoke_checksum(sum, link->axes, sizeof link->axes);
  for (int i = 0; i < n; ++i) {
    const int row[3] = {(int)rows[i].kind, rows[i].k, rows[i].l};
    sum              = yoke_checksum(sum, row, sizeof row);
    sum              = yoke_checksum(sum, &offset[i], sizeof offset[i]);
  }
  return sum;
}

/* What the port of a side shows by handles. */
static uint64_t add_shown(uint64_t sum, const yoke_plan *plan, const yoke_plan_coupling *c, int side) {
  if (plan->parts[c->part[side]].make != yoke_native_part_make) return sum;
  const yoke_native_signals *shown = &plan->native[c->part[side]].submodel.port_signals[c->port[side]];
  return yoke_checksum(sum, shown->handles, (size_t)shown->n * sizeof *shown->handles);
}

/* What a signal carries, and where it comes from and goes to. */
static uint64_t sum_of_signal(const yoke_plan *plan, const yoke_plan_coupling *c) {
  const double numbers[] = {c->signal.factor, c->signal.offset};
  uint64_t     sum       = yoke_expression_checksum(YOKE_CHECKSUM_START, c->signal.expression);
  sum                    = yoke_checksum(sum, numbers, sizeof numbers);
  sum                    = yoke_checksum(sum, c->port, sizeof c->port);
  return add_shown(sum, plan, c, 0);
}

static uint64_t sum_of_coupling(const yoke_plan *plan, const yoke_plan_coupling *c) {
  uint64_t sum = yoke_law_checksum(YOKE_CHECKSUM_START, &c->law);
  if (c->is_signal) return sum_of_signal(plan, c);
  if (c->is_joint) return add_rows(sum, &c->joint.link, c->joint.n, c->joint.row, c->joint.offset);
  const yoke_force_element *e = &c->element_law;
  sum                         = add_rows(sum, &e->link, e->n, e->row, e->offset);
  sum                         = yoke_checksum(sum, e->stiffness, (size_t)e->n * sizeof *e->stiffness);
  for (int side = 0; c->n_read > 0 && side < 2; ++side) sum = add_shown(sum, plan, c, side);
  for (int side = 0; c->is_overlap && side < 2; ++side) sum = yoke_law_checksum(sum, &c->overlap.edge[side]);
  sum = yoke_checksum(sum, &c->halo, sizeof c->halo);
  return yoke_checksum(sum, e->damping, (size_t)e->n * sizeof *e->damping);
}

static void put_coupling(const yoke_plan *plan, int k, yoke_pack *out) {
  const yoke_plan_coupling *c = &plan->couplings[k];
  char                      path[200];
  yoke_fingerprint_text(out, c->name, "the name of coupling %d", k + 1);
  for (int side = 0; side < 2; ++side)
    yoke_fingerprint_text(out, plan->parts[c->part[side]].name, "side %d of coupling '%s'", side + 1, c->name);
  yoke_fingerprint_sum(out, sum_of_coupling(plan, c), "connection '%s'", c->name);
  snprintf(path, sizeof path, YOKE_COUPLING_PATH ".%s", c->name);
  yoke_fingerprint_settings(out, &yoke_coupling_rows, path, &c->settings);
  yoke_fingerprint_settings(out, &plan->wires[k].formulation->settings, path, c->settings.own);
}

static void put_inputs(const yoke_plan *plan, yoke_pack *out) {
  uint64_t sum = YOKE_CHECKSUM_START;
  yoke_fingerprint_number(out, "the number of inputs", plan->n_inputs);
  for (int k = 0; k < plan->n_inputs; ++k) {
    char name[200];
    snprintf(name, sizeof name, "inputs.%.128s", plan->inputs[k].name);
    yoke_fingerprint_number(out, name, plan->inputs[k].value);
  }
  for (int k = 0; k < plan->n_constants; ++k)
    sum = yoke_checksum(sum, &plan->inputs[plan->n_inputs + k].value, sizeof(double));
  yoke_fingerprint_sum(out, yoke_checksum(sum, plan->held, (size_t)plan->n_held * sizeof *plan->held),
                       "what the inputs enter");
}

void yoke_plan_fingerprint(const yoke_plan *plan, yoke_pack *out) {
  if (plan->directory->fingerprint != NULL) {
    yoke_pack_append(out, (size_t)plan->directory->fingerprint_size, plan->directory->fingerprint);
    return;
  }
  yoke_fingerprint_text(out, plan->name, "the name of the model");
  yoke_fingerprint_text(out, plan->step.is_free ? "as a whole" : "split", "the way that it runs");
  yoke_fingerprint_number(out, "t_start", plan->t_start);
  yoke_fingerprint_number(out, "output.every", plan->every);
  yoke_fingerprint_text(out, plan->has_work ? "integrated along" : "not integrated", "the work of dampers and loads");
  yoke_fingerprint_number(out, "the number of subsystems", plan->n_parts);
  yoke_fingerprint_number(out, "the number of couplings", plan->n_couplings);
  yoke_fingerprint_number(out, "the number of events", plan->n_events);
  yoke_fingerprint_number(out, "cosimulation.step", plan->step.is_controlled ? 0.0 : plan->step.H);
  if (plan->step.is_controlled)
    yoke_fingerprint_settings(out, &yoke_control_rows, yoke_control_rows.path, &plan->step.control);
  yoke_fingerprint_settings(out, &yoke_scheme_rows, yoke_scheme_rows.path, &plan->scheme);
  yoke_fingerprint_settings(out, &yoke_corrector_rows, yoke_corrector_rows.path, &plan->scheme);
  for (int p = 0; p < plan->n_parts; ++p) put_part(plan, p, out);
  for (int k = 0; k < plan->n_couplings; ++k) put_coupling(plan, k, out);
  if (plan->n_inputs + plan->n_constants > 0) put_inputs(plan, out);
}
