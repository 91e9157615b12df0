/* Kinematic coupling of the model R + F (Schneider 3.1, 4.3, 4.6): F follows the extrapolated motion of R, R feels the extrapolated force.
 *
 * Time in macro steps, mass in m_R. Y = (q_R, v_R, q_in, v_in; samples of q_R, v_R, a_R, Lambda at T_N, T_{N-1}, ...; and, with
 * outputs held, the inputs of former steps). */
#include "analysis/recurrence_two_mass.h"

#include <string.h>

enum { Q, V, A, LAMBDA, N_SAMPLED };
enum { AT_Q_R, AT_V_R, AT_Q_IN, AT_V_IN, AT_SAMPLES };

typedef struct kinematic {
  const yoke_test_method *method;
  double                  m_co, m_in, c_R, c_F, d_R, d_F;
  part_side               R, F;
  int                     r, s;   /* degrees of the force and of the motion */
  int                     n_past; /* samples of each kind */
  bool                    held;   /* outputs evaluated once more after the exchange */
  int                     n;
  part_form               q_R, v_R, a_R, q_in, v_in, lambda; /* at T_{N+1} */
} kinematic;

static int degree_of(const yoke_test_method *method, int own) {
  return own >= 0 ? own : method->order;
}

static int at_sample(const kinematic *self, int kind, int i) {
  return AT_SAMPLES + kind * self->n_past + i;
}

/* Inputs of step N - i, i >= 1. */
static int at_input(const kinematic *self, int kind, int i) {
  return AT_SAMPLES + N_SAMPLED * self->n_past + kind * (self->n_past - 1) + i - 1;
}

static void open_kinematic(kinematic *self, const yoke_test_model *model, const yoke_test_method *method) {
  const double by_c = model->H * model->H / model->m_R, by_d = model->H / model->m_R;
  self->method = method;
  self->m_co   = model->m_Fco / model->m_R;
  self->m_in   = model->m_Fin / model->m_R;
  self->c_R    = model->c_R * by_c;
  self->c_F    = model->c_F * by_c;
  self->d_R    = model->d_R * by_d;
  self->d_F    = model->d_F * by_d;
  self->r      = degree_of(method, method->order_force);
  self->s      = degree_of(method, method->order_motion);
  self->n_past = 1 + (self->r > self->s ? self->r : self->s);
  self->held   = method->outputs == YOKE_TEST_OUTPUTS_HELD;
  self->n      = AT_SAMPLES + N_SAMPLED * self->n_past + (self->held ? N_SAMPLED * (self->n_past - 1) : 0);
  part_side_open(&self->R, self->c_R, self->d_R, self->r + 3);
  part_side_open(&self->F, 2.0 * self->c_F / self->m_in, 2.0 * self->d_F / self->m_in, self->s + 3);
}

/* Lambda from the inner state of F and a motion of R: exact (67), approximate (68). The reduced force is the exact one here, because
 * the mass matrix of F has no block between coupled and inner coordinates. */
static void force(const kinematic *self, const double *q_in, const double *v_in, const double *q, const double *v,
                  const double *a, double *lambda) {
  const double c_F = self->c_F, d_F = self->d_F, m = self->m_co;
  if (self->method->force == YOKE_TEST_FORCE_APPROXIMATE) {
    for (int i = 0; i < self->n; ++i) lambda[i] = c_F * (q[i] - q_in[i]) + d_F * (v[i] - v_in[i]) + m * a[i];
    return;
  }
  for (int i = 0; i < self->n; ++i) {
    lambda[i] =
        (c_F * (q[i] - q_in[i]) + d_F * (v[i] - v_in[i]) - m * (self->c_R * q[i] + self->d_R * v[i])) / (1.0 + m);
  }
}

static void acceleration(const kinematic *self, const double *q, const double *v, const double *lambda, double *a) {
  for (int i = 0; i < self->n; ++i) a[i] = -self->c_R * q[i] - self->d_R * v[i] - lambda[i];
}

/* ---- inputs ---- */

/* Input samples of this step: those of Y, or, held, L (C x_N + D L y_N), the outputs once more with the exchanged ones. */
static void input_now(const kinematic *self, part_form *now) {
  part_form state[AT_SAMPLES], sample[N_SAMPLED];
  for (int i = 0; i < AT_SAMPLES; ++i) part_unit(self->n, i, state[i]);
  for (int kind = 0; kind < N_SAMPLED; ++kind) part_unit(self->n, at_sample(self, kind, 0), sample[kind]);
  if (!self->held) {
    memcpy(now, sample, sizeof sample);
    return;
  }
  memcpy(now[Q], state[AT_Q_R], sizeof now[Q]);
  memcpy(now[V], state[AT_V_R], sizeof now[V]);
  acceleration(self, state[AT_Q_R], state[AT_V_R], sample[LAMBDA], now[A]);
  force(self, state[AT_Q_IN], state[AT_V_IN], sample[Q], sample[V], sample[A], now[LAMBDA]);
}

/* The extrapolation polynomial of one input, from the inputs of the steps (`now` and older ones) or from the samples alone. */
static void extrapolate(const kinematic *self, int kind, int degree, part_form *now, part_signal *signal) {
  part_node nodes[PART_NODES];
  for (int i = 0; i <= degree; ++i) {
    const bool input = now != NULL && self->held && i > 0;
    nodes[i] = (part_node){.at = -(double)i, .unit = input ? at_input(self, kind, i) : at_sample(self, kind, i)};
    if (i == 0 && now != NULL) nodes[i].form = now[kind];
  }
  signal->n_pieces = 1;
  part_interpolate(self->n, 0.0, 1.0, degree + 1, nodes, &signal->piece[0]);
}

static void differentiate(int n, const part_signal *signal, part_signal *rate) {
  const part_piece *from = &signal->piece[0];
  part_piece       *to   = &rate->piece[0];
  rate->n_pieces         = 1;
  to->start              = from->start;
  to->length             = from->length;
  to->degree             = from->degree - 1;
  for (int j = 0; j < from->degree; ++j)
    memcpy(to->coefficient[j], from->coefficient[j + 1], (size_t)n * sizeof(double));
}

/* Motion of R as F sees it. */
static void extrapolate_motion(const kinematic *self, part_form *now, part_signal *q, part_signal *v, part_signal *a) {
  extrapolate(self, Q, self->s, now, q);
  extrapolate(self, A, self->s, now, a);
  if (self->method->motion == YOKE_TEST_MOTION_DERIVATIVE && self->s > 0) {
    differentiate(self->n, q, v);
  } else {
    extrapolate(self, V, self->s, now, v);
  }
}

/* ---- one step ---- */

static void integrate(kinematic *self, part_form *now) {
  part_signal q, v, a, lambda;
  part_motion motion;
  extrapolate_motion(self, now, &q, &v, &a);
  extrapolate(self, LAMBDA, self->r, now, &lambda);
  part_free_motion(&self->R, self->n, AT_Q_R, AT_V_R, false, &motion);
  part_add_input(&self->R, self->n, (const double[2]){0.0, -1.0}, &lambda, false, &motion);
  memcpy(self->q_R, motion.x, sizeof motion.x);
  memcpy(self->v_R, motion.v, sizeof motion.v);
  part_free_motion(&self->F, self->n, AT_Q_IN, AT_V_IN, false, &motion);
  part_add_input(&self->F, self->n, (const double[2]){0.0, self->c_F / self->m_in}, &q, false, &motion);
  part_add_input(&self->F, self->n, (const double[2]){0.0, self->d_F / self->m_in}, &v, false, &motion);
  memcpy(self->q_in, motion.x, sizeof motion.x);
  memcpy(self->v_in, motion.v, sizeof motion.v);
}

/* Outputs at T_{N+1} (Schneider 4.3, step 4) with the extrapolated inputs there; held: extrapolated from the samples. */
static void outputs(kinematic *self, part_form *now) {
  part_signal q, v, a, lambda;
  part_form   q_end, v_end, a_end, lambda_end;
  extrapolate_motion(self, self->held ? NULL : now, &q, &v, &a);
  extrapolate(self, LAMBDA, self->r, self->held ? NULL : now, &lambda);
  part_end_value(self->n, &q, q_end);
  part_end_value(self->n, &v, v_end);
  part_end_value(self->n, &a, a_end);
  part_end_value(self->n, &lambda, lambda_end);
  acceleration(self, self->q_R, self->v_R, lambda_end, self->a_R);
  const yoke_test_outputs mode      = self->method->outputs;
  const bool              with_new  = mode == YOKE_TEST_OUTPUTS_CURRENT || mode == YOKE_TEST_OUTPUTS_SEQUENTIAL;
  const bool              with_both = mode == YOKE_TEST_OUTPUTS_SEQUENTIAL;
  force(self, self->q_in, self->v_in, with_new ? self->q_R : q_end, with_new ? self->v_R : v_end,
        with_both ? self->a_R : a_end, self->lambda);
}

static void write_matrix(const kinematic *self, part_form *now, double *M) {
  const int     n         = self->n;
  const double *states[]  = {self->q_R, self->v_R, self->q_in, self->v_in};
  const double *samples[] = {self->q_R, self->v_R, self->a_R, self->lambda};
  for (int i = 0; i < AT_SAMPLES; ++i) memcpy(M + (size_t)i * n, states[i], (size_t)n * sizeof *M);
  for (int kind = 0; kind < N_SAMPLED; ++kind) {
    memcpy(M + (size_t)at_sample(self, kind, 0) * n, samples[kind], (size_t)n * sizeof *M);
    for (int i = 1; i < self->n_past; ++i) {
      part_unit(n, at_sample(self, kind, i - 1), M + (size_t)at_sample(self, kind, i) * n);
      if (!self->held) continue;
      double *row = M + (size_t)at_input(self, kind, i) * n;
      if (i == 1) {
        memcpy(row, now[kind], (size_t)n * sizeof *M);
      } else {
        part_unit(n, at_input(self, kind, i - 1), row);
      }
    }
  }
}

yoke_status kinematic_recurrence(const yoke_test_model *model, const yoke_test_method *method, double *matrix, int *n) {
  kinematic self;
  part_form now[N_SAMPLED];
  open_kinematic(&self, model, method);
  input_now(&self, now);
  integrate(&self, now);
  outputs(&self, now);
  write_matrix(&self, now, matrix);
  *n = self.n;
  return YOKE_OK;
}

/* Without springs and dampers accelerations and forces depend on each other alone. */
void kinematic_loop(const yoke_test_method *method, double *matrix, int *n) {
  kinematic       self;
  yoke_test_model model = yoke_test_model_default(YOKE_KINEMATIC_TWO_MASS);
  open_kinematic(&self, &model, method);
  int kept[YOKE_RECURRENCE_MAX], n_kept = 0;
  for (int kind = A; kind <= LAMBDA; ++kind) {
    for (int i = 0; i < self.n_past; ++i) {
      kept[n_kept++] = at_sample(&self, kind, i);
      if (self.held && i > 0) kept[n_kept++] = at_input(&self, kind, i);
    }
  }
  for (int i = 1; i < n_kept; ++i) { /* ascending, so that the block can be packed in place */
    for (int j = i; j > 0 && kept[j] < kept[j - 1]; --j) {
      const int swap = kept[j];
      kept[j]        = kept[j - 1];
      kept[j - 1]    = swap;
    }
  }
  for (int i = 0; i < n_kept; ++i) {
    for (int j = 0; j < n_kept; ++j) {
      matrix[(size_t)i * (size_t)n_kept + (size_t)j] = matrix[(size_t)kept[i] * (size_t)*n + (size_t)kept[j]];
    }
  }
  *n = n_kept;
}
