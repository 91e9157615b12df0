/* Expression: a program for a stack machine with its text, its variables and its unit; made by expression_compiler.c from the
 * text, by replacing variables of another, or from bytes. Shared by counting owners. */
#include "base/pack.h"
#include "base/text.h"
#include "frames/expression_program.h"
#include "frames/frames_ferry.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_REPLACED = 1 << 14 }; /* instructions of a formula whose variables are replaced by formulas */

struct yoke_expression {
  atomic_int           n_shares; /* owners beside the first */
  char                *text;
  int                  n;
  yoke_instruction    *program; /* [n] */
  int                  n_variables;
  int                 *variables; /* [n_variables], increasing */
  yoke_dimension_state state;
  int                  dimension[4];
};

static int compare_int(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* The sorted list of variables, and each VARIABLE's place in it. */
static bool number_variables(yoke_expression *e) {
  int n = 0;
  for (int i = 0; i < e->n; ++i) n += e->program[i].op == YOKE_OP_VARIABLE;
  if (n == 0) return true;
  e->variables = malloc((size_t)n * sizeof *e->variables);
  if (e->variables == NULL) return false;
  n = 0;
  for (int i = 0; i < e->n; ++i) {
    if (e->program[i].op == YOKE_OP_VARIABLE) e->variables[n++] = e->program[i].number;
  }
  qsort(e->variables, (size_t)n, sizeof *e->variables, compare_int);
  for (int i = 0; i < n; ++i) {
    if (i == 0 || e->variables[i] != e->variables[i - 1]) e->variables[e->n_variables++] = e->variables[i];
  }
  for (int i = 0; i < e->n; ++i) {
    yoke_instruction *in = &e->program[i];
    if (in->op != YOKE_OP_VARIABLE) continue;
    const int *place = bsearch(&in->number, e->variables, (size_t)e->n_variables, sizeof *place, compare_int);
    in->u.slot       = (int32_t)(place - e->variables);
  }
  return true;
}

yoke_expression *yoke_expression_of(const char *text, int n, yoke_instruction *program, yoke_dimension_state state,
                                    const int dimension[4]) {
  yoke_expression *e = calloc(1, sizeof *e);
  if (e == NULL) {
    free(program);
    return NULL;
  }
  e->text    = yoke_text_copy(text);
  e->n       = n;
  e->program = program;
  e->state   = state;
  memcpy(e->dimension, dimension, sizeof e->dimension);
  if (e->text == NULL || !number_variables(e)) yoke_expression_destroy(&e);
  return e;
}

/* By how much an instruction changes the height of the stack. */
static int program_growth(int op) {
  return 1 - yoke_opcode_n_operands(op);
}

/* ---- Replacement ---- */

static const yoke_expression *inner_of(const yoke_instruction *in, const yoke_expression *const *inner) {
  return inner != NULL && in->op == YOKE_OP_VARIABLE ? inner[in->number] : NULL;
}

/* Instructions once variables are replaced; 0: they do not fit, in number or on the machine's stack. */
static int replaced_length(const yoke_expression *e, const yoke_expression *const *inner) {
  int n = 0, top = 0;
  for (int i = 0; i < e->n; ++i) {
    const yoke_instruction *in   = &e->program[i];
    const yoke_expression  *own  = inner_of(in, inner);
    const bool              adds = in->op == YOKE_OP_CONSTANT || in->op == YOKE_OP_VARIABLE;
    int                     most = top + 1;
    for (int k = 0, at = top; own != NULL && k < own->n; ++k) {
      at += program_growth(own->program[k].op);
      if (at > most) most = at;
    }
    n += own != NULL ? own->n : 1;
    if (n > MAX_REPLACED || (adds && most > YOKE_PROGRAM_STACK)) return 0;
    top += program_growth(in->op);
  }
  return n;
}

yoke_status yoke_expression_replace(const yoke_expression *expression, const int *number,
                                    const yoke_expression *const *inner, yoke_expression **out) {
  const int n = replaced_length(expression, inner);
  *out        = NULL;
  if (n == 0) return YOKE_E_MODEL;
  yoke_instruction *program = calloc((size_t)n, sizeof *program);
  if (program == NULL) return YOKE_E_MEMORY;
  int m = 0;
  for (int i = 0; i < expression->n; ++i) {
    const yoke_instruction *in  = &expression->program[i];
    const yoke_expression  *own = inner_of(in, inner);
    for (int k = 0; own != NULL && k < own->n; ++k) program[m++] = own->program[k];
    if (own != NULL) continue;
    program[m] = *in;
    if (in->op == YOKE_OP_VARIABLE && number != NULL) program[m].number = number[in->number];
    ++m;
  }
  *out = yoke_expression_of(expression->text, m, program, expression->state, expression->dimension);
  return *out != NULL ? YOKE_OK : YOKE_E_MEMORY;
}

yoke_expression *yoke_expression_with_program(const yoke_expression *of, int n, const yoke_instruction *program) {
  yoke_instruction *copy = calloc((size_t)n, sizeof *copy);
  if (copy == NULL) return NULL;
  memcpy(copy, program, (size_t)n * sizeof *copy);
  return yoke_expression_of(of->text, n, copy, of->state, of->dimension);
}

/* ---- as bytes ---- */

/* Does the program do what the machine bears: known operators, a stack that neither underflows nor grows too high, variables that there are? */
static bool is_program(const yoke_expression *e, int most) {
  int stack = 0;
  for (int i = 0; i < e->n; ++i) {
    const yoke_instruction *in = &e->program[i];
    if (in->op < 0 || in->op > YOKE_OP_BLEND || stack < yoke_opcode_n_operands(in->op)) return false;
    if (in->op == YOKE_OP_VARIABLE && (in->number < 0 || in->number > most)) return false;
    stack += program_growth(in->op);
    if (stack > YOKE_PROGRAM_STACK) return false;
  }
  return stack == 1;
}

static void ferry_instruction(yoke_ferry *c, yoke_instruction *in) {
  int op = in->op, number = in->number;
  yoke_ferry_int(c, &op);
  yoke_ferry_int(c, &number);
  in->op     = op;
  in->number = number;
  if (op == YOKE_OP_CONSTANT) yoke_ferry_double(c, &in->u.value);
}

static void ferry_own(yoke_ferry *c, yoke_expression *e, int most) {
  int state = (int)e->state;
  yoke_ferry_index(c, &state, YOKE_DIMENSION_BARE, YOKE_DIMENSION_KNOWN);
  yoke_ferry_ints(c, 4, e->dimension);
  e->program = yoke_ferry_own_list(c, e->program, &e->n, sizeof *e->program);
  for (int i = 0; i < e->n; ++i) ferry_instruction(c, &e->program[i]);
  if (!yoke_ferry_reads(c)) {
    yoke_pack_text(c->out, e->text);
    return;
  }
  e->state = (yoke_dimension_state)state;
  e->text  = yoke_text_copy(yoke_unpack_text(c->in));
  if (c->in->failure == NULL && !is_program(e, most)) yoke_unpack_refuse(c->in, "an expression cannot be computed");
  if (e->text == NULL || (c->in->failure == NULL && !number_variables(e))) c->arena->has_failed = true;
}

void yoke_expression_ferry(yoke_ferry *c, yoke_expression **expression, int most) {
  bool is_there = *expression != NULL;
  yoke_ferry_bool(c, &is_there);
  if (!is_there) return;
  if (yoke_ferry_reads(c)) *expression = calloc(1, sizeof **expression);
  if (*expression != NULL)
    ferry_own(c, *expression, most);
  else
    c->arena->has_failed = true;
  if (yoke_ferry_reads(c) && (c->in->failure != NULL || c->arena->has_failed)) yoke_expression_destroy(expression);
}

yoke_expression *yoke_expression_retain(const yoke_expression *expression) {
  yoke_expression *shared =
      (yoke_expression *)(uintptr_t)expression; /* the count of owners is no part of its meaning */
  if (shared != NULL) atomic_fetch_add(&shared->n_shares, 1);
  return shared;
}

void yoke_expression_destroy(yoke_expression **expression) {
  if (expression == NULL || *expression == NULL) return;
  yoke_expression *e = *expression;
  *expression        = NULL;
  if (atomic_fetch_sub(&e->n_shares, 1) > 0) return;
  free(e->text);
  free(e->program);
  free(e->variables);
  free(e);
}

double yoke_expression_evaluate(const yoke_expression *expression, const double *variables, double *gradient) {
  return yoke_program_evaluate(expression->program, expression->n, variables, expression->n_variables, gradient);
}

double yoke_expression_second(const yoke_expression *expression, double x, double *first, double *second) {
  return yoke_program_second(expression->program, expression->n, x, first, second);
}

bool yoke_expression_is_constant(const yoke_expression *expression) {
  return expression->n_variables == 0;
}

const char *yoke_expression_text(const yoke_expression *expression) {
  return expression->text;
}

const yoke_instruction *yoke_expression_program(const yoke_expression *expression, int *n) {
  *n = expression->n;
  return expression->program;
}

uint64_t yoke_expression_checksum(uint64_t sum, const yoke_expression *expression) {
  const int n = expression != NULL ? expression->n : 0;
  sum         = yoke_checksum(sum, &n, sizeof n);
  for (int i = 0; i < n; ++i) {
    const yoke_instruction *x = &expression->program[i];
    sum                       = yoke_checksum(sum, &x->op, sizeof x->op);
    if (x->op == YOKE_OP_CONSTANT)
      sum = yoke_checksum(sum, &x->u.value, sizeof x->u.value);
    else
      sum = yoke_checksum(sum, &x->number, sizeof x->number);
  }
  return sum;
}

int yoke_expression_n_variables(const yoke_expression *expression) {
  return expression->n_variables;
}

const int *yoke_expression_variables(const yoke_expression *expression) {
  return expression->variables;
}

bool yoke_expression_dimension(const yoke_expression *expression, int dimension[4]) {
  if (expression->state != YOKE_DIMENSION_KNOWN) return false;
  memcpy(dimension, expression->dimension, sizeof expression->dimension);
  return true;
}
