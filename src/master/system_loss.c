/* What the elements that wires hold have lost since the start. */
#include "master/system_internal.h"

#include "energy/wire_loss.h"
#include <string.h>

/* Does any coupling hold an element, or tell what works through it? Copies of halos do neither. */
static bool tells_energy(const yoke_plan *plan) {
  for (int w = 0; w < plan->n_couplings; ++w) {
    const yoke_shown_form *shown = plan->wires[w].formulation->shown;
    if (shown != NULL && (shown->energy != NULL || shown->power != NULL)) return true;
  }
  return false;
}

yoke_status system_loss_create(yoke_system *s, yoke_context *ctx) {
  for (int p = 0; p < s->plan->n_parts; ++p) s->loss.ny += (size_t)s->subsystems[p]->ny;
  s->loss.is_wanted = s->plan->has_work && tells_energy(s->plan);
  s->loss.t         = s->plan->t_start;
  if (!s->loss.is_wanted) return YOKE_OK;
  s->loss.before = yoke_arena_take(&s->arena, s->loss.ny + 1, sizeof *s->loss.before);
  return yoke_arena_check(&s->arena, ctx, "the energy of couplings");
}

/* Outputs of the ports of wire w in an array of those of all subsystems; NULL: those at the present time. */
static yoke_wire_point point_of(const yoke_system *s, int w, const double *all, double t) {
  const yoke_wire *wire = &s->plan->wires[w];
  yoke_wire_point  out  = {.t = t};
  for (int side = 0; side < 2; ++side) {
    const double *y = all;
    for (int p = 0; all != NULL && p < wire->subsystem[side]; ++p) y += s->subsystems[p]->ny;
    if (all == NULL) y = yoke_graph_y(s->graph, wire->subsystem[side]);
    out.y[side] = y + s->subsystems[wire->subsystem[side]]->ports[wire->port[side]].y_at;
  }
  return out;
}

double system_loss_at(yoke_system *s, double t) {
  double sum = s->loss.sum;
  if (!s->loss.is_wanted || !(t > s->loss.t)) return sum;
  if (s->account != NULL && t >= yoke_graph_t(s->graph)) return yoke_account_lost(s->account);
  for (int w = 0; w < s->plan->n_couplings; ++w) {
    if (s->plan->couplings[w].is_signal) continue; /* holds nothing, and may end at an input without a port */
    const yoke_wire_point from = point_of(s, w, s->loss.before, s->loss.t),
                          to   = point_of(s, w, NULL, yoke_graph_t(s->graph));
    sum += yoke_wire_loss(&s->plan->wires[w], &from, &to, t, &s->loss.scratch);
  }
  return sum;
}

/* A step begins: what was lost up to here, and the outputs from which the next loss is counted. */
void system_loss_begin(yoke_system *s) {
  const double t = yoke_graph_t(s->graph);
  if (!s->loss.is_wanted) return;
  s->loss.sum = s->account != NULL && t > s->loss.t ? yoke_account_lost(s->account) : system_loss_at(s, t);
  s->loss.t   = t;
  memcpy(s->loss.before, yoke_graph_y(s->graph, 0), s->loss.ny * sizeof *s->loss.before);
}
