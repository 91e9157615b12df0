#include "frames/force_elements.h"

#include <string.h>

static double row_force(const yoke_force_element *el, int i, double x, double v, double t, double *F_x, double *F_v) {
  if (el->law != NULL) return yoke_law_force_in(el->law, x, v, t, el->room, F_x, F_v);
  *F_x = el->stiffness[i];
  *F_v = el->damping[i];
  return el->stiffness[i] * x + el->damping[i] * v;
}

static void apply_rod(const yoke_force_element *el, const yoke_pose *poses, double *wrench) {
  const int *node = el->link.node;
  double     f[12];
  yoke_rod_element_force(el->rod, &poses[node[0]], &poses[node[1]], f);
  for (int k = 0; k < 6; ++k) {
    wrench[6 * node[0] + k] += f[k];
    wrench[6 * node[1] + k] += f[6 + k];
  }
}

void yoke_force_element_apply(const yoke_force_element *el, const yoke_pose *poses, double t, double *wrench) {
  yoke_link_state state;
  if (el->rod != NULL) {
    apply_rod(el, poses, wrench);
    return;
  }
  yoke_link_state_for(&el->link, el->n, el->row, poses, &state);
  for (int i = 0; i < el->n; ++i) {
    double       grad[12], F_x, F_v;
    const double x    = yoke_row_gradient(&el->row[i], &state, grad) - el->offset[i];
    const double F    = row_force(el, i, x, yoke_row_rate(grad, &state), t, &F_x, &F_v);
    double      *side = wrench + 6 * el->link.node[0], *other = wrench + 6 * el->link.node[1];
    for (int k = 0; k < 6; ++k) {
      side[k] -= F * grad[k];
      other[k] -= F * grad[6 + k];
    }
  }
}

void yoke_force_element_jacobian(const yoke_force_element *el, const yoke_pose *poses, double t, double f[12],
                                 double K[144], double D[144]) {
  yoke_link_state state;
  if (el->rod != NULL) {
    yoke_rod_element_jacobian(el->rod, &poses[el->link.node[0]], &poses[el->link.node[1]], f, K, D);
    return;
  }
  yoke_link_state_for(&el->link, el->n, el->row, poses, &state);
  memset(f, 0, 12 * sizeof *f);
  memset(K, 0, 144 * sizeof *K);
  memset(D, 0, 144 * sizeof *D);
  for (int i = 0; i < el->n; ++i) {
    double       grad[12], h[12], F_x, F_v;
    const double x = yoke_row_gradient(&el->row[i], &state, grad) - el->offset[i];
    const double F = row_force(el, i, x, yoke_row_rate(grad, &state), t, &F_x, &F_v);
    yoke_row_hessian_add(&el->row[i], &state, -F, K);
    yoke_row_rate_gradient(&el->row[i], &state, grad, h);
    for (int r = 0; r < 12; ++r) {
      f[r] -= F * grad[r];
      for (int c = 0; c < 12; ++c) {
        K[12 * r + c] -= grad[r] * (F_x * grad[c] + F_v * h[c]);
        D[12 * r + c] -= grad[r] * F_v * grad[c];
      }
    }
  }
}

bool yoke_force_element_loses(const yoke_force_element *el) {
  const double *damping = el->rod != NULL ? el->rod->damping : el->damping;
  if (el->rod == NULL && el->law != NULL) return yoke_law_loses(el->law);
  for (int i = 0; i < el->n; ++i) {
    if (damping[i] != 0.0) return true;
  }
  return false;
}

void yoke_force_element_energy(const yoke_force_element *el, const yoke_pose *poses, double t, double *potential,
                               double *power_lost) {
  yoke_link_state state;
  if (el->rod != NULL) {
    yoke_rod_element_energy(el->rod, &poses[el->link.node[0]], &poses[el->link.node[1]], potential, power_lost);
    return;
  }
  yoke_link_state_for(&el->link, el->n, el->row, poses, &state);
  for (int i = 0; i < el->n; ++i) {
    double grad[12];
    if (potential == NULL && el->law == NULL && el->damping[i] == 0.0) continue; /* it loses nothing */
    const double x    = yoke_row_gradient(&el->row[i], &state, grad) - el->offset[i];
    const double rate = power_lost != NULL ? yoke_row_rate(grad, &state) : 0.0;
    if (potential != NULL)
      *potential += el->law != NULL ? yoke_law_potential(el->law, x) : 0.5 * el->stiffness[i] * x * x;
    if (power_lost != NULL)
      *power_lost +=
          el->law != NULL ? yoke_law_power_lost(el->law, x, rate, t, el->room) : el->damping[i] * rate * rate;
  }
}

void yoke_force_element_output(const yoke_force_element *el, const yoke_pose *poses, double t, double *force,
                               double *deflection) {
  yoke_link_state state;
  if (el->rod != NULL) {
    yoke_rod_element_output(el->rod, &poses[el->link.node[0]], &poses[el->link.node[1]], force, deflection);
    return;
  }
  yoke_link_state_for(&el->link, el->n, el->row, poses, &state);
  for (int i = 0; i < el->n; ++i) {
    double grad[12], F_x, F_v;
    deflection[i] = yoke_row_gradient(&el->row[i], &state, grad) - el->offset[i];
    force[i]      = row_force(el, i, deflection[i], yoke_row_rate(grad, &state), t, &F_x, &F_v);
  }
}

bool yoke_force_element_is_linear(const yoke_force_element *el) {
  if (el->rod != NULL) return false;
  for (int i = 0; i < el->n; ++i) {
    if (el->row[i].kind != YOKE_ROW_STRETCH && el->row[i].kind != YOKE_ROW_POINT) return false;
  }
  const yoke_law *law = el->law;
  return law == NULL ||
         (law->expression == NULL && law->table.n == 0 && law->stiffness_power == 0.0 && law->damping_power == 0.0);
}
