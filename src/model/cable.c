#include "model/cable.h"

#include "linalg/space.h"
#include <string.h>

/* ---- Gauss points ---- */

/* x in (0, 1) and weight of n = 1, 2, ... points. */
static const double gauss[YOKE_CABLE_MOST_POINTS][YOKE_CABLE_MOST_POINTS][2] = {
    {{0.5, 1.0}},
    {{0.2113248654051871, 0.5}, {0.7886751345948129, 0.5}},
    {{0.11270166537925831, 0.2777777777777778}, {0.5, 0.4444444444444444}, {0.8872983346207417, 0.2777777777777778}},
    {{0.06943184420297371, 0.17392742256872692},
     {0.33000947820757187, 0.32607257743127305},
     {0.6699905217924281, 0.32607257743127305},
     {0.9305681557970263, 0.17392742256872692}},
    {{0.046910077030668004, 0.11846344252809454},
     {0.23076534494715845, 0.23931433524968324},
     {0.5, 0.28444444444444444},
     {0.7692346550528415, 0.23931433524968324},
     {0.953089922969332, 0.11846344252809454}},
    {{0.03376524289842399, 0.08566224618958518},
     {0.16939530676686773, 0.1803807865240693},
     {0.38069040695840156, 0.23395696728634552},
     {0.6193095930415985, 0.23395696728634552},
     {0.8306046932331322, 0.1803807865240693},
     {0.966234757101576, 0.08566224618958518}},
};

/* Derivatives of the four shape functions by x at a point, and its length. */
typedef struct sample {
  double d1[4], d2[4], length;
} sample;

static void set_samples(double L, int n, sample *out) {
  for (int i = 0; i < n; ++i) {
    const double xi    = gauss[n - 1][i][0];
    const double d1[4] = {6.0 * (xi * xi - xi) / L, 1.0 - 4.0 * xi + 3.0 * xi * xi, 6.0 * (xi - xi * xi) / L,
                          3.0 * xi * xi - 2.0 * xi};
    const double d2[4] = {(12.0 * xi - 6.0) / (L * L), (6.0 * xi - 4.0) / L, (6.0 - 12.0 * xi) / (L * L),
                          (6.0 * xi - 2.0) / L};
    memcpy(out[i].d1, d1, sizeof d1);
    memcpy(out[i].d2, d2, sizeof d2);
    out[i].length = L * gauss[n - 1][i][1];
  }
}

typedef struct samples {
  sample axial[YOKE_CABLE_MOST_POINTS], bending[YOKE_CABLE_MOST_POINTS];
} samples;

static void set_all(const yoke_cable *cable, samples *s) {
  set_samples(cable->element_length, cable->n_axial, s->axial);
  set_samples(cable->element_length, cable->n_bending, s->bending);
}

/* y = sum of d[k] q_k */
static void combine(const double d[4], const double *q, double y[3]) {
  for (int i = 0; i < 3; ++i) y[i] = d[0] * q[i] + d[1] * q[3 + i] + d[2] * q[6 + i] + d[3] * q[9 + i];
}

static void spread(double s, const double d[4], const double y[3], double *f) {
  for (int k = 0; k < 4; ++k) vec3_add(f + 3 * k, s * d[k], y);
}

/* ---- masses ---- */

static void element_mass(const yoke_cable *cable, double M[16]) {
  const double L = cable->element_length, m = cable->mass_per_length * L;
  const double upper[4][4] = {{13.0 / 35.0, 11.0 * L / 210.0, 9.0 / 70.0, -13.0 * L / 420.0},
                              {0.0, L * L / 105.0, 13.0 * L / 420.0, -L * L / 140.0},
                              {0.0, 0.0, 13.0 / 35.0, -11.0 * L / 210.0},
                              {0.0, 0.0, 0.0, L * L / 105.0}};
  for (int i = 0; i < 4; ++i) {
    for (int j = i; j < 4; ++j) M[4 * i + j] = M[4 * j + i] = m * upper[i][j];
  }
}

void yoke_cable_mass(const yoke_cable *cable, yoke_flexible_entry *entry, void *user) {
  double M[16];
  element_mass(cable, M);
  for (int e = 0; e < cable->n_elements; ++e) {
    for (int i = 0; i < 16; ++i) entry(user, 2 * e + i / 4, 2 * e + i % 4, M[i]);
  }
}

/* Shares of the element's weight. */
static void element_weight(const yoke_cable *cable, double share[4]) {
  const double L = cable->element_length, m = cable->mass_per_length * L;
  share[0] = share[2] = 0.5 * m;
  share[1]            = m * L / 12.0;
  share[3]            = -m * L / 12.0;
}

/* y [12] += s M x */
static void add_mass_times(const double M[16], double s, const double *x, double *y) {
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) vec3_add(y + 3 * i, s * M[4 * i + j], x + 3 * j);
  }
}

/* ---- forces ---- */

static void stretch(const yoke_cable *cable, const sample *s, const double *q, const double *v, double *f) {
  double p[3], rate[3];
  combine(s->d1, q, p);
  combine(s->d1, v, rate);
  const double e = 0.5 * (vec3_dot(p, p) - 1.0) + cable->axial_damping * vec3_dot(p, rate);
  spread(-cable->axial_stiffness * e * s->length, s->d1, p, f);
}

/* With p = r_x, h = r_xx, c = p x h, a = p . p: dU/dp = (h x c) / a^3 - 3 (c . c) / a^4 p, dU/dh = (c x p) / a^3, times E I. */
static void bend(const yoke_cable *cable, const sample *s, const double *q, double *f) {
  double p[3], h[3], c[3], by_p[3], by_h[3];
  combine(s->d1, q, p);
  combine(s->d2, q, h);
  vec3_cross(c, p, h);
  const double a = vec3_dot(p, p), w = cable->bending_stiffness * s->length / (a * a * a);
  vec3_cross(by_p, h, c);
  vec3_add(by_p, -3.0 * vec3_dot(c, c) / a, p);
  vec3_cross(by_h, c, p);
  spread(-w, s->d1, by_p, f);
  spread(-w, s->d2, by_h, f);
}

void yoke_cable_force(const yoke_cable *cable, const double gravity[3], const double *q, const double *v, double *f) {
  samples s;
  double  M[16], share[4];
  set_all(cable, &s);
  element_mass(cable, M);
  element_weight(cable, share);
  memset(f, 0, 6 * ((size_t)cable->n_elements + 1) * sizeof *f);
  for (int e = 0; e < cable->n_elements; ++e, q += 6, v += 6, f += 6) {
    spread(1.0, share, gravity, f);
    if (cable->damping != 0.0) add_mass_times(M, -cable->damping, v, f);
    for (int i = 0; i < cable->n_axial; ++i) stretch(cable, &s.axial[i], q, v, f);
    for (int i = 0; i < cable->n_bending; ++i) bend(cable, &s.bending[i], q, f);
  }
}

/* ---- derivatives ---- */

/* A [12, 12] += s d_r[i] d_c[j] B at the blocks (i, j). */
static void add_blocks(double s, const double d_r[4], const double d_c[4], const double B[9], double *A) {
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      const double x = s * d_r[i] * d_c[j];
      for (int k = 0; k < 9; ++k) A[12 * (3 * i + k / 3) + 3 * j + k % 3] += x * B[k];
    }
  }
}

/* B += s x y^T, and s times the unit matrix. */
static void add_outer(double s, const double x[3], const double y[3], double B[9]) {
  for (int k = 0; k < 9; ++k) B[k] += s * x[k / 3] * y[k % 3];
}

static void add_unit(double s, double B[9]) {
  for (int k = 0; k < 9; k += 4) B[k] += s;
}

/* Stretch force -E A (e + tau e') p: by q and by v. */
static void stretch_derivatives(const yoke_cable *cable, const sample *s, const double *q, const double *v, double *K,
                                double *D) {
  double p[3], rate[3], B[9] = {0.0}, C[9] = {0.0};
  combine(s->d1, q, p);
  combine(s->d1, v, rate);
  const double tau = cable->axial_damping, e = 0.5 * (vec3_dot(p, p) - 1.0) + tau * vec3_dot(p, rate);
  const double w = -cable->axial_stiffness * s->length;
  add_outer(1.0, p, p, B);
  add_outer(tau, p, rate, B);
  add_unit(e, B);
  add_blocks(w, s->d1, s->d1, B, K);
  add_outer(tau, p, p, C);
  if (tau != 0.0) add_blocks(w, s->d1, s->d1, C, D);
}

/* kappa^2 / 2 = b / (2 a^2) - d^2 / (2 a^3) with a = p . p, b = h . h, d = p . h; f_x its derivatives by these. */
static void bend_derivatives(const yoke_cable *cable, const sample *s, const double *q, double *K) {
  double p[3], h[3], pp[9] = {0.0}, ph[9] = {0.0}, hp[9], hh[9] = {0.0};
  combine(s->d1, q, p);
  combine(s->d2, q, h);
  const double a = vec3_dot(p, p), b = vec3_dot(h, h), d = vec3_dot(p, h), i2 = 1.0 / (a * a), i3 = i2 / a, i4 = i3 / a;
  const double f_a = -b * i3 + 1.5 * d * d * i4, f_aa = 3.0 * b * i4 - 6.0 * d * d * i4 / a, f_ab = -i3,
               f_ad = 3.0 * d * i4, f_b = 0.5 * i2, f_d = -d * i3, f_dd = -i3;
  const double w = -cable->bending_stiffness * s->length;
  add_unit(2.0 * f_a, pp);
  add_outer(4.0 * f_aa, p, p, pp);
  add_outer(2.0 * f_ad, p, h, pp);
  add_outer(2.0 * f_ad, h, p, pp);
  add_outer(f_dd, h, h, pp);
  add_unit(f_d, ph);
  add_outer(4.0 * f_ab, p, h, ph);
  add_outer(2.0 * f_ad, p, p, ph);
  add_outer(f_dd, h, p, ph);
  add_unit(2.0 * f_b, hh);
  add_outer(f_dd, p, p, hh);
  for (int k = 0; k < 9; ++k) hp[k] = ph[k % 3 * 3 + k / 3];
  add_blocks(w, s->d1, s->d1, pp, K);
  add_blocks(w, s->d1, s->d2, ph, K);
  add_blocks(w, s->d2, s->d1, hp, K);
  add_blocks(w, s->d2, s->d2, hh, K);
}

void yoke_cable_jacobian(const yoke_cable *cable, const double *q, const double *v, yoke_flexible_block *block,
                         void *user) {
  const bool is_damped = cable->damping != 0.0 || cable->axial_damping != 0.0;
  samples    s;
  double     M[16];
  set_all(cable, &s);
  element_mass(cable, M);
  for (int e = 0; e < cable->n_elements; ++e) {
    double K[144] = {0.0}, D[144] = {0.0};
    for (int i = 0; i < cable->n_axial; ++i) stretch_derivatives(cable, &s.axial[i], q + 6 * e, v + 6 * e, K, D);
    for (int i = 0; i < cable->n_bending; ++i) bend_derivatives(cable, &s.bending[i], q + 6 * e, K);
    block(user, false, 6 * e, 6 * e, 12, K);
    if (!is_damped) continue;
    for (int i = 0; i < 12; ++i) {
      for (int j = i % 3; j < 12; j += 3) D[12 * i + j] -= cable->damping * M[4 * (i / 3) + j / 3];
    }
    block(user, true, 6 * e, 6 * e, 12, D);
  }
}

/* ---- energies ---- */

static double dot12(const double *x, const double *y) {
  double sum = 0.0;
  for (int i = 0; i < 12; ++i) sum += x[i] * y[i];
  return sum;
}

void yoke_cable_energy(const yoke_cable *cable, const double gravity[3], const double *q, const double *v,
                       double *kinetic, double *potential) {
  samples s;
  double  M[16], share[4];
  set_all(cable, &s);
  element_mass(cable, M);
  element_weight(cable, share);
  for (int e = 0; e < cable->n_elements; ++e, q += 6, v += 6) {
    double Mv[12] = {0.0}, p[3], h[3], c[3];
    add_mass_times(M, 1.0, v, Mv);
    *kinetic += 0.5 * dot12(Mv, v);
    for (int k = 0; k < 4; ++k) *potential -= share[k] * vec3_dot(gravity, q + 3 * k);
    for (int i = 0; i < cable->n_axial; ++i) {
      combine(s.axial[i].d1, q, p);
      const double strain = 0.5 * (vec3_dot(p, p) - 1.0);
      *potential += 0.5 * cable->axial_stiffness * strain * strain * s.axial[i].length;
    }
    for (int i = 0; i < cable->n_bending; ++i) {
      combine(s.bending[i].d1, q, p);
      combine(s.bending[i].d2, q, h);
      vec3_cross(c, p, h);
      const double a = vec3_dot(p, p);
      *potential += 0.5 * cable->bending_stiffness * vec3_dot(c, c) / (a * a * a) * s.bending[i].length;
    }
  }
}

void yoke_cable_power_lost(const yoke_cable *cable, const double *q, const double *v, double *lost) {
  samples s;
  double  M[16];
  set_all(cable, &s);
  element_mass(cable, M);
  for (int e = 0; e < cable->n_elements; ++e, q += 6, v += 6) {
    double Mv[12] = {0.0}, p[3], rate[3];
    add_mass_times(M, 1.0, v, Mv);
    *lost += cable->damping * dot12(Mv, v);
    for (int i = 0; cable->axial_damping != 0.0 && i < cable->n_axial; ++i) {
      combine(s.axial[i].d1, q, p);
      combine(s.axial[i].d1, v, rate);
      const double strain_rate = vec3_dot(p, rate);
      *lost += cable->axial_stiffness * cable->axial_damping * strain_rate * strain_rate * s.axial[i].length;
    }
  }
}
