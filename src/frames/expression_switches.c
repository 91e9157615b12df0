/* Switching times of an expression: its program is run with functions of time in place of numbers. */
#include "frames/expression_program.h"
#include "frames/expression_roots.h"
#include "frames/switches.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

typedef enum shape_kind {
  SHAPE_CONSTANT, /* b */
  SHAPE_LINEAR,   /* a t + b */
  SHAPE_SAW,      /* a (t - start) + b for t in [start, start + period), and again */
  SHAPE_WAVE,     /* a sin(omega t + phase) + b */
  SHAPE_LINES,    /* lines one after another, which may jump in between: min, max, abs, step, if of such */
  SHAPE_OTHER     /* a function of states, or one whose zeros are not sought */
} shape_kind;

enum { MOST_LINES = 16 }; /* a shape with more of them is another */

typedef struct line {
  double a, b; /* a t + b ... */
  double end;  /* ... up to this time; +infinity: the last one */
} line;

typedef struct shape {
  shape_kind kind;
  double     a, b, start, period, omega, phase;
  int        n;
  line       lines[MOST_LINES];
} shape;

static const shape other = {.kind = SHAPE_OTHER};

static shape constant(double value) {
  return (shape){.kind = SHAPE_CONSTANT, .b = value};
}

static shape scaled(shape x, double factor) {
  if (factor == 0.0) return constant(0.0);
  x.a *= factor;
  x.b *= factor;
  for (int k = 0; k < x.n; ++k) {
    x.lines[k].a *= factor;
    x.lines[k].b *= factor;
  }
  return x;
}

/* Both as they are but for lines, or other. */
static shape plain_sum(shape x, shape y) {
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

/* ---- lines ---- */

static bool is_lines(const shape *x) {
  return x->kind == SHAPE_CONSTANT || x->kind == SHAPE_LINEAR || x->kind == SHAPE_LINES;
}

/* The line of x that holds behind t. */
static line line_behind(const shape *x, double t) {
  int k = 0;
  if (x->kind == SHAPE_CONSTANT) return (line){0.0, x->b, (double)INFINITY};
  if (x->kind == SHAPE_LINEAR) return (line){x->a, x->b, (double)INFINITY};
  while (x->lines[k].end <= t) ++k;
  return x->lines[k];
}

static bool append(shape *x, line next) {
  line *last = &x->lines[x->n - 1];
  if (x->n > 0 && last->a == next.a && last->b == next.b) {
    last->end = next.end;
    return true;
  }
  if (x->n == MOST_LINES) return false;
  x->lines[x->n++] = next;
  return true;
}

/* Sign of a line that has no zero between `from` and its end. */
static double sign_of(line d, double from) {
  const bool   begins = isfinite(from), ends = isfinite(d.end);
  const double inside = begins && ends ? 0.5 * (from + d.end)
                        : begins       ? from + 1.0 + fabs(from)
                        : ends         ? d.end - 1.0 - fabs(d.end)
                                       : 0.0;
  const double value  = d.a * inside + d.b;
  return value > 0.0 ? 1.0 : value < 0.0 ? -1.0 : 0.0;
}

/* x op y, where x - y has this sign. */
static line chosen(int op, line x, line y, double sign, double end) {
  const bool is_true = (op == YOKE_OP_LESS && sign < 0.0) || (op == YOKE_OP_LESS_EQUAL && sign <= 0.0) ||
                       (op == YOKE_OP_GREATER && sign > 0.0) || (op == YOKE_OP_GREATER_EQUAL && sign >= 0.0) ||
                       (op == YOKE_OP_EQUAL && sign == 0.0) || (op == YOKE_OP_NOT_EQUAL && sign != 0.0);
  line out = {0.0, is_true ? 1.0 : 0.0, end};
  if (op == YOKE_OP_MIN || op == YOKE_OP_MAX) out = (sign < 0.0) == (op == YOKE_OP_MIN) ? x : y;
  out.end = end;
  return out;
}

/* x op y between `from` and the end of the line `difference`, x - y; a zero of it in between is a switch. */
static bool append_choice(yoke_switches *s, int op, line x, line y, line difference, double from, shape *out,
                          bool *ok) {
  const double zero = difference.a != 0.0 ? -difference.b / difference.a : (double)NAN;
  if (zero > from && zero < difference.end) {
    const line before = {difference.a, difference.b, zero};
    *ok               = *ok && yoke_switches_add(s, zero, 0.0, false);
    if (!append(out, chosen(op, x, y, sign_of(before, from), zero))) return false;
    from = zero;
  }
  return append(out, chosen(op, x, y, sign_of(difference, from), difference.end));
}

/* x op y of lines; `other` where it is none of lines, or of too many. */
static shape combined(yoke_switches *s, int op, const shape *x, const shape *y, bool *ok) {
  shape out = {.kind = SHAPE_LINES};
  if (!is_lines(x) || !is_lines(y)) return other;
  for (double from = -(double)INFINITY, end; from < (double)INFINITY; from = end) {
    const line p = line_behind(x, from), q = line_behind(y, from);
    bool       fits = true;
    end             = fmin(p.end, q.end);
    if (op == YOKE_OP_ADD)
      fits = append(&out, (line){p.a + q.a, p.b + q.b, end});
    else if (op == YOKE_OP_MULTIPLY)
      fits = (p.a == 0.0 || q.a == 0.0) && append(&out, (line){p.a * q.b + q.a * p.b, p.b * q.b, end});
    else
      fits = append_choice(s, op, p, q, (line){p.a - q.a, p.b - q.b, end}, from, &out, ok);
    if (!fits) return other;
  }
  if (out.n > 1) return out;
  return out.lines[0].a == 0.0 ? constant(out.lines[0].b)
                               : (shape){.kind = SHAPE_LINEAR, .a = out.lines[0].a, .b = out.lines[0].b};
}

static shape sum(shape x, shape y) {
  bool ok = true; /* no switches */
  if (x.kind != SHAPE_LINES && y.kind != SHAPE_LINES) return plain_sum(x, y);
  return combined(NULL, YOKE_OP_ADD, &x, &y, &ok);
}

/* ---- switches ---- */

/* Zeros of a shape. */
static bool add_zeros(yoke_switches *s, const shape *x) {
  const shape zero = constant(0.0);
  bool        ok   = true;
  switch (x->kind) {
  case SHAPE_LINES: (void)combined(s, YOKE_OP_LESS, x, &zero, &ok); return ok;
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

/* What op is of x and y, by the zeros of x - y. */
static shape compared(yoke_switches *s, int op, const shape *x, const shape *y, bool *ok) {
  if (is_lines(x) && is_lines(y)) return combined(s, op, x, y, ok);
  const shape difference = sum(*x, scaled(*y, -1.0));
  *ok                    = *ok && add_zeros(s, &difference);
  return other;
}

/* if(condition, x, y) */
static shape selected(yoke_switches *s, const shape *condition, const shape *x, const shape *y, bool *ok) {
  const shape zero = constant(0.0), one = constant(1.0);
  const shape is_true  = compared(s, YOKE_OP_NOT_EQUAL, condition, &zero, ok),
              is_false = sum(one, scaled(is_true, -1.0));
  return sum(combined(s, YOKE_OP_MULTIPLY, &is_true, x, ok), combined(s, YOKE_OP_MULTIPLY, &is_false, y, ok));
}

static shape unary(yoke_switches *s, const yoke_instruction *i, const shape *x, bool *ok) {
  const shape zero = constant(0.0), opposite = scaled(*x, -1.0);
  if (x->kind == SHAPE_CONSTANT) return constant(yoke_opcode_unary(i->op, i->number, x->b));
  switch (i->op) {
  case YOKE_OP_NEGATE: return opposite;
  case YOKE_OP_ABS:
    if (is_lines(x)) return combined(s, YOKE_OP_MAX, x, &opposite, ok);
    *ok = *ok && add_zeros(s, x);
    return other;
  case YOKE_OP_SIGN: return sum(scaled(compared(s, YOKE_OP_GREATER, x, &zero, ok), 2.0), constant(-1.0));
  case YOKE_OP_STEP: return compared(s, YOKE_OP_GREATER_EQUAL, x, &zero, ok);
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
    return y->kind == SHAPE_CONSTANT ? scaled(*x, y->b) : combined(s, op, x, y, ok);
  case YOKE_OP_DIVIDE: return y->kind == SHAPE_CONSTANT && y->b != 0.0 ? scaled(*x, 1.0 / y->b) : other;
  case YOKE_OP_MOD: return saw(s, x, y, ok);
  case YOKE_OP_MIN:
  case YOKE_OP_MAX:
  case YOKE_OP_LESS:
  case YOKE_OP_LESS_EQUAL:
  case YOKE_OP_GREATER:
  case YOKE_OP_GREATER_EQUAL:
  case YOKE_OP_EQUAL:
  case YOKE_OP_NOT_EQUAL: return compared(s, op, x, y, ok);
  default: return other;
  }
}

/* ---- functions of another shape ---- */

/* An operand on the stack: its shape, and the instructions that leave it. */
typedef struct entry {
  shape shape;
  int   begin, end;
  bool  is_of_time; /* alone */
} entry;

/* Does an operator switch where the shapes of its operands do not tell? `result`: what they give. */
static bool is_untold(int op, const shape *x, const shape *y, const shape *result) {
  switch (op) {
  case YOKE_OP_ABS:
  case YOKE_OP_SIGN:
  case YOKE_OP_STEP: return x->kind == SHAPE_OTHER || (x->kind == SHAPE_LINES && result->kind == SHAPE_OTHER);
  case YOKE_OP_FLOOR:
  case YOKE_OP_CEIL: return x->kind != SHAPE_LINEAR && x->kind != SHAPE_CONSTANT;
  case YOKE_OP_MOD: return result->kind == SHAPE_OTHER;
  case YOKE_OP_MIN:
  case YOKE_OP_MAX:
  case YOKE_OP_LESS:
  case YOKE_OP_LESS_EQUAL:
  case YOKE_OP_GREATER:
  case YOKE_OP_GREATER_EQUAL: {
    if (is_lines(x) && is_lines(y)) return result->kind == SHAPE_OTHER;
    const shape difference = sum(*x, scaled(*y, -1.0));
    return difference.kind == SHAPE_OTHER;
  }
  default: return false;
  }
}

static yoke_operand operand_of(const yoke_instruction *program, const entry *x) {
  return (yoke_operand){.program = program + x->begin, .n = x->end - x->begin};
}

/* ceil(x) = -floor(-x) jumps at the same times as floor(x). */
static bool add_untold(yoke_switches *s, const yoke_instruction *program, int op, const entry *x, const entry *y,
                       int variable) {
  const bool is_whole = op == YOKE_OP_FLOOR || op == YOKE_OP_CEIL || op == YOKE_OP_MOD;
  return yoke_switches_add_roots(s, operand_of(program, x), y != NULL ? operand_of(program, y) : (yoke_operand){0},
                                 is_whole, variable);
}

/* The function of time that the expression is; its switches are added on the way. */
static entry follow(yoke_switches *s, const yoke_expression *expression, int variable, bool *ok) {
  entry                   stack[YOKE_PROGRAM_STACK] = {{.shape = {0}}};
  int                     n, depth = 0;
  const yoke_instruction *program = yoke_expression_program(expression, &n);
  for (int k = 0; k < n && *ok; ++k) {
    const yoke_instruction *i     = &program[k];
    const int               taken = yoke_opcode_n_operands(i->op);
    entry                  *x     = &stack[depth - taken]; /* the first operand, and the result */
    entry                   out   = {.begin = taken > 0 ? x->begin : k, .end = k + 1, .is_of_time = true};
    for (int j = 0; j < taken; ++j) out.is_of_time = out.is_of_time && x[j].is_of_time;
    if (i->op == YOKE_OP_CONSTANT) {
      out.shape = constant(i->u.value);
    } else if (i->op == YOKE_OP_VARIABLE) {
      out.is_of_time = i->number == variable;
      out.shape      = out.is_of_time ? (shape){.kind = SHAPE_LINEAR, .a = 1.0} : other;
    } else if (taken == 3) {
      out.shape = selected(s, &x[0].shape, &x[1].shape, &x[2].shape, ok);
    } else if (taken == 2) {
      out.shape = binary(s, i->op, &x[0].shape, &x[1].shape, ok);
    } else {
      out.shape = unary(s, i, &x->shape, ok);
    }
    if (taken > 0 && out.is_of_time && is_untold(i->op, &x[0].shape, &x[taken - 1].shape, &out.shape))
      *ok = *ok && add_untold(s, program, i->op, &x[0], taken == 2 ? &x[1] : NULL, variable);
    *x    = out;
    depth = depth - taken + 1;
  }
  stack[0].begin = 0;
  stack[0].end   = n;
  return stack[0];
}

bool yoke_switches_add_expression(yoke_switches *s, const yoke_expression *expression, int variable) {
  bool ok = true;
  (void)follow(s, expression, variable, &ok);
  return ok;
}

bool yoke_switches_add_zeros(yoke_switches *s, const yoke_expression *expression, int variable) {
  bool        ok    = true;
  const entry whole = follow(s, expression, variable, &ok);
  if (!ok || whole.shape.kind != SHAPE_OTHER) return ok && add_zeros(s, &whole.shape);
  int                     n;
  const yoke_instruction *program = yoke_expression_program(expression, &n);
  return !whole.is_of_time ||
         yoke_switches_add_roots(s, operand_of(program, &whole), (yoke_operand){0}, false, variable);
}
