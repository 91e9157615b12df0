/* Program of an expression: values, partial derivatives, and the sweeps of the stack machine. */
#include "frames/expression_program.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

enum { GRADIENT_CHUNK = 8 }; /* derivatives carried along in one sweep */

int yoke_opcode_n_operands(int op) {
  if (op == YOKE_OP_CONSTANT || op == YOKE_OP_VARIABLE) return 0;
  if (op == YOKE_OP_SELECT || op == YOKE_OP_BLEND) return 3;
  return op < YOKE_OP_ADD ? 1 : 2;
}

static bool takes_one(int op) {
  return op >= YOKE_OP_NEGATE && op <= YOKE_OP_STEP;
}

static bool takes_two(int op) {
  return (op >= YOKE_OP_ADD && op <= YOKE_OP_OR) || op == YOKE_OP_HOLD;
}

/* Share of the second of three operands in the result. */
static double share_of(int op, const double *s) {
  if (op == YOKE_OP_SELECT || !(s[0] > 0.0 && s[0] < 1.0)) {
    const bool is_first = s[0] != 0.0;
    if (op == YOKE_OP_BLEND && !isfinite(is_first ? s[1] : s[2])) return is_first ? 0.0 : 1.0;
    return is_first ? 1.0 : 0.0;
  }
  return s[0];
}

static double mix(double share, double a, double b) {
  return share == 1.0 ? a : share == 0.0 ? b : share * a + (1.0 - share) * b;
}

/* a^n by squaring. */
static double power_integer(double a, int n) {
  double result = 1.0, square = a;
  for (int m = n < 0 ? -n : n; m > 0; m >>= 1) {
    if (m & 1) result *= square;
    if (m > 1) square *= square;
  }
  return n < 0 ? 1.0 / result : result;
}

/* a - b floor(a / b): takes the sign of b. */
static double modulo(double a, double b) {
  const double r = fmod(a, b);
  return r != 0.0 && (r < 0.0) != (b < 0.0) ? r + b : r;
}

double yoke_opcode_unary(int op, int n, double a) {
  switch (op) {
  case YOKE_OP_NEGATE: return -a;
  case YOKE_OP_NOT: return a == 0.0 ? 1.0 : 0.0;
  case YOKE_OP_POWER_INTEGER: return power_integer(a, n);
  case YOKE_OP_SIN: return sin(a);
  case YOKE_OP_COS: return cos(a);
  case YOKE_OP_TAN: return tan(a);
  case YOKE_OP_ASIN: return asin(a);
  case YOKE_OP_ACOS: return acos(a);
  case YOKE_OP_ATAN: return atan(a);
  case YOKE_OP_SINH: return sinh(a);
  case YOKE_OP_COSH: return cosh(a);
  case YOKE_OP_TANH: return tanh(a);
  case YOKE_OP_EXP: return exp(a);
  case YOKE_OP_LOG: return log(a);
  case YOKE_OP_LOG10: return log10(a);
  case YOKE_OP_SQRT: return sqrt(a);
  case YOKE_OP_ABS: return fabs(a);
  case YOKE_OP_SIGN: return a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : a; /* 0 stays 0, NaN stays NaN */
  case YOKE_OP_FLOOR: return floor(a);
  case YOKE_OP_CEIL: return ceil(a);
  case YOKE_OP_STEP: return a >= 0.0 ? 1.0 : 0.0;
  default: return NAN;
  }
}

/* dy/da of y = op(a). At kinks (abs at 0) the mean of both sides, at jumps (sign, floor, step) 0. */
static double unary_slope(int op, int n, double a, double y) {
  switch (op) {
  case YOKE_OP_NEGATE: return -1.0;
  case YOKE_OP_POWER_INTEGER: return n == 0 ? 0.0 : (double)n * power_integer(a, n - 1);
  case YOKE_OP_SIN: return cos(a);
  case YOKE_OP_COS: return -sin(a);
  case YOKE_OP_TAN: return 1.0 + y * y;
  case YOKE_OP_ASIN: return 1.0 / sqrt((1.0 - a) * (1.0 + a));
  case YOKE_OP_ACOS: return -1.0 / sqrt((1.0 - a) * (1.0 + a));
  case YOKE_OP_ATAN: return 1.0 / (1.0 + a * a);
  case YOKE_OP_SINH: return cosh(a);
  case YOKE_OP_COSH: return sinh(a);
  case YOKE_OP_TANH: return (1.0 - y) * (1.0 + y);
  case YOKE_OP_EXP: return y;
  case YOKE_OP_LOG: return 1.0 / a;
  case YOKE_OP_LOG10: return 0.43429448190325182765 / a; /* 1 / ln 10 */
  case YOKE_OP_SQRT: return 0.5 / y;
  case YOKE_OP_ABS: return yoke_opcode_unary(YOKE_OP_SIGN, 0, a);
  default: return 0.0;
  }
}

/* d2y/da2 of y = op(a); 0 at kinks and jumps. */
static double unary_curvature(int op, int n, double a, double y) {
  switch (op) {
  case YOKE_OP_POWER_INTEGER: return n == 0 || n == 1 ? 0.0 : (double)n * ((double)n - 1.0) * power_integer(a, n - 2);
  case YOKE_OP_SIN:
  case YOKE_OP_COS: return -y;
  case YOKE_OP_TAN: return 2.0 * y * (1.0 + y * y);
  case YOKE_OP_ASIN: return a / pow((1.0 - a) * (1.0 + a), 1.5);
  case YOKE_OP_ACOS: return -a / pow((1.0 - a) * (1.0 + a), 1.5);
  case YOKE_OP_ATAN: return -2.0 * a / ((1.0 + a * a) * (1.0 + a * a));
  case YOKE_OP_SINH:
  case YOKE_OP_COSH:
  case YOKE_OP_EXP: return y;
  case YOKE_OP_TANH: return -2.0 * y * (1.0 - y) * (1.0 + y);
  case YOKE_OP_LOG:
  case YOKE_OP_LOG10: return -unary_slope(op, n, a, y) / a;
  case YOKE_OP_SQRT: return -0.25 / (a * y);
  default: return 0.0;
  }
}

double yoke_opcode_binary(int op, double a, double b) {
  switch (op) {
  case YOKE_OP_ADD: return a + b;
  case YOKE_OP_SUBTRACT: return a - b;
  case YOKE_OP_MULTIPLY: return a * b;
  case YOKE_OP_DIVIDE: return a / b;
  case YOKE_OP_POWER: return pow(a, b);
  case YOKE_OP_ATAN2: return atan2(a, b);
  case YOKE_OP_MIN: return a <= b || isnan(a) ? a : b;
  case YOKE_OP_MAX: return a >= b || isnan(a) ? a : b;
  case YOKE_OP_MOD: return modulo(a, b);
  case YOKE_OP_HYPOT: return hypot(a, b);
  case YOKE_OP_LESS: return a < b ? 1.0 : 0.0;
  case YOKE_OP_LESS_EQUAL: return a <= b ? 1.0 : 0.0;
  case YOKE_OP_GREATER: return a > b ? 1.0 : 0.0;
  case YOKE_OP_GREATER_EQUAL: return a >= b ? 1.0 : 0.0;
  case YOKE_OP_EQUAL: return a == b ? 1.0 : 0.0;
  case YOKE_OP_NOT_EQUAL: return a != b ? 1.0 : 0.0;
  case YOKE_OP_AND: return a != 0.0 && b != 0.0 ? 1.0 : 0.0;
  case YOKE_OP_OR: return a != 0.0 || b != 0.0 ? 1.0 : 0.0;
  case YOKE_OP_HOLD: return isnan(b) ? a : b;
  default: return NAN;
  }
}

/* Partial derivatives of a^b:  b a^(b-1)  and  a^b ln a, the limits 0 where a factor vanishes. */
static void power_slopes(double a, double b, double y, double *y_a, double *y_b) {
  *y_a = b == 0.0 ? 0.0 : b * pow(a, b - 1.0);
  *y_b = y == 0.0 ? 0.0 : y * log(a);
}

/* y_a, y_b of y = op(a, b). min and max follow the operand that is taken (the first of equal ones); atan2 and
 * hypot at the origin have none: 0. */
static void binary_slopes(int op, double a, double b, double y, double *y_a, double *y_b) {
  *y_a = 0.0;
  *y_b = 0.0;
  switch (op) {
  case YOKE_OP_ADD: *y_a = 1.0, *y_b = 1.0; break;
  case YOKE_OP_SUBTRACT: *y_a = 1.0, *y_b = -1.0; break;
  case YOKE_OP_MULTIPLY: *y_a = b, *y_b = a; break;
  case YOKE_OP_DIVIDE: *y_a = 1.0 / b, *y_b = -y / b; break;
  case YOKE_OP_POWER: power_slopes(a, b, y, y_a, y_b); break;
  case YOKE_OP_ATAN2: {
    const double r = hypot(a, b);
    if (r > 0.0) *y_a = b / r / r, *y_b = -a / r / r;
    break;
  }
  case YOKE_OP_MIN: *(a <= b || isnan(a) ? y_a : y_b) = 1.0; break;
  case YOKE_OP_MAX: *(a >= b || isnan(a) ? y_a : y_b) = 1.0; break;
  case YOKE_OP_MOD: *y_a = 1.0, *y_b = -floor(a / b); break;
  case YOKE_OP_HYPOT:
    if (y > 0.0) *y_a = a / y, *y_b = b / y;
    break;
  case YOKE_OP_HOLD: *(isnan(b) ? y_a : y_b) = 1.0; break;
  default: break;
  }
}

typedef struct curvature {
  double aa, ab, bb;
} curvature;

/* Second derivatives of a^b, the limits 0 where a factor vanishes. */
static curvature power_curvature(double a, double b, double y) {
  const double ln = log(a);
  curvature    c  = {.aa = b == 0.0 || b == 1.0 ? 0.0 : b * (b - 1.0) * pow(a, b - 2.0)};
  if (y != 0.0) {
    c.ab = (1.0 + b * ln) * (y / a);
    c.bb = y * ln * ln;
  }
  return c;
}

/* Second derivatives of y = op(a, b). */
static curvature binary_curvature(int op, double a, double b, double y) {
  switch (op) {
  case YOKE_OP_MULTIPLY: return (curvature){.ab = 1.0};
  case YOKE_OP_DIVIDE: return (curvature){.ab = -1.0 / b / b, .bb = 2.0 * y / b / b};
  case YOKE_OP_POWER: return power_curvature(a, b, y);
  case YOKE_OP_ATAN2: {
    const double r = hypot(a, b), ra = a / r, rb = b / r;
    if (!(r > 0.0)) break;
    return (curvature){-2.0 * ra * rb / r / r, (ra - rb) * (ra + rb) / r / r, 2.0 * ra * rb / r / r};
  }
  case YOKE_OP_HYPOT: {
    const double ya = a / y, yb = b / y;
    if (!(y > 0.0)) break;
    return (curvature){yb * yb / y, -ya * yb / y, ya * ya / y};
  }
  default: break;
  }
  return (curvature){.aa = 0.0};
}

/* Chain rule term: what does not depend on the variable (d = 0) or has no weight adds nothing, even where the
 * other factor is infinite. */
static double chain(double slope, double d) {
  return slope == 0.0 || d == 0.0 ? 0.0 : slope * d;
}

static double sweep_value(const yoke_instruction *program, int n, const double *variables) {
  double s[YOKE_PROGRAM_STACK];
  int    top = -1;
  for (int i = 0; i < n; ++i) {
    const yoke_instruction *in = &program[i];
    if (in->op == YOKE_OP_CONSTANT) {
      s[++top] = in->u.value;
    } else if (in->op == YOKE_OP_VARIABLE) {
      s[++top] = variables[in->number];
    } else if (takes_one(in->op)) {
      s[top] = yoke_opcode_unary(in->op, in->number, s[top]);
    } else if (takes_two(in->op)) {
      --top;
      s[top] = yoke_opcode_binary(in->op, s[top], s[top + 1]);
    } else {
      top -= 2;
      s[top] = mix(share_of(in->op, s + top), s[top + 1], s[top + 2]);
    }
  }
  return s[0];
}

/* Value, and derivatives with respect to slots first .. first + n_seeds - 1 (n_seeds <= GRADIENT_CHUNK). */
static double sweep_gradient(const yoke_instruction *program, int n, const double *variables, int first, int n_seeds,
                             double *gradient) {
  double s[YOKE_PROGRAM_STACK], d[YOKE_PROGRAM_STACK][GRADIENT_CHUNK];
  int    top = -1;
  for (int i = 0; i < n; ++i) {
    const yoke_instruction *in = &program[i];
    if (in->op == YOKE_OP_CONSTANT || in->op == YOKE_OP_VARIABLE) {
      ++top;
      for (int k = 0; k < n_seeds; ++k) d[top][k] = 0.0;
      if (in->op == YOKE_OP_CONSTANT) {
        s[top] = in->u.value;
      } else {
        s[top] = variables[in->number];
        if (in->u.slot >= first && in->u.slot < first + n_seeds) d[top][in->u.slot - first] = 1.0;
      }
    } else if (takes_one(in->op)) {
      const double y     = yoke_opcode_unary(in->op, in->number, s[top]);
      const double slope = unary_slope(in->op, in->number, s[top], y);
      for (int k = 0; k < n_seeds; ++k) d[top][k] = chain(slope, d[top][k]);
      s[top] = y;
    } else if (takes_two(in->op)) {
      double y_a, y_b;
      --top;
      const double y = yoke_opcode_binary(in->op, s[top], s[top + 1]);
      binary_slopes(in->op, s[top], s[top + 1], y, &y_a, &y_b);
      for (int k = 0; k < n_seeds; ++k) d[top][k] = chain(y_a, d[top][k]) + chain(y_b, d[top + 1][k]);
      s[top] = y;
    } else {
      top -= 2;
      const double share = share_of(in->op, s + top);
      for (int k = 0; k < n_seeds; ++k) d[top][k] = mix(share, d[top + 1][k], d[top + 2][k]);
      s[top] = mix(share, s[top + 1], s[top + 2]);
    }
  }
  for (int k = 0; k < n_seeds; ++k) gradient[k] = d[0][k];
  return s[0];
}

double yoke_program_evaluate(const yoke_instruction *program, int n, const double *variables, int n_variables,
                             double *gradient) {
  if (gradient == NULL || n_variables == 0) return sweep_value(program, n, variables);
  double value = 0.0;
  for (int first = 0; first < n_variables; first += GRADIENT_CHUNK) {
    const int rest = n_variables - first;
    value =
        sweep_gradient(program, n, variables, first, rest < GRADIENT_CHUNK ? rest : GRADIENT_CHUNK, gradient + first);
  }
  return value;
}

typedef struct taylor {
  double y, first, second;
} taylor;

static taylor unary_taylor(const yoke_instruction *in, taylor a) {
  const double y = yoke_opcode_unary(in->op, in->number, a.y), slope = unary_slope(in->op, in->number, a.y, y);
  return (taylor){y, chain(slope, a.first),
                  chain(slope, a.second) + chain(unary_curvature(in->op, in->number, a.y, y), a.first * a.first)};
}

static taylor binary_taylor(int op, taylor a, taylor b) {
  const double    y = yoke_opcode_binary(op, a.y, b.y);
  const curvature c = binary_curvature(op, a.y, b.y, y);
  double          y_a, y_b;
  binary_slopes(op, a.y, b.y, y, &y_a, &y_b);
  return (taylor){y, chain(y_a, a.first) + chain(y_b, b.first),
                  chain(y_a, a.second) + chain(y_b, b.second) + chain(c.aa, a.first * a.first) +
                      2.0 * chain(c.ab, a.first * b.first) + chain(c.bb, b.first * b.first)};
}

double yoke_program_second(const yoke_instruction *program, int n, double x, double *first, double *second) {
  taylor s[YOKE_PROGRAM_STACK];
  int    top = -1;
  for (int i = 0; i < n; ++i) {
    const yoke_instruction *in = &program[i];
    if (in->op == YOKE_OP_CONSTANT) {
      s[++top] = (taylor){.y = in->u.value};
    } else if (in->op == YOKE_OP_VARIABLE) {
      s[++top] = (taylor){.y = x, .first = 1.0};
    } else if (takes_one(in->op)) {
      s[top] = unary_taylor(in, s[top]);
    } else if (takes_two(in->op)) {
      --top;
      s[top] = binary_taylor(in->op, s[top], s[top + 1]);
    } else {
      top -= 2;
      const taylor *a = &s[top + 1], *b = &s[top + 2];
      const double  share = share_of(in->op, (const double[]){s[top].y, a->y, b->y});
      s[top] = (taylor){mix(share, a->y, b->y), mix(share, a->first, b->first), mix(share, a->second, b->second)};
    }
  }
  *first  = s[0].first;
  *second = s[0].second;
  return s[0].y;
}
