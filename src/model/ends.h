/* Motion between both ends of a micro step: the quintic Hermite polynomial of (q, q', q'') there, at the three points of Gauss of the step. */
#ifndef YOKE_MODEL_ENDS_H
#define YOKE_MODEL_ENDS_H

/* A micro step of length h from t on; [nv] each. */
typedef struct yoke_ends {
  double        t, h;
  const double *q0, *v0, *a0, *q1, *v1, *a1;
} yoke_ends;

/* Points of Gauss on [0, 1], (1 -+ sqrt(3/5))/2 and 1/2, and their weights: exact to degree 5. */
enum { YOKE_ENDS_POINTS = 3 };
#define YOKE_ENDS_FIRST 0.11270166537925831
#define YOKE_ENDS_LAST 0.88729833462074169
static const double yoke_ends_point[YOKE_ENDS_POINTS]  = {YOKE_ENDS_FIRST, 0.5, YOKE_ENDS_LAST};
static const double yoke_ends_weight[YOKE_ENDS_POINTS] = {5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0};

/* The polynomials at a point s, r = 1 - s, and their derivatives by s: of q1 - q0, h v0, h v1, h^2 a0, h^2 a1. */
typedef struct yoke_hermite {
  double q[5], v[5];
} yoke_hermite;
#define YOKE_HERMITE(s, r)                                                                                             \
  {                                                                                                                    \
    {(s) * (s) * (s) * (10 - 15 * (s) + 6 * (s) * (s)), (s) * (r) * (r) * (r) * (1 + 3 * (s)),                         \
     (s) * (s) * (s) * (r) * (3 * (s)-4), 0.5 * (s) * (s) * (r) * (r) * (r), 0.5 * (s) * (s) * (s) * (r) * (r)},       \
        {30 * (s) * (s) * (r) * (r), (r) * (r) * (1 - 3 * (s)) * (1 + 5 * (s)),                                        \
         (s) * (s) * (3 * (s)-2) * (6 - 5 * (s)), 0.5 * (s) * (r) * (r) * (2 - 5 * (s)),                               \
         0.5 * (s) * (s) * (r) * (3 - 5 * (s))},                                                                       \
  }
static const yoke_hermite yoke_ends_hermite[YOKE_ENDS_POINTS] = {YOKE_HERMITE(YOKE_ENDS_FIRST, YOKE_ENDS_LAST),
                                                                 YOKE_HERMITE(0.5, 0.5),
                                                                 YOKE_HERMITE(YOKE_ENDS_LAST, YOKE_ENDS_FIRST)};

/* v at the middle, and what it is even and odd about it at the other two points: even +- odd. */
typedef struct yoke_ends_rate {
  double even, odd, middle;
} yoke_ends_rate;

/* From dq = q1 - q0 and v, a at both ends; of differences of freedoms too. */
static inline yoke_ends_rate yoke_ends_rates(double h, double dq, double v0, double v1, double a0, double a1) {
  const double *p = yoke_ends_hermite[0].v, *m = yoke_ends_hermite[1].v;
  const double  mean = dq / h, sum_v = v0 + v1, change_a = h * (a0 - a1);
  return (yoke_ends_rate){p[0] * mean + 0.5 * (p[1] + p[2]) * sum_v + 0.5 * (p[3] - p[4]) * change_a,
                          0.5 * (p[1] - p[2]) * (v0 - v1) + 0.5 * (p[3] + p[4]) * (h * (a0 + a1)),
                          m[0] * mean + m[1] * sum_v + m[3] * change_a};
}

/* Integral of v^2 over the step. */
static inline double yoke_ends_square(double h, yoke_ends_rate v) {
  return h *
         (2.0 * yoke_ends_weight[0] * (v.even * v.even + v.odd * v.odd) + yoke_ends_weight[1] * v.middle * v.middle);
}

#endif
