/* In whose axes the multipliers of a cut joint are given: those of space, or of a body that is far lighter than its partner.
 *
 * A light body that a large force F at a port can turn follows it as a needle does: turned by dphi against a force that is fixed in space it feels
 * F dphi back, which makes a frequency sqrt(F |C_rt|) of it (C_rt: angular accelerations under forces on the port) that no step of the heavy side
 * can resolve; and what the polynomials of the multipliers are off by across it, a share of F, moves it by 1 / m. In its own axes both vanish: what
 * acts across the light body is as small as the body, and its polynomial is off by a share of that. The partner gets a copy of the orientation.
 * Runs that fix their step, scheme, estimator or formulation have inertial axes, as published. */
#include "master/lighter_side.h"
#include "master/plan_builder.h"

#include "linalg/space.h"
#include <math.h>
#include <string.h>

static const double far_lighter = 10.0; /* measured: from here on it is worth a copy */
static const double turns       = 0.1;  /* least share of turning in what gives way to forces */

/* Are the rows that would be carried all there? A force or moment in other axes has components in all of them. */
static bool has_companions(const yoke_plan_coupling *k) {
  const unsigned freedoms = yoke_shape_freedoms(k->shape[0]) | yoke_shape_freedoms(k->shape[1]);
  unsigned       point = 0u, turn = 0u;
  for (int i = 0; i < k->joint.n; ++i) {
    yoke_row carried;
    if (!yoke_row_carried(&k->joint.row[i], 0, &carried)) continue;
    *(carried.kind == YOKE_ROW_CARRIED ? &point : &turn) |= 1u << carried.k;
  }
  return point != 0u && point == (freedoms & 7u) && (turn == 0u || (turn & 3u) == 3u);
}

/* Whoever reads its force reads the multipliers as they come in. */
static bool is_read(const plan_builder *b, int connection) {
  for (int i = 0; i < b->model->n_variables; ++i) {
    const yoke_variable *v = &b->model->variables[i];
    if (v->kind == YOKE_VARIABLE_FORCE && v->object == connection) return true;
  }
  return false;
}

static bool may_carry(const plan_builder *b, const yoke_plan_coupling *k) {
  return k->is_joint && !k->is_foreign && plan_leaves_method_open(b) && has_companions(k) &&
         !is_read(b, k->connection) && strcmp(k->settings.formulation, "stabilized-index-2") == 0;
}

static double mass_of(const plan_builder *b, const yoke_plan_coupling *k, int side) {
  return b->model->bodies[plan_coupling_end(b, k, side).body].mass;
}

static double give(const double C[36]) {
  return C[0] + C[7] + C[14];
}

/* Force of the point at the start, or what the heavy body weighs. */
static double usual_force(const plan_builder *b, const yoke_plan_coupling *k, double heavy) {
  const double *lambda = yoke_start_lambda(&b->start, k->connection);
  double        sum    = 0.0;
  for (int i = 0; i < k->joint.n; ++i) {
    if (k->joint.row[i].kind == YOKE_ROW_POINT) sum += lambda[k->joint.own[i]] * lambda[k->joint.own[i]];
  }
  return fmax(sqrt(sum), heavy * vec3_norm(b->model->gravity));
}

/* Does the body give way to forces on its port by turning, with the lever p from its centre of mass, and faster than it turns already? In axes that
 * spin a force has components that change more than in fixed ones. */
static bool is_needle(const yoke_joint_end *end, const double C[36], const double p[3], double force) {
  double by_force = 0.0, spin = 0.0;
  for (int i = 3; i < 6; ++i) {
    for (int j = 0; j < 3; ++j) by_force += C[6 * i + j] * C[6 * i + j];
  }
  for (int j = 0; j < end->shape->n_v; ++j) {
    if (yoke_shape_v_turns(end->shape, j)) spin += end->v[j] * end->v[j];
  }
  by_force = sqrt(by_force);
  return by_force * vec3_norm(p) > turns * give(C) && by_force * force > spin;
}

yoke_status plan_choose_carrier(plan_builder *b, yoke_plan_coupling *k) {
  yoke_joint_end end[2];
  double         C[2][36];
  if (!may_carry(b, k)) return YOKE_OK;
  const double mass[2] = {mass_of(b, k, 0), mass_of(b, k, 1)};
  const int    light   = mass[0] < mass[1] ? 0 : 1;
  if (!(mass[1 - light] >= far_lighter * mass[light])) return YOKE_OK; /* what follows takes time */
  for (int side = 0; side < 2; ++side) {
    YOKE_TRY(plan_joint_end(b, k, side, &end[side]));
    const yoke_status status = yoke_joint_end_response(b->ctx, &end[side], C[side]);
    if (status < 0) return status;
    if (status != YOKE_OK) return YOKE_OK; /* at a singular position: not known */
  }
  if (give(C[light]) >= far_lighter * give(C[1 - light]) &&
      is_needle(&end[light], C[light], plan_coupling_end(b, k, light).origin, usual_force(b, k, mass[1 - light])))
    k->joint.carrier = light + 1;
  return YOKE_OK;
}
