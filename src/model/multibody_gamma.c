/* Derivative of the acceleration term gamma of a joint row, by forward accumulation over vectors.
 *
 * A jet is a number with its derivatives along the 24 directions
 *   (dr1, dphi1, dr2, dphi2, dv1, R1 domega1, dv2, R2 domega2).
 * Vectors fixed on a body turn with it: d(R c) = dphi x R c; the angular velocity w = R omega gives
 * dw = dphi x w + R domega. Needed by the index-1 form only. */
#include "linalg/space.h"
#include "frames/joint_rows.h"

#include <string.h>

enum { N_DIRECTIONS = 24 };

typedef struct jet {
  double x, d[N_DIRECTIONS];
} jet;

typedef struct jet3 {
  jet c[3];
} jet3;

static jet jet_add(const jet *a, double s, const jet *b) { /* a + s b */
  jet y = {.x = a->x + s * b->x};
  for (int i = 0; i < N_DIRECTIONS; ++i) y.d[i] = a->d[i] + s * b->d[i];
  return y;
}

static jet jet_multiply(const jet *a, const jet *b) {
  jet y = {.x = a->x * b->x};
  for (int i = 0; i < N_DIRECTIONS; ++i) y.d[i] = a->d[i] * b->x + a->x * b->d[i];
  return y;
}

static jet jet_divide(const jet *a, const jet *b) { /* 0 where b vanishes */
  jet y = {.x = 0.0};
  if (b->x == 0.0) return y;
  y.x = a->x / b->x;
  for (int i = 0; i < N_DIRECTIONS; ++i) y.d[i] = (a->d[i] - y.x * b->d[i]) / b->x;
  return y;
}

static jet jet_sqrt(const jet *a) {
  jet y = {.x = sqrt(a->x)};
  for (int i = 0; i < N_DIRECTIONS && y.x > 0.0; ++i) y.d[i] = 0.5 * a->d[i] / y.x;
  return y;
}

static jet3 jet3_add(const jet3 *a, double s, const jet3 *b) {
  jet3 y;
  for (int i = 0; i < 3; ++i) y.c[i] = jet_add(&a->c[i], s, &b->c[i]);
  return y;
}

static jet jet3_dot(const jet3 *a, const jet3 *b) {
  jet y = jet_multiply(&a->c[0], &b->c[0]);
  for (int i = 1; i < 3; ++i) {
    const jet term = jet_multiply(&a->c[i], &b->c[i]);
    y              = jet_add(&y, 1.0, &term);
  }
  return y;
}

static jet3 jet3_cross(const jet3 *a, const jet3 *b) {
  jet3 y;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const jet first = jet_multiply(&a->c[j], &b->c[k]), second = jet_multiply(&a->c[k], &b->c[j]);
    y.c[i] = jet_add(&first, -1.0, &second);
  }
  return y;
}

/* A vector that turns with body `side`: dx = dphi x x. */
static jet3 turning(const double x[3], int side) {
  double M[9];
  jet3   y;
  memset(&y, 0, sizeof y);
  mat3_cross(M, x);
  for (int i = 0; i < 3; ++i) {
    y.c[i].x = x[i];
    for (int j = 0; j < 3; ++j) y.c[i].d[6 * side + 3 + j] = -M[3 * i + j];
  }
  return y;
}

/* Independent directions `first` ... `first + 2` with the sign s. */
static void independent(jet3 *y, int first, double s) {
  for (int i = 0; i < 3; ++i) y->c[i].d[first + i] += s;
}

typedef struct jets {
  jet3 w[2], D, Dd, Ddd;
} jets;

static void jets_set(const yoke_link_state *x, jets *out) {
  jet3 Cd[2], Cdd[2];
  memset(&out->D, 0, sizeof out->D);
  for (int side = 0; side < 2; ++side) {
    const jet3 p = turning(x->p[side], side);
    out->w[side] = turning(x->w[side], side);
    independent(&out->w[side], 12 + 6 * side + 3, 1.0);
    const jet3 wp = jet3_cross(&out->w[side], &p);
    Cdd[side]     = jet3_cross(&out->w[side], &wp);
    jet3 v;
    memset(&v, 0, sizeof v);
    for (int i = 0; i < 3; ++i) v.c[i].x = x->v[side][i];
    independent(&v, 12 + 6 * side, 1.0);
    Cd[side] = jet3_add(&v, 1.0, &wp);
    out->D   = jet3_add(&out->D, side == 0 ? 1.0 : -1.0, &p);
    independent(&out->D, 6 * side, side == 0 ? 1.0 : -1.0);
  }
  for (int i = 0; i < 3; ++i) out->D.c[i].x = x->D[i];
  out->Dd  = jet3_add(&Cd[0], -1.0, &Cd[1]);
  out->Ddd = jet3_add(&Cdd[0], -1.0, &Cdd[1]);
}

/* e.Ddd + 2 e'.Dd + e''.D */
static jet turning_gamma(const jets *j, const double axis[3], int side) {
  const jet3 e = turning(axis, side), e1 = jet3_cross(&j->w[side], &e), e2 = jet3_cross(&j->w[side], &e1);
  const jet  a = jet3_dot(&j->Ddd, &e), b = jet3_dot(&j->Dd, &e1), c = jet3_dot(&j->D, &e2);
  const jet  ab = jet_add(&a, 2.0, &b);
  return jet_add(&ab, 1.0, &c);
}

/* c = e1.e2 with rate and second rate. */
static void cosine(const jets *j, const double axis1[3], const double axis2[3], jet c[3]) {
  const jet3 a = turning(axis1, 0), a1 = jet3_cross(&j->w[0], &a), a2 = jet3_cross(&j->w[0], &a1);
  const jet3 b = turning(axis2, 1), b1 = jet3_cross(&j->w[1], &b), b2 = jet3_cross(&j->w[1], &b1);
  const jet  ab = jet3_dot(&a, &b), a1b = jet3_dot(&a1, &b), ab1 = jet3_dot(&a, &b1), a2b = jet3_dot(&a2, &b);
  const jet  a1b1 = jet3_dot(&a1, &b1), ab2 = jet3_dot(&a, &b2);
  c[0] = ab;
  c[1] = jet_add(&a1b, 1.0, &ab1);
  c[2] = jet_add(&a2b, 2.0, &a1b1);
  c[2] = jet_add(&c[2], 1.0, &ab2);
}

/* (D.D'' + D'.D' - L'^2) / L with L' = D.D' / L */
static jet distance_gamma(const jets *j) {
  const jet L2 = jet3_dot(&j->D, &j->D), L = jet_sqrt(&L2);
  const jet DDd = jet3_dot(&j->D, &j->Dd), Ld = jet_divide(&DDd, &L), Ld2 = jet_multiply(&Ld, &Ld);
  const jet a = jet3_dot(&j->D, &j->Ddd), b = jet3_dot(&j->Dd, &j->Dd);
  jet       sum = jet_add(&a, 1.0, &b);
  sum           = jet_add(&sum, -1.0, &Ld2);
  return jet_divide(&sum, &L);
}

/* (a b'' - b a'' - 2 phi' (a a' + b b')) / rho^2 with phi' = (a b' - b a') / rho^2 */
static jet angle_gamma(const jets *j, const yoke_link_state *x) {
  jet a[3], b[3];
  cosine(j, x->e[0][0], x->e[1][0], a);
  cosine(j, x->e[0][1], x->e[1][0], b);
  const jet aa = jet_multiply(&a[0], &a[0]), bb = jet_multiply(&b[0], &b[0]), rho2 = jet_add(&aa, 1.0, &bb);
  const jet ab1 = jet_multiply(&a[0], &b[1]), ba1 = jet_multiply(&b[0], &a[1]), top1 = jet_add(&ab1, -1.0, &ba1);
  const jet phi1 = jet_divide(&top1, &rho2);
  const jet aa1 = jet_multiply(&a[0], &a[1]), bb1 = jet_multiply(&b[0], &b[1]), half = jet_add(&aa1, 1.0, &bb1);
  const jet ab2 = jet_multiply(&a[0], &b[2]), ba2 = jet_multiply(&b[0], &a[2]), top2 = jet_add(&ab2, -1.0, &ba2);
  const jet last = jet_multiply(&phi1, &half), top = jet_add(&top2, -2.0, &last);
  return jet_divide(&top, &rho2);
}

void yoke_row_gamma_gradient(const yoke_row *row, const yoke_link_state *x, double d[24]) {
  jets   j;
  jet    g    = {.x = 0.0}, c[3];
  double sign = 1.0;
  jets_set(x, &j);
  switch (row->kind) {
  case YOKE_ROW_POINT: g = j.Ddd.c[row->k]; break;
  case YOKE_ROW_STRETCH:
    g    = j.Ddd.c[0];
    sign = -1.0;
    break;
  case YOKE_ROW_INPLANE: g = turning_gamma(&j, x->e[1][row->l], 1); break;
  case YOKE_ROW_ALONG:
    g    = turning_gamma(&j, x->e[0][row->k], 0);
    sign = -1.0;
    break;
  case YOKE_ROW_PERPENDICULAR:
    cosine(&j, x->e[0][row->k], x->e[1][row->l], c);
    g = c[2];
    break;
  case YOKE_ROW_DISTANCE: g = distance_gamma(&j); break;
  case YOKE_ROW_ANGLE: g = angle_gamma(&j, x); break;
  case YOKE_ROW_TURN:
  case YOKE_ROW_ROTATION: break;
  }
  for (int i = 0; i < N_DIRECTIONS; ++i) d[i] = sign * g.d[i];
}
