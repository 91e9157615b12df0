#include "base/simd.h"
#include "model/chain_loops.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- stage sums ---- */

/* One term of the sums, present when the constant n_terms is larger than j. */
#define TERM(j)                                                                                                        \
  if (n_terms > (j)) {                                                                                                 \
    const double A = A##j[i];                                                                                          \
    dx += cx[j] * A;                                                                                                   \
    dv += cv[j] * A;                                                                                                   \
    if (with_error) {                                                                                                  \
      ex += cex[j] * A;                                                                                                \
      ev += cev[j] * A;                                                                                                \
    }                                                                                                                  \
  }

/* n_terms and with_error are constants wherever this is inlined: the terms unroll into straight code over i. */
static YOKE_ALWAYS_INLINE void sum_terms(int n_terms, bool with_error, const yoke_chain_sum *restrict sum, int i0,
                                         int n, const double *restrict q, const double *restrict v, double *restrict X,
                                         double *restrict V, double *restrict EX, double *restrict EV) {
  const double *restrict A0 = sum->A[0] + i0, *restrict A1 = sum->A[1] + i0, *restrict A2 = sum->A[2] + i0;
  const double *restrict A3 = sum->A[3] + i0, *restrict A4 = sum->A[4] + i0, *restrict A5 = sum->A[5] + i0;
  const double *restrict A6 = sum->A[6] + i0, *restrict A7 = sum->A[7] + i0, *restrict A8 = sum->A[8] + i0;
  const double *restrict A9 = sum->A[9] + i0, *restrict A10 = sum->A[10] + i0, *restrict A11 = sum->A[11] + i0;
  const double *restrict cx = sum->x, *restrict cv = sum->v, *restrict cex = sum->ex, *restrict cev = sum->ev;
  const double hc = sum->hc;
  for (int i = 0; i < n; ++i) {
    double dx = hc * v[i], dv = -0.0, ex = -0.0, ev = -0.0; /* y + -0.0 is y for every y: the compiler drops it */
    TERM(0) TERM(1) TERM(2) TERM(3) TERM(4) TERM(5) TERM(6) TERM(7) TERM(8) TERM(9) TERM(10) TERM(11) X[i] = q[i] + dx;
    V[i]                                                                                                   = v[i] + dv;
    if (with_error) {
      EX[i] = ex;
      EV[i] = ev;
    }
  }
}

#define SUM_CASES(with_error, EX, EV)                                                                                  \
  switch (sum->n_terms) {                                                                                              \
  case 0: sum_terms(0, with_error, sum, i0, n, q, v, X, V, EX, EV); break;                                             \
  case 1: sum_terms(1, with_error, sum, i0, n, q, v, X, V, EX, EV); break;                                             \
  case 2: sum_terms(2, with_error, sum, i0, n, q, v, X, V, EX, EV); break;                                             \
  case 3: sum_terms(3, with_error, sum, i0, n, q, v, X, V, EX, EV); break;                                             \
  case 4: sum_terms(4, with_error, sum, i0, n, q, v, X, V, EX, EV); break;                                             \
  case 5: sum_terms(5, with_error, sum, i0, n, q, v, X, V, EX, EV); break;                                             \
  case 6: sum_terms(6, with_error, sum, i0, n, q, v, X, V, EX, EV); break;                                             \
  case 7: sum_terms(7, with_error, sum, i0, n, q, v, X, V, EX, EV); break;                                             \
  case 8: sum_terms(8, with_error, sum, i0, n, q, v, X, V, EX, EV); break;                                             \
  case 9: sum_terms(9, with_error, sum, i0, n, q, v, X, V, EX, EV); break;                                             \
  case 10: sum_terms(10, with_error, sum, i0, n, q, v, X, V, EX, EV); break;                                           \
  case 11: sum_terms(11, with_error, sum, i0, n, q, v, X, V, EX, EV); break;                                           \
  default: sum_terms(12, with_error, sum, i0, n, q, v, X, V, EX, EV); break;                                           \
  }

YOKE_SIMD void yoke_chain_loop_sum(const yoke_chain_sum *sum, int i0, int n, const double *q, const double *v,
                                   double *X, double *V){SUM_CASES(false, NULL, NULL)}

YOKE_SIMD void yoke_chain_loop_sum_error(const yoke_chain_sum *sum, int i0, int n, const double *q, const double *v,
                                         double *X, double *V, double *EX, double *EV){SUM_CASES(true, EX, EV)}

/* ---- element forces ---- */

YOKE_SIMD void yoke_chain_loop_linear_uniform(int n, const yoke_chain_element *p, const double *restrict x,
                                              const double *restrict v, double *restrict F) {
  const double c = p->c, d = p->d;
  for (int k = 0; k < n; ++k) F[k] = (x[k + 1] - x[k]) * c + (v[k + 1] - v[k]) * d;
}

YOKE_SIMD void yoke_chain_loop_linear_each(int n, const double *const *p, const double *restrict x,
                                           const double *restrict v, double *restrict F) {
  const double *restrict c = p[0], *restrict d = p[1];
  for (int k = 0; k < n; ++k) F[k] = (x[k + 1] - x[k]) * c[k] + (v[k + 1] - v[k]) * d[k];
}

YOKE_SIMD void yoke_chain_loop_cubic_uniform(int n, const yoke_chain_element *p, const double *restrict x,
                                             const double *restrict v, double *restrict F) {
  const double c = p->c, d = p->d, C = p->C, D = p->D;
  for (int k = 0; k < n; ++k) {
    const double dx = x[k + 1] - x[k], dv = v[k + 1] - v[k];
    F[k] = dx * (c + C * (dx * dx)) + dv * (d + D * (dv * dv));
  }
}

YOKE_SIMD void yoke_chain_loop_cubic_each(int n, const double *const *p, const double *restrict x,
                                          const double *restrict v, double *restrict F) {
  const double *restrict c = p[0], *restrict d = p[1], *restrict C = p[2], *restrict D = p[3];
  for (int k = 0; k < n; ++k) {
    const double dx = x[k + 1] - x[k], dv = v[k + 1] - v[k];
    F[k] = dx * (c[k] + C[k] * (dx * dx)) + dv * (d[k] + D[k] * (dv * dv));
  }
}

YOKE_SIMD void yoke_chain_loop_power_uniform(int n, const yoke_chain_element *p, const double *restrict gx,
                                             const double *restrict gv, const double *restrict x,
                                             const double *restrict v, double *restrict F) {
  const double c = p->c, d = p->d, C = p->C, D = p->D;
  for (int k = 0; k < n; ++k) {
    const double dx = x[k + 1] - x[k], dv = v[k + 1] - v[k];
    F[k] = dx * (c + C * gx[k]) + dv * (d + D * gv[k]);
  }
}

YOKE_SIMD void yoke_chain_loop_power_each(int n, const double *const *p, const double *restrict gx,
                                          const double *restrict gv, const double *restrict x, const double *restrict v,
                                          double *restrict F) {
  const double *restrict c = p[0], *restrict d = p[1], *restrict C = p[2], *restrict D = p[3];
  for (int k = 0; k < n; ++k) {
    const double dx = x[k + 1] - x[k], dv = v[k + 1] - v[k];
    F[k] = dx * (c[k] + C[k] * gx[k]) + dv * (d[k] + D[k] * gv[k]);
  }
}

/* y^p by squaring; p is a constant wherever this is inlined. */
static YOKE_ALWAYS_INLINE double small_power(double y, unsigned p) {
  const double y2 = y * y, y4 = y2 * y2;
  double       g = p & 1u ? y : 1.0;
  if (p & 2u) g *= y2;
  if (p & 4u) g *= y4;
  return g;
}

static YOKE_ALWAYS_INLINE void small_powers(int n, unsigned p, bool root, const double *restrict x,
                                            double *restrict g) {
  for (int k = 0; k < n; ++k) {
    const double y = fabs(x[k + 1] - x[k]);
    g[k]           = root ? small_power(y, p) * sqrt(y) : small_power(y, p);
  }
}

#define POWER_CASES(root)                                                                                              \
  switch (p) {                                                                                                         \
  case 0: small_powers(n, 0, root, x, g); return;                                                                      \
  case 1: small_powers(n, 1, root, x, g); return;                                                                      \
  case 2: small_powers(n, 2, root, x, g); return;                                                                      \
  case 3: small_powers(n, 3, root, x, g); return;                                                                      \
  case 4: small_powers(n, 4, root, x, g); return;                                                                      \
  case 5: small_powers(n, 5, root, x, g); return;                                                                      \
  case 6: small_powers(n, 6, root, x, g); return;                                                                      \
  case 7: small_powers(n, 7, root, x, g); return;                                                                      \
  default: break;                                                                                                      \
  }

/* Larger powers: the block of bases is squared beside the block of results. */
YOKE_SIMD void yoke_chain_loop_integer_power(int n, unsigned p, const double *restrict x, double *restrict g) {
  POWER_CASES(false)
  _Alignas(64) double base[YOKE_CHAIN_BLOCK];
  for (int k = 0; k < n; ++k) {
    base[k] = fabs(x[k + 1] - x[k]);
    g[k]    = 1.0;
  }
  for (; p != 0; p >>= 1) {
    if (p & 1u) {
      for (int k = 0; k < n; ++k) g[k] *= base[k];
    }
    for (int k = 0; k < n; ++k) base[k] *= base[k];
  }
}

YOKE_SIMD void yoke_chain_loop_half_power(int n, unsigned p, const double *restrict x, double *restrict g) {
  POWER_CASES(true)
}

/* ---- accelerations ---- */

/* Bit 63 is set when y is infinite or not a number: then all exponent bits are 1 and adding 1 to the exponent carries
 * into it. */
static YOKE_ALWAYS_INLINE uint64_t overflow_bit(double y) {
  uint64_t bits;
  memcpy(&bits, &y, sizeof bits);
  return (bits & UINT64_C(0x7ff0000000000000)) + UINT64_C(0x0010000000000000);
}

YOKE_SIMD uint64_t yoke_chain_loop_accelerate(int n, const double *restrict F, const double *restrict w, double gx,
                                              double *restrict a) {
  uint64_t bad = 0;
  for (int k = 0; k < n; ++k) {
    const double y = (F[k + 1] - F[k]) * w[k] + gx;
    a[k]           = y;
    bad |= overflow_bit(y);
  }
  return bad >> 63;
}

YOKE_SIMD uint64_t yoke_chain_loop_accelerate_uniform(int n, const double *restrict F, double w, double gx,
                                                      double *restrict a) {
  uint64_t bad = 0;
  for (int k = 0; k < n; ++k) {
    const double y = (F[k + 1] - F[k]) * w + gx;
    a[k]           = y;
    bad |= overflow_bit(y);
  }
  return bad >> 63;
}

YOKE_SIMD uint64_t yoke_chain_loop_force(int n, const double *restrict F, const double *restrict m, double gx,
                                         double *restrict f) {
  uint64_t bad = 0;
  for (int k = 0; k < n; ++k) {
    const double y = (F[k + 1] - F[k]) + m[k] * gx;
    f[k]           = y;
    bad |= overflow_bit(y);
  }
  return bad >> 63;
}

/* ---- error ---- */

static YOKE_ALWAYS_INLINE double larger(double a, double b) {
  return a > b ? a : b;
}

/* DBL_MIN keeps 0 / 0 (a mass at rest with atol = 0) at 0. */
static YOKE_ALWAYS_INLINE double scaled(double e, double atol, double rtol, double y0, double y1) {
  return e / larger(atol + rtol * larger(fabs(y0), fabs(y1)), DBL_MIN);
}

/* Mass k adds to lane k mod 8; lanes are added pairwise at the end: the order does not depend on the width of
 * vectors. */
static YOKE_ALWAYS_INLINE double sum_of_lanes(const double *lane) {
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

YOKE_SIMD double yoke_chain_loop_error(int n, double ex, double ev, double atol, double rtol, const double *restrict EX,
                                       const double *restrict EV, const double *restrict a, const double *restrict q,
                                       const double *restrict v, const double *restrict X, const double *restrict V) {
  _Alignas(64) double square[YOKE_CHAIN_BLOCK];
  for (int k = 0; k < n; ++k) {
    const double rq = scaled(EX[k] + ex * a[k], atol, rtol, q[k], X[k]);
    const double rv = scaled(EV[k] + ev * a[k], atol, rtol, v[k], V[k]);
    square[k]       = rq * rq + rv * rv;
  }
  double lane[YOKE_CHAIN_LANES] = {0.0};
  int    k                      = 0;
  for (; k + YOKE_CHAIN_LANES <= n; k += YOKE_CHAIN_LANES) {
    for (int j = 0; j < YOKE_CHAIN_LANES; ++j) lane[j] += square[k + j];
  }
  for (int j = 0; k < n; ++k, ++j) lane[j] += square[k];
  return sum_of_lanes(lane);
}

/* ---- losses and energies ---- */

/* TERMS(k) adds what belongs to k to lane j of its sums, 0 <= k < n. */
#define IN_LANES(n, TERMS)                                                                                             \
  int k = 0;                                                                                                           \
  for (; k + YOKE_CHAIN_LANES <= (n); k += YOKE_CHAIN_LANES) {                                                         \
    for (int j = 0; j < YOKE_CHAIN_LANES; ++j) TERMS(k + j)                                                            \
  }                                                                                                                    \
  for (int j = 0; k < (n); ++k, ++j) TERMS(k)

/* Half of the lanes: the width of vectors that all compilers keep in registers, also in several sums at once. */
enum { HALF = YOKE_CHAIN_LANES / 2 };
typedef double half_lanes __attribute__((vector_size(HALF * sizeof(double))));

/* At any address. No function: compilers warn of vectors that are returned. */
typedef double unaligned_half __attribute__((vector_size(HALF * sizeof(double)), aligned(8), may_alias));
#define HALF_AT(p) ((half_lanes)(*(const unaligned_half *)(const void *)(p)))

static YOKE_ALWAYS_INLINE double sum_of_four(double a, double b, double c, double d) {
  return (a + c) + (b + d);
}
#define SUM_OF(x) sum_of_four((x)[0], (x)[1], (x)[2], (x)[3])

/* Sums over dampers, with s = dv^2 and r = dv dv': of s d, s D g, r d, r D g; equal d and D are taken out of them. */
typedef struct loss_sums {
  half_lanes s_d, s_D, r_d, r_D;
} loss_sums;

static YOKE_ALWAYS_INLINE void add_losses(loss_sums *sum, int k, bool is_uniform, bool is_cubic, bool with_rate,
                                          const double *restrict d, const double *restrict D, const double *restrict g,
                                          const double *restrict v, const double *restrict a) {
  const half_lanes dv = HALF_AT(v + k + 1) - HALF_AT(v + k), s = dv * dv, G = is_cubic ? s : HALF_AT(g + k);
  sum->s_d += is_uniform ? s : s * HALF_AT(d + k);
  sum->s_D += is_uniform ? s * G : s * (HALF_AT(D + k) * G);
  if (!with_rate) return;
  const half_lanes r = dv * (HALF_AT(a + k + 1) - HALF_AT(a + k));
  sum->r_d += is_uniform ? r : r * HALF_AT(d + k);
  sum->r_D += is_uniform ? r * G : r * (HALF_AT(D + k) * G);
}

/* One more damper, in order. */
#define ONE_MORE                                                                                                       \
  do {                                                                                                                 \
    if (k >= n) break;                                                                                                 \
    const double dv = v[k + 1] - v[k], s = dv * dv, r = with_rate ? dv * (a[k + 1] - a[k]) : 0.0;                      \
    const double linear = is_uniform ? 1.0 : d[k], power = (is_uniform ? 1.0 : D[k]) * (is_cubic ? s : g[k]);          \
    S_d += s * linear;                                                                                                 \
    S_D += s * power;                                                                                                  \
    R_d += r * linear;                                                                                                 \
    R_D += r * power;                                                                                                  \
    ++k;                                                                                                               \
  } while (false)

/* Fewer than half of the lanes are left at the end: no loop, of which compilers make more code than of all others. */
static YOKE_ALWAYS_INLINE void sum_losses(int n, bool is_uniform, bool is_cubic, bool with_rate,
                                          const double *restrict d, const double *restrict D, double d0, double D0,
                                          const double *restrict g, double e_1, const double *restrict v,
                                          const double *restrict a, double *restrict out) {
  loss_sums half[2] = {{{0.0}, {0.0}, {0.0}, {0.0}}, {{0.0}, {0.0}, {0.0}, {0.0}}};
  int       k       = 0;
  for (; k + YOKE_CHAIN_LANES <= n; k += YOKE_CHAIN_LANES) {
    for (int i = 0; i < 2; ++i) add_losses(&half[i], k + i * HALF, is_uniform, is_cubic, with_rate, d, D, g, v, a);
  }
  if (k + HALF <= n) {
    add_losses(&half[0], k, is_uniform, is_cubic, with_rate, d, D, g, v, a);
    k += HALF;
  }
  double S_d = SUM_OF(half[0].s_d + half[1].s_d), S_D = SUM_OF(half[0].s_D + half[1].s_D), R_d = 0.0, R_D = 0.0;
  if (with_rate) {
    R_d = SUM_OF(half[0].r_d + half[1].r_d);
    R_D = SUM_OF(half[0].r_D + half[1].r_D);
  }
  ONE_MORE;
  ONE_MORE;
  ONE_MORE;
  out[0] = is_uniform ? d0 * S_d + D0 * S_D : S_d + S_D;
  out[1] = is_uniform ? 2.0 * d0 * R_d + e_1 * D0 * R_D : 2.0 * R_d + e_1 * R_D;
}

#undef ONE_MORE

#define LOSSES(with_rate)                                                                                              \
  if (d == NULL && g == NULL)                                                                                          \
    sum_losses(n, true, true, with_rate, d, D, d0, D0, g, 4.0, v, a, out);                                             \
  else if (d == NULL)                                                                                                  \
    sum_losses(n, true, false, with_rate, d, D, d0, D0, g, e_1, v, a, out);                                            \
  else if (g == NULL)                                                                                                  \
    sum_losses(n, false, true, with_rate, d, D, d0, D0, g, 4.0, v, a, out);                                            \
  else                                                                                                                 \
    sum_losses(n, false, false, with_rate, d, D, d0, D0, g, e_1, v, a, out);

YOKE_SIMD void yoke_chain_loop_losses(int n, const double *d, const double *D, double d0, double D0, const double *g,
                                      double e_1, const double *v, const double *a, double out[2]) {
  if (a != NULL) {
    LOSSES(true)
  } else {
    LOSSES(false)
  }
}
#undef LOSSES

#define TERM_OF(i, U)                                                                                                  \
  {                                                                                                                    \
    const double dx = x[(i) + 1] - x[i], s = dx * dx, G = is_cubic ? s : g[i];                                         \
    U += s * (0.5 * (is_uniform ? c0 : c[i]) + share * (is_uniform ? C0 : C[i]) * G);                                  \
  }
/* In the order of lanes, whatever their number at once. */
static YOKE_ALWAYS_INLINE double sum_potentials(int n, bool is_uniform, bool is_cubic, const double *restrict c,
                                                const double *restrict C, double c0, double C0,
                                                const double *restrict g, double e_1, const double *restrict x) {
  const double share               = 1.0 / e_1;
  double       U[YOKE_CHAIN_LANES] = {0.0};
  half_lanes   half[2]             = {{0.0}, {0.0}};
  int          k                   = 0;
  for (; k + YOKE_CHAIN_LANES <= n; k += YOKE_CHAIN_LANES) {
    for (int i = 0; i < 2; ++i) {
      const int        at = k + i * HALF;
      const half_lanes dx = HALF_AT(x + at + 1) - HALF_AT(x + at), s = dx * dx, G = is_cubic ? s : HALF_AT(g + at);
      if (is_uniform)
        half[i] += s * (0.5 * c0 + share * C0 * G);
      else
        half[i] += s * (0.5 * HALF_AT(c + at) + share * HALF_AT(C + at) * G);
    }
  }
  for (int j = 0; j < YOKE_CHAIN_LANES; ++j) U[j] = half[j / HALF][j % HALF];
  for (int j = 0; k < n; ++k, ++j) TERM_OF(k, U[j])
  return sum_of_lanes(U);
}
#undef TERM_OF

YOKE_SIMD double yoke_chain_loop_potential(int n, const double *c, const double *C, double c0, double C0,
                                           const double *g, double e_1, const double *x) {
  if (c == NULL && g == NULL) return sum_potentials(n, true, true, c, C, c0, C0, g, 4.0, x);
  if (c == NULL) return sum_potentials(n, true, false, c, C, c0, C0, g, e_1, x);
  if (g == NULL) return sum_potentials(n, false, true, c, C, c0, C0, g, 4.0, x);
  return sum_potentials(n, false, false, c, C, c0, C0, g, e_1, x);
}

#undef HALF_AT
#undef SUM_OF

#define KINETIC(i) T[j] += m[i] * (v[i] * v[i]);
YOKE_SIMD double yoke_chain_loop_kinetic(int n, const double *restrict m, const double *restrict v) {
  double T[YOKE_CHAIN_LANES] = {0.0};
  IN_LANES(n, KINETIC)
  return 0.5 * sum_of_lanes(T);
}
#undef KINETIC

#define MOMENT(i) S[j] += m[i] * x[i];
YOKE_SIMD double yoke_chain_loop_moment(int n, const double *restrict m, const double *restrict x) {
  double S[YOKE_CHAIN_LANES] = {0.0};
  IN_LANES(n, MOMENT)
  return sum_of_lanes(S);
}
#undef MOMENT
#undef IN_LANES

/* ---- loads ---- */

/* x = k pi + r, |r| <= pi/2, sin x = (-1)^k sin r. pi in three parts of which the first two times k have no rounding
 * error up to |x| = sine_limit. Taylor series of sin r up to r^21: what is left out is below 2e-18. */
static const double sine_limit = 1e6;

static YOKE_ALWAYS_INLINE double sine(double x) {
  const double pi_1 = 0x1.921fb544p+1, pi_2 = 0x1.0b4611a6p-33, pi_3 = 0x1.3198a2e037073p-68;
  const double shift = 0x1.8p52; /* adding it rounds to an integer, which is then in the low bits */
  const double z = x * 0x1.45f306dc9c883p-2 + shift, k = z - shift;
  const double r = ((x - k * pi_1) - k * pi_2) - k * pi_3, r2 = r * r;
  double       p = 1.0 / 51090942171709440000.0;
  p              = p * r2 - 1.0 / 121645100408832000.0;
  p              = p * r2 + 1.0 / 355687428096000.0;
  p              = p * r2 - 1.0 / 1307674368000.0;
  p              = p * r2 + 1.0 / 6227020800.0;
  p              = p * r2 - 1.0 / 39916800.0;
  p              = p * r2 + 1.0 / 362880.0;
  p              = p * r2 - 1.0 / 5040.0;
  p              = p * r2 + 1.0 / 120.0;
  p              = p * r2 - 1.0 / 6.0;
  double   y     = r + r * (r2 * p);
  uint64_t k_bits, y_bits;
  memcpy(&k_bits, &z, sizeof k_bits);
  memcpy(&y_bits, &y, sizeof y_bits);
  y_bits ^= k_bits << 63; /* odd k: other sign */
  memcpy(&y, &y_bits, sizeof y);
  return y;
}

YOKE_SIMD void yoke_chain_loop_argument(int n, const double *restrict omega, const double *restrict phase, double t,
                                        double *restrict x) {
  for (int k = 0; k < n; ++k) x[k] = omega[k] * t + phase[k];
}

YOKE_SIMD void yoke_chain_loop_scale(int n, const double *restrict amplitude, double scale, double *restrict y) {
  for (int k = 0; k < n; ++k) {
    const double force = amplitude[k] * y[k] * scale;
    y[k]               = force == 0.0 ? -0.0 : force;
  }
}

YOKE_SIMD void yoke_chain_loop_sine(int n, const double *restrict x, double *restrict y) {
  uint64_t n_far = 0; /* or NaN */
  for (int k = 0; k < n; ++k) {
    y[k] = sine(x[k]);
    n_far += fabs(x[k]) <= sine_limit ? 0 : 1;
  }
  for (int k = 0; k < n && n_far > 0; ++k) {
    if (!(fabs(x[k]) <= sine_limit)) y[k] = sin(x[k]);
  }
}

/* 1 / (1 + exp(-2 x)). With -2 x = k ln 2 + r, |r| <= ln(2)/2, exp(r) is a Taylor polynomial: what is left out is below 2e-17. */
static YOKE_ALWAYS_INLINE double logistic(double x) {
  const double ln2_1 = 0x1.62e42feep-1, ln2_2 = 0x1.a39ef35793c76p-33, shift = 0x1.8p52;
  const double y = -2.0 * x, z = y * 0x1.71547652b82fep0 + shift, k = z - shift, r = (y - k * ln2_1) - k * ln2_2;
  double       p = 1.0 / 6227020800.0;
  p              = p * r + 1.0 / 479001600.0;
  p              = p * r + 1.0 / 39916800.0;
  p              = p * r + 1.0 / 3628800.0;
  p              = p * r + 1.0 / 362880.0;
  p              = p * r + 1.0 / 40320.0;
  p              = p * r + 1.0 / 5040.0;
  p              = p * r + 1.0 / 720.0;
  p              = p * r + 1.0 / 120.0;
  p              = p * r + 1.0 / 24.0;
  p              = p * r + 1.0 / 6.0;
  p              = p * r + 0.5;
  p              = 1.0 + (r + r * (r * p));
  uint64_t k_bits, p_bits;
  memcpy(&k_bits, &z, sizeof k_bits);
  memcpy(&p_bits, &p, sizeof p_bits);
  p_bits += k_bits << 52; /* times 2^k */
  memcpy(&p, &p_bits, sizeof p);
  return 1.0 / (1.0 + p);
}

YOKE_SIMD void yoke_chain_loop_step(const double *restrict x, double *restrict y) {
  for (int k = 0; k < YOKE_LOAD_TIMES; ++k) y[k] = logistic(x[k]);
}

/* By squaring, all together until the largest power is used up. */
YOKE_SIMD void yoke_chain_loop_raise(int n, uint64_t *restrict p, double *restrict y) {
  _Alignas(64) double result[YOKE_CHAIN_BLOCK];
  for (int k = 0; k < n; ++k) result[k] = 1.0;
  for (uint64_t left = 1; left != 0;) {
    left = 0;
    for (int k = 0; k < n; ++k) {
      const double product = result[k] * y[k];
      result[k]            = p[k] & 1u ? product : result[k];
      y[k] *= y[k];
      p[k] >>= 1;
      left |= p[k];
    }
  }
  memcpy(y, result, (size_t)n * sizeof *y);
}

YOKE_SIMD void yoke_chain_loop_raise_all(int n, uint64_t p, double *restrict y) {
  _Alignas(64) double result[YOKE_CHAIN_BLOCK];
  for (int k = 0; k < n; ++k) result[k] = 1.0;
  for (;;) {
    if (p & 1u) {
      for (int k = 0; k < n; ++k) result[k] *= y[k];
    }
    p >>= 1;
    if (p == 0) break;
    for (int k = 0; k < n; ++k) y[k] *= y[k];
  }
  memcpy(y, result, (size_t)n * sizeof *y);
}

YOKE_SIMD void yoke_chain_loop_pulse(double omega, double phase, uint64_t p, const double *restrict t,
                                     double *restrict y) {
  double   x[YOKE_LOAD_TIMES], power[YOKE_LOAD_TIMES];
  uint64_t n_far = 0;
  for (int k = 0; k < YOKE_LOAD_TIMES; ++k) {
    x[k]     = omega * t[k] + phase;
    power[k] = sine(x[k]);
    n_far += fabs(x[k]) <= sine_limit ? 0 : 1;
  }
  for (int k = 0; k < YOKE_LOAD_TIMES && n_far > 0; ++k) {
    if (!(fabs(x[k]) <= sine_limit)) power[k] = sin(x[k]);
  }
  for (int k = 0; k < YOKE_LOAD_TIMES; ++k) y[k] = 1.0;
  for (; p != 0; p >>= 1) {
    if (p & 1u) {
      for (int k = 0; k < YOKE_LOAD_TIMES; ++k) y[k] *= power[k];
    }
    for (int k = 0; k < YOKE_LOAD_TIMES; ++k) power[k] *= power[k];
  }
}
