/* Derivative of the second rate s'' = grad . A + gamma of a joint row.
 *
 * Vectors fixed on a body turn with it, d(R c) = dphi x R c; the angular velocity w = R omega gives dw = dphi x w + R domega, the angular
 * acceleration alpha = R omega' turns. With C = r + p the origin of a frame,
 *   C' = v + w x p,   C'' = a + T,  T = alpha x p + w x (w x p),
 *   dC = dr + dphi x p,   dC' = dv + dphi x (w x p) + R domega x p,   dC'' = dphi x T + R domega x (w x p) + w x (R domega x p),
 * and a . (dphi x b) = dphi . (b x a) gives the columns. */
#include "linalg/space.h"
#include "frames/joint_rows.h"

#include <string.h>

/* What all rows of a link share. */
typedef struct second {
  const yoke_link_state *x;
  double                 alpha[2][3];
  double                 wp[2][3], T[2][3]; /* w x p, and the part of C'' that turns */
  double                 Ddd[3], Cdd[3];    /* D'' and C1'' with accelerations */
} second;

static void second_set(const yoke_link_state *x, const double *A, second *s) {
  s->x = x;
  vec3_copy(s->Ddd, x->Ddd);
  vec3_copy(s->Cdd, x->Cdd);
  for (int side = 0; side < 2; ++side) {
    const double sign = side == 0 ? 1.0 : -1.0;
    vec3_set(s->alpha[side], 0.0, 0.0, 0.0);
    vec3_cross(s->wp[side], x->w[side], x->p[side]);
    vec3_cross(s->T[side], x->w[side], s->wp[side]);
    if (A == NULL) continue;
    vec3_copy(s->alpha[side], A + 6 * side + 3);
    vec3_add_cross(s->T[side], 1.0, s->alpha[side], x->p[side]);
    vec3_add(s->Ddd, sign, A + 6 * side);
    vec3_add_cross(s->Ddd, sign, s->alpha[side], x->p[side]);
    if (side == 1) continue;
    vec3_add(s->Cdd, 1.0, A);
    vec3_add_cross(s->Cdd, 1.0, s->alpha[0], x->p[0]);
  }
}

/* y += s a x (b x c) */
static void add_double_cross(double y[3], double s, const double a[3], const double b[3], const double c[3]) {
  double bc[3];
  vec3_cross(bc, b, c);
  vec3_add_cross(y, s, a, bc);
}

/* d += columns of  gD . dD + gDd . dD' + gDdd . dD'';  gD and gDd NULL: 0. n_sides = 1: C1 in the place of D. */
static void add_difference(const second *s, int n_sides, const double *gD, const double *gDd, const double gDdd[3],
                           double d[24]) {
  for (int side = 0; side < n_sides; ++side) {
    const double  sign = side == 0 ? 1.0 : -1.0;
    const double *p = s->x->p[side], *wp = s->wp[side];
    double       *by_r = d + 6 * side, *by_v = d + 12 + 6 * side;
    vec3_add_cross(by_r + 3, sign, s->T[side], gDdd);
    vec3_add_cross(by_v + 3, sign, wp, gDdd);
    add_double_cross(by_v + 3, sign, p, gDdd, s->x->w[side]);
    if (gD == NULL) continue;
    vec3_add(by_r, sign, gD);
    vec3_add_cross(by_r + 3, sign, p, gD);
    vec3_add_cross(by_r + 3, sign, wp, gDd);
    vec3_add(by_v, sign, gDd);
    vec3_add_cross(by_v + 3, sign, p, gDd);
  }
}

/* e' and e'' of an axis e on a side. */
static void axis_rates(const second *s, int side, const double e[3], double e1[3], double e2[3]) {
  vec3_cross(e1, s->x->w[side], e);
  vec3_cross(e2, s->x->w[side], e1);
  vec3_add_cross(e2, 1.0, s->alpha[side], e);
}

/* e . D'' + 2 e' . D' + e'' . D, e on a side. n_sides = 1: C1 in the place of D. */
static void add_turning(const second *s, int n_sides, int side, const double e[3], double d[24]) {
  const bool    alone = n_sides == 1;
  const double *D = alone ? s->x->C : s->x->D, *Dd = alone ? s->x->Cd : s->x->Dd, *Ddd = alone ? s->Cdd : s->Ddd;
  double       *by_r = d + 6 * side + 3, *by_v = d + 12 + 6 * side + 3;
  double        e1[3], e2[3];
  axis_rates(s, side, e, e1, e2);
  const double twice[3] = {2.0 * e1[0], 2.0 * e1[1], 2.0 * e1[2]};
  add_difference(s, n_sides, e2, twice, e, d);
  vec3_add_cross(by_r, 1.0, e, Ddd);
  vec3_add_cross(by_r, 1.0, twice, Dd);
  vec3_add_cross(by_r, 1.0, e2, D);
  vec3_add_cross(by_v, 2.0, e, Dd);
  vec3_add_cross(by_v, 1.0, e1, D);
  add_double_cross(by_v, 1.0, e, D, s->x->w[side]);
}

/* (D . D'' + D' . D' - L'^2) / L with L' = D . D' / L */
static void add_distance(const second *s, double d[24]) {
  const double *D = s->x->D, *Dd = s->x->Dd;
  const double  L = vec3_norm(D);
  double        gD[3], gDd[3], n[3];
  if (!(L > 0.0)) return;
  for (int i = 0; i < 3; ++i) n[i] = D[i] / L;
  const double Ld = vec3_dot(n, Dd), Ldd = (vec3_dot(D, s->Ddd) + vec3_dot(Dd, Dd) - Ld * Ld) / L;
  for (int i = 0; i < 3; ++i) {
    gD[i]  = (s->Ddd[i] - 2.0 * Ld * (Dd[i] - Ld * n[i]) / L - Ldd * n[i]) / L;
    gDd[i] = 2.0 * (Dd[i] - Ld * n[i]) / L;
  }
  add_difference(s, 2, gD, gDd, n, d);
}

/* Cosine c = a . b of axes a on side 0 and b on side 1, its rates, and their columns [12]: by dphi of both sides, by R domega of both. */
typedef struct cosine {
  double c[3];
  double by[3][12];
} cosine;

/* By dphi, or by R domega, of both sides: s a x b and its opposite. */
static void add_cross_pair(double by[6], double s, const double a[3], const double b[3]) {
  vec3_add_cross(by, s, a, b);
  vec3_add_cross(by + 3, -s, a, b);
}

static void cosine_set(const second *s, const double a[3], const double b[3], cosine *out) {
  double a1[3], a2[3], b1[3], b2[3];
  axis_rates(s, 0, a, a1, a2);
  axis_rates(s, 1, b, b1, b2);
  memset(out, 0, sizeof *out);
  out->c[0] = vec3_dot(a, b);
  out->c[1] = vec3_dot(a1, b) + vec3_dot(a, b1);
  out->c[2] = vec3_dot(a2, b) + 2.0 * vec3_dot(a1, b1) + vec3_dot(a, b2);
  add_cross_pair(out->by[0], 1.0, a, b);
  add_cross_pair(out->by[1], 1.0, a1, b);
  add_cross_pair(out->by[1], 1.0, a, b1);
  add_cross_pair(out->by[1] + 6, 1.0, a, b);
  add_cross_pair(out->by[2], 1.0, a2, b);
  add_cross_pair(out->by[2], 2.0, a1, b1);
  add_cross_pair(out->by[2], 1.0, a, b2);
  vec3_add_cross(out->by[2] + 6, 1.0, a1, b);
  vec3_add_cross(out->by[2] + 6, 2.0, a, b1);
  add_double_cross(out->by[2] + 6, 1.0, a, b, s->x->w[0]);
  vec3_add_cross(out->by[2] + 9, 1.0, b1, a);
  vec3_add_cross(out->by[2] + 9, 2.0, b, a1);
  add_double_cross(out->by[2] + 9, 1.0, b, a, s->x->w[1]);
}

/* Columns [12] of a cosine to their places. */
static void put_turns(const double by[12], double d[24]) {
  for (int i = 0; i < 3; ++i) {
    d[3 + i]  = by[i];
    d[9 + i]  = by[3 + i];
    d[15 + i] = by[6 + i];
    d[21 + i] = by[9 + i];
  }
}

/* phi'' = (a b'' - b a'' - 2 phi' (a a' + b b')) / rho^2 with phi' = (a b' - b a') / rho^2 */
static void add_angle(const second *s, double d[24]) {
  cosine a, b;
  double by[12];
  cosine_set(s, s->x->e[0][0], s->x->e[1][0], &a);
  cosine_set(s, s->x->e[0][1], s->x->e[1][0], &b);
  const double rho2 = a.c[0] * a.c[0] + b.c[0] * b.c[0];
  if (!(rho2 > 0.0)) return;
  const double phi1 = (a.c[0] * b.c[1] - b.c[0] * a.c[1]) / rho2, half = a.c[0] * a.c[1] + b.c[0] * b.c[1];
  const double phi2 = (a.c[0] * b.c[2] - b.c[0] * a.c[2] - 2.0 * phi1 * half) / rho2;
  for (int i = 0; i < 12; ++i) {
    const double a0 = a.by[0][i], a1 = a.by[1][i], a2 = a.by[2][i], b0 = b.by[0][i], b1 = b.by[1][i], b2 = b.by[2][i];
    const double drho2 = 2.0 * (a.c[0] * a0 + b.c[0] * b0);
    const double dphi1 = (a0 * b.c[1] + a.c[0] * b1 - b0 * a.c[1] - b.c[0] * a1 - phi1 * drho2) / rho2;
    const double dhalf = a0 * a.c[1] + a.c[0] * a1 + b0 * b.c[1] + b.c[0] * b1;
    by[i] =
        (a0 * b.c[2] + a.c[0] * b2 - b0 * a.c[2] - b.c[0] * a2 - 2.0 * (dphi1 * half + phi1 * dhalf) - phi2 * drho2) /
        rho2;
  }
  put_turns(by, d);
}

static void row_second(const yoke_row *row, const second *s, double d[24]) {
  double unit[3] = {0.0, 0.0, 0.0};
  cosine c;
  memset(d, 0, 24 * sizeof *d);
  switch (row->kind) {
  case YOKE_ROW_POINT:
    unit[row->k] = 1.0;
    add_difference(s, 2, NULL, NULL, unit, d);
    break;
  case YOKE_ROW_STRETCH:
    unit[0] = -1.0;
    add_difference(s, 2, NULL, NULL, unit, d);
    break;
  case YOKE_ROW_INPLANE: add_turning(s, 2, 1, s->x->e[1][row->l], d); break;
  case YOKE_ROW_SLOPE: add_turning(s, 1, 1, s->x->e[1][row->l], d); break;
  case YOKE_ROW_ALONG:
    add_turning(s, 2, 0, s->x->e[0][row->k], d);
    for (int i = 0; i < 24; ++i) d[i] = -d[i];
    break;
  case YOKE_ROW_PERPENDICULAR:
    cosine_set(s, s->x->e[0][row->k], s->x->e[1][row->l], &c);
    put_turns(c.by[2], d);
    break;
  case YOKE_ROW_DISTANCE: add_distance(s, d); break;
  case YOKE_ROW_ANGLE: add_angle(s, d); break;
  case YOKE_ROW_TURN:
  case YOKE_ROW_ROTATION:
  case YOKE_ROW_CARRIED:
  case YOKE_ROW_CARRIED_TURN: break;
  }
}

void yoke_rows_second_gradient(int n, const yoke_row *rows, const yoke_link_state *x, const double *A,
                               double (*d)[24]) {
  second s;
  second_set(x, A, &s);
  for (int i = 0; i < n; ++i) row_second(&rows[i], &s, d[i]);
}
