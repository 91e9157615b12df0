#include "frames/expression_jumps.h"

#include "frames/expression_program.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What an operator gives on both sides of its switching function; false: it is none that can be held. */
static bool sides(int op, double *low, double *high) {
  *low  = op == YOKE_OP_SIGN ? -1.0 : 0.0;
  *high = 1.0;
  switch (op) {
  case YOKE_OP_SIGN:
  case YOKE_OP_STEP:
  case YOKE_OP_GREATER:
  case YOKE_OP_GREATER_EQUAL: return true;
  case YOKE_OP_LESS:
  case YOKE_OP_LESS_EQUAL:
    *low  = 1.0;
    *high = 0.0;
    return true;
  default: return false;
  }
}

/* An operand while the program is rewritten. */
typedef struct operand {
  int  start;      /* of its instructions in the new program */
  bool varies;     /* not with the time alone */
  bool is_boolean; /* 0 or 1, between them while a jump is held there */
} operand;

typedef struct rewriting {
  const yoke_expression  *expression;
  const yoke_instruction *old;
  int                     n_old, time, first;
  yoke_instruction       *program; /* room for 3 n_old + 1 */
  int                     n;
  operand                 stack[YOKE_PROGRAM_STACK];
  int                     top, highest;
  int                     n_met;
  const bool             *left_out; /* [n_met] not held; NULL: all are */
  yoke_jump              *jumps;    /* NULL: not wanted */
  int                     n_jumps;
} rewriting;

static int is_condition(int op) {
  return op == YOKE_OP_STEP || op == YOKE_OP_NOT || (op >= YOKE_OP_LESS && op <= YOKE_OP_OR);
}

/* The operators that mix what lies between 0 and 1. */
static int mixing(int op, const operand *a, const operand *b) {
  if (op == YOKE_OP_SELECT && a->is_boolean) return YOKE_OP_BLEND;
  if (op == YOKE_OP_AND && a->is_boolean && b->is_boolean) return YOKE_OP_MIN;
  if (op == YOKE_OP_OR && a->is_boolean && b->is_boolean) return YOKE_OP_MAX;
  return op;
}

static void put(rewriting *r, yoke_instruction i) {
  r->program[r->n++] = i;
}

/* s of the operator whose operands were written last: a, or a - b. */
static yoke_expression *switching(rewriting *r, int start, bool is_comparison) {
  const int keep = r->n;
  if (is_comparison) put(r, (yoke_instruction){.op = YOKE_OP_SUBTRACT});
  yoke_expression *s = yoke_expression_with_program(r->expression, r->n - start, r->program + start);
  r->n               = keep;
  return s;
}

/* Instruction i with operands a ...; its result takes the place of a. */
static bool rewrite(rewriting *r, const yoke_instruction *i) {
  const int n_operands = yoke_opcode_n_operands(i->op);
  operand  *a          = &r->stack[r->top - n_operands];
  operand   out        = {.start = n_operands > 0 ? a->start : r->n};
  double    low, high;
  for (int k = 0; k < n_operands; ++k) out.varies = out.varies || a[k].varies;
  if (i->op == YOKE_OP_VARIABLE) out.varies = i->number != r->time;
  out.is_boolean   = is_condition(i->op);
  const bool jumps = sides(i->op, &low, &high) && out.varies;
  const bool holds = jumps && !(r->left_out != NULL && r->left_out[r->n_met]);
  if (jumps) ++r->n_met;
  if (holds && r->jumps != NULL) {
    yoke_expression *s = switching(r, a->start, n_operands == 2);
    if (s == NULL) return false;
    r->jumps[r->n_jumps] = (yoke_jump){s, low, high};
  }
  const bool is_not = i->op == YOKE_OP_NOT && a->is_boolean; /* 1 - a */
  if (is_not) {
    put(r, (yoke_instruction){.op = YOKE_OP_NEGATE});
    put(r, (yoke_instruction){.op = YOKE_OP_CONSTANT, .u.value = 1.0});
    put(r, (yoke_instruction){.op = YOKE_OP_ADD});
  } else {
    yoke_instruction same = *i;
    same.op               = mixing(i->op, a, a + 1);
    put(r, same);
  }
  if (holds) {
    put(r, (yoke_instruction){.op = YOKE_OP_VARIABLE, .number = r->first + r->n_jumps++});
    put(r, (yoke_instruction){.op = YOKE_OP_HOLD});
  }
  r->top += 1 - n_operands;
  r->stack[r->top - 1] = out;
  if (r->top + (holds || is_not ? 1 : 0) > r->highest) r->highest = r->top + (holds || is_not ? 1 : 0);
  return true;
}

static bool rewrite_all(rewriting *r) {
  r->n = r->top = r->highest = r->n_met = r->n_jumps = 0;
  for (int k = 0; k < r->n_old; ++k) {
    if (!rewrite(r, &r->old[k])) return false;
  }
  return true;
}

int yoke_expression_most_jumps(const yoke_expression *expression) {
  int                     n, count = 0;
  double                  low, high;
  const yoke_instruction *program = yoke_expression_program(expression, &n);
  for (int k = 0; k < n; ++k) count += sides(program[k].op, &low, &high);
  return count;
}

/* ---- jump or kink? ---- */

enum { N_PLACES = 6, MAX_NEWTON = 20 };
static const double ROUNDING = 1e-9;

static double pseudo_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return 2.0 * ((double)(*seed >> 8) / 16777216.0) - 1.0;
}

/* Moves the variables to s = 0 along the gradient of s; false: there is none near. */
static bool go_to_zero(const yoke_expression *s, double *variables, double *gradient) {
  const int  n      = yoke_expression_n_variables(s);
  const int *number = yoke_expression_variables(s);
  for (int i = 0; i < MAX_NEWTON; ++i) {
    const double value = yoke_expression_evaluate(s, variables, gradient);
    double       sum = 0.0, size = 0.0;
    for (int k = 0; k < n; ++k) {
      sum += gradient[k] * gradient[k];
      size += fabs(gradient[k] * variables[number[k]]);
    }
    if (fabs(value) <= 1e-13 * size) return true;
    if (!(sum > 0.0) || !isfinite(value)) return false;
    for (int k = 0; k < n; ++k) variables[number[k]] -= value * gradient[k] / sum;
  }
  return false;
}

/* Values of `held` on both sides of a jump, which variable number `at` holds. */
static void both_values(const yoke_expression *held, const yoke_jump *jump, int at, double *variables, double *low,
                        double *high) {
  variables[at] = jump->low;
  *low          = yoke_expression_evaluate(held, variables, NULL);
  variables[at] = jump->high;
  *high         = yoke_expression_evaluate(held, variables, NULL);
  variables[at] = (double)NAN;
}

/* Does the value of `held` change by jump k where its s = 0, more than by rounding of what it is elsewhere? variables and gradient have room for all. */
static bool is_jump(const yoke_expression *held, const yoke_jump *jump, int k, int first, int n_jumps, int n_all,
                    double *variables, double *gradient) {
  uint32_t seed  = 1;
  int      found = 0;
  double   low, high;
  for (int place = 0; place < N_PLACES; ++place) {
    for (int i = 0; i < n_all; ++i) variables[i] = pseudo_random(&seed);
    for (int i = 0; i < n_jumps; ++i) variables[first + i] = (double)NAN;
    both_values(held, jump, first + k, variables, &low, &high);
    const double size = fabs(low) + fabs(high);
    if (!go_to_zero(jump->s, variables, gradient)) continue;
    ++found;
    both_values(held, jump, first + k, variables, &low, &high);
    if (!(fabs(high - low) <= ROUNDING * (isfinite(size) ? size : 0.0))) return true;
  }
  return found == 0;
}

static int largest_variable(const yoke_expression *e) {
  const int n = yoke_expression_n_variables(e);
  return n > 0 ? yoke_expression_variables(e)[n - 1] : 0;
}

static void forget(yoke_jump *jumps, int n) {
  for (int k = 0; k < n; ++k) yoke_expression_destroy(&jumps[k].s);
}

/* Marks jumps that are kinks. `r` has held all of them. */
static bool find_kinks(const rewriting *r, bool *left_out) {
  yoke_expression *held  = yoke_expression_with_program(r->expression, r->n, r->program);
  const int        n_all = held != NULL ? largest_variable(held) + 1 : 0;
  double          *room  = calloc(2 * (size_t)n_all + 1, sizeof *room);
  const bool       is_ok = held != NULL && room != NULL;
  for (int k = 0; is_ok && k < r->n_jumps; ++k)
    left_out[k] = !is_jump(held, &r->jumps[k], k, r->first, r->n_jumps, n_all, room, room + n_all);
  free(room);
  yoke_expression_destroy(&held);
  return is_ok;
}

yoke_status yoke_expression_hold(const yoke_expression *expression, int time, int first, yoke_jump *jumps, int *n,
                                 yoke_expression **out) {
  rewriting r        = {.expression = expression, .time = time, .first = first, .jumps = jumps};
  bool     *left_out = NULL, is_ok;
  *n                 = 0;
  *out               = NULL;
  r.old              = yoke_expression_program(expression, &r.n_old);
  r.program          = calloc(3 * (size_t)r.n_old + 1, sizeof *r.program);
  is_ok              = r.program != NULL && rewrite_all(&r);
  if (is_ok && r.n_jumps > 0 && r.highest <= YOKE_PROGRAM_STACK) {
    left_out = calloc((size_t)r.n_jumps, sizeof *left_out);
    is_ok    = left_out != NULL && find_kinks(&r, left_out);
    forget(jumps, r.n_jumps);
    r.left_out = left_out;
    if (is_ok) is_ok = rewrite_all(&r);
    if (is_ok && r.n_jumps > 0) {
      *out  = yoke_expression_with_program(expression, r.n, r.program);
      is_ok = *out != NULL;
    }
    *n = r.n_jumps;
  } else if (is_ok) {
    forget(jumps, r.n_jumps);
  }
  if (!is_ok) {
    forget(jumps, r.n_jumps);
    *n = 0;
  }
  free(left_out);
  free(r.program);
  return is_ok ? YOKE_OK : YOKE_E_MEMORY;
}
