/* The linear two-mass oscillator: exact solution and errors of a co-simulation of examples/two-mass.yaml. */
#ifndef YOKE_TESTS_TWO_MASS_H
#define YOKE_TESTS_TWO_MASS_H

#include "cosimulate.h"

static const char *const two_mass_file = "examples/two-mass.yaml";

typedef struct two_mass {
  double m[2], c[3], d[3]; /* wall 1, coupling, wall 2 */
  double z[4];             /* start: x1, v1, x2, v2 */
} two_mass;

/* Parameters of Li 3.1: m2 is 1 for the original, 2 for the extended methods. */
static inline two_mass two_mass_li(double m2) {
  return (two_mass){.m = {1.0, m2}, .c = {1e3, 1e3, 1e3}, .d = {10.0, 10.0, 10.0}, .z = {1.0, 0.0, 0.0, 0.0}};
}

/* Lu 3.1: the file as it is. */
static inline two_mass two_mass_lu(void) {
  return (two_mass){.m = {1.0, 2.0}, .c = {1e3, 1e3, 1e3}, .d = {10.0, 10.0, 10.0}, .z = {0.0, 100.0, 0.0, -100.0}};
}

static inline int two_mass_sets(const two_mass *m, char *out, size_t size) {
  return snprintf(out, size,
                  "parameters.m1=%.17g;parameters.m2=%.17g;parameters.c1=%.17g;parameters.cc=%.17g;parameters.c2=%.17g;"
                  "parameters.d1=%.17g;parameters.dc=%.17g;parameters.d2=%.17g;parameters.x1=%.17g;parameters.v1=%.17g;"
                  "parameters.x2=%.17g;parameters.v2=%.17g",
                  m->m[0], m->m[1], m->c[0], m->c[1], m->c[2], m->d[0], m->d[1], m->d[2], m->z[0], m->z[1], m->z[2],
                  m->z[3]);
}

/* z over t by its power series in pieces of at most 1 ms: exact to rounding for the frequencies here. */
static inline void two_mass_exact(const two_mass *m, double t, double z[4]) {
  const int n = (int)ceil(fabs(t) / 1e-3);
  for (int step = 0; step < n; ++step) {
    const double h = t / n;
    double       term[4], power = 1.0, end[4] = {0.0};
    memcpy(term, z, sizeof term);
    for (int k = 0; k < 24; ++k, power *= h) {
      const double lambda  = m->c[1] * (term[2] - term[0]) + m->d[1] * (term[3] - term[1]);
      const double next[4] = {term[1], (-m->c[0] * term[0] - m->d[0] * term[1] + lambda) / m->m[0], term[3],
                              (-m->c[2] * term[2] - m->d[2] * term[3] - lambda) / m->m[1]};
      for (int i = 0; i < 4; ++i) {
        end[i] += term[i] * power;
        term[i] = next[i] / (double)(k + 1);
      }
    }
    memcpy(z, end, sizeof end);
  }
}

typedef struct two_mass_errors {
  double global[2], local[2]; /* Li 3.34 and 3.35: position, velocity */
  double largest;             /* max |x1 - exact| over macro points */
  double end[4];              /* |z - exact| at the end */
  double z[4];                /* at the end */
  long   steps;
} two_mass_errors;

typedef struct two_mass_sums {
  two_mass        model;
  double          t, exact[4], last[4];
  double          defect[2][4], sum[2][4], squares[2][4]; /* [global, local] */
  two_mass_errors out;
} two_mass_sums;

static inline void two_mass_look(void *user, double t, const double *q, const double *v) {
  two_mass_sums *s       = user;
  const double   z[4]    = {q[0], v[0], q[1], v[1]};
  double         from[4] = {s->last[0], s->last[1], s->last[2], s->last[3]};
  two_mass_exact(&s->model, t - s->t, s->exact);
  two_mass_exact(&s->model, t - s->t, from);
  for (int i = 0; i < 4; ++i) {
    const double reference[2] = {s->exact[i], from[i]};
    for (int e = 0; e < 2; ++e) {
      s->defect[e][i] += pow(z[i] - reference[e], 2.0);
      s->sum[e][i] += reference[e];
      s->squares[e][i] += reference[e] * reference[e];
    }
    s->out.end[i] = fabs(z[i] - s->exact[i]);
    s->out.z[i]   = z[i];
  }
  s->out.largest = fmax(s->out.largest, s->out.end[0]);
  memcpy(s->last, z, sizeof z);
  s->t = t;
  ++s->out.steps;
}

/* Run with these settings ("order=1;scheme=..." below `cosimulation.` must be written in full). */
static inline yoke_status two_mass_run(const two_mass *m, const char *sets, double t_end, two_mass_errors *out) {
  char      text[2 * COSIM_TEXT];
  const int n = two_mass_sets(m, text, sizeof text);
  assert_true(n + snprintf(text + n, sizeof text - (size_t)n, ";%s", sets) < (int)sizeof text);
  two_mass_sums s = {.model = *m};
  memcpy(s.exact, m->z, sizeof s.exact);
  memcpy(s.last, m->z, sizeof s.last);
  cosim c;
  cosim_open(&c, two_mass_file, text);
  const yoke_status status = cosim_run(&c, t_end, two_mass_look, &s);
  if (status != YOKE_OK) cosim_print(c.ctx);
  cosim_close(&c);
  for (int q = 0; q < 2; ++q) {
    double squared[2] = {0.0};
    for (int e = 0; e < 2; ++e) {
      for (int i = q; i < 4; i += 2)
        squared[e] += s.defect[e][i] / (s.squares[e][i] - s.sum[e][i] * s.sum[e][i] / (double)s.out.steps);
    }
    s.out.global[q] = sqrt(squared[0]);
    s.out.local[q]  = sqrt(squared[1]);
  }
  *out = s.out;
  return status;
}

#endif
