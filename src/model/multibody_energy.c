/* Energies, powers, quadratures, events, and the matrices of linear models. */
#include "model/multibody_internal.h"
#include "base/memory.h"

#include "linalg/space.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Kinetic energy and potential of weight of the nodes. */
static void body_energy(const yoke_multibody *mb, const mb_work *w, const double *v, double *kinetic,
                        double *potential) {
  for (int i = 1; i < mb->n_nodes; ++i) {
    const mb_node   *node = &mb->nodes[i];
    const yoke_pose *pose = &w->pose[i];
    if (node->kind == YOKE_BODY_CHAIN || node->flexible > 0 || node->is_copy) continue;
    *kinetic += 0.5 * node->mass * vec3_dot(pose->v, pose->v);
    *potential -= node->mass * vec3_dot(mb->model->gravity, pose->r);
    if (node->kind == YOKE_BODY_RIGID) {
      double Jw[3];
      mat3_apply(Jw, node->inertia, v + node->iv + 3);
      *kinetic += 0.5 * vec3_dot(Jw, v + node->iv + 3);
    } else if (node->kind == YOKE_BODY_PLANAR) {
      *kinetic += 0.5 * node->inertia[8] * pose->w[2] * pose->w[2];
    }
  }
}

/* Does another subsystem count the energy of a connection? */
static bool is_copy(const yoke_multibody *mb, int connection) {
  return connection >= 0 && mb->model->connections[connection].is_copy;
}

/* What ends at a ghost belongs to the wire that holds it: it stores and dissipates nothing here, and its work, like that of inputs, passes through
 * a port. */
bool mb_is_elsewhere(const yoke_multibody *mb, const yoke_force_element *element) {
  return mb_is_cut(mb, &element->link) || is_copy(mb, element->connection);
}

bool mb_load_is_elsewhere(const yoke_multibody *mb, const yoke_load_element *load) {
  return load->node >= mb->n_nodes || load->load->is_copy;
}

/* Adds energies of elements, loads, flexible bodies and chains. */
static void add_stored(const yoke_multibody *mb, const mb_work *w, double t, const double *q, const double *v,
                       double *kinetic, double *potential) {
  for (int i = 0; i < mb->n_forces; ++i) {
    if (!mb_is_elsewhere(mb, &mb->forces[i])) yoke_force_element_energy(&mb->forces[i], w->pose, t, potential, NULL);
  }
  for (int i = 0; i < mb->n_loads; ++i) {
    if (!mb_load_is_elsewhere(mb, &mb->loads[i])) yoke_load_energy(&mb->loads[i], w->pose, potential);
  }
  if (mb->n_formulas > 0) *potential += mb_formula_potential(mb, w);
  for (int i = 0; i < mb->n_flexibles; ++i) {
    const mb_flexible *f = &mb->flexibles[i];
    yoke_flexible_energy(f->given, mb->model->gravity, q + f->iq, v + f->iv, kinetic, potential);
  }
  for (int c = 0; c < mb->n_chains; ++c) {
    const mb_chain *chain = &mb->chains[c];
    double          k, p;
    yoke_chain_kernel_energy(chain->kernel, mb->model->gravity[0], q + chain->iq, v + chain->iv, &k, &p);
    *kinetic += k;
    *potential += p;
  }
}

/* Adds their powers. */
static void add_powers(const yoke_multibody *mb, const mb_work *w, double t, const double *q, const double *v,
                       double *dissipated, double *external) {
  for (int i = 0; i < mb->n_forces; ++i) {
    if (yoke_force_element_loses(&mb->forces[i]) && !mb_is_elsewhere(mb, &mb->forces[i]))
      yoke_force_element_energy(&mb->forces[i], w->pose, t, NULL, dissipated);
  }
  for (int i = 0; i < mb->n_loads; ++i) {
    if (!mb_load_is_elsewhere(mb, &mb->loads[i]))
      yoke_load_powers(&mb->loads[i], w->pose, w->variables, dissipated, external);
  }
  if (mb->n_formulas > 0) *dissipated += mb_formula_power(mb, w);
  for (int i = 0; i < mb->n_flexibles; ++i) {
    const mb_flexible *f = &mb->flexibles[i];
    yoke_flexible_power_lost(f->given, q + f->iq, v + f->iv, dissipated);
  }
  for (int c = 0; c < mb->n_chains; ++c) {
    const mb_chain *chain = &mb->chains[c];
    double          d, e;
    yoke_chain_kernel_powers(chain->kernel, t, q + chain->iq, v + chain->iv, &d, &e);
    *dissipated += d;
    *external += e;
  }
}

void mb_powers(const yoke_multibody *mb, const mb_work *w, double t, const double *q, const double *v, const double *u,
               const double *lambda, double *dissipated, double *external) {
  *dissipated = *external = 0.0;
  if (mb->needs_variables) mb_variables(mb, w, t, q, v, u);
  add_powers(mb, w, t, q, v, dissipated, external);
  /* v.G^T lambda = lambda.(G v) = -lambda g_t when g' = 0: what prescribed motions supply. */
  for (int g = 0; lambda != NULL && mb->n_motions > 0 && g < mb->ng; ++g) {
    if (is_copy(mb, mb->joints[mb->row_joint[g]].connection)) continue;
    *external += lambda[g] * w->motion_rate[g];
  }
}

/* Poses, and variables where somebody reads them: all that energies and powers need. */
static void look(const yoke_multibody *mb, void *work, const double *q, const double *v, const double *u, mb_work *w) {
  mb_work_carve_poses(mb, work, w);
  mb_poses(mb, w, q, v, false);
  if (mb->n_felt > 0) memset(w->felt, 0, (size_t)mb->n_felt * sizeof *w->felt); /* what feels has quadratures */
  if (mb->needs_variables) mb_ghost_poses(mb, w, u);
}

void mb_powers_at(const void *self, void *work, double t, const double *q, const double *v, const double *u,
                  double *dissipated, double *external) {
  const yoke_multibody *mb = self;
  mb_work               w;
  if (mb->line != NULL) {
    mb_line_powers(mb, t, q, v, dissipated, external);
    return;
  }
  look(mb, work, q, v, u, &w);
  mb_powers(mb, &w, t, q, v, u, NULL, dissipated, external);
}

/* Dampers of elements that it owns, and loads other than contacts, which have a potential. */
static bool chain_has_powers(const yoke_chain *chain) {
  const yoke_per_mass *list[2] = {&chain->damping, &chain->damping_power};
  const int            first   = chain->halo[0] > 0 ? chain->halo[0] + 1 : chain->is_free[0],
            last               = chain->n - (chain->halo[1] > 0 ? chain->halo[1] : chain->is_free[1]);
  for (int k = 0; k < 2; ++k) {
    if (list[k]->each == NULL && list[k]->value != 0.0 && first <= last) return true;
    for (int i = first; list[k]->each != NULL && i <= last; ++i) {
      if (list[k]->each[i] != 0.0) return true;
    }
  }
  for (int k = 0; k < chain->n_loads; ++k) {
    if (chain->loads[k].kind != YOKE_CHAIN_CONTACT) return true;
  }
  return false;
}

bool yoke_multibody_has_powers(const yoke_multibody *mb) {
  bool has = mb->n_formulas > 0;
  for (int i = 0; i < mb->n_forces; ++i)
    has = has || (yoke_force_element_loses(&mb->forces[i]) && !mb_is_elsewhere(mb, &mb->forces[i]));
  for (int i = 0; i < mb->n_loads; ++i)
    has = has || (mb->loads[i].load->kind != YOKE_LOAD_CONTACT && !mb_load_is_elsewhere(mb, &mb->loads[i]));
  for (int i = 0; i < mb->n_flexibles; ++i) has = has || yoke_flexible_is_damped(mb->flexibles[i].given);
  for (int b = 0; b < mb->model->n_bodies; ++b)
    has = has || (mb->model->bodies[b].kind == YOKE_BODY_CHAIN && chain_has_powers(mb->model->bodies[b].chain));
  return has;
}

bool yoke_multibody_powers_read_inputs(const yoke_multibody *mb) {
  return mb->needs_variables;
}

void mb_quadratures(const yoke_multibody *mb, const mb_work *w, double t, const double *q, const double *v,
                    const double *u, const double *lambda, double *qdot) {
  for (int k = 0; mb->n_port_integrals > 0 && k < mb->n_ports; ++k) {
    yoke_pose pose;
    mb_port_pose(mb, &mb->ports[k], q, NULL, &pose);
    mb_port_position(&mb->ports[k], &pose, qdot + mb->ports[k].i_integral);
  }
  for (int k = 0; k < mb->n_integrals; ++k) qdot[mb->i_integral + k] = q[mb->integral[k]];
  for (int k = 0; k < mb->n_jumps; ++k) qdot[mb->i_jump + k] = 0.0;
  if (!mb->has_energy) return;
  mb_powers(mb, w, t, q, v, u, mb->n_rows > 0 ? lambda : NULL, &qdot[mb->i_dissipated], &qdot[mb->i_external]);
}

/* Adds energies of whatever there is. */
static void add_energy(const yoke_multibody *mb, void *work, double t, const double *q, const double *v,
                       yoke_energy *out) {
  mb_work w;
  look(mb, work, q, v, NULL, &w);
  if (mb->n_formulas > 0) mb_variables(mb, &w, t, q, v, NULL);
  body_energy(mb, &w, v, &out->kinetic, &out->potential);
  add_stored(mb, &w, t, q, v, &out->kinetic, &out->potential);
}

/* Neither inputs nor forces of joints enter. */
void mb_energy(const void *self, void *work, double t, const double *q, const double *v, yoke_energy *out) {
  const yoke_multibody *mb = self;
  out->dissipated          = mb->has_energy ? q[mb->i_dissipated] : 0.0;
  out->external            = mb->has_energy ? q[mb->i_external] : 0.0;
  out->kinetic = out->potential = 0.0;
  if (mb->line != NULL)
    mb_line_energy(mb, q, v, &out->kinetic, &out->potential);
  else
    add_energy(mb, work, t, q, v, out);
}

void mb_events(const void *self, void *work, double t, const double *q, const double *v, const double *u,
               double *value) {
  const yoke_multibody *mb = self;
  mb_work               all, w = {.variables = work};
  if (mb->n_felt > 0) {
    if (mb->events_feel) mb_feel_at(mb, work, t, q, v, u);
    mb_work_carve(mb, work, &all);
    w.felt = all.felt;
  }
  mb_variables(mb, &w, t, q, v, u);
  for (int i = 0; i < mb->model->n_events; ++i)
    value[i] = yoke_expression_evaluate(mb->model->events[i].when, w.variables, NULL);
}

/* ---- linear models ---- */

static bool load_is_linear(const yoke_load *load) {
  switch (load->kind) {
  case YOKE_LOAD_FORCE:
  case YOKE_LOAD_TORQUE:
    for (int k = 0; k < 3; ++k) {
      if (load->value[k] != NULL && !yoke_expression_is_constant(load->value[k])) return false;
    }
    return true;
  case YOKE_LOAD_DRAG: return load->drag_quadratic == 0.0;
  case YOKE_LOAD_CONTACT: return false;
  }
  return false;
}

static bool chain_is_linear(const yoke_chain *chain) {
  const yoke_per_mass *power[2] = {&chain->stiffness_power, &chain->damping_power};
  const int            first = chain->is_free[0], last = chain->is_free[1] ? chain->n - 1 : chain->n;
  for (int k = 0; k < 2; ++k) {
    for (int i = first; i <= last; ++i) {
      if ((power[k]->each != NULL ? power[k]->each[i] : power[k]->value) != 0.0) return false;
      if (power[k]->each == NULL) break;
    }
  }
  return chain->n_loads == 0;
}

/* A ghost with an orientation enters by sines or Euler parameters. */
static bool ghost_is_linear(const yoke_multibody *mb, int node) {
  if (node < mb->n_nodes) return true;
  return !yoke_shape_can_turn(mb_node_shape(mb, node));
}

/* The gradient on a mass of a line is constant: ends without orientation, and no direction that turns. */
static bool rows_are_linear(const yoke_multibody *mb, int n, const yoke_row *rows, const yoke_link *link) {
  for (int i = 0; i < n; ++i) {
    if (rows[i].kind != YOKE_ROW_POINT && rows[i].kind != YOKE_ROW_INPLANE) return false;
  }
  return ghost_is_linear(mb, link->node[0]) && ghost_is_linear(mb, link->node[1]);
}

static bool is_linear(const yoke_multibody *mb) {
  if (mb->ng > 0 || mb->has_energy || mb->n_formulas > 0) return false;
  for (int i = 0; i < mb->n_driven; ++i) {
    if (!rows_are_linear(mb, mb->driven[i].n, mb->driven[i].row, &mb->driven[i].link)) return false;
  }
  for (int i = mb->n_joints; i < mb->n_joints + mb->n_guided; ++i) {
    if (!rows_are_linear(mb, mb->joints[i].n, mb->joints[i].row, &mb->joints[i].link)) return false;
  }
  for (int b = 0; b < mb->model->n_bodies; ++b) {
    const yoke_body *body = &mb->model->bodies[b];
    if (body->kind == YOKE_BODY_CHAIN && !chain_is_linear(body->chain)) return false;
    if (body->kind != YOKE_BODY_CHAIN && body->kind != YOKE_BODY_MASS1D) return false;
  }
  for (int i = 0; i < mb->n_forces; ++i) {
    const int *node = mb->forces[i].link.node;
    if (!yoke_force_element_is_linear(&mb->forces[i])) return false;
    if (!ghost_is_linear(mb, node[0]) || !ghost_is_linear(mb, node[1])) return false;
  }
  for (int i = 0; i < mb->n_loads; ++i) {
    if (mb->loads[i].node < mb->n_nodes && !load_is_linear(mb->loads[i].load)) return false;
  }
  return true;
}

/* The derivative is affine in (q, v, u), so unit arguments give the columns exactly (up to rounding of the constant part). */
yoke_status mb_linear(const void *self, void *work, double *A, double *B, double *b) {
  const yoke_multibody *mb = self;
  const int             nq = mb->nq, nv = mb->nv, n = nq + nv, nu = mb->n_inputs;
  if (!is_linear(mb)) return YOKE_E_UNSUPPORTED;
  if (A == NULL && B == NULL && b == NULL) return YOKE_OK;
  yoke_arena  scratch = {0};
  double     *x       = yoke_arena_take(&scratch, (size_t)n + (size_t)nu, sizeof *x);
  double     *y0      = yoke_arena_take(&scratch, (size_t)n, sizeof *y0);
  double     *y       = yoke_arena_take(&scratch, (size_t)n, sizeof *y);
  yoke_status status  = scratch.has_failed ? YOKE_E_MEMORY : YOKE_OK;
  if (status == YOKE_OK) status = mb_derivative(mb, work, 0.0, x, x + nq, x + n, y0, y0 + nq, NULL);
  for (int i = 0; status == YOKE_OK && b != NULL && i < n; ++i) b[i] = y0[i];
  for (int c = 0; status == YOKE_OK && c < n + nu; ++c) {
    if (c < n ? A == NULL : B == NULL) continue;
    x[c]   = 1.0;
    status = mb_derivative(mb, work, 0.0, x, x + nq, x + n, y, y + nq, NULL);
    x[c]   = 0.0;
    for (int i = 0; i < n; ++i) {
      if (c < n) {
        A[(size_t)i * n + c] = y[i] - y0[i];
      } else {
        B[(size_t)i * nu + c - n] = y[i] - y0[i];
      }
    }
  }
  yoke_arena_free(&scratch);
  return status == YOKE_OK || status == YOKE_E_MEMORY ? status : YOKE_E_UNSUPPORTED;
}
