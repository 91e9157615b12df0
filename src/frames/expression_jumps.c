#include "frames/expression_jumps.h"

#include "base/memory.h"
#include "frames/expression_program.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What an operator gives on both sides of its switching function; false: it is none that can be held. */
static bool sides(int op, double *low, double *high) {
  *low  = op == YOKE_OP_SIGN ? -1.0 : 0.0;
  *high = 1.0;
  switch (op) {
  case YOKE_OP_ABS: *low = -1.0; return true;
  case YOKE_OP_MIN:
    *low  = 1.0;
    *high = 0.0;
    return true;
  case YOKE_OP_SIGN:
  case YOKE_OP_STEP:
  case YOKE_OP_MAX:
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
  yoke_instruction       *program; /* [MAX_PROGRAM] */
  int                     n;       /* beyond MAX_PROGRAM: too long */
  operand                 stack[YOKE_PROGRAM_STACK];
  int                     top;
  int                     n_met;
  const bool             *left_out; /* [n_met] not held; NULL: all are */
  const bool             *is_kink;  /* [n_met] NULL: not known yet */
  yoke_jump              *jumps;
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

enum { MAX_PROGRAM = 4096 };

static void put(rewriting *r, yoke_instruction i) {
  if (r->n < MAX_PROGRAM) r->program[r->n] = i;
  ++r->n;
}

/* Once more what was written from `start` up to `end`. */
static void repeat(rewriting *r, int start, int end) {
  for (int i = start; i < end && r->n < MAX_PROGRAM; ++i) put(r, r->program[i]);
  if (r->n == MAX_PROGRAM) ++r->n;
}

/* s of the operator whose operands were written last: a, or a - b. NULL: no memory, or too long. */
static yoke_expression *switching(rewriting *r, int start, bool is_difference) {
  const int keep = r->n;
  if (is_difference) put(r, (yoke_instruction){.op = YOKE_OP_SUBTRACT});
  yoke_expression *s =
      r->n <= MAX_PROGRAM ? yoke_expression_with_program(r->expression, r->n - start, r->program + start) : NULL;
  r->n = keep;
  return s;
}

static void put_held(rewriting *r, int op) {
  put(r, (yoke_instruction){.op = op});
  put(r, (yoke_instruction){.op = YOKE_OP_VARIABLE, .number = r->first + r->n_jumps++});
  put(r, (yoke_instruction){.op = YOKE_OP_HOLD});
}

/* The operator, held, with operands a and b (if it has two), which end where the program does. */
static void hold_operator(rewriting *r, int op, int start) {
  const int end = r->n;
  switch (op) {
  case YOKE_OP_ABS: /* a sign(a) */
    repeat(r, start, end);
    put_held(r, YOKE_OP_SIGN);
    put(r, (yoke_instruction){.op = YOKE_OP_MULTIPLY});
    break;
  case YOKE_OP_MIN:
  case YOKE_OP_MAX: /* if(a <= b, a, b) */
    put_held(r, op == YOKE_OP_MIN ? YOKE_OP_LESS_EQUAL : YOKE_OP_GREATER_EQUAL);
    repeat(r, start, end);
    put(r, (yoke_instruction){.op = YOKE_OP_BLEND});
    break;
  default: put_held(r, op); break;
  }
}

/* Instruction i with operands a ...; its result takes the place of a. */
static bool rewrite(rewriting *r, const yoke_instruction *i) {
  const int n_operands = yoke_opcode_n_operands(i->op);
  operand  *a          = &r->stack[r->top - n_operands];
  operand   out        = {.start = n_operands > 0 ? a->start : r->n};
  double    low, high;
  for (int k = 0; k < n_operands; ++k) out.varies = out.varies || a[k].varies;
  if (i->op == YOKE_OP_VARIABLE) out.varies = i->number != r->time;
  out.is_boolean      = is_condition(i->op);
  const bool switches = sides(i->op, &low, &high) && out.varies;
  const bool holds    = switches && !(r->left_out != NULL && r->left_out[r->n_met]);
  if (switches) ++r->n_met;
  if (holds) {
    yoke_expression *s = switching(r, out.start, n_operands == 2);
    if (s == NULL && r->n < MAX_PROGRAM) return false;
    r->jumps[r->n_jumps] = (yoke_jump){s, low, high, r->is_kink != NULL && r->is_kink[r->n_met - 1]};
    hold_operator(r, i->op, out.start);
  } else if (i->op == YOKE_OP_NOT && a->is_boolean) { /* 1 - a */
    put(r, (yoke_instruction){.op = YOKE_OP_NEGATE});
    put(r, (yoke_instruction){.op = YOKE_OP_CONSTANT, .u.value = 1.0});
    put(r, (yoke_instruction){.op = YOKE_OP_ADD});
  } else {
    yoke_instruction same = *i;
    same.op               = mixing(i->op, a, a + 1);
    put(r, same);
  }
  r->top += 1 - n_operands;
  r->stack[r->top - 1] = out;
  return true;
}

/* Can the machine run the program? */
static bool fits(const rewriting *r) {
  int height = 0, highest = 0;
  if (r->n > MAX_PROGRAM) return false;
  for (int k = 0; k < r->n; ++k) {
    height += 1 - yoke_opcode_n_operands(r->program[k].op);
    if (height > highest) highest = height;
  }
  return highest <= YOKE_PROGRAM_STACK;
}

static bool rewrite_all(rewriting *r) {
  r->n = r->top = r->n_met = r->n_jumps = 0;
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

/* Moves the variables to s = 0 along the gradient of s; those that are NaN, free jumps, stay. false: there is no such place near. */
static bool go_to_zero(const yoke_expression *s, double *variables, double *gradient) {
  const int  n      = yoke_expression_n_variables(s);
  const int *number = yoke_expression_variables(s);
  for (int i = 0; i < MAX_NEWTON; ++i) {
    const double value = yoke_expression_evaluate(s, variables, gradient);
    double       sum = 0.0, size = 0.0;
    for (int k = 0; k < n; ++k) {
      if (isnan(variables[number[k]])) gradient[k] = 0.0;
      sum += gradient[k] * gradient[k];
      if (gradient[k] != 0.0) size += fabs(gradient[k] * variables[number[k]]);
    }
    if (fabs(value) <= 1e-13 * size) return true;
    if (!(sum > 0.0) || !isfinite(value)) return false;
    for (int k = 0; k < n; ++k) variables[number[k]] -= value * gradient[k] / sum;
  }
  return false;
}

/* `held` and its gradient on both sides of a jump. */
typedef struct both {
  double  low, high;
  double *by_low, *by_high; /* [n] of held's variables */
} both;

/* Variable number `at` holds the jump. */
static void look_at_both(const yoke_expression *held, const yoke_jump *jump, int at, double *variables, both *out) {
  variables[at] = jump->low;
  out->low      = yoke_expression_evaluate(held, variables, out->by_low);
  variables[at] = jump->high;
  out->high     = yoke_expression_evaluate(held, variables, out->by_high);
  variables[at] = (double)NAN;
}

/* Largest of the derivatives, and of their differences, by variables before `first`. */
static double largest_slope(const yoke_expression *held, int first, const both *x, bool of_difference) {
  double most = 0.0;
  for (int i = 0; i < yoke_expression_n_variables(held); ++i) {
    if (yoke_expression_variables(held)[i] >= first) break;
    const double slope =
        of_difference ? fabs(x->by_high[i] - x->by_low[i]) : fmax(fabs(x->by_low[i]), fabs(x->by_high[i]));
    if (!(slope <= most)) most = slope;
  }
  return most;
}

typedef enum corner { SMOOTH, KINK, JUMP } corner;

/* What `held` does where s = 0 of jump k, more than by rounding of what it is elsewhere. `room`: four arrays of n_all. */
static corner corner_at(const yoke_expression *held, const yoke_jump *jump, int k, int first, int n_jumps, int n_all,
                        double *room) {
  double  *variables = room, *gradient = room + n_all;
  both     x     = {.by_low = room + 2 * (size_t)n_all, .by_high = room + 3 * (size_t)n_all};
  uint32_t seed  = 1;
  int      found = 0;
  corner   out   = SMOOTH;
  for (int place = 0; place < N_PLACES && out != JUMP; ++place) {
    for (int i = 0; i < n_all; ++i) variables[i] = pseudo_random(&seed);
    for (int i = 0; i < n_jumps; ++i) variables[first + i] = (double)NAN;
    look_at_both(held, jump, first + k, variables, &x);
    const double size = fabs(x.low) + fabs(x.high), slope = largest_slope(held, first, &x, false);
    if (!go_to_zero(jump->s, variables, gradient)) continue;
    look_at_both(held, jump, first + k, variables, &x);
    if (!isfinite(x.low) && !isfinite(x.high)) continue; /* a power of a negative number: no place of the motion */
    ++found;
    if (!(fabs(x.high - x.low) <= ROUNDING * (isfinite(size) ? size : 0.0)))
      out = JUMP;
    else if (!(largest_slope(held, first, &x, true) <= ROUNDING * (isfinite(slope) ? slope : 0.0)))
      out = KINK;
  }
  return found > 0 ? out : JUMP;
}

static int largest_variable(const yoke_expression *e) {
  const int n = yoke_expression_n_variables(e);
  return n > 0 ? yoke_expression_variables(e)[n - 1] : 0;
}

static void forget(yoke_jump *jumps, int n) {
  for (int k = 0; k < n; ++k) yoke_expression_destroy(&jumps[k].s);
}

/* Which jumps are left out because all is smooth, and which are kinks. `r` has held all of them. */
static bool find_corners(const rewriting *r, bool *left_out, bool *is_kink) {
  yoke_expression *held  = yoke_expression_with_program(r->expression, r->n, r->program);
  const int        n_all = held != NULL ? largest_variable(held) + 1 : 0;
  double          *room  = calloc(4 * (size_t)n_all + 1, sizeof *room);
  const bool       is_ok = held != NULL && room != NULL;
  for (int k = 0; is_ok && k < r->n_jumps; ++k) {
    const corner found = corner_at(held, &r->jumps[k], k, r->first, r->n_jumps, n_all, room);
    left_out[k]        = found == SMOOTH;
    is_kink[k]         = found == KINK;
  }
  free(room);
  yoke_expression_destroy(&held);
  return is_ok;
}

/* Once all are held: hold those that matter. */
static bool hold_corners(rewriting *r, yoke_expression **out) {
  bool *marks = calloc(2 * (size_t)r->n_jumps + 1, sizeof *marks);
  bool  is_ok = marks != NULL && find_corners(r, marks, marks + r->n_jumps);
  r->left_out = marks;
  r->is_kink  = marks != NULL ? marks + r->n_jumps : NULL;
  forget(r->jumps, r->n_jumps);
  is_ok = is_ok && rewrite_all(r);
  if (is_ok && r->n_jumps > 0) *out = yoke_expression_with_program(r->expression, r->n, r->program);
  free(marks);
  return is_ok && (r->n_jumps == 0 || *out != NULL);
}

yoke_status yoke_expression_hold(const yoke_expression *expression, int time, int first, yoke_jump *jumps, int *n,
                                 yoke_expression **out) {
  rewriting r = {.expression = expression, .time = time, .first = first, .jumps = jumps};
  *n          = 0;
  *out        = NULL;
  r.old       = yoke_expression_program(expression, &r.n_old);
  r.program   = calloc(MAX_PROGRAM, sizeof *r.program);
  bool is_ok  = r.program != NULL && rewrite_all(&r);
  if (is_ok && r.n_jumps > 0 && fits(&r)) is_ok = hold_corners(&r, out);
  if (*out != NULL)
    *n = r.n_jumps;
  else
    forget(jumps, r.n_jumps);
  free(r.program);
  return is_ok ? YOKE_OK : YOKE_E_MEMORY;
}

yoke_status yoke_jumps_find(const yoke_expression *expression, int time, int first, yoke_jump **jumps, int *n) {
  const int        most = yoke_expression_most_jumps(expression);
  yoke_expression *held = NULL;
  *jumps                = NULL;
  *n                    = 0;
  if (most == 0) return YOKE_OK;
  *jumps = yoke_allocate((size_t)most, sizeof **jumps);
  if (*jumps == NULL) return YOKE_E_MEMORY;
  const yoke_status status = yoke_expression_hold(expression, time, first, *jumps, n, &held);
  yoke_expression_destroy(&held);
  if (status != YOKE_OK) *n = 0;
  if (*n == 0) yoke_jumps_destroy(jumps, 0);
  return status;
}

void yoke_jumps_destroy(yoke_jump **jumps, int n) {
  for (int i = 0; i < n; ++i) yoke_expression_destroy(&(*jumps)[i].s);
  free(*jumps);
  *jumps = NULL;
}
