/* Program of an expression: instructions for a stack machine, their values and their derivatives.
 * Internal to expression*.c. */
#ifndef YOKE_FRAMES_EXPRESSION_PROGRAM_H
#define YOKE_FRAMES_EXPRESSION_PROGRAM_H

#include "frames/expression.h"
#include <stdint.h>

enum { YOKE_PROGRAM_STACK = 64 }; /* values the machine's stack holds; the compiler sees to it */

typedef enum yoke_opcode {
  YOKE_OP_CONSTANT,
  YOKE_OP_VARIABLE,
  /* one operand */
  YOKE_OP_NEGATE,
  YOKE_OP_NOT,
  YOKE_OP_POWER_INTEGER, /* exponent in `number` */
  YOKE_OP_SIN,
  YOKE_OP_COS,
  YOKE_OP_TAN,
  YOKE_OP_ASIN,
  YOKE_OP_ACOS,
  YOKE_OP_ATAN,
  YOKE_OP_SINH,
  YOKE_OP_COSH,
  YOKE_OP_TANH,
  YOKE_OP_EXP,
  YOKE_OP_LOG,
  YOKE_OP_LOG10,
  YOKE_OP_SQRT,
  YOKE_OP_ABS,
  YOKE_OP_SIGN,
  YOKE_OP_FLOOR,
  YOKE_OP_CEIL,
  YOKE_OP_STEP,
  /* two operands */
  YOKE_OP_ADD,
  YOKE_OP_SUBTRACT,
  YOKE_OP_MULTIPLY,
  YOKE_OP_DIVIDE,
  YOKE_OP_POWER,
  YOKE_OP_ATAN2,
  YOKE_OP_MIN,
  YOKE_OP_MAX,
  YOKE_OP_MOD,
  YOKE_OP_HYPOT,
  YOKE_OP_LESS,
  YOKE_OP_LESS_EQUAL,
  YOKE_OP_GREATER,
  YOKE_OP_GREATER_EQUAL,
  YOKE_OP_EQUAL,
  YOKE_OP_NOT_EQUAL,
  YOKE_OP_AND,
  YOKE_OP_OR,
  /* three operands: condition, value if not zero, value if zero; all are evaluated */
  YOKE_OP_SELECT,
  /* of programs whose jumps are held (expression_jumps.c): */
  YOKE_OP_HOLD, /* two operands: the second, or the first where that is NaN */
  YOKE_OP_BLEND /* three operands, as SELECT; a condition between 0 and 1 mixes, and a value that is not finite gives way to the other */
} yoke_opcode;

typedef struct yoke_instruction {
  int32_t op;
  int32_t number; /* VARIABLE: index into the caller's values; POWER_INTEGER: the exponent */
  union {
    double  value; /* CONSTANT */
    int32_t slot;  /* VARIABLE: position in `variables` */
  } u;
} yoke_instruction;

/* What is known about the unit of a value: BARE are numbers without one and results of sin, ..., UNKNOWN is what a name took part in. */
typedef enum yoke_dimension_state {
  YOKE_DIMENSION_BARE,
  YOKE_DIMENSION_UNKNOWN,
  YOKE_DIMENSION_KNOWN
} yoke_dimension_state;

/* A new expression that takes `program` [n] (freed on failure too) and copies the text. Gives; NULL: no memory. */
yoke_expression *yoke_expression_of(const char *text, int n, yoke_instruction *program, yoke_dimension_state state,
                                    const int dimension[4]);

/* The instructions [*n] of an expression, for those who look at its structure. */
const yoke_instruction *yoke_expression_program(const yoke_expression *expression, int *n);

/* A new expression with this program, and the text and unit of `of`. Gives; NULL: no memory. */
yoke_expression *yoke_expression_with_program(const yoke_expression *of, int n, const yoke_instruction *program);

/* Operands of an instruction: 0 to 3. */
int yoke_opcode_n_operands(int op);

/* Value of an operator with one operand (`number`: the exponent of POWER_INTEGER) or two. */
double yoke_opcode_unary(int op, int number, double a);
double yoke_opcode_binary(int op, double a, double b);

/* Value of the program [n]; `gradient` (may be NULL) [n_variables] receives the derivative with respect to each slot.
 * Forward accumulation, some variables per sweep; no allocation. */
double yoke_program_evaluate(const yoke_instruction *program, int n, const double *variables, int n_variables,
                             double *gradient);

/* Value of the program [n] of one variable x, and its first two derivatives by x. */
double yoke_program_second(const yoke_instruction *program, int n, double x, double *first, double *second);

#endif
