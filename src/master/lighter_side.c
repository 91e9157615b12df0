#include "master/lighter_side.h"

#include "base/memory.h"
#include "coupling/kinematic_stability.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static yoke_status response(const yoke_joint_end *end, const yoke_equations *e, const yoke_multibody *mb, double *block,
                            void *work, double C[36]) {
  double   *q = block, *v = q + e->nq, *a = v + e->nv, *u = a + e->nv;
  double    y[2][YOKE_PORT_MAX_Y];
  const int n = end->shape->n_v, at = end->shape->n_p + n;
  memset(C, 0, 36 * sizeof *C);
  yoke_multibody_initial_guess(mb, q, v);
  for (int k = -1; k < n; ++k) {
    for (int j = 0; j < n; ++j) u[j] = j == k ? 1.0 : 0.0;
    YOKE_TRY(e->ops->derivative(e->self, work, end->submodel->t_start, q, v, u, NULL, a, NULL));
    yoke_multibody_port(mb, work, 0, q, v, a, y[k >= 0]);
    for (int j = 0; k >= 0 && j < n; ++j)
      C[6 * end->shape->v[j].freedom + end->shape->v[k].freedom] = y[1][at + j] - y[0][at + j];
  }
  return YOKE_OK;
}

yoke_status yoke_joint_end_response(yoke_context *ctx, const yoke_joint_end *end, double C[36]) {
  yoke_input inputs[YOKE_PORT_MAX_V];
  const int  n = end->shape->n_v;
  for (int k = 0; k < n; ++k) {
    inputs[k] = (yoke_input){
        .kind = YOKE_INPUT_FORCE, .frame = end->frame, .component = end->shape->v[k].freedom, .factor = 1.0};
  }
  const yoke_multibody_options options   = {.n_ports = 1, .port_frame = &end->frame, .n_inputs = n, .inputs = inputs};
  yoke_equations               equations = {0};
  yoke_multibody              *mb        = NULL;
  YOKE_TRY(yoke_multibody_create(ctx, end->submodel, &options, &equations, &mb));
  double     *block  = yoke_allocate((size_t)equations.nq + 2 * (size_t)equations.nv + (size_t)n, sizeof *block);
  void       *work   = yoke_allocate(equations.work_size + 1, 1);
  yoke_status status = YOKE_E_MEMORY;
  if (block != NULL && work != NULL) status = response(end, &equations, mb, block, work, C);
  free(block);
  free(work);
  yoke_equations_destroy(&equations);
  return status;
}

/* W = G C G^T of side `side`; grad [n, 12]. */
static void rows_response(int n, const double *grad, int side, const double C[36], double *W) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0.0;
      for (int a = 0; a < 6; ++a) {
        for (int b = 0; b < 6; ++b) sum += grad[12 * i + 6 * side + a] * C[6 * a + b] * grad[12 * j + 6 * side + b];
      }
      W[n * i + j] = sum;
    }
  }
}

yoke_status yoke_lighter_side(yoke_context *ctx, const yoke_joint_element *joint, const yoke_joint_end end[2],
                              int *side, double *ratio) {
  yoke_pose       poses[2];
  yoke_link_state state;
  double          grad[12 * YOKE_JOINT_MAX_ROWS], C[36], W[2][YOKE_JOINT_MAX_ROWS * YOKE_JOINT_MAX_ROWS], low, high;
  for (int s = 0; s < 2; ++s) yoke_shape_pose(end[s].shape, end[s].p, end[s].v, &poses[s]);
  yoke_link_state_set(&joint->link, poses, &state);
  for (int i = 0; i < joint->n; ++i) (void)yoke_row_gradient(&joint->row[i], &state, grad + 12 * i);
  for (int s = 0; s < 2; ++s) {
    const yoke_status status = yoke_joint_end_response(ctx, &end[s], C);
    if (status != YOKE_OK)
      return yoke_fail(ctx, status, "the response of its side %d to forces cannot be found", s + 1);
    rows_response(joint->n, grad, s, C, W[s]);
  }
  /* low, high: mass of side 1 over that of side 2 */
  const yoke_interface in = {.n = joint->n, .W_R = W[0], .W_F = W[1]};
  if (!yoke_interface_mass_ratio(&in, &low, &high))
    return yoke_fail(ctx, YOKE_E_MODEL, "neither of its sides gives way to forces");
  *side  = low >= 1.0 / high ? 1 : 0;
  *ratio = *side == 1 ? low : 1.0 / high;
  return YOKE_OK;
}
