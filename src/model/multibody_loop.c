/* Loads and laws that read what they bring about: accelerations, and multipliers of joints.
 *
 * At one (t, q, v, u) these are affine in the applied forces, and the forces F are functions of what is felt:
 *   w = Phi(w) = w_0 + G F(w).
 * Newton's method, (1 - G F'(w)) dw = Phi(w) - w, is done in one step where F is linear in w: added masses, feedback of forces. Column j of
 * G F' is what the equations of motion make of the forces dF/dw_j alone. A loop of gain 1 has no solution, or many. */
#include "model/multibody_traversal.h"

#include "base/text.h"
#include <float.h>
#include <math.h>
#include <stdio.h>

enum { MOST_ITERATIONS = 50 };
static const double CLOSED   = 1e-13; /* of the values */
static const double ROUNDING = 1e-12; /* of all that adds up: where Newton's method gains nothing more */
static const double SAME     = 1e-6;  /* multipliers of a row */
static const double GAIN_ONE = 1e-10; /* pivot of 1 - G F' against its row */

/* ---- compilation ---- */

static void mark(yoke_multibody *mb, const yoke_expression *e) {
  for (int k = 0; e != NULL && k < yoke_expression_n_variables(e); ++k) {
    const int number = yoke_expression_variables(e)[k], felt = number > 0 ? mb->variables[number - 1].felt : -1;
    if (felt >= 0) mb->felt[felt].is_in_loop = true;
  }
}

void mb_find_loop(yoke_multibody *mb) {
  for (int i = 0; i < mb->n_loads; ++i) {
    for (int k = 0; k < 3; ++k) mark(mb, mb->loads[i].load->value[k]);
  }
  for (int i = 0; i < mb->n_formulas; ++i) mark(mb, mb->formulas[i].expression);
  for (int i = 0; i < mb->n_felt; ++i) {
    if (mb->felt[i].is_in_loop) mb->loop[mb->n_loop++] = i;
  }
}

/* ---- columns ---- */

/* Forces that follow variable `number`, into w->wrench. */
typedef struct column {
  mb_traversal base;
  int          number;
} column;

static void add_column(const mb_traversal *x, int node, const double direction[6], const yoke_expression *value) {
  const int number = ((const column *)x)->number; /* base is its first member */
  for (int i = 0; i < yoke_expression_n_variables(value); ++i) {
    if (yoke_expression_variables(value)[i] != number) continue;
    for (int k = 0; k < 6; ++k) x->w->wrench[6 * node + k] += x->w->gradient[i] * direction[k];
  }
}

void mb_loop_forces(const yoke_multibody *mb, const mb_work *w, int j) {
  const column x = {.base = {.mb = mb, .w = w}, .number = mb->felt[mb->loop[j]].number};
  memset(w->wrench, 0, 6 * ((size_t)mb->n_nodes + (size_t)mb->n_ghosts) * sizeof *w->wrench);
  for (int i = 0; i < mb->n_loads; ++i) mb_visit_load(&x.base, &mb->loads[i], add_column);
  for (int i = 0; i < mb->n_formulas; ++i) {
    yoke_link_state state;
    double          grad[12];
    (void)mb_formula_row(mb, &mb->formulas[i], w, &state, grad);
    mb_visit_formula(&x.base, &mb->formulas[i], grad, add_column);
  }
}

double mb_loop_follow(const yoke_multibody *mb, const mb_work *w, int i, const double *q, const double *a,
                      const double *da, const double *dlambda) {
  double      sum = 0.0;
  mb_gradient g;
  mb_variable_gradient(mb, w, mb->felt[mb->loop[i]].number, q, a, &g);
  for (int e = 0; e < g.n; ++e) {
    if (g.entry[e].level == YOKE_LEVEL_ACCELERATION) sum += g.entry[e].value * da[g.entry[e].index];
    if (g.entry[e].level == YOKE_LEVEL_FORCE) sum += g.entry[e].value * dlambda[g.entry[e].index];
  }
  return sum;
}

int mb_loop_solve(int n, double *P, double *r) {
  for (int i = 0; i < n; ++i) {
    double size = 1.0;
    for (int j = 0; j < n; ++j) size = fmax(size, fabs(P[i * n + j]));
    for (int j = 0; j < n; ++j) P[i * n + j] = ((i == j ? 1.0 : 0.0) - P[i * n + j]) / size;
    r[i] /= size;
  }
  return mb_eliminate(n, P, r, GAIN_ONE);
}

/* w->loop_P := G F'. Rows of joints lose all that does not follow from forces. */
static yoke_status set_columns(const yoke_multibody *mb, const mb_work *w, const double *q, const double *a) {
  const int    n    = mb->n_loop;
  const size_t size = (size_t)mb->n_rows * sizeof *w->gamma;
  memset(w->gamma, 0, size);
  memset(w->rate, 0, size);
  memset(w->s, 0, size);
  for (int j = 0; j < n; ++j) {
    mb_loop_forces(mb, w, j);
    memset(w->loop_a, 0, (size_t)mb->nv * sizeof *w->loop_a);
    YOKE_TRY(mb_accelerate(mb, w, w->loop_a, w->loop_lambda));
    for (int i = 0; i < n; ++i) w->loop_P[i * n + j] = mb_loop_follow(mb, w, i, q, a, w->loop_a, w->loop_lambda);
  }
  return YOKE_OK;
}

/* ---- the loop ---- */

/* Size of the wrench on a node, which becomes 0. */
static double take_wrench(const mb_work *w, int node) {
  double sum = 0.0;
  for (int k = 0; k < 6; ++k) {
    sum += fabs(w->wrench[6 * node + k]);
    w->wrench[6 * node + k] = 0.0;
  }
  return sum;
}

/* What all forces would be if they added up, and the acceleration that this gives to the lightest node. The wrenches are lost. */
static void gross(const yoke_multibody *mb, const mb_work *w, double t, const double *lambda, double *force,
                  double *acceleration) {
  double lightest = 0.0, sum = 0.0;
  for (int i = 0; i < mb->n_nodes + mb->n_ghosts; ++i) sum += take_wrench(w, i);
  for (int i = 0; i < mb->n_forces; ++i) {
    const int *node = mb->forces[i].link.node;
    yoke_force_element_apply(&mb->forces[i], w->pose, t, w->wrench);
    sum += take_wrench(w, node[0]) + take_wrench(w, node[1]);
  }
  for (int i = 0; i < mb->n_loads; ++i) {
    if (yoke_load_apply(&mb->loads[i], w->pose, w->variables, w->wrench) == YOKE_OK)
      sum += take_wrench(w, mb->loads[i].node);
  }
  for (int g = 0; g < mb->n_rows; ++g) sum += fabs(lambda[g]);
  for (int i = 1; i < mb->n_nodes; ++i) {
    for (int k = 0; k < 3; ++k)
      lightest = fmax(lightest, fmax(mb->nodes[i].inverse_mass[k], mb->nodes[i].inverse_inertia[4 * k]));
  }
  *force        = sum;
  *acceleration = lightest * sum;
}

/* Is what is left no more than rounding errors? The wrenches are lost. */
static bool is_rounding(const yoke_multibody *mb, const mb_work *w, double t, const double *lambda) {
  double force, acceleration;
  bool   all = true;
  gross(mb, w, t, lambda, &force, &acceleration);
  for (int i = 0; i < mb->n_loop; ++i) {
    const double size = mb->felt[mb->loop[i]].connection < 0 ? acceleration : force;
    all               = all && fabs(w->loop_r[i]) <= ROUNDING * size;
  }
  return all;
}

/* Residual of what is felt now, for a and lambda; its largest part against the values themselves. */
static double set_residual(const yoke_multibody *mb, const mb_work *w, const double *q, const double *v,
                           const double *a, const double *lambda) {
  double most = 0.0;
  for (int i = 0; i < mb->n_loop; ++i) {
    const int    k    = mb->loop[i];
    const double felt = w->felt[k], now = mb_felt_value(mb, w, k, q, v, a, lambda);
    const double size = fmax(fabs(felt), fabs(now));
    w->loop_r[i]      = now - felt;
    if (!(size <= 0.0)) most = fmax(most, fabs(w->loop_r[i]) / size);
    if (!isfinite(now)) return (double)NAN;
  }
  return most;
}

/* What is felt moves by loop_r: the largest change against the values. */
static double move(const yoke_multibody *mb, const mb_work *w) {
  double most = 0.0;
  for (int i = 0; i < mb->n_loop; ++i) {
    double *felt = &w->felt[mb->loop[i]];
    *felt += w->loop_r[i];
    if (w->loop_r[i] != 0.0) most = fmax(most, fabs(w->loop_r[i]) / fmax(fabs(*felt), fabs(*felt - w->loop_r[i])));
  }
  return most;
}

/* *which: the place in the loop that a loop of gain 1 collapses at. */
static yoke_status close_loop(const yoke_multibody *mb, const mb_work *w, double t, const double *q, const double *v,
                              const double *u, double *a, double *lambda, int *which) {
  double before = (double)INFINITY;
  for (int i = 0; i < mb->n_loop; ++i) w->felt[mb->loop[i]] = 0.0;
  for (int iteration = 0; iteration < MOST_ITERATIONS; ++iteration) {
    YOKE_TRY(mb_respond(mb, w, t, q, v, u, a, lambda));
    const double open = set_residual(mb, w, q, v, a, lambda);
    if (open <= CLOSED) return YOKE_OK;
    if (!isfinite(open)) return YOKE_NON_FINITE;
    if (iteration > 0 && !(open < 0.5 * before) && is_rounding(mb, w, t, lambda))
      return mb_respond(mb, w, t, q, v, u, a, lambda);
    before = open;
    YOKE_TRY(set_columns(mb, w, q, a));
    *which = mb_loop_solve(mb->n_loop, w->loop_P, w->loop_r);
    if (*which >= 0) return YOKE_SINGULAR;
    if (move(mb, w) <= CLOSED) return mb_respond(mb, w, t, q, v, u, a, lambda);
  }
  return YOKE_NOT_CONVERGED;
}

yoke_status mb_close_loop(const yoke_multibody *mb, const mb_work *w, double t, const double *q, const double *v,
                          const double *u, double *a, double *lambda) {
  int unused;
  return close_loop(mb, w, t, q, v, u, a, lambda, &unused);
}

/* ---- words ---- */

static bool reads(const yoke_expression *e, int number) {
  for (int k = 0; e != NULL && k < yoke_expression_n_variables(e); ++k) {
    if (yoke_expression_variables(e)[k] == number) return true;
  }
  return false;
}

/* "load 'push'", the first one that reads what is felt at place i of the loop. */
static void name_reader(const yoke_multibody *mb, int i, char *text, size_t size) {
  const int number = mb->felt[mb->loop[i]].number;
  for (int k = 0; k < mb->model->n_loads; ++k) {
    const yoke_load *load = &mb->model->loads[k];
    if (!reads(load->value[0], number) && !reads(load->value[1], number) && !reads(load->value[2], number)) continue;
    (void)snprintf(text, size, "load '%s'", load->name);
    return;
  }
  for (int c = 0; c < mb->model->n_connections; ++c) {
    if (!reads(mb->model->connections[c].formula, number)) continue;
    (void)snprintf(text, size, "the law of connection '%s'", mb->model->connections[c].name);
    return;
  }
}

yoke_status yoke_multibody_check_loop(const yoke_multibody *mb, void *work, double t, const double *q, const double *v,
                                      const double *u, char *text, size_t size) {
  int     which = 0;
  mb_work w;
  char    name[300], reader[300] = "";
  if (mb->n_loop == 0 || (mb->n_inputs > 0 && u == NULL)) return YOKE_OK; /* inputs are not known yet */
  if (mb_rest(mb, work, t, q, v, u) != YOKE_OK) return YOKE_OK;
  mb_work_carve(mb, work, &w);
  mb_poses(mb, &w, q, v, true);
  mb_ghost_poses(mb, &w, u);
  yoke_status status = close_loop(mb, &w, t, q, v, u, w.a, w.lambda, &which);
  if (status == YOKE_OK) status = set_columns(mb, &w, q, w.a); /* where nothing acts any gain fits */
  if (status == YOKE_OK) {
    which  = mb_loop_solve(mb->n_loop, w.loop_P, w.loop_r);
    status = which >= 0 ? YOKE_SINGULAR : YOKE_OK;
  }
  if (status == YOKE_OK) return YOKE_OK;
  yoke_variable_name(mb->model, &mb->model->variables[mb->felt[mb->loop[which]].number - 1], name, sizeof name);
  name_reader(mb, which, reader, sizeof reader);
  if (status == YOKE_SINGULAR)
    (void)snprintf(text, size,
                   "%s reads '%s', which answers it with gain 1: any value, or none, fits to the forces; change its "
                   "factor, or move mass from the load to the body",
                   reader, name);
  else
    (void)snprintf(
        text, size,
        "%s reads '%s', which follows from it, and no value was found that fits both; make it smoother, or its "
        "factors smaller",
        reader, name);
  return status;
}

/* A row has one multiplier if that of S lambda = S lambda_0 of least norm is lambda_0 again, for any lambda_0. */
static bool is_unique(const yoke_multibody *mb, const mb_work *w, int row) {
  double *lambda = w->loop_lambda;
  for (int g = 0; g < mb->ng; ++g) {
    const double turns = 0.6180339887498949 * (g + 1) * (g + 2);
    lambda[g]          = turns - floor(turns) + 0.5;
    w->lambda[g]       = 0.0;
  }
  const double own = lambda[row];
  if (mb_solve(mb, w, w->lambda) != YOKE_OK) return false; /* M^-1 G^T */
  memset(w->acceleration, 0, 6 * (size_t)mb->n_nodes * sizeof *w->acceleration);
  mb_add_reactions(mb, w, lambda);
  for (int g = 0; g < mb->ng; ++g) {
    const int *node = mb->joints[mb->row_joint[g]].link.node;
    lambda[g]       = 0.0;
    for (int k = 0; k < 12; ++k) lambda[g] += w->grad[12 * g + k] * w->acceleration[6 * node[k / 6] + k % 6];
  }
  return mb_solve(mb, w, lambda) == YOKE_OK && fabs(lambda[row] - own) <= SAME;
}

bool yoke_multibody_loop_is_vague(const yoke_multibody *mb, void *work, double t, const double *q, char *text,
                                  size_t size) {
  char    name[300], reader[300] = "";
  mb_work w;
  mb_work_carve(mb, work, &w);
  for (int i = 0; i < mb->n_loop; ++i) {
    const mb_felt *x = &mb->felt[mb->loop[i]];
    if (x->connection < 0 || x->index < 0) continue;
    mb_look(mb, &w, t, q, NULL);
    if (is_unique(mb, &w, x->index)) continue;
    yoke_variable_name(mb->model, &mb->model->variables[x->number - 1], name, sizeof name);
    name_reader(mb, i, reader, sizeof reader);
    (void)snprintf(text, size, "%s reads '%s'", reader, name);
    return true;
  }
  return false;
}
