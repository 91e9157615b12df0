#include "frames/port_shape.h"

#include <string.h>

static const yoke_port_shape *const shapes[] = {
#define X(symbol) &symbol,
#include "frames/port_shape_list.def"
#undef X
};

enum { N_SHAPES = (int)(sizeof shapes / sizeof shapes[0]) };

int yoke_shape_list_n(void) {
  return N_SHAPES;
}

const yoke_port_shape *yoke_shape_list_at(int i) {
  return i >= 0 && i < N_SHAPES ? shapes[i] : NULL;
}

const yoke_port_shape *yoke_shape_find(const char *name) {
  for (int i = 0; name != NULL && i < N_SHAPES; ++i) {
    if (strcmp(shapes[i]->name, name) == 0) return shapes[i];
  }
  return NULL;
}

unsigned yoke_shape_freedoms(const yoke_port_shape *shape) {
  unsigned set = 0u;
  for (int k = 0; k < shape->n_v; ++k) set |= 1u << shape->v[k].freedom;
  return set;
}

int yoke_shape_n_turned(const yoke_port_shape *shape) {
  int n = 0;
  for (int k = 0; k < shape->n_p; ++k) n += shape->p[k].rate < 0;
  return n;
}

int yoke_shape_component(const yoke_port_shape *shape, int freedom) {
  for (int k = 0; k < shape->n_v; ++k) {
    if (shape->v[k].freedom == freedom) return k;
  }
  return -1;
}

int yoke_shape_coordinate(const yoke_port_shape *shape, int k) {
  for (int i = 0; i < shape->n_p; ++i) {
    if (shape->p[i].rate == k) return i;
  }
  return -1;
}

int yoke_shape_integral(const yoke_port_shape *shape, int k) {
  for (int i = 0; i < shape->n_integrals; ++i) {
    if (shape->integral_of[i] == k) return i;
  }
  return -1;
}

void yoke_shape_spread(const yoke_port_shape *shape, const double *v, double all[6]) {
  memset(all, 0, 6 * sizeof *all);
  for (int k = 0; k < shape->n_v; ++k) all[shape->v[k].freedom] = v[k];
}

void yoke_shape_pose(const yoke_port_shape *shape, const double *p, const double *v, yoke_pose *pose) {
  double all[6];
  memset(pose, 0, sizeof *pose);
  pose->R[0] = pose->R[4] = pose->R[8] = 1.0;
  for (int k = 0; k < shape->n_p; ++k) {
    if (!yoke_shape_p_turns(shape, k)) pose->r[shape->v[shape->p[k].rate].freedom] = p[k];
  }
  if (shape->orient != NULL) shape->orient(shape, p, pose);
  if (v == NULL) return;
  yoke_shape_spread(shape, v, all);
  memcpy(pose->v, all, sizeof pose->v);
  memcpy(pose->w, all + 3, sizeof pose->w);
}

void yoke_shape_tangent(const yoke_port_shape *shape, const double *p, double *T) {
  memset(T, 0, (size_t)shape->n_p * (size_t)shape->n_v * sizeof *T);
  for (int k = 0; k < shape->n_p; ++k) {
    if (shape->p[k].rate >= 0) T[k * shape->n_v + shape->p[k].rate] = 1.0;
  }
  if (shape->tangent != NULL) shape->tangent(shape, p, T);
}

void yoke_shape_left_inverse(const yoke_port_shape *shape, const double *p, double *L) {
  memset(L, 0, (size_t)shape->n_p * (size_t)shape->n_v * sizeof *L);
  for (int k = 0; k < shape->n_p; ++k) {
    if (shape->p[k].rate >= 0) L[shape->p[k].rate * shape->n_p + k] = 1.0;
  }
  if (shape->left_inverse != NULL) shape->left_inverse(shape, p, L);
}
