/* A formula of x, v and t (variables 0, 1, 2) for tests. Include after <cmocka.h>. */
#ifndef YOKE_TESTS_FORMULA_H
#define YOKE_TESTS_FORMULA_H

#include "frames/expression.h"
#include <string.h>

static inline yoke_symbol_kind formula_symbol(void *user, const char *name, double *value, int *variable) {
  (void)user;
  (void)value;
  *variable = strcmp(name, "x") == 0 ? 0 : strcmp(name, "v") == 0 ? 1 : strcmp(name, "t") == 0 ? 2 : -1;
  return *variable < 0 ? YOKE_SYMBOL_UNKNOWN : YOKE_SYMBOL_VARIABLE;
}

/* Gives. */
static inline yoke_expression *compile_formula(const char *text) {
  const yoke_symbols symbols = {.lookup = formula_symbol};
  char               message[200];
  yoke_expression   *e = NULL;
  if (yoke_expression_compile(text, &symbols, message, sizeof message, &e) != YOKE_OK) fail_msg("%s", message);
  return e;
}

#endif
