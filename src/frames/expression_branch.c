/* Sides of the jumps of an expression: its program is run with values, each marked when it depends on more than the time. */
#include "frames/expression_program.h"

#include "base/pack.h"
#include <math.h>

/* Does the operator jump somewhere? Kinks (abs, min, max) do not count. */
static bool jumps(int op) {
  switch (op) {
  case YOKE_OP_SIGN:
  case YOKE_OP_FLOOR:
  case YOKE_OP_CEIL:
  case YOKE_OP_STEP:
  case YOKE_OP_NOT:
  case YOKE_OP_MOD:
  case YOKE_OP_LESS:
  case YOKE_OP_LESS_EQUAL:
  case YOKE_OP_GREATER:
  case YOKE_OP_GREATER_EQUAL:
  case YOKE_OP_EQUAL:
  case YOKE_OP_NOT_EQUAL:
  case YOKE_OP_AND:
  case YOKE_OP_OR:
  case YOKE_OP_SELECT: return true;
  default: return false;
  }
}

typedef struct marked {
  double value;
  bool   varies; /* not with the time alone */
} marked;

typedef struct trace {
  uint64_t sum;
  bool     is_met; /* some jump */
} trace;

/* One more side; the same number for -0 and 0. */
static void note(trace *to, double side) {
  side += 0.0;
  to->sum    = yoke_checksum(to->sum, &side, sizeof side);
  to->is_met = true;
}

static marked unary(const yoke_instruction *i, marked a, trace *to) {
  const marked out = {yoke_opcode_unary(i->op, i->number, a.value), a.varies};
  if (a.varies && jumps(i->op)) note(to, out.value);
  return out;
}

static marked binary(int op, marked a, marked b, trace *to) {
  const marked out = {yoke_opcode_binary(op, a.value, b.value), a.varies || b.varies};
  if (out.varies && jumps(op)) note(to, op == YOKE_OP_MOD ? rint((a.value - out.value) / b.value) : out.value);
  return out;
}

static marked choose(marked condition, marked a, marked b, trace *to) {
  const bool is_first = condition.value != 0.0;
  if (condition.varies) note(to, is_first ? 1.0 : 0.0);
  return (marked){is_first ? a.value : b.value, condition.varies || a.varies || b.varies};
}

static trace follow(uint64_t sum, const yoke_expression *expression, const double *variables, int time) {
  marked                  s[YOKE_PROGRAM_STACK];
  trace                   out = {.sum = sum};
  int                     n, top = -1;
  const yoke_instruction *program = yoke_expression_program(expression, &n);
  for (int k = 0; k < n; ++k) {
    const yoke_instruction *i = &program[k];
    if (i->op == YOKE_OP_CONSTANT) {
      s[++top] = (marked){i->u.value, false};
    } else if (i->op == YOKE_OP_VARIABLE) {
      s[++top] = (marked){variables != NULL ? variables[i->number] : 0.0, i->number != time};
    } else if (i->op == YOKE_OP_SELECT) {
      top -= 2;
      s[top] = choose(s[top], s[top + 1], s[top + 2], &out);
    } else if (i->op >= YOKE_OP_ADD) {
      --top;
      s[top] = binary(i->op, s[top], s[top + 1], &out);
    } else {
      s[top] = unary(i, s[top], &out);
    }
  }
  return out;
}

uint64_t yoke_expression_branch(uint64_t sum, const yoke_expression *expression, const double *variables, int time) {
  return follow(sum, expression, variables, time).sum;
}

bool yoke_expression_can_jump(const yoke_expression *expression, int time) {
  return follow(0, expression, NULL, time).is_met;
}
