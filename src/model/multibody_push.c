/* Impulses on ports: how a model answers to them, and the velocities they give it. For resets of a state along the rows of
 * joints that cross a split (multibody_guided.c has the algebra of rows). */
#include "model/multibody_internal.h"

#include "linalg/space.h"
#include <string.h>

/* Rows into w->probe, their nodes into w->probe_node. A force at the origin C of a port has the moment c x F about the centre. */
static void set_rows(const yoke_multibody *mb, const mb_work *w, int n, const yoke_port_row *rows) {
  for (int i = 0; i < n; ++i) {
    const mb_port *port = &mb->ports[rows[i].port];
    double         grad[6], c[3];
    yoke_shape_spread(port->shape, rows[i].wrench, grad);
    mat3_apply(c, w->pose[port->node].R, port->origin);
    vec3_add_cross(grad + 3, 1.0, c, grad);
    w->probe_node[i] = port->node;
    mb_set_probe(mb, w, i, port->node, grad);
  }
}

yoke_status yoke_multibody_row_response(const yoke_multibody *mb, void *work, double t, const double *q, int n,
                                        const yoke_port_row *rows, double *W) {
  mb_work w;
  mb_work_carve(mb, work, &w);
  mb_look(mb, &w, t, q, NULL);
  set_rows(mb, &w, n, rows);
  return mb_compliance(mb, &w, n, w.probe_node, 0, W);
}

/* dv = M^-1 (sum kappa_i grad_i + G^T lambda) with G dv = 0: lambda = -sum kappa_i x_i. */
yoke_status yoke_multibody_row_push(const yoke_multibody *mb, void *work, double t, const double *q, int n,
                                    const yoke_port_row *rows, const double *kappa, double *dv) {
  mb_work w;
  mb_work_carve(mb, work, &w);
  mb_look(mb, &w, t, q, NULL);
  set_rows(mb, &w, n, rows);
  YOKE_TRY(mb_compliance(mb, &w, n, w.probe_node, 0, w.probe_W));
  memset(w.acceleration, 0, 6 * (size_t)mb->n_nodes * sizeof *w.acceleration);
  mb_push_begin(mb, &w);
  memset(dv, 0, (size_t)mb->nv * sizeof *dv);
  for (int i = 0; i < n; ++i) mb_push_probe(mb, &w, i, w.probe_node[i], kappa[i]);
  for (int g = 0; g < mb->ng; ++g) {
    w.lambda[g] = 0.0;
    for (int i = 0; i < n; ++i) w.lambda[g] -= kappa[i] * w.probe_x[(ptrdiff_t)i * mb->ng + g];
  }
  mb_add_reactions(mb, &w, w.lambda);
  mb_write_nodes(mb, &w, dv);
  return YOKE_OK;
}
