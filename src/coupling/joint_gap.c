#include "coupling/joint_gap.h"
#include "coupling/residuals.h"

#include <math.h>
#include <stdio.h>

static const double met      = 1e-6;  /* of L, L/H, L/H^2 */
static const double rounding = 1e-13; /* of what a level is the difference of */

void graph_port_sizes(const graph_wire *wire, const double *const y[2], double L, double size[3]) {
  size[0] = size[1] = size[2] = 0.0;
  for (int side = 0; side < 2; ++side) {
    const yoke_port_shape *shape = wire->wire.shape[side];
    const int              n_p = shape->n_p, n_v = shape->n_v;
    for (int k = 0; k < n_p; ++k) size[0] = fmax(size[0], fabs(y[side][k]) * (yoke_shape_p_turns(shape, k) ? L : 1.0));
    for (int k = 0; k < n_v; ++k) {
      const double unit = yoke_shape_v_turns(shape, k) ? L : 1.0;
      size[1]           = fmax(size[1], fabs(y[side][n_p + k]) * unit);
      size[2]           = fmax(size[2], fabs(y[side][n_p + n_v + k]) * unit);
    }
  }
}

void graph_joint_gap(const yoke_graph *g, const graph_wire *wire, joint_gap *out) {
  const yoke_joint_element *joint = wire->wire.joint;
  const double              L = g->settings.length, H = g->H;
  const double             *y[2];
  double                    level[YOKE_JOINT_LEVELS][YOKE_JOINT_MAX_ROWS], size[3];
  for (int side = 0; side < 2; ++side)
    y[side] = graph_port(wire, side, g->subsystems[wire->wire.subsystem[side]].y_new);
  yoke_joint_levels(joint, wire->wire.shape, y, level);
  graph_port_sizes(wire, y, L, size);
  *out = (joint_gap){0};
  for (int l = 0; l < YOKE_JOINT_LEVELS; ++l) {
    for (int i = 0; i < joint->n; ++i) {
      const double value = fabs(level[l][i]) * (yoke_row_is_length(&joint->row[i]) ? 1.0 : L);
      if (value <= out->level[l]) continue;
      out->level[l] = value; /* NaN too */
      if (l == 0) out->row = i;
    }
    /* a level inherits the rounding of those below it, divided by H for each */
    const double noise = size[l] + (l > 0 ? size[l - 1] / H : 0.0) + (l > 1 ? size[0] / (H * H) : 0.0);
    out->is_met[l]     = out->level[l] <= fmax(met * L / pow(H, l), rounding * noise);
  }
}

bool graph_levels_are_met(const yoke_graph *g) {
  static const unsigned bits[YOKE_JOINT_LEVELS] = {YOKE_HOLDS_POSITION, YOKE_HOLDS_VELOCITY, YOKE_HOLDS_ACCELERATION};
  if (!(g->settings.length > 0.0) || g->n_sets > 1) return true;
  for (int w = 0; w < g->n_wires; ++w) {
    const graph_wire      *wire  = &g->wires[w];
    const yoke_joint_form *joint = wire->wire.formulation->joint;
    if (wire->wire.joint == NULL || joint == NULL || joint->resets_states) continue;
    const unsigned holds = joint->holds(wire->wire.self);
    joint_gap      gap;
    graph_joint_gap(g, wire, &gap);
    for (int l = 0; l < YOKE_JOINT_LEVELS; ++l) {
      if ((holds & bits[l]) != 0 && !gap.is_met[l]) return false;
    }
  }
  return true;
}

yoke_status graph_check_gaps(yoke_graph *g, yoke_step_statistics *statistics) {
  static const yoke_residual_kind kinds[YOKE_JOINT_LEVELS] = {YOKE_RESIDUAL_POSITION, YOKE_RESIDUAL_VELOCITY,
                                                              YOKE_RESIDUAL_ACCELERATION};
  g->widest                                                = (graph_widest_gap){.wire = -1};
  for (int w = 0; g->has_joints && g->settings.length > 0.0 && w < g->n_wires; ++w) {
    joint_gap gap;
    if (g->wires[w].wire.joint == NULL) continue;
    graph_joint_gap(g, &g->wires[w], &gap);
    for (int l = 0; l < YOKE_JOINT_LEVELS; ++l) {
      double *largest = &statistics->residuals[kinds[l]];
      if (!(gap.level[l] <= *largest)) *largest = gap.level[l];
      statistics->sizes[kinds[l]] = graph_residual_size(g, kinds[l]);
    }
    if (g->widest.wire < 0 || !(gap.level[0] <= g->widest.gap))
      g->widest = (graph_widest_gap){w, gap.row, gap.level[0]};
  }
  const bool is_judged = g->widest.wire >= 0 && g->settings.joint_tolerance > 0.0;
  return is_judged && !(g->widest.gap <= g->settings.joint_tolerance) ? YOKE_JOINT_OPEN : YOKE_OK;
}

void yoke_graph_open_joint(const yoke_graph *g, char *text, size_t size) {
  text[0] = '\0';
  if (g->widest.wire < 0) return;
  const graph_wire *wire      = &g->wires[g->widest.wire];
  const yoke_row   *row       = &wire->wire.joint->row[g->widest.row];
  const bool        is_length = yoke_row_is_length(row);
  char              label[32];
  yoke_row_label(row, label, sizeof label);
  snprintf(text, size, "joint '%s' (%s) is open by %.3g %s, more than joint_tolerance %.3g %s allows", wire->wire.name,
           label, is_length ? g->widest.gap : g->widest.gap / g->settings.length, is_length ? "m" : "rad",
           is_length ? g->settings.joint_tolerance : g->settings.joint_tolerance / g->settings.length,
           is_length ? "m" : "rad");
}

bool graph_joints_are_closed(const yoke_graph *g) {
  int n_joints = 0;
  if (!(g->settings.length > 0.0) || g->n_sets > 1) return false;
  for (int w = 0; w < g->n_wires; ++w) {
    const graph_wire      *wire = &g->wires[w];
    const yoke_joint_form *form = wire->wire.formulation->joint;
    if (wire->wire.joint != NULL && form != NULL && !form->resets_states) {
      ++n_joints;
    } else if (!yoke_channel_is_signal(&g->channels[wire->first].info)) {
      return false;
    }
  }
  return n_joints > 0 && graph_levels_are_met(g);
}
