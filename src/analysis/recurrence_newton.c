/* Semi-implicit and implicit schemes on the two-mass models: predictor and correction cannot be seen in a linear model, only the
 * conditions at T_{N+1}, solved for the node values of the step (Li 4.3). */
#include "analysis/recurrence_two_mass.h"

#include <string.h>

/* What the conditions are made of, as forms over V at T_{N+1}. */
typedef struct step_forms {
  part_motion motion[2];
  part_form   a[2];                    /* v1', v2' */
  part_form   end[PART_CHANNELS];      /* values */
  part_form   rate[PART_CHANNELS];     /* end derivatives from the left */
  part_form   integral[PART_CHANNELS]; /* over the step */
  part_signal signal[PART_CHANNELS];
} step_forms;

/* ---- layouts ---- */

static void set_layouts(two_mass *self, const yoke_test_method *method, const char *formulation) {
  for (int k = 0; k < self->n_channels; ++k) {
    two_mass_channel *channel = &self->channel[k];
    channel->degree           = method->order;
    channel->layout           = YOKE_LAYOUT_END;
    if (strcmp(formulation, "stabilized-index-2") == 0) channel->layout = YOKE_LAYOUT_HALF;
    if (strcmp(formulation, "stabilized-index-1") == 0) channel->layout = YOKE_LAYOUT_THIRD;
    if (self->rigid || method->extension == YOKE_EXTENSION_NONE) continue;
    const channel_kind plain = method->extension == YOKE_EXTENSION_D ? CHANNEL_COPY_X : CHANNEL_COPY_V;
    if (channel->kind != plain) channel->layout = YOKE_LAYOUT_HALF;
  }
}

static int n_nodes_of(yoke_layout_kind layout) {
  return layout == YOKE_LAYOUT_END ? 1 : layout == YOKE_LAYOUT_HALF ? 2 : 3;
}

/* Past values that the step reads: an end layout k of them, the others the newest one unless piecewise constant. */
static int n_past_of(const two_mass_channel *channel, bool relaxed) {
  const int n = channel->layout == YOKE_LAYOUT_END ? channel->degree : channel->degree > 0;
  return relaxed && n == 0 ? 1 : n;
}

static void place_channels(two_mass *self, bool relaxed) {
  self->n          = AT_HISTORY;
  self->n_unknowns = 0;
  for (int k = 0; k < self->n_channels; ++k) {
    two_mass_channel *channel = &self->channel[k];
    channel->at               = self->n;
    channel->n_past           = n_past_of(channel, relaxed);
    channel->n_nodes          = n_nodes_of(channel->layout);
    self->n += channel->n_past;
    self->n_unknowns += channel->n_nodes;
  }
  int unknown = self->n;
  for (int k = 0; k < self->n_channels; ++k) {
    self->channel[k].unknown = unknown;
    unknown += self->channel[k].n_nodes;
  }
  self->nv = unknown;
}

/* Times of the nodes of a layout that are unknown, and of T_N before them: at[0] = 0. */
static void node_times(const two_mass_channel *channel, const double inner[2], double at[4]) {
  const double times[3][4] = {{0.0, 1.0}, {0.0, 0.5, 1.0}, {0.0, inner[0], inner[1], 1.0}};
  memcpy(at, times[channel->n_nodes - 1], sizeof times[0]);
}

/* One polynomial through all new nodes and as many past values as its degree asks for. */
static void one_piece(const two_mass *self, const two_mass_channel *channel, const double at[4], part_signal *signal) {
  part_node nodes[PART_NODES];
  int       n = 0;
  for (int j = channel->n_nodes; j > 0; --j) {
    nodes[n++] = (part_node){.at = at[j], .unit = channel->unknown + j - 1};
  }
  for (int i = 0; n < channel->degree + 1; ++i) nodes[n++] = (part_node){.at = -(double)i, .unit = channel->at + i};
  signal->n_pieces = 1;
  part_interpolate(self->nv, 0.0, 1.0, n, nodes, &signal->piece[0]);
}

/* A piece per interval between nodes: constant, its right node; or the line from node to node. */
static void several_pieces(const two_mass *self, const two_mass_channel *channel, const double at[4],
                           part_signal *signal) {
  signal->n_pieces = channel->n_nodes;
  for (int p = 0; p < channel->n_nodes; ++p) {
    const part_node nodes[2] = {{.at = at[p + 1], .unit = channel->unknown + p},
                                {.at = at[p], .unit = p == 0 ? channel->at : channel->unknown + p - 1}};
    part_interpolate(self->nv, at[p], at[p + 1] - at[p], channel->degree + 1, nodes, &signal->piece[p]);
  }
}

static void build_signal(const two_mass *self, const two_mass_channel *channel, const double inner[2],
                         part_signal *signal) {
  double at[4];
  node_times(channel, inner, at);
  if (channel->layout == YOKE_LAYOUT_END || channel->degree >= channel->n_nodes) {
    one_piece(self, channel, at, signal);
  } else {
    several_pieces(self, channel, at, signal);
  }
}

/* u'(1-). Piecewise constant with a half node: the difference of the two nodes (Li 3.37). */
static void end_rate(const two_mass *self, const two_mass_channel *channel, const part_signal *signal, double *form) {
  const int nv = self->nv;
  part_clear(nv, form);
  if (channel->layout == YOKE_LAYOUT_HALF && channel->degree == 0) {
    form[channel->unknown + 1] = 2.0;
    form[channel->unknown]     = -2.0;
    return;
  }
  const part_piece *piece = &signal->piece[signal->n_pieces - 1];
  double            power = 1.0;
  for (int j = 1; j <= piece->degree; ++j) {
    part_add(nv, form, power, piece->coefficient[j]);
    power *= piece->length / (double)j;
  }
}

static void step_integral(int nv, const part_signal *signal, double *form) {
  part_clear(nv, form);
  for (int p = 0; p < signal->n_pieces; ++p) {
    const part_piece *piece = &signal->piece[p];
    double            power = piece->length;
    for (int j = 0; j <= piece->degree; ++j) {
      part_add(nv, form, power, piece->coefficient[j]);
      power *= piece->length / (double)(j + 2);
    }
  }
}

/* ---- one step ---- */

static void integrate(two_mass *self, const yoke_test_method *method, step_forms *step) {
  const bool with_integral = !self->rigid && method->extension == YOKE_EXTENSION_I;
  for (int k = 0; k < self->n_channels; ++k) {
    build_signal(self, &self->channel[k], method->nodes, &step->signal[k]);
    part_unit(self->nv, self->channel[k].unknown + self->channel[k].n_nodes - 1, step->end[k]);
  }
  for (int s = 0; s < 2; ++s) {
    part_free_motion(&self->side[s], self->nv, 2 * s, 2 * s + 1, with_integral, &step->motion[s]);
    for (int k = 0; k < self->n_channels; ++k) {
      const double *B = self->channel[k].B[s];
      if (B[0] == 0.0 && B[1] == 0.0) continue;
      part_add_input(&self->side[s], self->nv, B, &step->signal[k], with_integral, &step->motion[s]);
    }
    two_mass_acceleration(self, s, &step->motion[s], step->end, step->a[s]);
  }
}

/* ---- conditions of the coupling law (Li 5.2 to 5.4) ---- */

/* row += - cc (p2 - p1) - dc (q2 - q1) */
static void subtract_law(const two_mass *self, const double *p1, const double *p2, const double *q1, const double *q2,
                         double *row) {
  for (int i = 0; i < self->nv; ++i) row[i] -= self->cc * (p2[i] - p1[i]) + self->dc * (q2[i] - q1[i]);
}

static int extended_condition(const two_mass *self, const two_mass_channel *channel, yoke_extension extension, int k,
                              step_forms *step, double *row) {
  const part_motion *motion = step->motion;
  if (extension == YOKE_EXTENSION_D) {
    end_rate(self, channel, &step->signal[k], row);
    if (channel->kind == CHANNEL_FORCE) {
      subtract_law(self, motion[0].v, motion[1].v, step->a[0], step->a[1], row);
    } else {
      part_add(self->nv, row, -1.0, step->a[channel->side]);
    }
    return 1;
  }
  step_integral(self->nv, &step->signal[k], row);
  if (channel->kind == CHANNEL_FORCE) { /* the integral of v is the change of x */
    subtract_law(self, motion[0].p, motion[1].p, motion[0].x, motion[1].x, row);
    row[AT_X2] += self->dc;
    row[AT_X1] -= self->dc;
  } else {
    part_add(self->nv, row, -1.0, motion[channel->side].p);
  }
  return 1;
}

static void constitutive_conditions(const two_mass *self, const yoke_test_method *method, step_forms *step,
                                    part_form *rows) {
  int n = 0;
  for (int k = 0; k < self->n_channels; ++k) {
    const two_mass_channel *channel = &self->channel[k];
    const part_motion      *motion  = step->motion;
    double                 *row     = rows[n++];
    memcpy(row, step->end[k], (size_t)self->nv * sizeof *row);
    switch (channel->kind) {
    case CHANNEL_COPY_X: part_add(self->nv, row, -1.0, motion[channel->side].x); break;
    case CHANNEL_COPY_V: part_add(self->nv, row, -1.0, motion[channel->side].v); break;
    default: subtract_law(self, motion[0].x, motion[1].x, motion[0].v, motion[1].v, row); break;
    }
    if (channel->layout == YOKE_LAYOUT_HALF) {
      n += extended_condition(self, channel, method->extension, k, step, rows[n]);
    }
  }
}

/* ---- conditions of the rigid link (Li 6, Lu 4.3 to 4.5) ---- */

/* weight[0] g + weight[1] g' + weight[2] g'',  g = x2 - x1 */
static void constraint_row(const two_mass *self, const step_forms *step, const double weight[3], double *row) {
  const part_motion *m = step->motion;
  for (int i = 0; i < self->nv; ++i) {
    row[i] = weight[0] * (m[1].x[i] - m[0].x[i]) + weight[1] * (m[1].v[i] - m[0].v[i]) +
             weight[2] * (step->a[1][i] - step->a[0][i]);
  }
}

/* The force that makes driven side s follow: side 1 takes + lambda, side 2 - lambda. */
static void reaction(const two_mass *self, const step_forms *step, int s, double *form) {
  const double sign = s == 0 ? 1.0 : -1.0;
  for (int i = 0; i < self->nv; ++i) {
    form[i] =
        sign * (self->m[s] * step->a[s][i] + self->c[s] * step->motion[s].x[i] + self->d[s] * step->motion[s].v[i]);
  }
}

/* Driven sides: their force is the multiplier of the forced side, or the two forces are equal. */
static int reaction_row(const two_mass *self, const step_forms *step, double *row) {
  part_form other;
  if (self->driven[0] && self->driven[1]) {
    reaction(self, step, 0, other);
    reaction(self, step, 1, row);
  } else if (self->driven[0] || self->driven[1]) {
    memcpy(other, step->end[0], (size_t)self->nv * sizeof *other); /* lambda is channel 0 */
    reaction(self, step, self->driven[1], row);
  } else {
    return 0;
  }
  part_add(self->nv, row, -1.0, other);
  return 1;
}

typedef struct constraint_sets {
  int    n;            /* sets of conditions */
  double share[3];     /* of the solution of each set */
  int    n_rows;       /* conditions on g in a set */
  double weight[3][3]; /* of g, g', g'': by set, or by row when there is one set */
} constraint_sets;

/* Baumgarte beta and gamma in macro steps. */
static void baumgarte_weights(const yoke_test_method *method, double H, double weight[3]) {
  const double beta  = method->beta > 0.0 ? method->beta / H : 2.0 * method->mu;
  const double gamma = method->gamma > 0.0 ? method->gamma / (H * H) : method->mu * method->mu;
  weight[0]          = 1.0;
  weight[1]          = method->index <= 2 ? beta : 0.0;
  weight[2]          = method->index == 1 ? gamma : 0.0;
}

static constraint_sets sets_of(const two_mass *self, const yoke_test_method *method, const char *formulation,
                               double H) {
  constraint_sets sets = {.n = 1, .share = {1.0}, .n_rows = 1, .weight = {{1.0, 0, 0}, {0, 1.0, 0}, {0, 0, 1.0}}};
  if (strcmp(formulation, "baumgarte") == 0) {
    baumgarte_weights(method, H, sets.weight[0]);
  } else if (strcmp(formulation, "weighted") == 0) {
    const double a = method->index <= 2 ? method->a : 0.0, b = method->index == 1 ? method->b : 0.0;
    sets.n        = method->index == 1 ? 3 : method->index == 2 ? 2 : 1;
    sets.share[0] = 1.0 / (1.0 + a + b);
    sets.share[1] = a / (1.0 + a + b);
    sets.share[2] = b / (1.0 + a + b);
  } else if (strcmp(formulation, "projection") == 0) {
    sets.weight[0][0] = 0.0;
    sets.weight[0][2] = 1.0;
    if (self->driven[0] && self->driven[1]) sets.n_rows = 0; /* g'' = 0 holds by itself */
  } else {
    sets.n_rows = strcmp(formulation, "stabilized-index-1") == 0 ? 3 : 2;
  }
  return sets;
}

/* ---- solution ---- */

/* w = solution Y: the shares of the solutions of all sets. */
static yoke_status solve_constraint(const two_mass *self, const step_forms *step, const constraint_sets *sets,
                                    part_form *solution) {
  part_form rows[PART_UNKNOWNS], one[PART_UNKNOWNS];
  for (int k = 0; k < self->n_unknowns; ++k) part_clear(self->n, solution[k]);
  for (int set = 0; set < sets->n; ++set) {
    int n = 0;
    for (int i = 0; i < sets->n_rows; ++i) {
      constraint_row(self, step, sets->weight[sets->n > 1 ? set : i], rows[n++]);
    }
    n += reaction_row(self, step, rows[n]);
    if (n != self->n_unknowns) return YOKE_E_INTERNAL;
    YOKE_TRY(part_solve(self->n, n, rows, one));
    for (int k = 0; k < n; ++k) part_add(self->n, solution[k], sets->share[set], one[k]);
  }
  return YOKE_OK;
}

/* u := r u + (1 - r) u_N for the end nodes (Lu 186). */
static void relax(const two_mass *self, double share, part_form *solution) {
  for (int k = 0; k < self->n_channels && share != 1.0; ++k) {
    double *w = solution[self->channel[k].unknown - self->n];
    for (int i = 0; i < self->n; ++i) w[i] *= share;
    w[self->channel[k].at] += 1.0 - share;
  }
}

/* A form over V with w eliminated. */
static void eliminate(const two_mass *self, const double *form, part_form *solution, double *row) {
  memcpy(row, form, (size_t)self->n * sizeof *row);
  for (int k = 0; k < self->n_unknowns; ++k) part_add(self->n, row, form[self->n + k], solution[k]);
}

static void write_matrix(const two_mass *self, const step_forms *step, part_form *solution, double *M) {
  const int n = self->n;
  for (int s = 0; s < 2; ++s) {
    eliminate(self, step->motion[s].x, solution, M + (size_t)(2 * s) * n);
    eliminate(self, step->motion[s].v, solution, M + (size_t)(2 * s + 1) * n);
  }
  for (int k = 0; k < self->n_channels; ++k) {
    const two_mass_channel *channel = &self->channel[k];
    for (int i = 0; i < channel->n_past; ++i) {
      double *row = M + (size_t)(channel->at + i) * n;
      if (i == 0) {
        memcpy(row, solution[channel->unknown + channel->n_nodes - 1 - n], (size_t)n * sizeof *row);
      } else {
        part_unit(n, channel->at + i - 1, row);
      }
    }
  }
}

/* Mass-weighted projection of positions and velocities onto x1 = x2, v1 = v2 (Li 6.3). */
static void project(const two_mass *self, double *M) {
  const double share = self->m[1] / (self->m[0] + self->m[1]);
  for (int j = 0; j < 2 * self->n; ++j) { /* rows x1 and v1, rows x2 and v2 */
    const double mean  = (1.0 - share) * M[j] + share * M[2 * self->n + j];
    M[j]               = mean;
    M[2 * self->n + j] = mean;
  }
}

yoke_status newton_recurrence(const yoke_test_model *model, const yoke_test_method *method, const char *formulation,
                              double *matrix, int *n) {
  two_mass   self;
  step_forms step;
  part_form  solution[PART_UNKNOWNS];
  const bool is_mu = strcmp(formulation, "stabilized-index-2-mu") == 0;
  two_mass_open(&self, model, method, method->order);
  if (is_mu) {
    self.channel[self.n_channels++] = (two_mass_channel){.kind = CHANNEL_MU, .B = {{1.0, 0.0}, {-1.0, 0.0}}};
  }
  set_layouts(&self, method, formulation);
  place_channels(&self, is_mu && method->relaxation != 1.0);
  integrate(&self, method, &step);
  if (self.rigid) {
    const constraint_sets sets = sets_of(&self, method, formulation, model->H);
    YOKE_TRY(solve_constraint(&self, &step, &sets, solution));
    if (is_mu) relax(&self, method->relaxation, solution);
  } else {
    part_form rows[PART_UNKNOWNS];
    constitutive_conditions(&self, method, &step, rows);
    YOKE_TRY(part_solve(self.n, self.n_unknowns, rows, solution));
  }
  write_matrix(&self, &step, solution, matrix);
  if (strcmp(formulation, "projection") == 0) project(&self, matrix);
  *n = self.n;
  return YOKE_OK;
}
