/* Jumps and kinks of loads, laws and formulas: signs, steps, comparisons and the like of the state (expression_jumps.h), each held on one side of its switching
 * function s, or between both.
 *
 * q holds the mode of each (its rate is 0): free, which is what the expression says, low (s < 0), high (s > 0), or between: where both sides lead back
 * to s = 0, the motion stays there, and the jump gives what lies between its two values (Filippov 1988). With shares x_j of the high values
 *   s_i' = r_i + sum_j B_ij x_j = 0,
 * because accelerations are linear in each of them: r from all x = 0, column j of B from one evaluation with x_j = 1. Shares below 0 or above 1 end
 * it. Equations are smooth as long as no mode changes.
 * Forces that read what they bring about (multibody_loop.c) are linear in the shares for given w only: shares for w and w for shares, in turn.
 *
 * A jump of a position cannot be held like this: s' has no part of x. Where it is crossed again and again because the motion comes to rest there,
 * it follows the jump of a velocity that holds the motion, with the same share, so that both act together and leave together. Its mode is
 * then 3 + the number of the other, with the sign of their forces. */
#include "model/multibody_internal.h"

#include "base/memory.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIME = 0, X_OF_LAWS = 0 };

/* ---- compilation ---- */

static bool has_law_expression(const yoke_multibody *mb, int i) {
  const yoke_force_element *el = &mb->forces[i];
  return el->n == 1 && el->law != NULL && el->law->expression != NULL && !mb_is_cut(mb, &el->link) &&
         yoke_expression_most_jumps(el->law->expression) > 0;
}

static bool is_real(const yoke_multibody *mb, const yoke_load_element *el) {
  return el->node < mb->n_nodes && (el->load->kind == YOKE_LOAD_FORCE || el->load->kind == YOKE_LOAD_TORQUE);
}

void mb_count_jumps(const yoke_multibody *mb, int *most, int *n_laws) {
  *most = *n_laws = 0;
  for (int i = 0; i < mb->n_loads; ++i) {
    for (int k = 0; k < 3 && is_real(mb, &mb->loads[i]); ++k) {
      const yoke_expression *value = mb->loads[i].load->value[k];
      if (value != NULL) *most += yoke_expression_most_jumps(value);
    }
  }
  for (int i = 0; i < mb->n_formulas; ++i) *most += yoke_expression_most_jumps(mb->formulas[i].expression);
  for (int i = 0; i < mb->n_forces; ++i) {
    if (!has_law_expression(mb, i)) continue;
    *most += yoke_expression_most_jumps(mb->forces[i].law->expression);
    ++*n_laws;
  }
}

/* Rates of signals, and of what is felt, are not known. */
static bool has_rate(const yoke_multibody *mb, const yoke_expression *e) {
  for (int i = 0; i < yoke_expression_n_variables(e); ++i) {
    if (mb_input_of(mb, yoke_expression_variables(e)[i]) >= 0) return false;
  }
  return !yoke_model_feels(mb->model, e);
}

/* Jumps of an expression of the model's variables become mb's, whose owner is a load, or n_loads + force element; *out: the expression with them, NULL: it has none. */
static yoke_status hold(yoke_multibody *mb, int owner, const yoke_expression *e, yoke_expression **out) {
  yoke_jump *jumps = mb->jumps + mb->n_jumps;
  int        n;
  YOKE_TRY(yoke_expression_hold(e, TIME, mb->first_jump + mb->n_jumps, jumps, &n, out));
  if (n == 0) return YOKE_OK;
  for (int k = 0; k < n; ++k)
    mb->variables[mb->first_jump + mb->n_jumps + k - 1] =
        (mb_variable){.quantity = -1, .signal = -1, .felt = -1, .is_held = true};
  for (int k = 0; k < n; ++k) mb->can_rest[mb->n_jumps + k] = !jumps[k].is_kink && has_rate(mb, jumps[k].s);
  for (int k = 0; k < n; ++k) mb->jump_owner[mb->n_jumps + k] = owner;
  mb->n_jumps += n;
  mb->held[mb->n_held++] = *out;
  return YOKE_OK;
}

static yoke_status hold_load(yoke_multibody *mb, int i_load) {
  yoke_load_element *el  = &mb->loads[i_load];
  yoke_load         *own = NULL;
  for (int k = 0; k < 3; ++k) {
    yoke_expression *held = NULL;
    if (el->load->value[k] != NULL) YOKE_TRY(hold(mb, i_load, el->load->value[k], &held));
    if (held == NULL) continue;
    if (own == NULL) own = yoke_arena_copy(&mb->arena, el->load, 1, sizeof *own);
    if (own == NULL) return YOKE_E_MEMORY;
    own->value[k] = held;
  }
  if (own != NULL) el->load = own;
  return YOKE_OK;
}

static bool reads_x_alone(const yoke_expression *e) {
  return yoke_expression_n_variables(e) == 1 && yoke_expression_variables(e)[0] == X_OF_LAWS;
}

/* The expression of a law that jumps becomes a formula of the deflection and its rate, the variables `number` and the next. */
static yoke_status hold_law(yoke_multibody *mb, int i_force, int number) {
  yoke_force_element *el       = &mb->forces[i_force];
  const int           places[] = {number, number + 1, TIME};
  yoke_expression    *moved = NULL, *held = NULL;
  mb_add_deflection(mb, number, el->connection, false);
  mb_add_deflection(mb, number + 1, el->connection, true);
  yoke_status status = yoke_expression_replace(el->law->expression, places, NULL, &moved);
  if (status == YOKE_OK) status = hold(mb, mb->n_loads + i_force, moved, &held);
  yoke_expression_destroy(&moved);
  if (held == NULL) mb->n_quantities -= 2; /* nothing reads them: mb_n_variables does not count them either */
  if (status != YOKE_OK || held == NULL) return status;
  yoke_law *rest = yoke_arena_copy(&mb->arena, el->law, 1, sizeof *rest);
  yoke_law *own  = yoke_arena_take(&mb->arena, 1, sizeof *own);
  if (rest == NULL || own == NULL) return YOKE_E_MEMORY;
  *own                           = (yoke_law){.expression = el->law->expression};
  mb->formulas[mb->n_formulas++] = (mb_formula){
      .force = i_force, .expression = held, .elastic = reads_x_alone(own->expression) ? own : NULL, .x = number};
  rest->expression    = NULL;
  el->law             = rest;
  mb->needs_variables = true;
  return YOKE_OK;
}

/* ---- twins ---- */

enum { PLACES = 3 };
static const double SAME = 1e-12; /* of their values: rounding */

/* Values of all switching functions at a few places, by a quadratic sequence of the golden section. */
static void probe(const yoke_multibody *mb, double *variables, double *value) {
  for (int i = 0; i < PLACES; ++i) {
    for (int k = 0; k <= mb_n_variables(mb); ++k) {
      const double turns = 0.6180339887498949 * (k + 1) * (k + 2 + i);
      variables[k]       = turns - floor(turns) + 0.1;
    }
    for (int k = 0; k < mb->n_jumps; ++k)
      value[PLACES * k + i] = yoke_expression_evaluate(mb->jumps[k].s, variables, NULL);
  }
}

/* Is b a constant times a? The sign of the constant; 0: it is not. */
static double ratio_of(const double *a, const double *b) {
  const double ratio = b[0] / a[0];
  for (int i = 0; i < PLACES; ++i) {
    if (!(fabs(b[i] - ratio * a[i]) <= SAME * fabs(b[i]))) return 0.0;
  }
  return ratio > 0.0 ? 1.0 : ratio < 0.0 ? -1.0 : 0.0;
}

/* Friction between two bodies may be two loads, on one and on the other: only one share of both is action and reaction. */
static yoke_status find_twins(yoke_multibody *mb) {
  for (int k = 0; k < mb->n_jumps; ++k) {
    mb->twin[k] = k;
    mb->turn[k] = 1.0;
  }
  if (mb->n_jumps < 2) return YOKE_OK;
  double *variables = yoke_allocate((size_t)mb_n_variables(mb) + 1, sizeof *variables);
  double *value     = yoke_allocate(PLACES * (size_t)mb->n_jumps, sizeof *value);
  if (variables != NULL && value != NULL) probe(mb, variables, value);
  for (int k = 1; k < mb->n_jumps && variables != NULL && value != NULL; ++k) {
    for (int j = 0; j < k && mb->twin[k] == k; ++j) {
      if (mb->twin[j] != j || !mb->can_rest[j] || !mb->can_rest[k]) continue;
      const double turn = ratio_of(value + PLACES * j, value + PLACES * k);
      if (turn == 0.0) continue;
      mb->twin[k] = j;
      mb->turn[k] = turn;
    }
  }
  const bool has_room = variables != NULL && value != NULL;
  free(variables);
  free(value);
  return has_room ? YOKE_OK : YOKE_E_MEMORY;
}

yoke_status mb_build_jumps(yoke_multibody *mb, int most, int n_laws, yoke_context *ctx) {
  const int n_formulas = mb->n_formulas;
  int       number     = mb->model->n_variables + 1;
  mb->first_jump       = number + 2 * n_laws;
  mb->jumps            = yoke_arena_take(&mb->arena, (size_t)most + 1, sizeof *mb->jumps);
  mb->can_rest         = yoke_arena_take(&mb->arena, (size_t)most + 1, sizeof *mb->can_rest);
  mb->jump_owner       = yoke_arena_take(&mb->arena, (size_t)most + 1, sizeof *mb->jump_owner);
  mb->held             = yoke_arena_take(&mb->arena, (size_t)most + 1, sizeof *mb->held);
  mb->twin             = yoke_arena_take(&mb->arena, (size_t)most + 1, sizeof *mb->twin);
  mb->turn             = yoke_arena_take(&mb->arena, (size_t)most + 1, sizeof *mb->turn);
  YOKE_TRY(yoke_arena_check(&mb->arena, ctx, "%d jumps of laws and loads", most));
  yoke_status status = YOKE_OK;
  for (int i = 0; i < mb->n_loads && status == YOKE_OK; ++i) {
    if (is_real(mb, &mb->loads[i])) status = hold_load(mb, i);
  }
  for (int i = 0; i < n_formulas && status == YOKE_OK; ++i) {
    yoke_expression *held = NULL;
    status                = hold(mb, mb->n_loads + mb->formulas[i].force, mb->formulas[i].expression, &held);
    if (held != NULL) mb->formulas[i].expression = held;
  }
  for (int i = 0; i < mb->n_forces && status == YOKE_OK; ++i) {
    if (!has_law_expression(mb, i)) continue;
    status = hold_law(mb, i, number);
    number += 2;
  }
  if (status == YOKE_OK) status = find_twins(mb);
  return status == YOKE_OK ? YOKE_OK : yoke_out_of_memory(ctx, "%d jumps of laws and loads", most);
}

void mb_forget_jumps(yoke_multibody *mb) {
  for (int k = 0; k < mb->n_jumps; ++k) yoke_expression_destroy(&mb->jumps[k].s);
  for (int k = 0; k < mb->n_held; ++k) yoke_expression_destroy(&mb->held[k]);
}

/* ---- values ---- */

static yoke_jump_mode mode_of(const yoke_multibody *mb, const double *q, int k) {
  const int number = (int)rint(q[mb->i_jump + k]);
  return abs(number) >= YOKE_JUMP_FOLLOWS ? YOKE_JUMP_FOLLOWS : (yoke_jump_mode)number;
}

/* The jump that k follows, and whether with the same (1) or the other share (-1). -1: none. */
static int leader_of(const yoke_multibody *mb, const double *q, int k, double *turn) {
  const int number = (int)rint(q[mb->i_jump + k]);
  *turn            = number > 0 ? 1.0 : -1.0;
  return abs(number) >= YOKE_JUMP_FOLLOWS ? abs(number) - YOKE_JUMP_FOLLOWS : -1;
}

/* Shares far beyond 0 and 1 tell that a jump leaves; what is felt under such forces need not exist. */
static double held_share(const yoke_multibody *mb, double share) {
  return mb->n_loop > 0 ? fmin(fmax(share, -0.5), 1.5) : share;
}

void mb_jump_variables(const yoke_multibody *mb, const mb_work *w, const double *q) {
  for (int k = 0; k < mb->n_jumps; ++k) {
    const yoke_jump *jump  = &mb->jumps[k];
    double          *value = &w->variables[mb->first_jump + k];
    *value                 = (double)NAN;
    if (w->share == NULL) continue;
    switch (mode_of(mb, q, k)) {
    case YOKE_JUMP_FREE: break;
    case YOKE_JUMP_LOW: *value = jump->low; break;
    case YOKE_JUMP_HIGH: *value = jump->high; break;
    case YOKE_JUMP_FOLLOWS:
    case YOKE_JUMP_BETWEEN: *value = jump->low + held_share(mb, w->share[k]) * (jump->high - jump->low); break;
    }
  }
}

bool mb_rests(const yoke_multibody *mb, const double *q) {
  for (int k = 0; k < mb->n_jumps; ++k) {
    if (mode_of(mb, q, k) == YOKE_JUMP_BETWEEN) return true;
  }
  return false;
}

/* s' under accelerations a and rates qdot; of changes that have either sign: the sum of what each does. Needs poses and variables. */
static double change_of(const yoke_multibody *mb, const mb_work *w, int k, const double *q, const double *qdot,
                        const double *a, bool of_either_sign) {
  const yoke_expression *s   = mb->jumps[k].s;
  double                 sum = 0.0;
  yoke_expression_evaluate(s, w->variables, w->gradient);
  for (int i = 0; i < yoke_expression_n_variables(s); ++i) {
    const int   number = yoke_expression_variables(s)[i];
    mb_gradient variable;
    if (number == TIME) {
      if (!of_either_sign) sum += w->gradient[i];
      continue;
    }
    mb_variable_gradient(mb, w, number, q, a, &variable);
    for (int e = 0; e < variable.n; ++e) {
      if (variable.entry[e].level > YOKE_LEVEL_VELOCITY) continue; /* rates of what is felt are not known */
      const double *by   = variable.entry[e].level == YOKE_LEVEL_VELOCITY ? a : qdot;
      const double  part = w->gradient[i] * variable.entry[e].value * by[variable.entry[e].index];
      sum += of_either_sign ? fabs(part) : part;
    }
  }
  return sum;
}

static double rate_of(const yoke_multibody *mb, const mb_work *w, int k, const double *q, const double *qdot,
                      const double *a) {
  return change_of(mb, w, k, q, qdot, a, false);
}

/* ---- shares ---- */

static const double SINGULAR = 1e-10, RIDGE = 1e-10; /* of the largest entry */
enum { REFINEMENTS = 6 };

static double largest(int n, const double *B) {
  double most = 0.0;
  for (int i = 0; i < n * n; ++i) most = fmax(most, fabs(B[i]));
  return most;
}

int mb_eliminate(int n, double *B, double *b, double least) {
  for (int c = 0; c < n; ++c) {
    int best = c;
    for (int r = c + 1; r < n; ++r) best = fabs(B[r * n + c]) > fabs(B[best * n + c]) ? r : best;
    if (!(fabs(B[best * n + c]) > least)) return c;
    for (int k = 0; k < n && best != c; ++k) {
      const double keep = B[c * n + k];
      B[c * n + k]      = B[best * n + k];
      B[best * n + k]   = keep;
    }
    const double keep = b[c];
    b[c]              = b[best];
    b[best]           = keep;
    for (int r = c + 1; r < n; ++r) {
      const double factor = B[r * n + c] / B[c * n + c];
      for (int k = c; k < n; ++k) B[r * n + k] -= factor * B[c * n + k];
      b[r] -= factor * b[c];
    }
  }
  for (int r = n - 1; r >= 0; --r) {
    for (int k = r + 1; k < n; ++k) b[r] -= B[r * n + k] * b[k];
    b[r] /= B[r * n + r];
  }
  return -1;
}

/* B x = b, with the least x where several jumps hold one motion: (B^T B + eps) dx = B^T (b - B x), again and again. C [n, n] and y [n] are scratch. */
static bool solve(int n, const double *B, double *b, double *C, double *x, double *y) {
  memcpy(C, B, (size_t)(n * n) * sizeof *C);
  memcpy(x, b, (size_t)n * sizeof *x);
  if (mb_eliminate(n, C, x, SINGULAR * largest(n, B)) < 0) return true;
  memset(x, 0, (size_t)n * sizeof *x);
  const double most = largest(n, B);
  for (int i = 0; i < REFINEMENTS; ++i) {
    for (int r = 0; r < n; ++r) {
      y[r] = 0.0;
      for (int k = 0; k < n; ++k) {
        double residual = b[k];
        for (int c = 0; c < n; ++c) residual -= B[k * n + c] * x[c];
        y[r] += B[k * n + r] * residual;
      }
      for (int c = 0; c < n; ++c) {
        C[r * n + c] = r == c ? RIDGE * most * most : 0.0;
        for (int k = 0; k < n; ++k) C[r * n + c] += B[k * n + r] * B[k * n + c];
      }
    }
    if (mb_eliminate(n, C, y, 0.0) >= 0) return false;
    for (int r = 0; r < n; ++r) x[r] += y[r];
  }
  return true;
}

/* Of jump k, its twins and those that follow it. */
static void set_share(const yoke_multibody *mb, const mb_work *w, const double *q, int k, double share) {
  double turn;
  for (int j = 0; j < mb->n_jumps; ++j) {
    const int i = mb->twin[j];
    if (i != k && leader_of(mb, q, i, &turn) != k) continue;
    if (i == k) turn = 1.0;
    w->share[j] = turn * mb->turn[j] > 0.0 ? share : 1.0 - share;
  }
}

/* The jumps that are between their sides, one of all twins; at most so many at a time. */
static int list_between(const yoke_multibody *mb, const double *q, int list[MB_MOST_BETWEEN]) {
  int n = 0;
  for (int k = 0; k < mb->n_jumps && n < MB_MOST_BETWEEN; ++k) {
    if (mb->twin[k] == k && mode_of(mb, q, k) == YOKE_JUMP_BETWEEN) list[n++] = k;
  }
  return n;
}

/* A point at which jumps are looked at, in the caller's block. */
typedef struct place {
  const yoke_multibody *mb;
  void                 *work;
  mb_work               w;
  double                t;
  const double         *q, *v, *u;
} place;

static place place_at(const yoke_multibody *mb, void *work, double t, const double *q, const double *v,
                      const double *u) {
  place p = {.mb = mb, .work = work, .t = t, .q = q, .v = v, .u = u};
  mb_work_carve(mb, work, &p.w);
  return p;
}

/* Accelerations into w.rest_a with the shares as they are; poses and variables are those of the place. */
static yoke_status accelerate(const place *p) {
  return mb_derivative_held(p->mb, p->work, p->t, p->q, p->v, p->u, NULL, p->w.rest_a, NULL);
}

/* The same with what is felt as it is in w.felt. */
static yoke_status accelerate_plainly(const place *p) {
  if (p->mb->n_loop == 0) return accelerate(p);
  mb_poses(p->mb, &p->w, p->q, p->v, true);
  mb_ghost_poses(p->mb, &p->w, p->u);
  return mb_respond(p->mb, &p->w, p->t, p->q, p->v, p->u, p->w.rest_a, p->w.lambda);
}

/* B and r of the n jumps of `list`. */
static yoke_status set_up(const place *p, int n, const int *list) {
  const mb_work *w = &p->w;
  mb_kinematics(p->mb, p->q, p->v, w->rest_q);
  for (int j = -1; j < n; ++j) {
    for (int i = 0; i < n; ++i) set_share(p->mb, w, p->q, list[i], i == j ? 1.0 : 0.0);
    YOKE_TRY(accelerate_plainly(p));
    for (int i = 0; i < n; ++i) {
      const double rate = rate_of(p->mb, w, list[i], p->q, w->rest_q, w->rest_a);
      if (j < 0)
        w->rest_r[i] = rate;
      else
        w->rest_B[i * n + j] = rate - w->rest_r[i];
    }
  }
  return YOKE_OK;
}

/* Shares for what is felt as it is, counted from the middle, so that the least ones are those of jumps alike. */
static yoke_status find_plain_shares(const place *p, int n, const int *list) {
  const mb_work *w = &p->w;
  YOKE_TRY(set_up(p, n, list));
  for (int i = 0; i < n; ++i) {
    w->rest_r[i] *= -1.0;
    for (int j = 0; j < n; ++j) w->rest_r[i] -= 0.5 * w->rest_B[i * n + j];
  }
  if (!solve(n, w->rest_B, w->rest_r, w->rest_C, w->rest_x, w->rest_y)) return YOKE_SINGULAR;
  for (int i = 0; i < n; ++i) set_share(p->mb, w, p->q, list[i], 0.5 + w->rest_x[i]);
  return YOKE_OK;
}

enum { MOST_TURNS = 100 };
static const double SAME_SHARE = 1e-13;

static yoke_status find_shares(const place *p, int n, const int *list) {
  double last[MB_MOST_BETWEEN];
  if (p->mb->n_loop == 0) return find_plain_shares(p, n, list);
  for (int i = 0; i < n; ++i) set_share(p->mb, &p->w, p->q, list[i], last[i] = 0.5);
  for (int turn = 0; turn < MOST_TURNS; ++turn) {
    double change = 0.0;
    YOKE_TRY(accelerate(p)); /* what is felt under these shares */
    YOKE_TRY(find_plain_shares(p, n, list));
    for (int i = 0; i < n; ++i) {
      change  = fmax(change, fabs(p->w.share[list[i]] - last[i]) / fmax(1.0, fabs(last[i])));
      last[i] = p->w.share[list[i]];
    }
    if (change <= SAME_SHARE) return YOKE_OK;
  }
  return YOKE_NOT_CONVERGED;
}

yoke_status mb_rest(const yoke_multibody *mb, void *work, double t, const double *q, const double *v, const double *u) {
  int       list[MB_MOST_BETWEEN];
  const int n = mb->n_jumps > 0 ? list_between(mb, q, list) : 0;
  if (n == 0) return YOKE_OK;
  const place p = place_at(mb, work, t, q, v, u);
  return find_shares(&p, n, list);
}

/* ---- for those who change modes ---- */

int yoke_multibody_n_jumps(const yoke_multibody *mb) {
  return mb->n_jumps;
}

int yoke_multibody_n_variables(const yoke_multibody *mb) {
  return mb_n_variables(mb) + 1;
}

bool yoke_multibody_is_kink(const yoke_multibody *mb, int k) {
  return mb->jumps[k].is_kink;
}

void yoke_multibody_jump_name(const yoke_multibody *mb, int k, char *text, size_t size) {
  const int owner = mb->jump_owner[k];
  if (owner < mb->n_loads)
    (void)snprintf(text, size, "load '%s'", mb->loads[owner].load->name);
  else
    (void)snprintf(text, size, "the law of connection '%s'",
                   mb->model->connections[mb->forces[owner - mb->n_loads].connection].name);
}

yoke_jump_mode yoke_multibody_jump_mode(const yoke_multibody *mb, const double *q, int k) {
  return mode_of(mb, q, k);
}

void yoke_multibody_free_jumps(const yoke_multibody *mb, double *q) {
  if (mb->n_jumps > 0) memset(q + mb->i_jump, 0, (size_t)mb->n_jumps * sizeof *q);
}

static void set_twins(const yoke_multibody *mb, double *q, int k, yoke_jump_mode mode) {
  const bool has_side = mode == YOKE_JUMP_LOW || mode == YOKE_JUMP_HIGH;
  for (int j = mb->twin[k]; j < mb->n_jumps; ++j) {
    if (mb->twin[j] == mb->twin[k])
      q[mb->i_jump + j] = has_side ? mb->turn[j] * mb->turn[k] * (double)mode : (double)mode;
  }
}

/* Of all twins. Those that follow go with it. */
static void set_mode(const yoke_multibody *mb, double *q, int k, yoke_jump_mode mode) {
  set_twins(mb, q, k, mode);
  const int    leader = mb->twin[k];
  const double side   = q[mb->i_jump + leader];
  if (mode == YOKE_JUMP_BETWEEN) return;
  for (int j = 0; j < mb->n_jumps; ++j) {
    double turn;
    if (leader_of(mb, q, j, &turn) == leader) set_twins(mb, q, j, (yoke_jump_mode)(int)(turn * side));
  }
}

static void look(const place *p) {
  if (p->mb->n_loop > 0) mb_feel_at(p->mb, p->work, p->t, p->q, p->v, p->u);
  mb_poses(p->mb, &p->w, p->q, p->v, false);
  mb_ghost_poses(p->mb, &p->w, p->u);
  mb_variables(p->mb, &p->w, p->t, p->q, p->v, p->u);
}

yoke_status yoke_multibody_jumps(const yoke_multibody *mb, void *work, double t, const double *q, const double *v,
                                 const double *u, double *value) {
  const place p = place_at(mb, work, t, q, v, u);
  YOKE_TRY(mb_rest(mb, work, t, q, v, u));
  look(&p);
  for (int k = 0; k < mb->n_jumps; ++k) {
    const yoke_jump_mode mode = mode_of(mb, q, k);
    value[k]                  = mode == YOKE_JUMP_BETWEEN || mode == YOKE_JUMP_FOLLOWS
                                    ? p.w.share[k]
                                    : yoke_expression_evaluate(mb->jumps[k].s, p.w.variables, NULL);
  }
  return YOKE_OK;
}

double yoke_multibody_jump_doubt(const yoke_multibody *mb, void *work, double t, const double *q, const double *v,
                                 const double *u, int k, double atol, double rtol) {
  const place p = place_at(mb, work, t, q, v, u);
  look(&p);
  memset(p.w.rest_q, 0, (size_t)mb->nq * sizeof *p.w.rest_q);
  for (int i = 0; i < mb->nv; ++i) p.w.rest_a[i] = 1.0;
  if (change_of(mb, &p.w, k, q, p.w.rest_q, p.w.rest_a, true) > 0.0) return 0.0;
  for (int i = 0; i < mb->nq; ++i) p.w.rest_q[i] = atol + rtol * fabs(q[i]);
  return change_of(mb, &p.w, k, q, p.w.rest_q, p.w.rest_a, true);
}

/* s' of jump k in one of its modes. */
static yoke_status rate_in(const place *p, double *q, int k, yoke_jump_mode mode, double *rate) {
  set_mode(p->mb, q, k, mode);
  YOKE_TRY(mb_rest(p->mb, p->work, p->t, q, p->v, p->u));
  YOKE_TRY(accelerate(p));
  mb_kinematics(p->mb, q, p->v, p->w.rest_q);
  *rate = rate_of(p->mb, &p->w, k, q, p->w.rest_q, p->w.rest_a);
  return YOKE_OK;
}

/* Mode of a jump at s = 0 that cannot stay there, those of the others given. *unable: it would have to stay there, and cannot. */
static yoke_status choose(const place *p, double *q, int k, int *unable) {
  const yoke_jump_mode before = mode_of(p->mb, q, k);
  double               low, high;
  if (p->mb->jumps[k].is_kink && before != YOKE_JUMP_FREE) { /* it goes on */
    set_mode(p->mb, q, k, before == YOKE_JUMP_LOW ? YOKE_JUMP_HIGH : YOKE_JUMP_LOW);
    return YOKE_OK;
  }
  YOKE_TRY(rate_in(p, q, k, YOKE_JUMP_LOW, &low));
  YOKE_TRY(rate_in(p, q, k, YOKE_JUMP_HIGH, &high));
  if (p->mb->jumps[k].is_kink) low = high = 0.5 * (low + high);
  yoke_jump_mode mode = before;
  if (high < 0.0 && low > 0.0)
    *unable = k;
  else if (low < 0.0 && high > 0.0) /* both lead away: it goes on */
    mode = before == YOKE_JUMP_HIGH ? YOKE_JUMP_LOW : YOKE_JUMP_HIGH;
  else if (low > 0.0 || high > 0.0)
    mode = YOKE_JUMP_HIGH;
  else if (low < 0.0 || high < 0.0)
    mode = YOKE_JUMP_LOW;
  else
    mode = YOKE_JUMP_FREE;
  set_mode(p->mb, q, k, mode);
  return YOKE_OK;
}

/* The first of those that are to be settled whose mode does not fit to the others'; *mode: what fits. -1: none. */
static yoke_status find_misfit(const place *p, const yoke_jump_change *change, int *which, yoke_jump_mode *mode) {
  const yoke_multibody *mb = p->mb;
  *which                   = -1;
  YOKE_TRY(mb_rest(mb, p->work, p->t, p->q, p->v, p->u));
  YOKE_TRY(accelerate(p));
  mb_kinematics(mb, p->q, p->v, p->w.rest_q);
  for (int k = 0; k < mb->n_jumps && *which < 0; ++k) {
    if (mb->twin[k] != k) continue;
    const yoke_jump_mode now = mode_of(mb, p->q, k);
    if (now == YOKE_JUMP_BETWEEN && !(p->w.share[k] >= 0.0 && p->w.share[k] <= 1.0)) {
      *which = k;
      *mode  = p->w.share[k] > 0.5 ? YOKE_JUMP_HIGH : YOKE_JUMP_LOW;
    } else if (change[k] == YOKE_JUMP_AT_ZERO && mb->can_rest[k] && (now == YOKE_JUMP_LOW || now == YOKE_JUMP_HIGH)) {
      const double rate = rate_of(mb, &p->w, k, p->q, p->w.rest_q, p->w.rest_a);
      if (!(rate * (double)now < 0.0)) continue;
      *which = k;
      *mode  = YOKE_JUMP_BETWEEN;
    }
  }
  return YOKE_OK;
}

/* Velocities move along what the jumps do until s = 0 exactly for all that are between. */
static yoke_status stop_at_zero(const place *p, double *v) {
  const yoke_multibody *mb = p->mb;
  const mb_work        *w  = &p->w;
  int                   list[MB_MOST_BETWEEN];
  const int             n = list_between(mb, p->q, list);
  if (n == 0) return YOKE_OK;
  if (mb->n_loop > 0) YOKE_TRY(mb_rest(mb, p->work, p->t, p->q, p->v, p->u));
  YOKE_TRY(set_up(p, n, list));
  look(p);
  for (int i = 0; i < n; ++i) w->rest_r[i] = -yoke_expression_evaluate(mb->jumps[list[i]].s, w->variables, NULL);
  if (!solve(n, w->rest_B, w->rest_r, w->rest_C, w->rest_x, w->rest_y)) return YOKE_OK;
  double *const dv = w->rest_v;
  memset(dv, 0, (size_t)mb->nv * sizeof *dv);
  for (int j = -1; j < n; ++j) { /* sum_j x_j (a_j - a_0) */
    double factor = 0.0;
    for (int i = 0; i < n; ++i) {
      set_share(mb, w, p->q, list[i], i == j ? 1.0 : 0.0);
      if (j < 0) factor -= w->rest_x[i];
    }
    YOKE_TRY(accelerate_plainly(p));
    if (j >= 0) factor = w->rest_x[j];
    for (int i = 0; i < mb->nv; ++i) dv[i] += factor * w->rest_a[i];
  }
  for (int i = 0; i < mb->nv; ++i) v[i] += dv[i];
  return YOKE_OK;
}

/* Those at zero whose two sides lead towards each other, with all others on one side, may stay there: first it is assumed that they do. */
static yoke_status assume_rest(const place *p, double *q, const yoke_jump_change *change) {
  const yoke_multibody *mb = p->mb;
  double *const modes = q + mb->i_jump, *const keep = p->w.jump;
  int list[MB_MOST_BETWEEN], n                      = list_between(mb, q, list);
  memcpy(keep, modes, (size_t)mb->n_jumps * sizeof *keep);
  for (int k = 0; k < mb->n_jumps; ++k) {
    if (change[k] == YOKE_JUMP_AT_ZERO || mode_of(mb, q, k) == YOKE_JUMP_BETWEEN) set_mode(mb, q, k, YOKE_JUMP_LOW);
  }
  for (int k = 0; k < mb->n_jumps; ++k) {
    double low, high;
    if (mb->twin[k] != k && keep[mb->twin[k]] == (double)YOKE_JUMP_BETWEEN) keep[k] = (double)YOKE_JUMP_BETWEEN;
    if (mb->twin[k] != k || change[k] != YOKE_JUMP_AT_ZERO || !mb->can_rest[k] || n >= MB_MOST_BETWEEN) continue;
    YOKE_TRY(rate_in(p, q, k, YOKE_JUMP_HIGH, &high));
    YOKE_TRY(rate_in(p, q, k, YOKE_JUMP_LOW, &low));
    if (!(high < low)) continue;
    keep[k] = (double)YOKE_JUMP_BETWEEN;
    ++n;
  }
  memcpy(modes, keep, (size_t)mb->n_jumps * sizeof *keep);
  return YOKE_OK;
}

enum { TRIES = 4 /* per jump */ };

yoke_status yoke_multibody_settle(const yoke_multibody *mb, void *work, double t, double *q, double *v, const double *u,
                                  const yoke_jump_change *change, int *unable) {
  const place p = place_at(mb, work, t, q, v, u);
  *unable       = -1;
  for (int k = 0; k < mb->n_jumps; ++k) {
    if (change[k] == YOKE_JUMP_GOES_LOW) set_mode(mb, q, k, YOKE_JUMP_LOW);
    if (change[k] == YOKE_JUMP_GOES_HIGH) set_mode(mb, q, k, YOKE_JUMP_HIGH);
  }
  YOKE_TRY(assume_rest(&p, q, change));
  for (int k = 0; k < mb->n_jumps; ++k) {
    if (mb->twin[k] == k && change[k] == YOKE_JUMP_AT_ZERO && mode_of(mb, q, k) != YOKE_JUMP_BETWEEN)
      YOKE_TRY(choose(&p, q, k, unable));
  }
  for (int i = 0; i < TRIES * mb->n_jumps; ++i) {
    int            which;
    yoke_jump_mode mode = YOKE_JUMP_FREE;
    YOKE_TRY(find_misfit(&p, change, &which, &mode));
    if (which < 0) break;
    set_mode(mb, q, which, mode);
  }
  return stop_at_zero(&p, v);
}

static const double STILL = 1e-6; /* of its rate before: what stands still */

/* Does the motion stay at the zero of jump k when jump `leader` is held between and k follows it? q and v are those of the place. */
static yoke_status try_follow(const place *p, double *q, double *v, int k, int leader, bool *follows) {
  const yoke_multibody *mb = p->mb;
  double                rate, low, high, with_k;    /* of k; of the leader on both sides, and low with k high */
  YOKE_TRY(rate_in(p, q, k, YOKE_JUMP_LOW, &rate)); /* k has no part in its own rate */
  set_mode(mb, q, leader, YOKE_JUMP_LOW);
  set_mode(mb, q, k, YOKE_JUMP_LOW);
  YOKE_TRY(rate_in(p, q, leader, YOKE_JUMP_HIGH, &high));
  YOKE_TRY(rate_in(p, q, leader, YOKE_JUMP_LOW, &low));
  set_mode(mb, q, k, YOKE_JUMP_HIGH);
  YOKE_TRY(rate_in(p, q, leader, YOKE_JUMP_LOW, &with_k));
  if (!(high < low) || with_k == low) return YOKE_OK; /* it does not lead back, or k does nothing there */
  set_mode(mb, q, leader, YOKE_JUMP_BETWEEN);
  for (int j = mb->twin[k]; j < mb->n_jumps; ++j) {
    if (mb->twin[j] != mb->twin[k]) continue;
    q[mb->i_jump + j] = (with_k < low ? 1.0 : -1.0) * mb->turn[j] * mb->turn[k] * (double)(YOKE_JUMP_FOLLOWS + leader);
  }
  YOKE_TRY(mb_rest(mb, p->work, p->t, p->q, p->v, p->u));
  if (!(p->w.share[leader] >= 0.0 && p->w.share[leader] <= 1.0)) return YOKE_OK;
  YOKE_TRY(stop_at_zero(p, v));
  look(p);
  mb_kinematics(mb, q, v, p->w.rest_q);
  YOKE_TRY(accelerate(p));
  *follows = fabs(rate_of(mb, &p->w, k, q, p->w.rest_q, p->w.rest_a)) <= STILL * fabs(rate);
  return YOKE_OK;
}

yoke_status yoke_multibody_follow(const yoke_multibody *mb, void *work, double t, double *q, double *v, const double *u,
                                  int k, const bool *small, bool *follows) {
  const place   p     = place_at(mb, work, t, q, v, u);
  double *const modes = q + mb->i_jump, *const keep = p.w.jump;
  *follows = false;
  k        = mb->twin[k];
  for (int j = 0; j < mb->n_jumps && !*follows; ++j) {
    if (mb->twin[j] != j || j == k || !mb->can_rest[j] || !small[j]) continue;
    memcpy(keep, modes, (size_t)mb->n_jumps * sizeof *keep);
    const yoke_status status = try_follow(&p, q, v, k, j, follows);
    if (!*follows) memcpy(modes, keep, (size_t)mb->n_jumps * sizeof *keep);
    if (status < 0) return status;
  }
  return YOKE_OK;
}

static const double OUT = 1e-9; /* a share that is so far beyond 0 or 1 has left */

/* What a jump that takes part in no change yet asks for. */
static yoke_jump_change asked_of(yoke_jump_mode mode, double value) {
  if (mode == YOKE_JUMP_FREE)
    return value > 0.0 ? YOKE_JUMP_GOES_HIGH : value < 0.0 ? YOKE_JUMP_GOES_LOW : YOKE_JUMP_AT_ZERO;
  if (mode != YOKE_JUMP_BETWEEN || !(fabs(value - 0.5) > 0.5 + OUT)) return YOKE_JUMP_STAYS;
  return value > 0.5 ? YOKE_JUMP_GOES_HIGH : YOKE_JUMP_GOES_LOW;
}

yoke_status yoke_multibody_begin_jumps(const yoke_multibody *mb, void *work, double t, double *q, double *v,
                                       const double *u) {
  const place p     = place_at(mb, work, t, q, v, u);
  bool        needs = false;
  int         unable;
  for (int k = 0; k < mb->n_jumps; ++k) {
    const yoke_jump_mode mode = mode_of(mb, q, k);
    needs                     = needs || mode == YOKE_JUMP_FREE || mode == YOKE_JUMP_BETWEEN;
  }
  if (!needs) return YOKE_OK;
  YOKE_TRY(yoke_multibody_jumps(mb, work, t, q, v, u, p.w.jump));
  needs = false;
  for (int k = 0; k < mb->n_jumps; ++k) {
    p.w.change[k] = asked_of(mode_of(mb, q, k), p.w.jump[k]);
    needs         = needs || p.w.change[k] != YOKE_JUMP_STAYS;
  }
  return needs ? yoke_multibody_settle(mb, work, t, q, v, u, p.w.change, &unable) : YOKE_OK;
}
