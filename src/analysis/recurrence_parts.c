#include "analysis/recurrence_parts.h"

#include <math.h>
#include <string.h>

void part_clear(int nv, double *form) {
  memset(form, 0, (size_t)nv * sizeof *form);
}

void part_unit(int nv, int unit, double *form) {
  part_clear(nv, form);
  form[unit] = 1.0;
}

/* ---- polynomials ---- */

/* Product over m != i of (t + start - at[m]) / (at[i] - at[m]), factor by factor. */
void part_lagrange(int n, const double *at, double start, double coefficient[][PART_DEGREE + 1]) {
  for (int i = 0; i < n; ++i) {
    double *c      = coefficient[i];
    int     degree = 0;
    memset(c, 0, (PART_DEGREE + 1) * sizeof *c);
    c[0] = 1.0;
    for (int m = 0; m < n; ++m) {
      if (m == i) continue;
      const double scale = 1.0 / (at[i] - at[m]), shift = start - at[m];
      for (int j = ++degree; j > 0; --j) c[j] = scale * (c[j - 1] + shift * c[j]);
      c[0] *= scale * shift;
    }
    double factorial = 1.0;
    for (int j = 2; j <= degree; ++j) {
      factorial *= (double)j;
      c[j] *= factorial;
    }
  }
}

double part_polynomial(const double coefficient[PART_DEGREE + 1], double t) {
  double sum = 0.0;
  for (int j = PART_DEGREE; j > 0; --j) sum = (sum + coefficient[j]) * t / (double)j;
  return sum + coefficient[0];
}

void part_interpolate(int nv, double start, double length, int n, const part_node *nodes, part_piece *piece) {
  double at[PART_DEGREE + 1] = {0.0}, c[PART_DEGREE + 1][PART_DEGREE + 1];
  for (int i = 0; i < n; ++i) at[i] = nodes[i].at;
  part_lagrange(n, at, start, c);
  piece->start  = start;
  piece->length = length;
  piece->degree = n - 1;
  for (int j = 0; j < n; ++j) {
    part_clear(nv, piece->coefficient[j]);
    for (int i = 0; i < n; ++i) {
      if (nodes[i].form == NULL) {
        piece->coefficient[j][nodes[i].unit] += c[i][j];
      } else {
        part_add(nv, piece->coefficient[j], c[i][j], nodes[i].form);
      }
    }
  }
}

void part_end_value(int nv, const part_signal *signal, double *form) {
  const part_piece *piece = &signal->piece[signal->n_pieces - 1];
  double            power = 1.0;
  part_clear(nv, form);
  for (int j = 0; j <= piece->degree; ++j) {
    part_add(nv, form, power, piece->coefficient[j]);
    power *= piece->length / (double)(j + 1);
  }
}

/* ---- sides ---- */

void part_side_open(part_side *side, double c, double d, int n_phi) {
  side->c         = c;
  side->d         = d;
  side->n_phi     = n_phi;
  side->n_lengths = 0;
}

static const yoke_phi *phi_of(part_side *side, double length) {
  for (int i = 0; i < side->n_lengths; ++i) {
    if (side->phi[i].h == length) return &side->phi[i];
  }
  yoke_phi *phi = &side->phi[side->n_lengths < PART_LENGTHS ? side->n_lengths++ : PART_LENGTHS - 1];
  yoke_phi_make(side->c, side->d, length, side->n_phi, phi);
  return phi;
}

void part_free_motion(part_side *side, int nv, int x, int v, bool with_integral, part_motion *motion) {
  const yoke_phi *phi = phi_of(side, 1.0);
  part_clear(nv, motion->x);
  part_clear(nv, motion->v);
  const int at[2] = {x, v};
  for (int k = 0; k < 2; ++k) {
    double z[2] = {k == 0, k == 1};
    yoke_phi_apply(phi, 0, z, z);
    motion->x[at[k]] = z[0];
    motion->v[at[k]] = z[1];
  }
  if (!with_integral) return;
  part_clear(nv, motion->p);
  for (int k = 0; k < 2; ++k) {
    double z[2] = {k == 0, k == 1};
    yoke_phi_apply(phi, 1, z, z);
    motion->p[at[k]] = z[0];
  }
}

/* What coefficient j of a piece moves: z and the integral of x at the end of the step. */
static void moment(part_side *side, const part_piece *piece, const double B[2], int j, bool with_integral, double z[2],
                   double *p) {
  const double    h = piece->length, rest = 1.0 - (piece->start + h);
  const yoke_phi *phi   = phi_of(side, h);
  double          scale = h;
  for (int k = 0; k < j; ++k) scale *= h;
  yoke_phi_apply(phi, j + 1, B, z);
  z[0] *= scale;
  z[1] *= scale;
  *p = 0.0;
  if (with_integral) {
    double integral[2];
    yoke_phi_apply(phi, j + 2, B, integral);
    *p = scale * h * integral[0];
  }
  if (rest < 1e-14) return; /* the last piece */
  phi = phi_of(side, rest);
  if (with_integral) {
    double integral[2];
    yoke_phi_apply(phi, 1, z, integral);
    *p += rest * integral[0];
  }
  yoke_phi_apply(phi, 0, z, z);
}

void part_add_input(part_side *side, int nv, const double B[2], const part_signal *signal, bool with_integral,
                    part_motion *motion) {
  for (int k = 0; k < signal->n_pieces; ++k) {
    const part_piece *piece = &signal->piece[k];
    for (int j = 0; j <= piece->degree; ++j) {
      double z[2], p;
      moment(side, piece, B, j, with_integral, z, &p);
      part_add(nv, motion->x, z[0], piece->coefficient[j]);
      part_add(nv, motion->v, z[1], piece->coefficient[j]);
      if (with_integral) part_add(nv, motion->p, p, piece->coefficient[j]);
    }
  }
}

/* ---- conditions ---- */

/* Gauss-Jordan with row scaling and partial pivoting; the columns of w become the unit matrix. */
yoke_status part_solve(int n_Y, int n, part_form *rows, part_form *solution) {
  const int nv = n_Y + n;
  for (int i = 0; i < n; ++i) {
    double most = 0.0;
    for (int j = n_Y; j < nv; ++j) most = fmax(most, fabs(rows[i][j]));
    if (!(most > 0.0) || !isfinite(most)) return most > 0.0 ? YOKE_NON_FINITE : YOKE_SINGULAR;
    for (int j = 0; j < nv; ++j) rows[i][j] /= most;
  }
  double *row[PART_UNKNOWNS];
  for (int i = 0; i < n; ++i) row[i] = rows[i];
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int i = k + 1; i < n; ++i) {
      if (fabs(row[i][n_Y + k]) > fabs(row[best][n_Y + k])) best = i;
    }
    double *pivot = row[best];
    row[best]     = row[k];
    row[k]        = pivot;
    if (!(fabs(pivot[n_Y + k]) > 1e-15)) return YOKE_SINGULAR;
    const double scale = 1.0 / pivot[n_Y + k];
    for (int j = 0; j < nv; ++j) pivot[j] *= scale;
    for (int i = 0; i < n; ++i) {
      if (i != k) part_add(nv, row[i], -row[i][n_Y + k], pivot);
    }
  }
  for (int k = 0; k < n; ++k) {
    for (int j = 0; j < n_Y; ++j) solution[k][j] = -row[k][j];
  }
  return YOKE_OK;
}
