/* Explicit schemes on the two-mass model with a coupling law (Li 5.1, Kraft 4.1, 4.12): predicted signals, one integration, u = phi(y).
 *
 * Y holds the coupling variables of past macro points where signals are extrapolated, and past accelerations of both masses where
 * the motion is continued with them:
 *   v(t) = v_N + int a,  x(t) = x_N + v_N t + int int a,   a(t) the polynomial through its last points. */
#include "analysis/recurrence_two_mass.h"

#include <string.h>

typedef struct explicit_step {
  two_mass                self;
  const yoke_test_method *method;
  int                     n_a; /* past accelerations per side */
  int                     at_a[2];
  part_motion             motion[2];
  part_signal             signal[PART_CHANNELS];
  part_form               end[2][PART_CHANNELS]; /* end values that side s was integrated with */
  part_form               value[PART_CHANNELS];  /* coupling variables at T_{N+1} */
  part_form               a[2];
} explicit_step;

/* ---- what the method remembers ---- */

static bool uses_motion(const yoke_test_method *method) {
  return method->predictor == YOKE_PREDICTOR_ACCELERATION || method->predictor == YOKE_PREDICTOR_ACCELERATION_RELAXED;
}

/* Sequential, and side 2 takes the force: its own motion enters the law before it is known. */
static bool looks_ahead(const explicit_step *step) {
  const yoke_test_method *method = step->method;
  return method->gauss_seidel && !step->self.driven[1] && method->predictor != YOKE_PREDICTOR_ACCELERATION &&
         !(method->feedthrough && step->self.driven[0]);
}

/* Degree of the accelerations in the motion ahead. Extrapolated signals: k - 1 keeps the order k + 1 of the force. */
static int ahead_degree(const yoke_test_method *method) {
  if (uses_motion(method)) return method->order_acceleration;
  return method->order > 0 ? method->order - 1 : 0;
}

static bool is_least_squares(const yoke_test_method *method) {
  return method->predictor == YOKE_PREDICTOR_LEAST_SQUARES && method->samples > method->order + 1;
}

static void place(explicit_step *step) {
  two_mass               *self   = &step->self;
  const yoke_test_method *method = step->method;
  int                     n_past = is_least_squares(method) ? method->samples : method->order + 1;
  if (method->predictor == YOKE_PREDICTOR_ACCELERATION) n_past = 0;
  self->n = AT_HISTORY;
  for (int k = 0; k < self->n_channels; ++k) {
    self->channel[k].at     = self->n;
    self->channel[k].n_past = n_past;
    self->n += n_past;
  }
  step->n_a = uses_motion(method) || looks_ahead(step) ? ahead_degree(method) + 1 : 0;
  for (int s = 0; s < 2; ++s) {
    step->at_a[s] = self->n;
    self->n += step->n_a;
  }
  self->nv = self->n; /* nothing is unknown */
}

/* ---- motion ahead ---- */

/* x(t) and v(t) of side s. The Lagrange polynomials of a are integrated by moving their coefficients of t^j / j! up. */
static void motion_ahead(const explicit_step *step, int s, part_piece *x, part_piece *v) {
  const int nv = step->self.nv;
  double    at[PART_DEGREE + 1], c[PART_DEGREE + 1][PART_DEGREE + 1];
  for (int i = 0; i < step->n_a; ++i) at[i] = -(double)i;
  part_lagrange(step->n_a, at, 0.0, c);
  *x = (part_piece){.length = 1.0, .degree = step->n_a + 1};
  *v = (part_piece){.length = 1.0, .degree = step->n_a};
  part_unit(nv, 2 * s, x->coefficient[0]);
  part_unit(nv, 2 * s + 1, x->coefficient[1]);
  part_unit(nv, 2 * s + 1, v->coefficient[0]);
  for (int j = 0; j < step->n_a; ++j) {
    for (int i = 0; i < step->n_a; ++i) {
      x->coefficient[j + 2][step->at_a[s] + i] = c[i][j];
      v->coefficient[j + 1][step->at_a[s] + i] = c[i][j];
    }
  }
}

/* The coupling variables of the motion ahead as signals. */
static void signals_ahead(const explicit_step *step, part_signal *signal) {
  const two_mass *self = &step->self;
  part_piece      x[2], v[2];
  for (int s = 0; s < 2; ++s) motion_ahead(step, s, &x[s], &v[s]);
  for (int k = 0; k < self->n_channels; ++k) {
    const two_mass_channel *channel = &self->channel[k];
    signal[k].n_pieces              = 1;
    if (channel->kind == CHANNEL_COPY_X) {
      signal[k].piece[0] = x[channel->side];
    } else if (channel->kind == CHANNEL_COPY_V) {
      signal[k].piece[0] = v[channel->side];
    } else {
      part_piece *piece = &signal[k].piece[0];
      *piece            = (part_piece){.length = 1.0, .degree = x[0].degree};
      for (int j = 0; j <= piece->degree; ++j) {
        two_mass_law(self, x[0].coefficient[j], v[0].coefficient[j], x[1].coefficient[j], v[1].coefficient[j],
                     piece->coefficient[j]);
      }
    }
  }
}

/* ---- extrapolated coupling variables ---- */

/* Weights of the values at 0, -1, ... in the least-squares polynomial of this degree at time 1, by polynomials p_j that are
 * orthogonal on these points: sum_j p_j(1) p_j(t_i) / |p_j|^2. */
static void least_squares_weights(int n, int degree, double *weight) {
  double p[PART_NODES], p_old[PART_NODES] = {0}, p_end = 1.0, p_end_old = 0.0, size_old = 1.0;
  for (int i = 0; i < n; ++i) {
    p[i]      = 1.0;
    weight[i] = 0.0;
  }
  for (int j = 0; j <= degree; ++j) {
    double size = 0.0, centre = 0.0;
    for (int i = 0; i < n; ++i) {
      size += p[i] * p[i];
      centre -= (double)i * p[i] * p[i];
    }
    for (int i = 0; i < n; ++i) weight[i] += p_end * p[i] / size;
    const double a = centre / size, b = j > 0 ? size / size_old : 0.0; /* p_{j+1} = (t - a) p_j - b p_{j-1} */
    for (int i = 0; i < n; ++i) {
      const double next = (-(double)i - a) * p[i] - b * p_old[i];
      p_old[i]          = p[i];
      p[i]              = next;
    }
    const double next = (1.0 - a) * p_end - b * p_end_old;
    p_end_old         = p_end;
    p_end             = next;
    size_old          = size;
  }
}

/* The predicted end value: the polynomial through the newest order + 1 values, or the least-squares one, at time 1. */
static void extrapolated_end(const explicit_step *step, const two_mass_channel *channel, double *form) {
  const int degree = step->method->order;
  double    weight[PART_NODES];
  int       n = degree + 1;
  part_clear(step->self.nv, form);
  if (is_least_squares(step->method)) {
    n = step->method->samples;
    least_squares_weights(n, degree, weight);
  } else {
    double at[PART_DEGREE + 1], c[PART_DEGREE + 1][PART_DEGREE + 1];
    for (int i = 0; i < n; ++i) at[i] = -(double)i;
    part_lagrange(n, at, 0.0, c);
    for (int i = 0; i < n; ++i) weight[i] = part_polynomial(c[i], 1.0);
  }
  for (int i = 0; i < n; ++i) form[channel->at + i] = weight[i];
}

/* Degree k through the end value and k past values. */
static void signal_to(const explicit_step *step, const two_mass_channel *channel, const double *end,
                      part_signal *signal) {
  part_node nodes[PART_NODES] = {{.at = 1.0, .form = end}};
  for (int i = 0; i < step->method->order; ++i) nodes[i + 1] = (part_node){.at = -(double)i, .unit = channel->at + i};
  signal->n_pieces = 1;
  part_interpolate(step->self.nv, 0.0, 1.0, step->method->order + 1, nodes, &signal->piece[0]);
}

/* Share of the extrapolated value in an end value (Kraft 4.12). */
static void relax_end(const explicit_step *step, const two_mass_channel *channel, double *end) {
  if (step->method->predictor != YOKE_PREDICTOR_ACCELERATION_RELAXED) return;
  const double share = step->method->acceleration_weight;
  part_form    extrapolated;
  extrapolated_end(step, channel, extrapolated);
  for (int i = 0; i < step->self.nv; ++i) end[i] += share * (extrapolated[i] - end[i]);
}

static void predict(explicit_step *step) {
  const two_mass      *self      = &step->self;
  const yoke_predictor predictor = step->method->predictor;
  if (uses_motion(step->method)) signals_ahead(step, step->signal);
  for (int k = 0; k < self->n_channels; ++k) {
    part_form end;
    if (predictor == YOKE_PREDICTOR_ACCELERATION_RELAXED) {
      part_end_value(self->nv, &step->signal[k], end);
      relax_end(step, &self->channel[k], end);
    } else {
      extrapolated_end(step, &self->channel[k], end);
    }
    if (predictor != YOKE_PREDICTOR_ACCELERATION) signal_to(step, &self->channel[k], end, &step->signal[k]);
  }
}

/* ---- one after another ---- */

static bool enters_side_2(const two_mass *self, const two_mass_channel *channel) {
  return channel->kind == CHANNEL_FORCE ? !self->driven[1] : channel->side == 0;
}

/* Inputs of side 2 after side 1: copies of its new motion; the law with it and the own motion ahead, or, with feed-through, the copy
 * of side 2 that side 1 was given. */
static void refresh_side_2(explicit_step *step) {
  const two_mass *self = &step->self;
  if (step->method->predictor == YOKE_PREDICTOR_ACCELERATION) return; /* all inputs are known beforehand */
  for (int k = 0; k < self->n_channels; ++k) {
    const two_mass_channel *channel = &self->channel[k];
    part_form               end;
    if (!enters_side_2(self, channel)) continue;
    if (channel->kind == CHANNEL_COPY_X) {
      memcpy(end, step->motion[0].x, (size_t)self->nv * sizeof *end);
    } else if (channel->kind == CHANNEL_COPY_V) {
      memcpy(end, step->motion[0].v, (size_t)self->nv * sizeof *end);
    } else if (looks_ahead(step)) {
      part_signal x = {.n_pieces = 1}, v = {.n_pieces = 1};
      part_form   x_end, v_end;
      motion_ahead(step, 1, &x.piece[0], &v.piece[0]);
      part_end_value(self->nv, &x, x_end);
      part_end_value(self->nv, &v, v_end);
      two_mass_law(self, step->motion[0].x, step->motion[0].v, x_end, v_end, end);
    } else {
      two_mass_law(self, step->motion[0].x, step->motion[0].v, step->end[0][k + 1], step->end[0][k + 2], end);
    }
    relax_end(step, channel, end);
    signal_to(step, channel, end, &step->signal[k]);
  }
}

static void integrate_side(explicit_step *step, int s) {
  two_mass *self = &step->self;
  part_free_motion(&self->side[s], self->nv, 2 * s, 2 * s + 1, false, &step->motion[s]);
  for (int k = 0; k < self->n_channels; ++k) {
    part_end_value(self->nv, &step->signal[k], step->end[s][k]);
    if (self->channel[k].B[s][1] == 0.0) continue;
    part_add_input(&self->side[s], self->nv, self->channel[k].B[s], &step->signal[k], false, &step->motion[s]);
  }
}

/* ---- update ---- */

/* u = phi(y): law and copies from the new states; feed-through without final update: the law with the copies in force. */
static void update_values(explicit_step *step) {
  const two_mass    *self = &step->self;
  const part_motion *m    = step->motion;
  const double      *x[2] = {m[0].x, m[1].x}, *v[2] = {m[0].v, m[1].v};
  if (step->method->feedthrough && !step->method->final_update) {
    for (int k = 0; k < self->n_channels; ++k) {
      const two_mass_channel *channel = &self->channel[k];
      if (channel->kind == CHANNEL_COPY_X) x[channel->side] = step->end[1][k];
      if (channel->kind == CHANNEL_COPY_V) v[channel->side] = step->end[1][k];
    }
  }
  for (int k = 0; k < self->n_channels; ++k) {
    const two_mass_channel *channel = &self->channel[k];
    const size_t            size    = (size_t)self->nv * sizeof(double);
    switch (channel->kind) {
    case CHANNEL_COPY_X: memcpy(step->value[k], m[channel->side].x, size); break;
    case CHANNEL_COPY_V: memcpy(step->value[k], m[channel->side].v, size); break;
    default: two_mass_law(self, x[0], v[0], x[1], v[1], step->value[k]); break;
    }
  }
}

static void write_history(double *M, int n, int at, int n_past, const double *newest) {
  for (int i = 0; i < n_past; ++i) {
    double *row = M + (size_t)(at + i) * n;
    if (i == 0) {
      memcpy(row, newest, (size_t)n * sizeof *row);
    } else {
      part_unit(n, at + i - 1, row);
    }
  }
}

static void write_matrix(const explicit_step *step, double *M) {
  const two_mass *self = &step->self;
  const int       n    = self->n;
  for (int s = 0; s < 2; ++s) {
    memcpy(M + (size_t)(2 * s) * n, step->motion[s].x, (size_t)n * sizeof *M);
    memcpy(M + (size_t)(2 * s + 1) * n, step->motion[s].v, (size_t)n * sizeof *M);
    write_history(M, n, step->at_a[s], step->n_a, step->a[s]);
  }
  for (int k = 0; k < self->n_channels; ++k) {
    write_history(M, n, self->channel[k].at, self->channel[k].n_past, step->value[k]);
  }
}

yoke_status explicit_recurrence(const yoke_test_model *model, const yoke_test_method *method, double *matrix, int *n) {
  explicit_step step;
  step.method      = method;
  const int degree = uses_motion(method) && method->order_acceleration + 2 > method->order
                         ? method->order_acceleration + 2
                         : method->order;
  two_mass_open(&step.self, model, method, degree);
  place(&step);
  if (step.self.n > YOKE_RECURRENCE_MAX) return YOKE_E_INTERNAL;
  predict(&step);
  integrate_side(&step, 0);
  if (method->gauss_seidel) refresh_side_2(&step);
  integrate_side(&step, 1);
  update_values(&step);
  for (int s = 0; s < 2; ++s) {
    const bool updated = uses_motion(method) && method->update;
    two_mass_acceleration(&step.self, s, &step.motion[s], updated ? step.value : step.end[s], step.a[s]);
  }
  write_matrix(&step, matrix);
  *n = step.self.n;
  return YOKE_OK;
}
