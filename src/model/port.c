#include "model/port.h"

#include "linalg/space.h"
#include <string.h>

enum { N_KINDS = YOKE_BODY_CHAIN + 1 };

typedef struct port_shape {
  int         n_p, n_v, n_integrals;
  int         freedom[YOKE_PORT_MAX_V];
  const char *p_name[YOKE_PORT_MAX_P], *v_name[YOKE_PORT_MAX_V];
} port_shape;

static const port_shape shapes[N_KINDS] = {
    [YOKE_BODY_RIGID] =
        {7, 6, 3, {0, 1, 2, 3, 4, 5}, {"x", "y", "z", "q0", "q1", "q2", "q3"}, {"vx", "vy", "vz", "wx", "wy", "wz"}},
    [YOKE_BODY_PLANAR]   = {3, 3, 3, {0, 1, 5}, {"x", "y", "angle"}, {"vx", "vy", "omega"}},
    [YOKE_BODY_PARTICLE] = {3, 3, 3, {0, 1, 2}, {"x", "y", "z"}, {"vx", "vy", "vz"}},
    [YOKE_BODY_MASS1D]   = {1, 1, 1, {0}, {"x"}, {"vx"}},
    [YOKE_BODY_CHAIN]    = {1, 1, 1, {0}, {"x"}, {"vx"}},
};

int yoke_port_n_p(yoke_body_kind kind) {
  return shapes[kind].n_p;
}

int yoke_port_n_v(yoke_body_kind kind) {
  return shapes[kind].n_v;
}

int yoke_port_n_integrals(yoke_body_kind kind) {
  return shapes[kind].n_integrals;
}

int yoke_port_n_y(yoke_body_kind kind) {
  return shapes[kind].n_p + 2 * shapes[kind].n_v + shapes[kind].n_integrals;
}

int yoke_port_n_extras(int extras, int n_rows) {
  const int reaction = (extras & YOKE_EXTRA_REACTION) != 0, compliance = (extras & YOKE_EXTRA_COMPLIANCE) != 0,
            local = (extras & YOKE_EXTRA_LOCAL_COMPLIANCE) != 0;
  return (reaction + (compliance + local) * n_rows) * n_rows + ((extras & YOKE_EXTRA_IMAGE) != 0 ? 6 : 0);
}

int yoke_port_freedom(yoke_body_kind kind, int k) {
  return shapes[kind].freedom[k];
}

bool yoke_port_p_turns(yoke_body_kind kind, int k) {
  return k >= 3 || yoke_port_freedom(kind, k) >= 3;
}

const char *yoke_port_p_name(yoke_body_kind kind, int k) {
  return shapes[kind].p_name[k];
}

const char *yoke_port_v_name(yoke_body_kind kind, int k) {
  return shapes[kind].v_name[k];
}

void yoke_port_pose(yoke_body_kind kind, const double *p, const double *v, yoke_pose *pose) {
  double w[6] = {0.0};
  memset(pose, 0, sizeof *pose);
  pose->R[0] = pose->R[4] = pose->R[8] = 1.0;
  for (int k = 0; k < shapes[kind].n_p && k < 3; ++k) {
    if (shapes[kind].freedom[k] < 3) pose->r[k] = p[k];
  }
  if (kind == YOKE_BODY_RIGID && quaternion_norm2(p + 3) > 0.0) quaternion_rotation(pose->R, p + 3);
  if (kind == YOKE_BODY_PLANAR) {
    pose->angle = p[2];
    pose->R[0] = pose->R[4] = cos(p[2]);
    pose->R[3]              = sin(p[2]);
    pose->R[1]              = -pose->R[3];
  }
  if (v == NULL) return;
  for (int k = 0; k < shapes[kind].n_v; ++k) w[shapes[kind].freedom[k]] = v[k];
  vec3_copy(pose->v, w);
  vec3_copy(pose->w, w + 3);
}

/* T is the identity but for Euler parameters: p' = 1/2 Ebar(p) w. */
void yoke_port_tangent(yoke_body_kind kind, const double *p, double *T) {
  const int n_p = shapes[kind].n_p, n_v = shapes[kind].n_v;
  memset(T, 0, (size_t)(n_p * n_v) * sizeof *T);
  for (int k = 0; k < n_v && k < 3; ++k) T[k * n_v + k] = 1.0;
  if (kind == YOKE_BODY_RIGID) {
    double E[12];
    quaternion_Ebar(E, p + 3);
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 3; ++j) T[(3 + i) * 6 + 3 + j] = 0.5 * E[3 * i + j];
    }
  }
}
