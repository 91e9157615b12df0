/* Derivatives of F (multibody_dae.c, multibody_inputs.c): what a traversal over all elements sees, where the blocks go that it finds, and how
 * they turn from inertial axes into rows and columns.
 *
 * Elements give derivatives in inertial axes with respect to small rotations dphi. They become columns of q and v by
 *   dphi = 2 Ebar(p)^T dp / |p|^2   (R is that of the normalised p),      d(R omega) = dphi x w + R domega,
 * and rows of the equations by
 *   moments in body axes R^T M:  d(R^T M) = R^T (dM + [M]x dphi),         p' = 1/2 E(p) m:  1/2 E(p) R^T = 1/2 Ebar(p).
 *
 * One traversal serves pattern and values: `emit` either records where a dense block goes or adds it there, so the two cannot
 * disagree. The traversal therefore never depends on values. */
#ifndef YOKE_MODEL_MULTIBODY_TRAVERSAL_H
#define YOKE_MODEL_MULTIBODY_TRAVERSAL_H

#include "model/multibody_internal.h"

#include "linalg/space.h"
#include <string.h>

typedef struct mb_dae {
  yoke_dae base;
  int     *input_slot; /* the same for dF/du; NULL: only INDEX1 has it */
  int      n_slots;
  int      slot[]; /* where the k-th emitted number goes; -1: nowhere, it is always zero */
} mb_dae;

/* ---- blocks ---- */

typedef struct mb_sink {
  double    *J; /* NULL: record triplets */
  const int *slot;
  int       *row, *col;
  uint8_t   *used;  /* recording: is the number ever different from zero? */
  bool       full;  /* recording: every number counts as used */
  bool       again; /* recording another state: only `used` changes */
  int        n, capacity;
  size_t     room[3]; /* of row, col, used */
  bool       failed;
} mb_sink;

/* One more number, or the same one again, while recording. */
void mb_sink_record(mb_sink *s, int row, int col, bool is_used);
void mb_sink_clear(mb_sink *s);

/* The block A [nr, nc] (row major, `stride` numbers per row) at (row, col). */
static inline void emit(mb_sink *s, int row, int nr, int col, int nc, const double *A, int stride) {
  if (s->J != NULL) {
    for (int i = 0; i < nr; ++i) {
      for (int j = 0; j < nc; ++j) {
        const int slot = s->slot[s->n++];
        if (slot >= 0) s->J[slot] += A[i * stride + j];
      }
    }
    return;
  }
  for (int i = 0; i < nr; ++i) {
    for (int j = 0; j < nc; ++j) mb_sink_record(s, row + i, col + j, A[i * stride + j] != 0.0);
  }
}

/* B [n, nq of node] := A [n, 6] dphi-columns turned into columns of q. */
static inline void columns_to_q(const mb_node *node, const double *q, int n, const double *A, int stride, double *B) {
  double E[12];
  if (node->kind == YOKE_BODY_RIGID && node->nv > 0) {
    const double *p = q + node->iq + 3;
    const double  s = 2.0 / quaternion_norm2(p);
    quaternion_Ebar(E, p);
    for (int i = 0; i < n; ++i) {
      const double *a = A + i * stride;
      double       *b = B + i * 7;
      vec3_copy(b, a);
      for (int k = 0; k < 4; ++k) b[3 + k] = s * vec3_dot(E + 3 * k, a + 3);
    }
  } else {
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < node->nv; ++k) B[i * node->nq + k] = A[i * stride + node->freedom[k]];
    }
  }
}

/* B [n, nv] := columns of v; those of w = R omega are turned, which about z alone changes nothing. */
static inline void columns_to_v(const mb_node *node, const double R[9], int n, const double *A, int stride, double *B) {
  for (int i = 0; i < n; ++i) {
    const double *a = A + i * stride;
    double       *b = B + i * node->nv;
    if (node->kind == YOKE_BODY_RIGID && node->nv > 0) {
      vec3_copy(b, a);
      mat3_apply_transposed(b + 3, R, a + 3);
    } else {
      for (int k = 0; k < node->nv; ++k) b[k] = a[node->freedom[k]];
    }
  }
}

/* B [nv, n] := rows of the equations of motion, moments in body axes. A [6, n] with `stride`. */
static inline void rows_to_v(const mb_node *node, const double R[9], int n, const double *A, int stride, double *B) {
  for (int k = 0; k < node->nv; ++k) {
    const double *a = A + node->freedom[k] * stride;
    for (int j = 0; j < n; ++j) B[k * n + j] = a[j];
  }
  for (int j = 0; node->kind == YOKE_BODY_RIGID && node->nv > 0 && j < n; ++j) {
    const double M[3] = {A[3 * stride + j], A[4 * stride + j], A[5 * stride + j]};
    double       y[3];
    mat3_apply_transposed(y, R, M);
    for (int k = 0; k < 3; ++k) B[(3 + k) * n + j] = y[k];
  }
}

/* B [nq, n] := rows of the kinematic equations q' = T (v + A ...). */
static inline void rows_to_q(const mb_node *node, const double *q, int n, const double *A, int stride, double *B) {
  double E[12];
  if (node->kind == YOKE_BODY_RIGID && node->nv > 0) {
    quaternion_Ebar(E, q + node->iq + 3);
    for (int j = 0; j < n; ++j) {
      const double M[3] = {A[3 * stride + j], A[4 * stride + j], A[5 * stride + j]};
      for (int k = 0; k < 3; ++k) B[k * n + j] = A[k * stride + j];
      for (int k = 0; k < 4; ++k) B[(3 + k) * n + j] = 0.5 * vec3_dot(E + 3 * k, M);
    }
  } else {
    for (int j = 0; j < n; ++j) {
      for (int k = 0; k < node->nv; ++k) B[k * n + j] = A[node->freedom[k] * stride + j];
    }
  }
}

/* A[rows 3.., columns 3..] += [M]x: moments are wanted in axes that turn with the body. */
static inline void add_turning(double *A, int stride, const double M[3]) {
  double C[9];
  mat3_cross(C, M);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) A[(3 + i) * stride + 3 + j] += C[3 * i + j];
  }
}

/* ---- traversal ---- */

typedef struct mb_traversal {
  const yoke_multibody *mb;
  const yoke_dae       *dae;
  const mb_work        *w;
  mb_sink              *out;
  double                t;
  const double         *q, *v, *a, *lambda, *mu, *nu, *u;
  int                   i_force; /* first row of the equations of motion */
} mb_traversal;

/* Where the parts of x are. */
void mb_traversal_set(mb_traversal *x, const double *state);

/* Expressions of loads and formulas: `direction` [6] times the expression acts on a node; its gradient is in w->gradient. `grad` is that of
 * the formula's row. Need poses and variables. */
typedef void mb_visit(const mb_traversal *x, int node, const double direction[6], const yoke_expression *value);
void         mb_visit_load(const mb_traversal *x, const yoke_load_element *el, mb_visit *visit);
void         mb_visit_formula(const mb_traversal *x, const mb_formula *formula, const double grad[12], mb_visit *visit);

/* What a joint contributes, row by row: derivative rows and sums over rows. */
typedef struct mb_joint_parts {
  double H_lambda[144], H_mu[144], f_lambda[12], f_mu[12];
  double by_q[YOKE_CONNECTION_MAX_ROWS][12];     /* of the row's own equation with respect to q */
  double by_v[YOKE_CONNECTION_MAX_ROWS][12];     /* ... and v */
  double own_grad[YOKE_CONNECTION_MAX_ROWS][12]; /* gradients, zero for retired rows */
  double grad_t[12 * YOKE_CONNECTION_MAX_ROWS];  /* [12, n] transposed gradients */
} mb_joint_parts;

void mb_set_joint_parts(const mb_traversal *x, const mb_joint *joint, mb_joint_parts *p);

/* dF/du (multibody_inputs.c): its pattern and slots for a form that is set up otherwise, INDEX1. `state` [nx] is any. */
yoke_status mb_inputs_record(const yoke_multibody *mb, const mb_work *w, const double *state, mb_dae *dae);

#endif
