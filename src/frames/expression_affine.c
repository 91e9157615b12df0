/* Is an expression affine in its variables? Its program is walked with the degree of every value. */
#include "frames/expression_program.h"

enum { CONSTANT, AFFINE, OTHER };

static int larger(int a, int b) {
  return a > b ? a : b;
}

static int of_one(const yoke_instruction *i, int a) {
  if (i->op == YOKE_OP_NEGATE || (i->op == YOKE_OP_POWER_INTEGER && i->number == 1)) return a;
  return a == CONSTANT ? CONSTANT : OTHER;
}

static int of_two(int op, int a, int b) {
  switch (op) {
  case YOKE_OP_ADD:
  case YOKE_OP_SUBTRACT: return larger(a, b);
  case YOKE_OP_MULTIPLY: return a == CONSTANT || b == CONSTANT ? larger(a, b) : OTHER;
  case YOKE_OP_DIVIDE: return b == CONSTANT ? a : OTHER;
  default: return a == CONSTANT && b == CONSTANT ? CONSTANT : OTHER;
  }
}

bool yoke_expression_is_affine(const yoke_expression *expression) {
  int                     s[YOKE_PROGRAM_STACK];
  int                     n, top = -1;
  const yoke_instruction *program = yoke_expression_program(expression, &n);
  for (int k = 0; k < n; ++k) {
    const yoke_instruction *i = &program[k];
    if (i->op == YOKE_OP_CONSTANT || i->op == YOKE_OP_VARIABLE) {
      s[++top] = i->op == YOKE_OP_VARIABLE ? AFFINE : CONSTANT;
    } else if (i->op == YOKE_OP_SELECT) {
      top -= 2;
      s[top] = larger(s[top], larger(s[top + 1], s[top + 2])) == CONSTANT ? CONSTANT : OTHER;
    } else if (i->op >= YOKE_OP_ADD) {
      --top;
      s[top] = of_two(i->op, s[top], s[top + 1]);
    } else {
      s[top] = of_one(i, s[top]);
    }
  }
  return s[0] != OTHER;
}
