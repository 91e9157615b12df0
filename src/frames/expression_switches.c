/* Switching times of an expression: its program is run with functions of time in place of numbers. */
#include "frames/expression_program.h"
#include "frames/switches.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

typedef enum shape_kind {
  SHAPE_CONSTANT, /* b */
  SHAPE_LINEAR,   /* a t + b */
  SHAPE_SAW,      /* a (t - start) + b for t in [start, start + period), and again */
  SHAPE_WAVE,     /* a sin(omega t + phase) + b */
  SHAPE_OTHER     /* a function of states, or one whose zeros are not sought */
} shape_kind;

typedef struct shape {
  shape_kind kind;
  double     a, b, start, period, omega, phase;
} shape;

static const shape other = {.kind = SHAPE_OTHER};

static shape constant(double value) {
  return (shape){.kind = SHAPE_CONSTANT, .b = value};
}

static shape scaled(shape x, double factor) {
  if (factor == 0.0) return constant(0.0);
  x.a *= factor;
  x.b *= factor;
  return x;
}

static shape sum(shape x, shape y) {
  if (x.kind == SHAPE_OTHER || y.kind == SHAPE_OTHER) return other;
  if (x.kind == SHAPE_CONSTANT || y.kind == SHAPE_CONSTANT) {
    shape out = x.kind == SHAPE_CONSTANT ? y : x;
    out.b     = x.b + y.b;
    return out;
  }
  if (x.kind != SHAPE_LINEAR || y.kind != SHAPE_LINEAR) return other;
  x.a += y.a;
  x.b += y.b;
  return x.a == 0.0 ? constant(x.b) : x;
}

/* ---- switches ---- */

/* Zeros of a shape. */
static bool add_zeros(yoke_switches *s, const shape *x) {
  switch (x->kind) {
  case SHAPE_LINEAR: return yoke_switches_add(s, -x->b / x->a, 0.0, false);
  case SHAPE_SAW: {
    const double at = -x->b / x->a;
    return !(at > 0.0 && at < x->period) || yoke_switches_add(s, x->start + at, x->period, false);
  }
  case SHAPE_WAVE: {
    if (!(fabs(x->b) < fabs(x->a))) return true;
    const double angle = asin(-x->b / x->a), period = 2.0 * pi / fabs(x->omega);
    return yoke_switches_add(s, (angle - x->phase) / x->omega, period, false) &&
           yoke_switches_add(s, (pi - angle - x->phase) / x->omega, period, false);
  }
  case SHAPE_CONSTANT:
  case SHAPE_OTHER: break;
  }
  return true;
}

/* floor, ceil: jumps where the argument is a whole number. */
static bool add_whole(yoke_switches *s, const shape *x) {
  return x->kind != SHAPE_LINEAR || yoke_switches_add(s, -x->b / x->a, 1.0 / fabs(x->a), false);
}

/* tanh: its edge. */
static bool add_edge(yoke_switches *s, const shape *x) {
  if (x->kind != SHAPE_LINEAR) return true;
  const double middle = -x->b / x->a, half = YOKE_EDGE_OF_TANH / fabs(x->a);
  return yoke_switches_add(s, middle - half, 0.0, true) && yoke_switches_add(s, middle + half, 0.0, true);
}

/* mod(x, m): a saw that jumps where x is a multiple of m. Its sign is that of m. */
static shape saw(yoke_switches *s, const shape *x, const shape *m, bool *ok) {
  if (x->kind != SHAPE_LINEAR || m->kind != SHAPE_CONSTANT || m->b == 0.0) return other;
  const shape out = {.kind   = SHAPE_SAW,
                     .a      = x->a,
                     .b      = x->a / m->b > 0.0 ? 0.0 : m->b,
                     .start  = -x->b / x->a,
                     .period = fabs(m->b / x->a)};
  *ok             = *ok && yoke_switches_add(s, out.start, out.period, false);
  return out;
}

/* ---- operators ---- */

static shape unary(yoke_switches *s, const yoke_instruction *i, const shape *x, bool *ok) {
  if (x->kind == SHAPE_CONSTANT) return constant(yoke_opcode_unary(i->op, i->number, x->b));
  switch (i->op) {
  case YOKE_OP_NEGATE: return scaled(*x, -1.0);
  case YOKE_OP_ABS:
  case YOKE_OP_SIGN:
  case YOKE_OP_STEP: *ok = *ok && add_zeros(s, x); return other;
  case YOKE_OP_FLOOR:
  case YOKE_OP_CEIL: *ok = *ok && add_whole(s, x); return other;
  case YOKE_OP_TANH: *ok = *ok && add_edge(s, x); return other;
  case YOKE_OP_SIN:
  case YOKE_OP_COS:
    if (x->kind != SHAPE_LINEAR) return other;
    return (shape){.kind = SHAPE_WAVE, .a = 1.0, .omega = x->a, .phase = i->op == YOKE_OP_SIN ? x->b : x->b + 0.5 * pi};
  default: return other;
  }
}

static shape binary(yoke_switches *s, int op, const shape *x, const shape *y, bool *ok) {
  if (x->kind == SHAPE_CONSTANT && y->kind == SHAPE_CONSTANT) return constant(yoke_opcode_binary(op, x->b, y->b));
  switch (op) {
  case YOKE_OP_ADD: return sum(*x, *y);
  case YOKE_OP_SUBTRACT: return sum(*x, scaled(*y, -1.0));
  case YOKE_OP_MULTIPLY:
    if (x->kind == SHAPE_CONSTANT) return scaled(*y, x->b);
    return y->kind == SHAPE_CONSTANT ? scaled(*x, y->b) : other;
  case YOKE_OP_DIVIDE: return y->kind == SHAPE_CONSTANT && y->b != 0.0 ? scaled(*x, 1.0 / y->b) : other;
  case YOKE_OP_MOD: return saw(s, x, y, ok);
  case YOKE_OP_MIN:
  case YOKE_OP_MAX:
  case YOKE_OP_LESS:
  case YOKE_OP_LESS_EQUAL:
  case YOKE_OP_GREATER:
  case YOKE_OP_GREATER_EQUAL:
  case YOKE_OP_EQUAL:
  case YOKE_OP_NOT_EQUAL: {
    const shape difference = sum(*x, scaled(*y, -1.0));
    *ok                    = *ok && add_zeros(s, &difference);
    return other;
  }
  default: return other;
  }
}

/* The function of time that the expression is; its switches are added on the way. */
static shape follow(yoke_switches *s, const yoke_expression *expression, int variable, bool *ok) {
  shape                   stack[YOKE_PROGRAM_STACK] = {{0}};
  int                     n, depth = 0;
  const yoke_instruction *program = yoke_expression_program(expression, &n);
  for (int k = 0; k < n && *ok; ++k) {
    const yoke_instruction *i = &program[k];
    if (i->op == YOKE_OP_CONSTANT) {
      stack[depth++] = constant(i->u.value);
    } else if (i->op == YOKE_OP_VARIABLE) {
      stack[depth++] = i->number == variable ? (shape){.kind = SHAPE_LINEAR, .a = 1.0} : other;
    } else if (i->op == YOKE_OP_SELECT) {
      depth -= 2;
      stack[depth - 1] = other;
    } else if (i->op >= YOKE_OP_ADD) {
      --depth;
      stack[depth - 1] = binary(s, i->op, &stack[depth - 1], &stack[depth], ok);
    } else {
      stack[depth - 1] = unary(s, i, &stack[depth - 1], ok);
    }
  }
  return stack[0];
}

bool yoke_switches_add_expression(yoke_switches *s, const yoke_expression *expression, int variable) {
  bool ok = true;
  (void)follow(s, expression, variable, &ok);
  return ok;
}

bool yoke_switches_add_zeros(yoke_switches *s, const yoke_expression *expression, int variable) {
  bool        ok    = true;
  const shape whole = follow(s, expression, variable, &ok);
  return ok && add_zeros(s, &whole);
}
